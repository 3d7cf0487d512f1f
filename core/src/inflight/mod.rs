//! Calls in flight: a table of those that wait for an answer, in memory of the caller.
//!
//! A handler that answers later keeps its call's [`Ticket`]; the table knows which call that is, when its time is
//! over, and what became of it. It knows no JSON and runs nothing: [`Turn`](crate::turn::Turn) does that.
//!
//! ```text
//!            end in time                    -> free            completed
//! running    end after its deadline         -> free            timed out, the end is late
//!            due (its deadline is reached)  -> cancelling      timed out
//!            cancel                         -> cancelling      cancelled
//! cancelling end                            -> free            the end is late
//!            due (its grace period is over) -> free            abandoned
//! ```
//!
//! - **One outcome.** A call leaves `running` exactly once, and then its outcome is settled; what comes later is
//!   discarded, counted, and a [`TicketError`] to whoever brings it, which is harmless.
//! - **Tickets never come again.** A ticket has a slot and the slot's generation, which changes with each call; so
//!   the table should live as long as the program, or at least as all who keep tickets.
//! - **Time is handed in.** A `now` before one that was seen already counts as that one, so that a clock which
//!   steps back does no harm. A call is due at its deadline, and what has come by then is in time; one without is
//!   never due. What a mailbox or a worker brings has a time of its own, by which only the call that it is about is
//!   judged: one that is wrong spoils no other.
//! - **Cost.** The slots are a binary heap of deadlines too: nothing is done for a call that is not due, and for one
//!   that is, a number of steps that grows with the logarithm of how many there are. Taking a slot and freeing it
//!   costs the same with any number of others.

mod heap;

use crate::call::Ticket;
use crate::time::{Deadline, Duration, Instant};

/// Why a ticket could not be used. Harmless: the call that it was for has its outcome already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum TicketError {
    /// The table never gave it out.
    #[error("no call has that ticket")]
    Unknown,
    /// It is of an earlier call, and others have had its place since.
    #[error("the ticket is of a call that ended long ago")]
    Stale,
    /// Its call has ended, by an earlier completion.
    #[error("the call of that ticket was completed before")]
    Doubled,
    /// Its call was cancelled, or its time was over.
    #[error("the call of that ticket was cancelled, or its time was over")]
    Late,
}
impl core::error::Error for TicketError {}

/// What became of all calls of a table so far. The numbers stay at their greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls that ended in time.
    pub completed: u32,
    /// Calls whose deadline passed.
    pub timed_out: u32,
    /// Calls that the host gave up.
    pub cancelled: u32,
    /// Calls, of those two, that did not end within their grace period.
    pub abandoned: u32,
    /// Tickets that came after a timeout, a cancel or an abandonment.
    pub late: u32,
    /// Tickets that came again.
    pub doubled: u32,
    /// Tickets of calls that ended long ago.
    pub stale: u32,
    /// Tickets that were never given out.
    pub unknown: u32,
}

/// The place of one call in flight. Made by `new`; the table fills it in.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// Changes with each call, so that tickets differ.
    generation: u32,
    state: State,
    flight: Flight,
    /// The first millisecond at which something is to be done; nothing is if it is not in the heap.
    due: u64,
    /// Of a free slot: the next free one, counted from one. Else: its place in the heap, counted from one, or 0.
    link: u32,
    /// Not of this slot, but of the table: which slot stands at this place of the heap.
    order: u32,
}

impl Slot {
    /// An empty place, also for a `static`.
    pub const fn new() -> Self {
        let flight = Flight { turn: 0, call: 0, position: 0, serial: 0 };
        Slot { generation: 0, state: State::Free, flight, due: 0, link: 0, order: 0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing holds it; its last call was completed, or there was none.
    #[default]
    Free,
    /// Nothing holds it; its last call was given up, and its ticket has not come since.
    GivenUp,
    /// A handler runs, and says afterwards whether it waits.
    Reserved,
    /// Its call waits.
    Running,
    /// Its call has its outcome, and may still run.
    Cancelling,
}

/// Which call is in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    /// The turn that it is of.
    pub(crate) turn: u32,
    /// Its place in the turn.
    pub(crate) call: u32,
    /// The place of its tool in the registry, where it was when the call began.
    pub(crate) position: u32,
    /// The tool itself, wherever it is now.
    pub(crate) serial: u32,
}

/// What the time has come for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// The deadline is reached: the call is to be cancelled.
    TimedOut,
    /// Its turn was left without an end: the call is to be cancelled.
    Orphaned,
    /// The grace period is over.
    Abandoned,
}

