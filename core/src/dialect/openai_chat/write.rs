//! Messages as they go back: the model's turn, and results.

use super::super::member;
use super::super::results::{Answered, Budget, write_part};
use super::super::turn::Turn;
use crate::json::{Value, Writer};
use crate::result::ToolResult;

/// The members of a message that go back as they came, beside `content`. Thinking has no place in the
/// provider's own models; servers that put it out want it back.
const SENT_BACK: [&str; 5] = ["refusal", "name", "reasoning", "reasoning_content", "reasoning_details"];

/// Writes the message as it goes back, its content by `content`.
pub(crate) fn write_replay<'r>(
    root: Value<'r>,
    content: impl FnOnce(Option<Value<'r>>, &mut Writer<'_, '_>),
    ids: &mut dyn FnMut() -> Option<&'r str>,
    out: &mut Writer<'_, '_>,
) {
    let message = root.get("choices").map(|choices| choices.item(0).and_then(|one| one.get("message")));
    out.object_start();
    out.key("role");
    out.string("assistant");
    let message = message.unwrap_or(Some(root));
    out.key("content");
    content(message, out);
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
}

/// Writes a message of the model. A call of a custom tool is one of a function where there are no such tools.
pub(crate) fn write_turn(turn: &Turn<'_>, custom_tools: bool, out: &mut Writer<'_, '_>) {
    out.object_start();
    member("role", "assistant", out);
    out.key("content");
    if turn.text.is_empty() {
        out.null()
    } else {
        out.string(turn.text)
    }
    write_calls(turn, custom_tools, out);
    out.object_end();
}

/// Writes the member `tool_calls`, if there are calls.
pub(crate) fn write_calls(turn: &Turn<'_>, custom_tools: bool, out: &mut Writer<'_, '_>) {
    if turn.count == 0 {
        return;
    }
    out.key("tool_calls");
    out.array_start();
    turn.each(|call| {
        let kind = if call.custom && custom_tools { "custom" } else { "function" };
        out.object_start();
        member("id", call.id, out);
        member("type", kind, out);
        out.key(kind);
        out.object_start();
        member("name", call.name, out);
        if kind == "custom" {
            member("input", call.arguments, out);
        } else {
            out.key("arguments");
            call.write_text(out);
        }
        out.object_end();
        out.object_end();
    });
    out.array_end();
}

/// Writes a call as it goes back: with an id, its arguments as text, and without its number in a stream.
pub(crate) fn write_call(call: Value<'_>, minted: Option<&str>, out: &mut Writer<'_, '_>) {
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

/// Writes one message of the role `tool`: text only, and a failure is told by its text.
pub(crate) fn write_result(
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
