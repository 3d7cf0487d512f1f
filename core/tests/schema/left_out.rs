//! What is built without a feature: a schema that needs it is refused, with the name of what is missing.

use super::{program, refusal, text, try_program};
use toolcore::schema::{CompileOptions, SchemaErrorKind};

/// A keyword, whether this build has it, and a schema that uses it at `/items`.
const KEYWORDS: [(&str, bool, &str); 4] = [
    ("pattern", cfg!(feature = "pattern"), r#"{"items":{"pattern":"a"}}"#),
    ("patternProperties", cfg!(feature = "pattern"), r#"{"items":{"patternProperties":{}}}"#),
    ("unevaluatedItems", cfg!(feature = "unevaluated"), r#"{"items":{"unevaluatedItems":true}}"#),
    ("unevaluatedProperties", cfg!(feature = "unevaluated"), r#"{"items":{"unevaluatedProperties":{}}}"#),
];

/// The keywords that are not part of this build.
pub(crate) fn left_out() -> impl Iterator<Item = &'static str> {
    KEYWORDS.into_iter().filter(|&(_, is_there, _)| !is_there).map(|(name, ..)| name)
}

/// How a schema with this keyword is refused.
pub(crate) fn refusal_of(keyword: &str) -> String {
    let feature = if keyword.contains("attern") { "pattern" } else { "unevaluated" };
    format!("keyword \"{keyword}\" is not supported; it needs the feature \"{feature}\"")
}

#[test]
fn a_keyword_is_refused_by_name_in_a_build_without_it() {
    for (keyword, is_there, schema) in KEYWORDS {
        if is_there {
            program(schema);
            continue;
        }
        assert_eq!(refusal(schema), (SchemaErrorKind::UnsupportedKeyword, format!("/items/{keyword}")));
        let error = try_program(schema, &CompileOptions::default()).unwrap_err();
        assert_eq!(
            text(|sink| error.write_message(schema, sink)),
            format!("/items/{keyword}: {}", refusal_of(keyword))
        );
        // Hidden by an escape, too.
        let hidden =
            schema.replacen(keyword, &format!("\\u00{:x}{}", keyword.as_bytes()[0], &keyword[1..]), 1);
        assert_eq!(refusal(&hidden).0, SchemaErrorKind::UnsupportedKeyword);
    }
}

#[test]
fn names_and_values_that_look_like_keywords_are_never_refused() {
    for (keyword, ..) in KEYWORDS {
        program(&format!(
            r#"{{"properties":{{"{keyword}":{{}}}},"required":["{keyword}"],"enum":["{keyword}"]}}"#
        ));
    }
    // Draft 7 does not know these two.
    program(
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","unevaluatedItems":7,"unevaluatedProperties":7}"#,
    );
}

#[test]
fn formats_are_annotations_in_a_build_without_them() {
    let schema = r#"{"format":"date"}"#;
    assert!(super::accepts(schema, r#""not a date""#));
    // A dialect that asserts them is refused.
    let meta = r#"{"$id":"https://example.com/meta","$schema":"https://json-schema.org/draft/2020-12/schema",
        "$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/format-assertion":true}}"#;
    let schema = r#"{"$schema":"https://example.com/meta","format":"date"}"#;
    let resources = [toolcore::schema::Resource { uri: "https://example.com/meta", text: meta }];
    let compiled =
        toolcore::schema::compile_with(schema, &resources, &CompileOptions::default(), &mut [0; 256]);
    let refused = compiled.err().map(|error| error.kind);
    assert_eq!(refused, (!cfg!(feature = "format")).then_some(SchemaErrorKind::UnsupportedDialect));
}

#[cfg(feature = "format")]
#[test]
fn the_format_of_patterns_is_refused_in_a_build_without_patterns() {
    let schema = r#"{"items":{"format":"regex"}}"#;
    assert!(try_program(schema, &CompileOptions::default()).is_ok());
    let asserted = CompileOptions { formats: true, ..CompileOptions::default() };
    let refused = try_program(schema, &asserted).err().map(|error| error.kind);
    assert_eq!(refused, (!cfg!(feature = "pattern")).then_some(SchemaErrorKind::UnsupportedKeyword));
}
