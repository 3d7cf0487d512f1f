//! Compiling the members of an object: `properties`, `required` and the slot for all other members become one
//! table.

use super::compile::error_at;
use super::compiler::Compiler;
use super::entry::{Entry, Table, order};
use super::error::{SchemaError, SchemaErrorKind};
use super::pass::Level;
use super::program::{LINEAR, MAX_ARGUMENT, op, word_of};
use super::source::Texts;
use super::store::{Store, sort};
use crate::json::Value;
use core::cmp::Ordering;

impl<'s> Compiler<'s, '_> {
    /// Pushes the `OBJECT` instruction of a schema whose entries are on the stack. Gives the number of its
    /// entries.
    pub(super) fn table(&mut self, level: &Level) -> Result<usize, SchemaError> {
        let (low, high) = level.entries;
        self.store.raise(low, high);
        let low = self.store.height() - (high - low);
        let declared = (high - level.entries.0) / Entry::SIZE;
        let required = if level.required == 0 { None } else { Some(self.value_at(level.required)?) };
        let names = required.iter().flat_map(|required| required.items());
        let count = if declared <= SMALL && names.clone().count() <= SMALL {
            self.merge_small(level, declared, names)?
        } else {
            self.merge_large(level, declared, names)?
        };
        self.store.pop_to(low + Entry::SIZE * count);
        // Entries come first in the instruction, so what is pushed now has to change places with them.
        let high = self.store.height();
        let entries = self.store.address(high);
        if count > LINEAR as usize {
            (0..count).for_each(|number| self.store.push(word_of(number)));
            if self.store.fits() {
                rank(&mut self.store, self.texts, entries, count);
            }
        }
        for mask in (0..Table::masks(count)).rev() {
            let bits = (0..32).filter(|bit| {
                let number = 32 * mask + bit;
                number < count && entry(&self.store, entries, number).is(Entry::REQUIRED)
            });
            let bits = bits.fold(0, |bits, bit| bits | 1u32 << bit);
            self.store.push(bits);
        }
        self.store.raise(low, high);
        self.store.push(level.others.0);
        self.store.push(u32::from(op::OBJECT) | word_of(count) << 8);
        Ok(count)
    }

    /// Merges few names, without memory of its own.
    fn merge_small(
        &mut self,
        level: &Level,
        declared: usize,
        required: impl Iterator<Item = Value<'s>> + Clone,
    ) -> Result<usize, SchemaError> {
        if !self.store.fits() {
            let undeclared = self.undeclared(level, required.clone())?;
            (0..3 * undeclared).for_each(|_| self.store.push(0));
            return Ok(declared + undeclared);
        }
        self.store.reverse(declared, 3);
        let entries = self.store.address(self.store.height());
        for number in 0..declared {
            let name = entry(&self.store, entries, number).name(self.texts);
            if let Some(twice) = (number + 1..declared)
                .map(|other| entry(&self.store, entries, other))
                .find(|other| other.name(self.texts) == name)
            {
                return Err(error_at(SchemaErrorKind::DuplicateKey, twice.key as usize));
            }
        }
        let mut count = declared;
        for (at, name) in required.filter_map(|name| Some((name, name.as_str()?))) {
            let at = self.offset(at);
            // Those that are not declared are pushed above the others, and so come first for now.
            let entries = self.store.address(self.store.height());
            let known =
                (0..count).find(|&number| entry(&self.store, entries, number).name(self.texts) == name);
            match known {
                Some(number) => {
                    let length = entries + Entry::SIZE * number + 4;
                    self.store.set(length, self.store.get(length) | Entry::REQUIRED);
                }
                None => {
                    self.entry(at, name, Entry::UNDECLARED | Entry::REQUIRED, level.others);
                    count += 1;
                }
            }
        }
        if self.store.fits() {
            self.store.raise(
                self.store.height() - Entry::SIZE * count,
                self.store.height() - Entry::SIZE * (count - declared),
            );
            let first = entries - Entry::SIZE * (count - declared) + Entry::SIZE * declared;
            reverse_at(&mut self.store, first, count - declared);
        }
        Ok(count)
    }

    /// Merges many names, by sorting them.
    fn merge_large(
        &mut self,
        level: &Level,
        declared: usize,
        required: impl Iterator<Item = Value<'s>> + Clone,
    ) -> Result<usize, SchemaError> {
        let mut count = declared;
        for (at, name) in required.clone().filter_map(|name| Some((name, name.as_str()?))) {
            let at = self.offset(at);
            self.entry(at, name, Entry::UNDECLARED | Entry::REQUIRED, level.others);
            count += 1;
        }
        if count > MAX_ARGUMENT as usize {
            return Err(error_at(SchemaErrorKind::TooLarge, level.required.max(level.properties)));
        }
        // Sorting needs an index over all names for a while.
        let height = self.store.height();
        (0..count).for_each(|number| self.store.push(word_of(number)));
        if self.store.fits() {
            return merge(&mut self.store, self.texts, count);
        }
        self.store.pop_to(height);
        Ok(declared + self.undeclared(level, required)?)
    }

    /// When there is no memory to merge in: how many required names are not declared. All of them, where
    /// finding out would take long.
    fn undeclared(
        &self,
        level: &Level,
        required: impl Iterator<Item = Value<'s>> + Clone,
    ) -> Result<usize, SchemaError> {
        let properties = if level.properties == 0 { None } else { Some(self.value_at(level.properties)?) };
        let mut left = 1usize << 20;
        let mut count = 0;
        for (number, name) in required.clone().enumerate() {
            let length = properties.map_or(0, |properties| properties.raw().len());
            left = left.saturating_sub(length + 64 * number);
            let known = left > 0
                && (properties.is_some_and(|properties| {
                    properties.entries().any(|(key, _)| name.as_str() == Some(key))
                }) || required.clone().take(number).any(|before| before.as_str() == name.as_str()));
            count += usize::from(!known);
        }
        Ok(count)
    }
}

