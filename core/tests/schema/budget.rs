//! Steps: what takes time takes steps, so that the budget bounds the time of whatever comes in.

use std::time::{Duration, Instant};

use super::{All, program, text};
use toolcore::schema::{
    CheckError, CheckOptions, CoerceError, CoerceOptions, NoReport, Report, Schema, coerce,
};

/// How many steps are enough, found by halving.
fn steps(enough: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, 1 << 30);
    assert!(enough(high));
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// How many a check takes.
fn check_steps(schema: &str, instance: &str, report: fn() -> Box<dyn Report>) -> u32 {
    let program = program(schema);
    steps(|steps| match checked(schema, &program, instance, steps, &mut *report()) {
        Ok(_) => true,
        Err(CheckError::StepLimit) => false,
        Err(error) => panic!("{error}"),
    })
}

fn checked(
    schema: &str,
    program: &[u8],
    instance: &str,
    steps: u32,
    report: &mut dyn Report,
) -> Result<usize, CheckError> {
    let options = CheckOptions { steps, ..CheckOptions::default() };
    let verdict = Schema::new(schema, program).check(instance.as_bytes(), &options, &mut [0; 4096], report);
    verdict.map(|verdict| verdict.problems)
}

/// How many a coercion takes whose changes are told with their paths or not.
fn coerce_steps(schema: &str, instance: &str, paths: bool) -> u32 {
    let program = program(schema);
    steps(|steps| match coerced(schema, &program, instance, steps, paths) {
        Ok(_) => true,
        Err(CoerceError::StepLimit) => false,
        Err(error) => panic!("{error}"),
    })
}

/// The changes, with their paths if these are wanted.
fn coerced(
    schema: &str,
    program: &[u8],
    instance: &str,
    steps: u32,
    paths: bool,
) -> Result<Vec<String>, CoerceError> {
    let check = CheckOptions { steps, ..CheckOptions::default() };
    let options = CoerceOptions { check, ..CoerceOptions::default() };
    let (mut work, mut out) = ([0; 1000], vec![0; 4 * instance.len() + schema.len() * 20]);
    let mut changes = Vec::new();
    coerce(Schema::new(schema, program), instance, &options, &mut work, &mut out, &mut |change| {
        let path = if paths { text(|sink| change.write_path(sink)) } else { String::new() };
        changes.push(path + " " + change.rule.name());
    })?;
    Ok(changes)
}

fn quiet() -> Box<dyn Report> {
    Box::new(NoReport)
}

fn telling() -> Box<dyn Report> {
    Box::new(All::default())
}

/// An array of so many strings where integers are wanted.
fn strings(count: usize) -> String {
    format!("[{}]", vec!["\"5\""; count].join(","))
}

const INTEGERS: &str = r#"{"type":"array","items":{"type":"integer"}}"#;

/// Time that is ample for reading 320 kB a few times without optimisation, and little for reading it 80,000
/// times.
const AMPLE: Duration = Duration::from_secs(20);

#[test]
fn telling_of_eighty_thousand_violations_takes_time_in_proportion_to_them() {
    let (program, instance) = (program(INTEGERS), strings(80_000));
    let start = Instant::now();
    let mut all = All::default();
    let steps = CheckOptions::default().steps;
    assert_eq!(checked(INTEGERS, &program, &instance, steps, &mut all), Ok(80_000));
    println!("{} kB, each violation told: {:?}", instance.len() / 1024, start.elapsed());
    assert!(start.elapsed() < AMPLE);
    assert_eq!(all.0.last().map(String::as_str), Some("/79999: expected integer, got string \"5\""));
}

#[test]
fn telling_of_eighty_thousand_changes_takes_time_in_proportion_to_them() {
    let (program, instance) = (program(INTEGERS), strings(80_000));
    let start = Instant::now();
    let changes = coerced(INTEGERS, &program, &instance, CheckOptions::default().steps, true).unwrap();
    println!("{} kB, each change told: {:?}", instance.len() / 1024, start.elapsed());
    assert!(start.elapsed() < AMPLE);
    assert_eq!(changes.len(), 80_000);
    assert_eq!(changes.last().map(String::as_str), Some("/79999 integer-from-string"));
}

