//! Whether an instance fits a schema, said as simply as the specification says it: recursive, over trees, with
//! sets of what was looked at. Slow, and for instances of small numbers only.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::finds;
use super::generate::{DEFINITIONS, Generated, URIS};

/// What the drafts say, but for `$dynamicRef`.
pub struct Oracle<'g> {
    generated: &'g Generated,
    /// What is left until it gives up.
    fuel: Cell<u32>,
}

/// The names and numbers of the members and items that a schema looked at.
#[derive(Default)]
struct Seen {
    members: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.members.extend(other.members);
        self.items.extend(other.items);
    }
}

impl<'g> Oracle<'g> {
    /// Whether the root accepts an instance; `None` if that takes too long to say.
    pub fn accepts(generated: &'g Generated, instance: &Json) -> Option<bool> {
        let oracle = Oracle { generated, fuel: Cell::new(100_000) };
        let found = oracle.seen(0, &generated.root, instance, 0).is_some();
        (oracle.fuel.get() > 0).then_some(found)
    }

    fn fits(&self, document: usize, schema: &Json, instance: &Json, depth: u32) -> bool {
        self.seen(document, schema, instance, depth).is_some()
    }

    /// What a schema looked at, if the instance fits.
    fn seen(&self, document: usize, schema: &Json, instance: &Json, depth: u32) -> Option<Seen> {
        self.fuel.set(self.fuel.get().saturating_sub(1));
        if self.fuel.get() == 0 || depth > 400 {
            self.fuel.set(0);
            return None;
        }
        let Json::Object(schema) = schema else { return (schema == &json!(true)).then(Seen::default) };
        let old = self.generated.old;
        let get = |name: &str| schema.get(name);
        let here = |schema: &Json| self.seen(document, schema, instance, depth + 1);
        let inside = |schema: &Json, value: &Json| self.fits(document, schema, value, depth + 1);
        let mut seen = Seen::default();
        if let Some(reference) = get("$ref") {
            let (document, target) = self.target(document, reference.as_str().unwrap());
            seen.add(self.seen(document, target, instance, depth + 1)?);
            if old {
                return Some(seen);
            }
        }
        self.asserts(schema, instance).then_some(())?;

        for schema in list(get("allOf")) {
            seen.add(here(schema)?);
        }
        if get("anyOf").is_some() {
            let fitting: Vec<Seen> = list(get("anyOf")).filter_map(here).collect();
            (!fitting.is_empty()).then_some(())?;
            fitting.into_iter().for_each(|other| seen.add(other));
        }
        if get("oneOf").is_some() {
            let mut fitting: Vec<Seen> = list(get("oneOf")).filter_map(here).collect();
            (fitting.len() == 1).then_some(())?;
            seen.add(fitting.remove(0));
        }
        if get("not").is_some_and(|schema| here(schema).is_some()) {
            return None;
        }
        if let Some(condition) = get("if") {
            let branch = match here(condition) {
                Some(other) => {
                    seen.add(other);
                    "then"
                }
                None => "else",
            };
            if let Some(branch) = get(branch) {
                seen.add(here(branch)?);
            }
        }
        if let Some(members) = instance.as_object() {
            for keyword in ["dependentSchemas", "dependencies", "dependentRequired"] {
                if old && keyword != "dependencies" {
                    continue;
                }
                for (name, needs) in get(keyword).and_then(Json::as_object).into_iter().flatten() {
                    if members.contains_key(name) {
                        match needs {
                            Json::Array(names) => {
                                let all =
                                    names.iter().all(|name| members.contains_key(name.as_str().unwrap()));
                                all.then_some(())?;
                            }
                            schema => seen.add(here(schema)?),
                        }
                    }
                }
            }
            for (name, value) in members {
                let mut own = false;
                if let Some(schema) = get("properties").and_then(|properties| properties.get(name)) {
                    own = true;
                    inside(schema, value).then_some(())?;
                }
                for (pattern, schema) in
                    get("patternProperties").and_then(Json::as_object).into_iter().flatten()
                {
                    if finds(pattern, name) {
                        own = true;
                        inside(schema, value).then_some(())?;
                    }
                }
                if let Some(schema) = get("additionalProperties").filter(|_| !own) {
                    own = true;
                    inside(schema, value).then_some(())?;
                }
                if own {
                    seen.members.insert(name.clone());
                }
                if let Some(schema) = get("propertyNames") {
                    inside(schema, &json!(name)).then_some(())?;
                }
            }
        }
        if let Some(items) = instance.as_array() {
            let (first, rest) = match (old, get("items")) {
                (true, Some(Json::Array(first))) => (&first[..], get("additionalItems")),
                (true, rest) => (&[][..], rest),
                (false, rest) => {
                    (get("prefixItems").and_then(Json::as_array).map_or(&[][..], |first| first), rest)
                }
            };
            let mut found = 0;
            for (number, item) in items.iter().enumerate() {
                if let Some(schema) = first.get(number).or(rest) {
                    inside(schema, item).then_some(())?;
                    seen.items.insert(number);
                }
                if get("contains").is_some_and(|schema| inside(schema, item)) {
                    found += 1;
                    seen.items.insert(number);
                }
            }
            if get("contains").is_some() {
                let bound = |name| get(name).filter(|_| !old).and_then(Json::as_u64);
                let fits = found >= bound("minContains").unwrap_or(1)
                    && bound("maxContains").is_none_or(|most| found <= most);
                fits.then_some(())?;
            }
        }
        if !old {
            if let (Some(schema), Some(members)) = (get("unevaluatedProperties"), instance.as_object()) {
                for (name, value) in members {
                    if seen.members.insert(name.clone()) {
                        inside(schema, value).then_some(())?;
                    }
                }
            }
            if let (Some(schema), Some(items)) = (get("unevaluatedItems"), instance.as_array()) {
                for (number, item) in items.iter().enumerate() {
                    if seen.items.insert(number) {
                        inside(schema, item).then_some(())?;
                    }
                }
            }
        }
        Some(seen)
    }

