//! How the calls of a turn begin: in their order, each where there is room.

use super::{Event, EventKind, Runtime, SIDE_BY_SIDE, State, Turn, TurnError};
use crate::answer::{check_clock, dispatch_options, write_not_executed, write_over_limit};
use crate::call::Ticket;
use crate::dispatch::{Begun, Prepared, prepare};
use crate::inflight::Flight;
use crate::registry::Hook;
use crate::result::OutcomeKind;
use crate::scratch::Scratch;
use crate::time::{Deadline, Instant};
use crate::tool::Handler;

impl Turn<'_> {
    /// Starts what may start.
    pub(super) fn start<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        now: Instant,
    ) -> Result<(), TurnError> {
        if !self.any_ran {
            check_clock(with.registry, &self.reply, with.options)
                .map_err(|(call, error)| TurnError::Dispatch { call, error })?;
        }
        let limit = with.options.side_by_side.unwrap_or(SIDE_BY_SIDE).max(1);
        while let Some(entry) = self.entries.get(self.next) {
            if entry.state != State::Waiting {
                self.next += 1;
                continue;
            }
            if let Some(max) = with.options.max_calls.filter(|max| self.next >= *max) {
                self.settle(with, self.next, EventKind::Finished, now, |result| {
                    result.fail(OutcomeKind::OverLimit, |sink| write_over_limit(max, sink));
                });
                continue;
            }
            if with.inflight.len() >= limit {
                return Ok(());
            }
            let ticket = with.inflight.reserve();
            // With a slot in use that will be free again; without any, calls can run that answer at once.
            if ticket.is_none() && with.inflight.capacity() > 0 {
                return Ok(());
            }
            self.begin(with, self.next, ticket, now)?;
        }
        Ok(())
    }

    /// Begins one call; it has its result then, or waits.
    fn begin<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        index: usize,
        ticket: Option<Ticket>,
        now: Instant,
    ) -> Result<(), TurnError> {
        let call = self.reply.get(index).unwrap_or_default();
        let each = dispatch_options(self.reply.dialect(), with.options);
        let (registry, number) = (with.registry, self.number);
        let mut event = Event {
            kind: EventKind::Called,
            at: now,
            turn: number,
            index,
            call: Some(&call),
            ticket,
            result: None,
            message: "",
        };
        let free = self.pool.get_mut(self.used..).unwrap_or_default();
        let ended = match prepare(registry, &call, &each, Scratch::new(self.words, free)) {
            Ok(Prepared::Ended(result)) => Some(result),
            Ok(Prepared::Ready(ready)) => {
                self.any_ran = true;
                (with.watch)(&event);
                let position = u32::try_from(ready.position).unwrap_or(u32::MAX);
                let mut started = ready.start(ticket);
                let outcome = started.handler.run(&started.accepted, &mut started.result);
                match (started.end(registry, outcome), ticket) {
                    (Begun::Ended(result), _) => Some(result),
                    (Begun::Pending { mut result, .. }, None) => {
                        result.error("the tool answers later, and the table of calls in flight has no place");
                        Some(result)
                    }
                    (Begun::Pending { deadline, timeout, .. }, Some(ticket)) => {
                        let serial = registry.serial(position as usize);
                        // A clock that has stepped back takes no time from the call.
                        let least = timeout.and_then(|timeout| Deadline::after(now, timeout).instant());
                        let at = deadline.instant().zip(least).map(|(at, least)| at.max(least));
                        let deadline = at.map_or(Deadline::NEVER, Deadline::at);
                        let call = u32::try_from(index).unwrap_or(u32::MAX);
                        with.inflight.wait(ticket, Flight { turn: number, call, position, serial }, deadline);
                        if let Some(entry) = self.entries.get_mut(index) {
                            (entry.state, entry.ticket) = (State::Running, Some(ticket));
                            entry.timeout = timeout;
                        }
                        return Ok(());
                    }
                }
            }
            Err(error) => {
                if let Some(ticket) = ticket {
                    with.inflight.release(ticket);
                }
                if !self.any_ran {
                    return Err(TurnError::Dispatch { call: index, error });
                }
                self.settle(with, index, EventKind::Finished, now, |result| {
                    result.fail(OutcomeKind::ToolFailed, |sink| write_not_executed(call.name, error, sink));
                });
                return Ok(());
            }
        };
        if let Some(ticket) = ticket {
            with.inflight.release(ticket);
        }
        if let Some(result) = ended {
            let timed_out = result.kind() == OutcomeKind::TimedOut;
            event.kind = if timed_out { EventKind::TimedOut } else { EventKind::Finished };
            event.result = Some(&result);
            (with.watch)(&event);
            self.outcome.add(&result);
            let (shape, memory) = (result.shape(), result.memory().as_ptr());
            self.keep(index, shape, memory);
        }
        Ok(())
    }
}
