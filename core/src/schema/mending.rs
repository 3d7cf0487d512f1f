//! What coercion can mend, and the changes that it notes.

use super::coerce::{CoerceError, CoerceOptions};
use super::convert::{convert, type_of};
use super::defaults::{applied, find_default};
use super::edit::{Edit, Edits, Rank};
use super::entry::{Entry, Table};
use super::error::{CheckError, string_end};
use super::level::{IN_PLACE, MEMBER, OBJECT, PATTERNED};
use super::mend::{Around, Mender, problems};
use super::program::{Cursor, Instruction, Node, Slot, op, types, word_of};
use super::report::Problem;
use super::source::{offset_in, value_at};
use crate::json::{self, Kind, Str, Value, blanks};
use crate::sink::Sink;

/// One reading of the arguments, and what it finds to change.
pub(super) struct Mending<'m, 'w> {
    pub(super) options: &'m CoerceOptions,
    pub(super) edits: &'m mut Edits<'w>,
    /// Where what a value would become is written, and how much of the output stands before it.
    pub(super) scratch: &'m mut [u8],
    pub(super) before: usize,
    pub(super) has_defaults: bool,
    /// A `null` is to be taken out.
    pub(super) removes: bool,
    pub(super) failure: Option<CoerceError>,
}

impl Mender for Mending<'_, '_> {
    fn mends(&mut self, problem: &Problem<'_>, at: usize, around: &mut Around<'_>) -> bool {
        match around.open.instance.as_bytes().get(at) {
            Some(b'n') => self.removes(at, around),
            Some(b'{' | b'[') | None => false,
            Some(_) if self.options.nulls_only => false,
            Some(_) => match *problem {
                Problem::Type(types, slot) => self.converts(types, slot, at, around),
                _ => false,
            },
        }
    }

    fn fills(&mut self, at: usize, around: &mut Around<'_>) -> bool {
        let (program, texts) = (around.schema.program(), around.schema.texts());
        let entry = Entry::read(program, at);
        if !self.has_defaults || entry.is(Entry::UNDECLARED) || self.failure.is_some() {
            return false;
        }
        if !around.trial && self.edits.is_past(Rank::Default) {
            return false;
        }
        let default = find_default(around.schema, entry, around.steps);
        let Some(Some(default)) = self.in_steps(default) else { return false };
        if !self.fits(entry.slot, default.raw(), around) {
            return false;
        }
        if !around.trial {
            let rank = if hangs_on_a_choice(around) { Rank::ChosenDefault } else { Rank::Default };
            let name = entry.name(texts);
            // Names of one table differ.
            let table = around.open.level.table();
            let own = table.entries()..table.entries() + Entry::SIZE * table.count as usize;
            let same = |other: Edit| match other.entry() {
                entry if entry == at => Some(true),
                entry if own.contains(&entry) => None,
                entry => Some(Entry::read(program, entry).name(texts) == name),
            };
            let edit = Edit::default(around.open.level.start, at);
            let pushed = self.edits.push(edit, rank, around.steps, same);
            self.in_steps(pushed);
        }
        true
    }

    fn has_defaults(&self) -> bool {
        self.has_defaults
    }
}

impl Mending<'_, '_> {
    /// Whether what is left of the steps sufficed.
    fn in_steps<T>(&mut self, done: Option<T>) -> Option<T> {
        if done.is_none() {
            self.failure = Some(CoerceError::StepLimit);
        }
        done
    }

    /// A scalar that becomes one of these types.
    fn converts(&mut self, types: u8, slot: Slot, at: usize, around: &mut Around<'_>) -> bool {
        let text = around.open.instance;
        let Some(value) = value_at(text, at) else { return false };
        let length = value.raw().len();
        let steps = around.steps.checked_sub(1 + word_of(length / 64)).map(|left| *around.steps = left);
        if self.in_steps(steps).is_none() || is_key(text, at) {
            return false;
        }
        let mut json = self.options.check.json;
        let depth = usize::from(json.max_depth.min(json::MAX_DEPTH)).saturating_sub(around.depth);
        json.max_depth = u16::try_from(depth).unwrap_or(0);
        let mut sink = Sink::new(self.scratch);
        let mut what = u32::from(types);
        let converted = convert(types, value, &json, &mut sink);
        if converted.is_some() {
            if sink.overflowed() {
                let need = self.before.saturating_add(sink.len());
                self.failure = Some(CoerceError::NoSpace { need });
                return false;
            }
            let len = sink.len();
            // What an alternative makes of a value must be what it accepts.
            let scratch = core::mem::take(&mut self.scratch);
            let text = core::str::from_utf8(scratch.get(..len).unwrap_or_default()).unwrap_or_default();
            let fits = !around.trial || text.starts_with(['{', '[']) || self.fits(slot, text, around);
            self.scratch = scratch;
            if !fits {
                return false;
            }
        } else {
            if json.max_depth == 0 || !self.wraps(types, slot, value, at, around) {
                return false;
            }
            what = u32::from(types::ARRAY) | Edit::WRAP;
        }
        if !around.trial {
            let chosen = hangs_on_a_choice(around);
            let rank = if chosen { Rank::ChosenConversion } else { Rank::Conversion };
            let pushed = self.edits.push(Edit::new(at, what), rank, around.steps, |_| None);
            self.in_steps(pushed);
        }
        true
    }

