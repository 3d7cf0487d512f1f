//! What a function answers: a code, and in words and numbers what was wrong.

use core::ffi::{CStr, c_char};

use toolcore_core::answer::AnswerError;
use toolcore_core::call::ArgError;
use toolcore_core::context;
use toolcore_core::dialect::{LeftOut, RenderError, RenderErrorKind, ReplayError, ReplyError, ResultsError};
use toolcore_core::dispatch::DispatchError;
use toolcore_core::inflight::TicketError;
use toolcore_core::json::{self, NumberError};
use toolcore_core::registry::AddError;
use toolcore_core::result::ResultError;
use toolcore_core::schema::{CheckError, CoerceError, SchemaError, SchemaErrorKind};
use toolcore_core::sink::NoSpace;
#[cfg(feature = "stream")]
use toolcore_core::stream::StreamError;
use toolcore_core::turn::TurnError;

use crate::abi::sized_struct;
use crate::guard::Why;
use crate::object::{Memory, scratch_for};

/// What a function answers: TOOLCORE_OK, or one of TOOLCORE_ERR_.
pub type toolcore_status_t = i32;

/// Done.
pub const TOOLCORE_OK: i32 = 0;
/// A pointer is NULL that must not be, a struct_size is wrong, an object was not initialised.
pub const TOOLCORE_ERR_INVALID_ARGUMENT: i32 = -1;
/// A text is not UTF-8.
pub const TOOLCORE_ERR_INVALID_UTF8: i32 = -2;
/// Memory or a buffer is too small. The length that is needed is in the function's output, or in
/// toolcore_detail_t.need.
pub const TOOLCORE_ERR_NO_SPACE: i32 = -3;
/// A constant, a flag or a field that this version of the library does not know.
pub const TOOLCORE_ERR_UNSUPPORTED: i32 = -4;
/// A text is not JSON.
pub const TOOLCORE_ERR_BAD_JSON: i32 = -5;
/// A schema is refused.
pub const TOOLCORE_ERR_BAD_SCHEMA: i32 = -6;
/// A tool's name breaks the rule, or that of a provider.
pub const TOOLCORE_ERR_BAD_NAME: i32 = -7;
/// The name is taken.
pub const TOOLCORE_ERR_DUPLICATE: i32 = -8;
/// All places are taken.
pub const TOOLCORE_ERR_FULL: i32 = -9;
/// There is nothing of that name or at that place.
pub const TOOLCORE_ERR_NOT_FOUND: i32 = -10;
/// The value is of another type.
pub const TOOLCORE_ERR_WRONG_TYPE: i32 = -11;
/// The number does not fit.
pub const TOOLCORE_ERR_OUT_OF_RANGE: i32 = -12;
/// The reply has not the shape of the dialect.
pub const TOOLCORE_ERR_BAD_REPLY: i32 = -13;
/// The provider answered with an error in place of a reply.
pub const TOOLCORE_ERR_PROVIDER: i32 = -14;
/// A timeout applies and there is no clock.
pub const TOOLCORE_ERR_NO_CLOCK: i32 = -15;
/// A strict tool's schema does not fit the provider's strict subset.
pub const TOOLCORE_ERR_STRICT: i32 = -16;
/// A call has no result.
pub const TOOLCORE_ERR_MISSING_RESULT: i32 = -17;
/// A result answers no call.
pub const TOOLCORE_ERR_UNKNOWN_CALL_ID: i32 = -18;
/// Two results answer one call.
pub const TOOLCORE_ERR_DUPLICATE_RESULT: i32 = -19;
/// The pinned blocks alone are over the budget.
pub const TOOLCORE_ERR_BUDGET: i32 = -20;
/// For callbacks: the tool failed. The model reads what toolcore_result_error was given.
pub const TOOLCORE_ERR_TOOL: i32 = -21;
/// Something would act in the host's name, which was not allowed.
pub const TOOLCORE_ERR_NOT_ALLOWED: i32 = -22;
/// The call of a ticket was cancelled, or its time is over; what comes for it is discarded. Harmless.
pub const TOOLCORE_ERR_LATE: i32 = -23;
/// The call of a ticket was completed before. Harmless.
pub const TOOLCORE_ERR_DOUBLED: i32 = -24;
/// A ticket is of a call that ended long ago, and its place has had another one since. Harmless.
pub const TOOLCORE_ERR_STALE: i32 = -25;
/// A callback used the object of the function that runs it, or a turn must be finished before.
pub const TOOLCORE_ERR_BUSY: i32 = -26;
/// For callbacks: the tool answers later. Not an error, and no function of the library returns it.
pub const TOOLCORE_PENDING: i32 = 1;
/// A defect of the library was caught. The objects of the call may only be deinitialised.
pub const TOOLCORE_ERR_PANIC: i32 = -99;

