//! Bounded output: bytes into a caller's buffer, counted past its end.
//!
//! A [`Sink`] keeps what fits and goes on counting, so the same code that writes also measures
//! (hand it an empty buffer). [`Sink::finish`] gives the whole text or [`NoSpace`] with the length that
//! would have been enough; [`Sink::finish_cut`] is for output that may be cut.
//!
//! ```
//! use toolcore::sink::Sink;
//! let mut buffer = [0u8; 4];
//! let mut sink = Sink::new(&mut buffer);
//! sink.put("four");
//! assert_eq!(sink.finish().unwrap(), "four");
//! let mut measure = Sink::measure();
//! measure.put("five!");
//! assert_eq!(measure.finish().unwrap_err().need, 5);
//! ```

use thiserror_no_std::Error;

/// The buffer was too small; nothing in it may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no space: {need} bytes needed")]
pub struct NoSpace {
    /// Bytes that would have been enough for the whole output.
    pub need: usize,
}
impl core::error::Error for NoSpace {}

/// Text output into a caller's buffer. Counts past the end; see the [module](self).
#[derive(Debug)]
pub struct Sink<'b> {
    buffer: &'b mut [u8],
    len: usize,
    /// Bytes of the beginning that are whole characters and in the buffer.
    kept: usize,
}

impl<'b> Sink<'b> {
    /// Writes into `buffer`.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Sink { buffer, len: 0, kept: 0 }
    }

    /// Goes on after the `len` bytes of text that an earlier sink has put into `buffer`.
    pub fn resume(buffer: &'b mut [u8], len: usize) -> Self {
        let kept = if len <= buffer.len() { len } else { 0 };
        Sink { buffer, len, kept }
    }

    /// Keeps nothing and counts everything.
    pub fn measure() -> Sink<'static> {
        Sink { buffer: &mut [], len: 0, kept: 0 }
    }

    /// Appends `text`.
    pub fn put(&mut self, text: &str) {
        let end = self.len.saturating_add(text.len());
        if let Some(place) = self.buffer.get_mut(self.len..end) {
            place.copy_from_slice(text.as_bytes());
            self.kept = end;
        } else if self.kept == self.len {
            let fits = text.floor_char_boundary(self.buffer.len().saturating_sub(self.len));
            if let Some(place) = self.buffer.get_mut(self.len..self.len + fits) {
                place.copy_from_slice(text.as_bytes().get(..fits).unwrap_or_default());
                self.kept += fits;
            }
        }
        self.len = end;
    }

    /// Appends what `write` writes, which is text, into a place of `most` bytes, and says whether there was such
    /// a place and it did; if not, nothing was appended.
    pub(crate) fn put_at_most(
        &mut self,
        most: usize,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> bool {
        let place = self.buffer.get_mut(self.len..self.len.saturating_add(most));
        let Some(len) = place.and_then(write).filter(|len| *len <= most) else { return false };
        self.len += len;
        self.kept = self.len;
        true
    }

    /// Appends one ASCII byte. A byte above 0x7F would not be text, and is written as `?`.
    pub fn put_byte(&mut self, byte: u8) {
        self.put_char(if byte.is_ascii() { char::from(byte) } else { '?' });
    }

    /// Appends one character.
    pub fn put_char(&mut self, c: char) {
        self.put(c.encode_utf8(&mut [0; 4]));
    }

    /// Appends a decimal number.
    pub fn put_u64(&mut self, value: u64) {
        let mut digits = [0u8; 20];
        self.put(decimal(value, &mut digits));
    }

    /// Appends a decimal number with a comma between thousands, as in `9,310`.
    pub fn put_grouped(&mut self, value: u64) {
        let mut digits = [0u8; 20];
        let text = decimal(value, &mut digits);
        for (i, digit) in text.bytes().enumerate() {
            if i > 0 && (text.len() - i).is_multiple_of(3) {
                self.put_byte(b',');
            }
            self.put_byte(digit);
        }
    }

    /// Bytes put so far, those past the end included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing was put yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Room that is left, in bytes; zero once it has overflowed.
    pub fn room(&self) -> usize {
        self.buffer.len().saturating_sub(self.len)
    }

    /// Whether more was put than the buffer holds.
    pub fn overflowed(&self) -> bool {
        self.len > self.buffer.len()
    }

    /// What was put so far, or `None` if it has overflowed.
    pub fn text(&self) -> Option<&str> {
        core::str::from_utf8(self.buffer.get(..self.len)?).ok()
    }

    /// What was put after the first `start` bytes, or `None` if it has overflowed.
    pub fn text_from(&self, start: usize) -> Option<&str> {
        core::str::from_utf8(self.buffer.get(start..self.len)?).ok()
    }

    /// A piece of what was put so far, or `None` if it is not there.
    pub(crate) fn piece(&self, start: usize, len: usize) -> Option<&str> {
        core::str::from_utf8(self.buffer.get(start..start.checked_add(len)?)?).ok()
    }

    /// Takes back everything put after `len`. A `len` beyond the present one changes nothing.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.kept = self.kept.min(len);
    }

    /// The whole text, or how many bytes it needs.
    pub fn finish(self) -> Result<&'b str, NoSpace> {
        let need = self.len;
        let text = self.buffer.get(..need).ok_or(NoSpace { need })?;
        // Only whole strings were put, so a text that fits is UTF-8; `truncate` at a place inside a
        // character is the one way to get here with another, and then there is no text to give.
        core::str::from_utf8(text).map_err(|_| NoSpace { need })
    }

    /// The beginning that fitted, cut at a character boundary; for output that may be cut.
    pub fn finish_cut(self) -> &'b str {
        let text = self.buffer.get(..self.kept).unwrap_or_default();
        core::str::from_utf8(text).unwrap_or_default()
    }

    /// As [`finish_cut`](Self::finish_cut), with `…` at the end of what was cut, if there is room for it.
    pub fn finish_marked(self) -> &'b str {
        const MARK: &[u8] = "…".as_bytes();
        let Some(room) = self.buffer.len().checked_sub(MARK.len()).filter(|_| self.overflowed()) else {
            return self.finish_cut();
        };
        let text = self.buffer.get(..self.kept).unwrap_or_default();
        let end = core::str::from_utf8(text).unwrap_or_default().floor_char_boundary(room);
        if let Some(place) = self.buffer.get_mut(end..end + MARK.len()) {
            place.copy_from_slice(MARK);
        }
        core::str::from_utf8(self.buffer.get(..end + MARK.len()).unwrap_or_default()).unwrap_or_default()
    }
}

