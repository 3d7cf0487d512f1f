//! A model's reply as it comes.

use core::ffi::c_void;
use core::ptr;

use toolcore_core::dialect::ReplyError;
use toolcore_core::scratch::Scratch;
use toolcore_core::stream::{Stream, StreamError, StreamEvent, StreamOptions};

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::callback::{EventFn, tell_event};
use crate::dialect::known_dialect;
use crate::guard::{ENDED, Fail, UNKNOWN, Why, guard, read};
use crate::json::read_options;
use crate::object::{Live, Memory, Object, Place, scratch_for};
use crate::reply::{ReplyBody, toolcore_reply_t};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// A reply that comes in pieces. One thread at a time, and not in its own callback.
///
/// toolcore_stream_init -> toolcore_stream_feed ... -> toolcore_stream_finish gives the toolcore_reply_t that
/// toolcore_reply_parse gives of a whole reply. It is put together in the stream's memory, which holds the reply and
/// the event that is being read, and nothing else.
pub struct toolcore_stream_t {
    _opaque: [u8; 0],
}

/// toolcore_stream_event_t.kind: `text` is text for the user.
pub const TOOLCORE_STREAM_EVENT_TEXT: u32 = 1;
/// toolcore_stream_event_t.kind: `text` is what the model thinks.
pub const TOOLCORE_STREAM_EVENT_REASONING: u32 = 2;
/// toolcore_stream_event_t.kind: a call begins; `id` and `name` are as far as they are known.
pub const TOOLCORE_STREAM_EVENT_CALL_START: u32 = 3;
/// toolcore_stream_event_t.kind: `text` is a piece of a call's arguments, which are JSON when all have come.
pub const TOOLCORE_STREAM_EVENT_ARGUMENTS: u32 = 4;
/// toolcore_stream_event_t.kind: a call is whole as far as the provider says: some say so of all calls at the end of the
/// reply, so that a display keeps the calls apart by `index`.
pub const TOOLCORE_STREAM_EVENT_CALL_END: u32 = 5;

/// Something new in a stream. Its texts are decoded, cut at characters only, and valid until the callback returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_stream_event_t {
    /// sizeof(toolcore_stream_event_t) of the library
    pub struct_size: usize,
    /// For a call: its place among the calls of the reply, from 0.
    pub index: usize,
    /// For TOOLCORE_STREAM_EVENT_CALL_START: the provider's id.
    pub id: toolcore_str_t,
    /// For TOOLCORE_STREAM_EVENT_CALL_START: the name that the model used.
    pub name: toolcore_str_t,
    /// The piece.
    pub text: toolcore_str_t,
    /// One of TOOLCORE_STREAM_EVENT_TEXT to TOOLCORE_STREAM_EVENT_CALL_END; others may be appended.
    pub kind: u32,
    /// 0
    pub reserved: u32,
}

/// toolcore_stream_opts_t.flags: keep the calls and nothing else, to need as little memory as can be. The reply then
/// has no text, and toolcore_reply_replay is ERR_UNSUPPORTED.
pub const TOOLCORE_STREAM_CALLS_ONLY: u32 = 2;

/// How a stream is read. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_stream_opts_t {
    /// sizeof(toolcore_stream_opts_t)
    pub struct_size: usize,
    /// For toolcore_stream_mem_size: bytes of the reply and one event; 0 for 4096.
    pub reply_bytes: usize,
    /// Told each piece as it comes; the event is valid until it returns. NULL if nobody wants to know.
    pub event: Option<unsafe extern "C" fn(user_data: *mut c_void, event: *const toolcore_stream_event_t)>,
    /// Given to `event`.
    pub user_data: *mut c_void,
    /// How deep an event, and the reply, may be nested; 0 for the default, 128.
    pub max_depth: u32,
    /// TOOLCORE_STREAM_CALLS_ONLY, and TOOLCORE_JSON_REPLACE_SURROGATES.
    pub flags: u32,
    /// Which turn of the conversation it is; see toolcore_reply_opts_t.
    pub turn: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Bytes of memory for a stream with these options (NULL for the defaults). 0 if they are not valid. A stream may be
/// given more or less: it uses what it has, three quarters of it for the reply's text and one event, the rest for
/// 40 bytes for each call and 20 for each other block of the reply.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_stream_mem_size(opts: *const toolcore_stream_opts_t) -> usize {
    read(0, |c| {
        let opts = c.options(opts)?;
        options(&opts)?;
        Ok(stream_size(0, if opts.reply_bytes == 0 { REPLY_BYTES } else { opts.reply_bytes }))
    })
}

