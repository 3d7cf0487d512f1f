//! The framings: server-sent events in every form that the standard allows, lines of JSON, arrays.

use serde_json::json;
use toolcore::dialect::{Dialect, Finish, ReplyError};
use toolcore::json::Reason;
use toolcore::stream::{Stream, StreamError};

use crate::support::{ALL, Random, chunk, failed, sse, stream, stream_in};

const DELTA: &str = r#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#;

fn text(input: &[u8]) -> String {
    let expected = stream(Dialect::OpenAiChat, [input]);
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(stream(Dialect::OpenAiChat, bytes), expected, "byte by byte");
    for cut in 0..=input.len() {
        let (before, after) = input.split_at(cut);
        assert_eq!(stream(Dialect::OpenAiChat, [before, after]), expected, "cut at {cut}");
    }
    assert_eq!(expected.finish, Finish::Complete);
    expected.text
}

#[test]
fn lines_end_in_every_way_and_fields_stand_in_every_form() {
    let done = "data: [DONE]";
    for end in ["\n", "\r", "\r\n"] {
        for input in [
            format!("data: {DELTA}{end}{end}{done}{end}{end}"),
            format!("data:{DELTA}{end}{end}data:[DONE]{end}{end}"),
            format!(
                "{end}{end}: comment{end}:{end}event: x{end}id: 7{end}retry: 10{end}data: {DELTA}{end}{end}{done}{end}"
            ),
            format!("data{end}data:{end}data: {end}{end}data: {DELTA}{end}{end}{done}"),
            format!("\u{feff}data: {DELTA}{end}{end}{done}{end}{end}"),
            format!("datax: {{{end}dat: {{{end}xdata: {{{end}data: {DELTA}{end}data: {done}x{end}{end}")
                .replace("data: data: [DONE]x", done),
            format!(
                "data: {{\"choices\":{end}data: [{{\"index\":0,{end}: c{end}data: \"delta\":{end}data:{{\"content\":\"hi\"}}}}]}}{end}{end}{done}{end}{end}"
            ),
            format!("data:   {DELTA}  \t{end}{end}{done}{end}{end}"),
        ] {
            assert_eq!(text(input.as_bytes()), "hi", "{input:?}");
        }
    }
}

#[test]
fn the_end_may_lack_its_blank_line_and_its_marker() {
    let last = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    for input in [
        format!("data: {DELTA}\n\ndata: {last}"),
        format!("data: {DELTA}\ndata: {last}\n"),
        format!("data: {DELTA}\n\ndata: [DONE]"),
    ] {
        assert_eq!(text(input.as_bytes()), "hi", "{input:?}");
    }
    let seen = stream(Dialect::OpenAiChat, [format!("data: {DELTA}\n\n").as_bytes()]);
    assert_eq!((seen.finish, &*seen.text), (Finish::Truncated, "hi"));
}

#[test]
fn objects_may_follow_one_another_in_lines_or_in_an_array() {
    let last = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    for input in [
        format!("{DELTA}\n{last}\n"),
        format!("{DELTA}\r\n\r\n{last}"),
        format!("{DELTA}{last}"),
        format!("[{DELTA},\n{last}]"),
        format!("\u{feff}\n[\n{DELTA}\n,\r\n{last}\n]\n"),
    ] {
        assert_eq!(text(input.as_bytes()), "hi", "{input:?}");
    }
}

#[test]
fn an_event_that_the_host_has_unwrapped_is_taken_with_its_type() {
    let (mut words, mut bytes) = ([0; 64], [0; 1024]);
    let memory = toolcore::scratch::Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(Dialect::OpenAiChat, ALL, memory).unwrap();
    stream.feed_event("", DELTA.as_bytes(), &mut |_| {}).unwrap();
    let choices = br#"[{"index":0,"delta":{"content":"!"},"finish_reason":"stop"}]"#;
    stream.feed_event("choices", choices, &mut |_| {}).unwrap();
    let (reply, _) = stream.finish().unwrap();
    assert_eq!(crate::support::Seen::of(&reply).text, "hi!");
}

#[test]
fn what_is_no_event_is_an_error_that_says_why() {
    for (input, reason) in [
        ("data: hello\n\n", Reason::ExpectedValue),
        ("data: null\n\n", Reason::ExpectedValue),
        ("data: [DONT]\n\n", Reason::ExpectedValue),
        ("data: {\"choices\":[\n\n", Reason::UnexpectedEnd),
        ("data: {\"choices\":[{\"delta\":{\"content\":\"a\ndata: b\"}}]}\n\n", Reason::ControlCharacter),
        ("data: {\"choices\":[{\"delta\":{\"content\":\"\\q\"}}]}\n\n", Reason::BadEscape),
        ("data: {\"choices\":[1,]}\n\n", Reason::ExpectedValue),
        ("data: {\"choices\" 1}\n\n", Reason::ExpectedValue),
        ("{\"choices\":tru}", Reason::BadLiteral),
    ] {
        match failed(Dialect::OpenAiChat, input) {
            StreamError::Reply(ReplyError::Json(error)) => assert_eq!(error.reason, reason, "{input:?}"),
            error => panic!("{input:?}: {error}"),
        }
    }
    let bad = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n";
    let (seen, _) = stream_in(Dialect::OpenAiChat, [&bad[..]], ALL, [64, 1024]);
    let Err(StreamError::Reply(ReplyError::Json(error))) = seen else { panic!("{seen:?}") };
    assert_eq!(error.reason, Reason::InvalidUtf8);
}

