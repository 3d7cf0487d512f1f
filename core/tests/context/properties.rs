//! Context under a budget: what holds for any blocks, options and counters.
//!
//! The checks rebuild the text from the report with code of their own.

use super::cases::*;
use std::cell::Cell;
use toolcore::context::*;

#[test]
fn the_text_is_within_the_budget_and_is_what_the_report_says() {
    for_each_case(|case, options, name, counter| {
        let Ok(done) = case.render(options, counter) else {
            return;
        };
        let limit = options.budget.saturating_sub(options.reserve);
        let used = if done.text.is_empty() { 0 } else { counter(&done.text) };
        assert!(used <= limit, "{name}: {used} > {limit}");
        assert_eq!((done.used, done.room), (used, limit - used), "{name}");
        assert_eq!(done.text, rebuilt(&case.blocks(), options, counter, &done.outcomes), "{name}");
    });
}

#[test]
fn the_same_input_gives_the_same_text_in_any_memory() {
    let mut dirt = Random(7);
    for_each_case(|case, options, name, counter| {
        let blocks = case.blocks();
        let done = case.render(options, counter);
        let most = max_len(&blocks, options);
        for len in [most + 99, most, dirt.below(most + 1), 0] {
            let mut states = vec![BlockState::default(); blocks.len() + 2];
            let mut buffer = vec![0xFF; len];
            // Leaves states and buffer as some other render would.
            let _ = render(&blocks, &RenderOptions::new(99), &BytesPerFour, &mut states, &mut buffer);
            let again = render(&blocks, options, &counter, &mut states, &mut buffer);
            match again {
                Err(RenderError::NoSpace { need }) => {
                    assert!(len < most, "{name}");
                    assert!(len < need && need <= most, "{name}: {need}");
                }
                Err(error) => assert_eq!(Some(error), done.clone().err(), "{name}"),
                Ok(report) => {
                    let done = done.clone().unwrap();
                    assert_eq!((report.text, report.used), (&*done.text, done.used), "{name}");
                    assert!(report.blocks().map(|block| block.outcome).eq(done.outcomes), "{name}");
                }
            }
        }
    });
}

#[test]
fn a_counter_that_goes_by_length_gives_the_same_as_one_that_reads() {
    for_each_case(|case, options, _, _| {
        let blocks = case.blocks();
        let mut states = vec![BlockState::default(); blocks.len()];
        let read = case.render(options, bytes);
        let measured = render(&blocks, options, &BytesPerFour, &mut states, &mut []);
        let need = match (read, measured) {
            (Ok(done), Err(RenderError::NoSpace { need })) => {
                assert_eq!(need, done.text.len());
                need
            }
            (Ok(done), Ok(_)) => return assert_eq!(done.text, ""),
            (read, measured) => return assert_eq!(read.unwrap_err(), measured.unwrap_err()),
        };
        let mut buffer = vec![0; need];
        let exact = render(&blocks, options, &BytesPerFour, &mut states, &mut buffer).unwrap();
        assert_eq!(exact.text, case.render(options, bytes).unwrap().text);
    });
}

#[test]
fn pinned_blocks_are_there_or_the_render_fails() {
    for_each_case(|case, options, name, counter| match case.render(options, counter) {
        Ok(done) => {
            for (block, outcome) in case.blocks().iter().zip(done.outcomes) {
                if block.flags.contains(BlockFlags::PINNED) && !block.content.is_empty() {
                    assert!(!matches!(outcome, Outcome::Dropped(_)), "{name}");
                }
            }
        }
        Err(RenderError::PinnedTooLarge { need, budget, reserve }) => {
            assert!(need > budget.saturating_sub(reserve), "{name}");
            assert_eq!((budget, reserve), (options.budget, options.reserve));
            assert!(case.blocks().iter().any(|block| block.flags.contains(BlockFlags::PINNED)));
        }
        Err(error) => panic!("{name}: {error}"),
    });
}

