//! The steps one by one, and the registry.

use core::ptr::{null, null_mut};

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::call::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::registry::*;
use crate::reply::*;
use crate::result::*;
use crate::results::*;
use crate::status::*;
use crate::tool::*;
use crate::tools::*;

#[test]
fn the_steps_give_what_answer_gives() {
    let tools = Tools::usual();
    let (dialect, no) = (TOOLCORE_DIALECT_ANTHROPIC, null_mut());
    let mut memory = Block::new(SCRATCH);
    let mut reply = null_mut();
    let status =
        c!(toolcore_reply_parse(dialect, s(REPLY), null(), memory.ptr(), SCRATCH, &raw mut reply, no));
    assert_eq!(status, TOOLCORE_OK);
    assert_eq!(c!(toolcore_reply_finish(reply)), TOOLCORE_FINISH_COMPLETE);
    assert_eq!(c!(toolcore_reply_len(reply)), 3);
    let mut calls = [init::<toolcore_tool_call_t>(); 3];
    let mut results = [init::<toolcore_call_result_t>(); 3];
    let mut scratch = [const { None }; 3].map(|_: Option<()>| Block::new(SCRATCH));
    let opts = sized!(toolcore_dispatch_opts_t { dialect: dialect });
    for index in 0..3 {
        assert_eq!(c!(toolcore_reply_call(reply, index, &raw mut calls[index])), TOOLCORE_OK);
        assert_eq!(calls[index].flags, TOOLCORE_CALL_HAS_ID);
        let mut result = null_mut();
        let (call, mem) = (&raw const calls[index], scratch[index].ptr());
        assert_eq!(
            c!(toolcore_dispatch(tools.registry, call, &opts, mem, SCRATCH, &raw mut result, no)),
            TOOLCORE_OK
        );
        // In another order than the calls.
        results[2 - index] = sized!(toolcore_call_result_t { id: calls[index].id, result: result });
    }
    let mut call = init::<toolcore_tool_call_t>();
    assert_eq!(c!(toolcore_reply_call(reply, 3, &raw mut call)), TOOLCORE_ERR_NOT_FOUND);
    let rendered = written(|buf, len, out| {
        let (calls, results) = (calls.as_ptr(), results.as_ptr());
        c!(toolcore_results_render(dialect, calls, 3, results, 3, null(), buf, len, out, null_mut()))
    });
    assert_eq!(rendered, ANSWER);
    c!(toolcore_reply_deinit(reply));
}

#[test]
fn a_call_that_was_cut_off_is_marked_and_not_executed() {
    let tools = Tools::usual();
    let (dialect, no) = (TOOLCORE_DIALECT_ANTHROPIC, null_mut());
    let text = REPLY.replacen('{', r#"{"stop_reason":"max_tokens","#, 1);
    let mut memory = Block::new(SCRATCH);
    let mut reply = null_mut();
    let status =
        c!(toolcore_reply_parse(dialect, s(&text), null(), memory.ptr(), SCRATCH, &raw mut reply, no));
    assert_eq!((status, c!(toolcore_reply_finish(reply))), (TOOLCORE_OK, TOOLCORE_FINISH_TRUNCATED));
    let mut call = init::<toolcore_tool_call_t>();
    assert_eq!(c!(toolcore_reply_call(reply, 2, &raw mut call)), TOOLCORE_OK);
    assert_eq!(call.flags, TOOLCORE_CALL_HAS_ID | TOOLCORE_CALL_TRUNCATED);
    let mut scratch = Block::new(SCRATCH);
    let mut result = null_mut();
    let opts = null();
    let status =
        c!(toolcore_dispatch(tools.registry, &call, opts, scratch.ptr(), SCRATCH, &raw mut result, no));
    assert_eq!(status, TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_kind(result)), TOOLCORE_OUTCOME_BAD_ARGUMENTS);
}

#[test]
fn a_call_without_an_id_is_answered_by_its_place_and_null_means_cancelled() {
    let calls = [sized!(toolcore_tool_call_t { name: s("x") })];
    let results = [init::<toolcore_call_result_t>()];
    let opts = sized!(toolcore_results_opts_t { flags: TOOLCORE_RESULTS_BARE });
    let rendered = written(|buf, len, out| {
        let (calls, results, dialect) = (calls.as_ptr(), results.as_ptr(), TOOLCORE_DIALECT_OPENAI_CHAT);
        c!(toolcore_results_render(dialect, calls, 1, results, 1, &opts, buf, len, out, null_mut()))
    });
    assert_eq!(
        rendered,
        r#"{"role":"tool","tool_call_id":"toolcore_0","content":"Tool error: Tool 'x' was cancelled"}"#
    );
    // An id that is there and empty is another thing than none.
    let empty = [sized!(toolcore_call_result_t { flags: TOOLCORE_RESULT_HAS_ID })];
    let status = c!(toolcore_results_render(
        TOOLCORE_DIALECT_OPENAI_CHAT,
        calls.as_ptr(),
        1,
        empty.as_ptr(),
        1,
        null(),
        null_mut(),
        0,
        &mut 0,
        null_mut()
    ));
    assert_eq!(status, TOOLCORE_ERR_UNKNOWN_CALL_ID);
}

