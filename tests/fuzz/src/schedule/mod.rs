//! Bytes as a schedule: what a host, its tools and its clock do with turns of calls, in any order.
//!
//! After each step the library must have told, asked, counted and answered what the [`model`] says; at the end no slot
//! is lost, and each tool has been dropped once.

mod model;
mod tools;

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use toolcore::call::Ticket;
use toolcore::dialect::{ReplyOptions, parse_reply};
use toolcore::inflight::{InFlight, Slot, Stats};
use toolcore::prelude::*;
use toolcore::turn::{Entry, Event, MIN_KEPT, Runtime, Turn, Which, end, serve};

use model::{Model, Rules, Told, What};
use tools::{Registered, TOOLS, UNKNOWN, World};

/// How much a schedule has done.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    /// Steps.
    pub events: u64,
    /// Of all that was told and written.
    pub digest: u64,
}

/// Runs the schedule and panics where it is not as the model says.
pub fn run(input: &[u8]) -> Ran {
    let world = World::default();
    let mut bytes = Bytes(input);
    let (capacity, grace) = (bytes.pick([1, 2, 3, 5, 8, 8, 9, 11, 12, 16, 0]), bytes.pick([40, 1000, 40, 0]));
    let clock = bytes.pick([0, 1000, 7, 5, 100, 1 << 40, 3, u64::MAX - 300]);
    world.clock.0.set(clock);
    let mut memory = RegistryMemory::<Registered<'_>, { TOOLS.len() }, 2048>::new();
    let mut slots = vec![Slot::default(); capacity];
    let mut host = Host {
        world: &world,
        tools: memory.registry(RegistryOptions::default()),
        table: InFlight::new(&mut slots, Duration::from_millis(grace)),
        model: Model::new(capacity, grace, clock),
        log: RefCell::default(),
        settled: Vec::new(),
        events: 0,
        hasher: DefaultHasher::new(),
    };
    for which in 0..TOOLS.len() {
        host.register(which);
    }
    while !bytes.0.is_empty() {
        host.turn(&mut bytes);
        host.between(&mut bytes);
    }
    host.end(capacity);
    let ran = Ran { events: host.events, digest: host.hasher.finish() };
    drop(host);
    assert!(world.drops.borrow().iter().all(|count| *count == 1), "a tool is dropped once");
    ran
}

/// The rest of the schedule; zeros after its end.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn pick<T: Copy, const N: usize>(&mut self, list: [T; N]) -> T {
        list[usize::from(self.next()) % N]
    }
}

/// Something that was told, with the ticket of a call that has one.
type Seen = (Told, Option<u64>);

struct Host<'w, 'm> {
    world: &'w World,
    tools: Registry<'m, Registered<'w>>,
    table: InFlight<'m>,
    model: Model,
    log: RefCell<Vec<Seen>>,
    /// How often each call of the turn was settled.
    settled: Vec<u32>,
    events: u64,
    hasher: DefaultHasher,
}

type With<'h, 'w, 'm> = Runtime<'h, 'm, 'm, 'h, Registered<'w>, toolcore::registry::NoHook>;

