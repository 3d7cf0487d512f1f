//! A model's reply in, the messages to send back out.

use core::ffi::{c_char, c_void};

use toolcore_core::answer::{AnswerError, AnswerOptions, Outcome, answer, answer_reply};
use toolcore_core::call::ToolCall;
use toolcore_core::dialect::{Dialect, Reply};
use toolcore_core::result::ToolResult;
use toolcore_core::schema::Coercion;
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Caller, Output, Span, sized_struct, toolcore_str_t};
use crate::call::toolcore_tool_call_t;
use crate::callback::{HostClock, observe, tell_change};
use crate::clock::{clock, toolcore_clock_t};
use crate::dialect::known_dialect;
use crate::guard::{Fail, UNKNOWN, Why, guard};
use crate::registry::{timeout, toolcore_registry_t};
use crate::reply::{ReplyBody, finish_of, refused, toolcore_reply_t};
use crate::result::toolcore_result_t;
use crate::schema::check_options;
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// toolcore_answer_opts_t.flags: leave the enclosing brackets out, to paste the messages into a list.
pub const TOOLCORE_ANSWER_BARE: u32 = 1;
/// toolcore_answer_opts_t.flags: repair arguments that are nearly JSON; see TOOLCORE_DISPATCH_LENIENT.
pub const TOOLCORE_ANSWER_LENIENT: u32 = 2;
/// toolcore_answer_opts_t.flags: of arguments with the same name the last one counts, for every tool; see
/// TOOLCORE_TOOL_LAST_WINS.
pub const TOOLCORE_ANSWER_LAST_WINS: u32 = 4;

/// What holds for a turn. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_answer_opts_t {
    /// sizeof(toolcore_answer_opts_t)
    pub struct_size: usize,
    /// Where the time comes from; needed as soon as a timeout applies.
    pub clock: *const toolcore_clock_t,
    /// The most calls that are run; the others are answered with a text that says so. 0 for no limit.
    pub max_calls: usize,
    /// The most bytes of text that are kept of one result; 0 for no limit.
    pub result_limit: usize,
    /// Told each call and what became of it, a TOOLCORE_OUTCOME_; all valid until it returns. NULL if nobody
    /// wants to know.
    pub observe: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            call: *const toolcore_tool_call_t,
            outcome_kind: u32,
            result: *const toolcore_result_t,
        ),
    >,
    /// Told each change that was made to the arguments, for tools with TOOLCORE_TOOL_COERCE and where the last
    /// of two wins: the tool's name as the model wrote it, the place as a JSON Pointer, and the rule, such as
    /// "integer-from-string" or "duplicate-removed"; all valid until it returns. NULL if nobody wants to know.
    pub changed: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            tool: toolcore_str_t,
            path: toolcore_str_t,
            rule: toolcore_str_t,
        ),
    >,
    /// Given to `observe` and `changed`.
    pub user_data: *mut c_void,
    /// Must be 0.
    pub reserved2: usize,
    /// TOOLCORE_ANSWER_ flags.
    pub flags: u32,
    /// How deep replies and arguments may be nested; 0 for the default, 128.
    pub max_depth: u32,
    /// Steps that the check of one call's arguments may take; 0 for the default, 1,000,000.
    pub max_steps: u32,
    /// Which turn of the conversation it is; see toolcore_reply_opts_t. A reply that was read before has its ids
    /// already.
    pub turn: u32,
    /// The timeout where neither the tool nor the registry sets one; 0 for none.
    pub timeout_ms: u64,
}

