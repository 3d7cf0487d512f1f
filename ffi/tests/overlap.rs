//! What the library gave out, handed in where it would be copied to itself.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::{String, ToString};
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::complete::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::hook::*;
use crate::inflight::*;
use crate::json::*;
use crate::json_writer::*;
use crate::registry::*;
use crate::reply::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::tool::*;

/// The first part of a result: its text or bytes, and its name.
fn part(result: *const toolcore_result_t) -> toolcore_part_t {
    let mut part = init::<toolcore_part_t>();
    assert_eq!(c!(toolcore_result_part(result, 0, &raw mut part)), TOOLCORE_OK);
    part
}

/// Hands text of a result to all functions that append to it, and one byte of it.
fn refuse_all(result: *mut toolcore_result_t, own: toolcore_str_t) {
    let last = toolcore_str_t { ptr: own.ptr.wrapping_add(own.len - 1), len: 1 };
    for own in [own, last] {
        let (data, len) = (own.ptr.cast::<c_void>(), own.len);
        assert_eq!(c!(toolcore_result_text(result, own)), INVALID);
        assert_eq!(c!(toolcore_result_json(result, own)), INVALID);
        assert_eq!(c!(toolcore_result_image(result, own, c"x".as_ptr().cast(), 1)), INVALID);
        assert_eq!(c!(toolcore_result_image(result, s("image/png"), data, len)), INVALID);
        assert_eq!(c!(toolcore_result_audio(result, own, c"x".as_ptr().cast(), 1)), INVALID);
        assert_eq!(c!(toolcore_result_audio(result, s("audio/wav"), data, len)), INVALID);
        assert_eq!(c!(toolcore_result_link(result, own, s("x"))), INVALID);
        assert_eq!(c!(toolcore_result_link(result, s("x"), own)), INVALID);
        assert_eq!(c!(toolcore_result_error(result, own)), INVALID);
    }
}

#[test]
fn a_result_refuses_what_lies_in_itself_and_stays_as_it_is() {
    let mut memory = Block::new(SCRATCH);
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("12345678"))), TOOLCORE_OK);
    let own = part(result).text;
    refuse_all(result, own);
    assert_eq!((c!(toolcore_result_len(result)), text(part(result).text)), (1, "12345678"));
    assert!(!c!(toolcore_result_failed(result)));
    // Still there, and still in the way, when the part is gone.
    assert_eq!(c!(toolcore_result_clear(result)), TOOLCORE_OK);
    refuse_all(result, own);
    assert_eq!(c!(toolcore_result_len(result)), 0);
    // A text of no bytes lies nowhere.
    assert_eq!(c!(toolcore_result_text(result, toolcore_str_t { len: 0, ..own })), TOOLCORE_OK);
    // That of another result may be taken over.
    let mut memory = Block::new(SCRATCH);
    let mut other = null_mut();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut other)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(other, s("from another"))), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_error(result, part(other).text)), TOOLCORE_OK);
    assert_eq!(text(part(result).text), "Tool error: from another");
}

unsafe extern "C" fn answers_itself(
    _: *mut c_void,
    _: *const toolcore_call_t,
    result: *mut toolcore_result_t,
) -> toolcore_status_t {
    assert_eq!(c!(toolcore_result_text(result, s("the first part"))), TOOLCORE_OK);
    c!(toolcore_result_error(result, part(result).text))
}

unsafe extern "C" fn quotes(_: *mut c_void, _: *const toolcore_tool_call_t, result: *mut toolcore_result_t) {
    let own = part(result).text;
    assert_eq!(c!(toolcore_result_error(result, own)), INVALID);
    assert_eq!(c!(toolcore_result_clear(result)), TOOLCORE_OK);
    refuse_all(result, own);
    assert_eq!(c!(toolcore_result_text(result, s("mended"))), TOOLCORE_OK);
}

