//! The part of a prompt that is chosen: blocks of context, rendered under a token budget.
//!
//! [`render`] takes blocks with priorities and gives a text that, counted as a whole, is within the
//! budget, with a [`Report`] of what became of each block.
//!
//! # Guarantees
//! - **Never over budget.** Each state that is accepted was rendered and counted as one text:
//!   separators, wrappers and notices included. A sum of parts is used only to save tries.
//! - **Nothing is lost in silence.** Each block is kept, cut with a visible notice, or dropped with a
//!   reason. Pinned blocks are there, or the render fails with [`RenderError::PinnedTooLarge`].
//! - **Deterministic.** The text depends on blocks, options and counter; a buffer of another size
//!   gives the same text or [`RenderError::NoSpace`].
//! - No heap, no recursion; blocks are sorted in the caller's `states`, n log n.
//!
//! # How blocks are chosen
//! Pinned blocks first, then by descending [`priority`](ContextBlock::priority), equal priorities in
//! input order. A block that does not fit whole is cut if its flags allow it, else dropped; what
//! follows then is the [`Policy`]. The text has the blocks in that same order of priority (a pinned
//! block has no other place than its priority gives it) or in input order: [`Order`]. A block with
//! empty content takes no place at all.
//!
//! # How blocks are cut
//! The largest piece that fits is found to the byte; its edges then move to the nearest end of a
//! paragraph or line that costs at most a quarter of the piece, else of a word that costs at most a
//! quarter or 32 bytes, else they stay between two characters. White space at the edge goes with what
//! is left out. The notice stands on a line of its own in place of what is left out, and its numbers
//! are counts of the block's content alone: `[… 1,204 of 9,310 tokens left out]`.
//!
//! # How much memory, how many counts
//! `states` needs one element a block. A counter that reads text needs the text in one piece, and the
//! buffer is where that is put together, so tries need room there too. A buffer of [`max_len`] bytes
//! always suffices and is what [`RenderError::NoSpace`] asks for; one with room for the budget's text
//! and a little more usually does. A counter that goes by length ([`BytesPerFour`]) needs no room for
//! tries: `NoSpace` then names the exact length of the text, so an empty buffer measures.
//!
//! For n blocks the counter is called n times on one content each. To save calls, a block is not tried
//! when its own count exceeds the room by more than 4 tokens. For each cut of a content of b bytes there
//! are at most some 6 log₂ b calls more.
//!
//! A counter that goes by length is asked for a candidate's length at most 2n + log₂ n times. That length
//! is kept up to date, so a try costs the bytes of the blocks that it adds, whatever is there already.
//!
//! A counter that reads text has to read the whole candidate each time, so there is a limit to that.
//! However many blocks there are, it is 128 tries to keep blocks whole, and a search for a place to cut in
//! 32 blocks with at most 2 log₂ b + 6 candidates each; pinned blocks have 2 candidates, and one more for
//! each that is cut and might fit whole after all. What the limit costs:
//! - The first 64 tries follow the rules above to the token, and most renders need no more.
//! - Then a block is tried only if it fits by what its blank line, wrapper and content count alone, summed
//!   over the blocks of one try. So a block is missed only by what the whole text counts less than such
//!   parts: nothing if counts add up, a few tokens with a tokenizer.
//! - After 128 tries all other blocks are dropped, and after 32 searches none is cut. It takes a counter
//!   that gives a text more than its parts, or contents that have room for a notice and for too little else.
//!
//! ```
//! use toolcore::context::*;
//! let blocks = [
//!     ContextBlock { priority: 1, ..ContextBlock::new("The user lives in Oslo.") },
//!     ContextBlock { priority: 9, flags: BlockFlags::PINNED, ..ContextBlock::new("Answer in one line.") },
//!     ContextBlock { priority: 0, ..ContextBlock::new("Yesterday they asked about the weather in Bergen.") },
//! ];
//! let mut states = [BlockState::default(); 3];
//! let mut buffer = [0u8; 256];
//! let report = render(&blocks, &RenderOptions::new(12), &BytesPerFour, &mut states, &mut buffer).unwrap();
//! assert_eq!(report.text, "Answer in one line.\n\nThe user lives in Oslo.");
//! assert_eq!((report.used, report.room), (11, 1));
//! assert_eq!(report.block(2).unwrap().outcome, Outcome::Dropped(DropReason::NoRoom));
//! ```

