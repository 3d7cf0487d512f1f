//! Ollama's own endpoint, `/api/chat`. Source: the models of its Python SDK.
//!
//! There is no tool choice and no flag for failure; a result is matched by the tool's name and its order, and
//! by the call's id where the server sent one.

use super::results::{Answered, Budget, write_text_of};
use super::tools::{Note, WireRequest, WireTool};
use super::{
    ChoiceWords, Facts, Finish, Item, NameRule, ReplyError, Wire, base64, is, member, name_and_description,
    provider_error,
};
use crate::json::{Kind, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{StrictSubset, subset};

pub(super) struct Ollama;

impl Wire for Ollama {
    fn facts(&self) -> Facts {
        let choice = ChoiceWords { none_is_no_tool: true, ..ChoiceWords::NONE };
        Facts { choice, needs_ids: false, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 128, dots: true, letter_first: false }
    }

    fn strict(&self) -> Option<&'static StrictSubset> {
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
        tool.write_schema(&subset::PLAIN, out, notes);
        out.object_end();
        out.object_end();
    }

    fn tools_end(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.array_end();
    }

    /// Reads a whole response or one assistant message.
    fn reply<'r>(&self, root: Value<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<Finish, ReplyError> {
        let [error, message, content, calls, reason] =
            root.pick(["error", "message", "content", "tool_calls", "done_reason"]);
        provider_error(error)?;
        let (content, calls) = match message {
            Some(message) => {
                let [content, calls] = message.pick(["content", "tool_calls"]);
                (content, calls)
            }
            None => (content, calls),
        };
        if content.is_none() && calls.is_none() {
            return Err(ReplyError::Shape { expected: "message.content or message.tool_calls" });
        }
        if calls.is_some_and(|calls| !matches!(calls.kind(), Kind::Array | Kind::Null)) {
            return Err(ReplyError::Shape { expected: "a list of tool_calls" });
        }
        visit(Item::Text(content));
        for call in calls.into_iter().flat_map(Value::items) {
            let [id, function] = call.pick(["id", "function"]);
            let [name, arguments] = function.map_or([None; 2], |body| body.pick(["name", "arguments"]));
            // An object; servers that imitate others send its text.
            visit(Item::Call { id, name, arguments, encoded: true, incomplete: false });
        }
        Ok(if is(reason, "length") { Finish::Truncated } else { Finish::Complete })
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
