//! References: kept, inlined, cut.

use super::{ALL, expect, read, refuses, try_lower};
use toolcore::schema::subset::{ANTHROPIC_STRICT, GEMINI_JSON, GEMINI_SCHEMA, OPENAI_STRICT, PLAIN};
use toolcore::schema::{ChangeKind as C, StrictProblemKind as P};

const TREE: &str = r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"required":["root"],
    "additionalProperties":false,"$defs":{"node":{"type":"object","properties":{"value":{"type":"string"},
    "left":{"$ref":"#/$defs/node"}},"required":["value"],"additionalProperties":false}}}"##;

#[test]
fn a_recursive_schema_is_kept_where_it_may_be_and_cut_or_refused_elsewhere() {
    expect(TREE, &PLAIN, TREE, &[]);
    expect(TREE, &GEMINI_JSON, TREE, &[]);
    let expected = TREE
        .replace(
            r##""left":{"$ref":"#/$defs/node"}"##,
            r##""left":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}"##,
        )
        .replace(r#""required":["value"]"#, r#""required":["value","left"]"#);
    expect(TREE, &OPENAI_STRICT, &expected, &[("/$defs/node/properties/left", C::MadeRequired)]);
    refuses(TREE, &ANTHROPIC_STRICT, "/$defs/node/properties/left/$ref", P::Recursion);
    let expected = r##"{"type":"OBJECT","properties":{"root":{"type":"OBJECT","properties":{"value":{"type":"STRING"},
        "left":{"type":"OBJECT","description":"{$ref: #/$defs/node}"}},"required":["value"]}},"required":["root"]}"##;
    let notes = [
        ("/properties/root/$ref", C::Inlined),
        ("/$defs/node/properties/left/$ref", C::LeftOpen),
        ("/$defs/node/additionalProperties", C::Dropped),
        ("/additionalProperties", C::Dropped),
        ("/$defs", C::Dropped),
    ];
    expect(TREE, &GEMINI_SCHEMA, expected, &notes);
}

#[test]
fn gemini_takes_a_cycle_in_a_property_that_may_be_left_out_only() {
    let required = TREE.replace(r#"["value"]"#, r#"["value","left"]"#);
    let expected = required.replace(
        r##""left":{"$ref":"#/$defs/node"}"##,
        r##""left":{"type":"object","description":"{$ref: #/$defs/node}"}"##,
    );
    expect(&required, &GEMINI_JSON, &expected, &[("/$defs/node/properties/left/$ref", C::LeftOpen)]);
    // Two definitions that lead to each other, the second one by an optional property.
    let mutual = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{
        "a":{"type":"object","properties":{"b":{"$ref":"#/$defs/b"}}},
        "b":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}}}"##;
    expect(mutual, &GEMINI_JSON, mutual, &[]);
    refuses(
        &mutual.replace(r#"{"type":"object""#, r#"{"type":"object","additionalProperties":false"#),
        &ANTHROPIC_STRICT,
        "/$defs/a/properties/b/$ref",
        P::Recursion,
    );
}

#[test]
fn the_root_may_be_referred_to() {
    let schema = r##"{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}},"required":["v"],"additionalProperties":false}"##;
    expect(schema, &GEMINI_JSON, schema, &[]);
    refuses(schema, &ANTHROPIC_STRICT, "/properties/next/$ref", P::Recursion);
    let expected = r##"{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},
        "required":["v","next"],"additionalProperties":false}"##;
    expect(schema, &OPENAI_STRICT, expected, &[("/properties/next", C::MadeRequired)]);
}

#[test]
fn a_reference_with_siblings_is_inlined_and_the_siblings_stay() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/s","description":"Mine."}},"required":["a"],
        "additionalProperties":false,"$defs":{"s":{"type":"string","description":"Shared."}}}"##;
    let expected = r#"{"type":"object","properties":{"a":{"type":"string","description":"Mine."}},"required":["a"],
        "additionalProperties":false,"$defs":{"s":{"type":"string","description":"Shared."}}}"#;
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT, GEMINI_JSON] {
        expect(schema, &subset, expected, &[("/properties/a/$ref", C::Inlined)]);
    }
    // One that leads back cannot be inlined: it stands alone.
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#","description":"Mine."}},"additionalProperties":false}"##;
    let expected = r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["a"],
        "additionalProperties":false}"##;
    let notes = [("/properties/a", C::MadeRequired), ("/properties/a/description", C::Dropped)];
    expect(schema, &OPENAI_STRICT, expected, &notes);
    let clash = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/s","pattern":"^a"}},"$defs":{"s":{"type":"string","pattern":"b$"}}}"##;
    refuses(clash, &OPENAI_STRICT, "/properties/a/$ref", P::Merge);
}

#[test]
fn a_root_that_is_a_reference_becomes_an_object() {
    let schema = r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"],
        "additionalProperties":false}}}"##;
    let a = r#""type":"object","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false"#;
    let expected = format!(r#"{{{a},"$defs":{{"a":{{{a}}}}}}}"#);
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT, GEMINI_JSON] {
        expect(schema, &subset, &expected, &[("/$ref", C::Inlined)]);
    }
}

