//! What a turn tells a host's log.

use crate::call::{Ticket, ToolCall};
use crate::result::ToolResult;
use crate::time::Instant;

/// What happened to a call. Each call of a turn has exactly one of those that settle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Its handler begins.
    Called,
    /// Its tool says how far it is.
    Progress {
        /// How much is done.
        done: u64,
        /// Of how much; 0 if that is unknown.
        total: u64,
    },
    /// It has its result, from its tool or because it could not be run. This settles it.
    Finished,
    /// Its deadline has passed. This settles it.
    TimedOut,
    /// The host gave it up. This settles it.
    Cancelled,
    /// It was settled before, and its tool has ended now; what it brought is discarded.
    Late,
    /// It was settled before, and its tool did not end within the grace period.
    Abandoned,
}

impl EventKind {
    /// The name in snake case, as the desk tool prints it.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Called => "called",
            EventKind::Progress { .. } => "progress",
            EventKind::Finished => "finished",
            EventKind::TimedOut => "timed_out",
            EventKind::Cancelled => "cancelled",
            EventKind::Late => "late",
            EventKind::Abandoned => "abandoned",
        }
    }

    /// Whether it settles a call.
    pub const fn settles(self) -> bool {
        matches!(self, EventKind::Finished | EventKind::TimedOut | EventKind::Cancelled)
    }
}

/// Something that happened to a call.
#[derive(Clone, Copy, Debug)]
pub struct Event<'e> {
    /// What.
    pub kind: EventKind,
    /// When, by the time that was handed in.
    pub at: Instant,
    /// The number of the turn; a call that is abandoned may be of an earlier one.
    pub turn: u32,
    /// The call's place in the reply.
    pub index: usize,
    /// The call as the model wrote it; `None` for one of an earlier turn.
    pub call: Option<&'e ToolCall<'e>>,
    /// Its ticket, if it was given one.
    pub ticket: Option<Ticket>,
    /// Its result, where it is settled.
    pub result: Option<&'e ToolResult<'e>>,
    /// What its tool says beside how far it is; empty if nothing.
    pub message: &'e str,
}
