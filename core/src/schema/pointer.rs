//! The JSON Pointer in a reference, decoded as it is read: JSON escapes first, then the percent escapes of a
//! URI fragment (RFC 3986), then those of the pointer (RFC 6901).

use crate::json::{Chars, Str, Value};
use core::cmp::Ordering;

/// The JSON Pointer of a reference to its own document, decoded: separators, and bytes one up.
#[derive(Clone)]
pub(super) struct Pointer<'s> {
    chars: Chars<'s>,
    bytes: [u8; 4],
    /// Which of the bytes are still to come.
    range: (usize, usize),
}

pub(super) const SEPARATOR: u16 = 0;

impl<'s> Pointer<'s> {
    /// The fragment of a reference, after its first `#`.
    pub(super) fn of(value: Value<'s>) -> Option<Self> {
        let mut pointer = Pointer { chars: value.as_str()?.chars(), bytes: [0; 4], range: (0, 0) };
        while pointer.byte().is_some_and(|byte| byte != b'#') {}
        Some(pointer)
    }

    /// A hash of it, and of a name that it is equal to.
    pub(super) fn hash(self) -> u32 {
        hash_units(self)
    }

    /// Compares it with a name.
    pub(super) fn compare_name(&self, name: Str<'_>) -> Ordering {
        self.clone().cmp(units(bare(name)))
    }

    /// How many tokens it has.
    pub(super) fn tokens(self, budget: &mut usize) -> usize {
        let mut units = 1;
        let tokens = self.inspect(|_| units += 1).filter(|&unit| unit == SEPARATOR).count();
        *budget = budget.saturating_sub(units);
        tokens
    }

    /// Compares the token after the first `depth` ones with a key.
    pub(super) fn compare_token(mut self, depth: usize, key: Str<'_>, budget: &mut usize) -> Ordering {
        let mut count = 1;
        let mut separators = 0;
        while separators <= depth {
            match self.next() {
                Some(SEPARATOR) => separators += 1,
                Some(_) => {}
                None => return Ordering::Less,
            }
            count += 1;
        }
        let token = self.take_while(|&unit| unit != SEPARATOR).inspect(|_| count += 1);
        let order = token.cmp(units(key.chars()));
        *budget = budget.saturating_sub(count);
        order
    }

    /// Whether each `%` begins an escape, and in a JSON Pointer each `~`.
    pub(super) fn is_valid(&self) -> bool {
        let mut rest = self.clone();
        let is_pointer = self.clone().next() == Some(SEPARATOR);
        loop {
            let mut ahead = rest.clone();
            let plain = ahead.byte() != Some(b'%');
            let Some(byte) = rest.decoded() else { return true };
            // Where there is no escape, only the `%` itself was taken.
            let escaped = ahead.chars.as_str().len() != rest.chars.as_str().len();
            let next = || rest.clone().decoded();
            if !(plain || escaped) || is_pointer && byte == b'~' && !matches!(next(), Some(b'0' | b'1')) {
                return false;
            }
        }
    }

    /// The next byte of the string.
    fn byte(&mut self) -> Option<u8> {
        if self.range.0 >= self.range.1 {
            let len = self.chars.next()?.encode_utf8(&mut self.bytes).len();
            self.range = (0, len);
        }
        let byte = self.bytes.get(self.range.0).copied();
        self.range.0 += 1;
        byte
    }

    /// The next byte, percent escapes decoded.
    fn decoded(&mut self) -> Option<u8> {
        let byte = self.byte()?;
        let mut ahead = self.clone();
        let mut hex = || char::from(ahead.byte()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        if byte == b'%'
            && let Some((high, low)) = hex().zip(hex())
        {
            *self = ahead;
            return Some(high << 4 | low);
        }
        Some(byte)
    }
}

impl Iterator for Pointer<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let byte = match self.decoded()? {
            b'/' => return Some(SEPARATOR),
            b'~' => {
                let mut ahead = self.clone();
                let decoded = match ahead.decoded() {
                    Some(b'0') => b'~',
                    Some(b'1') => b'/',
                    _ => return Some(u16::from(b'~') + 1),
                };
                *self = ahead;
                decoded
            }
            byte => byte,
        };
        Some(u16::from(byte) + 1)
    }
}

