//! Who gives a call up: the host by its request, or by dropping it; and how a handler learns of it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use embassy_futures::join::join;
use embassy_futures::select::select;
use toolcore::call::{Call, CancelRequest};
use toolcore::dispatch::AsyncOptions;
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::time::Timer;
use toolcore::tool::ToolDefinition;

use crate::common::{self, Memory, open};
use crate::world::{Does, Tool, Woken, World, at, call, dispatched, ms, run};

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
