//! Patterns after ECMA-262, section 22.2 with the flag `u`.

use super::{PatternErrorKind, is_valid, matches, source, str_of, try_program};
use PatternErrorKind::*;

/// A pattern, texts that it matches and texts that it does not.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    ("", &["", "a"], &[]),
    ("b", &["b", "abc", "cab"], &["", "a", "B"]),
    ("ab", &["ab", "aab", "abb"], &["a", "ba", "a b"]),
    ("^ab$", &["ab"], &["xab", "abx", "ab\n", "\nab"]),
    ("a|bc|", &["", "x"], &[]),
    ("^(?:a|bc|def)$", &["a", "bc", "def"], &["", "ab", "abc", "de"]),
    ("^(a|)(b|c)$", &["ab", "c", "b"], &["a", "", "abc"]),
    ("^a*$", &["", "a", "aaaa"], &["b", "aab"]),
    ("^a+$", &["a", "aaaa"], &["", "aab"]),
    ("^a?b$", &["b", "ab"], &["aab", "a"]),
    ("^(ab)*c$", &["c", "ababc"], &["abab", "abac"]),
    ("^(a*)*$", &["", "aaa"], &["b"]),
    ("^(a*)+b$", &["b", "aaab"], &["a"]),
    ("^(a|b*)*c$", &["c", "abbac"], &["d"]),
    ("^a{3}$", &["aaa"], &["aa", "aaaa"]),
    ("^a{2,}$", &["aa", "aaaaaa"], &["", "a"]),
    ("^a{2,4}$", &["aa", "aaa", "aaaa"], &["a", "aaaaa"]),
    ("^a{0,2}b$", &["b", "ab", "aab"], &["aaab"]),
    ("^a{0}b$", &["b"], &["ab"]),
    ("^a{0,0}b$", &["b"], &["ab"]),
    ("^a{1}b{1,1}$", &["ab"], &["aab"]),
    ("^[ab]{3,40}c$", &["abac", "aaac"], &["abc", "abxac"]),
    ("^[ab]{0,40}c$", &["c", "abac"], &["abx"]),
    (
        "^[ab]{33,}c$",
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"],
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"],
    ),
    (
        "^.{31}$",
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
    ),
    (
        "^.{32}$",
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
        &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],
    ),
    ("[0-9]{2,}", &["a31b", "12"], &["a_x_3", "1a2"]),
    ("a{8,12}b", &["aaaaaaaaab", "aaaaaaaaaaaaaaaaab"], &["aaaaaaab"]),
    ("^([0-9]{1,3}\\.){3}[0-9]{1,3}$", &["1.22.333.4"], &["1.22.333", "1.22.3333.4", "1..2.3"]),
    ("^(ab){2,3}$", &["abab", "ababab"], &["ab", "abababab"]),
    ("^(ab){2,}$", &["abab", "abababab"], &["ab", "ababa"]),
    ("^(ab){0,2}$", &["", "ab", "abab"], &["ababab"]),
    ("^(a{8}b){2}$", &["aaaaaaaabaaaaaaaab"], &["aaaaaaaabaaaaaaab", "aaaaaaaab"]),
    ("^(a{6,9}|b){2}$", &["aaaaaaaaaaaa", "bb", "aaaaaaaaaaaaaaaaaa"], &["aaaaa", "aaaaaaaaaaaaaaaaaaa"]),
    ("^a*?b+?c??$", &["b", "aabbc"], &["a", "aabbcc"]),
    ("^a{2,3}?$", &["aa", "aaa"], &["a", "aaaa"]),
    (".", &["a", "\u{1F432}", "\u{85}", "\0"], &["", "\n", "\r", "\u{2028}", "\u{2029}"]),
    ("^.$", &["\u{1F432}"], &["ab"]),
    ("^[abc]$", &["a", "b", "c"], &["d", "", "ab"]),
    ("^[^abc]$", &["d", "\n", "\u{1F432}"], &["a", "b", "c"]),
    ("^[a-cx-z]$", &["a", "b", "y"], &["d", "w", "-"]),
    ("^[-a]$", &["-", "a"], &["b"]),
    ("^[a-]$", &["-", "a"], &["b"]),
    ("^[\\w-]$", &["-", "a", "_", "9"], &[".", "é"]),
    ("^[\\w-.]$", &["-", "a", "."], &["/", "+"]),
    ("^[.*+?^${}()|[/]$", &[".", "*", "^", "$", "{", ")", "[", "/"], &["]", "a"]),
    ("^[\\]\\\\\\-\\^]$", &["]", "\\", "-", "^"], &["a"]),
    ("^[\\d\\s]$", &["1", " ", "\u{FEFF}"], &["a"]),
    ("^[\\D]$", &["a", "\u{7C0}"], &["1"]),
    ("^[^\\D]$", &["1"], &["a"]),
    ("^[\\b]$", &["\u{8}"], &["b", ""]),
    ("[]", &[], &["", "a"]),
    ("[^]", &["a", "\n"], &[""]),
    ("^[\\u{1F400}-\\u{1F4FF}]$", &["\u{1F432}"], &["a", "\u{1F500}"]),
    ("^[\u{1F400}-\u{1F4FF}]+$", &["\u{1F432}\u{1F409}"], &["\u{D7FF}"]),
    ("^[\\uD83D\\uDC00-\\uD83D\\uDCFF]$", &["\u{1F432}"], &["\u{1F500}"]),
    ("^\\uD83D\\uDC32*$", &["", "\u{1F432}\u{1F432}"], &["\u{1F409}", "D"]),
    ("^\u{1F432}*$", &["", "\u{1F432}\u{1F432}"], &["\u{1F409}", "D"]),
    ("\\ud83d", &[], &["\u{1F432}", "\u{FFFD}"]),
    ("^\\t\\n\\v\\f\\r\\0$", &["\t\n\u{B}\u{C}\r\0"], &["tnvfr0"]),
    ("^\\cA\\cz\\x41\\u0042\\u{43}$", &["\u{1}\u{1A}ABC"], &["AzABC"]),
    ("^\\/\\-\\@\\ \\_\\\"\\.$", &["/-@ _\"."], &["/-@ _\"a"]),
    ("^{a}]$", &["{a}]"], &["a"]),
    ("^a{b,1}{1,c}$", &["a{b,1}{1,c}"], &["a"]),
    ("^\\d$", &["0", "9"], &["\u{7C0}", "a"]),
    ("^\\w$", &["a", "Z", "_", "0"], &["é", "-", "\u{17F}", "\u{212A}"]),
    ("^\\W$", &["é", "-"], &["a"]),
    (
        "^\\s$",
        &[
            " ", "\t", "\u{B}", "\u{C}", "\u{A0}", "\u{FEFF}", "\n", "\r", "\u{2028}", "\u{2029}",
            "\u{2003}", "\u{1680}",
        ],
        &["\u{1}", "\u{2013}", "\u{85}", "\u{200B}", "\u{180E}"],
    ),
    ("^\\S$", &["\u{1}", "\u{85}"], &[" ", "\u{FEFF}"]),
    ("\\bcat\\b", &["cat", "a cat!", "cat."], &["cats", "bobcat", "écate_"]),
    ("\\Bcat", &["bobcat"], &["cat", "a cat"]),
    ("\\b", &["a"], &["", "-", "é"]),
    ("\\B", &["", "-", "ab"], &["a"]),
    ("^\\p{Letter}+$", &["Hello", "π", "中", "ªǅʰ"], &["123", "a1", "\u{2160}"]),
    ("^\\p{L}\\p{Lu}\\p{Ll}$", &["aAb", "中Éé"], &["aab"]),
    ("^\\p{digit}+$", &["42", "\u{9EA}\u{9E8}"], &["-%#", "\u{B2}"]),
    ("^\\P{N}$", &["a"], &["1", "\u{B2}", "\u{2160}"]),
    ("^[\\p{P}\\p{S}]+$", &["!€+-«"], &["a"]),
    ("^[^\\p{Z}\\P{ASCII}]$", &["a"], &[" ", "\u{A0}", "é"]),
    ("^\\p{Script=Greek}+\\p{sc=Latn}$", &["πx", "αé"], &["xx", "ππ"]),
    ("^\\p{gc=Nd}\\p{General_Category=Sc}$", &["1€"], &["1x"]),
    ("^\\p{Any}\\p{White_Space}\\p{Alphabetic}\\p{AHex}$", &["😀 xF"], &["😀 xG"]),
    ("(?=.*[0-9]).+", &["a1", "1"], &["a", ""]),
    ("^(?=.*[A-Z])(?=.*\\d).{4,}$", &["aB3d", "1Zzzzzz"], &["abcd", "A1b", "abc1"]),
    ("^(?!abc).*$", &["ab", "xabc", ""], &["abc", "abcd"]),
    ("^(?!.*(?:foo|bar)).+$", &["foba"], &["xfoo", "bar"]),
    ("a(?=b)", &["ab", "xab"], &["a", "ac"]),
    ("a(?!b)", &["a", "abac"], &["ab"]),
    ("^(?:(?!end).)*end$", &["end", "xxend"], &["endend"]),
    ("^(?=a(?!b(?=c)))", &["a", "ab", "abd"], &["abc", "b"]),
    ("(?=^a)", &["ab"], &["ba"]),
    ("^(?=[ab]{6,9}c)[a-c]{2,8}$", &["abababc", "aaaaaaac"], &["ababac", "aaaaaaaac"]),
    ("^(?<year>\\d{4})-(?<month>\\d\\d)$", &["2024-01"], &["24-1"]),
    ("(?:)", &["", "a"], &[]),
    ("^(){3}()*$", &[""], &["a"]),
    ("^(^a|^b)$", &["a", "b"], &["ba"]),
    ("(^a)?b", &["ab", "xb"], &["a"]),
    ("^a|b", &["a", "xb"], &["xa"]),
    ("$^", &[""], &["a"]),
    ("x$|^y", &["ax", "ya", "y"], &["xa", "ay"]),
];

