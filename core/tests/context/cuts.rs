//! Where a block is cut, and what stands in place of what is left out.

use super::*;

#[test]
fn a_cut_tail_keeps_the_beginning() {
    let (text, outcomes) = run(&[cut(BlockFlags::CUT_TAIL, TWENTY)], &RenderOptions::new(12), &words);
    assert_eq!(text, "one two three four five\n[… 15 of 20 tokens left out]");
    assert_eq!(outcomes, [Outcome::Cut { from: 23, to: TWENTY.len(), left_out: 15 }]);
}

#[test]
fn a_cut_head_keeps_the_end() {
    let (text, outcomes) = run(&[cut(BlockFlags::CUT_HEAD, TWENTY)], &RenderOptions::new(12), &words);
    assert_eq!(text, "[… 15 of 20 tokens left out]\nsixteen seventeen eighteen nineteen twenty");
    assert_eq!(outcomes, [Outcome::Cut { from: 0, to: TWENTY.len() - 42, left_out: 15 }]);
}

#[test]
fn a_cut_middle_keeps_as_much_of_both_ends() {
    let content = "aa bb cc dd ee ff gg hh ii jj kk ll mm nn oo pp qq rr ss tt";
    let (text, outcomes) = run(&[cut(BlockFlags::CUT_MIDDLE, content)], &RenderOptions::new(12), &words);
    assert_eq!(text, "aa bb\n[… 16 of 20 tokens left out]\nss tt");
    assert_eq!(outcomes, [Outcome::Cut { from: 5, to: 54, left_out: 16 }]);
}

#[test]
fn the_notice_groups_its_numbers_by_thousands() {
    let content = "word ".repeat(9310);
    let options = RenderOptions::new(9310 - 1204 + 7);
    let (text, _) = run(&[cut(BlockFlags::CUT_TAIL, &content)], &options, &words);
    assert!(text.ends_with("word\n[… 1,204 of 9,310 tokens left out]"));
}

#[test]
fn a_cut_prefers_the_end_of_a_paragraph_then_of_a_line_then_of_a_word() {
    let rest = "eta theta iota kappa lambda mu nu xi omicron pi";
    for (between, expect) in [
        ("\n\n", "alpha beta gamma delta epsilon zeta\n[… 10 of 16 tokens left out]"),
        ("\r\n \r\n", "alpha beta gamma delta epsilon zeta\n[… 10 of 16 tokens left out]"),
        ("\n", "alpha beta gamma delta epsilon zeta\n[… 10 of 16 tokens left out]"),
        ("\r\n", "alpha beta gamma delta epsilon zeta\n[… 10 of 16 tokens left out]"),
        (" ", "alpha beta gamma delta epsilon zeta eta\n[… 9 of 16 tokens left out]"),
    ] {
        // Room for seven words: the end of the sixth is within a quarter of that.
        let content = format!("alpha beta gamma delta epsilon zeta{between}{rest}");
        let (text, _) = run(&[cut(BlockFlags::CUT_TAIL, &content)], &RenderOptions::new(14), &words);
        assert_eq!(text, expect, "{between:?}");
    }
    // A paragraph that ends a line earlier wins over the line.
    let content = format!("alpha beta gamma delta epsilon zeta\n\neta\n{rest}");
    let (text, _) = run(&[cut(BlockFlags::CUT_TAIL, &content)], &RenderOptions::new(15), &words);
    assert_eq!(text, "alpha beta gamma delta epsilon zeta\n[… 11 of 17 tokens left out]");
    // One that would cost more than a quarter is passed over.
    let content = format!("alpha beta\n\ngamma delta epsilon zeta {rest}");
    let (text, _) = run(&[cut(BlockFlags::CUT_TAIL, &content)], &RenderOptions::new(14), &words);
    assert_eq!(text, "alpha beta\n\ngamma delta epsilon zeta eta\n[… 9 of 16 tokens left out]");
}

#[test]
fn a_kept_end_starts_at_a_paragraph_or_line_if_one_is_near() {
    for (between, expect) in [
        ("\n\n", "[… 12 of 18 tokens left out]\nalpha beta gamma delta epsilon zeta"),
        ("\r\n\r\n", "[… 12 of 18 tokens left out]\nalpha beta gamma delta epsilon zeta"),
        ("\n  ", "[… 12 of 18 tokens left out]\n  alpha beta gamma delta epsilon zeta"),
        (" ", "[… 11 of 18 tokens left out]\neight alpha beta gamma delta epsilon zeta"),
    ] {
        let content = format!(
            "a b c d one two three four five six seven eight{between}alpha beta gamma delta epsilon zeta"
        );
        let (text, _) = run(&[cut(BlockFlags::CUT_HEAD, &content)], &RenderOptions::new(14), &words);
        assert_eq!(text, expect, "{between:?}");
    }
}

