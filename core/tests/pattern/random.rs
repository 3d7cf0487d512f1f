//! Random patterns of what ECMA-262 and the crate `regex` have in common, on random texts.

use super::{PatternErrorKind, matches, program, run, try_program};

#[test]
fn another_engine_agrees_on_random_patterns_and_texts() {
    let rounds = if cfg!(debug_assertions) { 2_000 } else { 60_000 };
    let mut random = Random(11);
    let (mut yes, mut no) = (0, 0);
    for round in 0..rounds {
        let pattern = random.pattern(4);
        let theirs =
            regex::RegexBuilder::new(&pattern.replace("\\b", "(?-u:\\b)")).size_limit(1 << 30).build();
        let theirs = theirs.unwrap_or_else(|error| panic!("{error}"));
        let ours = match try_program(&pattern) {
            Ok(ours) => ours,
            // Nested repetitions can be more than there is room for.
            Err(error) if error.kind == PatternErrorKind::TooLarge => continue,
            Err(error) => panic!("{pattern:?}: {error}"),
        };
        for _ in 0..8 {
            let text = random.text();
            let found = run(&ours, &text, 1 << 24).unwrap().0;
            assert_eq!(found, theirs.is_match(&text), "{round}: {pattern:?} on {text:?}");
            if found { yes += 1 } else { no += 1 }
        }
    }
    assert!(yes > rounds && no > rounds, "{yes} {no}");
}

/// Counted groups inside one another, on long texts of what is in them: compared with copies of the groups.
#[test]
fn another_engine_agrees_on_counted_groups() {
    let rounds = if cfg!(debug_assertions) { 1_000 } else { 20_000 };
    let mut random = Random(15);
    let (mut yes, mut no) = (0, 0);
    for round in 0..rounds {
        let mut pattern = random.group(3);
        if random.below(2) == 0 {
            pattern = format!("^{pattern}$");
        }
        let theirs = regex::RegexBuilder::new(&pattern).size_limit(1 << 30).build().unwrap();
        let ours = program(&pattern);
        for _ in 0..8 {
            let length = random.below(60);
            let text: String = (0..length).map(|_| ['a', 'b', 'a', 'a', 'b', 'c'][random.below(6)]).collect();
            let found = run(&ours, &text, u32::MAX).unwrap().0;
            assert_eq!(found, theirs.is_match(&text), "{round}: {pattern} on {text}");
            if found { yes += 1 } else { no += 1 }
        }
    }
    assert!(yes > rounds && no > rounds, "{yes} {no}");
}

/// A lookahead at the start or the end of a pattern is an intersection of languages.
#[test]
fn a_lookahead_holds_where_its_pattern_does() {
    let mut random = Random(12);
    for _ in 0..1000 {
        let (a, b) = (random.pattern(2), random.pattern(2));
        let both = [format!("^(?={a})(?:{b})$"), format!("^(?!(?!{a}))(?:{b})$")];
        let differs = format!("^(?!{a})(?:{b})$");
        for _ in 0..6 {
            let text = random.text();
            let (first, second) =
                (matches(&format!("^(?:{a})"), &text), matches(&format!("^(?:{b})$"), &text));
            for both in &both {
                assert_eq!(matches(both, &text), first && second, "{both} on {text:?}");
            }
            assert_eq!(matches(&differs, &text), !first && second, "{differs} on {text:?}");
        }
    }
}

/// Texts of the characters that patterns are made of: whatever they are, nothing panics, and what compiles can
/// be run.
#[test]
fn no_text_is_too_odd_to_be_a_pattern() {
    let parts = [
        "a",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "2",
        ",",
        "*",
        "+",
        "?",
        "|",
        "\\",
        "^",
        "$",
        ".",
        "-",
        "=",
        "!",
        "<",
        ">",
        ":",
        "é",
        "d",
        "p",
        "{L}",
        "u",
        "k",
        "(?=",
        "(?!",
        "[^",
        "{1,9}",
        "\\u",
        "\u{1F432}",
    ];
    let mut random = Random(13);
    let mut compiled = 0;
    for _ in 0..10_000 {
        let pattern: String = (0..random.below(12)).map(|_| parts[random.below(parts.len())]).collect();
        if let Ok(program) = try_program(&pattern) {
            compiled += 1;
            run(&program, "a2dé(\u{1F432}", 1 << 20).unwrap();
        }
    }
    assert!(compiled > 1000, "{compiled}");
}

