//! References: where each `$ref` leads, found for all of them in one walk over the text.
//!
//! The references are sorted by their decoded JSON Pointer (RFC 6901, in a URI fragment: RFC 3986 percent
//! escapes first). Those that share a prefix stand together, so a walk over the text takes along a range of
//! them and narrows it at each key; what no reference enters is skipped. A target is bound to the node that
//! stands there. One that the pass over the text did not compile, such as a schema under an unknown keyword,
//! is compiled now, and its own references take another round.
//!
//! Then cycles that never enter the value are refused, and slots that lead to a lone reference are made to
//! lead to its target.

use super::compile::{Compiler, error_at};
use super::entry::{Entry, Table};
use super::error::{SchemaError, SchemaErrorKind, string_end};
use super::pointer::{Pointer, SEPARATOR};
use super::program::{Cursor, HEADER, Node, Slot, kind, op, word_of, words};
use super::store::{Store, sort};
use crate::json::{self, Event, Kind, Reader, Str, Value};
use crate::sink::Sink;
use core::cmp::Ordering;

impl<'s> Compiler<'s, '_> {
    /// Pushes the instruction of a `$ref`.
    pub(super) fn reference(&mut self, value: Value<'s>) -> Result<(), SchemaError> {
        if !matches!(Pointer::of(value).map(|mut pointer| pointer.next()), Some(None | Some(SEPARATOR))) {
            return Err(self.error(SchemaErrorKind::UnsupportedRef, value));
        }
        self.refs.count += 1;
        let tokens = Pointer::of(value).map_or(0, |pointer| pointer.tokens(&mut { usize::MAX }));
        self.refs.deepest = self.refs.deepest.max(tokens.min(usize::from(json::MAX_DEPTH)));
        self.refs.odd |= !is_usual(value);
        self.instruction(op::REF, UNRESOLVED, &[word_of(self.offset(value)), 0]);
        Ok(())
    }

    /// Binds every reference.
    pub(super) fn resolve(&mut self) -> Result<(), SchemaError> {
        if self.refs.count == 0 {
            return Ok(());
        }
        // Comparing takes time with long pointers, and is bounded for all of them together.
        let mut budget = self.text.len().saturating_mul(64).saturating_add(1 << 20);
        let mut scanned = HEADER;
        for _ in 0..ROUNDS {
            let height = self.store.height();
            let (front, count) = self.list(scanned);
            scanned = front;
            if self.store.fits() && count > 0 {
                self.round(count, &mut budget)?;
            }
            self.store.pop_to(height);
            if !self.store.fits() {
                if self.refs.odd {
                    self.store.reserve(self.text.len().saturating_mul(12));
                }
                return Ok(());
            }
            if count == 0 {
                self.refuse_cycles()?;
                self.skip_aliases();
                return Ok(());
            }
        }
        Err(error_at(SchemaErrorKind::RefLimit, 0))
    }

    /// Pushes the addresses of all references in nodes from `at` on. Gives the end of the nodes and how many
    /// there were.
    fn list(&mut self, mut at: usize) -> (usize, usize) {
        let front = self.store.front();
        if !self.store.fits() {
            // The walk takes three words for each container that it enters.
            (0..self.refs.count + 3 * self.refs.deepest).for_each(|_| self.store.push(0));
            return (front, 0);
        }
        let mut count = 0;
        while at < front {
            let (reference, next) = scan(self.store.program(), at);
            at = next;
            if let Some(reference) = reference {
                self.store.push(word_of(reference));
                count += 1;
            }
        }
        (front, count)
    }

    /// Binds the references whose addresses are on top of the stack.
    fn round(&mut self, count: usize, budget: &mut usize) -> Result<(), SchemaError> {
        let list = self.store.address(self.store.height());
        let text = self.text;
        let swap = |store: &mut Store<'_>, a: usize, b: usize| store.swap(list + 4 * a, list + 4 * b, 1);
        let mut less = |store: &Store<'_>, a: usize, b: usize| {
            let (a, b) =
                (Reference::at(store, list, a).pointer(text), Reference::at(store, list, b).pointer(text));
            let mut units = 0;
            let order = a.into_iter().flatten().inspect(|_| units += 1).cmp(b.into_iter().flatten());
            *budget = budget.saturating_sub(units + 1);
            *budget > 0 && order == Ordering::Less
        };
        sort(&mut self.store, count, &mut less, &swap);
        self.walk(list, count, budget)?;
        if !self.store.fits() {
            return Ok(());
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

        // Nodes that stand where references lead.
        let (mut at, front) = (HEADER, self.store.front());
        while at < front {
            let node = Node::read(self.store.program(), at);
            let first =
                partition(0, count, |number| Reference::at(&self.store, list, number).target < node.offset);
            self.bind(list, first, count, node.offset, Slot::node(at));
            (_, at) = scan(self.store.program(), at);
        }
        // What is left was not compiled, or is an immediate.
        for number in 0..count {
            let reference = Reference::at(&self.store, list, number);
            if reference.state == LOCATED {
                let slot = self.schema_at(reference.target as usize)?;
                if !self.store.fits() {
                    return Ok(());
                }
                self.bind(list, number, count, reference.target, slot);
            }
        }
        Ok(())
    }

    /// Binds the references from `first` on that lead to the text offset `target`.
    fn bind(&mut self, list: usize, first: usize, count: usize, target: u32, slot: Slot) {
        for number in first..count {
            let reference = Reference::at(&self.store, list, number);
            if reference.target != target || reference.state != LOCATED {
                return;
            }
            reference.set(&mut self.store, RESOLVED, slot.0);
        }
    }

    /// Finds where the references lead, which are sorted by pointer.
    fn walk(&mut self, list: usize, count: usize, budget: &mut usize) -> Result<(), SchemaError> {
        let not_json = |error| error_at(SchemaErrorKind::Json(error), error.offset);
        let mut reader = Reader::new(self.text.as_bytes(), &json::Options::default());
        let floor = self.store.height();
        // The references that lead to the value that comes next, or into it, and the tokens that were
        // matched.
        let (mut low, mut high, mut depth) = (0, count, 0);
        loop {
            let at = reader.value_offset();
            while low < high {
                let reference = Reference::at(&self.store, list, low);
                if reference.pointer(self.text).is_some_and(|pointer| pointer.tokens(budget) != depth) {
                    break;
                }
                // Of equal keys, the first counts.
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
                let mut compare = |number| {
                    let pointer = Reference::at(&self.store, list, number).pointer(self.text);
                    pointer.map_or(Ordering::Less, |pointer| pointer.compare_token(depth - 1, key, budget))
                };
                low = partition(from, to, |number| compare(number) == Ordering::Less);
                high = partition(low, to, |number| compare(number) == Ordering::Equal);
                if low < high {
                    break;
                }
                reader.skip_value().map_err(not_json)?;
            }
        }
    }

    /// Refuses references that lead back to themselves in place.
    fn refuse_cycles(&mut self) -> Result<(), SchemaError> {
        let (mut at, front) = (HEADER, self.store.front());
        while at < front {
            let first = at;
            at = scan(self.store.program(), at).1;
            // A walk is grey until it ends, where nothing follows or at a black node: grey ahead is a cycle.
            let mut length = 0;
            let mut node = Some(first);
            while let Some((reference, weight)) = node.and_then(|node| self.step_in_place(node)) {
                match reference.state {
                    GREY => return Err(error_at(SchemaErrorKind::RefCycle, reference.offset)),
                    BLACK => {
                        length += reference.length;
                        break;
                    }
                    _ => {}
                }
                length += weight;
                reference.set(&mut self.store, GREY, reference.target);
                node = Slot(reference.target).as_node();
            }
            // Then it becomes black, with the levels that its nodes take one inside the other.
            self.refs.chain = self.refs.chain.max(length);
            node = Some(first);
            while let Some((reference, weight)) = node.and_then(|node| self.step_in_place(node))
                && reference.state == GREY
            {
                Reference { length, ..reference }.set(&mut self.store, BLACK, reference.target);
                length -= weight;
                node = Slot(reference.target).as_node();
            }
        }
        Ok(())
    }

    /// The reference of a node, and the levels that checking takes for it: none if the node is nothing else.
    fn step_in_place(&self, node: usize) -> Option<(Reference, u32)> {
        let reference = scan(self.store.program(), node).0?;
        let alias = Node::read(self.store.program(), node).kinds & kind::ALIAS != 0;
        Some((Reference::read(&self.store, reference), u32::from(!alias)))
    }

    /// Replaces each slot that leads to a lone reference by the slot of its target.
    fn skip_aliases(&mut self) {
        self.shorten(4);
        let (mut at, front) = (HEADER, self.store.front());
        while at < front {
            let mut cursor = Cursor::new(self.store.program(), Slot::node(at));
            while let Some(instruction) = cursor.next(self.store.program()) {
                match instruction.op {
                    op::ITEMS | op::PATTERN_PROPERTY => self.shorten(instruction.at + 4),
                    op::REF => self.shorten(instruction.at + 8),
                    op::OBJECT => {
                        let table = Table::read(self.store.program(), instruction.at);
                        self.shorten(instruction.at + 4);
                        for number in 0..table.count as usize {
                            self.shorten(table.entries() + Entry::SIZE * number + 8);
                        }
                    }
                    _ => {}
                }
            }
            at = cursor.at;
        }
    }

    /// Makes the slot at an address lead past lone references, and all of these as well, so that no chain is
    /// followed twice.
    fn shorten(&mut self, at: usize) {
        let mut end = Slot(self.store.get(at));
        while let Some((_, target)) = self.alias(end) {
            end = target;
        }
        let mut slot = Slot(self.store.get(at));
        self.store.set(at, end.0);
        while let Some((reference, target)) = self.alias(slot) {
            self.store.set(reference + 8, end.0);
            slot = target;
        }
    }

    /// If the slot leads to a lone reference: its address and its target.
    fn alias(&self, slot: Slot) -> Option<(usize, Slot)> {
        let node = slot.as_node()?;
        let alias = Node::read(self.store.program(), node).kinds & kind::ALIAS != 0;
        alias.then_some((node + Node::SIZE, Slot(self.store.get(node + Node::SIZE + 8))))
    }
}

