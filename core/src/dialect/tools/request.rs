//! What a dialect is given to write: a tool, and what of a request stands around the tools.

use super::super::native::{NativeTool, WireNative};
use super::super::{Dialect, alias};
use super::{Choice, Note, NoteKind};
use crate::json::{Value, Writer};
use crate::registry::ToolInfo;
use crate::schema::{self, Counts, StrictProblem, Subset};
use core::cell::Cell;

/// A tool on its way out: its name on the wire and what is known of it.
pub(crate) struct WireTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) info: ToolInfo<'a>,
    /// What the provider's strict mode demands, for a tool that is strict.
    strict: Option<&'static Subset>,
    /// What came of the schema.
    written: Cell<Result<Counts, StrictProblem>>,
    /// It is the last of all tools, and the end of what is to be cached.
    pub(crate) ends_cache: bool,
}

impl<'a> WireTool<'a> {
    pub(super) fn new(
        name: &'a str,
        info: ToolInfo<'a>,
        strict: Option<&'static Subset>,
        ends_cache: bool,
    ) -> Self {
        WireTool { name, info, strict, written: Cell::new(Ok(Counts::default())), ends_cache }
    }

    /// What came of the schema: what is limited over all tools, or why it cannot be strict.
    pub(super) fn written(&self) -> Result<Counts, StrictProblem> {
        self.written.get()
    }

    /// Writes the parameters' schema so that the provider takes it: in the strict subset if the tool is strict
    /// and the dialect has one, else in `subset`.
    pub(crate) fn write_schema(
        &self,
        subset: &Subset,
        out: &mut Writer<'_, '_>,
        notes: &mut dyn FnMut(Note<'_>),
    ) {
        let subset = self.strict.unwrap_or(subset);
        self.written.set(self.lower(self.info.parameters().text(), subset, out, notes));
    }

    /// Writes the output schema, if the tool has one, as the member `key`.
    pub(crate) fn write_output(
        &self,
        key: &str,
        subset: &Subset,
        out: &mut Writer<'_, '_>,
        notes: &mut dyn FnMut(Note<'_>),
    ) {
        if let Some(schema) = self.info.output_schema() {
            out.key(key);
            // Only a strict subset refuses a schema, and these are none.
            self.lower(schema, subset, out, notes).ok();
        }
    }

    fn lower(
        &self,
        schema: &str,
        subset: &Subset,
        out: &mut Writer<'_, '_>,
        notes: &mut dyn FnMut(Note<'_>),
    ) -> Result<Counts, StrictProblem> {
        let (tool, resources) = (self.info.name(), self.info.parameters().resources());
        schema::lower_counted(schema, resources, subset, out, &mut |change| {
            notes(Note { tool, kind: NoteKind::Schema(change) });
        })
    }
}

/// What of a request stands around the tools.
pub(crate) struct WireRequest<'a> {
    pub(crate) choice: Option<Choice<'a>>,
    pub(crate) parallel: Option<bool>,
    pub(crate) cache: bool,
    /// Whether there is any tool beside those of the provider.
    pub(crate) any: bool,
    /// Whether all of them are strict.
    pub(crate) strict: bool,
    pub(crate) native: &'a [NativeTool<'a>],
    pub(crate) dialect: Dialect,
}

impl<'a> WireRequest<'a> {
    /// A tool's name on the wire.
    pub(crate) fn wire_name(&self, name: &str) -> alias::WireName {
        self.dialect.name_rule().wire_name(name)
    }

    /// The provider's tools that it has a form for.
    pub(crate) fn native(&self) -> impl Iterator<Item = WireNative<'a>> {
        let forms = self.dialect.wire().native();
        self.native.iter().filter_map(move |tool| {
            let form = forms.iter().find(|form| form.kind == tool.kind)?;
            let config = tool.config.map(Value::from_checked);
            Some(WireNative { form, config })
        })
    }
}
