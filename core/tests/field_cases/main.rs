//! Failures reported against other libraries, each with the right behaviour: `../shared/cases/field-cases.jsonl`.
//!
//! Every row is either checked here or waits for what it is about, with the reason.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;
mod lowered;
mod replies;
#[path = "../turn/support.rs"]
mod support;
mod turns;

use std::cell::RefCell;

use common::dialects::{json_dialects, reply, tools as told};
use common::{
    Boxed, Memory, answered, boxed, dispatched, echo, open, read, rendered, rendered_json, rows, says,
    shared, try_dispatch, with_schema, written,
};
use serde_json::{Value as Json, json};
use toolcore::call::{ArgError, ToolCall};
use toolcore::dialect::{CallResult, Dialect, RenderErrorKind, ResultsError, ResultsOptions, ToolsOptions};
use toolcore::dispatch::{DispatchOptions, dispatch};
use toolcore::json::{Options, Repairs, Surrogates};
use toolcore::registry::{AddError, Registry};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::schema::{CheckOptions, Coercion};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::tool::ToolDefinition;

type Check = fn(&Json);

/// The rows that are checked, by what is left to wait for in them.
const CHECKED: [(&str, Check, &str); 35] = [
    ("case-001", replies::streamed, ""),
    ("case-002", replies::streamed, ""),
    ("case-003", replies::streamed, ""),
    ("case-004", replies::streamed, ""),
    ("case-005", replies::streamed, ""),
    ("case-006", a_lone_surrogate, ""),
    ("case-007", empty_arguments, ""),
    ("case-008", null_arguments, ""),
    ("case-009", arguments_as_an_object, ""),
    ("case-010", double_encoded, ""),
    ("case-011", markdown_fence, ""),
    ("case-012", numbers_as_strings, ""),
    ("case-013", big_integers, ""),
    ("case-014", not_a_number, ""),
    ("case-015", integers, ""),
    ("case-016", lowered::shared_definitions, ""),
    ("case-017", lowered::lists_of_types, ""),
    ("case-018", lowered::values_that_are_no_strings, ""),
    ("case-019", lowered::no_other_properties, ""),
    ("case-020", object_without_properties, ""),
    ("case-021", strict_claim, ""),
    ("case-022", name_too_long, ""),
    ("case-023", name_with_dots, ""),
    ("case-024", unknown_tool, "the code -32602: with the MCP server"),
    ("case-025", object_as_content, ""),
    ("case-026", replies::failures_of_bedrock, ""),
    ("case-027", orphan_call, ""),
    ("case-028", replies::ids_of_responses, ""),
    ("case-029", replies::tools_of_bedrock, ""),
    ("case-030", replies::signatures_of_gemini, ""),
    ("case-037", bytes_that_are_not_text, "bytes over the C border: tested there"),
    ("case-039", turns::deadline_cancels, ""),
    ("case-040", deep_nesting, ""),
    ("case-041", trailing_backslash, ""),
    ("case-042", garbage, ""),
];

/// The classes of which no row may wait, and how many rows each has.
const DONE: [(&str, usize); 7] = [
    ("stream.", 5),
    ("args.", 7),
    ("name.", 2),
    ("id.", 1),
    ("result.", 5),
    ("schema.", 7),
    ("dispatch.", 1),
];

const SERVER: &str = "about the MCP server, which is not built yet";

const WAITING: [(&str, &str); 7] = [
    ("case-031", SERVER),
    ("case-032", SERVER),
    ("case-033", SERVER),
    ("case-034", SERVER),
    ("case-035", SERVER),
    ("case-036", SERVER),
    ("case-038", SERVER),
];

