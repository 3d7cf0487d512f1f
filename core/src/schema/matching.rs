//! `pattern` and `patternProperties`: compiling them into instructions, and checking them.
//!
//! What they need of the rest of the library is here and in [`pattern`](super::pattern), and both are linked
//! only with the feature `pattern`.

use super::compile::error_at;
use super::compiler::Compiler;
use super::entry::{Entry, Table};
use super::error::{SchemaError, SchemaErrorKind};
use super::keyword::{PATTERN, PATTERN_PROPERTIES};
use super::level::{Level, MEMBER, PATTERNED};
use super::machine::Check;
use super::pass::Place;
use super::pattern::{self, MatchError};
use super::program::{Cursor, Instruction, Node, Slot, op, types, word_of};
use super::report::Problem;
use super::work::Need;
use crate::json::{Kind, Reason, Str, blanks};

impl<'s> Compiler<'s, '_> {
    /// The keyword `pattern`.
    pub(super) fn pattern(&mut self, at: usize) -> Result<(), SchemaError> {
        self.once(PATTERN, at)?;
        let value = self.value_of(Kind::String)?;
        let offset = self.offset(value);
        let words = self.matcher(offset, value.as_str())?;
        self.instruction(op::PATTERN, words, &[word_of(offset)]);
        Ok(())
    }

    /// The keyword `patternProperties`, up to its first member.
    pub(super) fn pattern_properties(&mut self, at: usize) -> Result<(), SchemaError> {
        self.once(PATTERN_PROPERTIES, at)?;
        self.enter(Kind::Object)?;
        self.patterned = true;
        let level = self.level();
        level.patterned = true;
        level.place = Place::Patterns;
        Ok(())
    }

    /// A member of `patternProperties`: its schema comes next.
    pub(super) fn pattern_key(
        &mut self,
        at: usize,
        key: Str<'s>,
    ) -> Result<Option<(Slot, Need)>, SchemaError> {
        if self.level().count >= MAX_INSTRUCTIONS {
            return Err(error_at(SchemaErrorKind::TooLarge, at));
        }
        let words = self.matcher(at, Some(key))?;
        self.store.push(word_of(at));
        self.level().matcher = words;
        self.open()
    }

    /// Ends a member of `patternProperties`.
    pub(super) fn pattern_property(&mut self, slot: Slot) {
        let words = self.level().matcher;
        self.instruction(op::PATTERN_PROPERTY, words, &[slot.0]);
    }

    /// Pushes the matcher of a pattern that stands at an offset of the text. Gives its words.
    fn matcher(&mut self, at: usize, pattern: Option<Str<'s>>) -> Result<u32, SchemaError> {
        let pattern = pattern.unwrap_or(Str::new(""));
        let free = self.store.free();
        let size =
            pattern::build(pattern, free).map_err(|error| error_at(SchemaErrorKind::Pattern(error), at))?;
        let need = Need::plain(word_of(pattern::work_words(free)));
        self.store.push_free(size.used, size.peak);
        self.level().need = self.level().need.max(need);
        self.once = self.once.max(need);
        Ok(word_of(size.used / 4))
    }
}

impl<'i> Check<'_, 'i, '_> {
    /// Checks a string against a pattern; `text` starts with it.
    #[inline(never)]
    pub(super) fn pattern(
        &mut self,
        slot: Slot,
        instruction: Instruction,
        string: Str<'i>,
        text: &'i [u8],
    ) -> Option<()> {
        if !self.matches(instruction, instruction.at + 8, string)? {
            let pattern = instruction.operand(self.schema.program()) as usize;
            self.report(Problem::Pattern(pattern), self.scan.offset(text), self.schema.place(slot));
        }
        Some(())
    }

    /// Goes on in an object that has `patternProperties`, or with a member of it: to a value and the slot that
    /// applies to it, or to where the level changes.
    #[cold]
    #[inline(never)]
    pub(super) fn chosen(&mut self, rest: &'i [u8], first: bool) -> Option<(&'i [u8], Slot)> {
        match self.level.state {
            PATTERNED => Some((self.patterned(rest, first)?, Slot::NOWHERE)),
            _ => self.next_pattern(rest),
        }
    }