/// Begins a stream of a dialect in `mem`, which is used until both toolcore_stream_deinit and, if there is a reply,
/// toolcore_reply_deinit.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE (why.need: bytes of mem for an empty reply); ERR_UNSUPPORTED for a dialect without
/// streams (MCP) and for an option that is not known; ERR_INVALID_ARGUMENT. Unless OK, *out is NULL. `event` and
/// its user_data are kept until the stream ends, `opts` is not.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_stream_init(
    dialect: u32,
    opts: *const toolcore_stream_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_stream_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let opts = c.options(opts)?;
        let (dialect, options) = (known_dialect(dialect)?, options(&opts)?);
        let mut memory = c.memory(mem, mem_len)?;
        let places = memory.reserve::<Live<StreamBody>>().and_then(|place| Ok((place, memory.reserve()?)));
        let scratch = if places.is_ok() { memory.scratch() } else { Scratch::default() };
        let stream = Stream::new(dialect, options, scratch).map_err(|error| refused(why, error, None))?;
        let (place, reply) = places.inspect_err(|_| why.need = stream_size(0, 0))?;
        out.set(place.object(StreamBody {
            stream: Some(stream),
            reply: Some(reply),
            memory: Span::new(mem, mem_len),
            event: opts.event,
            user_data: opts.user_data,
        }));
        Ok(())
    })
}

/// Takes the next bytes as they come from the provider, cut anywhere: server-sent events, lines of JSON, or an array
/// of objects. `event` is told what they bring.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE (why.need: more bytes of mem, with which the stream gets further); ERR_BAD_JSON
/// (why.offset: in the event's JSON, as it was read); ERR_BAD_REPLY;
/// ERR_PROVIDER for an error event (its words are in why.message and toolcore_stream_provider_error);
/// ERR_INVALID_ARGUMENT, also after toolcore_stream_finish and for bytes that lie in the stream's memory. A failure
/// stays: what follows is not read, and toolcore_stream_finish returns it too. `bytes` is not kept.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_stream_feed(
    stream: *mut toolcore_stream_t,
    bytes: toolcore_str_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        feed(c, stream, why, |c, stream, told| Ok(stream.feed(c.bytes(bytes.ptr.cast(), bytes.len)?, told)))
    })
}

/// Takes one event whose framing the host has undone, such as a message of an AWS event stream (Bedrock): its type, which
/// is the header `:event-type` or, for an error, `:exception-type` ("contentBlockDelta"), and its payload, JSON. An
/// empty type means that the payload holds it: {"contentBlockDelta":{…}}. Types that are not known are passed over.
///
/// Returns what toolcore_stream_feed returns, ERR_BAD_JSON too for a payload that is cut off; ERR_INVALID_UTF8 for
/// `type`. Nothing of it is kept.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_stream_feed_event(
    stream: *mut toolcore_stream_t,
    r#type: toolcore_str_t,
    payload: toolcore_str_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        feed(c, stream, why, |c, stream, told| {
            let kind = c.text(r#type)?;
            Ok(stream.feed_event(kind, c.bytes(payload.ptr.cast(), payload.len)?, told))
        })
    })
}

/// Bytes of the reply so far and of the event that is being read; 0 for NULL and after toolcore_stream_finish.
///
/// Threads: any, when nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_stream_used(stream: *const toolcore_stream_t) -> usize {
    read(0, |c| Ok(c.object(stream)?.stream.as_ref().map_or(0, Stream::used)))
}

/// What the provider says in an error event, after ERR_PROVIDER; else empty, and for NULL. Valid until
/// toolcore_stream_rescue or toolcore_stream_deinit.
///
/// Threads: any, when nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_stream_provider_error(stream: *const toolcore_stream_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| {
        let words = c.object(stream)?.stream.as_ref().and_then(Stream::provider_error);
        Ok(words.map_or(toolcore_str_t::EMPTY, toolcore_str_t::of))
    })
}

/// Ends the stream and gives the reply. One that stops before its end marker is TOOLCORE_FINISH_TRUNCATED; its calls
/// that are not whole are marked and never executed.
///
/// Returns TOOLCORE_OK; what toolcore_stream_feed failed with, and then the stream can still be rescued; ERR_NO_SPACE
/// (why.need: bytes of mem); ERR_BAD_JSON; ERR_BAD_REPLY; ERR_PROVIDER; ERR_INVALID_ARGUMENT, also the second time.
/// Unless OK, *out is NULL. Of the stream only toolcore_stream_deinit is left, before or after toolcore_reply_deinit.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_stream_finish(
    stream: *mut toolcore_stream_t,
    out: *mut *mut toolcore_reply_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| end(c, stream, out, why, false))
}

/// toolcore_stream_finish for a stream that has failed: gives what was read before. The reply is
/// TOOLCORE_FINISH_TRUNCATED, unless the provider had refused it or said that it is malformed, which it stays; calls
/// that are whole can be run, those that are not are marked and have no arguments. A stream whose memory is too small
/// cannot be given more: rescue it, or feed all of it to a stream with why.need bytes, if the host has kept it. A rescue
/// is tried once.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE (why.need: bytes of mem); ERR_BAD_JSON; ERR_BAD_REPLY; ERR_PROVIDER;
/// ERR_INVALID_ARGUMENT. Unless OK, *out is NULL.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_stream_rescue(
    stream: *mut toolcore_stream_t,
    out: *mut *mut toolcore_reply_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| end(c, stream, out, why, true))
}