/// What became of a turn; filled in by toolcore_answer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_outcome_t {
    /// sizeof(toolcore_outcome_t)
    pub struct_size: usize,
    /// Calls in the reply. None: nothing was written. If `finish` is COMPLETE, the model has said all.
    pub calls: usize,
    /// Calls whose tool ran and answered.
    pub answered: usize,
    /// Calls that the model was told had failed.
    pub failed: usize,
    /// Sum of what results were given with toolcore_result_usage: tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from a cache, part of the input.
    pub cached_tokens: u64,
    /// Tokens thought, part of the output.
    pub thinking_tokens: u64,
    /// Cost in millionths of the currency's unit.
    pub cost_micros: u64,
    /// Sum of the latencies; not measured.
    pub latency_ms: u64,
    /// Why the reply ended, one of TOOLCORE_FINISH_. No call of one that was refused or malformed has run; the turn
    /// of one that is PAUSED goes back, and the model goes on.
    pub finish: u32,
    /// 0
    pub reserved: u32,
}

/// Runs every call of a model's reply and writes the messages to append to the conversation: a JSON array;
/// for MCP one CallToolResult. What the model did wrong is told to the model and is no error here.
///
/// A quarter of `scratch` holds 40 bytes for each call and the checker's stack (32 bytes and more for each level
/// that a call's arguments have; see toolcore_schema_scratch_size), the rest the arguments that have to be
/// decoded, and one result at a time. It is free again when this returns.
///
/// The least room that the results take is checked before any tool runs: (NULL, 0) measures it and runs
/// nothing, a smaller buffer gives ERR_NO_SPACE and runs nothing. With at least that room every result is
/// written; one that is too long for what there is gets cut and says so.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE for `buf` (then *out_len is the least) or `scratch` (then *out_len is
/// 0, and why.need bytes are enough for what was tried); ERR_BAD_JSON; ERR_BAD_REPLY; ERR_PROVIDER (its words are in
/// why.message); ERR_NO_CLOCK; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT, also if two of reply, scratch and buffer overlap.
/// Tools have run only on OK: once one has, a call that cannot be dispatched is answered with a text that
/// says so. Pre-hooks, `changed` and `observe` may have run before ERR_NO_SPACE for scratch or ERR_NO_CLOCK.
/// `outcome` may be NULL; it is filled in on OK. Nothing is kept.
/// Threads: any, each with scratch and output of its own.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_answer(
    registry: *const toolcore_registry_t,
    dialect: u32,
    reply: toolcore_str_t,
    opts: *const toolcore_answer_opts_t,
    scratch: *mut c_void,
    scratch_len: usize,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    outcome: *mut toolcore_outcome_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let working = Span::new(scratch, scratch_len);
        let output = c.output_beside(buf, len, out_len, [Span::of_text(reply), working])?;
        let source = |c: Caller| {
            let dialect = known_dialect(dialect)?;
            Ok(Source::Text(dialect, c.apart_from(working).bytes(reply.ptr.cast(), reply.len)?))
        };
        turn(c, registry, source, opts, (scratch, scratch_len), output, outcome, why)
    })
}

/// toolcore_answer for a reply that was read before: a whole one, or one that was streamed. `scratch` holds what it
/// does there but the calls, which the reply has.
///
/// Returns what toolcore_answer returns, but none of ERR_BAD_JSON, ERR_BAD_REPLY and ERR_PROVIDER. Nothing is kept.
/// Threads: any, each with scratch and output of its own.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_answer_reply(
    registry: *const toolcore_registry_t,
    reply: *const toolcore_reply_t,
    opts: *const toolcore_answer_opts_t,
    scratch: *mut c_void,
    scratch_len: usize,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    outcome: *mut toolcore_outcome_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let working = Span::new(scratch, scratch_len);
        let read = c.object(reply).map_or([Span::NOWHERE; 2], ReplyBody::read);
        let output = c.output_beside(buf, len, out_len, read.into_iter().chain([working]))?;
        let source = |c: Caller| {
            let reply = &c.object(reply)?.reply;
            read.into_iter().try_for_each(|read| c.apart_from(working).apart(read))?;
            Ok(Source::Read(reply))
        };
        turn(c, registry, source, opts, (scratch, scratch_len), output, outcome, why)
    })
}

/// What a turn answers.
enum Source<'m> {
    Text(Dialect, &'m [u8]),
    Read(&'m Reply<'static>),
}

