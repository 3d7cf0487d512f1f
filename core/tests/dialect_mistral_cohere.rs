//! Mistral's and Cohere's endpoints, where they differ from OpenAI's. Expected values from the models of their
//! SDKs (`../shared/formats.md`, section 7) and from recorded replies.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, answered, boxed, echo, open, read, rendered, rendered_json, rows, shared};
use serde_json::{Value as Json, json};
use toolcore::call::ToolCall;
use toolcore::dialect::{
    CallResult, Choice, Dialect, Finish, RenderError, RenderErrorKind, Reply, ReplyError, ResultsOptions,
    ToolsOptions, parse_reply, render_results,
};
use toolcore::json::Options;
use toolcore::result::ToolResult;
use toolcore::schema::StrictProblemKind;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamEvent, StreamOptions};
use toolcore::tool::ToolDefinition;

fn replay(reply: &Reply<'_>) -> Json {
    let mut memory = [0; 4096];
    let mut sink = Sink::new(&mut memory);
    reply.write_replay(false, &mut sink).unwrap();
    read(sink.finish().unwrap())
}

fn parsed<T>(dialect: Dialect, reply: &Json, check: impl FnOnce(&Reply<'_>) -> T) -> T {
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let text = reply.to_string();
    let scratch = Scratch::new(&mut words, &mut bytes);
    check(&parse_reply(dialect, text.as_bytes(), &Options::default(), scratch).unwrap().0)
}

fn choices(message: &Json) -> Json {
    json!({"choices":[{"index":0,"finish_reason":"tool_calls","message":message}]})
}

#[test]
fn mistrals_ids_are_nine_letters_and_digits_in_turn_and_results() {
    let ids = [json!("D681PevKs"), json!("call_1"), json!("null"), Json::Null, json!("chatcmpl-tool-abc")];
    let calls = ids.map(|id| json!({"id":id,"function":{"name":"f","arguments":{"n":1.50}},"index":0}));
    let reply = choices(&json!({"role":"assistant","content":"","tool_calls":calls}));
    let sent = parsed(Dialect::MistralChat, &reply, |reply| {
        let given: Vec<_> = reply.calls().map(|call| call.id).collect();
        assert_eq!(given, [Some("D681PevKs"), Some("call_1"), None, None, Some("chatcmpl-tool-abc")]);
        for call in reply.calls() {
            assert_eq!(call.arguments, r#"{"n":1.5}"#);
            // The one that is sent leads back to the call's own.
            let mapped = call.id.and_then(|id| Dialect::MistralChat.wire_id(id));
            assert_eq!(mapped.as_deref().unwrap_or(call.wire_id), call.wire_id);
        }
        let turn = replay(reply);
        turn[0]["tool_calls"].as_array().unwrap().iter().map(|call| call["id"].clone()).collect::<Vec<_>>()
    });
    assert_eq!(sent[0], "D681PevKs");
    for id in &sent {
        let id = id.as_str().unwrap();
        assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    }
    let different: std::collections::BTreeSet<_> = sent.iter().map(Json::to_string).collect();
    assert_eq!(different.len(), sent.len());
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let messages = answered(&tools, Dialect::MistralChat, &reply.to_string()).messages();
    for (message, id) in messages.as_array().unwrap().iter().zip(&sent) {
        assert_eq!(*message, json!({"role":"tool","tool_call_id":id,"name":"f","content":"{\"n\":1.5}"}));
    }
}

#[test]
fn mistrals_calls_that_all_have_the_number_0_and_no_id_are_told_apart() {
    let chunk = |name: &str| {
        json!({"choices":[{"index":0,"delta":{"tool_calls":[
            {"id":"null","index":0,"function":{"name":name,"arguments":"{\"x\": 1}"}}]},"finish_reason":null}]})
    };
    let text = format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", chunk("f"), chunk("g"));
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::MistralChat, StreamOptions::default(), memory).unwrap();
    stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
    let (reply, _) = stream.finish().unwrap();
    let names: Vec<_> = reply.calls().map(|call| (call.id, call.name)).collect();
    assert_eq!(names, [(None, "f"), (None, "g")]);
}

/// A call that was read in one dialect and is answered in another keeps one id for each of its own.
#[test]
fn an_id_of_another_provider_is_mapped_where_it_does_not_fit() {
    let id = "call_J3ajtA7qivswzXp8A9sJ7foO|fc_1";
    let calls = [ToolCall { id: Some(id), name: "f", arguments: "{}", ..ToolCall::default() }];
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.error("boom");
    let results = [CallResult { id: Some(id), result: Some(&result) }];
    for (dialect, path) in [
        (Dialect::OpenAiChat, "/0/tool_call_id"),
        (Dialect::Cohere, "/0/tool_call_id"),
        (Dialect::MistralChat, "/0/tool_call_id"),
        (Dialect::Bedrock, "/0/content/0/toolResult/toolUseId"),
    ] {
        let mut memory = [0; 512];
        let mut sink = Sink::new(&mut memory);
        render_results(dialect, &calls[..], &results, &ResultsOptions::default(), &mut sink).unwrap();
        let text = sink.finish().unwrap();
        let mapped = dialect.wire_id(id);
        assert_eq!(read(text).pointer(path).unwrap(), mapped.as_deref().unwrap_or(id));
        assert!(text.contains("Tool error: boom"), "{text}");
        let fits = matches!(dialect, Dialect::OpenAiChat | Dialect::Cohere);
        assert_eq!(mapped.is_none(), fits);
    }
}

#[test]
fn choices_have_the_words_of_the_provider() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    tools.add(&open("g"), echo()).unwrap();
    let choice = |dialect, choice| {
        let options = ToolsOptions { choice: Some(choice), ..ToolsOptions::default() };
        rendered_json(&tools, dialect, &options)["tool_choice"].clone()
    };
    let named = json!({"type":"function","function":{"name":"f"}});
    for (given, mistral, cohere) in [
        (Choice::Auto, json!("auto"), Json::Null),
        (Choice::None, json!("none"), json!("NONE")),
        (Choice::Required, json!("any"), json!("REQUIRED")),
        (Choice::Tool("f"), named, Json::Null),
        (Choice::Allowed { names: &["g"], required: true }, json!("any"), json!("REQUIRED")),
    ] {
        assert_eq!(choice(Dialect::MistralChat, given), mistral, "{given:?}");
        assert_eq!(choice(Dialect::Cohere, given), cohere, "{given:?}");
    }
    let options = ToolsOptions { choice: Some(Choice::Required), ..ToolsOptions::default() };
    let whole = rendered_json(&tools, Dialect::MistralChat, &options);
    let keys: Vec<_> = whole.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["tool_choice", "tools"]);
}

