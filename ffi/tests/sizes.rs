//! A struct of another size: an old caller, a new caller, and one that forgot.

use core::ptr::{self, null, null_mut};
use std::vec::Vec;

use super::support::*;
use crate::abi::CStruct;
use crate::answer::*;
use crate::call::*;
use crate::clock::*;
use crate::coerce::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::hook::*;
use crate::inflight::*;
use crate::json::*;
use crate::registry::*;
use crate::reply::*;
use crate::resources::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::stream::*;
use crate::tool::*;
use crate::tools::*;

/// Uses a struct at every size that means something; `good` is one that `call` accepts.
fn inputs<T: CStruct>(good: T, call: impl Fn(*const T) -> toolcore_status_t) {
    let size = size_of::<T>();
    let name = core::any::type_name::<T>();
    let with = |says: usize, tail: u8| {
        let mut memory: Vec<u64> = [0].repeat(1024);
        let at = memory.as_mut_ptr().cast::<T>();
        c!(at.write(good));
        c!(at.cast::<usize>().write(says));
        c!(at.cast::<u8>().add(size + 15).write(tail));
        call(at)
    };
    assert_eq!(with(size, 1), TOOLCORE_OK, "{name}: what is beyond its size does not matter");
    assert_eq!(with(size + 16, 0), TOOLCORE_OK, "{name}: a new caller that sets nothing new");
    assert_eq!(with(size + 16, 1), TOOLCORE_ERR_UNSUPPORTED, "{name}: a new caller that wants something new");
    for says in [0, 1, T::FIRST - 1, 4097, usize::MAX] {
        assert_eq!(with(says, 0), INVALID, "{name}: struct_size {says}");
    }
    for says in T::FIRST..size {
        assert_eq!(with(says, 0), TOOLCORE_OK, "{name}: an older caller, of struct_size {says}");
    }
    if !name.contains("opts") {
        assert_eq!(call(null()), INVALID, "{name}: NULL");
    }
}

/// Has a struct filled in at every size that means something.
fn outputs<T: CStruct>(call: impl Fn(*mut T) -> toolcore_status_t) {
    let size = size_of::<T>();
    let name = core::any::type_name::<T>();
    let with = |says: usize| {
        let mut memory: Vec<u8> = [0xA5].repeat(8192);
        let at = memory.as_mut_ptr().cast::<T>();
        c!(at.cast::<usize>().write_unaligned(says));
        let status = call(at);
        assert_eq!(c!(at.cast::<usize>().read_unaligned()), says, "{name}: its size is the caller's");
        let known = if says < T::FIRST { size_of::<usize>() } else { size.min(says) };
        assert!(memory[known..].iter().all(|byte| *byte == 0xA5), "{name}: written beyond what is known");
        status
    };
    assert_eq!(with(size), TOOLCORE_OK, "{name}");
    assert_eq!(with(size + 16), TOOLCORE_OK, "{name}: a new caller");
    for says in T::FIRST..size {
        assert_eq!(with(says), TOOLCORE_OK, "{name}: an older caller, of struct_size {says}");
    }
    for says in [0, 1, T::FIRST - 1, 4097, usize::MAX] {
        assert_eq!(with(says), INVALID, "{name}: struct_size {says}");
    }
}

