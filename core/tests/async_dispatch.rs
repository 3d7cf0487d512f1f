//! Handlers that are futures: what is in time, who is asked to give up when, and that each future is dropped once.
//!
//! The log of a run has what happened and the millisecond. Tasks are polled only when they were woken.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use common::{Memory, open, with_schema, written};
use embassy_futures::join::{join, join_array};
use embassy_futures::select::select;
use toolcore::call::{Call, CancelRequest, ToolCall};
use toolcore::dialect::{CallResult, Dialect, ResultsOptions, render_results};
use toolcore::dispatch::{AsyncOptions, DispatchError, DispatchOptions, dispatch_async};
use toolcore::registry::{Draft, Hook, Registry, RegistryOptions, Verdict};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::time::GRACE;
use toolcore::time::{Clock, Duration, Instant, ManualClock, Timer};
use toolcore::tool::{AsyncHandler, Failure, ToolDefinition};

/// A timer that is moved by hand and wakes whom it must, and the log.
#[derive(Default)]
struct World {
    clock: ManualClock,
    sleepers: RefCell<Vec<(Instant, Waker)>>,
    log: RefCell<String>,
}

impl World {
    fn note(&self, what: &str) {
        *self.log.borrow_mut() += &format!("{what}@{} ", self.clock.now().as_millis());
    }

    fn log(&self) -> String {
        self.log.borrow().trim_end().into()
    }

    fn advance(&self, millis: u64) {
        self.clock.advance(ms(millis));
        let now = self.now();
        self.sleepers.borrow_mut().retain(|(at, waker)| {
            if *at <= now {
                waker.wake_by_ref();
            }
            *at > now
        });
    }
}

