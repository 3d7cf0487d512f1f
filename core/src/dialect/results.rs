//! Writing results so that the provider takes them and nothing is lost in silence.
//!
//! Every call gets exactly one result, in the order of the calls. A failure keeps its flag where the
//! provider has one and always says so in its text. What is too long is cut at a character and says how
//! much: `… [truncated, 1,204 of 9,310 bytes]`.

pub(super) use super::budget::{Budget, write_part, write_parts_of, write_text_of};
use super::{Calls, Dialect, LeftOut, WireName, ids};
use crate::call::ToolCall;
use crate::json::Writer;
use crate::result::{OutcomeKind, ToolResult};
use crate::sink::{NoSpace, Sink};

/// Room that is kept for each result of a turn, beside its envelope: enough for any notice.
pub(crate) const MIN_ROOM: usize = 112;

/// How results are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultsOptions {
    /// The most bytes of text that are kept of one result; `None` for no limit. The notice of a cut comes
    /// on top.
    pub limit: Option<usize>,
    /// Leave the enclosing brackets out, so that the messages can be pasted into a list.
    pub bare: bool,
}

/// A result and the id of the call that it answers.
#[derive(Clone, Copy, Debug)]
pub struct CallResult<'a, 'b> {
    /// The call's id, or the one that goes out ([`ToolCall::wire_id`], [`Dialect::wire_id`]); `None` for a call
    /// without one whose result stands at its place.
    pub id: Option<&'a str>,
    /// The result; `None` for a call that the host cancelled.
    pub result: Option<&'a ToolResult<'b>>,
}

/// A list of results, a slice or the host's own.
pub trait Results {
    /// How many there are.
    fn count(&self) -> usize;
    /// The result at `index`, or `None` past the end.
    fn result(&self, index: usize) -> Option<CallResult<'_, '_>>;
}

impl Results for [CallResult<'_, '_>] {
    fn count(&self) -> usize {
        self.len()
    }
    fn result(&self, index: usize) -> Option<CallResult<'_, '_>> {
        self.get(index).copied()
    }
}

/// Why results were not rendered. Nothing in the output may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ResultsError {
    /// The dialect is not built in.
    #[error("{0}")]
    LeftOut(LeftOut),
    /// A call has no result, and the provider refuses a turn in which one is missing.
    #[error("call {call} has no result; give one, or say that it was cancelled")]
    Missing {
        /// The call's place.
        call: usize,
    },
    /// A result answers no call.
    #[error("result {result} has the id of no call")]
    Unknown {
        /// The result's place.
        result: usize,
    },
    /// Two results answer one call.
    #[error("result {result} answers a call that has a result already")]
    Duplicate {
        /// The second result's place.
        result: usize,
    },
    /// The dialect holds one result in a message, and there are more.
    #[error("the dialect holds one result in a message, there are {count}")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// There are more than 1,000 results and they are not in the order of their calls; matching them by id
    /// would take too long.
    #[error("{count} results are not in the order of their calls; give them in that order")]
    Disordered {
        /// How many there are.
        count: usize,
    },
    /// The output is too small.
    #[error("{0}")]
    NoSpace(NoSpace),
}
impl core::error::Error for ResultsError {}

