//! Coercion, for tools that ask for it: arguments of a neighbouring type become what the schema wants.
//!
//! Only a value is touched whose type the schema does not accept, and every change is reported with its place
//! and its rule ([`Rule`]). Then the result is checked like any other instance: coercion makes nothing valid
//! by itself. A value that cannot be coerced stays as it is, for the check to report. What is an array or
//! object after it was a string is not looked into.
//!
//! ```
//! use toolcore::schema::{CoerceOptions, CompileOptions, Schema, coerce, compile};
//! let text = r#"{"properties":{"depth":{"type":"integer"},"zip":{"type":"string"},"unit":{"default":"m"}}}"#;
//! let mut program = [0; 256];
//! let used = compile(text, &CompileOptions::default(), &mut program).unwrap();
//! let schema = Schema::new(text, &program[..used]);
//! let (mut work, mut out) = ([0; 32], [0; 64]);
//! let arguments = r#"{"depth":"3","zip":"01234"}"#;
//! let accepted = coerce(schema, arguments, &CoerceOptions::default(), &mut work, &mut out, &mut |_| {}).unwrap();
//! assert_eq!(accepted, Some(r#"{"depth":3,"zip":"01234","unit":"m"}"#));
//! ```

use super::check::{CheckOptions, Schema};
use super::convert::type_of;
use super::distinct::duplicates;
use super::entry::{Entry, Table};
use super::path::put_key;
use super::program::{Cursor, Node, Slot, op, types, word, word_of};
use super::source::{item_at, member_at, offset_in, value_at};
use crate::json::{self, Kind, Str, Value, Writer};
use crate::sink::Sink;
use core::cell::Cell;
use thiserror_no_std::Error;

/// How to coerce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoerceOptions {
    /// What to accept as JSON, and the steps that may be taken.
    pub check: CheckOptions,
    /// A string, number or boolean where an array is wanted becomes an array of one item.
    pub wrap_scalars: bool,
    /// Of members with the same key the last one counts; those before it are taken out.
    pub last_wins: bool,
}

/// One change.
#[derive(Clone, Copy, Debug)]
pub struct Coercion<'a> {
    /// What was done.
    pub rule: Rule,
    instance: &'a str,
    /// The containers in which the value is, as in [`Coercer::work`].
    around: &'a [u32],
    /// The member that was added.
    name: Option<Str<'a>>,
    /// What telling of it takes from the budget.
    steps: &'a Cell<u32>,
}

impl Coercion<'_> {
    /// Appends the JSON Pointer of the value, as it was or as it is now. Each time it takes a step from the
    /// budget for 64 bytes.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        let start = sink.len();
        let (frames, _) = self.around.as_chunks::<FRAME>();
        for &[_, container, _, current] in frames {
            if self.instance.as_bytes().get(container as usize) == Some(&b'[') {
                sink.put_byte(b'/');
                sink.put_u64(u64::from(current.saturating_sub(1)));
            } else {
                put_key(self.instance, current as usize, sink);
            }
        }
        if let Some(name) = self.name {
            sink.put_byte(b'/');
            json::put_token(name, sink);
        }
        let steps = word_of((frames.len() + sink.len() - start) / 64);
        self.steps.set(self.steps.get().saturating_add(steps));
    }
}

/// What a coercion does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// `"5"`, `" 5 "`, `"5.0"` or `"+5"` became 5.
    IntegerFromString,
    /// `"5.5"` or `"1e3"` became a number.
    NumberFromString,
    /// `"true"`, `"false"`, `"yes"`, `"no"`, `"on"`, `"off"`, `"1"` or `"0"`, in any case, became a boolean.
    BooleanFromString,
    /// 0 or 1 became a boolean.
    BooleanFromNumber,
    /// A string that holds the JSON of an array became that array.
    ArrayFromString,
    /// A string that holds the JSON of an object became that object.
    ObjectFromString,
    /// A scalar became an array of one item.
    ArrayFromScalar,
    /// A `null` for an optional property that cannot be null was taken out.
    NullRemoved,
    /// An absent property got its default.
    DefaultAdded,
    /// A member was taken out whose key stands again later in the object.
    DuplicateRemoved,
}

