//! Tools on worker threads: their callers are free in time, whatever the tools do. These tests sleep.
//!
//! What is waited for comes at some time within a limit that a loaded machine keeps. Where a time is
//! measured, the best of several tries counts, since another process may take the processor in any of them.
#![cfg(all(feature = "std", feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration as Real, Instant};

use common::{Memory, open, try_dispatch, with_schema, written};
use toolcore::call::{Call, ToolCall};
use toolcore::dispatch::{DispatchOptions, dispatch};
use toolcore::registry::Registry;
use toolcore::result::{OutcomeKind, ToolResult, Usage};
use toolcore::scratch::Scratch;
use toolcore::system::{SystemClock, WorkerOptions, WorkerStats, WorkerTool, Workers};
use toolcore::time::{Deadline, Duration, ManualClock};
use toolcore::tool::{Failure, ToolDefinition};

/// Tools wait here until it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        drop(self.changed.wait_while(self.open.lock().unwrap(), |open| !*open).unwrap());
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// Counts that it was dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn bounded(name: &str, millis: u64) -> ToolDefinition<'_> {
    ToolDefinition { timeout: Some(Duration::from_millis(millis)), ..open(name) }
}

fn workers(max: usize) -> Workers {
    Workers::new(WorkerOptions { max, ..WorkerOptions::default() })
}

fn stuck(workers: &Workers, gate: &Arc<Gate>) -> WorkerTool {
    let gate = Arc::clone(gate);
    workers.tool(move |_, result| {
        gate.pass();
        Ok(result.text("late")?)
    })
}

fn called(tools: &Registry<'_, WorkerTool>, name: &str) -> (OutcomeKind, String) {
    called_with(tools, name, "{}")
}

fn called_with(tools: &Registry<'_, WorkerTool>, name: &str, arguments: &str) -> (OutcomeKind, String) {
    let clock = SystemClock::new();
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    try_dispatch(tools, &ToolCall { name, arguments, ..ToolCall::default() }, &options).unwrap()
}

/// Calls the stuck tool `name` until so many of its calls are abandoned: one that no thread has begun by its
/// deadline is not.
fn abandon(workers: &Workers, tools: &Registry<'_, WorkerTool>, name: &str, count: usize) {
    while workers.stats().abandoned < count {
        assert_eq!(called(tools, name).0, OutcomeKind::TimedOut);
    }
}

/// Waits until `holds`, which it must within ten seconds.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Real::from_secs(10), "never: {what}");
        std::thread::sleep(Real::from_millis(1));
    }
}

