//! Writing JSON text.

use core::ffi::c_char;
use core::ptr;

use toolcore_core::json::Writer;
use toolcore_core::sink::Sink;

use crate::abi::{Caller, Span, toolcore_str_t};
use crate::guard::{ENDED, Fail, OUT_OF_RANGE, guard};
use crate::json::value;
use crate::status::{TOOLCORE_ERR_INVALID_ARGUMENT, TOOLCORE_OK, toolcore_status_t};

/// The most containers that a toolcore_json_writer_t can have open, as many as toolcore_json_validate lets pass.
pub const TOOLCORE_JSON_WRITER_DEPTH_MAX: u32 = 128;

/// Writes JSON into a buffer: puts commas, escapes strings, counts past the end. Its fields are the
/// library's. Made by toolcore_json_writer_init. One thread at a time.
///
/// What comes out is JSON, or toolcore_json_writer_end fails. A piece where none may stand is
/// ERR_INVALID_ARGUMENT: a value without a key in an object or after the root's end, a key elsewhere or after a
/// key, the end of another container, a container inside TOOLCORE_JSON_WRITER_DEPTH_MAX others. The first failure
/// is kept: all calls after it return it and write nothing, toolcore_json_writer_end too, so that the calls before
/// need not be checked.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_json_writer_t {
    /// The buffer.
    pub buf: *mut c_char,
    /// Its bytes.
    pub size: usize,
    /// Bytes written, those past the end included.
    pub written: usize,
    /// Marks a writer that was made.
    pub magic: u32,
    /// What may come next.
    pub due: u32,
    /// Containers that are open.
    pub depth: u32,
    /// The first failure.
    pub status: toolcore_status_t,
    /// Of what kind they are, a bit for each.
    pub open: [u32; 4],
}

/// Begins to write into `buf`, which is used until toolcore_json_writer_end; (NULL, 0) measures.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_init(
    writer: *mut toolcore_json_writer_t,
    buf: *mut c_char,
    len: usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        c.bytes_mut(buf.cast(), len)?;
        let state = toolcore_json_writer_t {
            buf,
            size: len,
            written: 0,
            magic: WRITER,
            due: FIRST,
            depth: 0,
            status: TOOLCORE_OK,
            open: [0; 4],
        };
        c.out(writer)?.set(state);
        Ok(())
    })
}

/// Writes "{". Members follow, each a key and a value.
///
/// Returns TOOLCORE_OK, also when it does not fit; ERR_INVALID_ARGUMENT, also where it may not stand, for a text
/// that lies in the buffer, and after toolcore_json_writer_end; the first failure if there was one. The same holds
/// for all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_object_start(
    writer: *mut toolcore_json_writer_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Start(Kind::Object), |_, out| {
            out.object_start();
            Ok(())
        })
    })
}

/// Writes "}".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_object_end(
    writer: *mut toolcore_json_writer_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::End(Kind::Object), |_, out| {
            out.object_end();
            Ok(())
        })
    })
}

/// Writes "[". Items follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_array_start(
    writer: *mut toolcore_json_writer_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Start(Kind::Array), |_, out| {
            out.array_start();
            Ok(())
        })
    })
}

/// Writes "]".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_array_end(
    writer: *mut toolcore_json_writer_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::End(Kind::Array), |_, out| {
            out.array_end();
            Ok(())
        })
    })
}

/// Writes a key. Also ERR_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_key(
    writer: *mut toolcore_json_writer_t,
    key: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Key, |c, out| {
            out.key(c.text(key)?);
            Ok(())
        })
    })
}

/// Writes a string, escaped. Also ERR_INVALID_UTF8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_string(
    writer: *mut toolcore_json_writer_t,
    text: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |c, out| {
            out.string(c.text(text)?);
            Ok(())
        })
    })
}

/// Writes a value that is JSON already: checked, by itself, as toolcore_json_kind does, so that a lone surrogate
/// escape passes. Also ERR_BAD_JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_raw(
    writer: *mut toolcore_json_writer_t,
    json: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |c, out| {
            out.raw(value(c, json)?.raw());
            Ok(())
        })
    })
}

/// Writes an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_i64(
    writer: *mut toolcore_json_writer_t,
    value: i64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |_, out| {
            out.i64(value);
            Ok(())
        })
    })
}

/// Writes an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_u64(
    writer: *mut toolcore_json_writer_t,
    value: u64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |_, out| {
            out.u64(value);
            Ok(())
        })
    })
}

/// Writes a number in the fewest digits that read back as the same one. Also ERR_OUT_OF_RANGE for NaN and
/// the infinities, which JSON has not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_f64(
    writer: *mut toolcore_json_writer_t,
    value: f64,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |_, out| out.f64(value).map_err(|_| OUT_OF_RANGE))
    })
}