    /// Whether a scalar becomes an array of itself. The only item of an array does not, so that there is an
    /// end to it.
    fn wraps(&self, types: u8, slot: Slot, value: Value<'_>, at: usize, around: &Around<'_>) -> bool {
        if !self.options.wrap_scalars || types & types::ARRAY == 0 {
            return false;
        }
        let (before, rest) = around.open.instance.split_at_checked(at).unwrap_or_default();
        let after = blanks(rest.as_bytes().get(value.raw().len()..).unwrap_or_default());
        if before.trim_end_matches(BLANKS).ends_with('[') && after.first() == Some(&b']') {
            return false;
        }
        let program = around.schema.program();
        let mut items = Slot::ANY;
        let mut cursor = Cursor::new(program, slot);
        while let Some(instruction) = cursor.next(program) {
            if matches!(instruction.op, op::ITEMS | op::PREFIX_ITEMS) {
                items = Slot(instruction.operand(program));
                if instruction.op == op::PREFIX_ITEMS {
                    break;
                }
            }
        }
        let types = around.schema.types(items);
        type_of(value) & types != 0
            || convert(types, value, &self.options.check.json, &mut Sink::measure()).is_some()
    }

    /// A `null` for an optional property.
    fn removes(&mut self, at: usize, around: &mut Around<'_>) -> bool {
        let steps = word_of(1 + around.open.work.len() / 64);
        let steps = around.steps.checked_sub(steps).map(|left| *around.steps = left);
        if self.in_steps(steps).is_none() || !is_optional(at, around) {
            return false;
        }
        if !around.trial {
            self.removes = true;
            let chosen = hangs_on_a_choice(around);
            let rank = if chosen { Rank::ChosenConversion } else { Rank::Conversion };
            let pushed = self.edits.push(Edit::new(at, Edit::REMOVE), rank, around.steps, |_| Some(true));
            self.in_steps(pushed);
        }
        true
    }

    /// Whether a text fits a slot.
    fn fits(&mut self, slot: Slot, text: &str, around: &mut Around<'_>) -> bool {
        let steps = around.steps.checked_sub(1 + word_of(text.len() / 64)).map(|left| *around.steps = left);
        if self.in_steps(steps).is_none() {
            return false;
        }
        let options = &self.options.check;
        match problems(around.schema, slot, text, options, around.steps, around.spare) {
            Ok(problems) => problems == 0,
            Err(CheckError::NoWork { need }) => {
                self.failure = Some(CoerceError::NoWork { need: around.taken.saturating_add(need) });
                false
            }
            Err(CheckError::StepLimit) => self.in_steps(None::<()>).is_some(),
            Err(_) => false,
        }
    }
}

/// Whether an alternative or a condition calls for what is being looked at.
fn hangs_on_a_choice(around: &Around<'_>) -> bool {
    around.open.levels().filter(|level| level.state == IN_PLACE).any(|frame| {
        let instruction = Instruction::read(around.open.program, frame.next as usize);
        matches!(instruction.op, op::ANY_OF | op::ONE_OF | op::IF | op::DEPENDENT)
    })
}

/// Whether the value at `at` is that of a property which is declared and may be absent.
fn is_optional(at: usize, around: &Around<'_>) -> bool {
    let (program, texts) = (around.schema.program(), around.schema.texts());
    let table = |node: u32| {
        let first = Instruction::read(program, node as usize + Node::SIZE);
        (first.op == op::OBJECT).then(|| Table::read(program, first.at))
    };
    let mut levels =
        around.open.levels().skip_while(|level| level.state == IN_PLACE && level.start as usize == at);
    let Some(holder) = levels.next() else { return false };
    let entry = match holder.state {
        OBJECT if holder.other_key().is_none() => {
            holder.next.checked_sub(1).map(|number| holder.table().entry(program, number))
        }
        MEMBER => {
            let key = key_at(around.open.instance, holder.entries as usize);
            table(holder.node).and_then(|table| Some(table.entry(program, table.find(program, texts, key)?)))
        }
        _ => None,
    };
    let Some(entry) = entry.filter(|entry| !entry.is(Entry::UNDECLARED | Entry::REQUIRED)) else {
        return false;
    };
    let name = entry.name(texts);
    let requires = |slot: Slot| {
        slot.as_node().and_then(|node| table(word_of(node))).is_some_and(|table| {
            let number = table.find(program, texts, name);
            number.is_some_and(|number| table.entry(program, number).is(Entry::REQUIRED))
        })
    };
    // What applies to the same object may require it as well.
    let start =
        if holder.state == MEMBER { levels.next().map(|level| level.start) } else { Some(holder.start) };
    let outer = levels
        .take_while(|level| matches!(level.state, IN_PLACE | PATTERNED) && Some(level.start) == start)
        .map(|level| level.node);
    !core::iter::once(holder.node)
        .chain(outer)
        .map(Slot)
        .any(|slot| requires(slot) || applied(program, slot).any(requires))
}

/// The key whose quote stands at a position.
fn key_at(text: &str, at: usize) -> Str<'_> {
    let rest = text.get(at..).unwrap_or_default();
    let key = string_end(rest).and_then(|end| rest.get(1..end.checked_sub(1)?));
    Str::new(key.unwrap_or_default())
}

/// Whether a key stands at a position, and no value.
fn is_key(text: &str, at: usize) -> bool {
    let Some(value) = value_at(text, at).filter(|value| value.kind() == Kind::String) else { return false };
    let end = offset_in(text, value.raw()).saturating_add(value.raw().len());
    blanks(text.as_bytes().get(end..).unwrap_or_default()).first() == Some(&b':')
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
