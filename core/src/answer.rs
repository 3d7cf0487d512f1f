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
    /// The most calls of a [`Turn`](crate::turn::Turn) that wait for their answers at once; `None` for
    /// [`SIDE_BY_SIDE`](crate::turn::SIDE_BY_SIDE). [`answer`] runs one after the other.
    pub side_by_side: Option<usize>,
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
    let mut outcome = Outcome::of(reply);
    if reply.is_empty() {
        return Ok(outcome);
    }
    let mut messages = Messages::begin(reply, options, sink).map_err(AnswerError::NoSpace)?;
    if let Err((call, error)) = check_clock(registry, reply, options) {
        messages.discard();
        return Err(AnswerError::Dispatch { call, error });
    }
    let each = dispatch_options(dialect, options);
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
                messages.discard();
                return Err(AnswerError::Dispatch { call: index, error });
            }
        };
        any_ran |=
            matches!(result.kind(), OutcomeKind::Answered | OutcomeKind::ToolFailed | OutcomeKind::TimedOut);
        observe(&call, &result);
        outcome.add(&result);
        messages.add(&call, &result);
    }
    messages.end().map_err(AnswerError::NoSpace)?;
    Ok(outcome)
}

impl Outcome {
    /// That of a turn of which nothing has ended yet.
    pub(crate) fn of(reply: &Reply<'_>) -> Self {
        Outcome { finish: reply.finish(), calls: reply.len(), ..Outcome::default() }
    }

    /// Counts a result in.
    pub(crate) fn add(&mut self, result: &ToolResult<'_>) {
        self.usage.add(result.usage());
        if result.failed() {
            self.failed += 1;
        }
        if result.kind() == OutcomeKind::Answered {
            self.answered += 1;
        }
    }
}

/// What holds for each call of a turn.
pub(crate) fn dispatch_options<'o>(dialect: Dialect, options: &AnswerOptions<'o>) -> DispatchOptions<'o> {
    DispatchOptions {
        clock: options.clock,
        timeout: options.timeout,
        lenient: options.lenient,
        last_wins: options.last_wins,
        changed: options.changed,
        names: Some(dialect.name_rule()),
        strict_nulls: dialect.makes_nullable(),
        check: options.check,
    }
}

/// The messages that answer the calls of a reply, written one result after the other, each cut to its share of
/// the room.
pub(crate) struct Messages<'a, 's> {
    dialect: Dialect,
    bare: bool,
    limit: Option<usize>,
    /// Results that are to come.
    left: usize,
    /// Room beside what is kept for each of them.
    spare: usize,
    start: usize,
    out: Writer<'a, 's>,
}

impl<'a, 's> Messages<'a, 's> {
    /// Begins them, if `sink` has the least room that they take.
    pub(crate) fn begin(
        reply: &Reply<'_>,
        options: &AnswerOptions<'_>,
        sink: &'a mut Sink<'s>,
    ) -> Result<Self, NoSpace> {
        let least = reply.len().saturating_mul(MIN_ROOM);
        let need = envelope(reply.dialect(), reply, options.bare).saturating_add(least);
        if sink.room() < need {
            return Err(NoSpace { need: sink.len() + need });
        }
        let spare = sink.room() - need;
        Ok(Messages { spare, ..Self::unbounded(reply, options, sink) })
    }

    /// Begins them with room for all.
    pub(crate) fn unbounded(reply: &Reply<'_>, options: &AnswerOptions<'_>, sink: &'a mut Sink<'s>) -> Self {
        let (dialect, bare, left, start) = (reply.dialect(), options.bare, reply.len(), sink.len());
        let mut out = Writer::new(sink);
        dialect.wire().results_start(bare, &mut out);
        Messages { dialect, bare, limit: options.result_limit, left, spare: usize::MAX / 2, start, out }
    }

    /// Adds the result of the next call.
    pub(crate) fn add(&mut self, call: &ToolCall<'_>, result: &ToolResult<'_>) {
        let Messages { dialect, limit, left, spare, ref mut out, .. } = *self;
        // An even share of what is spare, on top of what is kept for each.
        let kept = result_size(dialect, call) + MIN_ROOM;
        let room = Some(kept + spare / left.max(1));
        let before = out.sink().len();
        dialect::render_one(dialect, call.wire_id, call, result, limit, room, out);
        let written = out.sink().len() - before;
        self.spare = spare.saturating_sub(written.saturating_sub(kept));
        self.left = left.saturating_sub(1);
    }

    /// Ends them.
    pub(crate) fn end(mut self) -> Result<(), NoSpace> {
        self.dialect.wire().results_end(self.bare, &mut self.out);
        let sink = self.out.sink();
        if sink.overflowed() {
            // Cannot happen: each result kept to its room. Better an error than half a message.
            let need = sink.len();
            sink.truncate(self.start);
            return Err(NoSpace { need });
        }
        Ok(())
    }

    /// Takes back what was written.
    fn discard(mut self) {
        self.out.sink().truncate(self.start);
    }
}

/// Finds out before the first call whether one of them needs a clock that is not there; gives its place.
pub(crate) fn check_clock<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    reply: &Reply<'_>,
    options: &AnswerOptions<'_>,
) -> Result<(), (usize, DispatchError)> {
    if options.clock.is_some() {
        return Ok(());
    }
    let names = reply.dialect().name_rule();
    for (call, entry) in reply.calls().enumerate().take(options.max_calls.unwrap_or(usize::MAX)) {
        let tool = dialect::resolve(registry, names, entry.name).and_then(|at| registry.at(at));
        if tool.is_some_and(|tool| tool.info.timeout().or(options.timeout).is_some()) {
            return Err((call, DispatchError::NoClock));
        }
    }
    Ok(())
}

/// The result of a call that cannot be dispatched while others have run.
fn not_executed<'b>(call: &ToolCall<'_>, error: DispatchError, memory: &'b mut [u8]) -> ToolResult<'b> {
    let mut result = ToolResult::new(memory);
    result.fail(OutcomeKind::ToolFailed, |sink| write_not_executed(call.name, error, sink));
    result
}

/// Appends what the model reads of a call that cannot be dispatched while others have run.
pub(crate) fn write_not_executed(name: &str, error: DispatchError, sink: &mut Sink<'_>) {
    let text = format_args!("Tool error: Tool '{name}' was not executed: {error}");
    core::fmt::Write::write_fmt(sink, text).ok();
}

/// The result of a call that is not run because the turn has too many.
fn over_limit(max: usize, memory: &mut [u8]) -> ToolResult<'_> {
    let mut result = ToolResult::new(memory);
    result.fail(OutcomeKind::OverLimit, |sink| write_over_limit(max, sink));
    result
}

/// Appends what the model reads of a call that is not run because the turn has too many.
pub(crate) fn write_over_limit(max: usize, sink: &mut Sink<'_>) {
    sink.put("Not executed: at most ");
    sink.put_u64(max as u64);
    sink.put(" tool call(s) per turn allowed.");
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
