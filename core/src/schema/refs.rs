//! References: where each `$ref` leads, found for all of them in one walk over each document.
//!
//! First the document: this one, if the reference is a fragment alone, else one with that URI, in
//! [`index`](super::index). An anchor is found there too. Then those that are JSON Pointers: the references
//! are sorted by their decoded JSON Pointer (RFC 6901, in a URI fragment: RFC 3986 percent escapes first) and
//! those that share a prefix stand together, so a walk over the text takes along a range of them and narrows
//! it at each key; what no reference enters is skipped. A target is bound to the node that stands there. One
//! that the pass over the text did not compile, such as a schema under an unknown keyword, is compiled now,
//! and its own references take another round.
//!
//! Then cycles that never enter the value are refused, and slots that lead to a lone reference are made to
//! lead to its target, in [`cycles`](super::cycles).

use super::compile::error_at;
use super::compiler::Compiler;
use super::cycles::end_of_node;
use super::error::{SchemaError, SchemaErrorKind, string_end};
use super::index::Index;
use super::pointer::{Pointer, SEPARATOR, plain_order, plain_token_order};
use super::program::{Cursor, HEADER, Node, Slot, op, word_of, words};
use super::source::Texts;
use super::store::{Store, partition, sort};
use crate::json::{self, Event, Kind, Reader, Str, Value, blanks};
use crate::sink::Sink;
use core::cmp::Ordering;

