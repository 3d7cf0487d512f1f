//! Repairs of what models commonly get wrong around JSON. Opt-in: nothing else in this crate is lenient.

use super::text::unescape;
use super::{Error, Options, Reader, Value, parse};
use crate::sink::NoSpace;
use core::ops::Range;

/// Reads `text`, repaired where it needs it. `memory` is for values that are not in `text` as they are; as
/// many bytes as `text` has are always enough.
///
/// | repair | for example |
/// |---|---|
/// | [`Repairs::FENCE`] | a Markdown fence around the whole |
/// | [`Repairs::TRAILING_TEXT`] | `{"a":1} Hope this helps!` |
/// | [`Repairs::TRAILING_COMMA`] | `{"a":[1,2,],}` |
/// | [`Repairs::DOUBLE_ENCODED`] | `"{\"a\":1}"`, once or twice |
///
/// - A repaired value is always an object or an array, strictly valid, and says what was repaired.
/// - Valid text is never touched, except for a string that holds an object or an array.
/// - Nothing is made up: a text that stops early stays an error, in a fence as well, and so does text after
///   the value that looks like more JSON, which would be lost.
/// - Time and memory are linear in the text.
///
/// ```
/// use toolcore::json::{Options, Repairs, repair};
/// let mut memory = [0; 64];
/// let repaired = repair("```json\n{\"city\":\"Oslo\",}\n```", &Options::default(), &mut memory).unwrap();
/// assert_eq!(repaired.value.raw(), r#"{"city":"Oslo"}"#);
/// assert!(repaired.repairs.names().eq(["fence", "trailing-comma"]));
/// assert!(repair("```json\n{\"city\":\"Os", &Options::default(), &mut memory).is_err());
/// ```
pub fn repair<'a>(
    text: &'a str,
    options: &Options,
    memory: &'a mut [u8],
) -> Result<Repaired<'a>, RepairError> {
    let mut repairs = Repairs::default();
    let strict = parse(text.as_bytes(), options);
    let untouched = match strict {
        // Only a string may hold another text.
        Ok(value) if value.as_str().is_none() => return Ok(Repaired { value, repairs }),
        Ok(value) => Ok(Repaired { value, repairs }),
        Err(error) => Err(RepairError::Json(error)),
    };
    let Some(range) = find(text, options, &mut repairs) else { return untouched };
    let found = text.get(range).unwrap_or_default();
    if let Ok(value) = parse(found.as_bytes(), options) {
        let Some(string) = value.as_str() else {
            return if is_container(found) { Ok(Repaired { value, repairs }) } else { untouched };
        };
        // Most strings hold no JSON, which shows at once.
        if !matches!(string.chars().find(|c| !BLANKS.contains(c)), Some('{' | '[' | '"' | '`')) {
            return untouched;
        }
    }
    let need = found.len();
    let place = memory.get_mut(..need).ok_or(RepairError::NoSpace(NoSpace { need }))?;
    place.copy_from_slice(found.as_bytes());
    let Some(len) = rework(place, options, &mut repairs) else { return untouched };
    match parse(place.get(..len).unwrap_or_default(), options) {
        Ok(value) => Ok(Repaired { value, repairs }),
        Err(_) => untouched,
    }
}

/// A value, and what had to be done for it.
#[derive(Clone, Copy, Debug)]
pub struct Repaired<'a> {
    /// The value: in the text, or at the start of the memory.
    pub value: Value<'a>,
    /// What was repaired; nothing if the text was valid.
    pub repairs: Repairs,
}

/// Why a text could not be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum RepairError {
    /// It is not JSON, and not nearly: what is wrong with the text as it came.
    #[error("{0}")]
    Json(Error),
    /// The memory is too small.
    #[error("{0}")]
    NoSpace(NoSpace),
}
impl core::error::Error for RepairError {}

/// A set of repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs(u8);

impl Repairs {
    /// A Markdown fence around the value was taken away.
    pub const FENCE: Repairs = Repairs(1);
    /// Text after the value was left out.
    pub const TRAILING_TEXT: Repairs = Repairs(2);
    /// Commas before the end of an object or array were left out.
    pub const TRAILING_COMMA: Repairs = Repairs(4);
    /// The value was taken out of a string that held its JSON.
    pub const DOUBLE_ENCODED: Repairs = Repairs(8);

    /// The set of this number.
    pub(crate) const fn from_bits(bits: u8) -> Self {
        Repairs(bits)
    }

    /// Whether nothing was repaired.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in this set.
    pub const fn contains(self, other: Repairs) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set as a number: 1 fence, 2 trailing text, 4 trailing comma, 8 double encoding.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The names of the repairs in this set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (Repairs::FENCE, "fence"),
            (Repairs::TRAILING_TEXT, "trailing-text"),
            (Repairs::TRAILING_COMMA, "trailing-comma"),
            (Repairs::DOUBLE_ENCODED, "double-encoded"),
        ];
        all.into_iter().filter(move |(repair, _)| self.contains(*repair)).map(|(_, name)| name)
    }

    fn add(&mut self, other: Repairs) {
        self.0 |= other.0;
    }
}

