//! Following a program over a text, all ways at once.
//!
//! At a position of the text, a set has the instructions that a way has come to: a bit for each word of the
//! program. A second set has those of them that were not looked at yet. The lowest one comes next, so that
//! ways which meet are followed together. Instructions that take no character are followed until only those
//! are left that take one; these then take the next one, and make the sets of the next position, in the same
//! memory. What is counted is in [`counters`](super::counters). A lookahead is followed from its position on
//! with sets of its own, behind those of what is around it.

use super::MatchError;
use super::code::{ANCHORED, COUNT, HEADER, Item, LOOK, MAX_LOOPS, NEGATED, op, set_words, target};
use super::counters::{Counters, Loop};
use super::parse::MAX_LOOKS;
use super::set::{Set, is_word};
use crate::json::{Chars, Str};
use crate::schema::program::{word, word_of, words};

/// Instructions that are looked at in one step.
pub const VISITS: u32 = 8;

/// Words of work memory that matching takes.
pub fn work_words(program: &[u8]) -> usize {
    let [sets, counters] = words(program, 4);
    (sets as usize).saturating_add(counters as usize)
}

/// Whether `text` has a match of the pattern anywhere. What is in `work` does not matter. Takes from `steps`
/// what it took.
pub fn is_match(
    program: &[u8],
    text: Str<'_>,
    work: &mut [u32],
    steps: &mut u32,
) -> Result<bool, MatchError> {
    let need = work_words(program);
    let [head, sets] = words(program, 0);
    let Some((sets, counters)) =
        work.get_mut(..need).and_then(|work| work.split_at_mut_checked(sets as usize))
    else {
        return Err(MatchError::NoWork { need });
    };
    let mut chars = text.chars();
    let next = chars.next();
    let length = ((head & !ANCHORED) as usize).min(program.len() / 4).saturating_sub(HEADER);
    let whole = Level {
        start: HEADER,
        words: length,
        size: length.div_ceil(32),
        base: 0,
        waiting: 0,
        alive: false,
        floor: 0,
        look: 0,
        before: None,
        next,
        chars,
    };
    let mut run = Run {
        program,
        sets,
        counters: Counters { words: counters },
        level: whole.clone(),
        around: [const { None }; MAX_LOOKS],
        depth: 0,
        loops: heapless::Vec::new(),
        visits: steps.saturating_mul(VISITS),
    };
    let all = run.visits;
    let found = run.whole(head & ANCHORED != 0);
    *steps = steps.saturating_sub((all - run.visits).div_ceil(VISITS));
    found.ok_or(MatchError::StepLimit)
}

pub(super) struct Run<'p, 'w, 't> {
    pub(super) program: &'p [u8],
    sets: &'w mut [u32],
    pub(super) counters: Counters<'w>,
    level: Level<'t>,
    /// What goes on when the lookahead is done.
    around: [Option<Level<'t>>; MAX_LOOKS],
    depth: usize,
    /// The loops that what is looked at stands in.
    pub(super) loops: heapless::Vec<Loop, MAX_LOOPS>,
    visits: u32,
}

/// Code that is followed over the text.
#[derive(Clone)]
struct Level<'t> {
    /// Where the code begins, and its words.
    start: usize,
    words: usize,
    /// The words of a set of its instructions.
    size: usize,
    /// Where its sets are in the work memory: what was come to, and what of that waits to be looked at.
    base: usize,
    /// The first word of the second set that is not empty.
    waiting: usize,
    /// Something was come to since the last character.
    alive: bool,
    /// Loops around the code.
    floor: usize,
    /// The lookahead that is being followed in between.
    look: usize,
    before: Option<char>,
    next: Option<char>,
    /// What comes after `next`.
    chars: Chars<'t>,
}

