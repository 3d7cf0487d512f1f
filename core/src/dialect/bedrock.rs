//! Amazon Bedrock Converse. Source: the service model of botocore, `bedrock-runtime`, operation `Converse`.
//!
//! Without any tool there is no `toolConfig`, since its list must not be empty. A history that holds
//! `toolUse` or `toolResult` needs one all the same: render the tools that it names. A host that says so
//! ([`ToolsOptions::after_calls`](super::ToolsOptions::after_calls)) gets an error in place of a request that
//! would be refused.
//!
//! A stream's events come in a binary framing that is the host's to undo. Each is taken as the object that
//! the SDKs show, `{"contentBlockDelta":{…}}`, or as its payload with the event's type beside it
//! ([`Stream::feed_event`](crate::stream::Stream::feed_event)).

use super::change::{CallParts, Change, Field, Member, Shape, Show, index};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    ChoiceWords, Facts, Finish, IdRule, Item, NameRule, ReplayError, ReplyError, Wire, base64, is, member,
    name_and_description,
};
use crate::json::{Kind, Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct Bedrock;

/// Media types of images and what the provider calls their formats.
const IMAGES: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpeg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// What of a block grows in a stream. Only calls and what the provider ran have an event that begins them.
const FIELDS: [Field; 8] = [
    Field { path: "/text", show: Show::Text, empty: r#"{"text":""}"# },
    Field { path: "/toolUse/input", show: Show::Arguments, empty: "" },
    Field { path: "/toolResult/content", show: Show::Nothing, empty: "" },
    Field { path: "/reasoningContent/reasoningText/text", show: Show::Reasoning, empty: REASONING },
    Field { path: "/reasoningContent/reasoningText/signature", show: Show::Nothing, empty: REASONING },
    Field {
        path: "/reasoningContent/redactedContent",
        show: Show::Nothing,
        empty: r#"{"reasoningContent":{"redactedContent":""}}"#,
    },
    Field { path: "/image/source/bytes", show: Show::Nothing, empty: r#"{"image":{"source":{"bytes":""}}}"# },
    // The whole form has a block of another kind for text with citations; see `write_replayed`.
    Field { path: "/citations", show: Show::Nothing, empty: r#"{"text":""}"# },
];

/// A block of thinking with nothing in it.
const REASONING: &str = r#"{"reasoningContent":{"reasoningText":{"text":""}}}"#;

/// The events in place of which a stream can break off, each with a `message`.
const EXCEPTIONS: [&str; 5] = [
    "internalServerException",
    "modelStreamErrorException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
];

/// What is read of an event: a block's beginning, piece and end, the reason, a whole response, what went wrong.
const EVENT: [&str; 11] = {
    let [a, b, c, d, e] = EXCEPTIONS;
    let [start, delta] = ["contentBlockStart", "contentBlockDelta"];
    [start, delta, "contentBlockStop", "messageStop", "output", "stopReason", a, b, c, d, e]
};

const STOP: [Member; 1] = [Member::whole("stopReason")];
const OUTPUT: [Member; 1] = [Member { key: "message", inner: &CONTENT }];
const CONTENT: [Member; 1] = [Member::whole("content")];

/// What is read of an event, `delta` of a delta.
const fn members(delta: &'static [Member]) -> [Member; 11] {
    let [a, b, c, d, e] = EXCEPTIONS;
    [
        Member::whole("contentBlockStart"),
        Member { key: "contentBlockDelta", inner: delta },
        Member::whole("contentBlockStop"),
        Member { key: "messageStop", inner: &STOP },
        Member { key: "output", inner: &OUTPUT },
        Member::whole("stopReason"),
        Member::whole(a),
        Member::whole(b),
        Member::whole(c),
        Member::whole(d),
        Member::whole(e),
    ]
}

/// What is read of a delta if only calls are kept.
const CALL_DELTA: [Member; 2] = [
    Member::whole("contentBlockIndex"),
    Member {
        key: "delta",
        inner: &[
            Member::whole("text"),
            Member::whole("toolUse"),
            Member { key: "reasoningContent", inner: &[Member::whole("text")] },
        ],
    },
];

/// What stands for a result in which there is nothing: the provider takes no empty text.
const EMPTY: &str = "(no output)";

impl Wire for Bedrock {
    fn facts(&self) -> Facts {
        let choice = ChoiceWords { none: false, allowed: false, parallel: false, ..ChoiceWords::ALL };
        let ids = IdRule { len: (1, 64), marks: Some("_.:-") };
        Facts { choice, ids, tools_after_calls: true, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        Some(&subset::BEDROCK_STRICT)
    }

    fn tools_start(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.key("toolConfig");
        out.object_start();
        out.key("tools");
        out.array_start();
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        out.key("toolSpec");
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("inputSchema");
        out.object_start();
        out.key("json");
        tool.write_schema(&subset::PLAIN, out, notes);
        out.object_end();
        if tool.info.strict() {
            out.key("strict");
            out.bool(true);
        }
        out.object_end();
        out.object_end();
    }

    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        if request.cache {
            out.object_start();
            out.key("cachePoint");
            out.object_start();
            member("type", "default", out);
            out.object_end();
            out.object_end();
        }
        out.array_end();
        if let Some(choice) = request.choice {
            out.key("toolChoice");
            out.object_start();
            out.key(match choice {
                Choice::Required => "any",
                Choice::Tool(_) => "tool",
                _ => "auto",
            });
            out.object_start();
            if let Choice::Tool(name) = choice {
                member("name", &request.wire_name(name), out);
            }
            out.object_end();
            out.object_end();
        }
        out.object_end();
    }

    /// Reads a whole response or one assistant message. What the provider ran itself (`server_tool_use`) is
    /// passed over.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut found, mut failed, mut reason) = (false, false, None);
        let mut root = reader.members(&["output", "content", "stopReason", "__type", "message"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "stopReason" => reason = Some(reader.skip_value()?),
                "__type" => failed = true,
                "message" => failed |= reader.peek()? == Kind::String,
                _ if found => {}
                "output" => {
                    let mut output = reader.members(&["message"])?;
                    while output.next(reader)?.is_some() {
                        let mut message = reader.members(&["content"])?;
                        while message.next(reader)?.is_some() {
                            found |= read_content(reader, visit)?;
                        }
                    }
                }
                // A message alone.
                _ => found = read_content(reader, visit)?,
            }
        }
        if !found {
            let shape = ReplyError::Shape { expected: "output.message.content" };
            return Err(if failed { ReplyError::Provider } else { shape });
        }
        let reason = |names: &[&str]| names.iter().any(|name| is(reason, name));
        Ok(if reason(&["max_tokens", "model_context_window_exceeded"]) {
            Finish::Truncated
        } else if reason(&["malformed_tool_use", "malformed_model_output"]) {
            Finish::Malformed
        } else if reason(&["guardrail_intervened", "content_filtered"]) {
            Finish::Refused
        } else {
            Finish::Complete
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
        let content = root.pointer("/output/message/content").or(root.get("content"));
        let Some(content) = content.filter(|content| content.items().any(is_taken_back)) else {
            return Ok(());
        };
        out.object_start();
        member("role", "assistant", out);
        out.key("content");
        out.array_start();
        for block in content.items().filter(|block| is_taken_back(*block)) {
            let minted = if is_call(block) { ids() } else { None };
            write_replayed(block, minted, out);
        }
        out.array_end();
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
            member("text", turn.text, out);
            out.object_end();
        }
        turn.each(|call| {
            out.object_start();
            out.key("toolUse");
            out.object_start();
            member("toolUseId", call.id, out);
            member("name", call.name, out);
            out.key("input");
            call.write_object(out);
            out.object_end();
            out.object_end();
        });
        out.array_end();
        out.object_end();
        Ok(())
    }

    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"output":{"message":{"role":"assistant""#,
            list: r#","content":["#,
            tail: r#"]}},"stopReason":"#,
            end: "}",
            members: &members(&[]),
            call_members: &members(&CALL_DELTA),
            fields: &FIELDS,
            shown: Shape::shows_nothing,
            open_members: None,
            empty_call: "",
            call: read_block,
        };
        Some(&SHAPE)
    }

    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let mut root = reader.members(&EVENT)?;
        while let Some(key) = root.next(reader)? {
            match key {
                "contentBlockStart" => {
                    let [number, item] = reader.pick(["contentBlockIndex", "start"])?;
                    let item = item.ok_or(ReplyError::Shape { expected: "contentBlockStart.start" })?;
                    visit(Change::Open { key: key_of(number)?, item });
                }
                "contentBlockDelta" => {
                    let (mut number, mut pieces) = (None, [None; FIELDS.len()]);
                    let mut delta = reader.members(&["contentBlockIndex", "delta"])?;
                    while let Some(key) = delta.next(reader)? {
                        match key {
                            "delta" => pieces = read_pieces(reader)?,
                            _ => number = Some(reader.skip_value()?),
                        }
                    }
                    let key = key_of(number)?;
                    for (field, piece) in (0..).zip(pieces) {
                        if let Some(piece) = piece {
                            visit(Change::Append { key, field, piece });
                        }
                    }
                }
                "contentBlockStop" => {
                    let [number] = reader.pick(["contentBlockIndex"])?;
                    visit(Change::Close { key: key_of(number)? });
                }
                "messageStop" => {
                    if let [Some(reason)] = reader.pick(["stopReason"])? {
                        visit(Change::Finish { reason });
                    }
                }
                // A whole response where a stream was asked for.
                "output" => {
                    let output = reader.skip_value()?;
                    let content = output.pointer("/message/content");
                    for (key, item) in (0..).zip(content.into_iter().flat_map(Value::items)) {
                        visit(Change::Open { key, item });
                        visit(Change::Close { key });
                    }
                }
                "stopReason" => visit(Change::Finish { reason: reader.skip_value()? }),
                _ => return Err(ReplyError::Provider),
            }
        }
        Ok(())
    }

    /// All results of a turn stand in one user message.
    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
        out.object_start();
        member("role", "user", out);
        out.key("content");
        out.array_start();
    }

    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.object_start();
        out.key("toolResult");
        out.object_start();
        member("toolUseId", call.id, out);
        out.key("content");
        out.array_start();
        for part in result.parts() {
            write_block(&part, budget, out);
        }
        if result.is_empty() {
            out.object_start();
            member("text", EMPTY, out);
            out.object_end();
        }
        out.array_end();
        if result.failed() {
            member("status", "error", out);
        }
        out.object_end();
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

/// Reads the blocks of a message; says whether there is a list of them.
fn read_content<'r>(reader: &mut Reader<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<bool, ReplyError> {
    let mut blocks = reader.elements()?;
    let found = blocks.is_open();
    while blocks.next(reader)? {
        let (mut call, mut text) = (None, None);
        let mut block = reader.members(&["toolUse", "text", "citationsContent"])?;
        while let Some(key) = block.next(reader)? {
            match key {
                "toolUse" => call = read_call(reader)?,
                "citationsContent" => {
                    let [content] = reader.pick(["content"])?;
                    for part in content.into_iter().flat_map(Value::items) {
                        visit(Item::Text(part.get("text")));
                    }
                }
                _ => text = Some(reader.skip_value()?),
            }
        }
        visit(call.map_or(Item::Text(text), Item::Call));
    }
    Ok(found)
}

/// Reads a block; `None` if it is no call that is the client's to run.
fn read_block<'v>(reader: &mut Reader<'v>) -> Result<Option<CallParts<'v>>, ReplyError> {
    let mut call = None;
    let mut block = reader.members(&["toolUse"])?;
    while block.next(reader)?.is_some() {
        call = read_call(reader)?;
    }
    Ok(call)
}

