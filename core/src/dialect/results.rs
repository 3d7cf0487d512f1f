//! Writing results so that the provider takes them and nothing is lost in silence.
//!
//! Every call gets exactly one result, in the order of the calls. A failure keeps its flag where the
//! provider has one and always says so in its text. What is too long is cut at a character and says how
//! much: `… [truncated, 1,204 of 9,310 bytes]`.

pub(super) use super::budget::{Budget, write_part, write_parts_of, write_text_of};
use super::{Calls, Dialect, LeftOut};
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
    /// The call's id; for a call without one its [`ToolCall::wire_id`], or `None`, and the result stands at the
    /// call's place.
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
    if !in_order {
        check_ids(calls, results)?;
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
        let place = if in_order { Some(index) } else { find(calls, results, index, &call) };
        let found = place.and_then(|at| results.result(at));
        match found.and_then(|found| found.result) {
            Some(result) => render_one(dialect, index, &call, result, options.limit, None, &mut out),
            None => {
                let mut memory = [0u8; 192];
                let mut cancelled = ToolResult::new(&mut memory);
                cancelled.fail(OutcomeKind::Cancelled, |sink| write_cancelled(call.name, sink));
                render_one(dialect, index, &call, &cancelled, options.limit, None, &mut out);
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

/// Writes one result within `room` bytes of output (`None` for no bound). Gives nothing back: a sink that
/// overflows says so.
pub(crate) fn render_one(
    dialect: Dialect,
    index: usize,
    call: &ToolCall<'_>,
    result: &ToolResult<'_>,
    limit: Option<usize>,
    room: Option<usize>,
    out: &mut Writer<'_, '_>,
) {
    let limit = limit.unwrap_or(usize::MAX);
    let mut minted = heapless::String::<32>::new();
    let id = match call.id {
        Some(id) => id,
        None if !call.wire_id.is_empty() => call.wire_id,
        None => minted_id(index, &mut minted),
    };
    let mapped = dialect.wire_id(id);
    let id = mapped.as_deref().unwrap_or(id);
    let call = &Answered { id, has_id: call.id.is_some(), name: call.name, custom: call.custom };
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

/// The id of a call that was made by hand without one: `toolcore_0` for the first.
fn minted_id(index: usize, id: &mut heapless::String<32>) -> &str {
    let mut digits = [0u8; 20];
    let mut sink = Sink::new(&mut digits);
    sink.put_u64(index as u64);
    id.push_str("toolcore_").ok();
    id.push_str(sink.finish_cut()).ok();
    id
}

/// The call that a result answers.
pub(crate) struct Answered<'a> {
    /// Its id, a minted one if it came without.
    pub(crate) id: &'a str,
    /// The id is the provider's own.
    pub(crate) has_id: bool,
    /// The name that the model used.
    pub(crate) name: &'a str,
    /// It is of a tool that takes free text.
    pub(crate) custom: bool,
}

/// Whether each result stands at the place of its call, as most hosts give them.
fn in_order(calls: &(impl Calls + ?Sized), results: &(impl Results + ?Sized)) -> bool {
    let mut places = 0..calls.count();
    results.count() == calls.count()
        && places.all(|at| match (calls.call(at), results.result(at)) {
            (Some(call), Some(result)) => answers(&call, &result),
            _ => false,
        })
}

/// Whether a result has the id of a call, or none as the call.
fn answers(call: &ToolCall<'_>, result: &CallResult<'_, '_>) -> bool {
    result.id == call.id
        || call.id.is_none() && result.id.is_some_and(|id| !id.is_empty() && id == call.wire_id)
}

/// The most results that are matched by id when they are not in order, which takes quadratic time.
const MOST_DISORDERED: usize = 1000;

/// The place of the result that answers the call at `index`. Of several calls with one id, the first has
/// the first result of that id.
fn find(
    calls: &(impl Calls + ?Sized),
    results: &(impl Results + ?Sized),
    index: usize,
    call: &ToolCall<'_>,
) -> Option<usize> {
    let same = |at: &usize| results.result(*at).is_some_and(|result| answers(call, &result));
    if call.id.is_none() {
        return Some(index).filter(|at| stands_at(results, *at)).or_else(|| named(call, results));
    }
    let before = (0..index).filter(|at| calls.call(*at).is_some_and(|other| other.id == call.id)).count();
    (0..results.count()).filter(same).nth(before)
}

/// Whether the result at `index` has no id and answers the call there.
fn stands_at(results: &(impl Results + ?Sized), index: usize) -> bool {
    results.result(index).is_some_and(|result| result.id.is_none())
}

/// The place of the result that has the id which was minted for a call.
fn named(call: &ToolCall<'_>, results: &(impl Results + ?Sized)) -> Option<usize> {
    let same =
        |at: &usize| results.result(*at).is_some_and(|result| result.id.is_some() && answers(call, &result));
    (0..results.count()).find(same)
}

fn check_ids(calls: &(impl Calls + ?Sized), results: &(impl Results + ?Sized)) -> Result<(), ResultsError> {
    let count = calls.count();
    if count.max(results.count()) > MOST_DISORDERED {
        return Err(ResultsError::Disordered { count: results.count() });
    }
    for result in 0..results.count() {
        let Some(entry) = results.result(result) else { continue };
        let answers = |index: usize| calls.call(index).is_some_and(|call| answers(&call, &entry));
        if !(answers(result) || entry.id.is_some() && (0..count).any(answers)) {
            return Err(ResultsError::Unknown { result });
        }
        let same = |at: usize| results.result(at).is_some_and(|other| other.id == entry.id);
        if entry.id.is_some() && (0..result).any(same) {
            let calls_of_id = (0..count).filter(|index| answers(*index)).count();
            let results_of_id = (0..result).filter(|at| same(*at)).count();
            if results_of_id >= calls_of_id {
                return Err(ResultsError::Duplicate { result });
            }
        }
    }
    for call in 0..count {
        let Some(entry) = calls.call(call) else { continue };
        if find(calls, results, call, &entry).is_none() {
            return Err(ResultsError::Missing { call });
        }
        if entry.id.is_none()
            && stands_at(results, call)
            && let Some(result) = named(&entry, results)
        {
            return Err(ResultsError::Duplicate { result });
        }
    }
    Ok(())
}
