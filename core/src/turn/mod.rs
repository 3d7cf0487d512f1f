//! The calls of one reply, side by side: some answer at once, others later, and each gets exactly one result.
//!
//! [`answer`](crate::answer::answer) is for tools that answer at once. A [`Turn`] is for the rest: it runs the calls
//! in their order, as many at once as is allowed, keeps each result in memory of the caller until all are there, and
//! writes them in the order of the calls.
//!
//! ```text
//! Turn::new        a reply that was read, and memory
//! poll             starts what may start, expires what is due, and says when it wants to be polled next
//! complete …       a tool that answers later has its answer; progress, fail
//! cancel           the host gives up one call or all
//! finish           whatever has not ended is cancelled; the messages to append to the conversation
//! ```
//!
//! - **Each call gets one result**, whatever the order of events: that of its tool if it came in time, a timeout at
//!   its deadline, a cancellation. What comes afterwards is discarded and harmless ([`TicketError`]).
//! - **Responsive.** Nothing waits here. A call's result is settled at its deadline, whatever its tool does. The tool
//!   is asked to end ([`Handler::cancel`]) and keeps its slot of the [`InFlight`] table for its grace period, also
//!   beyond the end of the turn; then it is abandoned.
//! - **Order.** Calls start in their order and results have it. Of calls that are due at one time, the first of the
//!   reply comes first; the same events give the same bytes.
//! - **Memory.** A result takes 4 bytes and 16 for each part beside the bytes of its parts. [`MIN_KEPT`] bytes are
//!   kept for each call, and what is spare is shared evenly among the calls that have no result yet; a result that
//!   is larger than its share is cut, and says so. What is free is also the scratch memory of handlers.
//! - A poll at a call's deadline times it out; what is brought at the deadline before that is in time. A call whose
//!   deadline has passed when its tool completes it is timed out, also if nobody had polled meanwhile.

mod begin;
#[cfg(feature = "mailbox")]
mod deliver;
mod event;
mod settle;

pub use crate::result::MIN_KEPT;
#[cfg(feature = "mailbox")]
pub use deliver::deliver;
pub use event::{Event, EventKind};

use crate::answer::{AnswerOptions, Messages, Outcome};
use crate::call::Ticket;
use crate::dialect::Reply;
use crate::dispatch::DispatchError;
use crate::inflight::{End, InFlight, TicketError};
use crate::registry::{Hook, Registry};
use crate::result::{ToolResult, restore};
use crate::scratch::Scratch;
use crate::sink::{NoSpace, Sink};
use crate::time::{Duration, Instant};
use crate::tool::Handler;
use settle::{ask, expire, settle_by, tell};

/// How many calls wait at once where nothing else is said.
pub const SIDE_BY_SIDE: usize = 8;

/// What a turn works with; the same each time.
pub struct Runtime<'h, 'r, 'm, 'o, H, K> {
    /// The tools.
    pub registry: &'h Registry<'r, H, K>,
    /// Where calls wait. It outlives the turn.
    pub inflight: &'h mut InFlight<'m>,
    /// What holds for the turn.
    pub options: &'h AnswerOptions<'o>,
    /// Told all that happens.
    pub watch: &'h mut dyn FnMut(&Event<'_>),
}

impl<H, K> core::fmt::Debug for Runtime<'_, '_, '_, '_, H, K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Runtime").field("inflight", &self.inflight).finish_non_exhaustive()
    }
}

/// What is kept of a call in its turn. Made by `new`; the turn fills it in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    state: State,
    /// Where the result is in the pool, and its bytes.
    start: u32,
    len: u32,
    /// The ticket of one that waits.
    ticket: Option<Ticket>,
    /// The timeout that its deadline comes from.
    timeout: Option<Duration>,
}

impl Entry {
    /// An empty entry, also for a `static`.
    pub const fn new() -> Self {
        Entry { state: State::Waiting, start: 0, len: 0, ticket: None, timeout: None }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// It has not begun.
    #[default]
    Waiting,
    /// Its tool answers later.
    Running,
    /// It has its result.
    Settled,
}

/// Why a turn could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum TurnError {
    /// There is too little memory. Nothing has run. Zero stands for what there is enough of.
    #[error("no space: the turn needs {entries} entries and {bytes} bytes")]
    NoSpace {
        /// Entries that are needed, one for each call.
        entries: usize,
        /// Bytes that are needed at the least.
        bytes: usize,
    },
    /// A call could not be dispatched, and no tool has run before it.
    #[error("the call at index {call}: {error}")]
    Dispatch {
        /// The call's place in the reply.
        call: usize,
        /// Why.
        error: DispatchError,
    },
}
impl core::error::Error for TurnError {}

/// Which calls are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// That at this place of the reply.
    One(usize),
    /// All.
    All,
}

/// The calls of one reply; see the [module](self).
#[derive(Debug)]
pub struct Turn<'t> {
    reply: Reply<'t>,
    entries: &'t mut [Entry],
    words: &'t mut [u32],
    /// The results that are kept, and after them what is free.
    pool: &'t mut [u8],
    used: usize,
    number: u32,
    /// Calls before it have begun, or are settled.
    next: usize,
    /// Calls without a result.
    open: usize,
    any_ran: bool,
    outcome: Outcome,
}

