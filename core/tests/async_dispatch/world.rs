//! A world of its own time: a timer that is moved by hand, tools that wait by it, and the log of what happened.

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use toolcore::call::{Call, ToolCall};
use toolcore::dispatch::{AsyncOptions, DispatchError, dispatch_async};
use toolcore::registry::{Hook, Registry};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::scratch::Scratch;
use toolcore::time::{Clock, Duration, Instant, ManualClock, Timer};
use toolcore::tool::{AsyncHandler, Failure, ToolDefinition};

use crate::common::{Memory, open, written};

/// A timer that is moved by hand and wakes whom it must, and the log.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) sleepers: RefCell<Vec<(Instant, Waker)>>,
    log: RefCell<String>,
}

impl World {
    pub(crate) fn note(&self, what: &str) {
        *self.log.borrow_mut() += &format!("{what}@{} ", self.clock.now().as_millis());
    }

    pub(crate) fn log(&self) -> String {
        self.log.borrow().trim_end().into()
    }

    pub(crate) fn advance(&self, millis: u64) {
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

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) const fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// What a tool of the tests does.
#[derive(Clone, Copy)]
pub(crate) enum Does {
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

pub(crate) struct Tool<'w>(pub(crate) &'w World, pub(crate) Does);

/// Notes when it is dropped: once for each value.
pub(crate) struct Guard<'w>(&'w World);

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
pub(crate) struct Woken(pub(crate) AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a task until it ends, a millisecond at a time; `None` if it has not ended at `last`.
pub(crate) fn run<F: Future>(world: &World, mut task: Pin<&mut F>, last: u64) -> Option<F::Output> {
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

pub(crate) fn call<'a>(name: &'a str, arguments: &'a str) -> ToolCall<'a> {
    ToolCall { name, arguments, ..ToolCall::default() }
}

/// Dispatches a call and notes what became of it.
pub(crate) async fn dispatched<H: AsyncHandler, K: Hook>(
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
pub(crate) fn one(does: Does, options: &AsyncOptions<'_>) -> (String, String) {
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

/// What the model reads of a call of `slow` that took too long.
pub(crate) const TIMED_OUT: &str = "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s";
