//! The arguments of a call on their way to the handler: repaired and coerced where that was asked for, checked
//! always.

use super::{DispatchError, DispatchOptions, RAW_SHOWN, put_display, quote, result_in};
use crate::arena::Arena;
use crate::call::ToolCall;
use crate::json::{self, RepairError, Repairs, Value, repair};
use crate::registry::Tool;
use crate::result::{OutcomeKind, ToolResult};
use crate::schema::{CheckError, CoerceError, CoerceOptions, Coercion, ListReport, Schema, Verdict, coerce};
use crate::sink::{NoSpace, Sink};

/// Arguments that passed the tool's schema, and what had to be repaired before.
pub(super) struct Accepted<'s> {
    pub(super) value: Value<'s>,
    pub(super) repairs: Repairs,
}

/// The accepted arguments, or the result that says why they are refused.
pub(super) fn accept<'s, H>(
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
    // Text that happens to be JSON, or none at all, was not meant as arguments either.
    if call.custom {
        return refuse(&mut |sink| {
            quote(sink, "Tool '", name, "' takes a JSON object of arguments, and was called with free text.");
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
    let (mut verdict, mut told) = checked(schema, text, options, words, &mut problems);
    // A strict mode has the model say null where it would leave a member out. What is valid as it came, as it
    // mostly is, pays nothing for that.
    if matches!(verdict, Ok(verdict) if !verdict.valid)
        && options.strict_nulls
        && tool.info.strict()
        && !tool.info.coerce()
        && text.contains("null")
    {
        let Some(without) = without_nulls(schema, call, text, options, words, arena, total)? else {
            return not_checked();
        };
        text = without;
        (verdict, told) = checked(schema, text, options, words, &mut problems);
    }
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
                out.put(
                    problems.get(..told).and_then(|told| core::str::from_utf8(told).ok()).unwrap_or_default(),
                );
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

/// The arguments without the nulls that stand for members which are absent; as they are if there is none.
/// Nothing if that was given up.
fn without_nulls<'s>(
    schema: Schema<'_>,
    call: &ToolCall<'_>,
    text: &'s str,
    options: &DispatchOptions<'_>,
    words: &mut [u32],
    arena: &Arena<'s>,
    total: usize,
) -> Result<Option<&'s str>, DispatchError> {
    let rules = CoerceOptions { check: options.check, nulls_only: true, ..CoerceOptions::default() };
    let mut changed = |change: &Coercion<'_>| {
        if let Some(changed) = options.changed {
            changed(call, change);
        }
    };
    coerced(schema, text, &rules, &mut changed, words, arena, total)
}

/// Checks arguments; gives the verdict, and how many bytes of problems were written.
fn checked(
    schema: Schema<'_>,
    text: &str,
    options: &DispatchOptions<'_>,
    words: &mut [u32],
    problems: &mut [u8],
) -> (Result<Verdict, CheckError>, usize) {
    let mut sink = Sink::new(problems);
    let mut report = ListReport::new(&mut sink);
    let verdict = schema.check_str(text, &options.check, words, &mut report);
    report.finish();
    (verdict, sink.len())
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
/// that was given up after changes were told, or before it was known which nulls are to go.
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
    let (mut any, mut given_up) = (true, false);
    let kept = arena.fill(|memory| match coerce(schema, text, options, words, memory, &mut tell) {
        Ok(Some(coerced)) => Ok(coerced.len()),
        Err(CoerceError::NoSpace { need }) => {
            Err(DispatchError::NoSpace { words: 0, bytes: used.saturating_add(need) })
        }
        Err(CoerceError::NoWork { need }) => Err(DispatchError::NoSpace { words: need, bytes: 0 }),
        // Nothing to change, or nothing that can be: the check says what is wrong.
        nothing => {
            given_up = options.nulls_only && nothing == Err(CoerceError::StepLimit);
            any = false;
            Ok(0)
        }
    })?;
    if any {
        return Ok(Some(core::str::from_utf8(kept).unwrap_or_default()));
    }
    Ok((!told && !given_up).then_some(text))
}
