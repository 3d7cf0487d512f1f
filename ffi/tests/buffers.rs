//! Every buffer that is too small says what is needed, and leaves nothing half-written.

use core::ffi::c_char;
use core::ptr::{null, null_mut};
use std::vec::Vec;

use super::support::*;
use crate::answer::*;
use crate::call::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::json::*;
use crate::json_writer::*;
use crate::registry::*;
use crate::reply::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::tool::*;
use crate::tools::*;
use crate::turn::*;

/// Every length; an interpreter that looks for undefined behaviour has no time for all.
const STEP: usize = if cfg!(miri) { 31 } else { 1 };

/// Writes at every length from 0 to one more than what is needed.
fn every_length(write: impl Fn(*mut c_char, usize, *mut usize) -> toolcore_status_t) {
    let whole = written(&write);
    let need = whole.len();
    assert!(need > 1);
    for room in (0..=need + 1).step_by(STEP) {
        let mut buffer: Vec<u8> = [b'x'].repeat(need + 2);
        let mut len = usize::MAX;
        let status = write(buffer.as_mut_ptr().cast(), room, &raw mut len);
        assert_eq!(len, need, "room {room}");
        assert!(buffer[room..].iter().all(|byte| *byte == b'x'), "written beyond room {room}");
        if room < need {
            assert_eq!(status, TOOLCORE_ERR_NO_SPACE, "room {room}");
            assert!(room == 0 || buffer[0] == 0, "something to read is left in room {room}");
        } else {
            assert_eq!(status, TOOLCORE_OK, "room {room}");
            assert_eq!(&buffer[..need], whole.as_bytes());
            assert!(room == need || buffer[need] == 0, "no NUL in room {room}");
        }
    }
    let mut len = 7;
    assert_eq!(write(null_mut(), 5, &raw mut len), INVALID);
    assert_eq!(len, 0);
}

#[test]
fn tools_render() {
    let tools = Tools::usual();
    every_length(|buf, len, out| {
        c!(toolcore_tools_render(
            tools.registry,
            TOOLCORE_DIALECT_OPENAI_CHAT,
            null(),
            buf,
            len,
            out,
            null_mut()
        ))
    });
}

#[test]
fn reply_text() {
    let mut memory = Block::new(SCRATCH);
    let mut reply = null_mut();
    let (dialect, no) = (TOOLCORE_DIALECT_ANTHROPIC, null_mut());
    let status =
        c!(toolcore_reply_parse(dialect, s(REPLY), null(), memory.ptr(), SCRATCH, &raw mut reply, no));
    assert_eq!(status, TOOLCORE_OK);
    assert_eq!(written(|buf, len, out| c!(toolcore_reply_text(reply, buf, len, out))), "Let me … see.");
    every_length(|buf, len, out| c!(toolcore_reply_text(reply, buf, len, out)));
}

#[test]
fn results_render() {
    let mut memory = Block::new(SCRATCH);
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("é\"\n"))), TOOLCORE_OK);
    let call = sized!(toolcore_tool_call_t { id: s("1"), name: s("x") });
    let answer = sized!(toolcore_call_result_t { id: s("1"), result: result });
    every_length(|buf, len, out| {
        let no = null_mut();
        c!(toolcore_results_render(
            TOOLCORE_DIALECT_ANTHROPIC,
            &call,
            1,
            &answer,
            1,
            null(),
            buf,
            len,
            out,
            no
        ))
    });
}

#[test]
fn turn_render() {
    let call = sized!(toolcore_tool_call_t { id: s("1"), name: s("x"), arguments: s("{\"é\":1.0}") });
    for dialect in [TOOLCORE_DIALECT_ANTHROPIC, TOOLCORE_DIALECT_HERMES] {
        every_length(|buf, len, out| {
            c!(toolcore_turn_render(dialect, s("é\"\n"), &call, 1, null(), buf, len, out, null_mut()))
        });
    }
}