/// A status in a few words, such as "no space"; "unknown status" for any other number. Never NULL, lives as
/// long as the program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_status_name(status: toolcore_status_t) -> *const c_char {
    name(status).as_ptr()
}

/// Bytes of toolcore_detail_t.message, its NUL included.
pub const TOOLCORE_DETAIL_MESSAGE_SIZE: usize = 224;
/// toolcore_detail_t.offset when there is no place to name (in the header among the macros).
pub(crate) const NO_OFFSET: usize = usize::MAX;

/// What was wrong, filled in by functions that take one; NULL where nobody wants to know. Also filled in
/// on success, with an empty message; toolcore_registry_add alone may have something to say then.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_detail_t {
    /// sizeof(toolcore_detail_t)
    pub struct_size: usize,
    /// Bytes of the message, without its NUL.
    pub message_len: usize,
    /// The byte at which a text is wrong, or TOOLCORE_NO_OFFSET.
    pub offset: usize,
    /// For TOOLCORE_ERR_NO_SPACE: how many bytes in all of the memory or buffer in question are enough for the step
    /// that failed, more than there were; else 0. A later step may fail in turn and name more, until all is done:
    /// trying again with what is named comes to an end. For toolcore_registry_add: bytes that must be free.
    pub need: usize,
    /// The status that the function returned.
    pub status: toolcore_status_t,
    /// For TOOLCORE_ERR_BAD_JSON: why, one of TOOLCORE_JSON_ERR_; else 0.
    pub reason: u32,
    /// What was wrong, in English; cut to this size, always NUL terminated.
    pub message: [c_char; TOOLCORE_DETAIL_MESSAGE_SIZE],
    /// Where a schema is refused: the number of the resource that it was in, counted from 1; 0 for the schema
    /// itself. `offset` is a place in that text.
    pub resource: usize,
    /// Where a schema is refused: how many bytes at the start of the message are the place, as a JSON Pointer,
    /// in a resource after its URI and "#"; ": " follows. 0 at the root of the schema.
    pub place_len: usize,
}

sized_struct!(toolcore_detail_t, since resource);

/// An error of the core as C sees it.
pub(crate) trait Explain: core::fmt::Display {
    /// Its status.
    fn status(&self) -> toolcore_status_t;

    /// What else there is to say.
    fn more(&self, _: &mut Why) {}
}

impl Explain for NoSpace {
    fn status(&self) -> toolcore_status_t {
        TOOLCORE_ERR_NO_SPACE
    }
    fn more(&self, why: &mut Why) {
        why.need = self.need;
    }
}

impl Explain for json::Error {
    fn status(&self) -> toolcore_status_t {
        TOOLCORE_ERR_BAD_JSON
    }
    fn more(&self, why: &mut Why) {
        why.offset = self.offset;
        why.reason = crate::json::reason(self.reason);
    }
}

impl Explain for NumberError {
    fn status(&self) -> toolcore_status_t {
        match self {
            NumberError::OutOfRange => TOOLCORE_ERR_OUT_OF_RANGE,
            NumberError::NotInteger => TOOLCORE_ERR_WRONG_TYPE,
        }
    }
}

impl Explain for ArgError {
    fn status(&self) -> toolcore_status_t {
        match self {
            ArgError::Missing => TOOLCORE_ERR_NOT_FOUND,
            ArgError::WrongType { .. } | ArgError::NotInteger | ArgError::Unfit => TOOLCORE_ERR_WRONG_TYPE,
            ArgError::OutOfRange => TOOLCORE_ERR_OUT_OF_RANGE,
            ArgError::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
        }
    }
}

