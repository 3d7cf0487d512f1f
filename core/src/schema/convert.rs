//! The rules of coercion: what becomes what.

use super::coerce::Rule;
use super::program::types;
use crate::json::{self, Kind, Number, Str, Value, Writer};
use crate::sink::Sink;

/// Writes what a value becomes where these types are wanted, and says by which rule. Nothing is written if it
/// stays as it is. A string that holds JSON is read as `options` say.
pub(super) fn convert(
    types: u8,
    value: Value<'_>,
    options: &json::Options,
    sink: &mut Sink<'_>,
) -> Option<Rule> {
    match value.kind() {
        Kind::String => from_string(types, value.as_str()?, options, sink),
        Kind::Number if types & types::BOOLEAN != 0 => {
            let number = value.as_number()?;
            let one = Number::parse("1") == Some(number);
            (one || number.is_zero()).then(|| {
                put_bool(one, sink);
                Rule::BooleanFromNumber
            })
        }
        _ => None,
    }
}

/// Writes what a string becomes.
fn from_string(types: u8, text: Str<'_>, options: &json::Options, sink: &mut Sink<'_>) -> Option<Rule> {
    // Longer than any number or word that is meant here; what does not fit is none.
    let mut buffer = [0; 64];
    let short = text.decode_in(&mut buffer).unwrap_or_default();
    if types & types::NUMBER != 0
        && let Some(rule) = number_from(types, short.trim_matches(BLANKS), sink)
    {
        return Some(rule);
    }
    if types & types::BOOLEAN != 0 {
        let is = |words: &[&str]| words.iter().any(|word| short.eq_ignore_ascii_case(word));
        let yes = is(&["true", "yes", "on", "1"]);
        if yes || is(&["false", "no", "off", "0"]) {
            put_bool(yes, sink);
            return Some(Rule::BooleanFromString);
        }
    }
    let (kind, rule) = match text.chars().find(|c| !BLANKS.contains(c)) {
        Some('[') if types & types::ARRAY != 0 => (Kind::Array, Rule::ArrayFromString),
        Some('{') if types & types::OBJECT != 0 => (Kind::Object, Rule::ObjectFromString),
        _ => return None,
    };
    // Decoded where it is to stand, and taken back if it is not what it looks like. If there is no room for
    // it, that shows by the sink.
    let start = sink.len();
    text.decode(sink);
    let decoded = sink.text_from(start);
    let fits = decoded
        .is_none_or(|text| json::parse(text.as_bytes(), options).is_ok_and(|value| value.kind() == kind));
    if !fits {
        sink.truncate(start);
    }
    fits.then_some(rule)
}

fn number_from(types: u8, text: &str, sink: &mut Sink<'_>) -> Option<Rule> {
    let unsigned = text.strip_prefix('+').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let number = Number::parse(unsigned.unwrap_or(text))?;
    if types & types::FRACTION != 0 {
        sink.put(number.raw());
        return Some(Rule::NumberFromString);
    }
    if !number.is_integer() {
        return None;
    }
    match number.as_i64() {
        Ok(value) => Writer::new(sink).i64(value),
        Err(_) => sink.put(number.raw()),
    }
    Some(Rule::IntegerFromString)
}

fn put_bool(value: bool, sink: &mut Sink<'_>) {
    sink.put(if value { "true" } else { "false" });
}

/// The bit of a value's type.
pub(super) fn type_of(value: Value<'_>) -> u8 {
    match value.kind() {
        Kind::Null => types::NULL,
        Kind::Bool => types::BOOLEAN,
        Kind::String => types::STRING,
        Kind::Array => types::ARRAY,
        Kind::Object => types::OBJECT,
        Kind::Number if value.as_number().is_some_and(Number::is_integer) => types::INTEGER,
        Kind::Number => types::FRACTION,
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
