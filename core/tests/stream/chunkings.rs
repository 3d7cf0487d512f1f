//! Any chunking of any form of a stream is the same reply, and is told the same.
//!
//! Forms: every framing, line end, comments, data in several lines, escapes in place of what is not ASCII.
//! Chunks: of one byte, of any size, none at all, and cut where it hurts: within a character, within an escape
//! or between the halves of a pair, between CR and LF.

use std::time::Instant;

use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, Reply};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamOptions};

use crate::chunks::examples;
use crate::common::{Tried, random_streams, read};
use crate::convert::stream_of;
use crate::support::{ALL, CALLS, Random, Watched};

/// Memory that is used again and again, so that what it holds from before must not matter.
pub(crate) struct Runner {
    words: Vec<u32>,
    bytes: Vec<u8>,
    out: Vec<u8>,
}

impl Runner {
    pub(crate) fn new() -> Self {
        Runner { words: vec![0; 2048], bytes: vec![0; 64 * 1024], out: vec![0; 128 * 1024] }
    }

    /// Streams chunks; gives all of the reply as text, one thing a line, and what was told.
    pub(crate) fn run<'c>(
        &mut self,
        dialect: Dialect,
        options: StreamOptions,
        chunks: impl IntoIterator<Item = &'c [u8]>,
    ) -> Result<(String, Watched), StreamError> {
        let memory = Scratch::new(&mut self.words, &mut self.bytes);
        let mut stream = Stream::new(dialect, options, memory)?;
        let mut watched = Watched::default();
        for chunk in chunks {
            stream.feed(chunk, &mut |event| watched.take(event))?;
        }
        let (reply, _) = stream.finish()?;
        Ok((told(&reply, &mut self.out, |arguments| arguments.into()), watched))
    }
}

/// All of a reply as text; `arguments` may make equal what is the same.
fn told(reply: &Reply<'_>, out: &mut [u8], arguments: impl Fn(&str) -> String) -> String {
    let mut told = format!("{:?}\n", reply.finish());
    for call in reply.calls() {
        let arguments = arguments(call.arguments);
        let (id, wire_id, name) = (call.id, call.wire_id, call.name);
        told.push_str(&format!("{id:?} {wire_id:?} {name:?} {arguments:?} {}\n", call.truncated));
    }
    let mut sink = Sink::new(out);
    reply.write_text(&mut sink);
    sink.put("\n");
    if let Err(error) = reply.write_replay(false, &mut sink) {
        sink.put(&error.to_string());
    }
    told.push_str(sink.finish().unwrap());
    told
}

/// A stream, and its reply as of one feed.
struct Form {
    text: String,
    reply: String,
    watched: Watched,
}

