//! The loop of a check.
//!
//! What is being read is a [`Level`]. A value is read by [`Check::value`], which either reads it whole or
//! opens a level; the loop goes on with the level until it is closed. `None` everywhere says that the check
//! was given up; the reason stands in the check or in its scan.

use super::check::{CheckOptions, Schema};
use super::entry::Table;
use super::error::CheckError;
#[cfg(feature = "unevaluated")]
use super::evaluated::Scope;
use super::fast::{Place, QUICK, Quick};
use super::level::{ARRAY, IN_PLACE, Level, OBJECT, OUTSIDE, PATTERNED};
use super::mend::Mender;
use super::path::Open;
use super::place::Next;
use super::program::{Cursor, Instruction, Node, Slot, kind, op, types, word, word_of};
use super::report::{Problem, Report, Violation};
use crate::json::{Reason, Scan, blanks};
use core::cell::Cell;

/// One check.
pub(super) struct Check<'s, 'i, 'c> {
    pub(super) schema: Schema<'s>,
    pub(super) scan: Scan,
    /// The instance as far as it is UTF-8.
    pub(super) text: &'i str,
    /// What is being read now.
    pub(super) level: Level,
    /// Containers that are open.
    pub(super) depth: usize,
    /// The levels around it, and bits of large objects.
    pub(super) work: &'c mut [u32],
    pub(super) top: usize,
    pub(super) steps: u32,
    pub(super) problems: usize,
    /// Schemas inside one another that are only tried. Then problems are counted, and not reported.
    pub(super) trials: u32,
    /// How far the instance is from what was tried.
    pub(super) distance: u32,
    /// Something was read over in which a key can stand twice.
    pub(super) loose: bool,
    #[cfg(feature = "unevaluated")]
    pub(super) scope: Scope,
    /// Words of notes at the end of the work memory.
    pub(super) notes: u32,
    /// Why the check was given up or its verdict is not to be given, if it is not the scan's error.
    pub(super) failure: Option<CheckError>,
    /// Asked what could be changed, if the instance is to be coerced.
    pub(super) mender: Option<&'c mut dyn Mender>,
    report: &'c mut dyn Report,
    pub(super) options: &'c CheckOptions,
}

/// Where a check begins: nothing was read yet, or members of the object at the root.
pub(super) struct Start {
    pub(super) scan: Scan,
    pub(super) level: Level,
    pub(super) steps: u32,
    /// How much was read, and what comes next.
    pub(super) read: usize,
    pub(super) place: Place,
}

impl Start {
    /// Before the value at the root.
    pub(super) fn new(scan: Scan, root: Slot, steps: u32) -> Start {
        Start { scan, level: Level::OUTSIDE, steps, read: 0, place: Place::Value(root) }
    }
}

impl<'s, 'i, 'c> Check<'s, 'i, 'c> {
    #[inline(always)]
    pub(super) fn new(
        schema: Schema<'s>,
        start: Start,
        text: &'i str,
        options: &'c CheckOptions,
        work: &'c mut [u32],
        report: &'c mut dyn Report,
    ) -> Self {
        let Start { scan, level, steps, .. } = start;
        Check {
            schema,
            scan,
            text,
            level,
            depth: usize::from(level.state != OUTSIDE),
            work,
            top: 0,
            steps,
            problems: 0,
            trials: 0,
            distance: 0,
            loose: false,
            #[cfg(feature = "unevaluated")]
            scope: Scope::default(),
            notes: 0,
            failure: None,
            mender: None,
            report,
            options,
        }
    }

    /// Why the check was given up.
    pub(super) fn error(&self) -> CheckError {
        self.failure.unwrap_or(CheckError::Json(self.scan.error()))
    }

    /// Reads the one value in the text to its end, from where it is read to. As everywhere here, `None` says
    /// that the check was given up.
    #[inline(always)]
    pub(super) fn whole(&mut self, rest: &'i [u8], place: Place) -> Option<()> {
        let after = self.run(rest, place)?;
        self.scan.end(blanks(after))
    }