impl<'t> Turn<'t> {
    /// A turn of the calls of `reply`, none of which has begun: an entry for each, `scratch` for the checker, for
    /// handlers and for the results. Calls of a turn before that was left without [`Turn::finish`] are cancelled at
    /// the next poll.
    pub fn new(
        reply: Reply<'t>,
        inflight: &mut InFlight<'_>,
        entries: &'t mut [Entry],
        scratch: Scratch<'t>,
    ) -> Result<Self, TurnError> {
        let calls = reply.len();
        let Scratch { words, bytes: pool } = scratch;
        let least = calls.saturating_mul(MIN_KEPT);
        let lacks = |need: usize, there: usize| if there < need { need } else { 0 };
        let (few, small) = (lacks(calls, entries.len()), lacks(least, pool.len()));
        let entries = match entries.get_mut(..calls) {
            Some(entries) if few == 0 && small == 0 => entries,
            _ => return Err(TurnError::NoSpace { entries: few, bytes: small }),
        };
        entries.fill(Entry::default());
        // Places in it are 32 bits.
        let pool = pool.split_at_mut(pool.len().min(u32::MAX as usize)).0;
        let (number, outcome) = (inflight.begin_turn(), Outcome::of(&reply));
        Ok(Turn {
            reply,
            entries,
            words,
            pool,
            used: 0,
            number,
            next: 0,
            open: calls,
            any_ran: false,
            outcome,
        })
    }

