//! The schemas of real servers and of recorded traffic in every subset.

use super::subsets::check;
use super::{ALL, read, try_lower};
use serde_json::Value as Json;
use std::io::Write as _; // the runner hides what passing tests print
use toolcore::schema::{ChangeKind, StrictProblemKind};

/// Every schema of a tool in `../shared`, with where it is from.
pub(super) fn schemas(test: &str) -> Vec<(String, Json)> {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let mut found = Vec::new();
    for folder in ["mcp-tools", "traffic"] {
        let Ok(files) = std::fs::read_dir(format!("{shared}/{folder}")) else {
            let line = format!("skipped: {test}: ../shared is absent\n");
            std::io::stderr().write_all(line.as_bytes()).ok();
            return Vec::new();
        };
        for file in files {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            match path.extension().and_then(|end| end.to_str()) {
                Some("json") => gather(&name, &read(&text), &mut found),
                Some("jsonl") => {
                    text.lines().for_each(|line| gather(&name, &read(line)["tools"], &mut found))
                }
                _ => {}
            }
        }
    }
    found.sort_by_key(|(name, schema)| (name.clone(), schema.to_string()));
    found.dedup();
    found
}

fn gather(from: &str, value: &Json, found: &mut Vec<(String, Json)>) {
    let names =
        ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"];
    match value {
        Json::Array(items) => items.iter().for_each(|item| gather(from, item, found)),
        Json::Object(members) => {
            for (key, member) in members {
                if names.contains(&key.as_str()) && member.is_object() {
                    let schema = member.get("json").unwrap_or(member);
                    // Those in the upper-case form are of another language.
                    if !schema.to_string().contains("\"OBJECT\"") {
                        found.push((from.into(), schema.clone()));
                    }
                } else {
                    gather(from, member, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_real_schema_fits_every_subset_or_says_why_not() {
    let schemas = schemas("every_real_schema_fits_every_subset_or_says_why_not");
    let mut refused = Vec::new();
    for (from, schema) in &schemas {
        let text = schema.to_string();
        for (name, subset) in ALL {
            match try_lower(&text, &subset) {
                Ok((lowered, notes)) => {
                    let lowered = read(&lowered);
                    check(name, &lowered);
                    covered(&text, schema, &lowered, &notes);
                    if name != "gemini_schema" {
                        idempotent(name, &lowered);
                    }
                }
                Err((path, kind)) => {
                    assert!(name.ends_with("strict"), "{name} refuses {from}: {text}");
                    let expected = match kind {
                        StrictProblemKind::NotClosed | StrictProblemKind::Untyped => true,
                        StrictProblemKind::Recursion => name == "anthropic, strict",
                        // Of the recorded schemas, one asks for items that differ.
                        StrictProblemKind::Keyword => path.ends_with("/uniqueItems"),
                        _ => false,
                    };
                    assert!(expected, "{name} refuses {from} at {path}: {kind:?}: {text}");
                    refused.push((name, path));
                }
            }
        }
    }
    println!("{} schemas, {} refusals", schemas.len(), refused.len());
    assert!(schemas.is_empty() || schemas.len() > 100, "{}", schemas.len());
}

/// Lowering once more changes nothing.
fn idempotent(name: &str, lowered: &Json) {
    let text = lowered.to_string();
    let (_, subset) = ALL.into_iter().find(|(known, _)| *known == name).unwrap();
    let (again, notes) = try_lower(&text, &subset).unwrap_or_else(|why| panic!("{name}: {why:?}: {text}"));
    assert_eq!((read(&again), notes), (lowered.clone(), Vec::new()), "{name}");
}

/// Holds a lowering to its notes: where the schemas differ, there is a note at the place or at one above or
/// inside it.
pub(super) fn covered(text: &str, schema: &Json, lowered: &Json, notes: &super::Notes) {
    let mut places = Vec::new();
    differ("", schema, lowered, &mut places);
    for place in places {
        let told = notes.iter().any(|(path, kind)| {
            // What is about one type stands in its branch.
            let path = match kind {
                ChangeKind::TypesToAnyOf => path.trim_end_matches("/type").split("/allOf/").next().unwrap(),
                // What is put in is about the schema that the reference or the list stands in.
                ChangeKind::Inlined | ChangeKind::Merged => path.rsplit_once('/').map_or("", |(up, _)| up),
                _ => path,
            };
            let inside = |outer: &str, inner: &str| {
                inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
            };
            path == place || inside(path, &place) && !path.is_empty() || inside(&place, path)
        });
        assert!(told, "nothing is said of {place}:\n{text}\n{lowered}\n{notes:?}");
    }
}

/// The places where two schemas differ, types in upper case apart.
fn differ(path: &str, schema: &Json, lowered: &Json, places: &mut Vec<String>) {
    match (schema, lowered) {
        (Json::Object(schema), Json::Object(lowered)) => {
            let keys: std::collections::BTreeSet<&String> = schema.keys().chain(lowered.keys()).collect();
            for key in keys {
                let inner = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                match (schema.get(key), lowered.get(key)) {
                    (Some(schema), Some(lowered)) => differ(&inner, schema, lowered, places),
                    // What was moved is told at its own place.
                    (None, Some(_)) if key == "description" => {}
                    (None, Some(_)) => places.push(path.into()),
                    _ => places.push(inner),
                }
            }
        }
        (Json::Array(schema), Json::Array(lowered)) if schema.len() == lowered.len() => {
            for (number, (schema, lowered)) in schema.iter().zip(lowered).enumerate() {
                differ(&format!("{path}/{number}"), schema, lowered, places);
            }
        }
        (Json::String(name), Json::String(lowered)) if name.to_uppercase() == *lowered => {}
        (Json::String(name), Json::String(lowered))
            if path.ends_with("/description") && lowered.starts_with(name) => {}
        // The schema that accepts everything has two forms.
        (Json::Bool(true), Json::Object(lowered)) if lowered.is_empty() => {}
        _ if schema == lowered => {}
        _ if path.ends_with("/required") => {
            places.push(path.rsplit_once('/').map_or("", |(up, _)| up).into())
        }
        _ => places.push(path.into()),
    }
}
