//! Handlers that are futures: what is in time, who is asked to give up when, and that each future is dropped once.
//!
//! The log of a run has what happened and the millisecond. Tasks are polled only when they were woken.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod cancel;
mod world;

use std::pin::pin;

use common::{Memory, open};
use toolcore::dispatch::{AsyncOptions, DispatchOptions};
use toolcore::registry::RegistryOptions;
use toolcore::result::OutcomeKind;
use toolcore::time::GRACE;
use toolcore::tool::ToolDefinition;
use world::{Does, TIMED_OUT, Tool, World, call, dispatched, ms, one, run};

#[test]
fn what_ends_at_its_deadline_is_in_time_and_what_ends_later_timed_out() {
    let options = AsyncOptions { grace: ms(50), ..AsyncOptions::default() };
    for (does, log, text) in [
        (Does::Answers(0), "began@0 ended@0 dropped@0 answered@0", "done"),
        (Does::Answers(60), "began@0 ended@60 dropped@60 answered@60", "done"),
        (Does::Answers(100), "began@0 ended@100 dropped@100 answered@100", "done"),
        (Does::Answers(101), "began@0 ended@101 dropped@101 timed_out@101", TIMED_OUT),
        (Does::Fails(60), "began@0 dropped@60 tool_failed@60", "Tool error: sensor is offline"),
        (Does::Fails(101), "began@0 dropped@101 timed_out@101", TIMED_OUT),
        (Does::Blocks(100), "began@0 ended@100 dropped@100 answered@100", "done"),
        (Does::Blocks(101), "began@0 ended@101 dropped@101 timed_out@101", TIMED_OUT),
    ] {
        assert_eq!(one(does, &options), (log.into(), text.into()));
    }
}

#[test]
fn a_call_is_asked_at_its_deadline_and_dropped_at_the_end_of_its_grace_period() {
    for (does, grace, log) in [
        (Does::Honours(0), 50, "began@0 asked@100 ended@100 dropped@100 timed_out@100"),
        (Does::Honours(49), 50, "began@0 asked@100 ended@149 dropped@149 timed_out@149"),
        (Does::Honours(51), 50, "began@0 asked@100 dropped@150 timed_out@150"),
        (Does::Deaf, 50, "began@0 dropped@150 timed_out@150"),
        (Does::Deaf, 1, "began@0 dropped@101 timed_out@101"),
        // Without any grace it is not polled again.
        (Does::Honours(0), 0, "began@0 dropped@100 timed_out@100"),
    ] {
        let options = AsyncOptions { grace: ms(grace), ..AsyncOptions::default() };
        assert_eq!(one(does, &options), (log.into(), TIMED_OUT.into()));
    }
}

#[test]
fn the_grace_period_is_a_second_unless_the_host_says_another() {
    assert_eq!(GRACE, ms(1_000));
    let (log, _) = one(Does::Deaf, &AsyncOptions::default());
    assert_eq!(log, "began@0 dropped@1100 timed_out@1100");
}

#[test]
fn a_grace_period_beyond_the_clock_has_no_end() {
    let options = AsyncOptions { grace: ms(u64::MAX), ..AsyncOptions::default() };
    let (log, _) = one(Does::Honours(9_000), &options);
    assert_eq!(log, "began@0 asked@100 ended@9100 dropped@9100 timed_out@9100");
}

#[test]
fn a_task_that_is_polled_late_asks_and_gives_the_whole_grace_period() {
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let slow = ToolDefinition { timeout: Some(ms(100)), ..open("slow") };
    tools.add(&slow, Tool(&world, Does::Honours(49))).unwrap();
    let options = AsyncOptions { grace: ms(50), ..AsyncOptions::default() };
    let call = call("slow", "{}");
    let mut task = pin!(dispatched(&world, &tools, &call, &options));
    assert!(run(&world, task.as_mut(), 0).is_none());
    world.advance(5_000);
    assert_eq!(run(&world, task, 6_000).unwrap().unwrap(), (OutcomeKind::TimedOut, TIMED_OUT.into()));
    assert_eq!(world.log(), "began@0 asked@5000 ended@5049 dropped@5049 timed_out@5049");
}

#[test]
fn the_timeout_of_the_tool_wins_over_that_of_the_registry_and_of_the_call() {
    for (tool, registry, turn, when) in
        [(Some(30), Some(20), Some(10), 30), (None, Some(20), Some(10), 20), (None, None, Some(10), 10)]
    {
        let world = World::default();
        let mut memory = Memory::ample();
        let options = RegistryOptions { timeout: registry.map(ms), ..RegistryOptions::default() };
        let mut tools = memory.with_options(options);
        let slow = ToolDefinition { timeout: tool.map(ms), ..open("slow") };
        tools.add(&slow, Tool(&world, Does::Deaf)).unwrap();
        let call = call("slow", "{}");
        let common = DispatchOptions { timeout: turn.map(ms), ..DispatchOptions::default() };
        let options = AsyncOptions { call: common, grace: ms(0), cancel: None };
        let (_, text) = run(&world, pin!(dispatched(&world, &tools, &call, &options)), 100).unwrap().unwrap();
        assert_eq!(text, format!("[TOOL_TIMEOUT] Tool 'slow' timed out after 0.0{}s", when / 10));
        assert_eq!(world.log(), format!("began@0 dropped@{when} timed_out@{when}"));
    }
}

#[test]
fn without_a_timeout_a_call_waits_for_as_long_as_it_takes_and_asks_for_no_wake() {
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("deaf"), Tool(&world, Does::Deaf)).unwrap();
    tools.add(&open("slow"), Tool(&world, Does::Answers(1_000_000))).unwrap();
    let options = AsyncOptions::default();
    let deaf = call("deaf", "{}");
    assert!(run(&world, pin!(dispatched(&world, &tools, &deaf, &options)), 0).is_none());
    assert!(world.sleepers.borrow().is_empty());
    let slow = call("slow", "{}");
    let done = run(&world, pin!(dispatched(&world, &tools, &slow, &options)), 1_000_000);
    assert_eq!(done.unwrap().unwrap(), (OutcomeKind::Answered, "done".into()));
}