/// Runs one call; the text of its result.
fn run(tools: &Tools, name: &'static str) -> String {
    let call = sized!(toolcore_tool_call_t { name: s(name) });
    let mut scratch = Block::new(SCRATCH);
    let (opts, mem, no) = (null(), scratch.ptr(), null_mut());
    let mut result = null_mut();
    let status = c!(toolcore_dispatch(tools.registry, &call, opts, mem, SCRATCH, &raw mut result, no));
    assert_eq!(status, TOOLCORE_OK);
    text(part(result).text).to_string()
}

#[test]
fn a_callback_and_a_post_hook_cannot_copy_a_result_to_itself() {
    let tools = Tools::new();
    assert_eq!(tools.add(&tool("own", answers_itself)), TOOLCORE_OK);
    assert_eq!(run(&tools, "own"), "Tool error: invalid argument");
    let hook = sized!(toolcore_hook_t { after: Some(quotes) });
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    assert_eq!(run(&tools, "own"), "mended");
}

unsafe extern "C" fn says_again(_: *mut c_void, draft: *mut toolcore_draft_t) -> toolcore_status_t {
    for _ in 0..3 {
        let (name, json) = (c!(toolcore_draft_name(draft)), c!(toolcore_draft_arguments(draft)));
        assert_eq!(c!(toolcore_draft_set_name(draft, name)), TOOLCORE_OK);
        assert_eq!(c!(toolcore_draft_set_arguments(draft, json)), TOOLCORE_OK);
        let copied = c!(toolcore_draft_name(draft));
        assert_eq!(c!(toolcore_draft_set_name(draft, copied)), TOOLCORE_OK);
        assert_eq!((text(name), text(json)), ("echo", r#"{"text":"hi"}"#), "what was there stays there");
    }
    TOOLCORE_OK
}

#[test]
fn a_draft_takes_its_own_texts_each_copy_stands_behind_the_last() {
    let tools = Tools::usual();
    let hook = sized!(toolcore_hook_t { before: Some(says_again) });
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(r#"{"text":"hi"}"#) });
    let mut scratch = Block::new(SCRATCH);
    let (opts, mem, no) = (null(), scratch.ptr(), null_mut());
    let mut result = null_mut();
    let status = c!(toolcore_dispatch(tools.registry, &call, opts, mem, SCRATCH, &raw mut result, no));
    assert_eq!((status, text(part(result).text)), (TOOLCORE_OK, "hi"));
}

#[test]
fn a_registry_refuses_its_own_strings_but_finds_and_removes_by_them() {
    let tools = Tools::with(&sized!(toolcore_registry_opts_t { collision: TOOLCORE_COLLISION_REPLACE }));
    assert_eq!(tools.add(&tool("first", fail)), TOOLCORE_OK);
    assert_eq!(tools.add(&tool("second", fail)), TOOLCORE_OK);
    let mut own = toolcore_str_t::EMPTY;
    assert_eq!(c!(toolcore_registry_name(tools.registry, 1, &raw mut own)), TOOLCORE_OK);
    let param = sized!(toolcore_param_t { name: own, r#type: TOOLCORE_TYPE_ANY });
    let drops = Drops::default();
    let good = toolcore_tool_t { user_data: drops.data(), drop: Some(count_drop), ..tool("third", fail) };
    let bad = [
        toolcore_tool_t { name: own, ..good },
        toolcore_tool_t { name: own, flags: TOOLCORE_TOOL_STATIC, ..good },
        toolcore_tool_t { description: own, ..good },
        toolcore_tool_t { schema: own, ..good },
        toolcore_tool_t { output_schema: own, ..good },
        toolcore_tool_t { params: &raw const param, params_len: 1, ..good },
    ];
    let mut why = init::<toolcore_detail_t>();
    for (index, tool) in bad.iter().enumerate() {
        assert_eq!(c!(toolcore_registry_add(tools.registry, tool, &raw mut why)), INVALID, "{index}");
        assert!(word(why.message.as_ptr()).contains("hand in a copy"));
        assert_eq!((drops.count(), c!(toolcore_registry_len(tools.registry))), (index + 1, 2));
    }
    let mut index = 9;
    assert_eq!((c!(toolcore_registry_find(tools.registry, own, &raw mut index)), index), (TOOLCORE_OK, 1));
    assert_eq!(c!(toolcore_registry_remove(tools.registry, own)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_registry_len(tools.registry)), 1);
    assert_eq!(tools.add(&toolcore_tool_t { name: own, ..good }), INVALID, "it may be written over");
}

/// A text at the beginning of memory of this size.
fn placed(text: &str, size: usize) -> (Vec<u8>, toolcore_str_t) {
    let mut memory: Vec<u8> = text.bytes().collect();
    memory.resize(size, b' ');
    let text = toolcore_str_t { ptr: memory.as_ptr().cast(), len: text.len() };
    (memory, text)
}

#[test]
fn a_reply_is_not_answered_where_it_stands() {
    let tools = Tools::usual();
    let (mut memory, reply) = placed(REPLY, SCRATCH);
    let mut apart = Block::new(SCRATCH);
    let mut elsewhere = Block::new(SCRATCH);
    let (own, free, scratch) = (memory.as_mut_ptr(), apart.ptr(), elsewhere.ptr());
    let answer = |scratch: *mut c_void, buf: *mut c_void| {
        let mut len = 9;
        let (dialect, opts, to, no) = (TOOLCORE_DIALECT_ANTHROPIC, null(), &raw mut len, null_mut());
        let (registry, buf) = (tools.registry, buf.cast());
        let status = c!(toolcore_answer(
            registry,
            dialect,
            reply,
            opts,
            scratch,
            SCRATCH,
            buf,
            SCRATCH,
            to,
            no,
            null_mut()
        ));
        assert_eq!(status == TOOLCORE_OK, len > 0);
        status
    };
    assert_eq!(answer(own.cast(), free), INVALID, "in the scratch");
    assert_eq!(answer(free, own.cast()), INVALID, "in the buffer");
    assert_eq!(answer(free, free.wrapping_byte_add(SCRATCH - 1)), INVALID, "the scratch in the buffer");
    let mut parsed = null_mut();
    let dialect = TOOLCORE_DIALECT_ANTHROPIC;
    let status =
        c!(toolcore_reply_parse(dialect, reply, null(), own.cast(), SCRATCH, &raw mut parsed, null_mut()));
    assert_eq!((status, parsed.is_null()), (INVALID, true), "in the memory of the object");
    assert_eq!(memory.get(..REPLY.len()), Some(REPLY.as_bytes()), "nothing was written");
    assert_eq!(answer(free, scratch), TOOLCORE_OK);

    let status = c!(toolcore_reply_parse(dialect, reply, null(), free, SCRATCH, &raw mut parsed, null_mut()));
    assert_eq!(status, TOOLCORE_OK);
    let mut len = 9;
    assert_eq!(c!(toolcore_reply_text(parsed, own.cast(), SCRATCH, &raw mut len)), INVALID);
    assert_eq!(len, 0);
    let mut call = init::<toolcore_tool_call_t>();
    assert_eq!(c!(toolcore_reply_call(parsed, 0, &raw mut call)), TOOLCORE_OK);
    let result = init::<toolcore_call_result_t>();
    let opts = null();
    let status = c!(toolcore_results_render(
        dialect,
        &call,
        1,
        &result,
        1,
        opts,
        own.cast(),
        SCRATCH,
        &mut 0,
        null_mut()
    ));
    assert_eq!(status, INVALID, "a call stands where its answer goes");
}

#[test]
fn a_call_does_not_lie_in_its_scratch_nor_a_result_where_it_is_rendered() {
    let tools = Tools::usual();
    let mut scratch = Block::new(SCRATCH);
    let (opts, mem, no) = (null(), scratch.ptr(), null_mut());
    let call =
        sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(r#"{"text":"{\"text\":\"x\"}"}"#) });
    let mut result = null_mut();
    let status = c!(toolcore_dispatch(tools.registry, &call, opts, mem, SCRATCH, &raw mut result, no));
    assert_eq!((status, text(part(result).text)), (TOOLCORE_OK, r#"{"text":"x"}"#));
    let answered = sized!(toolcore_call_result_t { result: result });
    let (dialect, mut len) = (TOOLCORE_DIALECT_MCP, 9);
    let status = c!(toolcore_results_render(
        dialect,
        &call,
        1,
        &answered,
        1,
        null(),
        mem.cast(),
        SCRATCH,
        &raw mut len,
        no
    ));
    assert_eq!((status, len), (INVALID, 0));
    let next = toolcore_tool_call_t { arguments: part(result).text, ..call };
    let mut again = null_mut();
    let status = c!(toolcore_dispatch(tools.registry, &next, opts, mem, SCRATCH, &raw mut again, no));
    assert_eq!((status, again.is_null()), (INVALID, true));
    let mut other = Block::new(SCRATCH);
    let mem = other.ptr();
    let status = c!(toolcore_dispatch(tools.registry, &next, opts, mem, SCRATCH, &raw mut again, no));
    assert_eq!((status, text(part(again).text)), (TOOLCORE_OK, "x"));
}

unsafe extern "C" fn keep_text(own: *mut c_void, event: *const toolcore_event_t) {
    let result = c!((*event).result);
    if !result.is_null() {
        c!(own.cast::<toolcore_str_t>().write(part(result).text));
    }
}

#[test]
fn a_turn_refuses_the_memory_of_its_reply_and_text_of_its_own_results() {
    let mut own = toolcore_str_t::EMPTY;
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let mut flight = Flight::new(&sized!(toolcore_inflight_opts_t {
        event: Some(keep_text),
        user_data: (&raw mut own).cast(),
    }));
    let (inflight, no) = (flight.inflight, null_mut());
    let (mut memory, text) = placed(LATER, SCRATCH);
    let mut object = Block::new(SCRATCH);
    let (mut parsed, in_text, in_object) = (null_mut(), memory.as_mut_ptr().cast(), object.ptr());
    let dialect = TOOLCORE_DIALECT_ANTHROPIC;
    let status =
        c!(toolcore_reply_parse(dialect, text, null(), in_object, SCRATCH, &raw mut parsed, null_mut()));
    assert_eq!(status, TOOLCORE_OK);
    for mem in [in_text, in_object] {
        let status = c!(toolcore_start(inflight, tools.registry, parsed, null(), mem, SCRATCH, 0, no));
        assert_eq!((status, tickets.len()), (INVALID, 0));
    }
    assert_eq!(memory.get(..LATER.len()), Some(LATER.as_bytes()), "nothing was written");
    flight.start(&tools, &init(), 0);
    assert_eq!(own.len, 3, "the text of the call that answered at once");
    assert_eq!(c!(toolcore_complete_text(inflight, tickets[0], 0, own)), INVALID);
    assert_eq!(c!(toolcore_fail(inflight, tickets[0], 0, own)), INVALID);
    let mut len = 9;
    for buf in [flight.turn().cast(), flight.reply.cast()] {
        let status = c!(toolcore_finish(inflight, 0, buf, 64, &raw mut len, null_mut(), no));
        assert_eq!((status, len), (INVALID, 0));
    }
    assert_eq!(flight.stats().open, 2, "nothing was given up");
}

#[test]
fn schemas_and_instances_do_not_lie_in_the_memory_that_is_worked_in() {
    let (mut memory, schema_text) = placed(r#"{"type":"integer"}"#, SCRATCH);
    let (mut schema, no) = (null_mut(), null_mut());
    let mem = memory.as_mut_ptr().cast();
    assert_eq!(c!(toolcore_schema_init(schema_text, null(), mem, SCRATCH, &raw mut schema, no)), INVALID);
    assert!(schema.is_null());
    let mut apart = Block::new(SCRATCH);
    let free = apart.ptr();
    assert_eq!(
        c!(toolcore_schema_init(schema_text, null(), free, SCRATCH, &raw mut schema, no)),
        TOOLCORE_OK
    );
    let (mut memory, instance) = placed("7", SCRATCH);
    let (mem, mut valid) = (memory.as_mut_ptr().cast(), true);
    assert_eq!(
        c!(toolcore_schema_check(schema, instance, null(), mem, SCRATCH, &raw mut valid, no)),
        INVALID
    );
    assert!(!valid);
}

#[test]
fn a_json_string_is_not_decoded_over_itself() {
    let (mut memory, json) = placed(r#""a\u0062c""#, 64);
    let mut len = 9;
    assert_eq!(c!(toolcore_json_string(json, memory.as_mut_ptr().cast(), 64, &raw mut len)), INVALID);
    assert_eq!((len, text(json)), (0, r#""a\u0062c""#));
    assert_eq!(
        c!(toolcore_json_string(json, memory[json.len..].as_mut_ptr().cast(), 9, &raw mut len)),
        TOOLCORE_OK
    );
    assert_eq!(&memory[json.len..][..len], b"abc");
}

#[test]
fn a_writer_refuses_what_it_wrote() {
    let writes: [fn(*mut toolcore_json_writer_t, toolcore_str_t) -> toolcore_status_t; 3] = [
        |writer, own| c!(toolcore_json_writer_string(writer, own)),
        |writer, own| c!(toolcore_json_writer_raw(writer, own)),
        |writer, own| {
            assert_eq!(c!(toolcore_json_writer_object_start(writer)), TOOLCORE_OK);
            c!(toolcore_json_writer_key(writer, own))
        },
    ];
    for write in writes {
        let mut buffer: Vec<u8> = [b'x'].repeat(64);
        let mut writer = c!(core::mem::zeroed::<toolcore_json_writer_t>());
        let (buf, writer) = (buffer.as_mut_ptr(), &raw mut writer);
        assert_eq!(c!(toolcore_json_writer_init(writer, buf.cast(), 64)), TOOLCORE_OK);
        assert_eq!(c!(toolcore_json_writer_array_start(writer)), TOOLCORE_OK);
        assert_eq!(c!(toolcore_json_writer_u64(writer, 12345)), TOOLCORE_OK);
        let own = toolcore_str_t { ptr: buf.wrapping_add(1).cast(), len: 5 };
        assert_eq!(write(writer, own), INVALID);
        let mut len = 9;
        assert_eq!((c!(toolcore_json_writer_end(writer, &raw mut len)), len), (INVALID, 0));
    }
}

#[test]
fn a_context_is_not_rendered_over_its_blocks() {
    let (mut memory, content) = placed("some words", 64);
    let blocks = [
        sized!(toolcore_block_t { content: content }),
        sized!(toolcore_block_t { content: s("x"), category: content }),
        sized!(toolcore_block_t { content: s("x"), label: content }),
        sized!(toolcore_block_t { content: s("x"), source: content }),
    ];
    for block in blocks {
        let mut room = Block::new(1 << 15);
        let mut context = null_mut();
        assert_eq!(c!(toolcore_context_init(null(), room.ptr(), 1 << 15, &raw mut context)), TOOLCORE_OK);
        assert_eq!(c!(toolcore_context_push(context, &block)), TOOLCORE_OK);
        let opts = sized!(toolcore_context_render_opts_t { budget: 99 });
        let (buf, mut len, no) = (memory.as_mut_ptr(), 9, null_mut());
        let status =
            c!(toolcore_context_render(context, &opts, buf.cast(), 64, &raw mut len, no, null_mut()));
        assert_eq!((status, len, text(content)), (INVALID, 0, "some words"));
        let behind = buf.wrapping_add(10).cast();
        let status = c!(toolcore_context_render(context, &opts, behind, 54, &raw mut len, no, null_mut()));
        assert_eq!((status, len > 0), (TOOLCORE_OK, true));
    }
}
