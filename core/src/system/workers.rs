//! Worker threads: bounded calls of tools that block (feature `std`).
//!
//! An order is a call's own copy, an answer is a result with its memory; [`handover`](super::handover) brings
//! one to a thread and the other back. What this promises stands at [`Workers`].

use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread::JoinHandle;
use std::vec::Vec;
use std::{thread, time, vec};

use super::SystemClock;
use super::handover::{Ended, Handover, Id, WorkerStats};
use crate::arena::Arena;
use crate::call::{Args, Call, Ticket, Waiter};
use crate::dispatch::{write_failure, write_timed_out};
use crate::json::{Repairs, Value};
use crate::result::{OutcomeKind, Shape, ToolResult};
use crate::time::{Clock, Deadline, Duration};
use crate::tool::{Cancel, Failure, Handler};

/// From how many abandoned calls on [`Workers::warning`] warns.
pub const ABANDONED_WARNING: usize = 8;

/// What a pool is made of.
#[derive(Clone)]
pub struct WorkerOptions {
    /// The most threads, those with abandoned calls among them; 16 if nothing is said, and at least 1.
    pub max: usize,
    /// Bytes of memory for the result of each call; 4096 if nothing is said, and at least 64.
    pub memory: usize,
    /// Where workers take the time from; a [`SystemClock`] if nothing is said.
    pub clock: Arc<dyn Clock + Send + Sync>,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        WorkerOptions { max: 16, memory: 4096, clock: Arc::new(SystemClock::new()) }
    }
}

/// Many calls were abandoned and still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("{abandoned} of at most {max} worker threads run calls that were abandoned")]
pub struct AbandonedWarning {
    /// How many.
    pub abandoned: usize,
    /// The most threads that there may be.
    pub max: usize,
}
impl core::error::Error for AbandonedWarning {}

/// A pool of worker threads, which runs tools that block.
///
/// A tool made by [`Workers::tool`] runs on a thread of a pool, with a copy of its call and memory of its own
/// for the result, so that its caller need not wait for it longer than its deadline:
///
/// - Dispatched by itself, the caller waits, and is free as the deadline passes. In a turn of calls in flight
///   the handler answers later: [`Workers::wait`] sleeps until something has ended, and [`Workers::receive`]
///   hands out what has, to complete the calls with.
/// - What does not end in time is *abandoned*: its late result is discarded, and the thread is of use again
///   only when the tool returns. How many there are is counted ([`Workers::stats`]), and too many are a
///   warning.
/// - Threads start when they are needed, up to a limit, and are kept. Without a free one a call waits in a
///   queue while its time runs; what waits there until its deadline never runs.
/// - [`Workers::shutdown`], or to drop the pool, waits for no call: it says how many still run. A tool's
///   closure is dropped when its handlers are gone and its last call has ended.
/// - A panic in a tool is a failed result.
/// - A pool serves one table of calls in flight, since the tickets of two may be the same.
///
/// A worker's time is that of the pool's clock, of which a call's deadline is an instant there.
///
/// ```
/// use toolcore::prelude::*;
/// use toolcore::system::{SystemClock, WorkerOptions, WorkerTool, Workers};
///
/// let workers = Workers::new(WorkerOptions::default());
/// let mut memory = RegistryMemory::<WorkerTool, 1, 512>::new();
/// let mut tools = memory.registry(RegistryOptions::default());
/// let definition = ToolDefinition {
///     name: "read_sensor",
///     timeout: Some(Duration::from_millis(20)),
///     ..ToolDefinition::default()
/// };
/// let (answer, sensor) = std::sync::mpsc::channel::<()>();
/// let sensor = std::sync::Mutex::new(sensor);
/// tools.add(&definition, workers.tool(move |_, result| {
///     sensor.lock().ok().and_then(|sensor| sensor.recv().ok()).ok_or("the sensor is gone")?;
///     Ok(result.text("21 C")?)
/// }))?;
/// let clock = SystemClock::new();
/// let options = toolcore::dispatch::DispatchOptions { clock: Some(&clock), ..Default::default() };
/// let (mut words, mut bytes) = ([0; 64], [0; 512]);
/// let call = ToolCall { name: "read_sensor", ..ToolCall::default() };
/// let scratch = Scratch::new(&mut words, &mut bytes);
/// let result = toolcore::dispatch::dispatch(&tools, &call, &options, scratch)?;
/// assert_eq!(result.kind(), OutcomeKind::TimedOut);
/// drop(answer); // ends the call
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Workers {
    pool: Arc<Pool>,
}

impl Workers {
    /// A pool, with no thread yet.
    pub fn new(options: WorkerOptions) -> Self {
        let max = options.max.max(1);
        let options = WorkerOptions { max, memory: options.memory.max(64), ..options };
        let threads = Mutex::new(Vec::new());
        Workers { pool: Arc::new(Pool { handover: Handover::new(max), options, threads }) }
    }

