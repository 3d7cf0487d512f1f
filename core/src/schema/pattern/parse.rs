//! From a pattern's text to its program, in one pass.
//!
//! Code is written as the text is read. A quantifier or a `|` comes after what it is about: then a word is
//! inserted in front of that, which is why distances are relative. Open groups are kept in a bounded stack.

use super::code::{
    ANCHORED, Code, HEADER, LOOK, MAX_WORDS, NEGATED, UNBOUNDED, distance, instruction, op, set_words,
};
use super::escape::eat;
use super::name::Names;
use super::repeat::MAX_COUNTS;
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
    pub(super) groups: [Group; MAX_DEPTH + 1],
    pub(super) depth: usize,
    looks: usize,
    /// Groups that can be referred to.
    captures: u32,
    pub(super) names: Names<'p>,
    /// The largest number that is referred to, and where.
    pub(super) reference: (u32, usize),
    /// The first thing that is a regular expression and is not supported.
    deferred: Option<PatternError>,
    /// Where the last part stands that is no quantifier.
    begin: usize,
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
    /// An alternative so far can be nothing wherever it stands, and so can the present one.
    pub(super) nullable: (bool, bool),
    /// What is counted in it.
    pub(super) counts: u32,
    /// Names of groups that there were before it, and before the present alternative.
    pub(super) names: (u8, u8),
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
    /// Where it stands in the text.
    pub(super) offset: usize,
    /// It takes exactly one character.
    pub(super) single: bool,
    /// It can be nothing, wherever it stands.
    pub(super) nullable: bool,
    /// What is counted in it.
    pub(super) counts: u32,
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
            names: Names::new(),
            reference: (0, 0),
            deferred: None,
            begin: 0,
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
        self.check_names()?;
        if let Some(deferred) = self.deferred {
            return Err(deferred);
        }
        self.end_alternatives();
        self.code.push(instruction(op::MATCH, 0));
        let group = *self.group();
        let anchored = if group.anchored.0 && group.anchored.1 { ANCHORED } else { 0 };
        if group.counts > MAX_COUNTS {
            return Err(error(PatternErrorKind::TooLarge, 0));
        }
        let counters = self.code.place_counters();
        let words = self.code.len();
        self.code.set(0, word_of(words) | anchored);
        self.code.set(1, word_of(set_words(words - HEADER)).saturating_add(group.need));
        self.code.set(2, counters);
        Ok(Size { used: 4 * words, peak: self.code.peak() })
    }

    fn part(&mut self, c: char, at: usize) -> Result<(), PatternError> {
        if !matches!(c, '*' | '+' | '?' | '{') {
            self.settle(at);
        }
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
                None => {
                    self.settle(at);
                    self.single(op::CHAR, u32::from(c));
                }
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

    /// Nothing repeats what was just read; the next part stands at `at`.
    fn settle(&mut self, at: usize) {
        self.begin = at;
        if let Some(atom) = self.atom.take() {
            self.group().nullable.1 &= atom.nullable;
        }
    }

    /// An instruction that takes one character.
    pub(super) fn single(&mut self, op: u8, argument: u32) {
        self.atom = Some(Atom::one(self.code.len(), self.begin));
        self.code.push(instruction(op, argument));
    }

    pub(super) fn assertion(&mut self, op: u8) {
        self.group().nullable.1 = false;
        self.code.push(instruction(op, 0));
    }

    /// Remembers what is not supported; reading goes on, since the text may be wrong as well.
    pub(super) fn defer(&mut self, kind: PatternErrorKind, at: usize) {
        self.deferred = self.deferred.or(Some(error(kind, at)));
    }

    /// Ends an alternative: `a|` becomes a `SPLIT` before `a` and a `JUMP` after it.
    fn alternative(&mut self) {
        let group = *self.group();
        let start = usize::from(group.alternative);
        self.code.insert(start, 1);
        let jump = self.code.len();
        self.code.set(start, instruction(op::SPLIT, distance(start, jump + 1)));
        let back = if group.jump == 0 { 0 } else { jump - usize::from(group.jump) };
        self.code.push(instruction(op::JUMP, word_of(back)));
        let names = self.names.len();
        let group = self.group();
        group.jump = short(jump);
        group.alternative = short(jump + 1);
        group.anchored = (group.anchored.0 && group.anchored.1, false);
        group.nullable = (group.nullable.0 || group.nullable.1, true);
        group.names.1 = names;
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
                self.name(at, false)?;
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
        let names = self.names.len();
        let group = self.group();
        group.start = short(start);
        group.names = (names, names);
        Ok(())
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
                let nullable = group.nullable.0 || group.nullable.1;
                self.atom = Some(Atom {
                    start,
                    offset: group.offset as usize,
                    single: false,
                    nullable,
                    counts: group.counts,
                });
                anchored = group.anchored.0 && group.anchored.1;
            }
            Form::Lookbehind => self.group().nullable.1 = false,
            Form::Look | Form::NegativeLook => {
                self.group().nullable.1 = false;
                self.looks -= 1;
                self.code.push(instruction(op::MATCH, 0));
                let end = self.code.len();
                let negated = if group.form == Form::NegativeLook { NEGATED } else { 0 };
                self.code.set(start, instruction(op::LOOK, distance(start, end) | negated));
                self.code.set(start + 1, 0);
                need = need.saturating_add(word_of(set_words(end - start - LOOK)));
            }
        }
        let counts = group.counts;
        let group = self.group();
        group.counts = group.counts.saturating_add(counts);
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
        eat(&mut self.rest, c)
    }

    /// Bytes of the text that were read.
    pub(super) fn offset(&self) -> usize {
        self.length - self.rest.as_str().len()
    }
}

impl Atom {
    /// An instruction that takes one character.
    pub(super) fn one(start: usize, offset: usize) -> Atom {
        Atom { start, offset, single: true, nullable: false, counts: 0 }
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
            nullable: (false, true),
            counts: 0,
            names: (0, 0),
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