impl Explain for ResultError {
    fn status(&self) -> toolcore_status_t {
        match self {
            ResultError::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
            ResultError::TooManyParts => TOOLCORE_ERR_FULL,
            ResultError::Json(error) => error.status(),
        }
    }
}

impl Explain for AddError {
    fn status(&self) -> toolcore_status_t {
        match self {
            AddError::Name(_) => TOOLCORE_ERR_BAD_NAME,
            AddError::Duplicate => TOOLCORE_ERR_DUPLICATE,
            AddError::Full { .. } => TOOLCORE_ERR_FULL,
            AddError::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
            AddError::ZeroTimeout => TOOLCORE_ERR_INVALID_ARGUMENT,
            AddError::Parameters(error) | AddError::OutputSchema(error) => error.status(),
            AddError::Declared(_) | AddError::NotAnObject => TOOLCORE_ERR_BAD_SCHEMA,
        }
    }
    fn more(&self, why: &mut Why) {
        match self {
            AddError::NoSpace { need, .. } => (why.need, why.need_of) = (*need, None),
            AddError::Parameters(error) | AddError::OutputSchema(error) => error.more(why),
            _ => {}
        }
    }
}

impl Explain for SchemaError {
    fn status(&self) -> toolcore_status_t {
        match self.kind {
            SchemaErrorKind::Json(_) => TOOLCORE_ERR_BAD_JSON,
            SchemaErrorKind::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
            _ => TOOLCORE_ERR_BAD_SCHEMA,
        }
    }
    fn more(&self, why: &mut Why) {
        why.resource = self.resource.map_or(0, |number| number + 1);
        match self.kind {
            SchemaErrorKind::Json(error) => error.more(why),
            SchemaErrorKind::NoSpace { need } => why.need = need,
            _ => why.offset = self.offset,
        }
    }
}

impl Explain for CheckError {
    fn status(&self) -> toolcore_status_t {
        match self {
            CheckError::Json(_) => TOOLCORE_ERR_BAD_JSON,
            CheckError::NoWork { .. } => TOOLCORE_ERR_NO_SPACE,
            CheckError::BadProgram => TOOLCORE_ERR_INVALID_ARGUMENT,
            _ => TOOLCORE_ERR_OUT_OF_RANGE,
        }
    }
    fn more(&self, why: &mut Why) {
        match self {
            CheckError::Json(error) => error.more(why),
            CheckError::NoWork { need } => no_work(*need, why),
            _ => {}
        }
    }
}

impl Explain for CoerceError {
    fn status(&self) -> toolcore_status_t {
        match self {
            CoerceError::Json(_) => TOOLCORE_ERR_BAD_JSON,
            CoerceError::NoSpace { .. } | CoerceError::NoWork { .. } => TOOLCORE_ERR_NO_SPACE,
            _ => TOOLCORE_ERR_OUT_OF_RANGE,
        }
    }
    fn more(&self, why: &mut Why) {
        match self {
            CoerceError::Json(error) => error.more(why),
            CoerceError::NoSpace { need } => why.need = *need,
            CoerceError::NoWork { need } => no_work(*need, why),
            _ => {}
        }
    }
}

impl Explain for LeftOut {
    fn status(&self) -> toolcore_status_t {
        TOOLCORE_ERR_UNSUPPORTED
    }
}

impl Explain for ReplyError {
    fn status(&self) -> toolcore_status_t {
        match self {
            ReplyError::Json(error) => error.status(),
            ReplyError::Shape { .. } => TOOLCORE_ERR_BAD_REPLY,
            ReplyError::Provider => TOOLCORE_ERR_PROVIDER,
            ReplyError::TooLong => TOOLCORE_ERR_UNSUPPORTED,
            ReplyError::LeftOut(error) => error.status(),
            ReplyError::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
        }
    }
    fn more(&self, why: &mut Why) {
        match self {
            ReplyError::Json(error) => error.more(why),
            ReplyError::NoSpace { words, bytes } => why.need = scratch_for(*words, *bytes),
            _ => {}
        }
    }
}

