//! Writing JSON text.

use core::ffi::c_char;
use core::ptr;

use toolcore_core::json::Writer;
use toolcore_core::sink::Sink;

use crate::abi::{Caller, toolcore_str_t};
use crate::guard::{ENDED, Fail, OUT_OF_RANGE, guard};
use crate::json::value;
use crate::status::{TOOLCORE_ERR_INVALID_ARGUMENT, TOOLCORE_OK, toolcore_status_t};

/// Writes JSON into a buffer: puts commas, escapes strings, counts past the end. Its fields are the
/// library's. The first failure is kept, and toolcore_json_writer_end returns it, so that the calls before
/// need not be checked. Made by toolcore_json_writer_init. One thread at a time.
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
    /// Whether a comma is due.
    pub comma: u32,
    /// Containers that are open.
    pub depth: u32,
    /// The first failure.
    pub status: toolcore_status_t,
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
            comma: 0,
            depth: 0,
            status: TOOLCORE_OK,
        };
        c.out(writer)?.set(state);
        Ok(())
    })
}

/// Writes "{". Members follow, each a key and a value.
///
/// Returns TOOLCORE_OK, also when it does not fit; ERR_INVALID_ARGUMENT, also after
/// toolcore_json_writer_end; the first failure if there was one. The same holds for all that follow.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_object_start(
    writer: *mut toolcore_json_writer_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Start, |out| {
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
        write(c, writer, Piece::End, |out| {
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
        write(c, writer, Piece::Start, |out| {
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
        write(c, writer, Piece::End, |out| {
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
        write(c, writer, Piece::Key, |out| {
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
        write(c, writer, Piece::Value, |out| {
            out.string(c.text(text)?);
            Ok(())
        })
    })
}

/// Writes a value that is JSON already. Also ERR_BAD_JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_raw(
    writer: *mut toolcore_json_writer_t,
    json: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |out| {
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
        write(c, writer, Piece::Value, |out| {
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
        write(c, writer, Piece::Value, |out| {
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
        write(c, writer, Piece::Value, |out| out.f64(value).map_err(|_| OUT_OF_RANGE))
    })
}

/// Writes "true" or, for 0, "false".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_bool(
    writer: *mut toolcore_json_writer_t,
    value: u32,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |out| {
            out.bool(value != 0);
            Ok(())
        })
    })
}

/// Writes "null".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_writer_null(writer: *mut toolcore_json_writer_t) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        write(c, writer, Piece::Value, |out| {
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
        if state.depth != 0 || state.written == 0 {
            return Err(UNBALANCED);
        }
        output.finish(state.written)
    })
}

/// Marks a writer that was begun.
const WRITER: u32 = u32::from_be_bytes(*b"TCwr");

const UNBALANCED: Fail =
    Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "the text is not whole: a container is open, or nothing was written");

fn begun(c: Caller, writer: *mut toolcore_json_writer_t) -> Result<toolcore_json_writer_t, Fail> {
    let state = c.state(writer)?;
    if state.magic == WRITER { Ok(state) } else { Err(ENDED) }
}

/// What a piece of JSON changes in the state of its writer.
#[derive(Clone, Copy)]
enum Piece {
    Key,
    Value,
    Start,
    End,
}

/// Writes a piece, unless something failed before. A piece that fails writes nothing.
fn write(
    c: Caller,
    writer: *mut toolcore_json_writer_t,
    piece: Piece,
    what: impl FnOnce(&mut Writer<'_, '_>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    let mut state = begun(c, writer)?;
    if state.status != TOOLCORE_OK {
        return Err(Fail(state.status, ""));
    }
    let mut sink = Sink::resume(c.bytes_mut(state.buf.cast(), state.size)?, state.written);
    if state.comma != 0 && !matches!(piece, Piece::End) {
        sink.put(",");
    }
    let depth = match piece {
        Piece::Key | Piece::Value => Some(state.depth),
        Piece::Start => state.depth.checked_add(1),
        Piece::End => state.depth.checked_sub(1),
    };
    let outcome = depth.ok_or(UNBALANCED).and_then(|depth| {
        what(&mut Writer::new(&mut sink))?;
        state.depth = depth;
        state.comma = u32::from(matches!(piece, Piece::Value | Piece::End));
        state.written = sink.len();
        Ok(())
    });
    if let Err(Fail(status, _)) = outcome {
        state.status = status;
    }
    c.out(writer)?.set(state);
    outcome
}