impl<'w, 'm> Host<'w, 'm> {
    /// Does something with the tools and the table, as a host does.
    fn with<R>(&mut self, options: &AnswerOptions<'_>, act: impl FnOnce(&mut With<'_, 'w, 'm>) -> R) -> R {
        let mut watch = |event: &Event<'_>| {
            let told = (event.at.as_millis(), event.kind.name(), event.turn, event.index);
            assert_eq!(event.result.is_some(), event.kind.settles() && event.call.is_some());
            self.log.borrow_mut().push((told, event.ticket.map(Ticket::as_u64)));
        };
        act(&mut Runtime { registry: &self.tools, inflight: &mut self.table, options, watch: &mut watch })
    }

    fn register(&mut self, which: usize) {
        let tool = Registered::new(which, self.world);
        self.model.registered[which] = Some(tool.number());
        let timeout = TOOLS[which].timeout.map(Duration::from_millis);
        let definition = ToolDefinition { name: TOOLS[which].name, timeout, ..ToolDefinition::default() };
        self.tools.add(&definition, tool).unwrap();
    }

    /// One tool comes or goes; one that comes again stands elsewhere, and is another. Few are away at a time.
    fn change_tools(&mut self, bytes: &mut Bytes<'_>) {
        let away = self.model.registered.iter().position(Option::is_none);
        let which = away.filter(|_| bytes.next() < 200).unwrap_or(usize::from(bytes.next()) % TOOLS.len());
        if self.model.registered[which].take().is_some() {
            assert!(self.tools.remove(TOOLS[which].name));
        } else {
            self.register(which);
        }
    }

    /// What the host takes for the time: mostly its clock's.
    fn now(&self, bytes: &mut Bytes<'_>) -> u64 {
        let clock = self.world.clock.0.get();
        match bytes.next() {
            byte @ 0..16 => clock.saturating_sub(byte.into()),
            byte @ 16..24 => clock.saturating_add(byte.into()),
            _ => clock,
        }
    }

    fn set_clock(&mut self, clock: u64) {
        self.world.clock.0.set(clock);
        self.model.clock = clock;
    }

    fn move_clock(&mut self, bytes: &mut Bytes<'_>) {
        let (clock, by) = (self.world.clock.0.get(), u64::from(bytes.next()));
        self.set_clock(match bytes.next() {
            0 if by > 240 => u64::MAX - by % 8,
            0..4 => clock.saturating_add(by << (by % 32)),
            4..20 => clock.saturating_sub(by),
            20 => clock / 2,
            // To where the table is, or a little further, after a step back.
            21..60 => clock.max(self.model.now).saturating_add(by % 32),
            60..120 => clock.saturating_add(by % 64),
            _ => clock.saturating_add(by % 16),
        });
    }

    /// A ticket: one that is out, one that was given out once, or one that is made up.
    fn ticket(&self, bytes: &mut Bytes<'_>) -> Ticket {
        let (kind, which) = (bytes.next(), usize::from(bytes.next()));
        let ticket = match kind {
            0..240 => self.model.out(which).filter(|_| kind < 200).or_else(|| self.model.given(which)),
            _ => None,
        };
        // A slot and a generation that might be; or not.
        let made_up = u64::from(bytes.next() % 9) | (which as u64) << (32 + 4 * (kind % 2));
        Ticket::from_u64(ticket.unwrap_or(made_up))
    }

    /// What is the same at any time; and what was told since.
    fn check(&mut self) {
        let log = self.log.take();
        let told: Vec<Told> = log.iter().map(|(told, _)| *told).collect();
        assert_eq!(told, std::mem::take(&mut self.model.told));
        assert_eq!(self.world.asked.take(), std::mem::take(&mut self.model.asked));
        assert_eq!((self.table.len(), self.table.stats()), (self.model.in_flight(), self.model.stats));
        assert_eq!(self.table.next().map(Instant::as_millis), self.model.next_due());
        assert_eq!(self.world.clock.0.get(), self.model.clock);
        for (_, kind, turn, call) in &told {
            if matches!(*kind, "finished" | "timed_out" | "cancelled") && *turn == self.model.turn {
                self.settled.resize(self.settled.len().max(call + 1), 0);
                self.settled[*call] += 1;
                assert_eq!(self.settled[*call], 1, "a call is settled once");
            }
        }
        log.hash(&mut self.hasher);
        self.events += 1;
    }

    /// A turn from its beginning to its end, or until it is left.
    fn turn(&mut self, bytes: &mut Bytes<'_>) {
        let rules = Rules {
            timeout: bytes.pick([None, None, None, Some(30)]),
            max_calls: bytes.pick([None, None, None, None, None, None, Some(3), Some(0)]),
            side_by_side: bytes.pick([8, 8, 2, 1, 3, 5, 8, 0]),
        };
        let count = usize::from(bytes.next() % 12);
        let names: Vec<_> = (0..count)
            .map(|_| {
                TOOLS.get(usize::from(bytes.next()) % (TOOLS.len() + 1)).map_or("nope", |tool| tool.name)
            })
            .collect();
        let room = count * MIN_KEPT + bytes.pick([8192, 8192, 0, 7, 300]);
        self.turn_of(&names, rules, room, &mut |host, turn, options| {
            host.act(turn, options, rules, bytes);
            !bytes.0.is_empty()
        });
    }

    /// A turn of calls of these tools, with so many bytes; `act` until it gives `false`, or says that it is over.
    fn turn_of(
        &mut self,
        names: &[&'static str],
        rules: Rules,
        room: usize,
        act: &mut dyn FnMut(&mut Self, &mut Option<Turn<'_>>, &AnswerOptions<'_>) -> bool,
    ) {
        let blocks: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(at, name)| format!(r#"{{"type":"tool_use","id":"c{at}","name":"{name}","input":{{}}}}"#))
            .collect();
        let reply = format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","));
        let (mut words, mut pool) = (vec![0; 64 + 16 * names.len()], vec![0; room]);
        let scratch = Scratch::new(&mut words, &mut pool);
        let read = parse_reply(Dialect::Anthropic, reply.as_bytes(), ReplyOptions::default(), scratch);
        let (reply, scratch) = read.unwrap();
        let mut entries = vec![Entry::default(); names.len()];
        let world = self.world;
        let options = AnswerOptions {
            clock: Some(&world.clock),
            timeout: rules.timeout.map(Duration::from_millis),
            max_calls: rules.max_calls,
            side_by_side: Some(rules.side_by_side),
            ..AnswerOptions::default()
        };
        self.model.begin_turn(names.iter().copied());
        self.settled = vec![0; names.len()];
        let mut turn = Some(Turn::new(reply, &mut self.table, &mut entries, scratch).unwrap());
        while turn.is_some() && act(self, &mut turn, &options) {}
        self.model.leave_turn();
    }

    /// One step of a turn; it is taken away if it is over.
    fn act(
        &mut self,
        place: &mut Option<Turn<'_>>,
        options: &AnswerOptions<'_>,
        rules: Rules,
        bytes: &mut Bytes<'_>,
    ) {
        let Some(turn) = place else { return };
        let over = turn.is_done() && bytes.next() < 80;
        match bytes.next() % 32 {
            _ if over => {
                let now = self.now(bytes);
                self.finish(turn, options, now);
                *place = None;
            }
            0..9 => {
                let now = self.now(bytes);
                self.poll(turn, options, rules, now);
            }
            9..13 => {
                let (ticket, now) = (self.ticket(bytes), self.now(bytes));
                let text = "done ".repeat(usize::from(bytes.next()) / 4 + 1);
                let mut memory = vec![0; text.len()];
                let mut result = ToolResult::new(&mut memory);
                result.text(&text).unwrap();
                let ended = self.with(options, |with| turn.complete(with, ticket, at(now), &result));
                assert_eq!(ended, self.model.end(ticket.as_u64(), now, What::Answer(text), true));
            }
            13 | 14 => {
                let (ticket, now) = (self.ticket(bytes), self.now(bytes));
                let ended = self.with(options, |with| turn.fail(with, ticket, at(now), "no"));
                let what = What::Failure("Tool error: no".into());
                assert_eq!(ended, self.model.end(ticket.as_u64(), now, what, true));
            }
            15 | 16 => {
                let (ticket, now) = (self.ticket(bytes), self.now(bytes));
                let told = self.with(options, |with| turn.progress(with, ticket, at(now), (1, 2), "half"));
                assert_eq!(told, self.model.progress(ticket.as_u64(), now));
            }
            17 => {
                let (call, now) = (usize::from(bytes.next() % 13), self.now(bytes));
                self.with(options, |with| turn.cancel(with, Which::One(call), at(now)));
                self.model.cancel(call..call + 1, now);
            }
            18 if bytes.next() < 64 => {
                let now = self.now(bytes);
                self.with(options, |with| turn.cancel(with, Which::All, at(now)));
                self.model.cancel(0..turn.reply().len(), now);
            }
            19 => self.change_tools(bytes),
            20 if bytes.next() < 100 => *place = None,
            21 => {
                let now = self.now(bytes);
                self.finish(turn, options, now);
                if bytes.next() < 200 {
                    *place = None;
                }
            }
            _ => self.move_clock(bytes),
        }
        if let Some(turn) = place {
            assert_eq!((turn.open(), turn.is_done()), (self.model.open(), self.model.open() == 0));
        }
        self.check();
    }

    fn poll(&mut self, turn: &mut Turn<'_>, options: &AnswerOptions<'_>, rules: Rules, now: u64) {
        let next = self.with(options, |with| turn.poll(with, at(now))).unwrap();
        self.model.expire(now);
        let log = self.log.borrow();
        let given = |call| {
            let begins = |((_, kind, turn, index), _): &&Seen| {
                *turn == self.model.turn && *index == call && *kind != "abandoned"
            };
            log.iter().find(begins).and_then(|(_, ticket)| *ticket)
        };
        let tickets: Vec<_> = (0..turn.reply().len()).map(given).collect();
        self.model.start(Rules { side_by_side: rules.side_by_side.max(1), ..rules }, |call| tickets[call]);
        assert_eq!(next.map(Instant::as_millis), self.model.next_due());
    }

    /// Ends the turn: each call has its one result, at its place.
    fn finish(&mut self, turn: &mut Turn<'_>, options: &AnswerOptions<'_>, now: u64) {
        let count = turn.reply().len();
        let mut out = vec![0; 256 + 8192 * count.min(2) + 1024 * count];
        let mut sink = Sink::new(&mut out);
        let outcome = self.with(options, |with| turn.finish(with, at(now), &mut sink)).unwrap();
        self.model.cancel(0..count, now);
        let text = sink.finish().unwrap();
        assert_eq!((text.len(), outcome.calls), (turn.measure(options), count));
        text.hash(&mut self.hasher);
        if count == 0 {
            return assert_eq!(text, "");
        }
        let messages: serde_json::Value = serde_json::from_str(text).unwrap();
        let blocks = messages[0]["content"].as_array().unwrap();
        assert_eq!(blocks.len(), count);
        for (index, (block, fate)) in blocks.iter().zip(&self.model.calls).enumerate() {
            let (must, failed) = fate.must();
            assert_eq!(block["tool_use_id"], format!("c{index}"));
            assert_eq!(block["is_error"] == true, failed, "{fate:?}: {block}");
            let content = block["content"].as_str().unwrap();
            match content.split_once("… [truncated, ") {
                Some((kept, _)) => assert!(must.starts_with(UNKNOWN) || must.starts_with(kept.trim_end())),
                None if must.starts_with(UNKNOWN) => assert!(content.starts_with(&must), "{content}"),
                None => assert_eq!(content, must),
            }
        }
    }

    /// What a host does while there is no turn.
    fn between(&mut self, bytes: &mut Bytes<'_>) {
        let options = AnswerOptions::default();
        while !bytes.0.is_empty() && !bytes.next().is_multiple_of(4) {
            match bytes.next() % 4 {
                0 => self.move_clock(bytes),
                1 => {
                    let (ticket, now) = (self.ticket(bytes), self.now(bytes));
                    let ended = self.with(&options, |with| end(with, ticket, at(now)));
                    let must = self.model.end(ticket.as_u64(), now, What::Cancel, false);
                    assert_eq!(ended, must);
                    assert_ne!(ended, Ok(()), "nobody waits for it");
                }
                2 => self.change_tools(bytes),
                _ => {
                    let now = self.now(bytes);
                    let next = self.with(&options, |with| serve(with, at(now)));
                    self.model.expire(now);
                    assert_eq!(next.map(Instant::as_millis), self.model.next_due());
                }
            }
            self.check();
        }
    }

    /// At the end of time nothing is in flight, and every slot can be taken again.
    fn end(&mut self, capacity: usize) {
        let rules = Rules { timeout: None, max_calls: None, side_by_side: capacity };
        let mut poll = |host: &mut Self, turn: &mut Option<Turn<'_>>, options: &AnswerOptions<'_>| {
            if let Some(turn) = turn {
                host.poll(turn, options, rules, u64::MAX);
                host.check();
            }
            false
        };
        self.turn_of(&[], rules, 0, &mut poll);
        assert!(self.table.is_empty());
        if self.model.registered[FREE].is_none() {
            self.register(FREE);
        }
        self.turn_of(&vec![TOOLS[FREE].name; capacity], rules, capacity * MIN_KEPT, &mut poll);
        assert_eq!((self.table.len(), self.table.capacity()), (capacity, capacity), "a slot is lost");
        let Stats { completed, timed_out, cancelled, .. } = self.table.stats();
        let waited = self.model.waited - capacity as u32;
        assert_eq!(waited, completed + timed_out + cancelled, "each has one outcome");
        self.tools.clear();
    }
}

/// The place of the tool without a timeout that answers later; all those after it do so too.
const FREE: usize = 4;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}