    /// Reads on in an object: to its end, or to the value of its next member.
    fn patterned(&mut self, rest: &'i [u8], first: bool) -> Option<&'i [u8]> {
        let rest = match blanks(rest) {
            [b'}', after @ ..] => {
                self.end_object();
                return Some(after);
            }
            [b',', after @ ..] if !first => blanks(after),
            rest if first => rest,
            rest => return self.scan.fail(Reason::ExpectedComma, rest),
        };
        self.step(1)?;
        let [b'"', content @ ..] = rest else { return self.scan.fail(Reason::ExpectedKey, rest) };
        let end = self.scan.string(content)?;
        let key = self.text.get(self.scan.offset(content)..self.scan.offset(end).saturating_sub(1));
        let key = Str::new(key.unwrap_or_default());
        let value = blanks(self.scan.colon(end)?);
        let table = self.level.table();
        let number = self.level.table().find(self.schema.program(), self.schema.texts(), key);
        let entry = number.map(|number| self.entry(number));
        self.loose |= number.is_none_or(|number| !self.mark(number));
        let (last, seen) = match entry.filter(|entry| !entry.is(Entry::UNDECLARED)) {
            Some(entry) => (entry.slot, 0),
            None => (table.others(self.schema.program()), OTHERS),
        };
        let node = self.level.node;
        self.enter(0)?;
        self.level = Level {
            state: MEMBER,
            node,
            start: word_of(self.scan.offset(value)),
            entries: word_of(self.scan.offset(rest)),
            seen,
            items: last.0,
            ..Level::OUTSIDE
        };
        Some(value)
    }

    /// Goes on to the next schema that applies to a member: those whose patterns match its name, then the one
    /// that is declared for it, or if there is none of all these, the one for other members. `rest` starts with
    /// the value, or comes after it if a schema was applied before.
    fn next_pattern(&mut self, rest: &'i [u8]) -> Option<(&'i [u8], Slot)> {
        let program = self.schema.program();
        let key = self.key()?;
        self.step(word_of(key.raw().len() / 64))?;
        let mut cursor = Cursor::new(program, Slot(self.level.node));
        let mut number = 0u32;
        while let Some(instruction) = cursor.next(program) {
            number = number.saturating_add(1);
            if instruction.op != op::PATTERN_PROPERTY || number <= self.level.next {
                continue;
            }
            if self.matches(instruction, instruction.at + 12, key)? {
                self.step(number / 8)?;
                self.level.next = number;
                self.level.seen |= MATCHED;
                return self.again(rest, Slot(instruction.operand(program)));
            }
        }
        self.step(number / 8)?;
        self.level.next = u32::MAX;
        let (last, seen) = (Slot(self.level.items), self.level.seen);
        self.level.items = Slot::NOWHERE.0;
        if last == Slot::NOWHERE || seen == OTHERS | MATCHED {
            self.leave();
            return Some((rest, Slot::NOWHERE));
        }
        if seen == OTHERS && last.as_immediate().is_some_and(|(types, _)| types == types::NONE) {
            let table = Table::read(program, self.level.node as usize + Node::SIZE);
            let at = self.level.entries as usize;
            self.report(Problem::Unknown(table), at, self.schema_offset());
            self.leave();
            return Some((self.scan.value(rest, self.depth)?, Slot::NOWHERE));
        }
        self.again(rest, last)
    }

    /// Goes back to the value of the present member, to apply a schema to it.
    fn again(&mut self, rest: &'i [u8], slot: Slot) -> Option<(&'i [u8], Slot)> {
        let start = self.text.as_bytes().get(self.level.start as usize..)?;
        if start.len() != rest.len() {
            self.step(1 + word_of((start.len() - rest.len()) / 8))?;
        }
        Some((start, slot))
    }

    /// The name of the present member.
    fn key(&mut self) -> Option<Str<'i>> {
        let quoted = self.text.get(self.level.entries as usize..)?;
        let [b'"', content @ ..] = quoted.as_bytes() else { return Some(Str::new("")) };
        let end = self.scan.string(content)?;
        self.text.get(self.scan.offset(content)..self.scan.offset(end).saturating_sub(1)).map(Str::new)
    }

    /// Whether the matcher of an instruction, at an address, matches a text.
    pub(super) fn matches(&mut self, instruction: Instruction, at: usize, text: Str<'i>) -> Option<bool> {
        self.step(instruction.argument / 64)?;
        let end = at.wrapping_add(4 * instruction.argument as usize);
        let matcher = self.schema.program().get(at..end).unwrap_or_default();
        let limit = self.limit();
        let work = self.work.get_mut(self.top..limit).unwrap_or_default();
        match pattern::is_match(matcher, text, work, &mut self.steps) {
            Ok(found) => Some(found),
            Err(MatchError::NoWork { need }) => self.no_work(self.top.saturating_add(need)),
            Err(MatchError::StepLimit) => self.give_up(super::error::CheckError::StepLimit),
        }
    }
}

/// The slot that is left is that for other members.
const OTHERS: u32 = 1;
/// A pattern matched.
const MATCHED: u32 = 2;
/// Instructions that a node can have, with room for the keywords that stand once.
const MAX_INSTRUCTIONS: u16 = u16::MAX - 64;
