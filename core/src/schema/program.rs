//! The schema program: what a compiled schema is, byte by byte.
//!
//! A program is a run of 32-bit words in native byte order inside a plain `&[u8]` of any alignment. It refers
//! to itself by byte addresses from its own start and to the schema's text by byte offsets, so it can be
//! copied or moved. It is read with checked accesses only: a program that was not made from its text gives
//! wrong answers, never a panic.
//!
//! # Layout
//!
//! ```text
//! program   header, then nodes, then tables of dynamic anchors; a node comes after the nodes inside it
//! header    [MAGIC] [root slot] [work words | RECURSIVE | UNIQUE] [work words without UNIQUE_ITEMS, or that one level of the instance takes at most]
//! slot      one word, a reference to a schema:
//!             1 ttttttt oooooooooooooooooooooooo   immediate: only these types, nothing more; the schema is at offset o of the text
//!             0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa    the node at address a
//! node      [types | kinds << 8 | count << 16] [offset of the schema in the text] then `count` instructions
//! instr     [opcode | argument << 8] and the words that its opcode says
//! ```
//!
//! `true` and `{}` are an immediate of all types, `false` of none, `{"type":"string"}` of one: most schemas
//! in a tool's parameters need no node. `kinds` has one bit per group of opcodes that the node uses, so that
//! a check which does not concern the value at hand costs one test. `OBJECT` is the first instruction of its
//! node.
//!
//! # Instructions
//!
//! | opcode | argument | words | meaning |
//! |---|---|---|---|
//! | `ENUM`, `CONST` | count | array or value offset, then per value: offset, length and form | equal to one of the values |
//! | `MINIMUM` … `EXCLUSIVE_MAXIMUM` | length of the number's text, `INLINE` | its offset, its value if `INLINE` | compares |
//! | `MULTIPLE_OF` | as above | as above | is a multiple of it |
//! | `MIN_LENGTH`, `MAX_LENGTH` | | count | characters |
//! | `PATTERN` | words of the matcher | offset of the pattern in the text, the [matcher](super::pattern) | the text |
//! | `ITEMS` | | slot | each item after those of `PREFIX_ITEMS` |
//! | `ADDITIONAL_ITEMS` | | slot | the same, if there are `PREFIX_ITEMS` (draft 7) |
//! | `PREFIX_ITEMS` | count | slots | the first items |
//! | `MIN_ITEMS`, `MAX_ITEMS` | | count | items |
//! | `FORMAT` | number of the [format](super::format) | | the text |
//! | `OBJECT` | count | slot for other members, entries, required masks, sorted index if count > `LINEAR` | members |
//! | `PATTERN_PROPERTY` | words of the matcher | slot, offset of the pattern in the text, the matcher | members whose name it matches |
//! | `UNIQUE_ITEMS` | | | no two items are equal |
//! | `CONTAINS` | | slot | as many items fit as `MIN_CONTAINS` (or 1) and `MAX_CONTAINS` say |
//! | `MIN_CONTAINS`, `MAX_CONTAINS` | | count | for `CONTAINS`, if it is there |
//! | `UNEVALUATED_ITEMS`, `UNEVALUATED_PROPERTIES` | | slot | what no schema applied in place has looked at |
//! | `MIN_PROPERTIES`, `MAX_PROPERTIES` | | count | members |
//! | `PROPERTY_NAMES` | | slot | each key |
//! | `DEPENDENT` | count | entries | where there is a member, a schema holds or other members are there |
//! | `REF` | used while compiling | offset of the reference, slot of its target | in place: the target holds as well |
//! | `DYNAMIC_REF` | used while compiling | the same, and the address of a table or 0 | its target can be replaced, see [`dynamic`](super::dynamic) |
//! | `ALL_OF`, `ANY_OF`, `ONE_OF` | count | slots | in place |
//! | `NOT`, `IF`, `THEN`, `ELSE` | | slot | in place; the last two with `IF` alone |
//!
//! An entry of `OBJECT` is three words: the key's offset in the text (at its quote), its length with quotes
//! and flags, the slot of the member. Entries are in the schema's order, names that are required without
//! being declared after them (their slot is that for other members). The masks have one bit per entry, 32 to
//! a word. The index holds entry numbers in order of decoded key. An entry of `DEPENDENT` is the same, but
//! with `LIST` its third word is the offset of an array of names.
//!
//! Those from `UNIQUE_ITEMS` on, but for `OBJECT`, need more than one look at the value, or look at it in
//! place: they read it again, from a frame that remembers where it began and which instruction comes next
//! (see [`place`](super::place)). A node that has none of them is checked in one pass.
//!
//! A lone `$ref` compiles to a node of its target's slot; once all are resolved, every slot that leads to
//! such a node is replaced by where it leads, so a reference costs nothing when checking.
//!
use super::entry::{Entry, Table};

