//! Strings as they stand in the source: compared, counted and decoded with their escapes.
//!
//! A [`Str`] comes from text that was checked, so nothing here fails. A surrogate pair is one character; a
//! lone half, which only [`Surrogates::Replace`](super::Surrogates::Replace) lets through, is U+FFFD, and
//! what follows it is kept.

use super::bytes::backslash;
use super::write::{escape_len, put_escape};
use crate::sink::{NoSpace, Sink};
use core::cmp::Ordering;

/// A string's source text, without its quotes. Equality is that of the decoded text.
#[derive(Clone, Copy, Debug)]
pub struct Str<'j> {
    raw: &'j str,
}

impl<'j> Str<'j> {
    /// `raw` is the content of a checked string.
    pub(crate) fn new(raw: &'j str) -> Self {
        Str { raw }
    }

    /// A Rust string as a `Str`, if it needs no escapes.
    pub fn from_plain(text: &'j str) -> Option<Self> {
        text.bytes().all(|b| escape_len(b) == 1).then_some(Str { raw: text })
    }

    /// The source text between the quotes.
    pub fn raw(self) -> &'j str {
        self.raw
    }

    /// Whether the source has escapes.
    pub fn has_escapes(self) -> bool {
        self.raw.contains('\\')
    }

    /// The text itself, if the source has no escapes.
    pub fn plain(self) -> Option<&'j str> {
        (!self.has_escapes()).then_some(self.raw)
    }

    /// Whether the decoded text is `other`.
    pub fn eq_str(self, other: &str) -> bool {
        // Most texts that differ do so in their first byte.
        let (first, other_first) = (self.raw.as_bytes().first(), other.as_bytes().first());
        if first != other_first && first != Some(&b'\\') {
            return false;
        }
        // Decoding an escape always makes the text shorter.
        match self.raw.len().cmp(&other.len()) {
            Ordering::Less => false,
            Ordering::Equal => self.raw == other && !self.has_escapes(),
            Ordering::Greater => self.has_escapes() && self.chars().eq(other.chars()),
        }
    }

    /// The decoded characters.
    pub fn chars(self) -> Chars<'j> {
        Chars { rest: self.raw }
    }

    /// How many characters the decoded text has (the length that JSON Schema means).
    pub fn char_count(self) -> usize {
        if self.has_escapes() { self.chars().count() } else { self.raw.chars().count() }
    }

    /// Appends the decoded text.
    pub fn decode(self, sink: &mut Sink<'_>) {
        // Decoded text is never longer than its source, if that was checked.
        if !sink.put_at_most(self.raw.len(), |place| decode_to(self.raw.as_bytes(), place)) {
            for_each_escape(self.raw, sink, |c, _, sink| sink.put_char(c));
        }
    }

    /// The decoded text, written into `buffer`.
    pub fn decode_in(self, buffer: &mut [u8]) -> Result<&str, NoSpace> {
        let mut sink = Sink::new(buffer);
        self.decode(&mut sink);
        sink.finish()
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Str<'_>) -> bool {
        let (a, b) = (self.raw.as_bytes(), other.raw.as_bytes());
        let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        match (a.get(same), b.get(same)) {
            (None, None) => true,
            // Where neither is in an escape, they differ.
            (Some(b'\\'), _) | (_, Some(b'\\')) => self.chars().eq(other.chars()),
            _ if a.iter().take(same).any(|byte| *byte == b'\\') => self.chars().eq(other.chars()),
            _ => false,
        }
    }
}
impl Eq for Str<'_> {}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        self.eq_str(other)
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.eq_str(other)
    }
}

/// The decoded characters of a [`Str`].
#[derive(Clone, Debug)]
pub struct Chars<'j> {
    rest: &'j str,
}

impl<'j> Chars<'j> {
    /// The source text of the characters that are left.
    pub fn as_str(&self) -> &'j str {
        self.rest
    }
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        let (c, used) = if c == '\\' { unescape(self.rest.as_bytes()) } else { (c, c.len_utf8()) };
        self.rest = self.rest.get(used..).unwrap_or_default();
        Some(c)
    }
}

/// Appends checked JSON text with every escape written in the shortest way: a character as itself where it
/// may stand so in a string, else its two-character escape where it has one.
pub fn rewrite_escapes(json: &str, sink: &mut Sink<'_>) {
    for_each_escape(json, sink, |c, _, sink| match u8::try_from(c) {
        Ok(byte) if escape_len(byte) > 1 => put_escape(byte, sink),
        _ => sink.put_char(c),
    });
}

