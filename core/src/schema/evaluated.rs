//! `unevaluatedProperties` and `unevaluatedItems`: what no schema that applies in place has looked at.
//!
//! While the node of such a keyword is checked, the slot of each schema that applies to the same value is
//! noted at the end of the work memory; those of an alternative that does not fit are taken back. Which
//! members and items such a schema looks at can be told from the schema alone, so what is noted does not grow
//! with the value. Only `contains` has to be tried again.

use super::error::Keyword;
use super::frame::Frame;
use super::machine::Check;
use super::place::Act;
use super::program::{Cursor, Instruction, Slot, op, types, word, word_of};
use super::report::Problem;
use super::source::{item_at, member_at, offset_in};
use crate::json::Str;

/// The value about which is noted what looked at it.
#[derive(Clone, Copy, Default)]
pub(super) struct Scope {
    /// Behind its start; or 0 if there is none.
    behind: u32,
    /// How many notes there were when the scope began.
    mark: u32,
}

impl<'i> Check<'_, 'i, '_> {
    /// Begins a scope if the frame's node asks what was looked at.
    pub(super) fn begin_scope(&mut self, frame: &mut Frame) -> Option<()> {
        if self.asks_for_notes() {
            frame.stage = 1;
            (frame.outer_scope, frame.outer_mark) = (self.scope.behind, self.scope.mark);
            self.scope = Scope { behind: self.level.start.saturating_add(1), mark: self.notes };
            self.note(Slot(self.level.node))?;
        }
        Some(())
    }

    /// When all other instructions of the frame's node were carried out: to go on with those that ask, if
    /// there are any.
    pub(super) fn ask_notes(&mut self, frame: &mut Frame) -> bool {
        if frame.stage == 1 {
            frame.stage = 2;
            self.go_to(Cursor::new(self.schema.program(), Slot(self.level.node)));
            return true;
        }
        false
    }

    /// Ends the frame's scope, if it has one. What was noted counts for a scope around it that is about the
    /// same value, once.
    pub(super) fn end_scope(&mut self, frame: &Frame) -> Option<()> {
        if frame.stage == 0 {
            return Some(());
        }
        let inner = self.noted();
        self.scope = Scope { behind: frame.outer_scope, mark: frame.outer_mark };
        self.notes = word_of(self.work.len() - inner.end);
        if !self.in_scope() {
            return Some(());
        }
        // They are gone through from the first one, behind which there is room for it.
        for at in inner.rev() {
            let slot = self.work.get(at).copied().unwrap_or(0);
            self.note(Slot(slot))?;
        }
        Some(())
    }

    /// Whether the frame's node asks what was looked at.
    fn asks_for_notes(&self) -> bool {
        let program = self.schema.program();
        let mut cursor = Cursor::new(program, Slot(self.level.node));
        while let Some(instruction) = cursor.next(program) {
            if matches!(instruction.op, op::UNEVALUATED_PROPERTIES | op::UNEVALUATED_ITEMS) {
                return true;
            }
        }
        false
    }

    /// Whether the frame's value is in scope.
    pub(super) fn in_scope(&self) -> bool {
        self.scope.behind.checked_sub(1) == Some(self.level.start)
    }

    /// Where the work memory ends that is not taken by notes.
    pub(super) fn limit(&self) -> usize {
        self.work.len() - self.notes as usize
    }

    /// The notes of this scope.
    pub(super) fn noted(&self) -> core::ops::Range<usize> {
        self.limit()..self.work.len() - self.scope.mark as usize
    }

    /// Notes a schema that applies to the value in scope.
    pub(super) fn note(&mut self, slot: Slot) -> Option<()> {
        let notes = self.work.get(self.noted()).unwrap_or_default();
        let steps = word_of(notes.len() / 8);
        let known = slot.as_node().is_none() || notes.contains(&slot.0);
        self.step(steps)?;
        if known {
            return Some(());
        }
        if self.limit() <= self.top {
            return self.no_work(self.top + 1);
        }
        self.notes += 1;
        let at = self.limit();
        if let Some(place) = self.work.get_mut(at) {
            *place = slot.0;
        }
        Some(())
    }

