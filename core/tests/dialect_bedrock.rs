//! Bedrock Converse: the turn that goes back, events with and without their type, ids, and the field cases
//! about it. Expected values from the service model (`../shared/formats.md`, section 5).
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, answered, boxed, echo, open, read, rendered};
use serde_json::{Value as Json, json};
use toolcore::call::ToolCall;
use toolcore::dialect::{
    CallResult, Choice, Dialect, Finish, RenderErrorKind, Reply, ReplyError, ResultsOptions, ToolsOptions,
    parse_reply, render_results,
};
use toolcore::json::Options;
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamOptions};
use toolcore::tool::Failure;

fn replay(reply: &Reply<'_>) -> Json {
    let mut memory = [0; 4096];
    let mut sink = Sink::new(&mut memory);
    reply.write_replay(false, &mut sink).unwrap();
    read(sink.finish().unwrap())
}

/// What is checked of a reply.
fn parsed<T>(reply: &Json, check: impl FnOnce(&Reply<'_>) -> T) -> T {
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let text = reply.to_string();
    let scratch = Scratch::new(&mut words, &mut bytes);
    check(&parse_reply(Dialect::Bedrock, text.as_bytes(), &Options::default(), scratch).unwrap().0)
}

fn message(content: &Json) -> Json {
    json!({"output":{"message":{"role":"assistant","content":content}},"stopReason":"tool_use"})
}

#[test]
fn the_turn_goes_back_with_its_blocks_in_order() {
    let content = json!([
        {"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}},
        {"reasoningContent":{"redactedContent":"AAEC"}},
        {"text":"I look."},
        {"toolUse":{"toolUseId":"tooluse_1","name":"f","input":{"n":1.50}}}]);
    parsed(&message(&content), |reply| {
        assert_eq!(replay(reply), json!([{"role":"assistant","content":content}]));
    });
}

#[test]
fn what_the_provider_refuses_does_not_go_back() {
    let content = json!([
        {"reasoningContent":{"reasoningText":{"text":"cut off"}}},
        {"text":""},
        {"toolUse":{"toolUseId":"a","name":"f","input":"not an object","type":"tool_use"}},
        {"toolUse":{"name":"g","input":{}}}]);
    parsed(&message(&content), |reply| {
        let expected = json!([{"role":"assistant","content":[
            {"toolUse":{"toolUseId":"a","name":"f","input":{}}},
            {"toolUse":{"toolUseId":"toolcore_1","name":"g","input":{}}}]}]);
        assert_eq!(replay(reply), expected);
    });
    // Nothing of use: no turn.
    parsed(&message(&json!([{"text":""}])), |reply| assert_eq!(replay(reply), json!([])));
}

#[test]
fn the_type_of_an_event_may_stand_beside_its_payload() {
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let mut stream =
        Stream::new(Dialect::Bedrock, StreamOptions::default(), Scratch::new(&mut words, &mut bytes))
            .unwrap();
    for (kind, payload) in [
        ("messageStart", json!({"role":"assistant","p":"abcdef"})),
        ("contentBlockDelta", json!({"contentBlockIndex":0,"delta":{"text":"I lo"},"p":"a"})),
        ("contentBlockDelta", json!({"contentBlockIndex":0,"delta":{"text":"ok."},"p":"ab"})),
        ("contentBlockStop", json!({"contentBlockIndex":0})),
        (
            "contentBlockStart",
            json!({"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}),
        ),
        ("contentBlockDelta", json!({"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"x\":"}}})),
        ("contentBlockDelta", json!({"contentBlockIndex":1,"delta":{"toolUse":{"input":"1}"}}})),
        ("contentBlockStop", json!({"contentBlockIndex":1})),
        ("messageStop", json!({"stopReason":"tool_use"})),
        ("metadata", json!({"usage":{"inputTokens":1}})),
    ] {
        stream.feed_event(kind, payload.to_string().as_bytes(), &mut |_| {}).unwrap();
    }
    let (reply, _) = stream.finish().unwrap();
    let call = reply.get(0).unwrap();
    assert_eq!((call.id, call.name, call.arguments), (Some("t"), "f", r#"{"x":1}"#));
    assert_eq!(reply.finish(), Finish::Complete);
    let expected = json!([{"role":"assistant","content":[{"text":"I look."},
        {"toolUse":{"toolUseId":"t","name":"f","input":{"x":1}}}]}]);
    assert_eq!(replay(&reply), expected);
}

#[test]
fn an_exception_among_the_events_ends_the_stream_with_its_words() {
    let (mut words, mut bytes) = ([0; 64], [0; 1024]);
    let mut stream =
        Stream::new(Dialect::Bedrock, StreamOptions::default(), Scratch::new(&mut words, &mut bytes))
            .unwrap();
    let payload = br#"{"message":"Too many \"requests\"","originalStatusCode":429}"#;
    let result = stream.feed_event("throttlingException", payload, &mut |_| {});
    assert_eq!(result, Err(StreamError::Reply(ReplyError::Provider)));
    assert_eq!(stream.provider_error(), Some("Too many \"requests\""));
}

#[test]
fn a_call_that_was_begun_and_never_ended_is_not_whole() {
    let start =
        r#"{"contentBlockStart":{"start":{"toolUse":{"toolUseId":"t","name":"f"}},"contentBlockIndex":0}}"#;
    let delta = r#"{"contentBlockDelta":{"delta":{"toolUse":{"input":"{\"x\":1"}},"contentBlockIndex":0}}"#;
    for events in [vec![start], vec![start, delta]] {
        let (mut words, mut bytes) = ([0; 64], [0; 1024]);
        let memory = Scratch::new(&mut words, &mut bytes);
        let mut stream = Stream::new(Dialect::Bedrock, StreamOptions::default(), memory).unwrap();
        for event in events {
            stream.feed(event.as_bytes(), &mut |_| {}).unwrap();
        }
        let (reply, _) = stream.finish().unwrap();
        assert_eq!((reply.finish(), reply.get(0).unwrap().truncated), (Finish::Truncated, true));
    }
}

/// Case 026: an error always has a text block that is not empty.
#[test]
fn an_error_is_never_empty() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|_, _| Err(Failure::from("")))).unwrap();
    tools.add(&open("g"), boxed(|_, result| Ok(result.text("")?))).unwrap();
    tools.add(&open("h"), boxed(|_, _| Ok(()))).unwrap();
    let calls = json!([{"toolUse":{"toolUseId":"1","name":"f","input":{}}},
        {"toolUse":{"toolUseId":"2","name":"g","input":{}}},{"toolUse":{"toolUseId":"3","name":"h","input":{}}}]);
    let messages = answered(&tools, Dialect::Bedrock, &message(&calls).to_string()).messages();
    let results = messages[0]["content"].as_array().unwrap();
    assert_eq!((messages.as_array().unwrap().len(), results.len()), (1, 3));
    assert_eq!(results[0]["toolResult"]["status"], "error");
    for result in results {
        let content = result["toolResult"]["content"].as_array().unwrap();
        assert!(!content.is_empty(), "{result}");
        assert!(content.iter().all(|block| block["text"].as_str().is_some_and(|text| !text.is_empty())));
    }
}

/// Case 027 for this dialect: a call that was cancelled has a result.
#[test]
fn a_cancelled_call_has_a_result() {
    let mut memory = [0; 64];
    let mut done = ToolResult::new(&mut memory);
    done.text("ok").unwrap();
    let calls =
        ["t1", "t2"].map(|id| ToolCall { id: Some(id), name: "f", arguments: "{}", ..ToolCall::default() });
    let results =
        [CallResult { id: Some("t1"), result: Some(&done) }, CallResult { id: Some("t2"), result: None }];
    let mut memory = [0; 1024];
    let mut sink = Sink::new(&mut memory);
    render_results(Dialect::Bedrock, &calls[..], &results, &ResultsOptions::default(), &mut sink).unwrap();
    let text = "Tool error: Tool 'f' was cancelled";
    let expected = json!([{"role":"user","content":[
        {"toolResult":{"toolUseId":"t1","content":[{"text":"ok"}]}},
        {"toolResult":{"toolUseId":"t2","content":[{"text":text}],"status":"error"}}]}]);
    assert_eq!(read(sink.finish().unwrap()), expected);
}

/// Case 029: no tools and no history leave `toolConfig` out; with a history it is an error.
#[test]
fn a_history_of_calls_needs_tools() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let after = ToolsOptions { after_calls: true, ..ToolsOptions::default() };
    assert_eq!(rendered(&tools, Dialect::Bedrock, &ToolsOptions::default()).unwrap().0, "{}");
    let error = rendered(&tools, Dialect::Bedrock, &after).unwrap_err();
    assert_eq!(error.kind, RenderErrorKind::NoTools);
    assert_eq!(rendered(&tools, Dialect::Ollama, &after).unwrap().0, "{}", "no other provider minds");
    tools.add(&open("f"), echo()).unwrap();
    let (text, notes) =
        rendered(&tools, Dialect::Bedrock, &ToolsOptions { choice: Some(Choice::None), ..after }).unwrap();
    let config = json!({"tools":[{"toolSpec":{"name":"f",
        "inputSchema":{"json":{"type":"object","properties":{}}}}}]});
    assert_eq!(read(&text), json!({"toolConfig":config}));
    assert!(notes.iter().any(|note| note.contains("choice")), "{notes:?}");
}

