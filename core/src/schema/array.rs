//! The items of an array: which schema is for which, and how many there are.

use super::error::Keyword;
use super::machine::Check;
use super::program::{Cursor, Slot, op, word_of};
use super::report::Problem;

impl Check<'_, '_, '_> {
    /// Closes an array, and checks how many items it has.
    pub(super) fn end_array(&mut self) {
        let (slot, count) = (Slot(self.level.node), self.level.next);
        let mut cursor = Cursor::new(self.schema.program(), slot);
        while let Some(instruction) = cursor.next(self.schema.program()) {
            let bound = instruction.operand(self.schema.program());
            let keyword = match instruction.op {
                op::MIN_ITEMS if count < bound => Keyword::MinItems,
                op::MAX_ITEMS if count > bound => Keyword::MaxItems,
                _ => continue,
            };
            self.report(
                Problem::Count(keyword, bound, count as usize),
                self.level.start as usize,
                self.schema_offset(),
            );
        }
        self.depth = self.depth.saturating_sub(1);
        self.leave();
    }

    /// Finds the schemas of an array's items.
    pub(super) fn find_items(&mut self, slot: Slot) {
        let program = self.schema.program();
        let (mut items, mut additional, mut list) = (Slot::ANY.0, Slot::ANY.0, false);
        let mut cursor = Cursor::new(program, slot);
        while let Some(instruction) = cursor.next(program) {
            match instruction.op {
                op::ITEMS => items = instruction.operand(program),
                op::ADDITIONAL_ITEMS => additional = instruction.operand(program),
                op::PREFIX_ITEMS => {
                    (self.level.entries, self.level.seen) =
                        (word_of(instruction.at + 4), instruction.argument);
                    list = true;
                }
                _ => {}
            }
        }
        // Only draft 7 has schemas for additional items, and they count only where `items` is a list.
        self.level.items = if list && items == Slot::ANY.0 { additional } else { items };
    }
}
