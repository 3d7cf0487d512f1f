//! Context under a budget: each rule with a text that was worked out by hand, and properties over
//! generated cases.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::cast_possible_truncation, clippy::panic)] // tests

mod cases;
mod choose;
mod cuts;
mod formats;
mod memory;
mod properties;

use toolcore::context::*;

/// Words between white space: easy to work out by hand. A notice has seven.
fn words(text: &str) -> u32 {
    text.split_whitespace().count() as u32
}

fn chars(text: &str) -> u32 {
    text.chars().count() as u32
}

/// Renders into ample memory and gives the text and what became of each block.
fn run(
    blocks: &[ContextBlock<'_>],
    options: &RenderOptions,
    counter: &dyn TokenCounter,
) -> (String, Vec<Outcome>) {
    let mut states = vec![BlockState::default(); blocks.len()];
    let mut buffer = vec![0; max_len(blocks, options)];
    let report = render(blocks, options, counter, &mut states, &mut buffer).unwrap();
    assert_eq!(report.used, if report.text.is_empty() { 0 } else { counter.count(report.text) });
    assert_eq!(report.room, options.budget - options.reserve - report.used);
    (report.text.into(), report.blocks().map(|block| block.outcome).collect())
}

fn block(priority: i32, content: &str) -> ContextBlock<'_> {
    ContextBlock { priority, ..ContextBlock::new(content) }
}

fn pinned(priority: i32, content: &str) -> ContextBlock<'_> {
    ContextBlock { priority, flags: BlockFlags::PINNED, ..ContextBlock::new(content) }
}

fn cut(flags: BlockFlags, content: &str) -> ContextBlock<'_> {
    ContextBlock { flags, ..ContextBlock::new(content) }
}

const KEPT: Outcome = Outcome::Kept;
const NO_ROOM: Outcome = Outcome::Dropped(DropReason::NoRoom);
const TWENTY: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
                      seventeen eighteen nineteen twenty";
