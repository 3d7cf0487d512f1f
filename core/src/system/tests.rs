//! Calls with tickets on worker threads: begun, received, given up. A call is made by hand, as a turn makes
//! it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::string::String;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::vec::Vec;
use std::{thread, time};

use super::*;
use crate::arena::Arena;
use crate::call::{Args, Call, Ticket, Waiter};
use crate::json::Value;
use crate::result::{OutcomeKind, Part, ToolResult};
use crate::time::{Deadline, Duration};
use crate::tool::{Failure, Handler};

/// A pool whose calls end one by one, as they are let go; how many began is counted.
struct Held {
    workers: Workers,
    tool: WorkerTool,
    go: Sender<()>,
    began: Arc<AtomicUsize>,
}

impl Held {
    fn new(max: usize) -> Self {
        let workers = Workers::new(WorkerOptions { max, ..WorkerOptions::default() });
        let (go, wait): (_, Receiver<()>) = channel();
        let (wait, began) = (Mutex::new(wait), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&began);
        let tool = workers.tool(move |call, result| {
            counted.fetch_add(1, Ordering::SeqCst);
            wait.lock().unwrap().recv().ok();
            Ok(result.text(call.args.str("text")?)?)
        });
        Held { workers, tool, go, began }
    }

    /// Waits until so many calls have begun.
    fn began(&self, count: usize) {
        eventually(|| self.began.load(Ordering::SeqCst) == count);
    }

    /// Everything received so far.
    fn received(&self) -> Vec<(u64, OutcomeKind, String)> {
        let mut received = Vec::new();
        let count = self.workers.receive(|ticket, _, result| {
            let text = match result.parts().next() {
                Some(Part::Text { text, .. }) => text.into(),
                other => panic!("{other:?}"),
            };
            received.push((ticket.as_u64(), result.kind(), text));
        });
        assert_eq!(count, received.len());
        received
    }
}

fn ticket(number: u64) -> Ticket {
    Ticket::from_u64(number)
}

fn begin(tool: &WorkerTool, number: u64, deadline: Option<Duration>) -> Poll<Result<(), Failure>> {
    let (mut decoded, mut memory) = ([0; 64], [0; 64]);
    let mut result = ToolResult::new(&mut memory);
    let clock = SystemClock::new();
    let deadline = deadline.map_or(Deadline::NEVER, |after| Deadline::after(clock.now(), after));
    let args = Args::new(Value::from_checked(r#"{"text":"done"}"#), Arena::new(&mut decoded));
    let ticket = Some(ticket(number));
    let call = Call {
        id: None,
        name: "held",
        args,
        deadline,
        clock: Some(&clock),
        waiter: ticket.map_or(Waiter::Nobody, Waiter::Table),
    };
    tool.run(&call, &mut result)
}

fn eventually(holds: impl Fn() -> bool) {
    let start = time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < time::Duration::from_secs(10), "never");
        thread::sleep(time::Duration::from_millis(1));
    }
}

const LONG: Option<Duration> = Some(Duration::from_millis(60_000));

#[test]
fn a_call_with_a_ticket_answers_later_and_is_received_once() {
    let held = Held::new(2);
    assert_eq!(begin(&held.tool, 7, LONG), Poll::Pending);
    assert!(!held.workers.wait(Some(Duration::from_millis(0))));
    assert_eq!(held.received(), []);
    held.go.send(()).unwrap();
    assert!(held.workers.wait(None));
    assert!(held.workers.wait(None), "it is there until it is received");
    assert_eq!(held.received(), [(7, OutcomeKind::Answered, "done".into())]);
    assert_eq!(held.received(), []);
}

#[test]
fn waiting_ends_when_the_time_is_there() {
    let held = Held::new(1);
    assert_eq!(begin(&held.tool, 1, LONG), Poll::Pending);
    let start = time::Instant::now();
    assert!(!held.workers.wait(Some(Duration::from_millis(10))));
    assert!(start.elapsed() >= time::Duration::from_millis(10));
}

