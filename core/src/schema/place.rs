//! What applies to a value in place, and what takes more than one look at a value: a frame reads it again for
//! each schema that applies, in the order of the node's instructions, and last for what the node says itself.
//!
//! Where a schema is only tried, as under `anyOf` and `not`, problems are counted and not reported. So that a
//! model learns how to mend the value, the alternative that came closest is run once more, aloud.
//!
//! What a frame has to remember beside its level stands in the work memory, in [`work::FRAME`] words.

use super::entry::Entry;
use super::error::Keyword;
use super::frame::Frame;
use super::level::{IN_PLACE, Level};
use super::machine::Check;
use super::program::{Cursor, Instruction, Node, Slot, kind, op, types, word, word_of};
use super::report::Problem;
use super::source::{item_at, offset_in};
use super::work;

/// What comes next.
pub(super) enum Next<'i> {
    /// To read the value that stands here, against this.
    Run(&'i [u8], Slot),
    /// To read the frame's value for the last time, against what its node says itself. The frame is left.
    Own(&'i [u8], Slot),
    /// Nothing: the frame is left, and this comes after its value.
    Done(&'i [u8]),
}

/// How a run ended.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    pub(super) failed: bool,
    pub(super) distance: u32,
}

/// What an instruction wants.
pub(super) enum Act<'i> {
    Run {
        at: &'i [u8],
        slot: Slot,
        /// Problems are not to be reported.
        trial: bool,
    },
    Finished,
}

impl<'i> Check<'_, 'i, '_> {
    /// Opens a frame for the value at `rest`.
    pub(super) fn open_frame(&mut self, rest: &'i [u8], slot: Slot) -> Option<()> {
        let seen = self.enter(work::FRAME_COUNT)?;
        let start = word_of(self.scan.offset(rest));
        self.level =
            Level { state: IN_PLACE, node: slot.0, start, count: work::FRAME_COUNT, seen, ..Level::OUTSIDE };
        self.set_frame(Frame { position: start, best_distance: u32::MAX, ..Frame::default() });
        Some(())
    }

