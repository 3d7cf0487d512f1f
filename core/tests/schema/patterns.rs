//! `pattern` and `patternProperties` in schemas.

use super::{SchemaErrorKind, accepts, program, refusal, text, try_program, try_violations, violations};
use toolcore::schema::pattern::PatternErrorKind;
use toolcore::schema::{
    CheckError, CheckOptions, CompileOptions, NoReport, Schema, WORK_PER_LEVEL, program_size,
};

#[test]
fn a_string_must_match_and_other_values_need_not() {
    let schema = r#"{"properties":{"id":{"pattern":"^[a-z]{2}-\\d+$"},"n":{"type":"integer"}}}"#;
    assert!(accepts(schema, r#"{"id":"ab-12","n":1}"#));
    assert!(accepts(schema, r#"{"id":7}"#));
    assert!(accepts(schema, r#"{"id":"\u0061b-1"}"#));
    assert_eq!(
        violations(schema, r#"{"id":"a-12","n":"x"}"#),
        [
            r#"/id: expected a text that matches "^[a-z]{2}-\\d+$", got "a-12""#,
            r#"/n: expected integer, got string "x""#
        ]
    );
}

#[test]
fn a_pattern_stands_beside_other_keywords_of_strings() {
    let schema = r#"{"type":"string","minLength":3,"maxLength":4,"pattern":"b$","enum":["aab","aaab","b"]}"#;
    assert!(accepts(schema, r#""aab""#));
    assert_eq!(violations(schema, r#""b""#), [": expected at least 3 characters, got 1"]);
    assert_eq!(violations(schema, r#""aac""#).len(), 2);
    assert_eq!(violations(schema, "1"), [": expected string, got number 1"]);
}

#[test]
fn every_pattern_that_matches_a_name_applies() {
    let schema = r#"{"properties":{"ab":{"maximum":9}},
        "patternProperties":{"^a":{"type":"integer"},"b$":{"minimum":2},"^x":false},
        "additionalProperties":{"type":"string"}}"#;
    for (instance, expected) in [
        (r#"{"ab":5,"a":-1,"b":2,"c":"d"}"#, &[][..]),
        (r#"{"ab":10}"#, &["/ab: expected at most 9, got 10"]),
        (r#"{"ab":1}"#, &["/ab: expected at least 2, got 1"]),
        (r#"{"ab":1.5}"#, &["/ab: expected at least 2, got 1.5", "/ab: expected integer, got number 1.5"]),
        (r#"{"a":"b"}"#, &[r#"/a: expected integer, got string "b""#]),
        (r#"{"b":1}"#, &["/b: expected at least 2, got 1"]),
        (r#"{"c":1}"#, &["/c: expected string, got number 1"]),
        (r#"{"x":1}"#, &["/x: nothing is allowed here"]),
        (r#"{ "c" : "d" , "ab" : 5 }"#, &[]),
        (r#"{"\u0061":1.5}"#, &["/a: expected integer, got number 1.5"]),
        ("{}", &[]),
        ("[1]", &[]),
    ] {
        assert_eq!(violations(schema, instance), expected, "{instance}");
    }
}

#[test]
fn a_member_that_no_pattern_matches_is_unknown_where_others_are_not_allowed() {
    let schema = r#"{"properties":{"a":{}},"required":["a","x-y"],"patternProperties":{"^x-":{"type":"string"}},
        "additionalProperties":false}"#;
    assert!(accepts(schema, r#"{"a":[{"b":1}],"x-y":"z","x-":""}"#));
    assert_eq!(
        violations(schema, r#"{"y":{"a":[1,2]},"x-y":1}"#),
        [
            r#"/y: unknown property; allowed: "a" and names that match "^x-""#,
            "/x-y: expected string, got number 1",
            "/a: required"
        ]
    );
    assert_eq!(violations(schema, r#"{"a":1,"a":2,"x-y":""}"#), ["/a: duplicate key"]);
    assert_eq!(
        violations(
            r#"{"patternProperties":{"^x":true},"additionalProperties":false,"required":["y"]}"#,
            r#"{"y":1}"#
        ),
        [r#"/y: unknown property; allowed: names that match "^x""#]
    );
}

#[test]
fn the_value_of_a_member_may_be_of_any_depth() {
    let schema = r##"{"patternProperties":{"^n":{"$ref":"#"},"^v$":{"type":"integer"},"^n+$":{"minProperties_":0}},
        "additionalProperties":false}"##;
    assert!(accepts(schema, r#"{"n":{"n":{"v":1},"nn":{"n2":{"v":2}}},"v":3}"#));
    assert_eq!(
        violations(schema, r#"{"n":{"n":{"v":"x"},"nn":{"n2":{"w":2}}},"v":3}"#),
        [
            r#"/n/n/v: expected integer, got string "x""#,
            r#"/n/nn/n2/w: unknown property; allowed: names that match "^n+$", "^v$", "^n""#
        ]
    );
    let deep = format!("{}{}", r#"{"n":"#.repeat(120), "{}") + &"}".repeat(120);
    assert!(accepts(schema, &deep));
    let lists = r#"{"patternProperties":{"a":{"items":{"pattern":"^b"}},".":{"maxItems":2}}}"#;
    assert_eq!(
        violations(lists, r#"{"a":["b","c","bb"]}"#),
        ["/a: expected at most 2 items, got 3", r#"/a/1: expected a text that matches "^b", got "c""#]
    );
}

#[test]
fn a_reference_leads_into_pattern_properties_and_from_there() {
    let schema = r##"{"$defs":{"s":{"type":"string"}},"patternProperties":{"^a$":{"$ref":"#/$defs/s"}},
        "additionalProperties":{"$ref":"#/patternProperties/%5Ea$"}}"##;
    assert!(accepts(schema, r#"{"a":"x","b":"y"}"#));
    assert_eq!(violations(schema, r#"{"a":1,"b":2}"#).len(), 2);
}

#[test]
fn json_that_is_wrong_is_an_error_also_between_matched_members() {
    let schema = r#"{"patternProperties":{"a":{"maximum":1},"b":{}}}"#;
    for instance in [
        r#"{"ab":1,}"#,
        r#"{"ab":1 "b":2}"#,
        r#"{"ab" 1}"#,
        r#"{"ab":}"#,
        r#"{"ab":1"#,
        r#"{,"ab":1}"#,
        r#"{ab:1}"#,
        r#"{"a":[}"#,
        r#"{"c":01}"#,
    ] {
        assert!(matches!(try_violations(schema, instance), Err(CheckError::Json(_))), "{instance}");
    }
}

#[test]
fn a_pattern_that_is_not_supported_is_refused_with_its_path() {
    for (schema, path, kind, message) in [
        (
            r#"{"properties":{"a":{"pattern":"(a)\\1"}}}"#,
            "/properties/a/pattern",
            PatternErrorKind::Backreference,
            r#"/properties/a/pattern: backreference not supported at byte 3 of "(a)\\1"; write out what can stand there"#,
        ),
        (
            r#"{"items":{"patternProperties":{"a":{},"(?<=a)b":{}}}}"#,
            "/items/patternProperties/(?<=a)b",
            PatternErrorKind::Lookbehind,
            r#"/items/patternProperties/(?<=a)b: lookbehind not supported at byte 0 of "(?<=a)b"; match what comes before instead"#,
        ),
        (
            r#"{"pattern":"[a"}"#,
            "/pattern",
            PatternErrorKind::Unclosed,
            r#"/pattern: group or class that is not closed at byte 0 of "[a""#,
        ),
    ] {
        let (found, place) = refusal(schema);
        assert!(matches!(found, SchemaErrorKind::Pattern(error) if error.kind == kind), "{found:?}");
        assert_eq!(place, path);
        let error = try_program(schema, &CompileOptions::default()).unwrap_err();
        assert_eq!(text(|sink| error.write_message(schema, sink)), message);
    }
    let message = |pattern: &str| {
        let schema = format!("{{\"pattern\":{}}}", serde_json::to_string(pattern).unwrap());
        let error = try_program(&schema, &CompileOptions::default()).unwrap_err();
        text(|sink| error.write_message(&schema, sink))
    };
    for (pattern, ending) in [
        (r"\Aab", r"; use escapes of ECMA-262, such as \d, \w, \s, \b, and ^ and $ for the ends"),
        (r"a\p{Emoji}", r"; use a general category such as \p{L}, or a class"),
        ("(?i)abc", "; groups are (…), (?:…), (?=…), (?!…) and (?<name>…)"),
        ("(?i:abc)", "; write out both cases, such as [Aa]"),
        (".{1,70000}", "; use smaller bounds, or * and maxLength"),
        ("(?<a>x)(?<a>y)", "; use another name, or (?:…)"),
    ] {
        assert!(message(pattern).ends_with(ending), "{}", message(pattern));
    }
    assert_eq!(refusal(r#"{"pattern":1}"#).0, SchemaErrorKind::BadKeyword);
    assert_eq!(refusal(r#"{"patternProperties":[]}"#).0, SchemaErrorKind::BadKeyword);
    assert_eq!(refusal(r#"{"patternProperties":{"a":1}}"#).0, SchemaErrorKind::NotASchema);
    assert_eq!(refusal(r#"{"pattern":"a","pattern":"b"}"#).0, SchemaErrorKind::DuplicateKey);
}

#[test]
fn work_memory_and_steps_are_bounded_and_named() {
    let schema = r#"{"properties":{"a":{"pattern":"^(?=.*b)[a-z]{1,64}$"}},"patternProperties":{"^a":{}}}"#;
    let compiled = program(schema);
    let checked = Schema::new(schema, &compiled);
    let need = checked.work_words(&CheckOptions::default());
    assert!(need > WORK_PER_LEVEL && need < 64, "{need}");
    let instance = br#"{"a":"abc"}"#;
    for words in 0..need + 2 {
        match checked.check(instance, &CheckOptions::default(), &mut vec![0; words], &mut NoReport) {
            Ok(verdict) => assert!(verdict.valid),
            Err(error) => assert_eq!(error, CheckError::NoWork { need }, "{words}"),
        }
    }
    assert!(checked.check(instance, &CheckOptions::default(), &mut vec![0; need], &mut NoReport).is_ok());
    let options = CheckOptions { steps: 3, ..CheckOptions::default() };
    assert_eq!(
        checked.check(instance, &options, &mut vec![0; need], &mut NoReport).unwrap_err(),
        CheckError::StepLimit
    );
}

#[test]
fn what_is_measured_is_what_is_used_or_a_little_more() {
    for schema in [
        r#"{"pattern":"^[a-z]{1,64}$"}"#,
        r#"{"patternProperties":{"a|b":{"pattern":"c"},"(ab){3,9}":false}}"#,
        r#"{"properties":{"a":{"patternProperties":{"x":{"patternProperties":{"y":{"pattern":"z"}}}}}}}"#,
        r#"{"pattern":"(abcdef){0}"}"#,
    ] {
        let need = program_size(schema, &CompileOptions::default()).unwrap();
        let used = program(schema).len();
        assert!(used <= need && need <= used + 32, "{schema}: {used} of {need}");
        assert!(need <= 12 * schema.len(), "{schema}: {need}");
    }
}
