//! One call, one result, with a handler that is a future: see [`dispatch_async`].

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::Poll;

use super::{Begun, DispatchError, DispatchOptions, Prepared, Started, prepare, write_timed_out};
use crate::call::{CancelRequest, Cancellation, ToolCall, Waiter};
use crate::dialect::write_cancelled;
use crate::registry::{Hook, Registry};
use crate::result::{OutcomeKind, ToolResult};
use crate::scratch::Scratch;
use crate::time::{Deadline, Duration, GRACE, Instant, Timer};
use crate::tool::{AsyncHandler, Failure};

/// What holds for a call whose handler is a future.
#[derive(Clone, Copy)]
pub struct AsyncOptions<'o> {
    /// What holds for any call. The timer is the clock: [`DispatchOptions::clock`] is not looked at.
    pub call: DispatchOptions<'o>,
    /// How long a handler is polled on after it was asked to give up. Zero: it is dropped at once.
    pub grace: Duration,
    /// How the host asks for the call to be given up. Made before the handler began, it never runs.
    pub cancel: Option<&'o CancelRequest>,
}

impl Default for AsyncOptions<'_> {
    fn default() -> Self {
        AsyncOptions { call: DispatchOptions::default(), grace: GRACE, cancel: None }
    }
}

/// Runs one call whose handler is a future: [`dispatch`](super::dispatch()) that waits, polled by any executor.
///
/// Hooks, look-up and the check of the arguments come first, outside the time bound and in the first poll.
/// Nothing is spawned and nothing allocated: the handler's future is part of this one, which is as large as
/// the largest that the registry's handlers make. It is not `Send`, since what a call lends is for one thread.
///
/// # Deadline, cancel, grace
///
/// 1. A handler that is ready when it is polled at its deadline is in time; what is ready later timed out.
/// 2. At the deadline, or when the host makes [`AsyncOptions::cancel`], the call is asked to give up:
///    [`Call::cancelled`](crate::call::Call::cancelled) is true and
///    [`Call::cancellation`](crate::call::Call::cancellation) ready. The result is decided, a timeout or a
///    cancelled call; whatever the handler still answers is discarded, and no hook sees it.
/// 3. For the [grace period](AsyncOptions::grace), which begins there, the handler is polled on, so that it can
///    put things in order. If it ends, this ends.
/// 4. At the end of that period its future is dropped.
///
/// So a handler that gives way to its executor takes no longer than its timeout and the grace period. To drop
/// this future drops the handler's at once, without grace and without a result. The model still needs one:
/// [`CallResult::result`](crate::dialect::CallResult::result) of `None` is written as a call that was cancelled.
///
/// # Tools of several types, calls side by side
///
/// A registry has handlers of one type, and every async function makes a future of its own type: an `enum`
/// with a `match` brings them together. The calls of a turn run side by side in one task, each with scratch
/// of its own: join their futures, and render the results in the order of the calls. (The join here is of
/// the crate `embassy-futures`, which has one of arrays too; any will do.)
///
/// ```
/// use core::pin::pin;
/// use core::task::{Context, Poll, Waker};
/// use embassy_futures::join::join;
/// use toolcore::dialect::{CallResult, ResultsOptions, parse_reply, render_results};
/// use toolcore::dispatch::{AsyncOptions, dispatch_async};
/// use toolcore::json;
/// use toolcore::prelude::*;
/// use toolcore::time::Timer;
/// use toolcore::tool::AsyncHandler;
///
/// async fn weather(call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
///     let city = call.args.str("city")?;
///     Ok(result.write_text(|out| {
///         out.put(city);
///         out.put(": 21 C");
///     })?)
/// }
///
/// async fn water(timer: &impl Timer) -> Result<(), Failure> {
///     // Open the valve, and close it in the `Drop` of a value that stands here.
///     timer.until(Instant::from_millis(60_000)).await;
///     Ok(())
/// }
///
/// enum Tool<'t> {
///     Weather,
///     Water(&'t ManualClock),
/// }
///
/// impl AsyncHandler for Tool<'_> {
///     async fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
///         match self {
///             Tool::Weather => weather(call, result).await,
///             Tool::Water(timer) => water(timer).await,
///         }
///     }
/// }
///
/// // `EmbassyClock` in firmware, `SystemTimer` on a desktop.
/// let timer = ManualClock::default();
/// let mut memory = RegistryMemory::<Tool<'_>, 4, 1024>::new();
/// let mut tools = memory.registry(RegistryOptions::default());
/// let city = [ToolParameter::string("city")];
/// let city = Parameters::Declared(&city);
/// tools.add(&ToolDefinition { name: "weather", parameters: city, ..Default::default() }, Tool::Weather)?;
/// let timeout = Some(Duration::from_millis(2_000));
/// tools.add(&ToolDefinition { name: "water", timeout, ..Default::default() }, Tool::Water(&timer))?;
///
/// let reply = br#"{"role":"assistant","content":[
///     {"type":"tool_use","id":"toolu_1","name":"water","input":{}},
///     {"type":"tool_use","id":"toolu_2","name":"weather","input":{"city":"Oslo"}}]}"#;
/// let (mut words, mut bytes) = ([0; 64], [0; 512]);
/// let scratch = Scratch::new(&mut words, &mut bytes);
/// let (reply, _) = parse_reply(Dialect::Anthropic, reply, &json::Options::default(), scratch)?;
/// let mut calls = reply.calls();
/// let (first, second) = (calls.next().unwrap(), calls.next().unwrap());
///
/// let options = AsyncOptions::default();
/// let (mut words, mut bytes) = ([[0; 64]; 2], [[0; 512]; 2]);
/// let [words_1, words_2] = &mut words;
/// let [bytes_1, bytes_2] = &mut bytes;
/// let turn = join(
///     dispatch_async(&tools, &first, &options, &timer, Scratch::new(words_1, bytes_1)),
///     dispatch_async(&tools, &second, &options, &timer, Scratch::new(words_2, bytes_2)),
/// );
///
/// // An executor would do this, and sleep where the clock is moved.
/// let mut turn = pin!(turn);
/// let (water, weather) = loop {
///     match turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
///         Poll::Ready(results) => break results,
///         Poll::Pending => timer.advance(Duration::from_millis(100)),
///     }
/// };
/// assert_eq!(timer.now(), Instant::from_millis(3_000)); // the timeout and the grace period
///
/// let results = [
///     CallResult { id: Some("toolu_1"), result: Some(&water?) },
///     CallResult { id: Some("toolu_2"), result: Some(&weather?) },
/// ];
/// let mut out = [0; 512];
/// let mut sink = Sink::new(&mut out);
/// render_results(Dialect::Anthropic, &reply, &results, &ResultsOptions::default(), &mut sink)?;
/// assert_eq!(
///     sink.finish()?,
///     r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"[TOOL_TIMEOUT] Tool 'water' timed out after 2s","is_error":true},{"type":"tool_result","tool_use_id":"toolu_2","content":"Oslo: 21 C"}]}]"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn dispatch_async<'s, H: AsyncHandler, K: Hook, T: Timer>(
    registry: &Registry<'_, H, K>,
    call: &ToolCall<'s>,
    options: &AsyncOptions<'_>,
    timer: &T,
    scratch: Scratch<'s>,
) -> Result<ToolResult<'s>, DispatchError> {
    let request = CancelRequest::new();
    // In a block, so that the options are no part of the future.
    let mut started = {
        let checked = DispatchOptions { clock: Some(timer), ..options.call };
        match prepare(registry, call, &checked, scratch)? {
            Prepared::Ready(ready) => ready.start(None),
            Prepared::Ended(result) => return Ok(result),
        }
    };
    started.accepted.waiter = Waiter::Future(&request);
    let outcome = if options.cancel.is_some_and(CancelRequest::cancelled) {
        Outcome::Cancelled
    } else {
        let mut running = pin!(started.handler.run(&started.accepted, &mut started.result));
        let until = started.accepted.deadline.instant();
        let outcome = run_until(running.as_mut(), timer, until, Cancellation(options.cancel)).await;
        if !matches!(outcome, Outcome::Ended(_)) {
            request.cancel();
            if !options.grace.is_zero() {
                let until = Deadline::after(timer.now(), options.grace).instant();
                run_until(running, timer, until, Cancellation(None)).await;
            }
        }
        outcome
    };
    Ok(started.end_as(registry, outcome))
}

