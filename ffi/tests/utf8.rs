//! A text that is not UTF-8 is a status, wherever it comes in.

use core::ptr::{null, null_mut};
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::call::*;
use crate::complete::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::hook::*;
use crate::json::*;
use crate::json_writer::*;
use crate::registry::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::tool::*;
use crate::tools::*;
use crate::turn::*;

const BAD: toolcore_str_t = toolcore_str_t { ptr: c"a\xC3(".as_ptr(), len: 3 };
const UTF8: toolcore_status_t = TOOLCORE_ERR_INVALID_UTF8;

#[test]
fn in_a_tool() {
    let spoil: [fn(&mut toolcore_tool_t); 6] = [
        |tool| tool.name = BAD,
        |tool| tool.title = BAD,
        |tool| tool.description = BAD,
        |tool| tool.category = BAD,
        |tool| tool.schema = BAD,
        |tool| tool.output_schema = BAD,
    ];
    let tools = Tools::new();
    for spoil in spoil {
        let mut tool = tool("x", fail);
        spoil(&mut tool);
        assert_eq!(tools.add(&tool), UTF8);
    }
    let spoil: [fn(&mut toolcore_param_t); 6] = [
        |param| param.name = BAD,
        |param| param.description = BAD,
        |param| param.enumeration = BAD,
        |param| param.default_value = BAD,
        |param| param.minimum = BAD,
        |param| param.maximum = BAD,
    ];
    for spoil in spoil {
        let mut param = sized!(toolcore_param_t { name: s("p"), r#type: TOOLCORE_TYPE_ANY });
        spoil(&mut param);
        assert_eq!(
            tools.add(&toolcore_tool_t { params: &raw const param, params_len: 1, ..tool("x", fail) }),
            UTF8
        );
        let outer =
            sized!(toolcore_param_t { name: s("o"), r#type: TOOLCORE_TYPE_ARRAY, items: &raw const param });
        assert_eq!(
            tools.add(&toolcore_tool_t { params: &raw const outer, params_len: 1, ..tool("x", fail) }),
            UTF8
        );
    }
    assert_eq!(c!(toolcore_registry_len(tools.registry)), 0);
}

#[test]
fn in_every_other_place() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let mut scratch = Block::new(SCRATCH);
    let mem = scratch.ptr();
    let (no, mut len) = (null_mut(), 0usize);
    let len = &raw mut len;
    let mut result = null_mut();
    let mut result_memory = Block::new(SCRATCH);
    assert_eq!(c!(toolcore_result_init(result_memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    let mut context = null_mut();
    let mut context_memory = Block::new(1 << 15);
    assert_eq!(
        c!(toolcore_context_init(null(), context_memory.ptr(), 1 << 15, &raw mut context)),
        TOOLCORE_OK
    );
    let mut all: Vec<toolcore_status_t> = Vec::from([
        c!(toolcore_registry_remove(registry, BAD)),
        c!(toolcore_registry_find(registry, BAD, len)),
        c!(toolcore_result_text(result, BAD)),
        c!(toolcore_result_json(result, BAD)),
        c!(toolcore_result_error(result, BAD)),
        c!(toolcore_result_image(result, BAD, null(), 0)),
        c!(toolcore_result_audio(result, BAD, null(), 0)),
        c!(toolcore_result_link(result, BAD, s("x"))),
        c!(toolcore_result_link(result, s("x"), BAD)),
        c!(toolcore_json_get(s("{}"), BAD, &mut BAD.clone())),
        c!(toolcore_schema_mem_size(BAD, null(), len, no)),
        c!(toolcore_schema_init(BAD, null(), mem, SCRATCH, &mut null_mut(), no)),
    ]);
    for opts in
        [sized!(toolcore_tools_opts_t { category: BAD }), sized!(toolcore_tools_opts_t { choice_tool: BAD })]
    {
        all.push(c!(toolcore_tools_render(registry, TOOLCORE_DIALECT_MCP, &opts, null_mut(), 0, len, no)));
    }
    for call in [
        sized!(toolcore_tool_call_t { id: BAD }),
        sized!(toolcore_tool_call_t { name: BAD }),
        sized!(toolcore_tool_call_t { arguments: BAD }),
    ] {
        all.push(c!(toolcore_dispatch(registry, &call, null(), mem, SCRATCH, &mut null_mut(), no)));
        let dialect = TOOLCORE_DIALECT_ANTHROPIC;
        all.push(c!(toolcore_turn_render(dialect, s(""), &call, 1, null(), null_mut(), 0, len, no)));
        all.push(c!(toolcore_turn_render(dialect, BAD, null(), 0, null(), null_mut(), 0, len, no)));
        all.push(c!(toolcore_results_render(
            TOOLCORE_DIALECT_MCP,
            &call,
            1,
            null(),
            0,
            null(),
            null_mut(),
            0,
            len,
            no
        )));
    }
    let call = init::<toolcore_tool_call_t>();
    let answer = sized!(toolcore_call_result_t { id: BAD });
    all.push(c!(toolcore_results_render(
        TOOLCORE_DIALECT_MCP,
        &call,
        1,
        &answer,
        1,
        null(),
        null_mut(),
        0,
        len,
        no
    )));
    for block in [
        sized!(toolcore_block_t { category: BAD }),
        sized!(toolcore_block_t { label: BAD }),
        sized!(toolcore_block_t { source: BAD }),
        sized!(toolcore_block_t { content: BAD }),
    ] {
        all.push(c!(toolcore_context_push(context, &block)));
    }
    let flight = Flight::new(&init());
    let inflight = flight.inflight;
    all.extend([
        c!(toolcore_complete_text(inflight, 1, 0, BAD)),
        c!(toolcore_fail(inflight, 1, 0, BAD)),
        c!(toolcore_progress(inflight, 1, 0, 1, 2, BAD)),
    ]);
    for (at, status) in all.into_iter().enumerate() {
        assert_eq!(status, UTF8, "number {at}");
    }
    assert_eq!(c!(toolcore_result_len(result)), 0);
    assert_eq!(c!(toolcore_context_len(context)), 0);
}

#[test]
fn in_json_it_is_bad_json_with_its_place() {
    let mut why = init::<toolcore_detail_t>();
    let text = toolcore_str_t { ptr: c"[\"a\xC3(\"]".as_ptr(), len: 7 };
    assert_eq!(c!(toolcore_json_validate(text, null(), &raw mut why)), TOOLCORE_ERR_BAD_JSON);
    assert_eq!((why.reason, why.offset), (TOOLCORE_JSON_ERR_INVALID_UTF8, 3));
    assert_eq!(c!(toolcore_json_kind(text)), 0);
    let mut reply = null_mut();
    let mut memory = Block::new(SCRATCH);
    let dialect = TOOLCORE_DIALECT_ANTHROPIC;
    let parse = crate::reply::toolcore_reply_parse;
    let status = c!(parse(dialect, text, null(), memory.ptr(), SCRATCH, &raw mut reply, &raw mut why));
    assert_eq!((status, why.offset), (TOOLCORE_ERR_BAD_JSON, 3));
}

#[test]
fn in_a_writer_it_is_kept_until_the_end() {
    let mut writer = c!(core::mem::zeroed::<toolcore_json_writer_t>());
    let mut buffer = [0u8; 64];
    let (writer, mut len) = (&raw mut writer, 9);
    assert_eq!(c!(toolcore_json_writer_init(writer, buffer.as_mut_ptr().cast(), 64)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_json_writer_string(writer, BAD)), UTF8);
    assert_eq!(c!(toolcore_json_writer_null(writer)), UTF8);
    assert_eq!(c!(toolcore_json_writer_end(writer, &raw mut len)), UTF8);
    assert_eq!(len, 0);
}

#[test]
fn in_a_callback() {
    unsafe extern "C" fn run(
        _: *mut core::ffi::c_void,
        call: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        let mut text = s("was");
        assert_eq!(c!(toolcore_call_get_str(call, BAD, &raw mut text)), UTF8);
        assert_eq!(text.len, 0);
        assert_eq!(c!(toolcore_call_get_i64(call, BAD, &mut 0)), UTF8);
        UTF8
    }
    unsafe extern "C" fn before(
        _: *mut core::ffi::c_void,
        draft: *mut toolcore_draft_t,
    ) -> toolcore_status_t {
        assert_eq!(c!(toolcore_draft_set_name(draft, BAD)), UTF8);
        assert_eq!(c!(toolcore_draft_set_arguments(draft, BAD)), UTF8);
        assert_eq!(c!(toolcore_draft_block(draft, BAD)), UTF8);
        TOOLCORE_OK
    }
    let tools = Tools::new();
    assert_eq!(tools.add(&tool("x", run)), TOOLCORE_OK);
    let hook = sized!(toolcore_hook_t { before: Some(before) });
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    let call = sized!(toolcore_tool_call_t { name: s("x") });
    let mut result = null_mut();
    let mut scratch = Block::new(SCRATCH);
    let status = c!(toolcore_dispatch(
        tools.registry,
        &call,
        null(),
        scratch.ptr(),
        SCRATCH,
        &raw mut result,
        null_mut()
    ));
    assert_eq!(status, TOOLCORE_OK);
    let mut part = init::<toolcore_part_t>();
    assert_eq!(c!(toolcore_result_part(result, 0, &raw mut part)), TOOLCORE_OK);
    assert_eq!(text(part.text), "Tool error: invalid UTF-8");
}