impl Rule {
    /// The rule in one word, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::IntegerFromString => "integer-from-string",
            Rule::NumberFromString => "number-from-string",
            Rule::BooleanFromString => "boolean-from-string",
            Rule::BooleanFromNumber => "boolean-from-number",
            Rule::ArrayFromString => "array-from-string",
            Rule::ObjectFromString => "object-from-string",
            Rule::ArrayFromScalar => "array-from-scalar",
            Rule::NullRemoved => "null-removed",
            Rule::DefaultAdded => "default-added",
            Rule::DuplicateRemoved => "duplicate-removed",
        }
    }
}

/// Why nothing was coerced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CoerceError {
    /// The instance is not JSON.
    #[error("not JSON: {0}")]
    Json(json::Error),
    /// The output buffer is too small.
    #[error("no space: {need} bytes needed")]
    NoSpace {
        /// Bytes that would do.
        need: usize,
    },
    /// The work memory is too small.
    #[error("no space: {need} words of work memory needed")]
    NoWork {
        /// Words that would do.
        need: usize,
    },
    /// The step budget is used up.
    #[error("step limit reached")]
    StepLimit,
}
impl core::error::Error for CoerceError {}

/// Coerces `instance` and gives the new text, or nothing if there was nothing to change.
///
/// Takes four words of work memory for each level of the instance at most. `changes` is told each change in
/// the order of the text, also when an error follows.
pub fn coerce<'o>(
    schema: Schema<'_>,
    instance: &str,
    options: &CoerceOptions,
    work: &mut [u32],
    out: &'o mut [u8],
    changes: &mut dyn FnMut(&Coercion<'_>),
) -> Result<Option<&'o str>, CoerceError> {
    let root = json::parse(instance.as_bytes(), &options.check.json).map_err(CoerceError::Json)?;
    let mut sink = Sink::new(out);
    let mut steps = options.check.steps;
    let mut twice = false;
    if options.last_wins {
        let mut found = |_, _: &mut u32| {
            twice = true;
            Some(())
        };
        duplicates(instance, work, &mut steps, &mut found).ok_or(CoerceError::StepLimit)?;
    }
    let mut coercer = Coercer {
        schema,
        instance,
        options,
        work,
        top: 0,
        steps,
        twice,
        has_defaults: schema.text().contains("default") || schema.text().contains("\\u"),
        count: 0,
        changes,
        writer: Writer::new(&mut sink),
    };
    coercer.run(root)?;
    let changed = coercer.count > 0;
    match sink.finish() {
        Ok(text) => Ok(changed.then_some(text)),
        Err(_) if !changed => Ok(None),
        Err(error) => Err(CoerceError::NoSpace { need: error.need }),
    }
}

pub(super) struct Coercer<'s, 'i, 'c, 'b> {
    schema: Schema<'s>,
    instance: &'i str,
    pub(super) options: &'c CoerceOptions,
    /// For each open container: its slot, where it starts, where reading goes on, and the quote of the key or
    /// the number, counted from one, of what was read last.
    work: &'c mut [u32],
    top: usize,
    steps: u32,
    /// Keys stand twice in an object, and the last one is to win.
    twice: bool,
    /// The schema may have defaults.
    has_defaults: bool,
    count: usize,
    changes: &'c mut dyn FnMut(&Coercion<'_>),
    pub(super) writer: Writer<'c, 'b>,
}

impl<'s, 'i> Coercer<'s, 'i, '_, '_> {
    fn run(&mut self, root: Value<'i>) -> Result<(), CoerceError> {
        self.value(Slot(word(self.schema.program(), 4)), root)?;
        while let Some(top) = self.top.checked_sub(FRAME) {
            let Some(&[slot, start, at, current]) =
                self.work.get(top..).and_then(|frame| frame.first_chunk())
            else {
                return Ok(());
            };
            let (slot, start, at) = (Slot(slot), start as usize, at as usize);
            if self.instance.as_bytes().get(start) == Some(&b'[') {
                match item_at(self.instance, at) {
                    Some((item, end)) => {
                        self.go_on_at(end, current.saturating_add(1));
                        self.value(self.items(slot), item)?;
                    }
                    None => {
                        self.writer.array_end();
                        self.top = top;
                    }
                }
            } else if let Some((key, value, end)) = member_at(self.instance, at) {
                let quote = offset_in(self.instance, key.raw()).saturating_sub(1);
                self.go_on_at(end, word_of(quote));
                if self.twice && self.comes_again(key, end)? {
                    self.change(Rule::DuplicateRemoved, None)?;
                    continue;
                }
                self.member(slot, key, value)?;
            } else {
                self.add_defaults(slot, start)?;
                self.writer.object_end();
                self.top = top;
            }
        }
        Ok(())
    }

