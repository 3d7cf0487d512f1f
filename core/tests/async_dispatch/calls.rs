//! What else holds of any dispatch: arguments, hooks, calls side by side, and a manual clock as the timer.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use embassy_futures::join::join_array;
use toolcore::call::{Call, ToolCall};
use toolcore::dialect::{CallResult, Dialect, ResultsOptions, render_results};
use toolcore::dispatch::{AsyncOptions, DispatchError, DispatchOptions, dispatch_async};
use toolcore::registry::{Draft, Hook, Verdict};
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::time::{ManualClock, Timer};
use toolcore::tool::ToolDefinition;

use crate::common::{self, Memory, open, with_schema, written};
use crate::world::{Does, Tool, World, at, call, dispatched, ms, run};

#[test]
fn what_is_refused_never_runs_and_needs_no_time() {
    const NUMBER: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let timed = ToolDefinition { timeout: Some(ms(1)), ..with_schema("n", NUMBER) };
    tools.add(&timed, Tool(&world, Does::Echoes)).unwrap();
    let options = AsyncOptions::default();
    for (name, arguments, text) in [
        (
            "n",
            r#"{"n":"x"}"#,
            r#"Tool error: Invalid arguments for 'n': /n: expected integer, got string "x""#,
        ),
        ("n", "{}", "Tool error: Invalid arguments for 'n': /n: required"),
        ("nope", "{}", "Tool error: Unknown tool: 'nope'. Available: n"),
    ] {
        let call = call(name, arguments);
        let done = run(&world, pin!(dispatched(&world, &tools, &call, &options)), 0);
        assert_eq!(done.unwrap().unwrap().1, text);
    }
    assert_eq!(world.log(), "bad_arguments@0 bad_arguments@0 unknown_tool@0");
    assert!(world.sleepers.borrow().is_empty());

    // What the host must change is an error, as in a dispatch that does not wait.
    let call = call("n", r#"{"n":1}"#);
    let zero = DispatchOptions { timeout: Some(ms(0)), ..DispatchOptions::default() };
    let zero = AsyncOptions { call: zero, ..options };
    let done = run(&world, pin!(dispatched(&world, &tools, &call, &zero)), 0);
    assert_eq!(done.unwrap(), Err(DispatchError::ZeroTimeout));
    let mut none = pin!(dispatch_async(&tools, &call, &options, &world, Scratch::default()));
    let done = none.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(done, Poll::Ready(Err(DispatchError::NoSpace { .. }))));
}

/// Rewrites arguments, blocks the tool `secret`, and adds to what was answered.
struct Watch<'w>(&'w World);

impl Hook for Watch<'_> {
    fn before(&self, draft: &mut Draft<'_, '_>, why: &mut Sink<'_>) -> Verdict {
        self.0.note("before");
        if draft.call().name == "secret" {
            why.put("Not for you.");
            return Verdict::Block;
        }
        draft.set_arguments(r#"{"rewritten":true}"#).unwrap();
        Verdict::Pass
    }

    fn after(&self, _: &ToolCall<'_>, result: &mut ToolResult<'_>) {
        self.0.note("after");
        result.text("seen").unwrap();
    }
}

#[test]
fn hooks_rewrite_block_and_see_what_was_answered_but_nothing_that_was_given_up() {
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    for (name, does) in [("echo", Does::Echoes), ("secret", Does::Echoes), ("slow", Does::Honours(0))] {
        tools.add(&ToolDefinition { timeout: Some(ms(10)), ..open(name) }, Tool(&world, does)).unwrap();
    }
    assert!(tools.add_hook(Watch(&world)).is_ok());
    let options = AsyncOptions::default();
    for (name, text) in [
        ("echo", "json {\"rewritten\":true}\nseen"),
        ("secret", "Not for you."),
        ("slow", "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.01s"),
    ] {
        let call = call(name, "{}");
        let done = run(&world, pin!(dispatched(&world, &tools, &call, &options)), 1_000);
        assert_eq!(done.unwrap().unwrap().1, text);
    }
    let log = "before@0 began@0 ended@0 dropped@0 after@0 answered@0 before@0 blocked@0 \
        before@0 began@0 asked@10 ended@10 dropped@10 timed_out@10";
    assert_eq!(world.log(), log);
}

