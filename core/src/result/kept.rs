//! A result that is kept until it is rendered, in as few bytes as it has.
//!
//! Kept, a result is its shape (what became of the call, what it cost, and for each part its kind and lengths, as
//! 32-bit numbers) and after it the bytes of its parts as they were. What does not fit is cut: a text at a
//! character; another part becomes a text of which nothing is left. Rendered, both say how much was cut.

use heapless::Vec;

use super::{MAX_PARTS, OutcomeKind, Record, RecordKind, ToolResult, Usage};
use crate::json::Repairs;
use crate::time::Duration;

/// The least room for a result that is kept, in bytes: enough for eight parts, what they cost and a few words.
pub const MIN_KEPT: usize = 192;

/// Four numbers for a part, one for what became of the call.
const HEAD: usize = 4;
const PART: usize = 16;
const USAGE: usize = 6 * 8;

/// A result without the bytes of its parts.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    kind: OutcomeKind,
    retryable: bool,
    repairs: Repairs,
    usage: Usage,
    parts: Vec<Record, MAX_PARTS>,
}

impl ToolResult<'_> {
    /// The result without the bytes of its parts, which stand at the beginning of [`ToolResult::memory`].
    pub(crate) fn shape(&self) -> Shape {
        let ToolResult { kind, retryable, repairs, usage, .. } = *self;
        Shape { kind, retryable, repairs, usage, parts: self.parts.clone() }
    }
}

impl Shape {
    /// The result whose parts' bytes are at the beginning of `memory`.
    pub(crate) fn over(self, memory: &mut [u8]) -> ToolResult<'_> {
        let used = self.body();
        let Shape { kind, retryable, repairs, usage, parts } = self;
        ToolResult { memory, used, parts, kind, usage, retryable, repairs }
    }

    /// Cuts the parts, whose bytes are `bytes`, to what fits into `room` bytes with this shape.
    pub(crate) fn cut(&mut self, bytes: &[u8], room: usize) {
        let mut left = room.saturating_sub(self.size());
        let mut start = 0;
        for part in &mut self.parts {
            part.start = start;
            if part.len > left {
                // The name or media type goes with what it is of.
                let mut len = if matches!(part.kind, RecordKind::Text | RecordKind::Json) { left } else { 0 };
                while len > 0 && bytes.get(start + len).is_some_and(|byte| byte & 0xC0 == 0x80) {
                    len -= 1;
                }
                (part.kind, part.head, part.len) = (RecordKind::Text, 0, len);
                // What comes after a part that was cut is left out.
                left = len;
            }
            left -= part.len;
            start += part.len;
        }
    }

    /// Bytes of the parts.
    pub(crate) fn body(&self) -> usize {
        self.parts.iter().map(|part| part.len).sum()
    }

    /// Bytes of the shape itself.
    pub(crate) fn size(&self) -> usize {
        let usage = if self.usage == Usage::default() { 0 } else { USAGE };
        HEAD + usage + self.parts.len() * PART
    }

    /// Writes the shape to the beginning of `into`.
    pub(crate) fn write(&self, into: &mut [u8]) {
        let has_usage = self.usage != Usage::default();
        let flags = u8::from(self.retryable) | u8::from(has_usage) << 1;
        let count = u8::try_from(self.parts.len()).unwrap_or_default();
        let mut place = into;
        let mut put = |bytes: &[u8]| {
            if let Some((to, rest)) = core::mem::take(&mut place).split_at_mut_checked(bytes.len()) {
                to.copy_from_slice(bytes);
                place = rest;
            }
        };
        put(&[kind_number(self.kind), flags, count, self.repairs.bits()]);
        if has_usage {
            let Usage { input_tokens, output_tokens, cached_tokens, thinking_tokens, cost_micros, latency } =
                self.usage;
            let millis = latency.as_millis();
            for number in [input_tokens, output_tokens, cached_tokens, thinking_tokens, cost_micros, millis] {
                put(&number.to_le_bytes());
            }
        }
        for part in &self.parts {
            let kind = part_number(part.kind);
            for number in [kind, part.head, part.len, part.total] {
                put(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
            }
        }
    }
}

