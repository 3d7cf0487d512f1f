//! What each provider takes of JSON Schema, as tables.
//!
//! Of a keyword a subset says: it is kept, it is left out, it cannot be held to (a strict subset refuses the
//! schema), or, if it is in none of these lists, its text is moved into the description, where a model reads
//! it. What is turned into an equivalent follows from what is kept: without `const` an `enum` of one value is
//! written, without `oneOf` an `anyOf`, without `definitions` `$defs`, without `prefixItems` and `allOf` what
//! says the same where there is such a thing.

use super::node::kind;
use super::word::{Word as W, Words};

/// What a provider takes of JSON Schema.
#[derive(Clone, Copy, Debug)]
pub struct Subset {
    /// Documents of draft 7 are turned into ones of 2020-12. Where not everything is kept they always are.
    pub(super) newest: bool,
    /// A schema that does not fit is refused, in place of being loosened.
    pub(super) strict: bool,
    /// Keywords that go out as they are.
    pub(super) keep: Words,
    /// Keywords that are left out: a model has no use for them.
    pub(super) drop: Words,
    /// Keywords that a strict schema cannot have and that have no equivalent.
    pub(super) refuse: Words,
    /// Keywords that the root cannot have.
    pub(super) not_at_root: Words,
    pub(super) types: Types,
    pub(super) refs: Refs,
    pub(super) cycles: Cycles,
    /// The kinds of value that `enum` and `const` may hold.
    pub(super) values: u8,
    /// The formats that may be named; `None` for all.
    pub(super) formats: Option<&'static [&'static str]>,
    /// The largest `minItems`.
    pub(super) min_items: Option<&'static [&'static str]>,
    /// An object schema has to have `properties`.
    pub(super) properties: bool,
    /// Every schema has to say its type.
    pub(super) typed: bool,
    /// `true` and `false` are schemas; else not where a property or a branch stands.
    pub(super) booleans: bool,
    /// Every object is closed.
    pub(super) closed: bool,
    /// Every property is in `required`; one that is optional may be null.
    pub(super) all_required: bool,
    /// Of the arguments at least one is required, if there are any.
    pub(super) some_required: bool,
    /// Properties have names of letters, digits and `_`, 64 at most, no digit first.
    pub(super) plain_names: bool,
    /// What a schema may have at most.
    pub(super) limits: Limits,
}

impl Subset {
    /// Whether optional properties are sent as required ones that may be null, so that a null for one means
    /// that it is absent.
    pub fn makes_nullable(&self) -> bool {
        self.all_required
    }

    /// Whether everything goes out as it is.
    pub(super) fn is_whole(&self) -> bool {
        self.keep == Words::ALL && self.refs == Refs::Any
    }

    /// The same for a document in which references have to be put in place, or one of draft 7.
    pub(super) fn rewriting(&self, draft7: bool) -> Subset {
        let old = Words::of(&[W::Definitions, W::AdditionalItems, W::Dependencies]);
        let names = Words::of(&[W::Schema, W::Id]);
        let (gone, drop) = if draft7 { (old.and(names), names) } else { (Words::NONE, self.drop) };
        Subset { keep: self.keep.without(gone), drop, refs: Refs::Alone, ..*self }
    }
}

/// How types are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Types {
    /// One, or a list of them.
    Listed,
    /// One; several are branches of `anyOf`.
    Single,
    /// One in upper case, and `nullable` beside it; several are branches of `anyOf`.
    Upper,
}

/// What becomes of `$ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refs {
    /// It is kept.
    Any,
    /// It is kept where it leads to the root or into its `$defs` and stands alone; else the target is put in
    /// its place.
    Alone,
    /// The target is put in its place.
    Inlined,
}

/// Where a reference may lead back to a schema around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cycles {
    Anywhere,
    /// Only inside a property that may be left out.
    Optional,
    Nowhere,
}

/// The most of what is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Of one schema: properties, objects and arrays inside one another, values in all `enum`, bytes of
    /// names, `enum` and `const`, and bytes of an `enum` of more than 250 values.
    pub(super) properties: usize,
    pub(super) levels: usize,
    pub(super) values: usize,
    pub(super) text: usize,
    pub(super) long_enum: usize,
    /// Of a request: strict tools, their properties, optional ones, those of several types.
    pub(super) tools: usize,
    pub(super) all_properties: usize,
    pub(super) optional: usize,
    pub(super) unions: usize,
}

