//! The boundary: an entry point's body runs in here.
//!
//! A panic becomes `TOOLCORE_ERR_PANIC` (with `std`; without, panics do not unwind). The reason of a failure
//! goes to the caller's `toolcore_detail_t` if there is one.

use core::ffi::c_char;
use core::mem::offset_of;
use core::ptr::NonNull;

use toolcore_core::schema::{Resource, SchemaError};
use toolcore_core::sink::Sink;

use crate::abi::Caller;
use crate::status::*;

/// Why an entry point gives up: its status, and what to say if nothing more exact was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fail(pub(crate) toolcore_status_t, pub(crate) &'static str);

pub(crate) const NULL: Fail = Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "a pointer is NULL that must not be");
pub(crate) const BAD_SIZE: Fail =
    Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "a struct_size is wrong; begin with TOOLCORE_X_INIT");
pub(crate) const TOO_LONG: Fail = Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "a length is larger than any memory");
pub(crate) const ENDED: Fail =
    Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "an object is not initialised, or has ended, or is of another type");
pub(crate) const OVERLAP: Fail = Fail(
    TOOLCORE_ERR_INVALID_ARGUMENT,
    "what is passed lies in memory that is written meanwhile; hand in a copy of it",
);
pub(crate) const UTF8: Fail = Fail(TOOLCORE_ERR_INVALID_UTF8, "a text is not UTF-8");
pub(crate) const UNKNOWN: Fail =
    Fail(TOOLCORE_ERR_UNSUPPORTED, "a constant, a flag or a field that this version does not know");
pub(crate) const MANY: Fail = Fail(TOOLCORE_ERR_UNSUPPORTED, "a list is longer than its limit");
/// Like [`UNKNOWN`], for one field.
macro_rules! unknown {
    ($field:literal) => {
        crate::guard::Fail(
            crate::status::TOOLCORE_ERR_UNSUPPORTED,
            concat!("'", $field, "' has a value that this version does not know"),
        )
    };
}
pub(crate) use unknown;

pub(crate) const NOT_FOUND: Fail =
    Fail(TOOLCORE_ERR_NOT_FOUND, "there is nothing of that name or at that place");
pub(crate) const FULL: Fail = Fail(TOOLCORE_ERR_FULL, "all places are taken");
pub(crate) const WRONG_TYPE: Fail = Fail(TOOLCORE_ERR_WRONG_TYPE, "the value is of another type");
pub(crate) const OUT_OF_RANGE: Fail = Fail(TOOLCORE_ERR_OUT_OF_RANGE, "the number does not fit");
pub(crate) const NO_CALLBACK: Fail =
    Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "a function is NULL that must not be");
#[cfg(feature = "mailbox")]
pub(crate) const TOO_LONG_MESSAGE: Fail =
    Fail(TOOLCORE_ERR_OUT_OF_RANGE, "a text is longer than TOOLCORE_MAILBOX_TEXT_MAX");
pub(crate) const BUSY: Fail =
    Fail(TOOLCORE_ERR_BUSY, "the object is in use: a callback that it runs must not use it");
pub(crate) const OPEN_TURN: Fail =
    Fail(TOOLCORE_ERR_BUSY, "a turn is not finished; call toolcore_finish before");
pub(crate) const NO_TURN: Fail = Fail(TOOLCORE_ERR_NOT_FOUND, "there is no turn; toolcore_start begins one");
pub(crate) const NO_SPACE: Fail = Fail(TOOLCORE_ERR_NO_SPACE, "the memory or the buffer is too small");

/// Runs `body` and gives its status; `why` may be NULL.
///
/// # Safety
/// `why`, and what `body` hands to its [`Caller`], came from C code that keeps the rules of the header.
pub(crate) unsafe fn guard(
    why: *mut toolcore_detail_t,
    body: impl FnOnce(Caller, &mut Why) -> Result<(), Fail>,
) -> toolcore_status_t {
    // SAFETY: the same contract.
    unsafe { guard_taking(why, |_| (), |c, (), why| body(c, why)) }
}

/// Like [`guard`], and runs `take` before anything can fail.
///
/// # Safety
/// That of [`guard`].
pub(crate) unsafe fn guard_taking<A>(
    why: *mut toolcore_detail_t,
    take: impl FnOnce(Caller) -> A,
    body: impl FnOnce(Caller, A, &mut Why) -> Result<(), Fail>,
) -> toolcore_status_t {
    // SAFETY: the caller says that all comes from C code that keeps the rules.
    let c = unsafe { Caller::trust() };
    let outcome = catch(|| {
        let taken = take(c);
        let mut why = Why::open(c, why)?;
        let outcome = body(c, taken, &mut why);
        why.close(outcome);
        outcome
    });
    match outcome {
        Some(Ok(())) => TOOLCORE_OK,
        Some(Err(fail)) => fail.0,
        None => {
            if let Ok(mut why) = Why::open(c, why) {
                why.close(Err(Fail(TOOLCORE_ERR_PANIC, "a defect in the library was caught")));
            }
            TOOLCORE_ERR_PANIC
        }
    }
}

/// Runs `body` where there is no status to return: `default` if it gives nothing.
///
/// # Safety
/// That of [`guard`].
pub(crate) unsafe fn read<T>(default: T, body: impl FnOnce(Caller) -> Result<T, Fail>) -> T {
    // SAFETY: the caller says that all comes from C code that keeps the rules.
    let c = unsafe { Caller::trust() };
    catch(|| body(c)).and_then(Result::ok).unwrap_or(default)
}

#[cfg(feature = "std")]
fn catch<T>(body: impl FnOnce() -> T) -> Option<T> {
    // What a panic leaves half-done is only used again if the host ignores the status.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).ok()
}

