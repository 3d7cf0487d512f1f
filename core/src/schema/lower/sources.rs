//! What is put into a schema: the targets of its references, and what its `allOf` or `anyOf` holds.

use super::change::{ChangeKind, StrictProblemKind};
use super::node::{Node, SOURCES, flag, is_null, kinds_named};
use super::refs::Target;
use super::subset::{Cycles, Refs, Types};
use super::word::{ANNOTATIONS, NAMES, Word as W, Words};
use super::{Lowering, Result};
use crate::json::{Kind, Value};

/// What a look at one source finds.
#[derive(Default)]
pub(super) struct Found<'s> {
    pub(super) words: Words,
    pub(super) reference: Option<Value<'s>>,
    pub(super) all_of: Option<Value<'s>>,
    pub(super) any_of: Option<Value<'s>>,
}

/// What two sources of one schema may both have.
const SHARED: Words = ANNOTATIONS.and(NAMES).and(Words::of(&[W::Type, W::Properties, W::Required]));
impl<'s> Lowering<'s, '_, '_, '_> {
    /// Decides what becomes of a `$ref`: it is kept, or its target becomes a source, or nothing can be said.
    pub(super) fn follow(
        &mut self,
        node: &mut Node,
        found: &Found<'s>,
        reference: Value<'s>,
        bit: u8,
    ) -> Result<()> {
        let at = self.texts.place(reference.raw());
        let name = reference.as_str().filter(|_| !node.is(flag::FOREIGN));
        let target = name.and_then(|name| self.target(name));
        let Some(target) = target else { return self.cut(node, at, None, StrictProblemKind::Reference) };
        let first = bit == 1 && !node.is(flag::ROOT | flag::BRANCH);
        let may_stay = first && self.subset.refs == Refs::Alone && target.is_definition;
        let alone = node.words.without(NAMES.and(Words::of(&[W::Ref]))).is_empty();
        if may_stay && alone {
            let fits = match self.subset.cycles {
                Cycles::Anywhere => true,
                Cycles::Optional => !node.is(flag::MANDATORY) || !self.leads_back(at, target.at),
                Cycles::Nowhere => !self.leads_back(at, target.at),
            };
            return if fits {
                Ok(())
            } else {
                self.cut(node, at, Some(target), StrictProblemKind::Recursion)
            };
        }
        let open = self.frames.iter().flat_map(|frame| frame.node.sources()).chain(node.sources());
        if open.into_iter().any(|(_, open)| open == target.at) {
            let allowed = match self.subset.cycles {
                Cycles::Anywhere => true,
                Cycles::Optional => !node.is(flag::MANDATORY),
                Cycles::Nowhere => false,
            };
            if may_stay && allowed {
                node.flags |= flag::BARE;
                return Ok(());
            }
            return self.cut(node, at, Some(target), StrictProblemKind::Recursion);
        }
        self.inlined = self.inlined.saturating_add(INLINED_EACH).saturating_add(target.len);
        if self.inlined > MAX_INLINED {
            let what = "bytes of definitions put in the place of references";
            return self.cut(node, at, Some(target), StrictProblemKind::TooMany { what, most: MAX_INLINED });
        }
        let clash = self.words_at(target.at).both(found.words).without(SHARED);
        if self.subset.strict && !clash.is_empty() {
            return Err(self.problem(StrictProblemKind::Merge, at));
        }
        if !node.push(target.at) {
            return self.cut(node, at, Some(target), StrictProblemKind::Recursion);
        }
        node.inlined |= bit;
        self.tell(at, ChangeKind::Inlined);
        Ok(())
    }

    /// Refuses sources that cannot be one strict schema: no value fits both, or the one closes the object to
    /// what the other declares.
    pub(super) fn check_joined(&self, node: &Node, at: usize) -> Result<()> {
        if node.is(flag::NEVER) {
            return Err(self.problem(StrictProblemKind::Never, at));
        }
        let declaring = self.count_with(node, W::Properties).max(self.count_with(node, W::Required));
        if self.count_with(node, W::AdditionalProperties) > 0 && declaring > 1 {
            return Err(self.problem(StrictProblemKind::Merge, at));
        }
        Ok(())
    }

    /// How many sources have a keyword.
    pub(super) fn count_with(&self, node: &Node, word: W) -> usize {
        node.sources().filter(|(_, at)| self.words_at(*at).has(word)).count()
    }

    /// Leaves a schema open that a reference should say more of. Of its target only the type is said.
    fn cut(
        &mut self,
        node: &mut Node,
        at: usize,
        target: Option<Target>,
        kind: StrictProblemKind,
    ) -> Result<()> {
        if self.subset.strict {
            return Err(self.problem(kind, at));
        }
        self.tell(at, ChangeKind::LeftOpen);
        node.flags |= flag::OPEN;
        let mut members = target.into_iter().flat_map(|target| self.texts.members(target.at + 1));
        if let Some((_, named)) = members.find(|(key, _)| node.types == 0 && W::of(*key) == W::Type) {
            node.types = kinds_named(named);
            node.flags |= flag::INFERRED;
        }
        Ok(())
    }

    /// Makes sources of what a list holds, where the list can go.
    pub(super) fn merge(&mut self, node: &mut Node, found: &Found<'s>, bit: u8) -> Result<()> {
        let subset = self.subset;
        if let Some(list) = found.all_of.filter(|_| !subset.keep.has(W::AllOf))
            && !(node.is(flag::ROOT) && subset.not_at_root.has(W::AllOf))
        {
            let count = list.items().count();
            let fits = usize::from(node.count) + count <= SOURCES;
            let mut words = node.words.without(Words::of(&[W::AllOf]));
            let mut clash = false;
            for item in list.items() {
                let at = self.texts.place(item.raw());
                clash |= item.as_bool() == Some(false);
                let more = if item.kind() == Kind::Object { self.words_at(at) } else { Words::NONE };
                clash |= !more.both(words).without(SHARED).without(Words::of(&[W::Ref])).is_empty();
                words = words.and(more);
            }
            if fits && !clash {
                for item in list.items().filter(|item| item.kind() == Kind::Object) {
                    node.push(self.texts.place(item.raw()));
                }
                node.merged |= bit;
                self.tell(self.texts.place(list.raw()), ChangeKind::Merged);
            }
        }
        if let Some(list) = found.any_of.filter(|_| subset.types == Types::Upper)
            && !found.words.has(W::AllOf)
        {
            let never = |item: &Value<'_>| item.as_bool() == Some(false);
            let mut others = list.items().filter(|item| !is_null(*item) && !never(item));
            if let (Some(only), None) = (others.next(), others.next())
                && only.kind() == Kind::Object
            {
                let at = self.texts.place(only.raw());
                let words = node.words.without(Words::of(&[W::AnyOf, W::OneOf]));
                let clash = !self.words_at(at).both(words).without(SHARED).is_empty();
                if !clash && node.push(at) {
                    node.merged |= bit;
                    let place = self.texts.place(list.raw());
                    if list.items().any(is_null) {
                        node.flags |= flag::NULLABLE;
                        self.tell(place, ChangeKind::Nullable);
                    } else {
                        self.tell(place, ChangeKind::Merged);
                    }
                }
            }
        }
        Ok(())
    }
}

/// What an inlined definition counts for beside its length, and the most of all of them together.
const INLINED_EACH: usize = 64;
const MAX_INLINED: usize = 64 * 1024;
