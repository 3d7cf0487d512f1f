//! A model's reply in, the messages to send back out.
//!
//! [`answer`] parses the reply, runs every call and writes the results, in one pass over memory that the
//! caller hands in. It never runs a tool whose result could not be sent: the room that the results need
//! at the least is checked before the first call. After that every result is written; one that is too
//! long for what room there is gets cut, and says so. A call that cannot be dispatched once another has run
//! gets a result that says why. So no effect of a tool is lost because a buffer was small, and a host never
//! has to run a tool twice.

use crate::call::ToolCall;
use crate::dialect::{self, Dialect, Finish, MIN_ROOM, Reply, ReplyError, ReplyOptions};
use crate::dispatch::{Changed, DispatchError, DispatchOptions, dispatch};
use crate::json::Writer;
use crate::registry::{Hook, Registry};
use crate::result::{OutcomeKind, ToolResult, Usage};
use crate::schema::CheckOptions;
use crate::scratch::Scratch;
use crate::sink::{NoSpace, Sink};
use crate::time::{Clock, Duration};
use crate::tool::Handler;

/// What holds for a turn.
#[derive(Clone, Copy, Default)]
pub struct AnswerOptions<'o> {
    /// Where the time comes from; needed as soon as a timeout applies.
    pub clock: Option<&'o dyn Clock>,
    /// The timeout where neither the tool nor the registry sets one.
    pub timeout: Option<Duration>,
    /// The most calls that are run in a turn; the rest is answered with a text that says so.
    pub max_calls: Option<usize>,
    /// The most bytes of text that are kept of one result.
    pub result_limit: Option<usize>,
    /// Repair arguments that are nearly JSON; see [`DispatchOptions::lenient`].
    pub lenient: bool,
    /// Of arguments with the same name the last one counts; see [`DispatchOptions::last_wins`].
    pub last_wins: bool,
    /// Told each change that was made to arguments; see [`DispatchOptions::changed`].
    pub changed: Option<Changed<'o>>,
    /// Leave the enclosing brackets out, so that the messages can be pasted into a list.
    pub bare: bool,
    /// Which turn of the conversation it is; see [`ReplyOptions::turn`]. A reply that was read before has its
    /// ids already.
    pub turn: u32,
    /// How replies and arguments are read and checked.
    pub check: CheckOptions,
}

/// What became of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Why the reply ended. No call of one that was refused or malformed has run.
    pub finish: Finish,
    /// Calls in the reply. None: nothing was written. If it is complete, the model has said all; if it is
    /// [`Finish::Paused`], its turn goes back and the model goes on.
    pub calls: usize,
    /// Calls whose tool ran and answered.
    pub answered: usize,
    /// Calls that the model was told had failed.
    pub failed: usize,
    /// What the runs cost.
    pub usage: Usage,
}

/// Why a turn was not answered. No tool has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum AnswerError {
    /// The reply could not be read.
    #[error("{0}")]
    Reply(ReplyError),
    /// The output has no room for the least that the results take. No tool has run.
    #[error("the output is too small, no tool was run: {0}")]
    NoSpace(NoSpace),
    /// A call could not be dispatched, and no tool has run before it.
    #[error("the call at index {call}: {error}")]
    Dispatch {
        /// The call's place in the reply.
        call: usize,
        /// Why.
        error: DispatchError,
    },
}
impl core::error::Error for AnswerError {}

/// Runs every call of `reply` and writes the messages to append to the conversation to `sink`: a JSON
/// array, for MCP one `CallToolResult`. `observe` is told each call and its result.
///
/// With an empty `sink` no tool runs, and the error tells how many bytes the results take at the least;
/// give more, or results are cut.
pub fn answer<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    reply: &[u8],
    options: &AnswerOptions<'_>,
    scratch: Scratch<'_>,
    sink: &mut Sink<'_>,
    observe: &mut dyn FnMut(&ToolCall<'_>, &ToolResult<'_>),
) -> Result<Outcome, AnswerError> {
    let reading = ReplyOptions { json: options.check.json, turn: options.turn };
    let parsed = dialect::parse_reply(dialect, reply, reading, scratch);
    let (reply, scratch) = parsed.map_err(AnswerError::Reply)?;
    answer_reply(registry, &reply, options, scratch, sink, observe)
}

