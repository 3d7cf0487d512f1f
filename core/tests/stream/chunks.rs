//! Replies to stream, and what becomes of damaged ones.

use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, ReplyError};
use toolcore::json::Reason;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamError};

use crate::common::{Tried, random_streams};
use crate::convert::stream_of;
use crate::support::{ALL, CALLS, Random, Seen};

/// Replies with several calls, text beside them, escapes, and what must go back.
pub(crate) fn examples() -> Vec<(Dialect, Json)> {
    let arguments =
        r#"{"city":"Troms\u00f8 \ud83d\ude00","note":"a \"quoted\"\n\\ line","n":1.0e2,"deep":[[{}]]}"#;
    let openai = json!({"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant",
        "content":"Let me \"see\" 😀","tool_calls":[
            {"id":"call_1","type":"function","function":{"name":"get_weather","arguments":arguments}},
            {"id":"call_2","type":"function","function":{"name":"get_time","arguments":"{}"}},
            {"id":"call_3","type":"function","function":{"name":"ping","arguments":""}}]}}],
        "usage":{"prompt_tokens":1}});
    let anthropic = json!({"id":"m","type":"message","role":"assistant","content":[
        {"type":"thinking","thinking":"hm\n","signature":"AAA=="},
        {"type":"text","text":"Let me \"see\" 😀","citations":[{"a":1},{"a":2}]},
        {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}},
        {"type":"web_search_tool_result","tool_use_id":"s","content":[{"url":"u"}]},
        {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Tromsø 😀","note":"a \"q\"\n\\"}},
        {"type":"tool_use","id":"toolu_2","name":"get_time","input":{}}],
        "stop_reason":"tool_use","stop_sequence":null});
    let responses = json!({"id":"resp_1","object":"response","status":"completed","error":null,
        "incomplete_details":null,"output":[
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm\n"}],
            "encrypted_content":"AAA==","content":[]},
        {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
            {"type":"output_text","text":"Let me \"see\" 😀","annotations":[],"logprobs":[]}]},
        {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}},
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":arguments,
            "status":"completed"},
        {"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"sql","input":"SELECT \"a\"\n",
            "status":"completed"},
        {"type":"function_call","id":"fc_3","call_id":"call_3","name":"ping","arguments":"{}",
            "status":"completed"}]});
    let gemini = json!({"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[
        {"text":"hm\n","thought":true},
        {"text":"Let me \"see\" 😀"},
        {"text":"","thoughtSignature":"AAA="},
        {"executableCode":{"language":"PYTHON","code":"print(1)"}},
        {"functionCall":{"id":"f1","name":"get_weather","args":{"city":"Tromsø 😀","note":"a \"q\"\n\\"}},
            "thoughtSignature":"QUJD"},
        {"functionCall":{"name":"get_time","args":{}}}]}}]});
    let input = json!({"city":"Tromsø 😀","note":"a \"q\"\n\\","deep":[[{}]]});
    let bedrock = json!({"output":{"message":{"role":"assistant","content":[
        {"reasoningContent":{"reasoningText":{"text":"hm\n","signature":"AAA=="}}},
        {"reasoningContent":{"redactedContent":"AAEC"}},
        {"text":"Let me \"see\" 😀"},
        {"toolUse":{"toolUseId":"s","name":"nova_code_interpreter","type":"server_tool_use","input":{"x":1}}},
        {"toolResult":{"toolUseId":"s","type":"nova_code_interpreter_result","content":[{"text":"a"},{"text":"b"}]}},
        {"toolUse":{"toolUseId":"tooluse_1","name":"get_weather","input":input}},
        {"toolUse":{"toolUseId":"tooluse_2","name":"get_time","input":{}}}]}},
        "stopReason":"tool_use","usage":{"inputTokens":1}});
    let ollama = json!({"message":{"role":"assistant","thinking":"hm\n","content":"Let me \"see\" 😀",
        "tool_calls":[{"function":{"name":"get_weather","arguments":input}},
            {"id":"call_2","function":{"index":0,"name":"get_time","arguments":{}}}]},
        "done":true,"done_reason":"stop"});
    let mut mistral = openai.clone();
    let calls = mistral["choices"][0]["message"]["tool_calls"].as_array_mut().unwrap();
    for (call, id) in calls.iter_mut().zip(["D681PevKs", "call_2", "null"]) {
        call["id"] = id.into();
    }
    let cohere = json!({"id":"c","finish_reason":"TOOL_CALL","message":{"role":"assistant",
        "tool_plan":"I look \"up\" 😀","content":[{"type":"text","text":"Let me \"see\" 😀"}],"tool_calls":[
            {"id":"get_weather_1","type":"function","function":{"name":"get_weather","arguments":arguments}},
            {"id":"get_time_2","type":"function","function":{"name":"get_time","arguments":"{}"}}]}});
    vec![
        (Dialect::OpenAiChat, openai),
        (Dialect::MistralChat, mistral),
        (Dialect::Cohere, cohere),
        (Dialect::Anthropic, anthropic),
        (Dialect::OpenAiResponses, responses),
        (Dialect::Gemini, gemini.clone()),
        (Dialect::GeminiSchema, gemini),
        (Dialect::Bedrock, bedrock),
        (Dialect::Ollama, ollama),
    ]
}

