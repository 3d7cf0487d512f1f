//! By which id a call is known: in the reply, in the turn that goes back, and in its result. What providers
//! refuse is cited in `core/src/dialect/ids.rs` and at the rules of the dialects.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::read;
use serde_json::{Value as Json, json};
use toolcore::call::ToolCall;
use toolcore::dialect::{
    CallResult, Calls, Dialect, Reply, ReplyOptions, ResultsError, ResultsOptions, parse_reply,
    render_results,
};
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

fn parsed<T>(dialect: Dialect, reply: &str, turn: u32, check: impl FnOnce(&Reply<'_>) -> T) -> T {
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let options = ReplyOptions { turn, ..ReplyOptions::default() };
    check(&parse_reply(dialect, reply.as_bytes(), options, scratch).unwrap().0)
}

fn wire_ids(reply: &Reply<'_>) -> Vec<String> {
    reply.calls().map(|call| call.wire_id.to_owned()).collect()
}

fn turn(reply: &Reply<'_>) -> String {
    let mut memory = [0; 4096];
    let mut sink = Sink::new(&mut memory);
    reply.write_replay(false, &mut sink).unwrap();
    sink.finish().unwrap().to_owned()
}

/// Renders a result for each of these ids, of which each says its own place.
fn rendered(
    dialect: Dialect,
    calls: &(impl Calls + ?Sized),
    ids: &[Option<&str>],
) -> Result<Json, ResultsError> {
    let mut memory = vec![[0; 8]; ids.len()];
    let results: Vec<_> = (0..)
        .zip(&mut memory)
        .map(|(at, memory)| {
            let mut result = ToolResult::new(memory);
            result.text(&format!("{at}")).unwrap();
            result
        })
        .collect();
    let entries: Vec<_> =
        ids.iter().zip(&results).map(|(id, result)| CallResult { id: *id, result: Some(result) }).collect();
    let mut out = [0; 4096];
    let mut sink = Sink::new(&mut out);
    render_results(dialect, calls, &entries, &ResultsOptions::default(), &mut sink)?;
    Ok(read(sink.finish().unwrap()))
}

/// The ids of results, and what they say.
fn answers(messages: &Json) -> Vec<(String, String)> {
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let messages = messages.as_array().unwrap().iter();
    messages.map(|message| (text(&message["tool_call_id"]), text(&message["content"]))).collect()
}

fn openai(ids: &[Json]) -> String {
    let call = |id| json!({"id":id,"type":"function","function":{"name":"f","arguments":"{}"}});
    json!({"role":"assistant","content":null,"tool_calls":ids.iter().map(call).collect::<Json>()}).to_string()
}

#[test]
fn a_result_may_name_its_call_by_the_id_that_went_out() {
    let reply = openai(&[json!("call_1"), json!("call_2")]);
    parsed(Dialect::MistralChat, &reply, 0, |reply| {
        let ids = wire_ids(reply);
        assert!(ids.iter().all(|id| id.len() == 9));
        let out =
            |names: [&str; 2]| answers(&rendered(Dialect::MistralChat, reply, &names.map(Some)).unwrap());
        let in_order = [(ids[0].clone(), "0".to_owned()), (ids[1].clone(), "1".to_owned())];
        assert_eq!(out(["call_1", "call_2"]), in_order);
        assert_eq!(out([&ids[0], &ids[1]]), in_order);
        assert_eq!(out(["call_1", &ids[1]]), in_order);
        let swapped = [(ids[0].clone(), "1".to_owned()), (ids[1].clone(), "0".to_owned())];
        assert_eq!(out([&ids[1], "call_1"]), swapped);
        let twice = rendered(Dialect::MistralChat, reply, &["call_1", &ids[0]].map(Some));
        assert_eq!(twice, Err(ResultsError::Duplicate { result: 1 }));
        let none = rendered(Dialect::MistralChat, reply, &["call_1", "call_3"].map(Some));
        assert_eq!(none, Err(ResultsError::Unknown { result: 1 }));
    });
    // The host's own calls, which do not say what went out.
    let calls = ["call_1", "call_2"].map(|id| ToolCall { id: Some(id), name: "f", ..ToolCall::default() });
    let ids = calls.map(|call| Dialect::MistralChat.wire_id(call.id.unwrap()).unwrap());
    let messages = rendered(Dialect::MistralChat, &calls[..], &[Some(&ids[1]), Some(&ids[0])]).unwrap();
    assert_eq!(answers(&messages), [(ids[0].to_string(), "1".into()), (ids[1].to_string(), "0".into())]);
}

#[test]
fn an_id_that_was_made_to_fit_is_none_of_the_reply() {
    let mapped = Dialect::MistralChat.wire_id("call_123").unwrap();
    for ids in [["call_123", &mapped], [&mapped, "call_123"]] {
        parsed(Dialect::MistralChat, &openai(&ids.map(Json::from)), 0, |reply| {
            let wire = wire_ids(reply);
            assert_ne!(wire[0], wire[1]);
            assert!(wire.iter().all(|id| id.len() == 9) && wire.contains(&mapped.to_string()));
            let sent = read(&turn(reply));
            let sent: Vec<_> = (0..2).map(|at| sent[0]["tool_calls"][at]["id"].clone()).collect();
            assert_eq!(sent, wire);
            let calls: Vec<_> = reply.calls().map(|call| ToolCall { wire_id: "", ..call }).collect();
            for messages in [
                rendered(Dialect::MistralChat, reply, &ids.map(Some)).unwrap(),
                rendered(Dialect::MistralChat, &calls[..], &ids.map(Some)).unwrap(),
            ] {
                assert_eq!(
                    answers(&messages).iter().map(|(id, _)| id).collect::<Vec<_>>(),
                    [&wire[0], &wire[1]]
                );
            }
        });
    }
}

/// Providers refuse a turn in which an id stands twice.
#[test]
fn calls_of_one_id_are_told_apart_in_turn_and_results() {
    let anthropic = json!({"content":[
        {"type":"tool_use","id":"t1","name":"f","input":{}},
        {"type":"tool_use","id":"t1","name":"g","input":{}},
        {"type":"tool_use","id":"t1","name":"h","input":{}}]});
    let gemini = json!({"candidates":[{"content":{"role":"model","parts":[
        {"functionCall":{"id":"t1","name":"f","args":{}},"thoughtSignature":"AAA="},
        {"text":"x"},
        {"functionCall":{"id":"t1","name":"g","args":{"id":"t1"}}},
        {"functionCall":{"id":"t1","name":"h","args":{}}}]}}]});
    for (dialect, reply, sent, answered) in [
        (Dialect::Anthropic, anthropic, "/id", "/tool_use_id"),
        (Dialect::Gemini, gemini, "/functionCall/id", "/functionResponse/id"),
        (Dialect::OpenAiChat, read(&openai(&["t1", "t1", "t1"].map(Json::from))), "/id", "/tool_call_id"),
    ] {
        parsed(dialect, &reply.to_string(), 0, |reply| {
            let ids = wire_ids(reply);
            assert!(ids[0] == "t1" && ids[1] != "t1" && ids[2] != "t1" && ids[1] != ids[2], "{ids:?}");
            assert!(reply.calls().all(|call| call.id == Some("t1")), "each keeps its own");
            let list = |value: &Json, path: &str| -> Vec<String> {
                let lists = ["/0/tool_calls", "/0/content", "/0/parts", ""];
                let mut lists = lists.iter().filter_map(|list| value.pointer(list).and_then(Json::as_array));
                let items = lists.next().unwrap().iter().filter_map(|item| item.pointer(path));
                items.map(|id| id.as_str().unwrap().to_owned()).collect()
            };
            let turn = read(&turn(reply));
            assert_eq!(list(&turn, sent), ids);
            if dialect == Dialect::Gemini {
                assert_eq!(turn[0]["parts"][0]["thoughtSignature"], "AAA=");
                assert_eq!(turn[0]["parts"][2]["functionCall"]["args"], json!({"id":"t1"}));
            }
            let orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]];
            for order in orders {
                let messages = rendered(dialect, reply, &order.map(|at| Some(&*ids[at]))).unwrap();
                assert_eq!(list(&messages, answered), ids, "by the ids that go out");
            }
            assert_eq!(list(&rendered(dialect, reply, &[Some("t1"); 3]).unwrap(), answered), ids);
            let calls: Vec<_> = reply.calls().map(|call| ToolCall { wire_id: "", ..call }).collect();
            let messages = rendered(dialect, &calls[..], &[Some("t1"); 3]).unwrap();
            assert_eq!(list(&messages, answered), ids, "the host's own calls alike");
            let mixed = [Some(&*ids[1]), Some("t1"), Some(&*ids[2])];
            assert_eq!(list(&rendered(dialect, reply, &mixed).unwrap(), answered), ids);
            let twice = rendered(dialect, reply, &[Some("t1"), Some("t1"), Some(&*ids[1])]);
            assert!(matches!(twice, Err(ResultsError::Duplicate { .. } | ResultsError::Missing { call: 2 })));
        });
    }
}