    /// The keywords that look at the value alone.
    fn asserts(&self, schema: &serde_json::Map<String, Json>, instance: &Json) -> bool {
        let is = |name: &Json| match name.as_str().unwrap() {
            "null" => instance.is_null(),
            "boolean" => instance.is_boolean(),
            "integer" => instance.as_f64().is_some_and(|number| number.fract() == 0.0),
            "number" => instance.is_number(),
            "string" => instance.is_string(),
            "array" => instance.is_array(),
            _ => instance.is_object(),
        };
        let number = instance.as_f64();
        let length = instance.as_str().map(|text| text.chars().count());
        let items = instance.as_array();
        let members = instance.as_object();
        schema.iter().all(|(keyword, value)| {
            let bound = value.as_f64().unwrap_or_default();
            let count = bound as usize;
            match keyword.as_str() {
                "type" => match value {
                    Json::Array(names) => names.iter().any(is),
                    name => is(name),
                },
                "enum" => list(Some(value)).any(|value| equal(value, instance)),
                "const" => equal(value, instance),
                "minimum" => number.is_none_or(|number| number >= bound),
                "maximum" => number.is_none_or(|number| number <= bound),
                "exclusiveMinimum" => number.is_none_or(|number| number > bound),
                "exclusiveMaximum" => number.is_none_or(|number| number < bound),
                "multipleOf" => number.is_none_or(|number| (number / bound).fract() == 0.0),
                "minLength" => length.is_none_or(|length| length >= count),
                "maxLength" => length.is_none_or(|length| length <= count),
                "pattern" => instance.as_str().is_none_or(|text| finds(value.as_str().unwrap(), text)),
                "minItems" => items.is_none_or(|items| items.len() >= count),
                "maxItems" => items.is_none_or(|items| items.len() <= count),
                "uniqueItems" => items.is_none_or(|items| {
                    let twice = |(number, item)| items[..number].iter().any(|other| equal(item, other));
                    value == &json!(false) || !items.iter().enumerate().any(twice)
                }),
                "minProperties" => members.is_none_or(|members| members.len() >= count),
                "maxProperties" => members.is_none_or(|members| members.len() <= count),
                "required" => members.is_none_or(|members| {
                    list(Some(value)).all(|name| members.contains_key(name.as_str().unwrap()))
                }),
                _ => true,
            }
        })
    }

    /// The document and the schema that a reference leads to.
    fn target(&self, document: usize, reference: &str) -> (usize, &'g Json) {
        let (uri, fragment) = reference.split_once('#').unwrap();
        let document = match uri {
            "" => document,
            "other" => 1,
            uri => URIS.iter().position(|known| *known == uri).unwrap(),
        };
        let root = [&self.generated.root, &self.generated.resource][document];
        let name = DEFINITIONS.into_iter().find(|name| fragment.ends_with(name) && !fragment.is_empty());
        (document, name.map_or(root, |name| &root["$defs"][name]))
    }
}

fn list(value: Option<&Json>) -> impl Iterator<Item = &Json> {
    value.and_then(Json::as_array).into_iter().flatten()
}

/// Numbers by value, objects without order.
fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}
