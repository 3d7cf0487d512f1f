//! Making the changes of an event to the text.

mod calls;
mod place;
mod tell;
mod whole;

use super::show::{Decoder, Watch};
use super::text::{CALL, CLOSED, NO_FIELD, NO_KEY, OPENED, Part, Span, Text};
use crate::dialect::{Change, Field, ReplyError, Shape, Show};
use crate::json::{self, Kind as JsonKind, MAX_DEPTH, Options, Value, decode_in_place, escape_in_place};

/// What a change is, in a record's first word; the field is in its second byte.
const MEMBER: u32 = 0;
const PIECE: u32 = 1;
const OPEN: u32 = 2;
const APPEND: u32 = 3;
const REPLACE: u32 = 4;
const CLOSE: u32 = 5;
const FINISH: u32 = 6;
const END: u32 = 7;
const SHOW: u32 = 8;
const EXTEND: u32 = 9;
const WHOLE: u32 = 10;
const GROW: u32 = 11;
const FILL: u32 = 12;
const REPEAT: u32 = 13;

/// The number of a field that is no field of the shape: the arguments of a call that comes in pieces.
const ARGUMENTS: u8 = 0xFE;

/// The depth at which arguments can stand in a whole form.
const OUTER_DEPTH: u16 = 12;

/// A change as its record: what, which, and the value of which a piece is taken.
pub(super) fn encode<'e>(change: &Change<'e>) -> (u32, u32, Option<Value<'e>>) {
    match *change {
        Change::Member { field, piece } => (MEMBER | u32::from(field) << 8, 0, Some(piece)),
        Change::Call { index, item } => (PIECE, index.unwrap_or(NO_KEY), Some(item)),
        Change::Open { key, item } => (OPEN, key, Some(item)),
        Change::Append { key, field, piece } => (APPEND | u32::from(field) << 8, key, Some(piece)),
        Change::Show { key, field, piece } => (SHOW | u32::from(field) << 8, key, Some(piece)),
        Change::Grow { key, field, piece } => (GROW | u32::from(field) << 8, key, Some(piece)),
        Change::Fill { key, field, value } => (FILL | u32::from(field) << 8, key, Some(value)),
        Change::Repeat { items } => (REPEAT, 0, Some(items)),
        Change::Extend { field, piece } => (EXTEND | u32::from(field) << 8, 0, Some(piece)),
        Change::Whole { item } => (WHOLE, NO_KEY, Some(item)),
        Change::Replace { key, item } => (REPLACE, key, Some(item)),
        Change::Close { key } => (CLOSE, key, None),
        Change::Finish { reason } => (FINISH, 0, Some(reason)),
        Change::End => (END, 0, None),
    }
}

/// Makes changes to a text.
pub(super) struct Applier<'a, 'm> {
    pub(super) shape: &'static Shape,
    pub(super) text: &'a mut Text<'m>,
    pub(super) calls_only: bool,
    pub(super) options: &'a Options,
    pub(super) decoder: &'a mut Decoder,
    pub(super) calls: &'a mut u16,
    /// The end marker, or the reason why the reply ended, has come.
    pub(super) ended: &'a mut bool,
    pub(super) watch: &'a mut Watch<'a>,
}

impl Applier<'_, '_> {
    /// Makes the changes that were recorded.
    pub(super) fn run(&mut self) -> Result<(), ReplyError> {
        while let Some([what, key]) = self.text.next_change() {
            let [what, field, ..] = what.to_le_bytes();
            match u32::from(what) {
                MEMBER => self.member(field)?,
                PIECE => self.call(key)?,
                OPEN => self.open(key)?,
                APPEND => self.append(key, field)?,
                SHOW => self.show_only(key, field),
                GROW => self.grow(key, field)?,
                FILL => self.fill(key, field)?,
                REPEAT => self.repeat()?,
                EXTEND => self.extend(field)?,
                WHOLE => self.whole()?,
                REPLACE => self.replace(key)?,
                CLOSE => self.close(key),
                FINISH => {
                    if self.text.str(self.pin()) != "null" {
                        self.text.take_reason();
                        self.tell_ends();
                        *self.ended = true;
                    }
                }
                _ => {
                    self.tell_ends();
                    *self.ended = true;
                }
            }
        }
        Ok(())
    }

    /// Makes calls that were begun and got no arguments yet look like that: text of which nothing came.
    pub(super) fn mark_open(&mut self) {
        for index in self.text.members()..self.text.parts() {
            let Some(part) = self.text.part(index).filter(|part| part.flags & (OPENED | CLOSED) == OPENED)
            else {
                continue;
            };
            if let Some(value) = self.raw_parts(part)[2].filter(|value| self.text.str(*value) == "{}")
                && let Some(place) = self.text.bytes.get_mut(value.at..value.at + value.len)
            {
                place.fill(b'"');
            }
        }
    }

