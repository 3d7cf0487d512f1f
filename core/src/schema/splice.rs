//! Writing a text with its changes, in one pass over it; and where each change is.
//!
//! What is not changed is copied byte for byte.

use super::check::Schema;
use super::coerce::{CoerceOptions, Rule};
use super::convert::convert;
use super::defaults::find_default;
use super::edit::{Edit, Edits};
use super::entry::Entry;
use super::path::put_key;
use super::program::{types, word_of};
use super::source::{member_at, offset_in, value_at};
use crate::json::{self, Scan, Str, Value, Writer};
use crate::sink::Sink;
use core::cell::Cell;

/// One change of the arguments. [`coerce`](super::coerce) tells them reading by reading; those of one reading
/// stand in the order of the text, also where a check would [report](super::Report) in another one.
#[derive(Clone, Copy, Debug)]
pub struct Coercion<'a> {
    /// What was done.
    pub rule: Rule,
    instance: &'a str,
    /// The containers in which the value is, as in [`At::around`], but for the innermost.
    around: &'a [u32],
    innermost: Option<Frame>,
    /// The member that was added.
    name: Option<Str<'a>>,
    /// What telling of it takes from the budget.
    steps: &'a Cell<u32>,
}

impl Coercion<'_> {
    /// Appends the JSON Pointer of the value that was changed, removed or added. Each time it takes a step
    /// from the budget for 64 bytes.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        let start = sink.len();
        let (around, _) = self.around.as_chunks::<FRAME>();
        let around = around.iter().map(|frame| Frame::from_words(*frame));
        for frame in around.clone().chain(self.innermost) {
            frame.put_token(self.instance, sink);
        }
        if let Some(name) = self.name {
            sink.put_byte(b'/');
            json::put_token(name, sink);
        }
        let steps = word_of((around.len() + sink.len() - start) / 64);
        self.steps.set(self.steps.get().saturating_add(steps));
    }
}

/// Is told each change.
pub(super) type Tell<'t> = &'t mut dyn FnMut(&Coercion<'_>);

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: u32,
    /// In an object where the last key stands, in an array how many items came before.
    current: u32,
}

impl Frame {
    const OUTSIDE: Frame = Frame { start: u32::MAX, current: 0 };

    fn from_words([start, current]: [u32; FRAME]) -> Frame {
        Frame { start, current }
    }

    fn is_object(self, text: &str) -> bool {
        text.as_bytes().get(self.start as usize) == Some(&b'{')
    }

    fn put_token(self, text: &str, sink: &mut Sink<'_>) {
        if self.is_object(text) {
            put_key(text, self.current as usize, sink);
        } else {
            sink.put_byte(b'/');
            sink.put_u64(u64::from(self.current));
        }
    }
}

/// One pass over a text.
pub(super) struct Splice<'p> {
    pub(super) schema: Schema<'p>,
    pub(super) text: &'p str,
    pub(super) edits: &'p Edits<'p>,
    pub(super) options: &'p CoerceOptions,
}

/// Where the pass is.
struct At<'w> {
    /// For each container around the innermost: where it starts, and where in it the pass is.
    around: &'w mut [u32],
    innermost: Frame,
    /// Containers that are open.
    depth: usize,
    /// How far the text was copied.
    copied: usize,
    /// The comma before the present member, where there is one.
    comma: Option<usize>,
    /// A key is due.
    key: bool,
    /// The first member of the object was left out, and so is the comma after it.
    swallow: bool,
}

