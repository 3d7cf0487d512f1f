//! One call, one result.

use core::ffi::c_void;
use core::ptr;

use toolcore_core::call::ToolCall;
use toolcore_core::dialect::Dialect;
use toolcore_core::dispatch::{DispatchOptions, dispatch};
use toolcore_core::schema::Coercion;

use crate::abi::{Span, sized_struct, toolcore_str_t};
use crate::call::toolcore_tool_call_t;
use crate::callback::{HostClock, tell_change};
use crate::clock::{clock, toolcore_clock_t};
use crate::dialect::known_dialect;
use crate::guard::{Fail, Why, guard, unknown};
use crate::registry::{timeout, toolcore_registry_t};
use crate::result::{self, toolcore_result_mem_size, toolcore_result_t};
use crate::schema::check_options;
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// toolcore_dispatch_opts_t.flags: repair arguments that are nearly JSON (a Markdown fence, text after the
/// value, a trailing comma, JSON in a string). A truncated text is never completed.
pub const TOOLCORE_DISPATCH_LENIENT: u32 = 1;
/// toolcore_dispatch_opts_t.flags: of arguments with the same name the last one counts, for every tool; see
/// TOOLCORE_TOOL_LAST_WINS.
pub const TOOLCORE_DISPATCH_LAST_WINS: u32 = 2;

/// What holds for a call. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_dispatch_opts_t {
    /// sizeof(toolcore_dispatch_opts_t)
    pub struct_size: usize,
    /// Where the time comes from; needed as soon as a timeout applies.
    pub clock: *const toolcore_clock_t,
    /// TOOLCORE_DISPATCH_ flags.
    pub flags: u32,
    /// The dialect for which the tools were rendered, so that its aliases are known, and a null is taken out that
    /// its strict mode has in the place of a member which may be absent; 0 for names as they are registered.
    pub dialect: u32,
    /// How deep arguments may be nested; 0 for the default, 128.
    pub max_depth: u32,
    /// Steps that the check of the arguments may take; 0 for the default, 1,000,000.
    pub max_steps: u32,
    /// The timeout where neither the tool nor the registry sets one; 0 for none.
    pub timeout_ms: u64,
    /// Told each change that was made to the arguments; see toolcore_answer_opts_t.
    pub changed: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            tool: toolcore_str_t,
            path: toolcore_str_t,
            rule: toolcore_str_t,
        ),
    >,
    /// Given to `changed`.
    pub user_data: *mut c_void,
}

/// Runs one call. What the model did wrong is in the result, which says so, and is no error here.
///
/// `scratch` holds the result object (see toolcore_result_mem_size); of the rest a quarter is the checker's
/// stack, and what remains is for decoded arguments and the result's parts. It is used until
/// toolcore_result_deinit, so two results need two of them.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE for scratch (why.need bytes are enough for what was tried);
/// ERR_NO_CLOCK; ERR_UNSUPPORTED; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT, also for strings of `call` that lie in
/// scratch. Unless OK, *out is NULL and the tool's callback did not run; pre-hooks and `changed` may have.
/// Strings of `call` are used until this returns.
/// Threads: any, each with scratch of its own.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_dispatch(
    registry: *const toolcore_registry_t,
    call: *const toolcore_tool_call_t,
    opts: *const toolcore_dispatch_opts_t,
    scratch: *mut c_void,
    scratch_len: usize,
    out: *mut *mut toolcore_result_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let registry = c.object(registry)?;
        let call = c.input(call)?.to_core(c.apart_from(Span::new(scratch, scratch_len)))?;
        let opts = c.options(opts)?;
        let clock = clock(c, opts.clock)?;
        let changed = |call: &ToolCall<'_>, change: &Coercion<'_>| {
            tell_change(opts.changed, opts.user_data, call, change);
        };
        let options = DispatchOptions { changed: Some(&changed), ..options(&opts, clock.as_ref(), why)? };
        let mut memory = c.memory(scratch, scratch_len)?;
        let places = result::places(&mut memory).inspect_err(|_| {
            why.need = toolcore_result_mem_size();
        })?;
        let result = dispatch(registry, &call, &options, memory.scratch()).map_err(|error| {
            let fail = why.error(error);
            if why.need > 0 {
                why.need = why.need.saturating_add(toolcore_result_mem_size());
            }
            fail
        })?;
        out.set(result::finish(places, result));
        Ok(())
    })
}

sized_struct!(toolcore_dispatch_opts_t);

fn options<'o>(
    opts: &toolcore_dispatch_opts_t,
    clock: Option<&'o HostClock>,
    why: &mut Why,
) -> Result<DispatchOptions<'o>, Fail> {
    if opts.flags & !(TOOLCORE_DISPATCH_LENIENT | TOOLCORE_DISPATCH_LAST_WINS) != 0 {
        return Err(unknown!("flags"));
    }
    let dialect = match opts.dialect {
        0 => None,
        dialect => {
            let built_in = known_dialect(dialect)?.built_in();
            Some(built_in.map_err(|left_out| why.error(left_out))?)
        }
    };
    Ok(DispatchOptions {
        clock: clock.map(|clock| clock as _),
        timeout: timeout(opts.timeout_ms),
        lenient: opts.flags & TOOLCORE_DISPATCH_LENIENT != 0,
        last_wins: opts.flags & TOOLCORE_DISPATCH_LAST_WINS != 0,
        names: dialect.map(Dialect::name_rule),
        strict_nulls: dialect.is_some_and(Dialect::makes_nullable),
        check: check_options(opts.max_depth, 0, opts.max_steps)?,
        ..DispatchOptions::default()
    })
}