impl Clock for World {
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl Timer for World {
    async fn until(&self, at: Instant) {
        std::future::poll_fn(|context| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            self.sleepers.borrow_mut().push((at, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// What a tool of the tests does.
#[derive(Clone, Copy)]
enum Does {
    /// Writes `done` at that time.
    Answers(u64),
    /// Fails at that time.
    Fails(u64),
    /// Blocks its thread for so long.
    Blocks(u64),
    /// Waits to be cancelled, and takes so long to end then. It answers all the same.
    Honours(u64),
    /// Never ends.
    Deaf,
    /// Answers with its arguments.
    Echoes,
}

struct Tool<'w>(&'w World, Does);

/// Notes when it is dropped: once for each value.
struct Guard<'w>(&'w World);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

impl AsyncHandler for Tool<'_> {
    async fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
        let Tool(world, does) = *self;
        world.note("began");
        let _guard = Guard(world);
        assert!(!call.cancelled());
        assert_eq!(call.ticket(), None);
        result.text("done")?;
        match does {
            Does::Answers(when) => world.until(at(when)).await,
            Does::Fails(when) => {
                world.until(at(when)).await;
                return Err(Failure::Message("sensor is offline"));
            }
            Does::Blocks(millis) => world.clock.advance(ms(millis)),
            Does::Honours(millis) => {
                call.cancellation().await;
                world.note("asked");
                assert!(call.cancelled());
                world.until(at(world.now().as_millis() + millis)).await;
                result.text("far too late")?;
            }
            Does::Deaf => std::future::pending().await,
            Does::Echoes => {
                result.clear();
                result.json(call.args.value().raw())?;
            }
        }
        world.note("ended");
        Ok(())
    }
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a task until it ends, a millisecond at a time; `None` if it has not ended at `last`.
fn run<F: Future>(world: &World, mut task: Pin<&mut F>, last: u64) -> Option<F::Output> {
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        while woken.0.swap(false, Ordering::Relaxed) {
            if let Poll::Ready(output) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(output);
            }
        }
        if world.now() >= at(last) {
            return None;
        }
        world.advance(1);
    }
}

fn call<'a>(name: &'a str, arguments: &'a str) -> ToolCall<'a> {
    ToolCall { name, arguments, ..ToolCall::default() }
}

/// Dispatches a call and notes what became of it.
async fn dispatched<H: AsyncHandler, K: Hook>(
    world: &World,
    tools: &Registry<'_, H, K>,
    call: &ToolCall<'_>,
    options: &AsyncOptions<'_>,
) -> Result<(OutcomeKind, String), DispatchError> {
    let (mut words, mut bytes) = ([0; 64], [0; 512]);
    let result = dispatch_async(tools, call, options, world, Scratch::new(&mut words, &mut bytes)).await?;
    world.note(result.kind().name());
    Ok((result.kind(), written(&result)))
}

/// The log, and what the model reads, of one call of `slow`, which has 100 ms.
fn one(does: Does, options: &AsyncOptions<'_>) -> (String, String) {
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let slow = ToolDefinition { timeout: Some(ms(100)), ..open("slow") };
    tools.add(&slow, Tool(&world, does)).unwrap();
    let call = call("slow", "{}");
    let text = {
        let task = pin!(dispatched(&world, &tools, &call, options));
        run(&world, task, 20_000).unwrap().unwrap().1
    };
    (world.log(), text)
}

const TIMED_OUT: &str = "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s";

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

#[test]
fn a_dispatch_that_is_dropped_drops_the_handlers_future_at_once_and_once() {
    // Never polled; while the handler waits; in its grace period.
    for (does, last, log) in [
        (Does::Deaf, None, ""),
        (Does::Answers(60), Some(30), "began@0 dropped@30"),
        (Does::Honours(40), Some(120), "began@0 asked@100 dropped@120"),
    ] {
        let world = World::default();
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        let slow = ToolDefinition { timeout: Some(ms(100)), ..open("slow") };
        tools.add(&slow, Tool(&world, does)).unwrap();
        let (call, options) = (call("slow", "{}"), AsyncOptions::default());
        {
            let mut task = pin!(dispatched(&world, &tools, &call, &options));
            if let Some(last) = last {
                assert!(run(&world, task.as_mut(), last).is_none());
            }
        }
        assert_eq!(world.log(), log);
        world.advance(10_000);
        assert_eq!(world.log(), log);
    }
}

#[test]
fn the_host_cancels_a_call_with_the_same_grace() {
    for (does, timeout, log) in [
        (Does::Honours(20), None, "began@0 asked@30 ended@50 dropped@50 cancelled@50"),
        (Does::Honours(20), Some(100), "began@0 asked@30 ended@50 dropped@50 cancelled@50"),
        (Does::Deaf, None, "began@0 dropped@80 cancelled@80"),
        // It stays a cancelled call, whatever comes later.
        (Does::Deaf, Some(40), "began@0 dropped@80 cancelled@80"),
        (Does::Answers(30), Some(100), "began@0 ended@30 dropped@30 cancelled@30"),
        (Does::Answers(29), None, "began@0 ended@29 dropped@29 answered@29"),
        // It was asked by its deadline before.
        (Does::Deaf, Some(10), "began@0 dropped@60 timed_out@60"),
    ] {
        let world = World::default();
        let request = CancelRequest::new();
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        tools.add(&ToolDefinition { timeout: timeout.map(ms), ..open("slow") }, Tool(&world, does)).unwrap();
        let call = call("slow", "{}");
        let options = AsyncOptions { grace: ms(50), cancel: Some(&request), ..AsyncOptions::default() };
        let task = dispatched(&world, &tools, &call, &options);
        let host = async {
            world.until(at(30)).await;
            request.cancel();
        };
        let (_, done) = run(&world, pin!(join(host, task)), 1_000).unwrap();
        let (kind, text) = done.unwrap();
        assert_eq!(world.log(), log);
        if kind == OutcomeKind::Cancelled {
            assert_eq!(text, "Tool error: Tool 'slow' was cancelled");
        }
    }
}

#[test]
fn a_call_that_is_cancelled_from_outside_its_task_is_woken() {
    let world = World::default();
    let request = CancelRequest::new();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("slow"), Tool(&world, Does::Honours(0))).unwrap();
    let call = call("slow", "{}");
    let options = AsyncOptions { cancel: Some(&request), ..AsyncOptions::default() };
    let mut task = pin!(dispatched(&world, &tools, &call, &options));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    assert!(task.as_mut().poll(&mut context).is_pending());
    assert!(!woken.0.load(Ordering::Relaxed));
    request.cancel();
    assert!(woken.0.load(Ordering::Relaxed));
    assert!(task.as_mut().poll(&mut context).is_ready());
    assert_eq!(world.log(), "began@0 asked@0 ended@0 dropped@0 cancelled@0");
}

