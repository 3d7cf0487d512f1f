//! What each provider is told of the tools, against JSON written by hand from its own models.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::dialects::{json_dialects, reply, tools as told};
use common::{Boxed, Memory, answered, echo, open, read, rendered, rendered_json, with_schema};
use serde_json::{Value as Json, json};
use toolcore::dialect::{Choice, Dialect, RenderErrorKind, RenderedTools, ToolsOptions, render_tools};
use toolcore::registry::{Registry, RegistryOptions};
use toolcore::result::OutcomeKind;
use toolcore::schema::Resource;
use toolcore::sink::Sink;
use toolcore::tool::{Annotations, Parameters, ToolDefinition};

const CITY: &str = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],
    "additionalProperties":false}"#;

fn city() -> Json {
    read(CITY)
}

fn weather() -> ToolDefinition<'static> {
    ToolDefinition {
        name: "get_weather",
        title: "Weather",
        description: "Current \"weather\" in a city.\n",
        category: "home",
        parameters: Parameters::Schema(CITY),
        output_schema: Some(r#"{"type":"object","properties":{"celsius":{"type":"number"}}}"#),
        annotations: Annotations {
            read_only: Some(true),
            destructive: Some(false),
            ..Annotations::default()
        },
        ..ToolDefinition::default()
    }
}

