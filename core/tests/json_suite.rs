//! What is JSON and what is not: the public parsing suite, the field cases of class `json`, and a second
//! opinion.
//!
//! The suite and the cases live beside the repository in `../shared`; without that folder those tests say
//! that they are skipped.
#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::io::Write as _; // the runner hides what passing tests print
use std::path::PathBuf;
use toolcore::json::{self, Error, Event, Options, Reader, Reason, Surrogates, Value};

#[test]
fn the_suite_is_accepted_and_rejected_as_its_names_say() {
    let Some(folder) =
        shared("data/json-test-suite/test_parsing", "the_suite_is_accepted_and_rejected_as_its_names_say")
    else {
        return;
    };
    let (mut yes, mut no) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read(&path).unwrap();
        let results = every_way(&text, &Options::default());
        assert!(results.iter().all(|result| *result == results[0]), "{name}: the ways disagree: {results:?}");
        match name.get(..2) {
            Some("y_") => {
                yes += 1;
                assert_eq!(results[0], Ok(()), "{name}");
            }
            Some("n_") => {
                no += 1;
                let error = results[0].expect_err(&name);
                assert!(error.offset <= text.len(), "{name}");
            }
            _ => {}
        }
    }
    assert_eq!((yes, no), (95, 188));
}

#[test]
fn deep_nesting_is_an_error_at_the_configured_depth_and_costs_no_stack() {
    for (unit, width) in [("[", 1), ("{\"a\":", 5)] {
        let text = unit.repeat(100_000);
        for depth in [0, 1, 7, 128] {
            let options = Options { max_depth: depth, ..Options::default() };
            let expected = Err(Error { reason: Reason::DepthLimit, offset: usize::from(depth) * width });
            // 32 kB of stack: a level of recursion each would need megabytes.
            let text = text.clone();
            let results = std::thread::Builder::new()
                .stack_size(32 * 1024)
                .spawn(move || every_way(text.as_bytes(), &options));
            for result in results.unwrap().join().unwrap() {
                assert_eq!(result, expected, "{unit} at depth {depth}");
            }
        }
    }
    let clamped = Options { max_depth: u16::MAX, ..Options::default() };
    let at_limit = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(json::validate(at_limit.as_bytes(), &clamped), Ok(()));
    let beyond = format!("[{at_limit}]");
    let expected = Err(Error { reason: Reason::DepthLimit, offset: 128 });
    assert_eq!(json::validate(beyond.as_bytes(), &clamped), expected);
}

/// The reason and the offset for one text of each kind of mistake.
#[test]
fn every_error_names_its_reason_and_its_place() {
    for (text, reason, offset) in [
        (&b""[..], Reason::UnexpectedEnd, 0),
        (b"  ", Reason::UnexpectedEnd, 2),
        (b"[1", Reason::UnexpectedEnd, 2),
        (b"{\"a\":", Reason::UnexpectedEnd, 5),
        (b"\"ab", Reason::UnexpectedEnd, 3),
        (b"{} {}", Reason::TrailingData, 3),
        (b"1 ]", Reason::TrailingData, 2),
        (b"[1,]", Reason::ExpectedValue, 3),
        (b"[,1]", Reason::ExpectedValue, 1),
        (b"{\"a\":}", Reason::ExpectedValue, 5),
        (b"{\"a\":1,}", Reason::ExpectedKey, 7),
        (b"{a:1}", Reason::ExpectedKey, 1),
        (b"{'a':1}", Reason::ExpectedKey, 1),
        (b"{\"a\" 1}", Reason::ExpectedColon, 5),
        (b"{\"a\"}", Reason::ExpectedColon, 4),
        (b"[1 2]", Reason::ExpectedComma, 3),
        (b"[1}", Reason::ExpectedComma, 2),
        (b"{\"a\":1]", Reason::ExpectedComma, 6),
        (b"[nul]", Reason::BadLiteral, 4),
        (b"True", Reason::BadLiteral, 0),
        (b"01", Reason::BadNumber, 1),
        (b"-01", Reason::BadNumber, 2),
        (b"+1", Reason::BadNumber, 0),
        (b"[.5]", Reason::BadNumber, 1),
        (b"[1.]", Reason::BadNumber, 3),
        (b"[1e+]", Reason::BadNumber, 4),
        (b"[-]", Reason::BadNumber, 2),
        (b"\"a\\x41\"", Reason::BadEscape, 2),
        (b"\"\\u12G4\"", Reason::BadEscape, 1),
        (b"\"a\nb\"", Reason::ControlCharacter, 2),
        (b"\"12345678\x1f\"", Reason::ControlCharacter, 9),
        (b"\"a\xffb\"", Reason::InvalidUtf8, 2),
        (b"\"\xed\xa0\x80\"", Reason::InvalidUtf8, 1),
        (b"{}\xff", Reason::InvalidUtf8, 2),
        (b"12\xff", Reason::InvalidUtf8, 2),
        (b"[1,]\xff", Reason::ExpectedValue, 3),
        (b"\"\\\xff\"", Reason::InvalidUtf8, 2),
        (b"\"\\ud83d\"", Reason::LoneSurrogate, 1),
        (b"\"\\ude00\"", Reason::LoneSurrogate, 1),
        (b"\"12345678\\ud83d\\u0041\"", Reason::LoneSurrogate, 9),
        (b"\"\\ud83d\\ud83d\\ude00\"", Reason::LoneSurrogate, 1),
        (b"\xef\xbb\xbf{}", Reason::ByteOrderMark, 0),
    ] {
        for result in every_way(text, &Options::default()) {
            assert_eq!(result, Err(Error { reason, offset }), "{:?}", String::from_utf8_lossy(text));
        }
    }
}

