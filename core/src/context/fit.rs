//! How much of one block fits beside the others.

use super::choose::Plan;
use super::cut::{Boundary, Side, search};
use super::{DropReason, Outcome, RenderError, TokenCounter, text};

impl Plan<'_> {
    /// Cuts a pinned block to the least that its flags allow, if that makes the text shorter.
    pub(super) fn cut_to_least(&mut self, rank: usize) -> Result<(), RenderError> {
        let (block, tokens, counter) = (self.block(rank), self.tokens(rank), self.counter);
        let Some(side) = Side::of(block.flags) else {
            return Ok(());
        };
        let least = block.min_tokens.max(1);
        let content = block.content;
        let notice = self.count(|sink, _| text::write_notice(tokens, tokens, sink))?;
        if tokens <= least.saturating_add(notice) {
            return Ok(());
        }
        let too_little = search(content.len(), tokens, least, least.saturating_sub(1), &mut |keep| {
            Ok::<_, RenderError>(kept(counter, content, side.range(content, keep)))
        })?;
        let keep = too_little.saturating_add(1);
        if keep < content.len() {
            let (outcome, _) = self.leave_out(rank, side.range(content, keep));
            self.set(rank, Some(outcome));
        }
        Ok(())
    }

    /// Gives a pinned block that is cut to its least as much as fits.
    pub(super) fn grow(&mut self, rank: usize) -> Result<(), RenderError> {
        let (least, before, tokens) = (self.outcome(rank), self.used, self.tokens(rank));
        let Some(Outcome::Cut { left_out, .. }) = least else {
            return Ok(());
        };
        let kept = tokens.saturating_sub(left_out);
        let others = before.saturating_sub(kept).saturating_sub(self.frame(rank)?);
        if self.could_fit(others, tokens) {
            self.set(rank, Some(Outcome::Kept));
            let counted = self.measure()?;
            if counted <= self.limit {
                self.used = counted;
                return Ok(());
            }
        }
        let outcome = self.cut(rank, others)?;
        let is_cut = matches!(outcome, Outcome::Cut { .. });
        self.set(rank, if is_cut { Some(outcome) } else { least });
        Ok(())
    }

    /// Finds the largest piece of a block that fits beside `others` tokens, with edges at good
    /// boundaries. `used` is up to date if the answer is a cut.
    pub(super) fn cut(&mut self, rank: usize, others: u32) -> Result<Outcome, RenderError> {
        let (block, tokens, limit) = (self.block(rank), self.tokens(rank), self.limit);
        let Some(side) = Side::of(block.flags) else {
            return Ok(Outcome::Dropped(DropReason::NoRoom));
        };
        let others = match self.others_of_cut(rank, others)? {
            Ok(others) => others,
            Err(reason) => return Ok(Outcome::Dropped(reason)),
        };
        self.spend_cut();
        let (least, content) = (block.min_tokens.max(1), block.content);
        let room = limit.saturating_sub(others);
        let largest = search(content.len(), tokens, room, limit, &mut |keep| {
            let (outcome, _) = self.leave_out(rank, side.range(content, keep));
            self.set(rank, Some(outcome));
            self.measure()
        })?;
        let mut why = DropReason::NoRoom;
        let mut last = None;
        for boundary in Boundary::ALL.into_iter().filter(|_| largest > 0) {
            let range = boundary.widen(content, side.range(content, largest));
            if last.replace(range) == Some(range) {
                continue;
            }
            let (outcome, kept) = self.leave_out(rank, range);
            let (head, tail) = text::around(content, range.0, range.1);
            let blank = head.trim_start().is_empty() && tail.trim_start().is_empty();
            if blank || kept < least {
                why = DropReason::BelowMinimum;
                continue;
            }
            self.set(rank, Some(outcome));
            let counted = self.measure()?;
            if counted <= limit {
                self.used = counted;
                return Ok(outcome);
            }
        }
        Ok(Outcome::Dropped(why))
    }

    /// The tokens beside the piece of a block that is cut: `others`, its wrapper and its notice; or why
    /// it is of no use to search for a piece.
    pub(super) fn others_of_cut(
        &mut self,
        rank: usize,
        others: u32,
    ) -> Result<Result<u32, DropReason>, RenderError> {
        let block = self.block(rank);
        if Side::of(block.flags).is_none() || !self.may_cut() {
            return Ok(Err(DropReason::NoRoom));
        }
        let others = others.saturating_add(self.frame(rank)?);
        Ok(if !self.could_fit(others, 1) {
            Err(DropReason::NoRoom)
        } else if !self.could_fit(others, block.min_tokens.max(1)) {
            Err(DropReason::BelowMinimum)
        } else {
            Ok(others)
        })
    }

    /// The outcome of leaving `content[from..to]` out, and the tokens of what stays.
    fn leave_out(&self, rank: usize, (from, to): (usize, usize)) -> (Outcome, u32) {
        let kept = kept(self.counter, self.block(rank).content, (from, to));
        let left_out = self.tokens(rank).saturating_sub(kept).max(1);
        (Outcome::Cut { from, to, left_out }, kept)
    }

    /// Tokens of a block's wrapper and notice, without any content.
    fn frame(&mut self, rank: usize) -> Result<u32, RenderError> {
        let (block, tokens, options) = (self.block(rank), self.tokens(rank), self.options);
        let nothing = Outcome::Cut { from: 0, to: block.content.len(), left_out: tokens };
        self.count(|sink, _| text::write_block(&block, options, tokens, nothing, sink))
    }
}

/// Tokens of what stays when `range` is left out.
fn kept(counter: &dyn TokenCounter, content: &str, (from, to): (usize, usize)) -> u32 {
    let (head, tail) = text::around(content, from, to);
    let count = |part: &str| {
        if part.is_empty() { 0 } else { counter.count(part) }
    };
    count(head).saturating_add(count(tail))
}
