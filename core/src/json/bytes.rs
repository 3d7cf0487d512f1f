//! Searching bytes, many at a time.
//!
//! Strings are searched a machine word at a time (the zero-byte test of Hacker's Delight, section 6-1).

use core::num::NonZero;

/// Reads blanks.
#[inline(always)]
pub(crate) fn blanks(rest: &[u8]) -> &[u8] {
    match rest {
        [b'!'..=0xFF, ..] => rest,
        _ => blanks_rest(rest),
    }
}

/// Reads blanks where one space is likely, as most writers put it after a colon and a comma.
#[inline(always)]
pub(crate) fn spaces(rest: &[u8]) -> &[u8] {
    match rest {
        [b' ', b'!'..=0xFF, ..] => rest.get(1..).unwrap_or_default(),
        _ => blanks(rest),
    }
}

#[cold]
#[inline(never)]
pub(super) fn blanks_rest(mut rest: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\r' | b'\t', after @ ..] = rest {
        rest = after;
    }
    rest
}

#[inline(always)]
pub(super) fn digits(mut rest: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', after @ ..] = rest {
        rest = after;
    }
    rest
}

/// Reads up to the first quote, backslash or control character.
#[inline(always)]
pub(super) fn plain_bytes(mut rest: &[u8]) -> &[u8] {
    while let [b, after @ ..] = rest
        && *b >= b' '
        && *b != b'"'
        && *b != b'\\'
    {
        rest = after;
    }
    rest
}

/// Reads on while 16 bytes hold no quote, no backslash and nothing that `stops`, where compilers make vectors of
/// arrays.
#[inline(always)]
fn vectors(mut rest: &[u8], stops: impl Fn(u8) -> bool) -> &[u8] {
    if cfg!(any(target_feature = "sse2", target_feature = "neon")) {
        while let Some((bytes, after)) = rest.split_first_chunk::<16>()
            && !bytes.iter().fold(false, |any, &b| any | stops(b) | ((b ^ b'"').min(b ^ b'\\') == 0))
        {
            rest = after;
        }
    }
    rest
}

/// As [`plain_bytes`], in what is long.
#[inline(always)]
pub(super) fn long(rest: &[u8]) -> &[u8] {
    vectors(rest, |b| b < b' ')
}

/// As [`plain_bytes`], in what may be long.
#[inline(never)]
pub(crate) fn plain(mut rest: &[u8]) -> &[u8] {
    while let Some((word, after)) = rest.split_first_chunk() {
        if let Some(stop) = stop(word) {
            return rest.get(stop..).unwrap_or_default();
        }
        rest = after;
    }
    plain_bytes(rest)
}

/// Reads up to the first quote, backslash, control character or byte that is not ASCII, in what may be long.
#[inline(never)]
pub(crate) fn ascii(mut rest: &[u8]) -> &[u8] {
    rest = vectors(rest, |b| b.cast_signed() < 0x20);
    while let Some((word, after)) = rest.split_first_chunk() {
        if let Some(stop) = early_stop(word) {
            return rest.get(stop..).unwrap_or_default();
        }
        rest = after;
    }
    while let [b' '..=0x7F, after @ ..] = rest
        && !matches!(rest, [b'"' | b'\\', ..])
    {
        rest = after;
    }
    rest
}

/// As [`plain`], which may also stop at a byte that is not ASCII, in what is likely short.
#[inline(always)]
pub(super) fn plain_key(mut rest: &[u8]) -> &[u8] {
    while let Some((word, after)) = rest.split_first_chunk() {
        if let Some(stop) = early_stop(word) {
            return rest.get(stop..).unwrap_or_default();
        }
        rest = after;
    }
    plain_bytes(rest)
}

/// Bytes up to the first quote, backslash or control character.
#[cfg(feature = "stream")]
#[inline]
pub(crate) fn plain_len(text: &[u8]) -> usize {
    text.len().wrapping_sub(plain(text).len())
}

/// The place of the first quote, backslash or control character.
#[inline(always)]
pub(super) fn stop(word: &[u8; size_of::<usize>()]) -> Option<usize> {
    let word = usize::from_le_bytes(*word);
    first(special(word) & !word)
}

/// Bytes of the word before its first backslash.
#[inline(always)]
pub(super) fn backslash(word: &[u8; size_of::<usize>()]) -> usize {
    let word = usize::from_le_bytes(*word) ^ (ONES * 0x5C);
    first(word.wrapping_sub(ONES) & !word).unwrap_or(size_of::<usize>())
}

/// [`stop`], which may also be at a byte that is not ASCII.
#[inline(always)]
pub(super) fn early_stop(word: &[u8; size_of::<usize>()]) -> Option<usize> {
    first(special(usize::from_le_bytes(*word)))
}

/// A word whose lowest byte with its high bit set is the first quote, backslash, byte below 0x20, or,
/// perhaps, above 0x7F. Bytes above that one mean nothing.
#[inline(always)]
const fn special(word: usize) -> usize {
    // Swapping bit 1 puts the quote (0x22) at 0x20, next to the control characters: one test for both.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * 0x5C)).wrapping_sub(ONES);
    quote_or_control | backslash
}

/// The place of the lowest byte with its high bit set.
#[inline(always)]
fn first(word: usize) -> Option<usize> {
    NonZero::new(word & (ONES * 0x80)).map(|found| found.trailing_zeros() as usize / 8)
}

/// What follows the value that checked text starts with: brackets are counted and strings are passed over,
/// nothing else is looked at.
pub(crate) fn after_value(rest: &[u8]) -> &[u8] {
    match rest {
        [b'"', after @ ..] => after_string(after),
        [b'{' | b'[', after @ ..] => after_container(after),
        _ => after_scalar(rest),
    }
}

/// What follows the closing quote, from inside the string.
pub(crate) fn after_string(mut rest: &[u8]) -> &[u8] {
    loop {
        while let Some((word, after)) = rest.split_first_chunk() {
            match stop(word) {
                None => rest = after,
                Some(stop) => {
                    rest = rest.get(stop..).unwrap_or_default();
                    break;
                }
            }
        }
        match plain_bytes(rest) {
            [b'"', after @ ..] => return after,
            // The backslash and what it escapes; a `u` leaves its digits, which are plain.
            [b'\\', _, after @ ..] => rest = after,
            [_, after @ ..] => rest = after,
            [] => return &[],
        }
    }
}

fn after_container(mut rest: &[u8]) -> &[u8] {
    let mut depth = 1usize;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'"' => rest = after_string(after),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    rest
}

fn after_scalar(mut rest: &[u8]) -> &[u8] {
    while let [byte, after @ ..] = rest
        && !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
    {
        rest = after;
    }
    rest
}

/// Whether all of `text` is ASCII.
pub(super) fn is_ascii(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk() else { return text.is_ascii() };
    let (words, _) = text.as_chunks();
    let all = words.iter().fold(usize::from_le_bytes(*last), |all, word| all | usize::from_le_bytes(*word));
    all & (ONES * 0x80) == 0
}

const ONES: usize = usize::MAX / 0xFF;
