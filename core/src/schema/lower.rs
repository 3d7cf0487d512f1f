//! A schema as a provider takes it, and whether a provider can hold a model to it.
//!
//! Only schema positions are touched: what stands in `enum`, `const`, `default`, `examples` or an unknown
//! keyword is data and goes out as it is. Local checks always use the original text.
//!
//! Today's changes: an object schema without `properties` gets an empty one, and a root without `type` gets
//! `"type":"object"`, since OpenAI and Anthropic refuse tools without them. Lowering to a narrower subset
//! comes with the dialects that need it.

use crate::json::{Event, Kind, MAX_DEPTH, Options, Reader, Str, Value, Writer};

/// A change that was made to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The object schema at this byte got empty `properties`.
    PropertiesAdded {
        /// Where the schema begins.
        offset: usize,
    },
    /// The root got `"type":"object"`.
    TypeAdded,
}

/// What a provider's strict mode demands of a schema.
#[derive(Clone, Copy, Debug)]
pub struct StrictSubset {
    /// Every property has to be in `required`.
    pub all_required: bool,
    /// Keywords that strict mode does not know.
    pub refused: &'static [&'static str],
}

/// Why a schema does not fit a strict subset, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("{kind} (byte {offset} of the schema)")]
pub struct StrictProblem {
    /// What is wrong.
    pub kind: StrictProblemKind,
    /// Where in the schema's text.
    pub offset: usize,
}
impl core::error::Error for StrictProblem {}

/// Why a schema does not fit a strict subset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum StrictProblemKind {
    /// An object accepts properties that are not declared.
    #[error("the object is not closed; set additionalProperties to false")]
    NotClosed,
    /// A property may be left out.
    #[error("the property is optional; put it in required and let it be null")]
    Optional,
    /// The keyword is unknown to strict mode.
    #[error("the keyword is not part of the strict subset")]
    Keyword,
    /// An object has more properties than any provider takes.
    #[error("the object has more than 5,000 properties")]
    TooMany,
}
impl core::error::Error for StrictProblemKind {}

/// Writes `schema` (one that was compiled) as providers take it; each change is told to `changed`.
pub fn write_lowered(schema: &str, out: &mut Writer<'_, '_>, changed: &mut dyn FnMut(Change)) {
    if !schema.trim_start().starts_with('{') {
        // `true`: any object.
        changed(Change::TypeAdded);
        out.raw("{\"type\":\"object\",\"properties\":{}}");
        return;
    }
    walk(schema, &mut |step| match step {
        Step::Node { value, offset, root } => {
            out.object_start();
            let kind = value.get("type");
            if root && kind.is_none() {
                out.key("type");
                out.string("object");
                changed(Change::TypeAdded);
            }
            let object = kind.map_or(root, |kind| names_object(kind));
            if object && value.get("properties").is_none() {
                out.key("properties");
                out.object_start();
                out.object_end();
                changed(Change::PropertiesAdded { offset });
            }
            true
        }
        Step::Start(Kind::Object) => {
            out.object_start();
            true
        }
        Step::Start(_) => {
            out.array_start();
            true
        }
        Step::End(Kind::Object) => {
            out.object_end();
            true
        }
        Step::End(_) => {
            out.array_end();
            true
        }
        Step::Key { key, .. } => {
            out.key_str(key);
            true
        }
        Step::Raw(value) => {
            out.value(value);
            true
        }
    });
}

/// The first misfit of a compiled `schema` with a strict subset, or `None` if it fits.
pub fn strict_problem(schema: &str, subset: &StrictSubset) -> Option<StrictProblem> {
    let mut problem = None;
    walk(schema, &mut |step| {
        problem = match step {
            Step::Node { value, offset, root } => node_problem(value, offset, root, schema, subset),
            Step::Key { key, offset, keyword: true }
                if subset.refused.iter().any(|refused| key == *refused) =>
            {
                Some(StrictProblem { kind: StrictProblemKind::Keyword, offset })
            }
            _ => None,
        };
        problem.is_none()
    });
    problem
}

