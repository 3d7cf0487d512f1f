//! A clock over embassy-time (feature `embassy`).
//!
//! embassy-time wants exactly one time driver at link time; the firmware supplies it, so this feature is
//! never part of the default C library.

use crate::time::{Clock, Instant};

/// The time since boot, by the firmware's embassy-time driver.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbassyClock;

impl Clock for EmbassyClock {
    fn now(&self) -> Instant {
        Instant::from_millis(embassy_time::Instant::now().as_millis())
    }
}
