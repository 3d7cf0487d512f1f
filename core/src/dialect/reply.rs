//! What a model's reply asks for, read without a copy where nothing had to be decoded.
//!
//! The whole text is validated first, so a broken reply gives no call at all. Calls keep their order;
//! ids and argument texts keep their exact bytes. What is not text and not a call (thinking, tools that
//! the provider ran itself, fields that are not known) is passed over. A call that the reply's end cut
//! off is marked and never executed.

use super::{Dialect, IdRule, Item, MAPPED, Piece, ReplayError, Wire};
use crate::call::ToolCall;
use crate::json::{self, Kind, Value};
use crate::scratch::Scratch;
use crate::sink::Sink;

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It is complete.
    Complete,
    /// It ran into a token limit; its last call may be cut off.
    Truncated,
    /// The provider or the model refused to go on.
    Refused,
    /// The provider could not read what the model wrote as a call. No call of the reply is executed.
    Malformed,
}

/// Why a reply could not be read. No call of it may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ReplyError {
    /// It is not JSON.
    #[error("the reply is not JSON: {0}")]
    Json(json::Error),
    /// It has not the shape of the dialect.
    #[error("the reply lacks {expected}; is it of this dialect?")]
    Shape {
        /// What is missing.
        expected: &'static str,
    },
    /// The provider answered with an error object; [`write_provider_error`] tells its words.
    #[error("the provider answered with an error")]
    Provider,
    /// It is longer than 2 GiB.
    #[error("the reply is too long")]
    TooLong,
    /// The scratch memory is too small.
    #[error("no space: the reply needs {words} words and {bytes} bytes of scratch")]
    NoSpace {
        /// Words that are needed.
        words: usize,
        /// Bytes that are needed.
        bytes: usize,
    },
}
impl core::error::Error for ReplyError {}

/// A reply's calls and text.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'r> {
    dialect: Dialect,
    root: Value<'r>,
    text: &'r str,
    decoded: &'r str,
    records: &'r [[u32; RECORD]],
    finish: Finish,
    calls_only: bool,
}

/// What is to be known of a reply's text beside the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// It was put together from a stream: arguments that are a string are text that did not become JSON.
    pub(crate) streamed: bool,
    /// The stream stopped before its end: each call whose arguments are not whole is cut off.
    pub(crate) partial: bool,
    /// The calls are all that was kept.
    pub(crate) calls_only: bool,
}

impl Origin {
    /// The provider's own whole reply.
    const WHOLE: Origin = Origin { streamed: false, partial: false, calls_only: false };
}

/// A list of calls, those of a reply or the host's own.
pub trait Calls {
    /// How many there are.
    fn count(&self) -> usize;
    /// The call at `index`, or `None` past the end.
    fn call(&self, index: usize) -> Option<ToolCall<'_>>;
}

impl Calls for Reply<'_> {
    fn count(&self) -> usize {
        self.records.len()
    }
    fn call(&self, index: usize) -> Option<ToolCall<'_>> {
        self.get(index)
    }
}

impl Calls for [ToolCall<'_>] {
    fn count(&self) -> usize {
        self.len()
    }
    fn call(&self, index: usize) -> Option<ToolCall<'_>> {
        self.get(index).copied()
    }
}

