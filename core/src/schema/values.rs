//! Keywords whose value is no schema: types, values to compare with, bounds and counts.

use super::compile::not_json;
use super::compiler::Compiler;
use super::entry::Form;
use super::error::{SchemaError, SchemaErrorKind};
use super::program::{INLINE, MAX_ARGUMENT, types, word_of};
use super::source::offset_in;
use super::work::{self, Need};
use crate::json::{self, Kind, Reader, Str, Value};

impl<'s> Compiler<'s, '_> {
    /// The value of `type`.
    pub(super) fn types(&self, value: Value<'s>) -> Result<u8, SchemaError> {
        let one = |name: Value<'s>| match name.as_str() {
            Some(name) => TYPES
                .iter()
                .find(|(known, _)| name.eq_str(known))
                .map(|&(_, bits)| bits)
                .ok_or_else(|| self.error(SchemaErrorKind::UnknownType, self.value_of_str(name))),
            None => Err(self.error(SchemaErrorKind::BadKeyword, name)),
        };
        match value.kind() {
            Kind::Array => {
                let all = value.items().try_fold(types::NONE, |all, name| Ok(all | one(name)?))?;
                if all == types::NONE { Err(self.error(SchemaErrorKind::BadKeyword, value)) } else { Ok(all) }
            }
            _ => one(value),
        }
    }

    /// `enum` and `const`.
    pub(super) fn values(
        &mut self,
        op: u8,
        whole: Value<'s>,
        values: impl Iterator<Item = Value<'s>>,
    ) -> Result<(), SchemaError> {
        let (mut count, mut depth) = (0u32, 0);
        let height = self.store.height();
        for value in values {
            let form = match value.kind() {
                Kind::String if value.raw().contains('\\') => Form::Escaped,
                Kind::String => Form::Plain,
                Kind::Number => Form::Number,
                Kind::Bool | Kind::Null => Form::Word,
                Kind::Object | Kind::Array => Form::Container,
            };
            if form == Form::Container {
                depth = depth.max(nesting(value)?);
            }
            self.store.push(word_of(value.raw().len()) | (form as u32) << Form::SHIFT);
            self.store.push(word_of(self.offset(value)));
            count += 1;
        }
        if count > MAX_ARGUMENT {
            return Err(self.error(SchemaErrorKind::TooLarge, whole));
        }
        // The first value comes first.
        let first = self.store.address(self.store.height());
        if self.store.fits() {
            for number in 0..count as usize / 2 {
                let other = (self.store.height() - height) / 8 - 1 - number;
                self.store.swap(first + 8 * number, first + 8 * other, 2);
            }
        }
        self.compares(Need::plain(work::equality(depth)));
        self.instruction(op, count, &[word_of(self.offset(whole))]);
        Ok(())
    }

    /// Values are compared.
    pub(super) fn compares(&mut self, need: Need) {
        self.level().need = self.level().need.max(need);
        self.once = self.once.max(need);
    }

    /// A keyword that compares with a number.
    pub(super) fn bound(&mut self, bit: u8, at: usize, op: u8) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        let value = self.value_of(Kind::Number)?;
        self.bound_value(op, value)
    }

    pub(super) fn bound_value(&mut self, op: u8, value: Value<'s>) -> Result<(), SchemaError> {
        let small = value.as_number().and_then(|number| i32::try_from(number.as_i64().ok()?).ok());
        let argument = word_of(value.raw().len());
        if argument >= INLINE {
            return Err(self.error(SchemaErrorKind::TooLarge, value));
        }
        let inline = if small.is_some() { INLINE } else { 0 };
        self.instruction(
            op,
            argument | inline,
            &[word_of(self.offset(value)), small.unwrap_or(0).cast_unsigned()],
        );
        Ok(())
    }

    /// A keyword that compares a count. A bound beyond 2^32 is beyond every text that can be checked.
    pub(super) fn count(&mut self, bit: u8, at: usize, op: u8) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        let value = self.value_of(Kind::Number)?;
        let count = match value.as_number() {
            Some(number) if number.is_integer() && !number.is_negative() => {
                number.as_u64().unwrap_or(u64::MAX)
            }
            _ => return Err(self.error(SchemaErrorKind::BadKeyword, value)),
        };
        self.instruction(op, 0, &[u32::try_from(count).unwrap_or(u32::MAX)]);
        Ok(())
    }

    fn value_of_str(&self, name: Str<'s>) -> Value<'s> {
        let at = offset_in(self.text, name.raw());
        Value::new(self.text.get(at.saturating_sub(1)..at + name.raw().len() + 1).unwrap_or_default())
    }
}

/// How deep containers are nested in a value.
pub(super) fn nesting(value: Value<'_>) -> Result<usize, SchemaError> {
    let mut reader = Reader::new(value.raw().as_bytes(), &json::Options::default());
    let mut deepest = 0;
    while reader.next_event().map_err(not_json)?.is_some() {
        deepest = deepest.max(reader.depth());
    }
    Ok(deepest)
}

const TYPES: [(&str, u8); 7] = [
    ("string", types::STRING),
    ("object", types::OBJECT),
    ("number", types::NUMBER),
    ("integer", types::INTEGER),
    ("boolean", types::BOOLEAN),
    ("array", types::ARRAY),
    ("null", types::NULL),
];
