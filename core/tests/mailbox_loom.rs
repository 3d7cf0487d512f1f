//! The mailbox in every order in which a thread that sends and one that receives can run, with every value
//! that the orderings of their loads and stores allow to be read. The command for it:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test -p toolcore --test mailbox_loom --release --target-dir target/loom
//! ```
//!
//! Nobody waits, so that each order ends: both sides try a number of times, and what is left is received
//! after both have ended. Loom takes a store for independent of another thread's load if the storing thread
//! has loaded the same place since. So nobody here loads what it stores, and each test counts what it has
//! seen.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use loom::sync::atomic::{AtomicU32, Ordering};
use toolcore::call::Ticket;
use toolcore::mailbox::{Receiver, Sender};
use toolcore::time::Instant;

/// The ends of a mailbox for `messages` of six words, the first of which begins at `start` of the ring.
fn mailbox(messages: usize, start: u32) -> (Sender<'static>, Receiver<'static>) {
    let words: Vec<_> =
        (0..2 + 1 + messages * 6).map(|at| AtomicU32::new(if at < 2 { start } else { 0 })).collect();
    // Loom's threads borrow nothing. It makes a new one for each order.
    let words = Vec::leak(words);
    (Sender::attach(words), Receiver::attach(words))
}

/// Sends message `number`, no word of which is in another message. Whether it was taken.
fn send(sender: &mut Sender<'_>, number: u32) -> bool {
    let long = u64::from(number) << 32 | u64::from(number);
    let text = ["0000", "1111", "2222", "3333"][number as usize];
    sender.complete(Ticket::from_u64(long), Instant::from_millis(long), text).is_ok()
}

/// The number of the next message, which must be whole.
fn receive(receiver: &mut Receiver<'_>) -> Option<u32> {
    let mut into = [0; 4];
    let message = receiver.receive(&mut into)?;
    let number = u32::from(message.text.bytes().next().unwrap() - b'0');
    let long = u64::from(number) << 32 | u64::from(number);
    assert!(message.text.bytes().all(|byte| u32::from(byte - b'0') == number), "torn: {message:?}");
    assert_eq!((message.ticket.as_u64(), message.at.as_millis(), message.total), (long, long, 4), "torn");
    Some(number)
}

/// Runs the model in every order, and collects what it returns.
fn every<T: Ord + Send + 'static>(model: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let seeing = Arc::clone(&seen);
    loom::model(move || {
        let what = model();
        seeing.lock().unwrap().insert(what);
    });
    std::mem::take(&mut *seen.lock().unwrap())
}

/// One thread sends messages 1, 2 and 3, each once; this one receives up to three times meanwhile, and then
/// all that is left. What was taken must arrive. Of each order: how many were taken, and received meanwhile.
fn three_messages(room: usize, start: u32) -> BTreeSet<(usize, usize)> {
    every(move || {
        let (mut sender, mut receiver) = mailbox(room, start);
        let sender = loom::thread::spawn(move || {
            (1..=3).filter(|number| send(&mut sender, *number)).collect::<Vec<u32>>()
        });
        let mut received: Vec<u32> = (0..3).filter_map(|_| receive(&mut receiver)).collect();
        let meanwhile = received.len();
        let taken = sender.join().unwrap();
        received.extend(std::iter::from_fn(|| receive(&mut receiver)));
        assert_eq!(received, taken);
        (taken.len(), meanwhile)
    })
}

#[test]
fn three_messages_around_the_end_of_a_ring_for_one_arrive_or_are_refused_whole() {
    // A message is taken only when the one before it was received.
    let seen = three_messages(1, 4);
    assert_eq!(seen, BTreeSet::from([(1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]));
}

#[test]
fn three_messages_around_the_end_of_a_ring_for_two_arrive_or_are_refused_whole() {
    let seen = three_messages(2, 9);
    assert_eq!(seen, BTreeSet::from([(2, 0), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]));
}

#[test]
fn what_the_sender_did_before_it_sent_has_happened_for_the_receiver() {
    let seen = every(|| {
        let (mut sender, mut receiver) = mailbox(1, 4);
        let done: &AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
        let sender = loom::thread::spawn(move || {
            done.store(1, Ordering::Relaxed);
            assert!(send(&mut sender, 1));
        });
        let received = receive(&mut receiver).map(|_| done.load(Ordering::Relaxed));
        sender.join().unwrap();
        received
    });
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
}

#[test]
fn what_the_receiver_did_before_it_received_has_happened_for_a_sender_that_fills_the_place() {
    let seen = every(|| {
        let (mut sender, mut receiver) = mailbox(1, 4);
        assert!(send(&mut sender, 1));
        let done: &AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
        let sender = loom::thread::spawn(move || send(&mut sender, 2).then(|| done.load(Ordering::Relaxed)));
        done.store(1, Ordering::Relaxed);
        assert_eq!(receive(&mut receiver), Some(1));
        sender.join().unwrap()
    });
    assert_eq!(seen, BTreeSet::from([None, Some(1)]));
}
