//! The strict subsets of OpenAI and Anthropic.

use super::{expect, expect_a, refuses, try_lower, with_a};
use toolcore::schema::subset::{ANTHROPIC_STRICT, OPENAI_STRICT};
use toolcore::schema::{ChangeKind as C, StrictProblemKind as P};

/// Case 021.
#[test]
fn an_open_object_is_closed_and_optional_properties_become_nullable() {
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}"#;
    let expected = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},
        "additionalProperties":false,"required":["a","b"]}"#;
    expect(schema, &OPENAI_STRICT, expected, &[("/properties/b", C::MadeRequired), ("", C::Closed)]);
    let expected = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},
        "required":["a"],"additionalProperties":false}"#;
    expect(schema, &ANTHROPIC_STRICT, expected, &[("", C::Closed)]);
}

#[test]
fn a_schema_that_is_strict_already_goes_out_as_it_is() {
    let schema = r##"{"type":"object","properties":{"a":{"type":"string","description":"A","enum":["x","y"]},
        "b":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["a","b"],"additionalProperties":false,
        "$defs":{"n":{"type":"object","properties":{"c":{"const":1}},"required":["c"],"additionalProperties":false}}}"##;
    // A `const` of OpenAI has a type.
    let typed = schema.replace(r#"{"const":1}"#, r#"{"type":"integer","const":1}"#);
    expect(&typed, &OPENAI_STRICT, &typed, &[]);
    expect(&typed, &ANTHROPIC_STRICT, &typed, &[]);
}

#[test]
fn every_object_is_closed_however_deep() {
    let schema = r##"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"object"}},
        "required":["b"]}},"c":{"$ref":"#/$defs/d"}},"required":["a","c"],"$defs":{"d":{"type":"object"}}}"##
        .replace(r#"{"type":"object"}"#, r#"{"type":"object","properties":{"e":{"type":"null"}},"required":["e"]}"#);
    let closed = r#"{"type":"object","properties":{"e":{"type":"null"}},"required":["e"],"additionalProperties":false}"#;
    let expected = format!(
        r##"{{"type":"object","properties":{{"a":{{"type":"array","items":{{"type":"object","properties":{{"b":{closed}}},
        "required":["b"],"additionalProperties":false}}}},"c":{{"$ref":"#/$defs/d"}}}},"required":["a","c"],
        "additionalProperties":false,"$defs":{{"d":{closed}}}}}"##
    );
    let places = ["", "/properties/a/items", "/properties/a/items/properties/b", "/$defs/d"];
    let notes: Vec<(&str, C)> = places.iter().map(|path| (*path, C::Closed)).collect();
    expect(&schema, &OPENAI_STRICT, &expected, &notes);
}

