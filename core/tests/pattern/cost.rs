//! What programs take, and that matching ends in time whatever the pattern.

use super::{MatchError, program, run, work_words};

#[test]
fn a_counted_character_takes_a_few_words_whatever_its_bounds() {
    for pattern in ["^.{1,500}$", "^[a-z]{3,64}$", "^\\p{L}{65535}$", "^a{0,65535}$", "^a{65535,}$"] {
        assert!(program(pattern).len() <= 4 * 14, "{pattern}: {} bytes", program(pattern).len());
    }
    assert_eq!(work_words(&program("^[a-z]{3,64}$")), 2 + 1 + 3, "two sets, the number one, 65 bits");
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

#[test]
fn a_counted_group_takes_a_few_words_whatever_its_bounds() {
    for (pattern, words) in [
        ("(ab){2,65535}", 2 + 5),
        ("(ab){65535,}", 2 + 5),
        ("((ab){1,100}c){1,100}", 3 + 2 * 5),
        ("(a?b?c?){1,1000}", 6 + 5),
    ] {
        assert_eq!(program(pattern).len(), 4 * (3 + words + 1), "{pattern}: header, words, the end");
    }
}

/// The ways of counted groups are followed together: the steps grow as the text does, and by a word of bits
/// for each 32 that are counted.
#[test]
fn counted_groups_take_linear_time() {
    for pattern in [
        "^(a?b?){1,9000}$",
        "((a|b|ab)c?){5,50}x",
        "(([ab]{1,9},?){3,30};?){2,}x",
        "(aa?){20}(a?){40}b{40}",
        "(a|aa){100,200}x",
        "((a?){9}(b?){9}){9}x",
    ] {
        let program = program(pattern);
        let text = "aab".repeat(3000) + "!";
        let (_, half) = run(&program, &text[text.len() / 2..], u32::MAX).unwrap();
        let (found, whole) = run(&program, &text, u32::MAX).unwrap();
        println!("{pattern}: {:.1} steps a character", f64::from(whole) / text.len() as f64);
        assert!(!found, "{pattern}");
        assert!(whole <= 2 * half + 200, "{pattern}: {whole} steps, {half} for half");
        let words = (program.len() / 4 + work_words(&program)) as u32;
        assert!(whole <= words * text.len() as u32, "{pattern}: {whole} steps for {words} words");
    }
}

/// What an assertion lets go round without a character goes round as often as it must, and is counted too.
#[test]
fn a_counted_assertion_meets_the_budget() {
    let program = program("^(^|a){60000}$");
    assert_eq!(run(&program, "aaaa", u32::MAX).map(|found| found.0), Ok(true));
    assert_eq!(run(&program, "aaaa", 1000), Err(MatchError::StepLimit));
}

/// The worst part of a pattern is `|`, whose two instructions are 8 bytes; a group that is counted takes 20.
#[test]
fn a_program_takes_at_most_twelve_bytes_for_each_of_its_text() {
    let mut worst = (0.0, "");
    for part in [
        "a",
        "|",
        "a|",
        "[ab]",
        "[]",
        "[^]",
        "[a-z]",
        "\\d",
        ".",
        "^",
        "$",
        "\\b",
        "a?",
        "a*",
        "a+",
        "a+|",
        "(a)",
        "()",
        "()*",
        "(|)*",
        "(|)?",
        "(|){2}",
        "(^){2}",
        "(^){9}",
        "(^*)",
        "\\p{L}",
        "[^-]",
        "(?=)",
        "(?!)",
        "(?=|)",
        "(?=a{9})",
        "[é-\u{1F432}]",
        "[!-\u{1F432}]",
        "a{2}",
        "a{9}",
        "a{1,9}",
        "a{0,9}",
        "a{9,}",
        "a{99}?",
        "(ab){2}",
        "(ab){9}",
        "(ab){99}",
        "(ab){0,9}",
        "(ab){1,9}",
        "(ab){9,}",
        "(ab){2,}",
        "(ab){5}",
        "(abcdefgh){2}",
        "(ab){3,4}",
        "((a){2}){2}",
        "((ab){9}){9}",
        "(a|b){3}",
        "(a*){2}",
        "([ab]{9}){9}",
    ] {
        let Ok(once) = super::try_program(part) else { continue };
        let pattern = part.repeat(200);
        let program = program(&pattern);
        let taken = program.len() - 16;
        let each = taken as f64 / pattern.len() as f64;
        println!("{part}: {each:.1} bytes for each of the pattern");
        assert!(taken <= 12 * pattern.len(), "{part}: {taken} for {}", pattern.len());
        assert!(once.len() - 16 <= 12 * part.len(), "{part}: {}", once.len());
        if each > worst.0 {
            worst = (each, part);
        }
    }
    println!("the worst is {}: {:.1}", worst.1, worst.0);
}
