//! Where the time comes from.

use core::ffi::c_void;

use toolcore_core::time::{Instant, WrappingMillis};

use crate::abi::{Caller, sized_struct};
use crate::callback::HostClock;
use crate::guard::{Fail, NO_CALLBACK, read};

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

/// A counter of milliseconds that wraps at 32 bits, extended to the 64 bits of a clock. All zero at first; its fields
/// are the library's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_ticks32_t {
    /// The latest time.
    pub latest_ms: u64,
    /// Whether there is one.
    pub started: u32,
    /// 0
    pub reserved: u32,
}

/// The time at which the counter shows now_ms. Read it at least every 24.8 days (2^31 ms): a longer silence cannot be
/// told from a counter that stepped back. One that steps back gives the latest time again until it has caught up.
/// 0 for NULL.
///
/// Threads: one at a time for each `ticks`. Where an interrupt reads the time too, keep it out meanwhile, or give it
/// a copy of this one that was made within the same round of the counter: two that begin apart may be a round apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_ticks32_extend(ticks: *mut toolcore_ticks32_t, now_ms: u32) -> u64 {
    read(0, |c| {
        let out = c.out(ticks)?;
        let state = c.state(ticks)?;
        let mut counter = match state.started {
            0 => WrappingMillis::new(),
            _ => WrappingMillis::resumed(Instant::from_millis(state.latest_ms)),
        };
        let latest_ms = counter.extend(now_ms).as_millis();
        out.set(toolcore_ticks32_t { latest_ms, started: 1, reserved: 0 });
        Ok(latest_ms)
    })
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
