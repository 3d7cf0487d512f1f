//! Random keywords: each schema has a few, most of them about values of one kind.

use super::formats::FORMATS;
use super::json::Json;
use super::pattern::pattern;
use super::schemas::{At, Builder};
use super::values::{FACTORS, KINDS, Kind, Members, NAMES, number, value_of};

impl Builder<'_> {
    /// A schema for the same value.
    fn here(&mut self, at: At) -> Json {
        let kind = if self.random.percent(85) { at.kind } else { *self.random.pick(&KINDS) };
        self.schema(At { depth: at.depth.saturating_sub(1), kind, ..at })
    }

    /// A schema for a part of the value.
    fn part(&mut self, at: At) -> Json {
        let kind = *self.random.pick(&KINDS);
        self.schema(At { depth: at.depth.saturating_sub(1), kind, inside: true, ..at })
    }

    fn schema(&mut self, at: At) -> Json {
        self.left = self.left.saturating_sub(1);
        if self.random.percent(7) {
            return Json::Bool(self.random.percent(65));
        }
        Json::Object(self.keywords(at))
    }

    /// A keyword and those that belong to it, where nothing hides what they do.
    pub(crate) fn assertions(&mut self, at: At) -> Vec<(String, Json)> {
        self.left = 1;
        let mut made = Members::default();
        if !self.draft7 && matches!(at.kind, Kind::Array | Kind::Object) && self.random.one_in(2) {
            self.left = 4;
            self.unevaluated(at, &mut made);
            (0..1 + self.random.below(2)).for_each(|_| self.applicator(at, &mut made));
            if self.random.one_in(2) {
                self.assertion(at, true, &mut made);
            }
        }
        while made.0.is_empty() {
            self.assertion(at, true, &mut made);
        }
        made.0
    }

    pub(crate) fn keywords(&mut self, at: At) -> Vec<(String, Json)> {
        let mut made = Members::default();
        if self.random.percent(55) {
            made.put("type", self.type_of(at.kind));
        }
        let deep = at.depth > 0 && self.left > 0;
        for _ in 0..self.random.below(if deep { 4 } else { 3 }) {
            self.assertion(at, deep, &mut made);
        }
        if self.random.percent(12) {
            let kind = *self.random.pick(&KINDS);
            self.assertion(At { kind, ..at }, deep, &mut made);
        }
        if self.random.percent(8) {
            let (kind, count) = (at.kind, 1 + self.random.below(4));
            if self.random.percent(60) {
                made.put("enum", Json::Array((0..count).map(|_| self.value(kind, 2)).collect()));
            } else {
                made.put("const", self.value(kind, 2));
            }
        }
        if self.random.percent(20)
            && let Some((keyword, value)) = self.reference(at)
        {
            made.put(&keyword, value);
        }
        let mut in_place = made.has("$ref") || made.has("$dynamicRef");
        if deep && self.random.percent(40) {
            in_place = true;
            for _ in 0..1 + self.random.below(2) {
                self.applicator(at, &mut made);
            }
        }
        if deep
            && self.random.percent(if in_place { 40 } else { 8 })
            && (!self.draft7 || self.random.one_in(20))
        {
            self.unevaluated(at, &mut made);
        }
        if self.random.one_in(12) {
            let annotations =
                ["title", "default", "$comment", "examples", "readOnly", "x-unknown", "contentEncoding"];
            let value = match self.random.word(&annotations) {
                "readOnly" => ("readOnly", Json::Bool(true)),
                "default" => ("default", self.value(at.kind, 1)),
                "examples" => ("examples", Json::Array(vec![self.value(at.kind, 1)])),
                "x-unknown" => ("x-unknown", Json::Object(vec![("type".to_owned(), Json::number(1))])),
                "contentEncoding" => ("contentEncoding", Json::text("base64")),
                text => (text, Json::text("type")),
            };
            made.put(value.0, value.1);
        }
        made.0
    }

    fn unevaluated(&mut self, at: At, made: &mut Members) {
        match at.kind {
            Kind::Array => made.put("unevaluatedItems", self.closing(at)),
            Kind::Object => made.put("unevaluatedProperties", self.closing(at)),
            _ => {}
        }
    }

    /// What the rest of an array or object must be.
    fn closing(&mut self, at: At) -> Json {
        if self.random.percent(50) { Json::Bool(false) } else { self.part(at) }
    }

    fn type_of(&mut self, kind: Kind) -> Json {
        let mut names = vec![self.type_name(kind)];
        while self.random.one_in(4) {
            let kind = *self.random.pick(&KINDS);
            let name = self.type_name(kind);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() == 1 && !self.random.one_in(12) {
            return Json::text(names[0]);
        }
        Json::Array(names.into_iter().map(Json::text).collect())
    }

    fn type_name(&mut self, kind: Kind) -> &'static str {
        match kind {
            Kind::Null => "null",
            Kind::Boolean => "boolean",
            Kind::Number => self.random.word(&["integer", "number"]),
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }

    /// A keyword about values of a kind.
    fn assertion(&mut self, at: At, deep: bool, made: &mut Members) {
        match at.kind {
            Kind::Null | Kind::Boolean => {}
            Kind::Number => self.number_keyword(made),
            Kind::String => self.string_keyword(made),
            Kind::Array => self.array_keyword(at, deep, made),
            Kind::Object => self.object_keyword(at, deep, made),
        }
    }

    fn number_keyword(&mut self, made: &mut Members) {
        let low = Json::Number(number(self.random, -4));
        let high = Json::Number(number(self.random, -2));
        match self.random.below(8) {
            0 => made.put("minimum", low),
            1 | 2 => made.put("maximum", high),
            3 => made.put("exclusiveMinimum", low),
            4 | 5 => made.put("exclusiveMaximum", high),
            _ => made.put("multipleOf", Json::Number(self.random.word(FACTORS).to_owned())),
        }
    }

    fn string_keyword(&mut self, made: &mut Members) {
        match self.random.below(if self.formats { 7 } else { 5 }) {
            0 => made.put("minLength", Json::number(self.random.below(4))),
            1 => made.put("maxLength", Json::number(1 + self.random.below(5))),
            2 | 3 => {
                let pattern = self.pattern();
                made.put("pattern", Json::Text(pattern));
            }
            4 if self.random.percent(80) => {}
            _ => made.put("format", Json::text(self.random.pick(FORMATS).0)),
        }
    }

    fn pattern(&mut self) -> String {
        let pattern = pattern(self.random);
        let written = pattern.written.clone();
        self.patterns.insert(written.clone(), pattern);
        written
    }

    fn array_keyword(&mut self, at: At, deep: bool, made: &mut Members) {
        match self.random.below(if deep { 13 } else { 4 }) {
            0 => made.put("minItems", Json::number(self.random.below(3))),
            1 => made.put("maxItems", Json::number(1 + self.random.below(4))),
            2 | 3 => made.put("uniqueItems", Json::Bool(!self.random.one_in(8))),
            4 | 5 => made.put("items", self.part(at)),
            6..=8 => {
                let list = Json::Array((0..1 + self.random.below(3)).map(|_| self.part(at)).collect());
                // Each draft has to overlook the keyword of the other.
                let old = if self.random.one_in(12) { !self.draft7 } else { self.draft7 };
                made.put(if self.draft7 && old { "items" } else { "prefixItems" }, list);
                if self.random.percent(if self.draft7 { 80 } else { 45 }) {
                    let rest = self.closing(at);
                    made.put(if old { "additionalItems" } else { "items" }, rest);
                }
            }
            _ => {
                made.put("contains", self.part(at));
                if self.random.percent(if self.draft7 { 5 } else { 40 }) {
                    made.put("minContains", Json::number(self.random.below(3)));
                }
                if self.random.percent(if self.draft7 { 5 } else { 40 }) {
                    made.put("maxContains", Json::number(self.random.below(3)));
                }
            }
        }
    }

    fn object_keyword(&mut self, at: At, deep: bool, made: &mut Members) {
        let new = if self.random.one_in(12) { self.draft7 } else { !self.draft7 };
        match self.random.below(if deep { 16 } else { 4 }) {
            0 => made.put("minProperties", Json::number(self.random.below(3))),
            1 => made.put("maxProperties", Json::number(1 + self.random.below(4))),
            2 | 3 => made.put("required", self.names()),
            4..=7 => {
                let count =
                    if self.random.one_in(40) { 15 + self.random.below(40) } else { self.random.below(5) };
                let mut inside = Members::default();
                for number in 0..count {
                    let name = if count > 10 { format!("p{}", number * 7 % 64) } else { self.name() };
                    let schema = if count > 10 { Json::Bool(true) } else { self.part(at) };
                    inside.put(&name, schema);
                }
                made.put("properties", Json::Object(inside.0));
                if self.random.percent(30) {
                    made.put("additionalProperties", self.closing(at));
                }
            }
            8 | 9 => {
                let mut inside = Members::default();
                for _ in 0..1 + self.random.below(2) {
                    let pattern = self.pattern();
                    inside.put(&pattern, self.part(at));
                }
                made.put("patternProperties", Json::Object(inside.0));
                if self.random.percent(30) {
                    made.put("additionalProperties", self.closing(at));
                }
            }
            10 => made.put("additionalProperties", self.closing(at)),
            11 => {
                let kind = Kind::String;
                let schema = self.schema(At { depth: at.depth.saturating_sub(1), kind, inside: true, ..at });
                made.put("propertyNames", schema);
            }
            12 | 13 => {
                let inside = vec![(self.name(), self.names())];
                made.put(if new { "dependentRequired" } else { "dependencies" }, Json::Object(inside));
            }
            _ => {
                let inside = vec![(self.name(), self.here(at))];
                made.put(if new { "dependentSchemas" } else { "dependencies" }, Json::Object(inside));
            }
        }
    }

    fn applicator(&mut self, at: At, made: &mut Members) {
        match self.random.below(10) {
            0 | 1 => made.put("allOf", self.list(at)),
            2 | 3 => made.put("anyOf", self.list(at)),
            4 | 5 => made.put("oneOf", self.list(at)),
            6 | 7 => made.put("not", self.here(at)),
            _ => {
                if !self.random.one_in(20) {
                    made.put("if", self.here(at));
                }
                if self.random.percent(75) {
                    made.put("then", self.here(at));
                }
                if self.random.percent(75) {
                    made.put("else", self.here(at));
                }
            }
        }
    }

    fn list(&mut self, at: At) -> Json {
        Json::Array((0..1 + self.random.below(3)).map(|_| self.here(at)).collect())
    }

    fn name(&mut self) -> String {
        self.random.word(NAMES).to_owned()
    }

    fn names(&mut self) -> Json {
        let mut names = Vec::new();
        for _ in 0..(1 + self.random.below(2)) * usize::from(self.random.percent(90)) {
            let name = Json::Text(self.name());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Json::Array(names)
    }

    fn value(&mut self, kind: Kind, depth: usize) -> Json {
        value_of(self.random, kind, depth)
    }
}
