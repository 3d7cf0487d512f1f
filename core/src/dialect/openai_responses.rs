//! OpenAI Responses. Source: the request and response models of the provider's SDK.
//!
//! A reply is a list of items. A call has two ids: `call_id`, by which its result answers it, and `id`, that
//! of the item, which is only replayed. They are never mixed.

use super::change::{CallParts, Change, Field, Member, OpenMembers, Shape, Show, index};
use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    Facts, Finish, IdRule, Item, NameRule, ReplayError, ReplyError, Wire, is, member, name_and_description,
    provider_error,
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

/// "Invalid 'input[].call_id': string too long. Expected a string with maximum length 64": what the server answers
/// to longer ones, some of its own among them (openclaw/openclaw#137489, V1ki/dsh-plugin-subscriptions#29).
const IDS: IdRule = IdRule { len: (0, 64), marks: None };

const TEXT: u8 = 0;
const REFUSAL: u8 = 1;
const ARGUMENTS: u8 = 2;
/// What is not kept, since its item is of no use until it comes whole.
const REASONING: u8 = 3;
const INPUT: u8 = 4;

/// What pieces are of: of an item that comes whole in the end, so that those of a text with several parts may
/// stand in the first.
const FIELDS: [Field; 5] = [
    Field {
        path: "/content/0/text",
        show: Show::Text,
        empty: r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}"#,
    },
    Field {
        path: "/content/0/refusal",
        show: Show::Refusal,
        empty: r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":""}]}"#,
    },
    Field { path: "/arguments", show: Show::Arguments, empty: "" },
    Field { path: "", show: Show::Reasoning, empty: "" },
    Field { path: "", show: Show::Arguments, empty: "" },
];

/// The events that bring a piece, and what it is of.
const DELTAS: [(&str, u8); 6] = [
    ("response.function_call_arguments.delta", ARGUMENTS),
    ("response.output_text.delta", TEXT),
    ("response.refusal.delta", REFUSAL),
    ("response.custom_tool_call_input.delta", INPUT),
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

/// What is read of the items in the end if all of them have come: whether they are all.
const OUTLINE: [Member; 1] = [Member::whole("type")];

const ERROR: Member = Member::whole("error");
const DETAILS: Member = Member::whole("incomplete_details");

/// What is read of the response in the end, given what of its items.
const fn response(output: &'static [Member]) -> [Member; 3] {
    [ERROR, DETAILS, Member { key: "output", inner: output }]
}

/// What is read of an event, given what of an item and of the response. If only calls are kept, their whole
/// arguments come with the item.
const fn event_members(item: &'static [Member], response: &'static [Member]) -> [Member; 10] {
    let arguments = if item.is_empty() { "arguments" } else { "" };
    [
        Member::whole("type"),
        Member::whole("output_index"),
        Member { key: "item", inner: item },
        Member::whole("delta"),
        Member::whole(arguments),
        ERROR,
        Member::whole("message"),
        Member { key: "response", inner: response },
        Member { key: "output", inner: item },
        DETAILS,
    ]
}

/// The most tools of a request (the provider's documentation).
const MAX_TOOLS: usize = 128;

impl Wire for OpenAiResponses {
    fn facts(&self) -> Facts {
        Facts { max_tools: MAX_TOOLS, ids: IDS, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        Some(&subset::OPENAI_STRICT)
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

    /// Items without the `id` that only the provider gives.
    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        if !turn.text.is_empty() {
            out.object_start();
            member("type", "message", out);
            member("role", "assistant", out);
            member("content", turn.text, out);
            out.object_end();
        }
        turn.each(|call| {
            out.object_start();
            member("type", if call.custom { "custom_tool_call" } else { "function_call" }, out);
            member("call_id", call.id, out);
            member("name", call.name, out);
            if call.custom {
                member("input", call.arguments, out);
            } else {
                out.key("arguments");
                call.write_text(out);
            }
            out.object_end();
        });
        Ok(())
    }

    /// The whole form has no `status` but the details, which say whether the reply is complete.
    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"object":"response""#,
            list: r#","output":["#,
            tail: r#"],"incomplete_details":"#,
            end: "}",
            members: &event_members(&[], &response(&OUTLINE)),
            call_members: &event_members(&CALL_ITEM, &response(&OUTLINE)),
            shown: |item, visit| {
                let [kind, content, summary] = item.pick(["type", "content", "summary"]);
                for part in content.into_iter().flat_map(Value::items).filter(|_| is(kind, "message")) {
                    let [text, refusal] = part.pick(["text", "refusal"]);
                    if let Some(piece) = text.or(refusal) {
                        visit(TEXT, piece);
                    }
                }
                for part in summary.into_iter().flat_map(Value::items).filter(|_| is(kind, "reasoning")) {
                    if let Some(piece) = part.get("text") {
                        visit(REASONING, piece);
                    }
                }
            },
            open_members: Some(OpenMembers {
                all: &event_members(&[], &response(&[])),
                calls: &event_members(&CALL_ITEM, &response(&CALL_ITEM)),
            }),
            fields: &FIELDS,
            empty_call: "",
            call: |item| {
                let [kind, _, _, call @ ..] = item.pick(ITEM)?;
                Ok(call_of(kind, call))
            },
        };
        Some(&SHAPE)
    }

    /// Items begin, grow, and come whole when they end; the response in the end holds them all once more, of
    /// which is taken what has not come whole by then.
    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let [kind, number, item, delta, arguments, error, response, output, details] = reader.pick(EVENT)?;
        if error.is_some_and(|error| !error.is_null()) {
            return Err(ReplyError::Provider);
        }
        if let Some(piece) = delta {
            if let Some((_, field)) = DELTAS.iter().find(|(name, _)| is(kind, name)) {
                let field = *field;
                visit(match index(number) {
                    Some(key) if field < REASONING => Change::Grow { key, field, piece },
                    key => Change::Show { key: key.unwrap_or(u32::MAX), field, piece },
                });
            }
        } else if let Some(value) = arguments {
            if let Some(key) = index(number).filter(|_| is(kind, "response.function_call_arguments.done")) {
                visit(Change::Fill { key, field: ARGUMENTS, value });
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
        } else if is(kind, "response.completed") || is(kind, "response.incomplete") {
            let [output, details] =
                response.map(|it| it.pick(["output", "incomplete_details"])).unwrap_or_default();
            if let Some(items) = output {
                visit(Change::Repeat { items });
            }
            if is(kind, "response.completed") {
                visit(Change::End);
            } else if let Some(reason) = details.filter(|details| !details.is_null()).or(kind) {
                visit(Change::Finish { reason });
            }
        } else if let Some(items) = output {
            // A whole response where a stream was asked for.
            visit(Change::Repeat { items });
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
const EVENT: [&str; 9] = [
    "type",
    "output_index",
    "item",
    "delta",
    "arguments",
    "error",
    "response",
    "output",
    "incomplete_details",
];

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
            // Arguments that became an object in a stream are whole, whatever the item was when it began.
            let is_object = call.arguments.is_some_and(|it| it.kind() == Kind::Object);
            let incomplete = is(status, "incomplete") || is(status, "in_progress") && !is_object;
            visit(Item::Call(CallParts { incomplete, ..call }));
        } else if is(kind, "message") {
            for part in content.into_iter().flat_map(Value::items) {
                let [kind, text, refusal] = part.pick(["type", "text", "refusal"]);
                let refused = is(kind, "refusal");
                ending.refused |= refused;
                visit(Item::Text(if refused { refusal } else { text }));
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
    let call = CallParts { id, name, arguments, encoded: true, custom, ..CallParts::default() };
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
