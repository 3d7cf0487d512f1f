//! By a driver as firmware has it, of 32,768 ticks a second: a millisecond is not a whole number of them.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use embassy_time_driver::{Driver, TICK_HZ};
use toolcore::embassy::EmbassyClock;
use toolcore::time::{Clock, Instant, Timer};

/// Stands at a tick, and wakes nobody: the tests poll at every one.
struct Ticks(AtomicU64);

impl Driver for Ticks {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    fn schedule_wake(&self, _: u64, _: &Waker) {}
}

embassy_time_driver::time_driver_impl!(static TICKS: Ticks = Ticks(AtomicU64::new(0)));

#[test]
fn a_wait_ends_at_the_first_tick_at_which_the_clock_shows_its_instant() {
    assert_eq!(TICK_HZ, 32_768);
    let mut context = Context::from_waker(Waker::noop());
    for millis in 0..2_000 {
        let at = Instant::from_millis(millis);
        // Two ticks before the millisecond begins: 4,096 ticks are 125 of them.
        let start = (millis * 4_096 / 125).saturating_sub(2);
        TICKS.0.store(start, Ordering::Relaxed);
        let mut wait = pin!(EmbassyClock.until(at));
        // A timer of embassy-time is never ready at its first poll.
        assert!(wait.as_mut().poll(&mut context).is_pending());
        while wait.as_mut().poll(&mut context).is_pending() {
            assert!(EmbassyClock.now() < at, "it waits at {:?} for {at:?}", EmbassyClock.now());
            TICKS.0.fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!(EmbassyClock.now(), at);
    }
}

#[test]
fn an_instant_beyond_the_counter_never_comes() {
    for millis in [u64::MAX, u64::MAX / 4_096 + 1] {
        let mut wait = pin!(EmbassyClock.until(Instant::from_millis(millis)));
        for _ in 0..3 {
            assert_eq!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
        }
    }
}
