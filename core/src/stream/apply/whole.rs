//! Items that come whole, and what comes beside them: pieces for those who watch alone, and runs of text.

use super::super::show::Kind;
use super::super::text::{CALL, CLOSED, NO_KEY, Part, SHOWN, Span};
use super::{Applier, JsonKind};
use crate::dialect::{Field, ReplyError, Show};
use crate::json::{Reader, Value};

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
            self.show_item();
            self.open(key)?;
            self.close(key);
            return Ok(());
        };
        if part.flags & SHOWN == 0 {
            self.show_item();
        }
        // Of the words of a refusal no more comes than that.
        if self.calls_only && part.flags & CALL == 0 {
            self.close_part(index);
            return Ok(());
        }
        self.text.remove(Span { at: part.at, len: part.len }, Some(index));
        self.text.take(part.at, 0, Some(index));
        self.tell_start(index, true);
        if part.flags & (CALL | SHOWN) == CALL
            && let Some(arguments) = self.text.part(index).and_then(|part| self.parts_of(part)[2])
        {
            self.show(Show::Arguments, arguments, Some(index));
        }
        // Its arguments are text once more.
        if let Some(part) = self.text.part(index) {
            self.text.set_part(index, Part { flags: part.flags & !CLOSED, ..part });
        }
        self.close_part(index);
        Ok(())
    }

    /// Adds a piece to a field of an item that comes once more.
    pub(super) fn grow(&mut self, key: u32, field: u8) -> Result<(), ReplyError> {
        let Some(Field { show, empty, .. }) = self.field(field) else { return Ok(()) };
        if empty.is_empty() && self.find(key).is_none() {
            return Ok(());
        }
        if self.calls_only && *show != Show::Refusal {
            self.show_only(key, field);
            return Ok(());
        }
        if self.find(key).is_none() {
            self.item(key, false, Some(empty))?;
        }
        self.append(key, field)?;
        if let Some((index, part)) = self.find(key) {
            self.text.set_part(index, Part { flags: part.flags | SHOWN, ..part });
        }
        Ok(())
    }

    /// Puts the first pinned piece in the place of a field's value, and ends the item.
    pub(super) fn fill(&mut self, key: u32, field: u8) -> Result<(), ReplyError> {
        let Some((index, part)) = self.find(key).filter(|(_, part)| part.flags & CLOSED == 0) else {
            return Ok(());
        };
        let Some(Field { show, path, .. }) = self.field(field) else { return Ok(()) };
        if Value::from_checked(self.text.str(self.pin())).kind() != JsonKind::String {
            return Ok(());
        }
        let Some(value) = self.text.value(part).pointer(path).map(|value| self.place_in(part, value.raw()))
        else {
            return Ok(());
        };
        if part.flags & SHOWN == 0 {
            let Span { at, len } = self.pin();
            self.show(*show, Span { at: at + 1, len: len - 2 }, Some(index));
            self.text.set_part(index, Part { flags: part.flags | SHOWN, ..part });
        }
        self.text.remove(value, Some(index));
        self.text.take(value.at, 0, Some(index));
        self.close_part(index);
        Ok(())
    }

    /// Takes the items that have not come, or are not whole, from the first pinned piece, the list of all.
    pub(super) fn repeat(&mut self) -> Result<(), ReplyError> {
        let list = self.pin();
        if !self.text.str(list).starts_with('[') {
            return Ok(());
        }
        // What is left of the list stays pinned.
        self.text.pins = [Span::default(), Span { at: list.at + 1, len: list.len - 1 }, Span::default()];
        for key in 0.. {
            let rest = self.text.pins[1];
            let text = self.text.str(rest);
            let start = text.trim_start_matches([' ', '\t', '\n', '\r', ',']);
            let before = text.len() - start.len();
            let Ok(item) = Reader::checked(start).skip_value() else { break };
            let (len, outline) = (item.raw().len(), item.entries().nth(1).is_none());
            let wanted = !self.calls_only || self.shape.call(item).is_some();
            let used = before + len;
            self.text.pins = [
                Span { at: rest.at + before, len },
                Span { at: rest.at + used, len: rest.len - used },
                Span::default(),
            ];
            let whole = self.find(key).is_some_and(|(_, part)| part.flags & CLOSED != 0);
            if whole || !wanted {
                continue;
            }
            if outline {
                return Err(ReplyError::Shape { expected: "an event for each item of the response" });
            }
            self.replace(key)?;
        }
        self.text.pins[1] = Span::default();
        Ok(())
    }

    /// Tells those who watch of what is in the first pinned piece, an item.
    fn show_item(&mut self) {
        let Applier { shape, text, decoder, watch, .. } = self;
        let [item, ..] = text.pins;
        (shape.shown)(Value::from_checked(text.str(item)), &mut |field, piece| {
            let show = shape.fields.get(usize::from(field)).map(|field| field.show);
            let kind = if show == Some(Show::Reasoning) { Kind::Reasoning } else { Kind::Text };
            if let Some(piece) = piece.as_str() {
                decoder.tell(kind, piece.raw(), *watch);
            }
        });
    }
}