/// Closed, such an object would only be `{}`; at the root it is that of a tool without arguments.
#[test]
fn an_object_that_declares_nothing_is_refused_below_the_root() {
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        for free in [
            r#"{"type":"object"}"#,
            r#"{"type":"object","description":"free map"}"#,
            r#"{"type":"object","properties":{}}"#,
        ] {
            refuses(&with_a(free), &subset, "/properties/a", P::NotClosed);
            let list = format!(r#"{{"type":"array","items":{free}}}"#);
            refuses(&with_a(&list), &subset, "/properties/a/items", P::NotClosed);
        }
        refuses(&with_a(r#"{"type":["object","null"]}"#), &subset, "/properties/a", P::NotClosed);
        let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
        expect_a(closed, &subset, closed, &[]);
        let notes = [("", C::PropertiesAdded), ("", C::Closed)];
        expect(r#"{"type":"object"}"#, &subset, closed, &notes);
    }
}

/// The providers take scalars; closed, the object would be `{}`, which is none of the values.
#[test]
fn a_value_that_is_an_object_or_a_list_is_refused() {
    for (schema, path) in [
        (r#"{"const":{"a":1}}"#, "/const"),
        (r#"{"const":[1]}"#, "/const"),
        (r#"{"enum":[{"a":1},null]}"#, "/enum"),
        (r#"{"type":["object","null"],"enum":[{"a":1},null]}"#, "/enum"),
    ] {
        for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
            refuses(&with_a(schema), &subset, &format!("/properties/a{path}"), P::Keyword);
            let optional = with_a(schema).replace(r#","required":["a"]"#, "");
            refuses(&optional, &subset, &format!("/properties/a{path}"), P::Keyword);
        }
    }
}

#[test]
fn an_object_that_says_it_is_open_is_refused() {
    for others in ["true", "{}", r#"{"type":"string"}"#] {
        let schema = format!(r#"{{"type":"object","additionalProperties":{others}}}"#);
        for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
            refuses(&schema, &subset, "/additionalProperties", P::NotClosed);
            refuses(&with_a(&schema), &subset, "/properties/a/additionalProperties", P::NotClosed);
        }
    }
    refuses("true", &OPENAI_STRICT, "", P::NotClosed);
}

#[test]
fn null_is_added_where_an_optional_property_does_not_allow_it() {
    for (optional, expected) in [
        (r#"{"type":["string","integer"]}"#, r#"{"type":["string","integer","null"]}"#),
        (r#"{"type":["string","null"]}"#, r#"{"type":["string","null"]}"#),
        (r#"{"type":"null"}"#, r#"{"type":"null"}"#),
        (
            r#"{"type":"string","enum":["a"],"title":"T"}"#,
            r#"{"type":["string","null"],"enum":["a",null],"title":"T"}"#,
        ),
        (r#"{"type":"string","const":"a"}"#, r#"{"type":["string","null"],"enum":["a",null]}"#),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}"#,
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        ),
        (r##"{"$ref":"#/$defs/s"}"##, r##"{"anyOf":[{"$ref":"#/$defs/s"},{"type":"null"}]}"##),
    ] {
        let schema = format!(
            r#"{{"type":"object","properties":{{"o":{optional}}},"additionalProperties":false,"$defs":{{"s":{{"type":"string"}}}}}}"#
        );
        let expected = format!(
            r#"{{"type":"object","properties":{{"o":{expected}}},"additionalProperties":false,"required":["o"],
            "$defs":{{"s":{{"type":"string"}}}}}}"#
        );
        let mut notes = vec![("/properties/o", C::MadeRequired)];
        if optional.contains("const") {
            notes.push(("/properties/o/const", C::ConstToEnum));
        }
        expect(&schema, &OPENAI_STRICT, &expected, &notes);
    }
}

#[test]
fn what_only_narrows_moves_into_the_description() {
    let schema = r#"{"type":"string","minLength":1,"pattern":"^a$","format":"uri","description":"D","examples":["a"]}"#;
    let expected = r#"{"type":"string","pattern":"^a$","description":"D\n\n{minLength: 1, format: uri, examples: [\"a\"]}"}"#;
    let notes = [("/minLength", C::Moved), ("/format", C::Moved), ("/examples", C::Moved)];
    expect_a(schema, &OPENAI_STRICT, expected, &notes);
    let expected = r#"{"type":"string","format":"uri","description":"D\n\n{minLength: 1, pattern: ^a$, examples: [\"a\"]}"}"#;
    let notes = [("/minLength", C::Moved), ("/pattern", C::Moved), ("/examples", C::Moved)];
    expect_a(schema, &ANTHROPIC_STRICT, expected, &notes);
    // The SDK's own example.
    let schema = r#"{"type":"integer","minimum":1,"maximum":10,"description":"A number"}"#;
    let expected = r#"{"type":"integer","description":"A number\n\n{minimum: 1, maximum: 10}"}"#;
    expect_a(schema, &ANTHROPIC_STRICT, expected, &[("/minimum", C::Moved), ("/maximum", C::Moved)]);
    expect_a(schema, &OPENAI_STRICT, schema, &[]);
    for (least, kept) in [(0, true), (1, true), (2, false)] {
        let schema = format!(r#"{{"type":"array","items":{{"type":"string"}},"minItems":{least}}}"#);
        let moved = format!(
            r#"{{"type":"array","items":{{"type":"string"}},"description":"{{minItems: {least}}}"}}"#
        );
        let notes: &[_] = if kept { &[] } else { &[("/minItems", C::Moved)] };
        expect_a(&schema, &ANTHROPIC_STRICT, if kept { &schema } else { &moved }, notes);
    }
}

#[test]
fn a_default_of_null_goes_and_another_stays_with_openai() {
    let schema = r#"{"type":["string","null"],"default":null}"#;
    expect_a(schema, &OPENAI_STRICT, r#"{"type":["string","null"]}"#, &[("/default", C::Dropped)]);
    let schema = r#"{"type":"string","default":"x"}"#;
    expect_a(schema, &OPENAI_STRICT, schema, &[]);
    let expected = r#"{"type":"string","description":"{default: x}"}"#;
    expect_a(schema, &ANTHROPIC_STRICT, expected, &[("/default", C::Moved)]);
}

#[test]
fn alternatives_are_any_of() {
    let schema = r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#;
    let expected = r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#;
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        expect_a(schema, &subset, expected, &[("/oneOf", C::OneOfToAnyOf)]);
    }
    let schema = r#"{"type":["string","null"],"enum":["a",null]}"#;
    expect_a(schema, &OPENAI_STRICT, schema, &[]);
    let expected = r#"{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}"#;
    expect_a(schema, &ANTHROPIC_STRICT, expected, &[("/type", C::TypesToAnyOf)]);
}

#[test]
fn all_of_becomes_one_schema_where_that_can_say_it() {
    let schema = r#"{"allOf":[{"type":"string","description":"in"}],"description":"out"}"#;
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        expect_a(schema, &subset, r#"{"type":"string","description":"out"}"#, &[("/allOf", C::Merged)]);
        let two = r#"{"allOf":[{"type":"string"},{"enum":["a","b"]}]}"#;
        expect_a(two, &subset, r#"{"type":"string","enum":["a","b"]}"#, &[("/allOf", C::Merged)]);
        let numbers = r#"{"allOf":[{"type":"integer"},{"type":"number"}]}"#;
        expect_a(numbers, &subset, r#"{"type":"integer"}"#, &[("/allOf", C::Merged)]);
    }
}

#[test]
fn all_of_that_is_more_than_one_schema_is_refused() {
    let (x, y) = (r#""properties":{"x":{"type":"string"}}"#, r#""properties":{"y":{"type":"string"}}"#);
    let closed = r#""additionalProperties":false"#;
    for (schema, path, kind) in [
        (r#"{"type":"string","allOf":[{"minLength":1},{"minLength":2}]}"#.to_string(), "/allOf", P::Keyword),
        (r#"{"allOf":[{"minLength":1},{"minLength":2}]}"#.to_string(), "/allOf", P::Keyword),
        (r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#.to_string(), "", P::Never),
        (format!(r#"{{"allOf":[{{{x}}},{{{x}}}]}}"#), "/allOf/1/properties/x", P::Merge),
        (format!(r#"{{"allOf":[{{{x},{closed}}},{{{y}}}]}}"#), "", P::Merge),
    ] {
        for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
            refuses(&with_a(&schema), &subset, &format!("/properties/a{path}"), kind);
        }
    }
}

#[test]
fn what_has_no_equivalent_is_refused_with_its_place() {
    for (schema, path) in [
        (r#"{"type":"object","patternProperties":{"^x":{}}}"#, "/patternProperties"),
        (r#"{"type":"string","not":{"const":"x"}}"#, "/not"),
        (r#"{"type":"object","if":{"required":["x"]},"then":{"required":["y"]}}"#, "/if"),
        (r#"{"type":"object","dependentSchemas":{"x":{}}}"#, "/dependentSchemas"),
        (r#"{"type":"array","prefixItems":[{"type":"string"}]}"#, "/prefixItems"),
        // Its places and their types would be lost.
        (
            r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}"#,
            "/prefixItems",
        ),
        (r#"{"type":"object","dependentRequired":{"x":["y"]}}"#, "/dependentRequired"),
        (r#"{"type":"object","minProperties":1}"#, "/minProperties"),
        (r#"{"type":"object","propertyNames":{"maxLength":3}}"#, "/propertyNames"),
        (r#"{"type":"array","items":{"type":"null"},"contains":{"type":"null"}}"#, "/contains"),
        (r#"{"type":"array","items":{"type":"null"},"uniqueItems":true}"#, "/uniqueItems"),
    ] {
        for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
            refuses(&with_a(schema), &subset, &format!("/properties/a{path}"), P::Keyword);
        }
    }
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        for any in ["{}", "true", r#"{"description":"Anything."}"#, r#"{"minimum":1}"#] {
            refuses(&with_a(any), &subset, "/properties/a", P::Untyped);
        }
        let list = with_a(r#"{"type":"array","items":false}"#);
        assert!(try_lower(&list, &subset).is_ok());
        for root in ["anyOf", "oneOf"] {
            let schema = format!(r#"{{"type":"object","{root}":[{{"type":"object"}}]}}"#);
            refuses(&schema, &subset, &format!("/{root}"), P::Root);
        }
    }
}

#[test]
fn a_type_that_follows_is_said() {
    let schema = r#"{"properties":{"b":{"enum":["x",null]}},"required":["b"],"additionalProperties":false}"#;
    let expected = r#"{"type":"object","properties":{"b":{"type":["string","null"],"enum":["x",null]}},"required":["b"],
        "additionalProperties":false}"#;
    expect_a(schema, &OPENAI_STRICT, expected, &[("", C::TypeAdded), ("/properties/b", C::TypeAdded)]);
    let schema = r#"{"items":{"const":1.5}}"#;
    let expected = r#"{"type":"array","items":{"type":"number","const":1.5}}"#;
    expect_a(schema, &OPENAI_STRICT, expected, &[("", C::TypeAdded), ("/items", C::TypeAdded)]);
}

#[test]
fn more_than_the_provider_takes_is_refused_with_the_limit() {
    let many = |count: usize, property: &str| {
        let list: Vec<String> = (0..count).map(|n| format!("\"p{n}\":{property}")).collect();
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, list.join(","))
    };
    let text = r#"{"type":"string"}"#;
    assert!(try_lower(&many(5000, text), &OPENAI_STRICT).is_ok());
    let problem = P::TooMany { what: "properties", most: 5000 };
    refuses(&many(5001, text), &OPENAI_STRICT, "/properties/p5000", problem);
    let deep = |levels: usize| {
        let (open, close) = (r#"{"type":"array","items":"#.repeat(levels - 2), "}".repeat(levels - 2));
        with_a(&format!(r#"{open}{{"type":"array","items":{text}}}{close}"#))
    };
    assert!(try_lower(&deep(10), &OPENAI_STRICT).is_ok());
    let problem = P::TooMany { what: "objects and arrays inside one another", most: 10 };
    refuses(&deep(11), &OPENAI_STRICT, &format!("/properties/a{}", "/items".repeat(9)), problem);
    let values = |count: usize, width: usize| {
        let list: Vec<String> = (0..count).map(|n| format!("\"{n:0width$}\"")).collect();
        with_a(&format!(r#"{{"type":"string","enum":[{}]}}"#, list.join(",")))
    };
    assert!(try_lower(&values(1000, 4), &OPENAI_STRICT).is_ok());
    let problem = P::TooMany { what: "values in all enums", most: 1000 };
    refuses(&values(1001, 4), &OPENAI_STRICT, "/properties/a/enum", problem);
    assert!(try_lower(&values(250, 100), &OPENAI_STRICT).is_ok());
    let problem = P::TooMany { what: "bytes in an enum of more than 250 values", most: 15_000 };
    refuses(&values(251, 100), &OPENAI_STRICT, "/properties/a/enum", problem);
    let long = with_a(&format!(r#"{{"type":"string","enum":["{}"]}}"#, "x".repeat(120_000)));
    let problem = P::TooMany { what: "bytes of property names, definition names and values", most: 120_000 };
    refuses(&long, &OPENAI_STRICT, "/properties/a/enum", problem);
    assert!(try_lower(&long, &ANTHROPIC_STRICT).is_ok());
}

#[test]
fn what_excludes_nothing_is_left_out() {
    let schema = r#"{"type":"object","properties":{"x":{"type":"array","items":{"type":"null"},"uniqueItems":false}},
        "required":["x"],"minProperties":0,"dependentRequired":{},"unevaluatedProperties":false}"#;
    let expected = r#"{"type":"object","properties":{"x":{"type":"array","items":{"type":"null"}}},"required":["x"],
        "additionalProperties":false}"#;
    let words =
        ["/properties/x/uniqueItems", "/minProperties", "/dependentRequired", "/unevaluatedProperties"];
    let mut notes: Vec<(&str, C)> = words.iter().map(|path| (*path, C::Dropped)).collect();
    notes.push(("", C::Closed));
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        expect_a(schema, &subset, expected, &notes);
    }
}

#[test]
fn a_tuple_of_one_kind_is_a_list_of_as_many() {
    let item = r#"{"type":"number"}"#;
    for (end, most) in [(r#""maxItems":2"#, "/maxItems"), (r#""items":false"#, "/items")] {
        let schema = format!(r#"{{"type":"array","prefixItems":[{item},{item}],"minItems":2,{end}}}"#);
        let expected = format!(r#"{{"type":"array","items":{item},"minItems":2,"maxItems":2}}"#);
        let mut notes = vec![("/prefixItems", C::TupleToList)];
        if most == "/items" {
            notes.push((most, C::RestToMaxItems));
        }
        expect_a(&schema, &OPENAI_STRICT, &expected, &notes);
        let moved = end.replace('"', "").replace(':', ": ");
        let expected =
            format!(r#"{{"type":"array","items":{item},"description":"{{minItems: 2, {moved}}}"}}"#);
        let notes = [("/prefixItems", C::TupleToList), ("/minItems", C::Moved), (most, C::Moved)];
        expect_a(&schema, &ANTHROPIC_STRICT, &expected, &notes);
    }
    // One more may come than is in the tuple, of any kind.
    let open = with_a(&format!(r#"{{"type":"array","prefixItems":[{item},{item}],"maxItems":3}}"#));
    refuses(&open, &OPENAI_STRICT, "/properties/a/prefixItems", P::Keyword);
}
