//! A NULL that is not allowed is a status, and what has no status answers for it.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::coerce::*;
use crate::complete::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::hook::*;
use crate::inflight::*;
use crate::json::*;
use crate::json_writer::*;
use crate::registry::*;
use crate::repair::*;
use crate::reply::*;
use crate::resources::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::stream::*;
use crate::tools::*;

const E: toolcore_str_t = toolcore_str_t::EMPTY;
/// A text of one byte that is nowhere.
const NOWHERE: toolcore_str_t = toolcore_str_t { ptr: null(), len: 1 };

#[test]
fn an_object_that_is_null_is_a_status() {
    let (mut len, mut text) = (0, E);
    let (n, t, no) = (&raw mut len, &raw mut text, null_mut());
    let (mut i, mut u, mut f, mut b) = (0i64, 0u64, 0f64, false);
    let all = [
        c!(toolcore_registry_add(null_mut(), null(), no)),
        c!(toolcore_registry_remove(null_mut(), E)),
        c!(toolcore_registry_name(null(), 0, t)),
        c!(toolcore_registry_find(null(), E, n)),
        c!(toolcore_registry_pool(null(), n, n)),
        c!(toolcore_registry_add_hook(null_mut(), null())),
        c!(toolcore_draft_set_name(null_mut(), E)),
        c!(toolcore_draft_set_arguments(null_mut(), E)),
        c!(toolcore_draft_block(null_mut(), E)),
        c!(toolcore_tools_render(null(), TOOLCORE_DIALECT_MCP, null(), null_mut(), 0, n, no)),
        c!(toolcore_answer(
            null(),
            TOOLCORE_DIALECT_MCP,
            E,
            null(),
            null_mut(),
            0,
            null_mut(),
            0,
            n,
            null_mut(),
            no
        )),
        c!(toolcore_reply_call(null(), 0, &mut init::<toolcore_tool_call_t>())),
        c!(toolcore_reply_text(null(), null_mut(), 0, n)),
        c!(toolcore_reply_replay(null(), null(), null_mut(), 0, n, no)),
        c!(toolcore_answer_reply(null(), null(), null(), null_mut(), 0, null_mut(), 0, n, null_mut(), no)),
        c!(toolcore_stream_feed(null_mut(), E, no)),
        c!(toolcore_stream_feed_event(null_mut(), E, E, no)),
        c!(toolcore_stream_finish(null_mut(), &mut null_mut(), no)),
        c!(toolcore_stream_rescue(null_mut(), &mut null_mut(), no)),
        c!(toolcore_call_get_str(null(), E, t)),
        c!(toolcore_call_get_i64(null(), E, &raw mut i)),
        c!(toolcore_call_get_u64(null(), E, &raw mut u)),
        c!(toolcore_call_get_f64(null(), E, &raw mut f)),
        c!(toolcore_call_get_bool(null(), E, &raw mut b)),
        c!(toolcore_call_get_json(null(), E, t)),
        c!(toolcore_result_text(null_mut(), E)),
        c!(toolcore_result_json(null_mut(), s("1"))),
        c!(toolcore_result_image(null_mut(), E, null(), 0)),
        c!(toolcore_result_audio(null_mut(), E, null(), 0)),
        c!(toolcore_result_link(null_mut(), E, E)),
        c!(toolcore_result_error(null_mut(), E)),
        c!(toolcore_result_retryable(null_mut(), 1)),
        c!(toolcore_result_usage(null_mut(), &init())),
        c!(toolcore_result_clear(null_mut())),
        c!(toolcore_result_part(null(), 0, &mut init::<toolcore_part_t>())),
        c!(toolcore_dispatch(null(), &init(), null(), null_mut(), 0, &mut null_mut(), no)),
        c!(toolcore_json_iter_init(null_mut(), s("[]"))),
        c!(toolcore_json_writer_init(null_mut(), null_mut(), 0)),
        c!(toolcore_json_writer_object_start(null_mut())),
        c!(toolcore_json_writer_object_end(null_mut())),
        c!(toolcore_json_writer_array_start(null_mut())),
        c!(toolcore_json_writer_array_end(null_mut())),
        c!(toolcore_json_writer_key(null_mut(), E)),
        c!(toolcore_json_writer_string(null_mut(), E)),
        c!(toolcore_json_writer_raw(null_mut(), s("1"))),
        c!(toolcore_json_writer_i64(null_mut(), 1)),
        c!(toolcore_json_writer_u64(null_mut(), 1)),
        c!(toolcore_json_writer_f64(null_mut(), 1.0)),
        c!(toolcore_json_writer_bool(null_mut(), 1)),
        c!(toolcore_json_writer_null(null_mut())),
        c!(toolcore_json_writer_end(null_mut(), n)),
        c!(toolcore_schema_check(null(), s("1"), null(), null_mut(), 0, &raw mut b, no)),
        c!(toolcore_schema_coerce(null(), s("1"), null(), null_mut(), 0, null_mut(), 0, n, no)),
        c!(toolcore_registry_tool(null(), 0, &mut init::<toolcore_tool_info_t>())),
        c!(toolcore_context_push(null_mut(), &init())),
        c!(toolcore_context_clear(null_mut())),
        c!(toolcore_context_render(null_mut(), &init(), null_mut(), 0, n, null_mut(), no)),
        c!(toolcore_context_block_report(null(), 0, &mut init::<toolcore_block_report_t>())),
        c!(toolcore_start(null_mut(), null(), null(), null(), null_mut(), 0, 0, no)),
        c!(toolcore_poll(null_mut(), 0, &raw mut u, no)),
        c!(toolcore_finish(null_mut(), 0, null_mut(), 0, n, null_mut(), no)),
        c!(toolcore_inflight_stats(null(), &mut init::<toolcore_inflight_stats_t>())),
        c!(toolcore_complete(null_mut(), 1, 0, null())),
        c!(toolcore_complete_text(null_mut(), 1, 0, E)),
        c!(toolcore_fail(null_mut(), 1, 0, E)),
        c!(toolcore_progress(null_mut(), 1, 0, 1, 2, E)),
        c!(toolcore_cancel(null_mut(), CALL_ALL, 0)),
    ];
    for (at, status) in all.into_iter().enumerate() {
        assert_eq!(status, INVALID, "number {at}");
    }
}

