//! libtoolcore and the crate `jsonschema` say the same of random schemas of every keyword of both drafts and of
//! instances that nearly fit. What they disagree on is explained in `explained.txt`, or a failure.
//!
//! On the same pairs libtoolcore agrees with itself: in as little memory as it asks for, with steps and work memory
//! that may not be enough, and however an instance is written.
//!
//! Each schema depends only on the seed and its own number, so a failure is repeated alone:
//!
//! | environment variable | meaning |
//! |---|---|
//! | `TOOLCORE_SMOKE_ITERATIONS` | how many pairs; by default few enough for a debug build |
//! | `TOOLCORE_SMOKE_SEED` | where the random numbers start |
//! | `TOOLCORE_SMOKE_ONLY` | only the schema with this number |
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking
#![allow(clippy::cast_possible_truncation)] // random numbers are cut down

mod coverage;
mod explained;
mod formats;
mod instances;
mod json;
mod keywords;
mod minimise;
mod pattern;
mod places;
mod random;
mod schemas;
mod values;
mod verdicts;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use coverage::{Decided, KEYWORDS};
use explained::{EXPLANATIONS, Sides, explain};
use json::Json;
use random::Random;
use schemas::Made;
use verdicts::{Ours, Theirs};

/// Instances for each schema.
const INSTANCES: u64 = 6;
/// So many pairs show what is to occur often.
const MANY: u64 = 100_000;

#[test]
fn another_validator_agrees_on_random_schemas_and_instances() {
    let listed: Vec<&str> = explained::entries().iter().map(|entry| entry.name).collect();
    let known: Vec<&str> = EXPLANATIONS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, known, "explained.txt and explained.rs");

    let pairs = variable("TOOLCORE_SMOKE_ITERATIONS").unwrap_or(3_000);
    let seed = variable("TOOLCORE_SMOKE_SEED").unwrap_or(0x6469_6666);
    let only = variable("TOOLCORE_SMOKE_ONLY");
    let (first, last) = only.map_or((0, pairs.div_ceil(INSTANCES)), |only| (only, only + 1));
    let begin = Instant::now();
    let next = AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    let tally = std::thread::scope(|scope| {
        let work = || {
            let mut tally = Tally::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= last {
                    return tally;
                }
                let told = OnPanic { seed, number };
                tally.schema(seed, number);
                drop(told);
            }
        };
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut sum = Tally::default();
        running.into_iter().for_each(|worker| sum.add(worker.join().unwrap()));
        sum
    });
    println!("{}, seed {seed:#x}, {:.1?}", tally.line(), begin.elapsed());
    tally.holds(only.is_none());
}

/// What was found.
#[derive(Default)]
struct Tally {
    valid: u64,
    invalid: u64,
    /// Pairs for which the steps ran out.
    exhausted: u64,
    /// Disagreements by explanation, and last those that take several.
    explained: [u64; EXPLANATIONS.len() + 1],
    unexplained: u64,
    decided: Decided,
}

impl Tally {
    /// Tries a schema and instances for it.
    fn schema(&mut self, seed: u64, number: u64) {
        let mut random = Random::new(seed, number);
        let made = schemas::make(&mut random);
        let text = made.schema.spelled(&mut random);
        let ours = Ours::new(text.clone(), made.draft7, made.formats);
        let ours = ours.unwrap_or_else(|error| panic!("{text}: {error}"));
        let theirs = Theirs::new(&text, made.draft7, made.formats);
        let theirs = theirs.unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut verdicts = Vec::new();
        for _ in 0..INSTANCES {
            let instance = instances::instance(&made, &mut random);
            let text = instance.plain();
            let Some(verdict) = ours.verdict(&text) else {
                self.exhausted += 1;
                continue;
            };
            *(if verdict { &mut self.valid } else { &mut self.invalid }) += 1;
            ours.keeps_to(verdict, &instance, &mut random);
            if theirs.verdict(&text) != verdict {
                self.disagreement(&made, &instance, seed, number);
            }
            verdicts.push((text, verdict));
        }
        self.decided.note(&made, &verdicts);
    }

    fn disagreement(&mut self, made: &Made, instance: &Json, seed: u64, number: u64) {
        if let Some(explanation) = explain(made, &made.schema, instance) {
            self.explained[explanation] += 1;
            return;
        }
        self.unexplained += 1;
        if self.unexplained > 5 {
            return;
        }
        let unexplained = |schema: &Json, instance: &Json| {
            Sides::new(schema, instance).differ(made) && explain(made, schema, instance).is_none()
        };
        let (schema, instance) = minimise::minimise(made.schema.clone(), instance.clone(), unexplained);
        let verdicts = Sides::new(&schema, &instance).verdicts(made);
        println!(
            "(libtoolcore, jsonschema): {verdicts:?}, draft 7: {}, formats: {}, TOOLCORE_SMOKE_SEED={seed} \
             TOOLCORE_SMOKE_ONLY={number}\n{}\n{}",
            made.draft7,
            made.formats,
            schema.plain(),
            instance.plain()
        );
    }

    fn add(&mut self, other: Tally) {
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.exhausted += other.exhausted;
        self.unexplained += other.unexplained;
        self.explained.iter_mut().zip(other.explained).for_each(|(sum, count)| *sum += count);
        self.decided.add(other.decided);
    }

    fn pairs(&self) -> u64 {
        self.valid + self.invalid
    }

    fn line(&self) -> String {
        let names = EXPLANATIONS.iter().map(|(name, _)| *name).chain(["several"]);
        let explained: Vec<String> =
            names.zip(self.explained).map(|(name, count)| format!("{name} {count}")).collect();
        let rarest = KEYWORDS.iter().min_by_key(|keyword| self.decided.both_ways(keyword)).unwrap();
        format!(
            "{} pairs, {}% valid, {} out of steps, every keyword decided both ways {} times or more ({rarest}), \
             explained: {}, unexplained {}",
            self.pairs(),
            self.valid * 100 / self.pairs().max(1),
            self.exhausted,
            self.decided.both_ways(rarest),
            explained.join(", "),
            self.unexplained
        )
    }

    fn holds(&self, all: bool) {
        assert_eq!(self.unexplained, 0, "disagreements that are not explained");
        if !all {
            return;
        }
        let share = self.valid * 100 / self.pairs().max(1);
        assert!((30..=70).contains(&share), "{share}% are valid");
        assert!(self.exhausted * 1000 <= self.pairs(), "{} were out of steps", self.exhausted);
        if self.pairs() < MANY / 2 {
            return;
        }
        for keyword in KEYWORDS {
            let decided = self.decided.both_ways(keyword);
            assert!(decided * 5_000 >= self.pairs(), "{keyword} decided {decided} times only");
        }
        for (entry, count) in explained::entries().iter().zip(self.explained) {
            assert!(entry.rare || count > 0, "{} did not occur, so it explains nothing", entry.name);
        }
    }
}

/// Says which schema it was when something panics.
struct OnPanic {
    seed: u64,
    number: u64,
}

impl Drop for OnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("TOOLCORE_SMOKE_SEED={} TOOLCORE_SMOKE_ONLY={}", self.seed, self.number);
        }
    }
}

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}
