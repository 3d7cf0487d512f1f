//! OpenAI Responses. Source: the request and response models of the provider's SDK.
//!
//! A reply is a list of items. A call has two ids: `call_id`, by which its result answers it, and `id`, that
//! of the item, which is only replayed. They are never mixed.

use super::change::{CallParts, Change, Field, Member, Shape, Show, index};
use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::{
    Facts, Finish, Item, NameRule, ReplayError, ReplyError, Wire, is, member, name_and_description,
    openai_chat, provider_error,
};
use crate::json::{Kind, Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct OpenAiResponses;

const NATIVE: [NativeForm; 5] = [
    NativeForm { kind: NativeKind::WebSearch, member: "", fixed: r#"{"type":"web_search"}"#, needs: "" },
    NativeForm {
        kind: NativeKind::FileSearch,
        member: "",
        fixed: r#"{"type":"file_search"}"#,
        needs: "vector_store_ids",
    },
    NativeForm {
        kind: NativeKind::CodeExecution,
        member: "",
        fixed: r#"{"type":"code_interpreter","container":{"type":"auto"}}"#,
        needs: "",
    },
    NativeForm {
        kind: NativeKind::ImageGeneration,
        member: "",
        fixed: r#"{"type":"image_generation"}"#,
        needs: "",
    },
    NativeForm { kind: NativeKind::ComputerUse, member: "", fixed: r#"{"type":"computer"}"#, needs: "" },
];

/// What a response is called that has not come to its end.
const UNFINISHED: [&str; 4] = ["incomplete", "cancelled", "in_progress", "queued"];

const TEXT: u8 = 0;
const REASONING: u8 = 1;
const ARGUMENTS: u8 = 2;

/// What pieces are of. None is kept: each item comes whole in the end.
const FIELDS: [Field; 3] = [
    Field { path: "", show: Show::Text, empty: "" },
    Field { path: "", show: Show::Reasoning, empty: "" },
    Field { path: "/arguments", show: Show::Arguments, empty: "" },
];

/// The events that bring a piece, and what it is of.
const DELTAS: [(&str, u8); 5] = [
    ("response.function_call_arguments.delta", ARGUMENTS),
    ("response.output_text.delta", TEXT),
    ("response.custom_tool_call_input.delta", ARGUMENTS),
    ("response.reasoning_summary_text.delta", REASONING),
    ("response.reasoning_text.delta", REASONING),
];

/// What is read of an item if only calls are kept.
const CALL_ITEM: [Member; 6] = [
    Member::whole("type"),
    Member::whole("call_id"),
    Member::whole("name"),
    Member::whole("arguments"),
    Member::whole("input"),
    Member::whole("status"),
];

/// What is read of an event, given what of an item.
const fn event_members(item: &'static [Member]) -> [Member; 9] {
    const RESPONSE: [Member; 2] = [Member::whole("error"), Member::whole("incomplete_details")];
    [
        Member::whole("type"),
        Member::whole("output_index"),
        Member { key: "item", inner: item },
        Member::whole("delta"),
        Member::whole("error"),
        Member::whole("message"),
        Member { key: "response", inner: &RESPONSE },
        Member { key: "output", inner: item },
        Member::whole("incomplete_details"),
    ]
}

impl Wire for OpenAiResponses {
    fn facts(&self) -> Facts {
        Facts { max_tools: openai_chat::MAX_TOOLS, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        openai_chat::OpenAiChat.strict()
    }

    fn native(&self) -> &'static [NativeForm] {
        &NATIVE
    }

    fn tools_start(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
    }

    /// `strict` is always there: left out, the provider takes it for true.
    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        member("type", "function", out);
        name_and_description(tool.name, tool.info, out);
        out.key("parameters");
        tool.write_schema(&subset::OPENAI, out, notes);
        out.key("strict");
        out.bool(tool.info.strict());
        if let Some(schema) = tool.info.output_schema() {
            out.key("output_schema");
            out.value(Value::from_checked(schema));
        }
        out.object_end();
    }

    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        request.native().for_each(|native| native.write(out));
        out.array_end();
        if let Some(choice) = request.choice {
            out.key("tool_choice");
            match choice {
                Choice::Auto => out.string("auto"),
                Choice::None => out.string("none"),
                Choice::Required => out.string("required"),
                Choice::Tool(name) => write_function(&request.wire_name(name), out),
                Choice::Allowed { names, required } => {
                    out.object_start();
                    member("type", "allowed_tools", out);
                    member("mode", if required { "required" } else { "auto" }, out);
                    out.key("tools");
                    out.array_start();
                    names.iter().for_each(|name| write_function(&request.wire_name(name), out));
                    out.array_end();
                    out.object_end();
                }
            }
        }
        if let Some(parallel) = request.parallel {
            out.key("parallel_tool_calls");
            out.bool(parallel);
        }
    }

    /// Reads a whole response, or its list of items. What the provider ran itself and its reasoning are
    /// passed over.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut finish, mut whole) = (Ending::default(), reader.peek()? == Kind::Array);
        if whole {
            read_output(reader, &mut finish, visit)?;
        } else {
            let mut root = reader.members(&["error", "output", "status", "incomplete_details"])?;
            while let Some(key) = root.next(reader)? {
                match key {
                    "error" => provider_error(reader)?,
                    "status" => finish.status = Some(reader.skip_value()?),
                    "incomplete_details" => finish.details = Some(reader.skip_value()?),
                    _ if reader.peek()? != Kind::Array => {}
                    _ => {
                        whole = true;
                        read_output(reader, &mut finish, visit)?;
                    }
                }
            }
        }
        if !whole {
            return Err(ReplyError::Shape { expected: "output" });
        }
        let Ending { refused, status, details } = finish;
        let details = details.filter(|details| !details.is_null());
        let reason = details.and_then(|details| details.get("reason"));
        Ok(if refused || is(reason, "content_filter") {
            Finish::Refused
        } else if details.is_some() || UNFINISHED.iter().any(|name| is(status, name)) {
            Finish::Truncated
        } else {
            Finish::Complete
        })
    }

    /// All items go back in their order, each as it came but for what is only put out ([`write_item`]).
    /// What the provider refuses goes not: a message in which nothing is, and reasoning after which nothing
    /// comes.
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let list = if root.kind() == Kind::Array { Some(root) } else { root.get("output") };
        let is_empty = |item: Value<'_>| {
            is(item.get("type"), "message") && item.get("content").is_none_or(|content| content.raw() == "[]")
        };
        let items = || list.into_iter().flat_map(Value::items).filter(|item| !is_empty(*item));
        let follows = |item: &Value<'_>| !is(item.get("type"), "reasoning");
        let count = items().enumerate().filter(|(_, item)| follows(item)).last().map_or(0, |(at, _)| at + 1);
        for item in items().take(count) {
            write_item(item, if is_call(item) { ids() } else { None }, out);
        }
        Ok(())
    }

    /// The whole form has no `status` but the details, which say whether the reply is complete.
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"object":"response""#,
            list: r#","output":["#,
            tail: r#"],"incomplete_details":"#,
            end: "}",
            members: &event_members(&[]),
            call_members: &event_members(&CALL_ITEM),
            fields: &FIELDS,
            empty_call: "",
            call: |item| {
                let [kind, _, _, call @ ..] = item.pick(ITEM)?;
                Ok(call_of(kind, call))
            },
        };
        Some(&SHAPE)
    }

    /// Items begin, and come whole when they end; what comes in between is for those who watch. Of what
    /// follows the last item only the reason is read, not the whole response once more.
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let [kind, number, item, delta, error, response, output, details] = reader.pick(EVENT)?;
        if error.is_some_and(|error| !error.is_null()) {
            return Err(ReplyError::Provider);
        }
        if let Some(piece) = delta {
            if let Some((_, field)) = DELTAS.iter().find(|(name, _)| is(kind, name)) {
                visit(Change::Show { key: index(number).unwrap_or(u32::MAX), field: *field, piece });
            }
        } else if let Some(item) = item {
            let (begins, ends) =
                (is(kind, "response.output_item.added"), is(kind, "response.output_item.done"));
            if begins || ends {
                let key =
                    index(number).ok_or(ReplyError::Shape { expected: "the output_index of an item" })?;
                visit(if begins { Change::Open { key, item } } else { Change::Replace { key, item } });
            }
        } else if is(kind, "error") || is(kind, "response.failed") {
            return Err(ReplyError::Provider);
        } else if is(kind, "response.completed") {
            visit(Change::End);
        } else if is(kind, "response.incomplete") {
            let details = response.and_then(|response| response.get("incomplete_details"));
            if let Some(reason) = details.filter(|details| !details.is_null()).or(kind) {
                visit(Change::Finish { reason });
            }
        } else if let Some(output) = output {
            // A whole response where a stream was asked for.
            for item in output.items() {
                let content = item.get("content").filter(|_| is(item.get("type"), "message"));
                for piece in content.into_iter().flat_map(Value::items).filter_map(|part| part.get("text")) {
                    visit(Change::Show { key: u32::MAX, field: TEXT, piece });
                }
                visit(Change::Whole { item });
            }
            if let Some(reason) = details {
                visit(Change::Finish { reason });
            }
            visit(Change::End);
        }
        Ok(())
    }

    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
    }

    /// One item; a failure is told by its text.
    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.object_start();
        member("type", if call.custom { "custom_tool_call_output" } else { "function_call_output" }, out);
        member("call_id", call.id, out);
        out.key("output");
        let mut parts = result.parts();
        match (parts.next(), parts.next()) {
            (None, _) => out.string(""),
            (Some(part), None) if !matches!(part, Part::Image { .. }) => write_part(&part, budget, out),
            _ => {
                out.array_start();
                for part in result.parts() {
                    write_content(&part, budget, out);
                }
                out.array_end();
            }
        }
        out.object_end();
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_end();
        }
    }
}