#[test]
fn what_has_no_status_takes_null_for_nothing() {
    for end in [
        c!(toolcore_registry_deinit(null_mut())),
        c!(toolcore_reply_deinit(null_mut())),
        c!(toolcore_stream_deinit(null_mut())),
        c!(toolcore_result_deinit(null_mut())),
        c!(toolcore_schema_deinit(null_mut())),
        c!(toolcore_resources_deinit(null_mut())),
        c!(toolcore_context_deinit(null_mut())),
        c!(toolcore_inflight_deinit(null_mut())),
    ] {
        assert_eq!(end, ());
    }
    assert_eq!(c!(toolcore_registry_len(null())), 0);
    assert_eq!(c!(toolcore_reply_len(null())), 0);
    assert_eq!(c!(toolcore_stream_used(null())), 0);
    assert_eq!(c!(toolcore_reply_finish(null())), TOOLCORE_FINISH_COMPLETE);
    assert_eq!(c!(toolcore_result_len(null())), 0);
    assert_eq!(c!(toolcore_result_kind(null())), TOOLCORE_OUTCOME_ANSWERED);
    assert!(!c!(toolcore_result_failed(null())));
    assert_eq!(c!(toolcore_context_len(null())), 0);
    assert_eq!(c!(toolcore_schema_scratch_size(null(), null())), 0);
    assert_eq!(c!(toolcore_schema_size(null())), 0);
    assert_eq!(c!(toolcore_result_repairs(null())), 0);
    assert_eq!(c!(toolcore_call_time_left_ms(null())), u64::MAX);
    assert_eq!(c!(toolcore_call_deadline_ms(null())), u64::MAX);
    assert_eq!(c!(toolcore_call_ticket(null())), 0);
    assert!(c!(toolcore_done(null())));
    for empty in [
        c!(toolcore_call_name(null())),
        c!(toolcore_call_id(null())),
        c!(toolcore_call_arguments(null())),
        c!(toolcore_draft_name(null())),
        c!(toolcore_draft_arguments(null())),
        c!(toolcore_draft_id(null())),
        c!(toolcore_stream_provider_error(null())),
        toolcore_dialect_name(0),
    ] {
        assert_eq!((empty.ptr, empty.len), (null(), 0));
    }
    assert!(!c!(toolcore_json_iter_next(null_mut(), null_mut(), &mut E.clone())));
    assert_eq!(c!(toolcore_json_kind(NOWHERE)), 0);
    assert!(!c!(toolcore_json_string_is(s("\"x\""), NOWHERE)));
}

