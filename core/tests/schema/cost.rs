//! What a program takes, and that compiling ends in time whatever the schema.

use std::time::{Duration, Instant};

use super::{CheckError, SchemaErrorKind, program, shared, try_program};
use toolcore::json::{self, Value};
use toolcore::schema::{CompileOptions, compile};

/// At most one byte of program for each byte of schema on real lists. Each schema compiles, or its keyword is
/// named.
#[test]
fn the_schemas_of_six_real_servers_take_less_than_their_text() {
    let Some(folder) = shared("data/mcp-tools", "the_schemas_of_six_real_servers_take_less_than_their_text")
    else {
        return;
    };
    let (mut all, mut compiled) = (0, 0);
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let list = std::fs::read_to_string(&file).unwrap();
        let (mut bytes, mut taken) = (0, 0);
        for tool in json::parse(list.as_bytes(), &json::Options::default()).unwrap().items() {
            for key in ["inputSchema", "outputSchema"] {
                let Some(schema) = tool.get(key).map(Value::raw) else { continue };
                all += 1;
                match try_program(schema, &CompileOptions::default()) {
                    Ok(program) => {
                        compiled += 1;
                        if key == "inputSchema" {
                            bytes += schema.len();
                            taken += program.len();
                        }
                    }
                    Err(error) => {
                        assert_eq!(error.kind, SchemaErrorKind::UnsupportedKeyword);
                        println!(
                            "{}: {}",
                            file.display(),
                            super::text(|sink| error.write_message(schema, sink))
                        );
                    }
                }
            }
        }
        println!(
            "{}: {taken} bytes of program for {bytes} of schema",
            file.file_stem().unwrap().to_string_lossy()
        );
        assert!(taken <= bytes);
    }
    println!("{compiled} of {all} schemas compile");
    assert!(compiled + 1 >= all, "only anyOf is in the way, once");
}

#[test]
fn no_schema_takes_more_than_twelve_times_its_text() {
    let repeat =
        |before: &str, part: &str, after: &str| format!("{before}{}{after}", vec![part; 300].join(","));
    let names: String = (0..300).map(|i| format!("\"{i}\"")).collect::<Vec<_>>().join(",");
    let properties: String = (0..300).map(|i| format!("\"{i}\":{{}}")).collect::<Vec<_>>().join(",");
    let booleans: String = (0..300).map(|i| format!("\"{i}\":true")).collect::<Vec<_>>().join(",");
    let nodes: String =
        (0..300).map(|i| format!("\"{i}\":{{\"items\":{{\"const\":0}}}}")).collect::<Vec<_>>().join(",");
    let refs: String = (0..300).map(|i| format!("\"{i}\":{{\"$ref\":\"\"}}")).collect::<Vec<_>>().join(",");
    for schema in [
        "{}".to_owned(),
        "true".to_owned(),
        r#"{"const":1}"#.to_owned(),
        r#"{"enum":[]}"#.to_owned(),
        r#"{"items":{"items":{"items":{"const":1}}}}"#.to_owned(),
        repeat("{\"enum\":[", "1", "]}"),
        repeat("{\"const\":[", "1", "]}"),
        format!("{{\"required\":[{names}]}}"),
        format!("{{\"properties\":{{{properties}}}}}"),
        format!("{{\"properties\":{{{booleans}}}}}"),
        format!("{{\"properties\":{{{nodes}}},\"required\":[{names}]}}"),
        format!("{{\"properties\":{{{refs}}}}}"),
        format!("{{\"$defs\":{{{nodes}}}}}"),
    ] {
        let taken = program(&schema).len();
        assert!(taken <= 12 * schema.len(), "{taken} bytes for {} of {:.60}", schema.len(), schema);
    }
}

