//! Typed arguments and results through serde and serde-json-core (feature `serde`).
//!
//! The text was read strictly and has passed the tool's schema before it comes here, and escapes are
//! rewritten to UTF-8 first: serde-json-core by itself passes over malformed values that a type does not
//! name, and refuses surrogate pairs. A `&str` field borrows and so cannot hold what still needs an escape
//! (quotes, backslashes, control characters): take a `heapless::String` for free text.
//!
//! A type to be written must not hold `char` or 128-bit integers, which serde-json-core cannot write.
//!
//! ```
//! use toolcore::prelude::*;
//!
//! #[derive(serde::Deserialize)]
//! struct Move { steps: u16, to: heapless::String<16> }
//! #[derive(serde::Serialize)]
//! struct Position { x: u16 }
//!
//! fn move_to(call: &Call, result: &mut ToolResult) -> Result<(), Failure> {
//!     let arguments: Move = call.args.parse()?;
//!     Ok(result.value(&Position { x: arguments.steps })?)
//! }
//! # let _: fn(&Call, &mut ToolResult) -> Result<(), Failure> = move_to;
//! ```

use serde::{Deserialize, Serialize};

use crate::call::{ArgError, Args};
use crate::json::rewrite_escapes;
use crate::result::{ResultError, ToolResult};

impl<'c> Args<'c> {
    /// All arguments as a value of type `T`, which is the tool's parameters in Rust.
    pub fn parse<T: Deserialize<'c>>(&self) -> Result<T, ArgError> {
        let text = self.value().raw();
        let text =
            if text.contains("\\u") { self.keep("", |sink| rewrite_escapes(text, sink))? } else { text };
        let mut unescaped = [0u8; UNESCAPED_MAX];
        let parsed = serde_json_core::from_str_escaped(text, &mut unescaped);
        parsed.map(|(value, _)| value).map_err(|_| self.fail("", ArgError::Unfit))
    }
}

impl ToolResult<'_> {
    /// Appends `value` as a JSON part. It must fit what is left of the result's memory.
    pub fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ResultError> {
        self.write_json(|place| serde_json_core::to_slice(value, place).ok())
    }
}

/// The longest string with escapes that a typed argument holds, in bytes.
pub const UNESCAPED_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::json::{self, Options};

    #[derive(Deserialize, Debug, PartialEq)]
    struct Note<'a> {
        title: &'a str,
        text: heapless::String<32>,
    }

    fn parse(text: &str) -> Result<(std::string::String, std::string::String), ArgError> {
        let mut memory = [0u8; 128];
        let value = json::parse(text.as_bytes(), &Options::default()).unwrap();
        let args = Args::new(value, Arena::new(&mut memory));
        args.parse::<Note>().map(|note| (note.title.into(), note.text.as_str().into()))
    }

    #[test]
    fn an_emoji_arrives_however_it_was_escaped() {
        let expected = Ok(("caf\u{e9} \u{1f600}".into(), "\u{1f600} \"quoted\"\n".into()));
        assert_eq!(
            parse("{\"title\":\"caf\u{e9} \u{1f600}\",\"text\":\"\u{1f600} \\\"quoted\\\"\\n\"}"),
            expected
        );
        assert_eq!(
            parse(
                "{\"title\":\"caf\\u00e9 \\ud83d\\ude00\",\"text\":\"\\uD83D\\uDE00 \\u0022quoted\\u0022\\u000a\"}"
            ),
            expected
        );
    }

    #[test]
    fn what_does_not_fit_the_type_is_an_error() {
        assert_eq!(parse("{\"title\":\"a\"}"), Err(ArgError::Unfit));
        assert_eq!(parse("{\"title\":1,\"text\":\"\"}"), Err(ArgError::Unfit));
    }

    #[test]
    fn a_value_is_written_as_a_json_part() {
        #[derive(Serialize)]
        struct Reading {
            celsius: i8,
            place: &'static str,
        }
        let mut memory = [0u8; 64];
        let mut result = ToolResult::new(&mut memory);
        result.value(&Reading { celsius: -4, place: "Troms\u{f8} \"N\"" }).unwrap();
        let expected = crate::result::Part::Json("{\"celsius\":-4,\"place\":\"Troms\u{f8} \\\"N\\\"\"}");
        assert_eq!(result.parts().next(), Some(expected));
        let mut small = [0u8; 8];
        let mut result = ToolResult::new(&mut small);
        assert!(result.value(&Reading { celsius: 0, place: "" }).is_err());
        assert!(result.is_empty());
    }
}
