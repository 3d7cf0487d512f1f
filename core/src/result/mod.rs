//! What a tool answered: parts, failure, metadata, in the caller's memory.
//!
//! A handler appends parts to a [`ToolResult`]; a dialect renders them. Text that outgrows the memory is
//! kept up to a character boundary and is rendered with a notice of how much was cut; other parts must
//! fit whole. A failed result always has a text, and what the model reads follows one table:
//!
//! | outcome | text | failed |
//! |---|---|---|
//! | answered | the parts as they are, JSON as JSON | no |
//! | timed out | `[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s` | yes |
//! | tool failed | `Tool error: <message>` | yes |
//! | bad arguments | `Tool error: Invalid arguments for 'add': …` | yes |
//! | unknown tool | `Tool error: Unknown tool: 'nope'. Available: a, b` | yes |
//! | malformed JSON | `Tool error: Tool 'add' received malformed JSON arguments (<what, offset>). Raw arguments: '…'` | yes |
//! | not checked | `Tool error: The arguments for 'add' could not be checked within the budget of steps.` | yes |
//! | not to be run | `Tool error: Tool 'add' was not executed: the reply was cut off, refused or malformed.` | yes |
//! | blocked | the hook's message | yes |
//! | over the turn's limit | `Not executed: at most N tool call(s) per turn allowed.` | yes |
//! | cancelled | `Tool error: Tool 'x' was cancelled` | yes |

mod kept;

pub use kept::MIN_KEPT;
pub(crate) use kept::{Shape, restore};

use heapless::Vec;

use crate::json::{self, Repairs};
use crate::sink::Sink;
use crate::time::Duration;

/// The most parts that one result holds.
pub const MAX_PARTS: usize = 8;

/// What became of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutcomeKind {
    /// The tool ran and answered.
    #[default]
    Answered,
    /// No tool has that name.
    UnknownTool,
    /// The arguments are not JSON, do not fit the schema, stand in a reply that was cut off, refused or
    /// malformed, or could not be checked within the budget of steps.
    BadArguments,
    /// The tool ran and reported a failure.
    ToolFailed,
    /// The tool answered after its deadline; the answer was discarded.
    TimedOut,
    /// A hook refused the call.
    Blocked,
    /// The turn had more calls than are allowed.
    OverLimit,
    /// The host gave the call up.
    Cancelled,
}

impl OutcomeKind {
    /// The name in snake case, as the desk tool prints it.
    pub const fn name(self) -> &'static str {
        match self {
            OutcomeKind::Answered => "answered",
            OutcomeKind::UnknownTool => "unknown_tool",
            OutcomeKind::BadArguments => "bad_arguments",
            OutcomeKind::ToolFailed => "tool_failed",
            OutcomeKind::TimedOut => "timed_out",
            OutcomeKind::Blocked => "blocked",
            OutcomeKind::OverLimit => "over_limit",
            OutcomeKind::Cancelled => "cancelled",
        }
    }
}

/// One part of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text for the model. `total` is its length in bytes before it was cut to what is here.
    Text {
        /// What was kept.
        text: &'a str,
        /// How long it was.
        total: usize,
    },
    /// A JSON value's text.
    Json(&'a str),
    /// An image's bytes and media type, such as `image/png`.
    Image {
        /// The media type.
        media_type: &'a str,
        /// The bytes, not encoded.
        data: &'a [u8],
    },
    /// A sound's bytes and media type, such as `audio/wav`.
    Audio {
        /// The media type.
        media_type: &'a str,
        /// The bytes, not encoded.
        data: &'a [u8],
    },
    /// A link to something that the client can read (MCP `resource_link`).
    Link {
        /// Its name.
        name: &'a str,
        /// Its URI.
        uri: &'a str,
    },
}

impl Part<'_> {
    /// Whether it is text without any character that is seen.
    pub fn is_blank(&self) -> bool {
        matches!(self, Part::Text { text, total } if *total == text.len() && text.trim().is_empty())
    }
}

/// What a run cost. Zero is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from a cache, part of the input.
    pub cached_tokens: u64,
    /// Tokens thought, part of the output.
    pub thinking_tokens: u64,
    /// Cost in millionths of the currency's unit.
    pub cost_micros: u64,
    /// How long it took.
    pub latency: Duration,
}

