//! Which members an object may have, as messages list them.

use super::entry::{Entry, Table};
use super::path::Open;
use super::program::{Cursor, Node, Slot, kind, op, word};
use super::report::put_list;
use crate::sink::Sink;
use core::cell::Cell;

impl Open<'_> {
    /// Appends the names that the schemas of these slots declare, each once, and the patterns of further ones;
    /// `none` if there are neither. Gives how many were gone through.
    pub(super) fn put_allowed(
        &self,
        slots: impl Iterator<Item = Slot> + Clone,
        none: &str,
        sink: &mut Sink<'_>,
    ) -> usize {
        let (program, texts) = (self.program, self.schema);
        let gone_through = Cell::new(0);
        let go = |count: usize| gone_through.set(gone_through.get() + count);
        let tables = slots.clone().filter_map(|slot| table_of(program, slot));
        let declared = |table: Table, entry: Entry| {
            let found = table.find(program, texts, entry.name(texts));
            found.is_some_and(|number| !table.entry(program, number).is(Entry::UNDECLARED))
        };
        let mut names = tables
            .clone()
            .enumerate()
            .flat_map(|(before, table)| (0..table.count).map(move |number| (before, table, number)))
            .map(|(before, table, number)| (before, table.entry(program, number)))
            .filter(|(before, entry)| {
                go(1 + before);
                let again = || tables.clone().take(*before).any(|table| declared(table, *entry));
                !entry.is(Entry::UNDECLARED) && !again()
            })
            .map(|(_, entry)| entry.quoted(texts))
            .peekable();
        let mut patterns = slots
            .flat_map(|slot| {
                let mut cursor = Cursor::new(program, slot);
                go(usize::from(cursor.left()));
                core::iter::from_fn(move || cursor.next(program))
            })
            .filter(|instruction| instruction.op == op::PATTERN_PROPERTY)
            .map(|instruction| texts.quoted(word(program, instruction.at + 8) as usize))
            .peekable();
        let (some, more) = (names.peek().is_some(), patterns.peek().is_some());
        sink.put(if some || more { "; allowed: " } else { none });
        put_list(names, sink);
        if more {
            sink.put(if some { " and names" } else { "names" });
            sink.put(" that match ");
            put_list(patterns, sink);
        }
        gone_through.get()
    }
}

/// The table of the members that the schema of a slot names.
fn table_of(program: &[u8], slot: Slot) -> Option<Table> {
    let at = slot.as_node()?;
    let named = Node::read(program, at).kinds & kind::OBJECT != 0;
    named.then(|| Table::read(program, at + Node::SIZE))
}
