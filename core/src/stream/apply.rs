//! Making the changes of an event to the text.

mod whole;

use super::show::{Decoder, Kind, StreamEvent, Watch, cut};
use super::text::{CALL, CLOSED, ENDED, NO_FIELD, NO_KEY, OPENED, Part, STARTED, Span, Text};
use crate::dialect::{CallParts, Change, Field, ReplyError, Shape, Show};
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
            self.text.pins[0] = Span { at: piece.at + 1, len: piece.len - 2 };
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
        let mut start = at;
        if list && self.text.str(Span { at: at - 1, len: 1 }) != "[" {
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

    /// Makes sure that the part's slot is that of `field`: a string, or an array if `list`.
    fn slot(&mut self, index: usize, field: u8, list: bool) -> Result<(), ReplyError> {
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
    fn make(
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

    // Calls that come in pieces.

    /// Adds a piece of a call. A present index wins, unless the call that it leads to has another id than the
    /// piece: then the id decides, and one that is new is another call (some servers give all calls one index).
    /// Without an index the id decides, and without both it is the call
    /// that was begun last.
    fn call(&mut self, key: u32) -> Result<(), ReplyError> {
        let item = self.pin();
        let [id, name, arguments] = self.pieces(item);
        let is_text = self.is_text(arguments);
        let found = match (key, id) {
            (NO_KEY, Some(id)) => self.find_id(id),
            (NO_KEY, None) => self.text.parts().checked_sub(1).filter(|last| *last >= self.text.members()),
            (_, id) => self.find(key).map(|(index, part)| match (self.parts_of(part)[0], id) {
                (Some(known), Some(id)) if !self.same(known, id) => self.find_id_of(id, key).unwrap_or(index),
                _ => index,
            }),
        };
        let Some(index) = found else {
            if key == NO_KEY && id.is_none() {
                return Err(ReplyError::Shape { expected: "an index or an id in a piece of a call" });
            }
            return self.new_call(key, item);
        };
        let Some(part) = self.text.part(index) else { return Ok(()) };
        if id.is_none() && name.is_none() && part.field == ARGUMENTS {
            self.text.pins = [arguments.unwrap_or_default(), Span::default(), Span::default()];
            return self.call_arguments(index, is_text);
        }
        let [known_id, known_name, known_arguments] = self.parts_of(part);
        let other = match (known_id, id) {
            (Some(known), Some(id)) => !self.same(known, id),
            // A name after arguments that are whole, and arguments for it: the next call without an id.
            _ => {
                let begins = name.is_some() && arguments.is_some_and(|piece| piece.len > 0);
                begins && known_arguments.is_some_and(|known| self.is_whole(known))
            }
        };
        if other {
            return self.new_call(key, item);
        }
        // A name that is repeated is not a piece, and none comes after arguments.
        let name = name.filter(|name| match known_name {
            Some(known) => !self.same(known, *name) && known_arguments.is_none_or(|known| known.len == 0),
            None => true,
        });
        self.text.pins = [arguments, id.filter(|_| known_id.is_none()), name].map(Option::unwrap_or_default);
        let value = self.text.value(part);
        let parts = self.shape.call(value).unwrap_or_default();
        let raw = |value: Option<Value<'_>>| value.map(|value| self.place_in(part, value.raw()));
        let targets = [raw(parts.id), raw(parts.name)];
        if self.text.pins[1].len > 0 {
            let outer = Span { at: part.at, len: part.len };
            let at = self.make(index, targets[0], outer, "id", false)?;
            self.text.take(at, 1, Some(index));
            self.forget_slot(index);
        }
        if self.text.pins[2].len > 0 {
            let name = self.text.part(index).and_then(|part| self.raw_parts(part)[1]);
            let Some(name) = name else { return Err(NAMELESS) };
            let at = self.make(index, Some(name), name, "", false)?;
            self.text.take(at, 2, Some(index));
            self.forget_slot(index);
        }
        if arguments.is_some() || known_arguments.is_some_and(|known| known.len > 0) {
            self.tell_start(index, false);
        }
        self.call_arguments(index, is_text)
    }

    /// Adds the first pinned piece, of arguments, to a call: a piece of their text, or the whole of them.
    fn call_arguments(&mut self, index: usize, is_text: bool) -> Result<(), ReplyError> {
        let piece = self.pin();
        if piece.len == 0 {
            return Ok(());
        }
        self.show(Show::Arguments, piece, Some(index));
        if !is_text {
            let value = self.text.part(index).and_then(|part| self.raw_parts(part)[2]);
            let value = value.filter(|value| matches!(self.text.str(*value), "\"\"" | "null" | "{}"));
            let Some(value) = value else { return Err(NAMELESS) };
            self.text.remove(value, Some(index));
            self.text.take(value.at, 0, Some(index));
            return Ok(());
        }
        if let Some(part) = self.text.part(index).filter(|part| part.field != ARGUMENTS) {
            let Some(value) = self.raw_parts(part)[2] else { return Err(NAMELESS) };
            let at = self.make(index, Some(value), value, "", false)?;
            if let Some(part) = self.text.part(index) {
                self.text.set_part(index, Part { slot: at - part.at, field: ARGUMENTS, ..part });
            }
        }
        self.add(index, false)
    }

    /// Begins a call with a piece: as the piece stands, if there is a place for all that is still to come.
    fn new_call(&mut self, key: u32, item: Span) -> Result<(), ReplyError> {
        self.text.pins = [item, Span::default(), Span::default()];
        let value = Value::from_checked(self.text.str(item));
        let CallParts { name, arguments, .. } = self.shape.call(value).unwrap_or_default();
        let is = |value: Option<Value<'_>>, kinds: &[JsonKind]| {
            value.is_some_and(|value| kinds.contains(&value.kind()))
        };
        let ready = is(name, &[JsonKind::String]) && is(arguments, &[JsonKind::String, JsonKind::Object]);
        if ready {
            let index = self.item(key, true, None)?;
            self.tell_start(index, false);
            return Ok(());
        }
        let [id, name, arguments] = self.pieces(item);
        let is_text = self.is_text(arguments);
        self.text.pins = [arguments, id, name].map(Option::unwrap_or_default);
        let index = self.item(key, true, Some(self.shape.empty_call))?;
        for pin in [1, 2] {
            let [id, name, _] = self.text.part(index).map(|part| self.raw_parts(part)).unwrap_or_default();
            if let Some(target) = if pin == 1 { id } else { name } {
                self.text.take(target.at + target.len - 1, pin, Some(index));
            }
        }
        if arguments.is_some() {
            self.tell_start(index, false);
            self.call_arguments(index, is_text)?;
        }
        Ok(())
    }

    fn forget_slot(&mut self, index: usize) {
        if let Some(part) = self.text.part(index) {
            self.text.set_part(index, Part { field: NO_FIELD, ..part });
        }
    }

    /// Where id, name and arguments of a piece stand, without quotes; those that are empty are not there, but
    /// for arguments.
    fn pieces(&self, item: Span) -> [Option<Span>; 3] {
        let value = Value::from_checked(self.text.str(item));
        let CallParts { id, name, arguments, .. } = self.shape.call(value).unwrap_or_default();
        let content = |value: Value<'_>| {
            let text = value.as_str().map_or(value.raw(), |text| text.raw());
            (!value.is_null()).then(|| self.text.place(item, text))
        };
        let filled = |value: Value<'_>| content(value).filter(|span| span.len > 0);
        [id.and_then(filled), name.and_then(filled), arguments.and_then(content)]
    }

    /// Whether a piece that [`pieces`](Self::pieces) gave is inside a string.
    fn is_text(&self, piece: Option<Span>) -> bool {
        piece.is_none_or(|piece| self.text.str(Span { at: piece.at - 1, len: 1 }) == "\"")
    }

    fn parts_of(&self, part: Part) -> [Option<Span>; 3] {
        self.pieces(Span { at: part.at, len: part.len })
    }

    /// Where id, name and arguments of a call stand, with their quotes.
    fn raw_parts(&self, part: Part) -> [Option<Span>; 3] {
        let CallParts { id, name, arguments, .. } =
            self.shape.call(self.text.value(part)).unwrap_or_default();
        [id, name, arguments].map(|value| value.map(|value| self.place_in(part, value.raw())))
    }

    /// Whether two pieces spell the same text.
    fn same(&self, a: Span, b: Span) -> bool {
        json::Str::new(self.text.str(a)) == json::Str::new(self.text.str(b))
    }

    /// The latest call with this id.
    fn find_id(&self, id: Span) -> Option<usize> {
        (self.text.members()..self.text.parts()).rev().find(|index| self.has_id(*index, id))
    }

    /// The latest call with this id and this key.
    fn find_id_of(&self, id: Span, key: u32) -> Option<usize> {
        let mut parts = (self.text.members()..self.text.parts()).rev();
        parts.find(|index| {
            self.text.part(*index).is_some_and(|part| part.key == key) && self.has_id(*index, id)
        })
    }

    fn has_id(&self, index: usize, id: Span) -> bool {
        let known = self.text.part(index).and_then(|part| self.parts_of(part)[0]);
        known.is_some_and(|known| self.same(known, id))
    }

    /// Whether the text of arguments is one JSON value, so that nothing can follow it.
    fn is_whole(&self, arguments: Span) -> bool {
        let text = json::Str::new(self.text.str(arguments));
        let (mut depth, mut inside, mut escaped, mut whole) = (0usize, false, false, false);
        for c in text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\r' | '\t')) {
            whole = false;
            match c {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                '{' | '[' if !inside => depth += 1,
                '}' | ']' if !inside => {
                    depth = depth.saturating_sub(1);
                    whole = depth == 0;
                }
                _ => {}
            }
        }
        whole
    }

    // Telling those who watch.

    fn show(&mut self, show: Show, piece: Span, index: Option<usize>) {
        let kind = match (show, index.and_then(|index| self.text.part(index))) {
            (Show::Text | Show::Refusal, _) => Kind::Text,
            (Show::Reasoning, _) => Kind::Reasoning,
            (Show::Arguments, Some(part)) if part.flags & STARTED != 0 => {
                Kind::Arguments(usize::from(part.call))
            }
            _ => return,
        };
        self.decoder.tell(kind, self.text.str(piece), self.watch);
    }

    /// Tells that a call has begun, once its name is there or `now`.
    fn tell_start(&mut self, index: usize, now: bool) {
        let Some(part) = self.text.part(index) else { return };
        let [id, name, arguments] = self.parts_of(part);
        if part.flags & (CALL | STARTED) != CALL || name.is_none() && !now {
            return;
        }
        let (mut ids, mut names) = ([0; 128], [0; 128]);
        let read = |span: Option<Span>| json::Str::new(span.map_or("", |span| self.text.str(span)));
        let event = StreamEvent::CallStart {
            index: usize::from(part.call),
            id: cut(read(id), &mut ids),
            name: cut(read(name), &mut names),
        };
        (self.watch)(event);
        self.text.set_part(index, Part { flags: part.flags | STARTED, ..part });
        // An empty object stands for arguments to come.
        let so_far = arguments.filter(|piece| part.flags & OPENED == 0 || self.text.str(*piece) != "{}");
        if let Some(piece) = so_far {
            self.show(Show::Arguments, piece, Some(index));
        }
    }

    fn tell_end(&mut self, index: usize) {
        self.tell_start(index, true);
        let Some(part) = self.text.part(index) else { return };
        if part.flags & (CALL | ENDED) == CALL {
            (self.watch)(StreamEvent::CallEnd { index: usize::from(part.call) });
            self.text.set_part(index, Part { flags: part.flags | ENDED, ..part });
        }
    }

    /// Tells the end of all calls, at the end of the reply.
    fn tell_ends(&mut self) {
        for index in self.text.members()..self.text.parts() {
            self.tell_end(index);
        }
    }
}

const OBJECTLESS: ReplyError = ReplyError::Shape { expected: "the object that a piece belongs to" };
const NAMELESS: ReplyError = ReplyError::Shape { expected: "a call with name and arguments" };
