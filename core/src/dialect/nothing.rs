//! In place of the dialects that this build leaves out. They are refused before anything is read or written, see
//! [`Dialect::built_in`](super::Dialect::built_in).

use super::results::{Answered, Budget};
use super::tools::{Note, WireRequest, WireTool};
use super::{NameRule, Wire};
use crate::json::Writer;
use crate::result::ToolResult;
use crate::schema::Subset;

/// A dialect of which nothing is linked. Only what cannot fail is ever asked of it.
pub(super) struct Nothing;

impl Wire for Nothing {
    fn names(&self) -> NameRule {
        NameRule { max: usize::MAX, dots: true, letter_first: false }
    }

    fn strict(&self) -> Option<&'static Subset> {
        None
    }

    fn tools_start(&self, _: &WireRequest<'_>, _: &mut Writer<'_, '_>) {}

    fn tool(&self, _: &WireTool<'_>, _: &mut dyn FnMut(Note<'_>), _: &mut Writer<'_, '_>) {}

    fn tools_end(&self, _: &WireRequest<'_>, _: &mut Writer<'_, '_>) {}

    fn results_start(&self, _: bool, _: &mut Writer<'_, '_>) {}

    fn result(&self, _: &Answered<'_>, _: &ToolResult<'_>, _: &mut Budget, _: &mut Writer<'_, '_>) {}

    fn results_end(&self, _: bool, _: &mut Writer<'_, '_>) {}
}
