//! A bump allocator over a caller's bytes, for text that must live as long as the buffer.
//!
//! Text is written into what is left, then cut off and handed out for the buffer's whole lifetime;
//! nothing is given back before the buffer is. A text that does not fit takes nothing.
//!
//! ```
//! use toolcore::arena::Arena;
//! let mut memory = [0u8; 8];
//! let arena = Arena::new(&mut memory);
//! let first = arena.write(|sink| sink.put("first")).unwrap();
//! assert_eq!(arena.write(|sink| sink.put("second")).unwrap_err().need, 6);
//! assert_eq!((first, arena.room()), ("first", 3));
//! ```

use core::cell::Cell;

use crate::sink::{NoSpace, Sink};

/// Hands out pieces of a caller's buffer; see the [module](self).
pub struct Arena<'s>(Cell<&'s mut [u8]>);

impl<'s> Arena<'s> {
    /// An arena over `memory`.
    pub fn new(memory: &'s mut [u8]) -> Self {
        Arena(Cell::new(memory))
    }

    /// Writes one text and keeps it. While `write` runs the arena is empty to others.
    pub fn write(&self, write: impl FnOnce(&mut Sink<'_>)) -> Result<&'s str, NoSpace> {
        let kept = self.fill(|memory| {
            let mut sink = Sink::new(memory);
            write(&mut sink);
            sink.finish().map(str::len)
        });
        kept.map(|text| core::str::from_utf8(text).unwrap_or_default())
    }

    /// Hands all that is left to `fill` and keeps the first bytes of it, as many as `fill` says. On an error,
    /// nothing is kept. While `fill` runs the arena is empty to others.
    pub fn fill<E>(&self, fill: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<&'s [u8], E> {
        let memory = self.0.take();
        match fill(memory) {
            Ok(len) => {
                let (kept, rest) = memory.split_at_mut(len.min(memory.len()));
                self.0.set(rest);
                Ok(kept)
            }
            Err(error) => {
                self.0.set(memory);
                Err(error)
            }
        }
    }

    /// Bytes that are left.
    pub fn room(&self) -> usize {
        let memory = self.0.take();
        let room = memory.len();
        self.0.set(memory);
        room
    }

    /// Takes all that is left.
    pub fn take_rest(&self) -> &'s mut [u8] {
        self.0.take()
    }
}

impl core::fmt::Debug for Arena<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Arena").field("room", &self.room()).finish()
    }
}
