//! Schemas and instances at random: what a schema accepts, its lowering accepts.

use super::corpus::{covered, schemas};
use super::subsets::check;
use super::{ALL, accepts, compiles, try_lower};
use serde_json::{Map, Value as Json, json};

/// A small generator of numbers (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }

    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    /// A schema with what a provider may refuse. Every object has the same three properties, and every enum
    /// values from the same few, so that instances fit now and then.
    fn schema(&mut self, depth: usize) -> Json {
        let mut schema = Map::new();
        let types = ["string", "integer", "number", "boolean", "null", "array", "object"];
        let kind = self.pick(&types[..if depth == 0 { 5 } else { 7 }]);
        match self.below(12) {
            0 if kind != "null" => {
                schema.insert("type".into(), json!([kind, "null"]));
            }
            1 if kind != "string" => {
                schema.insert("type".into(), json!([kind, "string"]));
            }
            2 => {
                schema.insert("enum".into(), json!([self.scalar(), self.scalar(), Json::Null]));
            }
            3 => {
                schema.insert("const".into(), self.scalar());
            }
            4 if depth > 0 => {
                let word = self.pick(&["anyOf", "oneOf", "allOf"]);
                let count = 1 + self.below(2);
                let list: Vec<Json> = (0..count).map(|_| self.schema(depth - 1)).collect();
                schema.insert(word.into(), list.into());
            }
            5 => {
                schema.insert("$ref".into(), self.pick(&["#/$defs/d", "#/$defs/e"]).into());
            }
            6 if self.one_in(3) => return self.pick(&[json!(true), json!(false), json!({})]),
            _ => {
                schema.insert("type".into(), kind.into());
            }
        }
        if self.one_in(3) {
            schema.insert("description".into(), "A \"description\".".into());
        }
        if self.one_in(3) {
            let (word, value) = self.pick(&[
                ("minLength", json!(1)),
                ("pattern", json!("^a")),
                ("format", json!("date")),
                ("minimum", json!(0)),
                ("exclusiveMaximum", json!(3)),
                ("minItems", json!(1)),
                ("maxItems", json!(2)),
                ("uniqueItems", json!(true)),
                ("minProperties", json!(1)),
                ("default", Json::Null),
                ("x-other", json!({"a": 1})),
                ("enum", json!(["a", 1, null, true])),
            ]);
            schema.insert(word.into(), value);
        }
        if depth > 0 && self.one_in(2) {
            if kind == "object" {
                self.object(&mut schema, depth);
            } else if kind == "array" {
                match self.below(4) {
                    0 => {
                        let list: Vec<Json> = (0..2).map(|_| self.schema(depth - 1)).collect();
                        schema.insert("prefixItems".into(), list.into());
                        if self.one_in(2) {
                            schema.insert("items".into(), false.into());
                        }
                    }
                    _ => {
                        schema.insert("items".into(), self.schema(depth - 1));
                    }
                }
            }
        }
        if self.one_in(12) {
            let word = self.pick(&["not", "if", "contains", "propertyNames"]);
            schema.insert(word.into(), self.schema(0));
        }
        schema.into()
    }

    fn object(&mut self, schema: &mut Map<String, Json>, depth: usize) {
        let mut properties = Map::new();
        for name in NAMES {
            if !self.one_in(3) {
                properties.insert(name.into(), self.schema(depth - 1));
            }
        }
        let names: Vec<&str> = NAMES.into_iter().filter(|_| self.one_in(3)).collect();
        schema.insert("properties".into(), properties.into());
        if !names.is_empty() {
            schema.insert("required".into(), names.into());
        }
        if self.one_in(2) {
            schema.insert("additionalProperties".into(), false.into());
        } else if self.one_in(6) {
            schema.insert("additionalProperties".into(), self.schema(0));
        }
    }

    pub(super) fn root(&mut self) -> Json {
        let mut schema = Map::from_iter([("type".into(), json!("object"))]);
        self.object(&mut schema, 3);
        let mut definitions = Map::new();
        for name in ["d", "e"] {
            let definition = self.schema(2);
            // A lone reference could lead to itself, which no schema may.
            let lone = definition.get("$ref").is_some();
            definitions.insert(name.into(), if lone { json!({"type": "string"}) } else { definition });
        }
        schema.insert("$defs".into(), definitions.into());
        schema.into()
    }

    fn scalar(&mut self) -> Json {
        self.pick(&[
            json!("a"),
            json!("b"),
            json!(""),
            json!(1),
            json!(2.5),
            json!(-4),
            json!(true),
            Json::Null,
        ])
    }

    /// A value, made along a schema so that it fits now and then.
    pub(super) fn value(&mut self, schema: &Json, root: &Json, depth: usize) -> Json {
        let scalar = self.scalar();
        if depth == 0 {
            return scalar;
        }
        if let Some(target) = schema["$ref"].as_str().and_then(|name| root.pointer(&name[1..])) {
            return self.value(target, root, depth - 1);
        }
        for word in ["anyOf", "oneOf", "allOf"] {
            if let Some(list) = schema[word].as_array() {
                let branch = self.pick(list);
                return self.value(&branch, root, depth - 1);
            }
        }
        if let Some(list) = schema["enum"].as_array() {
            return self.pick(list);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let kind = match &schema["type"] {
            Json::Array(kinds) => self.pick(kinds),
            kind => kind.clone(),
        };
        match kind.as_str() {
            Some("string") => self.pick(&["a", "ab", "", "b"]).into(),
            Some("integer") => self.pick(&[-1, 0, 1, 3]).into(),
            Some("number") => self.pick(&[json!(0.5), json!(2), json!(-1.5)]),
            Some("boolean") => self.one_in(2).into(),
            Some("null") => Json::Null,
            Some("array") => {
                let (list, rest) =
                    (schema["prefixItems"].as_array().cloned().unwrap_or_default(), &schema["items"]);
                let count = self.below(4);
                (0..count).map(|n| self.value(list.get(n).unwrap_or(rest), root, depth - 1)).collect()
            }
            Some("object") => {
                let mut object = Map::new();
                let listed = schema["required"].as_array();
                for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                    let required = listed.is_some_and(|list| list.contains(&name.as_str().into()));
                    if required || !self.one_in(3) {
                        object.insert(name.clone(), self.value(schema, root, depth - 1));
                    }
                }
                if self.one_in(6) {
                    object.insert("other".into(), scalar);
                }
                object.into()
            }
            _ => scalar,
        }
    }
}

