//! Cohere's second chat endpoint. Source: the models of its SDK.
//!
//! Tools and calls are those of OpenAI Chat Completions; the message stands without a list of choices, has a
//! `tool_plan` beside its calls, a result may be a document, strict is said once for all tools, and a stream
//! has events of its own. It is a dialect of its own for the reason that
//! [Mistral's](super::mistral_chat) is.

use super::change::{Change, Field, Member, Shape, Show, index};
use super::openai_chat::{self, OpenAiChat};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    ChoiceWords, Facts, Finish, Item, NameRule, ReplayError, ReplyError, Wire, is, list, member,
    name_and_description, provider_error,
};
use crate::json::{Kind, Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct Cohere;

/// What of a message grows in a stream.
const FIELDS: [Field; 4] = [
    Field { path: "content", show: Show::Text, empty: "" },
    Field { path: "thinking", show: Show::Reasoning, empty: "" },
    Field { path: "tool_plan", show: Show::Reasoning, empty: "" },
    Field { path: "/function/arguments", show: Show::Arguments, empty: "" },
];

const PLAN: u8 = 2;
const ARGUMENTS: u8 = 3;

/// What is read of a message in an event.
const MESSAGE: [Member; 3] = [
    Member { key: "content", inner: &[Member::whole("text"), Member::whole("thinking")] },
    Member::whole("tool_plan"),
    Member::whole("tool_calls"),
];

/// What is read of an event.
const EVENT: [Member; 6] = [
    Member::whole("type"),
    Member::whole("index"),
    Member {
        key: "delta",
        inner: &[
            Member { key: "message", inner: &MESSAGE },
            Member::whole("finish_reason"),
            Member::whole("error"),
        ],
    },
    Member::whole("error"),
    Member::whole("message"),
    Member::whole("finish_reason"),
];

/// Reads a member of a message.
fn read_member<'r>(
    key: &str,
    reader: &mut Reader<'r>,
    visit: &mut dyn FnMut(Item<'r>),
) -> Result<(), ReplyError> {
    match key {
        "content" => {
            let content = reader.skip_value()?;
            visit(Item::Beside(Some(content)));
            for part in content.items() {
                visit(Item::Beside(part.get("text")));
            }
        }
        "tool_calls" => {
            let mut calls = list(reader, "a list of tool_calls")?;
            while calls.next(reader)? {
                visit(Item::Call(openai_chat::read_call(reader)?));
            }
        }
        _ => {}
    }
    Ok(())
}

/// A piece of a member that grows, if it is text.
#[cfg(feature = "stream")]
fn text<'e>(field: u8, piece: Option<Value<'e>>, visit: &mut dyn FnMut(Change<'e>)) {
    if let Some(piece) = piece.filter(|piece| piece.kind() == Kind::String) {
        visit(Change::Member { field, piece });
    }
}

/// Reads the message of a whole response.
#[cfg(feature = "stream")]
fn read_whole<'e>(message: Value<'e>, visit: &mut dyn FnMut(Change<'e>)) {
    let [content, plan, calls] = message.pick(["content", "tool_plan", "tool_calls"]);
    text(0, content, visit);
    for part in content.into_iter().flat_map(Value::items) {
        for (field, piece) in (0..).zip(part.pick(["text", "thinking"])) {
            text(field, piece, visit);
        }
    }
    text(PLAN, plan, visit);
    for (key, item) in (0..).zip(calls.into_iter().flat_map(Value::items)) {
        visit(Change::Open { key, item });
        visit(Change::Close { key });
    }
}

impl Wire for Cohere {
    fn facts(&self) -> Facts {
        let choice = ChoiceWords { tool: false, allowed: false, parallel: false, ..ChoiceWords::ALL };
        Facts { choice, strict_together: true, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        OpenAiChat.names()
    }

    fn strict(&self) -> Option<&'static Subset> {
        Some(&subset::COHERE_STRICT)
    }

    fn tools_start(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        OpenAiChat.tools_start(request, out);
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        member("type", "function", out);
        out.key("function");
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("parameters");
        tool.write_schema(&subset::PLAIN, out, notes);
        out.object_end();
        out.object_end();
    }

    /// The provider has no word for a free choice.
    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        if !request.any {
            return;
        }
        out.array_end();
        if request.strict {
            out.key("strict_tools");
            out.bool(true);
        }
        match request.choice {
            Some(Choice::Required) => member("tool_choice", "REQUIRED", out),
            Some(Choice::None) => member("tool_choice", "NONE", out),
            _ => {}
        }
    }

    /// Reads a whole response or one assistant message. The plan is thinking and passed over.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut in_message, mut found, mut reason) = (false, false, None);
        let mut root = reader.members(&["message", "finish_reason", "content", "tool_calls", "tool_plan"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "finish_reason" => reason = Some(reader.skip_value()?),
                "message" if reader.peek()? == Kind::String => return Err(ReplyError::Provider),
                "message" => {
                    in_message = true;
                    // A message in which nothing is said is one.
                    found |= reader.peek()? == Kind::Object;
                    let mut message = reader.members(&["content", "tool_calls", "tool_plan"])?;
                    while let Some(key) = message.next(reader)? {
                        read_member(key, reader, visit)?;
                    }
                }
                // A message alone.
                _ if !in_message => {
                    found = true;
                    read_member(key, reader, visit)?;
                }
                _ => {}
            }
        }
        if !found {
            return Err(ReplyError::Shape { expected: "message.content or message.tool_calls" });
        }
        let cut = ["MAX_TOKENS", "ERROR", "TIMEOUT"].iter().any(|name| is(reason, name));
        Ok(if cut { Finish::Truncated } else { Finish::Complete })
    }

    /// The message with what the provider takes back of its own: content, plan and calls.
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let [content, thinking, plan, calls] =
            root.get("message").unwrap_or(root).pick(["content", "thinking", "tool_plan", "tool_calls"]);
        let filled =
            |value: Option<Value<'r>>| value.filter(|it| !it.is_null() && !matches!(it.raw(), "\"\"" | "[]"));
        out.object_start();
        member("role", "assistant", out);
        let blocks = content.filter(|content| content.kind() == Kind::Array);
        if let Some(content) = filled(blocks) {
            out.key("content");
            out.value(content);
        } else if filled(thinking).or(filled(content)).is_some() {
            // The pieces of a stream, as the blocks that they were.
            out.key("content");
            out.array_start();
            for (kind, text) in [("thinking", filled(thinking)), ("text", filled(content))] {
                let Some(text) = text else { continue };
                out.object_start();
                member("type", kind, out);
                out.key(kind);
                out.value(text);
                out.object_end();
            }
            out.array_end();
        }
        if let Some(plan) = filled(plan) {
            out.key("tool_plan");
            out.value(plan);
        }
        if let Some(calls) = filled(calls) {
            out.key("tool_calls");
            out.array_start();
            calls.items().for_each(|call| openai_chat::write_call(call, ids(), out));
            out.array_end();
        }
        out.object_end();
        Ok(())
    }

    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        out.object_start();
        member("role", "assistant", out);
        if !turn.text.is_empty() {
            out.key("content");
            out.array_start();
            out.object_start();
            member("type", "text", out);
            member("text", turn.text, out);
            out.object_end();
            out.array_end();
        }
        openai_chat::write_calls(turn, false, out);
        out.object_end();
        Ok(())
    }

    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"message":{"role":"assistant""#,
            list: r#","tool_calls":["#,
            tail: r#"]},"finish_reason":"#,
            end: "}",
            members: &EVENT,
            call_members: &EVENT,
            fields: &FIELDS,
            shown: Shape::shows_nothing,
            open_members: None,
            empty_call: "",
            call: |item| openai_chat::read_call(item).map(Some),
        };
        Some(&SHAPE)
    }

    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let (mut kind, mut number, mut reason, mut plan, mut call) = (None, None, None, None, None);
        let (mut pieces, mut whole) = ([None; 2], None);
        let mut root = reader.members(&["type", "index", "delta", "error", "message", "finish_reason"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "type" => kind = Some(reader.skip_value()?),
                "index" => number = Some(reader.skip_value()?),
                "error" => provider_error(reader)?,
                "message" if reader.peek()? == Kind::String => return Err(ReplyError::Provider),
                "message" => whole = Some(reader.skip_value()?),
                "finish_reason" => reason = Some(reader.skip_value()?),
                _ => {
                    let mut delta = reader.members(&["message", "finish_reason"])?;
                    while let Some(key) = delta.next(reader)? {
                        if key == "finish_reason" {
                            reason = Some(reader.skip_value()?);
                            continue;
                        }
                        let mut message = reader.members(&["content", "tool_plan", "tool_calls"])?;
                        while let Some(key) = message.next(reader)? {
                            match key {
                                "content" => pieces = reader.pick(["text", "thinking"])?,
                                "tool_plan" => plan = Some(reader.skip_value()?),
                                _ => call = Some(reader.skip_value()?),
                            }
                        }
                    }
                }
            }
        }
        let key = || index(number).ok_or(ReplyError::Shape { expected: "the index of a call" });
        if is(kind, "content-start") || is(kind, "content-delta") {
            for (field, piece) in (0..).zip(pieces) {
                text(field, piece, visit);
            }
        } else if is(kind, "tool-plan-delta") {
            text(PLAN, plan, visit);
        } else if is(kind, "tool-call-start") {
            let item = call.ok_or(ReplyError::Shape { expected: "delta.message.tool_calls" })?;
            visit(Change::Open { key: key()?, item });
        } else if is(kind, "tool-call-delta") {
            if let Some(piece) = call.and_then(|call| call.pointer("/function/arguments")) {
                visit(Change::Append { key: key()?, field: ARGUMENTS, piece });
            }
        } else if is(kind, "tool-call-end") {
            visit(Change::Close { key: key()? });
        } else if is(kind, "message-end") || kind.is_none() && whole.is_some() {
            // A whole response where a stream was asked for.
            if let Some(message) = whole {
                read_whole(message, visit);
            }
            if let Some(reason) = reason {
                visit(Change::Finish { reason });
            }
            visit(Change::End);
        }
        Ok(())
    }

    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        OpenAiChat.results_start(bare, out);
    }

    /// One message of the role `tool`: an object of JSON is a document, all else is text.
    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        let is_object = |part: &Part<'_>| matches!(part, Part::Json(text) if text.starts_with('{'));
        if !result.parts().any(|part| is_object(&part)) {
            return openai_chat::write_result(call, None, result, budget, out);
        }
        out.object_start();
        member("role", "tool", out);
        member("tool_call_id", call.id, out);
        out.key("content");
        out.array_start();
        for part in result.parts() {
            out.object_start();
            match part {
                Part::Json(text) if is_object(&part) && budget.take_whole(text) => {
                    member("type", "document", out);
                    out.key("document");
                    out.object_start();
                    out.key("data");
                    out.value(Value::from_checked(text));
                    out.object_end();
                }
                other => {
                    member("type", "text", out);
                    out.key("text");
                    write_part(&other, budget, out);
                }
            }
            out.object_end();
        }
        out.array_end();
        out.object_end();
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        OpenAiChat.results_end(bare, out);
    }
}
