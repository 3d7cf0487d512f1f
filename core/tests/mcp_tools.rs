//! The tool lists of six real MCP servers: each tool registers, renders and checks a call.
//! From `../shared/data/mcp-tools`.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::dialects::{json_dialects, tools as told};
use common::{Memory, dispatched, echo, read, rendered, shared};
use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, ToolsOptions};
use toolcore::json::{self as core_json, Value};
use toolcore::registry::RegistryOptions;
use toolcore::result::OutcomeKind;
use toolcore::sink::Sink;
use toolcore::tool::{Annotations, Parameters, ToolDefinition};

const LISTS: [(&str, usize); 6] =
    [("everything", 13), ("fetch", 1), ("filesystem", 14), ("memory", 9), ("seqthink", 1), ("time", 2)];

#[test]
fn the_lists_of_six_real_servers_register_render_and_check_a_call() {
    let Some(folder) =
        shared("data/mcp-tools", "the_lists_of_six_real_servers_register_render_and_check_a_call")
    else {
        return;
    };
    for (name, count) in LISTS {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let list = core_json::parse(text.as_bytes(), &core_json::Options::default()).unwrap();
        let mut memory = Memory::new(16, 128 * 1024);
        let mut tools = memory.with_options(RegistryOptions::default());
        for tool in list.items() {
            let field = |key| tool.get(key).and_then(Value::as_str).map(decoded).unwrap_or_default();
            let (name, title, description) = (field("name"), field("title"), field("description"));
            let definition = ToolDefinition {
                name: &name,
                title: &title,
                description: &description,
                parameters: Parameters::Schema(tool.get("inputSchema").unwrap().raw()),
                output_schema: tool.get("outputSchema").map(Value::raw),
                annotations: hints(tool),
                ..ToolDefinition::default()
            };
            let mut message = [0; 256];
            let mut why = Sink::new(&mut message);
            if let Err(error) = tools.add_explained(&definition, echo(), &mut why) {
                panic!("{name}: {error}: {}", why.finish_cut());
            }
        }
        let sources: Vec<Json> = read(&text).as_array().unwrap().clone();
        assert_eq!((list.items().count(), tools.len()), (count, count));
        for dialect in json_dialects() {
            let (text, _) = rendered(&tools, dialect, &ToolsOptions::default()).unwrap();
            let (shown, schema) = told(dialect, &read(&text));
            assert_eq!(shown.len(), sources.len());
            for (shown, source) in shown.iter().zip(&sources) {
                compare(dialect, shown, schema, source);
            }
        }
        for source in &sources {
            let name = source["name"].as_str().unwrap();
            let (good, bad) = sample_calls(&source["inputSchema"]);
            let (kind, text) = dispatched(&tools, name, &good.to_string());
            assert_eq!(
                (kind, read(text.trim_start_matches("json "))),
                (OutcomeKind::Answered, good),
                "{text}"
            );
            for (arguments, place) in bad {
                let (kind, text) = dispatched(&tools, name, &arguments.to_string());
                assert_eq!(kind, OutcomeKind::BadArguments, "{name} takes {arguments}");
                let expected = format!("Tool error: Invalid arguments for '{name}': {place}");
                assert!(text.starts_with(&expected), "{name} {arguments}: {text}");
            }
        }
        println!("{name}: {count} of {count} tools registered, rendered and called");
    }
}

fn compare(dialect: Dialect, body: &Json, schema: &str, source: &Json) {
    let schema = body.pointer(schema).unwrap();
    assert_eq!((&body["name"], &body["description"]), (&source["name"], &source["description"]));
    if matches!(dialect, Dialect::Gemini | Dialect::GeminiSchema) {
        // What else these are told is held in `lower`.
        let source = &source["inputSchema"];
        let names = |schema: &Json| -> Vec<String> {
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!((names(schema), schema.get("required")), (names(source), source.get("required")));
        return;
    }
    // The one change: OpenAI wants `properties` in every object node.
    if dialect == Dialect::OpenAiChat {
        assert_eq!(*schema, with_properties(&source["inputSchema"]), "{}", source["name"]);
    } else {
        let mut source_schema = source["inputSchema"].clone();
        let draft = source_schema["$schema"].as_str().unwrap_or_default();
        // Anthropic's schemas are of 2020-12. What else draft 7 says differently, these tools do not use.
        if dialect == Dialect::Anthropic && draft.contains("draft-07") {
            source_schema.as_object_mut().unwrap().remove("$schema");
        }
        assert_eq!(with_properties(schema), with_properties(&source_schema), "{}", source["name"]);
    }
    if dialect == Dialect::Mcp {
        for key in ["title", "outputSchema", "annotations"] {
            assert_eq!(body[key], source[key], "{} {key}", source["name"]);
        }
    }
}

/// A schema with empty `properties` in each object node that has none.
fn with_properties(schema: &Json) -> Json {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    if object.get("type") == Some(&json!("object")) && !object.contains_key("properties") {
        object.insert("properties".into(), json!({}));
    }
    for key in ["properties", "$defs"] {
        if let Some(members) = object.get_mut(key).and_then(Json::as_object_mut) {
            members.values_mut().for_each(|member| *member = with_properties(member));
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(key) {
            *inner = with_properties(inner);
        }
    }
    schema
}

/// Arguments that fit a schema, and some that do not with the beginning of the complaint.
fn sample_calls(schema: &Json) -> (Json, Vec<(Json, String)>) {
    let good = sample(schema);
    let mut bad = vec![(json!([]), "expected object, got array".to_string())];
    if let Some(name) = schema["required"].get(0) {
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(name.as_str().unwrap());
        bad.push((without, format!("/{}: required", name.as_str().unwrap())));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let Some(kind) = property["type"].as_str() else { continue };
        let mut wrong = good.clone();
        wrong[name] = if kind == "boolean" { json!("x") } else { json!(true) };
        bad.push((wrong, format!("/{name}: expected ")));
    }
    if schema["additionalProperties"] == false {
        let mut unknown = good.clone();
        unknown["no such parameter"] = json!(1);
        bad.push((unknown, "/no such parameter: ".into()));
    }
    (good, bad)
}

fn sample(schema: &Json) -> Json {
    if let Some(values) = schema["enum"].as_array() {
        return values[0].clone();
    }
    let kind = schema["type"].get(0).unwrap_or(&schema["type"]);
    match kind.as_str().unwrap_or("null") {
        "object" => {
            let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
            let members = required.iter().map(|name| {
                let name = name.as_str().unwrap();
                (name.to_string(), sample(&schema["properties"][name]))
            });
            Json::Object(members.collect())
        }
        "array" => {
            let count = schema["minItems"].as_u64().unwrap_or(1);
            (0..count).map(|_| sample(&schema["items"])).collect()
        }
        "string" => json!("x".repeat(usize::try_from(schema["minLength"].as_u64().unwrap_or(1)).unwrap())),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        _ => json!(null),
    }
}

fn hints(tool: Value<'_>) -> Annotations {
    let hint = |key| tool.get("annotations").and_then(|hints| hints.get(key)).and_then(Value::as_bool);
    Annotations {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
    }
}

fn decoded(text: core_json::Str<'_>) -> String {
    text.chars().collect()
}
