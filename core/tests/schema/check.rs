//! What is accepted, and the limits of a check.

use super::{CheckError, Schema, accepts, program, try_violations, violations};
use toolcore::json::{self, Reason, Surrogates};
use toolcore::schema::{CheckOptions, CoerceOptions, Coercion, NoReport, coerce};

#[test]
fn types_are_those_of_json_schema() {
    let values = [
        ("null", "null"),
        ("true", "boolean"),
        ("5", "integer"),
        ("-0", "integer"),
        ("5.0", "integer"),
        ("1e2", "integer"),
        ("120e-1", "integer"),
        ("123456789012345678901234567890", "integer"),
        ("5.5", "number"),
        ("1e-2", "number"),
        ("\"5\"", "string"),
        ("[1]", "array"),
        ("{\"a\":1}", "object"),
    ];
    for (value, kind) in values {
        for name in ["null", "boolean", "integer", "number", "string", "array", "object"] {
            let expected = name == kind || (name == "number" && kind == "integer");
            assert_eq!(accepts(&format!("{{\"type\":\"{name}\"}}"), value), expected, "{name} {value}");
            // The same in a node with other keywords, and in a list of types.
            let node = format!("{{\"type\":\"{name}\",\"minLength\":0,\"minItems\":0,\"minimum\":-1}}");
            assert_eq!(accepts(&node, value), expected, "{node} {value}");
            let list = format!("{{\"type\":[\"{name}\"],\"properties\":{{}},\"items\":true}}");
            assert_eq!(accepts(&list, value), expected, "{list} {value}");
        }
    }
}

