//! What becomes of a keyword in a subset. Asked twice: when it is met, and when the description takes up what
//! was moved.

use super::change::{ChangeKind, StrictProblemKind};
use super::node::{Node, flag, kind};
use super::subset::{Subset, Types};
use super::word::{
    ANNOTATIONS, APPLICATORS, NAMES, OF_ARRAYS, OF_NUMBERS, OF_OBJECTS, OF_STRINGS, Word as W, Words,
};
use super::{Lowering, Result};
use crate::json::{Kind, Str, Value};

/// What becomes of a member of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes out as it is.
    Keep,
    /// It is seen to elsewhere.
    Skip,
    /// It is left out.
    Drop,
    /// Its text goes into the description.
    Move,
    /// A strict schema cannot have it.
    Refuse(StrictProblemKind),
    /// Its value is one schema, an object of schemas, or a list of them; under this name.
    One(W),
    Map(W),
    List(W),
    /// Written by functions of their own.
    Type,
    Branches,
    Values,
    Description,
    Required,
    Ref,
    Tuple,
    /// A tuple whose items are all the same.
    Alike,
    MaxItems,
}

impl<'s> Lowering<'s, '_, '_, '_> {
    /// What becomes of a keyword of one source (its bit) of a schema; `again` if an earlier source has it.
    pub(super) fn fate(&self, node: &Node, bit: u8, word: W, value: Value<'s>, again: bool) -> Fate {
        let subset: &Subset = self.subset;
        if node.is(flag::ROOT) && subset.not_at_root.has(word) {
            return if subset.strict { Fate::Refuse(StrictProblemKind::Root) } else { Fate::Move };
        }
        if subset.is_whole() {
            return match word {
                W::Description if node.is(flag::ROOT) => Fate::Description,
                _ => whole(word, value.kind()),
            };
        }
        if node.is(flag::BARE) && word != W::Ref {
            return Fate::Drop;
        }
        // What is put in elsewhere keeps its name where it stands.
        if bit != 1 && matches!(word, W::Id | W::Anchor | W::DynamicAnchor) {
            return Fate::Skip;
        }
        if node.ignored & bit != 0 && !BESIDE_REF.has(word) {
            return Fate::Drop;
        }
        if node.is(flag::BRANCH) {
            let values = if node.is(flag::MOVE_VALUES) { Words::NONE } else { VALUES };
            if !of_kind(node.types).and(values).has(word) {
                return Fate::Skip;
            }
        }
        if node.is(flag::SPLIT) {
            match word {
                W::Type => return Fate::Branches,
                W::Enum | W::Const if !node.is(flag::MOVE_VALUES) => return Fate::Skip,
                word if of_kind(node.types).has(word) => return Fate::Skip,
                word if OF_ANY_KIND.has(word) => return Fate::Drop,
                _ => {}
            }
        }
        let put_in = match word {
            W::Ref => node.inlined & bit != 0,
            W::AllOf | W::AnyOf | W::OneOf => self.was_merged(node, bit, word),
            _ => false,
        };
        if put_in {
            return Fate::Skip;
        }
        if again {
            let shared = ANNOTATIONS.and(NAMES).has(word);
            return if shared || matches!(word, W::Type | W::Properties | W::Required) {
                Fate::Skip
            } else if subset.strict {
                Fate::Refuse(StrictProblemKind::Merge)
            } else {
                Fate::Drop
            };
        }
        let keep = subset.keep.has(word);
        match word {
            W::Type if node.is(flag::MOVE_TYPE) => Fate::Move,
            W::Type if subset.types == Types::Listed && node.count == 1 && !node.is(flag::ADD_NULL) => {
                Fate::Keep
            }
            W::Type => Fate::Type,
            W::Enum | W::Const => self.fate_of_values(node, word),
            W::Description => Fate::Description,
            W::Properties => Fate::Map(word),
            W::Required if subset.all_required || node.count > 1 => Fate::Skip,
            W::Required if subset.plain_names && value.items().any(is_refused) => Fate::Required,
            W::Ref if keep && !node.is(flag::OPEN) => Fate::Ref,
            W::Ref => Fate::Move,
            W::AnyOf | W::OneOf if keep => Fate::List(word),
            W::OneOf if !node.words.has(W::AnyOf) => Fate::List(W::AnyOf),
            W::Defs if keep && node.is(flag::ROOT) => Fate::Map(word),
            W::Definitions if subset.keep.has(W::Defs) && node.is(flag::ROOT) && !self.has_defs => {
                Fate::Map(W::Defs)
            }
            W::Defs | W::Definitions => Fate::Drop,
            W::AdditionalProperties => self.fate_of_others(node, value),
            W::PropertyOrdering if keep && value.items().any(is_refused) && subset.plain_names => Fate::Drop,
            W::Items | W::PrefixItems | W::AdditionalItems => self.fate_of_items(node, word, value),
            W::Format if keep => {
                let known = |names: &[&str]| names.iter().any(|name| text_is(value, name));
                if subset.formats.is_none_or(known) { Fate::Keep } else { Fate::Move }
            }
            W::MinItems if keep => {
                let known = |names: &[&str]| names.contains(&value.raw());
                if subset.min_items.is_none_or(known) { Fate::Keep } else { Fate::Move }
            }
            W::Default if keep && subset.closed && value.is_null() => Fate::Drop,
            _ if keep => whole(word, value.kind()),
            _ if subset.drop.has(word) => Fate::Drop,
            _ if subset.refuse.has(word) && allows_all(word, value) => Fate::Drop,
            _ if subset.refuse.has(word) => Fate::Refuse(StrictProblemKind::Keyword),
            _ => Fate::Move,
        }
    }

    fn was_merged(&self, node: &Node, bit: u8, word: W) -> bool {
        // With `allOf` beside, an `anyOf` is not merged; else the list that was is the one that is there.
        node.merged & bit != 0 && (word == W::AllOf || !self.source_has(node, bit, W::AllOf))
    }

    fn source_has(&self, node: &Node, bit: u8, word: W) -> bool {
        let mut sources = node.sources();
        sources.any(|(number, at)| 1 << number == bit && self.words_at(at).has(word))
    }

    fn fate_of_values(&self, node: &Node, word: W) -> Fate {
        if node.is(flag::MOVE_VALUES) {
            return Fate::Move;
        }
        let keep = self.subset.keep.has(word);
        let as_it_is = keep && !node.is(flag::ADD_NULL | flag::BRANCH);
        let with_null = node.values & kind::NULL != 0 && self.subset.values & kind::NULL == 0;
        if word == W::Const && !keep && node.words.has(W::Enum) {
            return Fate::Move;
        }
        if as_it_is && !with_null && !self.subset.strict { Fate::Keep } else { Fate::Values }
    }

    /// What is said of other properties goes out only if none that may be there is left unsaid.
    fn fate_of_others(&self, node: &Node, value: Value<'s>) -> Fate {
        let closed = self.subset.closed;
        // Of two that declare properties, the one is not closed to what the other declares.
        let joined = !closed && node.count > 1 && self.count_with(node, W::Properties) > 1;
        let keep =
            self.subset.keep.has(W::AdditionalProperties) && (closed || !joined && !self.leaves_out(node));
        match value.as_bool() {
            Some(false) if closed => Fate::Keep,
            _ if closed => Fate::Refuse(StrictProblemKind::NotClosed),
            Some(_) if keep => Fate::Keep,
            None if keep => Fate::One(W::AdditionalProperties),
            Some(_) => Fate::Drop,
            None => Fate::Move,
        }
    }

    /// Whether an object may have properties that are not said: their names are refused, or they are those of
    /// a pattern.
    fn leaves_out(&self, node: &Node) -> bool {
        let patterns = node.words.has(W::PatternProperties) && !self.subset.keep.has(W::PatternProperties);
        patterns
            || self.maps(node, W::Properties).any(|(_, map)| {
                let mut fates = map.entries().map(|(name, value)| self.fate_of_property(name, value));
                fates.any(|fate| fate == Some(ChangeKind::NameRefused))
            })
    }

    /// Lists, tuples and what comes after them, in the words of both drafts.
    fn fate_of_items(&self, node: &Node, word: W, value: Value<'s>) -> Fate {
        let keeps_tuples = self.subset.keep.has(W::PrefixItems);
        let lost = if self.subset.strict { Fate::Refuse(StrictProblemKind::Keyword) } else { Fate::Move };
        if word == W::PrefixItems || word == W::Items && value.kind() == Kind::Array {
            let rest = if word == W::Items { W::AdditionalItems } else { W::Items };
            let most = self.find(node, W::MaxItems).and_then(Value::as_number);
            let most = most.and_then(|most| u64::try_from(most.as_i64().ok()?).ok());
            let bounded = most.is_some_and(|most| most <= value.items().count() as u64);
            let ends = self.find(node, rest).and_then(Value::as_bool) == Some(false);
            let alike = value.item(0).is_some_and(|first| value.items().all(|it| it.raw() == first.raw()));
            let loses = self.subset.strict && !(alike && (bounded || most.is_none()));
            return match value.item(0) {
                None => Fate::Drop,
                Some(_) if keeps_tuples => Fate::List(W::PrefixItems),
                Some(_) if (bounded || ends) && !loses => {
                    if alike {
                        Fate::Alike
                    } else {
                        Fate::Tuple
                    }
                }
                Some(_) => lost,
            };
        }
        let tuple = self.tuple(node);
        match (value.as_bool(), tuple.is_some(), word) {
            (_, false, W::AdditionalItems) => Fate::Drop,
            (Some(_), ..) if self.subset.booleans => Fate::One(W::Items),
            (Some(true), ..) => Fate::Drop,
            (Some(false), ..) if self.subset.keep.has(W::MaxItems) => Fate::MaxItems,
            (Some(false), ..) => Fate::Move,
            (None, true, _) if !keeps_tuples => lost,
            _ => Fate::One(W::Items),
        }
    }

    /// The list of a tuple's items.
    pub(super) fn tuple(&self, node: &Node) -> Option<Value<'s>> {
        let items = || self.find(node, W::Items).filter(|items| items.kind() == Kind::Array);
        self.find(node, W::PrefixItems).or_else(items)
    }

    /// The value of a keyword in the first source that has it.
    pub(super) fn find(&self, node: &Node, word: W) -> Option<Value<'s>> {
        if !node.words.has(word) {
            return None;
        }
        let mut members = node.sources().flat_map(|(_, at)| self.texts.members(at + 1));
        members.find(|(key, _)| W::of(*key) == word).map(|(_, value)| value)
    }

    /// Whether a property goes out, or else what was done with it.
    pub(super) fn fate_of_property(&self, name: Str<'s>, value: Value<'s>) -> Option<ChangeKind> {
        if self.subset.is_whole() {
            None
        } else if value.as_bool() == Some(false) {
            Some(ChangeKind::NeverRemoved)
        } else if self.subset.plain_names && !is_plain_name(name) {
            Some(ChangeKind::NameRefused)
        } else {
            None
        }
    }

    /// Whether a schema may go out as a copy of its source.
    pub(super) fn is_copy(&self, node: &Node) -> bool {
        let subset: &Subset = self.subset;
        if node.is(flag::ROOT) || node.words.any(APPLICATORS) || node.types & kind::OBJECT != 0 {
            return false;
        }
        if subset.is_whole() {
            return true;
        }
        let changes = !(flag::INHERITED | flag::OPTIONAL | flag::LISTED);
        let looked_at =
            Words::of(&[W::Ref, W::Format, W::MinItems, W::Required, W::Enum, W::Const, W::Default]);
        let types = match subset.types {
            Types::Listed => true,
            Types::Single => !node.is(flag::LISTED),
            Types::Upper => false,
        };
        node.count == 1
            && !node.is(changes)
            && types
            && node.words.without(subset.keep).is_empty()
            && !node.words.any(looked_at)
    }

    /// The problem with a keyword that a strict schema cannot have.
    pub(super) fn refuse(&self, kind: StrictProblemKind, offset: usize) -> Result<bool> {
        Err(self.problem(kind, offset))
    }
}

