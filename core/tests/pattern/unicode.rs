//! The tables against those of the crate `regex`, code point by code point.

use super::{program, work_words};
use std::fmt::Write;
use toolcore::json::Str;
use toolcore::schema::pattern::is_match;

#[test]
fn every_code_point_has_its_category_and_script() {
    let names = [
        "Lu",
        "Ll",
        "Lt",
        "Lm",
        "Lo",
        "Mn",
        "Mc",
        "Me",
        "Nd",
        "Nl",
        "No",
        "Pc",
        "Pd",
        "Ps",
        "Pe",
        "Pi",
        "Pf",
        "Po",
        "Sm",
        "Sc",
        "Sk",
        "So",
        "Zs",
        "Zl",
        "Zp",
        "Cc",
        "Cf",
        "Co",
        "Cn",
        "L",
        "LC",
        "M",
        "N",
        "P",
        "S",
        "Z",
        "Script=Arabic",
        "Script=Armenian",
        "Script=Bengali",
        "Script=Cyrillic",
        "Script=Devanagari",
        "Script=Georgian",
        "Script=Greek",
        "Script=Han",
        "Script=Hangul",
        "Script=Hebrew",
        "Script=Hiragana",
        "Script=Katakana",
        "Script=Latin",
        "Script=Tamil",
        "Script=Thai",
    ];
    let step = if cfg!(debug_assertions) { 31 } else { 1 };
    let all: String =
        (0..0x11_0000).filter_map(char::from_u32).filter(|c| !matches!(c, '"' | '\\' | '\0'..' ')).collect();
    for name in names {
        let ours = program(&format!("^\\p{{{name}}}$"));
        let mut work = vec![0; work_words(&ours)];
        let theirs = regex::Regex::new(&format!("\\p{{{name}}}+")).unwrap();
        let mut expected = vec![false; 0x11_0000];
        for found in theirs.find_iter(&all) {
            found.as_str().chars().for_each(|c| expected[c as usize] = true);
        }
        for c in all.chars().step_by(step) {
            let mut buffer = [0; 4];
            let text = Str::from_plain(c.encode_utf8(&mut buffer)).unwrap();
            let found = is_match(&ours, text, &mut work, &mut 1000).unwrap();
            assert_eq!(found, expected[c as usize], "{name} {:x}", c as u32);
        }
    }
}

#[test]
fn a_category_has_a_short_and_a_long_name() {
    for (names, c) in [
        ("Lu Uppercase_Letter gc=Lu General_Category=Uppercase_Letter", 'A'),
        ("Nd Decimal_Number digit", '7'),
        ("P Punctuation punct gc=punct", '!'),
        ("M Mark Combining_Mark", '\u{301}'),
        ("Cc Control cntrl C Other", '\u{7f}'),
        ("Assigned", 'a'),
    ] {
        for name in names.split(' ') {
            let mut text = String::new();
            write!(text, "{c}").unwrap();
            assert!(super::matches(&format!("^\\p{{{name}}}$"), &text), "{name}");
            assert!(!super::matches(&format!("^\\P{{{name}}}$"), &text), "{name}");
        }
    }
}
