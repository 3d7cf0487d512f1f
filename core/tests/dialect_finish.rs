//! What it means why a reply ended, in each dialect, whole and streamed.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, answered, boxed, open};
use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, Finish, Reply, parse_reply};
use toolcore::json::Options;
use toolcore::result::OutcomeKind;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamEvent, StreamOptions};

/// Why it ended, which calls are never executed, and its text.
type Seen = (Finish, Vec<bool>, String);

fn seen(reply: &Reply<'_>) -> Seen {
    let mut text = [0; 256];
    let mut sink = Sink::new(&mut text);
    reply.write_text(&mut sink);
    (reply.finish(), reply.calls().map(|call| call.truncated).collect(), sink.finish().unwrap().into())
}

/// A reply read whole, and as what came where a stream was asked for: the same, and the same is told.
fn read(dialect: Dialect, reply: &Json) -> Seen {
    let reply = reply.to_string();
    let (mut words, mut bytes) = ([0; 64], [0; 1024]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (whole, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch).unwrap();
    let whole = seen(&whole);
    assert_eq!(streamed(dialect, &reply), whole, "{reply}");
    whole
}

/// What a stream comes to, whose text is all told.
fn streamed(dialect: Dialect, text: &str) -> Seen {
    streamed_as(dialect, text, false)
}

/// The same if only the calls are kept.
fn streamed_calls(dialect: Dialect, text: &str) -> Seen {
    streamed_as(dialect, text, true)
}

fn streamed_as(dialect: Dialect, text: &str, calls_only: bool) -> Seen {
    let (mut words, mut bytes, mut told) = ([0; 256], [0; 4096], String::new());
    let scratch = Scratch::new(&mut words, &mut bytes);
    let mut stream =
        Stream::new(dialect, StreamOptions { calls_only, ..StreamOptions::default() }, scratch).unwrap();
    let mut watch = |event: StreamEvent<'_>| {
        if let StreamEvent::Text(text) = event {
            told.push_str(text);
        }
    };
    stream.feed(text.as_bytes(), &mut watch).unwrap();
    let seen = seen(&stream.finish().unwrap().0);
    assert_eq!(told, seen.2, "{text}");
    seen
}

/// Server-sent events of these values.
fn sse(events: &[Json]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// A reply with text and two calls that ends for this reason.
fn reply(dialect: Dialect, reason: &str) -> Json {
    let openai = |id: &str| json!({"id":id,"type":"function","function":{"name":"f","arguments":"{}"}});
    let message = json!({"role":"assistant","content":"x","tool_calls":[openai("a"), openai("b")]});
    match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat => {
            json!({"choices":[{"index":0,"message":message,"finish_reason":reason}]})
        }
        Dialect::OpenAiResponses => {
            let call = |id: &str| json!({"type":"function_call","call_id":id,"name":"f","arguments":"{}"});
            let text = json!({"type":"message","content":[{"type":"output_text","text":"x"}]});
            json!({"output":[text, call("a"), call("b")],"incomplete_details":{"reason":reason}})
        }
        Dialect::Anthropic => {
            let call = |id: &str| json!({"type":"tool_use","id":id,"name":"f","input":{}});
            let content = json!([{"type":"text","text":"x"}, call("a"), call("b")]);
            json!({"type":"message","content":content,"stop_reason":reason})
        }
        Dialect::Gemini | Dialect::GeminiSchema => {
            let call = json!({"functionCall":{"name":"f","args":{}}});
            let content = json!({"role":"model","parts":[{"text":"x"}, call, call]});
            json!({"candidates":[{"content":content,"finishReason":reason}]})
        }
        Dialect::Bedrock => {
            let call = |id: &str| json!({"toolUse":{"toolUseId":id,"name":"f","input":{}}});
            let message = json!({"role":"assistant","content":[{"text":"x"}, call("a"), call("b")]});
            json!({"output":{"message":message},"stopReason":reason})
        }
        other => panic!("{other:?} gives no such reason"),
    }
}

/// The last call may be cut off, and is never executed.
#[test]
fn what_ended_before_the_model_was_done_is_truncated() {
    for (dialect, reasons) in
        [(Dialect::OpenAiChat, &["length"][..]), (Dialect::MistralChat, &["length", "model_length", "error"])]
    {
        for reason in reasons {
            let expected = (Finish::Truncated, vec![false, true], "x".into());
            assert_eq!(read(dialect, &reply(dialect, reason)), expected, "{dialect:?} {reason}");
        }
    }
}

