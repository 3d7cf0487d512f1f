//! What must hold for any bytes at all, one function for each reader of the library.
//!
//! Each function takes one input and panics if a promise is broken: a panic or overflow inside the library, two readers
//! that disagree, an error that asks for room and is not content with it, output that is not JSON. The targets in
//! `fuzz_targets` hand in what libFuzzer finds; `core/tests/no_panic` includes this file and hands in mutated seeds,
//! on a stable compiler. A function that takes several texts splits its input at NUL bytes, which JSON text never has.

mod context;
mod generate;
mod json;
mod oracle;
mod pattern;
mod render;
mod replay;
mod schedule;
mod schema;
mod stream;
mod turn;

use std::cell::RefCell;
use std::collections::HashMap;

pub use context::context;
pub use json::{json, json_write, number, reader, repair, value};
pub use pattern::{format, pattern};
pub use render::render;
pub use schema::{coerce, declared, schema_check, schema_compile, schema_generated, schema_program};
pub use stream::stream;
pub use turn::{answer, dispatch, register, reply};

/// Turns of calls that are answered later: the bytes are the schedule.
pub fn turn_schedule(input: &[u8]) {
    schedule::run(&input[..input.len().min(2048)]);
}

/// One function of this crate.
pub type Property = fn(&[u8]);

/// All of them by the name of their fuzz target.
pub const PROPERTIES: &[(&str, Property)] = &[
    ("json", json),
    ("reader", reader),
    ("value", value),
    ("repair", repair),
    ("json_write", json_write),
    ("number", number),
    ("schema_compile", schema_compile),
    ("schema_check", schema_check),
    ("schema_generated", schema_generated),
    ("schema_program", schema_program),
    ("pattern", pattern),
    ("format", format),
    ("coerce", coerce),
    ("declared", declared),
    ("register", register),
    ("reply", reply),
    ("dispatch", dispatch),
    ("answer", answer),
    ("turn_schedule", turn_schedule),
    ("stream", stream),
    ("render", render),
    ("context", context),
];

/// The part of `input` before the first NUL byte, and the rest.
fn split(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == 0) {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &[]),
    }
}

/// The start of `input` that is UTF-8.
fn text(input: &[u8]) -> &str {
    match std::str::from_utf8(input) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&input[..error.valid_up_to()]).unwrap(),
    }
}

/// What `write` writes, after checking that measuring it and writing it agree.
fn written(write: impl Fn(&mut toolcore::sink::Sink<'_>)) -> String {
    let mut measure = toolcore::sink::Sink::measure();
    write(&mut measure);
    let mut buffer = vec![0; measure.len()];
    let mut sink = toolcore::sink::Sink::new(&mut buffer);
    write(&mut sink);
    sink.finish().expect("what was measured is enough").to_owned()
}

/// Whether a pattern, one of few, is found by the crate `regex`. It is compiled once.
fn finds(pattern: &str, text: &str) -> bool {
    thread_local! {
        static COMPILED: RefCell<HashMap<String, regex::Regex>> = RefCell::default();
    }
    COMPILED.with_borrow_mut(|compiled| {
        let regex = compiled.entry(pattern.to_owned()).or_insert_with(|| regex::Regex::new(pattern).unwrap());
        regex.is_match(text)
    })
}
