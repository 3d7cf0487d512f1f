//! Random schemas and instances against a checker that is as simple as can be.

use serde_json::{Value as Json, json};

use super::left_out::left_out;
use super::{accepts, violations};

#[test]
fn a_simple_checker_agrees_on_random_schemas_and_instances() {
    let mut random = Random(7);
    let (mut valid, mut invalid) = (0, 0);
    for round in 0..3000 {
        let schema = random.schema(3);
        let text = schema.to_string();
        for _ in 0..6 {
            let instance = if random.below(4) == 0 { random.value(3) } else { random.instance(&schema, 3) };
            let expected = fits(&schema, &instance);
            let shown = random.spelled(&instance);
            assert_eq!(
                accepts(&text, &shown),
                expected,
                "{round}: {text} {shown} {:?}",
                violations(&text, &shown)
            );
            if expected { valid += 1 } else { invalid += 1 }
        }
    }
    assert!(valid > 3000 && invalid > 3000, "{valid} {invalid}");
}

/// Whether an instance fits, after the words of the specification.
pub(super) fn fits(schema: &Json, instance: &Json) -> bool {
    let Json::Object(schema) = schema else { return schema == &json!(true) };
    let is = |name: &str| match name {
        "null" => instance.is_null(),
        "boolean" => instance.is_boolean(),
        "integer" => instance.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => instance.is_number(),
        "string" => instance.is_string(),
        "array" => instance.is_array(),
        _ => instance.is_object(),
    };
    let number = instance.as_f64();
    let length = instance.as_str().map(|text| text.chars().count() as u64);
    let items = instance.as_array();
    let members = instance.as_object();
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" => match value {
            Json::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
            name => is(name.as_str().unwrap()),
        },
        "enum" => value.as_array().unwrap().iter().any(|value| equal(value, instance)),
        "const" => equal(value, instance),
        "minimum" => number.is_none_or(|number| number >= value.as_f64().unwrap()),
        "maximum" => number.is_none_or(|number| number <= value.as_f64().unwrap()),
        "exclusiveMinimum" => number.is_none_or(|number| number > value.as_f64().unwrap()),
        "exclusiveMaximum" => number.is_none_or(|number| number < value.as_f64().unwrap()),
        "minLength" => length.is_none_or(|length| length >= value.as_u64().unwrap()),
        "maxLength" => length.is_none_or(|length| length <= value.as_u64().unwrap()),
        "minItems" => items.is_none_or(|items| items.len() as u64 >= value.as_u64().unwrap()),
        "maxItems" => items.is_none_or(|items| items.len() as u64 <= value.as_u64().unwrap()),
        "items" => items.is_none_or(|items| {
            let first = schema.get("prefixItems").and_then(Json::as_array).map_or(0, Vec::len);
            items.iter().skip(first).all(|item| fits(value, item))
        }),
        "prefixItems" => items.is_none_or(|items| {
            items.iter().zip(value.as_array().unwrap()).all(|(item, schema)| fits(schema, item))
        }),
        "contains" => items.is_none_or(|items| {
            let bound = |name| schema.get(name).and_then(Json::as_u64);
            let count = items.iter().filter(|item| fits(value, item)).count() as u64;
            count >= bound("minContains").unwrap_or(1) && count <= bound("maxContains").unwrap_or(u64::MAX)
        }),
        "uniqueItems" => items.is_none_or(|items| {
            !value.as_bool().unwrap()
                || (0..items.len()).all(|i| (0..i).all(|other| !equal(&items[i], &items[other])))
        }),
        "multipleOf" => number.is_none_or(|number| (number / value.as_f64().unwrap()).fract() == 0.0),
        "minProperties" => members.is_none_or(|members| members.len() as u64 >= value.as_u64().unwrap()),
        "maxProperties" => members.is_none_or(|members| members.len() as u64 <= value.as_u64().unwrap()),
        "propertyNames" => members.is_none_or(|members| members.keys().all(|name| fits(value, &json!(name)))),
        "dependencies" => members.is_none_or(|members| {
            value.as_object().unwrap().iter().all(|(name, value)| {
                !members.contains_key(name)
                    || match value {
                        Json::Array(names) => {
                            names.iter().all(|name| members.contains_key(name.as_str().unwrap()))
                        }
                        schema => fits(schema, instance),
                    }
            })
        }),
        "allOf" => value.as_array().unwrap().iter().all(|schema| fits(schema, instance)),
        "anyOf" => value.as_array().unwrap().iter().any(|schema| fits(schema, instance)),
        "oneOf" => value.as_array().unwrap().iter().filter(|schema| fits(schema, instance)).count() == 1,
        "not" => !fits(value, instance),
        "if" => {
            let branch = if fits(value, instance) { "then" } else { "else" };
            schema.get(branch).is_none_or(|schema| fits(schema, instance))
        }
        "required" => members.is_none_or(|members| {
            value.as_array().unwrap().iter().all(|name| members.contains_key(name.as_str().unwrap()))
        }),
        "properties" => members.is_none_or(|members| {
            members.iter().all(|(name, member)| value.get(name).is_none_or(|schema| fits(schema, member)))
        }),
        "pattern" => instance.as_str().is_none_or(|text| matches(value.as_str().unwrap(), text)),
        "patternProperties" => members.is_none_or(|members| {
            members.iter().all(|(name, member)| {
                let patterns = value.as_object().unwrap().iter();
                patterns.filter(|(pattern, _)| matches(pattern, name)).all(|(_, schema)| fits(schema, member))
            })
        }),
        "additionalProperties" => members.is_none_or(|members| {
            let declared = schema.get("properties").and_then(Json::as_object);
            let patterns = schema.get("patternProperties").and_then(Json::as_object);
            members
                .iter()
                .filter(|(name, _)| declared.is_none_or(|declared| !declared.contains_key(*name)))
                .filter(|(name, _)| {
                    patterns.is_none_or(|patterns| !patterns.keys().any(|pattern| matches(pattern, name)))
                })
                .all(|(_, member)| fits(value, member))
        }),
        _ => true,
    })
}

