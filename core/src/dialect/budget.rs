//! Writing a result's text within bounds: so many bytes of it, so much of the output, and nothing that means
//! something to the chat template of a text form.

use super::Dialect;
use crate::json::{Writer, escaped_len, escaped_prefix};
use crate::result::{Part, ToolResult};
use crate::sink::Sink;

/// More than a block of media takes beside its type and data, in every dialect.
const MEDIA_BLOCK: usize = 96;

/// How much of a result may still be written: bytes of text, and bytes of output.
pub(crate) struct Budget {
    limit: usize,
    room: usize,
    /// Text stands in a JSON string.
    json: bool,
    /// What is not let through.
    guard: &'static [&'static str],
}

impl Budget {
    pub(super) fn new(dialect: Dialect, limit: usize, room: usize) -> Self {
        let form = dialect.text_form();
        Budget { limit, room, json: form.is_none(), guard: form.map_or(&[], |form| form.guard) }
    }

    /// The text that follows stands in a JSON string of a text form.
    pub(super) fn inside_json(&mut self) {
        self.json = true;
    }

    /// Writes text as it has to stand.
    pub(super) fn put(&self, text: &str, out: &mut Writer<'_, '_>) {
        let part = |text: &str, out: &mut Writer<'_, '_>| {
            if self.json { out.string_part(text) } else { out.sink().put(text) }
        };
        let mut rest = text;
        while let Some(at) = self.guarded(rest) {
            part(rest.get(..at).unwrap_or_default(), out);
            let first = rest.as_bytes().get(at).copied().unwrap_or_default();
            if self.json {
                put_escape(first, out);
            } else {
                out.sink().put_byte(first);
                out.sink().put(" ");
            }
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        part(rest, out);
    }

    /// Writes JSON that stands as it is, but for what is not let through: that can only be in strings, where the
    /// first character of each goes as an escape.
    pub(super) fn put_json(&self, json: &str, out: &mut Writer<'_, '_>) {
        let mut rest = json;
        while let Some(at) = self.guarded(rest) {
            out.sink().put(rest.get(..at).unwrap_or_default());
            put_escape(rest.as_bytes().get(at).copied().unwrap_or_default(), out);
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        out.sink().put(rest);
    }

    /// Where something that is not let through begins. All of it begins with `<` or `[`.
    fn guarded(&self, text: &str) -> Option<usize> {
        let begins =
            |at: usize| text.get(at..).is_some_and(|tail| self.guard.iter().any(|it| tail.starts_with(it)));
        let marks = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'<' | b'['));
        if self.guard.is_empty() { None } else { marks.map(|(at, _)| at).find(|at| begins(*at)) }
    }

    /// Bytes that text takes when it is put.
    fn size(&self, text: &str) -> usize {
        let plain = if self.json { escaped_len(text) } else { text.len() };
        let extra = if self.json { 5 } else { 1 };
        let mut hits = 0usize;
        let mut rest = text;
        while let Some(at) = self.guarded(rest) {
            hits += 1;
            rest = rest.get(at + 1..).unwrap_or_default();
        }
        plain.saturating_add(hits.saturating_mul(extra))
    }

