//! Why a schema is refused, why a check could not be carried out, and the names of keywords.

use super::dialect;
#[cfg(feature = "pattern")]
use super::pattern::PatternError;
use super::source::Resource;
use super::wanted::wanted_at;
use crate::json::{self, Str};
use crate::sink::Sink;
use core::fmt;
use thiserror_no_std::Error;

/// A schema that was refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// What is wrong.
    pub kind: SchemaErrorKind,
    /// Where in the schema's text, or in that of the resource: the keyword or the value that is wrong.
    pub offset: usize,
    /// The number of the resource that it stands in, counted from 0, if it is not in the schema.
    pub resource: Option<usize>,
}
impl core::error::Error for SchemaError {}

/// What [`SchemaError::write_message`] says, without what takes the schema's text.
impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.phrase())?;
        match self.kind {
            // The place in the text is that of the error.
            SchemaErrorKind::Json(error) => write!(f, ": {}", error.reason.message())?,
            SchemaErrorKind::NoSpace { need } => return write!(f, ": {need} bytes needed"),
            #[cfg(feature = "pattern")]
            SchemaErrorKind::Pattern(error) => write!(f, " at byte {} of the pattern", error.offset)?,
            _ => {}
        }
        write!(f, " at byte {} of the ", self.offset)?;
        match self.resource {
            Some(number) => write!(f, "resource with the number {number}"),
            None => f.write_str("schema"),
        }
    }
}

/// What is wrong with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// The text is not JSON.
    Json(json::Error),
    /// The memory is too small.
    NoSpace {
        /// Bytes that would do.
        need: usize,
    },
    /// The text, or a list in it, is longer than a program can refer to (512 MiB).
    TooLarge,
    /// A keyword that would change what is accepted, and cannot be enforced.
    UnsupportedKeyword,
    /// A keyword's value has the wrong type or range.
    BadKeyword,
    /// `type` names a type that does not exist.
    UnknownType,
    /// A schema must be an object or a boolean.
    NotASchema,
    /// A keyword, a property or a key on the way of a reference stands twice in one object, or two schemas of a
    /// document have the name that references can use.
    DuplicateKey,
    /// `$schema` names a dialect other than draft 2020-12 and draft 7, or inside a document another one than
    /// that is written in.
    UnsupportedDialect,
    /// The URI that a `$ref` or an `$id` resolves to is longer than 512 bytes.
    UnsupportedRef,
    /// There is no such place in the document that a `$ref` leads into.
    UnresolvedRef,
    /// A `$ref` leads into a document that was not handed over.
    UnknownDocument,
    /// `$ref` leads back to itself without entering the value.
    RefCycle,
    /// Resolving the references takes too long. Named is one of them. References that lead through places
    /// where no schemas are expected, such as `#/components/…`, or through what is used of a resource, are
    /// followed one after the other: chains of 64 always, of several hundred in a text of some kilobytes.
    RefLimit,
    /// Schemas are nested deeper than the limit.
    DepthLimit,
    /// A pattern is no regular expression, or one that is not supported.
    #[cfg(feature = "pattern")]
    Pattern(PatternError),
}

impl SchemaErrorKind {
    /// The kind as a phrase.
    pub const fn phrase(self) -> &'static str {
        match self {
            SchemaErrorKind::Json(_) => "not JSON",
            SchemaErrorKind::NoSpace { .. } => "no space for the compiled schema",
            SchemaErrorKind::TooLarge => "schema too large",
            SchemaErrorKind::UnsupportedKeyword => "keyword not supported",
            SchemaErrorKind::BadKeyword => "keyword with a wrong value",
            SchemaErrorKind::UnknownType => "unknown type",
            SchemaErrorKind::NotASchema => "a schema must be an object or a boolean",
            SchemaErrorKind::DuplicateKey => "duplicate key",
            SchemaErrorKind::UnsupportedDialect => "dialect not supported (2020-12 and draft-07 are)",
            SchemaErrorKind::UnsupportedRef => "URI too long",
            SchemaErrorKind::UnresolvedRef => "reference to no place in its document",
            SchemaErrorKind::UnknownDocument => "reference to a document that was not handed over",
            SchemaErrorKind::RefCycle => "reference that leads back to itself",
            SchemaErrorKind::RefLimit => "references too many or too long to resolve",
            SchemaErrorKind::DepthLimit => "schemas nested too deep",
            #[cfg(feature = "pattern")]
            SchemaErrorKind::Pattern(error) => error.kind.phrase(),
        }
    }
}

impl SchemaError {
    /// Appends the JSON Pointer of the place in the schema; nothing if the text is not JSON. If it is in a
    /// resource, `schema` must be that one's text.
    pub fn write_path(&self, schema: &str, sink: &mut Sink<'_>) {
        match self.kind {
            SchemaErrorKind::Json(_) | SchemaErrorKind::NoSpace { .. } => {}
            _ => json::pointer_at(schema, self.offset, sink),
        }
    }

