//! Checking an instance against a program, in one pass over its text.
//!
//! The instance is read strictly and checked at the same time, so what is accepted is JSON and fits the schema. The members of an object are
//! tried in the schema's order, by comparing the bytes that are expected next; only a key that is not the expected one is
//! searched for. A value that the schema leaves open is read and not looked at. After a violation the check goes on: all
//! problems are reported. A text that stops being JSON ends it.
//!
//! # Cost
//!
//! Nothing here recurses. The container being read is kept in registers; those around it are kept in the work memory, in
//! [`WORK_PER_LEVEL`] words each, and an object of more than 32 names takes one further word per 32 names. A schema whose objects
//! are not nested needs no work memory at all; [`Schema::work_words`] says how much always suffices.
//!
//! Time is linear in the instance's text, plus the steps. A step is a key that was not the expected one, a candidate of an `enum`, an element
//! of an array or object that is compared with one in the schema, and 8 bytes of a value that are read again (for a `$ref` beside other
//! keywords). So an instance in the schema's order takes almost none, and the budget of steps bounds time whatever the
//! schema and the instance are. A key is searched for in time logarithmic in the number of names.

use super::error::{CheckError, Keyword};
use super::program::{
    Candidate, Cursor, Entry, Form, INLINE, Instruction, LINEAR, MAGIC, Node, RECURSIVE, Slot, Table, kind,
    op, types, word, word_of, words,
};
use super::report::{Problem, Report, Violation};
use super::work;
use crate::json::{self, Reason, Scan, Str, Value, blanks};

/// A compiled schema: its text and its program.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'s> {
    text: &'s str,
    program: &'s [u8],
}

/// How to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// What to accept as JSON.
    pub json: json::Options,
    /// Steps that a check may take; see the [module](self). The default is a million, well under a second on a desktop
    /// machine.
    pub steps: u32,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { json: json::Options::default(), steps: 1_000_000 }
    }
}

/// What a check found.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'i> {
    /// Whether the instance fits the schema.
    pub valid: bool,
    /// The instance.
    pub value: Value<'i>,
    /// How many violations were reported.
    pub problems: usize,
}

/// Words of work memory for each container around the one that is being read.
pub const WORK_PER_LEVEL: usize = work::LEVEL as usize;

impl<'s> Schema<'s> {
    /// A schema whose `program` was compiled from `text`. With any other program the answers are wrong; they are never a panic
    /// or a hang.
    pub fn new(text: &'s str, program: &'s [u8]) -> Self {
        Schema { text, program }
    }

    /// The schema's text.
    pub fn text(self) -> &'s str {
        self.text
    }

    /// The compiled program.
    pub fn program(self) -> &'s [u8] {
        self.program
    }

    /// Words of work memory that are enough for every instance that `options` let through.
    pub fn work_words(self, options: &CheckOptions) -> usize {
        match word(self.program, 8) {
            // Each level of the instance can be entered once, and be read twice for a reference beside other keywords.
            RECURSIVE => {
                let level = WORK_PER_LEVEL.saturating_mul(2).saturating_add(word(self.program, 12) as usize);
                level.saturating_mul(usize::from(options.json.max_depth.min(json::MAX_DEPTH)) + 1)
            }
            words => words as usize,
        }
    }

    /// Where the schema of a slot stands in the text.
    pub(super) fn place(self, slot: Slot) -> usize {
        match slot.as_immediate() {
            Some((_, offset)) => offset,
            None => Node::read(self.program, slot.0 as usize).offset as usize,
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
                        if !candidates.any(|candidate| candidate.raw(self.text).starts_with('{')) {
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

    /// Checks `instance` while reading it. Every problem is reported, in the order of the text; whoever gets an error must
    /// disregard what was reported before.
    pub fn check<'i>(
        self,
        instance: &'i [u8],
        options: &CheckOptions,
        work: &mut [u32],
        report: &mut dyn Report,
    ) -> Result<Verdict<'i>, CheckError> {
        if word(self.program, 0) != MAGIC {
            return Err(CheckError::BadProgram);
        }
        if u32::try_from(instance.len()).is_err() {
            return Err(CheckError::TooLarge);
        }
        let (scan, text) = Scan::new(instance, &options.json);
        let mut check = Check {
            schema: self,
            scan,
            text,
            level: Level::OUTSIDE,
            depth: 0,
            work,
            top: 0,
            steps: options.steps,
            problems: 0,
            failure: None,
            report,
            options,
        };
        match check.whole(Slot(word(self.program, 4))) {
            Some(value) => Ok(Verdict { valid: check.problems == 0, value, problems: check.problems }),
            None => Err(check.failure.unwrap_or(CheckError::Json(check.scan.error()))),
        }
    }
}