    /// The longest start of text that takes at most `room` bytes when it is put.
    fn prefix<'t>(&self, text: &'t str, room: usize) -> &'t str {
        if self.guard.is_empty() {
            return escaped_prefix(text, room);
        }
        let mut used = 0usize;
        for (at, c) in text.char_indices() {
            let tail = text.get(at..).unwrap_or_default();
            let begins = self.guard.iter().any(|token| tail.starts_with(token));
            let extra = if self.json { 5 } else { 1 };
            let one = tail.get(..c.len_utf8()).unwrap_or_default();
            let plain = if self.json { escaped_len(one) } else { one.len() };
            used = used.saturating_add(plain).saturating_add(if begins { extra } else { 0 });
            if used > room {
                return text.get(..at).unwrap_or_default();
            }
        }
        text
    }

    /// Whether a text of these pieces would be written whole.
    pub(super) fn fits(&self, pieces: &[&str]) -> bool {
        let sum = |len: fn(&str) -> usize| pieces.iter().map(|piece| len(piece)).sum::<usize>();
        sum(str::len) <= self.limit
            && (self.room == usize::MAX
                || pieces.iter().map(|piece| self.size(piece)).sum::<usize>() <= self.room)
    }

    /// Takes room for a JSON text that stays as it is; false if there is not enough.
    pub(super) fn take_whole(&mut self, json: &str) -> bool {
        let fits = json.len() <= self.limit && self.take_bytes(json.len());
        if fits {
            self.limit -= json.len();
        }
        fits
    }

    /// Takes room for something that must be written whole; false if there is not enough.
    pub(super) fn take_bytes(&mut self, len: usize) -> bool {
        if self.room == usize::MAX {
            return true;
        }
        match self.room.checked_sub(len) {
            Some(rest) => {
                self.room = rest;
                true
            }
            None => false,
        }
    }

    /// Like [`Budget::take_bytes`] for a block that holds `data` in base64.
    pub(super) fn take_media(&mut self, media_type: &str, data: &[u8]) -> bool {
        let base64 = data.len().div_ceil(3).saturating_mul(4);
        self.take_bytes(base64.saturating_add(escaped_len(media_type)).saturating_add(MEDIA_BLOCK))
    }

    /// The beginning of a text of `total` bytes that may be written. Where it is cut, what the notice
    /// takes beyond that of a text of which nothing is kept is taken too.
    fn take_text<'t>(&mut self, text: &'t str, total: usize) -> &'t str {
        let mut kept = text.get(..text.floor_char_boundary(self.limit)).unwrap_or_default();
        if self.room != usize::MAX {
            let mut digits = 0;
            if kept.len() < total || self.size(kept) > self.room {
                let mut number = Sink::measure();
                number.put_grouped(total as u64);
                digits = number.len() - 1;
                kept = self.prefix(kept, self.room.saturating_sub(digits));
            }
            if !kept.is_empty() {
                self.room = self.room.saturating_sub(self.size(kept)).saturating_sub(digits);
            }
        }
        self.limit = self.limit.saturating_sub(kept.len());
        kept
    }
}

/// Writes a character of ASCII as an escape of JSON.
fn put_escape(ascii: u8, out: &mut Writer<'_, '_>) {
    out.sink().put("\\u00");
    for digit in [ascii >> 4, ascii & 0xF] {
        out.sink().put_char(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
    }
}

/// Writes a part as one JSON string, cut to the budget and saying so.
pub(super) fn write_part(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    out.string_start();
    write_text_of(part, budget, out);
    out.string_end();
}

/// Writes a part as a piece of the string that is open.
pub(super) fn write_text_of(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    match *part {
        Part::Text { text, total } => write_text(text, total, budget, out),
        Part::Json(text) => write_text(text, text.len(), budget, out),
        // A part of a link leads nowhere: it is written whole or not at all.
        Part::Link { name, uri } if budget.fits(&[name, ": ", uri]) => {
            for piece in [name, ": ", uri] {
                write_text(piece, piece.len(), budget, out);
            }
        }
        Part::Link { name, uri } => write_text("", name.len() + 2 + uri.len(), budget, out),
        Part::Image { media_type, data } | Part::Audio { media_type, data } => {
            let mut memory = [0u8; 96];
            let mut sink = Sink::new(&mut memory);
            sink.put("[");
            sink.put(media_type.get(..media_type.floor_char_boundary(40)).unwrap_or_default());
            sink.put(", ");
            sink.put_grouped(data.len() as u64);
            sink.put(" bytes, cannot be shown here]");
            budget.put(sink.finish_cut(), out);
        }
    }
}

/// Writes the parts of a result into text that is open, each on lines of its own.
pub(super) fn write_parts_of(result: &ToolResult<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    for (index, part) in result.parts().enumerate() {
        if index > 0 {
            budget.put("\n", out);
        }
        write_text_of(&part, budget, out);
    }
}

fn write_text(text: &str, total: usize, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    let kept = budget.take_text(text, total);
    budget.put(kept, out);
    if kept.len() < total {
        let mut memory = [0u8; 96];
        let mut sink = Sink::new(&mut memory);
        sink.put("… [truncated, ");
        sink.put_grouped(kept.len() as u64);
        sink.put(" of ");
        sink.put_grouped(total as u64);
        sink.put(" bytes]");
        budget.put(sink.finish_cut(), out);
    }
}
