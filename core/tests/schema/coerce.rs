//! Coercion: what it changes, what it leaves alone, and what it says.

use super::{Schema, accepts, program, text};
use toolcore::schema::{CheckOptions, CoerceError, CoerceOptions, coerce};

/// The new text and the changes as `path rule`.
pub(super) fn coerced(
    schema: &str,
    instance: &str,
    options: &CoerceOptions,
) -> (Option<String>, Vec<String>) {
    let program = program(schema);
    let (mut work, mut out, mut changes) = ([0; 400], [0; 1000], Vec::new());
    let result =
        coerce(Schema::new(schema, &program), instance, options, &mut work, &mut out, &mut |change| {
            changes.push(format!("{} {}", text(|sink| change.write_path(sink)), change.rule.name()));
        });
    (result.unwrap().map(str::to_owned), changes)
}

fn becomes(schema: &str, instance: &str) -> Option<String> {
    coerced(schema, instance, &CoerceOptions::default()).0
}

#[test]
fn each_type_is_reached_from_its_neighbours_and_from_no_others() {
    for (kind, instance, expected) in [
        ("integer", r#""5""#, Some("5")),
        ("integer", r#"" 5 ""#, Some("5")),
        ("integer", r#""5.0""#, Some("5")),
        ("integer", r#""+5""#, Some("5")),
        ("integer", r#""-5""#, Some("-5")),
        ("integer", r#""\u0035""#, Some("5")),
        ("integer", r#""123456789012345678901234567890""#, Some("123456789012345678901234567890")),
        ("integer", "5.0", None),
        ("integer", "5.5", None),
        ("integer", r#""5.5""#, None),
        ("integer", r#""""#, None),
        ("integer", r#"" ""#, None),
        ("integer", r#""0x10""#, None),
        ("integer", r#""01""#, None),
        ("integer", r#""+-5""#, None),
        ("integer", r#""5 6""#, None),
        ("integer", "true", None),
        ("integer", "[5]", None),
        ("number", r#""5.5""#, Some("5.5")),
        ("number", r#""1e3""#, Some("1e3")),
        ("number", r#""NaN""#, None),
        ("number", r#""Infinity""#, None),
        ("number", r#""1e""#, None),
        ("boolean", "0", Some("false")),
        ("boolean", "1", Some("true")),
        ("boolean", "1.0", Some("true")),
        ("boolean", "2", None),
        ("boolean", r#""true""#, Some("true")),
        ("boolean", r#""FALSE""#, Some("false")),
        ("boolean", r#""Yes""#, Some("true")),
        ("boolean", r#""no""#, Some("false")),
        ("boolean", r#""ON""#, Some("true")),
        ("boolean", r#""off""#, Some("false")),
        ("boolean", r#""1""#, Some("true")),
        ("boolean", r#""0""#, Some("false")),
        ("boolean", r#""y""#, None),
        ("boolean", "null", None),
        ("string", "5", None),
        ("string", "true", None),
        ("string", "null", None),
        ("array", r#""[1, \"a\"]""#, Some(r#"[1, "a"]"#)),
        ("array", r#"" [] ""#, Some(" [] ")),
        ("array", r#""[1""#, None),
        ("array", r#""{}""#, None),
        ("array", r#""1,2""#, None),
        ("array", "5", None),
        ("object", r#""{\"a\":1}""#, Some(r#"{"a":1}"#)),
        ("object", r#""{a:1}""#, None),
        ("object", "[]", None),
        ("null", r#""null""#, None),
    ] {
        let schema = format!("{{\"type\":\"{kind}\"}}");
        assert_eq!(becomes(&schema, instance).as_deref(), expected, "{kind} from {instance}");
        // The same for a member, whose neighbours stay what they are.
        let schema = format!(
            "{{\"properties\":{{\"p\":{schema}}},\"required\":[\"p\"],\"additionalProperties\":{{}}}}"
        );
        let inside = format!("{{\"a\": \"5\",\"p\":{instance},\"b\":[ ]}}");
        let expected = expected.map(|value| format!("{{\"a\": \"5\",\"p\":{value},\"b\":[ ]}}"));
        assert_eq!(becomes(&schema, &inside), expected, "{kind} from {instance}");
    }
}

#[test]
fn a_value_that_the_schema_accepts_is_never_touched() {
    for (schema, instance) in [
        (r#"{"type":["string","integer"]}"#, r#""5""#),
        ("{}", r#""5""#),
        (r#"{"enum":["5",5]}"#, r#""5""#),
        (r#"{"properties":{"zip":{"type":"string"}}}"#, r#"{"zip":"01234"}"#),
        (r#"{"type":["null","integer"]}"#, "null"),
        (r#"{"items":{"type":["boolean","number"]}}"#, "[0,1]"),
    ] {
        assert_eq!(becomes(schema, instance), None, "{schema} {instance}");
    }
}

#[test]
fn the_field_case_of_numbers_in_strings_comes_out_right() {
    // Case 012 of the field cases.
    let schema = r#"{"type":"object","properties":{"depth":{"type":"integer"},"zip":{"type":"string"},"f":{"type":"number"},"b":{"type":"boolean"}}}"#;
    let (text, changes) =
        coerced(schema, r#"{"depth":"3","zip":"01234","f":"1e3","b":"true"}"#, &CoerceOptions::default());
    assert_eq!(text.as_deref(), Some(r#"{"depth":3,"zip":"01234","f":1e3,"b":true}"#));
    assert_eq!(changes, ["/depth integer-from-string", "/f number-from-string", "/b boolean-from-string"]);
}

#[test]
fn null_for_an_optional_property_means_that_it_is_absent() {
    let schema = r#"{"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":["string","null"]},"d":{}},"required":["b"]}"#;
    let (text, changes) =
        coerced(schema, r#"{"a":null,"b":null,"c":null,"d":null,"e":null}"#, &CoerceOptions::default());
    assert_eq!(text.as_deref(), Some(r#"{"b":null,"c":null,"d":null,"e":null}"#));
    assert_eq!(changes, ["/a null-removed"]);
}

#[test]
fn defaults_are_filled_in_where_a_property_is_absent() {
    let schema = r##"{"properties":{
        "a":{"type":"integer","default":1},
        "b":{"type":"object","properties":{"x":{"default":{"deep":[ 1 ]}},"y":{}}},
        "c":{"$ref":"#/$defs/c"},
        "d":{"$ref":"#/$defs/c","default":"own"},
        "e":{"default":null}},
        "$defs":{"c":{"type":"string","default":"shared"}}}"##;
    let (text, changes) = coerced(schema, r#"{"b":{"y":2},"a":null}"#, &CoerceOptions::default());
    let text = text.unwrap();
    assert_eq!(text, r#"{"b":{"y":2,"x":{"deep":[1]}},"a":1,"c":"shared","d":"own","e":null}"#);
    assert!(accepts(schema, &text));
    assert_eq!(
        changes,
        [
            "/a null-removed",
            "/b/x default-added",
            "/a default-added",
            "/c default-added",
            "/d default-added",
            "/e default-added"
        ]
    );
    assert_eq!(becomes(schema, r#"{"a":2,"b":{"x":1},"c":"","d":"","e":5}"#), None);
    // A default inside of data is none.
    assert_eq!(becomes(r#"{"properties":{"a":{"const":{"default":1}}}}"#, "{}"), None);
}

#[test]
fn nested_values_are_found_in_arrays_and_behind_references() {
    let schema = r##"{"type":"object","properties":{"list":{"type":"array","items":{"$ref":"#/$defs/item","minProperties2":1}}},
        "$defs":{"item":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#/$defs/item"},"tags":{"items":{"type":"boolean"}}}}}}"##;
    let (text, changes) = coerced(
        schema,
        r#"{"list":[{"n":"1"},{"next":{"next":{"n":"3","tags":["yes",false,"x"]}}},"{\"n\":2}"]}"#,
        &CoerceOptions::default(),
    );
    assert_eq!(
        text.as_deref(),
        Some(r#"{"list":[{"n":1},{"next":{"next":{"n":3,"tags":[true,false,"x"]}}},{"n":2}]}"#)
    );
    assert_eq!(
        changes,
        [
            "/list/0/n integer-from-string",
            "/list/1/next/next/n integer-from-string",
            "/list/1/next/next/tags/0 boolean-from-string",
            "/list/2 object-from-string",
        ]
    );
    // A reference beside other keywords: both sides say what is accepted.
    let schema = r##"{"$ref":"#/$defs/a","properties":{"q":{"type":"integer"}},"$defs":{"a":{"properties":{"p":{"type":"integer","default":7}}}}}"##;
    assert_eq!(becomes(schema, r#"{"q":"1","p":"2"}"#).as_deref(), Some(r#"{"q":1,"p":2}"#));
    assert_eq!(becomes(schema, r#"{"q":"1"}"#).as_deref(), Some(r#"{"q":1,"p":7}"#));
}

#[test]
fn scalars_become_arrays_only_when_asked() {
    let schema = r#"{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}"#;
    let wrap = CoerceOptions { wrap_scalars: true, ..CoerceOptions::default() };
    assert_eq!(becomes(schema, r#"{"a":5}"#), None);
    assert_eq!(
        coerced(schema, r#"{"a":5}"#, &wrap),
        (Some(r#"{"a":[5]}"#.into()), vec!["/a array-from-scalar".into()])
    );
    assert_eq!(
        coerced(schema, r#"{"a":"5"}"#, &wrap),
        (Some(r#"{"a":[5]}"#.into()), vec!["/a array-from-scalar".into(), "/a/0 integer-from-string".into()])
    );
    assert_eq!(coerced(schema, r#"{"a":"[5]"}"#, &wrap).0.as_deref(), Some(r#"{"a":[5]}"#));
    assert_eq!(coerced(schema, r#"{"a":{}}"#, &wrap).0, None);
}

#[test]
fn too_little_of_anything_is_a_named_error() {
    let schema = r#"{"properties":{"a":{"properties":{"b":{"type":"integer"}}}}}"#;
    let program = program(schema);
    let run = |instance: &str, steps, words, bytes| {
        let options = CoerceOptions {
            check: CheckOptions { steps, ..CheckOptions::default() },
            ..CoerceOptions::default()
        };
        let (mut work, mut out) = (vec![0; words], vec![0; bytes]);
        let text =
            coerce(Schema::new(schema, &program), instance, &options, &mut work, &mut out, &mut |_| {});
        text.map(|text| text.map(str::to_owned))
    };
    let instance = r#"{"a":{"b":"5"}}"#;
    assert_eq!(run(instance, 100, 8, 13), Ok(Some(r#"{"a":{"b":5}}"#.into())));
    // Twice the instance and room for a little.
    let need = 2 * instance.len() + 64;
    assert_eq!(run(instance, 100, 8, 12), Err(CoerceError::NoSpace { need }));
    assert_eq!(run(instance, 100, 8, need), run(instance, 100, 8, 13));
    assert!(matches!(run(instance, 100, 7, 13), Err(CoerceError::NoWork { need }) if need >= 8));
    assert_eq!(run(instance, 2, 8, 13), Err(CoerceError::StepLimit));
    assert!(matches!(run("{", 100, 8, 13), Err(CoerceError::Json(_))));
    // Nothing to change needs no room for a new text.
    assert_eq!(run(r#"{"a":{"b":5}}"#, 100, 8, 0), Ok(None));
}

#[test]
fn of_equal_keys_the_last_wins_when_asked() {
    let schema_text = r#"{"properties":{"a":{"type":"integer"}}}"#;
    let program = program(schema_text);
    let schema = Schema::new(schema_text, &program);
    let run = |instance: &str, last_wins: bool| {
        let options = CoerceOptions { last_wins, ..CoerceOptions::default() };
        let (mut out, mut rules) = ([0; 256], Vec::new());
        let text = coerce(schema, instance, &options, &mut [0; 64], &mut out, &mut |change| {
            rules.push((change.rule.name(), text(|sink| change.write_path(sink))));
        });
        (text.unwrap().map(str::to_owned), rules)
    };
    let instance = r#"{"a":"x","b":{"c":1,"d":2,"\u0063":3},"a":"5"}"#;
    let (text, rules) = run(instance, true);
    assert_eq!(text.unwrap(), r#"{"b":{"d":2,"\u0063":3},"a":5}"#);
    let removed: Vec<_> = rules.iter().filter(|rule| rule.0 == "duplicate-removed").collect();
    assert_eq!(removed, [&("duplicate-removed", "/a".into()), &("duplicate-removed", "/b/c".into())]);
    assert_eq!(run(r#"{"b":{"c":1,"c":3}}"#, false).0, None);
    assert_eq!(run(r#"{"b":{"c":1,"d":3}}"#, true).0, None);
}

#[test]
fn values_are_kept_when_asked() {
    let schema_text = r#"{"properties":{"a":{"type":"integer"},"b":{"type":"null"},"d":{"default":1}}}"#;
    let program = program(schema_text);
    let schema = Schema::new(schema_text, &program);
    let run = |last_wins: bool| {
        let options = CoerceOptions { last_wins, keep_values: true, ..CoerceOptions::default() };
        let (mut out, instance) = ([0; 256], r#"{"a":1,"b":"","a":"5"}"#);
        let text = coerce(schema, instance, &options, &mut [0; 64], &mut out, &mut |change| {
            assert_eq!(change.rule.name(), "duplicate-removed");
        });
        text.unwrap().map(str::to_owned)
    };
    assert_eq!(run(true).as_deref(), Some(r#"{"b":"","a":"5"}"#));
    assert_eq!(run(false), None);
}

#[test]
fn the_words_that_are_told_reach_equal_keys_however_deep_they_stand() {
    let schema_text = r#"{"properties":{"a":{"type":"integer"}}}"#;
    let program = program(schema_text);
    let schema = Schema::new(schema_text, &program);
    for depth in [1, 2, 8, 120] {
        let mut options = CoerceOptions { last_wins: true, ..CoerceOptions::default() };
        options.check.json.max_depth = depth as u16 + 2;
        let nested = |inner: &str| format!(r#"{{"x":{}{inner}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let (mut work, mut out) = (vec![0; schema.coerce_words(&options)], [0; 1024]);
        let text = coerce(schema, &nested(r#"{"d":1,"d":2}"#), &options, &mut work, &mut out, &mut |_| {});
        assert_eq!(text.unwrap(), Some(nested(r#"{"d":2}"#).as_str()), "{depth}");
    }
}