/// Programs of random words: an answer or an error, and an end.
#[test]
fn a_program_that_no_one_compiled_does_no_harm() {
    let mut random = Random(14);
    for _ in 0..10_000 {
        let mut program = program(&random.pattern(3));
        for _ in 0..1 + random.below(4) {
            let at = 12 + random.below(program.len() - 12);
            program[at] = random.next() as u8;
        }
        run(&program, &random.text(), 10_000).ok();
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound
    }

    fn text(&mut self) -> String {
        let letters = ['a', 'b', 'c', 'a', 'b', '1', ' ', 'é', '\u{1F432}', '-', '_', '\n'];
        (0..self.below(14)).map(|_| letters[self.below(letters.len())]).collect()
    }

    fn pattern(&mut self, depth: usize) -> String {
        let alternatives = if self.below(4) == 0 { 2 + self.below(2) } else { 1 };
        let all: Vec<String> = (0..alternatives)
            .map(|_| (0..self.below(4)).map(|_| self.part(depth)).collect::<String>())
            .collect();
        all.join("|")
    }

    fn part(&mut self, depth: usize) -> String {
        let atom = match self.below(if depth == 0 { 8 } else { 11 }) {
            0 | 1 => "a".to_owned(),
            2 => "b".to_owned(),
            3 => {
                ["[ab]", "[^a]", "[a-c1]", "[^\\s\\S]", "[é-\u{1F432}]", "[\\dc_-]"][self.below(6)].to_owned()
            }
            4 => ["\\p{L}", "\\P{L}", "[0-9]", "[^0-9]", "\u{1F432}", "\\p{Lu}"][self.below(6)].to_owned(),
            // Anchors and boundaries take no quantifier.
            5 => return ["^", "$", "\\b"][self.below(3)].to_owned(),
            6 => "[^\\n\\r\u{2028}\u{2029}]".to_owned(),
            7 => "c".to_owned(),
            8 => format!("({})", self.pattern(depth - 1)),
            9 => format!("(?:{})", self.pattern(depth - 1)),
            _ => format!("(?<n{}>{})", self.next() % 1_000_000_007, self.pattern(depth - 1)),
        };
        let quantifier = match self.below(10) {
            0 => "*".to_owned(),
            1 => "+".to_owned(),
            2 => "?".to_owned(),
            3 => "*?".to_owned(),
            4 => format!("{{{}}}", self.below(4)),
            5 => format!("{{{},}}", self.below(9)),
            6 => {
                let least = self.below(9);
                format!("{{{least},{}}}", least + self.below(9))
            }
            _ => String::new(),
        };
        atom + &quantifier
    }

    /// A group that is repeated many times.
    fn group(&mut self, depth: usize) -> String {
        let parts = (0..1 + self.below(3)).map(|_| match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => "a".to_owned(),
            1 => "b?".to_owned(),
            2 => "[ab]".to_owned(),
            3 => format!("a{{{},{}}}", self.below(4), 7 + self.below(9)),
            4 => ["a*", "b|", "c|a", "^", "(?:)"][self.below(5)].to_owned(),
            5 => format!("[abc]{{{},}}", 5 + self.below(4)),
            _ => self.group(depth - 1),
        });
        let body: String = parts.collect();
        let least = self.below(7);
        match self.below(4) {
            0 => format!("(?:{body}){{{}}}", 2 + least),
            1 => format!("(?:{body}){{{},}}", 2 + least),
            _ => format!("(?:{body}){{{least},{}}}", least + 1 + self.below(9)),
        }
    }
}
