//! The turn of a reply, read again.

use serde_json::Value as Json;
use toolcore::dialect::{Dialect, Finish, ReplayError, Reply, parse_reply};
use toolcore::json::{self, Options, Writer};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

/// The turn, without what encloses it, if there is one; in the room that is named.
pub(crate) fn turn(reply: &Reply<'_>) -> Option<String> {
    let need = match reply.write_replay(true, &mut Sink::measure()) {
        Ok(()) => 0,
        Err(ReplayError::NoSpace(short)) => short.need,
        Err(_) => return None,
    };
    let mut out = vec![0; need];
    let mut sink = Sink::new(&mut out);
    reply.write_replay(true, &mut sink).unwrap_or_else(|error| panic!("{need} bytes were measured: {error}"));
    Some(sink.finish().unwrap().to_owned())
}

/// The turn of a complete reply, in the form of a reply, holds the same calls, with the ids that their results get.
pub(crate) fn again(dialect: Dialect, reply: &Reply<'_>) {
    let Some(turn) = turn(reply) else { return };
    let calls = || reply.calls();
    if reply.is_empty() || reply.finish() != Finish::Complete || calls().any(|call| call.truncated) {
        return;
    }
    let (before, after) = match dialect {
        Dialect::OpenAiResponses => ("{\"output\":[", "]}"),
        Dialect::Gemini | Dialect::GeminiSchema => ("{\"candidates\":[{\"content\":", "}]}"),
        Dialect::Bedrock => ("{\"output\":{\"message\":", "}}"),
        Dialect::Ollama | Dialect::Cohere => ("{\"message\":", "}"),
        _ => ("", ""),
    };
    let text = format!("{before}{turn}{after}");
    let (mut words, mut bytes) = (vec![0; 8 * text.len() + 64], vec![0; 2 * text.len() + 64]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (again, _) = parse_reply(dialect, text.as_bytes(), &Options::default(), scratch)
        .unwrap_or_else(|error| panic!("{}: {error}: {text}", dialect.name()));
    assert_eq!(again.len(), calls().count(), "{}: {text}", dialect.name());
    for (call, again) in calls().zip(again.calls()) {
        assert_eq!(call.name, again.name, "{}: {text}", dialect.name());
        if !call.wire_id.is_empty() {
            assert_eq!(again.wire_id, call.wire_id, "{}: {text}", dialect.name());
        }
        // Blanks between tokens go. What is no object is put in its place where the provider takes nothing else.
        if serde_json::from_str::<Json>(call.arguments).is_ok_and(|arguments| arguments.is_object()) {
            assert_eq!(tokens(call.arguments), tokens(again.arguments), "{}: {text}", dialect.name());
        }
    }
}

/// JSON without blanks between its tokens, each of which keeps its bytes.
fn tokens(text: &str) -> String {
    let value = json::parse(text.as_bytes(), &Options::default()).unwrap();
    super::written(|sink| Writer::new(sink).value(value))
}
