//! Numbers: the grammar, exact order, conversion.

use crate::json::{Number, NumberError};
use core::cmp::Ordering::{Equal, Less};
use std::format;

fn number(text: &str) -> Number<'_> {
    Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
}

#[test]
fn only_the_grammar_of_json_is_a_number() {
    for text in ["0", "-0", "10", "1.50", "0.0", "1e5", "1E+05", "-1.5e-300"] {
        assert_eq!(number(text).raw(), text);
    }
    for text in
        ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x10", "1 ", " 1", "1,", "NaN", "Infinity", "--1"]
    {
        assert!(Number::parse(text).is_none(), "{text}");
    }
}

#[test]
fn numbers_compare_by_exact_value() {
    let long_a = format!("0.1{}1", "0".repeat(500));
    let long_b = format!("0.1{}2", "0".repeat(500));
    let shifted = format!("1{}10e-503", "0".repeat(500));
    let zeros = format!("0.{}1e1001", "0".repeat(1000));
    for (a, b, order) in [
        ("1.0", "1e0", Equal),
        ("1", "10e-1", Equal),
        ("-0", "0", Equal),
        ("0e999999999999999999999999999999", "-0.000e-5", Equal),
        ("1180591620717411303424", "1180591620717411303425", Less),
        ("9007199254740992", "9007199254740993", Less),
        ("1e400", "1e401", Less),
        ("9.999e400", "1e401", Less),
        ("-1e401", "-1e400", Less),
        ("-1", "0", Less),
        ("-1e-400", "1e-400", Less),
        ("0", "1e-999999999999999999999999999999", Less),
        ("1e-400", "1e-399", Less),
        ("123", "1.23e2", Equal),
        ("0.00123e5", "123", Equal),
        ("99.99", "100", Less),
        ("12", "12.000000000000000000000001", Less),
        ("1e100000000000000000000000000000", "1e100000000000000000000000000001", Less),
        ("10e100000000000000000000000000000", "1e100000000000000000000000000001", Equal),
        ("1e-100000000000000000000000000001", "1e-100000000000000000000000000000", Less),
        ("1e99999999999999999999999999999", "1e100000000000000000000000000000", Less),
        ("10e99999999999999999999999999999", "1e100000000000000000000000000000", Equal),
        ("1e-100000000000000000000000000000", "1e100000000000000000000000000000", Less),
        ("1e+0000000000000000000000000000005", "1e5", Equal),
        (&long_a, &long_b, Less),
        (&long_a, &shifted, Equal),
        (&zeros, "1", Equal),
    ] {
        assert_eq!(number(a).compare(number(b)), order, "{a} and {b}");
        assert_eq!(number(b).compare(number(a)), order.reverse(), "{b} and {a}");
        assert_eq!(number(a) == number(b), order == Equal);
        assert!(number(a) <= number(b));
    }
}

#[test]
fn integers_are_those_by_value() {
    for text in ["0", "-0.00", "5", "5.0", "1e2", "1.25e2", "100e-2", "1e999999999999999999999999", "0e-5"] {
        assert!(number(text).is_integer(), "{text}");
    }
    for text in ["0.5", "5.5", "1e-2", "1.25e1", "101e-2", "1e-999999999999999999999999"] {
        assert!(!number(text).is_integer(), "{text}");
    }
}

#[test]
fn signs_and_zeros_are_those_of_the_value() {
    for (text, negative, zero) in
        [("0", false, true), ("-0.0e9", false, true), ("-0.1", true, false), ("1e-999", false, false)]
    {
        assert_eq!((number(text).is_negative(), number(text).is_zero()), (negative, zero), "{text}");
    }
}

#[test]
fn conversion_is_exact_or_an_error() {
    use NumberError::{NotInteger, OutOfRange};
    for (text, signed, unsigned) in [
        ("0", Ok(0), Ok(0)),
        ("-0.0", Ok(0), Ok(0)),
        ("5.0", Ok(5), Ok(5)),
        ("1e2", Ok(100), Ok(100)),
        ("1200e-2", Ok(12), Ok(12)),
        ("-7", Ok(-7), Err(OutOfRange)),
        ("5.5", Err(NotInteger), Err(NotInteger)),
        ("-5.5", Err(NotInteger), Err(NotInteger)),
        ("1e-1", Err(NotInteger), Err(NotInteger)),
        ("2512292042121000001", Ok(2_512_292_042_121_000_001), Ok(2_512_292_042_121_000_001)),
        ("9223372036854775807", Ok(i64::MAX), Ok(i64::MAX as u64)),
        ("9223372036854775808", Err(OutOfRange), Ok(1 << 63)),
        ("-9223372036854775808", Ok(i64::MIN), Err(OutOfRange)),
        ("-9223372036854775809", Err(OutOfRange), Err(OutOfRange)),
        ("18446744073709551615", Err(OutOfRange), Ok(u64::MAX)),
        ("1844674407370955161.5e1", Err(OutOfRange), Ok(u64::MAX)),
        ("18446744073709551616", Err(OutOfRange), Err(OutOfRange)),
        ("123456789012345678901234567890", Err(OutOfRange), Err(OutOfRange)),
        ("1e19", Err(OutOfRange), Ok(10_000_000_000_000_000_000)),
        ("1e20", Err(OutOfRange), Err(OutOfRange)),
        ("1e999999999999999999999999", Err(OutOfRange), Err(OutOfRange)),
        ("0e999999999999999999999999", Ok(0), Ok(0)),
    ] {
        assert_eq!((number(text).as_i64(), number(text).as_u64()), (signed, unsigned), "{text}");
    }
    assert_eq!(number("0.1").as_f64(), Ok(0.1));
    assert_eq!(number("-1E+2").as_f64(), Ok(-100.0));
    assert_eq!(number("1e-999").as_f64(), Ok(0.0));
    assert_eq!(number("1e999").as_f64(), Err(OutOfRange));
    assert_eq!(number("-1e999999999999999999999999").as_f64(), Err(OutOfRange));
}

/// Against integers: both numbers written with random point, zeros and exponent.
#[test]
fn every_way_to_write_a_value_compares_the_same() {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u32::try_from(state % u64::from(below)).unwrap()
    };
    for _ in 0..20_000 {
        let mut one = || {
            let (digits, scale) = (i64::from(random(2_000)) - 1_000, random(9).cast_signed() - 4);
            let (sign, size) = (if digits < 0 { "-" } else { "" }, digits.unsigned_abs());
            let exact = i128::from(digits) * 10i128.pow((scale + 4).cast_unsigned());
            let text = match random(4) {
                0 => format!("{sign}{size}e{scale}"),
                1 => format!("{sign}{}E{}", size * 1000, scale - 3),
                2 => format!("{sign}0.{size:07}e+{}", scale + 7).replace("+-", "-"),
                _ => format!("{sign}{}.{:02}0e{}", size / 100, size % 100, scale + 2),
            };
            (exact, text)
        };
        let ((a, a_text), (b, b_text)) = (one(), one());
        assert_eq!(number(&a_text).compare(number(&b_text)), a.cmp(&b), "{a_text} and {b_text}");
        assert_eq!(number(&a_text).is_integer(), a % 10_000 == 0, "{a_text}");
        let whole = (a % 10_000 == 0).then_some(i64::try_from(a / 10_000).unwrap());
        assert_eq!(number(&a_text).as_i64().ok(), whole, "{a_text}");
    }
}
