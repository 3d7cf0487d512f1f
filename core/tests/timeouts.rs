//! Deadlines: which one applies, what is in time, and what becomes of what is late.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, boxed, open, says, try_dispatch, with_schema};
use toolcore::call::ToolCall;
use toolcore::dispatch::{DispatchError, DispatchOptions};
use toolcore::registry::RegistryOptions;
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::time::{Duration, Instant, ManualClock};
use toolcore::tool::{Failure, ToolDefinition};

const ADD: &str = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
    "required":["a","b"],"additionalProperties":false}"#;

fn call<'a>(name: &'a str, arguments: &'a str) -> ToolCall<'a> {
    ToolCall { name, arguments, ..ToolCall::default() }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn the_most_specific_timeout_that_is_set_applies() {
    for (tool, registry, turn, takes, text) in [
        (Some(100), Some(1000), Some(1000), 500, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s"),
        (Some(1000), Some(100), Some(10), 500, "done"),
        (Some(1000), None, Some(10), 500, "done"),
        (Some(250), None, None, 251, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.25s"),
        (None, Some(1000), Some(10), 500, "done"),
        (None, Some(100), Some(1000), 500, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s"),
        (None, None, Some(2000), 2001, "[TOOL_TIMEOUT] Tool 'slow' timed out after 2s"),
        (None, None, Some(2000), 2000, "done"),
        (None, None, None, u64::MAX / 2, "done"),
        (Some(u64::MAX), None, Some(1), 1_000_000, "done"),
    ] {
        let clock = ManualClock::new(Instant::from_millis(77));
        let mut memory = Memory::ample();
        let mut tools =
            memory.with_options(RegistryOptions { timeout: registry.map(ms), ..RegistryOptions::default() });
        let run = |call: &toolcore::call::Call<'_>, result: &mut ToolResult<'_>| {
            let set = tool.or(registry).or(turn).filter(|millis| *millis < u64::MAX);
            assert_eq!(call.time_left(), set.map(ms));
            clock.advance(ms(takes));
            assert_eq!(call.time_left(), set.map(|set| ms(set.saturating_sub(takes))));
            Ok(result.text("done")?)
        };
        tools.add(&ToolDefinition { timeout: tool.map(ms), ..open("slow") }, boxed(run)).unwrap();
        let options =
            DispatchOptions { clock: Some(&clock), timeout: turn.map(ms), ..DispatchOptions::default() };
        let (kind, got) = try_dispatch(&tools, &call("slow", "{}"), &options).unwrap();
        let row = (tool, registry, turn, takes);
        assert_eq!(got, text, "{row:?}");
        let expected = if text == "done" { OutcomeKind::Answered } else { OutcomeKind::TimedOut };
        assert_eq!(kind, expected, "{row:?}");
    }
}

#[test]
fn exactly_at_the_deadline_is_in_time_and_a_millisecond_later_is_not() {
    for (takes, kind) in
        [(99, OutcomeKind::Answered), (100, OutcomeKind::Answered), (101, OutcomeKind::TimedOut)]
    {
        let clock = ManualClock::new(Instant::default());
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        let run = |_: &toolcore::call::Call<'_>, result: &mut ToolResult<'_>| {
            clock.advance(ms(takes));
            Ok(result.text("the late result")?)
        };
        tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open("a") }, boxed(run)).unwrap();
        let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
        let (got, text) = try_dispatch(&tools, &call("a", "{}"), &options).unwrap();
        assert_eq!(got, kind);
        assert_eq!(text.contains("the late result"), kind == OutcomeKind::Answered, "{text}");
    }
}

#[test]
fn a_late_failure_is_a_timeout_and_a_timeout_that_the_tool_reports_is_an_ordinary_failure() {
    let clock = ManualClock::new(Instant::default());
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let late = boxed(|_, _| {
        clock.advance(ms(200));
        Err(Failure::Message("connection reset"))
    });
    tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open("late") }, late).unwrap();
    let reports = boxed(|_, _| Err(Failure::Message("the upstream server timed out after 5s")));
    tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open("reports") }, reports).unwrap();
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    let run = |name| try_dispatch(&tools, &call(name, "{}"), &options).unwrap();
    assert_eq!(
        run("late"),
        (OutcomeKind::TimedOut, "[TOOL_TIMEOUT] Tool 'late' timed out after 0.1s".into())
    );
    let text = "Tool error: the upstream server timed out after 5s";
    assert_eq!(run("reports"), (OutcomeKind::ToolFailed, text.into()));
}

#[test]
fn a_timeout_without_a_clock_is_the_hosts_mistake_and_nothing_runs() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&ToolDefinition { timeout: Some(ms(5)), ..open("a") }, boxed(|_, _| panic!("it ran"))).unwrap();
    tools.add(&open("b"), says("ran")).unwrap();
    let bounded = DispatchOptions { timeout: Some(ms(5)), ..DispatchOptions::default() };
    let unbounded = DispatchOptions::default();
    assert_eq!(try_dispatch(&tools, &call("a", "{}"), &unbounded), Err(DispatchError::NoClock));
    assert_eq!(try_dispatch(&tools, &call("b", "{}"), &bounded), Err(DispatchError::NoClock));
    assert_eq!(try_dispatch(&tools, &call("b", "{}"), &unbounded).unwrap().0, OutcomeKind::Answered);
    assert_eq!(try_dispatch(&tools, &call("nope", "{}"), &bounded).unwrap().0, OutcomeKind::UnknownTool);
}

#[test]
fn arguments_are_checked_outside_the_time_bound() {
    /// A clock on which a second passes at every look.
    struct Hasty(ManualClock);
    impl toolcore::time::Clock for Hasty {
        fn now(&self) -> Instant {
            self.0.advance(ms(1000));
            self.0.now()
        }
    }
    let clock = Hasty(ManualClock::new(Instant::default()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let tool = ToolDefinition { timeout: Some(ms(1)), ..with_schema("add", ADD) };
    tools.add(&tool, boxed(|_, _| panic!("it ran"))).unwrap();
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    let (kind, _) = try_dispatch(&tools, &call("add", r#"{"a":1}"#), &options).unwrap();
    assert_eq!(kind, OutcomeKind::BadArguments);
}