/// One check.
pub(super) struct Check<'s, 'i, 'c> {
    pub(super) schema: Schema<'s>,
    pub(super) scan: Scan,
    /// The instance as far as it is UTF-8.
    pub(super) text: &'i str,
    /// What is being read now.
    level: Level,
    /// Containers that are open.
    depth: usize,
    /// The levels around it, and bits of large objects.
    pub(super) work: &'c mut [u32],
    pub(super) top: usize,
    steps: u32,
    problems: usize,
    /// Why the check was given up, if it is not the scan's error.
    failure: Option<CheckError>,
    report: &'c mut dyn Report,
    pub(super) options: &'c CheckOptions,
}

/// A container that is being read, or a value to which further schemas apply.
#[derive(Clone, Copy)]
struct Level {
    state: u32,
    /// The address of the node.
    node: u32,
    /// Where the value starts in the instance.
    start: u32,
    /// In an object the entry that is expected next, in an array the number of items so far, in place the number of the
    /// instruction that comes next.
    next: u32,
    /// In an object the number of entries.
    count: u32,
    /// In an object the address of the entries.
    entries: u32,
    /// In an object bits of the entries that were there, or where in the work memory they are.
    seen: u32,
    /// In an array the slot of the items.
    items: u32,
}

const OUTSIDE: u32 = 0;
const OBJECT: u32 = 1;
const ARRAY: u32 = 2;
const IN_PLACE: u32 = 3;

impl Level {
    const OUTSIDE: Level =
        Level { state: OUTSIDE, node: 0, start: 0, next: 0, count: 0, entries: 0, seen: 0, items: 0 };

    /// The table of the object's node.
    fn table(&self) -> Table {
        Table { at: self.node as usize + Node::SIZE, count: self.count }
    }
}

