//! One event's JSON, read as its bytes come: the members that the dialect reads are kept, the others are
//! passed over. So an event takes only the memory of what it is needed for, and its end is known.
//!
//! The values that are passed over are followed by their quotes and brackets and not checked; what is kept is
//! checked by the strict reader when the event is whole.

use crate::dialect::Member;
use crate::json::plain_len;

/// Where the bytes of an event go: into what is left of the memory, counted on past its end.
pub(super) struct Room<'b> {
    pub(super) bytes: &'b mut [u8],
    /// Bytes put so far.
    pub(super) len: usize,
}

impl Room<'_> {
    pub(super) fn put(&mut self, piece: &[u8]) {
        let end = self.len.saturating_add(piece.len());
        if let Some(place) = self.bytes.get_mut(self.len..end) {
            place.copy_from_slice(piece);
        }
        self.len = end;
    }
}

/// What a run over some bytes has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// The end of the bytes.
    Nothing,
    /// The end of a line, which is not taken.
    Line,
    /// The end of an event.
    Event,
    /// The end marker.
    Done,
    /// Something that begins no event.
    Other,
}

/// The longest key that a dialect reads is shorter.
const LONGEST: usize = 32;

/// The most containers that are open whose members are chosen.
const LEVELS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between events.
    Outside,
    /// In the end marker.
    Marker,
    /// In a container whose members are chosen: before a member, an item, a comma or the end.
    Member,
    /// In a key.
    Key,
    /// After a backslash in a key.
    KeyEscape,
    /// Before the colon.
    Colon,
    /// Before a member's value.
    Value,
    /// In a string.
    String,
    /// After a backslash in a string.
    Escape,
    /// In a container that is kept or passed over whole.
    Container,
    /// In a number or word.
    Scalar,
}

/// A container whose members, or those of whose items, are chosen.
#[derive(Clone, Copy, Debug)]
struct Level {
    members: &'static [Member],
    array: bool,
    /// Something stood in it, something of that was kept, and a comma followed.
    seen: bool,
    kept: bool,
    comma: bool,
}

/// Follows the JSON of events; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Filter {
    members: &'static [Member],
    state: State,
    /// The bytes are those of lines: a line's end is not a blank.
    lines: bool,
    /// Whether the value is kept.
    keep: bool,
    levels: [Level; LEVELS],
    /// How many of them are open.
    open: usize,
    /// Containers that are open in the value.
    depth: u32,
    key: [u8; LONGEST],
    key_len: usize,
    /// Bytes of the end marker that were read.
    marked: usize,
}

const MARKER: &[u8] = b"[DONE]";

impl Filter {
    pub(super) fn new(members: &'static [Member]) -> Self {
        Filter {
            members,
            state: State::Outside,
            lines: false,
            keep: false,
            levels: [Level { members, array: false, seen: false, kept: false, comma: false }; LEVELS],
            open: 0,
            depth: 0,
            key: [0; LONGEST],
            key_len: 0,
            marked: 0,
        }
    }

    /// Reads these members of the events to come.
    pub(super) fn choose(&mut self, members: &'static [Member]) {
        self.members = members;
    }

    /// The bytes are those of lines, as in server-sent events, from now on.
    pub(super) fn set_lines(&mut self) {
        self.lines = true;
    }

