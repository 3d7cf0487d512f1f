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

/// Comparing with a value in which containers are nested this deep.
pub(super) fn equality(depth: usize) -> u32 {
    super::program::word_of(depth).saturating_mul(PAIR)
}

/// A pair of containers that are being compared.
pub(super) const PAIR: u32 = 3;