/// Schemas of half a megabyte (less without optimisation) that try to make compiling take more than a time
/// proportional to their size.
#[test]
fn hostile_schemas_end_in_time() {
    let size = if cfg!(debug_assertions) { 64 * 1024 } else { 512 * 1024 };
    let many = |part: &dyn Fn(usize) -> String| {
        let (mut parts, mut length) = (Vec::new(), 0);
        while length < size {
            let part = part(parts.len());
            length += part.len() + 1;
            parts.push(part);
        }
        parts.join(",")
    };
    let long = "k".repeat(2000);
    for (name, schema) in [
        ("properties", format!("{{\"properties\":{{{}}}}}", many(&|i| format!("\"p{i}\":{{}}")))),
        ("required", format!("{{\"required\":[{}]}}", many(&|i| format!("\"p{i}\"")))),
        ("required twice", format!("{{\"required\":[{}]}}", many(&|i| format!("\"p{}\"", i % 5)))),
        (
            "properties and required",
            format!(
                "{{\"properties\":{{{}}},\"required\":[{}]}}",
                many(&|i| format!("\"p{i}\":true")),
                many(&|i| format!("\"p{}\"", i * 2))
            ),
        ),
        ("long names", format!("{{\"properties\":{{{}}}}}", many(&|i| format!("\"{long}{i}\":{{}}")))),
        ("enum", format!("{{\"enum\":[{}]}}", many(&|i| format!("{{\"{i}\":[]}}")))),
        (
            "one target",
            format!(
                "{{\"properties\":{{{}}},\"$defs\":{{\"a\":{{}}}}}}",
                many(&|i| format!("\"p{i}\":{{\"$ref\":\"#/$defs/a\"}}"))
            ),
        ),
        (
            "many targets",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!("\"p{i}\":{{\"$ref\":\"#/$defs/p{}\"}}", i / 2))
            ),
        ),
        (
            "unknown targets",
            format!(
                "{{\"properties\":{{{}}},\"x\":{{{}}}}}",
                many(&|i| format!("\"p{i}\":{{\"$ref\":\"#/x/p{i}\"}}")),
                many(&|i| format!("\"p{i}\":{{\"type\":\"null\"}}"))
            ),
        ),
        (
            "a chain",
            format!(
                "{{\"$defs\":{{{},\"end\":{{}}}}}}",
                many(&|i| format!("\"p{i}\":{{\"items\":{{\"$ref\":\"#/$defs/p{}\"}}}}", i + 1))
            ),
        ),
        (
            "a chain in place",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!("\"p{i}\":{{\"$ref\":\"#/$defs/p{}\"}}", i + 1))
            ),
        ),
        (
            "long pointers",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!("\"p{i}\":{{\"$ref\":\"#/$defs/{long}/{long}/{i}\"}}"))
            ),
        ),
        (
            "long keys under pointers",
            format!(
                "{{\"$defs\":{{\"{long}\":{{\"properties\":{{{}}}}}}},\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/{long}/properties/p0\"}},\"b\":{{\"$ref\":\"#/$defs/{long}/properties/p1\"}}}}}}",
                many(&|i| format!("\"p{i}\":{{}}"))
            ),
        ),
        (
            "documents",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!(
                    "\"p{i}\":{{\"$id\":\"http://a/p{i}\",\"items\":{{\"$ref\":\"p{}\"}}}}",
                    i / 2
                ))
            ),
        ),
        (
            "anchors",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!(
                    "\"p{i}\":{{\"$anchor\":\"p{i}\",\"items\":{{\"$ref\":\"#p{}\"}}}}",
                    i / 2
                ))
            ),
        ),
        (
            "dynamic anchors",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!(
                    "\"p{i}\":{{\"$dynamicAnchor\":\"p{i}\",\"items\":{{\"$dynamicRef\":\"#p{}\"}}}}",
                    i / 2
                ))
            ),
        ),
        (
            "alternatives",
            format!(
                "{{\"$defs\":{{{}}}}}",
                many(&|i| format!(
                    "\"p{i}\":{{\"anyOf\":[{{\"$ref\":\"#/$defs/p{0}\"}},{{\"$ref\":\"#/$defs/p{0}\"}}]}}",
                    i + 1
                )) + ",\"p0x\":{}"
            ),
        ),
        (
            "deep",
            format!(
                "{{\"properties\":{{{}}}}}",
                many(&|i| format!("\"p{i}\":{}{{}}{}", "{\"items\":".repeat(60), "}".repeat(60)))
            ),
        ),
    ] {
        let start = Instant::now();
        let result = try_program(&schema, &CompileOptions::default());
        let took = start.elapsed();
        println!(
            "{name}: {} kB in {took:?}: {:?}",
            schema.len() / 1024,
            result.as_ref().map(|program| program.len())
        );
        if let Ok(program) = &result {
            assert!(program.len() <= 12 * schema.len(), "{name}");
        }
        assert!(
            took < Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 5 }),
            "{name} took {took:?}"
        );
    }
}

#[test]
fn compiling_takes_time_in_proportion_to_the_schema() {
    let schema = |count: usize| {
        let tool = |i: usize| {
            format!(
                r#""p{i}":{{"type":"object","description":"about {i}","properties":{{"a":{{"type":"integer","minimum":{i}}},"b":{{"enum":["x","y"]}}}},"required":["a"]}}"#
            )
        };
        let group = |g: usize| {
            format!(r#""g{g}":{{"properties":{{{}}}}}"#, (0..8).map(tool).collect::<Vec<_>>().join(","))
        };
        format!("{{\"$defs\":{{{}}}}}", (0..count).map(group).collect::<Vec<_>>().join(","))
    };
    let per_byte = |schema: &str| {
        let mut memory = vec![0; 2 * schema.len()];
        let start = Instant::now();
        compile(schema, &CompileOptions::default(), &mut memory).unwrap();
        start.elapsed().as_secs_f64() * 1e9 / schema.len() as f64
    };
    // Ten times the text: a quadratic compiler would take ten times as long for each byte. The least of several
    // runs counts, in turn, since the machine may be busy with something else.
    let (short, long) = (schema(100), schema(1000));
    let (mut small, mut large) = (f64::MAX, f64::MAX);
    for round in 0..40 {
        small = small.min(per_byte(&short));
        large = large.min(per_byte(&long));
        if round >= 4 && large < 4.0 * small {
            break;
        }
    }
    println!("{} bytes: {small:.1} ns a byte, {} bytes: {large:.1}", short.len(), long.len());
    assert!(large < 4.0 * small, "{large} against {small} ns a byte");
}

#[test]
fn alternatives_within_alternatives_end_at_the_step_budget() {
    // Each of 40 schemas tries the next one twice.
    let defs: String = (0..40)
        .map(|i| {
            format!(r##""d{i}":{{"anyOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}},"##, i + 1)
        })
        .collect();
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{defs}"d40":{{"type":"null"}}}}}}"##);
    let start = Instant::now();
    assert_eq!(super::try_violations(&schema, "1"), Err(CheckError::StepLimit));
    assert!(super::accepts(&schema, "null"));
    assert!(start.elapsed() < Duration::from_secs(20));
}
