//! A call as the model wrote it, and as a callback sees it.

use core::cell::Cell;
use core::ptr;

use toolcore_core::call::{ArgError, Args, Call, Ticket, ToolCall};
use toolcore_core::json::Kind;
use toolcore_core::time::{Duration, Instant};

use crate::abi::{Caller, sized_struct, toolcore_str_t};
use crate::guard::{Fail, guard, read, unknown};
use crate::object::{Lent, Object};
use crate::status::{Explain, toolcore_status_t};

/// toolcore_tool_call_t.flags: it has an id, which may be empty. Said by the library; a host need not say it
/// for an id that is not empty.
pub const TOOLCORE_CALL_HAS_ID: u32 = 1;
/// toolcore_tool_call_t.flags: it is never executed: the reply was cut off in or after it, or was
/// refused or malformed.
pub const TOOLCORE_CALL_TRUNCATED: u32 = 2;
/// toolcore_tool_call_t.flags: it is of a tool that takes free text (OpenAI's custom tools): the arguments are
/// that text, whole whatever its length, and its result is written as that of such a call. A registered tool takes
/// JSON: dispatching the call is refused with a result that says so, unless a pre-hook gives it arguments.
pub const TOOLCORE_CALL_CUSTOM: u32 = 4;

/// A call that a model asks for, unchecked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_tool_call_t {
    /// sizeof(toolcore_tool_call_t), the same in all elements of an array.
    pub struct_size: usize,
    /// The provider's id, its exact text; empty if there is none.
    pub id: toolcore_str_t,
    /// The name that the model used, an alias maybe.
    pub name: toolcore_str_t,
    /// The arguments' JSON text as it came; empty if there were none.
    pub arguments: toolcore_str_t,
    /// TOOLCORE_CALL_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
    /// The id by which results and the model's turn (toolcore_reply_replay) refer to the call: `id`, or one that the
    /// library made and no other call of the reply has, where there is none, the provider does not allow it, or a
    /// call before it has the same. Where the provider wants no ids, one that was made is for the host alone. A host
    /// that makes a call need not set it.
    pub wire_id: toolcore_str_t,
    /// The set of the provider's tools that the tool is of (Anthropic's toolset_name), which its result says too;
    /// empty for the host's own tools.
    pub toolset: toolcore_str_t,
}

/// A call whose arguments were accepted, as a callback gets it. Valid until the callback returns, and only
/// in its thread.
///
/// A path is a JSON Pointer if it begins with "/" ("/color/red"), else one property's name taken whole. Where an
/// argument is null, the getters of a type say ERR_WRONG_TYPE: ask toolcore_call_is_null before.
pub struct toolcore_call_t {
    _opaque: [u8; 0],
}

/// The registered name of the tool; empty for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_name(call: *const toolcore_call_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| Ok(toolcore_str_t::of(c.lent(&c.object(call)?.call).name)))
}

/// The provider's id; empty if there is none, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_id(call: *const toolcore_call_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| {
        Ok(toolcore_str_t::of(c.lent(&c.object(call)?.call).id.unwrap_or_default()))
    })
}

/// All arguments as a JSON object; empty for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_arguments(call: *const toolcore_call_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| Ok(toolcore_str_t::of(c.lent(&c.object(call)?.call).args.value().raw())))
}

/// A string argument, decoded; one with escapes is copied into the call's scratch memory at each call.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_WRONG_TYPE; ERR_NO_SPACE if the scratch memory is too small;
/// ERR_INVALID_UTF8 for `path`; ERR_INVALID_ARGUMENT. Unless OK, *out is empty, and for all getters not
/// written otherwise. It is valid until the callback returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_get_str(
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        c.out(out)?.set(toolcore_str_t::EMPTY);
        get(c, call, path, out, |args, path| args.str(path).map(toolcore_str_t::of))
    })
}

/// An integer argument; 5.0 and 1e2 are integers.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_WRONG_TYPE; ERR_OUT_OF_RANGE; ERR_INVALID_UTF8 for `path`;
/// ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_get_i64(
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut i64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| get(c, call, path, out, |args, path| args.i64(path)))
}

/// An integer argument that is not negative.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_WRONG_TYPE; ERR_OUT_OF_RANGE; ERR_INVALID_UTF8 for `path`;
/// ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_get_u64(
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut u64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| get(c, call, path, out, |args, path| args.u64(path)))
}

/// A number argument, as the nearest double.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_WRONG_TYPE; ERR_OUT_OF_RANGE, never an infinity;
/// ERR_INVALID_UTF8 for `path`; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_get_f64(
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut f64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| get(c, call, path, out, |args, path| args.f64(path)))
}

/// A boolean argument.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_WRONG_TYPE; ERR_INVALID_UTF8 for `path`; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_get_bool(
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut bool,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| get(c, call, path, out, |args, path| args.bool(path)))
}

/// The JSON text of any argument, for toolcore_json_. Valid until the callback returns.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_UTF8 for `path`; ERR_INVALID_ARGUMENT. Unless OK, *out is
/// empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_get_json(
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        c.out(out)?.set(toolcore_str_t::EMPTY);
        get(c, call, path, out, |args, path| args.json(path).map(toolcore_str_t::of))
    })
}

