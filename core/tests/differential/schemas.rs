//! Random schemas of every keyword of both drafts, made so that a good part of them can be fulfilled: most keywords
//! in one place are about the same type, and a reference has somewhere to lead.

use std::collections::BTreeMap;

use super::json::Json;
use super::pattern::Pattern;
use super::random::Random;
use super::values::{KINDS, Kind};

/// A schema and what is known of it.
pub(crate) struct Made {
    pub(crate) schema: Json,
    pub(crate) draft7: bool,
    pub(crate) formats: bool,
    /// Its patterns as they are written.
    pub(crate) patterns: BTreeMap<String, Pattern>,
    /// The name of the definition that a reference leads to; none for the root.
    pub(crate) targets: BTreeMap<String, Option<String>>,
    /// References by the name of a dynamic anchor, and the same without.
    pub(crate) pointers: BTreeMap<String, String>,
}

/// Where a definition stands.
#[derive(Clone, Copy, PartialEq)]
enum Home {
    /// Among the definitions.
    Defs,
    /// Inside of a definition.
    Inside,
    /// Under a keyword that does not exist.
    Elsewhere,
}

/// A schema that references lead to.
struct Definition {
    name: &'static str,
    home: Home,
    id: bool,
    anchor: bool,
    dynamic: bool,
}

/// What may stand in a place.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) depth: usize,
    /// The resource around: a definition that has an identifier of its own, or the document.
    pub(crate) resource: Option<usize>,
    /// Definitions before this one must not be referred to in place, lest they come back here without progress.
    pub(crate) floor: usize,
    /// The value is a part of the one that the root applies to.
    pub(crate) inside: bool,
    pub(crate) kind: Kind,
}

const ROOT: &str = "https://example.test/root";

pub(crate) struct Builder<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) draft7: bool,
    pub(crate) formats: bool,
    named: bool,
    /// Schemas that may still be made.
    pub(crate) left: usize,
    definitions: Vec<Definition>,
    pub(crate) patterns: BTreeMap<String, Pattern>,
    targets: BTreeMap<String, Option<String>>,
    pointers: BTreeMap<String, String>,
    /// Members of the document under a keyword that does not exist.
    elsewhere: Vec<(String, Json)>,
}

pub(crate) fn make(random: &mut Random) -> Made {
    let (draft7, formats, named) = (random.percent(40), random.percent(30), random.percent(50));
    let count = if random.percent(45) { 1 + random.below(3) } else { 0 };
    let definitions = (0..count)
        .map(|number| {
            let home = match random.below(6) {
                0 => Home::Inside,
                1 => Home::Elsewhere,
                _ => Home::Defs,
            };
            let known = home == Home::Defs;
            Definition {
                name: ["d0", "a/b", "m~n %é"][number],
                home,
                id: known && named && random.percent(40),
                anchor: known && random.percent(40),
                dynamic: known && !draft7 && random.percent(40),
            }
        })
        .collect();
    // Small ones, in which each keyword is likely to decide, and some that are large.
    let left = if random.percent(65) { 1 + random.below(5) } else { 6 + random.below(25) };
    let mut builder = Builder {
        random,
        draft7,
        formats,
        named,
        left,
        definitions,
        patterns: BTreeMap::new(),
        targets: BTreeMap::new(),
        pointers: BTreeMap::new(),
        elsewhere: Vec::new(),
    };
    let schema = builder.root();
    Made {
        schema,
        draft7,
        formats,
        patterns: builder.patterns,
        targets: builder.targets,
        pointers: builder.pointers,
    }
}

