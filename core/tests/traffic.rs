//! Recorded replies of real providers: calls are read exactly, and answers have the shape that the provider
//! accepted. From `../shared/data/traffic`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::collections::HashMap;

use common::{Memory, boxed, open, read, rows, shared, try_answer, with_schema};
use serde_json::{Value as Json, json};
use toolcore::answer::AnswerOptions;
use toolcore::dialect::{Dialect, parse_reply};
use toolcore::json::Options;
use toolcore::result::OutcomeKind;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

#[test]
fn recorded_openai_replies_are_read_and_answered() {
    run(Dialect::OpenAiChat, "recorded_openai_replies_are_read_and_answered", [111, 75, 35]);
}

#[test]
fn recorded_anthropic_replies_are_read_and_answered() {
    run(Dialect::Anthropic, "recorded_anthropic_replies_are_read_and_answered", [76, 54, 35]);
}

/// Checks all whole replies of a dialect; `expected` counts replies, calls, and recorded follow-ups.
fn run(dialect: Dialect, test: &str, expected: [usize; 3]) {
    let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
    let rows: Vec<_> = rows(&path).into_iter().filter(|row| row["kind"] == "whole").collect();
    let (mut calls, mut compared, mut equal, mut refused) = (0, 0, 0, 0);
    for row in &rows {
        let reply = row["reply"].to_string();
        calls += read_exactly(dialect, row, &reply);
        let answer = answer(dialect, row, &reply);
        refused += answer.refused;
        if answer.compared {
            compared += 1;
            equal += usize::from(answer.equal);
        }
    }
    println!(
        "{}: {} whole replies, {calls} calls read; {compared} follow-ups compared, {equal} equal, the rest hold \
         parts that are not text; {refused} tool schemas refused",
        dialect.name(),
        rows.len()
    );
    assert_eq!([rows.len(), calls, compared], expected);
}

fn read_exactly(dialect: Dialect, row: &Json, reply: &str) -> usize {
    let (mut words, mut bytes) = (vec![0; 256], vec![0; 64 * 1024]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (parsed, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch)
        .unwrap_or_else(|error| panic!("{}: {error}", row["id"]));
    let seen: Vec<Json> = parsed
        .calls()
        .map(|call| {
            assert!(!call.truncated, "{}", row["id"]);
            let arguments = if call.arguments.is_empty() { json!({}) } else { read(call.arguments) };
            json!({"id":call.id,"name":call.name,"arguments":arguments})
        })
        .collect();
    assert_eq!(Json::from(seen), row["calls"], "{}", row["id"]);
    parsed.len()
}

struct Answer {
    compared: bool,
    equal: bool,
    refused: usize,
}

/// Answers a reply with tools that give what was recorded, and compares the messages.
fn answer(dialect: Dialect, row: &Json, reply: &str) -> Answer {
    let id = &row["id"];
    let recorded = recorded(dialect, row);
    let texts: HashMap<String, String> =
        recorded.iter().filter_map(|result| text_of(dialect, result)).collect();
    let mut refused = 0;
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for call in row["calls"].as_array().unwrap() {
        let name = call["name"].as_str().unwrap();
        if tools.contains(name) {
            continue;
        }
        let run = || {
            boxed(|call, result| {
                let text = call.id.and_then(|id| texts.get(id));
                Ok(result.text(text.map_or("not recorded", String::as_str))?)
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
    let answered = try_answer(&tools, dialect, reply, &AnswerOptions::default()).unwrap();
    assert_eq!(answered.outcome.calls, row["calls"].as_array().unwrap().len(), "{id}");
    if answered.outcome.calls == 0 {
        assert_eq!(answered.text, "", "{id}");
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
            assert_eq!((&ours["type"], &ours["role"]), (&theirs["type"], &theirs["role"]), "{id}");
        }
    }
    Answer { compared: true, equal, refused }
}

/// The results in the turn right after the replayed assistant turn.
fn recorded(dialect: Dialect, row: &Json) -> Vec<Json> {
    let appended = row["appended"].as_array().map_or(&[][..], Vec::as_slice);
    let turn: Vec<_> = appended
        .iter()
        .skip_while(|message| message["role"] == "assistant")
        .take_while(|message| message["role"] != "assistant")
        .cloned()
        .collect();
    results(dialect, &turn)
}

/// The tool results among messages: messages of the role `tool`, or the blocks at the start of one message.
fn results(dialect: Dialect, messages: &[Json]) -> Vec<Json> {
    match dialect {
        Dialect::OpenAiChat => {
            messages.iter().take_while(|message| message["role"] == "tool").cloned().collect()
        }
        _ => {
            let first = messages.first().filter(|message| message["role"] == "user");
            let blocks =
                first.and_then(|message| message["content"].as_array()).map_or(&[][..], Vec::as_slice);
            blocks.iter().take_while(|block| block["type"] == "tool_result").cloned().collect()
        }
    }
}

fn result_id(dialect: Dialect, result: &Json) -> &Json {
    &result[if dialect == Dialect::OpenAiChat { "tool_call_id" } else { "tool_use_id" }]
}

/// The id and the text of a result that is one text.
fn text_of(dialect: Dialect, result: &Json) -> Option<(String, String)> {
    let normal = normal(result);
    let text = normal["content"].as_str()?;
    Some((result_id(dialect, result).as_str()?.into(), text.into()))
}

/// Without what is optional: `is_error` of false is absent, and one text block is the string.
fn normal(result: &Json) -> Json {
    let mut normal = result.clone();
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
    let tools = row["tools"]["tools"].as_array()?;
    let (path, key) = match dialect {
        Dialect::OpenAiChat => ("/function", "parameters"),
        _ => ("", "input_schema"),
    };
    let mut tools = tools.iter().filter_map(|tool| tool.pointer(path));
    tools.find(|tool| tool["name"] == name)?.get(key)
}
