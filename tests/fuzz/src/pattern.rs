//! Patterns and formats.

use std::net::{Ipv4Addr, Ipv6Addr};

use toolcore::json::{self, Str};
use toolcore::schema::format::Format;
use toolcore::schema::pattern::{
    MatchError, PatternErrorKind, VISITS, compile, is_match, is_valid, program_size, work_words,
};
use toolcore::schema::{CheckOptions, CompileOptions, NoReport, Schema, compile as compile_schema};

use super::generate::pattern as generated_pattern;
use super::{finds, split, text};

/// A pattern and a text, and what the input says of a pattern that both engines know: the room that is measured is
/// enough, the steps are linear, the crate `regex` finds the same, and a damaged program does no harm.
pub fn pattern(input: &[u8]) {
    let (pattern, subject) = split(input);
    let (pattern, subject) = (text(pattern), text(subject));
    if let Some(program) = compiled(pattern) {
        let found = found(&program, subject, pattern);
        let theirs = means_the_same(pattern).then(|| other(pattern)).flatten();
        if let (Some(found), Some(theirs)) = (found, theirs) {
            assert_eq!(found, theirs.is_match(subject), "{pattern:?} on {subject:?}");
        }
        damaged(program, subject, input);
    }
    let (pattern, subjects) = generated_pattern(input);
    let Some(program) = compiled(&pattern) else { return };
    let Some(theirs) = other(&pattern) else { return };
    for subject in subjects {
        if let Some(found) = found(&program, &subject, &pattern) {
            assert_eq!(found, theirs.is_match(&subject), "{pattern:?} on {subject:?}");
        }
    }
}

/// The other engine's program. It has no counters, so that some patterns are too large for it.
fn other(pattern: &str) -> Option<regex::Regex> {
    let pattern = pattern.replace("\\b", "(?-u:\\b)");
    regex::RegexBuilder::new(&pattern).size_limit(1 << 18).build().ok()
}

/// The program, if the pattern is one. The room that is measured is just enough.
fn compiled(pattern: &str) -> Option<Vec<u8>> {
    let quoted = quoted(pattern);
    let string = string(&quoted);
    let need = match program_size(string) {
        Ok(need) => need,
        Err(error) => {
            assert_eq!(compile(string, &mut [0; 1 << 12]), Err(error), "{pattern:?}");
            assert!(error.offset < quoted.len());
            assert!(!error.kind.is_syntax() || !is_valid(string));
            return None;
        }
    };
    assert!(is_valid(string));
    let (mut clean, mut dirty) = (vec![0; need], vec![0xA5; need + 3]);
    let used = compile(string, &mut clean).unwrap();
    assert_eq!(compile(string, &mut dirty), Ok(used));
    assert_eq!(clean[..used], dirty[..used]);
    if let Some(less) = need.checked_sub(1) {
        let error = compile(string, &mut clean[..less]).unwrap_err();
        assert!(matches!(error.kind, PatternErrorKind::NoSpace { need: again } if again == need));
    }
    dirty.truncate(used);
    Some(dirty)
}

/// Whether the pattern is found, if a budget of steps that is linear is enough. It always is without lookahead and
/// without a counted group that an assertion lets be empty.
fn found(program: &[u8], subject: &str, pattern: &str) -> Option<bool> {
    let quoted = quoted(subject);
    let words = work_words(program);
    let looked_at = (program.len() / 4 + words + 8) as u64;
    let linear = (subject.chars().count() as u64 + 2) * looked_at * 2 / u64::from(VISITS) + 64;
    let budget = u32::try_from(linear).unwrap();
    let mut steps = budget;
    let answer = is_match(program, string(&quoted), &mut vec![0xA5A5; words], &mut steps);
    assert!(steps <= budget);
    if let Some(less) = words.checked_sub(1) {
        let answer = is_match(program, string(&quoted), &mut vec![0; less], &mut budget.clone());
        assert_eq!(answer, Err(MatchError::NoWork { need: words }));
    }
    match answer {
        Ok(found) => Some(found),
        Err(error) => {
            let looks = pattern.contains("(?=") || pattern.contains("(?!");
            let asserts = ["^", "$", "\\b", "\\B"].iter().any(|assertion| pattern.contains(assertion));
            assert!(
                looks || asserts && pattern.contains('{'),
                "{error} after {budget} steps: {pattern:?} on {subject:?}"
            );
            None
        }
    }
}

