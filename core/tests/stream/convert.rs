//! Whole replies as the streams that their providers would have sent, and back through the library: the
//! stream's reply is the whole one's.

use serde_json::{Value as Json, json};
use toolcore::dialect::Dialect;

use crate::common::{rows, shared};
use crate::support::{Random, Seen, chunk, sse, stream_watched, whole};
use crate::traffic::normal;

/// The dialects of which whole replies are recorded.
pub(crate) const RECORDED: [Dialect; 6] = [
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Bedrock,
    Dialect::Cohere,
];

/// A whole reply as a stream with pieces of so many characters; those of what is no call have at most 64, as
/// providers send them.
pub(crate) fn stream_of(dialect: Dialect, reply: &Json, piece: usize) -> String {
    match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat => openai(reply, piece),
        Dialect::OpenAiResponses => sse(&responses(reply, piece), false),
        Dialect::Gemini | Dialect::GeminiSchema => sse(&gemini(reply, piece), false),
        Dialect::Cohere => cohere(reply, piece),
        Dialect::Bedrock => bedrock(reply, piece),
        Dialect::Ollama => ollama(reply, piece),
        _ => anthropic(reply, piece),
    }
}

fn pieces(text: &str, piece: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(piece.max(1)).map(|chars| chars.iter().collect()).collect()
}

/// As `openai.lib.streaming` takes it: a first chunk with the role, the text, each call with its head first,
/// the reason, the usage.
fn openai(reply: &Json, piece: usize) -> String {
    let choice = &reply["choices"][0];
    let message = &choice["message"];
    let mut events = vec![chunk(&json!({"role":"assistant","content":"","refusal":null}))];
    for key in ["reasoning", "reasoning_content", "content", "refusal"] {
        for text in message[key].as_str().into_iter().flat_map(|text| pieces(text, piece.min(64))) {
            events.push(chunk(&json!({ key: text })));
        }
    }
    for detail in message["reasoning_details"].as_array().into_iter().flatten() {
        events.push(chunk(&json!({"reasoning_details":[detail]})));
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut head = call.clone();
        head["index"] = index.into();
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if call["function"]["arguments"].is_string() {
            head["function"]["arguments"] = "".into();
        }
        events.push(chunk(&json!({"tool_calls":[head]})));
        for text in pieces(arguments, piece) {
            events.push(chunk(&json!({"tool_calls":[{"index":index,"function":{"arguments":text}}]})));
        }
    }
    let mut last = chunk(&json!({}));
    last["choices"][0]["finish_reason"] = choice["finish_reason"].clone();
    events.push(last);
    let mut usage = chunk(&json!({}));
    (usage["choices"], usage["usage"]) = (json!([]), reply["usage"].clone());
    events.push(usage);
    sse(&events, true)
}

