//! Keywords about a container as a whole: how many members, their names, and whether items are equal.

use super::error::Keyword;
use super::machine::Check;
use super::place::{Act, Frame};
use super::program::{Instruction, Slot, op, word_of};
use super::report::Problem;
use super::source::{item_at, member_at, offset_in};
use super::work;
use crate::json::{Event, MAX_DEPTH, Options, Reader, Str, Surrogates, Value};

impl<'i> Check<'_, 'i, '_> {
    /// Whether the object that starts at a position has a member with this key.
    pub(super) fn has_member(&mut self, start: usize, wanted: Str<'_>) -> Option<bool> {
        let mut at = start + 1;
        while let Some((key, _, end)) = member_at(self.text, at) {
            self.step(1 + word_of((end - at) / 64))?;
            if key == wanted {
                return Some(true);
            }
            at = end;
        }
        Some(false)
    }

    /// `minProperties` and `maxProperties`.
    pub(super) fn count_members(&mut self, instruction: Instruction) -> Option<()> {
        let mut at = self.level.start as usize + 1;
        let mut count = 0;
        while let Some((_, _, end)) = member_at(self.text, at) {
            self.step(1 + word_of((end - at) / 64))?;
            count += 1;
            at = end;
        }
        let bound = instruction.operand(self.schema.program());
        let keyword = match instruction.op {
            op::MIN_PROPERTIES if count < bound => Keyword::MinProperties,
            op::MAX_PROPERTIES if count > bound => Keyword::MaxProperties,
            _ => return Some(()),
        };
        self.problem(Problem::Count(keyword, bound, count as usize));
        Some(())
    }

    /// `propertyNames`.
    pub(super) fn property_names(&mut self, frame: &Frame, instruction: Instruction) -> Option<Act<'i>> {
        let mut at = self.level.start as usize + 1;
        if self.level.items > 0 {
            // The run before was over a key.
            at = member_at(self.text, frame.position as usize)?.2;
        }
        let Some((key, _, _)) = member_at(self.text, at) else { return Some(Act::Finished) };
        let at = offset_in(self.text, key.raw()).saturating_sub(1);
        let key = self.text.as_bytes().get(at..).unwrap_or_default();
        Some(self.look(key, Slot(instruction.operand(self.schema.program()))))
    }

    /// `uniqueItems`. Where the work memory has room, each item gets a fingerprint there, and only items with
    /// the same one are compared.
    pub(super) fn unique(&mut self) -> Option<()> {
        let start = self.level.start as usize + 1;
        let (mut at, mut count) = (start, 0);
        while let Some((item, end)) = item_at(self.text, at) {
            self.step(1 + word_of(item.raw().len() / 8))?;
            (at, count) = (end, count + 1);
        }
        let floor = self.top;
        let room = work::equality(usize::from(MAX_DEPTH)) as usize;
        let printed = self.limit().saturating_sub(floor) >= count + room;
        if printed {
            at = start;
            for number in 0..count {
                let Some((item, end)) = item_at(self.text, at) else { break };
                self.step(word_of(item.raw().len() / 8))?;
                if let Some(place) = self.work.get_mut(floor + number) {
                    *place = fingerprint(item);
                }
                at = end;
            }
            self.top += count;
        }
        let twice = self.find_equal(start, floor, count, printed)?;
        self.top = floor;
        if let Some((first, second)) = twice {
            self.problem(Problem::Equal(first, second));
        }
        Some(())
    }

    /// The numbers of two items that are equal.
    fn find_equal(
        &mut self,
        start: usize,
        floor: usize,
        count: usize,
        printed: bool,
    ) -> Option<Option<(usize, usize)>> {
        let mut at = start;
        for first in 0..count {
            let Some((item, end)) = item_at(self.text, at) else { break };
            at = end;
            self.step(1 + word_of((count - first) / 64))?;
            let prints = self.work.get(floor..floor + count).filter(|_| printed).unwrap_or_default();
            let print = prints.get(first).copied();
            let mut later = prints.get(first + 1..).unwrap_or_default().iter();
            if print.is_some_and(|print| later.all(|other| *other != print)) {
                continue;
            }
            let mut at = end;
            for second in first + 1..count {
                let Some((other, end)) = item_at(self.text, at) else { break };
                at = end;
                self.step(1 + word_of(other.raw().len() / 64))?;
                let differ = printed && self.work.get(floor + second).copied() != print;
                if !differ && self.equal(item, other)? {
                    return Some(Some((first, second)));
                }
            }
        }
        Some(None)
    }
}

/// Equal values have the same fingerprint. The order of what is inside a value does not matter to it.
fn fingerprint(value: Value<'_>) -> u32 {
    let options = Options { surrogates: Surrogates::Replace, ..Options::default() };
    let mut reader = Reader::new(value.raw().as_bytes(), &options);
    let mut sum = 0u32;
    while let Ok(Some(event)) = reader.next_event() {
        let print = match event {
            Event::Key(text) | Event::String(text) => {
                text.chars().fold(2, |hash, c| mix(hash ^ u32::from(c)))
            }
            Event::Number(number) => mix(number.fingerprint()),
            Event::Bool(true) => 3,
            Event::Bool(false) => 4,
            Event::Null => 5,
            Event::ArrayStart => 6,
            Event::ObjectStart => 7,
            Event::ArrayEnd | Event::ObjectEnd => 0,
        };
        sum = sum.wrapping_add(mix(print));
    }
    sum
}

fn mix(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x7FEB_352D);
    (hash ^ hash >> 15).wrapping_mul(0x846C_A68B)
}
