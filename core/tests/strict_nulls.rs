//! OpenAI's strict mode has optional properties sent as required ones that may be null. The nulls that come of
//! it are taken out again before the arguments are checked (semantics.md, "Strict").
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::RefCell;

use common::{Memory, answered, echo, read, rendered_json, try_answer, try_dispatch, with_schema};
use serde_json::{Value as Json, json};
use toolcore::answer::AnswerOptions;
use toolcore::call::ToolCall;
use toolcore::dialect::{Dialect, ToolsOptions};
use toolcore::dispatch::{DispatchError, DispatchOptions, dispatch};
use toolcore::result::OutcomeKind;
use toolcore::schema::{CheckOptions, Rule};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::tool::ToolDefinition;

/// `unit` may be absent and not null; `note` may be both; `city` neither.
const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["c","f"]},
    "note":{"type":["string","null"]},"at":{"type":"object","properties":{"hour":{"type":"integer"},"day":{"type":"integer"}},
    "required":["day"],"additionalProperties":false},"days":{"type":"array","items":{"type":["integer","null"]}}},
    "required":["city"],"additionalProperties":false}"#;

const NULLABLE: [Dialect; 3] = [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::MistralChat];

fn strict() -> ToolDefinition<'static> {
    ToolDefinition { strict: true, ..with_schema("f", SCHEMA) }
}

fn reply(dialect: Dialect, arguments: &str) -> String {
    match dialect {
        Dialect::OpenAiResponses => {
            json!({"output":[{"type":"function_call","call_id":"c1","name":"f","arguments":arguments}]})
        }
        Dialect::Anthropic => {
            json!({"content":[{"type":"tool_use","id":"c1","name":"f","input":read(arguments)}]})
        }
        _ => json!({"choices":[{"message":{"content":null,"tool_calls":[
            {"id":"c1","type":"function","function":{"name":"f","arguments":arguments}}]}}]}),
    }
    .to_string()
}

/// What the callback got, or what the model reads in its place.
fn got(tool: &ToolDefinition<'_>, dialect: Dialect, arguments: &str) -> Result<Json, String> {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(tool, echo()).unwrap();
    let answered = answered(&tools, dialect, &reply(dialect, arguments));
    let message = &answered.messages()[0];
    let content = if dialect == Dialect::Anthropic { &message["content"][0] } else { message };
    let text = content.get("output").or(content.get("content")).and_then(Json::as_str).unwrap();
    if answered.kinds() == [OutcomeKind::Answered] { Ok(read(text)) } else { Err(text.into()) }
}

