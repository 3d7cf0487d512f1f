//! In place of [`evaluated`](self) without the feature `unevaluated`: no schema has a keyword that asks, so
//! nothing is noted.

use super::frame::Frame;
use super::machine::Check;
use super::place::Act;
use super::program::{Instruction, Slot};

impl<'i> Check<'_, 'i, '_> {
    #[inline(always)]
    pub(super) fn begin_scope(&mut self, _: &mut Frame) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    pub(super) fn ask_notes(&mut self, _: &mut Frame) -> bool {
        false
    }

    #[inline(always)]
    pub(super) fn end_scope(&mut self, _: &Frame) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    pub(super) fn in_scope(&self) -> bool {
        false
    }

    #[inline(always)]
    pub(super) fn limit(&self) -> usize {
        self.work.len()
    }

    #[inline(always)]
    pub(super) fn note(&mut self, _: Slot) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    pub(super) fn unevaluated(
        &mut self,
        _: &mut Frame,
        _: Instruction,
        _: bool,
        _: &'i [u8],
    ) -> Option<Act<'i>> {
        Some(Act::Finished)
    }
}

impl Frame {
    #[inline(always)]
    pub(super) fn is_due(&self, _: Instruction) -> bool {
        true
    }
}
