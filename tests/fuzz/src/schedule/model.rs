//! What must happen: a model of calls in flight, written from what is promised and not from the table.
//!
//! [`Fate`] is the whole rule for results. The rest is a list that is searched from end to end where the table has a
//! heap, for what is told, counted and answered on the way.

use std::collections::BTreeMap;

use toolcore::inflight::{Stats, TicketError};
use toolcore::tool::Cancel;

use super::tools::{Plan, TOOLS, Tool, UNKNOWN};

/// What came first for a call, and when; and when its time was over.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    pub(super) name: &'static str,
    timeout: Option<u64>,
    deadline: Option<u64>,
    first: Option<(u64, What)>,
    /// It waits for its tool.
    running: bool,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Answer(String),
    Failure(String),
    Cancel,
}

impl Fate {
    /// The one result that it must have: what came first, unless its time was over by then. An answer is in time at the
    /// deadline.
    pub(super) fn must(&self) -> (String, bool) {
        let name = self.name;
        match self.first.clone().expect("it is settled") {
            (at, what)
                if self.deadline.is_some_and(|deadline| {
                    at > deadline || at == deadline && matches!(what, What::Cancel)
                }) =>
            {
                let seconds = self.timeout.unwrap_or_default() as f64 / 1000.0;
                (format!("[TOOL_TIMEOUT] Tool '{name}' timed out after {seconds}s"), true)
            }
            (_, What::Answer(text)) => (text, false),
            (_, What::Failure(text)) => (text, true),
            (_, What::Cancel) => (format!("Tool error: Tool '{name}' was cancelled"), true),
        }
    }
}

