//! What is said of a failure.

use core::ptr::{null, null_mut};
use std::string::{String, ToString};

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::coerce::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::json::*;
use crate::registry::*;
use crate::reply::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::tool::*;
use crate::tools::*;

/// What a call says: its status, message, offset, need and reason.
#[derive(Debug, PartialEq)]
struct Said(toolcore_status_t, String, Option<usize>, usize, u32);

fn said(call: impl FnOnce(*mut toolcore_detail_t) -> toolcore_status_t) -> Said {
    let mut why = init::<toolcore_detail_t>();
    // What was there before must not matter.
    why.message = [b'x' as _; 224];
    (why.offset, why.need, why.reason) = (7, 7, 7);
    let status = call(&raw mut why);
    let message = word(why.message.as_ptr()).to_string();
    assert_eq!((why.status, why.message_len), (status, message.len()));
    Said(status, message, (why.offset != usize::MAX).then_some(why.offset), why.need, why.reason)
}

fn add(tool: &toolcore_tool_t) -> Said {
    let tools = Tools::usual();
    said(|why| c!(toolcore_registry_add(tools.registry, tool, why)))
}

#[test]
fn success_says_nothing() {
    assert_eq!(add(&tool("x", fail)), Said(TOOLCORE_OK, String::new(), None, 0, 0));
}

