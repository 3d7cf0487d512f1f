//! Ollama's own endpoint: the turn that goes back, and lines of a stream. Expected values from the models of
//! its SDK (`../shared/formats.md`, section 6).
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, answered, echo, open, read};
use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, Finish, ReplayError, Reply, parse_reply};
use toolcore::json::Options;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamOptions};

fn replay(reply: &Reply<'_>) -> Json {
    let mut memory = [0; 4096];
    let mut sink = Sink::new(&mut memory);
    reply.write_replay(false, &mut sink).unwrap();
    read(sink.finish().unwrap())
}

fn turn_of(reply: &Json) -> Json {
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let text = reply.to_string();
    let scratch = Scratch::new(&mut words, &mut bytes);
    replay(&parse_reply(Dialect::Ollama, text.as_bytes(), &Options::default(), scratch).unwrap().0)
}

#[test]
fn the_turn_goes_back_without_what_the_server_only_puts_out() {
    let reply = json!({"model":"m","message":{"role":"assistant","content":"","thinking":"hm","tool_calls":[
        {"function":{"index":0,"name":"f","arguments":{"n":1.50}}},
        {"id":"call_2","function":{"name":"g","arguments":"{\"a\": \"\\u00e9\"}"}},
        {"function":{"name":"h","arguments":"no object"}},
        {"function":{"name":"i","arguments":null}}]},"done":true,"eval_count":5});
    let expected = json!([{"role":"assistant","content":"","thinking":"hm","tool_calls":[
        {"function":{"name":"f","arguments":{"n":1.50}}},
        {"id":"call_2","function":{"name":"g","arguments":{"a":"é"}}},
        {"function":{"name":"h","arguments":{}}},
        {"function":{"name":"i","arguments":{}}}]}]);
    assert_eq!(turn_of(&reply), expected);
    let spoken = json!({"message":{"role":"assistant","content":"Hi \"you\""},"done":true});
    assert_eq!(turn_of(&spoken), json!([{"role":"assistant","content":"Hi \"you\""}]));
}

#[test]
fn every_whole_call_of_a_stream_is_a_call_of_its_own() {
    let call = |name: &str| json!({"function":{"index":0,"name":name,"arguments":{"of":name}}});
    let line =
        |calls: &[Json]| json!({"message":{"role":"assistant","content":"","tool_calls":calls},"done":false});
    let end = json!({"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"});
    let text = format!("{}\n{}\n{end}\n", line(&[call("f"), call("f")]), line(&[call("g")]));
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::Ollama, StreamOptions::default(), memory).unwrap();
    stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
    let (reply, _) = stream.finish().unwrap();
    let calls: Vec<_> = reply.calls().map(|call| (call.id, call.name, call.arguments)).collect();
    let expected = [("f", r#"{"of":"f"}"#), ("f", r#"{"of":"f"}"#), ("g", r#"{"of":"g"}"#)];
    assert_eq!(calls, expected.map(|(name, arguments)| (None, name, arguments)));
    assert_eq!(reply.finish(), Finish::Complete);
    assert_eq!(replay(&reply)[0]["tool_calls"][0], json!({"function":{"name":"f","arguments":{"of":"f"}}}));
}

#[test]
fn an_end_for_the_length_cuts_the_last_call_and_no_line_of_the_end_cuts_none_that_is_whole() {
    let call = json!({"message":{"role":"assistant","content":"","tool_calls":[
        {"function":{"name":"f","arguments":{"x":1}}}]},"done":false});
    let length = json!({"message":{"role":"assistant","content":""},"done":true,"done_reason":"length"});
    for (text, finish, truncated) in [
        (format!("{call}\n{length}\n"), Finish::Truncated, true),
        (format!("{call}\n"), Finish::Truncated, false),
    ] {
        let (mut words, mut bytes) = ([0; 256], [0; 4096]);
        let memory = Scratch::new(&mut words, &mut bytes);
        let mut stream = Stream::new(Dialect::Ollama, StreamOptions::default(), memory).unwrap();
        stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
        let (reply, _) = stream.finish().unwrap();
        assert_eq!((reply.finish(), reply.get(0).unwrap().truncated), (finish, truncated));
    }
}

#[test]
fn results_name_the_tool_and_the_id_if_the_server_sent_one() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let reply = json!({"message":{"role":"assistant","content":"","tool_calls":[
        {"function":{"name":"f","arguments":{"x":1}}},
        {"id":"call_2","function":{"name":"f","arguments":{}}}]},"done":true});
    let expected = json!([{"role":"tool","tool_name":"f","content":"{\"x\":1}"},
        {"role":"tool","tool_name":"f","tool_call_id":"call_2","content":"{}"}]);
    assert_eq!(answered(&tools, Dialect::Ollama, &reply.to_string()).messages(), expected);
}

/// What is no object becomes one that may be longer.
#[test]
fn the_turn_fits_the_room_that_is_named_for_it() {
    for arguments in ["", "1", "{}", "no object"] {
        let reply =
            json!({"message":{"tool_calls":[{"function":{"name":"f","arguments":arguments}}]}}).to_string();
        let (mut words, mut bytes) = ([0; 256], [0; 4096]);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let (reply, _) =
            parse_reply(Dialect::Ollama, reply.as_bytes(), &Options::default(), scratch).unwrap();
        let Err(ReplayError::NoSpace(short)) = reply.write_replay(false, &mut Sink::measure()) else {
            panic!()
        };
        let mut memory = vec![0; short.need];
        assert_eq!(reply.write_replay(false, &mut Sink::new(&mut memory)), Ok(()), "{arguments:?}");
    }
}
