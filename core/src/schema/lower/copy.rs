//! A schema for a provider that takes everything: one pass that copies the text in runs, adds what an object
//! schema lacks where it ends, and writes `true` and `false` as objects where they are not taken.

use super::Lowering;
use super::change::ChangeKind;
use super::fate::{Fate, whole};
use super::node::{kind, kinds_named};
use super::word::Word as W;
use crate::json::{Kind, MAX_DEPTH, Scan, Str, Value, blanks};
use crate::schema::source::offset_in;

/// What stands at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Schema,
    Map,
    List,
    Data,
}

/// A part that is open.
struct Open {
    place: Place,
    start: usize,
    types: u8,
    properties: bool,
}

/// How far the text was read, and how far it was copied.
struct Copy<'s> {
    text: &'s str,
    rest: &'s [u8],
    copied: usize,
}

impl<'s> Copy<'s> {
    fn at(&self) -> usize {
        self.text.len().saturating_sub(self.rest.len())
    }

    /// What was read and not copied yet.
    fn run(&mut self) -> &'s str {
        let (from, to) = (self.copied, self.at());
        self.copied = to;
        self.text.get(from..to).unwrap_or_default()
    }

    /// The value that stands here, which is read.
    fn value(&mut self, scan: &mut Scan) -> Value<'s> {
        let from = self.at();
        self.rest = scan.value(self.rest, 0).unwrap_or_default();
        Value::new(self.text.get(from..self.at()).unwrap_or_default())
    }
}

impl<'s> Lowering<'s, '_, '_, '_> {
    /// Writes a valid schema as it is, but for blanks, and adds what objects lack.
    pub(super) fn copy(&mut self, root: Value<'s>) {
        let text = self.texts.first;
        let mut scan = Scan::checked(text);
        let start = offset_in(text, root.raw());
        let rest = text.as_bytes().get(start..).unwrap_or_default();
        let mut copy = Copy { text, rest, copied: start };
        let mut open: heapless::Vec<Open, { MAX_DEPTH as usize }> = heapless::Vec::new();
        let mut next = Place::Schema;
        self.out.raw("");
        loop {
            let start = copy.at();
            let entered = match (copy.rest, next) {
                ([b'{', after @ ..], Place::Schema | Place::Map) => Some((after, next)),
                // `items` of draft 7 may be a list of schemas.
                ([b'[', after @ ..], Place::List | Place::Schema) => Some((after, Place::List)),
                _ => None,
            };
            if let Some((after, place)) = entered {
                copy.rest = after;
                if open.push(Open { place, start, types: 0, properties: false }).is_err() {
                    return;
                }
            } else {
                let is_container = matches!(copy.rest, [b'{' | b'[', ..]);
                let is_word = !self.subset.booleans
                    && matches!(copy.rest, [b't' | b'f', ..])
                    && next == Place::Schema
                    && open.last().is_some_and(|part| matches!(part.place, Place::Map | Place::List));
                let run = if is_container || is_word { copy.run() } else { "" };
                let value = copy.value(&mut scan);
                if is_word {
                    self.out.sink().put(run);
                    self.out.sink().put(if value.as_bool() == Some(true) { "{}" } else { "{\"not\":{}}" });
                    copy.copied = copy.at();
                    self.tell(start, ChangeKind::BooleanToObject);
                } else if is_container {
                    self.out.sink().put(run);
                    self.out.put_value(value);
                    copy.copied = copy.at();
                }
            }
            // Up to the next value: past the ends of what is open, a comma and a key.
            loop {
                self.pass_blanks(&mut copy);
                let is_root = open.len() == 1;
                let Some(part) = open.last_mut() else {
                    let run = copy.run();
                    self.out.sink().put(run);
                    return;
                };
                match copy.rest {
                    [b'}' | b']', after @ ..] => {
                        if part.place == Place::Schema {
                            let run = copy.run();
                            self.out.sink().put(run);
                            let (start, types, properties) = (part.start, part.types, part.properties);
                            self.add_what_lacks(is_root, start, types, properties);
                        }
                        copy.rest = after;
                        open.pop();
                        continue;
                    }
                    [b',', after @ ..] => {
                        copy.rest = after;
                        self.pass_blanks(&mut copy);
                    }
                    [] => return,
                    _ => {}
                }
                if part.place == Place::List {
                    next = Place::Schema;
                    break;
                }
                let from = copy.at() + 1;
                copy.rest = copy.rest.get(1..).and_then(|rest| scan.string(rest)).unwrap_or_default();
                let name = text.get(from..copy.at().saturating_sub(1)).unwrap_or_default();
                let is_schema = part.place == Place::Schema;
                self.pass_blanks(&mut copy);
                copy.rest = copy.rest.get(1..).unwrap_or_default();
                self.pass_blanks(&mut copy);
                next = Place::Schema;
                if is_schema {
                    let word = W::of(Str::new(name));
                    part.properties |= word == W::Properties;
                    if word == W::Type {
                        let from = copy.at();
                        let value = Copy { text, rest: copy.rest, copied: from }.value(&mut scan);
                        part.types =
                            if value.raw() == "\"string\"" { kind::STRING } else { kinds_named(value) };
                    }
                    let first = copy.rest.first().copied().unwrap_or_default();
                    next = match whole(word, Kind::of(first).unwrap_or(Kind::Null)) {
                        Fate::One(_) => Place::Schema,
                        Fate::Map(_) => Place::Map,
                        Fate::List(_) => Place::List,
                        _ => Place::Data,
                    };
                }
                break;
            }
        }
    }

    /// Reads blanks, which are not copied.
    #[inline]
    fn pass_blanks(&mut self, copy: &mut Copy<'s>) {
        if let [b' ' | b'\n' | b'\r' | b'\t', ..] = copy.rest {
            let run = copy.run();
            self.out.sink().put(run);
            copy.rest = blanks(copy.rest);
            copy.copied = copy.at();
        }
    }

    /// Adds `type` and `properties` at the end of a schema that begins at `start` and lacks them.
    fn add_what_lacks(&mut self, root: bool, start: usize, types: u8, properties: bool) {
        let untyped = root && types == 0;
        if !untyped && (properties || types & kind::OBJECT == 0) {
            return;
        }
        let is_empty =
            self.texts.first.as_bytes().get(start + 1..).is_some_and(|rest| blanks(rest).starts_with(b"}"));
        let mut comma = if is_empty { "" } else { "," };
        if untyped {
            self.out.sink().put(comma);
            self.out.sink().put("\"type\":\"object\"");
            comma = ",";
            self.tell(start, ChangeKind::TypeAdded);
        }
        if !properties {
            self.out.sink().put(comma);
            self.out.sink().put("\"properties\":{}");
            self.tell(start, ChangeKind::PropertiesAdded);
        }
    }
}