/// What models write whose server does not read their calls.
pub(crate) const TEXTS: [(Dialect, [&str; 2]); 3] = [
    (
        Dialect::Hermes,
        [
            "Let me \"see\" 😀\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Tromsø \\ud83d\\ude00\"}}\n</tool_call>\n<tool_call>{\"arguments\":{},\"name\":\"ping\"}</tool_call><|im_end|>",
            "a <tool\r\n<tool_call>{\"name\":\"f\",\"arguments\":{\"html\":\"</tool_call><tool_call>{\\\"\\\\\"}}</tool_call> so <b>é</b> is <tool",
        ],
    ),
    (
        Dialect::Llama3,
        [
            "<|python_tag|>{\"name\":\"f\",\"parameters\":{\"x\":\"ø; }{\\\"\"}}; {\"name\":\"g\",\"parameters\":{\"y\":\"\\u00e9\"}}<|eom_id|>",
            "Sure 😀: {\"name\":\"f\"} <|python_tag|>{\"name\":\"f\",\"parameters\":{\"x\":1}}",
        ],
    ),
    (
        Dialect::Mistral,
        [
            "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": [\"]ø\", 1]}, \"id\": \"D681PevKs\"}, {\"name\": \"g\", \"arguments\": {}}]</s>",
            "I look [up] 😀.[TOOL_CALLS]f[CALL_ID]D681PevKs[ARGS]{\"x\": \"[TOOL_CALLS]\\n\"}[TOOL_CALLS]g[ARGS]{}</s>",
        ],
    ),
];

/// How events are put into a stream.
#[derive(Clone, Copy, Debug)]
struct Framing {
    kind: Kind,
    end: &'static str,
    /// A mark at the beginning, comments, and fields that mean nothing.
    noise: bool,
    /// Laid out in lines.
    pretty: bool,
    /// `\u` in place of what is not ASCII.
    escaped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Events,
    Lines,
    Array,
}

/// The framings that are tried, of which each stream of [`examples`] gets all.
fn framings() -> Vec<Framing> {
    let mut framings = Vec::new();
    for (kind, end) in [
        (Kind::Events, "\n"),
        (Kind::Events, "\r\n"),
        (Kind::Events, "\r"),
        (Kind::Lines, "\n"),
        (Kind::Lines, "\r\n"),
        (Kind::Array, "\r\n"),
    ] {
        for [noise, pretty, escaped] in
            [[false; 3], [true, false, true], [false, true, true], [true, true, false]]
        {
            framings.push(Framing { kind, end, noise, pretty, escaped });
        }
    }
    framings
}

/// Takes apart what [`stream_of`] made, and frames its events anew.
fn frame(text: &str, how: Framing) -> String {
    let Framing { kind, end, noise, pretty, escaped } = how;
    let mut out = String::from(if noise { "\u{feff}" } else { "" });
    if noise && kind == Kind::Events {
        out.push_str(&format!(": héllo{end}{end}retry: 10{end}id{end}"));
    }
    let (mut name, mut first) = ("", true);
    for line in text.lines() {
        if let Some(event) = line.strip_prefix("event: ") {
            name = event;
            continue;
        }
        let data = line.strip_prefix("data: ").unwrap_or(line);
        if data.is_empty() || data == "[DONE]" && kind != Kind::Events {
            continue;
        }
        let mut data = data.to_owned();
        if pretty && data != "[DONE]" {
            data = serde_json::to_string_pretty(&read(&data)).unwrap();
        }
        if escaped {
            data = ascii(&data);
        }
        match kind {
            Kind::Events => {
                if !name.is_empty() {
                    out.push_str(&format!("event: {name}{end}"));
                }
                for line in data.lines() {
                    out.push_str(&format!("data:{}{line}{end}", if noise { "" } else { " " }));
                    if noise {
                        out.push_str(&format!(":{end}"));
                    }
                }
            }
            Kind::Lines => out.push_str(&data.replace('\n', end)),
            Kind::Array => {
                out.push_str(if first { "[" } else { "," });
                out.push_str(&data);
            }
        }
        out.push_str(end);
        (name, first) = ("", false);
    }
    if kind == Kind::Array {
        out.push(']');
    }
    out
}

/// JSON without what is not ASCII.
fn ascii(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// The streams of a dialect, and the reply of each.
fn forms(dialect: Dialect, texts: impl Iterator<Item = String>) -> Vec<Form> {
    let mut runner = Runner::new();
    let form = |text: String| {
        let (reply, watched) = runner.run(dialect, ALL, [text.as_bytes()]).unwrap_or_else(|error| {
            panic!("{}: {error}: {text}", dialect.name());
        });
        Form { text, reply, watched }
    };
    texts.map(form).collect()
}

/// All that is tried, by dialect.
fn all() -> Vec<(Dialect, Vec<Form>)> {
    let mut all = Vec::new();
    for (dialect, reply) in examples() {
        let texts = [1, 2, 7, 1000].into_iter().flat_map(|piece| {
            let text = stream_of(dialect, &reply, piece);
            framings().into_iter().map(move |how| frame(&text, how))
        });
        all.push((dialect, forms(dialect, texts)));
    }
    all.extend(TEXTS.map(|(dialect, texts)| (dialect, forms(dialect, texts.into_iter().map(String::from)))));
    all
}

/// Whether a cut before byte `at` is within a character, an escape, a line end, or the mark of a field.
fn hurts(bytes: &[u8], at: usize) -> bool {
    let escape = bytes[at.saturating_sub(11)..at].iter().rev().position(|byte| *byte == b'\\');
    let (before, after) = (bytes[at - 1], bytes[at]);
    after & 0xC0 == 0x80 || escape.is_some() || b"\r\n:[<".contains(&before) || after == b'\n'
}

/// Cuts bytes in one of several ways.
fn cut<'b>(random: &mut Random, bytes: &'b [u8]) -> Vec<&'b [u8]> {
    match random.below(8) {
        0 => bytes.chunks(1).collect(),
        1 => bytes.chunks(1 + random.below(100)).collect(),
        2..=4 => random.cut(bytes),
        _ => {
            let (mut chunks, mut start) = (Vec::new(), 0);
            for at in 1..bytes.len() {
                let chance = if hurts(bytes, at) { 2 } else { 100 };
                if random.below(chance) == 0 {
                    chunks.push(&bytes[start..at]);
                    if random.below(8) == 0 {
                        chunks.push(&[]);
                    }
                    start = at;
                }
            }
            chunks.push(&bytes[start..]);
            chunks
        }
    }
}

