//! The two schema dialects of Gemini.

use super::{expect, expect_a};
use toolcore::schema::ChangeKind as C;
use toolcore::schema::subset::{GEMINI_JSON, GEMINI_SCHEMA};

/// Case 016.
#[test]
fn a_definition_is_inlined_where_references_are_not_taken_and_kept_where_they_are() {
    let schema = r##"{"type":"object","properties":{"t":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},
        "$defs":{"A":{"type":"object","properties":{"n":{"type":"string"}}}}}"##;
    let expected = r#"{"type":"OBJECT","properties":{"t":{"type":"OBJECT","nullable":true,
        "properties":{"n":{"type":"STRING"}}}}}"#;
    let notes = [
        ("/properties/t/anyOf", C::Nullable),
        ("/properties/t/anyOf/0/$ref", C::Inlined),
        ("/$defs", C::Dropped),
    ];
    expect(schema, &GEMINI_SCHEMA, expected, &notes);
    expect(schema, &GEMINI_JSON, schema, &[]);
}

/// Case 017.
#[test]
fn null_among_the_types_is_nullable() {
    let schema = r#"{"type":"object","properties":{"s":{"type":["string","null"]},
        "l":{"type":["array","null"],"items":{"type":"string"}}}}"#;
    let expected = r#"{"type":"OBJECT","properties":{"s":{"type":"STRING","nullable":true},
        "l":{"type":"ARRAY","nullable":true,"items":{"type":"STRING"}}}}"#;
    let notes = [("/properties/s/type", C::Nullable), ("/properties/l/type", C::Nullable)];
    expect(schema, &GEMINI_SCHEMA, expected, &notes);
    let expected = r#"{"type":"object","properties":{"s":{"anyOf":[{"type":"string"},{"type":"null"}]},
        "l":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}}}"#;
    let notes = [("/properties/s/type", C::TypesToAnyOf), ("/properties/l/type", C::TypesToAnyOf)];
    expect(schema, &GEMINI_JSON, expected, &notes);
}

/// Case 018.
#[test]
fn values_that_are_not_strings_move_into_the_description() {
    let schema = r#"{"type":"object","properties":{"d":{"type":"integer","enum":[60,1440]},"e":{"enum":["a",1,null]}}}"#;
    let expected = r#"{"type":"OBJECT","properties":{"d":{"type":"INTEGER","description":"{enum: [60,1440]}"},
        "e":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true,"description":"{enum: [\"a\",1,null]}"}}}"#;
    let notes = [
        ("/properties/d/enum", C::Moved),
        ("/properties/e/enum", C::Moved),
        ("/properties/e", C::TypesToAnyOf),
    ];
    expect(schema, &GEMINI_SCHEMA, expected, &notes);
    let expected = r#"{"type":"object","properties":{"d":{"type":"integer","enum":[60,1440]},
        "e":{"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","enum":[1]},{"type":"null"}]}}}"#;
    expect(schema, &GEMINI_JSON, expected, &[("/properties/e", C::TypesToAnyOf)]);
}

/// Case 019.
#[test]
fn the_draft_goes_and_closed_objects_stay_closed_where_that_can_be_said() {
    let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "properties":{"a":{"type":"string"}},"additionalProperties":false}"#;
    let expected = r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}"#;
    expect(
        schema,
        &GEMINI_SCHEMA,
        expected,
        &[("/$schema", C::Dropped), ("/additionalProperties", C::Dropped)],
    );
    let expected = r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#;
    expect(schema, &GEMINI_JSON, expected, &[("/$schema", C::Dropped)]);
}

#[test]
fn a_map_is_said_in_words_where_it_cannot_be_said() {
    let map = r#"{"type":"object","additionalProperties":{"type":"number"}}"#;
    let expected = r#"{"type":"OBJECT","description":"{additionalProperties: {\"type\":\"number\"}}"}"#;
    expect_a(map, &GEMINI_SCHEMA, expected, &[("/additionalProperties", C::Moved)]);
    expect_a(map, &GEMINI_JSON, map, &[]);
}

