//! What is told of a lowering: each change, and why a strict one is not possible.

use crate::json::pointer_at;
use crate::sink::Sink;

/// A change that was made to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'s> {
    /// The schema's text.
    pub schema: &'s str,
    /// Where in it the key or the value stands that is concerned, in bytes.
    pub offset: usize,
    /// What was done.
    pub kind: ChangeKind,
}

impl Change<'_> {
    /// Appends the JSON Pointer of the place in the schema as it was.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        pointer_at(self.schema, self.offset, sink);
    }
}

/// What was done to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The object schema got empty `properties`.
    PropertiesAdded,
    /// The type that follows from the rest of the schema is said.
    TypeAdded,
    /// The keyword was left out.
    Dropped,
    /// The keyword was left out, and its text put into the description.
    Moved,
    /// The object accepts no other properties.
    Closed,
    /// The optional property is required, and may be null.
    MadeRequired,
    /// A type, value or branch that is null became `nullable`.
    Nullable,
    /// `const` became an `enum` of one value.
    ConstToEnum,
    /// `oneOf` became `anyOf`.
    OneOfToAnyOf,
    /// Several types became branches of `anyOf`.
    TypesToAnyOf,
    /// Types that no value of the `enum` or `const` beside them has were left out.
    TypesNarrowed,
    /// The target of the reference was put in its place.
    Inlined,
    /// What the list holds was put into the schema around it.
    Merged,
    /// A tuple became a list whose items are one of the tuple's.
    TupleToList,
    /// The keyword got the name that it has in draft 2020-12.
    Renamed,
    /// The rest of a tuple that is closed became the most items.
    RestToMaxItems,
    /// Two schemas that became one have no type in common. Or the reference leads back to a schema around
    /// it, or away, or made the schema too large, or stood too deep: any value, or any of the target's
    /// type, is allowed in its place.
    LeftOpen,
    /// The property was left out: its name is not allowed.
    NameRefused,
    /// The property, the alternative or the null that no value fits was left out.
    NeverRemoved,
    /// The schema `true` or `false` became an object that says the same.
    BooleanToObject,
}

impl ChangeKind {
    /// What was done and why, as a sentence without a full stop.
    pub const fn message(self) -> &'static str {
        match self {
            ChangeKind::PropertiesAdded => "empty properties added: the provider wants them",
            ChangeKind::TypeAdded => "type added: the provider wants it",
            ChangeKind::Dropped => "left out: the provider does not take it",
            ChangeKind::Moved => "moved into the description: the provider does not take it",
            ChangeKind::Closed => "additionalProperties false added: the provider wants closed objects",
            ChangeKind::MadeRequired => {
                "sent as required, null meaning absent: the provider wants every property required"
            }
            ChangeKind::Nullable => "null became nullable: the provider does not take it otherwise",
            ChangeKind::ConstToEnum => "const became an enum of one value: the provider does not take const",
            ChangeKind::OneOfToAnyOf => "oneOf became anyOf: the provider does not take oneOf",
            ChangeKind::TypesToAnyOf => "the types became branches of anyOf: the provider takes one type",
            ChangeKind::TypesNarrowed => "types were left out that none of the values has",
            ChangeKind::Inlined => "what is referred to was put in the place of the reference",
            ChangeKind::Merged => "put into the schema around it",
            ChangeKind::TupleToList => {
                "the tuple became a list of any of its items: the provider takes no tuples"
            }
            ChangeKind::Renamed => "renamed: the provider takes the newer name only",
            ChangeKind::RestToMaxItems => "became maxItems: the provider takes no false here",
            ChangeKind::LeftOpen => "left open: the provider cannot follow what stands here",
            ChangeKind::NameRefused => {
                "the property was moved into the description: the provider does not allow its name"
            }
            ChangeKind::NeverRemoved => "left out: no value fits it",
            ChangeKind::BooleanToObject => {
                "became an object that says the same: the provider takes no other schema"
            }
        }
    }
}

/// Why a schema does not fit a strict subset, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("{kind} (byte {offset} of the schema)")]
pub struct StrictProblem {
    /// What is wrong.
    pub kind: StrictProblemKind,
    /// Where in the schema's text.
    pub offset: usize,
}
impl core::error::Error for StrictProblem {}

impl StrictProblem {
    /// Appends the JSON Pointer of the place in `schema`, the text that was refused.
    pub fn write_path(&self, schema: &str, sink: &mut Sink<'_>) {
        pointer_at(schema, self.offset, sink);
    }
}

/// Why a schema does not fit a strict subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[non_exhaustive]
pub enum StrictProblemKind {
    /// An object accepts properties that are not declared, and says so.
    #[error("the object accepts other properties; set additionalProperties to false")]
    NotClosed,
    /// The keyword has no equivalent in the strict subset.
    #[error("the keyword cannot be expressed in the strict subset")]
    Keyword,
    /// The root is not plainly an object.
    #[error("the keyword cannot stand at the root of a strict schema")]
    Root,
    /// Nothing says what type a value has.
    #[error("the schema accepts any type; say which")]
    Untyped,
    /// A reference leads back to a schema around it.
    #[error("the reference makes the schema recursive, which the strict subset does not allow here")]
    Recursion,
    /// A reference leads to no place of this text.
    #[error("the reference leads to no schema of this text by JSON Pointer")]
    Reference,
    /// Two schemas that have to become one say different things with one keyword.
    #[error("the keyword stands in two schemas that have to become one")]
    Merge,
    /// None of the arguments is required.
    #[error("no property is required; the strict subset wants at least one")]
    NoneRequired,
    /// No value fits.
    #[error("no value fits this schema, which the strict subset cannot say")]
    Never,
    /// There are too many.
    #[error("more than {most} {what}, which is the most that the strict subset allows")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that are allowed.
        most: usize,
    },
}
impl core::error::Error for StrictProblemKind {}