#[test]
fn options_may_be_larger_but_not_smaller() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let mut scratch = Block::new(1 << 16);
    let mem = scratch.ptr();
    let mut len = 0usize;
    let len = &raw mut len;
    let no = null_mut();
    let call = sized!(toolcore_tool_call_t { name: s("fail") });

    inputs(init::<toolcore_registry_opts_t>(), |opts| {
        let mut out = ptr::dangling_mut();
        let status = c!(toolcore_registry_init(opts, mem, 1 << 16, &raw mut out));
        assert_eq!(out.is_null(), status != TOOLCORE_OK);
        assert_eq!(c!(toolcore_registry_mem_size(opts)) == 0, status != TOOLCORE_OK);
        status
    });
    inputs(init::<toolcore_tools_opts_t>(), |opts| {
        c!(toolcore_tools_render(registry, TOOLCORE_DIALECT_MCP, opts, null_mut(), 0, len, no))
    });
    inputs(init::<toolcore_answer_opts_t>(), |opts| {
        c!(toolcore_answer(
            registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            opts,
            mem,
            SCRATCH,
            null_mut(),
            0,
            len,
            null_mut(),
            no
        ))
    });
    inputs(init::<toolcore_reply_opts_t>(), |opts| {
        let mut need = 9;
        let status =
            c!(toolcore_reply_mem_size(TOOLCORE_DIALECT_ANTHROPIC, s(REPLY), opts, &raw mut need, no));
        assert_eq!(need == 0, status != TOOLCORE_OK);
        let parsed = c!(toolcore_reply_parse(
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            opts,
            mem,
            SCRATCH,
            &mut null_mut(),
            no
        ));
        assert_eq!(parsed, status);
        status
    });
    inputs(init::<toolcore_stream_opts_t>(), |opts| {
        let status =
            c!(toolcore_stream_init(TOOLCORE_DIALECT_ANTHROPIC, opts, mem, SCRATCH, &mut null_mut(), no));
        assert_eq!(c!(toolcore_stream_mem_size(opts)) == 0, status != TOOLCORE_OK);
        status
    });
    let mut reply = null_mut();
    let mut memory = Block::new(SCRATCH);
    let (dialect, replies) = (TOOLCORE_DIALECT_ANTHROPIC, memory.ptr());
    assert_eq!(
        c!(toolcore_reply_parse(dialect, s(REPLY), null(), replies, SCRATCH, &raw mut reply, no)),
        TOOLCORE_OK
    );
    inputs(init::<toolcore_replay_opts_t>(), |opts| {
        c!(toolcore_reply_replay(reply, opts, null_mut(), 0, len, no))
    });
    inputs(init::<toolcore_dispatch_opts_t>(), |opts| {
        c!(toolcore_dispatch(registry, &call, opts, mem, SCRATCH, &mut null_mut(), no))
    });
    inputs(init::<toolcore_results_opts_t>(), |opts| {
        c!(toolcore_results_render(TOOLCORE_DIALECT_MCP, null(), 0, null(), 0, opts, null_mut(), 0, len, no))
    });
    inputs(init::<toolcore_json_opts_t>(), |opts| c!(toolcore_json_validate(s("[]"), opts, no)));
    inputs(init::<toolcore_schema_opts_t>(), |opts| {
        c!(toolcore_schema_init(s("{}"), opts, mem, SCRATCH, &mut null_mut(), no))
    });
    inputs(sized!(toolcore_resource_t { uri: s("https://example.com/a"), text: s("{}") }), |resource| {
        let len = usize::from(!resource.is_null());
        if len == 0 {
            return INVALID;
        }
        c!(toolcore_resources_init(resource, len, mem, SCRATCH, &mut null_mut(), no))
    });
    inputs(init::<toolcore_context_opts_t>(), |opts| {
        c!(toolcore_context_init(opts, mem, 1 << 16, &mut null_mut()))
    });
    inputs(init::<toolcore_inflight_opts_t>(), |opts| {
        let status = c!(toolcore_inflight_init(opts, mem, 1 << 16, &mut null_mut()));
        assert_eq!(c!(toolcore_inflight_mem_size(opts)) == 0, status != TOOLCORE_OK);
        status
    });
    inputs(init::<toolcore_answer_opts_t>(), |opts| {
        let flight = Flight::new(&init());
        c!(toolcore_start(flight.inflight, registry, flight.reply, opts, mem, SCRATCH, 0, no))
    });
}

