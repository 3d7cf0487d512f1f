//! In place of [`plain`](self) without the feature `text-forms`: no stream is plain text.

use super::show::Watch;
use super::text::Text;
use crate::dialect::{Dialect, ReplyError};

/// There is none.
#[derive(Clone, Debug)]
pub(super) enum Plain {}

impl Plain {
    pub(super) fn of(_: Dialect) -> Option<Self> {
        None
    }

    pub(super) fn valid(&self) -> usize {
        match *self {}
    }

    pub(super) fn dropped_text_last(&self) -> bool {
        match *self {}
    }

    pub(super) fn feed(
        &mut self,
        _: &[u8],
        _: &mut Text<'_>,
        _: bool,
        _: &mut Watch<'_>,
    ) -> Result<(), ReplyError> {
        match *self {}
    }
}
