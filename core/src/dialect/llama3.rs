//! Llama 3: `{"name":…,"parameters":{…}}` as plain text, several with semicolons between them, with or without
//! `<|python_tag|>` before. Source: the chat template of Llama 3.1.
//!
//! An object at the beginning of the text is a call if it has a name and parameters; any other is text. The
//! tools are a section of the system message or the first user message; each result is a message of the role
//! `ipython`, whether `bare` or not.

use super::hermes::{FACTS, NAMES, write_tool};
use super::results::{Answered, Budget, write_parts_of};
use super::text_form::{Body, TextForm};
use super::tools::{Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{Facts, NameRule, ReplayError, Wire};
use crate::json::Writer;
use crate::result::ToolResult;
use crate::schema::Subset;

pub(super) struct Llama3;

const FORM: TextForm = TextForm {
    open: "<|python_tag|>",
    body: Body::Bare,
    ends: &["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"],
    think: None,
    turn: ["<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"],
    guard: &["<|"],
};

impl Wire for Llama3 {
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
            "You have access to the following functions. To call a function, please respond with JSON for a \
             function call.Respond in the format {\"name\": function name, \"parameters\": dictionary of \
             argument name and its value}.Do not use variables.\n\n",
        );
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        write_tool(tool, notes, out);
        out.sink().put("\n\n");
    }

    fn tools_end(&self, _: &WireRequest<'_>, _: &mut Writer<'_, '_>) {}

    /// After a text, calls need the mark.
    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        turn.put_text(out);
        let mut before = if turn.text.is_empty() { "" } else { FORM.open };
        turn.each(|call| {
            out.sink().put(before);
            turn.put_call(call, "parameters", None, out);
            before = "; ";
        });
        Ok(())
    }

    fn results_start(&self, _: bool, _: &mut Writer<'_, '_>) {}

    fn result(
        &self,
        _: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.sink().put("<|start_header_id|>ipython<|end_header_id|>\n\n");
        write_parts_of(result, budget, out);
        out.sink().put("<|eot_id|>");
    }

    fn results_end(&self, _: bool, _: &mut Writer<'_, '_>) {}
}
