//! The defaults of declared properties: where they stand, and which of them their own schema refuses.

use super::check::{CheckOptions, Schema};
use super::dialect::names_draft_7;
use super::entry::{Entry, Table};
use super::error::CheckError;
use super::mend::problems;
use super::program::{Cursor, HEADER, Instruction, MAGIC, Slot, op, word, word_of};
use crate::json::{self, Str, Value};
use crate::sink::Sink;

/// A default that the schema of its property does not accept.
#[derive(Clone, Copy, Debug)]
pub struct WrongDefault<'s> {
    schema: Schema<'s>,
    entry: Entry,
    value: Value<'s>,
}

impl<'s> WrongDefault<'s> {
    /// The name of the property.
    pub fn name(&self) -> Str<'_> {
        self.entry.name(self.schema.texts())
    }

    /// The default.
    pub fn value(&self) -> Value<'s> {
        self.value
    }

    /// Appends the JSON Pointer of the property in its document.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        let at = self.entry.key as usize;
        let (text, _, start) = self.schema.texts().locate(at);
        json::pointer_at(text, at.saturating_sub(start), sink);
    }
}

/// Tells each default of a declared property that the property's schema does not accept.
/// [`coerce`](super::coerce) does not fill these in. Takes time in proportion to the schema and what it takes
/// to check its defaults, bounded by the steps of `options`, and work memory as a check does.
pub fn wrong_defaults<'s>(
    schema: Schema<'s>,
    options: &CheckOptions,
    work: &mut [u32],
    found: &mut dyn FnMut(&WrongDefault<'s>),
) -> Result<(), CheckError> {
    let program = schema.program();
    if word(program, 0) != MAGIC {
        return Err(CheckError::BadProgram);
    }
    if !may_have_defaults(schema) {
        return Ok(());
    }
    let mut steps = options.steps;
    // After the nodes there are the tables of dynamic anchors, to which references lead.
    let (mut at, mut end) = (HEADER, program.len());
    while at < end {
        let mut cursor = Cursor::new(program, Slot::node(at));
        while let Some(instruction) = cursor.next(program) {
            match instruction.op {
                op::OBJECT => {
                    let table = Table::read(program, instruction.at);
                    for number in 0..table.count {
                        let entry = table.entry(program, number);
                        if entry.is(Entry::UNDECLARED) {
                            continue;
                        }
                        let default = find_default(schema, entry, &mut steps).ok_or(CheckError::StepLimit)?;
                        if let Some(value) = default
                            && problems(schema, entry.slot, value.raw(), options, &mut steps, work)? > 0
                        {
                            found(&WrongDefault { schema, entry, value });
                        }
                    }
                }
                op::DYNAMIC_REF => {
                    let table = word(program, instruction.at + 12) as usize;
                    if table > at {
                        end = end.min(table);
                    }
                }
                _ => {}
            }
        }
        at = cursor.at;
    }
    Ok(())
}

/// Whether the texts of a schema hold the word, or could hide it.
pub(super) fn may_have_defaults(schema: Schema<'_>) -> bool {
    let texts = schema.texts();
    let all = core::iter::once(texts.first).chain(texts.more.iter().map(|resource| resource.text));
    all.into_iter().any(|text| text.contains("default") || text.contains("\\u"))
}

/// The default of a declared property: beside it, or in a schema that applies in its place whatever the value
/// is; beside a `$ref` it is none in a document that names draft 7. `None` if the steps do not suffice.
pub(super) fn find_default<'s>(
    schema: Schema<'s>,
    entry: Entry,
    steps: &mut u32,
) -> Option<Option<Value<'s>>> {
    let texts = schema.texts();
    let property = texts.member(entry.key as usize).map(|(_, value)| value);
    let of = |slot: Slot| texts.value(schema.place(slot));
    let further = applied(schema.program(), entry.slot).filter(|slot| *slot != Slot::ANY).map(of);
    for place in [property, of(entry.slot)].into_iter().chain(further).flatten() {
        *steps = steps.checked_sub(1 + word_of(place.raw().len() / 64))?;
        let Some(default) = place.get("default") else { continue };
        if place.get("$ref").is_some() {
            let (text, ..) = texts.locate(entry.key as usize);
            *steps = steps.checked_sub(word_of(text.len() / 64))?;
            if names_draft_7(Value::from_checked(text)) {
                continue;
            }
        }
        return Some(Some(default));
    }
    Some(None)
}

/// The schemas that a node applies in place whatever the value is: `$ref` and `allOf`.
pub(super) fn applied(program: &[u8], slot: Slot) -> impl Iterator<Item = Slot> {
    let mut cursor = Cursor::new(program, slot);
    let instructions = core::iter::from_fn(move || cursor.next(program));
    instructions.flat_map(move |instruction: Instruction| {
        let (first, count) = match instruction.op {
            op::REF => (8, 1),
            op::ALL_OF => (4, instruction.argument as usize),
            _ => (0, 0),
        };
        // A program that was not made from its text may say anything.
        (0..count.min(program.len() / 4))
            .map(move |number| Slot(word(program, instruction.at + first + 4 * number)))
    })
}