impl Run<'_, '_, '_> {
    /// Follows the whole program. `None` if the steps are used up.
    fn whole(&mut self, anchored: bool) -> Option<bool> {
        self.visit(word_of(self.counters.words.len() / 8))?;
        self.counters.clear(0, usize::MAX);
        self.counters.set_one();
        self.begin(HEADER)?;
        loop {
            // What this code says, when that is known.
            let said = match self.close()? {
                Closed::Matched => true,
                Closed::Look => continue,
                Closed::Done => {
                    let anywhere = self.depth == 0 && !anchored;
                    if let Some(c) = self.level.next {
                        self.step(c)?;
                        if anywhere {
                            self.come(HEADER)?;
                        }
                        let level = &mut self.level;
                        (level.before, level.next) = (Some(c), level.chars.next());
                        if level.alive {
                            continue;
                        }
                    }
                    false
                }
            };
            if !self.end_look(said)? {
                return Some(said);
            }
        }
    }

    /// Begins with the code of a level.
    fn begin(&mut self, at: usize) -> Option<()> {
        let size = set_words(self.level.words);
        self.visit(word_of(size / 8))?;
        if let Some(sets) = self.sets.get_mut(self.level.base..self.level.base + size) {
            sets.fill(0);
        }
        self.come(at)
    }

    /// Follows what takes no character.
    fn close(&mut self) -> Option<Closed> {
        while let Some(pc) = self.next_waiting()? {
            self.visit(1)?;
            while self.loops.len() > self.level.floor
                && self.loops.last().is_some_and(|around| around.end < pc)
            {
                self.loops.pop();
            }
            let head = word(self.program, 4 * pc);
            match (head & 0xFF) as u8 {
                op::MATCH => return Some(Closed::Matched),
                op::SPLIT => {
                    self.pass(pc, pc + 1)?;
                    self.pass(pc, target(pc, head))?;
                }
                op::JUMP => self.pass(pc, target(pc, head))?,
                op::START if self.level.before.is_none() => self.pass(pc, pc + 1)?,
                op::END if self.level.next.is_none() => self.pass(pc, pc + 1)?,
                op::BOUNDARY if self.boundary() => self.pass(pc, pc + 1)?,
                op::INSIDE if !self.boundary() => self.pass(pc, pc + 1)?,
                op::LOOK if self.look(pc, head)? => return Some(Closed::Look),
                op::COUNT => self.end_count(pc)?,
                op::LOOP => self.enter_loop(pc, head)?,
                op::AGAIN => self.again(pc)?,
                _ => {}
            }
        }
        Some(Closed::Done)
    }

    /// Takes a character. From the last instruction to the first: one that takes it is followed by the next,
    /// which was looked at before, so both have room in the same sets.
    fn step(&mut self, c: char) -> Option<()> {
        self.loops.truncate(self.level.floor);
        self.level.alive = false;
        let size = self.level.size;
        self.visit(word_of(size / 8))?;
        for index in (0..size).rev() {
            let Some(place) = self.sets.get_mut(self.level.base + index) else { break };
            let mut bits = core::mem::take(place);
            while bits != 0 {
                let bit = 31 - bits.leading_zeros();
                bits &= !(1 << bit);
                self.visit(1)?;
                self.take(self.level.start + 32 * index + bit as usize, c)?;
            }
        }
        while self.loops.len() > self.level.floor {
            self.leave_loop();
        }
        Some(())
    }

    /// Takes a character where an instruction was come to.
    fn take(&mut self, pc: usize, c: char) -> Option<()> {
        while self.loops.len() > self.level.floor && self.loops.last().is_some_and(|around| pc < around.start)
        {
            self.leave_loop();
        }
        let head = word(self.program, 4 * pc);
        match (head & 0xFF) as u8 {
            op::CHAR | op::ANY | op::SET | op::CLASS => {
                if self.takes(pc, c)? {
                    self.pass(pc, pc + self.size(pc))?;
                }
                self.forget(pc)
            }
            op::COUNT => {
                let takes = self.takes(pc + COUNT, c)?;
                self.count(pc, takes)
            }
            op::AGAIN => {
                self.reenter_loop(pc, head);
                self.forget(pc)
            }
            _ => self.forget(pc),
        }
    }

    /// Whether the instruction at an address takes a character.
    fn takes(&mut self, pc: usize, c: char) -> Option<bool> {
        let head = word(self.program, 4 * pc);
        let argument = head >> 8;
        Some(match (head & 0xFF) as u8 {
            op::CHAR => argument == u32::from(c),
            op::ANY => !matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'),
            op::SET => Set(argument & !NEGATED).has(c) != (argument & NEGATED != 0),
            op::CLASS => {
                let size = argument & !NEGATED;
                self.visit(size / 4)?;
                let end = pc + 1 + size as usize;
                let (mut at, mut found) = (pc + 1, false);
                while at < end && !found {
                    let (item, words) = Item::read(self.program, at);
                    at += words;
                    found = item.has(c);
                }
                found != (argument & NEGATED != 0)
            }
            _ => false,
        })
    }

    /// The words of an instruction that takes a character.
    pub(super) fn size(&self, pc: usize) -> usize {
        let head = word(self.program, 4 * pc);
        if (head & 0xFF) as u8 == op::CLASS { 1 + (head >> 8 & !NEGATED) as usize } else { 1 }
    }

    /// Begins a lookahead. False if it is one too deep, which no program has.
    fn look(&mut self, pc: usize, head: u32) -> Option<bool> {
        let end = pc + (head >> 8 & !NEGATED) as usize;
        let start = pc + LOOK;
        let level = &self.level;
        let inner = Level {
            start,
            words: end.saturating_sub(start),
            size: end.saturating_sub(start).div_ceil(32),
            base: level.base + set_words(level.words),
            waiting: 0,
            alive: false,
            floor: self.loops.len(),
            look: 0,
            before: level.before,
            next: level.next,
            chars: level.chars.clone(),
        };
        let Some(place) = self.around.get_mut(self.depth) else { return Some(false) };
        self.depth += 1;
        self.level.look = pc;
        *place = Some(core::mem::replace(&mut self.level, inner));
        // An earlier run may have ended in the middle.
        let counters = word(self.program, 4 * pc + 4) as usize;
        let after = (word(self.program, 4 * end.saturating_sub(1)) >> 8) as usize;
        self.visit(word_of(after.saturating_sub(counters) / 8))?;
        self.counters.clear(counters, after);
        self.begin(start)?;
        Some(true)
    }

    /// Goes back to what is around a lookahead with what it said. False if nothing is.
    fn end_look(&mut self, said: bool) -> Option<bool> {
        let Some(index) = self.depth.checked_sub(1) else { return Some(false) };
        let Some(around) = self.around.get_mut(index).and_then(Option::take) else { return Some(false) };
        self.depth = index;
        self.loops.truncate(self.level.floor);
        self.level = around;
        let pc = self.level.look;
        let head = word(self.program, 4 * pc);
        if said != (head >> 8 & NEGATED != 0) {
            self.pass(pc, pc + (head >> 8 & !NEGATED) as usize)?;
        }
        Some(true)
    }

    /// Whether one of the characters beside the position is a word's and the other is not.
    fn boundary(&self) -> bool {
        self.level.before.is_some_and(is_word) != self.level.next.is_some_and(is_word)
    }

    /// Comes to an instruction: then it waits to be looked at, unless it only waits for a character.
    #[inline]
    pub(super) fn note(&mut self, number: usize, op: u8) {
        self.level.alive = true;
        self.mark(number);
        if !matches!(op, op::CHAR | op::ANY | op::SET | op::CLASS) {
            self.wait(number);
        }
    }

    /// Lets an instruction wait to be looked at.
    pub(super) fn wait(&mut self, number: usize) {
        let set = self.level.base + self.level.size;
        if let Some(word) = self.sets.get_mut(set + number / 32) {
            *word |= 1 << (number % 32);
            self.level.waiting = self.level.waiting.min(number / 32);
        }
    }

    /// Puts an instruction in the set of those that were come to.
    #[inline]
    pub(super) fn mark(&mut self, number: usize) {
        if let Some(word) = self.sets.get_mut(self.level.base + number / 32) {
            *word |= 1 << (number % 32);
        }
    }

    /// Whether an instruction is in it.
    #[inline]
    pub(super) fn marked(&self, number: usize) -> bool {
        self.sets.get(self.level.base + number / 32).is_some_and(|word| word >> (number % 32) & 1 == 1)
    }

    /// The number of a word in the code of the level.
    #[inline]
    pub(super) fn number(&self, pc: usize) -> Option<usize> {
        pc.checked_sub(self.level.start).filter(|&number| number < self.level.words)
    }

    /// The loop around what is looked at.
    #[inline]
    pub(super) fn around(&self) -> Option<Loop> {
        self.loops.get(self.level.floor..)?.last().copied()
    }

    /// The lowest instruction that waits; then it does so no longer.
    fn next_waiting(&mut self) -> Option<Option<usize>> {
        let size = self.level.size;
        let first = self.level.waiting;
        while self.level.waiting < size {
            let index = self.level.waiting;
            let Some(word) = self.sets.get_mut(self.level.base + size + index) else { break };
            if *word != 0 {
                let bit = word.trailing_zeros() as usize;
                *word &= *word - 1;
                self.visit(word_of((index - first) / 8))?;
                return Some(Some(self.level.start + 32 * index + bit));
            }
            self.level.waiting += 1;
        }
        Some(None)
    }

    #[inline]
    pub(super) fn visit(&mut self, visits: u32) -> Option<()> {
        self.visits = self.visits.checked_sub(visits)?;
        Some(())
    }
}

/// Why following ended.
enum Closed {
    /// At the end of the code.
    Matched,
    /// A lookahead comes first.
    Look,
    /// Nothing is left that takes no character.
    Done,
}