/// Writes U+FFFD itself in place of each lone surrogate escape of checked JSON text, and gives the length of
/// what remains: the text is not longer than before.
pub fn replace_surrogates(text: &mut [u8]) -> usize {
    let (mut from, mut to) = (0, 0);
    while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
        let (c, used) = if rest.starts_with(b"\\") { unescape(rest) } else { (' ', 1) };
        // Shorter than its escape, so what is still to be read stays.
        if c == char::REPLACEMENT_CHARACTER && used == 6 {
            let mut utf8 = [0; 4];
            let utf8 = c.encode_utf8(&mut utf8).as_bytes();
            if let Some(place) = text.get_mut(to..to + utf8.len()) {
                place.copy_from_slice(utf8);
            }
            to += utf8.len();
        } else {
            text.copy_within(from..from + used, to);
            to += used;
        }
        from += used;
    }
    to
}

/// Decodes the content of a string into `out`, which is as long; gives the length of the decoded text, or `None`
/// if the string was not checked and what stands for no escape is longer than it. Words are copied before it is known how much of them is plain: what follows is written over.
fn decode_to(text: &[u8], out: &mut [u8]) -> Option<usize> {
    let (mut read, mut written) = (0, 0);
    loop {
        while let Some(word) = text.get(read..).and_then(|rest| rest.first_chunk())
            && let Some(place) = out.get_mut(written..).and_then(|room| room.first_chunk_mut())
        {
            *place = *word;
            let plain = backslash(word);
            read += plain;
            written += plain;
            if plain < word.len() {
                break;
            }
        }
        let (c, used) = match text.get(read..) {
            Some(rest @ [b'\\', ..]) => unescape(rest),
            Some([byte, ..]) => {
                if let Some(place) = out.get_mut(written) {
                    *place = *byte;
                }
                read += 1;
                written += 1;
                continue;
            }
            _ => return Some(written),
        };
        read += used;
        let encoded = c.encode_utf8(&mut [0; 4]).len();
        if encoded > used {
            return None;
        }
        c.encode_utf8(out.get_mut(written..written + encoded)?);
        written += encoded;
    }
}

/// Decodes the content of a checked string where it stands; gives the length of the decoded text, which is
/// never longer. What is after it in `text` means nothing.
#[cfg(feature = "stream")]
pub(crate) fn decode_in_place(text: &mut [u8]) -> usize {
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = text.get(read..).unwrap_or_default();
        let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
        let escape = rest.get(plain..).unwrap_or_default();
        let (c, used) = if escape.is_empty() { ('\0', 0) } else { unescape(escape) };
        if read != written {
            text.copy_within(read..read + plain, written);
        }
        written += plain;
        read += plain + used;
        let mut encoded = [0; 4];
        let encoded = c.encode_utf8(&mut encoded).as_bytes();
        match text.get_mut(written..written + encoded.len()) {
            Some(place) if used >= encoded.len() => place.copy_from_slice(encoded),
            _ => return written,
        }
        written += encoded.len();
    }
}

/// Escapes the first `len` bytes of `text` where they stand, in the shortest way; gives the length of what
/// they become, or `None` if that is more than `text` holds, and then `text` means nothing.
#[cfg(feature = "stream")]
pub(crate) fn escape_in_place(text: &mut [u8], len: usize) -> Option<usize> {
    let (mut read, mut written) = (text.len().checked_sub(len)?, 0);
    text.copy_within(..len, read);
    while let Some(byte) = text.get(read).copied() {
        read += 1;
        let mut escape = [byte, 0, 0, 0, 0, 0];
        let len = escape_len(byte);
        if len > 1 {
            put_escape(byte, &mut Sink::new(&mut escape));
        }
        // What was read may be written over, and no more.
        let place = text.get_mut(..read)?.get_mut(written..written + len)?;
        place.copy_from_slice(escape.get(..len)?);
        written += len;
    }
    Some(written)
}

