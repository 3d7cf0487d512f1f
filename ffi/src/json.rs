//! Reading JSON text, strictly.

use core::ffi::{CStr, c_char};
use core::ptr;

use toolcore_core::json::{self, Kind, Options, Reason, Surrogates, Value};
use toolcore_core::sink::Sink;

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::guard::{ENDED, Fail, NOT_FOUND, WRONG_TYPE, guard, read, unknown};
use crate::status::{Explain, toolcore_detail_t, toolcore_status_t};

/// An object.
pub const TOOLCORE_JSON_OBJECT: u32 = 1;
/// An array.
pub const TOOLCORE_JSON_ARRAY: u32 = 2;
/// A string.
pub const TOOLCORE_JSON_STRING: u32 = 3;
/// A number.
pub const TOOLCORE_JSON_NUMBER: u32 = 4;
/// true or false
pub const TOOLCORE_JSON_BOOLEAN: u32 = 5;
/// null
pub const TOOLCORE_JSON_NULL: u32 = 6;

/// The text stops before its value is whole.
pub const TOOLCORE_JSON_ERR_UNEXPECTED_END: u32 = 1;
/// Something follows the value.
pub const TOOLCORE_JSON_ERR_TRAILING_DATA: u32 = 2;
/// A value is due.
pub const TOOLCORE_JSON_ERR_EXPECTED_VALUE: u32 = 3;
/// A key in double quotes is due.
pub const TOOLCORE_JSON_ERR_EXPECTED_KEY: u32 = 4;
/// The colon after a key is due.
pub const TOOLCORE_JSON_ERR_EXPECTED_COLON: u32 = 5;
/// A comma or the end of the container is due.
pub const TOOLCORE_JSON_ERR_EXPECTED_COMMA: u32 = 6;
/// A word that is not true, false or null.
pub const TOOLCORE_JSON_ERR_BAD_LITERAL: u32 = 7;
/// A malformed number.
pub const TOOLCORE_JSON_ERR_BAD_NUMBER: u32 = 8;
/// A backslash followed by something that is no escape.
pub const TOOLCORE_JSON_ERR_BAD_ESCAPE: u32 = 9;
/// A byte below 0x20 inside a string.
pub const TOOLCORE_JSON_ERR_CONTROL_CHARACTER: u32 = 10;
/// Bytes that are not UTF-8.
pub const TOOLCORE_JSON_ERR_INVALID_UTF8: u32 = 11;
/// Half of a surrogate pair.
pub const TOOLCORE_JSON_ERR_LONE_SURROGATE: u32 = 12;
/// Nesting beyond the limit.
pub const TOOLCORE_JSON_ERR_DEPTH_LIMIT: u32 = 13;
/// The text starts with a byte order mark.
pub const TOOLCORE_JSON_ERR_BYTE_ORDER_MARK: u32 = 14;

/// toolcore_json_opts_t.flags: a lone surrogate escape is U+FFFD; without it, an error.
pub const TOOLCORE_JSON_REPLACE_SURROGATES: u32 = 1;

/// How JSON is read. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_json_opts_t {
    /// sizeof(toolcore_json_opts_t)
    pub struct_size: usize,
    /// Containers that may be open at once; 0 for the default, 128, which is the most.
    pub max_depth: u32,
    /// TOOLCORE_JSON_REPLACE_SURROGATES, or 0.
    pub flags: u32,
}

/// Whether a text is one JSON value (RFC 8259, UTF-8) with nothing but blanks around it.
///
/// Returns TOOLCORE_OK; ERR_BAD_JSON (why.offset and why.reason say where and why); ERR_UNSUPPORTED;
/// ERR_INVALID_ARGUMENT.
/// Threads: any, as for all functions that take JSON text. None of them keeps it. The others have no options:
/// they take the defaults, but that a lone surrogate escape is U+FFFD, as with
/// TOOLCORE_JSON_REPLACE_SURROGATES. So what is refused here for that alone is JSON to them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_validate(
    text: toolcore_str_t,
    opts: *const toolcore_json_opts_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let text = c.bytes(text.ptr.cast(), text.len)?;
        let toolcore_json_opts_t { max_depth, flags, .. } = c.options(opts)?;
        json::validate(text, &read_options(max_depth, flags)?).map_err(|error| why.error(error))
    })
}

