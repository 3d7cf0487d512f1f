//! The members of an object: which schema is for which key, which were there, and which are missing.

use super::entry::{Entry, Table};
use super::fast::strip;
use super::level::OBJECT;
use super::machine::Check;
use super::program::{LINEAR, Slot, types, word_of};
use super::report::Problem;
use crate::json::{Reason, Str};

impl<'i> Check<'_, 'i, '_> {
    /// Reads a key, and gives the slot for the value after it. A member that is not allowed is read whole.
    #[inline(never)]
    pub(super) fn member(&mut self, rest: &'i [u8]) -> Option<(&'i [u8], Slot)> {
        self.step(1)?;
        let found = self.expected_key(rest);
        let (end, number) = match found {
            Some((end, number)) => (end, Some(number)),
            None => {
                let [b'"', content @ ..] = rest else {
                    return self.scan.fail(Reason::ExpectedKey, rest);
                };
                let end = self.scan.string(content)?;
                let key = self.text.get(self.scan.offset(content)..self.scan.offset(end).saturating_sub(1));
                (end, self.lookup(Str::new(key.unwrap_or_default())))
            }
        };
        let after = self.scan.colon(end)?;
        if let Some(number) = number {
            self.level.next = number.saturating_add(1);
            self.loose |= !self.mark(number);
            return Some((after, self.entry(number).slot));
        }
        self.loose = true;
        self.level.items = word_of(self.scan.offset(rest).saturating_add(1));
        let others = self.level.table().others(self.schema.program());
        if others.as_immediate().is_some_and(|(types, _)| types == types::NONE) {
            let table = self.level.table();
            self.report(Problem::Unknown(table), self.scan.offset(rest), self.schema_offset());
            return Some((self.scan.value(after, self.depth)?, Slot::NOWHERE));
        }
        Some((after, others))
    }

    /// The number of the entry whose key stands at the start of `rest` byte for byte, and what comes after
    /// it. Of many entries, only the one that is expected is looked at.
    fn expected_key(&self, rest: &'i [u8]) -> Option<(&'i [u8], u32)> {
        let next = self.level.next;
        let numbers = if self.level.count <= LINEAR {
            0..self.level.count
        } else {
            next..self.level.count.min(next.saturating_add(1))
        };
        numbers.into_iter().find_map(|number| {
            let after = strip(rest, self.entry(number).bytes(self.schema.texts())?)?;
            Some((after, number))
        })
    }

    #[inline(always)]
    pub(super) fn entry(&self, number: u32) -> Entry {
        Entry::read(self.schema.program(), self.level.entries as usize + Entry::SIZE * number as usize)
    }

    /// The number of the entry with this key, which stands in none of them byte for byte if they are few.
    pub(super) fn lookup(&self, key: Str<'i>) -> Option<u32> {
        let table = self.level.table();
        let few = table.count <= LINEAR;
        let escaped = || (0..table.count).any(|number| self.entry(number).is(Entry::ESCAPED));
        let possible = !few || key.has_escapes() || escaped();
        possible.then(|| table.find(self.schema.program(), self.schema.texts(), key)).flatten()
    }

    /// Reports a value whose type is not among `types`.
    #[cold]
    pub(super) fn wrong_type(&mut self, slot: Slot, types: u8, at: usize) {
        let named = self.level.next.checked_sub(1).filter(|_| self.level.state == OBJECT);
        match named.map(|number| self.entry(number)) {
            _ if types != types::NONE => {
                self.report(Problem::Type(types, slot), at, self.schema.place(slot));
            }
            // Required, but not declared, and other members are not allowed.
            Some(entry) if entry.is(Entry::UNDECLARED) => {
                self.report(Problem::Unknown(self.level.table()), at, self.schema_offset());
            }
            _ => self.report(Problem::False, at, self.schema.place(slot)),
        }
    }

    /// Notes that a member was there. False if it was there before.
    #[inline(always)]
    pub(super) fn mark(&mut self, number: u32) -> bool {
        let word = if self.level.count <= 32 {
            &mut self.level.seen
        } else {
            match self.work.get_mut(self.level.seen as usize + number as usize / 32) {
                Some(word) => word,
                None => return true,
            }
        };
        let bit = 1 << (number % 32);
        let first = *word & bit == 0;
        *word |= bit;
        first
    }

    /// Bits of 32 entries that were there.
    fn seen(&self, mask: usize) -> u32 {
        if self.level.count <= 32 {
            self.level.seen
        } else {
            self.work.get(self.level.seen as usize + mask).copied().unwrap_or(u32::MAX)
        }
    }

    /// Whether a member was there.
    pub(super) fn was_seen(&self, number: u32) -> bool {
        self.seen(number as usize / 32) >> (number % 32) & 1 != 0
    }

    #[inline(always)]
    pub(super) fn end_object(&mut self) {
        if self.mender.is_some() {
            self.absent();
        } else if self.level.count > 32 || !self.level.is_complete(self.schema.program()) {
            self.missing();
        }
        self.depth = self.depth.saturating_sub(1);
        self.leave();
    }

    /// Reports the members that are required and were not there.
    #[inline(never)]
    fn missing(&mut self) {
        let (program, table) = (self.schema.program(), self.level.table());
        for mask in 0..Table::masks(self.level.count as usize) {
            let mut missing = table.required(program, mask) & !self.seen(mask);
            while missing != 0 {
                let number = 32 * word_of(mask) + missing.trailing_zeros();
                missing &= missing - 1;
                let name = self.entry(number).name(self.schema.texts());
                self.report(Problem::Required(name), self.level.start as usize, self.schema_offset());
            }
        }
    }
}
