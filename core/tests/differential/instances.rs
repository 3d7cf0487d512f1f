//! Instances made after a schema, and then changed a little.

use super::formats::FORMATS;
use super::json::Json;
use super::places::{at_mut, values};
use super::random::Random;
use super::schemas::Made;
use super::values::{NAMES, TEXTS, number, value};

/// An instance that fits the schema, or nearly.
pub(crate) fn instance(made: &Made, random: &mut Random) -> Json {
    let mut maker = Maker { made, random, left: 40 };
    let mut instance = maker.fit(&[&made.schema], 5);
    while random.percent(45) {
        mutate(&mut instance, random);
    }
    instance
}

struct Maker<'m> {
    made: &'m Made,
    /// Values that may still be made, but for empty ones.
    left: usize,
    random: &'m mut Random,
}

impl<'m> Maker<'m> {
    /// A value for all these schemas.
    fn fit(&mut self, schemas: &[&'m Json], depth: usize) -> Json {
        self.left = self.left.saturating_sub(1);
        let depth = if self.left == 0 { 0 } else { depth };
        let mut parts = Vec::new();
        for schema in schemas {
            self.gather(schema, &mut parts, 12);
        }
        let all =
            |keyword: &str| parts.iter().filter_map(|part| part.get(keyword)).collect::<Vec<&'m Json>>();
        if let Some(value) = all("const").first() {
            return (*value).clone();
        }
        if let Some(list) = all("enum").first() {
            return self.random.pick(list.items()).clone();
        }
        match self.type_name(&parts) {
            "null" => Json::Null,
            "boolean" => Json::Bool(self.random.one_in(2)),
            "integer" => self.number(&all, true),
            "number" => self.number(&all, false),
            "string" => self.string(&all),
            "array" if depth > 0 => self.array(&parts, &all, depth),
            "object" if depth > 0 => self.object(&parts, &all, depth),
            "array" => Json::Array(Vec::new()),
            _ => Json::Object(Vec::new()),
        }
    }

    /// Collects the schemas that apply in place, one of those between which there is a choice.
    fn gather(&mut self, schema: &'m Json, parts: &mut Vec<&'m Json>, depth: usize) {
        if depth == 0 || parts.len() > 30 {
            return;
        }
        parts.push(schema);
        if let Some(target) =
            ["$ref", "$dynamicRef"].iter().find_map(|keyword| self.target(schema.get(keyword)?))
        {
            self.gather(target, parts, depth - 1);
        }
        for schema in schema.get("allOf").map_or(&[][..], Json::items) {
            self.gather(schema, parts, depth - 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(list) = schema.get(keyword) {
                let chosen = self.random.pick(list.items());
                self.gather(chosen, parts, depth - 1);
            }
        }
        let keywords: &[&str] = if self.random.one_in(2) { &["if", "then"] } else { &["else"] };
        for schema in keywords.iter().filter_map(|keyword| schema.get(keyword)) {
            self.gather(schema, parts, depth - 1);
        }
        if let Some(refused) = schema.get("not")
            && self.random.percent(if schema.get("type").is_some() { 35 } else { 80 })
        {
            self.gather(refused, parts, depth - 1);
        }
        for schema in schema.get("dependentSchemas").map_or(&[][..], Json::members) {
            if self.random.one_in(3) {
                self.gather(&schema.1, parts, depth - 1);
            }
        }
    }

    fn target(&self, reference: &Json) -> Option<&'m Json> {
        let schema = &self.made.schema;
        let Some(name) = self.made.targets.get(reference.as_text()?)? else { return Some(schema) };
        let homes = ["$defs", "definitions", "x-more"].iter().filter_map(|home| schema.get(home)?.get(name));
        homes
            .map(|found| found.get("properties").and_then(|inside| inside.get("a b")).unwrap_or(found))
            .next()
    }

    fn type_name(&mut self, parts: &[&'m Json]) -> &'static str {
        const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
        let allowed = |name: &str| {
            parts.iter().filter_map(|part| part.get("type")).all(|types| {
                types.as_text() == Some(name)
                    || types.items().iter().any(|other| other.as_text() == Some(name))
            })
        };
        let typed = parts.iter().any(|part| part.get("type").is_some());
        let fitting: Vec<&'static str> = TYPES.into_iter().filter(|name| allowed(name)).collect();
        if typed && !fitting.is_empty() {
            return self.random.word(&fitting);
        }
        // Of a type that keywords are about.
        let about: Vec<&'static str> =
            parts.iter().flat_map(|part| part.members()).filter_map(about).collect();
        if about.is_empty() || self.random.one_in(12) {
            self.random.word(&TYPES)
        } else {
            self.random.word(&about)
        }
    }

    fn number(&mut self, all: &dyn Fn(&str) -> Vec<&'m Json>, integer: bool) -> Json {
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map(all).concat();
        if let Some(factor) = all("multipleOf").first().and_then(|factor| factor.as_f64())
            && self.random.percent(80)
        {
            // Multiplied in decimal, so that the text is exact.
            let near = bounds.first().and_then(|bound| bound.as_f64()).unwrap_or(0.0) / factor;
            let times = (near.clamp(-1e6, 1e6) as i64 + self.random.below(7) as i64 - 3) as i128;
            let hundredths = (factor * 100.0).round();
            if hundredths < 1e9 {
                let product = times * hundredths as i128;
                let (whole, rest) = (product / 100, product.abs() % 100);
                let sign = if product < 0 && whole == 0 { "-" } else { "" };
                return Json::Number(if rest == 0 && self.random.one_in(2) {
                    format!("{sign}{whole}")
                } else {
                    format!("{sign}{whole}.{rest:02}")
                });
            }
            return Json::Number(format!("{times}e20"));
        }
        if !bounds.is_empty() && self.random.percent(70) {
            let bound = self.random.pick(&bounds);
            if self.random.one_in(3) {
                return (*bound).clone();
            }
            let bound = bound.as_f64().unwrap();
            if bound.abs() < 1e9 {
                let near = bound.floor() as i64 + self.random.below(5) as i64 - 2;
                return Json::Number(if integer { near.to_string() } else { format!("{near}.5") });
            }
        }
        Json::Number(if integer {
            (self.random.below(12) as i64 - 4).to_string()
        } else {
            number(self.random, -4)
        })
    }

    fn string(&mut self, all: &dyn Fn(&str) -> Vec<&'m Json>) -> Json {
        let mut text = self.random.word(TEXTS).to_owned();
        if let Some(format) = all("format").first() {
            let format = FORMATS.iter().find(|(name, _)| format.as_text() == Some(name)).unwrap();
            return Json::text(self.random.word(format.1));
        }
        if let Some(pattern) = all("pattern").first().and_then(|pattern| pattern.as_text()) {
            text = self.random.pick(&self.made.patterns[pattern].samples).clone();
        }
        let least = all("minLength").iter().filter_map(|length| length.as_count()).max().unwrap_or(0);
        let most = all("maxLength").iter().filter_map(|length| length.as_count()).min().unwrap_or(usize::MAX);
        if self.random.percent(90) {
            while text.chars().count() < least {
                text.push(*self.random.pick(&['a', 'é', '\u{1F432}']));
            }
            while text.chars().count() > most {
                text.pop();
            }
        }
        Json::Text(text)
    }

    fn array(&mut self, parts: &[&'m Json], all: &dyn Fn(&str) -> Vec<&'m Json>, depth: usize) -> Json {
        let least = all("minItems").iter().filter_map(|count| count.as_count()).max().unwrap_or(0);
        let most = all("maxItems").iter().filter_map(|count| count.as_count()).min().unwrap_or(5);
        let contains = all("contains");
        let wanted = all("minContains").iter().filter_map(|count| count.as_count()).max().unwrap_or(1);
        let fixed =
            all("prefixItems").iter().chain(&all("items")).map(|list| list.items().len()).max().unwrap_or(0);
        let mut count = least.max(fixed.min(self.random.below(5))) + self.random.below(3);
        if !contains.is_empty() {
            count = count.max(wanted);
        }
        let count = count.min(most.max(least));
        let items = (0..count).map(|number| {
            let mut schemas = Vec::new();
            for part in parts {
                let list = part.get("prefixItems").filter(|_| !self.made.draft7).or(part.get("items"));
                let list = list.map_or(&[][..], Json::items);
                let rest = part.get("items").filter(|items| !matches!(items, Json::Array(_)));
                let rest = rest.or(part.get("additionalItems").filter(|_| !list.is_empty()));
                schemas.extend(list.get(number).or(rest));
            }
            if !contains.is_empty() && self.random.percent(70) {
                schemas.push(*self.random.pick(&contains));
            }
            if schemas.is_empty() {
                schemas.extend(all("unevaluatedItems"));
            }
            if schemas.is_empty() { value(self.random, 1) } else { self.fit(&schemas, depth - 1) }
        });
        Json::Array(items.collect())
    }

    fn object(&mut self, parts: &[&'m Json], all: &dyn Fn(&str) -> Vec<&'m Json>, depth: usize) -> Json {
        let mut names: Vec<String> = Vec::new();
        let text = |name: &Json| name.as_text().map(str::to_owned);
        for list in all("required") {
            names.extend(list.items().iter().filter_map(text));
        }
        for map in all("properties") {
            let share = if map.members().len() > 10 { 20 } else { 60 };
            for (name, _) in map.members() {
                if self.random.percent(share) {
                    names.push(name.clone());
                }
            }
        }
        for (pattern, _) in all("patternProperties").iter().flat_map(|map| map.members()) {
            if self.random.percent(60) {
                names.push(self.random.pick(&self.made.patterns[pattern].samples).clone());
            }
        }
        for (name, needed) in
            all("dependentRequired").iter().chain(&all("dependencies")).flat_map(|map| map.members())
        {
            if self.random.percent(50) {
                names.push(name.clone());
            }
            if names.contains(name) && self.random.percent(55) {
                names.extend(needed.items().iter().filter_map(text));
            }
        }
        for (name, _) in all("dependentSchemas").iter().flat_map(|map| map.members()) {
            if self.random.percent(60) {
                names.push(name.clone());
            }
        }
        let least = all("minProperties").iter().filter_map(|count| count.as_count()).max().unwrap_or(0);
        let extra = if self.random.percent(25) { 1 } else { 0 };
        for _ in 0..extra + least.saturating_sub(names.len()) {
            names.push(self.random.word(NAMES).to_owned());
        }
        let mut members: Vec<(String, Json)> = Vec::new();
        for name in names {
            if members.iter().any(|(other, _)| *other == name) {
                continue;
            }
            let mut schemas = Vec::new();
            for part in parts {
                let declared = part.get("properties").and_then(|map| map.get(&name));
                let patterns = part.get("patternProperties").map_or(&[][..], Json::members);
                let mut patterned = patterns
                    .iter()
                    .filter(|(pattern, _)| self.made.patterns[pattern].samples.contains(&name));
                let found = declared.or(patterned.next().map(|(_, schema)| schema));
                schemas.extend(found.or(part.get("additionalProperties")));
            }
            if schemas.is_empty() {
                schemas.extend(all("unevaluatedProperties"));
            }
            let member =
                if schemas.is_empty() { value(self.random, 1) } else { self.fit(&schemas, depth - 1) };
            members.push((name, member));
        }
        Json::Object(members)
    }
}

/// The type that a keyword is about.
fn about((keyword, _): &(String, Json)) -> Option<&'static str> {
    Some(match keyword.as_str() {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => "number",
        "minLength" | "maxLength" | "pattern" | "format" => "string",
        "minItems" | "maxItems" | "uniqueItems" | "items" | "prefixItems" | "contains"
        | "unevaluatedItems" => "array",
        "minProperties"
        | "maxProperties"
        | "required"
        | "properties"
        | "patternProperties"
        | "additionalProperties"
        | "propertyNames"
        | "dependencies"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => "object",
        _ => return None,
    })
}

/// Changes something somewhere.
fn mutate(instance: &mut Json, random: &mut Random) {
    let paths = values(instance);
    let path = random.pick(&paths).clone();
    let place = at_mut(instance, &path);
    match place {
        Json::Array(items) if !random.one_in(4) => match random.below(4) {
            0 => items.insert(random.below(items.len() + 1), value(random, 1)),
            1 if !items.is_empty() => drop(items.remove(random.below(items.len()))),
            2 if !items.is_empty() => items.push(random.pick(items).clone()),
            _ if items.len() > 1 => items.swap(0, 1),
            _ => items.push(Json::Null),
        },
        Json::Object(members) if !random.one_in(4) => match random.below(3) {
            1 if !members.is_empty() => drop(members.remove(random.below(members.len()))),
            2 if !members.is_empty() => {
                let at = random.below(members.len());
                members[at].1 = value(random, 1);
            }
            _ => {
                let name = random.word(NAMES).to_owned();
                if members.iter().all(|(other, _)| *other != name) {
                    members.push((name, value(random, 1)));
                }
            }
        },
        Json::Text(text) if !random.one_in(4) => match random.below(3) {
            0 => drop(text.pop()),
            1 => text.push(*random.pick(&['a', '1', 'é', '\u{1F432}', ' ', '\n'])),
            _ => text.insert(0, *random.pick(&['a', 'b', '-'])),
        },
        Json::Number(text) if !random.one_in(4) => *text = number(random, -4),
        place => *place = value(random, 1),
    }
}