/// Ends a stream, finished or not. It owns nothing but its memory, which is the host's again, unless the reply that
/// it gave still lives there. NULL is ignored.
///
/// Threads: any, when nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_stream_deinit(stream: *mut toolcore_stream_t) {
    guard(ptr::null_mut(), |c, _| c.end(stream, |_| ()));
}

sized_struct!(toolcore_stream_event_t);
sized_struct!(toolcore_stream_opts_t, since turn);

/// Bytes of the reply and one event that a stream has room for unless it is told otherwise.
const REPLY_BYTES: usize = 4096;

/// A stream, who is told of it, and where its reply goes.
pub(crate) struct StreamBody {
    /// None once it is finished.
    stream: Option<Stream<'static>>,
    reply: Option<Place<Live<ReplyBody>>>,
    memory: Span,
    event: EventFn,
    user_data: *mut c_void,
}

impl Object for toolcore_stream_t {
    type Body = StreamBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCst");
}

fn options(opts: &toolcore_stream_opts_t) -> Result<StreamOptions, Fail> {
    if opts.reserved != 0 {
        return Err(UNKNOWN);
    }
    let json = read_options(opts.max_depth, opts.flags & !TOOLCORE_STREAM_CALLS_ONLY)?;
    Ok(StreamOptions { calls_only: opts.flags & TOOLCORE_STREAM_CALLS_ONLY != 0, json, turn: opts.turn })
}

/// Bytes of memory in which the core has so many words and bytes.
fn stream_size(words: usize, bytes: usize) -> usize {
    let objects = Memory::room_for::<Live<StreamBody>>(1) + Memory::room_for::<Live<ReplyBody>>(1);
    objects.saturating_add(scratch_for(words, bytes))
}

/// Says why a stream failed; `words` are those of the provider.
fn refused(why: &mut Why, error: StreamError, words: Option<&str>) -> Fail {
    let fail = match words {
        Some(words) if error == StreamError::Reply(ReplyError::Provider) => why.provider(error, |sink| {
            sink.put(words);
            true
        }),
        _ => why.error(error),
    };
    if let StreamError::Reply(ReplyError::NoSpace { words, bytes }) = error {
        why.need = stream_size(words, bytes);
    }
    fail
}

/// Feeds a stream that is not finished.
fn feed(
    c: Caller,
    stream: *mut toolcore_stream_t,
    why: &mut Why,
    feed: impl FnOnce(
        Caller,
        &mut Stream<'static>,
        &mut dyn FnMut(StreamEvent<'_>),
    ) -> Result<Result<(), StreamError>, Fail>,
) -> Result<(), Fail> {
    let body = c.object_mut(stream)?;
    let (event, user_data) = (body.event, body.user_data);
    let mut told = |what: StreamEvent<'_>| tell_event(event, user_data, what);
    let stream = body.stream.as_mut().ok_or(ENDED)?;
    let fed = feed(c.apart_from(body.memory), stream, &mut told)?;
    fed.map_err(|error| refused(why, error, stream.provider_error()))
}

/// Ends a stream and puts its reply into its place.
fn end(
    c: Caller,
    stream: *mut toolcore_stream_t,
    out: *mut *mut toolcore_reply_t,
    why: &mut Why,
    failed_too: bool,
) -> Result<(), Fail> {
    let out = c.out(out)?;
    out.set(ptr::null_mut());
    let body = c.object_mut(stream)?;
    let stream = body.stream.as_mut().ok_or(ENDED)?;
    // What came last may be known to fail only now.
    if let Some(error) = stream.end(&mut |_| {}).err().filter(|_| !failed_too) {
        return Err(refused(why, error, stream.provider_error()));
    }
    let (Some(stream), Some(place)) = (body.stream.take(), body.reply.take()) else { return Err(ENDED) };
    let (reply, _) = stream.rescue().map_err(|error| refused(why, error, None))?;
    out.set(place.object(ReplyBody { reply, text: body.memory, memory: body.memory }));
    Ok(())
}

impl toolcore_stream_event_t {
    /// An event as C sees it.
    pub(crate) fn of(event: StreamEvent<'_>) -> Self {
        let (kind, index, [id, name, text]) = match event {
            StreamEvent::Text(text) => (TOOLCORE_STREAM_EVENT_TEXT, 0, ["", "", text]),
            StreamEvent::Reasoning(text) => (TOOLCORE_STREAM_EVENT_REASONING, 0, ["", "", text]),
            StreamEvent::CallStart { index, id, name } => {
                (TOOLCORE_STREAM_EVENT_CALL_START, index, [id, name, ""])
            }
            StreamEvent::Arguments { index, delta } => {
                (TOOLCORE_STREAM_EVENT_ARGUMENTS, index, ["", "", delta])
            }
            StreamEvent::CallEnd { index } => (TOOLCORE_STREAM_EVENT_CALL_END, index, [""; 3]),
        };
        let [id, name, text] = [id, name, text].map(toolcore_str_t::of);
        let struct_size = size_of::<Self>();
        toolcore_stream_event_t { struct_size, index, id, name, text, kind, reserved: 0 }
    }
}
