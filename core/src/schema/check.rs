//! Checking an instance against a program, in one pass over its text.
//!
//! The instance is read strictly and checked at the same time, so what is accepted is JSON and fits the
//! schema. The members of an object are tried in the schema's order, by comparing the bytes that are expected
//! next; only a key that is not the expected one is searched for. A value that the schema leaves open is read
//! and not looked at. After a violation the check goes on: all problems are reported. A text that stops being
//! JSON ends it.
//!
//! # Cost
//!
//! Nothing here recurses, so a check takes some kB of stack whatever the schema and the instance are. The
//! container being read is kept in registers; those around it are kept in the work memory, in
//! [`WORK_PER_LEVEL`] words each, and an object of more than 32 names takes one further word per 32 names. A
//! schema whose objects are not nested needs no work memory at all; [`Schema::work_words`] says how much
//! always suffices.
//!
//! Time is linear in the instance's text, which is read once, plus the steps. Whatever else takes time takes
//! steps; none of them stands for more than some hundred instructions. A step is
//!
//! - a key that was not the expected one; it is searched for in time logarithmic in the number of names,
//! - a candidate of an `enum`, and 64 bytes of one and of the value that are compared,
//! - an element of an array or object that is compared with one in the schema, and 64 bytes of both,
//! - 64 bytes of a number and of its bound in the schema, where either is that long,
//! - an alternative that is looked at, a schema that applies in place, and 8 bytes of a value that are read
//!   again for one or for a further pattern,
//! - 8 instructions of a pattern that are looked at, 16 instructions of a schema with `patternProperties`, 512
//!   names of an object,
//! - for what takes more than one look (`uniqueItems`, `contains`, `unevaluatedItems` and the like) an
//!   element and 8 or 64 bytes of it, a schema that was noted, a level that a dynamic reference passes and
//!   each document around its schema,
//! - a key of what is read over and 64 bytes of its object, for keys that stand twice, and a place in the
//!   table of their hashes,
//! - a violation, and 64 bytes of what is gone through to write its texts: the pointer in the instance, the
//!   schema's text before the keyword, the list of what would be right. Texts that nobody asks for take none.
//!
//! So an instance in the schema's order takes almost none. When the budget of steps is used up, the check ends
//! with [`CheckError::StepLimit`]; what was begun is ended before that, which is one reading of a value or the
//! texts of one violation. What a report does beside writing a violation's texts is its own.
//!
//! Most of these grow with the instance alone. Those that can grow with its square are `uniqueItems` and keys
//! of what is read over, beyond some hundred elements: with the least work memory a budget of a million steps
//! ends for about ten thousand of them in one container, and with two words more for each it does not.

use super::coerce::CoerceOptions;
use super::entry::Candidate;
use super::error::CheckError;
use super::fast::{self, Place, Quick};
use super::level::Level;
use super::machine::{Check, Start};
use super::program::{Cursor, HEADER, MAGIC, Node, RECURSIVE, Slot, UNIQUE, op, types, word, words};
use super::report::Report;
use super::source::{Resource, Texts};
use super::splice::Splice;
use super::work;
use crate::json::{self, Scan, blanks};

/// A compiled schema: its text and its program.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'s> {
    text: &'s str,
    program: &'s [u8],
    resources: &'s [Resource<'s>],
}

/// How to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// What to accept as JSON.
    pub json: json::Options,
    /// Steps that a check may take beyond reading the text once: a key that was not the expected one, a
    /// candidate of an `enum`, an alternative, an element of a container that is compared with one in the
    /// schema, 8 bytes that are read again, 8 instructions of a pattern, a violation, and 64 bytes of what is
    /// compared or of what is gone through to write a violation's texts. The default is a million, well under
    /// a second on a desktop machine, and enough to tell of hundreds of thousands of violations: one whose
    /// texts are short takes one step.
    ///
    /// Coercing has a budget of the same size for all its readings together. Beside what takes steps in a
    /// check, a step is a value that could be converted, a property that could have a default, and 64 bytes
    /// of the text in each reading and writing, of a value that is converted, of a schema in which a default is
    /// looked for, or of the pointer of a change that is told.
    pub steps: u32,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { json: json::Options::default(), steps: 1_000_000 }
    }
}

/// What a check found.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Whether the instance fits the schema. Then its text can be looked into with
    /// [`Value::from_checked`](json::Value::from_checked).
    pub valid: bool,
    /// How many violations were reported.
    pub problems: usize,
}

