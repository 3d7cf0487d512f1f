use super::*;
use crate::context::{Format, Order, Show};
use std::{string::String, vec, vec::Vec};

/// Bytes that a render with a counter that goes by length puts together or measures to choose blocks.
fn written(blocks: &[ContextBlock<'_>], options: &RenderOptions) -> u64 {
    let mut states = vec![BlockState::default(); blocks.len()];
    let mut plan = Plan::new(blocks, options, &super::super::BytesPerFour, &mut states, &mut []);
    plan.choose_pinned().unwrap();
    plan.choose_others().unwrap();
    assert!(plan.used > 0 && plan.used <= plan.limit);
    plan.written
}

fn all_options(budget: u32) -> Vec<RenderOptions> {
    let mut all = Vec::new();
    for format in [Format::Plain, Format::Xml, Format::Markdown] {
        for order in [Order::Priority, Order::Input] {
            for show in [Show::NONE, Show::ALL] {
                all.push(RenderOptions { format, order, show, ..RenderOptions::new(budget) });
            }
        }
    }
    all
}

#[test]
fn a_try_costs_the_blocks_that_it_adds_and_not_the_text_that_is_there() {
    let large = "x".repeat(100_000);
    for options in all_options(25_005) {
        for flags in [BlockFlags::NONE, BlockFlags::CUT_TAIL] {
            let mut blocks = vec![ContextBlock { flags, ..ContextBlock::new("y") }; 5_000];
            blocks.push(ContextBlock { priority: 1, ..ContextBlock::new(&large) });
            // Each block is tried once; 10 times is for its wrapper and for runs that are taken back.
            let each = written(&[ContextBlock::new("y")], &options);
            let most = 4 * 100_000 + 10 * 5_000 * each;
            let written = written(&blocks, &options);
            assert!(written <= most, "{written} bytes, at most {most}: {options:?}");
        }
    }
}

#[test]
fn blocks_that_fit_and_blocks_that_nearly_fit_cost_their_own_bytes_however_they_alternate() {
    let contents: Vec<String> = (0..4_000).map(|i| "z".repeat(1 + i * 7919 % 61)).collect();
    let sum: u64 = contents.iter().map(|content| content.len() as u64).sum();
    for budget in [100, 3_000, 20_000, 40_000] {
        for options in all_options(budget) {
            let blocks: Vec<_> = contents.iter().map(|content| ContextBlock::new(content)).collect();
            let frame = written(&[ContextBlock::new("z")], &options);
            let most = 4 * (sum + frame * blocks.len() as u64);
            let written = written(&blocks, &options);
            assert!(written <= most, "{written} bytes, at most {most}: {options:?}");
        }
    }
}

#[test]
fn a_search_for_a_cut_costs_the_block_and_not_the_text_that_is_there() {
    let (large, log) = ("x".repeat(100_000), "a line of a log\n".repeat(20));
    let mut blocks =
        vec![ContextBlock { flags: BlockFlags::CUT_TAIL, min_tokens: 4, ..ContextBlock::new(&log) }; 500];
    blocks.push(ContextBlock { priority: 1, ..ContextBlock::new(&large) });
    for room in 0..30 {
        for options in all_options(25_000 + room) {
            let written = written(&blocks, &options);
            // Two writes for each of at most 2 log₂ 320 + 8 probes.
            let most = 4 * 100_000 + 500 * 2 * 26 * 400;
            assert!(written <= most, "{written} bytes, at most {most}: {options:?}");
        }
    }
}