/// Bytes of the header.
pub(super) const HEADER: usize = 16;
/// The header's first word.
pub(super) const MAGIC: u32 = 0x5443_5301;
/// In the header: the words are those beside the levels, of which there may be as many as in the instance.
pub(super) const RECURSIVE: u32 = 1 << 31;
/// In the header beside `RECURSIVE`: comparing the items of an array can take more.
pub(super) const UNIQUE: u32 = 1 << 30;

/// The types of JSON Schema, as bits. An integral number has the bit `INTEGER`, any other number `FRACTION`.
pub(super) mod types {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const BOOLEAN: u8 = 2;
    pub(crate) const INTEGER: u8 = 4;
    pub(crate) const FRACTION: u8 = 8;
    pub(crate) const NUMBER: u8 = INTEGER | FRACTION;
    pub(crate) const STRING: u8 = 16;
    pub(crate) const ARRAY: u8 = 32;
    pub(crate) const OBJECT: u8 = 64;
    pub(crate) const ALL: u8 = 127;
    pub(crate) const NONE: u8 = 0;
}

/// A reference to a schema; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

impl Slot {
    /// Accepts everything, and stands nowhere in the text.
    pub(super) const ANY: Slot = Slot(IMMEDIATE | (types::ALL as u32) << 24);

    /// No schema.
    pub(super) const NOWHERE: Slot = Slot(0);

    /// A schema of types alone, if its offset fits.
    pub(super) fn immediate(types: u8, offset: u32) -> Option<Slot> {
        (offset < 1 << 24).then_some(Slot(IMMEDIATE | u32::from(types) << 24 | offset))
    }

    /// The node at this address.
    pub(super) fn node(address: usize) -> Slot {
        Slot(word_of(address) & !IMMEDIATE)
    }

    /// The types and the text offset of an immediate.
    #[inline]
    pub(super) fn as_immediate(self) -> Option<(u8, usize)> {
        (self.0 & IMMEDIATE != 0).then_some(((self.0 >> 24 & 127) as u8, (self.0 & 0xFF_FFFF) as usize))
    }

    /// The address of a node.
    #[inline]
    pub(super) fn as_node(self) -> Option<usize> {
        (self.0 & IMMEDIATE == 0).then_some(self.0 as usize)
    }

    /// Whether it accepts everything.
    pub(super) fn is_any(self) -> bool {
        self.0 >> 24 == Slot::ANY.0 >> 24
    }
}

const IMMEDIATE: u32 = 1 << 31;

/// The first two words of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) types: u8,
    /// A bit per group of opcodes: `kind::…`.
    pub(super) kinds: u8,
    pub(super) count: u16,
    /// Where the schema stands in its text.
    pub(super) offset: u32,
}

impl Node {
    /// Bytes of the two words.
    pub(super) const SIZE: usize = 8;

    #[inline]
    pub(super) fn read(program: &[u8], at: usize) -> Node {
        let [head, offset] = words(program, at);
        let [types, kinds, ..] = head.to_le_bytes();
        Node { types, kinds, count: (head >> 16) as u16, offset }
    }

    pub(super) fn head(self) -> u32 {
        u32::from_le_bytes([self.types, self.kinds, 0, 0]) | u32::from(self.count) << 16
    }
}

/// Bits of [`Node::kinds`].
pub(super) mod kind {
    /// `ENUM` and `CONST`.
    pub(crate) const VALUE: u8 = 1 << 0;
    pub(crate) const NUMBER: u8 = 1 << 1;
    pub(crate) const STRING: u8 = 1 << 2;
    pub(crate) const ARRAY: u8 = 1 << 3;
    pub(crate) const OBJECT: u8 = 1 << 4;
    /// Applies further schemas to the same value.
    pub(crate) const IN_PLACE: u8 = 1 << 5;
    /// It has `PATTERN_PROPERTY`.
    pub(crate) const PATTERNED: u8 = 1 << 6;
    /// With `IN_PLACE`: a lone reference, nothing but another name for its target.
    pub(crate) const ALIAS: u8 = 1 << 7;
}

