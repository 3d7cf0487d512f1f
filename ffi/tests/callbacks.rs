//! What a callback and a hook can do.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::String;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::call::*;
use crate::dispatch::*;
use crate::hook::*;
use crate::result::*;
use crate::status::*;
use crate::tool::*;

type Run =
    unsafe extern "C" fn(*mut c_void, *const toolcore_call_t, *mut toolcore_result_t) -> toolcore_status_t;

/// Runs a tool over these arguments; what the model reads, and what became of it.
fn run(run: Run, arguments: &str) -> (String, u32) {
    let tools = Tools::new();
    let any = s(r#"{"type":"object"}"#);
    assert_eq!(tools.add(&toolcore_tool_t { schema: any, ..tool("tool", run) }), TOOLCORE_OK);
    dispatch(&tools, arguments)
}

fn dispatch(tools: &Tools, arguments: &str) -> (String, u32) {
    let mut scratch = Block::new(SCRATCH);
    let mut result = null_mut();
    let call = sized!(toolcore_tool_call_t { id: s("id 1"), name: s("tool"), arguments: s(arguments) });
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
    let mut read = String::new();
    for index in 0..c!(toolcore_result_len(result)) {
        assert_eq!(c!(toolcore_result_part(result, index, &raw mut part)), TOOLCORE_OK);
        read.push_str(text(part.text));
    }
    (read, c!(toolcore_result_kind(result)))
}

const ARGUMENTS: &str = r#"{"s":"plain","e":"a\nb","i":-5,"u":18446744073709551615,"f":2.5,"b":true,"o":{"x":[1,{"y":"deep"},null]},"a/b":"name"}"#;

#[test]
fn arguments_are_read_by_name_and_by_pointer() {
    unsafe extern "C" fn read(
        _: *mut c_void,
        call: *const toolcore_call_t,
        result: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        let (mut t, mut i, mut u, mut f, mut b) = (toolcore_str_t::EMPTY, 0i64, 0u64, 0f64, false);
        for (path, expected) in
            [("s", "plain"), ("e", "a\nb"), ("/o/x/1/y", "deep"), ("a/b", "name"), ("/a~1b", "name")]
        {
            assert_eq!(c!(toolcore_call_get_str(call, s(path), &raw mut t)), TOOLCORE_OK);
            assert_eq!(text(t), expected);
        }
        assert_eq!((c!(toolcore_call_get_i64(call, s("i"), &raw mut i)), i), (TOOLCORE_OK, -5));
        assert_eq!((c!(toolcore_call_get_u64(call, s("u"), &raw mut u)), u), (TOOLCORE_OK, u64::MAX));
        assert_eq!((c!(toolcore_call_get_f64(call, s("f"), &raw mut f)), f), (TOOLCORE_OK, 2.5));
        assert_eq!((c!(toolcore_call_get_bool(call, s("b"), &raw mut b)), b), (TOOLCORE_OK, true));
        assert_eq!(c!(toolcore_call_get_json(call, s("/o/x"), &raw mut t)), TOOLCORE_OK);
        assert_eq!(text(t), r#"[1,{"y":"deep"},null]"#);
        let nulls = ["/o/x/2", "/o/x/3", "s", "none"].map(|path| c!(toolcore_call_is_null(call, s(path))));
        assert_eq!(nulls, [true, false, false, false]);
        assert_eq!(text(c!(toolcore_call_name(call))), "tool");
        assert_eq!(text(c!(toolcore_call_id(call))), "id 1");
        assert_eq!(text(c!(toolcore_call_arguments(call))), ARGUMENTS);
        assert_eq!(c!(toolcore_call_time_left_ms(call)), u64::MAX);
        assert_eq!(c!(toolcore_call_deadline_ms(call)), u64::MAX);
        i = 9;
        for (status, expected) in [
            (c!(toolcore_call_get_i64(call, s("none"), &raw mut i)), TOOLCORE_ERR_NOT_FOUND),
            (c!(toolcore_call_get_i64(call, s("s"), &raw mut i)), TOOLCORE_ERR_WRONG_TYPE),
            (c!(toolcore_call_get_i64(call, s("f"), &raw mut i)), TOOLCORE_ERR_WRONG_TYPE),
            (c!(toolcore_call_get_i64(call, s("u"), &raw mut i)), TOOLCORE_ERR_OUT_OF_RANGE),
            (c!(toolcore_call_get_u64(call, s("i"), &raw mut u)), TOOLCORE_ERR_OUT_OF_RANGE),
            (c!(toolcore_call_get_str(call, s("i"), &raw mut t)), TOOLCORE_ERR_WRONG_TYPE),
            (c!(toolcore_call_get_bool(call, s("i"), &raw mut b)), TOOLCORE_ERR_WRONG_TYPE),
            (c!(toolcore_call_get_f64(call, s("b"), &raw mut f)), TOOLCORE_ERR_WRONG_TYPE),
            (c!(toolcore_call_get_str(call, s("/o/x/2"), &raw mut t)), TOOLCORE_ERR_WRONG_TYPE),
            (c!(toolcore_call_get_json(call, s("/o/9"), &raw mut t)), TOOLCORE_ERR_NOT_FOUND),
            (c!(toolcore_call_get_i64(call, s("i"), null_mut())), INVALID),
        ] {
            assert_eq!(status, expected);
        }
        assert_eq!((i, t.len), (9, 0));
        c!(toolcore_result_text(result, s("read")))
    }
    assert_eq!(run(read, ARGUMENTS), ("read".into(), TOOLCORE_OUTCOME_ANSWERED));
}

#[test]
fn the_status_of_a_getter_names_the_argument() {
    unsafe extern "C" fn needs(
        _: *mut c_void,
        call: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        c!(toolcore_call_get_i64(call, s("/color/red"), &mut 0))
    }
    let failed = TOOLCORE_OUTCOME_TOOL_FAILED;
    assert_eq!(run(needs, "{}"), ("Tool error: argument '/color/red': it is missing".into(), failed));
    assert_eq!(
        run(needs, r#"{"color":{"red":"x"}}"#),
        ("Tool error: argument '/color/red': expected number, got string".into(), failed)
    );
}

#[test]
fn another_status_is_told_by_its_name_and_a_reason_wins() {
    unsafe extern "C" fn full(
        _: *mut c_void,
        call: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        // An optional argument that is not there is no reason.
        assert_eq!(c!(toolcore_call_get_i64(call, s("x"), &mut 0)), TOOLCORE_ERR_NOT_FOUND);
        TOOLCORE_ERR_FULL
    }
    unsafe extern "C" fn positive(
        _: *mut c_void,
        _: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> i32 {
        77
    }
    unsafe extern "C" fn nothing(
        _: *mut c_void,
        _: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> i32 {
        TOOLCORE_ERR_TOOL
    }
    let failed = TOOLCORE_OUTCOME_TOOL_FAILED;
    assert_eq!(run(full, "{}"), ("Tool error: full".into(), failed));
    assert_eq!(run(positive, "{}"), ("Tool error: unknown status".into(), failed));
    assert_eq!(run(nothing, "{}"), ("Tool error: tool failed".into(), failed));
    assert_eq!(run(fail, "{}"), ("Tool error: it broke".into(), failed));
}

#[test]
fn a_call_is_no_more_after_its_callback() {
    unsafe extern "C" fn keep(
        kept: *mut c_void,
        call: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        c!(*kept.cast::<*const toolcore_call_t>() = call);
        TOOLCORE_OK
    }
    let mut kept: *const toolcore_call_t = null();
    let tools = Tools::new();
    let user_data = (&raw mut kept).cast();
    assert_eq!(tools.add(&toolcore_tool_t { user_data, ..tool("tool", keep) }), TOOLCORE_OK);
    assert_eq!(dispatch(&tools, "").1, TOOLCORE_OUTCOME_ANSWERED);
    assert!(!kept.is_null());
}

#[test]
fn results_have_parts_of_every_kind() {
    let mut memory = Block::new(SCRATCH);
    let mut result = null_mut();
    let mut part = init::<toolcore_part_t>();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    let bytes = [1u8, 2, 3];
    let data = bytes.as_ptr().cast();
    for status in [
        c!(toolcore_result_text(result, s("t"))),
        c!(toolcore_result_json(result, s(" {\"a\":1} "))),
        c!(toolcore_result_image(result, s("image/png"), data, 3)),
        c!(toolcore_result_audio(result, s("audio/wav"), data, 2)),
        c!(toolcore_result_link(result, s("log"), s("file:///log"))),
        c!(toolcore_result_image(result, s("image/gif"), null(), 0)),
    ] {
        assert_eq!(status, TOOLCORE_OK);
    }
    assert_eq!(c!(toolcore_result_len(result)), 6);
    let kinds = [
        (TOOLCORE_PART_TEXT, "t", "", 0),
        (TOOLCORE_PART_JSON, "{\"a\":1}", "", 0),
        (TOOLCORE_PART_IMAGE, "", "image/png", 3),
        (TOOLCORE_PART_AUDIO, "", "audio/wav", 2),
        (TOOLCORE_PART_LINK, "file:///log", "log", 0),
        (TOOLCORE_PART_IMAGE, "", "image/gif", 0),
    ];
    for (index, expected) in kinds.into_iter().enumerate() {
        assert_eq!(c!(toolcore_result_part(result, index, &raw mut part)), TOOLCORE_OK);
        assert_eq!((part.kind, text(part.text), text(part.name), part.data_len), expected);
    }
    assert_eq!(c!(toolcore_result_part(result, 6, &raw mut part)), TOOLCORE_ERR_NOT_FOUND);
    assert_eq!(c!(toolcore_result_json(result, s("{"))), TOOLCORE_ERR_BAD_JSON);
    assert_eq!(c!(toolcore_result_image(result, s("image/png"), null(), 3)), INVALID);
    let big = std::vec::Vec::from([0u8]).repeat(SCRATCH);
    assert_eq!(
        c!(toolcore_result_image(result, s("x/y"), big.as_ptr().cast(), big.len())),
        TOOLCORE_ERR_NO_SPACE
    );
    for _ in 0..2 {
        assert_eq!(c!(toolcore_result_text(result, s("x"))), TOOLCORE_OK);
    }
    assert_eq!(c!(toolcore_result_text(result, s("x"))), TOOLCORE_ERR_FULL);
    assert_eq!(c!(toolcore_result_error(result, s("no"))), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_retryable(result, 1)), TOOLCORE_OK);
    assert!(c!(toolcore_result_failed(result)));
    assert_eq!(
        (c!(toolcore_result_len(result)), c!(toolcore_result_kind(result))),
        (1, TOOLCORE_OUTCOME_TOOL_FAILED)
    );
    assert_eq!(word(toolcore_outcome_name(TOOLCORE_OUTCOME_TOOL_FAILED)), "tool_failed");
    assert_eq!(c!(toolcore_result_clear(result)), TOOLCORE_OK);
    assert!(!c!(toolcore_result_failed(result)));
    c!(toolcore_result_deinit(result));
}

#[test]
fn a_text_that_does_not_fit_is_cut_and_its_length_kept() {
    let size = toolcore_result_mem_size() + 4;
    let mut memory = Block::new(size);
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), size, &raw mut result)), TOOLCORE_OK);
    let long = "é".repeat(40);
    assert_eq!(c!(toolcore_result_text(result, s(&long))), TOOLCORE_OK);
    let mut part = init::<toolcore_part_t>();
    assert_eq!(c!(toolcore_result_part(result, 0, &raw mut part)), TOOLCORE_OK);
    assert!(part.text.len < 80 && text(part.text).chars().all(|c| c == 'é'));
    assert_eq!(part.total, 80);
}

