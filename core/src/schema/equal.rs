//! Equality of JSON values as JSON Schema means it: numbers by value, strings decoded, objects without order.
//!
//! Containers that are being compared are kept in the work memory, so depth costs no stack.

use super::machine::Check;
use super::program::word_of;
use super::source::{item_at, member_at, offset_in};
use super::work::PAIR;
use crate::json::{Kind, Str, Value};

/// What is known of two values at once.
enum Glance {
    Equal,
    Different,
    /// Two containers of one kind.
    Inside,
}

impl Check<'_, '_, '_> {
    /// Whether two values are equal.
    pub(super) fn equal(&mut self, a: Value<'_>, b: Value<'_>) -> Option<bool> {
        let floor = self.top;
        let equal = self.equal_inside(a, b, floor);
        self.top = floor;
        equal
    }

    fn equal_inside(&mut self, a: Value<'_>, b: Value<'_>, floor: usize) -> Option<bool> {
        let (one, two) = (a.raw(), b.raw());
        match glance(a, b) {
            Glance::Equal => return Some(true),
            Glance::Different => return Some(false),
            Glance::Inside => self.push_pair([0, 1, 1])?,
        }
        while self.top > floor {
            // The container in `one`, and where comparing goes on in `one` and in `two`. In an object the
            // latter stays.
            let top = self.top - PAIR as usize;
            let Some(&[start, next_one, next_two]) = self.work.get(top..).and_then(|rest| rest.first_chunk())
            else {
                return Some(false);
            };
            let (start, next_one, next_two) = (start as usize, next_one as usize, next_two as usize);
            let pair = if one.as_bytes().get(start) == Some(&b'[') {
                match (item_at(one, next_one), item_at(two, next_two)) {
                    (Some((x, _)), Some((y, _))) => Some((x, y)),
                    (None, None) => None,
                    _ => return Some(false),
                }
            } else if let Some((key, x, _)) = member_at(one, next_one) {
                self.step(1 + word_of(two.len() / 64))?;
                match find(two, next_two, key) {
                    Some(y) => Some((x, y)),
                    None => return Some(false),
                }
            } else {
                // Every key of `one` is in `two`; now the other way round.
                let mut at = next_two;
                while let Some((key, _, end)) = member_at(two, at) {
                    self.step(1 + word_of(one.len() / 64))?;
                    if find(one, start + 1, key).is_none() {
                        return Some(false);
                    }
                    at = end;
                }
                None
            };
            let Some((x, y)) = pair else {
                self.top = top;
                continue;
            };
            self.step(1 + word_of((x.raw().len() + y.raw().len()) / 128))?;
            let (x_at, y_at) = (offset_in(one, x.raw()), offset_in(two, y.raw()));
            if let Some(word) = self.work.get_mut(top + 1) {
                *word = word_of(x_at + x.raw().len());
            }
            if let Some(word) = self.work.get_mut(top + 2)
                && one.as_bytes().get(start) == Some(&b'[')
            {
                *word = word_of(y_at + y.raw().len());
            }
            match glance(x, y) {
                Glance::Equal => {}
                Glance::Different => return Some(false),
                Glance::Inside => self.push_pair([word_of(x_at), word_of(x_at + 1), word_of(y_at + 1)])?,
            }
        }
        Some(true)
    }
}

impl Check<'_, '_, '_> {
    fn push_pair(&mut self, pair: [u32; PAIR as usize]) -> Option<()> {
        let end = self.top + pair.len();
        let limit = self.limit();
        let Some(place) = self.work.get_mut(self.top..end).filter(|_| end <= limit) else {
            return self.no_work(end);
        };
        place.copy_from_slice(&pair);
        self.top = end;
        Some(())
    }
}

/// Compares two values, but not what is inside of containers.
fn glance(a: Value<'_>, b: Value<'_>) -> Glance {
    let equal = match (a.kind(), b.kind()) {
        (Kind::String, Kind::String) => a.as_str() == b.as_str(),
        (Kind::Number, Kind::Number) => a.as_number() == b.as_number(),
        (Kind::Object, Kind::Object) | (Kind::Array, Kind::Array) => return Glance::Inside,
        (a_kind, b_kind) => a_kind == b_kind && a.raw() == b.raw(),
    };
    if equal { Glance::Equal } else { Glance::Different }
}

/// The member with this key of the object that goes on at a position.
fn find<'j>(text: &'j str, mut at: usize, wanted: Str<'_>) -> Option<Value<'j>> {
    loop {
        let (key, value, end) = member_at(text, at)?;
        if key == wanted {
            return Some(value);
        }
        at = end;
    }
}