/// The opcodes. The high digit is the group: [`kind_of`].
pub(super) mod op {
    pub(crate) const ENUM: u8 = 0x10;
    pub(crate) const CONST: u8 = 0x11;
    pub(crate) const MINIMUM: u8 = 0x20;
    pub(crate) const MAXIMUM: u8 = 0x21;
    pub(crate) const EXCLUSIVE_MINIMUM: u8 = 0x22;
    pub(crate) const EXCLUSIVE_MAXIMUM: u8 = 0x23;
    pub(crate) const MULTIPLE_OF: u8 = 0x24;
    pub(crate) const MIN_LENGTH: u8 = 0x30;
    pub(crate) const MAX_LENGTH: u8 = 0x31;
    pub(crate) const PATTERN: u8 = 0x32;
    pub(crate) const FORMAT: u8 = 0x33;
    pub(crate) const ITEMS: u8 = 0x40;
    pub(crate) const MIN_ITEMS: u8 = 0x41;
    pub(crate) const MAX_ITEMS: u8 = 0x42;
    pub(crate) const PREFIX_ITEMS: u8 = 0x43;
    pub(crate) const ADDITIONAL_ITEMS: u8 = 0x44;
    pub(crate) const OBJECT: u8 = 0x50;
    pub(crate) const PATTERN_PROPERTY: u8 = 0x54;
    pub(crate) const REF: u8 = 0x60;
    pub(crate) const ALL_OF: u8 = 0x61;
    pub(crate) const ANY_OF: u8 = 0x62;
    pub(crate) const ONE_OF: u8 = 0x63;
    pub(crate) const NOT: u8 = 0x64;
    pub(crate) const IF: u8 = 0x65;
    pub(crate) const DYNAMIC_REF: u8 = 0x66;
    pub(crate) const DEPENDENT: u8 = 0x67;
    pub(crate) const THEN: u8 = 0x68;
    pub(crate) const ELSE: u8 = 0x69;
    pub(crate) const UNIQUE_ITEMS: u8 = 0x70;
    pub(crate) const CONTAINS: u8 = 0x71;
    pub(crate) const MIN_CONTAINS: u8 = 0x72;
    pub(crate) const MAX_CONTAINS: u8 = 0x73;
    pub(crate) const MIN_PROPERTIES: u8 = 0x74;
    pub(crate) const MAX_PROPERTIES: u8 = 0x75;
    pub(crate) const PROPERTY_NAMES: u8 = 0x76;
    pub(crate) const UNEVALUATED_ITEMS: u8 = 0x77;
    pub(crate) const UNEVALUATED_PROPERTIES: u8 = 0x78;
}

/// The bit of [`Node::kinds`] for an opcode.
pub(super) fn kind_of(op: u8) -> u8 {
    match op >> 4 {
        0 => 0,
        group @ 1..=5 => 1 << (group - 1),
        _ => kind::IN_PLACE,
    }
}

/// In the argument of a bound: the value fits the third word.
pub(super) const INLINE: u32 = 1 << 23;
/// The largest argument.
pub(super) const MAX_ARGUMENT: u32 = (1 << 24) - 1;
/// Objects with more entries than this have a sorted index.
pub(super) const LINEAR: u32 = 16;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) op: u8,
    pub(super) argument: u32,
    /// The address of its first word.
    pub(super) at: usize,
}

impl Instruction {
    #[inline]
    pub(super) fn read(program: &[u8], at: usize) -> Instruction {
        let head = word(program, at);
        Instruction { op: (head & 0xFF) as u8, argument: head >> 8, at }
    }

    /// The word after the first.
    #[inline]
    pub(super) fn operand(self, program: &[u8]) -> u32 {
        word(program, self.at + 4)
    }