/// The name of a TOOLCORE_JSON_ERR_, such as "trailing-data"; "" for any other number. Never NULL, lives as
/// long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_json_reason_name(reason: u32) -> *const c_char {
    name(reason).as_ptr()
}

/// What a JSON text is, one of TOOLCORE_JSON_OBJECT to TOOLCORE_JSON_NULL; 0 if it is not JSON. A lone surrogate
/// escape passes here and in the functions that follow; see toolcore_json_validate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_kind(json: toolcore_str_t) -> u32 {
    read(0, |c| Ok(kind(value(c, json)?.kind())))
}

/// A value inside a JSON text: `path` is a JSON Pointer if it begins with "/" ("/calls/0/name"), else one
/// property's name taken whole. *out points into `json`. The whole text is checked at each call.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_BAD_JSON; ERR_INVALID_UTF8 for `path`; ERR_INVALID_ARGUMENT.
/// Unless OK, *out is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_get(
    json: toolcore_str_t,
    path: toolcore_str_t,
    out: *mut toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(toolcore_str_t::EMPTY);
        let path = c.text(path)?;
        let root = value(c, json)?;
        let found = if path.starts_with('/') { root.pointer(path) } else { root.get(path) };
        out.set(toolcore_str_t::of(found.ok_or(NOT_FOUND)?.raw()));
        Ok(())
    })
}

/// Writes the text that a JSON string stands for, U+FFFD for a lone surrogate escape.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_WRONG_TYPE; ERR_BAD_JSON; ERR_INVALID_ARGUMENT, also for a string
/// that lies in the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_string(
    json: toolcore_str_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let mut output = c.output_beside(buf, len, out_len, [Span::of_text(json)])?;
        let text = value(c, json)?.as_str().ok_or(WRONG_TYPE)?;
        let mut sink = Sink::new(output.buffer());
        text.decode(&mut sink);
        let len = sink.len();
        output.finish(len)
    })
}

/// Whether `json` is a JSON string that stands for `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_string_is(json: toolcore_str_t, text: toolcore_str_t) -> bool {
    read(false, |c| {
        let text = c.text(text)?;
        Ok(value(c, json)?.as_str().is_some_and(|string| string.eq_str(text)))
    })
}

/// The value of a JSON number that is an integer; 5.0 and 1e2 are.
///
/// Returns TOOLCORE_OK; ERR_WRONG_TYPE; ERR_OUT_OF_RANGE; ERR_BAD_JSON; ERR_INVALID_ARGUMENT. Unless OK, *out
/// is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_i64(json: toolcore_str_t, out: *mut i64) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let out = c.out(out)?;
        let number = value(c, json)?.as_number().ok_or(WRONG_TYPE)?;
        out.set(number.as_i64().map_err(|error| why.error(error))?);
        Ok(())
    })
}

/// The value of a JSON number that is an integer and not negative.
///
/// Returns TOOLCORE_OK; ERR_WRONG_TYPE; ERR_OUT_OF_RANGE; ERR_BAD_JSON; ERR_INVALID_ARGUMENT. Unless OK, *out
/// is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_u64(json: toolcore_str_t, out: *mut u64) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let out = c.out(out)?;
        let number = value(c, json)?.as_number().ok_or(WRONG_TYPE)?;
        out.set(number.as_u64().map_err(|error| why.error(error))?);
        Ok(())
    })
}

/// The value of a JSON number, as the nearest double.
///
/// Returns TOOLCORE_OK; ERR_WRONG_TYPE; ERR_OUT_OF_RANGE, never an infinity; ERR_BAD_JSON;
/// ERR_INVALID_ARGUMENT. Unless OK, *out is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_f64(json: toolcore_str_t, out: *mut f64) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, why| {
        let out = c.out(out)?;
        let number = value(c, json)?.as_number().ok_or(WRONG_TYPE)?;
        out.set(number.as_f64().map_err(|error| why.error(error))?);
        Ok(())
    })
}

/// The value of a JSON boolean.
///
/// Returns TOOLCORE_OK; ERR_WRONG_TYPE; ERR_BAD_JSON; ERR_INVALID_ARGUMENT. Unless OK, *out is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_bool(json: toolcore_str_t, out: *mut bool) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(value(c, json)?.as_bool().ok_or(WRONG_TYPE)?);
        Ok(())
    })
}