/// Ids of other providers that the pattern `[a-zA-Z0-9_.:-]{1,64}` does not allow.
#[test]
fn an_id_that_the_provider_does_not_allow_is_mapped_alike_in_turn_and_results() {
    let long = "call_".repeat(13);
    for id in [long.as_str(), "call_1|fc_2", "é"] {
        let content = json!([{"toolUse":{"toolUseId":id,"name":"f","input":{}}}]);
        let sent = parsed(&message(&content), |reply| {
            let call = reply.get(0).unwrap();
            assert_eq!(call.id, Some(id), "the call keeps its own");
            assert_eq!(Some(call.wire_id), Dialect::Bedrock.wire_id(id).as_deref());
            let sent = replay(reply)[0]["content"][0]["toolUse"]["toolUseId"].clone();
            assert_eq!(sent, call.wire_id);
            sent
        });
        assert!(sent.as_str().unwrap().bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        tools.add(&open("f"), echo()).unwrap();
        let messages = answered(&tools, Dialect::Bedrock, &message(&content).to_string()).messages();
        assert_eq!(messages[0]["content"][0]["toolResult"]["toolUseId"], sent);
    }
    assert_eq!(Dialect::Bedrock.wire_id("tooluse_Lb2-N.d:e"), None);
}

/// An image comes in pieces of its source, a citation beside the text that it is for.
#[test]
fn images_and_citations_of_a_stream_go_back_as_the_blocks_that_they_are() {
    let citation = json!({"title":"t","sourceContent":[{"text":"s"}],"location":{"web":{"url":"u"}}});
    let delta =
        |index: u32, delta: Json| json!({"contentBlockDelta":{"contentBlockIndex":index,"delta":delta}});
    let events = [
        json!({"messageStart":{"role":"assistant"}}),
        json!({"contentBlockStart":{"contentBlockIndex":0,"start":{"image":{"format":"png"}}}}),
        delta(0, json!({"image":{"source":{"bytes":"AAEC"}}})),
        delta(0, json!({"image":{"source":{"bytes":"AwQF"}}})),
        json!({"contentBlockStop":{"contentBlockIndex":0}}),
        delta(1, json!({"text":"It is "})),
        delta(1, json!({"text":"so."})),
        delta(1, json!({"citation":citation})),
        delta(1, json!({"citation":citation})),
        json!({"contentBlockStop":{"contentBlockIndex":1}}),
        json!({"messageStop":{"stopReason":"end_turn"}}),
    ];
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::Bedrock, StreamOptions::default(), memory).unwrap();
    for event in &events {
        stream.feed(event.to_string().as_bytes(), &mut |_| {}).unwrap();
    }
    let (reply, _) = stream.finish().unwrap();
    let content = json!([
        {"image":{"source":{"bytes":"AAECAwQF"},"format":"png"}},
        {"citationsContent":{"content":[{"text":"It is so."}],"citations":[citation, citation]}}]);
    assert_eq!(replay(&reply), json!([{"role":"assistant","content":content}]));
    let text = |reply: &Reply<'_>| {
        let mut text = [0; 64];
        let mut sink = Sink::new(&mut text);
        reply.write_text(&mut sink);
        sink.finish().unwrap().to_owned()
    };
    assert_eq!(text(&reply), "It is so.");
    // The whole form says the same.
    parsed(&message(&content), |reply| {
        assert_eq!(
            (text(reply), replay(reply)),
            ("It is so.".into(), json!([{"role":"assistant","content":content}]))
        );
    });
}
