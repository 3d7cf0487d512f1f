//! Walking a text for what is wanted of it, in the pass that checks it.
//!
//! Whoever reads a value in steps, a member here and an item there, reads each byte once: what is wanted is
//! read where it stands, and what is left unread is passed over, as strictly. Steps nest as the code does
//! that takes them, never as the text does.
//!
//! ```
//! use toolcore::json::{Options, Reader};
//! let text = br#"{"id":7,"calls":[{"name":"lamp","on":true},{"name":"fan"}]}"#;
//! let reader = &mut Reader::new(text, &Options::default());
//! let mut names = Vec::new();
//! let mut root = reader.members(&["calls"])?;
//! while root.next(reader)?.is_some() {
//!     let mut calls = reader.elements()?;
//!     while calls.next(reader)? {
//!         let [name] = reader.pick(["name"])?;
//!         names.extend(name.map(|name| name.raw()));
//!     }
//! }
//! reader.finish()?;
//! assert_eq!(names, ["\"lamp\"", "\"fan\""]);
//! # Ok::<(), toolcore::json::Error>(())
//! ```

use super::{Error, Event, Kind, Reader, State, Value};
use crate::json::Str;

/// The steps through an object; see [`Reader::members`].
#[derive(Clone, Copy, Debug)]
pub struct Members {
    /// The keys that are wanted, at most 32.
    keys: &'static [&'static str],
    /// A bit for each of them that was met.
    met: u32,
    /// The marks of all of them.
    marks: u32,
    /// Containers that are open inside the object; 0 if it is none, or was read.
    depth: usize,
}

/// The steps through an array; see [`Reader::elements`].
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// Containers that are open inside the array; 0 if it is none, or was read.
    depth: usize,
    /// What was unread before the last element; 0 before the first.
    before: usize,
}

impl Members {
    /// Goes on to the next wanted member, of several with one key the first, and gives its key; its value can
    /// then be read. `None` once all of the object was read.
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<Option<&'static str>, Error> {
        if self.depth == 0 {
            return Ok(None);
        }
        reader.leave(self.depth)?;
        loop {
            if reader.state == State::Value {
                reader.pass_value()?;
            }
            // Most members are not wanted, and most of their keys have a mark of their own.
            let marks = self.marks;
            let is_wanted = |raw: &[u8]| Key { raw, escaped: false }.mark() & marks != 0;
            let Some(key) = reader.key(is_wanted)? else {
                self.depth = 0;
                return Ok(None);
            };
            if let Some((bit, name)) = (0..32).zip(self.keys).find(|(_, name)| key.is(name))
                && self.met >> bit & 1 == 0
            {
                self.met |= 1 << bit;
                return Ok(Some(name));
            }
        }
    }
}

impl Elements {
    /// Whether it is an array that is not yet read.
    pub fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Goes on to the next element, which can then be read; says whether there is one.
    pub fn next(&mut self, reader: &mut Reader<'_>) -> Result<bool, Error> {
        if self.depth == 0 {
            return Ok(false);
        }
        reader.leave(self.depth)?;
        if self.before == reader.rest.len() {
            reader.pass_value()?;
        }
        if reader.try_end() {
            self.depth = 0;
            return Ok(false);
        }
        self.before = reader.rest.len();
        Ok(true)
    }
}

/// A key as it stands, and whether it has escapes.
#[derive(Clone, Copy)]
struct Key<'j> {
    raw: &'j [u8],
    escaped: bool,
}

impl Key<'_> {
    /// Whether it is this name, which has no backslash.
    #[inline(always)]
    fn is(self, name: &str) -> bool {
        self.raw == name.as_bytes() || self.escaped && self.is_slow(name)
    }

    #[cold]
    #[inline(never)]
    fn is_slow(self, name: &str) -> bool {
        core::str::from_utf8(self.raw).is_ok_and(|raw| Str::new(raw).eq_str(name))
    }

    /// One of 32 bits, by its first and last byte.
    #[inline(always)]
    fn mark(self) -> u32 {
        match self.raw {
            [first, .., last] => 1u32.rotate_left(u32::from(*first) ^ u32::from(*last) << 2),
            _ => 1,
        }
    }
}

