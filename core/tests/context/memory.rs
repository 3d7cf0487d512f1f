//! Buffers, states and the number of counts.

use super::*;

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
    let calls = std::cell::Cell::new(0u32);
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
