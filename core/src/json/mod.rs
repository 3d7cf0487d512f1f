//! JSON text, read strictly and written safely, without a tree and without a heap.
//!
//! - [`validate`] says whether a text is JSON, [`Reader`] gives its events one by one, and [`parse`] checks
//!   the whole text and gives a lazy view of it ([`Value`]). All three are one scanner and agree on every
//!   input.
//! - [`Str`] and [`Number`] are source text that was checked: strings compare and decode with their escapes,
//!   numbers are exact decimals. Nothing is converted until it is asked for.
//! - [`Writer`] writes JSON into a [`Sink`]; [`repair`] mends what models commonly get
//!   wrong, when asked to.
//!
//! The rules are those of RFC 8259 with UTF-8 required (section 8.1) and a leading byte order mark refused.
//! Beyond the grammar there is one limit, the depth of nesting; reading is a loop, so depth costs no stack.
//! Every error has a reason and a byte offset: the first byte that cannot be there, or the backslash of an
//! escape that is wrong. Equal keys in one object are allowed, as in the RFC; [`Value::get`] takes the first.
//!
//! ```
//! use toolcore::json;
//! let value = json::parse(br#"{"city":"Troms\u00f8","days":[1,2.0]}"#, &json::Options::default()).unwrap();
//! assert!(value.get("city").unwrap().as_str().unwrap() == "Tromsø");
//! assert_eq!(value.pointer("/days/1").unwrap().as_number().unwrap().as_i64(), Ok(2));
//! let error = json::validate(b"[1,]", &json::Options::default()).unwrap_err();
//! assert_eq!((error.reason.name(), error.offset), ("expected-value", 3));
//! ```

mod bytes;
mod number;
mod read;
mod repair;
mod scan;
mod text;
mod value;
mod write;

#[cfg(test)]
mod tests;

pub use number::{Number, NumberError};
pub use read::{Elements, Event, Members, Reader};
pub use repair::{RepairError, Repaired, Repairs, repair};
pub use text::{Chars, Str, replace_surrogates, rewrite_escapes};
#[cfg(feature = "stream")]
pub(crate) use text::{decode_in_place, escape_in_place};
pub use value::{Entries, Items, Kind, Value, pointer_at};
pub use write::{Mark, NotFinite, Writer, escaped_len, escaped_prefix};

// What a one-pass checker is built of.
#[cfg(feature = "stream")]
pub(crate) use bytes::plain_len;
pub(crate) use bytes::{after_string, after_value, ascii, blanks, plain, spaces};
pub(crate) use scan::Scan;
pub(crate) use value::put_token;

use crate::sink::Sink;
use thiserror_no_std::Error;

/// Whether `text` is one JSON value with nothing but blanks around it.
pub fn validate(text: &[u8], options: &Options) -> Result<(), Error> {
    // ASCII needs no look at UTF-8, and is what most texts are.
    let (mut scan, text) = if bytes::is_ascii(text) {
        (Scan::over(text.len(), false, options), text)
    } else {
        let (scan, text) = Scan::new(text, options);
        (scan, text.as_bytes())
    };
    let read = scan.whole(text).map(|_| ());
    scan.result(read)
}

/// Checks the whole of `text` and gives a view of its value. What the view says afterwards cannot fail.
pub fn parse<'j>(text: &'j [u8], options: &Options) -> Result<Value<'j>, Error> {
    let (mut scan, text) = Scan::new(text, options);
    let read = scan.whole(text.as_bytes());
    let rest = scan.result(read)?;
    let start = bytes::blanks(text.as_bytes());
    Ok(Value::new(text.get(scan.offset(start)..scan.offset(rest)).unwrap_or_default()))
}

/// What to accept beyond the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Containers that may be open at once: `1` allows `[]` and refuses `[[]]`. More than [`MAX_DEPTH`] means
    /// [`MAX_DEPTH`].
    pub max_depth: u16,
    /// What a lone surrogate escape is.
    pub surrogates: Surrogates,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_depth: MAX_DEPTH, surrogates: Surrogates::Reject }
    }
}

/// What an escape such as `\ud83d` is when it has no partner. The grammar allows it, yet it is no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surrogates {
    /// An error at its backslash.
    Reject,
    /// The replacement character U+FFFD. What follows it is kept.
    Replace,
}

/// The deepest nesting that can be read.
pub const MAX_DEPTH: u16 = 128;

/// Why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{} at byte {offset}", .reason.message())]
pub struct Error {
    /// What is wrong.
    pub reason: Reason,
    /// The first byte that cannot be there (the text's length when more was due), or the backslash of a wrong
    /// escape.
    pub offset: usize,
}
impl core::error::Error for Error {}

impl Error {
    /// Writes the same words as `Display`.
    pub fn write(self, sink: &mut Sink<'_>) {
        sink.put(self.reason.message());
        sink.put(" at byte ");
        sink.put_u64(self.offset as u64);
    }
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The text stops before its value is whole.
    UnexpectedEnd,
    /// Something follows the value.
    TrailingData,
    /// A value is due.
    ExpectedValue,
    /// A key in double quotes is due.
    ExpectedKey,
    /// The colon after a key is due.
    ExpectedColon,
    /// A comma or the end of the container is due.
    ExpectedComma,
    /// A word that is not `true`, `false` or `null`.
    BadLiteral,
    /// A number with a leading zero or plus sign, or with digits missing.
    BadNumber,
    /// A backslash followed by something that is no escape.
    BadEscape,
    /// A byte below 0x20 inside a string.
    ControlCharacter,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Half of a surrogate pair.
    LoneSurrogate,
    /// Nesting beyond the limit.
    DepthLimit,
    /// The text starts with a byte order mark.
    ByteOrderMark,
}

impl Reason {
    /// The reason in one word, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::UnexpectedEnd => "unexpected-end",
            Reason::TrailingData => "trailing-data",
            Reason::ExpectedValue => "expected-value",
            Reason::ExpectedKey => "expected-key",
            Reason::ExpectedColon => "expected-colon",
            Reason::ExpectedComma => "expected-comma",
            Reason::BadLiteral => "bad-literal",
            Reason::BadNumber => "bad-number",
            Reason::BadEscape => "bad-escape",
            Reason::ControlCharacter => "control-character",
            Reason::InvalidUtf8 => "invalid-utf8",
            Reason::LoneSurrogate => "lone-surrogate",
            Reason::DepthLimit => "depth-limit",
            Reason::ByteOrderMark => "byte-order-mark",
        }
    }

    /// The reason as a phrase that `at byte N` can follow, with the remedy where there is one to name.
    pub const fn message(self) -> &'static str {
        match self {
            Reason::UnexpectedEnd => "unexpected end of text",
            Reason::TrailingData => "trailing data",
            Reason::ExpectedValue => "expected a value",
            Reason::ExpectedKey => "expected a key in double quotes",
            Reason::ExpectedColon => "expected a colon after the key",
            Reason::ExpectedComma => "expected a comma or the end of the container",
            Reason::BadLiteral => "unknown word (true, false and null are the only ones)",
            Reason::BadNumber => "malformed number",
            Reason::BadEscape => "malformed escape (write a backslash itself as \\\\)",
            Reason::ControlCharacter => "control character in a string (write it as an escape)",
            Reason::InvalidUtf8 => "bytes that are not UTF-8",
            Reason::LoneSurrogate => "lone surrogate escape",
            Reason::DepthLimit => "nesting deeper than the limit",
            Reason::ByteOrderMark => "byte order mark (JSON starts without one)",
        }
    }
}
