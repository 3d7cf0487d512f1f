//! `$dynamicRef`: a reference whose target a document further out can replace.
//!
//! Where it leads to a `$dynamicAnchor`, the outermost document that is being applied and has an anchor of
//! this name decides. That of the schema itself is always the outermost: if it has one, the reference leads
//! there. For other names the program has a table each, and one of the documents:
//!
//! ```text
//! documents   [count] for each, in the order of their start: [start] [end] [number of the one around it, or NONE]
//! name        [address of `documents`] [count] for each anchor, in the order of documents: [start of its document] [slot]
//! ```

use super::compiler::Compiler;
use super::cycles::end_of_node;
use super::error::SchemaError;
use super::index::Index;
use super::level::Level;
use super::machine::Check;
use super::pointer::Pointer;
use super::program::{Cursor, HEADER, Instruction, Node, Slot, op, word, word_of, words};
use super::refs::DYNAMIC;
use super::store::partition;
use super::work;
use core::cmp::Ordering;

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
    pub(super) fn dynamic_targets(&mut self, index: &Index) -> Result<bool, SchemaError> {
        if !self.refs.dynamic {
            return Ok(false);
        }
        // Which names are wanted is noted at the first anchor of each.
        let front = self.store.front();
        self.for_each_dynamic(front, |compiler, reference| {
            if let Some(first) = compiler.first_of_name(index, reference) {
                index.set_table(&mut compiler.store, first, WANTED.0);
            }
        });
        let mut more = false;
        self.for_each_anchor(index, |compiler, first, number| {
            let anchor = index.anchor(&compiler.store, number);
            let wanted = index.anchor(&compiler.store, first).table != 0 && anchor.slot == Slot::NOWHERE;
            if wanted && anchor.dynamic && compiler.is_entered(anchor.start) {
                index.set_slot(&mut compiler.store, number, WANTED);
                more = true;
            }
        });
        if !more {
            return Ok(false);
        }
        // Those that were compiled. Anchors stand in the order of their start.
        let mut at = HEADER;
        while at < front {
            let offset = Node::read(self.store.program(), at).offset;
            let start = |compiler: &Self, number| index.anchor(&compiler.store, number).start;
            let mut number = partition(0, index.anchors, |number| start(self, number) < offset);
            while number < index.anchors && start(self, number) == offset {
                if index.anchor(&self.store, number).slot == WANTED {
                    index.set_slot(&mut self.store, number, Slot::node(at));
                }
                number += 1;
            }
            at = end_of_node(self.store.program(), at);
        }
        for number in 0..index.anchors {
            let anchor = index.anchor(&self.store, number);
            if anchor.slot == WANTED {
                let slot = self.schema_at(Some(index), anchor.start as usize)?;
                if !self.store.fits() {
                    return Ok(false);
                }
                index.set_slot(&mut self.store, number, slot);
            }
        }
        Ok(true)
    }

    /// Appends the tables and binds the references to them.
    pub(super) fn dynamic_tables(&mut self, index: &Index, end: usize) {
        let root = index.document(&self.store, 0).start;
        let documents = self.document_table(index);
        // The first anchor of the name whose table is the last, and where that is.
        let (mut last, mut table, mut count) = (usize::MAX, 0, 0);
        let mut document = u32::MAX;
        self.for_each_anchor(index, |compiler, first, number| {
            let anchor = index.anchor(&compiler.store, number);
            if anchor.slot == Slot::NOWHERE {
                return;
            }
            if first != last {
                (last, table, count, document) = (first, compiler.store.front(), 0, u32::MAX);
                index.set_table(&mut compiler.store, first, word_of(table));
                compiler.store.append(word_of(documents));
                compiler.store.append(0);
            }
            if anchor.document != document {
                document = anchor.document;
                compiler.store.append(document);
                compiler.store.append(anchor.slot.0);
                compiler.notes += u32::from(compiler.tracks);
                count += 1;
                compiler.store.set(table + 4, count);
            }
        });
        if self.store.fits() {
            self.for_each_dynamic(end, |compiler, reference| {
                let first = compiler.first_of_name(index, reference);
                let table = first.map_or(0, |first| index.anchor(&compiler.store, first).table);
                // The schema's own anchor comes first, if there is one.
                let [document, slot] = words(compiler.store.program(), (table as usize).saturating_add(8));
                let fixed = table == 0 || document == root;
                if table != 0 && document == root {
                    compiler.store.set(reference.at + 8, slot);
                }
                compiler.store.set(reference.at + 12, if fixed { 0 } else { table });
            });
        }
    }

    /// Appends the table of the documents that are used, and gives its address.
    fn document_table(&mut self, index: &Index) -> usize {
        let table = self.store.front();
        self.store.append(0);
        let mut rows = 0u32;
        for number in 0..index.documents {
            let document = index.document(&self.store, number);
            // A text that names itself is there twice.
            let twice = number + 1 < index.documents
                && index.document(&self.store, number + 1).start == document.start;
            if twice || !self.is_entered(document.start) {
                continue;
            }
            let mut around = rows.checked_sub(1).unwrap_or(NONE);
            while around != NONE && self.store.fits() {
                let [_, end, outer] = row(self.store.program(), table, around);
                if document.start < end {
                    break;
                }
                around = outer;
            }
            for word in [document.start, document.end, around] {
                self.store.append(word);
            }
            rows += 1;
        }
        self.store.set(table, rows);
        table
    }

    /// Calls with every reference in nodes before an address whose target can be replaced.
    fn for_each_dynamic(&mut self, end: usize, mut call: impl FnMut(&mut Self, Instruction)) {
        let mut at = HEADER;
        while at < end {
            let mut cursor = Cursor::new(self.store.program(), Slot::node(at));
            while let Some(instruction) = cursor.next(self.store.program()) {
                let dynamic = instruction.op == op::DYNAMIC_REF;
                if dynamic && word(self.store.program(), instruction.at + 12) == DYNAMIC {
                    call(self, instruction);
                }
            }
            at = cursor.at;
        }
    }

    /// Calls with every anchor, in the order of names, and the first one of its name.
    fn for_each_anchor(&mut self, index: &Index, mut call: impl FnMut(&mut Self, usize, usize)) {
        let mut first = None;
        for place in 0..index.anchors {
            let number = index.ordered_anchor(&self.store, place);
            let anchor = index.anchor(&self.store, number);
            let known = first.filter(|&first| {
                let known = index.anchor(&self.store, first);
                known.order_of_names(self.texts, &anchor) == Ordering::Equal
            });
            let of_name = known.unwrap_or(number);
            first = Some(of_name);
            call(self, of_name, number);
        }
    }

    /// The first anchor of the name that a reference has, in whatever document.
    fn first_of_name(&self, index: &Index, reference: Instruction) -> Option<usize> {
        let at = reference.operand(self.store.program()) as usize;
        let name = self.texts.value(at).and_then(Pointer::of)?;
        let place = index.place_of(self, &name, 0);
        let number = (place < index.anchors).then(|| index.ordered_anchor(&self.store, place))?;
        let anchor = index.anchor(&self.store, number);
        (anchor.order(self.texts, &name) == Ordering::Equal).then_some(number)
    }
}

