//! Worker threads for tools that block.

use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

use toolcore_core::system::{SystemClock, WorkerOptions, Workers};
use toolcore_core::time::{Clock, Duration, Instant};
use toolcore_core::turn::end_when;

use crate::abi::sized_struct;
use crate::clock::{clock, toolcore_clock_t};
use crate::guard::{ENDED, Fail, guard, read, unknown};
use crate::inflight::toolcore_inflight_t;
use crate::object::{Live, Memory, Object};
use crate::status::toolcore_status_t;
use crate::tool::toolcore_workers_t;

/// How a pool of worker threads is. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_workers_opts_t {
    /// sizeof(toolcore_workers_opts_t)
    pub struct_size: usize,
    /// What tools on the threads are told the time by; NULL for the system's clock, whose origin is another than the
    /// host's. It is called from all threads at once (a toolcore_ticks32_t wants a lock then), and must live, with its
    /// user_data, until the last call has ended.
    pub clock: *const toolcore_clock_t,
    /// The most threads; 0 for 16.
    pub max_threads: usize,
    /// Bytes for the parts of one result; 0 for 4,096.
    pub result_bytes: usize,
    /// Must be 0.
    pub reserved: usize,
}

/// How a pool fares; filled in by toolcore_workers_stats.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_workers_stats_t {
    /// sizeof(toolcore_workers_stats_t)
    pub struct_size: usize,
    /// Calls that run, abandoned ones among them.
    pub running: usize,
    /// Threads that have nothing to do.
    pub idle: usize,
    /// Calls that wait for a thread.
    pub queued: usize,
    /// Calls that were abandoned and still run.
    pub abandoned: usize,
    /// 1 if these are 8 or more, or all threads that there may be: then something is wrong with a tool. Else 0.
    pub warning: usize,
    /// Calls that were abandoned since the pool was made.
    pub abandoned_total: u64,
}

/// Bytes of memory that a pool needs.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_workers_mem_size() -> usize {
    Memory::room_for::<Live<WorkersBody>>(1)
}

/// Makes a pool of threads in `mem`, which it keeps until toolcore_workers_deinit. Threads start when they are needed,
/// and take memory of the system, as calls that run on them do.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if mem_len is less than toolcore_workers_mem_size(); ERR_UNSUPPORTED;
/// ERR_INVALID_ARGUMENT. Unless OK, *out is NULL. `opts` is not kept.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_workers_init(
    opts: *const toolcore_workers_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_workers_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let opts = c.options(opts)?;
        if opts.reserved != 0 {
            return Err(unknown!("reserved"));
        }
        let time: Arc<dyn Clock + Send + Sync> = match clock(c, opts.clock)? {
            Some(clock) => Arc::new(clock),
            None => Arc::new(SystemClock::new()),
        };
        let place = c.memory(mem, mem_len)?.reserve::<Live<WorkersBody>>()?;
        let usual = WorkerOptions::default();
        let workers = Workers::new(WorkerOptions {
            max: if opts.max_threads == 0 { usual.max } else { opts.max_threads },
            memory: if opts.result_bytes == 0 { usual.memory } else { opts.result_bytes },
            clock: time,
        });
        out.set(place.object(WorkersBody { workers: Some(workers) }));
        Ok(())
    })
}

/// Ends a pool. Threads that run nothing end; it never waits for a call. *running is how many calls still run: their
/// threads end with them, and then their tools' user_data is let go of, if it was not before. Tools that were added with
/// the pool fail from now on. running may be NULL; NULL and a pool that has ended are ignored.
///
/// Threads: any, when nothing else uses the pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_workers_deinit(workers: *mut toolcore_workers_t, running: *mut usize) {
    guard(ptr::null_mut(), |c, _| {
        let mut left = 0;
        let ended = c.end(workers, |body| left = body.workers.take().map_or(0, Workers::shutdown));
        if !running.is_null() {
            c.out(running)?.set(left);
        }
        ended
    });
}

/// How a pool fares.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_workers_stats(
    workers: *const toolcore_workers_t,
    out: *mut toolcore_workers_stats_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out_struct(out)?;
        let workers = c.object(workers)?.alive()?;
        let stats = workers.stats();
        out.set(toolcore_workers_stats_t {
            struct_size: 0,
            running: stats.running,
            idle: stats.idle,
            queued: stats.queued,
            abandoned: stats.abandoned,
            warning: usize::from(workers.warning().is_some()),
            abandoned_total: stats.abandoned_total,
        });
        Ok(())
    })
}

/// Sleeps until a call that was started with toolcore_start has ended on a thread of the pool, at most for at_most_ms
/// (UINT64_MAX: however long it takes), or until toolcore_workers_wake. Whether there is something for
/// toolcore_workers_receive; false for NULL. Nothing else ends it: a thread that sends to a mailbox wakes it as well.
///
/// Threads: the one that uses the calls in flight.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_workers_wait(workers: *const toolcore_workers_t, at_most_ms: u64) -> bool {
    read(false, |c| {
        let at_most = (at_most_ms != u64::MAX).then_some(Duration::from_millis(at_most_ms));
        Ok(c.object(workers)?.alive()?.wait(at_most))
    })
}

/// Ends the toolcore_workers_wait that sleeps, or the next one, because there is something else to look at.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
/// Threads: any; not from a signal handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_workers_wake(workers: *const toolcore_workers_t) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        c.object(workers)?.alive()?.wake();
        Ok(())
    })
}

/// Receives what has ended on threads of the pool, and completes the calls in flight with it, as toolcore_complete does,
/// at the time at which each ended: what ended in time is in time, if this is called before toolcore_poll.
/// A pool is for the calls of one toolcore_inflight_t. *received is how many there were; it may be NULL.
///
/// Returns TOOLCORE_OK; ERR_BUSY from a callback; ERR_INVALID_ARGUMENT, and then nothing was received.
/// Threads: the one that uses `inflight`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_workers_receive(
    inflight: *mut toolcore_inflight_t,
    workers: *const toolcore_workers_t,
    now_ms: u64,
    received: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let mut body = c.object_alone(inflight)?;
        let workers = c.object(workers)?.alive()?;
        // What is received is gone: first, whether all that the turn works with is there.
        body.run(c, |_, _| ())?;
        let count = workers.receive(|ticket, ago, result| {
            let at = Instant::from_millis(now_ms.saturating_sub(ago.as_millis()));
            // Tickets of which nobody waits are counted.
            let _ = body.run(c, |turn, with| match turn {
                Some(turn) => turn.complete_when(with, ticket, at, |kept| {
                    // There is no part yet, so that none is too many.
                    kept.append_from(result).ok();
                }),
                None => end_when(with, ticket, at),
            });
        });
        if !received.is_null() {
            c.out(received)?.set(count);
        }
        Ok(())
    })
}

sized_struct!(toolcore_workers_opts_t);
sized_struct!(toolcore_workers_stats_t);

/// The pool, until it ends.
pub(crate) struct WorkersBody {
    workers: Option<Workers>,
}

impl WorkersBody {
    /// The pool.
    pub(crate) fn alive(&self) -> Result<&Workers, Fail> {
        self.workers.as_ref().ok_or(ENDED)
    }
}

impl Object for toolcore_workers_t {
    type Body = WorkersBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCwk");
}
