//! Random patterns of what ECMA-262 and the crate's engine have in common, each with texts that may match.

use super::random::Random;

/// A pattern and texts that are made after it.
pub(crate) struct Pattern {
    pub(crate) written: String,
    /// The same in words that leave nothing to an engine's idea of a word, a digit or a blank.
    pub(crate) explicit: String,
    pub(crate) samples: Vec<String>,
}

/// A part of a pattern as it is written, and what it is made of.
struct Part {
    written: String,
    explicit: String,
    shape: Shape,
}

enum Shape {
    /// One of these.
    OneOf(&'static str),
    /// Nothing: an anchor, a boundary, a lookahead.
    Empty,
    Sequence(Vec<Part>),
    Choice(Vec<Part>),
    Repeat(Box<Part>, usize, usize),
}

pub(crate) fn pattern(random: &mut Random) -> Pattern {
    let inner = alternatives(random, 2);
    let choice = matches!(inner.shape, Shape::Choice(_));
    let (open, close) = match random.below(5) {
        0 => ("^", ""),
        1 => ("", "$"),
        2 | 3 => ("^", "$"),
        _ => ("", ""),
    };
    let around = |inner: &str| match (choice, open.len() + close.len()) {
        (true, 1..) => format!("{open}(?:{inner}){close}"),
        _ => format!("{open}{inner}{close}"),
    };
    let samples = (0..4)
        .map(|_| {
            let mut text = String::new();
            sample(&inner, random, &mut text);
            text
        })
        .collect();
    Pattern { written: around(&inner.written), explicit: around(&inner.explicit), samples }
}

impl Part {
    fn atom((written, chars): (&'static str, &'static str)) -> Part {
        Part {
            written: written.to_owned(),
            explicit: explicit(written).to_owned(),
            shape: Shape::OneOf(chars),
        }
    }

    fn joined(parts: Vec<Part>, between: &str, shape: fn(Vec<Part>) -> Shape) -> Part {
        let join = |text: fn(&Part) -> &str| parts.iter().map(text).collect::<Vec<_>>().join(between);
        let (written, explicit) = (join(|part| &part.written), join(|part| &part.explicit));
        Part { written, explicit, shape: shape(parts) }
    }

    fn inside(self, before: &str, after: &str, shape: impl FnOnce(Part) -> Shape) -> Part {
        let around = |text: &str| format!("{before}{text}{after}");
        Part { written: around(&self.written), explicit: around(&self.explicit), shape: shape(self) }
    }

