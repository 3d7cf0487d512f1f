//! What is being read, and how what is around it is kept in the work memory.

use super::entry::Table;
use super::machine::Check;
use super::program::{Node, word_of};
use super::work;

/// A container that is being read, or a value to which further schemas apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) state: u32,
    /// The address of the node.
    pub(super) node: u32,
    /// Where the value starts in the instance.
    pub(super) start: u32,
    /// In an object the entry that is expected next, in an array the number of items so far, in place the
    /// address of the instruction that is being carried out.
    pub(super) next: u32,
    /// In an object the number of entries, in place what stands for the words of a frame.
    pub(super) count: u32,
    /// In an object the address of the entries, in an array that of the slots of the first items, in place
    /// the instructions from `next` on.
    pub(super) entries: u32,
    /// In an object bits of the entries that were there, or where in the work memory they are; in an array
    /// how many first items have a slot of their own; in place where in the work memory the frame is.
    pub(super) seen: u32,
    /// In an array the slot of the items, in place how many runs the instruction took. In an object, while a
    /// member is read that has no entry, one more than where its key stands.
    pub(super) items: u32,
}

/// Nothing: the one value of the text was read, or not begun.
pub(super) const OUTSIDE: u32 = 0;
pub(super) const OBJECT: u32 = 1;
pub(super) const ARRAY: u32 = 2;
pub(super) const IN_PLACE: u32 = 3;
/// An object whose members are chosen by patterns as well.
pub(super) const PATTERNED: u32 = 16;
/// A member of it, of which `next` is the number of instructions that were looked at, `entries` where its key
/// stands, `items` the slot that is left for the end, and `seen` what was found.
pub(super) const MEMBER: u32 = 17;

impl Level {
    pub(super) const OUTSIDE: Level =
        Level { state: OUTSIDE, node: 0, start: 0, next: 0, count: 0, entries: 0, seen: 0, items: 0 };

    /// The one that was put at a place of the work memory.
    pub(super) fn read(work: &[u32], at: usize) -> Option<Level> {
        Some(Level::from_words(*work.get(at..)?.first_chunk()?))
    }

    /// A level that was kept.
    #[inline(always)]
    pub(super) fn from_words(words: [u32; work::LEVEL as usize]) -> Level {
        let [state, node, start, next, count, entries, seen, items] = words;
        Level { state, node, start, next, count, entries, seen, items }
    }

    /// Whether every member of an object of few is there that must be.
    #[inline(always)]
    pub(super) fn is_complete(&self, program: &[u8]) -> bool {
        self.table().required(program, 0) & !self.seen == 0
    }

    /// The table of the object's node.
    pub(super) fn table(&self) -> Table {
        Table { at: self.node as usize + Node::SIZE, count: self.count }
    }
}

impl Check<'_, '_, '_> {
    /// Makes room for a level with this many entries, where the one around it stays. Gives its `seen`.
    #[inline(always)]
    pub(super) fn enter(&mut self, count: u32) -> Option<u32> {
        if self.level.state == OUTSIDE && count <= 32 { Some(0) } else { self.enter_inside(count) }
    }

    #[inline(never)]
    fn enter_inside(&mut self, count: u32) -> Option<u32> {
        let saved = if self.level.state == OUTSIDE { 0 } else { work::LEVEL as usize };
        let end = self.top + saved + work::table(count as usize) as usize;
        let limit = self.limit();
        let Some(place) = self.work.get_mut(self.top..end).filter(|_| end <= limit) else {
            return self.no_work(end);
        };
        let (level, bits) = place.split_at_mut(saved);
        let steps = word_of(bits.len() / 16);
        let old = self.level;
        let words = [old.state, old.node, old.start, old.next, old.count, old.entries, old.seen, old.items];
        level.iter_mut().zip(words).for_each(|(place, word)| *place = word);
        bits.fill(0);
        let seen = if bits.is_empty() { 0 } else { word_of(self.top + saved) };
        self.top = end;
        // They are gone through once more in the end.
        self.step(steps)?;
        Some(seen)
    }

    /// Goes back to the level around.
    #[inline(always)]
    pub(super) fn leave(&mut self) {
        if self.top == 0 {
            self.level.state = OUTSIDE;
        } else {
            self.leave_inside();
        }
    }

    #[inline(never)]
    fn leave_inside(&mut self) {
        self.top = self.top.saturating_sub(work::table(self.level.count as usize) as usize);
        let around = self.top.checked_sub(work::LEVEL as usize);
        self.level = match around.and_then(|start| self.work.get(start..)?.first_chunk()) {
            Some(words) => Level::from_words(*words),
            None => Level::OUTSIDE,
        };
        self.top = around.unwrap_or(0);
    }
}
