//! Amazon Bedrock Converse. Source: the service model of botocore, `bedrock-runtime`, operation `Converse`.
//!
//! Without any tool there is no `toolConfig`, since its list must not be empty. A history that holds
//! `toolUse` or `toolResult` needs one all the same: render the tools of that history with it.

use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::{
    ChoiceWords, Facts, Finish, Item, NameRule, ReplyError, Wire, base64, is, member, name_and_description,
};
use crate::json::{Kind, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{StrictSubset, subset};

pub(super) struct Bedrock;

/// Media types of images and what the provider calls their formats.
const IMAGES: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpeg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// What stands for a result in which there is nothing: the provider takes no empty text.
const EMPTY: &str = "(no output)";

impl Wire for Bedrock {
    fn facts(&self) -> Facts {
        let choice = ChoiceWords { none: false, allowed: false, parallel: false, ..ChoiceWords::ALL };
        Facts { choice, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static StrictSubset> {
        None
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
    fn reply<'r>(&self, root: Value<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<Finish, ReplyError> {
        let [output, content, reason, kind, error] =
            root.pick(["output", "content", "stopReason", "__type", "message"]);
        let message = output.and_then(|output| output.get("message"));
        let content = message.map_or(content, |message| message.get("content"));
        let Some(content) = content.filter(|content| content.kind() == Kind::Array) else {
            let failed = kind.is_some() || error.is_some_and(|error| error.as_str().is_some());
            return Err(if failed {
                ReplyError::Provider
            } else {
                ReplyError::Shape { expected: "output.message.content" }
            });
        };
        for block in content.items() {
            let [text, call] = block.pick(["text", "toolUse"]);
            if let Some(call) = call {
                let [id, name, input, kind] = call.pick(["toolUseId", "name", "input", "type"]);
                if !is(kind, "server_tool_use") {
                    visit(Item::Call { id, name, arguments: input, encoded: false, incomplete: false });
                }
            } else if text.is_some() {
                visit(Item::Text(text));
            }
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
        Part::Text { text: "", total: 0 } => member("text", EMPTY, out),
        other => {
            out.key("text");
            write_part(other, budget, out);
        }
    }
    out.object_end();
}
