//! The model's own turn, written so that the provider takes it back.
//!
//! A provider wants its turn before the results that answer it: with the ids that the results use, and with
//! the exact bytes of what it signed. What it only puts out is left away.

use super::{Reply, text_form};
use crate::json::Writer;
use crate::sink::{NoSpace, Sink};

/// Why a turn was not written. Nothing in the output may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum ReplayError {
    /// The dialect has no turns.
    #[error("the dialect has no turn of a model to send back")]
    Unsupported,
    /// The stream was told to keep the calls only.
    #[error("only the calls of the stream were kept; keep all of it to send it back")]
    CallsOnly,
    /// The output is too small.
    #[error("{0}")]
    NoSpace(NoSpace),
}
impl core::error::Error for ReplayError {}

impl Reply<'_> {
    /// Writes the model's turn to append to the conversation before the results: a JSON array of messages,
    /// or what is inside its brackets if `bare`. For a text form: the model's text, in the tokens of its
    /// message unless `bare`.
    ///
    /// What the provider must get back keeps its exact bytes and its order. A call that came without an id,
    /// with one that the provider does not allow, or with one that is no string, has the one that its
    /// result gets, see [`ToolCall::wire_id`](crate::call::ToolCall::wire_id).
    pub fn write_replay(&self, bare: bool, sink: &mut Sink<'_>) -> Result<(), ReplayError> {
        let start = sink.len();
        let mut out = Writer::new(sink);
        let result = self.replay(bare, &mut out);
        let need = sink.len();
        if result.is_err() || sink.overflowed() {
            sink.truncate(start);
        }
        result?;
        if need > sink.len() { Err(ReplayError::NoSpace(NoSpace { need })) } else { Ok(()) }
    }

    fn replay(&self, bare: bool, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        let (wire, root) = self.replayable()?;
        let form = self.dialect().text_form();
        match form {
            _ if bare => {}
            None => out.array_start(),
            Some(form) => out.sink().put(form.turn[0]),
        }
        let mut index = 0;
        let needs_ids = wire.facts().needs_ids;
        let mut ids = || {
            let id = self.new_id(index, needs_ids);
            index += 1;
            id
        };
        match form {
            None => wire.replay(root, &mut ids, out)?,
            Some(form) => out.sink().put(text_form::spoken(form, root.raw())),
        }
        match form {
            _ if bare => {}
            None => out.array_end(),
            Some(form) => out.sink().put(form.turn[1]),
        }
        Ok(())
    }
}
