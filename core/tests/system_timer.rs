//! Async dispatch by the system's clock, with an executor that sleeps until it is woken.
#![cfg(feature = "std")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};

use embassy_futures::join::{join, join_array};
use pollster::block_on;
use toolcore::call::{Call, CancelRequest, ToolCall};
use toolcore::dispatch::{AsyncOptions, dispatch_async};
use toolcore::registry::{RegistryMemory, RegistryOptions};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::scratch::Scratch;
use toolcore::system::{SystemClock, SystemTimer};
use toolcore::time::{Clock, Duration, Instant, Timer};
use toolcore::tool::{AsyncHandler, Failure, ToolDefinition};

/// Longer than any test may take: a wake that is lost shows as a test that hangs, or takes this long.
const HOUR: u64 = 3_600_000;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn timer() -> SystemTimer {
    SystemTimer::new(SystemClock::new()).unwrap()
}

fn after(timer: &SystemTimer, millis: u64) -> Instant {
    Instant::from_millis(timer.now().as_millis() + millis)
}

enum Tool<'t> {
    Sleeps(&'t SystemTimer, u64),
    Honours,
    Deaf,
}

impl AsyncHandler for Tool<'_> {
    async fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
        match self {
            Tool::Sleeps(timer, millis) => timer.until(after(timer, *millis)).await,
            Tool::Honours => call.cancellation().await,
            Tool::Deaf => std::future::pending().await,
        }
        Ok(result.text("done")?)
    }
}

/// Runs one call; what became of it, and how long it took.
fn dispatched(
    timer: &SystemTimer,
    tool: Tool<'_>,
    timeout: u64,
    options: &AsyncOptions<'_>,
) -> (OutcomeKind, u64) {
    let mut memory = RegistryMemory::<Tool<'_>, 2, 256>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let definition = ToolDefinition { name: "t", timeout: Some(ms(timeout)), ..ToolDefinition::default() };
    tools.add(&definition, tool).unwrap();
    let call = ToolCall { name: "t", ..ToolCall::default() };
    let (mut words, mut bytes) = ([0; 64], [0; 256]);
    let start = timer.now();
    let scratch = Scratch::new(&mut words, &mut bytes);
    let kind = block_on(dispatch_async(&tools, &call, options, timer, scratch)).unwrap().kind();
    (kind, timer.now().since(start).as_millis())
}

#[test]
fn a_call_takes_what_it_takes_or_until_its_deadline_or_the_end_of_its_grace_period() {
    let timer = timer();
    let short = AsyncOptions { grace: ms(20), ..AsyncOptions::default() };
    let long = AsyncOptions { grace: ms(HOUR), ..AsyncOptions::default() };
    for (tool, timeout, options, kind, least) in [
        (Tool::Sleeps(&timer, 20), HOUR, &long, OutcomeKind::Answered, 20),
        (Tool::Sleeps(&timer, HOUR), 20, &short, OutcomeKind::TimedOut, 40),
        (Tool::Honours, 20, &long, OutcomeKind::TimedOut, 20),
        (Tool::Deaf, 20, &short, OutcomeKind::TimedOut, 40),
    ] {
        let (got, took) = dispatched(&timer, tool, timeout, options);
        assert_eq!(got, kind);
        assert!((least..HOUR).contains(&took), "{kind:?} after {took} ms");
    }
}

#[test]
fn the_host_cancels_beside_a_call() {
    let timer = timer();
    let request = CancelRequest::new();
    let mut memory = RegistryMemory::<Tool<'_>, 2, 256>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    tools.add(&ToolDefinition { name: "t", ..ToolDefinition::default() }, Tool::Honours).unwrap();
    let call = ToolCall { name: "t", ..ToolCall::default() };
    let options = AsyncOptions { cancel: Some(&request), grace: ms(HOUR), ..AsyncOptions::default() };
    let (mut words, mut bytes) = ([0; 64], [0; 256]);
    let task = dispatch_async(&tools, &call, &options, &timer, Scratch::new(&mut words, &mut bytes));
    let host = async {
        timer.until(after(&timer, 10)).await;
        request.cancel();
    };
    let (result, ()) = block_on(join(task, host));
    assert_eq!(result.unwrap().kind(), OutcomeKind::Cancelled);
}

#[test]
fn waits_of_several_threads_end_at_their_times_and_not_before() {
    let timer = timer();
    let (sender, receiver) = mpsc::channel();
    let start = timer.now().as_millis();
    std::thread::scope(|scope| {
        for millis in [60, 20, 40] {
            let (timer, sender) = (&timer, sender.clone());
            scope.spawn(move || {
                block_on(timer.until(Instant::from_millis(start + millis)));
                sender.send((millis, timer.now().as_millis() - start)).unwrap();
            });
        }
    });
    drop(sender);
    let ended: Vec<_> = receiver.iter().collect();
    assert_eq!(ended.len(), 3);
    for (millis, took) in ended {
        assert!((millis..HOUR).contains(&took), "a wait of {millis} ms took {took}");
    }
}

#[test]
fn a_later_wait_does_not_hold_up_an_earlier_one_and_a_dropped_one_is_forgotten() {
    let timer = timer();
    let woken = Arc::new(Woken);
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    {
        let mut late = pin!(timer.until(after(&timer, HOUR)));
        for _ in 0..2 {
            assert!(late.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(Arc::strong_count(&woken), 3, "here, the waker, and one that waits");
        block_on(join_array([20, 10].map(|millis| timer.until(after(&timer, millis)))));
    }
    assert_eq!(Arc::strong_count(&woken), 2);
    block_on(timer.until(Instant::default()));
}

#[test]
fn a_timer_that_is_dropped_ends_its_thread_and_wakes_nobody() {
    let timer = timer();
    let woken = Arc::new(Woken);
    let waker = Waker::from(Arc::clone(&woken));
    let mut late = Box::pin(timer.until(after(&timer, HOUR)));
    assert!(late.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    // A wait that is leaked stays with the timer, and what it holds goes when the thread has ended.
    std::mem::forget(late);
    drop(waker);
    assert_eq!(Arc::strong_count(&woken), 2);
    drop(timer);
    assert_eq!(Arc::strong_count(&woken), 1);
}

#[test]
fn a_timer_may_be_dropped_by_the_task_that_it_wakes() {
    /// Owns the timer that wakes it.
    struct Owner(mpsc::Sender<()>, SystemTimer);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }
    let (sender, receiver) = mpsc::channel();
    let owner = Arc::new(Owner(sender, timer()));
    let waker = Waker::from(Arc::clone(&owner));
    let mut wait = Box::pin(owner.1.until(after(&owner.1, 10)));
    assert_eq!(wait.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending);
    std::mem::forget(wait);
    drop(waker);
    drop(owner);
    assert_eq!(receiver.recv(), Ok(()));
    // The timer's thread drops the last owner, and with it the timer.
    assert!(receiver.recv().is_err());
}

struct Woken;

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        panic!("nobody is to be woken");
    }
}
