//! Anthropic Messages. Source: the request and response models of the provider's SDK.

use super::change::{CallParts, Change, Field, Member, Shape, Show, index};
use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    ChoiceWords, Facts, Finish, IdRule, Item, NameRule, ReplayError, ReplyError, Wire, base64, is, member,
    name_and_description, provider_error,
};
use crate::json::{Kind, Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct Anthropic;

/// What of a block grows in a stream.
const FIELDS: [Field; 6] = [
    Field { path: "/text", show: Show::Text, empty: "" },
    Field { path: "/thinking", show: Show::Reasoning, empty: "" },
    Field { path: "/signature", show: Show::Nothing, empty: "" },
    Field { path: "/input", show: Show::Arguments, empty: "" },
    Field { path: "/citations", show: Show::Nothing, empty: "" },
    Field { path: "/content", show: Show::Nothing, empty: "" },
];

/// What is read of a block if only calls are kept.
const CALL_BLOCK: [Member; 7] = [
    Member::whole("type"),
    Member::whole("id"),
    Member::whole("name"),
    Member::whole("input"),
    Member::whole("toolset_name"),
    Member::whole("text"),
    Member::whole("thinking"),
];

/// "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'": what the server answers to other ids
/// (HKUDS/nanobot#4356, RooCodeInc/Roo-Code#10649). No most length is known.
const IDS: IdRule = IdRule { len: (1, usize::MAX), marks: Some("_-") };

/// What is read of a block.
const BLOCK: [&str; 6] = ["type", "text", "id", "name", "input", "toolset_name"];

/// What is read of an event.
const EVENT: [&str; 7] = ["type", "index", "content_block", "delta", "error", "content", "stop_reason"];

/// What is read of a delta: the piece of each of [`FIELDS`], and the reason.
const DELTA: [&str; FIELDS.len() + 1] =
    ["text", "thinking", "signature", "partial_json", "citation", "content", "stop_reason"];

/// The image types that a tool result may hold.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The versions of the provider's tools that are sent unless the host's configuration says another `type`.
const NATIVE: [NativeForm; 3] = [
    NativeForm {
        kind: NativeKind::WebSearch,
        member: "",
        fixed: r#"{"type":"web_search_20260318","name":"web_search"}"#,
        needs: "",
    },
    NativeForm {
        kind: NativeKind::CodeExecution,
        member: "",
        fixed: r#"{"type":"code_execution_20260521","name":"code_execution"}"#,
        needs: "",
    },
    NativeForm {
        kind: NativeKind::ComputerUse,
        member: "",
        fixed: r#"{"type":"computer_toolset_20260801"}"#,
        needs: "",
    },
];

impl Wire for Anthropic {
    fn facts(&self) -> Facts {
        let choice = ChoiceWords { allowed: false, ..ChoiceWords::ALL };
        Facts { choice, ids: IDS, ..Facts::PROVIDER }
    }

    fn native(&self) -> &'static [NativeForm] {
        &NATIVE
    }

    fn names(&self) -> NameRule {
        NameRule { max: 128, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        Some(&subset::ANTHROPIC_STRICT)
    }

    fn tools_start(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("input_schema");
        tool.write_schema(&subset::ANTHROPIC, out, notes);
        if tool.info.strict() {
            out.key("strict");
            out.bool(true);
        }
        write_cache_end(tool.ends_cache, out);
        out.object_end();
    }

    /// A word about parallel calls stands inside the choice, which it makes `auto` if there is none.
    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        let mut native = request.native().peekable();
        while let Some(tool) = native.next() {
            out.object_start();
            tool.write_members(out);
            write_cache_end(request.cache && native.peek().is_none(), out);
            out.object_end();
        }
        out.array_end();
        let Some(chosen) = request.choice.or(request.parallel.map(|_| Choice::Auto)) else { return };
        out.key("tool_choice");
        out.object_start();
        out.key("type");
        match chosen {
            Choice::Auto | Choice::Allowed { .. } => out.string("auto"),
            Choice::None => out.string("none"),
            Choice::Required => out.string("any"),
            Choice::Tool(name) => {
                out.string("tool");
                member("name", &request.wire_name(name), out);
            }
        }
        if let Some(parallel) = request.parallel
            && chosen != Choice::None
        {
            out.key("disable_parallel_tool_use");
            out.bool(!parallel);
        }
        out.object_end();
    }

    /// Reads a whole message. Blocks that the provider runs itself (`server_tool_use`, `mcp_tool_use` and
    /// their results) and thinking are passed over.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut content, mut reason) = (false, None);
        let mut root = reader.members(&["error", "content", "stop_reason"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                "stop_reason" => reason = Some(reader.skip_value()?),
                _ => match reader.peek()? {
                    Kind::String => {
                        content = true;
                        visit(Item::Text(Some(reader.skip_value()?)));
                    }
                    Kind::Array => {
                        content = true;
                        let mut blocks = reader.elements()?;
                        while blocks.next(reader)? {
                            let [kind, text, id, name, arguments, toolset] = reader.pick(BLOCK)?;
                            if is(kind, "text") {
                                visit(Item::Text(text));
                            } else if is(kind, "tool_use") {
                                let call = CallParts { id, name, arguments, ..CallParts::default() };
                                visit(Item::Call(CallParts { toolset, ..call }));
                            }
                        }
                    }
                    _ => {}
                },
            }
        }
        if !content {
            return Err(ReplyError::Shape { expected: "content" });
        }
        Ok(match reason.and_then(Value::as_str) {
            Some(reason) if reason == "max_tokens" || reason == "model_context_window_exceeded" => {
                Finish::Truncated
            }
            Some(reason) if reason == "refusal" => Finish::Refused,
            Some(reason) if reason == "pause_turn" => Finish::Paused,
            _ => Finish::Complete,
        })
    }

    /// All blocks go back as they came, thinking with its signature among them. What the provider refuses
    /// goes not: empty text, thinking that was cut off before its signature, and input that is no object
    /// (the result of such a call quotes it).
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let Some(content) = root.get("content") else { return Ok(()) };
        if content.kind() != Kind::String && !content.items().any(is_taken_back) {
            return Ok(());
        }
        out.object_start();
        out.key("role");
        out.string("assistant");
        out.key("content");
        if content.kind() == Kind::String {
            out.value(content);
        } else {
            out.array_start();
            for block in content.items().filter(|block| is_taken_back(*block)) {
                let minted = if is_call(block) { ids() } else { None };
                write_replayed(block, minted, out);
            }
            out.array_end();
        }
        out.object_end();
        Ok(())
    }

    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        out.object_start();
        member("role", "assistant", out);
        out.key("content");
        out.array_start();
        if !turn.text.is_empty() {
            out.object_start();
            member("type", "text", out);
            member("text", turn.text, out);
            out.object_end();
        }
        turn.each(|call| {
            out.object_start();
            member("type", "tool_use", out);
            member("id", call.id, out);
            member("name", call.name, out);
            out.key("input");
            call.write_object(out);
            if !call.toolset.is_empty() {
                member("toolset_name", call.toolset, out);
            }
            out.object_end();
        });
        out.array_end();
        out.object_end();
        Ok(())
    }

    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"role":"assistant""#,
            list: r#","content":["#,
            tail: r#"],"stop_reason":"#,
            end: "}",
            members: &[
                Member::whole("type"),
                Member::whole("index"),
                Member::whole("content_block"),
                Member::whole("delta"),
                Member::whole("error"),
                Member::whole("content"),
                Member::whole("stop_reason"),
            ],
            call_members: &[
                Member::whole("type"),
                Member::whole("index"),
                Member { key: "content_block", inner: &CALL_BLOCK },
                Member {
                    key: "delta",
                    inner: &[
                        Member::whole("text"),
                        Member::whole("thinking"),
                        Member::whole("partial_json"),
                        Member::whole("stop_reason"),
                    ],
                },
                Member::whole("error"),
                Member { key: "content", inner: &CALL_BLOCK },
                Member::whole("stop_reason"),
            ],
            fields: &FIELDS,
            shown: Shape::shows_nothing,
            open_members: None,
            empty_call: "",
            call: |item| {
                let [kind, _, id, name, arguments, toolset] = item.pick(BLOCK)?;
                let call = CallParts { id, name, arguments, toolset, ..CallParts::default() };
                Ok(is(kind, "tool_use").then_some(call))
            },
        };
        Some(&SHAPE)
    }

    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let (mut kind, mut number, mut block, mut content, mut reason) = (None, None, None, None, None);
        let mut pieces = [None; FIELDS.len()];
        let mut root = reader.members(&EVENT)?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                "delta" => {
                    let [grows @ .., stop_reason] = reader.pick(DELTA)?;
                    (pieces, reason) = (grows, stop_reason);
                }
                "type" => kind = Some(reader.skip_value()?),
                "index" => number = Some(reader.skip_value()?),
                "content_block" => block = Some(reader.skip_value()?),
                "content" => content = Some(reader.skip_value()?),
                _ => reason = Some(reader.skip_value()?),
            }
        }
        let kind = kind.and_then(Value::as_str);
        let is = |name: &str| kind.is_some_and(|kind| kind == name);
        let key = index(number).ok_or(ReplyError::Shape { expected: "the index of a block" });
        if is("content_block_delta") {
            for (field, piece) in (0..).zip(pieces) {
                if let Some(piece) = piece {
                    visit(Change::Append { key: key?, field, piece });
                }
            }
        } else if is("content_block_start") {
            let item = block.ok_or(ReplyError::Shape { expected: "content_block" })?;
            visit(Change::Open { key: key?, item });
        } else if is("content_block_stop") {
            visit(Change::Close { key: key? });
        } else if is("message_delta") {
            if let Some(reason) = reason {
                visit(Change::Finish { reason });
            }
        } else if is("message_stop") {
            visit(Change::End);
        } else if is("message") {
            // A whole message where a stream was asked for.
            for (key, item) in (0..).zip(content.into_iter().flat_map(Value::items)) {
                visit(Change::Open { key, item });
                visit(Change::Close { key });
            }
            if let Some(reason) = reason {
                visit(Change::Finish { reason });
            }
            visit(Change::End);
        }
        Ok(())
    }

    /// All results of a turn stand in one user message.
    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
        out.object_start();
        out.key("role");
        out.string("user");
        out.key("content");
        out.array_start();
    }

    /// Text of nothing but blanks is left out, as all of the content is if there is no more: the provider
    /// refuses a text block without any character that is seen.
    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.object_start();
        out.key("type");
        out.string("tool_result");
        out.key("tool_use_id");
        out.string(call.id);
        let parts = || result.parts().filter(|part| !part.is_blank());
        let mut first_two = parts();
        match (first_two.next(), first_two.next()) {
            (None, _) => {}
            (Some(part), None) if !matches!(part, Part::Image { .. }) => {
                out.key("content");
                write_part(&part, budget, out);
            }
            _ => {
                out.key("content");
                out.array_start();
                parts().for_each(|part| write_block(&part, budget, out));
                out.array_end();
            }
        }
        if result.failed() {
            out.key("is_error");
            out.bool(true);
        }
        if !call.toolset.is_empty() {
            member("toolset_name", call.toolset, out);
        }
        out.object_end();
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        out.array_end();
        out.object_end();
        if !bare {
            out.array_end();
        }
    }
}

