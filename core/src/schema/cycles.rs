//! What refers to itself in place, without entering the value, would never end: it is refused. Lone references
//! are skipped. And how much work memory a check needs is found along the references.

use super::compile::error_at;
use super::compiler::Compiler;
use super::dynamic::{next_table, table_of, target_in};
use super::entry::{Candidate, Entry, Form, Table};
use super::error::{SchemaError, SchemaErrorKind};
#[cfg(feature = "pattern")]
use super::pattern;
use super::program::{Cursor, HEADER, Instruction, Node, Slot, kind, op, word_of, words};
use super::store::Store;
use super::values::nesting;
use super::work::{self, Need};
use crate::json::{self, Value};

impl Compiler<'_, '_> {
    /// Refuses schemas that lead back to themselves in place, and finds how many words their frames take at
    /// most, one inside the other. The nodes end at the address `end`.
    pub(super) fn refuse_cycles(&mut self, end: usize) -> Result<(), SchemaError> {
        self.refs.chain = self.walk_all(Walk::InPlace, end)?;
        Ok(())
    }

    /// Finds what a check needs at most, unless a schema leads back to itself, which takes the more the deeper
    /// the instance is.
    pub(super) fn find_need(&mut self, end: usize) {
        let Ok(plain) = self.walk_all(Walk::Plain, end) else { return };
        let all = if self.once.all > self.once.plain { self.walk_all(Walk::Whole, end) } else { Ok(plain) };
        self.refs.need = all.ok().map(|all| Need { all, plain });
    }

    /// Counts the memory that the walks take over nodes that were only counted.
    pub(super) fn reserve_walk(&mut self) {
        // On the way to a node, at most one reference leads on from each that has one.
        let ways = self.refs.nested.saturating_mul(self.refs.count + 1);
        let words = 2 * self.refs.nodes + FRAME * ways.min(self.refs.nodes);
        (0..words).for_each(|_| self.store.push(0));
    }

    /// Walks in depth over the nodes, up to the address `end`. Gives the most words that one needs.
    ///
    /// Their list and the walk are on the stack; the words that are known for a node say that it is done. A
    /// table of what a dynamic reference can lead to counts as a node.
    fn walk_all(&mut self, walk: Walk, end: usize) -> Result<u32, SchemaError> {
        let floor = self.store.height();
        let mut count = 0;
        let mut at = HEADER;
        while at < end {
            if walk != Walk::InPlace || Node::read(self.store.program(), at).kinds & kind::IN_PLACE != 0 {
                self.store.push(NEW);
                self.store.push(word_of(at));
                count += 1;
            }
            at = end_of_node(self.store.program(), at);
        }
        while let Some(table) = next_table(self.store.program(), end, at) {
            self.store.push(NEW);
            self.store.push(word_of(table));
            count += 1;
            at = table;
        }
        let list = List { height: self.store.height(), count, end, walk };
        let mut most = 0;
        for number in 0..if self.store.fits() { count } else { 0 } {
            if list.words(&self.store, number) == NEW {
                self.walk_from(&list, number)?;
                if !self.store.fits() {
                    break;
                }
            }
            let words = list.words(&self.store, number);
            let first = list.node(&self.store, number);
            most = match walk {
                Walk::InPlace => most.max(words),
                // Nothing begins with a table, nor with a lone reference, which is skipped.
                _ if first >= end || self.own_words(&list, number) == (0, 0) => most,
                // There is no level around the node that a check begins with.
                _ => most.max(words.saturating_sub(self.own_words(&list, number).0.min(work::LEVEL))),
            };
        }
        self.store.pop_to(floor);
        Ok(most)
    }

