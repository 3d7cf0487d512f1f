//! What becomes of a call in flight: completed, failed, further on, or given up.

use core::ptr;

use toolcore_core::call::Ticket;
use toolcore_core::result::ToolResult;
use toolcore_core::time::Instant;
use toolcore_core::turn::{Which, end};

use crate::abi::{Caller, toolcore_str_t};
use crate::guard::{Fail, NO_TURN, NOT_FOUND, Why, guard};
use crate::inflight::{InFlightBody, toolcore_inflight_t};
use crate::result::{look, toolcore_result_t};
use crate::status::toolcore_status_t;

/// toolcore_cancel: all calls of the turn. In the header among the macros.
pub(crate) const CALL_ALL: usize = usize::MAX;

/// The call of `ticket` has this result, which is copied: one that toolcore_result_init or toolcore_dispatch made, of any
/// outcome. Post-hooks see it, and the call as the model wrote it. Afterwards toolcore_poll begins what waits for room.
///
/// Returns TOOLCORE_OK, and then the model reads it, cut if it is larger than its share of the turn's memory. Harmless,
/// and counted by toolcore_inflight_stats: ERR_LATE if the call was cancelled or its time is over (the result is
/// discarded; that it has ended is not, and its place is free); ERR_DOUBLED if it was completed before, ERR_STALE if its
/// place has had another call since, ERR_NOT_FOUND for a ticket that was never given out. Else: ERR_BUSY from a
/// callback; ERR_INVALID_ARGUMENT, also if the turn's registry has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_complete(
    inflight: *mut toolcore_inflight_t,
    ticket: u64,
    now_ms: u64,
    result: *const toolcore_result_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let result = look(c, result)?;
        let mut body = c.object_alone(inflight)?;
        ended(c, why, &mut body, ticket, now_ms, |kept| {
            // There is no part yet, so that none is too many.
            kept.append_from(result).ok();
        })
    })
}

/// The call of `ticket` has this text as its result, which is copied.
///
/// Returns what toolcore_complete does; ERR_INVALID_UTF8, and then the call waits on; ERR_INVALID_ARGUMENT also for a
/// text in the turn's memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_complete_text(
    inflight: *mut toolcore_inflight_t,
    ticket: u64,
    now_ms: u64,
    text: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let mut body = c.object_alone(inflight)?;
        let text = c.apart_from(body.written()).text(text)?;
        ended(c, why, &mut body, ticket, now_ms, |result| {
            // It is the first part.
            result.text(text).ok();
        })
    })
}

/// The call of `ticket` failed: the model reads "Tool error: " and the message, which is copied.
///
/// Returns what toolcore_complete_text does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_fail(
    inflight: *mut toolcore_inflight_t,
    ticket: u64,
    now_ms: u64,
    message: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let mut body = c.object_alone(inflight)?;
        let message = c.apart_from(body.written()).text(message)?;
        ended(c, why, &mut body, ticket, now_ms, |result| result.error(message))
    })
}

/// The call of `ticket` has done `done` of `total` (0 if that is unknown), in units of its own, which is told to the
/// host's `event` with the message. It moves no deadline and ends nothing.
///
/// Returns TOOLCORE_OK; ERR_LATE, ERR_DOUBLED, ERR_STALE or ERR_NOT_FOUND, counted as by toolcore_complete, if nobody
/// waits for the call any more, so that its tool may stop; ERR_INVALID_UTF8; ERR_BUSY from a callback;
/// ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_progress(
    inflight: *mut toolcore_inflight_t,
    ticket: u64,
    now_ms: u64,
    done: u64,
    total: u64,
    message: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let mut body = c.object_alone(inflight)?;
        let message = c.text(message)?;
        let (ticket, now) = (Ticket::from_u64(ticket), Instant::from_millis(now_ms));
        let told = body.run(c, |turn, with| match turn {
            Some(turn) => turn.progress(with, ticket, now, (done, total), message),
            None => with.inflight.progress(ticket, now),
        })?;
        told.map_err(|error| why.error(error))
    })
}

/// Gives up the call at a place of the reply, from 0, or all of the turn (TOOLCORE_CALL_ALL): the model reads that it
/// was cancelled, and a tool that was to answer later is asked to end (toolcore_tool_t.cancel). One that has not begun
/// never does. A call that has its result keeps it, and one whose deadline is reached has timed out. Poll afterwards: there
/// may be room for others.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND if there is no turn or no such place; ERR_BUSY from a callback;
/// ERR_INVALID_ARGUMENT, also if the turn's registry has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_cancel(
    inflight: *mut toolcore_inflight_t,
    index: usize,
    now_ms: u64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let mut body = c.object_alone(inflight)?;
        let which = if index == CALL_ALL { Which::All } else { Which::One(index) };
        let now = Instant::from_millis(now_ms);
        body.run(c, |turn, with| match turn {
            Some(turn) if index == CALL_ALL || index < turn.reply().len() => {
                turn.cancel(with, which, now);
                Ok(())
            }
            Some(_) => Err(NOT_FOUND),
            None => Err(NO_TURN),
        })?
    })
}

/// The call of a ticket has ended, with the result that `write` makes.
pub(crate) fn ended(
    c: Caller,
    why: &mut Why,
    body: &mut InFlightBody,
    ticket: u64,
    now_ms: u64,
    write: impl FnOnce(&mut ToolResult<'_>),
) -> Result<(), Fail> {
    let (ticket, now) = (Ticket::from_u64(ticket), Instant::from_millis(now_ms));
    let ended = body.run(c, |turn, with| match turn {
        Some(turn) => turn.complete_with(with, ticket, now, write),
        None => end(with, ticket, now),
    })?;
    ended.map_err(|error| why.error(error))
}
