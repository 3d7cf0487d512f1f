//! The smallest schema and instance that still show something.

use super::json::Json;
use super::places::{at, at_mut, values, without};

/// Takes away from both as long as `shows` holds.
pub(crate) fn minimise(
    mut schema: Json,
    mut instance: Json,
    shows: impl Fn(&Json, &Json) -> bool,
) -> (Json, Json) {
    loop {
        let smaller = smaller(&schema).into_iter().find(|smaller| shows(smaller, &instance));
        if let Some(smaller) = smaller {
            schema = smaller;
            continue;
        }
        match smaller_values(&instance).into_iter().find(|smaller| shows(&schema, smaller)) {
            Some(smaller) => instance = smaller,
            None => return (schema, instance),
        }
    }
}

/// Copies that are smaller: without a member or an item somewhere, or with `true` for a schema.
fn smaller(root: &Json) -> Vec<Json> {
    let mut copies = Vec::new();
    for path in values(root) {
        let value = at(root, &path);
        let count = value.children().count();
        if matches!(value, Json::Object(members) if !members.is_empty()) && !path.is_empty() {
            copies.push(replaced(root, &path, Json::Bool(true)));
            copies.push(replaced(root, &path, Json::Object(Vec::new())));
        }
        copies.extend((0..count).map(|child| without(root, &path, child)));
    }
    copies
}

fn smaller_values(root: &Json) -> Vec<Json> {
    let mut copies = Vec::new();
    for path in values(root) {
        let value = at(root, &path);
        let count = value.children().count();
        if count > 0 {
            copies.push(replaced(root, &path, Json::Null));
        }
        copies.extend((0..count).map(|child| without(root, &path, child)));
    }
    copies
}

fn replaced(root: &Json, path: &[usize], value: Json) -> Json {
    let mut copy = root.clone();
    *at_mut(&mut copy, path) = value;
    copy
}
