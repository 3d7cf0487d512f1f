//! OpenAI Chat Completions. Source: the request and response models of the provider's SDK.

mod write;

pub(super) use write::{write_call, write_calls, write_replay, write_result, write_turn};

use super::change::{CallParts, Change, Field, Member, Shape, Show, index};
use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    Facts, Finish, Item, NameRule, ReplayError, ReplyError, Wire, is, list, member, name_and_description,
    provider_error,
};
use crate::json::{Kind, Reader, Value, Writer};
use crate::result::ToolResult;
use crate::schema::{Subset, subset};

pub(super) struct OpenAiChat;

/// What is read of a message.
const MESSAGE: [&str; 4] = ["content", "tool_calls", "refusal", "function_call"];

/// What is read of a response, or of a message alone.
const ROOT: [&str; 7] = ["error", "object", "choices", MESSAGE[0], MESSAGE[1], MESSAGE[2], MESSAGE[3]];

/// What of a message grows in a stream: its own members, and what of a call becomes JSON.
const FIELDS: [Field; 8] = [
    Field { path: "content", show: Show::Text, empty: "" },
    Field { path: "refusal", show: Show::Refusal, empty: "" },
    Field { path: "reasoning", show: Show::Reasoning, empty: "" },
    Field { path: "reasoning_content", show: Show::Reasoning, empty: "" },
    Field { path: "reasoning_details", show: Show::Nothing, empty: "" },
    Field { path: "/function/arguments", show: Show::Arguments, empty: "" },
    Field { path: "thinking", show: Show::Reasoning, empty: "" },
    Field { path: "signature", show: Show::Nothing, empty: "" },
];

/// The fields of Mistral's thinking, which stands among the parts of the content.
const THINKING: u8 = 6;
const SIGNATURE: u8 = 7;

/// What is read of a delta: the members that grow, and the calls.
const MEMBERS: [&str; 7] = [
    "content",
    "refusal",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "tool_calls",
    "function_call",
];

/// What is read of a choice, and of the delta in it.
const fn choice(delta: &'static [Member]) -> [Member; 4] {
    [
        Member::whole("index"),
        Member { key: "delta", inner: delta },
        Member { key: "message", inner: delta },
        Member::whole("finish_reason"),
    ]
}

/// What is read of a delta if only calls are kept.
const CALL_DELTA: [Member; 6] = [
    Member::whole("content"),
    Member::whole("refusal"),
    Member::whole("reasoning"),
    Member::whole("reasoning_content"),
    Member::whole("tool_calls"),
    Member::whole("function_call"),
];

/// Why a reply ends before the model was done; the last two are Mistral's, `error` with what there was until
/// it happened. A reason that is not known is that of a server with words of its own: it says nothing against
/// a reply that is whole.
const TRUNCATED: [&str; 3] = ["length", "model_length", "error"];

/// The most tools of a request (the provider's documentation).
const MAX_TOOLS: usize = 128;

/// A member of the request of its own, which holds the configuration.
const NATIVE: [NativeForm; 1] =
    [NativeForm { kind: NativeKind::WebSearch, member: "web_search_options", fixed: "{}", needs: "" }];

/// What a stream is put together as.
pub(super) const SHAPE: Shape = Shape {
    head: r#"{"choices":[{"message":{"role":"assistant""#,
    list: r#","tool_calls":["#,
    tail: r#"]},"finish_reason":"#,
    end: "}]}",
    members: &[Member { key: "choices", inner: &choice(&[]) }, Member::whole("error")],
    call_members: &[Member { key: "choices", inner: &choice(&CALL_DELTA) }, Member::whole("error")],
    fields: &FIELDS,
    shown: Shape::shows_nothing,
    open_members: None,
    empty_call: r#"{"id":"","type":"function","function":{"name":"","arguments":""}}"#,
    call: |item| read_call(item).map(Some),
};

impl Wire for OpenAiChat {
    /// No rule for ids: the provider's own server has refused some of more than 40 characters and taken others
    /// (agno-agi/agno#5382, vercel/ai#17233), and servers that imitate it put into a longer one what they need
    /// back (BerriAI/litellm#16895).
    fn facts(&self) -> Facts {
        Facts { max_tools: MAX_TOOLS, ..Facts::PROVIDER }
    }

