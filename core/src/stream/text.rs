//! The text that a stream is put together in: the whole form, valid JSON at every moment, in one block of the
//! caller's memory, and behind it the event that is being read.
//!
//! What is kept of an event is moved from there into the text, so that both together never need more than
//! the text before and the event. A piece of an earlier item moves what comes after it.

use crate::dialect::{ReplyError, Shape};
use crate::json::Value;

/// A piece of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: usize,
    pub(super) len: usize,
}

/// A member or an item of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Which it is, in the provider's counting; [`NO_KEY`] if nothing leads to it.
    pub(super) key: u32,
    pub(super) at: usize,
    pub(super) len: usize,
    /// Where the next piece of the field that had the last one goes, from `at`.
    pub(super) slot: usize,
    /// That field, or [`NO_FIELD`].
    pub(super) field: u8,
    pub(super) flags: u8,
    /// For a call, its place among the calls.
    pub(super) call: u16,
}

/// The key of a part that no index leads to.
pub(super) const NO_KEY: u32 = u32::MAX;
/// No field of a part has had a piece yet.
pub(super) const NO_FIELD: u8 = u8::MAX;

/// It is a call for the client to run.
pub(super) const CALL: u8 = 1;
/// Those who watch know of it.
pub(super) const STARTED: u8 = 2;
/// Those who watch know that it is whole.
pub(super) const ENDED: u8 = 4;
/// It is whole.
pub(super) const CLOSED: u8 = 8;
/// It is a call whose beginning and end the provider tells.
pub(super) const OPENED: u8 = 16;
/// Those who watch were told of pieces of it that are not kept.
pub(super) const SHOWN: u8 = 32;

/// Words of a part's record.
const PART: usize = 5;
/// Words of a change's record.
const CHANGE: usize = 4;

/// The text, its parts, and what waits to be moved into it; see the [module](self).
#[derive(Debug)]
pub(super) struct Text<'m> {
    pub(super) bytes: &'m mut [u8],
    /// Records of parts from the front, of changes from the back.
    pub(super) words: &'m mut [u32],
    /// Bytes of the text.
    pub(super) len: usize,
    /// Where the members end and the list begins.
    list: usize,
    /// Where the items end.
    items_end: usize,
    /// The reason why the reply ended.
    reason: Span,
    members: usize,
    parts: usize,
    /// Where the event ends.
    pub(super) end: usize,
    /// Changes that were recorded, and those that were made.
    changes: usize,
    made: usize,
    /// The changes stand in the order of the event's text.
    ordered: bool,
    /// Pieces of the event that are still needed, beside those of the changes to come.
    pub(super) pins: [Span; 3],
}

impl<'m> Text<'m> {
    /// An empty text of this shape.
    pub(super) fn new(shape: &Shape, bytes: &'m mut [u8], words: &'m mut [u32]) -> Result<Self, ReplyError> {
        let mut text = Text::plain(bytes, words);
        text.list = shape.head.len();
        text.items_end = text.list + shape.list.len();
        text.reason = Span { at: text.items_end + shape.tail.len(), len: 4 };
        let pieces = [shape.head, shape.list, shape.tail, "null", shape.end];
        let need = pieces.iter().map(|piece| piece.len()).sum();
        for piece in pieces {
            let place = text.bytes.get_mut(text.len..text.len + piece.len());
            place.ok_or(ReplyError::NoSpace { words: 0, bytes: need })?.copy_from_slice(piece.as_bytes());
            text.len += piece.len();
        }
        text.end = text.len;
        Ok(text)
    }

    /// A text without a shape, of which only the bytes are used.
    pub(super) fn plain(bytes: &'m mut [u8], words: &'m mut [u32]) -> Self {
        let most = bytes.len().min(1 << 31);
        let (bytes, _) = bytes.split_at_mut(most);
        Text {
            bytes,
            words,
            len: 0,
            list: 0,
            items_end: 0,
            reason: Span::default(),
            members: 0,
            parts: 0,
            end: 0,
            changes: 0,
            made: 0,
            ordered: true,
            pins: [Span::default(); 3],
        }
    }

