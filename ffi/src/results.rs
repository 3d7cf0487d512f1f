//! Writing results so that the provider takes them.

use core::ffi::c_char;

use toolcore_core::call::ToolCall;
use toolcore_core::dialect::{CallResult, Calls, Results, ResultsError, ResultsOptions, render_results_from};
use toolcore_core::result::ToolResult;
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Caller, List, Span, sized_struct, toolcore_str_t};
use crate::call::{id, toolcore_tool_call_t};
use crate::dialect::known_dialect;
use crate::guard::{Fail, UNKNOWN, guard};
use crate::result::{look, toolcore_result_t};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// toolcore_call_result_t.flags: it answers a call with an id, which may be empty. Need not be said for an
/// id that is not empty.
pub const TOOLCORE_RESULT_HAS_ID: u32 = 1;

/// A result and the call that it answers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_call_result_t {
    /// sizeof(toolcore_call_result_t), the same in all elements of an array.
    pub struct_size: usize,
    /// The call's id, or its wire_id. For a call without one it may be empty: the result stands at the call's place.
    pub id: toolcore_str_t,
    /// The result, or NULL for a call that the host cancelled.
    pub result: *const toolcore_result_t,
    /// TOOLCORE_RESULT_HAS_ID, or 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// toolcore_results_opts_t.flags: leave the enclosing brackets out, to paste the messages into a list.
pub const TOOLCORE_RESULTS_BARE: u32 = 1;

/// How results are written. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_results_opts_t {
    /// sizeof(toolcore_results_opts_t)
    pub struct_size: usize,
    /// The most bytes of text that are kept of one result; 0 for no limit. The notice of a cut comes on top.
    pub limit: usize,
    /// TOOLCORE_RESULTS_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Writes the message or messages that answer all `calls`, in their order: a JSON array of messages to append
/// to the conversation; for MCP the one CallToolResult. Nothing is written if there is no call. Results may
/// come in any order.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_MISSING_RESULT; ERR_UNKNOWN_CALL_ID; ERR_DUPLICATE_RESULT;
/// ERR_UNSUPPORTED, also for several calls in a dialect that holds one result in a message (MCP);
/// ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT. Nothing is kept.
/// Threads: any, if no other changes the results.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_results_render(
    dialect: u32,
    calls: *const toolcore_tool_call_t,
    calls_len: usize,
    results: *const toolcore_call_result_t,
    results_len: usize,
    opts: *const toolcore_results_opts_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let mut output = c.output(buf, len, out_len)?;
        let c = c.apart_from(Span::new(buf, len));
        let dialect = known_dialect(dialect)?;
        let options = options(&c.options(opts)?)?;
        let calls = CallList::new(c, c.list(calls, calls_len)?, false)?;
        let results = ResultList::new(c, c.list(results, results_len)?)?;
        let mut sink = Sink::new(output.buffer());
        match render_results_from(dialect, &calls, &results, &options, &mut sink) {
            Ok(()) => {
                let len = sink.len();
                output.finish(len)
            }
            Err(ResultsError::NoSpace(NoSpace { need })) => {
                why.need = need;
                output.finish(need)
            }
            Err(error) => Err(why.error(error)),
        }
    })
}

sized_struct!(toolcore_call_result_t);
sized_struct!(toolcore_results_opts_t);

fn options(opts: &toolcore_results_opts_t) -> Result<ResultsOptions, Fail> {
    if opts.flags & !TOOLCORE_RESULTS_BARE != 0 || opts.reserved != 0 {
        return Err(UNKNOWN);
    }
    Ok(ResultsOptions {
        limit: (opts.limit != 0).then_some(opts.limit),
        bare: opts.flags & TOOLCORE_RESULTS_BARE != 0,
    })
}

/// Calls of C, each of which was found to be one.
pub(crate) struct CallList {
    c: Caller,
    list: List<toolcore_tool_call_t>,
    /// Their arguments are wanted.
    arguments: bool,
}

impl CallList {
    pub(crate) fn new(c: Caller, list: List<toolcore_tool_call_t>, arguments: bool) -> Result<Self, Fail> {
        (0..list.len()).try_for_each(|index| list.get(c, index)?.to_core(c).map(|_| ()))?;
        Ok(CallList { c, list, arguments })
    }
}

impl Calls for CallList {
    fn count(&self) -> usize {
        self.list.len()
    }
    /// Without its arguments for results, which say nothing of them.
    fn call(&self, index: usize) -> Option<ToolCall<'_>> {
        let call = self.list.get(self.c, index).ok()?;
        let arguments = if self.arguments { call.arguments } else { toolcore_str_t::EMPTY };
        toolcore_tool_call_t { arguments, ..call }.to_core(self.c).ok()
    }
}

/// Results of C, each of which was found to be one.
struct ResultList {
    c: Caller,
    list: List<toolcore_call_result_t>,
}

impl ResultList {
    fn new(c: Caller, list: List<toolcore_call_result_t>) -> Result<Self, Fail> {
        (0..list.len()).try_for_each(|index| list.get(c, index)?.to_core(c).map(|_| ()))?;
        Ok(ResultList { c, list })
    }
}

impl Results for ResultList {
    fn count(&self) -> usize {
        self.list.len()
    }
    fn result(&self, index: usize) -> Option<CallResult<'_, '_>> {
        self.list.get(self.c, index).ok()?.to_core(self.c).ok()
    }
}

impl toolcore_call_result_t {
    fn to_core<'a>(self, c: Caller) -> Result<CallResult<'a, 'static>, Fail> {
        if self.flags & !TOOLCORE_RESULT_HAS_ID != 0 || self.reserved != 0 {
            return Err(UNKNOWN);
        }
        Ok(CallResult {
            id: id(c, self.id, self.flags & TOOLCORE_RESULT_HAS_ID != 0)?,
            result: if self.result.is_null() { None } else { Some(shown(c, self.result)?) },
        })
    }
}

/// A result to render: it must not lie where the text goes.
fn shown<'m>(c: Caller, result: *const toolcore_result_t) -> Result<&'m ToolResult<'static>, Fail> {
    let result = look(c, result)?;
    c.apart(Span::of(result.memory()))?;
    Ok(result)
}
