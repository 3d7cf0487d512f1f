//! What goes back to each provider: one result for each call, its failure told, nothing lost in silence.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::Cell;

use common::dialects::{json_dialects, reply, results as results_of};
use common::{Memory, answered, boxed, open, read, says, try_answer};
use serde_json::{Value as Json, json};
use toolcore::answer::{AnswerError, AnswerOptions, answer};
use toolcore::call::ToolCall;
use toolcore::dialect::{CallResult, Dialect, ResultsError, ResultsOptions, render_results};
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::tool::Failure;

fn calls<'a>(ids: &[&'a str]) -> Vec<ToolCall<'a>> {
    ids.iter()
        .map(|id| ToolCall { id: Some(id), name: "f", arguments: "{}", ..ToolCall::default() })
        .collect()
}

fn text<'b>(memory: &'b mut [u8], text: &str) -> ToolResult<'b> {
    let mut result = ToolResult::new(memory);
    result.text(text).unwrap();
    result
}

fn try_results(
    dialect: Dialect,
    calls: &[ToolCall<'_>],
    results: &[CallResult<'_, '_>],
    options: &ResultsOptions,
) -> Result<String, ResultsError> {
    let mut buffer = [0; 8192];
    let mut sink = Sink::new(&mut buffer);
    render_results(dialect, calls, results, options, &mut sink)?;
    Ok(sink.finish().unwrap().into())
}

/// The message or messages for one result.
fn one(dialect: Dialect, result: &ToolResult<'_>) -> Json {
    let results = [CallResult { id: Some("c1"), result: Some(result) }];
    read(&try_results(dialect, &calls(&["c1"]), &results, &ResultsOptions::default()).unwrap())
}

/// One message of Chat Completions.
fn chat(content: &str) -> Json {
    json!([{"role":"tool","tool_call_id":"c1","content":content}])
}

/// One message of Mistral's, which has the tool's name, and an id of nine letters and digits.
fn mistral(mut messages: Json) -> Json {
    messages[0]["tool_call_id"] = Dialect::MistralChat.wire_id("c1").unwrap().as_str().into();
    messages[0]["name"] = "f".into();
    messages
}

/// One message of Cohere's with these parts.
fn cohere(parts: &Json) -> Json {
    json!([{"role":"tool","tool_call_id":"c1","content":parts}])
}

fn responses(output: &Json) -> Json {
    json!([{"type":"function_call_output","call_id":"c1","output":output}])
}

/// One message of Anthropic's with a block that has these members too.
fn anthropic(members: &Json) -> Json {
    let mut block = json!({"type":"tool_result","tool_use_id":"c1"});
    block.as_object_mut().unwrap().append(&mut members.as_object().unwrap().clone());
    json!([{"role":"user","content":[block]}])
}

/// A content of Gemini's with this response.
fn gemini(response: &Json) -> Json {
    json!([{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":response}}]}])
}

fn bedrock(content: &Json, failed: bool) -> Json {
    let mut result = json!({"toolUseId":"c1","content":content});
    if failed {
        result["status"] = "error".into();
    }
    json!([{"role":"user","content":[{"toolResult":result}]}])
}

fn ollama(content: &str) -> Json {
    json!([{"role":"tool","tool_name":"f","tool_call_id":"c1","content":content}])
}

/// Checks the messages of each dialect for one result.
fn each(result: &ToolResult<'_>, expected: impl Fn(Dialect) -> Json) {
    for dialect in json_dialects() {
        assert_eq!(one(dialect, result), expected(dialect), "{}", dialect.name());
    }
}

#[test]
fn a_text_has_the_shape_of_its_dialect() {
    let mut memory = [0; 64];
    let says = "4 \u{b0}C \"now\"\n";
    each(&text(&mut memory, says), |dialect| match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => chat(says),
        Dialect::MistralChat => mistral(chat(says)),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::OpenAiResponses => responses(&json!(says)),
        Dialect::Anthropic => anthropic(&json!({"content":says})),
        Dialect::Gemini | Dialect::GeminiSchema => gemini(&json!({"output":says})),
        Dialect::Bedrock => bedrock(&json!([{"text":says}]), false),
        Dialect::Ollama => ollama(says),
        Dialect::Mcp => json!({"content":[{"type":"text","text":says}]}),
    });
}

#[test]
fn a_failure_keeps_its_flag_where_the_dialect_has_one() {
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.error("boom");
    let says = "Tool error: boom";
    each(&result, |dialect| match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => chat(says),
        Dialect::MistralChat => mistral(chat(says)),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::OpenAiResponses => responses(&json!(says)),
        Dialect::Anthropic => anthropic(&json!({"is_error":true,"content":says})),
        Dialect::Gemini | Dialect::GeminiSchema => gemini(&json!({"error":says})),
        Dialect::Bedrock => bedrock(&json!([{"text":says}]), true),
        Dialect::Ollama => ollama(says),
        Dialect::Mcp => json!({"content":[{"type":"text","text":says}],"isError":true}),
    });
}

/// Case 025: an object is put as its text where the provider wants a string.
#[test]
fn a_json_result_is_json_text_or_the_json_itself() {
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.json(r#" {"address": "x"} "#).unwrap();
    let says = r#"{"address": "x"}"#;
    each(&result, |dialect| match dialect {
        Dialect::OpenAiChat => chat(says),
        Dialect::Cohere => cohere(&json!([{"type":"document","document":{"data":{"address":"x"}}}])),
        Dialect::MistralChat => mistral(chat(says)),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::OpenAiResponses => responses(&json!(says)),
        Dialect::Anthropic => anthropic(&json!({"content":says})),
        Dialect::Gemini | Dialect::GeminiSchema => gemini(&json!({"output":{"address":"x"}})),
        Dialect::Bedrock => bedrock(&json!([{"json":{"address":"x"}}]), false),
        Dialect::Ollama => ollama(says),
        Dialect::Mcp => {
            json!({"content":[{"type":"text","text":says}],"structuredContent":{"address":"x"}})
        }
    });
    // `structuredContent` is an object up to the revision of 2025-11-25, and Bedrock's document too.
    result.clear();
    result.json("[1,2]").unwrap();
    assert_eq!(one(Dialect::Mcp, &result), json!({"content":[{"type":"text","text":"[1,2]"}]}));
    assert_eq!(one(Dialect::Gemini, &result), gemini(&json!({"output":[1,2]})));
    assert_eq!(one(Dialect::Bedrock, &result), bedrock(&json!([{"text":"[1,2]"}]), false));
}

/// What the result of `parts_that_are_not_text…` says of its parts, where they cannot be shown.
fn mentions(texts: &[Json]) {
    assert_eq!(texts.len(), 5);
    for (text, mentions) in
        texts.iter().zip(["a picture", "image/png", "audio/wav", "file:///m.pdf", "image/bmp"])
    {
        assert!(text.as_str().unwrap().contains(mentions), "{text}");
    }
}

#[test]
fn parts_that_are_not_text_go_where_they_can_and_are_named_where_they_cannot() {
    let mut memory = [0; 128];
    let mut result = ToolResult::new(&mut memory);
    result.text("a picture").unwrap();
    result.image("image/png", b"\x00\x01\x02\xff").unwrap();
    result.audio("audio/wav", b"RIFF!").unwrap();
    result.link("manual", "file:///m.pdf").unwrap();
    result.image("image/bmp", b"BM").unwrap();
    let (png, wav, bmp) = ("AAEC/w==", "UklGRiE=", "Qk0=");
    assert_eq!(
        one(Dialect::Mcp, &result),
        json!({"content":[
            {"type":"text","text":"a picture"},
            {"type":"image","data":png,"mimeType":"image/png"},
            {"type":"audio","data":wav,"mimeType":"audio/wav"},
            {"type":"resource_link","uri":"file:///m.pdf","name":"manual"},
            {"type":"image","data":bmp,"mimeType":"image/bmp"}]})
    );
    let list = |messages: &Json, path: &str| messages.pointer(path).unwrap().as_array().unwrap().clone();
    // Anthropic takes png, jpeg, gif and webp, and no sound.
    let mut blocks = list(&one(Dialect::Anthropic, &result), "/0/content/0/content");
    let source = json!({"type":"base64","media_type":"image/png","data":png});
    assert_eq!(blocks[1], json!({"type":"image","source":source}));
    blocks[1] = json!({"type":"text","text":"image/png"});
    assert!(blocks.iter().all(|block| block["type"] == "text"));
    mentions(&blocks.iter().map(|block| block["text"].clone()).collect::<Vec<_>>());
    // Chat Completions takes text only.
    let blocks = list(&one(Dialect::OpenAiChat, &result), "/0/content");
    assert!(blocks.iter().all(|block| block["type"] == "text"));
    mentions(&blocks.iter().map(|block| block["text"].clone()).collect::<Vec<_>>());
    // Responses take any image, by its address.
    let mut blocks = list(&one(Dialect::OpenAiResponses, &result), "/0/output");
    for (at, url) in [(1, "data:image/png;base64,AAEC/w=="), (4, "data:image/bmp;base64,Qk0=")] {
        assert_eq!(blocks[at], json!({"type":"input_image","image_url":url}));
        blocks[at] = json!({"type":"input_text","text":url});
    }
    assert!(blocks.iter().all(|block| block["type"] == "input_text"));
    mentions(&blocks.iter().map(|block| block["text"].clone()).collect::<Vec<_>>());
    // Gemini has media beside the response, of any kind.
    let part = &one(Dialect::Gemini, &result)[0]["parts"][0]["functionResponse"];
    assert_eq!(part["response"], json!({"output":["a picture","manual: file:///m.pdf"]}));
    let inline = |kind: &str, data: &str| json!({"inlineData":{"mimeType":kind,"data":data}});
    let media = json!([inline("image/png", png), inline("audio/wav", wav), inline("image/bmp", bmp)]);
    assert_eq!(part["parts"], media);
}

#[test]
fn an_image_alone_has_the_shape_of_its_dialect() {
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.image("image/jpeg", b"\xff\xd8").unwrap();
    let data = "/9g=";
    let source = json!({"type":"base64","media_type":"image/jpeg","data":data});
    let mut beside = gemini(&json!({"output":""}));
    beside[0]["parts"][0]["functionResponse"]["parts"] =
        json!([{"inlineData":{"mimeType":"image/jpeg","data":data}}]);
    let mut images = ollama("");
    images[0]["images"] = json!([data]);
    each(&result, |dialect| match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => chat("[image/jpeg, 2 bytes, cannot be shown here]"),
        Dialect::MistralChat => mistral(chat("[image/jpeg, 2 bytes, cannot be shown here]")),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::OpenAiResponses => {
            responses(&json!([{"type":"input_image","image_url":"data:image/jpeg;base64,/9g="}]))
        }
        Dialect::Anthropic => anthropic(&json!({"content":[{"type":"image","source":source}]})),
        Dialect::Gemini | Dialect::GeminiSchema => beside.clone(),
        Dialect::Bedrock => bedrock(&json!([{"image":{"format":"jpeg","source":{"bytes":data}}}]), false),
        Dialect::Ollama => images.clone(),
        Dialect::Mcp => json!({"content":[{"type":"image","data":data,"mimeType":"image/jpeg"}]}),
    });
}

#[test]
fn several_parts_are_a_list_where_there_is_one() {
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.text("one").unwrap();
    result.json("{\"n\":2}").unwrap();
    let blocks = |kind: &str| json!([{"type":kind,"text":"one"},{"type":kind,"text":"{\"n\":2}"}]);
    let mut list = chat("");
    list[0]["content"] = blocks("text");
    each(&result, |dialect| match dialect {
        Dialect::OpenAiChat => list.clone(),
        Dialect::MistralChat => mistral(list.clone()),
        Dialect::Cohere => {
            cohere(&json!([{"type":"text","text":"one"},{"type":"document","document":{"data":{"n":2}}}]))
        }
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::OpenAiResponses => responses(&blocks("input_text")),
        Dialect::Anthropic => anthropic(&json!({"content":blocks("text")})),
        Dialect::Gemini | Dialect::GeminiSchema => gemini(&json!({"output":["one",{"n":2}]})),
        Dialect::Bedrock => bedrock(&json!([{"text":"one"},{"json":{"n":2}}]), false),
        Dialect::Ollama => ollama("one\n{\"n\":2}"),
        Dialect::Mcp => json!({"content":blocks("text"),"structuredContent":{"n":2}}),
    });
}

#[test]
fn a_tool_that_says_nothing_is_answered_all_the_same() {
    each(&ToolResult::new(&mut []), |dialect| match dialect {
        Dialect::OpenAiChat | Dialect::Cohere => chat(""),
        Dialect::MistralChat => mistral(chat("")),
        Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => panic!("{} is text", dialect.name()),
        Dialect::OpenAiResponses => responses(&json!("")),
        Dialect::Anthropic => anthropic(&json!({})),
        Dialect::Gemini | Dialect::GeminiSchema => gemini(&json!({"output":""})),
        Dialect::Bedrock => bedrock(&json!([{"text":"(no output)"}]), false),
        Dialect::Ollama => ollama(""),
        Dialect::Mcp => json!({"content":[]}),
    });
}

/// The servers' errors: "text content blocks must contain non-whitespace text", and "the text field in the
/// ContentBlock object is blank".
#[test]
fn text_without_any_character_that_is_seen_is_sent_to_no_one_who_refuses_it() {
    let rows = [
        (&["", "x"][..], json!({"content":"x"}), json!([{"text":"(no output)"},{"text":"x"}])),
        (
            &["x", " \n", "y"],
            json!({"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}),
            json!([{"text":"x"},{"text":"(no output)"},{"text":"y"}]),
        ),
        (&["", "\t"], json!({}), json!([{"text":"(no output)"},{"text":"(no output)"}])),
        (&[" "], json!({}), json!([{"text":"(no output)"}])),
    ];
    for (parts, for_anthropic, for_bedrock) in rows {
        let mut memory = [0; 256];
        let mut result = ToolResult::new(&mut memory);
        for part in parts {
            result.text(part).unwrap();
        }
        let calls = calls(&["c1"]);
        let results = [CallResult { id: Some("c1"), result: Some(&result) }];
        let message =
            |dialect| read(&try_results(dialect, &calls, &results, &ResultsOptions::default()).unwrap());
        assert_eq!(message(Dialect::Anthropic), anthropic(&for_anthropic), "{parts:?}");
        assert_eq!(message(Dialect::Bedrock), bedrock(&for_bedrock, false), "{parts:?}");
    }
}

/// Gemini and Ollama match results by name and order, and get an id only where the call had one.
#[test]
fn a_call_without_an_id_is_answered_without_one_where_none_is_wanted() {
    let mut memory = [0; 8];
    let result = text(&mut memory, "x");
    let calls = [ToolCall { name: "f", ..ToolCall::default() }];
    let results = [CallResult { id: None, result: Some(&result) }];
    let message =
        |dialect| read(&try_results(dialect, &calls, &results, &ResultsOptions::default()).unwrap());
    let mut expected = gemini(&json!({"output":"x"}));
    expected[0]["parts"][0]["functionResponse"].as_object_mut().unwrap().remove("id");
    assert_eq!(message(Dialect::Gemini), expected);
    assert_eq!(message(Dialect::Ollama), json!([{"role":"tool","tool_name":"f","content":"x"}]));
    assert_eq!(message(Dialect::OpenAiResponses)[0]["call_id"], "toolcore_0");
}

#[test]
fn results_in_any_order_are_written_in_the_order_of_the_calls() {
    let (mut first, mut second, mut third) = ([0; 8], [0; 8], [0; 8]);
    let results = [text(&mut first, "one"), text(&mut second, "two"), text(&mut third, "three")];
    let entry = |id, at: usize| CallResult { id: Some(id), result: Some(&results[at]) };
    let calls = calls(&["a", "b", "c"]);
    let expected = json!([
        {"role":"tool","tool_call_id":"a","content":"one"},
        {"role":"tool","tool_call_id":"b","content":"two"},
        {"role":"tool","tool_call_id":"c","content":"three"}]);
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let entries = order.map(|at| entry(["a", "b", "c"][at], at));
        let options = ResultsOptions::default();
        for dialect in json_dialects().filter(|dialect| *dialect != Dialect::Mcp) {
            let messages = read(&try_results(dialect, &calls, &entries, &options).unwrap());
            let (results, key) = results_of(dialect, &messages);
            let ids: Vec<_> = results.iter().map(|result| &result[key]).collect();
            let wire_id = |id: &str| dialect.wire_id(id).map_or(id.to_owned(), |id| id.as_str().into());
            assert_eq!(ids, ["a", "b", "c"].map(wire_id).each_ref(), "{}", dialect.name());
        }
        assert_eq!(read(&try_results(Dialect::OpenAiChat, &calls, &entries, &options).unwrap()), expected);
        let anthropic = read(&try_results(Dialect::Anthropic, &calls, &entries, &options).unwrap());
        assert_eq!(anthropic.as_array().unwrap().len(), 1, "all results stand in one message");
        let ids: Vec<_> =
            anthropic[0]["content"].as_array().unwrap().iter().map(|block| &block["tool_use_id"]).collect();
        assert_eq!(ids, ["a", "b", "c"]);
    }
}

#[test]
fn every_call_has_exactly_one_result_or_the_turn_is_refused() {
    let mut memory = [0; 8];
    let result = text(&mut memory, "x");
    let entry = |id| CallResult { id, result: Some(&result) };
    let calls = calls(&["a", "b"]);
    let (a, b, z) = (entry(Some("a")), entry(Some("b")), entry(Some("z")));
    for (entries, error) in [
        (vec![], ResultsError::Missing { call: 0 }),
        (vec![a], ResultsError::Missing { call: 1 }),
        (vec![b], ResultsError::Missing { call: 0 }),
        (vec![a, z], ResultsError::Unknown { result: 1 }),
        (vec![a, b, z], ResultsError::Unknown { result: 2 }),
        (vec![a, entry(None)], ResultsError::Unknown { result: 1 }),
        (vec![a, b, a], ResultsError::Duplicate { result: 2 }),
        (vec![a, a], ResultsError::Duplicate { result: 1 }),
    ] {
        for dialect in json_dialects().filter(|dialect| *dialect != Dialect::Mcp) {
            let got = try_results(dialect, &calls, &entries, &ResultsOptions::default());
            assert_eq!(got, Err(error), "{} results", entries.len());
        }
    }
    let error = ResultsError::TooMany { count: 2 };
    assert_eq!(try_results(Dialect::Mcp, &calls, &[a, b], &ResultsOptions::default()), Err(error));
    assert_eq!(try_results(Dialect::Anthropic, &[], &[], &ResultsOptions::default()), Ok(String::new()));
}

/// A provider that repeats an id still gets one result for each call, in order.
#[test]
fn calls_that_share_an_id_are_answered_in_the_order_of_their_results() {
    let (mut first, mut second, mut other) = ([0; 8], [0; 8], [0; 8]);
    let (first, second, other) = (text(&mut first, "one"), text(&mut second, "two"), text(&mut other, "b"));
    let a1 = CallResult { id: Some("a"), result: Some(&first) };
    let a2 = CallResult { id: Some("a"), result: Some(&second) };
    let b = CallResult { id: Some("b"), result: Some(&other) };
    let calls = calls(&["a", "b", "a"]);
    let options = ResultsOptions::default();
    for results in [[a1, b, a2], [a1, a2, b], [b, a1, a2]] {
        let messages = read(&try_results(Dialect::OpenAiChat, &calls, &results, &options).unwrap());
        let contents: Vec<_> = (0..3).map(|at| messages[at]["content"].as_str().unwrap()).collect();
        assert_eq!(contents, ["one", "b", "two"]);
        let ids: Vec<_> = (0..3).map(|at| messages[at]["tool_call_id"].as_str().unwrap()).collect();
        assert!(ids[..2] == ["a", "b"] && !["a", "b"].contains(&ids[2]), "no id goes out twice: {ids:?}");
    }
    for results in [&[a1, b][..], &[b, a1]] {
        let missing = try_results(Dialect::OpenAiChat, &calls, results, &options);
        assert_eq!(missing, Err(ResultsError::Missing { call: 2 }));
    }
    let duplicate = try_results(Dialect::OpenAiChat, &calls, &[a1, b, a2, a1], &options);
    assert_eq!(duplicate, Err(ResultsError::Duplicate { result: 3 }));
}

#[test]
fn calls_without_ids_are_answered_by_their_place() {
    let (mut first, mut second) = ([0; 8], [0; 8]);
    let results = [text(&mut first, "one"), text(&mut second, "two")];
    let calls = [ToolCall { name: "f", ..ToolCall::default() }; 2];
    let entries: Vec<_> =
        results.iter().map(|result| CallResult { id: None, result: Some(result) }).collect();
    let messages =
        read(&try_results(Dialect::OpenAiChat, &calls, &entries, &ResultsOptions::default()).unwrap());
    assert_eq!((&messages[0]["content"], &messages[1]["content"]), (&json!("one"), &json!("two")));
    assert_ne!(messages[0]["tool_call_id"], messages[1]["tool_call_id"]);
    let missing = try_results(Dialect::OpenAiChat, &calls, &entries[..1], &ResultsOptions::default());
    assert_eq!(missing, Err(ResultsError::Missing { call: 1 }));
}

/// Case 027: a call that was given up has a result that says so, in the same message.
#[test]
fn a_cancelled_call_is_answered_as_cancelled() {
    let mut memory = [0; 8];
    let ok = text(&mut memory, "ok");
    let entries =
        [CallResult { id: Some("t2"), result: None }, CallResult { id: Some("t1"), result: Some(&ok) }];
    let messages = read(
        &try_results(Dialect::Anthropic, &calls(&["t1", "t2"]), &entries, &ResultsOptions::default())
            .unwrap(),
    );
    assert_eq!(messages.as_array().unwrap().len(), 1);
    let blocks = &messages[0]["content"];
    assert_eq!(blocks[0], json!({"type":"tool_result","tool_use_id":"t1","content":"ok"}));
    assert_eq!((&blocks[1]["tool_use_id"], &blocks[1]["is_error"]), (&json!("t2"), &json!(true)));
    assert!(blocks[1]["content"].as_str().unwrap().contains("cancelled"), "{blocks}");
    assert_eq!(blocks.as_array().unwrap().len(), 2);
    let says = "Tool error: Tool 'f' was cancelled";
    let given_up = |dialect| {
        let entries = [CallResult { id: Some("c1"), result: None }];
        read(&try_results(dialect, &calls(&["c1"]), &entries, &ResultsOptions::default()).unwrap())
    };
    for dialect in json_dialects() {
        let expected = match dialect {
            Dialect::OpenAiChat | Dialect::Cohere => chat(says),
            Dialect::MistralChat => mistral(chat(says)),
            Dialect::Hermes | Dialect::Llama3 | Dialect::Mistral => {
                panic!("{} is text", dialect.name())
            }
            Dialect::OpenAiResponses => responses(&json!(says)),
            Dialect::Anthropic => anthropic(&json!({"is_error":true,"content":says})),
            Dialect::Gemini | Dialect::GeminiSchema => gemini(&json!({"error":says})),
            Dialect::Bedrock => bedrock(&json!([{"text":says}]), true),
            Dialect::Ollama => ollama(says),
            Dialect::Mcp => json!({"content":[{"type":"text","text":says}],"isError":true}),
        };
        assert_eq!(given_up(dialect), expected, "{}", dialect.name());
    }
}

#[test]
fn a_limit_cuts_the_text_and_bare_leaves_the_brackets_out() {
    let mut memory = [0; 64];
    let result = text(&mut memory, "\u{e9}\u{e9}\u{e9}");
    let entries = [CallResult { id: Some("c1"), result: Some(&result) }];
    let calls = calls(&["c1"]);
    for dialect in json_dialects() {
        let options = ResultsOptions { limit: Some(5), bare: false };
        let whole = try_results(dialect, &calls, &entries, &options).unwrap();
        assert!(whole.contains("\"\u{e9}\u{e9}\u{2026} [truncated, 4 of 6 bytes]\""), "{whole}");
        let bare = try_results(dialect, &calls, &entries, &ResultsOptions { bare: true, ..options }).unwrap();
        if dialect == Dialect::Mcp {
            assert_eq!(bare, whole);
        } else {
            assert_eq!(whole, format!("[{bare}]"));
        }
    }
}

#[test]
fn an_output_of_every_size_is_whole_or_names_what_is_needed() {
    let mut memory = [0; 64];
    let result = text(&mut memory, "4 \u{b0}C");
    let calls = calls(&["c1"]);
    for dialect in json_dialects() {
        for entry in [Some(&result), None] {
            let entries = [CallResult { id: Some("c1"), result: entry }];
            let whole = try_results(dialect, &calls, &entries, &ResultsOptions::default()).unwrap();
            for size in 0..whole.len() + 8 {
                let mut buffer = vec![0; size];
                let mut sink = Sink::new(&mut buffer);
                sink.put("kept");
                let before = sink.len();
                match render_results(dialect, &calls[..], &entries, &ResultsOptions::default(), &mut sink) {
                    Ok(()) => assert_eq!(sink.finish(), Ok(format!("kept{whole}").as_str())),
                    Err(ResultsError::NoSpace(error)) => {
                        assert!(size < whole.len() + 4);
                        assert_eq!((error.need, sink.len()), (whole.len() + 4, before));
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// Either no tool runs and the size that would do is named, or every tool runs and every call is answered.
#[test]
fn answering_into_an_output_of_every_size_runs_all_or_nothing() {
    let ran = Cell::new(0);
    let long = "\"\u{e9}\n".repeat(100);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = |_: &toolcore::call::Call<'_>, result: &mut ToolResult<'_>| {
        ran.set(ran.get() + 1);
        Ok(result.text(&long)?)
    };
    tools.add(&open("long"), boxed(run)).unwrap();
    let image = |_: &toolcore::call::Call<'_>, result: &mut ToolResult<'_>| {
        ran.set(ran.get() + 1);
        result.image("image/png", &[7; 300])?;
        Ok(result.json(&format!("{{\"a\":\"{}\"}}", "x".repeat(100)))?)
    };
    tools.add(&open("image"), boxed(image)).unwrap();
    let many = |_: &toolcore::call::Call<'_>, result: &mut ToolResult<'_>| {
        ran.set(ran.get() + 1);
        for _ in 0..8 {
            result.link("a name \"with quotes\"", "https://example.com/\u{1f600}")?;
        }
        Ok(())
    };
    tools.add(&open("many"), boxed(many)).unwrap();
    let fails = |_: &toolcore::call::Call<'_>, _: &mut ToolResult<'_>| {
        ran.set(ran.get() + 1);
        Err(Failure::Message(
            "this failed because of \"quotes\" and a rather long message, longer than the least room",
        ))
    };
    tools.add(&open("fails"), boxed(fails)).unwrap();
    let names = ["long", "image", "many", "fails", "nope", "long"];
    for dialect in json_dialects() {
        let turns = names.chunks(1).chain((dialect != Dialect::Mcp).then_some(&names[..]));
        for names in turns {
            let reply = reply(dialect, names);
            let whole = answered(&tools, dialect, &reply).text;
            let (mut least, mut need) = (usize::MAX, 0);
            for size in 0..whole.len() + 200 {
                ran.set(0);
                let (mut words, mut bytes, mut out) = (vec![0; 256], vec![0; 8192], vec![0; size]);
                let mut sink = Sink::new(&mut out);
                let scratch = Scratch::new(&mut words, &mut bytes);
                let options = AnswerOptions::default();
                let outcome =
                    answer(&tools, dialect, reply.as_bytes(), &options, scratch, &mut sink, &mut |_, _| {});
                match outcome {
                    Ok(outcome) => {
                        least = least.min(size);
                        let text = sink.finish().unwrap();
                        assert_eq!(outcome.calls, names.len());
                        assert_eq!(ran.get(), names.iter().filter(|name| **name != "nope").count());
                        assert_eq!(ids(dialect, &read(text)), names.len(), "{size}: {text}");
                        if size >= whole.len() + 112 * names.len() {
                            assert_eq!(text, whole);
                        }
                    }
                    Err(AnswerError::NoSpace(error)) => {
                        assert_eq!((ran.get(), sink.len()), (0, 0));
                        assert!(error.need > size && least == usize::MAX);
                        assert!(need == 0 || need == error.need);
                        need = error.need;
                        assert!(error.need <= whole.len() + 150 * names.len(), "{}", error.need);
                    }
                    Err(error) => panic!("{size}: {error}"),
                }
            }
            assert_eq!(least, need, "what the error names is enough");
        }
    }
}

#[test]
fn answering_appends_to_what_stands_in_the_output_and_takes_back_only_its_own() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), says("done")).unwrap();
    let reply = reply(Dialect::OpenAiChat, &["f", "f"]);
    let options = AnswerOptions { bare: true, ..AnswerOptions::default() };
    let whole = try_answer(&tools, Dialect::OpenAiChat, &reply, &AnswerOptions::default()).unwrap().text;
    let bare = try_answer(&tools, Dialect::OpenAiChat, &reply, &options).unwrap().text;
    assert_eq!(whole, format!("[{bare}]"));
    for size in [8, 100, 1000] {
        let (mut words, mut bytes, mut out) = ([0; 64], [0; 512], vec![0; size]);
        let mut sink = Sink::new(&mut out);
        sink.put("{\"m\":[");
        let scratch = Scratch::new(&mut words, &mut bytes);
        let dialect = Dialect::OpenAiChat;
        match answer(&tools, dialect, reply.as_bytes(), &options, scratch, &mut sink, &mut |_, _| {}) {
            Ok(_) => {
                sink.put("]}");
                assert_eq!(read(sink.finish().unwrap()), json!({"m":read(&whole)}));
            }
            Err(AnswerError::NoSpace(error)) => {
                assert!(error.need > size && size < 1000);
                assert_eq!(sink.text(), Some("{\"m\":["));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn what_does_not_fit_is_cut_and_says_so_and_the_failure_flag_stays() {
    let long = "x".repeat(5000);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("long"), says(&long)).unwrap();
    let reply = reply(Dialect::Anthropic, &["long", "nope", "long"]);
    let (mut words, mut bytes, mut out) = (vec![0; 256], vec![0; 16384], vec![0; 1500]);
    let mut sink = Sink::new(&mut out);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let options = AnswerOptions::default();
    answer(&tools, Dialect::Anthropic, reply.as_bytes(), &options, scratch, &mut sink, &mut |_, _| {})
        .unwrap();
    let messages = read(sink.finish().unwrap());
    let blocks = &messages[0]["content"];
    for at in [0, 2] {
        let text = blocks[at]["content"].as_str().unwrap();
        let kept = text.bytes().take_while(|byte| *byte == b'x').count();
        assert!(kept > 300, "an even share of the room: {text}");
        assert_eq!(text[kept..], format!("\u{2026} [truncated, {kept} of 5,000 bytes]"));
    }
    assert_eq!(blocks[1]["is_error"], true);
    assert_eq!(blocks[1]["content"], "Tool error: Unknown tool: 'nope'. Available: long");
}

/// A host never has to run a tool twice: what could go wrong with a later call is found before the first
/// runs, or becomes that call's result.
#[test]
fn no_effect_of_a_tool_is_lost_because_a_later_call_cannot_be_dispatched() {
    let ran = Cell::new(0);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = |_: &toolcore::call::Call<'_>, result: &mut ToolResult<'_>| {
        ran.set(ran.get() + 1);
        Ok(result.text("done")?)
    };
    tools.add(&open("free"), boxed(run)).unwrap();
    let bounded = toolcore::tool::ToolDefinition {
        timeout: Some(toolcore::time::Duration::from_millis(5)),
        ..open("bounded")
    };
    tools.add(&bounded, boxed(run)).unwrap();
    // The words are enough for the first call and not for the second, whose arguments are nested deeper.
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let turn = json!({"content":[
        {"type":"tool_use","id":"1","name":"free","input":{}},
        {"type":"tool_use","id":"2","name":"free","input":{"a":read(&deep)}}]});
    for words in 12..200 {
        ran.set(0);
        let (mut words, mut bytes, mut out) = (vec![0; words], vec![0; 512], vec![0; 1024]);
        let mut sink = Sink::new(&mut out);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let (turn, options) = (turn.to_string(), AnswerOptions::default());
        let dialect = Dialect::Anthropic;
        match answer(&tools, dialect, turn.as_bytes(), &options, scratch, &mut sink, &mut |_, _| {}) {
            Ok(outcome) => {
                let blocks = &read(sink.finish().unwrap())[0]["content"];
                assert_eq!((blocks[0]["content"].as_str(), outcome.calls), (Some("done"), 2));
                assert_eq!(blocks[1]["is_error"] == true, ran.get() == 1, "{blocks}");
            }
            Err(error) => assert_eq!(ran.get(), 0, "{error}: and a call ran"),
        }
    }
    ran.set(0);
    // Without a clock the second call cannot be bounded.
    let reply = reply(Dialect::Anthropic, &["free", "bounded"]);
    let answered = try_answer(&tools, Dialect::Anthropic, &reply, &AnswerOptions::default());
    match answered {
        Ok(answered) => assert_eq!(answered.messages()[0]["content"][0]["content"], "done"),
        Err(error) => assert_eq!(ran.get(), 0, "{error}: and the first call ran"),
    }
}

#[test]
fn nothing_is_written_when_the_model_has_said_all() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), says("x")).unwrap();
    for (dialect, reply) in [
        (Dialect::OpenAiChat, r#"{"role":"assistant","content":"All done."}"#),
        (Dialect::Anthropic, r#"{"content":[{"type":"text","text":"All done."}]}"#),
    ] {
        let answered = answered(&tools, dialect, reply);
        assert_eq!((answered.text.as_str(), answered.outcome.calls), ("", 0));
    }
}

/// How many results stand in these messages, in order.
fn ids(dialect: Dialect, messages: &Json) -> usize {
    let (results, key) = results_of(dialect, messages);
    for (at, result) in results.iter().enumerate().filter(|_| !key.is_empty()) {
        let id = format!("c{at}");
        assert_eq!(result[key], *dialect.wire_id(&id).as_deref().unwrap_or(&id));
    }
    results.len()
}

/// Matching by id takes quadratic time, which a reply with many calls must not be able to ask for.
#[test]
fn many_results_are_rendered_in_order_and_refused_in_disorder() {
    let ids: Vec<String> = (0..20_000).map(|n| format!("call_{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut memory = [0; 8];
    let result = text(&mut memory, "ok");
    let mut results: Vec<CallResult<'_, '_>> =
        ids.iter().map(|id| CallResult { id: Some(id), result: Some(&result) }).collect();
    let calls = calls(&ids);
    let render = |results: &[CallResult<'_, '_>]| {
        let mut out = vec![0; 2 << 20];
        let mut sink = Sink::new(&mut out);
        let options = ResultsOptions::default();
        render_results(Dialect::OpenAiChat, calls.as_slice(), results, &options, &mut sink)
            .map(|()| sink.finish().unwrap().to_owned())
    };
    assert_eq!(read(&render(&results).unwrap()).as_array().unwrap().len(), ids.len());
    results.swap(0, 1);
    assert_eq!(render(&results), Err(ResultsError::Disordered { count: ids.len() }));
}

/// MCP over stdio is one message a line.
#[test]
fn line_breaks_in_a_tools_json_do_not_reach_the_wire() {
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.json("{\n  \"a\": 1\n}").unwrap();
    let mut out = [0; 256];
    let mut sink = Sink::new(&mut out);
    let entry = CallResult { id: Some("1"), result: Some(&result) };
    render_results(Dialect::Mcp, calls(&["1"]).as_slice(), &[entry], &ResultsOptions::default(), &mut sink)
        .unwrap();
    let text = sink.finish().unwrap();
    assert!(!text.contains('\n'), "{text}");
    assert_eq!(read(text)["structuredContent"], json!({"a": 1}));
}
