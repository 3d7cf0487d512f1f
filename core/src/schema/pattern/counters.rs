//! Counting repetitions.
//!
//! Of one character, `COUNT` keeps for each number that a way has counted to a bit; all of them go on by a
//! shift. Of a group, every instruction in it keeps such bits: those numbers of repetitions with which a way
//! has come to it. Ways that differ in nothing else are followed together, and `AGAIN` shifts them. So a way
//! is an instruction and a number, there are as many bits as instructions that written out copies of the
//! group would have, and each of them changes once at a position of the text.
//!
//! In a loop inside another one a number is a pair, and so on. Bits of the inner number are rows, as wide as
//! what the outer one has: entering ORs the outer bits into the first row, to go on is a shift by a row, and
//! leaving ORs the rows from the least on.
//!
//! A group that can be nothing has no least number. Then of two ways the one that has counted less can do all
//! that the other can, and the bits of all numbers from its own on are set: so going round without taking a
//! character adds nothing.

use super::code::{AGAIN, COUNT, UNBOUNDED, op, rows, target};
use super::run::Run;
use crate::schema::program::{word, word_of, words};

/// Words at the beginning of the counters, of which the lowest bit is the number outside of all loops.
pub(super) const ONE_WORDS: u32 = 1;

/// A loop that is being followed.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    /// Where its code begins.
    pub(super) start: usize,
    /// Its `AGAIN`.
    pub(super) end: usize,
    /// The bits of the instruction at `start`.
    base: usize,
    /// The bits that each instruction in it has.
    bits: usize,
    /// Something in it was come to by the last character.
    alive: bool,
}

impl Loop {
    /// Where the bits of an instruction are.
    fn at(&self, pc: usize) -> usize {
        self.base.saturating_add(self.bits.div_ceil(32).saturating_mul(pc.saturating_sub(self.start)))
    }
}