/// What a completion comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It came in time.
    InTime(Flight),
    /// The deadline had passed, and nobody had noticed: that is the call's outcome.
    TimedOut(Flight),
    /// Its turn was gone: the call is cancelled.
    Orphaned(Flight),
    /// It had its outcome before, and has ended now.
    Late(Flight),
}

/// The table; see the [module](self).
#[derive(Debug)]
pub struct InFlight<'m> {
    slots: &'m mut [Slot],
    series: u8,
    /// The first free slot, counted from one.
    free: u32,
    /// How many slots are in the heap.
    timed: usize,
    /// How many calls wait or are being cancelled.
    open: usize,
    grace: Duration,
    latest: Instant,
    turn: u32,
    stats: Stats,
}

impl<'m> InFlight<'m> {
    /// A table of as many calls at once as there are slots. A call that is to be cancelled has `grace` to end
    /// before it is abandoned ([`GRACE`](crate::time::GRACE) is usual); none at all abandons it at once.
    pub fn new(slots: &'m mut [Slot], grace: Duration) -> Self {
        Self::in_series(slots, grace, 0)
    }

    /// [`InFlight::new`] where there are several tables: their tickets differ if their `series` do, and one that is
    /// brought to the wrong table is unknown there.
    pub fn in_series(slots: &'m mut [Slot], grace: Duration, series: u8) -> Self {
        // More than a ticket can count are not used.
        let slots = slots.split_at_mut(slots.len().min(MOST_SLOTS)).0;
        let len = slots.len();
        for (at, slot) in slots.iter_mut().enumerate() {
            let next = if at + 1 == len { 0 } else { number(at + 1) };
            *slot = Slot { link: next, ..Slot::default() };
        }
        let free = u32::from(len > 0);
        let (latest, stats) = (Instant::default(), Stats::default());
        InFlight { slots, series, free, timed: 0, open: 0, grace, latest, turn: 0, stats }
    }

    /// How many calls there can be at once.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// How many calls wait for an answer, or have been asked to end and are within their grace period.
    pub fn len(&self) -> usize {
        self.open
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// What became of all calls so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// When the next call is due; `None` if none ever is.
    pub fn next(&self) -> Option<Instant> {
        let first = self.slots.first().filter(|_| self.timed > 0)?;
        self.slots.get(first.order as usize).map(|slot| Instant::from_millis(slot.due))
    }

    /// Whether a call that is to be cancelled has any time to end.
    pub(crate) fn has_grace(&self) -> bool {
        !self.grace.is_zero()
    }

    /// The latest time that it was told.
    pub(crate) fn latest(&self) -> Instant {
        self.latest
    }

    /// The time, which never goes back.
    pub(crate) fn advance(&mut self, now: Instant) -> Instant {
        self.latest = self.latest.max(now);
        self.latest
    }

    /// Begins a turn and gives its number. Calls of one that was left without an end are due at once.
    pub(crate) fn begin_turn(&mut self) -> u32 {
        self.turn = self.turn.wrapping_add(1);
        if self.open > 0 {
            for at in 0..self.slots.len() {
                if self.slots.get(at).is_some_and(|slot| slot.state == State::Running) {
                    self.set_due(at, Some(0));
                }
            }
        }
        self.turn
    }

    /// Takes a slot for a call whose handler is about to run.
    pub(crate) fn reserve(&mut self) -> Option<Ticket> {
        let at = (self.free as usize).checked_sub(1)?;
        let slot = self.slots.get_mut(at)?;
        self.free = slot.link;
        slot.link = 0;
        slot.state = State::Reserved;
        // 0 is the generation of no ticket.
        slot.generation = slot.generation.wrapping_add(1).max(1);
        Some(slot.ticket(self.series, at))
    }

    /// Frees a slot that was reserved: the handler has answered.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        if let Ok(at) = self.find(ticket)
            && self.state(at) == State::Reserved
        {
            self.give_back(at, State::Free);
        }
    }