    /// The bytes of a piece, which are text.
    pub(super) fn str(&self, span: Span) -> &str {
        let bytes = self.bytes.get(span.at..span.at + span.len).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Where a value, or another piece of what [`Text::str`] gave for `outer`, stands.
    pub(super) fn place(&self, outer: Span, piece: &str) -> Span {
        let base = self.bytes.get(outer.at..).unwrap_or_default().as_ptr() as usize;
        Span { at: outer.at + (piece.as_ptr() as usize).wrapping_sub(base), len: piece.len() }
    }

    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    pub(super) fn members(&self) -> usize {
        self.members
    }

    pub(super) fn part(&self, index: usize) -> Option<Part> {
        let (records, _) = self.words.as_chunks::<PART>();
        let [key, at, len, slot, bits] = *records.get(..self.parts)?.get(index)?;
        let [field, flags, low, high] = bits.to_le_bytes();
        Some(Part {
            key,
            at: at as usize,
            len: len as usize,
            slot: slot as usize,
            field,
            flags,
            call: u16::from_le_bytes([low, high]),
        })
    }

    pub(super) fn set_part(&mut self, index: usize, part: Part) {
        let [low, high] = part.call.to_le_bytes();
        let bits = u32::from_le_bytes([part.field, part.flags, low, high]);
        let (records, _) = self.words.as_chunks_mut::<PART>();
        if let Some(record) = records.get_mut(index) {
            *record = [part.key, narrow(part.at), narrow(part.len), narrow(part.slot), bits];
        }
    }

    /// Whether no item has come yet, or one is not whole.
    pub(super) fn has_open_items(&self) -> bool {
        let mut items = (self.members..self.parts).filter_map(|index| self.part(index));
        self.members == self.parts || items.any(|part| part.flags & CLOSED == 0)
    }

    /// The value of a part that is an item.
    pub(super) fn value(&self, part: Part) -> Value<'_> {
        Value::from_checked(self.str(Span { at: part.at, len: part.len }))
    }

    /// Whether there is room for one more record.
    pub(super) fn room_for_part(&self) -> Result<(), ReplyError> {
        let waiting = if self.made < self.changes { self.changes * CHANGE } else { 0 };
        let words = (self.parts + 1) * PART + waiting;
        if words > self.words.len() { Err(ReplyError::NoSpace { words, bytes: self.end }) } else { Ok(()) }
    }

    /// Puts a new part's record in its place: a member after the members, an item after the items.
    pub(super) fn add_part(&mut self, member: bool, part: Part) -> Result<usize, ReplyError> {
        self.room_for_part()?;
        let index = if member { self.members } else { self.parts };
        self.words.copy_within(index * PART..self.parts * PART, (index + 1) * PART);
        self.parts += 1;
        self.members += usize::from(member);
        self.set_part(index, part);
        Ok(index)
    }

    /// Where a new member goes.
    pub(super) fn members_end(&self) -> usize {
        self.list
    }

    /// Where a new item goes.
    pub(super) fn items_end(&self) -> usize {
        self.items_end
    }

    /// Puts the first pinned piece in the place of the reason.
    pub(super) fn take_reason(&mut self) {
        let (old, len) = (self.reason, self.pins[0].len);
        self.take(old.at, 0, None);
        self.remove(Span { at: old.at + len, len: old.len }, None);
        self.reason = Span { at: old.at, len };
    }

    // The changes of an event.

    /// Records a change, to be made when the event is not looked at any more.
    pub(super) fn record(words: &mut [u32], parts: usize, changes: &mut Changes, change: [u32; CHANGE]) {
        let [_, _, at, len] = change;
        if len > 0 {
            changes.ordered &= at >= changes.last;
            changes.last = at;
            changes.end = changes.end.max(at.saturating_add(len));
        }
        changes.count += 1;
        let start = words.len().checked_sub(changes.count * CHANGE).filter(|start| *start >= parts * PART);
        if let Some(place) = start.and_then(|start| words.get_mut(start..)?.first_chunk_mut()) {
            *place = change;
        }
    }

    /// Takes over what was recorded.
    pub(super) fn begin(&mut self, changes: Changes) -> Result<(), ReplyError> {
        let end = self.len.max(changes.end as usize);
        (self.changes, self.made, self.ordered, self.end) = (changes.count, 0, changes.ordered, end);
        let needed = self.parts * PART + changes.count * CHANGE;
        if needed > self.words.len() {
            return Err(ReplyError::NoSpace { words: needed, bytes: end });
        }
        Ok(())
    }

    /// The next change; its piece is pinned, as the first.
    pub(super) fn next_change(&mut self) -> Option<[u32; 2]> {
        let [what, key, at, len] = self.change(self.made)?;
        self.made += 1;
        self.pins = [Span { at: at as usize, len: len as usize }, Span::default(), Span::default()];
        Some([what, key])
    }

    fn change(&self, index: usize) -> Option<[u32; CHANGE]> {
        if index >= self.changes {
            return None;
        }
        let start = self.words.len().checked_sub((index + 1) * CHANGE)?;
        self.words.get(start..)?.first_chunk().copied()
    }