impl Run<'_, '_, '_> {
    /// Comes to an instruction outside of all loops.
    pub(super) fn come(&mut self, pc: usize) -> Option<()> {
        let Some(number) = self.number(pc) else { return Some(()) };
        let op = (word(self.program, 4 * pc) & 0xFF) as u8;
        let new = if op == op::COUNT {
            let at = word(self.program, 4 * pc + 12) as usize;
            self.counters.or(at, 0, 0, 0, 1)
        } else {
            !self.marked(number)
        };
        if new {
            self.note(number, op);
        }
        Some(())
    }

    /// Lets all ways that have come to an instruction come to another one, of the same loop.
    #[inline]
    pub(super) fn pass(&mut self, from: usize, to: usize) -> Option<()> {
        match self.around() {
            Some(inside) => self.bring(inside.at(from), 0, inside.bits, to, Some(inside)),
            None => self.come(to),
        }
    }

    /// Lets ways come to an instruction: `width` bits that are somewhere among the counters.
    fn bring(
        &mut self,
        from: usize,
        bit: usize,
        width: usize,
        to: usize,
        around: Option<Loop>,
    ) -> Option<()> {
        if self.number(to).is_none() {
            return Some(());
        }
        let Some(place) = self.place(to, around) else { return self.come(to) };
        self.visit(word_of(width / 256))?;
        if self.counters.or(place, 0, from, bit, width) {
            self.note_in(to, around);
        }
        Some(())
    }

    fn note_in(&mut self, pc: usize, around: Option<Loop>) {
        if let Some(number) = self.number(pc) {
            self.note(number, (word(self.program, 4 * pc) & 0xFF) as u8);
        }
        if around.is_some()
            && let Some(inside) = self.loops.last_mut()
        {
            inside.alive = true;
        }
    }

    /// Where an instruction has its bits. Outside of a loop it has none, except a counter.
    fn place(&self, pc: usize, around: Option<Loop>) -> Option<usize> {
        if (word(self.program, 4 * pc) & 0xFF) as u8 == op::COUNT {
            return Some(word(self.program, 4 * pc + 12) as usize);
        }
        around.map(|inside| inside.at(pc))
    }

    /// Clears the bits of an instruction.
    #[inline]
    pub(super) fn forget(&mut self, pc: usize) -> Option<()> {
        if let Some(inside) = self.around() {
            let at = inside.at(pc);
            self.visit(word_of(inside.bits / 256))?;
            self.counters.clear(at, at.saturating_add(inside.bits.div_ceil(32)));
        }
        Some(())
    }

    /// Where the counter of a `COUNT` has come to where its repetition can end, goes on behind it.
    pub(super) fn end_count(&mut self, pc: usize) -> Option<()> {
        let [least, most, at] = words(self.program, 4 * pc + 4);
        let around = self.around();
        let to = pc + COUNT + self.size(pc + COUNT);
        let counted = least as usize..counts(least, most);
        self.leave(at as usize, counted, to, around)
    }

    /// Lets a `COUNT` count one further, or forget what was counted.
    pub(super) fn count(&mut self, pc: usize, takes: bool) -> Option<()> {
        let [least, most, at] = words(self.program, 4 * pc + 4);
        let around = self.around();
        let width = around.map_or(1, |inside| inside.bits);
        let rows = counts(least, most);
        let (at, bits) = (at as usize, width.saturating_mul(rows));
        self.visit(word_of(bits / 256))?;
        if takes {
            if most == UNBOUNDED {
                // The last row goes on in itself.
                let last = bits.saturating_sub(width);
                self.counters.or(at, last.saturating_sub(width), at, last, width);
            }
            if self.counters.shift(at, width, bits) {
                self.note_in(pc, around);
            }
        } else {
            self.counters.clear(at, at.saturating_add(bits.div_ceil(32)));
        }
        Some(())
    }

    /// Comes to a loop, or goes on in it.
    pub(super) fn enter_loop(&mut self, pc: usize, head: u32) -> Option<()> {
        let end = target(pc, head);
        let Some(number) = self.number(end) else { return Some(()) };
        let [least, most, base] = words(self.program, 4 * end + 4);
        let outer = self.around();
        let (from, width, entered) = match outer {
            Some(outer) => (outer.at(pc), outer.bits, true),
            None => (0, 1, self.number(pc).is_some_and(|number| self.marked(number))),
        };
        let rows = rows(least, most) as usize;
        let inside =
            Loop { start: pc + 1, end, base: base as usize, bits: width.saturating_mul(rows), alive: false };
        self.mark(number);
        self.follow(inside);
        if !entered {
            return Some(());
        }
        let place = self.place(inside.start, Some(inside)).unwrap_or(0);
        let rows = if least == 0 { rows } else { 1 };
        self.visit(word_of(rows / 8 + width / 256))?;
        let mut grown = false;
        for row in 0..rows {
            grown |= self.counters.or(place, row.saturating_mul(width), from, 0, width);
        }
        if grown {
            self.note_in(inside.start, Some(inside));
        }
        if least == 0 {
            self.bring(from, 0, width, end + AGAIN, outer)?;
        }
        Some(())
    }

    /// At the end of a loop: goes on in it and behind it.
    pub(super) fn again(&mut self, pc: usize) -> Option<()> {
        let [least, most] = words(self.program, 4 * pc + 4);
        let Some(inside) = self.around() else { return Some(()) };
        let rows = rows(least, most) as usize;
        let width = inside.bits / rows.max(1);
        let from = inside.at(pc);
        self.visit(word_of(inside.bits / 128))?;
        if let Some(place) = self.place(inside.start, Some(inside)) {
            let mut grown = self.counters.or(place, width, from, 0, inside.bits.saturating_sub(width));
            if most == UNBOUNDED {
                let last = inside.bits.saturating_sub(width);
                grown |= self.counters.or(place, last, from, last, width);
            }
            if grown {
                self.note_in(inside.start, Some(inside));
            }
        }
        let outer = self.loops.pop().and_then(|_| self.around());
        self.leave(from, (least as usize).saturating_sub(1)..rows, pc + AGAIN, outer)?;
        self.follow(inside);
        Some(())
    }

    /// Lets what some rows of bits have come to an instruction outside of the repetition.
    fn leave(
        &mut self,
        from: usize,
        rows: core::ops::Range<usize>,
        to: usize,
        around: Option<Loop>,
    ) -> Option<()> {
        let width = around.map_or(1, |inside| inside.bits);
        self.visit(word_of(width.saturating_mul(rows.len()) / 256))?;
        if width == 1 {
            return if self.counters.any(from, rows) { self.bring(0, 0, 1, to, around) } else { Some(()) };
        }
        let Some(place) = self.place(to, around) else { return Some(()) };
        let (mut bit, end) = (rows.start.saturating_mul(width), rows.end.saturating_mul(width));
        let (mut grown, mut pieces) = (false, 0);
        while bit < end {
            // As far as a row and a word go.
            let column = bit % width;
            let piece = (width - column).min(32 - bit % 32).min(end - bit);
            let empty = self.counters.empty(from.saturating_add(bit / 32), (end - bit).div_ceil(32));
            if empty > 0 {
                bit += 32 * empty - bit % 32;
                continue;
            }
            grown |= self.counters.or(place, column, from, bit, piece);
            bit += piece;
            pieces += 1;
        }
        self.visit(pieces / 8)?;
        if grown {
            self.note_in(to, around);
        }
        Some(())
    }

    /// Goes on inside of a loop. There is room for each: one repeats at least twice, so what compiles has fewer
    /// inside one another than `MAX_LOOPS`. In a program that no compilation made the answer is wrong.
    fn follow(&mut self, inside: Loop) {
        self.loops.push(inside).ok();
    }

    /// While a character is taken: comes from behind into a loop.
    pub(super) fn reenter_loop(&mut self, end: usize, head: u32) {
        let start = target(end, head).wrapping_add(1);
        let [least, most, base] = words(self.program, 4 * end + 4);
        let width = self.around().map_or(1, |outer| outer.bits);
        let bits = width.saturating_mul(rows(least, most) as usize);
        self.follow(Loop { start, end, base: base as usize, bits, alive: false });
    }

    /// While a character is taken: leaves a loop at its beginning. If something in it was come to, then it is
    /// to be entered again.
    pub(super) fn leave_loop(&mut self) {
        let Some(inside) = self.loops.pop().filter(|inside| inside.alive) else { return };
        if let Some(number) = self.number(inside.end) {
            self.mark(number);
        }
        if let Some(number) = self.number(inside.start.wrapping_sub(1)) {
            self.wait(number);
        }
        if self.around().is_some()
            && let Some(outer) = self.loops.last_mut()
        {
            outer.alive = true;
        }
    }
}

