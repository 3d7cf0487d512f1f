//! No input panics, overflows, hangs or makes two entry points disagree: random bytes and mutated seeds through every
//! entry point of the crate. An iteration gives each property an input of its own.
//!
//! The properties are those of the fuzz targets (`tests/fuzz/src`), here on a stable compiler and in bounded time. Seeds
//! are a few and, where the folder is there, field cases, recorded replies and schema suites of `../shared`.
//! Each iteration depends only on the seed and its own number, so a failure is repeated alone:
//!
//! | environment variable | meaning |
//! |---|---|
//! | `TOOLCORE_SMOKE_ITERATIONS` | how many iterations; by default few enough for a debug build |
//! | `TOOLCORE_SMOKE_SEED` | where the random numbers start |
//! | `TOOLCORE_SMOKE_ONLY` | run this one iteration only |
//! | `TOOLCORE_SMOKE_PROPERTY` | try this property only, such as `reply` |
//! | `TOOLCORE_SEED_DIR` | write the seeds there, a folder for each property, for cargo-fuzz |
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(clippy::cast_possible_truncation, reason = "random numbers are cut to size")]

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use toolcore::json;

#[allow(unreachable_pub, reason = "a crate of its own elsewhere")]
#[path = "../../../tests/fuzz/src/lib.rs"]
mod properties;
mod seeds;

use properties::PROPERTIES;
use seeds::{seeds, write_seeds};

/// These get an input in one of four iterations.
const SLOW: [&str; 6] =
    ["schema_compile", "schema_generated", "pattern", "stream", "render", "turn_schedule"];

/// What one input may take; a thousand times what the slowest one takes in a debug build on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(5);

#[test]
fn no_input_panics_or_hangs() {
    let seeds: Vec<Vec<Vec<u8>>> = seeds();
    if let Some(folder) = std::env::var_os("TOOLCORE_SEED_DIR") {
        write_seeds(Path::new(&folder), &seeds);
    }
    let iterations = variable("TOOLCORE_SMOKE_ITERATIONS").unwrap_or(3_000);
    let seed = variable("TOOLCORE_SMOKE_SEED").unwrap_or(0x746F_6F6C_636F_7265);
    let (first, last) = match variable("TOOLCORE_SMOKE_ONLY") {
        Some(only) => (only, only + 1),
        None => (0, iterations),
    };
    let property = std::env::var("TOOLCORE_SMOKE_PROPERTY").ok();
    let wanted = |which: usize, iteration: u64| {
        let name = PROPERTIES[which].0;
        match &property {
            Some(property) => property == name,
            None => iteration.is_multiple_of(4) || !SLOW.contains(&name),
        }
    };
    let next = AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    let started: Vec<Started> = (0..workers).map(|_| Started::default()).collect();
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let (next, seeds, wanted) = (&next, &seeds, &wanted);
        let running: Vec<_> = started
            .iter()
            .map(|started| {
                scope.spawn(move || {
                    loop {
                        let iteration = next.fetch_add(1, Ordering::Relaxed);
                        if iteration >= last {
                            return;
                        }
                        for which in (0..PROPERTIES.len()).filter(|which| wanted(*which, iteration)) {
                            let case = Case { seed, iteration, which };
                            started.set(case, begin);
                            case.run(seeds);
                        }
                    }
                })
            })
            .collect();
        // A reader that hangs never comes back, so another thread has to say so.
        while running.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            for (started, _) in started.iter().zip(&running).filter(|(_, worker)| !worker.is_finished()) {
                let (case, at) = started.get(seed);
                if begin.elapsed().saturating_sub(at) > 2 * TIME_LIMIT {
                    eprintln!("{}", case.describe(seeds));
                    eprintln!("still running after {:?}", 2 * TIME_LIMIT);
                    std::process::exit(101);
                }
            }
        }
    });
    println!("{} iterations, seed {seed:#x}, {:.1?}", last - first, begin.elapsed());
}

/// Which case a worker is at, and since when.
#[derive(Default)]
struct Started {
    case: AtomicU64,
    millis: AtomicU64,
}

impl Started {
    fn set(&self, case: Case, begin: Instant) {
        self.millis.store(begin.elapsed().as_millis() as u64, Ordering::Relaxed);
        self.case.store(case.iteration * PROPERTIES.len() as u64 + case.which as u64, Ordering::Relaxed);
    }

