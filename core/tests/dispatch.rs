//! One call, one result: the texts that the model reads, deadlines, and scratch of any size.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::Cell;

use common::{
    Memory, boxed, dispatched, echo, open, read, says, try_answer, try_dispatch, with_schema, written,
};
use toolcore::answer::AnswerOptions;
use toolcore::call::ToolCall;
use toolcore::dialect::Dialect;
use toolcore::dispatch::{DispatchError, DispatchOptions, dispatch};
use toolcore::result::{OutcomeKind, Part, Usage};
use toolcore::scratch::Scratch;
use toolcore::time::{Duration, Instant, ManualClock};
use toolcore::tool::{Failure, ToolDefinition};

const ADD: &str = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
    "required":["a","b"],"additionalProperties":false}"#;

fn call<'a>(name: &'a str, arguments: &'a str) -> ToolCall<'a> {
    ToolCall { name, arguments, ..ToolCall::default() }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// semantics.md, "What the model sees", row by row.
#[test]
fn the_model_reads_the_texts_of_the_table() {
    let clock = ManualClock::new(Instant::default());
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&with_schema("add", ADD), echo()).unwrap();
    tools.add(&open("text"), says("21 C, \"sunny\"")).unwrap();
    let slow = ToolDefinition { timeout: Some(ms(100)), ..open("slow") };
    tools
        .add(
            &slow,
            boxed(|_, _| {
                clock.advance(ms(101));
                Ok(())
            }),
        )
        .unwrap();
    tools.add(&open("broken"), boxed(|_, _| Err(Failure::Message("sensor is offline")))).unwrap();
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    for (name, arguments, kind, text) in [
        ("text", "{}", OutcomeKind::Answered, "21 C, \"sunny\""),
        ("add", r#"{"a":1,"b":2}"#, OutcomeKind::Answered, r#"json {"a":1,"b":2}"#),
        ("slow", "{}", OutcomeKind::TimedOut, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s"),
        ("broken", "{}", OutcomeKind::ToolFailed, "Tool error: sensor is offline"),
        (
            "add",
            r#"{"a":"x"}"#,
            OutcomeKind::BadArguments,
            r#"Tool error: Invalid arguments for 'add': /a: expected integer, got string "x"; /b: required"#,
        ),
        (
            "nope",
            "{}",
            OutcomeKind::UnknownTool,
            "Tool error: Unknown tool: 'nope'. Available: add, text, slow, broken",
        ),
    ] {
        let result = try_dispatch(&tools, &call(name, arguments), &options).unwrap();
        assert_eq!(result, (kind, text.into()), "{name}");
    }
    let (kind, text) = dispatched(&tools, "add", r#"{"a":1,"#);
    assert_eq!(kind, OutcomeKind::BadArguments);
    assert!(text.starts_with("Tool error: Tool 'add' received malformed JSON arguments ("), "{text}");
    assert!(text.ends_with(r#"). Raw arguments: '{"a":1,'"#), "{text}");
    assert!(text.contains('7'), "the offset: {text}");
}

#[test]
fn a_turn_over_its_limit_answers_the_rest_without_running_it() {
    let ran = Cell::new(0);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools
        .add(
            &open("a"),
            boxed(|_, result| {
                ran.set(ran.get() + 1);
                Ok(result.text("ok")?)
            }),
        )
        .unwrap();
    let reply = r#"{"content":null,"tool_calls":[
        {"id":"1","type":"function","function":{"name":"a","arguments":"{}"}},
        {"id":"2","type":"function","function":{"name":"a","arguments":"{}"}},
        {"id":"3","type":"function","function":{"name":"nope","arguments":"{"}}]}"#;
    for (max, texts) in [(0, [N0, N0, N0]), (1, ["ok", N1, N1]), (2, ["ok", "ok", N2])] {
        ran.set(0);
        let options = AnswerOptions { max_calls: Some(max), ..AnswerOptions::default() };
        let answered = try_answer(&tools, Dialect::OpenAiChat, reply, &options).unwrap();
        let messages = answered.messages();
        let contents: Vec<_> = (0..3).map(|at| messages[at]["content"].as_str().unwrap()).collect();
        assert_eq!(contents, texts);
        assert_eq!(answered.kinds()[2], OutcomeKind::OverLimit);
        let outcome = answered.outcome;
        assert_eq!((outcome.calls, outcome.answered, outcome.failed, ran.get()), (3, max, 3 - max, max));
    }
}
const N0: &str = "Not executed: at most 0 tool call(s) per turn allowed.";
const N1: &str = "Not executed: at most 1 tool call(s) per turn allowed.";
const N2: &str = "Not executed: at most 2 tool call(s) per turn allowed.";

#[test]
fn an_empty_registry_and_a_large_one_say_what_is_available() {
    let mut memory = Memory::new(400, 64 * 1024);
    let mut tools = memory.registry();
    let (kind, text) = dispatched(&tools, "nope", "{}");
    assert_eq!(
        (kind, text.as_str()),
        (OutcomeKind::UnknownTool, "Tool error: Unknown tool: 'nope'. Available: none")
    );
    let names: Vec<String> = (0..400).map(|n| format!("tool_{n:03}")).collect();
    for name in &names {
        tools.add(&open(name), echo()).unwrap();
    }
    let (_, text) = dispatched(&tools, "nope", "{}");
    assert!(text.len() < 1200, "{}", text.len());
    let list = text.strip_prefix("Tool error: Unknown tool: 'nope'. Available: ").unwrap();
    let listed = list.split(", ").filter(|name| names.iter().any(|known| known == name)).count();
    assert!(list.ends_with(&format!(", and {} more", 400 - listed)), "{list}");
}

/// Bad names and raw arguments are shown, and never more than a bounded part of them.
#[test]
fn what_the_model_wrote_is_repeated_within_bounds() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("a"), echo()).unwrap();
    let long = "\u{e9}".repeat(5000);
    let (_, text) = dispatched(&tools, &long, "{}");
    assert!(text.len() < 1000 && text.contains("\u{e9}\u{e9}") && text.ends_with("Available: a"), "{text}");
    let (_, text) = dispatched(&tools, "a", &format!("{{\"a\":{long}"));
    assert!(text.len() < 1000 && text.contains("Raw arguments: '{\"a\":\u{e9}"), "{text}");
    let many: Vec<String> = (0..300).map(|n| format!("\"p{n}\":{{}}")).collect();
    let schema = format!(
        "{{\"type\":\"object\",\"properties\":{{{}}}}}",
        (0..300).map(|n| format!("\"p{n}\":{{\"type\":\"string\"}}")).collect::<Vec<_>>().join(",")
    );
    tools.add(&with_schema("many", &schema), echo()).unwrap();
    let (kind, text) = dispatched(&tools, "many", &format!("{{{}}}", many.join(",")));
    assert_eq!(kind, OutcomeKind::BadArguments);
    assert!(text.len() < 2000 && text.contains("/p0: expected string, got object"), "{text}");
    assert!(text.contains("more"), "how many are not shown: {text}");
}

#[test]
fn no_arguments_at_all_mean_an_empty_object_and_anything_else_must_be_one() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("now"), echo()).unwrap();
    tools.add(&with_schema("anything", "true"), echo()).unwrap();
    tools.add(&with_schema("add", ADD), echo()).unwrap();
    for arguments in ["", " ", "\n", " \t\r\n", "null", " null ", "{}", " { } "] {
        for name in ["now", "anything"] {
            let (kind, text) = dispatched(&tools, name, arguments);
            assert_eq!(
                (kind, text.replace(' ', "")),
                (OutcomeKind::Answered, "json{}".into()),
                "{arguments:?}"
            );
        }
        let (kind, text) = dispatched(&tools, "add", arguments);
        assert_eq!(kind, OutcomeKind::BadArguments);
        assert_eq!(
            text, "Tool error: Invalid arguments for 'add': /a: required; /b: required",
            "{arguments:?}"
        );
    }
    for (arguments, got) in
        [("[]", "array"), ("1", "number"), ("\"x\"", "string"), ("true", "boolean"), ("\"{}\"", "string")]
    {
        for name in ["now", "anything"] {
            let (kind, text) = dispatched(&tools, name, arguments);
            let expected = format!("Tool error: Invalid arguments for '{name}': expected object, got {got}");
            assert_eq!(kind, OutcomeKind::BadArguments, "{arguments}");
            assert!(text.starts_with(&expected), "{arguments}: {text}");
        }
    }
}

