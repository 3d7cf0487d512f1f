//! Sets of characters that have a name: those of escapes, and Unicode properties.

use super::unicode::{self, Category, Script};

/// A named set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set(pub(super) u32);

impl Set {
    pub(super) const NOTHING: Set = Set(0);
    pub(super) const DIGIT: Set = Set(1);
    pub(super) const WORD: Set = Set(2);
    pub(super) const SPACE: Set = Set(3);
    const ANY: Set = Set(4);
    const ASCII: Set = Set(5);
    const HEX: Set = Set(6);
    const ALPHABETIC: Set = Set(7);
    const LOWERCASE: Set = Set(8);
    const UPPERCASE: Set = Set(9);
    const WHITE_SPACE: Set = Set(10);
    const ASSIGNED: Set = Set(11);
    /// From here on one category each, then groups of them, then scripts.
    const CATEGORY: u32 = 32;
    const GROUP: u32 = 64;
    const SCRIPT: u32 = 96;

    /// Whether a character is in the set.
    pub(super) fn has(self, c: char) -> bool {
        match self {
            Set::DIGIT => c.is_ascii_digit(),
            Set::WORD => is_word(c),
            // ECMA-262: WhiteSpace and LineTerminator.
            Set::SPACE => c != '\u{85}' && c.is_whitespace() || c == '\u{FEFF}',
            Set::ANY => true,
            Set::ASCII => c.is_ascii(),
            Set::HEX => c.is_ascii_hexdigit(),
            Set::ALPHABETIC => c.is_alphabetic(),
            Set::LOWERCASE => c.is_lowercase(),
            Set::UPPERCASE => c.is_uppercase(),
            Set::WHITE_SPACE => c.is_whitespace(),
            Set::ASSIGNED => unicode::category(c) != Category::UNASSIGNED,
            Set(Set::CATEGORY..Set::GROUP) => unicode::category(c).number() == self.0 - Set::CATEGORY,
            Set(Set::GROUP..Set::SCRIPT) => {
                let group = unicode::GROUPS.get((self.0 - Set::GROUP) as usize);
                group.is_some_and(|(_, mask)| mask >> unicode::category(c).number() & 1 == 1)
            }
            Set(number) => number.checked_sub(Set::SCRIPT).is_some_and(|number| Script(number).has(c)),
        }
    }

    /// The set of a property as `\p{…}` names it. Names are exact, as ECMA-262 has them.
    pub(super) fn of_property(name: &str) -> Option<Set> {
        if let Some((key, value)) = name.split_once('=') {
            return match key {
                "General_Category" | "gc" => Set::of_category(value),
                "Script" | "sc" => Script::named(value).map(|script| Set(Set::SCRIPT + script.0)),
                _ => None,
            };
        }
        Some(match name {
            "Any" => Set::ANY,
            "ASCII" => Set::ASCII,
            "ASCII_Hex_Digit" | "AHex" => Set::HEX,
            "Alphabetic" | "Alpha" => Set::ALPHABETIC,
            "Lowercase" | "Lower" => Set::LOWERCASE,
            "Uppercase" | "Upper" => Set::UPPERCASE,
            "White_Space" | "space" => Set::WHITE_SPACE,
            "Assigned" => Set::ASSIGNED,
            _ => return Set::of_category(name),
        })
    }

    fn of_category(name: &str) -> Option<Set> {
        let known = |names: &str| names.split(' ').any(|known| known == name);
        let of =
            |first, found: Option<usize>| found.and_then(|at| Some(Set(first + u32::try_from(at).ok()?)));
        of(Set::CATEGORY, unicode::CATEGORIES.iter().position(|names| known(names)))
            .or_else(|| of(Set::GROUP, unicode::GROUPS.iter().position(|(names, _)| known(names))))
    }
}

/// Whether `\w` has it.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
