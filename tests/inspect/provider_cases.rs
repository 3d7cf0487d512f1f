//! The field cases about what providers send and take: names, ids, results, streams.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolcore_tests::desk::Desk;

use crate::field_cases::Covered;

/// What was done with a field case, if it is one of these.
#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn provider_case(case: &Value, desk: &mut Desk) -> Option<Covered> {
    let input = &case["input"];
    match case["class"].as_str().unwrap() {
        "name.too-long" => {
            let name = input["tool"]["name"].as_str().unwrap();
            assert_eq!(name.len(), 68);
            let answer = render_name(desk, "openai_chat", name, false);
            assert_eq!(answer["ok"], false, "{case}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("64") && message.contains("68"), "{case}: {answer}");
            reversible_alias(desk, "openai_chat", name);
        }
        "name.dot" => {
            let name = input["tool"]["name"].as_str().unwrap();
            let mcp = render_name(desk, "mcp", name, true);
            assert_eq!(mcp["body"]["tools"][0]["name"], name, "{case}");
            let gemini = render_name(desk, "gemini", name, false);
            assert_eq!(
                gemini["body"]["tools"][0]["functionDeclarations"][0]["name"], name,
                "{case}: {gemini}"
            );
            for dialect in ["openai_chat", "anthropic", "bedrock"] {
                assert_eq!(render_name(desk, dialect, name, false)["ok"], false, "{case}: {dialect}");
                reversible_alias(desk, dialect, name);
            }
            // Names that differ only in what is not allowed keep apart.
            let tools = ["a.b", "a_b", "a..b", "a-b"].map(|name| json!({"name": name, "description": "d"}));
            let answer = desk.ask(&json!({"op": "render", "dialect": "openai_chat", "tools": tools}));
            let names: BTreeSet<&str> = (0..4)
                .map(|place| answer["body"]["tools"][place]["function"]["name"].as_str().unwrap())
                .collect();
            assert_eq!(names.len(), 4, "{case}: {answer}");
        }
        "result.object-content" => {
            let calls = json!([{"id": "c1", "name": "f", "arguments": {}}]);
            let results = &input["results"];
            let answer = desk
                .ask(&json!({"op": "results", "dialect": "openai_chat", "calls": calls, "results": results}));
            let text = r#"{"address":"x"}"#;
            assert_eq!(
                answer["messages"],
                json!([{"role": "tool", "tool_call_id": "c1", "content": text}]),
                "{case}"
            );
            let answer = desk
                .ask(&json!({"op": "results", "dialect": "anthropic", "calls": calls, "results": results}));
            let content = &answer["messages"][0]["content"][0];
            assert!(
                content["content"] == text || content["content"] == json!([{"type": "text", "text": text}]),
                "{case}: {answer}"
            );
            let object = &results[0]["json"];
            let answer =
                desk.ask(&json!({"op": "results", "dialect": "gemini", "calls": calls, "results": results}));
            let response = &answer["messages"][0]["parts"][0]["functionResponse"]["response"];
            assert!(response == object || response["output"] == *object, "{case}: {answer}");
            let answer =
                desk.ask(&json!({"op": "results", "dialect": "bedrock", "calls": calls, "results": results}));
            let content = &answer["messages"][0]["content"][0]["toolResult"]["content"];
            assert_eq!(*content, json!([{"json": object}]), "{case}: {answer}");
        }
        "result.bedrock-error-empty" => {
            let calls = json!([{"id": "t1", "name": "f", "arguments": {}}]);
            for error in [&input["results"][0]["error"], &json!(" \n")] {
                let results = json!([{"id": "t1", "error": error}]);
                let answer = desk
                    .ask(&json!({"op": "results", "dialect": "bedrock", "calls": calls, "results": results}));
                let result = &answer["messages"][0]["content"][0]["toolResult"];
                let blocks = result["content"].as_array().unwrap_or_else(|| panic!("{case}: {answer}"));
                assert_eq!((&result["status"], blocks.len()), (&json!("error"), 1), "{case}: {answer}");
                assert!(!blocks[0]["text"].as_str().unwrap().trim().is_empty(), "{case}: {answer}");
            }
        }
        "result.bedrock-toolconfig" => {
            // Without tools and calls there is no toolConfig, which may not be empty.
            let answer = desk.ask(&json!({"op": "render", "dialect": "bedrock", "tools": input["tools"]}));
            assert_eq!((&answer["ok"], &answer["body"]), (&json!(true), &json!({})), "{case}: {answer}");
            let request =
                json!({"op": "render", "dialect": "bedrock", "tools": input["tools"], "after_calls": true});
            assert_eq!(desk.ask(&request)["error"]["kind"], "not-found", "{case}");
        }
        "result.responses-id" => {
            let item = &input["item"];
            let reply = json!({"status": "completed", "output": [item]});
            let request = json!({"op": "answer", "dialect": "openai_responses", "tools": [{"name": "f"}], "reply": reply});
            let answer = desk.ask(&request);
            let output = json!({"type": "function_call_output", "call_id": "call_1", "output": "{}"});
            assert_eq!(answer["messages"], json!([output]), "{case}: {answer}");
            let request =
                json!({"op": "parse", "dialect": "openai_responses", "reply": reply, "replay": true});
            let answer = desk.ask(&request);
            let item = &answer["replay"][0];
            assert_eq!(
                (&item["type"], &item["call_id"]),
                (&json!("function_call"), &json!("call_1")),
                "{case}"
            );
            assert!(item["id"] == "fc_1" || item.get("id").is_none(), "{case}: {answer}");
        }
        "id.gemini-thought-signature" => {
            let content = json!({"role": "model", "parts": input["parts"]});
            let reply = json!({"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}]});
            let tools = json!([{"name": "f"}, {"name": "g"}]);
            let request = json!({"op": "answer", "dialect": "gemini", "tools": tools, "reply": reply});
            let answer = desk.ask(&request);
            let parts =
                answer["messages"][0]["parts"].as_array().unwrap_or_else(|| panic!("{case}: {answer}"));
            for (part, name) in parts.iter().zip(["f", "g"]) {
                let response = &part["functionResponse"];
                assert_eq!((&response["name"], response.get("id")), (&json!(name), None), "{case}: {answer}");
            }
            assert_eq!(parts.len(), 2, "{case}: {answer}");
            let request = json!({"op": "parse", "dialect": "gemini", "reply": reply, "replay": true});
            let answer = desk.ask(&request);
            assert_eq!(answer["replay"][0]["parts"], input["parts"], "{case}: {answer}");
        }
        "result.orphan-call" => {
            let calls = json!([{"id": "t1", "name": "f", "arguments": {}}, {"id": "t2", "name": "f", "arguments": {}}]);
            let mut request =
                json!({"op": "results", "dialect": "anthropic", "calls": calls, "results": input["results"]});
            let answer = desk.ask(&request);
            assert_eq!(
                (&answer["ok"], &answer["error"]["kind"]),
                (&json!(false), &json!("missing-result")),
                "{case}"
            );
            request["cancelled"] = input["cancelled"].clone();
            let answer = desk.ask(&request);
            assert_eq!(answer["messages"].as_array().map(Vec::len), Some(1), "{case}: {answer}");
            let message = &answer["messages"][0];
            assert_eq!(message["role"], "user", "{case}");
            let blocks = message["content"].as_array().unwrap();
            assert_eq!(
                blocks[0],
                json!({"type": "tool_result", "tool_use_id": "t1", "content": "ok"}),
                "{case}"
            );
            assert_eq!(
                (&blocks[1]["tool_use_id"], &blocks[1]["is_error"]),
                (&json!("t2"), &json!(true)),
                "{case}"
            );
            assert!(blocks[1]["content"].as_str().unwrap().contains("cancelled"), "{case}");
            assert_eq!(blocks.len(), 2, "{case}");
        }
        class if class.starts_with("stream.") => {
            let deltas = input["deltas"].as_array().unwrap();
            let read = |desk: &mut Desk, deltas: &[Value]| {
                let chunk = |delta: &Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
                let mut events: Vec<Value> = deltas.iter().map(|delta| chunk(delta, Value::Null)).collect();
                events.push(chunk(&json!({}), json!("tool_calls")));
                desk.ask(&json!({"op": "stream", "dialect": "openai_chat", "events": events}))
            };
            let call = |id: &str, name: &str, arguments: Value| json!({"id": id, "name": name, "arguments": arguments, "flags": []});
            let expected = match class {
                "stream.missing-index" => json!([call("c1", "get_weather", json!({"city": "Oslo"}))]),
                "stream.missing-index-parallel" => json!([
                    call("a", "get_weather", json!({"city": "Oslo"})),
                    call("b", "get_time", json!({"tz": "UTC"})),
                    call("c", "ping", json!({}))
                ]),
                "stream.interleaved" => {
                    json!([call("a", "f", json!({"x": 1})), call("b", "g", json!({"y": 2}))])
                }
                "stream.repeated-id-name" => json!([call("a", "f", json!({}))]),
                "stream.two-entries-same-index-in-one-delta" => json!([call("a", "f", json!({"x": 1}))]),
                other => panic!("a class that is not known: {other}"),
            };
            let answer = read(desk, deltas);
            assert_eq!(answer["calls"], expected, "{case}: {answer}");
            if class == "stream.missing-index" {
                // A piece that belongs to no call.
                let answer = read(desk, &deltas[1..]);
                assert_eq!(answer["error"]["kind"], "bad-reply", "{case}: {answer}");
            }
        }
        _ => return None,
    }
    Some(Covered::Here)
}

fn render_name(desk: &mut Desk, dialect: &str, name: &str, alias: bool) -> Value {
    desk.ask(&json!({
        "op": "render", "dialect": dialect, "tools": [{"name": name, "description": "d"}], "alias": alias
    }))
}

/// The alias of a name fits the provider's rule, is told, and leads back.
fn reversible_alias(desk: &mut Desk, dialect: &str, name: &str) {
    let answer = render_name(desk, dialect, name, true);
    let tool = &answer["body"]["tools"][0];
    let alias = match dialect {
        "openai_chat" => &tool["function"]["name"],
        "bedrock" => &answer["body"]["toolConfig"]["tools"][0]["toolSpec"]["name"],
        _ => &tool["name"],
    };
    let alias = alias.as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(alias.len() <= if dialect == "anthropic" { 128 } else { 64 }, "{alias}");
    assert!(alias.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{alias}");
    assert_eq!(answer["notes"][0]["tool"], name, "{answer}");
    let reply = match dialect {
        "openai_chat" => json!({"tool_calls": [{"id": "1", "function": {"name": alias, "arguments": "{}"}}]}),
        "bedrock" => {
            let call = json!({"toolUse": {"toolUseId": "1", "name": alias, "input": {}}});
            json!({"output": {"message": {"role": "assistant", "content": [call]}}, "stopReason": "tool_use"})
        }
        _ => json!({"content": [{"type": "tool_use", "id": "1", "name": alias, "input": {}}]}),
    };
    let answer =
        desk.ask(&json!({"op": "answer", "dialect": dialect, "tools": [{"name": name}], "reply": reply}));
    assert_eq!(answer["outcomes"][0]["kind"], "answered", "{answer}");
}

/// What a model said of one provider goes on at another: the turn and the results that the desk tool writes agree.
#[test]
fn a_reply_goes_on_in_another_dialect() {
    let Some(mut desk) = Desk::shared("a_reply_goes_on_in_another_dialect") else { return };
    let call = |id: &str| json!({"id": id, "function": {"name": "f", "arguments": "{\"x\": 1.0}"}});
    let reply =
        json!({"role": "assistant", "content": "hi", "tool_calls": [call("call_1|a"), call("call_1|a")]});
    let parsed = desk.ask(&json!({"op": "parse", "dialect": "openai_chat", "reply": reply}));
    let calls = &parsed["calls"];
    assert!(calls[0]["wire_id"].is_null() && calls[1]["wire_id"].is_string(), "{parsed}");
    let results = [json!({"id": calls[1]["wire_id"], "text": "b"}), json!({"id": "call_1|a", "error": "a"})];
    let ask = |dialect: &str, desk: &mut Desk| {
        desk.ask(&json!({"op": "results", "dialect": dialect, "calls": calls, "results": results,
            "turn": true, "text": "hi"}))
    };
    let answer = ask("anthropic", &mut desk);
    let turn = &answer["turn"][0]["content"];
    assert_eq!(turn[0], json!({"type": "text", "text": "hi"}), "{answer}");
    assert_eq!(turn[1]["input"].to_string(), r#"{"x":1.0}"#);
    let sent = [&turn[1]["id"], &turn[2]["id"]];
    let answered = &answer["messages"][0]["content"];
    assert_eq!([&answered[0]["tool_use_id"], &answered[1]["tool_use_id"]], sent);
    assert!(sent[0] != sent[1] && sent[0].as_str().unwrap().bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!((&answered[0]["is_error"], &answered[1]["content"]), (&json!(true), &json!("b")));
    let hermes = ask("hermes", &mut desk)["turn"].clone();
    assert!(hermes.as_str().unwrap().contains("<tool_call>"), "{hermes}");
    let again = desk.ask(&json!({"op": "parse", "dialect": "gemini", "turn_number": 3,
        "reply": {"parts": [{"functionCall": {"name": "f"}}]}}));
    assert_eq!(again["calls"][0]["wire_id"], "toolcore_3_0", "{again}");
    let mapped = desk.ask(&json!({"op": "parse", "dialect": "mistral_chat", "reply": reply}));
    assert_eq!(mapped["calls"][0]["wire_id"].as_str().unwrap().len(), 9, "{mapped}");
}
