//! What somebody who watches a stream sees of it, as it comes.

use crate::json::Str;
use crate::sink::Sink;

/// Something new in a stream, decoded. Pieces come as they are sent, cut at characters only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEvent<'e> {
    /// Text for the user, the words of a refusal among it.
    Text(&'e str),
    /// What the model thinks.
    Reasoning(&'e str),
    /// A call begins.
    CallStart {
        /// Its place among the calls, from 0.
        index: usize,
        /// Its id, as far as it is known; empty if there is none yet.
        id: &'e str,
        /// The name that the model used.
        name: &'e str,
    },
    /// A piece of a call's arguments, JSON text when all have come.
    Arguments {
        /// The call's place.
        index: usize,
        /// The piece.
        delta: &'e str,
    },
    /// A call is whole as far as the provider says.
    CallEnd {
        /// The call's place.
        index: usize,
    },
}

/// What is told of a stream.
pub(super) type Watch<'w> = dyn FnMut(StreamEvent<'_>) + 'w;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Reasoning,
    Arguments(usize),
}

impl Kind {
    fn event(self, delta: &str) -> StreamEvent<'_> {
        match self {
            Kind::Text => StreamEvent::Text(delta),
            Kind::Reasoning => StreamEvent::Reasoning(delta),
            Kind::Arguments(index) => StreamEvent::Arguments { index, delta },
        }
    }
}

/// Bytes of one escape.
const UNIT: usize = 6;

/// Decodes pieces, and holds the first half of a surrogate pair back until the other has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Decoder {
    held: Option<(Kind, [u8; UNIT])>,
}

impl Decoder {
    /// Tells a piece of escaped text.
    pub(super) fn tell(&mut self, kind: Kind, piece: &str, watch: &mut Watch<'_>) {
        let mut piece = piece;
        if piece.is_empty() {
            return;
        }
        if let Some((held, half)) = self.held.take() {
            let second = piece.get(..UNIT).filter(|_| held == kind).unwrap_or_default();
            let mut pair = [0; 2 * UNIT];
            let mut sink = Sink::new(&mut pair);
            sink.put(core::str::from_utf8(&half).unwrap_or_default());
            sink.put(second);
            let mut chars = Str::new(sink.finish_cut()).chars();
            // Two escapes that are one character, or the lone half and whatever follows it.
            let c = chars.next().unwrap_or(char::REPLACEMENT_CHARACTER);
            if chars.as_str().is_empty() && !second.is_empty() {
                piece = piece.get(UNIT..).unwrap_or_default();
            }
            watch(held.event(c.encode_utf8(&mut [0; 4])));
        }
        if let Some((before, half)) = first_half(piece) {
            piece = before;
            self.held = Some((kind, half));
        }
        let text = Str::new(piece);
        if let Some(plain) = text.plain() {
            if !plain.is_empty() {
                watch(kind.event(plain));
            }
            return;
        }
        let mut buffer = [0; 128];
        let mut chars = text.chars();
        loop {
            let mut sink = Sink::new(&mut buffer);
            while sink.room() >= 4
                && let Some(c) = chars.next()
            {
                sink.put_char(c);
            }
            if sink.is_empty() {
                return;
            }
            watch(kind.event(sink.finish_cut()));
        }
    }
}

/// The escape of a first half that `text` ends with, and what is before it.
fn first_half(text: &str) -> Option<(&str, [u8; UNIT])> {
    let (before, last) = text.split_at_checked(text.len().checked_sub(UNIT)?)?;
    let is_first =
        matches!(last.as_bytes(), [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _]);
    // An even number of backslashes before it, or this one is the second of an escape.
    let backslashes = before.bytes().rev().take_while(|byte| *byte == b'\\').count();
    let half = last.as_bytes().first_chunk().filter(|_| is_first && backslashes.is_multiple_of(2))?;
    Some((before, *half))
}

/// The decoded text, or as much of it as the buffer holds.
pub(super) fn cut<'b>(text: Str<'b>, buffer: &'b mut [u8]) -> &'b str {
    match text.plain() {
        Some(plain) => plain,
        None => {
            let mut sink = Sink::new(buffer);
            text.decode(&mut sink);
            sink.finish_cut()
        }
    }
}
