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
//! failure.

use crate::arena::Arena;
use crate::call::{Args, Call, ToolCall};
use crate::dialect::{NameRule, resolve};
use crate::json::{self, RepairError, Repairs, Value, repair};
use crate::registry::{Draft, Hook, Registry, Tool, Verdict};
use crate::result::{OutcomeKind, ToolResult};
use crate::schema::{
    CheckError, CheckOptions, CoerceError, CoerceOptions, Coercion, ListReport, Schema, coerce,
};
use crate::scratch::Scratch;
use crate::sink::{NoSpace, Sink};
use crate::time::{Clock, Deadline, Duration};
use crate::tool::{Failure, Handler};

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
pub fn dispatch<'s, H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    call: &ToolCall<'s>,
    options: &DispatchOptions<'_>,
    scratch: Scratch<'s>,
) -> Result<ToolResult<'s>, DispatchError> {
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
            return Ok(result);
        }
    }
    let call = draft.call();
    let position = match options.names {
        Some(rule) => resolve(registry, rule, call.name),
        None => registry.position(call.name),
    };
    let Some(tool) = position.and_then(|position| registry.at(position)) else {
        let mut result = result_in(&arena, total)?;
        result.fail(OutcomeKind::UnknownTool, |sink| write_unknown(registry, call.name, sink));
        return Ok(result);
    };
    let timeout = tool.info.timeout().or(options.timeout);
    if timeout.is_some() && options.clock.is_none() {
        return Err(DispatchError::NoClock);
    }
    let accepted = accept(&tool, &call, options, words, &arena, total)?;
    match accepted {
        Err(result) => Ok(result),
        Ok(accepted) => {
            check_room(&arena, total)?;
            run(registry, &tool, &call, accepted, timeout, options.clock, arena)
        }
    }
}

/// Runs the handler over accepted arguments, within its time.
fn run<'s, H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    tool: &Tool<'_, H>,
    call: &ToolCall<'s>,
    Accepted { value: arguments, repairs }: Accepted<'s>,
    timeout: Option<Duration>,
    clock: Option<&dyn Clock>,
    arena: Arena<'s>,
) -> Result<ToolResult<'s>, DispatchError> {
    let name = tool.info.name();
    let memory = arena.take_rest();
    let spare = memory.len().saturating_sub(MIN_RESULT);
    // Strings with escapes are decoded on demand, into a quarter of what is left.
    let decode = if arguments.raw().contains('\\') { spare / 4 } else { spare.min(64) };
    let (decode, memory) = memory.split_at_mut_checked(decode).unwrap_or_default();
    let mut result = ToolResult::new(memory);
    result.set_repairs(repairs);
    let now = || clock.map(Clock::now).unwrap_or_default();
    let deadline = timeout.map_or(Deadline::NEVER, |timeout| Deadline::after(now(), timeout));
    let accepted =
        Call { id: call.id, name, args: Args::new(arguments, Arena::new(decode)), deadline, clock };
    let outcome = tool.handler.run(&accepted, &mut result);
    if let Some(timeout) = timeout.filter(|_| deadline.passed(now())) {
        result.fail(OutcomeKind::TimedOut, |sink| {
            quote(sink, "[TOOL_TIMEOUT] Tool '", name, "' timed out after ");
            timeout.write_seconds(sink);
            sink.put("s");
        });
        return Ok(result);
    }
    match outcome {
        Ok(()) => {}
        // The handler has said why already.
        Err(_) if result.failed() => {}
        Err(Failure::Message(message)) => result.error(message),
        Err(Failure::Argument(error)) => {
            let path = accepted.args.failed_path().unwrap_or_default();
            result.fail(OutcomeKind::ToolFailed, |sink| {
                match path {
                    "" => sink.put("Tool error: "),
                    path => quote(sink, "Tool error: argument '", path, "': "),
                }
                put_display(&error, sink);
            });
        }
    }
    for hook in registry.hooks() {
        hook.after(call, &mut result);
    }
    Ok(result)
}

/// Arguments that passed the tool's schema, and what had to be repaired before.
struct Accepted<'s> {
    value: Value<'s>,
    repairs: Repairs,
}

