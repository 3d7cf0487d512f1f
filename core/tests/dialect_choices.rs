//! What each provider is told of which tools the model calls, of its own tools, and of caching, against JSON
//! written by hand from its own models.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use common::dialects::tools as told;
use common::{Boxed, Memory, echo, open, read, rendered, rendered_json};
use serde_json::{Value as Json, json};
use toolcore::dialect::{Choice, Dialect, NativeKind, NativeTool, RenderErrorKind, ToolsOptions};
use toolcore::registry::Registry;
use toolcore::tool::ToolDefinition;

fn with_tools(tools: &[ToolDefinition<'_>], check: impl FnOnce(&Registry<'_, Boxed<'static>>)) {
    let mut memory = Memory::ample();
    let mut registry = memory.registry();
    for tool in tools {
        registry.add(tool, echo()).unwrap();
    }
    check(&registry);
}

/// Of two tools, `get_weather` and `other`, with this choice and word about parallel calls: the members beside
/// the tools, which tools are told, and the notes.
fn told_with(
    dialect: Dialect,
    choice: Option<Choice<'_>>,
    parallel: Option<bool>,
) -> (Json, Vec<String>, Vec<String>) {
    let mut seen = None;
    with_tools(&[open("get_weather"), open("other")], |tools| {
        let options = ToolsOptions { choice, parallel, ..ToolsOptions::default() };
        let (text, notes) = rendered(tools, dialect, &options).unwrap();
        let mut members = read(&text);
        let names =
            told(dialect, &members).0.iter().map(|tool| tool["name"].as_str().unwrap().into()).collect();
        let object = members.as_object_mut().unwrap();
        object.remove("tools");
        if let Some(config) = object.get_mut("toolConfig").and_then(Json::as_object_mut) {
            config.remove("tools");
        }
        // What is added to the open schemas is not of interest here.
        let notes = notes.into_iter().filter(|note| !note.contains("properties")).collect();
        seen = Some((members, names, notes));
    });
    seen.unwrap()
}

const AUTO: Option<Choice<'_>> = Some(Choice::Auto);
const NONE: Option<Choice<'_>> = Some(Choice::None);
const REQUIRED: Option<Choice<'_>> = Some(Choice::Required);
const THIS: Option<Choice<'_>> = Some(Choice::Tool("get_weather"));
const MAY: Option<Choice<'_>> = Some(Choice::Allowed { names: &["get_weather"], required: false });
const MUST: Option<Choice<'_>> = Some(Choice::Allowed { names: &["get_weather"], required: true });

/// Checks rows of a dialect that has a word for each of them: both tools are told, and nothing is noted.
fn all_said(dialect: Dialect, rows: &[(Option<Choice<'_>>, Option<bool>, Json)]) {
    for (choice, parallel, expected) in rows {
        let (members, names, notes) = told_with(dialect, *choice, *parallel);
        assert_eq!(members, *expected, "{} {choice:?}", dialect.name());
        assert_eq!((names, notes), (vec!["get_weather".into(), "other".into()], vec![]), "{choice:?}");
    }
}

#[test]
fn openai_chat_has_words_for_every_choice() {
    let named = json!({"type":"function","function":{"name":"get_weather"}});
    let allowed = |mode: &str| json!({"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":mode,"tools":[named]}}});
    let rows = [
        (None, None, json!({})),
        (AUTO, None, json!({"tool_choice":"auto"})),
        (NONE, None, json!({"tool_choice":"none"})),
        (REQUIRED, None, json!({"tool_choice":"required"})),
        (THIS, None, json!({"tool_choice":named})),
        (MAY, None, allowed("auto")),
        (MUST, None, allowed("required")),
        (THIS, Some(false), json!({"tool_choice":named,"parallel_tool_calls":false})),
        (None, Some(true), json!({"parallel_tool_calls":true})),
    ];
    all_said(Dialect::OpenAiChat, &rows);
}

#[test]
fn responses_have_words_for_every_choice() {
    let named = json!({"type":"function","name":"get_weather"});
    let allowed = |mode: &str| json!({"tool_choice":{"type":"allowed_tools","mode":mode,"tools":[named]}});
    let rows = [
        (None, None, json!({})),
        (AUTO, None, json!({"tool_choice":"auto"})),
        (NONE, None, json!({"tool_choice":"none"})),
        (REQUIRED, None, json!({"tool_choice":"required"})),
        (THIS, None, json!({"tool_choice":named})),
        (MAY, None, allowed("auto")),
        (MUST, None, allowed("required")),
        (THIS, Some(false), json!({"tool_choice":named,"parallel_tool_calls":false})),
        (None, Some(true), json!({"parallel_tool_calls":true})),
    ];
    all_said(Dialect::OpenAiResponses, &rows);
}

#[test]
fn gemini_has_words_for_every_choice_and_none_for_parallel_calls() {
    let mode = |mode: &str| json!({"toolConfig":{"functionCallingConfig":{"mode":mode}}});
    let only = |mode: &str| json!({"toolConfig":{"functionCallingConfig":{"mode":mode,"allowedFunctionNames":["get_weather"]}}});
    let rows = [
        (None, None, json!({})),
        (AUTO, None, mode("AUTO")),
        (NONE, None, mode("NONE")),
        (REQUIRED, None, mode("ANY")),
        (THIS, None, only("ANY")),
        (MAY, None, only("VALIDATED")),
        (MUST, None, only("ANY")),
    ];
    for dialect in [Dialect::Gemini, Dialect::GeminiSchema] {
        all_said(dialect, &rows);
        let (members, _, notes) = told_with(dialect, THIS, Some(false));
        assert_eq!(members, only("ANY"));
        assert_eq!(notes, [": dropped: the dialect has no word for the choice"]);
    }
}

#[test]
fn anthropic_has_words_for_every_choice_but_a_subset() {
    let choice = |choice: Json| json!({"tool_choice":choice});
    let rows = [
        (None, None, json!({})),
        (AUTO, None, choice(json!({"type":"auto"}))),
        (NONE, None, choice(json!({"type":"none"}))),
        (NONE, Some(false), choice(json!({"type":"none"}))),
        (REQUIRED, None, choice(json!({"type":"any"}))),
        (REQUIRED, Some(true), choice(json!({"type":"any","disable_parallel_tool_use":false}))),
        (THIS, None, choice(json!({"type":"tool","name":"get_weather"}))),
        (
            THIS,
            Some(false),
            choice(json!({"type":"tool","name":"get_weather","disable_parallel_tool_use":true})),
        ),
        (None, Some(false), choice(json!({"type":"auto","disable_parallel_tool_use":true}))),
    ];
    all_said(Dialect::Anthropic, &rows);
    // It is told of the subset alone.
    for (allowed, kind) in [(MAY, "auto"), (MUST, "any")] {
        let (members, names, notes) = told_with(Dialect::Anthropic, allowed, None);
        assert_eq!((members, names), (choice(json!({"type":kind})), vec!["get_weather".to_string()]));
        assert_eq!(notes, ["other: left out: the choice does not allow it"]);
    }
}

#[test]
fn mcp_has_no_word_for_a_choice() {
    for (choice, parallel) in [(None, None), (THIS, Some(false)), (REQUIRED, None)] {
        let (members, _, notes) = told_with(Dialect::Mcp, choice, parallel);
        assert_eq!(members, json!({}));
        assert_eq!(notes.len(), usize::from(choice.is_some()), "a dropped choice is told: {notes:?}");
    }
}

#[test]
fn what_a_provider_has_no_word_for_is_refused_on_request() {
    with_tools(&[open("get_weather")], |tools| {
        let render =
            |dialect, options| rendered(tools, dialect, &options).map(|_| ()).map_err(|error| error.kind);
        let strict = ToolsOptions { refuse_dropped: true, ..ToolsOptions::default() };
        let parallel = ToolsOptions { parallel: Some(true), ..strict };
        let choice = ToolsOptions { choice: THIS, ..strict };
        let image = [NativeTool::new(NativeKind::ImageGeneration)];
        let native = ToolsOptions { native: &image, ..strict };
        for (dialect, options, expected) in [
            (Dialect::Gemini, parallel, Err(RenderErrorKind::Choice)),
            (Dialect::Gemini, choice, Ok(())),
            (Dialect::OpenAiResponses, parallel, Ok(())),
            (Dialect::Mcp, choice, Err(RenderErrorKind::Choice)),
            (Dialect::Anthropic, native, Err(RenderErrorKind::Native(NativeKind::ImageGeneration))),
            (Dialect::OpenAiResponses, native, Ok(())),
        ] {
            assert_eq!(render(dialect, options), expected, "{}", dialect.name());
        }
        let options = ToolsOptions { native: &image, ..ToolsOptions::default() };
        let notes = rendered(tools, Dialect::Anthropic, &options).unwrap().1;
        assert!(
            notes.contains(&": dropped: the provider has no tool 'image_generation'".into()),
            "{notes:?}"
        );
    });
}

/// What is told of these tools of the provider alone, beside no function.
fn native_alone(dialect: Dialect, native: &[NativeTool<'_>]) -> Json {
    let mut seen = Json::Null;
    with_tools(&[], |tools| {
        let options =
            ToolsOptions { native, allow_acting: true, refuse_dropped: true, ..ToolsOptions::default() };
        seen = rendered_json(tools, dialect, &options);
    });
    seen
}

const fn with<'a>(kind: NativeKind, config: &'a str) -> NativeTool<'a> {
    NativeTool { kind, config: Some(config) }
}

