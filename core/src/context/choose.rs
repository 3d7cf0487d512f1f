//! Which blocks stay: the walk from the highest priority down, each step measured on the whole text.

use super::cut::Side;
use super::{
    BlockFlags, BlockState, ContextBlock, DropReason, Outcome, Policy, RenderError, RenderOptions,
    TokenCounter, text,
};
use crate::sink::Sink;
use core::cmp::Reverse;

/// Decides about every block and gives the tokens of the text. `states` (as many as blocks) are left
/// sorted by priority; `buffer` is only used to put texts together for the counter.
pub(super) fn choose(
    blocks: &[ContextBlock<'_>],
    options: &RenderOptions,
    counter: &dyn TokenCounter,
    states: &mut [BlockState],
    buffer: &mut [u8],
) -> Result<u32, RenderError> {
    for (index, (state, block)) in states.iter_mut().zip(blocks).enumerate() {
        *state = BlockState { block: index, ..BlockState::default() };
        if block.content.is_empty() {
            state.outcome = Some(Outcome::Dropped(DropReason::Empty));
        } else {
            state.tokens = counter.count(block.content);
        }
    }
    states.sort_unstable_by_key(|state| {
        (Reverse(blocks.get(state.block).map(|block| block.priority)), state.block)
    });
    for rank in 0..states.len() {
        let block = states.get(rank).map(|state| state.block);
        if let Some(state) = block.and_then(|block| states.get_mut(block)) {
            state.rank = rank;
        }
    }
    let mut plan = Plan { blocks, options, counter, states, buffer, limit: options.limit(), used: 0 };
    plan.choose_pinned()?;
    plan.choose_others()?;
    Ok(plan.used)
}

/// The work of one render. Blocks are named by rank: their place in the order of priority.
pub(super) struct Plan<'p> {
    blocks: &'p [ContextBlock<'p>],
    pub(super) options: &'p RenderOptions,
    pub(super) counter: &'p dyn TokenCounter,
    states: &'p mut [BlockState],
    buffer: &'p mut [u8],
    /// Tokens that the text may have.
    pub(super) limit: u32,
    /// Tokens of the text as decided so far, counted as a whole.
    pub(super) used: u32,
}

impl<'p> Plan<'p> {
    /// Keeps what is pinned: whole if all of it fits, else what may be cut is brought down to its least
    /// and then grows again, the highest priority first.
    fn choose_pinned(&mut self) -> Result<(), RenderError> {
        let (mut own, mut slack, mut may_cut) = (0u64, 0u64, false);
        for rank in 0..self.states.len() {
            if self.is_pinned(rank) && self.outcome(rank).is_none() {
                self.set(rank, Some(Outcome::Kept));
                own = own.saturating_add(u64::from(self.tokens(rank)));
                slack = slack.saturating_add(u64::from(SLACK));
                may_cut |= Side::of(self.block(rank).flags).is_some();
            }
        }
        if !may_cut || own <= u64::from(self.limit).saturating_add(slack) {
            let need = self.measure()?;
            if need <= self.limit {
                self.used = need;
                return Ok(());
            }
            if !may_cut {
                return Err(self.too_large(need));
            }
        }
        for rank in 0..self.states.len() {
            if self.is_pinned(rank) {
                self.cut_to_least(rank)?;
            }
        }
        let need = self.measure()?;
        if need > self.limit {
            return Err(self.too_large(need));
        }
        self.used = need;
        for rank in 0..self.states.len() {
            if self.is_pinned(rank) && matches!(self.outcome(rank), Some(Outcome::Cut { .. })) {
                self.grow(rank)?;
            }
        }
        Ok(())
    }