/// Words of work memory for each container around the one that is being read.
pub const WORK_PER_LEVEL: usize = work::LEVEL as usize;

impl<'s> Schema<'s> {
    /// A schema whose `program` was compiled from `text`. With any other program the answers are wrong; they
    /// are never a panic or a hang.
    pub fn new(text: &'s str, program: &'s [u8]) -> Self {
        Schema { text, program, resources: &[] }
    }

    /// The schema `true`, which accepts everything.
    pub(super) fn anything() -> Schema<'static> {
        Schema::new("true", &ANYTHING)
    }

    /// A schema whose `program` was compiled from `text` and these resources, in the same order.
    pub fn with_resources(text: &'s str, resources: &'s [Resource<'s>], program: &'s [u8]) -> Self {
        Schema { text, program, resources }
    }

    /// The schema's text.
    pub fn text(self) -> &'s str {
        self.text
    }

    /// Its texts.
    /// The resources that it was compiled with.
    pub(crate) fn resources(self) -> &'s [Resource<'s>] {
        self.resources
    }

    pub(super) fn texts(self) -> Texts<'s> {
        Texts { first: self.text, more: self.resources }
    }

    /// The compiled program.
    pub fn program(self) -> &'s [u8] {
        self.program
    }

    /// Words of work memory that are enough for every instance that `options` let through: what the schema
    /// needs by itself, unless it leads back to itself or has `uniqueItems`. Then it is the more, the deeper
    /// `options.json` lets containers be nested. More of it saves steps where a container has more than a
    /// hundred items that are to be unique, or keys that the schema does not name: two words for each.
    pub fn work_words(self, options: &CheckOptions) -> usize {
        let depth = usize::from(options.json.max_depth.min(json::MAX_DEPTH));
        let [words, other] = words(self.program, 8);
        if words & RECURSIVE == 0 {
            // Items that are compared are nested less deep than was counted with.
            let less = work::unique(usize::from(json::MAX_DEPTH)) - work::unique(depth);
            return words.saturating_sub(less).max(other.min(words)) as usize;
        }
        let unique = if words & UNIQUE == 0 { 0 } else { work::unique(depth) };
        let once = (words & (UNIQUE - 1)).max(unique) as usize;
        // Beside the containers there is what is inside of them: a scalar, or a key.
        (other as usize).saturating_mul(depth + 1) + once
    }

    /// Words of work memory that are enough to coerce every instance that `options` let through: those of a
    /// check, and of one of a default inside of it; where the last of equal keys wins, also those for the way
    /// to an object that the schema does not look into.
    pub fn coerce_words(self, options: &CoerceOptions) -> usize {
        let checks = self.work_words(&options.check).saturating_mul(2).saturating_add(work::LEVEL as usize);
        let depth = usize::from(options.check.json.max_depth.min(json::MAX_DEPTH));
        if options.last_wins { checks.max(Splice::words(depth)) } else { checks }
    }

    /// Where the schema of a slot stands in the text.
    pub(super) fn place(self, slot: Slot) -> usize {
        match slot.as_immediate() {
            Some((_, offset)) => offset,
            None => Node::read(self.program, slot.0 as usize).offset as usize,
        }
    }

    /// The types that a slot's own schema accepts.
    #[inline]
    pub(super) fn types(self, slot: Slot) -> u8 {
        match slot.as_immediate() {
            Some((types, _)) => types,
            None => Node::read(self.program, slot.0 as usize).types,
        }
    }

    /// Whether the root can accept an object at all.
    pub fn accepts_object(self) -> bool {
        let mut slot = Slot(word(self.program, 4));
        // Each step follows a reference in place, and those have no cycles.
        for _ in 0..self.program.len() {
            let Some(at) = slot.as_node() else { break };
            if Node::read(self.program, at).types & types::OBJECT == 0 {
                return false;
            }
            let mut next = None;
            let mut cursor = Cursor::new(self.program, slot);
            while let Some(instruction) = cursor.next(self.program) {
                match instruction.op {
                    op::REF => next = Some(Slot(word(self.program, instruction.at + 8))),
                    op::ENUM | op::CONST => {
                        let mut candidates =
                            (0..instruction.argument).map(|n| Candidate::read(self.program, instruction, n));
                        if !candidates.any(|candidate| candidate.raw(self.texts()).starts_with('{')) {
                            return false;
                        }
                    }
                    _ => {}
                }
            }
            match next {
                Some(target) => slot = target,
                None => return true,
            }
        }
        slot.as_immediate().is_some_and(|(types, _)| types & types::OBJECT != 0)
    }

    /// Checks `instance` while reading it. Every problem is reported, in the order that [`Report`] states;
    /// whoever gets an error must disregard what was reported before.
    pub fn check(
        self,
        instance: &[u8],
        options: &CheckOptions,
        work: &mut [u32],
        report: &mut dyn Report,
    ) -> Result<Verdict, CheckError> {
        let start = match self.start(instance, false, options) {
            Ok(start) => start?,
            Err(verdict) => return Ok(verdict),
        };
        self.check_bytes(instance, start, options, work, report)
    }

    /// As [`check`](Self::check), for text that is known to be UTF-8.
    pub fn check_str(
        self,
        instance: &str,
        options: &CheckOptions,
        work: &mut [u32],
        report: &mut dyn Report,
    ) -> Result<Verdict, CheckError> {
        let start = match self.start(instance.as_bytes(), true, options) {
            Ok(start) => start?,
            Err(verdict) => return Ok(verdict),
        };
        self.check_text(instance, start, options, work, report)
    }

    /// Reads the object that most arguments are, as far as it is what the schema expects: to its end, and
    /// this is the verdict in `Err`, or to where a check has to begin. Nothing is made ready here for what
    /// most arguments do not need.
    #[inline(always)]
    fn start(
        &self,
        text: &[u8],
        utf8: bool,
        options: &CheckOptions,
    ) -> Result<Result<Start, CheckError>, Verdict> {
        if word(self.program, 0) != MAGIC {
            return Ok(Err(CheckError::BadProgram));
        }
        if u32::try_from(text.len()).is_err() {
            return Ok(Err(CheckError::TooLarge));
        }
        let root = Slot(word(self.program, 4));
        let mut scan = Scan::over(text.len(), false, &options.json);
        let (mut read, mut place) = (0, Place::Value(root));
        let (mut level, mut steps) = (Level::OUTSIDE, options.steps);
        if let Some((object, after)) = fast::object(self.program, root, text)
            && let key @ [b'"', ..] = blanks(after)
            && scan.check_depth(0, text).is_some()
        {
            level = object;
            let rest;
            let mut quick = Quick { schema: self, scan: &mut scan, steps: &mut steps, utf8 };
            (rest, place) = quick.members(&mut level, key);
            if let (Place::After, [b'}', end @ ..]) = (place, blanks(rest))
                && (end.is_empty() || blanks(end).is_empty())
                && level.is_complete(self.program)
            {
                return Err(Verdict { valid: true, problems: 0 });
            }
            read = text.len() - rest.len();
        }
        Ok(Ok(Start { scan, level, steps, read, place }))
    }

    /// Checks on, as far as the text is UTF-8. What was read is.
    #[inline(never)]
    fn check_bytes(
        self,
        instance: &[u8],
        mut start: Start,
        options: &CheckOptions,
        work: &mut [u32],
        report: &mut dyn Report,
    ) -> Result<Verdict, CheckError> {
        let (text, cut) = Scan::utf8(instance);
        start.scan = Scan::over(text.len(), cut, &options.json);
        self.check_text(text, start, options, work, report)
    }

    /// Checks on.
    #[inline(never)]
    fn check_text(
        self,
        text: &str,
        start: Start,
        options: &CheckOptions,
        work: &mut [u32],
        report: &mut dyn Report,
    ) -> Result<Verdict, CheckError> {
        let rest = text.as_bytes().get(start.read..).unwrap_or_default();
        let place = start.place;
        let mut check = Check::new(self, start, text, options, work, report);
        match check.whole(rest, place) {
            Some(()) if check.loose && check.compare_keys().is_none() => Err(check.error()),
            Some(()) if check.failure.is_none() => {
                Ok(Verdict { valid: check.problems == 0, problems: check.problems })
            }
            _ => Err(check.error()),
        }
    }
}

/// The program of `true`: a header alone.
const ANYTHING: [u8; HEADER] = {
    let ([a, b, c, d], [e, f, g, h]) = (MAGIC.to_ne_bytes(), Slot::ANY.0.to_ne_bytes());
    [a, b, c, d, e, f, g, h, 0, 0, 0, 0, 0, 0, 0, 0]
};