#[test]
fn a_const_is_an_enum_of_one_value() {
    expect_a(r#"{"const":"x"}"#, &GEMINI_JSON, r#"{"enum":["x"]}"#, &[("/const", C::ConstToEnum)]);
    let expected = r#"{"enum":["x"],"type":"STRING"}"#;
    expect_a(r#"{"const":"x"}"#, &GEMINI_SCHEMA, expected, &[("/const", C::ConstToEnum), ("", C::TypeAdded)]);
    expect_a(r#"{"const":5}"#, &GEMINI_JSON, r#"{"enum":[5]}"#, &[("/const", C::ConstToEnum)]);
    let expected = r#"{"type":"INTEGER","description":"{const: 5}"}"#;
    expect_a(r#"{"const":5}"#, &GEMINI_SCHEMA, expected, &[("/const", C::Moved), ("", C::TypeAdded)]);
    let expected = r#"{"description":"Yes.\n\n{const: true}"}"#;
    expect_a(r#"{"const":true,"description":"Yes."}"#, &GEMINI_JSON, expected, &[("/const", C::Moved)]);
}

#[test]
fn one_of_is_taken_by_one_dialect_and_becomes_any_of_in_the_other() {
    let schema = r#"{"oneOf":[{"type":"string"},{"type":"integer"}]}"#;
    expect_a(schema, &GEMINI_JSON, schema, &[]);
    let expected = r#"{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/oneOf", C::OneOfToAnyOf)]);
    let schema = r#"{"anyOf":[{"type":"string"},{"type":"null"},{"type":"integer"}],"description":"Or."}"#;
    let expected = r#"{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true,"description":"Or."}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/anyOf/1", C::Nullable)]);
}

#[test]
fn several_types_are_branches_with_the_keywords_of_their_type() {
    let schema = r#"{"type":["string","array","null"],"items":{"type":"integer"},"minLength":2,"minItems":1,
        "title":"T","description":"D"}"#;
    let expected = r#"{"anyOf":[{"type":"ARRAY","items":{"type":"INTEGER"},"minItems":1},
        {"type":"STRING","minLength":2}],"nullable":true,"title":"T","description":"D"}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/type", C::TypesToAnyOf)]);
    let expected = r#"{"anyOf":[{"type":"array","items":{"type":"integer"},"minItems":1},
        {"type":"string","description":"{minLength: 2}"},{"type":"null"}],"title":"T","description":"D"}"#;
    expect_a(schema, &GEMINI_JSON, expected, &[("/type", C::TypesToAnyOf), ("/minLength", C::Moved)]);
}

#[test]
fn null_among_values_is_nullable_or_a_branch() {
    let schema = r#"{"type":["string","null"],"enum":["c","f",null]}"#;
    let expected = r#"{"type":"STRING","nullable":true,"enum":["c","f"]}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/type", C::Nullable), ("/enum", C::Nullable)]);
    let expected = r#"{"anyOf":[{"type":"string","enum":["c","f"]},{"type":"null"}]}"#;
    expect_a(schema, &GEMINI_JSON, expected, &[("/type", C::TypesToAnyOf)]);
    // Null is among the types, but not among the values.
    let schema = r#"{"type":["string","null"],"enum":["c"]}"#;
    expect_a(schema, &GEMINI_SCHEMA, r#"{"type":"STRING","enum":["c"]}"#, &[("/type", C::TypesNarrowed)]);
    // None of the values has the type.
    let schema = r#"{"type":"number","enum":["c"]}"#;
    let expected = r#"{"type":"NUMBER","description":"{enum: [\"c\"]}"}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/enum", C::Moved)]);
    // Null is among the values, but not among the types.
    let schema = r#"{"type":"string","enum":["c",null]}"#;
    expect_a(schema, &GEMINI_SCHEMA, r#"{"type":"STRING","enum":["c"]}"#, &[("/enum", C::NeverRemoved)]);
    expect_a(schema, &GEMINI_JSON, r#"{"type":"string","enum":["c"]}"#, &[("/enum", C::NeverRemoved)]);
}

#[test]
fn a_tuple_is_kept_or_becomes_a_list_of_any_of_its_items() {
    let schema = r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#;
    let expected = r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"maxItems":2}"#;
    expect_a(schema, &GEMINI_JSON, expected, &[("/items", C::RestToMaxItems)]);
    let expected =
        r#"{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]},"maxItems":2}"#;
    expect_a(
        schema,
        &GEMINI_SCHEMA,
        expected,
        &[("/prefixItems", C::TupleToList), ("/items", C::RestToMaxItems)],
    );
    let schema = r#"{"type":"array","prefixItems":[{"type":"string"}],"maxItems":1}"#;
    let expected = r#"{"type":"ARRAY","items":{"type":"STRING"},"maxItems":1}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/prefixItems", C::TupleToList)]);
    // An open tuple cannot be said: what comes after it may be anything.
    let schema = r#"{"type":"array","prefixItems":[{"type":"string"}]}"#;
    let expected = r#"{"type":"ARRAY","description":"{prefixItems: [{\"type\":\"string\"}]}"}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/prefixItems", C::Moved)]);
}

#[test]
fn the_words_of_draft_7_become_those_of_2020_12() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
        "definitions":{"p":{"type":"array","items":[{"type":"number"}],"additionalItems":{"type":"string"}}},
        "properties":{"a":{"$ref":"#/definitions/p"},"b":{"$ref":"#/definitions/p","minItems":3,"description":"B"}},
        "dependencies":{"a":["b"]}}"##;
    let p = r#""type":"array","prefixItems":[{"type":"number"}],"items":{"type":"string"}"#;
    let expected = format!(
        r##"{{"type":"object","$defs":{{"p":{{{p}}}}},"properties":{{"a":{{"$ref":"#/$defs/p"}},
        "b":{{"description":"B",{p}}}}},"description":"{{dependencies: {{\"a\":[\"b\"]}}}}"}}"##
    );
    let notes = [
        ("/$schema", C::Dropped),
        ("/definitions", C::Renamed),
        ("/definitions/p/items", C::Renamed),
        ("/definitions/p/additionalItems", C::Renamed),
        ("/properties/a/$ref", C::Renamed),
        ("/properties/b/$ref", C::Inlined),
        // Beside a `$ref` of draft 7 it means nothing.
        ("/properties/b/minItems", C::Dropped),
        ("/definitions/p/items", C::Renamed),
        ("/definitions/p/additionalItems", C::Renamed),
        ("/dependencies", C::Moved),
    ];
    expect(schema, &GEMINI_JSON, &expected, &notes);
}

