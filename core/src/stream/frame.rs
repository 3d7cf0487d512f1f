//! Bytes into events: server-sent events (WHATWG HTML, section 9.2.6), lines of JSON, or an array of objects.
//!
//! Server-sent events are taken by their `data` lines; comments and all other fields mean nothing to a
//! reply. An event ends where its JSON ends, so that the last one needs no blank line after it. In the other
//! framings objects follow one another, with blanks, commas and brackets between them.
//!
//! Most events are short and stand in one line: such a line is taken as it comes, and read once when it ends.
//! What is longer than [`WHOLE`], or is no whole event when its line ends, goes through the [filter](super::filter).

use super::filter::{Filter, Met, Room};
use crate::json::Reason;

/// What a run over some bytes has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The end of the bytes.
    All,
    /// What may be an event, in the bytes that were taken as they came: the line has ended, or not yet.
    Perhaps {
        /// The line has ended: it is an event or none.
        ended: bool,
    },
    /// More than is taken as it comes.
    Long,
    /// The end of an event.
    Event,
    /// The end marker.
    Done,
    /// What is no event.
    Broken(Reason),
}

/// The most bytes of an event that are taken as they come.
pub(super) const WHOLE: usize = 384;

/// Where in a stream the bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At its beginning, after so many bytes of a byte order mark.
    Start(u8),
    /// Among objects that follow one another.
    Objects,
    /// At the beginning of a line.
    Line,
    /// In the name of a field, of which so many bytes are those of the one that it may be.
    Name(u8),
    /// After the colon of a `data` field.
    Colon,
    /// In its value.
    Data,
    /// In a comment or another field.
    Skip,
}

/// The framing of a stream; see the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    state: State,
    /// The last byte was a carriage return, so that a line feed belongs to it.
    after_cr: bool,
    /// The event is taken as it comes.
    whole: bool,
    /// Events go through the filter, all of them.
    filtered: bool,
    /// The field that the line may be; empty for a comment, or for none.
    name: &'static [u8],
    /// A line has come, and one of a field or a comment, or an object.
    began: bool,
    known: bool,
}

const MARK: &[u8] = b"\xEF\xBB\xBF";
/// The fields; no two begin alike.
const NAMES: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
/// A name that is none of a field.
const OTHER: u8 = u8::MAX;

impl Framing {
    pub(super) fn new() -> Self {
        Framing {
            state: State::Start(0),
            after_cr: false,
            whole: false,
            filtered: false,
            name: b"",
            began: false,
            known: false,
        }
    }

    /// Whether the events to come go through the filter, all of them.
    pub(super) fn set_filtered(&mut self, filtered: bool) {
        self.filtered = filtered;
    }

    /// Whether an event is being taken as it comes.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// What was taken as it came is done with.
    pub(super) fn end_whole(&mut self) {
        self.whole = false;
    }

    /// Takes what is in the line, if it is taken as it comes; gives how much of it, and what it came to.
    fn run_whole(&mut self, rest: &[u8], filter: &Filter, room: &mut Room<'_>) -> Option<(usize, Taken)> {
        if !self.whole {
            if self.filtered || room.len > 0 || filter.is_open() {
                return None;
            }
            let in_line = self.state == State::Data;
            let is_blank =
                |byte: &u8| matches!(byte, b' ' | b'\t') || !in_line && matches!(byte, b'\n' | b'\r');
            let blanks = rest.iter().take_while(|byte| is_blank(byte)).count();
            match rest.get(blanks) {
                Some(b'{') => self.whole = true,
                Some(_) => return None,
                None => {}
            }
            if blanks > 0 {
                return Some((blanks, Taken::All));
            }
        }
        // No more is taken, and what is looked at in vain would be looked at again for each event of a line.
        let len = line_len(rest.get(..=WHOLE).unwrap_or(rest));
        let piece = rest.get(..len).unwrap_or_default();
        let end = room.len + len;
        if end > WHOLE || end > room.bytes.len() {
            // The filter goes on where nothing was taken yet.
            self.whole = room.len > 0;
            return self.whole.then_some((0, Taken::Long));
        }
        room.put(piece);
        let ended = len < rest.len();
        let taken = if ended || piece.trim_ascii_end().ends_with(b"}") {
            Taken::Perhaps { ended }
        } else {
            Taken::All
        };
        Some((len, taken))
    }

