//! Numbers as exact decimals.
//!
//! A [`Number`] is its source text. It compares by value without rounding, for any number of digits and any
//! exponent, in time linear in the text: `1.0`, `1e0` and `10e-1` are equal, and `1e400` is less than
//! `1e401`. Only [`Number::as_f64`] uses floats.

use super::scan::Scan;
use core::cmp::Ordering;
use thiserror_no_std::Error;

/// A number's source text, checked. Equality and order are by value.
#[derive(Clone, Copy, Debug)]
pub struct Number<'j> {
    raw: &'j str,
}

/// Why a number does not convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NumberError {
    /// The type cannot hold a value of this size.
    #[error("number out of range")]
    OutOfRange,
    /// The number has a fraction.
    #[error("number is not an integer")]
    NotInteger,
}
impl core::error::Error for NumberError {}

impl<'j> Number<'j> {
    /// `raw` was checked.
    pub(crate) fn new(raw: &'j str) -> Self {
        Number { raw }
    }

    /// `text` as a number, if it is one in JSON's grammar, with nothing around it.
    pub fn parse(text: &'j str) -> Option<Self> {
        let rest = Scan::checked(text).number(text.as_bytes())?;
        rest.is_empty().then_some(Number { raw: text })
    }

    /// The source text.
    pub fn raw(self) -> &'j str {
        self.raw
    }

    /// Whether the value is an integer: `5`, `5.0` and `1e2` are, `5.5` and `1e-2` are not.
    pub fn is_integer(self) -> bool {
        let parts = Parts::of(self.raw);
        parts.is_zero() || parts.scale() >= 0
    }

    /// Whether the value is below zero. `-0` is not.
    pub fn is_negative(self) -> bool {
        let parts = Parts::of(self.raw);
        parts.negative && !parts.is_zero()
    }

    /// Whether the value is zero, `-0` and `0e9` included.
    pub fn is_zero(self) -> bool {
        Parts::of(self.raw).is_zero()
    }

    /// The value, if it is an integer that fits.
    pub fn as_i64(self) -> Result<i64, NumberError> {
        let magnitude = self.magnitude()?;
        if self.is_negative() {
            0i64.checked_sub_unsigned(magnitude).ok_or(NumberError::OutOfRange)
        } else {
            i64::try_from(magnitude).map_err(|_| NumberError::OutOfRange)
        }
    }

    /// The value, if it is an integer that fits.
    pub fn as_u64(self) -> Result<u64, NumberError> {
        let magnitude = self.magnitude()?;
        if self.is_negative() { Err(NumberError::OutOfRange) } else { Ok(magnitude) }
    }

    /// The nearest float. A value too large for one is out of range, never an infinity; one too small is
    /// zero.
    pub fn as_f64(self) -> Result<f64, NumberError> {
        match self.raw.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(NumberError::OutOfRange),
        }
    }

    /// Orders by exact value.
    pub fn compare(self, other: Number<'_>) -> Ordering {
        let (a, b) = (Parts::of(self.raw), Parts::of(other.raw));
        match (a.sign(), b.sign()) {
            (1, 1) => a.compare_magnitude(&b),
            (-1, -1) => b.compare_magnitude(&a),
            (a, b) => a.cmp(&b),
        }
    }

    /// Whether the value is an integral multiple of `other`, which is above zero. `None` if `other` has more
    /// digits than can be divided by: 37, without zeros at either end.
    pub(crate) fn is_multiple_of(self, other: Number<'_>) -> Option<bool> {
        let (a, b) = (Parts::of(self.raw), Parts::of(other.raw));
        let divisor = b.digits().try_fold(0u128, |value, digit| {
            value.checked_mul(10)?.checked_add(u128::from(digit)).filter(|value| *value < MAX_DIVISOR)
        })?;
        if divisor == 0 || a.is_zero() {
            return Some(divisor != 0);
        }
        // The last digit is not zero, so a value that ends further right than `other` does is no multiple.
        let zeros = difference(&a, &b) + a.last_place() - b.last_place();
        if zeros < 0 {
            return Some(false);
        }
        let remainder = a.digits().fold(0, |remainder, digit| (remainder * 10 + u128::from(digit)) % divisor);
        // Zeros beyond the divisor's twos and fives change nothing.
        let remainder = (0..zeros.min(128)).fold(remainder, |remainder, _| remainder * 10 % divisor);
        Some(remainder == 0)
    }

    /// Equal numbers have equal fingerprints.
    pub(crate) fn fingerprint(self) -> u32 {
        let parts = Parts::of(self.raw);
        if parts.is_zero() {
            return 0;
        }
        let scale = parts.scale().to_le_bytes();
        let bytes = parts.digits().chain(scale).chain([u8::from(parts.negative)]);
        bytes.fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// The value without its sign, if it is an integer that fits.
    fn magnitude(self) -> Result<u64, NumberError> {
        let parts = Parts::of(self.raw);
        if parts.is_zero() {
            return Ok(0);
        }
        let scale = u32::try_from(parts.scale().min(20)).map_err(|_| NumberError::NotInteger)?;
        let digits = parts
            .digits()
            .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit)));
        digits
            .zip(10u64.checked_pow(scale))
            .and_then(|(digits, power)| digits.checked_mul(power))
            .ok_or(NumberError::OutOfRange)
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Number<'_>) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}
impl Eq for Number<'_> {}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(*other)
    }
}