#[test]
fn patterns_match_what_ecma_262_says() {
    for (pattern, yes, no) in TABLE {
        for text in *yes {
            assert!(matches(pattern, text), "{pattern} should match {text:?}");
        }
        for text in *no {
            assert!(!matches(pattern, text), "{pattern} should not match {text:?}");
        }
    }
}

/// What is wrong with a pattern, and the bytes before the part that is.
const REFUSED: &[(&str, PatternErrorKind, usize)] = &[
    ("(a", Unclosed, 0),
    ("a(b(c)", Unclosed, 1),
    ("a[bc", Unclosed, 1),
    ("[a-", Unclosed, 0),
    ("[\\]", Unclosed, 0),
    ("a)", Unopened, 1),
    ("*a", NothingToRepeat, 0),
    ("a|+", NothingToRepeat, 2),
    ("(?:*)", NothingToRepeat, 3),
    ("a**", NothingToRepeat, 2),
    ("a{1}{2}", NothingToRepeat, 4),
    ("^*", NothingToRepeat, 1),
    ("\\b+", NothingToRepeat, 2),
    ("(?=a)*", NothingToRepeat, 5),
    ("{1}", NothingToRepeat, 0),
    ("a???", NothingToRepeat, 3),
    ("a{2,1}", BadQuantifier, 1),
    ("a{,3}", BadQuantifier, 1),
    ("a\\", BadEscape, 1),
    ("\\a", BadEscape, 0),
    ("\\A", BadEscape, 0),
    ("\\Z", BadEscape, 0),
    ("\\z", BadEscape, 0),
    ("\\h", BadEscape, 0),
    ("\\é", BadEscape, 0),
    ("\\x4", BadEscape, 0),
    ("\\u12", BadEscape, 0),
    ("\\u{110000}", BadEscape, 0),
    ("\\u{}", BadEscape, 0),
    ("\\c1", BadEscape, 0),
    ("\\00", BadEscape, 0),
    ("\\pL", BadEscape, 0),
    ("\\p{}", BadEscape, 0),
    ("\\p{L", BadEscape, 0),
    ("\\k", BadEscape, 0),
    ("[\\B]", BadEscape, 1),
    ("[\\1]", BadEscape, 1),
    ("a[z-a]", BadRange, 2),
    ("(?", BadGroup, 0),
    ("(?P<n>a)", BadGroup, 0),
    ("(?#c)a", BadGroup, 0),
    ("(?i)abc", BadGroup, 0),
    ("(?<1>a)", BadGroup, 0),
    ("(?<>a)", BadGroup, 0),
    ("(?>a)", BadGroup, 0),
    ("(a)\\2", BadReference, 3),
    ("\\1", BadReference, 0),
    ("(a)\\1", Backreference, 3),
    ("\\1(a)", Backreference, 0),
    ("(?<n>a)\\k<n>", Backreference, 7),
    ("(?<=a)b", Lookbehind, 0),
    ("(?<!a)b", Lookbehind, 0),
    ("(?i:a)b", Modifier, 0),
    ("a\\p{Emoji}", UnknownProperty, 1),
    ("\\p{letter}", UnknownProperty, 0),
    ("\\p{Script=Elvish}", UnknownProperty, 0),
    ("\\p{IsASomewhatLongNameOfNoPropertyThatThereEverWas}", UnknownProperty, 0),
    // The first thing that is wrong is told, and that before what is only not supported.
    ("(?<=a)[b", Unclosed, 6),
    ("é\u{1F432}(", Unclosed, 6),
    ("\"\\a", BadEscape, 1),
    ("a{65536}", TooLarge, 1),
    ("a{99999999999999999999}", TooLarge, 1),
    ("(ab){65536}", TooLarge, 4),
    ("((ab){1000}){1000}", TooLarge, 12),
    ("(?<n>a)(?<n>b)", DuplicateName, 7),
    ("(?<n>a)|(?<n>b)(?<n>c)", DuplicateName, 15),
    ("(?<n>(?<n>a))", DuplicateName, 5),
    ("((?<n>a)|b)(?<n>c)", DuplicateName, 11),
    ("(?<n>a)(?<\\u006e>b)", DuplicateName, 7),
    ("(?<n>a)\\k<m>", BadReference, 7),
    ("\\k<m>", BadReference, 0),
];