#[test]
fn a_call_that_is_given_up_while_it_runs_is_received_when_it_ends_without_its_answer() {
    let held = Held::new(2);
    assert_eq!(begin(&held.tool, 7, LONG), Poll::Pending);
    held.began(1);
    held.tool.cancel(ticket(7));
    held.tool.cancel(ticket(7));
    held.tool.cancel(ticket(8));
    assert_eq!(held.received(), []);
    let stats = WorkerStats { running: 1, abandoned: 1, abandoned_total: 1, ..WorkerStats::default() };
    assert_eq!(held.workers.stats(), stats);
    held.go.send(()).unwrap();
    assert!(held.workers.wait(None));
    let cancelled = "Tool error: the call was cancelled";
    assert_eq!(held.received(), [(7, OutcomeKind::Cancelled, cancelled.into())]);
    assert_eq!(held.workers.stats().abandoned, 0);
}

#[test]
fn a_call_that_is_given_up_in_the_queue_never_runs_and_is_received_at_once() {
    let held = Held::new(1);
    assert_eq!(begin(&held.tool, 1, LONG), Poll::Pending);
    held.began(1);
    assert_eq!(begin(&held.tool, 2, LONG), Poll::Pending);
    assert_eq!(begin(&held.tool, 3, LONG), Poll::Pending);
    held.tool.cancel(ticket(2));
    let cancelled = "Tool error: the call was cancelled";
    assert_eq!(held.received(), [(2, OutcomeKind::Cancelled, cancelled.into())]);
    held.go.send(()).unwrap();
    held.go.send(()).unwrap();
    held.began(2);
    eventually(|| held.workers.stats().idle == 1);
    let done = || (OutcomeKind::Answered, "done".into());
    assert_eq!(held.received(), [(1, done().0, done().1), (3, done().0, done().1)]);
    assert_eq!(held.workers.stats().abandoned_total, 0);
}

#[test]
fn a_call_whose_deadline_passes_in_the_queue_never_runs_though_nobody_gives_it_up() {
    let held = Held::new(1);
    assert_eq!(begin(&held.tool, 1, LONG), Poll::Pending);
    held.began(1);
    assert_eq!(begin(&held.tool, 2, Some(Duration::from_millis(1))), Poll::Pending);
    thread::sleep(time::Duration::from_millis(5));
    held.go.send(()).unwrap();
    eventually(|| held.workers.stats().idle == 1);
    let timed_out = "[TOOL_TIMEOUT] Tool 'held' timed out after 0.001s";
    let expected =
        [(1, OutcomeKind::Answered, "done".into()), (2, OutcomeKind::TimedOut, String::from(timed_out))];
    assert_eq!(held.received(), expected);
    assert_eq!(held.began.load(Ordering::SeqCst), 1);
}

#[test]
fn a_shutdown_abandons_calls_with_tickets_and_runs_none_of_the_queue() {
    let Held { workers, tool, go, began } = Held::new(1);
    assert_eq!(begin(&tool, 1, None), Poll::Pending);
    eventually(|| began.load(Ordering::SeqCst) == 1);
    assert_eq!(begin(&tool, 2, None), Poll::Pending);
    assert_eq!(workers.shutdown(), 1);
    let down = Failure::Message("the worker threads were shut down");
    assert_eq!(begin(&tool, 3, None), Poll::Ready(Err(down)));
    let held = Arc::downgrade(&began);
    drop((tool, began));
    go.send(()).unwrap();
    go.send(()).ok();
    eventually(|| held.strong_count() == 0);
}

#[test]
fn threads_are_started_when_needed_and_kept() {
    let held = Held::new(16);
    for round in 0..3 {
        for number in 0..4 {
            assert_eq!(begin(&held.tool, round * 4 + number, LONG), Poll::Pending);
        }
        held.began(4 * (usize::try_from(round).unwrap() + 1));
        (0..4).for_each(|_| held.go.send(()).unwrap());
        eventually(|| held.workers.stats().idle == 4);
    }
    assert_eq!(held.received().len(), 12);
}
