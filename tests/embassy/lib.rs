//! What the programs share: a tool that waits by embassy-time, its dispatch, and a log of what happened when.
//!
//! A program can have one time driver, so that each driver has a program of its own here. `tests/embassy.rs` builds and
//! runs them all.

use std::cell::RefCell;

use toolcore::call::{Call, ToolCall};
use toolcore::dispatch::{AsyncOptions, dispatch_async};
use toolcore::embassy::EmbassyClock;
use toolcore::registry::{RegistryMemory, RegistryOptions};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::scratch::Scratch;
use toolcore::time::{Clock, Duration, Instant, Timer};
use toolcore::tool::{AsyncHandler, Failure, ToolDefinition};

/// What a tool does.
#[derive(Clone, Copy)]
pub enum Does {
    /// Answers after so many milliseconds.
    Answers(u64),
    /// Waits to be cancelled and ends so many milliseconds later.
    Honours(u64),
    /// Never ends.
    Deaf,
}

/// What happened, and how many milliseconds after the log was begun.
pub struct Log {
    begun: Instant,
    lines: RefCell<String>,
}

impl Log {
    /// Begins now.
    #[allow(clippy::new_without_default, reason = "it reads the clock")]
    pub fn new() -> Self {
        Log { begun: EmbassyClock.now(), lines: RefCell::default() }
    }

    /// Milliseconds since it was begun.
    pub fn time(&self) -> u64 {
        EmbassyClock.now().since(self.begun).as_millis()
    }

    fn note(&self, what: &str) {
        *self.lines.borrow_mut() += &format!("{what}@{} ", self.time());
    }

    /// What was noted.
    pub fn text(&self) -> String {
        self.lines.borrow().trim_end().into()
    }
}

struct Tool<'l>(&'l Log, Does);

/// Notes when the handler's future is dropped.
struct Guard<'l>(&'l Log);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

impl AsyncHandler for Tool<'_> {
    async fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
        let Tool(log, does) = *self;
        let _guard = Guard(log);
        match does {
            Does::Answers(millis) => after(millis).await,
            Does::Honours(millis) => {
                call.cancellation().await;
                log.note("asked");
                after(millis).await;
            }
            Does::Deaf => std::future::pending().await,
        }
        log.note("ended");
        Ok(result.text("done")?)
    }
}

/// Waits for so many milliseconds.
pub async fn after(millis: u64) {
    EmbassyClock.until(Instant::from_millis(EmbassyClock.now().as_millis() + millis)).await;
}

/// Dispatches one call of a tool with a timeout and a grace period in milliseconds, and notes what became of it.
pub async fn dispatched(log: &Log, does: Does, timeout: u64, grace: u64) -> OutcomeKind {
    let mut memory = RegistryMemory::<Tool<'_>, 2, 256>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let timeout = Some(Duration::from_millis(timeout));
    let definition = ToolDefinition { name: "tool", timeout, ..ToolDefinition::default() };
    tools.add(&definition, Tool(log, does)).expect("there is room for it");
    let call = ToolCall { name: "tool", ..ToolCall::default() };
    let options = AsyncOptions { grace: Duration::from_millis(grace), ..AsyncOptions::default() };
    let (mut words, mut bytes) = ([0; 64], [0; 256]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let result =
        dispatch_async(&tools, &call, &options, &EmbassyClock, scratch).await.expect("it is dispatched");
    log.note(result.kind().name());
    result.kind()
}
