//! A registered tool: what is kept of it, and what can be asked of it.

use super::RegistryOptions;
use super::piece::{PIECES, Texts};
use crate::schema::Schema;
use crate::time::Duration;
use crate::tool::Annotations;

/// A registered tool.
#[derive(Debug)]
pub struct Tool<'a, H> {
    /// What is known of it.
    pub info: ToolInfo<'a>,
    /// What runs it.
    pub handler: &'a H,
}

/// What is known of a registered tool, its handler apart.
#[derive(Clone, Copy, Debug)]
pub struct ToolInfo<'a> {
    pub(super) piece: &'a [u8],
    pub(super) place: &'a Place,
    pub(super) options: &'a RegistryOptions<'a>,
}

impl<'a> ToolInfo<'a> {
    /// The registered name.
    pub fn name(self) -> &'a str {
        self.text(0, |fixed| fixed.name)
    }

    /// A name for people; empty if there is none.
    pub fn title(self) -> &'a str {
        self.text(1, |fixed| fixed.title)
    }

    /// What the tool does.
    pub fn description(self) -> &'a str {
        self.text(2, |fixed| fixed.description)
    }

    /// Its group; empty if there is none.
    pub fn category(self) -> &'a str {
        self.text(3, |fixed| fixed.category)
    }

    /// The compiled schema of its arguments, with the text that is told to the model.
    pub fn parameters(self) -> Schema<'a> {
        let fixed = self.place.fixed.and_then(|fixed| fixed.schema);
        let text = fixed.unwrap_or_else(|| self.pooled(4));
        Schema::with_resources(text, self.options.resources, self.bytes(6))
    }

    /// The text of its output schema.
    pub fn output_schema(self) -> Option<&'a str> {
        self.place.has_output.then(|| self.text(5, |fixed| fixed.output))
    }

    /// Its hints.
    pub fn annotations(self) -> Annotations {
        self.place.annotations
    }

    /// Whether the provider is asked to hold the model to the schema.
    pub fn strict(self) -> bool {
        self.place.strict
    }

    /// Whether arguments that nearly fit are converted.
    pub fn coerce(self) -> bool {
        self.place.coerce
    }

    /// Whether of arguments with the same name the last one counts.
    pub fn last_wins(self) -> bool {
        self.place.last_wins
    }

    /// The timeout that applies: its own, else the registry's.
    pub fn timeout(self) -> Option<Duration> {
        self.place.timeout.or(self.options.timeout)
    }

    /// Whether its strings stay where they are.
    pub fn is_static(self) -> bool {
        self.place.fixed.is_some()
    }

    /// Bytes that it takes of the pool: its compiled schema and the strings that were copied or written.
    pub fn pool_size(self) -> usize {
        self.piece.len()
    }

    /// Bytes of its compiled schema, a part of these. They are what
    /// [`program_size`](crate::schema::program_size) tells, but for schemas with references, for which that
    /// tells the most that it can be.
    pub fn schema_size(self) -> usize {
        self.bytes(6).len()
    }

    fn text(self, which: usize, fixed: impl Fn(&Texts<'static>) -> &'static str) -> &'a str {
        match &self.place.fixed {
            Some(texts) => fixed(texts),
            None => self.pooled(which),
        }
    }

    fn pooled(self, which: usize) -> &'a str {
        core::str::from_utf8(self.bytes(which)).unwrap_or_default()
    }

    fn bytes(self, which: usize) -> &'a [u8] {
        let end = |which: usize| self.place.ends.get(which).map_or(0, |end| *end as usize);
        let start = which.checked_sub(1).map_or(0, end);
        self.piece.get(start..end(which)).unwrap_or_default()
    }
}

/// One tool: where its piece of the pool is, and what runs it.
#[derive(Debug)]
pub struct Slot<H> {
    pub(super) hash: u32,
    /// Which tool it is: the registry's revision when it was added.
    pub(super) serial: u32,
    pub(super) start: usize,
    pub(super) place: Place,
    pub(super) handler: H,
}

/// What is kept of a tool beside its piece of the pool.
#[derive(Debug)]
pub(super) struct Place {
    /// Ends of name, title, description, category, parameters' text, output schema's text and program
    /// in the piece. A string that is fixed takes nothing there.
    pub(super) ends: [u32; PIECES],
    pub(super) fixed: Option<Texts<'static>>,
    pub(super) has_output: bool,
    pub(super) annotations: Annotations,
    pub(super) strict: bool,
    pub(super) coerce: bool,
    pub(super) last_wins: bool,
    pub(super) timeout: Option<Duration>,
}

impl<H> Slot<H> {
    pub(super) fn size(&self) -> usize {
        self.place.ends.last().map_or(0, |end| *end as usize)
    }
}
