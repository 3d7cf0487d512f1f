//! What a program takes, and that compiling ends in time whatever the schema.

use std::time::{Duration, Instant};

use super::{CheckError, SchemaErrorKind, shared, try_program};
use toolcore::json::{self, Value};
use toolcore::schema::CompileOptions;

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

/// For each keyword the shape that makes the program as large as can be for its text. The program has a header
/// of 16 bytes; all that comes after it is at most 8 bytes for each of the text, which a pattern of `|` needs.
#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn no_schema_takes_more_than_twelve_times_its_text() {
    let mut worst = (0.0, String::new());
    for (whole, part) in FAMILIES {
        let mut compiled = false;
        for count in [0, 1, 2, 16, 17, 65, 300, 2000] {
            let parts: Vec<String> = (0..count).map(|number| part.replace('@', &name(number))).collect();
            let schema = whole.replace("%%", &parts.join(","));
            let options = CompileOptions {
                #[cfg(feature = "format")]
                formats: true,
                ..CompileOptions::default()
            };
            let program = match try_program(&schema, &options) {
                Ok(program) => program,
                Err(error) => {
                    assert_eq!((error.kind, count), (SchemaErrorKind::BadKeyword, 0), "{schema:.200}");
                    continue;
                }
            };
            compiled = true;
            let taken = (program.len() - 16) as f64 / schema.len() as f64;
            assert!(taken <= 8.0, "{taken} bytes for each of {schema:.200}");
            assert!(program.len() <= 12 * schema.len(), "{schema}");
            if taken > worst.0 {
                worst = (taken, format!("{count} times {part} in {whole}"));
            }
        }
        assert!(compiled, "{whole} {part}");
    }
    println!("the worst is {:.2} bytes for each: {}", worst.0, worst.1);
}

#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
/// Short, of letters that neither JSON nor a pattern gives a meaning to, and different for each number.
fn name(number: usize) -> String {
    let letters = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!%&',:;<=>_`~ ";
    let (mut name, mut left) = (String::new(), number + 1);
    while left > 0 {
        left -= 1;
        name.push(letters[left % letters.len()] as char);
        left /= letters.len();
    }
    name
}

/// A slot holds offsets of 24 bits; a schema further behind takes a node.
#[test]
fn schemas_far_behind_take_at_most_twelve_times_their_text() {
    let far = " ".repeat(1 << 24);
    for part in ["true", "{}", "{\"type\":\"null\"}"] {
        let schema = format!("{far}{{\"prefixItems\":[{}]}}", vec![part; 10_000].join(","));
        let taken = try_program(&schema, &CompileOptions::default()).unwrap().len() - 16;
        let text = schema.len() - far.len();
        println!("{part}: {:.2} bytes for each", taken as f64 / text as f64);
        assert!(taken <= 8 * text, "{part}: {taken} for {text}");
    }
}

/// `%%` stands for parts with commas between, in which `@` is a name that is different in each.
#[rustfmt::skip]
#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
const FAMILIES: &[(&str, &str)] = &[
    (r#"{"enum":[%%]}"#, r#"1"#),
    (r#"{"const":[%%]}"#, r#"1"#),
    (r#"{"enum":[%%]}"#, r#""""#),
    (r#"{"required":[%%]}"#, r#""@""#),
    (r#"{"required":[%%]}"#, r#""""#),
    (r#"{"properties":{%%}}"#, r#""@":{}"#),
    (r#"{"properties":{%%}}"#, r#""@":true"#),
    (r#"{"properties":{%%}}"#, r#""@":{"const":0}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"not":{}}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"items":{}}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"enum":[]}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"$ref":""}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"$defs":{}}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"required":[""]}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"anyOf":[{}]}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"anyOf":[true]}"#),
    (r#"{"properties":{%%}}"#, r#""@":{"properties":{"":{}}}"#),
    (r#"{"patternProperties":{%%}}"#, r#""@":{}"#),
    (r#"{"patternProperties":{%%}}"#, r#""|||||@":{}"#),
    (r#"{"patternProperties":{%%}}"#, r#""a{9}@":{}"#),
    (r#"{"$defs":{%%}}"#, r#""@":{"$defs":{}}"#),
    (r#"{"$defs":{%%}}"#, r#""@":{"if":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"if":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"not":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"$defs":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"const":0}"#),
    (r#"{"not":{"not":{}},"anyOf":[%%]}"#, r##"{"$ref":"#/not"}"##),
    (r#"{"anyOf":[%%]}"#, r#"{"minimum":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"maximum":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"pattern":""}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"pattern":"|||||||||||||||||||||||||||||||||||||"}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"pattern":"(ab){99}"}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"pattern":".{1000}"}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"pattern":"\\p{L}"}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"items":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"items":{"items":{}}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"contains":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"required":[]}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"properties":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"additionalProperties":false}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"patternProperties":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"dependentRequired":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"uniqueItems":true}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"minItems":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"minLength":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"minProperties":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"multipleOf":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"format":"date"}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"prefixItems":[]}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"oneOf":[{}]}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"if":{},"then":{},"else":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"maxItems":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"maxLength":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"maxProperties":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"exclusiveMinimum":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"exclusiveMaximum":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"minContains":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"maxContains":1}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"propertyNames":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"unevaluatedItems":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"unevaluatedProperties":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"allOf":[{}]}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"then":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"type":["null"]}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"dependentSchemas":{}}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"enum":[]}"#),
    (r#"{"anyOf":[%%]}"#, r#"{"format":"ipv4"}"#),
    (r#"{"allOf":[%%]}"#, r#"true"#),
    (r#"{"oneOf":[%%]}"#, r#"{}"#),
    (r#"{"prefixItems":[%%]}"#, r#"{}"#),
    (r#"{"prefixItems":[%%]}"#, r#"true"#),
    (r#"{"prefixItems":[%%]}"#, r#"{"if":{}}"#),
    (r#"{"prefixItems":[%%]}"#, r#"{"if":{"if":{"if":{}}}}"#),
    (r#"{"dependentRequired":{%%}}"#, r#""@":[]"#),
    (r#"{"dependentSchemas":{%%}}"#, r#""@":{}"#),
    (r#"{"dependentSchemas":{%%}}"#, r#""@":{"if":{}}"#),
    (r#"{"$schema":"http://json-schema.org/draft-07/schema","dependencies":{%%}}"#, r#""@":[]"#),
    (r#"{"$schema":"http://json-schema.org/draft-07/schema","items":[%%]}"#, r#"{"if":{}}"#),
    (r#"{"$dynamicAnchor":"a","anyOf":[%%]}"#, r##"{"not":{"items":{"$dynamicRef":"#a"}}}"##),
    (
        r##"{"$defs":{%%},"items":{"$dynamicRef":"#a"},"$dynamicAnchor":"a"}"##,
        r#""@":{"$id":"@","$dynamicAnchor":"a"}"#,
    ),
    (
        r#"{"$defs":{%%},"$dynamicAnchor":"a"}"#,
        r##""@":{"items":{"$dynamicRef":"#a"},"$id":"@","$dynamicAnchor":"a"}"##,
    ),
    (
        r#"{"prefixItems":[%%],"$dynamicAnchor":"a"}"#,
        r##"{"$id":"@","$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}}"##,
    ),
    (r#"{"prefixItems":[%%],"unevaluatedItems":false}"#, r#"{"if":true}"#),
];

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