impl<'j> Reader<'j> {
    /// Steps into the value that comes next, for the members with these keys. What is no object is passed
    /// over, and has none.
    pub fn members(&mut self, keys: &'static [&'static str]) -> Result<Members, Error> {
        let marks =
            keys.iter().fold(0, |marks, key| marks | Key { raw: key.as_bytes(), escaped: false }.mark());
        Ok(Members { keys, met: 0, marks, depth: self.enter(Kind::Object)? })
    }

    /// Steps into the value that comes next, for its elements. What is no array is passed over, and has none.
    pub fn elements(&mut self) -> Result<Elements, Error> {
        Ok(Elements { depth: self.enter(Kind::Array)?, before: 0 })
    }

    /// Reads the value that comes next, and gives the members with these keys, of several with one key the
    /// first.
    pub fn pick<const N: usize>(&mut self, keys: [&str; N]) -> Result<[Option<Value<'j>>; N], Error> {
        let mut found = [None; N];
        self.pick_into(&keys, &mut found)?;
        Ok(found)
    }

    fn pick_into(&mut self, keys: &[&str], found: &mut [Option<Value<'j>>]) -> Result<(), Error> {
        if self.enter(Kind::Object)? == 0 {
            return Ok(());
        }
        while let Some(key) = self.key(|_| true)? {
            match keys.iter().zip(&mut *found).find(|(name, _)| key.is(name)) {
                Some((_, place @ None)) => *place = Some(self.skip_value()?),
                _ => self.pass_value()?,
            }
        }
        Ok(())
    }

    /// The value that was read from `start` on, a [`value_offset`](Self::value_offset), to here.
    pub fn value_since(&self, start: usize) -> Value<'j> {
        Value::new(self.text.get(start..self.offset()).unwrap_or_default())
    }

    /// Reads what is left, so that an error in it is known.
    pub fn finish(&mut self) -> Result<(), Error> {
        while self.next_event()?.is_some() {}
        Ok(())
    }

    /// Opens the value that comes next if it is of this kind, and gives how many containers are open then;
    /// passes it over if not, and gives 0.
    fn enter(&mut self, kind: Kind) -> Result<usize, Error> {
        let Some(start) = self.value_start() else { return Err(self.scan.error()) };
        match (kind, start) {
            (Kind::Object, [b'{', after @ ..]) => self.open(start, after, Event::ObjectStart)?,
            (Kind::Array, [b'[', after @ ..]) => self.open(start, after, Event::ArrayStart)?,
            _ => {
                self.pass_value()?;
                return Ok(0);
            }
        };
        Ok(self.depth)
    }

    /// Reads on until no more than `depth` containers are open.
    fn leave(&mut self, depth: usize) -> Result<(), Error> {
        while self.depth > depth {
            self.next_event()?;
        }
        Ok(())
    }

    /// Reads one whole value.
    #[inline]
    fn pass_value(&mut self) -> Result<(), Error> {
        let read = self.pass().map(|_| ());
        self.scan.result(read)
    }

    /// The next key of the object that is open, of those that are plain one that `is_wanted`; or `None` once its
    /// end was read.
    #[inline(always)]
    fn key(&mut self, is_wanted: impl Fn(&[u8]) -> bool) -> Result<Option<Key<'j>>, Error> {
        let mut first = self.state == State::FirstKey;
        let passed = self.scan.pass_members(self.rest, &mut first, self.depth, is_wanted);
        let (key, rest) = self.scan.result(passed)?;
        self.rest = rest;
        if let Some(raw) = key {
            self.state = State::Value;
            return Ok(Some(Key { raw, escaped: false }));
        }
        if !first {
            self.state = State::AfterMember;
        }
        if let (State::AfterMember, [b'}', after @ ..]) = (self.state, rest) {
            self.close(after, Event::Null)?;
            return Ok(None);
        }
        Ok(match self.next_event()? {
            Some(Event::Key(key)) => Some(Key { raw: key.raw().as_bytes(), escaped: key.has_escapes() }),
            _ => None,
        })
    }
}
