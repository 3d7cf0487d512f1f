//! `format`, asserted on request: the public suite, and what it leaves out.

use super::{accepts, shared, text, try_program};
use std::collections::BTreeMap;
use toolcore::json::{self, Str, Value};
use toolcore::schema::format::Format;
use toolcore::schema::{
    CheckOptions, CompileOptions, Draft, Keyword, NoReport, Report, Schema, SchemaErrorKind, Violation,
};

const ASSERTED: CompileOptions =
    CompileOptions { formats: true, max_depth: 64, default_draft: Draft::Draft2020 };

/// What the suite says and this does not: both need the tables of IDNA 2008 (RFC 5892). Everything else must hold.
const MISSED: [(&str, usize); 2] = [("hostname", 23), ("idn-hostname", 54)];

#[test]
fn the_suite_of_formats_gets_its_verdicts() {
    let test = "the_suite_of_formats_gets_its_verdicts";
    for (draft, least) in [("draft2020-12", 687), ("draft7", 599)] {
        let Some(path) = shared("data/json-schema-test-suite", test) else { return };
        let (mut tests, mut missed) = (0, BTreeMap::<String, usize>::new());
        for file in std::fs::read_dir(path.join(draft).join("optional/format")).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let source = std::fs::read_to_string(&file).unwrap();
            for group in json::parse(source.as_bytes(), &json::Options::default()).unwrap().items() {
                let schema = group.get("schema").unwrap().raw();
                let program = try_program(schema, &ASSERTED).unwrap();
                for case in group.get("tests").unwrap().items() {
                    tests += 1;
                    let instance = case.get("data").unwrap().raw();
                    let verdict = Schema::new(schema, &program)
                        .check(instance.as_bytes(), &CheckOptions::default(), &mut [], &mut NoReport)
                        .unwrap();
                    if verdict.valid != case.get("valid").and_then(Value::as_bool).unwrap() {
                        *missed.entry(name.clone()).or_default() += 1;
                        println!("{draft} {name}: {instance}");
                    }
                }
            }
        }
        let passed = tests - missed.values().sum::<usize>();
        println!("{draft}: {passed} of {tests} formats, missed {missed:?}");
        for (name, count) in &missed {
            assert!(MISSED.iter().any(|(known, most)| known == name && count <= most), "{name}: {count}");
        }
        assert!(passed >= least, "{passed}");
    }
}