    fn get(&self, seed: u64) -> (Case, Duration) {
        let case = self.case.load(Ordering::Relaxed);
        let properties = PROPERTIES.len() as u64;
        let millis = Duration::from_millis(self.millis.load(Ordering::Relaxed));
        (Case { seed, iteration: case / properties, which: (case % properties) as usize }, millis)
    }
}

/// One input for one property.
#[derive(Clone, Copy)]
struct Case {
    seed: u64,
    iteration: u64,
    /// The property's place in [`PROPERTIES`].
    which: usize,
}

impl Case {
    fn run(self, seeds: &[Vec<Vec<u8>>]) {
        let (_, property) = PROPERTIES[self.which];
        let input = self.input(seeds);
        let told = OnPanic { case: self, seeds };
        let begin = Instant::now();
        property(&input);
        let took = begin.elapsed();
        assert!(took < TIME_LIMIT, "took {took:?}");
        drop(told);
    }

    fn describe(self, seeds: &[Vec<Vec<u8>>]) -> String {
        let (name, _) = PROPERTIES[self.which];
        let Case { seed, iteration, .. } = self;
        let repeat = format!(
            "TOOLCORE_SMOKE_SEED={seed} TOOLCORE_SMOKE_ONLY={iteration} TOOLCORE_SMOKE_PROPERTY={name}"
        );
        format!("{name}(b\"{}\")\nrepeat with {repeat}", self.input(seeds).escape_ascii())
    }

    fn input(self, seeds: &[Vec<Vec<u8>>]) -> Vec<u8> {
        let mut random = Random::new(self.seed, self.iteration * 64 + self.which as u64);
        let seeds = &seeds[self.which];
        let mut input = match random.below(16) {
            0 => (0..random.below(64)).map(|_| random.next() as u8).collect(),
            1 => (0..random.below(48)).flat_map(|_| token(&mut random)).collect(),
            _ => random.pick(seeds).clone(),
        };
        for _ in 0..*random.pick(&[0, 1, 1, 1, 1, 2, 2, 3, 4, 8]) {
            mutate(&mut input, seeds, &mut random);
        }
        input.truncate(INPUT_MAX);
        input
    }
}

/// Says how to repeat the case that is unwinding.
struct OnPanic<'s> {
    case: Case,
    seeds: &'s [Vec<Vec<u8>>],
}

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.case.describe(self.seeds));
        }
    }
}

const INPUT_MAX: usize = 8192;

fn mutate(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let (a, b) = (random.below(input.len() + 1), random.below(input.len() + 1));
    let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 64));
    match random.below(16) {
        0 if !input.is_empty() => {
            let at = random.below(input.len());
            input[at] ^= 1 << random.below(8);
        }
        1 if !input.is_empty() => {
            let at = random.below(input.len());
            input[at] = random.next() as u8;
        }
        2 => drop(input.drain(from..to)),
        3 => input.truncate(from),
        4 => {
            let piece = input[from..to].to_vec();
            input.splice(from..from, piece);
        }
        5 => {
            let piece = input[from..to].repeat(random.below(40));
            input.splice(from..to, piece);
        }
        6 => {
            let other = random.pick(seeds);
            let cut = random.below(other.len() + 1);
            input.truncate(from);
            input.extend_from_slice(&other[cut..]);
        }
        7 => {
            let other = random.pick(seeds);
            let start = random.below(other.len() + 1);
            let end = other.len().min(start + 40);
            input.splice(from..from, other[start..end].iter().copied());
        }
        8 | 9 => {
            let token = token(random);
            input.splice(from..if random.below(2) == 0 { from } else { to }, token);
        }
        10 | 11 => {
            if let Some(at) = (a..input.len()).find(|at| input[*at].is_ascii_alphanumeric()) {
                input[at] = *random.pick(b"0123456789aeEoz");
            }
        }
        // The text stays JSON: one value in place of another.
        _ => {
            let other = random.pick(seeds);
            let start = random.below(other.len() + 1);
            if let (Some(here), Some(there)) = (value(input, a, random), value(other, start, random)) {
                input.splice(here, other[there].iter().copied());
            }
        }
    }
    input.truncate(INPUT_MAX);
}

