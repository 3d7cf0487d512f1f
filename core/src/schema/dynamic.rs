//! `$dynamicRef`: a reference whose target a document further out can replace.
//!
//! Where it leads to a `$dynamicAnchor`, the outermost document that is being applied and has an anchor of
//! this name decides. The program has a table for each name: for each document where it starts and ends, and
//! the slot of its anchor.

use super::compile::error_at;
use super::compiler::Compiler;
use super::error::{SchemaError, SchemaErrorKind};
use super::index::Index;
use super::machine::{Check, Level};
use super::pointer::Pointer;
use super::program::{Cursor, HEADER, Instruction, Node, Slot, op, word, word_of, words};
use super::refs::DYNAMIC;
use super::work;

impl Compiler<'_, '_> {
    /// Notes that a document is used, which starts at an address.
    pub(super) fn enter_text(&mut self, _: &Index, start: u32) {
        let (_, number, _) = self.texts.locate(start as usize);
        // Beyond the last bit, all are taken to be used.
        self.refs.entered |= 1u64.checked_shl(word_of(number)).unwrap_or(u64::MAX);
    }

    fn is_entered(&self, at: u32) -> bool {
        let (_, number, _) = self.texts.locate(at as usize);
        number == 0 || self.refs.entered.checked_shr(word_of(number)).is_none_or(|bits| bits & 1 == 1)
    }

    /// Compiles the anchors that can take the place of a reference's target. Whether there were any new ones.
    pub(super) fn dynamic_targets(&mut self, index: &Index, budget: &mut usize) -> Result<bool, SchemaError> {
        if !self.refs.dynamic {
            return Ok(false);
        }
        let mut more = false;
        for number in 0..index.anchors {
            let anchor = index.anchor(&self.store, number);
            if *budget == 0 {
                return Err(error_at(SchemaErrorKind::RefLimit, anchor.name as usize));
            }
            if !anchor.dynamic || anchor.slot != Slot::NOWHERE || !self.is_entered(anchor.start) {
                continue;
            }
            let front = self.store.front();
            let mut wanted = false;
            let mut found = None;
            let mut at = HEADER;
            while at < front && !wanted | found.is_none() && *budget > 0 {
                if Node::read(self.store.program(), at).offset == anchor.start {
                    found = found.or(Some(Slot::node(at)));
                }
                let mut cursor = Cursor::new(self.store.program(), Slot::node(at));
                while let Some(instruction) = cursor.next(self.store.program()) {
                    let dynamic = self.is_dynamic(instruction);
                    *budget = budget.saturating_sub(if dynamic { 16 } else { 1 });
                    wanted |= dynamic && self.has_name(instruction, index, number);
                }
                at = cursor.at;
            }
            if !wanted {
                continue;
            }
            let slot = match found {
                Some(slot) => slot,
                None => self.schema_at(Some(index), anchor.start as usize)?,
            };
            index.set_slot(&mut self.store, number, slot);
            if !self.store.fits() {
                return Ok(false);
            }
            more = true;
        }
        Ok(more)
    }

    /// Appends the tables and binds the references to them.
    pub(super) fn dynamic_tables(
        &mut self,
        index: &Index,
        end: usize,
        budget: &mut usize,
    ) -> Result<(), SchemaError> {
        for number in 0..index.anchors {
            let anchor = index.anchor(&self.store, number);
            if *budget == 0 {
                return Err(error_at(SchemaErrorKind::RefLimit, anchor.name as usize));
            }
            let name = self.anchor_name(&anchor);
            let before = (0..number).any(|other| {
                let other = index.anchor(&self.store, other);
                other.slot != Slot::NOWHERE && other.hash == anchor.hash && self.anchor_name(&other) == name
            });
            *budget = budget.saturating_sub(number);
            if anchor.slot == Slot::NOWHERE || before {
                continue;
            }
            let table = self.store.front();
            self.store.append(0);
            let mut rows = 0;
            for document in 0..index.documents {
                let place = index.document(&self.store, document);
                let following = index.document(&self.store, (document + 1).min(index.documents - 1));
                let twice = document + 1 < index.documents && following.start == place.start;
                if twice || !self.is_entered(place.start) {
                    continue;
                }
                let of_this =
                    (0..index.anchors).map(|number| index.anchor(&self.store, number)).find(|other| {
                        other.document == place.start
                            && other.slot != Slot::NOWHERE
                            && self.anchor_name(other) == name
                    });
                let slot = of_this.map_or(Slot::NOWHERE, |anchor| anchor.slot);
                for word in [place.start, place.end, slot.0] {
                    self.store.append(word);
                }
                rows += 1;
                *budget = budget.saturating_sub(index.anchors);
            }
            self.store.set(table, rows);
            let mut at = HEADER;
            while at < end && self.store.fits() {
                let mut cursor = Cursor::new(self.store.program(), Slot::node(at));
                while let Some(instruction) = cursor.next(self.store.program()) {
                    if self.is_dynamic(instruction) && self.has_name(instruction, index, number) {
                        self.store.set(instruction.at + 12, word_of(table));
                    }
                }
                at = cursor.at;
            }
        }
        Ok(())
    }

    fn is_dynamic(&self, instruction: Instruction) -> bool {
        instruction.op == op::DYNAMIC_REF && word(self.store.program(), instruction.at + 12) == DYNAMIC
    }

    /// Whether the reference names this anchor, in whatever document.
    fn has_name(&self, reference: Instruction, index: &Index, number: usize) -> bool {
        let text = self.texts.value(reference.operand(self.store.program()) as usize);
        let anchor = index.anchor(&self.store, number);
        let fragment = text.and_then(Pointer::of);
        let fragment = fragment.filter(|fragment| fragment.clone().hash() == anchor.hash);
        fragment.zip(self.anchor_name(&anchor)).is_some_and(|(fragment, name)| fragment.is(name))
    }
}

impl Check<'_, '_, '_> {
    /// The schema that a `DYNAMIC_REF` leads to now.
    pub(super) fn dynamic_target(&mut self, reference: Instruction) -> Option<Slot> {
        let [slot, table] = words(self.schema.program(), reference.at + 8);
        let mut target = Slot(slot);
        if table == 0 {
            return Some(target);
        }
        // From the innermost level to the outermost.
        let mut level = self.level;
        let mut top = self.top;
        let program = self.schema.program();
        // In a program that was not compiled the number can be any.
        let rows = word(program, table as usize).min(word_of(program.len() / ROW));
        loop {
            self.step(1 + rows / 8)?;
            if let Some(slot) = self.anchor_in(table as usize, rows, level.node) {
                target = slot;
            }
            top = top.saturating_sub(work::table(level.count as usize) as usize);
            let Some(start) = top.checked_sub(work::LEVEL as usize) else { return Some(target) };
            let Some(words) = self.work.get(start..).and_then(|words| words.first_chunk()) else {
                return Some(target);
            };
            level = Level::from_words(*words);
            top = start;
        }
    }

    /// The anchor in the document of a node, by a table of so many rows.
    fn anchor_in(&self, table: usize, rows: u32, node: u32) -> Option<Slot> {
        let program = self.schema.program();
        let at = Node::read(program, node as usize).offset;
        let row = |number: u32| -> [u32; 3] { words(program, table + 4 + ROW * number as usize) };
        // Documents that start later are further inside.
        let mut rows = (0..rows).rev().map(row);
        let [_, _, slot] = rows.find(|[start, end, _]| (*start..*end).contains(&at))?;
        (slot != Slot::NOWHERE.0).then_some(Slot(slot))
    }
}

/// Bytes of a row of a table.
const ROW: usize = 12;