fn with_tools(tools: &[ToolDefinition<'_>], check: impl FnOnce(&Registry<'_, Boxed<'static>>)) {
    let mut memory = Memory::ample();
    let mut registry = memory.registry();
    for tool in tools {
        registry.add(tool, echo()).unwrap();
    }
    check(&registry);
}

#[test]
fn a_tool_has_the_members_of_its_dialect_and_no_others() {
    let plain = with_schema("plain", CITY);
    let strict = ToolDefinition { strict: true, ..with_schema("strict", CITY) };
    let description = "Current \"weather\" in a city.\n";
    with_tools(&[weather(), plain, strict], |tools| {
        let options = ToolsOptions::default();
        let function = |name: &str| json!({"name":name,"parameters":city()});
        let mut first = function("get_weather");
        first["description"] = description.into();
        let mut last = function("strict");
        last["strict"] = true.into();
        let expected = json!({"tools":[
            {"type":"function","function":first},
            {"type":"function","function":function("plain")},
            {"type":"function","function":last},
        ]});
        assert_eq!(rendered_json(tools, Dialect::OpenAiChat, &options), expected);
        let expected = json!({"tools":[
            {"name":"get_weather","description":description,"input_schema":city()},
            {"name":"plain","input_schema":city()},
            {"name":"strict","input_schema":city(),"strict":true},
        ]});
        assert_eq!(rendered_json(tools, Dialect::Anthropic, &options), expected);
        let expected = json!({"tools":[
            {"name":"get_weather","title":"Weather","description":description,"inputSchema":city(),
                "outputSchema":celsius(),"annotations":{"readOnlyHint":true,"destructiveHint":false}},
            {"name":"plain","inputSchema":city()},
            {"name":"strict","inputSchema":city()},
        ]});
        assert_eq!(rendered_json(tools, Dialect::Mcp, &options), expected);
        for (dialect, expected) in [
            (Dialect::OpenAiResponses, responses(description)),
            (Dialect::Gemini, gemini(description, "parametersJsonSchema")),
            (Dialect::GeminiSchema, gemini(description, "parameters")),
            (Dialect::Bedrock, bedrock(description)),
            (Dialect::Ollama, ollama(description)),
        ] {
            let shown = rendered_json(tools, dialect, &options);
            // The older form of Gemini has schemas of its own, which are tested with their lowering.
            if dialect == Dialect::GeminiSchema {
                let bare = |tools: &Json| -> Vec<Json> {
                    let tools = told(dialect, tools).0.into_iter();
                    tools
                        .map(|mut tool| {
                            let members = tool.as_object_mut().unwrap();
                            members.remove("parameters").unwrap();
                            let output =
                                ["response", "responseJsonSchema"].map(|key| members.remove(key).is_some());
                            assert_eq!(output.contains(&true), members["name"] == "get_weather");
                            tool
                        })
                        .collect()
                };
                assert_eq!(bare(&shown), bare(&expected));
            } else {
                assert_eq!(shown, expected, "{}", dialect.name());
            }
        }
    });
}

/// What the weather tool gives.
fn celsius() -> Json {
    json!({"type":"object","properties":{"celsius":{"type":"number"}}})
}

/// `strict` is always there: the provider takes its absence for true.
fn responses(description: &str) -> Json {
    json!({"tools":[
        {"type":"function","name":"get_weather","description":description,"parameters":city(),"strict":false,
            "output_schema":celsius()},
        {"type":"function","name":"plain","parameters":city(),"strict":false},
        {"type":"function","name":"strict","parameters":city(),"strict":true}]})
}

/// There is no word for strictness.
fn gemini(description: &str, parameters: &str) -> Json {
    json!({"tools":[{"functionDeclarations":[
        {"name":"get_weather","description":description,parameters:city(),"responseJsonSchema":celsius()},
        {"name":"plain",parameters:city()},
        {"name":"strict",parameters:city()}]}]})
}

fn bedrock(description: &str) -> Json {
    json!({"toolConfig":{"tools":[
        {"toolSpec":{"name":"get_weather","description":description,"inputSchema":{"json":city()}}},
        {"toolSpec":{"name":"plain","inputSchema":{"json":city()}}},
        {"toolSpec":{"name":"strict","inputSchema":{"json":city()},"strict":true}}]}})
}

fn ollama(description: &str) -> Json {
    let function = |body: Json| json!({"type":"function","function":body});
    json!({"tools":[
        function(json!({"name":"get_weather","description":description,"parameters":city()})),
        function(json!({"name":"plain","parameters":city()})),
        function(json!({"name":"strict","parameters":city()}))]})
}

#[test]
fn every_dialect_is_found_by_its_name() {
    let names = Dialect::ALL.map(Dialect::name);
    assert_eq!(
        names,
        [
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
            "mistral"
        ]
    );
    assert_eq!(names.map(Dialect::from_name), Dialect::ALL.map(Some));
    assert_eq!(Dialect::from_name("OpenAI"), None);
}

#[test]
fn all_four_hints_have_their_names_in_mcp() {
    let annotations = Annotations {
        read_only: Some(false),
        destructive: Some(true),
        idempotent: Some(true),
        open_world: Some(false),
    };
    with_tools(&[ToolDefinition { annotations, ..open("a") }], |tools| {
        let shown = rendered_json(tools, Dialect::Mcp, &ToolsOptions::default());
        let expected =
            json!({"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false});
        assert_eq!(shown["tools"][0]["annotations"], expected);
    });
}

/// An empty `tools` array is refused by providers, so nothing is said at all; MCP wants the empty list.
#[test]
fn without_tools_there_are_no_members() {
    with_tools(&[], |tools| {
        for choice in [None, Some(Choice::Auto), Some(Choice::None)] {
            let options = ToolsOptions { choice, parallel: Some(true), ..ToolsOptions::default() };
            for dialect in json_dialects() {
                let expected = if dialect == Dialect::Mcp { r#"{"tools":[]}"# } else { "{}" };
                assert_eq!(rendered(tools, dialect, &options).unwrap().0, expected, "{}", dialect.name());
            }
        }
        let options = ToolsOptions { choice: Some(Choice::Required), ..ToolsOptions::default() };
        let error = rendered(tools, Dialect::Anthropic, &options).unwrap_err();
        assert_eq!(error.kind, RenderErrorKind::UnknownChoice);
    });
    with_tools(&[weather()], |tools| {
        let options = ToolsOptions { category: Some("garden"), ..ToolsOptions::default() };
        assert_eq!(rendered(tools, Dialect::OpenAiChat, &options).unwrap().0, "{}");
    });
}

#[test]
fn bare_members_can_be_pasted_into_a_request() {
    with_tools(&[weather()], |tools| {
        for dialect in json_dialects() {
            let options = ToolsOptions { choice: Some(Choice::Auto), ..ToolsOptions::default() };
            let whole = rendered(tools, dialect, &options).unwrap().0;
            let bare = rendered(tools, dialect, &ToolsOptions { bare: true, ..options }).unwrap().0;
            assert_eq!(whole, format!("{{{bare}}}"));
            read(&format!("{{\"model\":\"m\",{bare}}}"));
        }
    });
    with_tools(&[], |tools| {
        let options = ToolsOptions { bare: true, ..ToolsOptions::default() };
        assert_eq!(rendered(tools, Dialect::OpenAiChat, &options).unwrap().0, "");
    });
}

/// Cases 022 and 023: OpenAI and Bedrock take 64 of `[a-zA-Z0-9_-]`, Anthropic 128 of the same, MCP, Gemini and
/// Ollama dots too; Gemini wants a letter or `_` in front.
#[test]
fn a_name_that_the_provider_does_not_allow_goes_out_as_an_alias_and_comes_back() {
    let dotted = "admin.tools.list";
    let long = "mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_message";
    assert_eq!(long.len(), 68);
    let both = format!("{}.{}", "x".repeat(63), "y".repeat(64));
    let names = [dotted, long, "admin_tools_list", "admin.tools_list", "fits", both.as_str(), "2_fast"];
    let tools = names.map(open);
    with_tools(&tools, |tools| {
        for (dialect, max, aliased) in [
            (Dialect::OpenAiChat, 64, [true, true, false, true, false, true, false]),
            (Dialect::OpenAiResponses, 64, [true, true, false, true, false, true, false]),
            (Dialect::Bedrock, 64, [true, true, false, true, false, true, false]),
            (Dialect::Anthropic, 128, [true, false, false, true, false, true, false]),
            (Dialect::Gemini, 128, [false, false, false, false, false, false, true]),
            (Dialect::GeminiSchema, 128, [false, false, false, false, false, false, true]),
            (Dialect::Ollama, 128, [false; 7]),
            (Dialect::Mcp, 128, [false; 7]),
        ] {
            let (text, notes) = rendered(tools, dialect, &ToolsOptions::default()).unwrap();
            let (shown, _) = told(dialect, &read(&text));
            let wire: Vec<&str> = shown.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            for ((name, wire), aliased) in names.iter().zip(&wire).zip(aliased) {
                assert_eq!(wire != name, aliased, "{name} as {wire}");
                assert!(wire.len() <= max && !wire.is_empty());
                let dots = !["openai", "anthr", "bedro"].iter().any(|word| dialect.name().starts_with(word));
                let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.' && dots;
                assert!(wire.chars().all(allowed), "{wire}");
                let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
                assert!(!dialect.name().starts_with("gemini") || wire.starts_with(letter), "{wire}");
                let told = notes.iter().any(|note| {
                    note.starts_with(&format!("{name}: ")) && note.contains(&format!("'{wire}'"))
                });
                assert_eq!(told, aliased, "{notes:?}");
                let kind = |name: &str| answered(tools, dialect, &reply(dialect, &[name])).kinds()[0];
                assert_eq!(kind(wire), OutcomeKind::Answered, "{wire}");
                // A model that repeats the name from a text means the same tool.
                assert_eq!(kind(name), OutcomeKind::Answered, "{name}");
                assert_eq!(kind(&format!("{wire}x")), OutcomeKind::UnknownTool);
            }
            let distinct: std::collections::BTreeSet<_> = wire.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{wire:?}");
        }
    });
    for (name, dialect, max, len) in [
        (long, Dialect::OpenAiChat, 64, 68),
        (dotted, Dialect::OpenAiChat, 64, 16),
        (dotted, Dialect::Anthropic, 128, 16),
    ] {
        with_tools(&[open("fits"), open(name)], |tools| {
            let options = ToolsOptions { no_alias: true, ..ToolsOptions::default() };
            let error = rendered(tools, dialect, &options).unwrap_err();
            assert_eq!((error.tool, error.kind), (Some(1), RenderErrorKind::Name { max, len }));
            let message = error.to_string();
            assert!(message.contains(&max.to_string()) && message.contains(&len.to_string()), "{message}");
            assert!(rendered(tools, Dialect::Mcp, &options).is_ok());
        });
    }
}

#[test]
fn a_chosen_tool_and_a_handler_see_the_name_that_is_theirs() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = common::boxed(|call, result| Ok(result.text(call.name)?));
    tools.add(&open("admin.tools.list"), run).unwrap();
    let options = ToolsOptions { choice: Some(Choice::Tool("admin.tools.list")), ..ToolsOptions::default() };
    let shown = rendered_json(&tools, Dialect::Anthropic, &options);
    let wire = shown["tools"][0]["name"].as_str().unwrap();
    assert_eq!(shown["tool_choice"]["name"], wire);
    let messages = answered(&tools, Dialect::Anthropic, &reply(Dialect::Anthropic, &[wire])).messages();
    assert_eq!(messages[0]["content"][0]["content"], "admin.tools.list");
}

#[test]
fn two_tools_with_one_name_on_the_wire_are_refused() {
    with_tools(&[open("admin.tools.list")], |tools| {
        let shown = rendered_json(tools, Dialect::OpenAiChat, &ToolsOptions::default());
        let alias = shown["tools"][0]["function"]["name"].as_str().unwrap();
        for order in [["admin.tools.list", alias], [alias, "admin.tools.list"]] {
            with_tools(&order.map(open), |tools| {
                let error = rendered(tools, Dialect::OpenAiChat, &ToolsOptions::default()).unwrap_err();
                assert_eq!(error.kind, RenderErrorKind::AliasClash);
                assert_eq!(error.tool, order.iter().position(|name| *name != alias));
                assert!(rendered(tools, Dialect::Mcp, &ToolsOptions::default()).is_ok());
            });
        }
    });
}

/// Case 020: OpenAI wants `properties` in every object node; what only looks like a schema is left alone.
#[test]
fn an_object_schema_without_properties_gets_empty_ones_where_the_provider_wants_them() {
    let bare = with_schema("bare", r#"{"type":"object"}"#);
    let nested = with_schema(
        "nested",
        r#"{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"array","items":{"type":["object","null"]}},
            "properties":{"type":"string","default":{"type":"object"}},"c":{"enum":[{"type":"object"}]}},
            "default":{"type":"object"}}"#,
    );
    with_tools(&[bare, nested], |tools| {
        let (text, notes) = rendered(tools, Dialect::OpenAiChat, &ToolsOptions::default()).unwrap();
        let shown = read(&text);
        assert_eq!(shown["tools"][0]["function"]["parameters"], json!({"type":"object","properties":{}}));
        let expected = json!({"type":"object","properties":{
            "a":{"type":"object","properties":{}},
            "b":{"type":"array","items":{"type":["object","null"],"properties":{}}},
            "properties":{"type":"string","default":{"type":"object"}},"c":{"enum":[{"type":"object"}]}},
            "default":{"type":"object"}});
        assert_eq!(shown["tools"][1]["function"]["parameters"], expected);
        assert!(notes.iter().any(|note| note.starts_with("bare: ")), "the change is told: {notes:?}");
        assert!(notes.iter().any(|note| note.starts_with("nested: ")), "the change is told: {notes:?}");
    });
}

#[test]
fn a_schema_that_cannot_be_strict_is_an_error_that_names_the_tool_and_the_place() {
    for (schema, path) in [
        (r#"{"type":"object","additionalProperties":true}"#, "/additionalProperties"),
        (
            r#"{"type":"object","properties":{"a":{"type":"object","patternProperties":{"^x":{}}}}}"#,
            "/properties/a/patternProperties",
        ),
        (r#"{"type":"object","properties":{"a":{"description":"Anything."}}}"#, "/properties/a"),
    ] {
        let strict = ToolDefinition { strict: true, ..with_schema("s", schema) };
        with_tools(&[open("fits"), strict], |tools| {
            for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic] {
                let error = rendered(tools, dialect, &ToolsOptions::default()).unwrap_err();
                assert_eq!(error.tool, Some(1), "{schema}");
                assert!(matches!(error.kind, RenderErrorKind::Strict(_)), "{error}");
                let mut place = [0; 64];
                let mut sink = Sink::new(&mut place);
                error.write_path(tools, &mut sink);
                assert_eq!(sink.finish(), Ok(path));
            }
        });
    }
}

/// Bedrock and Cohere were told of strict with the schema as it was.
#[test]
fn a_strict_tool_is_lowered_wherever_it_is_said_to_be_strict() {
    let schema = r#"{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"null"}}}},"required":["x"]}"#;
    let strict = ToolDefinition { strict: true, ..with_schema("s", schema) };
    with_tools(&[strict], |tools| {
        for dialect in common::dialects::json_dialects() {
            let (text, notes) = rendered(tools, dialect, &ToolsOptions::default()).unwrap();
            let says = text.contains("\"strict\":true") || text.contains("\"strict_tools\":true");
            assert_eq!(
                text.matches("\"additionalProperties\":false").count(),
                if says { 2 } else { 0 },
                "{text}"
            );
            let dropped: Vec<&String> = notes.iter().filter(|note| note.contains("no strict mode")).collect();
            assert_eq!(dropped.len(), usize::from(!says), "{}: {notes:?}", dialect.name());
            let refuse = ToolsOptions { refuse_dropped: true, ..ToolsOptions::default() };
            let refused = rendered(tools, dialect, &refuse).err().map(|error| (error.tool, error.kind));
            let expected = (!says).then_some((Some(0), RenderErrorKind::StrictDropped));
            assert_eq!(refused, expected, "{}", dialect.name());
        }
    });
}

#[test]
fn each_change_of_a_strict_schema_is_told_with_its_tool_and_place() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string","minLength":1}}}"#;
    let strict = ToolDefinition { strict: true, ..with_schema("s", schema) };
    with_tools(&[strict], |tools| {
        let mut notes = Vec::new();
        let mut told = |note: toolcore::dialect::Note<'_>| {
            let mut text = [0; 256];
            let mut sink = Sink::new(&mut text);
            note.write_path(&mut sink);
            sink.put(" ");
            note.write_message(&mut sink);
            notes.push(format!("{} {}", note.tool, sink.finish().unwrap()));
        };
        let options = ToolsOptions::default();
        render_tools(tools, Dialect::OpenAiChat, &options, &mut Sink::measure(), &mut told).unwrap_err();
        assert_eq!(
            notes,
            [
                "s /properties/a sent as required, null meaning absent: the provider wants every property required",
                "s /properties/a/minLength moved into the description: the provider does not take it",
                "s  additionalProperties false added: the provider wants closed objects",
            ]
        );
    });
}

#[test]
fn rendered_tools_are_kept_until_something_changes() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("admin.tools"), echo()).unwrap();
    let mut buffer = vec![0; 4096];
    let mut kept = RenderedTools::new(&mut buffer);
    let (plain, bare) = (ToolsOptions::default(), ToolsOptions { bare: true, ..ToolsOptions::default() });
    let mut ask = |tools: &Registry<'_, Boxed<'_>>, dialect, options: &ToolsOptions<'static>| {
        let mut notes = 0;
        let text = kept.get(tools, dialect, options, &mut |_| notes += 1).map(String::from);
        assert_eq!(text, rendered(tools, dialect, options).map(|(text, _)| text));
        notes > 0
    };
    // It is told of the alias whenever it is rendered.
    assert!(ask(&tools, Dialect::OpenAiChat, &plain));
    assert!(!ask(&tools, Dialect::OpenAiChat, &plain));
    assert!(ask(&tools, Dialect::OpenAiChat, &bare));
    assert!(ask(&tools, Dialect::Anthropic, &bare));
    assert!(!ask(&tools, Dialect::Anthropic, &bare));
    tools.add(&open("b"), echo()).unwrap();
    assert!(ask(&tools, Dialect::Anthropic, &bare));
    assert!(tools.remove("b") && ask(&tools, Dialect::Anthropic, &bare));
    assert!(!tools.remove("b") && !ask(&tools, Dialect::Anthropic, &bare));
    assert!(tools.add(&open("admin.tools"), echo()).is_err() && !ask(&tools, Dialect::Anthropic, &bare));
    tools.clear();
    ask(&tools, Dialect::Anthropic, &bare);
    let mut little = [0; 8];
    let mut kept = RenderedTools::new(&mut little);
    tools.add(&open("b"), echo()).unwrap();
    for _ in 0..2 {
        let error = kept.get(&tools, Dialect::Mcp, &plain, &mut |_| {}).unwrap_err();
        assert!(matches!(error.kind, RenderErrorKind::NoSpace(_)), "{error}");
    }
}

