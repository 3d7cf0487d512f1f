//! A lazy view of JSON that was checked, and JSON Pointers (RFC 6901) into it.

use super::bytes::{after_string, after_value, blanks};
use super::{Number, Reader, Str};
use crate::sink::Sink;

/// A lazy view of one value inside text that was checked.
///
/// A [`Value`] is the exact source text of one value: two words, `Copy`, no tree. Its methods walk that text
/// when asked, in time linear in it, and cannot fail: what is absent or of another kind is `None` or empty.
///
/// ```
/// use toolcore::json::{self, Options};
/// let reply = json::parse(br#"{"calls":[{"name":"lamp"},{"name":"fan"}]}"#, &Options::default()).unwrap();
/// let names = reply.get("calls").unwrap().items().filter_map(|call| call.get("name")?.as_str()?.plain());
/// assert!(names.eq(["lamp", "fan"]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Value<'j> {
    /// Starts and ends with the value itself.
    raw: &'j str,
}

impl<'j> Value<'j> {
    /// `raw` was checked, and has no blanks around it.
    pub(crate) fn new(raw: &'j str) -> Self {
        Value { raw }
    }

    /// A value whose text was checked before, as [`raw`](Self::raw) gives it. Of text that was not, the value
    /// says wrong things, and nothing worse.
    pub fn from_checked(text: &'j str) -> Self {
        Value { raw: text.trim_matches([' ', '\n', '\r', '\t']) }
    }

    /// A reader of its text.
    pub fn reader(self) -> Reader<'j> {
        Reader::checked(self.raw)
    }

    /// `{}`
    pub const fn empty_object() -> Value<'static> {
        Value { raw: "{}" }
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        self.raw.bytes().next().and_then(Kind::of).unwrap_or(Kind::Null)
    }

    /// Its exact source text.
    pub fn raw(self) -> &'j str {
        self.raw
    }

    /// The string, if it is one.
    pub fn as_str(self) -> Option<Str<'j>> {
        let content = self.raw.strip_prefix('"')?.strip_suffix('"')?;
        Some(Str::new(content))
    }

    /// The number, if it is one.
    pub fn as_number(self) -> Option<Number<'j>> {
        (self.kind() == Kind::Number).then_some(Number::new(self.raw))
    }

    /// The truth value, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.raw {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The member of an object with this key; the first of several.
    pub fn get(self, key: &str) -> Option<Value<'j>> {
        self.entries().find(|(name, _)| name.eq_str(key)).map(|(_, value)| value)
    }

    /// The members of an object with these keys, found in one pass; of several with one key the first.
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Value<'j>>; N] {
        let mut found = [None; N];
        let mut missing = N;
        for (name, value) in self.entries() {
            let places = keys.iter().zip(&mut found);
            if let Some((_, place)) = places.into_iter().find(|(key, _)| name.eq_str(key))
                && place.is_none()
            {
                *place = Some(value);
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        found
    }

    /// The item of an array at `index`, from 0.
    pub fn item(self, index: usize) -> Option<Value<'j>> {
        self.items().nth(index)
    }

    /// The members of an object, in source order; none for anything else.
    pub fn entries(self) -> Entries<'j> {
        self.entries_from(0)
    }

    /// The items of an array; none for anything else.
    pub fn items(self) -> Items<'j> {
        self.items_from(0)
    }

    /// The members from a [`position`](Entries::position) in this same object on. From a position of anything
    /// else, the wrong ones.
    pub fn entries_from(self, position: usize) -> Entries<'j> {
        Entries { text: self.raw, rest: self.inside(b'{', position) }
    }

    /// The items from a [`position`](Items::position) in this same array on. From a position of anything
    /// else, the wrong ones.
    pub fn items_from(self, position: usize) -> Items<'j> {
        Items { text: self.raw, rest: self.inside(b'[', position) }
    }

    /// What a JSON Pointer (RFC 6901) names: `""` is the value itself.
    pub fn pointer(self, pointer: &str) -> Option<Value<'j>> {
        let mut tokens = pointer.split('/');
        if tokens.next() != Some("") {
            return None;
        }
        tokens.try_fold(self, |value, token| match value.kind() {
            Kind::Object => value.entries().find(|(name, _)| token_is(token, *name)).map(|(_, value)| value),
            Kind::Array => value.item(token_index(token)?),
            _ => None,
        })
    }

    /// What comes from `position` on, and after the opening byte, if it is this one.
    fn inside(self, open: u8, position: usize) -> &'j [u8] {
        let bytes = self.raw.as_bytes();
        if bytes.first() == Some(&open) { bytes.get(position.max(1)..).unwrap_or_default() } else { &[] }
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number.
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

impl Kind {
    /// The name that JSON Schema uses: "object", "array", "string", "number", "boolean", "null".
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Bool => "boolean",
            Kind::Null => "null",
        }
    }

    /// The kind of the value that starts with this byte.
    pub(crate) fn of(first: u8) -> Option<Kind> {
        Some(match first {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b'-' | b'0'..=b'9' => Kind::Number,
            b't' | b'f' => Kind::Bool,
            b'n' => Kind::Null,
            _ => return None,
        })
    }
}

/// The members of an object; see [`Value::entries`].
#[derive(Clone, Debug)]
pub struct Entries<'j> {
    text: &'j str,
    rest: &'j [u8],
}

impl Entries<'_> {
    /// Where the rest begins; see [`Value::entries_from`].
    pub fn position(&self) -> usize {
        self.text.len().saturating_sub(self.rest.len())
    }
}

