//! Telling those who watch.

use super::super::show::{Kind, StreamEvent, cut};
use super::super::text::{CALL, ENDED, OPENED, Part, STARTED, Span};
use super::Applier;
use crate::dialect::Show;
use crate::json;

impl Applier<'_, '_> {
    pub(super) fn show(&mut self, show: Show, piece: Span, index: Option<usize>) {
        let kind = match (show, index.and_then(|index| self.text.part(index))) {
            (Show::Text | Show::Refusal, _) => Kind::Text,
            (Show::Reasoning, _) => Kind::Reasoning,
            (Show::Arguments, Some(part)) if part.flags & STARTED != 0 => {
                Kind::Arguments(usize::from(part.call))
            }
            _ => return,
        };
        self.decoder.tell(kind, self.text.str(piece), self.watch);
    }

    /// Tells that a call has begun, once its name is there or `now`.
    pub(super) fn tell_start(&mut self, index: usize, now: bool) {
        let Some(part) = self.text.part(index) else { return };
        let [id, name, arguments] = self.parts_of(part);
        if part.flags & (CALL | STARTED) != CALL || name.is_none() && !now {
            return;
        }
        let (mut ids, mut names) = ([0; 128], [0; 128]);
        let read = |span: Option<Span>| json::Str::new(span.map_or("", |span| self.text.str(span)));
        let event = StreamEvent::CallStart {
            index: usize::from(part.call),
            id: cut(read(id), &mut ids),
            name: cut(read(name), &mut names),
        };
        (self.watch)(event);
        self.text.set_part(index, Part { flags: part.flags | STARTED, ..part });
        // An empty object stands for arguments to come.
        let so_far = arguments.filter(|piece| part.flags & OPENED == 0 || self.text.str(*piece) != "{}");
        if let Some(piece) = so_far {
            self.show(Show::Arguments, piece, Some(index));
        }
    }

    pub(super) fn tell_end(&mut self, index: usize) {
        self.tell_start(index, true);
        let Some(part) = self.text.part(index) else { return };
        if part.flags & (CALL | ENDED) == CALL {
            (self.watch)(StreamEvent::CallEnd { index: usize::from(part.call) });
            self.text.set_part(index, Part { flags: part.flags | ENDED, ..part });
        }
    }

    /// Tells the end of all calls, at the end of the reply.
    pub(super) fn tell_ends(&mut self) {
        for index in self.text.members()..self.text.parts() {
            self.tell_end(index);
        }
    }
}
