//! Replies of real providers: every call is read exactly, and answered in the shape that was accepted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use toolcore_tests::desk::Desk;
use toolcore_tests::shared;

use crate::files;

#[derive(Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) dialect: String,
    pub(crate) kind: String,
    tools: Value,
    pub(crate) reply: Value,
    pub(crate) calls: Vec<Value>,
    appended: Option<Vec<Value>>,
}

/// All rows of the dialects that are there.
pub(crate) fn traffic(shared: &Path, desk: &mut Desk) -> Vec<Row> {
    let features = desk.ask(&json!({"op": "version"}))["features"].clone();
    let mut rows = Vec::new();
    for file in files(&shared.join("data/traffic")) {
        if file.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let dialect = file.file_stem().unwrap().to_str().unwrap();
        if !features.as_array().unwrap().iter().any(|feature| feature == dialect) {
            println!("{dialect}: the dialect is not there");
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        rows.extend(text.lines().map(|line| serde_json::from_str::<Row>(line).unwrap()));
    }
    rows
}

/// Id, name and arguments of each call of an answer.
pub(crate) fn calls_of(answer: &Value) -> Vec<Value> {
    let calls = answer["calls"].as_array().unwrap_or_else(|| panic!("{answer}"));
    calls
        .iter()
        .map(|call| json!({"id": call["id"], "name": call["name"], "arguments": call["arguments"]}))
        .collect()
}

#[test]
fn recorded_replies_give_exactly_their_calls() {
    let test = "recorded_replies_give_exactly_their_calls";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let (mut rows, mut calls) = (0, 0);
    for row in traffic(&shared, &mut desk).iter().filter(|row| row.kind == "whole") {
        let answer = desk.ask(&json!({"op": "parse", "dialect": row.dialect, "reply": row.reply}));
        assert_eq!(answer["ok"], true, "{}: {answer}", row.id);
        let read = calls_of(&answer);
        assert_eq!(read, row.calls, "{}", row.id);
        rows += 1;
        calls += read.len();
    }
    println!("{test}: {rows} replies, {calls} calls");
    assert!(rows >= 432, "{rows}");
}

#[test]
fn recorded_replies_are_answered_in_the_shape_that_was_accepted() {
    let test = "recorded_replies_are_answered_in_the_shape_that_was_accepted";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let (mut answered, mut compared, mut whole) = (0, 0, 0);
    let dialects = ["openai_chat", "anthropic"];
    let mut rows = traffic(&shared, &mut desk);
    rows.retain(|row| row.kind == "whole" && dialects.contains(&&*row.dialect));
    for row in rows {
        let recorded = recorded_results(&row);
        let tools = tools_of(&row, &recorded, &mut desk);
        let answer =
            desk.ask(&json!({"op": "answer", "dialect": row.dialect, "tools": tools, "reply": row.reply}));
        assert_eq!(answer["ok"], true, "{}: {answer}", row.id);
        let outcomes = answer["outcomes"].as_array().unwrap();
        assert_eq!(outcomes.len(), row.calls.len(), "{}", row.id);
        let results = results_of(&row.dialect, answer["messages"].as_array().unwrap());
        assert_eq!(results.len(), row.calls.len(), "{}", row.id);
        for ((call, outcome), (id, result)) in row.calls.iter().zip(outcomes).zip(&results) {
            assert_eq!((&outcome["id"], id), (&call["id"], &call["id"]), "{}", row.id);
            assert_eq!(outcome["name"], call["name"], "{}", row.id);
            assert_eq!(outcome["kind"], "answered", "{}: {answer}", row.id);
            answered += 1;
            let Some(accepted) = recorded.get(&id.to_string()) else { continue };
            compared += 1;
            // The same members of the same kinds; and the same text, where the record is a text.
            assert_eq!(members(result), members(accepted), "{}: {result} {accepted}", row.id);
            if let Some(text) = text_of(&accepted["content"]) {
                assert_eq!(text_of(&result["content"]), Some(text), "{}: {result}", row.id);
                whole += 1;
            }
        }
    }
    println!(
        "{test}: {answered} calls answered, {compared} compared with what was accepted, {whole} with the same text"
    );
    assert!(compared > 60 && whole > 50, "{compared} {whole}");
}

/// The results that the next accepted request held, by id.
fn recorded_results(row: &Row) -> BTreeMap<String, Value> {
    let messages = row.appended.as_deref().unwrap_or_default();
    results_of(&row.dialect, messages).into_iter().map(|(id, result)| (id.to_string(), result)).collect()
}

/// The results in messages, each with the id of its call.
fn results_of(dialect: &str, messages: &[Value]) -> Vec<(Value, Value)> {
    if dialect == "openai_chat" {
        let results = messages.iter().filter(|message| message["role"] == "tool");
        return results.map(|message| (message["tool_call_id"].clone(), message.clone())).collect();
    }
    let blocks = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .filter_map(|message| message["content"].as_array());
    blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result")
        .map(|block| (block["tool_use_id"].clone(), block.clone()))
        .collect()
}

/// The row's tools as the desk tool takes them; each says what the record says that it said.
fn tools_of(row: &Row, recorded: &BTreeMap<String, Value>, desk: &mut Desk) -> Vec<Value> {
    let mut tools: Vec<Value> = Vec::new();
    let declared = row.tools["tools"].as_array().cloned().unwrap_or_default();
    for tool in &declared {
        let function = tool.get("function").unwrap_or(tool);
        let schema = function.get("parameters").or_else(|| function.get("input_schema"));
        // What has no schema is run by the provider.
        if let (Some(name), Some(schema)) = (function["name"].as_str(), schema) {
            tools.push(json!({"name": name, "description": function["description"], "parameters": schema}));
        }
    }
    // Some replies call what their request did not declare.
    for call in &row.calls {
        if !tools.iter().any(|tool| tool["name"] == call["name"]) {
            tools.push(json!({"name": call["name"], "parameters": {"type": "object"}}));
        }
    }
    for tool in &mut tools {
        if !tool["description"].is_string() {
            tool["description"] = json!("");
        }
        let call = row.calls.iter().find(|call| call["name"] == tool["name"]);
        let said = call
            .and_then(|call| recorded.get(&call["id"].to_string()))
            .and_then(|result| text_of(&result["content"]));
        tool["behaviour"] = json!({"text": said.unwrap_or_else(|| "ok".into())});
        let probe = desk.ask(&json!({"op": "render", "dialect": row.dialect, "tools": [tool.clone()]}));
        if probe["ok"] == false {
            // Refused for a keyword that is not enforced yet, which it names.
            assert_eq!(probe["error"]["kind"], "schema", "{}: {probe}", row.id);
            println!("{}: {}: {}", row.id, tool["name"], probe["error"]["message"]);
            tool["parameters"] = json!({"type": "object"});
        }
    }
    tools
}

/// A content that is one text.
fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) if parts.len() == 1 && parts[0]["type"] == "text" => {
            parts[0]["text"].as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// The members of a result, without a failure flag that says no.
fn members(result: &Value) -> Vec<&str> {
    let members = result.as_object().unwrap();
    members
        .iter()
        .filter(|(name, value)| *name != "is_error" || **value != json!(false))
        .map(|(name, _)| name.as_str())
        .collect()
}
