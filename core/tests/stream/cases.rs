//! What real servers send, beside the field cases.

use serde_json::{Value as Json, json};
use toolcore::answer::{AnswerOptions, answer_reply};
use toolcore::dialect::{Dialect, Finish, ReplyError};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamEvent};

use crate::common::{Memory, echo, open, read};
use crate::support::{ALL, Seen, chunk, failed, sse, stream, stream_in, stream_watched};

fn deltas(deltas: &[Json]) -> String {
    let mut events: Vec<Json> = deltas.iter().map(chunk).collect();
    let mut last = chunk(&json!({}));
    last["choices"][0]["finish_reason"] = "tool_calls".into();
    events.push(last);
    sse(&events, true)
}

fn openai(pieces: &[Json]) -> Seen {
    stream(Dialect::OpenAiChat, [deltas(pieces).as_bytes()])
}

/// Id, name and arguments of each call.
fn calls(seen: &Seen) -> Vec<(&str, &str, &str)> {
    assert!(seen.calls.iter().all(|call| !call.truncated));
    let of = |call: &'_ crate::support::Read| call.id.is_some();
    assert!(seen.calls.iter().all(of));
    seen.calls.iter().map(|call| (&*call.wire_id, &*call.name, &*call.arguments)).collect()
}

#[test]
fn a_piece_that_belongs_to_no_call_is_an_error() {
    let piece = json!({"tool_calls":[{"function":{"arguments":"{}"}}]});
    let error = failed(Dialect::OpenAiChat, &deltas(&[piece]));
    assert!(matches!(error, StreamError::Reply(ReplyError::Shape { .. })), "{error}");
    let delta = json!({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}});
    let error = failed(Dialect::Anthropic, &sse(&[delta], false));
    assert!(matches!(error, StreamError::Reply(ReplyError::Shape { .. })), "{error}");
}

