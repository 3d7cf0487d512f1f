//! The public suites of JSON and JSON Schema, and real lists of tools.

use std::fs;

use serde::Deserialize;
use serde_json::value::RawValue;
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

#[derive(Deserialize)]
struct Group<'a> {
    description: String,
    #[serde(borrow)]
    schema: &'a RawValue,
    tests: Vec<Case<'a>>,
}

#[derive(Deserialize)]
struct Case<'a> {
    description: String,
    #[serde(borrow)]
    data: &'a RawValue,
    valid: bool,
}

/// Files all of whose keywords are enforced already: no group of them may be refused.
const ENFORCED: [&str; 16] = [
    "boolean_schema",
    "const",
    "default",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "required",
    "type",
    "optional/bignum",
    "optional/no-schema",
];

#[test]
fn the_json_schema_test_suite_gets_its_verdicts_where_the_schema_compiles() {
    let test = "the_json_schema_test_suite_gets_its_verdicts_where_the_schema_compiles";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::start(test, &["--mem", "1048576"]) else { return };
    let drafts = [
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
    ];
    let mut wrong = Vec::new();
    for (draft, dialect) in drafts {
        let folder = shared.join("data/json-schema-test-suite").join(draft);
        let (mut verdicts, mut refused, mut enforced) = (0, 0, 0);
        let names = files(&folder).into_iter().chain(files(&folder.join("optional")));
        for path in names.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
            let name = path.strip_prefix(&folder).unwrap().with_extension("").to_string_lossy().into_owned();
            // Formats and encodings are annotations unless one asks for more, which is what these files are about.
            if ["optional/format-assertion", "optional/content"].contains(&name.as_str()) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for group in serde_json::from_str::<Vec<Group>>(&text).unwrap() {
                let schema = in_dialect(group.schema.get(), dialect);
                for case in &group.tests {
                    let request =
                        format!(r#"{{"op":"validate","schema":{schema},"instance":{}}}"#, case.data.get());
                    let answer = desk.ask_text(&request);
                    let place =
                        || format!("{draft}/{name}: {}: {}: {answer}", group.description, case.description);
                    if answer["ok"] == false {
                        assert_eq!(answer["error"]["kind"], "schema", "{}", place());
                        assert!(!ENFORCED.contains(&name.as_str()), "{}", place());
                        refused += 1;
                    } else if answer["valid"] == case.valid {
                        verdicts += 1;
                        enforced += usize::from(ENFORCED.contains(&name.as_str()));
                    } else {
                        wrong.push(place());
                    }
                }
            }
        }
        println!("{test}: {draft}: {verdicts} right verdicts, {refused} with a schema that is refused");
        assert!(enforced > 200, "{draft}: {enforced}");
    }
    assert!(wrong.is_empty(), "{} wrong verdicts:\n{}", wrong.len(), wrong.join("\n"));
}

/// A schema's text that says its dialect.
fn in_dialect(schema: &str, dialect: &str) -> String {
    let value: Value = serde_json::from_str(schema).unwrap_or_default();
    match (value.as_object(), schema.trim_start().strip_prefix('{')) {
        (Some(members), Some(rest)) if !members.contains_key("$schema") => {
            let comma = if members.is_empty() { "" } else { "," };
            format!("{{\"$schema\":\"{dialect}\"{comma}{rest}")
        }
        _ => schema.to_owned(),
    }
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
