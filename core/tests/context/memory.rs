//! Buffers, states and the number of counts.

use super::*;
use std::cell::Cell;

#[test]
fn an_empty_buffer_measures_exactly_with_a_counter_that_goes_by_length() {
    let blocks = [block(2, "first"), cut(BlockFlags::CUT_TAIL, TWENTY), block(-1, TWENTY)];
    let options = RenderOptions::new(24);
    let mut states = [BlockState::default(); 3];
    let measured = render(&blocks, &options, &BytesPerFour, &mut states, &mut []);
    let (expect, _) = run(&blocks, &options, &BytesPerFour);
    assert!(expect.contains("tokens left out"));
    assert_eq!(measured.unwrap_err(), RenderError::NoSpace { need: expect.len() });
    let mut exact = vec![0; expect.len()];
    assert_eq!(render(&blocks, &options, &BytesPerFour, &mut states, &mut exact).unwrap().text, expect);
}

#[test]
fn a_small_buffer_is_an_error_that_names_what_suffices() {
    let blocks = [block(2, "first"), block(1, TWENTY)];
    let options = RenderOptions::new(5);
    let mut states = [BlockState::default(); 2];
    let need = max_len(&blocks, &options);
    assert_eq!(
        render(&blocks, &options, &words, &mut states, &mut [0; 4]).unwrap_err(),
        RenderError::NoSpace { need }
    );
    // A block that is out of the question needs no room for a try.
    assert_eq!(render(&blocks, &options, &words, &mut states, &mut [0; 5]).unwrap().text, "first");
    let error = render(&blocks, &options, &words, &mut states[..1], &mut [0; 64]).unwrap_err();
    assert_eq!(error, RenderError::NoStates { need: 2 });
}

#[test]
fn a_large_log_in_flash_needs_only_a_buffer_for_what_is_shown() {
    let log = "a line of the log, as long as they are\n".repeat(5000);
    let mut buffer = [0; 600];
    let mut states = [BlockState::default()];
    let blocks = [cut(BlockFlags::CUT_HEAD, &log)];
    let report = render(&blocks, &RenderOptions::new(100), &words, &mut states, &mut buffer).unwrap();
    assert!(report.text.starts_with("[… 49,910 of 50,000 tokens left out]\na line of"));
    assert_eq!(report.used, 97);
}

#[test]
fn many_blocks_cost_few_counts_of_the_whole_text() {
    let calls = Cell::new(0u32);
    let counter = |text: &str| {
        calls.set(calls.get() + 1);
        words(text)
    };
    let blocks = vec![block(0, "five words in each block"); 1000];
    for (budget, at_most) in [(5000, 1001), (2500, 1010), (2503, 1510), (0, 1000)] {
        calls.set(0);
        run(&blocks, &RenderOptions::new(budget), &counter);
        // One more is from `run` itself, if there is text.
        assert!(calls.get() <= at_most + 1, "{} calls under {budget}", calls.get());
    }
}

/// Notes what it is asked.
struct Noted<'c> {
    tokens: &'c dyn Fn(&str) -> u32,
    is_whole: fn(&str) -> bool,
    /// Calls with a part, and with a candidate for the whole text.
    parts: Cell<usize>,
    wholes: Cell<usize>,
}

impl<'c> Noted<'c> {
    fn new(tokens: &'c dyn Fn(&str) -> u32, is_whole: fn(&str) -> bool) -> Self {
        Noted { tokens, is_whole, parts: Cell::new(0), wholes: Cell::new(0) }
    }
}

impl TokenCounter for Noted<'_> {
    fn count(&self, text: &str) -> u32 {
        let calls = if (self.is_whole)(text) { &self.wholes } else { &self.parts };
        calls.set(calls.get() + 1);
        (self.tokens)(text)
    }
}

/// Of a text whose first block has 4,000 bytes.
fn has_the_full_block(text: &str) -> bool {
    text.len() >= 4_000
}

/// One token for every four bytes, by reading.
fn read_bytes(text: &str) -> u32 {
    text.len().div_ceil(4) as u32
}

#[test]
fn the_whole_text_is_read_a_limited_number_of_times_however_many_blocks_nearly_fit() {
    let full = "x".repeat(4_000);
    for (budget, small) in [(1_000, "abc"), (1_000, "a"), (1_001, "abc"), (1_003, "abcd efgh")] {
        for count in [200, 10_000] {
            let mut blocks = vec![block(0, small); count];
            blocks.push(block(1, &full));
            let counter = Noted::new(&read_bytes, has_the_full_block);
            let (text, outcomes) = run(&blocks, &RenderOptions::new(budget), &counter);
            assert!(text.starts_with(&full));
            // One is for the content alone, and one is from `run` itself.
            let tries = counter.wholes.get() - 2;
            assert!(tries <= 128, "{tries} tries of {count} times {small:?}");
            assert!(counter.parts.get() <= 2 * count);
            // A counter that goes by length is not limited: the same here.
            assert_eq!(run(&blocks, &RenderOptions::new(budget), &BytesPerFour), (text, outcomes));
        }
    }
}

#[test]
fn blocks_that_fit_between_blocks_that_nearly_fit_are_found_with_a_limited_number_of_tries() {
    // Room for 3,000 characters; a small block takes 3 with its joint, and each large one has exactly
    // what would still fit if there were no joint.
    let full = "x".repeat(4_000);
    let large: Vec<String> = (0..1_000).map(|i| "y".repeat(2_999 - 3 * i)).collect();
    let mut blocks = vec![block(1, &full)];
    for large in &large {
        blocks.extend([block(0, "z"), block(0, large)]);
    }
    let counter = Noted::new(&chars, has_the_full_block);
    let (text, outcomes) = run(&blocks, &RenderOptions::new(7_000), &counter);
    assert_eq!(text.matches('z').count(), 1_000);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == KEPT).count(), 1_001);
    let tries = counter.wholes.get() - 2;
    assert!(tries <= 128, "{tries} tries");
}