const NAMES: [&str; 3] = ["p", "q", "r"];

/// A schema of Gemini in upper case as one of JSON Schema.
pub(super) fn from_upper(schema: &Json) -> Json {
    let Json::Object(members) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (word, value) in members {
        let value = match word.as_str() {
            "type" => value.as_str().unwrap().to_lowercase().into(),
            "items" => from_upper(value),
            "anyOf" => value.as_array().unwrap().iter().map(from_upper).collect(),
            "properties" => {
                let map = value.as_object().unwrap().iter();
                map.map(|(name, schema)| (name.clone(), from_upper(schema))).collect::<Map<_, _>>().into()
            }
            "nullable" => continue,
            _ => value.clone(),
        };
        out.insert(word.clone(), value);
    }
    if members.get("nullable") == Some(&Json::Bool(true)) {
        return json!({"anyOf": [out, {"type": "null"}]});
    }
    out.into()
}

/// The ways in which a model would write `value` under a strict schema: without what is not declared, and
/// with null for what is absent.
fn filled(value: &Json, schema: &Json, root: &Json, depth: usize) -> Vec<Json> {
    if depth == 0 {
        return vec![value.clone()];
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|name| root.pointer(&name[1..])) {
        return filled(value, target, root, depth - 1);
    }
    if let Some(branches) = schema["anyOf"].as_array() {
        return branches.iter().flat_map(|branch| filled(value, branch, root, depth - 1)).take(64).collect();
    }
    match value {
        Json::Object(members) if schema["properties"].is_object() => {
            let mut ways = vec![Map::new()];
            for (name, schema) in schema["properties"].as_object().unwrap() {
                let present = members
                    .get(name)
                    .map_or(vec![Json::Null], |value| filled(value, schema, root, depth - 1));
                let mut more = Vec::new();
                for (way, value) in
                    ways.iter().flat_map(|way| present.iter().map(move |value| (way, value))).take(64)
                {
                    let mut way = way.clone();
                    way.insert(name.clone(), value.clone());
                    more.push(way);
                }
                ways = more;
            }
            ways.into_iter().map(Json::from).collect()
        }
        Json::Array(items) if schema["items"].is_object() => {
            let mut ways = vec![Vec::new()];
            for item in items {
                let present = filled(item, &schema["items"], root, depth - 1);
                ways = ways
                    .iter()
                    .flat_map(|way| {
                        present
                            .iter()
                            .map(|item| {
                                let mut way: Vec<Json> = way.clone();
                                way.push(item.clone());
                                way
                            })
                            .collect::<Vec<_>>()
                    })
                    .take(64)
                    .collect();
            }
            ways.into_iter().map(Json::from).collect()
        }
        _ => vec![value.clone()],
    }
}

