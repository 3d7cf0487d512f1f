//! From a pattern's text to its program, in one pass.
//!
//! Code is written as the text is read. A quantifier or a `|` comes after what it is about: then a word is
//! inserted in front of that, which is why distances are relative. Open groups are kept in a bounded stack.

use super::code::{
    ANCHORED, Code, HEADER, Item, LOOK, MAX_WORDS, NEGATED, UNBOUNDED, distance, instruction, op, set_words,
};
use super::{PatternError, PatternErrorKind};
use crate::json::{Chars, Str};
use crate::schema::program::word_of;

/// The most groups inside one another.
pub const MAX_DEPTH: usize = 64;
/// The most lookaheads inside one another.
pub const MAX_LOOKS: usize = 4;

/// A pattern that is being compiled.
pub(super) struct Parser<'p, 'm> {
    pub(super) rest: Chars<'p>,
    length: usize,
    pub(super) code: Code<'m>,
    groups: [Group; MAX_DEPTH + 1],
    depth: usize,
    looks: usize,
    /// Groups that can be referred to.
    captures: u32,
    /// The largest number that is referred to, and where.
    pub(super) reference: (u32, usize),
    /// The first thing that is a regular expression and is not supported.
    deferred: Option<PatternError>,
    /// What a quantifier would repeat.
    pub(super) atom: Option<Atom>,
}

/// What a program takes, in bytes.
pub(crate) struct Size {
    pub(crate) used: usize,
    pub(crate) peak: usize,
}

/// A group that is open; the first is the pattern itself.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// Where its code begins.
    start: u16,
    /// Where the code of its present alternative begins.
    pub(super) alternative: u16,
    /// The last `JUMP` to its end; its argument is how far back the one before is, 0 for none.
    jump: u16,
    form: Form,
    /// Every alternative so far begins with `^`, and so does the present one.
    pub(super) anchored: (bool, bool),
    /// Where it stands in the text.
    offset: u32,
    /// Words of work memory that the lookaheads in it need.
    need: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Group,
    Look,
    NegativeLook,
    Lookbehind,
}

/// What was just read and can be repeated.
#[derive(Clone, Copy)]
pub(super) struct Atom {
    pub(super) start: usize,
    /// It takes exactly one character.
    pub(super) single: bool,
}

impl<'p, 'm> Parser<'p, 'm> {
    pub(super) fn new(pattern: Str<'p>, code: Code<'m>) -> Self {
        let whole = Group::new(word_of(code.len()), Form::Group, 0);
        Parser {
            rest: pattern.chars(),
            length: pattern.raw().len(),
            code,
            groups: [whole; MAX_DEPTH + 1],
            depth: 0,
            looks: 0,
            captures: 0,
            reference: (0, 0),
            deferred: None,
            atom: None,
        }
    }

    /// Compiles all of it.
    pub(super) fn finish(mut self) -> Result<Size, PatternError> {
        loop {
            let at = self.offset();
            if self.code.len() > MAX_WORDS {
                return Err(error(PatternErrorKind::TooLarge, at));
            }
            let Some(c) = self.rest.next() else { break };
            self.part(c, at)?;
        }
        let group = self.group();
        let (offset, open) = (group.offset as usize, self.depth > 0);
        if open {
            return Err(error(PatternErrorKind::Unclosed, offset));
        }
        if self.reference.0 > self.captures {
            return Err(error(PatternErrorKind::BadReference, self.reference.1));
        }
        if let Some(deferred) = self.deferred {
            return Err(deferred);
        }
        self.end_alternatives();
        self.code.push(instruction(op::MATCH, 0));
        let group = *self.group();
        let anchored = if group.anchored.0 && group.anchored.1 { ANCHORED } else { 0 };
        let counters = self.code.place_counters();
        if counters as usize > MAX_WORDS {
            return Err(error(PatternErrorKind::TooLarge, 0));
        }
        let words = self.code.len();
        self.code.set(0, word_of(words) | anchored);
        self.code.set(1, word_of(set_words(words - HEADER)).saturating_add(group.need));
        self.code.set(2, counters);
        Ok(Size { used: 4 * words, peak: self.code.peak() })
    }