/// Nothing is wrong with it, but the model is not done.
#[test]
fn what_the_provider_stopped_for_now_is_paused() {
    let search = json!({"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}});
    let turn = json!({"type":"message","role":"assistant","content":[search],"stop_reason":"pause_turn"});
    assert_eq!(read(Dialect::Anthropic, &turn), (Finish::Paused, vec![], String::new()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|_, _| panic!("it ran"))).unwrap();
    assert_eq!(answered(&tools, Dialect::Anthropic, &turn.to_string()).outcome.finish, Finish::Paused);
    for (dialect, reason) in [(Dialect::Anthropic, "pause_turn"), (Dialect::Gemini, "CONTINUATION")] {
        let expected = (Finish::Paused, vec![false, true], "x".into());
        assert_eq!(read(dialect, &reply(dialect, reason)), expected);
    }
}

/// No call of it is executed: it may be what the refusal is about, or was broken off by it.
#[test]
fn no_call_of_a_reply_that_was_refused_is_executed() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|_, _| panic!("it ran"))).unwrap();
    for (dialect, reasons) in [
        (Dialect::OpenAiChat, &["content_filter"][..]),
        (Dialect::OpenAiResponses, &["content_filter"]),
        (Dialect::Anthropic, &["refusal"]),
        (Dialect::Bedrock, &["guardrail_intervened", "content_filtered"]),
        (
            Dialect::Gemini,
            &[
                "SAFETY",
                "RECITATION",
                "LANGUAGE",
                "BLOCKLIST",
                "PROHIBITED_CONTENT",
                "SPII",
                "IMAGE_SAFETY",
                "IMAGE_PROHIBITED_CONTENT",
                "IMAGE_RECITATION",
                "ESCALATION",
                "PUP_LIMITED_DISABLED",
                "MODEL_ARMOR",
            ],
        ),
    ] {
        for reason in reasons {
            let reply = reply(dialect, reason);
            let expected = (Finish::Refused, vec![true, true], "x".into());
            assert_eq!(read(dialect, &reply), expected, "{dialect:?} {reason}");
            let answered = answered(&tools, dialect, &reply.to_string());
            assert_eq!(answered.kinds(), [OutcomeKind::BadArguments; 2], "{dialect:?} {reason}");
            let text = "Tool 'f' was not executed: the reply was cut off, refused or malformed.";
            assert_eq!(answered.text.matches(text).count(), 2, "{}", answered.text);
        }
    }
    let mut refusal = reply(Dialect::OpenAiChat, "tool_calls");
    refusal["choices"][0]["message"]["refusal"] = "No.".into();
    assert_eq!(read(Dialect::OpenAiChat, &refusal).1, [true, true]);
}

#[test]
fn no_call_that_the_provider_calls_malformed_is_executed() {
    for (dialect, reasons) in [
        (Dialect::Bedrock, &["malformed_tool_use", "malformed_model_output"][..]),
        (
            Dialect::Gemini,
            &[
                "MALFORMED_FUNCTION_CALL",
                "UNEXPECTED_TOOL_CALL",
                "TOO_MANY_TOOL_CALLS",
                "MISSING_THOUGHT_SIGNATURE",
                "MALFORMED_RESPONSE",
            ],
        ),
    ] {
        for reason in reasons {
            let expected = (Finish::Malformed, vec![true, true], "x".into());
            assert_eq!(read(dialect, &reply(dialect, reason)), expected, "{dialect:?} {reason}");
        }
    }
}

#[test]
fn an_ordinary_end_and_a_word_that_is_not_known_are_complete() {
    for (dialect, reasons) in [
        (Dialect::OpenAiChat, &["stop", "tool_calls", "function_call", "eos", ""][..]),
        (Dialect::MistralChat, &["stop", "tool_calls"]),
        (Dialect::Anthropic, &["end_turn", "tool_use", "stop_sequence", "new"]),
        (Dialect::Gemini, &["STOP", "FINISH_REASON_UNSPECIFIED", "NEW"]),
        (Dialect::Bedrock, &["end_turn", "tool_use", "stop_sequence", "new"]),
    ] {
        for reason in reasons {
            let expected = (Finish::Complete, vec![false, false], "x".into());
            assert_eq!(read(dialect, &reply(dialect, reason)), expected, "{dialect:?} {reason}");
        }
    }
}

/// They are what a user can be shown.
#[test]
fn the_words_of_a_refusal_are_text() {
    let chat = json!({"choices":[{"message":{"role":"assistant","content":null,"refusal":"I \"can\" not."},
        "finish_reason":"stop"}]});
    let expected = (Finish::Refused, vec![], "I \"can\" not.".to_owned());
    assert_eq!(read(Dialect::OpenAiChat, &chat), expected);
    let part = json!({"type":"refusal","refusal":"I \"can\" not."});
    let item = json!({"type":"message","id":"m","role":"assistant","content":[part],"status":"completed"});
    assert_eq!(read(Dialect::OpenAiResponses, &json!({"output":[item]})), expected);

    let chunk = |delta: Json| json!({"choices":[{"index":0,"delta":delta}]});
    let chat = [
        chunk(json!({"role":"assistant","content":"","refusal":null})),
        chunk(json!({"refusal":"I \"can\""})),
        chunk(json!({"refusal":" not."})),
        json!({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}),
    ];
    assert_eq!(streamed(Dialect::OpenAiChat, &sse(&chat)), expected);
    assert_eq!(streamed_calls(Dialect::OpenAiChat, &sse(&chat)), expected, "calls only");
    let began = json!({"type":"message","id":"m","role":"assistant","content":[],"status":"in_progress"});
    let delta =
        |text: &str| json!({"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":text});
    let responses = [
        json!({"type":"response.output_item.added","output_index":0,"item":began}),
        delta("I \"can\""),
        delta(" not."),
        json!({"type":"response.output_item.done","output_index":0,"item":item}),
        json!({"type":"response.completed","response":{"status":"completed"}}),
    ];
    assert_eq!(streamed(Dialect::OpenAiResponses, &sse(&responses)), expected);
}
