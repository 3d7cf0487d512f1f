//! Reading the keywords of a schema: which there are, and what they compile to. Those whose value is no schema
//! are in [`values`](super::values).

use super::compile::{Draft, error_at};
use super::compiler::Compiler;
use super::dialect::VALIDATION;
use super::entry::Entry;
use super::error::{SchemaError, SchemaErrorKind};
#[cfg(feature = "format")]
use super::format::Format;
use super::pass::Place;
use super::program::{Slot, op, word_of};
use super::source::offset_in;
use super::work::{self, Need};
use crate::json::{self, Kind, Str, Value, blanks};

impl<'s> Compiler<'s, '_> {
    /// Reads a keyword's value. A boolean schema in it is done at once.
    pub(super) fn keyword(&mut self, at: usize, key: Str<'s>) -> Result<Option<(Slot, Need)>, SchemaError> {
        // Longer than any keyword: then it is unknown.
        let mut buffer = [0; 24];
        let name = match key.plain() {
            Some(name) => name,
            None => key.decode_in(&mut buffer).unwrap_or_default(),
        };
        let old = self.draft == Draft::Draft7;
        if self.level().ref_only && !matches!(name, "$ref" | "$defs" | "definitions") {
            // A reference can lead into what is not compiled here.
            self.refs.odd = true;
            self.value()?;
            return Ok(None);
        }
        if !self.validation && VALIDATION.contains(&name) {
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
                    if !old {
                        return Err(error_at(SchemaErrorKind::BadKeyword, self.place()));
                    }
                    self.slots(op::PREFIX_ITEMS)?;
                } else {
                    return self.operand(op::ITEMS);
                }
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
                self.once(REF, at)?;
                let value = self.value_of(Kind::String)?;
                self.reference(op::REF, value)?;
            }
            "$defs" | "definitions" => {
                self.once(if name == "$defs" { 43 } else { 44 }, at)?;
                self.enter(Kind::Object)?;
                self.level().defines = true;
                self.level().place = Place::Definitions;
            }
            "$schema" => {
                self.once(45, at)?;
                let value = self.value()?;
                let root = self.base + self.text.len() - blanks(self.text.as_bytes()).len();
                let dialect = self.dialect(root, value)?;
                if (dialect.draft, dialect.validation) != (self.draft, self.validation) {
                    return Err(self.error(SchemaErrorKind::UnsupportedDialect, value));
                }
            }
            "$id" => {
                // At the root it names the document; elsewhere it begins another one.
                self.refs.foreign |= self.depth > 1;
                self.once(46, at)?;
                self.value_of(Kind::String)?;
            }
            "$anchor" if !old => self.anchor(47, at)?,
            "$dynamicAnchor" if !old => self.anchor(48, at)?,
            "$dynamicRef" if !old => {
                self.once(39, at)?;
                let value = self.value_of(Kind::String)?;
                self.reference(op::DYNAMIC_REF, value)?;
            }
            #[cfg(feature = "format")]
            "format" if self.formats => {
                self.once(FORMAT, at)?;
                let value = self.value_of(Kind::String)?;
                let known = value.as_str().and_then(Format::from_name);
                #[cfg(not(feature = "pattern"))]
                if value.as_str().is_some_and(|name| name.eq_str("regex")) {
                    return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
                }
                if let Some(format) = known {
                    self.instruction(op::FORMAT, format as u32, &[]);
                }
            }
            "title" => self.string(49, at)?,
            "description" => self.string(50, at)?,
            "$comment" => self.string(51, at)?,
            "format" => self.string(FORMAT, at)?,
            "default" => {
                self.once(52, at)?;
                self.value()?;
            }
            "multipleOf" => {
                self.once(17, at)?;
                let value = self.value_of(Kind::Number)?;
                let number = value.as_number().filter(|number| !number.is_negative() && !number.is_zero());
                let number = number.ok_or(self.error(SchemaErrorKind::BadKeyword, value))?;
                if number.is_multiple_of(number).is_none() {
                    return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
                }
                self.bound_value(op::MULTIPLE_OF, value)?;
            }
            "minProperties" => self.count(18, at, op::MIN_PROPERTIES)?,
            "maxProperties" => self.count(19, at, op::MAX_PROPERTIES)?,
            "minContains" if !old => self.count(20, at, op::MIN_CONTAINS)?,
            "maxContains" if !old => self.count(21, at, op::MAX_CONTAINS)?,
            "uniqueItems" => {
                self.once(22, at)?;
                if self.value_of(Kind::Bool)?.as_bool() == Some(true) {
                    self.compares(Need { all: work::unique(usize::from(json::MAX_DEPTH)), plain: 0 });
                    self.instruction(op::UNIQUE_ITEMS, 0, &[]);
                }
            }
            "allOf" => self.schemas(23, at, op::ALL_OF)?,
            "anyOf" => self.schemas(24, at, op::ANY_OF)?,
            "oneOf" => self.schemas(25, at, op::ONE_OF)?,
            "prefixItems" if !old => self.schemas(26, at, op::PREFIX_ITEMS)?,
            "not" => return self.single(27, at, op::NOT),
            "if" => return self.single(28, at, op::IF),
            "then" => return self.single(29, at, op::THEN),
            "else" => return self.single(30, at, op::ELSE),
            "contains" => return self.single(31, at, op::CONTAINS),
            "propertyNames" => return self.single(32, at, op::PROPERTY_NAMES),
            "additionalItems" if old => return self.single(33, at, op::ADDITIONAL_ITEMS),
            #[cfg(feature = "unevaluated")]
            "unevaluatedItems" if !old => return self.single(37, at, op::UNEVALUATED_ITEMS),
            #[cfg(feature = "unevaluated")]
            "unevaluatedProperties" if !old => {
                return self.single(38, at, op::UNEVALUATED_PROPERTIES);
            }
            "dependentSchemas" if !old => self.dependents(34, at)?,
            "dependencies" => self.dependents(DEPENDENCIES, at)?,
            "dependentRequired" if !old => {
                self.once(36, at)?;
                let value = self.value_of(Kind::Object)?;
                self.level().list = self.store.height();
                for (key, list) in value.entries() {
                    self.dependent_list(key, list)?;
                }
                self.end_list(op::DEPENDENT, 3);
            }
            #[cfg(not(feature = "pattern"))]
            "pattern" | "patternProperties" => {
                return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
            }
            #[cfg(not(feature = "unevaluated"))]
            "unevaluatedItems" | "unevaluatedProperties" if !old => {
                return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
            }
            "$recursiveRef" | "$recursiveAnchor" => {
                return Err(error_at(SchemaErrorKind::UnsupportedKeyword, at));
            }
            _ => drop(self.value()?),
        }
        Ok(None)
    }

    /// A keyword whose value is a schema.
    fn single(&mut self, bit: u8, at: usize, op: u8) -> Result<Option<(Slot, Need)>, SchemaError> {
        self.once(bit, at)?;
        self.operand(op)
    }

    fn operand(&mut self, op: u8) -> Result<Option<(Slot, Need)>, SchemaError> {
        self.level().place = Place::Operand(op);
        self.open()
    }

    /// A keyword whose value is a list of schemas.
    fn schemas(&mut self, bit: u8, at: usize, op: u8) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        self.slots(op)
    }

    fn slots(&mut self, op: u8) -> Result<(), SchemaError> {
        let value = self.enter(Kind::Array)?;
        if op != op::PREFIX_ITEMS && self.value_at(value)?.item(0).is_none() {
            return Err(error_at(SchemaErrorKind::BadKeyword, value));
        }
        self.level().list = self.store.height();
        self.level().place = Place::List(op);
        Ok(())
    }

    /// A keyword whose value names what members call for.
    fn dependents(&mut self, bit: u8, at: usize) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        self.enter(Kind::Object)?;
        self.level().list = self.store.height();
        self.level().place = Place::Dependents;
        Ok(())
    }

    /// One of them, whose key was read: a schema, or a list of names.
    pub(super) fn dependent(&mut self, at: usize, key: Str<'s>) -> Result<Option<(Slot, Need)>, SchemaError> {
        if self.peek()? == Kind::Array && self.level().seen >> DEPENDENCIES & 1 == 1 {
            let list = self.value()?;
            self.dependent_list(key, list)?;
            return Ok(None);
        }
        self.entry(at, key, 0, Slot::ANY);
        self.open()
    }

    fn dependent_list(&mut self, key: Str<'s>, list: Value<'s>) -> Result<(), SchemaError> {
        if list.kind() != Kind::Array || list.items().any(|name| name.kind() != Kind::String) {
            return Err(self.error(SchemaErrorKind::BadKeyword, list));
        }
        let at = (self.base + offset_in(self.text, key.raw())).saturating_sub(1);
        self.entry(at, key, Entry::LIST, Slot(word_of(self.offset(list))));
        Ok(())
    }

    /// A keyword whose value is a string that says nothing about values.
    fn string(&mut self, bit: u8, at: usize) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        self.value_of(Kind::String).map(drop)
    }

    /// A keyword whose value is a name: a letter or `_`, then also digits, `-` and `.`.
    fn anchor(&mut self, bit: u8, at: usize) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        let value = self.value_of(Kind::String)?;
        let mut chars = value.as_str().into_iter().flat_map(Str::chars);
        let begins = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !begins || !chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            return Err(self.error(SchemaErrorKind::BadKeyword, value));
        }
        Ok(())
    }

    /// Refuses a keyword that stands twice in the innermost schema.
    pub(super) fn once(&mut self, bit: u8, at: usize) -> Result<(), SchemaError> {
        let level = self.level();
        let twice = level.seen >> bit & 1 == 1;
        level.seen |= 1 << bit;
        if twice { Err(error_at(SchemaErrorKind::DuplicateKey, at)) } else { Ok(()) }
    }
}

/// The bits of keywords that are asked for later.
pub(super) const REF: u8 = 15;
const DEPENDENCIES: u8 = 35;
#[cfg(feature = "pattern")]
pub(super) const PATTERN: u8 = 40;
#[cfg(feature = "pattern")]
pub(super) const PATTERN_PROPERTIES: u8 = 41;
const FORMAT: u8 = 42;
