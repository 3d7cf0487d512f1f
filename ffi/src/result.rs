//! What a tool answers.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use toolcore_core::result::{OutcomeKind, Part, ToolResult, Usage};
use toolcore_core::time::Duration;

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::guard::{Fail, NOT_FOUND, guard, read, unknown};
use crate::object::{Lent, Live, Memory, Object, Place};
use crate::status::toolcore_status_t;

/// What a tool answered: up to 8 parts, or a failure. In a callback it stands in the memory of the call; a
/// host can make one of its own with toolcore_result_init. One thread at a time.
///
/// Text that outgrows the memory is cut, and the model is told so; other parts must fit whole. What is appended
/// is copied. It must not lie in the result's own memory, where toolcore_result_part finds it: that is
/// ERR_INVALID_ARGUMENT and changes nothing. Copy it before.
pub struct toolcore_result_t {
    _opaque: [u8; 0],
}

/// The tool ran and answered.
pub const TOOLCORE_OUTCOME_ANSWERED: u32 = 0;
/// No tool has that name.
pub const TOOLCORE_OUTCOME_UNKNOWN_TOOL: u32 = 1;
/// The arguments are not JSON or do not fit the schema.
pub const TOOLCORE_OUTCOME_BAD_ARGUMENTS: u32 = 2;
/// The tool ran and reported a failure.
pub const TOOLCORE_OUTCOME_TOOL_FAILED: u32 = 3;
/// The deadline had passed when the tool answered, or it never did; its answer is discarded.
pub const TOOLCORE_OUTCOME_TIMED_OUT: u32 = 4;
/// A hook refused the call.
pub const TOOLCORE_OUTCOME_BLOCKED: u32 = 5;
/// The turn had more calls than are allowed.
pub const TOOLCORE_OUTCOME_OVER_LIMIT: u32 = 6;
/// The host gave the call up.
pub const TOOLCORE_OUTCOME_CANCELLED: u32 = 7;

/// toolcore_part_t.kind: text for the model.
pub const TOOLCORE_PART_TEXT: u32 = 1;
/// toolcore_part_t.kind: a JSON value, its text in `text`.
pub const TOOLCORE_PART_JSON: u32 = 2;
/// toolcore_part_t.kind: an image.
pub const TOOLCORE_PART_IMAGE: u32 = 3;
/// toolcore_part_t.kind: a sound.
pub const TOOLCORE_PART_AUDIO: u32 = 4;
/// toolcore_part_t.kind: a link to a resource, its URI in `text`.
pub const TOOLCORE_PART_LINK: u32 = 5;

/// One part of a result; filled in by toolcore_result_part.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_part_t {
    /// sizeof(toolcore_part_t)
    pub struct_size: usize,
    /// The text, JSON or URI.
    pub text: toolcore_str_t,
    /// The name of a link, or the media type of an image or a sound.
    pub name: toolcore_str_t,
    /// The bytes of an image or a sound.
    pub data: *const c_void,
    /// How many there are.
    pub data_len: usize,
    /// Bytes that a text had before it was cut to what is here.
    pub total: usize,
    /// One of TOOLCORE_PART_.
    pub kind: u32,
    /// 0
    pub reserved: u32,
}

/// What a run cost. Zero is unknown.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_usage_t {
    /// sizeof(toolcore_usage_t)
    pub struct_size: usize,
    /// Must be 0.
    pub reserved: usize,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from a cache, part of the input.
    pub cached_tokens: u64,
    /// Tokens thought, part of the output.
    pub thinking_tokens: u64,
    /// Cost in millionths of the currency's unit.
    pub cost_micros: u64,
    /// How long it took.
    pub latency_ms: u64,
}

/// Bytes of memory that a result needs beside its parts. What is more is for the parts.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_result_mem_size() -> usize {
    Memory::room_for::<Live<ResultBody>>(1) + Memory::room_for::<ToolResult<'static>>(1)
}

/// Makes an empty, successful result in `mem`, which it keeps until toolcore_result_deinit.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if mem_len is less than toolcore_result_mem_size() (there is
/// no detail here that would tell it);
/// ERR_INVALID_ARGUMENT. Unless OK, *out is NULL.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_result_init(
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_result_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let mut memory = c.memory(mem, mem_len)?;
        let places = places(&mut memory)?;
        out.set(finish(places, ToolResult::new(memory.rest())));
        Ok(())
    })
}

/// Ends a result that toolcore_result_init or toolcore_dispatch made. It owns nothing but its memory, which
/// is the host's again. NULL is ignored. Never call it in a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_deinit(result: *mut toolcore_result_t) {
    guard(ptr::null_mut(), |c, _| c.end(result, |_| ()));
}

/// Appends text, which is copied.
///
/// Returns TOOLCORE_OK, also for a text that had to be cut; ERR_FULL for the ninth part; ERR_INVALID_UTF8;
/// ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_text(
    result: *mut toolcore_result_t,
    text: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let (c, result) = append(c, result)?;
        result.text(c.text(text)?).map_err(|error| why.error(error))
    })
}

