//! OpenAI Chat Completions. Source: the request and response models of the provider's SDK.

use super::results::{Budget, write_part};
use super::tools::{Choice, Note, WireChoice, WireTool};
use super::{Finish, Item, NameRule, ReplyError, Wire, name_and_description, provider_error};
use crate::json::{Kind, Value, Writer};
use crate::result::ToolResult;
use crate::schema::StrictSubset;

pub(super) struct OpenAiChat;

/// What is read of a message.
const PARTS: [&str; 4] = ["content", "tool_calls", "refusal", "function_call"];

/// Keywords of JSON Schema that strict mode does not take (the provider's guide to structured outputs).
const STRICT_REFUSES: [&str; 16] = [
    "allOf",
    "oneOf",
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
    "contains",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

impl Wire for OpenAiChat {
    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false }
    }

    fn strict(&self) -> Option<&'static StrictSubset> {
        Some(&StrictSubset { all_required: true, refused: &STRICT_REFUSES })
    }

    fn tools_start(&self, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        out.key("type");
        out.string("function");
        out.key("function");
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        out.key("parameters");
        tool.write_schema(out, notes);
        if tool.info.strict() {
            out.key("strict");
            out.bool(true);
        }
        out.object_end();
        out.object_end();
    }

    fn tools_end(&self, choice: &WireChoice<'_>, out: &mut Writer<'_, '_>) {
        out.array_end();
        if let Some(choice) = choice.choice {
            out.key("tool_choice");
            match choice {
                Choice::Auto => out.string("auto"),
                Choice::None => out.string("none"),
                Choice::Required => out.string("required"),
                Choice::Tool(name) => {
                    out.object_start();
                    out.key("type");
                    out.string("function");
                    out.key("function");
                    out.object_start();
                    out.key("name");
                    out.string(name);
                    out.object_end();
                    out.object_end();
                }
            }
        }
        if let Some(parallel) = choice.parallel {
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
        if !is(calls, &[Kind::Array]) {
            return Err(ReplyError::Shape { expected: "a list of tool_calls" });
        }
        // Some servers send an empty one with every message.
        let old = function_call.and_then(|call| call.get("name")).and_then(Value::as_str);
        if old.is_some_and(|name| name != "") {
            return Err(ReplyError::Shape { expected: "tool_calls in place of function_call" });
        }
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
            // A custom tool's call carries plain text; it still needs a result.
            let [id, function, custom] = call.pick(["id", "function", "custom"]);
            let [name, arguments, input] =
                function.or(custom).map_or([None; 3], |body| body.pick(["name", "arguments", "input"]));
            visit(Item::Call { id, name, arguments: arguments.or(input), encoded: true });
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

    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
    }

    /// One message of the role `tool`: text only, and a failure is told by its text.
    fn result(&self, id: &str, result: &ToolResult<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
        out.object_start();
        out.key("role");
        out.string("tool");
        out.key("tool_call_id");
        out.string(id);
        out.key("content");
        if result.len() > 1 {
            out.array_start();
            for part in result.parts() {
                out.object_start();
                out.key("type");
                out.string("text");
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

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_end();
        }
    }
}