#[test]
fn structs_that_must_be_there_may_be_larger_but_not_smaller() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let mut scratch = Block::new(SCRATCH);
    let mem = scratch.ptr();
    let mut len = 0usize;
    let no = null_mut();
    let call = sized!(toolcore_tool_call_t { name: s("fail") });

    inputs(tool("extra", fail), |extra| {
        let status = c!(toolcore_registry_add(registry, extra, no));
        c!(toolcore_registry_remove(registry, s("extra")));
        status
    });
    inputs(sized!(toolcore_param_t { name: s("x"), r#type: TOOLCORE_TYPE_ANY }), |params| {
        let extra = toolcore_tool_t { params, params_len: 1, ..tool("extra", fail) };
        let status = c!(toolcore_registry_add(registry, &extra, no));
        c!(toolcore_registry_remove(registry, s("extra")));
        status
    });
    inputs(sized!(toolcore_native_tool_t { kind: TOOLCORE_NATIVE_WEB_SEARCH }), |native| {
        let opts = sized!(toolcore_tools_opts_t { native: native, native_len: 1 });
        c!(toolcore_tools_render(registry, TOOLCORE_DIALECT_ANTHROPIC, &opts, null_mut(), 0, &mut 0, no))
    });
    inputs(init::<toolcore_hook_t>(), |hook| {
        let fresh = Tools::new();
        c!(toolcore_registry_add_hook(fresh.registry, hook))
    });
    inputs(call, |call| {
        let opts = null();
        let status = c!(toolcore_dispatch(registry, call, opts, mem, SCRATCH, &mut null_mut(), no));
        let results = [init::<toolcore_call_result_t>()];
        let mut len = 0;
        let rendered = c!(toolcore_results_render(
            TOOLCORE_DIALECT_MCP,
            call,
            1,
            results.as_ptr(),
            1,
            null(),
            null_mut(),
            0,
            &raw mut len,
            no
        ));
        assert_eq!(rendered, status);
        status
    });
    inputs(init::<toolcore_call_result_t>(), |result| {
        c!(toolcore_results_render(
            TOOLCORE_DIALECT_MCP,
            &call,
            1,
            result,
            1,
            null(),
            null_mut(),
            0,
            &mut len.clone(),
            no
        ))
    });
    unsafe extern "C" fn now(_: *mut core::ffi::c_void) -> u64 {
        0
    }
    inputs(sized!(toolcore_clock_t { now_ms: Some(now) }), |clock| {
        if clock.is_null() {
            return INVALID;
        }
        let opts = sized!(toolcore_dispatch_opts_t { clock: clock, timeout_ms: 5 });
        c!(toolcore_dispatch(registry, &call, &opts, mem, SCRATCH, &mut null_mut(), no))
    });
    let mut result = null_mut();
    let mut memory = Block::new(SCRATCH);
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    inputs(init::<toolcore_usage_t>(), |usage| c!(toolcore_result_usage(result, usage)));
    let mut context = null_mut();
    let mut memory = Block::new(1 << 16);
    assert_eq!(c!(toolcore_context_init(null(), memory.ptr(), 1 << 16, &raw mut context)), TOOLCORE_OK);
    inputs(init::<toolcore_block_t>(), |block| c!(toolcore_context_push(context, block)));
    inputs(init::<toolcore_context_render_opts_t>(), |opts| {
        c!(toolcore_context_render(context, opts, null_mut(), 0, &mut len.clone(), null_mut(), no))
    });
    assert_eq!(
        c!(toolcore_context_render(context, null(), null_mut(), 0, &raw mut len, null_mut(), no)),
        INVALID,
        "a budget must be set"
    );
    let mut schema = null_mut();
    let mut memory = Block::new(SCRATCH);
    assert_eq!(
        c!(toolcore_schema_init(s("{}"), null(), memory.ptr(), SCRATCH, &raw mut schema, no)),
        TOOLCORE_OK
    );
    inputs(init::<toolcore_check_opts_t>(), |opts| {
        c!(toolcore_schema_check(schema, s("1"), opts, mem, SCRATCH, &mut false, no))
    });
    inputs(init::<toolcore_coerce_opts_t>(), |opts| {
        let status = c!(toolcore_schema_coerce(
            schema,
            s("1"),
            opts,
            mem,
            SCRATCH,
            null_mut(),
            0,
            &mut len.clone(),
            no
        ));
        assert_eq!(c!(toolcore_schema_coerce_scratch_size(schema, opts)) == 0, status != TOOLCORE_OK);
        status
    });
}

