//! What the value of a keyword has to be, for the message that refuses one.

use super::source::{item_at, member_at, offset_in};
use crate::json::{Str, blanks};

/// What the value must be of the innermost keyword around an offset of a schema's text; nothing if there is no
/// keyword whose value can be wrong.
pub(super) fn wanted_at(text: &str, offset: usize) -> &'static str {
    let mut wanted = "";
    let mut at = text.len() - blanks(text.as_bytes()).len();
    // Of an object whose keys are names and not keywords.
    let mut names = false;
    while at < offset {
        let inner = match text.as_bytes().get(at) {
            Some(b'{') => {
                let mut next = at + 1;
                let found = core::iter::from_fn(|| {
                    let (key, value, end) = member_at(text, next)?;
                    next = end;
                    Some((key, value, end))
                })
                .find(|(_, _, end)| offset < *end);
                found.map(|(key, value, _)| {
                    let (known, holds_names) = if names { ("", false) } else { look_up(key) };
                    wanted = if known.is_empty() { wanted } else { known };
                    names = holds_names;
                    value
                })
            }
            Some(b'[') => {
                let mut next = at + 1;
                let mut items = core::iter::from_fn(|| {
                    let (item, end) = item_at(text, next)?;
                    next = end;
                    Some((item, end))
                });
                items.find(|(_, end)| offset < *end).map(|(item, _)| item)
            }
            _ => None,
        };
        match inner.map(|value| offset_in(text, value.raw())) {
            Some(start) if start <= offset && start > at => at = start,
            _ => break,
        }
    }
    wanted
}

/// What the value of a keyword has to be, and whether the keys in it are names.
fn look_up(key: Str<'_>) -> (&'static str, bool) {
    for (keywords, wanted, names) in WANTED {
        if keywords.iter().any(|keyword| key.eq_str(keyword)) {
            return (wanted, *names);
        }
    }
    ("", false)
}

const WANTED: &[(&[&str], &str, bool)] = &[
    (&["type"], "the name of a type, or an array of such names that is not empty", false),
    (
        &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
        "an object of schemas",
        true,
    ),
    (&["required"], "an array of strings", false),
    (&["items"], "a schema; in draft 2020-12 an array of schemas belongs to \"prefixItems\"", false),
    (&["prefixItems"], "an array of schemas", false),
    (&["allOf", "anyOf", "oneOf"], "an array of schemas that is not empty", false),
    (&["enum"], "an array", false),
    (&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], "a number", false),
    (&["multipleOf"], "a number above 0", false),
    (
        &[
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minContains",
            "maxContains",
            "minProperties",
            "maxProperties",
        ],
        "a non-negative integer",
        false,
    ),
    (&["uniqueItems"], "a boolean", false),
    (&["$ref", "$dynamicRef"], "a string that is a URI reference", false),
    (
        &[
            "pattern",
            "format",
            "title",
            "description",
            "$comment",
            "$schema",
            "$id",
            "$anchor",
            "$dynamicAnchor",
        ],
        "a string",
        false,
    ),
    (&["dependentRequired"], "an object of arrays of strings", true),
    (&["dependencies"], "an object of schemas and arrays of strings", true),
];
