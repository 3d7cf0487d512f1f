//! The members that are written anew: types, values, references, `required`, and the description.

use super::change::{ChangeKind, StrictProblemKind};
use super::fate::{Fate, is_plain_name};
use super::node::{Node, fitting, flag, kind, kind_of, kinds_named};
use super::subset::Types;
use super::word::{Word as W, Words};
use super::{Lowering, Result};
use crate::json::{Str, Value};

impl<'s> Lowering<'s, '_, '_, '_> {
    /// Writes the member `type`, or nothing for no type.
    pub(super) fn write_types(&mut self, types: u8) {
        let upper = self.subset.types == Types::Upper;
        let names = kind::NAMES.iter().filter(|(kind, ..)| types & kind != 0);
        let names = names.map(|(_, lower, name)| if upper { *name } else { *lower });
        if types == 0 {
            return;
        }
        self.out.key("type");
        if types.count_ones() > 1 {
            self.out.array_start();
        }
        for name in names {
            self.out.string(name);
        }
        if types.count_ones() > 1 {
            self.out.array_end();
        }
    }

    /// Writes the types that a `type` came to.
    pub(super) fn write_type(&mut self, node: &Node, at: usize) {
        let null = if node.is(flag::ADD_NULL) { kind::NULL } else { 0 };
        let said = self.find(node, W::Type).map_or(0, kinds_named);
        if node.is(flag::NULLABLE) && said & kind::NULL != 0 {
            self.tell(at, ChangeKind::Nullable);
        } else if said & !node.types != 0 {
            self.tell(at, ChangeKind::TypesNarrowed);
        }
        let types = node.types | null;
        if types.count_ones() > 1 {
            self.count_union();
        }
        self.write_types(types);
    }

    /// Writes the values of an `enum`, or of a `const` as one.
    pub(super) fn write_values(&mut self, node: &Node, word: W, value: Value<'s>, at: usize) -> Result<()> {
        let allowed = |item: Value<'s>| {
            let kind = kind_of(item);
            if node.is(flag::BRANCH) {
                return fitting(node.types, kind) != 0;
            }
            kind & self.subset.values != 0
        };
        let add_null = node.is(flag::ADD_NULL);
        if word == W::Const && self.subset.keep.has(word) && !add_null {
            self.count_values(1, value.raw().len(), at)?;
            self.out.key("const");
            self.out.value(value);
            return Ok(());
        }
        let (list, one) = if word == W::Const { (None, Some(value)) } else { (Some(value), None) };
        let values = || list.into_iter().flat_map(Value::items).chain(one);
        let (all, fit) = (values().count(), values().filter(|item| allowed(*item)).count());
        // That of null alone is said by the type.
        let branch = node.is(flag::BRANCH);
        let of_null = node.types == kind::NULL && (branch || self.subset.values & kind::NULL == 0);
        self.count_values(fit + usize::from(add_null), value.raw().len(), at)?;
        if of_null || fit == 0 {
            if !branch {
                self.tell(at, ChangeKind::Dropped);
            }
            return Ok(());
        }
        if word == W::Const {
            self.tell(at, ChangeKind::ConstToEnum);
        } else if fit < all && !branch {
            let nullable = node.is(flag::NULLABLE);
            self.tell(at, if nullable { ChangeKind::Nullable } else { ChangeKind::NeverRemoved });
        }
        self.out.key("enum");
        self.out.array_start();
        values().filter(|item| allowed(*item)).for_each(|item| self.out.value(item));
        if add_null && values().all(|item| !item.is_null()) {
            self.out.null();
        }
        self.out.array_end();
        Ok(())
    }

    /// Writes a `$ref` with the name that its definition has now.
    pub(super) fn write_ref(&mut self, value: Value<'s>) {
        self.out.key("$ref");
        let renamed =
            value.as_str().and_then(Str::plain).and_then(|text| text.strip_prefix("#/definitions/"));
        match renamed.filter(|_| !self.has_defs) {
            Some(name) => {
                self.tell(self.texts.place(value.raw()), ChangeKind::Renamed);
                self.out.string_start();
                self.out.string_part("#/$defs/");
                self.out.string_part(name);
                self.out.string_end();
            }
            None => self.out.value(value),
        }
    }

    pub(super) fn write_empty_properties(&mut self) {
        self.out.key("properties");
        self.out.object_start();
        self.out.object_end();
    }

    /// Writes `required` with the names of properties that go out, if there are any.
    pub(super) fn write_allowed(&mut self, node: &Node, key: Str<'s>, value: Value<'s>) {
        for item in value.items() {
            let declared = |name: Str<'s>| self.declared(node).any(|other| other == name);
            if item.as_str().is_some_and(|name| !is_plain_name(name) && !declared(name)) {
                self.tell(self.texts.place(item.raw()), ChangeKind::Dropped);
            }
        }
        let mut names =
            value.items().filter_map(Value::as_str).filter(|name| is_plain_name(*name)).peekable();
        if names.peek().is_none() {
            return;
        }
        self.out.key_str(key);
        self.out.array_start();
        names.for_each(|name| self.out.str(name));
        self.out.array_end();
    }

    /// Writes `required` with the names of all properties; those that were required first.
    pub(super) fn write_all_required(&mut self, node: &Node) -> Result<()> {
        let declared = |name: Str<'s>| self.declared(node).any(|other| other == name);
        let names = self.maps(node, W::Required).flat_map(|(_, list)| list.items());
        for name in names.filter_map(Value::as_str) {
            if !declared(name) {
                return Err(self.problem(StrictProblemKind::NotClosed, self.texts.place(name.raw())));
            }
        }
        if self.declared(node).next().is_none() && !node.words.has(W::Required) {
            return Ok(());
        }
        self.out.key("required");
        self.out.array_start();
        self.write_required_names(node);
        for (number, map) in self.maps(node, W::Properties) {
            for (name, value) in map.entries() {
                let mut earlier = self.maps(node, W::Properties).take_while(|(other, _)| *other < number);
                let again =
                    number > 0 && earlier.any(|(_, map)| map.entries().any(|(other, _)| other == name));
                if !again && self.fate_of_property(name, value).is_none() && !self.is_required(node, name) {
                    self.out.str(name);
                }
            }
        }
        self.out.array_end();
        Ok(())
    }

    /// The names of an object's properties.
    pub(super) fn declared(&self, node: &Node) -> impl Iterator<Item = Str<'s>> + use<'s> {
        self.maps(node, W::Properties).flat_map(|(_, map)| map.entries()).map(|(name, _)| name)
    }

    /// Writes `required` with the names in those of all sources.
    pub(super) fn write_joined_required(&mut self, node: &Node) {
        let mut names = self.maps(node, W::Required).flat_map(|(_, list)| list.items());
        let goes = |name: Value<'_>| {
            name.as_str().is_some_and(|name| !self.subset.plain_names || is_plain_name(name))
        };
        if !names.any(goes) {
            return;
        }
        self.out.key("required");
        self.out.array_start();
        self.write_required_names(node);
        self.out.array_end();
    }

    fn write_required_names(&mut self, node: &Node) {
        for (number, list) in self.maps(node, W::Required) {
            for name in list.items().filter_map(Value::as_str) {
                let mut earlier = self.maps(node, W::Required).take_while(|(other, _)| *other < number);
                let is = |item: Value<'_>| item.as_str().is_some_and(|item| item == name);
                let again = number > 0 && earlier.any(|(_, list)| list.items().any(is));
                if !again && (!self.subset.plain_names || is_plain_name(name)) {
                    self.out.str(name);
                }
            }
        }
    }

    /// The values of a keyword, with the number of their source.
    pub(super) fn maps(&self, node: &Node, word: W) -> impl Iterator<Item = (u8, Value<'s>)> + use<'s> {
        let texts = self.texts;
        let words = node.sources().flat_map(move |(number, at)| {
            texts.members(at + 1).map(move |(key, value)| (number, key, value))
        });
        words.filter(move |(_, key, _)| W::of(*key) == word).map(|(number, _, value)| (number, value))
    }

    /// Whether a property is required. The names mostly stand in the order of the properties.
    pub(super) fn is_required(&mut self, node: &Node, name: Str<'s>) -> bool {
        let is = |item: Value<'_>| item.as_str().is_some_and(|item| item == name);
        if !node.words.has(W::Required) {
            return false;
        }
        if let Some(frame) = self.frames.last_mut() {
            let mut likely = self.texts.items(frame.cursor as usize);
            if likely.next().is_some_and(is) {
                let next = self.texts.start(frame.cursor as usize) + likely.offset();
                frame.cursor = u32::try_from(next).unwrap_or(u32::MAX);
                return true;
            }
        }
        self.maps(node, W::Required).any(|(_, list)| list.items().any(is))
    }

    /// Puts what was moved into the description: at its end, if one has `begun`, else as a description.
    pub(super) fn write_moved(&mut self, node: &Node, begun: bool) {
        if self.subset.is_whole() && !(node.is(flag::ROOT) && node.words.any(self.subset.not_at_root)) {
            return;
        }
        let (mut seen, mut any) = (Words::NONE, false);
        for (number, at) in node.sources() {
            let mut own = Words::NONE;
            for (key, value) in self.texts.members(at + 1) {
                let word = W::of(key);
                own.add(word);
                let again = seen.has(word) && word != W::Unknown;
                match self.fate(node, 1 << number, word, value, again) {
                    Fate::Move => self.put_moved(key, "", value, begun, &mut any),
                    Fate::Map(W::Properties) => {
                        for (name, value) in value.entries() {
                            if self.fate_of_property(name, value) == Some(ChangeKind::NameRefused) {
                                let what = if self.is_required(node, name) { " (required)" } else { "" };
                                self.put_moved(name, what, value, begun, &mut any);
                            }
                        }
                    }
                    _ => {}
                }
            }
            seen = seen.and(own);
        }
        if any {
            self.out.string_part("}");
            if !begun {
                self.out.string_end();
            }
        }
    }

    fn put_moved(&mut self, key: Str<'s>, what: &str, value: Value<'s>, begun: bool, any: &mut bool) {
        if !*any && !begun {
            self.out.key("description");
            self.out.string_start();
        }
        self.out.string_part(match (*any, begun) {
            (true, _) => ", ",
            (false, true) => "\n\n{",
            (false, false) => "{",
        });
        *any = true;
        self.out.string_str(key);
        self.out.string_part(what);
        self.out.string_part(": ");
        match value.as_str() {
            Some(text) => self.out.string_str(text),
            None => self.out.string_value(value),
        }
    }

    pub(super) fn count_property(&mut self, name: Str<'s>, required: bool, at: usize) -> Result<()> {
        self.counted.properties += 1;
        self.counted.optional += usize::from(!required);
        self.limit(self.counted.properties, self.subset.limits.properties, "properties", at)?;
        self.count_text(name.raw().len(), at)
    }

    pub(super) fn count_text(&mut self, bytes: usize, at: usize) -> Result<()> {
        self.counted.text = self.counted.text.saturating_add(bytes);
        let what = "bytes of property names, definition names and values";
        self.limit(self.counted.text, self.subset.limits.text, what, at)
    }

    fn count_values(&mut self, count: usize, bytes: usize, at: usize) -> Result<()> {
        let limits = self.subset.limits;
        self.counted.values = self.counted.values.saturating_add(count);
        self.limit(self.counted.values, limits.values, "values in all enums", at)?;
        if count > LONG_ENUM {
            self.limit(bytes, limits.long_enum, "bytes in an enum of more than 250 values", at)?;
        }
        self.count_text(bytes, at)
    }

    pub(super) fn count_union(&mut self) {
        self.counted.unions += 1;
    }
}

/// Above so many values the bytes of an enum are limited.
const LONG_ENUM: usize = 250;