impl<'s> Compiler<'s, '_> {
    /// Pushes the instruction of a `$ref` or a `$dynamicRef`.
    pub(super) fn reference(&mut self, op: u8, value: Value<'s>) -> Result<(), SchemaError> {
        let text = value.as_str();
        let local = text.is_some_and(|text| text.chars().next().is_none_or(|c| c == '#'));
        let mut pointer = Pointer::of(value).ok_or(self.error(SchemaErrorKind::BadKeyword, value))?;
        if !pointer.is_valid() {
            return Err(self.error(SchemaErrorKind::BadKeyword, value));
        }
        let tokens = pointer.clone().tokens(&mut { usize::MAX });
        if !local && !self.may_name {
            return Err(self.error(SchemaErrorKind::UnknownDocument, value));
        }
        self.refs.foreign |= !local || !matches!(pointer.next(), None | Some(SEPARATOR));
        self.refs.count += 1;
        self.refs.deepest = self.refs.deepest.max(tokens.min(usize::from(json::MAX_DEPTH)));
        self.refs.odd |= !is_usual(value);
        let operands = [word_of(self.offset(value)), 0, 0];
        let length = if op == op::REF { 2 } else { 3 };
        self.instruction(op, UNRESOLVED, operands.get(..length).unwrap_or_default());
        Ok(())
    }

    /// Binds every reference.
    pub(super) fn resolve(&mut self) -> Result<(), SchemaError> {
        if self.refs.count == 0 {
            return Ok(());
        }
        let floor = self.store.height();
        // What is not compiled yet can hold references to anchors and documents of its own.
        let named = self.refs.foreign || self.refs.odd;
        let index = if named { Some(self.build_index()?) } else { None };
        self.resolve_with(index.as_ref())?;
        self.store.pop_to(floor);
        Ok(())
    }

    fn resolve_with(&mut self, index: Option<&Index>) -> Result<(), SchemaError> {
        // Comparing takes time with long pointers, and is bounded for all of them together.
        let mut budget = self.texts.len().saturating_mul(64).saturating_add(1 << 20);
        // Each round walks through the documents and the program again, and so is their number.
        let mut left = self.texts.len().saturating_mul(2 * SURE_ROUNDS).saturating_add(1 << 24);
        let mut scanned = HEADER;
        loop {
            let height = self.store.height();
            let (front, count) = self.list(scanned);
            scanned = front;
            if self.store.fits() && count > 0 {
                left = left.saturating_sub(self.texts.len().saturating_add(front));
                if left == 0 {
                    let list = self.store.address(self.store.height());
                    let first = Reference::at(&self.store, list, 0);
                    return Err(error_at(SchemaErrorKind::RefLimit, first.offset));
                }
                self.round(index, count, &mut budget)?;
            }
            self.store.pop_to(height);
            if !self.store.fits() {
                self.reserve_walk();
                if self.refs.odd || index.is_some() {
                    self.refs.bounded = true;
                    self.store.reserve(self.texts.len().saturating_mul(12));
                }
                return Ok(());
            }
            let more = match index {
                Some(index) if count == 0 => self.dynamic_targets(index)?,
                _ => count > 0,
            };
            if !more {
                let dynamic = index.filter(|_| self.refs.dynamic);
                if let Some(index) = dynamic {
                    self.dynamic_tables(index, scanned);
                }
                self.refuse_cycles(scanned)?;
                // Where the memory did not suffice to look for cycles, there may be one.
                if dynamic.is_none() && self.store.fits() {
                    self.skip_aliases();
                }
                self.find_need(scanned);
                return Ok(());
            }
        }
    }

    /// Pushes the addresses of all references in nodes from `at` on. Gives the end of the nodes and how many
    /// there were.
    fn list(&mut self, mut at: usize) -> (usize, usize) {
        let front = self.store.front();
        if !self.store.fits() {
            // The walk takes three words for each container that it enters.
            (0..2 * self.refs.count + 3 * self.refs.deepest).for_each(|_| self.store.push(0));
            return (front, 0);
        }
        let mut count = 0;
        while at < front {
            let mut cursor = Cursor::new(self.store.program(), Slot::node(at));
            while let Some(instruction) = cursor.next(self.store.program()) {
                if matches!(instruction.op, op::REF | op::DYNAMIC_REF) {
                    self.store.push(word_of(instruction.at));
                    count += 1;
                }
            }
            at = cursor.at;
        }
        (front, count)
    }

    /// Binds the references whose addresses are on top of the stack.
    fn round(&mut self, index: Option<&Index>, count: usize, budget: &mut usize) -> Result<(), SchemaError> {
        let list = self.store.address(self.store.height());
        let texts = self.texts;
        let root = texts.first.len() - blanks(texts.first.as_bytes()).len();
        for number in 0..count {
            let reference = Reference::at(&self.store, list, number);
            match index {
                Some(index) => self.find(index, reference, budget)?,
                None => reference.set(&mut self.store, UNRESOLVED, word_of(root)),
            }
        }
        let swap = |store: &mut Store<'_>, a: usize, b: usize| store.swap(list + 4 * a, list + 4 * b, 1);
        let mut less = |store: &Store<'_>, a: usize, b: usize| {
            let (a, b) = (Reference::at(store, list, a), Reference::at(store, list, b));
            let order = (a.state, a.target).cmp(&(b.state, b.target)).then_with(|| {
                if let Some((order, units)) = plain_order(a.text(texts), b.text(texts)) {
                    *budget = budget.saturating_sub(units);
                    return order;
                }
                let mut units = 0;
                let pointers =
                    (a.pointer(texts).into_iter().flatten(), b.pointer(texts).into_iter().flatten());
                let order = pointers.0.inspect(|_| units += 1).cmp(pointers.1);
                *budget = budget.saturating_sub(units + 1);
                order
            });
            *budget > 0 && order == Ordering::Less
        };
        sort(&mut self.store, count, &mut less, &swap);
        // Those into one document stand together, and those that were found already are last.
        let mut low = 0;
        while low < count {
            let first = Reference::at(&self.store, list, low);
            if first.state != UNRESOLVED {
                break;
            }
            let high = partition(low, count, |number| {
                let other = Reference::at(&self.store, list, number);
                (other.state, other.target) <= (UNRESOLVED, first.target)
            });
            self.walk(list, low, high, first.target as usize, budget)?;
            if !self.store.fits() {
                return Ok(());
            }
            low = high;
        }
        for number in 0..count {
            let reference = Reference::at(&self.store, list, number);
            if reference.state != LOCATED {
                let kind =
                    if *budget == 0 { SchemaErrorKind::RefLimit } else { SchemaErrorKind::UnresolvedRef };
                return Err(error_at(kind, reference.offset));
            }
        }
        let mut less = |store: &Store<'_>, a: usize, b: usize| {
            Reference::at(store, list, a).target < Reference::at(store, list, b).target
        };
        sort(&mut self.store, count, &mut less, &swap);

        // Nodes that stand where references lead. Their slots are noted beside the list, which stays sorted.
        (0..count).for_each(|_| self.store.push(Slot::NOWHERE.0));
        if !self.store.fits() {
            return Ok(());
        }
        let slots = self.store.address(self.store.height());
        self.bind_nodes((list, slots), count, HEADER);
        // What is left was not compiled, or is an immediate.
        for number in 0..count {
            let target = Reference::at(&self.store, list, number).target;
            if self.store.get(slots + 4 * number) == Slot::NOWHERE.0 {
                let front = self.store.front();
                let slot = self.schema_at(index, target as usize)?;
                if !self.store.fits() {
                    return Ok(());
                }
                self.bind((list, slots), number, count, target, slot);
                self.bind_nodes((list, slots), count, front);
            }
        }
        for number in 0..count {
            let slot = self.store.get(slots + 4 * number);
            Reference::at(&self.store, list, number).set(&mut self.store, RESOLVED, slot);
        }
        Ok(())
    }

    /// Finds the document that a reference leads into, or the schema if the reference names an anchor.
    fn find(&mut self, index: &Index, reference: Reference, budget: &mut usize) -> Result<(), SchemaError> {
        let number = self.document_of(index, reference.offset, budget)?;
        let document = index.document(&self.store, number);
        self.enter_text(index, document.start);
        let Some(fragment) = reference.pointer(self.texts) else { return Ok(()) };
        if matches!(fragment.clone().next(), None | Some(SEPARATOR)) {
            reference.set(&mut self.store, UNRESOLVED, document.start);
            return Ok(());
        }
        let Some(anchor) = index.find_anchor(self, document.start, &fragment) else {
            return Err(error_at(SchemaErrorKind::UnresolvedRef, reference.offset));
        };
        if reference.op == op::DYNAMIC_REF && anchor.dynamic {
            self.refs.dynamic = true;
            self.store.set(reference.address + 12, DYNAMIC);
        }
        reference.set(&mut self.store, LOCATED, anchor.start);
        Ok(())
    }

    /// Notes the slots of the references that lead to nodes from the address `at` on.
    fn bind_nodes(&mut self, lists: (usize, usize), count: usize, mut at: usize) {
        let front = self.store.front();
        while at < front {
            let target = Node::read(self.store.program(), at).offset;
            let first =
                partition(0, count, |number| Reference::at(&self.store, lists.0, number).target < target);
            self.bind(lists, first, count, target, Slot::node(at));
            at = end_of_node(self.store.program(), at);
        }
    }

    /// Notes the slot of the references from `first` on that lead to the address `target`.
    fn bind(&mut self, lists: (usize, usize), first: usize, count: usize, target: u32, slot: Slot) {
        let (list, slots) = lists;
        for number in first..count {
            if Reference::at(&self.store, list, number).target != target {
                return;
            }
            if self.store.get(slots + 4 * number) == Slot::NOWHERE.0 {
                self.store.set(slots + 4 * number, slot.0);
            }
        }
    }

    /// Finds where those references in a range of the list lead that go into the document that starts at
    /// `start`. They are sorted by pointer.
    fn walk(
        &mut self,
        list: usize,
        low: usize,
        high: usize,
        start: usize,
        budget: &mut usize,
    ) -> Result<(), SchemaError> {
        let not_json = |error| error_at(SchemaErrorKind::Json(error), error.offset);
        let root = self.value_at(start)?;
        let mut reader = Reader::new(root.raw().as_bytes(), &json::Options::default());
        let floor = self.store.height();
        // The references that lead to the value that comes next, or into it, and the tokens that were
        // matched.
        let (mut low, mut high, mut depth) = (low, high, 0u32);
        loop {
            let at = start + reader.value_offset();
            while low < high {
                let reference = Reference::at(&self.store, list, low);
                if reference
                    .pointer(self.texts)
                    .is_some_and(|pointer| pointer.tokens(budget) != depth as usize)
                {
                    break;
                }
                if reference.state == UNRESOLVED {
                    reference.set(&mut self.store, LOCATED, word_of(at));
                }
                low += 1;
            }
            let kind = reader.peek().map_err(not_json)?;
            if low < high && matches!(kind, Kind::Object | Kind::Array) && *budget > 0 {
                reader.next_event().map_err(not_json)?;
                let index = if kind == Kind::Array { 0 } else { u32::MAX };
                for word in [word_of(low), word_of(high), index] {
                    self.store.push(word);
                }
                depth += 1;
            } else {
                reader.skip_value().map_err(not_json)?;
            }
            loop {
                if self.store.height() == floor || !self.store.fits() {
                    return Ok(());
                }
                let top = self.store.address(self.store.height());
                if reader.try_end() {
                    self.store.pop_to(self.store.height() - 12);
                    depth -= 1;
                    continue;
                }
                let index = self.store.get(top);
                let key_offset = reader.value_offset();
                let mut digits = [0; 20];
                let key = if index == u32::MAX {
                    match reader.next_event().map_err(not_json)? {
                        Some(Event::Key(key)) => Some(key),
                        _ => None,
                    }
                } else {
                    self.store.set(top, index.saturating_add(1));
                    let mut sink = Sink::new(&mut digits);
                    sink.put_u64(u64::from(index));
                    sink.finish().ok().and_then(Str::from_plain)
                };
                let Some(key) = key else { return Ok(()) };
                let (from, to) = (self.store.get(top + 8) as usize, self.store.get(top + 4) as usize);
                let token = (depth as usize).saturating_sub(1);
                let mut compare = |number| {
                    let reference = Reference::at(&self.store, list, number);
                    let plain =
                        key.plain().and_then(|key| plain_token_order(reference.text(self.texts), token, key));
                    if let Some((order, units)) = plain {
                        *budget = budget.saturating_sub(units);
                        return order;
                    }
                    let pointer = reference.pointer(self.texts);
                    pointer.map_or(Ordering::Less, |pointer| pointer.compare_token(token, key, budget))
                };
                low = partition(from, to, |number| compare(number) == Ordering::Less);
                high = partition(low, to, |number| compare(number) == Ordering::Equal);
                if low < high {
                    // The first of those that enter here notes how deep they are. Of two equal keys, none
                    // would be the one that is meant.
                    let first = Reference::at(&self.store, list, low);
                    if first.depth >= depth {
                        let at = start + key_offset;
                        return Err(error_at(SchemaErrorKind::DuplicateKey, at));
                    }
                    first.enter(&mut self.store, depth);
                    break;
                }
                reader.skip_value().map_err(not_json)?;
            }
        }
    }
}

