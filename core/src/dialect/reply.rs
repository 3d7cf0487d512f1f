//! What a model's reply asks for, read without a copy where nothing had to be decoded.
//!
//! The whole text is validated first, so a broken reply gives no call at all. Calls keep their order;
//! ids and argument texts keep their exact bytes. What is not text and not a call (thinking, tools that
//! the provider ran itself, fields that are not known) is passed over. A call that the reply's end cut
//! off is marked and never executed, and so is every call of a reply that was refused or malformed: it may be
//! what the refusal is about, and nobody knows where a filter broke the reply off.
//!
//! Why a reply ended is told by the reasons that the provider's SDK names. One that is not known leaves the
//! reply [`Finish::Complete`]: servers have words of their own for an ordinary end, so that a reply which is
//! whole would be thrown away for a word, while what is cut off shows in its arguments.

use super::records::{
    self, BARE_ID, CUSTOM, CallReader, DECODED, HAS_ID, MAPPED, OTHER_ID, RECORD, TRUNCATED,
};
use super::{Dialect, Item, LeftOut, ReplayError, Wire, text_form};
use crate::call::ToolCall;
use crate::json::{self, Reader, Value};
use crate::scratch::Scratch;
use crate::sink::Sink;

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// It is complete.
    #[default]
    Complete,
    /// It ran into a token limit; its last call may be cut off.
    Truncated,
    /// The provider or the model refused to go on, maybe in the middle. No call of the reply is executed, and
    /// its text is what the model said of it.
    Refused,
    /// The provider could not read what the model wrote as a call. No call of the reply is executed.
    Malformed,
    /// The provider stopped for now, and the model has more to say: append the turn that goes back
    /// ([`Reply::write_replay`]) and the results, if there are calls, and ask again. Gemini's `CONTINUATION`
    /// wants the response's `continuation_token` in that request; its last call may be cut off.
    Paused,
}

/// Why a reply could not be read. No call of it may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ReplyError {
    /// The dialect is not built in.
    #[error("{0}")]
    LeftOut(LeftOut),
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

impl From<json::Error> for ReplyError {
    fn from(error: json::Error) -> Self {
        ReplyError::Json(error)
    }
}

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
    /// Text came after the last call, and was not kept.
    pub(crate) text_last: bool,
}

impl Origin {
    /// The provider's own whole reply.
    const WHOLE: Origin = Origin { streamed: false, partial: false, calls_only: false, text_last: false };
}

/// A list of calls, those of a reply or the host's own.
pub trait Calls {
    /// How many there are.
    fn count(&self) -> usize;
    /// The call at `index`, or `None` past the end.
    fn call(&self, index: usize) -> Option<ToolCall<'_>>;
    /// The dialect that they were read in, if they are those of a reply: in this dialect they are answered with
    /// the ids and names that the reply has.
    fn origin(&self) -> Option<Dialect> {
        None
    }
}

impl Calls for Reply<'_> {
    fn count(&self) -> usize {
        self.records.len()
    }
    fn call(&self, index: usize) -> Option<ToolCall<'_>> {
        self.get(index)
    }
    fn origin(&self) -> Option<Dialect> {
        Some(self.dialect)
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

    /// Whether there is no call: unless the reply is [`Finish::Paused`] or was not complete, the model has said
    /// all that it has to say.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The call at `index`, in the order of the reply.
    pub fn get(&self, index: usize) -> Option<ToolCall<'r>> {
        let [id_at, id_len, name_at, name_len, args_at, args_len, set_at, set_len, wire_at, flags] =
            *self.records.get(index)?;
        let id = self.span(id_at, id_len);
        let wire_id = if flags & OTHER_ID != 0 { self.span(wire_at, MAPPED) } else { id };
        Some(ToolCall {
            id: (flags & HAS_ID != 0).then_some(id),
            wire_id,
            name: self.span(name_at, name_len),
            arguments: self.span(args_at, args_len),
            toolset: self.span(set_at, set_len),
            truncated: flags & TRUNCATED != 0,
            custom: flags & CUSTOM != 0,
        })
    }

    /// The id with which the call at `index` goes back, if it is not the one that the reply has.
    /// One that was minted stays here unless the provider `needs_ids`.
    pub(super) fn new_id(&self, index: usize, needs_ids: bool) -> Option<&'r str> {
        let call = self.get(index)?;
        let [.., flags] = self.records.get(index)?;
        let other = call.id != Some(call.wire_id) || flags & BARE_ID != 0;
        (other && (call.id.is_some() || needs_ids)).then_some(call.wire_id)
    }

    /// The calls in order.
    pub fn calls(&self) -> impl Iterator<Item = ToolCall<'r>> {
        let reply = *self;
        (0..reply.len()).filter_map(move |index| reply.get(index))
    }

    /// Appends the text beside the calls, its pieces joined as they are. The words in which a model refused,
    /// where they stand apart, are part of it: they are what there is to show.
    pub fn write_text(&self, sink: &mut Sink<'_>) {
        let mut visit = |item: Item<'r>| match item {
            Item::Text(Some(text)) | Item::Beside(Some(text)) => {
                if let Some(text) = text.as_str() {
                    text.decode(sink);
                }
            }
            Item::Plain(text) => sink.put(text),
            _ => {}
        };
        // The same walk succeeded when the reply was parsed.
        walk(self.dialect, self.root.reader(), &mut visit).ok();
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
        records::span(self.text, self.decoded, at, len)
    }
}