#[test]
fn a_failure_is_never_empty() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for message in ["", " ", "\n\t", "\u{a0}"] {
        tools.add(&open("returns"), boxed(move |_, _| Err(Failure::Message(message)))).unwrap();
        tools
            .add(
                &open("says"),
                boxed(move |_, result| {
                    result.text("half an answer")?;
                    result.error(message);
                    Ok(())
                }),
            )
            .unwrap();
        for name in ["returns", "says"] {
            let (kind, text) = dispatched(&tools, name, "{}");
            assert_eq!(kind, OutcomeKind::ToolFailed, "{message:?}");
            let reason = text.strip_prefix("Tool error: ").unwrap();
            assert!(reason.trim().len() > 3 && !reason.contains("None"), "{message:?}: {text}");
            assert!(tools.remove(name));
        }
    }
}

#[test]
fn a_failure_that_the_handler_told_already_is_not_overwritten() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools
        .add(
            &open("a"),
            boxed(|_, result| {
                result.error("valve 3 is stuck");
                Err(Failure::Message("failed"))
            }),
        )
        .unwrap();
    assert_eq!(
        dispatched(&tools, "a", "{}"),
        (OutcomeKind::ToolFailed, "Tool error: valve 3 is stuck".into())
    );
}

/// Which timeout applies: the tool's, else the registry's, else the call's, even when it is the looser one.
#[test]
fn a_truncated_call_is_never_executed() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("a"), boxed(|_, _| panic!("it ran"))).unwrap();
    for arguments in ["{}", "{\"path\":\"/", ""] {
        let call = ToolCall { truncated: true, ..call("a", arguments) };
        for lenient in [false, true] {
            let options = DispatchOptions { lenient, ..DispatchOptions::default() };
            let (kind, text) = try_dispatch(&tools, &call, &options).unwrap();
            assert_eq!(kind, OutcomeKind::BadArguments);
            assert!(
                text.starts_with("Tool error: ") && text.contains("'a'") && text.contains("not executed"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_result_over_its_limit_is_cut_at_a_character_and_says_so() {
    let (ascii, wide) = ("x".repeat(9310), "\u{1f600}".repeat(1000));
    let json = format!("[{}1]", "1,".repeat(400));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("ascii"), says(&ascii)).unwrap();
    tools.add(&open("wide"), says(&wide)).unwrap();
    tools.add(&open("json"), boxed(|_, result| Ok(result.json(&json)?))).unwrap();
    let two = boxed(|_, result| {
        result.text("12345678")?;
        Ok(result.text("abcdefgh")?)
    });
    tools.add(&open("two"), two).unwrap();
    let content = |name: &str, limit| {
        let reply = format!(r#"{{"content":[{{"type":"tool_use","id":"t","name":"{name}","input":{{}}}}]}}"#);
        let options = AnswerOptions { result_limit: Some(limit), ..AnswerOptions::default() };
        try_answer(&tools, Dialect::Anthropic, &reply, &options).unwrap().messages()[0]["content"][0]["content"].clone()
    };
    assert_eq!(
        content("ascii", 1204),
        format!("{}\u{2026} [truncated, 1,204 of 9,310 bytes]", &ascii[..1204])
    );
    assert_eq!(
        content("ascii", 9309),
        format!("{}\u{2026} [truncated, 9,309 of 9,310 bytes]", &ascii[..9309])
    );
    assert_eq!(content("ascii", 9310), ascii);
    assert_eq!(content("ascii", 0), "\u{2026} [truncated, 0 of 9,310 bytes]");
    for limit in [8, 9, 10, 11] {
        assert_eq!(content("wide", limit), "\u{1f600}\u{1f600}\u{2026} [truncated, 8 of 4,000 bytes]");
    }
    assert_eq!(content("json", 4), "[1,1\u{2026} [truncated, 4 of 803 bytes]");
    // The limit is that of the whole result.
    let parts = content("two", 10);
    assert_eq!(parts[0]["text"], "12345678");
    assert_eq!(parts[1]["text"], "ab\u{2026} [truncated, 2 of 8 bytes]");
    assert_eq!(parts[2], serde_json::Value::Null);
}

#[test]
fn a_result_that_outgrows_the_scratch_is_cut_and_says_how_long_it_was() {
    let wide = "\u{e9}".repeat(1000);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("a"), says(&wide)).unwrap();
    let (mut words, mut bytes) = ([0; 64], [0; 401]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let result = dispatch(&tools, &call("a", "{}"), &DispatchOptions::default(), scratch).unwrap();
    match result.parts().next() {
        Some(Part::Text { text, total: 2000 }) => {
            assert!(text.len() >= 256 && text.len() % 2 == 0 && wide.starts_with(text), "{}", text.len());
        }
        part => panic!("{part:?}"),
    }
}

#[test]
fn a_result_may_have_several_parts_and_say_what_it_cost() {
    let usage = Usage {
        input_tokens: 1,
        output_tokens: 2,
        cached_tokens: 3,
        thinking_tokens: 4,
        cost_micros: 5,
        latency: ms(6),
    };
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|_, result| {
        result.text("a picture")?;
        result.image("image/png", &[0, 0xFF])?;
        result.audio("audio/wav", b"RIFF")?;
        result.link("manual", "https://example.com/m.pdf")?;
        result.json("[1, 2]")?;
        result.add_usage(usage);
        result.add_usage(usage);
        Ok(())
    });
    tools.add(&open("a"), run).unwrap();
    let (mut words, mut bytes) = ([0; 64], [0; 512]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let result = dispatch(&tools, &call("a", "{}"), &DispatchOptions::default(), scratch).unwrap();
    let parts: Vec<_> = result.parts().collect();
    assert_eq!(
        parts,
        [
            Part::Text { text: "a picture", total: 9 },
            Part::Image { media_type: "image/png", data: &[0, 0xFF] },
            Part::Audio { media_type: "audio/wav", data: b"RIFF" },
            Part::Link { name: "manual", uri: "https://example.com/m.pdf" },
            Part::Json("[1, 2]"),
        ]
    );
    let twice = Usage {
        input_tokens: 2,
        output_tokens: 4,
        cached_tokens: 6,
        thinking_tokens: 8,
        cost_micros: 10,
        latency: ms(12),
    };
    assert_eq!(result.usage(), twice);
    let reply = r#"{"name":"a","arguments":{}}"#;
    assert_eq!(
        try_answer(&tools, Dialect::Mcp, reply, &AnswerOptions::default()).unwrap().outcome.usage,
        twice
    );
}

/// Scratch that is too small is a typed error before the handler runs, and what the error names is enough
/// of the thing that was missing; where it runs, there is room for its result as documented.
#[test]
fn scratch_of_every_size_gives_an_error_or_an_ordinary_result() {
    let deep = format!("{}1{}", r#"{"a":["#.repeat(6), "]}".repeat(6));
    let fenced = format!("```json\n{:?}\n```", deep);
    let schema = r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":["object","number"],"properties":{"a":
        {"type":"array","items":{"$ref":"#/$defs/a"}}}}}}"##;
    let ran = Cell::new(0);
    let text = "r".repeat(64);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|_, result| {
        ran.set(ran.get() + 1);
        Ok(result.text(&text)?)
    });
    tools.add(&with_schema("deep", schema), run).unwrap();
    tools.add(&with_schema("add", ADD), boxed(|_, _| panic!("it ran"))).unwrap();
    let options = DispatchOptions { lenient: true, ..DispatchOptions::default() };
    for (name, arguments) in [
        ("deep", deep.as_str()),
        ("deep", fenced.as_str()),
        ("deep", r#"{"b":"\n"}"#),
        ("add", "{}"),
        ("add", "{"),
        ("nope", "{}"),
    ] {
        let mut enough = (0, 0);
        let sizes = (0..128).map(|words| (words, 4096)).chain((0..512).map(|bytes| (256, bytes)));
        for (words, bytes) in sizes {
            ran.set(0);
            let (mut word_memory, mut byte_memory) = (vec![0; words], vec![0; bytes]);
            let scratch = Scratch::new(&mut word_memory, &mut byte_memory);
            match dispatch(&tools, &call(name, arguments), &options, scratch) {
                Ok(result) if name == "deep" => {
                    assert_eq!((ran.get(), result.kind()), (1, OutcomeKind::Answered));
                    assert_eq!(written(&result), text, "{arguments}: {words} words and {bytes} bytes");
                    enough = (words, bytes);
                }
                Ok(result) => {
                    assert!(result.failed() && !written(&result).is_empty());
                    assert!(
                        written(&result).len() >= 20,
                        "{words} words and {bytes} bytes: {}",
                        written(&result)
                    );
                }
                Err(DispatchError::NoSpace { words: need_words, bytes: need_bytes }) => {
                    assert_eq!(ran.get(), 0, "{words} words and {bytes} bytes");
                    assert!(
                        need_words > words || need_bytes > bytes,
                        "{words}, {bytes}: {need_words}, {need_bytes}"
                    );
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(name != "deep" || enough != (0, 0));
        // Giving what the error names, over and over, ends soon.
        let (mut words, mut bytes, mut rounds) = (0, 0, 0);
        loop {
            let (mut word_memory, mut byte_memory) = (vec![0; words], vec![0; bytes]);
            let scratch = Scratch::new(&mut word_memory, &mut byte_memory);
            match dispatch(&tools, &call(name, arguments), &options, scratch) {
                Err(DispatchError::NoSpace { words: more_words, bytes: more_bytes }) => {
                    (words, bytes, rounds) = (words.max(more_words), bytes.max(more_bytes), rounds + 1);
                }
                other => break assert_eq!(other.unwrap().failed(), name != "deep"),
            }
            assert!(rounds <= 5, "{words} words and {bytes} bytes");
        }
    }
}

/// Repairs are made only on request, are told, and touch nothing that was valid.
#[test]
fn nearly_json_is_repaired_only_when_asked_for() {
    use toolcore::json::Repairs;
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), echo()).unwrap();
    let city = r#"{"city":"Oslo"}"#;
    let fence = format!("```json\n{city}\n```");
    let twice = format!("{:?}", format!("{city:?}"));
    for (arguments, repair) in [
        (fence.as_str(), Repairs::FENCE),
        (r#""{\"city\":\"Oslo\"}""#, Repairs::DOUBLE_ENCODED),
        (twice.as_str(), Repairs::DOUBLE_ENCODED),
        (r#"{"city":"Oslo",}"#, Repairs::TRAILING_COMMA),
        (r#"{"city":"Oslo"} Hope this helps!"#, Repairs::TRAILING_TEXT),
        (city, Repairs::default()),
    ] {
        assert_eq!(dispatched(&tools, "f", arguments).0 == OutcomeKind::Answered, repair.is_empty());
        let (mut words, mut bytes) = ([0; 64], [0; 512]);
        let options = DispatchOptions { lenient: true, ..DispatchOptions::default() };
        let scratch = Scratch::new(&mut words, &mut bytes);
        let result = dispatch(&tools, &call("f", arguments), &options, scratch).unwrap();
        assert_eq!(
            (result.kind(), written(&result)),
            (OutcomeKind::Answered, format!("json {city}")),
            "{arguments}"
        );
        assert_eq!(result.repairs(), repair, "{arguments}");
    }
    // What stops early is never completed, and what is not nearly JSON stays an error.
    for arguments in ["{\"city\":\"Os", "```json\n{\"city\":", "{city:1}", "not JSON", "[1]", "\"text\""] {
        let options = DispatchOptions { lenient: true, ..DispatchOptions::default() };
        let strict = dispatched(&tools, "f", arguments);
        assert_eq!(try_dispatch(&tools, &call("f", arguments), &options), Ok(strict.clone()), "{arguments}");
        assert_eq!(strict.0, OutcomeKind::BadArguments);
    }
}

#[test]
fn what_is_not_run_is_told_without_any_scratch() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("a"), boxed(|_, _| panic!("it ran"))).unwrap();
    let reply = r#"{"content":[{"type":"tool_use","id":"t","name":"a","input":{}}]}"#;
    // The record of the call, and nothing beside it.
    let (mut words, mut out) = ([0; 10], [0; 512]);
    let mut sink = toolcore::sink::Sink::new(&mut out);
    let options = AnswerOptions { max_calls: Some(0), ..AnswerOptions::default() };
    let scratch = Scratch::new(&mut words, &mut []);
    let dialect = Dialect::Anthropic;
    toolcore::answer::answer(&tools, dialect, reply.as_bytes(), &options, scratch, &mut sink, &mut |_, _| {})
        .unwrap();
    assert_eq!(read(sink.finish().unwrap())[0]["content"][0]["content"], N0);
}

#[test]
fn a_call_by_hand_needs_no_reply() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|call, result| {
        assert_eq!((call.id, call.name), (Some("id-1"), "a"));
        Ok(result.json(call.args.value().raw())?)
    });
    tools.add(&open("a"), run).unwrap();
    let call = ToolCall { id: Some("id-1"), ..call("a", r#" {"b" : [1]} "#) };
    let (kind, text) = try_dispatch(&tools, &call, &DispatchOptions::default()).unwrap();
    assert_eq!(kind, OutcomeKind::Answered);
    assert_eq!(read(text.strip_prefix("json ").unwrap()), serde_json::json!({"b":[1]}));
}