#[test]
fn what_gemini_does_not_take_is_said_in_words() {
    let schema =
        r#"{"type":"string","pattern":"^a\"$","minLength":1,"format":"uuid","default":"a","examples":["a"]}"#;
    let expected = r#"{"type":"string","format":"uuid",
        "description":"{pattern: ^a\"$, minLength: 1, default: a, examples: [\"a\"]}"}"#;
    let notes =
        [("/pattern", C::Moved), ("/minLength", C::Moved), ("/default", C::Moved), ("/examples", C::Moved)];
    expect_a(schema, &GEMINI_JSON, expected, &notes);
    let expected = r#"{"type":"STRING","pattern":"^a\"$","minLength":1,"format":"uuid","default":"a",
        "description":"{examples: [\"a\"]}"}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/examples", C::Moved)]);
    let schema =
        r#"{"type":"number","minimum":0,"exclusiveMaximum":1,"multipleOf":0.5,"$comment":"c","x-y":1}"#;
    let expected = r#"{"type":"number","minimum":0,"description":"{exclusiveMaximum: 1, multipleOf: 0.5}"}"#;
    let notes = [
        ("/exclusiveMaximum", C::Moved),
        ("/multipleOf", C::Moved),
        ("/$comment", C::Dropped),
        ("/x-y", C::Dropped),
    ];
    expect_a(schema, &GEMINI_JSON, expected, &notes);
    let schema = r#"{"type":"object","patternProperties":{"^x":{"type":"string"}},"not":{"required":["y"]}}"#;
    let expected = r#"{"type":"object",
        "description":"{patternProperties: {\"^x\":{\"type\":\"string\"}}, not: {\"required\":[\"y\"]}}"}"#;
    expect_a(schema, &GEMINI_JSON, expected, &[("/patternProperties", C::Moved), ("/not", C::Moved)]);
}