#[test]
fn a_caller_is_free_within_5_ms_of_the_deadline_and_the_call_has_timed_out() {
    let (workers, gate) = (workers(16), Arc::new(Gate::default()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&bounded("slow", 30), stuck(&workers, &gate)).unwrap();
    let overrun = (0..15).map(|_| {
        let start = Instant::now();
        let (kind, text) = called(&tools, "slow");
        let taken = start.elapsed();
        assert_eq!(kind, OutcomeKind::TimedOut);
        assert_eq!(text, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.03s");
        taken.checked_sub(Real::from_millis(30)).expect("free before the deadline")
    });
    let best = overrun.min().unwrap();
    assert!(best <= Real::from_millis(5), "the best of 15 is {best:?} after the deadline");
    gate.open();
}

#[test]
fn what_is_abandoned_is_counted_until_it_ends_and_its_answer_goes_nowhere() {
    let (workers, gate) = (workers(4), Arc::new(Gate::default()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&bounded("slow", 5), stuck(&workers, &gate)).unwrap();
    abandon(&workers, &tools, "slow", 2);
    let WorkerStats { running, abandoned, abandoned_total, .. } = workers.stats();
    assert_eq!((running, abandoned, abandoned_total), (2, 2, 2));
    gate.open();
    eventually("both have ended", || workers.stats().running == 0);
    let WorkerStats { abandoned, abandoned_total, .. } = workers.stats();
    assert_eq!((abandoned, abandoned_total), (0, 2));
    assert_eq!(workers.receive(|_, _, _| panic!("nobody asked for it")), 0);
}

#[test]
fn eight_abandoned_calls_or_as_many_as_there_are_threads_are_a_warning() {
    for (max, from) in [(16, 8), (3, 3)] {
        let (workers, gate) = (workers(max), Arc::new(Gate::default()));
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        tools.add(&bounded("slow", 1), stuck(&workers, &gate)).unwrap();
        for abandoned in 1..=from {
            assert_eq!(workers.warning(), None);
            abandon(&workers, &tools, "slow", abandoned);
        }
        let warning = workers.warning().unwrap();
        assert_eq!((warning.abandoned, warning.max), (from, max));
        let text = format!("{from} of at most {max} worker threads run calls that were abandoned");
        assert_eq!(warning.to_string(), text);
        gate.open();
        eventually("the warning is over", || workers.warning().is_none());
    }
}

#[test]
fn a_call_without_a_free_thread_waits_and_then_runs() {
    let (workers, gate) = (workers(1), Arc::new(Gate::default()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("slow"), stuck(&workers, &gate)).unwrap();
    let tools = &tools;
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3).map(|_| scope.spawn(|| called(tools, "slow"))).collect();
        eventually("one runs and two wait", || {
            workers.stats() == WorkerStats { running: 1, queued: 2, ..WorkerStats::default() }
        });
        gate.open();
        for call in calls {
            assert_eq!(call.join().unwrap(), (OutcomeKind::Answered, "late".into()));
        }
    });
    eventually("one thread did it all", || {
        workers.stats() == WorkerStats { idle: 1, ..WorkerStats::default() }
    });
}

#[test]
fn a_call_that_times_out_while_it_waits_for_a_thread_never_runs() {
    let (workers, gate) = (workers(1), Arc::new(Gate::default()));
    let runs = Arc::new(AtomicUsize::new(0));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&bounded("stuck", 20), stuck(&workers, &gate)).unwrap();
    let counted = Arc::clone(&runs);
    let count = workers.tool(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    tools.add(&bounded("count", 5), count).unwrap();
    abandon(&workers, &tools, "stuck", 1);
    let timed_out = (OutcomeKind::TimedOut, "[TOOL_TIMEOUT] Tool 'count' timed out after 0.005s".into());
    assert_eq!(called(&tools, "count"), timed_out);
    let stats = WorkerStats { running: 1, abandoned: 1, abandoned_total: 1, ..WorkerStats::default() };
    assert_eq!(workers.stats(), stats, "what never ran was not abandoned");
    gate.open();
    eventually("the thread is free", || workers.stats().idle == 1);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[test]
fn a_shutdown_with_a_stuck_call_returns_at_once_and_the_closure_is_dropped_when_it_ends() {
    let (workers, gate) = (workers(4), Arc::new(Gate::default()));
    let drops = Arc::new(AtomicUsize::new(0));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let (data, waits) = (Dropped(Arc::clone(&drops)), Arc::clone(&gate));
    let tool = workers.tool(move |_, _| {
        let _ = &data;
        waits.pass();
        Ok(())
    });
    tools.add(&bounded("slow", 20), tool).unwrap();
    abandon(&workers, &tools, "slow", 1);
    let start = Instant::now();
    assert_eq!(workers.shutdown(), 1);
    assert!(start.elapsed() < Real::from_secs(5), "the tool ends after the shutdown only");
    let failed = (OutcomeKind::ToolFailed, "Tool error: the worker threads were shut down".into());
    assert_eq!(called(&tools, "slow"), failed);
    drop(tools);
    drop(memory);
    assert_eq!(drops.load(Ordering::SeqCst), 0, "it runs");
    gate.open();
    eventually("the closure is dropped", || drops.load(Ordering::SeqCst) == 1);
}

#[test]
fn without_a_call_that_runs_the_closure_is_dropped_with_its_handler_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let workers = workers(2);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let data = Dropped(Arc::clone(&drops));
    let tool = workers.tool(move |_, _| {
        let _ = &data;
        Ok(())
    });
    tools.add(&bounded("quick", 10_000), tool).unwrap();
    assert_eq!(called(&tools, "quick").0, OutcomeKind::Answered);
    drop(tools);
    drop(memory);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
    assert_eq!(workers.shutdown(), 0);
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn a_caller_that_waits_has_its_answer_though_the_pool_is_shut_down() {
    let (workers, gate) = (workers(1), Arc::new(Gate::default()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("slow"), stuck(&workers, &gate)).unwrap();
    let tools = &tools;
    std::thread::scope(|scope| {
        let first = scope.spawn(|| called(tools, "slow"));
        eventually("one runs", || workers.stats().running == 1);
        let second = scope.spawn(|| called(tools, "slow"));
        eventually("one waits", || workers.stats().queued == 1);
        assert_eq!(workers.shutdown(), 1);
        let stopped = (OutcomeKind::ToolFailed, "Tool error: the worker threads were shut down".into());
        assert_eq!(second.join().unwrap(), stopped);
        gate.open();
        assert_eq!(first.join().unwrap(), (OutcomeKind::Answered, "late".into()));
    });
}

#[test]
fn a_panic_in_a_tool_is_a_failed_result_and_the_thread_lives_on() {
    struct Thrown;
    impl Drop for Thrown {
        fn drop(&mut self) {
            std::panic::panic_any("again");
        }
    }
    let workers = workers(1);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let tool = workers.tool(|call, result| {
        result.text("half of it")?;
        if call.args.bool("twice")? {
            std::panic::panic_any(Thrown);
        }
        panic!("as asked");
    });
    tools.add(&bounded("panics", 10_000), tool).unwrap();
    tools.add(&bounded("answers", 10_000), workers.tool(|_, result| Ok(result.text("fine")?))).unwrap();
    for arguments in [r#"{"twice":false}"#, r#"{"twice":true}"#] {
        let failed = (OutcomeKind::ToolFailed, "Tool error: the tool panicked".into());
        assert_eq!(called_with(&tools, "panics", arguments), failed);
        assert_eq!(called(&tools, "answers"), (OutcomeKind::Answered, "fine".into()));
    }
    eventually("the thread is free", || workers.stats() == WorkerStats { idle: 1, ..WorkerStats::default() });
}

#[test]
fn four_tools_of_50_ms_run_side_by_side() {
    let workers = workers(4);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let tool = workers.tool(|_, result| {
        std::thread::sleep(Real::from_millis(50));
        Ok(result.text("done")?)
    });
    tools.add(&bounded("sleep", 10_000), tool).unwrap();
    let tools = &tools;
    let taken = (0..5).map(|_| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| called(tools, "sleep"))).collect();
            for call in calls {
                assert_eq!(call.join().unwrap(), (OutcomeKind::Answered, "done".into()));
            }
        });
        start.elapsed()
    });
    let best = taken.min().unwrap();
    assert!(best < Real::from_millis(100), "two after each other take as long: {best:?}");
}