#[test]
fn text_without_spaces_is_cut_between_characters_and_fills_the_room() {
    let content =
        "日本語には空白がないので、切る場所は文字の間だけである。それでも文字が壊れることはない、本当に。";
    let total = chars(content);
    assert_eq!(total, 48);
    // "\n[… 38 of 48 tokens left out]" has 29 characters.
    let (text, outcomes) = run(&[cut(BlockFlags::CUT_TAIL, content)], &RenderOptions::new(39), &chars);
    assert_eq!(text, "日本語には空白がない\n[… 38 of 48 tokens left out]");
    assert_eq!(outcomes, [Outcome::Cut { from: 30, to: content.len(), left_out: 38 }]);
    // By bytes: 38 tokens are 152 bytes; the notice has 31, 121 remain, 120 of them are whole characters.
    let long = "語".repeat(100);
    let (text, _) = run(&[cut(BlockFlags::CUT_HEAD, &long)], &RenderOptions::new(38), &BytesPerFour);
    assert_eq!(text, format!("[… 45 of 75 tokens left out]\n{}", "語".repeat(40)));
}

#[test]
fn a_cut_leaves_at_least_min_tokens_or_is_not_made() {
    let log = ContextBlock { min_tokens: 5, ..cut(BlockFlags::CUT_TAIL, TWENTY) };
    assert!(matches!(
        run(&[log], &RenderOptions::new(12), &words).1[..],
        [Outcome::Cut { left_out: 15, .. }]
    ));
    let (text, outcomes) = run(&[log, block(-1, "small")], &RenderOptions::new(11), &words);
    assert_eq!(text, "small");
    assert_eq!(outcomes, [Outcome::Dropped(DropReason::BelowMinimum), KEPT]);
    // A boundary that would go below is passed over for a nearer one.
    let content = "alpha beta gamma delta epsilon zeta\n\neta theta iota kappa lambda mu nu xi omicron pi";
    let log = ContextBlock { min_tokens: 7, ..cut(BlockFlags::CUT_TAIL, content) };
    let (text, _) = run(&[log], &RenderOptions::new(14), &words);
    assert_eq!(text, "alpha beta gamma delta epsilon zeta\n\neta\n[… 9 of 16 tokens left out]");
}

#[test]
fn a_block_is_cut_only_if_its_flags_allow_it() {
    for flags in [BlockFlags::NONE, BlockFlags::WHOLE, BlockFlags::WHOLE | BlockFlags::CUT_TAIL] {
        assert_eq!(run(&[cut(flags, TWENTY)], &RenderOptions::new(12), &words).1, [NO_ROOM]);
    }
    let both = BlockFlags::CUT_MIDDLE | BlockFlags::CUT_TAIL;
    assert!(
        run(&[cut(both, TWENTY)], &RenderOptions::new(12), &words)
            .0
            .starts_with("one two three four five\n[…")
    );
    assert_eq!(BlockFlags::from_bits(both.bits()), Some(both));
    assert_eq!(BlockFlags::from_bits(1 << 5), None);
}

#[test]
fn a_cut_block_leaves_the_rest_to_others_also_under_strict() {
    let blocks = [
        ContextBlock {
            priority: 2,
            ..cut(BlockFlags::CUT_TAIL, "one\n\ntwo three four five six seven eight nine ten")
        },
        block(1, "x"),
    ];
    let strict = RenderOptions { policy: Policy::Strict, ..RenderOptions::new(9) };
    let (text, outcomes) = run(&blocks, &strict, &words);
    assert_eq!(text, "one\n\ntwo\n[… 8 of 10 tokens left out]");
    assert_eq!(outcomes[1], NO_ROOM);
}

#[test]
fn a_word_is_kept_whole_if_that_costs_at_most_32_bytes() {
    let content = format!("start {}", "x".repeat(100));
    let log = [cut(BlockFlags::CUT_TAIL, &content)];
    // "\n[… 70 of 106 tokens left out]" has 30 characters, so that 36 fit and then 38.
    assert_eq!(run(&log, &RenderOptions::new(66), &chars).0, "start\n[… 101 of 106 tokens left out]");
    let expect = format!("start {}\n[… 68 of 106 tokens left out]", "x".repeat(32));
    assert_eq!(run(&log, &RenderOptions::new(68), &chars).0, expect);
}

#[test]
fn a_piece_of_white_space_is_not_worth_a_cut() {
    let content = format!("{}{TWENTY}", " ".repeat(100));
    let (text, outcomes) = run(&[cut(BlockFlags::CUT_TAIL, &content)], &RenderOptions::new(50), &chars);
    assert_eq!((&*text, &outcomes[..]), ("", &[Outcome::Dropped(DropReason::BelowMinimum)][..]));
}

#[test]
fn a_paragraph_ends_a_piece_if_that_costs_at_most_a_quarter() {
    let content = format!("{}\n\n{}b", "a".repeat(30), "bb ".repeat(22));
    let log = [cut(BlockFlags::CUT_TAIL, &content)];
    assert_eq!(chars(&content), 99);
    // "\n[… 59 of 99 tokens left out]" has 29 characters, so that 40 fit and then 44.
    let expect = format!("{}\n[… 69 of 99 tokens left out]", "a".repeat(30));
    assert_eq!(run(&log, &RenderOptions::new(69), &chars).0, expect);
    let expect = format!("{}\n\nbb bb bb bb\n[… 56 of 99 tokens left out]", "a".repeat(30));
    assert_eq!(run(&log, &RenderOptions::new(73), &chars).0, expect);
}
