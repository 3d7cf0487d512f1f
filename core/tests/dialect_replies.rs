//! What is read from each provider's replies, and what is not.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, answered, boxed, echo, open, try_answer};
use serde_json::json;
use toolcore::answer::{AnswerError, AnswerOptions};
use toolcore::dialect::{Dialect, Finish, ReplyError, parse_reply};
use toolcore::json::{Options, Reason};
use toolcore::result::OutcomeKind;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

/// Id, name, arguments and whether it was cut off, of each call; and the text, and how the reply ended.
type Seen = (Vec<(Option<String>, String, String, bool)>, String, Finish);

fn parsed(dialect: Dialect, reply: &str) -> Result<Seen, ReplyError> {
    let (mut words, mut bytes, mut text) = ([0; 256], [0; 4096], [0; 4096]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch)?;
    let calls: Vec<_> = reply
        .calls()
        .map(|call| (call.id.map(String::from), call.name.into(), call.arguments.into(), call.truncated))
        .collect();
    assert_eq!((reply.len(), reply.is_empty()), (calls.len(), calls.is_empty()));
    let mut sink = Sink::new(&mut text);
    reply.write_text(&mut sink);
    Ok((calls, sink.finish().unwrap().into(), reply.finish()))
}

fn call(id: &str, name: &str, arguments: &str) -> (Option<String>, String, String, bool) {
    (Some(id.into()), name.into(), arguments.into(), false)
}

#[test]
fn openai_calls_are_read_with_their_text_in_order() {
    let message = r#"{"role":"assistant","content":"Let me \u201clook\u201d.","refusal":null,"annotations":[],
        "tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather",
            "arguments":"{\"city\":\"Oslo \ud83d\ude00\",\"n\":1}"}},
        {"id":"call_2","type":"function","function":{"arguments":"{}","name":"get_time"}}]}"#;
    let expected = (
        vec![
            call("call_1", "get_weather", "{\"city\":\"Oslo \u{1f600}\",\"n\":1}"),
            call("call_2", "get_time", "{}"),
        ],
        "Let me \u{201c}look\u{201d}.".into(),
        Finish::Complete,
    );
    assert_eq!(parsed(Dialect::OpenAiChat, message), Ok(expected.clone()));
    let whole = format!(
        r#" {{"id":"chatcmpl-1","object":"chat.completion","choices":[{{"index":0,"message":{message},
            "logprobs":null,"finish_reason":"tool_calls"}},{{"index":1,"message":{{"content":"second choice"}}}}],
            "usage":{{}}}} "#
    );
    assert_eq!(parsed(Dialect::OpenAiChat, &whole), Ok(expected));
}

