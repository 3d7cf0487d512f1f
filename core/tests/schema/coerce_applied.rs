//! Coercion through what applies in place, by pattern and by position.

use super::coerce::coerced;
use super::{accepts, violations};
use toolcore::schema::{CheckOptions, CoerceOptions, Schema, coerce};

fn becomes(schema: &str, instance: &str, expected: &str, changes: &[&str]) {
    let (text, told) = coerced(schema, instance, &CoerceOptions::default());
    assert_eq!(text.as_deref(), Some(expected), "{schema} {instance}");
    assert_eq!(told, changes, "{schema} {instance}");
}

fn stays(schema: &str, instance: &str) {
    let (text, told) = coerced(schema, instance, &CoerceOptions::default());
    assert_eq!((text, told), (None, Vec::new()), "{schema} {instance}");
}

#[test]
fn an_optional_integer_of_pydantic_takes_a_string_a_null_and_nothing() {
    let schema = r#"{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null,"title":"N"}}}"#;
    becomes(schema, r#"{"n":"5"}"#, r#"{"n":5}"#, &["/n integer-from-string"]);
    becomes(schema, "{}", r#"{"n":null}"#, &["/n default-added"]);
    stays(schema, r#"{"n":null}"#);
    stays(schema, r#"{"n":5}"#);
    stays(schema, r#"{"n":"five"}"#);
}

#[test]
fn a_nested_model_of_pydantic_is_coerced_and_gets_its_defaults() {
    let schema = r##"{"$defs":{"Size":{"properties":{"w":{"type":"integer"},"unit":{"default":"mm","type":"string"}},"required":["w"],"type":"object"}},
        "properties":{"size":{"anyOf":[{"$ref":"#/$defs/Size"},{"type":"null"}],"default":null},"own":{"$ref":"#/$defs/Size"},"list":{"items":{"$ref":"#/$defs/Size"},"type":"array"}}}"##;
    becomes(
        schema,
        r#"{"size":{"w":"1"},"own":"{\"w\":2}","list":[{"w":3,"unit":null}]}"#,
        r#"{"size":{"w":1,"unit":"mm"},"own":{"w":2,"unit":"mm"},"list":[{"w":3,"unit":"mm"}]}"#,
        &[
            "/own object-from-string",
            "/list/0/unit null-removed",
            "/size/w integer-from-string",
            "/own/unit default-added",
            "/list/0/unit default-added",
            "/size/unit default-added",
        ],
    );
}

#[test]
fn all_that_applies_to_a_value_is_heard() {
    let schema = r#"{"allOf":[{"properties":{"a":{"type":"integer"}}},{"properties":{"b":{"type":"boolean","default":true}}}]}"#;
    becomes(schema, r#"{"a":"1"}"#, r#"{"a":1,"b":true}"#, &["/a integer-from-string", "/b default-added"]);
    // What two of them want must be one thing.
    let both = r#"{"allOf":[{"type":["integer","boolean"]},{"type":["boolean","number"]}]}"#;
    becomes(both, r#""5.0""#, "5", &[" integer-from-string"]);
    stays(r#"{"allOf":[{"type":"integer"},{"type":"boolean"}]}"#, r#""1""#);
}

#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn members_are_found_by_pattern_and_items_by_position() {
    let schema = r#"{"properties":{"x1":{"maximum":9}},"patternProperties":{"^x":{"type":"integer"},"1$":{"type":"number"}},"additionalProperties":{"type":"boolean"}}"#;
    becomes(
        schema,
        r#"{"x1":"1","y1":"2.5","z":"no"}"#,
        r#"{"x1":1,"y1":2.5,"z":false}"#,
        &["/x1 integer-from-string", "/y1 number-from-string", "/z boolean-from-string"],
    );
    let schema = r#"{"prefixItems":[{"type":"integer"},{"type":"boolean"}],"items":{"type":"number"}}"#;
    let changes = ["/0 integer-from-string", "/1 boolean-from-string", "/2 number-from-string"];
    becomes(schema, r#"["1","1","1"]"#, "[1,true,1]", &changes);
    let old = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"},{"type":"boolean"}],"additionalItems":{"type":"number"}}"#;
    becomes(old, r#"["1","1","1"]"#, "[1,true,1]", &changes);
    let rest = r#"{"properties":{"a":{}},"unevaluatedProperties":{"type":"integer"}}"#;
    becomes(rest, r#"{"a":"1","b":"1"}"#, r#"{"a":"1","b":1}"#, &["/b integer-from-string"]);
}

#[test]
fn the_first_alternative_is_chosen_that_accepts_after_coercion() {
    let schema = |alternatives: &str| format!("{{\"KEYWORD\":[{alternatives}]}}");
    for keyword in ["anyOf", "oneOf"] {
        let schema = |alternatives| schema(alternatives).replace("KEYWORD", keyword);
        // As it is, before anything else.
        stays(&schema(r#"{"type":"integer"},{"type":"string"}"#), r#""5""#);
        let boolean = [" boolean-from-string"];
        becomes(&schema(r#"{"type":"boolean"},{"type":"integer"}"#), r#""1""#, "true", &boolean);
        becomes(
            &schema(r#"{"type":"integer"},{"type":"boolean"}"#),
            r#""1""#,
            "1",
            &[" integer-from-string"],
        );
        // 1 is not accepted, so the next one is taken.
        becomes(&schema(r#"{"type":"integer","minimum":2},{"type":"boolean"}"#), r#""1""#, "true", &boolean);
        // All of an alternative must fit in the end.
        let objects = r#"{"properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k"]},
            {"properties":{"k":{"const":"b"},"n":{"type":"boolean"}},"required":["k"]}"#;
        becomes(
            &schema(objects),
            r#"{"k":"b","n":"1"}"#,
            r#"{"k":"b","n":true}"#,
            &["/n boolean-from-string"],
        );
        becomes(&schema(objects), r#"{"k":"a","n":"1"}"#, r#"{"k":"a","n":1}"#, &["/n integer-from-string"]);
        stays(&schema(objects), r#"{"k":"c","n":"1"}"#);
        stays(&schema(objects), r#"{"k":"a","n":"yes"}"#);
        // One inside another.
        let nested =
            r#"{"type":"null"},{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"integer"}]}"#;
        becomes(&schema(nested), r#""7""#, "7", &[" integer-from-string"]);
        let changes = [" array-from-string", "/0 integer-from-string"];
        becomes(&schema(nested), r#""[\"7\"]""#, "[7]", &changes);
    }
    // Nothing is chosen where more than one accepts.
    stays(r#"{"oneOf":[{"type":"integer"},{"type":"number"}]}"#, "5");
}

#[test]
fn a_condition_is_decided_by_what_holds_without_it() {
    let schema = r#"{"properties":{"mode":{"type":"integer"}},"if":{"properties":{"mode":{"const":1}}},
        "then":{"properties":{"v":{"type":"integer"}}},"else":{"properties":{"v":{"type":"boolean"}}}}"#;
    let mode = "/mode integer-from-string";
    becomes(schema, r#"{"v":"1","mode":"1"}"#, r#"{"v":1,"mode":1}"#, &[mode, "/v integer-from-string"]);
    becomes(schema, r#"{"v":"1","mode":"2"}"#, r#"{"v":true,"mode":2}"#, &[mode, "/v boolean-from-string"]);
    let schema = r#"{"properties":{"a":{"type":"string"}},"dependentSchemas":{"a":{"properties":{"b":{"type":"integer","default":3}}}}}"#;
    becomes(schema, r#"{"b":"2","a":""}"#, r#"{"b":2,"a":""}"#, &["/b integer-from-string"]);
    becomes(schema, r#"{"a":""}"#, r#"{"a":"","b":3}"#, &["/b default-added"]);
    becomes(schema, r#"{"b":"2","a":null}"#, r#"{"b":"2"}"#, &["/a null-removed"]);
}

#[test]
fn what_only_asks_changes_nothing() {
    stays(r#"{"not":{"type":"string"}}"#, r#""5""#);
    stays(r#"{"contains":{"type":"integer"}}"#, r#"["5"]"#);
    stays(r#"{"propertyNames":{"type":"integer"}}"#, r#"{"5":1}"#);
    stays(r#"{"if":{"type":"integer"}}"#, r#""5""#);
    stays(r#"{"enum":[5]}"#, r#""5""#);
}

#[test]
fn a_dynamic_reference_leads_where_a_check_follows_it() {
    let schema = r##"{"$id":"https://e.example/strict","$dynamicAnchor":"node","$ref":"#/$defs/tree","required":["n"],
        "$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","properties":{"n":{"type":"integer"},"in":{"type":"array","items":{"$dynamicRef":"#node"}}}}}}"##;
    becomes(
        schema,
        r#"{"n":"1","in":[{"n":"2","in":"[]"}]}"#,
        r#"{"n":1,"in":[{"n":2,"in":[]}]}"#,
        &["/n integer-from-string", "/in/0/n integer-from-string", "/in/0/in array-from-string"],
    );
}

#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn null_means_absent_wherever_the_schema_of_the_property_comes_from() {
    let defs = r#""$defs":{"s":{"type":"string"}}"#;
    for property in [
        r##"{"$ref":"#/$defs/s"}"##,
        r##"{"$ref":"#/$defs/s","minLength":1}"##,
        r##"{"allOf":[{"$ref":"#/$defs/s"}]}"##,
        r##"{"anyOf":[{"$ref":"#/$defs/s"},{"type":"integer"}]}"##,
        r##"{"oneOf":[{"type":"integer"},{"$ref":"#/$defs/s"}]}"##,
        r#"{"enum":["a","b"]}"#,
        r#"{"const":"a"}"#,
        r#"{"not":{"type":"null"}}"#,
        "false",
    ] {
        for schema in [
            format!("{{\"properties\":{{\"a\":{property}}},{defs}}}"),
            format!("{{\"allOf\":[{{\"properties\":{{\"a\":{property}}}}}],{defs}}}"),
            format!("{{\"properties\":{{\"a\":{property}}},\"patternProperties\":{{\"b\":{{}}}},{defs}}}"),
        ] {
            becomes(&schema, r#"{"a":null}"#, "{}", &["/a null-removed"]);
            becomes(&schema, r#"{"a":null,"c":1}"#, r#"{"c":1}"#, &["/a null-removed"]);
            becomes(&schema, r#"{"c":1,"a":null ,"d":2}"#, r#"{"c":1 ,"d":2}"#, &["/a null-removed"]);
        }
        // Required, here or beside.
        stays(
            &format!("{{\"properties\":{{\"a\":{property}}},\"required\":[\"a\"],{defs}}}"),
            r#"{"a":null}"#,
        );
        let beside =
            format!("{{\"properties\":{{\"a\":{property}}},\"allOf\":[{{\"required\":[\"a\"]}}],{defs}}}");
        stays(&beside, r#"{"a":null}"#);
        let beside = format!(
            "{{\"allOf\":[{{\"required\":[\"a\"]}},{{\"properties\":{{\"a\":{property}}}}}],{defs}}}"
        );
        stays(&beside, r#"{"a":null}"#);
    }
    // Not declared: it may be meant.
    stays(r#"{"additionalProperties":{"type":"string"}}"#, r#"{"a":null}"#);
    stays(r#"{"items":{"type":"string"}}"#, "[null]");
    stays(r#"{"type":"object"}"#, "null");
}

#[test]
fn a_value_that_is_none_of_those_listed_can_still_be_coerced() {
    let schema = r#"{"anyOf":[{"const":"a"},{"const":"b"},{"type":"integer"}]}"#;
    becomes(schema, r#""5""#, "5", &[" integer-from-string"]);
    let schema = r#"{"anyOf":[{"properties":{"k":{"const":1,"type":"integer"}},"required":["k"]},{"properties":{"k":{"const":2,"type":"integer"}},"required":["k"]}]}"#;
    becomes(schema, r#"{"k":"2"}"#, r#"{"k":2}"#, &["/k integer-from-string"]);
}

#[test]
fn a_default_that_does_not_fit_is_not_filled_in() {
    stays(r#"{"properties":{"a":{"type":"integer","default":"5"}}}"#, "{}");
    stays(r#"{"properties":{"a":{"enum":["x"],"default":"y"}}}"#, "{}");
    stays(
        r##"{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"integer","default":null}}}"##,
        "{}",
    );
    // The key stands twice in it.
    stays(r#"{"properties":{"a":{"type":"object","default":{"b":1,"b":2}}}}"#, "{}");
    // It fits, but not beside the others.
    stays(r#"{"properties":{"a":{"default":1}},"maxProperties":1}"#, r#"{"b":1}"#);
    stays(r#"{"properties":{"a":{"default":1}},"not":{"required":["a"]}}"#, "{}");
    stays(r#"{"properties":{"a":{"default":1}},"dependentRequired":{"a":["b"]}}"#, "{}");
    stays(r#"{"properties":{"a":{"default":1}},"allOf":[{"properties":{"a":{"type":"string"}}}]}"#, "{}");
    // In draft 7 nothing counts beside a reference.
    let beside = |draft: &str, target: &str| {
        format!(
            r##"{{"$schema":"{draft}","properties":{{"a":{{"$ref":"#/definitions/a","default":1}}}},"definitions":{{"a":{target}}}}}"##
        )
    };
    let old = "http://json-schema.org/draft-07/schema#";
    stays(&beside(old, "{}"), "{}");
    becomes(&beside(old, r#"{"default":2}"#), "{}", r#"{"a":2}"#, &["/a default-added"]);
    let new = "https://json-schema.org/draft/2020-12/schema";
    becomes(&beside(new, r#"{"default":2}"#), "{}", r#"{"a":1}"#, &["/a default-added"]);
    // Without it no alternative fits, and with it one too many.
    let several = r#"{"properties":{"a":{"default":1}},"oneOf":[{"required":["a"]},{"required":["a"],"minProperties":1}]}"#;
    stays(several, "{}");
    let schema = r#"{"properties":{"a":{"type":"integer","default":"5"},"b":{"default":2}}}"#;
    becomes(schema, "{}", r#"{"b":2}"#, &["/b default-added"]);
}

#[test]
fn defaults_come_into_defaults_and_alternatives_that_are_clear() {
    let schema = r#"{"properties":{"o":{"type":"object","default":{},"properties":{"a":{"default":1}}}}}"#;
    becomes(schema, "{}", r#"{"o":{"a":1}}"#, &["/o default-added", "/o/a default-added"]);
    let schema = r#"{"anyOf":[{"properties":{"k":{"const":"a"},"x":{"default":1}},"required":["k"]},
        {"properties":{"k":{"const":"b"},"y":{"default":2}},"required":["k"]}]}"#;
    becomes(schema, r#"{"k":"b"}"#, r#"{"k":"b","y":2}"#, &["/y default-added"]);
    // Both accept: neither is meant more than the other.
    stays(r#"{"anyOf":[{"properties":{"x":{"default":1}}},{"properties":{"y":{"default":2}}}]}"#, "{}");
    // A required one with a default makes an alternative acceptable.
    let schema = r#"{"anyOf":[{"required":["z"]},{"properties":{"x":{"default":1}},"required":["x"]}]}"#;
    becomes(schema, "{}", r#"{"x":1}"#, &["/x default-added"]);
    let schema = r#"{"allOf":[{"properties":{"x":{"default":1}}},{"properties":{"x":{"default":2}}}]}"#;
    becomes(schema, "{}", r#"{"x":1}"#, &["/x default-added"]);
    // Without an end: eight deep, and then it is enough.
    let schema =
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n","default":{}}}}}}"##;
    let (text, told) = coerced(schema, "{}", &CoerceOptions::default());
    let text = text.unwrap();
    assert!(accepts(schema, &text));
    assert_eq!((text.matches('n').count(), told.len()), (8, 8));
}

#[test]
fn what_cannot_be_mended_is_told_as_of_the_result() {
    let schema = r#"{"properties":{"a":{"type":"integer","maximum":5},"b":{"type":"integer"}}}"#;
    let (text, told) = coerced(schema, r#"{"a":"9","b":"x"}"#, &CoerceOptions::default());
    assert_eq!(told, ["/a integer-from-string"]);
    assert_eq!(
        violations(schema, &text.unwrap()),
        ["/a: expected at most 5, got 9", "/b: expected integer, got string \"x\""]
    );
}

#[test]
fn a_schema_that_wraps_without_end_wraps_once() {
    let schema = r##"{"type":"array","items":{"$ref":"#"}}"##;
    let wrap = CoerceOptions { wrap_scalars: true, ..CoerceOptions::default() };
    assert_eq!(coerced(schema, "5", &wrap), (None, vec![]));
    let schema = r##"{"type":"array","items":{"allOf":[{"$ref":"#"}]}}"##;
    assert_eq!(coerced(schema, "5", &wrap), (Some("[5]".into()), vec![" array-from-scalar".into()]));
    let schema = r#"{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}"#;
    let changes = vec![" array-from-scalar".into(), "/0 integer-from-string".into()];
    assert_eq!(coerced(schema, r#""5""#, &wrap), (Some("[5]".into()), changes));
}

#[test]
fn what_is_too_deep_is_not_taken_out_of_a_string() {
    let schema = r#"{"properties":{"a":{"type":"array"}}}"#;
    let nested = |depth: usize| format!("{{\"a\":\"{}{}\"}}", "[".repeat(depth), "]".repeat(depth));
    let plain = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    becomes(schema, &nested(127), &plain(127), &["/a array-from-string"]);
    stays(schema, &nested(128));
}

#[test]
fn a_thousand_defaults_are_filled_in_and_take_few_steps() {
    let property = |number: usize| format!("\"p{number}\":{{\"type\":\"integer\",\"default\":{number}}}");
    let properties: Vec<String> = (0..1000).map(property).collect();
    let schema = format!("{{\"properties\":{{{}}}}}", properties.join(","));
    let program = super::program(&schema);
    let check = CheckOptions { steps: 50_000, ..CheckOptions::default() };
    let options = CoerceOptions { check, ..CoerceOptions::default() };
    let (mut work, mut out, mut told) = ([0; 1000], vec![0; 100_000], 0);
    let compiled = Schema::new(&schema, &program);
    let text = coerce(compiled, "{}", &options, &mut work, &mut out, &mut |_| told += 1).unwrap().unwrap();
    let expected: Vec<String> = (0..1000).map(|number| format!("\"p{number}\":{number}")).collect();
    assert_eq!((text, told), (format!("{{{}}}", expected.join(",")).as_str(), 1000));
}