#[test]
fn an_output_that_is_null_is_a_status_and_nothing_runs() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let drops = Drops::default();
    let counted = toolcore_hook_t { before: Some(count_before), user_data: drops.data(), ..init() };
    assert_eq!(c!(toolcore_registry_add_hook(registry, &counted)), TOOLCORE_OK);
    let call = sized!(toolcore_tool_call_t { name: s("fail") });
    let mut scratch = Block::new(SCRATCH);
    let (mem, no) = (scratch.ptr(), null_mut());
    let mut len = 0;
    let flight = Flight::new(&init());
    let (inflight, reply) = (flight.inflight, flight.reply);
    let all = [
        c!(toolcore_registry_init(null(), mem, SCRATCH, null_mut())),
        c!(toolcore_registry_init(null(), null_mut(), SCRATCH, &mut null_mut())),
        c!(toolcore_registry_name(registry, 0, null_mut())),
        c!(toolcore_registry_find(registry, s("echo"), null_mut())),
        c!(toolcore_registry_pool(registry, null_mut(), &raw mut len)),
        c!(toolcore_registry_pool(registry, &raw mut len, null_mut())),
        c!(toolcore_tools_render(registry, TOOLCORE_DIALECT_MCP, null(), null_mut(), 0, null_mut(), no)),
        c!(toolcore_answer(
            registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            null(),
            mem,
            SCRATCH,
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            no
        )),
        c!(toolcore_reply_mem_size(TOOLCORE_DIALECT_ANTHROPIC, s(REPLY), null(), null_mut(), no)),
        c!(toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC, s(REPLY), null(), mem, SCRATCH, null_mut(), no)),
        c!(toolcore_reply_parse(
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            null(),
            null_mut(),
            9,
            &mut null_mut(),
            no
        )),
        c!(toolcore_stream_init(TOOLCORE_DIALECT_ANTHROPIC, null(), mem, SCRATCH, null_mut(), no)),
        c!(toolcore_stream_init(TOOLCORE_DIALECT_ANTHROPIC, null(), null_mut(), 9, &mut null_mut(), no)),
        c!(toolcore_dispatch(registry, &call, null(), mem, SCRATCH, null_mut(), no)),
        c!(toolcore_dispatch(registry, null(), null(), mem, SCRATCH, &mut null_mut(), no)),
        c!(toolcore_dispatch(registry, &call, null(), null_mut(), SCRATCH, &mut null_mut(), no)),
        c!(toolcore_result_init(mem, SCRATCH, null_mut())),
        c!(toolcore_result_init(null_mut(), SCRATCH, &mut null_mut())),
        c!(toolcore_results_render(
            TOOLCORE_DIALECT_ANTHROPIC,
            null(),
            0,
            null(),
            0,
            null(),
            null_mut(),
            0,
            null_mut(),
            no
        )),
        c!(toolcore_results_render(
            TOOLCORE_DIALECT_ANTHROPIC,
            null(),
            1,
            null(),
            0,
            null(),
            null_mut(),
            0,
            &raw mut len,
            no
        )),
        c!(toolcore_results_render(
            TOOLCORE_DIALECT_ANTHROPIC,
            &call,
            1,
            null(),
            1,
            null(),
            null_mut(),
            0,
            &raw mut len,
            no
        )),
        c!(toolcore_json_get(s("{}"), E, null_mut())),
        c!(toolcore_json_string(s("\"\""), null_mut(), 0, null_mut())),
        c!(toolcore_json_string(s("\"\""), null_mut(), 1, &raw mut len)),
        c!(toolcore_json_i64(s("1"), null_mut())),
        c!(toolcore_json_u64(s("1"), null_mut())),
        c!(toolcore_json_f64(s("1"), null_mut())),
        c!(toolcore_json_bool(s("true"), null_mut())),
        c!(toolcore_json_validate(NOWHERE, null(), no)),
        c!(toolcore_schema_mem_size(s("{}"), null(), null_mut(), no)),
        c!(toolcore_registry_tool(registry, 0, null_mut())),
        c!(toolcore_json_repair(s("1"), null(), null_mut(), 0, null_mut(), null_mut(), no)),
        c!(toolcore_json_repair(s("1"), null(), null_mut(), 1, &raw mut len, null_mut(), no)),
        c!(toolcore_json_repair(NOWHERE, null(), null_mut(), 0, &raw mut len, null_mut(), no)),
        c!(toolcore_resources_init(null(), 1, mem, SCRATCH, &mut null_mut(), no)),
        c!(toolcore_resources_init(null(), 0, mem, SCRATCH, null_mut(), no)),
        c!(toolcore_resources_init(null(), 0, null_mut(), SCRATCH, &mut null_mut(), no)),
        c!(toolcore_schema_init(s("{}"), null(), mem, SCRATCH, null_mut(), no)),
        c!(toolcore_schema_init(s("{}"), null(), null_mut(), SCRATCH, &mut null_mut(), no)),
        c!(toolcore_context_init(null(), mem, SCRATCH, null_mut())),
        c!(toolcore_context_init(null(), null_mut(), SCRATCH, &mut null_mut())),
        c!(toolcore_inflight_init(null(), mem, SCRATCH, null_mut())),
        c!(toolcore_inflight_init(null(), null_mut(), SCRATCH, &mut null_mut())),
        c!(toolcore_inflight_stats(inflight, null_mut())),
        c!(toolcore_start(inflight, null(), reply, null(), mem, SCRATCH, 0, no)),
        c!(toolcore_start(inflight, registry, null(), null(), mem, SCRATCH, 0, no)),
        c!(toolcore_start(inflight, registry, reply, null(), null_mut(), SCRATCH, 0, no)),
        c!(toolcore_start(inflight, registry, reply, null(), null_mut(), 0, 0, no)),
        c!(toolcore_finish(inflight, 0, null_mut(), 0, null_mut(), null_mut(), no)),
        c!(toolcore_finish(inflight, 0, null_mut(), 1, &raw mut len, null_mut(), no)),
        c!(toolcore_complete(inflight, 1, 0, null())),
        c!(toolcore_complete_text(inflight, 1, 0, NOWHERE)),
        c!(toolcore_fail(inflight, 1, 0, NOWHERE)),
        c!(toolcore_progress(inflight, 1, 0, 1, 2, NOWHERE)),
    ];
    for (at, status) in all.into_iter().enumerate() {
        assert_eq!(status, INVALID, "number {at}");
    }
    assert_eq!(drops.count(), 0, "a call was dispatched");
}

