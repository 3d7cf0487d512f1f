//! The hand-over of calls to worker threads in every order in which threads can run. The command for it:
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" cargo test -p toolcore --test handover_loom --release --target-dir target/loom
//! ```
//!
//! Loom knows no time: whoever waits until an instant that has passed gives up in any state in which the job
//! may be, which is what a deadline does. A thread that nobody wakes again is a deadlock, which loom reports,
//! so that each test that ends shows that nobody hangs.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

#[allow(dead_code, unreachable_pub)] // the library's own file, made of loom's locks
#[path = "../src/system/handover.rs"]
mod handover;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use handover::{Ended, Handover, Id};
use loom::thread;

/// Ran, and was dropped.
#[derive(Default)]
struct Fate {
    ran: AtomicU32,
    dropped: AtomicU32,
}

/// A job as it is handed over, with what stands for its tool's closure.
struct Job(Arc<Fate>);

impl Job {
    fn new() -> (Job, Arc<Fate>) {
        let fate = Arc::new(Fate::default());
        (Job(Arc::clone(&fate)), fate)
    }

    fn run(self) -> Answer {
        self.0.ran.fetch_add(1, Ordering::Relaxed);
        Answer
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Answer;

type Pool = Arc<Handover<u8, Job, Answer>>;

/// What every worker of a pool does.
fn work(pool: &Pool, worker: usize) {
    while let Some(job) = pool.take(worker) {
        let answer = job.run();
        pool.finish(worker, answer);
    }
}

/// Hands a job over, and starts the worker that it needs.
fn hand_over(pool: &Pool, ticket: Option<u8>) -> (Id<u8>, Arc<Fate>, Option<thread::JoinHandle<()>>) {
    let (job, fate) = Job::new();
    let queued = pool.queue(ticket, job).unwrap_or_else(|_| panic!("stopped"));
    let worker = queued.start.map(|worker| {
        let pool = Arc::clone(pool);
        thread::spawn(move || work(&pool, worker))
    });
    (queued.id, fate, worker)
}

/// How often the job ran; it must have been dropped once.
fn ran(fate: &Fate) -> u32 {
    assert_eq!(fate.dropped.load(Ordering::Relaxed), 1, "a job is dropped once");
    fate.ran.load(Ordering::Relaxed)
}

/// Every order there is.
const ALL: Option<usize> = None;
/// Every order in which a thread is put aside at most so often while it could go on; all there are take
/// minutes.
const MOST: Option<usize> = Some(4);

/// Runs the model with a pool of at most `max` workers in these orders, and collects what it returns.
fn every<T: Ord + Send + 'static>(
    orders: Option<usize>,
    max: usize,
    model: impl Fn(Pool) -> T + Send + Sync + 'static,
) -> BTreeSet<T> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let seeing = Arc::clone(&seen);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = orders;
    builder.check(move || {
        let what = model(Arc::new(Handover::new(max)));
        seeing.lock().unwrap().insert(what);
    });
    std::mem::take(&mut *seen.lock().unwrap())
}

fn join(workers: impl IntoIterator<Item = Option<thread::JoinHandle<()>>>) {
    for worker in workers.into_iter().flatten() {
        worker.join().unwrap();
    }
}

#[test]
fn a_job_with_a_deadline_is_delivered_or_given_up() {
    let seen = every(ALL, 1, |pool| {
        let (id, fate, worker) = hand_over(&pool, None);
        let delivered = match pool.wait(id, Some(Instant::now())) {
            Ended::Answered(Answer) => true,
            Ended::GivenUp => false,
            Ended::Stopped => panic!("nothing was stopped"),
        };
        let abandoned = pool.stats().abandoned_total;
        pool.stop();
        join([worker]);
        assert_eq!(pool.receive(), None);
        assert_eq!(pool.wait(id, None), Ended::Stopped, "no answer is left");
        (delivered, abandoned, ran(&fate))
    });
    // Delivered; given up while it runs; given up in the queue.
    assert_eq!(seen, BTreeSet::from([(true, 0, 1), (false, 1, 1), (false, 0, 0)]));
}

#[test]
fn one_that_another_thread_gives_up_is_delivered_or_given_up_and_its_caller_is_told() {
    let seen = every(ALL, 1, |pool| {
        let (id, fate, worker) = hand_over(&pool, None);
        let other = Arc::clone(&pool);
        let other = thread::spawn(move || other.give_up(id));
        let delivered = pool.wait(id, None) == Ended::Answered(Answer);
        other.join().unwrap();
        let abandoned = pool.stats().abandoned_total;
        pool.stop();
        join([worker]);
        (delivered, abandoned, ran(&fate))
    });
    assert_eq!(seen, BTreeSet::from([(true, 0, 1), (false, 1, 1), (false, 0, 0)]));
}

#[test]
fn a_ticket_is_received_once_with_an_answer_or_given_up() {
    let seen = every(ALL, 1, |pool| {
        let (id, fate, worker) = hand_over(&pool, Some(7));
        pool.give_up(id);
        let abandoned = pool.stats().abandoned_total;
        assert!(pool.wait_for_inbox(None));
        let (ticket, answer) = pool.receive().unwrap();
        assert_eq!(ticket, 7);
        pool.give_up(id);
        pool.stop();
        join([worker]);
        assert_eq!(pool.receive(), None);
        (answer.is_some(), abandoned, ran(&fate))
    });
    assert_eq!(seen, BTreeSet::from([(true, 0, 1), (false, 1, 1), (false, 0, 0)]));
}

