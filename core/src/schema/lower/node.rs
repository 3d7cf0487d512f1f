//! A schema that is about to be written: the objects of the source that it is made of, and what they say
//! together.
//!
//! It is one object, or several where the target of a reference, a lone `allOf` or what is left of an `anyOf`
//! without its null takes the place of the keyword. The first says what is told once, as the description.

use super::change::{ChangeKind, StrictProblemKind};
use super::sources::Found;
use super::subset::{Refs, Subset, Types};
use super::word::{ANNOTATIONS, NAMES, Word as W, Words};
use super::{Lowering, Result};
use crate::json::{Kind, Value};

/// The kinds of value, as sets.
pub(super) mod kind {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const BOOLEAN: u8 = 2;
    pub(crate) const OBJECT: u8 = 4;
    pub(crate) const ARRAY: u8 = 8;
    pub(crate) const NUMBER: u8 = 16;
    pub(crate) const STRING: u8 = 32;
    pub(crate) const INTEGER: u8 = 64;
    pub(crate) const ANY: u8 = 127;

    /// Each with its names.
    pub(crate) const NAMES: [(u8, &str, &str); 7] = [
        (OBJECT, "object", "OBJECT"),
        (ARRAY, "array", "ARRAY"),
        (STRING, "string", "STRING"),
        (INTEGER, "integer", "INTEGER"),
        (NUMBER, "number", "NUMBER"),
        (BOOLEAN, "boolean", "BOOLEAN"),
        (NULL, "null", "NULL"),
    ];
}

/// What is to be seen to when a schema is written.
pub(super) mod flag {
    /// It is the whole schema.
    pub(crate) const ROOT: u16 = 1;
    /// It is of an optional property that is sent as a required one: null has to be allowed beside.
    pub(crate) const OPTIONAL: u16 = 2;
    /// It is inside a part that has an `$id` of its own, where references lead elsewhere.
    pub(crate) const FOREIGN: u16 = 4;
    /// No property on the way here may be left out.
    pub(crate) const MANDATORY: u16 = 8;
    /// It is one branch of a schema with several types.
    pub(crate) const BRANCH: u16 = 16;
    /// Its types are written as branches.
    pub(crate) const SPLIT: u16 = 32;
    /// `nullable` is written.
    pub(crate) const NULLABLE: u16 = 64;
    /// Null is added to `type`, `enum` or `anyOf`.
    pub(crate) const ADD_NULL: u16 = 128;
    /// It becomes one of two branches; the other is null.
    pub(crate) const WRAP: u16 = 256;
    /// Of `$ref` and what stands beside it, only `$ref` is written.
    pub(crate) const BARE: u16 = 512;
    /// A reference of it cannot be followed.
    pub(crate) const OPEN: u16 = 1024;
    /// The values of `enum` and `const` are moved into the description.
    pub(crate) const MOVE_VALUES: u16 = 2048;
    /// The types cannot be written.
    pub(crate) const MOVE_TYPE: u16 = 4096;
    /// The type is not said, and follows from the rest.
    pub(crate) const INFERRED: u16 = 8192;
    /// The value of `type` is a list.
    pub(crate) const LISTED: u16 = 16384;
    /// Two sources have no type in common.
    pub(crate) const NEVER: u16 = 32768;

    /// What a schema has from the one around it.
    pub(crate) const INHERITED: u16 = FOREIGN | MANDATORY;
}

/// Objects of the source that one schema is made of.
pub(super) const SOURCES: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// Where they start.
    pub(super) sources: [u32; SOURCES],
    pub(super) count: u8,
    /// Of each source, as a bit: what it refers to is another source; its `allOf` or `anyOf` is; keywords
    /// beside its `$ref` mean nothing.
    pub(super) inlined: u8,
    pub(super) merged: u8,
    pub(super) ignored: u8,
    pub(super) words: Words,
    /// The types that are accepted; 0 if none is said.
    pub(super) types: u8,
    /// The kinds of the values in `enum` and `const`.
    pub(super) values: u8,
    pub(super) flags: u16,
    /// Where the first `required` starts.
    pub(super) required: u32,
}

