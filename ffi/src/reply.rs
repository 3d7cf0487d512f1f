//! What a model's reply asks for.

use core::ffi::{c_char, c_void};
use core::ptr;

use toolcore_core::dialect::{
    Finish, ReplayError, Reply, ReplyError, ReplyOptions, parse_reply, write_provider_error,
};
use toolcore_core::json::Options;
use toolcore_core::scratch::Scratch;
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::call::toolcore_tool_call_t;
use crate::dialect::known_dialect;
use crate::guard::{Fail, NOT_FOUND, UNKNOWN, Why, guard, read};
use crate::json::read_options;
use crate::object::{Live, Memory, Object, scratch_for};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// A reply that was read, whole or as a stream: its calls and its text.
pub struct toolcore_reply_t {
    _opaque: [u8; 0],
}

/// The reply is complete.
pub const TOOLCORE_FINISH_COMPLETE: u32 = 0;
/// The reply is not whole: it ran into a token limit, or its stream stopped early. The calls that are not whole, or may
/// not be, are marked and never executed.
pub const TOOLCORE_FINISH_TRUNCATED: u32 = 1;
/// The provider or the model refused to go on. All calls are marked and never executed.
pub const TOOLCORE_FINISH_REFUSED: u32 = 2;
/// The provider could not read what the model wrote as a call. All calls are marked and never executed.
pub const TOOLCORE_FINISH_MALFORMED: u32 = 3;
/// The provider stopped for now, and the model has more to say: append the turn that toolcore_reply_replay writes,
/// and the results if there are calls, and ask again.
pub const TOOLCORE_FINISH_PAUSED: u32 = 4;

/// A reason in C.
pub(crate) fn finish_of(finish: Finish) -> u32 {
    match finish {
        Finish::Complete => TOOLCORE_FINISH_COMPLETE,
        Finish::Truncated => TOOLCORE_FINISH_TRUNCATED,
        Finish::Refused => TOOLCORE_FINISH_REFUSED,
        Finish::Malformed => TOOLCORE_FINISH_MALFORMED,
        Finish::Paused => TOOLCORE_FINISH_PAUSED,
    }
}

/// How a reply is read. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_reply_opts_t {
    /// sizeof(toolcore_reply_opts_t)
    pub struct_size: usize,
    /// How deep it may be nested; 0 for the default, 128.
    pub max_depth: u32,
    /// TOOLCORE_JSON_REPLACE_SURROGATES, or 0.
    pub flags: u32,
    /// Which turn of the conversation it is. The number stands in the ids that are made for calls without one
    /// ("toolcore_7_0"), so that no two of a conversation are the same if each turn has a number of its own. 0 to
    /// leave it out ("toolcore_0").
    pub turn: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// toolcore_replay_opts_t.flags: leave the enclosing brackets out, to paste the messages into a list.
pub const TOOLCORE_REPLAY_BARE: u32 = 1;

/// How the model's turn is written. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_replay_opts_t {
    /// sizeof(toolcore_replay_opts_t)
    pub struct_size: usize,
    /// TOOLCORE_REPLAY_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Bytes of memory that toolcore_reply_parse needs for this reply, in *need.
///
/// Returns TOOLCORE_OK; ERR_BAD_JSON; ERR_BAD_REPLY; ERR_PROVIDER; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT.
/// Unless OK, *need is 0.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_reply_mem_size(
    dialect: u32,
    reply: toolcore_str_t,
    opts: *const toolcore_reply_opts_t,
    need: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let need = c.out(need)?;
        need.set(0);
        let (dialect, options) = (known_dialect(dialect)?, options(c, opts)?);
        let reply = c.bytes(reply.ptr.cast(), reply.len)?;
        need.set(match parse_reply(dialect, reply, options, Scratch::default()) {
            Ok(_) => reply_size(0, 0),
            Err(ReplyError::NoSpace { words, bytes }) => reply_size(words, bytes),
            Err(error) => return Err(refused(why, error, reply, &options.json)),
        });
        Ok(())
    })
}

/// Reads a whole reply into an object in `mem`.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE (why.need: bytes of mem); ERR_BAD_JSON; ERR_BAD_REPLY; ERR_PROVIDER if
/// the provider answered with an error object (its words are in why.message); ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT. Unless OK, *out is
/// NULL.
/// The text of `reply` and `mem` are used until toolcore_reply_deinit.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_reply_parse(
    dialect: u32,
    reply: toolcore_str_t,
    opts: *const toolcore_reply_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_reply_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let (dialect, options) = (known_dialect(dialect)?, options(c, opts)?);
        let text = Span::of_text(reply);
        let reply = c.apart_from(Span::new(mem, mem_len)).bytes(reply.ptr.cast(), reply.len)?;
        let mut memory = c.memory(mem, mem_len)?;
        let place = memory.reserve::<Live<ReplyBody>>();
        let scratch = if place.is_ok() { memory.scratch() } else { Scratch::default() };
        match (parse_reply(dialect, reply, options, scratch), place) {
            (Ok((reply, _)), Ok(place)) => {
                out.set(place.object(ReplyBody { reply, text, memory: Span::new(mem, mem_len) }));
                Ok(())
            }
            (Ok(_), Err(fail)) => {
                why.need = reply_size(0, 0);
                Err(fail)
            }
            (Err(error), _) => {
                let fail = refused(why, error, reply, &options.json);
                if let ReplyError::NoSpace { words, bytes } = error {
                    why.need = reply_size(words, bytes);
                }
                Err(fail)
            }
        }
    })
}

