//! Keywords about an object as a whole: how many members, and their names.

use super::error::Keyword;
use super::frame::Frame;
use super::machine::Check;
use super::place::Act;
use super::program::{Instruction, Slot, op, word_of};
use super::report::Problem;
use super::source::{member_at, offset_in};
use crate::json::Str;

impl<'i> Check<'_, 'i, '_> {
    /// Whether the object that starts at a position has a member with this key.
    pub(super) fn has_member(&mut self, start: usize, wanted: Str<'_>) -> Option<bool> {
        let mut at = start + 1;
        while let Some((key, _, end)) = member_at(self.text, at) {
            self.step(1 + word_of((end - at) / 64))?;
            if key == wanted {
                return Some(true);
            }
            at = end;
        }
        Some(false)
    }

    /// `minProperties` and `maxProperties`.
    pub(super) fn count_members(&mut self, instruction: Instruction) -> Option<()> {
        let mut at = self.level.start as usize + 1;
        let mut count = 0;
        while let Some((_, _, end)) = member_at(self.text, at) {
            self.step(1 + word_of((end - at) / 64))?;
            count += 1;
            at = end;
        }
        let bound = instruction.operand(self.schema.program());
        let keyword = match instruction.op {
            op::MIN_PROPERTIES if count < bound => Keyword::MinProperties,
            op::MAX_PROPERTIES if count > bound => Keyword::MaxProperties,
            _ => return Some(()),
        };
        self.problem(Problem::Count(keyword, bound, count as usize));
        Some(())
    }

    /// `propertyNames`.
    pub(super) fn property_names(&mut self, frame: &Frame, instruction: Instruction) -> Option<Act<'i>> {
        let mut at = self.level.start as usize + 1;
        if self.level.items > 0 {
            // The run before was over a key.
            at = member_at(self.text, frame.position as usize)?.2;
        }
        let Some((key, _, _)) = member_at(self.text, at) else { return Some(Act::Finished) };
        let at = offset_in(self.text, key.raw()).saturating_sub(1);
        let key = self.text.as_bytes().get(at..).unwrap_or_default();
        Some(self.look(key, Slot(instruction.operand(self.schema.program()))))
    }
}
