//! What a value to which further schemas apply has to remember beside its level: see [`place`](super::place).

use super::work;

/// What stands in the work memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
    /// Problems and distance before the run that is on its way.
    pub(super) problems: u32,
    pub(super) distance: u32,
    /// The run is a trial.
    pub(super) trial: u32,
    /// Where in the instance it began.
    pub(super) position: u32,
    /// Of the alternatives so far: the closest, how far it was off, and how many fit.
    pub(super) best: u32,
    pub(super) best_distance: u32,
    pub(super) matches: u32,
    /// Where the value ends, once it was read; or 0.
    pub(super) end: u32,
    /// How much was noted before the run.
    pub(super) notes: u32,
    /// The scope around, and how much was noted when this one began.
    pub(super) outer_scope: u32,
    pub(super) outer_mark: u32,
    /// 0 if the node does not ask for notes, 1 while they are gathered, 2 when they are asked for.
    pub(super) stage: u32,
}

impl Frame {
    pub(super) fn from_words(words: [u32; work::FRAME as usize]) -> Frame {
        let [
            problems,
            distance,
            trial,
            position,
            best,
            best_distance,
            matches,
            end,
            notes,
            outer_scope,
            outer_mark,
            stage,
        ] = words;
        Frame {
            problems,
            distance,
            trial,
            position,
            best,
            best_distance,
            matches,
            end,
            notes,
            outer_scope,
            outer_mark,
            stage,
        }
    }

    pub(super) fn words(self) -> [u32; work::FRAME as usize] {
        [
            self.problems,
            self.distance,
            self.trial,
            self.position,
            self.best,
            self.best_distance,
            self.matches,
            self.end,
            self.notes,
            self.outer_scope,
            self.outer_mark,
            self.stage,
        ]
    }
}