    /// `unevaluatedProperties` and `unevaluatedItems`.
    pub(super) fn unevaluated(
        &mut self,
        frame: &mut Frame,
        instruction: Instruction,
        failed: bool,
        rest: &'i [u8],
    ) -> Option<Act<'i>> {
        let value = self.text.as_bytes().get(self.level.start as usize..).unwrap_or_default();
        match (instruction.op, value.first()) {
            (op::UNEVALUATED_PROPERTIES, Some(b'{')) => {
                self.read_whole(frame, value)?;
                self.other_members(instruction, rest)
            }
            (op::UNEVALUATED_ITEMS, Some(b'[')) => {
                self.read_whole(frame, value)?;
                self.other_items(frame, instruction, failed, rest)
            }
            _ => Some(Act::Finished),
        }
    }

    fn other_members(&mut self, instruction: Instruction, rest: &'i [u8]) -> Option<Act<'i>> {
        let slot = Slot(instruction.operand(self.schema.program()));
        if slot.is_any() {
            return Some(Act::Finished);
        }
        let mut at =
            if self.level.items == 0 { self.level.start as usize + 1 } else { self.scan.offset(rest) };
        while let Some((key, value, end)) = member_at(self.text, at) {
            at = end;
            self.step(1 + word_of(value.raw().len() / 8))?;
            if self.is_known_member(key)? {
                continue;
            }
            if slot.as_immediate().is_some_and(|(types, _)| types == types::NONE) {
                let key = offset_in(self.text, key.raw()).saturating_sub(1);
                self.report(Problem::Unevaluated(Keyword::UnevaluatedProperties), key, self.schema_offset());
                continue;
            }
            let value = offset_in(self.text, value.raw());
            return Some(self.look(self.text.as_bytes().get(value..).unwrap_or_default(), slot));
        }
        Some(Act::Finished)
    }

    /// Of the frame, `matches` is the number of the item and `best` that of the `contains` to be tried next.
    fn other_items(
        &mut self,
        frame: &mut Frame,
        instruction: Instruction,
        failed: bool,
        rest: &'i [u8],
    ) -> Option<Act<'i>> {
        let slot = Slot(instruction.operand(self.schema.program()));
        if slot.is_any() {
            return Some(Act::Finished);
        }
        let mut at = if self.level.items == 0 {
            (frame.matches, frame.best) = (0, 0);
            self.level.start as usize + 1
        } else if frame.trial != 0 && failed {
            frame.best += 1;
            frame.position as usize
        } else {
            (frame.matches, frame.best) = (frame.matches + 1, 0);
            self.scan.offset(rest)
        };
        while let Some((item, end)) = item_at(self.text, at) {
            self.step(1 + word_of(item.raw().len() / 8))?;
            let item = offset_in(self.text, item.raw());
            let here = self.text.as_bytes().get(item..).unwrap_or_default();
            if !self.is_known_item(frame.matches)? {
                self.step(word_of(self.noted().len()))?;
                if let Some(contains) = self.noted_contains(frame.best) {
                    return Some(self.try_out(here, contains));
                }
                if slot.as_immediate().is_none_or(|(types, _)| types != types::NONE) {
                    return Some(self.look(here, slot));
                }
                self.report(Problem::Unevaluated(Keyword::UnevaluatedItems), item, self.schema_offset());
            }
            at = end;
            (frame.matches, frame.best) = (frame.matches + 1, 0);
        }
        Some(Act::Finished)
    }

    /// Whether a schema that was noted looks at the member with this key.
    fn is_known_member(&mut self, key: Str<'i>) -> Option<bool> {
        let (program, text) = (self.schema.program(), self.schema.texts());
        for number in self.noted().rev() {
            self.step(1)?;
            let slot = Slot(self.work.get(number).copied().unwrap_or(Slot::NOWHERE.0));
            let mut cursor = Cursor::new(program, slot);
            while let Some(instruction) = cursor.next(program) {
                let known = match instruction.op {
                    op::OBJECT => {
                        let table = super::entry::Table::read(program, instruction.at);
                        table.others(program) != Slot::ANY
                            || table.find(program, text, key).is_some_and(|number| {
                                !table.entry(program, number).is(super::entry::Entry::UNDECLARED)
                            })
                    }
                    op::UNEVALUATED_PROPERTIES => slot.0 != self.level.node,
                    #[cfg(feature = "pattern")]
                    op::PATTERN_PROPERTY => self.matches(instruction, instruction.at + 12, key)?,
                    _ => false,
                };
                if known {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Whether a schema that was noted looks at the item with this number.
    fn is_known_item(&mut self, item: u32) -> Option<bool> {
        let program = self.schema.program();
        for number in self.noted().rev() {
            self.step(1)?;
            let slot = Slot(self.work.get(number).copied().unwrap_or(Slot::NOWHERE.0));
            let mut cursor = Cursor::new(program, slot);
            while let Some(instruction) = cursor.next(program) {
                let known = match instruction.op {
                    op::ITEMS => true,
                    op::PREFIX_ITEMS => item < instruction.argument,
                    op::UNEVALUATED_ITEMS => slot.0 != self.level.node,
                    _ => false,
                };
                if known {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// The slot of a `contains` among what was noted, by number.
    fn noted_contains(&self, number: u32) -> Option<Slot> {
        let program = self.schema.program();
        let notes = self.work.get(self.noted()).unwrap_or_default().iter().rev();
        let found = notes.filter_map(|slot| self.find(Slot(*slot), op::CONTAINS));
        found.map(|contains| Slot(word(program, contains.at + 4))).nth(number as usize)
    }
}

impl Frame {
    /// Whether an instruction has its turn: those that ask what was noted come last.
    pub(super) fn is_due(&self, instruction: Instruction) -> bool {
        matches!(instruction.op, op::UNEVALUATED_ITEMS | op::UNEVALUATED_PROPERTIES) == (self.stage == 2)
    }
}