/// Writes the message or messages that answer all `calls`, as a JSON array of messages to append to the
/// conversation; for MCP, the one `CallToolResult`. Results may come in any order. Nothing is written if
/// there is no call.
pub fn render_results(
    dialect: Dialect,
    calls: &(impl Calls + ?Sized),
    results: &[CallResult<'_, '_>],
    options: &ResultsOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ResultsError> {
    render_results_from(dialect, calls, results, options, sink)
}

/// [`render_results`] for results that are no slice.
pub fn render_results_from(
    dialect: Dialect,
    calls: &(impl Calls + ?Sized),
    results: &(impl Results + ?Sized),
    options: &ResultsOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ResultsError> {
    dialect.built_in().map_err(ResultsError::LeftOut)?;
    let count = calls.count();
    if dialect.wire().facts().one_result && count > 1 {
        return Err(ResultsError::TooMany { count });
    }
    let in_order = in_order(calls, results);
    let matcher = Matcher { dialect, calls, results };
    if !in_order {
        matcher.check()?;
    }
    if count == 0 {
        return Ok(());
    }
    let start = sink.len();
    let wire = dialect.wire();
    let mut out = Writer::new(sink);
    wire.results_start(options.bare, &mut out);
    for index in 0..count {
        let Some(call) = calls.call(index) else { continue };
        let sent = ids::sent(dialect, calls, index, &call);
        // As the turn has it.
        let names = dialect.name_rule();
        let own = calls.origin() == Some(dialect) || names.allows(call.name);
        let alias = if own { None } else { Some(names.wire_name(call.name)) };
        let name = alias.as_ref().map_or(call.name, WireName::as_str);
        let place = if in_order { Some(index) } else { matcher.result_of(index) };
        let found = place.and_then(|at| results.result(at));
        match found.and_then(|found| found.result) {
            Some(result) => render_one(
                dialect,
                sent.text(),
                &ToolCall { name, ..call },
                result,
                options.limit,
                None,
                &mut out,
            ),
            None => {
                let mut memory = [0u8; 192];
                let mut cancelled = ToolResult::new(&mut memory);
                cancelled.fail(OutcomeKind::Cancelled, |sink| write_cancelled(call.name, sink));
                render_one(
                    dialect,
                    sent.text(),
                    &ToolCall { name, ..call },
                    &cancelled,
                    options.limit,
                    None,
                    &mut out,
                );
            }
        }
    }
    wire.results_end(options.bare, &mut out);
    let need = sink.len();
    if sink.overflowed() {
        sink.truncate(start);
        return Err(ResultsError::NoSpace(NoSpace { need }));
    }
    Ok(())
}

/// Appends what the model reads of a call that was given up.
pub(crate) fn write_cancelled(name: &str, sink: &mut Sink<'_>) {
    sink.put("Tool error: Tool '");
    sink.put(name);
    sink.put("' was cancelled");
}

/// Writes one result, with the `id` of its call that goes out, within `room` bytes of output (`None` for no
/// bound). Gives nothing back: a sink that overflows says so.
pub(crate) fn render_one(
    dialect: Dialect,
    id: &str,
    call: &ToolCall<'_>,
    result: &ToolResult<'_>,
    limit: Option<usize>,
    room: Option<usize>,
    out: &mut Writer<'_, '_>,
) {
    let limit = limit.unwrap_or(usize::MAX);
    let call = &Answered {
        id,
        has_id: call.id.is_some(),
        name: call.name,
        toolset: call.toolset,
        custom: call.custom,
    };
    let write = |limit, room, out: &mut Writer<'_, '_>| {
        let mark = out.mark();
        let before = out.sink().len();
        dialect.wire().result(call, result, &mut Budget::new(dialect, limit, room), out);
        (mark, out.sink().len() - before)
    };
    let (mark, size) = write(limit, usize::MAX, out);
    let Some(room) = room.filter(|room| size > *room) else { return };
    // Too large. With every part cut to its notice it has this size; the rest is for their text.
    out.rewind(mark);
    let (mark, least) = write(limit, 0, out);
    out.rewind(mark);
    if least <= room {
        write(limit, room - least, out);
        return;
    }
    let mut memory = [0u8; 96];
    let mut notice = ToolResult::new(&mut memory);
    let text = "[the result is left out: no room in the message]";
    if result.failed() {
        notice.fail(result.kind(), |sink| sink.put(text));
    } else if notice.text(text).is_err() {
        notice.clear();
    }
    dialect.wire().result(call, &notice, &mut Budget::new(dialect, usize::MAX, usize::MAX), out);
}

/// The call that a result answers.
pub(crate) struct Answered<'a> {
    /// Its id, a minted one if it came without.
    pub(crate) id: &'a str,
    /// The id is the provider's own.
    pub(crate) has_id: bool,
    /// The name that the model used.
    pub(crate) name: &'a str,
    /// The set of tools that it is of; empty if of none.
    pub(crate) toolset: &'a str,
    /// It is of a tool that takes free text.
    pub(crate) custom: bool,
}

/// Whether each result stands at the place of its call, as most hosts give them.
fn in_order(calls: &(impl Calls + ?Sized), results: &(impl Results + ?Sized)) -> bool {
    let mut places = 0..calls.count();
    results.count() == calls.count()
        && places.all(|at| match (calls.call(at), results.result(at)) {
            (Some(call), Some(result)) => match result.id {
                Some(id) => has(&call, id),
                None => call.id.is_none(),
            },
            _ => false,
        })
}

/// Whether a call has this id, the provider's or the one that goes out.
fn has(call: &ToolCall<'_>, id: &str) -> bool {
    call.id == Some(id) || !id.is_empty() && call.wire_id == id
}

/// Whether this id goes out in a dialect for that of a call.
fn goes_out(dialect: Dialect, call: &ToolCall<'_>, id: &str) -> bool {
    let own = if call.wire_id.is_empty() { call.id } else { Some(call.wire_id) };
    own.and_then(|own| dialect.wire_id(own)).is_some_and(|mapped| mapped == id)
}

/// The most results that are matched by id when they are not in order, which takes quadratic time.
const MOST_DISORDERED: usize = 1000;

/// Finds which result answers which call by their ids. An id is that of the call in the reply or the one that
/// goes out; of several calls with one id, the first has the first result of that id.
struct Matcher<'a, C: ?Sized, R: ?Sized> {
    dialect: Dialect,
    calls: &'a C,
    results: &'a R,
}