impl Explain for ReplayError {
    fn status(&self) -> toolcore_status_t {
        match self {
            ReplayError::Unsupported | ReplayError::CallsOnly => TOOLCORE_ERR_UNSUPPORTED,
            ReplayError::NoSpace(_) => TOOLCORE_ERR_NO_SPACE,
        }
    }
}

#[cfg(feature = "stream")]
impl Explain for StreamError {
    fn status(&self) -> toolcore_status_t {
        match self {
            StreamError::Reply(error) => error.status(),
            StreamError::Unsupported => TOOLCORE_ERR_UNSUPPORTED,
        }
    }
    /// Bytes of what was given to the core; the entry point adds what it took of it before.
    fn more(&self, why: &mut Why) {
        match self {
            StreamError::Reply(error) => error.more(why),
            StreamError::Unsupported => {}
        }
    }
}

impl Explain for DispatchError {
    fn status(&self) -> toolcore_status_t {
        match self {
            DispatchError::NoClock => TOOLCORE_ERR_NO_CLOCK,
            DispatchError::ZeroTimeout => TOOLCORE_ERR_INVALID_ARGUMENT,
            DispatchError::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
        }
    }
    /// Bytes of the scratch that was given to the core; the entry point adds what it took of it before.
    fn more(&self, why: &mut Why) {
        if let DispatchError::NoSpace { words, bytes } = self {
            why.need = scratch_for(*words, *bytes);
            if *words > 0 {
                why.need_of = Some(OF_SCRATCH);
            }
        }
    }
}

impl Explain for AnswerError {
    fn status(&self) -> toolcore_status_t {
        match self {
            AnswerError::Reply(error) => error.status(),
            AnswerError::NoSpace(error) => error.status(),
            AnswerError::Dispatch { error, .. } => error.status(),
        }
    }
    fn more(&self, why: &mut Why) {
        match self {
            AnswerError::Reply(error) => error.more(why),
            AnswerError::NoSpace(error) => error.more(why),
            AnswerError::Dispatch { error, .. } => error.more(why),
        }
    }
}

impl Explain for TurnError {
    fn status(&self) -> toolcore_status_t {
        match self {
            TurnError::NoSpace { .. } => TOOLCORE_ERR_NO_SPACE,
            TurnError::Dispatch { error, .. } => error.status(),
        }
    }
    /// Bytes of what was given to the core; the entry point adds what it took of it before.
    fn more(&self, why: &mut Why) {
        match self {
            TurnError::NoSpace { bytes, .. } => why.need = scratch_for(0, *bytes),
            TurnError::Dispatch { error, .. } => error.more(why),
        }
    }
}

impl Explain for TicketError {
    fn status(&self) -> toolcore_status_t {
        match self {
            TicketError::Unknown => TOOLCORE_ERR_NOT_FOUND,
            TicketError::Stale => TOOLCORE_ERR_STALE,
            TicketError::Doubled => TOOLCORE_ERR_DOUBLED,
            TicketError::Late => TOOLCORE_ERR_LATE,
        }
    }
}

impl Explain for RenderError {
    fn status(&self) -> toolcore_status_t {
        match self.kind {
            RenderErrorKind::NoSpace(_) => TOOLCORE_ERR_NO_SPACE,
            RenderErrorKind::Name { .. } | RenderErrorKind::AliasClash => TOOLCORE_ERR_BAD_NAME,
            RenderErrorKind::LeftOut(error) => error.status(),
            RenderErrorKind::Strict(_) => TOOLCORE_ERR_STRICT,
            RenderErrorKind::ControlToken => TOOLCORE_ERR_UNSUPPORTED,
            RenderErrorKind::UnknownChoice | RenderErrorKind::NoTools => TOOLCORE_ERR_NOT_FOUND,
            RenderErrorKind::Choice
            | RenderErrorKind::Native(_)
            | RenderErrorKind::StrictDropped
            | RenderErrorKind::ManyTools { .. } => TOOLCORE_ERR_UNSUPPORTED,
            RenderErrorKind::NotAllowed(_) => TOOLCORE_ERR_NOT_ALLOWED,
            RenderErrorKind::BadConfig(_) => TOOLCORE_ERR_BAD_JSON,
            RenderErrorKind::ConfigLacks { .. } | RenderErrorKind::NativeTwice(_) => {
                TOOLCORE_ERR_INVALID_ARGUMENT
            }
        }
    }
}

