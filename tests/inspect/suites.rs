//! The public suite of JSON, and real lists of tools.

use std::fs;

use serde_json::{Value, json};
use toolcore_tests::desk::Desk;
use toolcore_tests::shared;

use super::files;

#[test]
fn the_json_test_suite_gets_its_verdicts() {
    let test = "the_json_test_suite_gets_its_verdicts";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let (mut accepted, mut rejected, mut free) = (0, 0, 0);
    for path in files(&shared.join("data/json-test-suite/test_parsing")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let hex: String = fs::read(&path).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        let answer = desk.ask(&json!({"op": "json", "hex": hex}));
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        let valid = answer["valid"].as_bool().unwrap();
        if !valid {
            let offset = answer["offset"].as_u64().unwrap();
            assert!(offset <= hex.len() as u64 / 2, "{name}: {answer}");
            assert!(answer["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{name}: {answer}");
        }
        match &name[..2] {
            "y_" => {
                assert!(valid, "{name}: {answer}");
                accepted += 1;
            }
            "n_" => {
                assert!(!valid, "{name}");
                rejected += 1;
            }
            _ => free += 1,
        }
    }
    assert_eq!((accepted, rejected), (95, 188));
    println!("{test}: 95 of 95 accepted, 188 of 188 rejected, {free} answered either way");
}

#[test]
fn real_tool_lists_register_or_are_refused_by_name_and_render_everywhere() {
    let test = "real_tool_lists_register_or_are_refused_by_name_and_render_everywhere";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let (mut taken, mut refused, mut lists) = (0, 0, 0);
    for path in files(&shared.join("data/mcp-tools")) {
        let list: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let declared =
            ["/tools", "/result/tools", ""].iter().find_map(|place| list.pointer(place)?.as_array()).unwrap();
        lists += 1;
        let mut tools = Vec::new();
        for tool in declared {
            let mut ours = json!({"name": tool["name"], "parameters": tool["inputSchema"]});
            for (from, to) in [
                ("description", "description"),
                ("title", "title"),
                ("annotations", "annotations"),
                ("outputSchema", "output_schema"),
            ] {
                if tool.get(from).is_some_and(|value| !value.is_null()) {
                    ours[to] = tool[from].clone();
                }
            }
            let answer = desk.ask(&json!({"op": "render", "dialect": "mcp", "tools": [ours]}));
            if answer["ok"] == true {
                tools.push(ours);
            } else {
                assert_eq!(answer["error"]["kind"], "schema", "{answer}");
                assert_eq!(answer["error"]["tool"], tool["name"], "{answer}");
                assert!(
                    answer["error"]["path"].as_str().is_some_and(|path| path.starts_with('/')),
                    "{answer}"
                );
                println!("{}: {}: {}", tool["name"], answer["error"]["path"], answer["error"]["message"]);
                refused += 1;
            }
        }
        taken += tools.len();
        for (dialect, name_at, schema_at) in [
            ("openai_chat", "/function/name", "/function/parameters"),
            ("anthropic", "/name", "/input_schema"),
            ("mcp", "/name", "/inputSchema"),
        ] {
            let answer = desk.ask(&json!({"op": "render", "dialect": dialect, "tools": tools}));
            assert_eq!(answer["ok"], true, "{}: {answer}", path.display());
            let rendered = answer["body"]["tools"].as_array().unwrap();
            assert_eq!(rendered.len(), tools.len(), "{}", path.display());
            for (tool, rendered) in tools.iter().zip(rendered) {
                assert_eq!(rendered.pointer(name_at), Some(&tool["name"]), "{rendered}");
                assert_eq!(
                    rendered.pointer(&format!("{schema_at}/properties")),
                    Some(&tool["parameters"]["properties"]),
                    "{rendered}"
                );
            }
        }
        // A call of each: nothing at all is refused exactly if something is required.
        for tool in &tools {
            let answer = desk.ask(&json!({
                "op": "answer", "dialect": "mcp", "tools": [tool], "reply": {"name": tool["name"], "arguments": {}}
            }));
            let needs =
                tool["parameters"]["required"].as_array().is_some_and(|required| !required.is_empty());
            let expected = if needs { "bad_arguments" } else { "answered" };
            assert_eq!(answer["outcomes"][0]["kind"], expected, "{answer}");
        }
    }
    println!("{test}: {lists} lists, {taken} tools taken, {refused} refused");
    assert_eq!(lists, 6);
    assert!(taken > refused, "{taken} {refused}");
}
