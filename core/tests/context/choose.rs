//! Which blocks are chosen, and where they stand.

use super::*;

#[test]
fn blocks_stand_by_descending_priority_and_equal_ones_in_input_order() {
    let blocks =
        [block(1, "a"), block(i32::MAX, "b"), block(i32::MAX, "c"), block(i32::MIN, "d"), block(0, "e")];
    let (text, outcomes) = run(&blocks, &RenderOptions::new(100), &BytesPerFour);
    assert_eq!(text, "b\n\nc\n\na\n\ne\n\nd");
    assert_eq!(outcomes, [KEPT; 5]);
}

#[test]
fn blocks_stand_in_input_order_when_asked_but_are_chosen_by_priority() {
    let blocks = [block(1, "aaaa"), block(9, "bbbb"), block(5, "cccc")];
    let options = RenderOptions { order: Order::Input, ..RenderOptions::new(3) };
    let (text, outcomes) = run(&blocks, &options, &BytesPerFour);
    assert_eq!(text, "bbbb\n\ncccc");
    assert_eq!(outcomes, [NO_ROOM, KEPT, KEPT]);
    let (text, _) = run(&blocks, &RenderOptions { budget: 4, ..options }, &BytesPerFour);
    assert_eq!(text, "aaaa\n\nbbbb\n\ncccc");
}

#[test]
fn the_whole_text_is_counted_and_not_the_sum_of_its_parts() {
    // "a", a blank line and "b" are four bytes, so one token, although each alone is one already.
    let blocks = [block(3, "a"), block(2, "b"), block(1, "c")];
    let (text, outcomes) = run(&blocks, &RenderOptions::new(1), &BytesPerFour);
    assert_eq!(text, "a\n\nb");
    assert_eq!(outcomes, [KEPT, KEPT, NO_ROOM]);
    // And the other way: two blocks of 4 bytes have 1 token each, the text of 10 bytes has 3.
    let blocks = [block(2, "aaaa"), block(1, "bbbb")];
    assert_eq!(run(&blocks, &RenderOptions::new(2), &BytesPerFour).0, "aaaa");
}

#[test]
fn greedy_goes_on_to_a_smaller_block_and_strict_stops() {
    let (large, small) = ("l".repeat(400), "s".repeat(4));
    let blocks = [block(3, "first"), block(2, &large), block(1, &small)];
    let (text, outcomes) = run(&blocks, &RenderOptions::new(20), &BytesPerFour);
    assert_eq!(text, "first\n\nssss");
    assert_eq!(outcomes, [KEPT, NO_ROOM, KEPT]);
    let strict = RenderOptions { policy: Policy::Strict, ..RenderOptions::new(20) };
    let (text, outcomes) = run(&blocks, &strict, &BytesPerFour);
    assert_eq!(text, "first");
    assert_eq!(outcomes, [KEPT, NO_ROOM, Outcome::Dropped(DropReason::Stopped)]);
}

#[test]
fn the_reserve_is_taken_from_the_budget() {
    let blocks = [block(2, "two words"), block(1, "three more words")];
    let options = RenderOptions { reserve: 10, ..RenderOptions::new(14) };
    let mut states = [BlockState::default(); 2];
    let mut buffer = [0; 64];
    let report = render(&blocks, &options, &words, &mut states, &mut buffer).unwrap();
    assert_eq!(report.text, "two words");
    assert_eq!((report.used, report.reserve, report.room), (2, 10, 2));
    let more = RenderOptions { reserve: 15, ..options };
    let report = render(&blocks, &more, &words, &mut states, &mut buffer).unwrap();
    assert_eq!((report.text, report.used, report.room), ("", 0, 0));
}

#[test]
fn pinned_blocks_are_chosen_first_and_stand_where_their_priority_puts_them() {
    let blocks = [block(9, "not pinned"), pinned(-5, "is pinned")];
    let (text, outcomes) = run(&blocks, &RenderOptions::new(3), &words);
    assert_eq!(text, "is pinned");
    assert_eq!(outcomes, [NO_ROOM, KEPT]);
    assert_eq!(run(&blocks, &RenderOptions::new(4), &words).0, "not pinned\n\nis pinned");
}

#[test]
fn pinned_blocks_that_do_not_fit_are_an_error_that_names_need_and_budget() {
    let blocks = [pinned(0, TWENTY), block(9, "small"), pinned(0, TWENTY)];
    let options = RenderOptions { reserve: 10, ..RenderOptions::new(49) };
    let error =
        render(&blocks, &options, &words, &mut [BlockState::default(); 3], &mut [0; 512]).unwrap_err();
    assert_eq!(error, RenderError::PinnedTooLarge { need: 40, budget: 49, reserve: 10 });
    assert_eq!(error.to_string(), "the pinned blocks need 40 tokens, the budget is 49 with 10 in reserve");
    assert_eq!(run(&blocks, &RenderOptions { budget: 50, ..options }, &words).1, [KEPT, NO_ROOM, KEPT]);
}

#[test]
fn pinned_blocks_that_may_be_cut_give_way_to_each_other_and_grow_by_priority() {
    let flags = BlockFlags::PINNED | BlockFlags::CUT_TAIL;
    let log = ContextBlock { flags, min_tokens: 3, ..ContextBlock::new(TWENTY) };
    let blocks = [ContextBlock { priority: 1, ..log }, ContextBlock { priority: 2, ..log }];
    // At the least each has 3 words and a notice of 7.
    let error =
        render(&blocks, &RenderOptions::new(19), &words, &mut [BlockState::default(); 2], &mut [0; 512])
            .unwrap_err();
    assert_eq!(error, RenderError::PinnedTooLarge { need: 20, budget: 19, reserve: 0 });
    let (text, _) = run(&blocks, &RenderOptions::new(22), &words);
    let expect = "one two three four five\n[… 15 of 20 tokens left out]\n\none two three\n[… 17 of 20 tokens left out]";
    assert_eq!(text, expect);
    let (text, _) = run(&blocks, &RenderOptions::new(30), &words);
    assert_eq!(text, format!("{TWENTY}\n\none two three\n[… 17 of 20 tokens left out]"));
    assert_eq!(run(&blocks, &RenderOptions::new(40), &words).1, [KEPT, KEPT]);
}

#[test]
fn nothing_to_show_is_an_empty_text() {
    assert_eq!(run(&[], &RenderOptions::new(9), &BytesPerFour), (String::new(), vec![]));
    assert_eq!(run(&[block(0, "a")], &RenderOptions::new(0), &BytesPerFour), (String::new(), vec![NO_ROOM]));
    let empty = Outcome::Dropped(DropReason::Empty);
    let blocks = [pinned(0, ""), block(0, "a"), block(0, ""), block(0, "b")];
    let strict = RenderOptions { policy: Policy::Strict, ..RenderOptions::new(9) };
    assert_eq!(run(&blocks, &strict, &BytesPerFour), ("a\n\nb".into(), vec![empty, KEPT, empty, KEPT]));
}
