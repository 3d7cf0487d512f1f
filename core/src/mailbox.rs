//! A mailbox without locks, by which an interrupt, a signal handler or another thread completes calls.
//!
//! ```
//! use core::sync::atomic::AtomicU32;
//! use toolcore::call::Ticket;
//! use toolcore::mailbox::{Mailbox, MessageKind, words_for};
//! use toolcore::time::Instant;
//!
//! let mut words = [const { AtomicU32::new(0) }; words_for(4, 32)];
//! let mut mailbox = Mailbox::new(&mut words);
//! let (mut sender, mut receiver) = mailbox.split();
//!
//! // In the interrupt, with a ticket that the handler of the call has kept:
//! sender.complete(Ticket::from_u64(7), Instant::from_millis(120), "21 C")?;
//!
//! // In the main loop:
//! let mut text = [0; 32];
//! while let Some(message) = receiver.receive(&mut text) {
//!     assert_eq!((message.ticket.as_u64(), message.at.as_millis()), (7, 120));
//!     assert_eq!((message.kind, message.text), (MessageKind::Text, "21 C"));
//! }
//! # Ok::<(), toolcore::mailbox::Full>(())
//! ```
//!
//! **Who.** One sender and one receiver at a time, each in any context: a thread, an interrupt, a signal
//! handler; either may interrupt the other at any instruction. Two contexts that send need two mailboxes,
//! even if one of them only interrupts the other. [`Mailbox::split`] gives out one of each end, and the
//! compiler holds a program to it. [`Sender::attach`] and [`Receiver::attach`] are for where a pair cannot be
//! handed over (a `static`, another language): there the program must hold itself to it. If it does not,
//! messages are lost or garbled, and nothing else: no panic, no endless loop, no access beyond the memory. Of
//! two cores, both must see the memory alike: if they cache it apart, it must stand where it is not cached.
//!
//! **Order.** Messages arrive in the order in which they were sent, each once and whole. All that the sender
//! did to memory before it sent a message has happened for whoever receives it (a release store and an
//! acquire load). Likewise, all that the receiver did before it received a message has happened for the
//! sender once it sends into that message's place. Nothing is promised about the order of two mailboxes.
//!
//! **Full.** A message for which there is no room is refused whole, [`Full`]; nothing of it is written, and
//! those before it stay. Nothing is overwritten and nobody waits: what becomes of a refused message is the
//! sender's matter. A call whose completion was lost ends at its deadline, if it has one.
//!
//! **Cost.** Sending is a loop over the message's words, receiving one as well, with a check that the text is
//! UTF-8. Only loads and stores of [`AtomicU32`] are used, no compare-and-swap: it works on cores that have
//! none (ARMv6-M, RISC-V without the A extension), and interrupts stay enabled throughout. Each message takes
//! five words and its text, see [`words_for`].
//!
//! **Memory.** Two words for where the oldest message begins and where the newest ends, then a ring of words,
//! one of which always stays free so that a full ring differs from an empty one. All zero is an empty
//! mailbox.

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};

use crate::call::Ticket;
use crate::time::Instant;

/// Words for the two places, and the one of the ring that stays free.
const BESIDES: usize = 3;

/// Words of a message before its text: kind and length, the ticket, the instant.
const HEAD: usize = 5;

/// A message's first word has its length in bytes here, and its kind above.
const LENGTH_BITS: u32 = 28;
const LENGTH: u32 = (1 << LENGTH_BITS) - 1;

/// Words of memory that are used at most, so that no message in it is longer than `LENGTH`.
const MOST_WORDS: usize = (LENGTH / 4) as usize;

const TEXT: u32 = 1;
const JSON: u32 = 2;
const FAILURE: u32 = 3;
const PROGRESS: u32 = 4;

/// Bytes of what was done and of the total.
const PROGRESS_BYTES: usize = 16;

/// Words of memory with which a mailbox holds `messages` messages at once, each of a text of at most
/// `bytes_each` bytes; or of progress, which counts as 16 bytes.
pub const fn words_for(messages: usize, bytes_each: usize) -> usize {
    let bytes = if bytes_each < PROGRESS_BYTES { PROGRESS_BYTES } else { bytes_each };
    messages.saturating_mul(words_of(bytes)).saturating_add(BESIDES)
}

/// Words of one message.
const fn words_of(bytes: usize) -> usize {
    bytes.div_ceil(4).saturating_add(HEAD)
}

/// The words that are used.
const fn usable(words: &[AtomicU32]) -> &[AtomicU32] {
    match words.split_at_checked(MOST_WORDS) {
        Some((words, _)) => words,
        None => words,
    }
}

/// A mailbox over the caller's memory; see the [module](self).
#[derive(Debug)]
pub struct Mailbox<'m> {
    words: &'m [AtomicU32],
}

impl<'m> Mailbox<'m> {
    /// An empty mailbox. Of memory that is smaller than any message it refuses all. At most 256 MiB are used.
    pub fn new(words: &'m mut [AtomicU32]) -> Self {
        for place in words.iter().take(2) {
            place.store(0, Ordering::Relaxed);
        }
        Mailbox { words }
    }