/// Appends a JSON value, which is checked and copied.
///
/// Returns TOOLCORE_OK; ERR_BAD_JSON; ERR_NO_SPACE; ERR_FULL; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_json(
    result: *mut toolcore_result_t,
    json: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let (c, result) = append(c, result)?;
        result.json(c.text(json)?).map_err(|error| why.error(error))
    })
}

/// Appends an image by its media type, such as "image/png", and its bytes, which are copied as they are.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_FULL; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_image(
    result: *mut toolcore_result_t,
    media_type: toolcore_str_t,
    data: *const c_void,
    len: usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let (c, result) = append(c, result)?;
        result.image(c.text(media_type)?, c.bytes(data, len)?).map_err(|error| why.error(error))
    })
}

/// Appends a sound by its media type, such as "audio/wav", and its bytes, which are copied as they are.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_FULL; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_audio(
    result: *mut toolcore_result_t,
    media_type: toolcore_str_t,
    data: *const c_void,
    len: usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let (c, result) = append(c, result)?;
        result.audio(c.text(media_type)?, c.bytes(data, len)?).map_err(|error| why.error(error))
    })
}

/// Appends a link to something that the client can read.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_FULL; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_link(
    result: *mut toolcore_result_t,
    name: toolcore_str_t,
    uri: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let (c, result) = append(c, result)?;
        result.link(c.text(name)?, c.text(uri)?).map_err(|error| why.error(error))
    })
}

/// Turns the result into a failure: the model reads "Tool error: " and the message. Parts that were appended
/// are discarded.
///
/// Returns TOOLCORE_OK; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_error(
    result: *mut toolcore_result_t,
    message: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let (c, result) = append(c, result)?;
        result.error(c.text(message)?);
        Ok(())
    })
}

/// Says whether calling again could help after a failure: 0 no, else yes.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_retryable(
    result: *mut toolcore_result_t,
    retryable: u32,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        change(c, result)?.set_retryable(retryable != 0);
        Ok(())
    })
}

/// Adds what the run cost.
///
/// Returns TOOLCORE_OK; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_usage(
    result: *mut toolcore_result_t,
    usage: *const toolcore_usage_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let usage = c.input(usage)?.to_core()?;
        change(c, result)?.add_usage(usage);
        Ok(())
    })
}

/// Discards all parts and the failure; a post-hook that replaces a result begins with this.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_clear(result: *mut toolcore_result_t) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        change(c, result)?.clear();
        Ok(())
    })
}

/// What became of the call, one of TOOLCORE_OUTCOME_; TOOLCORE_OUTCOME_ANSWERED for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_kind(result: *const toolcore_result_t) -> u32 {
    read(TOOLCORE_OUTCOME_ANSWERED, |c| Ok(outcome(look(c, result)?.kind())))
}

/// An outcome's name in snake case, such as "timed_out"; "unknown" for any other number. Never NULL, lives
/// as long as the program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_outcome_name(outcome_kind: u32) -> *const c_char {
    name(outcome_kind).as_ptr()
}

/// Whether the model is told that the call failed; false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_failed(result: *const toolcore_result_t) -> bool {
    read(false, |c| Ok(look(c, result)?.failed()))
}

/// How many parts there are; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_len(result: *const toolcore_result_t) -> usize {
    read(0, |c| Ok(look(c, result)?.len()))
}

/// The part at a place, from 0. What it points to lives in the result until that is changed.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_ARGUMENT, also for a wrong struct_size in *out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_part(
    result: *const toolcore_result_t,
    index: usize,
    out: *mut toolcore_part_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out_struct(out)?;
        let part = look(c, result)?.parts().nth(index).ok_or(NOT_FOUND)?;
        out.set(toolcore_part_t::of(&part));
        Ok(())
    })
}

sized_struct!(toolcore_part_t);
sized_struct!(toolcore_usage_t);

/// What a result's handle stands for, wherever that is.
pub(crate) type ResultBody = Lent<ToolResult<'static>>;

impl Object for toolcore_result_t {
    type Body = ResultBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCrs");
}

/// Room for a result and its handle.
pub(crate) fn places(
    memory: &mut Memory,
) -> Result<(Place<Live<ResultBody>>, Place<ToolResult<'static>>), Fail> {
    Ok((memory.reserve()?, memory.reserve()?))
}

/// Puts a result in its place.
pub(crate) fn finish(
    (handle, place): (Place<Live<ResultBody>>, Place<ToolResult<'static>>),
    result: ToolResult<'static>,
) -> *mut toolcore_result_t {
    handle.object(Lent::of_mut(place.fill(result)))
}

/// A result to look at.
pub(crate) fn look<'m>(c: Caller, result: *const toolcore_result_t) -> Result<&'m ToolResult<'static>, Fail> {
    Ok(c.lent(c.object(result)?))
}

