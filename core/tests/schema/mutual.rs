//! Definitions that refer to each other: they compile, in the memory that was measured, and mean what they say.

use std::fmt::Write;
use std::time::Instant;

use super::{SchemaErrorKind, accepts, program, violations, violations_of};
use toolcore::schema::{CompileOptions, Schema, compile, program_size};

/// Random numbers (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }
}

/// So many definitions with so many references each, to any of them.
fn definitions(random: &mut Random, count: usize, references: usize) -> String {
    let mut schema = String::from("{\"$defs\":{");
    for number in 0..count {
        let comma = if number > 0 { "," } else { "" };
        write!(schema, "{comma}\"d{number}\":{{\"properties\":{{").unwrap();
        for member in 0..references {
            let comma = if member > 0 { "," } else { "" };
            let target = random.below(count);
            write!(schema, "{comma}\"p{member}\":{{\"$ref\":\"#/$defs/d{target}\"}}").unwrap();
        }
        schema.push_str("}}");
    }
    schema + "},\"$ref\":\"#/$defs/d0\"}"
}

/// The bytes used of those that were measured.
fn compiled(schema: &str) -> Result<(usize, usize), SchemaErrorKind> {
    let options = CompileOptions::default();
    let size = program_size(schema, &options).map_err(|error| error.kind)?;
    let used = compile(schema, &options, &mut vec![0xA5; size]).map_err(|error| error.kind)?;
    assert!(used <= size, "{schema}");
    Ok((used, size))
}

#[test]
fn forty_thousand_groups_of_definitions_compile_in_the_memory_that_was_measured() {
    let mut random = Random(777);
    let rounds = if cfg!(debug_assertions) { 5_000 } else { 40_000 };
    for _ in 0..rounds {
        let (count, references) = (2 + random.below(8), 1 + random.below(5));
        let schema = definitions(&mut random, count, references);
        assert!(compiled(&schema).is_ok(), "{:?}: {schema}", compiled(&schema));
    }
}

#[test]
fn many_definitions_with_many_references_compile_in_time() {
    let largest = if cfg!(debug_assertions) { (200, 30) } else { (1000, 30) };
    for (count, references) in [(20, 3), (20, 10), (60, 10), (200, 10), largest] {
        let schema = definitions(&mut Random(12345), count, references);
        let start = Instant::now();
        let (used, size) = compiled(&schema).unwrap();
        let took = start.elapsed();
        println!(
            "{count} definitions with {references} references each, {} bytes: {used} of {size} bytes in {took:?}",
            schema.len()
        );
        assert!(took.as_secs() < 20);
    }
}

#[test]
fn each_reference_is_bound_to_its_own_target() {
    let mut random = Random(4711);
    for _ in 0..200 {
        let count = 2 + random.below(30);
        // Each definition tells which one it is, and has members that lead to others.
        let targets: Vec<Vec<usize>> =
            (0..count).map(|_| (0..3).map(|_| random.below(count)).collect()).collect();
        let mut schema = String::from("{\"$defs\":{");
        for (number, targets) in targets.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(schema, "{comma}\"d{number}\":{{\"properties\":{{\"is\":{{\"const\":{number}}}").unwrap();
            for (member, target) in targets.iter().enumerate() {
                write!(schema, ",\"p{member}\":{{\"$ref\":\"#/$defs/d{target}\"}}").unwrap();
            }
            schema.push_str("}}");
        }
        schema.push_str("},\"$ref\":\"#/$defs/d0\"}");
        let program = program(&schema);
        let compiled = Schema::new(&schema, &program);
        for _ in 0..20 {
            let (mut at, mut instance, mut path) = (0, String::new(), String::new());
            for _ in 0..6 {
                let member = random.below(3);
                at = targets[at][member];
                write!(instance, "{{\"p{member}\":").unwrap();
                write!(path, "/p{member}").unwrap();
            }
            let spelled = |is: usize| format!("{instance}{{\"is\":{is}}}{}", "}".repeat(6));
            assert_eq!(violations_of(compiled, &spelled(at)), Ok(vec![]), "{schema} {}", spelled(at));
            assert_eq!(
                violations_of(compiled, &spelled(count)),
                Ok(vec![format!("{path}/is: expected {at}, got {count}")])
            );
        }
    }
}

#[test]
fn targets_inside_targets_are_bound_in_the_memory_that_was_measured() {
    for schema in [
        r##"{"items":{"properties":{"c":{"$ref":"#/$defs/b/properties/a"}}},"$defs":{"a":{"exclusiveMaximum":5.0,"exclusiveMinimum":10.0},"b":{"properties":{"a/b":{"$ref":"#/$defs/b"},"a":{"enum":[]}}}}}"##,
        r##"{"$defs":{"a":{"items":{"required":["k62","k89","k30","k54","k15","k77"]},"additionalProperties":{"$ref":"#/$defs/b"}},"b":{"properties":{"a~b":false}}},"$ref":"#/$defs/a"}"##,
        r##"{"additionalProperties":{"required":["k16","k11","k12","k43","k47","k63","k77","k26","k84","k5"]},"$ref":"#/$defs/b","items":{"$ref":"#/$defs/a"},"$defs":{"a":{"items":{}},"b":{"required":["c"]}}}"##,
    ] {
        assert!(compiled(schema).is_ok(), "{:?}: {schema}", compiled(schema));
    }
}

/// Such a target is compiled when the reference is bound, and takes memory that was not taken before.
#[test]
fn what_only_a_reference_compiles_is_measured_too() {
    for schema in [
        // A separator that does not look like one.
        r##"{"properties":{"a":{"b":TARGET},"c":{"$ref":"#/properties/a%2Fb"}}}"##,
        r##"{"properties":{"a":{"b":TARGET},"c":{"$ref":"#/properties/a%2fb"}}}"##,
        r##"{"properties":{"a":{"b":TARGET},"c":{"$ref":"#/properties/a\u002fb"}}}"##,
        r##"{"properties":{"a":{"b":TARGET},"c":{"$ref":"#/properties/a\/b"}}}"##,
        r##"{"properties":{"a":{"b":TARGET},"c":{"$ref":"#/properties/a\u00252Fb"}}}"##,
        // Beside a reference of draft 7 nothing is compiled.
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/d","properties":{"y":TARGET}},"c":{"$ref":"#/properties/a/properties/y"}},"definitions":{"d":{}}}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":TARGET,"$ref":"#/definitions/d"},"c":{"$ref":"#/properties/a/items"}},"definitions":{"d":{}}}"##,
    ] {
        let target = r#"{"minimum":5,"maximum":9,"properties":{"x":{"minimum":1},"y":{"const":{}}}}"#;
        let place = schema.replace("TARGET", target);
        assert!(compiled(&place).is_ok(), "{:?}: {place}", compiled(&place));
        assert!(program(&place).len() <= 12 * place.len());
        assert!(accepts(&place, r#"{"c":5}"#), "{place}");
        assert_eq!(violations(&place, r#"{"c":4}"#), ["/c: expected at least 5, got 4"]);
    }
}
