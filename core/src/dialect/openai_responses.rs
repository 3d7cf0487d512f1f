//! OpenAI Responses. Source: the request and response models of the provider's SDK.
//!
//! A reply is a list of items. A call has two ids: `call_id`, by which its result answers it, and `id`, that
//! of the item, which is only replayed. They are never mixed.

use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::{
    Facts, Finish, Item, NameRule, ReplyError, Wire, is, member, name_and_description, openai_chat,
    provider_error,
};
use crate::json::{Kind, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{StrictSubset, subset};

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

impl Wire for OpenAiResponses {
    fn facts(&self) -> Facts {
        Facts { max_tools: openai_chat::MAX_TOOLS, ..Facts::PROVIDER }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 64, dots: false, letter_first: false }
    }

    fn strict(&self) -> Option<&'static StrictSubset> {
        openai_chat::OpenAiChat.strict()
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
    fn reply<'r>(&self, root: Value<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<Finish, ReplyError> {
        let [error, output, status, details] = root.pick(["error", "output", "status", "incomplete_details"]);
        provider_error(error)?;
        let items = if root.kind() == Kind::Array { Some(root) } else { output };
        let Some(items) = items.filter(|items| items.kind() == Kind::Array) else {
            return Err(ReplyError::Shape { expected: "output" });
        };
        let mut refused = false;
        for item in items.items() {
            let [kind, id, name, arguments, content] =
                item.pick(["type", "call_id", "name", "arguments", "content"]);
            let incomplete = is(item.get("status"), "incomplete");
            if is(kind, "function_call") {
                visit(Item::Call { id, name, arguments, encoded: true, incomplete });
            } else if is(kind, "custom_tool_call") {
                visit(Item::Call {
                    id,
                    name,
                    arguments: item.get("input"),
                    encoded: true,
                    incomplete: false,
                });
            } else if is(kind, "message") {
                for part in content.into_iter().flat_map(Value::items) {
                    let [kind, text] = part.pick(["type", "text"]);
                    refused |= is(kind, "refusal");
                    visit(Item::Text(text));
                }
            }
        }
        let reason = details.and_then(|details| details.get("reason"));
        Ok(if refused || is(reason, "content_filter") {
            Finish::Refused
        } else if is(status, "incomplete") {
            Finish::Truncated
        } else {
            Finish::Complete
        })
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
        member("type", "function_call_output", out);
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
