//! One call, one result, with its deadline.
//!
//! The order: pre-hooks, look-up, arguments, handler, post-hooks. What the model did wrong becomes a
//! result that says so (see [`crate::result`] for the texts); only what the host must change is an error.
//! That the budget of steps does not suffice to check the arguments is a result as well, since it depends on
//! them, and every call of a reply needs one. It says so in words of its own, because none of the arguments
//! is known to be wrong; a host that sees it raises [`CheckOptions::steps`] or writes a cheaper schema.
//!
//! **Timeouts.** The tool's applies, else the registry's, else the call's: the most specific that is set,
//! even when it is the looser one. Arguments are checked outside the bound. A handler runs in the caller's
//! thread and is never interrupted: it can ask what time is left, and a result that comes after the
//! deadline is discarded and becomes a timeout. A timeout that the tool itself reports is an ordinary
//! failure. One whose tool runs on a worker thread (`system::Workers`) returns as the deadline passes.
//!
//! Handlers that are futures are run by [`dispatch_async`], which asks them to give up at their deadline and
//! drops them after a grace period.

mod accept;
mod asynchronous;

use core::task::Poll;

use crate::arena::Arena;
use crate::call::{Args, Call, Ticket, ToolCall, Waiter};
use crate::dialect::{NameRule, resolve};
use crate::registry::{Draft, Hook, Registry, Tool, Verdict};
use crate::result::{OutcomeKind, ToolResult};
use crate::schema::{CheckOptions, Coercion};
use crate::scratch::Scratch;
use crate::sink::Sink;
use crate::time::{Clock, Deadline, Duration};
use crate::tool::{Failure, Handler};
use accept::{Accepted, accept};

pub use asynchronous::{AsyncOptions, dispatch_async};

/// Is told what was changed in the arguments of a call before they were checked.
pub type Changed<'o> = &'o dyn Fn(&ToolCall<'_>, &Coercion<'_>);

/// What holds for a call.
#[derive(Clone, Copy, Default)]
pub struct DispatchOptions<'o> {
    /// Where the time comes from; needed as soon as a timeout applies.
    pub clock: Option<&'o dyn Clock>,
    /// The timeout where neither the tool nor the registry sets one.
    pub timeout: Option<Duration>,
    /// Repair arguments that are nearly JSON (a Markdown fence, text after the value, a trailing comma,
    /// JSON in a string). A truncated text is never completed.
    pub lenient: bool,
    /// Of arguments with the same name the last one counts, for every tool; otherwise they are refused, but
    /// for a tool that asks for it.
    pub last_wins: bool,
    /// Told each change that was made to arguments, also where the call is refused afterwards: coercions, and
    /// members that a later one takes the place of.
    pub changed: Option<Changed<'o>>,
    /// The rule by which aliases were made; `None` if names were sent as they are.
    pub names: Option<NameRule>,
    /// The strict mode of the dialect makes optional properties nullable
    /// ([`Dialect::makes_nullable`](crate::dialect::Dialect::makes_nullable)): in the arguments of a strict tool
    /// a `null` for an optional property that cannot be null is taken out before they are checked, also where
    /// the tool asks for no coercion.
    pub strict_nulls: bool,
    /// How arguments are read and checked.
    pub check: CheckOptions,
}

/// Why a call could not be dispatched: the host must change something. No handler ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum DispatchError {
    /// A timeout applies and there is no clock.
    #[error("a timeout applies to the tool, and no clock was given")]
    NoClock,
    /// The call's own timeout is zero.
    #[error("a timeout of zero; leave it out for no bound")]
    ZeroTimeout,
    /// The scratch memory is too small. Zero stands for what there is enough of.
    #[error("no space: the call needs {words} words and {bytes} bytes of scratch")]
    NoSpace {
        /// Words that are needed.
        words: usize,
        /// Bytes that are needed.
        bytes: usize,
    },
}
impl core::error::Error for DispatchError {}

/// Runs one call. The result stands in the scratch memory, of which at least 64 bytes must be left for
/// it after the arguments were prepared.
///
/// A handler that wants to answer later ([`Poll::Pending`]) needs something that waits for it:
/// a turn of calls in flight. Here its call fails, and the model is told.
pub fn dispatch<'s, H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    call: &ToolCall<'s>,
    options: &DispatchOptions<'_>,
    scratch: Scratch<'s>,
) -> Result<ToolResult<'s>, DispatchError> {
    let ready = match prepare(registry, call, options, scratch)? {
        Prepared::Ready(ready) => ready,
        Prepared::Ended(result) => return Ok(result),
    };
    let name = ready.name();
    let mut started = ready.start(None);
    let outcome = started.handler.run(&started.accepted, &mut started.result);
    Ok(match started.end(registry, outcome) {
        Begun::Ended(result) => result,
        Begun::Pending { mut result, .. } => {
            result.fail(OutcomeKind::ToolFailed, |sink| {
                quote(sink, "Tool error: Tool '", name, "' answers later, and nothing waits for it here");
            });
            result
        }
    })
}