impl<'r> Reply<'r> {
    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no call: the model has said all that it has to say.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The call at `index`, in the order of the reply.
    pub fn get(&self, index: usize) -> Option<ToolCall<'r>> {
        let [id_at, id_len, name_at, name_len, args_at, args_len, flags] = *self.records.get(index)?;
        let id = self.span(id_at, id_len);
        let mapped = flags & MAPPED_ID != 0;
        let wire_id = if mapped { self.span(id_at + id_len, narrow(MAPPED)) } else { id };
        Some(ToolCall {
            id: (flags & HAS_ID != 0).then_some(id),
            wire_id,
            name: self.span(name_at, name_len),
            arguments: self.span(args_at, args_len),
            truncated: flags & TRUNCATED != 0,
            custom: flags & CUSTOM != 0,
        })
    }

    /// The calls in order.
    pub fn calls(&self) -> impl Iterator<Item = ToolCall<'r>> {
        let reply = *self;
        (0..reply.len()).filter_map(move |index| reply.get(index))
    }

    /// Appends the text beside the calls, its pieces joined as they are.
    pub fn write_text(&self, sink: &mut Sink<'_>) {
        let mut visit = |item: Item<'r>| match item {
            Item::Text(Some(text)) => {
                if let Some(text) = text.as_str() {
                    text.decode(sink);
                }
            }
            Item::Plain(text) => sink.put(text),
            _ => {}
        };
        // The same walk succeeded when the reply was parsed.
        self.dialect.wire().reply(self.root, &mut visit).ok();
    }

    /// Why the reply ended.
    pub fn finish(&self) -> Finish {
        self.finish
    }

    /// The wire, and the text in its whole form, if all that has to be sent back was kept.
    pub(super) fn replayable(&self) -> Result<(&'static dyn Wire, Value<'r>), ReplayError> {
        if self.calls_only { Err(ReplayError::CallsOnly) } else { Ok((self.dialect.wire(), self.root)) }
    }

    /// The dialect that it was read in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn span(&self, at: u32, len: u32) -> &'r str {
        let base = if at & DECODED != 0 { self.decoded } else { self.text };
        let start = (at & !DECODED) as usize;
        base.get(start..start + len as usize).unwrap_or_default()
    }
}

/// Start and length of id, name and arguments, and flags.
pub(crate) const RECORD: usize = 7;
/// Set in a start that counts from the beginning of the decoded text, not of the reply.
const DECODED: u32 = 1 << 31;
/// The flag of a call whose id is the provider's.
const HAS_ID: u32 = 1;
/// The flag of a call that is cut off.
const TRUNCATED: u32 = 2;
/// The flag of a call that takes free text.
const CUSTOM: u32 = 4;
/// The flag of a call whose id the provider does not allow: the one that goes out stands after it.
const MAPPED_ID: u32 = 8;

/// Reads a whole reply. Gives it and the scratch that is left.
pub fn parse_reply<'r>(
    dialect: Dialect,
    text: &'r [u8],
    options: &json::Options,
    scratch: Scratch<'r>,
) -> Result<(Reply<'r>, Scratch<'r>), ReplyError> {
    read_reply(dialect, text, options, Origin::WHOLE, scratch)
}

/// Reads a reply that may come from a stream.
pub(crate) fn read_reply<'r>(
    dialect: Dialect,
    text: &'r [u8],
    options: &json::Options,
    origin: Origin,
    scratch: Scratch<'r>,
) -> Result<(Reply<'r>, Scratch<'r>), ReplyError> {
    let root = match dialect.wire().text_form() {
        None => json::parse(text, options).map_err(ReplyError::Json)?,
        Some(_) => Value::new(core::str::from_utf8(text).map_err(not_text)?),
    };
    let text = root.raw();
    if text.len() >= DECODED as usize {
        return Err(ReplyError::TooLong);
    }
    let wire = dialect.wire();
    let Scratch { words, bytes } = scratch;
    let (records, _) = words.as_chunks_mut::<RECORD>();
    let sink = Sink::new(bytes);
    let rule = wire.facts().ids;
    let mut reader = CallReader { text, sink, records, count: 0, origin, rule, marks: 1, unnamed: (0, 0) };
    let mut ends_in_call = false;
    let mut visit = |item: Item<'r>| {
        ends_in_call = !matches!(item, Item::Text(_) | Item::Plain(_));
        reader.item(item);
    };
    let finish = wire.reply(root, &mut visit)?;
    let finish = if origin.partial { Finish::Truncated } else { finish };
    if finish == Finish::Truncated && ends_in_call && !origin.partial {
        reader.cut_last();
    }
    if finish == Finish::Malformed {
        reader.cut_all();
    }
    if wire.facts().needs_ids {
        reader.mint();
    }
    let CallReader { sink, count, .. } = reader;
    let (decoded_len, overflowed) = (sink.len(), sink.overflowed());
    let no_space = ReplyError::NoSpace { words: count * RECORD, bytes: decoded_len };
    if overflowed {
        return Err(no_space);
    }
    let (decoded, bytes) = bytes.split_at_mut_checked(decoded_len).ok_or(no_space)?;
    let (records, words) = words.split_at_mut_checked(count * RECORD).ok_or(no_space)?;
    let decoded = core::str::from_utf8(decoded).map_err(|_| no_space)?;
    let (records, _) = records.as_chunks::<RECORD>();
    let calls_only = origin.calls_only;
    Ok((Reply { dialect, root, text, decoded, records, finish, calls_only }, Scratch { words, bytes }))
}