    /// Its two ends. What was sent and not yet received stays in it when they are given up.
    ///
    /// Neither can be had twice:
    ///
    /// ```compile_fail,E0599
    /// # let mut mailbox = toolcore::mailbox::Mailbox::new(&mut []);
    /// let (sender, receiver) = mailbox.split();
    /// let another = sender.clone();
    /// ```
    pub fn split(&mut self) -> (Sender<'_>, Receiver<'_>) {
        (Sender::attach(self.words), Receiver::attach(self.words))
    }
}

/// There is no room for the message now; nothing of it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("the mailbox is full: the message needs {need} words of memory, and there are {have}")]
pub struct Full {
    /// Words of memory with which an empty mailbox takes the message.
    pub need: usize,
    /// Words of memory that the mailbox has. If they are fewer than `need`, the message never fits.
    pub have: usize,
}
impl core::error::Error for Full {}

/// The end that sends: for one context at a time. Never waits.
#[derive(Debug)]
pub struct Sender<'m> {
    words: &'m [AtomicU32],
    /// What stands in [`Ring::end`], which nobody else writes.
    end: usize,
}

impl<'m> Sender<'m> {
    /// The sender of the mailbox in `words`, which were all zero once or of [`Mailbox::new`]. As long as it
    /// lives nothing else sends; see the [module](self).
    pub fn attach(words: &'m [AtomicU32]) -> Self {
        let words = usable(words);
        Sender { words, end: Ring::of(words).map_or(0, |ring| ring.place(ring.end, Ordering::Relaxed)) }
    }

    /// The call is completed with a text.
    pub fn complete(&mut self, ticket: Ticket, at: Instant, text: &str) -> Result<(), Full> {
        self.send(TEXT, ticket, at, text.as_bytes())
    }

    /// The call is completed with a JSON value, which is not looked at here.
    pub fn complete_json(&mut self, ticket: Ticket, at: Instant, json: &str) -> Result<(), Full> {
        self.send(JSON, ticket, at, json.as_bytes())
    }

    /// The call has failed, with what the model is told of it.
    pub fn fail(&mut self, ticket: Ticket, at: Instant, message: &str) -> Result<(), Full> {
        self.send(FAILURE, ticket, at, message.as_bytes())
    }

    /// `done` of `total` is done, in a unit of the tool's.
    pub fn progress(&mut self, ticket: Ticket, at: Instant, done: u64, total: u64) -> Result<(), Full> {
        let mut bytes = [0; PROGRESS_BYTES];
        for (to, from) in bytes.iter_mut().zip(done.to_le_bytes().into_iter().chain(total.to_le_bytes())) {
            *to = from;
        }
        self.send(PROGRESS, ticket, at, &bytes)
    }

    fn send(&mut self, kind: u32, ticket: Ticket, at: Instant, bytes: &[u8]) -> Result<(), Full> {
        let count = words_of(bytes.len());
        let full = Full { need: count.saturating_add(BESIDES), have: self.words.len() };
        let ring = Ring::of(self.words).ok_or(full)?;
        // What the receiver has given back, it has read.
        let start = ring.place(ring.start, Ordering::Acquire);
        if count >= ring.words.len() - ring.distance(start, self.end) {
            return Err(full);
        }
        // It fits, so that it is no longer than `LENGTH`.
        let length = u32::try_from(bytes.len()).map_err(|_| full)?;
        let [ticket_low, ticket_high] = halves(ticket.as_u64());
        let [at_low, at_high] = halves(at.as_millis());
        let head = [kind << LENGTH_BITS | length, ticket_low, ticket_high, at_low, at_high];
        let values = head.into_iter().chain(bytes.chunks(4).map(word_of));
        for (word, value) in ring.starting_at(self.end).zip(values) {
            word.store(value, Ordering::Relaxed);
        }
        // Whoever acquires this place sees all the stores above.
        self.end = ring.after(self.end, count);
        ring.set(ring.end, self.end);
        Ok(())
    }
}

/// The end that receives: for one context at a time. Never waits.
#[derive(Debug)]
pub struct Receiver<'m> {
    words: &'m [AtomicU32],
    /// What stands in [`Ring::start`], which nobody else writes.
    start: usize,
}

impl<'m> Receiver<'m> {
    /// The receiver of the mailbox in `words`, which were all zero once or of [`Mailbox::new`]. As long as it
    /// lives nothing else receives; see the [module](self).
    pub fn attach(words: &'m [AtomicU32]) -> Self {
        let words = usable(words);
        Receiver { words, start: Ring::of(words).map_or(0, |ring| ring.place(ring.start, Ordering::Relaxed)) }
    }

    /// Whether there is nothing to receive: to ask with interrupts disabled, before the core is put to sleep.
    pub fn is_empty(&self) -> bool {
        Ring::of(self.words).is_none_or(|ring| ring.place(ring.end, Ordering::Acquire) == self.start)
    }