/// Counts what was compared, so that a test that compares nothing fails.
#[derive(Default)]
struct Tally {
    accepted: usize,
    strict: usize,
}

fn compare(schema: &Json, random: &mut Random, rounds: usize, tally: &mut Tally) {
    let text = schema.to_string();
    let valid: Vec<Json> = (0..rounds)
        .map(|_| random.value(schema, schema, 6))
        .filter(|value| value.is_object() && accepts(&text, &value.to_string()))
        .collect();
    for (name, subset) in ALL {
        let (lowered, notes) = match try_lower(&text, &subset) {
            Ok(lowered) => lowered,
            Err(_) => {
                assert!(name.ends_with("strict"), "{name} refuses {text}");
                continue;
            }
        };
        let mut lowered = super::read(&lowered);
        check(name, &lowered);
        covered(&text, schema, &lowered, &notes);
        if name == "gemini_schema" {
            lowered = from_upper(&lowered);
        }
        let mut program = lowered.to_string();
        if name == "gemini_json" {
            // Gemini reads the one as the other.
            program = program.replace("\"oneOf\":", "\"anyOf\":");
        }
        for value in &valid {
            if name == "openai, strict" || name == "anthropic, strict" {
                let mut ways = vec![value.clone()];
                if name.starts_with("openai") {
                    ways = filled(value, &lowered, &lowered, 12);
                }
                let closed = value.to_string().contains("other");
                let fits = ways.iter().any(|way| accepts(&program, &way.to_string()));
                assert!(fits || closed, "{name}: {value} in\n{text}\n{program}\n{ways:?}");
                tally.strict += 1;
            } else {
                assert!(accepts(&program, &value.to_string()), "{name}: {value} in\n{text}\n{program}");
                tally.accepted += 1;
            }
        }
    }
}

#[test]
fn what_a_random_schema_accepts_its_lowering_accepts() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut tally = Tally::default();
    for _ in 0..300 {
        // A definition may lead back to itself without entering the value, which no schema may.
        let schema =
            std::iter::repeat_with(|| random.root()).find(|schema| compiles(&schema.to_string())).unwrap();
        compare(&schema, &mut random, 12, &mut tally);
    }
    assert!(tally.accepted > 1_000 && tally.strict > 100, "{} and {}", tally.accepted, tally.strict);
}

#[test]
fn what_a_real_schema_accepts_its_lowering_accepts() {
    let schemas = schemas("what_a_real_schema_accepts_its_lowering_accepts");
    let (mut random, mut tally) = (Random(7), Tally::default());
    for (_, schema) in &schemas {
        compare(schema, &mut random, 8, &mut tally);
    }
    assert!(schemas.is_empty() || tally.accepted > 500, "{}", tally.accepted);
}
