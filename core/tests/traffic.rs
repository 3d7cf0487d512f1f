//! Recorded replies of real providers: calls are read exactly, and answers have the shape that the provider
//! accepted. From `../shared/data/traffic`.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use common::{Memory, answered, answered_stream, boxed, open, read, rows, shared, with_schema};
use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, parse_reply};
use toolcore::json::Options;
use toolcore::result::OutcomeKind;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

#[test]
fn recorded_openai_replies_are_read_and_answered() {
    run(Dialect::OpenAiChat, "recorded_openai_replies_are_read_and_answered", [132, 97, 46]);
}

#[test]
fn recorded_anthropic_replies_are_read_and_answered() {
    run(Dialect::Anthropic, "recorded_anthropic_replies_are_read_and_answered", [78, 55, 36]);
}

#[test]
fn recorded_responses_are_read_and_answered() {
    run(Dialect::OpenAiResponses, "recorded_responses_are_read_and_answered", [73, 48, 36]);
}

#[test]
fn recorded_gemini_replies_are_read_and_answered() {
    run(Dialect::Gemini, "recorded_gemini_replies_are_read_and_answered", [134, 103, 42]);
}

#[test]
fn recorded_bedrock_replies_are_read_and_answered() {
    run(Dialect::Bedrock, "recorded_bedrock_replies_are_read_and_answered", [50, 32, 20]);
}

#[test]
fn recorded_cohere_replies_are_read_and_answered() {
    run(Dialect::Cohere, "recorded_cohere_replies_are_read_and_answered", [8, 6, 2]);
}

/// What was recorded of a dialect that no test above goes through would be checked nowhere.
#[test]
fn every_recorded_dialect_is_compared() {
    let Some(folder) = shared("data/traffic", "every_recorded_dialect_is_compared") else { return };
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let recorded = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let mut recorded: Vec<_> =
        recorded.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    recorded.sort();
    let compared = ["anthropic", "bedrock", "cohere", "gemini", "openai_chat", "openai_responses"];
    assert_eq!(recorded, compared);
}

/// Checks all replies of a dialect, whole ones and streams; `expected` counts replies, calls, and recorded
/// follow-ups.
fn run(dialect: Dialect, test: &str, expected: [usize; 3]) {
    let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
    let rows = rows(&path);
    let (mut calls, mut compared, mut equal, mut refused) = (0, 0, 0, 0);
    for row in &rows {
        calls += row["calls"].as_array().unwrap().len();
        if row["kind"] == "whole" {
            read_exactly(dialect, row, &row["reply"].to_string());
        }
        let answer = answer(dialect, row);
        refused += answer.refused;
        if answer.compared {
            compared += 1;
            equal += usize::from(answer.equal);
        }
    }
    println!(
        "{}: {} replies, {calls} calls read; {compared} follow-ups compared, {equal} equal, the rest hold \
         parts that are not text; {refused} tool schemas refused",
        dialect.name(),
        rows.len()
    );
    assert_eq!([rows.len(), calls, compared], expected);
}

