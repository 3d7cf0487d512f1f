//! The rows about streams, about the ids of calls, about the turn that goes back, and about Bedrock.

use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, RenderErrorKind, ReplyError, ToolsOptions, parse_reply};
use toolcore::json::Options;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError, StreamOptions};

use crate::common::{Memory, answered, boxed, echo, open, read, rendered};
use crate::with_tools;

/// The turn of a reply that goes back.
pub(crate) fn turn(dialect: Dialect, reply: &str) -> Json {
    let (mut words, mut bytes, mut out) = ([0; 64], [0; 512], [0; 1024]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, _) = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch).unwrap();
    let mut sink = Sink::new(&mut out);
    reply.write_replay(false, &mut sink).unwrap();
    read(sink.finish().unwrap())
}

/// Id, name and arguments of each call of a Chat Completions stream of these deltas, cut into chunks.
fn read_stream(deltas: &[Json], chunk: usize) -> Result<Vec<[String; 3]>, StreamError> {
    let (mut words, mut bytes) = ([0; 128], [0; 1024]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::OpenAiChat, StreamOptions::default(), memory)?;
    let events =
        deltas.iter().map(|delta| format!("data: {}\n\n", json!({"choices":[{"index":0,"delta":delta}]})));
    let text: String = events.chain(["data: [DONE]\n\n".to_string()]).collect();
    for chunk in text.as_bytes().chunks(chunk) {
        stream.feed(chunk, &mut |_| {})?;
    }
    let (reply, _) = stream.finish()?;
    let calls = reply.calls().map(|call| [call.wire_id, call.name, call.arguments].map(String::from));
    Ok(calls.collect())
}

pub(crate) fn streamed(input: &Json) {
    let deltas = input["deltas"].as_array().unwrap();
    let count: usize = deltas.iter().map(|delta| delta["tool_calls"].as_array().unwrap().len()).sum();
    let first = &deltas[0]["tool_calls"][0];
    // The rows differ in their first call and in how many entries there are.
    let expected: &[[&str; 3]] =
        match (first["id"].as_str().unwrap(), first["function"]["arguments"].as_str().unwrap(), count) {
            ("c1", "", 3) => &[["c1", "get_weather", r#"{"city":"Oslo"}"#]],
            ("a", r#"{"city":"Oslo"}"#, 3) => &[
                ["a", "get_weather", r#"{"city":"Oslo"}"#],
                ["b", "get_time", r#"{"tz":"UTC"}"#],
                ["c", "ping", "{}"],
            ],
            ("a", r#"{"x":"#, 4) => &[["a", "f", r#"{"x":1}"#], ["b", "g", r#"{"y":2}"#]],
            ("a", "{", 2) => &[["a", "f", "{}"]],
            ("a", r#"{"x""#, 2) => &[["a", "f", r#"{"x":1}"#]],
            other => panic!("{other:?} has no expectation here"),
        };
    for chunk in [1, 7, 10_000] {
        assert_eq!(read_stream(deltas, chunk).unwrap(), expected);
    }
    // No index, no id and no call begun.
    let error = read_stream(&[json!({"tool_calls":[{"function":{"arguments":"{}"}}]})], 10_000).unwrap_err();
    assert!(matches!(error, StreamError::Reply(ReplyError::Shape { .. })), "{error}");
}

pub(crate) fn ids_of_responses(input: &Json) {
    let reply = json!({"output":[input["item"]]}).to_string();
    assert_eq!(turn(Dialect::OpenAiResponses, &reply), json!([input["item"]]));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let answered = answered(&tools, Dialect::OpenAiResponses, &reply);
    let expected = json!([{"type":"function_call_output","call_id":"call_1","output":"{}"}]);
    assert_eq!(answered.messages(), expected);
}

pub(crate) fn signatures_of_gemini(input: &Json) {
    let content = json!({"role":"model","parts":input["parts"]});
    let reply = json!({"candidates":[{"content":content}]}).to_string();
    assert_eq!(turn(Dialect::Gemini, &reply), json!([content]));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    tools.add(&open("g"), echo()).unwrap();
    let response = |name: &str| json!({"functionResponse":{"name":name,"response":{"output":{}}}});
    let expected = json!([{"role":"user","parts":[response("f"), response("g")]}]);
    assert_eq!(answered(&tools, Dialect::Gemini, &reply).messages(), expected);
}

pub(crate) fn failures_of_bedrock(input: &Json) {
    let error = input["results"][0]["error"].as_str().unwrap().to_owned();
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools
        .add(
            &open("f"),
            boxed(move |_, result| {
                result.error(&error);
                Ok(())
            }),
        )
        .unwrap();
    let call = json!({"toolUse":{"toolUseId":"t1","name":"f","input":{}}});
    let reply = json!({"output":{"message":{"role":"assistant","content":[call]}},"stopReason":"tool_use"});
    let messages = answered(&tools, Dialect::Bedrock, &reply.to_string()).messages();
    let result = &messages[0]["content"][0]["toolResult"];
    let [block] = result["content"].as_array().unwrap().as_slice() else { panic!("{result}") };
    assert_eq!(result["status"], "error");
    assert!(!block["text"].as_str().unwrap().trim().is_empty(), "{result}");
}

pub(crate) fn tools_of_bedrock(input: &Json) {
    assert_eq!(input["tools"], json!([]));
    with_tools(&[], |tools| {
        assert_eq!(rendered(tools, Dialect::Bedrock, &ToolsOptions::default()).unwrap().0, "{}");
        let after = ToolsOptions { after_calls: true, ..ToolsOptions::default() };
        let error = rendered(tools, Dialect::Bedrock, &after).unwrap_err();
        assert_eq!(error.kind, RenderErrorKind::NoTools);
    });
}
