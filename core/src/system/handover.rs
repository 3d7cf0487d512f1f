//! How calls are handed to worker threads and their answers back.
//!
//! One lock guards a queue, the calls that run, and the answers. It promises, whatever the order of events
//! (core/tests/handover_loom.rs tries each):
//!
//! - a job runs at most once, and one that is given up while it is queued never does;
//! - whoever waits for an answer gets it, or is told that the job was given up or that all was stopped;
//! - each ticket comes out of the inbox once, with the answer, or without one if it was given up: then it
//!   says that the job has ended or never began;
//! - stopping waits for nobody.
//!
//! Nothing of a job or an answer runs or is dropped under the lock, so that it is never poisoned, and a tool
//! may use the pool that runs it.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use std::vec::Vec;

#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

/// Jobs `J` that are answered by `D`, under tickets `K` or with someone who waits.
pub(super) struct Handover<K, J, D> {
    state: Mutex<State<K, J, D>>,
    /// Something is queued, or all stops.
    work: Condvar,
    /// Something is answered or given up, or all stops.
    ended: Condvar,
    /// The most workers.
    max: usize,
}

struct State<K, J, D> {
    /// The number of the next job that is waited for.
    next: u64,
    queue: VecDeque<(Id<K>, J)>,
    running: Vec<Running<K>>,
    /// For those who wait.
    answers: Vec<(Id<K>, D)>,
    /// For who asks.
    inbox: VecDeque<(K, Option<D>)>,
    workers: usize,
    /// Of the workers, those that sleep.
    idle: usize,
    /// The number of the next worker.
    next_worker: usize,
    abandoned_total: u64,
    stopped: bool,
    /// Who waits for the inbox is to look elsewhere.
    woken: bool,
}

/// A job that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id<K> {
    /// Someone waits for it.
    Waited(u64),
    /// Its answer goes to the inbox.
    Ticket(K),
}

struct Running<K> {
    id: Id<K>,
    worker: usize,
    abandoned: bool,
}

/// What a job that was queued needs.
pub(super) struct Queued<K> {
    pub(super) id: Id<K>,
    /// The number of a worker to start for it: the caller calls [`Handover::take`] with it on a new thread,
    /// or says that there is none ([`Handover::not_started`]).
    pub(super) start: Option<usize>,
}

/// What comes of waiting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended<D> {
    Answered(D),
    /// In time there was no answer, and now it is discarded.
    GivenUp,
    /// All was stopped before the job began.
    Stopped,
}

/// How a pool fares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerStats {
    /// Calls that run, abandoned ones among them.
    pub running: usize,
    /// Threads that have nothing to do.
    pub idle: usize,
    /// Calls that wait for a thread.
    pub queued: usize,
    /// Calls that were abandoned and still run.
    pub abandoned: usize,
    /// Calls that were abandoned since the pool was made.
    pub abandoned_total: u64,
}

impl<K: Copy + PartialEq, J, D> Handover<K, J, D> {
    pub(super) fn new(max: usize) -> Self {
        Handover {
            state: Mutex::new(State {
                next: 0,
                queue: VecDeque::new(),
                running: Vec::new(),
                answers: Vec::new(),
                inbox: VecDeque::new(),
                workers: 0,
                idle: 0,
                next_worker: 0,
                abandoned_total: 0,
                stopped: false,
                woken: false,
            }),
            work: Condvar::new(),
            ended: Condvar::new(),
            max,
        }
    }

    /// Queues a job, which is given back if all was stopped.
    pub(super) fn queue(&self, ticket: Option<K>, job: J) -> Result<Queued<K>, J> {
        let mut state = self.lock();
        if state.stopped {
            return Err(job);
        }
        let id = ticket.map_or(Id::Waited(state.next), Id::Ticket);
        state.next += 1;
        // Sleepers that jobs of the queue were not promised to.
        let free = state.idle > state.queue.len();
        state.queue.push_back((id, job));
        let start = (!free && state.workers < self.max).then_some(state.next_worker);
        if start.is_some() {
            state.workers += 1;
            state.next_worker += 1;
        }
        self.work.notify_one();
        Ok(Queued { id, start })
    }

    /// The worker that was asked for could not be started; gives the job back if no other has taken it.
    pub(super) fn not_started(&self, id: Id<K>) -> Option<J> {
        let mut state = self.lock();
        state.workers -= 1;
        state.unqueue(id)
    }