#[test]
fn what_is_refused_is_named_with_its_place() {
    for &(pattern, kind, offset) in REFUSED {
        let error = try_program(pattern).expect_err(pattern);
        // The table counts bytes of the pattern, an error those of the JSON that it is written in.
        assert_eq!((error.kind, error.offset), (kind, source(&pattern[..offset]).len()), "{pattern}");
        let valid = is_valid(str_of(&source(pattern)));
        assert_eq!(valid, !kind.is_syntax(), "{pattern}");
    }
}

#[test]
fn escapes_of_json_are_decoded_before_those_of_the_pattern() {
    // The text of the pattern is ^\d"\u00e9$ in three spellings.
    for pattern in [r#"^\\d\"\\u00e9$"#, r#"^\\d\"\u00e9$"#, r#"\u005e\u005cd\u0022é$"#] {
        let mut memory = [0; 128];
        let used = super::compile(str_of(pattern), &mut memory).unwrap();
        for text in [r#"7\"\u00e9"#, r#"\u0037\"é"#] {
            let mut steps = 100;
            assert_eq!(super::is_match(&memory[..used], str_of(text), &mut [0; 32], &mut steps), Ok(true));
        }
    }
}

#[test]
fn groups_nest_to_the_limit_and_no_further() {
    let nested = |open: &str, depth: usize| format!("^{}a{}$", open.repeat(depth), ")".repeat(depth));
    assert!(matches(&nested("(", 64), "a"));
    assert_eq!(try_program(&nested("(", 65)).unwrap_err().kind, TooDeep);
    let looks = |depth| format!("^{}a{}", "(?=".repeat(depth), ")".repeat(depth));
    assert!(matches(&looks(4), "ab"));
    assert!(!matches(&looks(4), "b"));
    assert_eq!(try_program(&looks(5)).unwrap_err().kind, TooDeep);
}