fn read_exactly(dialect: Dialect, row: &Json, reply: &str) {
    let (mut words, mut bytes) = (vec![0; 256], vec![0; 64 * 1024]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (parsed, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch)
        .unwrap_or_else(|error| panic!("{}: {error}", row["id"]));
    let seen: Vec<Json> = parsed
        .calls()
        .map(|call| {
            // The model called what was not offered, and the provider says so.
            let undeclared = row["reply"]["candidates"][0]["finishReason"] == "UNEXPECTED_TOOL_CALL";
            assert_eq!(call.truncated, undeclared, "{}", row["id"]);
            let arguments = if call.arguments.is_empty() { json!({}) } else { read(call.arguments) };
            json!({"id":call.id,"name":call.name,"arguments":arguments})
        })
        .collect();
    assert_eq!(Json::from(seen), row["calls"], "{}", row["id"]);
}

struct Answer {
    compared: bool,
    equal: bool,
    refused: usize,
}

/// Answers a reply with tools that give what was recorded, and compares the messages.
fn answer(dialect: Dialect, row: &Json) -> Answer {
    let id = &row["id"];
    let recorded = recorded(dialect, row);
    // Calls of one tool without ids get their texts in order.
    let texts: RefCell<HashMap<String, VecDeque<String>>> = RefCell::default();
    for (id, text) in recorded.iter().filter_map(|result| text_of(dialect, result)) {
        texts.borrow_mut().entry(id).or_default().push_back(text);
    }
    let mut refused = 0;
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for call in row["calls"].as_array().unwrap() {
        let name = call["name"].as_str().unwrap();
        let undeclared = row["reply"]["candidates"][0]["finishReason"] == "UNEXPECTED_TOOL_CALL";
        if tools.contains(name) || undeclared {
            continue;
        }
        let run = || {
            boxed(|call, result| {
                let mut texts = texts.borrow_mut();
                let text = texts.get_mut(call.id.unwrap_or(call.name)).and_then(VecDeque::pop_front);
                Ok(result.text(text.as_deref().unwrap_or("not recorded"))?)
            })
        };
        let schema = schema_of(dialect, row, name).map(|schema| schema.to_string());
        if let Some(schema) = &schema {
            let mut message = [0; 256];
            let mut why = Sink::new(&mut message);
            if tools.add_explained(&with_schema(name, schema), run(), &mut why).is_ok() {
                continue;
            }
            println!("{id}: {name}: {}", why.finish_cut());
            refused += 1;
        }
        tools.add(&open(name), run()).unwrap();
    }
    let answered = match row["reply"].as_str() {
        Some(stream) => answered_stream(&tools, dialect, stream),
        None => answered(&tools, dialect, &row["reply"].to_string()),
    };
    assert_eq!(answered.outcome.calls, row["calls"].as_array().unwrap().len(), "{id}");
    if answered.outcome.calls == 0 {
        assert_eq!(answered.text, "", "{id}");
        return Answer { compared: false, equal: false, refused };
    }
    if invents(dialect, row) {
        assert!(answered.kinds().contains(&OutcomeKind::BadArguments), "{id}: {}", answered.text);
        return Answer { compared: false, equal: false, refused };
    }
    if row["reply"]["candidates"][0]["finishReason"] == "UNEXPECTED_TOOL_CALL" {
        assert_eq!(answered.kinds(), [OutcomeKind::UnknownTool], "{id}: {}", answered.text);
        return Answer { compared: false, equal: false, refused };
    }
    // What real models sent fits the schemas that they were given.
    assert!(answered.kinds().iter().all(|kind| *kind == OutcomeKind::Answered), "{id}: {}", answered.text);
    let messages = answered.messages();
    let ours = results(dialect, messages.as_array().unwrap());
    let ids = |results: &[Json]| {
        results.iter().map(|result| result_id(dialect, result).clone()).collect::<Vec<_>>()
    };
    let called: Vec<_> = row["calls"].as_array().unwrap().iter().map(|call| call["id"].clone()).collect();
    assert_eq!(ids(&ours), called, "{id}");
    if recorded.is_empty() {
        return Answer { compared: false, equal: false, refused };
    }
    assert_eq!(ids(&ours), ids(&recorded), "{id}");
    let mut equal = true;
    for (ours, theirs) in ours.iter().zip(&recorded) {
        if text_of(dialect, theirs).is_some() {
            assert_eq!(normal(ours), normal(theirs), "{id}");
        } else {
            equal = false;
            assert_eq!((&ours["type"], &ours["role"]), (&theirs["type"], &theirs["role"]), "{id}: {theirs}");
        }
    }
    Answer { compared: true, equal, refused }
}

/// Whether the model made up arguments for a tool that takes none.
fn invents(dialect: Dialect, row: &Json) -> bool {
    row["calls"].as_array().unwrap().iter().any(|call| {
        let schema = schema_of(dialect, row, call["name"].as_str().unwrap());
        schema.is_some_and(|schema| {
            schema["additionalProperties"] == false && schema["properties"] == json!({})
        }) && call["arguments"] != json!({})
    })
}

/// The results in the turn right after the replayed assistant turn.
fn recorded(dialect: Dialect, row: &Json) -> Vec<Json> {
    let appended = row["appended"].as_array().map_or(&[][..], Vec::as_slice);
    if dialect == Dialect::OpenAiResponses {
        let items = appended.iter().skip_while(|item| !is_output(item));
        let mut items: Vec<_> = items.take_while(|item| is_output(item)).cloned().collect();
        // Where a server's ids are not unique, the client that was recorded put the reply's before them.
        for item in &mut items {
            let id = item["call_id"].as_str().unwrap();
            item["call_id"] = id.rsplit(':').next().into();
        }
        return items;
    }
    let of_model = |message: &&Json| message["role"] == "assistant" || message["role"] == "model";
    let after = appended.iter().skip_while(of_model);
    let turn: Vec<_> = after.take_while(|message| !of_model(message)).cloned().collect();
    let mut results = results(dialect, &turn);
    results.iter_mut().for_each(forget_ids_of_the_client);
    results
}

/// The client that was recorded gave calls without an id one of its own, and sent it. Ours sends none.
fn forget_ids_of_the_client(result: &mut Json) {
    if let Some(response) = result.get_mut("functionResponse").and_then(Json::as_object_mut) {
        response.retain(|key, value| key != "id" || !value.as_str().unwrap().starts_with("pyd_ai_"));
    }
}

/// The tool results among messages: messages or items of their own, or the blocks at the start of one message.
fn results(dialect: Dialect, messages: &[Json]) -> Vec<Json> {
    let (list, mark) = match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => {
            return messages.iter().take_while(|message| message["role"] == "tool").cloned().collect();
        }
        Dialect::OpenAiResponses => {
            return messages.iter().take_while(|item| is_output(item)).cloned().collect();
        }
        Dialect::Gemini => ("parts", "functionResponse"),
        Dialect::Bedrock => ("content", "toolResult"),
        _ => ("content", "tool_use_id"),
    };
    let first = messages.first().filter(|message| message["role"] == "user");
    let blocks = first.and_then(|message| message[list].as_array()).map_or(&[][..], Vec::as_slice);
    blocks.iter().take_while(|block| block.get(mark).is_some()).cloned().collect()
}