    /// Goes on with the frame, where what comes next in the instance is `rest`.
    #[inline(never)]
    pub(super) fn in_place(&mut self, rest: &'i [u8]) -> Option<Next<'i>> {
        let program = self.schema.program();
        let mut frame = self.frame();
        let at = word_of(self.scan.offset(rest));
        let count = u32::from(Node::read(program, self.level.node as usize).count);
        self.step(1 + at.saturating_sub(frame.position) / 8 + count / 16)?;
        let mut outcome = None;
        if self.level.next == 0 {
            self.go_to(Cursor::new(program, Slot(self.level.node)));
            self.begin_scope(&mut frame)?;
        } else {
            outcome = Some(self.outcome(&mut frame, at));
        }
        loop {
            let mut cursor = Cursor::resume(self.level.next as usize, self.level.entries);
            let Some(instruction) = cursor.next(program) else {
                // Everything else that applies was seen to.
                if self.ask_notes(&mut frame) {
                    continue;
                }
                break;
            };
            let act = if frame.is_due(instruction) {
                self.act(&mut frame, instruction, outcome.take(), rest)?
            } else {
                Act::Finished
            };
            match act {
                Act::Run { at, slot, trial } => {
                    (frame.problems, frame.distance) = (word_of(self.problems), self.distance);
                    frame.position = word_of(self.scan.offset(at));
                    frame.trial = u32::from(trial);
                    frame.notes = self.notes;
                    self.trials += frame.trial;
                    if self.in_scope() && instruction.is_in_place() {
                        self.note(slot)?;
                    }
                    self.set_frame(frame);
                    return Some(Next::Run(at, slot));
                }
                Act::Finished => {
                    self.go_to(cursor);
                    (frame.matches, frame.best_distance) = (0, u32::MAX);
                }
            }
        }
        let slot = Slot(self.level.node);
        let again = self.has_own() || frame.end == 0;
        let start = if again { self.level.start } else { frame.end };
        self.end_scope(&frame)?;
        self.leave();
        let text = self.text.as_bytes().get(start as usize..).unwrap_or_default();
        Some(if again { Next::Own(text, slot) } else { Next::Done(text) })
    }

    /// To carry out the instruction at the cursor next.
    pub(super) fn go_to(&mut self, cursor: Cursor) {
        (self.level.next, self.level.entries) = (word_of(cursor.at), u32::from(cursor.left()));
        self.level.items = 0;
    }

    /// How the run that is on its way ended. A trial leaves nothing behind.
    fn outcome(&mut self, frame: &mut Frame, at: u32) -> Outcome {
        if frame.position == self.level.start {
            frame.end = at;
        }
        let failed = word_of(self.problems) > frame.problems;
        let distance = self.distance.saturating_sub(frame.distance);
        if frame.trial != 0 {
            self.trials = self.trials.saturating_sub(1);
            (self.problems, self.distance) = (frame.problems as usize, frame.distance);
            if failed {
                self.notes = frame.notes;
            }
        }
        Outcome { failed, distance }
    }

    /// What an instruction wants next. `self.level.items` counts its runs.
    fn act(
        &mut self,
        frame: &mut Frame,
        instruction: Instruction,
        outcome: Option<Outcome>,
        rest: &'i [u8],
    ) -> Option<Act<'i>> {
        let program = self.schema.program();
        let value = self.text.as_bytes().get(self.level.start as usize..).unwrap_or_default();
        let ran = self.level.items;
        let slot = |address: usize| Slot(word(program, address));
        let first = slot(instruction.at + 4);
        let failed = outcome.is_some_and(|outcome| outcome.failed);
        Some(match instruction.op {
            op::REF if ran == 0 => self.look(value, slot(instruction.at + 8)),
            op::DYNAMIC_REF if ran == 0 => {
                let target = self.dynamic_target(instruction)?;
                self.look(value, target)
            }
            op::ALL_OF if ran < instruction.argument => {
                self.look(value, slot(instruction.at + 4 + 4 * ran as usize))
            }
            op::ANY_OF | op::ONE_OF => self.alternatives(frame, instruction, outcome, value)?,
            op::NOT if ran == 0 => self.try_out(value, first),
            op::NOT => {
                self.notes = frame.notes;
                if !failed {
                    self.problem(Problem::Not);
                }
                Act::Finished
            }
            op::IF if ran == 0 && (self.has_branches() || self.in_scope()) => self.try_out(value, first),
            op::IF if ran == 1 => match self.find_in_node(if failed { op::ELSE } else { op::THEN }) {
                Some(branch) => self.look(value, slot(branch.at + 4)),
                None => Act::Finished,
            },
            op::DEPENDENT => {
                self.read_whole(frame, value)?;
                self.dependent(instruction, value)?
            }
            op::CONTAINS if value.first() == Some(&b'[') => {
                self.read_whole(frame, value)?;
                self.contains(frame, instruction, failed, rest)?
            }
            op::PROPERTY_NAMES if value.first() == Some(&b'{') => {
                self.read_whole(frame, value)?;
                self.property_names(frame, instruction)?
            }
            op::MIN_PROPERTIES | op::MAX_PROPERTIES if value.first() == Some(&b'{') => {
                self.read_whole(frame, value)?;
                self.count_members(instruction)?;
                Act::Finished
            }
            op::UNIQUE_ITEMS if value.first() == Some(&b'[') => {
                self.read_whole(frame, value)?;
                self.unique()?;
                Act::Finished
            }
            op::UNEVALUATED_PROPERTIES | op::UNEVALUATED_ITEMS => {
                self.unevaluated(frame, instruction, failed, rest)?
            }
            _ => Act::Finished,
        })
    }

