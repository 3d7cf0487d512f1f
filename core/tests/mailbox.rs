//! The mailbox by which calls are completed from elsewhere: what is sent arrives, in order and whole, or is
//! refused whole. In every order in which two threads can run: mailbox_loom.rs.
#![cfg(all(feature = "mailbox", not(loom)))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::sync::atomic::{AtomicU32, Ordering};

use toolcore::call::Ticket;
use toolcore::mailbox::{Full, Mailbox, Message, MessageKind, Receiver, Sender, words_for};
use toolcore::time::Instant;

/// Words as they are found, not zero.
fn found(words: usize) -> Vec<AtomicU32> {
    (0..words).map(|_| AtomicU32::new(0xDEAD_BEEF)).collect()
}

fn values(words: &[AtomicU32]) -> Vec<u32> {
    words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
}

fn ticket(number: u64) -> Ticket {
    Ticket::from_u64(number)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A text of `len` bytes with characters of one to four, another for each number.
fn text(number: u64, len: usize) -> String {
    let mut text = String::new();
    for c in format!("{number} aé€😀").chars().cycle() {
        if text.len() + c.len_utf8() > len {
            break;
        }
        text.push(c);
    }
    text.push_str(&"...."[..len - text.len()]);
    text
}

/// Random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 32) as usize % end
    }
}

#[test]
fn every_kind_arrives_as_it_was_sent() {
    let mut words = found(words_for(4, 64));
    let mut mailbox = Mailbox::new(&mut words);
    let (mut sender, receiver) = mailbox.split();
    assert!(receiver.is_empty());
    sender.complete(ticket(1 << 32 | 5), at(u64::MAX), "21 °C").unwrap();
    sender.complete_json(ticket(u64::MAX), at(1 << 32), r#"{"degrees":21}"#).unwrap();
    sender.fail(ticket(2), at(0), "").unwrap();
    sender.progress(ticket(3), at(9), u64::MAX - 1, 1 << 32).unwrap();
    assert!(!receiver.is_empty());
    // What was sent is in the memory, whoever holds its ends.
    let (_, mut receiver) = mailbox.split();
    let progress = MessageKind::Progress { done: u64::MAX - 1, total: 1 << 32 };
    let mut into = [0; 64];
    for (kind, number, millis, text) in [
        (MessageKind::Text, 1 << 32 | 5, u64::MAX, "21 °C"),
        (MessageKind::Json, u64::MAX, 1 << 32, r#"{"degrees":21}"#),
        (MessageKind::Failure, 2, 0, ""),
        (progress, 3, 9, ""),
    ] {
        let message = Message { kind, ticket: ticket(number), at: at(millis), text, total: text.len() };
        assert_eq!(receiver.receive(&mut into), Some(message));
    }
    assert!(receiver.is_empty());
    assert_eq!(receiver.receive(&mut into), None);
}

#[test]
fn words_that_are_zero_are_an_empty_mailbox() {
    static WORDS: [AtomicU32; words_for(2, 16)] = [const { AtomicU32::new(0) }; words_for(2, 16)];
    assert_eq!(Receiver::attach(&WORDS).receive(&mut []), None);
    Sender::attach(&WORDS).fail(ticket(8), at(1), "no sensor").unwrap();
    Sender::attach(&WORDS).progress(ticket(9), at(2), 1, 2).unwrap();
    let mut into = [0; 16];
    assert_eq!(Receiver::attach(&WORDS).receive(&mut into).unwrap().text, "no sensor");
    assert_eq!(Receiver::attach(&WORDS).receive(&mut into).unwrap().ticket, ticket(9));
}

#[test]
fn memory_for_so_many_messages_holds_them_wherever_they_begin_and_refuses_one_more_whole() {
    for (messages, bytes) in [(1, 16), (1, 100), (2, 17), (3, 18), (5, 31), (7, 64)] {
        let words: Vec<AtomicU32> = (0..words_for(messages, bytes)).map(|_| AtomicU32::new(0)).collect();
        let (mut sender, mut receiver) = (Sender::attach(&words), Receiver::attach(&words));
        let full = Full { need: words_for(1, bytes), have: words.len() };
        let mut into = [0; 128];
        for round in 0..words.len() as u64 {
            for number in 0..messages as u64 {
                sender.complete(ticket(number), at(round), &text(number, bytes)).unwrap();
            }
            let before = values(&words);
            assert_eq!(sender.complete(ticket(99), at(round), &text(99, bytes)), Err(full));
            assert_eq!(values(&words), before, "something of it was written");
            for number in 0..messages as u64 {
                let message = receiver.receive(&mut into).unwrap();
                assert_eq!((message.ticket, message.at), (ticket(number), at(round)));
                assert_eq!(message.text, text(number, bytes));
            }
            assert!(receiver.is_empty());
            // Another length, so that the next round begins elsewhere in the ring.
            sender.fail(ticket(0), at(round), "").unwrap();
            assert_eq!(receiver.receive(&mut into).unwrap().kind, MessageKind::Failure);
        }
    }
}

#[test]
fn progress_fits_where_shorter_texts_were_counted_on() {
    let mut words = found(words_for(3, 1));
    let mut mailbox = Mailbox::new(&mut words);
    let (mut sender, _) = mailbox.split();
    for number in 0..3 {
        sender.progress(ticket(number), at(0), 1, 2).unwrap();
    }
    assert!(sender.progress(ticket(3), at(0), 1, 2).is_err());
}

#[test]
fn memory_that_is_too_small_for_a_message_says_what_would_be_enough() {
    for (len, need) in [(0, 8), (1, 9), (4, 9), (5, 10), (100, 33)] {
        for size in 0..need + 2 {
            let mut words = found(size);
            let mut mailbox = Mailbox::new(&mut words);
            let (mut sender, mut receiver) = mailbox.split();
            let sent = sender.complete(ticket(1), at(2), &text(0, len));
            let mut into = [0; 100];
            if size < need {
                assert_eq!(sent, Err(Full { need, have: size }));
                assert!(receiver.is_empty());
                assert_eq!(receiver.receive(&mut into), None);
            } else {
                assert_eq!(sent, Ok(()));
                assert_eq!(receiver.receive(&mut into).unwrap().text, text(0, len));
            }
        }
    }
}

#[test]
fn the_size_of_a_mailbox_that_no_memory_can_hold_does_not_wrap() {
    assert_eq!(words_for(usize::MAX, 16), usize::MAX);
    assert_eq!(words_for(2, usize::MAX), 2 * (usize::MAX / 4 + 1 + 5) + 3);
    assert_eq!(words_for(0, 0), 3);
}

#[test]
fn a_text_larger_than_the_receivers_memory_is_cut_at_a_character() {
    let sent = "aé€😀z";
    // The characters begin at 0, 1, 3, 6 and 10.
    let kept = ["", "a", "a", "aé", "aé", "aé", "aé€", "aé€", "aé€", "aé€", "aé€😀", "aé€😀z"];
    let mut words = found(words_for(2, 16));
    let mut mailbox = Mailbox::new(&mut words);
    let (mut sender, mut receiver) = mailbox.split();
    for (room, kept) in kept.into_iter().enumerate() {
        sender.complete(ticket(1), at(1), sent).unwrap();
        sender.fail(ticket(2), at(2), "next").unwrap();
        let mut into = vec![0; room];
        let message = receiver.receive(&mut into).unwrap();
        assert_eq!((message.text, message.total), (kept, 11), "{room}");
        assert_eq!(receiver.receive(&mut [0; 4]).unwrap().text, "next");
    }
}

#[test]
fn what_a_thread_sends_another_receives_each_once_and_whole_and_in_order() {
    const MESSAGES: u64 = 100_000;
    const LONGEST: usize = 90;
    fn sendable<T: Send>(end: T) -> T {
        end
    }
    /// The message of that number: its kind and its text.
    fn of(number: u64) -> (usize, String) {
        let mut random = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        random.next();
        let kind = random.below(4);
        (kind, if kind == 3 { String::new() } else { text(number, random.below(LONGEST + 1)) })
    }
    // A lost message must not let the other side wait for ever.
    let started = std::time::Instant::now();
    let wait = || {
        assert!(started.elapsed().as_secs() < 60, "one side waits in vain");
        std::thread::yield_now();
    };
    // Room for little more than one of the longest, and for many.
    for size in [words_for(1, LONGEST) + 3, words_for(20, LONGEST)] {
        let mut words = found(size);
        let mut mailbox = Mailbox::new(&mut words);
        let (sender, receiver) = mailbox.split();
        let (mut sender, mut receiver) = (sendable(sender), sendable(receiver));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..MESSAGES {
                    let (kind, text) = of(number);
                    let (ticket, at) = (ticket(number), at(!number));
                    let mut send = || match kind {
                        0 => sender.complete(ticket, at, &text),
                        1 => sender.complete_json(ticket, at, &text),
                        2 => sender.fail(ticket, at, &text),
                        _ => sender.progress(ticket, at, number, number << 32),
                    };
                    while let Err(full) = send() {
                        assert!(full.need <= full.have);
                        wait();
                    }
                }
            });
            let mut into = [0; LONGEST];
            for number in 0..MESSAGES {
                let message = loop {
                    if !receiver.is_empty() {
                        break receiver.receive(&mut into).unwrap();
                    }
                    wait();
                };
                let (kind, text) = of(number);
                let progress = MessageKind::Progress { done: number, total: number << 32 };
                let kind = [MessageKind::Text, MessageKind::Json, MessageKind::Failure, progress][kind];
                let (ticket, at) = (ticket(number), at(!number));
                assert_eq!(message, Message { kind, ticket, at, text: &text, total: text.len() });
            }
            assert!(receiver.is_empty());
        });
    }
}