/// At most 20 strict tools, 24 optional parameters and 16 of several types in a request to Anthropic.
#[test]
fn what_a_provider_limits_in_a_request_is_counted_over_all_strict_tools() {
    let optional = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}"#;
    let union = r#"{"type":"object","properties":{"a":{"type":["string","integer"]}},"required":["a"]}"#;
    for (schema, most) in [(CITY, 20), (optional, 12), (union, 16)] {
        let names: Vec<String> = (0..most + 1).map(|n| format!("t{n}")).collect();
        let tool = |name| ToolDefinition { strict: true, ..with_schema(name, schema) };
        let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
        with_tools(&tools[..most], |tools| {
            assert!(rendered(tools, Dialect::Anthropic, &ToolsOptions::default()).is_ok(), "{schema}");
        });
        with_tools(&tools, |tools| {
            let error = rendered(tools, Dialect::Anthropic, &ToolsOptions::default()).unwrap_err();
            assert_eq!(error.tool, Some(most), "{error}");
            assert!(error.to_string().contains("in a request"), "{error}");
            assert!(rendered(tools, Dialect::OpenAiChat, &ToolsOptions::default()).is_ok(), "{schema}");
        });
    }
}

#[test]
fn an_output_of_every_size_is_whole_or_names_what_is_needed() {
    with_tools(&[weather(), open("admin.tools.list")], |tools| {
        for dialect in json_dialects() {
            let options =
                ToolsOptions { choice: Some(Choice::Tool("get_weather")), ..ToolsOptions::default() };
            let whole = rendered(tools, dialect, &options).unwrap().0;
            for size in 0..=whole.len() + 8 {
                let mut buffer = vec![0; size];
                let mut sink = Sink::new(&mut buffer);
                sink.put("kept");
                let before = sink.len();
                match render_tools(tools, dialect, &options, &mut sink, &mut |_| {}) {
                    Ok(()) => assert_eq!(sink.finish(), Ok(format!("kept{whole}").as_str())),
                    Err(error) => {
                        let RenderErrorKind::NoSpace(no_space) = error.kind else { panic!("{error}") };
                        assert!(size < whole.len() + 4);
                        assert_eq!((no_space.need, sink.len()), (whole.len() + 4, before));
                    }
                }
            }
        }
    });
}