#[test]
fn every_field_case_has_its_right_value_or_a_reason_to_wait() {
    let Some(path) =
        shared("cases/field-cases.jsonl", "every_field_case_has_its_right_value_or_a_reason_to_wait")
    else {
        return;
    };
    let rows = rows(&path);
    for row in &rows {
        let id = row["id"].as_str().unwrap();
        let class = row["class"].as_str().unwrap();
        let check = CHECKED.iter().find(|(checked, _, _)| *checked == id);
        let waits = WAITING.iter().find(|(waiting, _)| *waiting == id);
        match (check, waits) {
            (Some((_, check, rest)), None) => {
                let rest = if rest.is_empty() { String::new() } else { format!("; waits: {rest}") };
                println!("{id} {class}: checked{rest}");
                check(&row["input"]);
            }
            (None, Some((_, reason))) => {
                assert!(!DONE.iter().any(|(done, _)| class.starts_with(done)), "{id} {class} must not wait");
                assert!(!reason.is_empty());
                println!("{id} {class}: waits: {reason}");
            }
            _ => panic!("{id} must be checked or wait for something, and not both"),
        }
    }
    assert_eq!(rows.len(), CHECKED.len() + WAITING.len());
    for (class, count) in DONE {
        let here = rows.iter().filter(|row| row["class"].as_str().unwrap().starts_with(class)).count();
        println!("{class} {here} of {count} checked");
        assert_eq!(here, count, "{class}");
    }
    println!("field cases: {} checked, {} wait", CHECKED.len(), WAITING.len());
}

fn with_tools(tools: &[ToolDefinition<'_>], check: impl FnOnce(&Registry<'_, Boxed<'static>>)) {
    let mut memory = Memory::ample();
    let mut registry = memory.registry();
    for tool in tools {
        registry.add(tool, echo()).unwrap();
    }
    check(&registry);
}

/// Dispatches this arguments text to a tool that takes any object and answers with its arguments.
fn accepted(text: &str) -> (OutcomeKind, String) {
    let mut seen = None;
    with_tools(&[open("f")], |tools| seen = Some(dispatched(tools, "f", text)));
    seen.unwrap()
}

fn refused_as_malformed(text: &str, needle: &str) {
    let (kind, message) = accepted(text);
    assert_eq!(kind, OutcomeKind::BadArguments, "{text}: {message}");
    assert!(message.starts_with("Tool error: Tool 'f' received malformed JSON arguments ("), "{message}");
    assert!(message.contains(needle), "{message}");
}

fn a_lone_surrogate(input: &Json) {
    let text = input["text"].as_str().unwrap();
    let backslash = text.find("\\ud83d").unwrap();
    refused_as_malformed(text, &backslash.to_string());
    let error = toolcore::json::validate(text.as_bytes(), &Options::default()).unwrap_err();
    assert_eq!((error.reason.name(), error.offset), ("lone-surrogate", backslash));
    let json = Options { surrogates: Surrogates::Replace, ..Options::default() };
    let options = DispatchOptions {
        check: CheckOptions { json, ..CheckOptions::default() },
        ..DispatchOptions::default()
    };
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|call, result| Ok(result.text(call.args.str("m")?)?))).unwrap();
    let call = ToolCall { name: "f", arguments: text, ..ToolCall::default() };
    let expected = (OutcomeKind::Answered, "\u{fffd}A".into());
    assert_eq!(try_dispatch(&tools, &call, &options), Ok(expected));
}