/// What a pre-hook does, by what stands in its user_data.
unsafe extern "C" fn before(what: *mut c_void, draft: *mut toolcore_draft_t) -> toolcore_status_t {
    assert_eq!(text(c!(toolcore_draft_name(draft))), "tool");
    assert_eq!(text(c!(toolcore_draft_id(draft))), "id 1");
    assert_eq!(text(c!(toolcore_draft_arguments(draft))), "{\"text\":\"in\"}");
    match c!(*what.cast::<u32>()) {
        0 => TOOLCORE_OK,
        1 => TOOLCORE_ERR_TOOL,
        2 => c!(toolcore_draft_block(draft, s("Not on Sundays."))),
        3 => {
            assert_eq!(c!(toolcore_draft_block(draft, s("first"))), TOOLCORE_OK);
            assert_eq!(c!(toolcore_draft_block(draft, s("second"))), TOOLCORE_OK);
            TOOLCORE_ERR_FULL
        }
        4 => c!(toolcore_draft_set_arguments(draft, s("{\"text\":\"rewritten\"}"))),
        5 => c!(toolcore_draft_set_name(draft, s("other"))),
        _ => {
            let long = std::string::String::from("x").repeat(2 * SCRATCH);
            c!(toolcore_draft_set_name(draft, s(&long)))
        }
    }
}

