//! Writing JSON into a [`Sink`]: commas, escapes, strings made of parts.

use super::bytes::{after_string, blanks, plain_bytes, stop};
use super::text::for_each_escape;
use super::{Str, Value};
use crate::sink::Sink;
use core::fmt::Write as _;
use thiserror_no_std::Error;

/// Writes JSON into a [`Sink`].
///
/// The writer puts commas and escapes; what it is called with decides the nesting, so the calls must be
/// balanced. Quotes, backslashes and control characters are escaped and everything else is UTF-8 as it is:
/// the text that comes out has no line break and no control character, unless [`Writer::raw`] brought one
/// between tokens.
///
/// ```
/// use toolcore::{json::Writer, sink::Sink};
/// let mut buffer = [0; 64];
/// let mut sink = Sink::new(&mut buffer);
/// let mut json = Writer::new(&mut sink);
/// json.object_start();
/// json.key("note");
/// json.string("line\n\"two\"");
/// json.key("n");
/// json.i64(-3);
/// json.object_end();
/// assert_eq!(sink.finish().unwrap(), r#"{"note":"line\n\"two\"","n":-3}"#);
/// ```
#[derive(Debug)]
pub struct Writer<'w, 'b> {
    sink: &'w mut Sink<'b>,
    /// The next key or value follows another one.
    comma: bool,
}

/// A place in the output that a [`Writer`] can go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    len: usize,
    comma: bool,
}

/// JSON has no NaN and no infinities; nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("number is not finite")]
pub struct NotFinite;
impl core::error::Error for NotFinite {}

impl<'w, 'b> Writer<'w, 'b> {
    /// Writes one value at the end of `sink`.
    pub fn new(sink: &'w mut Sink<'b>) -> Self {
        Writer { sink, comma: false }
    }

    /// The sink, to measure or to put text of one's own.
    pub fn sink(&mut self) -> &mut Sink<'b> {
        self.sink
    }

    /// The present place, to come back to with [`Writer::rewind`].
    pub fn mark(&self) -> Mark {
        Mark { len: self.sink.len(), comma: self.comma }
    }

    /// Takes back everything written since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.sink.truncate(mark.len);
        self.comma = mark.comma;
    }

    /// `{`
    pub fn object_start(&mut self) {
        self.start("{");
        self.comma = false;
    }

    /// `}`
    pub fn object_end(&mut self) {
        self.sink.put("}");
        self.comma = true;
    }

    /// `[`
    pub fn array_start(&mut self) {
        self.start("[");
        self.comma = false;
    }

    /// `]`
    pub fn array_end(&mut self) {
        self.sink.put("]");
        self.comma = true;
    }

    /// A key and its colon.
    pub fn key(&mut self, key: &str) {
        self.string(key);
        self.colon();
    }

    /// A key as it stands in a source, and its colon.
    pub fn key_str(&mut self, key: Str<'_>) {
        self.str(key);
        self.colon();
    }

    /// A string, escaped.
    pub fn string(&mut self, text: &str) {
        self.string_start();
        self.string_part(text);
        self.string_end();
    }

    /// A string as it stands in a source, its escapes kept.
    pub fn str(&mut self, text: Str<'_>) {
        self.string_start();
        self.string_str(text);
        self.string_end();
    }

    /// A whole value that is JSON already. It is not checked.
    pub fn raw(&mut self, json: &str) {
        self.start(json);
    }

    /// A value that was read, on one line: without the blanks between its tokens. Half a surrogate pair
    /// becomes U+FFFD.
    pub fn value(&mut self, value: Value<'_>) {
        self.start("");
        self.put_value(value);
    }

    /// The text of a value on one line, where the commas are seen to.
    pub(crate) fn put_value(&mut self, value: Value<'_>) {
        for_each_run(value.raw(), self.sink, |sink, text| sink.put(text));
    }

    /// An integer.
    pub fn u64(&mut self, value: u64) {
        self.start("");
        self.sink.put_u64(value);
    }

    /// An integer.
    pub fn i64(&mut self, value: i64) {
        self.start(if value < 0 { "-" } else { "" });
        self.sink.put_u64(value.unsigned_abs());
    }

    /// A float, in the fewest digits that read back as the same one.
    pub fn f64(&mut self, value: f64) -> Result<(), NotFinite> {
        if !value.is_finite() {
            return Err(NotFinite);
        }
        self.start("");
        let size = value.abs();
        // A sink takes all that is put, so neither can fail.
        let _ = if size != 0.0 && !(1e-5..1e17).contains(&size) {
            write!(self.sink, "{value:e}")
        } else {
            write!(self.sink, "{value}")
        };
        Ok(())
    }

    /// `true` or `false`
    pub fn bool(&mut self, value: bool) {
        self.start(if value { "true" } else { "false" });
    }

    /// `null`
    pub fn null(&mut self) {
        self.start("null");
    }

    /// Begins one string that is made of parts.
    pub fn string_start(&mut self) {
        self.start("\"");
    }

    /// A part of a string, escaped.
    pub fn string_part(&mut self, text: &str) {
        put_escaped(text, self.sink);
    }

    /// A part of a string as it stands in a source, its escapes kept; half a surrogate pair becomes U+FFFD.
    pub fn string_str(&mut self, text: Str<'_>) {
        for_each_escape(text.raw(), self.sink, |c, source, sink| match c {
            char::REPLACEMENT_CHARACTER => sink.put_char(c),
            _ => sink.put(source),
        });
    }

    /// The JSON text of a value that was read, on one line, as a part of a string.
    pub fn string_value(&mut self, value: Value<'_>) {
        for_each_run(value.raw(), self.sink, |sink, text| put_escaped(text, sink));
    }

    /// Bytes as a part of a string, in Base64 with padding (RFC 4648, section 4).
    pub fn string_base64(&mut self, bytes: &[u8]) {
        for group in bytes.chunks(3) {
            let mut bits = 0u32;
            for i in 0..3 {
                bits = bits << 8 | group.get(i).copied().map_or(0, u32::from);
            }
            for i in 0..4 {
                let place = usize::try_from(bits >> (18 - 6 * i) & 0x3F).unwrap_or_default();
                let digit = BASE64.get(place).copied().unwrap_or_default();
                self.sink.put_byte(if i <= group.len() { digit } else { b'=' });
            }
        }
    }

    /// Ends the string that [`string_start`](Self::string_start) began.
    pub fn string_end(&mut self) {
        self.sink.put("\"");
    }

    /// The comma that is due, and the start of a value.
    fn start(&mut self, text: &str) {
        if self.comma {
            self.sink.put(",");
        }
        self.comma = true;
        self.sink.put(text);
    }

    fn colon(&mut self) {
        self.sink.put(":");
        self.comma = false;
    }
}

