//! Which keywords decide verdicts: those without which the verdict is another one.

use std::collections::BTreeMap;

use super::json::Json;
use super::places::{at, schemas, without};
use super::schemas::Made;
use super::verdicts::Ours;

/// How often a keyword made an instance invalid, and valid.
#[derive(Default)]
pub(crate) struct Decided(pub(crate) BTreeMap<String, [u64; 2]>);

impl Decided {
    /// Takes away each keyword of the schema on its own, and tries the instances again.
    pub(crate) fn note(&mut self, made: &Made, verdicts: &[(String, bool)]) {
        for path in schemas(&made.schema) {
            for (number, (keyword, value)) in at(&made.schema, &path).members().iter().enumerate() {
                let schema = without(&made.schema, &path, number).plain();
                // Without a definition the references to it lead nowhere.
                let Ok(ours) = Ours::once(schema, made.draft7, made.formats) else { continue };
                for (instance, verdict) in verdicts {
                    if ours.verdict(instance) == Some(!verdict) {
                        let counts = self.0.entry(name_of(keyword, value)).or_default();
                        counts[usize::from(*verdict)] += 1;
                    }
                }
            }
        }
    }

    pub(crate) fn add(&mut self, other: Decided) {
        for (name, counts) in other.0 {
            let sum = self.0.entry(name).or_default();
            sum[0] += counts[0];
            sum[1] += counts[1];
        }
    }

    /// How often the keyword decided, the rarer way of the two.
    pub(crate) fn both_ways(&self, keyword: &str) -> u64 {
        self.0.get(keyword).map_or(0, |counts| counts[0].min(counts[1]))
    }
}

/// A keyword, and of a reference also what it looks like.
fn name_of(keyword: &str, value: &Json) -> String {
    let form = match (keyword, value) {
        ("$ref", Json::Text(text)) if text.ends_with('#') && !text.contains("://") => " to the whole",
        ("$ref", Json::Text(text)) if text.contains("#/") => " by pointer",
        ("$ref", Json::Text(text)) if text.contains('#') && !text.ends_with('#') => " by anchor",
        ("$ref", _) => " by identifier",
        ("items", Json::Array(_)) => " of draft 7",
        _ => "",
    };
    format!("{keyword}{form}")
}

/// Every keyword that can decide something.
pub(crate) const KEYWORDS: &[&str] = &[
    "$dynamicRef",
    "$ref by anchor",
    "$ref by identifier",
    "$ref by pointer",
    "$ref to the whole",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "items of draft 7",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];
