//! Where the schemas are in a schema, and copies of it in which something is different.

use super::json::Json;

/// What the value of a keyword is made of.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// No schemas.
    Value,
    Schema,
    List,
    Map,
    /// A schema, or a list of them.
    Either,
    /// A map of schemas and of lists of names.
    Mixed,
}

/// The shape of a keyword's value.
pub(crate) fn shape(keyword: &str) -> Shape {
    match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "additionalProperties"
        | "additionalItems"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::List,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" | "x-more" => {
            Shape::Map
        }
        "items" => Shape::Either,
        "dependencies" => Shape::Mixed,
        _ => Shape::Value,
    }
}

/// The way from a value to one inside, by the numbers of items and members.
pub(crate) type Path = Vec<usize>;

/// The paths of the schemas in a schema, its own first.
pub(crate) fn schemas(root: &Json) -> Vec<Path> {
    let mut found = vec![Path::new()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        for (number, (keyword, value)) in at(root, &path).members().iter().enumerate() {
            let inside = |rest: &[usize]| [path.as_slice(), &[number], rest].concat();
            match (shape(keyword), value) {
                (Shape::Schema, _) | (Shape::Either, Json::Object(_) | Json::Bool(_)) => {
                    found.push(inside(&[]))
                }
                (Shape::List | Shape::Either, _) => {
                    found.extend((0..value.items().len()).map(|item| inside(&[item])));
                }
                (Shape::Map | Shape::Mixed, _) => {
                    let members = value.members().iter().enumerate();
                    let schemas = members.filter(|(_, (_, member))| !matches!(member, Json::Array(_)));
                    found.extend(schemas.map(|(member, _)| inside(&[member])));
                }
                (Shape::Value, _) => {}
            }
        }
    }
    found
}

pub(crate) fn at<'j>(root: &'j Json, path: &[usize]) -> &'j Json {
    path.iter().fold(root, |value, number| value.children().nth(*number).unwrap())
}

pub(crate) fn at_mut<'j>(root: &'j mut Json, path: &[usize]) -> &'j mut Json {
    path.iter().fold(root, |value, number| value.children_mut().swap_remove(*number))
}

/// A copy without one member of the object at a path.
pub(crate) fn without(root: &Json, path: &[usize], member: usize) -> Json {
    let mut copy = root.clone();
    match at_mut(&mut copy, path) {
        Json::Object(members) => drop(members.remove(member)),
        Json::Array(items) => drop(items.remove(member)),
        _ => {}
    }
    copy
}

/// The paths of all values in a value, its own first.
pub(crate) fn values(root: &Json) -> Vec<Path> {
    let mut found = vec![Path::new()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        let count = at(root, &path).children().count();
        found.extend((0..count).map(|child| [path.as_slice(), &[child]].concat()));
    }
    found
}