/// Writes "true" or, for 0, "false".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_bool(
    writer: *mut toolcore_json_writer_t,
    value: u32,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |_, out| {
            out.bool(value != 0);
            Ok(())
        })
    })
}

/// Writes "null".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_null(writer: *mut toolcore_json_writer_t) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |_, out| {
            out.null();
            Ok(())
        })
    })
}

/// Ends the text and gives its length, as all functions that write into a buffer do.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_INVALID_ARGUMENT, also if a container is open or nothing was
/// written; the first failure if there was one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_end(
    writer: *mut toolcore_json_writer_t,
    out_len: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        c.out(out_len)?.set(0);
        let mut state = begun(c, writer)?;
        state.magic = 0;
        c.out(writer)?.set(state);
        let output = c.output(state.buf, state.size, out_len)?;
        if state.status != TOOLCORE_OK {
            return Err(Fail(state.status, ""));
        }
        if state.depth != 0 || state.due != AFTER {
            return Err(NOT_WHOLE);
        }
        output.finish(state.written)
    })
}

/// Marks a writer that was begun.
const WRITER: u32 = u32::from_be_bytes(*b"TCwr");

/// toolcore_json_writer_t.due: the first element of a container, or the root.
const FIRST: u32 = 0;
/// toolcore_json_writer_t.due: another element, or the end; after the root, nothing.
const AFTER: u32 = 1;
/// toolcore_json_writer_t.due: the value of a key.
const VALUE: u32 = 2;

const NOT_WHOLE: Fail =
    Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "the text is not whole: a container is open, or nothing was written");
const MISPLACED: Fail = Fail(
    TOOLCORE_ERR_INVALID_ARGUMENT,
    "no such piece of JSON may stand here, or too many containers are open",
);

fn begun(c: Caller, writer: *mut toolcore_json_writer_t) -> Result<toolcore_json_writer_t, Fail> {
    let state = c.state(writer)?;
    if state.magic == WRITER { Ok(state) } else { Err(ENDED) }
}

/// What a piece of JSON is to the state of its writer.
#[derive(Clone, Copy)]
enum Piece {
    Key,
    Value,
    Start(Kind),
    End(Kind),
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Array,
    Object,
}

impl toolcore_json_writer_t {
    /// The state after a piece, if that may stand here.
    fn after(mut self, piece: Piece) -> Option<Self> {
        let inside = self.inside();
        let allowed = match piece {
            Piece::Key => inside == Some(Kind::Object) && self.due != VALUE,
            Piece::End(kind) => inside == Some(kind) && self.due != VALUE,
            Piece::Value | Piece::Start(_) => match inside {
                Some(Kind::Object) => self.due == VALUE,
                Some(Kind::Array) => true,
                None => self.due == FIRST,
            },
        };
        if !allowed {
            return None;
        }
        match piece {
            Piece::Start(kind) => self.enter(kind)?,
            Piece::End(_) => self.depth -= 1,
            Piece::Key | Piece::Value => {}
        }
        self.due = match piece {
            Piece::Key => VALUE,
            Piece::Start(_) => FIRST,
            Piece::Value | Piece::End(_) => AFTER,
        };
        Some(self)
    }

    /// The innermost container that is open.
    fn inside(&self) -> Option<Kind> {
        let at = self.depth.checked_sub(1)?;
        let bits = self.open.get((at / 32) as usize)?;
        Some(if bits >> (at % 32) & 1 == 0 { Kind::Array } else { Kind::Object })
    }

    fn enter(&mut self, kind: Kind) -> Option<()> {
        let bits = self.open.get_mut((self.depth / 32) as usize)?;
        let bit = 1 << (self.depth % 32);
        *bits = if kind == Kind::Object { *bits | bit } else { *bits & !bit };
        self.depth += 1;
        Some(())
    }
}

/// Writes a piece, unless something failed before. A piece that fails writes nothing.
fn write(
    c: Caller,
    writer: *mut toolcore_json_writer_t,
    piece: Piece,
    what: impl FnOnce(Caller, &mut Writer<'_, '_>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    let mut state = begun(c, writer)?;
    if state.status != TOOLCORE_OK {
        return Err(Fail(state.status, ""));
    }
    let written = state.after(piece).ok_or(MISPLACED).and_then(|after| {
        let mut sink = Sink::resume(c.bytes_mut(state.buf.cast(), state.size)?, state.written);
        if state.due == AFTER && !matches!(piece, Piece::End(_)) {
            sink.put(",");
        }
        what(c.apart_from(Span::new(state.buf, state.size)), &mut Writer::new(&mut sink))?;
        Ok(toolcore_json_writer_t { written: sink.len(), ..after })
    });
    state = match written {
        Ok(after) => after,
        Err(Fail(status, _)) => toolcore_json_writer_t { status, ..state },
    };
    c.out(writer)?.set(state);
    written.map(|_| ())
}