#[test]
fn tools_of_the_provider_have_their_names_and_the_hosts_configuration() {
    let responses = native_alone(
        Dialect::OpenAiResponses,
        &[
            with(NativeKind::WebSearch, r#"{"search_context_size":"low"}"#),
            with(NativeKind::FileSearch, r#"{"vector_store_ids":["vs_1"],"max_num_results":3}"#),
            NativeTool::new(NativeKind::CodeExecution),
            NativeTool::new(NativeKind::ImageGeneration),
            with(
                NativeKind::ComputerUse,
                r#"{"type":"computer_use_preview","display_height":1,"display_width":1,"environment":"linux"}"#,
            ),
        ],
    );
    let expected = json!({"tools":[
        {"type":"web_search","search_context_size":"low"},
        {"type":"file_search","vector_store_ids":["vs_1"],"max_num_results":3},
        {"type":"code_interpreter","container":{"type":"auto"}},
        {"type":"image_generation"},
        {"type":"computer_use_preview","display_height":1,"display_width":1,"environment":"linux"}]});
    assert_eq!(responses, expected);
    let anthropic = native_alone(
        Dialect::Anthropic,
        &[
            with(NativeKind::WebSearch, r#"{"max_uses":2}"#),
            with(NativeKind::CodeExecution, r#"{"type":"code_execution_20250825"}"#),
            NativeTool::new(NativeKind::ComputerUse),
        ],
    );
    let expected = json!({"tools":[
        {"type":"web_search_20260318","name":"web_search","max_uses":2},
        {"name":"code_execution","type":"code_execution_20250825"},
        {"type":"computer_toolset_20260801"}]});
    assert_eq!(anthropic, expected);
    for dialect in [Dialect::Gemini, Dialect::GeminiSchema] {
        let gemini = native_alone(
            dialect,
            &[
                NativeTool::new(NativeKind::GoogleSearch),
                NativeTool::new(NativeKind::CodeExecution),
                NativeTool::new(NativeKind::GoogleMaps),
                with(NativeKind::FileSearch, r#"{"fileSearchStoreNames":["fileSearchStores/a"]}"#),
                NativeTool::new(NativeKind::ComputerUse),
            ],
        );
        let expected = json!({"tools":[{"googleSearch":{}}, {"codeExecution":{}}, {"googleMaps":{}},
            {"fileSearch":{"fileSearchStoreNames":["fileSearchStores/a"]}},
            {"computerUse":{"environment":"ENVIRONMENT_BROWSER"}}]});
        assert_eq!(gemini, expected);
    }
    // Chat Completions has a member of the request for it, and no list of tools without a function.
    let chat =
        native_alone(Dialect::OpenAiChat, &[with(NativeKind::WebSearch, r#"{"search_context_size":"low"}"#)]);
    assert_eq!(chat, json!({"web_search_options":{"search_context_size":"low"}}));
}

#[test]
fn tools_of_the_provider_stand_after_those_of_the_host() {
    let native = [NativeTool::new(NativeKind::WebSearch)];
    with_tools(&[open("f")], |tools| {
        let options = ToolsOptions { native: &native, ..ToolsOptions::default() };
        let shown = |dialect| rendered_json(tools, dialect, &options)["tools"].clone();
        assert_eq!(shown(Dialect::OpenAiResponses)[1], json!({"type":"web_search"}));
        assert_eq!(shown(Dialect::Anthropic)[1]["name"], "web_search");
        assert_eq!(shown(Dialect::Gemini)[0]["functionDeclarations"][0]["name"], "f");
        assert_eq!(shown(Dialect::Gemini)[1], json!({"googleSearch":{}}));
        assert_eq!(rendered_json(tools, Dialect::OpenAiChat, &options)["web_search_options"], json!({}));
    });
}

#[test]
fn a_tool_of_the_provider_that_acts_has_to_be_allowed_and_its_configuration_to_be_whole() {
    with_tools(&[open("f")], |tools| {
        let kind = |dialect, native: &[NativeTool<'_>]| {
            let options = ToolsOptions { native, ..ToolsOptions::default() };
            rendered(tools, dialect, &options).unwrap_err().kind
        };
        for acts in [NativeKind::CodeExecution, NativeKind::ComputerUse] {
            for dialect in Dialect::ALL {
                assert_eq!(kind(dialect, &[NativeTool::new(acts)]), RenderErrorKind::NotAllowed(acts));
            }
        }
        for config in ["", "[]", "{", "{}x", "null"] {
            let native = [with(NativeKind::WebSearch, config)];
            assert_eq!(
                kind(Dialect::Gemini, &native),
                RenderErrorKind::BadConfig(NativeKind::WebSearch),
                "{config}"
            );
        }
        for (dialect, member) in
            [(Dialect::OpenAiResponses, "vector_store_ids"), (Dialect::Gemini, "fileSearchStoreNames")]
        {
            let expected = RenderErrorKind::ConfigLacks { kind: NativeKind::FileSearch, member };
            assert_eq!(kind(dialect, &[NativeTool::new(NativeKind::FileSearch)]), expected);
            assert_eq!(kind(dialect, &[with(NativeKind::FileSearch, r#"{"x":1}"#)]), expected);
        }
    });
}

/// The mark stands on the last tool of all: what comes before it is cached with it.
#[test]
fn the_end_of_what_is_cached_is_marked_where_there_is_a_mark() {
    let native = [NativeTool::new(NativeKind::WebSearch)];
    let mark = json!({"type":"ephemeral"});
    with_tools(&[open("a"), open("b")], |tools| {
        let shown = |dialect, options| rendered_json(tools, dialect, &options);
        let cache = ToolsOptions { cache: true, ..ToolsOptions::default() };
        let marks = |options| -> Vec<Json> {
            let shown = shown(Dialect::Anthropic, options);
            shown["tools"].as_array().unwrap().iter().map(|tool| tool["cache_control"].clone()).collect()
        };
        assert_eq!(marks(cache), [Json::Null, mark.clone()]);
        assert_eq!(marks(ToolsOptions { native: &native, ..cache }), [Json::Null, Json::Null, mark.clone()]);
        // Of the tools that are told.
        let only = Some(Choice::Allowed { names: &["a"], required: false });
        assert_eq!(marks(ToolsOptions { choice: only, ..cache }), [mark]);
        assert_eq!(marks(ToolsOptions::default()), [Json::Null, Json::Null]);
        let point = json!({"cachePoint":{"type":"default"}});
        assert_eq!(shown(Dialect::Bedrock, cache)["toolConfig"]["tools"][2], point);
        for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Gemini] {
            assert_eq!(shown(dialect, cache), shown(dialect, ToolsOptions::default()), "{}", dialect.name());
        }
    });
}

#[test]
fn more_tools_than_the_provider_takes_are_noted() {
    let names: Vec<String> = (0..129).map(|n| format!("t{n}")).collect();
    let mut memory = Memory::new(160, 64 * 1024);
    let mut tools = memory.registry();
    for name in &names {
        tools.add(&open(name), echo()).unwrap();
    }
    let told = ": the provider takes at most 128 tools".to_string();
    for (dialect, expected) in [
        (Dialect::OpenAiChat, true),
        (Dialect::OpenAiResponses, true),
        (Dialect::Anthropic, false),
        (Dialect::Gemini, false),
    ] {
        let notes = rendered(&tools, dialect, &ToolsOptions::default()).unwrap().1;
        assert_eq!(notes.contains(&told), expected, "{}", dialect.name());
    }
}

#[test]
fn a_choice_must_name_a_tool_that_is_rendered() {
    with_tools(
        &[
            ToolDefinition { category: "home", ..open("get_weather") },
            ToolDefinition { category: "garden", ..open("other") },
        ],
        |tools| {
            for dialect in Dialect::ALL {
                for (name, category) in [("nope", None), ("other", Some("home")), ("", None)] {
                    let options = ToolsOptions {
                        choice: Some(Choice::Tool(name)),
                        category,
                        ..ToolsOptions::default()
                    };
                    let error = rendered(tools, dialect, &options).unwrap_err();
                    assert_eq!(error.kind, RenderErrorKind::UnknownChoice, "{name} in {}", dialect.name());
                }
            }
        },
    );
}

/// Of the limits: the providers' documentation for OpenAI, the SDK for Gemini.
#[test]
fn more_tools_than_the_provider_takes_are_told_and_refused_on_request() {
    let mut memory = Memory::new(513, 64 * 1024);
    let mut tools = memory.registry();
    let names: Vec<String> = (0..513).map(|number| format!("t{number}")).collect();
    let limits = [
        (Dialect::OpenAiChat, 128),
        (Dialect::OpenAiResponses, 128),
        (Dialect::Gemini, 512),
        (Dialect::GeminiSchema, 512),
    ];
    for (number, name) in names.iter().enumerate() {
        tools.add(&open(name), echo()).unwrap();
        let count = number + 1;
        for (dialect, max) in limits.into_iter().filter(|(_, max)| count.abs_diff(*max) <= 1) {
            let refuse = ToolsOptions { refuse_dropped: true, ..ToolsOptions::default() };
            let error =
                rendered(&tools, dialect, &refuse).map(|_| ()).map_err(|error| (error.tool, error.kind));
            let many = Err((None, RenderErrorKind::ManyTools { count, max }));
            assert_eq!(error, if count > max { many } else { Ok(()) });
            let (text, notes) = rendered(&tools, dialect, &ToolsOptions::default()).unwrap();
            let told = told(dialect, &read(&text)).0;
            let noted = format!("the provider takes at most {max} tools");
            assert_eq!(told.len(), count);
            assert_eq!(notes.iter().any(|note| note.ends_with(&noted)), count > max, "{notes:?}");
        }
    }
}

/// Anthropic answers tools of one name with `tool_name_conflict`.
#[test]
fn a_tool_of_the_provider_is_there_once_and_its_name_is_no_other_tools() {
    let twice = [NativeTool::new(NativeKind::WebSearch), NativeTool::new(NativeKind::WebSearch)];
    let stores = r#"{"vector_store_ids":["vs_1"]}"#;
    let stores = [with(NativeKind::FileSearch, stores), with(NativeKind::FileSearch, stores)];
    let one = [NativeTool::new(NativeKind::WebSearch)];
    let google = [NativeTool::new(NativeKind::WebSearch), NativeTool::new(NativeKind::GoogleSearch)];
    with_tools(&[open("web_search")], |tools| {
        let error = |dialect, native| {
            rendered(tools, dialect, &ToolsOptions { native, ..ToolsOptions::default() })
                .err()
                .map(|error| error.kind)
        };
        let clash = Some(RenderErrorKind::AliasClash);
        assert_eq!(error(Dialect::Anthropic, &one), clash);
        assert_eq!(
            error(Dialect::Anthropic, &twice),
            Some(RenderErrorKind::NativeTwice(NativeKind::WebSearch))
        );
        assert_eq!(
            error(Dialect::Gemini, &google),
            Some(RenderErrorKind::NativeTwice(NativeKind::GoogleSearch))
        );
        // Where it has no name there is nothing to clash with, and of some there can be several.
        assert_eq!(error(Dialect::OpenAiResponses, &one), None);
        assert_eq!(error(Dialect::OpenAiResponses, &stores), None);
    });
}
