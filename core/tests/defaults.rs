//! What a tool declares of itself must make sense: wrong defaults, values and bounds are found when it is added.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::{Memory, echo, shared, try_dispatch, with_schema};
use serde_json::Value as Json;
use toolcore::call::ToolCall;
use toolcore::dispatch::DispatchOptions;
use toolcore::registry::AddError;
use toolcore::result::OutcomeKind;
use toolcore::schema::{
    CheckOptions, CompileOptions, ParameterError, Schema, ToolParameter, compile, wrong_defaults,
};
use toolcore::sink::Sink;
use toolcore::tool::{Parameters, ToolDefinition};

/// What is said when a tool with these parameters is added, and whether it was.
fn added(tool: &ToolDefinition<'_>) -> (Result<(), AddError>, String) {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let mut message = [0; 512];
    let mut why = Sink::new(&mut message);
    let added = tools.add_explained(tool, echo(), &mut why).map(|_| ());
    (added, why.finish().unwrap().to_owned())
}

fn declared(parameter: ToolParameter<'_>) -> (Result<(), AddError>, String) {
    let parameters = [ToolParameter::string("other").optional(), parameter];
    let tool = ToolDefinition {
        name: "f",
        parameters: Parameters::Declared(&parameters),
        ..ToolDefinition::default()
    };
    added(&tool)
}

#[test]
fn a_declared_parameter_that_contradicts_itself_is_refused_by_name() {
    let days = ToolParameter::integer("days");
    let unit = ToolParameter::string("unit");
    let nested = [days.default_to("\"x\"")];
    let default = "its default is not a value that it accepts";
    let another = "its list of allowed values has one of another type than its own";
    for (parameter, error, message) in [
        (days.default_to("\"3\""), ParameterError::Default, default),
        (days.default_to("3.5"), ParameterError::Default, default),
        (days.default_to("null"), ParameterError::Default, default),
        (days.range("1", "14").default_to("15"), ParameterError::Default, default),
        (unit.one_of(r#"["c","f"]"#).default_to("\"k\""), ParameterError::Default, default),
        (unit.length(2, 4).default_to("\"x\""), ParameterError::Default, default),
        (ToolParameter::object("days", &nested).optional(), ParameterError::Default, default),
        (unit.one_of(r#"["c",1]"#), ParameterError::ValueType, another),
        (unit.one_of(r#"["c",null]"#), ParameterError::ValueType, another),
        (days.one_of("[1,2.5]"), ParameterError::ValueType, another),
        (days.one_of("[]"), ParameterError::NoValue, "its list of allowed values is empty"),
        (
            days.range("2", "1"),
            ParameterError::Bounds { field: "number" },
            "its least number is above its greatest",
        ),
        (
            unit.length(2, 1),
            ParameterError::Bounds { field: "number of characters" },
            "its least number of characters is above its greatest",
        ),
        (
            ToolParameter::array("list", &days).count(2, 1),
            ParameterError::Bounds { field: "number of items" },
            "its least number of items is above its greatest",
        ),
    ] {
        let name = parameter.name;
        let expected = (Err(AddError::Declared(error)), format!("parameter '{name}': {message}"));
        assert_eq!(declared(parameter), expected);
    }
}

#[test]
fn a_declared_parameter_that_makes_sense_is_added() {
    let days = ToolParameter::integer("days");
    for parameter in [
        days.default_to("3"),
        days.default_to("3.0"),
        days.nullable().default_to("null"),
        days.nullable().one_of("[1,null]"),
        days.one_of("[1,2]").default_to("2"),
        days.range("1", "1").default_to("1"),
        days.range("-1e3", "1E+3"),
        ToolParameter::number("n").one_of("[1,2.5]"),
        ToolParameter::array("list", &days).count(0, 0).default_to("[]"),
        ToolParameter::object("o", &[days]).default_to(r#"{"days":1}"#),
    ] {
        assert_eq!(declared(parameter), (Ok(()), String::new()), "{}", parameter.name);
    }
}

#[test]
fn a_wrong_default_of_a_json_schema_is_told_and_never_filled_in() {
    let schema = r#"{"type":"object","properties":{"a/b":{"type":"integer","default":"5"},"o":{"type":"object","properties":{"c":{"enum":["x"],"default":"y"}}},"d":{"default":1}}}"#;
    let tool = ToolDefinition { coerce: true, ..with_schema("f", schema) };
    let text = "parameters: /properties/a~1b: its default is not a value that it accepts, and is not filled in; \
                /properties/o/properties/c: its default is not a value that it accepts, and is not filled in";
    let said = added(&tool);
    assert_eq!(said.0, Ok(()));
    let mut parts: Vec<&str> = said.1.trim_start_matches("parameters: ").split("; ").collect();
    parts.sort_unstable();
    assert_eq!(format!("parameters: {}", parts.join("; ")), text);
    // Without coercion a default is a word to the model.
    assert_eq!(added(&with_schema("f", schema)), (Ok(()), String::new()));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&tool, echo()).unwrap();
    let call = ToolCall { name: "f", arguments: r#"{"o":{}}"#, ..ToolCall::default() };
    let answer = try_dispatch(&tools, &call, &DispatchOptions::default()).unwrap();
    assert_eq!(answer, (OutcomeKind::Answered, r#"json {"o":{},"d":1}"#.into()));
}

#[test]
fn the_defaults_of_the_real_tool_lists_fit_their_schemas() {
    let Some(folder) = shared("data/mcp-tools", "the_defaults_of_the_real_tool_lists_fit_their_schemas")
    else {
        return;
    };
    let mut defaults = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let list: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let tools = list.as_array().or(list["tools"].as_array()).or(list["result"]["tools"].as_array());
        for tool in tools.unwrap() {
            let text = tool["inputSchema"].to_string();
            defaults += text.matches("\"default\":").count();
            let mut memory = vec![0; 12 * text.len() + 64];
            let used = compile(&text, &CompileOptions::default(), &mut memory).unwrap();
            let schema = Schema::new(&text, &memory[..used]);
            wrong_defaults(schema, &CheckOptions::default(), &mut [0; 256], &mut |wrong| {
                panic!("{}: {}", tool["name"], wrong.value().raw());
            })
            .unwrap();
        }
    }
    assert!(defaults >= 17, "{defaults}");
}
