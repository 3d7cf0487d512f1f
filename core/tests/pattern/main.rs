//! Regular expressions through their public interface: what compiles and what is refused, what matches, what
//! it costs, and what another engine says.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking
#![allow(clippy::cast_possible_truncation)] // random numbers are cut down

mod cost;
mod ecma;
mod random;
mod unicode;

use toolcore::json::Str;
use toolcore::schema::pattern::{
    MatchError, PatternError, PatternErrorKind, compile, is_match, is_valid, program_size, work_words,
};

/// The program of a pattern, in as much memory as was measured.
fn program(pattern: &str) -> Vec<u8> {
    try_program(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"))
}

fn try_program(pattern: &str) -> Result<Vec<u8>, PatternError> {
    let source = source(pattern);
    let pattern = str_of(&source);
    let need = program_size(pattern)?;
    let mut memory = vec![0xA5; need];
    let used = compile(pattern, &mut memory)?;
    if let Some(less) = need.checked_sub(4) {
        let error = compile(pattern, &mut vec![0; less]).unwrap_err();
        assert_eq!(error.kind, PatternErrorKind::NoSpace { need });
    }
    memory.truncate(used);
    Ok(memory)
}

fn matches(pattern: &str, text: &str) -> bool {
    run(&program(pattern), text, u32::MAX).unwrap().0
}

/// What a program says of a text, and the steps that it took.
fn run(program: &[u8], text: &str, steps: u32) -> Result<(bool, u32), MatchError> {
    let mut work = vec![0xA5A5_A5A5; work_words(program)];
    let mut left = steps;
    let source = source(text);
    is_match(program, str_of(&source), &mut work, &mut left).map(|found| (found, steps - left))
}

/// A text as the source of a JSON string, without its quotes.
fn source(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

fn str_of(source: &str) -> Str<'_> {
    Str::from_plain(source).unwrap_or_else(|| {
        let quoted: &'static str = Box::leak(format!("\"{source}\"").into_boxed_str());
        toolcore::json::parse(quoted.as_bytes(), &toolcore::json::Options::default())
            .unwrap()
            .as_str()
            .unwrap()
    })
}