/// A `REF` instruction. Its argument says how far it got.
#[derive(Clone, Copy)]
struct Reference {
    op: u8,
    address: usize,
    state: u32,
    /// Tokens of it that were met on the walk, if it is the first of those that share them.
    depth: u32,
    /// Where the reference stands in the text.
    offset: usize,
    /// Where the document starts that it leads into, while `UNRESOLVED` in a round; then where the schema
    /// starts, while `LOCATED`; then its slot.
    target: u32,
}

const UNRESOLVED: u32 = 0;
const LOCATED: u32 = 1;
const RESOLVED: u32 = 2;

impl Reference {
    fn read(store: &Store<'_>, address: usize) -> Reference {
        let [head, offset, target] = words(store.program(), address);
        let (op, state, depth) = ((head & 0xFF) as u8, head >> 8 & 3, head >> 10);
        Reference { op, address, state, depth, offset: offset as usize, target }
    }

    /// The one whose address is in a list.
    fn at(store: &Store<'_>, list: usize, number: usize) -> Reference {
        Reference::read(store, store.get(list + 4 * number) as usize)
    }

    fn set(self, store: &mut Store<'_>, state: u32, target: u32) {
        let depth = if state == RESOLVED { 0 } else { self.depth };
        store.set(self.address, u32::from(self.op) | state << 8 | depth << 10);
        store.set(self.address + 8, target);
    }