    fn native(&self) -> &'static [NativeForm] {
        &NATIVE
    }

    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        Some(&subset::OPENAI_STRICT)
    }

    fn tools_start(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        if request.any {
            out.key("tools");
            out.array_start();
        }
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        out.key("type");
        out.string("function");
        out.key("function");
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("parameters");
        tool.write_schema(&subset::OPENAI, out, notes);
        if tool.info.strict() {
            out.key("strict");
            out.bool(true);
        }
        out.object_end();
        out.object_end();
    }

    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        if request.any {
            out.array_end();
        }
        if let Some(native) = request.native().next() {
            out.key(native.form.member);
            native.write_body(out);
        }
        if !request.any {
            return;
        }
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
                    out.key("allowed_tools");
                    out.object_start();
                    member("mode", if required { "required" } else { "auto" }, out);
                    out.key("tools");
                    out.array_start();
                    names.iter().for_each(|name| write_function(&request.wire_name(name), out));
                    out.array_end();
                    out.object_end();
                    out.object_end();
                }
            }
        }
        if let Some(parallel) = request.parallel {
            out.key("parallel_tool_calls");
            out.bool(parallel);
        }
    }

    /// Reads a whole response (its first choice) or one assistant message.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let mut message = Message::default();
        let (mut choices, mut in_choice, mut reason) = (false, false, None);
        let mut root = reader.members(&ROOT)?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                // Some servers put the error's members in the root.
                "object" if is(Some(reader.skip_value()?), "error") => return Err(ReplyError::Provider),
                "object" => {}
                "choices" => {
                    choices = true;
                    if !reader.elements()?.next(reader)? {
                        continue;
                    }
                    let mut choice = reader.members(&["message", "finish_reason"])?;
                    while let Some(key) = choice.next(reader)? {
                        if key == "finish_reason" {
                            reason = Some(reader.skip_value()?);
                            continue;
                        }
                        (in_choice, message) = (true, Message::default());
                        let mut members = reader.members(&MESSAGE)?;
                        while let Some(key) = members.next(reader)? {
                            message.read(key, reader, visit)?;
                        }
                    }
                }
                // A message alone.
                _ if !choices => message.read(key, reader, visit)?,
                _ => {}
            }
        }
        if choices && !in_choice {
            return Err(ReplyError::Shape { expected: "choices[0].message" });
        }
        let refused = message.finish(visit)?;
        Ok(match reason.and_then(Value::as_str) {
            _ if refused => Finish::Refused,
            Some(reason) if TRUNCATED.iter().any(|name| reason == *name) => Finish::Truncated,
            Some(reason) if reason == "content_filter" => Finish::Refused,
            _ => Finish::Complete,
        })
    }

    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let content = |message: Option<Value<'r>>, out: &mut Writer<'_, '_>| match message
            .and_then(|message| message.get("content"))
        {
            Some(content) => out.value(content),
            None => out.null(),
        };
        write_replay(root, content, ids, out);
        Ok(())
    }

    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        write_turn(turn, true, out);
        Ok(())
    }

    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        Some(&SHAPE)
    }

    /// Reads a chunk: what is new of the first choice.
    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let mut root = reader.members(&["error", "choices"])?;
        while let Some(key) = root.next(reader)? {
            if key == "error" {
                provider_error(reader)?;
                continue;
            }
            let mut choices = reader.elements()?;
            while choices.next(reader)? {
                read_choice(reader, visit)?;
            }
        }
        Ok(())
    }

    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
    }

    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        write_result(call, None, result, budget, out);
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_end();
        }
    }
}

/// What was read of a message beside its calls.
#[derive(Default)]
struct Message<'r> {
    content: Option<Value<'r>>,
    refusal: Option<Value<'r>>,
    calls: bool,
}

impl<'r> Message<'r> {
    /// Reads a member.
    fn read(
        &mut self,
        key: &str,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<(), ReplyError> {
        match key {
            "content" => self.content = Some(reader.skip_value()?),
            "refusal" => self.refusal = Some(reader.skip_value()?),
            "function_call" => check_function_call(reader)?,
            _ => {
                self.calls = true;
                let mut calls = list(reader, "a list of tool_calls")?;
                while calls.next(reader)? {
                    visit(Item::Call(read_call(reader)?));
                }
            }
        }
        Ok(())
    }

    /// Hands the text out; says whether the model refused. What has another shape would be lost in silence.
    fn finish(self, visit: &mut dyn FnMut(Item<'r>)) -> Result<bool, ReplyError> {
        let Message { content, refusal, calls } = self;
        if content.is_none() && refusal.is_none() && !calls {
            return Err(ReplyError::Shape { expected: "content or tool_calls" });
        }
        if content.is_some_and(|it| !matches!(it.kind(), Kind::String | Kind::Array | Kind::Null)) {
            return Err(ReplyError::Shape { expected: "content that is text or a list" });
        }
        visit(Item::Beside(content));
        for part in content.into_iter().flat_map(Value::items) {
            let [kind, text] = part.pick(["type", "text"]);
            // The mark of another dialect: its calls would be passed over in silence.
            if is(kind, "tool_use") {
                return Err(ReplyError::Shape { expected: "tool_calls beside content" });
            }
            visit(Item::Beside(text));
        }
        visit(Item::Beside(refusal));
        // Some servers send an empty refusal with every message.
        let refusal = refusal.filter(|refusal| !refusal.is_null());
        Ok(refusal.is_some_and(|refusal| refusal.as_str().is_none_or(|text| text != "")))
    }
}

/// Reads a call. A custom tool's call carries plain text; it still needs a result.
pub(super) fn read_call<'v>(reader: &mut Reader<'v>) -> Result<CallParts<'v>, ReplyError> {
    let (mut id, mut function, mut custom) = (None, None, None);
    let mut call = reader.members(&["id", "function", "custom"])?;
    while let Some(key) = call.next(reader)? {
        match key {
            "id" => id = Some(reader.skip_value()?),
            "custom" => custom = Some(reader.pick(BODY)?),
            // Some servers send one of the two empty with every call.
            _ if reader.peek()? == Kind::Null => {}
            _ => function = Some(reader.pick(BODY)?),
        }
    }
    let [name, arguments, input] = function.or(custom).unwrap_or_default();
    let custom = function.is_none() && custom.is_some();
    Ok(CallParts { id, name, arguments: arguments.or(input), encoded: true, custom, ..CallParts::default() })
}