impl Node {
    pub(super) fn is(self, flags: u16) -> bool {
        self.flags & flags != 0
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = (u8, usize)> + use<> {
        let (sources, count) = (self.sources, self.count);
        (0..count).zip(sources).map(|(number, at)| (number, at as usize))
    }

    pub(super) fn push(&mut self, at: usize) -> bool {
        let free = self.sources.get_mut(usize::from(self.count));
        let (Some(free), Ok(at)) = (free, u32::try_from(at)) else { return false };
        *free = at;
        self.count += 1;
        true
    }

    /// Whether null stands in `enum` or `const`, or there is neither.
    fn values_have_null(&self) -> bool {
        self.values == 0 || self.values & kind::NULL != 0
    }
}

/// What speaks of the value in alternatives of its own.
const ALTERNATIVES: Words = Words::of(&[W::AnyOf, W::OneOf, W::Ref]);

impl<'s> Lowering<'s, '_, '_, '_> {
    /// What the schema at an offset is made of. What is put into it is told.
    pub(super) fn gather(&mut self, at: usize, flags: u16) -> Result<Node> {
        let mut node = Node { flags, ..Node::default() };
        node.push(at);
        let mut number = 0u8;
        while number < node.count {
            let at = node.sources.get(usize::from(number)).map_or(0, |at| *at as usize);
            let found = self.look(&mut node, at, number);
            number += 1;
            if self.subset.is_whole() {
                continue;
            }
            let bit = 1 << (number - 1);
            if let Some(reference) = found.reference
                && self.subset.refs != Refs::Any
            {
                self.follow(&mut node, &found, reference, bit)?;
            }
            self.merge(&mut node, &found, bit)?;
        }
        if self.subset.strict && node.count > 1 {
            self.check_joined(&node, at)?;
        } else if node.is(flag::NEVER) {
            self.tell(at, ChangeKind::LeftOpen);
        }
        if node.types == 0 && node.is(flag::ROOT) {
            node.types = kind::OBJECT;
            node.flags |= flag::INFERRED;
        }
        if !self.subset.is_whole() {
            self.settle(&mut node, at)?;
        }
        Ok(node)
    }

