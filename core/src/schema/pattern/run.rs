//! Following a program over a text, all ways at once.
//!
//! A position of the text has a list of the instructions that a way has come to, each once: a bit for each
//! word of the program says which are in it. Instructions that take no character are followed until only
//! those are left that take one; these then take the next one, and make the list of the next position, in
//! the same memory. A counter keeps a bit for each number that a way has counted to; all of them go on by a
//! shift. A lookahead is followed from its position on with a list of its own, behind that of what is around
//! it.

use super::MatchError;
use super::code::{ANCHORED, COUNT, HEADER, Item, LOOK, NEGATED, UNBOUNDED, op, set_words, target};
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
    counters.fill(0);
    let mut chars = text.chars();
    let next = chars.next();
    let whole = Level {
        start: HEADER,
        words: ((head & !ANCHORED) as usize).saturating_sub(HEADER),
        base: 0,
        len: 0,
        at: 0,
        kept: 0,
        look: 0,
        before: None,
        next,
        chars,
    };
    let mut run = Run {
        program,
        sets,
        counters,
        level: whole.clone(),
        around: [const { None }; MAX_LOOKS],
        depth: 0,
        visits: steps.saturating_mul(VISITS),
    };
    let all = run.visits;
    let found = run.whole(head & ANCHORED != 0);
    *steps = steps.saturating_sub((all - run.visits).div_ceil(VISITS));
    found.ok_or(MatchError::StepLimit)
}

struct Run<'p, 'w, 't> {
    program: &'p [u8],
    sets: &'w mut [u32],
    counters: &'w mut [u32],
    level: Level<'t>,
    /// What goes on when the lookahead is done.
    around: [Option<Level<'t>>; MAX_LOOKS],
    depth: usize,
    visits: u32,
}

