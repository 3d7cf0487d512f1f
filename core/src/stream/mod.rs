//! Streamed replies: bytes as they come from the provider, in any chunking, into the same [`Reply`] as a
//! whole response.
//!
//! A [`Stream`] takes server-sent events, lines of JSON, or an array of objects, and tells them apart by
//! their first bytes. It puts the reply together in the caller's memory as a text in the provider's own
//! whole form, which [`Stream::finish`] reads: so calls, text and replay are those of a whole reply, and a
//! stream needs no other memory than the reply and one event. Nothing is decoded before all of an escape is
//! there. Whoever wants to watch is told each piece of text and arguments as it comes ([`StreamEvent`]).
//!
//! | file | part |
//! |---|---|
//! | `frame` | bytes -> lines -> events, for each framing |
//! | `filter` | an event's bytes -> the members that the dialect reads |
//! | the dialect's file | an event -> changes |
//! | `apply` | changes -> the text, by the rules for indexes and ids |
//! | `apply/calls` | those of calls that come in pieces |
//! | `apply/place` | where in an item a piece goes |
//! | `apply/whole` | those of items that come whole |
//! | `apply/tell` | what those who watch are told |
//! | `text` | the text: pieces moved in, put in, taken out |
//! | `plain` | plain text, of models whose server does not read their calls |
//! | `show` | pieces, decoded for those who watch |
//!
//! # Rules
//!
//! - A piece with a known index belongs to the latest call of that index, unless it has another id: then to
//!   the call of that index with this id, or it begins one. Without an index its id decides; without both it
//!   goes on with the call that was begun last, and without such a call it is an error. Repeated ids and names
//!   are not appended.
//! - Calls keep the order in which they began.
//! - Where items come once more, whole or all together in the end, what comes last counts, and what came before
//!   is neither lost nor doubled.
//! - A stream that stops before its end marker gives a reply that is [`Finish::Truncated`]; its calls whose
//!   arguments are not whole are marked and never executed.
//! - Plain text has no end marker: it is whole when the host says so by [`Stream::finish`], and a call that is
//!   open then is cut off. What could have been the beginning of a mark at its end is in the reply's text, but
//!   was not told.
//! - An error event ends the stream with [`ReplyError::Provider`]; [`Stream::provider_error`] has its words.
//! - When the memory does not do, [`ReplyError::NoSpace`] names what the stream needs at this point, and
//!   [`Stream::rescue`] gives what is there: the calls that are whole can still be run.
//!
//! [`Finish::Truncated`]: crate::dialect::Finish::Truncated

mod apply;
mod filter;
mod frame;
#[cfg_attr(not(feature = "text-forms"), path = "no_plain.rs")]
mod plain;
mod show;
mod text;

pub use show::StreamEvent;

use crate::dialect::{
    Change, Dialect, Member, OpenMembers, Origin, Reply, ReplyError, ReplyOptions, Shape, error_message,
    read_reply,
};
use crate::json::{self, Options, Reader, Reason, Surrogates, decode_in_place};
use crate::scratch::Scratch;
use apply::Applier;
use filter::{Filter, Met, Room};
use frame::{Framing, Taken, WHOLE};
use plain::Plain;
use show::{Decoder, Watch};
use text::{Changes, Span, Text, narrow};

/// How a stream is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOptions {
    /// Keep the calls and nothing else, to need as little memory as can be. The reply then has no text (but
    /// the words of a refusal) and cannot be replayed. Those who watch are told of text only where the
    /// provider sends it in small pieces (Gemini does not).
    pub calls_only: bool,
    /// How each event, and the reply in the end, is read.
    pub json: Options,
    /// Which turn of the conversation it is; see [`ReplyOptions::turn`].
    pub turn: u32,
}

/// Why a stream could not be read, or not further. It stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum StreamError {
    /// An event, or the reply in the end, cannot be read; or the memory is too small.
    #[error("{0}")]
    Reply(ReplyError),
    /// The dialect has no streams.
    #[error("the dialect has no streams")]
    Unsupported,
}
impl core::error::Error for StreamError {}

impl From<ReplyError> for StreamError {
    fn from(error: ReplyError) -> Self {
        StreamError::Reply(error)
    }
}

/// The error of what is no stream.
const NO_STREAM: ReplyError =
    ReplyError::Json(json::Error { reason: json::Reason::ExpectedValue, offset: 0 });