mod block;
mod choose;
mod count;
mod cut;
mod fit;
mod text;

use crate::sink::Sink;
use thiserror_no_std::Error;

pub use block::{BlockFlags, ContextBlock};
pub use count::{BytesPerFour, TokenCounter};

/// Renders `blocks` within the budget of `options`; see the [module](self) for the rules.
///
/// `states` is working memory, one element a block, which also carries the report. After an error
/// nothing in `buffer` or `states` may be used.
pub fn render<'b, 's>(
    blocks: &[ContextBlock<'_>],
    options: &RenderOptions,
    counter: &dyn TokenCounter,
    states: &'s mut [BlockState],
    buffer: &'b mut [u8],
) -> Result<Report<'b, 's>, RenderError> {
    let need = blocks.len();
    let states = states.get_mut(..need).ok_or(RenderError::NoStates { need })?;
    let used = choose::choose(blocks, options, counter, states, buffer)?;
    let mut sink = Sink::new(buffer);
    text::write(blocks, options, states, &mut sink);
    let text = sink.finish().map_err(|short| RenderError::NoSpace { need: short.need })?;
    into_input_order(states);
    let room = options.limit().saturating_sub(used);
    Ok(Report { text, used, reserve: options.reserve, room, states })
}

/// Puts each state at the index of its block. All blocks are different, so each swap puts one there.
fn into_input_order(states: &mut [BlockState]) {
    let mut at = 0;
    while let Some(home) = states.get(at).map(|state| state.block) {
        if home == at || home >= states.len() {
            at = at.saturating_add(1);
        } else {
            states.swap(at, home);
        }
    }
}

/// A length in bytes that suffices for the buffer of [`render`] whatever budget and counter are:
/// that of all blocks whole, with room for a notice in each that may be cut.
pub fn max_len(blocks: &[ContextBlock<'_>], options: &RenderOptions) -> usize {
    text::max_len(blocks, options)
}

/// What [`render`] aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Tokens for context and answer together.
    pub budget: u32,
    /// Tokens of the budget that are kept free for the model's answer. Not less than the budget: no
    /// room is left for context.
    pub reserve: u32,
    /// How a block is set off.
    pub format: Format,
    /// In which order the chosen blocks stand.
    pub order: Order,
    /// What follows when a block is left out.
    pub policy: Policy,
    /// Which of a block's texts are shown beside its content.
    pub show: Show,
}

impl RenderOptions {
    /// A budget with no reserve, and the default of everything else.
    pub const fn new(budget: u32) -> Self {
        RenderOptions {
            budget,
            reserve: 0,
            format: Format::Plain,
            order: Order::Priority,
            policy: Policy::Greedy,
            show: Show::NONE,
        }
    }

    /// Tokens that the text may have.
    pub(crate) fn limit(&self) -> u32 {
        self.budget.saturating_sub(self.reserve)
    }
}

/// How blocks are set off. They are joined by a blank line in every format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The content as it is. What is shown stands in a line before it: `[category: label (source)]`.
    #[default]
    Plain,
    /// `<context>`, the content, `</context>`, each on lines of their own; what is shown are attributes
    /// `category`, `label`, `source`. `&`, `<` and `>` are escaped in the content, so that it cannot
    /// close the tag: the format for text that is not trusted.
    Xml,
    /// A heading of the second level, a blank line, the content as it is. The heading is made like the
    /// line of `Plain`; if there is nothing to show, it is the label, else the category, else `Context`.
    Markdown,
}

/// In which order the chosen blocks stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By descending priority, equal ones in input order.
    #[default]
    Priority,
    /// As they were given. A prompt whose beginning stays the same keeps a provider's cache warm.
    Input,
}