/// The address of the reference in the node at `at`, if it has one, and the address of the next node.
fn scan(program: &[u8], at: usize) -> (Option<usize>, usize) {
    let mut cursor = Cursor::new(program, Slot::node(at));
    let mut reference = None;
    while let Some(instruction) = cursor.next(program) {
        if instruction.op == op::REF {
            reference = Some(instruction.at);
        }
    }
    (reference, cursor.at)
}

/// A `REF` instruction. Its argument says how far it got.
#[derive(Clone, Copy)]
struct Reference {
    address: usize,
    state: u32,
    /// Where the reference stands in the text.
    offset: usize,
    /// A text offset while `LOCATED`, then a slot.
    target: u32,
    /// Once `BLACK`, the levels from here on.
    length: u32,
}

const UNRESOLVED: u32 = 0;
const LOCATED: u32 = 1;
const RESOLVED: u32 = 2;
const GREY: u32 = 3;
const BLACK: u32 = 4;

impl Reference {
    fn read(store: &Store<'_>, address: usize) -> Reference {
        let [head, offset, target] = words(store.program(), address);
        Reference { address, state: head >> 8 & 7, offset: offset as usize, target, length: head >> 11 }
    }

    /// The one whose address is in a list.
    fn at(store: &Store<'_>, list: usize, number: usize) -> Reference {
        Reference::read(store, store.get(list + 4 * number) as usize)
    }