impl Splice<'_> {
    /// Words that are enough to enter containers that are nested so deep.
    pub(super) fn words(depth: usize) -> usize {
        FRAME * depth
    }

    /// Writes the text with its changes and gives how many there were; `tell` is told each of them. `None` if
    /// the steps do not suffice.
    pub(super) fn run(
        &self,
        sink: &mut Sink<'_>,
        around: &mut [u32],
        steps: &mut u32,
        mut tell: Option<Tell<'_>>,
    ) -> Option<usize> {
        *steps = steps.checked_sub(1 + word_of(self.text.len() / 64))?;
        let mut at = At {
            around,
            innermost: Frame::OUTSIDE,
            depth: 0,
            copied: 0,
            comma: None,
            key: false,
            swallow: false,
        };
        let (mut scan, mut place, mut next, mut changes) = (Scan::checked(self.text), 0, 0, 0);
        while let Some(&byte) = self.text.as_bytes().get(place) {
            let rest = self.text.as_bytes().get(place + 1..)?;
            // A change inside of a member that was left out is none.
            while self.edits.get(next).is_some_and(|edit| (edit.at as usize) < at.copied.max(place)) {
                next += 1;
            }
            let edit = self.edits.get(next).filter(|edit| edit.at as usize == place);
            match byte {
                b'{' | b'[' => {
                    if Self::open(&mut at, place) {
                        at.key = byte == b'{';
                        place += 1;
                    } else {
                        place += value_at(self.text, place)?.raw().len();
                    }
                }
                b'}' | b']' => {
                    if self.edits.found.is_of_defaults() {
                        changes += self.add_defaults(&mut at, place, sink, steps, &mut tell)?;
                    }
                    Self::close(&mut at);
                    place += 1;
                }
                b',' => {
                    if at.swallow {
                        self.copy(&mut at, place, place + 1, sink);
                        at.comma = None;
                    } else {
                        at.comma = Some(place);
                    }
                    at.swallow = false;
                    at.key = at.innermost.is_object(self.text);
                    if !at.key {
                        at.innermost.current = at.innermost.current.saturating_add(1);
                    }
                    place += 1;
                }
                b'"' if at.key => {
                    (at.key, at.innermost.current) = (false, word_of(place));
                    let after = scan.string(rest)?;
                    place = scan.offset(after);
                    if edit.is_some_and(|edit| edit.is(Edit::DUPLICATE)) {
                        let (_, _, end) = member_at(self.text, at.innermost.current as usize)?;
                        self.leave_out(&mut at, end, sink);
                        changes += 1;
                        self.tell(&at, Rule::DuplicateRemoved, None, steps, &mut tell)?;
                        place = end;
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' | b':' => place += 1,
                _ => {
                    let value = value_at(self.text, place)?;
                    let end = place + value.raw().len();
                    if let Some(edit) = edit
                        && let Some(rule) = self.change(&mut at, edit, value, sink)
                    {
                        changes += 1;
                        self.tell(&at, rule, None, steps, &mut tell)?;
                    }
                    place = end;
                }
            }
        }
        self.copy(&mut at, place, place, sink);
        Some(changes)
    }

    /// Copies the text up to `from`, and goes on after `to`.
    fn copy(&self, at: &mut At<'_>, from: usize, to: usize, sink: &mut Sink<'_>) {
        sink.put(self.text.get(at.copied..from).unwrap_or_default());
        at.copied = to;
    }

    /// Leaves out the present member, which ends at `end`, and a comma beside it.
    fn leave_out(&self, at: &mut At<'_>, end: usize, sink: &mut Sink<'_>) {
        at.swallow = at.comma.is_none();
        self.copy(at, at.comma.unwrap_or(at.innermost.current as usize), end, sink);
    }

    /// Writes what becomes of a scalar.
    fn change(&self, at: &mut At<'_>, edit: Edit, value: Value<'_>, sink: &mut Sink<'_>) -> Option<Rule> {
        let start = offset_in(self.text, value.raw());
        let end = start + value.raw().len();
        if edit.is(Edit::REMOVE) {
            self.leave_out(at, end, sink);
            return Some(Rule::NullRemoved);
        }
        let mark = (sink.len(), at.copied);
        self.copy(at, start, end, sink);
        let rule = if edit.is(Edit::WRAP) {
            (edit.types() & types::ARRAY != 0).then(|| {
                sink.put_byte(b'[');
                sink.put(value.raw());
                sink.put_byte(b']');
                Rule::ArrayFromScalar
            })
        } else {
            // How deep it may be was found out before.
            convert(edit.types(), value, &self.options.check.json, sink)
        };
        if rule.is_none() {
            sink.truncate(mark.0);
            at.copied = mark.1;
        }
        rule
    }

    /// Writes the defaults of the innermost object, which ends at `end`.
    fn add_defaults(
        &self,
        at: &mut At<'_>,
        end: usize,
        sink: &mut Sink<'_>,
        steps: &mut u32,
        tell: &mut Option<Tell<'_>>,
    ) -> Option<usize> {
        let start = at.innermost.start;
        let first = self.edits.first_from(start as usize);
        let mut count = 0;
        while let Some(edit) = self.edits.get(first + count).filter(|edit| edit.at == start) {
            let entry = Entry::read(self.schema.program(), edit.entry());
            let Some(value) = find_default(self.schema, entry, steps)? else { break };
            let name = entry.name(self.schema.texts());
            if count == 0 {
                self.copy(at, end, end, sink);
            }
            let empty = count == 0 && self.is_empty(at);
            sink.put(if empty { "\"" } else { ",\"" });
            sink.put(name.raw());
            sink.put("\":");
            Writer::new(sink).value(value);
            count += 1;
            *steps = steps.checked_sub(1 + word_of(value.raw().len() / 64))?;
            self.tell(at, Rule::DefaultAdded, Some(name), steps, tell)?;
        }
        Some(count)
    }

    /// Whether the innermost container has nothing in it.
    fn is_empty(&self, at: &At<'_>) -> bool {
        let inside = self.text.as_bytes().get(at.innermost.start as usize + 1..).unwrap_or_default();
        matches!(json::blanks(inside), [b'}' | b']', ..])
    }

    fn tell(
        &self,
        at: &At<'_>,
        rule: Rule,
        name: Option<Str<'_>>,
        steps: &mut u32,
        tell: &mut Option<Tell<'_>>,
    ) -> Option<()> {
        let Some(tell) = tell else { return Some(()) };
        let cost = Cell::new(0);
        // A member that is added is in the innermost container, and is not where that one stands.
        let innermost = (name.is_none() && at.depth > 0).then_some(at.innermost);
        let around = at.around.get(..at.depth.saturating_sub(1) * FRAME).unwrap_or_default();
        tell(&Coercion { rule, instance: self.text, around, innermost, name, steps: &cost });
        *steps = steps.checked_sub(cost.get())?;
        Some(())
    }

    /// Enters a container. False if there is no room for what is around it: a check has a level for each
    /// container around a change, and these take more, so nothing is changed inside of this one.
    fn open(at: &mut At<'_>, start: usize) -> bool {
        if let Some(outer) = at.depth.checked_sub(1) {
            let (frames, _) = at.around.as_chunks_mut();
            let Some(frame) = frames.get_mut(outer) else { return false };
            *frame = [at.innermost.start, at.innermost.current];
        }
        at.depth += 1;
        at.innermost = Frame { start: word_of(start), current: 0 };
        (at.comma, at.swallow) = (None, false);
        true
    }

    fn close(at: &mut At<'_>) {
        let (frames, _) = at.around.as_chunks();
        at.depth = at.depth.saturating_sub(1);
        let outer = at.depth.checked_sub(1).and_then(|outer| frames.get(outer));
        at.innermost = outer.map_or(Frame::OUTSIDE, |frame| Frame::from_words(*frame));
        (at.key, at.swallow) = (false, false);
    }
}

/// Words of a frame.
const FRAME: usize = 2;