/// As the provider's SDK accumulates it: blocks one after the other, strings in pieces, `input` as text.
fn anthropic(reply: &Json, piece: usize) -> String {
    let mut start = reply.clone();
    (start["content"], start["stop_reason"]) = (json!([]), Json::Null);
    let mut events = vec![json!({"type":"message_start","message":start}), json!({"type":"ping"})];
    for (index, block) in reply["content"].as_array().into_iter().flatten().enumerate() {
        let mut head = block.clone();
        let mut deltas = Vec::new();
        for (key, kind, name) in [
            ("text", "text_delta", "text"),
            ("thinking", "thinking_delta", "thinking"),
            ("signature", "signature_delta", "signature"),
        ] {
            for text in block[key].as_str().into_iter().flat_map(|text| pieces(text, piece.min(64))) {
                head[key] = "".into();
                deltas.push(json!({"type":kind, name:text}));
            }
        }
        for citation in block["citations"].as_array().into_iter().flatten() {
            head["citations"] = json!([]);
            deltas.push(json!({"type":"citations_delta","citation":citation}));
        }
        if block["input"].is_object() {
            head["input"] = json!({});
            deltas.push(json!({"type":"input_json_delta","partial_json":""}));
            let text = block["input"].to_string();
            if text != "{}" {
                let most = if block["type"] == "tool_use" { piece } else { piece.min(64) };
                for text in pieces(&text, most) {
                    deltas.push(json!({"type":"input_json_delta","partial_json":text}));
                }
            }
        }
        events.push(json!({"type":"content_block_start","index":index,"content_block":head}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type":"content_block_delta","index":index,"delta":delta})),
        );
        events.push(json!({"type":"content_block_stop","index":index}));
    }
    events.push(json!({"type":"message_delta","delta":{"stop_reason":reply["stop_reason"],
        "stop_sequence":reply["stop_sequence"]},"usage":{"output_tokens":1}}));
    events.push(json!({"type":"message_stop"}));
    sse(&events, false)
}

/// Items that begin, come in pieces, and come whole; in the end the whole response once more.
pub(crate) fn responses(reply: &Json, piece: usize) -> Vec<Json> {
    let mut start = reply.clone();
    (start["status"], start["output"], start["incomplete_details"]) =
        ("in_progress".into(), json!([]), Json::Null);
    let mut events = vec![
        json!({"type":"response.created","response":start}),
        json!({"type":"response.in_progress","response":start}),
    ];
    for (index, item) in reply["output"].as_array().into_iter().flatten().enumerate() {
        let mut head = item.clone();
        for (key, empty) in
            [("content", json!([])), ("summary", json!([])), ("arguments", json!("")), ("input", json!(""))]
        {
            if item.get(key).is_some() && !item[key].is_object() {
                head[key] = empty;
            }
        }
        if item.get("status").is_some() {
            head["status"] = "in_progress".into();
        }
        events.push(json!({"type":"response.output_item.added","output_index":index,"item":head}));
        let mut delta = |kind: &str, text: &Json, most: usize| {
            for text in text.as_str().into_iter().flat_map(|text| pieces(text, most)) {
                events.push(json!({"type":format!("response.{kind}.delta"),"item_id":item["id"],
                    "output_index":index,"content_index":0,"delta":text,"obfuscation":"x"}));
            }
            events.push(json!({"type":format!("response.{kind}.done"),"item_id":item["id"],
                "output_index":index,"text":text,"arguments":text,"input":text}));
        };
        match item["type"].as_str().unwrap() {
            "function_call" => delta("function_call_arguments", &item["arguments"], piece),
            "custom_tool_call" => delta("custom_tool_call_input", &item["input"], piece),
            "message" => {
                for part in item["content"].as_array().unwrap() {
                    delta("output_text", &part["text"], piece.min(64));
                }
            }
            "reasoning" => {
                for part in item["summary"].as_array().unwrap() {
                    delta("reasoning_summary_text", &part["text"], piece.min(64));
                }
            }
            _ => {}
        }
        events.push(json!({"type":"response.output_item.done","output_index":index,"item":item}));
    }
    // One of the recorded replies is still queued; its stream has no end.
    let status = reply["status"].as_str().unwrap();
    events.push(json!({"type":format!("response.{status}"),"response":reply}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

/// Responses of one part each, text that has no signature in pieces; the reason last.
pub(crate) fn gemini(reply: &Json, piece: usize) -> Vec<Json> {
    let candidate = &reply["candidates"][0];
    let event = |parts: Json| {
        json!({"candidates":[{"content":{"parts":parts,"role":"model"},"index":0}],
            "usageMetadata":{"promptTokenCount":29},"modelVersion":"gemini","responseId":"r"})
    };
    let mut events = Vec::new();
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        match part["text"].as_str().filter(|_| part.get("thoughtSignature").is_none()) {
            Some(text) => events.extend(pieces(text, piece.min(64)).into_iter().map(|text| {
                let mut part = part.clone();
                part["text"] = text.into();
                event(json!([part]))
            })),
            None => events.push(event(json!([part]))),
        }
    }
    let mut last = event(json!([]));
    last["candidates"][0]["finishReason"] = candidate["finishReason"].clone();
    if candidate.is_null() {
        last = reply.clone();
    }
    events.push(last);
    events
}

/// As the service model of botocore lists the events: no beginning for text and thinking, `input` as text.
fn bedrock(reply: &Json, piece: usize) -> String {
    let mut events = vec![json!({"messageStart":{"role":"assistant"}})];
    for (index, block) in reply["output"]["message"]["content"].as_array().into_iter().flatten().enumerate() {
        let mut deltas: Vec<Json> = Vec::new();
        if let Some(call) = block.get("toolUse") {
            let mut head = call.clone();
            head.as_object_mut().unwrap().remove("input");
            events.push(
                json!({"contentBlockStart":{"start":{"toolUse":head},"contentBlockIndex":index,"p":"abc"}}),
            );
            let most = if call["type"] == "server_tool_use" { piece.min(64) } else { piece };
            for text in pieces(&call["input"].to_string(), most) {
                deltas.push(json!({"toolUse":{"input":text}}));
            }
        }
        if let Some(result) = block.get("toolResult") {
            let mut head = result.clone();
            head.as_object_mut().unwrap().remove("content");
            events.push(json!({"contentBlockStart":{"start":{"toolResult":head},"contentBlockIndex":index}}));
            for part in result["content"].as_array().unwrap() {
                deltas.push(json!({"toolResult":[part]}));
            }
        }
        for text in block["text"].as_str().into_iter().flat_map(|text| pieces(text, piece.min(64))) {
            deltas.push(json!({"text":text}));
        }
        let thought = &block["reasoningContent"]["reasoningText"];
        for key in ["text", "signature"] {
            for text in thought[key].as_str().into_iter().flat_map(|text| pieces(text, piece.min(64))) {
                deltas.push(json!({"reasoningContent":{key:text}}));
            }
        }
        if let Some(data) = block["reasoningContent"].get("redactedContent") {
            deltas.push(json!({"reasoningContent":{"redactedContent":data}}));
        }
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"contentBlockDelta":{"delta":delta,"contentBlockIndex":index,"p":"ab"}})),
        );
        events.push(json!({"contentBlockStop":{"contentBlockIndex":index}}));
    }
    events.push(json!({"messageStop":{"stopReason":reply["stopReason"]}}));
    events.push(json!({"metadata":{"usage":reply["usage"],"metrics":{"latencyMs":1}}}));
    lines(&events)
}