    /// Whether it matches nothing but the empty text, which the crate's engine does not repeat.
    fn has_no_width(&self) -> bool {
        match &self.shape {
            Shape::OneOf(_) => false,
            Shape::Empty => true,
            Shape::Sequence(parts) | Shape::Choice(parts) => parts.iter().all(Part::has_no_width),
            Shape::Repeat(part, _, most) => *most == 0 || part.has_no_width(),
        }
    }
}

fn alternatives(random: &mut Random, depth: usize) -> Part {
    if !random.one_in(4) {
        return sequence(random, depth);
    }
    let parts = (0..2 + random.below(2)).map(|_| sequence(random, depth)).collect();
    Part::joined(parts, "|", Shape::Choice)
}

fn sequence(random: &mut Random, depth: usize) -> Part {
    let parts = (0..random.below(4)).map(|_| quantified(random, depth)).collect();
    Part::joined(parts, "", Shape::Sequence)
}

fn quantified(random: &mut Random, depth: usize) -> Part {
    let part = match random.below(if depth == 0 { 12 } else { 16 }) {
        0..=7 => Part::atom(*random.pick(ATOMS)),
        8 | 9 => Part::atom(*random.pick(CLASSES)),
        10 => Part::atom(*random.pick(PROPERTIES)),
        // What takes no quantifier.
        11 => {
            let written = random.word(&["^", "$", "\\b", "\\B"]);
            return Part { shape: Shape::Empty, ..Part::atom((written, "")) };
        }
        12 => {
            let open = random.word(&["(?=", "(?!"]);
            return alternatives(random, depth - 1).inside(open, ")", |_| Shape::Empty);
        }
        _ => {
            let open = random.word(&["(", "(?:"]);
            alternatives(random, depth - 1).inside(open, ")", |inner| Shape::Sequence(vec![inner]))
        }
    };
    if part.has_no_width() {
        return part;
    }
    let (sign, least, most) = match random.below(12) {
        0 => ("*".to_owned(), 0, 3),
        1 => ("+".to_owned(), 1, 3),
        2 => ("?".to_owned(), 0, 1),
        3 => ("+?".to_owned(), 1, 2),
        4 => {
            let least = random.below(4);
            (format!("{{{least}}}"), least, least)
        }
        5 => {
            let least = random.below(3);
            (format!("{{{least},}}"), least, least + 2)
        }
        6 => {
            let least = random.below(3);
            let most = least + random.below(4);
            (format!("{{{least},{most}}}"), least, most)
        }
        _ => return part,
    };
    part.inside("", &sign, |part| Shape::Repeat(Box::new(part), least, most))
}

fn sample(part: &Part, random: &mut Random, text: &mut String) {
    match &part.shape {
        Shape::OneOf(chars) => text.extend(chars.chars().nth(random.below(chars.chars().count()))),
        Shape::Empty => {}
        Shape::Sequence(parts) => parts.iter().for_each(|part| sample(part, random, text)),
        Shape::Choice(parts) => sample(random.pick(parts), random, text),
        Shape::Repeat(part, least, most) => {
            for _ in 0..least + random.below(most - least + 1) {
                sample(part, random, text);
            }
        }
    }
}

/// Atoms, and characters that they match.
const ATOMS: &[(&str, &str)] = &[
    ("a", "a"),
    ("a", "a"),
    ("b", "b"),
    ("b", "b"),
    ("c", "c"),
    ("-", "-"),
    ("_", "_"),
    ("é", "é"),
    ("\u{1F432}", "\u{1F432}"),
    ("\\.", "."),
    ("\\/", "/"),
    ("\\+", "+"),
    ("\\\\", "\\"),
    ("\\t", "\t"),
    ("\\n", "\n"),
    ("\\x61", "a"),
    ("\\u00e9", "é"),
    (".", "ab1é\u{1F432}"),
];

const CLASSES: &[(&str, &str)] = &[
    ("[ab]", "ab"),
    ("[^a]", "b1é\n"),
    ("[a-c1]", "abc1"),
    ("[é-\u{1F432}]", "é\u{1F432}\u{20AC}"),
    ("[\\dc_-]", "09c_-"),
    ("[^\\w-]", " é.\n"),
    ("[0-9]", "019"),
    ("[A-Za-z_]", "aZ_"),
    ("[\\s\\S]", " a\n\u{1F432}"),
];

const PROPERTIES: &[(&str, &str)] = &[
    ("\\d", "019"),
    ("\\D", "aé\u{0661}"),
    ("\\w", "aZ_9"),
    ("\\W", " é-\n"),
    ("\\s", " \n\t\u{A0}\u{FEFF}"),
    ("\\S", "aé\u{1F432}"),
    ("\\p{L}", "aZé\u{3B1}"),
    ("\\P{L}", "1 _\u{1F432}"),
    ("\\p{Lu}", "AZÉ"),
    ("\\p{Nd}", "09\u{0661}"),
];

/// An atom in the words of ECMA-262, sections 22.2.2.7 and 22.2.2.9, spelled out.
fn explicit(written: &'static str) -> &'static str {
    match written {
        "\\d" => "[0-9]",
        "\\D" => "[^0-9]",
        "\\w" => "[A-Za-z0-9_]",
        "\\W" => "[^A-Za-z0-9_]",
        "\\s" => {
            "[\t\n\u{B}\u{C}\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}]"
        }
        "\\S" => {
            "[^\t\n\u{B}\u{C}\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}]"
        }
        "." => "[^\n\r\u{2028}\u{2029}]",
        "[\\dc_-]" => "[0-9c_-]",
        "[^\\w-]" => "[^A-Za-z0-9_-]",
        "\\b" => "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))",
        "\\B" => "(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))",
        written => written,
    }
}
