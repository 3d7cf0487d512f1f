//! References into other documents, identifiers, anchors and dialects.

use super::{All, text};
use toolcore::schema::{
    CheckOptions, CompileOptions, NoReport, Report, Resource, Schema, SchemaErrorKind, Violation,
    compile_with, program_size_with,
};

/// The violations of an instance, where the schema is compiled with resources.
fn violations(schema: &str, resources: &[(&str, &str)], instance: &str) -> Vec<String> {
    let resources: Vec<_> = resources.iter().map(|&(uri, text)| Resource { uri, text }).collect();
    let mut program = vec![0; program_size_with(schema, &resources, &CompileOptions::default()).unwrap()];
    let used = compile_with(schema, &resources, &CompileOptions::default(), &mut program)
        .unwrap_or_else(|error| panic!("{schema}: {error}"));
    let compiled = Schema::with_resources(schema, &resources, &program[..used]);
    let options = CheckOptions::default();
    let mut all = All::default();
    compiled.check_str(instance, &options, &mut vec![0; compiled.work_words(&options)], &mut all).unwrap();
    all.0
}

fn refusal(schema: &str, resources: &[(&str, &str)]) -> (SchemaErrorKind, Option<usize>, String) {
    let resources: Vec<_> = resources.iter().map(|&(uri, text)| Resource { uri, text }).collect();
    let error = compile_with(schema, &resources, &CompileOptions::default(), &mut [0; 4096]).unwrap_err();
    let place = error.resource.map_or(schema, |number| resources[number].text);
    (error.kind, error.resource, text(|sink| error.write_path(place, sink)))
}

const UNITS: (&str, &str) = (
    "https://example.com/units.json",
    r##"{"$defs":{"unit":{"enum":["c","f"]},"list":{"items":{"$ref":"#/$defs/unit"}},"n":{"$anchor":"count","minimum":1,"multipleOf":0.5}}}"##,
);