#[test]
fn strict_lets_nothing_pass_a_dropped_block() {
    for_each_case(|case, options, name, counter| {
        let blocks = case.blocks();
        let Ok(done) = case.render(options, counter) else {
            return;
        };
        let mut stopped = false;
        for index in by_priority(&blocks) {
            match done.outcomes[index] {
                Outcome::Dropped(DropReason::Empty) => assert_eq!(blocks[index].content, ""),
                _ if blocks[index].flags.contains(BlockFlags::PINNED) => {}
                Outcome::Dropped(DropReason::Stopped) => assert!(stopped, "{name}"),
                Outcome::Dropped(_) if options.policy == Policy::Strict => {
                    assert!(!stopped, "{name}");
                    stopped = true;
                }
                _ => assert!(!stopped, "{name}: passed a dropped block"),
            }
        }
    });
}

#[test]
fn cuts_leave_enough_and_are_made_where_the_flags_say() {
    let cuts = Cell::new(0);
    for_each_case(|case, options, name, counter| {
        let Ok(done) = case.render(options, counter) else {
            return;
        };
        for (block, outcome) in case.blocks().iter().zip(&done.outcomes) {
            let &Outcome::Cut { from, to, left_out } = outcome else {
                continue;
            };
            let (head, tail) = (&block.content[..from], &block.content[to..]);
            let kept = count_part(counter, head).saturating_add(count_part(counter, tail));
            assert!(from < to && kept >= block.min_tokens.max(1), "{name}: {kept} tokens left");
            assert_eq!(left_out, counter(block.content).saturating_sub(kept).max(1), "{name}");
            assert!(!block.flags.contains(BlockFlags::WHOLE));
            if block.flags.contains(BlockFlags::CUT_TAIL) {
                assert_eq!(tail, "");
            } else if block.flags.contains(BlockFlags::CUT_HEAD) {
                assert_eq!(head, "");
            } else {
                assert!(block.flags.contains(BlockFlags::CUT_MIDDLE));
            }
            cuts.set(cuts.get() + 1);
        }
    });
    assert!(cuts.get() > 500, "only {} cuts were seen", cuts.get());
}

#[test]
fn whole_blocks_are_chosen_as_if_tried_one_at_a_time() {
    for_each_case(|case, options, name, counter| {
        // For counters that never count less for more text, the order of tries makes no difference.
        if !matches!(name, "bytes" | "words" | "chars") {
            return;
        }
        let mut blocks = case.blocks();
        for block in &mut blocks {
            block.flags = BlockFlags::NONE;
        }
        let done = render_owned(&blocks, options, counter).unwrap();
        let limit = options.budget.saturating_sub(options.reserve);
        let out = Outcome::Dropped(DropReason::NoRoom);
        let mut expect: Vec<Outcome> = vec![out; blocks.len()];
        let mut stopped = false;
        for index in by_priority(&blocks) {
            if blocks[index].content.is_empty() {
                expect[index] = Outcome::Dropped(DropReason::Empty);
            } else if stopped {
                expect[index] = Outcome::Dropped(DropReason::Stopped);
            } else {
                expect[index] = Outcome::Kept;
                if counter(&rebuilt(&blocks, options, counter, &expect)) > limit {
                    expect[index] = out;
                    stopped = options.policy == Policy::Strict;
                }
            }
        }
        assert_eq!(done.outcomes, expect, "{name}");
    });
}

#[test]
fn the_counter_is_called_a_bounded_number_of_times() {
    for_each_case(|case, options, name, counter| {
        let calls = Cell::new(0usize);
        let counting = |text: &str| {
            calls.set(calls.get() + 1);
            counter(text)
        };
        let blocks = case.blocks();
        let _ = render_owned(&blocks, options, &counting);
        let log2 = |value: usize| value.max(2).ilog2() as usize + 1;
        let cuts: usize = blocks.iter().map(|block| 24 + 8 * log2(block.content.len())).sum();
        let most = 3 * blocks.len() + log2(blocks.len()) + 2 + cuts;
        assert!(calls.get() <= most, "{name}: {} calls, at most {most}", calls.get());
    });
}

#[test]
fn escaped_content_cannot_leave_its_tag_and_can_be_had_back() {
    for_each_case(|case, options, name, counter| {
        let options = &RenderOptions { format: Format::Xml, ..*options };
        let Ok(done) = case.render(options, counter) else {
            return;
        };
        let shown = done.outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Dropped(_))).count();
        assert_eq!(done.text.matches('<').count(), 2 * shown, "{name}");
        assert_eq!(done.text.matches("\n</context>").count(), shown, "{name}");
    });
}
