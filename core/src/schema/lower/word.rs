//! The keywords of JSON Schema as numbers and as sets of them: drafts 2020-12 and 7, and what providers add.

use crate::json::Str;

macro_rules! words {
    ($($word:ident $name:literal)*) => {
        /// A keyword of a schema.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Word { $($word,)* Unknown }

        impl Word {
            fn named(name: &str) -> Word {
                match name { $($name => Word::$word,)* _ => Word::Unknown }
            }

            pub(super) const fn name(self) -> &'static str {
                match self { $(Word::$word => $name,)* Word::Unknown => "" }
            }
        }
    };
}

words! {
    Schema "$schema" Id "$id" Anchor "$anchor" DynamicAnchor "$dynamicAnchor" Comment "$comment"
    Ref "$ref" DynamicRef "$dynamicRef" Defs "$defs" Definitions "definitions"
    Title "title" Description "description" Default "default" Examples "examples"
    Deprecated "deprecated" ReadOnly "readOnly" WriteOnly "writeOnly" PropertyOrdering "propertyOrdering"
    Type "type" Enum "enum" Const "const"
    Format "format" ContentEncoding "contentEncoding" ContentMediaType "contentMediaType"
    ContentSchema "contentSchema" MinLength "minLength" MaxLength "maxLength" Pattern "pattern"
    Minimum "minimum" Maximum "maximum" ExclusiveMinimum "exclusiveMinimum"
    ExclusiveMaximum "exclusiveMaximum" MultipleOf "multipleOf"
    Items "items" PrefixItems "prefixItems" AdditionalItems "additionalItems" Contains "contains"
    MinContains "minContains" MaxContains "maxContains" MinItems "minItems" MaxItems "maxItems"
    UniqueItems "uniqueItems" UnevaluatedItems "unevaluatedItems"
    Properties "properties" PatternProperties "patternProperties"
    AdditionalProperties "additionalProperties" PropertyNames "propertyNames" Required "required"
    MinProperties "minProperties" MaxProperties "maxProperties" DependentRequired "dependentRequired"
    DependentSchemas "dependentSchemas" Dependencies "dependencies"
    UnevaluatedProperties "unevaluatedProperties"
    AllOf "allOf" AnyOf "anyOf" OneOf "oneOf" Not "not" If "if" Then "then" Else "else"
}

impl Word {
    /// The keyword that a key of a schema is.
    pub(super) fn of(key: Str<'_>) -> Word {
        let mut decoded = [0; "unevaluatedProperties".len()];
        Word::named(key.plain().unwrap_or_else(|| key.decode_in(&mut decoded).unwrap_or_default()))
    }

    const fn bit(self) -> u64 {
        1 << (self as u8)
    }
}

/// A set of keywords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(u64);

impl Words {
    pub(super) const NONE: Words = Words(0);
    pub(super) const ALL: Words = Words(u64::MAX);

    pub(super) const fn of(words: &[Word]) -> Words {
        let (mut set, mut rest) = (0, words);
        while let [word, after @ ..] = rest {
            set |= word.bit();
            rest = after;
        }
        Words(set)
    }

    pub(super) const fn and(self, other: Words) -> Words {
        Words(self.0 | other.0)
    }

    pub(super) const fn both(self, other: Words) -> Words {
        Words(self.0 & other.0)
    }

    pub(super) const fn without(self, other: Words) -> Words {
        Words(self.0 & !other.0)
    }

    pub(super) const fn has(self, word: Word) -> bool {
        self.0 & word.bit() != 0
    }

    pub(super) const fn any(self, words: Words) -> bool {
        self.0 & words.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn add(&mut self, word: Word) {
        self.0 |= word.bit();
    }
}

use Word as W;

/// What says nothing of the value.
pub(super) const ANNOTATIONS: Words = Words::of(&[
    W::Comment,
    W::Title,
    W::Description,
    W::Default,
    W::Examples,
    W::Deprecated,
    W::ReadOnly,
    W::WriteOnly,
    W::PropertyOrdering,
    W::Unknown,
]);
/// What names a schema, or is a place for others.
pub(super) const NAMES: Words =
    Words::of(&[W::Schema, W::Id, W::Anchor, W::DynamicAnchor, W::Defs, W::Definitions]);
/// What has schemas in it.
pub(super) const APPLICATORS: Words = Words::of(&[
    W::Defs,
    W::Definitions,
    W::ContentSchema,
    W::Items,
    W::PrefixItems,
    W::AdditionalItems,
    W::Contains,
    W::UnevaluatedItems,
    W::Properties,
    W::PatternProperties,
    W::AdditionalProperties,
    W::PropertyNames,
    W::DependentSchemas,
    W::Dependencies,
    W::UnevaluatedProperties,
    W::AllOf,
    W::AnyOf,
    W::OneOf,
    W::Not,
    W::If,
    W::Then,
    W::Else,
]);
/// What is about strings.
pub(super) const OF_STRINGS: Words = Words::of(&[
    W::Format,
    W::ContentEncoding,
    W::ContentMediaType,
    W::ContentSchema,
    W::MinLength,
    W::MaxLength,
    W::Pattern,
]);
/// What is about numbers.
pub(super) const OF_NUMBERS: Words =
    Words::of(&[W::Minimum, W::Maximum, W::ExclusiveMinimum, W::ExclusiveMaximum, W::MultipleOf]);
/// What is about arrays.
pub(super) const OF_ARRAYS: Words = Words::of(&[
    W::Items,
    W::PrefixItems,
    W::AdditionalItems,
    W::Contains,
    W::MinContains,
    W::MaxContains,
    W::MinItems,
    W::MaxItems,
    W::UniqueItems,
    W::UnevaluatedItems,
]);
/// What is about objects.
pub(super) const OF_OBJECTS: Words = Words::of(&[
    W::Properties,
    W::PatternProperties,
    W::AdditionalProperties,
    W::PropertyNames,
    W::Required,
    W::MinProperties,
    W::MaxProperties,
    W::DependentRequired,
    W::DependentSchemas,
    W::Dependencies,
    W::UnevaluatedProperties,
    W::PropertyOrdering,
]);
