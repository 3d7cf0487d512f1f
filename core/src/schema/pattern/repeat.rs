//! Quantifiers: what a `SPLIT` can do, copies where they are short, else counters.

use super::code::{AGAIN, COUNT, UNBOUNDED, distance, instruction, op, rows};
use super::parse::{Atom, Parser, error};
use super::{PatternError, PatternErrorKind};
use crate::json::Chars;
use crate::schema::program::word_of;

/// The most repetitions that are counted.
pub const MAX_REPEAT: u32 = 65_535;
/// The most counts in a pattern. One character that is repeated has as many as it is repeated, and one more;
/// a group, as many as it is repeated times its words. Where repetitions are inside one another, those of the
/// inner one are multiplied. Each takes a bit of work memory.
pub const MAX_COUNTS: u32 = 1 << 19;

impl Parser<'_, '_> {
    /// What comes after `{`, if it is a quantifier; without a least it is a wrong one.
    pub(super) fn bounds(&mut self) -> Option<(Option<u32>, u32)> {
        let mut ahead = self.rest.clone();
        let least = number(&mut ahead);
        let most = match ahead.next()? {
            '}' => least?,
            ',' => match number(&mut ahead) {
                Some(most) => (ahead.next()? == '}').then_some(most)?,
                None => (ahead.next()? == '}' && least.is_some()).then_some(UNBOUNDED)?,
            },
            _ => return None,
        };
        self.rest = ahead;
        Some((least, most))
    }

    /// Repeats what was just read.
    pub(super) fn repeat(&mut self, least: u32, most: u32, at: usize) -> Result<(), PatternError> {
        self.eat('?');
        let Some(Atom { start, offset, single, nullable, counts }) = self.atom.take() else {
            return Err(error(PatternErrorKind::NothingToRepeat, at));
        };
        if most < least {
            return Err(error(PatternErrorKind::BadQuantifier, at));
        }
        // What may not be there cannot hold a match to the start; what is there twice could not match.
        let group = self.group();
        if usize::from(group.alternative) == start && least == 0 {
            group.anchored.1 = false;
        }
        group.nullable.1 &= nullable || least == 0;
        // If it can be nothing at all, then it can be there less often.
        let least = match most {
            _ if !nullable || least < 2 => least,
            UNBOUNDED => 1,
            _ => 0,
        };
        let size = self.code.len() - start;
        match (least, most) {
            (1, 1) => {}
            (_, 0) => self.code.truncate(start),
            _ if size == 0 => {}
            (0, UNBOUNDED) => {
                self.optional(start, 1);
                self.code.push(instruction(op::JUMP, distance(start + size + 1, start)));
            }
            (1, UNBOUNDED) => self.again(size),
            (0, 1) => self.optional(start, 0),
            _ => {
                let copies = rows(least, most);
                let words = (copies as usize).saturating_mul(size + usize::from(least < most));
                let more = if single { COUNT } else { 1 + AGAIN };
                // Copies are quicker, as long as they take no more than 8 bytes for each of the pattern.
                let short = (size + more).max(2 * (self.offset() - offset));
                let (times, more_counts) = if words <= short {
                    self.copies(start, least, most);
                    (copies, 0)
                } else if copies > MAX_REPEAT {
                    self.defer(PatternErrorKind::TooLarge, at);
                    (0, 0)
                } else if single {
                    self.count(start, least, most);
                    (1, copies + 1)
                } else {
                    self.count_group(start, least, most);
                    (copies, copies.saturating_mul(word_of(size)))
                };
                let counted = counts.saturating_mul(times).saturating_add(more_counts);
                let group = self.group();
                group.counts = (group.counts - counts).saturating_add(counted);
                if group.counts > MAX_COUNTS {
                    self.defer(PatternErrorKind::TooLarge, at);
                }
            }
        }
        Ok(())
    }

    /// Counts how often one character is repeated.
    fn count(&mut self, start: usize, least: u32, most: u32) {
        self.code.insert(start, COUNT);
        let head = [instruction(op::COUNT, 0), least.max(1), most, 0];
        head.into_iter().zip(start..).for_each(|(word, at)| self.code.set(at, word));
        if least == 0 {
            self.optional(start, 0);
        }
    }

    /// Counts how often a group is repeated.
    fn count_group(&mut self, start: usize, least: u32, most: u32) {
        self.code.insert(start, 1);
        let end = self.code.len();
        self.code.set(start, instruction(op::LOOP, distance(start, end)));
        let again = [instruction(op::AGAIN, distance(end, start)), least, most, 0];
        again.into_iter().for_each(|word| self.code.push(word));
    }

    /// Repeats code by copies of it.
    fn copies(&mut self, start: usize, least: u32, most: u32) {
        let size = self.code.len() - start;
        let optional = if most == UNBOUNDED { 0 } else { most - least };
        let (mut fixed, mut more) = (least, optional);
        let mut from = start;
        if fixed == 0 {
            self.optional(start, 0);
            from = start + 1;
            more -= 1;
        } else {
            fixed -= 1;
        }
        let words = fixed as usize * size + more as usize * (size + 1);
        if !self.code.fits(words) {
            self.code.grow(words);
        } else {
            (0..fixed).for_each(|_| self.code.copy(from, size));
            let end = self.code.len() + more as usize * (size + 1);
            for _ in 0..more {
                let here = self.code.len();
                self.code.push(instruction(op::SPLIT, distance(here, end)));
                self.code.copy(from, size);
            }
        }
        if most == UNBOUNDED {
            self.again(size);
        } else if least == 0 {
            let end = self.code.len();
            self.code.set(start, instruction(op::SPLIT, distance(start, end)));
        }
    }

    /// Puts a `SPLIT` in front of the code at `start`, to behind it and as many words more.
    fn optional(&mut self, start: usize, more: usize) {
        self.code.insert(start, 1);
        let end = self.code.len() + more;
        self.code.set(start, instruction(op::SPLIT, distance(start, end)));
    }

    /// Appends a `SPLIT` back to the last words.
    fn again(&mut self, words: usize) {
        let here = self.code.len();
        self.code.push(instruction(op::SPLIT, distance(here, here - words)));
    }
}

/// The number that comes next; a huge one is some large one.
fn number(rest: &mut Chars<'_>) -> Option<u32> {
    let mut value = None;
    loop {
        let mut ahead = rest.clone();
        let Some(digit) = ahead.next().and_then(|c| c.to_digit(10)) else { return value };
        *rest = ahead;
        value = Some(value.unwrap_or(0u32).saturating_mul(10).saturating_add(digit).min(UNBOUNDED - 1));
    }
}
