//! Writing a turn of the model that was no reply of the provider.

use core::ffi::c_char;

use toolcore_core::dialect::{ReplayError, render_turn};
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Span, toolcore_str_t};
use crate::call::toolcore_tool_call_t;
use crate::dialect::known_dialect;
use crate::guard::{UNKNOWN, guard};
use crate::reply::{TOOLCORE_REPLAY_BARE, toolcore_replay_opts_t};
use crate::results::CallList;
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// Writes a turn of the model with this text (empty for none) and these calls as a dialect takes it: one that another
/// provider's model took, that was stored, or that the host made up. Of a reply of the dialect itself write the turn
/// with toolcore_reply_replay, which keeps what the provider signed. To answer a reply in another dialect than its own,
/// dispatch its calls (toolcore_reply_call, toolcore_dispatch), write this turn and then the results
/// (toolcore_results_render) in the other.
///
/// Each call has the id that toolcore_results_render gives its result in the same dialect; a name that is not allowed
/// goes out as its alias. Arguments keep their exact text where they go as text; as an object they keep that of every
/// string and number, and {} stands for them if they are none.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_UNSUPPORTED in a dialect without turns (MCP) and for a flag that is not
/// known; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT. Nothing is written for neither text nor call. Nothing is kept.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_turn_render(
    dialect: u32,
    text: toolcore_str_t,
    calls: *const toolcore_tool_call_t,
    calls_len: usize,
    opts: *const toolcore_replay_opts_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let mut output = c.output(buf, len, out_len)?;
        let c = c.apart_from(Span::new(buf, len));
        let dialect = known_dialect(dialect)?;
        let opts = c.options(opts)?;
        if opts.flags & !TOOLCORE_REPLAY_BARE != 0 || opts.reserved != 0 {
            return Err(UNKNOWN);
        }
        let text = c.text(text)?;
        let calls = CallList::new(c, c.list(calls, calls_len)?, true)?;
        let mut sink = Sink::new(output.buffer());
        match render_turn(dialect, Some(text), &calls, opts.flags & TOOLCORE_REPLAY_BARE != 0, &mut sink) {
            Ok(()) => {
                let len = sink.len();
                output.finish(len)
            }
            Err(ReplayError::NoSpace(NoSpace { need })) => {
                why.need = need;
                output.finish(need)
            }
            Err(error) => Err(why.error(error)),
        }
    })
}
