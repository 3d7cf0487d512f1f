//! Ollama's own endpoint, `/api/chat`. Source: the models of its Python SDK.
//!
//! There is no tool choice and no flag for failure; a result is matched by the tool's name and its order, and
//! by the call's id where the server sent one.

use super::change::{CallParts, Change, Field, Member, Shape, Show};
use super::results::{Answered, Budget, write_text_of};
use super::tools::{Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    ChoiceWords, Facts, Finish, Item, NameRule, ReplayError, ReplyError, Wire, base64, is, list, member,
    name_and_description, provider_error,
};
use crate::json::{self, Kind, Options, Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct Ollama;

/// What of a message grows in a stream, and what of a call becomes an object if it is text.
const FIELDS: [Field; 3] = [
    Field { path: "content", show: Show::Text, empty: "" },
    Field { path: "thinking", show: Show::Reasoning, empty: "" },
    Field { path: "/function/arguments", show: Show::Arguments, empty: "" },
];

/// The members of a message that are read of a line of a stream.
const MESSAGE: [Member; 3] =
    [Member::whole("content"), Member::whole("thinking"), Member::whole("tool_calls")];

/// The members of a line that are read.
const LINE: [Member; 4] = [
    Member { key: "message", inner: &MESSAGE },
    Member::whole("done"),
    Member::whole("done_reason"),
    Member::whole("error"),
];

impl Wire for Ollama {
    fn facts(&self) -> Facts {
        let choice = ChoiceWords { none_is_no_tool: true, ..ChoiceWords::NONE };
        Facts { choice, needs_ids: false, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 128, dots: true, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        None
    }

    fn tools_start(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        member("type", "function", out);
        out.key("function");
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("parameters");
        tool.write_schema(&subset::OLLAMA, out, notes);
        out.object_end();
        out.object_end();
    }

    fn tools_end(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.array_end();
    }

    /// Reads a whole response or one assistant message.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut in_message, mut found, mut reason) = (false, false, None);
        let mut root = reader.members(&["error", "message", "content", "tool_calls", "done_reason"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                "done_reason" => reason = Some(reader.skip_value()?),
                "message" => {
                    in_message = true;
                    let mut message = reader.members(&["content", "tool_calls"])?;
                    while let Some(key) = message.next(reader)? {
                        found = true;
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
        Ok(if is(reason, "length") { Finish::Truncated } else { Finish::Complete })
    }

    /// The message as it came, its calls with objects for arguments and without their numbers in a stream.
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let [content, thinking, calls] =
            root.get("message").unwrap_or(root).pick(["content", "thinking", "tool_calls"]);
        out.object_start();
        member("role", "assistant", out);
        out.key("content");
        match content.filter(|content| content.as_str().is_some()) {
            Some(content) => out.value(content),
            None => out.string(""),
        }
        if let Some(thinking) = thinking.filter(|thinking| thinking.as_str().is_some_and(|it| it != "")) {
            out.key("thinking");
            out.value(thinking);
        }
        if calls.is_some_and(|calls| calls.item(0).is_some()) {
            out.key("tool_calls");
            out.array_start();
            for call in calls.into_iter().flat_map(Value::items) {
                write_call(call, ids(), out);
            }
            out.array_end();
        }
        out.object_end();
        Ok(())
    }

    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        out.object_start();
        member("role", "assistant", out);
        member("content", turn.text, out);
        if turn.count > 0 {
            out.key("tool_calls");
            out.array_start();
            turn.each(|call| {
                out.object_start();
                if call.has_id {
                    member("id", call.id, out);
                }
                out.key("function");
                out.object_start();
                member("name", call.name, out);
                out.key("arguments");
                call.write_object(out);
                out.object_end();
                out.object_end();
            });
            out.array_end();
        }
        out.object_end();
        Ok(())
    }

    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"message":{"role":"assistant""#,
            list: r#","tool_calls":["#,
            tail: r#"]},"done_reason":"#,
            end: "}",
            members: &LINE,
            call_members: &LINE,
            fields: &FIELDS,
            shown: Shape::shows_nothing,
            open_members: None,
            empty_call: r#"{"function":{"name":"","arguments":{}}}"#,
            call: |item| read_call(item).map(Some),
        };
        Some(&SHAPE)
    }

    /// Reads a line. Each call comes whole; a later one with the same `function.index` is another call all the
    /// same, since some versions give every call the number 0.
    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let (mut done, mut reason) = (None, None);
        let mut root = reader.members(&["error", "message", "done", "done_reason"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                "done" => done = Some(reader.skip_value()?),
                "done_reason" => reason = Some(reader.skip_value()?),
                _ => {
                    let mut message = reader.members(&["content", "thinking", "tool_calls"])?;
                    while let Some(key) = message.next(reader)? {
                        read_piece(key, reader, visit)?;
                    }
                }
            }
        }
        if done.and_then(Value::as_bool) == Some(true) {
            if let Some(reason) = reason {
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

    /// One message of the role `tool`, with images beside its text.
    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.object_start();
        member("role", "tool", out);
        member("tool_name", call.name, out);
        if call.has_id {
            member("tool_call_id", call.id, out);
        }
        let mut images = [const { None }; crate::result::MAX_PARTS];
        let mut places = images.iter_mut();
        out.key("content");
        out.string_start();
        let mut first = true;
        for part in result.parts() {
            if let Part::Image { media_type, data } = part
                && budget.take_media(media_type, data)
            {
                if let Some(place) = places.next() {
                    *place = Some(data);
                }
                continue;
            }
            out.string_part(if first { "" } else { "\n" });
            first = false;
            write_text_of(&part, budget, out);
        }
        out.string_end();
        if images.iter().any(Option::is_some) {
            out.key("images");
            out.array_start();
            for data in images.into_iter().flatten() {
                base64(data, out);
            }
            out.array_end();
        }
        out.object_end();
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_end();
        }
    }
}

fn read_call<'v>(reader: &mut Reader<'v>) -> Result<CallParts<'v>, ReplyError> {
    // An object; servers that imitate others send its text.
    let mut parts = CallParts { encoded: true, ..CallParts::default() };
    let mut call = reader.members(&["id", "function"])?;
    while let Some(key) = call.next(reader)? {
        match key {
            "id" => parts.id = Some(reader.skip_value()?),
            _ => [parts.name, parts.arguments] = reader.pick(["name", "arguments"])?,
        }
    }
    Ok(parts)
}

