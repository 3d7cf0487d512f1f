//! Where a provider takes all of JSON Schema: what is added, and what stays as it is.

use super::{ALL, accepts, expect, read, try_lower};
use toolcore::schema::ChangeKind as C;
use toolcore::schema::subset::{ANTHROPIC, GEMINI_SCHEMA, OLLAMA, OPENAI, PLAIN};

/// Case 020.
#[test]
fn a_tool_without_arguments_is_an_object_with_no_properties() {
    for subset in [PLAIN, OLLAMA, OPENAI, ANTHROPIC] {
        let expected = r#"{"type":"object","properties":{}}"#;
        expect(r#"{"type":"object"}"#, &subset, expected, &[("", C::PropertiesAdded)]);
        expect("true", &subset, expected, &[("", C::TypeAdded)]);
        expect("{}", &subset, expected, &[("", C::TypeAdded), ("", C::PropertiesAdded)]);
        expect(expected, &subset, expected, &[]);
    }
    expect(r#"{"type":"object"}"#, &GEMINI_SCHEMA, r#"{"type":"OBJECT"}"#, &[]);
}

#[test]
fn only_objects_that_are_schemas_get_properties() {
    let schema = r#"{"type":"object","properties":{"a":{"type":["object","null"]},"b":{"const":{"type":"object"}},
        "c":{"enum":[{"type":"object"}]},"properties":{"type":"string","default":{"type":"object"}},
        "d":{"items":[{"type":"object"}],"not":{"type":"object"}}},"default":{"type":"object"},
        "examples":[{"type":"object"}],"x":{"type":"object"}}"#;
    let expected = r#"{"type":"object","properties":{"a":{"type":["object","null"],"properties":{}},
        "b":{"const":{"type":"object"}},"c":{"enum":[{"type":"object"}]},
        "properties":{"type":"string","default":{"type":"object"}},
        "d":{"items":[{"type":"object","properties":{}}],"not":{"type":"object","properties":{}}}},
        "default":{"type":"object"},"examples":[{"type":"object"}],"x":{"type":"object"}}"#;
    let notes = [
        ("/properties/a", C::PropertiesAdded),
        ("/properties/d/items/0", C::PropertiesAdded),
        ("/properties/d/not", C::PropertiesAdded),
    ];
    let draft7 =
        |text: &str| text.replacen('{', r#"{"$schema":"http://json-schema.org/draft-07/schema#","#, 1);
    expect(&draft7(schema), &PLAIN, &draft7(expected), &notes);
}

/// The servers' own errors: see the sources at the subsets.
#[test]
fn what_a_root_may_not_have_goes_into_its_description() {
    let schema = r#"{"description":"Finds.","type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}},
        "anyOf":[{"required":["a"]}, {"required":["b"]}],"not":{"required":["c"]}}"#;
    let text = r#"{anyOf: [{\"required\":[\"a\"]},{\"required\":[\"b\"]}], not: {\"required\":[\"c\"]}}"#;
    let expected = format!(
        r#"{{"description":"Finds.\n\n{text}","type":"object","properties":{{"a":{{"anyOf":[{{"type":"string"}}]}}}}}}"#
    );
    expect(schema, &OPENAI, &expected, &[("/anyOf", C::Moved), ("/not", C::Moved)]);
    let schema = r#"{"oneOf":[{"type":"object"}],"allOf":[true]}"#;
    let expected = r#"{"type":"object","properties":{},"description":"{oneOf: [{\"type\":\"object\"}], allOf: [true]}"}"#;
    let notes = [("/oneOf", C::Moved), ("/allOf", C::Moved), ("", C::TypeAdded), ("", C::PropertiesAdded)];
    expect(schema, &ANTHROPIC, expected, &notes);
    expect(schema, &OPENAI, expected, &notes);
}

#[test]
fn keys_may_be_written_with_escapes_and_values_on_many_lines() {
    let schema = "{\n  \"\\u0074ype\" : \"object\" ,\r\n\t\"propert\\u0069es\" : { \"a b\" : { \"type\" : [ \"object\" , \"null\" ] } } }";
    let (text, notes) = try_lower(schema, &PLAIN).unwrap();
    assert_eq!(
        text,
        r#"{"\u0074ype":"object","propert\u0069es":{"a b":{"type":["object","null"],"properties":{}}}}"#
    );
    assert_eq!(notes, [(String::from("/properties/a b"), C::PropertiesAdded)]);
}

#[test]
fn a_property_may_have_the_name_of_a_keyword() {
    let schema = r#"{"type":"object","properties":{"$ref":{"type":"string"},"properties":{"type":"string"},
        "type":{"type":"string"},"enum":{"type":"integer"},"required":{"type":"boolean"}},"required":["$ref","type"]}"#;
    for (name, subset) in ALL {
        let (text, _) = try_lower(schema, &subset).unwrap();
        let lowered = read(&text);
        let names: Vec<&String> = lowered["properties"].as_object().unwrap().keys().collect();
        // `$ref` is no name that Gemini allows.
        assert_eq!(names.len(), if name.starts_with("gemini") { 4 } else { 5 }, "{text}");
        let required = &lowered["required"];
        assert!(required.as_array().unwrap().contains(&"type".into()), "{text}");
    }
}

