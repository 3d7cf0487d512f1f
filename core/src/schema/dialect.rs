//! Which dialect a document is written in: a draft, and for 2020-12 which of its vocabularies.

use super::compile::{Draft, error_at};
use super::compiler::Compiler;
use super::error::{SchemaError, SchemaErrorKind};
use super::source::{offset_in, value_at};
use super::uri::same_document;
use crate::json::Value;

/// What the keywords of a document mean.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    /// It has the validation vocabulary.
    pub(super) validation: bool,
    /// It has the vocabulary that asserts formats.
    pub(super) formats: bool,
}

impl Dialect {
    /// Three bits.
    pub(super) fn bits(self) -> u32 {
        let old = self.draft == Draft::Draft7;
        u32::from(old) | u32::from(self.validation) << 1 | u32::from(self.formats) << 2
    }

    pub(super) fn from_bits(bits: u32) -> Dialect {
        let draft = if bits & 1 == 1 { Draft::Draft7 } else { Draft::Draft2020 };
        Dialect { draft, validation: bits & 2 != 0, formats: bits & 4 != 0 }
    }
}

impl<'s> Compiler<'s, '_> {
    pub(super) fn set_dialect(&mut self, dialect: Dialect) {
        (self.draft, self.validation) = (dialect.draft, dialect.validation);
        #[cfg(feature = "format")]
        {
            self.formats = self.formats_asked || dialect.formats;
        }
        // In draft 7 a `$ref` cancels the keywords beside it, also those before it. Escapes could hide it.
        self.scan_for_ref = dialect.draft == Draft::Draft7 && self.may_refer;
    }

    /// The dialect of the document at an address, by its own word.
    pub(super) fn dialect_of(&self, at: usize) -> Result<Dialect, SchemaError> {
        match self.value_at(at)?.get("$schema") {
            Some(name) => self.dialect(at, name),
            None => Ok(Dialect { draft: self.default_draft, validation: true, formats: false }),
        }
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
}

/// Whether a document says of itself that it is of draft 7.
pub(super) fn names_draft_7(document: Value<'_>) -> bool {
    let mut buffer = [0; 128];
    let name = document.get("$schema").and_then(Value::as_str);
    name.and_then(|name| draft(name.decode_in(&mut buffer).unwrap_or_default())) == Some(Draft::Draft7)
}

/// Whether the name at an offset of a text is that of one of the two drafts.
pub(super) fn is_known(text: &str, at: usize) -> bool {
    let name = value_at(text, at).and_then(Value::as_str);
    let mut buffer = [0; 128];
    name.is_some_and(|name| draft(name.decode_in(&mut buffer).unwrap_or_default()).is_some())
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

/// The keywords of the validation vocabulary, which a dialect can be without.
pub(super) const VALIDATION: [&str; 20] = [
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