    /// The first byte of the event that is still needed; the bytes before it are free.
    fn floor(&self) -> usize {
        let pins = self.pins.iter().filter(|pin| pin.len > 0).map(|pin| pin.at);
        let waiting = (self.made..self.changes).filter_map(|index| self.change(index));
        let waiting = waiting.filter(|[.., len]| *len > 0).map(|[_, _, at, _]| at as usize);
        let most = if self.ordered { 1 } else { usize::MAX };
        pins.chain(waiting.take(most)).min().unwrap_or(self.end)
    }

    /// Moves what is needed of the event, where it starts from `from` and before `to`, up by `by`.
    fn moved(&mut self, from: usize, to: usize, by: usize) {
        let within = from..to;
        for pin in &mut self.pins {
            if within.contains(&pin.at) {
                pin.at += by;
            }
        }
        for index in self.made..self.changes {
            let Some([what, key, at, len]) = self.change(index) else { continue };
            let at = at as usize;
            if within.contains(&at) && len > 0 {
                let start = self.words.len() - (index + 1) * CHANGE;
                if let Some(place) = self.words.get_mut(start..).and_then(|rest| rest.first_chunk_mut()) {
                    *place = [what, key, narrow(at + by), len];
                }
            } else if self.ordered && at >= to {
                break;
            }
        }
    }

    // Changing the text.

    /// Makes room for so many bytes of literals: what is needed of the event moves up.
    pub(super) fn reserve(&mut self, len: usize) -> Result<(), ReplyError> {
        let floor = self.floor();
        let short = (self.len + len).saturating_sub(floor);
        if short > 0 {
            let need = self.end + short;
            if need > self.bytes.len() {
                return Err(ReplyError::NoSpace { words: 0, bytes: need });
            }
            self.bytes.copy_within(floor..self.end, floor + short);
            self.moved(floor, self.end, short);
            self.end = need;
        }
        Ok(())
    }

    /// Puts `text` into the text at `at`, as a piece of the part `owner`. Several that only make sense
    /// together are reserved together before.
    pub(super) fn put(&mut self, at: usize, text: &str, owner: Option<usize>) -> Result<(), ReplyError> {
        let len = text.len();
        self.reserve(len)?;
        self.bytes.copy_within(at..self.len, at + len);
        if let Some(place) = self.bytes.get_mut(at..at + len) {
            place.copy_from_slice(text.as_bytes());
        }
        self.grown(at, len, owner);
        Ok(())
    }

    /// Moves the pinned piece of the event into the text at `at`, as a piece of the part `owner`.
    pub(super) fn take(&mut self, at: usize, pin: usize, owner: Option<usize>) {
        let Some(place) = self.pins.get_mut(pin) else { return };
        let Span { at: from, len } = core::mem::take(place);
        if len == 0 {
            return;
        }
        let floor = self.floor().min(from);
        if self.len + len <= floor {
            self.bytes.copy_within(at..self.len, at + len);
            self.bytes.copy_within(from..from + len, at);
        } else if let Some(all) = self.bytes.get_mut(at..from + len) {
            all.rotate_right(len);
            self.moved(self.len, from, len);
        }
        self.grown(at, len, owner);
    }

    /// Takes a piece out of the text, which belongs to the part `owner`.
    pub(super) fn remove(&mut self, span: Span, owner: Option<usize>) {
        self.bytes.copy_within(span.at + span.len..self.len, span.at);
        self.len -= span.len;
        for place in [&mut self.list, &mut self.items_end, &mut self.reason.at] {
            if *place > span.at {
                *place -= span.len;
            }
        }
        let Some(owner) = owner else { return };
        for index in owner..self.parts {
            let Some(mut part) = self.part(index) else { continue };
            if index == owner {
                part.len -= span.len;
                part.field = NO_FIELD;
            } else {
                part.at -= span.len;
            }
            self.set_part(index, part);
        }
    }

    /// Counts what was put into the text at `at`.
    fn grown(&mut self, at: usize, len: usize, owner: Option<usize>) {
        self.len += len;
        self.end = self.end.max(self.len);
        for place in [&mut self.list, &mut self.items_end, &mut self.reason.at] {
            if *place >= at {
                *place += len;
            }
        }
        // What belongs to no part yet comes before all items, or after them.
        let first = owner.unwrap_or(if at < self.items_end - len { self.members } else { self.parts });
        for index in first..self.parts {
            let Some(mut part) = self.part(index) else { continue };
            if Some(index) == owner {
                part.len += len;
            } else {
                part.at += len;
            }
            self.set_part(index, part);
        }
    }
}

/// The changes that were recorded of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    pub(super) count: usize,
    pub(super) ordered: bool,
    last: u32,
    /// Where the last piece that is needed ends.
    end: u32,
}

impl Changes {
    pub(super) const NONE: Changes = Changes { count: 0, ordered: true, last: 0, end: 0 };
}

/// No memory of more than 2 GiB is used.
pub(super) fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
