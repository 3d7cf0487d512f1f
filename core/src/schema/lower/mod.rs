//! A schema as a provider takes it, and whether a provider can hold a model to it.
//!
//! [`lower`] writes a schema in a provider's [`Subset`] of JSON Schema. What the provider takes goes out as
//! it is. What it refuses becomes an equivalent, or moves into the description, or is left out, and each of
//! these is told as a [`Change`] with its place. What goes out accepts every value that the schema accepts: a
//! loss only loosens. (Where a type has to be said and is not, properties say that it is an object's, and items
//! that it is an array's.) Local checks always use the original text. A strict subset is for a provider that holds
//! the model to the schema: objects are closed, optional properties become required ones that may be null, and
//! what cannot be expressed is a [`StrictProblem`].
//!
//! Only schema positions are touched: what stands in `enum`, `const`, `default`, `examples` or an unknown
//! keyword is data.
//!
//! No recursion: schemas that are open stand on a stack of fixed size, and references put in place are
//! bounded in bytes. Text is copied in runs as it stands in the source. The rules are data, in
//! `subset`; `node` and `sources` find out what a schema is made of, `fate` what becomes of each keyword,
//! and `write`, `inner` and `parts` write it.

mod change;
mod copy;
mod fate;
mod inner;
mod node;
mod parts;
mod refs;
mod sources;
pub mod subset;
mod walk;
mod word;
mod write;

pub use change::{Change, ChangeKind, StrictProblem, StrictProblemKind};
pub use subset::Subset;
pub(in crate::schema) use walk::{Step, walk};

use super::dialect::names_draft_7;
use super::source::{Resource, Texts};
use crate::json::{Kind, Value, Writer};
use word::Word;
use write::Frame;

/// How many schemas may be open inside one another. As many as a schema that compiles has.
const MAX_OPEN: usize = 64;

type Result<T> = core::result::Result<T, StrictProblem>;

/// What a provider limits in a request, over all of its strict tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) tools: usize,
    pub(crate) properties: usize,
    pub(crate) optional: usize,
    pub(crate) unions: usize,
}

impl Counts {
    /// Adds those of one more tool, and gives what there are too many of.
    pub(crate) fn add(&mut self, more: Counts, subset: &Subset) -> Option<StrictProblemKind> {
        let limits = subset.limits;
        let each = [
            (&mut self.tools, 1, limits.tools, "strict tools in a request"),
            (&mut self.properties, more.properties, limits.all_properties, "properties in a request"),
            (&mut self.optional, more.optional, limits.optional, "optional properties in a request"),
            (&mut self.unions, more.unions, limits.unions, "properties of several types in a request"),
        ];
        let mut problem = None;
        for (count, more, most, what) in each {
            *count = count.saturating_add(more);
            if *count > most {
                problem = problem.or(Some(StrictProblemKind::TooMany { what, most }));
            }
        }
        problem
    }
}

/// Writes `schema`, one that was compiled, as `subset` has it; each change is told to `changed`. Only a strict
/// subset refuses a schema; nothing that was written may be used then.
pub fn lower<'s>(
    schema: &'s str,
    subset: &Subset,
    out: &mut Writer<'_, '_>,
    changed: &mut dyn FnMut(Change<'s>),
) -> core::result::Result<(), StrictProblem> {
    lower_with(schema, &[], subset, out, changed)
}

/// As [`lower`], for a schema that was compiled with `resources`. What its references to them lead to is put in
/// their place, since no provider can follow them.
pub fn lower_with<'s>(
    schema: &'s str,
    resources: &'s [Resource<'s>],
    subset: &Subset,
    out: &mut Writer<'_, '_>,
    changed: &mut dyn FnMut(Change<'s>),
) -> core::result::Result<(), StrictProblem> {
    lower_counted(schema, resources, subset, out, changed).map(|_| ())
}

/// [`lower_with`], which also counts what is limited over all tools.
pub(crate) fn lower_counted<'s>(
    schema: &'s str,
    resources: &'s [Resource<'s>],
    subset: &Subset,
    out: &mut Writer<'_, '_>,
    changed: &mut dyn FnMut(Change<'s>),
) -> Result<Counts> {
    let root = Value::from_checked(schema);
    let texts = Texts { first: schema, more: resources };
    let mut rewriting = *subset;
    if subset.is_whole() {
        let old = subset.newest && names_draft_7(root);
        if old || !resources.is_empty() && texts.leads_away() {
            rewriting = subset.rewriting(old || names_draft_7(root));
        }
    }
    let subset = &rewriting;
    let has_defs = !subset.is_whole() && root.get("$defs").is_some();
    let mut lowering = Lowering {
        texts,
        subset,
        has_defs,
        out,
        changed,
        frames: &mut heapless::Vec::new(),
        inlined: 0,
        steps: texts.len().saturating_mul(16).saturating_add(1 << 16),
        counted: Counted::default(),
    };
    if subset.is_whole() && root.kind() == Kind::Object && !lowering.has_at_root(root) {
        lowering.copy(root);
        return Ok(Counts { tools: 1, ..Counts::default() });
    }
    lowering.run(root)?;
    let Counted { properties, optional, unions, .. } = lowering.counted;
    Ok(Counts { tools: 1, properties, optional, unions })
}

/// What a strict subset limits, as far as it was met.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    properties: usize,
    values: usize,
    text: usize,
    optional: usize,
    unions: usize,
}

/// A schema on its way out.
struct Lowering<'s, 'o, 'w, 'b> {
    /// The schema and its resources.
    texts: Texts<'s>,
    subset: &'o Subset,
    /// The root has `$defs`, so that `definitions` cannot be renamed.
    has_defs: bool,
    out: &'o mut Writer<'w, 'b>,
    changed: &'o mut dyn FnMut(Change<'s>),
    frames: &'o mut heapless::Vec<Frame, MAX_OPEN>,
    /// Bytes of targets that were put in the place of references.
    inlined: usize,
    /// Events that may be read to find out whether references lead back.
    steps: usize,
    counted: Counted,
}

impl<'s> Lowering<'s, '_, '_, '_> {
    /// Whether the root has something that it may not have.
    fn has_at_root(&self, root: Value<'_>) -> bool {
        let words = self.subset.not_at_root;
        words != word::Words::NONE && root.entries().any(|(key, _)| words.has(Word::of(key)))
    }

    fn tell(&mut self, offset: usize, kind: ChangeKind) {
        let (schema, _, start) = self.texts.locate(offset);
        (self.changed)(Change { schema, offset: offset.saturating_sub(start), kind });
    }

    /// The problem at an offset; of what stands in a resource, the place in the schema that led there.
    fn problem(&self, kind: StrictProblemKind, offset: usize) -> StrictProblem {
        let own = |at: &usize| *at < self.texts.first.len();
        let open = self.frames.iter().rev().flat_map(|frame| frame.node.sources().map(|(_, at)| at).next());
        let offset = core::iter::once(offset).chain(open).find(own).unwrap_or(0);
        StrictProblem { kind, offset }
    }

    /// Whether the text that an offset is in is of draft 7: what stands beside a `$ref` means nothing.
    fn is_draft7(&self, offset: usize) -> bool {
        names_draft_7(Value::from_checked(self.texts.locate(offset).0))
    }

    /// The problem if there is more of something than a strict schema may have.
    fn limit(&self, count: usize, most: usize, what: &'static str, offset: usize) -> Result<()> {
        if count > most {
            return Err(self.problem(StrictProblemKind::TooMany { what, most }, offset));
        }
        Ok(())
    }
}