#[test]
fn a_reference_leads_into_a_resource() {
    let unit = r#"{"properties":{"u":{"$ref":"https://example.com/units.json#/$defs/list"}}}"#;
    assert_eq!(
        violations(unit, &[UNITS], r#"{"u":["c","k"]}"#),
        [r#"/u/1: expected one of "c", "f", got "k""#]
    );
    // By an anchor, and relative to the schema's own identifier.
    let count = r#"{"$id":"https://example.com/a/b","items":{"$ref":"../units.json#count"}}"#;
    assert_eq!(
        violations(count, &[UNITS], "[1.5,0.75]"),
        ["/1: expected a multiple of 0.5, got 0.75", "/1: expected at least 1, got 0.75"]
    );
}

#[test]
fn an_identifier_inside_names_a_document_of_its_own() {
    let schema = r##"{
        "$id":"https://example.com/root",
        "properties":{"a":{"$ref":"inner"},"b":{"$ref":"inner#/$defs/x"},"c":{"$ref":"#/$defs/x"}},
        "$defs":{"x":{"type":"null"},"i":{"$id":"inner","$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}}}}"##;
    assert!(violations(schema, &[], r#"{"a":"","b":"","c":null}"#).is_empty());
    assert_eq!(violations(schema, &[], r#"{"a":null,"b":null,"c":""}"#).len(), 3);
}

#[cfg(feature = "unevaluated")]
#[test]
fn the_outermost_document_replaces_a_dynamic_target() {
    let tree = (
        "https://example.com/tree",
        r##"{"$dynamicAnchor":"node","properties":{"children":{"items":{"$dynamicRef":"#node"}}}}"##,
    );
    let strict = r##"{"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false}"##;
    let instance = r#"{"children":[{"childen":[]}]}"#;
    assert!(violations(r#"{"$ref":"https://example.com/tree"}"#, &[tree], instance).is_empty());
    assert_eq!(
        violations(strict, &[tree], instance),
        [r#"/children/0/childen: unknown property; allowed: "children""#]
    );
}

#[test]
fn only_what_is_referred_to_is_compiled() {
    let resource = ("https://example.com/a", r#"{"$defs":{"x":{"type":"null"},"y":{"type":7}}}"#);
    let schema = |name| format!(r#"{{"items":{{"$ref":"https://example.com/a#/$defs/{name}"}}}}"#);
    assert!(violations(&schema("x"), &[UNITS, resource], "[null]").is_empty());
    assert_eq!(
        refusal(&schema("y"), &[UNITS, resource]),
        (SchemaErrorKind::BadKeyword, Some(1), "/$defs/y/type".into())
    );
}

#[test]
fn what_was_not_handed_over_is_refused() {
    for (reference, kind) in [
        ("https://example.com/x", SchemaErrorKind::UnknownDocument),
        ("units.json", SchemaErrorKind::UnknownDocument),
        ("https://example.com/units.json#nothing", SchemaErrorKind::UnresolvedRef),
        ("https://example.com/units.json#/$defs/nothing", SchemaErrorKind::UnresolvedRef),
    ] {
        assert_eq!(
            refusal(&format!(r#"{{"not":{{"$ref":"{reference}"}}}}"#), &[UNITS]),
            (kind, None, "/not/$ref".into())
        );
    }
    let long = format!(r#"{{"$ref":"https://example.com/{}"}}"#, "x".repeat(600));
    assert_eq!(refusal(&long, &[UNITS]).0, SchemaErrorKind::UnsupportedRef);
    // The unresolved reference of a resource is told with its place there.
    let resource = ("https://example.com/a", r#"{"items":{"$ref":"b"}}"#);
    assert_eq!(
        refusal(r#"{"$ref":"https://example.com/a"}"#, &[resource]),
        (SchemaErrorKind::UnknownDocument, Some(0), "/items/$ref".into())
    );
    assert!(matches!(refusal("{}", &[("https://example.com/a", "{")]).0, SchemaErrorKind::Json(_)));
}

/// The least memory in which a schema compiles, and what is said to be enough without any and with too little.
#[test]
fn the_size_is_exact_where_little_is_referred_to() {
    let far = (0..50).map(|i| format!(r#""p{i}":{{"type":["string","null"],"maxLength":{i}}},"#));
    let far = format!(r#"{{"$defs":{{{}"x":{{"minimum":1}}}}}}"#, far.collect::<String>());
    let odd = r##"{"items":{"$ref":"#/x/0"},"x":[{"minimum":1}]}"##;
    let resources =
        [Resource { uri: UNITS.0, text: UNITS.1 }, Resource { uri: "https://example.com/f", text: &far }];
    let into = |name: &str| format!(r#"{{"properties":{{"u":{{"$ref":"https://example.com/{name}"}}}}}}"#);
    for schema in [&into("units.json#/$defs/list"), &into("units.json#count"), &into("f#/$defs/x"), odd] {
        let options = CompileOptions::default();
        let need = program_size_with(schema, &resources, &options).unwrap();
        assert!(need < 600, "{need} {schema}");
        assert!(compile_with(schema, &resources, &options, &mut vec![0; need]).is_ok());
        for less in [0, 16, need / 2, need - 1] {
            let error = compile_with(schema, &resources, &options, &mut vec![0; less]).unwrap_err();
            assert_eq!(error.no_space(), Some(need), "{less} {schema}");
        }
    }
    // Beyond what is tried out, it is enough.
    let all = into("f");
    let need = program_size_with(&all, &resources, &CompileOptions::default()).unwrap();
    assert!(compile_with(&all, &resources, &CompileOptions::default(), &mut vec![0; need]).is_ok());
}

#[test]
fn a_text_that_is_cut_off_is_blamed_itself() {
    for cut in ["", "{", r#"{"type":"#] {
        for wrong in 0..3usize {
            let text = |number| if number == wrong { cut } else { "{}" };
            let resources = [
                Resource { uri: "https://example.com/a", text: text(1) },
                Resource { uri: "https://example.com/b", text: text(2) },
            ];
            let options = CompileOptions::default();
            let error = compile_with(text(0), &resources, &options, &mut [0; 64]).unwrap_err();
            assert!(matches!(error.kind, SchemaErrorKind::Json(_)), "{error:?}");
            assert_eq!((error.resource, error.offset), (wrong.checked_sub(1), cut.len()));
            assert_eq!(program_size_with(text(0), &resources, &options), Err(error));
        }
    }
}

#[test]
fn an_error_displays_its_reason_and_its_document() {
    let shown = |schema: &str, resource: &str, memory: &mut [u8]| {
        let resources = [Resource { uri: "https://example.com/a", text: resource }];
        compile_with(schema, &resources, &CompileOptions::default(), memory).unwrap_err().to_string()
    };
    let memory = &mut [0; 4096];
    assert_eq!(
        shown(r#"{"type":"#, "{}", memory),
        "not JSON: unexpected end of text at byte 8 of the schema"
    );
    let inner = shown("{}", "[1,]", memory);
    assert!(inner.starts_with("not JSON: "), "{inner}");
    assert!(inner.ends_with(" at byte 3 of the resource with the number 0"), "{inner}");
    let referred = r#"{"$ref":"https://example.com/a"}"#;
    assert_eq!(
        shown(referred, r#"{"type":7}"#, memory),
        "keyword with a wrong value at byte 8 of the resource with the number 0"
    );
    #[cfg(feature = "pattern")]
    assert_eq!(
        shown(r#"{"pattern":"a("}"#, "{}", memory),
        "group or class that is not closed at byte 1 of the pattern at byte 11 of the schema"
    );
    let need = program_size_with(r#"{"minItems":1}"#, &[], &CompileOptions::default()).unwrap();
    let missing = shown(r#"{"minItems":1}"#, "{}", &mut []);
    assert_eq!(missing, format!("no space for the compiled schema: {need} bytes needed"));
}

/// Where a dynamic reference leads is decided by the documents around, so all its targets count.
#[test]
fn a_cycle_through_a_dynamic_target_is_refused() {
    // Applied from `a`, the reference in `b` leads to `a`.
    let a = ("https://example.com/a", r##"{"$dynamicAnchor":"x","allOf":[{"$ref":"b"}]}"##);
    let b = (
        "https://example.com/b",
        r##"{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x","type":"null"}}}"##,
    );
    let (kind, _, _) = refusal(r#"{"items":{"$ref":"https://example.com/a"}}"#, &[a, b]);
    assert_eq!(kind, SchemaErrorKind::RefCycle);
    // Applied from a schema that has such an anchor itself, it leads there.
    let schema = r##"{"$id":"https://example.com/c","items":{"$ref":"a"},"$defs":{"x":{"$dynamicAnchor":"x","type":"string"}}}"##;
    assert_eq!(violations(schema, &[a, b], r#"["s",1]"#), ["/1: expected string, got number 1"]);
}

#[test]
fn a_cycle_through_documents_is_refused() {
    let a = ("https://example.com/a", r#"{"allOf":[{"$ref":"b"}]}"#);
    let b = ("https://example.com/b", r#"{"anyOf":[{"type":"null"},{"$ref":"a"}]}"#);
    let (kind, _, _) = refusal(r#"{"$ref":"https://example.com/a"}"#, &[a, b]);
    assert_eq!(kind, SchemaErrorKind::RefCycle);
}

#[test]
fn a_dialect_without_the_validation_vocabulary_makes_no_assertions() {
    let meta = (
        "https://example.com/meta",
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/applicator":true}}"#,
    );
    let schema = r#"{"$schema":"https://example.com/meta","properties":{"a":{"type":"string"},"b":false}}"#;
    assert!(violations(schema, &[meta], r#"{"a":1}"#).is_empty());
    assert_eq!(violations(schema, &[meta], r#"{"b":1}"#).len(), 1);
    let (kind, ..) = refusal(r#"{"$schema":"https://example.com/other"}"#, &[meta]);
    assert_eq!(kind, SchemaErrorKind::UnsupportedDialect);
}

#[test]
fn a_violation_names_the_document_of_its_keyword() {
    struct Paths(Vec<String>);
    impl Report for Paths {
        fn violation(&mut self, violation: &Violation<'_>) {
            self.0.push(text(|sink| violation.write_schema_path(sink)));
        }
    }
    let resources = [Resource { uri: UNITS.0, text: UNITS.1 }];
    let schema = r#"{"minItems":3,"$ref":"https://example.com/units.json#/$defs/list"}"#;
    let mut program = [0; 1024];
    let used = compile_with(schema, &resources, &CompileOptions::default(), &mut program).unwrap();
    let schema = Schema::with_resources(schema, &resources, &program[..used]);
    let mut paths = Paths(Vec::new());
    schema.check_str(r#"["k"]"#, &CheckOptions::default(), &mut [0; 8192], &mut paths).unwrap();
    assert_eq!(paths.0, ["https://example.com/units.json#/$defs/unit/enum", "/minItems"]);
    assert!(!schema.check_str("[]", &CheckOptions::default(), &mut [0; 8192], &mut NoReport).unwrap().valid);
}

#[test]
fn a_chain_through_resources_is_followed() {
    let instance = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let next = |to: String| format!(r##"{{"items":{{"$ref":"{to}"}}}}"##);
    let inside: String =
        (0..100).map(|i| format!(r#""a{i}":{},"#, next(format!("#/$defs/a{}", i + 1)))).collect();
    let inside = format!(r#"{{"$defs":{{{inside}"a100":{{"type":"null"}}}}}}"#);
    let schema = r#"{"$ref":"http://a/#/$defs/a0"}"#;
    let place = "/0".repeat(100);
    let violation = format!("{place}: expected null, got number 1");
    assert_eq!(violations(schema, &[("http://a/", &inside)], &instance), [violation.as_str()]);

    let mut texts: Vec<_> = (0..100).map(|i| (format!("http://a/{i}"), next(format!("{}", i + 1)))).collect();
    texts.push(("http://a/100".into(), r#"{"type":"null"}"#.into()));
    let resources: Vec<_> = texts.iter().map(|(uri, text)| (uri.as_str(), text.as_str())).collect();
    assert_eq!(violations(r#"{"$ref":"http://a/0"}"#, &resources, &instance), [violation]);
}
