//! Where the time comes from.

use core::ffi::c_void;

use crate::abi::{Caller, sized_struct};
use crate::callback::HostClock;
use crate::guard::{Fail, NO_CALLBACK};

/// A clock: milliseconds since any origin, never going back.
///
/// now_ms is called by the functions that were given the clock, before they return, in their thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_clock_t {
    /// sizeof(toolcore_clock_t)
    pub struct_size: usize,
    /// Given to now_ms.
    pub user_data: *mut c_void,
    /// Milliseconds now. Must be set.
    pub now_ms: Option<unsafe extern "C" fn(user_data: *mut c_void) -> u64>,
}

sized_struct!(toolcore_clock_t);

/// The clock behind a pointer, or none if it is NULL.
pub(crate) fn clock(c: Caller, clock: *const toolcore_clock_t) -> Result<Option<HostClock>, Fail> {
    if clock.is_null() {
        return Ok(None);
    }
    let clock = c.input(clock)?;
    let now_ms = clock.now_ms.ok_or(NO_CALLBACK)?;
    Ok(Some(HostClock { now_ms, user_data: clock.user_data }))
}
