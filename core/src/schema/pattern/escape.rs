//! What comes after a backslash, outside and inside of a class.

use super::PatternError;
use super::PatternErrorKind;
use super::code::{Item, NEGATED, op};
use super::parse::{Parser, error};
use super::set::Set;
use crate::json::Chars;

impl Parser<'_, '_> {
    /// An escape outside of a class; its backslash stands at `at`.
    pub(super) fn escape(&mut self, at: usize) -> Result<(), PatternError> {
        let Some(c) = self.rest.next() else { return Err(error(PatternErrorKind::BadEscape, at)) };
        match c {
            'b' => self.assertion(op::BOUNDARY),
            'B' => self.assertion(op::INSIDE),
            '1'..='9' => {
                let mut number = c.to_digit(10).unwrap_or(0);
                while let Some((digit, rest)) = digit(&self.rest, 10) {
                    number = number.saturating_mul(10).saturating_add(digit);
                    self.rest = rest;
                }
                if number > self.reference.0 {
                    self.reference = (number, at);
                }
                self.back(at);
            }
            'k' => {
                if !self.eat('<') {
                    return Err(error(PatternErrorKind::BadEscape, at));
                }
                self.name(at, true)?;
                self.back(at);
            }
            _ => match self.escaped(c, at)? {
                Item::Range(c, _) => self.single(op::CHAR, c),
                Item::Set(set, negated) => self.single(op::SET, set.0 | if negated { NEGATED } else { 0 }),
            },
        }
        Ok(())
    }

    /// A backreference. It can be repeated, as far as that matters.
    fn back(&mut self, at: usize) {
        self.defer(PatternErrorKind::Backreference, at);
        self.single(op::ANY, 0);
    }

    /// A character or a set: what a backslash and `c` begin, in a class or outside.
    pub(super) fn escaped(&mut self, c: char, at: usize) -> Result<Item, PatternError> {
        let set = |set, negated| Ok(Item::Set(set, negated));
        let bad = error(PatternErrorKind::BadEscape, at);
        let code = match c {
            'd' | 'D' => return set(Set::DIGIT, c == 'D'),
            'w' | 'W' => return set(Set::WORD, c == 'W'),
            's' | 'S' => return set(Set::SPACE, c == 'S'),
            'p' | 'P' => {
                let set = self.property(at)?;
                return Ok(Item::Set(set, c == 'P'));
            }
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            '0' if digit(&self.rest, 10).is_none() => 0,
            'c' => match self.rest.next() {
                Some(letter) if letter.is_ascii_alphabetic() => u32::from(letter) & 31,
                _ => return Err(bad),
            },
            'x' => digits(&mut self.rest, 2).ok_or(bad)?,
            'u' => code_point(&mut self.rest).ok_or(bad)?,
            _ if c.is_alphanumeric() => return Err(bad),
            _ => u32::from(c),
        };
        Ok(Item::Range(code, code))
    }

    /// The `{…}` of a property.
    fn property(&mut self, at: usize) -> Result<Set, PatternError> {
        let bad = error(PatternErrorKind::BadEscape, at);
        if !self.eat('{') {
            return Err(bad);
        }
        // Longer than any name: then it is not known.
        let mut buffer = [0; 40];
        let mut used = 0;
        loop {
            match self.rest.next() {
                Some('}') => break,
                Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '=') => {
                    if let (Some(place), Ok(byte)) = (buffer.get_mut(used), u8::try_from(c)) {
                        *place = byte;
                    }
                    used += 1;
                }
                _ => return Err(bad),
            }
        }
        let name = buffer.get(..used).and_then(|name| core::str::from_utf8(name).ok()).unwrap_or_default();
        if used == 0 {
            return Err(bad);
        }
        Ok(Set::of_property(name).unwrap_or_else(|| {
            self.defer(PatternErrorKind::UnknownProperty, at);
            Set::NOTHING
        }))
    }
}

/// The digit that comes next, and what comes after it.
fn digit<'p>(rest: &Chars<'p>, radix: u32) -> Option<(u32, Chars<'p>)> {
    let mut ahead = rest.clone();
    let digit = ahead.next()?.to_digit(radix)?;
    Some((digit, ahead))
}

/// The code point after `\u`.
pub(super) fn code_point(rest: &mut Chars<'_>) -> Option<u32> {
    if eat(rest, '{') {
        let mut value = 0u32;
        let mut some = false;
        while let Some((digit, after)) = digit(rest, 16) {
            value = value.checked_mul(16)?.checked_add(digit)?;
            *rest = after;
            some = true;
        }
        return (eat(rest, '}') && some && value <= 0x10_FFFF).then_some(value);
    }
    let high = digits(rest, 4)?;
    let before = rest.clone();
    if let 0xD800..=0xDBFF = high
        && eat(rest, '\\')
        && eat(rest, 'u')
        && let Some(low @ 0xDC00..=0xDFFF) = digits(rest, 4)
    {
        return Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
    }
    if let 0xD800..=0xDBFF = high {
        *rest = before;
    }
    Some(high)
}

/// The value of exactly this many hexadecimal digits.
fn digits(rest: &mut Chars<'_>, count: usize) -> Option<u32> {
    let mut value = 0;
    for _ in 0..count {
        let (digit, after) = digit(rest, 16)?;
        value = value << 4 | digit;
        *rest = after;
    }
    Some(value)
}

/// Takes this character if it comes next.
pub(super) fn eat(rest: &mut Chars<'_>, c: char) -> bool {
    let mut ahead = rest.clone();
    let found = ahead.next() == Some(c);
    if found {
        *rest = ahead;
    }
    found
}
