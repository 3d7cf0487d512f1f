//! Reading the keywords of a schema: which there are, what their values must be, and what they compile to.

use super::compile::{Compiler, Draft, Place, error_at, not_json};
use super::entry::{Entry, Form};
use super::error::{SchemaError, SchemaErrorKind};
#[cfg(feature = "format")]
use super::format::Format;
use super::program::{INLINE, MAX_ARGUMENT, Slot, op, types, word_of};
use super::source::offset_in;
use super::uri::same_document;
use super::work;
use crate::json::{self, Kind, Reader, Str, Value, blanks};

/// What the keywords of a document mean.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    /// It has the validation vocabulary.
    pub(super) validation: bool,
    /// It has the vocabulary that asserts formats.
    pub(super) formats: bool,
}

impl<'s> Compiler<'s, '_> {
    /// Reads a keyword's value. A boolean schema in it is done at once.
    pub(super) fn keyword(&mut self, at: usize, key: Str<'s>) -> Result<Option<(Slot, u32)>, SchemaError> {
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
                self.enter(Kind::Object)?;
                self.level().defines = true;
                self.level().place = Place::Definitions;
            }
            "$schema" => {
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
                self.value_of(Kind::String)?;
            }
            "$anchor" | "$dynamicAnchor" if !old => drop(self.value_of(Kind::String)?),
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
                if let Some(format) = known {
                    self.instruction(op::FORMAT, format as u32, &[]);
                }
            }
            "title" | "description" | "$comment" | "format" => drop(self.value_of(Kind::String)?),
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
                    self.compares(usize::from(json::MAX_DEPTH));
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
            "unevaluatedItems" if !old => return self.single(37, at, op::UNEVALUATED_ITEMS),
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
            "$recursiveRef" | "$recursiveAnchor" => {
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
        self.compares(depth);
        self.instruction(op, count, &[word_of(self.offset(whole))]);
        Ok(())
    }

    /// Values in which containers are nested this deep are compared.
    fn compares(&mut self, depth: usize) {
        let need = work::equality(depth);
        self.level().need = self.level().need.max(need);
        self.once = self.once.max(need);
    }

    /// A keyword that compares with a number.
    fn bound(&mut self, bit: u8, at: usize, op: u8) -> Result<(), SchemaError> {
        self.once(bit, at)?;
        let value = self.value_of(Kind::Number)?;
        self.bound_value(op, value)
    }

    fn bound_value(&mut self, op: u8, value: Value<'s>) -> Result<(), SchemaError> {
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

    /// A keyword whose value is a schema.
    fn single(&mut self, bit: u8, at: usize, op: u8) -> Result<Option<(Slot, u32)>, SchemaError> {
        self.once(bit, at)?;
        self.operand(op)
    }

    fn operand(&mut self, op: u8) -> Result<Option<(Slot, u32)>, SchemaError> {
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
    pub(super) fn dependent(&mut self, at: usize, key: Str<'s>) -> Result<Option<(Slot, u32)>, SchemaError> {
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

    /// Refuses a keyword that stands twice in the innermost schema.
    pub(super) fn once(&mut self, bit: u8, at: usize) -> Result<(), SchemaError> {
        let level = self.level();
        let twice = level.seen >> bit & 1 == 1;
        level.seen |= 1 << bit;
        if twice { Err(error_at(SchemaErrorKind::DuplicateKey, at)) } else { Ok(()) }
    }

    /// The dialect that the `$schema` of the document at an address names: one of the two drafts, or a
    /// meta-schema among the resources, which says which vocabularies of one of them it has.
    pub(super) fn dialect(&self, document: usize, name: Value<'s>) -> Result<Dialect, SchemaError> {
        let (text, _, base) = self.texts.locate(document);
        let at = base + offset_in(text, name.raw());
        let unknown = error_at(SchemaErrorKind::UnsupportedDialect, at);
        let Some(named) = name.as_str() else { return Err(error_at(SchemaErrorKind::BadKeyword, at)) };
        let mut buffer = [0; 128];
        let named = named.decode_in(&mut buffer).unwrap_or_default();
        if let Some(draft) = draft(named) {
            return Ok(Dialect { draft, validation: true, formats: false });
        }
        let mut schemas = self.texts.more.iter().map(|resource| (resource.uri, resource.text));
        let meta = schemas.find_map(|(uri, text)| {
            let root = Value::from_checked(text);
            let id = root.get("$id").and_then(Value::as_str);
            let same = same_document(uri, named) || id.is_some_and(|id| id.eq_str(named));
            (same && !named.is_empty()).then_some(root)
        });
        let meta = meta.ok_or(unknown)?;
        let mut buffer = [0; 128];
        let base = meta.get("$schema").and_then(Value::as_str);
        let base = base.and_then(|base| draft(base.decode_in(&mut buffer).unwrap_or_default()));
        let mut dialect = Dialect { draft: base.ok_or(unknown)?, validation: true, formats: false };
        if let Some(vocabularies) = meta.get("$vocabulary").filter(|_| dialect.draft == Draft::Draft2020) {
            dialect.validation = false;
            for (vocabulary, required) in vocabularies.entries() {
                let mut buffer = [0; 128];
                let vocabulary = vocabulary.decode_in(&mut buffer).unwrap_or_default();
                match vocabulary.strip_prefix("https://json-schema.org/draft/2020-12/vocab/") {
                    Some("validation") => dialect.validation = true,
                    Some(
                        "core" | "applicator" | "unevaluated" | "meta-data" | "format-annotation" | "content",
                    ) => {}
                    Some("format-assertion") if cfg!(feature = "format") => dialect.formats = true,
                    Some("format-assertion") => return Err(unknown),
                    _ if required.as_bool() == Some(true) => return Err(unknown),
                    _ => {}
                }
            }
        }
        Ok(dialect)
    }

    fn value_of_str(&self, name: Str<'s>) -> Value<'s> {
        let at = offset_in(self.text, name.raw());
        Value::new(self.text.get(at.saturating_sub(1)..at + name.raw().len() + 1).unwrap_or_default())
    }
}

/// The draft whose meta-schema has this URI.
fn draft(name: &str) -> Option<Draft> {
    let name = name.strip_suffix('#').unwrap_or(name);
    match name.strip_prefix("https").or(name.strip_prefix("http"))? {
        "://json-schema.org/draft/2020-12/schema" => Some(Draft::Draft2020),
        "://json-schema.org/draft-07/schema" => Some(Draft::Draft7),
        _ => None,
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

/// The bits of keywords that are asked for later.
pub(super) const REF: u8 = 15;
const DEPENDENCIES: u8 = 35;
#[cfg(feature = "pattern")]
pub(super) const PATTERN: u8 = 40;
#[cfg(feature = "pattern")]
pub(super) const PATTERN_PROPERTIES: u8 = 41;
#[cfg(feature = "format")]
const FORMAT: u8 = 42;

/// The keywords of the validation vocabulary, which a dialect can be without.
const VALIDATION: [&str; 20] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
];

const TYPES: [(&str, u8); 7] = [
    ("string", types::STRING),
    ("object", types::OBJECT),
    ("number", types::NUMBER),
    ("integer", types::INTEGER),
    ("boolean", types::BOOLEAN),
    ("array", types::ARRAY),
    ("null", types::NULL),
];
