//! A pattern's program: words of 32 bits in native byte order, in a `&[u8]` of any alignment.
//!
//! ```text
//! header   [words of the program | ANCHORED] [words of work memory for sets] [words of it for counters]
//! instr    [opcode | argument << 8] and the words that its opcode says
//! ```
//!
//! | opcode | argument | words | meaning |
//! |---|---|---|---|
//! | `MATCH` | counters so far | | the end of the pattern or of a lookahead |
//! | `CHAR` | code point | | this one |
//! | `ANY` | | | any but a line terminator |
//! | `SET` | set, `NEGATED` | | one of a set |
//! | `CLASS` | words, `NEGATED` | items | one of a class |
//! | `COUNT` | | least, most, counter | repeats the one character that the instruction after it takes |
//! | `LOOP` | distance to its `AGAIN` | | repeats what is in between |
//! | `AGAIN` | distance to its `LOOP` | least, most, counters | |
//! | `SPLIT` | distance | | goes on behind it and there |
//! | `JUMP` | distance | | goes on there |
//! | `START` `END` `BOUNDARY` `INSIDE` | | | `^ $ \b \B` |
//! | `LOOK` | distance to where it goes on, `NEGATED` | counters before it | what follows, up to its `MATCH`, holds here |
//!
//! Distances are in words, signed, from the instruction itself: code can be shifted and copied. An item of a
//! class is a range of up to 512 code points in one word, a longer one in two, or a set.

use super::super::program::{word, word_of};
use super::counters;
use super::parse::MAX_LOOKS;
use super::set::Set;

/// The most words in a program.
pub const MAX_WORDS: usize = 1 << 14;

pub(super) mod op {
    pub(crate) const MATCH: u8 = 1;
    pub(crate) const CHAR: u8 = 2;
    pub(crate) const ANY: u8 = 3;
    pub(crate) const SET: u8 = 4;
    pub(crate) const CLASS: u8 = 5;
    pub(crate) const COUNT: u8 = 6;
    pub(crate) const SPLIT: u8 = 7;
    pub(crate) const JUMP: u8 = 8;
    pub(crate) const START: u8 = 9;
    pub(crate) const END: u8 = 10;
    pub(crate) const BOUNDARY: u8 = 11;
    pub(crate) const INSIDE: u8 = 12;
    pub(crate) const LOOK: u8 = 13;
    pub(crate) const LOOP: u8 = 14;
    pub(crate) const AGAIN: u8 = 15;
}

/// Words of the header.
pub(super) const HEADER: usize = 3;
/// In the header: a match can only begin at the start of the text.
pub(super) const ANCHORED: u32 = 1 << 31;
/// In an argument.
pub(super) const NEGATED: u32 = 1 << 23;
/// Words of `COUNT`.
pub(super) const COUNT: usize = 4;
/// Words of `AGAIN`.
pub(super) const AGAIN: usize = 4;
/// Words of `LOOK`.
pub(super) const LOOK: usize = 2;
/// The most loops inside one another: what is in them takes at most `MAX_COUNTS` bits, and each doubles them.
pub(super) const MAX_LOOPS: usize = 20;
/// The bound of a repetition that has none.
pub(super) const UNBOUNDED: u32 = u32::MAX;

/// A program that is being written. What does not fit is counted only, and then what is read back is wrong.
pub(super) struct Code<'m> {
    memory: &'m mut [u8],
    words: usize,
    peak: usize,
}

impl<'m> Code<'m> {
    pub(super) fn new(memory: &'m mut [u8]) -> Self {
        let mut code = Code { memory, words: 0, peak: 0 };
        code.grow(HEADER);
        code
    }

    /// Words so far: the address of the next one.
    pub(super) fn len(&self) -> usize {
        self.words
    }

    /// The most bytes that there were.
    pub(super) fn peak(&self) -> usize {
        4 * self.peak
    }

    /// Whether nothing was lost so far, and would be with this many words more.
    pub(super) fn fits(&self, more: usize) -> bool {
        4 * self.peak.max(self.words + more) <= self.memory.len()
    }

    pub(super) fn get(&self, at: usize) -> u32 {
        word(self.memory, 4 * at)
    }

    pub(super) fn set(&mut self, at: usize, word: u32) {
        if let Some(place) = self.memory.get_mut(4 * at..4 * at + 4) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
    }

    /// Makes room for words at the end.
    pub(super) fn grow(&mut self, words: usize) {
        self.words += words;
        self.peak = self.peak.max(self.words);
    }

    pub(super) fn push(&mut self, word: u32) {
        self.grow(1);
        self.set(self.words - 1, word);
    }