/// Appends `text` with what needs an escape escaped.
fn put_escaped(text: &str, sink: &mut Sink<'_>) {
    let mut rest = text;
    loop {
        let after = plain_rest(rest.as_bytes());
        let Some((plain, found)) = rest.split_at_checked(rest.len() - after.len()) else { return };
        sink.put(plain);
        let Some(byte) = found.bytes().next() else { return };
        put_escape(byte, sink);
        rest = found.get(1..).unwrap_or_default();
    }
}

/// Reads up to the first byte that needs an escape.
fn plain_rest(mut rest: &[u8]) -> &[u8] {
    while let Some((word, after)) = rest.split_first_chunk() {
        if let Some(stop) = stop(word) {
            return rest.get(stop..).unwrap_or_default();
        }
        rest = after;
    }
    plain_bytes(rest)
}

/// Hands checked JSON text without the blanks between its tokens to `put`, in pieces as long as can be.
fn for_each_run(text: &str, sink: &mut Sink<'_>, put: impl Fn(&mut Sink<'_>, &str)) {
    let mut run = text;
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        match byte {
            b'"' => match plain_rest(after) {
                [b'"', beyond @ ..] => rest = beyond,
                _ => {
                    rest = after_string(after);
                    let start = text.len() - after.len();
                    let end = (text.len() - rest.len()).saturating_sub(1);
                    let string = text.get(start..end).unwrap_or_default();
                    put(sink, run.get(..run.len() - after.len()).unwrap_or_default());
                    // Only an escape can be half a pair.
                    for_each_escape(string, sink, |c, source, sink| match c {
                        char::REPLACEMENT_CHARACTER => put(sink, c.encode_utf8(&mut [0; 4])),
                        _ => put(sink, source),
                    });
                    run = text.get(end..).unwrap_or_default();
                }
            },
            b' ' | b'\n' | b'\r' | b'\t' => {
                put(sink, run.get(..run.len() - rest.len()).unwrap_or_default());
                rest = blanks(after);
                run = text.get(text.len() - rest.len()..).unwrap_or_default();
            }
            _ => rest = after,
        }
    }
    put(sink, run);
}

/// Bytes that `text` takes inside a string, without the quotes.
pub fn escaped_len(text: &str) -> usize {
    text.bytes().map(escape_len).fold(0, usize::saturating_add)
}

/// The longest start of `text`, whole characters only, that takes at most `room` bytes inside a string.
pub fn escaped_prefix(text: &str, room: usize) -> &str {
    let mut used = 0usize;
    for (at, c) in text.char_indices() {
        used = used.saturating_add(match u8::try_from(c) {
            Ok(b) if b.is_ascii() => escape_len(b),
            _ => c.len_utf8(),
        });
        if used > room {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// Bytes that one byte takes inside a string.
pub(super) const fn escape_len(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Appends the escape of a byte that needs one.
pub(super) fn put_escape(byte: u8, sink: &mut Sink<'_>) {
    let short = match byte {
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        0..0x20 => {
            sink.put(if byte < 0x10 { "\\u000" } else { "\\u001" });
            sink.put_char(char::from_digit(u32::from(byte & 0xF), 16).unwrap_or_default());
            return;
        }
        byte => byte,
    };
    sink.put_byte(b'\\');
    sink.put_byte(short);
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
