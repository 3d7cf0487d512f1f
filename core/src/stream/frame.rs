//! Bytes into events: server-sent events (WHATWG HTML, section 9.2.6), lines of JSON, or an array of objects.
//!
//! Server-sent events are taken by their `data` lines; comments and all other fields mean nothing to a
//! reply. An event ends where its JSON ends, so that the last one needs no blank line after it. In the other
//! framings objects follow one another, with blanks, commas and brackets between them.

use super::filter::{Filter, Met, Room};
use crate::json::Reason;

/// What a run over some bytes has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// The end of the bytes.
    All,
    /// The end of an event.
    Event,
    /// The end marker.
    Done,
    /// What is no event.
    Broken(Reason),
}

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
        Framing { state: State::Start(0), after_cr: false, name: b"", began: false, known: false }
    }

    /// Whether what came is no stream but something else, such as a page: no object, and no line of a field.
    pub(super) fn is_other(&self) -> bool {
        let undecided = matches!(self.state, State::Name(len) if len != OTHER);
        self.began && !self.known && !undecided
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
                }
                State::Name(len) => match byte {
                    b'\n' | b'\r' => {
                        self.known |= len > 0 && usize::from(len) == self.name.len();
                        self.state = State::Skip;
                    }
                    b':' => {
                        let known = usize::from(len) == self.name.len();
                        self.known |= known;
                        self.state = if known && self.name == b"data" { State::Colon } else { State::Skip };
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
                    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    rest = end.and_then(|end| rest.get(end..)).unwrap_or_default();
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
