//! Anthropic Messages. Source: the request and response models of the provider's SDK.

use super::results::{Budget, write_part};
use super::tools::{Choice, Note, WireChoice, WireTool};
use super::{Finish, Item, NameRule, ReplyError, Wire, name_and_description, provider_error};
use crate::json::{Kind, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::StrictSubset;

pub(super) struct Anthropic;

/// Keywords of JSON Schema that strict mode does not take (what the provider's SDK moves into the
/// description before it sends a schema).
const STRICT_REFUSES: [&str; 24] = [
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "prefixItems",
    "contains",
    "uniqueItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// The image types that a tool result may hold.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl Wire for Anthropic {
    fn names(&self) -> NameRule {
        NameRule { max: 128, dots: false }
    }

    fn strict(&self) -> Option<&'static StrictSubset> {
        Some(&StrictSubset { all_required: false, refused: &STRICT_REFUSES })
    }

    fn tools_start(&self, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("input_schema");
        tool.write_schema(out, notes);
        if tool.info.strict() {
            out.key("strict");
            out.bool(true);
        }
        out.object_end();
    }

    /// A word about parallel calls stands inside the choice, which it makes `auto` if there is none.
    fn tools_end(&self, choice: &WireChoice<'_>, out: &mut Writer<'_, '_>) {
        out.array_end();
        let Some(chosen) = choice.choice.or(choice.parallel.map(|_| Choice::Auto)) else { return };
        out.key("tool_choice");
        out.object_start();
        out.key("type");
        match chosen {
            Choice::Auto => out.string("auto"),
            Choice::None => out.string("none"),
            Choice::Required => out.string("any"),
            Choice::Tool(name) => {
                out.string("tool");
                out.key("name");
                out.string(name);
            }
        }
        if let Some(parallel) = choice.parallel
            && chosen != Choice::None
        {
            out.key("disable_parallel_tool_use");
            out.bool(!parallel);
        }
        out.object_end();
    }

    /// Reads a whole message. Blocks that the provider runs itself (`server_tool_use`, `mcp_tool_use` and
    /// their results) and thinking are passed over.
    fn reply<'r>(&self, root: Value<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<Finish, ReplyError> {
        let [error, content, reason] = root.pick(["error", "content", "stop_reason"]);
        provider_error(error)?;
        let content = content.filter(|content| matches!(content.kind(), Kind::String | Kind::Array));
        let content = content.ok_or(ReplyError::Shape { expected: "content" })?;
        visit(Item::Text(Some(content)));
        for block in content.items() {
            let [kind, text, id, name, input] = block.pick(["type", "text", "id", "name", "input"]);
            let kind = kind.and_then(Value::as_str);
            let is = |name: &str| kind.is_some_and(|kind| kind == name);
            if is("text") {
                visit(Item::Text(text));
            } else if is("tool_use") {
                visit(Item::Call { id, name, arguments: input, encoded: false });
            }
        }
        Ok(match reason.and_then(Value::as_str) {
            Some(reason) if reason == "max_tokens" || reason == "model_context_window_exceeded" => {
                Finish::Truncated
            }
            Some(reason) if reason == "refusal" => Finish::Refused,
            _ => Finish::Complete,
        })
    }

    /// All results of a turn stand in one user message.
    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
        out.object_start();
        out.key("role");
        out.string("user");
        out.key("content");
        out.array_start();
    }

    fn result(&self, id: &str, result: &ToolResult<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
        out.object_start();
        out.key("type");
        out.string("tool_result");
        out.key("tool_use_id");
        out.string(id);
        let mut parts = result.parts();
        match (parts.next(), parts.next()) {
            (None, _) => {}
            (Some(part), None) if !matches!(part, Part::Image { .. }) => {
                out.key("content");
                write_part(&part, budget, out);
            }
            _ => {
                out.key("content");
                out.array_start();
                for part in result.parts() {
                    write_block(&part, budget, out);
                }
                out.array_end();
            }
        }
        if result.failed() {
            out.key("is_error");
            out.bool(true);
        }
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
    out.key("type");
    match part {
        Part::Image { media_type, data }
            if IMAGES.contains(media_type) && budget.take_media(media_type, data) =>
        {
            out.string("image");
            out.key("source");
            out.object_start();
            out.key("type");
            out.string("base64");
            out.key("media_type");
            out.string(media_type);
            out.key("data");
            out.string_start();
            out.string_base64(data);
            out.string_end();
            out.object_end();
        }
        other => {
            out.string("text");
            out.key("text");
            write_part(other, budget, out);
        }
    }
    out.object_end();
}