/// A page of a proxy, a line of plain text: the same error as for a whole reply.
#[test]
fn what_is_no_stream_is_an_error() {
    for text in [
        "<html>502</html>",
        "<html>\n<head><title>502: Bad Gateway</title></head>\n</html>\n",
        "Internal Server Error",
        "upstream error: data: x\n",
        "\n\nerror code: 1015\n",
        "dat: {}\n",
        "datab\n",
    ] {
        let StreamError::Reply(ReplyError::Json(error)) = failed(Dialect::OpenAiChat, text) else {
            panic!("{text:?}");
        };
        assert_eq!((error.reason, error.offset), (Reason::ExpectedValue, 0), "{text:?}");
        let mut words = [0; 16];
        let mut bytes = [0; 256];
        let scratch = toolcore::scratch::Scratch::new(&mut words, &mut bytes);
        let whole =
            toolcore::dialect::parse_reply(Dialect::OpenAiChat, text.trim().as_bytes(), &ALL.json, scratch);
        assert!(matches!(whole, Err(ReplyError::Json(_))), "{text:?}");
    }
    // Nothing came, or what came may be the beginning of one.
    for text in
        ["", "\n", "\u{feff}", "dat", "event", "id\n", ": ping\n\n", "retry: 5\n", "data", "\u{feff}event: x"]
    {
        let seen = stream(Dialect::OpenAiChat, text.as_bytes().chunks(1));
        assert_eq!((seen.finish, seen.calls.len()), (Finish::Truncated, 0), "{text:?}");
    }
}

/// What is not read of an event needs no memory, however large it is.
#[test]
fn what_the_dialect_does_not_read_is_passed_over() {
    let mut event = chunk(&json!({"content":"hi"}));
    event["usage"] = json!({"text": "x\"]}\\".repeat(10_000), "deep": [[[{}, "}", 1, null]]]});
    event["obfuscation"] = "\u{1F600}\"".repeat(1000).into();
    let events = [event, json!({"choices":[{"finish_reason":"stop","delta":{}}]})];
    let text = sse(&events, true);
    let mut random = Random(3);
    for _ in 0..20 {
        let (seen, _) = stream_in(Dialect::OpenAiChat, random.cut(text.as_bytes()), ALL, [64, 256]);
        assert_eq!(seen.unwrap().text, "hi");
    }
}

#[test]
fn a_whole_message_where_a_stream_was_asked_for_is_read() {
    let message = json!({"type":"message","role":"assistant","content":[{"type":"text","text":"hi"},
        {"type":"tool_use","id":"t","name":"f","input":{"x":1}}],"stop_reason":"tool_use"});
    let seen = stream(Dialect::Anthropic, [message.to_string().as_bytes()]);
    assert_eq!((&*seen.text, seen.called()), ("hi", vec![("f", r#"{"x":1}"#)]));
    let whole = json!({"choices":[{"message":{"role":"assistant","content":"hi","tool_calls":[
        {"id":"t","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
        "finish_reason":"tool_calls"}]});
    let seen = stream(Dialect::OpenAiChat, [whole.to_string().as_bytes()]);
    assert_eq!((&*seen.text, seen.called()), ("hi", vec![("f", r#"{"x":1}"#)]));
}

/// Events in one line are found in linear time: what is ahead is not looked at for each of them.
#[test]
fn many_events_in_one_line_take_linear_time() {
    let text = r#"{"message":{"content":""}}"#.repeat(60_000);
    let start = std::time::Instant::now();
    let seen = stream(Dialect::Ollama, [text.as_bytes()]);
    assert_eq!((seen.finish, seen.text.as_str()), (Finish::Truncated, ""));
    assert!(start.elapsed() < std::time::Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn an_end_marker_in_the_line_of_an_event_counts_in_any_chunking() {
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}[DONE]\n\n";
    for size in 1..=text.len() {
        let seen = stream(Dialect::OpenAiChat, text.as_bytes().chunks(size));
        assert_eq!((seen.finish, seen.text.as_str()), (Finish::Complete, "a"), "{size}");
    }
}
