//! Time as data: instants, durations, deadlines and where the time comes from.
//!
//! The library reads no clock of its own. A [`Clock`] is handed in; only dispatch asks it, and async dispatch
//! waits by a [`Timer`]. Everything
//! else takes an [`Instant`], so that each behaviour can be tested without a sleep.

use core::cell::Cell;
use core::task::Poll;

/// A point in time: milliseconds since an origin that the clock chooses. Never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The instant `millis` milliseconds after the clock's origin.
    pub const fn from_millis(millis: u64) -> Self {
        Instant(millis)
    }

    /// Milliseconds since the clock's origin.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Duration(millis)
    }

    /// The length in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whether it is no time at all, which no timeout may be.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Appends the length in seconds without needless zeros: `0.1`, `2`, `1.25`.
    pub fn write_seconds(self, sink: &mut crate::sink::Sink<'_>) {
        sink.put_u64(self.0 / 1000);
        let mut rest = self.0 % 1000;
        if rest > 0 {
            sink.put_byte(b'.');
            let mut unit = 100;
            while rest > 0 {
                sink.put_u64(rest / unit);
                rest %= unit;
                unit /= 10;
            }
        }
    }
}

/// How long a call that was asked to end has time for it where nothing else is said: 1 s.
pub const GRACE: Duration = Duration::from_millis(1000);

/// Where the time comes from.
pub trait Clock {
    /// The time now. Must never be earlier than what it returned before.
    fn now(&self) -> Instant;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Instant {
        (**self).now()
    }
}

/// A clock that async code can wait by.
pub trait Timer: Clock {
    /// Is ready once [`Clock::now`] is `at` or later, never before, and wakes its task then. To drop it ends
    /// the wait. Write `async fn until` where that is enough.
    fn until(&self, at: Instant) -> impl Future<Output = ()>;
}

impl<T: Timer + ?Sized> Timer for &T {
    fn until(&self, at: Instant) -> impl Future<Output = ()> {
        (**self).until(at)
    }
}

/// When something must have ended: an instant, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No bound.
    pub const NEVER: Deadline = Deadline(None);

    /// At `instant`.
    pub const fn at(instant: Instant) -> Self {
        Deadline(Some(instant))
    }

    /// `timeout` after `now`; no bound if that is further than the clock can count.
    pub const fn after(now: Instant, timeout: Duration) -> Self {
        match now.0.checked_add(timeout.0) {
            Some(at) => Deadline(Some(Instant(at))),
            None => Deadline(None),
        }
    }

    /// The instant, or `None` if there is no bound.
    pub const fn instant(self) -> Option<Instant> {
        self.0
    }

    /// Whether `now` is past the deadline. Work that ends exactly at its deadline is in time.
    pub fn passed(self, now: Instant) -> bool {
        self.0.is_some_and(|at| now > at)
    }

    /// What is left: `None` without a bound, zero once the deadline is reached.
    pub fn left(self, now: Instant) -> Option<Duration> {
        self.0.map(|at| at.since(now))
    }
}

/// A clock that moves only when told: for tests, simulations and replays.
#[derive(Debug, Default)]
pub struct ManualClock(Cell<u64>);

impl ManualClock {
    /// A clock that stands at `start`.
    pub const fn new(start: Instant) -> Self {
        ManualClock(Cell::new(start.0))
    }

    /// Moves forward by `by`.
    pub fn advance(&self, by: Duration) {
        self.0.set(self.0.get().saturating_add(by.0));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant(self.0.get())
    }
}

/// Makes instants of a millisecond counter of 32 bits that starts again at 0 after 49.7 days, as many systems'
/// tick counters do.
///
/// ```
/// use toolcore::time::WrappingMillis;
/// let mut millis = WrappingMillis::new();
/// assert_eq!(millis.extend(u32::MAX).as_millis(), 0xFFFF_FFFF);
/// assert_eq!(millis.extend(4).as_millis(), 0x1_0000_0004);
/// ```
///
/// It must be asked at least once in 2³¹ ms (24.8 days); a longer silence cannot be told from a counter that
/// stepped back. One that steps back gives the latest instant again until it has caught up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrappingMillis(Option<Instant>);

impl WrappingMillis {
    /// Of a counter that was not read yet. It may stand anywhere: its first value is its first instant.
    pub const fn new() -> Self {
        WrappingMillis(None)
    }

    /// Of a counter that stood at `latest` when it was last read.
    pub const fn resumed(latest: Instant) -> Self {
        WrappingMillis(Some(latest))
    }

    /// The instant at which the counter shows `now`, never earlier than the one before.
    pub const fn extend(&mut self, now: u32) -> Instant {
        let latest = match self.0 {
            Some(Instant(latest)) => {
                let step = now.wrapping_sub((latest & 0xFFFF_FFFF) as u32);
                latest.saturating_add(if step < 1 << 31 { step as u64 } else { 0 })
            }
            None => now as u64,
        };
        self.0 = Some(Instant(latest));
        Instant(latest)
    }
}