#[test]
fn a_call_that_is_cancelled_before_it_began_never_runs() {
    let world = World::default();
    let request = CancelRequest::new();
    request.cancel();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("slow"), Tool(&world, Does::Answers(0))).unwrap();
    let options = AsyncOptions { cancel: Some(&request), ..AsyncOptions::default() };
    for (name, kind) in [("slow", OutcomeKind::Cancelled), ("nope", OutcomeKind::UnknownTool)] {
        let call = call(name, "{}");
        let done = run(&world, pin!(dispatched(&world, &tools, &call, &options)), 0);
        assert_eq!(done.unwrap().unwrap().0, kind);
    }
    assert_eq!(world.log(), "cancelled@0 unknown_tool@0");
}

#[test]
fn a_handler_that_waits_in_a_task_of_its_own_is_woken_too() {
    /// Polls what is inside only when its own waker was woken.
    async fn aside(inside: impl Future<Output = ()>) {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut inside = pin!(inside);
        std::future::poll_fn(|_| match woken.0.swap(false, Ordering::Relaxed) {
            true => inside.as_mut().poll(&mut Context::from_waker(&waker)),
            false => Poll::Pending,
        })
        .await;
    }
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let handler = async |call: &Call<'_>, _: &mut ToolResult<'_>| {
        aside(call.cancellation()).await;
        world.note("asked");
        Ok(())
    };
    tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open("slow") }, handler).unwrap();
    let (call, options) = (call("slow", "{}"), AsyncOptions::default());
    run(&world, pin!(dispatched(&world, &tools, &call, &options)), 100).unwrap().unwrap();
    assert_eq!(world.log(), "asked@100 timed_out@100");
}

#[test]
fn an_async_closure_that_waits_for_its_work_or_the_cancel_is_a_handler() {
    let world = World::default();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let handler = async |call: &Call<'_>, result: &mut ToolResult<'_>| {
        select(world.until(at(call.args.u64("at")?)), call.cancellation()).await;
        world.note(if call.cancelled() { "given up" } else { "worked" });
        Ok(result.text("done")?)
    };
    tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open("wait") }, handler).unwrap();
    let options = AsyncOptions::default();
    for (arguments, kind) in
        [(r#"{"at":50}"#, OutcomeKind::Answered), (r#"{"at":500}"#, OutcomeKind::TimedOut)]
    {
        let call = call("wait", arguments);
        let done = run(&world, pin!(dispatched(&world, &tools, &call, &options)), 1_000);
        assert_eq!(done.unwrap().unwrap().0, kind);
    }
    assert_eq!(world.log(), "worked@50 answered@50 given up@150 timed_out@150");
    // The failure of a getter names the argument.
    let call = call("wait", "{}");
    let done = run(&world, pin!(dispatched(&world, &tools, &call, &options)), 1_000);
    assert_eq!(done.unwrap().unwrap().1, "Tool error: argument 'at': it is missing");
}

#[test]
fn a_call_without_an_async_dispatch_is_never_cancelled() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let handler = common::boxed(|call, result| {
        assert!(!call.cancelled());
        let waited = pin!(call.cancellation()).poll(&mut Context::from_waker(Waker::noop()));
        assert!(waited.is_pending());
        Ok(result.text("ran")?)
    });
    tools.add(&open("a"), handler).unwrap();
    assert_eq!(common::dispatched(&tools, "a", "{}"), (OutcomeKind::Answered, "ran".into()));
}

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
