//! Recorded streams: calls are read exactly in any chunking, and what goes back is what was sent back.

use serde_json::{Value as Json, json};
use toolcore::dialect::Dialect;

use crate::common::{read, rows, shared};
use crate::support::{Random, Seen, stream, whole};

fn called(seen: &Seen) -> Json {
    let calls = seen.calls.iter().map(|call| {
        assert!(!call.truncated);
        let arguments = if call.arguments.is_empty() { json!({}) } else { read(&call.arguments) };
        json!({"id":call.id,"name":call.name,"arguments":arguments})
    });
    calls.collect()
}

#[test]
fn recorded_streams_are_read_exactly() {
    let mut random = Random(11);
    for (dialect, expected) in [
        (Dialect::OpenAiChat, 21),
        (Dialect::Anthropic, 2),
        (Dialect::OpenAiResponses, 8),
        (Dialect::Gemini, 4),
    ] {
        let test = "recorded_streams_are_read_exactly";
        let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
        let rows: Vec<_> = rows(&path).into_iter().filter(|row| row["kind"] == "stream").collect();
        for row in &rows {
            let text = row["reply"].as_str().unwrap().as_bytes();
            let seen = stream(dialect, [text]);
            assert_eq!(called(&seen), row["calls"], "{}", row["id"]);
            let bytes: Vec<&[u8]> = text.chunks(1).collect();
            assert_eq!(stream(dialect, bytes), seen, "{}: byte by byte", row["id"]);
            for _ in 0..20 {
                assert_eq!(stream(dialect, random.cut(text)), seen, "{}", row["id"]);
            }
            if dialect == Dialect::Gemini {
                // The same without `alt=sse`: an array.
                let text = row["reply"].as_str().unwrap();
                let events: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                let array = format!("[{}\n]", events.join("\n,\r\n"));
                assert_eq!(stream(dialect, random.cut(array.as_bytes())), seen, "{}", row["id"]);
            }
        }
        assert_eq!(rows.len(), expected);
    }
}

/// Every whole and streamed reply whose follow-up was recorded: the turn that we send back is the one that
/// was sent back, but for what is listed in [`normal`].
#[test]
fn the_turn_that_goes_back_is_the_recorded_one() {
    let (mut compared, mut calls) = (0, 0);
    for dialect in [Dialect::OpenAiChat, Dialect::Anthropic, Dialect::Bedrock, Dialect::Cohere] {
        let test = "the_turn_that_goes_back_is_the_recorded_one";
        let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
        for row in rows(&path) {
            let Some(recorded) = row["appended"].get(0).filter(|turn| turn["role"] == "assistant") else {
                continue;
            };
            let seen = match row["reply"].as_str() {
                Some(text) => stream(dialect, [text.as_bytes()]),
                None => whole(dialect, &row["reply"]).unwrap(),
            };
            let ours = seen.replay.unwrap();
            assert_eq!(ours.as_array().unwrap().len(), 1, "{}", row["id"]);
            assert_eq!(normal(dialect, &ours[0]), normal(dialect, recorded), "{}", row["id"]);
            compared += 1;
            calls += row["calls"].as_array().unwrap().len();
        }
    }
    println!("{compared} turns compared, with {calls} calls");
    assert!(compared >= 80 && calls >= 60, "{compared} {calls}");
}

/// Differences that mean nothing:
/// - `content` that is null, empty or absent, beside calls;
/// - `index` in a call, the number of a piece of a stream;
/// - `prefix: false`, which a client adds;
/// - `caller`, which we send back and some clients do not;
/// - `citations: null`, which the provider puts out;
/// - `reasoning`, `tool_plan` and their like, which some clients drop; they are compared where both have them;
/// - text of arguments: blanks between tokens.
pub(crate) fn normal(dialect: Dialect, turn: &Json) -> Json {
    match dialect {
        Dialect::OpenAiResponses => return crate::turns::item(turn),
        Dialect::Gemini => return crate::turns::content(turn),
        _ => {}
    }
    let mut turn = turn.clone();
    let object = turn.as_object_mut().unwrap();
    for key in ["prefix", "reasoning", "reasoning_details", "tool_plan"] {
        object.remove(key);
    }
    if object
        .get("content")
        .is_some_and(|content| content.is_null() || content == "" || *content == json!([]))
    {
        object.remove("content");
    }
    for block in turn["content"].as_array_mut().into_iter().flatten() {
        let block = block.as_object_mut().unwrap();
        block.remove("caller");
        if block.get("citations") == Some(&Json::Null) {
            block.remove("citations");
        }
    }
    for call in turn["tool_calls"].as_array_mut().into_iter().flatten() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        call["function"]["arguments"] = read(arguments);
        call.as_object_mut().unwrap().remove("index");
    }
    if turn["content"].is_null() {
        turn.as_object_mut().unwrap().remove("content");
    }
    if turn["tool_calls"].is_null() {
        turn.as_object_mut().unwrap().remove("tool_calls");
    }
    turn
}