/// What comes of a call before its handler runs.
pub(crate) enum Prepared<'c, 's, H> {
    /// It may run.
    Ready(Ready<'c, 's, H>),
    /// It may not, and this is its result.
    Ended(ToolResult<'s>),
}

/// A call that may run: its tool is found, and its arguments are accepted.
pub(crate) struct Ready<'c, 's, H> {
    /// The tool's place in the registry.
    pub(crate) position: usize,
    tool: Tool<'c, H>,
    /// The call as hooks left it.
    call: ToolCall<'s>,
    accepted: Accepted<'s>,
    timeout: Option<Duration>,
    clock: Option<&'c dyn Clock>,
    arena: Arena<'s>,
}

/// What comes of running a handler.
pub(crate) enum Begun<'s> {
    /// The call has ended.
    Ended(ToolResult<'s>),
    /// The handler answers later.
    Pending {
        /// When the call must have ended.
        deadline: Deadline,
        /// The timeout that the deadline comes from.
        timeout: Option<Duration>,
        /// Empty; what the handler wrote is gone.
        result: ToolResult<'s>,
    },
}

/// Hooks, look-up and the check of the arguments: all that comes before a handler.
pub(crate) fn prepare<'c, 's, H, K: Hook>(
    registry: &'c Registry<'_, H, K>,
    call: &ToolCall<'s>,
    options: &DispatchOptions<'c>,
    scratch: Scratch<'s>,
) -> Result<Prepared<'c, 's, H>, DispatchError> {
    if options.timeout.is_some_and(Duration::is_zero) {
        return Err(DispatchError::ZeroTimeout);
    }
    let Scratch { words, bytes } = scratch;
    let total = bytes.len();
    let arena = Arena::new(bytes);
    let mut draft = Draft::new(*call, &arena);
    for hook in registry.hooks() {
        let mut message = [0u8; 256];
        let mut why = Sink::new(&mut message);
        if hook.before(&mut draft, &mut why) == Verdict::Block {
            let mut result = result_in(&arena, total)?;
            let whole = why.len();
            let why = why.finish_cut();
            result.fail(OutcomeKind::Blocked, |sink| match why {
                "" => quote(sink, "Tool call '", draft.call().name, "' blocked by pre-hook."),
                why => sink.put(why),
            });
            result.was_longer(whole);
            return Ok(Prepared::Ended(result));
        }
    }
    let call = draft.call();
    let position = match options.names {
        Some(rule) => resolve(registry, rule, call.name),
        None => registry.position(call.name),
    };
    let found = position.and_then(|position| Some((position, registry.at(position)?)));
    let Some((position, tool)) = found else {
        let mut result = result_in(&arena, total)?;
        result.fail(OutcomeKind::UnknownTool, |sink| write_unknown(registry, call.name, sink));
        return Ok(Prepared::Ended(result));
    };
    let (timeout, clock) = (tool.info.timeout().or(options.timeout), options.clock);
    if timeout.is_some() && clock.is_none() {
        return Err(DispatchError::NoClock);
    }
    Ok(match accept(&tool, &call, options, words, &arena, total)? {
        Err(result) => Prepared::Ended(result),
        Ok(accepted) => {
            check_room(&arena, total)?;
            Prepared::Ready(Ready { position, tool, call, accepted, timeout, clock, arena })
        }
    })
}

impl<'c, 's: 'c, H> Ready<'c, 's, H> {
    /// The tool's registered name.
    pub(crate) fn name(&self) -> &'c str {
        self.tool.info.name()
    }

    /// The call as its handler sees it; its time begins.
    pub(crate) fn start(self, ticket: Option<Ticket>) -> Started<'c, 's, H> {
        let Ready { tool, call, accepted, timeout, clock, arena, .. } = self;
        let Accepted { value: arguments, repairs } = accepted;
        let memory = arena.take_rest();
        let spare = memory.len().saturating_sub(MIN_RESULT);
        // Strings with escapes are decoded on demand, into a quarter of what is left.
        let decode = if arguments.raw().contains('\\') { spare / 4 } else { spare.min(64) };
        let (decode, memory) = memory.split_at_mut_checked(decode).unwrap_or_default();
        let mut result = ToolResult::new(memory);
        result.set_repairs(repairs);
        let deadline = match (timeout, clock) {
            (Some(timeout), Some(clock)) => Deadline::after(clock.now(), timeout),
            _ => Deadline::NEVER,
        };
        let args = Args::new(arguments, Arena::new(decode));
        let waiter = ticket.map_or(Waiter::Nobody, Waiter::Table);
        let accepted = Call { id: call.id, name: tool.info.name(), args, deadline, clock, waiter };
        Started { handler: tool.handler, call, accepted, timeout, result }
    }
}

