//! The registry: names, collisions, what a failed `add` leaves behind, removal, hooks, and its memory.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use common::{Boxed, Memory, dispatched, echo, open, rendered, says, try_dispatch, with_schema};
use toolcore::call::{Call, ToolCall};
use toolcore::dialect::{Dialect, ToolsOptions};
use toolcore::dispatch::{DispatchError, DispatchOptions};
use toolcore::registry::*;
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::schema::ToolParameter;
use toolcore::sink::Sink;
use toolcore::time::{Duration, Instant, ManualClock};
use toolcore::tool::{Failure, Handler, NameError, Parameters, ToolDefinition};

/// A handler that counts how often it is dropped.
struct Counted(Rc<Cell<u32>>);

fn counted(drops: &Rc<Cell<u32>>) -> Counted {
    Counted(drops.clone())
}

impl Handler for Counted {
    fn run(&self, _: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        result.text("ran")?;
        Poll::Ready(Ok(()))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// All that can be seen of a registry from outside.
fn seen<H, K: Hook>(registry: &Registry<'_, H, K>) -> String {
    let renders = Dialect::ALL.map(|dialect| rendered(registry, dialect, &ToolsOptions::default()));
    let names: Vec<&str> = registry.names().collect();
    format!("{renders:?} {names:?} {} {:?}", registry.len(), registry.pool_used())
}

const NUMBER: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

#[test]
fn a_name_is_1_to_128_of_letters_digits_underscore_dot_and_hyphen() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let longest = "x".repeat(128);
    for name in ["a", "9", "_", ".", "-", "Admin.tools-list_2", longest.as_str()] {
        assert_eq!(tools.add(&open(name), echo()), Ok(Added::New), "{name}");
        assert!(tools.contains(name));
    }
    let too_long = "x".repeat(129);
    let before = seen(&tools);
    for (name, error) in [
        ("", NameError::Empty),
        (too_long.as_str(), NameError::TooLong { len: 129 }),
        ("get weather", NameError::Character { at: 3 }),
        ("a/b", NameError::Character { at: 1 }),
        ("a:b", NameError::Character { at: 1 }),
        ("\u{e9}t\u{e9}", NameError::Character { at: 0 }),
        ("t\u{e9}", NameError::Character { at: 1 }),
        ("a\0", NameError::Character { at: 1 }),
        ("a\n", NameError::Character { at: 1 }),
    ] {
        assert_eq!(tools.add(&open(name), echo()), Err(AddError::Name(error)), "{name:?}");
    }
    assert_eq!(seen(&tools), before);
}

#[test]
fn a_taken_name_is_refused_unless_replacing_is_asked_for() {
    let (old, new) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("a"), counted(&old)).unwrap();
    let before = seen(&tools);
    assert_eq!(tools.add(&open("a"), counted(&new)), Err(AddError::Duplicate));
    assert_eq!((old.get(), new.get()), (0, 1));
    assert_eq!(seen(&tools), before);
}

