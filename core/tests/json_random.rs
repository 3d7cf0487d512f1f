//! JSON against a second reader, serde_json: random edits of texts are accepted by both or by none and mean
//! the same, and random documents come back from being written.
#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use toolcore::json::{self, Error, Options, Reader, Reason, Str, Surrogates, Value, Writer};
use toolcore::sink::Sink;

/// Random edits of texts with everything in them: this reader and serde_json accept the same ones.
/// (serde_json's `IgnoredAny` checks the grammar only; UTF-8 is checked beside it, and its `Value` also
/// refuses lone surrogates, and numbers too large for a float.)
#[test]
fn the_ways_agree_with_each_other_and_with_serde_json() {
    let seeds: [&[u8]; 6] = [
        br#"{"a":[1,-2.5e+10,0,true,false,null,"x\u00e9\n"],"b":{"c":{},"d":[]},"":""}"#,
        br#" [ "\ud83d\ude00" , "\\\"\/\b\f\r\t" , [ [ ] ] , { "k" : 1E5 } ] "#,
        "[\"Tromsø 😀 \u{2028}\",0.001,-0,10e0]".as_bytes(),
        br#""a plain string that is longer than two words, \"quoted\" and \u0041""#,
        br#"{"city":"Oslo","unit":"celsius","days":3,"detail":{"hourly":true},"lang":"en"}"#,
        b"[[[[[[[[{\"a\":{\"b\":[0]}}]]]]]]]]",
    ];
    let pieces = br#"{}[]",:\ue0aA19-+.xtrfn/d8DcC "#;
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut accepted = 0;
    for round in 0..20_000 {
        let mut text = seeds[random.below(seeds.len())].to_vec();
        for _ in 0..random.below(4) {
            let at = random.below(text.len() + 1);
            match random.below(5) {
                0 => text.insert(at, pieces[random.below(pieces.len())]),
                1 => text.insert(at, u8::try_from(random.below(256)).unwrap()),
                2 if at < text.len() => _ = text.remove(at),
                3 if at < text.len() => text[at] = pieces[random.below(pieces.len())],
                _ => text.truncate(at.max(text.len().saturating_sub(5))),
            }
            if text.is_empty() {
                text.push(b' ');
            }
        }
        let results = every_way(&text, &Options::default());
        assert!(
            results.iter().all(|result| *result == results[0]),
            "round {round}: {results:?} for {text:?}"
        );
        let replace = Options { surrogates: Surrogates::Replace, ..Options::default() };
        let lenient = every_way(&text, &replace);
        assert!(
            lenient.iter().all(|result| *result == lenient[0]),
            "round {round}: {lenient:?} for {text:?}"
        );

        let shown = String::from_utf8_lossy(&text);
        let grammar = std::str::from_utf8(&text).is_ok()
            && serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
        assert_eq!(lenient[0].is_ok(), grammar, "round {round}: {shown}");
        match (results[0], serde_json::from_slice::<serde_json::Value>(&text)) {
            (Ok(()), Ok(theirs)) => {
                accepted += 1;
                assert!(
                    same(json::parse(&text, &Options::default()).unwrap(), &theirs),
                    "round {round}: {shown}"
                );
            }
            (Err(_), Err(_)) => {}
            (Ok(()), Err(error)) => {
                assert!(error.to_string().contains("out of range"), "round {round}: {error}: {shown}")
            }
            (Err(error), Ok(_)) => panic!("round {round}: {error}: {shown}"),
        }
        if let Err(error) = results[0]
            && error.reason != Reason::LoneSurrogate
        {
            // What stands before the place is the start of some valid text, so it is never an error other
            // than its end.
            let before = json::validate(&text[..error.offset], &replace);
            let fine = before.is_ok_and(|()| true)
                || before.is_err_and(|error| error.reason == Reason::UnexpectedEnd);
            assert!(fine, "round {round}: {error:?} but {before:?}: {shown}");
        }
    }
    assert!(accepted > 2_000, "only {accepted} texts were valid");
}