    fn walk_from(&mut self, list: &List, first: usize) -> Result<(), SchemaError> {
        let floor = self.store.height();
        self.push_walk(list, first);
        while self.store.height() > floor && self.store.fits() {
            let top = self.store.address(self.store.height());
            let [number, at, left, edge, longest] = words(self.store.memory(), top);
            let number = number as usize;
            let program = self.store.program();
            let mut cursor = Cursor::resume(at as usize, left);
            let table = list.node(&self.store, number) >= list.end;
            let instruction = if table { None } else { cursor.next(program) };
            let address = match instruction {
                None if table => target_in(program, at as usize, edge),
                Some(instruction) if list.goes_on(program, instruction, number, &self.store) => {
                    instruction.slot(edge)
                }
                _ => None,
            };
            if address.is_none() && instruction.is_none() {
                let (own, compared) = self.own_words(list, number);
                let words = longest.max(compared).saturating_add(own).min(OPEN - 1);
                list.set_words(&mut self.store, number, words);
                self.store.pop_to(self.store.height() - 4 * FRAME);
                if self.store.height() > floor {
                    self.note_words(words);
                }
                continue;
            }
            let Some(address) = address else {
                self.store.set(top + 4, word_of(cursor.at));
                self.store.set(top + 8, u32::from(cursor.left()));
                self.store.set(top + 12, 0);
                continue;
            };
            self.store.set(top + 12, edge + 1);
            let target = match instruction {
                Some(instruction) if is_list(self.store.program(), instruction, address) => None,
                Some(instruction) => match table_of(self.store.program(), instruction) {
                    0 => Slot(self.store.get(address)).as_node(),
                    table => Some(table),
                },
                None => Slot(self.store.get(address)).as_node(),
            };
            let Some(target) = target.and_then(|node| list.find(&self.store, node)) else { continue };
            match list.words(&self.store, target) {
                NEW => self.push_walk(list, target),
                OPEN => return Err(error_at(SchemaErrorKind::RefCycle, self.reference_in_walk(list, floor))),
                words => self.note_words(words),
            }
        }
        Ok(())
    }

    /// Words that a node itself needs around what is inside of it, and those for comparing its value, which are
    /// not needed at the same time as what is inside.
    fn own_words(&self, list: &List, number: usize) -> (u32, u32) {
        let (program, at) = (self.store.program(), list.node(&self.store, number));
        if at >= list.end {
            return (0, 0);
        }
        let node = Node::read(program, at);
        let (mut words, mut compared) = (0, 0);
        let mut cursor = Cursor::new(program, Slot::node(at));
        let mut notes = 0;
        while let Some(instruction) = cursor.next(program) {
            match instruction.op {
                op::UNEVALUATED_ITEMS | op::UNEVALUATED_PROPERTIES => notes = self.notes,
                _ if list.walk == Walk::InPlace => {}
                _ => compared = compared.max(self.compared(list.walk, instruction)),
            }
        }
        // Lone references are skipped, unless one is dynamic.
        if node.kinds & kind::IN_PLACE != 0 && (node.kinds & kind::ALIAS == 0 || self.refs.dynamic) {
            words += work::LEVEL + work::FRAME + notes;
        }
        if list.walk != Walk::InPlace {
            if node.kinds & (kind::OBJECT | kind::ARRAY) != 0 {
                words += work::LEVEL;
            }
            if node.kinds & kind::OBJECT != 0 {
                words += work::table(Table::read(program, at + Node::SIZE).count as usize);
            }
            if node.kinds & kind::PATTERNED != 0 {
                words += work::LEVEL;
            }
        }
        (words, compared)
    }

    /// Words that an instruction needs for comparing.
    fn compared(&self, walk: Walk, instruction: Instruction) -> u32 {
        let program = self.store.program();
        match instruction.op {
            op::UNIQUE_ITEMS if walk == Walk::Whole => work::unique(usize::from(json::MAX_DEPTH)),
            op::ENUM | op::CONST => {
                let values = (0..instruction.argument)
                    .map(|number| Candidate::read(program, instruction, number))
                    .filter(|candidate| candidate.is(Form::Container))
                    .map(|candidate| nesting(Value::new(candidate.raw(self.texts))).unwrap_or(0));
                work::equality(values.max().unwrap_or(0))
            }
            #[cfg(feature = "pattern")]
            op::PATTERN | op::PATTERN_PROPERTY => {
                let at = instruction.at + if instruction.op == op::PATTERN { 8 } else { 12 };
                word_of(pattern::work_words(program.get(at..).unwrap_or_default()))
            }
            _ => 0,
        }
    }

    /// The node on top of the walk has one inside whose words are known.
    fn note_words(&mut self, words: u32) {
        let top = self.store.address(self.store.height());
        self.store.set(top + 16, self.store.get(top + 16).max(words));
    }

