//! Streams: what comes in pieces is what comes whole.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolcore_tests::desk::Desk;
use toolcore_tests::shared;

use crate::traffic::{calls_of, traffic};

/// The chunks of a text: all of it, pieces of some characters, and single bytes.
fn chunkings(text: &str) -> [(&'static str, Value); 3] {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(61).map(|piece| piece.iter().collect()).collect();
    let bytes: Vec<String> = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    [("chunks", json!([text])), ("chunks", json!(pieces)), ("hex_chunks", json!(bytes))]
}

/// Whether a dialect has streams.
pub(crate) fn has_streams(desk: &mut Desk, dialect: &str) -> bool {
    let answer = desk.ask(&json!({"op": "stream", "dialect": dialect, "chunks": []}));
    answer["error"]["kind"] != "unsupported"
}

#[test]
fn recorded_streams_give_exactly_their_calls_in_any_chunking() {
    let test = "recorded_streams_give_exactly_their_calls_in_any_chunking";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let mut expected =
        BTreeMap::from([("anthropic", 2), ("gemini", 4), ("openai_chat", 21), ("openai_responses", 8)]);
    expected.retain(|dialect, _| {
        let there = has_streams(&mut desk, dialect);
        if !there {
            println!("{dialect}: it has no streams yet");
        }
        there
    });
    let (mut found, mut calls) = (BTreeMap::new(), 0);
    let mut rows = traffic(&shared, &mut desk);
    rows.retain(|row| row.kind != "whole" && expected.contains_key(&*row.dialect));
    for row in &rows {
        // A row of the kind `array` has the array as JSON.
        let text = row.reply.as_str().map_or_else(|| row.reply.to_string(), str::to_owned);
        let mut first = None;
        for (name, chunks) in chunkings(&text) {
            let answer =
                desk.ask(&json!({"op": "stream", "dialect": row.dialect, name: chunks, "replay": true}));
            assert_eq!(answer["ok"], true, "{}: {answer}", row.id);
            assert_eq!(calls_of(&answer), row.calls, "{}", row.id);
            assert!(answer["replay"].is_array(), "{}: {answer}", row.id);
            assert_eq!(*first.get_or_insert_with(|| answer.clone()), answer, "{}", row.id);
        }
        *found.entry(&*row.dialect).or_insert(0) += 1;
        calls += row.calls.len();
    }
    println!("{test}: {found:?}, {calls} calls");
    assert_eq!(found, expected);
}

/// A provider's example: the events, and the whole reply that says the same.
struct Example {
    dialect: &'static str,
    events: Value,
    whole: Value,
}

/// From the providers' pages, as `../shared/formats.md` has them.
fn examples() -> [Example; 5] {
    let chat = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    [
        Example {
            dialect: "openai_chat",
            events: json!([
                chat(json!({"role": "assistant", "content": "é"}), Value::Null),
                chat(
                    json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":"}}]}),
                    Value::Null
                ),
                chat(json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}), Value::Null),
                chat(json!({}), json!("tool_calls"))
            ]),
            whole: json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "é",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]
            }}]}),
        },
        Example {
            dialect: "anthropic",
            events: json!([
                {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "é"}},
                {"type": "content_block_stop", "index": 0},
                {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c1", "name": "f", "input": {}}},
                {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":"}},
                {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "1}"}},
                {"type": "content_block_stop", "index": 1},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
                {"type": "message_stop"}
            ]),
            whole: json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "é"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
            ]}),
        },
        Example {
            dialect: "gemini",
            events: json!([
                {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "é"}]}}]},
                {"candidates": [{"index": 0, "content": {"role": "model", "parts": [
                    {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "AAA="}
                ]}, "finishReason": "STOP"}]}
            ]),
            whole: json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
                {"text": "é"}, {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "AAA="}
            ]}}]}),
        },
        Example {
            dialect: "bedrock",
            events: json!([
                {"messageStart": {"role": "assistant"}},
                {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "é"}}},
                {"contentBlockStop": {"contentBlockIndex": 0}},
                {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "c1", "name": "f"}}}},
                {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{\"a\":"}}}},
                {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "1}"}}}},
                {"contentBlockStop": {"contentBlockIndex": 1}},
                {"messageStop": {"stopReason": "tool_use"}}
            ]),
            whole: json!({"stopReason": "tool_use", "output": {"message": {"role": "assistant", "content": [
                {"text": "é"}, {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}}
            ]}}}),
        },
        Example {
            dialect: "ollama",
            events: json!([
                {"message": {"role": "assistant", "content": "é"}, "done": false},
                {"message": {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}}]}, "done": false},
                {"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}
            ]),
            whole: json!({"message": {"role": "assistant", "content": "é", "tool_calls": [
                {"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}}
            ]}, "done": true, "done_reason": "stop"}),
        },
    ]
}

