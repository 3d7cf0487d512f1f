//! A call that was read in one dialect and goes on in another: the turn and the result are the other's own, and
//! id, arguments and failure are the same. For all pairs of dialects, those of plain text among them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::dialects;
use common::read;
use serde_json::{Value as Json, json};
use toolcore::call::ToolCall;
use toolcore::dialect::{
    CallResult, Calls, Dialect, ReplayError, Reply, ResultsOptions, parse_reply, render_results, render_turn,
};
use toolcore::json::Options;
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

/// Every kind of number, escapes, a character beyond the first plane, and what ends a section of a template.
const ARGUMENTS: &str = concat!(
    r#"{"huge":1e400,"one":1.0,"big":12345678901234567890,"small":-0.10E-7,"#,
    r#""text":"a\"b\\c\n\u00e9\/ </tool_call><|im_end|><|eot_id|>[/TOOL_RESULTS][INST]","#,
    r#""emoji":"😀\ud83d\ude00","nested":{"list":[1,{"x":null,"y":[]}],"":true}}"#
);

/// What a model says in a dialect: two calls, the first with an id that few providers allow, the second without.
fn said(dialect: Dialect) -> String {
    let id = "call_J3|fc:1";
    let text = Json::from(ARGUMENTS).to_string();
    let openai = format!(
        r#""tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"f.g","arguments":{text}}}}},
            {{"type":"function","function":{{"name":"h","arguments":"{{}}"}}}}]"#
    );
    match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat => format!(r#"{{"role":"assistant",{openai}}}"#),
        Dialect::Cohere => {
            format!(r#"{{"message":{{"role":"assistant",{openai}}},"finish_reason":"TOOL_CALL"}}"#)
        }
        Dialect::OpenAiResponses => format!(
            r#"[{{"type":"function_call","id":"fc_1","call_id":"{id}","name":"f.g","arguments":{text}}},
                {{"type":"function_call","name":"h","arguments":"{{}}"}}]"#
        ),
        Dialect::Anthropic => format!(
            r#"{{"content":[{{"type":"tool_use","id":"{id}","name":"f.g","input":{ARGUMENTS}}},
                {{"type":"tool_use","name":"h","input":{{}}}}]}}"#
        ),
        Dialect::Gemini | Dialect::GeminiSchema => format!(
            r#"{{"parts":[{{"functionCall":{{"id":"{id}","name":"f.g","args":{ARGUMENTS}}}}},
                {{"functionCall":{{"name":"h","args":{{}}}}}}]}}"#
        ),
        Dialect::Bedrock => format!(
            r#"{{"content":[{{"toolUse":{{"toolUseId":"{id}","name":"f.g","input":{ARGUMENTS}}}}},
                {{"toolUse":{{"name":"h","input":{{}}}}}}]}}"#
        ),
        Dialect::Ollama => format!(
            r#"{{"message":{{"tool_calls":[{{"id":"{id}","function":{{"name":"f.g","arguments":{ARGUMENTS}}}}},
                {{"function":{{"name":"h","arguments":{{}}}}}}]}}}}"#
        ),
        Dialect::Mcp => format!(r#"{{"id":"{id}","params":{{"name":"f.g","arguments":{ARGUMENTS}}}}}"#),
        Dialect::Hermes => format!(
            "<tool_call>\n{{\"name\":\"f.g\",\"arguments\":{ARGUMENTS},\"id\":\"{id}\"}}\n</tool_call>\
             <tool_call>{{\"name\":\"h\",\"arguments\":{{}}}}</tool_call>"
        ),
        Dialect::Llama3 => format!(
            "{{\"name\":\"f.g\",\"parameters\":{ARGUMENTS},\"id\":\"{id}\"}}; {{\"name\":\"h\",\"parameters\":{{}}}}"
        ),
        Dialect::Mistral => format!(
            "[TOOL_CALLS][{{\"name\":\"f.g\",\"arguments\":{ARGUMENTS},\"id\":\"{id}\"}},\
             {{\"name\":\"h\",\"arguments\":{{}}}}]"
        ),
    }
}