    /// The oldest message, which leaves the mailbox; `None` if there is none. Its text stands in `into`; one
    /// that is larger is cut there at a character, and the rest is gone.
    ///
    /// What cannot be a message, which only a program that breaks the rules gets to see, is discarded with
    /// all that came after it, and counts as none.
    pub fn receive<'b>(&mut self, into: &'b mut [u8]) -> Option<Message<'b>> {
        let ring = Ring::of(self.words)?;
        let end = ring.place(ring.end, Ordering::Acquire);
        let there = ring.distance(self.start, end);
        if there == 0 {
            return None;
        }
        let read = Message::read(ring.starting_at(self.start).take(there), there, into);
        let count = read.map_or(there, |(_, count)| count);
        // Whoever acquires this place may write over what was read above.
        self.start = ring.after(self.start, count);
        ring.set(ring.start, self.start);
        read.map(|(message, _)| message)
    }
}

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'b> {
    /// What it says of the call.
    pub kind: MessageKind,
    /// The call that it is about, as the sender said.
    pub ticket: Ticket,
    /// When it was sent, as the sender said.
    pub at: Instant,
    /// The text, or the beginning of one that is larger than the receiver's memory. Empty for progress.
    pub text: &'b str,
    /// The length in bytes of the text as it was sent: more than that of `text` if it was cut.
    pub total: usize,
}

/// What a message says of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// It is completed with a text.
    Text,
    /// It is completed with a JSON value, unchecked.
    Json,
    /// It has failed; the text says why.
    Failure,
    /// It goes on.
    Progress {
        /// How much is done.
        done: u64,
        /// Of how much.
        total: u64,
    },
}

impl<'b> Message<'b> {
    /// The message that begins the `there` words, and how many of them are its own; `None` if none does.
    fn read<'w>(
        words: impl Iterator<Item = &'w AtomicU32>,
        there: usize,
        into: &'b mut [u8],
    ) -> Option<(Self, usize)> {
        let mut words = words.map(|word| word.load(Ordering::Relaxed));
        let first = words.next()?;
        let ticket = Ticket::from_u64(whole(words.next()?, words.next()?));
        let at = Instant::from_millis(whole(words.next()?, words.next()?));
        let length = (first & LENGTH) as usize;
        let count = words_of(length);
        if count > there {
            return None;
        }
        let kind = match first >> LENGTH_BITS {
            TEXT => MessageKind::Text,
            JSON => MessageKind::Json,
            FAILURE => MessageKind::Failure,
            PROGRESS if length == PROGRESS_BYTES => {
                let done = whole(words.next()?, words.next()?);
                let kind = MessageKind::Progress { done, total: whole(words.next()?, words.next()?) };
                return Some((Message { kind, ticket, at, text: "", total: 0 }, count));
            }
            _ => return None,
        };
        let fits = length.min(into.len());
        let into = into.get_mut(..fits)?;
        for (chunk, word) in into.chunks_mut(4).zip(words) {
            for (to, from) in chunk.iter_mut().zip(word.to_le_bytes()) {
                *to = from;
            }
        }
        Some((Message { kind, ticket, at, text: text_of(into), total: length }, count))
    }
}

/// The parts of a mailbox's memory. What stands in them is never trusted to be in range.
struct Ring<'m> {
    /// Where the oldest message begins. Only the receiver writes it.
    start: &'m AtomicU32,
    /// Where the newest message ends. Only the sender writes it.
    end: &'m AtomicU32,
    words: &'m [AtomicU32],
}

impl<'m> Ring<'m> {
    /// `None` if there is no memory for a ring.
    fn of(words: &'m [AtomicU32]) -> Option<Self> {
        let [start, end, words @ ..] = words else { return None };
        (!words.is_empty()).then_some(Ring { start, end, words })
    }

    /// The place that stands in `word`: an index into the ring.
    fn place(&self, word: &AtomicU32, order: Ordering) -> usize {
        let place = word.load(order) as usize;
        if place < self.words.len() { place } else { 0 }
    }

    /// Words from one place to another.
    fn distance(&self, from: usize, to: usize) -> usize {
        if from <= to { to - from } else { self.words.len() - from + to }
    }

    /// Publishes a place, with all that was done before.
    fn set(&self, word: &AtomicU32, place: usize) {
        word.store(u32::try_from(place).unwrap_or(0), Ordering::Release);
    }

    /// The place that is `count` words, at most the whole ring, after another.
    fn after(&self, place: usize, count: usize) -> usize {
        let after = place + count;
        if after < self.words.len() { after } else { after - self.words.len() }
    }

    /// All words of the ring from `place` on, around its end.
    fn starting_at(&self, place: usize) -> impl Iterator<Item = &'m AtomicU32> + use<'m> {
        let (before, after) = self.words.split_at_checked(place).unwrap_or((&[], self.words));
        after.iter().chain(before)
    }
}

/// The low and the high half.
fn halves(number: u64) -> [u32; 2] {
    [(number & 0xFFFF_FFFF) as u32, (number >> 32) as u32]
}

fn whole(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// At most four bytes as a word.
fn word_of(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u32::from_le_bytes(word)
}

/// The bytes as far as they are text.
fn text_of(bytes: &[u8]) -> &str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            core::str::from_utf8(valid).unwrap_or_default()
        }
    }
}
