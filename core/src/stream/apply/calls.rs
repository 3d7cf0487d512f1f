//! Calls that come in pieces, of which no event says where one begins or ends.

use super::super::text::{NO_FIELD, NO_KEY, Part, Span};
use super::{ARGUMENTS, Applier, JsonKind, NAMELESS};
use crate::dialect::{CallParts, ReplyError, Show};
use crate::json::{self, Value};

impl Applier<'_, '_> {
    /// Adds a piece of a call. A present index wins, unless the call that it leads to has another id than the
    /// piece: then the id decides, and one that is new is another call (some servers give all calls one index).
    /// Without an index the id decides, and without both it is the call
    /// that was begun last.
    pub(super) fn call(&mut self, key: u32) -> Result<(), ReplyError> {
        let item = self.pin();
        let [id, name, arguments] = self.pieces(item);
        let is_text = self.is_text(arguments);
        let found = match (key, id) {
            (NO_KEY, Some(id)) => self.find_id(id),
            (NO_KEY, None) => self.text.parts().checked_sub(1).filter(|last| *last >= self.text.members()),
            (_, id) => {
                let of_id = id.and_then(|id| self.find_id_of(id, key));
                of_id.or_else(|| self.find(key).map(|(index, _)| index))
            }
        };
        let Some(index) = found else {
            if key == NO_KEY && id.is_none() {
                return Err(ReplyError::Shape { expected: "an index or an id in a piece of a call" });
            }
            return self.new_call(key, item);
        };
        let Some(part) = self.text.part(index) else { return Ok(()) };
        if id.is_none() && name.is_none() && part.field == ARGUMENTS {
            self.text.pins = [arguments.unwrap_or_default(), Span::default(), Span::default()];
            return self.call_arguments(index, is_text);
        }
        let [known_id, known_name, known_arguments] = self.parts_of(part);
        let other = match (known_id, id) {
            (Some(known), Some(id)) => !self.same(known, id),
            // A name after arguments that are whole, and arguments for it: the next call without an id.
            _ => {
                let begins = name.is_some() && arguments.is_some_and(|piece| piece.len > 0);
                begins && known_arguments.is_some_and(|known| self.is_whole(known))
            }
        };
        if other {
            return self.new_call(key, item);
        }
        // A name that is repeated is not a piece, and none comes after arguments.
        let name = name.filter(|name| match known_name {
            Some(known) => !self.same(known, *name) && known_arguments.is_none_or(|known| known.len == 0),
            None => true,
        });
        self.text.pins = [arguments, id.filter(|_| known_id.is_none()), name].map(Option::unwrap_or_default);
        let value = self.text.value(part);
        let parts = self.shape.call(value).unwrap_or_default();
        let raw = |value: Option<Value<'_>>| value.map(|value| self.place_in(part, value.raw()));
        let targets = [raw(parts.id), raw(parts.name)];
        if self.text.pins[1].len > 0 {
            let outer = Span { at: part.at, len: part.len };
            let at = self.make(index, targets[0], outer, "id", false)?;
            self.text.take(at, 1, Some(index));
            self.forget_slot(index);
        }
        if self.text.pins[2].len > 0 {
            let name = self.text.part(index).and_then(|part| self.raw_parts(part)[1]);
            let Some(name) = name else { return Err(NAMELESS) };
            let at = self.make(index, Some(name), name, "", false)?;
            self.text.take(at, 2, Some(index));
            self.forget_slot(index);
        }
        if arguments.is_some() || known_arguments.is_some_and(|known| known.len > 0) {
            self.tell_start(index, false);
        }
        self.call_arguments(index, is_text)
    }

    /// Adds the first pinned piece, of arguments, to a call: a piece of their text, or the whole of them.
    fn call_arguments(&mut self, index: usize, is_text: bool) -> Result<(), ReplyError> {
        let piece = self.pin();
        if piece.len == 0 {
            return Ok(());
        }
        self.show(Show::Arguments, piece, Some(index));
        if !is_text {
            let value = self.text.part(index).and_then(|part| self.raw_parts(part)[2]);
            let value = value.filter(|value| matches!(self.text.str(*value), "\"\"" | "null" | "{}"));
            let Some(value) = value else { return Err(NAMELESS) };
            self.text.remove(value, Some(index));
            self.text.take(value.at, 0, Some(index));
            return Ok(());
        }
        if let Some(part) = self.text.part(index).filter(|part| part.field != ARGUMENTS) {
            let Some(value) = self.raw_parts(part)[2] else { return Err(NAMELESS) };
            let at = self.make(index, Some(value), value, "", false)?;
            if let Some(part) = self.text.part(index) {
                self.text.set_part(index, Part { slot: at - part.at, field: ARGUMENTS, ..part });
            }
        }
        self.add(index, false)
    }

