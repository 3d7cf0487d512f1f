//! Working memory of one parse or dispatch, handed in by the caller and free again afterwards.

/// Words for call records and the schema checker, bytes for decoded text and results.
///
/// What a call needs: 10 words for each call of a reply and, for checking, about 8 for each level of
/// nesting of its arguments; bytes for the arguments where the provider sends them as escaped text, for an
/// id that is minted or made to fit, and for the result. Errors name what was missing.
#[derive(Debug, Default)]
pub struct Scratch<'s> {
    /// Call records, and the checker's stack.
    pub words: &'s mut [u32],
    /// Decoded arguments, rewritten calls and results.
    pub bytes: &'s mut [u8],
}

impl<'s> Scratch<'s> {
    /// Scratch over these words and bytes.
    pub fn new(words: &'s mut [u32], bytes: &'s mut [u8]) -> Self {
        Scratch { words, bytes }
    }

    /// The same memory for a shorter time.
    pub fn reborrow(&mut self) -> Scratch<'_> {
        Scratch { words: self.words, bytes: self.bytes }
    }
}
