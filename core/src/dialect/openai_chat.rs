//! OpenAI Chat Completions. Source: the request and response models of the provider's SDK.

use super::change::{CallParts, Change, Field, Member, Shape, Show, index};
use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::{
    Facts, Finish, Item, NameRule, ReplayError, ReplyError, Wire, member, name_and_description,
    provider_error,
};
use crate::json::{Kind, Value, Writer};
use crate::result::ToolResult;
use crate::schema::{Subset, subset};

pub(super) struct OpenAiChat;

/// What is read of a message.
const PARTS: [&str; 4] = ["content", "tool_calls", "refusal", "function_call"];

/// What of a message grows in a stream: its own members, whose places are those of [`MEMBERS`], and what of
/// a call becomes JSON.
const FIELDS: [Field; 6] = [
    Field { path: "content", show: Show::Text, empty: "" },
    Field { path: "refusal", show: Show::Nothing, empty: "" },
    Field { path: "reasoning", show: Show::Reasoning, empty: "" },
    Field { path: "reasoning_content", show: Show::Reasoning, empty: "" },
    Field { path: "reasoning_details", show: Show::Nothing, empty: "" },
    Field { path: "/function/arguments", show: Show::Arguments, empty: "" },
];

/// The members of a delta: those that grow, in the order of [`FIELDS`], and the calls.
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
const CALL_DELTA: [Member; 5] = [
    Member::whole("content"),
    Member::whole("reasoning"),
    Member::whole("reasoning_content"),
    Member::whole("tool_calls"),
    Member::whole("function_call"),
];

/// The members of a message that go back as they came, beside `content`. Thinking has no place in the
/// provider's own models; servers that put it out want it back.
const SENT_BACK: [&str; 5] = ["refusal", "name", "reasoning", "reasoning_content", "reasoning_details"];

/// The most tools of a request (the provider's documentation).
pub(super) const MAX_TOOLS: usize = 128;

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
    empty_call: r#"{"id":"","type":"function","function":{"name":"","arguments":""}}"#,
    call: |item| Some(parts_of(item)),
};

