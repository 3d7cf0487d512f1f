//! The pull reader: one event at a time, strictly.

mod walk;

pub use walk::{Elements, Members};

use super::bytes::spaces;
use super::scan::Scan;
use super::{Error, Kind, Number, Options, Reason, Str, Value};

/// A strict reader over one JSON text, which gives one event at a time.
///
/// Everything that was given out stays true: an event is given only when the text up to its end is the start
/// of valid JSON. An error leaves the reader where it was, so that asking again gives the same error. After
/// the whole value the reader checks that nothing follows, and then gives `None` for ever.
///
/// ```
/// use toolcore::json::{Event, Options, Reader};
/// let mut reader = Reader::new(br#"{"on":true}"#, &Options::default());
/// assert!(matches!(reader.next_event(), Ok(Some(Event::ObjectStart))));
/// assert!(reader.try_key("\"on\""));
/// assert!(matches!(reader.next_event(), Ok(Some(Event::Bool(true)))));
/// assert!(reader.try_end());
/// assert!(matches!(reader.next_event(), Ok(None)));
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'j> {
    text: &'j str,
    rest: &'j [u8],
    scan: Scan,
    depth: usize,
    /// One bit per open container, the innermost lowest: 1 is an object.
    kinds: u128,
    state: State,
}

/// What the reader met.
#[derive(Clone, Copy, Debug)]
pub enum Event<'j> {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// A key; its colon was read with it.
    Key(Str<'j>),
    /// A string value.
    String(Str<'j>),
    /// A number.
    Number(Number<'j>),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The value that is the text.
    Start,
    /// The end of the text.
    End,
    /// The value of a member.
    Value,
    /// A key or the end of the object.
    FirstKey,
    /// A key: the comma was read.
    Key,
    /// A comma or the end of the object.
    AfterMember,
    /// An item or the end of the array.
    FirstItem,
    /// A comma or the end of the array.
    AfterItem,
    /// Nothing: the error stays.
    Failed,
}

impl<'j> Reader<'j> {
    /// Reads `text` from its start.
    pub fn new(text: &'j [u8], options: &Options) -> Self {
        let (scan, text) = Scan::new(text, options);
        Reader { text, rest: text.as_bytes(), scan, depth: 0, kinds: 0, state: State::Start }
    }

    /// Reads text that was checked before.
    pub(crate) fn checked(text: &'j str) -> Self {
        let scan = Scan::checked(text);
        Reader { text, rest: text.as_bytes(), scan, depth: 0, kinds: 0, state: State::Start }
    }

    /// The next event, or `None` once the whole value was read and nothing follows it.
    pub fn next_event(&mut self) -> Result<Option<Event<'j>>, Error> {
        let mut rest = spaces(self.rest);
        // What is due after the key or value that comes now. After a key it is a value, and only then.
        let then = match self.state {
            State::AfterMember => match rest {
                [b',', after @ ..] => {
                    rest = spaces(after);
                    State::Value
                }
                [b'}', after @ ..] => return self.close(after, Event::ObjectEnd),
                _ => return self.fail(Reason::ExpectedComma, rest),
            },
            State::Value => State::AfterMember,
            State::AfterItem => match rest {
                [b',', after @ ..] => {
                    rest = spaces(after);
                    State::AfterItem
                }
                [b']', after @ ..] => return self.close(after, Event::ArrayEnd),
                _ => return self.fail(Reason::ExpectedComma, rest),
            },
            State::FirstKey => match rest {
                [b'}', after @ ..] => return self.close(after, Event::ObjectEnd),
                _ => State::Value,
            },
            State::FirstItem => match rest {
                [b']', after @ ..] => return self.close(after, Event::ArrayEnd),
                _ => State::AfterItem,
            },
            State::Key => State::Value,
            State::Start => State::End,
            State::End => {
                return if self.scan.end(rest).is_some() { Ok(None) } else { Err(self.scan.error()) };
            }
            State::Failed => return Err(self.scan.error()),
        };
        self.state = then;
        match rest {
            [b'"', content @ ..] => {
                let Some(after) = self.scan.string(content) else { return self.failed() };
                // The closing quote is before `after`.
                let len = self.text.len();
                let (start, end) = (len.wrapping_sub(content.len()), len.wrapping_sub(after.len() + 1));
                let Some(text) = self.text.get(start..end).map(Str::new) else { return self.failed() };
                if self.state != State::Value {
                    self.rest = after;
                    return Ok(Some(Event::String(text)));
                }
                let Some(after) = self.scan.colon(after) else { return self.failed() };
                self.rest = after;
                Ok(Some(Event::Key(text)))
            }
            _ if then == State::Value => self.fail(Reason::ExpectedKey, rest),
            [b'{', after @ ..] => self.open(rest, after, Event::ObjectStart),
            [b'[', after @ ..] => self.open(rest, after, Event::ArrayStart),
            _ => self.scalar(rest),
        }
    }

    /// Where the next unread byte is. Blanks and a comma may come before the next token; see
    /// [`value_offset`](Self::value_offset).
    pub fn offset(&self) -> usize {
        self.scan.offset(self.rest)
    }

    /// Where the next token starts, past blanks and a comma.
    pub fn value_offset(&self) -> usize {
        self.scan.offset(match (self.state, spaces(self.rest)) {
            (State::AfterMember | State::AfterItem, [b',', after @ ..]) => spaces(after),
            (_, rest) => rest,
        })
    }

    /// The whole text, as far as it is UTF-8.
    pub fn text(&self) -> &'j str {
        self.text
    }

    /// Containers that are open.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Reads one whole value, as strictly as event by event, and gives its text. Where no value can stand (at
    /// a key, at the end of a container or of the text) that is the error.
    pub fn skip_value(&mut self) -> Result<Value<'j>, Error> {
        let read = self.pass().map(|start| Value::new(self.since(start)));
        self.scan.result(read)
    }

    /// Reads one whole value; gives its start and what follows.
    #[inline]
    fn pass(&mut self) -> Option<&'j [u8]> {
        let (start, then) = match self.state {
            State::Value => (spaces(self.rest), State::AfterMember),
            State::Start => (self.value_start()?, State::End),
            _ => (self.value_start()?, State::AfterItem),
        };
        self.rest = self.scan.value(start, self.depth)?;
        self.state = then;
        Some(start)
    }

    /// The kind of the next value, which stays unread. An error where no value can stand.
    pub fn peek(&mut self) -> Result<Kind, Error> {
        let read = self.value_start().and_then(|start| {
            let kind = start.first().and_then(|byte| Kind::of(*byte));
            kind.or_else(|| self.scan.no_value(start))
        });
        self.scan.result(read)
    }

    /// Takes the next key and its colon if they are exactly `quoted` (the quotes included, without escapes)
    /// and a colon; says whether. If not, the key is still to be read.
    pub fn try_key(&mut self, quoted: &str) -> bool {
        let mut rest = spaces(self.rest);
        match (self.state, rest) {
            (State::FirstKey | State::Key, _) => {}
            (State::AfterMember, [b',', after @ ..]) => {
                // Reading the comma once serves the next try too.
                rest = spaces(after);
                self.rest = rest;
                self.state = State::Key;
            }
            _ => return false,
        }
        match rest.strip_prefix(quoted.as_bytes()).and_then(|after| self.scan.colon(after)) {
            Some(after) => {
                self.rest = after;
                self.state = State::Value;
                true
            }
            None => false,
        }
    }

    /// Takes the end of the container that is open, if it comes next; says whether.
    pub fn try_end(&mut self) -> bool {
        match (self.state, spaces(self.rest)) {
            (State::AfterMember | State::FirstKey, [b'}', after @ ..])
            | (State::AfterItem | State::FirstItem, [b']', after @ ..]) => {
                self.close(after, Event::Null).is_ok()
            }
            _ => false,
        }
    }

    /// Reads a number or a word.
    #[inline(never)]
    fn scalar(&mut self, rest: &'j [u8]) -> Result<Option<Event<'j>>, Error> {
        let Some(after) = self.scan.scalar(rest) else { return self.failed() };
        self.rest = after;
        Ok(Some(match rest {
            [b't', ..] => Event::Bool(true),
            [b'f', ..] => Event::Bool(false),
            [b'n', ..] => Event::Null,
            _ => Event::Number(Number::new(self.since(rest))),
        }))
    }

    /// Opens the container that `rest` starts with; `after` is what is left.
    #[inline(always)]
    fn open(
        &mut self,
        rest: &'j [u8],
        after: &'j [u8],
        event: Event<'j>,
    ) -> Result<Option<Event<'j>>, Error> {
        if self.scan.check_depth(self.depth, rest).is_none() {
            return self.failed();
        }
        let object = matches!(event, Event::ObjectStart);
        self.rest = after;
        self.depth += 1;
        self.kinds = self.kinds << 1 | u128::from(object);
        self.state = if object { State::FirstKey } else { State::FirstItem };
        Ok(Some(event))
    }

    /// Closes the innermost container; `after` is what is left.
    #[inline(always)]
    fn close(&mut self, after: &'j [u8], event: Event<'j>) -> Result<Option<Event<'j>>, Error> {
        self.rest = after;
        self.depth = self.depth.wrapping_sub(1);
        self.kinds >>= 1;
        self.state = match (self.depth, self.kinds & 1) {
            (0, _) => State::End,
            (_, 0) => State::AfterItem,
            _ => State::AfterMember,
        };
        Ok(Some(event))
    }

    /// The start of the value that is due or may come next.
    fn value_start(&mut self) -> Option<&'j [u8]> {
        let rest = spaces(self.rest);
        let reason = match (self.state, rest) {
            (State::FirstItem | State::AfterItem, [b']', ..]) => Reason::ExpectedValue,
            (State::Start | State::Value | State::FirstItem, _) => return Some(rest),
            (State::AfterItem, [b',', after @ ..]) => return Some(spaces(after)),
            (State::FirstKey | State::Key, _) | (State::AfterMember, [b',' | b'}', ..]) => {
                Reason::ExpectedValue
            }
            (State::AfterMember | State::AfterItem, _) => Reason::ExpectedComma,
            (State::End, _) => Reason::TrailingData,
            (State::Failed, _) => return None,
        };
        self.scan.fail(reason, rest)
    }

    #[cold]
    #[inline(never)]
    fn fail<T>(&mut self, reason: Reason, rest: &[u8]) -> Result<T, Error> {
        let _: Option<T> = self.scan.fail(reason, rest);
        self.failed()
    }

    #[cold]
    #[inline(never)]
    fn failed<T>(&mut self) -> Result<T, Error> {
        self.state = State::Failed;
        Err(self.scan.error())
    }

    /// The text from `start` to what is still unread.
    fn since(&self, start: &[u8]) -> &'j str {
        self.text.get(self.scan.offset(start)..self.offset()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &str) -> Reader<'_> {
        Reader::new(text.as_bytes(), &Options::default())
    }

    #[test]
    fn a_key_is_taken_only_if_it_is_the_one_and_a_comma_is_read_once() {
        let mut reader = reader("{ \"a\" : 1 , \"bc\":2,\"d\" 3}");
        assert!(!reader.try_key("\"a\""), "no object is open");
        reader.next_event().unwrap();
        assert!(!reader.try_key("\"b\""));
        assert!(!reader.try_key("\"a"));
        assert!(reader.try_key("\"a\""));
        assert!(!reader.try_key("\"a\""), "a value is due");
        reader.skip_value().unwrap();
        assert!(!reader.try_key("\"b\""));
        assert_eq!(reader.offset(), 12, "the comma was read");
        assert!(reader.peek().is_err(), "a key is due");
        assert!(reader.try_key("\"bc\""));
        reader.skip_value().unwrap();
        assert!(!reader.try_key("\"d\""), "its colon is missing");
        let error = Error { reason: Reason::ExpectedColon, offset: 23 };
        assert_eq!(reader.next_event().unwrap_err(), error);
        assert_eq!(reader.next_event().unwrap_err(), error);
        assert_eq!(reader.skip_value().unwrap_err(), error);
    }

    #[test]
    fn an_end_is_taken_only_where_it_can_stand() {
        let mut reader = reader("[ [] ,{\"a\":{ }} ] ");
        assert!(!reader.try_end());
        reader.next_event().unwrap();
        assert!(!reader.try_end());
        reader.next_event().unwrap();
        assert!(reader.try_end());
        assert!(!reader.try_end(), "a comma comes");
        reader.next_event().unwrap();
        assert!(reader.try_key("\"a\""));
        assert!(!reader.try_end(), "a value is due");
        reader.next_event().unwrap();
        assert_eq!(reader.depth(), 3);
        assert!(reader.try_end() && reader.try_end() && reader.try_end());
        assert_eq!(reader.depth(), 0);
        assert!(!reader.try_end());
        assert!(reader.next_event().unwrap().is_none());
        assert!(reader.next_event().unwrap().is_none());
    }

    #[test]
    fn peeking_and_skipping_leave_the_rest_as_it_is() {
        let mut reader = reader("[ 1 , {\"a\":[ ]} ,\"x\"]");
        assert_eq!(reader.peek(), Ok(Kind::Array));
        reader.next_event().unwrap();
        for (kind, text, offset) in
            [(Kind::Number, "1", 2), (Kind::Object, "{\"a\":[ ]}", 6), (Kind::String, "\"x\"", 17)]
        {
            assert_eq!(reader.peek(), Ok(kind));
            assert_eq!(reader.value_offset(), offset);
            assert_eq!(reader.skip_value().unwrap().raw(), text);
        }
        let no_value = Error { reason: Reason::ExpectedValue, offset: 20 };
        assert_eq!(reader.peek(), Err(no_value));
        assert_eq!(reader.skip_value().unwrap_err(), no_value);
        assert!(matches!(reader.next_event(), Ok(Some(Event::ArrayEnd))));
        assert_eq!(reader.peek(), Err(Error { reason: Reason::UnexpectedEnd, offset: 21 }));
        assert!(reader.next_event().unwrap().is_none());
    }

    #[test]
    fn a_value_is_skipped_as_strictly_as_it_is_read() {
        for text in ["[[1,]", "[{\"a\" 1}", "[\"\\x\"", "[tru]", "[01]", "[[[[", "[,"] {
            let mut events = reader(text);
            let error = loop {
                match events.next_event() {
                    Ok(event) => assert!(event.is_some()),
                    Err(error) => break error,
                }
            };
            let mut reader = reader(text);
            reader.next_event().unwrap();
            assert_eq!(reader.skip_value().unwrap_err(), error, "{text}");
        }
        let shallow = Options { max_depth: 2, ..Options::default() };
        let mut reader = Reader::new(b"[[[]]]", &shallow);
        reader.next_event().unwrap();
        assert_eq!(reader.skip_value().unwrap_err(), Error { reason: Reason::DepthLimit, offset: 2 });
    }
}
