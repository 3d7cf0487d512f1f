//! Where references lead: to a place of the same text by JSON Pointer (RFC 6901) in a URI fragment, or by an
//! anchor.

use super::word::Word as W;
use super::{Lowering, Step, walk};
use crate::json::{Entries, Event, MAX_DEPTH, Options, Reader, Str, Surrogates, Value};
use crate::schema::source::{offset_in, value_at};

/// Where a reference leads.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) at: usize,
    pub(super) len: usize,
    /// It is the root or one of its definitions.
    pub(super) is_definition: bool,
}

impl<'s> Lowering<'s, '_, '_, '_> {
    /// The target of a `$ref` that is a JSON Pointer in this text, or the name of an anchor.
    pub(super) fn target(&mut self, reference: Str<'_>) -> Option<Target> {
        let mut decoded = [0; LONGEST];
        let pointer = pointer(reference, &mut decoded)?;
        let root = Value::from_checked(self.text);
        let target = if pointer.is_empty() || pointer.starts_with('/') {
            root.pointer(pointer)?
        } else {
            value_at(self.text, self.anchor(pointer)?)?
        };
        if !target.raw().starts_with('{') {
            return None;
        }
        let named = pointer.strip_prefix("/$defs/").or_else(|| {
            let renamed = !self.subset.is_whole() && !self.has_defs;
            pointer.strip_prefix("/definitions/").filter(|_| renamed)
        });
        let is_definition = pointer.is_empty() || named.is_some_and(|name| !name.contains('/'));
        Some(Target { at: offset_in(self.text, target.raw()), len: target.raw().len(), is_definition })
    }

    /// Where the schema is that has this anchor, in a text that is one resource.
    fn anchor(&mut self, name: &str) -> Option<usize> {
        self.steps = self.steps.checked_sub(self.text.len())?;
        let (mut found, mut nested) = (None, false);
        walk(self.text, &mut |step| {
            let Step::Node { offset } = step else { return true };
            let is_root = self.text.get(..offset).is_none_or(|before| before.trim_start().is_empty());
            for (key, value) in Entries::resume(self.text, offset + 1) {
                let Some(value) = value.as_str() else { continue };
                match W::of(key) {
                    W::Anchor | W::DynamicAnchor if value == name => found = found.or(Some(offset)),
                    // The anchors of draft 7.
                    W::Id if value.chars().next() == Some('#') => {
                        let same = value.chars().skip(1).eq(name.chars());
                        found = found.or(same.then_some(offset));
                    }
                    W::Id => nested |= !is_root,
                    _ => {}
                }
            }
            !nested
        });
        found.filter(|_| !nested)
    }

    /// Whether the reference at an offset is inside what can be reached from its target. Also if that takes
    /// too long to find out.
    pub(super) fn leads_back(&mut self, reference: usize, target: usize) -> bool {
        let mut reached: heapless::Vec<usize, MAX_REACHED> = heapless::Vec::new();
        if reached.push(target).is_err() {
            return true;
        }
        let mut next = 0;
        while let Some(&start) = reached.get(next) {
            next += 1;
            let Some(text) = self.text.get(start..) else { return true };
            let options = Options { max_depth: MAX_DEPTH, surrogates: Surrogates::Replace };
            let mut reader = Reader::new(text.as_bytes(), &options);
            let (mut depth, mut is_ref) = (0usize, false);
            loop {
                self.steps = self.steps.saturating_sub(1);
                if self.steps == 0 {
                    return true;
                }
                let Ok(Some(event)) = reader.next_event() else { return true };
                match event {
                    Event::ObjectStart | Event::ArrayStart => depth += 1,
                    Event::ObjectEnd | Event::ArrayEnd => depth = depth.saturating_sub(1),
                    Event::Key(key) => is_ref = W::of(key) == W::Ref,
                    Event::String(name) if is_ref => {
                        if offset_in(self.text, name.raw()) == reference + 1 {
                            return true;
                        }
                        if let Some(target) = self.target(name)
                            && !reached.contains(&target.at)
                            && reached.push(target.at).is_err()
                        {
                            return true;
                        }
                    }
                    _ => {}
                }
                is_ref &= matches!(event, Event::Key(_));
                if depth == 0 {
                    break;
                }
            }
        }
        false
    }
}

/// The JSON Pointer of a reference into its own text, its escapes decoded.
fn pointer<'d>(reference: Str<'_>, decoded: &'d mut [u8; LONGEST]) -> Option<&'d str> {
    let mut text = [0; LONGEST];
    let text = reference.decode_in(&mut text).ok()?;
    let mut rest = text.strip_prefix('#')?.as_bytes();
    let mut len = 0;
    while let [byte, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (byte, after) = match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                (u8::try_from(high << 4 | low).ok()?, after.get(2..).unwrap_or_default())
            }
            _ => (*byte, after),
        };
        *decoded.get_mut(len)? = byte;
        len += 1;
        rest = after;
    }
    core::str::from_utf8(decoded.get(..len)?).ok()
}

/// The longest reference that is followed, in bytes.
const LONGEST: usize = 256;
/// The most definitions that are gone through for one reference.
const MAX_REACHED: usize = 64;