/// A format, texts that have it and texts that do not, beside those of the suite.
const TABLE: &[(&str, &[&str], &[&str])] = &[
    (
        "date-time",
        &["0000-01-01T00:00:00Z"],
        &["2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "2024-01-01T00:00:00.Z"],
    ),
    ("time", &["23:59:60.5Z"], &["23:59:60+24:00"]),
    ("duration", &["P0W", "PT0M"], &["p1D", "P1W1D", "PT1M1H"]),
    (
        "email",
        &["a@b", "\"a\\\"b\"@c.d", "a!#$%&'*+-/=?^_`{|}~@b.c"],
        &["a@b.", "a@-b", "\"a@b", "a@[1.2.3]", "a@[IPv6:1]", "é@b.c", "\"a\"b@c"],
    ),
    (
        "email",
        &[
            "a@[ipV6:::1]",
            "0123456789012345678901234567890123456789012345678901234567890123@b.c",
            "\"01234567890123456789012345678901234567890123456789012345678901\"@b.c",
        ],
        &[
            "a@[ipv6::1]",
            "a@[x::1]",
            "01234567890123456789012345678901234567890123456789012345678901234@b.c",
            "\"012345678901234567890123456789012345678901234567890123456789012\"@b.c",
        ],
    ),
    ("idn-email", &["éééééééééééééééééééééééééééééééé@b.c"], &["ééééééééééééééééééééééééééééééééa@b.c"]),
    ("idn-email", &["é@ü.de"], &["@ü.de", "é@", "é b@c"]),
    ("hostname", &["a", "A-1.b"], &["a..b", "a.-b", "a-.b", "é"]),
    ("ipv4", &["10.0.0.1"], &["00.0.0.0", "1.2.3.4.", "1.2.3.1000000000000"]),
    (
        "ipv6",
        &["::", "1::", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "FE80::A"],
        &[
            "",
            ":",
            ":::",
            "1::2::3",
            "1:2:3:4:5:6:7:8:9",
            "::1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7:1.2.3.4",
            "1.2.3.4::",
            "::1%eth0",
            "1:",
        ],
    ),
    (
        "uri",
        &["a:", "http://[v1.a:b]/", "http://a:/", "x://u:p@h:1/a;b/@:?q?/#f?/", "file:///a"],
        &["", ":a", "http://a b", "http://[::1", "http://[1::2]x/", "x:%4", "x:#a#b", "x://a[b]/", "x:é"],
    ),
    ("uri-reference", &["a/b:c", "?a:b", "#a:b", "..", "a%20b"], &["a:b:%", "a\\b", "[", "é", "%"]),
    ("iri", &["x:é", "x:?\u{E000}"], &["é:x", "x:\u{E000}", "x:\u{FFFE}", "x:\u{7f}"]),
    ("iri-reference", &["/é", "é"], &["é:x", "é é"]),
    (
        "uri-template",
        &["{x}{+y,z*}", "/a{?b:10,c_d}", "{=a}", "é"],
        &["{", "}", "{x", "{x:}", "{x:00}", "{x**}", "{x:1*}", "{x-y}", "{.}", "{a.}", "%zz", "<"],
    ),
    (
        "uuid",
        &["01234567-89ab-cdef-ABCD-EF0123456789"],
        &["01234567-89ab-cdef-ABCD-EF012345678", "{01234567-89ab-cdef-ABCD-EF0123456789}"],
    ),
    ("json-pointer", &["//", "/~01"], &["/~", "a/"]),
    ("relative-json-pointer", &["0", "1+1/a", "2-3#", "10/~0"], &["0+0", "1+/a", "00", "a", "1a"]),
    ("regex", &["a|b", "(?<=a)b", "a{1,99999999}", "\\p{Emoji}"], &["(", "\\Z", "a{2,1}"]),
];

#[test]
fn texts_have_the_formats_that_their_documents_say() {
    for (name, yes, no) in TABLE {
        let format = Format::from_name(Str::from_plain(name).unwrap()).unwrap();
        assert_eq!(format.name(), *name);
        for (texts, expected) in [(yes, true), (no, false)] {
            for text in *texts {
                let source = serde_json::to_string(text).unwrap();
                let schema = format!("{{\"format\":{}}}", serde_json::to_string(name).unwrap());
                assert_eq!(asserted(&schema, &source).is_empty(), expected, "{name} {text:?}");
            }
        }
    }
}

/// Every cut of a text that has a format, and every character put in, is read to an answer.
#[test]
fn no_text_is_too_odd_for_a_format() {
    for (name, yes, _) in TABLE {
        let format = Format::from_name(Str::from_plain(name).unwrap()).unwrap();
        for text in *yes {
            for (at, _) in text.char_indices() {
                for part in ["", ":", "/", "%", "é", "9", "[", "\u{7f}"] {
                    let changed = format!("{}{part}{}", &text[..at], &text[at..]);
                    for text in [changed.as_str(), &changed[..at + part.len()]] {
                        Str::from_plain(text).map(|text| format.matches(text));
                    }
                }
            }
        }
    }
}

#[test]
fn a_format_is_an_annotation_unless_it_is_asserted() {
    let schema = r#"{"properties":{"when":{"type":"string","format":"date"}}}"#;
    assert!(accepts(schema, r#"{"when":"today"}"#));
    assert_eq!(
        asserted(schema, r#"{"when":"today"}"#),
        [(Keyword::Format, r#"/when: expected the format date, got "today""#.to_owned())]
    );
    assert!(asserted(schema, r#"{"when":"2024-\u0030\u0031-01"}"#).is_empty());
    assert!(asserted(r#"{"format":"date"}"#, "12").is_empty());
}

#[test]
fn an_unknown_format_passes_and_a_wrong_one_is_refused() {
    for name in ["idn-hostname", "int32", "Date", "", "a\\\"b", "dat\\u0065-"] {
        assert!(asserted(&format!("{{\"format\":\"{name}\"}}"), "\"?\"").is_empty(), "{name}");
    }
    assert_eq!(asserted(r#"{"format":"dat\u0065"}"#, "\"?\"").len(), 1);
    assert_eq!(try_program(r#"{"format":1}"#, &ASSERTED).unwrap_err().kind, SchemaErrorKind::BadKeyword);
    assert_eq!(
        try_program(r#"{"format":1}"#, &CompileOptions::default()).unwrap_err().kind,
        SchemaErrorKind::BadKeyword
    );
    let twice = r#"{"format":"date","format":"time"}"#;
    assert_eq!(try_program(twice, &ASSERTED).unwrap_err().kind, SchemaErrorKind::DuplicateKey);
}

/// The violations of an instance where formats are asserted.
fn asserted(schema: &str, instance: &str) -> Vec<(Keyword, String)> {
    let program = try_program(schema, &ASSERTED).unwrap();
    let mut all = All(Vec::new());
    Schema::new(schema, &program)
        .check(instance.as_bytes(), &CheckOptions::default(), &mut [0; 64], &mut all)
        .unwrap();
    all.0
}

struct All(Vec<(Keyword, String)>);

impl Report for All {
    fn violation(&mut self, violation: &Violation<'_>) {
        let said = text(|sink| {
            violation.write_path(sink);
            sink.put(": ");
            violation.write_message(sink);
        });
        self.0.push((violation.keyword(), said));
    }
}
