//! Disagreements that are explained: `explained.txt` says what the reason of each is, this file what it is exactly.
//!
//! An explanation changes the schema or the instance so that the reason is gone, for the side that does not follow
//! the specification or for both. A disagreement is explained if there is none after the change.

use super::json::Json;
use super::places::{at, at_mut, schemas, values};
use super::schemas::Made;
use super::verdicts::{Ours, Theirs};

/// A schema and an instance, as either side reads them.
#[derive(Clone)]
pub(crate) struct Sides {
    pub(crate) ours: (Json, Json),
    pub(crate) theirs: (Json, Json),
}

impl Sides {
    pub(crate) fn new(schema: &Json, instance: &Json) -> Sides {
        let both = (schema.clone(), instance.clone());
        Sides { ours: both.clone(), theirs: both }
    }

    /// The verdicts, if both take the schema.
    pub(crate) fn verdicts(&self, made: &Made) -> Option<(bool, bool)> {
        let ours = Ours::once(self.ours.0.plain(), made.draft7, made.formats).ok()?;
        let theirs = Theirs::new(&self.theirs.0.plain(), made.draft7, made.formats).ok()?;
        Some((ours.verdict(&self.ours.1.plain())?, theirs.verdict(&self.theirs.1.plain())))
    }

    pub(crate) fn differ(&self, made: &Made) -> bool {
        self.verdicts(made).is_some_and(|(ours, theirs)| ours != theirs)
    }

    fn agree(&self, made: &Made) -> bool {
        self.verdicts(made).is_some_and(|(ours, theirs)| ours == theirs)
    }
}

type Change = fn(&mut Sides, &Made);

/// Every explanation by its name in `explained.txt`.
pub(crate) const EXPLANATIONS: &[(&str, Change)] = &[
    ("doubles", |sides, _| {
        for side in [&mut sides.ours, &mut sides.theirs] {
            *side = (side.0.rounded(), side.1.rounded());
        }
    }),
    ("large-multiples", |sides, _| {
        let mut large = false;
        for path in values(&sides.ours.1) {
            large |=
                at(&sides.ours.1, &path).as_f64().is_some_and(|number| number.abs() >= (1_u64 << 53) as f64);
        }
        if large {
            for side in [&mut sides.ours, &mut sides.theirs] {
                each_keyword(&mut side.0, |keyword, _| {
                    if keyword == "multipleOf" {
                        "x-multiple".clone_into(keyword);
                    }
                });
            }
        }
    }),
    ("unicode-words", |sides, made| {
        each_keyword(&mut sides.theirs.0, |keyword, value| match (keyword.as_str(), value) {
            ("pattern", Json::Text(pattern)) => *pattern = made.patterns[pattern].explicit.clone(),
            ("patternProperties", Json::Object(members)) => {
                members.iter_mut().for_each(|(name, _)| *name = made.patterns[name].explicit.clone());
            }
            _ => {}
        });
    }),
    ("new-formats", |sides, made| {
        each_keyword(&mut sides.ours.0, |keyword, value| {
            if made.draft7 && keyword == "format" && matches!(value.as_text(), Some("uuid" | "duration")) {
                *value = Json::text("unknown");
            }
        });
    }),
    ("plain-anchors", |sides, made| {
        each_keyword(&mut sides.theirs.0, |keyword, value| {
            if keyword == "$ref"
                && let Some(plain) = value.as_text().and_then(|text| made.pointers.get(text))
            {
                *value = Json::text(plain.clone());
            }
        });
    }),
    ("old-dependencies", |sides, made| {
        if made.draft7 {
            return;
        }
        for path in schemas(&sides.theirs.0) {
            let Json::Object(members) = at_mut(&mut sides.theirs.0, &path) else { continue };
            let new = members.iter().any(|(keyword, _)| keyword == "dependentSchemas");
            for (keyword, value) in members {
                let schemas = value.members().iter().all(|(_, member)| !matches!(member, Json::Array(_)));
                if keyword == "dependencies" && schemas && !new {
                    "dependentSchemas".clone_into(keyword);
                }
            }
        }
    }),
    ("a-labels", |sides, made| {
        if made.formats {
            for side in [&mut sides.ours, &mut sides.theirs] {
                each_text(&mut side.1, &|text| text.replace("xn--", "xn-"));
            }
        }
    }),
    ("lone-braces", |sides, made| {
        if made.formats {
            each_text(&mut sides.theirs.1, &|text| match text.split_once('{') {
                Some((before, after)) if !after.contains('}') => format!("{before}\\{{{after}"),
                _ => text.to_owned(),
            });
        }
    }),
];

/// What the committed list says of an explanation.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// It need not occur.
    pub(crate) rare: bool,
}

/// The entries of `explained.txt`: a line for each, `name | often or rare | reason | where the rule stands`.
pub(crate) fn entries() -> Vec<Entry> {
    let lines =
        include_str!("explained.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split('|').map(str::trim).collect();
            let [name, how_often, reason, rule] = columns[..] else { panic!("explained.txt: {line}") };
            assert!(
                matches!(how_often, "often" | "rare") && !reason.is_empty() && !rule.is_empty(),
                "{line}"
            );
            Entry { name, rare: how_often == "rare" }
        })
        .collect()
}

/// The number of the explanation of a disagreement; their count if it takes more than one.
pub(crate) fn explain(made: &Made, schema: &Json, instance: &Json) -> Option<usize> {
    let mut all = Sides::new(schema, instance);
    for (number, (_, change)) in EXPLANATIONS.iter().enumerate() {
        let mut sides = Sides::new(schema, instance);
        change(&mut sides, made);
        if sides.agree(made) {
            return Some(number);
        }
        change(&mut all, made);
    }
    all.agree(made).then_some(EXPLANATIONS.len())
}

/// Does something with each keyword of all schemas.
fn each_keyword(root: &mut Json, mut change: impl FnMut(&mut String, &mut Json)) {
    for path in schemas(root) {
        if let Json::Object(members) = at_mut(root, &path) {
            members.iter_mut().for_each(|(keyword, value)| change(keyword, value));
        }
    }
}

/// Changes every text in a value, but for names.
fn each_text(root: &mut Json, change: &impl Fn(&str) -> String) {
    for path in values(root) {
        if let Json::Text(text) = at_mut(root, &path) {
            *text = change(text);
        }
    }
}
