//! Every reply, our examples and recorded ones, whole and as a stream, cut at every byte boundary: the same
//! calls each time, the same text, the same turn, and the same told.
//!
//! A text is cut in two at each boundary if that is not too long. If it is, each boundary still ends a chunk: chunks of
//! one size that begin at every offset. `TOOLCORE_STREAM_CHUNKINGS`, if it is there, makes more texts short.

use std::time::Instant;

use serde_json::Value as Json;
use toolcore::dialect::Dialect;

use crate::chunkings::{Runner, TEXTS};
use crate::chunks::examples;
use crate::common::{read, rows, shared};
use crate::convert::{RECORDED, stream_of};
use crate::support::{ALL, CALLS, Watched};

/// Size of the chunks of a text that is long.
const CHUNK: usize = 61;

/// Cuts texts, and counts the cuts.
struct Cutter {
    runner: Runner,
    /// The longest text that is cut in two.
    short: usize,
    cuts: usize,
}

impl Cutter {
    /// What is short in a debug build, and for whoever has time.
    fn new(short: [usize; 2]) -> Self {
        let thorough = std::env::var_os("TOOLCORE_STREAM_CHUNKINGS").is_some();
        Cutter { runner: Runner::new(), short: short[usize::from(thorough)], cuts: 0 }
    }

    /// Gives the reply as text, and what was told.
    fn cut(&mut self, dialect: Dialect, text: &str) -> (String, Watched) {
        let bytes = text.as_bytes();
        let name = dialect.name();
        let expected = self.runner.run(dialect, ALL, [bytes]);
        let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
        if bytes.len() <= self.short {
            for at in 0..=bytes.len() {
                let (before, after) = bytes.split_at(at);
                let seen = self.runner.run(dialect, ALL, [before, after]).unwrap();
                assert_eq!(seen, expected, "{name} cut at {at}: {text}");
                if at % 7 == 0 {
                    let only = self.runner.run(dialect, CALLS, [before, after]).unwrap();
                    assert_eq!(only.1.calls, expected.1.calls, "{name} cut at {at}: {text}");
                }
            }
        } else {
            for first in 0..CHUNK {
                let (before, after) = bytes.split_at(first);
                let chunks = [before].into_iter().chain(after.chunks(CHUNK));
                let seen = self.runner.run(dialect, ALL, chunks).unwrap();
                assert_eq!(seen, expected, "{name} cut at {first} and then each {CHUNK}: {text}");
            }
        }
        let each = self.runner.run(dialect, ALL, bytes.chunks(1)).unwrap();
        assert_eq!(each, expected, "{name}, byte by byte: {text}");
        self.cuts += bytes.len() + 1;
        expected
    }
}

#[test]
fn a_cut_at_any_byte_of_an_example_changes_nothing() {
    let mut cutter = Cutter::new([1_500, 20_000]);
    for (dialect, reply) in examples() {
        for text in [stream_of(dialect, &reply, 24), stream_of(dialect, &reply, 1000)] {
            let (_, watched) = cutter.cut(dialect, &text);
            assert!(watched.calls.len() >= 2, "{}: {text}", dialect.name());
        }
        // Where a stream was asked for and a whole reply comes.
        let (_, watched) = cutter.cut(dialect, &reply.to_string());
        assert!(watched.calls.len() >= 2, "{}: {reply}", dialect.name());
    }
    for (dialect, text) in TEXTS.iter().flat_map(|(dialect, texts)| texts.map(|text| (*dialect, text))) {
        let (_, watched) = cutter.cut(dialect, text);
        assert!(!watched.calls.is_empty(), "{}: {text}", dialect.name());
    }
}

/// Streams as they are, and whole replies as the provider would have streamed them.
#[test]
fn a_cut_at_any_byte_of_a_recorded_reply_changes_nothing() {
    let test = "a_cut_at_any_byte_of_a_recorded_reply_changes_nothing";
    let begin = Instant::now();
    let mut cutter = Cutter::new([600, 4096]);
    let mut replies = 0;
    for dialect in RECORDED {
        let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
        for row in rows(&path) {
            let text = match row["reply"].as_str() {
                Some(text) => text.to_owned(),
                None => stream_of(dialect, &row["reply"], 24),
            };
            let (_, watched) = cutter.cut(dialect, &text);
            let named = |call: &Json| call["name"].as_str().unwrap().to_owned();
            let expected: Vec<String> = row["calls"].as_array().unwrap().iter().map(named).collect();
            let seen: Vec<String> = watched.calls.iter().map(|call| call.1.clone()).collect();
            assert_eq!(seen, expected, "{}", row["id"]);
            for (call, expected) in watched.calls.iter().zip(row["calls"].as_array().unwrap()) {
                let arguments = if call.2.is_empty() { "{}" } else { &call.2 };
                assert_eq!(read(arguments), expected["arguments"], "{}", row["id"]);
            }
            replies += 1;
        }
    }
    println!("{} cuts of {replies} recorded replies, {:.1?}", cutter.cuts, begin.elapsed());
    assert_eq!(replies, 475);
}