#[cfg(not(feature = "std"))]
fn catch<T>(body: impl FnOnce() -> T) -> Option<T> {
    Some(body())
}

/// The caller's detail, if it wants one.
pub(crate) struct Why {
    target: Option<NonNull<toolcore_detail_t>>,
    /// Its size, as the caller has it.
    size: usize,
    sink: Sink<'static>,
    /// The byte at which a text is wrong.
    pub(crate) offset: usize,
    /// Bytes that would be enough.
    pub(crate) need: usize,
    /// What the message says after these bytes; none where it names them in words of its own.
    pub(crate) need_of: Option<&'static str>,
    /// A `TOOLCORE_JSON_ERR_`.
    pub(crate) reason: u32,
    /// Which resource is meant, counted from one.
    pub(crate) resource: usize,
    /// How much of the message is a place in a schema.
    pub(crate) place_len: usize,
    /// Whether the message is kept where nothing was wrong.
    pub(crate) notes: bool,
}

impl Why {
    /// Fails if there is a detail that is not of its size.
    fn open(c: Caller, target: *mut toolcore_detail_t) -> Result<Self, Fail> {
        let target = NonNull::new(target);
        let (sink, size) = match target {
            // The last byte stays free for the NUL.
            Some(target) => c.detail_message(target).map(|(message, size)| (Sink::new(message), size))?,
            None => (Sink::measure(), 0),
        };
        Ok(Why {
            target,
            size,
            sink,
            offset: NO_OFFSET,
            need: 0,
            need_of: Some(" needed"),
            reason: 0,
            resource: 0,
            place_len: 0,
            notes: false,
        })
    }

    /// Where the message goes.
    pub(crate) fn sink(&mut self) -> &mut Sink<'static> {
        &mut self.sink
    }

    /// Says that the provider answered with an error, in the words that `write` writes if there are any.
    pub(crate) fn provider(
        &mut self,
        error: impl Explain,
        write: impl FnOnce(&mut Sink<'static>) -> bool,
    ) -> Fail {
        let start = self.sink.len();
        self.sink.put("the provider answered with an error: ");
        if write(&mut self.sink) {
            return self.numbers(error);
        }
        self.sink.truncate(start);
        self.error(error)
    }

    /// Says in words and numbers what an error of the core is; gives its status.
    pub(crate) fn error<E: Explain>(&mut self, error: E) -> Fail {
        if self.target.is_some() {
            core::fmt::Write::write_fmt(&mut self.sink, format_args!("{error}")).ok();
        }
        self.numbers(error)
    }

    /// Notes how much of the message is the place in a schema that is refused.
    pub(crate) fn place(&mut self, error: SchemaError, schema: &str, resources: &[Resource<'_>]) {
        let mut place = Sink::measure();
        error.write_place(schema, resources, &mut place);
        self.place_len = place.len();
    }

    /// Like [`Why::error`] where the words are there already.
    pub(crate) fn numbers<E: Explain>(&mut self, error: E) -> Fail {
        error.more(self);
        Fail(error.status(), "")
    }

    /// Fills in the detail. Nothing is written to the sink after it.
    fn close(&mut self, outcome: Result<(), Fail>) {
        let Some(target) = self.target else { return };
        let status = match outcome {
            Ok(()) => {
                if !self.notes {
                    self.sink.truncate(0);
                }
                (self.offset, self.need, self.reason) = (NO_OFFSET, 0, 0);
                (self.resource, self.place_len) = (0, 0);
                TOOLCORE_OK
            }
            Err(Fail(status, text)) => {
                // The core counts what it was given, and in units of its own.
                if let (TOOLCORE_ERR_NO_SPACE, 1.., Some(of)) = (status, self.need, self.need_of) {
                    self.sink.truncate(0);
                    self.sink.put("no space: ");
                    self.sink.put_u64(self.need as u64);
                    self.sink.put(" bytes");
                    self.sink.put(of);
                    self.place_len = 0;
                }
                if self.sink.is_empty() {
                    self.sink.put(text);
                }
                status
            }
        };
        let message_len = core::mem::replace(&mut self.sink, Sink::measure()).finish_cut().len();
        let base = target.cast::<u8>();
        let message = offset_of!(toolcore_detail_t, message) + message_len;
        // SAFETY: `open` found the struct to have its size, and C says that it may be written; the message is
        // shorter than its array. Written field by field, since the message is there already.
        unsafe {
            base.add(offset_of!(toolcore_detail_t, message_len)).cast().write_unaligned(message_len);
            base.add(offset_of!(toolcore_detail_t, offset)).cast().write_unaligned(self.offset);
            base.add(offset_of!(toolcore_detail_t, need)).cast().write_unaligned(self.need);
            base.add(offset_of!(toolcore_detail_t, status)).cast().write_unaligned(status);
            base.add(offset_of!(toolcore_detail_t, reason)).cast().write_unaligned(self.reason);
            base.add(message).cast::<c_char>().write(0);
        }
        let place_len = self.place_len.min(message_len);
        for (at, value) in [
            (offset_of!(toolcore_detail_t, resource), self.resource),
            (offset_of!(toolcore_detail_t, place_len), place_len),
        ] {
            if at + size_of::<usize>() <= self.size {
                // SAFETY: as above; an older caller's struct, which ends before them, is not written to.
                unsafe { base.add(at).cast().write_unaligned(value) };
            }
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status() {
        // SAFETY: nothing comes from C.
        let status = unsafe { guard(core::ptr::null_mut(), |_, _| panic!("a defect")) };
        assert_eq!(status, TOOLCORE_ERR_PANIC);
        // SAFETY: nothing comes from C.
        assert_eq!(unsafe { read(7, |_| panic!("a defect")) }, 7);
    }
}