#[test]
fn openai_text_alone_gives_no_call() {
    for (message, text) in [
        (r#"{"role":"assistant","content":"All done."}"#, "All done."),
        (r#"{"role":"assistant","content":"All done.","tool_calls":null}"#, "All done."),
        (r#"{"role":"assistant","content":"All done.","tool_calls":[],"refusal":""}"#, "All done."),
        (r#"{"content":[{"type":"text","text":"All "},{"type":"text","text":"done."}]}"#, "All done."),
        (r#"{"role":"assistant","content":null,"tool_calls":null}"#, ""),
        // An empty legacy member, as some servers send beside an ordinary message.
        (r#"{"content":"x","function_call":{"arguments":"","name":""},"refusal":"","tool_calls":null}"#, "x"),
    ] {
        let expected = (vec![], text.into(), Finish::Complete);
        assert_eq!(parsed(Dialect::OpenAiChat, message), Ok(expected), "{message}");
    }
}

#[test]
fn openai_arguments_keep_whatever_text_they_are() {
    let reply = json!({"content":null,"tool_calls":[
        {"id":"1","type":"function","function":{"name":"f","arguments":""}},
        {"id":"2","type":"function","function":{"name":"f","arguments":"null"}},
        {"id":"3","type":"function","function":{"name":"f","arguments":"{\"a\":"}},
        {"id":"4","type":"function","function":{"name":"f"}},
        {"id":"5","type":"function","function":{"name":"f","arguments":null}},
        {"id":"6","type":"function","function":{"name":"f","arguments":{"city":"Oslo"}}},
        {"id":"7","type":"custom","custom":{"name":"sql","input":"SELECT \"x\""}},
        {"id":"8","custom":{"input":"","name":""},"function":{"arguments":"{}","name":"f"},"type":"function"},
    ]});
    let (calls, _, _) = parsed(Dialect::OpenAiChat, &reply.to_string()).unwrap();
    let texts: Vec<_> =
        calls.iter().map(|(_, name, arguments, _)| (name.as_str(), arguments.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("f", ""),
            ("f", "null"),
            ("f", "{\"a\":"),
            ("f", ""),
            ("f", ""),
            ("f", r#"{"city":"Oslo"}"#),
            ("sql", "SELECT \"x\""),
            ("f", "{}"),
        ]
    );
}

#[test]
fn anthropic_calls_are_read_and_what_the_provider_ran_itself_is_not() {
    let reply = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[
        {"type":"thinking","thinking":"hm","signature":"AA=="},
        {"type":"text","text":"I \"look\" it up. "},
        {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},
        {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},
        {"type":"mcp_tool_use","id":"mcptoolu_1","name":"echo","server_name":"s","input":{}},
        {"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[]},
        {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city": "Oslo","n":1.0}},
        {"type":"a_block_of_the_future","id":"x","name":"y","input":{}},
        {"type":"tool_use","caller":{"type":"direct"},"id":"toolu_2","name":"get_time","input":{}},
        {"type":"text","text":"Wait."}],
        "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}"#;
    let expected = (
        vec![
            call("toolu_1", "get_weather", r#"{"city": "Oslo","n":1.0}"#),
            call("toolu_2", "get_time", "{}"),
        ],
        "I \"look\" it up. Wait.".into(),
        Finish::Complete,
    );
    assert_eq!(parsed(Dialect::Anthropic, reply), Ok(expected));
    let text = r#"{"role":"assistant","content":"All done."}"#;
    assert_eq!(parsed(Dialect::Anthropic, text), Ok((vec![], "All done.".into(), Finish::Complete)));
}

#[test]
fn responses_are_read_by_the_id_of_the_call_and_hosted_items_are_passed_over() {
    let items = r#"[
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"AA=="},
        {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},
        {"type":"mcp_call","id":"mcp_1","name":"echo","arguments":"{}","server_label":"s","output":"x"},
        {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
            {"type":"output_text","text":"I \"look\" ","annotations":[]},
            {"type":"output_text","text":"it up.","annotations":[]}]},
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{\"city\": \"Oslo\"}","status":"completed"},
        {"type":"computer_call","id":"cu_1","call_id":"call_x","action":{"type":"wait"},"status":"completed"},
        {"type":"an_item_of_the_future","call_id":"x","name":"y","arguments":"{}"},
        {"type":"function_call","id":"fc_2","call_id":"call_2","name":"get_time","arguments":"","caller":{"type":"direct"}},
        {"type":"custom_tool_call","id":"ctc_1","call_id":"call_3","name":"sql","input":"SELECT 1"}]"#;
    let expected = (
        vec![
            call("call_1", "get_weather", r#"{"city": "Oslo"}"#),
            call("call_2", "get_time", ""),
            call("call_3", "sql", "SELECT 1"),
        ],
        "I \"look\" it up.".to_string(),
        Finish::Complete,
    );
    let whole = format!(
        r#"{{"id":"resp_1","error":null,"status":"completed","incomplete_details":null,"output":{items}}}"#
    );
    assert_eq!(parsed(Dialect::OpenAiResponses, &whole), Ok(expected.clone()));
    assert_eq!(parsed(Dialect::OpenAiResponses, items), Ok(expected));
    let refusal = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}"#;
    assert_eq!(parsed(Dialect::OpenAiResponses, refusal), Ok((vec![], "No.".into(), Finish::Refused)));
}

/// A call whose item is not complete is never executed; the reply says why it ended.
#[test]
fn a_response_that_is_not_complete_marks_the_calls_that_are_not() {
    for (status, reason, finish) in [
        ("incomplete", r#"{"reason":"max_output_tokens"}"#, Finish::Truncated),
        ("incomplete", r#"{"reason":"content_filter"}"#, Finish::Refused),
        ("incomplete", "null", Finish::Truncated),
        ("cancelled", "null", Finish::Truncated),
        ("in_progress", "null", Finish::Truncated),
    ] {
        let call = |status: &str| {
            format!(
                r#"{{"type":"function_call","call_id":"c","name":"f","arguments":"{{}}","status":"{status}"}}"#
            )
        };
        let items = ["completed", "incomplete", "in_progress"].map(call).join(",");
        let message = r#"{"type":"message","content":[]}"#;
        let reply =
            format!(r#"{{"status":"{status}","incomplete_details":{reason},"output":[{items},{message}]}}"#);
        let (calls, _, found) = parsed(Dialect::OpenAiResponses, &reply).unwrap();
        let cut: Vec<_> = calls.iter().map(|(.., truncated)| *truncated).collect();
        assert_eq!((cut, found), (vec![finish == Finish::Refused, true, true], finish), "{status} {reason}");
    }
}

#[test]
fn gemini_calls_are_read_and_thoughts_and_code_are_not() {
    let content = r#"{"role":"model","parts":[
        {"text":"hm","thought":true,"thoughtSignature":"AA=="},
        {"text":"I look "},
        {"executableCode":{"language":"PYTHON","code":"1"}},
        {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},
        {"toolCall":{"toolType":"FILE_SEARCH","id":"x"},"thoughtSignature":"AA=="},
        {"functionCall":{"id":"f1","name":"get_weather","args":{"city": "Oslo"}},"thoughtSignature":"AA=="},
        {"functionCall":{"name":"get_time","args":{}}},
        {"functionCall":{"name":"ping"}},
        {"text":"it up.","thoughtSignature":"AA=="}]}"#;
    let expected = (
        vec![
            call("f1", "get_weather", r#"{"city": "Oslo"}"#),
            (None, "get_time".into(), "{}".into(), false),
            (None, "ping".into(), "".into(), false),
        ],
        "I look it up.".to_string(),
        Finish::Complete,
    );
    let whole = format!(
        r#"{{"candidates":[{{"content":{content},"finishReason":"STOP","index":0}}],"usageMetadata":{{}}}}"#
    );
    for dialect in [Dialect::Gemini, Dialect::GeminiSchema] {
        assert_eq!(parsed(dialect, &whole), Ok(expected.clone()));
        assert_eq!(parsed(dialect, content), Ok(expected.clone()));
        let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{}}"#;
        assert_eq!(parsed(dialect, blocked), Ok((vec![], "".into(), Finish::Refused)));
    }
    for (reason, finish, truncated) in [
        ("STOP", Finish::Complete, false),
        ("MAX_TOKENS", Finish::Truncated, true),
        ("MALFORMED_FUNCTION_CALL", Finish::Malformed, true),
        ("TOO_MANY_TOOL_CALLS", Finish::Malformed, true),
        ("UNEXPECTED_TOOL_CALL", Finish::Malformed, true),
        ("PROHIBITED_CONTENT", Finish::Refused, true),
    ] {
        let part = r#"{"functionCall":{"name":"f","args":{}}}"#;
        let reply =
            format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"finishReason":"{reason}"}}]}}"#);
        let expected = (vec![(None, "f".into(), "{}".into(), truncated)], "".into(), finish);
        assert_eq!(parsed(Dialect::Gemini, &reply), Ok(expected), "{reason}");
    }
    // A reply that failed has no content at all.
    let failed = r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","index":0}]}"#;
    assert_eq!(parsed(Dialect::Gemini, failed), Ok((vec![], "".into(), Finish::Malformed)));
}

#[test]
fn an_mcp_request_and_its_params_are_read() {
    let params = r#"{"name":"add","arguments":{"a":1},"_meta":{"progressToken":1}}"#;
    let expected = |id: Option<&str>| {
        (
            vec![(id.map(String::from), "add".into(), r#"{"a":1}"#.into(), false)],
            String::new(),
            Finish::Complete,
        )
    };
    assert_eq!(parsed(Dialect::Mcp, params), Ok(expected(None)));
    for (id, text) in [("7", "7"), ("\"seven\"", "seven"), ("9007199254740993", "9007199254740993")] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        assert_eq!(parsed(Dialect::Mcp, &request), Ok(expected(Some(text))));
    }
    let (calls, _, _) = parsed(Dialect::Mcp, r#"{"params":{"name":"now"}}"#).unwrap();
    assert_eq!(calls[0].2, "");
}

/// On these wires arguments are an object; a string there is not the object that its text may hold.
#[test]
fn a_string_where_the_wire_has_an_object_is_not_taken_for_one() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    for input in [json!("{\"city\":\"Oslo\"}"), json!("x"), json!([1]), json!(true)] {
        let anthropic = json!({"content":[{"type":"tool_use","id":"t","name":"f","input":input}]});
        let mcp = json!({"name":"f","arguments":input});
        for (dialect, reply) in [(Dialect::Anthropic, anthropic), (Dialect::Mcp, mcp)] {
            let answered = answered(&tools, dialect, &reply.to_string());
            assert_eq!(answered.kinds(), [OutcomeKind::BadArguments], "{reply}: {}", answered.text);
            assert!(answered.text.contains("expected object, got "), "{reply}: {}", answered.text);
        }
    }
}

#[test]
fn an_error_of_the_provider_is_told_apart_from_a_reply() {
    for (dialect, reply) in [
        (Dialect::OpenAiChat, r#"{"error":{"message":"Rate limit","type":"requests","code":"429"}}"#),
        (Dialect::OpenAiChat, r#"{"error":"overloaded"}"#),
        (
            Dialect::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
    ] {
        assert_eq!(parsed(dialect, reply), Err(ReplyError::Provider), "{reply}");
    }
    let harmless = r#"{"error":null,"choices":[{"message":{"content":"hi"}}]}"#;
    assert!(parsed(Dialect::OpenAiChat, harmless).is_ok());
}

#[test]
fn a_reply_of_another_shape_says_what_it_lacks() {
    for (dialect, replies) in [
        (
            Dialect::OpenAiChat,
            &[
                "{}",
                "[]",
                "1",
                "\"x\"",
                "null",
                r#"{"choices":[]}"#,
                r#"{"choices":[{}]}"#,
                r#"{"choices":{}}"#,
                r#"{"choices":[{"message":{}}]}"#,
                r#"{"choices":[{"message":"text"}]}"#,
            ][..],
        ),
        (
            Dialect::Anthropic,
            &["{}", "[]", "1", r#"{"choices":[{"message":{"content":"x"}}]}"#, r#"{"type":"message"}"#],
        ),
        (
            Dialect::Mcp,
            &[
                "{}",
                "[]",
                r#"{"params":{}}"#,
                r#"{"params":{"name":1}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                r#"{"params":null,"name":"x"}"#,
            ],
        ),
    ] {
        for reply in replies {
            match parsed(dialect, reply) {
                Err(error @ ReplyError::Shape { expected }) => {
                    assert!(error.to_string().contains(expected) && !expected.is_empty());
                }
                other => panic!("{} read {reply} as {other:?}", dialect.name()),
            }
        }
    }
}

#[test]
fn a_reply_that_is_not_json_gives_no_call_and_the_place() {
    for dialect in Dialect::ALL.into_iter().filter(|dialect| !dialect.is_text()) {
        for (reply, reason, offset) in [
            ("", Reason::UnexpectedEnd, 0),
            (r#"{"content":[{"type":"tool_use","id":"t","name":"f","input":{}}]"#, Reason::UnexpectedEnd, 63),
            (r#"{"content":null} {}"#, Reason::TrailingData, 17),
            ("{\"content\":\"\u{0}\"}", Reason::ControlCharacter, 12),
        ] {
            let error = parsed(dialect, reply).unwrap_err();
            let ReplyError::Json(json) = error else { panic!("{error}") };
            assert_eq!((json.reason, json.offset), (reason, offset), "{reply}");
            assert!(error.to_string().contains(&offset.to_string()), "{error}");
        }
    }
}

#[test]
fn the_last_call_of_a_reply_that_ran_into_its_limit_is_never_executed() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|call, result| {
        assert_eq!(call.id, Some("1"), "the second call was cut off");
        Ok(result.text("ran")?)
    });
    tools.add(&open("f"), run).unwrap();
    let openai = |reason: &str| {
        json!({"choices":[{"finish_reason":reason,"message":{"content":null,"tool_calls":[
            {"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},
            {"id":"2","type":"function","function":{"name":"f","arguments":"{\"path\":\"/\"}"}}]}}]})
    };
    let anthropic = |reason: &str| {
        json!({"stop_reason":reason,"content":[{"type":"tool_use","id":"1","name":"f","input":{}},
            {"type":"tool_use","id":"2","name":"f","input":{"path":"/"}}]})
    };
    for (dialect, reply) in [
        (Dialect::OpenAiChat, openai("length")),
        (Dialect::Anthropic, anthropic("max_tokens")),
        (Dialect::Anthropic, anthropic("model_context_window_exceeded")),
    ] {
        let (calls, _, finish) = parsed(dialect, &reply.to_string()).unwrap();
        assert_eq!(finish, Finish::Truncated);
        assert_eq!(calls.iter().map(|call| call.3).collect::<Vec<_>>(), [false, true]);
        for lenient in [false, true] {
            let options = AnswerOptions { lenient, ..AnswerOptions::default() };
            let answered = try_answer(&tools, dialect, &reply.to_string(), &options).unwrap();
            assert_eq!(answered.kinds(), [OutcomeKind::Answered, OutcomeKind::BadArguments]);
            assert!(answered.text.contains("not executed"), "{}", answered.text);
        }
    }
    // A call that text follows was whole when the limit came.
    let mut followed = anthropic("max_tokens");
    followed["content"].as_array_mut().unwrap().push(json!({"type":"text","text":"And then"}));
    let (calls, _, finish) = parsed(Dialect::Anthropic, &followed.to_string()).unwrap();
    assert_eq!((finish, calls[1].3), (Finish::Truncated, false));
    for (dialect, reply) in [
        (Dialect::OpenAiChat, openai("tool_calls")),
        (Dialect::OpenAiChat, openai("stop")),
        (Dialect::OpenAiChat, openai("")),
        (Dialect::Anthropic, anthropic("tool_use")),
    ] {
        let (calls, _, finish) = parsed(dialect, &reply.to_string()).unwrap();
        assert_eq!((finish, calls[1].3), (Finish::Complete, false), "{reply}");
    }
}

#[test]
fn a_refusal_is_told() {
    for (dialect, reply) in [
        (Dialect::OpenAiChat, json!({"content":null,"refusal":"I cannot help with that."})),
        (
            Dialect::OpenAiChat,
            json!({"choices":[{"finish_reason":"content_filter","message":{"content":""}}]}),
        ),
        (Dialect::Anthropic, json!({"content":[],"stop_reason":"refusal"})),
    ] {
        let (calls, _, finish) = parsed(dialect, &reply.to_string()).unwrap();
        assert_eq!((calls, finish), (vec![], Finish::Refused), "{reply}");
    }
}

#[test]
fn a_call_without_an_id_keeps_its_place_and_gets_an_id_of_its_own() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let function = json!({"name":"f","arguments":"{}"});
    let reply = json!({"content":null,"tool_calls":[
        {"type":"function","function":function},
        {"id":null,"type":"function","function":function},
        {"id":"call_0","type":"function","function":function},
        {"id":"call_1","type":"function","function":function}]});
    let (calls, _, _) = parsed(Dialect::OpenAiChat, &reply.to_string()).unwrap();
    assert_eq!(
        calls.iter().map(|call| call.0.as_deref()).collect::<Vec<_>>(),
        [None, None, Some("call_0"), Some("call_1")]
    );
    let messages = answered(&tools, Dialect::OpenAiChat, &reply.to_string()).messages();
    let ids: Vec<_> =
        messages.as_array().unwrap().iter().map(|m| m["tool_call_id"].as_str().unwrap()).collect();
    assert_eq!(ids[2..], ["call_0", "call_1"]);
    let distinct: std::collections::BTreeSet<_> = ids.iter().filter(|id| !id.is_empty()).collect();
    assert_eq!(distinct.len(), 4, "each result has an id of its own: {ids:?}");
}

#[test]
fn a_call_without_a_name_is_answered_as_unknown() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    for reply in [
        json!({"content":null,"tool_calls":[{"id":"1","type":"function","function":{"arguments":"{}"}}]}),
        json!({"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":null,"arguments":"{}"}}]}),
        json!({"content":null,"tool_calls":[{"id":"1","type":"other"}]}),
    ] {
        let answered = answered(&tools, Dialect::OpenAiChat, &reply.to_string());
        assert_eq!(answered.kinds(), [OutcomeKind::UnknownTool], "{reply}");
        assert_eq!(answered.messages()[0]["tool_call_id"], "1");
    }
}

#[test]
fn ids_and_names_keep_their_exact_text() {
    let id = "fc_\u{e9} /\"\\\n\u{1f600}";
    let reply = json!({"content":[{"type":"tool_use","id":id,"name":"f","input":{}}]}).to_string();
    let (calls, _, _) = parsed(Dialect::Anthropic, &reply).unwrap();
    assert_eq!(calls, [call(id, "f", "{}")]);
    let escaped = reply.replace('\u{1f600}', "\\ud83d\\ude00").replace("\"f\"", "\"\\u0066\"");
    assert_eq!(parsed(Dialect::Anthropic, &escaped).unwrap().0, [call(id, "f", "{}")]);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let messages = answered(&tools, Dialect::Anthropic, &escaped).messages();
    // The provider does not allow it.
    assert_eq!(messages[0]["content"][0]["tool_use_id"], Dialect::Anthropic.wire_id(id).unwrap().as_str());
}

/// The provider's own sets of tools are run by the client, and a result says which set its call is of.
#[test]
fn a_toolset_is_named_in_the_result_of_its_call() {
    let reply = json!({"content":[
        {"type":"tool_use","id":"t1","name":"left_click","input":{},"toolset_name":"computer"},
        {"type":"tool_use","id":"t2","name":"f","input":{},"toolset_name":null}]});
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("left_click"), echo()).unwrap();
    tools.add(&open("f"), echo()).unwrap();
    let messages = answered(&tools, Dialect::Anthropic, &reply.to_string()).messages();
    assert_eq!(
        messages[0]["content"],
        json!([{"type":"tool_result","tool_use_id":"t1","content":"{}","toolset_name":"computer"},
            {"type":"tool_result","tool_use_id":"t2","content":"{}"}])
    );
}

#[test]
fn scratch_of_every_size_reads_the_whole_reply_or_names_what_would_do() {
    let reply = json!({"content":null,"tool_calls":[
        {"id":"a\"1","type":"function","function":{"name":"f","arguments":"{\"city\":\"Oslo\"}"}},
        {"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]})
    .to_string();
    let parse = |words: usize, bytes: usize| {
        let (mut words, mut bytes) = (vec![0; words], vec![0; bytes]);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let parsed = parse_reply(Dialect::OpenAiChat, reply.as_bytes(), &Options::default(), scratch);
        parsed.map(|(reply, _)| reply.calls().map(|call| call.arguments.len()).sum::<usize>())
    };
    let Err(ReplyError::NoSpace { words: enough_words, bytes: enough_bytes }) = parse(0, 0) else {
        panic!("two calls and their decoded text need some scratch")
    };
    for words in 0..enough_words + 4 {
        for bytes in 0..enough_bytes + 4 {
            let expected = if words >= enough_words && bytes >= enough_bytes {
                Ok(15 + 2)
            } else {
                Err(ReplyError::NoSpace { words: enough_words, bytes: enough_bytes })
            };
            assert_eq!(parse(words, bytes), expected, "{words} words, {bytes} bytes");
        }
    }
}

#[test]
fn a_bad_reply_runs_nothing_and_writes_nothing() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|_, _| panic!("it ran"))).unwrap();
    for reply in ["{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}},]}", "{}"] {
        let (mut words, mut bytes, mut out) = ([0; 64], [0; 512], [0; 512]);
        let mut sink = Sink::new(&mut out);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let options = AnswerOptions::default();
        let error = toolcore::answer::answer(
            &tools,
            Dialect::Anthropic,
            reply.as_bytes(),
            &options,
            scratch,
            &mut sink,
            &mut |_, _| panic!("there is no call"),
        );
        assert!(matches!(error, Err(AnswerError::Reply(_))), "{error:?}");
        assert!(sink.is_empty());
    }
}

/// What a dialect does not have in that shape would otherwise be passed over, and its calls lost in silence.
#[test]
fn calls_in_a_shape_that_the_dialect_does_not_have_are_an_error() {
    for (dialect, reply) in [
        (Dialect::OpenAiChat, r#"{"content":null,"tool_calls":{"id":"a","function":{"name":"f"}}}"#),
        (Dialect::OpenAiChat, r#"{"content":null,"tool_calls":"f"}"#),
        (Dialect::OpenAiChat, r#"{"content":null,"function_call":{"name":"f","arguments":"{}"}}"#),
        (Dialect::OpenAiChat, r#"{"content":{"type":"tool_use","name":"f"}}"#),
        (Dialect::OpenAiChat, r#"{"content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#),
        (Dialect::Anthropic, r#"{"content":{"type":"tool_use","id":"a","name":"f","input":{}}}"#),
    ] {
        assert!(matches!(parsed(dialect, reply), Err(ReplyError::Shape { .. })), "{reply}");
    }
    let none = r#"{"content":"Done.","tool_calls":null,"function_call":null}"#;
    assert!(parsed(Dialect::OpenAiChat, none).is_ok());
}

/// Providers send strings; a server that sends a number gets one string back, in the turn and in the result.
#[test]
fn an_id_that_is_a_number_goes_back_as_one_string() {
    let openai = json!({"id":5,"type":"function","function":{"name":"f","arguments":"{}"}});
    let openai = json!({"role":"assistant","content":null,"tool_calls":[openai]});
    let ollama = json!({"role":"assistant","content":"","tool_calls":[{"id":5,"function":{"name":"f","arguments":{}}}]});
    let responses = json!({"type":"function_call","call_id":5,"name":"f","arguments":"{}"});
    let anthropic = json!({"type":"tool_use","id":5,"name":"f","input":{}});
    let bedrock = json!({"toolUse":{"toolUseId":5,"name":"f","input":{}}});
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    for (dialect, reply, turn, result) in [
        (Dialect::OpenAiChat, &openai, "/0/tool_calls/0/id", "/0/tool_call_id"),
        (Dialect::Cohere, &json!({"message":openai}), "/0/tool_calls/0/id", "/0/tool_call_id"),
        (Dialect::Ollama, &json!({"message":ollama}), "/0/tool_calls/0/id", "/0/tool_call_id"),
        (Dialect::OpenAiResponses, &json!({"output":[responses]}), "/0/call_id", "/0/call_id"),
        (Dialect::Anthropic, &json!({"content":[anthropic]}), "/0/content/0/id", "/0/content/0/tool_use_id"),
        (
            Dialect::Bedrock,
            &json!({"content":[bedrock]}),
            "/0/content/0/toolUse/toolUseId",
            "/0/content/0/toolResult/toolUseId",
        ),
    ] {
        let answered = answered(&tools, dialect, &reply.to_string());
        assert_eq!(answered.messages().pointer(result), Some(&json!("5")), "{}", answered.text);
        let (mut words, mut bytes, mut out) = ([0; 64], [0; 256], [0; 512]);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let reply = reply.to_string();
        let (reply, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch).unwrap();
        let mut sink = Sink::new(&mut out);
        reply.write_replay(false, &mut sink).unwrap();
        let written = common::read(sink.finish().unwrap());
        assert_eq!(written.pointer(turn), Some(&json!("5")), "{written}");
    }
}

/// The snake case of the provider's Python models: its calls would be passed over.
#[test]
fn geminis_call_in_snake_case_is_an_error_that_says_so() {
    let reply = r#"{"candidates":[{"content":{"parts":[{"function_call":{"name":"f","args":{}}}]}}]}"#;
    let error = parsed(Dialect::Gemini, reply).unwrap_err();
    assert_eq!(error, ReplyError::Shape { expected: "functionCall in place of function_call" });
}

#[test]
fn geminis_members_that_are_null_are_not_there() {
    let parts = r#"[{"text":"hello","functionCall":null,"function_call":null},
        {"text":null,"functionCall":{"name":"f","args":{},"partialArgs":null,"willContinue":null}}]"#;
    let reply = format!(
        r#"{{"promptFeedback":{{"blockReason":null}},"candidates":[{{"content":{{"parts":{parts}}},"finishReason":null}}]}}"#
    );
    let expected = (vec![(None, "f".into(), "{}".into(), false)], "hello".into(), Finish::Complete);
    assert_eq!(parsed(Dialect::Gemini, &reply), Ok(expected));
    let nothing = r#"{"promptFeedback":{"blockReason":null}}"#;
    assert!(matches!(parsed(Dialect::Gemini, nothing), Err(ReplyError::Shape { .. })));
    let blocks = r#"{"content":[{"text":"x","toolUse":null},{"text":null,"toolUse":{"toolUseId":"t","name":"f","input":{}}}]}"#;
    let expected = (vec![call("t", "f", "{}")], "x".into(), Finish::Complete);
    assert_eq!(parsed(Dialect::Bedrock, blocks), Ok(expected));
}