/// What follows when a block is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Go on: a smaller block of lower priority may still fit.
    #[default]
    Greedy,
    /// Stop: no block passes one of higher priority that was dropped. A cut block was not dropped.
    Strict,
}

/// Which of a block's texts are shown beside its content. Empty ones never are; line breaks and other
/// control characters in them become spaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Show {
    /// The category.
    pub category: bool,
    /// The label.
    pub label: bool,
    /// The source.
    pub source: bool,
}

impl Show {
    /// Only the content.
    pub const NONE: Self = Show { category: false, label: false, source: false };
    /// Everything.
    pub const ALL: Self = Show { category: true, label: true, source: true };
}

/// A block's place in the work of [`render`]: opaque, any value will do to begin with.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockState {
    /// The block that this state is about. States are sorted by priority while choosing.
    block: usize,
    /// Where the state of the block with this state's own index is.
    rank: usize,
    /// The content, counted alone.
    tokens: u32,
    /// `None`: not decided yet.
    outcome: Option<Outcome>,
}

impl BlockState {
    /// What the last [`render`] that succeeded with this state did with the block; `None` if there was none.
    pub fn report(&self) -> Option<BlockReport> {
        BlockReport::of(self)
    }
}

/// A finished render.
#[derive(Clone, Copy, Debug)]
pub struct Report<'b, 's> {
    /// The text.
    pub text: &'b str,
    /// Tokens of the text, counted as a whole; an empty text has none.
    pub used: u32,
    /// Tokens kept free for the answer, as asked.
    pub reserve: u32,
    /// Tokens left: the budget without `reserve` and `used`.
    pub room: u32,
    states: &'s [BlockState],
}

impl<'s> Report<'_, 's> {
    /// What became of the block at `index`; `None` if there is no such block.
    pub fn block(&self, index: usize) -> Option<BlockReport> {
        self.states.get(index).and_then(BlockReport::of)
    }

    /// What became of each block, in input order.
    pub fn blocks(&self) -> impl Iterator<Item = BlockReport> + use<'s> {
        self.states.iter().filter_map(BlockReport::of)
    }
}

/// What became of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockReport {
    /// Tokens of the whole content, counted alone.
    pub tokens: u32,
    /// Where it went.
    pub outcome: Outcome,
}

impl BlockReport {
    fn of(state: &BlockState) -> Option<Self> {
        Some(BlockReport { tokens: state.tokens, outcome: state.outcome? })
    }
}

/// Where a block went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is in the text, whole.
    Kept,
    /// It is in the text but for `content[from..to]`, in whose place a notice stands.
    Cut {
        /// First byte of the content that is left out.
        from: usize,
        /// First byte after what is left out.
        to: usize,
        /// Tokens left out, as the notice says: those of the content less those of what is kept, and
        /// at least one.
        left_out: u32,
    },
    /// It is not in the text.
    Dropped(DropReason),
}

/// Why a block is not in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// Its content is empty.
    Empty,
    /// There was no room for it, nor for a piece of it if it may be cut; or the tries that a counter that
    /// reads text has were used up ([module](self)).
    NoRoom,
    /// There was room only for a piece of less than `min_tokens`, or one of nothing but white space.
    BelowMinimum,
    /// A block of higher priority was dropped, and the policy is strict.
    Stopped,
}

/// Why there is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The pinned blocks do not fit, cut as far as they may be.
    #[error("the pinned blocks need {need} tokens, the budget is {budget} with {reserve} in reserve")]
    PinnedTooLarge {
        /// Tokens of the text with these blocks alone.
        need: u32,
        /// The budget.
        budget: u32,
        /// The part of it that is kept for the answer.
        reserve: u32,
    },
    /// The buffer was too small.
    #[error("no space: {need} bytes needed")]
    NoSpace {
        /// Bytes that suffice.
        need: usize,
    },
    /// There were fewer states than blocks.
    #[error("too few block states: {need} needed")]
    NoStates {
        /// States that suffice.
        need: usize,
    },
}
impl core::error::Error for RenderError {}
