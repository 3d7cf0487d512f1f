//! Schemas and instances out of bytes, so that a fuzzer reaches every keyword and combination: each byte is a
//! choice, and when they are used up the first choice is taken, which ends everything.

use serde_json::{Map, Value as Json, json};

/// A schema with one resource that it may refer to, and instances.
pub struct Generated {
    /// Draft 7, and not 2020-12.
    pub old: bool,
    /// `$dynamicRef` can be among the keywords.
    pub dynamic: bool,
    pub root: Json,
    pub resource: Json,
    pub instances: Vec<Json>,
}

/// The URI of the root and of the resource.
pub const URIS: [&str; 2] = ["https://example.com/root", "https://example.com/other"];

/// What definitions are called; each has its name as an anchor too.
pub const DEFINITIONS: [&str; 3] = ["a", "b", "c"];

/// The last third of the input chooses the instances, so that they do not come out empty.
pub fn generated(input: &[u8]) -> Generated {
    let (schemas, instances) = input.split_at(input.len() / 3 * 2);
    let mut choice = Choice { bytes: schemas.iter(), room: 30, old: false, dynamic: false };
    (choice.old, choice.dynamic) =
        [(false, false), (true, false), (false, true), (false, false)][choice.below(4)];
    let root = choice.document(URIS[0]);
    let resource = choice.document(URIS[1]);
    choice.bytes = instances.iter();
    let instances = (0..4).map(|_| choice.instance(&root, 4)).collect();
    Generated { old: choice.old, dynamic: choice.dynamic, root, resource, instances }
}

/// A pattern in the words of ECMA-262 and of the crate `regex` alike, and texts.
pub fn pattern(input: &[u8]) -> (String, Vec<String>) {
    let mut choice = Choice { bytes: input.iter(), room: 30, old: false, dynamic: false };
    let pattern = choice.pattern(4);
    let letters = ['a', 'b', 'c', 'A', '1', ' ', 'é', '\u{1F432}', '-', '_', '\n', '\u{2028}'];
    let texts = (0..4).map(|_| (0..choice.below(16)).map(|_| letters[choice.below(12)]).collect());
    (pattern, texts.collect())
}

struct Choice<'i> {
    bytes: std::slice::Iter<'i, u8>,
    /// Schemas that may still come.
    room: usize,
    old: bool,
    dynamic: bool,
}