    /// A handler that runs `tool` on a worker. Several calls of it may run at once.
    pub fn tool<F>(&self, tool: F) -> WorkerTool
    where
        F: Fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure> + Send + Sync + 'static,
    {
        WorkerTool { pool: Arc::clone(&self.pool), tool: Arc::new(tool) }
    }

    /// Hands out what has ended of the calls with tickets, in the order in which they ended, with how long ago that
    /// was; says how many there were. Each ticket comes once. A call that was given up comes as soon as it has
    /// ended, as a cancelled result: by then it is decided, and to complete it says that nothing of it runs any
    /// more.
    ///
    /// Receive before polling the turn, and complete each call at the time at which it ended: what ended in time is
    /// in time then.
    pub fn receive(&self, mut each: impl FnMut(Ticket, Duration, &ToolResult<'_>)) -> usize {
        // `each` may end the pool.
        let pool = Arc::clone(&self.pool);
        let mut received = 0;
        while let Some((ticket, answer)) = pool.handover.receive() {
            match answer {
                Some(mut answer) => {
                    let millis = u64::try_from(answer.ended.elapsed().as_millis()).unwrap_or(u64::MAX);
                    each(ticket, Duration::from_millis(millis), &answer.result());
                }
                None => {
                    let mut memory = [0; 64];
                    let mut result = ToolResult::new(&mut memory);
                    result
                        .fail(OutcomeKind::Cancelled, |sink| sink.put("Tool error: the call was cancelled"));
                    each(ticket, Duration::default(), &result);
                }
            }
            received += 1;
        }
        received
    }

    /// Ends the [`Workers::wait`] that sleeps, or the next one: something else wants to be looked at.
    pub fn wake(&self) {
        self.pool.handover.wake();
    }

    /// Sleeps until there is something to receive, or until it is woken, for `at_most` (`None`: however long it
    /// takes). Says whether there is something to receive.
    pub fn wait(&self, at_most: Option<Duration>) -> bool {
        let until = at_most.and_then(|time| time::Instant::now().checked_add(real(time)));
        self.pool.handover.wait_for_inbox(until)
    }

    /// How the pool fares.
    pub fn stats(&self) -> WorkerStats {
        self.pool.handover.stats()
    }

    /// Says so if [`ABANDONED_WARNING`] calls, or as many as there may be threads, were abandoned and still
    /// run.
    pub fn warning(&self) -> Option<AbandonedWarning> {
        let (abandoned, max) = (self.stats().abandoned, self.pool.options.max);
        (abandoned >= ABANDONED_WARNING.min(max)).then_some(AbandonedWarning { abandoned, max })
    }

    /// Ends the threads that run no call, and says how many do: these end when their calls do. Of the calls
    /// with tickets, those that run are abandoned and those that are queued never run; who waits for a call
    /// that runs has it answered still. From now on the handlers of the pool fail.
    pub fn shutdown(self) -> usize {
        self.pool.shutdown()
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self::new(WorkerOptions::default())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.pool.shutdown();
    }
}

/// A handler that runs its tool on a worker; made by [`Workers::tool`].
#[derive(Clone)]
pub struct WorkerTool {
    pool: Arc<Pool>,
    tool: Arc<Tool>,
}

type Tool = dyn Fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure> + Send + Sync;

impl Handler for WorkerTool {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        let left = call.time_left();
        // The deadline is passed when the clock, which may count whole milliseconds only, shows more than it.
        let until =
            left.and_then(|left| time::Instant::now().checked_add(real(left).checked_add(MILLISECOND)?));
        let order = Order {
            tool: Arc::clone(&self.tool),
            id: call.id.map(Box::from),
            name: call.name.into(),
            arguments: call.args.value().raw().into(),
            ticket: call.ticket(),
            timeout: left,
            deadline: left
                .map_or(Deadline::NEVER, |left| Deadline::after(self.pool.options.clock.now(), left)),
            repairs: result.repairs(),
        };
        let id = match self.pool.hand_over(order) {
            Ok(Id::Ticket(_)) => return Poll::Pending,
            Ok(id) => id,
            Err(why) => return Poll::Ready(Err(why)),
        };
        Poll::Ready(match self.pool.handover.wait(id, until) {
            Ended::Answered(mut answer) => result.append_from(&answer.result()).map_err(Failure::from),
            Ended::Stopped => Err(STOPPED),
            // By whatever clock, the time has run out here.
            Ended::GivenUp => {
                time_out(result, call.name, left);
                Ok(())
            }
        })
    }