    /// The call of a slot that was reserved waits from now on.
    pub(crate) fn wait(&mut self, ticket: Ticket, flight: Flight, deadline: Deadline) {
        let Ok(at) = self.find(ticket) else { return };
        let Some(slot) = self.slots.get_mut(at) else { return };
        (slot.state, slot.flight) = (State::Running, flight);
        self.open += 1;
        // 0 is for calls whose turn was left without an end.
        self.set_due(at, deadline.instant().map(|at| at.as_millis().max(1)));
    }

    /// The call of a ticket, if it waits and its time is not over at `when`.
    pub(crate) fn running(&mut self, ticket: Ticket, when: Instant) -> Result<Flight, TicketError> {
        let found = self.find(ticket).and_then(|at| match self.slots.get(at) {
            Some(slot) if slot.state == State::Running && !slot.is_late(when) => Ok(slot.flight),
            Some(_) => Err(TicketError::Late),
            None => Err(TicketError::Unknown),
        });
        found.inspect_err(|error| self.count(*error))
    }

    /// Whether the call of a ticket still waits; an error says that nobody does any more.
    pub fn progress(&mut self, ticket: Ticket, now: Instant) -> Result<(), TicketError> {
        let now = self.advance(now);
        self.running(ticket, now).map(|_| ())
    }

    /// The call of a ticket has ended `when` it says. Whoever brings it serves `turn`; no other has a use for what it
    /// brings.
    pub(crate) fn end(
        &mut self,
        ticket: Ticket,
        when: Instant,
        turn: Option<u32>,
    ) -> Result<End, TicketError> {
        let at = self.find(ticket).inspect_err(|error| self.count(*error))?;
        let Some(slot) = self.slots.get_mut(at) else { return Err(TicketError::Unknown) };
        let (flight, late) = (slot.flight, slot.is_late(when));
        let (end, count) = match slot.state {
            State::Running if late && !slot.is_orphan() => {
                (End::TimedOut(flight), Some(&mut self.stats.timed_out))
            }
            State::Running if late || turn != Some(flight.turn) => {
                (End::Orphaned(flight), Some(&mut self.stats.cancelled))
            }
            State::Running => (End::InTime(flight), Some(&mut self.stats.completed)),
            State::Cancelling => (End::Late(flight), None),
            State::GivenUp => {
                // From now on its ticket has come.
                slot.state = State::Free;
                self.count(TicketError::Late);
                return Err(TicketError::Late);
            }
            // Only between a handler's start and its end, when nobody else has the table.
            _ => return Err(TicketError::Unknown),
        };
        if let Some(count) = count {
            *count = count.saturating_add(1);
        }
        self.close(at, State::Free);
        if !matches!(end, End::InTime(_)) {
            self.count(TicketError::Late);
        }
        Ok(end)
    }

    /// Gives up the call of a ticket if it waits; it has its grace period from now on.
    pub(crate) fn cancel(&mut self, ticket: Ticket, now: Instant) -> Option<Flight> {
        let now = self.advance(now);
        let at = self.find(ticket).ok()?;
        let slot = self.slots.get(at).filter(|slot| slot.state == State::Running)?;
        let flight = slot.flight;
        self.stats.cancelled = self.stats.cancelled.saturating_add(1);
        self.begin_grace(at, now);
        Some(flight)
    }

