//! What a registry does with the schemas of its tools: how they are compiled, what they may refer to, what
//! memory they take; and arguments of which one stands twice.
#![cfg(all(feature = "pattern", feature = "format", feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::RefCell;

use common::{
    Boxed, Memory, answered, dispatched, echo, open, shared, try_answer, try_dispatch, with_schema,
};
use toolcore::answer::AnswerOptions;
use toolcore::call::ToolCall;
use toolcore::dialect::Dialect;
use toolcore::dispatch::DispatchOptions;
use toolcore::registry::{AddError, RegistryOptions};
use toolcore::result::OutcomeKind::{Answered, BadArguments};
use toolcore::schema::{Coercion, CompileOptions, Draft, Resource, SchemaErrorKind, compile, program_size};
use toolcore::sink::Sink;
use toolcore::tool::{Parameters, ToolDefinition};

const UNITS: Resource<'static> = Resource {
    uri: "https://example.com/units",
    text: r#"{"$defs":{"unit":{"enum":["c","f"]},"bad":{"type":7}}}"#,
};

#[test]
fn a_tools_schema_may_refer_to_the_registrys_resources() {
    let mut memory = Memory::ample();
    let options = RegistryOptions { resources: &[UNITS], ..RegistryOptions::default() };
    let mut tools = memory.with_options(options);
    let schema = r#"{"type":"object","properties":{"u":{"$ref":"https://example.com/units#/$defs/unit"}}}"#;
    tools.add(&with_schema("t", schema), echo()).unwrap();
    assert_eq!(dispatched(&tools, "t", r#"{"u":"c"}"#), (Answered, r#"json {"u":"c"}"#.into()));
    assert_eq!(
        dispatched(&tools, "t", r#"{"u":"k"}"#).1,
        r#"Tool error: Invalid arguments for 't': /u: expected one of "c", "f", got "k""#
    );
    let output = Some(r#"{"$ref":"https://example.com/units#/$defs/unit"}"#);
    tools.add(&ToolDefinition { output_schema: output, ..open("o") }, echo()).unwrap();
}

#[test]
fn a_registry_without_resources_refuses_what_leads_there() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let schema = r#"{"properties":{"u":{"$ref":"https://example.com/units#/$defs/unit"}}}"#;
    let error = tools.add(&with_schema("t", schema), echo()).unwrap_err();
    assert!(matches!(error, AddError::Parameters(error) if error.kind == SchemaErrorKind::UnknownDocument));
}

#[test]
fn what_is_wrong_in_a_resource_is_named_with_its_uri_and_place() {
    let mut memory = Memory::ample();
    let options = RegistryOptions { resources: &[UNITS], ..RegistryOptions::default() };
    let mut tools = memory.with_options(options);
    let schema = r#"{"properties":{"u":{"$ref":"https://example.com/units#/$defs/bad"}}}"#;
    let with_output = ToolDefinition { output_schema: Some(schema), ..open("o") };
    for tool in [with_schema("t", schema), with_output] {
        let mut text = [0; 256];
        let mut why = Sink::new(&mut text);
        tools.add_explained(&tool, echo(), &mut why).unwrap_err();
        assert_eq!(
            why.finish().unwrap(),
            "https://example.com/units#/$defs/bad/type: keyword with a wrong value, expected the name of a type, or an array of such names that is not empty"
        );
    }
}

#[test]
fn formats_and_the_draft_are_the_registrys() {
    let schema = r#"{"properties":{"d":{"format":"date"},"l":{"items":[{"type":"null"}]}}}"#;
    for (formats, default_draft, arguments, kind) in [
        (false, Draft::Draft7, r#"{"d":"today"}"#, Answered),
        (true, Draft::Draft7, r#"{"d":"today"}"#, BadArguments),
        (true, Draft::Draft7, r#"{"d":"2024-02-29"}"#, Answered),
        (true, Draft::Draft7, r#"{"l":[1]}"#, BadArguments),
    ] {
        let mut memory = Memory::ample();
        let compile = CompileOptions { formats, default_draft, ..CompileOptions::default() };
        let mut tools = memory.with_options(RegistryOptions { compile, ..RegistryOptions::default() });
        tools.add(&with_schema("t", schema), echo()).unwrap();
        assert_eq!(dispatched(&tools, "t", arguments).0, kind, "{arguments}");
    }
    // An array of `items` is of draft 7 alone.
    let mut memory = Memory::ample();
    assert!(memory.registry().add(&with_schema("t", schema), echo()).is_err());
}

#[test]
fn what_a_schema_takes_is_told_and_known_beforehand() {
    let large = format!(
        r#"{{"properties":{{{}}}}}"#,
        (0..60).map(|n| format!(r#""name{n}":{{"enum":["a","b",{n}]}}"#)).collect::<Vec<_>>().join(",")
    );
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for schema in [
        "true",
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":3},"b":{"pattern":"^a+$"}},"required":["a"]}"#,
        r#"{"anyOf":[{"required":["a"]},{"properties":{"b":{"items":{"format":"date"}}}}]}"#,
        large.as_str(),
    ] {
        let (before, _) = tools.pool_used();
        tools.add(&with_schema("t", schema), echo()).unwrap();
        let info = tools.get("t").unwrap().info;
        assert_eq!(info.schema_size(), program_size(schema, &CompileOptions::default()).unwrap(), "{schema}");
        assert_eq!(info.pool_size(), tools.pool_used().0 - before, "{schema}");
        assert_eq!(info.pool_size(), "t".len() + schema.len() + info.schema_size(), "{schema}");
        tools.remove("t");
    }
}

#[test]
fn what_the_schemas_of_real_tools_take_is_known_beforehand() {
    let Some(folder) = shared("data/mcp-tools", "what_the_schemas_of_real_tools_take_is_known_beforehand")
    else {
        return;
    };
    let mut all = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let Ok(list) = serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(file).unwrap())
        else {
            continue;
        };
        let places = ["/tools", "/result/tools", ""];
        for tool in places.iter().find_map(|place| list.pointer(place)?.as_array()).into_iter().flatten() {
            let (schema, name) = (tool["inputSchema"].to_string(), tool["name"].as_str().unwrap());
            let mut memory = Memory::ample();
            let mut tools = memory.registry();
            tools.add(&with_schema(name, &schema), echo()).unwrap();
            let told = tools.get(name).unwrap().info.schema_size();
            let before = program_size(&schema, &CompileOptions::default()).unwrap();
            if schema.contains("$ref") {
                assert!(told <= before, "{name}");
            } else {
                assert_eq!(told, before, "{name}");
                let too_little = compile(&schema, &CompileOptions::default(), &mut vec![0; told - 1]);
                assert_eq!(too_little.unwrap_err().no_space(), Some(told), "{name}");
            }
            all += 1;
        }
    }
    assert!(all >= 40, "{all}");
}

const TWICE: &str = r#"{"a":{"x":"1","x":2},"b":1,"a":{"x":"3","y":[{"z":1,"z":2}],"x":"4"},"\u0062":5}"#;
const ONCE: &str = r#"{"a":{"y":[{"z":2}],"x":"4"},"\u0062":5}"#;

#[test]
fn arguments_that_stand_twice_are_refused_unless_the_last_one_is_to_win() {
    let mut memory = Memory::<Boxed<'_>>::ample();
    let mut tools = memory.registry();
    let integer =
        r#"{"properties":{"a":{"properties":{"x":{"type":["integer","string"]}}},"b":{"type":"integer"}}}"#;
    let schema = with_schema("plain", integer);
    tools.add(&schema, echo()).unwrap();
    tools.add(&ToolDefinition { name: "own", last_wins: true, ..schema }, echo()).unwrap();
    let (kind, said) = dispatched(&tools, "plain", TWICE);
    assert_eq!(kind, BadArguments);
    assert!(said.contains("/a: ") && said.contains("/b: "), "{said}");
    let told = RefCell::new(Vec::new());
    let changed = |_: &ToolCall<'_>, change: &Coercion<'_>| {
        let mut path = [0; 64];
        let mut sink = Sink::new(&mut path);
        change.write_path(&mut sink);
        told.borrow_mut().push(format!("{} {}", sink.finish().unwrap(), change.rule.name()));
    };
    for (name, last_wins) in [("plain", true), ("own", false)] {
        told.borrow_mut().clear();
        let call = ToolCall { name, arguments: TWICE, ..ToolCall::default() };
        let options = DispatchOptions { last_wins, changed: Some(&changed), ..DispatchOptions::default() };
        let (kind, said) = try_dispatch(&tools, &call, &options).unwrap();
        // No value is converted: the tools do not coerce.
        assert_eq!((kind, said), (Answered, format!("json {ONCE}")));
        assert!(told.borrow().iter().all(|change| change.ends_with(" duplicate-removed")), "{told:?}");
        assert_eq!(told.borrow().len(), 4, "{told:?}");
    }
}

#[test]
fn a_turn_can_let_the_last_one_win_too() {
    let mut memory = Memory::<Boxed<'_>>::ample();
    let mut tools = memory.registry();
    tools.add(&open("t"), echo()).unwrap();
    let reply = format!(r#"{{"name":"t","arguments":{TWICE}}}"#);
    assert_eq!(answered(&tools, Dialect::Mcp, &reply).kinds(), [BadArguments]);
    let options = AnswerOptions { last_wins: true, ..AnswerOptions::default() };
    let done = try_answer(&tools, Dialect::Mcp, &reply, &options).unwrap();
    assert_eq!(done.kinds(), [Answered]);
    assert_eq!(done.messages()["structuredContent"].to_string(), r#"{"a":{"x":"4","y":[{"z":2}]},"b":5}"#);
}

#[test]
fn the_last_one_that_wins_is_what_is_coerced_and_checked() {
    let mut memory = Memory::<Boxed<'_>>::ample();
    let mut tools = memory.registry();
    let schema = r#"{"properties":{"n":{"type":"integer"},"m":{"default":1}}}"#;
    let both = ToolDefinition { coerce: true, last_wins: true, ..with_schema("both", schema) };
    tools.add(&both, echo()).unwrap();
    let alone =
        ToolDefinition { name: "alone", coerce: false, parameters: Parameters::Schema(schema), ..both };
    tools.add(&alone, echo()).unwrap();
    assert_eq!(dispatched(&tools, "both", r#"{"n":"x","n":"7"}"#).1, r#"json {"n":7,"m":1}"#);
    assert_eq!(dispatched(&tools, "alone", r#"{"n":"x","n":7}"#).1, r#"json {"n":7}"#);
    assert_eq!(dispatched(&tools, "alone", r#"{"n":7,"n":"7"}"#).0, BadArguments);
    // What has nothing twice is not touched, blanks and all.
    assert_eq!(dispatched(&tools, "alone", r#"{ "n" : 7 }"#).1, r#"json { "n" : 7 }"#);
}