#[test]
fn a_default_that_does_not_fit_is_told_of_a_tool_that_was_added() {
    let schema =
        r#"{"type":"object","properties":{"unit":{"enum":["c","f"],"default":"k"},"n":{"default":1}}}"#;
    let told =
        "parameters: /properties/unit: its default is not a value that it accepts, and is not filled in";
    for (flags, expected) in [(TOOLCORE_TOOL_COERCE, told), (0, "")] {
        let tool = toolcore_tool_t { schema: s(schema), flags, ..tool("x", fail) };
        assert_eq!(add(&tool), Said(TOOLCORE_OK, expected.into(), None, 0, 0));
    }
    let good = r#"{"type":"object","properties":{"unit":{"enum":["c","f"],"default":"f"}}}"#;
    let tool = toolcore_tool_t { schema: s(good), flags: TOOLCORE_TOOL_COERCE, ..tool("x", fail) };
    assert_eq!(add(&tool), Said(TOOLCORE_OK, String::new(), None, 0, 0));
    let param =
        sized!(toolcore_param_t { name: s("n"), r#type: TOOLCORE_TYPE_INTEGER, default_value: s("1") });
    let tool = toolcore_tool_t { schema: s(""), params: &raw const param, params_len: 1, ..tool };
    assert_eq!(add(&tool), Said(TOOLCORE_OK, String::new(), None, 0, 0));
}

#[test]
fn a_registration_names_the_place() {
    let plain = |status, message: &str| Said(status, message.into(), None, 0, 0);
    assert_eq!(
        add(&tool("get weather", fail)),
        plain(
            TOOLCORE_ERR_BAD_NAME,
            "the name has a character at byte 3 that is not one of A-Z a-z 0-9 _ . -"
        )
    );
    assert_eq!(
        add(&tool("echo", fail)),
        plain(TOOLCORE_ERR_DUPLICATE, "a tool of that name is registered already")
    );
    assert_eq!(
        add(&toolcore_tool_t { run: None, ..tool("x", fail) }),
        plain(INVALID, "a function is NULL that must not be")
    );
    assert_eq!(
        add(&toolcore_tool_t { struct_size: 0, ..tool("x", fail) }),
        plain(INVALID, "a struct_size is wrong; begin with TOOLCORE_X_INIT")
    );
    let schema = r##"{"type":"object","properties":{"a":{"$recursiveRef":"#"}}}"##;
    let Said(status, message, offset, ..) = add(&toolcore_tool_t { schema: s(schema), ..tool("x", fail) });
    assert_eq!(status, TOOLCORE_ERR_BAD_SCHEMA);
    assert!(message.starts_with("/properties/a/$recursiveRef: keyword"), "{message}");
    assert_eq!(offset, schema.find("\"$recursiveRef\""));
    let Said(status, _, offset, _, reason) =
        add(&toolcore_tool_t { schema: s("{\"a\" 1}"), ..tool("x", fail) });
    assert_eq!((status, offset, reason), (TOOLCORE_ERR_BAD_JSON, Some(5), TOOLCORE_JSON_ERR_EXPECTED_COLON));
}

#[test]
fn a_declared_parameter_is_named() {
    let name = s("unit");
    let r#type = TOOLCORE_TYPE_STRING;
    let param = sized!(toolcore_param_t { name: name, r#type: r#type, enumeration: s("[\"c\",]") });
    let Said(status, message, ..) =
        add(&toolcore_tool_t { params: &raw const param, params_len: 1, ..tool("x", fail) });
    assert_eq!(status, TOOLCORE_ERR_BAD_SCHEMA);
    assert!(message.contains("unit") && message.contains("not JSON"), "{message}");
    // A parameter that holds itself ends at the limit.
    let mut endless = sized!(toolcore_param_t { name: s("x"), r#type: TOOLCORE_TYPE_ARRAY });
    let itself = &raw mut endless;
    c!((*itself).items = itself);
    let Said(status, message, ..) =
        add(&toolcore_tool_t { params: itself, params_len: 1, ..tool("x", fail) });
    assert_eq!(status, TOOLCORE_ERR_BAD_SCHEMA);
    assert!(message.contains("deeper than 16"), "{message}");
}

#[test]
fn a_pool_that_is_full_says_what_a_tool_takes() {
    let tools = Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 1, pool_bytes: 8 }));
    let description = "d".repeat(500);
    let big = toolcore_tool_t { description: s(&description), ..tool("x", fail) };
    let Said(status, message, _, need, _) = said(|why| c!(toolcore_registry_add(tools.registry, &big, why)));
    assert_eq!(status, TOOLCORE_ERR_NO_SPACE);
    assert!(need > 500 && message.contains(&need.to_string()), "{need}: {message}");
    // It is the least at first, and in the end enough.
    let mut pool_bytes = need;
    for _ in 0..3 {
        let tools = Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 1, pool_bytes: pool_bytes }));
        let Said(status, .., need, _) = said(|why| c!(toolcore_registry_add(tools.registry, &big, why)));
        if status == TOOLCORE_OK {
            return;
        }
        assert!(need > pool_bytes, "{need} are named, there were {pool_bytes}");
        pool_bytes = need;
    }
    panic!("the pool is still too small");
}

/// Bytes are named, those of `need`, and of scratch also what needs less of it.
fn assert_bytes(said: Said, scratch: bool) {
    let Said(status, message, .., need, _) = said;
    assert_eq!(status, TOOLCORE_ERR_NO_SPACE, "{message}");
    let (bytes, remedy) = message.split_once(" needed").unwrap_or((&message, ""));
    let of = if scratch { " of scratch" } else { "" };
    assert_eq!(bytes, std::format!("no space: {need} bytes{of}"));
    assert_eq!(remedy.contains("max_depth"), scratch, "{message}");
}