#[test]
fn an_alias_is_known_where_its_dialect_is_named() {
    let tools = Tools::new();
    assert_eq!(tools.add(&tool("a.b", echo)), TOOLCORE_OK);
    let rendered = written(|buf, len, out| {
        c!(toolcore_tools_render(
            tools.registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            null(),
            buf,
            len,
            out,
            null_mut()
        ))
    });
    let at = rendered.find("a_b_").unwrap();
    let call = sized!(toolcore_tool_call_t { name: s(&rendered[at..at + 12]) });
    let mut scratch = Block::new(SCRATCH);
    for (dialect, known) in [(0, false), (TOOLCORE_DIALECT_ANTHROPIC, true)] {
        let opts = sized!(toolcore_dispatch_opts_t { dialect: dialect });
        let (mut result, mem) = (null_mut(), scratch.ptr());
        let no = null_mut();
        assert_eq!(
            c!(toolcore_dispatch(tools.registry, &call, &opts, mem, SCRATCH, &raw mut result, no)),
            TOOLCORE_OK
        );
        assert_eq!(c!(toolcore_result_kind(result)) != TOOLCORE_OUTCOME_UNKNOWN_TOOL, known);
    }
}

#[test]
fn the_registry_lists_finds_and_removes() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let (mut name, mut index) = (toolcore_str_t::EMPTY, 0);
    assert_eq!(c!(toolcore_registry_len(registry)), 2);
    assert_eq!(c!(toolcore_registry_name(registry, 1, &raw mut name)), TOOLCORE_OK);
    assert_eq!(text(name), "fail");
    assert_eq!(c!(toolcore_registry_name(registry, 2, &raw mut name)), TOOLCORE_ERR_NOT_FOUND);
    assert_eq!(name.len, 0);
    assert_eq!(c!(toolcore_registry_find(registry, s("fail"), &raw mut index)), TOOLCORE_OK);
    assert_eq!(index, 1);
    let (mut used, mut after, mut total) = (0, 0, 0);
    assert_eq!(c!(toolcore_registry_pool(registry, &raw mut used, &raw mut total)), TOOLCORE_OK);
    assert!(used > 0 && used < total);
    assert_eq!(c!(toolcore_registry_remove(registry, s("echo"))), TOOLCORE_OK);
    assert_eq!(c!(toolcore_registry_pool(registry, &raw mut after, &raw mut total)), TOOLCORE_OK);
    assert!(after < used);
    assert_eq!(c!(toolcore_registry_find(registry, s("fail"), &raw mut index)), TOOLCORE_OK);
    assert_eq!(index, 0);
}