/// How a reply is read. [`json::Options`] alone do for the rest of the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyOptions {
    /// How its JSON is read.
    pub json: json::Options,
    /// Which turn of the conversation it is. The number stands in the ids that are minted for calls without
    /// one (`toolcore_7_0`), so that no two of a conversation are the same if each turn has a number of its
    /// own. 0 to leave it out (`toolcore_0`).
    pub turn: u32,
}

impl From<&json::Options> for ReplyOptions {
    fn from(json: &json::Options) -> Self {
        ReplyOptions { json: *json, turn: 0 }
    }
}

/// Reads a whole reply. Gives it and the scratch that is left.
pub fn parse_reply<'r>(
    dialect: Dialect,
    text: &'r [u8],
    options: impl Into<ReplyOptions>,
    scratch: Scratch<'r>,
) -> Result<(Reply<'r>, Scratch<'r>), ReplyError> {
    read_reply(dialect, text, &options.into(), Origin::WHOLE, scratch)
}

/// Reads a reply that may come from a stream.
pub(crate) fn read_reply<'r>(
    dialect: Dialect,
    text: &'r [u8],
    options: &ReplyOptions,
    origin: Origin,
    scratch: Scratch<'r>,
) -> Result<(Reply<'r>, Scratch<'r>), ReplyError> {
    dialect.built_in().map_err(ReplyError::LeftOut)?;
    let wire = dialect.wire();
    let (reader, root) = match dialect.text_form() {
        None => {
            let reader = Reader::new(text, &options.json);
            (reader.clone(), Value::from_checked(reader.text()))
        }
        Some(_) => {
            let root = Value::new(core::str::from_utf8(text).map_err(not_text)?);
            (root.reader(), root)
        }
    };
    let text = root.raw();
    if text.len() >= DECODED as usize {
        return Err(ReplyError::TooLong);
    }
    let Scratch { words, bytes } = scratch;
    let (records, _) = words.as_chunks_mut::<RECORD>();
    let mut calls = CallReader::new(text, Sink::new(bytes), records, origin, wire.facts().ids);
    let mut ends_in_call = false;
    let mut visit = |item: Item<'r>| {
        ends_in_call = match item {
            Item::Call(_) | Item::TextCall(_) => true,
            Item::Text(_) | Item::Plain(_) => false,
            Item::Beside(_) => ends_in_call,
        };
        calls.item(item);
    };
    let finish = walk(dialect, reader, &mut visit)?;
    let finish = match finish {
        Finish::Malformed | Finish::Refused => finish,
        _ if origin.partial => Finish::Truncated,
        finish => finish,
    };
    if matches!(finish, Finish::Truncated | Finish::Paused)
        && ends_in_call
        && !origin.text_last
        && !origin.partial
    {
        calls.cut_last();
    }
    if matches!(finish, Finish::Malformed | Finish::Refused) {
        calls.cut_all();
    }
    let (count, decoded_len, overflowed) =
        calls.finish(wire.text_form().is_none(), !wire.facts().needs_ids, options.turn);
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

/// Reads a reply to its end, whatever of it is wanted: text that is not JSON is that, and nothing else.
fn walk<'r>(
    dialect: Dialect,
    mut reader: Reader<'r>,
    visit: &mut dyn FnMut(Item<'r>),
) -> Result<Finish, ReplyError> {
    if let Some(form) = dialect.text_form() {
        return Ok(text_form::read(form, reader.text(), visit));
    }
    let read = dialect.wire().reply(&mut reader, visit);
    reader.finish()?;
    read
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