/// The fate of a keyword where all of JSON Schema is taken.
pub(super) fn whole(word: W, kind: Kind) -> Fate {
    if !APPLICATORS.has(word) {
        return Fate::Keep;
    }
    match (kind, word) {
        (
            Kind::Object,
            W::Properties
            | W::PatternProperties
            | W::Defs
            | W::Definitions
            | W::DependentSchemas
            | W::Dependencies,
        ) => Fate::Map(word),
        (Kind::Object, _) => Fate::One(word),
        (Kind::Array, W::AllOf | W::AnyOf | W::OneOf | W::PrefixItems | W::Items) => Fate::List(word),
        _ => Fate::Keep,
    }
}

/// What is about values of some kinds.
fn of_kind(kinds: u8) -> Words {
    let groups = [
        (kind::STRING, OF_STRINGS),
        (kind::NUMBER | kind::INTEGER, OF_NUMBERS),
        (kind::ARRAY, OF_ARRAYS),
        (kind::OBJECT, OF_OBJECTS),
    ];
    groups.iter().filter(|(of, _)| kinds & of != 0).fold(Words::NONE, |all, (_, words)| all.and(*words))
}

/// Whether a keyword excludes nothing from a closed object or a list.
fn allows_all(word: W, value: Value<'_>) -> bool {
    match word {
        W::UnevaluatedProperties => value.as_bool().is_some(),
        W::UnevaluatedItems | W::PropertyNames => value.as_bool() == Some(true),
        W::UniqueItems => value.as_bool() == Some(false),
        W::MinProperties => value.raw() == "0",
        W::AllOf => value.items().all(|item| item.as_bool() == Some(true)),
        W::PatternProperties | W::DependentRequired | W::DependentSchemas | W::Dependencies => {
            value.entries().next().is_none()
        }
        _ => false,
    }
}

fn text_is(value: Value<'_>, text: &str) -> bool {
    value.as_str().is_some_and(|value| value == text)
}

/// Whether an item of `required` is a name that is no plain one.
fn is_refused(name: Value<'_>) -> bool {
    name.as_str().is_some_and(|name| !is_plain_name(name))
}

/// Whether a name has letters, digits and `_` only, 64 at most, and no digit first.
pub(super) fn is_plain_name(name: Str<'_>) -> bool {
    let mut length = 0usize;
    let fits = name.chars().all(|c| {
        length = length.saturating_add(1);
        c == '_' || c.is_ascii_alphabetic() || c.is_ascii_digit() && length > 1
    });
    fits && (1..=64).contains(&length)
}

const OF_ANY_KIND: Words = OF_STRINGS.and(OF_NUMBERS).and(OF_ARRAYS).and(OF_OBJECTS);
const VALUES: Words = Words::of(&[W::Enum, W::Const]);
/// What means something beside a `$ref` of draft 7.
const BESIDE_REF: Words = ANNOTATIONS.and(NAMES).and(Words::of(&[W::Ref]));
