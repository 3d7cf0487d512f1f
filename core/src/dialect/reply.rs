//! What a model's reply asks for, read without a copy where nothing had to be decoded.
//!
//! The whole text is validated first, so a broken reply gives no call at all. Calls keep their order;
//! ids and argument texts keep their exact bytes. What is not text and not a call (thinking, tools that
//! the provider ran itself, fields that are not known) is passed over. A call that the reply's end cut
//! off is marked and never executed.

use super::{Dialect, Item};
use crate::call::ToolCall;
use crate::json::{self, Value};
use crate::scratch::Scratch;
use crate::sink::Sink;

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It is complete.
    Complete,
    /// It ran into a token limit; its last call may be cut off.
    Truncated,
    /// The provider or the model refused to go on.
    Refused,
}

/// Why a reply could not be read. No call of it may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ReplyError {
    /// It is not JSON.
    #[error("the reply is not JSON: {0}")]
    Json(json::Error),
    /// It has not the shape of the dialect.
    #[error("the reply lacks {expected}; is it of this dialect?")]
    Shape {
        /// What is missing.
        expected: &'static str,
    },
    /// The provider answered with an error object.
    #[error("the provider answered with an error")]
    Provider,
    /// It is longer than 2 GiB.
    #[error("the reply is too long")]
    TooLong,
    /// The scratch memory is too small.
    #[error("no space: the reply needs {words} words and {bytes} bytes of scratch")]
    NoSpace {
        /// Words that are needed.
        words: usize,
        /// Bytes that are needed.
        bytes: usize,
    },
}
impl core::error::Error for ReplyError {}

/// A reply's calls and text.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'r> {
    dialect: Dialect,
    root: Value<'r>,
    text: &'r str,
    decoded: &'r str,
    records: &'r [[u32; RECORD]],
    finish: Finish,
    /// The reply was cut off in or right after its last call.
    cut: bool,
}

/// A list of calls, those of a reply or the host's own.
pub trait Calls {
    /// How many there are.
    fn count(&self) -> usize;
    /// The call at `index`, or `None` past the end.
    fn call(&self, index: usize) -> Option<ToolCall<'_>>;
}

impl Calls for Reply<'_> {
    fn count(&self) -> usize {
        self.records.len()
    }
    fn call(&self, index: usize) -> Option<ToolCall<'_>> {
        self.get(index)
    }
}

impl Calls for [ToolCall<'_>] {
    fn count(&self) -> usize {
        self.len()
    }
    fn call(&self, index: usize) -> Option<ToolCall<'_>> {
        self.get(index).copied()
    }
}

impl<'r> Reply<'r> {
    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no call: the model has said all that it has to say.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The call at `index`, in the order of the reply.
    pub fn get(&self, index: usize) -> Option<ToolCall<'r>> {
        let [id_at, id_len, name_at, name_len, args_at, args_len] = *self.records.get(index)?;
        Some(ToolCall {
            id: (id_at != ABSENT).then(|| self.span(id_at, id_len)),
            name: self.span(name_at, name_len),
            arguments: self.span(args_at, args_len),
            truncated: self.cut && index + 1 == self.records.len(),
        })
    }

    /// The calls in order.
    pub fn calls(&self) -> impl Iterator<Item = ToolCall<'r>> {
        let reply = *self;
        (0..reply.len()).filter_map(move |index| reply.get(index))
    }

    /// Appends the text beside the calls, its pieces joined as they are.
    pub fn write_text(&self, sink: &mut Sink<'_>) {
        let mut visit = |item: Item<'r>| {
            if let Item::Text(Some(text)) = item
                && let Some(text) = text.as_str()
            {
                text.decode(sink);
            }
        };
        // The same walk succeeded when the reply was parsed.
        self.dialect.wire().reply(self.root, &mut visit).ok();
    }

    /// Why the reply ended.
    pub fn finish(&self) -> Finish {
        self.finish
    }

    fn span(&self, at: u32, len: u32) -> &'r str {
        let base = if at & DECODED != 0 { self.decoded } else { self.text };
        let start = (at & !DECODED) as usize;
        base.get(start..start + len as usize).unwrap_or_default()
    }
}