/// How the pointers of two references compare, whose texts start at their quotes, and how many units that
/// took. For the usual ones, which lead into their own document and have no escape where it matters: these are
/// compared as they stand.
pub(super) fn plain_order(a: &[u8], b: &[u8]) -> Option<(Ordering, usize)> {
    let (a, b) = (a.strip_prefix(b"\"#")?, b.strip_prefix(b"\"#")?);
    let common = a.iter().zip(b).take_while(|(a, b)| a == b && is_plain(**a)).count();
    let (a, b) = (*a.get(common)?, *b.get(common)?);
    let decided = [a, b].into_iter().all(|byte| is_plain(byte) || byte == b'"');
    decided.then(|| (plain_unit(a).cmp(&plain_unit(b)), common + 1))
}

/// As [`Pointer::compare_token`], for such references and keys.
pub(super) fn plain_token_order(reference: &[u8], depth: usize, key: &str) -> Option<(Ordering, usize)> {
    let pointer = reference.strip_prefix(b"\"#")?;
    let mut separators = 0;
    let start = pointer.iter().position(|byte| {
        separators += usize::from(*byte == b'/');
        separators > depth || !is_plain(*byte)
    })?;
    let token = match pointer.get(start..)? {
        [b'"', ..] => return Some((Ordering::Less, start + 1)),
        [b'/', token @ ..] if separators > depth => token,
        _ => return None,
    };
    let key = key.as_bytes();
    let same = |(a, b): &(&u8, &u8)| a == b && is_plain(**a) && **a != b'/';
    let common = token.iter().zip(key).take_while(same).count();
    let order = match (*token.get(common)?, key.get(common)) {
        (b'"' | b'/', None) => Ordering::Equal,
        (b'"' | b'/', Some(_)) => Ordering::Less,
        (byte, _) if !is_plain(byte) => return None,
        (_, None) => Ordering::Greater,
        (byte, Some(other)) => byte.cmp(other),
    };
    Some((order, start + common + 1))
}

/// Whether a byte of a reference stands for itself.
fn is_plain(byte: u8) -> bool {
    !matches!(byte, b'"' | b'%' | b'~' | b'\\')
}

/// The unit of such a byte; the end comes before everything.
fn plain_unit(byte: u8) -> u16 {
    match byte {
        b'"' => 0,
        b'/' => 1,
        byte => u16::from(byte) + 2,
    }
}

/// The hash of an anchor's name.
pub(super) fn hash_name(name: Str<'_>) -> u32 {
    hash_units(units(bare(name)))
}

/// Compares the names of two anchors.
pub(super) fn compare_names(a: Str<'_>, b: Str<'_>) -> Ordering {
    units(bare(a)).cmp(units(bare(b)))
}

/// In draft 7 an anchor is written as it is referred to.
fn bare(name: Str<'_>) -> impl Iterator<Item = char> {
    name.chars().skip_while(|c| *c == '#')
}

fn hash_units(units: impl Iterator<Item = u16>) -> u32 {
    units.fold(0x811C_9DC5, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193))
}

/// The units of a text.
fn units(text: impl Iterator<Item = char>) -> impl Iterator<Item = u16> {
    let bytes = text.flat_map(|c| {
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len();
        bytes.into_iter().take(len)
    });
    bytes.map(|byte| u16::from(byte) + 1)
}

#[cfg(test)]
mod tests {
    use super::{Pointer, plain_order, plain_token_order};
    use crate::json::{Str, Value};

    #[test]
    fn plain_references_are_in_the_order_of_their_decoded_pointers() {
        let references = [
            "\"#\"",
            "\"#/\"",
            "\"#/a\"",
            "\"#/a/b\"",
            "\"#/a/\"",
            "\"#/a!\"",
            "\"#/ab\"",
            "\"#/a~1b\"",
            "\"#/a%62\"",
            "\"#/\\u0061\"",
            "\"#//a\"",
            "\"#/å\"",
            "\"#/a.b/c\"",
            "\"#anchor\"",
            "\"other#/a\"",
            "\"#/~0\"",
            "\"#/%\"",
        ];
        let keys = ["", "a", "b", "ab", "a/b", "a!", "å", "a.b", "anchor", "c", "%", "~"];
        let pointer = |text| Pointer::of(Value::new(text)).unwrap();
        let mut compared = 0;
        for a in references {
            for b in references {
                let expected = pointer(a).cmp(pointer(b));
                if let Some((order, _)) = plain_order(a.as_bytes(), b.as_bytes()) {
                    assert_eq!(order, expected, "{a} {b}");
                    compared += 1;
                }
            }
            for key in keys {
                for depth in 0..3 {
                    let expected = pointer(a).compare_token(depth, Str::new(key), &mut 1000);
                    if let Some((order, _)) = plain_token_order(a.as_bytes(), depth, key) {
                        assert_eq!(order, expected, "{a} {depth} {key}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 400, "{compared}");
    }
}