impl core::fmt::Write for Sink<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.put(text);
        Ok(())
    }
}

/// `value` in decimal digits, written at the end of `digits`.
fn decimal(mut value: u64, digits: &mut [u8; 20]) -> &str {
    let mut used = 0;
    for place in digits.iter_mut().rev() {
        *place = b'0' + (value % 10) as u8;
        value /= 10;
        used += 1;
        if value == 0 {
            break;
        }
    }
    let (_, text) = digits.split_at(20 - used);
    core::str::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_marked_where_the_mark_fits() {
        for (size, expected) in [(2, "ab"), (3, "…"), (5, "ab…"), (6, "abc…"), (7, "abc…"), (8, "abcödef")]
        {
            let mut buffer = [0u8; 8];
            let mut sink = Sink::new(&mut buffer[..size]);
            sink.put("abcödef");
            assert_eq!(sink.finish_marked(), expected, "{size}");
        }
    }

    #[test]
    fn overflow_keeps_counting_and_gives_nothing() {
        let mut buffer = [0u8; 3];
        let mut sink = Sink::new(&mut buffer);
        sink.put("ab");
        sink.put("cd");
        sink.put("e");
        assert!(sink.overflowed());
        assert_eq!(sink.text(), None);
        assert_eq!(sink.finish(), Err(NoSpace { need: 5 }));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (value, plain, grouped) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (1204, "1204", "1,204"),
            (u64::MAX, "18446744073709551615", "18,446,744,073,709,551,615"),
        ] {
            let mut buffer = [0u8; 64];
            let mut sink = Sink::new(&mut buffer);
            sink.put_u64(value);
            sink.put_byte(b' ');
            sink.put_grouped(value);
            assert_eq!(sink.finish().unwrap().split_once(' '), Some((plain, grouped)));
        }
    }

    #[test]
    fn a_resumed_sink_goes_on_where_the_other_stopped() {
        let mut buffer = [0u8; 4];
        Sink::new(&mut buffer).put("ab");
        let mut sink = Sink::resume(&mut buffer, 2);
        sink.put("cd");
        assert_eq!(sink.finish(), Ok("abcd"));
        let mut sink = Sink::resume(&mut buffer, 5);
        sink.put("f");
        assert_eq!(sink.finish(), Err(NoSpace { need: 6 }));
    }

    #[test]
    fn truncating_takes_back_the_end() {
        let mut buffer = [0u8; 8];
        let mut sink = Sink::new(&mut buffer);
        sink.put("keep");
        let mark = sink.len();
        sink.put("drop");
        assert_eq!((sink.text_from(mark), sink.text_from(9)), (Some("drop"), None));
        sink.put(" this");
        assert_eq!(sink.text_from(mark), None);
        sink.truncate(mark);
        assert_eq!(sink.finish(), Ok("keep"));
    }
}