#[test]
fn errors_read_as_a_sentence() {
    let error = json::validate(b"{\"city\":\"x\"} trailing", &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "trailing data at byte 13");
    let mut buffer = [0; 64];
    let mut sink = toolcore::sink::Sink::new(&mut buffer);
    error.write(&mut sink);
    assert_eq!(sink.finish().unwrap(), "trailing data at byte 13");
}

/// case-006
#[test]
fn a_lone_surrogate_is_named_or_replaced_and_what_follows_is_kept() {
    let Some(input) = case("case-006") else { return };
    let input = parse(&input);
    let text = decoded(input.get("text").unwrap());
    let expected = Err(Error { reason: Reason::LoneSurrogate, offset: 6 });
    assert_eq!(json::validate(text.as_bytes(), &Options::default()), expected);
    let replace = Options { surrogates: Surrogates::Replace, ..Options::default() };
    let value = json::parse(text.as_bytes(), &replace).unwrap();
    assert_eq!(decoded(value.get("m").unwrap()), "\u{fffd}A");
}

/// case-014
#[test]
fn not_a_number_is_never_read_and_never_written() {
    let Some(input) = case("case-014") else { return };
    let texts: Vec<String> = parse(&input).get("texts").unwrap().items().map(decoded).collect();
    let results: Vec<_> =
        texts.iter().map(|text| json::validate(text.as_bytes(), &Options::default())).collect();
    let expected = [
        Err(Error { reason: Reason::BadLiteral, offset: 5 }),
        Err(Error { reason: Reason::BadNumber, offset: 6 }),
        Ok(()),
    ];
    assert_eq!(results, expected);
    let huge = parse(&texts[2]).get("x").unwrap().as_number().unwrap();
    assert_eq!((huge.raw(), huge.as_f64()), ("1e999", Err(json::NumberError::OutOfRange)));

    let mut buffer = [0; 16];
    let mut sink = toolcore::sink::Sink::new(&mut buffer);
    let mut writer = json::Writer::new(&mut sink);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(writer.f64(value), Err(json::NotFinite));
    }
    assert!(sink.is_empty());
}

/// case-037: what a tool's text becomes on the wire.
#[test]
fn written_strings_are_one_line_of_utf8_without_control_characters() {
    let all: String =
        (0..=0x11FFu32).filter_map(char::from_u32).chain("\u{2028}\u{2029}\u{10ffff}".chars()).collect();
    let mut buffer = vec![0; 32 * 1024];
    let mut sink = toolcore::sink::Sink::new(&mut buffer);
    json::Writer::new(&mut sink).string(&all);
    let text = sink.finish().unwrap();
    assert!(text.bytes().all(|b| b >= b' '));
    assert_eq!(serde_json::from_str::<String>(text).unwrap(), all);
    assert_eq!(decoded(parse(text)), all);
}

/// case-040
#[test]
fn a_hundred_thousand_brackets_are_a_depth_error() {
    let Some(input) = case("case-040") else { return };
    let input = parse(&input);
    let count = usize::try_from(input.get("count").unwrap().as_number().unwrap().as_u64().unwrap()).unwrap();
    for unit in [input.get("unit").unwrap()].into_iter().chain(input.get("also").unwrap().items()) {
        let unit = decoded(unit);
        let text = unit.repeat(count);
        let expected = Err(Error { reason: Reason::DepthLimit, offset: 128 * unit.len() });
        assert_eq!(json::validate(text.as_bytes(), &Options::default()), expected);
    }
}