/// The shape of plain text, of which nothing is used.
const NO_SHAPE: Shape = Shape {
    head: "",
    list: "",
    tail: "",
    end: "",
    members: &[],
    call_members: &[],
    fields: &[],
    empty_call: "",
    call: |_| Ok(None),
    shown: Shape::shows_nothing,
    open_members: None,
};

/// The members of an event that are read; `open` as long as no item has come or one is not whole.
fn members(shape: &Shape, calls_only: bool, open: bool) -> &'static [Member] {
    match shape.open_members.filter(|_| open) {
        Some(OpenMembers { calls, .. }) if calls_only => calls,
        Some(OpenMembers { all, .. }) => all,
        None if calls_only => shape.call_members,
        None => shape.members,
    }
}

/// A reply that comes in pieces; see the [module](self).
///
/// ```
/// use toolcore::prelude::*;
/// use toolcore::stream::{Stream, StreamEvent, StreamOptions};
///
/// let (mut words, mut bytes) = ([0; 64], [0; 1024]);
/// let memory = Scratch::new(&mut words, &mut bytes);
/// let mut stream = Stream::new(Dialect::OpenAiChat, StreamOptions::default(), memory)?;
/// let mut seen = String::new();
/// let mut watch = |event: StreamEvent<'_>| {
///     if let StreamEvent::Text(text) = event {
///         seen.push_str(text);
///     }
/// };
/// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hel", &mut watch)?;
/// stream.feed(b"lo\"}}]}\n\ndata: [DONE]\n\n", &mut watch)?;
/// let (reply, _) = stream.finish()?;
/// assert!(reply.is_empty() && seen == "Hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream<'m> {
    dialect: Dialect,
    shape: &'static Shape,
    /// The reader of plain text, in place of framing, filter and shape.
    plain: Option<Plain>,
    options: StreamOptions,
    framing: Framing,
    filter: Filter,
    decoder: Decoder,
    text: Text<'m>,
    /// Bytes of the event so far, those that found no place among them.
    event: usize,
    calls: u16,
    ended: bool,
    /// An event had a meaning in the dialect.
    understood: bool,
    failed: Option<ReplyError>,
    /// Where the words of the provider's error stand.
    message: Option<Span>,
}

impl<'m> Stream<'m> {
    /// A stream of `dialect` that is put together in `memory`.
    pub fn new(dialect: Dialect, options: StreamOptions, memory: Scratch<'m>) -> Result<Self, StreamError> {
        dialect.built_in().map_err(ReplyError::LeftOut)?;
        let plain = Plain::of(dialect);
        let shape = match plain {
            Some(_) => &NO_SHAPE,
            None => dialect.wire().stream().ok_or(StreamError::Unsupported)?,
        };
        let text = match plain {
            Some(_) => Text::plain(memory.bytes, memory.words),
            None => Text::new(shape, memory.bytes, memory.words)?,
        };
        let mut stream = Stream {
            dialect,
            shape,
            plain,
            options,
            framing: Framing::new(),
            filter: Filter::new(members(shape, options.calls_only, true)),
            decoder: Decoder::default(),
            text,
            event: 0,
            calls: 0,
            ended: false,
            understood: false,
            failed: None,
            message: None,
        };
        stream.choose(true);
        Ok(stream)
    }

