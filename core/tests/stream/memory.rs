//! What a stream needs, and what becomes of one that has less.

use toolcore::dialect::{Dialect, Finish, ReplyError};
use toolcore::scratch::Scratch;
use toolcore::stream::{Stream, StreamError, StreamOptions};

use crate::chunks::examples;
use crate::common::{rows, shared};
use crate::convert::{RECORDED, stream_of};
use crate::support::{ALL, CALLS, Seen, stream_in};

/// The least bytes of memory, words among them, that read the stream: by what the errors name.
fn need(dialect: Dialect, text: &str, options: StreamOptions) -> [usize; 2] {
    let mut sizes = [0, 0];
    loop {
        match stream_in(dialect, [text.as_bytes()], options, sizes).0 {
            Ok(_) => return sizes,
            Err(StreamError::Reply(ReplyError::NoSpace { words, bytes })) => {
                let more = [sizes[0].max(words), sizes[1].max(bytes)];
                assert_ne!(more, sizes, "an error that names what is there");
                sizes = more;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn too_little_memory_is_an_error_that_names_the_need_and_keeps_what_is_whole() {
    for (dialect, reply) in examples() {
        let text = stream_of(dialect, &reply, 8);
        for options in [ALL, CALLS] {
            let enough = need(dialect, &text, options);
            let expected = stream_in(dialect, [text.as_bytes()], options, [256, 8192]).0.unwrap();
            assert_eq!(stream_in(dialect, [text.as_bytes()], options, enough).0.unwrap(), expected);
            let mut kept = 0;
            let sizes = (0..enough[1]).map(|bytes| [enough[0], bytes]);
            for [word_count, bytes] in sizes.chain((0..enough[0]).map(|words| [words, enough[1]])) {
                let (mut words, mut memory) = (vec![0; word_count], vec![0; bytes]);
                let scratch = Scratch::new(&mut words, &mut memory);
                let no_space = |error: StreamError| match error {
                    StreamError::Reply(ReplyError::NoSpace { words: need_words, bytes: need }) => {
                        assert!(need_words > word_count || need > bytes, "{need_words} {need}");
                    }
                    error => panic!("{error}"),
                };
                let mut stream = match Stream::new(dialect, options, scratch) {
                    Ok(stream) => stream,
                    Err(error) => {
                        no_space(error);
                        continue;
                    }
                };
                let Err(error) = stream.feed(text.as_bytes(), &mut |_| {}) else {
                    // Only the records of the reply did not fit.
                    no_space(stream.finish().unwrap_err());
                    continue;
                };
                no_space(error);
                match stream.rescue() {
                    Ok((reply, _)) => {
                        let seen = Seen::of(&reply);
                        assert_eq!(seen.finish, Finish::Truncated);
                        for (call, whole) in seen.calls.iter().zip(&expected.calls) {
                            assert!(call.truncated || call.arguments == whole.arguments, "{call:?}");
                            kept += usize::from(!call.truncated);
                        }
                    }
                    Err(error) => no_space(error),
                }
            }
            assert!(kept > 0, "no call was kept");
        }
    }
}

/// The calls' own bytes in the whole reply, and 512.
#[test]
fn a_stream_of_calls_needs_little_more_than_the_calls() {
    let test = "a_stream_of_calls_needs_little_more_than_the_calls";
    let mut streams: Vec<(Dialect, String, usize)> = Vec::new();
    let calls_of = |dialect: Dialect, reply: &serde_json::Value| -> usize {
        let calls = match dialect {
            Dialect::OpenAiChat | Dialect::MistralChat => {
                reply["choices"][0]["message"]["tool_calls"].as_array().cloned()
            }
            Dialect::OpenAiResponses => reply["output"].as_array().cloned(),
            Dialect::Gemini | Dialect::GeminiSchema => {
                let parts =
                    reply["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default();
                let calls = parts.iter().filter_map(|part| part.get("functionCall"));
                Some(calls.map(|call| serde_json::json!({"type":"function","functionCall":call})).collect())
            }
            Dialect::Bedrock => reply["output"]["message"]["content"].as_array().cloned(),
            Dialect::Ollama | Dialect::Cohere => reply["message"]["tool_calls"].as_array().cloned(),
            _ => reply["content"].as_array().cloned(),
        };
        let calls = calls.unwrap_or_default();
        let kinds = ["function", "tool_use", "function_call", "custom_tool_call"];
        let is_call = |call: &serde_json::Value| {
            let of_client = call["toolUse"].is_object() && call["toolUse"]["type"] != "server_tool_use";
            kinds.iter().any(|kind| call["type"] == *kind) || call["function"].is_object() || of_client
        };
        let calls = calls.iter().filter(|call| is_call(call));
        calls.map(|call| call.to_string().len()).sum()
    };
    for (dialect, reply) in examples() {
        for piece in [1, 8, 100_000] {
            streams.push((dialect, stream_of(dialect, &reply, piece), calls_of(dialect, &reply)));
        }
    }
    for dialect in RECORDED {
        let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
        for row in rows(&path) {
            if row["kind"] == "whole" {
                for piece in [4, 100_000] {
                    let text = stream_of(dialect, &row["reply"], piece);
                    streams.push((dialect, text, calls_of(dialect, &row["reply"])));
                }
            } else {
                let calls = row["calls"].as_array().unwrap().iter();
                let size = calls.map(|call| call.to_string().len()).sum();
                streams.push((dialect, row["reply"].as_str().unwrap().into(), size));
            }
        }
    }
    let (mut most, mut where_most) = (0, String::new());
    for (dialect, text, calls) in streams {
        let [words, bytes] = need(dialect, &text, CALLS);
        let over = (4 * words + bytes).saturating_sub(calls);
        if over > most {
            (most, where_most) = (over, text.chars().take(3000).collect());
        }
    }
    println!("{most} bytes beside the calls at the most");
    assert!(most <= 512, "{most} bytes beside the calls: {where_most}");
}

/// What is rescued of a reply that was refused stays refused, so that none of its calls runs.
#[test]
fn calls_of_a_refused_reply_do_not_run_when_it_is_rescued() {
    let call = r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}"#;
    for (reason, finish) in [("content_filter", Finish::Refused), ("tool_calls", Finish::Truncated)] {
        let text = format!(
            "data: {{\"choices\":[{{\"delta\":{call}}}]}}\n\n\
             data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: oops\n\n"
        );
        let (mut words, mut bytes) = ([0; 64], [0; 1024]);
        let memory = Scratch::new(&mut words, &mut bytes);
        let mut stream = Stream::new(Dialect::OpenAiChat, StreamOptions::default(), memory).unwrap();
        stream.feed(text.as_bytes(), &mut |_| {}).unwrap_err();
        let (reply, _) = stream.rescue().unwrap();
        assert_eq!(reply.finish(), finish);
        assert_eq!(reply.get(0).unwrap().truncated, finish == Finish::Refused, "{reason}");
    }
}