    /// The next call whose time has come, if there is one. One that timed out has its grace period from now on.
    pub(crate) fn due(&mut self, now: Instant) -> Option<(Ticket, Flight, Due)> {
        let now = self.advance(now);
        let at = self.slots.first().filter(|_| self.timed > 0)?.order as usize;
        let slot = self.slots.get(at).filter(|slot| slot.is_due(now))?;
        let (ticket, flight) = (slot.ticket(self.series, at), slot.flight);
        let what = match slot.state {
            State::Running => {
                let orphan = slot.is_orphan();
                let count = if orphan { &mut self.stats.cancelled } else { &mut self.stats.timed_out };
                *count = count.saturating_add(1);
                self.begin_grace(at, now);
                if orphan { Due::Orphaned } else { Due::TimedOut }
            }
            _ => {
                self.abandon(at);
                Due::Abandoned
            }
        };
        Some((ticket, flight, what))
    }

    /// The call of a ticket, which was to be cancelled, has ended (`true`) or cannot be ended (`false`).
    pub(crate) fn settle(&mut self, ticket: Ticket, ended: bool) {
        match self.find(ticket) {
            Ok(at) if self.state(at) != State::Cancelling => {}
            Ok(at) if ended => self.close(at, State::GivenUp),
            Ok(at) => self.abandon(at),
            Err(_) => {}
        }
    }

    fn abandon(&mut self, at: usize) {
        self.stats.abandoned = self.stats.abandoned.saturating_add(1);
        self.close(at, State::GivenUp);
    }

    fn begin_grace(&mut self, at: usize, now: Instant) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.state = State::Cancelling;
        }
        self.set_due(at, Some(now.as_millis().saturating_add(self.grace.as_millis())));
    }

    fn state(&self, at: usize) -> State {
        self.slots.get(at).map_or(State::Free, |slot| slot.state)
    }

    /// The slot of a ticket whose call is in flight, or was given up.
    fn find(&self, ticket: Ticket) -> Result<usize, TicketError> {
        let number = ticket.as_u64();
        let (at, generation) = (usize::try_from(number & MOST_SLOTS as u64), number >> 32);
        let at = at.map_err(|_| TicketError::Unknown)?;
        if number >> 24 & 0xFF != u64::from(self.series) {
            return Err(TicketError::Unknown);
        }
        let slot = self.slots.get(at).ok_or(TicketError::Unknown)?;
        let newest = u64::from(slot.generation);
        match slot.state {
            _ if generation == 0 || generation > newest => Err(TicketError::Unknown),
            _ if generation < newest => Err(TicketError::Stale),
            State::Free => Err(TicketError::Doubled),
            _ => Ok(at),
        }
    }

    fn count(&mut self, error: TicketError) {
        let count = match error {
            TicketError::Unknown => &mut self.stats.unknown,
            TicketError::Stale => &mut self.stats.stale,
            TicketError::Doubled => &mut self.stats.doubled,
            TicketError::Late => &mut self.stats.late,
        };
        *count = count.saturating_add(1);
    }

    /// The call at `at` is in flight no longer.
    fn close(&mut self, at: usize, state: State) {
        self.set_due(at, None);
        self.open = self.open.saturating_sub(1);
        self.give_back(at, state);
    }

    fn give_back(&mut self, at: usize, state: State) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.state = state;
            slot.link = self.free;
            self.free = number(at);
        }
    }
}

impl Slot {
    fn ticket(&self, series: u8, at: usize) -> Ticket {
        Ticket::from_u64(u64::from(self.generation) << 32 | u64::from(series) << 24 | at as u64)
    }

    /// Whether it is in the heap, and its time has come.
    fn is_due(&self, now: Instant) -> bool {
        self.link != 0 && self.due <= now.as_millis()
    }

    /// Whether its time is over: what comes at its deadline is in time, if nobody has polled then.
    fn is_late(&self, now: Instant) -> bool {
        self.link != 0 && self.due < now.as_millis()
    }

    /// Whether its turn was left without an end. No deadline makes a call due so early.
    fn is_orphan(&self) -> bool {
        self.link != 0 && self.due == 0
    }
}

/// What a ticket can count: its lowest 24 bits are the slot, the next 8 the series, the others the generation.
const MOST_SLOTS: usize = 0xFF_FFFF;

/// A place counted from one. There are fewer than it can count.
fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}