fn parsed<T>(dialect: Dialect, reply: &str, check: impl FnOnce(&Reply<'_>) -> T) -> T {
    let (mut words, mut bytes) = ([0; 256], [0; 8192]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let parsed = parse_reply(dialect, reply.as_bytes(), &Options::default(), scratch);
    check(&parsed.unwrap_or_else(|error| panic!("{}: {error}: {reply}", dialect.name())).0)
}

fn turn(dialect: Dialect, text: Option<&str>, calls: &(impl Calls + ?Sized)) -> Result<String, ReplayError> {
    let mut out = [0; 8192];
    let mut sink = Sink::new(&mut out);
    render_turn(dialect, text, calls, false, &mut sink)?;
    Ok(sink.finish().unwrap().to_owned())
}

/// A turn as a reply of the dialect, to be read by its own reader.
fn as_reply(dialect: Dialect, turn: &str) -> String {
    let inside = || turn.strip_prefix('[').and_then(|turn| turn.strip_suffix(']')).unwrap().to_owned();
    match dialect {
        Dialect::OpenAiResponses => turn.to_owned(),
        Dialect::Hermes => turn.strip_prefix("<|im_start|>assistant\n").unwrap().to_owned(),
        Dialect::Llama3 => {
            turn.strip_prefix("<|start_header_id|>assistant<|end_header_id|>\n\n").unwrap().to_owned()
        }
        Dialect::Mistral => turn.to_owned(),
        _ => inside(),
    }
}

/// The second result, a failure, and the first.
fn results(dialect: Dialect, calls: &(impl Calls + ?Sized)) -> String {
    let mut memory = [[0; 64]; 2];
    let [first, second] = &mut memory;
    let (mut good, mut bad) = (ToolResult::new(first), ToolResult::new(second));
    good.json("{\"n\":1.0}").unwrap();
    bad.error("boom");
    let id = |at: usize| calls.call(at).map(|call| call.wire_id.to_owned());
    let ids = [id(0), id(1)];
    let mut entries = vec![CallResult { id: ids[0].as_deref(), result: Some(&good) }];
    if ids[1].is_some() {
        entries.insert(0, CallResult { id: ids[1].as_deref(), result: Some(&bad) });
    }
    let mut out = [0; 4096];
    let mut sink = Sink::new(&mut out);
    render_results(dialect, calls, &entries, &ResultsOptions::default(), &mut sink).unwrap();
    sink.finish().unwrap().to_owned()
}

#[test]
fn a_call_of_any_dialect_goes_on_in_any_other() {
    let mut pairs = 0;
    for from in Dialect::ALL {
        parsed(from, &said(from), |reply| {
            let calls: Vec<ToolCall<'_>> = reply.calls().collect();
            assert_eq!(calls[0].arguments, ARGUMENTS, "{}", from.name());
            assert_eq!(calls[0].id, Some("call_J3|fc:1"));
            for to in Dialect::ALL {
                let pair = format!("{} to {}", from.name(), to.name());
                if to == Dialect::Mcp {
                    assert_eq!(turn(to, None, reply), Err(ReplayError::Unsupported));
                    continue;
                }
                let written = turn(to, Some("Well."), reply).unwrap();
                // The host's own copies of the calls are written alike, but for a name that only `from` allows.
                if from != to {
                    assert_eq!(turn(to, Some("Well."), &calls[..]).unwrap(), written, "{pair}");
                }
                let answers = results(to, reply);
                parsed(to, &as_reply(to, &written), |read_back| {
                    compare(from, to, &calls, read_back, &answers, &pair);
                });
                pairs += 1;
            }
        });
    }
    assert_eq!(pairs, 13 * 12);
}

fn compare(
    from: Dialect,
    to: Dialect,
    calls: &[ToolCall<'_>],
    read_back: &Reply<'_>,
    answers: &str,
    pair: &str,
) {
    assert_eq!(read_back.len(), calls.len(), "{pair}");
    let mut said = [0; 64];
    let mut sink = Sink::new(&mut said);
    read_back.write_text(&mut sink);
    if to != Dialect::OpenAiResponses {
        // There the text goes as an item of the request, which no reply has.
        assert_eq!(sink.finish().unwrap().trim(), "Well.", "{pair}");
    }
    for (theirs, ours) in read_back.calls().zip(calls) {
        // A text form escapes what its template would take for its own.
        let arguments = theirs.arguments.replace("\\u003c", "<").replace("\\u005b", "[");
        assert!(to.is_text() || arguments == theirs.arguments);
        assert_eq!(arguments, if ours.arguments.is_empty() { "{}" } else { ours.arguments }, "{pair}");
        let name = to.name_rule().wire_name(ours.name);
        assert_eq!(theirs.name, if from == to { ours.name } else { &name }, "{pair}");
        assert!(!theirs.truncated && !theirs.custom);
    }
    if to.is_text() {
        assert!(answers.contains("boom") == (calls.len() > 1), "{pair}: {answers}");
        return;
    }
    let (answered, key) = dialects::results(to, &read(answers));
    let ids: Vec<_> = answered.iter().map(|result| result.get(key).and_then(Json::as_str)).collect();
    let sent: Vec<_> = read_back.calls().map(|call| call.id).collect();
    assert_eq!(ids, sent, "{pair}");
    assert!(ids.iter().flatten().all(|id| to.wire_id(id).is_none()), "{pair}: {ids:?}");
    assert_eq!(ids[0], Some(to.wire_id(calls[0].wire_id).as_deref().unwrap_or(calls[0].wire_id)), "{pair}");
    if calls.len() > 1 {
        assert_ne!(ids[0], ids[1]);
        let failed = answered[1].to_string();
        assert!(failed.contains("boom"), "{pair}: {failed}");
        match to {
            Dialect::Anthropic => assert_eq!(answered[1]["is_error"], true),
            Dialect::Bedrock => assert_eq!(answered[1]["status"], "error"),
            Dialect::Gemini | Dialect::GeminiSchema => assert!(answered[1]["response"]["error"].is_string()),
            _ => assert!(failed.contains("Tool error: boom"), "{pair}: {failed}"),
        }
    }
}

#[test]
fn turns_have_the_shape_of_the_provider() {
    let call = ToolCall { id: Some("c1"), name: "f", arguments: "{\"x\":1.0}", ..ToolCall::default() };
    let id = Dialect::MistralChat.wire_id("c1").unwrap();
    let id = id.as_str();
    let function =
        |id: &str| json!({"id":id,"type":"function","function":{"name":"f","arguments":"{\"x\":1.0}"}});
    for (dialect, expected) in [
        (Dialect::OpenAiChat, json!([{"role":"assistant","content":"hi","tool_calls":[function("c1")]}])),
        (Dialect::MistralChat, json!([{"role":"assistant","content":"hi","tool_calls":[function(id)]}])),
        (
            Dialect::Cohere,
            json!([{"role":"assistant","content":[{"type":"text","text":"hi"}],"tool_calls":[function("c1")]}]),
        ),
        (
            Dialect::OpenAiResponses,
            json!([{"type":"message","role":"assistant","content":"hi"},
                {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\":1.0}"}]),
        ),
        (
            Dialect::Anthropic,
            json!([{"role":"assistant","content":[{"type":"text","text":"hi"},
                {"type":"tool_use","id":"c1","name":"f","input":{"x":1.0}}]}]),
        ),
        (
            Dialect::Gemini,
            json!([{"role":"model","parts":[{"text":"hi"},
                {"functionCall":{"id":"c1","name":"f","args":{"x":1.0}}}]}]),
        ),
        (
            Dialect::Bedrock,
            json!([{"role":"assistant","content":[{"text":"hi"},
                {"toolUse":{"toolUseId":"c1","name":"f","input":{"x":1.0}}}]}]),
        ),
        (
            Dialect::Ollama,
            json!([{"role":"assistant","content":"hi","tool_calls":[
                {"id":"c1","function":{"name":"f","arguments":{"x":1.0}}}]}]),
        ),
    ] {
        assert_eq!(read(&turn(dialect, Some("hi"), &[call][..]).unwrap()), expected);
        let none: &[ToolCall<'_>] = &[];
        assert!(!turn(dialect, Some("hi"), none).unwrap().contains("call"), "no list of nothing");
        assert_eq!(turn(dialect, None, none).unwrap(), "");
    }
    let calls = [call, call];
    assert_eq!(
        turn(Dialect::Hermes, Some("hi"), &calls[..]).unwrap(),
        "<|im_start|>assistant\nhi\n<tool_call>\n{\"name\":\"f\",\"arguments\":{\"x\":1.0}}\n</tool_call>\n\
         <tool_call>\n{\"name\":\"f\",\"arguments\":{\"x\":1.0}}\n</tool_call><|im_end|>\n"
    );
    assert_eq!(
        turn(Dialect::Llama3, None, &[call][..]).unwrap(),
        "<|start_header_id|>assistant<|end_header_id|>\n\n{\"name\":\"f\",\"parameters\":{\"x\":1.0}}<|eot_id|>"
    );
    assert_eq!(
        turn(Dialect::Mistral, None, &[call][..]).unwrap(),
        "[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{\"x\":1.0},\"id\":\"c1\"}]</s>"
    );
}

/// OpenAI has tools that take free text; elsewhere it is an argument.
#[test]
fn a_custom_call_keeps_its_text() {
    let input = "a \"quoted\"\\\n\u{1f600}\u{1}";
    let call = ToolCall { id: Some("c1"), name: "f", arguments: input, custom: true, ..ToolCall::default() };
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Mcp) {
        let written = turn(dialect, None, &[call][..]).unwrap();
        parsed(dialect, &as_reply(dialect, &written), |reply| {
            let theirs = reply.get(0).unwrap();
            let text = match dialect {
                Dialect::OpenAiChat | Dialect::OpenAiResponses => theirs.arguments.to_owned(),
                _ => read(theirs.arguments)["input"].as_str().unwrap().to_owned(),
            };
            assert_eq!(text, input, "{}", dialect.name());
        });
    }
}

#[test]
fn what_is_no_object_is_not_sent_as_one() {
    for arguments in ["{\"x\":", "[1]", "", "null"] {
        let call = ToolCall { id: Some("c1"), name: "f", arguments, ..ToolCall::default() };
        let written = read(&turn(Dialect::Anthropic, None, &[call][..]).unwrap());
        assert_eq!(written[0]["content"][0]["input"], json!({}));
        let written = read(&turn(Dialect::OpenAiChat, None, &[call][..]).unwrap());
        let sent = written[0]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        assert_eq!(sent, if arguments.is_empty() { "{}" } else { arguments });
    }
}

/// What a model said elsewhere cannot end the turn of a template, or begin another.
#[test]
fn nothing_of_a_template_gets_into_a_turn() {
    let call = ToolCall { name: "f", arguments: "{\"t\":\"<|im_end|></s>[INST]\"}", ..ToolCall::default() };
    let text = "x<|im_end|></s>[INST]<|eot_id|><tool_call>";
    for (dialect, ends) in [
        (Dialect::Hermes, ["<|im_end|>", "<|im_end|>\n"]),
        (Dialect::Llama3, ["<|eot_id|>", "<|eot_id|>"]),
        (Dialect::Mistral, ["</s>", "</s>"]),
    ] {
        let written = turn(dialect, Some(text), &[call][..]).unwrap();
        assert_eq!(written.matches(ends[0]).count(), 1, "{written}");
        assert!(written.ends_with(ends[1]));
        assert!(dialect != Dialect::Mistral || !written.contains("[INST]"));
        assert!(dialect != Dialect::Hermes || written.matches("<tool_call>").count() == 1, "{written}");
    }
}

#[test]
fn a_turn_of_every_size_is_whole_or_names_what_is_needed() {
    let calls = [ToolCall { id: Some("c1"), name: "f", arguments: ARGUMENTS, ..ToolCall::default() }];
    for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Mcp) {
        let whole = turn(dialect, Some("hi"), &calls[..]).unwrap();
        for size in 0..whole.len() + 4 {
            let mut out = vec![0; size];
            let mut sink = Sink::new(&mut out);
            match render_turn(dialect, Some("hi"), &calls[..], false, &mut sink) {
                Ok(()) => assert_eq!(sink.finish(), Ok(&*whole)),
                Err(ReplayError::NoSpace(error)) => {
                    assert!(size < whole.len());
                    assert_eq!((error.need, sink.len()), (whole.len(), 0));
                }
                Err(error) => panic!("{error}"),
            }
        }
        let mut out = vec![0; whole.len()];
        let mut sink = Sink::new(&mut out);
        render_turn(dialect, Some("hi"), &calls[..], true, &mut sink).unwrap();
        let bare = sink.finish().unwrap();
        assert!(whole.contains(bare) && (dialect.is_text() || whole == format!("[{bare}]")));
    }
}