/// ollama#15457
#[test]
fn calls_that_all_have_one_index_are_told_apart_by_their_ids() {
    let call = |id: &str, name: &str| {
        json!({"tool_calls":[{"index":0,"id":id,"type":"function",
            "function":{"name":name,"arguments":format!("{{\"of\":\"{id}\"}}")}}]})
    };
    let seen = openai(&[call("a", "f"), call("b", "f"), call("c", "g")]);
    let expected = [("a", "f", r#"{"of":"a"}"#), ("b", "f", r#"{"of":"b"}"#), ("c", "g", r#"{"of":"c"}"#)];
    assert_eq!(calls(&seen), expected);
}

/// The pieces of several calls with one index follow each other: the id says whose they are.
#[test]
fn an_id_that_is_known_leads_to_its_call_among_those_of_one_index() {
    let seen = openai(&[
        json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},
            {"index":0,"id":"b","function":{"name":"g","arguments":"{"}}]}),
        json!({"tool_calls":[{"index":0,"id":"a","function":{"arguments":"\"x\":1"}},
            {"index":0,"id":"b","function":{"arguments":"\"y\":2"}}]}),
        json!({"tool_calls":[{"index":0,"id":"a","function":{"arguments":"}"}},
            {"index":0,"function":{"arguments":"}"}}]}),
    ]);
    assert_eq!(calls(&seen), [("a", "f", r#"{"x":1}"#), ("b", "g", r#"{"y":2}"#)]);
    // A server that gives every call the same id and an index of its own.
    let call =
        |index: u32| json!({"tool_calls":[{"index":index,"id":"a","function":{"name":"f","arguments":"{"}}]});
    let end = |index: u32| json!({"tool_calls":[{"index":index,"id":"a","function":{"arguments":"}"}}]});
    let seen = openai(&[call(0), call(1), end(0), end(1)]);
    let given: Vec<_> = seen.calls.iter().map(|call| (call.id.as_deref(), &*call.arguments)).collect();
    assert_eq!(given, [(Some("a"), "{}"), (Some("a"), "{}")]);
    // Two results of one id would not be taken.
    assert_ne!(seen.calls[0].wire_id, seen.calls[1].wire_id);
}

#[test]
fn whole_calls_without_ids_are_told_apart_by_their_names() {
    for index in [json!(0), Json::Null] {
        let call = |name: &str, id: Json| json!({"tool_calls":[{"index":index,"id":id,"function":{"name":name,"arguments":"{}"}}]});
        let seen = openai(&[call("f", json!("x")), call("f", Json::Null), call("g", json!(""))]);
        assert_eq!(seen.called(), [("f", "{}"), ("f", "{}"), ("g", "{}")]);
        let ids: Vec<_> = seen.calls.iter().map(|call| (call.id.as_deref(), &*call.wire_id)).collect();
        assert_eq!(ids, [(Some("x"), "x"), (None, "toolcore_1"), (None, "toolcore_2")]);
    }
}

#[test]
fn parts_of_a_call_come_in_any_order() {
    let full = [("a", "f", r#"{"x":1}"#)];
    let orders: [&[Json]; 6] = [
        &[
            json!({"tool_calls":[{"index":0,"id":"a"}]}),
            json!({"tool_calls":[{"index":0,"function":{"name":"f"}}]}),
            json!({"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}),
            json!({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}),
        ],
        &[
            json!({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":"}}]}),
            json!({"tool_calls":[{"index":0,"id":"a","function":{"arguments":"1}"}}]}),
        ],
        &[
            json!({"tool_calls":[{"index":0,"id":null,"function":{"name":"f","arguments":""}}]}),
            json!({"tool_calls":[{"index":0,"id":"a","function":{"name":null,"arguments":"{\"x\":1}"}}]}),
        ],
        &[
            json!({"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}),
            json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}),
        ],
        &[json!({"tool_calls":[{"function":{"arguments":"{\"x\":1}","name":"f"},"id":"a","index":0}]})],
        &[
            json!({"tool_calls":[{"id":"a"}]}),
            json!({"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}}}]}),
        ],
    ];
    for order in orders {
        assert_eq!(calls(&openai(order)), full, "{order:?}");
    }
}

#[test]
fn text_after_calls_stands_before_them() {
    let seen = openai(&[
        json!({"content":"a"}),
        json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}),
        json!({"content":"b","reasoning":"hm"}),
        json!({"tool_calls":[{"index":0,"function":{"arguments":"\"\\u00e9\"}"}}]}),
        json!({"content":"c","reasoning_details":[{"n":1}]}),
        json!({"reasoning_details":[{"n":2},{"n":3}]}),
    ]);
    assert_eq!((&*seen.text, calls(&seen)), ("abc", vec![("a", "f", r#"{"x":"\u00e9"}"#)]));
    let turn = json!([{"role":"assistant","content":"abc","reasoning":"hm",
        "reasoning_details":[{"n":1},{"n":2},{"n":3}],
        "tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":\"\\u00e9\"}"}}]}]);
    assert_eq!(seen.replay, Some(turn));
}

#[test]
fn what_a_server_adds_to_a_call_goes_back() {
    let extra = json!({"google":{"thought_signature":"AAA="}});
    let seen = openai(&[
        json!({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""},
            "extra_content":extra}]}),
        json!({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}),
    ]);
    let replay = seen.replay.unwrap();
    assert_eq!(replay[0]["tool_calls"][0]["extra_content"], extra);
    assert!(replay[0]["tool_calls"][0].get("index").is_none());
}

#[test]
fn arguments_that_are_not_json_stay_the_text_that_they_are() {
    for text in ["{\"x\":", "x", "{\"a\":1}}", "[1]", "\"{}\"", " {\"a\":1} ", "{\"a\":\"\n\"}", "{\"\\q\"}"]
    {
        let seen = openai(&[
            json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":text}}]}),
            json!({"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":\"\\\"\"}"}}]}),
        ]);
        assert_eq!(calls(&seen), [("a", "f", text), ("b", "g", r#"{"y":"\""}"#)], "{text:?}");
        let replay = seen.replay.unwrap();
        assert_eq!(replay[0]["tool_calls"][0]["function"]["arguments"], text);
        let block = sse(
            &[
                json!({"type":"content_block_start","index":0,
                    "content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}),
                json!({"type":"content_block_delta","index":0,
                    "delta":{"type":"input_json_delta","partial_json":text}}),
                json!({"type":"content_block_stop","index":0}),
                json!({"type":"message_stop"}),
            ],
            false,
        );
        let seen = stream(Dialect::Anthropic, [block.as_bytes()]);
        assert_eq!(calls(&seen), [("a", "f", text)]);
        assert_eq!(seen.replay.unwrap()[0]["content"][0]["input"], json!({}), "{text:?}");
    }
}

#[test]
fn halves_of_a_pair_that_come_apart_are_one_character() {
    let mut text = String::new();
    for piece in [r"\ud83d", r"\ude00 \u00e9\n", r"\\ud83d", r"\ud83d\ude00\ud83d", r"\ude01"] {
        text.push_str(&format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n"));
    }
    for piece in [r#"{\"x\":\"\ud83d"#, r#"\ude00\"}"#] {
        let call = format!(r#"{{"index":0,"id":"a","function":{{"name":"f","arguments":"{piece}"}}}}"#);
        text.push_str(&format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n"));
    }
    text.push_str("data: [DONE]\n\n");
    let (seen, watched) = stream_watched(Dialect::OpenAiChat, [text.as_bytes()]);
    assert_eq!(seen.text, "😀 é\n\\ud83d😀😁");
    assert_eq!(watched.text, seen.text);
    assert_eq!(seen.called(), [("f", r#"{"x":"😀"}"#)]);
    assert_eq!(watched.calls[0].2, r#"{"x":"😀"}"#);
    // Half a pair alone is the error that it is in a whole reply.
    let lone = "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\ndata: [DONE]\n\n";
    assert!(matches!(failed(Dialect::OpenAiChat, lone), StreamError::Reply(ReplyError::Json(_))));
}

#[test]
fn a_stream_that_stops_early_runs_only_what_is_whole() {
    let text = deltas(&[
        json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}),
        json!({"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":"{\"x\":"}}]}),
        json!({"tool_calls":[{"index":1,"function":{"arguments":"2}"}}]}),
    ]);
    let end = text.find("\"tool_calls\",").or_else(|| text.rfind("tool_calls\"")).unwrap();
    for stop in 0..end {
        let (seen, _) = stream_in(Dialect::OpenAiChat, [&text.as_bytes()[..stop]], ALL, [64, 4096]);
        let seen = seen.unwrap();
        assert_eq!(seen.finish, Finish::Truncated, "at {stop}");
        for (call, whole) in seen.calls.iter().zip([r#"{"x":1}"#, r#"{"x":2}"#]) {
            assert_eq!(call.truncated, call.arguments != whole, "at {stop}: {call:?}");
        }
    }
    assert_eq!(stream(Dialect::OpenAiChat, [text.as_bytes()]).finish, Finish::Complete);

    let events = [
        json!({"type":"content_block_start","index":0,
            "content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}),
        json!({"type":"content_block_delta","index":0,
            "delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}),
        json!({"type":"content_block_stop","index":0}),
        json!({"type":"content_block_start","index":1,
            "content_block":{"type":"tool_use","id":"b","name":"f","input":{}}}),
    ];
    let seen = stream(Dialect::Anthropic, [sse(&events, false).as_bytes()]);
    let cut: Vec<_> = seen.calls.iter().map(|call| (&*call.arguments, call.truncated)).collect();
    assert_eq!((seen.finish, cut), (Finish::Truncated, vec![(r#"{"x":1}"#, false), ("", true)]));
}

#[test]
fn a_reply_that_ran_into_its_limit_does_not_run_its_last_call() {
    let mut last = chunk(&json!({}));
    last["choices"][0]["finish_reason"] = "length".into();
    let call = |id: &str, text: &str| json!({"tool_calls":[{"index":id,"id":id,"function":{"name":"f","arguments":text}}]});
    let events = [chunk(&call("a", "{}")), chunk(&call("b", "{\"x\":")), last];
    let seen = stream(Dialect::OpenAiChat, [sse(&events, true).as_bytes()]);
    let cut: Vec<_> = seen.calls.iter().map(|call| call.truncated).collect();
    assert_eq!((seen.finish, cut), (Finish::Truncated, vec![false, true]));
}

#[test]
fn an_error_event_ends_the_stream_with_the_providers_words() {
    let anthropic = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
        \"message\":\"Over\\u006coaded \\\"now\\\"\"}}\n\n";
    for (dialect, text, words) in [
        (Dialect::Anthropic, anthropic, "Overloaded \"now\""),
        (
            Dialect::OpenAiChat,
            "data: {\"error\":{\"message\":\"Rate limit\",\"code\":429}}\n\n",
            "Rate limit",
        ),
        (Dialect::OpenAiChat, "{\"error\":{\"message\":\"No such model\"}}", "No such model"),
        (Dialect::OpenAiChat, "data: {\"error\":\"down\"}\n\n", "down"),
        (Dialect::OpenAiChat, "data: {\"error\":{\"code\":1}}\n\n", "{\"code\":1}"),
    ] {
        let (mut words_memory, mut bytes) = ([0; 64], [0; 1024]);
        let memory = Scratch::new(&mut words_memory, &mut bytes);
        let mut stream = Stream::new(dialect, ALL, memory).unwrap();
        let provider = Err(StreamError::Reply(ReplyError::Provider));
        assert_eq!(stream.feed(text.as_bytes(), &mut |_| {}), provider);
        assert_eq!(stream.provider_error(), Some(words));
        assert_eq!(stream.feed(b"data: [DONE]\n\n", &mut |_| {}), provider, "it stays so");
        assert_eq!(stream.finish().map(|_| ()), provider);
    }
}

#[test]
fn the_providers_words_are_those_of_its_error() {
    use toolcore::dialect::write_provider_error;
    for (reply, words) in [
        (r#"{"error":{"message":"Rate \"limit\"","type":"requests"}}"#, Some("Rate \"limit\"")),
        (r#"[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]"#, Some("bad")),
        (r#"{"error":"model not found"}"#, Some("model not found")),
        (r#"{"message":"Too many tokens"}"#, Some("Too many tokens")),
        (
            r#"{"error":{"type":"overloaded_error","message":""}}"#,
            Some(r#"{"type":"overloaded_error","message":""}"#),
        ),
        (r#"{"error":null,"choices":[]}"#, None),
        ("{", None),
    ] {
        let mut memory = [0; 128];
        let mut sink = Sink::new(&mut memory);
        let found = write_provider_error(reply.as_bytes(), &ALL.json, &mut sink);
        assert_eq!((found, sink.finish().unwrap()), (words.is_some(), words.unwrap_or_default()), "{reply}");
    }
}

#[test]
fn a_dialect_without_streams_says_so() {
    let (seen, _) = stream_in(Dialect::Mcp, [], ALL, [8, 256]);
    assert_eq!(seen, Err(StreamError::Unsupported));
}

#[test]
fn a_streams_reply_is_answered_as_a_whole_one() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let text = deltas(&[
        json!({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}),
        json!({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}),
    ]);
    let (mut words, mut bytes, mut out) = ([0; 256], [0; 2048], [0; 1024]);
    let mut stream = Stream::new(Dialect::OpenAiChat, ALL, Scratch::new(&mut words, &mut bytes)).unwrap();
    stream.feed(text.as_bytes(), &mut |_: StreamEvent<'_>| {}).unwrap();
    let (reply, rest) = stream.finish().unwrap();
    let mut sink = Sink::new(&mut out);
    let outcome =
        answer_reply(&tools, &reply, &AnswerOptions::default(), rest, &mut sink, &mut |_, _| {}).unwrap();
    assert_eq!((outcome.calls, outcome.answered), (1, 1));
    let expected = json!([{"role":"tool","tool_call_id":"a","content":"{\"x\":1}"}]);
    assert_eq!(read(sink.finish().unwrap()), expected);
}

#[test]
fn minted_ids_are_none_of_the_reply() {
    let call = |id: Option<&str>| json!({"id":id,"type":"function","function":{"name":"f","arguments":"{}"}});
    let ids = [None, Some("toolcore_0"), Some("toolcore__2"), None, Some("toolcore_3"), Some("tool")];
    let reply = json!({"role":"assistant","content":null,"tool_calls":ids.map(call)});
    let seen = crate::support::whole(Dialect::OpenAiChat, &reply).unwrap();
    let wire: Vec<_> = seen.calls.iter().map(|call| &*call.wire_id).collect();
    assert_eq!(wire, ["toolcore___0", "toolcore_0", "toolcore__2", "toolcore___3", "toolcore_3", "tool"]);
    let given: Vec<_> = seen.calls.iter().map(|call| call.id.as_deref()).collect();
    assert_eq!(given, ids);
    // Replay and results use the same ones.
    let replay = seen.replay.unwrap();
    let sent: Vec<_> = replay[0]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(sent, wire);
}

/// What is no text has no place in the text that pieces are added to.
#[test]
fn a_plan_of_cohere_that_is_no_text_is_passed_over() {
    for odd in [json!({}), json!([1]), json!({"a":1}), Json::Null] {
        let plan = |plan: &Json| json!({"type":"tool-plan-delta","delta":{"message":{"tool_plan":plan}}});
        let end = json!({"type":"message-end","delta":{"finish_reason":"COMPLETE"}});
        let call = json!({"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":
            {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}}}});
        let events = sse(&[plan(&odd), plan(&json!("k")), call, end], false);
        assert_eq!(calls(&stream(Dialect::Cohere, [events.as_bytes()])), [("a", "f", "{}")], "{odd}");
    }
}

/// The end marker is that of many dialects: what ends by it and says nothing is not an empty reply.
#[test]
fn a_stream_of_another_dialect_is_not_an_empty_reply() {
    let text = deltas(&[
        json!({"content":"Hi"}),
        json!({"tool_calls":[{"index":0,"id":"a",
        "function":{"name":"f","arguments":"{}"}}]}),
    ]);
    for dialect in [Dialect::Anthropic, Dialect::Gemini, Dialect::OpenAiResponses] {
        let error = failed(dialect, &text);
        assert!(matches!(error, StreamError::Reply(ReplyError::Shape { .. })), "{}: {error}", dialect.name());
    }
}

/// The host says that it is one whole event.
#[test]
fn an_event_of_bedrock_that_is_cut_off_is_an_error() {
    let (mut words, mut bytes) = ([0; 64], [0; 512]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::Bedrock, Default::default(), memory).unwrap();
    let mut nobody = |_: StreamEvent<'_>| {};
    let whole = br#"{"contentBlockIndex":0,"delta":{"text":"Hi"}}"#;
    stream.feed_event("contentBlockDelta", whole, &mut nobody).unwrap();
    let cut = br#"{"contentBlockIndex":0,"delta":{"text":"Hi""#;
    let error = stream.feed_event("contentBlockDelta", cut, &mut nobody).unwrap_err();
    assert!(matches!(error, StreamError::Reply(ReplyError::Json(_))), "{error}");
    let (reply, _) = stream.rescue().unwrap();
    assert_eq!(reply.finish(), Finish::Truncated);
}

/// Where items grow a piece of text has no place, and the other way round.
#[test]
fn pieces_of_one_field_are_of_one_kind() {
    let delta = |piece: Json| json!({"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":piece}});
    let start = json!({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}});
    for (first, second) in [(json!({"a":1}), json!("odd")), (json!([1]), json!("odd"))] {
        let text = sse(&[start.clone(), delta(first), delta(second)], false);
        let error = failed(Dialect::Anthropic, &text);
        assert!(matches!(error, StreamError::Reply(ReplyError::Shape { .. })), "{error}");
    }
}
