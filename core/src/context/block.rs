//! What the host hands in: a text, its priority, and what may be done with it.

/// A piece of context that competes for room.
///
/// Made with [`new`](ContextBlock::new) and struct update, so that fields can be added:
/// `ContextBlock { priority: 5, ..ContextBlock::new(text) }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextBlock<'a> {
    /// What kind of context it is, such as `memory`. May be empty, like all texts here.
    pub category: &'a str,
    /// A name for people and models.
    pub label: &'a str,
    /// Where it came from: a file, an address, a sensor.
    pub source: &'a str,
    /// The higher, the sooner it is chosen.
    pub priority: i32,
    /// The text itself.
    pub content: &'a str,
    /// A cut leaves at least so many tokens of the content (and at least one), else it is not made.
    pub min_tokens: u32,
    /// Whether it must be there, and whether and where it may be cut.
    pub flags: BlockFlags,
}

impl<'a> ContextBlock<'a> {
    /// A block of priority 0 that is kept whole or dropped.
    pub const fn new(content: &'a str) -> Self {
        ContextBlock {
            category: "",
            label: "",
            source: "",
            priority: 0,
            content,
            min_tokens: 0,
            flags: BlockFlags::NONE,
        }
    }
}

/// A set of marks on a [`ContextBlock`]; joined with `|`.
///
/// A block without a `CUT` flag is never cut. `WHOLE` says the same and overrides them. With several
/// `CUT` flags the first of tail, head, middle counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockFlags(u32);

impl BlockFlags {
    /// No mark.
    pub const NONE: Self = BlockFlags(0);
    /// The block must be there: whole, or at its least if it may be cut. If not all of these fit, the
    /// render fails.
    pub const PINNED: Self = BlockFlags(1);
    /// Never cut, whatever other flags say.
    pub const WHOLE: Self = BlockFlags(1 << 1);
    /// The end may be left out.
    pub const CUT_TAIL: Self = BlockFlags(1 << 2);
    /// The beginning may be left out.
    pub const CUT_HEAD: Self = BlockFlags(1 << 3);
    /// The middle may be left out; beginning and end get half of what is kept each.
    pub const CUT_MIDDLE: Self = BlockFlags(1 << 4);

    /// The flags as a number, the same on every target.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The flags of a number, or `None` if it has bits that mean nothing here.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits < 1 << 5 { Some(BlockFlags(bits)) } else { None }
    }

    /// Whether all of `flags` are in this set.
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Both sets together; `|` in a constant.
    pub const fn union(self, flags: Self) -> Self {
        BlockFlags(self.0 | flags.0)
    }
}

impl core::ops::BitOr for BlockFlags {
    type Output = Self;

    fn bitor(self, flags: Self) -> Self {
        self.union(flags)
    }
}