/// What is read of an item: what says what it is, and the parts of a call.
const ITEM: [&str; 7] = ["type", "status", "content", "call_id", "name", "arguments", "input"];

/// What is read of an event.
const EVENT: [&str; 8] =
    ["type", "output_index", "item", "delta", "error", "response", "output", "incomplete_details"];

/// What says why a response ended.
#[derive(Default)]
struct Ending<'r> {
    refused: bool,
    status: Option<Value<'r>>,
    details: Option<Value<'r>>,
}

/// Reads the list of items.
fn read_output<'r>(
    reader: &mut Reader<'r>,
    ending: &mut Ending<'r>,
    visit: &mut dyn FnMut(Item<'r>),
) -> Result<(), ReplyError> {
    let mut items = reader.elements()?;
    while items.next(reader)? {
        let [kind, status, content, call @ ..] = reader.pick(ITEM)?;
        if let Some(call) = call_of(kind, call) {
            let incomplete = is(status, "incomplete") || is(status, "in_progress");
            visit(Item::Call(CallParts { incomplete, ..call }));
        } else if is(kind, "message") {
            for part in content.into_iter().flat_map(Value::items) {
                let [kind, text] = part.pick(["type", "text"]);
                ending.refused |= is(kind, "refusal");
                visit(Item::Text(text));
            }
        }
    }
    Ok(())
}