/// Walks over the members of an object or the items of an array. Its fields are the library's; it may be
/// copied. Made by toolcore_json_iter_init, needs no end.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_json_iter_t {
    /// The container's text.
    pub text: toolcore_str_t,
    /// Where the next element is.
    pub position: usize,
    /// Marks an iterator that was made.
    pub magic: u32,
    /// The container's kind.
    pub kind: u32,
}

/// Begins a walk over a JSON object or array. The text is checked here; it must stay as it is until the walk
/// ends.
///
/// Returns TOOLCORE_OK; ERR_WRONG_TYPE; ERR_BAD_JSON; ERR_INVALID_ARGUMENT. Unless OK, the walk has nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_iter_init(
    iter: *mut toolcore_json_iter_t,
    json: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let iter = c.out(iter)?;
        let mut walk =
            toolcore_json_iter_t { text: toolcore_str_t::EMPTY, position: 0, magic: ITER, kind: 0 };
        iter.set(walk);
        let container = value(c, json)?;
        if !matches!(container.kind(), Kind::Object | Kind::Array) {
            return Err(WRONG_TYPE);
        }
        walk.text = toolcore_str_t::of(container.raw());
        // Past the bracket.
        (walk.position, walk.kind) = (1, kind(container.kind()));
        iter.set(walk);
        Ok(())
    })
}

/// The next member or item; false at the end. *key is the key as a JSON string with its quotes (for
/// toolcore_json_string), empty in an array; *value is the value's JSON text. Both point into the text that
/// the walk began with. `key` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_json_iter_next(
    iter: *mut toolcore_json_iter_t,
    key: *mut toolcore_str_t,
    value: *mut toolcore_str_t,
) -> bool {
    read(false, |c| {
        let value = c.out(value)?;
        let mut walk = c.state(iter)?;
        if walk.magic != ITER {
            return Err(ENDED);
        }
        let found = step(c.checked_text(walk.text)?, &mut walk);
        let (name, text) = found.unwrap_or_default();
        c.out(iter)?.set(walk);
        if let Ok(key) = c.out(key) {
            key.set(toolcore_str_t::of(name));
        }
        value.set(toolcore_str_t::of(text));
        Ok(found.is_some())
    })
}

sized_struct!(toolcore_json_opts_t);

/// How C wants JSON to be read.
pub(crate) fn read_options(max_depth: u32, flags: u32) -> Result<Options, Fail> {
    if flags & !TOOLCORE_JSON_REPLACE_SURROGATES != 0 {
        return Err(unknown!("flags"));
    }
    let mut options = Options::default();
    if max_depth != 0 {
        options.max_depth = u16::try_from(max_depth).unwrap_or(u16::MAX);
    }
    if flags & TOOLCORE_JSON_REPLACE_SURROGATES != 0 {
        options.surrogates = Surrogates::Replace;
    }
    Ok(options)
}

/// A text that is JSON, read with the defaults but that lone surrogates pass: whoever gave the text out has
/// decided about them.
pub(crate) fn value<'m>(c: Caller, json: toolcore_str_t) -> Result<Value<'m>, Fail> {
    let options = Options { surrogates: Surrogates::Replace, ..Options::default() };
    let text = c.bytes(json.ptr.cast(), json.len)?;
    json::parse(text, &options).map_err(|error| Fail(error.status(), error.reason.message()))
}

/// The next element of a walk: the key as it stands in the text, and the value.
fn step<'t>(text: &'t str, walk: &mut toolcore_json_iter_t) -> Option<(&'t str, &'t str)> {
    if walk.kind == TOOLCORE_JSON_ARRAY {
        let mut items = Value::from_checked(text).items_from(walk.position);
        let item = items.next()?;
        walk.position = items.position();
        return Some(("", item.raw()));
    }
    let mut entries = Value::from_checked(text).entries_from(walk.position);
    let (key, value) = entries.next()?;
    walk.position = entries.position();
    // The key's quotes stand around it.
    let start = key.raw().as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    let quoted = text.get(start.checked_sub(1)?..start.checked_add(key.raw().len())?.checked_add(1)?)?;
    Some((quoted, value.raw()))
}

/// Marks a walk that was begun.
const ITER: u32 = u32::from_be_bytes(*b"TCit");