/// Reads what a `toolUse` holds.
fn read_call<'v>(reader: &mut Reader<'v>) -> Result<Option<CallParts<'v>>, ReplyError> {
    if reader.peek()? == Kind::Null {
        return Ok(None);
    }
    let [id, name, arguments, kind] = reader.pick(["toolUseId", "name", "input", "type"])?;
    let call = CallParts { id, name, arguments, ..CallParts::default() };
    Ok((!is(kind, "server_tool_use")).then_some(call))
}

/// The number of a block.
fn key_of(number: Option<Value<'_>>) -> Result<u32, ReplyError> {
    index(number).ok_or(ReplyError::Shape { expected: "the contentBlockIndex of a block" })
}

/// What is read of a delta.
const DELTA: [&str; 6] = ["text", "toolUse", "toolResult", "reasoningContent", "image", "citation"];

/// Reads the piece of each field in a delta.
fn read_pieces<'v>(reader: &mut Reader<'v>) -> Result<[Option<Value<'v>>; FIELDS.len()], ReplyError> {
    let [mut text, mut input, mut result, mut image, mut citation] = [None; 5];
    let mut reasoning = [None; 3];
    let mut delta = reader.members(&DELTA)?;
    while let Some(key) = delta.next(reader)? {
        match key {
            "text" => text = Some(reader.skip_value()?),
            "toolUse" => [input] = reader.pick(["input"])?,
            "toolResult" => result = Some(reader.skip_value()?),
            "image" => image = reader.skip_value()?.pointer("/source/bytes"),
            "citation" => citation = Some(reader.skip_value()?),
            _ => reasoning = reader.pick(["text", "signature", "redactedContent"])?,
        }
    }
    let [thought, signature, redacted] = reasoning;
    Ok([text, input, result, thought, signature, redacted, image, citation])
}

