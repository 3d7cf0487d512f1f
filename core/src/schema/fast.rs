//! The shortest way through an instance that is what the schema expects.
//!
//! A token is not scanned and then looked up: the bytes that the schema has next are compared with those of
//! the text. Whatever is not as expected, here, is left to the general way in [`machine`](super::machine), so
//! nothing is decided twice.

use super::check::Schema;
use super::entry::{Candidate, Entry, Table};
use super::level::{Level, OBJECT};
use super::program::{INLINE, Instruction, LINEAR, Node, Slot, kind, op, types, word, word_of, words};
use super::scalar::small;
use crate::json::{Scan, ascii, blanks, plain, spaces};
use core::cmp::Ordering;

/// Where reading stopped.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// At a key.
    Key,
    /// Before a value, which is to be checked against this.
    Value(Slot),
    /// After a value.
    After,
}

/// What the quick way needs of a check.
pub(super) struct Quick<'a, 's> {
    pub(super) schema: &'a Schema<'s>,
    pub(super) scan: &'a mut Scan,
    pub(super) steps: &'a mut u32,
    /// The text is known to be UTF-8. If it is not, whatever is not ASCII is left to the general way.
    pub(super) utf8: bool,
}

/// Objects with more entries than this are read in the general way: bits that are shifted past the highest
/// are not meant to come back as the lowest.
pub(super) const QUICK: u32 = 31;

/// The level of the object that `text` starts with, and what comes after its brace, if the node at `slot`
/// wants an object, and nothing of it but its members.
#[inline(always)]
pub(super) fn object<'i>(program: &[u8], slot: Slot, text: &'i [u8]) -> Option<(Level, &'i [u8])> {
    let [b'{', after @ ..] = text else { return None };
    let node = slot.as_node()?;
    // `OBJECT` comes first in its node.
    let [head, _, first] = words(program, node);
    let [types, kinds, ..] = head.to_le_bytes();
    let others = kind::OBJECT | kind::VALUE | kind::PATTERNED | kind::IN_PLACE;
    let (count, entries) = (first >> 8, word_of(node.wrapping_add(Node::SIZE + Table::ENTRIES)));
    (types & types::OBJECT != 0 && kinds & others == kind::OBJECT && count <= QUICK).then_some((
        Level { state: OBJECT, node: slot.0, start: 0, next: 0, count, entries, seen: 0, items: 0 },
        after,
    ))
}

impl Quick<'_, '_> {
    /// From a key of an object of at most [`QUICK`] entries on, reads members as long as each is one that the
    /// schema has and its value is a scalar that needs no closer look.
    #[inline(never)]
    pub(super) fn members<'i>(&mut self, level: &mut Level, mut rest: &'i [u8]) -> (&'i [u8], Place) {
        level.items = 0;
        let (program, text) = (self.schema.program(), self.schema.text().as_bytes());
        // Bits of the entries that were not there yet, the bit of the one that is expected, and what it and
        // those after it are.
        let mut open = !level.seen & 1u32.wrapping_shl(level.count).wrapping_sub(1);
        let mut bit = 1u32.wrapping_shl(level.next);
        let mut entries = entries_from(program, level, level.next);
        let place = loop {
            let mut member = None;
            if let Some((entry, later)) = entries.split_first_chunk()
                && open & bit != 0
            {
                let [key, length, slot] = Entry::words(entry);
                entries = later;
                member = after_key(text, key, length, rest).map(|after| (Slot(slot), after));
            }
            let (slot, after) = match member {
                Some(member) => member,
                None => {
                    let Some((number, slot, after)) = self.other_member(level, open, rest) else {
                        break Place::Key;
                    };
                    bit = 1u32.wrapping_shl(number);
                    entries = entries_from(program, level, number + 1);
                    (slot, after)
                }
            };
            open &= !bit;
            bit = bit.wrapping_shl(1);
            let value = match after {
                [b'!'..=0xFF, ..] => after,
                _ => spaces(after),
            };
            match self.scalar_in(program, slot, value) {
                Some(after) => rest = after,
                None => {
                    rest = value;
                    break Place::Value(slot);
                }
            }
            match rest {
                [b',', key @ ..] => rest = blanks(key),
                _ => match blanks(rest) {
                    [b',', key @ ..] => rest = blanks(key),
                    _ => break Place::After,
                },
            }
        };
        level.next = bit.trailing_zeros();
        level.seen = !open;
        (rest, place)
    }

    /// For a key that is not the expected one, but byte for byte that of another entry whose bit is `open`:
    /// its number, its slot, and what comes after the colon. It takes a step.
    #[inline(never)]
    fn other_member<'i>(
        &mut self,
        level: &Level,
        open: u32,
        rest: &'i [u8],
    ) -> Option<(u32, Slot, &'i [u8])> {
        let (program, text) = (self.schema.program(), self.schema.text().as_bytes());
        if level.count > LINEAR {
            return None;
        }
        for number in 0..level.count {
            let Some(entry) = entries_from(program, level, number).first_chunk() else { break };
            let [key, length, slot] = Entry::words(entry);
            let length = (length & (Entry::MAX_LENGTH - 1)) as usize;
            let key = text.get(key as usize..(key as usize).wrapping_add(length))?;
            if let Some([b':', after @ ..]) = strip(rest, key)
                && open >> number & 1 != 0
            {
                *self.steps = self.steps.checked_sub(1)?;
                return Some((number, Slot(slot), after));
            }
        }
        None
    }

    /// What comes after a scalar that is plainly accepted.
    #[inline(always)]
    pub(super) fn scalar<'i>(&mut self, slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
        self.scalar_in(self.schema.program(), slot, rest)
    }

    #[inline(always)]
    fn scalar_in<'i>(&mut self, program: &[u8], slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
        let (types, kinds) = match slot.as_immediate() {
            Some((types, _)) => (types, 0),
            None => {
                let [types, kinds, ..] = word(program, slot.0 as usize).to_le_bytes();
                (types, kinds)
            }
        };
        match rest {
            [b'"', content @ ..] if types & types::STRING != 0 => match kinds {
                0 => match ascii(content) {
                    [b'"', after @ ..] => Some(after),
                    found => self.string_on(found),
                },
                kind::VALUE => self.expected(slot, rest),
                _ => None,
            },
            [b'1'..=b'9', ..] if types & types::NUMBER == types::INTEGER => {
                integer_within(program, slot, kinds, rest)
            }
            [b'0'..=b'9' | b'-', ..] if types & types::INTEGER != 0 => {
                number_within(program, slot, types, kinds, rest)
            }
            [b'n', b'u', b'l', b'l', after @ ..] => (types & types::NULL != 0 && kinds == 0).then_some(after),
            [b't', b'r', b'u', b'e', after @ ..] | [b'f', b'a', b'l', b's', b'e', after @ ..] => {
                (types & types::BOOLEAN != 0 && kinds == 0).then_some(after)
            }
            _ => None,
        }
    }

    /// Reads a string on from what is not plain ASCII.
    #[inline(never)]
    fn string_on<'i>(&mut self, found: &'i [u8]) -> Option<&'i [u8]> {
        match if self.utf8 { plain(found) } else { found } {
            [b'"', after @ ..] => Some(after),
            [0x80..=0xFF, ..] => None,
            found if self.utf8 => self.scan.string_slow(found),
            _ => None,
        }
    }

    /// If the string that `rest` starts with is one of an `enum` beside which nothing is to be checked, and
    /// the steps suffice: what comes after it.
    #[inline(never)]
    fn expected<'i>(&mut self, slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
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
                *self.steps = self.steps.checked_sub(number + 1)?;
                return Some(after);
            }
        }
        None
    }
}

