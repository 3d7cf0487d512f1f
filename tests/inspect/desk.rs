//! The tool itself: what it says of itself, of lines that it cannot read, of what comes later.

use std::process::Command;

use serde_json::{Value, json};
use toolcore_tests::desk::{Desk, output_of};
use toolcore_tests::inspect;

#[test]
fn a_line_that_cannot_be_read_is_answered_and_the_next_one_normally() {
    let Some(mut desk) = Desk::shared("a_line_that_cannot_be_read_is_answered_and_the_next_one_normally")
    else {
        return;
    };
    let bad: [&[u8]; 14] = [
        b"",
        b"   ",
        b"nonsense",
        b"{\"op\":\"version\"",
        b"{\"op\":\"version\"} {}",
        b"[]",
        b"7",
        b"{}",
        b"{\"op\":7}",
        b"{\"op\":\"fly\"}",
        b"{\"op\":\"json\"}",
        b"{\"op\":\"json\",\"hex\":\"5b5\"}",
        b"{\"op\":\"json\",\"hex\":\"zz\"}",
        b"\xFF\xFE{\"op\":\"version\"}",
    ];
    for line in bad {
        let answer: Value = serde_json::from_str(&desk.send(line)).unwrap();
        let shown = String::from_utf8_lossy(line);
        assert_eq!(answer["ok"], false, "{shown}: {answer}");
        assert_eq!(answer["error"]["kind"], "request", "{shown}: {answer}");
        assert!(
            answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()),
            "{shown}: {answer}"
        );
        assert_eq!(
            desk.ask(&json!({"op": "json", "text": "[]"})),
            json!({"ok": true, "valid": true}),
            "after {shown}"
        );
    }
}

#[test]
fn it_says_its_version_and_features() {
    let Some(mut desk) = Desk::shared("it_says_its_version_and_features") else { return };
    let answer = desk.ask(&json!({"op": "version"}));
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    let features = answer["features"].as_array().unwrap();
    let words = [
        "openai_chat",
        "openai_responses",
        "anthropic",
        "gemini",
        "gemini_schema",
        "bedrock",
        "ollama",
        "mistral_chat",
        "cohere",
        "mcp",
        "hermes",
        "llama3",
        "mistral",
        "pattern",
        "format",
        "unevaluated",
    ];
    for feature in words {
        assert!(features.contains(&json!(feature)), "{answer}");
    }
}

#[test]
fn it_ends_with_its_input_and_answers_a_last_line_without_an_end() {
    let test = "it_ends_with_its_input_and_answers_a_last_line_without_an_end";
    let Some(program) = inspect(test) else { return };
    let input = b"{\"op\":\"json\",\"text\":\"1\"}\n{\"op\":\"json\",\"text\":\"1 2\"}";
    let (success, text) = output_of(program, &[], input);
    assert!(success);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines,
        [
            json!({"ok": true, "valid": true}),
            json!({"ok": true, "valid": false, "reason": "trailing-data", "offset": 2})
        ]
    );
    let (success, text) = output_of(program, &["--fly"], b"");
    assert!(!success && text.contains("inspect"), "{text}");
    let desk = Desk::start(test, &[]).unwrap();
    assert_eq!(desk.end(), (true, String::new()));
}

#[test]
fn help_is_told_on_request() {
    let Some(program) = inspect("help_is_told_on_request") else { return };
    let output = Command::new(program).arg("--help").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("--stats"));
}