/// Whether a block is a call that is the client's to run.
fn is_call(block: Value<'_>) -> bool {
    read_block(&mut block.reader()).is_ok_and(|call| call.is_some())
}

/// Whether the provider takes this block of its own back.
fn is_taken_back(block: Value<'_>) -> bool {
    let [text, reasoning] = block.pick(["text", "reasoningContent"]);
    let signed = |reasoning: Value<'_>| {
        reasoning
            .get("reasoningText")
            .is_none_or(|text| text.get("signature").is_some_and(|it| !it.is_null()))
    };
    text.is_none_or(|text| text.raw() != "\"\"") && reasoning.is_none_or(signed)
}

/// Writes a block. A call of the client's has an id and an object, and no `type`, which the provider puts out
/// with a value that it does not know in a request.
fn write_replayed(block: Value<'_>, minted: Option<&str>, out: &mut Writer<'_, '_>) {
    if let [Some(text), Some(citations)] = block.pick(["text", "citations"]) {
        return write_cited(text, citations, out);
    }
    let Some(call) = block.get("toolUse").filter(|_| is_call(block)) else {
        return out.value(block);
    };
    out.object_start();
    out.key("toolUse");
    out.object_start();
    if let Some(id) = minted {
        member("toolUseId", id, out);
    }
    for (key, value) in call.entries() {
        if key != "type" && key != "input" && !(minted.is_some() && key == "toolUseId") {
            out.key_str(key);
            out.value(value);
        }
    }
    out.key("input");
    let input = call.get("input").filter(|input| input.kind() == Kind::Object);
    out.value(input.unwrap_or(Value::empty_object()));
    out.object_end();
    out.object_end();
}

/// Writes text of a stream with its citations, as the block that it is in the whole form.
fn write_cited(text: Value<'_>, citations: Value<'_>, out: &mut Writer<'_, '_>) {
    out.object_start();
    out.key("citationsContent");
    out.object_start();
    out.key("content");
    out.array_start();
    out.object_start();
    out.key("text");
    out.value(text);
    out.object_end();
    out.array_end();
    out.key("citations");
    out.value(citations);
    out.object_end();
    out.object_end();
}

fn write_block(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    out.object_start();
    match part {
        Part::Image { media_type, data }
            if let Some((_, format)) = IMAGES.iter().find(|(name, _)| name == media_type)
                && budget.take_media(media_type, data) =>
        {
            out.key("image");
            out.object_start();
            member("format", format, out);
            out.key("source");
            out.object_start();
            out.key("bytes");
            base64(data, out);
            out.object_end();
            out.object_end();
        }
        // The provider takes documents that are objects.
        Part::Json(text) if text.starts_with('{') && budget.take_whole(text) => {
            out.key("json");
            out.value(Value::from_checked(text));
        }
        part if part.is_blank() => member("text", EMPTY, out),
        other => {
            out.key("text");
            write_part(other, budget, out);
        }
    }
    out.object_end();
}
