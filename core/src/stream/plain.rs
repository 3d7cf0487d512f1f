//! Streams of plain text: the text itself is what is put together, and its calls are found as they come.
//!
//! Those who watch are told of text as soon as it cannot be the beginning of a mark, and of a call when it is
//! whole. If only calls are kept, the text between them is dropped as soon as it was told.

use super::show::{Decoder, Kind, StreamEvent, Watch, cut};
use super::text::Text;
use crate::dialect::{Dialect, Piece, ReplyError, Scanner, Step, TextCall};
use crate::json::{self, Reason};

/// Bytes that are taken at once, so that a large chunk needs no more memory than small ones.
const PIECE: usize = 64;

/// Reads a stream of plain text; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Plain {
    scanner: Scanner,
    /// Bytes that were read, and bytes that are whole characters.
    done: usize,
    valid: usize,
    /// Bytes that were dropped.
    dropped: usize,
    /// Text was dropped after the last call.
    text_last: bool,
    calls: usize,
}

impl Plain {
    /// The reader of a dialect that is plain text.
    pub(super) fn of(dialect: Dialect) -> Option<Self> {
        let scanner = Scanner::new(dialect.text_form()?);
        Some(Plain { scanner, done: 0, valid: 0, dropped: 0, text_last: false, calls: 0 })
    }

    /// Whether text came after the last call that was dropped.
    pub(super) fn dropped_text_last(&self) -> bool {
        self.text_last
    }

    /// Bytes of the text that are whole characters.
    pub(super) fn valid(&self) -> usize {
        self.valid
    }

    /// Takes the next bytes.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        text: &mut Text<'_>,
        calls_only: bool,
        watch: &mut Watch<'_>,
    ) -> Result<(), ReplyError> {
        for piece in bytes.chunks(PIECE) {
            let end = text.len + piece.len();
            let place = text.bytes.get_mut(text.len..end);
            place.ok_or(ReplyError::NoSpace { words: 0, bytes: end })?.copy_from_slice(piece);
            text.len = end;
            let new = text.bytes.get(self.valid..end).unwrap_or_default();
            let broken = match core::str::from_utf8(new) {
                Ok(_) => {
                    self.valid = end;
                    None
                }
                Err(error) => {
                    self.valid += error.valid_up_to();
                    let offset = self.dropped + self.valid;
                    error.error_len().map(|_| json::Error { reason: Reason::InvalidUtf8, offset })
                }
            };
            self.read(text, calls_only, watch);
            if let Some(error) = broken {
                return Err(ReplyError::Json(error));
            }
        }
        Ok(())
    }

    /// Reads what is there, as far as it can be told what it is.
    fn read(&mut self, text: &mut Text<'_>, calls_only: bool, watch: &mut Watch<'_>) {
        loop {
            let bytes = text.bytes.get(self.done..self.valid).unwrap_or_default();
            let rest = core::str::from_utf8(bytes).unwrap_or_default();
            let (len, kept) = match self.scanner.next(rest, false) {
                Step::Text(len) => {
                    watch(StreamEvent::Text(rest.get(..len).unwrap_or_default()));
                    self.text_last = calls_only;
                    (len, false)
                }
                Step::Reasoning(len) => {
                    watch(StreamEvent::Reasoning(rest.get(..len).unwrap_or_default()));
                    (len, false)
                }
                Step::Between(len) => (len, false),
                Step::Mark(len) => (len, true),
                Step::Call(len, call) => {
                    tell(self.calls, call, watch);
                    self.calls += 1;
                    self.text_last = false;
                    (len, true)
                }
                Step::More => return,
            };
            if kept || !calls_only {
                self.done += len;
            } else {
                text.bytes.copy_within(self.done + len..text.len, self.done);
                text.len -= len;
                self.valid -= len;
                self.dropped += len;
            }
        }
    }
}

fn read<'b>(piece: Piece<'b>, buffer: &'b mut [u8]) -> &'b str {
    match piece {
        Piece::Json(_) => cut(piece.text(), buffer),
        Piece::Plain(text) => text,
    }
}

/// Tells a whole call.
fn tell(index: usize, call: TextCall<'_>, watch: &mut Watch<'_>) {
    let (mut ids, mut names) = ([0; 128], [0; 128]);
    let id = call.id.filter(|id| !id.is_nothing()).map_or("", |id| read(id, &mut ids));
    let name = read(call.name, &mut names);
    watch(StreamEvent::CallStart { index, id, name });
    match call.arguments {
        None => {}
        Some(Piece::Json(value)) => match value.as_str() {
            Some(text) => Decoder::default().tell(Kind::Arguments(index), text.raw(), watch),
            None => watch(StreamEvent::Arguments { index, delta: value.raw() }),
        },
        Some(Piece::Plain(delta)) => watch(StreamEvent::Arguments { index, delta }),
    }
    watch(StreamEvent::CallEnd { index });
}