#[test]
fn parameters_become_the_schema_that_is_told_and_enforced() {
    let range = |name| {
        sized!(toolcore_param_t {
            name: s(name),
            r#type: TOOLCORE_TYPE_INTEGER,
            flags: TOOLCORE_PARAM_REQUIRED,
            minimum: s("0"),
            maximum: s("255"),
        })
    };
    let color = [range("red"), range("green")];
    let tag = sized!(toolcore_param_t { r#type: TOOLCORE_TYPE_STRING, min_length: 1, max_length: 8 });
    let params = [
        sized!(toolcore_param_t {
            name: s("color"),
            r#type: TOOLCORE_TYPE_OBJECT,
            flags: TOOLCORE_PARAM_REQUIRED,
            properties: color.as_ptr(),
            properties_len: 2,
        }),
        sized!(toolcore_param_t {
            name: s("tags"),
            r#type: TOOLCORE_TYPE_ARRAY,
            items: &raw const tag,
            min_items: 1,
            max_items: 3,
        }),
        sized!(toolcore_param_t {
            name: s("unit"),
            r#type: TOOLCORE_TYPE_STRING,
            flags: TOOLCORE_PARAM_NULLABLE,
            description: s("Which \"unit\"."),
            enumeration: s(r#"["c","f"]"#),
            default_value: s("\"c\""),
        }),
        sized!(toolcore_param_t {
            name: s("more"),
            r#type: TOOLCORE_TYPE_OBJECT,
            flags: TOOLCORE_PARAM_ADDITIONAL
        }),
        sized!(toolcore_param_t { name: s("any"), r#type: TOOLCORE_TYPE_ANY }),
        sized!(toolcore_param_t { name: s("on"), r#type: TOOLCORE_TYPE_BOOLEAN }),
        sized!(toolcore_param_t { name: s("size"), r#type: TOOLCORE_TYPE_NUMBER }),
    ];
    for flags in [0, TOOLCORE_TOOL_STATIC] {
        let tools = Tools::new();
        let light = toolcore_tool_t { params: params.as_ptr(), params_len: 7, flags, ..tool("light", fail) };
        assert_eq!(tools.add(&light), TOOLCORE_OK);
        let rendered = written(|buf, len, out| {
            c!(toolcore_tools_render(tools.registry, TOOLCORE_DIALECT_MCP, null(), buf, len, out, null_mut()))
        });
        let schema = concat!(
            r#"{"type":"object","properties":{"color":{"type":"object","properties":{"#,
            r#""red":{"type":"integer","minimum":0,"maximum":255},"green":{"type":"integer","minimum":0,"maximum":255}},"#,
            r#""required":["red","green"],"additionalProperties":false},"#,
            r#""tags":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","minLength":1,"maxLength":8}},"#,
            r#""unit":{"type":["string","null"],"description":"Which \"unit\".","enum":["c","f",null],"default":"c"},"#,
            r#""more":{"type":"object","properties":{}},"any":{},"on":{"type":"boolean"},"size":{"type":"number"}},"#,
            r#""required":["color"],"additionalProperties":false}"#
        );
        assert!(rendered.contains(schema), "{rendered}");
        let mut scratch = Block::new(SCRATCH);
        for (arguments, fits) in [
            (r#"{"color":{"red":1,"green":2},"tags":["a"],"unit":null,"more":{"x":1}}"#, true),
            (r#"{"color":{"red":1,"green":256}}"#, false),
            (r#"{"color":{"red":1,"green":2},"tags":[""]}"#, false),
            (r#"{"color":{"red":1,"green":2},"x":1}"#, false),
            ("{}", false),
        ] {
            let call = sized!(toolcore_tool_call_t { name: s("light"), arguments: s(arguments) });
            let (mut result, mem, no) = (null_mut(), scratch.ptr(), null_mut());
            let status =
                c!(toolcore_dispatch(tools.registry, &call, null(), mem, SCRATCH, &raw mut result, no));
            assert_eq!(status, TOOLCORE_OK);
            let kind = c!(toolcore_result_kind(result));
            assert_eq!(kind == TOOLCORE_OUTCOME_TOOL_FAILED, fits, "{arguments}");
        }
    }
}

#[test]
fn static_strings_are_not_copied() {
    let tools = Tools::new();
    let description = "A long description that takes no room in the pool.";
    let fixed =
        toolcore_tool_t { description: s(description), flags: TOOLCORE_TOOL_STATIC, ..tool("fixed", fail) };
    assert_eq!(tools.add(&fixed), TOOLCORE_OK);
    let mut name = toolcore_str_t::EMPTY;
    assert_eq!(c!(toolcore_registry_name(tools.registry, 0, &raw mut name)), TOOLCORE_OK);
    assert_eq!(name.ptr, fixed.name.ptr);
    let copied = toolcore_tool_t { flags: 0, name: s("copied"), ..fixed };
    assert_eq!(tools.add(&copied), TOOLCORE_OK);
    assert_eq!(c!(toolcore_registry_name(tools.registry, 1, &raw mut name)), TOOLCORE_OK);
    assert_ne!(name.ptr, copied.name.ptr);
}

#[test]
fn annotations_reach_an_mcp_client() {
    let tools = Tools::new();
    let hints = TOOLCORE_ANNOTATION_READ_ONLY | TOOLCORE_ANNOTATION_NOT_OPEN_WORLD;
    assert_eq!(tools.add(&toolcore_tool_t { annotations: hints, ..tool("x", fail) }), TOOLCORE_OK);
    let rendered = written(|buf, len, out| {
        c!(toolcore_tools_render(tools.registry, TOOLCORE_DIALECT_MCP, null(), buf, len, out, null_mut()))
    });
    assert!(rendered.contains(r#""annotations":{"readOnlyHint":true,"openWorldHint":false}"#), "{rendered}");
}

#[test]
fn choice_and_category_are_rendered() {
    let tools = Tools::usual();
    let other = toolcore_tool_t { category: s("home"), ..tool("lamp", fail) };
    assert_eq!(tools.add(&other), TOOLCORE_OK);
    let opts = sized!(toolcore_tools_opts_t {
        category: s("home"),
        choice: TOOLCORE_CHOICE_TOOL,
        choice_tool: s("lamp"),
        parallel: TOOLCORE_PARALLEL_NO,
        flags: TOOLCORE_RENDER_BARE,
    });
    let rendered = written(|buf, len, out| {
        c!(toolcore_tools_render(
            tools.registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            &opts,
            buf,
            len,
            out,
            null_mut()
        ))
    });
    assert!(rendered.starts_with(r#""tools":[{"name":"lamp""#), "{rendered}");
    assert!(
        rendered.ends_with(r#""tool_choice":{"type":"tool","name":"lamp","disable_parallel_tool_use":true}"#),
        "{rendered}"
    );
}
