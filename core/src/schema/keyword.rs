//! Reading the keywords of a schema: which there are, what their values must be, and what they compile to.

use super::compile::{Compiler, Draft, Place, error_at, not_json};
use super::entry::Form;
use super::error::{SchemaError, SchemaErrorKind};
#[cfg(feature = "format")]
use super::format::Format;
use super::program::{INLINE, MAX_ARGUMENT, Slot, op, types, word_of};
use super::source::offset_in;
use super::work;
use crate::json::{self, Kind, Reader, Str, Value};

impl<'s> Compiler<'s, '_> {
    /// Reads a keyword's value. A boolean schema in it is done at once.
    pub(super) fn keyword(&mut self, at: usize, key: Str<'s>) -> Result<Option<(Slot, u32)>, SchemaError> {
        // Longer than any keyword: then it is unknown.
        let mut buffer = [0; 24];
        let name = match key.plain() {
            Some(name) => name,
            None => key.decode_in(&mut buffer).unwrap_or_default(),
        };
        if self.level().ref_only && !matches!(name, "$ref" | "$defs" | "definitions") {
            self.refs.odd |=
                matches!(name, "properties" | "patternProperties" | "items" | "additionalProperties");
            self.value()?;
            return Ok(None);
        }
        match name {
            "type" => {
                self.once(0, at)?;
                let value = self.value()?;
                self.level().types = self.types(value)?;
            }
            "properties" => {
                self.once(1, at)?;
                let height = self.store.height();
                let offset = self.enter(Kind::Object)?;
                let level = self.level();
                level.place = Place::Properties;
                level.properties = offset;
                level.entries = (height, height);
            }
            "required" => {
                self.once(2, at)?;
                let value = self.value_of(Kind::Array)?;
                if let Some(wrong) = value.items().find(|name| name.kind() != Kind::String) {
                    return Err(self.error(SchemaErrorKind::BadKeyword, wrong));
                }
                self.level().required = self.offset(value);
            }
            "additionalProperties" => {
                self.once(3, at)?;
                self.level().place = Place::Others;
                return self.open();
            }
            "items" => {
                self.once(4, at)?;
                if self.peek()? == Kind::Array {
                    return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
                }
                self.level().place = Place::Items;
                return self.open();
            }
            "enum" => {
                self.once(5, at)?;
                let value = self.value_of(Kind::Array)?;
                self.values(op::ENUM, value, value.items())?;
            }
            "const" => {
                self.once(6, at)?;
                let value = self.value()?;
                self.values(op::CONST, value, core::iter::once(value))?;
            }
            "minimum" => self.bound(7, at, op::MINIMUM)?,
            "maximum" => self.bound(8, at, op::MAXIMUM)?,
            "exclusiveMinimum" => self.bound(9, at, op::EXCLUSIVE_MINIMUM)?,
            "exclusiveMaximum" => self.bound(10, at, op::EXCLUSIVE_MAXIMUM)?,
            "minLength" => self.count(11, at, op::MIN_LENGTH)?,
            "maxLength" => self.count(12, at, op::MAX_LENGTH)?,
            "minItems" => self.count(13, at, op::MIN_ITEMS)?,
            "maxItems" => self.count(14, at, op::MAX_ITEMS)?,
            #[cfg(feature = "pattern")]
            "pattern" => self.pattern(at)?,
            #[cfg(feature = "pattern")]
            "patternProperties" => self.pattern_properties(at)?,
            "$ref" => {
                self.once(15, at)?;
                let value = self.value_of(Kind::String)?;
                self.reference(value)?;
            }
            "$defs" | "definitions" => {
                self.enter(Kind::Object)?;
                self.level().defines = true;
                self.level().place = Place::Definitions;
            }
            "$schema" => {
                let value = self.value()?;
                if self.dialect(value)? != self.draft {
                    return Err(self.error(SchemaErrorKind::UnsupportedDialect, value));
                }
            }
            "$id" => {
                // At the root it names the document; elsewhere it would begin another one.
                if self.depth > 1 {
                    return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
                }
                self.value_of(Kind::String)?;
            }
            #[cfg(feature = "format")]
            "format" if self.formats => {
                self.once(29, at)?;
                let value = self.value_of(Kind::String)?;
                let known = value.as_str().and_then(Format::from_name);
                if let Some(format) = known {
                    self.instruction(op::FORMAT, format as u32, &[]);
                }
            }
            "title" | "description" | "$comment" | "format" => drop(self.value_of(Kind::String)?),
            #[cfg(not(feature = "pattern"))]
            "pattern" | "patternProperties" => {
                return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
            }
            "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "propertyNames"
            | "contains"
            | "minContains"
            | "maxContains"
            | "prefixItems"
            | "uniqueItems"
            | "multipleOf"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "$anchor"
            | "$dynamicRef"
            | "$dynamicAnchor"
            | "$recursiveRef"
            | "$recursiveAnchor" => {
                return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
            }
            _ => drop(self.value()?),
        }
        Ok(None)
    }

    /// The value of `type`.
    fn types(&self, value: Value<'s>) -> Result<u8, SchemaError> {
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
    fn values(
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
        let need = work::equality(depth);
        self.level().need = self.level().need.max(need);
        self.largest = self.largest.max(need);
        self.instruction(op, count, &[word_of(self.offset(whole))]);
        Ok(())
    }

    /// A keyword that compares with a number.
    fn bound(&mut self, bit: u8, at: usize, op: u8) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        let value = self.value_of(Kind::Number)?;
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
    fn count(&mut self, bit: u8, at: usize, op: u8) -> Result<(), SchemaError> {
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

    /// Refuses a keyword that stands twice in the innermost schema.
    pub(super) fn once(&mut self, bit: u8, at: usize) -> Result<(), SchemaError> {
        let level = self.level();
        let twice = level.seen >> bit & 1 == 1;
        level.seen |= 1 << bit;
        if twice { Err(error_at(SchemaErrorKind::DuplicateKey, at)) } else { Ok(()) }
    }

    /// The dialect that `$schema` names.
    pub(super) fn dialect(&self, dialect: Value<'s>) -> Result<Draft, SchemaError> {
        let Some(name) = dialect.as_str() else {
            return Err(self.error(SchemaErrorKind::BadKeyword, dialect));
        };
        let mut buffer = [0; 64];
        let name = name.decode_in(&mut buffer).unwrap_or_default();
        let name = name.strip_suffix('#').unwrap_or(name);
        match name.strip_prefix("https").or(name.strip_prefix("http")) {
            Some("://json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft2020),
            Some("://json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
            _ => Err(self.error(SchemaErrorKind::UnsupportedDialect, dialect)),
        }
    }

    fn value_of_str(&self, name: Str<'s>) -> Value<'s> {
        let at = offset_in(self.text, name.raw());
        Value::new(self.text.get(at.saturating_sub(1)..at + name.raw().len() + 1).unwrap_or_default())
    }
}

/// How deep containers are nested in a value.
fn nesting(value: Value<'_>) -> Result<usize, SchemaError> {
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
