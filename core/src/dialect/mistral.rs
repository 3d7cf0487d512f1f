//! Mistral's own text: `[TOOL_CALLS][{"name":…,"arguments":{…},"id":…}]`, and the newer
//! `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`, of which the id may be missing. Source: the chat templates of Mistral 7B
//! v0.3, Mistral Nemo, Mistral Small 3, and Magistral, whose thinking stands in `[THINK]…[/THINK]`.
//!
//! The tools stand before the last `[INST]`. A result names its call where the model gave an id, and is text
//! alone where the model gave none, as each template has it; `bare` changes nothing.

use super::hermes::{FACTS, NAMES, write_tool};
use super::results::{Answered, Budget, write_parts_of};
use super::text_form::{self, Body, TextForm};
use super::tools::{Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{Facts, NameRule, ReplayError, Wire};
use crate::json::Writer;
use crate::result::ToolResult;
use crate::schema::Subset;

pub(super) struct Mistral;

const FORM: TextForm = TextForm {
    open: "[TOOL_CALLS]",
    body: Body::Listed,
    ends: &["</s>"],
    think: Some(["[THINK]", "[/THINK]"]),
    turn: ["", "</s>"],
    guard: &[
        "[TOOL_",
        "[/TOOL_",
        "[AVAILABLE_TOOLS",
        "[/AVAILABLE_TOOLS",
        "[INST]",
        "[/INST]",
        "[SYSTEM_PROMPT",
        "[/SYSTEM_PROMPT",
        text_form::ARGS,
        text_form::ID,
        "[IMG",
        "[THINK]",
        "[/THINK]",
        "<s>",
        "</s>",
    ],
};

impl Wire for Mistral {
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
        out.sink().put("[AVAILABLE_TOOLS][");
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        // The comma that is due between the items.
        out.raw("");
        write_tool(tool, notes, out);
    }

    fn tools_end(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.sink().put("][/AVAILABLE_TOOLS]");
    }

    /// The list, which has a place for ids in every template that knows them.
    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        turn.put_text(out);
        let mut before = "[TOOL_CALLS][";
        turn.each(|call| {
            out.sink().put(before);
            turn.put_call(call, "arguments", Some("id"), out);
            before = ",";
        });
        if turn.count > 0 {
            out.sink().put("]");
        }
        Ok(())
    }

    fn results_start(&self, _: bool, _: &mut Writer<'_, '_>) {}

    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.sink().put("[TOOL_RESULTS]");
        if call.has_id {
            let mut out = Writer::new(out.sink());
            out.object_start();
            out.key("content");
            out.string_start();
            budget.inside_json();
            write_parts_of(result, budget, &mut out);
            out.string_end();
            out.key("call_id");
            out.string_start();
            budget.put(call.id, &mut out);
            out.string_end();
            out.object_end();
        } else {
            write_parts_of(result, budget, out);
        }
        out.sink().put("[/TOOL_RESULTS]");
    }

    fn results_end(&self, _: bool, _: &mut Writer<'_, '_>) {}
}