fn is_output(item: &Json) -> bool {
    item["type"] == "function_call_output"
}

fn result_id(dialect: Dialect, result: &Json) -> &Json {
    match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => &result["tool_call_id"],
        Dialect::OpenAiResponses => &result["call_id"],
        Dialect::Gemini => &result["functionResponse"]["id"],
        Dialect::Bedrock => &result["toolResult"]["toolUseId"],
        _ => &result["tool_use_id"],
    }
}

/// The id, or else the tool's name, and the text of a result that is one text.
fn text_of(dialect: Dialect, result: &Json) -> Option<(String, String)> {
    let normal = normal(result);
    let text = match dialect {
        Dialect::OpenAiResponses => normal["output"].as_str(),
        Dialect::Gemini => normal["functionResponse"]["response"]["output"].as_str(),
        // A failure's text was written by the client.
        Dialect::Bedrock if normal["toolResult"]["status"] == "error" => None,
        Dialect::Bedrock => normal["toolResult"]["content"].as_str(),
        _ => normal["content"].as_str(),
    };
    let id = result_id(dialect, result).as_str().or(result["functionResponse"]["name"].as_str());
    Some((id?.into(), text?.into()))
}

/// Without what is optional: `is_error` of false and the status of success are absent, one text block is the
/// string, and Gemini's `return_value`, which a client chose for the text, is the `output` of its convention.
fn normal(result: &Json) -> Json {
    let mut normal = result.clone();
    if let Some(inner) = normal.get_mut("toolResult") {
        let object = inner.as_object_mut().unwrap();
        object.retain(|key, value| key != "status" || value != "success");
        if let Some([block]) = object["content"].as_array().map(Vec::as_slice)
            && let Some(text) = block.get("text").cloned()
        {
            object.insert("content".into(), text);
        }
        return normal;
    }
    if let Some(response) = normal.pointer_mut("/functionResponse/response") {
        let object = response.as_object_mut().unwrap();
        if let Some(text) = object.remove("return_value") {
            object.insert("output".into(), text);
        }
        return normal;
    }
    let object = normal.as_object_mut().unwrap();
    if object.get("is_error") == Some(&json!(false)) {
        object.remove("is_error");
    }
    if let Some([block]) = result["content"].as_array().map(Vec::as_slice)
        && block["type"] == "text"
    {
        normal["content"] = block["text"].clone();
    }
    normal
}

fn schema_of<'a>(dialect: Dialect, row: &'a Json, name: &str) -> Option<&'a Json> {
    let (list, path, key) = match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => ("/tools", "/function", "/parameters"),
        Dialect::OpenAiResponses => ("/tools", "", "/parameters"),
        Dialect::Gemini => ("/tools/0/functionDeclarations", "", "/parameters_json_schema"),
        Dialect::Bedrock => ("/toolConfig/tools", "/toolSpec", "/inputSchema/json"),
        _ => ("/tools", "", "/input_schema"),
    };
    let mut tools = row["tools"].pointer(list)?.as_array()?.iter().filter_map(|tool| tool.pointer(path));
    tools.find(|tool| tool["name"] == name)?.pointer(key)
}