#[test]
fn eighty_thousand_strings_that_hold_arrays_are_read_in_time() {
    let schema = r#"{"items":{"type":"array"}}"#;
    let (program, instance) = (program(schema), format!("[{}]", vec![r#""[\"øåß\"]""#; 80_000].join(",")));
    let start = Instant::now();
    let changes = coerced(schema, &program, &instance, CheckOptions::default().steps, false).unwrap();
    println!("{} kB, each string read: {:?}", instance.len() / 1024, start.elapsed());
    assert!(start.elapsed() < AMPLE);
    assert_eq!(changes.len(), 80_000);
}

#[test]
fn a_violation_takes_a_step_and_its_texts_take_more_when_they_are_long() {
    assert_eq!(check_steps(INTEGERS, "[1,2]", quiet), 0);
    assert_eq!(check_steps(INTEGERS, &strings(100), quiet), 100);
    assert_eq!(check_steps(INTEGERS, &strings(100), telling), 100);
    // The path of each is 6,400 bytes long, and written twice: once to measure it.
    let schema = format!("{{\"additionalProperties\":{INTEGERS}}}");
    let instance = format!("{{\"{}\":{}}}", "k".repeat(6400), strings(100));
    // Beside the violations, the keys of what has no entry are compared.
    let silent = check_steps(&schema, &instance, quiet);
    assert!(silent > 100 && silent < 1 + 100 + instance.len() as u32 / 8, "{silent}");
    assert_eq!(check_steps(&schema, &instance, telling), silent + 100 * 2 * 100);
    // A list of what would be right is not gone through to its end.
    let values: Vec<String> = (0..1000).map(|value| format!("\"v{value}\"")).collect();
    let schema = format!("{{\"enum\":[{}]}}", values.join(","));
    let steps = check_steps(&schema, "\"x\"", telling);
    assert!((1001..1020).contains(&steps), "{steps}");
}

#[test]
fn a_check_whose_report_used_up_the_steps_has_no_verdict() {
    let program = program(INTEGERS);
    let mut all = All::default();
    let verdict = checked(INTEGERS, &program, &strings(100), 60, &mut all);
    assert_eq!(verdict, Err(CheckError::StepLimit));
    assert_eq!(all.0.len(), 61);
}

#[test]
fn the_path_of_a_change_takes_steps_when_it_is_long() {
    let quiet = coerce_steps(INTEGERS, &strings(100), false);
    assert_eq!(coerce_steps(INTEGERS, &strings(100), true), quiet);
    let schema = format!("{{\"additionalProperties\":{INTEGERS}}}");
    let instance = format!("{{\"{}\":{}}}", "k".repeat(6400), strings(100));
    let quiet = coerce_steps(&schema, &instance, false);
    assert_eq!(coerce_steps(&schema, &instance, true), quiet + 100 * 2 * 100);
}

#[test]
fn comparing_long_candidates_takes_steps_for_their_length() {
    let long = "a".repeat(6400);
    // The strings of these differ at their end.
    let strings = |escape: &str| {
        let candidates: Vec<String> = (0..10).map(|last| format!("\"{escape}{long}{last}\"")).collect();
        format!("{{\"enum\":[{}]}}", candidates.join(","))
    };
    let numbers: Vec<String> = (1..11).map(|last| format!("1.{}{last}", "0".repeat(6400))).collect();
    let numbers = format!("{{\"enum\":[{}]}}", numbers.join(","));
    for (schema, instance) in [
        (strings("\\u0062"), format!("\"b{long}x\"")),
        (strings("b"), format!("\"\\u0062{long}x\"")),
        (strings("b"), format!("\"b{long}x\"")),
        (strings("b"), format!("\"b{long}9\"")),
        (numbers, format!("1.{}05", "0".repeat(6400))),
    ] {
        let steps = check_steps(&schema, &instance, quiet);
        println!("{schema:.20}… {instance:.10}…: {steps} steps");
        assert!((1000..1100).contains(&steps), "{steps} for {schema:.20} {instance:.10}");
    }
    // Short ones take a step each, and those that cannot be equal too.
    assert_eq!(check_steps(r#"{"enum":["a","\u0062",1,2.5,"c"]}"#, "\"c\"", quiet), 5);
    assert_eq!(check_steps(&strings("b"), "\"c\"", quiet), 10 + 1);
}

#[test]
fn comparing_with_a_long_bound_takes_steps_for_its_length() {
    let schema = format!("{{\"items\":{{\"minimum\":0.{}1}}}}", "0".repeat(6400));
    assert_eq!(check_steps(&schema, "[1,1,1]", quiet), 3 * 100);
    assert_eq!(check_steps(r#"{"items":{"minimum":0.5}}"#, "[1,1.5,1e3]", quiet), 0);
}

#[test]
fn looking_for_defaults_behind_references_takes_steps() {
    let schema = |length: usize| {
        format!(
            r##"{{"items":{{"properties":{{"a":{{"$ref":"#/$defs/a"}}}}}},"$defs":{{"a":{{"type":"integer","title":"default {}"}}}}}}"##,
            "x".repeat(length)
        )
    };
    let instance = format!("[{}]", vec!["{}"; 100].join(","));
    let (short, long) =
        (coerce_steps(&schema(0), &instance, false), coerce_steps(&schema(6400), &instance, false));
    println!("{short} steps, with a long definition {long}");
    assert!(long >= short + 100 * 100);
}

#[test]
fn a_dynamic_reference_takes_no_more_steps_among_many_documents() {
    let schema = |documents: usize| {
        let other = |number| format!(r#""d{number}":{{"$id":"d{number}","$dynamicAnchor":"n"}}"#);
        let others: Vec<_> = (0..documents).map(other).collect();
        format!(
            r##"{{"$id":"https://example.com/","$dynamicAnchor":"n","items":{{"$dynamicRef":"#n"}},"$defs":{{{}}}}}"##,
            others.join(",")
        )
    };
    let instance = format!("[{}]", vec!["1"; 100].join(","));
    let (few, many) =
        (check_steps(&schema(0), &instance, quiet), check_steps(&schema(800), &instance, quiet));
    println!("{few} steps, among 800 documents {many}");
    // A name that the outermost document has is bound when compiling.
    assert_eq!(many, few);
}

/// The number of documents stands in the program. One that was not compiled can have any number there.
#[test]
fn a_dynamic_reference_of_a_damaged_program_does_not_count_to_four_billion() {
    let schema = r##"{"$id":"https://example.com/","$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},
        "$defs":{"d":{"$id":"d","$dynamicAnchor":"n"}}}"##;
    let whole = program(schema);
    assert_eq!(checked(schema, &whole, "[1]", 1000, &mut NoReport).unwrap(), 0);
    let instance = format!("[{}]", vec!["1"; 100].join(","));
    let begin = Instant::now();
    for at in 16..whole.len() {
        let mut program = whole.clone();
        program[at] = 0xFF;
        checked(schema, &program, &instance, 1000, &mut NoReport).ok();
    }
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}