impl Usage {
    /// Adds what a nested run cost.
    pub fn add(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.thinking_tokens = self.thinking_tokens.saturating_add(other.thinking_tokens);
        self.cost_micros = self.cost_micros.saturating_add(other.cost_micros);
        let millis = self.latency.as_millis().saturating_add(other.latency.as_millis());
        self.latency = Duration::from_millis(millis);
    }
}

/// Why a part could not be appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ResultError {
    /// The part has to fit whole and does not.
    #[error("no space in the result: {need} bytes needed, {room} left")]
    NoSpace {
        /// Bytes that the part takes.
        need: usize,
        /// Bytes that are left.
        room: usize,
    },
    /// There are [`MAX_PARTS`] parts already.
    #[error("the result has 8 parts already")]
    TooManyParts,
    /// The text given as JSON is not JSON.
    #[error("not JSON: {0}")]
    Json(json::Error),
}
impl core::error::Error for ResultError {}

/// A result being built or ready to be rendered.
#[derive(Debug)]
pub struct ToolResult<'b> {
    memory: &'b mut [u8],
    used: usize,
    parts: Vec<Record, MAX_PARTS>,
    kind: OutcomeKind,
    usage: Usage,
    retryable: bool,
    repairs: Repairs,
}

impl<'b> ToolResult<'b> {
    /// An empty, successful result that keeps its parts in `memory`.
    pub fn new(memory: &'b mut [u8]) -> Self {
        ToolResult {
            memory,
            used: 0,
            parts: Vec::new(),
            kind: OutcomeKind::Answered,
            usage: Usage::default(),
            retryable: false,
            repairs: Repairs::default(),
        }
    }

    /// Appends text. What outgrows the memory is cut, and the model is told so.
    pub fn text(&mut self, text: &str) -> Result<(), ResultError> {
        self.write_text(|sink| sink.put(text))
    }