    /// Takes the next bytes, cut anywhere. `watch` is told what they bring.
    pub fn feed(&mut self, bytes: &[u8], watch: &mut dyn FnMut(StreamEvent<'_>)) -> Result<(), StreamError> {
        if let Some(plain) = self.plain.as_mut().filter(|_| self.failed.is_none()) {
            self.failed = plain.feed(bytes, &mut self.text, self.options.calls_only, watch).err();
        }
        let mut rest = if self.plain.is_some() { &[] } else { bytes };
        while self.failed.is_none() && !rest.is_empty() {
            let room = self.text.bytes.get_mut(self.text.len..).unwrap_or_default();
            let mut room = Room { bytes: room, len: self.event };
            let (used, taken) = self.framing.run(rest, &mut self.filter, &mut room);
            self.event = room.len;
            rest = rest.get(used..).unwrap_or_default();
            match taken {
                Taken::All => {}
                Taken::Perhaps { ended } => self.perhaps_event(ended, watch),
                Taken::Long => self.filter_again(watch),
                Taken::Event => self.event(watch),
                Taken::Done => self.ended = true,
                Taken::Broken(reason) => self.broken(reason),
            }
        }
        self.failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Reads what was taken as it came, if it is a whole event; if it is not and nothing more `ended`,
    /// filters it.
    fn perhaps_event(&mut self, ended: bool, watch: &mut Watch<'_>) {
        match self.read_event() {
            Err(ReplyError::Json(error)) if ended || error.reason != Reason::UnexpectedEnd => {
                self.filter_again(watch);
            }
            Err(ReplyError::Json(_)) => {}
            read => {
                self.framing.end_whole();
                self.apply(read, watch);
            }
        }
    }

    /// Filters what was taken as it came.
    fn filter_again(&mut self, watch: &mut Watch<'_>) {
        let mut copy = [0; WHOLE];
        let start = self.text.len;
        let taken = self.text.bytes.get(start..start + self.event).unwrap_or_default();
        let Some(copy) = copy.get_mut(..taken.len()) else { return };
        copy.copy_from_slice(taken);
        self.framing.end_whole();
        self.event = 0;
        let mut rest = &*copy;
        while self.failed.is_none() && !rest.is_empty() {
            let room = self.text.bytes.get_mut(self.text.len..).unwrap_or_default();
            let mut room = Room { bytes: room, len: self.event };
            let (used, met) = self.filter.run(rest, &mut room);
            self.event = room.len;
            rest = rest.get(used..).unwrap_or_default();
            match met {
                Met::Event => self.event(watch),
                Met::Nothing => {}
                Met::Done => self.ended = true,
                Met::Line | Met::Other => self.broken(Reason::ExpectedValue),
            }
        }
    }

    fn broken(&mut self, reason: Reason) {
        self.failed = Some(ReplyError::Json(json::Error { reason, offset: self.event }));
    }

    /// Takes one event whose framing the host has undone, such as a message of an AWS event stream: its
    /// type, and its payload. The payload of an event without a type is taken as [`feed`](Self::feed) would.
    pub fn feed_event(
        &mut self,
        kind: &str,
        payload: &[u8],
        watch: &mut dyn FnMut(StreamEvent<'_>),
    ) -> Result<(), StreamError> {
        let pieces: [&[u8]; 5] = match kind {
            _ if self.plain.is_some() => [b"", b"", b"", payload, b""],
            "" => [b"", b"", b"", payload, b""],
            kind => [b"{\"", kind.as_bytes(), b"\":", payload, b"}"],
        };
        pieces.into_iter().try_for_each(|piece| self.feed(piece, watch))?;
        // The host says that it is one whole event.
        if !kind.is_empty() && (self.framing.is_whole() || self.filter.is_open()) {
            self.broken(Reason::UnexpectedEnd);
        }
        self.failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Says that no more bytes come: what came of the last event is all of it. Bytes that were no stream at
    /// all, such as a page of a proxy, are the error that they are as a whole reply; a stream that ends and
    /// had no event that means anything in the dialect is not empty, but another dialect's.
    /// [`finish`](Self::finish) does so too; a host that wants to [`rescue`](Self::rescue) what there is
    /// learns here whether it has to.
    pub fn end(&mut self, watch: &mut dyn FnMut(StreamEvent<'_>)) -> Result<(), StreamError> {
        if self.failed.is_none() && self.framing.is_whole() {
            self.filter_again(watch);
        }
        if self.failed.is_none() && self.plain.is_none() {
            if self.framing.is_other() {
                self.failed = Some(NO_STREAM);
            } else if self.ended && !self.understood {
                // The end marker is that of many dialects.
                self.failed = Some(ReplyError::Shape { expected: "any event of a reply" });
            }
        }
        self.failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Why the stream has failed, if it has.
    pub fn error(&self) -> Option<StreamError> {
        self.failed.map(StreamError::Reply)
    }

    /// The words of the provider's error, after [`ReplyError::Provider`].
    pub fn provider_error(&self) -> Option<&str> {
        self.message.map(|span| self.text.str(span))
    }

    /// The bytes of memory that are in use: the reply so far and the event that is being read.
    pub fn used(&self) -> usize {
        self.text.len + self.event
    }

    /// Ends the stream and reads the reply; gives it and the memory that is left.
    pub fn finish(mut self) -> Result<(Reply<'m>, Scratch<'m>), StreamError> {
        self.end(&mut |_| {})?;
        self.rescue()
    }

    /// [`finish`](Self::finish) for a stream that has failed: what was read before. Its calls whose arguments
    /// are not whole are marked as cut off and are never executed; nor is any, if the provider had refused
    /// the reply.
    pub fn rescue(mut self) -> Result<(Reply<'m>, Scratch<'m>), StreamError> {
        self.end(&mut |_| {}).ok();
        let partial = self.failed.is_some() || self.plain.is_none() && !self.ended;
        if let Some(plain) = &self.plain {
            // Half a character at the end is not read.
            self.text.len = plain.valid();
        }
        let mut nobody = |_: StreamEvent<'_>| {};
        if partial {
            self.applier(&mut nobody).mark_open();
        }
        self.applier(&mut nobody).close_all();
        let calls_only = self.options.calls_only;
        let text_last = self.plain.as_ref().is_some_and(Plain::dropped_text_last);
        let origin = Origin { streamed: true, partial, calls_only, text_last };
        let Text { bytes, words, len, .. } = self.text;
        let (text, bytes) = bytes.split_at_mut_checked(len).unwrap_or_default();
        let scratch = Scratch { words, bytes };
        let options = ReplyOptions { json: self.options.json, turn: self.options.turn };
        let read = read_reply(self.dialect, text, &options, origin, scratch);
        read.map_err(|error| match error {
            ReplyError::NoSpace { words, bytes } => ReplyError::NoSpace { words, bytes: len + bytes }.into(),
            error => error.into(),
        })
    }

    /// Reads the event that is whole now.
    fn event(&mut self, watch: &mut Watch<'_>) {
        let read = self.read_event();
        self.apply(read, watch);
    }

    /// Makes the changes of the event that was read.
    fn apply(&mut self, read: Result<(), ReplyError>, watch: &mut Watch<'_>) {
        let result = read.and_then(|()| self.applier(watch).run());
        self.event = 0;
        if self.shape.open_members.is_some() {
            self.choose(self.text.has_open_items());
        }
        if let Err(error) = result {
            self.failed = Some(error);
        }
    }

    /// Chooses what is read of the events to come, which may hang on whether an item `is_open` or none has
    /// come.
    fn choose(&mut self, is_open: bool) {
        let calls_only = self.options.calls_only;
        self.filter.choose(members(self.shape, calls_only, is_open));
        self.framing.set_filtered(calls_only || !is_open);
    }

    /// Records the changes that the event brings.
    fn read_event(&mut self) -> Result<(), ReplyError> {
        let start = self.text.len;
        let end = start.saturating_add(self.event);
        let parts = self.text.parts();
        let Some(event) = self.text.bytes.get(start..end) else {
            return Err(ReplyError::NoSpace { words: 0, bytes: end });
        };
        // Half of a surrogate pair can be at the end of a piece; the reply's reader sees both.
        let options = Options { surrogates: Surrogates::Replace, ..self.options.json };
        let mut reader = Reader::new(event, &options);
        let mut changes = Changes::NONE;
        let base = event.as_ptr() as usize;
        let words = &mut *self.text.words;
        let place = |text: &str| start + (text.as_ptr() as usize).wrapping_sub(base);
        let mut visit = |change: Change<'_>| {
            let (what, key, value) = apply::encode(&change);
            let text = value.map_or("", json::Value::raw);
            let at = if text.is_empty() { 0 } else { narrow(place(text)) };
            Text::record(words, parts, &mut changes, [what, key, at, narrow(text.len())]);
        };
        let read = self.dialect.wire().event(&mut reader, &mut visit);
        reader.finish().map_err(ReplyError::Json)?;
        if read == Err(ReplyError::Provider) {
            let message = error_message(json::Value::from_checked(reader.text()));
            let text =
                message.map_or("", |message| message.as_str().map_or(message.raw(), |text| text.raw()));
            let (at, len) = (place(text), text.len());
            let content = self.text.bytes.get_mut(at..at + len).unwrap_or_default();
            self.message = Some(Span { at, len: decode_in_place(content) });
        }
        read?;
        self.understood |= changes.count > 0;
        self.text.begin(changes)
    }

    fn applier<'a>(&'a mut self, watch: &'a mut Watch<'a>) -> Applier<'a, 'm> {
        Applier {
            shape: self.shape,
            text: &mut self.text,
            calls_only: self.options.calls_only,
            options: &self.options.json,
            decoder: &mut self.decoder,
            calls: &mut self.calls,
            ended: &mut self.ended,
            watch,
        }
    }
}