    fn cancel(&self, ticket: Ticket) -> Cancel {
        // One that was queued is received as cancelled.
        if self.pool.handover.give_up(Id::Ticket(ticket)) { Cancel::Abandoned } else { Cancel::Later }
    }
}

const MILLISECOND: time::Duration = time::Duration::from_millis(1);
const STOPPED: Failure = Failure::Message("the worker threads were shut down");
const NOT_STARTED: Failure = Failure::Message("no worker thread could be started");

/// A call as a worker gets it.
struct Order {
    tool: Arc<Tool>,
    id: Option<Box<str>>,
    name: Box<str>,
    /// The accepted arguments.
    arguments: Box<str>,
    ticket: Option<Ticket>,
    /// What was left when it was handed over.
    timeout: Option<Duration>,
    /// By the pool's clock.
    deadline: Deadline,
    repairs: Repairs,
}

/// A result with its memory, and when it was there.
struct Answer {
    ended: time::Instant,
    memory: Vec<u8>,
    shape: Shape,
}

impl Answer {
    fn result(&mut self) -> ToolResult<'_> {
        self.shape.clone().over(&mut self.memory)
    }
}

struct Pool {
    handover: Handover<Ticket, Order, Answer>,
    options: WorkerOptions,
    threads: Mutex<Vec<(usize, JoinHandle<()>)>>,
}

impl Pool {
    fn hand_over(self: &Arc<Self>, order: Order) -> Result<Id<Ticket>, Failure> {
        let queued = self.handover.queue(order.ticket, order).map_err(|_| STOPPED)?;
        if let Some(worker) = queued.start {
            let pool = Arc::clone(self);
            let started = thread::Builder::new().name("toolcore".into()).spawn(move || pool.work(worker));
            match started {
                Ok(thread) => self.threads().push((worker, thread)),
                Err(_) if self.handover.not_started(queued.id).is_some() => return Err(NOT_STARTED),
                Err(_) => {}
            }
        }
        Ok(queued.id)
    }

    /// What a worker does, until all is stopped.
    fn work(&self, worker: usize) {
        while let Some(order) = self.handover.take(worker) {
            let answer = order.run(&self.options);
            self.handover.finish(worker, answer);
        }
    }

    fn shutdown(&self) -> usize {
        let busy = self.handover.stop();
        let threads = core::mem::take(&mut *self.threads());
        for (worker, thread) in threads {
            if !busy.contains(&worker) {
                // A worker's thread does not panic, and there is nothing to do about one that did.
                thread.join().ok();
            }
        }
        busy.len()
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Vec<(usize, JoinHandle<()>)>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Order {
    /// Runs the tool, and lets go of it before the answer is told.
    fn run(self, options: &WorkerOptions) -> Answer {
        let mut memory = vec![0; options.memory];
        let own = memory.as_ptr();
        // All strings decoded twice over, and the path of a getter that failed.
        let mut decoded = vec![0; self.arguments.len().saturating_mul(2).saturating_add(256)];
        let mut result = ToolResult::new(&mut memory);
        result.set_repairs(self.repairs);
        let clock: &dyn Clock = &*options.clock;
        if self.deadline.passed(clock.now()) {
            time_out(&mut result, &self.name, self.timeout);
        } else {
            let args = Args::new(Value::from_checked(&self.arguments), Arena::new(&mut decoded));
            let (id, name) = (self.id.as_deref(), &*self.name);
            let waiter = self.ticket.map_or(Waiter::Nobody, Waiter::Table);
            let call = Call { id, name, args, deadline: self.deadline, clock: Some(clock), waiter };
            match caught(|| (self.tool)(&call, &mut result)) {
                Some(Ok(())) => {}
                Some(Err(failure)) => write_failure(failure, &call.args, &mut result),
                None => result.error("the tool panicked"),
            }
        }
        let tool = self.tool;
        if caught(move || drop(tool)).is_none() {
            result.error("the tool panicked");
        }
        let mut shape = result.shape();
        // Nothing is left of the parts of a result that the tool has put into memory of its own.
        if result.memory().as_ptr() != own {
            shape.cut(&[], 0);
        }
        Answer { ended: time::Instant::now(), memory, shape }
    }
}

fn time_out(result: &mut ToolResult<'_>, name: &str, timeout: Option<Duration>) {
    result.fail(OutcomeKind::TimedOut, |sink| write_timed_out(name, timeout.unwrap_or_default(), sink));
}

/// What `run` gives, or `None` if it panics.
fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    // A closure that panics may leave its own state half-changed, as on any thread that ends so.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(value) => Some(value),
        Err(payload) => {
            // To drop what was thrown may panic again, with what is then not dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                core::mem::forget(again);
            }
            None
        }
    }
}

fn real(duration: Duration) -> time::Duration {
    time::Duration::from_millis(duration.as_millis())
}