#[test]
fn a_null_that_strict_mode_asked_for_is_an_absent_member() {
    for dialect in NULLABLE {
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        tools.add(&strict(), echo()).unwrap();
        let sent = rendered_json(&tools, dialect, &ToolsOptions::default()).to_string();
        assert!(sent.contains(r#""required":["city","unit","note","at","days"]"#), "{sent}");
        for (arguments, expected) in [
            (
                r#"{"city":"Oslo","unit":null,"note":"x","at":null,"days":null}"#,
                json!({"city":"Oslo","note":"x"}),
            ),
            (r#"{"unit":null,"city":"Oslo"}"#, json!({"city":"Oslo"})),
            ("{\"unit\" : null ,\n\"city\":\"null\"}", json!({"city":"null"})),
            (r#"{"city":"Oslo","at":{"hour":null,"day":1}}"#, json!({"city":"Oslo","at":{"day":1}})),
        ] {
            assert_eq!(got(&strict(), dialect, arguments), Ok(expected), "{}: {arguments}", dialect.name());
        }
    }
}

#[test]
fn a_null_that_the_schema_allows_stays() {
    for arguments in [
        json!({"city":"Oslo","note":null}),
        json!({"city":"Oslo","note":null,"days":[1,null]}),
        json!({"city":"null"}),
    ] {
        assert_eq!(got(&strict(), Dialect::OpenAiChat, &arguments.to_string()), Ok(arguments));
    }
    let both = r#"{"city":"Oslo","note":null,"unit":null,"days":[null]}"#;
    assert_eq!(
        got(&strict(), Dialect::OpenAiChat, both),
        Ok(json!({"city":"Oslo","note":null,"days":[null]}))
    );
}

#[test]
fn nothing_but_nulls_for_optional_members_is_changed() {
    let dialect = Dialect::OpenAiChat;
    for (arguments, problem) in [
        (r#"{"city":null,"unit":null}"#, "/city: expected string, got null"),
        (r#"{"city":"Oslo","unit":null,"at":{"day":null}}"#, "/at/day: expected integer, got null"),
        (r#"{"city":"Oslo","unit":null,"at":{"day":"1"}}"#, r#"/at/day: expected integer, got string "1""#),
        (r#"{"city":"Oslo","unit":"null"}"#, r#"/unit: expected one of "c", "f", got "null""#),
    ] {
        let told = got(&strict(), dialect, arguments).unwrap_err();
        assert_eq!(told, format!("Tool error: Invalid arguments for 'f': {problem}"));
    }
    // A default stays the host's affair: only coercion fills it in.
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"integer","default":3},"b":{"type":"integer"}}}"#;
    let tool = ToolDefinition { strict: true, ..with_schema("f", schema) };
    assert_eq!(got(&tool, dialect, r#"{"a":null,"b":1}"#), Ok(json!({"b":1})));
}

#[test]
fn without_strict_mode_or_where_it_has_no_such_nulls_they_are_refused_as_before() {
    let arguments = r#"{"city":"Oslo","unit":null}"#;
    let problem = "Tool error: Invalid arguments for 'f': /unit: expected ";
    assert!(got(&with_schema("f", SCHEMA), Dialect::OpenAiChat, arguments).unwrap_err().starts_with(problem));
    assert!(got(&strict(), Dialect::Anthropic, arguments).unwrap_err().starts_with(problem));
    for dialect in Dialect::ALL {
        assert_eq!(dialect.makes_nullable(), NULLABLE.contains(&dialect), "{}", dialect.name());
    }
}

#[test]
fn a_call_by_hand_says_whether_its_nulls_are_those_of_strict_mode() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&strict(), echo()).unwrap();
    let call = ToolCall { name: "f", arguments: r#"{"city":"Oslo","unit":null}"#, ..ToolCall::default() };
    let options = DispatchOptions { strict_nulls: true, ..DispatchOptions::default() };
    let result = try_dispatch(&tools, &call, &options).unwrap();
    assert_eq!(result, (OutcomeKind::Answered, r#"json {"city":"Oslo"}"#.into()));
    let (kind, _) = try_dispatch(&tools, &call, &DispatchOptions::default()).unwrap();
    assert_eq!(kind, OutcomeKind::BadArguments);
}

#[test]
fn the_host_is_told_and_a_tool_that_coerces_does_it_once() {
    let arguments = r#"{"city":"Oslo","unit":null,"at":{"hour":null,"day":1}}"#;
    for coerce in [false, true] {
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        tools.add(&ToolDefinition { coerce, ..strict() }, echo()).unwrap();
        let told = RefCell::new(Vec::new());
        let changed = |_: &ToolCall<'_>, change: &toolcore::schema::Coercion<'_>| {
            let mut buffer = [0; 64];
            let mut sink = Sink::new(&mut buffer);
            change.write_path(&mut sink);
            told.borrow_mut().push((change.rule, String::from(sink.finish().unwrap())));
        };
        let options = AnswerOptions { changed: Some(&changed), ..AnswerOptions::default() };
        let reply = reply(Dialect::OpenAiChat, arguments);
        let answered = try_answer(&tools, Dialect::OpenAiChat, &reply, &options).unwrap();
        assert_eq!(answered.kinds(), [OutcomeKind::Answered]);
        let expected = ["/unit", "/at/hour"].map(|path| (Rule::NullRemoved, String::from(path)));
        assert_eq!(*told.borrow(), expected);
    }
}

/// Too little memory or too few steps are an error that says so, or a result.
#[test]
fn memory_and_steps_of_every_size_give_an_error_or_a_result() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&strict(), echo()).unwrap();
    let call = ToolCall { name: "f", arguments: r#"{"city":"Oslo","unit":null}"#, ..ToolCall::default() };
    let dispatched = |bytes: usize, steps: u32| {
        let check = CheckOptions { steps, ..CheckOptions::default() };
        let options = DispatchOptions { strict_nulls: true, check, ..DispatchOptions::default() };
        let (mut words, mut bytes) = (vec![0; 256], vec![0; bytes]);
        let result = dispatch(&tools, &call, &options, Scratch::new(&mut words, &mut bytes));
        result.map(|result| (result.kind(), common::written(&result)))
    };
    let whole = Ok((OutcomeKind::Answered, String::from(r#"json {"city":"Oslo"}"#)));
    let mut enough = 0;
    for bytes in 0..400 {
        match dispatched(bytes, 100_000) {
            Err(DispatchError::NoSpace { bytes: need, .. }) => {
                assert!(need > bytes, "{need} would do, {bytes} did not");
                enough = bytes + 1;
            }
            result => assert_eq!(result, whole, "{bytes} bytes"),
        }
    }
    assert!((64..300).contains(&enough), "{enough}");
    let mut seen = [false; 2];
    for steps in 0..400 {
        match dispatched(4096, steps) {
            Ok((OutcomeKind::BadArguments, text)) => {
                assert!(text.contains("within the budget of steps"), "{text}");
                seen[0] = true;
            }
            result => {
                assert_eq!(result, whole, "{steps} steps");
                seen[1] = true;
            }
        }
    }
    assert_eq!(seen, [true; 2]);
}