#[test]
fn a_pre_hook_passes_rewrites_or_blocks() {
    let params = [sized!(toolcore_param_t { name: s("text"), r#type: TOOLCORE_TYPE_STRING })];
    let (params, params_len) = (params.as_ptr(), 1);
    for (what, read, kind) in [
        (0u32, "in", TOOLCORE_OUTCOME_ANSWERED),
        (1, "Tool call 'tool' blocked by pre-hook.", TOOLCORE_OUTCOME_BLOCKED),
        (2, "Not on Sundays.", TOOLCORE_OUTCOME_BLOCKED),
        (3, "second", TOOLCORE_OUTCOME_BLOCKED),
        (4, "rewritten", TOOLCORE_OUTCOME_ANSWERED),
        (5, "Tool error: it broke", TOOLCORE_OUTCOME_TOOL_FAILED),
        (6, "Tool call 'tool' blocked by pre-hook.", TOOLCORE_OUTCOME_BLOCKED),
    ] {
        let tools = Tools::new();
        assert_eq!(tools.add(&toolcore_tool_t { params, params_len, ..tool("tool", echo) }), TOOLCORE_OK);
        let other = toolcore_tool_t { params, params_len, ..tool("other", fail) };
        assert_eq!(tools.add(&other), TOOLCORE_OK);
        let user_data = (&raw const what).cast_mut().cast();
        let hook = sized!(toolcore_hook_t { before: Some(before), user_data: user_data });
        assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
        assert_eq!(dispatch(&tools, "{\"text\":\"in\"}"), (read.into(), kind), "what {what}");
    }
}

#[test]
fn a_pre_hook_may_have_run_where_a_call_cannot_be_dispatched() {
    unsafe extern "C" fn count(ran: *mut c_void, _: *mut toolcore_draft_t) -> toolcore_status_t {
        c!(*ran.cast::<u32>() += 1);
        TOOLCORE_OK
    }
    unsafe extern "C" fn never(
        _: *mut c_void,
        _: *const toolcore_call_t,
        _: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        panic!("it ran without a clock")
    }
    let tools = Tools::new();
    assert_eq!(tools.add(&toolcore_tool_t { timeout_ms: 5, ..tool("tool", never) }), TOOLCORE_OK);
    let mut ran = 0u32;
    let hook = sized!(toolcore_hook_t { before: Some(count), user_data: (&raw mut ran).cast() });
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    let call = sized!(toolcore_tool_call_t { name: s("tool") });
    let mut scratch = Block::new(SCRATCH);
    let (opts, mem, no) = (null(), scratch.ptr(), null_mut());
    let mut result = core::ptr::dangling_mut();
    let status = c!(toolcore_dispatch(tools.registry, &call, opts, mem, SCRATCH, &raw mut result, no));
    assert_eq!((status, result.is_null(), ran), (TOOLCORE_ERR_NO_CLOCK, true, 1));
}

#[test]
fn a_post_hook_may_replace_a_result() {
    unsafe extern "C" fn after(
        _: *mut c_void,
        call: *const toolcore_tool_call_t,
        result: *mut toolcore_result_t,
    ) {
        assert_eq!(text(c!((*call).name)), "tool");
        assert!(c!(toolcore_result_failed(result)));
        assert_eq!(c!(toolcore_result_clear(result)), TOOLCORE_OK);
        assert_eq!(c!(toolcore_result_text(result, s("mended"))), TOOLCORE_OK);
    }
    let tools = Tools::new();
    assert_eq!(tools.add(&tool("tool", fail)), TOOLCORE_OK);
    let hook = sized!(toolcore_hook_t { after: Some(after) });
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    assert_eq!(dispatch(&tools, "{}"), ("mended".into(), TOOLCORE_OUTCOME_ANSWERED));
}
