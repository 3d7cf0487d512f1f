//! Calls that are answered later, and what a deadline costs one that is answered at once.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::task::Poll;

use toolcore::call::Ticket;
use toolcore::dialect::{Reply, parse_reply};
use toolcore::dispatch::{DispatchOptions, dispatch};
use toolcore::inflight::{InFlight, Slot};
use toolcore::json;
use toolcore::prelude::*;
use toolcore::registry::NoHook;
use toolcore::tool::Cancel;
use toolcore::turn::{Entry, Event, MIN_KEPT, Runtime, Turn, Which};

use crate::data;
use crate::groups::{Group, OURS, registry};

pub(crate) const POLL_8: &str = "poll 8 calls that wait, none is due";
pub(crate) const POLL_1000: &str = "poll 1,000 calls that wait, none is due";
pub(crate) const TURN: &str = "a turn of 1,000 calls that wait";
pub(crate) const BEGUN: &str = "toolcore, begun";
pub(crate) const COMPLETED: &str = "toolcore, begun and completed";
pub(crate) const ONE_BY_ONE: &str = "toolcore, begun, due in 1,000 polls";
pub(crate) const AT_ONCE: &str = "toolcore, begun, all due in one poll";
pub(crate) const CANCELLED: &str = "toolcore, begun and cancelled";
pub(crate) const DISPATCH: &str = "dispatch a call";
pub(crate) const WITHOUT: &str = "toolcore, without a deadline";
pub(crate) const WITH: &str = "toolcore, with a deadline";

pub(crate) fn groups() -> [Group; 4] {
    [dispatched(), poll(POLL_8, 8), poll(POLL_1000, 1000), turn(1000)]
}

/// The same tool and the same clock.
fn dispatched() -> Group {
    let case = |timeout| {
        move || -> Box<dyn FnMut()> {
            let registry = registry(16);
            let (mut words, mut bytes) = ([0; 128], [0; 1024]);
            let (name, clock) = (data::tool_name(8), ManualClock::default());
            Box::new(move || {
                let call = ToolCall { name: &name, arguments: data::COMPACT.text, ..ToolCall::default() };
                let options = DispatchOptions { clock: Some(&clock), timeout, ..DispatchOptions::default() };
                let scratch = Scratch::new(&mut words, &mut bytes);
                let result = dispatch(&registry, black_box(&call), black_box(&options), scratch).unwrap();
                assert!(!result.failed());
            })
        }
    };
    Group::new(DISPATCH, None).case(WITHOUT, case(None)).case(WITH, case(Some(Duration::from_millis(100))))
}

/// They wait, and nothing is due.
fn poll(title: &'static str, calls: usize) -> Group {
    Group::new(title, None).case(OURS, move || {
        let host = Host::new(calls);
        let table = Vec::leak(vec![Slot::default(); calls]);
        let mut table = InFlight::new(table, Duration::from_millis(1000));
        let entries = Vec::leak(vec![Entry::default(); calls]);
        let scratch = Scratch::new(Vec::leak(vec![0; 64]), Vec::leak(vec![0; calls * MIN_KEPT]));
        let mut turn = Turn::new(host.reply, &mut table, entries, scratch).unwrap();
        host.with(&mut table, |with| turn.poll(with, at(0)).unwrap());
        assert_eq!(table.len(), calls);
        Box::new(move || {
            let next = host.with(&mut table, |with| turn.poll(with, black_box(at(1)))).unwrap();
            assert!(next.is_some());
        })
    })
}