    /// Writes a value, or its start if it is to be looked into.
    fn value(&mut self, slot: Slot, value: Value<'i>) -> Result<(), CoerceError> {
        self.step(1 + word_of(value.raw().len() / 64))?;
        let types = self.types(slot);
        if type_of(value) & types == 0 {
            if self.convert(slot, types, value)? {
                return Ok(());
            }
        } else if (self.twice || !slot.is_any()) && matches!(value.kind(), Kind::Object | Kind::Array) {
            let start = offset_in(self.instance, value.raw());
            match value.kind() {
                Kind::Object => self.writer.object_start(),
                _ => self.writer.array_start(),
            }
            let Some(frame) = self.work.get_mut(self.top..self.top + FRAME) else {
                return Err(CoerceError::NoWork { need: FRAME * (usize::from(json::MAX_DEPTH) + 1) });
            };
            frame.copy_from_slice(&[slot.0, word_of(start), word_of(start + 1), 0]);
            self.top += FRAME;
            return Ok(());
        }
        self.writer.raw(value.raw());
        Ok(())
    }

    /// Whether a key stands again later in its object, which goes on at a position.
    fn comes_again(&mut self, wanted: Str<'i>, mut at: usize) -> Result<bool, CoerceError> {
        while let Some((key, _, end)) = member_at(self.instance, at) {
            self.step(1 + word_of((end - at) / 64))?;
            if key == wanted {
                return Ok(true);
            }
            at = end;
        }
        Ok(false)
    }

    /// Writes a member, unless it is a null that means that it is absent.
    fn member(&mut self, slot: Slot, key: Str<'i>, value: Value<'i>) -> Result<(), CoerceError> {
        let (member, entry) = self.find(slot, key);
        if value.is_null() && entry.is_some_and(|entry| self.means_absent(slot, entry)) {
            return self.change(Rule::NullRemoved, None);
        }
        self.writer.key_str(key);
        self.value(member, value)
    }

    /// Adds the properties that are absent and have a default.
    fn add_defaults(&mut self, slot: Slot, start: usize) -> Result<(), CoerceError> {
        if !self.has_defaults {
            return Ok(());
        }
        let Some(object) = value_at(self.instance, start) else { return Ok(()) };
        for table in self.tables(slot) {
            for number in 0..table.count {
                let entry = table.entry(self.schema.program(), number);
                let Some((_, property)) = self.schema.texts().member(entry.key as usize) else {
                    continue;
                };
                self.step(1 + word_of(property.raw().len() / 64))?;
                let Some(default) = self.default(entry, property)? else { continue };
                self.step(word_of(object.raw().len() / 64))?;
                let name = entry.name(self.schema.texts());
                let present = object.entries().find(|(key, _)| *key == name);
                let absent =
                    present.is_none_or(|(_, value)| value.is_null() && self.means_absent(slot, entry));
                if absent {
                    self.writer.key_str(name);
                    self.writer.value(default);
                    self.change(Rule::DefaultAdded, Some(name))?;
                }
            }
        }
        Ok(())
    }

