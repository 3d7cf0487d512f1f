//! Where a piece goes: the string, list or object that it belongs to, made where it is missing.

use super::super::text::{Part, Span};
use super::{Applier, JsonKind, OBJECTLESS};
use crate::dialect::{Field, ReplyError};
use crate::json::Value;

impl Applier<'_, '_> {
    /// Makes sure that the part's slot is that of `field`: a string, or an array if `list`.
    pub(super) fn slot(&mut self, index: usize, field: u8, list: bool) -> Result<(), ReplyError> {
        let (Some(part), Some(Field { path, .. })) = (self.text.part(index), self.field(field)) else {
            return Ok(());
        };
        if part.field == field {
            return Ok(());
        }
        let (outer, key) = path.rsplit_once('/').unwrap_or(("", path));
        let item = self.text.value(part);
        let value = item.pointer(path).map(|value| self.place_in(part, value.raw()));
        let outer = item.pointer(outer).filter(|outer| outer.kind() == JsonKind::Object);
        let outer = outer.map(|outer| self.place_in(part, outer.raw()));
        let Some(outer) = outer else {
            return if self.make_outer(index, field)? {
                self.slot(index, field, list)
            } else {
                Err(OBJECTLESS)
            };
        };
        let end = self.make(index, value, outer, key, list)?;
        if let Some(part) = self.text.part(index) {
            self.text.set_part(index, Part { slot: end - part.at, field, ..part });
        }
        Ok(())
    }

    /// Makes sure that there is a string, or an array if `list`, at `value`, or as a new member `key` of the
    /// object at `outer`; gives where its next piece goes.
    pub(super) fn make(
        &mut self,
        index: usize,
        value: Option<Span>,
        outer: Span,
        key: &str,
        list: bool,
    ) -> Result<usize, ReplyError> {
        let empty = if list { "[]" } else { "\"\"" };
        if let Some(value) = value {
            let open = if list { '[' } else { '"' };
            if self.text.str(value).starts_with(open) {
                return Ok(value.at + value.len - 1);
            }
            if !matches!(self.text.str(value), "null" | "{}") {
                return Err(ReplyError::Shape { expected: "pieces of one kind" });
            }
            // The empty object stands for arguments to come.
            self.text.remove(value, Some(index));
            self.text.put(value.at, empty, Some(index))?;
            return Ok(value.at + 1);
        }
        let at = outer.at + 1;
        let bare = Value::from_checked(self.text.str(outer)).entries().next().is_none();
        let mut len = 0;
        let pieces = ["\"", key, "\":", empty, if bare { "" } else { "," }];
        self.text.reserve(pieces.iter().map(|piece| piece.len()).sum())?;
        for piece in pieces {
            self.text.put(at + len, piece, Some(index))?;
            len += piece.len();
        }
        Ok(at + key.len() + 4)
    }

    /// Makes the object that the pieces of `field` have their place in, as it is in [`Field::empty`]: the only item
    /// of an empty list, or a member of an object. Says whether that is there.
    fn make_outer(&mut self, index: usize, field: u8) -> Result<bool, ReplyError> {
        let (Some(part), Some(Field { path, empty, .. })) = (self.text.part(index), self.field(field)) else {
            return Ok(false);
        };
        let Some((outer, _)) = path.rsplit_once('/') else { return Ok(false) };
        let Some((parent, key)) = outer.rsplit_once('/') else { return Ok(false) };
        let (item, template) = (self.text.value(part), Value::from_checked(empty));
        let (Some(parent), Some(object)) = (item.pointer(parent), template.pointer(outer)) else {
            return Ok(false);
        };
        let comma = if parent.entries().next().is_none() { "" } else { "," };
        let pieces = match parent.kind() {
            JsonKind::Array if parent.item(0).is_none() => ["", "", "", object.raw(), ""],
            JsonKind::Object => ["\"", key, "\":", object.raw(), comma],
            _ => return Ok(false),
        };
        let mut at = self.place_in(part, parent.raw()).at + 1;
        self.text.reserve(pieces.iter().map(|piece| piece.len()).sum())?;
        for piece in pieces {
            self.text.put(at, piece, Some(index))?;
            at += piece.len();
        }
        self.forget_slot(index);
        Ok(true)
    }
}
