//! Reading checked text from the middle: the value, the member or the item that stands at a position.

use crate::json::{Scan, Str, Value, blanks};

/// The value that stands at a position of checked text.
pub(super) fn value_at(text: &str, at: usize) -> Option<Value<'_>> {
    let rest = blanks(text.as_bytes().get(at..)?);
    let mut scan = Scan::checked(text);
    let after = scan.value(rest, 0)?;
    text.get(scan.offset(rest)..scan.offset(after)).map(Value::new)
}

/// The next member of an object, after its opening brace or the member before, and where it ends.
pub(super) fn member_at(text: &str, at: usize) -> Option<(Str<'_>, Value<'_>, usize)> {
    let mut scan = Scan::checked(text);
    let [b'"', content @ ..] = element(text, at)? else { return None };
    let end = scan.string(content)?;
    let key = text.get(scan.offset(content)..scan.offset(end).checked_sub(1)?)?;
    let rest = blanks(scan.colon(end)?);
    let after = scan.value(rest, 0)?;
    let value = text.get(scan.offset(rest)..scan.offset(after))?;
    Some((Str::new(key), Value::new(value), scan.offset(after)))
}

/// The next item of an array, after its opening bracket or the item before, and where it ends.
pub(super) fn item_at(text: &str, at: usize) -> Option<(Value<'_>, usize)> {
    let mut scan = Scan::checked(text);
    let rest = element(text, at)?;
    let after = scan.value(rest, 0)?;
    let value = text.get(scan.offset(rest)..scan.offset(after))?;
    Some((Value::new(value), scan.offset(after)))
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