    /// Goes on with what is open until it is closed, and gives what comes after it.
    #[inline(always)]
    fn run(&mut self, mut rest: &'i [u8], mut place: Place) -> Option<&'i [u8]> {
        // Nothing was read of the level yet.
        let mut first = false;
        let mut placed = false;
        loop {
            let mut tried = false;
            let slot = match place {
                Place::Value(slot) => {
                    tried = true;
                    slot
                }
                Place::Key => {
                    let member;
                    (rest, member) = self.member(rest)?;
                    if member == Slot::NOWHERE {
                        place = Place::After;
                        continue;
                    }
                    member
                }
                Place::After => match self.level.state {
                    OBJECT => {
                        rest = blanks(rest);
                        let key = match rest {
                            [b'}', after @ ..] => {
                                rest = after;
                                first = false;
                                self.end_object();
                                continue;
                            }
                            [b',', after @ ..] if !first => blanks(after),
                            _ if first => rest,
                            _ => return self.scan.fail(Reason::ExpectedComma, rest),
                        };
                        first = false;
                        (rest, place) = self.members(key);
                        continue;
                    }
                    ARRAY => {
                        rest = match blanks(rest) {
                            [b']', after @ ..] => {
                                rest = after;
                                first = false;
                                self.end_array();
                                continue;
                            }
                            [b',', after @ ..] if !first => after,
                            rest if first => rest,
                            rest => return self.scan.fail(Reason::ExpectedComma, rest),
                        };
                        let number = self.level.next;
                        self.level.next = number.saturating_add(1);
                        if number < self.level.seen {
                            let at = self.level.entries as usize + 4 * number as usize;
                            Slot(word(self.schema.program(), at))
                        } else {
                            Slot(self.level.items)
                        }
                    }
                    IN_PLACE => match self.in_place(rest)? {
                        Next::Run(at, slot) => {
                            rest = at;
                            slot
                        }
                        Next::Own(at, slot) => {
                            rest = at;
                            placed = true;
                            slot
                        }
                        Next::Done(after) => {
                            rest = after;
                            first = false;
                            continue;
                        }
                    },
                    OUTSIDE => return Some(rest),
                    #[cfg(feature = "pattern")]
                    _ => {
                        let chosen;
                        (rest, chosen) = self.chosen(rest, first)?;
                        first = false;
                        if chosen == Slot::NOWHERE {
                            continue;
                        }
                        chosen
                    }
                    #[cfg(not(feature = "pattern"))]
                    _ => return Some(rest),
                },
            };
            (rest, first) = self.value(rest, slot, placed, tried)?;
            placed = false;
            place = Place::After;
        }
    }

    /// From a key on, reads the members that are quickly read.
    #[inline(always)]
    fn members(&mut self, rest: &'i [u8]) -> (&'i [u8], Place) {
        if self.level.count > QUICK {
            self.level.items = 0;
            return (rest, Place::Key);
        }
        Quick { schema: &self.schema, scan: &mut self.scan, steps: &mut self.steps, utf8: true }
            .members(&mut self.level, rest)
    }

    /// What comes after a scalar that is plainly accepted.
    #[inline(always)]
    fn scalar(&mut self, slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
        Quick { schema: &self.schema, scan: &mut self.scan, steps: &mut self.steps, utf8: true }
            .scalar(slot, rest)
    }

    /// Reads a value, or no further than its start if there is something to check inside: then the flag is
    /// set. What applies in place was seen to if `placed`; the quick way did not do if `tried`.
    #[inline(always)]
    fn value(&mut self, rest: &'i [u8], slot: Slot, placed: bool, tried: bool) -> Option<(&'i [u8], bool)> {
        let rest = blanks(rest);
        let (types, kinds) = match slot.as_immediate() {
            Some((types, _)) => (types, 0),
            None => {
                let [types, kinds, ..] = word(self.schema.program(), slot.0 as usize).to_le_bytes();
                (types, kinds)
            }
        };
        if !tried
            && !matches!(rest, [b'{' | b'[', ..])
            && let Some(after) = self.scalar(slot, rest)
        {
            return Some((after, false));
        }
        if kinds & kind::PATTERNED != 0 {
            // It alone can have more instructions than there are keywords, all of which are looked through.
            self.step(u32::from(Node::read(self.schema.program(), slot.0 as usize).count) / 16)?;
        }
        if kinds & kind::IN_PLACE != 0 && !placed {
            self.open_frame(rest, slot)?;
            return Some((rest, true));
        }
        let after = match rest {
            [b'"', content @ ..] => {
                let after = self.scan.string(content)?;
                if types & types::STRING == 0 || kinds & (kind::STRING | kind::VALUE) != 0 {
                    self.string(slot, rest, after)?;
                }
                after
            }
            [b'{', after @ ..] if types & types::OBJECT != 0 && kinds & kind::OBJECT != 0 => {
                let mut state = OBJECT;
                if kinds & (kind::VALUE | kind::PATTERNED) != 0 {
                    if kinds & kind::VALUE != 0 {
                        let end = self.scan.value(rest, self.depth)?;
                        self.one_of(slot, rest, end)?;
                    }
                    if kinds & kind::PATTERNED != 0 {
                        state = PATTERNED;
                    }
                }
                self.scan.check_depth(self.depth, rest)?;
                // `OBJECT` comes first in its node.
                let table = Table::read(self.schema.program(), slot.0 as usize + Node::SIZE);
                let seen = self.enter(table.count)?;
                self.depth += 1;
                let (start, entries) = (word_of(self.scan.offset(rest)), word_of(table.entries()));
                self.level = Level {
                    state,
                    node: slot.0,
                    start,
                    next: 0,
                    count: table.count,
                    entries,
                    seen,
                    items: 0,
                };
                return Some((after, true));
            }
            [b'[', after @ ..] if types & types::ARRAY != 0 && kinds & kind::ARRAY != 0 => {
                if kinds & kind::VALUE != 0 {
                    let end = self.scan.value(rest, self.depth)?;
                    self.one_of(slot, rest, end)?;
                }
                self.scan.check_depth(self.depth, rest)?;
                self.enter(0)?;
                self.depth += 1;
                let start = word_of(self.scan.offset(rest));
                self.level = Level { state: ARRAY, node: slot.0, start, ..Level::OUTSIDE };
                self.find_items(slot);
                return Some((after, true));
            }
            [b'0'..=b'9' | b'-', ..] => {
                let after = self.scan.scalar(rest)?;
                if types & types::NUMBER != types::NUMBER || kinds & (kind::NUMBER | kind::VALUE) != 0 {
                    self.number(slot, rest, after)?;
                }
                after
            }
            [first, ..] => {
                let after = self.scan.value(rest, self.depth)?;
                let bit = match first {
                    b'{' => {
                        self.loose = true;
                        types::OBJECT
                    }
                    b'[' => {
                        self.loose = true;
                        types::ARRAY
                    }
                    b'n' => types::NULL,
                    _ => types::BOOLEAN,
                };
                if types & bit == 0 || kinds & kind::VALUE != 0 {
                    self.other(slot, bit, rest, after)?;
                }
                after
            }
            [] => self.scan.scalar(rest)?,
        };
        Some((after, false))
    }

    /// Gives up for want of work memory, of which `end` words would have got further.
    #[cold]
    pub(super) fn no_work<T>(&mut self, end: usize) -> Option<T> {
        let end = end + self.notes as usize;
        self.give_up(CheckError::NoWork { need: self.schema.work_words(self.options).max(end) })
    }

    #[cold]
    pub(super) fn give_up<T>(&mut self, error: CheckError) -> Option<T> {
        self.failure = Some(error);
        None
    }

    /// The first instruction of a kind in a node.
    pub(super) fn find(&self, slot: Slot, op: u8) -> Option<Instruction> {
        let mut cursor = Cursor::new(self.schema.program(), slot);
        while let Some(instruction) = cursor.next(self.schema.program()) {
            if instruction.op == op {
                return Some(instruction);
            }
        }
        None
    }

    /// Takes steps from the budget.
    #[inline(always)]
    pub(super) fn step(&mut self, steps: u32) -> Option<()> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Some(())
            }
            None => self.give_up(CheckError::StepLimit),
        }
    }

    /// Where the schema of the current level stands.
    pub(super) fn schema_offset(&self) -> usize {
        Node::read(self.schema.program(), self.level.node as usize).offset as usize
    }

    /// Tells of a problem. When the steps for that are used up, nothing more is told, and the check has failed.
    #[cold]
    pub(super) fn report(&mut self, problem: Problem<'_>, at: usize, schema_at: usize) {
        self.problems = self.problems.saturating_add(1);
        let trial = self.trials > 0;
        let mended = self.mender.is_some() && self.mends(&problem, at, trial);
        if self.failure.is_some() {
            return;
        }
        let steps = Cell::new(1);
        if trial {
            let weight = if mended { 0 } else { self.weight(&problem, at) };
            self.distance = self.distance.saturating_add(weight);
            self.take(1);
            return;
        }
        let open = Open {
            level: self.level,
            work: self.work.get(..self.top).unwrap_or_default(),
            program: self.schema.program(),
            schema: self.schema.texts(),
            instance: self.text,
            #[cfg(feature = "unevaluated")]
            notes: self.work.get(self.noted()).unwrap_or_default(),
        };
        self.report.violation(&Violation { problem, open, at, schema_at, steps: &steps });
        self.take(steps.get());
    }

    /// As [`step`](Self::step), where the check is given up later.
    fn take(&mut self, steps: u32) {
        if self.step(steps).is_none() {
            self.steps = 0;
        }
    }

    /// How much a problem says that a schema was not meant. A value that is not the expected one says much,
    /// since it often tells alternatives apart, and a wrong type too; and the less, the deeper it is inside.
    /// An alternative for values of another type comes after all others.
    pub(super) fn weight(&self, problem: &Problem<'_>, at: usize) -> u32 {
        let weight = match problem {
            Problem::Type(..) | Problem::Kinds(..) | Problem::False => {
                if self.is_tried(at, 0) {
                    1024
                } else {
                    64
                }
            }
            Problem::Enum(_) | Problem::Const(_) => 160,
            _ => 4,
        };
        weight << (2 * (8 - self.depth.min(8)))
    }

    /// Whether an alternative is on its way for the value that starts at `at`, apart from so many of the
    /// innermost levels.
    pub(super) fn is_tried(&self, at: usize, apart: usize) -> bool {
        let program = self.schema.program();
        let work = self.work.get(..self.top).unwrap_or_default();
        let open = Open {
            level: self.level,
            work,
            program,
            schema: self.schema.texts(),
            instance: self.text,
            #[cfg(feature = "unevaluated")]
            notes: &[],
        };
        let frames = open.levels().take_while(|level| level.state == IN_PLACE && level.start as usize == at);
        frames.skip(apart).take(FRAMES).any(|frame| {
            matches!(Instruction::read(program, frame.next as usize).op, op::ANY_OF | op::ONE_OF)
        })
    }
}

/// So many schemas that apply to one value are looked through for alternatives.
const FRAMES: usize = 8;
