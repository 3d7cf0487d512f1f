//! The context renderer.

use toolcore::context::{
    BlockFlags, BlockState, BytesPerFour, ContextBlock, Format, Order, Outcome, Policy, RenderError,
    RenderOptions, Show, TokenCounter, max_len, render,
};

use super::text;

/// Options in the first bytes, then blocks between NUL bytes: never over the budget, whatever counts the tokens; the
/// length that is asked for suffices.
pub fn context(input: &[u8]) {
    let (head, rest) = input.split_at(input.len().min(5));
    let at = |index: usize| head.get(index).copied().unwrap_or_default();
    let blocks: Vec<_> = rest.split(|byte| *byte == 0).take(40).map(block).collect();
    let options = RenderOptions {
        reserve: u32::from(at(1)),
        format: [Format::Plain, Format::Xml, Format::Markdown][usize::from(at(2) % 3)],
        order: [Order::Priority, Order::Input][usize::from(at(2) >> 2 & 1)],
        policy: [Policy::Greedy, Policy::Strict][usize::from(at(2) >> 3 & 1)],
        show: Show { category: at(3) & 1 == 0, label: at(3) & 2 == 0, source: at(3) & 4 == 0 },
        ..RenderOptions::new(u32::from(at(0)) * (1 + u32::from(at(4))))
    };
    holds(&blocks, &options, &BytesPerFour);
    // Neither additive nor monotonous: the harder case.
    let odd = |text: &str| text.split([' ', '\n']).map(|word| 1 + word.len() as u32 / 6).sum::<u32>() ^ 1;
    holds(&blocks, &options, &odd);
}

/// Priority and flags in the first two bytes; category, label and source from the start of the content.
fn block(piece: &[u8]) -> ContextBlock<'_> {
    let (head, content) = piece.split_at(piece.len().min(2));
    let at = |index: usize| head.get(index).copied().unwrap_or_default();
    let content = text(content);
    ContextBlock {
        priority: i32::from(at(0)) % 8,
        flags: BlockFlags::from_bits(u32::from(at(1)) % 32).unwrap(),
        min_tokens: u32::from(at(0)) / 32,
        category: content.split('.').next().unwrap_or_default(),
        label: content.split(' ').next().unwrap_or_default(),
        source: content.split('/').nth(1).unwrap_or_default(),
        ..ContextBlock::new(content)
    }
}

fn holds(blocks: &[ContextBlock<'_>], options: &RenderOptions, counter: &dyn TokenCounter) {
    let mut states = vec![BlockState::default(); blocks.len()];
    let mut buffer = vec![0; max_len(blocks, options)];
    let report = match render(blocks, options, counter, &mut states, &mut buffer) {
        Ok(report) => report,
        Err(RenderError::PinnedTooLarge { .. }) => return,
        Err(error) => panic!("{error} with the room that always suffices"),
    };
    let limit = options.budget.saturating_sub(options.reserve);
    if !report.text.is_empty() {
        assert_eq!(report.used, counter.count(report.text));
    }
    assert!(report.used <= limit, "{} tokens of {limit}", report.used);
    assert_eq!(report.room, limit - report.used);
    assert_eq!(report.blocks().count(), blocks.len());
    for (block, report) in blocks.iter().zip(report.blocks()) {
        match report.outcome {
            Outcome::Cut { from, to, .. } => {
                assert!(from < to && block.content.get(from..to).is_some());
            }
            Outcome::Dropped(_) if !block.content.is_empty() => {
                assert!(!block.flags.contains(BlockFlags::PINNED), "a pinned block is gone");
            }
            _ => {}
        }
    }
    let text = report.text.to_owned();
    for room in [0, text.len() / 2, text.len()] {
        let mut buffer = vec![0; room];
        match render(blocks, options, counter, &mut states, &mut buffer) {
            Ok(report) => assert_eq!(report.text, text),
            Err(RenderError::NoSpace { need }) => assert!(need > room),
            Err(error) => panic!("{error} in a smaller buffer"),
        }
    }
}
