//! The rules of coercion: what becomes what.

use super::coerce::{CoerceError, Coercer, Rule};
use super::program::{Slot, types};
use crate::json::{self, Kind, Number, Str, Value};

impl<'i> Coercer<'_, 'i, '_, '_> {
    /// Writes what a value of a type that is not accepted becomes. False if it stays as it is.
    pub(super) fn convert(&mut self, slot: Slot, types: u8, value: Value<'i>) -> Result<bool, CoerceError> {
        let rule = match value.kind() {
            Kind::String => value.as_str().and_then(|text| self.read_string(types, text)),
            Kind::Number if types & types::BOOLEAN != 0 => {
                let number = value.as_number();
                let one = number.is_some_and(|number| Number::parse("1") == Some(number));
                (one || number.is_some_and(Number::is_zero)).then(|| {
                    self.writer.bool(one);
                    Rule::BooleanFromNumber
                })
            }
            _ => None,
        };
        if let Some(rule) = rule {
            self.change(rule, None)?;
            return Ok(true);
        }
        let scalar = matches!(value.kind(), Kind::String | Kind::Number | Kind::Bool);
        if !self.options.wrap_scalars || !scalar || types & types::ARRAY == 0 {
            return Ok(false);
        }
        self.change(Rule::ArrayFromScalar, None)?;
        self.writer.array_start();
        let items = self.items(slot);
        let types = self.types(items) & !types::ARRAY;
        if type_of(value) & types != 0 || !self.convert(items, types, value)? {
            self.writer.raw(value.raw());
        }
        self.writer.array_end();
        Ok(true)
    }

    /// Writes what a string becomes.
    fn read_string(&mut self, types: u8, text: Str<'i>) -> Option<Rule> {
        // Longer than any number or word that is meant here; what does not fit is none.
        let mut buffer = [0; 64];
        let short = text.decode_in(&mut buffer).unwrap_or_default();
        if types & types::NUMBER != 0
            && let Some(rule) = self.read_number(types, short.trim_matches(BLANKS))
        {
            return Some(rule);
        }
        if types & types::BOOLEAN != 0 {
            let is = |words: &[&str]| words.iter().any(|word| short.eq_ignore_ascii_case(word));
            let yes = is(&["true", "yes", "on", "1"]);
            if yes || is(&["false", "no", "off", "0"]) {
                self.writer.bool(yes);
                return Some(Rule::BooleanFromString);
            }
        }
        let (kind, rule) = match text.chars().find(|c| !BLANKS.contains(c)) {
            Some('[') if types & types::ARRAY != 0 => (Kind::Array, Rule::ArrayFromString),
            Some('{') if types & types::OBJECT != 0 => (Kind::Object, Rule::ObjectFromString),
            _ => return None,
        };
        // Decoded where it is to stand, and taken back if it is not what it looks like.
        let mark = self.writer.mark();
        self.writer.raw("");
        let start = self.writer.sink().len();
        text.decode(self.writer.sink());
        let decoded = self.writer.sink().text_from(start);
        let fits = decoded.is_none_or(|decoded| {
            json::parse(decoded.as_bytes(), &self.options.check.json).is_ok_and(|value| value.kind() == kind)
        });
        if !fits {
            self.writer.rewind(mark);
        }
        fits.then_some(rule)
    }

    fn read_number(&mut self, types: u8, text: &str) -> Option<Rule> {
        let unsigned = text.strip_prefix('+').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let number = Number::parse(unsigned.unwrap_or(text))?;
        if types & types::FRACTION != 0 {
            self.writer.raw(number.raw());
            return Some(Rule::NumberFromString);
        }
        if !number.is_integer() {
            return None;
        }
        match number.as_i64() {
            Ok(value) => self.writer.i64(value),
            Err(_) => self.writer.raw(number.raw()),
        }
        Some(Rule::IntegerFromString)
    }
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