#[test]
fn coheres_strict_is_said_once_and_for_all_tools() {
    let schema = r#"{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}"#;
    let strict = |name| ToolDefinition { strict: true, ..common::with_schema(name, schema) };
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&strict("f"), echo()).unwrap();
    tools.add(&strict("g"), echo()).unwrap();
    let (text, notes) = rendered(&tools, Dialect::Cohere, &ToolsOptions::default()).unwrap();
    let text = read(&text);
    assert_eq!((&text["strict_tools"], notes.len()), (&json!(true), 0));
    assert!(text["tools"][0]["function"].get("strict").is_none());
    tools.add(&open("h"), echo()).unwrap();
    let (text, notes) = rendered(&tools, Dialect::Cohere, &ToolsOptions::default()).unwrap();
    assert!(read(&text).get("strict_tools").is_none());
    assert!(notes.iter().any(|note| note.contains("not strict")), "{notes:?}");
    let refuse = ToolsOptions { refuse_dropped: true, ..ToolsOptions::default() };
    let error = rendered(&tools, Dialect::Cohere, &refuse).unwrap_err();
    assert_eq!((error.tool, error.kind), (None, RenderErrorKind::StrictDropped));
}

/// The guide: at least one parameter is required, and there are at most 200 in a request.
#[test]
fn what_cohere_wants_of_strict_tools_is_checked() {
    let strict = |name, schema| ToolDefinition { strict: true, ..common::with_schema(name, schema) };
    let refusal = |tools: &[ToolDefinition<'_>]| {
        let mut memory = Memory::ample();
        let mut registry = memory.registry();
        tools.iter().for_each(|tool| registry.add(tool, echo()).map(|_| ()).unwrap());
        match rendered(&registry, Dialect::Cohere, &ToolsOptions::default()) {
            Ok(_) => None,
            Err(RenderError { kind: RenderErrorKind::Strict(problem), .. }) => Some(problem.kind),
            Err(other) => panic!("{other}"),
        }
    };
    let optional = r#"{"type":"object","properties":{"x":{"type":"integer"}}}"#;
    assert_eq!(refusal(&[strict("f", optional)]), Some(StrictProblemKind::NoneRequired));
    assert_eq!(refusal(&[strict("f", r#"{"type":"object"}"#)]), None);
    let many: Vec<String> = (0..100).map(|n| format!("\"p{n}\":{{\"type\":\"null\"}}")).collect();
    let many = format!(r#"{{"type":"object","properties":{{{}}},"required":["p0"]}}"#, many.join(","));
    assert_eq!(refusal(&[strict("f", &many), strict("g", &many)]), None);
    let one = r#"{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}"#;
    let problem = StrictProblemKind::TooMany { what: "properties in a request", most: 200 };
    assert_eq!(refusal(&[strict("f", &many), strict("g", &many), strict("h", one)]), Some(problem));
}

#[test]
fn an_object_is_a_document_for_cohere_and_all_else_is_text() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("object"), boxed(|_, result| Ok(result.json(r#"{"c": 4}"#)?))).unwrap();
    tools.add(&open("list"), boxed(|_, result| Ok(result.json("[1]")?))).unwrap();
    tools.add(&open("text"), boxed(|_, result| Ok(result.text("4 C")?))).unwrap();
    let calls = ["object", "list", "text"]
        .map(|name| json!({"id":name,"type":"function","function":{"name":name,"arguments":"{}"}}));
    let reply = json!({"message":{"role":"assistant","tool_calls":calls},"finish_reason":"TOOL_CALL"});
    let expected = json!([
        {"role":"tool","tool_call_id":"object","content":[{"type":"document","document":{"data":{"c":4}}}]},
        {"role":"tool","tool_call_id":"list","content":"[1]"},
        {"role":"tool","tool_call_id":"text","content":"4 C"}]);
    assert_eq!(answered(&tools, Dialect::Cohere, &reply.to_string()).messages(), expected);
}

#[test]
fn recorded_cohere_replies_are_read_exactly() {
    let Some(path) = shared("data/traffic/cohere.jsonl", "recorded_cohere_replies_are_read_exactly") else {
        return;
    };
    let rows = rows(&path);
    for row in &rows {
        parsed(Dialect::Cohere, &row["reply"], |reply| {
            let calls = reply.calls().map(|call| {
                assert!(!call.truncated);
                json!({"id":call.id,"name":call.name,"arguments":read(call.arguments)})
            });
            assert_eq!(calls.collect::<Json>(), row["calls"], "{}", row["id"]);
            assert_eq!(reply.finish(), Finish::Complete, "{}", row["id"]);
            let mut text = [0; 256];
            let mut sink = Sink::new(&mut text);
            reply.write_text(&mut sink);
            let said = row["reply"]["message"]["content"][0]["text"].as_str().unwrap_or_default();
            assert_eq!(sink.finish().unwrap(), said, "{}", row["id"]);
            // The plan goes back as it came.
            assert_eq!(replay(reply)[0].get("tool_plan"), row["reply"]["message"].get("tool_plan"));
        });
    }
    assert_eq!(rows.len(), 8);
}

#[test]
fn errors_are_the_providers() {
    let (mut words, mut bytes) = ([0; 64], [0; 512]);
    for (dialect, text) in [
        (Dialect::MistralChat, r#"{"object":"error","message":"Invalid model","type":"invalid_model"}"#),
        (Dialect::Cohere, r#"{"id":"x","message":"invalid api token"}"#),
    ] {
        let scratch = Scratch::new(&mut words, &mut bytes);
        let error = parse_reply(dialect, text.as_bytes(), &Options::default(), scratch).unwrap_err();
        assert_eq!(error, ReplyError::Provider);
    }
}

/// `V2ChatResponse` of the SDK: a message has neither `content` nor `tool_calls` of necessity.
#[test]
fn a_message_of_cohere_in_which_nothing_is_said_is_a_reply() {
    let reply = json!({"id":"1","finish_reason":"COMPLETE","message":{"role":"assistant"}});
    parsed(Dialect::Cohere, &reply, |reply| assert!(reply.is_empty()));
    let (mut words, mut bytes) = ([0; 64], [0; 512]);
    for text in [r#"{"finish_reason":"COMPLETE"}"#, r#"{"message":null}"#, r#"{"message":[]}"#] {
        let scratch = Scratch::new(&mut words, &mut bytes);
        let error = parse_reply(Dialect::Cohere, text.as_bytes(), &Options::default(), scratch).unwrap_err();
        assert!(matches!(error, ReplyError::Shape { .. }), "{text}");
    }
}

#[test]
fn thinking_and_text_of_a_cohere_stream_go_back_as_the_blocks_that_they_were() {
    let mut text = String::new();
    for event in [
        json!({"type":"message-start","delta":{"message":{"role":"assistant","content":[]}}}),
        json!({"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}),
        json!({"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"hm"}}}}),
        json!({"type":"content-end","index":0}),
        json!({"type":"content-start","index":1,"delta":{"message":{"content":{"type":"text","text":""}}}}),
        json!({"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"Hi"}}}}),
        json!({"type":"message-end","delta":{"finish_reason":"MAX_TOKENS"}}),
    ] {
        text.push_str(&format!("event: x\ndata: {event}\n\n"));
    }
    let (mut words, mut bytes) = ([0; 64], [0; 1024]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::Cohere, StreamOptions::default(), memory).unwrap();
    stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
    let (reply, _) = stream.finish().unwrap();
    assert_eq!(reply.finish(), Finish::Truncated);
    let content = json!([{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"}]);
    assert_eq!(replay(&reply), json!([{"role":"assistant","content":content}]));
}

/// Mistral's models think in a part of the content, which comes in pieces.
#[test]
fn thinking_of_a_mistral_stream_goes_back_as_the_part_that_it_was() {
    let chunk = |content: Json| json!({"choices":[{"index":0,"delta":{"content":content}}]});
    let thinks = |text: &str| chunk(json!([{"type":"thinking","thinking":[{"type":"text","text":text}]}]));
    let call = json!({"index":0,"id":"D681PevKs","function":{"name":"f","arguments":"{}"}});
    let events = [
        thinks("hm"),
        thinks(" so\""),
        chunk(json!([{"type":"thinking","thinking":[],"signature":"AA=="},{"type":"text","text":"y"}])),
        chunk(json!("o")),
        json!({"choices":[{"index":0,"delta":{"tool_calls":[call]},"finish_reason":"tool_calls"}]}),
    ];
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let (mut words, mut bytes) = ([0; 128], [0; 2048]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::MistralChat, StreamOptions::default(), memory).unwrap();
    let (mut thought, mut said) = (String::new(), String::new());
    let mut watch = |event: StreamEvent<'_>| match event {
        StreamEvent::Reasoning(piece) => thought.push_str(piece),
        StreamEvent::Text(piece) => said.push_str(piece),
        _ => {}
    };
    stream.feed(text.as_bytes(), &mut watch).unwrap();
    let (reply, _) = stream.finish().unwrap();
    assert_eq!((&*thought, &*said, reply.len()), ("hm so\"", "yo", 1));
    let thinking =
        json!({"type":"thinking","thinking":[{"type":"text","text":"hm so\""}],"signature":"AA=="});
    assert_eq!(replay(&reply)[0]["content"], json!([thinking, {"type":"text","text":"yo"}]));
}
