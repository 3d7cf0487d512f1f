//! Random schedules of turns: hosts that poll, cancel, finish and leave, tools that answer, fail, report and are removed,
//! tickets that come late, twice or from nowhere, clocks that jump. Each call has one result, each is told as settled
//! once, results stand in order, counters agree, no slot is lost, and each tool is dropped once.
//!
//! The schedules and the model that they are held to are those of the fuzz target `turn_schedule`
//! (`tests/fuzz/src/schedule`). Each schedule depends only on the seed and its own number:
//!
//! | environment variable | meaning |
//! |---|---|
//! | `TOOLCORE_SCHEDULE_EVENTS` | how many steps at the least; by default few enough for a debug build |
//! | `TOOLCORE_SCHEDULE_SEED` | where the random numbers start |
//! | `TOOLCORE_SCHEDULE_ONLY` | run this one schedule only |
#![cfg(feature = "dialects")]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(clippy::cast_possible_truncation, reason = "random numbers are cut to size")]

#[allow(unreachable_pub, reason = "part of a crate of its own elsewhere")]
#[path = "../../tests/fuzz/src/schedule/mod.rs"]
mod schedule;

#[test]
fn each_call_has_one_result_whatever_the_schedule() {
    let least = variable("TOOLCORE_SCHEDULE_EVENTS").unwrap_or(50_000);
    let seed = variable("TOOLCORE_SCHEDULE_SEED").unwrap_or(0x746F_6F6C);
    let only = variable("TOOLCORE_SCHEDULE_ONLY");
    let (mut events, mut schedules) = (0, 0);
    for number in only.unwrap_or(0).. {
        let input = bytes(seed, number);
        let told = OnPanic { seed, number };
        let ran = schedule::run(&input);
        assert_eq!(schedule::run(&input), ran, "the same schedule, and not the same bytes");
        drop(told);
        (events, schedules) = (events + ran.events, schedules + 1);
        if events >= least || only.is_some() {
            break;
        }
    }
    println!("{events} events in {schedules} schedules, seed {seed}");
}

/// A schedule of up to some thousand bytes.
fn bytes(seed: u64, number: u64) -> Vec<u8> {
    // Marsaglia's xorshift64*; an odd factor keeps schedules apart, and a state of zero would stay zero.
    let mut state = (seed ^ (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).max(1);
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    };
    let len = next() % 4096;
    (0..len).map(|_| next() as u8).collect()
}

/// Says how to repeat the schedule that is unwinding.
struct OnPanic {
    seed: u64,
    number: u64,
}

impl Drop for OnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let OnPanic { seed, number } = self;
            eprintln!("repeat with TOOLCORE_SCHEDULE_SEED={seed} TOOLCORE_SCHEDULE_ONLY={number}");
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}
