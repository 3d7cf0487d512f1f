//! Cases reported against other libraries, with the right behaviour.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use toolcore_tests::desk::{Desk, one_line};
use toolcore_tests::shared;

use crate::provider_cases::provider_case;
use crate::schedule::deadline_case;

/// The classes of which every row is sent.
const DONE: [&str; 7] = ["stream", "args", "name", "id", "result", "schema", "dispatch"];

/// What was done with a field case.
pub(crate) enum Covered {
    /// It was sent, and the answer is the right one.
    Here,
    /// It is about something that comes later, or that does not go through this tool.
    No(&'static str),
}

#[test]
fn field_cases_get_the_right_value() {
    let test = "field_cases_get_the_right_value";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let text = fs::read_to_string(shared.join("cases/field-cases.jsonl")).unwrap();
    let mut classes: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (id, class) = (case["id"].as_str().unwrap(), case["class"].as_str().unwrap());
        let [here, all] = classes.entry(class.split('.').next().unwrap().into()).or_default();
        *all += 1;
        match field_case(&case, &mut desk) {
            Covered::Here => *here += 1,
            Covered::No(why) => println!("{id}: {class}: {why}"),
        }
    }
    for (class, [here, all]) in &classes {
        println!("{test}: {class}: {here} of {all}");
    }
    for class in DONE {
        let [here, all] = classes[class];
        assert!(here == all && all > 0, "{class}: {here} of {all}");
    }
    let here: usize = classes.values().map(|[here, _]| here).sum();
    assert!(here >= 34, "{here}");
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn field_case(case: &Value, desk: &mut Desk) -> Covered {
    if let Some(covered) = provider_case(case, desk) {
        return covered;
    }
    let input = &case["input"];
    match case["class"].as_str().unwrap() {
        "json.lone-surrogate" => {
            let answer = desk.ask(&json!({"op": "json", "text": input["text"]}));
            assert_eq!(
                answer,
                json!({"ok": true, "valid": false, "reason": "lone-surrogate", "offset": 6}),
                "{case}"
            );
        }
        "args.empty-string" => {
            let mut texts = vec![input["tool_calls"][0]["function"]["arguments"].clone()];
            texts.extend(input["also"].as_array().unwrap().iter().cloned());
            for text in texts {
                let (kind, said) = openai_call(desk, &json!({"type": "object"}), "now", &text, false);
                assert_eq!((kind.as_str(), said.as_str()), ("answered", "{}"), "{case}");
                let (kind, said) =
                    openai_call(desk, &json!({"type": "object", "required": ["tz"]}), "now", &text, false);
                assert_eq!(kind, "bad_arguments", "{case}");
                assert_eq!(said, "Tool error: Invalid arguments for 'now': /tz: required", "{case}");
            }
        }
        "args.null-text" => {
            let (kind, said) = openai_call(desk, &json!({"type": "object"}), "now", &json!("null"), false);
            assert_eq!((kind.as_str(), said.as_str()), ("answered", "{}"), "{case}");
            for other in ["[]", "1", "\"x\"", "true"] {
                let (kind, said) = openai_call(desk, &json!({"type": "object"}), "now", &json!(other), false);
                assert_eq!(kind, "bad_arguments", "{case}: {other}");
                assert!(said.contains("expected object"), "{case}: {said}");
            }
        }
        "args.object-value" => {
            let arguments = &input["tool_calls"][0]["function"]["arguments"];
            let answer = desk.ask(&json!({"op": "parse", "dialect": "openai_chat", "reply": {"tool_calls": input["tool_calls"]}}));
            assert_eq!(&answer["calls"][0]["arguments"], arguments, "{case}");
            let (kind, said) = openai_call(desk, &json!({"type": "object"}), "f", arguments, false);
            assert_eq!((kind.as_str(), said.as_str()), ("answered", r#"{"city":"Oslo"}"#), "{case}");
        }
        "args.double-encoded" => {
            let (kind, said) = openai_call(desk, &input["schema"], "f", &input["text"], false);
            assert_eq!(kind, "bad_arguments", "{case}");
            assert!(said.contains("expected object"), "{case}: {said}");
            let (kind, said) = openai_call(desk, &input["schema"], "f", &input["text"], true);
            assert_eq!((kind.as_str(), said.as_str()), ("answered", r#"{"city":"Oslo"}"#), "{case}");
        }
        "args.markdown-fence" => {
            let (kind, said) = openai_call(desk, &input["schema"], "f", &input["text"], false);
            assert_eq!(kind, "bad_arguments", "{case}");
            assert!(
                said.contains("malformed JSON arguments") && said.contains("at byte 0"),
                "{case}: {said}"
            );
            let (kind, said) = openai_call(desk, &input["schema"], "f", &input["text"], true);
            assert_eq!((kind.as_str(), said.as_str()), ("answered", r#"{"city":"Oslo"}"#), "{case}");
        }
        "args.number-as-string" => {
            let answer =
                desk.ask(&json!({"op": "validate", "schema": input["schema"], "text": input["text"]}));
            assert_eq!(answer["valid"], false, "{case}");
            let expected = [
                ("/depth", r#"expected integer, got string "3""#),
                ("/f", r#"expected number, got string "1e3""#),
                ("/b", r#"expected boolean, got string "true""#),
            ];
            let errors = answer["errors"].as_array().unwrap();
            assert_eq!(errors.len(), expected.len(), "{case}: {answer}");
            for (path, message) in expected {
                let error = json!({"path": path, "keyword": "type", "message": message});
                assert!(errors.contains(&error), "{case}: {answer}");
            }
            // Only a tool that asks for it gets them converted; what fits is left alone.
            let text = input["text"].as_str().unwrap();
            let tool = json!({"name": "f", "parameters": input["schema"], "coerce": true});
            let call = json!({"id": "1", "function": {"name": "f", "arguments": text}});
            let answer = desk.ask(&json!({
                "op": "answer", "dialect": "openai_chat", "tools": [tool], "reply": {"tool_calls": [call]}
            }));
            let accepted = answer["messages"][0]["content"].as_str().unwrap();
            let accepted: Value =
                serde_json::from_str(accepted).unwrap_or_else(|error| panic!("{error}: {answer}"));
            assert_eq!(accepted["f"].as_f64(), Some(1000.0), "{case}: {answer}");
            assert_eq!(
                (&accepted["depth"], &accepted["b"], &accepted["zip"]),
                (&json!(3), &json!(true), &json!("01234")),
                "{case}: {answer}"
            );
        }
        "args.big-integer" => {
            let text = input["text"].as_str().unwrap();
            let request = format!(
                r#"{{"op":"validate","schema":{},"instance":{text}}}"#,
                serde_json::to_string(&input["schema"]).unwrap()
            );
            let answer = desk.send(one_line(&request).as_bytes());
            assert!(answer.contains(&format!(r#""value":{text}"#)), "{case}: {answer}");
            let (kind, said) = openai_call(desk, &input["schema"], "f", &input["text"], false);
            assert_eq!((kind.as_str(), said.as_str()), ("answered", text), "{case}");
        }
        "json.nan" => {
            let texts = input["texts"].as_array().unwrap();
            let valid: Vec<Value> = texts
                .iter()
                .map(|text| desk.ask(&json!({"op": "json", "text": text}))["valid"].clone())
                .collect();
            assert_eq!(valid, [false, false, true], "{case}");
        }
        "schema.integer-1.0" => {
            for row in input["cases"].as_array().unwrap() {
                let (schema, instance) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
                let answer =
                    desk.ask_text(&format!(r#"{{"op":"validate","schema":{schema},"instance":{instance}}}"#));
                if schema.contains("draft-04") {
                    // An old dialect may be refused, but 5.0 must not pass in its name.
                    assert!(answer["ok"] == false || answer["valid"] == row[2], "{case}: {answer}");
                } else {
                    assert_eq!(answer["valid"], row[2], "{case}: {answer}");
                }
            }
        }
        "schema.object-without-properties" => {
            let tool =
                |schema: Value| json!({"name": "list_regions", "description": "d", "parameters": schema});
            let parameters = |desk: &mut Desk, schema: Value| {
                let answer =
                    desk.ask(&json!({"op": "render", "dialect": "openai_chat", "tools": [tool(schema)]}));
                answer["body"]["tools"][0]["function"]["parameters"].clone()
            };
            let expected = json!({"type": "object", "properties": {}});
            assert_eq!(parameters(desk, input["tool"]["schema"].clone()), expected, "{case}");
            let nested = json!({"type": "object", "properties": {"a": {"type": "object"}, "b": {"type": "array", "items": {"type": "object"}}}});
            let rendered = parameters(desk, nested);
            assert_eq!(rendered["properties"]["a"], expected, "{case}: {rendered}");
            assert_eq!(rendered["properties"]["b"]["items"], expected, "{case}: {rendered}");
            // What is data and not a schema is left alone.
            let data = json!({"type": "object", "properties": {"a": {"enum": [{"type": "object"}], "default": {"type": "object"}}}});
            assert_eq!(parameters(desk, data.clone()), data, "{case}");
        }
        "schema.strict-claim" => {
            let tool = json!({"name": "f", "description": "d", "parameters": input["tool"]["schema"], "strict": true});
            let answer = desk.ask(&json!({"op": "render", "dialect": "openai_chat", "tools": [tool]}));
            if answer["ok"] == true {
                // Lowered: closed, all required, what was optional may be null.
                let function = &answer["body"]["tools"][0]["function"];
                assert_eq!(function["parameters"]["additionalProperties"], false, "{case}: {answer}");
                assert_eq!(function["parameters"]["required"], json!(["a", "b"]), "{case}: {answer}");
                assert_eq!(
                    function["parameters"]["properties"]["b"]["type"],
                    json!(["integer", "null"]),
                    "{case}: {answer}"
                );
            } else {
                assert!(
                    answer["error"]["tool"] == "f"
                        || answer["error"]["message"].as_str().unwrap().contains('f'),
                    "{case}: {answer}"
                );
                assert!(answer["error"]["kind"].as_str().unwrap().contains("strict"), "{case}: {answer}");
            }
            // A schema that is strict as it is goes out as it is, with the flag.
            let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
            let tool = json!({"name": "f", "description": "d", "parameters": closed, "strict": true});
            let answer = desk.ask(&json!({"op": "render", "dialect": "openai_chat", "tools": [tool]}));
            let function = &answer["body"]["tools"][0]["function"];
            assert_eq!(
                (&function["strict"], &function["parameters"]),
                (&json!(true), &closed),
                "{case}: {answer}"
            );
        }
        "call.unknown-tool" => {
            let name = input["name"].as_str().unwrap();
            let answer = desk.ask(&json!({
                "op": "answer", "dialect": "openai_chat", "tools": [{"name": "terminal", "behaviour": {"text": "$"}}],
                "reply": {"tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}},
                    {"id": "2", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
                ]}
            }));
            assert_eq!(answer["outcomes"][0]["kind"], "unknown_tool", "{case}: {answer}");
            assert_eq!(answer["outcomes"][1]["kind"], "answered", "{case}: {answer}");
            let expected = "Tool error: Unknown tool: 'terminalterminal'. Available: terminal";
            assert_eq!(
                answer["messages"][0],
                json!({"role": "tool", "tool_call_id": "1", "content": expected}),
                "{case}"
            );
            assert_eq!(
                answer["messages"][1],
                json!({"role": "tool", "tool_call_id": "2", "content": "$"}),
                "{case}"
            );
        }
        "json.deep-nesting" => {
            let count = usize::try_from(input["count"].as_u64().unwrap()).unwrap();
            for unit in [input["unit"].as_str().unwrap(), input["also"][0].as_str().unwrap()] {
                let answer = desk.ask(&json!({"op": "json", "text": unit.repeat(count)}));
                assert_eq!(
                    (&answer["valid"], &answer["reason"]),
                    (&json!(false), &json!("depth-limit")),
                    "{case}"
                );
            }
            let deep = format!("{}1{}", r#"{"items":"#.repeat(500), "}".repeat(500));
            let answer = desk.ask(&json!({"op": "json", "text": deep}));
            assert_eq!(answer["reason"], "depth-limit", "{case}");
        }
        "json.trailing-backslash" => {
            for hex in input["hex"].as_array().unwrap() {
                let answer = desk.ask(&json!({"op": "json", "hex": hex}));
                assert_eq!(answer["valid"], false, "{case}: {hex}");
                let length = hex.as_str().unwrap().len() / 2;
                assert!(answer["offset"].as_u64().unwrap() <= length as u64, "{case}: {hex}: {answer}");
                assert_eq!(answer["reason"], "unexpected-end", "{case}: {hex}: {answer}");
            }
        }
        "json.accepts-garbage" => {
            for text in input["texts"].as_array().unwrap() {
                let answer = desk.ask(&json!({"op": "json", "text": text}));
                // The blank before the 1 is one that JSON does not know; if it is a plain one, the text is fine.
                assert!(
                    answer["valid"] == false && answer["offset"].is_u64() || text == " 1",
                    "{case}: {text}: {answer}"
                );
            }
        }
        class if class.starts_with("mcp.") => return Covered::No("the MCP server comes later"),
        "dispatch.deadline-no-cancel" => deadline_case(case, desk),
        "schema.defs-rejected"
        | "schema.type-array"
        | "schema.enum-non-string"
        | "schema.additionalProperties-rejected" => {
            lowered_for_gemini(case, desk);
        }
        other => panic!("a class that is not known: {other}"),
    }
    Covered::Here
}

/// Renders the tool in both forms of Gemini; in the older one nothing is left that it refuses, and it is told.
fn lowered_for_gemini(case: &Value, desk: &mut Desk) {
    let tool = &case["input"]["tool"];
    let tools = json!([{"name": tool["name"], "parameters": tool["schema"]}]);
    let expected = match case["class"].as_str().unwrap() {
        "schema.defs-rejected" => {
            json!({"t": {"type": "OBJECT", "nullable": true, "properties": {"n": {"type": "STRING"}}}})
        }
        "schema.type-array" => json!({"s": {"type": "STRING", "nullable": true},
            "l": {"type": "ARRAY", "nullable": true, "items": {"type": "STRING"}}}),
        "schema.enum-non-string" => json!({"d": {"type": "INTEGER", "description": "{enum: [60,1440]}"},
            "e": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": true,
                "description": "{enum: [\"a\",1,null]}"}}),
        _ => json!({"a": {"type": "STRING"}}),
    };
    let answer = desk.ask(&json!({"op": "render", "dialect": "gemini_schema", "tools": tools}));
    let shown = &answer["body"]["tools"][0]["functionDeclarations"][0]["parameters"];
    assert_eq!(*shown, json!({"type": "OBJECT", "properties": expected}), "{case}: {answer}");
    let notes = answer["notes"].as_array().unwrap();
    assert!(notes.len() >= 2 && notes.iter().all(|note| note["path"] != ""), "{case}: {answer}");
    let answer = desk.ask(&json!({"op": "render", "dialect": "gemini", "tools": tools}));
    let shown = &answer["body"]["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"];
    assert_eq!((&shown["type"], shown.get("$schema")), (&json!("object"), None), "{case}: {answer}");
    assert_eq!(shown.get("$defs"), tool["schema"].get("$defs"), "{case}: {answer}");
}

/// Answers one call in the form of OpenAI to a tool that gives its arguments back; gives what became of it and what the
/// model reads.
fn openai_call(
    desk: &mut Desk,
    schema: &Value,
    name: &str,
    arguments: &Value,
    lenient: bool,
) -> (String, String) {
    let answer = desk.ask(&json!({
        "op": "answer", "dialect": "openai_chat", "lenient": lenient,
        "tools": [{"name": name, "description": "d", "parameters": schema}],
        "reply": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}]}
    }));
    let kind = answer["outcomes"][0]["kind"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (kind.to_owned(), answer["messages"][0]["content"].as_str().unwrap().to_owned())
}
