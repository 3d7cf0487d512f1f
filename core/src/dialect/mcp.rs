//! The shapes of the Model Context Protocol: what stands inside `tools/list`, `tools/call` and its
//! result. The protocol around them is the server's. Source: the specification's schema, 2025-11-25 and
//! 2026-07-28.

use super::change::CallParts;
use super::results::{Answered, Budget, write_part};
use super::tools::{Note, WireRequest, WireTool};
use super::{ChoiceWords, Facts, Finish, Item, NameRule, ReplyError, Wire, name_and_description};
use crate::json::{Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct Mcp;

impl Wire for Mcp {
    fn facts(&self) -> Facts {
        Facts {
            lists_nothing: true,
            choice: ChoiceWords::NONE,
            one_result: true,
            needs_ids: false,
            ..Facts::PROVIDER
        }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 128, dots: true, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        None
    }

    fn tools_start(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        if !tool.info.title().is_empty() {
            out.key("title");
            out.string(tool.info.title());
        }
        out.key("inputSchema");
        tool.write_schema(&subset::PLAIN, out, notes);
        if let Some(schema) = tool.info.output_schema() {
            out.key("outputSchema");
            out.value(Value::from_checked(schema));
        }
        let hints = tool.info.annotations();
        let hints = [
            ("readOnlyHint", hints.read_only),
            ("destructiveHint", hints.destructive),
            ("idempotentHint", hints.idempotent),
            ("openWorldHint", hints.open_world),
        ];
        if hints.iter().any(|(_, hint)| hint.is_some()) {
            out.key("annotations");
            out.object_start();
            for (name, hint) in hints {
                if let Some(hint) = hint {
                    out.key(name);
                    out.bool(hint);
                }
            }
            out.object_end();
        }
        out.object_end();
    }

    /// The client chooses; there is nothing to say.
    fn tools_end(&self, _: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.array_end();
    }

    /// Reads a `tools/call` request or its `params`.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut id, mut params, mut parts) = (None, false, [None; 2]);
        let mut root = reader.members(&["id", "params", "name", "arguments"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "id" => id = Some(reader.skip_value()?),
                "params" => {
                    params = true;
                    parts = reader.pick(["name", "arguments"])?;
                }
                // The parameters alone.
                _ if params => {}
                "name" => parts[0] = Some(reader.skip_value()?),
                _ => parts[1] = Some(reader.skip_value()?),
            }
        }
        let [name, arguments] = parts;
        if name.and_then(Value::as_str).is_none() {
            return Err(ReplyError::Shape { expected: "params.name" });
        }
        visit(Item::Call(CallParts { id, name, arguments, ..CallParts::default() }));
        Ok(Finish::Complete)
    }

    fn results_start(&self, _: bool, _: &mut Writer<'_, '_>) {}

    /// A `CallToolResult`. A JSON object is given as `structuredContent` too, unless it is too long.
    fn result(
        &self,
        _: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.object_start();
        out.key("content");
        out.array_start();
        let mut structured = None;
        for part in result.parts() {
            if let Part::Json(text) = part
                && text.starts_with('{')
                && budget.fits(&[text])
            {
                structured = structured.or(Some(text));
            }
            write_content(&part, budget, out);
        }
        out.array_end();
        if let Some(text) = structured
            && budget.take_bytes(text.len() + "\"structuredContent\":,".len())
        {
            out.key("structuredContent");
            out.value(Value::from_checked(text));
        }
        if result.failed() {
            out.key("isError");
            out.bool(true);
        }
        out.object_end();
    }

    fn results_end(&self, _: bool, _: &mut Writer<'_, '_>) {}
}

fn write_content(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    out.object_start();
    out.key("type");
    match part {
        Part::Image { media_type, data } | Part::Audio { media_type, data }
            if budget.take_media(media_type, data) =>
        {
            out.string(if matches!(part, Part::Image { .. }) { "image" } else { "audio" });
            out.key("data");
            out.string_start();
            out.string_base64(data);
            out.string_end();
            out.key("mimeType");
            out.string(media_type);
        }
        Part::Link { name, uri } => {
            out.string("resource_link");
            out.key("uri");
            out.string(uri);
            out.key("name");
            out.string(name);
        }
        other => {
            out.string("text");
            out.key("text");
            write_part(other, budget, out);
        }
    }
    out.object_end();
}