#[test]
fn a_replaced_tool_keeps_its_place_and_its_old_handler_is_dropped() {
    let drops = [0; 4].map(|_| Rc::new(Cell::new(0)));
    let mut memory = Memory::ample();
    let mut tools =
        memory.with_options(RegistryOptions { collision: Collision::Replace, ..RegistryOptions::default() });
    for (name, drops) in ["a", "b", "c"].into_iter().zip(&drops) {
        assert_eq!(tools.add(&open(name), counted(drops)), Ok(Added::New));
    }
    let replacement =
        ToolDefinition { description: "the new one, with a longer text", ..with_schema("b", NUMBER) };
    assert_eq!(tools.add(&replacement, counted(&drops[3])), Ok(Added::Replaced));
    assert_eq!(tools.names().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(tools.get("b").unwrap().info.description(), replacement.description);
    assert_eq!(tools.at(2).unwrap().info.parameters().text(), r#"{"type":"object"}"#);
    assert_eq!(drops.each_ref().map(|drops| drops.get()), [0, 1, 0, 0]);
    assert_eq!(dispatched(&tools, "b", "{}").0, OutcomeKind::BadArguments);
    assert_eq!(dispatched(&tools, "c", "{}"), (OutcomeKind::Answered, "ran".into()));
    drop(memory);
    assert_eq!(drops.each_ref().map(|drops| drops.get()), [1, 1, 1, 1]);
}

#[test]
fn a_full_registry_still_replaces() {
    let mut memory = Memory::new(1, 1024);
    let mut tools =
        memory.with_options(RegistryOptions { collision: Collision::Replace, ..RegistryOptions::default() });
    tools.add(&open("a"), says("old")).unwrap();
    assert_eq!(tools.add(&open("b"), echo()), Err(AddError::Full { max: 1 }));
    assert_eq!(tools.add(&open("a"), says("new")), Ok(Added::Replaced));
    assert_eq!(dispatched(&tools, "a", "{}"), (OutcomeKind::Answered, "new".into()));
}

#[test]
fn replacing_for_ever_needs_no_more_memory() {
    let mut memory = Memory::new(2, 2048);
    let mut tools =
        memory.with_options(RegistryOptions { collision: Collision::Replace, ..RegistryOptions::default() });
    tools.add(&with_schema("a", NUMBER), echo()).unwrap();
    tools.add(&open("b"), echo()).unwrap();
    let before = seen(&tools);
    for _ in 0..10_000 {
        assert_eq!(tools.add(&with_schema("a", NUMBER), echo()), Ok(Added::Replaced));
    }
    assert_eq!(seen(&tools), before);
}

type IsRefusal = fn(AddError) -> bool;

/// A definition that is refused, and why.
fn refused() -> Vec<(ToolDefinition<'static>, IsRefusal)> {
    let schema = |text| with_schema("new", text);
    vec![
        (open("no/name"), |error| matches!(error, AddError::Name(_))),
        (ToolDefinition { timeout: Some(Duration::from_millis(0)), ..open("new") }, |error| {
            error == AddError::ZeroTimeout
        }),
        (schema("{\"type\":\"object\""), |error| matches!(error, AddError::Parameters(_))),
        (schema(r#"{"type":"objekt"}"#), |error| matches!(error, AddError::Parameters(_))),
        (schema(r#"{"type":"string"}"#), |error| error == AddError::NotAnObject),
        (ToolDefinition { output_schema: Some(r#"{"type":7}"#), ..open("new") }, |error| {
            matches!(error, AddError::OutputSchema(_))
        }),
    ]
}

#[test]
fn a_failed_add_leaves_everything_as_it_was_and_drops_the_handler_once() {
    for collision in [Collision::Refuse, Collision::Replace] {
        let mut memory = Memory::ample();
        let kept = Rc::new(Cell::new(0));
        let mut tools = memory.with_options(RegistryOptions { collision, ..RegistryOptions::default() });
        for name in ["a", "new"] {
            tools.add(&with_schema(name, NUMBER), counted(&kept)).unwrap();
        }
        let before = seen(&tools);
        for (definition, expected) in refused() {
            if collision == Collision::Refuse && definition.name == "new" {
                tools.remove("new");
                kept.set(0);
            }
            let before = if tools.len() == 2 { before.clone() } else { seen(&tools) };
            let drops = Rc::new(Cell::new(0));
            let error = tools.add(&definition, counted(&drops)).unwrap_err();
            assert!(expected(error), "{definition:?}: {error}");
            assert_eq!(drops.get(), 1, "{definition:?}");
            assert_eq!(seen(&tools), before, "{definition:?}");
            assert_eq!(kept.get(), 0, "{definition:?}");
        }
    }
}

#[test]
fn a_full_registry_and_a_full_pool_refuse_and_stay_as_they_were() {
    let drops = Rc::new(Cell::new(0));
    let mut memory = Memory::new(2, 4096);
    let mut tools = memory.registry();
    tools.add(&open("a"), counted(&drops)).unwrap();
    tools.add(&open("b"), counted(&drops)).unwrap();
    let before = seen(&tools);
    assert_eq!(tools.add(&open("c"), counted(&drops)), Err(AddError::Full { max: 2 }));
    assert_eq!((drops.get(), seen(&tools)), (1, before));

    let long = "x".repeat(5000);
    tools.remove("b");
    let before = seen(&tools);
    let (used, size) = tools.pool_used();
    let error = tools.add(&ToolDefinition { description: &long, ..open("c") }, counted(&drops)).unwrap_err();
    match error {
        AddError::NoSpace { need, room } => assert!(room == size - used && need >= 5000, "{error}"),
        _ => panic!("{error}"),
    }
    assert_eq!((drops.get(), seen(&tools)), (3, before));
}

#[test]
fn an_index_smaller_than_the_slots_holds_as_many_tools_as_it_has_entries() {
    let (mut slots, mut pool) = ([const { None }; 4], [0; 2048]);
    for entries in 0..4 {
        let mut index = vec![0xFFFF_FFFF; entries];
        let mut tools =
            Registry::<_, NoHook>::new(&mut slots, &mut index, &mut pool, RegistryOptions::default());
        for name in ["a", "b", "c"].into_iter().take(entries) {
            tools.add(&open(name), echo()).unwrap();
        }
        assert_eq!(tools.add(&open("d"), echo()), Err(AddError::Full { max: entries }));
        assert!(tools.names().all(|name| tools.contains(name)));
        assert!(!tools.contains("d"));
    }
}

/// Every pool that is too small names a size that is not, and the size that was used is enough.
#[test]
fn a_pool_of_every_size_refuses_or_holds_the_whole_tool() {
    let city = [ToolParameter::string("city").describe("City name, in English.")];
    let declared = ToolDefinition {
        name: "get_weather",
        title: "Weather",
        description: "Current weather in a city.",
        category: "home",
        parameters: Parameters::Declared(&city),
        ..ToolDefinition::default()
    };
    let with_output = ToolDefinition { output_schema: Some(NUMBER), ..with_schema("get_weather", NUMBER) };
    for definition in [declared, with_schema("get_weather", NUMBER), with_output] {
        let mut ample = Memory::ample();
        let mut tools = ample.registry();
        tools.add(&definition, echo()).unwrap();
        let (expected, enough) = (seen(&tools).replace("65536)", ")"), tools.pool_used().0);
        for size in 0..=enough {
            let drops = Rc::new(Cell::new(0));
            let mut memory = Memory::new(1, size);
            let mut tools = memory.registry();
            match tools.add(&definition, counted(&drops)) {
                Ok(added) => {
                    assert_eq!((added, size), (Added::New, enough));
                    assert_eq!(seen(&tools).replace(&format!("{enough})"), ")"), expected);
                }
                Err(AddError::NoSpace { need, room }) => {
                    assert!(room == size && need > size && need <= enough, "{size}: {need} of {enough}");
                    assert!(size < enough);
                    assert_eq!((drops.get(), tools.len(), tools.pool_used()), (1, 0, (0, size)));
                }
                Err(error) => panic!("{size}: {error}"),
            }
        }
    }
}

#[test]
fn removing_drops_the_handler_once_and_keeps_the_order_of_the_others() {
    let drops = [0; 4].map(|_| Rc::new(Cell::new(0)));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for (name, drops) in ["a", "b", "c", "d"].into_iter().zip(&drops) {
        tools
            .add(&ToolDefinition { description: name, ..with_schema(name, NUMBER) }, counted(drops))
            .unwrap();
    }
    assert!(tools.remove("b"));
    assert!(!tools.remove("b"));
    assert!(!tools.remove("never"));
    assert_eq!(tools.names().collect::<Vec<_>>(), ["a", "c", "d"]);
    assert_eq!(drops.each_ref().map(|drops| drops.get()), [0, 1, 0, 0]);
    for name in ["a", "c", "d"] {
        let tool = tools.get(name).unwrap();
        assert_eq!((tool.info.description(), tool.info.parameters().text()), (name, NUMBER));
        assert_eq!(dispatched(&tools, name, r#"{"n":1}"#), (OutcomeKind::Answered, "ran".into()));
        assert_eq!(dispatched(&tools, name, r#"{"n":"x"}"#).0, OutcomeKind::BadArguments);
    }
    assert!(tools.remove("d") && tools.remove("a") && tools.remove("c"));
    assert!(tools.is_empty());
    assert_eq!(tools.pool_used().0, 0);
    assert_eq!(drops.each_ref().map(|drops| drops.get()), [1, 1, 1, 1]);
}

#[test]
fn adding_and_removing_ten_thousand_times_needs_no_more_memory() {
    let names = ["alpha", "b", "gamma.delta"];
    let definition = |name| ToolDefinition { description: name, ..with_schema(name, NUMBER) };
    let mut ample = Memory::ample();
    let mut tools = ample.registry();
    for name in names {
        tools.add(&definition(name), echo()).unwrap();
    }
    let enough = tools.pool_used().0;

    let drops = Rc::new(Cell::new(0));
    let mut memory = Memory::new(names.len(), enough);
    let mut tools = memory.registry();
    for name in names {
        tools.add(&definition(name), counted(&drops)).unwrap();
    }
    for round in 0..10_000 {
        let name = names[round % 3];
        assert!(tools.remove(name));
        assert_eq!(tools.add(&definition(name), counted(&drops)), Ok(Added::New));
        // The oldest was taken out each time, so it is last now.
        assert_eq!(tools.at(2).unwrap().info.name(), name);
    }
    assert_eq!((tools.pool_used().0, drops.get()), (enough, 10_000));
    for name in names {
        assert_eq!(tools.get(name).unwrap().info.description(), name);
        assert_eq!(dispatched(&tools, name, r#"{"n":1}"#), (OutcomeKind::Answered, "ran".into()));
    }
}

#[test]
fn handlers_are_dropped_once_when_their_memory_goes_or_is_used_again() {
    let drops = Rc::new(Cell::new(0));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&open("a"), counted(&drops)).unwrap();
    tools.add(&open("b"), counted(&drops)).unwrap();
    let mut tools = memory.registry();
    assert_eq!((drops.get(), tools.len(), tools.contains("a")), (2, 0, false));
    tools.add(&open("a"), counted(&drops)).unwrap();
    assert_eq!(drops.get(), 2);
    drop(memory);
    assert_eq!(drops.get(), 3);
}

#[test]
fn tools_are_listed_and_rendered_by_category() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for (name, category) in [("a", "home"), ("b", ""), ("c", "home"), ("d", "garden")] {
        tools.add(&ToolDefinition { category, ..open(name) }, echo()).unwrap();
    }
    let list = |category| tools.list(category).map(ToolInfo::name).collect::<Vec<_>>();
    assert_eq!(
        (list("home"), list("garden"), list("attic"), list("")),
        (vec!["a", "c"], vec!["d"], vec![], vec!["b"])
    );
    let home = ToolsOptions { category: Some("home"), ..ToolsOptions::default() };
    let shown = common::rendered_json(&tools, Dialect::Anthropic, &home);
    let names: Vec<_> = shown["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn static_text_is_not_copied_and_reads_the_same() {
    static DEFINITION: ToolDefinition<'static> = ToolDefinition {
        name: "get_weather",
        title: "Weather",
        description: "Current weather in a city, with wind and rain, for the next hour.",
        category: "home",
        parameters: Parameters::Schema(NUMBER),
        output_schema: Some(r#"{"type":"object"}"#),
        annotations: toolcore::tool::Annotations {
            read_only: Some(true),
            destructive: None,
            idempotent: None,
            open_world: None,
        },
        strict: false,
        coerce: false,
        last_wins: false,
        timeout: None,
    };
    let (mut one, mut two) = (Memory::ample(), Memory::ample());
    let (mut copied, mut fixed) = (one.registry(), two.registry());
    copied.add(&DEFINITION, echo()).unwrap();
    fixed.add_static(&DEFINITION, echo(), &mut Sink::measure()).unwrap();
    let info = fixed.get("get_weather").unwrap().info;
    assert_eq!(info.name().as_ptr(), DEFINITION.name.as_ptr());
    assert_eq!(info.description().as_ptr(), DEFINITION.description.as_ptr());
    assert_eq!(info.parameters().text().as_ptr(), NUMBER.as_ptr());
    assert_eq!(
        (info.title(), info.category(), info.output_schema()),
        ("Weather", "home", DEFINITION.output_schema)
    );
    let texts = DEFINITION.name.len()
        + DEFINITION.title.len()
        + DEFINITION.description.len()
        + DEFINITION.category.len()
        + NUMBER.len()
        + r#"{"type":"object"}"#.len();
    assert_eq!(copied.pool_used().0 - fixed.pool_used().0, texts);
    for dialect in Dialect::ALL {
        let options = ToolsOptions::default();
        assert_eq!(rendered(&copied, dialect, &options), rendered(&fixed, dialect, &options));
    }
    assert_eq!(
        dispatched(&fixed, "get_weather", r#"{"n":"x"}"#),
        dispatched(&copied, "get_weather", r#"{"n":"x"}"#)
    );

    // A declared schema has to be written somewhere; the rest still is not copied.
    let city: &'static [ToolParameter<'static>] = Vec::leak(vec![ToolParameter::string("city")]);
    let declared = ToolDefinition {
        name: "declared",
        parameters: Parameters::Declared(city),
        ..ToolDefinition::default()
    };
    fixed.add_static(&declared, echo(), &mut Sink::measure()).unwrap();
    assert_eq!(dispatched(&fixed, "declared", r#"{"city":"Oslo"}"#).0, OutcomeKind::Answered);
    assert!(fixed.remove("get_weather"));
    assert_eq!(dispatched(&fixed, "declared", r#"{"city":1}"#).0, OutcomeKind::BadArguments);
}

#[test]
fn a_timeout_of_zero_is_refused_wherever_it_is_set() {
    let zero = Some(Duration::from_millis(0));
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    assert_eq!(tools.add(&ToolDefinition { timeout: zero, ..open("a") }, echo()), Err(AddError::ZeroTimeout));
    tools.add(&open("a"), echo()).unwrap();
    let clock = ManualClock::new(Instant::default());
    let call = ToolCall { name: "a", ..ToolCall::default() };
    let options = DispatchOptions { clock: Some(&clock), timeout: zero, ..DispatchOptions::default() };
    assert_eq!(try_dispatch(&tools, &call, &options), Err(DispatchError::ZeroTimeout));

    let mut memory = Memory::ample();
    let mut tools = memory.with_options(RegistryOptions { timeout: zero, ..RegistryOptions::default() });
    assert_eq!(tools.add(&open("a"), echo()), Err(AddError::ZeroTimeout));
}

#[test]
fn a_refused_schema_is_explained_with_its_place() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let mut add = |definition: &ToolDefinition<'_>| {
        let mut buffer = [0; 256];
        let mut why = Sink::new(&mut buffer);
        why.put("tool: ");
        let error = tools.add_explained(definition, echo(), &mut why).unwrap_err();
        (error, String::from(why.finish().unwrap()))
    };
    for (schema, place) in [
        (r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#, "/properties/a/type"),
        (r#"{"type":"object","properties":{"a":{"minimum":"1"}}}"#, "/properties/a/minimum"),
        (
            r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json"}}}"#,
            "/properties/a/$ref",
        ),
        (r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}"##, "/properties/a/$ref"),
        (
            r#"{"type":"object","properties":{"a":{"items":{"required":"b"}}}}"#,
            "/properties/a/items/required",
        ),
        (r#"{"type":"object","properties":{"a~/":{"oneOf":3}}}"#, "/properties/a~0~1/oneOf"),
    ] {
        let (error, why) = add(&with_schema("a", schema));
        assert!(matches!(error, AddError::Parameters(_)), "{schema}: {error}");
        assert!(why.starts_with(&format!("tool: {place}: ")), "{schema}: {why}");
        assert_eq!(why.matches(place).count(), 1, "{why}");
        let (error, why) = add(&ToolDefinition { output_schema: Some(schema), ..open("a") });
        assert!(matches!(error, AddError::OutputSchema(_)), "{schema}: {error}");
        assert!(why.starts_with(&format!("tool: {place}: ")), "{schema}: {why}");
    }
    let (_, why) = add(&with_schema("a", "{\"type\":\"object\","));
    assert!(why.contains("17"), "the offset of a syntax error: {why}");
    // What has no place in a schema is explained too.
    let (error, why) = add(&open("no name"));
    assert_eq!(why, format!("tool: {error}"));
    assert!(why.contains('2'), "{why}");
}

#[test]
fn the_root_of_a_schema_must_accept_objects() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    for schema in [
        "false",
        r#"{"type":"string"}"#,
        r#"{"type":["array","null"]}"#,
        r#"{"const":"x"}"#,
        r#"{"enum":[1,"a",[]]}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
    ] {
        assert_eq!(tools.add(&with_schema("a", schema), echo()), Err(AddError::NotAnObject), "{schema}");
    }
    for schema in [
        "true",
        "{}",
        r#"{"type":["object","null"]}"#,
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"enum":[1,{"a":2}]}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
    ] {
        assert_eq!(tools.add(&with_schema("a", schema), echo()), Ok(Added::New), "{schema}");
        assert_eq!(
            dispatched(&tools, "a", r#"{"a":2}"#).0 == OutcomeKind::Answered,
            !schema.contains("string")
        );
        tools.remove("a");
    }
}

#[test]
fn a_registry_of_4096_tools_finds_each_of_them() {
    let names: Vec<String> = (0..4096).map(|n| format!("tool_{n}")).collect();
    for entries in [4096, 8192] {
        let mut slots: Vec<Option<Slot<Boxed<'_>>>> = names.iter().map(|_| None).collect();
        let (mut index, mut pool) = (vec![0; entries], vec![0; 1 << 20]);
        let mut tools =
            Registry::<_, NoHook>::new(&mut slots, &mut index, &mut pool, RegistryOptions::default());
        for name in &names {
            tools.add(&open(name), says(name)).unwrap();
        }
        assert_eq!(tools.len(), 4096);
        for (place, name) in names.iter().enumerate() {
            assert_eq!(tools.get(name).unwrap().info.name(), name);
            assert_eq!(tools.at(place).unwrap().info.name(), name);
            assert!(!tools.contains(&format!("{name}_")));
        }
        for name in names.iter().step_by(37) {
            assert_eq!(dispatched(&tools, name, "{}"), (OutcomeKind::Answered, name.clone()));
        }
        for name in names.iter().step_by(1000) {
            assert!(tools.remove(name));
        }
        assert!(names.iter().enumerate().all(|(place, name)| tools.contains(name) == (place % 1000 != 0)));
    }
}