fn reverse_at(store: &mut Store<'_>, first: usize, count: usize) {
    for number in 0..count / 2 {
        store.swap(first + Entry::SIZE * number, first + Entry::SIZE * (count - 1 - number), 3);
    }
}

/// Merges the names that are required with those that are declared. On the stack are `count` entries and
/// above them as many index words; the entries that remain end up in order, at the low end of the place.
/// Gives their number.
fn merge(store: &mut Store<'_>, text: Texts<'_>, count: usize) -> Result<usize, SchemaError> {
    let index = store.address(store.height());
    let entries = index + 4 * count;
    reverse_at(store, entries, count);
    for number in 0..count {
        store.set(index + 4 * number, word_of(number));
    }
    rank(store, text, entries, count);
    let mut place = 0;
    while place < count {
        // Equal names stand together, the declared one first.
        let first = store.get(index + 4 * place) as usize;
        let name = entry(store, entries, first);
        place += 1;
        while place < count {
            let number = store.get(index + 4 * place) as usize;
            let next = entry(store, entries, number);
            if order(name.name(text), next.name(text)) != Ordering::Equal {
                break;
            }
            if !next.is(Entry::UNDECLARED) {
                return Err(error_at(SchemaErrorKind::DuplicateKey, next.key as usize));
            }
            let length = entries + Entry::SIZE * first + 4;
            store.set(length, store.get(length) | Entry::REQUIRED);
            store.set(entries + Entry::SIZE * number + 4, 0);
            place += 1;
        }
    }
    let mut kept = count;
    for number in (0..count).rev() {
        if store.get(entries + Entry::SIZE * number + 4) != 0 {
            kept -= 1;
            store.swap(entries + Entry::SIZE * kept, entries + Entry::SIZE * number, 3);
        }
    }
    Ok(count - kept)
}

/// Sorts the index on top of the stack by the names of the entries, equal ones by number.
fn rank(store: &mut Store<'_>, text: Texts<'_>, entries: usize, count: usize) {
    let index = store.address(store.height());
    let mut less = |store: &Store<'_>, a: usize, b: usize| {
        let (a, b) = (store.get(index + 4 * a) as usize, store.get(index + 4 * b) as usize);
        let (x, y) = (entry(store, entries, a), entry(store, entries, b));
        order(x.name(text), y.name(text)).then(a.cmp(&b)) == Ordering::Less
    };
    sort(store, count, &mut less, &|store, a, b| store.swap(index + 4 * a, index + 4 * b, 1));
}

fn entry(store: &Store<'_>, entries: usize, number: usize) -> Entry {
    Entry::read(store.memory(), entries + Entry::SIZE * number)
}

/// Up to so many names are merged without sorting.
const SMALL: usize = 64;