    /// Appends the place: its JSON Pointer, or in a resource the URI of that, `#` and the pointer. Nothing if
    /// the memory is too small, or the schema is not JSON.
    pub fn write_place(&self, schema: &str, resources: &[Resource<'_>], sink: &mut Sink<'_>) {
        let (uri, text) = self.document(schema, resources);
        sink.put(uri);
        if !uri.is_empty() && !matches!(self.kind, SchemaErrorKind::Json(_)) {
            sink.put("#");
        }
        self.write_path(text, sink);
    }

    /// The URI, if it is a resource, and the text of the document that it stands in.
    fn document<'t>(&self, schema: &'t str, resources: &[Resource<'t>]) -> (&'t str, &'t str) {
        let resource = self.resource.and_then(|number| resources.get(number));
        resource.map_or(("", schema), |resource| (resource.uri, resource.text))
    }

    /// Bytes that would do, if the memory is too small.
    pub fn no_space(&self) -> Option<usize> {
        match self.kind {
            SchemaErrorKind::NoSpace { need } => Some(need),
            _ => None,
        }
    }

    /// Appends the place and what is wrong, for people: `/properties/a/oneOf: keyword "oneOf" is not
    /// supported`. At the root there is no place.
    pub fn write_message(&self, schema: &str, sink: &mut Sink<'_>) {
        self.write_message_with(schema, &[], sink);
    }

    /// As [`write_message`](Self::write_message), for a schema with resources: the place in one of them begins
    /// with its URI.
    pub fn write_message_with(&self, schema: &str, resources: &[Resource<'_>], sink: &mut Sink<'_>) {
        let start = sink.len();
        self.write_place(schema, resources, sink);
        if sink.len() > start {
            sink.put(": ");
        }
        let (_, schema) = self.document(schema, resources);
        match self.kind {
            SchemaErrorKind::Json(error) => {
                sink.put("not JSON: ");
                error.write(sink);
            }
            SchemaErrorKind::NoSpace { need } => {
                sink.put("no space for the compiled schema: ");
                sink.put_u64(need as u64);
                sink.put(" bytes needed");
            }
            SchemaErrorKind::UnsupportedKeyword => {
                sink.put("keyword ");
                put_source(schema, self.offset, sink);
                let rest = schema.get(self.offset..).unwrap_or_default();
                sink.put(match string_end(rest).and_then(|end| rest.get(..end)) {
                    Some(r#""multipleOf""#) => " with a number of so many digits is not supported",
                    Some(r#""$recursiveRef""# | r#""$recursiveAnchor""#) => {
                        " of draft 2019-09 is not supported"
                    }
                    _ => " is not supported",
                });
                let feature = feature_of(schema, self.offset);
                if !feature.is_empty() {
                    sink.put("; it needs the feature \"");
                    sink.put(feature);
                    sink.put("\"");
                }
            }
            SchemaErrorKind::BadKeyword => {
                sink.put(self.kind.phrase());
                let wanted = wanted_at(schema, self.offset);
                sink.put(if wanted.is_empty() { "" } else { ", expected " });
                sink.put(wanted);
            }
            SchemaErrorKind::UnsupportedDialect if dialect::is_known(schema, self.offset) => {
                sink.put("another dialect inside a document is not supported: ");
                put_source(schema, self.offset, sink);
            }
            #[cfg(feature = "pattern")]
            SchemaErrorKind::Pattern(error) => {
                sink.put(error.kind.phrase());
                sink.put(" at byte ");
                sink.put_u64(error.offset as u64);
                sink.put(" of ");
                put_source(schema, self.offset, sink);
                let remedy = error.kind.remedy();
                sink.put(if remedy.is_empty() { "" } else { "; " });
                sink.put(remedy);
            }
            kind => {
                sink.put(kind.phrase());
                // Of a URI, the end is what tells it from others.
                let most = match kind {
                    SchemaErrorKind::UnknownType | SchemaErrorKind::DuplicateKey => SHORT,
                    SchemaErrorKind::UnsupportedDialect
                    | SchemaErrorKind::UnsupportedRef
                    | SchemaErrorKind::UnresolvedRef
                    | SchemaErrorKind::UnknownDocument
                    | SchemaErrorKind::RefCycle
                    | SchemaErrorKind::RefLimit => LONG,
                    _ => return,
                };
                sink.put(": ");
                put_cut(source(schema, self.offset), most, sink);
            }
        }
    }
}

/// Why a check could not be carried out. What the instance does wrong is no error but a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The instance is not JSON.
    #[error("not JSON: {0}")]
    Json(json::Error),
    /// The work memory is too small.
    #[error("no space: {need} words of work memory needed")]
    NoWork {
        /// Words that would do.
        need: usize,
    },
    /// The step budget is used up. A larger one helps, and in containers of thousands of elements more work
    /// memory: see [`Schema::work_words`](super::Schema::work_words).
    #[error("step limit reached")]
    StepLimit,
    /// The instance is 4 GiB or longer.
    #[error("instance too large")]
    TooLarge,
    /// The program is not one that `compile` made.
    #[error("not a schema program")]
    BadProgram,
}
impl core::error::Error for CheckError {}

impl From<json::Error> for CheckError {
    fn from(error: json::Error) -> Self {
        CheckError::Json(error)
    }
}

/// What a violation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keyword {
    /// `type`
    Type,
    /// `enum`
    Enum,
    /// `const`
    Const,
    /// `minimum`
    Minimum,
    /// `maximum`
    Maximum,
    /// `exclusiveMinimum`
    ExclusiveMinimum,
    /// `exclusiveMaximum`
    ExclusiveMaximum,
    /// `minLength`
    MinLength,
    /// `maxLength`
    MaxLength,
    /// `pattern`
    Pattern,
    /// `format`
    Format,
    /// `minItems`
    MinItems,
    /// `maxItems`
    MaxItems,
    /// `multipleOf`
    MultipleOf,
    /// `uniqueItems`
    UniqueItems,
    /// `contains`
    Contains,
    /// `minContains`
    MinContains,
    /// `maxContains`
    MaxContains,
    /// `minProperties`
    MinProperties,
    /// `maxProperties`
    MaxProperties,
    /// `dependentRequired`
    DependentRequired,
    /// `dependencies`
    Dependencies,
    /// `anyOf`, where no alternative takes values of this type, or none takes this one of a few values
    AnyOf,
    /// `oneOf`, as `anyOf`, or where several fit
    OneOf,
    /// `not`
    Not,
    /// `unevaluatedProperties`
    UnevaluatedProperties,
    /// `unevaluatedItems`
    UnevaluatedItems,
    /// `required`
    Required,
    /// `additionalProperties`
    AdditionalProperties,
    /// The boolean schema `false`, which accepts nothing.
    False,
    /// No keyword: a key stands twice in one object.
    DuplicateKey,
}

impl Keyword {
    /// The keyword as a schema writes it; `false` and `duplicate-key` for the two that are none.
    pub const fn name(self) -> &'static str {
        match self {
            Keyword::Type => "type",
            Keyword::Enum => "enum",
            Keyword::Const => "const",
            Keyword::Minimum => "minimum",
            Keyword::Maximum => "maximum",
            Keyword::ExclusiveMinimum => "exclusiveMinimum",
            Keyword::ExclusiveMaximum => "exclusiveMaximum",
            Keyword::MinLength => "minLength",
            Keyword::MaxLength => "maxLength",
            Keyword::Pattern => "pattern",
            Keyword::Format => "format",
            Keyword::MinItems => "minItems",
            Keyword::MaxItems => "maxItems",
            Keyword::MultipleOf => "multipleOf",
            Keyword::UniqueItems => "uniqueItems",
            Keyword::Contains => "contains",
            Keyword::MinContains => "minContains",
            Keyword::MaxContains => "maxContains",
            Keyword::MinProperties => "minProperties",
            Keyword::MaxProperties => "maxProperties",
            Keyword::DependentRequired => "dependentRequired",
            Keyword::Dependencies => "dependencies",
            Keyword::AnyOf => "anyOf",
            Keyword::OneOf => "oneOf",
            Keyword::Not => "not",
            Keyword::UnevaluatedProperties => "unevaluatedProperties",
            Keyword::UnevaluatedItems => "unevaluatedItems",
            Keyword::Required => "required",
            Keyword::AdditionalProperties => "additionalProperties",
            Keyword::False => "false",
            Keyword::DuplicateKey => "duplicate-key",
        }
    }
}