/// Finds the value in `text`: an object or array, perhaps with trailing commas in it, or a string. Tells what
/// was around it.
fn find(text: &str, options: &Options, repairs: &mut Repairs) -> Option<Range<usize>> {
    let text = text.trim_end_matches(BLANKS);
    let mut rest = text.trim_start_matches(BLANKS);
    let fenced = rest.strip_prefix(FENCE);
    if let Some(inside) = fenced {
        // The language is named after the fence.
        rest = inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start_matches(BLANKS);
    }
    let len = match Reader::new(rest.as_bytes(), options).skip_value() {
        Ok(value) => value.raw().len(),
        Err(_) => container_len(rest.as_bytes())?,
    };
    let (value, mut after) = rest.split_at_checked(len)?;
    after = after.trim_start_matches(BLANKS);
    if fenced.is_some() {
        after = after.strip_prefix(FENCE)?.trim_start_matches(BLANKS);
        repairs.add(Repairs::FENCE);
    }
    if !after.is_empty() {
        // More JSON would be lost. A single comma after the whole is none.
        if !is_container(value) || after != "," && after.starts_with(['{', '}', '[', ']', '"', ':', ',']) {
            return None;
        }
        repairs.add(Repairs::TRAILING_TEXT);
    }
    let start = text.len().checked_sub(rest.len())?;
    Some(start..start.checked_add(len)?)
}

/// Makes an object or array out of what stands in `place`, in place: leaves out commas, unwraps strings.
/// Gives its length, or nothing if there is none in it.
fn rework(place: &mut [u8], options: &Options, repairs: &mut Repairs) -> Option<usize> {
    let mut len = place.len();
    for level in 0..=UNWRAPS {
        let text = place.get_mut(..len)?;
        if is_container(core::str::from_utf8(text).ok()?) {
            let kept = drop_commas(text);
            if kept < len {
                repairs.add(Repairs::TRAILING_COMMA);
            }
            return Some(kept);
        }
        if level == UNWRAPS {
            break;
        }
        len = decode(text)?;
        repairs.add(Repairs::DOUBLE_ENCODED);
        let range = find(core::str::from_utf8(place.get(..len)?).ok()?, options, repairs)?;
        len = range.len();
        place.copy_within(range, 0);
    }
    None
}

/// The length of the object or array that `text` starts with, going by its brackets alone.
fn container_len(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut quoted = Quoted::default();
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if quoted.holds(byte) => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(at + 1);
        }
    }
    None
}

/// Leaves out each comma between an element and the end of its container; gives the length of what remains.
fn drop_commas(text: &mut [u8]) -> usize {
    let mut quoted = Quoted::default();
    // The last two bytes that are no blanks, and where the last one is.
    let (mut before, mut last, mut last_at) = (b',', b',', 0);
    let mut len = 0;
    for from in 0..text.len() {
        let byte = text.get(from).copied().unwrap_or_default();
        let outside = !quoted.holds(byte);
        let ends = outside && matches!(byte, b'}' | b']');
        if ends && last == b',' && !matches!(before, b',' | b':' | b'{' | b'[') {
            len = last_at;
        }
        if !outside || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            (before, last, last_at) = (last, byte, len);
        }
        if let Some(place) = text.get_mut(len) {
            *place = byte;
        }
        len += 1;
    }
    len
}

/// Decodes the string that `text` is, in place; gives the length of what it holds.
fn decode(text: &mut [u8]) -> Option<usize> {
    let end = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?.len() + 1;
    let (mut from, mut to) = (1, 0);
    while from < end {
        let byte = *text.get(from)?;
        let (mut c, mut used) = (char::from(byte), 1);
        if byte == b'\\' {
            (c, used) = unescape(text.get(from..end)?);
        }
        if byte.is_ascii() {
            // Never longer than its escape, so what is still to be read stays.
            let mut utf8 = [0; 4];
            let utf8 = c.encode_utf8(&mut utf8).as_bytes();
            text.get_mut(to..to + utf8.len())?.copy_from_slice(utf8);
            to += utf8.len();
        } else {
            *text.get_mut(to)? = byte;
            to += 1;
        }
        from += used;
    }
    Some(to)
}

fn is_container(text: &str) -> bool {
    text.starts_with(['{', '['])
}

/// Follows a text through its strings.
#[derive(Default)]
struct Quoted {
    inside: bool,
    escaped: bool,
}

impl Quoted {
    /// Whether the next byte belongs to a string, its quotes included.
    fn holds(&mut self, byte: u8) -> bool {
        let held = self.inside || byte == b'"';
        self.inside = if self.escaped { self.inside } else { self.inside ^ (byte == b'"') };
        self.escaped = self.inside && !self.escaped && byte == b'\\';
        held
    }
}