    fn part(&mut self, c: char, at: usize) -> Result<(), PatternError> {
        match c {
            '|' => self.alternative(),
            '(' => self.open(at)?,
            ')' => self.close(at)?,
            '*' => self.repeat(0, UNBOUNDED, at)?,
            '+' => self.repeat(1, UNBOUNDED, at)?,
            '?' => self.repeat(0, 1, at)?,
            '{' => match self.bounds() {
                Some((Some(least), most)) => self.repeat(least, most, at)?,
                Some((None, _)) => return Err(error(PatternErrorKind::BadQuantifier, at)),
                None => self.single(op::CHAR, u32::from(c)),
            },
            '[' => self.class(at)?,
            '.' => self.single(op::ANY, 0),
            '^' => {
                let here = self.code.len();
                let group = self.group();
                group.anchored.1 |= usize::from(group.alternative) == here;
                self.assertion(op::START);
            }
            '$' => self.assertion(op::END),
            '\\' => self.escape(at)?,
            _ => self.single(op::CHAR, u32::from(c)),
        }
        Ok(())
    }

    /// An instruction that takes one character.
    pub(super) fn single(&mut self, op: u8, argument: u32) {
        self.atom = Some(Atom { start: self.code.len(), single: true });
        self.code.push(instruction(op, argument));
    }

    pub(super) fn assertion(&mut self, op: u8) {
        self.atom = None;
        self.code.push(instruction(op, 0));
    }

    /// Remembers what is not supported; reading goes on, since the text may be wrong as well.
    pub(super) fn defer(&mut self, kind: PatternErrorKind, at: usize) {
        self.deferred = self.deferred.or(Some(error(kind, at)));
    }

    /// What comes after `[`.
    fn class(&mut self, at: usize) -> Result<(), PatternError> {
        let start = self.code.len();
        self.code.push(0);
        let negated = if self.eat('^') { NEGATED } else { 0 };
        loop {
            let place = self.offset();
            let Some(c) = self.rest.next() else { return Err(error(PatternErrorKind::Unclosed, at)) };
            if c == ']' {
                break;
            }
            let low = self.class_item(c, place)?;
            let mut ahead = self.rest.clone();
            let range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            if !range {
                self.item(low);
                continue;
            }
            self.rest.next();
            let place_high = self.offset();
            let Some(c) = self.rest.next() else { return Err(error(PatternErrorKind::Unclosed, at)) };
            match (low, self.class_item(c, place_high)?) {
                (Item::Range(low, _), Item::Range(high, _)) if low > high => {
                    return Err(error(PatternErrorKind::BadRange, place));
                }
                (Item::Range(low, _), Item::Range(high, _)) => self.item(Item::Range(low, high)),
                (low, high) => {
                    let dash = u32::from('-');
                    [low, Item::Range(dash, dash), high].into_iter().for_each(|item| self.item(item));
                }
            }
        }
        let words = word_of(self.code.len() - start - 1);
        self.code.set(start, instruction(op::CLASS, words | negated));
        self.atom = Some(Atom { start, single: true });
        Ok(())
    }

    fn item(&mut self, item: Item) {
        let (words, count) = item.words();
        words.into_iter().take(count).for_each(|word| self.code.push(word));
    }

    /// Ends an alternative: `a|` becomes a `SPLIT` before `a` and a `JUMP` after it.
    fn alternative(&mut self) {
        self.atom = None;
        let group = *self.group();
        let start = usize::from(group.alternative);
        self.code.insert(start, 1);
        let jump = self.code.len();
        self.code.set(start, instruction(op::SPLIT, distance(start, jump + 1)));
        let back = if group.jump == 0 { 0 } else { jump - usize::from(group.jump) };
        self.code.push(instruction(op::JUMP, word_of(back)));
        let group = self.group();
        group.jump = short(jump);
        group.alternative = short(jump + 1);
        group.anchored = (group.anchored.0 && group.anchored.1, false);
    }

    /// Leads the ends of the alternatives to here.
    fn end_alternatives(&mut self) {
        let end = self.code.len();
        let mut jump = usize::from(self.group().jump);
        while jump != 0 && self.code.fits(0) {
            let back = (self.code.get(jump) >> 8) as usize;
            self.code.set(jump, instruction(op::JUMP, distance(jump, end)));
            jump = if back == 0 { 0 } else { jump.saturating_sub(back) };
        }
    }