/// What is read of a call's `function` or `custom`.
const BODY: [&str; 3] = ["name", "arguments", "input"];

/// Refuses a call in the form before `tool_calls`, which would be lost in silence.
fn check_function_call(reader: &mut Reader<'_>) -> Result<(), ReplyError> {
    let [name] = reader.pick(["name"])?;
    // Some servers send an empty one with every message.
    if name.and_then(Value::as_str).is_some_and(|name| name != "") {
        return Err(ReplyError::Shape { expected: "tool_calls in place of function_call" });
    }
    Ok(())
}

/// Reads what is new of the first choice; others are passed over.
fn read_choice<'e>(reader: &mut Reader<'e>, visit: &mut dyn FnMut(Change<'e>)) -> Result<(), ReplyError> {
    let (mut number, mut late, mut reason) = (None, None, None);
    let mut choice = reader.members(&["index", "delta", "message", "finish_reason"])?;
    while let Some(key) = choice.next(reader)? {
        match key {
            "index" => number = Some(index(Some(reader.skip_value()?)).unwrap_or(0)),
            "finish_reason" => reason = Some(reader.skip_value()?),
            // Which choice it is of stands before it, or after it.
            _ if number == Some(0) => read_delta(reader, visit)?,
            _ => late = late.or(Some(reader.skip_value()?)),
        }
    }
    if number.is_some_and(|number| number != 0) {
        return Ok(());
    }
    if let Some(delta) = late {
        read_delta(&mut delta.reader(), visit)?;
    }
    if let Some(reason) = reason {
        visit(Change::Finish { reason });
    }
    Ok(())
}

/// Reads what is new of a message.
fn read_delta<'e>(reader: &mut Reader<'e>, visit: &mut dyn FnMut(Change<'e>)) -> Result<(), ReplyError> {
    let mut delta = reader.members(&MEMBERS)?;
    while let Some(key) = delta.next(reader)? {
        match key {
            "function_call" => check_function_call(reader)?,
            "tool_calls" => {
                let mut calls = list(reader, "a list of tool_calls")?;
                while calls.next(reader)? {
                    let item = reader.skip_value()?;
                    visit(Change::Call { index: index(item.get("index")), item });
                }
            }
            // A list of content parts: their text, and what Mistral's models think.
            "content" if reader.peek()? == Kind::Array => {
                let mut parts = reader.elements()?;
                while parts.next(reader)? {
                    let [text, thinking, signature] = reader.pick(["text", "thinking", "signature"])?;
                    let thoughts = thinking.into_iter().flat_map(Value::items);
                    let thoughts = thoughts.filter_map(|part| part.get("text")).map(|text| (THINKING, text));
                    let text = text.map(|text| (0, text)).into_iter();
                    let signature = signature.map(|signature| (SIGNATURE, signature)).into_iter();
                    for (field, piece) in text.chain(thoughts).chain(signature) {
                        visit(Change::Member { field, piece });
                    }
                }
            }
            key => {
                let piece = reader.skip_value()?;
                let field = FIELDS.iter().position(|field| field.path == key).unwrap_or_default();
                if let Ok(field) = u8::try_from(field)
                    && (field > 0 || piece.kind() == Kind::String)
                {
                    visit(Change::Member { field, piece });
                }
            }
        }
    }
    Ok(())
}

fn write_function(name: &str, out: &mut Writer<'_, '_>) {
    out.object_start();
    member("type", "function", out);
    out.key("function");
    out.object_start();
    member("name", name, out);
    out.object_end();
    out.object_end();
}