fn change<'m>(c: Caller, result: *mut toolcore_result_t) -> Result<&'m mut ToolResult<'static>, Fail> {
    Ok(c.lent_mut(c.object_mut(result)?))
}

/// A result to append to, and who reads what is appended: it must not lie in the result itself.
fn append<'m>(
    c: Caller,
    result: *mut toolcore_result_t,
) -> Result<(Caller, &'m mut ToolResult<'static>), Fail> {
    let result = change(c, result)?;
    Ok((c.apart_from(Span::of(result.memory())), result))
}

impl toolcore_usage_t {
    fn to_core(self) -> Result<Usage, Fail> {
        if self.reserved != 0 {
            return Err(unknown!("reserved"));
        }
        Ok(Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cached_tokens: self.cached_tokens,
            thinking_tokens: self.thinking_tokens,
            cost_micros: self.cost_micros,
            latency: Duration::from_millis(self.latency_ms),
        })
    }
}

impl toolcore_part_t {
    fn of(part: &Part<'_>) -> Self {
        let blank = toolcore_part_t {
            struct_size: 0,
            text: toolcore_str_t::EMPTY,
            name: toolcore_str_t::EMPTY,
            data: ptr::null(),
            data_len: 0,
            total: 0,
            kind: 0,
            reserved: 0,
        };
        let media = |kind, media_type, data: &[u8]| toolcore_part_t {
            kind,
            name: toolcore_str_t::of(media_type),
            data: data.as_ptr().cast(),
            data_len: data.len(),
            ..blank
        };
        match *part {
            Part::Text { text, total } => {
                toolcore_part_t { kind: TOOLCORE_PART_TEXT, text: toolcore_str_t::of(text), total, ..blank }
            }
            Part::Json(text) => toolcore_part_t {
                kind: TOOLCORE_PART_JSON,
                text: toolcore_str_t::of(text),
                total: text.len(),
                ..blank
            },
            Part::Image { media_type, data } => media(TOOLCORE_PART_IMAGE, media_type, data),
            Part::Audio { media_type, data } => media(TOOLCORE_PART_AUDIO, media_type, data),
            Part::Link { name, uri } => toolcore_part_t {
                kind: TOOLCORE_PART_LINK,
                text: toolcore_str_t::of(uri),
                name: toolcore_str_t::of(name),
                total: uri.len(),
                ..blank
            },
        }
    }
}

/// The constant of an outcome.
pub(crate) fn outcome(kind: OutcomeKind) -> u32 {
    match kind {
        OutcomeKind::Answered => TOOLCORE_OUTCOME_ANSWERED,
        OutcomeKind::UnknownTool => TOOLCORE_OUTCOME_UNKNOWN_TOOL,
        OutcomeKind::BadArguments => TOOLCORE_OUTCOME_BAD_ARGUMENTS,
        OutcomeKind::ToolFailed => TOOLCORE_OUTCOME_TOOL_FAILED,
        OutcomeKind::TimedOut => TOOLCORE_OUTCOME_TIMED_OUT,
        OutcomeKind::Blocked => TOOLCORE_OUTCOME_BLOCKED,
        OutcomeKind::OverLimit => TOOLCORE_OUTCOME_OVER_LIMIT,
        OutcomeKind::Cancelled => TOOLCORE_OUTCOME_CANCELLED,
    }
}

/// The names of [`OutcomeKind`], with a NUL.
fn name(outcome: u32) -> &'static CStr {
    match outcome {
        TOOLCORE_OUTCOME_ANSWERED => c"answered",
        TOOLCORE_OUTCOME_UNKNOWN_TOOL => c"unknown_tool",
        TOOLCORE_OUTCOME_BAD_ARGUMENTS => c"bad_arguments",
        TOOLCORE_OUTCOME_TOOL_FAILED => c"tool_failed",
        TOOLCORE_OUTCOME_TIMED_OUT => c"timed_out",
        TOOLCORE_OUTCOME_BLOCKED => c"blocked",
        TOOLCORE_OUTCOME_OVER_LIMIT => c"over_limit",
        TOOLCORE_OUTCOME_CANCELLED => c"cancelled",
        _ => c"unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_the_names_of_the_core() {
        let kinds = [
            OutcomeKind::Answered,
            OutcomeKind::UnknownTool,
            OutcomeKind::BadArguments,
            OutcomeKind::ToolFailed,
            OutcomeKind::TimedOut,
            OutcomeKind::Blocked,
            OutcomeKind::OverLimit,
            OutcomeKind::Cancelled,
        ];
        for (number, kind) in (0..).zip(kinds) {
            assert_eq!(outcome(kind), number);
            assert_eq!(name(number).to_str(), Ok(kind.name()));
        }
        assert_eq!(name(8), c"unknown");
    }
}