const UNLIMITED: Limits = Limits {
    properties: usize::MAX,
    levels: usize::MAX,
    values: usize::MAX,
    text: usize::MAX,
    long_enum: usize::MAX,
    tools: usize::MAX,
    all_properties: usize::MAX,
    optional: usize::MAX,
    unions: usize::MAX,
};

/// All of JSON Schema. What MCP defines, and what Bedrock, Cohere and models with a text form are told:
/// none of them names a subset.
pub const PLAIN: Subset = Subset {
    newest: false,
    strict: false,
    keep: Words::ALL,
    drop: Words::NONE,
    refuse: Words::NONE,
    not_at_root: Words::NONE,
    types: Types::Listed,
    refs: Refs::Any,
    cycles: Cycles::Anywhere,
    values: kind::ANY,
    formats: None,
    min_items: None,
    properties: true,
    typed: false,
    booleans: true,
    closed: false,
    all_required: false,
    some_required: false,
    plain_names: false,
    limits: UNLIMITED,
};

/// OpenAI, Chat Completions and Responses, not strict. Source: the server's error "schema must have type
/// 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" (langchainjs issue 9804).
pub const OPENAI: Subset =
    Subset { not_at_root: Words::of(&[W::OneOf, W::AnyOf, W::AllOf, W::Enum, W::Not]), ..PLAIN };

/// Anthropic Messages, not strict. Source: `input_schema` is of draft 2020-12 (anthropic 2.14.0), and the
/// server's error "input_schema does not support oneOf, allOf, or anyOf at the top level" (claude-code
/// issue 5319).
pub const ANTHROPIC: Subset =
    Subset { newest: true, not_at_root: Words::of(&[W::OneOf, W::AllOf, W::AnyOf]), ..PLAIN };

/// Ollama. Source: a property is an object in its request (the model `Property` of ollama 0.6.3), which
/// `true` and `false` are not.
pub const OLLAMA: Subset = Subset { booleans: false, ..PLAIN };

/// What no narrow subset has a place for and no model a use.
const NO_USE: Words = Words::of(&[
    W::Schema,
    W::Id,
    W::Anchor,
    W::DynamicAnchor,
    W::Comment,
    W::Definitions,
    W::Unknown,
    W::PropertyOrdering,
]);

/// What speaks of several members or items together, or of schemas: no words in a description can stand for
/// it. What bounds one string, number or list can be moved there.
const SAYS_MORE: Words = Words::of(&[
    W::PatternProperties,
    W::PropertyNames,
    W::MinProperties,
    W::MaxProperties,
    W::DependentRequired,
    W::DependentSchemas,
    W::Dependencies,
    W::UnevaluatedProperties,
    W::Contains,
    W::MinContains,
    W::MaxContains,
    W::UniqueItems,
    W::UnevaluatedItems,
    W::AllOf,
    W::Not,
    W::If,
    W::Then,
    W::Else,
    W::DynamicRef,
]);

/// OpenAI, strict. Source: the guide to structured outputs and the SDK's helper `_ensure_strict_json_schema`
/// (openai 3.57.0): `$ref` with siblings is inlined, a lone `allOf` merged, a `default` of null left out.
pub const OPENAI_STRICT: Subset = Subset {
    strict: true,
    keep: Words::of(&[
        W::Ref,
        W::Defs,
        W::Title,
        W::Description,
        W::Default,
        W::Type,
        W::Enum,
        W::Const,
        W::Format,
        W::Pattern,
        W::Minimum,
        W::Maximum,
        W::ExclusiveMinimum,
        W::ExclusiveMaximum,
        W::MultipleOf,
        W::Items,
        W::MinItems,
        W::MaxItems,
        W::Properties,
        W::AdditionalProperties,
        W::Required,
        W::AnyOf,
    ]),
    drop: NO_USE,
    refuse: SAYS_MORE,
    not_at_root: Words::of(&[W::AnyOf, W::OneOf, W::Enum, W::Const]),
    refs: Refs::Alone,
    values: kind::STRING | kind::NUMBER | kind::INTEGER | kind::BOOLEAN | kind::NULL,
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    typed: true,
    booleans: false,
    closed: true,
    all_required: true,
    limits: Limits {
        properties: 5_000,
        levels: 10,
        values: 1_000,
        text: 120_000,
        long_enum: 15_000,
        ..UNLIMITED
    },
    ..PLAIN
};

