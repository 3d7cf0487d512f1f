//! What is known of a registered tool, and the options that a registry compiles schemas with.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::format;
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::dialect::TOOLCORE_DIALECT_MCP;
use crate::dispatch::*;
use crate::registry::*;
use crate::resources::*;
use crate::result::*;
use crate::schema::*;
use crate::status::*;
use crate::tool::*;

fn info(tools: &Tools, index: usize) -> toolcore_tool_info_t {
    let mut info = init();
    assert_eq!(c!(toolcore_registry_tool(tools.registry, index, &raw mut info)), TOOLCORE_OK);
    info
}

fn used(tools: &Tools) -> usize {
    let (mut used, mut total) = (0, 0);
    assert_eq!(c!(toolcore_registry_pool(tools.registry, &raw mut used, &raw mut total)), TOOLCORE_OK);
    used
}

#[test]
fn a_tool_tells_what_it_is_and_what_it_takes() {
    let tools =
        Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 4, pool_bytes: 8192, timeout_ms: 30 }));
    let schema = r#"{"type":"object","properties":{"a":{"enum":["x","y"]}},"required":["a"]}"#;
    let whole = toolcore_tool_t {
        title: s("Title"),
        description: s("What it does."),
        category: s("home"),
        schema: s(schema),
        output_schema: s("true"),
        annotations: TOOLCORE_ANNOTATION_READ_ONLY | TOOLCORE_ANNOTATION_NOT_OPEN_WORLD,
        flags: TOOLCORE_TOOL_COERCE | TOOLCORE_TOOL_LAST_WINS,
        timeout_ms: 70,
        ..tool("whole", fail)
    };
    assert_eq!(tools.add(&whole), TOOLCORE_OK);
    let told = info(&tools, 0);
    for (told, given) in [
        (told.name, "whole"),
        (told.title, "Title"),
        (told.description, "What it does."),
        (told.category, "home"),
        (told.schema, schema),
        (told.output_schema, "true"),
    ] {
        assert_eq!(text(told), given);
    }
    assert_eq!((told.annotations, told.flags, told.timeout_ms), (whole.annotations, whole.flags, 70));
    assert_eq!(told.pool_bytes, used(&tools));
    let strings = ["whole", "Title", "What it does.", "home", schema, "true"].concat().len();
    assert_eq!(told.pool_bytes, strings + told.schema_bytes);
    // As told beforehand, beside what a schema as an object takes.
    let size_of = |text| {
        let mut need = 0;
        assert_eq!(c!(toolcore_schema_mem_size(s(text), null(), &raw mut need, null_mut())), TOOLCORE_OK);
        need
    };
    assert_eq!(tools.add(&toolcore_tool_t { schema: s("true"), ..tool("any", fail) }), TOOLCORE_OK);
    let least = info(&tools, 1);
    assert_eq!(told.schema_bytes - least.schema_bytes, size_of(schema) - size_of("true"));
    assert_eq!((least.annotations, least.flags, least.timeout_ms), (0, 0, 30));
    assert_eq!(least.pool_bytes + told.pool_bytes, used(&tools));
    // Static strings stay where they are, and only the compiled schema takes room.
    let fixed = toolcore_tool_t { name: s("fixed"), flags: TOOLCORE_TOOL_STATIC, ..whole };
    assert_eq!(tools.add(&fixed), TOOLCORE_OK);
    let fixed = info(&tools, 2);
    assert_eq!((fixed.pool_bytes, fixed.schema_bytes), (told.schema_bytes, told.schema_bytes));
    assert_eq!((fixed.flags, fixed.schema.ptr), (TOOLCORE_TOOL_STATIC, schema.as_ptr().cast()));
}

#[test]
fn a_place_without_a_tool_clears_what_is_told() {
    let tools = Tools::usual();
    let mut told = info(&tools, 0);
    assert_eq!(c!(toolcore_registry_tool(tools.registry, 2, &raw mut told)), TOOLCORE_ERR_NOT_FOUND);
    assert_eq!((told.name.len, told.schema.len, told.pool_bytes, told.flags), (0, 0, 0, 0));
}

