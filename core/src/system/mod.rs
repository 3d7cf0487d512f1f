//! The operating system's monotonic clock, and a timer by it (feature `std`).

mod timer;

use std::time;

use crate::time::{Clock, Instant};

pub use timer::SystemTimer;

/// Milliseconds since the clock was made, by the system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(time::Instant);

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        SystemClock(time::Instant::now())
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::from_millis(u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}