    /// Makes room for words in front of what is at `at`.
    pub(super) fn insert(&mut self, at: usize, words: usize) {
        let end = 4 * self.words;
        self.grow(words);
        if self.fits(0) {
            self.memory.copy_within(4 * at..end, 4 * (at + words));
        }
    }

    /// Appends a copy of what is at `at`.
    pub(super) fn copy(&mut self, at: usize, words: usize) {
        let end = 4 * self.words;
        self.grow(words);
        if self.fits(0) {
            self.memory.copy_within(4 * at..4 * (at + words), end);
        }
    }

    pub(super) fn truncate(&mut self, words: usize) {
        self.words = self.words.min(words);
    }

    /// Gives each counter its place, and says so to the lookaheads. Gives the words that all take.
    pub(super) fn place_counters(&mut self) -> u32 {
        // The loops and lookaheads around: where each ends, and how many bits what is in it takes. The parser
        // refuses more of either than there is room for.
        let mut around = heapless::Vec::<(usize, u32), { MAX_LOOPS + MAX_LOOKS }>::new();
        let (mut at, mut words) = (HEADER, counters::ONE_WORDS);
        while self.fits(0) && at < self.words {
            while around.last().is_some_and(|&(end, _)| end <= at) {
                around.pop();
            }
            let width = around.last().map_or(1, |&(_, width)| width);
            let head = self.get(at);
            let argument = head >> 8;
            at += match (head & 0xFF) as u8 {
                op::MATCH => {
                    self.set(at, instruction(op::MATCH, words));
                    1
                }
                op::CLASS => 1 + (argument & !NEGATED) as usize,
                op::COUNT => {
                    self.set(at + 3, words);
                    let rows = rows(self.get(at + 1), self.get(at + 2)).saturating_add(1);
                    words = words.saturating_add(width.saturating_mul(rows).div_ceil(32));
                    COUNT
                }
                op::LOOP => {
                    let end = target(at, head);
                    self.set(end + 3, words);
                    let bits = width.saturating_mul(rows(self.get(end + 1), self.get(end + 2)));
                    words = words.saturating_add(bits.div_ceil(32).saturating_mul(word_of(end - at)));
                    around.push((end, bits)).ok();
                    1
                }
                op::AGAIN => AGAIN,
                op::LOOK => {
                    self.set(at + 1, words);
                    around.push((at + (argument & !NEGATED) as usize, 1)).ok();
                    LOOK
                }
                _ => 1,
            };
        }
        if words == counters::ONE_WORDS { 0 } else { words }
    }
}

/// How far a repetition is counted.
pub(super) fn rows(least: u32, most: u32) -> u32 {
    if most == UNBOUNDED { least } else { most }
}

/// The first word of an instruction.
pub(super) fn instruction(op: u8, argument: u32) -> u32 {
    u32::from(op) | argument << 8
}

/// A distance as an argument.
pub(super) fn distance(from: usize, to: usize) -> u32 {
    word_of(to).wrapping_sub(word_of(from)) & 0xFF_FFFF
}

/// Where a distance leads.
pub(super) fn target(at: usize, head: u32) -> usize {
    // The shift keeps the sign.
    at.wrapping_add_signed((head.cast_signed() >> 8) as isize)
}

/// Words of work memory for the sets of this many words of program: two of them, with a bit each.
pub(super) fn set_words(words: usize) -> usize {
    2 * words.div_ceil(32)
}

/// An item of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Range(u32, u32),
    Set(Set, bool),
}

impl Item {
    /// Its words, and how many they are.
    pub(super) fn words(self) -> ([u32; 2], usize) {
        match self {
            Item::Range(low, high) if high - low < SHORT => ([low | (high - low) << 21, 0], 1),
            Item::Range(low, high) => ([LONG | low, high], 2),
            Item::Set(set, negated) => ([SET | set.0 | if negated { NEGATED } else { 0 }, 0], 1),
        }
    }

    /// The item at an address, and how many words it takes.
    #[inline]
    pub(super) fn read(program: &[u8], at: usize) -> (Item, usize) {
        let head = word(program, 4 * at);
        let low = head & 0x1F_FFFF;
        match head & (LONG | SET) {
            0 => (Item::Range(low, low + (head >> 21)), 1),
            LONG => (Item::Range(low, word(program, 4 * at + 4)), 2),
            _ => (Item::Set(Set(head & 0xFFFF), head & NEGATED != 0), 1),
        }
    }

    #[inline]
    pub(super) fn has(self, c: char) -> bool {
        match self {
            Item::Range(low, high) => (low..=high).contains(&u32::from(c)),
            Item::Set(set, negated) => set.has(c) != negated,
        }
    }
}

const SHORT: u32 = 1 << 9;
const LONG: u32 = 1 << 30;
const SET: u32 = 1 << 31;