fn damaged(mut program: Vec<u8>, subject: &str, input: &[u8]) {
    let quoted = quoted(subject);
    for (at, byte) in input.iter().rev().take(4).enumerate() {
        let len = program.len();
        if len > 0 {
            program[(at * 37 + usize::from(*byte)) % len] ^= byte.rotate_left(3);
        }
    }
    is_match(&program, string(&quoted), &mut [0; 256], &mut 20_000).ok();
    let work = work_words(&program);
    if work < 1 << 20 {
        is_match(&program, string(&quoted), &mut vec![0; work], &mut 20_000).ok();
    }
}

/// Whether a pattern has only signs that mean the same to ECMA-262 and to the crate `regex`.
fn means_the_same(pattern: &str) -> bool {
    let plain = pattern.chars().all(|c| c.is_alphanumeric() || "()|*+?{},^$[]-: ".contains(c));
    // Classes inside classes or without anything, flags and names.
    let class = |rest: &str| {
        let inside = rest.split_once(']').map_or(rest, |(inside, _)| inside);
        inside.trim_start_matches('^').is_empty() || inside.contains('[') || inside.contains("--")
    };
    plain
        && !pattern.replace("(?:", "").contains("(?")
        && !pattern.split('[').skip(1).any(class)
        && !pattern.contains("[[")
}

/// A text: the formats that it has agree with each other, with what other readers say, and with a check; escapes in it
/// change nothing.
pub fn format(input: &[u8]) {
    let subject = text(input);
    let (plain, escaped) = (quoted(subject), escaped(subject));
    let has = |name: &str| {
        let format = Format::from_name(Str::from_plain(name).unwrap()).unwrap();
        let found = format.matches(string(&plain));
        assert_eq!(format.matches(string(&escaped)), found, "{name}: {escaped}");
        found
    };
    let mut work = [0; 16384];
    for format in Format::ALL {
        let schema = format!("{{\"format\":\"{}\"}}", format.name());
        let mut program = [0; 64];
        let options = CompileOptions { formats: true, ..CompileOptions::default() };
        let used = compile_schema(&schema, &options, &mut program).unwrap();
        let schema = Schema::new(&schema, &program[..used]);
        let verdict = schema.check_str(&plain, &CheckOptions::default(), &mut work, &mut NoReport).unwrap();
        assert_eq!(verdict.valid, has(format.name()), "{}: {subject:?}", format.name());
    }
    for (narrow, wide) in [
        ("email", "idn-email"),
        ("uri", "uri-reference"),
        ("uri", "iri"),
        ("iri", "iri-reference"),
        ("uri-reference", "iri-reference"),
    ] {
        assert!(!has(narrow) || has(wide), "{narrow} and not {wide}: {subject:?}");
    }
    assert_eq!(has("ipv4"), subject.parse::<Ipv4Addr>().is_ok(), "ipv4: {subject:?}");
    assert_eq!(has("ipv6"), subject.parse::<Ipv6Addr>().is_ok(), "ipv6: {subject:?}");
    assert_eq!(
        has("uuid"),
        finds("(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", subject),
        "uuid: {subject:?}"
    );
    assert_eq!(has("json-pointer"), finds("(?s)^(/([^/~]|~[01])*)*$", subject), "json-pointer: {subject:?}");
    let relative = "(?s)^(0|[1-9][0-9]*)([+-][1-9][0-9]*)?(#|(/([^/~]|~[01])*)*)$";
    assert_eq!(has("relative-json-pointer"), finds(relative, subject), "relative-json-pointer: {subject:?}");
    assert_eq!(has("regex"), is_valid(string(&plain)));
    let split = |at: usize| subject.split_at_checked(at).unwrap_or((subject, ""));
    let (date, time) = split(10);
    if has("date-time") {
        let of = |name: &str, part: &str| {
            Format::from_name(Str::from_plain(name).unwrap()).unwrap().matches(string(&quoted(part)))
        };
        assert!(
            of("date", date) && of("time", &time[1..]) && finds("[Tt]", &time[..1]),
            "date-time: {subject:?}"
        );
    }
    assert!(
        !has("date") || finds("^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", subject),
        "date: {subject:?}"
    );
    assert!(
        !has("hostname") || subject.len() <= 253 && finds("^[0-9A-Za-z.-]+$", subject),
        "hostname: {subject:?}"
    );
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// With every character as an escape.
fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

fn string(quoted: &str) -> Str<'_> {
    json::parse(quoted.as_bytes(), &json::Options::default()).unwrap().as_str().unwrap()
}