/// Marks a tool as the end of what is to be cached: the tools before it are cached with it.
fn write_cache_end(ends: bool, out: &mut Writer<'_, '_>) {
    if ends {
        out.key("cache_control");
        out.object_start();
        member("type", "ephemeral", out);
        out.object_end();
    }
}

fn write_block(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    out.object_start();
    out.key("type");
    match part {
        Part::Image { media_type, data }
            if IMAGES.contains(media_type) && budget.take_media(media_type, data) =>
        {
            out.string("image");
            out.key("source");
            out.object_start();
            out.key("type");
            out.string("base64");
            out.key("media_type");
            out.string(media_type);
            out.key("data");
            base64(data, out);
            out.object_end();
        }
        other => {
            out.string("text");
            out.key("text");
            write_part(other, budget, out);
        }
    }
    out.object_end();
}

fn is_call(block: Value<'_>) -> bool {
    block.get("type").and_then(Value::as_str).is_some_and(|kind| kind == "tool_use")
}

/// Whether the provider takes this block of its own back.
fn is_taken_back(block: Value<'_>) -> bool {
    let [kind, text, signature] = block.pick(["type", "text", "signature"]);
    let filled = |value: Option<Value<'_>>| value.is_some_and(|value| value.raw() != "\"\"");
    match kind.and_then(Value::as_str) {
        Some(kind) if kind == "text" => filled(text),
        Some(kind) if kind == "thinking" => filled(signature),
        _ => true,
    }
}

fn write_replayed(block: Value<'_>, minted: Option<&str>, out: &mut Writer<'_, '_>) {
    let object = |input: Value<'_>| input.kind() == Kind::Object;
    if minted.is_none() && block.get("input").is_none_or(object) {
        return out.value(block);
    }
    out.object_start();
    for (key, value) in block.entries().filter(|(key, _)| minted.is_none() || *key != "id") {
        out.key_str(key);
        out.value(if key == "input" && !object(value) { Value::empty_object() } else { value });
    }
    if let Some(id) = minted {
        out.key("id");
        out.string(id);
    }
    out.object_end();
}
