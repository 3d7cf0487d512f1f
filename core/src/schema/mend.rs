//! Where a check asks what could be changed in the instance, for coercion alone.
//!
//! A check that has a [`Mender`] asks it about each problem, and about each declared property that is absent.
//! A problem that one change mends does not say that an alternative was not meant: of `anyOf` and `oneOf`,
//! the first one all of whose problems can be mended is run aloud, so that its changes are noted, and none if
//! there is no such one. Where exactly one fits an object or array, that one is run aloud for its defaults.
//!
//! Everything here is behind a pointer that a plain check does not have.

use super::check::{CheckOptions, Schema};
use super::entry::Entry;
use super::error::CheckError;
use super::fast::Place;
use super::machine::{Check, Start};
use super::path::Open;
use super::program::Slot;
use super::report::{NoReport, Problem};
use crate::json::Scan;

/// Knows what can be changed.
pub(super) trait Mender {
    /// Whether one change mends a problem of what starts at `at`. The change is noted, unless it is a trial.
    fn mends(&mut self, problem: &Problem<'_>, at: usize, around: &mut Around<'_>) -> bool;

    /// Whether a property that is absent from the innermost object has a default; its entry is at an address.
    /// It is noted, as above.
    fn fills(&mut self, entry: usize, around: &mut Around<'_>) -> bool;

    /// Whether there can be defaults at all.
    fn has_defaults(&self) -> bool;
}

/// Where in a check a question comes up.
pub(super) struct Around<'a> {
    pub(super) schema: Schema<'a>,
    pub(super) open: Open<'a>,
    /// Work memory that is free, and how much is not.
    pub(super) spare: &'a mut [u32],
    pub(super) taken: usize,
    /// The steps that are left.
    pub(super) steps: &'a mut u32,
    /// Containers that are open.
    pub(super) depth: usize,
    /// It is only tried whether the schema fits.
    pub(super) trial: bool,
}

impl<'s, 'i> Check<'s, 'i, '_> {
    /// Whether a problem can be mended.
    #[cold]
    #[inline(never)]
    pub(super) fn mends(&mut self, problem: &Problem<'_>, at: usize, trial: bool) -> bool {
        self.ask(trial, |mender, around| mender.mends(problem, at, around))
    }

    /// At the end of an object: asks about its properties that are absent, and reports those that must be
    /// there.
    #[cold]
    #[inline(never)]
    pub(super) fn absent(&mut self) {
        let trial = self.trials > 0;
        for number in 0..self.level.count {
            let at = self.level.entries as usize + Entry::SIZE * number as usize;
            let entry = self.entry(number);
            if self.was_seen(number) {
                continue;
            }
            let filled = self.ask(trial, |mender, around| mender.fills(at, around));
            if !entry.is(Entry::REQUIRED) {
                continue;
            }
            if filled {
                self.problems = self.problems.saturating_add(1);
            } else {
                let name = entry.name(self.schema.texts());
                self.report(Problem::Required(name), self.level.start as usize, self.schema_offset());
            }
        }
    }

    /// Of alternatives of which exactly one fits: whether it is to be run aloud.
    pub(super) fn looks_for_defaults(&self, value: &[u8]) -> bool {
        self.trials == 0
            && matches!(value, [b'{' | b'[', ..])
            && self.mender.as_ref().is_some_and(|mender| mender.has_defaults())
    }

    fn ask(&mut self, trial: bool, question: impl FnOnce(&mut dyn Mender, &mut Around<'_>) -> bool) -> bool {
        let limit = self.limit();
        let Some(mender) = self.mender.as_deref_mut() else { return false };
        let taken = self.work.len() - limit + self.top;
        let Some((around, spare)) =
            self.work.get_mut(..limit).and_then(|work| work.split_at_mut_checked(self.top))
        else {
            return false;
        };
        let open = Open {
            level: self.level,
            work: around,
            program: self.schema.program(),
            schema: self.schema.texts(),
            instance: self.text,
            #[cfg(feature = "unevaluated")]
            notes: &[],
        };
        let (schema, depth) = (self.schema, self.depth);
        question(mender, &mut Around { schema, open, spare, taken, steps: &mut self.steps, depth, trial })
    }

    /// As [`whole`](Self::whole), for checks of which speed is not all that counts.
    #[inline(never)]
    pub(super) fn whole_of(&mut self, root: Slot) -> Option<()> {
        self.whole(self.text.as_bytes(), Place::Value(root))
    }
}

/// How many problems a text has with the schema of a slot. Takes from the steps.
pub(super) fn problems(
    schema: Schema<'_>,
    slot: Slot,
    text: &str,
    options: &CheckOptions,
    steps: &mut u32,
    work: &mut [u32],
) -> Result<usize, CheckError> {
    let scan = Scan::over(text.len(), false, &options.json);
    let options = CheckOptions { steps: *steps, ..*options };
    let mut report = NoReport;
    let start = Start::new(scan, slot, *steps);
    let mut check = Check::new(schema, start, text, &options, work, &mut report);
    let read = check.whole_of(slot);
    let read = read.filter(|_| !check.loose || check.compare_keys().is_some());
    *steps = check.steps;
    match check.failure {
        None if read.is_some() => Ok(check.problems),
        _ => Err(check.error()),
    }
}