    /// The next job for a worker, as soon as there is one; `None` once all is stopped, and the worker ends.
    pub(super) fn take(&self, worker: usize) -> Option<J> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                state.workers -= 1;
                return None;
            }
            if let Some((id, job)) = state.queue.pop_front() {
                state.running.push(Running { id, worker, abandoned: false });
                return Some(job);
            }
            state.idle += 1;
            state = sleep(&self.work, state, None);
            state.idle -= 1;
        }
    }

    /// The job that this worker took has ended.
    pub(super) fn finish(&self, worker: usize, answer: D) {
        let mut answer = Some(answer);
        let mut state = self.lock();
        let Some(at) = state.running.iter().position(|running| running.worker == worker) else { return };
        let Running { id, abandoned, .. } = state.running.swap_remove(at);
        match id {
            Id::Ticket(ticket) => {
                let kept = if abandoned { None } else { answer.take() };
                state.inbox.push_back((ticket, kept));
            }
            Id::Waited(_) if abandoned => {}
            Id::Waited(_) => state.answers.extend(answer.take().map(|answer| (id, answer))),
        }
        drop(state);
        self.ended.notify_all();
    }

    /// Waits for the answer of a job until `until`, then gives the job up.
    pub(super) fn wait(&self, id: Id<K>, until: Option<Instant>) -> Ended<D> {
        let mut state = self.lock();
        loop {
            if let Some(at) = state.answers.iter().position(|(answered, _)| *answered == id) {
                return Ended::Answered(state.answers.swap_remove(at).1);
            }
            if !state.awaits(id) {
                return if state.stopped { Ended::Stopped } else { Ended::GivenUp };
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                let unqueued = state.give_up(id);
                drop(state);
                drop(unqueued);
                return Ended::GivenUp;
            }
            state = sleep(&self.ended, state, left);
        }
    }

    /// Gives a job up, if it has not ended; says whether it runs on.
    pub(super) fn give_up(&self, id: Id<K>) -> bool {
        let (runs, unqueued) = {
            let mut state = self.lock();
            let runs = state.runs(id);
            (runs, state.give_up(id))
        };
        self.ended.notify_all();
        drop(unqueued);
        runs
    }

    /// The next of the inbox: a ticket, and its answer if it was not given up.
    pub(super) fn receive(&self) -> Option<(K, Option<D>)> {
        self.lock().inbox.pop_front()
    }

    /// Waits until there is something in the inbox, at most until `until`; says whether there is.
    pub(super) fn wait_for_inbox(&self, until: Option<Instant>) -> bool {
        let mut state = self.lock();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let woken = core::mem::take(&mut state.woken);
            if !state.inbox.is_empty() || woken || state.stopped || left.is_some_and(|left| left.is_zero()) {
                return !state.inbox.is_empty();
            }
            state = sleep(&self.ended, state, left);
        }
    }

    /// Ends a wait for the inbox, or the next one.
    pub(super) fn wake(&self) {
        self.lock().woken = true;
        self.ended.notify_all();
    }

    /// Stops all: nothing that is queued runs, and what runs under a ticket is given up. Gives the workers
    /// that still run a job; all others end now.
    pub(super) fn stop(&self) -> Vec<usize> {
        let mut state = self.lock();
        state.stopped = true;
        let unqueued = core::mem::take(&mut state.queue);
        state.abandon(|id| matches!(id, Id::Ticket(_)));
        let busy = state.running.iter().map(|running| running.worker).collect();
        drop(state);
        self.work.notify_all();
        self.ended.notify_all();
        drop(unqueued);
        busy
    }

    pub(super) fn stats(&self) -> WorkerStats {
        let state = self.lock();
        WorkerStats {
            running: state.running.len(),
            idle: state.idle,
            queued: state.queue.len(),
            abandoned: state.running.iter().filter(|running| running.abandoned).count(),
            abandoned_total: state.abandoned_total,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<K, J, D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + PartialEq, J, D> State<K, J, D> {
    /// Whether a job is queued or runs for someone.
    fn awaits(&self, id: Id<K>) -> bool {
        self.queue.iter().any(|(queued, _)| *queued == id) || self.runs(id)
    }

    /// Whether it runs, and was not given up.
    fn runs(&self, id: Id<K>) -> bool {
        self.running.iter().any(|running| running.id == id && !running.abandoned)
    }

    /// Gives a job up; one that was queued comes back, to be dropped without the lock.
    fn give_up(&mut self, id: Id<K>) -> Option<J> {
        let unqueued = self.unqueue(id);
        match (&unqueued, id) {
            (Some(_), Id::Ticket(ticket)) => self.inbox.push_back((ticket, None)),
            (Some(_), Id::Waited(_)) => {}
            (None, _) => self.abandon(|running| running == id),
        }
        unqueued
    }

    fn unqueue(&mut self, id: Id<K>) -> Option<J> {
        let at = self.queue.iter().position(|(queued, _)| *queued == id)?;
        self.queue.remove(at).map(|(_, job)| job)
    }

    /// Abandons those of the jobs that run.
    fn abandon(&mut self, these: impl Fn(Id<K>) -> bool) {
        for running in self.running.iter_mut().filter(|running| !running.abandoned && these(running.id)) {
            running.abandoned = true;
            self.abandoned_total += 1;
        }
    }
}

/// Sleeps until it is woken, at most for `left`, maybe shorter.
fn sleep<'s, T>(condvar: &Condvar, guard: MutexGuard<'s, T>, left: Option<Duration>) -> MutexGuard<'s, T> {
    match left {
        None => condvar.wait(guard).unwrap_or_else(PoisonError::into_inner),
        Some(left) => condvar.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0,
    }
}
