//! A mailbox, by which an interrupt or another thread completes calls in flight.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::AtomicU32;

use toolcore_core::call::Ticket;
use toolcore_core::mailbox::{Full, Receiver, Sender, words_for};
use toolcore_core::time::Instant;
use toolcore_core::turn::deliver;

use crate::abi::{Caller, toolcore_str_t};
use crate::guard::{FULL, Fail, NO_SPACE, TOO_LONG_MESSAGE, guard, read};
use crate::inflight::toolcore_inflight_t;
use crate::object::{Live, Memory, Object};
use crate::status::toolcore_status_t;

/// A mailbox without locks: one context sends (an interrupt, a signal handler, another thread), and the one that uses
/// the calls in flight receives; either may interrupt the other at any instruction. Two contexts that send need two
/// mailboxes, even if one of them only interrupts the other. Only loads and stores of 32 bits are used, so that it works
/// on cores without compare-and-swap.
///
/// Messages arrive in the order in which they were sent, each once and whole. One for which there is no room is refused,
/// and those before it stay.
pub struct toolcore_mailbox_t {
    _opaque: [u8; 0],
}

/// The longest text of a message, in bytes. A longer answer stays where it is, with a word from the interrupt to the
/// main loop, which completes the call itself.
pub const TOOLCORE_MAILBOX_TEXT_MAX: usize = 512;

/// Bytes of memory with which a mailbox holds so many messages at once, each of a text of at most text_bytes.
/// SIZE_MAX if there is no such memory.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_mailbox_mem_size(messages: usize, text_bytes: usize) -> usize {
    size_beside().saturating_add(words_for(messages, text_bytes).saturating_mul(size_of::<u32>()))
}

/// Makes an empty mailbox in `mem`, which it keeps until toolcore_mailbox_deinit.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if mem_len is less than toolcore_mailbox_mem_size(1, 0); ERR_INVALID_ARGUMENT.
/// Unless OK, *out is NULL.
/// Threads: touches only its arguments. Hand the mailbox to the context that sends as anything else is handed over.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_mailbox_init(
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_mailbox_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let mut memory = c.memory(mem, mem_len)?;
        let place = memory.reserve::<Live<MailboxBody>>()?;
        let left = mem_len.saturating_sub(size_beside()) / size_of::<u32>();
        if left < words_for(1, 0) {
            return Err(NO_SPACE);
        }
        let words = memory.array(left, || AtomicU32::new(0))?;
        out.set(place.object(MailboxBody { words }));
        Ok(())
    })
}

/// Ends a mailbox; what is in it is lost. Nobody may send to it any more. NULL and one that has ended are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_mailbox_deinit(mailbox: *mut toolcore_mailbox_t) {
    guard(ptr::null_mut(), |c, _| c.end(mailbox, |_| ()));
}

/// Sends: the call of `ticket` has this text as its result. It is copied, and read as UTF-8. at_ms is the time now, by
/// the clock of the calls in flight: what was sent in time is in time, if toolcore_receive is called before
/// toolcore_poll. One that lies beyond the time of the receiver, as UINT64_MAX does, counts as the time when it is
/// received.
///
/// Returns TOOLCORE_OK; ERR_FULL if there is no room now; ERR_OUT_OF_RANGE beyond TOOLCORE_MAILBOX_TEXT_MAX;
/// ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT. Never waits. What is not sent is the sender's matter: the call ends at its
/// deadline.
/// Threads: the one context that sends, as for all functions that send.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_mailbox_complete_text(
    mailbox: *const toolcore_mailbox_t,
    ticket: u64,
    at_ms: u64,
    text: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        send(c, mailbox, ticket, at_ms, text, |sender, ticket, at, text| sender.complete(ticket, at, text))
    })
}

/// Sends: the call of `ticket` has this JSON value as its result; one that is no JSON fails the call.
///
/// Returns what toolcore_mailbox_complete_text does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_mailbox_complete_json(
    mailbox: *const toolcore_mailbox_t,
    ticket: u64,
    at_ms: u64,
    json: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        send(c, mailbox, ticket, at_ms, json, |sender, ticket, at, json| {
            sender.complete_json(ticket, at, json)
        })
    })
}