    /// Takes down what one source says.
    fn look(&self, node: &mut Node, at: usize, number: u8) -> Found<'s> {
        let mut found = Found::default();
        let only = if self.words_at(at).has(W::Ref) && self.is_draft7(at) {
            node.ignored |= 1 << number;
            ANNOTATIONS.and(NAMES).and(Words::of(&[W::Ref]))
        } else {
            Words::ALL
        };
        for (key, value) in self.texts.members(at + 1) {
            let word = W::of(key);
            if !only.has(word) {
                continue;
            }
            found.words.add(word);
            match word {
                W::Type => {
                    let types = kinds_named(value);
                    if value.kind() == Kind::Array {
                        node.flags |= flag::LISTED;
                    }
                    let both = shared(types, node.types);
                    let never = node.types != 0 && both == 0;
                    node.flags |= if never { flag::NEVER } else { 0 };
                    node.types = if both == 0 { types } else { both };
                }
                W::Enum if !self.subset.is_whole() => {
                    node.values |= value.items().fold(0, |kinds, value| kinds | kind_of(value));
                }
                W::Const if !self.subset.is_whole() => node.values |= kind_of(value),
                W::Required if node.required == 0 => {
                    node.required = u32::try_from(self.texts.place(value.raw())).unwrap_or(0);
                }
                W::Id if !self.texts.is_root(at) && !is_anchor(value) => node.flags |= flag::FOREIGN,
                W::Ref => found.reference = Some(value),
                W::AllOf => found.all_of = Some(value),
                W::AnyOf => found.any_of = Some(value),
                W::OneOf => found.any_of = found.any_of.or(Some(value)),
                _ => {}
            }
        }
        node.words = node.words.and(found.words);
        found
    }

    /// The keywords of the schema at an offset.
    pub(super) fn words_at(&self, at: usize) -> Words {
        let mut words = Words::NONE;
        for (key, _) in self.texts.members(at + 1) {
            words.add(W::of(key));
        }
        words
    }

    /// Whether a schema has alternatives that are written as such.
    fn has_alternatives(&self, node: &Node) -> bool {
        node.sources().any(|(number, at)| {
            let bit = 1 << number;
            let all = self.words_at(at);
            let mut words = all.both(ALTERNATIVES);
            if node.inlined & bit != 0 || node.is(flag::OPEN) {
                words = words.without(Words::of(&[W::Ref]));
            }
            if node.merged & bit != 0 && !all.has(W::AllOf) {
                words = words.without(Words::of(&[W::AnyOf, W::OneOf]));
            }
            !words.is_empty()
        })
    }

    /// Decides how the types, the values and null are written.
    fn settle(&mut self, node: &mut Node, at: usize) -> Result<()> {
        let subset: &Subset = self.subset;
        let alternatives = node.words.any(ALTERNATIVES) && self.has_alternatives(node);
        if node.types == 0 && !alternatives {
            self.infer(node, at)?;
        }
        if node.values & !subset.values & !kind::NULL != 0 {
            if subset.strict {
                let mut members = node.sources().flat_map(|(_, at)| self.texts.members(at + 1));
                let key = members.find(|(key, _)| matches!(W::of(*key), W::Enum | W::Const));
                let at = key.map_or(at, |(key, _)| self.texts.place(key.raw()).saturating_sub(1));
                return Err(self.problem(StrictProblemKind::Keyword, at));
            }
            node.flags |= flag::MOVE_VALUES;
        }
        if node.values != 0 && node.types != 0 && fitting(node.types, node.values) == 0 {
            if subset.strict {
                return Err(self.problem(StrictProblemKind::Never, at));
            }
            node.flags |= flag::MOVE_VALUES;
        }
        let null_apart = node.values & kind::NULL != 0 && subset.values & kind::NULL == 0;
        let untyped = node.types == 0 && subset.types == Types::Upper && node.values != 0;
        if alternatives && (null_apart || untyped) {
            node.flags |= flag::MOVE_VALUES;
        }
        if null_apart && node.types == 0 && !node.is(flag::MOVE_VALUES) {
            node.types = tidy(node.values);
            node.flags |= flag::INFERRED;
        }
        if node.values != 0 && node.types.count_ones() > 1 && !node.is(flag::MOVE_VALUES) {
            let fit = fitting(node.types, node.values);
            node.types = if fit != 0 && subset.types != Types::Listed { fit } else { node.types };
        }
        if node.is(flag::OPTIONAL) && !self.accepts_null(node) {
            let says_elsewhere = alternatives && node.types != 0;
            let branches = node.words.any(Words::of(&[W::AnyOf, W::OneOf])) && !node.words.has(W::Ref);
            node.flags |= match node.types {
                0 if branches => flag::ADD_NULL,
                0 => flag::WRAP,
                _ if says_elsewhere => flag::WRAP,
                _ => flag::ADD_NULL,
            };
        }
        let plain = node.types & !kind::NULL;
        let null = node.types & kind::NULL != 0;
        match subset.types {
            Types::Listed => {}
            Types::Single => {
                if node.types.count_ones() > 1 {
                    node.flags |= if alternatives { flag::MOVE_TYPE } else { flag::SPLIT };
                }
            }
            Types::Upper => {
                if null && plain != 0 && node.values_have_null() {
                    node.flags |= flag::NULLABLE;
                }
                if plain.count_ones() > 1 {
                    node.flags |= if alternatives { flag::MOVE_TYPE } else { flag::SPLIT };
                }
                if plain != 0 {
                    node.types = plain;
                }
            }
        }
        Ok(())
    }

    /// Says the type that follows from what else is said, where a type has to be said.
    fn infer(&mut self, node: &mut Node, at: usize) -> Result<()> {
        if !self.subset.typed || node.is(flag::BRANCH) {
            return Ok(());
        }
        let objects = Words::of(&[W::Properties, W::Required, W::AdditionalProperties]);
        let arrays = Words::of(&[W::Items, W::PrefixItems]);
        node.types = match (node.values, node.words.any(objects), node.words.any(arrays)) {
            (0, true, false) => kind::OBJECT,
            (0, false, true) => kind::ARRAY,
            (values, ..) => tidy(values),
        };
        if node.types != 0 {
            node.flags |= flag::INFERRED;
            if node.is(flag::OPEN) {
                self.tell(at, ChangeKind::TypeAdded);
            }
        } else if self.subset.strict && !node.words.any(self.subset.refuse) {
            return Err(self.problem(StrictProblemKind::Untyped, at));
        }
        Ok(())
    }

    fn accepts_null(&self, node: &Node) -> bool {
        let by_type = node.types & kind::NULL != 0 && node.values_have_null();
        let by_value = node.types == 0 && node.values & kind::NULL != 0;
        by_type
            || by_value
            || node.types == 0
                && node.sources().any(|(_, at)| {
                    self.texts.members(at + 1).any(|(key, value)| {
                        matches!(W::of(key), W::AnyOf | W::OneOf) && value.items().any(is_null)
                    })
                })
    }
}