/// A number taken apart. Its value is `0.d1d2d3… * 10^(exponent + point)`, where the digits begin and end
/// with one that is not zero, and there are none for zero.
struct Parts<'j> {
    negative: bool,
    /// Digits before the point, from the first that is not zero, and after it, up to the last that is not
    /// zero.
    whole: &'j [u8],
    fraction: &'j [u8],
    /// Where the point stands, counted from the first digit.
    point: i64,
    exponent_negative: bool,
    /// Without leading zeros.
    exponent: &'j [u8],
}

impl<'j> Parts<'j> {
    fn of(raw: &'j str) -> Self {
        let (negative, text) = match raw.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (mantissa, exponent) = split(text, |b| matches!(b, b'e' | b'E'));
        let (exponent_negative, exponent) = match exponent {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (whole, fraction) = split(mantissa, |b| b == b'.');
        let mut whole = trim_start(whole);
        let mut fraction = trim_end(fraction);
        let mut point = length(whole);
        if whole.is_empty() {
            let kept = trim_start(fraction);
            point = length(kept) - length(fraction);
            fraction = kept;
        }
        if fraction.is_empty() {
            whole = trim_end(whole);
        }
        Parts { negative, whole, fraction, point, exponent_negative, exponent: trim_start(exponent) }
    }

    fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    fn sign(&self) -> i8 {
        match (self.is_zero(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn digits(&self) -> impl Iterator<Item = u8> + Clone {
        self.whole.iter().chain(self.fraction).map(|b| b.wrapping_sub(b'0'))
    }

    /// The power of ten of the last digit, clamped far beyond any length.
    fn scale(&self) -> i64 {
        difference(self, &ZERO) + self.last_place()
    }

    /// The same, but for the exponent.
    fn last_place(&self) -> i64 {
        self.point - length(self.whole) - length(self.fraction)
    }

    /// Orders two that are not zero, by size.
    fn compare_magnitude(&self, other: &Parts<'_>) -> Ordering {
        // Both have a first digit that is not zero, so the larger power of ten wins; with equal ones, the
        // digits decide.
        (difference(self, other) + self.point)
            .cmp(&other.point)
            .then_with(|| self.digits().cmp(other.digits()))
    }
}

/// The exponent of `a` minus that of `b`, exact up to `FAR` and clamped beyond. Once the difference of the
/// leading digits is that large, no digits after them can bring it back.
fn difference(a: &Parts<'_>, b: &Parts<'_>) -> i64 {
    let mut sum = 0i64;
    for place in (0..a.exponent.len().max(b.exponent.len())).rev() {
        let step = exponent_digit(a, place) - exponent_digit(b, place);
        sum = (sum * 10 + step).clamp(-FAR, FAR);
    }
    sum
}

/// The digit of the exponent that stands for `10^place`, with the exponent's sign.
fn exponent_digit(parts: &Parts<'_>, place: usize) -> i64 {
    let index = parts.exponent.len().checked_sub(place.saturating_add(1));
    let digit =
        index.and_then(|index| parts.exponent.get(index)).map_or(0, |b| i64::from(b.wrapping_sub(b'0')));
    if parts.exponent_negative { -digit } else { digit }
}

fn split(text: &[u8], at: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let mut parts = text.splitn(2, |&b| at(b));
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

fn trim_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&b| b == b'0').count();
    digits.get(zeros..).unwrap_or_default()
}

fn trim_end(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|&&b| b == b'0').count();
    digits.get(..digits.len() - zeros).unwrap_or_default()
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).unwrap_or(FAR).min(FAR)
}

/// A remainder below this can be multiplied by ten.
const MAX_DIVISOR: u128 = 10_000_000_000_000_000_000_000_000_000_000_000_000;

/// Further than any text is long, and small enough to multiply by ten.
const FAR: i64 = 100_000_000_000_000_000;

const ZERO: Parts<'static> =
    Parts { negative: false, whole: &[], fraction: &[], point: 0, exponent_negative: false, exponent: &[] };