    /// Whether what came is no stream but something else, such as a page: no object, and no line of a field.
    pub(super) fn is_other(&self) -> bool {
        let undecided = matches!(self.state, State::Name(len) if len != OTHER);
        self.began && !self.known && !undecided
    }

    /// What follows the colon after the name of a field.
    fn after_name(&self) -> State {
        if self.name == b"data" { State::Colon } else { State::Skip }
    }

    /// Reads on in `input`, into `room`; gives how much of it was read, and what it came to.
    pub(super) fn run(&mut self, input: &[u8], filter: &mut Filter, room: &mut Room<'_>) -> (usize, Taken) {
        let mut rest = input;
        let taken = loop {
            let [byte, after @ ..] = rest else { break Taken::All };
            match self.state {
                State::Start(marked) => match byte {
                    _ if MARK.get(usize::from(marked)) == Some(byte) => {
                        self.state = State::Start(marked + 1);
                        rest = after;
                    }
                    b' ' | b'\t' | b'\n' | b'\r' => rest = after,
                    b'{' | b'[' => {
                        self.state = State::Objects;
                        self.known = true;
                    }
                    _ => {
                        filter.set_lines();
                        self.state = State::Line;
                    }
                },
                State::Objects | State::Data => {
                    if let Some((used, taken)) = self.run_whole(rest, filter, room) {
                        rest = rest.get(used..).unwrap_or_default();
                        if taken == Taken::All {
                            continue;
                        }
                        break taken;
                    }
                    let (used, met) = filter.run(rest, room);
                    rest = rest.get(used..).unwrap_or_default();
                    match met {
                        Met::Nothing => {}
                        Met::Line => self.state = State::Skip,
                        Met::Event => break Taken::Event,
                        Met::Done => break Taken::Done,
                        Met::Other => break Taken::Broken(Reason::ExpectedValue),
                    }
                }
                State::Line if *byte == b'\n' && self.after_cr => {
                    self.after_cr = false;
                    rest = after;
                }
                State::Line => {
                    self.after_cr = false;
                    self.state = State::Name(0);
                    let mut names = NAMES.into_iter();
                    self.name = names.find(|name| name.first() == Some(byte)).unwrap_or_default();
                    self.began |= !matches!(byte, b'\n' | b'\r');
                    // A blank line ends an event.
                    if matches!(byte, b'\n' | b'\r') && filter.is_open() {
                        break Taken::Broken(Reason::UnexpectedEnd);
                    }
                    // As it stands in one piece, most of the time.
                    if let Some([b':', after @ ..]) = rest.strip_prefix(self.name)
                        && !self.name.is_empty()
                    {
                        rest = after;
                        self.known = true;
                        self.state = self.after_name();
                    }
                }
                State::Name(len) => match byte {
                    b'\n' | b'\r' => {
                        self.known |= len > 0 && usize::from(len) == self.name.len();
                        self.state = State::Skip;
                    }
                    b':' => {
                        let known = usize::from(len) == self.name.len();
                        self.known |= known;
                        self.state = if known { self.after_name() } else { State::Skip };
                        rest = after;
                    }
                    byte => {
                        let goes_on = self.name.get(usize::from(len)) == Some(byte);
                        self.state = State::Name(if goes_on { len + 1 } else { OTHER });
                        rest = after;
                    }
                },
                State::Colon => {
                    if *byte == b' ' {
                        rest = after;
                    }
                    filter.line_break(room);
                    self.state = State::Data;
                }
                State::Skip => {
                    rest = rest.get(line_len(rest)..).unwrap_or_default();
                    if let [byte, after @ ..] = rest {
                        self.after_cr = *byte == b'\r';
                        self.state = State::Line;
                        rest = after;
                    }
                }
            }
        };
        (input.len().saturating_sub(rest.len()), taken)
    }
}

/// Bytes before the end of the line.
fn line_len(rest: &[u8]) -> usize {
    let is_end = |byte: u8| byte == b'\n' || byte == b'\r';
    let mut after = rest;
    // Eight at a time: both ends are control characters, of which JSON in a line has few.
    while let Some((word, beyond)) = after.split_first_chunk()
        && !ends_line(u64::from_le_bytes(*word))
    {
        after = beyond;
    }
    rest.len() - after.len() + after.iter().position(|byte| is_end(*byte)).unwrap_or(after.len())
}

/// Whether a control character is among eight bytes (the zero-byte test of Hacker's Delight, section 6-1).
fn ends_line(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    word.wrapping_sub(ONES * 0x20) & !word & (ONES * 0x80) != 0
}
