//! The violations of an instance as one line of text, for a model to read: each once, and no more than it can
//! use. What one of them says stands in [`report`](super::report).

use super::program::word_of;
use super::report::{Report, Violation};
use crate::sink::Sink;

/// Writes the violations as one line of text: `/a: expected integer, got string "x"; /b: required`. At the
/// root there is no path.
///
/// At most `max_count` of them and about `max_bytes` bytes; the rest is counted: `; and 3 more`. A line that is
/// equal to one of the first 16 is left out.
#[derive(Debug)]
pub struct ListReport<'w, 'b> {
    sink: &'w mut Sink<'b>,
    start: usize,
    max_count: usize,
    max_bytes: usize,
    count: usize,
    more: usize,
    /// Where the first lines start in the sink and end.
    lines: [(u32, u32); LINES],
    /// Lines that were written before.
    repeated: usize,
}

impl<'w, 'b> ListReport<'w, 'b> {
    /// Writes at the end of `sink`, within the default bounds.
    pub fn new(sink: &'w mut Sink<'b>) -> Self {
        ListReport::bounded(sink, MAX_COUNT, MAX_BYTES)
    }

    /// Writes at the end of `sink`, within these bounds and, after the first one, within its room.
    pub fn bounded(sink: &'w mut Sink<'b>, max_count: usize, max_bytes: usize) -> Self {
        let room = if sink.room() == 0 { usize::MAX } else { sink.room().saturating_sub(MORE) };
        let max_bytes = max_bytes.min(room);
        ListReport {
            start: sink.len(),
            sink,
            max_count,
            max_bytes,
            count: 0,
            more: 0,
            lines: [(0, 0); LINES],
            repeated: 0,
        }
    }

    /// Appends how many there were beyond the bounds, and gives how many there were in all.
    pub fn finish(self) -> usize {
        if self.more > 0 {
            if self.count > 0 {
                self.sink.put("; and ");
            }
            self.sink.put_u64(self.more as u64);
            self.sink.put(if self.count > 0 { " more" } else { " problems" });
        }
        self.count + self.more + self.repeated
    }
}

impl Report for ListReport<'_, '_> {
    fn violation(&mut self, violation: &Violation<'_>) {
        if self.more > 0 || self.count >= self.max_count {
            self.more += 1;
            return;
        }
        let mark = self.sink.len();
        if self.count > 0 {
            self.sink.put("; ");
        }
        let path = self.sink.len();
        violation.write_path(self.sink);
        // A key of the instance can be of any length: such a path is left out.
        if self.sink.len() - path > MAX_PATH {
            self.sink.truncate(path);
            self.sink.put("…");
        }
        if self.sink.len() > path {
            self.sink.put(": ");
        }
        violation.write_message(self.sink);
        let text = self.sink.text();
        let line = text.and_then(|text| text.get(path..));
        let mut written = self.lines.iter().take(self.count);
        let is_line =
            |&(start, end): &(u32, u32)| text.and_then(|text| text.get(start as usize..end as usize)) == line;
        if line.is_some() && written.any(is_line) {
            self.sink.truncate(mark);
            self.repeated += 1;
        } else if self.count > 0 && self.sink.len() - self.start > self.max_bytes {
            self.sink.truncate(mark);
            self.more += 1;
        } else {
            if let Some(place) = self.lines.get_mut(self.count) {
                *place = (word_of(path), word_of(self.sink.len()));
            }
            self.count += 1;
        }
    }
}

const MAX_COUNT: usize = 16;
const MAX_BYTES: usize = 1024;
/// Room for `; and N more`.
const MORE: usize = 32;
const MAX_PATH: usize = 256;
/// So many lines are compared with those that come later.
const LINES: usize = 16;
