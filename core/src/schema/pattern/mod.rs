//! Regular expressions of ECMA-262 for `pattern` and `patternProperties`, without a heap and without
//! backtracking.
//!
//! [`compile`] turns a pattern's text into a program in the caller's memory; [`is_match`] says whether a text
//! has a match anywhere. The rules are those of ECMA-262 (2025), section 22.2, with the flag `u`: a pattern
//! and a text are sequences of code points. Where people write what only Annex B of it allows, and it can
//! mean one thing only, it is taken: a `]` or `}` that opens nothing, a `{` that begins no quantifier, `-`
//! beside a class escape, and a backslash before anything that is no letter or digit (`\-`, `\@`).
//!
//! # What there is
//!
//! Literals, `.`, classes, `\d \D \w \W \s \S`, `\b \B ^ $`, `\t \n \r \f \v \0 \cX \xHH \uHHHH \u{…}` and
//! pairs of surrogates, `\p{…}` and `\P{…}` for general categories, the binary properties `Any`, `ASCII`,
//! `ASCII_Hex_Digit`, `Assigned`, `Alphabetic`, `Lowercase`, `Uppercase` and `White_Space`, and common
//! scripts (Latin, Greek, Han and the like); groups of all kinds, alternation, every quantifier, lookahead.
//!
//! Backreferences, lookbehind and modifiers are not: they are refused, as [`PatternErrorKind`] says, never
//! taken for something else. Lazy quantifiers match the same texts as greedy ones, so they are the same.
//!
//! Groups can have names, which change nothing; two that can take part in the same match must not have the same
//! one, while those in different alternatives can, as of ECMA-262 2025.
//!
//! # Cost
//!
//! Compiling takes one pass, and time in proportion to the pattern. A program takes 16 bytes and at most 8 for
//! each byte of the pattern, which `|` needs; what is usual takes 4. Repetition does not multiply that: where
//! copies would take more, it is counted, by a few words, whatever its bounds. A program has at most
//! [`MAX_WORDS`] words of 4 bytes; a pattern beyond that is refused, and so is one that would count too much:
//! more than [`MAX_REPEAT`] repetitions, or more than [`MAX_COUNTS`] counts in all, such as
//! `((ab){1000}){1000}`.
//!
//! Matching follows all ways through the program at once, so it takes time in proportion to the length of the
//! text times that of the program, and of its counts by the word (32 of them); a lookahead can multiply that by
//! the length of the text once more for each one around it, and a group that only an assertion lets be empty,
//! such as `(^|a){1000}`, by how often it is counted. All of it is taken from the budget: a step is [`VISITS`]
//! instructions or words looked at. Work memory is two bits for each word of the program and one for each count
//! ([`work_words`]).
//!
//! Nothing here recurses, allocates or panics. A program that no compilation made gives wrong answers, no more.
//!
//! ```
//! use toolcore::json::Str;
//! use toolcore::schema::pattern::{compile, is_match, work_words};
//!
//! let pattern = Str::from_plain("^[a-z]{2,8}(-[0-9]+)?$").unwrap();
//! let (mut program, mut work, mut steps) = ([0; 128], [0; 64], 1000);
//! let used = compile(pattern, &mut program).unwrap();
//! assert!(work_words(&program[..used]) <= work.len());
//! let mut says = |text| is_match(&program[..used], Str::from_plain(text).unwrap(), &mut work, &mut steps);
//! assert_eq!(says("ab-12"), Ok(true));
//! assert_eq!(says("a-12"), Ok(false));
//! ```

mod class;
mod code;
mod counters;
mod escape;
mod name;
mod parse;
mod repeat;
mod run;
mod set;
mod table;
mod unicode;

use crate::json::Str;
use code::Code;
use parse::{Parser, Size};
use thiserror_no_std::Error;

pub use code::MAX_WORDS;
pub use name::MAX_NAMES;
pub use parse::{MAX_DEPTH, MAX_LOOKS};
pub use repeat::{MAX_COUNTS, MAX_REPEAT};
pub use run::{VISITS, is_match, work_words};

/// Compiles a pattern into `memory` and gives the bytes used, at its start. The program refers to nothing
/// outside of itself, so it can be moved.
pub fn compile(pattern: Str<'_>, memory: &mut [u8]) -> Result<usize, PatternError> {
    let available = memory.len();
    let size = build(pattern, memory)?;
    if size.peak > available {
        return Err(PatternError { kind: PatternErrorKind::NoSpace { need: size.peak }, offset: 0 });
    }
    Ok(size.used)
}

/// How many bytes are enough to compile a pattern.
pub fn program_size(pattern: Str<'_>) -> Result<usize, PatternError> {
    Ok(build(pattern, &mut [])?.peak)
}

/// Compiles as far as there is memory, and measures.
pub(super) fn build(pattern: Str<'_>, memory: &mut [u8]) -> Result<Size, PatternError> {
    Parser::new(pattern, Code::new(memory)).finish()
}