/// Lines of JSON as the SDK reads them: pieces of text, each call whole, the last line says `done`.
fn ollama(reply: &Json, piece: usize) -> String {
    let message = &reply["message"];
    let line = |message: Json| json!({"model":"m","created_at":"t","message":message,"done":false});
    let mut events = Vec::new();
    for key in ["thinking", "content"] {
        for text in message[key].as_str().into_iter().flat_map(|text| pieces(text, piece.min(64))) {
            let mut part = json!({"role":"assistant","content":""});
            part[key] = text.into();
            events.push(line(part));
        }
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        events.push(line(json!({"role":"assistant","content":"","tool_calls":[call]})));
    }
    events.push(json!({"model":"m","message":{"role":"assistant","content":""},"done":true,
        "done_reason":reply["done_reason"],"eval_count":9}));
    lines(&events)
}

/// As the SDK's models of the events say.
fn cohere(reply: &Json, piece: usize) -> String {
    let message = &reply["message"];
    let event =
        |kind: &str, index: usize, part: Json| json!({"type":kind,"index":index,"delta":{"message":part}});
    let mut events = vec![json!({"type":"message-start","id":"m",
        "delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}})];
    for text in message["tool_plan"].as_str().into_iter().flat_map(|text| pieces(text, piece.min(64))) {
        events.push(json!({"type":"tool-plan-delta","delta":{"message":{"tool_plan":text}}}));
    }
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let kind = block["type"].as_str().unwrap();
        events.push(event("content-start", index, json!({"content":{"type":kind, kind:""}})));
        for text in pieces(block[kind].as_str().unwrap(), piece.min(64)) {
            events.push(event("content-delta", index, json!({"content":{kind:text}})));
        }
        events.push(json!({"type":"content-end","index":index}));
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut head = call.clone();
        head["function"]["arguments"] = "".into();
        events.push(event("tool-call-start", index, json!({"tool_calls":head})));
        for text in pieces(call["function"]["arguments"].as_str().unwrap(), piece) {
            events.push(event(
                "tool-call-delta",
                index,
                json!({"tool_calls":{"function":{"arguments":text}}}),
            ));
        }
        events.push(json!({"type":"tool-call-end","index":index}));
    }
    events.push(json!({"type":"message-end","id":"m",
        "delta":{"finish_reason":reply["finish_reason"],"usage":reply["usage"]}}));
    sse(&events, false)
}

fn lines(events: &[Json]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

#[test]
fn a_streamed_reply_is_the_whole_reply() {
    let test = "a_streamed_reply_is_the_whole_reply";
    let (mut streamed, mut random) = (0, Random(7));
    for dialect in RECORDED {
        let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
        for row in rows(&path).iter().filter(|row| row["kind"] == "whole") {
            let expected = whole(dialect, &row["reply"]).unwrap();
            for piece in [3, 1000] {
                let text = stream_of(dialect, &row["reply"], piece);
                for chunks in [vec![text.as_bytes()], random.cut(text.as_bytes())] {
                    let (seen, watched) = stream_watched(dialect, chunks);
                    assert_eq!(seen.calls, expected.calls, "{}", row["id"]);
                    assert_eq!(seen.text, expected.text, "{}", row["id"]);
                    assert_eq!(seen.finish, expected.finish, "{}", row["id"]);
                    let turn = |seen: &Seen| {
                        seen.replay
                            .as_ref()
                            .unwrap()
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|turn| normal(dialect, turn))
                            .collect::<Vec<_>>()
                    };
                    assert_eq!(turn(&seen), turn(&expected), "{}", row["id"]);
                    assert_eq!(watched.text, expected.text, "{}", row["id"]);
                    let told: Vec<_> = watched.calls.iter().map(|call| (&*call.1, &*call.2)).collect();
                    let called = expected.called();
                    let called =
                        called.iter().map(|(name, text)| (*name, if told.is_empty() { "" } else { *text }));
                    for (told, called) in told.iter().zip(called) {
                        assert_eq!(told.0, called.0, "{}", row["id"]);
                        assert!(told.1 == called.1 || told.1.is_empty() && called.1 == "{}", "{}", row["id"]);
                    }
                    assert_eq!(watched.calls.len(), expected.calls.len(), "{}", row["id"]);
                    assert!(watched.calls.iter().all(|call| call.3), "{}: every call ends", row["id"]);
                    streamed += 1;
                }
            }
        }
    }
    assert_eq!(streamed, (111 + 76 + 65 + 130 + 50 + 8) * 4);
}