fn matches(pattern: &str, text: &str) -> bool {
    regex::Regex::new(pattern).unwrap().is_match(text)
}

fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// Random numbers (xorshift), schemas and instances.
pub(super) struct Random(pub(super) u64);

/// In the words of ECMA-262 and of the crate `regex` alike.
const PATTERNS: [&str; 6] = ["^a", "_|b", "^[a-z]{2,12}$", "é\"", "^(x|xy|xyz)?$", ""];

const NAMES: [&str; 6] = ["a", "b", "name", "é\"x", "quite_a_long_name", ""];

impl Random {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    pub(super) fn schema(&mut self, depth: u32) -> Json {
        if self.below(10) == 0 {
            return json!(self.below(3) > 0);
        }
        let mut schema = serde_json::Map::new();
        for _ in 0..1 + self.below(4) {
            let (keyword, value) = match self.below(if depth == 0 { 10 } else { 33 }) {
                0 => ("type", json!(self.type_name())),
                1 => ("type", json!([self.type_name(), self.type_name()])),
                2 => ("enum", (0..self.below(4)).map(|_| self.value(1)).collect()),
                3 => ("const", self.value(2)),
                4 => (["minimum", "maximum"][self.below(2) as usize], self.number()),
                5 => (["exclusiveMinimum", "exclusiveMaximum"][self.below(2) as usize], self.number()),
                6 => (["minLength", "maxLength"][self.below(2) as usize], json!(self.below(4))),
                7 => (["minItems", "maxItems"][self.below(2) as usize], json!(self.below(4))),
                8 => ("required", (0..self.below(3)).map(|_| json!(self.name())).collect()),
                9 => ("pattern", json!(self.pattern())),
                10 | 11 => (
                    "patternProperties",
                    Json::Object(
                        (0..self.below(4)).map(|_| (self.pattern(), self.schema(depth - 1))).collect(),
                    ),
                ),
                12 => ("items", self.schema(depth - 1)),
                13 => ("additionalProperties", self.schema(depth - 1)),
                14 => {
                    let name = ["allOf", "anyOf", "oneOf", "prefixItems"][self.below(4) as usize];
                    (name, (0..1 + self.below(3)).map(|_| self.schema(depth - 1)).collect())
                }
                15 => {
                    let name =
                        ["not", "if", "then", "else", "contains", "propertyNames"][self.below(6) as usize];
                    if name == "if" {
                        schema.insert("then".into(), self.schema(depth - 1));
                        schema.insert("else".into(), self.schema(depth - 1));
                    }
                    (name, self.schema(depth - 1))
                }
                16 => {
                    let name = ["minProperties", "maxProperties", "minContains", "maxContains"]
                        [self.below(4) as usize];
                    (name, json!(self.below(3)))
                }
                17 => ("uniqueItems", json!(self.below(4) > 0)),
                18 => ("multipleOf", json!([0.5, 1.0, 2.0, 3.0][self.below(4) as usize])),
                19 => {
                    let list: Json = (0..self.below(3)).map(|_| json!(self.name())).collect();
                    let value = if self.below(2) == 0 { list } else { self.schema(depth - 1) };
                    ("dependencies", json!({ self.name(): value }))
                }
                _ => (
                    "properties",
                    Json::Object((0..self.below(5)).map(|_| (self.name(), self.schema(depth - 1))).collect()),
                ),
            };
            if left_out().all(|name| name != keyword) {
                schema.insert(keyword.into(), value);
            }
        }
        Json::Object(schema)
    }