#[test]
fn what_is_missing_is_told_in_bytes_and_for_scratch_with_the_remedy() {
    let text = r##"{"type":"object","properties":{"d":{"default":"long"},"n":{"type":"array",
        "items":{"$ref":"#"}}}}"##;
    let (mut memory, no) = (Block::new(SCRATCH), null_mut());
    let (mem, mut schema) = (memory.ptr(), null_mut());
    assert_bytes(said(|why| c!(toolcore_schema_init(s(text), null(), mem, 8, &raw mut schema, why))), false);
    assert_eq!(c!(toolcore_schema_init(s(text), null(), mem, SCRATCH, &raw mut schema, no)), TOOLCORE_OK);
    let nested = std::format!("{}{{}}{}", r#"{"n":["#.repeat(20), "]}".repeat(20));
    let instance = s(&nested);
    assert_bytes(
        said(|why| c!(toolcore_schema_check(schema, instance, null(), null_mut(), 0, &mut true, why))),
        true,
    );
    let mut scratch = Block::new(1 << 16);
    let work = scratch.ptr();
    let mut short = [0u8; 4];
    let buf = short.as_mut_ptr().cast();
    for (size, of_scratch) in [(0, true), (1 << 16, false)] {
        let coerce =
            |why| c!(toolcore_schema_coerce(schema, instance, null(), work, size, buf, 4, &mut 0, why));
        assert_bytes(said(coerce), of_scratch);
    }
    let tools = Tools::new();
    assert_eq!(tools.add(&toolcore_tool_t { schema: s(text), ..tool("nested", fail) }), TOOLCORE_OK);
    let call = sized!(toolcore_tool_call_t { name: s("nested"), arguments: instance });
    let size = 1000;
    assert_bytes(
        said(|why| c!(toolcore_dispatch(tools.registry, &call, null(), work, size, &mut null_mut(), why))),
        true,
    );
    let reply = std::format!(r#"{{"name":"nested","arguments":{nested}}}"#);
    let reply = s(&reply);
    let answer = |size, buf, len| {
        said(|why| {
            let (dialect, no) = (TOOLCORE_DIALECT_MCP, null_mut());
            c!(toolcore_answer(tools.registry, dialect, reply, null(), work, size, buf, len, &mut 0, no, why))
        })
    };
    let mut long = [0u8; 1024];
    assert_bytes(answer(size, long.as_mut_ptr().cast(), 1024), true);
    assert_bytes(answer(1 << 16, buf, 4), false);
    let render = |why| {
        let dialect = TOOLCORE_DIALECT_ANTHROPIC;
        c!(toolcore_tools_render(tools.registry, dialect, null(), buf, 4, &mut 0, why))
    };
    assert_bytes(said(render), false);
    let parse =
        |why| c!(toolcore_reply_parse(TOOLCORE_DIALECT_MCP, reply, null(), work, 8, &mut null_mut(), why));
    assert_bytes(said(parse), false);
}

#[test]
fn json_says_where_and_why() {
    let check = |text| said(|why| c!(toolcore_json_validate(text, null(), why)));
    assert_eq!(
        check(s("[1,2] tail")),
        Said(
            TOOLCORE_ERR_BAD_JSON,
            "trailing data at byte 6".into(),
            Some(6),
            0,
            TOOLCORE_JSON_ERR_TRAILING_DATA
        )
    );
    let empty = check(toolcore_str_t::EMPTY);
    assert_eq!((empty.2, empty.4), (Some(0), TOOLCORE_JSON_ERR_UNEXPECTED_END));
    let depth = sized!(toolcore_json_opts_t { max_depth: 1 });
    let deep = said(|why| c!(toolcore_json_validate(s("[[]]"), &depth, why)));
    assert_eq!((deep.2, deep.4), (Some(1), TOOLCORE_JSON_ERR_DEPTH_LIMIT));
    let lone = s(r#""\ud800""#);
    assert_eq!(check(lone).4, TOOLCORE_JSON_ERR_LONE_SURROGATE);
    let replace = sized!(toolcore_json_opts_t { flags: TOOLCORE_JSON_REPLACE_SURROGATES });
    assert_eq!(c!(toolcore_json_validate(lone, &replace, null_mut())), TOOLCORE_OK);
    assert_eq!(word(toolcore_json_reason_name(TOOLCORE_JSON_ERR_DEPTH_LIMIT)), "depth-limit");
    assert_eq!(word(toolcore_json_reason_name(99)), "");
}

#[test]
fn replies_say_what_is_wrong_with_them() {
    let mut memory = Block::new(SCRATCH);
    let mem = memory.ptr();
    let parse = |reply: &str| {
        said(|why| {
            let dialect = TOOLCORE_DIALECT_ANTHROPIC;
            c!(toolcore_reply_parse(dialect, s(reply), null(), mem, SCRATCH, &mut null_mut(), why))
        })
    };
    let Said(status, _, offset, _, reason) = parse("{\"content\":[}");
    assert_eq!((status, offset, reason), (TOOLCORE_ERR_BAD_JSON, Some(12), TOOLCORE_JSON_ERR_EXPECTED_VALUE));
    let Said(status, message, ..) = parse("{\"choices\":[]}");
    assert_eq!(status, TOOLCORE_ERR_BAD_REPLY);
    assert!(message.contains("content"), "{message}");
    assert_eq!(parse(r#"{"type":"error","error":{"type":"overloaded_error"}}"#).0, TOOLCORE_ERR_PROVIDER);
}

#[test]
fn rendering_names_the_tool() {
    let tools = Tools::new();
    assert_eq!(tools.add(&tool("admin.tools.list", fail)), TOOLCORE_OK);
    let render = |opts: &toolcore_tools_opts_t| {
        let dialect = TOOLCORE_DIALECT_OPENAI_CHAT;
        said(|why| c!(toolcore_tools_render(tools.registry, dialect, opts, null_mut(), 0, &mut 0, why)))
    };
    let Said(status, message, ..) =
        render(&sized!(toolcore_tools_opts_t { flags: TOOLCORE_RENDER_NO_ALIAS }));
    assert_eq!(status, TOOLCORE_ERR_BAD_NAME);
    assert!(message.starts_with("admin.tools.list: the provider allows"), "{message}");
    let choice = sized!(toolcore_tools_opts_t { choice: TOOLCORE_CHOICE_TOOL, choice_tool: s("nope") });
    assert_eq!(render(&choice).0, TOOLCORE_ERR_NOT_FOUND);
}

#[test]
fn results_name_the_call() {
    let calls = [sized!(toolcore_tool_call_t { id: s("a") }), sized!(toolcore_tool_call_t { id: s("b") })];
    let render = |dialect, ids: &[&str]| {
        let results: std::vec::Vec<_> =
            ids.iter().map(|id| sized!(toolcore_call_result_t { id: s(id) })).collect();
        let (first, len) = (results.as_ptr(), results.len());
        said(|why| {
            let calls = calls.as_ptr();
            c!(toolcore_results_render(dialect, calls, 2, first, len, null(), null_mut(), 0, &mut 0, why))
        })
    };
    let anthropic = TOOLCORE_DIALECT_ANTHROPIC;
    assert_eq!(render(anthropic, &["b", "a"]).0, TOOLCORE_OK);
    let Said(status, message, ..) = render(anthropic, &["a"]);
    assert_eq!(status, TOOLCORE_ERR_MISSING_RESULT);
    assert_eq!(message, "call 1 has no result; give one, or say that it was cancelled");
    assert_eq!(render(anthropic, &["a", "b", "c"]).0, TOOLCORE_ERR_UNKNOWN_CALL_ID);
    assert_eq!(render(anthropic, &["a", "b", "a"]).0, TOOLCORE_ERR_DUPLICATE_RESULT);
    assert_eq!(render(TOOLCORE_DIALECT_MCP, &["a", "b"]).0, TOOLCORE_ERR_UNSUPPORTED);
}

#[test]
fn a_timeout_without_a_clock_says_so() {
    let tools = Tools::new();
    assert_eq!(tools.add(&toolcore_tool_t { timeout_ms: 5, ..tool("slow", fail) }), TOOLCORE_OK);
    let mut scratch = Block::new(SCRATCH);
    let call = sized!(toolcore_tool_call_t { name: s("slow") });
    let mem = scratch.ptr();
    let Said(status, message, ..) =
        said(|why| c!(toolcore_dispatch(tools.registry, &call, null(), mem, SCRATCH, &mut null_mut(), why)));
    assert_eq!(
        (status, &*message),
        (TOOLCORE_ERR_NO_CLOCK, "a timeout applies to the tool, and no clock was given")
    );
    let reply = s(r#"{"name":"slow"}"#);
    let Said(status, message, ..) = said(|why| {
        let (dialect, no) = (TOOLCORE_DIALECT_MCP, null_mut());
        let mut buffer = [0u8; 1024];
        let buf = buffer.as_mut_ptr().cast();
        c!(toolcore_answer(tools.registry, dialect, reply, null(), mem, SCRATCH, buf, 1024, &mut 0, no, why))
    });
    assert_eq!(status, TOOLCORE_ERR_NO_CLOCK);
    assert!(message.starts_with("the call at index 0: a timeout applies"), "{message}");
}

#[test]
fn pinned_blocks_over_the_budget_say_by_how_much() {
    let mut memory = Block::new(1 << 15);
    let mut context = null_mut();
    assert_eq!(c!(toolcore_context_init(null(), memory.ptr(), 1 << 15, &raw mut context)), TOOLCORE_OK);
    let pinned = sized!(toolcore_block_t { content: s("12345678"), flags: TOOLCORE_BLOCK_PINNED });
    assert_eq!(c!(toolcore_context_push(context, &pinned)), TOOLCORE_OK);
    let opts = sized!(toolcore_context_render_opts_t { budget: 1 });
    let said =
        said(|why| c!(toolcore_context_render(context, &opts, null_mut(), 0, &mut 0, null_mut(), why)));
    assert_eq!(said.0, TOOLCORE_ERR_BUDGET);
    assert_eq!(said.1, "the pinned blocks need 2 tokens, the budget is 1 with 0 in reserve");
}

#[test]
fn a_schema_says_what_is_refused_and_what_is_checked() {
    let mem_size = |text| said(|why| c!(toolcore_schema_mem_size(s(text), null(), &mut 0, why)));
    let Said(status, message, ..) = mem_size(r#"{"items":{"minLength":-1}}"#);
    assert_eq!(status, TOOLCORE_ERR_BAD_SCHEMA);
    assert!(message.starts_with("/items/minLength: "), "{message}");
    assert_eq!(mem_size("[").0, TOOLCORE_ERR_BAD_JSON);
    let mut memory = Block::new(SCRATCH);
    let mut schema = null_mut();
    let mem = memory.ptr();
    assert_eq!(
        c!(toolcore_schema_init(s("{}"), null(), mem, SCRATCH, &raw mut schema, null_mut())),
        TOOLCORE_OK
    );
    let mut valid = true;
    let Said(status, _, offset, _, reason) =
        said(|why| c!(toolcore_schema_check(schema, s("[1"), null(), null_mut(), 0, &raw mut valid, why)));
    assert_eq!((status, offset, valid), (TOOLCORE_ERR_BAD_JSON, Some(2), false));
    assert_eq!(reason, TOOLCORE_JSON_ERR_UNEXPECTED_END);
}

#[test]
fn a_message_that_is_too_long_is_cut_at_a_character() {
    let long = "é".repeat(200);
    let schema = std::format!(r#"{{"properties":{{"{long}":{{"oneOf":[]}}}}}}"#);
    let Said(status, message, ..) = add(&toolcore_tool_t { schema: s(&schema), ..tool("x", fail) });
    assert_eq!(status, TOOLCORE_ERR_BAD_SCHEMA);
    assert!(message.len() == 222 || message.len() == 223, "{}", message.len());
    assert!(message.starts_with("/properties/éé") && message.ends_with('é'));
}

#[test]
fn statuses_have_names() {
    assert_eq!(word(toolcore_status_name(TOOLCORE_OK)), "ok");
    assert_eq!(word(toolcore_status_name(TOOLCORE_ERR_NO_SPACE)), "no space");
    assert_eq!(word(toolcore_status_name(12345)), "unknown status");
}
