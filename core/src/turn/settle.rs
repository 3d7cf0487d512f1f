//! How the calls of a turn get their results: kept where they have one, told of where they have not.

use super::{Event, EventKind, Runtime, State, Turn};
use crate::call::Ticket;
use crate::dialect::write_cancelled;
use crate::dispatch::write_timed_out;
use crate::inflight::{Due, Flight};
use crate::registry::Hook;
use crate::result::{MIN_KEPT, OutcomeKind, Shape, ToolResult};
use crate::time::Instant;
use crate::tool::{Cancel, Handler};

impl Turn<'_> {
    /// Settles a call that was not answered: its time is over, or the host gave it up.
    pub(super) fn settle_as<H, K>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        index: usize,
        flight: Option<Flight>,
        kind: EventKind,
        now: Instant,
    ) where
        K: Hook,
    {
        let Some(entry) = self.entries.get(index).copied() else { return };
        let registry = with.registry;
        let tool = flight.and_then(|flight| registry.by_serial(flight.serial, flight.position as usize));
        let name = match tool {
            Some(tool) => tool.info.name(),
            None => self.reply.get(index).unwrap_or_default().name,
        };
        self.settle(with, index, kind, now, |result| match entry.timeout {
            Some(timeout) if kind == EventKind::TimedOut => {
                result.fail(OutcomeKind::TimedOut, |sink| write_timed_out(name, timeout, sink));
            }
            _ => result.fail(OutcomeKind::Cancelled, |sink| write_cancelled(name, sink)),
        });
    }

    /// Settles a call with the result that `write` makes.
    pub(super) fn settle<H, K>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        index: usize,
        kind: EventKind,
        now: Instant,
        write: impl FnOnce(&mut ToolResult<'_>),
    ) {
        let call = self.reply.get(index);
        let ticket = self.entries.get(index).and_then(|entry| entry.ticket);
        let mut result = ToolResult::new(self.pool.get_mut(self.used..).unwrap_or_default());
        write(&mut result);
        (with.watch)(&Event {
            kind,
            at: now,
            turn: self.number,
            index,
            call: call.as_ref(),
            ticket,
            result: Some(&result),
            message: "",
        });
        self.outcome.add(&result);
        let (shape, memory) = (result.shape(), result.memory().as_ptr());
        self.keep(index, shape, memory);
    }

    /// Keeps the result of a call, whose parts stand at `memory`, in what is free of the pool. Nothing is left of the
    /// parts of a result that a handler has put into memory of its own.
    pub(super) fn keep(&mut self, index: usize, mut shape: Shape, memory: *const u8) {
        let free = self.pool.get_mut(self.used..).unwrap_or_default();
        let spare = free.len().saturating_sub(self.open.saturating_mul(MIN_KEPT));
        let room = (MIN_KEPT + spare / self.open.max(1)).min(free.len());
        let at = memory.addr().wrapping_sub(free.as_ptr().addr());
        let parts = free.get(at..).filter(|parts| shape.body() <= parts.len());
        shape.cut(parts.unwrap_or_default(), if parts.is_some() { room } else { 0 });
        let (size, body) = (shape.size(), shape.body());
        // It was cut to fit.
        if body > 0 && size + body <= free.len() {
            free.copy_within(at..at + body, size);
        }
        shape.write(free);
        if let Some(entry) = self.entries.get_mut(index) {
            let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            (entry.state, entry.ticket) = (State::Settled, None);
            (entry.start, entry.len) = (number(self.used), number(size + body));
        }
        self.used += size + body;
        self.open = self.open.saturating_sub(1);
    }
}

/// Settles and abandons what is due.
pub(super) fn expire<H: Handler, K: Hook>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    mut turn: Option<&mut Turn<'_>>,
    now: Instant,
) {
    while let Some((ticket, flight, due)) = with.inflight.due(now) {
        let kind = match due {
            Due::TimedOut => EventKind::TimedOut,
            Due::Orphaned => EventKind::Cancelled,
            Due::Abandoned => {
                tell(with, turn.as_deref(), flight, ticket, EventKind::Abandoned, now);
                continue;
            }
        };
        settle_by(with, turn.as_deref_mut(), flight, ticket, kind, now);
        ask(with, turn.as_deref(), ticket, flight, now);
    }
}

/// Settles the call of a flight in its turn, if that is still there.
pub(super) fn settle_by<H, K: Hook>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    turn: Option<&mut Turn<'_>>,
    flight: Flight,
    ticket: Ticket,
    kind: EventKind,
    now: Instant,
) {
    match turn.filter(|turn| turn.number == flight.turn) {
        Some(turn) => turn.settle_as(with, flight.call as usize, Some(flight), kind, now),
        None => tell(with, None, flight, ticket, kind, now),
    }
}

/// Asks the tool of a call that has its outcome to end it.
pub(super) fn ask<H: Handler, K: Hook>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    turn: Option<&Turn<'_>>,
    ticket: Ticket,
    flight: Flight,
    now: Instant,
) {
    // Of a tool that was removed nothing can be asked.
    let tool = with.registry.by_serial(flight.serial, flight.position as usize);
    match tool.map_or(Cancel::Later, |tool| tool.handler.cancel(ticket)) {
        Cancel::Ended => with.inflight.settle(ticket, true),
        Cancel::Later if with.inflight.has_grace() => {}
        Cancel::Later | Cancel::Abandoned => {
            with.inflight.settle(ticket, false);
            tell(with, turn, flight, ticket, EventKind::Abandoned, now);
        }
    }
}

/// Tells of a call that has no result to tell.
pub(super) fn tell<H, K>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    turn: Option<&Turn<'_>>,
    flight: Flight,
    ticket: Ticket,
    kind: EventKind,
    at: Instant,
) {
    let call =
        turn.filter(|turn| turn.number == flight.turn).and_then(|turn| turn.reply.get(flight.call as usize));
    (with.watch)(&Event {
        kind,
        at,
        turn: flight.turn,
        index: flight.call as usize,
        call: call.as_ref(),
        ticket: Some(ticket),
        result: None,
        message: "",
    });
}
