//! The tools of recorded requests, imported and told again in the dialect that they were recorded in: name,
//! description and meaning of each are kept. From `../shared/data/traffic`.

use super::common::{Memory, echo, rendered, rows, shared};
use super::random::{Random, from_upper};
use super::read;
use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, ToolsOptions};
use toolcore::registry::RegistryOptions;
use toolcore::schema::{CompileOptions, compile};
use toolcore::tool::{Parameters, ToolDefinition};

/// A tool of the host in a recorded request.
struct Tool {
    name: String,
    description: String,
    schema: Json,
    strict: bool,
    /// Its schema is in Gemini's older form.
    older: bool,
}

/// The tools that the host runs; those of the provider have no schema.
fn tools(request: &Json) -> Vec<Tool> {
    let lists = [&request["tools"], &request["toolConfig"]["tools"]];
    let entries = lists.into_iter().filter_map(Json::as_array).flatten();
    let entries = entries.flat_map(|entry| match entry["functionDeclarations"].as_array() {
        Some(declared) => declared.iter().collect(),
        None => vec![entry],
    });
    let bodies = entries.map(|entry| {
        let inner = ["function", "toolSpec"].into_iter().find_map(|key| entry.get(key));
        inner.unwrap_or(entry)
    });
    bodies.filter_map(tool).collect()
}

fn tool(body: &Json) -> Option<Tool> {
    let places = ["/input_schema", "/inputSchema/json", "/parametersJsonSchema", "/parameters_json_schema"];
    let newer = places.into_iter().find_map(|place| body.pointer(place));
    let schema = newer.or(body.get("parameters"))?;
    let older = newer.is_none() && schema.to_string().contains("\"OBJECT\"");
    let text = |key: &str| body[key].as_str().unwrap_or_default().to_string();
    Some(Tool {
        // A tool of the provider may have parameters, but no name.
        name: body["name"].as_str()?.into(),
        description: text("description"),
        schema: if older { from_upper(schema) } else { schema.clone() },
        strict: body["strict"] == true,
        older,
    })
}

/// What became of the recorded tools.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    tools: usize,
    /// The schema went out with each member as it was recorded.
    equal: usize,
    /// It was changed, each change was told, and it accepts what was accepted.
    changed: usize,
    /// The library does not take the schema, or refuses it under strict.
    refused: usize,
}

fn check(recorded: &Tool, dialect: Dialect, tally: &mut Tally) {
    let schema = recorded.schema.to_string();
    tally.tools += 1;
    let mut program = vec![0; 4096 + 64 * schema.len()];
    if compile(&schema, &CompileOptions::default(), &mut program).is_err() {
        tally.refused += 1;
        return;
    }
    let mut memory = Memory::new(2, 256 * 1024);
    let mut registry = memory.with_options(RegistryOptions::default());
    let definition = ToolDefinition {
        name: &recorded.name,
        description: &recorded.description,
        parameters: Parameters::Schema(&schema),
        strict: recorded.strict,
        ..ToolDefinition::default()
    };
    registry.add(&definition, echo()).unwrap_or_else(|error| panic!("{}: {error}", recorded.name));
    let (text, notes) = match rendered(&registry, dialect, &ToolsOptions::default()) {
        Ok(rendered) => rendered,
        Err(error) => {
            assert!(recorded.strict, "{}: {error}", recorded.name);
            tally.refused += 1;
            return;
        }
    };
    let told = &tools(&read(&text))[0];
    assert_eq!((&told.name, &told.description), (&recorded.name, &recorded.description), "{text}");
    // Where strict was asked for it is said; Gemini has no word for it.
    assert!(told.strict == recorded.strict || dialect == Dialect::Gemini, "{text}");
    if told.schema == recorded.schema {
        tally.equal += 1;
        return;
    }
    assert!(!notes.is_empty(), "nothing is told:\n{schema}\n{}", told.schema);
    let judge = |schema: &Json| jsonschema::draft202012::new(schema).unwrap();
    let (before, after) = (judge(&recorded.schema), judge(&told.schema));
    // Without a note of a loss what goes out accepts nothing else; strict closes objects, and no more is refused.
    let lossless = ["empty properties", "type added", "became branches", "became nullable", "closed objects"];
    let same = notes.iter().all(|note| lossless.iter().any(|kept| note.contains(kept)));
    let optional = notes.iter().any(|note| note.contains("sent as required"));
    let mut random = Random(0x51_7CC1);
    let mut valid = 0;
    for _ in 0..60 {
        let value = random.value(&recorded.schema, &recorded.schema, 14);
        let (was, is) = (before.is_valid(&value), after.is_valid(&value));
        let closed = recorded.strict && (optional || value.to_string().contains("\"other\":"));
        assert!(!was || is || closed, "{value} is refused:\n{schema}\n{}\n{notes:?}", told.schema);
        assert!(!same || !is || was, "{value} is accepted:\n{schema}\n{}\n{notes:?}", told.schema);
        valid += usize::from(was);
    }
    // One has a pattern that no random text fits.
    assert!(valid > 0 || schema.contains("(?="), "nothing was compared: {schema}");
    tally.changed += 1;
}

#[test]
fn recorded_tools_are_told_as_they_were_recorded() {
    let test = "recorded_tools_are_told_as_they_were_recorded";
    for (dialect, expected) in EXPECTED {
        let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
        let mut tally = Tally::default();
        for row in rows(&path) {
            for recorded in tools(&row["tools"]) {
                let dialect = if recorded.older { Dialect::GeminiSchema } else { dialect };
                check(&recorded, dialect, &mut tally);
            }
        }
        let Tally { tools, equal, changed, refused } = tally;
        assert_eq!([tools, equal, changed, refused], expected, "{}", dialect.name());
    }
    assert_eq!(tools(&json!({"tools":[{"googleSearch":{}}]})).len(), 0);
}

/// Of each dialect: how many tools were recorded, how many go out with the very schema, how many with one that
/// is changed, and how many are not taken.
const EXPECTED: [(Dialect, [usize; 4]); 6] = [
    (Dialect::OpenAiChat, [411, 410, 1, 0]),
    (Dialect::OpenAiResponses, [86, 86, 0, 0]),
    (Dialect::Anthropic, [108, 107, 1, 0]),
    (Dialect::Gemini, [137, 135, 2, 0]),
    (Dialect::Bedrock, [47, 47, 0, 0]),
    (Dialect::Cohere, [8, 8, 0, 0]),
];
