//! The calls of a reply as records: where id, name and arguments of each stand, and by which id it is known.
//!
//! What has to be decoded, minted or made to fit stands in the decoded text, all else in the reply itself.
//! When the calls have been read, each that has no id gets one, and one whose id is another call's, or is
//! not allowed, gets one that goes out in its place.

use super::ids::{MAPPED as MAPPED_LEN, MINTED, Mint, WINDOW, hash};
use super::reply::Origin;
use super::{CallParts, IdRule, Item, Piece};
use crate::json::{Kind, Str, Value};
use crate::sink::Sink;

/// Start and length of id, name, arguments and toolset, the start of the id that goes out, and flags.
pub(super) const RECORD: usize = 10;
/// Set in a start that counts from the beginning of the decoded text, not of the reply.
pub(super) const DECODED: u32 = 1 << 31;
/// The flag of a call whose id is the provider's.
pub(super) const HAS_ID: u32 = 1;
/// The flag of a call that is cut off.
pub(super) const TRUNCATED: u32 = 2;
/// The flag of a call that takes free text.
pub(super) const CUSTOM: u32 = 4;
/// The flag of a call for whose id another goes out.
pub(super) const OTHER_ID: u32 = 8;

/// The flag of a call whose id is no string, such as a number: it goes out as one.
pub(super) const BARE_ID: u32 = 16;

/// Bytes of an id that goes out for another.
pub(super) const MAPPED: u32 = 9;
const _: () = assert!(MAPPED as usize == MAPPED_LEN);

/// The text of a span.
pub(super) fn span<'r>(text: &'r str, decoded: &'r str, at: u32, len: u32) -> &'r str {
    let base = if at & DECODED != 0 { decoded } else { text };
    let start = (at & !DECODED) as usize;
    base.get(start..start + len as usize).unwrap_or_default()
}

/// Turns calls into records, and counts on when there is no place left.
pub(super) struct CallReader<'r, 'w> {
    text: &'r str,
    sink: Sink<'w>,
    records: &'w mut [[u32; RECORD]],
    count: usize,
    origin: Origin,
    rule: IdRule,
    /// Underscores after `toolcore` in a minted id: one more than in any id of the reply.
    marks: usize,
    /// How many of the calls have an id that goes as it is, and how many one that does not.
    fitting: usize,
    unfit: usize,
    /// Digits beyond the first of the places of all calls without an id.
    more_digits: usize,
    /// Of those that go as they are, which there is no place to keep.
    seen: Seen,
}

/// Which texts there were, by their hashes: to tell how many differ, where there is no memory to compare
/// them.
#[derive(Default)]
struct Seen {
    bits: [u64; 16],
}

impl Seen {
    fn add(&mut self, text: impl Iterator<Item = char>) {
        let hash = hash(text);
        if let Some(bits) = self.bits.get_mut((hash >> 6 & 0xF) as usize) {
            *bits |= 1 << (hash & 0x3F);
        }
    }

    fn count(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }
}

impl<'r, 'w> CallReader<'r, 'w> {
    pub(super) fn new(
        text: &'r str,
        sink: Sink<'w>,
        records: &'w mut [[u32; RECORD]],
        origin: Origin,
        rule: IdRule,
    ) -> Self {
        CallReader {
            text,
            sink,
            records,
            count: 0,
            origin,
            rule,
            marks: 1,
            fitting: 0,
            unfit: 0,
            more_digits: 0,
            seen: Seen::default(),
        }
    }

    pub(super) fn item(&mut self, item: Item<'r>) {
        match item {
            Item::Call(CallParts { id, name, arguments, encoded, custom, toolset, incomplete }) => {
                let name = name.filter(|name| name.as_str().is_some()).map(|name| self.span(name));
                let arguments = arguments.filter(|value| !value.is_null());
                let cut = incomplete || self.origin.partial && !arguments.is_some_and(is_whole);
                let encoded = encoded || self.origin.streamed;
                let arguments =
                    arguments.map(|value| if encoded { self.span(value) } else { self.place(value.raw()) });
                let toolset = toolset.filter(|name| name.as_str().is_some()).map(|name| self.span(name));
                let flags = if custom { CUSTOM } else { 0 } | if cut { TRUNCATED } else { 0 };
                self.record(id.map(Piece::Json), [name, arguments, toolset], flags);
            }
            Item::TextCall(call) => {
                let name = self.piece(call.name);
                let arguments = call.arguments.map(|arguments| self.piece(arguments));
                let flags = if call.incomplete { TRUNCATED } else { 0 };
                self.record(call.id, [Some(name), arguments, None], flags);
            }
            Item::Text(_) | Item::Beside(_) | Item::Plain(_) => {}
        }
    }

