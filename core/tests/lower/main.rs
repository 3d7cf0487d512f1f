//! Schemas in the subsets of the providers, against what their own documents and SDKs say of them.
#![cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod gemini;
mod lossless;
mod plain;
mod random;
mod references;
mod resources;
mod strict;
mod subsets;
mod traffic;

use serde_json::Value as Json;
use toolcore::json::Writer;
use toolcore::schema::subset::{
    ANTHROPIC, ANTHROPIC_STRICT, GEMINI_JSON, GEMINI_SCHEMA, OLLAMA, OPENAI, OPENAI_STRICT, PLAIN,
};
use toolcore::schema::{
    ChangeKind, CheckOptions, CompileOptions, NoReport, Resource, Schema, StrictProblemKind, Subset, compile,
    compile_with, lower_with,
};
use toolcore::sink::Sink;

/// Every subset with its name.
const ALL: [(&str, Subset); 8] = [
    ("plain", PLAIN),
    ("ollama", OLLAMA),
    ("openai", OPENAI),
    ("anthropic", ANTHROPIC),
    ("openai, strict", OPENAI_STRICT),
    ("anthropic, strict", ANTHROPIC_STRICT),
    ("gemini_json", GEMINI_JSON),
    ("gemini_schema", GEMINI_SCHEMA),
];

type Notes = Vec<(String, ChangeKind)>;

/// What a schema becomes and what is told of it, or why it is refused; with JSON Pointers.
fn try_lower(schema: &str, subset: &Subset) -> Result<(String, Notes), (String, StrictProblemKind)> {
    try_lower_with(schema, &[], subset)
}

fn try_lower_with(
    schema: &str,
    resources: &[Resource<'_>],
    subset: &Subset,
) -> Result<(String, Notes), (String, StrictProblemKind)> {
    let mut program = vec![0; 4096 + 64 * schema.len()];
    if let Err(error) = compile_with(schema, resources, &CompileOptions::default(), &mut program) {
        panic!("{schema}: {error}");
    }
    let mut buffer = vec![0; 16 * 1024 + 64 * schema.len()];
    let mut sink = Sink::new(&mut buffer);
    let mut notes = Notes::new();
    let written = lower_with(schema, resources, subset, &mut Writer::new(&mut sink), &mut |change| {
        notes.push((path(|sink| change.write_path(sink)), change.kind));
    });
    match written {
        Ok(()) => Ok((sink.finish().unwrap().into(), notes)),
        Err(problem) => Err((path(|sink| problem.write_path(schema, sink)), problem.kind)),
    }
}

fn path(write: impl Fn(&mut Sink<'_>)) -> String {
    let mut buffer = [0; 4096];
    let mut sink = Sink::new(&mut buffer);
    write(&mut sink);
    sink.finish().unwrap().into()
}

fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
}

/// Holds a lowering to the expected schema, as text without blanks, and to the expected notes in any order.
#[track_caller]
fn expect(schema: &str, subset: &Subset, expected: &str, notes: &[(&str, ChangeKind)]) {
    let (text, told) = try_lower(schema, subset).unwrap_or_else(|why| panic!("{schema}: {why:?}"));
    assert_eq!(read(&text), read(expected), "{schema} became\n{text}");
    let mut told: Vec<String> = told.iter().map(|note| format!("{note:?}")).collect();
    let mut expected: Vec<String> = notes.iter().map(|note| format!("{note:?}")).collect();
    told.sort();
    expected.sort();
    assert_eq!(told, expected, "{schema} became\n{text}");
}

/// Holds a refusal to its place and kind.
#[track_caller]
fn refuses(schema: &str, subset: &Subset, path: &str, kind: StrictProblemKind) {
    match try_lower(schema, subset) {
        Ok((text, _)) => panic!("{schema} became {text}"),
        Err((at, problem)) => assert_eq!((at.as_str(), problem), (path, kind), "{schema}"),
    }
}

/// A schema with one property `a`, which is required.
fn with_a(schema: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"a":{schema}}},"required":["a"]}}"#)
}

/// Like [`expect`] for the property `a` of a schema; the notes are about places in it.
#[track_caller]
fn expect_a(schema: &str, subset: &Subset, expected: &str, notes: &[(&str, ChangeKind)]) {
    let closed = if is(subset, &OPENAI_STRICT) || is(subset, &ANTHROPIC_STRICT) {
        r#","additionalProperties":false"#
    } else {
        ""
    };
    let kind = if is(subset, &GEMINI_SCHEMA) { "OBJECT" } else { "object" };
    let expected = format!(r#"{{"type":"{kind}","properties":{{"a":{expected}}},"required":["a"]{closed}}}"#);
    let mut whole: Vec<(String, ChangeKind)> =
        notes.iter().map(|(path, kind)| (format!("/properties/a{path}"), *kind)).collect();
    if !closed.is_empty() {
        whole.push((String::new(), ChangeKind::Closed));
    }
    let whole: Vec<(&str, ChangeKind)> = whole.iter().map(|(path, kind)| (path.as_str(), *kind)).collect();
    expect(&with_a(schema), subset, &expected, &whole);
}

/// Whether two subsets say the same.
fn is(subset: &Subset, other: &Subset) -> bool {
    format!("{subset:?}") == format!("{other:?}")
}

fn compiles(schema: &str) -> bool {
    compile(schema, &CompileOptions::default(), &mut vec![0; 4096 + 64 * schema.len()]).is_ok()
}

/// Whether a schema accepts an instance.
fn accepts(schema: &str, instance: &str) -> bool {
    let mut program = vec![0; 4096 + 64 * schema.len()];
    let used = compile(schema, &CompileOptions::default(), &mut program)
        .unwrap_or_else(|error| panic!("{error}: {schema}"));
    let schema = Schema::new(schema, &program[..used]);
    let mut work = vec![0; 2048];
    schema.check_str(instance, &CheckOptions::default(), &mut work, &mut NoReport).unwrap().valid
}