/// How a handler's time ended.
enum Outcome {
    /// It ended of itself.
    Ended(Result<(), Failure>),
    /// The deadline came first.
    TimedOut,
    /// The host gave the call up first.
    Cancelled,
}

/// Polls a handler until it ends, `until` comes or the host cancels.
async fn run_until<T: Timer>(
    mut handler: Pin<&mut impl Future<Output = Result<(), Failure>>>,
    timer: &T,
    until: Option<Instant>,
    mut cancel: Cancellation<'_>,
) -> Outcome {
    let mut alarm = pin!(until.map(|at| timer.until(at)));
    poll_fn(|context| {
        if Pin::new(&mut cancel).poll(context).is_ready() {
            return Poll::Ready(Outcome::Cancelled);
        }
        if let Poll::Ready(outcome) = handler.as_mut().poll(context) {
            return Poll::Ready(Outcome::Ended(outcome));
        }
        match alarm.as_mut().as_pin_mut() {
            Some(alarm) => alarm.poll(context).map(|()| Outcome::TimedOut),
            None => Poll::Pending,
        }
    })
    .await
}

impl<'c, 's: 'c, H> Started<'c, 's, H> {
    fn end_as<K: Hook>(mut self, registry: &Registry<'_, H, K>, outcome: Outcome) -> ToolResult<'s> {
        let (name, timeout) = (self.accepted.name, self.timeout.unwrap_or_default());
        match outcome {
            Outcome::Ended(outcome) => match self.end(registry, Poll::Ready(outcome)) {
                Begun::Ended(result) | Begun::Pending { result, .. } => return result,
            },
            Outcome::TimedOut => {
                self.result.fail(OutcomeKind::TimedOut, |sink| write_timed_out(name, timeout, sink));
            }
            Outcome::Cancelled => {
                self.result.fail(OutcomeKind::Cancelled, |sink| write_cancelled(name, sink))
            }
        }
        self.result
    }
}