/// What comes after the small integer that `rest` starts with, if it is within the bounds of a node, and
/// these are small integers too and all there is.
#[inline(never)]
fn integer_within<'i>(program: &[u8], slot: Slot, kinds: u8, rest: &'i [u8]) -> Option<&'i [u8]> {
    let (value, after) = short_integer(rest)?;
    if kinds == 0 {
        return Some(after);
    }
    if kinds != kind::NUMBER {
        return None;
    }
    let value = i64::from(value);
    let within = bounds(program, slot, |bound, upper, exclusive| {
        let (bound, exclusive) = (i64::from(bound), i64::from(exclusive));
        let room = if upper { bound - value } else { value - bound };
        room >= exclusive
    });
    within.then_some(after)
}

/// As [`integer_within`], of numbers that may be negative or have a fraction.
#[inline(never)]
fn number_within<'i>(program: &[u8], slot: Slot, types: u8, kinds: u8, rest: &'i [u8]) -> Option<&'i [u8]> {
    let (number, after) = small(rest)?;
    if number.fraction && types & types::FRACTION == 0 || kinds & !kind::NUMBER != 0 {
        return None;
    }
    let within = kinds == 0
        || bounds(program, slot, |bound, upper, exclusive| match number.compare(bound) {
            Ordering::Equal => !exclusive,
            Ordering::Less => upper,
            Ordering::Greater => !upper,
        });
    within.then_some(after)
}

/// Whether all that a node says are bounds that are small integers, and each is as it should be: told the
/// bound, whether it is an upper one, and whether it is exclusive.
#[inline(always)]
fn bounds(program: &[u8], slot: Slot, fits: impl Fn(i32, bool, bool) -> bool) -> bool {
    let mut at = slot.0 as usize;
    let count = word(program, at) >> 16;
    at += Node::SIZE;
    for _ in 0..count {
        let [head, _, bound] = words(program, at);
        at = at.wrapping_add(12);
        if head & MASK != BOUND || !fits(bound.cast_signed(), head & 1 != 0, head & 2 != 0) {
            return false;
        }
    }
    true
}

/// The entries of an object from this one on, with whatever comes after them in the program.
#[inline(always)]
fn entries_from<'p>(program: &'p [u8], level: &Level, number: u32) -> &'p [u8] {
    let at = (level.entries as usize).wrapping_add(Entry::SIZE * number as usize);
    program.get(at..).unwrap_or_default()
}

/// What comes after the key at `key`, of this many bytes, and its colon, where both texts have it so.
#[inline(always)]
fn after_key<'i>(text: &[u8], key: u32, length: u32, rest: &'i [u8]) -> Option<&'i [u8]> {
    // One byte more than the key: the colon.
    let length = ((length & (Entry::MAX_LENGTH - 1)) + 1) as usize;
    let expected = text.get(key as usize..(key as usize).wrapping_add(length))?;
    let (found, after) = rest.split_at_checked(length)?;
    (same(found, expected) && found.last() == Some(&b':')).then_some(after)
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
    match (a.last_chunk::<8>(), b.last_chunk()) {
        (Some(end), Some(other)) => {
            let (words, others) = (a.as_chunks::<8>().0, b.as_chunks().0);
            end == other && words.iter().zip(others).all(|(word, other)| word == other)
        }
        _ => match (a.last_chunk::<4>(), b.last_chunk()) {
            (Some(end), Some(other)) => end == other && a.first_chunk::<4>() == b.first_chunk(),
            _ => a.iter().zip(b).all(|(byte, other)| byte == other),
        },
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