    /// Walks through all that is not decided yet. Blocks that should fit by the sum of their counts are
    /// tried together, so that a text of many blocks is not counted once for each.
    fn choose_others(&mut self) -> Result<(), RenderError> {
        let mut most_together = self.states.len();
        let mut rank = 0;
        while rank < self.states.len() {
            if self.outcome(rank).is_some() {
                rank = rank.saturating_add(1);
                continue;
            }
            let (end, tried) = self.keep_run(rank, most_together);
            if tried > 0 {
                let counted = self.measure()?;
                if counted <= self.limit {
                    self.used = counted;
                    most_together = most_together.saturating_mul(2);
                    rank = end;
                    continue;
                }
                self.release_run(rank, end);
                most_together = (tried / 2).max(1);
                if tried > 1 {
                    continue;
                }
            }
            let outcome = self.cut(rank, self.used)?;
            self.set(rank, Some(outcome));
            rank = rank.saturating_add(1);
            if self.options.policy == Policy::Strict && matches!(outcome, Outcome::Dropped(_)) {
                for state in self.states.iter_mut() {
                    state.outcome = state.outcome.or(Some(Outcome::Dropped(DropReason::Stopped)));
                }
            }
        }
        Ok(())
    }

    /// Keeps, for a try, the undecided blocks from `rank` on that should fit together, at most `most`;
    /// the first of them also if it could just fit. Gives the rank after them and how many they are.
    fn keep_run(&mut self, rank: usize, most: usize) -> (usize, usize) {
        let room = u64::from(self.limit.saturating_sub(self.used));
        let (mut own, mut tried, mut end) = (0u64, 0usize, rank);
        while end < self.states.len() && tried < most {
            if self.outcome(end).is_none() {
                own = own.saturating_add(u64::from(self.tokens(end)));
                let most_own = if tried == 0 { room.saturating_add(u64::from(SLACK)) } else { room };
                if own > most_own {
                    break;
                }
                self.set(end, Some(Outcome::Kept));
                tried = tried.saturating_add(1);
            }
            end = end.saturating_add(1);
        }
        (end, tried)
    }

    /// Takes a try back. What was decided before stays: in this range that is dropped or pinned.
    fn release_run(&mut self, rank: usize, end: usize) {
        for rank in rank..end {
            if self.outcome(rank) == Some(Outcome::Kept) && !self.is_pinned(rank) {
                self.set(rank, None);
            }
        }
    }

    /// Tokens of the text as it stands.
    pub(super) fn measure(&mut self) -> Result<u32, RenderError> {
        let (blocks, options) = (self.blocks, self.options);
        self.count(|sink, states| text::write(blocks, options, states, sink))
    }

    pub(super) fn count(
        &mut self,
        write: impl FnOnce(&mut Sink<'_>, &[BlockState]),
    ) -> Result<u32, RenderError> {
        let mut sink = Sink::new(self.buffer);
        write(&mut sink, self.states);
        if sink.is_empty() {
            return Ok(0);
        }
        if let Some(counted) = self.counter.count_len(sink.len()) {
            return Ok(counted);
        }
        let text = sink
            .text()
            .ok_or_else(|| RenderError::NoSpace { need: text::max_len(self.blocks, self.options) })?;
        Ok(self.counter.count(text))
    }

    /// Whether `more` tokens beside `others` are near enough to the limit to be tried.
    pub(super) fn could_fit(&self, others: u32, more: u32) -> bool {
        u64::from(others).saturating_add(u64::from(more))
            <= u64::from(self.limit).saturating_add(u64::from(SLACK))
    }

    fn too_large(&self, need: u32) -> RenderError {
        RenderError::PinnedTooLarge { need, budget: self.options.budget, reserve: self.options.reserve }
    }

    fn is_pinned(&self, rank: usize) -> bool {
        self.block(rank).flags.contains(BlockFlags::PINNED)
    }

    pub(super) fn block(&self, rank: usize) -> ContextBlock<'p> {
        self.states.get(rank).and_then(|state| self.blocks.get(state.block)).copied().unwrap_or_default()
    }

    pub(super) fn tokens(&self, rank: usize) -> u32 {
        self.states.get(rank).map_or(0, |state| state.tokens)
    }

    pub(super) fn outcome(&self, rank: usize) -> Option<Outcome> {
        self.states.get(rank).and_then(|state| state.outcome)
    }

    pub(super) fn set(&mut self, rank: usize, outcome: Option<Outcome>) {
        if let Some(state) = self.states.get_mut(rank) {
            state.outcome = outcome;
        }
    }
}

/// By how many tokens a text may count less than the sum of its parts and still be found. Rounding and
/// marks that a tokenizer adds to each text stay below it.
const SLACK: u32 = 4;