fn node_problem(
    node: Value<'_>,
    offset: usize,
    root: bool,
    schema: &str,
    subset: &StrictSubset,
) -> Option<StrictProblem> {
    let properties = node.get("properties");
    if !(root || properties.is_some() || node.get("type").is_some_and(names_object)) {
        return None;
    }
    if node.get("additionalProperties").and_then(Value::as_bool) != Some(false) {
        return Some(StrictProblem { kind: StrictProblemKind::NotClosed, offset });
    }
    if !subset.all_required {
        return None;
    }
    let required = node.get("required");
    for (count, (name, value)) in properties.into_iter().flat_map(Value::entries).enumerate() {
        let at = (value.raw().as_ptr() as usize).wrapping_sub(schema.as_ptr() as usize);
        if count >= MAX_PROPERTIES {
            return Some(StrictProblem { kind: StrictProblemKind::TooMany, offset });
        }
        let mut names = required.into_iter().flat_map(Value::items).filter_map(Value::as_str);
        if !names.any(|required| required == name) {
            return Some(StrictProblem { kind: StrictProblemKind::Optional, offset: at });
        }
    }
    None
}

/// The most properties of one object that any provider's strict mode takes.
const MAX_PROPERTIES: usize = 5000;

/// Whether the value of a `type` keyword is or lists `object`.
fn names_object(kind: Value<'_>) -> bool {
    let is = |value: Value<'_>| value.as_str().is_some_and(|name| name == "object");
    is(kind) || kind.items().any(is)
}

/// What a walk over a schema meets.
pub(super) enum Step<'s> {
    /// An object schema begins.
    Node { value: Value<'s>, offset: usize, root: bool },
    /// A map or a list of schemas begins.
    Start(Kind),
    /// An object schema, a map or a list of schemas ends.
    End(Kind),
    /// A key; `keyword` if it is one of a schema, else it is a name.
    Key { key: Str<'s>, offset: usize, keyword: bool },
    /// A value that is no schema, or a boolean schema.
    Raw(Value<'s>),
}

/// What stands at a place of a schema's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Schema,
    Map,
    List,
    Data,
}

impl Place {
    /// Where the value of a keyword leads.
    fn of(keyword: Str<'_>) -> Self {
        let any = |names: &[&str]| names.iter().any(|name| keyword == *name);
        if any(&[
            "properties",
            "$defs",
            "definitions",
            "patternProperties",
            "dependentSchemas",
            "dependencies",
        ]) {
            Place::Map
        } else if any(&["allOf", "anyOf", "oneOf", "prefixItems"]) {
            Place::List
        } else if any(&[
            "items",
            "additionalProperties",
            "additionalItems",
            "not",
            "if",
            "then",
            "else",
            "contains",
            "propertyNames",
            "unevaluatedItems",
            "unevaluatedProperties",
        ]) {
            Place::Schema
        } else {
            Place::Data
        }
    }
}

/// Tells `visit` each step through a valid schema until it says stop.
pub(super) fn walk<'s>(schema: &'s str, visit: &mut dyn FnMut(Step<'s>) -> bool) {
    let mut reader = Reader::new(schema.as_bytes(), &Options::default());
    let mut open: heapless::Vec<Place, { MAX_DEPTH as usize }> = heapless::Vec::new();
    let mut next = Place::Schema;
    loop {
        let offset = reader.value_offset();
        let inside = open.last().copied();
        // The text was compiled, so the reader meets no error; if it did, the walk would end.
        let step = match reader.peek() {
            Ok(Kind::Object) if next == Place::Schema => {
                let Ok(value) = reader.clone().skip_value() else { return };
                Some((Step::Node { value, offset, root: inside.is_none() }, Place::Schema))
            }
            Ok(Kind::Object) if next == Place::Map => Some((Step::Start(Kind::Object), Place::Map)),
            // `items` of draft 7 may be a list of schemas.
            Ok(Kind::Array) if next == Place::List || next == Place::Schema => {
                Some((Step::Start(Kind::Array), Place::List))
            }
            Ok(_) => {
                let Ok(value) = reader.skip_value() else { return };
                if !visit(Step::Raw(value)) || inside.is_none() {
                    return;
                }
                None
            }
            Err(_) => None,
        };
        if let Some((step, place)) = step
            && (reader.next_event().is_err() || open.push(place).is_err() || !visit(step))
        {
            return;
        }
        // Up to the next value: past the ends of what is open, and a key.
        loop {
            let Some(place) = open.last().copied() else { return };
            if reader.try_end() {
                open.pop();
                let kind = if place == Place::List { Kind::Array } else { Kind::Object };
                if !visit(Step::End(kind)) {
                    return;
                }
                continue;
            }
            if place == Place::List {
                next = Place::Schema;
                break;
            }
            let offset = reader.value_offset();
            let Ok(Some(Event::Key(key))) = reader.next_event() else { return };
            next = if place == Place::Map { Place::Schema } else { Place::of(key) };
            if !visit(Step::Key { key, offset, keyword: place == Place::Schema }) {
                return;
            }
            break;
        }
    }
}