#[test]
fn declared_parameters_are_told_as_their_schema() {
    let tools = Tools::usual();
    assert_eq!(
        text(info(&tools, 0).schema),
        r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}"#
    );
}

const UNIT: &str = r#"{"$defs":{"unit":{"enum":["c","f"]},"bad":{"type":"nope"}}}"#;

#[test]
fn schemas_of_tools_lead_into_the_registrys_resources() {
    let mut memory = Block::new(toolcore_resources_mem_size(1));
    let list = [sized!(toolcore_resource_t { uri: s("https://example.com/u"), text: s(UNIT) })];
    let (mem, size, mut set) = (memory.ptr(), toolcore_resources_mem_size(1), null_mut());
    assert_eq!(
        c!(toolcore_resources_init(list.as_ptr(), 1, mem, size, &raw mut set, null_mut())),
        TOOLCORE_OK
    );
    let tools =
        Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 4, pool_bytes: 8192, resources: set }));
    let schema = s(r#"{"properties":{"u":{"$ref":"https://example.com/u#/$defs/unit"}}}"#);
    assert_eq!(tools.add(&toolcore_tool_t { schema, ..tool("t", fail) }), TOOLCORE_OK);
    assert_eq!(kind(&tools, "t", r#"{"u":"c"}"#, 0), TOOLCORE_OUTCOME_TOOL_FAILED);
    assert_eq!(kind(&tools, "t", r#"{"u":"k"}"#, 0), TOOLCORE_OUTCOME_BAD_ARGUMENTS);
    for bad in [
        toolcore_tool_t { schema: s(r#"{"$ref":"https://example.com/u#/$defs/bad"}"#), ..tool("b", fail) },
        toolcore_tool_t {
            output_schema: s(r#"{"$ref":"https://example.com/u#/$defs/bad"}"#),
            ..tool("b", fail)
        },
    ] {
        let mut why = init::<toolcore_detail_t>();
        let status = c!(toolcore_registry_add(tools.registry, &bad, &raw mut why));
        assert_eq!((status, why.resource), (TOOLCORE_ERR_BAD_SCHEMA, 1));
        let message = word(why.message.as_ptr());
        assert_eq!(message.get(..why.place_len), Some("https://example.com/u#/$defs/bad/type"), "{message}");
    }
    // The place in a schema of its own.
    let mut why = init::<toolcore_detail_t>();
    let bad = toolcore_tool_t { schema: s(r#"{"properties":{"a: b":{"type":"nope"}}}"#), ..tool("b", fail) };
    assert_eq!(c!(toolcore_registry_add(tools.registry, &bad, &raw mut why)), TOOLCORE_ERR_BAD_SCHEMA);
    let message = word(why.message.as_ptr());
    assert_eq!(message.get(..why.place_len), Some("/properties/a: b/type"), "{message}");
    assert_eq!(why.resource, 0);
}

#[cfg(feature = "format")]
#[test]
fn a_registry_asserts_formats_and_has_a_draft() {
    let schema = s(r#"{"properties":{"d":{"format":"date"},"l":{"items":[{"type":"null"}]}}}"#);
    for (flags, arguments, expected) in [
        (0, r#"{"d":"today"}"#, TOOLCORE_OUTCOME_TOOL_FAILED),
        (TOOLCORE_SCHEMA_ASSERT_FORMATS, r#"{"d":"today"}"#, TOOLCORE_OUTCOME_BAD_ARGUMENTS),
        (TOOLCORE_SCHEMA_ASSERT_FORMATS, r#"{"d":"2024-01-31"}"#, TOOLCORE_OUTCOME_TOOL_FAILED),
        (0, r#"{"l":[1]}"#, TOOLCORE_OUTCOME_BAD_ARGUMENTS),
    ] {
        let default_draft = TOOLCORE_DRAFT_7;
        let tools =
            Tools::with(&sized!(toolcore_registry_opts_t { flags: flags, default_draft: default_draft }));
        assert_eq!(tools.add(&toolcore_tool_t { schema, ..tool("t", fail) }), TOOLCORE_OK);
        assert_eq!(kind(&tools, "t", arguments, 0), expected, "{arguments}");
    }
}

/// What becomes of a call.
fn kind(tools: &Tools, name: &'static str, arguments: &'static str, flags: u32) -> u32 {
    let call = sized!(toolcore_tool_call_t { name: s(name), arguments: s(arguments) });
    let opts = sized!(toolcore_dispatch_opts_t { flags: flags });
    let mut scratch = Block::new(SCRATCH);
    let (mem, no, mut result) = (scratch.ptr(), null_mut(), null_mut());
    let status = c!(toolcore_dispatch(tools.registry, &call, &opts, mem, SCRATCH, &raw mut result, no));
    assert_eq!(status, TOOLCORE_OK);
    c!(toolcore_result_kind(result))
}

unsafe extern "C" fn repeats(
    _: *mut c_void,
    call: *const toolcore_call_t,
    result: *mut toolcore_result_t,
) -> toolcore_status_t {
    c!(toolcore_result_json(result, toolcore_call_arguments(call)))
}

unsafe extern "C" fn changed(
    told: *mut c_void,
    tool: toolcore_str_t,
    path: toolcore_str_t,
    rule: toolcore_str_t,
) {
    let line = format!("{} {} {}", text(tool), text(path), text(rule));
    c!((*told.cast::<Vec<String>>()).push(line));
}

#[test]
fn of_names_that_stand_twice_the_last_one_wins_on_request() {
    let tools = Tools::new();
    let any = toolcore_tool_t { schema: s("{}"), ..tool("plain", repeats) };
    assert_eq!(tools.add(&any), TOOLCORE_OK);
    assert_eq!(
        tools.add(&toolcore_tool_t { name: s("own"), flags: TOOLCORE_TOOL_LAST_WINS, ..any }),
        TOOLCORE_OK
    );
    let twice = r#"{"a":"1","b":[{"c":1,"c":2}],"a":"2"}"#;
    assert_eq!(kind(&tools, "plain", twice, 0), TOOLCORE_OUTCOME_BAD_ARGUMENTS);
    assert_eq!(kind(&tools, "plain", twice, TOOLCORE_DISPATCH_LAST_WINS), TOOLCORE_OUTCOME_ANSWERED);
    assert_eq!(kind(&tools, "own", twice, 0), TOOLCORE_OUTCOME_ANSWERED);
    let reply = format!(r#"{{"name":"plain","arguments":{twice}}}"#);
    for (flags, expected) in
        [(0, "/a: duplicate"), (TOOLCORE_ANSWER_LAST_WINS, r#""structuredContent":{"b":[{"c":2}],"a":"2"}"#)]
    {
        let mut told = Vec::<String>::new();
        let opts = sized!(toolcore_answer_opts_t {
            flags: flags,
            changed: Some(changed),
            user_data: (&raw mut told).cast()
        });
        let mut scratch = Block::new(SCRATCH);
        let (mem, no, out, mut len) = (scratch.ptr(), null_mut(), null_mut(), 0);
        let mut buffer = [0u8; 1024];
        let buf = buffer.as_mut_ptr().cast();
        let dialect = TOOLCORE_DIALECT_MCP;
        let (registry, reply, len) = (tools.registry, s(&reply), &raw mut len);
        let status =
            c!(toolcore_answer(registry, dialect, reply, &opts, mem, SCRATCH, buf, 1024, len, out, no));
        assert_eq!(status, TOOLCORE_OK);
        let said = core::str::from_utf8(&buffer[..c!(*len)]).unwrap();
        assert!(said.contains(expected), "{said}");
        let expected: &[&str] = match flags {
            0 => &[],
            _ => &["plain /a duplicate-removed", "plain /b/0/c duplicate-removed"],
        };
        assert_eq!(told, expected);
    }
}
