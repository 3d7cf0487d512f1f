//! The scanner under everything that reads JSON: where a string, a number, a word or a whole value ends.
//!
//! One strict implementation, shared by `validate`, `Reader` and `Value`, so that they cannot disagree. It is
//! a loop with a bit per open container, never recursive. It works on `rest`, the bytes that are still to be
//! read, and gives back what is left after what it read; how much is left says where it is. `None` is an
//! error, which then stands in the scan: a slice or nothing fits in two registers, where a `Result` goes
//! through memory.
//!
//! UTF-8 is checked once, when a scan is made: the scan then covers the longest valid prefix, and whoever
//! reaches its end learns that bad bytes follow. So the first error in the text is the one reported.

use super::bytes::{blanks, blanks_rest, digits, early_stop, long, plain_bytes, plain_key, spaces, stop};
use super::{Error, MAX_DEPTH, Options, Reason, Surrogates};

/// What is to be known about a text while its bytes are scanned.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    len: usize,
    /// Bytes that are not UTF-8 follow.
    cut: bool,
    replace: bool,
    max_depth: usize,
    error: Error,
}

impl Scan {
    /// For `bytes`, and the part of them that is UTF-8, which is what to scan.
    pub(crate) fn new<'j>(bytes: &'j [u8], options: &Options) -> (Self, &'j str) {
        let (text, cut) = Scan::utf8(bytes);
        (Scan::over(text.len(), cut, options), text)
    }

    /// The part of `bytes` that is UTF-8, and whether others follow.
    #[inline]
    pub(crate) fn utf8(bytes: &[u8]) -> (&str, bool) {
        match core::str::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                (core::str::from_utf8(valid).unwrap_or_default(), true)
            }
        }
    }

    /// For `len` bytes of UTF-8, with others after them if `cut`.
    pub(crate) fn over(len: usize, cut: bool, options: &Options) -> Self {
        Scan {
            len,
            cut,
            replace: options.surrogates == Surrogates::Replace,
            max_depth: usize::from(options.max_depth.min(MAX_DEPTH)),
            error: Error { reason: Reason::UnexpectedEnd, offset: 0 },
        }
    }

    /// For text that was checked before: nothing in it is an error.
    pub(crate) fn checked(text: &str) -> Self {
        Scan::over(text.len(), false, &Options { max_depth: MAX_DEPTH, surrogates: Surrogates::Replace })
    }

    /// Where `rest` starts.
    #[inline(always)]
    pub(crate) fn offset(&self, rest: &[u8]) -> usize {
        self.len.wrapping_sub(rest.len())
    }

    /// What was read, or why it was not.
    #[inline(always)]
    pub(crate) fn result<T>(&self, read: Option<T>) -> Result<T, Error> {
        read.ok_or(self.error)
    }

    /// Why the last thing was not read.
    pub(crate) fn error(&self) -> Error {
        self.error
    }

    /// The error where `rest` starts; at the end of the text, that it ends there.
    #[cold]
    #[inline(never)]
    pub(crate) fn fail<T>(&mut self, reason: Reason, rest: &[u8]) -> Option<T> {
        let reason = match (rest.is_empty(), self.cut) {
            (false, _) => reason,
            (true, false) => Reason::UnexpectedEnd,
            (true, true) => Reason::InvalidUtf8,
        };
        self.error = Error { reason, offset: self.offset(rest) };
        None
    }

    /// The error for something that starts no value.
    #[cold]
    pub(crate) fn no_value<T>(&mut self, rest: &[u8]) -> Option<T> {
        let word: &[u8] = match rest {
            [b't', ..] => b"true",
            [b'f', ..] => b"false",
            [b'n', ..] => b"null",
            [b, ..] if b.is_ascii_alphabetic() => b"",
            [b'+' | b'.', ..] => return self.fail(Reason::BadNumber, rest),
            [0xEF, 0xBB, 0xBF, ..] if rest.len() == self.len => {
                return self.fail(Reason::ByteOrderMark, rest);
            }
            _ => return self.fail(Reason::ExpectedValue, rest),
        };
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.fail(Reason::BadLiteral, rest.get(same..).unwrap_or_default())
    }

    /// Checks that the text is whole and ends here.
    pub(crate) fn end(&mut self, rest: &[u8]) -> Option<()> {
        if rest.is_empty() && !self.cut { Some(()) } else { self.fail(Reason::TrailingData, rest) }
    }

    /// Reads the one value in the text, which may have blanks around it; gives what is left right after it.
    pub(crate) fn whole<'j>(&mut self, text: &'j [u8]) -> Option<&'j [u8]> {
        let rest = self.value(text, 0)?;
        self.end(if rest.is_empty() { rest } else { blanks(rest) })?;
        Some(rest)
    }

    /// Reads one value, inside `outer` open containers.
    pub(crate) fn value<'j>(&mut self, rest: &'j [u8], outer: usize) -> Option<&'j [u8]> {
        let rest = blanks(rest);
        match rest {
            [b'{' | b'[', ..] => self.container(rest, outer),
            [b'"', after @ ..] => self.string(after),
            _ => self.scalar(rest),
        }
    }

    /// Reads the container that `rest` starts with.
    #[inline(never)]
    fn container<'j>(&mut self, mut rest: &'j [u8], outer: usize) -> Option<&'j [u8]> {
        let mut depth = outer;
        // One bit per open container around the innermost: 1 is an object.
        let mut kinds = 0u128;
        let mut object = false;
        // Each round reads one item, or one member with its key, of the innermost container.
        'element: loop {
            if object {
                rest = self.key(rest)?;
            }
            loop {
                match rest {
                    [b'"', after @ ..] => rest = self.string(after)?,
                    [open @ (b'{' | b'['), after @ ..] => {
                        self.check_depth(depth, rest)?;
                        rest = blanks(after);
                        match rest {
                            // The closing byte is the opening one plus two, in both cases.
                            [close, after @ ..] if *close == open + 2 => {
                                rest = after;
                                if depth == outer {
                                    return Some(rest);
                                }
                            }
                            _ => {
                                kinds = kinds << 1 | u128::from(object);
                                object = *open == b'{';
                                depth += 1;
                                continue 'element;
                            }
                        }
                    }
                    [b' ' | b'\n' | b'\r' | b'\t', after @ ..] => {
                        rest = blanks_rest(after);
                        continue;
                    }
                    _ => rest = self.scalar(rest)?,
                }
                break;
            }
            loop {
                if let [b',', after @ ..] = rest {
                    rest = after;
                    continue 'element;
                }
                match rest {
                    [b'}', after @ ..] if object => rest = after,
                    [b']', after @ ..] if !object => rest = after,
                    [b' ' | b'\n' | b'\r' | b'\t', after @ ..] => {
                        rest = blanks_rest(after);
                        continue;
                    }
                    _ => return self.fail(Reason::ExpectedComma, rest),
                }
                object = kinds & 1 == 1;
                kinds >>= 1;
                depth -= 1;
                if depth == outer {
                    return Some(rest);
                }
            }
        }
    }

    /// Passes over members of the object that is open, as most writers put them, up to one whose key `is_wanted`;
    /// gives that key, and what is left after its colon. Stops before whatever is written otherwise too, and
    /// before the end; then there is no key. `first` says that no member was read yet.
    #[inline]
    pub(crate) fn pass_members<'j>(
        &mut self,
        mut rest: &'j [u8],
        first: &mut bool,
        depth: usize,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> Option<(Option<&'j [u8]>, &'j [u8])> {
        loop {
            let content = match rest {
                [b',', b'"', content @ ..] | [b',', b' ', b'"', content @ ..] if !*first => content,
                [b'"', content @ ..] if *first => content,
                _ => return Some((None, rest)),
            };
            let after = plain_key(content);
            let [b'"', b':', value @ ..] = after else { return Some((None, rest)) };
            let key = content.get(..content.len() - after.len())?;
            if is_wanted(key) {
                return Some((Some(key), value));
            }
            let value = spaces(value);
            rest = match value {
                [b'"', content @ ..] => self.string(content)?,
                [b'{' | b'[', ..] => self.container(value, depth)?,
                _ => self.scalar(value)?,
            };
            *first = false;
        }
    }

    /// Checks that one more container may be open than `depth`.
    #[inline(always)]
    pub(crate) fn check_depth(&mut self, depth: usize, rest: &[u8]) -> Option<()> {
        if depth < self.max_depth { Some(()) } else { self.fail(Reason::DepthLimit, rest) }
    }

    /// Reads a key and its colon.
    #[inline(always)]
    fn key<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        let rest = match rest {
            [b'"', after @ ..] | [b' ', b'"', after @ ..] => after,
            _ => self.after_blanks(b'"', rest, Reason::ExpectedKey)?,
        };
        let Some((word, beyond)) = rest.split_first_chunk() else { return self.key_rest(rest) };
        match early_stop(word) {
            None => self.key_rest(beyond),
            Some(stop) => match rest.get(stop..) {
                Some([b'"', b':', after @ ..]) => Some(after),
                _ => self.key_rest(rest),
            },
        }
    }

    #[inline(never)]
    fn key_rest<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        let after = self.string_rest(rest)?;
        self.colon(after)
    }

    /// Reads the colon after a key.
    #[inline(always)]
    pub(crate) fn colon<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        match rest {
            [b':', after @ ..] => Some(after),
            _ => self.after_blanks(b':', rest, Reason::ExpectedColon),
        }
    }

    /// Reads blanks and `byte`.
    #[inline(never)]
    fn after_blanks<'j>(&mut self, byte: u8, rest: &'j [u8], reason: Reason) -> Option<&'j [u8]> {
        match blanks_rest(rest) {
            [found, after @ ..] if *found == byte => Some(after),
            rest => self.fail(reason, rest),
        }
    }

    /// Reads a string from after its opening quote to after its closing one. Most are short and plain: those
    /// are read here.
    #[inline(always)]
    pub(crate) fn string<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        let Some((word, beyond)) = rest.split_first_chunk() else { return self.string_rest(rest) };
        match early_stop(word) {
            None => self.string_rest(beyond),
            Some(stop) => match rest.get(stop..) {
                Some([b'"', after @ ..]) => Some(after),
                _ => self.string_rest(rest),
            },
        }
    }

    #[inline(never)]
    fn string_rest<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        let mut rest = long(rest);
        let found = loop {
            let Some((word, after)) = rest.split_first_chunk() else { break plain_bytes(rest) };
            if let Some(stop) = stop(word) {
                break rest.get(stop..)?;
            }
            rest = after;
        };
        if let [b'"', after @ ..] = found { Some(after) } else { self.string_slow(found) }
    }

    /// Reads a string on from what stopped [`plain`](super::plain).
    #[inline(never)]
    pub(crate) fn string_slow<'j>(&mut self, mut rest: &'j [u8]) -> Option<&'j [u8]> {
        loop {
            match rest {
                [b'"', after @ ..] => return Some(after),
                [b'\\', ..] => rest = self.escape(rest)?,
                _ => return self.fail(Reason::ControlCharacter, rest),
            }
            rest = loop {
                let Some((word, after)) = rest.split_first_chunk() else { break plain_bytes(rest) };
                if let Some(stop) = stop(word) {
                    break rest.get(stop..)?;
                }
                rest = after;
            };
        }
    }

    /// Reads the escape that `rest` starts with.
    #[inline(always)]
    fn escape<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        match rest {
            [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', after @ ..] => Some(after),
            [_, b'u', ..] => self.unicode(rest),
            [_, _, ..] => self.fail(Reason::BadEscape, rest),
            _ => self.fail(Reason::UnexpectedEnd, &[]),
        }
    }

    #[inline(never)]
    fn unicode<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        let (unit, after) = self.unit(rest)?;
        let lone = match unit {
            0xD800..=0xDBFF => match after {
                [b'\\', b'u', ..] => match self.unit(after) {
                    Some((0xDC00..=0xDFFF, after)) => return Some(after),
                    None if self.error.reason != Reason::BadEscape => return None,
                    _ => true,
                },
                // The other half can still follow where the text ends.
                [] | [b'\\'] => return self.fail(Reason::UnexpectedEnd, &[]),
                _ => true,
            },
            0xDC00..=0xDFFF => true,
            _ => false,
        };
        if lone && !self.replace { self.fail(Reason::LoneSurrogate, rest) } else { Some(after) }
    }

    /// Reads `\uXXXX`.
    fn unit<'j>(&mut self, rest: &'j [u8]) -> Option<(u32, &'j [u8])> {
        let (_, mut after) = rest.split_at_checked(2)?;
        let mut unit = 0;
        for _ in 0..4 {
            let [b, digits @ ..] = after else { return self.fail(Reason::UnexpectedEnd, &[]) };
            let Some(digit) = char::from(*b).to_digit(16) else { return self.fail(Reason::BadEscape, rest) };
            unit = unit << 4 | digit;
            after = digits;
        }
        Some((unit, after))
    }

    /// Reads a number or a word.
    #[inline(always)]
    pub(crate) fn scalar<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        match rest {
            [b'1'..=b'9', after @ ..] => match digits(after) {
                [b'.' | b'e' | b'E', ..] => self.number(rest),
                after => Some(after),
            },
            [b't', b'r', b'u', b'e', after @ ..] => Some(after),
            [b'f', b'a', b'l', b's', b'e', after @ ..] => Some(after),
            [b'n', b'u', b'l', b'l', after @ ..] => Some(after),
            [b'-' | b'0', ..] => self.number(rest),
            _ => self.no_value(rest),
        }
    }

    /// Reads a number.
    #[inline(never)]
    pub(crate) fn number<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        let rest = rest.strip_prefix(b"-").unwrap_or(rest);
        let mut rest = match rest {
            [b'0', after @ ..] => match after {
                [b'0'..=b'9', ..] => return self.fail(Reason::BadNumber, after),
                _ => after,
            },
            _ => self.some_digits(rest)?,
        };
        if let [b'.', after @ ..] = rest {
            rest = self.some_digits(after)?;
        }
        if let [b'e' | b'E', b'+' | b'-', after @ ..] | [b'e' | b'E', after @ ..] = rest {
            rest = self.some_digits(after)?;
        }
        Some(rest)
    }

    /// Reads one or more digits.
    fn some_digits<'j>(&mut self, rest: &'j [u8]) -> Option<&'j [u8]> {
        match rest {
            [b'0'..=b'9', after @ ..] => Some(digits(after)),
            _ => self.fail(Reason::BadNumber, rest),
        }
    }
}
