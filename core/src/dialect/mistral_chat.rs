//! Mistral's chat endpoint: OpenAI Chat Completions with other words. Source: the models of its SDK.
//!
//! Ids are exactly nine letters and digits; others are mapped, see [`super::ids`]. Arguments come as an object
//! or as text, `null` stands as text for an id that is missing, the choice that demands a call is `any`, and a
//! result names its tool.
//!
//! It is a dialect of its own and not an option of OpenAI's because tools, reply, turn and results have to
//! agree on it: the dialect is what goes through all of them already, an option could be forgotten in one.

use super::change::{CallParts, Change, Shape};
use super::openai_chat::{self, OpenAiChat};
use super::results::{Answered, Budget};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{ChoiceWords, Facts, Finish, IdRule, Item, NameRule, ReplayError, ReplyError, Wire, is, member};
use crate::json::{Reader, Value, Writer};
use crate::result::ToolResult;
use crate::schema::Subset;

pub(super) struct MistralChat;

impl Wire for MistralChat {
    fn facts(&self) -> Facts {
        Facts {
            choice: ChoiceWords { allowed: false, ..ChoiceWords::ALL },
            ids: IdRule { len: (9, 9), marks: Some("") },
            ..Facts::PROVIDER
        }
    }

    fn names(&self) -> NameRule {
        OpenAiChat.names()
    }

    fn strict(&self) -> Option<&'static Subset> {
        OpenAiChat.strict()
    }

    fn tools_start(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        OpenAiChat.tools_start(request, out);
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        OpenAiChat.tool(tool, notes, out);
    }

    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        if !request.any {
            return;
        }
        let required = request.choice == Some(Choice::Required);
        let choice = request.choice.filter(|_| !required);
        OpenAiChat.tools_end(&WireRequest { choice, ..*request }, out);
        if required {
            member("tool_choice", "any", out);
        }
    }

    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let items = &mut |item| match item {
            Item::Call(call) => visit(Item::Call(CallParts { id: given(call.id), ..call })),
            other => visit(other),
        };
        OpenAiChat.reply(reader, items)
    }

    /// The thinking of a stream goes back as the part of the content that it was.
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        openai_chat::write_replay(root, write_content, ids, out);
        Ok(())
    }

    /// Without custom tools.
    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        openai_chat::write_turn(turn, false, out);
        Ok(())
    }

    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            call: |item| {
                let call = openai_chat::read_call(item)?;
                Ok(Some(CallParts { id: given(call.id), ..call }))
            },
            ..openai_chat::SHAPE
        };
        Some(&SHAPE)
    }

    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        OpenAiChat.event(reader, visit)
    }

    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        OpenAiChat.results_start(bare, out);
    }

    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        openai_chat::write_result(call, Some(call.name), result, budget, out);
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        OpenAiChat.results_end(bare, out);
    }
}

/// Writes the content of a message: what was thought in a stream stands beside it there.
fn write_content(message: Option<Value<'_>>, out: &mut Writer<'_, '_>) {
    let [content, thinking, signature] =
        message.map(|message| message.pick(["content", "thinking", "signature"])).unwrap_or_default();
    let Some(thinking) = thinking.filter(|thinking| thinking.as_str().is_some()) else {
        return match content {
            Some(content) => out.value(content),
            None => out.null(),
        };
    };
    let write_text = |text: Value<'_>, out: &mut Writer<'_, '_>| {
        out.object_start();
        member("type", "text", out);
        out.key("text");
        out.value(text);
        out.object_end();
    };
    out.array_start();
    out.object_start();
    member("type", "thinking", out);
    out.key("thinking");
    out.array_start();
    write_text(thinking, out);
    out.array_end();
    if let Some(signature) = signature {
        out.key("signature");
        out.value(signature);
    }
    out.object_end();
    if let Some(content) = content.filter(|content| content.as_str().is_some_and(|text| text != "")) {
        write_text(content, out);
    }
    out.array_end();
}

/// An id that is one.
fn given(id: Option<Value<'_>>) -> Option<Value<'_>> {
    id.filter(|_| !is(id, "null"))
}