/// Whether an argument is there and null, as optional ones can be. false where there is none, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_is_null(call: *const toolcore_call_t, path: toolcore_str_t) -> bool {
    read(false, |c| {
        let path = c.text(path)?;
        Ok(c.lent(&c.object(call)?.call).args.get(path).is_some_and(|value| value.kind() == Kind::Null))
    })
}

/// The ticket by which the call is completed once its callback has returned TOOLCORE_PENDING; 0 where nothing would wait
/// for it (toolcore_answer, toolcore_dispatch), and for NULL. A number that no other call of the same
/// toolcore_inflight_t has: keep it with what will bring the answer. If the callback returns anything else, it is worth
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_ticket(call: *const toolcore_call_t) -> u64 {
    read(0, |c| Ok(c.lent(&c.object(call)?.call).ticket().map_or(0, Ticket::as_u64)))
}

/// Milliseconds until the deadline, 0 once it is reached; UINT64_MAX without one, and for NULL. A callback
/// that returns later has its result discarded, and the model reads of a timeout; one that answers later has until then
/// to be completed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_time_left_ms(call: *const toolcore_call_t) -> u64 {
    read(NEVER, |c| Ok(c.lent(&c.object(call)?.call).time_left().map_or(NEVER, Duration::as_millis)))
}

/// The deadline in milliseconds, by the clock that the call was given: the host's, on a worker thread that of the pool;
/// UINT64_MAX without one, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_call_deadline_ms(call: *const toolcore_call_t) -> u64 {
    read(NEVER, |c| Ok(c.lent(&c.object(call)?.call).deadline().instant().map_or(NEVER, Instant::as_millis)))
}

sized_struct!(toolcore_tool_call_t, since wire_id);

impl toolcore_tool_call_t {
    /// A call as C sees it.
    pub(crate) fn of(call: &ToolCall<'_>) -> Self {
        let truncated = if call.truncated { TOOLCORE_CALL_TRUNCATED } else { 0 };
        toolcore_tool_call_t {
            struct_size: size_of::<Self>(),
            id: call.id.map_or(toolcore_str_t::EMPTY, toolcore_str_t::of),
            name: toolcore_str_t::of(call.name),
            arguments: toolcore_str_t::of(call.arguments),
            flags: truncated
                | if call.id.is_some() { TOOLCORE_CALL_HAS_ID } else { 0 }
                | if call.custom { TOOLCORE_CALL_CUSTOM } else { 0 },
            reserved: 0,
            wire_id: toolcore_str_t::of(if call.wire_id.is_empty() {
                call.id.unwrap_or_default()
            } else {
                call.wire_id
            }),
            toolset: toolcore_str_t::of(call.toolset),
        }
    }

    /// A call that C hands in.
    pub(crate) fn to_core<'a>(self, c: Caller) -> Result<ToolCall<'a>, Fail> {
        const FLAGS: u32 = TOOLCORE_CALL_HAS_ID | TOOLCORE_CALL_TRUNCATED | TOOLCORE_CALL_CUSTOM;
        if self.flags & !FLAGS != 0 {
            return Err(unknown!("flags"));
        }
        if self.reserved != 0 {
            return Err(unknown!("reserved"));
        }
        let (id, wire_id) = (id(c, self.id, self.flags & TOOLCORE_CALL_HAS_ID != 0)?, c.text(self.wire_id)?);
        Ok(ToolCall {
            id,
            wire_id: if wire_id.is_empty() { id.unwrap_or_default() } else { wire_id },
            name: c.text(self.name)?,
            arguments: c.text(self.arguments)?,
            toolset: c.text(self.toolset)?,
            truncated: self.flags & TOOLCORE_CALL_TRUNCATED != 0,
            custom: self.flags & TOOLCORE_CALL_CUSTOM != 0,
        })
    }
}

/// An id that is there: said so, or not empty.
pub(crate) fn id<'a>(c: Caller, id: toolcore_str_t, there: bool) -> Result<Option<&'a str>, Fail> {
    let id = c.text(id)?;
    Ok((there || !id.is_empty()).then_some(id))
}

/// A call while its callback runs.
pub(crate) struct CallBody {
    pub(crate) call: Lent<Call<'static>>,
    /// The last getter that failed: what it returned, and why.
    pub(crate) failed: Cell<Option<(toolcore_status_t, ArgError)>>,
}

impl Object for toolcore_call_t {
    type Body = CallBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCcl");
}

fn get<T>(
    c: Caller,
    call: *const toolcore_call_t,
    path: toolcore_str_t,
    out: *mut T,
    read: impl FnOnce(&Args<'static>, &str) -> Result<T, ArgError>,
) -> Result<(), Fail> {
    let out = c.out(out)?;
    let path = c.text(path)?;
    let body = c.object(call)?;
    let value = read(&c.lent(&body.call).args, path).map_err(|error| {
        body.failed.set(Some((error.status(), error)));
        Fail(error.status(), "")
    })?;
    out.set(value);
    Ok(())
}

const NEVER: u64 = u64::MAX;