impl<'j> Entries<'j> {
    /// Goes on at `offset` of checked text, which is inside an object, before or after an element.
    pub fn resume(text: &'j str, offset: usize) -> Self {
        Entries { text, rest: text.as_bytes().get(offset..).unwrap_or_default() }
    }

    /// Where the walk stands in the text, to be gone on from with `resume`.
    pub fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }
}

impl<'j> Iterator for Entries<'j> {
    type Item = (Str<'j>, Value<'j>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = member(self.text, &mut self.rest)?;
        Some((member.key, Value::new(self.text.get(member.start..member.end)?)))
    }
}

/// The items of an array; see [`Value::items`].
#[derive(Clone, Debug)]
pub struct Items<'j> {
    text: &'j str,
    rest: &'j [u8],
}

impl Items<'_> {
    /// Where the rest begins; see [`Value::items_from`].
    pub fn position(&self) -> usize {
        self.text.len().saturating_sub(self.rest.len())
    }
}

impl<'j> Items<'j> {
    /// Goes on at `offset` of checked text, which is inside an array, before or after an element.
    pub fn resume(text: &'j str, offset: usize) -> Self {
        Items { text, rest: text.as_bytes().get(offset..).unwrap_or_default() }
    }

    /// Where the walk stands in the text, to be gone on from with `resume`.
    pub fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }
}

impl<'j> Iterator for Items<'j> {
    type Item = Value<'j>;

    fn next(&mut self) -> Option<Value<'j>> {
        let (start, end) = item(self.text, &mut self.rest)?;
        Some(Value::new(self.text.get(start..end)?))
    }
}

/// Appends the JSON Pointer of the value or member whose source holds byte `offset` of checked `text`: for
/// the first byte of a value or key, that value's or member's own. Found by reading again from the start, so
/// it is for error paths.
pub fn pointer_at(text: &str, offset: usize, sink: &mut Sink<'_>) {
    let mut value = blanks(text.as_bytes());
    while let [open, rest @ ..] = value {
        let mut rest = rest;
        let inner = match open {
            b'{' => loop {
                match member(text, &mut rest) {
                    Some(member) if offset >= member.end => {}
                    Some(member) if offset >= member.key_start => {
                        sink.put_byte(b'/');
                        put_token(member.key, sink);
                        break Some(member.start).filter(|start| offset >= *start);
                    }
                    _ => break None,
                }
            },
            b'[' => {
                let mut index = 0u64;
                loop {
                    match item(text, &mut rest) {
                        Some((_, end)) if offset >= end => index += 1,
                        Some((start, _)) if offset >= start => {
                            sink.put_byte(b'/');
                            sink.put_u64(index);
                            break Some(start);
                        }
                        _ => break None,
                    }
                }
            }
            _ => None,
        };
        value = inner.and_then(|start| text.as_bytes().get(start..)).unwrap_or_default();
    }
}

/// Appends `key` as one token of a JSON Pointer.
pub(crate) fn put_token(key: Str<'_>, sink: &mut Sink<'_>) {
    for c in key.chars() {
        match c {
            '~' => sink.put("~0"),
            '/' => sink.put("~1"),
            c => sink.put_char(c),
        }
    }
}

/// A member of an object: its key, and where the key's quote and the value stand.
struct Member<'j> {
    key: Str<'j>,
    key_start: usize,
    start: usize,
    end: usize,
}

/// Reads the next member, where `rest`, the end of `text`, is after the opening brace or the member before.
fn member<'j>(text: &'j str, rest: &mut &'j [u8]) -> Option<Member<'j>> {
    let offset = |rest: &[u8]| text.len().saturating_sub(rest.len());
    let key = element(rest)?;
    let after_key = after_string(key.strip_prefix(b"\"")?);
    let value = blanks(blanks(after_key).strip_prefix(b":")?);
    *rest = after_value(value);
    let key_start = offset(key);
    let content = text.get(key_start + 1..offset(after_key).saturating_sub(1))?;
    Some(Member { key: Str::new(content), key_start, start: offset(value), end: offset(rest) })
}

/// Reads the next item, where `rest`, the end of `text`, is after the opening bracket or the item before;
/// gives its start and end.
fn item(text: &str, rest: &mut &[u8]) -> Option<(usize, usize)> {
    let offset = |rest: &[u8]| text.len().saturating_sub(rest.len());
    let value = element(rest)?;
    *rest = after_value(value);
    Some((offset(value), offset(rest)))
}

/// Where the next key or item starts. `None` at the end of the container.
fn element(rest: &[u8]) -> Option<&[u8]> {
    match blanks(rest) {
        [b',', after @ ..] => Some(blanks(after)),
        [b'}' | b']', ..] | [] => None,
        found => Some(found),
    }
}

/// Whether a JSON Pointer's token, with `~1` for `/` and `~0` for `~`, names this key.
fn token_is(token: &str, key: Str<'_>) -> bool {
    if !token.contains('~') {
        return key.eq_str(token);
    }
    let mut rest = token.chars();
    let decoded = core::iter::from_fn(|| {
        let c = rest.next()?;
        let mut ahead = rest.clone();
        let decoded = match (c, ahead.next()) {
            ('~', Some('0')) => '~',
            ('~', Some('1')) => '/',
            _ => return Some(c),
        };
        rest = ahead;
        Some(decoded)
    });
    key.chars().eq(decoded)
}

/// An array index as RFC 6901 writes it: digits without a leading zero.
fn token_index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| plain)
}
