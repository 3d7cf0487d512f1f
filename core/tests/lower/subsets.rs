//! A checker of what each provider takes, written from the providers' documents and not from the library's
//! tables.

use serde_json::{Map, Value as Json};

/// Panics if `schema` is not in the subset of this name.
pub(super) fn check(name: &str, schema: &Json) {
    let root = schema.as_object().unwrap();
    match name {
        "plain" => assert_eq!(root["type"], "object"),
        "ollama" => {
            assert_eq!(root["type"], "object");
            properties_are_objects(schema);
        }
        "openai" | "anthropic" => {
            assert_eq!(root["type"], "object");
            assert!(root["properties"].is_object());
            let refused: &[&str] = if name == "openai" {
                &["anyOf", "oneOf", "allOf", "not", "enum"]
            } else {
                &["anyOf", "oneOf", "allOf"]
            };
            assert!(refused.iter().all(|word| !root.contains_key(*word)), "{schema}");
        }
        "openai, strict" | "anthropic, strict" => {
            assert_eq!(root["type"], "object");
            strict(name.starts_with("openai"), schema, schema);
        }
        "gemini_json" => gemini_json(schema, schema),
        "gemini_schema" => gemini_schema(schema),
        _ => panic!("{name}"),
    }
}

fn object(schema: &Json) -> &Map<String, Json> {
    schema.as_object().unwrap_or_else(|| panic!("not an object: {schema}"))
}

fn only(schema: &Json, words: &str) {
    for key in object(schema).keys() {
        assert!(words.split(' ').any(|word| word == key), "{key} in {schema}");
    }
}

fn each<'j>(schema: &'j Json, one: &[&str], lists: &[&str], maps: &[&str]) -> Vec<&'j Json> {
    let mut all: Vec<&Json> = one.iter().filter_map(|word| schema.get(word)).collect();
    all.extend(lists.iter().filter_map(|word| schema.get(word)).flat_map(|list| list.as_array().unwrap()));
    all.extend(maps.iter().filter_map(|word| schema.get(word)).flat_map(|map| object(map).values()));
    all
}

fn properties_are_objects(schema: &Json) {
    if !schema.is_object() {
        return;
    }
    for property in each(schema, &[], &["anyOf"], &["properties"]) {
        object(property);
        properties_are_objects(property);
    }
}

fn resolves(schema: &Json, root: &Json) {
    let reference = schema["$ref"].as_str().unwrap();
    assert!(reference == "#" || reference.starts_with("#/$defs/"), "{reference}");
    assert!(root.pointer(&reference[1..]).is_some(), "{reference}");
}

fn strict(openai: bool, schema: &Json, root: &Json) {
    only(
        schema,
        if openai {
            "$ref $defs title description default type enum const format pattern minimum maximum exclusiveMinimum \
             exclusiveMaximum multipleOf items minItems maxItems properties required additionalProperties anyOf"
        } else {
            "$ref $defs title description type enum const format items minItems properties required \
             additionalProperties anyOf"
        },
    );
    let of = object(schema);
    if of.contains_key("$ref") {
        resolves(schema, root);
        assert_eq!(of.len(), 1, "{schema}");
        return;
    }
    assert!(of.contains_key("type") || of.contains_key("anyOf"), "no type: {schema}");
    assert!(openai || of.get("type").is_none_or(Json::is_string), "{schema}");
    let is_object =
        schema["type"] == "object" || schema["type"].as_array().is_some_and(|t| t.contains(&"object".into()));
    if is_object {
        assert_eq!(of.get("additionalProperties"), Some(&Json::Bool(false)), "{schema}");
        let names: Vec<&String> = of.get("properties").map(object).into_iter().flat_map(Map::keys).collect();
        let required: Vec<Json> = schema["required"].as_array().cloned().unwrap_or_default();
        for name in names {
            assert!(!openai || required.contains(&Json::from(name.as_str())), "{name} is optional: {schema}");
        }
    }
    for part in each(schema, &["items"], &["anyOf"], &["properties", "$defs"]) {
        strict(openai, part, root);
    }
}

fn names_fit(schema: &Json) {
    for name in schema.get("properties").map(object).into_iter().flat_map(Map::keys) {
        assert!(name.len() <= 64 && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()), "{name}");
        assert!(!name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty(), "{name}");
    }
    for name in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
        assert!(name.is_string());
    }
}

fn gemini_json(schema: &Json, root: &Json) {
    only(
        schema,
        "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum \
         anyOf oneOf properties additionalProperties required propertyOrdering",
    );
    if schema.get("$ref").is_some() {
        resolves(schema, root);
        assert!(object(schema).keys().all(|key| key.starts_with('$')), "{schema}");
    }
    assert!(schema.get("type").is_none_or(Json::is_string), "{schema}");
    for value in schema.get("enum").and_then(Json::as_array).into_iter().flatten() {
        assert!(value.is_string() || value.is_number(), "{schema}");
    }
    names_fit(schema);
    let mut parts = each(
        schema,
        &["items", "additionalProperties"],
        &["anyOf", "oneOf", "prefixItems"],
        &["properties", "$defs"],
    );
    parts.retain(|part| !part.is_boolean());
    assert!(schema.get("items").is_none_or(Json::is_object), "{schema}");
    parts.into_iter().for_each(|part| gemini_json(part, root));
}

fn gemini_schema(schema: &Json) {
    only(
        schema,
        "type format title description nullable enum items minItems maxItems properties minProperties maxProperties required \
         propertyOrdering anyOf default minLength maxLength pattern minimum maximum",
    );
    if let Some(kind) = schema.get("type") {
        let kinds = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
        assert!(kinds.iter().any(|known| kind == known), "{schema}");
    }
    for value in schema.get("enum").and_then(Json::as_array).into_iter().flatten() {
        assert!(value.is_string() && schema["type"] == "STRING", "{schema}");
    }
    names_fit(schema);
    for part in each(schema, &["items"], &["anyOf"], &["properties"]) {
        gemini_schema(part);
    }
}
