//! A turn of calls of which some answer later: one result each, in the order of the calls.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;
mod deadlines;
mod hooks;
mod memory;
mod order;
mod support;
mod tickets;

use std::cell::{Cell, RefCell};
use std::task::Poll;

use common::with_schema;
use toolcore::call::{Call, Ticket};
use toolcore::dialect::{ReplyOptions, parse_reply};
use toolcore::inflight::{InFlight, Slot, TicketError};
use toolcore::prelude::*;
use toolcore::tool::{Cancel, Failure, Handler};
use toolcore::turn::{Entry, Event, EventKind, Runtime, Turn};

/// Tools by name: `now` answers at once, all others keep their ticket.
struct Tool<'t> {
    tickets: &'t RefCell<Vec<Ticket>>,
    asked: &'t Cell<u32>,
}

impl Handler for Tool<'_> {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        if call.name == "now" {
            result.text("at once")?;
            return Poll::Ready(Ok(()));
        }
        self.tickets.borrow_mut().push(call.ticket().unwrap());
        Poll::Pending
    }

    fn cancel(&self, _: Ticket) -> Cancel {
        self.asked.set(self.asked.get() + 1);
        Cancel::Later
    }
}

const REPLY: &str = r#"{"role":"assistant","content":[
    {"type":"tool_use","id":"a","name":"later","input":{}},
    {"type":"tool_use","id":"b","name":"now","input":{}},
    {"type":"tool_use","id":"c","name":"never","input":{}}]}"#;

#[test]
fn each_call_gets_one_result_in_the_order_of_the_calls() {
    let (tickets, asked) = (RefCell::new(Vec::new()), Cell::new(0));
    let mut memory = RegistryMemory::<Tool<'_>, 4, 4096>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    for (name, timeout) in [("later", None), ("now", None), ("never", Some(Duration::from_millis(100)))] {
        let tool = ToolDefinition { timeout, ..with_schema(name, "{\"type\":\"object\"}") };
        tools.add(&tool, Tool { tickets: &tickets, asked: &asked }).unwrap();
    }
    let clock = ManualClock::new(Instant::from_millis(1000));
    let options = AnswerOptions { clock: Some(&clock), ..AnswerOptions::default() };
    let mut slots = vec![Slot::default(); 8];
    let mut inflight = InFlight::new(&mut slots, Duration::from_millis(1000));
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let (reply, scratch) = parse_reply(
        Dialect::Anthropic,
        REPLY.as_bytes(),
        ReplyOptions::default(),
        Scratch::new(&mut words, &mut bytes),
    )
    .unwrap();
    let mut entries = [Entry::default(); 4];
    let mut log = Vec::new();
    let mut turn = Turn::new(reply, &mut inflight, &mut entries, scratch).unwrap();
    let mut watch = |event: &Event<'_>| {
        log.push((event.at.as_millis(), event.index, event.kind.name(), event.ticket.is_some()))
    };
    let mut with =
        Runtime { registry: &tools, inflight: &mut inflight, options: &options, watch: &mut watch };
    let at = Instant::from_millis;
    assert_eq!(turn.poll(&mut with, at(1000)), Ok(Some(at(1100))));
    assert_eq!(turn.open(), 2);
    assert_eq!(turn.progress(&mut with, tickets.borrow()[0], at(1050), (1, 2), ""), Ok(()));
    assert_eq!(turn.poll(&mut with, at(1099)), Ok(Some(at(1100))));
    assert_eq!(turn.poll(&mut with, at(1100)), Ok(Some(at(2100))));
    assert_eq!(asked.get(), 1);
    let first = tickets.borrow()[0];
    assert_eq!(turn.complete_with(&mut with, first, at(1200), |result| result.text("done").unwrap()), Ok(()));
    assert!(turn.is_done());
    assert_eq!(turn.fail(&mut with, first, at(1201), "again"), Err(TicketError::Doubled));
    let mut out = [0; 1024];
    let mut sink = Sink::new(&mut out);
    let need = turn.measure(&options);
    let outcome = turn.finish(&mut with, at(1300), &mut sink).unwrap();
    assert_eq!((outcome.calls, outcome.answered, outcome.failed), (3, 2, 1));
    let text = sink.finish().unwrap();
    assert_eq!(text.len(), need);
    assert_eq!(
        text,
        concat!(
            r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"done"},"#,
            r#"{"type":"tool_result","tool_use_id":"b","content":"at once"},"#,
            r#"{"type":"tool_result","tool_use_id":"c","content":"[TOOL_TIMEOUT] Tool 'never' timed out after 0.1s","is_error":true}]}]"#
        )
    );
    // The slot of the one that never answers is free after its grace period.
    assert_eq!(with.inflight.len(), 1);
    assert_eq!(toolcore::turn::serve(&mut with, at(2100)), None);
    assert_eq!(with.inflight.len(), 0);
    let never = tickets.borrow()[1];
    assert_eq!(toolcore::turn::end(&mut with, never, at(9000)), Err(TicketError::Late));
    assert_eq!(toolcore::turn::end(&mut with, never, at(9000)), Err(TicketError::Doubled));
    assert_eq!(with.inflight.stats().abandoned, 1);
    assert_eq!(
        log,
        [
            (1000, 0, "called", true),
            (1000, 1, "called", true),
            (1000, 1, "finished", true),
            (1000, 2, "called", true),
            (1050, 0, "progress", true),
            (1100, 2, "timed_out", true),
            (1200, 0, "finished", true),
            (2100, 2, "abandoned", true),
        ]
    );
    assert!(EventKind::Finished.settles());
}