/// Ends a reply. It owns nothing but its memory, which is the host's again. NULL is ignored.
///
/// Threads: any, when nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_reply_deinit(reply: *mut toolcore_reply_t) {
    guard(ptr::null_mut(), |c, _| c.end(reply, |_| ()));
}

/// How many calls there are; 0 for NULL. None: the model has said all that it has to say.
///
/// Threads: any, as for all functions of a const reply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_reply_len(reply: *const toolcore_reply_t) -> usize {
    read(0, |c| Ok(c.object(reply)?.reply.len()))
}

/// The call at a place of the reply, from 0.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_ARGUMENT, also for a wrong struct_size in *out. Its
/// strings live as long as the reply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_reply_call(
    reply: *const toolcore_reply_t,
    index: usize,
    out: *mut toolcore_tool_call_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out_struct(out)?;
        let call = c.object(reply)?.reply.get(index).ok_or(NOT_FOUND)?;
        out.set(toolcore_tool_call_t::of(&call));
        Ok(())
    })
}

/// Writes the text beside the calls, its pieces joined as they are.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_reply_text(
    reply: *const toolcore_reply_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let read = c.object(reply).map_or([Span::NOWHERE; 2], ReplyBody::read);
        let mut output = c.output_beside(buf, len, out_len, read)?;
        let mut sink = Sink::new(output.buffer());
        c.object(reply)?.reply.write_text(&mut sink);
        let len = sink.len();
        output.finish(len)
    })
}

/// Writes the model's turn to append to the conversation before the results: a JSON array of messages, for OpenAI
/// Responses of items. What the provider must get back keeps its exact bytes and its order, what it only puts out is
/// left away, and a call without an id has the one that its result gets (toolcore_tool_call_t.wire_id).
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_UNSUPPORTED in a dialect without turns (MCP), for a stream of which only
/// the calls were kept, and for a flag that is not known; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_reply_replay(
    reply: *const toolcore_reply_t,
    opts: *const toolcore_replay_opts_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let read = c.object(reply).map_or([Span::NOWHERE; 2], ReplyBody::read);
        let mut output = c.output_beside(buf, len, out_len, read)?;
        let opts = c.options(opts)?;
        if opts.flags & !TOOLCORE_REPLAY_BARE != 0 || opts.reserved != 0 {
            return Err(UNKNOWN);
        }
        let reply = &c.object(reply)?.reply;
        let mut sink = Sink::new(output.buffer());
        match reply.write_replay(opts.flags & TOOLCORE_REPLAY_BARE != 0, &mut sink) {
            Ok(()) => {
                let len = sink.len();
                output.finish(len)
            }
            Err(ReplayError::NoSpace(NoSpace { need })) => {
                why.need = need;
                output.finish(need)
            }
            Err(error) => Err(why.error(error)),
        }
    })
}

/// Why the reply ended, one of TOOLCORE_FINISH_; TOOLCORE_FINISH_COMPLETE for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_reply_finish(reply: *const toolcore_reply_t) -> u32 {
    read(TOOLCORE_FINISH_COMPLETE, |c| Ok(finish_of(c.object(reply)?.reply.finish())))
}

sized_struct!(toolcore_reply_opts_t, since turn);
sized_struct!(toolcore_replay_opts_t);

/// A reply, where its text is, and the memory that it lives in.
pub(crate) struct ReplyBody {
    pub(crate) reply: Reply<'static>,
    pub(crate) text: Span,
    pub(crate) memory: Span,
}

impl ReplyBody {
    /// What is read of memory when the reply is.
    pub(crate) fn read(&self) -> [Span; 2] {
        [self.text, self.memory]
    }
}

impl Object for toolcore_reply_t {
    type Body = ReplyBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCrp");
}

/// Says why a reply could not be read: of an error of the provider, in its words.
pub(crate) fn refused(why: &mut Why, error: ReplyError, reply: &[u8], options: &Options) -> Fail {
    match error {
        ReplyError::Provider => why.provider(error, |words| write_provider_error(reply, options, words)),
        error => why.error(error),
    }
}

fn options(c: Caller, opts: *const toolcore_reply_opts_t) -> Result<ReplyOptions, Fail> {
    let opts = c.options(opts)?;
    if opts.reserved != 0 {
        return Err(UNKNOWN);
    }
    Ok(ReplyOptions { json: read_options(opts.max_depth, opts.flags)?, turn: opts.turn })
}

fn reply_size(words: usize, bytes: usize) -> usize {
    Memory::room_for::<Live<ReplyBody>>(1).saturating_add(scratch_for(words, bytes))
}
