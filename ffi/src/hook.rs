//! Hooks: what sees every call before and after it runs.

use core::ffi::c_void;
use core::ptr;

use toolcore_core::registry::Draft;
use toolcore_core::sink::Sink;

use crate::abi::{hands_over, sized_struct, toolcore_str_t};
use crate::call::toolcore_tool_call_t;
use crate::callback::HostHook;
use crate::guard::{FULL, NOT_FOUND, guard, guard_taking, read};
use crate::object::{Lent, Object};
use crate::registry::toolcore_registry_t;
use crate::result::toolcore_result_t;
use crate::status::toolcore_status_t;
use crate::tool::toolcore_drop_fn;

/// A call that a pre-hook may look at, rewrite or block.
pub struct toolcore_draft_t {
    _opaque: [u8; 0],
}

/// Something that sees every call. What it is called with is valid until it returns; it runs in the thread
/// that dispatches, must not change the registry, and must not throw or longjmp.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_hook_t {
    /// sizeof(toolcore_hook_t)
    pub struct_size: usize,
    /// Called before the tool is looked up; may rewrite the call. Any status but TOOLCORE_OK blocks it: the
    /// model reads what toolcore_draft_block was given, else "Tool call 'x' blocked by pre-hook.". NULL if
    /// there is nothing to do before.
    pub before: Option<
        unsafe extern "C" fn(user_data: *mut c_void, draft: *mut toolcore_draft_t) -> toolcore_status_t,
    >,
    /// Called after a callback returned in time, with success or not, and for one that answers later when the call is
    /// completed in time; may change or replace the result. `call` is as pre-hooks left it, where it is completed later
    /// as the model wrote it. NULL if there is nothing to do after.
    pub after: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            call: *const toolcore_tool_call_t,
            result: *mut toolcore_result_t,
        ),
    >,
    /// Given to the functions.
    pub user_data: *mut c_void,
    /// Run once with user_data when the hook is let go, or NULL.
    pub drop: toolcore_drop_fn,
}

/// Adds a hook. Hooks run in the order in which they were added and stay until the registry ends; there can
/// be 4.
///
/// Returns TOOLCORE_OK; ERR_FULL; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT. user_data is taken as by
/// toolcore_registry_add, with the same limits. `hook` is not kept.
/// Threads: needs the registry alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_add_hook(
    registry: *mut toolcore_registry_t,
    hook: *const toolcore_hook_t,
) -> toolcore_status_t {
    guard_taking(
        ptr::null_mut(),
        |c| c.take_user_data(hook),
        |c, user_data, _| {
            let toolcore_hook_t { before, after, .. } = c.input(hook)?;
            let hook = HostHook { before, after, user_data };
            c.object_mut(registry)?.add_hook(hook).map_err(|_| FULL)
        },
    )
}

/// The name that is called, as the model wrote it; empty for NULL. Valid until the hook returns.
///
/// Threads: that of the hook, as for all functions of a draft.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_draft_name(draft: *const toolcore_draft_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| Ok(toolcore_str_t::of(c.lent(&c.object(draft)?.draft).call().name)))
}

/// The arguments' JSON text as the model wrote it, unchecked; empty for NULL. Valid until the hook returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_draft_arguments(draft: *const toolcore_draft_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| Ok(toolcore_str_t::of(c.lent(&c.object(draft)?.draft).call().arguments)))
}

/// The call's id; empty if it has none, and for NULL. Valid until the hook returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_draft_id(draft: *const toolcore_draft_t) -> toolcore_str_t {
    read(toolcore_str_t::EMPTY, |c| {
        Ok(toolcore_str_t::of(c.lent(&c.object(draft)?.draft).call().id.ok_or(NOT_FOUND)?))
    })
}

/// Calls another tool instead.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if the call's scratch memory is too small; ERR_INVALID_UTF8;
/// ERR_INVALID_ARGUMENT. `name` is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_draft_set_name(
    draft: *mut toolcore_draft_t,
    name: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let name = c.text(name)?;
        let draft = c.lent_mut(&mut c.object_mut(draft)?.draft);
        draft.set_name(name).map_err(|error| why.error(error))
    })
}

/// Replaces the arguments' JSON text, which is checked like any other.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if the call's scratch memory is too small; ERR_INVALID_UTF8;
/// ERR_INVALID_ARGUMENT. `json` is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_draft_set_arguments(
    draft: *mut toolcore_draft_t,
    json: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let json = c.text(json)?;
        let draft = c.lent_mut(&mut c.object_mut(draft)?.draft);
        draft.set_arguments(json).map_err(|error| why.error(error))
    })
}

/// Blocks the call, whatever the hook returns; the model reads `message`, cut to 256 bytes.
///
/// Returns TOOLCORE_OK; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT. `message` is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_draft_block(
    draft: *mut toolcore_draft_t,
    message: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let message = c.text(message)?;
        let draft = c.object_mut(draft)?;
        draft.blocked = true;
        let why = c.lent_mut(&mut draft.why);
        why.truncate(0);
        why.put(message);
        Ok(())
    })
}

sized_struct!(toolcore_hook_t);
hands_over!(toolcore_hook_t);

/// A draft while its hook runs.
pub(crate) struct DraftBody {
    pub(crate) draft: Lent<Draft<'static, 'static>>,
    pub(crate) why: Lent<Sink<'static>>,
    pub(crate) blocked: bool,
}

impl Object for toolcore_draft_t {
    type Body = DraftBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCdr");
}