#[test]
fn a_worker_sees_the_call_and_its_caller_the_whole_result() {
    let workers = workers(1);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let tool = workers.tool(|call, result| {
        assert_eq!((call.id, call.name, call.ticket()), (Some("call_7"), "all", None));
        assert!(call.time_left().unwrap() <= Duration::from_millis(10_000));
        result.text(call.args.str("text")?)?;
        result.json(call.args.value().raw())?;
        result.image("image/png", &[1, 2])?;
        result.set_retryable(true);
        result.add_usage(Usage { cost_micros: 5, ..Usage::default() });
        Ok(())
    });
    tools.add(&bounded("all", 10_000), tool).unwrap();
    let clock = SystemClock::new();
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    let arguments = r#"{"text":"\u00e9\n"}"#;
    let call = ToolCall { id: Some("call_7"), name: "all", arguments, ..ToolCall::default() };
    let (mut words, mut bytes) = (vec![0; 64], vec![0; 1024]);
    let result = dispatch(&tools, &call, &options, Scratch::new(&mut words, &mut bytes)).unwrap();
    let parts = format!("\u{e9}\n\njson {arguments}\nImage {{ media_type: \"image/png\", data: [1, 2] }}");
    assert_eq!(written(&result), parts);
    assert_eq!((result.kind(), result.retryable()), (OutcomeKind::Answered, true));
    assert_eq!(result.usage().cost_micros, 5);
}