/// How many and which: see [`random_streams`].
#[test]
fn random_chunkings_change_nothing() {
    let (numbers, seed) = random_streams(300);
    let begin = Instant::now();
    let all = all();
    std::thread::scope(|scope| {
        for (dialect, forms) in &all {
            let (dialect, numbers) = (*dialect, numbers.clone());
            scope.spawn(move || {
                let mut runner = Runner::new();
                for number in numbers {
                    let tried = Tried { dialect, seed, number };
                    let mut random = Random(tried.start());
                    let Form { text, reply, watched } = &forms[random.below(forms.len())];
                    let chunks = cut(&mut random, text.as_bytes());
                    let (seen, told) = runner.run(dialect, ALL, chunks.iter().copied()).unwrap();
                    assert_eq!(
                        (&seen, &told),
                        (reply, watched),
                        "{text:?} in {:?}",
                        chunks.iter().map(|chunk| chunk.len()).collect::<Vec<_>>()
                    );
                    if random.below(8) == 0 {
                        let (_, told) = runner.run(dialect, CALLS, chunks).unwrap();
                        assert_eq!(told.calls, watched.calls);
                    }
                }
            });
        }
    });
    let (count, dialects, took) = (numbers.end - numbers.start, all.len(), begin.elapsed());
    println!("{count} chunkings, seed {seed}, of each of {dialects} dialects, {took:.1?}");
}

/// The framing of a stream says nothing; and all that stream are here.
#[test]
fn every_form_of_a_stream_is_the_same_reply() {
    let mut dialects = Vec::new();
    for (dialect, forms) in all() {
        dialects.push(dialect);
        if dialect.is_text() {
            continue;
        }
        let mut out = vec![0; 128 * 1024];
        let mut same = |text: &str| {
            let (mut words, mut bytes) = (vec![0; 2048], vec![0; 64 * 1024]);
            let mut stream = Stream::new(dialect, ALL, Scratch::new(&mut words, &mut bytes)).unwrap();
            stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
            let (reply, _) = stream.finish().unwrap();
            let normal = |text: &str| serde_json::from_str::<Json>(text).unwrap_or(json!(text)).to_string();
            let told = told(&reply, &mut out, normal);
            // The turn, which is the last line, keeps the blanks of arguments.
            let (before, turn) = told.split_once("\n[").unwrap();
            (before.to_owned(), read(&format!("[{turn}")))
        };
        let expected = same(&forms[0].text);
        for form in &forms {
            assert_eq!(same(&form.text), expected, "{}: {}", dialect.name(), form.text);
            assert_eq!(form.watched.calls.len(), forms[0].watched.calls.len());
            assert!(expected.0.ends_with(&form.watched.text), "{}: {}", dialect.name(), form.watched.text);
        }
    }
    for dialect in Dialect::ALL {
        let (mut words, mut bytes) = ([0; 64], [0; 512]);
        let streams = Stream::new(dialect, ALL, Scratch::new(&mut words, &mut bytes)).is_ok();
        assert_eq!(dialects.contains(&dialect), streams, "{}", dialect.name());
    }
}