const BLANKS: [char; 4] = [' ', '\n', '\r', '\t'];
const FENCE: &str = "```";
/// How often a value is taken out of a string.
const UNWRAPS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Reason;

    fn repaired(text: &str) -> Result<(std::string::String, std::vec::Vec<&'static str>), RepairError> {
        let mut memory = std::vec![0; text.len()];
        let repaired = repair(text, &Options::default(), &mut memory)?;
        Ok((repaired.value.raw().into(), repaired.repairs.names().collect()))
    }

    #[test]
    fn each_repair_gives_the_value_and_its_name() {
        for (text, value, names) in [
            ("```json\n{\"a\":1}\n```", r#"{"a":1}"#, &["fence"][..]),
            (" ```\r\n[1]\r\n```\n", "[1]", &["fence"]),
            ("```JSON {\"a\":\"```\"}```", "{\"a\":\"```\"}", &["fence"]),
            ("{\"a\":1} Hope this helps!", r#"{"a":1}"#, &["trailing-text"]),
            ("{\"a\":1}\n```", r#"{"a":1}"#, &["trailing-text"]),
            ("{\"a\":1},", r#"{"a":1}"#, &["trailing-text"]),
            ("{\"a\":[1,2 , ],}", r#"{"a":[1,2 ]}"#, &["trailing-comma"]),
            ("[\",]\",{},\n]", r#"[",]",{}]"#, &["trailing-comma"]),
            (
                r#""{\"city\":\"Troms\u00f8 \\ud83d\\ude00\"}""#,
                r#"{"city":"Tromsø \ud83d\ude00"}"#,
                &["double-encoded"],
            ),
            (r#""\"{\\\"a\\\":1}\"""#, r#"{"a":1}"#, &["double-encoded"]),
            ("```json\n\"[1,]\"\n``` Done.", "[1]", &["fence", "trailing-comma", "double-encoded"]),
        ] {
            let names = names.to_vec();
            if text.ends_with("Done.") {
                // Text after a string is no text after an object.
                assert!(repaired(text).is_err());
                let text = text.trim_end_matches(" Done.");
                assert_eq!(repaired(text), Ok((value.into(), names)), "{text}");
            } else {
                assert_eq!(repaired(text), Ok((value.into(), names)), "{text}");
            }
        }
    }

    #[test]
    fn a_valid_value_is_not_touched() {
        for text in ["{}", " {\"a\" : \"1,]\" } ", "[]", "5", "null", "\"text\"", "\"```\"", "\"5\"", "\"{\""]
        {
            assert_eq!(repaired(text), Ok((text.trim().into(), std::vec![])), "{text}");
        }
        // Three times encoded: the limit is two.
        let text = r#""\"\\\"{}\\\"\"""#;
        assert_eq!(repaired(text), Ok((text.into(), std::vec![])));
    }

    #[test]
    fn a_text_that_stops_early_stays_an_error() {
        for text in [
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":[1,2,}",
            "```json\n{\"a\":1}",
            "```json\n{\"a\":1\n```",
            "\"{\\\"a\\\":1}",
            "{\"a\":\"x} thanks",
            "",
        ] {
            assert!(matches!(repaired(text), Err(RepairError::Json(_))), "{text}");
        }
        let cut_inside = r#""{\"a\":1""#;
        assert_eq!(repaired(cut_inside), Ok((cut_inside.into(), std::vec![])));
    }

    #[test]
    fn what_would_lose_json_or_make_it_up_is_refused() {
        for text in [
            "{\"a\":1}{\"b\":2}",
            "{\"a\":1} {\"b\":2}",
            "{\"a\":1}, \"b\":2}",
            "{\"a\":1}}",
            "[1,,]",
            "[,]",
            "{,}",
            "{\"a\":,}",
            "{a:1}",
            "{'a':1}",
            "[1] [2]",
            "5 apples",
            "Sure: {\"a\":1}",
            "{\"a\":NaN,}",
        ] {
            assert!(matches!(repaired(text), Err(RepairError::Json(_))), "{text}");
        }
    }

    #[test]
    fn the_error_is_that_of_the_text_as_it_came() {
        let expected = Error { reason: Reason::ExpectedValue, offset: 0 };
        assert_eq!(repaired("```json\n{\"a\":tru}\n```"), Err(RepairError::Json(expected)));
    }

    #[test]
    fn memory_is_needed_only_for_what_is_not_in_the_text() {
        assert!(repair("```json\n{}\n```", &Options::default(), &mut []).is_ok());
        assert!(repair("{} bye", &Options::default(), &mut []).is_ok());
        assert!(repair("\"text\"", &Options::default(), &mut []).is_ok());
        let error = repair("  [1,]", &Options::default(), &mut [0; 3]).unwrap_err();
        assert_eq!(error, RepairError::NoSpace(NoSpace { need: 4 }));
    }
}