#[test]
fn minted_ids_say_which_turn_it_is() {
    let reply = openai(&[Json::Null, json!("x"), Json::Null]);
    let ids = |dialect, turn| parsed(dialect, &reply, turn, wire_ids);
    assert_eq!(ids(Dialect::OpenAiChat, 0), ["toolcore_0", "x", "toolcore_2"]);
    assert_eq!(ids(Dialect::OpenAiChat, 7), ["toolcore_7_0", "x", "toolcore_7_2"]);
    let mut all = std::collections::BTreeSet::new();
    for turn in 0..100 {
        for dialect in [Dialect::OpenAiChat, Dialect::MistralChat, Dialect::Ollama] {
            let ids = ids(dialect, turn);
            assert!(dialect != Dialect::MistralChat || ids.iter().all(|id| id.len() == 9));
            all.extend([0, 2].map(|at| (dialect.name(), ids[at].clone())));
        }
    }
    assert_eq!(all.len(), 600);
    let clash = openai(&[Json::Null, json!("toolcore_7_0")]);
    assert_eq!(parsed(Dialect::OpenAiChat, &clash, 7, wire_ids), ["toolcore__7_0", "toolcore_7_0"]);
}

/// What the wire has no id for, the host can name all the same.
#[test]
fn a_call_without_an_id_has_one_for_the_host_that_is_never_sent() {
    let part = |name| json!({"functionCall":{"name":name,"args":{}}});
    let call = |name| json!({"function":{"name":name,"arguments":{}}});
    for (dialect, reply) in [
        (Dialect::Gemini, json!({"candidates":[{"content":{"parts":[part("f"), part("g")]}}]}).to_string()),
        (Dialect::Ollama, json!({"message":{"content":"","tool_calls":[call("f"), call("g")]}}).to_string()),
        (
            Dialect::Hermes,
            ["f", "g"]
                .map(|n| format!("<tool_call>{{\"name\":\"{n}\",\"arguments\":{{}}}}</tool_call>"))
                .concat(),
        ),
        (Dialect::Llama3, ["f", "g"].map(|n| format!("{{\"name\":\"{n}\",\"parameters\":{{}}}}")).join("; ")),
        (Dialect::Mistral, ["f", "g"].map(|n| format!("[TOOL_CALLS]{n}[ARGS]{{}}")).concat()),
    ] {
        parsed(dialect, &reply, 0, |reply| {
            assert_eq!(wire_ids(reply), ["toolcore_0", "toolcore_1"], "{}", dialect.name());
            assert!(reply.calls().all(|call| call.id.is_none()));
            assert!(!turn(reply).contains("toolcore"), "{}", turn(reply));
            let mut memory = [[0; 8]; 2];
            let [first, second] = &mut memory;
            let (mut f, mut g) = (ToolResult::new(first), ToolResult::new(second));
            f.text("of f").unwrap();
            g.text("of g").unwrap();
            let results = [
                CallResult { id: Some("toolcore_1"), result: Some(&g) },
                CallResult { id: Some("toolcore_0"), result: Some(&f) },
            ];
            let mut out = [0; 1024];
            let mut sink = Sink::new(&mut out);
            render_results(dialect, reply, &results, &ResultsOptions::default(), &mut sink).unwrap();
            let text = sink.finish().unwrap();
            assert!(text.find("of f").unwrap() < text.find("of g").unwrap() && !text.contains("toolcore"));
        });
    }
}