    fn piece(&mut self, piece: Piece<'r>) -> (u32, u32) {
        match piece {
            Piece::Json(value) => self.span(value),
            Piece::Plain(text) => self.place(text),
        }
    }

    /// Notes a call: its id, and where name, arguments and toolset stand.
    fn record(&mut self, id: Option<Piece<'r>>, parts: [Option<(u32, u32)>; 3], flags: u32) {
        let id = id.filter(|id| !id.is_nothing());
        let mut flags = flags | if id.is_some() { HAS_ID } else { 0 };
        if matches!(id, Some(Piece::Json(id)) if id.as_str().is_none()) {
            flags |= BARE_ID;
        }
        let (id_at, id_len) = match id {
            Some(id) => self.id(id),
            None => {
                self.more_digits += self.count.checked_ilog10().unwrap_or(0) as usize;
                (0, 0)
            }
        };
        let [(name_at, name_len), (args_at, args_len), (set_at, set_len)] =
            parts.map(Option::unwrap_or_default);
        if let Some(place) = self.records.get_mut(self.count) {
            *place = [id_at, id_len, name_at, name_len, args_at, args_len, set_at, set_len, 0, flags];
        }
        self.count += 1;
    }

    /// Where an id stands. One that looks like a minted one makes the minted ones longer.
    fn id(&mut self, id: Piece<'r>) -> (u32, u32) {
        let text = id.text();
        if let Some(plain) = text.plain() {
            if let Some(rest) = plain.strip_prefix(MINTED) {
                let marks = rest.bytes().take_while(|byte| *byte == b'_').count();
                self.marks = self.marks.max(marks + 1);
            }
            let fits = self.rule.allows_text(plain);
            self.count_id(text, fits);
            return self.place(plain);
        }
        if text.chars().take(MINTED.len()).eq(MINTED.chars()) {
            let marks = text.chars().skip(MINTED.len()).take_while(|c| *c == '_').count();
            self.marks = self.marks.max(marks + 1);
        }
        let fits = self.rule.allows(text.chars());
        self.count_id(text, fits);
        self.piece(id)
    }

    fn count_id(&mut self, text: Str<'r>, fits: bool) {
        self.fitting += usize::from(fits);
        self.unfit += usize::from(!fits);
        if fits && self.count >= self.records.len() {
            self.seen.add(text.chars());
        }
    }

    /// Marks the last call as cut off.
    pub(super) fn cut_last(&mut self) {
        if let Some([.., flags]) = self.count.checked_sub(1).and_then(|last| self.records.get_mut(last)) {
            *flags |= TRUNCATED;
        }
    }

    /// Marks every call as one that must not be executed.
    pub(super) fn cut_all(&mut self) {
        for [.., flags] in self.records.iter_mut().take(self.count) {
            *flags |= TRUNCATED;
        }
    }

    /// Gives each call that has no id one that no other has: `toolcore_0` for the first call of a reply. One
    /// whose id is not allowed, or, if they are told `apart`, is that of a call before it, gets one that goes
    /// out in its place. Minted ids are `local` if they never go out. Gives the number of calls, the bytes
    /// of decoded text, and whether they did not fit.
    pub(super) fn finish(mut self, apart: bool, local: bool, turn: u32) -> (usize, usize, bool) {
        let mint = Mint { marks: self.marks, turn };
        if self.count > self.records.len() || self.sink.overflowed() {
            return (self.count, self.sink.len() + self.size_of_made(apart, mint), true);
        }
        for index in 0..self.count {
            self.settle(index, apart, local, mint);
        }
        (self.count, self.sink.len(), self.sink.overflowed())
    }

