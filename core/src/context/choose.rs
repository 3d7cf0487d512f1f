//! Which blocks stay: the walk from the highest priority down, each step measured on the whole text.
//!
//! For a counter that goes by length the length of the text is kept up to date block by block, so that
//! a try costs as much as the blocks that it adds. A counter that reads has to be given the whole text
//! each time; that is done a limited number of times: [`TRIES`], [`CUTS`].

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
    let mut plan = Plan::new(blocks, options, counter, states, buffer);
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
    /// Whether the counter goes by length.
    by_length: bool,
    /// Bytes of the text as it stands and of one joint more, if the counter goes by length.
    len: u64,
    /// The rank of the block that was set last, and what it added to `len`: a block is often set anew.
    last: (usize, u64),
    /// How many more times a counter that reads may be asked whether blocks fit whole.
    tries: u32,
    /// In how many more blocks a counter that reads may be asked for a place to cut.
    cuts: u32,
    /// Bytes that were put together or measured.
    #[cfg(test)]
    written: u64,
}

impl<'p> Plan<'p> {
    /// Counts each content and sorts the states.
    fn new(
        blocks: &'p [ContextBlock<'p>],
        options: &'p RenderOptions,
        counter: &'p dyn TokenCounter,
        states: &'p mut [BlockState],
        buffer: &'p mut [u8],
    ) -> Self {
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
        Plan {
            blocks,
            options,
            counter,
            states,
            buffer,
            limit: options.limit(),
            used: 0,
            by_length: counter.count_len(0).is_some(),
            len: 0,
            last: (0, 0),
            tries: TRIES,
            cuts: CUTS,
            #[cfg(test)]
            written: 0,
        }
    }

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
            let len = self.len;
            let (end, tried) = self.keep_run(rank, most_together)?;
            if tried > 0 {
                let counted = self.measure()?;
                self.tries = self.tries.saturating_sub(u32::from(!self.by_length));
                if counted <= self.limit {
                    self.used = counted;
                    most_together = most_together.saturating_mul(2);
                    rank = end;
                    continue;
                }
                self.release_run(rank, end);
                self.len = len;
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
    fn keep_run(&mut self, rank: usize, most: usize) -> Result<(usize, usize), RenderError> {
        if self.tries <= SURE_TRIES {
            return self.keep_sure_run(rank, most);
        }
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
        Ok((end, tried))
    }

    /// Like [`keep_run`](Self::keep_run) when few tries are left: a block's count is that of its joint,
    /// wrapper and content, and one that is too large by it is dropped at once, unless it ends the run
    /// because it may be cut or because the policy is strict.
    fn keep_sure_run(&mut self, rank: usize, most: usize) -> Result<(usize, usize), RenderError> {
        let (mut room, mut tried, mut end) = (self.limit.saturating_sub(self.used), 0usize, rank);
        if self.tries == 0 {
            self.cuts = 0;
            return Ok((end, tried));
        }
        while end < self.states.len() && tried < most {
            if self.outcome(end).is_none() {
                if let Some(rest) = self.room_beside(end, room)? {
                    room = rest;
                    self.set(end, Some(Outcome::Kept));
                    tried = tried.saturating_add(1);
                } else if tried == 0 || self.options.policy == Policy::Strict {
                    break;
                } else if let Err(reason) = self.others_of_cut(end, self.used)? {
                    self.set(end, Some(Outcome::Dropped(reason)));
                } else {
                    break;
                }
            }
            end = end.saturating_add(1);
        }
        Ok((end, tried))
    }

    /// What a block leaves of `room` by the count of its joint, wrapper and content; `None` if it has more.
    fn room_beside(&mut self, rank: usize, room: u32) -> Result<Option<u32>, RenderError> {
        let (block, tokens, options) = (self.block(rank), self.tokens(rank), self.options);
        if tokens > room {
            // There need not be space in the buffer for a content that is out of the question.
            return Ok(None);
        }
        let count = self.count(|sink, _| {
            sink.put(text::JOINT);
            text::write_block(&block, options, tokens, Outcome::Kept, sink);
        })?;
        Ok(room.checked_sub(count))
    }

    /// Takes a try back, but for [`Plan::len`]. What was decided before stays: in this range that is
    /// dropped or pinned.
    fn release_run(&mut self, rank: usize, end: usize) {
        for rank in rank..end {
            if self.outcome(rank) == Some(Outcome::Kept)
                && !self.is_pinned(rank)
                && let Some(state) = self.states.get_mut(rank)
            {
                state.outcome = None;
            }
        }
    }

    /// Tokens of the text as it stands.
    pub(super) fn measure(&mut self) -> Result<u32, RenderError> {
        if self.by_length {
            let len = self.len.saturating_sub(text::JOINT.len() as u64);
            if len == 0 {
                return Ok(0);
            }
            if let Some(counted) = self.counter.count_len(usize::try_from(len).unwrap_or(usize::MAX)) {
                return Ok(counted);
            }
        }
        let (blocks, options) = (self.blocks, self.options);
        self.count(|sink, states| text::write(blocks, options, states, sink))
    }

    pub(super) fn count(
        &mut self,
        write: impl FnOnce(&mut Sink<'_>, &[BlockState]),
    ) -> Result<u32, RenderError> {
        let mut sink = Sink::new(self.buffer);
        write(&mut sink, self.states);
        #[cfg(test)]
        {
            self.written += sink.len() as u64;
        }
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
        let before = self.outcome(rank);
        if self.by_length && before != outcome {
            let gone = match before {
                Some(Outcome::Kept | Outcome::Cut { .. }) if self.last.0 == rank => self.last.1,
                _ => self.len_of(rank, before),
            };
            self.last = (rank, self.len_of(rank, outcome));
            self.len = self.len.saturating_sub(gone).saturating_add(self.last.1);
        }
        if let Some(state) = self.states.get_mut(rank) {
            state.outcome = outcome;
        }
    }

    /// Whether a block may be searched for a place to cut.
    pub(super) fn may_cut(&self) -> bool {
        self.by_length || self.cuts > 0
    }

    pub(super) fn spend_cut(&mut self) {
        self.cuts = self.cuts.saturating_sub(1);
    }

    /// Bytes that a block with this outcome and its joint have in the text.
    fn len_of(&mut self, rank: usize, outcome: Option<Outcome>) -> u64 {
        let Some(outcome @ (Outcome::Kept | Outcome::Cut { .. })) = outcome else {
            return 0;
        };
        let mut sink = Sink::measure();
        sink.put(text::JOINT);
        text::write_block(&self.block(rank), self.options, self.tokens(rank), outcome, &mut sink);
        #[cfg(test)]
        {
            self.written += sink.len() as u64;
        }
        sink.len() as u64
    }
}

/// By how many tokens a text may count less than the sum of its parts and still be found. Rounding and
/// marks that a tokenizer adds to each text stay below it.
const SLACK: u32 = 4;

/// How many times a counter that reads is asked whether blocks fit whole beside those that stay already.
const TRIES: u32 = 128;

/// How many of the tries are kept for blocks that should fit by what they count as they would stand.
const SURE_TRIES: u32 = 64;

/// In how many blocks a counter that reads is asked for a place to cut.
const CUTS: u32 = 32;

#[cfg(test)]
mod tests;