/// Whether a text is a regular expression at all, also one that cannot be compiled here (the format `regex`).
pub fn is_valid(pattern: Str<'_>) -> bool {
    !matches!(program_size(pattern), Err(error) if error.kind.is_syntax())
}

/// A pattern that was refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{} at byte {offset} of the pattern", .kind.phrase())]
pub struct PatternError {
    /// What is wrong.
    pub kind: PatternErrorKind,
    /// Where: bytes of the pattern's source text before the part that is wrong.
    pub offset: usize,
}
impl core::error::Error for PatternError {}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternErrorKind {
    /// A group or a class is not closed.
    Unclosed,
    /// A `)` closes nothing.
    Unopened,
    /// A quantifier has nothing before it that can be repeated.
    NothingToRepeat,
    /// A quantifier whose bounds are out of order or in part absent: `{2,1}`, `{,3}`.
    BadQuantifier,
    /// A backslash before something that it gives no meaning to.
    BadEscape,
    /// A range whose end comes before its start.
    BadRange,
    /// `(?` that begins no group.
    BadGroup,
    /// A backreference to a group that does not exist.
    BadReference,
    /// The name of a group that another one has, other than in another alternative.
    DuplicateName,
    /// A property that is not known here.
    UnknownProperty,
    /// A backreference.
    Backreference,
    /// `(?<=` or `(?<!`.
    Lookbehind,
    /// `(?i:` and the like.
    Modifier,
    /// More than [`MAX_NAMES`] names of groups.
    TooManyNames,
    /// Groups are nested deeper than [`MAX_DEPTH`], or lookaheads deeper than [`MAX_LOOKS`].
    TooDeep,
    /// A repetition of more than [`MAX_REPEAT`], more than [`MAX_COUNTS`] counts in all, or a program of more
    /// than [`MAX_WORDS`] words.
    TooLarge,
    /// The memory is too small.
    NoSpace {
        /// Bytes that would do.
        need: usize,
    },
}

impl PatternErrorKind {
    /// The kind as a phrase.
    pub const fn phrase(self) -> &'static str {
        match self {
            PatternErrorKind::Unclosed => "group or class that is not closed",
            PatternErrorKind::Unopened => "\")\" that closes nothing",
            PatternErrorKind::NothingToRepeat => "quantifier with nothing to repeat",
            PatternErrorKind::BadQuantifier => "quantifier with wrong bounds",
            PatternErrorKind::BadEscape => "escape without a meaning",
            PatternErrorKind::BadRange => "range out of order",
            PatternErrorKind::BadGroup => "\"(?\" that begins no group",
            PatternErrorKind::BadReference => "backreference to no group",
            PatternErrorKind::DuplicateName => "group name that stands twice",
            PatternErrorKind::TooManyNames => "too many group names",
            PatternErrorKind::UnknownProperty => "property not known",
            PatternErrorKind::Backreference => "backreference not supported",
            PatternErrorKind::Lookbehind => "lookbehind not supported",
            PatternErrorKind::Modifier => "modifier not supported",
            PatternErrorKind::TooDeep => "groups nested too deep",
            PatternErrorKind::TooLarge => "repetition or pattern too large",
            PatternErrorKind::NoSpace { .. } => "no space for the compiled pattern",
        }
    }

    /// What to write instead, where that can be said; nothing else.
    pub const fn remedy(self) -> &'static str {
        match self {
            PatternErrorKind::BadEscape => {
                "use escapes of ECMA-262, such as \\d, \\w, \\s, \\b, and ^ and $ for the ends"
            }
            PatternErrorKind::BadGroup => "groups are (…), (?:…), (?=…), (?!…) and (?<name>…)",
            PatternErrorKind::DuplicateName => "use another name, or (?:…)",
            PatternErrorKind::TooManyNames => "use (?:…)",
            PatternErrorKind::UnknownProperty => "use a general category such as \\p{L}, or a class",
            PatternErrorKind::Backreference => "write out what can stand there",
            PatternErrorKind::Lookbehind => "match what comes before instead",
            PatternErrorKind::Modifier => "write out both cases, such as [Aa]",
            PatternErrorKind::TooLarge => "use smaller bounds, or * and maxLength",
            PatternErrorKind::TooDeep => "use fewer groups inside one another",
            _ => "",
        }
    }

    /// Whether the text is no regular expression of ECMA-262, as opposed to one that is not supported.
    pub const fn is_syntax(self) -> bool {
        matches!(
            self,
            PatternErrorKind::Unclosed
                | PatternErrorKind::Unopened
                | PatternErrorKind::NothingToRepeat
                | PatternErrorKind::BadQuantifier
                | PatternErrorKind::BadEscape
                | PatternErrorKind::BadRange
                | PatternErrorKind::BadGroup
                | PatternErrorKind::BadReference
                | PatternErrorKind::DuplicateName
        )
    }
}

/// Why a match could not be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MatchError {
    /// The work memory is too small.
    #[error("no space: {need} words of work memory needed")]
    NoWork {
        /// Words that would do.
        need: usize,
    },
    /// The steps are used up.
    #[error("step limit reached")]
    StepLimit,
}
impl core::error::Error for MatchError {}