/// The accepted arguments, or the result that says why they are refused.
fn accept<'s, H: Handler>(
    tool: &Tool<'_, H>,
    call: &ToolCall<'s>,
    options: &DispatchOptions<'_>,
    words: &mut [u32],
    arena: &Arena<'s>,
    total: usize,
) -> Result<Result<Accepted<'s>, ToolResult<'s>>, DispatchError> {
    let name = tool.info.name();
    let refuse = |write: &mut dyn FnMut(&mut Sink<'_>)| {
        let mut result = result_in(arena, total)?;
        result.fail(OutcomeKind::BadArguments, |sink| {
            sink.put("Tool error: ");
            write(sink);
        });
        Ok(Err(result))
    };
    let not_checked = || {
        refuse(&mut |sink| {
            quote(sink, "The arguments for '", name, "' could not be checked within the budget of steps.");
        })
    };
    if call.truncated {
        return refuse(&mut |sink| {
            quote(sink, "Tool '", name, "' was not executed: the reply was cut off, refused or malformed.");
        });
    }
    let mut text = call.arguments;
    // No arguments at all, blanks or `null` mean an empty object.
    if matches!(text.trim_matches([' ', '\t', '\r', '\n']), "" | "null") {
        text = "{}";
    }
    let mut repairs = Repairs::default();
    if options.lenient {
        (text, repairs) = repaired(text, options, arena, total)?;
    }
    let schema = tool.info.parameters();
    let last_wins = options.last_wins || tool.info.last_wins();
    if tool.info.coerce() || last_wins {
        let rules = CoerceOptions {
            check: options.check,
            last_wins,
            keep_values: !tool.info.coerce(),
            ..CoerceOptions::default()
        };
        let mut changed = |change: &Coercion<'_>| {
            if let Some(changed) = options.changed {
                changed(call, change);
            }
        };
        match coerced(schema, text, &rules, &mut changed, words, arena, total)? {
            Some(coerced) => text = coerced,
            None => return not_checked(),
        }
    }
    let mut problems = [0u8; 768];
    let mut sink = Sink::new(&mut problems);
    let mut report = ListReport::new(&mut sink);
    let verdict = schema.check_str(text, &options.check, words, &mut report);
    report.finish();
    let value = Value::from_checked(text);
    match verdict {
        Ok(verdict) if verdict.valid && value.kind() == json::Kind::Object => {
            Ok(Ok(Accepted { value, repairs }))
        }
        Ok(verdict) => refuse(&mut |out| {
            quote(out, "Invalid arguments for '", name, "': ");
            if verdict.valid {
                out.put("expected object, got ");
                out.put(value.kind().name());
            } else {
                out.put(sink.text().unwrap_or_default());
            }
        }),
        Err(CheckError::Json(error)) => refuse(&mut |out| {
            quote(out, "Tool '", name, "' received malformed JSON arguments (");
            put_display(&error, out);
            out.put("). Raw arguments: '");
            let shown = call.arguments.floor_char_boundary(RAW_SHOWN);
            out.put(call.arguments.get(..shown).unwrap_or_default());
            out.put(if shown < call.arguments.len() { "…'" } else { "'" });
        }),
        Err(CheckError::NoWork { need }) => Err(DispatchError::NoSpace { words: need, bytes: 0 }),
        Err(CheckError::StepLimit) => not_checked(),
        Err(error) => refuse(&mut |out| {
            quote(out, "Invalid arguments for '", name, "': ");
            put_display(&error, out);
        }),
    }
}

/// The arguments with what is nearly JSON made JSON; as they are if that cannot be done.
fn repaired<'s>(
    text: &'s str,
    options: &DispatchOptions<'_>,
    arena: &Arena<'s>,
    total: usize,
) -> Result<(&'s str, Repairs), DispatchError> {
    let used = total.saturating_sub(arena.room());
    let mut repairs = Repairs::default();
    let mut inside = None;
    let kept = arena.fill(|memory| match repair(text, &options.check.json, memory) {
        Ok(repaired) => {
            repairs = repaired.repairs;
            let raw = repaired.value.raw();
            // The value stands in the text as it came, or at the start of the memory.
            let start = (raw.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
            inside =
                text.get(start..start.saturating_add(raw.len())).filter(|same| same.as_ptr() == raw.as_ptr());
            Ok(if inside.is_some() { 0 } else { raw.len() })
        }
        Err(RepairError::Json(_)) => {
            inside = Some(text);
            Ok(0)
        }
        Err(RepairError::NoSpace(NoSpace { need })) => {
            Err(DispatchError::NoSpace { words: 0, bytes: used.saturating_add(need) })
        }
    })?;
    Ok((inside.unwrap_or_else(|| core::str::from_utf8(kept).unwrap_or_default()), repairs))
}

/// The arguments with what nearly fits the schema made to fit; as they are if they are not JSON. Nothing if
/// that was given up after changes were told.
fn coerced<'s>(
    schema: Schema<'_>,
    text: &'s str,
    options: &CoerceOptions,
    changed: &mut dyn FnMut(&Coercion<'_>),
    words: &mut [u32],
    arena: &Arena<'s>,
    total: usize,
) -> Result<Option<&'s str>, DispatchError> {
    let used = total.saturating_sub(arena.room());
    let mut told = false;
    let mut tell = |change: &Coercion<'_>| {
        told = true;
        changed(change);
    };
    let mut any = true;
    let kept = arena.fill(|memory| match coerce(schema, text, options, words, memory, &mut tell) {
        Ok(Some(coerced)) => Ok(coerced.len()),
        Err(CoerceError::NoSpace { need }) => {
            Err(DispatchError::NoSpace { words: 0, bytes: used.saturating_add(need) })
        }
        Err(CoerceError::NoWork { need }) => Err(DispatchError::NoSpace { words: need, bytes: 0 }),
        // Nothing to change, or nothing that can be: the check says what is wrong.
        Ok(None) | Err(_) => {
            any = false;
            Ok(0)
        }
    })?;
    if any {
        return Ok(Some(core::str::from_utf8(kept).unwrap_or_default()));
    }
    Ok((!told).then_some(text))
}

/// How much of malformed arguments the model is shown again, in bytes.
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
