//! Calls of tools that take free text (OpenAI's custom tools): their text arrives whole, and no tool that takes
//! JSON is run with it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, answered, boxed, echo, open, with_schema};
use serde_json::{Value as Json, json};
use toolcore::call::ToolCall;
use toolcore::dialect::{Dialect, ReplyError, parse_reply};
use toolcore::json::Options;
use toolcore::registry::{Draft, Hook, Verdict};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamOptions};

const BOTH: [Dialect; 2] = [Dialect::OpenAiChat, Dialect::OpenAiResponses];

fn reply(dialect: Dialect, name: &str, input: &str) -> Json {
    match dialect {
        Dialect::OpenAiResponses => json!({"output":[
            {"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":name,"input":input}]}),
        _ => json!({"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[
            {"id":"c1","type":"custom","custom":{"name":name,"input":input}}]}}]}),
    }
}

/// The result's type, and what the model reads.
fn told(dialect: Dialect, messages: &Json) -> (Json, String) {
    let message = &messages[0];
    let text = message.get("output").unwrap_or(&message["content"]);
    assert_eq!(message[if dialect == Dialect::OpenAiChat { "tool_call_id" } else { "call_id" }], "c1");
    (message.get("type").cloned().unwrap_or_default(), text.as_str().unwrap().into())
}

#[test]
fn text_of_any_length_arrives_whole_or_is_an_error_that_says_what_it_needs() {
    let text = "SELECT \"ä\"\\\n\u{1}\u{1F4A5}".repeat(8_000);
    for dialect in BOTH {
        let reply = reply(dialect, "sql", &text).to_string();
        let (mut words, mut bytes) = ([0; 64], [0; 100]);
        let small = Scratch::new(&mut words, &mut bytes);
        let error = parse_reply(dialect, reply.as_bytes(), &Options::default(), small).unwrap_err();
        let ReplyError::NoSpace { bytes: need, .. } = error else { panic!("{error:?}") };
        let mut bytes = vec![0; need];
        let enough = Scratch::new(&mut words, &mut bytes);
        let (reply, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), enough).unwrap();
        let call = reply.get(0).unwrap();
        assert!(call.custom && !call.truncated);
        assert_eq!((call.name, call.arguments == text), ("sql", true), "{}", dialect.name());
    }
}

#[test]
fn text_that_is_streamed_arrives_whole() {
    let text = "SELECT \"ä\"\\\n\u{1}\u{1F4A5}".repeat(500);
    let item = |input: &str| json!({"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"sql","input":input});
    let mut events = vec![json!({"type":"response.output_item.added","output_index":0,"item":item("")})];
    let pieces: Vec<char> = text.chars().collect();
    for piece in pieces.chunks(7) {
        let delta = String::from_iter(piece);
        events.push(json!({"type":"response.custom_tool_call_input.delta","output_index":0,"delta":delta}));
    }
    events.push(json!({"type":"response.output_item.done","output_index":0,"item":item(&text)}));
    events.push(json!({"type":"response.completed","response":{}}));
    let (mut words, mut bytes) = (vec![0; 256], vec![0; 128 * 1024]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::OpenAiResponses, StreamOptions::default(), memory).unwrap();
    for event in events {
        stream.feed(format!("data: {event}\n\n").as_bytes(), &mut |_| {}).unwrap();
    }
    let (reply, _) = stream.finish().unwrap();
    let call = reply.get(0).unwrap();
    assert!(call.custom && !call.truncated && call.arguments == text);
}

#[test]
fn a_tool_that_takes_json_is_never_run_with_free_text() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|_, _| panic!("it was run"))).unwrap();
    for dialect in BOTH {
        for text in ["SELECT 1", "", " ", "null", "{}", r#"{"a":1}"#] {
            let answered = answered(&tools, dialect, &reply(dialect, "f", text).to_string());
            assert_eq!(answered.kinds(), [OutcomeKind::BadArguments], "{text}");
            let (kind, said) = told(dialect, &answered.messages());
            assert_eq!(
                kind,
                if dialect == Dialect::OpenAiChat { Json::Null } else { "custom_tool_call_output".into() }
            );
            assert_eq!(
                said,
                "Tool error: Tool 'f' takes a JSON object of arguments, and was called with free text."
            );
        }
        let answered = answered(&tools, dialect, &reply(dialect, "sql", "SELECT 1").to_string());
        assert_eq!(answered.kinds(), [OutcomeKind::UnknownTool]);
        assert_eq!(told(dialect, &answered.messages()).1, "Tool error: Unknown tool: 'sql'. Available: f");
    }
}

/// Makes the text the argument `input`.
struct Wraps;

impl Hook for Wraps {
    fn before(&self, draft: &mut Draft<'_, '_>, _: &mut Sink<'_>) -> Verdict {
        let call = draft.call();
        if call.custom {
            draft.set_arguments(&json!({"input":call.arguments}).to_string()).unwrap();
        }
        Verdict::Pass
    }
    fn after(&self, _: &ToolCall<'_>, _: &mut ToolResult<'_>) {}
}

#[test]
fn a_hook_may_give_the_text_as_an_argument() {
    let schema = r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks::<Wraps>();
    assert!(tools.add_hook(Wraps).is_ok());
    tools.add(&with_schema("sql", schema), echo()).unwrap();
    for dialect in BOTH {
        let answered = answered(&tools, dialect, &reply(dialect, "sql", "SELECT \"a\"").to_string());
        let (kind, said) = told(dialect, &answered.messages());
        assert_eq!(said, r#"{"input":"SELECT \"a\""}"#);
        assert_eq!(kind.is_null(), dialect == Dialect::OpenAiChat);
    }
}
