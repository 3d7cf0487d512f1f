//! References.

use super::{SchemaErrorKind, accepts, program, refusal, try_violations, violations};
use toolcore::json;
use toolcore::schema::{CheckError, CheckOptions, CompileOptions, NoReport, Schema};

#[test]
fn a_reference_finds_its_target_by_json_pointer() {
    for (reference, place) in [
        ("#/$defs/x", r#""$defs":{"x":TARGET}"#),
        ("#/definitions/x", r#""definitions":{"x":TARGET}"#),
        ("#/properties/y", r#""x-unused":0"#),
        ("#/$defs/a~1b~0c", r#""$defs":{"a/b~c":TARGET}"#),
        ("#/$defs/~01", r#""$defs":{"~1":TARGET}"#),
        ("#/$defs/per%25cent", r#""$defs":{"per%cent":TARGET}"#),
        ("#/$defs/%61%2F%62", r#""$defs":{"a":{"items":{}},"x":TARGET},"$defs2":0"#),
        ("#/$defs/gr%C3%BC%C3%9Fe", r#""$defs":{"grüße":TARGET}"#),
        ("#/$defs/grüße", r#""$defs":{"gr\u00fc\u00dfe":TARGET}"#),
        ("#/$defs/\\u0078", r#""$defs":{"x":TARGET}"#),
        ("#/$defs/", r#""$defs":{"":TARGET}"#),
        ("#/$defs/%22", r#""$defs":{"\"":TARGET}"#),
        ("#/x-lib/0/deep", r#""x-lib":[{"deep":TARGET}]"#),
        ("#/$defs/list/items", r#""$defs":{"list":{"items":TARGET}}"#),
        ("#/$defs/open/additionalProperties", r#""$defs":{"open":{"additionalProperties":TARGET}}"#),
        ("#/examples/1", r#""examples":[0,TARGET]"#),
        ("#%2F$defs/x", r#""$defs":{"x":TARGET}"#),
    ] {
        for target in [r#"{"type":"string"}"#, r#"{"type":"string","maxLength":3}"#] {
            let place = place.replace("TARGET", target);
            let schema = format!(r#"{{"properties":{{"p":{{"$ref":"{reference}"}},"y":{target}}},{place}}}"#);
            // "%2F" is a separator once it is decoded, and there is no /$defs/a/b.
            if reference.contains("%61%2F") {
                assert_eq!(refusal(&schema), (SchemaErrorKind::UnresolvedRef, "/properties/p/$ref".into()));
                continue;
            }
            assert!(accepts(&schema, r#"{"p":"abc"}"#), "{schema}");
            assert_eq!(violations(&schema, r#"{"p":5}"#), ["/p: expected string, got number 5"], "{schema}");
        }
    }
}

#[test]
fn an_anchor_of_draft_7_can_be_written_with_escapes() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#a"},"definitions":{"x":{"$id":"\u0023a","type":"string"}}}"##;
    assert!(accepts(schema, r#"["x"]"#) && !accepts(schema, "[1]"));
}

#[test]
fn what_is_compiled_late_can_refer_to_an_anchor() {
    for reference in [r##""$ref":"#a""##, r##""$dynamicRef":"#d""##] {
        for (target, place) in
            [("#/x-lib/0", r#""x-lib":[{REF}]"#), ("#/examples/0/items", r#""examples":[{"items":{REF}}]"#)]
        {
            let place = place.replace("REF", reference);
            let anchors = r#"{"x":{"$anchor":"a","$dynamicAnchor":"d","type":"string"}}"#;
            let schema = format!(r#"{{"items":{{"$ref":"{target}"}},{place},"$defs":{anchors}}}"#);
            assert!(accepts(&schema, r#"["x"]"#), "{schema}");
            assert!(!accepts(&schema, "[1]"), "{schema}");
        }
    }
}

#[test]
fn the_whole_schema_can_be_referred_to() {
    for root in ["#", ""] {
        let schema =
            format!(r#"{{"properties":{{"next":{{"$ref":"{root}"}}}},"additionalProperties":false}}"#);
        assert!(accepts(&schema, r#"{"next":{"next":{"next":{}}}}"#));
        assert_eq!(
            violations(&schema, r#"{"next":{"next":{"nxt":1}}}"#),
            [r#"/next/next/nxt: unknown property; allowed: "next""#]
        );
    }
}

#[test]
fn chains_and_forward_references_resolve() {
    let schema = r##"{"$ref":"#/$defs/c","$defs":{"c":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"},"a":{"type":"integer"}}}"##;
    assert!(accepts(schema, "5") && !accepts(schema, "\"x\""));
    // One that was not compiled leads to another such one.
    let schema = r##"{"$ref":"#/x/a","x":{"a":{"items":{"$ref":"#/x/b"}},"b":{"items":{"$ref":"#/x/c"}},"c":{"type":"null"}}}"##;
    assert!(accepts(schema, "[[null]]") && !accepts(schema, "[[1]]"));
}

#[test]
fn many_references_to_one_target_and_many_targets_resolve() {
    let properties: String =
        (0..300).map(|i| format!(r##""p{i}":{{"$ref":"#/$defs/d{}"}},"##, i % 100)).collect();
    let defs: String = (0..100).map(|i| format!(r#""d{i}":{{"const":{i}}},"#)).collect();
    let schema = format!(r#"{{"properties":{{{properties}"z":{{}}}},"$defs":{{{defs}"z":{{}}}}}}"#);
    assert!(accepts(&schema, r#"{"p7":7,"p107":7,"p299":99}"#));
    assert_eq!(violations(&schema, r#"{"p299":98}"#), ["/p299: expected 99, got 98"]);
}

#[test]
fn a_boolean_schema_can_be_a_target() {
    let schema = |target| format!(r##"{{"items":{{"$ref":"#/$defs/a"}},"$defs":{{"a":{target}}}}}"##);
    assert!(accepts(&schema("true"), "[1]"));
    assert_eq!(violations(&schema("false"), "[1]"), ["/0: nothing is allowed here"]);
}

#[test]
fn siblings_apply_in_2020_12_and_are_ignored_in_draft_7() {
    let schema = |dialect| {
        format!(
            r##"{{"$schema":"{dialect}","properties":{{"a":{{"maxItems":2,"$ref":"#/definitions/list","items":{{"minimum":0}}}}}},"definitions":{{"list":{{"type":"array","items":{{"type":"integer"}}}}}}}}"##
        )
    };
    let new = schema("https://json-schema.org/draft/2020-12/schema");
    let old = schema("http://json-schema.org/draft-07/schema#");
    assert!(accepts(&new, r#"{"a":[1,2]}"#) && accepts(&old, r#"{"a":[-1,2,3]}"#));
    assert_eq!(
        violations(&new, r#"{"a":[-1,"x",3]}"#),
        [
            "/a/1: expected integer, got string \"x\"",
            "/a/0: expected at least 0, got -1",
            "/a: expected at most 2 items, got 3",
        ]
    );
    assert_eq!(violations(&old, r#"{"a":[-1,"x",3]}"#), ["/a/1: expected integer, got string \"x\""]);
    // In draft 7 even a sibling that could not be enforced is ignored, and definitions are still found.
    let ignored = r##"{"$schema":"http://json-schema.org/draft-07/schema#","not":{},"definitions":{"a":{"type":"null"}},"$ref":"#/definitions/a"}"##;
    assert!(accepts(ignored, "null") && !accepts(ignored, "1"));
    let hidden = r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":7,"\u0024ref":"#/definitions/a","definitions":{"a":true}}"##;
    assert!(accepts(hidden, "1"));
}

#[test]
fn a_value_is_read_once_more_for_each_reference_beside_other_keywords() {
    let schema = r##"{
        "$ref":"#/$defs/a","required":["r"],
        "$defs":{
            "a":{"$ref":"#/$defs/b","properties":{"x":{"$ref":"#/$defs/c","maximum":5}}},
            "b":{"type":"object","required":["q"]},
            "c":{"$ref":"#/$defs/d","minimum":1},
            "d":{"type":"integer"}}}"##;
    assert!(accepts(schema, r#" { "q":0 , "x" : 3, "r":[{}] } "#));
    assert_eq!(
        violations(schema, r#"{"x":7.5}"#),
        [
            "/q: required",
            "/x: expected integer, got number 7.5",
            "/x: expected at most 5, got 7.5",
            "/r: required",
        ]
    );
    assert_eq!(
        try_violations(schema, r#"{"q":0,"x":3,"r":1]"#),
        Err(CheckError::Json(json::Error { reason: json::Reason::ExpectedComma, offset: 18 }))
    );
}

#[test]
fn what_leads_nowhere_or_elsewhere_is_refused() {
    for (reference, kind) in [
        ("#/$defs/y", SchemaErrorKind::UnresolvedRef),
        ("#/$defs/x/", SchemaErrorKind::UnresolvedRef),
        ("#/$defs/x~1", SchemaErrorKind::UnresolvedRef),
        ("#/x-list/01", SchemaErrorKind::UnresolvedRef),
        ("#/x-list/2", SchemaErrorKind::UnresolvedRef),
        ("#/x-list/-", SchemaErrorKind::UnresolvedRef),
        ("#/x-list/0", SchemaErrorKind::NotASchema),
        ("#/title", SchemaErrorKind::NotASchema),
        ("#/%ff", SchemaErrorKind::UnresolvedRef),
        ("#anchor", SchemaErrorKind::UnresolvedRef),
        ("other.json", SchemaErrorKind::UnknownDocument),
        ("other.json#/$defs/x", SchemaErrorKind::UnknownDocument),
        ("https://example.com/s", SchemaErrorKind::UnknownDocument),
        ("/$defs/x", SchemaErrorKind::UnknownDocument),
        ("\\/$defs/x", SchemaErrorKind::UnknownDocument),
    ] {
        let schema = format!(
            r#"{{"title":"t","items":{{"$ref":"{reference}"}},"$defs":{{"x":{{"type":"null"}}}},"x-list":[0,{{}}]}}"#
        );
        let (found, path) = refusal(&schema);
        assert_eq!(found, kind, "{schema}");
        if kind != SchemaErrorKind::NotASchema {
            assert_eq!(path, "/items/$ref");
        }
    }
}

#[test]
fn a_reference_is_shown_as_far_as_the_mistake() {
    let long = format!("https://example.com/{}/schemas/units.json#/$defs/temprature", "x".repeat(40));
    for (reference, message) in [
        (&*long, "reference to a document that was not handed over"),
        ("#/$defs/a_name_that_is_longer_than_forty_bytes_of_text", "reference to no place in its document"),
    ] {
        let schema = format!(r#"{{"$id":"https://example.com/s","$ref":"{reference}"}}"#);
        let error = super::try_program(&schema, &CompileOptions::default()).unwrap_err();
        let told = super::text(|sink| error.write_message(&schema, sink));
        assert_eq!(told, format!(r#"/$ref: {message}: "{reference}""#));
    }
}

#[test]
fn cycles_that_never_enter_the_value_are_refused() {
    for (schema, path) in [
        (r##"{"$ref":"#"}"##, "/$ref"),
        (r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##, ""),
        (
            r##"{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/a","type":"string"}}}"##,
            "/$defs/a/$ref",
        ),
        (r##"{"minimum":1,"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#","maximum":1}}}"##, ""),
    ] {
        let (kind, place) = refusal(schema);
        assert_eq!(kind, SchemaErrorKind::RefCycle, "{schema}");
        assert!(place.ends_with(if path.is_empty() { "/$ref" } else { path }), "{place}");
    }
}

/// `@` is a reference to the schema itself.
#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn every_keyword_that_applies_to_the_same_value_can_be_in_a_cycle() {
    for keywords in [
        r#""allOf":[{},@]"#,
        r#""anyOf":[{"type":"null"},@]"#,
        r#""oneOf":[@,{}]"#,
        r#""not":@"#,
        r#""if":@"#,
        r#""if":{},"then":@"#,
        r#""else":@,"if":{}"#,
        r#""dependentSchemas":{"a":@}"#,
        r#""dependencies":{"a":["b"],"c":@}"#,
        r#""not":{"not":{"anyOf":[{"allOf":[{"if":@}]}]}}"#,
        r#""unevaluatedProperties":false,"allOf":[@]"#,
    ] {
        for reference in [
            r##"{"$ref":"#"}"##,
            r##"{"$ref":"#/$defs/a"}"##,
            r##"{"$ref":"#here"}"##,
            r##"{"$dynamicRef":"#there"}"##,
            r##"{"$ref":"http://a/b"}"##,
        ] {
            let keywords = keywords.replace('@', reference);
            let schema = format!(
                r##"{{"$id":"http://a/b","$anchor":"here","$dynamicAnchor":"there",{keywords},"$defs":{{"a":{{"$ref":"#"}}}}}}"##
            );
            assert_eq!(refusal(&schema).0, SchemaErrorKind::RefCycle, "{schema}");
        }
    }
}

/// What applies to members, items or names makes progress; `then` and `else` apply to nothing without `if`.
#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn recursion_that_makes_progress_is_no_cycle() {
    for keywords in [
        r#""properties":{"a":@}"#,
        r#""patternProperties":{"a":@}"#,
        r#""additionalProperties":@"#,
        r#""unevaluatedProperties":@"#,
        r#""propertyNames":@"#,
        r#""items":@"#,
        r#""prefixItems":[@]"#,
        r#""contains":@"#,
        r#""unevaluatedItems":@"#,
        r#""allOf":[{"items":@}]"#,
        r#""not":{"required":["a"],"properties":{"a":@}}"#,
        r#""anyOf":[{"type":"null"},{"dependentSchemas":{"a":{"contains":@}}}]"#,
        r#""then":@"#,
        r#""else":@"#,
        r#""default":@,"x-unknown":@"#,
    ] {
        if cfg!(not(feature = "pattern")) && keywords.contains("pattern") {
            continue;
        }
        for reference in [r##"{"$ref":"#"}"##, r##"{"$dynamicRef":"#there"}"##, r##"{"$ref":"#/$defs/a"}"##] {
            let keywords = keywords.replace('@', reference);
            let schema =
                format!(r##"{{"$dynamicAnchor":"there",{keywords},"$defs":{{"a":{{"$ref":"#"}}}}}}"##);
            for instance in ["1", "{}", "[]", r#"{"b":{"b":[{"b":1}]}}"#] {
                // It ends, and not with an error: no budget and no memory is used up.
                violations(&schema, instance);
            }
        }
    }
}

#[test]
fn recursion_over_the_instance_is_bounded_by_its_depth() {
    let schema = r##"{"type":["array","null"],"items":{"$ref":"#"}}"##;
    let program = program(schema);
    let schema = Schema::new(schema, &program);
    let nested = |depth: usize| "[".repeat(depth) + "null" + &"]".repeat(depth);
    let options = CheckOptions::default();
    let need = schema.work_words(&options);
    let check = |text: &str, words: usize| {
        schema
            .check(text.as_bytes(), &options, &mut vec![0; words], &mut NoReport)
            .map(|verdict| verdict.valid)
    };
    assert_eq!(check(&nested(128), need), Ok(true));
    assert!(
        matches!(check(&nested(129), need), Err(CheckError::Json(error)) if error.reason == json::Reason::DepthLimit)
    );
    assert_eq!(check(&nested(128), 100), Err(CheckError::NoWork { need }));
    assert_eq!(check(&nested(1), 0), Ok(true), "what is not nested needs no work memory");
}

/// The words that are said to be enough, which are, and one less is not.
fn least_words(text: &str, instance: &str) -> usize {
    let program = program(text);
    let schema = Schema::new(text, &program);
    let options = CheckOptions::default();
    let need = schema.work_words(&options);
    let check = |words| {
        schema.check_str(instance, &options, &mut vec![0; words], &mut NoReport).map(|verdict| verdict.valid)
    };
    assert_eq!(check(need), Ok(true), "{text}");
    if let Some(less) = need.checked_sub(1) {
        assert_eq!(check(less), Err(CheckError::NoWork { need }), "{text}");
    }
    need
}

#[test]
fn references_that_do_not_lead_back_need_no_more_work_memory_than_what_they_stand_for() {
    let scalar = r##"{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##;
    assert_eq!(least_words(scalar, r#"{"a":1}"#), 0);
    let optional = r##"{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/m"},{"type":"null"}]}},
        "$defs":{"m":{"properties":{"l":{"items":{"$ref":"#/$defs/n"}}}},"n":{"properties":{"e":{"const":[[1]]}}}}}"##;
    let written_out = r#"{"properties":{"a":{"anyOf":[
        {"properties":{"l":{"items":{"properties":{"e":{"const":[[1]]}}}}}},{"type":"null"}]}}}"#;
    let instance = r#"{"a":{"l":[{"e":[[1.0]]}]}}"#;
    assert_eq!(least_words(optional, instance), least_words(written_out, instance));
    // By two ways to the same schema, and where the longer one comes second.
    let shared = r##"{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"items":{"$ref":"#/$defs/y"}}},
        "$defs":{"x":{"items":{"$ref":"#/$defs/y"}},"y":{"items":{"items":{"type":"null"}}}}}"##;
    assert_eq!(least_words(shared, r#"{"a":[[[null]]],"b":[[[null]]]}"#), 24);
    // A chain that is longer than an instance may be deep needs no more than the instance.
    let chain: String =
        (0..300).map(|i| format!(r##""d{i}":{{"items":{{"$ref":"#/$defs/d{}"}}}},"##, i + 1)).collect();
    let chain = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{chain}"d300":{{}}}}}}"##);
    let deep = "[".repeat(128) + &"]".repeat(128);
    let compiled = program(&chain);
    let schema = Schema::new(&chain, &compiled);
    let options = CheckOptions::default();
    let need = schema.work_words(&options);
    assert!((8 * 127..=8 * 129).contains(&need), "{need}");
    let verdict = schema.check_str(&deep, &options, &mut vec![0; need], &mut NoReport).unwrap();
    assert!(verdict.valid);
    // Beside what leads back to itself.
    let program = program(r##"{"properties":{"a":{"$ref":"#"}}}"##);
    let schema = Schema::new("", &program);
    assert!(schema.work_words(&CheckOptions::default()) >= 8 * 127);
}

/// What was noted for one value grows with the schemas, and not with the ways to them, which are 2^10 here.
#[cfg(feature = "unevaluated")]
#[test]
fn work_memory_suffices_where_many_ways_lead_to_a_schema_that_asks_what_is_unevaluated() {
    let chain: String = (0..10)
        .map(|i| {
            let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, i + 1);
            format!(r##""d{i}":{{"allOf":[{next},{next}],"unevaluatedProperties":true}},"##)
        })
        .collect();
    let text = format!(
        r##"{{"$ref":"#/$defs/d0","unevaluatedProperties":false,"$defs":{{{chain}"d10":{{"properties":{{"a":true}}}}}}}}"##
    );
    let program = program(&text);
    let schema = Schema::new(&text, &program);
    let options = CheckOptions::default();
    let need = schema.work_words(&options);
    assert!(need < 1024, "{need}");
    let verdict = schema.check_str(r#"{"a":1,"b":2}"#, &options, &mut vec![0; need], &mut NoReport);
    assert!(verdict.unwrap().valid);
}

#[test]
fn comparing_unique_items_needs_as_much_as_the_instance_may_be_deep() {
    for text in [r#"{"uniqueItems":true}"#, r##"{"$ref":"#/$defs/u","$defs":{"u":{"uniqueItems":true}}}"##] {
        let program = program(text);
        let schema = Schema::new(text, &program);
        let mut options = CheckOptions::default();
        let need = |options: &CheckOptions| schema.work_words(options);
        let most = need(&options);
        options.json.max_depth = 8;
        let least = need(&options);
        // Three words for each container inside of the array.
        assert_eq!(most - least, 3 * (128 - 8));
        let deep = "[".repeat(7) + &"]".repeat(7);
        let instance = format!("[{deep},{deep}]");
        let check = |words| {
            schema.check_str(&instance, &options, &mut vec![0; words], &mut NoReport).map(|v| v.valid)
        };
        assert_eq!(check(least), Ok(false));
        assert_eq!(check(least - 1), Err(CheckError::NoWork { need: least }));
    }
}

/// A schema under `x` that leads through so many others there.
fn chain_of(links: usize) -> String {
    let chain: String =
        (0..links).map(|i| format!(r##""s{i}":{{"items":{{"$ref":"#/x/s{}"}}}},"##, i + 1)).collect();
    format!(r##"{{"$ref":"#/x/s0","x":{{{chain}"s{links}":{{"type":"null"}}}}}}"##)
}

#[test]
fn a_chain_through_places_that_are_no_schemas_is_followed() {
    assert!(accepts(&chain_of(3), "[[[null]]]") && !accepts(&chain_of(3), "[[[1]]]"));
    let nested = |inner: &str| format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
    let schema = chain_of(100);
    assert!(accepts(&schema, &nested("null")) && !accepts(&schema, &nested("1")));
    let memory = &mut vec![0; 100_000];
    assert!(toolcore::schema::compile(&chain_of(300), &CompileOptions::default(), memory).is_ok());
}

#[test]
fn the_limit_of_a_chain_through_places_that_are_no_schemas_names_a_reference() {
    let schema = chain_of(1000);
    let (kind, place) = refusal(&schema);
    assert_eq!(kind, SchemaErrorKind::RefLimit);
    assert!(place.starts_with("/x/s") && place.ends_with("/items/$ref"), "{place}");
    // Through definitions, where schemas are expected, it is no matter of length.
    let schema = schema.replace("#/x/", "#/$defs/").replace("\"x\":", "\"$defs\":");
    assert!(accepts(&schema, "[[[]]]"));
}

#[test]
fn work_memory_suffices_for_long_chains_beside_other_keywords() {
    // Each definition says something itself and refers to the next one.
    let chain: String = (0..500)
        .map(|i| {
            format!(r##""d{i}":{{"minProps":{i},"maxItems":{},"$ref":"#/$defs/d{}"}},"##, 600 - i, i + 1)
        })
        .collect();
    let text = format!(
        r##"{{"$ref":"#/$defs/d0","items":{{"$ref":"#"}},"$defs":{{{chain}"d500":{{"type":"array"}}}}}}"##
    );
    let program = program(&text);
    let schema = Schema::new(&text, &program);
    let options = CheckOptions::default();
    let need = schema.work_words(&options);
    let check = |words: usize, instance: &str| {
        schema.check_str(instance, &options, &mut vec![0; words], &mut NoReport).map(|verdict| verdict.valid)
    };
    assert_eq!(check(need, "[[],[[]]]"), Ok(true));
    assert_eq!(check(need, "[[],[5]]"), Ok(false));
    assert_eq!(check(need, &("[".repeat(100) + &"]".repeat(100))), Ok(true));
    assert_eq!(check(3000, "[]"), Err(CheckError::NoWork { need }));
}

#[test]
fn a_cycle_of_lone_references_is_refused_in_memory_of_any_size() {
    let text = r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##;
    let mut refused = 0;
    for size in 0..512 {
        match toolcore::schema::compile(text, &CompileOptions::default(), &mut vec![0; size]) {
            Err(error) if error.kind == SchemaErrorKind::RefCycle => refused += 1,
            Err(error) => assert!(error.no_space().is_some_and(|need| need > size), "{size}: {error}"),
            Ok(_) => panic!("{size}"),
        }
    }
    assert!(refused > 100);
}