/// Code that is followed over the text.
#[derive(Clone)]
struct Level<'t> {
    /// Where the code begins, and its words.
    start: usize,
    words: usize,
    /// Where its list is in the work memory; its bits are after it.
    base: usize,
    /// Instructions in the list.
    len: usize,
    /// Of these the next one to be looked at.
    at: usize,
    /// Of those that were looked at, the ones that take a character.
    kept: usize,
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
                            self.enter(HEADER);
                        }
                        let level = &mut self.level;
                        (level.before, level.next) = (Some(c), level.chars.next());
                        if level.len > 0 {
                            continue;
                        }
                    }
                    false
                }
            };
            if !self.end_look(said) {
                return Some(said);
            }
        }
    }

    /// Begins with the code of a level.
    fn begin(&mut self, at: usize) -> Option<()> {
        self.clear()?;
        self.enter(at);
        Some(())
    }

    /// Follows what takes no character.
    fn close(&mut self) -> Option<Closed> {
        while self.level.at < self.level.len {
            let pc = self.listed(self.level.at);
            self.level.at += 1;
            self.visit(1)?;
            let head = word(self.program, 4 * pc);
            match (head & 0xFF) as u8 {
                op::MATCH => return Some(Closed::Matched),
                op::SPLIT => {
                    self.enter(pc + 1);
                    self.enter(target(pc, head));
                }
                op::JUMP => self.enter(target(pc, head)),
                op::START if self.level.before.is_none() => self.enter(pc + 1),
                op::END if self.level.next.is_none() => self.enter(pc + 1),
                op::BOUNDARY if self.boundary() => self.enter(pc + 1),
                op::INSIDE if !self.boundary() => self.enter(pc + 1),
                op::START | op::END | op::BOUNDARY | op::INSIDE => {}
                op::LOOK => {
                    if self.look(pc, head)? {
                        return Some(Closed::Look);
                    }
                }
                op::COUNT => {
                    if self.counted(pc, head)? {
                        self.enter(pc + COUNT + self.size(pc + COUNT));
                    }
                    self.keep(pc);
                }
                _ => self.keep(pc),
            }
        }
        self.level.len = self.level.kept;
        Some(Closed::Done)
    }

    /// Takes a character.
    fn step(&mut self, c: char) -> Option<()> {
        self.clear()?;
        let len = self.level.len;
        // Counters go on first: what comes to one now begins to count behind this character.
        for number in 0..if self.counters.is_empty() { 0 } else { len } {
            let pc = self.listed(number);
            let head = word(self.program, 4 * pc);
            if (head & 0xFF) as u8 == op::COUNT {
                let takes = self.takes(pc + COUNT, c)?;
                self.shift(pc, head, takes)?;
            }
        }
        (self.level.len, self.level.at, self.level.kept) = (0, 0, 0);
        for number in 0..len {
            let pc = self.listed(number);
            self.visit(1)?;
            let head = word(self.program, 4 * pc);
            if (head & 0xFF) as u8 == op::COUNT {
                if self.counts(pc, head)? && self.mark(pc) {
                    self.list(pc);
                }
            } else if self.takes(pc, c)? {
                self.enter(pc + self.size(pc));
            }
        }
        Some(())
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
    fn size(&self, pc: usize) -> usize {
        let head = word(self.program, 4 * pc);
        if (head & 0xFF) as u8 == op::CLASS { 1 + (head >> 8 & !NEGATED) as usize } else { 1 }
    }

    /// Whether a counter has come to where its repetition can end.
    fn counted(&mut self, pc: usize, head: u32) -> Option<bool> {
        let [least, _, at] = words(self.program, 4 * pc + 4);
        let bits = self.counter(at, head)?;
        let (first, bit) = (least as usize / 32, least % 32);
        let later = bits.get(first..).unwrap_or_default();
        Some(match later.split_first() {
            Some((first, rest)) => first >> bit != 0 || rest.iter().any(|&word| word != 0),
            None => false,
        })
    }

    /// Whether a counter counts anything.
    fn counts(&mut self, pc: usize, head: u32) -> Option<bool> {
        let at = word(self.program, 4 * pc + 12);
        Some(self.counter(at, head)?.iter().any(|&word| word != 0))
    }

    /// Counts one further, or forgets what was counted.
    fn shift(&mut self, pc: usize, head: u32, takes: bool) -> Option<()> {
        let [least, most, at] = words(self.program, 4 * pc + 4);
        let bits = self.counter(at, head)?;
        if !takes {
            bits.fill(0);
            return Some(());
        }
        let last = if most == UNBOUNDED { least } else { most };
        let stays = most == UNBOUNDED
            && bits.get(last as usize / 32).is_some_and(|&word| word >> (last % 32) & 1 == 1);
        let mut carry = 0;
        for word in &mut *bits {
            (*word, carry) = (*word << 1 | carry, *word >> 31);
        }
        if let Some(word) = bits.get_mut(last as usize / 32) {
            *word &= u32::MAX >> (31 - last % 32);
            *word |= u32::from(stays) << (last % 32);
        }
        Some(())
    }

    /// The bits of a counter.
    fn counter(&mut self, at: u32, head: u32) -> Option<&mut [u32]> {
        let words = head >> 8;
        self.visit(words / 8)?;
        let at = at as usize;
        Some(self.counters.get_mut(at..at.wrapping_add(words as usize)).unwrap_or_default())
    }

    /// Begins a lookahead. False if it is one too deep, which no program has.
    fn look(&mut self, pc: usize, head: u32) -> Option<bool> {
        let end = pc + (head >> 8 & !NEGATED) as usize;
        let start = pc + LOOK;
        let level = &self.level;
        let inner = Level {
            start,
            words: end.saturating_sub(start),
            base: level.base + set_words(level.words),
            len: 0,
            at: 0,
            kept: 0,
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
        if let Some(counters) = self.counters.get_mut(counters..after) {
            counters.fill(0);
        }
        self.begin(start)?;
        Some(true)
    }

    /// Goes back to what is around a lookahead with what it said. False if nothing is.
    fn end_look(&mut self, said: bool) -> bool {
        let Some(index) = self.depth.checked_sub(1) else { return false };
        let Some(around) = self.around.get_mut(index).and_then(Option::take) else { return false };
        self.depth = index;
        self.level = around;
        let pc = self.level.look;
        let head = word(self.program, 4 * pc);
        if said != (head >> 8 & NEGATED != 0) {
            self.enter(pc + (head >> 8 & !NEGATED) as usize);
        }
        true
    }

    /// Whether one of the characters beside the position is a word's and the other is not.
    fn boundary(&self) -> bool {
        self.level.before.is_some_and(is_word) != self.level.next.is_some_and(is_word)
    }

    /// Puts an instruction in the list, unless it is there.
    fn enter(&mut self, pc: usize) {
        if pc.wrapping_sub(self.level.start) >= self.level.words {
            return;
        }
        let head = word(self.program, 4 * pc);
        if (head & 0xFF) as u8 == op::COUNT {
            let at = word(self.program, 4 * pc + 12) as usize;
            if let Some(word) = self.counters.get_mut(at) {
                *word |= 1;
            }
        }
        if self.mark(pc) {
            self.list(pc);
        }
    }

    /// Whether an instruction is not in the list yet; then it counts as being there.
    fn mark(&mut self, pc: usize) -> bool {
        let number = pc.wrapping_sub(self.level.start);
        let bits = self.level.base + self.level.words;
        let Some(word) = self.sets.get_mut(bits + number / 32) else { return false };
        let bit = 1 << (number % 32);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn list(&mut self, pc: usize) {
        if let Some(place) = self.sets.get_mut(self.level.base + self.level.len) {
            *place = word_of(pc);
            self.level.len += 1;
        }
    }

    /// Keeps an instruction in the list for the next character.
    fn keep(&mut self, pc: usize) {
        if let Some(place) = self.sets.get_mut(self.level.base + self.level.kept) {
            *place = word_of(pc);
            self.level.kept += 1;
        }
    }

    fn listed(&self, number: usize) -> usize {
        self.sets.get(self.level.base + number).copied().unwrap_or(0) as usize
    }

    /// Forgets which instructions are in the list.
    fn clear(&mut self) -> Option<()> {
        let bits = self.level.base + self.level.words;
        let words = self.level.words.div_ceil(32);
        self.visit(word_of(words / 8))?;
        if let Some(bits) = self.sets.get_mut(bits..bits.wrapping_add(words)) {
            bits.fill(0);
        }
        Some(())
    }

    #[inline]
    fn visit(&mut self, visits: u32) -> Option<()> {
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