impl<C: Calls + ?Sized, R: Results + ?Sized> Matcher<'_, C, R> {
    /// The places of the calls that an id means.
    fn named(&self, id: &str) -> impl Iterator<Item = usize> {
        let call = |at: usize| self.calls.call(at);
        let all = 0..self.calls.count();
        let any = all.clone().any(|at| call(at).is_some_and(|call| has(&call, id)));
        all.filter(move |at| {
            call(*at).is_some_and(|call| if any { has(&call, id) } else { goes_out(self.dialect, &call, id) })
        })
    }

    /// The places of the results of an id.
    fn of_id(&self, id: &str) -> impl Iterator<Item = usize> {
        (0..self.results.count())
            .filter(move |at| self.results.result(*at).is_some_and(|result| result.id == Some(id)))
    }

    /// The place of the result that answers the call at `index`.
    fn result_of(&self, index: usize) -> Option<usize> {
        let call = self.calls.call(index)?;
        // An id that is this call's alone comes first, and what stands at its place without one last.
        let wire_id = Some(call.wire_id).filter(|id| !id.is_empty());
        let mapped = wire_id.or(call.id).and_then(|id| self.dialect.wire_id(id));
        let ids = [wire_id.filter(|id| call.id != Some(id)), call.id, mapped.as_deref()];
        let by_id = ids.into_iter().flatten().find_map(|id| {
            let before = self.named(id).position(|at| at == index)?;
            self.of_id(id).nth(before)
        });
        by_id.or_else(|| {
            let stands = self.results.result(index).is_some_and(|result| result.id.is_none());
            (stands && call.id.is_none()).then_some(index)
        })
    }

    /// The place of the call that the result at `index` is for, which may have another.
    fn call_of(&self, index: usize, id: &str) -> Result<usize, ResultsError> {
        let before = self.of_id(id).take_while(|at| *at < index).count();
        let mut calls = self.named(id);
        match calls.nth(before) {
            Some(call) => Ok(call),
            None if before > 0 => Err(ResultsError::Duplicate { result: index }),
            None => Err(ResultsError::Unknown { result: index }),
        }
    }

    fn check(&self) -> Result<(), ResultsError> {
        let count = self.calls.count();
        if count.max(self.results.count()) > MOST_DISORDERED {
            return Err(ResultsError::Disordered { count: self.results.count() });
        }
        for index in 0..self.results.count() {
            let Some(result) = self.results.result(index) else { continue };
            let call = match result.id {
                Some(id) => self.call_of(index, id)?,
                None if self.calls.call(index).is_some_and(|call| call.id.is_none()) => index,
                None => return Err(ResultsError::Unknown { result: index }),
            };
            if self.result_of(call) != Some(index) {
                let second = self.result_of(call).unwrap_or(index).max(index);
                return Err(ResultsError::Duplicate { result: second });
            }
        }
        match (0..count).find(|call| self.result_of(*call).is_none()) {
            Some(call) => Err(ResultsError::Missing { call }),
            None => Ok(()),
        }
    }
}