#[test]
fn a_failure_in_a_worker_reads_like_one_of_a_tool_that_runs_at_once() {
    let workers = workers(1);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools
        .add(
            &bounded("reads", 10_000),
            workers.tool(|call, _| call.args.str("city").map(drop).map_err(Failure::from)),
        )
        .unwrap();
    tools.add(&bounded("says", 10_000), workers.tool(|_, _| Err("out of paper".into()))).unwrap();
    let report = |_: &Call<'_>, result: &mut ToolResult<'_>| {
        result.error("out of ink");
        Err("of no interest".into())
    };
    tools.add(&bounded("reports", 10_000), workers.tool(report)).unwrap();
    for (name, text) in [
        ("reads", "Tool error: argument 'city': it is missing"),
        ("says", "Tool error: out of paper"),
        ("reports", "Tool error: out of ink"),
    ] {
        assert_eq!(called(&tools, name), (OutcomeKind::ToolFailed, text.into()));
    }
}

#[test]
fn text_is_cut_where_it_outgrows_a_worker_s_memory_or_its_caller_s() {
    let workers = Workers::new(WorkerOptions { memory: 100, ..WorkerOptions::default() });
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let repeat = |call: &Call<'_>, result: &mut ToolResult<'_>| {
        let count = call.args.u64("count")?;
        Ok(result.text(&"x".repeat(usize::try_from(count).unwrap()))?)
    };
    let schema = r#"{"type":"object","properties":{"count":{"type":"integer"}}}"#;
    tools.add(&with_schema("repeat", schema), workers.tool(repeat)).unwrap();
    let cut = format!("{}<cut of 300>", "x".repeat(100));
    assert_eq!(called_with(&tools, "repeat", r#"{"count":300}"#), (OutcomeKind::Answered, cut));
    let call = ToolCall { name: "repeat", arguments: r#"{"count":90}"#, ..ToolCall::default() };
    let (mut words, mut bytes) = (vec![0; 64], vec![0; 64]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let result = dispatch(&tools, &call, &DispatchOptions::default(), scratch).unwrap();
    assert_eq!(written(&result), format!("{}<cut of 90>", "x".repeat(64)));
}

/// Safe code can swap the result for one in other memory; that is the tool's mistake, and harmless.
#[test]
fn a_result_in_memory_of_the_tools_own_loses_its_parts_and_nothing_else() {
    for (own, size) in [("elsewhere", 64), (&*"x".repeat(5000), 6000)] {
        let (workers, text) = (workers(1), own.to_owned());
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        let swaps = workers.tool(move |_, result| {
            *result = ToolResult::new(vec![0; size].leak());
            Ok(result.text(&text)?)
        });
        tools.add(&open("swaps"), swaps).unwrap();
        let lost = format!("<cut of {}>", own.len());
        assert_eq!(called(&tools, "swaps"), (OutcomeKind::Answered, lost));
    }
}

#[test]
fn a_clock_that_stands_still_does_not_hold_the_caller() {
    let (workers, gate) = (workers(1), Arc::new(Gate::default()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&bounded("slow", 20), stuck(&workers, &gate)).unwrap();
    let clock = ManualClock::default();
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    let call = ToolCall { name: "slow", ..ToolCall::default() };
    let timed_out = (OutcomeKind::TimedOut, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.02s".into());
    assert_eq!(try_dispatch(&tools, &call, &options).unwrap(), timed_out);
    gate.open();
}

#[test]
fn a_timeout_beyond_what_can_be_counted_is_none() {
    let workers = workers(1);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let tool = workers.tool(|call, result| {
        assert_eq!(call.deadline(), Deadline::NEVER);
        Ok(result.text("done")?)
    });
    tools.add(&bounded("long", u64::MAX), tool).unwrap();
    std::thread::sleep(Real::from_millis(2)); // the pool's clock does not show 0
    assert_eq!(called(&tools, "long"), (OutcomeKind::Answered, "done".into()));
}

#[test]
fn a_tool_may_end_the_pool_that_runs_it() {
    let workers = Arc::new(Mutex::new(Some(workers(2))));
    let held = Arc::clone(&workers);
    let tool = workers.lock().unwrap().as_ref().unwrap().tool(move |_, result| {
        let stopped = held.lock().unwrap().take().map(Workers::shutdown);
        assert_eq!(stopped, Some(1));
        Ok(result.text("ended")?)
    });
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&bounded("end", 10_000), tool).unwrap();
    assert_eq!(called(&tools, "end"), (OutcomeKind::Answered, "ended".into()));
}
