//! The loop that writes: a stack of open schemas, and for each of them how far it has come.

use super::change::{ChangeKind, StrictProblemKind};
use super::fate::Fate;
use super::node::{Node, flag, kind};
use super::word::{Word as W, Words};
use super::{Lowering, Result};
use crate::json::{Kind, Str, Value};

/// A schema that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) node: Node,
    pub(super) mode: Mode,
    /// The keyword whose value is being gone through.
    pub(super) word: W,
    /// Which source is being read, and where reading goes on in it; 0 before its first member.
    pub(super) source: u8,
    pub(super) at: u32,
    /// The same for the object or list of schemas in it. Of several types, those that are left.
    pub(super) inner_source: u8,
    pub(super) inner: u32,
    /// Where in `required` the next name is likely to be.
    pub(super) cursor: u32,
    /// The keywords of the sources before, of this one, and of what was written.
    pub(super) seen: Words,
    pub(super) own: Words,
    pub(super) written: Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Members,
    Map,
    List,
    Tuple,
    Branches,
}

impl<'s> Lowering<'s, '_, '_, '_> {
    /// Writes the whole schema.
    pub(super) fn run(&mut self, root: Value<'s>) -> Result<()> {
        if root.kind() != Kind::Object {
            // `true`: any object.
            if self.subset.strict {
                return Err(self.problem(StrictProblemKind::NotClosed, 0));
            }
            self.tell(0, ChangeKind::TypeAdded);
            self.out.object_start();
            self.write_types(kind::OBJECT);
            if self.subset.properties {
                self.write_empty_properties();
            }
            self.out.object_end();
            return Ok(());
        }
        self.enter(root, flag::ROOT | flag::MANDATORY)?;
        while let Some(frame) = self.frames.last() {
            match frame.mode {
                Mode::Members => self.members()?,
                Mode::Map => self.entry()?,
                Mode::List | Mode::Tuple => self.item()?,
                Mode::Branches => self.branch()?,
            }
        }
        Ok(())
    }

    /// Writes a schema, or its start if it has to be gone through.
    pub(super) fn enter(&mut self, schema: Value<'s>, flags: u16) -> Result<()> {
        let at = self.texts.place(schema.raw());
        match schema.as_bool() {
            Some(_) if self.subset.booleans => {}
            Some(true) if self.subset.strict => {
                return Err(self.problem(StrictProblemKind::Untyped, at));
            }
            Some(false) if self.subset.strict => return Err(self.problem(StrictProblemKind::Never, at)),
            Some(any) => {
                if !any {
                    self.tell(at, ChangeKind::LeftOpen);
                }
                self.out.raw("{}");
                return Ok(());
            }
            None => {}
        }
        if schema.kind() != Kind::Object {
            self.out.value(schema);
            return Ok(());
        }
        let node = self.gather(at, flags)?;
        if self.is_copy(&node) {
            self.out.value(schema);
            return Ok(());
        }
        self.open(node, at)
    }

    pub(super) fn open(&mut self, node: Node, at: usize) -> Result<()> {
        let frame = Frame {
            node,
            mode: Mode::Members,
            word: W::Unknown,
            source: 0,
            at: 0,
            inner_source: 0,
            inner: 0,
            cursor: node.required.saturating_add(1),
            seen: Words::NONE,
            own: Words::NONE,
            written: Words::NONE,
        };
        if self.frames.push(frame).is_err() {
            // Only references put in place come here: a schema that compiles is not so deep.
            if self.subset.strict {
                return Err(self.problem(StrictProblemKind::Recursion, at));
            }
            self.tell(at, ChangeKind::LeftOpen);
            self.out.raw("{}");
            return Ok(());
        }
        if self.subset.strict && node.types & (kind::OBJECT | kind::ARRAY) != 0 {
            let levels = self.frames.iter().filter(|frame| {
                frame.node.types & (kind::OBJECT | kind::ARRAY) != 0 && !frame.node.is(flag::BRANCH)
            });
            let levels = levels.count();
            self.limit(levels, self.subset.limits.levels, "objects and arrays inside one another", at)?;
        }
        if node.is(flag::WRAP) {
            self.out.object_start();
            self.out.key("anyOf");
            self.out.array_start();
        }
        self.out.object_start();
        if node.is(flag::BRANCH) {
            self.write_types(node.types);
        }
        Ok(())
    }

    /// Goes on with the members of the innermost schema, until one has to be gone through or it ends.
    fn members(&mut self) -> Result<()> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(()) };
            if frame.source >= frame.node.count {
                return self.finish();
            }
            if frame.at == 0 {
                let source = frame.node.sources.get(usize::from(frame.source));
                frame.at = source.map_or(0, |at| at.saturating_add(1));
            }
            let mut entries = self.texts.members(frame.at as usize);
            let Some((key, value)) = entries.next() else {
                frame.seen = frame.seen.and(frame.own);
                (frame.at, frame.source) = (0, frame.source + 1);
                continue;
            };
            let next = self.texts.start(frame.at as usize) + entries.offset();
            frame.at = u32::try_from(next).unwrap_or(u32::MAX);
            let word = W::of(key);
            let again = frame.seen.has(word) && word != W::Unknown;
            frame.own.add(word);
            let (node, bit) = (frame.node, 1 << frame.source);
            if self.member(&node, bit, word, (key, value), again)? {
                return Ok(());
            }
        }
    }

    /// Writes one member, or its start; then it is to be gone through.
    fn member(
        &mut self,
        node: &Node,
        bit: u8,
        word: W,
        (key, value): (Str<'s>, Value<'s>),
        again: bool,
    ) -> Result<bool> {
        let at = self.texts.place(key.raw()).saturating_sub(1);
        let inherited = node.flags & flag::INHERITED;
        match self.fate(node, bit, word, value, again) {
            Fate::Keep => {
                self.out.key_str(key);
                self.out.value(value);
                self.wrote(word);
            }
            Fate::Skip => {}
            Fate::Drop => self.tell(at, ChangeKind::Dropped),
            // That it is left open was told.
            Fate::Move if word == W::Ref && node.is(flag::OPEN) => {}
            Fate::Move => self.tell(at, ChangeKind::Moved),
            Fate::Refuse(kind) => return self.refuse(kind, at),
            Fate::One(name) => {
                self.rename(word, name, at);
                self.out.key(name.name());
                let depth = self.frames.len();
                self.enter(value, inherited)?;
                return Ok(self.frames.len() > depth);
            }
            Fate::Map(name) => {
                self.rename(word, name, at);
                self.out.key(name.name());
                self.out.object_start();
                self.wrote(name);
                self.go_into(Mode::Map, word, value);
                return Ok(true);
            }
            Fate::List(name) => {
                self.rename(word, name, at);
                self.out.key(name.name());
                self.out.array_start();
                if matches!(name, W::AnyOf | W::OneOf) {
                    self.count_union();
                }
                self.go_into(Mode::List, word, value);
                return Ok(true);
            }
            Fate::Tuple => {
                self.tell(at, ChangeKind::TupleToList);
                self.out.key("items");
                self.out.object_start();
                self.out.key("anyOf");
                self.out.array_start();
                self.go_into(Mode::Tuple, word, value);
                return Ok(true);
            }
            Fate::Alike => {
                self.tell(at, ChangeKind::TupleToList);
                self.out.key("items");
                let depth = self.frames.len();
                if let Some(item) = value.item(0) {
                    self.enter(item, inherited)?;
                }
                return Ok(self.frames.len() > depth);
            }
            Fate::Branches => {
                self.tell(at, ChangeKind::TypesToAnyOf);
                self.start_branches(node);
                return Ok(true);
            }
            Fate::MaxItems => {
                let count = self.tuple(node).map_or(0, |tuple| tuple.items().count());
                if !node.words.has(W::MaxItems) {
                    self.tell(at, ChangeKind::RestToMaxItems);
                    self.out.key("maxItems");
                    self.out.u64(count as u64);
                } else {
                    self.tell(at, ChangeKind::Dropped);
                }
            }
            Fate::Type => {
                self.write_type(node, at);
                self.wrote(W::Type);
            }
            Fate::Values => self.write_values(node, word, value, at)?,
            Fate::Description => {
                self.out.key("description");
                self.out.string_start();
                if let Some(text) = value.as_str() {
                    self.out.string_str(text);
                }
                self.write_moved(node, true);
                self.out.string_end();
                self.wrote(W::Description);
            }
            Fate::Required => self.write_allowed(node, key, value),
            Fate::Ref => self.write_ref(value),
        }
        Ok(false)
    }

    pub(super) fn wrote(&mut self, word: W) {
        if let Some(frame) = self.frames.last_mut() {
            frame.written.add(word);
        }
    }

    fn rename(&mut self, word: W, name: W, at: usize) {
        match (word, name) {
            (W::OneOf, W::AnyOf) => self.tell(at, ChangeKind::OneOfToAnyOf),
            (word, name) if word != name => self.tell(at, ChangeKind::Renamed),
            _ => {}
        }
    }

    /// To go through the schemas in a value next.
    pub(super) fn go_into(&mut self, mode: Mode, word: W, value: Value<'s>) {
        let at = self.texts.place(value.raw()).saturating_add(1);
        if let Some(frame) = self.frames.last_mut() {
            (frame.mode, frame.word, frame.inner_source) = (mode, word, frame.source);
            frame.inner = u32::try_from(at).unwrap_or(u32::MAX);
        }
    }

    pub(super) fn go_on(&mut self, inner: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.inner = u32::try_from(inner).unwrap_or(u32::MAX);
        }
    }

    pub(super) fn back_to_members(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.mode = Mode::Members;
        }
    }

    /// Ends the innermost schema with what it lacks.
    fn finish(&mut self) -> Result<()> {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        let (node, written) = (frame.node, frame.written);
        let at = node.sources.first().map_or(0, |at| *at as usize);
        let subset = self.subset;
        if !written.has(W::Type) && !node.is(flag::BRANCH) && node.types != 0 && !node.is(flag::MOVE_TYPE) {
            if node.is(flag::SPLIT) {
                self.tell(at, ChangeKind::TypesToAnyOf);
                self.start_branches(&node);
                return Ok(());
            }
            if node.is(flag::INFERRED) {
                if !node.is(flag::OPEN) {
                    self.tell(at, ChangeKind::TypeAdded);
                }
                let null = if node.is(flag::ADD_NULL) { kind::NULL } else { 0 };
                self.write_types(node.types | null);
            }
        }
        if node.is(flag::NULLABLE) {
            self.out.key("nullable");
            self.out.bool(true);
        }
        let is_object = node.types & kind::OBJECT != 0 && !node.is(flag::SPLIT | flag::BARE);
        if is_object && subset.properties && !written.has(W::Properties) {
            self.tell(at, ChangeKind::PropertiesAdded);
            self.write_empty_properties();
        }
        if is_object && subset.closed && !written.has(W::AdditionalProperties) {
            // Closed, one that declares nothing would only be `{}`: so are the arguments of a tool without any.
            if !node.is(flag::ROOT) && self.declared(&node).next().is_none() {
                return Err(self.problem(StrictProblemKind::NotClosed, at));
            }
            self.tell(at, ChangeKind::Closed);
            self.out.key("additionalProperties");
            self.out.bool(false);
        }
        if subset.some_required && node.is(flag::ROOT) && self.declared(&node).next().is_some() {
            let mut required = self.maps(&node, W::Required).flat_map(|(_, list)| list.items());
            if required.next().is_none() {
                return Err(self.problem(StrictProblemKind::NoneRequired, at));
            }
        }
        if is_object && subset.all_required {
            self.write_all_required(&node)?;
        } else if node.words.has(W::Required)
            && (node.count > 1 || subset.all_required)
            && (is_object || !node.is(flag::SPLIT | flag::BRANCH | flag::BARE))
        {
            self.write_joined_required(&node);
        }
        if !written.has(W::Description) {
            self.write_moved(&node, false);
        }
        self.out.object_end();
        if node.is(flag::WRAP) {
            self.out.raw("{\"type\":\"null\"}");
            self.out.array_end();
            self.out.object_end();
        }
        self.frames.pop();
        Ok(())
    }
}