/// Appends `text`, and in place of each escape what `put` appends: it gets the character and the source.
pub(super) fn for_each_escape(text: &str, sink: &mut Sink<'_>, put: impl Fn(char, &str, &mut Sink<'_>)) {
    let mut rest = text;
    while let Some((plain, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        let (c, used) = unescape(escape.as_bytes());
        let (source, after) = escape.split_at_checked(used).unwrap_or((escape, ""));
        sink.put(plain);
        put(c, source, sink);
        rest = after;
    }
    sink.put(rest);
}

/// The character of the escape that `bytes` start with, and the bytes that it takes, all of them ASCII and at
/// least one. What is no escape is U+FFFD.
pub(super) fn unescape(bytes: &[u8]) -> (char, usize) {
    let c = match bytes.get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unescape_unit(bytes),
        Some(&b @ (b'"' | b'\\' | b'/')) => char::from(b),
        _ => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (c, 2)
}

fn unescape_unit(bytes: &[u8]) -> (char, usize) {
    let Some(unit) = unit(bytes) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if let 0xD800..=0xDBFF = unit
        && let Some(low @ 0xDC00..=0xDFFF) = bytes.get(6..).and_then(self::unit)
    {
        let joined = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        return (char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// The value of the `\uXXXX` that `bytes` start with.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |value, &b| Some(value << 4 | char::from(b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source text and what it decodes to.
    const DECODED: [(&str, &str); 9] = [
        ("", ""),
        ("Tromsø 😀", "Tromsø 😀"),
        (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r"\u0041\u00f8\u00F8\u20ac\u0000", "Aøø€\0"),
        (r"\ud83d\ude00!", "😀!"),
        (r"\uDBFF\uDFFF", "\u{10ffff}"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"x\udc00\ud800", "x\u{fffd}\u{fffd}"),
    ];

    #[test]
    fn strings_decode_compare_and_count_by_their_characters() {
        for (raw, text) in DECODED {
            let mut buffer = [0; 64];
            let string = Str::new(raw);
            assert_eq!(string.decode_in(&mut buffer), Ok(text), "{raw}");
            assert!(string.chars().eq(text.chars()), "{raw}");
            assert_eq!(string.char_count(), text.chars().count(), "{raw}");
            assert_eq!(string.has_escapes(), raw != text, "{raw}");
            assert_eq!(string.plain(), (raw == text).then_some(text), "{raw}");
            for (other_raw, other) in DECODED {
                assert_eq!(string == other, text == other, "{raw} and {other}");
                assert_eq!(string == Str::new(other_raw), text == other, "{raw} and {other_raw}");
            }
        }
    }

    /// Of text that was not checked the wrong things are said, and nothing worse.
    #[test]
    fn what_is_no_escape_is_decoded_alike_with_and_without_room() {
        for raw in ["\\", "a\\", "\\u12", "12345678\\x", "\\x\\x\\x"] {
            let string = Str::new(raw);
            let mut measure = Sink::measure();
            string.decode(&mut measure);
            let mut buffer = std::vec![0; measure.len()];
            assert_eq!(string.decode_in(&mut buffer).map(str::len), Ok(measure.len()), "{raw}");
            assert!(string.decode_in(&mut [0; 64]).unwrap().chars().eq(string.chars()), "{raw}");
        }
    }

    #[test]
    fn an_escape_is_not_the_characters_it_is_written_with() {
        assert!(Str::new(r"\n") != r"\n");
        assert!(Str::new(r"\\n") == r"\n");
        assert!(Str::new(r"\u0041") != r"\u0041");
    }

    #[test]
    fn a_plain_string_is_one_that_needs_no_escapes() {
        assert!(Str::from_plain("Tromsø \u{7f}\u{2028}").is_some());
        for text in ["\"", "\\", "\n", "\0", "\u{1f}"] {
            assert!(Str::from_plain(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn decoding_that_does_not_fit_says_what_would() {
        let string = Str::new(r"\ud83d\ude00");
        assert_eq!(string.decode_in(&mut [0; 3]), Err(NoSpace { need: 4 }));
    }

    #[test]
    fn escapes_are_rewritten_as_what_they_mean() {
        let mut buffer = [0; 64];
        let mut sink = Sink::new(&mut buffer);
        rewrite_escapes(r#"{"\u0061":"\ud83d\ude00\u0022\u000a\u0001\/"}"#, &mut sink);
        assert_eq!(sink.finish(), Ok(r#"{"a":"😀\"\n\u0001/"}"#));
    }

    #[test]
    fn lone_surrogates_are_replaced_in_place_and_nothing_else_is() {
        for (text, expected) in [
            (r#"{"m":"\ud83d\u0041"}"#, "{\"m\":\"\u{FFFD}\\u0041\"}"),
            (
                r#"["\udc00\ud83d","\ud83d\ude00\n\\ud83d"]"#,
                "[\"\u{FFFD}\u{FFFD}\",\"\\ud83d\\ude00\\n\\\\ud83d\"]",
            ),
            (r#""é\ud83d\ud83d\ude00""#, "\"é\u{FFFD}\\ud83d\\ude00\""),
            ("[1]", "[1]"),
        ] {
            let mut bytes = std::vec::Vec::from(text);
            let len = replace_surrogates(&mut bytes);
            assert_eq!(core::str::from_utf8(&bytes[..len]), Ok(expected));
        }
        for garbage in ["\\", "\\u", "\\\\\\", "\\x\\ud8"] {
            assert!(replace_surrogates(&mut std::vec::Vec::from(garbage)) <= garbage.len());
        }
    }

    #[test]
    fn garbage_decodes_to_something_and_ends() {
        for raw in ["\\", "a\\", "\\u", "\\u12", "\\uzzzz", "\\é", "\\ud83d\\", "\\ud83d\\u12", "\\x\\"] {
            assert!(Str::new(raw).chars().count() <= raw.len());
            Str::new(raw).decode(&mut Sink::measure());
        }
    }
}