impl Choice<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or_default()) % n
    }

    fn document(&mut self, uri: &str) -> Json {
        let mut root = self.object(4);
        let definitions: Map<String, Json> = DEFINITIONS
            .into_iter()
            .map(|name| {
                let mut schema = self.object(3);
                if self.below(3) == 2 && !(self.old && schema.contains_key("$ref")) {
                    // In draft 7 an anchor is an `$id`.
                    let anchor = ["$anchor", "$dynamicAnchor"][self.below(2)];
                    match self.old {
                        false => schema.insert(anchor.into(), json!(name)),
                        true => schema.insert("$id".into(), json!(format!("#{name}"))),
                    };
                }
                (name.to_owned(), Json::Object(schema))
            })
            .collect();
        root.insert("$defs".into(), Json::Object(definitions));
        if !(self.old && root.contains_key("$ref")) {
            root.insert("$id".into(), json!(uri));
        }
        Json::Object(root)
    }

    fn schema(&mut self, depth: usize) -> Json {
        self.room = self.room.saturating_sub(1);
        match self.below(6) {
            0 => json!(self.below(4) > 0),
            1 => json!({ "type": self.type_name() }),
            _ => Json::Object(self.object(depth)),
        }
    }

    fn schemas(&mut self, depth: usize) -> Json {
        (0..1 + self.below(3)).map(|_| self.schema(depth)).collect()
    }

    fn object(&mut self, depth: usize) -> Map<String, Json> {
        let mut schema = Map::new();
        let leaf = depth == 0 || self.room == 0;
        for _ in 0..1 + self.below(5) {
            let inner = depth.saturating_sub(1);
            let (keyword, value) = match self.below(if leaf { 13 } else { 32 }) {
                0 => ("type", json!(self.type_name())),
                1 => ("type", json!([self.type_name(), self.type_name()])),
                2 => ("enum", (0..self.below(20)).map(|_| self.value(1)).collect()),
                3 => ("const", self.value(2)),
                4 => {
                    let names = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
                    (names[self.below(4)], self.number())
                }
                5 => ("multipleOf", json!([0.5, 1.0, 2.0, 3.0][self.below(4)])),
                6 => {
                    let names = ["minLength", "maxLength", "minItems", "maxItems"];
                    (names[self.below(4)], json!(self.below(5)))
                }
                7 => (["minProperties", "maxProperties"][self.below(2)], json!(self.below(4))),
                8 => ("required", (0..self.below(4)).map(|_| json!(self.name())).collect()),
                9 => ("pattern", json!(PATTERNS[self.below(PATTERNS.len())])),
                10 => ("uniqueItems", json!(self.below(4) > 0)),
                11 => ("$ref", json!(self.reference())),
                12 => {
                    let names = ["title", "contentMediaType", "$comment", "description", "format"];
                    (names[self.below(5)], json!("date"))
                }
                13 | 14 => ("patternProperties", self.members(inner, |choice| choice.any_pattern())),
                15 | 16 => ("properties", self.members(inner, |choice| choice.name())),
                17 => ("items", self.schema(inner)),
                18 if self.old => ("items", self.schemas(inner)),
                18 => ("prefixItems", self.schemas(inner)),
                19 => ("additionalProperties", self.schema(inner)),
                20 => (["allOf", "anyOf", "oneOf"][self.below(3)], self.schemas(inner)),
                21 => (["not", "contains", "propertyNames"][self.below(3)], self.schema(inner)),
                22 => {
                    for name in ["then", "else"] {
                        if self.below(3) > 0 {
                            let branch = self.schema(inner);
                            schema.insert(name.into(), branch);
                        }
                    }
                    ("if", self.schema(inner))
                }
                23 => (["minContains", "maxContains"][self.below(2)], json!(self.below(3))),
                24 => ("dependencies", {
                    let list = self.below(2) == 0;
                    self.members_of(
                        |choice| choice.name(),
                        |choice| if list { choice.names() } else { choice.schema(inner) },
                    )
                }),
                25 if self.old => ("additionalItems", self.schema(inner)),
                26 if self.old => ("unevaluatedItems", json!(7)),
                25 => ("dependentRequired", self.members_of(|choice| choice.name(), |choice| choice.names())),
                26 => ("dependentSchemas", self.members(inner, |choice| choice.name())),
                27 | 28 if !self.old => {
                    self.beside(inner, &mut schema);
                    (
                        "unevaluatedProperties",
                        if self.below(2) == 0 { json!(false) } else { self.schema(inner) },
                    )
                }
                29 | 31 if !self.old => {
                    self.beside(inner, &mut schema);
                    ("unevaluatedItems", if self.below(2) == 0 { json!(false) } else { self.schema(inner) })
                }
                30 if self.dynamic => ("$dynamicRef", json!(self.reference())),
                _ => ("x-unknown", self.value(2)),
            };
            schema.insert(keyword.into(), value);
        }
        schema
    }

    /// What looks at members and items, for those that ask what was looked at.
    fn beside(&mut self, depth: usize, schema: &mut Map<String, Json>) {
        let names =
            ["contains", "prefixItems", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref", "not"];
        for _ in 0..1 + self.below(2) {
            let name = names[self.below(names.len())];
            let value = match name {
                "contains" | "if" | "not" => self.schema(depth),
                "dependentSchemas" => self.members(depth, |choice| choice.name()),
                "$ref" => json!(self.reference()),
                _ => self.schemas(depth),
            };
            schema.insert(name.into(), value);
        }
    }

    fn members(&mut self, depth: usize, name: impl Fn(&mut Self) -> String) -> Json {
        self.members_of(name, |choice| choice.schema(depth))
    }

    fn members_of(&mut self, name: impl Fn(&mut Self) -> String, value: impl Fn(&mut Self) -> Json) -> Json {
        // Now and then more names than a word has bits, or than are searched one by one.
        let many = [0, 1, 2, 3, 2, 1, 2, 1, 1, 2, 3, 1, 2, 1, 20, 40][self.below(16)];
        let mut members = Map::new();
        let mut last = json!(true);
        for number in 0..many {
            let name = name(self);
            if number < 4 {
                last = value(self);
                members.insert(name, last.clone());
                // Those that follow are small.
                last = if last.to_string().len() > 80 { json!({}) } else { last };
            } else {
                members.insert(format!("{name}{number}"), last.clone());
            }
        }
        Json::Object(members)
    }

    fn reference(&mut self) -> String {
        let document = ["", "", URIS[0], URIS[1], "other"][self.below(5)];
        let name = DEFINITIONS[self.below(3)];
        match self.below(4) {
            0 => format!("{document}#/$defs/{name}"),
            1 => format!("{document}#{name}"),
            2 => format!("{document}#"),
            _ => format!("{document}#/%24defs/{name}"),
        }
    }

    fn type_name(&mut self) -> &'static str {
        ["object", "string", "integer", "array", "number", "boolean", "null"][self.below(7)]
    }

    fn name(&mut self) -> String {
        NAMES[self.below(NAMES.len())].to_owned()
    }

    fn names(&mut self) -> Json {
        (0..self.below(3)).map(|_| json!(self.name())).collect()
    }

    fn any_pattern(&mut self) -> String {
        PATTERNS[self.below(PATTERNS.len())].to_owned()
    }

    fn number(&mut self) -> Json {
        json!([0.0, 1.0, 2.0, 0.5, -1.0, 3.0, 1.5, 1e3][self.below(8)])
    }

    fn value(&mut self, depth: usize) -> Json {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => json!(self.name()),
            1 => json!(self.below(4)),
            2 => self.number(),
            3 => json!(self.below(2) == 0),
            4 => Json::Null,
            5 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Json::Object((0..self.below(4)).map(|_| (self.name(), self.value(depth - 1))).collect()),
        }
    }

    /// An instance that looks like what the schema wants, or any other.
    fn instance(&mut self, schema: &Json, depth: usize) -> Json {
        let wish = |name: &str| schema.get(name);
        if depth == 0 || self.below(8) == 7 {
            return self.value(depth);
        }
        if let Some(values) = wish("enum").and_then(Json::as_array)
            && !values.is_empty()
            && self.below(4) > 0
        {
            return values[self.below(values.len())].clone();
        }
        let lists = ["items", "prefixItems", "contains", "unevaluatedItems"];
        let kind = match wish("type") {
            Some(Json::String(name)) => name.clone(),
            None if lists.iter().any(|name| wish(name).is_some()) && self.below(4) > 0 => "array".to_owned(),
            _ => ["object", "array", "object", "string", "number"][self.below(5)].to_owned(),
        };
        match kind.as_str() {
            "object" => {
                let mut members = Map::new();
                for name in wish("required").and_then(Json::as_array).into_iter().flatten() {
                    members.insert(name.as_str().unwrap().to_owned(), self.value(1));
                }
                for (name, schema) in wish("properties").and_then(Json::as_object).into_iter().flatten() {
                    if self.below(3) > 0 {
                        members.insert(name.clone(), self.instance(schema, depth - 1));
                    }
                }
                for _ in 0..self.below(4) {
                    members.insert(self.name(), self.value(2));
                }
                Json::Object(members)
            }
            "array" => {
                let (items, none) = (wish("items"), Json::Null);
                let first = wish("prefixItems").or(items).and_then(Json::as_array);
                (0..self.below(6))
                    .map(|number| {
                        let own = first.and_then(|first| first.get(number));
                        self.instance(own.or(items).unwrap_or(&none), depth - 1)
                    })
                    .collect()
            }
            "string" => json!(self.name()),
            "integer" => json!(self.below(9)),
            "number" => self.number(),
            "boolean" => json!(self.below(2) == 0),
            _ => Json::Null,
        }
    }

    fn pattern(&mut self, depth: usize) -> String {
        let alternatives = if self.below(4) == 3 { 2 + self.below(2) } else { 1 };
        let all: Vec<String> = (0..alternatives)
            .map(|_| (0..self.below(4)).map(|_| self.part(depth)).collect::<String>())
            .collect();
        all.join("|")
    }

    fn part(&mut self, depth: usize) -> String {
        self.room = self.room.saturating_sub(1);
        let leaf = depth == 0 || self.room == 0;
        let atom = match self.below(if leaf { 7 } else { 10 }) {
            0 => "a".to_owned(),
            1 => "b".to_owned(),
            2 => {
                ["[ab]", "[^a]", "[a-c1]", "[^\\s\\S]", "[é-\u{1F432}]", "[\\dc_-]"][self.below(6)].to_owned()
            }
            3 => ["\\p{L}", "\\P{L}", "[0-9]", "[^0-9]", "\u{1F432}", "\\p{Lu}"][self.below(6)].to_owned(),
            // Anchors and boundaries take no quantifier.
            4 => return ["^", "$", "\\b"][self.below(3)].to_owned(),
            5 => "[^\\n\\r\u{2028}\u{2029}]".to_owned(),
            6 => "c".to_owned(),
            7 => format!("({})", self.pattern(depth - 1)),
            _ => format!("(?:{})", self.pattern(depth - 1)),
        };
        let quantifier = match self.below(10) {
            1 => "*".to_owned(),
            2 => "+".to_owned(),
            3 => "?".to_owned(),
            4 => "*?".to_owned(),
            5 => format!("{{{}}}", self.below(6)),
            6 => format!("{{{},}}", self.below(40)),
            7 => {
                let least = self.below(70);
                format!("{{{least},{}}}", least + self.below(9))
            }
            _ => String::new(),
        };
        atom + &quantifier
    }
}

/// Short names that share prefixes, some to be escaped.
const NAMES: [&str; 8] = ["a", "b", "name", "é\"x", "quite_a_long_name", "", "a/b~c", "n\u{1F600}"];

const PATTERNS: [&str; 8] = ["", "^a", "_|b", "^[a-z]{2,12}$", "é\"", "^(x|xy|xyz)?$", "[^a-z]", "n.*e$"];
