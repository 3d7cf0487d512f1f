//! What is said about an instance that does not fit.

use super::{Schema, listed, program, text, violations};
use toolcore::schema::{
    CheckOptions, CompileOptions, Keyword, ListReport, Report, Resource, Violation, compile_with,
    program_size_with,
};
use toolcore::sink::Sink;

#[test]
fn each_problem_says_where_it_is_what_was_expected_and_what_came() {
    for (schema, instance, expected) in [
        (r#"{"type":"integer"}"#, r#""x""#, r#": expected integer, got string "x""#),
        (r#"{"type":"integer"}"#, "5.5", ": expected integer, got number 5.5"),
        (r#"{"type":"number"}"#, "true", ": expected number, got boolean true"),
        (r#"{"type":"boolean"}"#, "0", ": expected boolean, got number 0"),
        (r#"{"type":"string"}"#, "null", ": expected string, got null"),
        (r#"{"type":"string"}"#, "{\"a\":1}", ": expected string, got object"),
        (r#"{"type":"null"}"#, "[1]", ": expected null, got array"),
        (r#"{"type":["null","string"]}"#, "false", ": expected string or null, got boolean false"),
        (
            r#"{"type":["integer","boolean","object"]}"#,
            "1.5",
            ": expected integer or boolean or object, got number 1.5",
        ),
        (r#"{"type":["integer","number"]}"#, "[]", ": expected number, got array"),
        (r#"{"enum":["c","f"]}"#, r#""k""#, r#": expected one of "c", "f", got "k""#),
        (r#"{"enum":[1,null,{"a":1}]}"#, "2", r#": expected one of 1, null, {"a":1}, got 2"#),
        (r#"{"enum":[]}"#, "2", ": nothing is allowed here"),
        (r#"{"const":"a"}"#, "[1]", r#": expected "a", got array"#),
        (r#"{"minimum":1.50}"#, "1", ": expected at least 1.50, got 1"),
        (r#"{"maximum":10}"#, "10.5", ": expected at most 10, got 10.5"),
        (r#"{"exclusiveMinimum":0}"#, "0", ": expected more than 0, got 0"),
        (r#"{"exclusiveMaximum":5}"#, "5", ": expected less than 5, got 5"),
        (r#"{"minLength":3}"#, r#""åb""#, ": expected at least 3 characters, got 2"),
        (r#"{"minLength":1}"#, r#""""#, ": expected at least 1 character, got 0"),
        (r#"{"maxLength":1}"#, r#""ab""#, ": expected at most 1 character, got 2"),
        (r#"{"minItems":1}"#, "[]", ": expected at least 1 item, got 0"),
        (r#"{"maxItems":2}"#, "[1,2,3]", ": expected at most 2 items, got 3"),
        (r#"{"required":["b"]}"#, "{}", "/b: required"),
        (r#"{"required":["a/b~c"]}"#, "{}", "/a~1b~0c: required"),
        ("false", "1", ": nothing is allowed here"),
        (r#"{"properties":{"a":false}}"#, r#"{"a":1}"#, "/a: nothing is allowed here"),
        (r#"{"items":false}"#, "[1]", "/0: nothing is allowed here"),
        (
            r#"{"properties":{"city":{},"days":{}},"additionalProperties":false}"#,
            r#"{"town":1}"#,
            r#"/town: unknown property; allowed: "city", "days""#,
        ),
        (r#"{"additionalProperties":false}"#, r#"{"a":1}"#, "/a: unknown property; none is allowed"),
        (r#"{"properties":{"a":{}}}"#, r#"{"a":1,"a":2}"#, "/a: duplicate key"),
        (
            r#"{"items":{"properties":{"a":{"items":{"type":"null"}}}}}"#,
            r#"[{},{"x":[1],"a":[null,7]}]"#,
            "/1/a/1: expected null, got number 7",
        ),
    ] {
        assert_eq!(violations(schema, instance), [expected], "{schema} {instance}");
    }
}

#[test]
fn a_required_name_that_is_not_declared_can_still_be_unknown() {
    let schema = r#"{"properties":{"a":{}},"required":["b"],"additionalProperties":false}"#;
    assert_eq!(violations(schema, r#"{"b":1}"#), [r#"/b: unknown property; allowed: "a""#]);
    assert_eq!(violations(schema, r#"{"\u0062":1}"#), [r#"/b: unknown property; allowed: "a""#]);
    assert_eq!(violations(schema, "{}"), ["/b: required"]);
}

#[test]
fn everything_is_reported_in_the_order_of_the_text() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"minimum":3}},"required":["a","b","d"],"additionalProperties":false}"#;
    assert_eq!(
        listed(schema, r#"{"x":{"deep":[1,2]},"a":"x","c":1,"y":[]}"#),
        "/x: unknown property; allowed: \"a\", \"b\", \"c\"; /a: expected integer, got string \"x\"; \
         /c: expected at least 3, got 1; /y: unknown property; allowed: \"a\", \"b\", \"c\"; \
         /b: required; /d: required"
    );
    assert_eq!(listed(r#"{"type":"integer"}"#, r#""x""#), r#"expected integer, got string "x""#);
    assert_eq!(listed(schema, r#"{"a":1,"b":"","d":2}"#), r#"/d: unknown property; allowed: "a", "b", "c""#);
}

#[test]
fn the_schema_side_is_named_too() {
    struct Paths(Vec<(String, Keyword)>);
    impl Report for Paths {
        fn violation(&mut self, violation: &Violation<'_>) {
            self.0.push((text(|sink| violation.write_schema_path(sink)), violation.keyword()));
        }
    }
    let schema = r##"{
        "properties":{"a":{"type":"string"},"b":{"maximum":1},"c":{"$ref":"#/$defs/c"},"d":false},
        "required":["e"],"additionalProperties":false,
        "$defs":{"c":{"enum":[1]}}}"##;
    let program = program(schema);
    let mut paths = Paths(Vec::new());
    Schema::new(schema, &program)
        .check(br#"{"a":1,"b":2,"c":3,"d":4,"f":5,"a":"x"}"#, &CheckOptions::default(), &mut [], &mut paths)
        .unwrap();
    let paths: Vec<_> = paths.0.iter().map(|(path, keyword)| (path.as_str(), keyword.name())).collect();
    assert_eq!(
        paths,
        [
            ("/properties/a/type", "type"),
            ("/properties/b/maximum", "maximum"),
            ("/$defs/c/enum", "enum"),
            ("/properties/d", "false"),
            ("/additionalProperties", "additionalProperties"),
            ("/required", "required"),
            ("", "duplicate-key"),
        ]
    );
}

#[test]
fn long_values_and_long_lists_are_shortened() {
    let schema = format!(
        "{{\"enum\":[{}]}}",
        (0..200).map(|i| format!("\"value {i}\"")).collect::<Vec<_>>().join(",")
    );
    let instance = format!("\"{}\"", "ü".repeat(500));
    let [message] = &violations(&schema, &instance)[..] else { panic!() };
    assert!(message.len() < 400, "{message}");
    assert!(message.starts_with(": expected one of \"value 0\", \"value 1\", "), "{message}");
    assert!(message.contains(", …, got \"üüü") && message.ends_with("ü…"), "{message}");
}

#[test]
fn a_list_of_problems_is_bounded_and_says_how_many_more_there_were() {
    let schema = r#"{"items":{"type":"string"}}"#;
    let instance = format!("[{}]", vec!["1"; 100].join(","));
    let all = violations(schema, &instance).len();
    assert_eq!(all, 100);
    let line = listed(schema, &instance);
    assert!(
        line.starts_with("/0: expected string, got number 1; /1: ") && line.ends_with("; and 84 more"),
        "{line}"
    );

    let program = program(schema);
    let bounded = |max_count, max_bytes, room: usize| {
        let mut buffer = vec![0; room];
        let mut sink = Sink::new(&mut buffer);
        let mut report = ListReport::bounded(&mut sink, max_count, max_bytes);
        let options = CheckOptions::default();
        Schema::new(schema, &program).check(instance.as_bytes(), &options, &mut [], &mut report).unwrap();
        assert_eq!(report.finish(), 100);
        sink.finish().unwrap().to_owned()
    };
    assert_eq!(bounded(1, 1000, 1000), "/0: expected string, got number 1; and 99 more");
    assert_eq!(
        bounded(50, 70, 1000),
        "/0: expected string, got number 1; /1: expected string, got number 1; and 98 more"
    );
    assert_eq!(bounded(0, 1000, 1000), "100 problems");
    // The room of the sink bounds it as well.
    assert_eq!(bounded(50, 1000, 70), "/0: expected string, got number 1; and 99 more");
    // A path of any length does not make a problem unreportable.
    let long = format!("{{\"{}\":1}}", "k".repeat(5000));
    assert_eq!(
        listed(r#"{"additionalProperties":{"type":"string"}}"#, &long),
        "…: expected string, got number 1"
    );
}

#[test]
fn of_alternatives_the_closest_says_what_is_wrong() {
    let schema = r#"{"oneOf":[
        {"type":"string"},
        {"properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
        {"properties":{"kind":{"const":"box"},"w":{"type":"number"},"h":{"type":"number"}},"required":["kind","w","h"]}]}"#;
    assert_eq!(listed(schema, r#"{"kind":"circle","r":"1"}"#), r#"/r: expected number, got string "1""#);
    assert_eq!(listed(schema, r#"{"kind":"box","w":1}"#), "/h: required");
    let schema = r#"{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}"#;
    assert_eq!(listed(schema, r#"{"a":"x"}"#), r#"/a: expected integer or null, got string "x""#);
    assert_eq!(
        listed(r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, "3"),
        "fits more than one of the alternatives, expected exactly one"
    );
    // Alternatives inside alternatives.
    let schema = r#"{"anyOf":[{"type":"null"},{"items":{"anyOf":[{"type":"null"},{"minimum":5}]}}]}"#;
    assert_eq!(listed(schema, "[7,3]"), "/1: expected at least 5, got 3");
}

/// As `Report` states it.
#[cfg(feature = "unevaluated")]
#[test]
fn what_takes_a_further_look_is_told_first_and_keys_that_stand_twice_last() {
    let schema = r#"{
        "properties":{"a":{"type":"null"},"b":true},"required":["b"],
        "unevaluatedProperties":false,"allOf":[{"properties":{"c":{"type":"null"}}}]}"#;
    assert_eq!(
        listed(schema, r#"{"x":0,"a":1,"c":1,"x":0}"#),
        "/c: expected null, got number 1; \
         /x: unknown property; allowed: \"a\", \"b\", \"c\"; \
         /a: expected null, got number 1; /b: required; /x: duplicate key"
    );
}

/// Also those of schemas that apply in place, as far as these fit, each once.
#[cfg(feature = "unevaluated")]
#[test]
fn an_unevaluated_property_is_told_with_the_names_that_are_declared() {
    let schema = r##"{
        "properties":{"city":true,"days":true},"required":["id"],"unevaluatedProperties":false,
        "allOf":[{"$ref":"#/$defs/base"},{"anyOf":[{"properties":{"q":{"type":"null"}}},{"properties":{"r":true}}]}],
        "$defs":{"base":{"properties":{"id":true,"city":{"type":"string"}}}}}"##;
    assert_eq!(
        violations(schema, r#"{"id":1,"city":"x","q":1,"town":2}"#),
        [
            r#"/q: unknown property; allowed: "city", "days", "id", "r""#,
            r#"/town: unknown property; allowed: "city", "days", "id", "r""#
        ]
    );
    assert_eq!(violations(r#"{"unevaluatedProperties":false}"#, r#"{"a":1}"#), ["/a: unknown property"]);
    #[cfg(feature = "pattern")]
    assert_eq!(
        violations(r#"{"patternProperties":{"^x":true},"unevaluatedProperties":false}"#, r#"{"a":1}"#),
        [r#"/a: unknown property; allowed: names that match "^x""#]
    );
}

#[test]
fn an_alternative_for_another_type_is_not_the_closest() {
    let unit = r#"{"anyOf":[{"enum":["c","f"],"type":"string"},{"type":"null"}]}"#;
    let expected = r#"expected one of "c", "f", got "kelvin""#;
    assert_eq!(listed(unit, r#""kelvin""#), expected);
    assert_eq!(listed(unit, "5"), "expected string or null, got number 5");
    let nested = r#"{"anyOf":[{"anyOf":[{"type":"integer"},{"type":"null"}]},{"enum":["c","f"]}]}"#;
    assert_eq!(listed(nested, r#""kelvin""#), expected);
    let referred = r##"{"anyOf":[{"$ref":"#/$defs/a"},{"enum":["c","f"]}],"$defs":{"a":{"allOf":[{"type":["null","object"]}]}}}"##;
    assert_eq!(listed(referred, r#""kelvin""#), expected);
    let many =
        r#"{"oneOf":[{"type":"null"},{"properties":{"a":{"const":1},"b":{"const":1},"c":{"const":1}}}]}"#;
    assert_eq!(listed(many, r#"{"a":1,"b":1,"c":2}"#), "/c: expected 1, got 2");
    assert_eq!(
        listed(many, r#"{"a":2,"b":2,"c":2}"#),
        "/a: expected 1, got 2; /b: expected 1, got 2; /c: expected 1, got 2"
    );
    // A wrong type in a member, which has alternatives itself, says less than a wrong tag.
    let tagged = r#"{"anyOf":[
        {"properties":{"kind":{"const":"a"},"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}},
        {"properties":{"kind":{"const":"b"},"x":{"type":"integer"}}}]}"#;
    assert_eq!(listed(tagged, r#"{"kind":"a","x":5}"#), "/x: expected string or null, got number 5");
}

#[test]
fn alternatives_that_are_values_are_all_listed() {
    for (schema, instance, expected) in [
        (r#"{"oneOf":[{"const":"c"},{"const":"f"}]}"#, r#""k""#, r#"expected one of "c", "f", got "k""#),
        (
            r#"{"anyOf":[{"const":"c","title":"Celsius"},{"type":"null"},{"enum":["f","k",1]}]}"#,
            r#""x""#,
            r#"expected one of "c", "f", "k", 1, got "x""#,
        ),
        (r#"{"anyOf":[{"const":1},{"const":2},{"const":"c"}]}"#, "3", r#"expected one of 1, 2, "c", got 3"#),
        (
            r#"{"anyOf":[{"enum":[1,2],"type":"integer"},{"const":"c","type":"string"},{"const":"d","type":"string"}]}"#,
            r#""x""#,
            r#"expected one of "c", "d", got "x""#,
        ),
        (r#"{"oneOf":[{"const":[1]},{"const":[2]}]}"#, "[3]", "expected one of [1], [2], got array"),
        // What one of them says beside its value can be what is wrong.
        (r#"{"anyOf":[{"const":"c"},{"minLength":3}]}"#, r#""k""#, "expected at least 3 characters, got 1"),
        (r#"{"anyOf":[{"const":"c"},{"type":"null"}]}"#, r#""k""#, r#"expected "c", got "k""#),
    ] {
        assert_eq!(listed(schema, instance), expected, "{schema}");
    }
    let schema = r#"{"properties":{"u":{"oneOf":[{"const":"c"},{"const":"f"}]}}}"#;
    assert_eq!(
        told(schema, &[], r#"{"u":"k"}"#),
        [["/u", "/properties/u/oneOf", "oneOf", r#"expected one of "c", "f", got "k""#].map(String::from)]
    );
    let values: Vec<String> = (0..500).map(|i| format!("{{\"const\":{i}}}")).collect();
    let line = listed(&format!("{{\"anyOf\":[{}]}}", values.join(",")), "-1");
    assert!(line.starts_with("expected one of 0, 1, 2, ") && line.ends_with("…, got -1"), "{line}");
    assert!(line.len() < 300, "{line}");
}

#[test]
fn a_tag_that_no_alternative_has_is_told_with_those_that_they_have() {
    let schema = r##"{"properties":{"shape":{"oneOf":[{"$ref":"#/$defs/Circle"},{"$ref":"#/$defs/Box"},{"type":"null"}]}},"$defs":{
        "Circle":{"type":"object","properties":{"kind":{"const":"circle","type":"string"},"r":{"type":"number"}},"required":["kind","r"]},
        "Box":{"type":"object","properties":{"w":{"type":"number"},"kind":{"enum":["box","square"]}},"required":["kind","w"],"additionalProperties":false}}}"##;
    let expected = r#"expected one of "circle", "box", "square", got "disc""#;
    assert_eq!(
        told(schema, &[], r#"{"shape":{"r":1,"kind":"disc"}}"#),
        [["/shape/kind", "/properties/shape/oneOf", "oneOf", expected].map(String::from)]
    );
    assert_eq!(
        listed(schema, r#"{"shape":{"r":"1","kind":"circle"}}"#),
        r#"/shape/r: expected number, got string "1""#
    );
    assert_eq!(listed(schema, r#"{"shape":{"kind":"square"}}"#), "/shape/w: required");
    assert_eq!(
        listed(schema, r#"{"shape":{"kind":"disc","kind":"disc"}}"#),
        format!("/shape/kind: {expected}; /shape/kind: duplicate key")
    );
    // Without a tag, or where one alternative has none.
    assert_eq!(listed(schema, r#"{"shape":{"r":1}}"#), "/shape/kind: required");
    let open = r#"{"anyOf":[{"properties":{"k":{"const":"a"}}},{"required":["x"]}]}"#;
    assert_eq!(listed(open, r#"{"k":"b"}"#), "/x: required");
}

#[test]
fn a_line_is_told_once() {
    let twice = r#"{"allOf":[{"required":["a"]},{"required":["b"]},{"required":["a"]}],"required":["a"]}"#;
    assert_eq!(listed(twice, "{}"), "/a: required; /b: required");
    // Where a line begins like another one it is not the same.
    let similar = r#"{"properties":{"a":{"items":{"type":"null"}}}}"#;
    assert_eq!(
        listed(similar, r#"{"a":[5,55,5]}"#),
        "/a/0: expected null, got number 5; /a/1: expected null, got number 55; /a/2: expected null, got number 5"
    );
    let program = program(twice);
    let mut buffer = [0; 64];
    let mut sink = Sink::new(&mut buffer);
    let mut report = ListReport::new(&mut sink);
    Schema::new(twice, &program).check(b"{}", &CheckOptions::default(), &mut [0; 256], &mut report).unwrap();
    assert_eq!(report.finish(), 4);
}

#[test]
fn whole_containers_are_reported_where_they_stand() {
    for (schema, instance, expected) in [
        (
            r#"{"uniqueItems":true}"#,
            r#"[1,{"a":1,"b":2},{"b":2.0,"a":1}]"#,
            "expected unique items, got equal ones at 1 and 2",
        ),
        (r#"{"contains":{"const":1}}"#, "[2]", "expected at least 1 matching item, got 0"),
        (
            r#"{"contains":{"type":"string"},"maxContains":1}"#,
            r#"["a","b"]"#,
            "expected at most 1 matching item, got 2",
        ),
        (r#"{"minProperties":2}"#, r#"{"a":1}"#, "expected at least 2 properties, got 1"),
        (r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#, "/b: required with \"a\""),
        (r#"{"propertyNames":{"maxLength":1}}"#, r#"{"ab":1}"#, "/ab: expected at most 1 character, got 2"),
        (r#"{"not":{"type":"null"}}"#, "null", "has a form that is ruled out by \"not\""),
        (r#"{"multipleOf":0.1}"#, "0.35", "expected a multiple of 0.1, got 0.35"),
    ] {
        assert_eq!(listed(schema, instance), expected);
    }
}

#[cfg_attr(not(all(feature = "pattern", feature = "format", feature = "unevaluated")), allow(dead_code))]
/// What a violation says: where in the instance, where in the schema, the keyword and the message.
fn told(schema: &str, resources: &[Resource<'_>], instance: &str) -> Vec<[String; 4]> {
    struct All(Vec<[String; 4]>);
    impl Report for All {
        fn violation(&mut self, violation: &Violation<'_>) {
            self.0.push([
                text(|sink| violation.write_path(sink)),
                text(|sink| violation.write_schema_path(sink)),
                violation.keyword().name().to_owned(),
                text(|sink| violation.write_message(sink)),
            ]);
        }
    }
    let options = CompileOptions {
        #[cfg(feature = "format")]
        formats: true,
        ..CompileOptions::default()
    };
    let mut program = vec![0; program_size_with(schema, resources, &options).unwrap()];
    let used = compile_with(schema, resources, &options, &mut program).unwrap();
    let schema = Schema::with_resources(schema, resources, &program[..used]);
    let mut all = All(Vec::new());
    let options = CheckOptions::default();
    schema.check(instance.as_bytes(), &options, &mut vec![0; schema.work_words(&options)], &mut all).unwrap();
    all.0
}

/// Every keyword, in the schema itself, behind a reference, and in a resource.
#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn every_keyword_names_its_place_in_the_schema() {
    for (keyword, schema, instance, path, message) in EVERY {
        if cfg!(not(feature = "pattern")) && schema.contains("attern")
            || cfg!(not(feature = "format")) && *keyword == "format"
        {
            continue;
        }
        let at_root = told(schema, &[], instance);
        let name = keyword.split('/').next_back().unwrap().to_owned();
        let expected =
            |place: &str| [path.to_string(), format!("{place}/{keyword}"), name.clone(), message.to_string()];
        assert_eq!(at_root, [expected("")], "{schema}");
        let referred = format!("{{\"$ref\":\"#/$defs/a~1b\",\"$defs\":{{\"a/b\":{schema}}}}}");
        assert_eq!(told(&referred, &[], instance), [expected("/$defs/a~1b")], "{referred}");
        let uri = "https://example.com/x";
        let elsewhere = format!("{{\"$defs\":{{\"y\":{schema}}}}}");
        let resource = Resource { uri, text: &elsewhere };
        assert_eq!(
            told(r#"{"$ref":"https://example.com/x#/$defs/y"}"#, &[resource], instance),
            [expected("https://example.com/x#/$defs/y")],
            "{schema}"
        );
    }
}

#[cfg_attr(not(all(feature = "pattern", feature = "format", feature = "unevaluated")), allow(dead_code))]
/// Keyword with its path, schema, instance, where it is in the instance, message.
pub(crate) const EVERY: &[(&str, &str, &str, &str, &str)] = &[
    ("type", r#"{"type":"integer"}"#, "null", "", "expected integer, got null"),
    ("enum", r#"{"enum":["a",1]}"#, "2", "", "expected one of \"a\", 1, got 2"),
    ("const", r#"{"const":{"a":1}}"#, "2", "", "expected {\"a\":1}, got 2"),
    ("minimum", r#"{"minimum":1}"#, "0", "", "expected at least 1, got 0"),
    ("maximum", r#"{"maximum":1}"#, "2", "", "expected at most 1, got 2"),
    ("exclusiveMinimum", r#"{"exclusiveMinimum":1}"#, "1", "", "expected more than 1, got 1"),
    ("exclusiveMaximum", r#"{"exclusiveMaximum":1}"#, "1", "", "expected less than 1, got 1"),
    ("multipleOf", r#"{"multipleOf":2}"#, "3", "", "expected a multiple of 2, got 3"),
    ("minLength", r#"{"minLength":2}"#, "\"a\"", "", "expected at least 2 characters, got 1"),
    ("maxLength", r#"{"maxLength":1}"#, "\"ab\"", "", "expected at most 1 character, got 2"),
    ("pattern", r#"{"pattern":"^a"}"#, "\"b\"", "", "expected a text that matches \"^a\", got \"b\""),
    ("format", r#"{"format":"date"}"#, "\"b\"", "", "expected the format date, got \"b\""),
    ("minItems", r#"{"minItems":1}"#, "[]", "", "expected at least 1 item, got 0"),
    ("maxItems", r#"{"maxItems":1}"#, "[1,2]", "", "expected at most 1 item, got 2"),
    ("items/type", r#"{"items":{"type":"null"}}"#, "[null,1]", "/1", "expected null, got number 1"),
    (
        "prefixItems/1/type",
        r#"{"prefixItems":[{},{"type":"null"}]}"#,
        "[1,1]",
        "/1",
        "expected null, got number 1",
    ),
    (
        "uniqueItems",
        r#"{"uniqueItems":true}"#,
        "[1,1]",
        "",
        "expected unique items, got equal ones at 0 and 1",
    ),
    ("contains", r#"{"contains":{"type":"null"}}"#, "[1]", "", "expected at least 1 matching item, got 0"),
    (
        "minContains",
        r#"{"contains":{"type":"null"},"minContains":2}"#,
        "[null]",
        "",
        "expected at least 2 matching items, got 1",
    ),
    (
        "maxContains",
        r#"{"contains":{"type":"null"},"maxContains":1}"#,
        "[null,null]",
        "",
        "expected at most 1 matching item, got 2",
    ),
    ("minProperties", r#"{"minProperties":1}"#, "{}", "", "expected at least 1 property, got 0"),
    ("maxProperties", r#"{"maxProperties":0}"#, r#"{"a":1}"#, "", "expected at most 0 properties, got 1"),
    ("required", r#"{"required":["a/b"]}"#, "{}", "/a~1b", "required"),
    ("dependentRequired", r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#, "/b", "required with \"a\""),
    ("dependencies", r#"{"dependencies":{"a":["b"]}}"#, r#"{"a":1}"#, "/b", "required with \"a\""),
    (
        "dependentSchemas/a/required",
        r#"{"dependentSchemas":{"a":{"required":["b"]}}}"#,
        r#"{"a":1}"#,
        "/b",
        "required",
    ),
    (
        "properties/a/type",
        r#"{"properties":{"a":{"type":"null"}}}"#,
        r#"{"a":1}"#,
        "/a",
        "expected null, got number 1",
    ),
    (
        "patternProperties/^a/type",
        r#"{"patternProperties":{"^a":{"type":"null"}}}"#,
        r#"{"a":1}"#,
        "/a",
        "expected null, got number 1",
    ),
    (
        "additionalProperties",
        r#"{"properties":{"b":{}},"additionalProperties":false}"#,
        r#"{"a":1}"#,
        "/a",
        "unknown property; allowed: \"b\"",
    ),
    (
        "additionalProperties",
        r#"{"properties":{"b":{}},"patternProperties":{"^x-":{}},"additionalProperties":false}"#,
        r#"{"a":1}"#,
        "/a",
        "unknown property; allowed: \"b\" and names that match \"^x-\"",
    ),
    (
        "propertyNames/maxLength",
        r#"{"propertyNames":{"maxLength":1}}"#,
        r#"{"ab":1}"#,
        "/ab",
        "expected at most 1 character, got 2",
    ),
    ("unevaluatedProperties", r#"{"unevaluatedProperties":false}"#, r#"{"a":1}"#, "/a", "unknown property"),
    ("unevaluatedItems", r#"{"unevaluatedItems":false}"#, "[1]", "/0", "unexpected item"),
    ("allOf/1/type", r#"{"allOf":[{},{"type":"null"}]}"#, "1", "", "expected null, got number 1"),
    (
        "anyOf/1/minimum",
        r#"{"anyOf":[{"type":"null"},{"minimum":2}]}"#,
        "1",
        "",
        "expected at least 2, got 1",
    ),
    (
        "anyOf",
        r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#,
        "1",
        "",
        "expected string or null, got number 1",
    ),
    (
        "oneOf",
        r#"{"oneOf":[{"minimum":1},{"minimum":2}]}"#,
        "3",
        "",
        "fits more than one of the alternatives, expected exactly one",
    ),
    ("not", r#"{"not":{"type":"null"}}"#, "null", "", "has a form that is ruled out by \"not\""),
    ("then/type", r#"{"if":{"const":1},"then":{"type":"null"}}"#, "1", "", "expected null, got number 1"),
    ("else/type", r#"{"if":{"const":2},"else":{"type":"null"}}"#, "1", "", "expected null, got number 1"),
];