    /// The reply that it answers.
    pub fn reply(&self) -> &Reply<'t> {
        &self.reply
    }

    /// Its number, which its events have.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many calls have no result yet.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Whether every call has its result.
    pub fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Cancels what is due, abandons what does not end, and starts calls in their order as long as fewer than
    /// [`AnswerOptions::side_by_side`] are in flight, which those that were asked to end still are. Gives when it
    /// wants to be polled next at the latest; `None` if only a completion can bring it on. Poll also after each
    /// completion, which may have made room for the next call.
    ///
    /// On an error no tool of the turn has run.
    pub fn poll<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        now: Instant,
    ) -> Result<Option<Instant>, TurnError> {
        let now = with.inflight.advance(now);
        expire(with, Some(self), now);
        self.start(with, now)?;
        Ok(with.inflight.next())
    }

    /// The call of `ticket` has this result, which is copied. [`TicketError::Late`] if its time was over. Post-hooks
    /// see it, and the call as the model wrote it.
    pub fn complete<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        now: Instant,
        result: &ToolResult<'_>,
    ) -> Result<(), TicketError> {
        self.complete_with(with, ticket, now, |kept| {
            // There is no part yet, so that none is too many.
            kept.append_from(result).ok();
        })
    }

    /// [`Turn::complete`] with a text.
    pub fn complete_text<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        now: Instant,
        text: &str,
    ) -> Result<(), TicketError> {
        self.complete_with(with, ticket, now, |result| {
            // It is the first part.
            result.text(text).ok();
        })
    }

    /// [`Turn::complete`] with a result that `write` makes in the turn's own memory.
    pub fn complete_with<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        now: Instant,
        write: impl FnOnce(&mut ToolResult<'_>),
    ) -> Result<(), TicketError> {
        let now = with.inflight.advance(now);
        self.complete_when(with, ticket, now, write)
    }

    /// [`Turn::complete_with`] for a call that ended at `when`, a time by which no other call is judged: so what ended
    /// in time is in time, whatever was brought before it.
    pub fn complete_when<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        when: Instant,
        write: impl FnOnce(&mut ToolResult<'_>),
    ) -> Result<(), TicketError> {
        let now = when.max(with.inflight.latest());
        match with.inflight.end(ticket, when, Some(self.number))? {
            End::InTime(flight) => {
                let registry = with.registry;
                let call = self.reply.get(flight.call as usize).unwrap_or_default();
                self.settle(with, flight.call as usize, EventKind::Finished, now, |result| {
                    write(result);
                    for hook in registry.hooks() {
                        hook.after(&call, result);
                    }
                });
                Ok(())
            }
            End::TimedOut(flight) => {
                settle_by(with, Some(self), flight, ticket, EventKind::TimedOut, now);
                Err(TicketError::Late)
            }
            End::Orphaned(flight) => {
                settle_by(with, Some(self), flight, ticket, EventKind::Cancelled, now);
                Err(TicketError::Late)
            }
            End::Late(flight) => {
                tell(with, Some(self), flight, ticket, EventKind::Late, now);
                Err(TicketError::Late)
            }
        }
    }

    /// The call of `ticket` failed; the model reads `Tool error: ` and the message.
    pub fn fail<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        now: Instant,
        message: &str,
    ) -> Result<(), TicketError> {
        self.complete_with(with, ticket, now, |result| result.error(message))
    }

    /// The call of `ticket` has done `done` of `total` (0 if that is unknown). It is told to whoever watches, and
    /// moves no deadline. An error says that nobody waits for the call any more.
    pub fn progress<H, K>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        now: Instant,
        (done, total): (u64, u64),
        message: &str,
    ) -> Result<(), TicketError> {
        let now = with.inflight.advance(now);
        self.progress_when(with, ticket, now, (done, total), message)
    }

    /// [`Turn::progress`] by a time that holds for this call alone.
    fn progress_when<H, K>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        ticket: Ticket,
        when: Instant,
        (done, total): (u64, u64),
        message: &str,
    ) -> Result<(), TicketError> {
        let flight = with.inflight.running(ticket, when)?;
        let call = self.reply.get(flight.call as usize);
        (with.watch)(&Event {
            kind: EventKind::Progress { done, total },
            at: when.max(with.inflight.latest()),
            turn: flight.turn,
            index: flight.call as usize,
            call: call.as_ref(),
            ticket: Some(ticket),
            result: None,
            message,
        });
        Ok(())
    }

    /// Gives up calls: their results say so, and those that have begun are asked to end. One that has its result
    /// keeps it, and so does one whose deadline has passed: it has timed out.
    pub fn cancel<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        which: Which,
        now: Instant,
    ) {
        let now = with.inflight.advance(now);
        expire(with, Some(&mut *self), now);
        let range = match which {
            Which::One(index) => index..index.saturating_add(1).min(self.entries.len()),
            Which::All => 0..self.entries.len(),
        };
        for index in range {
            let Some(entry) = self.entries.get(index).copied() else { continue };
            match (entry.state, entry.ticket) {
                (State::Waiting, _) => self.settle_as(with, index, None, EventKind::Cancelled, now),
                (State::Running, Some(ticket)) => {
                    let flight = with.inflight.cancel(ticket, now);
                    self.settle_as(with, index, flight, EventKind::Cancelled, now);
                    if let Some(flight) = flight {
                        ask(with, Some(self), ticket, flight, now);
                    }
                }
                _ => {}
            }
        }
    }

    /// Ends the turn: cancels what has no result, and writes the messages to append to the conversation, a JSON
    /// array, for MCP one `CallToolResult`; nothing if there was no call. Results are cut to what room there is, if
    /// it is at least what the error names; an empty sink gives what all of them take. May be called again, with
    /// more room.
    pub fn finish<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        now: Instant,
        sink: &mut Sink<'_>,
    ) -> Result<Outcome, NoSpace> {
        self.cancel(with, Which::All, now);
        if self.reply.is_empty() {
            return Ok(self.outcome);
        }
        let room = sink.room();
        match self.write(Messages::unbounded(&self.reply, with.options, sink)) {
            Err(need) if room == 0 => return Err(need),
            Err(_) => self.write(Messages::begin(&self.reply, with.options, sink)?)?,
            Ok(()) => {}
        }
        Ok(self.outcome)
    }

    /// How many bytes [`Turn::finish`] writes if all have their room. Only calls that have their result are counted
    /// with it.
    pub fn measure(&mut self, options: &AnswerOptions<'_>) -> usize {
        if self.reply.is_empty() {
            return 0;
        }
        let mut sink = Sink::measure();
        self.write(Messages::unbounded(&self.reply, options, &mut sink))
            .map_or_else(|error| error.need, |()| 0)
    }

    fn write(&mut self, mut messages: Messages<'_, '_>) -> Result<(), NoSpace> {
        for (call, entry) in self.reply.calls().zip(self.entries.iter()) {
            let kept = entry.start as usize..entry.start as usize + entry.len as usize;
            messages.add(&call, &restore(self.pool.get_mut(kept).unwrap_or_default()));
        }
        messages.end()
    }
}

/// Serves the table where there is no turn: abandons calls of earlier ones whose grace period is over. Gives when it
/// wants to be called next; `None` if never.
pub fn serve<H: Handler, K: Hook>(with: &mut Runtime<'_, '_, '_, '_, H, K>, now: Instant) -> Option<Instant> {
    let now = with.inflight.advance(now);
    expire(with, None, now);
    with.inflight.next()
}

/// The call of `ticket` has ended, and there is no turn that could want to know.
pub fn end<H: Handler, K: Hook>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    ticket: Ticket,
    now: Instant,
) -> Result<(), TicketError> {
    let now = with.inflight.advance(now);
    end_when(with, ticket, now)
}

/// [`end`] for a call that ended at `when`; see [`Turn::complete_when`].
pub fn end_when<H: Handler, K: Hook>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    ticket: Ticket,
    when: Instant,
) -> Result<(), TicketError> {
    let now = when.max(with.inflight.latest());
    let (flight, kind) = match with.inflight.end(ticket, when, None)? {
        End::TimedOut(flight) => (flight, EventKind::TimedOut),
        End::Orphaned(flight) => (flight, EventKind::Cancelled),
        End::InTime(flight) | End::Late(flight) => (flight, EventKind::Late),
    };
    tell(with, None, flight, ticket, kind, now);
    Err(TicketError::Late)
}