#[test]
fn whatever_stands_in_the_memory_is_received_within_bounds() {
    let mut random = Random(20);
    let (mut messages, mut cut, mut refused) = (0, 0, 0);
    for _ in 0..20_000 {
        let words: Vec<AtomicU32> = (0..random.below(40)).map(|_| AtomicU32::new(0)).collect();
        for word in &words {
            // Often in the range of places and lengths, often with the kind of a message.
            let (value, small) = ((random.next() >> 32) as u32, (random.next() >> 32) as u32 % 64);
            let kind = (random.next() >> 32) as u32 % 6;
            let value = [value, small, kind << 28 | small][random.below(3)];
            word.store(value, Ordering::Relaxed);
        }
        let (mut sender, mut receiver) = (Sender::attach(&words), Receiver::attach(&words));
        if sender.complete(ticket(1), at(1), "two words").is_err() {
            refused += 1;
        }
        let mut into = [0; 24];
        // Each takes five words at least.
        for left in (0..=words.len() / 5).rev() {
            let Some(message) = receiver.receive(&mut into) else { break };
            assert!(left > 0);
            assert!(message.text.len() <= message.total && message.total <= 4 * words.len());
            messages += 1;
            cut += usize::from(message.text.len() < message.total);
        }
        assert!(receiver.is_empty(), "what cannot be a message is discarded");
    }
    assert!(messages > 1000 && cut > 100 && refused > 1000, "{messages} {cut} {refused}");
}