#[test]
fn structs_that_are_filled_in_may_be_larger_but_not_smaller() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let mut scratch = Block::new(SCRATCH);
    let mem = scratch.ptr();
    outputs::<toolcore_detail_t>(|why| c!(toolcore_json_validate(s("1"), null(), why)));
    outputs::<toolcore_tool_info_t>(|info| c!(toolcore_registry_tool(registry, 0, info)));
    outputs::<toolcore_outcome_t>(|outcome| {
        let mut buf = [0u8; 2048];
        let (buf, len) = (buf.as_mut_ptr().cast(), buf.len());
        c!(toolcore_answer(
            registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            null(),
            mem,
            SCRATCH,
            buf,
            len,
            &mut 0,
            outcome,
            null_mut()
        ))
    });
    let mut reply = null_mut();
    let mut memory = Block::new(SCRATCH);
    let (dialect, no) = (TOOLCORE_DIALECT_ANTHROPIC, null_mut());
    assert_eq!(
        c!(toolcore_reply_parse(dialect, s(REPLY), null(), memory.ptr(), SCRATCH, &raw mut reply, no)),
        TOOLCORE_OK
    );
    outputs::<toolcore_tool_call_t>(|call| c!(toolcore_reply_call(reply, 0, call)));
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(mem, SCRATCH, &raw mut result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("x"))), TOOLCORE_OK);
    outputs::<toolcore_part_t>(|part| c!(toolcore_result_part(result, 0, part)));
    let mut context = null_mut();
    let mut memory = Block::new(1 << 16);
    assert_eq!(c!(toolcore_context_init(null(), memory.ptr(), 1 << 16, &raw mut context)), TOOLCORE_OK);
    assert_eq!(
        c!(toolcore_context_push(context, &sized!(toolcore_block_t { content: s("x") }))),
        TOOLCORE_OK
    );
    let opts = sized!(toolcore_context_render_opts_t { budget: 9 });
    outputs::<toolcore_context_report_t>(|report| {
        let mut buf = [0u8; 64];
        c!(toolcore_context_render(context, &opts, buf.as_mut_ptr().cast(), 64, &mut 0, report, null_mut()))
    });
    outputs::<toolcore_inflight_stats_t>(|stats| {
        c!(toolcore_inflight_stats(Flight::new(&init()).inflight, stats))
    });
    outputs::<toolcore_outcome_t>(|outcome| {
        let mut flight = Flight::new(&init());
        let tools = Tools::usual();
        flight.start(&tools, &init(), 0);
        let mut buf = [0u8; 2048];
        let (buf, len, no) = (buf.as_mut_ptr().cast(), buf.len(), null_mut());
        c!(toolcore_finish(flight.inflight, 0, buf, len, &mut 0, outcome, no))
    });
    outputs::<toolcore_block_report_t>(|report| c!(toolcore_context_block_report(context, 0, report)));
}

#[test]
fn elements_of_an_array_have_the_size_of_the_first() {
    let mut memory: Vec<u64> = [0].repeat(256);
    let stride = size_of::<toolcore_param_t>() + 16;
    let base = memory.as_mut_ptr().cast::<u8>();
    let at = |index: usize| c!(base.add(index * stride)).cast::<toolcore_param_t>();
    for (index, name) in ["first", "second"].into_iter().enumerate() {
        let r#type = TOOLCORE_TYPE_STRING;
        c!(at(index).write(sized!(toolcore_param_t { struct_size: stride, name: s(name), r#type: r#type })));
    }
    let tools = Tools::new();
    let two = toolcore_tool_t { params: at(0), params_len: 2, ..tool("two", fail) };
    assert_eq!(tools.add(&two), TOOLCORE_OK);
    let rendered = written(|buf, len, out| {
        c!(toolcore_tools_render(tools.registry, TOOLCORE_DIALECT_MCP, null(), buf, len, out, null_mut()))
    });
    assert!(
        rendered.contains(r#""properties":{"first":{"type":"string"},"second":{"type":"string"}}"#),
        "{rendered}"
    );
    c!((*at(1)).struct_size = size_of::<toolcore_param_t>());
    assert_eq!(tools.add(&toolcore_tool_t { name: s("three"), ..two }), INVALID);
}
