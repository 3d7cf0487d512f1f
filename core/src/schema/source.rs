//! The texts of a schema, and reading checked text from the middle: the value, the member or the item that
//! stands at a position.

use super::error::string_end;
use crate::json::{Str, Value, after_string, after_value, blanks};

/// A document that a schema's references can lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource<'r> {
    /// Where it was found: an absolute URI. It may also name itself with `$id`.
    pub uri: &'r str,
    /// Its JSON text.
    pub text: &'r str,
}

/// The text of a schema, and after it those of its resources, one after the other: an address is an offset in
/// all of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'s> {
    pub(super) first: &'s str,
    pub(super) more: &'s [Resource<'s>],
}

impl<'s> Texts<'s> {
    /// The text that an address is in, its number, and where it begins.
    pub(super) fn locate(self, at: usize) -> (&'s str, usize, usize) {
        let mut text = (self.first, 0, 0);
        for resource in self.more {
            if at - text.2 < text.0.len() {
                break;
            }
            text = (resource.text, text.1 + 1, text.2 + text.0.len());
        }
        text
    }

    /// The slice of this length at an address.
    pub(super) fn get(self, at: usize, length: usize) -> Option<&'s str> {
        match self.first.get(at..at.wrapping_add(length)) {
            None if !self.more.is_empty() => {
                let (text, _, start) = self.locate(at);
                let at = at.checked_sub(start)?;
                text.get(at..at.wrapping_add(length))
            }
            found => found,
        }
    }

    /// As `get`, in bytes. Quick where it is the first text.
    #[inline(always)]
    pub(super) fn bytes(self, at: usize, length: usize) -> Option<&'s [u8]> {
        match self.first.as_bytes().get(at..at.wrapping_add(length)) {
            Some(found) => Some(found),
            None => self.bytes_beyond(at, length),
        }
    }

    #[cold]
    #[inline(never)]
    fn bytes_beyond(self, at: usize, length: usize) -> Option<&'s [u8]> {
        self.get(at, length).map(str::as_bytes)
    }

    /// The string or key that stands at an address, with its quotes.
    pub(super) fn quoted(self, at: usize) -> &'s str {
        let (text, _, start) = self.locate(at);
        let rest = at.checked_sub(start).and_then(|at| text.get(at..)).unwrap_or_default();
        string_end(rest).and_then(|end| rest.get(..end)).unwrap_or_default()
    }

    /// The value at an address.
    pub(super) fn value(self, at: usize) -> Option<Value<'s>> {
        let (text, _, start) = self.locate(at);
        value_at(text, at.checked_sub(start)?)
    }

    /// The member that stands at an address.
    pub(super) fn member(self, at: usize) -> Option<(Str<'s>, Value<'s>)> {
        let (text, _, start) = self.locate(at);
        member_at(text, at.checked_sub(start)?).map(|(key, value, _)| (key, value))
    }

    /// Each of them, in order.
    pub(super) fn all(self) -> impl Iterator<Item = &'s str> {
        core::iter::once(self.first).chain(self.more.iter().map(|resource| resource.text))
    }

    /// All bytes of all texts.
    pub(super) fn len(self) -> usize {
        self.more.iter().fold(self.first.len(), |sum, resource| sum.saturating_add(resource.text.len()))
    }
}

/// The value that stands at a position of checked text.
pub(super) fn value_at(text: &str, at: usize) -> Option<Value<'_>> {
    let rest = blanks(text.as_bytes().get(at..)?);
    text.get(offset(text, rest)..offset(text, after_value(rest))).map(Value::new)
}

/// The next member of an object, after its opening brace or the member before, and where it ends.
pub(super) fn member_at(text: &str, at: usize) -> Option<(Str<'_>, Value<'_>, usize)> {
    let [b'"', content @ ..] = element(text, at)? else { return None };
    let end = after_string(content);
    let key = text.get(offset(text, content)..offset(text, end).checked_sub(1)?)?;
    let [b':', rest @ ..] = blanks(end) else { return None };
    let rest = blanks(rest);
    let end = offset(text, after_value(rest));
    Some((Str::new(key), Value::new(text.get(offset(text, rest)..end)?), end))
}

/// The next item of an array, after its opening bracket or the item before, and where it ends.
pub(super) fn item_at(text: &str, at: usize) -> Option<(Value<'_>, usize)> {
    let rest = element(text, at)?;
    let end = offset(text, after_value(rest));
    Some((Value::new(text.get(offset(text, rest)..end)?), end))
}

/// Where the end of a text begins that is left of it.
fn offset(text: &str, rest: &[u8]) -> usize {
    text.len().saturating_sub(rest.len())
}

/// Where `part` begins in `text`, of which it is a slice.
pub(super) fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize)
}

/// The next element of a container, past a comma.
fn element(text: &str, at: usize) -> Option<&[u8]> {
    match blanks(text.as_bytes().get(at..)?) {
        [b',', after @ ..] => Some(blanks(after)),
        [b'}' | b']', ..] => None,
        rest => Some(rest),
    }
}