#[test]
fn what_goes_out_whole_means_the_same() {
    let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"n":{"type":"object",
        "properties":{"next":{"$ref":"#/$defs/n"}},"required":["next"],"patternProperties":{"^x":{"type":"object"}}}},
        "properties":{"n":{"$ref":"#/$defs/n"}},"dependentSchemas":{"n":{"required":["m"]}},"if":{"required":["q"]},
        "then":{"maxProperties":2}}"##;
    let (text, _) = try_lower(schema, &PLAIN).unwrap();
    for instance in ["{}", r#"{"n":{}}"#, r#"{"n":1}"#, r#"{"m":1}"#, r#"{"q":1,"a":1,"b":2}"#] {
        assert_eq!(accepts(schema, instance), accepts(&text, instance), "{instance}");
    }
    assert_eq!(try_lower(&text, &PLAIN), Ok((text.clone(), Vec::new())));
}

/// Source: the model `Property` of ollama 0.6.3.
#[test]
fn where_a_property_is_an_object_true_and_false_become_one() {
    let schema = r#"{"type":"object","properties":{"a":true,"b":false,"c":{"anyOf":[true,{"type":"string"}],"default":true,
        "enum":[true,false]},"d":{"items":false},"true":{"const":true}},"additionalProperties":false}"#;
    let expected = r#"{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"anyOf":[{},{"type":"string"}],"default":true,
        "enum":[true,false]},"d":{"items":false},"true":{"const":true}},"additionalProperties":false}"#;
    let notes = [
        ("/properties/a", C::BooleanToObject),
        ("/properties/b", C::BooleanToObject),
        ("/properties/c/anyOf/0", C::BooleanToObject),
    ];
    expect(schema, &OLLAMA, expected, &notes);
    expect(schema, &PLAIN, schema, &[]);
    for instance in ["{}", r#"{"a":1}"#, r#"{"b":1}"#, r#"{"c":2}"#, r#"{"c":true}"#] {
        assert_eq!(accepts(schema, instance), accepts(expected, instance), "{instance}");
    }
}

/// The provider's schemas are of 2020-12.
#[test]
fn a_document_of_draft_7_becomes_one_of_2020_12_for_anthropic() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
        "t":{"type":"array","items":[{"type":"string"},{"type":"object"}],"additionalItems":false},
        "u":{"type":"array","items":[true],"additionalItems":{"type":"integer"}},
        "l":{"type":"array","items":{"type":"null"},"additionalItems":false,"contains":{"type":"null"}},
        "r":{"$ref":"#/definitions/d"},"s":{"$ref":"#/definitions/d","minItems":7,"description":"S"},
        "q":{"$ref":"#/properties/t/items/0"},"n":{"not":{"items":[{"type":"null"}]}}},
        "definitions":{"d":{"type":"array","items":{"$ref":"#/definitions/d"}}},
        "dependencies":{"t":["u"]},"patternProperties":{"^x":{"items":[false]}},
        "if":{"required":["t"]},"then":false}"##;
    let expected = r##"{"type":"object","properties":{
        "t":{"type":"array","prefixItems":[{"type":"string"},{"type":"object","properties":{}}],"items":false},
        "u":{"type":"array","prefixItems":[true],"items":{"type":"integer"}},
        "l":{"type":"array","items":{"type":"null"},"contains":{"type":"null"}},
        "r":{"$ref":"#/$defs/d"},"s":{"type":"array","items":{"$ref":"#/$defs/d"},"description":"S"},
        "q":{"type":"string"},"n":{"not":{"prefixItems":[{"type":"null"}]}}},
        "$defs":{"d":{"type":"array","items":{"$ref":"#/$defs/d"}}},
        "patternProperties":{"^x":{"prefixItems":[false]}},"if":{"required":["t"]},"then":false,
        "description":"{dependencies: {\"t\":[\"u\"]}}"}"##;
    let notes = [
        ("/$schema", C::Dropped),
        ("/properties/t/items", C::Renamed),
        ("/properties/t/items/1", C::PropertiesAdded),
        ("/properties/t/additionalItems", C::Renamed),
        ("/properties/u/items", C::Renamed),
        ("/properties/u/additionalItems", C::Renamed),
        ("/properties/l/additionalItems", C::Dropped),
        ("/properties/r/$ref", C::Renamed),
        ("/properties/s/$ref", C::Inlined),
        ("/properties/s/minItems", C::Dropped),
        ("/definitions/d/items/$ref", C::Renamed),
        ("/properties/q/$ref", C::Inlined),
        ("/properties/n/not/items", C::Renamed),
        ("/definitions", C::Renamed),
        ("/definitions/d/items/$ref", C::Renamed),
        ("/dependencies", C::Moved),
        ("/patternProperties/^x/items", C::Renamed),
    ];
    expect(schema, &ANTHROPIC, expected, &notes);
    // The other providers say nothing of the draft.
    for subset in [PLAIN, OPENAI] {
        let (text, _) = try_lower(schema, &subset).unwrap();
        assert!(text.contains("draft-07") && text.contains("definitions"), "{text}");
    }
}