#[test]
fn json_string_and_writer() {
    every_length(|buf, len, out| {
        c!(toolcore_json_string(s(r#" "t\u00e9xt \n \ud83d\ude00" "#), buf, len, out))
    });
    every_length(|buf, len, out| {
        let mut writer = toolcore_json_writer_t { ..c!(core::mem::zeroed()) };
        let writer = &raw mut writer;
        let begun = c!(toolcore_json_writer_init(writer, buf, len));
        if begun != TOOLCORE_OK {
            c!(*out = 0);
            return begun;
        }
        c!(toolcore_json_writer_array_start(writer));
        c!(toolcore_json_writer_string(writer, s("a\"b")));
        c!(toolcore_json_writer_i64(writer, -5));
        c!(toolcore_json_writer_array_end(writer));
        c!(toolcore_json_writer_end(writer, out))
    });
}

#[test]
fn context_render() {
    let mut memory = Block::new(SCRATCH);
    let mut context = null_mut();
    let opts = sized!(toolcore_context_opts_t { max_blocks: 4 });
    assert_eq!(c!(toolcore_context_init(&opts, memory.ptr(), SCRATCH, &raw mut context)), TOOLCORE_OK);
    for content in ["one", "two é", "three"] {
        assert_eq!(
            c!(toolcore_context_push(context, &sized!(toolcore_block_t { content: s(content) }))),
            TOOLCORE_OK
        );
    }
    let opts = sized!(toolcore_context_render_opts_t { budget: 100 });
    every_length(|buf, len, out| {
        c!(toolcore_context_render(context, &opts, buf, len, out, null_mut(), null_mut()))
    });
}

#[test]
fn answer_measures_the_least_and_runs_nothing_until_it_has_that() {
    let tools = Tools::new();
    let runs = Drops::default();
    unsafe extern "C" fn run(
        runs: *mut core::ffi::c_void,
        _: *const toolcore_call_t,
        result: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        c!(count_drop(runs));
        c!(toolcore_result_text(result, s(&"long ".repeat(100))))
    }
    assert_eq!(
        tools.add(&toolcore_tool_t { schema: s("{}"), user_data: runs.data(), ..tool("echo", run) }),
        TOOLCORE_OK
    );
    let mut scratch = Block::new(SCRATCH);
    let mut answer = |buf: *mut u8, room: usize, len: &mut usize, why: *mut toolcore_detail_t| {
        c!(toolcore_answer(
            tools.registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            null(),
            scratch.ptr(),
            SCRATCH,
            buf.cast(),
            room,
            len,
            null_mut(),
            why
        ))
    };
    let mut least = 0;
    assert_eq!(answer(null_mut(), 0, &mut least, null_mut()), TOOLCORE_OK);
    assert!(least > 100);
    let mut buffer: Vec<u8> = [b'x'].repeat(4096);
    for room in (0..least).step_by(STEP) {
        let mut len = 0;
        let mut why = init::<toolcore_detail_t>();
        assert_eq!(answer(buffer.as_mut_ptr(), room, &mut len, &raw mut why), TOOLCORE_ERR_NO_SPACE);
        assert_eq!((len, why.need), (least, least));
        assert!(room == 0 || buffer[0] == 0);
    }
    assert_eq!(runs.count(), 0);
    let mut len = 0;
    for room in [least, least + 50, 4096] {
        assert_eq!(answer(buffer.as_mut_ptr(), room, &mut len, null_mut()), TOOLCORE_OK);
        assert!(len <= room);
        assert_eq!(
            c!(toolcore_json_validate(s(core::str::from_utf8(&buffer[..len]).unwrap()), null(), null_mut())),
            0
        );
    }
    assert_eq!(runs.count(), 6);
}

#[test]
fn memory_of_an_object_is_enough_at_its_size_and_not_below() {
    let (mut out, no) = (null_mut(), null_mut());
    for (tools, pool) in [(1, 1), (3, 100), (16, 0)] {
        let opts = sized!(toolcore_registry_opts_t { max_tools: tools, pool_bytes: pool });
        let size = c!(toolcore_registry_mem_size(&opts));
        let mut memory = Block::new(size);
        assert_eq!(
            c!(toolcore_registry_init(&opts, memory.ptr(), size - 1, &raw mut out)),
            TOOLCORE_ERR_NO_SPACE
        );
        assert!(out.is_null());
        assert_eq!(c!(toolcore_registry_init(&opts, memory.ptr(), size, &raw mut out)), TOOLCORE_OK);
        let (mut used, mut total) = (1, 0);
        assert_eq!(c!(toolcore_registry_pool(out, &raw mut used, &raw mut total)), TOOLCORE_OK);
        assert!(used == 0 && total >= if pool == 0 { 512 * tools } else { pool });
        c!(toolcore_registry_deinit(out));
    }
    let mut out = null_mut();
    let size = c!(toolcore_context_mem_size(null()));
    let mut memory = Block::new(size);
    assert_eq!(
        c!(toolcore_context_init(null(), memory.ptr(), size - 1, &raw mut out)),
        TOOLCORE_ERR_NO_SPACE
    );
    assert!(out.is_null());
    assert_eq!(c!(toolcore_context_init(null(), memory.ptr(), size, &raw mut out)), TOOLCORE_OK);
    let mut out = null_mut();
    let size = toolcore_result_mem_size();
    let mut memory = Block::new(size);
    assert_eq!(c!(toolcore_result_init(memory.ptr(), size - 20, &raw mut out)), TOOLCORE_ERR_NO_SPACE);
    assert!(out.is_null());
    assert_eq!(c!(toolcore_result_init(memory.ptr(), size, &raw mut out)), TOOLCORE_OK);
    let huge = sized!(toolcore_registry_opts_t { max_tools: usize::MAX });
    assert_eq!(c!(toolcore_registry_mem_size(&huge)), usize::MAX);
    assert_eq!(c!(toolcore_registry_init(&huge, memory.ptr(), size, &mut null_mut())), TOOLCORE_ERR_NO_SPACE);
    let huge = sized!(toolcore_context_opts_t { max_blocks: usize::MAX });
    assert_eq!(c!(toolcore_context_init(&huge, memory.ptr(), size, &mut null_mut())), TOOLCORE_ERR_NO_SPACE);

    // What depends on a text, at every size: the need that is named is enough.
    let schema =
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":[1,2]}},"required":["a"]}"#;
    let mut need = 0;
    assert_eq!(c!(toolcore_schema_mem_size(s(schema), null(), &raw mut need, no)), TOOLCORE_OK);
    let mut memory = Block::new(need);
    for room in (1..=need).step_by(STEP) {
        let mut out = null_mut();
        let mut why = init::<toolcore_detail_t>();
        match c!(toolcore_schema_init(s(schema), null(), memory.ptr(), room, &raw mut out, &raw mut why)) {
            TOOLCORE_OK => assert!(!out.is_null() && why.need == 0),
            status => {
                assert_eq!(
                    (status, why.need, out.is_null()),
                    (TOOLCORE_ERR_NO_SPACE, need, true),
                    "room {room}"
                );
                assert!(room < need);
            }
        }
    }
    let dialect = TOOLCORE_DIALECT_ANTHROPIC;
    assert_eq!(c!(toolcore_reply_mem_size(dialect, s(REPLY), null(), &raw mut need, no)), TOOLCORE_OK);
    let mut memory = Block::new(need);
    for room in (1..=need).step_by(STEP) {
        let mut out = null_mut();
        let mut why = init::<toolcore_detail_t>();
        match c!(toolcore_reply_parse(
            dialect,
            s(REPLY),
            null(),
            memory.ptr(),
            room,
            &raw mut out,
            &raw mut why
        )) {
            TOOLCORE_OK => assert!(!out.is_null() && why.need == 0),
            status => {
                assert_eq!((status, out.is_null()), (TOOLCORE_ERR_NO_SPACE, true), "room {room}");
                assert!(room < need && why.need > room, "room {room}, need {}", why.need);
            }
        }
    }
}

#[test]
fn scratch_that_is_too_small_names_what_is_missing() {
    let tools = Tools::usual();
    let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(r#"{"text":"x"}"#) });
    let (mut size, mut tries) = (1, 0);
    loop {
        let mut scratch = Block::new(size);
        let mut out = null_mut();
        let mut why = init::<toolcore_detail_t>();
        match c!(toolcore_dispatch(
            tools.registry,
            &call,
            null(),
            scratch.ptr(),
            size,
            &raw mut out,
            &raw mut why
        )) {
            TOOLCORE_OK => break,
            status => assert_eq!((status, out.is_null()), (TOOLCORE_ERR_NO_SPACE, true), "size {size}"),
        }
        assert!(why.need > size, "size {size}, need {}", why.need);
        (size, tries) = (why.need, tries + 1);
    }
    assert!((1..5).contains(&tries), "{tries}");

    let (mut size, mut tries) = (0, 0);
    loop {
        let mut scratch = Block::new(size);
        let mut why = init::<toolcore_detail_t>();
        let mut buffer = [0u8; 2048];
        let (buf, len) = (buffer.as_mut_ptr().cast(), buffer.len());
        let status = c!(toolcore_answer(
            tools.registry,
            TOOLCORE_DIALECT_ANTHROPIC,
            s(REPLY),
            null(),
            scratch.ptr(),
            size,
            buf,
            len,
            &mut 0,
            null_mut(),
            &raw mut why
        ));
        if status == TOOLCORE_OK {
            break;
        }
        assert_eq!(status, TOOLCORE_ERR_NO_SPACE, "size {size}");
        assert!(why.need > size, "size {size}, need {}", why.need);
        (size, tries) = (why.need, tries + 1);
    }
    assert!((1..6).contains(&tries), "{tries}");
}