/// The result that was kept in `bytes`.
pub(crate) fn restore(bytes: &mut [u8]) -> ToolResult<'_> {
    let mut rest = &*bytes;
    let mut take = |len: usize| {
        let (taken, left) = rest.split_at_checked(len).unwrap_or_default();
        rest = left;
        taken
    };
    let [kind, flags, count, repairs] = take(4).try_into().unwrap_or_default();
    let mut usage = Usage::default();
    if flags & 2 != 0 {
        let mut number = || u64::from_le_bytes(take(8).try_into().unwrap_or_default());
        usage = Usage {
            input_tokens: number(),
            output_tokens: number(),
            cached_tokens: number(),
            thinking_tokens: number(),
            cost_micros: number(),
            latency: Duration::from_millis(number()),
        };
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for _ in 0..count {
        let mut number = || u32::from_le_bytes(take(4).try_into().unwrap_or_default()) as usize;
        let (kind, head, len, total) = (part_of(number()), number(), number(), number());
        // There are never more than fit.
        parts.push(Record { kind, start, head, len, total }).ok();
        start += len;
    }
    let size = bytes.len() - rest.len();
    let memory = bytes.get_mut(size..).unwrap_or_default();
    let (kind, repairs) = (kind_of(kind), Repairs::from_bits(repairs));
    Shape { kind, retryable: flags & 1 != 0, repairs, usage, parts }.over(memory)
}

const KINDS: [OutcomeKind; 8] = [
    OutcomeKind::Answered,
    OutcomeKind::UnknownTool,
    OutcomeKind::BadArguments,
    OutcomeKind::ToolFailed,
    OutcomeKind::TimedOut,
    OutcomeKind::Blocked,
    OutcomeKind::OverLimit,
    OutcomeKind::Cancelled,
];

const PARTS: [RecordKind; 5] =
    [RecordKind::Text, RecordKind::Json, RecordKind::Image, RecordKind::Audio, RecordKind::Link];

fn kind_number(kind: OutcomeKind) -> u8 {
    (0..).zip(KINDS).find_map(|(number, other)| (other == kind).then_some(number)).unwrap_or_default()
}

fn kind_of(number: u8) -> OutcomeKind {
    KINDS.get(usize::from(number)).copied().unwrap_or_default()
}

fn part_number(kind: RecordKind) -> usize {
    PARTS.iter().position(|other| *other == kind).unwrap_or_default()
}

fn part_of(number: usize) -> RecordKind {
    PARTS.get(number).copied().unwrap_or(RecordKind::Text)
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::*;

    fn kept(result: &ToolResult<'_>, room: usize) -> std::vec::Vec<u8> {
        let mut shape = result.shape();
        shape.cut(result.memory(), room);
        let (size, body) = (shape.size(), shape.body());
        let mut bytes = std::vec![0; size + body];
        shape.write(&mut bytes);
        bytes[size..].copy_from_slice(&result.memory()[..body]);
        assert!(bytes.len() <= room);
        bytes
    }

    #[test]
    fn a_result_comes_back_as_it_was() {
        let mut memory = [0u8; 256];
        let mut result = ToolResult::new(&mut memory);
        result.text("ä text").unwrap();
        result.json("[1]").unwrap();
        result.image("image/png", &[0, 1, 2]).unwrap();
        result.link("name", "uri").unwrap();
        result.set_retryable(true);
        result.add_usage(Usage { output_tokens: 7, latency: Duration::from_millis(9), ..Usage::default() });
        let mut bytes = kept(&result, 1000);
        let back = restore(&mut bytes);
        assert!(back.parts().eq(result.parts()));
        assert_eq!(
            (back.kind(), back.retryable(), back.usage()),
            (result.kind(), result.retryable(), result.usage())
        );
        for kind in KINDS {
            result.fail(kind, |sink| sink.put("why"));
            let mut bytes = kept(&result, MIN_KEPT);
            assert_eq!(restore(&mut bytes).kind(), kind);
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_and_says_how_long_it_was() {
        let mut memory = [0u8; 256];
        let mut result = ToolResult::new(&mut memory);
        result.text("ab").unwrap();
        result.text("ééé").unwrap();
        result.image("image/png", &[0, 1, 2]).unwrap();
        let shape = HEAD + 3 * PART;
        let mut bytes = kept(&result, shape + 5);
        let parts: std::vec::Vec<_> =
            restore(&mut bytes).parts().map(|part| std::format!("{part:?}")).collect();
        let cut = |text, total| std::format!("{:?}", Part::Text { text, total });
        assert_eq!(parts, [cut("ab", 2), cut("é", 6), cut("", 12)]);
    }

    #[test]
    fn the_largest_shape_leaves_room_for_a_few_words() {
        let mut memory = [0u8; 256];
        let mut result = ToolResult::new(&mut memory);
        for _ in 0..MAX_PARTS {
            result.text("word").unwrap();
        }
        result.add_usage(Usage { cost_micros: 1, ..Usage::default() });
        assert!(result.shape().size() <= MIN_KEPT - 8);
    }
}
