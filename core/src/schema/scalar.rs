//! Checking one value: strings, numbers, words, and the values of `enum` and `const`.

use super::entry::{Candidate, Form};
use super::error::Keyword;
#[cfg(feature = "format")]
use super::format::Format;
use super::machine::Check;
use super::program::{Cursor, INLINE, Instruction, Node, Slot, kind, op, types, word_of, words};
use super::report::Problem;
use crate::json::{Kind, Number, Str, Value};
use core::cmp::Ordering;

impl<'s, 'i> Check<'s, 'i, '_> {
    /// Checks a string: `text` starts with it, `after` comes after it.
    #[inline(never)]
    pub(super) fn string(&mut self, slot: Slot, text: &'i [u8], after: &'i [u8]) -> Option<()> {
        if !self.fits(slot, types::STRING, text) {
            return Some(());
        }
        self.one_of(slot, text, after)?;
        let raw = self.raw(text, after);
        let string = Str::new(raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default());
        let mut cursor = Cursor::new(self.schema.program(), slot);
        while let Some(instruction) = cursor.next(self.schema.program()) {
            let bound = instruction.operand(self.schema.program());
            // A character takes at least a byte of source, so most texts need not be counted.
            let keyword = match instruction.op {
                op::MIN_LENGTH if bound > 0 && string.chars().nth(bound as usize - 1).is_none() => {
                    Keyword::MinLength
                }
                op::MAX_LENGTH
                    if string.raw().len() > bound as usize
                        && string.chars().nth(bound as usize).is_some() =>
                {
                    Keyword::MaxLength
                }
                #[cfg(feature = "pattern")]
                op::PATTERN => {
                    self.pattern(slot, instruction, string, text)?;
                    continue;
                }
                #[cfg(feature = "format")]
                op::FORMAT => {
                    self.format(slot, instruction, string, text);
                    continue;
                }
                _ => continue,
            };
            self.report(
                Problem::Count(keyword, bound, string.char_count()),
                self.scan.offset(text),
                self.schema.place(slot),
            );
        }
        Some(())
    }

    /// Checks a string against a format; `text` starts with it.
    #[cfg(feature = "format")]
    #[inline(never)]
    fn format(&mut self, slot: Slot, instruction: Instruction, string: Str<'i>, text: &'i [u8]) {
        if let Some(&format) = Format::ALL.get(instruction.argument as usize)
            && !format.matches(string)
        {
            self.report(Problem::Format(format), self.scan.offset(text), self.schema.place(slot));
        }
    }

    /// Checks a number.
    #[inline(never)]
    pub(super) fn number(&mut self, slot: Slot, text: &'i [u8], after: &'i [u8]) -> Option<()> {
        let raw = self.raw(text, after);
        let number = Number::new(raw);
        let small = small(text);
        let integer = small.map_or_else(|| number.is_integer(), |(small, _)| !small.fraction);
        if !self.fits(slot, if integer { types::INTEGER } else { types::FRACTION }, text) {
            return Some(());
        }
        self.one_of(slot, text, after)?;
        let mut cursor = Cursor::new(self.schema.program(), slot);
        while let Some(instruction) = cursor.next(self.schema.program()) {
            if !matches!(instruction.op, op::MINIMUM..=op::MULTIPLE_OF) {
                continue;
            }
            let (bound, inline) = self.bound(instruction);
            self.step(word_of((raw.len() + bound.len()) / 64))?;
            if instruction.op == op::MULTIPLE_OF {
                if number.is_multiple_of(Number::new(bound)) == Some(false) {
                    let (at, schema_at) = (self.scan.offset(text), self.schema.place(slot));
                    self.report(Problem::Bound(Keyword::MultipleOf, bound), at, schema_at);
                }
                continue;
            }
            let order = match (small, inline) {
                (Some((number, _)), Some(bound)) => number.compare(bound),
                _ => number.compare(Number::new(bound)),
            };
            let (fits, keyword) = match instruction.op {
                op::MINIMUM => (order != Ordering::Less, Keyword::Minimum),
                op::MAXIMUM => (order != Ordering::Greater, Keyword::Maximum),
                op::EXCLUSIVE_MINIMUM => (order == Ordering::Greater, Keyword::ExclusiveMinimum),
                _ => (order == Ordering::Less, Keyword::ExclusiveMaximum),
            };
            if !fits {
                self.report(Problem::Bound(keyword, bound), self.scan.offset(text), self.schema.place(slot));
            }
        }
        Some(())
    }

    /// Checks a value of which only its type and `enum` matter.
    #[inline(never)]
    pub(super) fn other(&mut self, slot: Slot, bit: u8, text: &'i [u8], after: &'i [u8]) -> Option<()> {
        if self.fits(slot, bit, text) { self.one_of(slot, text, after) } else { Some(()) }
    }

    /// Whether a value of this type is accepted; reports it if not.
    fn fits(&mut self, slot: Slot, bit: u8, text: &'i [u8]) -> bool {
        let types = match slot.as_immediate() {
            Some((types, _)) => types,
            None => Node::read(self.schema.program(), slot.0 as usize).types,
        };
        if types & bit == 0 {
            self.wrong_type(slot, types, self.scan.offset(text));
        }
        types & bit != 0
    }

    /// Checks `enum` and `const`.
    pub(super) fn one_of(&mut self, slot: Slot, text: &'i [u8], after: &'i [u8]) -> Option<()> {
        let node = slot.as_node().map(|at| Node::read(self.schema.program(), at));
        if node.is_none_or(|node| node.kinds & kind::VALUE == 0) {
            return Some(());
        }
        let value = Value::new(self.raw(text, after));
        let mut cursor = Cursor::new(self.schema.program(), slot);
        while let Some(instruction) = cursor.next(self.schema.program()) {
            if !matches!(instruction.op, op::ENUM | op::CONST) || self.has(instruction, value)? {
                continue;
            }
            let schema = self.schema.texts();
            let problem = if instruction.op == op::ENUM {
                Problem::Enum(instruction.operand(self.schema.program()) as usize)
            } else {
                Problem::Const(Candidate::read(self.schema.program(), instruction, 0).raw(schema))
            };
            self.report(problem, self.scan.offset(text), self.schema.place(slot));
        }
        Some(())
    }

    /// Whether a value is among the candidates.
    pub(super) fn has(&mut self, instruction: Instruction, value: Value<'i>) -> Option<bool> {
        let (text, program) = (self.schema.texts(), self.schema.program());
        let raw = value.raw().as_bytes();
        let kind = value.kind();
        let escaped = kind == Kind::String && raw.contains(&b'\\');
        for number in 0..instruction.argument {
            let candidate = Candidate::read(program, instruction, number);
            let decoded = match kind {
                Kind::String => escaped || candidate.is(Form::Escaped),
                Kind::Number => candidate.is(Form::Number),
                _ => false,
            };
            // Texts of different lengths are compared only if they are decoded.
            let length = candidate.length();
            let compared = if decoded || length == raw.len() { length + raw.len() } else { 0 };
            self.step(1 + word_of(compared / 128))?;
            if candidate.bytes(text) == Some(raw) {
                return Some(true);
            }
            // Texts that differ can still be the same value.
            let other = || Value::new(candidate.raw(text));
            let equal = match kind {
                Kind::String if decoded => other().as_str() == value.as_str(),
                Kind::Number if decoded => other().as_number() == value.as_number(),
                Kind::Object | Kind::Array if candidate.is(Form::Container) => self.equal(value, other())?,
                _ => false,
            };
            if equal {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The text of a value that was read.
    fn raw(&self, text: &'i [u8], after: &'i [u8]) -> &'i str {
        self.text.get(self.scan.offset(text)..self.scan.offset(after)).unwrap_or_default()
    }

    /// The bound of an instruction: its text, and its value if that is a small integer.
    fn bound(&self, instruction: Instruction) -> (&'s str, Option<i32>) {
        let [offset, value] = words(self.schema.program(), instruction.at + 4);
        let length = (instruction.argument & (INLINE - 1)) as usize;
        let text = self.schema.texts().get(offset as usize, length).unwrap_or_default();
        (text, (instruction.argument & INLINE != 0).then_some(value.cast_signed()))
    }
}

/// A number of few digits before its point, the common case.
#[derive(Clone, Copy)]
pub(super) struct Small {
    whole: i32,
    negative: bool,
    /// It is not an integer.
    pub(super) fraction: bool,
}

impl Small {
    pub(super) fn compare(self, bound: i32) -> Ordering {
        let rest = match (self.fraction, self.negative) {
            (false, _) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (true, true) => Ordering::Less,
        };
        self.whole.cmp(&bound).then(rest)
    }
}

/// The small number that `text` starts with, and what comes after it.
pub(super) fn small(text: &[u8]) -> Option<(Small, &[u8])> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut whole, mut after) = (0i32, digits);
    while let [digit @ b'0'..=b'9', rest @ ..] = after {
        whole = whole.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'));
        after = rest;
    }
    // A zero stands alone.
    let count = digits.len() - after.len();
    if !(1..=9).contains(&count) || (count > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    let mut fraction = false;
    if let [b'.', decimals @ ..] = after {
        after = decimals;
        while let [digit @ b'0'..=b'9', rest @ ..] = after {
            fraction |= *digit != b'0';
            after = rest;
        }
        if after.len() == decimals.len() {
            return None;
        }
    }
    let small = Small { whole: if negative { -whole } else { whole }, negative, fraction };
    (!matches!(after, [b'e' | b'E', ..])).then_some((small, after))
}
