//! What compiles, what is refused and where.

use super::{SchemaErrorKind, accepts, program, refusal, text, try_program};
use toolcore::schema::{CompileOptions, MAX_LEVELS, Schema, compile, program_size};

#[test]
fn every_keyword_that_cannot_be_enforced_is_refused_by_name() {
    for (keyword, value) in [("$recursiveRef", "\"#\""), ("$recursiveAnchor", "true")] {
        for (before, after, path) in [
            ("", "", ""),
            (r#"{"properties":{"a/b":"#, "}}", "/properties/a~1b"),
            (r#"{"type":"array","items":"#, "}", "/items"),
            (r#"{"additionalProperties":{"items":"#, "}}", "/additionalProperties/items"),
            (r#"{"$defs":{"x":"#, "}}", "/$defs/x"),
            (r#"{"definitions":{"x":"#, "}}", "/definitions/x"),
        ] {
            let schema = format!("{before}{{\"title\":\"t\",\"{keyword}\":{value}}}{after}");
            let place = format!("{path}/{keyword}");
            assert_eq!(refusal(&schema), (SchemaErrorKind::UnsupportedKeyword, place.clone()), "{schema}");
            let error = program_size(&schema, &CompileOptions::default()).unwrap_err();
            assert_eq!(
                text(|sink| error.write_message(&schema, sink)),
                format!("{place}: keyword \"{keyword}\" of draft 2019-09 is not supported")
            );
        }
    }
    // Also when the keyword hides behind escapes.
    let (kind, place) = refusal(r##"{"\u0024recursiveRef":"#"}"##);
    assert_eq!((kind, place.as_str()), (SchemaErrorKind::UnsupportedKeyword, "/$recursiveRef"));
}

#[test]
fn annotations_and_unknown_keywords_change_nothing() {
    for keyword in [
        r#""title":"t""#,
        r#""description":"d""#,
        r#""default":{"type":"string","not":{}}"#,
        r#""examples":[{"$ref":"nowhere"},5]"#,
        r#""deprecated":true"#,
        r#""readOnly":true"#,
        r#""writeOnly":true"#,
        r#""$comment":"c""#,
        r#""format":"date-time""#,
        r#""contentMediaType":"text/plain""#,
        r#""contentEncoding":"base64""#,
        r#""contentSchema":{"type":"string"}"#,
        r#""$id":"https://example.com/root""#,
        r#""$schema":"https://json-schema.org/draft/2020-12/schema""#,
        r#""x-order":["a",{"not":{}}]"#,
        r#""unknown":{"type":7}"#,
    ] {
        let schema = format!("{{{keyword},\"type\":\"integer\"}}");
        assert!(accepts(&schema, "5") && !accepts(&schema, "\"x\""), "{schema}");
    }
}

#[test]
fn data_is_not_mistaken_for_schemas() {
    let schema = r#"{"enum":[{"not":{}},{"$ref":"nowhere"},{"type":7}]}"#;
    assert!(accepts(schema, r#"{"not":{}}"#) && accepts(schema, r#"{"type":7}"#));
    assert!(accepts(r#"{"properties":{"not":{"const":{"allOf":0}}}}"#, r#"{"not":{"allOf":0}}"#));
    assert!(accepts(
        r#"{"properties":{"$ref":{"type":"string"},"enum":{"type":"integer"}}}"#,
        r#"{"$ref":"a","enum":1}"#
    ));
}

#[test]
fn a_keyword_with_a_wrong_value_is_refused_where_the_value_stands() {
    for (schema, path) in [
        (r#"{"type":7}"#, "/type"),
        (r#"{"type":[]}"#, "/type"),
        (r#"{"type":["string",null]}"#, "/type/1"),
        (r#"{"properties":[]}"#, "/properties"),
        (r#"{"properties":{"a":{"required":"a"}}}"#, "/properties/a/required"),
        (r#"{"required":["a",1]}"#, "/required/1"),
        (r#"{"enum":"a"}"#, "/enum"),
        (r#"{"minimum":"1"}"#, "/minimum"),
        (r#"{"exclusiveMinimum":true}"#, "/exclusiveMinimum"),
        (r#"{"multipleOf":0}"#, "/multipleOf"),
        (r#"{"multipleOf":-2}"#, "/multipleOf"),
        (r#"{"allOf":[]}"#, "/allOf"),
        (r#"{"anyOf":{}}"#, "/anyOf"),
        (r#"{"items":[{}]}"#, "/items"),
        (r#"{"uniqueItems":1}"#, "/uniqueItems"),
        (r#"{"dependentRequired":{"a":["b",1]}}"#, "/dependentRequired/a"),
        (r#"{"dependencies":{"a":["b",1]}}"#, "/dependencies/a"),
        (r#"{"minLength":-1}"#, "/minLength"),
        (r#"{"maxLength":1.5}"#, "/maxLength"),
        (r#"{"maxItems":null}"#, "/maxItems"),
        (r##"{"$ref":{"a":"#"}}"##, "/$ref"),
        (r#"{"$defs":[]}"#, "/$defs"),
        (r#"{"$schema":1}"#, "/$schema"),
        (r#"{"$id":1}"#, "/$id"),
        (r#"{"$anchor":1}"#, "/$anchor"),
        (r##"{"$dynamicRef":["#a"]}"##, "/$dynamicRef"),
        (r#"{"description":["d"]}"#, "/description"),
        (r#"{"items":{"format":1}}"#, "/items/format"),
    ] {
        assert_eq!(refusal(schema), (SchemaErrorKind::BadKeyword, path.into()), "{schema}");
    }
    for (schema, path) in [
        ("5", ""),
        ("\"x\"", ""),
        ("null", ""),
        ("[]", ""),
        (r#"{"properties":{"a":null}}"#, "/properties/a"),
        (r#"{"items":1}"#, "/items"),
        (r#"{"oneOf":[{},1]}"#, "/oneOf/1"),
        (r#"{"dependentSchemas":{"a":["b"]}}"#, "/dependentSchemas/a"),
        (r#"{"additionalProperties":"no"}"#, "/additionalProperties"),
        (r#"{"$defs":{"a":5}}"#, "/$defs/a"),
    ] {
        assert_eq!(refusal(schema), (SchemaErrorKind::NotASchema, path.into()), "{schema}");
    }
    assert_eq!(refusal(r#"{"type":["string","int"]}"#), (SchemaErrorKind::UnknownType, "/type/1".into()));
}

#[test]
fn whole_numbers_in_any_form_count_lengths() {
    for bound in ["2", "2.0", "2e0", "0.2e1", "20e-1"] {
        let schema = format!("{{\"maxLength\":{bound}}}");
        assert!(accepts(&schema, "\"ab\"") && !accepts(&schema, "\"abc\""), "{bound}");
    }
    assert!(accepts(r#"{"maxLength":1e300}"#, "\"ab\""));
    assert!(!accepts(r#"{"minItems":99999999999999999999}"#, "[1]"));
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    for (schema, path) in [
        (r#"{"type":"string","type":"integer"}"#, "/type"),
        (r#"{"properties":{"a":{},"b":{},"a":{}}}"#, "/properties/a"),
        (r#"{"items":{"minimum":1,"minimum":2}}"#, "/items/minimum"),
        (r#"{"properties":{"\u0061":{}},"properties":{}}"#, "/properties"),
        (r#"{"properties":{"a":{},"\u0061":{}}}"#, "/properties/a"),
    ] {
        let (kind, place) = refusal(schema);
        assert_eq!((kind, place.as_str()), (SchemaErrorKind::DuplicateKey, path), "{schema}");
    }
    let many: String = (0..200).map(|i| format!("\"p{i}\":{{}},")).collect();
    let schema = format!("{{\"properties\":{{{many}\"p150\":{{}}}}}}");
    assert_eq!(refusal(&schema).0, SchemaErrorKind::DuplicateKey);
    // Nothing is ambiguous about these.
    program(r#"{"$defs":{"a":{},"a":{}},"required":["a","a"],"x":1,"x":2}"#);
}

#[test]
fn two_dialects_are_known_and_others_refused() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
    ] {
        program(&format!("{{\"type\":\"object\",\"$schema\":\"{dialect}\"}}"));
    }
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema/x",
        "ftp://json-schema.org/draft-07/schema#",
        "",
    ] {
        let schema = format!("{{\"$schema\":\"{dialect}\"}}");
        assert_eq!(refusal(&schema), (SchemaErrorKind::UnsupportedDialect, "/$schema".into()));
    }
    let inner = r#"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$schema":"https://json-schema.org/draft/2020-12/schema"}}}"#;
    assert_eq!(refusal(inner), (SchemaErrorKind::UnsupportedDialect, "/properties/a/$schema".into()));
    let path = "/properties/a/$schema";
    assert!(
        message(inner).starts_with(&format!("{path}: another dialect inside a document is not supported: "))
    );
}

#[test]
fn schemas_nest_up_to_the_limit() {
    let nested = |levels: usize| "{\"items\":".repeat(levels - 1) + "{}" + &"}".repeat(levels - 1);
    let limit = usize::from(MAX_LEVELS);
    program(&nested(limit));
    assert_eq!(refusal(&nested(limit + 1)), (SchemaErrorKind::DepthLimit, "/items".repeat(limit)));
    let shallow = CompileOptions { max_depth: 2, ..CompileOptions::default() };
    assert!(try_program(&nested(2), &shallow).is_ok());
    assert_eq!(try_program(&nested(3), &shallow).unwrap_err().kind, SchemaErrorKind::DepthLimit);
    let brackets = "[".repeat(100_000);
    assert!(matches!(refusal(&brackets).0, SchemaErrorKind::Json(_)));
}

#[test]
fn text_that_is_not_json_says_so() {
    let (kind, path) = refusal("{\"type\":\"string\"");
    assert!(matches!(kind, SchemaErrorKind::Json(_)) && path.is_empty());
    let error = program_size("{]", &CompileOptions::default()).unwrap_err();
    assert_eq!(
        text(|sink| error.write_message("{]", sink)),
        "not JSON: expected a key in double quotes at byte 1"
    );
}

#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn a_keyword_with_a_wrong_value_says_what_is_wanted() {
    for (schema, place, wanted) in [
        (r#"{"required":"a"}"#, "/required", "an array of strings"),
        (r#"{"required":["a",1]}"#, "/required/1", "an array of strings"),
        (
            r#"{"properties":{"type":{"minLength":-1}}}"#,
            "/properties/type/minLength",
            "a non-negative integer",
        ),
        (r#"{"properties":[]}"#, "/properties", "an object of schemas"),
        (r#"{"maximum":"1"}"#, "/maximum", "a number"),
        (r#"{"multipleOf":0}"#, "/multipleOf", "a number above 0"),
        (r#"{"dependentRequired":{"type":1}}"#, "/dependentRequired/type", "an object of arrays of strings"),
        (r#"{"anyOf":[]}"#, "/anyOf", "an array of schemas that is not empty"),
        (r#"{"items":{"uniqueItems":1}}"#, "/items/uniqueItems", "a boolean"),
        (r#"{"title":{"enum":1}}"#, "/title", "a string"),
        (
            r#"{"items":[{}]}"#,
            "/items",
            "a schema; in draft 2020-12 an array of schemas belongs to \"prefixItems\"",
        ),
        (r#"{"type":[]}"#, "/type", "the name of a type, or an array of such names that is not empty"),
        (r#"{"$ref":1}"#, "/$ref", "a string that is a URI reference"),
    ] {
        let error = program_size(schema, &CompileOptions::default()).unwrap_err();
        assert_eq!(
            text(|sink| error.write_message(schema, sink)),
            format!("{place}: keyword with a wrong value, expected {wanted}")
        );
    }
}

#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn the_size_that_is_measured_is_what_each_keyword_takes() {
    for (_, schema, ..) in crate::report::EVERY {
        let options = CompileOptions::default();
        let size = program_size(schema, &options).unwrap();
        let mut memory = vec![0; size];
        assert_eq!(compile(schema, &options, &mut memory), Ok(size), "{schema}");
    }
}

#[test]
fn the_size_that_is_measured_is_enough_and_one_byte_less_is_not() {
    let many: String = (0..100).map(|i| format!("\"p{i}\":{{\"type\":\"string\"}},")).collect();
    for schema in [
        "true".to_owned(),
        "{}".to_owned(),
        SCHEMA.to_owned(),
        r#"{"required":["a","b","a"],"properties":{"b":{"enum":[1,2,"x",{"a":[1]}]}},"maxItems":3}"#
            .to_owned(),
        r##"{"properties":{"a":{"$ref":"#/x/y"},"b":{"$ref":"#/properties/a"}},"x":{"y":{"minimum":1}}}"##
            .to_owned(),
        format!("{{\"properties\":{{{many}\"z\":{{}}}},\"required\":[\"z\",\"y\"]}}"),
    ] {
        let options = CompileOptions::default();
        let size = program_size(&schema, &options).unwrap();
        let mut memory = vec![0; size];
        let used = compile(&schema, &options, &mut memory).unwrap();
        assert!(used <= size);
        let error = compile(&schema, &options, &mut vec![0; used - 1]).unwrap_err();
        assert_eq!(error.no_space(), Some(size));
        // Without references and with few names in each object, nothing is needed beside the program.
        if !schema.contains("$ref") && schema.len() < 1000 {
            assert_eq!(used, size, "{schema}");
        }
        // The program does not depend on what was in the memory.
        let mut other = vec![0xFF; size + 100];
        assert_eq!(compile(&schema, &options, &mut other), Ok(used));
        assert_eq!(other[..used], memory[..used]);
    }
}

#[test]
fn a_program_can_be_moved_to_any_address() {
    let program = program(SCHEMA);
    for shift in 0..5 {
        let mut memory = vec![0; program.len() + shift];
        memory[shift..].copy_from_slice(&program);
        let text = SCHEMA.to_owned();
        let schema = Schema::new(&text, &memory[shift..]);
        let verdict = schema.check(
            br#"{"city":"Oslo","unit":"c"}"#,
            &Default::default(),
            &mut [],
            &mut toolcore::schema::NoReport,
        );
        assert!(verdict.unwrap().valid);
    }
}

#[test]
fn whether_the_root_accepts_objects_is_known() {
    for (schema, accepted) in [
        ("true", true),
        ("false", false),
        ("{}", true),
        (r#"{"type":"object"}"#, true),
        (r#"{"type":["null","object"],"maxItems":1}"#, true),
        (r#"{"type":"string"}"#, false),
        (r#"{"type":"array","items":{}}"#, false),
        (r#"{"enum":[1,{"a":1}]}"#, true),
        (r#"{"enum":[1,"{}"]}"#, false),
        (r#"{"const":[]}"#, false),
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##, true),
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"array"}}}"##, false),
        (
            r##"{"$ref":"#/$defs/a","minItems":1,"$defs":{"a":{"$ref":"#/$defs/b","maxItems":2},"b":false}}"##,
            false,
        ),
    ] {
        assert_eq!(Schema::new(schema, &program(schema)).accepts_object(), accepted, "{schema}");
    }
}

const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":14},"unit":{"type":"string","enum":["c","f"]}},"required":["city"],"additionalProperties":false}"#;

/// `!` stands before the key or the name that is there already.
#[test]
fn a_second_of_what_can_be_meant_by_a_name_is_refused() {
    for marked in [
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"},!"a":{"type":"null"}}}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"},!"\u0061":{"type":"null"}}}"##,
        r##"{"$ref":"#/$defs/a/not","$defs":{"a":{},!"a":{"not":{}}}}"##,
        r##"{"$ref":"#/$defs/a/not","$defs":{"a":{"not":{}},!"a":{}}}"##,
        r##"{"allOf":[{"$ref":"#/x/a"},{"$ref":"#/x/a/b"}],"x":{"a":{"b":{}},"c":{}},!"x":{"a":{}}}"##,
        r##"{"allOf":[{"$ref":"#/x/a"},{"$ref":"#/x/a/b"}],"x":{"a":{"b":{},!"b":{}}}}"##,
        r##"{"$ref":"#/x/0/a","x":[{"a":{},"b":{},!"a":{}}]}"##,
        r##"{"$defs":{},!"$defs":{"a":{}}}"##,
        r##"{"definitions":{},!"definitions":{"a":{}}}"##,
        r##"{"$id":"http://a/",!"$id":"http://b/"}"##,
        r##"{"$anchor":"a",!"$anchor":"b"}"##,
        r##"{"$dynamicAnchor":"a",!"$dynamicAnchor":"b"}"##,
        r##"{"$schema":"https://json-schema.org/draft/2020-12/schema",!"$schema":"https://json-schema.org/draft/2020-12/schema"}"##,
        r##"{"items":{"default":1,!"default":2}}"##,
        r##"{"title":"a",!"title":"b"}"##,
        r##"{"description":"a",!"description":"b"}"##,
        r##"{"$comment":"a",!"$comment":"b"}"##,
        r##"{"format":"date",!"format":"time"}"##,
        r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a"},"y":{"$anchor":!"a"}}}"##,
        r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a"},"y":{"items":{"$dynamicAnchor":!"\u0061"}}}}"##,
        r##"{"$ref":"b","$id":"http://a/","$defs":{"x":{"$id":"b"},"y":{"$id":!"http://a/b"}}}"##,
    ] {
        let error = try_program(&marked.replace('!', ""), &CompileOptions::default());
        let error = error.map(drop).map_err(|error| (error.kind, error.offset));
        assert_eq!(error, Err((SchemaErrorKind::DuplicateKey, marked.find('!').unwrap())), "{marked}");
    }
    for schema in [
        r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a","$dynamicAnchor":"a"}}}"##,
        r##"{"$ref":"#a","$id":"http://a/","$defs":{"x":{"$anchor":"a"},"y":{"$id":"b","$anchor":"a"}}}"##,
        r##"{"$ref":"#/x/a","x":{"a":{},"b":1,"b":2}}"##,
        r##"{"x-note":1,"x-note":2}"##,
    ] {
        program(schema);
    }
}

fn message(schema: &str) -> String {
    let error = try_program(schema, &CompileOptions::default()).unwrap_err();
    text(|sink| error.write_message(schema, sink))
}

#[test]
fn a_multiple_of_a_number_of_too_many_digits_is_refused_for_that() {
    let schema = format!(r#"{{"multipleOf":{}}}"#, "7".repeat(3002));
    assert_eq!(
        message(&schema),
        r#"/multipleOf: keyword "multipleOf" with a number of so many digits is not supported"#
    );
}

#[test]
fn references_and_anchors_that_are_ill_formed_are_refused() {
    for reference in ["#/$defs/a~2", "#/$defs/a~", "#/$defs/%zz", "#/$defs/a%2", "#/$defs/%", "#a%"] {
        let schema = format!(
            r#"{{"$ref":"{reference}","$defs":{{"a~2":{{}},"a~":{{}},"%zz":{{}},"a%2":{{}},"%":{{}}}}}}"#
        );
        assert_eq!(refusal(&schema), (SchemaErrorKind::BadKeyword, "/$ref".into()), "{schema}");
    }
    for keyword in ["$anchor", "$dynamicAnchor"] {
        for name in ["", "a b", "1a", "#a", "a/b", "\\u0020", "ä"] {
            let schema = format!(r#"{{"items":{{"{keyword}":"{name}"}}}}"#);
            assert_eq!(
                refusal(&schema),
                (SchemaErrorKind::BadKeyword, format!("/items/{keyword}")),
                "{schema}"
            );
        }
    }
    program(
        r##"{"$ref":"#/$defs/a~01%25%7E1","$defs":{"a~1%/":{"$anchor":"_a-1.B","$dynamicAnchor":"\u0061"}}}"##,
    );
}