fn kind(kind: Kind) -> u32 {
    match kind {
        Kind::Object => TOOLCORE_JSON_OBJECT,
        Kind::Array => TOOLCORE_JSON_ARRAY,
        Kind::String => TOOLCORE_JSON_STRING,
        Kind::Number => TOOLCORE_JSON_NUMBER,
        Kind::Bool => TOOLCORE_JSON_BOOLEAN,
        Kind::Null => TOOLCORE_JSON_NULL,
    }
}

/// The constant of a reason.
pub(crate) fn reason(reason: Reason) -> u32 {
    match reason {
        Reason::UnexpectedEnd => TOOLCORE_JSON_ERR_UNEXPECTED_END,
        Reason::TrailingData => TOOLCORE_JSON_ERR_TRAILING_DATA,
        Reason::ExpectedValue => TOOLCORE_JSON_ERR_EXPECTED_VALUE,
        Reason::ExpectedKey => TOOLCORE_JSON_ERR_EXPECTED_KEY,
        Reason::ExpectedColon => TOOLCORE_JSON_ERR_EXPECTED_COLON,
        Reason::ExpectedComma => TOOLCORE_JSON_ERR_EXPECTED_COMMA,
        Reason::BadLiteral => TOOLCORE_JSON_ERR_BAD_LITERAL,
        Reason::BadNumber => TOOLCORE_JSON_ERR_BAD_NUMBER,
        Reason::BadEscape => TOOLCORE_JSON_ERR_BAD_ESCAPE,
        Reason::ControlCharacter => TOOLCORE_JSON_ERR_CONTROL_CHARACTER,
        Reason::InvalidUtf8 => TOOLCORE_JSON_ERR_INVALID_UTF8,
        Reason::LoneSurrogate => TOOLCORE_JSON_ERR_LONE_SURROGATE,
        Reason::DepthLimit => TOOLCORE_JSON_ERR_DEPTH_LIMIT,
        Reason::ByteOrderMark => TOOLCORE_JSON_ERR_BYTE_ORDER_MARK,
    }
}

/// The names of [`Reason`], with a NUL.
fn name(reason: u32) -> &'static CStr {
    match reason {
        TOOLCORE_JSON_ERR_UNEXPECTED_END => c"unexpected-end",
        TOOLCORE_JSON_ERR_TRAILING_DATA => c"trailing-data",
        TOOLCORE_JSON_ERR_EXPECTED_VALUE => c"expected-value",
        TOOLCORE_JSON_ERR_EXPECTED_KEY => c"expected-key",
        TOOLCORE_JSON_ERR_EXPECTED_COLON => c"expected-colon",
        TOOLCORE_JSON_ERR_EXPECTED_COMMA => c"expected-comma",
        TOOLCORE_JSON_ERR_BAD_LITERAL => c"bad-literal",
        TOOLCORE_JSON_ERR_BAD_NUMBER => c"bad-number",
        TOOLCORE_JSON_ERR_BAD_ESCAPE => c"bad-escape",
        TOOLCORE_JSON_ERR_CONTROL_CHARACTER => c"control-character",
        TOOLCORE_JSON_ERR_INVALID_UTF8 => c"invalid-utf8",
        TOOLCORE_JSON_ERR_LONE_SURROGATE => c"lone-surrogate",
        TOOLCORE_JSON_ERR_DEPTH_LIMIT => c"depth-limit",
        TOOLCORE_JSON_ERR_BYTE_ORDER_MARK => c"byte-order-mark",
        _ => c"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_the_names_of_the_core() {
        let reasons = [
            Reason::UnexpectedEnd,
            Reason::TrailingData,
            Reason::ExpectedValue,
            Reason::ExpectedKey,
            Reason::ExpectedColon,
            Reason::ExpectedComma,
            Reason::BadLiteral,
            Reason::BadNumber,
            Reason::BadEscape,
            Reason::ControlCharacter,
            Reason::InvalidUtf8,
            Reason::LoneSurrogate,
            Reason::DepthLimit,
            Reason::ByteOrderMark,
        ];
        for (number, of) in (1..).zip(reasons) {
            assert_eq!(reason(of), number);
            assert_eq!(name(number).to_str(), Ok(of.name()));
        }
        assert_eq!(name(0), c"");
    }
}