#[test]
fn events_are_framed_as_the_provider_does_and_give_the_whole_reply() {
    let test = "events_are_framed_as_the_provider_does_and_give_the_whole_reply";
    let Some(mut desk) = Desk::shared(test) else { return };
    for Example { dialect, events, whole } in examples() {
        if !has_streams(&mut desk, dialect) {
            println!("{dialect}: it has no streams yet");
            continue;
        }
        let parsed = desk.ask(&json!({"op": "parse", "dialect": dialect, "reply": whole}));
        assert_eq!(calls_of(&parsed), [json!({"id": "c1", "name": "f", "arguments": {"a": 1}})], "{parsed}");
        assert_eq!((&parsed["text"], &parsed["finish"]), (&json!("é"), &json!("complete")), "{parsed}");
        let streamed = desk.ask(&json!({"op": "stream", "dialect": dialect, "events": events}));
        assert_eq!(streamed, parsed, "{dialect}");
        let stopped = &events.as_array().unwrap()[..1];
        let answer = desk.ask(&json!({"op": "stream", "dialect": dialect, "events": stopped}));
        let end = if dialect == "openai_chat" { "complete" } else { "truncated" };
        assert_eq!(answer["finish"], end, "{dialect}: {answer}");
        // Answering a stream is answering its reply.
        let tools = json!([{"name": "f", "parameters": {"type": "object"}}]);
        let mut request = json!({"op": "answer", "dialect": dialect, "tools": tools, "events": events});
        let from_stream = desk.ask(&request);
        request.as_object_mut().unwrap().remove("events");
        request["reply"] = whole;
        assert_eq!(from_stream, desk.ask(&request), "{dialect}");
        assert_eq!(from_stream["outcomes"], json!([{"id": "c1", "name": "f", "kind": "answered"}]));
    }
}

#[test]
fn a_stream_of_calls_only_has_no_text_and_no_turn() {
    let Some(mut desk) = Desk::shared("a_stream_of_calls_only_has_no_text_and_no_turn") else { return };
    let [Example { dialect, events, .. }, ..] = examples();
    let mut request = json!({"op": "stream", "dialect": dialect, "events": events, "calls_only": true});
    let answer = desk.ask(&request);
    assert_eq!((calls_of(&answer).len(), &answer["text"]), (1, &json!("")), "{answer}");
    request["replay"] = json!(true);
    assert_eq!(desk.ask(&request)["error"]["kind"], "unsupported");
}

#[test]
fn an_error_of_the_provider_is_told_in_its_words() {
    let Some(mut desk) = Desk::shared("an_error_of_the_provider_is_told_in_its_words") else { return };
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for request in [
        json!({"op": "stream", "dialect": "anthropic", "events": [error]}),
        json!({"op": "parse", "dialect": "anthropic", "reply": error}),
        json!({"op": "answer", "dialect": "anthropic", "tools": [], "reply": error}),
    ] {
        let answer = desk.ask(&request);
        assert_eq!(answer["error"]["kind"], "provider-error", "{answer}");
        assert_eq!(answer["error"]["message"], "the provider answered with an error: Overloaded", "{answer}");
    }
}

#[test]
fn text_forms_go_out_and_come_in_as_text() {
    let Some(mut desk) = Desk::shared("text_forms_go_out_and_come_in_as_text") else { return };
    let features = desk.ask(&json!({"op": "version"}))["features"].clone();
    // As the chat templates of these models have it.
    for (dialect, reply) in [
        ("hermes", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"),
        ("llama3", "{\"name\": \"f\", \"parameters\": {\"a\": 1}}"),
        ("mistral", "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\": 1}, \"id\": \"abcdefghi\"}]"),
    ] {
        if !features.as_array().unwrap().contains(&json!(dialect)) {
            println!("{dialect}: the dialect is not there yet");
            continue;
        }
        let tools = json!([{"name": "f", "parameters": {"type": "object"}}]);
        let rendered = desk.ask(&json!({"op": "render", "dialect": dialect, "tools": tools}));
        assert!(rendered["body"].as_str().is_some_and(|text| text.contains("\"f\"")), "{rendered}");
        let parsed = desk.ask(&json!({"op": "parse", "dialect": dialect, "reply": reply, "replay": true}));
        assert_eq!(calls_of(&parsed)[0]["arguments"], json!({"a": 1}), "{parsed}");
        assert!(parsed["replay"].as_str().is_some_and(|text| text.contains('f')), "{parsed}");
        for (name, chunks) in chunkings(reply) {
            let request = json!({"op": "stream", "dialect": dialect, name: chunks, "replay": true});
            assert_eq!(desk.ask(&request), parsed, "{dialect}");
        }
        let answer = desk.ask(&json!({"op": "answer", "dialect": dialect, "tools": tools, "reply": reply}));
        assert_eq!(answer["outcomes"][0]["kind"], "answered", "{answer}");
        assert!(answer["messages"].is_string(), "{answer}");
    }
}
