//! The changes that one reading of the arguments calls for, in the order of the text.
//!
//! They stand in bytes of the caller, eight for each. Changes that hold whatever else is changed go before
//! those that hang on a choice, and conversions before defaults: a list has changes of one [`Rank`] only, and
//! the next reading finds the others if they are still called for. So does it find what the list has no room
//! for.

use super::program::{types, word_of, words};

/// A change of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    /// Where the value starts, or for `DUPLICATE` the key, or for `DEFAULT` the object.
    pub(super) at: u32,
    /// The types to convert to, with `WRAP` perhaps; or one of the others.
    what: u32,
}

impl Edit {
    /// A scalar becomes an array of one item.
    pub(super) const WRAP: u32 = 1 << 7;
    /// The member goes whose value this is.
    pub(super) const REMOVE: u32 = 1 << 8;
    /// The member goes whose key this is.
    pub(super) const DUPLICATE: u32 = 1 << 9;
    /// A member comes; the other bits are the address of its entry in the program.
    const DEFAULT: u32 = 1 << 31;

    /// Bytes of one.
    pub(super) const SIZE: usize = 8;

    pub(super) fn new(at: usize, what: u32) -> Edit {
        Edit { at: word_of(at), what }
    }

    /// The default of the property whose entry is at an address.
    pub(super) fn default(at: u32, entry: usize) -> Edit {
        Edit { at, what: Edit::DEFAULT | word_of(entry) }
    }

    /// Where the entry is.
    pub(super) fn entry(self) -> usize {
        (self.what & !Edit::DEFAULT) as usize
    }

    /// The types to convert to.
    pub(super) fn types(self) -> u8 {
        u8::try_from(self.what & u32::from(types::ALL)).unwrap_or(types::NONE)
    }

    pub(super) fn is(self, what: u32) -> bool {
        self.what & what != 0
    }

    /// Whether it converts a value.
    fn converts(self) -> bool {
        self.what < Edit::REMOVE
    }
}

/// What goes before what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Conversion,
    /// A conversion that hangs on a choice: it is called for by an alternative or a condition.
    ChosenConversion,
    Default,
    ChosenDefault,
}

/// A list of changes.
pub(super) struct Edits<'w> {
    bytes: &'w mut [u8],
    pub(super) found: Found,
}

/// What a list has in its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    count: usize,
    rank: Rank,
    /// There was no room for one more.
    pub(super) more: bool,
}

impl Found {
    /// Bytes that are taken.
    pub(super) fn size(self) -> usize {
        self.count * Edit::SIZE
    }

    pub(super) fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Whether they are defaults.
    pub(super) fn is_of_defaults(self) -> bool {
        self.rank >= Rank::Default
    }
}

impl<'w> Edits<'w> {
    pub(super) fn new(bytes: &'w mut [u8]) -> Self {
        Edits { bytes, found: Found { count: 0, rank: Rank::Conversion, more: false } }
    }

    /// A list in bytes that hold it.
    pub(super) fn resume(bytes: &'w mut [u8], found: Found) -> Self {
        Edits { bytes, found }
    }

    /// Whether changes of this rank are of no use any more.
    pub(super) fn is_past(&self, rank: Rank) -> bool {
        self.found.count > 0 && rank > self.found.rank
    }

    pub(super) fn get(&self, number: usize) -> Option<Edit> {
        if number >= self.found.count {
            return None;
        }
        let [at, what] = words(self.bytes, number * Edit::SIZE);
        Some(Edit { at, what })
    }

    /// The number of the first change from `at` on.
    pub(super) fn first_from(&self, at: usize) -> usize {
        let (mut low, mut high) = (0, self.found.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(edit) if (edit.at as usize) < at => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    /// Notes a change. Of two conversions of one value, what both lead to is left; of two others for which
    /// `same` is true, the first. It is nothing for what need not be compared, which is quick. `None` if the
    /// steps do not suffice.
    pub(super) fn push(
        &mut self,
        edit: Edit,
        rank: Rank,
        steps: &mut u32,
        same: impl Fn(Edit) -> Option<bool>,
    ) -> Option<()> {
        if self.is_past(rank) {
            return Some(());
        }
        if rank < self.found.rank {
            (self.found.count, self.found.more) = (0, false);
        }
        self.found.rank = rank;
        let first = self.first_from(edit.at as usize);
        let mut place = first;
        while let Some(other) = self.get(place).filter(|other| other.at == edit.at) {
            if edit.converts() && other.converts() {
                self.set(place, Edit { what: other.what & edit.what, ..other });
                return Some(());
            }
            if let Some(same) = same(other) {
                *steps = steps.checked_sub(1)?;
                if same {
                    return Some(());
                }
            }
            place += 1;
        }
        let (from, end) = (place * Edit::SIZE, self.found.size());
        let Some(moved) = self.bytes.get_mut(from..end + Edit::SIZE) else {
            self.found.more = true;
            return Some(());
        };
        *steps = steps.checked_sub(word_of((end - from + place - first) / 64))?;
        moved.copy_within(..end - from, Edit::SIZE);
        self.found.count += 1;
        self.set(place, edit);
        Some(())
    }

    fn set(&mut self, number: usize, edit: Edit) {
        let (edits, _) = self.bytes.as_chunks_mut::<{ Edit::SIZE }>();
        if let Some(place) = edits.get_mut(number) {
            let (words, _) = place.as_chunks_mut();
            for (place, word) in words.iter_mut().zip([edit.at, edit.what]) {
                *place = word.to_ne_bytes();
            }
        }
    }
}