/// [`answer`] for a reply that was read before, as a stream's reply is. `scratch` is what is left of the
/// memory after reading it.
pub fn answer_reply<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    reply: &Reply<'_>,
    options: &AnswerOptions<'_>,
    mut scratch: Scratch<'_>,
    sink: &mut Sink<'_>,
    observe: &mut dyn FnMut(&ToolCall<'_>, &ToolResult<'_>),
) -> Result<Outcome, AnswerError> {
    let dialect = reply.dialect();
    let mut outcome = Outcome { finish: reply.finish(), calls: reply.len(), ..Outcome::default() };
    if reply.is_empty() {
        return Ok(outcome);
    }
    let envelope = envelope(dialect, reply, options.bare);
    let need = envelope.saturating_add(reply.len().saturating_mul(MIN_ROOM));
    if sink.room() < need {
        return Err(AnswerError::NoSpace(NoSpace { need: sink.len() + need }));
    }
    check_clock(registry, dialect, reply, options)?;
    let mut spare = sink.room() - need;
    let start = sink.len();
    let mut out = Writer::new(sink);
    dialect.wire().results_start(options.bare, &mut out);
    let each = DispatchOptions {
        clock: options.clock,
        timeout: options.timeout,
        lenient: options.lenient,
        last_wins: options.last_wins,
        changed: options.changed,
        names: Some(dialect.name_rule()),
        strict_nulls: dialect.makes_nullable(),
        check: options.check,
    };
    let mut any_ran = false;
    for (index, call) in reply.calls().enumerate() {
        let mut memory = [0u8; 256];
        let over = options.max_calls.filter(|max| index >= *max);
        let result = match over {
            Some(max) => Ok(over_limit(max, &mut memory)),
            None => dispatch(registry, &call, &each, scratch.reborrow()),
        };
        let result = match result {
            Ok(result) => result,
            Err(error) if any_ran => not_executed(&call, error, &mut memory),
            Err(error) => {
                out.sink().truncate(start);
                return Err(AnswerError::Dispatch { call: index, error });
            }
        };
        any_ran |=
            matches!(result.kind(), OutcomeKind::Answered | OutcomeKind::ToolFailed | OutcomeKind::TimedOut);
        observe(&call, &result);
        outcome.usage.add(result.usage());
        if result.failed() {
            outcome.failed += 1;
        }
        if result.kind() == OutcomeKind::Answered {
            outcome.answered += 1;
        }
        // An even share of what is spare, on top of what is kept for each.
        let share = spare / (reply.len() - index);
        let bare_size = result_size(dialect, &call);
        let before = out.sink().len();
        let room = Some(bare_size + MIN_ROOM + share);
        dialect::render_one(dialect, call.wire_id, &call, &result, options.result_limit, room, &mut out);
        let written = out.sink().len() - before;
        spare = spare.saturating_sub(written.saturating_sub(bare_size + MIN_ROOM));
    }
    dialect.wire().results_end(options.bare, &mut out);
    if sink.overflowed() {
        // Cannot happen: each result kept to its room. Better an error than half a message.
        let need = sink.len();
        sink.truncate(start);
        return Err(AnswerError::NoSpace(NoSpace { need }));
    }
    Ok(outcome)
}

/// Finds out before the first call whether one of them needs a clock that is not there.
fn check_clock<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    reply: &Reply<'_>,
    options: &AnswerOptions<'_>,
) -> Result<(), AnswerError> {
    if options.clock.is_some() {
        return Ok(());
    }
    for (call, entry) in reply.calls().enumerate().take(options.max_calls.unwrap_or(usize::MAX)) {
        let tool = dialect::resolve(registry, dialect.name_rule(), entry.name).and_then(|at| registry.at(at));
        if tool.is_some_and(|tool| tool.info.timeout().or(options.timeout).is_some()) {
            return Err(AnswerError::Dispatch { call, error: DispatchError::NoClock });
        }
    }
    Ok(())
}

/// The result of a call that cannot be dispatched while others have run.
fn not_executed<'b>(call: &ToolCall<'_>, error: DispatchError, memory: &'b mut [u8]) -> ToolResult<'b> {
    let mut result = ToolResult::new(memory);
    result.fail(OutcomeKind::ToolFailed, |sink| {
        let text = format_args!("Tool error: Tool '{}' was not executed: {error}", call.name);
        core::fmt::Write::write_fmt(sink, text).ok();
    });
    result
}

/// The result of a call that is not run because the turn has too many.
fn over_limit(max: usize, memory: &mut [u8]) -> ToolResult<'_> {
    let mut result = ToolResult::new(memory);
    result.fail(OutcomeKind::OverLimit, |sink| {
        sink.put("Not executed: at most ");
        sink.put_u64(max as u64);
        sink.put(" tool call(s) per turn allowed.");
    });
    result
}

/// Bytes of the messages without any result's content.
fn envelope(dialect: Dialect, reply: &Reply<'_>, bare: bool) -> usize {
    let mut measure = Sink::measure();
    let mut out = Writer::new(&mut measure);
    dialect.wire().results_start(bare, &mut out);
    dialect.wire().results_end(bare, &mut out);
    let results = reply.calls().map(|call| result_size(dialect, &call));
    measure.len() + results.sum::<usize>()
}

/// Bytes of a failed result without a text, and the comma before it.
fn result_size(dialect: Dialect, call: &ToolCall<'_>) -> usize {
    let mut empty = ToolResult::new(&mut []);
    empty.fail(OutcomeKind::ToolFailed, |_| {});
    let mut measure = Sink::measure();
    let mut out = Writer::new(&mut measure);
    dialect::render_one(dialect, call.wire_id, call, &empty, None, None, &mut out);
    measure.len() + 1
}