impl Builder<'_> {
    fn root(&mut self) -> Json {
        let kind = *self.random.pick(&KINDS[2..]);
        let at = At { depth: 4, resource: None, floor: 0, inside: false, kind };
        let mut members = if self.random.one_in(4) { self.assertions(at) } else { self.keywords(at) };
        if self.draft7 && self.named && members.iter().any(|(keyword, _)| keyword == "$ref") {
            // A reference would cancel the identifier beside it, and definitions are looked for by it.
            let reference = Json::Object(std::mem::take(&mut members));
            members.push(("allOf".to_owned(), Json::Array(vec![reference])));
        }
        if self.random.one_in(3) {
            // What made it invalid makes it valid.
            let refused = Json::Object(std::mem::take(&mut members));
            members.push(("not".to_owned(), refused));
        }
        let mut put = |keyword: &str, value| members.push((keyword.to_owned(), value));
        if self.named {
            put("$id", Json::text(ROOT));
        }
        if self.definitions.iter().any(|definition| definition.dynamic) && self.random.percent(70) {
            put("$dynamicAnchor", Json::text("node"));
        }
        if self.random.percent(50) {
            let draft = if self.draft7 {
                "http://json-schema.org/draft-07/schema#"
            } else {
                "https://json-schema.org/draft/2020-12/schema"
            };
            put("$schema", Json::text(draft));
        }
        let defs = self.definitions();
        if !defs.is_empty() {
            put(self.defs_keyword(), Json::Object(defs));
        }
        if !self.elsewhere.is_empty() {
            put("x-more", Json::Object(std::mem::take(&mut self.elsewhere)));
        }
        Json::Object(members)
    }

    fn defs_keyword(&self) -> &'static str {
        if self.draft7 { "definitions" } else { "$defs" }
    }

    fn definitions(&mut self) -> Vec<(String, Json)> {
        let mut defs = Vec::new();
        for number in 0..self.definitions.len() {
            let Definition { name, home, id, anchor, dynamic } = self.definitions[number];
            self.left = self.left.max(3);
            let kind = *self.random.pick(&KINDS[4..]);
            let resource = id.then_some(number);
            let at = At { depth: 3, resource, floor: number + 1, inside: false, kind };
            let mut members = self.keywords(at);
            if self.draft7 && (id || anchor) && members.iter().any(|(keyword, _)| keyword == "$ref") {
                let reference = Json::Object(std::mem::take(&mut members));
                members.push(("allOf".to_owned(), Json::Array(vec![reference])));
            }
            let mut put =
                |keyword: &str, value: String| members.push((keyword.to_owned(), Json::text(value)));
            match (id, anchor, self.draft7) {
                (true, _, _) => put("$id", format!("d{number}")),
                (_, true, true) => put("$id", format!("#a{number}")),
                _ => {}
            }
            if anchor && !self.draft7 {
                put("$anchor", format!("a{number}"));
            }
            if dynamic {
                put("$dynamicAnchor", if id { "node".to_owned() } else { format!("n{number}") });
            }
            let schema = Json::Object(members);
            match home {
                Home::Defs => defs.push((name.to_owned(), schema)),
                Home::Inside => {
                    let inside = Json::Object(vec![("a b".to_owned(), schema)]);
                    let outer = Json::Object(vec![("properties".to_owned(), inside)]);
                    defs.push((name.to_owned(), outer));
                }
                Home::Elsewhere => self.elsewhere.push((name.to_owned(), schema)),
            }
        }
        defs
    }

    /// A reference from a place, if there is something to refer to.
    pub(crate) fn reference(&mut self, at: At) -> Option<(String, Json)> {
        let first = if at.inside { 0 } else { at.floor };
        let count = self.definitions.len() - first.min(self.definitions.len());
        let root = usize::from(at.inside);
        if count + root == 0 {
            return None;
        }
        let number = self.random.below(count + root);
        if number == count {
            let base = at.resource.map_or("", |_| "root");
            let dynamic = !self.draft7 && self.random.percent(75);
            let owner = self.definitions.iter().position(|definition| definition.dynamic && definition.id);
            let (keyword, text) = match owner {
                Some(owner) if dynamic => ("$dynamicRef", format!("d{owner}#node")),
                _ => ("$ref", format!("{base}#")),
            };
            self.targets.insert(text.clone(), None);
            return Some((keyword.to_owned(), Json::text(text)));
        }
        let number = first + number;
        let definition = &self.definitions[number];
        let same = at.resource.is_none();
        let document = if same { "" } else { "root" };
        let pointer = definition
            .name
            .replace('~', "~0")
            .replace('/', "~1")
            .replace('%', "%25")
            .replace(' ', "%20")
            .replace('é', "%C3%A9");
        let mut ways: Vec<(&str, String)> = Vec::new();
        match definition.home {
            Home::Defs => {
                ways.push(("$ref", format!("{document}#/{}/{pointer}", self.defs_keyword())));
            }
            Home::Inside => {
                let inside = format!("{document}#/{}/{pointer}/properties/a%20b", self.defs_keyword());
                ways.push(("$ref", inside));
            }
            Home::Elsewhere => ways.push(("$ref", format!("{document}#/x-more/{pointer}"))),
        }
        if definition.id {
            ways.push(("$ref", format!("d{number}")));
            ways.push(("$ref", format!("https://example.test/d{number}#")));
        }
        let local = match (definition.id, at.resource == Some(number)) {
            (true, true) => String::new(),
            (true, false) => format!("d{number}"),
            (false, _) => document.to_owned(),
        };
        if definition.anchor && !(self.draft7 && definition.id) {
            ways.push(("$ref", format!("{local}#a{number}")));
        }
        if definition.dynamic {
            let name = if definition.id { "node".to_owned() } else { format!("n{number}") };
            let reference = format!("{local}#{name}");
            let plain = if definition.id { format!("{local}#") } else { ways[0].1.clone() };
            self.pointers.insert(reference.clone(), plain);
            ways.push(("$ref", reference));
            // One that can lead elsewhere may come back here without progress.
            if at.inside || !definition.id {
                ways.push(("$dynamicRef", format!("{local}#{name}")));
                ways.push(("$dynamicRef", format!("{local}#{name}")));
            }
        }
        let (keyword, text) = self.random.pick(&ways).clone();
        self.targets.insert(text.clone(), Some(definition.name.to_owned()));
        Some((keyword.to_owned(), Json::text(text)))
    }
}
