//! Where references lead: to a place of the same text by JSON Pointer (RFC 6901) in a URI fragment, or by an
//! anchor, and so into a resource, which is named by its URI (RFC 3986).

use super::word::Word as W;
use super::{Lowering, Step, walk};
use crate::json::{Entries, Event, Items, MAX_DEPTH, Options, Reader, Str, Surrogates, Value, blanks};
use crate::schema::source::{Resource, Texts, offset_in, value_at};
use crate::schema::uri::{Uri, same_document};

/// Where a reference leads.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) at: usize,
    pub(super) len: usize,
    /// It is the root or one of its definitions.
    pub(super) is_definition: bool,
}

impl<'s> Texts<'s> {
    /// The members from an address on.
    pub(super) fn members(self, at: usize) -> Entries<'s> {
        let (text, _, start) = self.locate(at);
        Entries::resume(text, at.saturating_sub(start))
    }

    /// The items from an address on.
    pub(super) fn items(self, at: usize) -> Items<'s> {
        let (text, _, start) = self.locate(at);
        Items::resume(text, at.saturating_sub(start))
    }

    /// The address of a part of one of the texts.
    pub(super) fn place(self, part: &str) -> usize {
        let mut place = (self.first, 0);
        for Resource { text, .. } in self.more {
            if offset_in(place.0, part) < place.0.len() {
                break;
            }
            place = (*text, place.1 + place.0.len());
        }
        offset_in(place.0, part).wrapping_add(place.1)
    }

    /// The address at which the text begins that an address is in.
    pub(super) fn start(self, at: usize) -> usize {
        if self.more.is_empty() { 0 } else { self.locate(at).2 }
    }

    /// Whether the root of a text stands at an address.
    pub(super) fn is_root(self, at: usize) -> bool {
        let (text, _, start) = self.locate(at);
        at.saturating_sub(start) == text.len().saturating_sub(blanks(text.as_bytes()).len())
    }

    /// Whether a reference of the first text leads to a document of another name.
    pub(super) fn leads_away(self) -> bool {
        let mut away = false;
        walk(self.first, &mut |step| {
            if let Step::Node { offset } = step {
                away |= Entries::resume(self.first, offset + 1).any(|(key, value)| {
                    W::of(key) == W::Ref && value.as_str().and_then(|name| name.chars().next()) != Some('#')
                });
            }
            !away
        });
        away
    }

    /// The text that a document's name, resolved where it stands in the text `number`, is that of, and where
    /// it begins.
    fn document(self, number: usize, name: &str) -> Option<(&'s str, usize)> {
        let named = Uri::resolve(self.base(number)?.text(), name)?;
        let mut begin = 0;
        for (number, text) in self.all().enumerate() {
            let given = number.checked_sub(1).and_then(|at| self.more.get(at)).map_or("", |more| more.uri);
            let is = |uri: &str| !uri.is_empty() && same_document(uri, named.text());
            if is(given) || self.base(number).is_some_and(|base| is(base.text())) {
                return Some((text, begin));
            }
            begin += text.len();
        }
        None
    }

    /// The URI of a text: its own `$id`, resolved where it was found.
    fn base(self, number: usize) -> Option<Uri> {
        let resource = number.checked_sub(1).and_then(|at| self.more.get(at));
        let (given, text) = resource.map_or(("", self.first), |more| (more.uri, more.text));
        let mut decoded = [0; LONGEST];
        let id = Value::from_checked(text).get("$id").and_then(Value::as_str);
        Uri::resolve(given, id.and_then(|id| id.decode_in(&mut decoded).ok()).unwrap_or_default())
    }
}

impl<'s> Lowering<'s, '_, '_, '_> {
    /// The target of a `$ref`.
    pub(super) fn target(&mut self, reference: Str<'s>) -> Option<Target> {
        let (mut name, mut decoded) = ([0; LONGEST], [0; LONGEST]);
        let name = reference.decode_in(&mut name).ok()?;
        let (document, fragment) = name.split_once('#').unwrap_or((name, ""));
        let pointer = decode(fragment, &mut decoded)?;
        let (text, number, begin) = self.texts.locate(self.texts.place(reference.raw()));
        let is_local = document.is_empty();
        let (text, begin) = if is_local { (text, begin) } else { self.texts.document(number, document)? };
        let target = if pointer.is_empty() || pointer.starts_with('/') {
            Value::from_checked(text).pointer(pointer)?
        } else {
            value_at(text, self.anchor(text, pointer)?)?
        };
        if !target.raw().starts_with('{') {
            return None;
        }
        let named = pointer.strip_prefix("/$defs/").or_else(|| {
            let renamed = !self.subset.is_whole() && !self.has_defs;
            pointer.strip_prefix("/definitions/").filter(|_| renamed)
        });
        let is_definition = pointer.is_empty() || named.is_some_and(|name| !name.contains('/'));
        let is_definition = is_definition && is_local && begin == 0;
        Some(Target { at: begin + offset_in(text, target.raw()), len: target.raw().len(), is_definition })
    }

    /// Where in a text the schema is that has this anchor, if the text is one resource.
    fn anchor(&mut self, text: &str, name: &str) -> Option<usize> {
        self.steps = self.steps.checked_sub(text.len())?;
        let (mut found, mut nested) = (None, false);
        walk(text, &mut |step| {
            let Step::Node { offset } = step else { return true };
            let is_root = text.get(..offset).is_none_or(|before| before.trim_start().is_empty());
            for (key, value) in Entries::resume(text, offset + 1) {
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
            let (text, _, begin) = self.texts.locate(start);
            let Some(text) = text.get(start.saturating_sub(begin)..) else { return true };
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
                        if self.texts.place(name.raw()) == reference + 1 {
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

/// A URI fragment without its percent escapes.
fn decode<'d>(fragment: &str, decoded: &'d mut [u8; LONGEST]) -> Option<&'d str> {
    let mut rest = fragment.as_bytes();
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
