//! What was changed so that a provider takes the tools.

use super::super::NativeKind;
use crate::schema::Change;
use crate::sink::Sink;

/// Something that was changed so that the provider takes it. Local checks use the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The tool's registered name; empty if it is about none.
    pub tool: &'a str,
    /// What was changed.
    pub kind: NoteKind<'a>,
}

/// What was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind<'a> {
    /// The name was sent as this alias.
    Alias(&'a str),
    /// Something was changed in the tool's schema.
    Schema(Change<'a>),
    /// The dialect has no word for the choice or for parallel calls.
    ChoiceDropped,
    /// The provider has no such tool.
    NativeDropped(NativeKind),
    /// The tool is not told of, since the choice leaves it out and the dialect has no word for that.
    LeftOut,
    /// The tool is not strict: the provider has no strict mode. About no tool: it takes strict for all tools or
    /// for none, and not all are strict.
    StrictDropped,
    /// There are more tools than the provider takes, which is this many. All are sent.
    ManyTools(usize),
}

impl Note<'_> {
    /// Appends the JSON Pointer of the place in the tool's schema; nothing for its root, or if it is about
    /// none.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        if let NoteKind::Schema(change) = self.kind {
            change.write_path(sink);
        }
    }

    /// Appends what happened, as a sentence.
    pub fn write_message(&self, sink: &mut Sink<'_>) {
        match self.kind {
            NoteKind::Alias(alias) => {
                sink.put("sent as '");
                sink.put(alias);
                sink.put("': the provider does not allow the name");
            }
            NoteKind::Schema(change) => sink.put(change.kind.message()),
            NoteKind::ChoiceDropped => sink.put("dropped: the dialect has no word for the choice"),
            NoteKind::NativeDropped(kind) => {
                sink.put("dropped: the provider has no tool '");
                sink.put(kind.name());
                sink.put("'");
            }
            NoteKind::LeftOut => sink.put("left out: the choice does not allow it"),
            NoteKind::StrictDropped if !self.tool.is_empty() => {
                sink.put("not strict: the provider has no strict mode");
            }
            NoteKind::StrictDropped => sink.put("not strict: the provider takes that for all tools or none"),
            NoteKind::ManyTools(max) => {
                sink.put("the provider takes at most ");
                sink.put_u64(max as u64);
                sink.put(" tools");
            }
        }
    }
}