    /// The default of a declared property: beside it, or in the schema that it refers to.
    fn default(&mut self, entry: Entry, property: Value<'s>) -> Result<Option<Value<'s>>, CoerceError> {
        if entry.is(Entry::UNDECLARED) {
            return Ok(None);
        }
        if let Some(own) = property.get("default") {
            return Ok(Some(own));
        }
        let Some(shared) = self.schema.texts().value(self.schema.place(entry.slot)) else {
            return Ok(None);
        };
        self.step(word_of(shared.raw().len() / 64))?;
        Ok(shared.get("default"))
    }

    /// Whether a null for this property of an object says that it is not there.
    fn means_absent(&self, slot: Slot, entry: Entry) -> bool {
        let name = entry.name(self.schema.texts());
        let (program, text) = (self.schema.program(), self.schema.texts());
        let required = self.tables(slot).any(|table| {
            let number = table.find(program, text, name);
            number.is_some_and(|number| table.entry(program, number).is(Entry::REQUIRED))
        });
        !required && !entry.is(Entry::UNDECLARED) && self.types(entry.slot) & types::NULL == 0
    }

    /// Tells of a change: of the value that was read last in the innermost container, or of the member of it
    /// that was added.
    pub(super) fn change(&mut self, rule: Rule, name: Option<Str<'_>>) -> Result<(), CoerceError> {
        self.count += 1;
        let steps = Cell::new(0);
        let end = if name.is_some() { self.top.saturating_sub(FRAME) } else { self.top };
        let around = self.work.get(..end).unwrap_or_default();
        (self.changes)(&Coercion { rule, instance: self.instance, around, name, steps: &steps });
        self.step(steps.get())
    }

    fn go_on_at(&mut self, at: usize, current: u32) {
        if let Some([.., next, last]) = self.work.get_mut(..self.top) {
            (*next, *last) = (word_of(at), current);
        }
    }

    fn step(&mut self, steps: u32) -> Result<(), CoerceError> {
        self.steps = self.steps.checked_sub(steps).ok_or(CoerceError::StepLimit)?;
        Ok(())
    }
}

/// What a slot says of a value, together with the schemas that it refers to in place.
impl<'s> Coercer<'s, '_, '_, '_> {
    /// The node of a slot and those that it refers to. References in place have no cycles; the bound is for
    /// programs that were not made from this schema.
    fn nodes(&self, slot: Slot) -> impl Iterator<Item = Slot> + use<'s> {
        let program = self.schema.program();
        let next = move |slot: &Slot| {
            let mut cursor = Cursor::new(program, *slot);
            while let Some(instruction) = cursor.next(program) {
                if instruction.op == op::REF {
                    return Some(Slot(word(program, instruction.at + 8)));
                }
            }
            None
        };
        core::iter::successors(Some(slot), next).take(MAX_HOPS)
    }

    /// The types that are accepted.
    pub(super) fn types(&self, slot: Slot) -> u8 {
        let types = self.nodes(slot).map(|slot| match slot.as_immediate() {
            Some((types, _)) => types,
            None => Node::read(self.schema.program(), slot.0 as usize).types,
        });
        types.fold(types::ALL, |all, types| all & types)
    }

    /// The tables of an object's members.
    fn tables(&self, slot: Slot) -> impl Iterator<Item = Table> + use<'s> {
        let program = self.schema.program();
        self.nodes(slot).filter_map(move |slot| {
            let mut cursor = Cursor::new(program, slot);
            let first = cursor.next(program)?;
            (first.op == op::OBJECT).then(|| Table::read(program, first.at))
        })
    }

    /// The slot of an array's items.
    pub(super) fn items(&self, slot: Slot) -> Slot {
        let program = self.schema.program();
        let items = self.nodes(slot).find_map(|slot| {
            let mut cursor = Cursor::new(program, slot);
            while let Some(instruction) = cursor.next(program) {
                if instruction.op == op::ITEMS {
                    return Some(Slot(instruction.operand(program)));
                }
            }
            None
        });
        items.unwrap_or(Slot::ANY)
    }

    /// The slot of a member, and its entry if it has one.
    fn find(&self, slot: Slot, key: Str<'_>) -> (Slot, Option<Entry>) {
        let (program, text) = (self.schema.program(), self.schema.texts());
        let entry = self.tables(slot).find_map(|table| {
            let number = table.find(program, text, key)?;
            Some(table.entry(program, number)).filter(|entry| !entry.is(Entry::UNDECLARED))
        });
        let others = || self.tables(slot).map(|table| table.others(program)).find(|others| !others.is_any());
        (entry.map_or_else(|| others().unwrap_or(Slot::ANY), |entry| entry.slot), entry)
    }
}

/// Words of work memory for each level of an instance, the scalars at the bottom included.
pub const COERCE_WORK_PER_LEVEL: usize = FRAME;

/// Words for an open container.
const FRAME: usize = 4;
/// References in place that are followed one after another.
const MAX_HOPS: usize = 64;