impl<'s, 'i> Check<'s, 'i, '_> {
    /// Reads the one value in the text. As everywhere here, `None` says that the check was given up.
    #[inline(always)]
    fn whole(&mut self, root: Slot) -> Option<Value<'i>> {
        let start = self.text.as_bytes();
        let after = self.run(start, root)?;
        if after.is_empty() {
            self.scan.end(after)?;
            if matches!(start, [b'!'..=0xFF, ..]) {
                return Some(Value::new(self.text));
            }
        }
        self.scan.end(blanks(after))?;
        self.text.get(self.scan.offset(blanks(start))..self.scan.offset(after)).map(Value::new)
    }

    /// Reads a value and gives what comes after it.
    #[inline(always)]
    fn run(&mut self, mut rest: &'i [u8], root: Slot) -> Option<&'i [u8]> {
        let mut slot = root;
        // What applies in place was seen to already.
        let mut placed = false;
        loop {
            let mut first;
            (rest, first) = self.value(rest, slot, placed)?;
            placed = false;
            slot = loop {
                match self.level.state {
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
                        let member;
                        (rest, member) = self.member(key)?;
                        if member != Slot::NOWHERE {
                            break member;
                        }
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
                        self.level.next = self.level.next.saturating_add(1);
                        break Slot(self.level.items);
                    }
                    IN_PLACE => {
                        let start = self.text.as_bytes().get(self.level.start as usize..)?;
                        self.step(1 + word_of((start.len() - rest.len()) / 8))?;
                        rest = start;
                        if let Some(slot) = self.next_in_place() {
                            break slot;
                        }
                        let slot = Slot(self.level.node);
                        self.leave();
                        placed = true;
                        break slot;
                    }
                    _ => return Some(rest),
                }
            };
        }
    }

    /// Reads a value, or no further than its start if there is something to check inside: then the flag is set.
    #[inline(always)]
    fn value(&mut self, rest: &'i [u8], slot: Slot, placed: bool) -> Option<(&'i [u8], bool)> {
        let rest = blanks(rest);
        let (types, kinds) = match slot.as_immediate() {
            Some((types, _)) => (types, 0),
            None => {
                let [types, kinds, ..] = word(self.schema.program, slot.0 as usize).to_le_bytes();
                (types, kinds)
            }
        };
        if kinds & kind::IN_PLACE != 0 && !placed {
            let seen = self.enter(0)?;
            let start = word_of(self.scan.offset(rest));
            self.level = Level { state: IN_PLACE, node: slot.0, start, seen, ..Level::OUTSIDE };
            return Some((rest, true));
        }
        let after = match rest {
            [b'"', content @ ..] => {
                if kinds & kind::VALUE != 0
                    && types & types::STRING != 0
                    && let Some(after) = self.expected(slot, rest)
                {
                    return Some((after, false));
                }
                let after = self.scan.string(content)?;
                if types & types::STRING == 0 || kinds & (kind::STRING | kind::VALUE) != 0 {
                    self.string(slot, rest, after)?;
                }
                after
            }
            [b'{', after @ ..] if types & types::OBJECT != 0 && kinds & kind::OBJECT != 0 => {
                if kinds & kind::VALUE != 0 {
                    let end = self.scan.value(rest, self.depth)?;
                    self.one_of(slot, rest, end)?;
                }
                self.scan.check_depth(self.depth, rest)?;
                // `OBJECT` comes first in its node.
                let table = Table::read(self.schema.program, slot.0 as usize + Node::SIZE);
                let seen = self.enter(table.count)?;
                self.depth += 1;
                let (start, entries) = (word_of(self.scan.offset(rest)), word_of(table.entries()));
                self.level = Level {
                    state: OBJECT,
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
                let items = self
                    .find(slot, op::ITEMS)
                    .map_or(Slot::ANY.0, |items| items.operand(self.schema.program));
                let seen = self.enter(0)?;
                self.depth += 1;
                let start = word_of(self.scan.offset(rest));
                self.level = Level { state: ARRAY, node: slot.0, start, items, seen, ..Level::OUTSIDE };
                return Some((after, true));
            }
            [b'0'..=b'9' | b'-', ..] => {
                if let Some((value, after)) = short_integer(rest)
                    && types & types::INTEGER != 0
                    && (kinds == 0 || self.within(slot, kinds, value))
                {
                    return Some((after, false));
                }
                let after = self.scan.scalar(rest)?;
                if types & types::NUMBER != types::NUMBER || kinds & (kind::NUMBER | kind::VALUE) != 0 {
                    self.number(slot, rest, after)?;
                }
                after
            }
            [first, ..] => {
                let after = self.scan.value(rest, self.depth)?;
                let bit = match first {
                    b'{' => types::OBJECT,
                    b'[' => types::ARRAY,
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

    /// If the string that `rest` starts with is one of an `enum` beside which nothing is to be checked, and the steps suffice: what
    /// comes after it.
    #[inline(always)]
    fn expected(&mut self, slot: Slot, rest: &'i [u8]) -> Option<&'i [u8]> {
        let program = self.schema.program;
        let at = slot.0 as usize;
        let [head, _, first] = words(program, at);
        let instruction = Instruction { op: (first & 0xFF) as u8, argument: first >> 8, at: at + Node::SIZE };
        if head >> 16 != 1 || !matches!(instruction.op, op::ENUM | op::CONST) {
            return None;
        }
        for number in 0..instruction.argument {
            let candidate = Candidate::read(program, instruction, number);
            // The closing quote is compared too, and without escapes it is the first quote.
            if candidate.is(Form::Plain)
                && let Some(bytes) = candidate.bytes(self.schema.text)
                && let Some(after) = strip(rest, bytes)
            {
                self.steps = self.steps.checked_sub(number + 1)?;
                return Some(after);
            }
        }
        None
    }

    /// Whether a small integer is within the bounds of a node, if these are small integers too and all there is.
    #[inline(always)]
    fn within(&self, slot: Slot, kinds: u8, value: i32) -> bool {
        let program = self.schema.program;
        let mut at = slot.0 as usize;
        let count = word(program, at) >> 16;
        at += Node::SIZE;
        if kinds != kind::NUMBER {
            return false;
        }
        for _ in 0..count {
            let [head, _, bound] = words(program, at);
            at += 12;
            let bound = bound.cast_signed();
            let fits = match (head & 0xFF) as u8 {
                op::MINIMUM => bound <= value,
                op::MAXIMUM => value <= bound,
                op::EXCLUSIVE_MINIMUM => bound < value,
                op::EXCLUSIVE_MAXIMUM => value < bound,
                _ => false,
            };
            if !fits || head & INLINE << 8 == 0 {
                return false;
            }
        }
        true
    }

    /// Reads a key, and gives the slot for the value after it. A member that is not allowed is read whole.
    #[inline(always)]
    fn member(&mut self, rest: &'i [u8]) -> Option<(&'i [u8], Slot)> {
        let number = self.level.next;
        if number < self.level.count {
            let entry = self.entry(number);
            if let Some(key) = entry.bytes(self.schema.text)
                && let Some([b':', after @ ..]) = strip(rest, key)
                && self.mark(number)
            {
                self.level.next = number + 1;
                return Some((after, entry.slot));
            }
        }
        self.other_member(rest)
    }

    /// As `member`, for any key.
    #[inline(never)]
    fn other_member(&mut self, rest: &'i [u8]) -> Option<(&'i [u8], Slot)> {
        self.step(1)?;
        let found = if self.level.count <= LINEAR { self.expected_key(rest) } else { None };
        let (end, number) = match found {
            Some((end, number)) => (end, Some(number)),
            None => {
                let [b'"', content @ ..] = rest else {
                    return self.scan.fail(Reason::ExpectedKey, rest);
                };
                let end = self.scan.string(content)?;
                let key = self.text.get(self.scan.offset(content)..self.scan.offset(end).saturating_sub(1));
                (end, self.lookup(Str::new(key.unwrap_or_default())))
            }
        };
        let after = self.scan.colon(end)?;
        if let Some(number) = number {
            self.level.next = number + 1;
            if !self.mark(number) {
                self.report(Problem::DuplicateKey, self.scan.offset(rest), self.schema_offset());
            }
            return Some((after, self.entry(number).slot));
        }
        let others = self.level.table().others(self.schema.program);
        if others.as_immediate().is_some_and(|(types, _)| types == types::NONE) {
            let table = self.level.table();
            self.report(
                Problem::Unknown(self.schema.program, table),
                self.scan.offset(rest),
                self.schema_offset(),
            );
            return Some((self.scan.value(after, self.depth)?, Slot::NOWHERE));
        }
        Some((after, others))
    }

    /// The number of the entry whose key stands at the start of `rest` byte for byte, and what comes after it.
    fn expected_key(&self, rest: &'i [u8]) -> Option<(&'i [u8], u32)> {
        (0..self.level.count).find_map(|number| {
            let after = strip(rest, self.entry(number).bytes(self.schema.text)?)?;
            Some((after, number))
        })
    }

    #[inline(always)]
    fn entry(&self, number: u32) -> Entry {
        Entry::read(self.schema.program, self.level.entries as usize + Entry::SIZE * number as usize)
    }

    /// The number of the entry with this key, which stands in none of them byte for byte if they are few.
    fn lookup(&self, key: Str<'i>) -> Option<u32> {
        let table = self.level.table();
        let few = table.count <= LINEAR;
        let escaped = || (0..table.count).any(|number| self.entry(number).is(Entry::ESCAPED));
        let possible = !few || key.has_escapes() || escaped();
        possible.then(|| table.find(self.schema.program, self.schema.text, key)).flatten()
    }

    /// Reports a value whose type is not among `types`.
    #[cold]
    pub(super) fn wrong_type(&mut self, slot: Slot, types: u8, at: usize) {
        let named = self.level.next.checked_sub(1).filter(|_| self.level.state == OBJECT);
        match named.map(|number| self.entry(number)) {
            _ if types != types::NONE => self.report(Problem::Type(types), at, self.schema.place(slot)),
            // Required, but not declared, and other members are not allowed.
            Some(entry) if entry.is(Entry::UNDECLARED) => {
                self.report(
                    Problem::Unknown(self.schema.program, self.level.table()),
                    at,
                    self.schema_offset(),
                );
            }
            _ => self.report(Problem::False, at, self.schema.place(slot)),
        }
    }

    /// Notes that a member was there. False if it was there before.
    #[inline(always)]
    fn mark(&mut self, number: u32) -> bool {
        let word = if self.level.count <= 32 {
            &mut self.level.seen
        } else {
            match self.work.get_mut(self.level.seen as usize + number as usize / 32) {
                Some(word) => word,
                None => return true,
            }
        };
        let bit = 1 << (number % 32);
        let first = *word & bit == 0;
        *word |= bit;
        first
    }

    #[inline(always)]
    fn end_object(&mut self) {
        if self.level.count > 32
            || self.level.table().required(self.schema.program, 0) & !self.level.seen != 0
        {
            self.missing();
        }
        self.depth = self.depth.saturating_sub(1);
        self.leave();
    }

    /// Reports the members that are required and were not there.
    #[inline(never)]
    fn missing(&mut self) {
        let (program, table) = (self.schema.program, self.level.table());
        for mask in 0..Table::masks(self.level.count as usize) {
            let seen = if self.level.count <= 32 {
                self.level.seen
            } else {
                self.work.get(self.level.seen as usize + mask).copied().unwrap_or(u32::MAX)
            };
            let mut missing = table.required(program, mask) & !seen;
            while missing != 0 {
                let number = 32 * word_of(mask) + missing.trailing_zeros();
                missing &= missing - 1;
                let name = self.entry(number).name(self.schema.text);
                self.report(Problem::Required(name), self.level.start as usize, self.schema_offset());
            }
        }
    }

    fn end_array(&mut self) {
        let (slot, count) = (Slot(self.level.node), self.level.next);
        let mut cursor = Cursor::new(self.schema.program, slot);
        while let Some(instruction) = cursor.next(self.schema.program) {
            let bound = instruction.operand(self.schema.program);
            let keyword = match instruction.op {
                op::MIN_ITEMS if count < bound => Keyword::MinItems,
                op::MAX_ITEMS if count > bound => Keyword::MaxItems,
                _ => continue,
            };
            self.report(
                Problem::Count(keyword, bound, count as usize),
                self.level.start as usize,
                self.schema_offset(),
            );
        }
        self.depth = self.depth.saturating_sub(1);
        self.leave();
    }

    /// Goes to the next schema that applies to the value beside what the node says by itself.
    fn next_in_place(&mut self) -> Option<Slot> {
        let mut cursor = Cursor::new(self.schema.program, Slot(self.level.node));
        let mut number = 0;
        while let Some(instruction) = cursor.next(self.schema.program) {
            number += 1;
            if number > self.level.next && instruction.op == op::REF {
                self.level.next = number;
                return Some(Slot(word(self.schema.program, instruction.at + 8)));
            }
        }
        None
    }

    /// Makes room for a level with this many entries, where the one around it stays. Gives its `seen`.
    #[inline(always)]
    fn enter(&mut self, count: u32) -> Option<u32> {
        if self.level.state == OUTSIDE && count <= 32 { Some(0) } else { self.enter_inside(count) }
    }

    #[inline(never)]
    fn enter_inside(&mut self, count: u32) -> Option<u32> {
        let saved = if self.level.state == OUTSIDE { 0 } else { work::LEVEL as usize };
        let end = self.top + saved + work::table(count as usize) as usize;
        let Some(place) = self.work.get_mut(self.top..end) else {
            return self.no_work(end);
        };
        let (level, bits) = place.split_at_mut(saved);
        let old = self.level;
        let words = [old.state, old.node, old.start, old.next, old.count, old.entries, old.seen, old.items];
        level.iter_mut().zip(words).for_each(|(place, word)| *place = word);
        bits.fill(0);
        let seen = if bits.is_empty() { 0 } else { word_of(self.top + saved) };
        self.top = end;
        Some(seen)
    }

    /// Gives up for want of work memory, of which `end` words would have got further.
    #[cold]
    pub(super) fn no_work<T>(&mut self, end: usize) -> Option<T> {
        self.give_up(CheckError::NoWork { need: self.schema.work_words(self.options).max(end) })
    }

    #[cold]
    fn give_up<T>(&mut self, error: CheckError) -> Option<T> {
        self.failure = Some(error);
        None
    }

    /// Goes back to the level around.
    #[inline(always)]
    fn leave(&mut self) {
        if self.top == 0 {
            self.level.state = OUTSIDE;
        } else {
            self.leave_inside();
        }
    }

    #[inline(never)]
    fn leave_inside(&mut self) {
        self.top = self.top.saturating_sub(work::table(self.level.count as usize) as usize);
        let around = self.top.checked_sub(work::LEVEL as usize);
        self.level = match around.and_then(|start| self.work.get(start..)?.first_chunk()) {
            Some(&[state, node, start, next, count, entries, seen, items]) => {
                Level { state, node, start, next, count, entries, seen, items }
            }
            None => Level::OUTSIDE,
        };
        self.top = around.unwrap_or(0);
    }

    /// The first instruction of a kind in a node.
    fn find(&self, slot: Slot, op: u8) -> Option<Instruction> {
        let mut cursor = Cursor::new(self.schema.program, slot);
        while let Some(instruction) = cursor.next(self.schema.program) {
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
    fn schema_offset(&self) -> usize {
        Node::read(self.schema.program, self.level.node as usize).offset as usize
    }

    #[cold]
    pub(super) fn report(&mut self, problem: Problem<'_>, at: usize, schema_at: usize) {
        self.problems = self.problems.saturating_add(1);
        let (instance, schema) = (self.text, self.schema.text);
        self.report.violation(&Violation { problem, instance, at, schema, schema_at });
    }
}

/// What comes after `prefix`, which has at least two bytes.
#[inline(always)]
fn strip<'i>(text: &'i [u8], prefix: &[u8]) -> Option<&'i [u8]> {
    let (start, after) = text.split_at_checked(prefix.len())?;
    same(start, prefix).then_some(after)
}

/// Whether texts of equal length are equal; fast for short ones.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() >= 8 {
        a.first_chunk::<8>() == b.first_chunk()
            && (a.len() <= 16 && a.last_chunk::<8>() == b.last_chunk() || a == b)
    } else if a.len() >= 4 {
        a.first_chunk::<4>() == b.first_chunk() && a.last_chunk::<4>() == b.last_chunk()
    } else {
        a == b
    }
}

/// The integer of few digits that `text` starts with, the common case, and what comes after it.
#[inline(always)]
fn short_integer(text: &[u8]) -> Option<(i32, &[u8])> {
    let [first @ b'1'..=b'9', after @ ..] = text else { return None };
    let (mut value, mut after) = (i32::from(first - b'0'), after);
    while let [digit @ b'0'..=b'9', rest @ ..] = after {
        value = value.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'));
        after = rest;
    }
    let short = text.len() - after.len() <= 9;
    (short && !matches!(after, [b'.' | b'e' | b'E', ..])).then_some((value, after))
}