/// Start and length of id, name and arguments.
const RECORD: usize = 6;
/// Set in a start that counts from the beginning of the decoded text, not of the reply.
const DECODED: u32 = 1 << 31;
/// The start of an id that is not there.
const ABSENT: u32 = u32::MAX;

/// Reads a whole reply. Gives it and the scratch that is left.
pub fn parse_reply<'r>(
    dialect: Dialect,
    text: &'r [u8],
    options: &json::Options,
    scratch: Scratch<'r>,
) -> Result<(Reply<'r>, Scratch<'r>), ReplyError> {
    let root = json::parse(text, options).map_err(ReplyError::Json)?;
    let text = root.raw();
    if text.len() >= DECODED as usize {
        return Err(ReplyError::TooLong);
    }
    let Scratch { words, bytes } = scratch;
    let (records, _) = words.as_chunks_mut::<RECORD>();
    let mut reader = CallReader { text, sink: Sink::new(bytes), places: records.iter_mut(), count: 0 };
    let mut ends_in_call = false;
    let mut visit = |item: Item<'r>| match item {
        Item::Text(_) => ends_in_call = false,
        Item::Call { id, name, arguments, encoded } => {
            ends_in_call = true;
            reader.call(id, name, arguments, encoded);
        }
    };
    let finish = dialect.wire().reply(root, &mut visit)?;
    let CallReader { sink, count, .. } = reader;
    let (decoded_len, overflowed) = (sink.len(), sink.overflowed());
    if overflowed || count > records.len() {
        return Err(ReplyError::NoSpace { words: count * RECORD, bytes: decoded_len });
    }
    let no_space = ReplyError::NoSpace { words: count * RECORD, bytes: decoded_len };
    let (decoded, bytes) = bytes.split_at_mut_checked(decoded_len).ok_or(no_space)?;
    let (records, words) = words.split_at_mut_checked(count * RECORD).ok_or(no_space)?;
    let decoded = core::str::from_utf8(decoded).map_err(|_| no_space)?;
    let (records, _) = records.as_chunks::<RECORD>();
    let cut = finish == Finish::Truncated && ends_in_call;
    Ok((Reply { dialect, root, text, decoded, records, finish, cut }, Scratch { words, bytes }))
}

/// Turns calls into records, and counts on when there is no place left.
struct CallReader<'r, 'w> {
    text: &'r str,
    sink: Sink<'w>,
    places: core::slice::IterMut<'w, [u32; RECORD]>,
    count: usize,
}

impl<'r> CallReader<'r, '_> {
    fn call(
        &mut self,
        id: Option<Value<'r>>,
        name: Option<Value<'r>>,
        arguments: Option<Value<'r>>,
        encoded: bool,
    ) {
        self.count += 1;
        let id = id.filter(|id| !id.is_null()).map(|id| self.span(id));
        let name = name.filter(|name| name.as_str().is_some()).map(|name| self.span(name));
        let arguments = arguments.filter(|value| !value.is_null());
        let arguments =
            arguments.map(|value| if encoded { self.span(value) } else { self.place(value.raw()) });
        let (id_at, id_len) = id.unwrap_or((ABSENT, 0));
        let (name_at, name_len) = name.unwrap_or((0, 0));
        let (args_at, args_len) = arguments.unwrap_or((0, 0));
        if let Some(place) = self.places.next() {
            *place = [id_at, id_len, name_at, name_len, args_at, args_len];
        }
    }

    /// Where a value's text stands: a string's content, decoded if it has escapes; else the JSON itself.
    fn span(&mut self, value: Value<'r>) -> (u32, u32) {
        let plain = match value.as_str() {
            None => Some(value.raw()),
            Some(text) => text.plain(),
        };
        if let Some(plain) = plain {
            return self.place(plain);
        }
        let start = self.sink.len();
        if let Some(text) = value.as_str() {
            text.decode(&mut self.sink);
        }
        (narrow(start) | DECODED, narrow(self.sink.len() - start))
    }

    /// Where a piece of the reply's text stands.
    fn place(&self, piece: &str) -> (u32, u32) {
        let start = (piece.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        (narrow(start), narrow(piece.len()))
    }
}

/// All lengths were checked against `DECODED`, and decoded text is never longer than its source.
fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(0) & !DECODED
}