impl Explain for ResultsError {
    fn status(&self) -> toolcore_status_t {
        match self {
            ResultsError::LeftOut(error) => error.status(),
            ResultsError::Missing { .. } => TOOLCORE_ERR_MISSING_RESULT,
            ResultsError::Unknown { .. } => TOOLCORE_ERR_UNKNOWN_CALL_ID,
            ResultsError::Duplicate { .. } => TOOLCORE_ERR_DUPLICATE_RESULT,
            ResultsError::TooMany { .. } | ResultsError::Disordered { .. } => TOOLCORE_ERR_UNSUPPORTED,
            ResultsError::NoSpace(_) => TOOLCORE_ERR_NO_SPACE,
        }
    }
}

impl Explain for context::RenderError {
    fn status(&self) -> toolcore_status_t {
        match self {
            context::RenderError::PinnedTooLarge { .. } => TOOLCORE_ERR_BUDGET,
            _ => TOOLCORE_ERR_NO_SPACE,
        }
    }
}

/// Scratch of so many words alone.
fn no_work(words: usize, why: &mut Why) {
    (why.need, why.need_of) = (Memory::room_for::<u32>(words), Some(OF_SCRATCH));
}

const OF_SCRATCH: &str = " of scratch needed; a lower max_depth may need less";

pub(crate) fn name(status: toolcore_status_t) -> &'static CStr {
    match status {
        TOOLCORE_OK => c"ok",
        TOOLCORE_ERR_INVALID_ARGUMENT => c"invalid argument",
        TOOLCORE_ERR_INVALID_UTF8 => c"invalid UTF-8",
        TOOLCORE_ERR_NO_SPACE => c"no space",
        TOOLCORE_ERR_UNSUPPORTED => c"unsupported",
        TOOLCORE_ERR_BAD_JSON => c"bad JSON",
        TOOLCORE_ERR_BAD_SCHEMA => c"bad schema",
        TOOLCORE_ERR_BAD_NAME => c"bad name",
        TOOLCORE_ERR_DUPLICATE => c"duplicate name",
        TOOLCORE_ERR_FULL => c"full",
        TOOLCORE_ERR_NOT_FOUND => c"not found",
        TOOLCORE_ERR_WRONG_TYPE => c"wrong type",
        TOOLCORE_ERR_OUT_OF_RANGE => c"out of range",
        TOOLCORE_ERR_BAD_REPLY => c"bad reply",
        TOOLCORE_ERR_PROVIDER => c"provider error",
        TOOLCORE_ERR_NO_CLOCK => c"no clock",
        TOOLCORE_ERR_STRICT => c"strict is not possible",
        TOOLCORE_ERR_MISSING_RESULT => c"missing result",
        TOOLCORE_ERR_UNKNOWN_CALL_ID => c"unknown call id",
        TOOLCORE_ERR_DUPLICATE_RESULT => c"duplicate result",
        TOOLCORE_ERR_BUDGET => c"over budget",
        TOOLCORE_ERR_TOOL => c"tool failed",
        TOOLCORE_ERR_NOT_ALLOWED => c"not allowed",
        TOOLCORE_ERR_LATE => c"too late",
        TOOLCORE_ERR_DOUBLED => c"completed before",
        TOOLCORE_ERR_STALE => c"stale ticket",
        TOOLCORE_ERR_BUSY => c"busy",
        TOOLCORE_PENDING => c"pending",
        TOOLCORE_ERR_PANIC => c"defect in the library",
        _ => c"unknown status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_name_of_its_own() {
        let statuses = (-26..=1).chain([TOOLCORE_ERR_PANIC]);
        let mut names: std::vec::Vec<_> = statuses.map(name).collect();
        assert!(!names.contains(&c"unknown status"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 29);
        for status in [2, -27, i32::MIN, i32::MAX] {
            assert_eq!(name(status), c"unknown status");
        }
    }
}
