//! How much work memory a check takes, in words of 32 bits.

use super::entry::Table;

/// An object or array around the one that is being read.
pub(super) const LEVEL: u32 = 8;

/// Words of a frame beside its level; see [`place`](super::place).
pub(super) const FRAME: u32 = 12;
/// The number of entries whose bits would take the words of a frame.
pub(super) const FRAME_COUNT: u32 = 32 * FRAME;

/// The bits of an object with this many entries, where they do not fit a level.
pub(super) fn table(count: usize) -> u32 {
    if count > 32 { super::program::word_of(Table::masks(count)) } else { 0 }
}

/// What a check of a schema needs at most, where containers are nested as deep as can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// In all.
    pub(super) all: u32,
    /// Without the comparing of items that are to be unique, which takes the more the deeper they are.
    pub(super) plain: u32,
}

impl Need {
    pub(super) const NOTHING: Need = Need { all: 0, plain: 0 };

    /// So many words, whatever the instance is.
    pub(super) fn plain(words: u32) -> Need {
        Need { all: words, plain: words }
    }

    /// What is enough for both, one after the other.
    pub(super) fn max(self, other: Need) -> Need {
        Need { all: self.all.max(other.all), plain: self.plain.max(other.plain) }
    }

    /// The less of each, where both are enough.
    pub(super) fn min(self, other: Need) -> Need {
        Need { all: self.all.min(other.all), plain: self.plain.min(other.plain) }
    }

    /// With words that are taken at the same time.
    pub(super) fn plus(self, words: u32) -> Need {
        Need { all: self.all.saturating_add(words), plain: self.plain.saturating_add(words) }
    }

    /// Where so many words are there already.
    pub(super) fn minus(self, words: u32) -> Need {
        Need { all: self.all.saturating_sub(words), plain: self.plain.saturating_sub(words) }
    }
}

/// Comparing items of an array, in an instance in which containers are nested this deep.
pub(super) fn unique(max_depth: usize) -> u32 {
    equality(max_depth.saturating_sub(1))
}

/// Comparing with a value in which containers are nested this deep.
pub(super) fn equality(depth: usize) -> u32 {
    super::program::word_of(depth).saturating_mul(PAIR)
}

/// A pair of containers that are being compared.
pub(super) const PAIR: u32 = 3;
