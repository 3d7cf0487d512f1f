//! Random values, and what values, names and numbers are made of.

use super::json::Json;
use super::random::Random;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

pub(crate) const KINDS: [Kind; 10] = [
    Kind::Null,
    Kind::Boolean,
    Kind::Number,
    Kind::Number,
    Kind::String,
    Kind::String,
    Kind::Array,
    Kind::Array,
    Kind::Object,
    Kind::Object,
];

pub(crate) const NAMES: &[&str] =
    &["a", "b", "c", "ab", "name", "é\"x", "quite_a_long_name", "", "~/", "\u{1F432}"];

/// Members with different names.
#[derive(Default)]
pub(crate) struct Members(pub(crate) Vec<(String, Json)>);

impl Members {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }

    /// Adds a member, unless there is one with its name.
    pub(crate) fn put(&mut self, name: &str, value: Json) {
        if !self.has(name) {
            self.0.push((name.to_owned(), value));
        }
    }
}

/// A random value of any kind.
pub(crate) fn value(random: &mut Random, depth: usize) -> Json {
    let kind = *random.pick(&KINDS);
    value_of(random, kind, depth)
}

pub(crate) fn value_of(random: &mut Random, kind: Kind, depth: usize) -> Json {
    let kind = if random.one_in(10) { *random.pick(&KINDS) } else { kind };
    match kind {
        Kind::Null => Json::Null,
        Kind::Boolean => Json::Bool(random.one_in(2)),
        Kind::Number => Json::Number(number(random, -4)),
        Kind::String => Json::text(random.word(TEXTS)),
        _ if depth == 0 => Json::number(random.below(3)),
        Kind::Array => Json::Array((0..random.below(4)).map(|_| value(random, depth - 1)).collect()),
        Kind::Object => {
            let mut members = Members::default();
            for _ in 0..random.below(4) {
                let name = random.word(NAMES);
                members.put(name, value(random, depth - 1));
            }
            Json::Object(members.0)
        }
    }
}

/// The text of a number, mostly a small one from `low` on.
pub(crate) fn number(random: &mut Random, low: i64) -> String {
    let small = low + random.below(13) as i64;
    match random.below(24) {
        0..=11 => small.to_string(),
        12..=16 => format!("{small}.{}", random.below(10)),
        17..=19 => format!("{small}.{:02}", random.below(100)),
        20 => format!("{small}.0"),
        21 => format!("{small}e{}", random.below(3)),
        22 => random.word(&["0.1", "0.2", "0.3", "0.7", "1.1", "0.01", "4.35", "1e-7", "-0"]).to_owned(),
        _ => random.word(LARGE).to_owned(),
    }
}

/// Numbers that a double cannot hold, or only just.
const LARGE: &[&str] = &[
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "12345678901234567890123",
    "12345678901234567890123.5",
    "0.10000000000000000000001",
    "1e20",
    "1e300",
    "-1e300",
    "1e-300",
    "3.0000000000000000001",
];

pub(crate) const FACTORS: &[&str] = &[
    "1", "2", "3", "0.5", "0.1", "0.01", "1.5", "0.3", "10", "1e1", "0.7", "2.0", "0.25", "1e-2", "5",
    "1e20", "7",
];

pub(crate) const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "ab",
    "abc",
    "cab-1",
    "é",
    "a\u{1F432}",
    "\u{1F432}\u{1F432}",
    "name",
    "~/",
    "é\"x",
    "a\nb",
    "1",
    "0.5",
    "e\u{301}",
    "A_b",
    "quite_a_long_name",
];
