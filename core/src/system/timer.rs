//! A timer for async code, by one thread that sleeps until the earliest of the waits.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};

use core::pin::Pin;

use super::SystemClock;
use crate::time::{Clock, Instant, Timer};

/// Wakes tasks of any executor by the system's monotonic clock.
///
/// Share one by reference among all calls: it has one thread, which sleeps while nothing is due and ends when
/// the timer is dropped. That thread wakes tasks; no task runs in it.
#[derive(Debug)]
pub struct SystemTimer {
    clock: SystemClock,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    waits: Mutex<Waits>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waits {
    /// By time, and told apart by a number.
    tasks: BTreeMap<(Instant, u64), Waker>,
    /// How many there were so far.
    count: u64,
    ended: bool,
}

impl SystemTimer {
    /// A timer by that clock. Fails if the system gives it no thread.
    pub fn new(clock: SystemClock) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("toolcore-timer".into()).spawn(move || serving.serve(clock))?;
        Ok(SystemTimer { clock, shared, thread: Some(thread) })
    }
}

impl Clock for SystemTimer {
    fn now(&self) -> Instant {
        self.clock.now()
    }
}

impl Timer for SystemTimer {
    fn until(&self, at: Instant) -> impl Future<Output = ()> {
        Until { timer: self, at, number: None }
    }
}

impl Drop for SystemTimer {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_one();
        // A task may own the timer, and end with a waker that this thread drops: then it is not waited for.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            thread.join().ok();
        }
    }
}

impl Shared {
    /// What is kept holds after a panic too: no code of others runs while it is locked.
    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does.
    fn serve(&self, clock: SystemClock) {
        let mut waits = self.lock();
        while !waits.ended {
            let now = clock.now();
            if let Some(first) = waits.tasks.first_entry()
                && first.key().0 <= now
            {
                let waker = first.remove();
                drop(waits);
                waker.wake();
                waits = self.lock();
                continue;
            }
            let next = waits.tasks.first_key_value().map(|((at, _), _)| at.since(now));
            waits = match next {
                Some(left) => {
                    let left = std::time::Duration::from_millis(left.as_millis());
                    let woken = self.changed.wait_timeout(waits, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(waits).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// One wait.
struct Until<'t> {
    timer: &'t SystemTimer,
    at: Instant,
    /// Once it is among the timer's waits.
    number: Option<u64>,
}

impl Future for Until<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.timer.now() >= self.at {
            return Poll::Ready(());
        }
        let (shared, waker) = (&self.timer.shared, context.waker().clone());
        let mut waits = shared.lock();
        let number = self.number.unwrap_or(waits.count);
        if self.number.is_none() {
            waits.count = waits.count.wrapping_add(1);
        }
        let key = (self.at, number);
        let before = waits.tasks.insert(key, waker);
        let is_next =
            before.is_none() && waits.tasks.first_key_value().is_some_and(|(first, _)| *first == key);
        drop(waits);
        if is_next {
            shared.changed.notify_one();
        }
        self.number = Some(number);
        Poll::Pending
    }
}

impl Drop for Until<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.timer.shared.lock().tasks.remove(&(self.at, number));
            drop(waker);
        }
    }
}