    fn set(self, store: &mut Store<'_>, state: u32, target: u32) {
        store.set(self.address, u32::from(op::REF) | state << 8 | self.length.min(MAX_CHAIN) << 11);
        store.set(self.address + 8, target);
    }

    fn pointer(self, text: &str) -> Option<Pointer<'_>> {
        let rest = text.get(self.offset..)?;
        Pointer::of(Value::new(rest.get(..string_end(rest)?)?))
    }
}

/// Whether a reference leads along the keywords that the pass over the text compiles.
fn is_usual(value: Value<'_>) -> bool {
    let mut tokens = value.raw().trim_matches('"').split('/').skip(1);
    while let Some(keyword) = tokens.next() {
        let usual = match keyword {
            "properties" | "patternProperties" | "$defs" | "definitions" => tokens.next().is_some(),
            "items" | "additionalProperties" => true,
            _ => false,
        };
        if !usual {
            return false;
        }
    }
    true
}

/// The first number in `low..high` for which `before` does not hold, where it holds for all before that one.
fn partition(mut low: usize, mut high: usize, mut before: impl FnMut(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Longer chains are not counted exactly.
const MAX_CHAIN: u32 = (1 << 21) - 1;
/// Rounds in which references into places that were not compiled can lead on to further ones.
const ROUNDS: usize = 32;
