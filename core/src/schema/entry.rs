//! The parts of a program that lists are made of: the members of an object and the values of `enum` and
//! `const`.
//!
//! How they are laid out is said in [`program`](super::program).

use super::program::{Instruction, LINEAR, Slot, word, words};
use super::source::Texts;
use crate::json::Str;
use core::cmp::Ordering;

/// The members of an object: an `OBJECT` instruction taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) at: usize,
    pub(super) count: u32,
}

impl Table {
    /// How far behind its address the entries begin.
    pub(super) const ENTRIES: usize = 8;

    /// The table of the `OBJECT` instruction at an address.
    #[inline]
    pub(super) fn read(program: &[u8], at: usize) -> Table {
        Table { at, count: word(program, at) >> 8 }
    }

    /// Bytes that an instruction with this many entries takes.
    pub(super) fn size(count: usize) -> usize {
        let index = if count > LINEAR as usize { count } else { 0 };
        4 * (2 + Table::masks(count) + index + 3 * count)
    }

    /// Words that hold one bit per entry.
    #[inline]
    pub(super) fn masks(count: usize) -> usize {
        count.div_ceil(32)
    }

    /// The slot for members that have no entry.
    pub(super) fn others(self, program: &[u8]) -> Slot {
        Slot(word(program, self.at + 4))
    }

    /// Bits of the entries that must be there.
    #[inline]
    pub(super) fn required(self, program: &[u8], mask: usize) -> u32 {
        word(program, self.masks_at() + 4 * mask)
    }

    /// The address of the first entry.
    #[inline]
    pub(super) fn entries(self) -> usize {
        self.at + Table::ENTRIES
    }

    /// The entry number at place `rank` of the sorted index.
    fn ranked(self, program: &[u8], rank: u32) -> u32 {
        word(program, self.masks_at() + 4 * (Table::masks(self.count as usize) + rank as usize))
    }

    #[inline]
    fn masks_at(self) -> usize {
        self.entries() + Entry::SIZE * self.count as usize
    }

    /// The number of the entry with this key; below `count`, whatever the program is.
    pub(super) fn find(self, program: &[u8], text: Texts<'_>, key: Str<'_>) -> Option<u32> {
        if self.count <= LINEAR {
            return (0..self.count).find(|&number| self.entry(program, number).name(text) == key);
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            let number = self.ranked(program, middle);
            if number >= self.count {
                return None;
            }
            match order(self.entry(program, number).name(text), key) {
                Ordering::Equal => return Some(number),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn entry(self, program: &[u8], number: u32) -> Entry {
        Entry::read(program, self.entries() + Entry::SIZE * number as usize)
    }
}

/// A member that a schema names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Where the key's opening quote stands in the schema's text.
    pub(super) key: u32,
    length: u32,
    pub(super) slot: Slot,
}

impl Entry {
    pub(super) const SIZE: usize = 12;
    /// The key has escapes.
    pub(super) const ESCAPED: u32 = 1 << 29;
    /// The name is required but not among `properties`.
    pub(super) const UNDECLARED: u32 = 1 << 30;
    /// In `DEPENDENT`: the third word is the offset of an array of names.
    pub(super) const LIST: u32 = 1 << 30;
    /// The member must be there.
    pub(super) const REQUIRED: u32 = 1 << 31;
    /// Lengths are below this.
    pub(super) const MAX_LENGTH: u32 = 1 << 29;

    #[inline]
    pub(super) fn read(program: &[u8], at: usize) -> Entry {
        let [key, length, slot] = words(program, at);
        Entry { key, length, slot: Slot(slot) }
    }

    /// Its words.
    #[inline(always)]
    pub(super) fn words(entry: &[u8; Entry::SIZE]) -> [u32; 3] {
        let chunks = entry.as_chunks().0.first_chunk();
        chunks.map_or([0; 3], |chunks: &[[u8; 4]; 3]| chunks.map(u32::from_ne_bytes))
    }

    /// The key with its quotes.
    #[inline]
    pub(super) fn quoted(self, texts: Texts<'_>) -> &str {
        texts.get(self.key as usize, (self.length & (Entry::MAX_LENGTH - 1)) as usize).unwrap_or_default()
    }

    /// As `quoted`, in bytes.
    #[inline(always)]
    pub(super) fn bytes(self, texts: Texts<'_>) -> Option<&[u8]> {
        texts.bytes(self.key as usize, (self.length & (Entry::MAX_LENGTH - 1)) as usize)
    }

    /// The key as a string.
    pub(super) fn name(self, text: Texts<'_>) -> Str<'_> {
        let quoted = self.quoted(text);
        Str::new(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default())
    }

    pub(super) fn is(self, flag: u32) -> bool {
        self.length & flag != 0
    }
}

/// A value of `ENUM` or `CONST`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    offset: u32,
    length: u32,
}

impl Candidate {
    /// The value with this number.
    #[inline]
    pub(super) fn read(program: &[u8], instruction: Instruction, number: u32) -> Candidate {
        let [offset, length] = words(program, instruction.at + 8 + 8 * number as usize);
        Candidate { offset, length }
    }

    /// The length of its source text.
    #[inline(always)]
    pub(super) fn length(self) -> usize {
        (self.length & ((1 << Form::SHIFT) - 1)) as usize
    }

    /// Its source text.
    #[inline]
    pub(super) fn raw(self, texts: Texts<'_>) -> &str {
        texts.get(self.offset as usize, self.length()).unwrap_or_default()
    }

    /// As `raw`, in bytes.
    #[inline(always)]
    pub(super) fn bytes(self, texts: Texts<'_>) -> Option<&[u8]> {
        texts.bytes(self.offset as usize, self.length())
    }

    /// As `raw`, in bytes, if it stands in the first text.
    #[inline(always)]
    pub(super) fn bytes_in(self, text: &str) -> Option<&[u8]> {
        let start = self.offset as usize;
        text.as_bytes().get(start..start.wrapping_add(self.length()))
    }

    /// Whether it is a string without escapes that takes one step to compare with.
    #[inline(always)]
    pub(super) fn is_short(self) -> bool {
        // The form stands above the length, and this one is 0.
        self.length < SHORT
    }

    #[inline]
    pub(super) fn is(self, form: Form) -> bool {
        self.length >> Form::SHIFT == form as u32
    }
}

/// Comparing with this many bytes takes another step.
const SHORT: u32 = 64;
const _: () = assert!(Form::Plain as u32 == 0);

/// What a candidate is, as far as comparing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A string without escapes.
    Plain,
    /// A string with escapes.
    Escaped,
    Number,
    /// `true`, `false` or `null`.
    Word,
    /// An array or an object.
    Container,
}

impl Form {
    /// Where the form stands in the length word.
    pub(super) const SHIFT: u32 = 29;
}

/// Orders strings by their decoded text.
pub(super) fn order(a: Str<'_>, b: Str<'_>) -> Ordering {
    match (a.plain(), b.plain()) {
        // The order of UTF-8 bytes is the order of characters.
        (Some(a), Some(b)) => a.cmp(b),
        _ => a.chars().cmp(b.chars()),
    }
}
