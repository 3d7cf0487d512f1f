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
    walk(schema, &mut |step| {
        match step {
            Step::Start(Kind::Array) => out.array_start(),
            Step::Node { .. } | Step::Start(_) => out.object_start(),
            Step::NodeEnd { offset, root, kind, properties } => {
                if root && kind == Type::Unsaid {
                    out.key("type");
                    out.string("object");
                    changed(Change::TypeAdded);
                }
                if !properties && (kind == Type::Object || root && kind == Type::Unsaid) {
                    out.key("properties");
                    out.object_start();
                    out.object_end();
                    changed(Change::PropertiesAdded { offset });
                }
                out.object_end();
            }
            Step::End(Kind::Array) => out.array_end(),
            Step::End(_) => out.object_end(),
            Step::Key { key, .. } => out.key_str(key),
            Step::Raw(value) => out.value(value),
        }
        true
    });
}

/// The first misfit of a compiled `schema` with a strict subset, or `None` if it fits.
pub fn strict_problem(schema: &str, subset: &StrictSubset) -> Option<StrictProblem> {
    let mut problem = None;
    walk(schema, &mut |step| {
        problem = match step {
            Step::Node { offset, root } => node_problem(schema, offset, root, subset),
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

fn node_problem(schema: &str, offset: usize, root: bool, subset: &StrictSubset) -> Option<StrictProblem> {
    let node = Value::from_checked(schema.get(offset..)?);
    let [kind, properties, additional, required] =
        node.pick(["type", "properties", "additionalProperties", "required"]);
    if !(root || properties.is_some() || kind.is_some_and(names_object)) {
        return None;
    }
    if additional.and_then(Value::as_bool) != Some(false) {
        return Some(StrictProblem { kind: StrictProblemKind::NotClosed, offset });
    }
    if !subset.all_required {
        return None;
    }
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
    Node { offset: usize, root: bool },
    /// An object schema ends: what its `type` says, and whether it has `properties`.
    NodeEnd { offset: usize, root: bool, kind: Type, properties: bool },
    /// A map or a list of schemas begins.
    Start(Kind),
    /// A map or a list of schemas ends.
    End(Kind),
    /// A key; `keyword` if it is one of a schema, else it is a name.
    Key { key: Str<'s>, offset: usize, keyword: bool },
    /// A value that is no schema, or a boolean schema.
    Raw(Value<'s>),
}

/// What `type` says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Unsaid,
    Object,
    Other,
}

/// A part of a schema that is open.
struct Open {
    place: Place,
    offset: usize,
    kind: Type,
    properties: bool,
}

/// What stands at a place of a schema's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Schema,
    Map,
    List,
    /// The value of `type`.
    Type,
    Data,
}

impl Place {
    /// Where the value of a keyword leads.
    fn of(keyword: &str) -> Self {
        match keyword {
            "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas"
            | "dependencies" => Place::Map,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Place::List,
            "items"
            | "additionalProperties"
            | "additionalItems"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Place::Schema,
            "type" => Place::Type,
            _ => Place::Data,
        }
    }
}

/// Bytes of the longest keyword that leads to schemas.
const LONGEST: usize = "unevaluatedProperties".len();

/// Tells `visit` each step through a valid schema until it says stop.
pub(super) fn walk<'s>(schema: &'s str, visit: &mut dyn FnMut(Step<'s>) -> bool) {
    let mut reader = Reader::new(schema.as_bytes(), &Options::default());
    let mut open: heapless::Vec<Open, { MAX_DEPTH as usize }> = heapless::Vec::new();
    let mut next = Place::Schema;
    loop {
        let offset = reader.value_offset();
        let root = open.is_empty();
        // The text was compiled, so the reader meets no error; if it did, the walk would end.
        let Ok(kind) = reader.peek() else { return };
        let entered = match (kind, next) {
            (Kind::Object, Place::Schema) => Some((Step::Node { offset, root }, Place::Schema)),
            (Kind::Object, Place::Map) => Some((Step::Start(kind), Place::Map)),
            // `items` of draft 7 may be a list of schemas.
            (Kind::Array, Place::List | Place::Schema) => Some((Step::Start(kind), Place::List)),
            _ => None,
        };
        if let Some((step, place)) = entered {
            let part = Open { place, offset, kind: Type::Unsaid, properties: false };
            if reader.next_event().is_err() || open.push(part).is_err() || !visit(step) {
                return;
            }
        } else {
            let Ok(value) = reader.skip_value() else { return };
            if let (Place::Type, Some(node)) = (next, open.last_mut()) {
                node.kind = if names_object(value) { Type::Object } else { Type::Other };
            }
            if !visit(Step::Raw(value)) {
                return;
            }
        }
        // Up to the next value: past the ends of what is open, and a key.
        loop {
            let root = open.len() == 1;
            let Some(part) = open.last_mut() else { return };
            if reader.try_end() {
                let step = match *part {
                    Open { place: Place::Schema, offset, kind, properties } => {
                        Step::NodeEnd { offset, root, kind, properties }
                    }
                    Open { place: Place::List, .. } => Step::End(Kind::Array),
                    _ => Step::End(Kind::Object),
                };
                open.pop();
                if !visit(step) {
                    return;
                }
                continue;
            }
            if part.place == Place::List {
                next = Place::Schema;
                break;
            }
            let offset = reader.value_offset();
            let Ok(Some(Event::Key(key))) = reader.next_event() else { return };
            let keyword = part.place == Place::Schema;
            let mut decoded = [0u8; LONGEST];
            let name = key.plain().unwrap_or_else(|| key.decode_in(&mut decoded).unwrap_or_default());
            next = if keyword { Place::of(name) } else { Place::Schema };
            part.properties |= keyword && name == "properties";
            if !visit(Step::Key { key, offset, keyword }) {
                return;
            }
            break;
        }
    }
}