#[test]
fn a_definition_anywhere_is_found() {
    let schema = r##"{"type":"object","properties":{"a":{"$defs":{"x/y z":{"type":"integer"}},"$ref":"#/properties/a/$defs/x~1y%20z"},
        "b":{"$ref":"#/properties/a/$defs/x~1y%20z"},"c":{"$ref":"#\u002fproperties/a"}}}"##;
    let expected = r#"{"type":"OBJECT","properties":{"a":{"type":"INTEGER"},"b":{"type":"INTEGER"},"c":{"type":"INTEGER"}}}"#;
    let notes = [
        ("/properties/a/$defs", C::Dropped),
        ("/properties/a/$ref", C::Inlined),
        ("/properties/b/$ref", C::Inlined),
        ("/properties/c/$ref", C::Inlined),
        ("/properties/a/$ref", C::Inlined),
        ("/properties/a/$defs", C::Dropped),
    ];
    expect(schema, &GEMINI_SCHEMA, expected, &notes[..]);
}

#[test]
fn a_reference_by_name_is_followed() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#named"}},"required":["a"],"additionalProperties":false,
        "$defs":{"x":{"$anchor":"named","type":"string"}}}"##;
    let expected = r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}"#;
    let notes =
        [("/properties/a/$ref", C::Inlined), ("/additionalProperties", C::Dropped), ("/$defs", C::Dropped)];
    expect(schema, &GEMINI_SCHEMA, expected, &notes);
    let inlined = schema.replace(r##"{"$ref":"#named"}"##, r#"{"type":"string"}"#);
    // The anchor stays where it is, and only there.
    expect(schema, &GEMINI_JSON, &inlined, &[("/properties/a/$ref", C::Inlined)]);
    let expected = inlined.replace(r#""$anchor":"named","#, "");
    let notes = [("/properties/a/$ref", C::Inlined), ("/$defs/x/$anchor", C::Dropped)];
    expect(schema, &OPENAI_STRICT, &expected, &notes);
    expect(schema, &PLAIN, schema, &[]);
    // The anchors of draft 7.
    let old = r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#named"}},
        "definitions":{"x":{"$id":"#named","type":"string"}}}"##;
    let expected = r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}"#;
    let notes = [("/properties/a/$ref", C::Inlined), ("/$schema", C::Dropped), ("/definitions", C::Dropped)];
    expect(old, &GEMINI_SCHEMA, expected, &notes);
}

#[test]
fn what_is_put_in_elsewhere_keeps_its_name_where_it_stands() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"hey"}},
        "$defs":{"x":{"$anchor":"named","type":"string"}}}"##;
    let expected = r##"{"type":"object","properties":{"a":{"description":"hey","type":"string"}},
        "$defs":{"x":{"$anchor":"named","type":"string"}}}"##;
    expect(schema, &GEMINI_JSON, expected, &[("/properties/a/$ref", C::Inlined)]);
}

/// Each definition refers twice to the next: the whole would have 2 to the 30th leaves.
#[test]
fn inlining_is_bounded() {
    let mut definitions: Vec<String> = (0..30)
        .map(|n| {
            let next = n + 1;
            format!(r##""d{n}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{next}"}},"b":{{"$ref":"#/$defs/d{next}"}}}}}}"##)
        })
        .collect();
    definitions.push(r#""d30":{"type":"string"}"#.into());
    let schema = format!(
        r##"{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{}}}}}"##,
        definitions.join(",")
    );
    let (text, notes) = try_lower(&schema, &GEMINI_SCHEMA).unwrap();
    assert!(text.len() < 256 * 1024, "{}", text.len());
    assert!(notes.iter().any(|(_, kind)| *kind == C::LeftOpen));
    read(&text);
    // Where references stay, nothing grows.
    for (name, subset) in ALL.iter().filter(|(name, _)| *name != "gemini_schema") {
        let (text, _) = try_lower(&schema, subset).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        assert!(text.len() < 3 * schema.len() + 64, "{name}: {}", text.len());
    }
    // With siblings each reference is inlined, also into strict schemas.
    let siblings = schema
        .replace("\"}", "\",\"description\":\"D\"}")
        .replace(r#""type":"string","description":"D""#, r#""type":"string""#);
    match try_lower(&siblings, &ANTHROPIC_STRICT) {
        Err((_, P::TooMany { what, .. })) => assert!(what.contains("definitions"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn references_that_only_lead_to_references_end() {
    let mut definitions: Vec<String> =
        (0..20).map(|n| format!(r##""d{n}":{{"$ref":"#/$defs/d{}"}}"##, n + 1)).collect();
    definitions.push(r#""d20":{"type":"string"}"#.into());
    let schema = format!(
        r##"{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{}}}}}"##,
        definitions.join(",")
    );
    for (name, subset) in ALL {
        let lowered = try_lower(&schema, &subset);
        assert!(lowered.is_ok(), "{name}: {lowered:?}");
    }
}