#[test]
fn numbers_compare_exactly() {
    for (schema, instance, valid) in [
        (r#"{"minimum":1}"#, "1", true),
        (r#"{"minimum":1}"#, "0", false),
        (r#"{"minimum":-5}"#, "-5", true),
        (r#"{"minimum":-5}"#, "-6", false),
        (r#"{"maximum":14}"#, "14.0", true),
        (r#"{"maximum":14}"#, "14.000000000000000000001", false),
        (r#"{"exclusiveMinimum":0}"#, "1e-400", true),
        (r#"{"exclusiveMinimum":0}"#, "-0.0", false),
        (r#"{"exclusiveMaximum":1e400}"#, "9.9e399", true),
        (r#"{"exclusiveMaximum":1e400}"#, "1e400", false),
        (r#"{"maximum":9007199254740992}"#, "9007199254740993", false),
        (r#"{"maximum":2147483648}"#, "2147483648", true),
        (r#"{"maximum":2147483647}"#, "2147483648", false),
        (r#"{"minimum":-2147483648}"#, "-2147483648", true),
        (r#"{"minimum":999999999}"#, "999999999", true),
        (r#"{"minimum":999999999}"#, "999999998", false),
        (r#"{"minimum":1000000000}"#, "1000000000", true),
        (r#"{"minimum":0.5}"#, "1", true),
        (r#"{"minimum":10}"#, "1e1", true),
        (r#"{"type":"integer","minimum":1,"maximum":14}"#, "7", true),
        (r#"{"type":"integer","minimum":1,"maximum":14}"#, "15", false),
        (r#"{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":3}"#, "2", true),
        (r#"{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":3}"#, "3", false),
        (r#"{"minimum":100}"#, "\"x\"", true),
        (r#"{"minimum":100}"#, "[0]", true),
    ] {
        assert_eq!(accepts(schema, instance), valid, "{schema} {instance}");
    }
}

#[test]
fn lengths_count_characters_of_the_decoded_text() {
    for (text, length) in [
        (r#""""#, 0),
        (r#""abc""#, 3),
        (r#""åäö""#, 3),
        (r#""日本""#, 2),
        (r#""💩""#, 1),
        (r#""\ud83d\udca9""#, 1),
        (r#""\u0041\n\"""#, 3),
    ] {
        for bound in 0..5 {
            assert_eq!(
                accepts(&format!("{{\"minLength\":{bound}}}"), text),
                length >= bound,
                "{text} {bound}"
            );
            assert_eq!(
                accepts(&format!("{{\"maxLength\":{bound}}}"), text),
                length <= bound,
                "{text} {bound}"
            );
        }
    }
}

#[test]
fn equality_is_of_values_not_of_texts() {
    for (schema, instance, valid) in [
        ("1", "1.0", true),
        ("1", "1e0", true),
        ("1", "true", false),
        ("0", "false", false),
        ("0", "-0.0", true),
        ("null", "null", true),
        (r#""a""#, r#""\u0061""#, true),
        (r#""\u0061""#, r#""a""#, true),
        (r#""a""#, r#""A""#, false),
        (r#""a\"b""#, r#""a\u0022b""#, true),
        ("[]", "{}", false),
        ("[1,[2,{}]]", "[1.0, [2, { } ] ]", true),
        ("[1,2]", "[2,1]", false),
        ("[1,2]", "[1]", false),
        ("[1]", "[1,2]", false),
        (r#"{"a":1,"b":{"c":[null]}}"#, r#"{ "b":{"c":[null]},"a":1.0}"#, true),
        (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, false),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
        (r#"{"a":1,"b":1}"#, r#"{"a":1,"a":1}"#, false),
        (r#"{"a":1}"#, r#"{"\u0061":1}"#, true),
        (r#"{"a":{"b":{"c":{"d":[[[[1]]]]}}}}"#, r#"{"a":{"b":{"c":{"d":[[[[2]]]]}}}}"#, false),
    ] {
        for form in [format!("{{\"const\":{schema}}}"), format!("{{\"enum\":[\"other\",{schema},7]}}")] {
            assert_eq!(accepts(&form, instance), valid, "{form} {instance}");
            let nested = format!("{{\"properties\":{{\"p\":{form}}}}}");
            assert_eq!(accepts(&nested, &format!("{{\"p\":{instance}}}")), valid, "{nested} {instance}");
        }
    }
    // The other keywords of the same schema still apply.
    let schema = r#"{"enum":["abc",[1,2],{"a":1}],"maxLength":2,"maxItems":1,"required":["b"]}"#;
    assert!(["\"abc\"", "[1,2]", r#"{"a":1}"#].iter().all(|instance| !accepts(schema, instance)));
}

#[test]
fn members_are_found_in_any_order_and_in_any_spelling() {
    for count in [1, 3, 16, 17, 32, 33, 64, 65, 200] {
        let names: Vec<String> = (0..count).map(|i| format!("name{}", i * 7919 % 1000)).collect();
        let properties: Vec<String> =
            names.iter().enumerate().map(|(i, n)| format!("\"{n}\":{{\"const\":{i}}}")).collect();
        let required: Vec<String> = names.iter().step_by(2).map(|n| format!("\"{n}\"")).collect();
        let schema = format!(
            "{{\"properties\":{{{}}},\"required\":[{}],\"additionalProperties\":false}}",
            properties.join(","),
            required.join(",")
        );
        let member = |i: usize| format!("\"{}\":{i}", names[i]);
        let object = |members: Vec<String>| format!("{{{}}}", members.join(","));
        assert!(accepts(&schema, &object((0..count).map(member).collect())));
        assert!(accepts(&schema, &object((0..count).rev().map(member).collect())));
        assert!(accepts(&schema, &object((0..count).step_by(2).map(member).collect())));
        let escaped = |i: usize| format!(" \"\\u006e{}\" : {i} ", &names[i][1..]);
        assert!(accepts(&schema, &object((0..count).rev().map(escaped).collect())));
        // Without one that is required, with one twice, with one wrong, with one unknown.
        let last = (count - 1) / 2 * 2;
        let without: Vec<String> = (0..count).filter(|i| *i != last).map(member).collect();
        assert_eq!(violations(&schema, &object(without)), [format!("/{}: required", names[last])]);
        let mut twice: Vec<String> = (0..count).map(member).collect();
        twice.push(escaped(0));
        assert_eq!(violations(&schema, &object(twice)), [format!("/{}: duplicate key", names[0])]);
        let mut wrong: Vec<String> = (0..count).map(member).collect();
        wrong[last] = format!("\"{}\":-1", names[last]);
        assert_eq!(
            violations(&schema, &object(wrong)),
            [format!("/{}: expected {last}, got -1", names[last])]
        );
        let mut unknown: Vec<String> = (0..count).map(member).collect();
        unknown.insert(count / 2, "\"name\":[{\"deep\":[]}]".into());
        assert!(
            violations(&schema, &object(unknown))[0].starts_with("/name: unknown property; allowed: \"name")
        );
    }
}

#[test]
fn keys_of_the_schema_can_have_escapes() {
    let schema = r#"{"properties":{"a\"b":{"type":"null"},"\u0063":{"type":"null"},"é":{"type":"null"}},"required":["a\u0022b","c","\u00e9"],"additionalProperties":false}"#;
    assert!(accepts(schema, r#"{"a\"b":null,"c":null,"é":null}"#));
    assert!(accepts(schema, r#"{"\u00E9":null,"\u0063":null,"a\u0022b":null}"#));
    assert_eq!(violations(schema, r#"{"c":1,"a\"b":null,"é":null}"#), ["/c: expected null, got number 1"]);
}

#[test]
fn what_has_no_entry_goes_to_additional_properties() {
    let schema = r#"{"properties":{"a":{"type":"string"}},"required":["b"],"additionalProperties":{"type":"integer"}}"#;
    assert!(accepts(schema, r#"{"a":"x","b":1,"c":2}"#));
    assert_eq!(
        violations(schema, r#"{"a":1,"b":"x","c":"y"}"#),
        [
            "/a: expected string, got number 1",
            "/b: expected integer, got string \"x\"",
            "/c: expected integer, got string \"y\"",
        ]
    );
    assert!(accepts(r#"{"additionalProperties":true,"required":["a"]}"#, r#"{"a":{},"b":[]}"#));
}

#[test]
fn containers_are_checked_at_every_depth() {
    let schema = r#"{"type":"array","minItems":1,"items":{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"},"maxItems":2},"at":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}},"required":["at"]}}"#;
    assert!(accepts(
        schema,
        r#"[{"at":{"x":1}},{"tags":[],"at":{"y":{},"x":2.5}},{"at":{"x":0},"tags":["a","b"]}]"#
    ));
    assert_eq!(
        violations(schema, r#"[{"tags":["a",1,{}],"at":{}},5,{"at":{"x":"1"}},{}]"#),
        [
            "/0/tags/1: expected string, got number 1",
            "/0/tags/2: expected string, got object",
            "/0/tags: expected at most 2 items, got 3",
            "/0/at/x: required",
            "/1: expected object, got number 5",
            "/2/at/x: expected number, got string \"1\"",
            "/3/at: required",
        ]
    );
    assert_eq!(violations(schema, "[ ]"), [": expected at least 1 item, got 0"]);
}

#[test]
fn keywords_for_other_types_do_not_matter() {
    let schema = r#"{"minLength":5,"maximum":1,"minItems":9,"required":["a"],"properties":{"a":false}}"#;
    for instance in ["null", "true", "0", "\"abcde\""] {
        assert!(accepts(schema, instance), "{instance}");
    }
}

#[test]
fn the_instance_is_read_as_strictly_as_by_the_json_reader() {
    // With each kind of schema around the place where the text breaks.
    for schema in [
        "true",
        "{}",
        r#"{"type":"object"}"#,
        r#"{"properties":{"a":{"type":"integer","minimum":0},"b":{"enum":["x","y"]},"c":{"items":{"type":"string"}}},"required":["q"]}"#,
        r#"{"items":{"properties":{"a":{}}},"additionalProperties":{"items":{"const":[1]}}}"#,
        r##"{"$ref":"#/$defs/a","properties":{"b":{"maxLength":1}},"$defs":{"a":{"properties":{"a":{}}}}}"##,
    ] {
        let program = program(schema);
        for text in TEXTS {
            for cut in 0..=text.len() {
                for broken in broken(text, cut) {
                    let options = CheckOptions::default();
                    let verdict =
                        Schema::new(schema, &program).check(&broken, &options, &mut [0; 4000], &mut NoReport);
                    let expected = json::validate(&broken, &options.json);
                    let found = match verdict {
                        Ok(_) => Ok(()),
                        Err(CheckError::Json(error)) => Err(error),
                        Err(error) => panic!("{error}"),
                    };
                    assert_eq!(found, expected, "{schema} {}", String::from_utf8_lossy(&broken));
                }
            }
        }
    }
}

/// The text cut, and with one byte replaced.
fn broken(text: &str, at: usize) -> Vec<Vec<u8>> {
    let mut all = vec![text.as_bytes()[..at].to_vec()];
    for byte in *b"\"{}[]:,x0-\\ \x01\xff" {
        let mut changed = text.as_bytes().to_vec();
        match changed.get_mut(at) {
            Some(place) => *place = byte,
            None => changed.push(byte),
        }
        all.push(changed);
    }
    all
}

const TEXTS: [&str; 5] = [
    r#"{"a":10,"b":"x","c":["p","q"],"q":null}"#,
    r#" { "b" : "z" , "a" : -1.5e3 , "d":{"e":[[],{}]} } "#,
    r#"[{"a":[1]},{"a":true},"\u00e9é"]"#,
    r#"{"a":01,"a":1}"#,
    r#""text""#,
];

#[test]
fn a_syntax_error_ends_the_check_even_after_violations() {
    let schema = r#"{"properties":{"a":{"type":"integer"}}}"#;
    let error = |reason, offset| Err(CheckError::Json(json::Error { reason, offset }));
    assert_eq!(try_violations(schema, r#"{"a":"x",}"#), error(Reason::ExpectedKey, 9));
    assert_eq!(try_violations(schema, r#"{"a":"x"} {}"#), error(Reason::TrailingData, 10));
    assert_eq!(try_violations(schema, ""), error(Reason::UnexpectedEnd, 0));
    assert_eq!(try_violations(schema, "\u{feff}{}"), error(Reason::ByteOrderMark, 0));
}

#[test]
fn options_for_json_apply() {
    let program = program("{}");
    let check = |text: &[u8], json: json::Options| {
        let options = CheckOptions { json, ..CheckOptions::default() };
        Schema::new("{}", &program).check(text, &options, &mut [], &mut NoReport).map(|verdict| verdict.valid)
    };
    let lone = br#"["\ud800"]"#;
    assert!(check(lone, json::Options::default()).is_err());
    let replace = json::Options { surrogates: Surrogates::Replace, ..json::Options::default() };
    assert_eq!(check(lone, replace), Ok(true));
    let shallow = json::Options { max_depth: 1, ..json::Options::default() };
    assert!(check(b"[[]]", shallow).is_err() && check(b"[]", shallow).is_ok());
}

#[test]
fn the_depth_limit_holds_where_the_schema_looks_inside() {
    let schema = r#"{"items":{"properties":{"a":{"items":true}}}}"#;
    let program = program(schema);
    let check = |text: &str, max_depth| {
        let options = CheckOptions {
            json: json::Options { max_depth, ..json::Options::default() },
            ..CheckOptions::default()
        };
        Schema::new(schema, &program)
            .check(text.as_bytes(), &options, &mut [0; 99], &mut NoReport)
            .map(|_| ())
    };
    let text = r#"[{"a":[[1]]}]"#;
    assert_eq!(check(text, 4), Ok(()));
    for (limit, offset) in [(3, 7), (2, 6), (1, 1), (0, 0)] {
        let error = CheckError::Json(json::Error { reason: Reason::DepthLimit, offset });
        assert_eq!(check(text, limit), Err(error));
    }
}

#[test]
fn work_memory_that_is_said_to_be_enough_is() {
    for (schema, instance) in [
        (r#"{"properties":{"a":{"type":"integer"}},"required":["a"]}"#, r#"{"a":1}"#),
        (r#"{"items":{"items":{"items":{"type":"null"}}}}"#, "[[[null]]]"),
        (r#"{"properties":{"a":{"items":{"const":{"x":[[1]]}}}}}"#, r#"{"a":[{"x":[[1.0]]}]}"#),
    ] {
        let program = program(schema);
        let schema = Schema::new(schema, &program);
        let options = CheckOptions::default();
        let need = schema.work_words(&options);
        let check = |words| {
            schema.check(instance.as_bytes(), &options, &mut vec![0; words], &mut NoReport).map(|v| v.valid)
        };
        assert_eq!(check(need), Ok(true));
        if need > 0 {
            assert_eq!(check(need - 1), Err(CheckError::NoWork { need }));
        }
    }
    let flat = program(r#"{"properties":{"a":{"type":"integer"},"b":{"items":{"type":"string"}}}}"#);
    let schema =
        Schema::new(r#"{"properties":{"a":{"type":"integer"},"b":{"items":{"type":"string"}}}}"#, &flat);
    assert_eq!(schema.work_words(&CheckOptions::default()), toolcore::schema::WORK_PER_LEVEL);
}

#[test]
fn the_step_budget_ends_work_that_grows_faster_than_the_text() {
    let values: Vec<String> = (0..1000).map(|i| format!("\"v{i}\"")).collect();
    let schema = format!("{{\"items\":{{\"enum\":[{}]}}}}", values.join(","));
    let program = program(&schema);
    let instance = format!("[{}]", vec!["\"v999\""; 2000].join(","));
    let check = |steps| {
        let options = CheckOptions { steps, ..CheckOptions::default() };
        Schema::new(&schema, &program)
            .check(instance.as_bytes(), &options, &mut [], &mut NoReport)
            .map(|v| v.valid)
    };
    assert_eq!(check(2_000_000), Ok(true));
    assert_eq!(check(1_000_000), Err(CheckError::StepLimit));
    // A text in the schema's order takes none.
    let schema = r#"{"properties":{"a":{"type":"string"},"b":{"items":{"type":"integer"}}}}"#;
    let program = super::program(schema);
    let options = CheckOptions { steps: 0, ..CheckOptions::default() };
    let verdict =
        Schema::new(schema, &program).check(br#"{"a":"x","b":[1,2]}"#, &options, &mut [0; 8], &mut NoReport);
    assert!(verdict.unwrap().valid);
}

#[test]
fn what_is_no_program_is_refused_or_harmless() {
    let bad = |program: &[u8]| {
        Schema::new("{}", program).check(b"{}", &CheckOptions::default(), &mut [], &mut NoReport)
    };
    assert_eq!(bad(&[]).unwrap_err(), CheckError::BadProgram);
    assert_eq!(bad(&[0; 64]).unwrap_err(), CheckError::BadProgram);
    // One that was made from another text.
    let program = program(r#"{"properties":{"a":{"enum":["x","y"]},"b":{"minimum":5}},"required":["a"]}"#);
    let verdict = Schema::new("{}", &program).check(
        br#"{"a":"x","b":1}"#,
        &CheckOptions::default(),
        &mut [],
        &mut NoReport,
    );
    assert!(verdict.is_ok());
}

#[test]
fn multiples_are_exact() {
    for (bound, yes, no) in [
        ("0.1", "0.3", "0.35"),
        ("0.01", "4.35", "4.355"),
        ("3", "1e400", "5"),
        ("7", "-14.0", "1e400"),
        ("1e-8", "0.00000012", "1.2e-9"),
        ("1e400", "3e400", "1e399"),
        ("1208925819614629174706176", "3626777458843887524118528", "3626777458843887524118529"),
        ("6", "12345678901234567890123456789012345678901234567890123456789012345678901234567890", "1e2"),
        ("0.5", "0", "0.25"),
    ] {
        let schema = format!("{{\"multipleOf\":{bound}}}");
        // 1e400 is no multiple of 3, and 80 digits whose sum is 360 are one of 6.
        let (yes, no) = if bound == "3" { ("3e400", yes) } else { (yes, no) };
        assert!(accepts(&schema, yes), "{bound} {yes}");
        assert!(!accepts(&schema, no), "{bound} {no}");
    }
}

#[test]
fn many_items_are_found_to_be_unique_in_few_steps() {
    let schema = program(r#"{"uniqueItems":true}"#);
    let schema = Schema::new(r#"{"uniqueItems":true}"#, &schema);
    let list = (0..5000).map(|i| format!("{{\"n\":{i}}}")).collect::<Vec<_>>().join(",");
    let options = CheckOptions::default();
    let check = |text: &str, words: usize| {
        schema.check_str(text, &options, &mut vec![0; words], &mut NoReport).map(|verdict| verdict.valid)
    };
    let words = schema.work_words(&options);
    assert_eq!(check(&format!("[{list}]"), words + 5000), Ok(true));
    assert_eq!(check(&format!("[{list},{{\"n\":4e2}}]"), words + 5001), Ok(false));
    // Without room for all fingerprints the items are walked several times.
    assert_eq!(check(&format!("[{list}]"), words), Ok(true));
    assert_eq!(check(&format!("[{list},{{\"n\":4e2}}]"), words), Ok(false));
}

#[test]
fn a_key_that_stands_twice_is_refused_wherever_it_is() {
    for (schema, instance, path) in [
        ("{}", r#"{"a":1,"a":1}"#, "/a"),
        (r#"{"type":"object"}"#, r#"{"a":{"b":1,"\u0062":2}}"#, "/a/b"),
        (r#"{"properties":{"a":{}}}"#, r#"{"x":1,"a":1,"x":2}"#, "/x"),
        (r#"{"properties":{"a":{}}}"#, r#"{"a":1,"x":1,"a":2}"#, "/a"),
        (r#"{"additionalProperties":{"type":"integer"}}"#, r#"{"x":1,"y":1,"x":2}"#, "/x"),
        (r#"{"items":{}}"#, r#"[[{"":0,"q":"{\"a\":1,\"a\":1}","":0}]]"#, "/0/0/"),
        // It is a problem of the instance, whatever a schema that is only tried makes of it.
        (r#"{"not":{"required":["b"],"minProperties":3}}"#, r#"{"a":1,"a":2}"#, "/a"),
        (r#"{"anyOf":[{"properties":{"a":{}}},{"type":"null"}]}"#, r#"{"a":1,"a":2}"#, "/a"),
    ] {
        assert_eq!(violations(schema, instance), [format!("{path}: duplicate key")], "{schema} {instance}");
    }
    assert!(accepts("{}", r#"{"a":{"a":1},"b":[{"a":1},{"a":1}],"c":"a"}"#));
}

#[test]
fn a_key_that_stands_twice_is_refused_where_a_node_looks_at_the_value_as_a_whole_alone() {
    for keyword in [
        r#""minProperties":1"#,
        r#""maxProperties":9"#,
        r#""propertyNames":{}"#,
        r#""dependentRequired":{"a":["a"]}"#,
        r#""dependentSchemas":{"x":{}}"#,
        r#""not":{"minProperties":9}"#,
        r#""anyOf":[{"minProperties":1},{"maxProperties":9}]"#,
        r#""if":{"minProperties":1}"#,
        r#""allOf":[{"minProperties":1}],"maxProperties":9"#,
    ] {
        let schema = format!("{{{keyword}}}");
        assert_eq!(violations(&schema, r#"{"a":1,"a":2}"#), ["/a: duplicate key"], "{schema}");
        assert!(accepts(&schema, r#"{"a":1,"b":{"a":2}}"#), "{schema}");
    }
    for keyword in [
        r#""uniqueItems":true"#,
        r#""contains":{"type":"integer"}"#,
        r#""not":{"uniqueItems":false,"contains":false}"#,
    ] {
        let schema = format!("{{{keyword}}}");
        assert_eq!(violations(&schema, r#"[1,{"a":1,"a":2}]"#), ["/1/a: duplicate key"], "{schema}");
        assert!(accepts(&schema, r#"[1,{"a":1,"b":2}]"#), "{schema}");
    }
    #[cfg(feature = "unevaluated")]
    for (schema, instance, path) in [
        (r#"{"unevaluatedProperties":{}}"#, r#"{"a":1,"a":2}"#, "/a"),
        (r#"{"unevaluatedItems":{"minProperties":1}}"#, r#"[{"a":1,"a":2}]"#, "/0/a"),
    ] {
        assert_eq!(violations(schema, instance), [format!("{path}: duplicate key")], "{schema}");
    }
}

#[test]
fn after_an_empty_list_of_items_all_items_are_additional() {
    let old = |rest: &str| format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#",{rest}}}"#);
    let none = old(r#""items":[],"additionalItems":false"#);
    assert_eq!(violations(&none, "[1]"), ["/0: nothing is allowed here"]);
    assert!(accepts(&none, "[]"));
    let numbers = old(r#""additionalItems":{"type":"number"},"items":[]"#);
    assert_eq!(violations(&numbers, "[1,true]"), ["/1: expected number, got boolean true"]);
    // Without a list there are none.
    assert!(accepts(&old(r#""additionalItems":false"#), "[1]"));
    assert!(accepts(&old(r#""items":{},"additionalItems":false"#), "[1]"));
}

#[test]
fn many_keys_are_compared_in_few_steps() {
    let members: Vec<String> = (0..5000).map(|i| format!("\"key number {i}\":{i}")).collect();
    let schema = program("{}");
    let check = |text: &str, words: usize, steps: u32| {
        let options = CheckOptions { steps, ..CheckOptions::default() };
        let verdict =
            Schema::new("{}", &schema).check_str(text, &options, &mut vec![0; words], &mut NoReport);
        verdict.map(|verdict| verdict.problems)
    };
    let once = format!("{{{}}}", members.join(","));
    let twice = format!("{{{},{}}}", members.join(","), members[4000]);
    assert_eq!((check(&once, 0, 1_000_000), check(&twice, 0, 1_000_000)), (Ok(0), Ok(1)));
    // With memory, in fewer.
    assert_eq!((check(&once, 10_000, 30_000), check(&twice, 10_002, 40_000)), (Ok(0), Ok(1)));
    assert_eq!(check(&once, 0, 1000), Err(CheckError::StepLimit));
}

/// Each word in turn says something else.
#[test]
fn a_program_with_a_wrong_word_is_harmless() {
    let names: String = (0..40).map(|name| format!(",\"k{name}\":{{\"minimum\":{name}}}")).collect();
    let schema = format!(
        r##"{{"properties":{{"":{{}}{names},"list":{{"items":{{"enum":["a",[1],"b"]}},"$ref":"#/$defs/d"}}}},"$defs":{{"d":{{"maxItems":1}}}}}}"##
    );
    let good = program(&schema);
    for at in (0..good.len()).step_by(4) {
        for word in [0, 1, 2, 16, 33, 0x7FFF_FFFF, 1 << 31, u32::MAX - 1, u32::MAX] {
            let mut program = good.clone();
            program[at..at + 4].copy_from_slice(&u32::to_ne_bytes(word));
            let schema = Schema::new(&schema, &program);
            for instance in
                [r#"{"":1,"zz":2}"#, r#"{"k5":1,"k3":{"":[1,"x"]},"":2,"list":["c",[2],[1]]}"#, "[{},[1]]"]
            {
                let options = CheckOptions { steps: 10_000, ..CheckOptions::default() };
                schema.check(instance.as_bytes(), &options, &mut [0; 256], &mut super::All::default()).ok();
                let options = CoerceOptions { check: options, ..CoerceOptions::default() };
                let mut told =
                    |change: &Coercion<'_>| assert!(super::text(|sink| change.write_path(sink)).len() < 1000);
                coerce(schema, instance, &options, &mut [0; 256], &mut [0; 256], &mut told).ok();
                schema.accepts_object();
            }
        }
    }
}