/// Anthropic, strict. Source: the guide to structured outputs and the SDK's helper `transform_schema`
/// (anthropic 2.14.0), which moves what it does not know into the description.
pub const ANTHROPIC_STRICT: Subset = Subset {
    keep: Words::of(&[
        W::Ref,
        W::Defs,
        W::Title,
        W::Description,
        W::Type,
        W::Enum,
        W::Const,
        W::Format,
        W::Items,
        W::MinItems,
        W::Properties,
        W::AdditionalProperties,
        W::Required,
        W::AnyOf,
    ]),
    types: Types::Single,
    cycles: Cycles::Nowhere,
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    min_items: Some(&["0", "1"]),
    all_required: false,
    limits: Limits { tools: 20, optional: 24, unions: 16, ..UNLIMITED },
    ..OPENAI_STRICT
};

/// Bedrock Converse, strict. Source: the user guide on structured outputs, whose subset is Anthropic's;
/// limits of a request are not told of.
pub const BEDROCK_STRICT: Subset = Subset { limits: UNLIMITED, ..ANTHROPIC_STRICT };

/// Cohere Chat, `strict_tools`. Source: the guide to structured outputs with tools: at least one parameter is
/// required, and all tools together have at most 200. Of the keywords it says little, so those are used
/// that every provider takes.
pub const COHERE_STRICT: Subset =
    Subset { some_required: true, limits: Limits { all_properties: 200, ..UNLIMITED }, ..ANTHROPIC_STRICT };

/// Gemini, `parametersJsonSchema`. Source: the list of keys at `responseJsonSchema` in the SDK's types
/// (google-genai 3.6.1), and what it says of parameter names at `FunctionDeclaration`.
pub const GEMINI_JSON: Subset = Subset {
    keep: Words::of(&[
        W::Id,
        W::Defs,
        W::Ref,
        W::Anchor,
        W::Type,
        W::Format,
        W::Title,
        W::Description,
        W::Enum,
        W::Items,
        W::PrefixItems,
        W::MinItems,
        W::MaxItems,
        W::Minimum,
        W::Maximum,
        W::AnyOf,
        W::OneOf,
        W::Properties,
        W::AdditionalProperties,
        W::Required,
        W::PropertyOrdering,
    ]),
    drop: NO_USE,
    types: Types::Single,
    refs: Refs::Alone,
    cycles: Cycles::Optional,
    values: kind::STRING | kind::NUMBER | kind::INTEGER,
    properties: false,
    booleans: false,
    plain_names: true,
    ..PLAIN
};

/// Gemini, `parameters`: the `Schema` of OpenAPI 3.0. Source: the type `Schema` of the SDK (google-genai
/// 3.6.1); that the server refuses `additionalProperties` and `$ref` is reported for gemini-cli and
/// promptfoo.
pub const GEMINI_SCHEMA: Subset = Subset {
    keep: Words::of(&[
        W::Type,
        W::Format,
        W::Title,
        W::Description,
        W::Default,
        W::Enum,
        W::Items,
        W::MinItems,
        W::MaxItems,
        W::Properties,
        W::MinProperties,
        W::MaxProperties,
        W::Required,
        W::PropertyOrdering,
        W::AnyOf,
        W::MinLength,
        W::MaxLength,
        W::Pattern,
        W::Minimum,
        W::Maximum,
    ]),
    drop: NO_USE.and(Words::of(&[W::Defs])),
    types: Types::Upper,
    refs: Refs::Inlined,
    cycles: Cycles::Nowhere,
    values: kind::STRING,
    typed: true,
    ..GEMINI_JSON
};