/// An item of this type as a call, if it is one for the client to run.
fn call_of<'r>(kind: Option<Value<'r>>, parts: [Option<Value<'r>>; 4]) -> Option<CallParts<'r>> {
    let [id, name, arguments, input] = parts;
    let custom = is(kind, "custom_tool_call");
    let arguments = if custom { input } else { arguments };
    let call = CallParts { id, name, arguments, encoded: true, custom, incomplete: false };
    (custom || is(kind, "function_call")).then_some(call)
}

/// Whether an item is a call for the client to run.
fn is_call(item: Value<'_>) -> bool {
    let kind = item.get("type");
    is(kind, "function_call") || is(kind, "custom_tool_call")
}

/// Writes an item as it goes back. Calls and reasoning lose their `status` and what is null, reasoning an
/// empty `content`, texts the `logprobs`, and all items `created_by`; the arguments of a call are text.
fn write_item(item: Value<'_>, minted: Option<&str>, out: &mut Writer<'_, '_>) {
    let is_reasoning = is(item.get("type"), "reasoning");
    let is_call = is_call(item);
    out.object_start();
    for (key, value) in item.entries() {
        let dropped = key == "status" || value.is_null() || key == "content" && value.raw() == "[]";
        if (is_call || is_reasoning) && dropped || minted.is_some() && key == "call_id" || key == "created_by"
        {
            continue;
        }
        out.key_str(key);
        if is_call && (key == "arguments" || key == "input") {
            match value.as_str() {
                Some(text) if key == "arguments" && text == "" => out.string("{}"),
                Some(_) => out.value(value),
                None => out.string(value.raw()),
            }
        } else if key == "content" && value.kind() == Kind::Array {
            write_content_back(value, out);
        } else {
            out.value(value);
        }
    }
    if let Some(id) = minted {
        member("call_id", id, out);
    }
    if is(item.get("type"), "function_call") && item.get("arguments").is_none_or(Value::is_null) {
        member("arguments", "{}", out);
    }
    out.object_end();
}

/// Writes the parts of a message without what is only put out.
fn write_content_back(parts: Value<'_>, out: &mut Writer<'_, '_>) {
    out.array_start();
    for part in parts.items() {
        out.object_start();
        for (key, value) in part.entries().filter(|(key, _)| *key != "logprobs") {
            out.key_str(key);
            out.value(value);
        }
        out.object_end();
    }
    out.array_end();
}

fn write_function(name: &str, out: &mut Writer<'_, '_>) {
    out.object_start();
    member("type", "function", out);
    member("name", name, out);
    out.object_end();
}

fn write_content(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    out.object_start();
    match part {
        Part::Image { media_type, data } if budget.take_media(media_type, data) => {
            member("type", "input_image", out);
            out.key("image_url");
            out.string_start();
            out.string_part("data:");
            out.string_part(media_type);
            out.string_part(";base64,");
            out.string_base64(data);
            out.string_end();
        }
        part => {
            member("type", "input_text", out);
            out.key("text");
            write_part(part, budget, out);
        }
    }
    out.object_end();
}