#[test]
fn items_that_follow_an_array_of_blanks_are_its_items() {
    let reply = json!({"role":"assistant","content":[
        {"type":"text","text":"a","citations":[{"a":1},{"a":2}]}],"stop_reason":"end_turn"});
    let text = stream_of(Dialect::Anthropic, &reply, 5);
    assert_eq!(text.matches("\"citations\":[]").count(), 1);
    for blanks in ["", " ", "\t  "] {
        let (mut words, mut memory) = ([0; 256], [0; 4096]);
        let scratch = Scratch::new(&mut words, &mut memory);
        let mut stream = Stream::new(Dialect::Anthropic, ALL, scratch).unwrap();
        let text = text.replace("\"citations\":[]", &format!("\"citations\":[{blanks}]"));
        stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
        let (read, _) = stream.finish().unwrap();
        let mut out = [0; 1024];
        let mut sink = Sink::new(&mut out);
        read.write_replay(true, &mut sink).unwrap();
        let turn: Json = serde_json::from_str(sink.finish().unwrap()).unwrap();
        assert_eq!(turn["content"], reply["content"], "{blanks:?}");
    }
}

/// Streams with bytes changed, left out and doubled, in memory of any size: an error or a reply, never a
/// panic, and what is kept can always be read. How many and which: see [`random_streams`].
#[test]
fn damaged_streams_end_in_an_error_or_a_reply() {
    let (numbers, seed) = random_streams(500);
    for (dialect, reply) in examples() {
        let text = stream_of(dialect, &reply, 5);
        for number in numbers.clone() {
            let tried = Tried { dialect, seed, number };
            let mut random = Random(tried.start());
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len() - 64);
                let with = b"{}[]\",:\\0n\n\r \xffud83"[random.below(18)];
                match random.below(4) {
                    0 => bytes[at] = with,
                    1 => bytes.insert(at, with),
                    2 => drop(bytes.drain(at..at + random.below(64))),
                    _ => {
                        let piece = bytes[at..at + random.below(64)].to_vec();
                        let to = random.below(bytes.len());
                        bytes.splice(to..to, piece);
                    }
                }
            }
            let sizes = [random.below(100), random.below(2000)];
            let options = [ALL, CALLS][random.below(2)];
            let (mut words, mut memory) = (vec![0; sizes[0]], vec![0; sizes[1]]);
            let scratch = Scratch::new(&mut words, &mut memory);
            let Ok(mut stream) = Stream::new(dialect, options, scratch) else { continue };
            let failed =
                random.cut(&bytes).into_iter().find_map(|chunk| stream.feed(chunk, &mut |_| {}).err());
            match stream.rescue() {
                Ok((reply, _)) => drop(Seen::of(&reply)),
                // The text itself is JSON, whatever came.
                Err(StreamError::Reply(ReplyError::Json(error))) => {
                    assert_eq!(error.reason, Reason::LoneSurrogate, "{failed:?}");
                }
                Err(_) => {}
            }
        }
    }
}