#[test]
fn ids_that_a_server_is_known_to_refuse_are_not_sent() {
    let long = "c".repeat(65);
    for (dialect, refused, taken) in [
        (Dialect::Anthropic, &["call_1|fc_1", "functions.f:0", "a b", "é"][..], &["toolu_01-A", &*long][..]),
        (Dialect::OpenAiResponses, &[&*long][..], &["call_1|fc_1", "functions.f:0", &long[1..]][..]),
        (Dialect::OpenAiChat, &[][..], &["call_1|fc_1", &*long][..]),
    ] {
        for id in refused {
            let mapped = dialect.wire_id(id).unwrap();
            assert_eq!(dialect.wire_id(&mapped), None, "{id}");
        }
        assert!(taken.iter().all(|id| dialect.wire_id(id).is_none()), "{}", dialect.name());
    }
}

/// However many calls have one id: each goes out with one of its own.
#[test]
fn hundreds_of_calls_with_one_id_are_all_told_apart() {
    let call = r#"{"id":"a","function":{"name":"f","arguments":"{}"}}"#;
    let list = vec![call; 400].join(",");
    let text = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{list}]}}}}]}}"#);
    let (mut words, mut bytes) = (vec![0; 4000], vec![0; 4000]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let reply =
        parse_reply(Dialect::OpenAiChat, text.as_bytes(), ReplyOptions::default(), scratch).unwrap().0;
    let ids = wire_ids(&reply);
    let apart: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!((ids.len(), apart.len()), (400, 400));
    assert_eq!(ids[0], "a");
}

/// Ids that are not allowed: each gets another, in linear time.
#[test]
fn a_hundred_thousand_ids_are_made_to_fit_in_linear_time() {
    let call = |at: usize| format!(r#"{{"id":"_{at:08}","function":{{"name":"f","arguments":"{{}}"}}}}"#);
    let list = (0..100_000).map(call).collect::<Vec<_>>().join(",");
    let text = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{list}]}}}}]}}"#);
    let (mut words, mut bytes) = (vec![0; 1_000_000], vec![0; 1_000_000]);
    let start = std::time::Instant::now();
    let scratch = Scratch::new(&mut words, &mut bytes);
    let reply =
        parse_reply(Dialect::MistralChat, text.as_bytes(), ReplyOptions::default(), scratch).unwrap().0;
    assert_eq!(reply.len(), 100_000);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}
