//! What refers to itself in place, without entering the value, would never end: it is refused. And lone
//! references are skipped.

use super::compile::error_at;
use super::compiler::Compiler;
use super::dynamic::{next_table, table_of, target_in};
use super::entry::Entry;
use super::error::{SchemaError, SchemaErrorKind};
use super::program::{Cursor, HEADER, Instruction, Node, Slot, kind, op, words};
use super::store::Store;

impl Compiler<'_, '_> {
    /// Words that `refuse_cycles` takes for each node that applies schemas in place.
    pub(super) const CYCLE_WORDS: usize = 2 + FRAME;

    /// Refuses schemas that lead back to themselves in place, and finds how many frames they take at most,
    /// one inside the other.
    ///
    /// A walk in depth over the nodes, up to the address `end`, that apply schemas in place. Their list and the walk are on the stack;
    /// the length that is known for a node says that it is done. A table of what a dynamic reference can lead
    /// to counts as a node.
    pub(super) fn refuse_cycles(&mut self, end: usize) -> Result<(), SchemaError> {
        let floor = self.store.height();
        let mut count = 0;
        let mut at = HEADER;
        while at < end {
            if Node::read(self.store.program(), at).kinds & kind::IN_PLACE != 0 {
                self.store.push(NEW);
                self.store.push(super::program::word_of(at));
                count += 1;
            }
            at = end_of_node(self.store.program(), at);
        }
        while let Some(table) = next_table(self.store.program(), end, at) {
            self.store.push(NEW);
            self.store.push(super::program::word_of(table));
            count += 1;
            at = table;
        }
        if self.store.fits() {
            let list = List { height: self.store.height(), count, end };
            for number in 0..count {
                if list.length(&self.store, number) == NEW {
                    self.walk_in_place(&list, number)?;
                    if !self.store.fits() {
                        break;
                    }
                }
            }
        }
        self.store.pop_to(floor);
        Ok(())
    }

    fn walk_in_place(&mut self, list: &List, first: usize) -> Result<(), SchemaError> {
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
                Some(instruction) if applies(program, instruction, list.node(&self.store, number)) => {
                    instruction.slots().nth(edge as usize)
                }
                _ => None,
            };
            if address.is_none() && instruction.is_none() {
                let node = Node::read(program, list.node(&self.store, number));
                let length = longest + u32::from(!table && node.kinds & kind::ALIAS == 0);
                list.set_length(&mut self.store, number, length);
                self.refs.chain = self.refs.chain.max(length);
                self.store.pop_to(self.store.height() - 4 * FRAME);
                if self.store.height() > floor {
                    self.note_length(length);
                }
                continue;
            }
            let Some(address) = address else {
                self.store.set(top + 4, super::program::word_of(cursor.at));
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
            match list.length(&self.store, target) {
                NEW => self.push_walk(list, target),
                OPEN => return Err(error_at(SchemaErrorKind::RefCycle, self.reference_in_walk(list, floor))),
                length => self.note_length(length),
            }
        }
        Ok(())
    }

    /// The node on top of the walk has one inside whose length is known.
    fn note_length(&mut self, length: u32) {
        let top = self.store.address(self.store.height());
        self.store.set(top + 16, self.store.get(top + 16).max(length));
    }

    fn push_walk(&mut self, list: &List, number: usize) {
        list.set_length(&mut self.store, number, OPEN);
        let node = list.node(&self.store, number);
        let cursor = if node >= list.end {
            Cursor::resume(node, 0)
        } else {
            Cursor::new(self.store.program(), Slot::node(node))
        };
        let frame = [number, cursor.at, usize::from(cursor.left()), 0, 0];
        frame.into_iter().rev().for_each(|word| self.store.push(super::program::word_of(word)));
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

/// Records of a node's address and length on the stack, the last node first.
struct List {
    height: usize,
    count: usize,
    /// The end of the nodes; what comes after it are tables.
    end: usize,
}

impl List {
    fn at(&self, store: &Store<'_>, number: usize) -> usize {
        store.address(self.height) + 8 * number
    }

    fn node(&self, store: &Store<'_>, number: usize) -> usize {
        store.get(self.at(store, number)) as usize
    }

    fn length(&self, store: &Store<'_>, number: usize) -> u32 {
        store.get(self.at(store, number) + 4)
    }

    fn set_length(&self, store: &mut Store<'_>, number: usize, length: u32) {
        let at = self.at(store, number) + 4;
        store.set(at, length);
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

/// Lengths of nodes that the walk did not reach, or did not leave.
const NEW: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;
/// Words of a step of the walk: the node's number, where its next instruction is, how many are left, the slot
/// in it that comes next, and the longest way so far.
const FRAME: usize = 5;