    /// An instance that looks like what the schema wants, and often is.
    pub(super) fn instance(&mut self, schema: &Json, depth: u32) -> Json {
        if let Some(values) = schema.get("enum").and_then(Json::as_array)
            && !values.is_empty()
        {
            return values[self.below(values.len() as u64) as usize].clone();
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let names = match schema.get("type") {
            Some(Json::Array(names)) => names.clone(),
            Some(name) => vec![name.clone()],
            None if schema.get("items").is_some() => vec![json!("array")],
            None => vec![json!(self.type_name()), json!("object")],
        };
        let name = names[self.below(names.len() as u64) as usize].as_str().unwrap().to_owned();
        match name.as_str() {
            "null" => Json::Null,
            "boolean" => json!(self.below(2) == 0),
            "integer" => json!(self.below(10)),
            "number" => self.number(),
            "string" => json!("xyzå".chars().take(self.below(5) as usize).collect::<String>()),
            "array" if depth > 0 => {
                let items = schema.get("items").cloned().unwrap_or(json!(true));
                (0..self.below(4)).map(|_| self.instance(&items, depth - 1)).collect()
            }
            "object" if depth > 0 => {
                let mut members = serde_json::Map::new();
                let empty = serde_json::Map::new();
                for (name, schema) in schema.get("properties").and_then(Json::as_object).unwrap_or(&empty) {
                    if self.below(3) > 0 {
                        members.insert(name.clone(), self.instance(schema, depth - 1));
                    }
                }
                for name in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
                    members.entry(name.as_str().unwrap()).or_insert(json!(1));
                }
                if self.below(3) == 0 {
                    members.insert(self.name(), self.value(1));
                }
                Json::Object(members)
            }
            _ => json!([]),
        }
    }

    pub(super) fn value(&mut self, depth: u32) -> Json {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => Json::Null,
            1 => json!(self.below(2) == 0),
            2 => self.number(),
            3 => json!(self.below(3)),
            4 => json!(self.name()),
            5 => (0..self.below(3)).map(|_| self.value(depth - 1)).collect(),
            _ => Json::Object((0..self.below(3)).map(|_| (self.name(), self.value(depth - 1))).collect()),
        }
    }

    fn number(&mut self) -> Json {
        match self.below(3) {
            0 => json!(self.below(6) as f64 / 2.0),
            1 => json!(-(self.below(4) as i64)),
            _ => json!(self.below(5)),
        }
    }

    fn name(&mut self) -> String {
        NAMES[self.below(NAMES.len() as u64) as usize].into()
    }

    fn pattern(&mut self) -> String {
        PATTERNS[self.below(PATTERNS.len() as u64) as usize].into()
    }

    fn type_name(&mut self) -> &'static str {
        ["null", "boolean", "integer", "number", "string", "array", "object"][self.below(7) as usize]
    }

    /// The text of a value, with other blanks, escapes and orders than usual.
    pub(super) fn spelled(&mut self, value: &Json) -> String {
        let mut blank = |text: String| match self.below(6) {
            0 => format!(" {text}\n"),
            _ => text,
        };
        match value {
            Json::Array(items) => {
                let open = blank("[".into());
                let items: Vec<String> = items.iter().map(|item| self.spelled(item)).collect();
                format!("{open}{}]", items.join(","))
            }
            Json::Object(members) => {
                let open = blank("{".into());
                let mut members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}:{}", self.string(name), self.spelled(value)))
                    .collect();
                if self.below(2) == 0 {
                    members.reverse();
                }
                format!("{open}{}}}", members.join(" ,"))
            }
            Json::String(text) => self.string(text),
            value => blank(value.to_string()),
        }
    }

    fn string(&mut self, text: &str) -> String {
        match (self.below(4), text.chars().next()) {
            (0, Some(first)) => {
                let rest = json!(&text[first.len_utf8()..]).to_string();
                format!("\"\\u{:04x}{}", first as u32, &rest[1..])
            }
            _ => json!(text).to_string(),
        }
    }
}