#[test]
fn all_of_is_merged_with_what_is_around_it() {
    let schema = r##"{"allOf":[{"$ref":"#/$defs/b"},{"type":"object","properties":{"c":{"type":"string"},"b":{"type":"null"}},
        "required":["c"]}],"description":"D"}"##;
    let whole = format!(
        r#"{{"type":"object","properties":{{"a":{schema}}},"$defs":{{"b":{{"type":"object",
        "properties":{{"b":{{"type":"integer"}}}},"required":["b"]}}}}}}"#
    );
    let expected = r#"{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{"c":{"type":"STRING"},
        "b":{"type":"NULL"}},"required":["c","b"],"description":"D"}}}"#;
    let notes = [
        ("/properties/a/allOf", C::Merged),
        ("/properties/a/allOf/0/$ref", C::Inlined),
        // Both cannot be said: the first that was met is.
        ("/$defs/b/properties/b", C::Dropped),
        ("/$defs", C::Dropped),
    ];
    expect(&whole, &GEMINI_SCHEMA, expected, &notes);
    // Each is about the same keyword.
    let schema = r#"{"allOf":[{"minLength":1},{"minLength":2}]}"#;
    let expected = r#"{"description":"{allOf: [{\"minLength\":1},{\"minLength\":2}]}"}"#;
    expect_a(schema, &GEMINI_SCHEMA, expected, &[("/allOf", C::Moved)]);
}

#[test]
fn a_name_that_gemini_does_not_allow_is_said_in_words() {
    let long = "x".repeat(65);
    let schema = format!(
        r#"{{"type":"object","properties":{{"a-b":{{"type":"string"}},"_c1":{{"type":"string"}},"1d":{{}},"{long}":{{}},"é":true,"":{{}}}},"required":["a-b","_c1"]}}"#
    );
    let expected = format!(
        r#"{{"type":"OBJECT","properties":{{"_c1":{{"type":"STRING"}}}},"required":["_c1"],
        "description":"{{a-b (required): {{\"type\":\"string\"}}, 1d: {{}}, {long}: {{}}, é: true, : {{}}}}"}}"#
    );
    let long = format!("/properties/{long}");
    let notes = ["/properties/a-b", "/properties/1d", &long, "/properties/é", "/properties/"];
    let notes: Vec<(&str, C)> = notes.iter().map(|path| (*path, C::NameRefused)).collect();
    expect(&schema, &GEMINI_SCHEMA, &expected, &notes);
}

/// What goes out is never closed against what local checks demand.
#[test]
fn an_object_with_a_name_that_gemini_does_not_allow_stays_open() {
    let schema = r#"{"type":"object","properties":{"a-b":{"type":"string"}},"required":["a-b"],"additionalProperties":false,
        "propertyOrdering":["a-b"]}"#;
    let moved = r#""description":"{a-b (required): {\"type\":\"string\"}}""#;
    let mut notes = vec![
        ("/properties/a-b", C::NameRefused),
        ("/additionalProperties", C::Dropped),
        ("/propertyOrdering", C::Dropped),
    ];
    let expected = format!(r#"{{"type":"object","properties":{{}},{moved}}}"#);
    expect_a(schema, &GEMINI_JSON, &expected, &notes);
    expect_a(schema, &GEMINI_SCHEMA, &expected.replace("object", "OBJECT"), &notes);
    // A schema for the others would be one for it, too.
    let others = schema.replace(r#"ties":false"#, r#"ties":{"type":"integer"}"#);
    notes[1].1 = C::Moved;
    let expected = expected.replace("}}\"", "}, additionalProperties: {\\\"type\\\":\\\"integer\\\"}}\"");
    expect_a(&others, &GEMINI_JSON, &expected, &notes);
    let patterns = r#"{"type":"object","patternProperties":{"^x":{}},"additionalProperties":false}"#;
    let expected = r#"{"type":"object","description":"{patternProperties: {\"^x\":{}}}"}"#;
    let notes = [("/patternProperties", C::Moved), ("/additionalProperties", C::Dropped)];
    expect_a(patterns, &GEMINI_JSON, expected, &notes);
}

#[test]
fn schemas_that_are_true_or_false() {
    let schema = r#"{"type":"object","properties":{"a":true,"b":false,"c":{"anyOf":[false,{"type":"string"},{"type":"null"}]},
        "d":{"type":"array","items":true},"e":{"type":"array","items":false}}}"#;
    let expected = r#"{"type":"OBJECT","properties":{"a":{},"c":{"type":"STRING","nullable":true},
        "d":{"type":"ARRAY"},"e":{"type":"ARRAY","maxItems":0}}}"#;
    let notes = [
        ("/properties/b", C::NeverRemoved),
        ("/properties/c/anyOf", C::Nullable),
        ("/properties/d/items", C::Dropped),
        ("/properties/e/items", C::RestToMaxItems),
    ];
    expect(schema, &GEMINI_SCHEMA, expected, &notes);
}
