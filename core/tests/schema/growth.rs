//! How compiling grows with the schema, from 1 kB to 1 MB, for what schemas have many of.

use std::process::Command;
use std::time::Instant;

use toolcore::schema::{CompileOptions, Resource, compile, compile_with, program_size_with};

type Family = (&'static str, &'static str, fn(usize) -> String);

/// `%%` stands for parts with commas between.
const FAMILIES: &[Family] = &[
    ("tools", r#"{"$defs":{%%}}"#, |i| {
        format!(
            r#""tool{i}":{{"type":"object","description":"about {i}","properties":{{"path":{{"type":"string","minLength":1}},"limit":{{"type":"integer","minimum":{i}}},"mode":{{"enum":["read","write"]}},"filter":{{"anyOf":[{{"type":"null"}},{{"type":"object","additionalProperties":false,"properties":{{"name":{{"type":"string"}}}}}}]}}}},"required":["path"]}}"#
        )
    }),
    ("properties", r#"{"properties":{%%}}"#, |i| format!(r#""p{i}":{{"type":"string"}}"#)),
    ("required", r#"{"required":[%%]}"#, |i| format!(r#""p{i}""#)),
    ("references", r#"{"$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"items":{{"$ref":"#/$defs/p{}"}}}}"##, i / 2)
    }),
    ("documents", r#"{"$id":"http://a/","$defs":{%%}}"#, |i| {
        format!(r#""p{i}":{{"$id":"p{i}","items":{{"$ref":"p{}"}}}}"#, i / 2)
    }),
    ("anchors", r#"{"$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"$anchor":"p{i}","items":{{"$ref":"#p{}"}}}}"##, i / 2)
    }),
    ("dynamic anchors", r#"{"$id":"http://a/","$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"$id":"p{i}","$dynamicAnchor":"a","items":{{"$dynamicRef":"#a"}}}}"##)
    }),
    ("dynamic names", r#"{"$id":"http://a/","$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"$id":"p{i}","$dynamicAnchor":"p{i}","items":{{"$dynamicRef":"#p{i}"}}}}"##)
    }),
    // What becomes no node of its own, or is not compiled on the way.
    ("empty anchors", r#"{"$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"items":{{"$ref":"#a{i}"}},"not":{{"$anchor":"a{i}"}}}}"##)
    }),
    ("empty documents", r#"{"$id":"http://a/","$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"items":{{"$ref":"d{i}"}},"not":{{"$id":"d{i}"}}}}"##)
    }),
    ("empty dynamic anchors", r#"{"$id":"http://a/","$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"items":{{"$dynamicRef":"#a{i}"}},"not":{{"$dynamicAnchor":"a{i}"}}}}"##)
    }),
    ("unknown places", r#"{"$defs":{%%}}"#, |i| {
        format!(r##""p{i}":{{"items":{{"$ref":"#/$defs/p{i}/x/k"}},"x":{{"k":{{"minimum":{i}}}}}}}"##)
    }),
    #[cfg(feature = "pattern")]
    ("patterns", r#"{"prefixItems":[%%]}"#, |i| format!(r#"{{"pattern":"^[a-z0-9]{{1,63}}-({i}|x)+$"}}"#)),
    ("nesting", r#"{"$defs":{%%}}"#, |i| {
        format!(r#""p{i}":{}{{"minimum":{i}}}{}"#, "{\"items\":".repeat(60), "}".repeat(60))
    }),
    ("values", r#"{"enum":[%%]}"#, |i| format!(r#""value {i}""#)),
    ("alternatives", r#"{"anyOf":[%%]}"#, |i| format!(r#"{{"minimum":{i}}}"#)),
];

/// A schema of a family, of at least this many bytes.
fn schema(family: &Family, size: usize) -> String {
    let (mut parts, mut length) = (Vec::new(), 0);
    while length < size {
        let part = family.2(parts.len());
        length += part.len() + 1;
        parts.push(part);
    }
    family.1.replace("%%", &parts.join(","))
}

#[test]
fn compiling_takes_time_in_proportion_to_the_schema() {
    for family in FAMILIES {
        in_proportion(family.0, &schema(family, 4_000), &schema(family, 200_000), &[]);
    }
}

#[test]
fn references_into_a_resource_take_time_in_proportion_to_their_number() {
    for target in ["{}", r#"{"minimum":1}"#] {
        let definitions: Vec<_> = (0..5_000).map(|i| format!(r#""p{i}":{target}"#)).collect();
        let [short, long] = [100, 5_000].map(|count| {
            let all: Vec<_> =
                (0..count).map(|i| format!(r#"{{"$ref":"http://a/#/$defs/p{}"}}"#, i * 37 % count)).collect();
            (
                format!(r#"{{"prefixItems":[{}]}}"#, all.join(",")),
                format!(r#"{{"$defs":{{{}}}}}"#, definitions[..count].join(",")),
            )
        });
        in_proportion("resource", &short.0, &long.0, &[&short.1, &long.1]);
    }
}

/// Fifty times the text: a quadratic compiler would take fifty times as long for each byte. Sorting takes half as
/// long again, and a text that is read out of order several times, in a cache that others use as well. The least of several runs counts, in turn, since the machine may be busy with something else.
fn in_proportion(name: &str, short: &str, long: &str, resources: &[&str]) {
    let options = CompileOptions::default();
    let resource = |number: usize| resources.get(number).map(|&text| Resource { uri: "http://a/", text });
    let [first, second] = [0, 1].map(|number| resource(number).into_iter().collect::<Vec<_>>());
    let (mut small, mut large) = (f64::MAX, f64::MAX);
    let mut memory = vec![0; program_size_with(long, &second, &options).unwrap()];
    let mut per_byte = |schema: &str, resources: &[Resource<'_>]| {
        let start = Instant::now();
        compile_with(schema, resources, &options, &mut memory).unwrap();
        start.elapsed().as_secs_f64() * 1e9 / schema.len() as f64
    };
    for _ in 0..40 {
        small = small.min(per_byte(short, &first));
        large = large.min(per_byte(long, &second));
        if large < 20.0 * small {
            break;
        }
    }
    println!("{name}: {small:.1} and {large:.1} ns a byte");
    assert!(large < 20.0 * small, "{name}: {large} against {small} ns a byte");
}

/// Instructions for each byte of schema, from 1 kB to 1 MB, counted by valgrind:
/// `cargo test --release -p toolcore --test schema instructions -- --ignored --nocapture`.
#[test]
#[ignore = "needs valgrind and some minutes"]
fn compiling_takes_instructions_in_proportion_to_the_schema() {
    for family in FAMILIES {
        let mut line = format!("{:>16}", family.0);
        let mut all = Vec::new();
        for size in [1_000, 10_000, 100_000, 1_000_000] {
            let [with, without] = [1, 0].map(|runs| {
                let output = Command::new("valgrind")
                    .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
                    .arg(std::env::current_exe().unwrap())
                    .args(["--ignored", "--exact", "growth::compile_what_the_environment_says"])
                    .envs([("FAMILY", family.0), ("SIZE", &size.to_string()), ("RUNS", &runs.to_string())])
                    .output()
                    .expect("valgrind");
                let text = String::from_utf8(output.stderr).unwrap();
                let count = text.lines().find_map(|line| line.split("Collected : ").nth(1));
                count.and_then(|count| count.trim().parse::<u64>().ok()).expect(&text)
            });
            let each = (with - without) as f64 / schema(family, size).len() as f64;
            line += &format!(" {each:7.1}");
            all.push(each);
        }
        println!("{line}");
        let [first, .., last] = all[..] else { panic!("four sizes") };
        assert!(last < 4.0 * first, "{line}");
    }
}

#[test]
#[ignore = "for the test above"]
fn compile_what_the_environment_says() {
    let get = |name| std::env::var(name).unwrap_or_default();
    let Some(family) = FAMILIES.iter().find(|family| family.0 == get("FAMILY")) else { return };
    let schema = schema(family, get("SIZE").parse().unwrap());
    let mut memory = vec![0; 16 * schema.len() + 65_536];
    for _ in 0..get("RUNS").parse().unwrap() {
        compile(&schema, &CompileOptions::default(), &mut memory).unwrap();
    }
}