    /// To check the value that stands here.
    pub(super) fn look(&mut self, at: &'i [u8], slot: Slot) -> Act<'i> {
        self.level.items += 1;
        Act::Run { at, slot, trial: false }
    }

    /// To find out whether the value that stands here fits.
    pub(super) fn try_out(&mut self, at: &'i [u8], slot: Slot) -> Act<'i> {
        self.level.items += 1;
        Act::Run { at, slot, trial: true }
    }

    /// Whether the frame's node says something about the value itself, for which it is read once more.
    fn has_own(&self) -> bool {
        let node = Node::read(self.schema.program(), self.level.node as usize);
        node.types != types::ALL || node.kinds & !(kind::IN_PLACE | kind::ALIAS) != 0
    }

    /// Reads the value once, strictly, so that what looks into it can rely on it.
    pub(super) fn read_whole(&mut self, frame: &mut Frame, value: &'i [u8]) -> Option<()> {
        if frame.end == 0 {
            self.loose |= matches!(value, [b'{' | b'[', ..]) && !self.has_own();
            let after = self.scan.value(value, self.depth)?;
            frame.end = word_of(self.scan.offset(after));
            self.step(word_of((value.len() - after.len()) / 8))?;
        }
        Some(())
    }

    /// Whether `if` decides about anything.
    fn has_branches(&self) -> bool {
        self.find_in_node(op::THEN).is_some() || self.find_in_node(op::ELSE).is_some()
    }

    /// `dependentRequired`, `dependentSchemas` and `dependencies`.
    fn dependent(&mut self, instruction: Instruction, value: &'i [u8]) -> Option<Act<'i>> {
        if value.first() != Some(&b'{') {
            return Some(Act::Finished);
        }
        let start = self.level.start as usize;
        while self.level.items < instruction.argument {
            let at = instruction.at + 4 + Entry::SIZE * self.level.items as usize;
            let entry = Entry::read(self.schema.program(), at);
            let key = entry.name(self.schema.texts());
            if !self.has_member(start, key)? {
                self.level.items += 1;
                continue;
            }
            if !entry.is(Entry::LIST) {
                return Some(self.look(value, entry.slot));
            }
            self.level.items += 1;
            let list = self.schema.texts().value(entry.slot.0 as usize);
            for name in list.iter().flat_map(|list| list.items()) {
                if let Some(name) = name.as_str()
                    && !self.has_member(start, name)?
                {
                    self.problem(Problem::Dependent(name, key));
                }
            }
        }
        Some(Act::Finished)
    }

    /// `contains`.
    fn contains(
        &mut self,
        frame: &mut Frame,
        instruction: Instruction,
        failed: bool,
        rest: &'i [u8],
    ) -> Option<Act<'i>> {
        let program = self.schema.program();
        let ran = self.level.items;
        let at = if ran == 0 { self.level.start as usize + 1 } else { self.scan.offset(rest) };
        if ran > 0 && !failed {
            frame.matches += 1;
        }
        let bound = |op| self.find_in_node(op).map(|bound: Instruction| bound.operand(program));
        let (least, most) = (bound(op::MIN_CONTAINS).unwrap_or(1), bound(op::MAX_CONTAINS));
        let matches = frame.matches;
        let decided = match most {
            Some(most) => matches > most,
            None => matches >= least,
        };
        if !decided && let Some((item, _)) = item_at(self.text, at) {
            let at = offset_in(self.text, item.raw());
            let item = self.text.as_bytes().get(at..).unwrap_or_default();
            return Some(self.try_out(item, Slot(instruction.operand(program))));
        }
        if matches < least {
            let keyword = if least == 1 { Keyword::Contains } else { Keyword::MinContains };
            self.problem(Problem::Count(keyword, least, matches as usize));
        }
        if let Some(most) = most.filter(|&most| matches > most) {
            self.problem(Problem::Count(Keyword::MaxContains, most, matches as usize));
        }
        Some(Act::Finished)
    }

    /// The instruction of this kind in the frame's node.
    pub(super) fn find_in_node(&self, op: u8) -> Option<Instruction> {
        self.find(Slot(self.level.node), op)
    }

    /// Reports a problem of the frame's value.
    pub(super) fn problem(&mut self, problem: Problem<'_>) {
        self.report(problem, self.level.start as usize, self.schema_offset());
    }

    pub(super) fn frame(&self) -> Frame {
        let words = self.work.get(self.level.seen as usize..).and_then(|words| words.first_chunk());
        words.map_or(Frame::default(), |words| Frame::from_words(*words))
    }

    fn set_frame(&mut self, frame: Frame) {
        let words = self.work.get_mut(self.level.seen as usize..).and_then(|words| words.first_chunk_mut());
        if let Some(words) = words {
            *words = frame.words();
        }
    }
}