/// What comes on top of `BEGUN` is what is named. Deadlines are a millisecond apart, in the order of the calls.
fn turn(calls: usize) -> Group {
    let case = move |end: fn(&mut Turn<'_>, &mut With<'_, '_>, &[Ticket])| {
        move || -> Box<dyn FnMut()> {
            let host = Host::new(calls);
            let mut slots = vec![Slot::default(); calls];
            let mut entries = vec![Entry::default(); calls];
            let (mut words, mut bytes) = (vec![0; 64], vec![0; calls * MIN_KEPT]);
            Box::new(move || {
                host.tickets.borrow_mut().clear();
                host.clock.0.set(0);
                let mut table = InFlight::new(&mut slots, Duration::from_millis(1_000_000));
                let scratch = Scratch::new(&mut words, &mut bytes);
                let mut turn = Turn::new(host.reply, &mut table, &mut entries, scratch).unwrap();
                let tickets = host.tickets;
                host.with(&mut table, |with| {
                    turn.poll(with, at(0)).unwrap();
                    end(&mut turn, with, &tickets.borrow());
                });
            })
        }
    };
    Group::per_call(TURN, calls)
        .case(BEGUN, case(|turn, _, _| assert!(!turn.is_done())))
        .case(
            COMPLETED,
            case(|turn, with, tickets| {
                for ticket in tickets {
                    let text = |result: &mut ToolResult<'_>| result.text("21 C").unwrap();
                    turn.complete_with(with, *ticket, at(1), text).unwrap();
                }
                assert!(turn.is_done());
            }),
        )
        .case(
            ONE_BY_ONE,
            case(|turn, with, tickets| {
                for due in 0..tickets.len() {
                    turn.poll(with, at(TIMEOUT + 2 + due as u64)).unwrap();
                }
                assert!(turn.is_done());
            }),
        )
        .case(
            AT_ONCE,
            case(|turn, with, _| {
                turn.poll(with, at(900_000)).unwrap();
                assert!(turn.is_done());
            }),
        )
        .case(
            CANCELLED,
            case(|turn, with, _| {
                turn.cancel(with, Which::All, at(1));
                assert!(turn.is_done());
            }),
        )
}

/// Milliseconds.
const TIMEOUT: u64 = 5000;

/// A tool that keeps its tickets; each call takes a millisecond to begin.
struct Keeps {
    tickets: &'static RefCell<Vec<Ticket>>,
    clock: &'static Settable,
}

impl Handler for Keeps {
    fn run(&self, call: &Call<'_>, _: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        self.clock.0.set(self.clock.0.get() + 1);
        self.tickets.borrow_mut().extend(call.ticket());
        Poll::Pending
    }

    fn cancel(&self, _: Ticket) -> Cancel {
        Cancel::Later
    }
}

/// A clock that can go back to its beginning.
struct Settable(Cell<u64>);

impl Clock for Settable {
    fn now(&self) -> Instant {
        at(self.0.get())
    }
}

/// The tool, a reply that calls it so often, and the time.
struct Host {
    registry: Registry<'static, Keeps>,
    reply: Reply<'static>,
    tickets: &'static RefCell<Vec<Ticket>>,
    clock: &'static Settable,
    calls: usize,
}

impl Host {
    fn new(calls: usize) -> Self {
        let tickets: &'static _ = Box::leak(Box::new(RefCell::new(Vec::with_capacity(calls))));
        let clock: &'static _ = Box::leak(Box::new(Settable(Cell::new(0))));
        let memory: &'static mut _ = Box::leak(Box::new(RegistryMemory::<Keeps, 1, 1024>::new()));
        let mut registry = memory.registry(RegistryOptions::default());
        let timeout = Some(Duration::from_millis(TIMEOUT));
        let tool = ToolDefinition { name: "later", timeout, ..ToolDefinition::default() };
        registry.add(&tool, Keeps { tickets, clock }).unwrap();
        let blocks: Vec<_> = (0..calls)
            .map(|call| format!(r#"{{"type":"tool_use","id":"toolu_{call}","name":"later","input":{{}}}}"#))
            .collect();
        let reply = format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(",")).leak();
        let scratch = Scratch::new(Vec::leak(vec![0; 16 * calls]), Vec::leak(vec![0; 16 * calls]));
        let reply = parse_reply(Dialect::Anthropic, reply.as_bytes(), &json::Options::default(), scratch);
        Host { registry, reply: reply.unwrap().0, tickets, clock, calls }
    }

    fn with<'m, R>(&self, inflight: &mut InFlight<'m>, act: impl FnOnce(&mut With<'_, 'm>) -> R) -> R {
        let side_by_side = Some(self.calls);
        let options = AnswerOptions { clock: Some(self.clock), side_by_side, ..AnswerOptions::default() };
        let mut watch = |event: &Event<'_>| {
            black_box(event.kind);
        };
        act(&mut Runtime { registry: &self.registry, inflight, options: &options, watch: &mut watch })
    }
}

type With<'h, 'm> = Runtime<'h, 'static, 'm, 'h, Keeps, NoHook>;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}
