//! An object that was never made, or is no more, is a status.

use core::ptr::{null, null_mut};

use super::support::*;
use crate::complete::*;
use crate::context::*;
use crate::dialect::*;
use crate::inflight::*;
use crate::json::*;
use crate::json_writer::*;
use crate::registry::*;
use crate::reply::*;
use crate::result::*;
use crate::schema::*;
use crate::status::*;
use crate::tools::*;

#[test]
fn after_a_failed_init_there_is_nothing() {
    let mut memory = Block::new(64);
    let mem = memory.ptr();
    let no = null_mut();
    let mut registry = core::ptr::dangling_mut();
    assert_eq!(c!(toolcore_registry_init(null(), mem, 64, &raw mut registry)), TOOLCORE_ERR_NO_SPACE);
    assert!(registry.is_null());
    assert_eq!(c!(toolcore_registry_len(registry)), 0);
    c!(toolcore_registry_deinit(registry));
    let mut reply = core::ptr::dangling_mut();
    let status = c!(toolcore_reply_parse(TOOLCORE_DIALECT_MCP, s("["), null(), mem, 64, &raw mut reply, no));
    assert_eq!((status, reply.is_null()), (TOOLCORE_ERR_BAD_JSON, true));
    let mut schema = core::ptr::dangling_mut();
    let status = c!(toolcore_schema_init(s("3"), null(), mem, 64, &raw mut schema, no));
    assert_eq!((status, schema.is_null()), (TOOLCORE_ERR_BAD_SCHEMA, true));
    let mut result = core::ptr::dangling_mut();
    let status = c!(toolcore_result_init(mem, 64, &raw mut result));
    assert_eq!((status, result.is_null()), (TOOLCORE_ERR_NO_SPACE, true));
    let mut context = core::ptr::dangling_mut();
    let status = c!(toolcore_context_init(null(), mem, 64, &raw mut context));
    assert_eq!((status, context.is_null()), (TOOLCORE_ERR_NO_SPACE, true));
    let mut inflight = core::ptr::dangling_mut();
    let status = c!(toolcore_inflight_init(null(), mem, 64, &raw mut inflight));
    assert_eq!((status, inflight.is_null()), (TOOLCORE_ERR_NO_SPACE, true));
    c!(toolcore_inflight_deinit(inflight));
}

#[test]
fn after_its_end_an_object_is_a_status() {
    let mut memory = Block::new(1 << 15);
    let mem = memory.ptr();
    let no = null_mut();
    let (mut len, size) = (0, 1 << 15);

    let mut registry = null_mut();
    assert_eq!(c!(toolcore_registry_init(null(), mem, size, &raw mut registry)), TOOLCORE_OK);
    c!(toolcore_registry_deinit(registry));
    c!(toolcore_registry_deinit(registry));
    assert_eq!(c!(toolcore_registry_remove(registry, s("x"))), INVALID);
    let status =
        c!(toolcore_tools_render(registry, TOOLCORE_DIALECT_MCP, null(), null_mut(), 0, &raw mut len, no));
    assert_eq!(status, INVALID);

    let mut reply = null_mut();
    let text = s(r#"{"name":"x"}"#);
    let status = c!(toolcore_reply_parse(TOOLCORE_DIALECT_MCP, text, null(), mem, size, &raw mut reply, no));
    assert_eq!((status, c!(toolcore_reply_len(reply))), (TOOLCORE_OK, 1));
    // What was here before was of another type.
    assert_eq!(c!(toolcore_registry_len(reply.cast())), 0);
    assert_eq!(c!(toolcore_registry_remove(reply.cast(), s("x"))), INVALID);
    c!(toolcore_reply_deinit(reply));
    assert_eq!(c!(toolcore_reply_len(reply)), 0);
    assert_eq!(c!(toolcore_reply_text(reply, null_mut(), 0, &raw mut len)), INVALID);

    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(mem, size, &raw mut result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("x"))), TOOLCORE_OK);
    c!(toolcore_result_deinit(result));
    assert_eq!(c!(toolcore_result_text(result, s("x"))), INVALID);
    assert_eq!(c!(toolcore_result_len(result)), 0);

    let mut schema = null_mut();
    assert_eq!(c!(toolcore_schema_init(s("true"), null(), mem, size, &raw mut schema, no)), TOOLCORE_OK);
    c!(toolcore_schema_deinit(schema));
    assert_eq!(c!(toolcore_schema_check(schema, s("1"), null(), null_mut(), 0, &mut true, no)), INVALID);

    let mut context = null_mut();
    assert_eq!(c!(toolcore_context_init(null(), mem, size, &raw mut context)), TOOLCORE_OK);
    c!(toolcore_context_deinit(context));
    assert_eq!(c!(toolcore_context_push(context, &init())), INVALID);
    assert_eq!(c!(toolcore_context_clear(context)), INVALID);

    let mut inflight = null_mut();
    assert_eq!(c!(toolcore_inflight_init(null(), mem, size, &raw mut inflight)), TOOLCORE_OK);
    // What was here before was of another type.
    assert_eq!(c!(toolcore_context_clear(inflight.cast())), INVALID);
    assert_eq!(c!(toolcore_poll(inflight, 0, null_mut(), no)), TOOLCORE_OK);
    c!(toolcore_inflight_deinit(inflight));
    c!(toolcore_inflight_deinit(inflight));
    assert_eq!(c!(toolcore_poll(inflight, 0, null_mut(), no)), INVALID);
    assert_eq!(c!(toolcore_finish(inflight, 0, null_mut(), 0, &raw mut len, null_mut(), no)), INVALID);
    assert_eq!(c!(toolcore_complete_text(inflight, 1, 0, s("x"))), INVALID);
    assert_eq!(c!(toolcore_cancel(inflight, 0, 0)), INVALID);
    assert!(c!(toolcore_done(inflight)));
}

#[test]
fn memory_that_was_never_an_object_is_a_status() {
    let zeros = [0u64; 64];
    assert_eq!(c!(toolcore_registry_len(zeros.as_ptr().cast())), 0);
    assert_eq!(c!(toolcore_reply_len(zeros.as_ptr().cast())), 0);
    // Not where an object can be.
    let odd = zeros.as_ptr().cast::<u8>().wrapping_add(1);
    assert_eq!(c!(toolcore_result_len(odd.cast())), 0);
    let mut iter = c!(core::mem::zeroed::<toolcore_json_iter_t>());
    assert!(!c!(toolcore_json_iter_next(&raw mut iter, null_mut(), &mut s(""))));
    let mut writer = c!(core::mem::zeroed::<toolcore_json_writer_t>());
    assert_eq!(c!(toolcore_json_writer_null(&raw mut writer)), INVALID);
    assert_eq!(c!(toolcore_json_writer_end(&raw mut writer, &mut 0)), INVALID);
}

#[test]
fn a_registry_that_lets_go_is_no_more_for_those_it_tells() {
    static mut ENDING: *mut toolcore_registry_t = null_mut();
    unsafe extern "C" fn look(_: *mut core::ffi::c_void) {
        assert_eq!(c!(toolcore_registry_len(ENDING)), 0);
        assert_eq!(c!(toolcore_registry_remove(ENDING, s("x"))), INVALID);
    }
    let tools = Tools::new();
    assert_eq!(tools.add(&crate::tool::toolcore_tool_t { drop: Some(look), ..tool("x", fail) }), TOOLCORE_OK);
    c!(ENDING = tools.registry);
    drop(tools);
}