/// Appends the string or key at `offset` of a schema's text as it stands there, shortened.
pub(super) fn put_source(schema: &str, offset: usize, sink: &mut Sink<'_>) {
    put_short(source(schema, offset), sink);
}

/// The string or key at `offset` of a schema's text, with its quotes.
fn source(schema: &str, offset: usize) -> &str {
    let rest = schema.get(offset..).unwrap_or_default();
    rest.get(..string_end(rest).unwrap_or(rest.len())).unwrap_or_default()
}

/// The feature without which this build does not have the keyword at `offset`, if that is why.
fn feature_of(schema: &str, offset: usize) -> &'static str {
    let name = source(schema, offset);
    let name = Str::new(name.get(1..name.len().saturating_sub(1)).unwrap_or_default());
    let is = |keywords: &[&str]| keywords.iter().any(|keyword| name.eq_str(keyword));
    // Without patterns there is no format "regex" to be asserted.
    if cfg!(not(feature = "pattern")) && is(&["pattern", "patternProperties", "format"]) {
        "pattern"
    } else if cfg!(not(feature = "unevaluated")) && is(&["unevaluatedItems", "unevaluatedProperties"]) {
        "unevaluated"
    } else {
        ""
    }
}

/// The length of the string that `text` starts with, its quotes included.
pub(super) fn string_end(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    None
}

/// Appends `text`, cut at a character boundary if it is much longer than a line has room for.
pub(super) fn put_short(text: &str, sink: &mut Sink<'_>) {
    put_cut(text, SHORT, sink);
}

/// Appends `text`, cut at a character boundary after at most so many bytes.
fn put_cut(text: &str, most: usize, sink: &mut Sink<'_>) {
    let end = text.floor_char_boundary(most);
    sink.put(text.get(..end).unwrap_or_default());
    sink.put(if end < text.len() { "…" } else { "" });
}

const SHORT: usize = 40;
const LONG: usize = 120;