impl Wire for OpenAiChat {
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
    fn reply<'r>(&self, root: Value<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<Finish, ReplyError> {
        let [error, choices, parts @ ..] =
            root.pick(["error", "choices", PARTS[0], PARTS[1], PARTS[2], PARTS[3]]);
        provider_error(error)?;
        let ([content, calls, refusal, function_call], reason) = match choices {
            Some(choices) => {
                let choice = choices.item(0).map(|choice| choice.pick(["message", "finish_reason"]));
                let Some([Some(message), reason]) = choice else {
                    return Err(ReplyError::Shape { expected: "choices[0].message" });
                };
                (message.pick(PARTS), reason)
            }
            None => (parts, None),
        };
        let is = |value: Option<Value<'_>>, kinds: &[Kind]| {
            value.is_none_or(|value| value.is_null() || kinds.contains(&value.kind()))
        };
        // What has another shape would be lost in silence.
        check_calls(calls, function_call)?;
        if !is(content, &[Kind::String, Kind::Array]) {
            return Err(ReplyError::Shape { expected: "content that is text or a list" });
        }
        if content.is_none() && calls.is_none() && refusal.is_none() {
            return Err(ReplyError::Shape { expected: "content or tool_calls" });
        }
        visit(Item::Text(content));
        for part in content.into_iter().flat_map(Value::items) {
            // The mark of another dialect: its calls would be passed over in silence.
            if part.get("type").and_then(Value::as_str).is_some_and(|kind| kind == "tool_use") {
                return Err(ReplyError::Shape { expected: "tool_calls beside content" });
            }
            visit(Item::Text(part.get("text")));
        }
        for call in calls.into_iter().flat_map(Value::items) {
            let CallParts { id, name, arguments } = parts_of(call);
            visit(match call.get("function").is_none_or(Value::is_null) && call.get("custom").is_some() {
                true => Item::Custom { id, name, input: arguments, incomplete: false },
                false => Item::Call { id, name, arguments, encoded: true, incomplete: false },
            });
        }
        // Some servers send an empty refusal with every message.
        let refusal = refusal.filter(|refusal| !refusal.is_null());
        let refused = refusal.is_some_and(|refusal| refusal.as_str().is_none_or(|text| text != ""));
        Ok(match reason.and_then(Value::as_str) {
            _ if refused => Finish::Refused,
            Some(reason) if reason == "length" => Finish::Truncated,
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
        let message = root.get("choices").map(|choices| choices.item(0).and_then(|one| one.get("message")));
        out.object_start();
        out.key("role");
        out.string("assistant");
        let message = message.unwrap_or(Some(root));
        out.key("content");
        match message.and_then(|message| message.get("content")) {
            Some(content) => out.value(content),
            None => out.null(),
        }
        for (key, value) in message.into_iter().flat_map(Value::entries) {
            let nothing = value.is_null() || value.raw() == "[]" || value.raw() == "\"\"";
            if !nothing && SENT_BACK.iter().any(|name| key == *name) {
                out.key_str(key);
                out.value(value);
            } else if key == "audio"
                && let Some(id) = value.get("id").filter(|id| id.raw() != "\"\"")
            {
                out.key_str(key);
                out.object_start();
                out.key("id");
                out.value(id);
                out.object_end();
            } else if key == "tool_calls" && !nothing {
                out.key_str(key);
                out.array_start();
                for call in value.items() {
                    write_call(call, ids(), out);
                }
                out.array_end();
            }
        }
        out.object_end();
        Ok(())
    }

    fn stream(&self) -> Option<&'static Shape> {
        Some(&SHAPE)
    }

    /// Reads a chunk: what is new of the first choice.
    fn event<'e>(&self, root: Value<'e>, visit: &mut dyn FnMut(Change<'e>)) -> Result<(), ReplyError> {
        let [error, choices] = root.pick(["error", "choices"]);
        provider_error(error)?;
        for choice in choices.into_iter().flat_map(Value::items) {
            let [number, delta, message, reason] =
                choice.pick(["index", "delta", "message", "finish_reason"]);
            if index(number).is_some_and(|number| number != 0) {
                continue;
            }
            if let Some(delta) = delta.or(message) {
                read_delta(delta, visit)?;
            }
            if let Some(reason) = reason {
                visit(Change::Finish { reason });
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

/// Writes one message of the role `tool`: text only, and a failure is told by its text.
pub(super) fn write_result(
    call: &Answered<'_>,
    name: Option<&str>,
    result: &ToolResult<'_>,
    budget: &mut Budget,
    out: &mut Writer<'_, '_>,
) {
    out.object_start();
    member("role", "tool", out);
    member("tool_call_id", call.id, out);
    if let Some(name) = name {
        member("name", name, out);
    }
    out.key("content");
    if result.len() > 1 {
        out.array_start();
        for part in result.parts() {
            out.object_start();
            member("type", "text", out);
            out.key("text");
            write_part(&part, budget, out);
            out.object_end();
        }
        out.array_end();
    } else {
        match result.parts().next() {
            Some(part) => write_part(&part, budget, out),
            None => out.string(""),
        }
    }
    out.object_end();
}

/// The parts of a call. A custom tool's call carries plain text; it still needs a result.
pub(super) fn parts_of(call: Value<'_>) -> CallParts<'_> {
    let [id, function, custom] = call.pick(["id", "function", "custom"]);
    let function = function.filter(|function| !function.is_null());
    let [name, arguments, input] =
        function.or(custom).map_or([None; 3], |body| body.pick(["name", "arguments", "input"]));
    CallParts { id, name, arguments: arguments.or(input) }
}

/// Refuses calls in a shape in which they would be lost in silence.
pub(super) fn check_calls(
    calls: Option<Value<'_>>,
    function_call: Option<Value<'_>>,
) -> Result<(), ReplyError> {
    if calls.is_some_and(|calls| !calls.is_null() && calls.kind() != Kind::Array) {
        return Err(ReplyError::Shape { expected: "a list of tool_calls" });
    }
    // Some servers send an empty one with every message.
    let old = function_call.and_then(|call| call.get("name")).and_then(Value::as_str);
    if old.is_some_and(|name| name != "") {
        return Err(ReplyError::Shape { expected: "tool_calls in place of function_call" });
    }
    Ok(())
}

/// Reads what is new of a message.
fn read_delta<'e>(delta: Value<'e>, visit: &mut dyn FnMut(Change<'e>)) -> Result<(), ReplyError> {
    let [grows @ .., calls, function_call] = delta.pick(MEMBERS);
    check_calls(calls, function_call)?;
    for (field, piece) in (0..).zip(grows) {
        if let Some(piece) = piece
            && (field > 0 || piece.kind() == Kind::String)
        {
            visit(Change::Member { field, piece });
        }
    }
    // A list of content parts: its text.
    let [content, ..] = grows;
    for part in content.into_iter().flat_map(Value::items) {
        if let Some(piece) = part.get("text") {
            visit(Change::Member { field: 0, piece });
        }
    }
    for item in calls.into_iter().flat_map(Value::items) {
        visit(Change::Call { index: index(item.get("index")), item });
    }
    Ok(())
}

/// Writes a call as it goes back: with an id, its arguments as text, and without its number in a stream.
pub(super) fn write_call(call: Value<'_>, minted: Option<&str>, out: &mut Writer<'_, '_>) {
    out.object_start();
    if let Some(id) = minted {
        out.key("id");
        out.string(id);
    }
    if call.get("type").is_none() && call.get("custom").is_none() {
        out.key("type");
        out.string("function");
    }
    let is_function = call.get("function").is_some_and(|function| !function.is_null());
    for (key, value) in call.entries() {
        // Some servers send an empty `custom` with every function, and the other way round.
        let empty = is_function && key == "custom" || !is_function && key == "function";
        if empty || key == "index" || key == "id" && minted.is_some() {
            continue;
        }
        out.key_str(key);
        if key != "function" {
            out.value(value);
            continue;
        }
        out.object_start();
        for (key, value) in value.entries() {
            out.key_str(key);
            match value.as_str() {
                _ if key != "arguments" => out.value(value),
                // Not every server takes its own empty text back.
                Some(text) if text == "" => out.string("{}"),
                Some(_) => out.value(value),
                None if value.is_null() => out.string("{}"),
                None => out.string(value.raw()),
            }
        }
        out.object_end();
    }
    out.object_end();
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