/// Answers what `source` gives.
fn turn<'m>(
    c: Caller,
    registry: *const toolcore_registry_t,
    source: impl FnOnce(Caller) -> Result<Source<'m>, Fail>,
    opts: *const toolcore_answer_opts_t,
    (scratch, scratch_len): (*mut c_void, usize),
    mut output: Output<'_>,
    outcome: *mut toolcore_outcome_t,
    why: &mut Why,
) -> Result<(), Fail> {
    let outcome = c.out_struct_or_none(outcome)?;
    let registry = c.object(registry)?;
    let source = source(c)?;
    let opts = c.options(opts)?;
    let clock = clock(c, opts.clock)?;
    let changed = |call: &ToolCall<'_>, change: &Coercion<'_>| {
        tell_change(opts.changed, opts.user_data, call, change);
    };
    let options = AnswerOptions { changed: Some(&changed), ..options(&opts, clock.as_ref())? };
    let scratch = c.scratch(scratch, scratch_len)?;
    let mut tell = |call: &ToolCall<'_>, result: &ToolResult<'_>| {
        observe(opts.observe, opts.user_data, call, result);
    };
    let mut sink = Sink::new(output.buffer());
    let answered = match source {
        Source::Text(dialect, reply) => {
            answer(registry, dialect, reply, &options, scratch, &mut sink, &mut tell)
        }
        Source::Read(reply) => answer_reply(registry, reply, &options, scratch, &mut sink, &mut tell),
    };
    match (answered, source) {
        (Ok(done), _) => {
            let len = sink.len();
            if let Some(outcome) = outcome {
                outcome.set(toolcore_outcome_t::of(&done));
            }
            output.finish(len)
        }
        (Err(AnswerError::NoSpace(NoSpace { need })), _) => {
            why.need = need;
            output.finish(need)
        }
        (Err(AnswerError::Reply(error)), Source::Text(_, reply)) => {
            Err(refused(why, error, reply, &options.check.json))
        }
        (Err(error), _) => {
            let fail = why.error(error);
            if let AnswerError::Dispatch { .. } = error
                && why.need > 0
            {
                why.need = why.need.saturating_add(scratch_len);
            }
            Err(fail)
        }
    }
}

sized_struct!(toolcore_answer_opts_t);
sized_struct!(toolcore_outcome_t);

pub(crate) fn options<'o>(
    opts: &toolcore_answer_opts_t,
    clock: Option<&'o HostClock>,
) -> Result<AnswerOptions<'o>, Fail> {
    if opts.flags & !(TOOLCORE_ANSWER_BARE | TOOLCORE_ANSWER_LENIENT | TOOLCORE_ANSWER_LAST_WINS) != 0
        || opts.reserved2 != 0
    {
        return Err(UNKNOWN);
    }
    Ok(AnswerOptions {
        clock: clock.map(|clock| clock as _),
        timeout: timeout(opts.timeout_ms),
        max_calls: (opts.max_calls != 0).then_some(opts.max_calls),
        result_limit: (opts.result_limit != 0).then_some(opts.result_limit),
        lenient: opts.flags & TOOLCORE_ANSWER_LENIENT != 0,
        last_wins: opts.flags & TOOLCORE_ANSWER_LAST_WINS != 0,
        bare: opts.flags & TOOLCORE_ANSWER_BARE != 0,
        turn: opts.turn,
        check: check_options(opts.max_depth, 0, opts.max_steps)?,
        ..AnswerOptions::default()
    })
}

impl toolcore_outcome_t {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        toolcore_outcome_t {
            struct_size: 0,
            calls: outcome.calls,
            answered: outcome.answered,
            failed: outcome.failed,
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
            cached_tokens: outcome.usage.cached_tokens,
            thinking_tokens: outcome.usage.thinking_tokens,
            cost_micros: outcome.usage.cost_micros,
            latency_ms: outcome.usage.latency.as_millis(),
            finish: finish_of(outcome.finish),
            reserved: 0,
        }
    }
}