/// A random document, written; it reads as what serde_json reads, in strict mode, and copying it gives it
/// again.
#[test]
fn random_documents_come_back_as_they_were_written() {
    let mut random = Random(0x0DDB_1A5E_5BAD_5EED);
    let mut buffer = vec![0; 1 << 16];
    for round in 0..2_000 {
        let mut sink = Sink::new(&mut buffer);
        let mut expected = Vec::new();
        write_random(&mut Writer::new(&mut sink), &mut random, 4, &mut expected);
        let text = sink.finish().unwrap().to_owned();
        for result in every_way(text.as_bytes(), &Options::default()) {
            assert_eq!(result, Ok(()), "round {round}: {text}");
        }
        let value = json::parse(text.as_bytes(), &Options::default()).unwrap();
        assert!(same(value, &serde_json::from_str(&text).unwrap()), "round {round}: {text}");
        let mut strings = Vec::new();
        collect_strings(value, &mut strings);
        assert_eq!(strings, expected, "round {round}: {text}");
        let mut sink = Sink::new(&mut buffer);
        Writer::new(&mut sink).value(value);
        assert_eq!(sink.finish().unwrap(), text, "round {round}");
    }
}

/// Writes a random value, its members and items at most `depth` deep, and notes its strings and keys in
/// order.
fn write_random(writer: &mut Writer<'_, '_>, random: &mut Random, depth: usize, strings: &mut Vec<String>) {
    match random.below(if depth == 0 { 5 } else { 7 }) {
        0 => writer.null(),
        1 => writer.bool(random.below(2) == 0),
        2 => writer.i64(random.next().cast_signed() >> random.below(64)),
        3 => writer.f64(f64::from_bits(random.next())).unwrap_or_else(|_| writer.null()),
        4 => {
            strings.push(random.text());
            writer.string(strings.last().unwrap());
        }
        5 => {
            writer.array_start();
            for _ in 0..random.below(5) {
                write_random(writer, random, depth - 1, strings);
            }
            writer.array_end();
        }
        _ => {
            writer.object_start();
            for member in 0..random.below(5) {
                strings.push(format!("{}{member}", random.text()));
                writer.key(strings.last().unwrap());
                write_random(writer, random, depth - 1, strings);
            }
            writer.object_end();
        }
    }
}

fn collect_strings(value: Value<'_>, strings: &mut Vec<String>) {
    strings.extend(value.as_str().map(decoded_str));
    value.items().for_each(|item| collect_strings(item, strings));
    for (key, member) in value.entries() {
        strings.push(decoded_str(key));
        collect_strings(member, strings);
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

/// Whether the lazy view says what serde_json read. Of equal keys serde_json keeps the last.
fn same(ours: Value<'_>, theirs: &serde_json::Value) -> bool {
    match theirs {
        serde_json::Value::Null => ours.is_null(),
        serde_json::Value::Bool(theirs) => ours.as_bool() == Some(*theirs),
        serde_json::Value::Number(theirs) => {
            let ours = ours.as_number().unwrap();
            match (theirs.as_i64(), theirs.as_u64()) {
                (Some(theirs), _) => ours.as_i64() == Ok(theirs),
                (_, Some(theirs)) => ours.as_u64() == Ok(theirs),
                _ => {
                    (ours.as_f64().unwrap() - theirs.as_f64().unwrap()).abs()
                        <= theirs.as_f64().unwrap().abs() * 1e-15
                }
            }
        }
        serde_json::Value::String(theirs) => {
            let ours = ours.as_str().unwrap();
            ours == theirs.as_str()
                && ours.char_count() == theirs.chars().count()
                && decoded_str(ours) == *theirs
        }
        serde_json::Value::Array(theirs) => {
            ours.items().count() == theirs.len()
                && ours.items().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        serde_json::Value::Object(theirs) => {
            let last =
                |key: &str| ours.entries().filter(|(name, _)| *name == key).last().map(|(_, value)| value);
            ours.entries().all(|(key, _)| theirs.contains_key(&decoded_str(key)))
                && theirs.iter().all(|(key, theirs)| same(last(key).unwrap(), theirs))
        }
    }
}

fn decoded_str(string: Str<'_>) -> String {
    let text: String = string.chars().collect();
    let mut buffer = vec![0; text.len()];
    assert_eq!(string.decode_in(&mut buffer), Ok(text.as_str()));
    text
}

/// xorshift64
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A text of up to 20 characters, of all lengths in UTF-8 and with all kinds of escapes.
    fn text(&mut self) -> String {
        let pieces =
            ['a', 'Z', ' ', '"', '\\', '/', '\n', '\0', '\u{1f}', '\u{7f}', 'é', '\u{2028}', '€', '😀'];
        (0..self.below(20)).map(|_| pieces[self.below(pieces.len())]).collect()
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }
}