/// The address of the table of a `DYNAMIC_REF`, or 0 if its target is fixed.
pub(super) fn table_of(program: &[u8], instruction: Instruction) -> usize {
    if instruction.op == op::DYNAMIC_REF { word(program, instruction.at + 12) as usize } else { 0 }
}

/// The address of the slot with this number in the table of a name.
pub(super) fn target_in(program: &[u8], table: usize, number: u32) -> Option<usize> {
    (number < word(program, table + 4)).then_some(table + 12 + 8 * number as usize)
}

/// The address of the table of a name that comes after another one, or after the nodes, which end at `end`.
pub(super) fn next_table(program: &[u8], end: usize, at: usize) -> Option<usize> {
    let next = if at == end {
        end + 4 + 12 * word(program, end) as usize
    } else {
        at + 8 + 8 * word(program, at + 4) as usize
    };
    (end < program.len() && next < program.len()).then_some(next)
}

/// A row of the table of documents.
fn row(program: &[u8], table: usize, number: u32) -> [u32; 3] {
    words(program, table.saturating_add(4).saturating_add((number as usize).saturating_mul(12)))
}

/// There is no document around.
const NONE: u32 = u32::MAX;
/// An anchor that is to be compiled: no slot is odd.
const WANTED: Slot = Slot(1);

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
        loop {
            self.step(1)?;
            if let Some(slot) = self.anchor_in(table as usize, level.node)? {
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

    /// The anchor in the document of a node, if there is one.
    fn anchor_in(&mut self, table: usize, node: u32) -> Option<Option<Slot>> {
        let program = self.schema.program();
        let at = Node::read(program, node as usize).offset;
        let [documents, count] = words(program, table);
        let documents = documents as usize;
        let rows = word(program, documents) as usize;
        let start = |number: usize| row(program, documents, word_of(number))[0];
        let innermost = partition(0, rows, |number| start(number) <= at).checked_sub(1);
        let Some(mut number) = innermost.map(word_of) else { return Some(None) };
        let document = loop {
            let [start, end, around] = row(program, documents, number);
            if at < end {
                break start;
            }
            if around >= number {
                return Some(None);
            }
            number = around;
            self.step(1)?;
        };
        let pair = |number: usize| -> [u32; 2] { words(program, table.saturating_add(8 + 8 * number)) };
        let place = partition(0, count as usize, |number| pair(number)[0] < document);
        let [found, slot] = pair(place);
        Some((place < count as usize && found == document).then_some(Slot(slot)))
    }
}
