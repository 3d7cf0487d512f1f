//! What the tests of streams share.

use serde_json::Value as Json;
use toolcore::dialect::{Dialect, Finish, Reply, ReplyError, parse_reply};
use toolcore::json::Options;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamEvent, StreamOptions};

/// A call as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) id: Option<String>,
    pub(crate) wire_id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    pub(crate) truncated: bool,
}

/// What a reply holds, and what goes back of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) calls: Vec<Read>,
    pub(crate) text: String,
    pub(crate) finish: Finish,
    pub(crate) replay: Option<Json>,
}

impl Seen {
    pub(crate) fn of(reply: &Reply<'_>) -> Self {
        let calls = reply.calls().map(|call| Read {
            id: call.id.map(String::from),
            wire_id: call.wire_id.into(),
            name: call.name.into(),
            arguments: call.arguments.into(),
            truncated: call.truncated,
        });
        let mut memory = vec![0; 256 * 1024];
        let mut sink = Sink::new(&mut memory);
        reply.write_text(&mut sink);
        let text = sink.finish().unwrap().into();
        let mut memory = vec![0; 256 * 1024];
        let mut sink = Sink::new(&mut memory);
        let replay = reply.write_replay(false, &mut sink).ok();
        let replay = replay.map(|()| crate::common::read(sink.finish().unwrap()));
        Seen { calls: calls.collect(), text, finish: reply.finish(), replay }
    }

    /// Names and arguments of the calls.
    pub(crate) fn called(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }
}

/// What those who watch were told, joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Id, name, arguments, and whether the end was told.
    pub(crate) calls: Vec<(String, String, String, bool)>,
}

impl Watched {
    pub(crate) fn take(&mut self, event: StreamEvent<'_>) {
        match event {
            StreamEvent::Text(text) => self.text.push_str(text),
            StreamEvent::Reasoning(text) => self.reasoning.push_str(text),
            StreamEvent::CallStart { index, id, name } => {
                assert_eq!(index, self.calls.len(), "calls begin in order");
                self.calls.push((id.into(), name.into(), String::new(), false));
            }
            StreamEvent::Arguments { index, delta } => {
                assert!(!self.calls[index].3, "a piece after the end");
                self.calls[index].2.push_str(delta);
            }
            StreamEvent::CallEnd { index } => {
                assert!(!self.calls[index].3, "two ends");
                self.calls[index].3 = true;
            }
        }
    }
}

pub(crate) const ALL: StreamOptions =
    StreamOptions { calls_only: false, json: Options { max_depth: 128, surrogates: REJECT }, turn: 0 };
pub(crate) const CALLS: StreamOptions = StreamOptions { calls_only: true, ..ALL };
const REJECT: toolcore::json::Surrogates = toolcore::json::Surrogates::Reject;

/// Streams chunks through memory of these sizes.
pub(crate) fn stream_in<'c>(
    dialect: Dialect,
    chunks: impl IntoIterator<Item = &'c [u8]>,
    options: StreamOptions,
    [words, bytes]: [usize; 2],
) -> (Result<Seen, StreamError>, Watched) {
    let (mut words, mut bytes) = (vec![0; words], vec![0; bytes]);
    let mut watched = Watched::default();
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = match Stream::new(dialect, options, memory) {
        Ok(stream) => stream,
        Err(error) => return (Err(error), watched),
    };
    for chunk in chunks {
        if let Err(error) = stream.feed(chunk, &mut |event| watched.take(event)) {
            return (Err(error), watched);
        }
    }
    (stream.finish().map(|(reply, _)| Seen::of(&reply)), watched)
}

/// Streams chunks through ample memory.
pub(crate) fn stream<'c>(dialect: Dialect, chunks: impl IntoIterator<Item = &'c [u8]>) -> Seen {
    stream_watched(dialect, chunks).0
}

pub(crate) fn stream_watched<'c>(
    dialect: Dialect,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Seen, Watched) {
    let (seen, watched) = stream_in(dialect, chunks, ALL, [4096, 256 * 1024]);
    (seen.unwrap_or_else(|error| panic!("{error}")), watched)
}

pub(crate) fn failed(dialect: Dialect, text: &str) -> StreamError {
    let (seen, _) = stream_in(dialect, [text.as_bytes()], ALL, [4096, 256 * 1024]);
    seen.unwrap_err()
}

/// Reads a whole reply.
pub(crate) fn whole(dialect: Dialect, reply: &Json) -> Result<Seen, ReplyError> {
    let (mut words, mut bytes) = (vec![0; 4096], vec![0; 256 * 1024]);
    let reply = reply.to_string();
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch)?;
    Ok(Seen::of(&reply))
}

/// Server-sent events of these values, with the end marker of OpenAI if `done`.
pub(crate) fn sse(events: &[Json], done: bool) -> String {
    let mut text = String::new();
    for event in events {
        if let Some(kind) = event["type"].as_str() {
            text.push_str(&format!("event: {kind}\n"));
        }
        text.push_str(&format!("data: {event}\n\n"));
    }
    if done {
        text.push_str("data: [DONE]\n\n");
    }
    text
}

/// A chunk of OpenAI's with this delta.
pub(crate) fn chunk(delta: &Json) -> Json {
    serde_json::json!({"id":"c","object":"chat.completion.chunk","created":1,"model":"m",
        "choices":[{"index":0,"delta":delta,"logprobs":null,"finish_reason":null}],"usage":null})
}

/// Random numbers that are the same everywhere (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % n
    }

    /// Cuts bytes anywhere.
    pub(crate) fn cut<'b>(&mut self, bytes: &'b [u8]) -> Vec<&'b [u8]> {
        let most = [1, 3, 20, 200][self.below(4)] + 1;
        let (mut chunks, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(self.below(most).min(rest.len()));
            chunks.push(chunk);
            rest = after;
        }
        chunks
    }
}
