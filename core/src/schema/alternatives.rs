//! `anyOf` and `oneOf`.
//!
//! Most values fit the alternatives that are meant, and no others, and that is plain to see ([`Fit`]). Where it
//! is not, each alternative is tried in turn; where none fits, the one that came closest is run aloud. Only if
//! all of them say by a value of their own what they are for, these values are listed.

use super::error::Keyword;
use super::fast::Quick;
use super::fit::{Fit, declared, type_bits, values_alone, values_of};
use super::frame::Frame;
use super::machine::Check;
use super::place::{Act, Outcome};
use super::program::{Instruction, Slot, op, types, word, word_of};
use super::report::Problem;
use super::source::{member_at, offset_in};
use crate::json::Str;

impl<'i> Check<'_, 'i, '_> {
    /// `anyOf` and `oneOf`.
    pub(super) fn alternatives(
        &mut self,
        frame: &mut Frame,
        instruction: Instruction,
        mut outcome: Option<Outcome>,
        value: &'i [u8],
    ) -> Option<Act<'i>> {
        let program = self.schema.program();
        let count = instruction.argument;
        let slot = |number: u32| Slot(word(program, instruction.at + 4 + 4 * number as usize));
        let any = instruction.op == op::ANY_OF;
        let keyword = if any { Keyword::AnyOf } else { Keyword::OneOf };
        if self.level.items > count {
            // The closest one was run aloud.
            return Some(Act::Finished);
        }
        if self.level.items == 0
            && outcome.is_none()
            && self.mender.is_none()
            && let Some((matches, after)) = self.plain_fits(instruction, value)?
        {
            frame.end = word_of(self.scan.offset(after));
            if !any && matches > 1 {
                self.problem(Problem::Several);
            }
            return Some(Act::Finished);
        }
        let (bits, start) = (type_bits(value), self.level.start as usize);
        loop {
            match outcome.take() {
                None => {}
                Some(Outcome { failed: true, distance }) if distance >= frame.best_distance => {}
                Some(Outcome { failed: true, distance }) => {
                    (frame.best, frame.best_distance) = (self.level.items - 1, distance);
                }
                Some(_) => {
                    frame.matches += 1;
                    (frame.best, frame.best_distance) = (self.level.items - 1, 0);
                    if any && !self.in_scope() && !self.looks_for_defaults(value) {
                        return Some(Act::Finished);
                    }
                    if !any && frame.matches > 1 {
                        self.problem(Problem::Several);
                        return Some(Act::Finished);
                    }
                }
            }
            let number = self.level.items;
            if number == count {
                break;
            }
            self.step(1)?;
            let branch = slot(number);
            if self.schema.types(branch) & bits == 0 {
                let problem = Problem::Type(self.schema.types(branch), branch);
                let mended = self.mender.is_some() && self.mends(&problem, start, true);
                let distance = if mended { 0 } else { self.weight(&problem, start) };
                outcome = Some(Outcome { failed: true, distance });
            } else if let Fit::Yes(after) = self.fit(branch, value) {
                self.step(word_of((value.len() - after.len()) / 8))?;
                frame.end = word_of(self.scan.offset(after));
                outcome = Some(Outcome { failed: false, distance: 0 });
            } else {
                return Some(self.try_out(value, branch));
            }
            self.level.items += 1;
        }
        if frame.matches > 0 {
            if frame.matches > 1 || !self.looks_for_defaults(value) {
                return Some(Act::Finished);
            }
            self.level.items = count;
            return Some(self.look(value, slot(frame.best)));
        }
        if self.trials > 0 || self.mender.is_some() && frame.best_distance > 0 {
            // Where no alternative takes values of this type, that is one wrong type.
            let wrong_type = self.weight(&Problem::Kinds(keyword, types::NONE), start);
            let distance = if frame.best_distance >= wrong_type && !self.is_tried(start, 1) {
                wrong_type / 16
            } else {
                frame.best_distance
            };
            self.problems = self.problems.saturating_add(1);
            self.distance = self.distance.saturating_add(distance);
            return Some(Act::Finished);
        }
        let types = (0..count).map(|number| self.schema.types(slot(number)));
        if self.mender.is_none() && types.clone().all(|types| types & bits == 0) {
            let types = types.fold(types::NONE, |all, types| all | types);
            self.problem(Problem::Kinds(keyword, types));
            return Some(Act::Finished);
        }
        if self.mender.is_none() {
            let schema = self.schema;
            let fitting = (0..count).map(slot).filter(move |&slot| schema.types(slot) & bits != 0);
            if fitting.clone().count() > 1 {
                if fitting.clone().all(|slot| values_alone(program, slot).is_some()) {
                    self.problem(Problem::Values(keyword, instruction, None));
                    return Some(Act::Finished);
                }
                if let Some((name, at)) = self.unknown_tag(fitting, value)? {
                    let problem = Problem::Values(keyword, instruction, Some(name));
                    self.report(problem, at, self.schema_offset());
                    return Some(Act::Finished);
                }
            }
        }
        self.level.items = count;
        Some(self.look(value, slot(frame.best)))
    }

    /// The member of an object of which each alternative takes a few values, and none of them this one; and
    /// where its value stands.
    fn unknown_tag(
        &mut self,
        mut alternatives: impl Iterator<Item = Slot> + Clone,
        value: &'i [u8],
    ) -> Option<Option<(Str<'i>, usize)>> {
        let (program, texts) = (self.schema.program(), self.schema.texts());
        let all = alternatives.clone();
        let table = alternatives.next().and_then(|first| declared(program, first));
        let Some(table) = table.filter(|_| matches!(value, [b'{', ..])) else { return Some(None) };
        let mut at = self.level.start as usize + 1;
        while let Some((name, tag, end)) = member_at(self.text, at) {
            self.step(1 + word_of((end - at) / 64))?;
            at = end;
            if table.find(program, texts, name).is_none() {
                continue;
            }
            let mut unknown = true;
            for slot in all.clone() {
                self.step(1)?;
                unknown = match values_of(program, texts, slot, Some(name)) {
                    Some(values) => !self.has(values, tag)?,
                    None => false,
                };
                if !unknown {
                    break;
                }
            }
            if unknown {
                return Some(Some((name, offset_in(self.text, tag.raw()))));
            }
        }
        Some(None)
    }

    /// What is plain to see of an alternative. Where it has to be noted what looked at a value, an object takes
    /// a closer look.
    fn fit(&mut self, slot: Slot, value: &'i [u8]) -> Fit<'i> {
        if self.in_scope() && matches!(value, [b'{', ..]) {
            return Fit::Open;
        }
        let depth = self.depth;
        let mut quick =
            Quick { schema: &self.schema, scan: &mut self.scan, steps: &mut self.steps, utf8: true };
        quick.fit(slot, value, depth)
    }

    /// How many alternatives fit, and what comes after the value, if that is plain to see and at least one
    /// does. Of `anyOf` one is enough.
    fn plain_fits(&mut self, instruction: Instruction, value: &'i [u8]) -> Option<Option<(u32, &'i [u8])>> {
        let program = self.schema.program();
        let (mut count, mut end) = (0, None);
        for number in 0..instruction.argument {
            self.step(1)?;
            match self.fit(Slot(word(program, instruction.at + 4 + 4 * number as usize)), value) {
                Fit::Yes(after) => {
                    self.step(word_of((value.len() - after.len()) / 8))?;
                    (count, end) = (count + 1, Some(after));
                    if instruction.op == op::ANY_OF && !self.in_scope() {
                        break;
                    }
                }
                Fit::No => {}
                Fit::Open => return Some(None),
            }
        }
        Some(end.map(|after| (count, after)))
    }
}