    /// Takes all parts for whole: arguments that are text become what they say.
    pub(super) fn close_all(&mut self) {
        for index in 0..self.text.parts() {
            self.close_part(index);
        }
    }

    fn pin(&self) -> Span {
        let [first, ..] = self.text.pins;
        first
    }

    fn field(&self, field: u8) -> Option<&'static Field> {
        self.shape.fields.get(usize::from(field))
    }

    /// Adds a piece to a member beside the items.
    fn member(&mut self, field: u8) -> Result<(), ReplyError> {
        let Some(Field { path, show, .. }) = self.field(field) else { return Ok(()) };
        let Some(list) = self.pin_content() else { return Ok(()) };
        self.show(*show, self.pin(), None);
        if self.calls_only && *show != Show::Refusal || self.pin().len == 0 {
            return Ok(());
        }
        let mut found = None;
        for index in 0..self.text.members() {
            found = found.or(self.text.part(index).filter(|part| part.field == field).map(|_| index));
        }
        let index = match found {
            Some(index) => index,
            None => {
                let at = self.text.members_end();
                let mut len = 0;
                let pieces = [",\"", path, if list { "\":[]" } else { "\":\"\"" }];
                self.text.room_for_part()?;
                self.text.reserve(pieces.iter().map(|piece| piece.len()).sum())?;
                for piece in pieces {
                    self.text.put(at + len, piece, None)?;
                    len += piece.len();
                }
                let part = Part { key: NO_KEY, at, len, slot: len - 1, field, flags: CLOSED, call: 0 };
                self.text.add_part(true, part)?
            }
        };
        self.add(index, list)
    }

    /// Cuts the first pinned piece to what is inside a string or an array; says whether it is an array. One
    /// item alone stands for an array of it. `None` for what is nothing.
    fn pin_content(&mut self) -> Option<bool> {
        let piece = self.pin();
        let kind = Value::from_checked(self.text.str(piece)).kind();
        let list = match kind {
            JsonKind::String => false,
            JsonKind::Array | JsonKind::Object => true,
            _ => return None,
        };
        if kind != JsonKind::Object {
            let mut inner = Span { at: piece.at + 1, len: piece.len - 2 };
            // Items without the blanks around them, which are none if there is nothing else.
            if kind == JsonKind::Array {
                let blank = |c: char| c.is_ascii() && is_blank(c as u8);
                let (text, len) = (self.text.str(inner).trim_start_matches(blank), inner.len);
                inner.at += len - text.len();
                inner.len = text.trim_end_matches(blank).len();
            }
            self.text.pins[0] = inner;
        }
        Some(list)
    }

    /// Moves the first pinned piece to the part's slot.
    fn add(&mut self, index: usize, list: bool) -> Result<(), ReplyError> {
        let Some(part) = self.text.part(index) else { return Ok(()) };
        let at = part.at + part.slot;
        let mut len = self.pin().len;
        if len == 0 {
            return Ok(());
        }
        // Where text grows no item has a place, and the other way round.
        if self.text.bytes.get(at) != Some(if list { &b']' } else { &b'"' }) {
            return Err(ReplyError::Shape { expected: "pieces of one kind" });
        }
        let mut start = at;
        // An array may have come with blanks and nothing else in it.
        let before = self.text.bytes.get(..at).unwrap_or_default().iter();
        if list && before.rev().find(|byte| !is_blank(**byte)) != Some(&b'[') {
            self.text.put(at, ",", Some(index))?;
            start += 1;
            len += 1;
        }
        self.text.take(start, 0, Some(index));
        if let Some(part) = self.text.part(index) {
            self.text.set_part(index, Part { slot: part.slot + len, ..part });
        }
        Ok(())
    }

    /// The item that `key` leads to; the latest of several.
    fn find(&self, key: u32) -> Option<(usize, Part)> {
        (self.text.members()..self.text.parts())
            .rev()
            .find_map(|index| self.text.part(index).filter(|part| part.key == key).map(|part| (index, part)))
    }

    /// Begins an item with the first pinned piece.
    fn open(&mut self, key: u32) -> Result<(), ReplyError> {
        if let Some((index, _)) = self.find(key) {
            // The key counts another item now.
            self.close_part(index);
            if let Some(part) = self.text.part(index) {
                self.text.set_part(index, Part { key: NO_KEY, ..part });
            }
        }
        let item = self.pin();
        let value = Value::from_checked(self.text.str(item));
        let is_call = self.shape.call(value).is_some();
        if value.kind() != JsonKind::Object {
            return Err(ReplyError::Shape { expected: "an item that is an object" });
        }
        for Field { path, show, .. } in self.shape.fields {
            if matches!(show, Show::Text | Show::Reasoning)
                && path.starts_with('/')
                && !path.contains("/0/")
                && let Some(text) = Value::from_checked(self.text.str(item)).pointer(path)
                && let Some(text) = text.as_str()
            {
                let piece = self.text.place(item, text.raw());
                self.show(*show, piece, None);
            }
        }
        if self.calls_only && !is_call {
            return Ok(());
        }
        let index = self.item(key, is_call, None)?;
        if let Some(part) = self.text.part(index).filter(|_| is_call) {
            self.text.set_part(index, Part { flags: part.flags | OPENED, ..part });
            self.tell_start(index, true);
        }
        Ok(())
    }

    /// Adds an item at the end: the first pinned piece, or `text`.
    fn item(&mut self, key: u32, is_call: bool, text: Option<&str>) -> Result<usize, ReplyError> {
        self.text.room_for_part()?;
        self.text.reserve(1 + text.map_or(0, str::len))?;
        if self.text.parts() > self.text.members() {
            self.text.put(self.text.items_end(), ",", None)?;
        }
        let at = self.text.items_end();
        let len = match text {
            Some(text) => {
                self.text.put(at, text, None)?;
                text.len()
            }
            None => {
                let len = self.pin().len;
                self.text.take(at, 0, None);
                len
            }
        };
        let flags = if is_call { CALL } else { 0 };
        let part = Part { key, at, len, slot: 0, field: NO_FIELD, flags, call: *self.calls };
        let index = self.text.add_part(false, part)?;
        *self.calls = self.calls.saturating_add(u16::from(is_call));
        Ok(index)
    }

    /// Adds a piece to a field of an item.
    fn append(&mut self, key: u32, field: u8) -> Result<(), ReplyError> {
        let Some(Field { show, empty, .. }) = self.field(field) else { return Ok(()) };
        let Some(list) = self.pin_content() else { return Ok(()) };
        let index = match self.find(key) {
            Some((index, _)) => index,
            // An item that is not kept.
            None if self.calls_only => {
                if *show != Show::Arguments {
                    self.show(*show, self.pin(), None);
                }
                return Ok(());
            }
            None if empty.is_empty() => {
                return Err(ReplyError::Shape { expected: "the beginning of a block before its pieces" });
            }
            None => self.item(key, false, Some(empty))?,
        };
        self.show(*show, self.pin(), Some(index));
        if self.pin().len == 0 {
            return Ok(());
        }
        self.slot(index, field, list)?;
        self.add(index, list)
    }

    fn place_in(&self, part: Part, piece: &str) -> Span {
        self.text.place(Span { at: part.at, len: part.len }, piece)
    }

    fn close(&mut self, key: u32) {
        if let Some((index, _)) = self.find(key) {
            self.close_part(index);
        }
    }

    fn close_part(&mut self, index: usize) {
        if self.text.part(index).is_none_or(|part| part.flags & CLOSED != 0) {
            return;
        }
        for Field { path, show, .. } in self.shape.fields {
            if *show == Show::Arguments
                && let Some(part) = self.text.part(index)
                && let Some(value) = self.text.value(part).pointer(path)
            {
                let value = self.place_in(part, value.raw());
                self.settle(index, value);
            }
        }
        self.tell_end(index);
        if let Some(part) = self.text.part(index) {
            self.text.set_part(index, Part { flags: part.flags | CLOSED, ..part });
        }
    }

    /// Puts an object in the place of the string that holds its text. Text that is no object, or not quite,
    /// stays a string: the reader of the whole form takes it for what it is.
    fn settle(&mut self, index: usize, value: Span) {
        let Span { at, len } = value;
        let Some(text) = self.text.bytes.get_mut(at..at + len) else { return };
        if !matches!(text, [b'"', b'{', .., b'}', b'"']) || json::validate(text, self.options).is_err() {
            return;
        }
        let Some(content) = text.get_mut(1..len - 1) else { return };
        let decoded = decode_in_place(content);
        // It stands deeper here than in a text of its own.
        let max_depth = self.options.max_depth.min(MAX_DEPTH).saturating_sub(OUTER_DEPTH);
        let options = Options { max_depth, ..*self.options };
        let valid = content.get(..decoded).is_some_and(|text| json::validate(text, &options).is_ok());
        let used = if valid {
            text.copy_within(1..1 + decoded, 0);
            decoded
        } else {
            // No escape is shorter than the one that is written here.
            let escaped = escape_in_place(content, decoded).unwrap_or_default();
            if let Some(quote) = text.get_mut(1 + escaped) {
                *quote = b'"';
            }
            escaped + 2
        };
        self.text.remove(Span { at: at + used, len: len - used }, Some(index));
    }
}

const OBJECTLESS: ReplyError = ReplyError::Shape { expected: "the object that a piece belongs to" };
const NAMELESS: ReplyError = ReplyError::Shape { expected: "a call with name and arguments" };

/// Whether JSON has this byte between its tokens.
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