/// When, what, in which turn, and which of its calls.
pub(super) type Told = (u64, &'static str, u32, usize);

/// A call that waits, or was asked to end.
struct Flight {
    ticket: u64,
    turn: u32,
    call: usize,
    /// Which registration of a tool it is of.
    tool: usize,
    answer: Cancel,
    deadline: Option<u64>,
    orphan: bool,
    /// It was asked to end, and has until then.
    until: Option<u64>,
}

impl Flight {
    fn due(&self) -> Option<u64> {
        match self.until {
            None if self.orphan => Some(0),
            None => self.deadline,
            until => until,
        }
    }

    fn is_late(&self, now: u64) -> bool {
        self.due().is_some_and(|due| due < now)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Known {
    /// Its call is in flight.
    Out,
    /// Its call was given up, and it has not come.
    GivenUp,
    Used,
}

/// What holds for a turn.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) timeout: Option<u64>,
    pub(super) max_calls: Option<usize>,
    pub(super) side_by_side: usize,
}

pub(super) struct Model {
    capacity: usize,
    grace: u64,
    pub(super) clock: u64,
    pub(super) now: u64,
    flights: Vec<Flight>,
    known: BTreeMap<u64, Known>,
    /// The last ticket of each slot.
    newest: BTreeMap<u32, u64>,
    pub(super) stats: Stats,
    /// How many calls have waited for their tools so far.
    pub(super) waited: u32,
    pub(super) turn: u32,
    pub(super) calls: Vec<Fate>,
    next: usize,
    /// Which registration each tool has now.
    pub(super) registered: [Option<usize>; TOOLS.len()],
    /// What must be told since the last look.
    pub(super) told: Vec<Told>,
    /// Which tools must be asked to end.
    pub(super) asked: Vec<u64>,
}

impl Model {
    pub(super) fn new(capacity: usize, grace: u64, clock: u64) -> Self {
        Model {
            capacity,
            grace,
            clock,
            now: 0,
            flights: Vec::new(),
            known: BTreeMap::new(),
            newest: BTreeMap::new(),
            stats: Stats::default(),
            waited: 0,
            turn: 0,
            calls: Vec::new(),
            next: 0,
            registered: [None; TOOLS.len()],
            told: Vec::new(),
            asked: Vec::new(),
        }
    }

    pub(super) fn in_flight(&self) -> usize {
        self.flights.len()
    }

    pub(super) fn open(&self) -> usize {
        self.calls.iter().filter(|call| call.first.is_none()).count()
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.flights.iter().filter_map(Flight::due).min()
    }

    /// A ticket that is out, one that was given out, in the order in which they were.
    pub(super) fn out(&self, which: usize) -> Option<u64> {
        self.flights.get(which % self.flights.len().max(1)).map(|flight| flight.ticket)
    }

    pub(super) fn given(&self, which: usize) -> Option<u64> {
        self.known.keys().nth(which % self.known.len().max(1)).copied()
    }

    pub(super) fn begin_turn(&mut self, names: impl Iterator<Item = &'static str>) {
        self.turn += 1;
        self.calls = names.map(|name| Fate { name, ..Fate::default() }).collect();
        self.next = 0;
        for flight in self.flights.iter_mut().filter(|flight| flight.until.is_none()) {
            flight.orphan = true;
        }
    }

    pub(super) fn leave_turn(&mut self) {
        self.calls.clear();
    }

    fn tell(&mut self, kind: &'static str, turn: u32, call: usize) {
        self.told.push((self.now, kind, turn, call));
    }

    fn settle(&mut self, call: usize, what: What, kind: &'static str) {
        let fate = &mut self.calls[call];
        assert!(fate.first.is_none());
        (fate.first, fate.running) = (Some((self.now, what)), false);
        self.tell(kind, self.turn, call);
    }

    /// Settles the call of a flight, or tells of it if its turn is gone.
    fn settle_flight(&mut self, turn: u32, call: usize, kind: &'static str) {
        if turn == self.turn && call < self.calls.len() {
            self.settle(call, What::Cancel, kind);
        } else {
            self.tell(kind, turn, call);
        }
    }

    /// The call at this place of the list has its outcome, and its tool is asked to end it.
    fn ask(&mut self, at: usize) {
        let Flight { ticket, turn, call, tool, answer, .. } = self.flights[at];
        let is_there = self.registered.contains(&Some(tool));
        if is_there {
            self.asked.push(ticket);
        }
        match if is_there { answer } else { Cancel::Later } {
            Cancel::Later if self.grace > 0 => {
                self.flights[at].until = Some(self.now.saturating_add(self.grace))
            }
            Cancel::Ended => {
                self.flights.remove(at);
                self.known.insert(ticket, Known::GivenUp);
            }
            _ => {
                self.flights.remove(at);
                self.abandon(ticket, turn, call);
            }
        }
    }

    fn abandon(&mut self, ticket: u64, turn: u32, call: usize) {
        self.known.insert(ticket, Known::GivenUp);
        self.stats.abandoned += 1;
        self.tell("abandoned", turn, call);
    }

    pub(super) fn expire(&mut self, now: u64) {
        self.now = self.now.max(now);
        loop {
            let due = |flight: &Flight| flight.due().filter(|due| *due <= self.now);
            let first = (0..self.flights.len())
                .filter_map(|at| {
                    Some((due(&self.flights[at])?, self.flights[at].turn, self.flights[at].call, at))
                })
                .min();
            let Some((_, turn, call, at)) = first else { return };
            if self.flights[at].until.is_some() {
                let ticket = self.flights.remove(at).ticket;
                self.abandon(ticket, turn, call);
                continue;
            }
            if self.flights[at].orphan {
                self.stats.cancelled += 1;
                self.settle_flight(turn, call, "cancelled");
            } else {
                self.stats.timed_out += 1;
                self.settle_flight(turn, call, "timed_out");
            }
            self.ask(at);
        }
    }

    /// Starts what may start; `ticket` says which ticket a call was given.
    pub(super) fn start(&mut self, rules: Rules, ticket: impl Fn(usize) -> Option<u64>) {
        while self.next < self.calls.len() {
            let call = self.next;
            if self.calls[call].first.is_some() || self.calls[call].running {
                self.next += 1;
                continue;
            }
            if let Some(max) = rules.max_calls.filter(|max| call >= *max) {
                let text = format!("Not executed: at most {max} tool call(s) per turn allowed.");
                self.settle(call, What::Failure(text), "finished");
                continue;
            }
            let taken = self.flights.len();
            if taken >= rules.side_by_side || self.capacity > 0 && taken == self.capacity {
                return;
            }
            let ticket = ticket(call);
            assert_eq!(ticket.is_some(), self.capacity > 0);
            self.begin(call, rules, ticket);
            if let Some(ticket) = ticket {
                let slot = ticket as u32;
                assert!((slot as usize) < self.capacity && ticket != 0);
                let is_out = self.flights.iter().any(|flight| flight.ticket == ticket);
                let before = self.known.insert(ticket, if is_out { Known::Out } else { Known::Used });
                assert!(before.is_none(), "a ticket came again");
                self.newest.insert(slot, ticket);
            }
        }
    }

    fn begin(&mut self, call: usize, rules: Rules, ticket: Option<u64>) {
        let name = self.calls[call].name;
        let which = TOOLS.iter().position(|tool| tool.name == name);
        let Some((which, tool)) = which.and_then(|which| Some((which, self.registered[which]?))) else {
            return self.settle(call, What::Failure(format!("{UNKNOWN}'{name}'")), "finished");
        };
        let Tool { plan, timeout, .. } = TOOLS[which];
        self.tell("called", self.turn, call);
        let timeout = timeout.or(rules.timeout);
        let deadline = |from: u64| timeout.and_then(|timeout| from.checked_add(timeout));
        let (from, in_time) = (self.clock, deadline(self.clock));
        match plan {
            Plan::Now(takes, answers) => {
                self.clock = from.saturating_add(takes);
                if in_time.is_some_and(|deadline| self.clock > deadline) {
                    let seconds = timeout.unwrap_or_default() as f64 / 1000.0;
                    let text = format!("[TOOL_TIMEOUT] Tool '{name}' timed out after {seconds}s");
                    self.settle(call, What::Failure(text), "timed_out");
                } else if answers {
                    self.settle(call, What::Answer("at once".into()), "finished");
                } else {
                    self.settle(call, What::Failure("Tool error: broken".into()), "finished");
                }
            }
            Plan::Later(answer) => {
                let Some(ticket) = ticket else {
                    let why = "the tool answers later, and the table of calls in flight has no place";
                    return self.settle(call, What::Failure(format!("Tool error: {why}")), "finished");
                };
                let fate = &mut self.calls[call];
                // Its time begins at the earliest when the table's does.
                (fate.running, fate.timeout) = (true, timeout);
                fate.deadline = in_time.and(deadline(from.max(self.now)));
                let (turn, deadline) = (self.turn, fate.deadline);
                let flight =
                    Flight { ticket, turn, call, tool, answer, deadline, orphan: false, until: None };
                self.flights.push(flight);
                self.waited += 1;
            }
        }
    }

    fn find(&self, ticket: u64) -> Result<usize, TicketError> {
        match self.known.get(&ticket) {
            None => Err(TicketError::Unknown),
            Some(_) if self.newest.get(&(ticket as u32)) != Some(&ticket) => Err(TicketError::Stale),
            Some(Known::Used) => Err(TicketError::Doubled),
            Some(Known::GivenUp) => Err(TicketError::Late),
            Some(Known::Out) => {
                Ok(self.flights.iter().position(|flight| flight.ticket == ticket).expect("it is in flight"))
            }
        }
    }

    fn count(&mut self, error: TicketError) -> TicketError {
        match error {
            TicketError::Unknown => self.stats.unknown += 1,
            TicketError::Stale => self.stats.stale += 1,
            TicketError::Doubled => self.stats.doubled += 1,
            TicketError::Late => self.stats.late += 1,
        }
        error
    }

    /// A ticket comes with what its tool brings; `served` if it is brought to the turn.
    pub(super) fn end(&mut self, ticket: u64, now: u64, what: What, served: bool) -> Result<(), TicketError> {
        self.now = self.now.max(now);
        let at = match self.find(ticket) {
            Ok(at) => at,
            Err(error) => {
                if error == TicketError::Late {
                    self.known.insert(ticket, Known::Used);
                }
                return Err(self.count(error));
            }
        };
        let flight = self.flights.remove(at);
        let Flight { turn, call, .. } = flight;
        self.known.insert(ticket, Known::Used);
        if flight.until.is_some() {
            self.tell("late", turn, call);
        } else if !flight.orphan && flight.is_late(self.now) {
            self.stats.timed_out += 1;
            self.settle_flight(turn, call, "timed_out");
        } else if flight.orphan || !served {
            self.stats.cancelled += 1;
            self.settle_flight(turn, call, "cancelled");
        } else {
            self.stats.completed += 1;
            self.settle(call, what, "finished");
            return Ok(());
        }
        Err(self.count(TicketError::Late))
    }

    pub(super) fn progress(&mut self, ticket: u64, now: u64) -> Result<(), TicketError> {
        self.now = self.now.max(now);
        let at = self.find(ticket).map_err(|error| self.count(error))?;
        let flight = &self.flights[at];
        if flight.until.is_some() || flight.is_late(self.now) {
            return Err(self.count(TicketError::Late));
        }
        let (turn, call) = (flight.turn, flight.call);
        self.tell("progress", turn, call);
        Ok(())
    }

    pub(super) fn cancel(&mut self, which: std::ops::Range<usize>, now: u64) {
        self.expire(now);
        for call in which {
            if self.calls.get(call).is_none_or(|fate| fate.first.is_some()) {
                continue;
            }
            self.settle(call, What::Cancel, "cancelled");
            let (turn, flights) = (self.turn, &self.flights);
            if let Some(at) = flights.iter().position(|flight| (flight.turn, flight.call) == (turn, call)) {
                self.stats.cancelled += 1;
                self.ask(at);
            }
        }
    }
}
