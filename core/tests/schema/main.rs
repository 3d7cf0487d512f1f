//! The schema layer through its public interface: what compiles and what is refused, what is accepted and
//! what is reported, what it costs, the public suite and real tool lists.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking
#![allow(clippy::cast_possible_truncation)] // random numbers are cut down

mod budget;
mod check;
mod coerce;
mod coerce_applied;
mod coerce_random;
mod compile;
mod cost;
#[cfg(all(feature = "format", feature = "pattern"))]
mod formats;
mod growth;
mod hostile;
mod left_out;
mod mutual;
#[cfg(feature = "pattern")]
mod patterns;
mod quick;
mod random;
mod refs;
mod report;
mod resources;
mod suite;
mod unique;

use std::io::Write as _; // the runner hides what passing tests print
use std::path::PathBuf;

use toolcore::schema::{
    CheckError, CheckOptions, CompileOptions, ListReport, Report, Schema, SchemaError, SchemaErrorKind,
    Violation, compile, program_size,
};
use toolcore::sink::Sink;

/// A folder of `../shared`, or a printed line that the test is skipped.
fn shared(path: &str, test: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    if folder.is_dir() {
        return Some(folder.join(path));
    }
    let line = format!("skipped: {test}: ../shared is absent\n");
    std::io::stderr().write_all(line.as_bytes()).ok();
    None
}

/// The program of a schema, compiled in as much memory as was measured.
fn program(schema: &str) -> Vec<u8> {
    try_program(schema, &CompileOptions::default()).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn try_program(schema: &str, options: &CompileOptions) -> Result<Vec<u8>, SchemaError> {
    let mut memory = vec![0xA5; program_size(schema, options)?];
    let used = compile(schema, options, &mut memory)?;
    memory.truncate(used);
    Ok(memory)
}

/// Why a schema is refused, and where.
fn refusal(schema: &str) -> (SchemaErrorKind, String) {
    let error = try_program(schema, &CompileOptions::default())
        .err()
        .unwrap_or_else(|| panic!("{schema} should be refused"));
    (error.kind, text(|sink| error.write_path(schema, sink)))
}

/// The violations of an instance, each as `path: message`. The verdict agrees with them.
fn violations(schema: &str, instance: &str) -> Vec<String> {
    try_violations(schema, instance).unwrap_or_else(|error| panic!("{schema} {instance}: {error}"))
}

fn try_violations(schema: &str, instance: &str) -> Result<Vec<String>, CheckError> {
    violations_of(Schema::new(schema, &program(schema)), instance)
}

/// As `violations`, for a schema that is compiled.
fn violations_of(schema: Schema<'_>, instance: &str) -> Result<Vec<String>, CheckError> {
    let options = CheckOptions::default();
    let mut all = All::default();
    let verdict =
        schema.check(instance.as_bytes(), &options, &mut vec![0; schema.work_words(&options)], &mut all)?;
    let mut again = All::default();
    let work = &mut vec![0; schema.work_words(&options)];
    assert_eq!(schema.check_str(instance, &options, work, &mut again)?.valid, verdict.valid);
    assert_eq!(again.0, all.0);
    assert_eq!(verdict.problems, all.0.len());
    assert_eq!(verdict.valid, all.0.is_empty());

    Ok(all.0)
}

fn accepts(schema: &str, instance: &str) -> bool {
    violations(schema, instance).is_empty()
}

/// Collects `path: message`.
#[derive(Default)]
struct All(Vec<String>);

impl Report for All {
    fn violation(&mut self, violation: &Violation<'_>) {
        self.0.push(text(|sink| {
            violation.write_path(sink);
            sink.put(": ");
            violation.write_message(sink);
        }));
    }
}

/// What a function writes.
fn text(write: impl Fn(&mut Sink<'_>)) -> String {
    let mut measure = Sink::measure();
    write(&mut measure);
    let mut buffer = vec![0; measure.len()];
    let mut sink = Sink::new(&mut buffer);
    write(&mut sink);
    sink.finish().unwrap().to_owned()
}

/// The violations as one line.
fn listed(schema: &str, instance: &str) -> String {
    let program = program(schema);
    let schema = Schema::new(schema, &program);
    let mut buffer = [0; 4096];
    let mut sink = Sink::new(&mut buffer);
    let mut report = ListReport::new(&mut sink);
    schema.check(instance.as_bytes(), &CheckOptions::default(), &mut [0; 4096], &mut report).unwrap();
    report.finish();
    sink.finish().unwrap().to_owned()
}