    /// Notes that a token was met.
    fn enter(self, store: &mut Store<'_>, depth: u32) {
        store.set(self.address, u32::from(self.op) | self.state << 8 | depth << 10);
    }

    /// What of its text begins with it.
    fn text(self, texts: Texts<'_>) -> &[u8] {
        let (text, _, start) = texts.locate(self.offset);
        let at = self.offset.checked_sub(start);
        at.and_then(|at| text.as_bytes().get(at..)).unwrap_or_default()
    }

    /// The fragment of the reference.
    fn pointer(self, texts: Texts<'_>) -> Option<Pointer<'_>> {
        let (text, _, start) = texts.locate(self.offset);
        let rest = text.get(self.offset.checked_sub(start)?..)?;
        Pointer::of(Value::new(rest.get(..string_end(rest)?)?))
    }
}

/// In the third operand of a `DYNAMIC_REF`: an anchor of another document can take its target's place.
pub(super) const DYNAMIC: u32 = 1;

/// Whether a reference leads along the keywords that the pass over the text compiles. One with escapes, or
/// with a separator in percent encoding, is taken for one that does not.
fn is_usual(value: Value<'_>) -> bool {
    let raw = value.raw();
    if raw.contains('\\') || raw.contains("%2F") || raw.contains("%2f") {
        return false;
    }
    let mut tokens = raw.trim_matches('"').split('/').skip(1);
    while let Some(keyword) = tokens.next() {
        let usual = match keyword {
            "properties" | "patternProperties" | "$defs" | "definitions" | "allOf" | "anyOf" | "oneOf" => {
                tokens.next().is_some()
            }
            "items" | "additionalProperties" | "not" => true,
            _ => false,
        };
        if !usual {
            return false;
        }
    }
    true
}

/// Rounds, in which references into places that were not compiled lead on to further ones, that are sure for
/// whatever text, if its program is not longer than the text; if it is, fewer, and in short texts more.
const SURE_ROUNDS: usize = 128;