/// Nothing tells a future that the clock was moved, so that a task that waits wants to be polled again at once.
impl Timer for ManualClock {
    fn until(&self, at: Instant) -> impl Future<Output = ()> {
        core::future::poll_fn(move |context| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Sink;

    #[test]
    fn seconds_have_no_needless_zeros() {
        for (millis, text) in
            [(0, "0"), (1, "0.001"), (100, "0.1"), (1250, "1.25"), (2000, "2"), (60_010, "60.01")]
        {
            let mut buffer = [0u8; 16];
            let mut sink = Sink::new(&mut buffer);
            Duration::from_millis(millis).write_seconds(&mut sink);
            assert_eq!(sink.finish(), Ok(text));
        }
    }

    #[test]
    fn a_deadline_is_passed_only_after_it() {
        let clock = ManualClock::new(Instant::from_millis(5));
        let deadline = Deadline::after(clock.now(), Duration::from_millis(10));
        clock.advance(Duration::from_millis(10));
        assert!(!deadline.passed(clock.now()));
        assert_eq!(deadline.left(clock.now()), Some(Duration::from_millis(0)));
        clock.advance(Duration::from_millis(1));
        assert!(deadline.passed(clock.now()));
        assert!(!Deadline::NEVER.passed(clock.now()));
        assert_eq!(Deadline::after(clock.now(), Duration::from_millis(u64::MAX)), Deadline::NEVER);
    }

    #[test]
    fn a_clock_that_steps_back_leaves_a_deadline_where_it_is() {
        let deadline = Deadline::after(Instant::from_millis(1000), Duration::from_millis(10));
        assert!(deadline.passed(Instant::from_millis(1011)));
        let before = Instant::from_millis(3);
        assert!(!deadline.passed(before));
        assert_eq!(deadline.left(before), Some(Duration::from_millis(1007)));
        assert_eq!(before.since(Instant::from_millis(1000)), Duration::from_millis(0));
        assert_eq!(deadline.left(Instant::from_millis(u64::MAX)), Some(Duration::from_millis(0)));
    }

    #[test]
    fn deadlines_near_the_end_of_time_neither_wrap_nor_bind_too_early() {
        let last = Instant::from_millis(u64::MAX);
        let near = Instant::from_millis(u64::MAX - 5);
        let at_the_end = Deadline::after(near, Duration::from_millis(5));
        assert_eq!(at_the_end.instant(), Some(last));
        assert!(!at_the_end.passed(last));
        assert_eq!(at_the_end.left(Instant::default()), Some(Duration::from_millis(u64::MAX)));
        assert_eq!(Deadline::after(near, Duration::from_millis(6)), Deadline::NEVER);
        assert_eq!(Deadline::after(last, Duration::from_millis(1)), Deadline::NEVER);
        assert!(Deadline::after(near, Duration::from_millis(4)).passed(last));
        assert_eq!(Deadline::NEVER.left(last), None);
        let clock = ManualClock::new(near);
        clock.advance(Duration::from_millis(u64::MAX));
        assert_eq!(clock.now(), last);
    }

    /// What the counter's values are extended to.
    fn extended<const N: usize>(counter: [u32; N]) -> [u64; N] {
        let mut millis = WrappingMillis::new();
        counter.map(|now| millis.extend(now).as_millis())
    }

    #[test]
    fn a_counter_that_wraps_goes_on() {
        assert_eq!(extended([0, 7, 7, 0x8000_0006]), [0, 7, 7, 0x8000_0006]);
        assert_eq!(
            extended([0xC000_0000, 0, 0x4000_0000, 0x8000_0000, 0xC000_0000, 1]),
            [0xC000_0000, 0x1_0000_0000, 0x1_4000_0000, 0x1_8000_0000, 0x1_C000_0000, 0x2_0000_0001]
        );
    }

    #[test]
    fn a_counter_that_starts_near_the_wrap_begins_there() {
        assert_eq!(extended([u32::MAX, u32::MAX, 0, 1]), [0xFFFF_FFFF, 0xFFFF_FFFF, 1 << 32, (1 << 32) + 1]);
    }

    #[test]
    fn a_counter_that_steps_back_stands_still_until_it_has_caught_up() {
        assert_eq!(extended([100, 90, 99, 100, 101]), [100, 100, 100, 100, 101]);
        // Back over the wrap, and by no more than half of its range.
        let latest = (1 << 32) + 2;
        assert_eq!(extended([0xFFFF_FFF0, 2, u32::MAX, 1, 3])[1..], [latest, latest, latest, latest + 1]);
        assert_eq!(extended([0x8000_0000, 0, 0x8000_0001]), [0x8000_0000, 0x8000_0000, 0x8000_0001]);
    }

    #[test]
    fn a_counter_at_the_end_of_time_stays_there() {
        let mut millis = WrappingMillis(Some(Instant::from_millis(u64::MAX)));
        assert_eq!(millis.extend(4).as_millis(), u64::MAX);
    }
}
