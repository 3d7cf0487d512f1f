//! A clock and timer over embassy-time (feature `embassy`).
//!
//! embassy-time wants exactly one time driver at link time; the firmware supplies it, so this feature is
//! never part of the default C library.

use embassy_time::Duration;

use crate::time::{Clock, Instant, Timer};

/// The time since boot, by the firmware's embassy-time driver.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbassyClock;

impl Clock for EmbassyClock {
    fn now(&self) -> Instant {
        Instant::from_millis(embassy_time::Instant::now().as_millis())
    }
}

impl Timer for EmbassyClock {
    async fn until(&self, at: Instant) {
        match first_tick(at) {
            Some(at) => embassy_time::Timer::at(at).await,
            None => core::future::pending().await,
        }
    }
}

/// The tick at which the clock begins to show `at`, or `None` if it never will. embassy-time rounds down both
/// ways, so that where a millisecond is not a whole number of ticks, the tick of `at` still shows what is before.
fn first_tick(at: Instant) -> Option<embassy_time::Instant> {
    let tick = embassy_time::Instant::try_from_millis(at.as_millis())?;
    if tick.as_millis() < at.as_millis() { tick.checked_add(Duration::from_ticks(1)) } else { Some(tick) }
}