    fn push_walk(&mut self, list: &List, number: usize) {
        list.set_words(&mut self.store, number, OPEN);
        let node = list.node(&self.store, number);
        let cursor = if node >= list.end {
            Cursor::resume(node, 0)
        } else {
            Cursor::new(self.store.program(), Slot::node(node))
        };
        let frame = [number, cursor.at, usize::from(cursor.left()), 0, 0];
        frame.into_iter().rev().for_each(|word| self.store.push(word_of(word)));
    }

    /// Where the last reference stands along which the walk went.
    fn reference_in_walk(&self, list: &List, floor: usize) -> usize {
        let mut height = self.store.height();
        while height > floor {
            let at = self.store.get(self.store.address(height) + 4) as usize;
            let instruction = Instruction::read(self.store.program(), at);
            if at < list.end && matches!(instruction.op, op::REF | op::DYNAMIC_REF) {
                return instruction.operand(self.store.program()) as usize;
            }
            height -= 4 * FRAME;
        }
        0
    }

    /// Replaces each slot that leads to a lone reference by the slot of its target.
    pub(super) fn skip_aliases(&mut self) {
        self.shorten(4);
        let (mut at, front) = (HEADER, self.store.front());
        while at < front {
            let mut cursor = Cursor::new(self.store.program(), Slot::node(at));
            while let Some(instruction) = cursor.next(self.store.program()) {
                for slot in instruction.slots() {
                    if !is_list(self.store.program(), instruction, slot) {
                        self.shorten(slot);
                    }
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

/// Whether an instruction of a node applies a schema to the same value; `then` and `else` do so beside `if`.
fn applies(program: &[u8], instruction: Instruction, node: usize) -> bool {
    let mut cursor = Cursor::new(program, Slot::node(node));
    let mut has_if = || core::iter::from_fn(|| cursor.next(program)).any(|other| other.op == op::IF);
    instruction.is_in_place() && (!matches!(instruction.op, op::THEN | op::ELSE) || has_if())
}

/// The address after a node.
pub(super) fn end_of_node(program: &[u8], at: usize) -> usize {
    let mut cursor = Cursor::new(program, Slot::node(at));
    while cursor.next(program).is_some() {}
    cursor.at
}

/// Whether what looks like a slot is the offset of a list of names.
fn is_list(program: &[u8], instruction: Instruction, slot: usize) -> bool {
    instruction.op == op::DEPENDENT && Entry::read(program, slot.wrapping_sub(8)).is(Entry::LIST)
}

/// Which schemas inside a node a walk goes on to.
#[derive(Clone, Copy, PartialEq)]
enum Walk {
    /// Those that apply to the same value.
    InPlace,
    /// All of them, without looking at the comparing of unique items.
    Plain,
    /// All of them.
    Whole,
}

/// Records of a node's address and words on the stack, the last node first.
struct List {
    height: usize,
    count: usize,
    /// The end of the nodes; what comes after it are tables.
    end: usize,
    walk: Walk,
}

impl List {
    /// Whether the walk goes on to the schemas in an instruction of a node.
    fn goes_on(&self, program: &[u8], instruction: Instruction, number: usize, store: &Store<'_>) -> bool {
        let applies = applies(program, instruction, self.node(store, number));
        applies || self.walk != Walk::InPlace && !instruction.is_in_place()
    }

    fn at(&self, store: &Store<'_>, number: usize) -> usize {
        store.address(self.height) + 8 * number
    }

    fn node(&self, store: &Store<'_>, number: usize) -> usize {
        store.get(self.at(store, number)) as usize
    }

    fn words(&self, store: &Store<'_>, number: usize) -> u32 {
        store.get(self.at(store, number) + 4)
    }

    fn set_words(&self, store: &mut Store<'_>, number: usize, words: u32) {
        let at = self.at(store, number) + 4;
        store.set(at, words);
    }

    /// The number of a node.
    fn find(&self, store: &Store<'_>, node: usize) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.node(store, middle).cmp(&node) {
                core::cmp::Ordering::Equal => return Some(middle),
                core::cmp::Ordering::Greater => low = middle + 1,
                core::cmp::Ordering::Less => high = middle,
            }
        }
        None
    }
}

/// Words of nodes that the walk did not reach, or did not leave.
const NEW: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;
/// Words of a step of the walk: the node's number, where its next instruction is, how many are left, the slot
/// in it that comes next, and the most words so far.
const FRAME: usize = 5;
