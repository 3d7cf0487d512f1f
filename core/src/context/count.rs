//! How long a text is, in tokens.

/// Counts the tokens of a text.
///
/// Any closure `Fn(&str) -> u32` is a counter, so a host can pass its model's own tokenizer. The same
/// text must always give the same number. Counts need not be additive: what is held against the
/// budget is always the count of the finished text.
///
/// ```
/// use toolcore::context::TokenCounter;
/// let words = |text: &str| text.split_whitespace().count() as u32;
/// assert_eq!(words.count("three short words"), 3);
/// ```
pub trait TokenCounter {
    /// The number of tokens of `text`.
    fn count(&self, text: &str) -> u32;

    /// The number of tokens of any text of `bytes` bytes, if this counter looks at nothing else.
    ///
    /// A counter that answers here never needs the text to be in memory, so that a render with an
    /// empty buffer measures exactly. The default is `None`: the text has to be read.
    fn count_len(&self, bytes: usize) -> Option<u32> {
        let _ = bytes;
        None
    }
}

impl<F: Fn(&str) -> u32> TokenCounter for F {
    fn count(&self, text: &str) -> u32 {
        self(text)
    }
}

/// One token for every four bytes of UTF-8, rounded up: `""` is 0, `"a"` is 1, `"abcde"` is 2.
///
/// The usual rule of thumb for English prose. Text of other scripts has more bytes to a character,
/// and code more tokens to a byte; leave a margin, or hand in the model's own counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytesPerFour;

impl TokenCounter for BytesPerFour {
    fn count(&self, text: &str) -> u32 {
        tokens_of(text.len())
    }

    fn count_len(&self, bytes: usize) -> Option<u32> {
        Some(tokens_of(bytes))
    }
}

fn tokens_of(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(4)).unwrap_or(u32::MAX)
}
