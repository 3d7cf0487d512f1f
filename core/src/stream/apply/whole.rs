//! Items that come whole, and what comes beside them: pieces for those who watch alone, and runs of text.

use super::super::text::{CALL, NO_KEY, Part, SHOWN, Span};
use super::{Applier, JsonKind};
use crate::dialect::{Field, ReplyError, Show};
use crate::json::Value;

impl Applier<'_, '_> {
    /// Tells those who watch of the first pinned piece.
    pub(super) fn show_only(&mut self, key: u32, field: u8) {
        let Some(Field { show, .. }) = self.field(field) else { return };
        if self.pin_content() != Some(false) {
            return;
        }
        let found = self.find(key);
        if let Some((index, part)) = found {
            self.text.set_part(index, Part { flags: part.flags | SHOWN, ..part });
        }
        self.show(*show, self.pin(), found.map(|(index, _)| index));
    }

    /// Adds a piece to a field of the last item, or begins one with it.
    pub(super) fn extend(&mut self, field: u8) -> Result<(), ReplyError> {
        let Some(Field { show, empty, .. }) = self.field(field) else { return Ok(()) };
        if self.pin_content() != Some(false) || self.pin().len == 0 {
            return Ok(());
        }
        self.show(*show, self.pin(), None);
        if self.calls_only {
            return Ok(());
        }
        // No provider counts so far.
        let key = NO_KEY - 1 - u32::from(field);
        let last = self.text.parts().checked_sub(1).filter(|last| *last >= self.text.members());
        let last = last.filter(|last| self.text.part(*last).is_some_and(|part| part.key == key));
        let index = match last {
            Some(index) => index,
            None => self.item(key, false, Some(empty))?,
        };
        self.slot(index, field, false)?;
        self.add(index, false)
    }

    /// Adds the first pinned piece as an item that is whole.
    pub(super) fn whole(&mut self) -> Result<(), ReplyError> {
        let value = Value::from_checked(self.text.str(self.pin()));
        let is_call = self.shape.call(value).is_some();
        if value.kind() != JsonKind::Object {
            return Err(ReplyError::Shape { expected: "an item that is an object" });
        }
        if self.calls_only && !is_call {
            return Ok(());
        }
        let index = self.item(NO_KEY, is_call, None)?;
        self.tell_start(index, true);
        self.close_part(index);
        Ok(())
    }

    /// Puts the first pinned piece in the place of an item.
    pub(super) fn replace(&mut self, key: u32) -> Result<(), ReplyError> {
        let Some((index, part)) = self.find(key) else {
            self.open(key)?;
            self.close(key);
            return Ok(());
        };
        self.text.remove(Span { at: part.at, len: part.len }, Some(index));
        self.text.take(part.at, 0, Some(index));
        self.tell_start(index, true);
        if part.flags & (CALL | SHOWN) == CALL
            && let Some(arguments) = self.text.part(index).and_then(|part| self.parts_of(part)[2])
        {
            self.show(Show::Arguments, arguments, Some(index));
        }
        self.close_part(index);
        Ok(())
    }
}