    /// Whether an event has begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        self.state != State::Outside
    }

    /// A line's end inside an event, as the bytes of the next line follow.
    pub(super) fn line_break(&mut self, room: &mut Room<'_>) {
        // Between tokens it is a blank. In a string it is an error for the strict reader to find.
        if self.keep && matches!(self.state, State::String | State::Escape) {
            room.put(b"\n");
        }
    }

    /// Reads on in `input`; gives how much of it was read, and what was met.
    pub(super) fn run(&mut self, input: &[u8], room: &mut Room<'_>) -> (usize, Met) {
        let mut rest = input;
        let met = loop {
            let [byte, after @ ..] = rest else { break Met::Nothing };
            let byte = *byte;
            match self.state {
                State::Container => {
                    let stop = container_len(rest, self.lines, &mut self.depth);
                    let (piece, left) = rest.split_at_checked(stop).unwrap_or((rest, &[]));
                    self.keep(piece, room);
                    rest = left;
                    match piece.last() {
                        Some(b'"') => self.state = State::String,
                        _ if self.depth == 0 => self.state = State::Member,
                        _ if rest.is_empty() => {}
                        _ => break Met::Line,
                    }
                }
                State::String => {
                    let (plain, left) = rest.split_at_checked(plain_len(rest)).unwrap_or((rest, &[]));
                    let Some((stop, left)) = left.split_first() else {
                        self.keep(plain, room);
                        rest = &[];
                        continue;
                    };
                    if self.lines && matches!(stop, b'\n' | b'\r') {
                        self.keep(plain, room);
                        rest = rest.get(plain.len()..).unwrap_or_default();
                        break Met::Line;
                    }
                    self.keep(rest.get(..=plain.len()).unwrap_or_default(), room);
                    rest = left;
                    self.state = match stop {
                        b'"' if self.depth == 0 => State::Member,
                        b'"' => State::Container,
                        b'\\' => State::Escape,
                        _ => State::String,
                    };
                }
                State::Key => {
                    let (plain, left) = rest.split_at_checked(plain_len(rest)).unwrap_or((rest, &[]));
                    self.key_bytes(plain);
                    rest = left;
                    match left {
                        [b'"', left @ ..] => {
                            rest = left;
                            self.state = State::Colon;
                        }
                        [b'\n' | b'\r', ..] if self.lines => break Met::Line,
                        // No key that is read has an escape.
                        [byte, left @ ..] => {
                            rest = left;
                            self.key_len = LONGEST + 1;
                            if *byte == b'\\' {
                                self.state = State::KeyEscape;
                            }
                        }
                        [] => {}
                    }
                }
                _ if matches!(byte, b'\n' | b'\r') && self.lines => break Met::Line,
                State::KeyEscape => {
                    self.state = State::Key;
                    rest = after;
                }
                State::Escape => {
                    self.keep(&[byte], room);
                    self.state = State::String;
                    rest = after;
                }
                State::Scalar if !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r') => {
                    self.keep(&[byte], room);
                    rest = after;
                }
                State::Scalar => self.state = State::Member,
                _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => rest = after,
                State::Value => rest = self.value(byte, rest, room),
                State::Member => match self.member(byte, rest, room) {
                    Some(left) => {
                        rest = left;
                        if self.open == 0 {
                            self.state = State::Outside;
                            break Met::Event;
                        }
                    }
                    None => break Met::Other,
                },
                State::Colon => {
                    rest = after;
                    if byte != b':' {
                        break Met::Other;
                    }
                    self.state = State::Value;
                }
                State::Outside => {
                    if byte == b'{' {
                        self.open_level(self.members, byte, room);
                    } else if byte == b'[' && self.lines {
                        (self.state, self.marked) = (State::Marker, 1);
                    } else if !matches!(byte, b'[' | b',' | b']') || self.lines {
                        break Met::Other;
                    }
                    rest = after;
                }
                State::Marker => {
                    if MARKER.get(self.marked) != Some(&byte) {
                        break Met::Other;
                    }
                    rest = after;
                    self.marked += 1;
                    if self.marked == MARKER.len() {
                        self.state = State::Outside;
                        break Met::Done;
                    }
                }
            }
        };
        (input.len().saturating_sub(rest.len()), met)
    }

    /// Reads what `rest` begins with in a container whose members are chosen; `None` if it cannot be there.
    fn member<'i>(&mut self, byte: u8, rest: &'i [u8], room: &mut Room<'_>) -> Option<&'i [u8]> {
        let level = self.open.checked_sub(1).and_then(|last| self.levels.get_mut(last))?;
        let after = rest.get(1..).unwrap_or_default();
        match byte {
            b',' if level.seen && !level.comma => {
                level.comma = true;
                Some(after)
            }
            b'}' | b']' if (byte == b']') == level.array && !level.comma => {
                room.put(&[byte]);
                self.open -= 1;
                Some(after)
            }
            b',' | b'}' | b']' => None,
            _ if level.seen != level.comma => None,
            b'"' if !level.array => {
                (level.seen, level.comma) = (true, false);
                self.key_len = 0;
                self.state = State::Key;
                Some(after)
            }
            _ if level.array => {
                (level.seen, level.comma) = (true, false);
                if core::mem::replace(&mut level.kept, true) {
                    room.put(b",");
                }
                let members = level.members;
                self.keep = true;
                Some(self.begin(byte, rest, if byte == b'{' { members } else { &[] }, room))
            }
            _ => None,
        }
    }

    /// Begins a member's value, whose first byte is `byte`.
    fn value<'i>(&mut self, byte: u8, rest: &'i [u8], room: &mut Room<'_>) -> &'i [u8] {
        let key = self.key.get(..self.key_len).unwrap_or(b"?");
        let level = self.open.checked_sub(1).and_then(|last| self.levels.get_mut(last));
        let mut members: &'static [Member] = &[];
        self.keep = false;
        if let Some(level) = level
            && let Some(member) = level.members.iter().find(|member| member.key.as_bytes() == key)
        {
            self.keep = true;
            members = member.inner;
            room.put(if core::mem::replace(&mut level.kept, true) { b",\"" } else { b"\"" });
            room.put(key);
            room.put(b"\":");
        }
        self.begin(byte, rest, members, room)
    }

    /// Begins a value, of which `members` are chosen, or all if that is empty.
    fn begin<'i>(
        &mut self,
        byte: u8,
        rest: &'i [u8],
        members: &'static [Member],
        room: &mut Room<'_>,
    ) -> &'i [u8] {
        let after = rest.get(1..).unwrap_or_default();
        self.depth = 0;
        match byte {
            b'"' => self.state = State::String,
            b'{' | b'[' if !members.is_empty() && self.open < LEVELS => {
                self.open_level(members, byte, room);
                return after;
            }
            b'{' | b'[' => {
                self.depth = 1;
                self.state = State::Container;
            }
            _ => {
                self.state = State::Scalar;
                return rest;
            }
        }
        self.keep(&[byte], room);
        after
    }

    fn open_level(&mut self, members: &'static [Member], byte: u8, room: &mut Room<'_>) {
        room.put(&[byte]);
        if let Some(level) = self.levels.get_mut(self.open) {
            *level = Level { members, array: byte == b'[', seen: false, kept: false, comma: false };
            self.open += 1;
        }
        self.state = State::Member;
    }

    fn keep(&self, piece: &[u8], room: &mut Room<'_>) {
        if self.keep {
            room.put(piece);
        }
    }

    fn key_bytes(&mut self, piece: &[u8]) {
        let end = self.key_len.saturating_add(piece.len());
        if let Some(place) = self.key.get_mut(self.key_len..end) {
            place.copy_from_slice(piece);
        }
        self.key_len = end.min(LONGEST + 1);
    }
}

/// How much of `rest` belongs to the container that is open `depth` deep: up to a string's quote, its own
/// end, or, in lines, the end of the line.
fn container_len(rest: &[u8], lines: bool, depth: &mut u32) -> usize {
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'"' => return at + 1,
            b'{' | b'[' => *depth = depth.saturating_add(1),
            b'}' | b']' => {
                *depth -= 1;
                if *depth == 0 {
                    return at + 1;
                }
            }
            b'\n' | b'\r' if lines => return at,
            _ => {}
        }
    }
    rest.len()
}