#[test]
fn an_op_or_a_member_that_is_not_known_is_named() {
    let Some(mut desk) = Desk::shared("an_op_or_a_member_that_is_not_known_is_named") else { return };
    let tool = |name: &str| json!({"name": "f", name: 1});
    let part = json!([{"id": "a", "parts": [{"text": "x", "lang": "en"}]}]);
    for (request, named, known) in [
        (json!({"op": "fly"}), "\"fly\"", "validate"),
        (json!({"op": "version", "verbose": true}), "\"verbose\"", "op"),
        (json!({"op": "json", "txt": "1"}), "\"txt\"", "text"),
        (json!({"op": "validate", "schema": true, "instance": 1, "format": true}), "\"format\"", "formats"),
        (json!({"op": "resources", "set": {}, "get": 1}), "\"get\"", "set"),
        (json!({"op": "parse", "dialect": "mcp", "reply": {}, "tools": []}), "\"tools\"", "reply"),
        (
            json!({"op": "render", "dialect": "mcp", "tools": [tool("inputSchema")]}),
            "\"inputSchema\"",
            "parameters",
        ),
        (
            json!({"op": "answer", "dialect": "mcp", "tools": [tool("run")], "reply": {}}),
            "\"run\"",
            "behaviour",
        ),
        (
            json!({"op": "results", "dialect": "mcp", "calls": [{"id": "a"}], "results": part}),
            "\"lang\"",
            "mimeType",
        ),
        (json!({"op": "context", "budget": 9, "blocks": [{"text": "x"}]}), "\"text\"", "content"),
    ] {
        let answer = desk.ask(&request);
        assert_eq!((&answer["ok"], &answer["error"]["kind"]), (&json!(false), &json!("request")), "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(named) && message.contains(known), "{request}: {message}");
    }
    // A name that is as long as a request is not repeated.
    let long = "é".repeat(5000);
    for request in [json!({"op": long}), json!({"op": "version", long.as_str(): 1})] {
        let answer = desk.ask(&request);
        assert_eq!(answer["error"]["kind"], "request", "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().len() < 512, "{answer}");
    }
}

#[test]
fn sizes_of_a_schema_are_told() {
    let Some(mut desk) = Desk::start("sizes_of_a_schema_are_told", &["--stats"]) else { return };
    let schema = json!({"properties": {"n": {"$ref": "#"}}});
    let stats = desk.ask(&json!({"op": "validate", "schema": schema, "instance": {}}))["stats"].clone();
    let [mem, schema, scratch] =
        ["mem_size", "schema_size", "scratch_size"].map(|name| stats[name].as_u64().unwrap());
    assert!(0 < schema && schema <= mem && scratch > 128 * 32, "{stats}");
    assert!(desk.ask(&json!({"op": "json", "text": "1"}))["stats"].get("mem_size").is_none());
}

#[test]
fn memory_is_limited_and_counted() {
    let Some(mut desk) = Desk::start("memory_is_limited_and_counted", &["--mem", "65536", "--stats"]) else {
        return;
    };
    let small = desk.ask(&json!({"op": "json", "text": "[]"}));
    assert_eq!((&small["ok"], &small["valid"]), (&json!(true), &json!(true)));
    assert!(small["stats"].is_object(), "{small}");
    // A request that does not fit, and one whose objects do not; the next one is answered normally.
    let long = "x".repeat(100_000);
    let answer = desk.ask(&json!({"op": "json", "text": long}));
    assert_eq!((&answer["ok"], &answer["error"]["kind"]), (&json!(false), &json!("no-space")), "{answer}");
    let tools: Vec<Value> =
        (0..100).map(|n| json!({"name": format!("tool{n}"), "description": "x".repeat(90)})).collect();
    let answer = desk.ask(&json!({"op": "render", "dialect": "mcp", "tools": tools}));
    assert_eq!((&answer["ok"], &answer["error"]["kind"]), (&json!(false), &json!("no-space")), "{answer}");
    assert_eq!(desk.ask(&json!({"op": "json", "text": "[]"}))["valid"], true);
}

#[test]
fn a_schema_that_is_refused_is_named_with_its_place() {
    let Some(mut desk) = Desk::shared("a_schema_that_is_refused_is_named_with_its_place") else { return };
    for (schema, path) in [
        (json!({"items": {"type": "int"}}), "/items/type"),
        (json!({"items": {"$ref": "#/nowhere"}}), "/items/$ref"),
        (json!({"properties": {"a/b": {"minimum": "low"}}}), "/properties/a~1b/minimum"),
    ] {
        let answer = desk.ask(&json!({"op": "validate", "schema": schema, "instance": [1]}));
        assert_eq!((&answer["ok"], &answer["error"]["kind"]), (&json!(false), &json!("schema")), "{answer}");
        assert_eq!(answer["error"]["path"], path, "{answer}");
        let tool = json!({"name": "f", "parameters": {"type": "object", "properties": {"p": schema}}});
        let answer = desk.ask(&json!({"op": "render", "dialect": "mcp", "tools": [tool]}));
        assert_eq!((&answer["ok"], &answer["error"]["tool"]), (&json!(false), &json!("f")), "{answer}");
        assert_eq!(answer["error"]["path"], format!("/properties/p{path}"), "{answer}");
    }
}

#[test]
fn an_op_that_comes_later_is_refused() {
    let Some(mut desk) = Desk::shared("an_op_that_comes_later_is_refused") else { return };
    for op in ["mcp", "tokens"] {
        let answer = desk.ask(&json!({"op": op}));
        assert_eq!(answer["ok"], false, "{op}: {answer}");
        assert!(answer["error"]["kind"].is_string(), "{op}: {answer}");
    }
    let answer = desk.ask(&json!({"op": "render", "dialect": "smoke_signals", "tools": []}));
    assert_eq!((&answer["ok"], &answer["error"]["kind"]), (&json!(false), &json!("unsupported")), "{answer}");
}

#[test]
fn a_context_is_within_its_budget_and_says_what_it_did() {
    let Some(mut desk) = Desk::shared("a_context_is_within_its_budget_and_says_what_it_did") else { return };
    let log = "a line of the log\n".repeat(60);
    for format in ["plain", "xml", "markdown"] {
        for budget in [20, 40, 80, 160, 1000] {
            let answer = desk.ask(&json!({
                "op": "context", "budget": budget, "format": format, "order": "priority", "counter": "bytes4",
                "blocks": [
                    {"content": log, "priority": 1, "flags": ["cut_tail"]},
                    {"content": "Answer briefly.", "priority": 5, "flags": ["pinned"]},
                    {"content": "", "priority": 9}
                ]
            }));
            assert_eq!(answer["ok"], true, "{answer}");
            let text = answer["text"].as_str().unwrap();
            let used = text.len().div_ceil(4) as u64;
            assert!(used <= budget, "{answer}");
            assert_eq!(answer["used"].as_u64(), Some(used), "{answer}");
            assert!(text.contains("Answer briefly."), "{answer}");
            let blocks = answer["blocks"].as_array().unwrap();
            assert_eq!(
                (&blocks[1]["state"], &blocks[2]["state"]),
                (&json!("kept"), &json!("dropped")),
                "{answer}"
            );
            match blocks[0]["state"].as_str().unwrap() {
                "cut" => {
                    assert!(text.contains(" tokens left out]"), "{answer}");
                    assert!(blocks[0]["from"].as_u64() < blocks[0]["to"].as_u64(), "{answer}");
                }
                "kept" => assert_eq!(budget, 1000, "{answer}"),
                state => assert_eq!((state, budget), ("dropped", 20), "{answer}"),
            }
        }
    }
}

#[test]
fn a_request_says_the_choice_the_tools_of_the_provider_and_the_rest() {
    let test = "a_request_says_the_choice_the_tools_of_the_provider_and_the_rest";
    let Some(mut desk) = Desk::shared(test) else { return };
    let mut render = |dialect: &str, more: Value| {
        let mut request = json!({
            "op": "render", "dialect": dialect,
            "tools": [{"name": "f", "category": "a"}, {"name": "g", "category": "b"}]
        });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.ask(&request)
    };
    let names = |answer: &Value| -> Vec<String> {
        let tools = answer["body"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    for (choice, expected) in [
        (json!("auto"), json!({"type": "auto"})),
        (json!("none"), json!({"type": "none"})),
        (json!("required"), json!({"type": "any"})),
        (json!({"tool": "g"}), json!({"type": "tool", "name": "g"})),
        (json!({"allowed": ["g"], "required": true}), json!({"type": "any"})),
        (json!({"allowed": ["g"]}), json!({"type": "auto"})),
    ] {
        let answer = render("anthropic", json!({"choice": choice}));
        assert_eq!(answer["body"]["tool_choice"], expected, "{choice}: {answer}");
        let told = if choice.get("allowed").is_some() { vec!["g"] } else { vec!["f", "g"] };
        assert_eq!(names(&answer), told, "{choice}: {answer}");
        // What is not told of is noted.
        assert_eq!(answer["notes"].as_array().unwrap().len(), 2 - told.len(), "{answer}");
    }
    let allowed = render("gemini", json!({"choice": {"allowed": ["g"], "required": true}}));
    let config = &allowed["body"]["toolConfig"]["functionCallingConfig"];
    assert_eq!(*config, json!({"mode": "ANY", "allowedFunctionNames": ["g"]}), "{allowed}");
    assert_eq!(render("anthropic", json!({"choice": {"allowed": ["h"]}}))["error"]["kind"], "not-found");
    assert_eq!(names(&render("anthropic", json!({"category": "b"}))), ["g"]);
    let one = render("anthropic", json!({"choice": "auto", "parallel": false}));
    assert_eq!(one["body"]["tool_choice"]["disable_parallel_tool_use"], true, "{one}");
    let cached = render("bedrock", json!({"cache": true}));
    assert_eq!(cached["body"]["toolConfig"]["tools"][2]["cachePoint"]["type"], "default", "{cached}");

    let native = json!({"native": ["web_search", {"kind": "code_execution", "allow": true}]});
    assert_eq!(names(&render("anthropic", native)), ["f", "g", "web_search", "code_execution"]);
    let configured = json!({"native": [{"kind": "web_search", "config": {"max_uses": 2}}]});
    assert_eq!(render("anthropic", configured)["body"]["tools"][2]["max_uses"], 2);
    let refused = render("anthropic", json!({"native": ["code_execution"]}));
    assert_eq!(refused["error"]["kind"], "not-allowed", "{refused}");
    let dropped = render("anthropic", json!({"native": ["google_maps"]}));
    assert_eq!((names(&dropped).len(), dropped["notes"].as_array().unwrap().len()), (2, 1), "{dropped}");
    let refused = render("anthropic", json!({"native": ["google_maps"], "refuse_dropped": true}));
    assert_eq!(refused["error"]["kind"], "unsupported", "{refused}");
    assert_eq!(render("anthropic", json!({"native": ["fly"]}))["error"]["kind"], "request");
}
