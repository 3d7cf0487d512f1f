//! Messages of a mailbox, applied to the calls that they are about.

use super::{Runtime, Turn, end_when};
use crate::inflight::TicketError;
use crate::mailbox::{Message, MessageKind};
use crate::registry::Hook;
use crate::result::ToolResult;
use crate::time::Instant;
use crate::tool::Handler;

impl Turn<'_> {
    /// Does what a message says: completes, fails or moves on the call that it is about, at the time when it was
    /// sent, as the sender says, but never later than `now`. A text that was cut says so to the model; a JSON value
    /// that is none fails the call.
    ///
    /// Receive before polling: a message that was sent in time is in time then, also if it is read after the
    /// deadline, whatever was received or completed before it.
    pub fn deliver<H: Handler, K: Hook>(
        &mut self,
        with: &mut Runtime<'_, '_, '_, '_, H, K>,
        now: Instant,
        message: &Message<'_>,
    ) -> Result<(), TicketError> {
        let Message { kind, ticket, .. } = *message;
        let at = message.at.min(now);
        match kind {
            MessageKind::Progress { done, total } => self.progress_when(with, ticket, at, (done, total), ""),
            _ => self.complete_when(with, ticket, at, |result| write(message, result)),
        }
    }
}

/// [`Turn::deliver`] where there is no turn: the call is one of an earlier one, and has its outcome.
pub fn deliver<H: Handler, K: Hook>(
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    now: Instant,
    message: &Message<'_>,
) -> Result<(), TicketError> {
    let at = message.at.min(now);
    match message.kind {
        MessageKind::Progress { .. } => with.inflight.running(message.ticket, at).map(|_| ()),
        _ => end_when(with, message.ticket, at),
    }
}

fn write(message: &Message<'_>, result: &mut ToolResult<'_>) {
    let Message { kind, text, total, .. } = *message;
    match kind {
        MessageKind::Failure => result.error(text),
        MessageKind::Json if total == text.len() => {
            if result.json(text).is_err() {
                result.error("the tool's result is not JSON, or does not fit");
            }
        }
        // It is the first part.
        _ => drop(result.text(text)),
    }
    result.was_longer(total);
}
