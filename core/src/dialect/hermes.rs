//! Hermes and Qwen: `<tool_call>{"name":…,"arguments":{…}}</tool_call>` in plain text. Source: the chat templates
//! of Hermes 2 Pro, Qwen 2.5 and Qwen 3.
//!
//! Thinking stands in `<think>…</think>`: it is no text for the user, and a call in it is none. Where the prompt
//! ends in the opening tag, the host puts that before the reply.
//!
//! The tools are a section of the system message, the results a user message of sections
//! `<tool_response>`. With `bare` the tokens of the message are left out, and what is written goes right
//! after the role.

use super::results::{Answered, Budget, write_parts_of};
use super::text_form::{Body, TextForm};
use super::tools::{Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{ChoiceWords, Facts, NameRule, ReplayError, Wire, member, name_and_description};
use crate::json::Writer;
use crate::result::ToolResult;
use crate::schema::{Subset, subset};

pub(super) struct Hermes;

const FORM: TextForm = TextForm {
    open: "<tool_call>",
    body: Body::Closed("</tool_call>"),
    ends: &["<|im_end|>", "<|endoftext|>"],
    think: Some(["<think>", "</think>"]),
    turn: ["<|im_start|>assistant\n", "<|im_end|>\n"],
    guard: &["<|", "<tool", "</tool"],
};

/// What every local model's form is.
pub(super) const FACTS: Facts = Facts {
    choice: ChoiceWords { none_is_no_tool: true, ..ChoiceWords::NONE },
    needs_ids: false,
    ..Facts::PROVIDER
};

/// What is allowed in a name: it stands in JSON, and before a bracket.
pub(super) const NAMES: NameRule = NameRule { max: 128, dots: true, letter_first: false };

/// Writes one tool as an object, whatever stands before it.
pub(super) fn write_tool(tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
    let mut out = Writer::new(out.sink());
    out.object_start();
    member("type", "function", &mut out);
    out.key("function");
    out.object_start();
    name_and_description(tool.name, tool.info, &mut out);
    out.key("parameters");
    tool.write_schema(&subset::PLAIN, &mut out, notes);
    out.object_end();
    out.object_end();
}

impl Wire for Hermes {
    fn facts(&self) -> Facts {
        FACTS
    }

    fn text_form(&self) -> Option<&'static TextForm> {
        Some(&FORM)
    }

    fn names(&self) -> NameRule {
        NAMES
    }

    fn strict(&self) -> Option<&'static Subset> {
        None
    }

    fn tools_start(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.sink().put(
            "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n\
             You are provided with function signatures within <tools></tools> XML tags:\n<tools>",
        );
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.sink().put("\n");
        write_tool(tool, notes, out);
    }

    fn tools_end(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.sink().put(
            "\n</tools>\n\nFor each function call, return a json object with function name and arguments \
             within <tool_call></tool_call> XML tags:\n<tool_call>\n\
             {\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>",
        );
    }

    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        turn.put_text(out);
        let mut between = if turn.text.is_empty() { "" } else { "\n" };
        turn.each(|call| {
            out.sink().put(between);
            out.sink().put("<tool_call>\n");
            turn.put_call(call, "arguments", None, out);
            out.sink().put("\n</tool_call>");
            between = "\n";
        });
        Ok(())
    }

    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        out.sink().put(if bare { "" } else { "<|im_start|>user" });
    }

    fn result(
        &self,
        _: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.sink().put("\n<tool_response>\n");
        write_parts_of(result, budget, out);
        out.sink().put("\n</tool_response>");
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        out.sink().put(if bare { "" } else { "<|im_end|>\n" });
    }
}