    /// Bytes of the ids that [`CallReader::finish`] makes, or a few more.
    fn size_of_made(&mut self, apart: bool, mint: Mint) -> usize {
        for &[id_at, id_len, .., flags] in self.records.iter().take(self.count) {
            if flags & HAS_ID == 0 {
                continue;
            }
            let id = read(self.text, &self.sink, id_at, id_len);
            if self.rule.allows(id.chars()) {
                self.seen.add(id.chars());
            }
        }
        let repeated = if apart { self.fitting.saturating_sub(self.seen.count()) } else { 0 };
        let unnamed = self.count - self.fitting - self.unfit;
        let fits = mint.with(self.count, |id| self.rule.allows(id));
        let minted = if fits { unnamed * mint.len(0) + self.more_digits } else { unnamed * MAPPED_LEN };
        (repeated + self.unfit) * MAPPED_LEN + minted
    }

    /// Settles by which id the call at `index` is known.
    fn settle(&mut self, index: usize, apart: bool, local: bool, mint: Mint) {
        let Some(&[id_at, id_len, .., flags]) = self.records.get(index) else { return };
        let own = if flags & HAS_ID != 0 { Some(read(self.text, &self.sink, id_at, id_len)) } else { None };
        let first = index.saturating_sub(WINDOW);
        let near = self.records.get(first..self.count.min(index + WINDOW)).unwrap_or_default();
        let taken = |id: &str| near.iter().any(|record| self.is(record, id));
        let start = self.sink.len();
        let Some(id) = own else {
            // Nobody but the host needs it, and what is rescued is more.
            if self.origin.partial && local && self.sink.room() < mint.len(index) {
                return;
            }
            let mapped = mint.with(index, |id| self.rule.settle(id, index, false, taken));
            match mapped {
                Some(mapped) => self.sink.put(&mapped),
                None => mint.with(index, |id| id.for_each(|c| self.sink.put_char(c))),
            }
            let len = self.sink.len() - start;
            if let Some([id_at, id_len, ..]) = self.records.get_mut(index) {
                (*id_at, *id_len) = (narrow(start) | DECODED, narrow(len));
            }
            return;
        };
        let before = near.get(..index - first).filter(|_| apart).unwrap_or_default();
        let repeats = before.iter().any(|record| self.is(record, id));
        if !repeats && self.rule.allows_text(id) {
            return;
        }
        let Some(mapped) = self.rule.settle(id.chars(), index, repeats, taken) else { return };
        self.sink.put(&mapped);
        if let Some([.., wire_at, flags]) = self.records.get_mut(index) {
            *wire_at = narrow(start) | DECODED;
            *flags |= OTHER_ID;
        }
    }

    /// Whether a call has this id of the provider's.
    fn is(&self, record: &[u32; RECORD], id: &str) -> bool {
        let [id_at, id_len, .., flags] = *record;
        flags & HAS_ID != 0 && id_len as usize == id.len() && read(self.text, &self.sink, id_at, id_len) == id
    }

    /// Where a value's text stands: a string's content, decoded if it has escapes; else the JSON itself.
    fn span(&mut self, value: Value<'r>) -> (u32, u32) {
        let plain = match value.as_str() {
            None => Some(value.raw()),
            Some(text) => text.plain(),
        };
        if let Some(plain) = plain {
            return self.place(plain);
        }
        let start = self.sink.len();
        if let Some(text) = value.as_str() {
            text.decode(&mut self.sink);
        }
        (narrow(start) | DECODED, narrow(self.sink.len() - start))
    }

    /// Where a piece of the reply's text stands.
    fn place(&self, piece: &str) -> (u32, u32) {
        let start = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        (narrow(start), narrow(piece.len()))
    }
}

/// What stands in a span.
fn read<'a>(text: &'a str, sink: &'a Sink<'_>, at: u32, len: u32) -> &'a str {
    if at & DECODED == 0 {
        return span(text, "", at, len);
    }
    sink.piece((at & !DECODED) as usize, len as usize).unwrap_or_default()
}

/// Whether arguments are whole in a stream that is not: an object. Text that became one was put in its place.
fn is_whole(arguments: Value<'_>) -> bool {
    arguments.kind() == Kind::Object
}

/// All lengths were checked against `DECODED`, and decoded text is never longer than its source.
fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(0) & !DECODED
}
