//! Which characters have which Unicode property, for `\p{…}`.
//!
//! The general categories and the scripts are those of Unicode 16.0, in tables of about 4 kB and 1 kB. The
//! binary properties `Alphabetic`, `Lowercase`, `Uppercase` and `White_Space` are those of the standard
//! library's version.
//!
//! A category's table has a byte for each run of code points: the category in the upper five bits, and the
//! run's length less one in the lower three if that is below 6; 6 says that it is 7 and the next byte, 7 that
//! it is the next three bytes, the lowest first. Runs of single capital and small letters by turns are one
//! run of a category of their own. A script's table has for each range the distance from the end of the one
//! before, and the length less one, seven bits to a byte, the lowest first.

use super::table::{CATEGORIES as RUNS, INDEX, SCRIPTS};

/// The general category of a character. Those that only groups are asked for are not named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Category(u8);

impl Category {
    pub(super) const UNASSIGNED: Category = Category(29);
    const UPPER_FIRST: u8 = 30;
    const LOWER_FIRST: u8 = 31;

    pub(super) fn number(self) -> u32 {
        u32::from(self.0)
    }
}

/// A script that is known here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Script(pub(super) u32);

impl Script {
    /// The script with this name.
    pub(super) fn named(name: &str) -> Option<Script> {
        let at = SCRIPTS.iter().position(|(names, _)| names.split(' ').any(|known| known == name))?;
        u32::try_from(at).ok().map(Script)
    }

    /// Whether a character is of the script.
    pub(super) fn has(self, c: char) -> bool {
        let Some((_, mut rest)) = SCRIPTS.get(self.0 as usize).copied() else { return false };
        let (mut end, c) = (0, u32::from(c));
        while let (Some(start), Some(more)) = (varint(&mut rest), varint(&mut rest)) {
            let start = end + start;
            end = start + more + 1;
            if c < end {
                return c >= start;
            }
        }
        false
    }
}

/// The category of a character.
pub(super) fn category(c: char) -> Category {
    let c = u32::from(c);
    let entry = INDEX.partition_point(|&(start, _)| start <= c).saturating_sub(1);
    let (mut start, at) = INDEX.get(entry).copied().unwrap_or_default();
    let mut rest = RUNS.get(usize::from(at)..).unwrap_or_default();
    while let [head, after @ ..] = rest {
        let (more, after) = match (head & 7, after) {
            (6, [more, after @ ..]) => (6 + u32::from(*more), after),
            (7, [low, middle, high, after @ ..]) => {
                (u32::from_le_bytes([*low, *middle, *high, 0]).saturating_sub(1), after)
            }
            (more, after) => (u32::from(more), after),
        };
        if c - start <= more {
            let odd = u8::from((c - start) % 2 == 1);
            return match head >> 3 {
                Category::UPPER_FIRST => Category(odd),
                Category::LOWER_FIRST => Category(odd ^ 1),
                category => Category(category),
            };
        }
        start += more + 1;
        rest = after;
    }
    Category::UNASSIGNED
}

fn varint(rest: &mut &[u8]) -> Option<u32> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u32::from(byte & 127).checked_shl(shift)?;
        if byte < 128 {
            return Some(value);
        }
        shift += 7;
    }
}

/// The names of each category, in the order of the table.
pub(super) static CATEGORIES: [&str; 30] = [
    "Lu Uppercase_Letter",
    "Ll Lowercase_Letter",
    "Lt Titlecase_Letter",
    "Lm Modifier_Letter",
    "Lo Other_Letter",
    "Mn Nonspacing_Mark",
    "Mc Spacing_Mark",
    "Me Enclosing_Mark",
    "Nd Decimal_Number digit",
    "Nl Letter_Number",
    "No Other_Number",
    "Pc Connector_Punctuation",
    "Pd Dash_Punctuation",
    "Ps Open_Punctuation",
    "Pe Close_Punctuation",
    "Pi Initial_Punctuation",
    "Pf Final_Punctuation",
    "Po Other_Punctuation",
    "Sm Math_Symbol",
    "Sc Currency_Symbol",
    "Sk Modifier_Symbol",
    "So Other_Symbol",
    "Zs Space_Separator",
    "Zl Line_Separator",
    "Zp Paragraph_Separator",
    "Cc Control cntrl",
    "Cf Format",
    "Cs Surrogate",
    "Co Private_Use",
    "Cn Unassigned",
];

/// The names of each group of categories, and a bit for each category in it.
pub(super) static GROUPS: [(&str, u32); 8] = [
    ("L Letter", 0b1_1111),
    ("LC Cased_Letter", 0b111),
    ("M Mark Combining_Mark", 0b111 << 5),
    ("N Number", 0b111 << 8),
    ("P Punctuation punct", 0b111_1111 << 11),
    ("S Symbol", 0b1111 << 18),
    ("Z Separator", 0b111 << 22),
    ("C Other", 0b1_1111 << 25),
];