/// A pre-hook that counts.
unsafe extern "C" fn count_before(drops: *mut c_void, _: *mut toolcore_draft_t) -> toolcore_status_t {
    c!(count_drop(drops));
    TOOLCORE_OK
}

#[test]
fn null_and_zero_are_an_empty_text() {
    let tools = Tools::usual();
    let mut index = 7;
    assert_eq!(c!(toolcore_registry_find(tools.registry, E, &raw mut index)), TOOLCORE_ERR_NOT_FOUND);
    assert_eq!(index, 7);
    assert_eq!(c!(toolcore_json_validate(E, null(), null_mut())), TOOLCORE_ERR_BAD_JSON);
    let rendered = written(|buf, len, out| {
        c!(toolcore_results_render(
            TOOLCORE_DIALECT_ANTHROPIC,
            null(),
            0,
            null(),
            0,
            null(),
            buf,
            len,
            out,
            null_mut()
        ))
    });
    assert_eq!(rendered, "");
}

#[test]
fn a_length_beyond_all_memory_is_a_status() {
    let byte = b'1';
    let long = toolcore_str_t { ptr: (&raw const byte).cast(), len: usize::MAX };
    assert_eq!(c!(toolcore_json_validate(long, null(), null_mut())), INVALID);
    let call = sized!(toolcore_tool_call_t { name: s("x") });
    let mut len = 0;
    let many = usize::MAX / 2;
    let status = c!(toolcore_results_render(
        TOOLCORE_DIALECT_ANTHROPIC,
        &call,
        many,
        null(),
        0,
        null(),
        null_mut(),
        0,
        &raw mut len,
        null_mut()
    ));
    assert_eq!(status, INVALID);
}
