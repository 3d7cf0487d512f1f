//! What must hold for any bytes at all, one function for each reader of the library.
//!
//! Each function takes one input and panics if a promise is broken: a panic or overflow inside the library, two readers
//! that disagree, an error that asks for room and is not content with it, output that is not JSON. The targets in
//! `fuzz_targets` hand in what libFuzzer finds; `core/tests/no_panic.rs` includes this file and hands in mutated seeds,
//! on a stable compiler. A function that takes several texts splits its input at NUL bytes, which JSON text never has.

mod context;
mod json;
mod schema;
mod turn;

pub use context::context;
pub use json::{json, json_write, number, reader, repair, value};
pub use schema::{coerce, declared, schema_check, schema_compile};
pub use turn::{answer, dispatch, register, reply};

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
    ("coerce", coerce),
    ("declared", declared),
    ("register", register),
    ("reply", reply),
    ("dispatch", dispatch),
    ("answer", answer),
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