#[test]
fn a_counter_of_any_kind_reads_the_whole_text_a_limited_number_of_times() {
    // Two texts together count far more than each alone, so that tries fail again and again.
    let jealous = |text: &str| (text.len() + 3 * text.matches("\n\n").count().pow(2)) as u32;
    // A text that is longer may count less, so that there is always room for one block more.
    let fickle = |text: &str| if text.len() < 10 { 6 } else { 3 + text.len() as u32 % 2 };
    let odd = |text: &str| text.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte)) % 99;
    let counters: [&dyn Fn(&str) -> u32; 3] = [&jealous, &fickle, &odd];
    let contents: Vec<String> = (0..1_000).map(|i| format!("block {}", i * 7919 % 1_000)).collect();
    for (which, tokens) in counters.into_iter().enumerate() {
        for flags in [BlockFlags::NONE, BlockFlags::CUT_TAIL, BlockFlags::CUT_MIDDLE] {
            for budget in [9, 60, 1_000] {
                for policy in [Policy::Greedy, Policy::Strict] {
                    let blocks: Vec<_> = contents.iter().map(|content| cut(flags, content)).collect();
                    // No content has a blank line, and what a joint begins is a block alone.
                    let counter = Noted::new(tokens, |text| text.trim_start().contains("\n\n"));
                    run(&blocks, &RenderOptions { policy, ..RenderOptions::new(budget) }, &counter);
                    let (wholes, parts) = (counter.wholes.get(), counter.parts.get());
                    let most = 1 + 128 + 32 * (2 * 4 + 6);
                    assert!(wholes <= most, "{wholes} calls of counter {which} under {budget}");
                    assert!(parts <= 6 * 1_000, "{parts} calls of counter {which} under {budget}");
                }
            }
        }
    }
}

#[test]
fn a_block_that_is_out_of_the_question_needs_no_space_when_tries_are_limited() {
    let (full, large) = ("x".repeat(4_000), "y".repeat(100_000));
    let mut blocks = vec![block(2, &full)];
    blocks.extend([block(1, "abc"); 200]);
    blocks.push(block(0, &large));
    let mut states = vec![BlockState::default(); blocks.len()];
    let mut buffer = [0; 4_010];
    let report = render(&blocks, &RenderOptions::new(1_000), &read_bytes, &mut states, &mut buffer).unwrap();
    assert_eq!(report.text, full);
}

#[test]
fn cuts_that_come_to_nothing_are_tried_a_limited_number_of_times() {
    // A notice has 30 characters or so: there is room for it and for less than is asked for.
    let full = "x".repeat(4_000);
    let log = "lines of a log that are long\n".repeat(20);
    for room in 0..60 {
        let piece = ContextBlock { min_tokens: 20, ..cut(BlockFlags::CUT_TAIL, &log) };
        let mut blocks = vec![piece; 300];
        blocks.push(block(1, &full));
        let counter = Noted::new(&chars, has_the_full_block);
        run(&blocks, &RenderOptions::new(4_000 + room), &counter);
        let tries = counter.wholes.get() - 2;
        assert!(tries <= 128 + 32 * (2 * 10 + 6), "{tries} tries with room for {room}");
    }
}

#[test]
fn a_counter_that_goes_by_length_is_asked_twice_for_each_block() {
    struct Lengths(Cell<usize>);
    impl TokenCounter for Lengths {
        fn count(&self, text: &str) -> u32 {
            BytesPerFour.count(text)
        }
        fn count_len(&self, bytes: usize) -> Option<u32> {
            self.0.set(self.0.get() + 1);
            BytesPerFour.count_len(bytes)
        }
    }
    let full = "x".repeat(4_000);
    for small in ["a", "abc", "abcd efgh"] {
        for budget in 998..1_004 {
            let mut blocks = vec![block(0, small); 10_000];
            blocks.push(block(1, &full));
            let counter = Lengths(Cell::new(0));
            run(&blocks, &RenderOptions::new(budget), &counter);
            // Tries, the text of pinned blocks, and whether it goes by length at all.
            assert!(counter.0.get() <= 2 * 10_001 + 14 + 2, "{} calls", counter.0.get());
        }
    }
}

#[test]
fn limited_tries_choose_the_same_blocks_if_counts_add_up() {
    struct Bytes;
    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> u32 {
            text.len() as u32
        }
        fn count_len(&self, bytes: usize) -> Option<u32> {
            u32::try_from(bytes).ok()
        }
    }
    let read = |text: &str| text.len() as u32;
    let mut random = cases::Random(11);
    for round in 0..20 {
        let contents: Vec<String> = (0..600).map(|_| "x".repeat(1 + random.below(1 + round))).collect();
        let blocks: Vec<_> = contents.iter().map(|content| block(random.below(5) as i32, content)).collect();
        for format in [Format::Plain, Format::Xml, Format::Markdown] {
            for policy in [Policy::Greedy, Policy::Strict] {
                let budget = 1 + random.below(600 * (round + 1)) as u32;
                let options = RenderOptions { format, policy, ..RenderOptions::new(budget) };
                assert!(run(&blocks, &options, &read) == run(&blocks, &options, &Bytes), "{options:?}");
            }
        }
    }
}
