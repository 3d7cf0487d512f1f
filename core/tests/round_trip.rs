//! Calls that one provider's model made, answered in the words of every other: who is answered, the exact bytes
//! of the arguments, and failures stay.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::dialects::results;
use common::{Memory, boxed, echo, open, read};
use toolcore::call::ToolCall;
use toolcore::dialect::{CallResult, Dialect, ResultsOptions, parse_reply, render_results};
use toolcore::dispatch::{DispatchOptions, dispatch};
use toolcore::json::Options;
use toolcore::result::OutcomeKind;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;

/// Numbers that a float would not keep, and text in every form.
const ARGUMENTS: &str =
    r#"{"n":[1e400,1.0,-0,12345678901234567890,0.1e-7],"s":"Troms\u00f8 \ud83d\ude00 ø\n\"\\/"}"#;

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A reply of one call of each name, and the ids of the calls where the wire has any.
fn reply(dialect: Dialect, names: &[&str]) -> (String, Vec<Option<String>>) {
    let ids: Vec<String> = (0..names.len()).map(|at| format!("call.{at} é")).collect();
    let list = |separator: &str, call: &dyn Fn(&str, &str) -> String| -> String {
        let calls: Vec<String> = names.iter().zip(&ids).map(|(name, id)| call(name, &quoted(id))).collect();
        calls.join(separator)
    };
    let text = quoted(ARGUMENTS);
    let openai = |name: &str, id: &str| {
        format!(r#"{{"id":{id},"type":"function","function":{{"name":"{name}","arguments":{text}}}}}"#)
    };
    let reply = match dialect {
        Dialect::OpenAiChat | Dialect::MistralChat => {
            format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, list(",", &openai))
        }
        Dialect::OpenAiResponses => {
            let call = |name: &str, id: &str| {
                format!(
                    r#"{{"type":"function_call","id":"fc","call_id":{id},"name":"{name}","arguments":{text}}}"#
                )
            };
            format!(r#"{{"output":[{}]}}"#, list(",", &call))
        }
        Dialect::Anthropic => {
            let call = |name: &str, id: &str| {
                format!(r#"{{"type":"tool_use","id":{id},"name":"{name}","input":{ARGUMENTS}}}"#)
            };
            format!(r#"{{"content":[{}]}}"#, list(",", &call))
        }
        Dialect::Gemini | Dialect::GeminiSchema => {
            let call = |name: &str, id: &str| {
                format!(r#"{{"functionCall":{{"id":{id},"name":"{name}","args":{ARGUMENTS}}}}}"#)
            };
            format!(r#"{{"candidates":[{{"content":{{"role":"model","parts":[{}]}}}}]}}"#, list(",", &call))
        }
        Dialect::Bedrock => {
            let call = |name: &str, id: &str| {
                format!(r#"{{"toolUse":{{"toolUseId":{id},"name":"{name}","input":{ARGUMENTS}}}}}"#)
            };
            format!(r#"{{"output":{{"message":{{"role":"assistant","content":[{}]}}}}}}"#, list(",", &call))
        }
        Dialect::Ollama => {
            let call = |name: &str, id: &str| {
                format!(r#"{{"id":{id},"function":{{"name":"{name}","arguments":{ARGUMENTS}}}}}"#)
            };
            format!(
                r#"{{"message":{{"role":"assistant","content":"","tool_calls":[{}]}}}}"#,
                list(",", &call)
            )
        }
        Dialect::Cohere => {
            format!(r#"{{"message":{{"role":"assistant","tool_calls":[{}]}}}}"#, list(",", &openai))
        }
        Dialect::Mcp => {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{ARGUMENTS}}}}}"#,
                names[0]
            )
        }
        Dialect::Hermes => list("\n", &|name, _| {
            format!("<tool_call>\n{{\"name\":\"{name}\",\"arguments\":{ARGUMENTS}}}\n</tool_call>")
        }),
        Dialect::Llama3 => list("; ", &|name, _| format!(r#"{{"name":"{name}","parameters":{ARGUMENTS}}}"#)),
        Dialect::Mistral => list("", &|name, id| {
            let id = id.trim_matches('"');
            format!("[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{ARGUMENTS}")
        }),
    };
    if dialect == Dialect::Mcp {
        return (reply, vec![Some("1".into())]);
    }
    let has_ids = !matches!(dialect, Dialect::Hermes | Dialect::Llama3);
    (reply, ids.into_iter().map(|id| has_ids.then_some(id)).collect())
}

/// Whether the message of a failed call says so: by the provider's flag, or else by its text.
fn says_failure(dialect: Dialect, result: &str) -> bool {
    let flag = match dialect {
        Dialect::Anthropic => r#""is_error":true"#,
        Dialect::Bedrock => r#""status":"error""#,
        Dialect::Gemini | Dialect::GeminiSchema => r#""response":{"error":"#,
        Dialect::Mcp => r#""isError":true"#,
        _ => "Tool error: ",
    };
    result.contains(flag) && result.contains("no lamp")
}

#[test]
fn a_call_of_any_provider_is_answered_in_the_words_of_any_other() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("echo"), echo()).unwrap();
    let fails = boxed(|_, result| {
        result.error("no lamp");
        Ok(())
    });
    tools.add(&open("fails"), fails).unwrap();
    let mut pairs = 0;
    for from in Dialect::ALL {
        let names: &[&[&str]] = match from {
            Dialect::Mcp => &[&["echo"], &["fails"]],
            _ => &[&["echo", "fails", "echo"], &["echo"], &["fails"]],
        };
        for names in names {
            let (text, ids) = reply(from, names);
            let (mut words, mut bytes) = (vec![0; 256], vec![0; 4096]);
            let scratch = Scratch::new(&mut words, &mut bytes);
            let (reply, _) = parse_reply(from, text.as_bytes(), &Options::default(), scratch).unwrap();
            let calls: Vec<ToolCall<'_>> = reply.calls().collect();
            assert_eq!(calls.iter().map(|call| call.name).collect::<Vec<_>>(), *names, "{text}");
            assert!(calls.iter().all(|call| call.arguments == ARGUMENTS), "{calls:?}");
            assert_eq!(calls.iter().map(|call| call.id.map(String::from)).collect::<Vec<_>>(), ids);
            for to in Dialect::ALL {
                if to == Dialect::Mcp && names.len() > 1 {
                    continue;
                }
                let mut memories: Vec<_> = names.iter().map(|_| (vec![0; 256], vec![0; 4096])).collect();
                let results: Vec<_> = calls
                    .iter()
                    .zip(&mut memories)
                    .map(|(call, (words, bytes))| {
                        let options = DispatchOptions::default();
                        dispatch(&tools, call, &options, Scratch::new(words, bytes)).unwrap()
                    })
                    .collect();
                let mut entries: Vec<_> = calls
                    .iter()
                    .zip(&results)
                    .map(|(call, result)| CallResult { id: call.id, result: Some(result) })
                    .collect();
                // Those with ids come in another order than their calls.
                if calls[0].id.is_some() {
                    entries.reverse();
                }
                let mut out = vec![0; 16 * 1024];
                let mut sink = Sink::new(&mut out);
                render_results(to, &calls[..], &entries, &ResultsOptions::default(), &mut sink).unwrap();
                let written = sink.finish().unwrap();
                holds(
                    from,
                    to,
                    &calls,
                    &results.iter().map(|result| result.kind()).collect::<Vec<_>>(),
                    written,
                );
                pairs += usize::from(names.len() == 1);
            }
        }
    }
    // One call that is answered and one that fails, for each pair.
    assert_eq!(pairs, 2 * Dialect::ALL.len() * Dialect::ALL.len());
}

/// Holds what was written to the calls: their order, their ids, the bytes of the arguments, the failures.
fn holds(from: Dialect, to: Dialect, calls: &[ToolCall<'_>], kinds: &[OutcomeKind], written: &str) {
    let why = format!("{} to {}: {written}", from.name(), to.name());
    let sent = [ARGUMENTS.to_owned(), quoted(ARGUMENTS).trim_matches('"').to_owned()];
    let echoes = kinds.iter().filter(|kind| **kind == OutcomeKind::Answered).count();
    let found: usize = sent.iter().map(|sent| written.matches(sent.as_str()).count()).max().unwrap();
    // MCP holds structured content beside its text.
    assert!(found == echoes, "{found} of {echoes}: {why}");
    if echoes < kinds.len() {
        assert!(says_failure(to, written), "{why}");
    } else {
        assert!(!says_failure(to, written) && !written.contains("error"), "{why}");
    }
    if to.is_text() || to == Dialect::Mcp {
        return;
    }
    // A number that serde_json does not take stands for nothing else here.
    let (messages, key) = results(to, &read(&written.replace("1e400", "1")));
    assert_eq!(messages.len(), calls.len(), "{why}");
    let mut seen = Vec::new();
    for (call, message) in calls.iter().zip(&messages) {
        let id = message[key].as_str();
        match call.id {
            Some(_) => {
                // What went out in the one is what the other starts from.
                let mapped = to.wire_id(call.wire_id);
                assert_eq!(id, Some(mapped.as_deref().unwrap_or(call.wire_id)), "{why}");
            }
            None if matches!(to, Dialect::Gemini | Dialect::GeminiSchema | Dialect::Ollama) => {}
            None => assert!(id.is_some_and(|id| !id.is_empty() && !seen.contains(&id.to_owned())), "{why}"),
        }
        seen.extend(id.map(String::from));
    }
}