/// Reads a member of a message.
fn read_member<'r>(
    key: &str,
    reader: &mut Reader<'r>,
    visit: &mut dyn FnMut(Item<'r>),
) -> Result<(), ReplyError> {
    if key == "content" {
        visit(Item::Beside(Some(reader.skip_value()?)));
        return Ok(());
    }
    let mut calls = list(reader, "a list of tool_calls")?;
    while calls.next(reader)? {
        visit(Item::Call(read_call(reader)?));
    }
    Ok(())
}

/// Reads what is new of a member of a message.
fn read_piece<'e>(
    key: &str,
    reader: &mut Reader<'e>,
    visit: &mut dyn FnMut(Change<'e>),
) -> Result<(), ReplyError> {
    if key != "tool_calls" {
        let piece = reader.skip_value()?;
        if piece.kind() == Kind::String {
            visit(Change::Member { field: if key == "content" { 0 } else { 1 }, piece });
        }
        return Ok(());
    }
    let mut calls = list(reader, "a list of tool_calls")?;
    while calls.next(reader)? {
        visit(Change::Open { key: 0, item: reader.skip_value()? });
        visit(Change::Close { key: 0 });
    }
    Ok(())
}

/// Writes a call as it goes back, with an object for arguments.
fn write_call(call: Value<'_>, minted: Option<&str>, out: &mut Writer<'_, '_>) {
    out.object_start();
    if let Some(id) = minted {
        member("id", id, out);
    }
    for (key, value) in call.entries() {
        if key == "id" && minted.is_some() {
            continue;
        }
        out.key_str(key);
        if key != "function" {
            out.value(value);
            continue;
        }
        out.object_start();
        for (key, value) in value.entries().filter(|(key, _)| *key != "index") {
            out.key_str(key);
            if key == "arguments" {
                write_object(value, out);
            } else {
                out.value(value);
            }
        }
        out.object_end();
    }
    out.object_end();
}

/// Writes an object, or the one that a text spells. Other text is quoted by the call's result, and an empty
/// object stands for it.
fn write_object(value: Value<'_>, out: &mut Writer<'_, '_>) {
    let Some(text) = value.as_str() else {
        return out.value(if value.kind() == Kind::Object { value } else { Value::empty_object() });
    };
    let before = out.mark();
    out.raw("");
    let start = out.sink().len();
    text.decode(out.sink());
    // What does not fit cannot be read, and is not used either; the room that is named is that of the longer.
    let short = out.sink().len() - start < "{}".len();
    let is_object = !short
        && out.sink().text_from(start).is_none_or(|text| {
            json::parse(text.as_bytes(), &Options::default()).is_ok_and(|value| value.kind() == Kind::Object)
        });
    if !is_object {
        out.rewind(before);
        out.value(Value::empty_object());
    }
}
