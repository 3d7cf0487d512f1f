//! The shortest way through an instance that is what the schema expects.
//!
//! A token is not scanned and then looked up: the bytes that the schema has next are compared with those of
//! the text. Whatever is not as expected, here, is left to the general way in [`machine`](super::machine), so
//! nothing is decided twice.

use super::entry::{Candidate, Entry};
use super::machine::Check;
use super::program::{INLINE, Instruction, Node, Slot, kind, op, types, word, words};
use crate::json::blanks;

/// Where reading stopped.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// At a key.
    Key,
    /// After a key and its colon; the value is to be checked against this.
    Value(Slot),
    /// After a value.
    After,
}

impl<'i> Check<'_, 'i, '_> {
    /// From a key on, reads members as long as each is the one that the schema has next and its value is a
    /// scalar that needs no closer look.
    #[inline(never)]
    pub(super) fn members(&mut self, mut rest: &'i [u8]) -> (&'i [u8], Place) {
        self.level.items = 0;
        if self.level.count > 32 {
            return (rest, Place::Key);
        }
        let (program, text) = (self.schema.program(), self.schema.text().as_bytes());
        let (mut number, mut seen) = (self.level.next, self.level.seen);
        let start = self.level.entries as usize;
        let end = start.wrapping_add(Entry::SIZE * self.level.count as usize);
        let first = start.wrapping_add(Entry::SIZE * number as usize);
        let mut entries = program.get(first..end).map_or(&[][..], |entries| entries.as_chunks().0);
        let place = loop {
            let Some((entry, later)) = entries.split_first() else { break Place::Key };
            let [key, length, slot] = Entry::words(entry);
            // One byte more than the key: the colon.
            let length = ((length & (Entry::MAX_LENGTH - 1)) + 1) as usize;
            let Some(expected) = text.get(key as usize..(key as usize).wrapping_add(length)) else {
                break Place::Key;
            };
            let Some((found, after)) = rest.split_at_checked(expected.len()) else { break Place::Key };
            if !same(found, expected) || found.last() != Some(&b':') || seen >> (number & 31) & 1 != 0 {
                break Place::Key;
            }
            seen |= 1 << (number & 31);
            number += 1;
            entries = later;
            let value = blanks(after);
            match self.scalar(Slot(slot), value) {
                Some(after) => rest = after,
                None => {
                    rest = value;
                    break Place::Value(Slot(slot));
                }
            }
            match blanks(rest) {
                [b',', key @ ..] => rest = blanks(key),
                _ => break Place::After,
            }
        };
        (self.level.next, self.level.seen) = (number, seen);
        (rest, place)
    }

    /// What comes after a scalar that is plainly accepted.
    #[inline(always)]
    pub(super) fn scalar(&mut self, slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
        let (types, kinds) = match slot.as_immediate() {
            Some((types, _)) => (types, 0),
            None => {
                let [types, kinds, ..] = word(self.schema.program(), slot.0 as usize).to_le_bytes();
                (types, kinds)
            }
        };
        match rest {
            [b'"', content @ ..] if types & types::STRING != 0 => match kinds {
                0 => self.scan.string(content),
                kind::VALUE => self.expected(slot, rest),
                _ => None,
            },
            [b'1'..=b'9', ..] if types & types::INTEGER != 0 => {
                let (value, after) = short_integer(rest)?;
                (kinds == 0 || self.within(slot, kinds, value)).then_some(after)
            }
            [b't', b'r', b'u', b'e', after @ ..] | [b'f', b'a', b'l', b's', b'e', after @ ..] => {
                (types & types::BOOLEAN != 0 && kinds == 0).then_some(after)
            }
            _ => None,
        }
    }

    /// If the string that `rest` starts with is one of an `enum` beside which nothing is to be checked, and
    /// the steps suffice: what comes after it.
    #[inline(always)]
    fn expected(&mut self, slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
        let program = self.schema.program();
        let at = slot.0 as usize;
        let [head, _, first] = words(program, at);
        let instruction = Instruction { op: (first & 0xFF) as u8, argument: first >> 8, at: at + Node::SIZE };
        if head >> 16 != 1 || !matches!(instruction.op, op::ENUM | op::CONST) {
            return None;
        }
        for number in 0..instruction.argument {
            let candidate = Candidate::read(program, instruction, number);
            // The closing quote is compared too, and without escapes it is the first quote.
            if candidate.is_short()
                && let Some(bytes) = candidate.bytes_in(self.schema.text())
                && let Some(after) = strip(rest, bytes)
            {
                self.steps = self.steps.checked_sub(number + 1)?;
                return Some(after);
            }
        }
        None
    }

    /// Whether a small integer is within the bounds of a node, if these are small integers too and all there
    /// is.
    #[inline(always)]
    fn within(&self, slot: Slot, kinds: u8, value: i32) -> bool {
        let program = self.schema.program();
        let mut at = slot.0 as usize;
        let count = word(program, at) >> 16;
        at += Node::SIZE;
        if kinds != kind::NUMBER {
            return false;
        }
        for _ in 0..count {
            let [head, _, bound] = words(program, at);
            at = at.wrapping_add(12);
            if head & MASK != BOUND {
                return false;
            }
            let (bound, value) = (i64::from(bound.cast_signed()), i64::from(value));
            let exclusive = i64::from(head >> 1 & 1);
            let room = if head & 1 == 0 { value - bound } else { bound - value };
            if room < exclusive {
                return false;
            }
        }
        true
    }
}

/// What comes after `prefix`, which has at least two bytes.
#[inline(always)]
pub(super) fn strip<'i>(text: &'i [u8], prefix: &[u8]) -> Option<&'i [u8]> {
    let (start, after) = text.split_at_checked(prefix.len())?;
    same(start, prefix).then_some(after)
}

/// Whether texts of equal length are equal; fast for short ones.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() >= 8 {
        a.first_chunk::<8>() == b.first_chunk()
            && (a.len() <= 16 && a.last_chunk::<8>() == b.last_chunk() || a == b)
    } else if a.len() >= 4 {
        a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk()
    } else {
        a == b
    }
}

/// The integer of few digits that `text` starts with, the common case, and what comes after it.
#[inline(always)]
fn short_integer(text: &[u8]) -> Option<(i32, &[u8])> {
    let [first @ b'1'..=b'9', after @ ..] = text else { return None };
    let (mut value, mut after) = (i32::from(first - b'0'), after);
    while let [digit @ b'0'..=b'9', rest @ ..] = after {
        value = value.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'));
        after = rest;
    }
    let short = text.len() - after.len() <= 9;
    (short && !matches!(after, [b'.' | b'e' | b'E', ..])).then_some((value, after))
}

/// The first word of a bound whose value is inline, but for which bound it is: the lowest bit says whether it
/// is an upper one, the next whether it is exclusive.
const BOUND: u32 = op::MINIMUM as u32 | INLINE << 8;
const MASK: u32 = 0xFC | INLINE << 8;
const _: () = assert!(
    op::MINIMUM == 0x20
        && op::MAXIMUM == 0x21
        && op::EXCLUSIVE_MINIMUM == 0x22
        && op::EXCLUSIVE_MAXIMUM == 0x23
);