/// Bytes that are no text.
fn not_text(error: core::str::Utf8Error) -> ReplyError {
    ReplyError::Json(json::Error { reason: json::Reason::InvalidUtf8, offset: error.valid_up_to() })
}

/// Appends what the provider says in an error that it answered with in place of a reply, or as an event of a
/// stream; says whether there was such an error.
pub fn write_provider_error(reply: &[u8], options: &json::Options, sink: &mut Sink<'_>) -> bool {
    let message = json::parse(reply, options).ok().and_then(error_message);
    if let Some(message) = message {
        match message.as_str() {
            Some(text) => text.decode(sink),
            None => sink.put(message.raw()),
        }
    }
    message.is_some()
}

/// The words of an error: the member `message` of `error`, of the root or of the exception that is its one
/// member, or what there is in its place. An event of a stream holds the failed response.
pub(crate) fn error_message(root: Value<'_>) -> Option<Value<'_>> {
    let root = root.item(0).unwrap_or(root);
    let [error, message, response] = root.pick(["error", "message", "response"]);
    let there = |error: &Value<'_>| !error.is_null();
    let error = error.filter(there).or(response.and_then(|response| response.get("error")));
    let exception = || {
        let mut members = root.entries().filter(|(key, _)| key.raw().ends_with("Exception"));
        members.next().and_then(|(_, exception)| exception.get("message"))
    };
    let Some(error) = error.filter(there) else {
        return message.or_else(exception).filter(|message| message.as_str().is_some());
    };
    let [message, kind] = error.pick(["message", "type"]);
    Some(message.or(kind).filter(|text| text.as_str().is_some_and(|text| text != "")).unwrap_or(error))
}

/// Turns calls into records, and counts on when there is no place left.
struct CallReader<'r, 'w> {
    text: &'r str,
    sink: Sink<'w>,
    records: &'w mut [[u32; RECORD]],
    count: usize,
    origin: Origin,
    rule: IdRule,
    /// Underscores after `toolcore` in a minted id: one more than in any id of the reply.
    marks: usize,
    /// The calls without an id: how many, and the digits of all their places.
    unnamed: (usize, usize),
}

impl<'r> CallReader<'r, '_> {
    fn item(&mut self, item: Item<'r>) {
        match item {
            Item::Call { id, name, arguments, encoded, incomplete } => {
                let name = name.filter(|name| name.as_str().is_some()).map(|name| self.span(name));
                let arguments = arguments.filter(|value| !value.is_null());
                let cut = incomplete || self.origin.partial && !arguments.is_some_and(is_whole);
                let encoded = encoded || self.origin.streamed;
                let arguments =
                    arguments.map(|value| if encoded { self.span(value) } else { self.place(value.raw()) });
                self.record(id.map(Piece::Json), name, arguments, cut, 0);
            }
            Item::Custom { id, name, input, incomplete } => {
                let name = name.filter(|name| name.as_str().is_some()).map(|name| self.span(name));
                let input = input.filter(|value| !value.is_null());
                let cut = incomplete || self.origin.partial && !input.is_some_and(is_whole);
                let input = input.map(|value| self.span(value));
                self.record(id.map(Piece::Json), name, input, cut, CUSTOM);
            }
            Item::TextCall(call) => {
                let name = self.piece(call.name);
                let arguments = call.arguments.map(|arguments| self.piece(arguments));
                self.record(call.id, Some(name), arguments, call.incomplete, 0);
            }
            Item::Text(_) | Item::Plain(_) => {}
        }
    }

    fn piece(&mut self, piece: Piece<'r>) -> (u32, u32) {
        match piece {
            Piece::Json(value) => self.span(value),
            Piece::Plain(text) => self.place(text),
        }
    }

    fn record(
        &mut self,
        id: Option<Piece<'r>>,
        name: Option<(u32, u32)>,
        arguments: Option<(u32, u32)>,
        cut: bool,
        flags: u32,
    ) {
        let id = id.filter(|id| !id.is_nothing());
        let mut flags = flags | if id.is_some() { HAS_ID } else { 0 };
        if cut {
            flags |= TRUNCATED;
        }
        let (id_at, id_len) = match id {
            Some(id) => self.id(id, &mut flags),
            None => {
                self.unnamed.0 += 1;
                self.unnamed.1 += digits(self.count);
                (0, 0)
            }
        };
        let (name_at, name_len) = name.unwrap_or((0, 0));
        let (args_at, args_len) = arguments.unwrap_or((0, 0));
        if let Some(place) = self.records.get_mut(self.count) {
            *place = [id_at, id_len, name_at, name_len, args_at, args_len, flags];
        }
        self.count += 1;
    }

    /// Where an id stands. One that looks like a minted one makes the minted ones longer.
    fn id(&mut self, id: Piece<'r>, flags: &mut u32) -> (u32, u32) {
        let text = id.text();
        if text.chars().take(MINTED.len()).eq(MINTED.chars()) {
            let marks = text.chars().skip(MINTED.len()).take_while(|c| *c == '_').count();
            self.marks = self.marks.max(marks + 1);
        }
        let Some(mapped) = self.rule.map(text.chars()) else { return self.piece(id) };
        *flags |= MAPPED_ID;
        let start = self.sink.len();
        text.decode(&mut self.sink);
        let len = self.sink.len() - start;
        self.sink.put(&mapped);
        (narrow(start) | DECODED, narrow(len))
    }

    /// Marks the last call as cut off.
    fn cut_last(&mut self) {
        if let Some([.., flags]) = self.count.checked_sub(1).and_then(|last| self.records.get_mut(last)) {
            *flags |= TRUNCATED;
        }
    }

    /// Marks every call as one that must not be executed.
    fn cut_all(&mut self) {
        for [.., flags] in self.records.iter_mut().take(self.count) {
            *flags |= TRUNCATED;
        }
    }

    /// Gives each call that has no id one that no other has: `toolcore_0` for the first call of a reply. If
    /// the provider does not allow the longest of them, all are mapped.
    fn mint(&mut self) {
        let (unnamed, digits) = self.unnamed;
        let mut buffer = [0; 20];
        let last = decimal(self.count.saturating_sub(1), &mut buffer);
        let mapped = self.rule.map(minted(self.marks, last)).is_some();
        if self.count > self.records.len() {
            // There is no place for the records; count what the ids will take.
            let each = if mapped { MAPPED } else { MINTED.len() + self.marks };
            for _ in 0..unnamed * each + if mapped { 0 } else { digits } {
                self.sink.put("_");
            }
            return;
        }
        for (index, record) in self.records.iter_mut().take(self.count).enumerate() {
            let [id_at, id_len, .., flags] = record;
            if *flags & HAS_ID != 0 {
                continue;
            }
            let start = self.sink.len();
            let mut buffer = [0; 20];
            let id = minted(self.marks, decimal(index, &mut buffer));
            if mapped {
                self.sink.put(&IdRule::mapped(id));
            } else {
                id.for_each(|c| self.sink.put_char(c));
            }
            (*id_at, *id_len) = (narrow(start) | DECODED, narrow(self.sink.len() - start));
        }
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

/// What a minted id begins with.
const MINTED: &str = "toolcore";

/// The characters of a minted id.
fn minted(marks: usize, digits: &str) -> impl Iterator<Item = char> + Clone {
    MINTED.chars().chain(core::iter::repeat_n('_', marks)).chain(digits.chars())
}

/// A number in decimal.
fn decimal(number: usize, buffer: &mut [u8; 20]) -> &str {
    let mut sink = Sink::new(buffer);
    sink.put_u64(number as u64);
    sink.finish_cut()
}

/// Digits of a number.
fn digits(n: usize) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Whether arguments are whole in a stream that is not: an object. Text that became one was put in its place.
fn is_whole(arguments: Value<'_>) -> bool {
    arguments.kind() == Kind::Object
}

/// All lengths were checked against `DECODED`, and decoded text is never longer than its source.
fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(0) & !DECODED
}