/// A call whose handler runs.
pub(crate) struct Started<'c, 's, H> {
    /// What runs it.
    pub(crate) handler: &'c H,
    /// The call as hooks left it.
    call: ToolCall<'s>,
    /// The call as its handler sees it.
    pub(crate) accepted: Call<'c>,
    timeout: Option<Duration>,
    /// What the handler appends to.
    pub(crate) result: ToolResult<'s>,
}

impl<'c, 's: 'c, H> Started<'c, 's, H> {
    /// What became of it when the handler gave `outcome`.
    pub(crate) fn end<K: Hook>(
        self,
        registry: &Registry<'_, H, K>,
        outcome: Poll<Result<(), Failure>>,
    ) -> Begun<'s> {
        let Started { call, accepted, timeout, mut result, .. } = self;
        let (name, deadline) = (accepted.name, accepted.deadline);
        let Poll::Ready(outcome) = outcome else {
            result.clear();
            return Begun::Pending { deadline, timeout, result };
        };
        if let (Some(timeout), Some(clock)) = (timeout, accepted.clock)
            && deadline.passed(clock.now())
        {
            result.fail(OutcomeKind::TimedOut, |sink| write_timed_out(name, timeout, sink));
            return Begun::Ended(result);
        }
        if let Err(failure) = outcome {
            write_failure(failure, &accepted.args, &mut result);
        }
        for hook in registry.hooks() {
            hook.after(&call, &mut result);
        }
        Begun::Ended(result)
    }
}

/// Makes `result` say that a handler gave up, unless the handler has said why already.
pub(crate) fn write_failure(failure: Failure, args: &Args<'_>, result: &mut ToolResult<'_>) {
    match failure {
        _ if result.failed() => {}
        Failure::Message(message) => result.error(message),
        Failure::Argument(error) => {
            let path = args.failed_path().unwrap_or_default();
            result.fail(OutcomeKind::ToolFailed, |sink| {
                match path {
                    "" => sink.put("Tool error: "),
                    path => quote(sink, "Tool error: argument '", path, "': "),
                }
                put_display(&error, sink);
            });
        }
    }
}

/// Appends what the model reads of a call that took too long.
pub(crate) fn write_timed_out(name: &str, timeout: Duration, sink: &mut Sink<'_>) {
    quote(sink, "[TOOL_TIMEOUT] Tool '", name, "' timed out after ");
    timeout.write_seconds(sink);
    sink.put("s");
}

/// How much of malformed arguments or a name the model is shown again, in bytes.
const RAW_SHOWN: usize = 200;
/// How much of the list of tools the model is shown, in bytes.
const AVAILABLE_SHOWN: usize = 1024;
/// The least room for a result.
const MIN_RESULT: usize = 64;

fn result_in<'s>(arena: &Arena<'s>, total: usize) -> Result<ToolResult<'s>, DispatchError> {
    check_room(arena, total)?;
    Ok(ToolResult::new(arena.take_rest()))
}

/// Whether what is left of `total` bytes has room for a result.
fn check_room(arena: &Arena<'_>, total: usize) -> Result<(), DispatchError> {
    let used = total.saturating_sub(arena.room());
    if total - used < MIN_RESULT {
        return Err(DispatchError::NoSpace { words: 0, bytes: used.saturating_add(MIN_RESULT) });
    }
    Ok(())
}

fn write_unknown<H, K: Hook>(registry: &Registry<'_, H, K>, name: &str, sink: &mut Sink<'_>) {
    let shown = name.get(..name.floor_char_boundary(RAW_SHOWN)).unwrap_or_default();
    quote(sink, "Tool error: Unknown tool: '", shown, "'. Available: ");
    let start = sink.len();
    for (index, name) in registry.names().enumerate() {
        if index > 0 {
            sink.put(", ");
        }
        if sink.len() - start + name.len() > AVAILABLE_SHOWN {
            sink.put("and ");
            sink.put_grouped((registry.len() - index) as u64);
            sink.put(" more");
            return;
        }
        sink.put(name);
    }
    if registry.is_empty() {
        sink.put("none");
    }
}

fn quote(sink: &mut Sink<'_>, before: &str, name: &str, after: &str) {
    sink.put(before);
    sink.put(name);
    sink.put(after);
}

fn put_display(error: &dyn core::fmt::Display, sink: &mut Sink<'_>) {
    core::fmt::Write::write_fmt(sink, format_args!("{error}")).ok();
}