    /// Bytes that it takes, or 0 for an opcode that does not exist.
    fn size(self) -> usize {
        let count = self.argument as usize;
        4 * match self.op {
            op::ENUM | op::CONST => 2 + 2 * count,
            op::MINIMUM..=op::MULTIPLE_OF | op::REF => 3,
            op::DYNAMIC_REF => 4,
            op::UNIQUE_ITEMS => 1,
            op::MIN_LENGTH | op::MAX_LENGTH | op::ITEMS | op::MIN_ITEMS | op::MAX_ITEMS => 2,
            op::PATTERN => 2 + count,
            op::FORMAT => 1,
            op::PATTERN_PROPERTY => 3 + count,
            op::OBJECT => Table::size(count) / 4,
            op::PREFIX_ITEMS | op::ALL_OF | op::ANY_OF | op::ONE_OF => 1 + count,
            op::DEPENDENT => 1 + 3 * count,
            op::ADDITIONAL_ITEMS
            | op::NOT
            | op::IF
            | op::THEN
            | op::ELSE
            | op::CONTAINS..=op::UNEVALUATED_PROPERTIES => 2,
            _ => 0,
        }
    }

    /// The address of the slot with this number; see [`slots`](Self::slots).
    pub(super) fn slot(self, number: u32) -> Option<usize> {
        let (first, stride, count) = self.layout();
        let number = number as usize;
        (number < count).then_some(self.at + first + stride * number)
    }

    /// The addresses of the slots in it; of `DEPENDENT` those of all entries, so that offsets are among them.
    pub(super) fn slots(self) -> impl Iterator<Item = usize> {
        let (first, stride, count) = self.layout();
        (0..count).map(move |number| self.at + first + stride * number)
    }

    /// Where the first slot is, how far it is to the next one, and how many there are.
    fn layout(self) -> (usize, usize, usize) {
        let count = self.argument as usize;
        match self.op {
            op::ITEMS
            | op::PATTERN_PROPERTY
            | op::ADDITIONAL_ITEMS
            | op::NOT
            | op::IF
            | op::THEN
            | op::ELSE
            | op::CONTAINS
            | op::PROPERTY_NAMES
            | op::UNEVALUATED_ITEMS
            | op::UNEVALUATED_PROPERTIES => (4, 4, 1),
            op::REF | op::DYNAMIC_REF => (8, 4, 1),
            op::PREFIX_ITEMS | op::ALL_OF | op::ANY_OF | op::ONE_OF => (4, 4, count),
            op::OBJECT => (4, Entry::SIZE, 1 + count),
            op::DEPENDENT => (12, Entry::SIZE, count),
            _ => (0, 0, 0),
        }
    }

    /// Whether what it refers to applies to the value itself.
    pub(super) fn is_in_place(self) -> bool {
        self.op >> 4 == 6
    }
}

/// A place among the instructions of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// The address of the next one.
    pub(super) at: usize,
    left: u16,
}

impl Cursor {
    /// Before the first instruction of a node; an immediate has none.
    #[inline]
    pub(super) fn new(program: &[u8], slot: Slot) -> Cursor {
        let at = slot.as_node().unwrap_or(program.len());
        Cursor { at: at + Node::SIZE, left: Node::read(program, at).count }
    }

    /// At an instruction, with so many from there on.
    pub(super) fn resume(at: usize, left: u32) -> Cursor {
        Cursor { at, left: u16::try_from(left).unwrap_or(0) }
    }

    /// How many instructions are left.
    pub(super) fn left(self) -> u16 {
        self.left
    }

    #[inline]
    pub(super) fn next(&mut self, program: &[u8]) -> Option<Instruction> {
        self.left = self.left.checked_sub(1)?;
        let instruction = Instruction::read(program, self.at);
        let size = instruction.size();
        if size == 0 || self.at >= program.len() {
            self.left = 0;
            return None;
        }
        self.at += size;
        Some(instruction)
    }
}

/// The word at an address; 0 beyond the end.
#[inline]
pub(super) fn word(program: &[u8], at: usize) -> u32 {
    let [word] = words(program, at);
    word
}

/// Words that follow each other; zeros if the last is beyond the end.
#[inline(always)]
pub(super) fn words<const N: usize>(program: &[u8], at: usize) -> [u32; N] {
    // A sum that wraps around makes the range end before it starts, and the access fails as it should.
    let chunks = program.get(at..at.wrapping_add(4 * N)).and_then(|bytes| bytes.as_chunks().0.first_chunk());
    chunks.map_or([0; N], |chunks: &[[u8; 4]; N]| chunks.map(u32::from_ne_bytes))
}

/// A length or an address as a word. Texts and programs that could not fit are refused before.
pub(super) fn word_of(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