/// Whether an `$id` is an anchor of draft 7.
fn is_anchor(id: Value<'_>) -> bool {
    id.as_str().is_some_and(|id| id.chars().next() == Some('#'))
}

/// Whether a schema is the one of null alone.
pub(super) fn is_null(schema: Value<'_>) -> bool {
    schema.get("type").is_some_and(|named| kinds_named(named) == kind::NULL)
}

/// The kinds that the value of `type` names.
pub(super) fn kinds_named(value: Value<'_>) -> u8 {
    let named = |value: Value<'_>| {
        let name = value.as_str();
        let known = kind::NAMES.iter().find(|(_, lower, _)| name.is_some_and(|name| name == *lower));
        known.map_or(0, |(kind, ..)| *kind)
    };
    named(value) | value.items().fold(0, |kinds, value| kinds | named(value))
}

/// The kind of a value; of a number, whether it is written as an integer.
pub(super) fn kind_of(value: Value<'_>) -> u8 {
    match value.kind() {
        Kind::Null => kind::NULL,
        Kind::Bool => kind::BOOLEAN,
        Kind::Object => kind::OBJECT,
        Kind::Array => kind::ARRAY,
        Kind::String => kind::STRING,
        Kind::Number if value.raw().contains(['.', 'e', 'E']) => kind::NUMBER,
        Kind::Number => kind::INTEGER,
    }
}

/// Of types, those that one of some kinds of value fits.
pub(super) fn fitting(types: u8, kinds: u8) -> u8 {
    let numbers = if kinds & kind::INTEGER != 0 { types & kind::NUMBER } else { 0 };
    let integers = if kinds & kind::NUMBER != 0 { types & kind::INTEGER } else { 0 };
    types & kinds | numbers | integers
}

/// The types that two schemas both accept: an integer is a number too.
pub(super) fn shared(types: u8, other: u8) -> u8 {
    let integers = |of: u8, with: u8| if of & kind::NUMBER != 0 { with & kind::INTEGER } else { 0 };
    types & other | integers(types, other) | integers(other, types)
}

/// Kinds of values as types: a number is an integer too.
fn tidy(kinds: u8) -> u8 {
    if kinds & kind::NUMBER != 0 { kinds & !kind::INTEGER } else { kinds }
}