    /// Appends the text that `write` writes, cut like [`ToolResult::text`].
    pub fn write_text(&mut self, write: impl FnOnce(&mut Sink<'_>)) -> Result<(), ResultError> {
        if self.parts.is_full() {
            return Err(ResultError::TooManyParts);
        }
        let mut sink = Sink::new(self.memory.get_mut(self.used..).unwrap_or_default());
        write(&mut sink);
        let total = sink.len();
        let len = sink.finish_cut().len();
        self.push(Record { kind: RecordKind::Text, start: self.used, head: 0, len, total })
    }

    /// Appends a JSON value; `text` is checked strictly and must fit whole.
    pub fn json(&mut self, text: &str) -> Result<(), ResultError> {
        let value = json::parse(text.as_bytes(), &json::Options::default()).map_err(ResultError::Json)?;
        self.append(RecordKind::Json, "", value.raw().as_bytes())
    }

    /// Appends the JSON value that `write` writes to the place it is given; it gives the bytes written, or
    /// `None` if they do not fit.
    #[cfg(feature = "serde")]
    pub(crate) fn write_json(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Result<(), ResultError> {
        if self.parts.is_full() {
            return Err(ResultError::TooManyParts);
        }
        let place = self.memory.get_mut(self.used..).unwrap_or_default();
        let room = place.len();
        let len = write(place).ok_or(ResultError::NoSpace { need: room + 1, room })?;
        let text = place.get(..len).unwrap_or_default();
        json::validate(text, &json::Options::default()).map_err(ResultError::Json)?;
        self.push(Record { kind: RecordKind::Json, start: self.used, head: 0, len, total: len })
    }

    /// Appends an image; `data` are its bytes, not encoded.
    pub fn image(&mut self, media_type: &str, data: &[u8]) -> Result<(), ResultError> {
        self.append(RecordKind::Image, media_type, data)
    }

    /// Appends a sound; `data` are its bytes, not encoded.
    pub fn audio(&mut self, media_type: &str, data: &[u8]) -> Result<(), ResultError> {
        self.append(RecordKind::Audio, media_type, data)
    }

    /// Appends a link to a resource.
    pub fn link(&mut self, name: &str, uri: &str) -> Result<(), ResultError> {
        self.append(RecordKind::Link, name, uri.as_bytes())
    }

    /// Appends what another result says: its parts in order, that it failed, whether calling again could help,
    /// and what it cost. As with [`error`](Self::error), a failure takes the place of the parts appended so far.
    /// Text is cut to what there is room for, and another part that does not fit whole becomes such a text; if
    /// there are too many parts, none is appended.
    pub fn append_from(&mut self, other: &ToolResult<'_>) -> Result<(), ResultError> {
        if other.failed() {
            self.clear();
        }
        if self.parts.len() + other.parts.len() > MAX_PARTS {
            return Err(ResultError::TooManyParts);
        }
        for part in other.parts() {
            self.append_part(part)?;
        }
        if other.failed() {
            self.kind = other.kind;
        }
        self.retryable |= other.retryable;
        self.usage.add(other.usage);
        Ok(())
    }

    /// Turns the result into a failure with this message; parts appended so far are discarded. An empty
    /// message becomes `the tool gave no reason`.
    pub fn error(&mut self, message: &str) {
        let message = if message.trim().is_empty() { "the tool gave no reason" } else { message };
        self.fail(OutcomeKind::ToolFailed, |sink| {
            sink.put("Tool error: ");
            sink.put(message);
        });
    }

    /// Says whether calling again could help after a failure.
    pub fn set_retryable(&mut self, retryable: bool) {
        self.retryable = retryable;
    }

    /// Adds what the run cost.
    pub fn add_usage(&mut self, usage: Usage) {
        self.usage.add(usage);
    }

    /// Discards all parts and the failure; a post-hook that replaces a result begins with this.
    pub fn clear(&mut self) {
        self.used = 0;
        self.parts.clear();
        self.kind = OutcomeKind::Answered;
        self.retryable = false;
    }

    /// The parts in order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.parts.iter().map(|record| self.part(record))
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is no part.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// What became of the call.
    pub fn kind(&self) -> OutcomeKind {
        self.kind
    }

    /// Whether the model is told that the call failed.
    pub fn failed(&self) -> bool {
        self.kind != OutcomeKind::Answered
    }

    /// Whether calling again could help.
    pub fn retryable(&self) -> bool {
        self.retryable
    }

    /// What the run cost.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// All the memory that parts are kept in, taken or free.
    pub fn memory(&self) -> &[u8] {
        self.memory
    }

    /// What had to be repaired in the arguments before they were accepted.
    pub fn repairs(&self) -> Repairs {
        self.repairs
    }

    pub(crate) fn set_repairs(&mut self, repairs: Repairs) {
        self.repairs = repairs;
    }

    /// Makes this the failure `kind` with exactly the text that `write` writes.
    pub(crate) fn fail(&mut self, kind: OutcomeKind, write: impl FnOnce(&mut Sink<'_>)) {
        self.clear();
        self.kind = kind;
        // There is room for one part: all were just discarded.
        if self.write_text(write).is_err() {
            self.parts.clear();
        }
    }

    /// Says that the last part's text had `total` bytes before it was cut to what it holds.
    pub(crate) fn was_longer(&mut self, total: usize) {
        if let Some(last) = self.parts.last_mut() {
            last.total = last.total.max(total);
        }
    }

    fn append_part(&mut self, part: Part<'_>) -> Result<(), ResultError> {
        let appended = match part {
            Part::Text { text, total } => {
                self.text(text)?;
                self.was_longer(total);
                return Ok(());
            }
            Part::Json(text) => self.append(RecordKind::Json, "", text.as_bytes()),
            Part::Image { media_type, data } => self.append(RecordKind::Image, media_type, data),
            Part::Audio { media_type, data } => self.append(RecordKind::Audio, media_type, data),
            Part::Link { name, uri } => self.append(RecordKind::Link, name, uri.as_bytes()),
        };
        if let Err(ResultError::NoSpace { need, .. }) = appended {
            self.text(if let Part::Json(text) = part { text } else { "" })?;
            self.was_longer(need);
            return Ok(());
        }
        appended
    }

    fn append(&mut self, kind: RecordKind, head: &str, body: &[u8]) -> Result<(), ResultError> {
        if self.parts.is_full() {
            return Err(ResultError::TooManyParts);
        }
        let need = head.len().saturating_add(body.len());
        let room = self.memory.len().saturating_sub(self.used);
        let place = self.memory.get_mut(self.used..).and_then(|rest| rest.get_mut(..need));
        let place = place.ok_or(ResultError::NoSpace { need, room })?;
        let (first, second) = place.split_at_mut(head.len());
        first.copy_from_slice(head.as_bytes());
        second.copy_from_slice(body);
        self.push(Record { kind, start: self.used, head: head.len(), len: need, total: need })
    }

    fn push(&mut self, record: Record) -> Result<(), ResultError> {
        self.used += record.len;
        self.parts.push(record).map_err(|_| ResultError::TooManyParts)
    }

    fn part(&self, record: &Record) -> Part<'_> {
        let bytes = self.memory.get(record.start..record.start + record.len).unwrap_or_default();
        let (head, body) = bytes.split_at_checked(record.head).unwrap_or_default();
        let text = |bytes| core::str::from_utf8(bytes).unwrap_or_default();
        match record.kind {
            RecordKind::Text => Part::Text { text: text(body), total: record.total },
            RecordKind::Json => Part::Json(text(body)),
            RecordKind::Image => Part::Image { media_type: text(head), data: body },
            RecordKind::Audio => Part::Audio { media_type: text(head), data: body },
            RecordKind::Link => Part::Link { name: text(head), uri: text(body) },
        }
    }
}

/// Where a part stands in the result's memory: `head` bytes of its name or media type, then its body.
#[derive(Clone, Copy, Debug)]
struct Record {
    kind: RecordKind,
    start: usize,
    head: usize,
    len: usize,
    total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordKind {
    Text,
    Json,
    Image,
    Audio,
    Link,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_outgrows_the_memory_is_cut_at_a_character() {
        let mut memory = [0u8; 7];
        let mut result = ToolResult::new(&mut memory);
        result.text("ab").unwrap();
        result.text("ééé").unwrap();
        let parts: std::vec::Vec<_> = result.parts().collect();
        assert_eq!(parts, [Part::Text { text: "ab", total: 2 }, Part::Text { text: "éé", total: 6 }]);
    }

    #[test]
    fn a_failure_replaces_what_was_there_and_is_never_empty() {
        let mut memory = [0u8; 64];
        let mut result = ToolResult::new(&mut memory);
        result.json("{\"a\":1}").unwrap();
        result.error(" ");
        assert!(result.failed());
        let text = "Tool error: the tool gave no reason";
        assert_eq!(result.parts().next(), Some(Part::Text { text, total: text.len() }));
        assert_eq!(result.len(), 1);
    }

    #[test]
    fn a_part_that_must_fit_whole_says_what_it_needs() {
        let mut memory = [0u8; 8];
        let mut result = ToolResult::new(&mut memory);
        assert_eq!(result.image("image/png", &[1, 2]), Err(ResultError::NoSpace { need: 11, room: 8 }));
        assert!(result.json("{\"a\":").is_err());
        assert!(result.is_empty());
    }

    #[test]
    fn what_another_result_says_is_appended_with_its_failure_and_cost() {
        let (mut memory, mut small, mut whole) = ([0u8; 64], [0u8; 16], [0u8; 64]);
        let mut other = ToolResult::new(&mut memory);
        other.add_usage(Usage { input_tokens: 3, ..Usage::default() });
        other.error("é of no use");
        other.link("log", "file:///log").unwrap();
        other.set_retryable(true);
        let mut result = ToolResult::new(&mut whole);
        result.text("gone").unwrap();
        result.add_usage(Usage { input_tokens: 4, ..Usage::default() });
        result.append_from(&other).unwrap();
        assert!(result.parts().eq(other.parts()));
        assert_eq!((result.kind(), result.retryable()), (OutcomeKind::ToolFailed, true));
        assert_eq!(result.usage().input_tokens, 7);

        let mut result = ToolResult::new(&mut small);
        result.append_from(&other).unwrap();
        assert_eq!(result.parts().nth(1), Some(Part::Text { text: "", total: 14 }));
        other.error("é of no use");
        result.append_from(&other).unwrap();
        assert_eq!(result.parts().next(), Some(Part::Text { text: "Tool error: é o", total: 24 }));
    }

    #[test]
    fn text_that_was_cut_before_it_is_appended_keeps_its_length() {
        let (mut memory, mut small) = ([0u8; 4], [0u8; 8]);
        let mut other = ToolResult::new(&mut memory);
        other.text("abcdefghi").unwrap();
        let mut result = ToolResult::new(&mut small);
        result.text("before").unwrap();
        result.append_from(&other).unwrap();
        let parts: std::vec::Vec<_> = result.parts().collect();
        assert_eq!(parts, [Part::Text { text: "before", total: 6 }, Part::Text { text: "ab", total: 9 }]);
    }

    #[test]
    fn the_ninth_part_is_refused() {
        let mut memory = [0u8; 64];
        let mut result = ToolResult::new(&mut memory);
        for _ in 0..MAX_PARTS {
            result.text("x").unwrap();
        }
        assert_eq!(result.text("x"), Err(ResultError::TooManyParts));
        assert_eq!(result.link("x", "y"), Err(ResultError::TooManyParts));
    }
}