/// Sends: the call of `ticket` failed, with this message for the model.
///
/// Returns what toolcore_mailbox_complete_text does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_mailbox_fail(
    mailbox: *const toolcore_mailbox_t,
    ticket: u64,
    at_ms: u64,
    message: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        send(c, mailbox, ticket, at_ms, message, |sender, ticket, at, message| {
            sender.fail(ticket, at, message)
        })
    })
}

/// Sends: the call of `ticket` has done `done` of `total` (0 if that is unknown).
///
/// Returns what toolcore_mailbox_complete_text does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_mailbox_progress(
    mailbox: *const toolcore_mailbox_t,
    ticket: u64,
    at_ms: u64,
    done: u64,
    total: u64,
) -> toolcore_status_t {
    let none = toolcore_str_t::EMPTY;
    guard(ptr::null_mut(), |c, _| {
        send(c, mailbox, ticket, at_ms, none, |sender, ticket, at, _| {
            sender.progress(ticket, at, done, total)
        })
    })
}

/// Whether nothing is in the mailbox: to ask with interrupts disabled, before the core is put to sleep. true for NULL.
///
/// Threads: the one that receives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_mailbox_is_empty(mailbox: *const toolcore_mailbox_t) -> bool {
    read(true, |c| Ok(Receiver::attach(c.object(mailbox)?.words).is_empty()))
}

/// Receives all that is in the mailbox, and does what it says: completes calls, fails them, tells of progress. Call it
/// before toolcore_poll, with the time now. Messages about calls that nobody waits for any more are discarded and
/// counted, as toolcore_complete does it. *received is how many messages there were; it may be NULL.
///
/// Returns TOOLCORE_OK; ERR_BUSY from a callback; ERR_INVALID_ARGUMENT, and then nothing was received.
/// Threads: the one that uses `inflight`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_receive(
    inflight: *mut toolcore_inflight_t,
    mailbox: *const toolcore_mailbox_t,
    now_ms: u64,
    received: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let mut body = c.object_alone(inflight)?;
        let mut receiver = Receiver::attach(c.object(mailbox)?.words);
        let now = Instant::from_millis(now_ms);
        let (mut text, mut count) = ([0u8; TOOLCORE_MAILBOX_TEXT_MAX], 0);
        // What is received is gone: first, whether all that the turn works with is there.
        body.run(c, |_, _| ())?;
        while count < MOST_AT_ONCE
            && let Some(message) = receiver.receive(&mut text)
        {
            count += 1;
            // Tickets of which nobody waits are counted.
            let _ = body.run(c, |turn, with| match turn {
                Some(turn) => turn.deliver(with, now, &message),
                None => deliver(with, now, &message),
            })?;
        }
        if !received.is_null() {
            c.out(received)?.set(count);
        }
        Ok(())
    })
}

/// Messages that one toolcore_receive takes, so that it ends however fast others come.
const MOST_AT_ONCE: usize = 4096;

/// Where messages are.
pub(crate) struct MailboxBody {
    words: &'static [AtomicU32],
}

impl Object for toolcore_mailbox_t {
    type Body = MailboxBody;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCmb");
}

fn send(
    c: Caller,
    mailbox: *const toolcore_mailbox_t,
    ticket: u64,
    at_ms: u64,
    text: toolcore_str_t,
    send: impl FnOnce(&mut Sender<'static>, Ticket, Instant, &str) -> Result<(), Full>,
) -> Result<(), Fail> {
    let text = c.text(text)?;
    if text.len() > TOOLCORE_MAILBOX_TEXT_MAX {
        return Err(TOO_LONG_MESSAGE);
    }
    let mut sender = Sender::attach(c.object(mailbox)?.words);
    send(&mut sender, Ticket::from_u64(ticket), Instant::from_millis(at_ms), text).map_err(|_| FULL)
}

/// Bytes beside the words.
const fn size_beside() -> usize {
    Memory::room_for::<Live<MailboxBody>>(1).saturating_add(align_of::<u32>() - 1)
}