/// case-041
#[test]
fn a_text_cut_short_is_an_unexpected_end() {
    let Some(input) = case("case-041") else { return };
    for hex in parse(&input).get("hex").unwrap().items() {
        let hex = decoded(hex);
        let text: Vec<u8> =
            (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
        let expected = Err(Error { reason: Reason::UnexpectedEnd, offset: text.len() });
        for result in every_way(&text, &Options::default()) {
            assert_eq!(result, expected, "{hex}");
        }
    }
}

/// case-042
#[test]
fn garbage_that_others_let_through_is_rejected() {
    let Some(input) = case("case-042") else { return };
    let texts: Vec<String> = parse(&input).get("texts").unwrap().items().map(decoded).collect();
    let expected = [
        (Reason::ExpectedValue, 0),
        (Reason::ExpectedValue, 0),
        (Reason::TrailingData, 2),
        (Reason::ExpectedValue, 3),
        (Reason::ExpectedValue, 1),
        (Reason::ExpectedKey, 7),
        (Reason::ExpectedColon, 4),
        (Reason::ExpectedKey, 1),
        (Reason::ExpectedComma, 3),
        (Reason::BadEscape, 1),
        (Reason::BadNumber, 1),
        (Reason::UnexpectedEnd, 2),
        (Reason::BadNumber, 0),
        (Reason::ExpectedValue, 0),
        (Reason::ControlCharacter, 2),
    ];
    assert_eq!(texts.len(), expected.len());
    for (text, (reason, offset)) in texts.iter().zip(expected) {
        for result in every_way(text.as_bytes(), &Options::default()) {
            assert_eq!(result, Err(Error { reason, offset }), "{text}");
        }
    }
}

/// case-010, case-011
#[test]
fn arguments_in_a_string_or_in_a_fence_are_repaired_only_when_asked() {
    for (id, name, strict) in [("case-010", "double-encoded", None), ("case-011", "fence", Some(0))] {
        let Some(input) = case(id) else { return };
        let text = decoded(parse(&input).get("text").unwrap());
        let error = json::validate(text.as_bytes(), &Options::default()).err();
        assert_eq!(error.map(|error| error.offset), strict, "{id}");
        let mut memory = vec![0; text.len()];
        let repaired = json::repair(&text, &Options::default(), &mut memory).unwrap();
        assert_eq!(repaired.value.raw(), r#"{"city":"Oslo"}"#, "{id}");
        assert!(repaired.repairs.names().eq([name]), "{id}");
    }
}

/// The verdict of `validate`, of `parse`, of pulling every event, and of skipping the value.
fn every_way(text: &[u8], options: &Options) -> [Result<(), Error>; 4] {
    let pull = || {
        let mut reader = Reader::new(text, options);
        loop {
            match reader.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(error) => {
                    assert_eq!(reader.next_event().unwrap_err(), error, "an error does not stay");
                    return Err(error);
                }
            }
        }
    };
    let skip = || {
        let mut reader = Reader::new(text, options);
        reader.skip_value()?;
        reader.next_event().map(|event| assert!(event.is_none()))
    };
    [json::validate(text, options), json::parse(text, options).map(|_| ()), pull(), skip()]
}

/// Events make the same text again, blanks aside.
#[test]
fn events_written_again_are_the_same_document() {
    let Some(folder) =
        shared("data/json-test-suite/test_parsing", "events_written_again_are_the_same_document")
    else {
        return;
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(entry.unwrap().path()).unwrap();
        if json::validate(&text, &Options::default()).is_err() {
            continue;
        }
        let mut buffer = vec![0; text.len()];
        let mut sink = toolcore::sink::Sink::new(&mut buffer);
        let mut writer = json::Writer::new(&mut sink);
        let mut reader = Reader::new(&text, &Options::default());
        while let Some(event) = reader.next_event().unwrap() {
            match event {
                Event::ObjectStart => writer.object_start(),
                Event::ObjectEnd => writer.object_end(),
                Event::ArrayStart => writer.array_start(),
                Event::ArrayEnd => writer.array_end(),
                Event::Key(key) => writer.key_str(key),
                Event::String(string) => writer.str(string),
                Event::Number(number) => writer.raw(number.raw()),
                Event::Bool(value) => writer.bool(value),
                Event::Null => writer.null(),
            }
        }
        let written = sink.finish().unwrap();
        let mut blank = false;
        let (mut quoted, mut escaped) = (false, false);
        let compact: Vec<u8> = text
            .iter()
            .copied()
            .filter(|&b| {
                blank = !quoted && b.is_ascii_whitespace();
                quoted ^= b == b'"' && !escaped;
                escaped = b == b'\\' && !escaped;
                !blank
            })
            .collect();
        assert_eq!(written.as_bytes(), compact);
    }
}

fn parse(text: &str) -> Value<'_> {
    json::parse(text.as_bytes(), &Options::default()).unwrap()
}

fn decoded(value: Value<'_>) -> String {
    decoded_str(value.as_str().unwrap())
}

fn decoded_str(string: json::Str<'_>) -> String {
    let text: String = string.chars().collect();
    let mut buffer = vec![0; text.len()];
    assert_eq!(string.decode_in(&mut buffer), Ok(text.as_str()));
    text
}

/// The JSON text of the `input` of a field case.
fn case(id: &str) -> Option<String> {
    let path = shared("cases/field-cases.jsonl", id)?;
    let cases = std::fs::read_to_string(path).unwrap();
    let case = cases.lines().map(parse).find(|case| case.get("id").unwrap().as_str().unwrap() == id);
    Some(case.unwrap().get("input").unwrap().raw().to_owned())
}

fn shared(path: &str, test: &str) -> Option<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    if !root.is_dir() {
        let line = format!("skipped: {test}: ../shared is absent\n");
        std::io::stderr().write_all(line.as_bytes()).ok();
        return None;
    }
    Some(root.join(path))
}