/// Four calls side by side: the log and the messages.
fn turn() -> (String, String) {
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let calls = [
        ("deaf", Does::Deaf),
        ("late", Does::Answers(80)),
        ("soon", Does::Answers(20)),
        ("polite", Does::Honours(10)),
    ];
    for (name, does) in calls {
        tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open(name) }, Tool(&world, does)).unwrap();
    }
    let options = AsyncOptions { grace: ms(50), ..AsyncOptions::default() };
    let calls = calls.map(|(name, _)| ToolCall { id: Some(name), wire_id: name, ..call(name, "{}") });
    let (mut words, mut bytes) = ([[0; 64]; 4], [[0; 512]; 4]);
    let mut scratch = words.iter_mut().zip(&mut bytes).map(|(words, bytes)| Scratch::new(words, bytes));
    let (tools, world) = (&tools, &world);
    let tasks = calls.each_ref().map(|call| {
        let scratch = scratch.next().unwrap();
        dispatch_async(tools, call, &options, world, scratch)
    });
    let results = run(world, pin!(join_array(tasks)), 1_000).unwrap().map(Result::unwrap);
    world.note("joined");
    let results: Vec<_> = calls
        .iter()
        .zip(&results)
        .map(|(call, result)| CallResult { id: call.id, result: Some(result) })
        .collect();
    let mut out = [0; 2048];
    let mut sink = Sink::new(&mut out);
    render_results(Dialect::OpenAiChat, &calls[..], &results, &ResultsOptions::default(), &mut sink).unwrap();
    (world.log(), sink.finish().unwrap().into())
}

#[test]
fn calls_of_a_turn_run_side_by_side_and_their_results_stand_in_the_order_of_the_calls() {
    let (log, messages) = turn();
    let expected = "began@0 began@0 began@0 began@0 ended@20 dropped@20 ended@80 dropped@80 \
        asked@100 ended@110 dropped@110 dropped@150 joined@150";
    assert_eq!(log, expected);
    let messages = common::read(&messages);
    let messages: Vec<_> =
        messages.as_array().unwrap().iter().map(|it| (&it["tool_call_id"], &it["content"])).collect();
    let expected = [
        ("deaf", "[TOOL_TIMEOUT] Tool 'deaf' timed out after 0.1s"),
        ("late", "done"),
        ("soon", "done"),
        ("polite", "[TOOL_TIMEOUT] Tool 'polite' timed out after 0.1s"),
    ];
    assert_eq!(messages.len(), expected.len());
    for ((id, content), (name, text)) in messages.into_iter().zip(expected) {
        assert_eq!((id, content), (&name.into(), &text.into()));
    }
}

#[test]
fn the_same_schedule_gives_the_same_bytes() {
    assert_eq!(turn(), turn());
}

#[test]
fn a_manual_clock_is_a_timer_for_whoever_polls_at_each_step() {
    let clock = ManualClock::new(at(5));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let handler = async |_: &Call<'_>, result: &mut ToolResult<'_>| {
        clock.until(at(7)).await;
        Ok(result.text("waited")?)
    };
    tools.add(&open("wait"), handler).unwrap();
    let (call, options) = (call("wait", "{}"), AsyncOptions::default());
    let (mut words, mut bytes) = ([0; 64], [0; 512]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let mut task = pin!(dispatch_async(&tools, &call, &options, &clock, scratch));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..2 {
        assert!(task.as_mut().poll(&mut context).is_pending());
        clock.advance(ms(1));
    }
    let Poll::Ready(Ok(result)) = task.as_mut().poll(&mut context) else { panic!("it waits at its time") };
    assert_eq!(written(&result), "waited");
}