/// One of the tokens, or a word of the fuzzers' dictionary.
fn token(random: &mut Random) -> Vec<u8> {
    const WORDS: &str = include_str!("../../../tests/fuzz/schema.dict");
    let words = WORDS.lines().filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    let which = random.below(TOKENS.len() + words.clone().count());
    match TOKENS.get(which) {
        Some(token) => token.to_vec(),
        None => words
            .clone()
            .nth(which - TOKENS.len())
            .unwrap()
            .replace("\\\"", "\"")
            .replace("\\\\", "\\")
            .into_bytes(),
    }
}

/// A random value of the text around `at`, which ends at NUL bytes, if that is JSON.
fn value(input: &[u8], at: usize, random: &mut Random) -> Option<Range<usize>> {
    let start = input[..at].iter().rposition(|byte| *byte == 0).map_or(0, |nul| nul + 1);
    let end = input[start..].iter().position(|byte| *byte == 0).map_or(input.len(), |nul| start + nul);
    let text = &input[start..end];
    let mut value = json::parse(text, &json::Options::default()).ok()?;
    while random.below(4) > 0 {
        let children = value.items().chain(value.entries().map(|(_, member)| member));
        let which = random.below(children.clone().count().max(1));
        match children.into_iter().nth(which) {
            Some(child) => value = child,
            None => break,
        }
    }
    let offset = start + (value.raw().as_ptr() as usize - text.as_ptr() as usize);
    Some(offset..offset + value.raw().len())
}

/// Pieces that readers have to look at closely.
const TOKENS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b" ",
    b"\n",
    b"\0",
    b"\0\0",
    b"null",
    b"true",
    b"false",
    b"{}",
    b"[]",
    b"\"\"",
    b"0",
    b"-0",
    b"-",
    b"1",
    b"1e999999999999999999999",
    b"1e-400",
    b"0.1",
    b"9223372036854775808",
    b"-9223372036854775808",
    b"18446744073709551616",
    b"2.5E+3",
    b"00",
    b"\\u0000",
    b"\\ud83d\\ude00",
    b"\\ud83d",
    b"\\ude00",
    b"\\u00e9",
    b"\\/",
    b"\xEF\xBB\xBF",
    b"\xC3\xA9",
    b"\xE2\x82\xAC",
    b"\xF0\x9F\x98\x80",
    b"\xED\xA0\x80",
    b"\xC0\x80",
    b"\xFF",
    b"\x1F",
    b"\x7F",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":",
    b"```json\n",
    b"\n```",
    b"\"type\":",
    b"\"object\"",
    b"\"integer\"",
    b"\"string\"",
    b"\"array\"",
    b"\"properties\":",
    b"\"required\":",
    b"\"items\":",
    b"\"enum\":",
    b"\"const\":",
    b"\"$ref\":\"#",
    b"\"$ref\":\"#/$defs/a\"",
    b"\"$defs\":{\"a\":",
    b"\"additionalProperties\":",
    b"\"minLength\":",
    b"\"maxItems\":",
    b"\"minimum\":",
    b"\"exclusiveMaximum\":",
    b"\"default\":",
    b"\"$schema\":",
    b"\"anyOf\":",
    b"/",
    b"~0",
    b"~1",
    b"%25",
    b"\"content\":",
    b"\"tool_calls\":",
    b"\"tool_use\"",
    b"\"input\":",
    b"\"arguments\":",
    b"\"id\":",
    b"\"name\":",
    b"\"function\":",
    b"\"stop_reason\":\"max_tokens\"",
    b"\"finish_reason\":\"length\"",
    b"\"choices\":",
    b"\"params\":",
    b"\"error\":",
    b"get_weather",
    b"calc.add",
    b"calc_add_",
    b"slow",
    b"\"city\":\"Oslo\"",
    b"\"a\":1",
    b"\"a\":\"1\"",
    b"\n\n",
    b". ",
];

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} must be a number, not {value:?}")))
}

/// Marsaglia's xorshift64*, started from a seed; streams of one seed differ.
struct Random(u64);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        // An odd factor keeps streams apart; a state of zero would stay zero.
        let mut random = Random((seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)).max(1));
        for _ in 0..4 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number below `limit`, which is not zero.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}