/// The numbers that a `COUNT` can have come to.
fn counts(least: u32, most: u32) -> usize {
    (rows(least, most) as usize).saturating_add(1)
}

/// The counters' words.
pub(super) struct Counters<'w> {
    pub(super) words: &'w mut [u32],
}

impl Counters<'_> {
    fn get(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// Sets what stands for the number outside of all loops.
    pub(super) fn set_one(&mut self) {
        if let Some(one) = self.words.first_mut() {
            *one = 1;
        }
    }

    pub(super) fn clear(&mut self, from: usize, to: usize) {
        let to = to.min(self.words.len());
        if let Some(words) = self.words.get_mut(from..to) {
            words.fill(0);
        }
    }

    /// ORs bits into others, and says whether that changed them.
    fn or(&mut self, to: usize, to_bit: usize, from: usize, from_bit: usize, count: usize) -> bool {
        let (mut done, mut changed) = (0, false);

        while done < count {
            let (source, place) = (from_bit.saturating_add(done), to_bit.saturating_add(done));
            let piece = (32 - source % 32).min(32 - place % 32).min(count - done);
            let bits = self.get(from.wrapping_add(source / 32)) >> (source % 32) & (u32::MAX >> (32 - piece));
            if let Some(word) = self.words.get_mut(to.wrapping_add(place / 32)) {
                let new = *word | bits << (place % 32);
                changed |= new != *word;
                *word = new;
            }
            done += piece;
        }
        changed
    }

    /// Whether one of some bits is set.
    fn any(&self, at: usize, bits: core::ops::Range<usize>) -> bool {
        let (first, last) = (bits.start / 32, bits.end.saturating_sub(1) / 32);
        (first..=last).any(|index| {
            let mut word = self.get(at.wrapping_add(index));
            if index == first {
                word &= u32::MAX << (bits.start % 32);
            }
            if index == last {
                word &= u32::MAX >> (31 - bits.end.saturating_sub(1) % 32);
            }
            word != 0
        })
    }

    /// How many words from here on are 0, of so many.
    fn empty(&self, at: usize, count: usize) -> usize {
        let words = self.words.get(at..).unwrap_or_default();
        words.iter().take(count).position(|&word| word != 0).unwrap_or(words.len().min(count).max(1))
    }

    /// Shifts `count` bits up by some, and says whether one is set then.
    fn shift(&mut self, at: usize, by: usize, count: usize) -> bool {
        let Some(words) = self.words.get_mut(at..at.saturating_add(count.div_ceil(32))) else { return false };
        let (far, near) = ((by / 32).min(words.len()), by % 32);
        if far > 0 {
            words.copy_within(..words.len() - far, far);
            words.iter_mut().take(far).for_each(|word| *word = 0);
        }
        let (mut any, mut carry) = (0, 0);
        for word in &mut *words {
            let bits = u64::from(*word) << near | carry;
            (*word, carry) = ((bits & 0xFFFF_FFFF) as u32, bits >> 32);
            any |= *word;
        }
        // Nothing goes beyond the last.
        if let Some(last) = words.last_mut() {
            *last &= u32::MAX >> (31 - count.wrapping_sub(1) % 32);
            return any != 0 && (*last != 0 || words.iter().any(|&word| word != 0));
        }
        false
    }
}