    /// Begins a call with a piece: as the piece stands, if there is a place for all that is still to come.
    fn new_call(&mut self, key: u32, item: Span) -> Result<(), ReplyError> {
        self.text.pins = [item, Span::default(), Span::default()];
        let value = Value::from_checked(self.text.str(item));
        let CallParts { name, arguments, .. } = self.shape.call(value).unwrap_or_default();
        let is = |value: Option<Value<'_>>, kinds: &[JsonKind]| {
            value.is_some_and(|value| kinds.contains(&value.kind()))
        };
        let ready = is(name, &[JsonKind::String]) && is(arguments, &[JsonKind::String, JsonKind::Object]);
        if ready {
            let index = self.item(key, true, None)?;
            self.tell_start(index, false);
            return Ok(());
        }
        let [id, name, arguments] = self.pieces(item);
        let is_text = self.is_text(arguments);
        self.text.pins = [arguments, id, name].map(Option::unwrap_or_default);
        let index = self.item(key, true, Some(self.shape.empty_call))?;
        for pin in [1, 2] {
            let [id, name, _] = self.text.part(index).map(|part| self.raw_parts(part)).unwrap_or_default();
            if let Some(target) = if pin == 1 { id } else { name } {
                self.text.take(target.at + target.len - 1, pin, Some(index));
            }
        }
        if arguments.is_some() {
            self.tell_start(index, false);
            self.call_arguments(index, is_text)?;
        }
        Ok(())
    }

    pub(super) fn forget_slot(&mut self, index: usize) {
        if let Some(part) = self.text.part(index) {
            self.text.set_part(index, Part { field: NO_FIELD, ..part });
        }
    }

    /// Where id, name and arguments of a piece stand, without quotes; those that are empty are not there, but
    /// for arguments.
    fn pieces(&self, item: Span) -> [Option<Span>; 3] {
        let value = Value::from_checked(self.text.str(item));
        let CallParts { id, name, arguments, .. } = self.shape.call(value).unwrap_or_default();
        let content = |value: Value<'_>| {
            let text = value.as_str().map_or(value.raw(), |text| text.raw());
            (!value.is_null()).then(|| self.text.place(item, text))
        };
        let filled = |value: Value<'_>| content(value).filter(|span| span.len > 0);
        [id.and_then(filled), name.and_then(filled), arguments.and_then(content)]
    }

    /// Whether a piece that [`pieces`](Self::pieces) gave is inside a string.
    fn is_text(&self, piece: Option<Span>) -> bool {
        piece.is_none_or(|piece| self.text.str(Span { at: piece.at - 1, len: 1 }) == "\"")
    }

    pub(super) fn parts_of(&self, part: Part) -> [Option<Span>; 3] {
        self.pieces(Span { at: part.at, len: part.len })
    }

    /// Where id, name and arguments of a call stand, with their quotes.
    pub(super) fn raw_parts(&self, part: Part) -> [Option<Span>; 3] {
        let CallParts { id, name, arguments, .. } =
            self.shape.call(self.text.value(part)).unwrap_or_default();
        [id, name, arguments].map(|value| value.map(|value| self.place_in(part, value.raw())))
    }

    /// Whether two pieces spell the same text.
    fn same(&self, a: Span, b: Span) -> bool {
        json::Str::new(self.text.str(a)) == json::Str::new(self.text.str(b))
    }

    /// The latest call with this id.
    fn find_id(&self, id: Span) -> Option<usize> {
        (self.text.members()..self.text.parts()).rev().find(|index| self.has_id(*index, id))
    }

    /// The latest call with this id and this key.
    fn find_id_of(&self, id: Span, key: u32) -> Option<usize> {
        let mut parts = (self.text.members()..self.text.parts()).rev();
        parts.find(|index| {
            self.text.part(*index).is_some_and(|part| part.key == key) && self.has_id(*index, id)
        })
    }

    fn has_id(&self, index: usize, id: Span) -> bool {
        let known = self.text.part(index).and_then(|part| self.parts_of(part)[0]);
        known.is_some_and(|known| self.same(known, id))
    }

    /// Whether the text of arguments is one JSON value, so that nothing can follow it.
    fn is_whole(&self, arguments: Span) -> bool {
        let text = json::Str::new(self.text.str(arguments));
        let (mut depth, mut inside, mut escaped, mut whole) = (0usize, false, false, false);
        for c in text.chars().filter(|c| !matches!(c, ' ' | '\n' | '\r' | '\t')) {
            whole = false;
            match c {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                '{' | '[' if !inside => depth += 1,
                '}' | ']' if !inside => {
                    depth = depth.saturating_sub(1);
                    whole = depth == 0;
                }
                _ => {}
            }
        }
        whole
    }
}