#[test]
fn two_jobs_run_on_one_worker_or_on_two_and_both_are_answered() {
    for max in [1, 2] {
        let seen = every(MOST, max, |pool| {
            let (first, first_fate, first_worker) = hand_over(&pool, None);
            let (second, second_fate, second_worker) = hand_over(&pool, None);
            let workers = 1 + usize::from(second_worker.is_some());
            assert_eq!(pool.wait(second, None), Ended::Answered(Answer));
            assert_eq!(pool.wait(first, None), Ended::Answered(Answer));
            pool.stop();
            join([first_worker, second_worker]);
            assert_eq!((ran(&first_fate), ran(&second_fate)), (1, 1));
            workers
        });
        // The first worker may sleep by the time the second job comes only if it has done the first.
        assert_eq!(seen, if max == 1 { BTreeSet::from([1]) } else { BTreeSet::from([1, 2]) });
    }
}

#[test]
fn two_callers_of_one_worker_are_both_answered() {
    every(MOST, 1, |pool| {
        let caller = Arc::clone(&pool);
        let caller = thread::spawn(move || {
            let (id, fate, worker) = hand_over(&caller, None);
            assert_eq!(caller.wait(id, None), Ended::Answered(Answer));
            (fate, worker)
        });
        let (id, fate, worker) = hand_over(&pool, None);
        assert_eq!(pool.wait(id, None), Ended::Answered(Answer));
        let (other_fate, other_worker) = caller.join().unwrap();
        assert!(worker.is_some() != other_worker.is_some(), "one worker is started");
        pool.stop();
        join([worker, other_worker]);
        assert_eq!((ran(&fate), ran(&other_fate)), (1, 1));
    });
}

#[test]
fn a_sleeping_worker_is_promised_to_one_job_only() {
    let seen = every(MOST, 2, |pool| {
        let (first, _, worker) = hand_over(&pool, None);
        assert_eq!(pool.wait(first, None), Ended::Answered(Answer));
        let (second, fate, other) = hand_over(&pool, None);
        let (third, _, another) = hand_over(&pool, None);
        let started = (other.is_some(), another.is_some());
        if started == (false, false) {
            assert_eq!(fate.ran.load(Ordering::Relaxed), 1, "the third waits while there could be a worker");
        }
        assert_eq!(pool.wait(second, None), Ended::Answered(Answer));
        assert_eq!(pool.wait(third, None), Ended::Answered(Answer));
        pool.stop();
        join([worker, other, another]);
        started
    });
    assert_eq!(seen, BTreeSet::from([(false, false), (false, true), (true, false)]));
}

#[test]
fn a_stop_ends_every_worker_and_whoever_waits() {
    let seen = every(ALL, 1, |pool| {
        let (waited, waited_fate, worker) = hand_over(&pool, None);
        let (_, ticket_fate, none) = hand_over(&pool, Some(7));
        assert!(none.is_none());
        let stopper = Arc::clone(&pool);
        let stopper = thread::spawn(move || stopper.stop().len());
        let ended = pool.wait(waited, None);
        let busy = stopper.join().unwrap();
        join([worker]);
        assert!(pool.queue(None, Job::new().0).is_err());
        let received = pool.receive().map(|(_, answer)| answer.is_some());
        assert_eq!(pool.receive(), None);
        let (waited_ran, ticket_ran) = (ran(&waited_fate), ran(&ticket_fate));
        assert_eq!(ended, if waited_ran == 1 { Ended::Answered(Answer) } else { Ended::Stopped });
        assert_eq!(received.is_some(), ticket_ran == 1, "what ran is received and nothing else");
        if received == Some(false) {
            assert_eq!(pool.stats().abandoned_total, 1);
        }
        (waited_ran, ticket_ran, received, busy)
    });
    let expected =
        [(0, 0, None, 0), (1, 0, None, 1), (1, 0, None, 0), (1, 1, Some(false), 1), (1, 1, Some(true), 0)];
    assert_eq!(seen, BTreeSet::from(expected));
}

#[test]
fn a_worker_that_cannot_be_started_gives_its_job_back_or_another_worker_has_it() {
    let seen = every(ALL, 2, |pool| {
        let (first, first_fate, worker) = hand_over(&pool, None);
        let (job, fate) = Job::new();
        let queued = pool.queue(None, job).unwrap_or_else(|_| panic!("stopped"));
        let back = queued.start.and_then(|_| pool.not_started(queued.id)).is_some();
        if !back {
            assert_eq!(pool.wait(queued.id, None), Ended::Answered(Answer));
        }
        assert_eq!(pool.wait(first, None), Ended::Answered(Answer));
        pool.stop();
        join([worker]);
        assert_eq!(ran(&first_fate), 1);
        (back, ran(&fate))
    });
    assert_eq!(seen, BTreeSet::from([(true, 0), (false, 1)]));
}