/// What is answered to the row's message by a tool without parameters and by one that requires `city`.
fn empty_or_required(message: &Json) {
    let reply = json!({"role":"assistant","content":null,"tool_calls":message}).to_string();
    with_tools(&[open("now")], |tools| {
        let answered = answered(tools, Dialect::OpenAiChat, &reply);
        assert_eq!(answered.kinds(), [OutcomeKind::Answered], "{reply}");
        assert_eq!(answered.messages()[0]["content"], "{}");
    });
    let required = with_schema("now", r#"{"type":"object","properties":{"city":{}},"required":["city"]}"#);
    with_tools(&[required], |tools| {
        let messages = answered(tools, Dialect::OpenAiChat, &reply).messages();
        assert_eq!(messages[0]["content"], "Tool error: Invalid arguments for 'now': /city: required");
    });
}

fn empty_arguments(input: &Json) {
    let mut message = input["tool_calls"].clone();
    empty_or_required(&message);
    for also in input["also"].as_array().unwrap() {
        message[0]["function"]["arguments"] = also.clone();
        empty_or_required(&message);
    }
}

fn null_arguments(input: &Json) {
    let mut message = input["tool_calls"].clone();
    empty_or_required(&message);
    for (other, got) in [("[]", "array"), ("1", "number"), ("\"x\"", "string"), ("true", "boolean")] {
        message[0]["function"]["arguments"] = other.into();
        let reply = json!({"content":null,"tool_calls":message}).to_string();
        with_tools(&[open("now")], |tools| {
            let messages = answered(tools, Dialect::OpenAiChat, &reply).messages();
            let text = messages[0]["content"].as_str().unwrap();
            let expected = format!("Tool error: Invalid arguments for 'now': expected object, got {got}");
            assert!(text.starts_with(&expected), "{text}");
        });
    }
}

fn arguments_as_an_object(input: &Json) {
    let reply = json!({"content":null,"tool_calls":input["tool_calls"]}).to_string();
    with_tools(&[open("f")], |tools| {
        let messages = answered(tools, Dialect::OpenAiChat, &reply).messages();
        assert_eq!(read(messages[0]["content"].as_str().unwrap()), json!({"city":"Oslo"}));
    });
    // It goes back as text where the provider wants text, and as the object where it wants that.
    let turn = replies::turn(Dialect::OpenAiChat, &reply);
    assert_eq!(turn[0]["tool_calls"][0]["function"]["arguments"], r#"{"city":"Oslo"}"#);
    let city = json!({"city":"Oslo"});
    let item = json!({"type":"function_call","call_id":"a","name":"f","arguments":city});
    let turn = replies::turn(Dialect::OpenAiResponses, &json!([item]).to_string());
    assert_eq!(turn[0]["arguments"], r#"{"city":"Oslo"}"#);
    let block = json!({"type":"tool_use","id":"a","name":"f","input":city});
    let turn = replies::turn(Dialect::Anthropic, &json!({"content":[block]}).to_string());
    assert_eq!(turn[0]["content"][0]["input"], city);
    let part = json!({"functionCall":{"name":"f","args":city}});
    let turn = replies::turn(Dialect::Gemini, &json!({"parts":[part]}).to_string());
    assert_eq!(turn[0]["parts"][0]["functionCall"]["args"], city);
}

/// Dispatches the row's text to a tool with the row's schema.
fn checked(input: &Json) -> (OutcomeKind, String) {
    let schema = input["schema"].to_string();
    let mut seen = None;
    with_tools(&[with_schema("f", &schema)], |tools| {
        seen = Some(dispatched(tools, "f", input["text"].as_str().unwrap()));
    });
    seen.unwrap()
}

fn double_encoded(input: &Json) {
    let (kind, text) = checked(input);
    assert_eq!(kind, OutcomeKind::BadArguments);
    assert!(text.starts_with("Tool error: Invalid arguments for 'f': expected object, got string"), "{text}");
    repaired(input, Repairs::DOUBLE_ENCODED);
}

/// On request the row's text is repaired, and the repair is told.
fn repaired(input: &Json, repair: Repairs) {
    let schema = input["schema"].to_string();
    with_tools(&[with_schema("f", &schema)], |tools| {
        let call = ToolCall { name: "f", arguments: input["text"].as_str().unwrap(), ..ToolCall::default() };
        let (mut words, mut bytes) = ([0; 64], [0; 512]);
        let options = DispatchOptions { lenient: true, ..DispatchOptions::default() };
        let result = dispatch(tools, &call, &options, Scratch::new(&mut words, &mut bytes)).unwrap();
        assert_eq!(result.repairs(), repair);
        assert_eq!(written(&result), r#"json {"city":"Oslo"}"#);
    });
}

fn markdown_fence(input: &Json) {
    let (kind, text) = checked(input);
    assert_eq!(kind, OutcomeKind::BadArguments);
    assert!(
        text.starts_with("Tool error: Tool 'f' received malformed JSON arguments (")
            && text.contains("byte 0"),
        "{text}"
    );
    repaired(input, Repairs::FENCE);
}

fn numbers_as_strings(input: &Json) {
    let (kind, text) = checked(input);
    assert_eq!(kind, OutcomeKind::BadArguments);
    let expected = "Tool error: Invalid arguments for 'f': /depth: expected integer, got string \"3\"; \
                    /f: expected number, got string \"1e3\"; /b: expected boolean, got string \"true\"";
    assert_eq!(text, expected);
    // Opt-in: what nearly fits is converted and reported, and the string that should be one stays.
    let schema = input["schema"].to_string();
    with_tools(&[ToolDefinition { coerce: true, ..with_schema("f", &schema) }], |tools| {
        let changes = RefCell::new(Vec::new());
        let changed = |call: &ToolCall<'_>, change: &Coercion<'_>| {
            let mut path = [0; 32];
            let mut sink = Sink::new(&mut path);
            change.write_path(&mut sink);
            let path = sink.finish().unwrap();
            changes.borrow_mut().push(format!("{} {path} {}", call.name, change.rule.name()));
        };
        let call = ToolCall { name: "f", arguments: input["text"].as_str().unwrap(), ..ToolCall::default() };
        let options = DispatchOptions { changed: Some(&changed), ..DispatchOptions::default() };
        let (kind, text) = try_dispatch(tools, &call, &options).unwrap();
        assert_eq!(kind, OutcomeKind::Answered);
        let accepted = read(text.strip_prefix("json ").unwrap());
        assert_eq!(accepted["depth"], 3);
        assert_eq!(accepted["zip"], "01234");
        assert_eq!(accepted["f"].as_f64(), Some(1000.0));
        assert_eq!(accepted["b"], true);
        let expected =
            ["f /depth integer-from-string", "f /f number-from-string", "f /b boolean-from-string"];
        assert_eq!(*changes.borrow(), expected);
    });
}

fn big_integers(input: &Json) {
    let text = input["text"].as_str().unwrap();
    assert_eq!(checked(input), (OutcomeKind::Answered, format!("json {text}")));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|call, _| {
        assert_eq!(call.args.i64("id"), Ok(2_512_292_042_121_000_001));
        assert_eq!(call.args.u64("u"), Ok(u64::MAX));
        assert_eq!(call.args.i64("u"), Err(ArgError::OutOfRange));
        assert_eq!(call.args.i64("h"), Err(ArgError::OutOfRange));
        assert_eq!(call.args.u64("h"), Err(ArgError::OutOfRange));
        assert_eq!(call.args.number("h").unwrap().raw(), "123456789012345678901234567890");
        Ok(())
    });
    tools.add(&open("f"), run).unwrap();
    assert_eq!(dispatched(&tools, "f", text).0, OutcomeKind::Answered);
}

fn not_a_number(input: &Json) {
    let texts: Vec<_> =
        input["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    refused_as_malformed(texts[0], "5");
    refused_as_malformed(texts[1], "6");
    assert_eq!(accepted(texts[2]), (OutcomeKind::Answered, format!("json {}", texts[2])));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), boxed(|call, _| call.args.f64("x").map(|_| ()).map_err(Into::into))).unwrap();
    assert_eq!(dispatched(&tools, "f", texts[2]).0, OutcomeKind::ToolFailed);
    // A tool that hands out NaN as JSON has failed, and no such token is ever written.
    let mut bytes = [0; 64];
    for token in ["NaN", "{\"x\":NaN}", "Infinity", "-Infinity"] {
        assert!(ToolResult::new(&mut bytes).json(token).is_err());
    }
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut sink = Sink::new(&mut bytes);
        assert!(toolcore::json::Writer::new(&mut sink).f64(number).is_err());
        assert!(sink.is_empty());
    }
}

fn integers(input: &Json) {
    for case in input["cases"].as_array().unwrap() {
        let (schema, instance) = (case[0].as_str().unwrap(), case[1].as_str().unwrap());
        // A check needs an object around the instance, and `$schema` stands at the root.
        let inner = read(schema);
        let mut outer = json!({"type":"object","properties":{"x":inner}});
        if let Some(draft) = outer["properties"]["x"].as_object_mut().unwrap().remove("$schema") {
            outer["$schema"] = draft;
        }
        let outer = outer.to_string();
        let definition = with_schema("f", &outer);
        let mut memory = Memory::ample();
        let mut tools = memory.registry();
        let mut message = [0; 256];
        let mut why = Sink::new(&mut message);
        match tools.add_explained(&definition, echo(), &mut why) {
            Ok(_) => {
                let arguments = format!("{{\"x\":{instance}}}");
                let kind = dispatched(&tools, "f", &arguments).0;
                assert_eq!(kind == OutcomeKind::Answered, case[2] == true, "{schema} {instance}");
            }
            // A draft that is not supported is refused by its name.
            Err(error) => {
                assert!(schema.contains("draft-04"), "{schema}: {error}");
                assert!(why.finish().unwrap().contains("$schema"));
            }
        }
    }
}

/// What the row's tool accepts and refuses, whatever a provider is told of its schema. The renderings that
/// there are tell the schema whole.
fn enforced(input: &Json, accepted: &[&str], refused: &[(&str, &str)]) {
    let tool = &input["tool"];
    let (name, schema) = (tool["name"].as_str().unwrap(), tool["schema"].to_string());
    with_tools(&[with_schema(name, &schema)], |tools| {
        for arguments in accepted {
            let answer = dispatched(tools, name, arguments);
            assert_eq!(answer, (OutcomeKind::Answered, format!("json {arguments}")), "{schema}");
        }
        for (arguments, problems) in refused {
            let text = format!("Tool error: Invalid arguments for '{name}': {problems}");
            assert_eq!(dispatched(tools, name, arguments), (OutcomeKind::BadArguments, text), "{schema}");
        }
        let shown = rendered_json(tools, Dialect::Mcp, &ToolsOptions::default());
        assert_eq!(shown["tools"][0]["inputSchema"], tool["schema"]);
    });
}

fn shared_definitions(input: &Json) {
    let accepted = [r#"{"t":{"n":"x"}}"#, r#"{"t":null}"#, "{}"];
    let refused = [
        (r#"{"t":{"n":1}}"#, "/t/n: expected string, got number 1"),
        (r#"{"t":1}"#, "/t: expected object or null, got number 1"),
    ];
    enforced(input, &accepted, &refused);
}

fn lists_of_types(input: &Json) {
    let accepted = [r#"{"s":null,"l":null}"#, r#"{"s":"x","l":["y"]}"#];
    let refused = [
        (r#"{"s":1}"#, "/s: expected string or null, got number 1"),
        (r#"{"l":[null]}"#, "/l/0: expected string, got null"),
    ];
    enforced(input, &accepted, &refused);
}

fn values_that_are_no_strings(input: &Json) {
    let accepted = [r#"{"d":60}"#, r#"{"d":1440,"e":1}"#, r#"{"e":null}"#, r#"{"e":"a"}"#];
    let refused = [
        (r#"{"d":"60"}"#, "/d: expected integer, got string \"60\""),
        (r#"{"d":61}"#, "/d: expected one of 60, 1440, got 61"),
        (r#"{"e":"1"}"#, "/e: expected one of \"a\", 1, null, got \"1\""),
    ];
    enforced(input, &accepted, &refused);
}

fn no_other_properties(input: &Json) {
    let refused = [(r#"{"a":"x","b":1}"#, "/b: unknown property; allowed: \"a\"")];
    enforced(input, &[r#"{"a":"x"}"#, "{}"], &refused);
}

fn object_without_properties(input: &Json) {
    let nested = json!({"type":"object","properties":{
        "o":{"type":"object"},
        "l":{"type":"array","items":{"type":"object"}},
        "d":{"enum":[{"type":"object"}],"default":{"type":"object"},"examples":[{"type":"object"}]},
        "c":{"const":{"type":"object"}}}});
    with_tools(&[with_schema("f", &nested.to_string())], |tools| {
        let shown = rendered_json(tools, Dialect::OpenAiChat, &ToolsOptions::default());
        let mut expected = nested.clone();
        for place in ["/properties/o", "/properties/l/items"] {
            expected.pointer_mut(place).unwrap()["properties"] = json!({});
        }
        assert_eq!(shown["tools"][0]["function"]["parameters"], expected);
    });
    let tool = &input["tool"];
    let schema = tool["schema"].to_string();
    with_tools(&[with_schema(tool["name"].as_str().unwrap(), &schema)], |tools| {
        let shown = rendered_json(tools, Dialect::OpenAiChat, &ToolsOptions::default());
        let expected = json!({"type":"function","function":{"name":"list_regions",
            "parameters":{"type":"object","properties":{}}}});
        assert_eq!(shown["tools"][0], expected);
    });
}

fn strict_claim(input: &Json) {
    let schema = input["tool"]["schema"].to_string();
    let strict = ToolDefinition { strict: true, ..with_schema("f", &schema) };
    with_tools(&[strict], |tools| {
        let shown = rendered_json(tools, Dialect::OpenAiChat, &ToolsOptions::default());
        let expected = json!({"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},
            "required":["a","b"],"additionalProperties":false});
        assert_eq!(shown["tools"][0]["function"], json!({"name":"f","parameters":expected,"strict":true}));
    });
    // A null that a strict form forces upon the model is taken out before the arguments are checked.
    with_tools(&[ToolDefinition { coerce: true, ..with_schema("f", &schema) }], |tools| {
        let answer = dispatched(tools, "f", r#"{"a":"x","b":null}"#);
        assert_eq!(answer, (OutcomeKind::Answered, r#"json {"a":"x"}"#.into()));
    });
}

fn name_too_long(input: &Json) {
    let name = input["tool"]["name"].as_str().unwrap();
    with_tools(&[open(name)], |tools| {
        let options = ToolsOptions { no_alias: true, ..ToolsOptions::default() };
        let error = rendered(tools, Dialect::OpenAiChat, &options).unwrap_err();
        assert_eq!(error.kind, RenderErrorKind::Name { max: 64, len: 68 });
        for part in ["64", "68"] {
            assert!(error.to_string().contains(part), "{error}");
        }
        let shown = rendered_json(tools, Dialect::OpenAiChat, &ToolsOptions::default());
        comes_back(tools, Dialect::OpenAiChat, shown["tools"][0]["function"]["name"].as_str().unwrap());
    });
}

fn name_with_dots(input: &Json) {
    let name = input["tool"]["name"].as_str().unwrap();
    with_tools(&[open(name), open("admin_tools_list"), open("admin.tools_list")], |tools| {
        for dialect in json_dialects() {
            let shown = told(dialect, &rendered_json(tools, dialect, &ToolsOptions::default())).0;
            let names: Vec<&str> = shown.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            let dots = [Dialect::Gemini, Dialect::GeminiSchema, Dialect::Ollama, Dialect::Mcp];
            if dots.contains(&dialect) {
                assert_eq!(names, [name, "admin_tools_list", "admin.tools_list"]);
            } else {
                assert!(names.iter().all(|name| !name.contains('.')), "{names:?}");
                assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2], "{names:?}");
                names.iter().for_each(|name| comes_back(tools, dialect, name));
            }
        }
    });
}

fn comes_back(tools: &Registry<'_, Boxed<'_>>, dialect: Dialect, name: &str) {
    assert_eq!(answered(tools, dialect, &reply(dialect, &[name])).kinds(), [OutcomeKind::Answered], "{name}");
}

fn unknown_tool(input: &Json) {
    let declared = input["declared"][0].as_str().unwrap();
    let name = input["name"].as_str().unwrap();
    let function = |name: &str| json!({"name":name,"arguments":"{}"});
    let reply = json!({"content":null,"tool_calls":[
        {"id":"1","type":"function","function":function(name)},
        {"id":"2","type":"function","function":function(declared)}]});
    with_tools(&[open(declared)], |tools| {
        let answered = answered(tools, Dialect::OpenAiChat, &reply.to_string());
        assert_eq!(answered.kinds(), [OutcomeKind::UnknownTool, OutcomeKind::Answered]);
        let messages = answered.messages();
        assert_eq!(messages[0]["tool_call_id"], "1");
        let text = "Tool error: Unknown tool: 'terminalterminal'. Available: terminal";
        assert_eq!(messages[0]["content"], text);
        assert_eq!((&messages[1]["tool_call_id"], &messages[1]["content"]), (&json!("2"), &json!("{}")));
    });
}

fn object_as_content(input: &Json) {
    let result = &input["results"][0];
    let id = result["id"].as_str().unwrap();
    let mut bytes = [0; 64];
    let mut value = ToolResult::new(&mut bytes);
    value.json(&result["json"].to_string()).unwrap();
    let messages = |dialect| {
        let calls = [ToolCall { id: Some(id), name: "f", ..ToolCall::default() }];
        let results = [CallResult { id: Some(id), result: Some(&value) }];
        let mut out = [0; 512];
        let mut sink = Sink::new(&mut out);
        let options = ResultsOptions::default();
        toolcore::dialect::render_results(dialect, &calls[..], &results, &options, &mut sink).unwrap();
        read(sink.finish().unwrap())
    };
    let text = r#"{"address":"x"}"#;
    assert_eq!(messages(Dialect::OpenAiChat)[0]["content"], text);
    // A string is the short form of one text block.
    let content = &messages(Dialect::Anthropic)[0]["content"][0]["content"];
    assert!(*content == text || *content == json!([{"type":"text","text":text}]), "{content}");
    let response = &messages(Dialect::Gemini)[0]["parts"][0]["functionResponse"]["response"];
    assert_eq!(*response, json!({"output":result["json"]}));
    let content = &messages(Dialect::Bedrock)[0]["content"][0]["toolResult"]["content"];
    assert_eq!(*content, json!([{"json":result["json"]}]));
}

fn orphan_call(input: &Json) {
    let list =
        |key: &str| input[key].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect::<Vec<_>>();
    let (ids, cancelled) = (list("calls"), list("cancelled"));
    let calls: Vec<_> =
        ids.iter().map(|id| ToolCall { id: Some(id), name: "f", ..ToolCall::default() }).collect();
    let mut bytes = [0; 64];
    let mut ok = ToolResult::new(&mut bytes);
    ok.text(input["results"][0]["text"].as_str().unwrap()).unwrap();
    let answered = CallResult { id: input["results"][0]["id"].as_str(), result: Some(&ok) };
    let given_up = cancelled.iter().map(|id| CallResult { id: Some(id), result: None });
    let whole: Vec<_> = std::iter::once(answered).chain(given_up).collect();
    let mut out = [0; 512];
    let mut render = |results: &[CallResult<'_, '_>]| {
        let mut sink = Sink::new(&mut out);
        let options = ResultsOptions::default();
        toolcore::dialect::render_results(Dialect::Anthropic, &calls[..], results, &options, &mut sink)?;
        Ok::<_, ResultsError>(read(sink.finish().unwrap()))
    };
    let messages = render(&whole).unwrap();
    assert_eq!(messages.as_array().unwrap().len(), 1);
    let blocks = messages[0]["content"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "user");
    assert!(blocks.iter().all(|block| block["type"] == "tool_result"));
    assert_eq!((&blocks[0]["tool_use_id"], &blocks[0]["content"]), (&json!("t1"), &json!("ok")));
    assert_eq!((&blocks[1]["tool_use_id"], &blocks[1]["is_error"]), (&json!("t2"), &json!(true)));
    assert!(blocks[1]["content"].as_str().unwrap().contains("cancelled"));
    assert_eq!(render(&whole[..1]), Err(ResultsError::Missing { call: 1 }));
    turns::orphan_call(input);
}

/// In Rust text is UTF-8 by its type; what is left to show is that it is written escaped, on one line.
fn bytes_that_are_not_text(input: &Json) {
    let hex = input["hex"].as_str().unwrap();
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    assert!(std::str::from_utf8(&bytes).is_err());
    let text = format!("{}\u{0}\n\r\u{1f}", String::from_utf8_lossy(&bytes));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("f"), says(&text)).unwrap();
    let answered = answered(&tools, Dialect::Mcp, r#"{"name":"f"}"#);
    assert!(!answered.text.chars().any(char::is_control), "{:?}", answered.text);
    assert_eq!(answered.messages()["content"][0]["text"], text);
}

fn deep_nesting(input: &Json) {
    let count = usize::try_from(input["count"].as_u64().unwrap()).unwrap();
    let units = [input["unit"].as_str().unwrap(), input["also"][0].as_str().unwrap()];
    for unit in units {
        refused_as_malformed(&unit.repeat(count), "nest");
    }
    // The same for schemas: nested in text, nested in keywords, and chained by references. Without
    // optimisation binding a reference takes long, and a frame of a recursion is large: fewer will do.
    let links = if cfg!(debug_assertions) { count / 10 } else { count };
    let chain: Vec<_> = (0..links).map(|n| format!(r##""{n}":{{"$ref":"#/$defs/{}"}}"##, n + 1)).collect();
    let chain = format!(r##"{{"$ref":"#/$defs/0","$defs":{{{},"{links}":{{}}}}}}"##, chain.join(","));
    let items = format!("{}{{}}{}", r#"{"items":"#.repeat(count), "}".repeat(count));
    for schema in [units[0].repeat(count), items, chain] {
        // A level of recursion each would need megabytes of stack.
        let register = move || {
            let mut memory = Memory::new(1, 16 << 20);
            let mut tools = memory.registry();
            match tools.add(&with_schema("f", &schema), echo()) {
                Ok(_) => assert_eq!(dispatched(&tools, "f", "{}").0, OutcomeKind::Answered),
                Err(error) => assert!(matches!(error, AddError::Parameters(_)), "{error}"),
            }
        };
        std::thread::Builder::new().stack_size(128 * 1024).spawn(register).unwrap().join().unwrap();
    }
}

fn trailing_backslash(input: &Json) {
    for hex in input["hex"].as_array().unwrap() {
        let hex = hex.as_str().unwrap();
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let text = String::from_utf8(bytes).unwrap();
        refused_as_malformed(&text, &text.len().to_string());
        let error = toolcore::json::validate(text.as_bytes(), &Options::default()).unwrap_err();
        assert_eq!((error.reason.name(), error.offset), ("unexpected-end", text.len()), "{text}");
    }
}

fn garbage(input: &Json) {
    for text in input["texts"].as_array().unwrap() {
        let text = text.as_str().unwrap();
        // Blanks around a value are allowed by the grammar; around these bytes they are not blanks.
        if toolcore::json::validate(text.as_bytes(), &Options::default()).is_ok() {
            assert_eq!(text, " 1");
            continue;
        }
        refused_as_malformed(text, "byte");
    }
}
