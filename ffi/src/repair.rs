//! Text that is nearly JSON, as models write it.

use core::ffi::{CStr, c_char};
use core::ptr;

use toolcore_core::json::{self, RepairError, Repairs, Surrogates, repair};
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Span, toolcore_str_t};
use crate::guard::{guard, read};
use crate::json::{read_options, toolcore_json_opts_t};
use crate::result::{look, toolcore_result_t};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// A Markdown fence around the value was taken away.
pub const TOOLCORE_REPAIR_FENCE: u32 = 1;
/// Text after the value was left out.
pub const TOOLCORE_REPAIR_TRAILING_TEXT: u32 = 2;
/// Commas before the end of an object or array were left out.
pub const TOOLCORE_REPAIR_TRAILING_COMMA: u32 = 4;
/// The value was taken out of a string that held its JSON.
pub const TOOLCORE_REPAIR_DOUBLE_ENCODED: u32 = 8;

/// Writes the JSON value that a text holds, repaired where it needs it, and says in *repairs (which may be NULL) what
/// was done: TOOLCORE_REPAIR_ flags, 0 for a text that is JSON as it is. A repaired value is an object or an array.
/// With TOOLCORE_JSON_REPLACE_SURROGATES a lone surrogate escape is written as U+FFFD. Nothing is made up: a text
/// that stops early stays an error, and so does one whose rest looks like more JSON.
///
/// (NULL, 0) and ERR_NO_SPACE give a length that is enough, at times more than is needed (that of the text always
/// is), and do not say yet that the text can be repaired.
///
/// Returns TOOLCORE_OK; ERR_BAD_JSON if the text is not JSON, and not nearly (why.offset and why.reason: of the text as
/// it came); ERR_NO_SPACE; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT, also for a text that lies in the buffer. Unless
/// OK, *repairs is 0.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_json_repair(
    text: toolcore_str_t,
    opts: *const toolcore_json_opts_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    repairs: *mut u32,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let repairs = c.out(repairs).ok();
        let tell = |done: u32| repairs.iter().for_each(|repairs| repairs.set(done));
        tell(0);
        let mut output = c.output_beside(buf, len, out_len, [Span::of_text(text)])?;
        let text = c.bytes(text.ptr.cast(), text.len)?;
        let toolcore_json_opts_t { max_depth, flags, .. } = c.options(opts)?;
        let options = read_options(max_depth, flags)?;
        let text = match core::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => json::parse(text, &options).map_err(|error| why.error(error))?.raw(),
        };
        let buffer = output.buffer();
        let (len, done) = match repair(text, &options, buffer) {
            Ok(found) => {
                let (raw, done) = (found.value.raw(), found.repairs);
                let start = raw.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
                // It stands in the text, or already where it is to be.
                let inside = text.get(start..start.saturating_add(raw.len()));
                let len = raw.len();
                if let Some(raw) = inside.filter(|same| ptr::eq(same.as_ptr(), raw.as_ptr())) {
                    Sink::new(buffer).put(raw);
                }
                (len, u32::from(done.bits()))
            }
            Err(RepairError::NoSpace(NoSpace { need })) => (need, 0),
            Err(RepairError::Json(error)) => return Err(why.error(error)),
        };
        let len = match output.buffer().get_mut(..len) {
            Some(written) if options.surrogates == Surrogates::Replace => json::replace_surrogates(written),
            _ => len,
        };
        if !output.measures() && len > output.buffer().len() {
            why.error(NoSpace { need: len });
        }
        output.finish(len)?;
        tell(done);
        Ok(())
    })
}

/// What had to be repaired in the arguments of a call before they were accepted, as TOOLCORE_REPAIR_ flags; see
/// TOOLCORE_DISPATCH_LENIENT. 0 for NULL.
///
/// Threads: any that may look at the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_result_repairs(result: *const toolcore_result_t) -> u32 {
    read(0, |c| Ok(u32::from(look(c, result)?.repairs().bits())))
}

/// The name of one TOOLCORE_REPAIR_ flag, such as "trailing-comma"; "" for any other number. Never NULL, lives as long
/// as the program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_repair_name(repair: u32) -> *const c_char {
    name(repair).as_ptr()
}

fn name(repair: u32) -> &'static CStr {
    match repair {
        TOOLCORE_REPAIR_FENCE => c"fence",
        TOOLCORE_REPAIR_TRAILING_TEXT => c"trailing-text",
        TOOLCORE_REPAIR_TRAILING_COMMA => c"trailing-comma",
        TOOLCORE_REPAIR_DOUBLE_ENCODED => c"double-encoded",
        _ => c"",
    }
}

const _: () = assert!(
    Repairs::FENCE.bits() as u32 == TOOLCORE_REPAIR_FENCE
        && Repairs::TRAILING_TEXT.bits() as u32 == TOOLCORE_REPAIR_TRAILING_TEXT
        && Repairs::TRAILING_COMMA.bits() as u32 == TOOLCORE_REPAIR_TRAILING_COMMA
        && Repairs::DOUBLE_ENCODED.bits() as u32 == TOOLCORE_REPAIR_DOUBLE_ENCODED
);
