//! The operating system's monotonic clock, a timer by it, and worker threads for tools that block (feature `std`).

mod handover;
mod timer;
mod workers;

use std::time;

use crate::time::{Clock, Instant};
pub use handover::WorkerStats;
pub use workers::{ABANDONED_WARNING, AbandonedWarning, WorkerOptions, WorkerTool, Workers};

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

#[cfg(test)]
mod tests;