    /// What comes after `(`.
    fn open(&mut self, at: usize) -> Result<(), PatternError> {
        let mut form = Form::Group;
        if !self.eat('?') {
            self.captures += 1;
        } else if self.eat('=') {
            form = Form::Look;
        } else if self.eat('!') {
            form = Form::NegativeLook;
        } else if self.eat('<') {
            if self.eat('=') || self.eat('!') {
                form = Form::Lookbehind;
                self.defer(PatternErrorKind::Lookbehind, at);
            } else {
                self.name(at)?;
                self.captures += 1;
            }
        } else if !self.eat(':') {
            self.modifiers(at)?;
        }
        let look = matches!(form, Form::Look | Form::NegativeLook);
        self.looks += usize::from(look);
        if self.depth >= MAX_DEPTH || self.looks > MAX_LOOKS {
            return Err(error(PatternErrorKind::TooDeep, at));
        }
        let start = self.code.len();
        if look {
            self.code.grow(LOOK);
        }
        self.depth += 1;
        *self.group() = Group::new(word_of(self.code.len()), form, at);
        self.group().start = short(start);
        self.atom = None;
        Ok(())
    }

    /// The name of a group, with its `>`.
    pub(super) fn name(&mut self, at: usize) -> Result<(), PatternError> {
        let mut first = true;
        loop {
            match self.rest.next() {
                Some('>') if !first => return Ok(()),
                Some(c) if c.is_alphabetic() || matches!(c, '$' | '_') || !first && c.is_alphanumeric() => {
                    first = false;
                }
                _ => return Err(error(PatternErrorKind::BadGroup, at)),
            }
        }
    }

    /// Modifiers, up to their `:`.
    fn modifiers(&mut self, at: usize) -> Result<(), PatternError> {
        let mut some = false;
        loop {
            match self.rest.next() {
                Some('i' | 'm' | 's' | '-') => some = true,
                Some(':') if some => {
                    self.defer(PatternErrorKind::Modifier, at);
                    return Ok(());
                }
                _ => return Err(error(PatternErrorKind::BadGroup, at)),
            }
        }
    }

    fn close(&mut self, at: usize) -> Result<(), PatternError> {
        if self.depth == 0 {
            return Err(error(PatternErrorKind::Unopened, at));
        }
        self.end_alternatives();
        let group = *self.group();
        let start = usize::from(group.start);
        self.depth -= 1;
        let (mut need, mut anchored) = (group.need, false);
        match group.form {
            Form::Group => {
                self.atom = Some(Atom { start, single: false });
                anchored = group.anchored.0 && group.anchored.1;
            }
            Form::Lookbehind => self.atom = None,
            Form::Look | Form::NegativeLook => {
                self.atom = None;
                self.looks -= 1;
                self.code.push(instruction(op::MATCH, 0));
                let end = self.code.len();
                let negated = if group.form == Form::NegativeLook { NEGATED } else { 0 };
                self.code.set(start, instruction(op::LOOK, distance(start, end) | negated));
                self.code.set(start + 1, 0);
                need = need.saturating_add(word_of(set_words(end - start - LOOK)));
            }
        }
        let group = self.group();
        group.need = group.need.max(need);
        group.anchored.1 |= anchored && usize::from(group.alternative) == start;
        Ok(())
    }

    /// The innermost group.
    pub(super) fn group(&mut self) -> &mut Group {
        let [first, rest @ ..] = &mut self.groups;
        match self.depth.checked_sub(1) {
            Some(index) => rest.get_mut(index).unwrap_or(first),
            None => first,
        }
    }

    /// Takes this character if it comes next.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let mut ahead = self.rest.clone();
        let found = ahead.next() == Some(c);
        if found {
            self.rest = ahead;
        }
        found
    }

    /// Bytes of the text that were read.
    pub(super) fn offset(&self) -> usize {
        self.length - self.rest.as_str().len()
    }
}

impl Group {
    fn new(start: u32, form: Form, offset: usize) -> Group {
        let start = short(start as usize);
        Group {
            start,
            alternative: start,
            jump: 0,
            form,
            anchored: (true, false),
            offset: word_of(offset),
            need: 0,
        }
    }
}

/// An address. Patterns of more words than it can hold are refused.
fn short(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

pub(super) fn error(kind: PatternErrorKind, offset: usize) -> PatternError {
    PatternError { kind, offset }
}
