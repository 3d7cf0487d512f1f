//! What programs take, and that matching ends in time whatever the pattern.

use super::{MatchError, program, run, work_words};

#[test]
fn a_counted_character_takes_a_few_words_whatever_its_bounds() {
    for pattern in ["^.{1,500}$", "^[a-z]{3,64}$", "^\\p{L}{65535}$", "^a{0,65535}$", "^a{65535,}$"] {
        assert!(program(pattern).len() <= 4 * 14, "{pattern}: {} bytes", program(pattern).len());
    }
    assert_eq!(work_words(&program("^[a-z]{3,64}$")), 9 + 1 + 3, "its words, their bits, 65 bits");
}

#[test]
fn patterns_that_make_others_run_forever_take_linear_time() {
    let long = "a".repeat(20_000);
    for pattern in [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a*)*$",
        "(a?){40}a{40}$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(.*)(.*)(.*)(.*)x",
    ] {
        let program = program(pattern);
        let text = format!("{long}!");
        let short = run(&program, &text[10_001..], u32::MAX).unwrap();
        let whole = run(&program, &text, u32::MAX).unwrap();
        assert!(!whole.0, "{pattern}");
        assert!(whole.1 <= 2 * short.1 + 100, "{pattern}: {} steps, {} for half", whole.1, short.1);
        assert!(whole.1 as usize * 8 <= 2 * text.len() * program.len() / 4, "{pattern}: {} steps", whole.1);
    }
}

#[test]
fn a_lookahead_at_every_character_meets_the_budget() {
    let program = program("(?=.*x)(?=.*y)z");
    let text = "a".repeat(100_000);
    assert_eq!(run(&program, &text, 1_000_000), Err(MatchError::StepLimit));
    assert!(run(&program, &text[..1000], 1_000_000).is_ok());
}

#[test]
fn every_budget_of_steps_gives_the_answer_or_an_error() {
    let program = program("^(?=.*[0-9])([a-z]{1,40}[0-9]?)+$");
    let (answer, steps) = run(&program, "abcdefg7hijk", 1000).unwrap();
    assert!(answer && steps > 10);
    for budget in 0..steps + 3 {
        let result = run(&program, "abcdefg7hijk", budget);
        if budget < steps - 1 {
            assert_eq!(result, Err(MatchError::StepLimit), "{budget}");
        } else if budget > steps {
            assert_eq!(result, Ok((true, steps)), "{budget}");
        }
    }
}

#[test]
fn too_little_work_memory_is_an_error_that_names_what_would_do() {
    let program = program("^[a-z]{3,64}$");
    let need = work_words(&program);
    let text = super::str_of("abc");
    for words in 0..need {
        let mut work = vec![0; words];
        assert_eq!(
            super::is_match(&program, text, &mut work, &mut 100),
            Err(MatchError::NoWork { need }),
            "{words}"
        );
    }
}

/// The usual alternation, class and literal patterns.
#[test]
fn a_program_without_groups_that_repeat_takes_at_most_eight_bytes_for_each_of_its_text() {
    for part in [
        "a",
        "a|",
        "[ab]",
        "\\d",
        "a?",
        "a*",
        "(a)",
        "(|)*",
        "\\p{L}",
        "[^-]",
        "(?=)",
        "[é-\u{1F432}]",
        "a{1,9}",
        "a{9}",
        "a{99}?",
    ] {
        let pattern = part.repeat(200);
        let taken = program(&pattern).len();
        println!("{part}: {:.1} bytes for each of the pattern", taken as f64 / pattern.len() as f64);
        assert!(taken <= 8 * pattern.len() + 16, "{part}: {taken} for {}", pattern.len());
    }
}