/// No provider can follow a reference into a document of the host.
#[test]
fn a_reference_to_a_resource_of_the_registry_is_told_as_what_it_leads_to() {
    let units = Resource {
        uri: "https://x.test/units",
        text: r#"{"$defs":{"u":{"enum":["c","f"],"type":"string"}}}"#,
    };
    let options = RegistryOptions { resources: &[units], ..RegistryOptions::default() };
    let schema =
        r#"{"type":"object","properties":{"u":{"$ref":"https://x.test/units#/$defs/u"}},"required":["u"]}"#;
    let mut memory = Memory::ample();
    let mut tools = memory.with_options(options);
    tools.add(&with_schema("t", schema), echo()).unwrap();
    for dialect in json_dialects() {
        let (text, notes) = rendered(&tools, dialect, &ToolsOptions::default()).unwrap();
        let (shown, place) = told(dialect, &read(&text));
        let unit = shown[0].pointer(place).unwrap()["properties"]["u"].clone();
        let kind = if dialect == Dialect::GeminiSchema { "STRING" } else { "string" };
        assert_eq!(unit, json!({"type":kind,"enum":["c","f"]}), "{}", dialect.name());
        assert_eq!(notes, ["t: what is referred to was put in the place of the reference"]);
    }
    for dialect in Dialect::ALL.into_iter().filter(|dialect| dialect.is_text()) {
        let (text, _) = rendered(&tools, dialect, &ToolsOptions::default()).unwrap();
        assert!(!text.contains("x.test"), "{text}");
    }
}
