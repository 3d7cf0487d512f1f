//! A walk over the schemas of a text: which objects are schemas, and which are names or data.

use crate::json::{Event, Kind, MAX_DEPTH, Options, Reader};

/// What a walk over a schema meets.
pub(in crate::schema) enum Step {
    /// An object schema begins.
    Node {
        /// Where.
        offset: usize,
    },
    /// Something else does.
    Other,
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
            _ => Place::Data,
        }
    }
}

/// Bytes of the longest keyword that leads to schemas.
const LONGEST: usize = "unevaluatedProperties".len();

/// Tells `visit` each step through a valid schema until it says stop.
pub(in crate::schema) fn walk(schema: &str, visit: &mut dyn FnMut(Step) -> bool) {
    let mut reader = Reader::new(schema.as_bytes(), &Options::default());
    let mut open: heapless::Vec<Place, { MAX_DEPTH as usize }> = heapless::Vec::new();
    let mut next = Place::Schema;
    loop {
        let offset = reader.value_offset();
        // The text was compiled, so the reader meets no error; if it did, the walk would end.
        let Ok(kind) = reader.peek() else { return };
        let entered = match (kind, next) {
            (Kind::Object, Place::Schema | Place::Map) => Some(next),
            // `items` of draft 7 may be a list of schemas.
            (Kind::Array, Place::List | Place::Schema) => Some(Place::List),
            _ => None,
        };
        let step = if entered == Some(Place::Schema) { Step::Node { offset } } else { Step::Other };
        let read = match entered {
            Some(place) => reader.next_event().is_ok() && open.push(place).is_ok(),
            None => reader.skip_value().is_ok(),
        };
        if !read || !visit(step) {
            return;
        }
        // Up to the next value: past the ends of what is open, and a key.
        loop {
            let Some(place) = open.last().copied() else { return };
            if reader.try_end() {
                open.pop();
                continue;
            }
            if place == Place::List {
                next = Place::Schema;
                break;
            }
            let Ok(Some(Event::Key(key))) = reader.next_event() else { return };
            let mut decoded = [0u8; LONGEST];
            let name = key.plain().unwrap_or_else(|| key.decode_in(&mut decoded).unwrap_or_default());
            next = if place == Place::Schema { Place::of(name) } else { Place::Schema };
            break;
        }
    }
}
