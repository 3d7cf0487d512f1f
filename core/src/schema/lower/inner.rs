//! The schemas inside a schema: the entries of an object of schemas, the items of a list, the branches that
//! several types become.

use super::change::{ChangeKind, StrictProblemKind};
use super::node::{Node, flag, is_null, kind};
use super::subset::Types;
use super::word::Word as W;
use super::write::{Frame, Mode};
use super::{Lowering, Result};
use crate::json::{Str, Value};

impl<'s> Lowering<'s, '_, '_, '_> {
    /// Writes the next entry of an object of schemas.
    pub(super) fn entry(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        let mut entries = self.texts.members(frame.inner as usize);
        let Some((name, value)) = entries.next() else {
            if frame.word == W::Properties && self.next_properties(&frame) {
                return Ok(());
            }
            self.out.object_end();
            self.back_to_members();
            return Ok(());
        };
        self.go_on(self.texts.start(frame.inner as usize) + entries.offset());
        let at = self.texts.place(name.raw()).saturating_sub(1);
        if frame.word != W::Properties {
            self.count_text(name.raw().len(), at)?;
            self.out.key_str(name);
            return self.enter(value, flag::MANDATORY | frame.node.flags & flag::FOREIGN);
        }
        if frame.inner_source > 0 && self.is_earlier(&frame, name) {
            if self.subset.strict {
                return Err(self.problem(StrictProblemKind::Merge, at));
            }
            self.tell(at, ChangeKind::Dropped);
            return Ok(());
        }
        if let Some(change) = self.fate_of_property(name, value) {
            if self.subset.strict && self.is_required(&frame.node, name) {
                return Err(self.problem(StrictProblemKind::Never, at));
            }
            self.tell(at, change);
            return Ok(());
        }
        let mut flags = frame.node.flags & flag::INHERITED;
        if !self.subset.is_whole() {
            let required = self.is_required(&frame.node, name);
            if !required {
                flags &= !flag::MANDATORY;
            }
            if !required && self.subset.all_required {
                flags |= flag::OPTIONAL;
                self.tell(at, ChangeKind::MadeRequired);
            }
            self.count_property(name, required, at)?;
        }
        self.out.key_str(name);
        self.enter(value, flags)
    }

    /// Goes on with the properties of the next source that has some.
    fn next_properties(&mut self, frame: &Frame) -> bool {
        for (number, at) in frame.node.sources().filter(|(number, _)| *number > frame.inner_source) {
            let mut members = self.texts.members(at + 1);
            if let Some((_, value)) = members.find(|(key, _)| W::of(*key) == W::Properties) {
                self.go_on(self.texts.place(value.raw()).saturating_add(1));
                if let Some(frame) = self.frames.last_mut() {
                    frame.inner_source = number;
                }
                return true;
            }
        }
        false
    }

    /// Whether an earlier source than the one being read has a property of this name.
    fn is_earlier(&self, frame: &Frame, name: Str<'s>) -> bool {
        frame.node.sources().filter(|(number, _)| *number < frame.inner_source).any(|(_, at)| {
            let members = self.texts.members(at + 1);
            let mut maps = members.filter(|(key, _)| W::of(*key) == W::Properties);
            maps.any(|(_, map)| map.entries().any(|(earlier, _)| earlier == name))
        })
    }

    /// Writes the next item of a list of schemas.
    pub(super) fn item(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        let mut items = self.texts.items(frame.inner as usize);
        let alternatives = matches!(frame.word, W::AnyOf | W::OneOf);
        let Some(item) = items.next() else {
            if alternatives && frame.node.is(flag::ADD_NULL) && frame.node.types == 0 {
                self.out.raw("{\"type\":\"null\"}");
            }
            self.out.array_end();
            if frame.mode == Mode::Tuple {
                self.out.object_end();
            }
            self.back_to_members();
            return Ok(());
        };
        self.go_on(self.texts.start(frame.inner as usize) + items.offset());
        let at = self.texts.place(item.raw());
        let never = |item: &Value<'_>| item.as_bool() == Some(false);
        let with_others = || {
            let list = self.find(&frame.node, frame.word).into_iter().flat_map(Value::items);
            list.into_iter().any(|item| !never(&item) && !is_null(item))
        };
        if alternatives && !self.subset.is_whole() && never(&item) && with_others() {
            self.tell(at, ChangeKind::NeverRemoved);
            return Ok(());
        }
        if alternatives && self.subset.types == Types::Upper && is_null(item) && with_others() {
            self.tell(at, ChangeKind::Nullable);
            if let Some(frame) = self.frames.last_mut() {
                frame.node.flags |= flag::NULLABLE;
            }
            return Ok(());
        }
        self.enter(item, frame.node.flags & flag::INHERITED)
    }

    /// To write a branch for each type next.
    pub(super) fn start_branches(&mut self, node: &Node) {
        self.count_union();
        self.wrote(W::Type);
        self.out.key("anyOf");
        self.out.array_start();
        if let Some(frame) = self.frames.last_mut() {
            (frame.mode, frame.inner) = (Mode::Branches, u32::from(node.types));
        }
    }

    /// Writes the branch of the next type.
    pub(super) fn branch(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        let left = u8::try_from(frame.inner).unwrap_or(0);
        let Some((kind, ..)) = kind::NAMES.iter().find(|(kind, ..)| left & kind != 0) else {
            frame.mode = Mode::Members;
            self.out.array_end();
            return Ok(());
        };
        frame.inner = u32::from(left & !kind);
        let mut node = frame.node;
        node.types = *kind;
        node.flags &= !(flag::ROOT | flag::SPLIT | flag::NULLABLE | flag::INFERRED);
        node.flags |= flag::BRANCH;
        let at = node.sources.first().map_or(0, |at| *at as usize);
        self.open(node, at)
    }
}
