//! Working memory: what is in it does not matter, what is not needed is not touched, and what is missing is named.

use core::ptr::{null, null_mut};
use std::string::{String, ToString};
use std::vec::Vec;

use super::support::*;
use crate::answer::*;
use crate::call::*;
use crate::complete::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::inflight::*;
use crate::schema::*;
use crate::status::*;
use crate::tool::*;

/// A schema whose check keeps levels, bits of what was seen, and references.
const SCHEMA: &str = r##"{"type":"object","$defs":{"node":{"type":"object","required":["v"],
    "properties":{"v":{"type":["integer","null"]},"next":{"$ref":"#/$defs/node"},"list":{"type":"array","items":
    {"$ref":"#/$defs/node"}}}}},"properties":{"text":{"type":"string"},"root":{"$ref":"#/$defs/node"},
    "tags":{"type":"array","maxItems":3,"items":{"type":"object","required":["a","b"]}}},
    "required":["text"],"additionalProperties":false}"##;

const INSTANCES: &[(&str, bool)] = &[
    (r#"{"text":"x","root":{"v":1,"next":{"v":2,"list":[{"v":3},{"v":null,"next":{"v":4}}]}}}"#, true),
    (r#"{"root":{"next":{"list":[{"v":3},{"next":{"v":4}}],"v":2},"v":1},"text":"x"}"#, false),
    (r#"{"text":"x","tags":[{"b":1,"a":1},{"a":1,"b":2},{"a":2,"b":1}]}"#, true),
    (r#"{"text":"x","tags":[{"b":1,"a":1},{"a":1,"b":1},{"b":2,"a":2},{"a":3,"b":3}]}"#, false),
    (r#"{"text":"x","tags":[{"a":1},{"b":1}]}"#, false),
    (r#"{"root":{"v":1}}"#, false),
    (r#"{"text":"a\u0062","more":1}"#, false),
];

/// A schema in memory of its own.
fn schema() -> (Block, *mut toolcore_schema_t) {
    let mut memory = Block::new(SCRATCH);
    let (mem, mut schema) = (memory.ptr(), null_mut());
    let status = c!(toolcore_schema_init(s(SCHEMA), null(), mem, SCRATCH, &raw mut schema, null_mut()));
    assert_eq!(status, TOOLCORE_OK);
    (memory, schema)
}

/// A tool that takes [`SCHEMA`], and converts what nearly fits it.
fn tools() -> Tools {
    let tools = Tools::new();
    let coerces = toolcore_tool_t { schema: s(SCHEMA), flags: TOOLCORE_TOOL_COERCE, ..tool("echo", echo) };
    assert_eq!(tools.add(&coerces), TOOLCORE_OK);
    tools
}

/// An OpenAI reply that calls `echo` with these arguments, twice.
fn reply(arguments: &str) -> String {
    let quoted = arguments.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', " ");
    let call = |id| {
        std::format!(
            r#"{{"id":"{id}","type":"function","function":{{"name":"echo","arguments":"{quoted}"}}}}"#
        )
    };
    std::format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{},{}]}},"finish_reason":"tool_calls"}}]}}"#,
        call("a"),
        call("b")
    )
}

#[test]
fn what_was_in_the_scratch_does_not_matter() {
    let (_memory, schema) = schema();
    let tools = tools();
    for (instance, fits) in INSTANCES {
        let mut answers = Vec::new();
        // The words that a checker would keep are among these.
        for fill in [[0u8; 4], [0xA5; 4], [0xFF; 4], [1, 0, 0, 0], [0, 0, 0, 0x80]] {
            let mut scratch = fill.repeat(4096);
            let (mem, len, no) = (scratch.as_mut_ptr().cast(), scratch.len(), null_mut());
            let mut valid = !fits;
            let status = c!(toolcore_schema_check(schema, s(instance), null(), mem, len, &raw mut valid, no));
            assert_eq!((status, valid), (TOOLCORE_OK, *fits), "{instance}");
            let mut buffer = [0u8; 4096];
            let mut out_len = 0;
            let status = c!(toolcore_answer(
                tools.registry,
                TOOLCORE_DIALECT_OPENAI_CHAT,
                s(&reply(instance)),
                null(),
                fill.repeat(4096).as_mut_ptr().cast(),
                len,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                &raw mut out_len,
                null_mut(),
                no
            ));
            assert_eq!(status, TOOLCORE_OK);
            answers.push(buffer[..out_len].to_vec());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{instance}");
        let answer = String::from_utf8(answers.remove(0)).unwrap();
        assert_eq!(answer.contains("Invalid arguments"), !fits, "{answer}");
    }
}

/// How many bytes of a megabyte of scratch are other than before.
fn touched(call: impl FnOnce(*mut core::ffi::c_void, usize)) -> usize {
    let mut scratch: Vec<u8> = [0xA5].repeat(1 << 20);
    call(scratch.as_mut_ptr().cast(), 1 << 20);
    scratch.iter().filter(|byte| **byte != 0xA5).count()
}

#[test]
fn a_large_scratch_costs_nothing() {
    let (_memory, schema) = schema();
    let tools = tools();
    let (instance, _) = INSTANCES[0];
    let no = null_mut();
    let check = touched(|mem, len| {
        let status = c!(toolcore_schema_check(schema, s(instance), null(), mem, len, &mut false, no));
        assert_eq!(status, TOOLCORE_OK);
    });
    assert!(check < 2048, "check: {check}");
    let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(instance) });
    let dispatch = touched(|mem, len| {
        let mut result = null_mut();
        let status = c!(toolcore_dispatch(tools.registry, &call, null(), mem, len, &raw mut result, no));
        assert_eq!(status, TOOLCORE_OK);
    });
    assert!(dispatch < 4096, "dispatch: {dispatch}");
    let (reply, mut buffer) = (reply(instance), [0u8; 4096]);
    let buf = buffer.as_mut_ptr().cast();
    let answer = touched(|mem, len| {
        let (registry, dialect, reply) = (tools.registry, TOOLCORE_DIALECT_OPENAI_CHAT, s(&reply));
        let status = c!(toolcore_answer(
            registry,
            dialect,
            reply,
            null(),
            mem,
            len,
            buf,
            4096,
            &mut 0,
            null_mut(),
            null_mut()
        ));
        assert_eq!(status, TOOLCORE_OK);
    });
    assert!(answer < 4096, "answer: {answer}");
}

/// A turn of [`LATER`] in this memory, whose first call is completed; what it is finished with.
fn turn(mem: *mut core::ffi::c_void, len: usize) -> String {
    let mut tickets = Vec::new();
    let tools = Tools::with_later(&raw mut tickets, 0);
    let flight = Flight::new(&init());
    let (inflight, registry, reply, no) = (flight.inflight, tools.registry, flight.reply, null_mut());
    assert_eq!(c!(toolcore_start(inflight, registry, reply, null(), mem, len, 0, no)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_complete_text(inflight, tickets[0], 0, s("done"))), TOOLCORE_OK);
    written(|buf, len, out| c!(toolcore_finish(inflight, 0, buf, len, out, null_mut(), null_mut())))
}

#[test]
fn a_turn_does_not_mind_what_was_in_its_memory_and_touches_what_it_needs() {
    let mut finished: Vec<String> = Vec::new();
    for fill in [[0u8; 4], [0xA5; 4], [0xFF; 4], [1, 0, 0, 0], [0, 0, 0, 0x80]] {
        let mut memory = fill.repeat(1024);
        finished.push(turn(memory.as_mut_ptr().cast(), memory.len()));
    }
    assert!(finished[0].contains("\"done\"") && finished[0].contains("was cancelled"));
    finished.dedup();
    assert_eq!(finished.len(), 1);
    let touched = touched(|mem, len| assert_eq!(turn(mem, len), finished[0]));
    assert!(touched < 2048, "turn: {touched}");
}

/// Tries with what is named until it is enough; how often.
fn tries(call: impl Fn(*mut core::ffi::c_void, usize, *mut toolcore_detail_t) -> toolcore_status_t) -> usize {
    let mut size = 1;
    for tries in 1.. {
        let mut why = init::<toolcore_detail_t>();
        let mut scratch = Block::new(size);
        match call(scratch.ptr(), size, &raw mut why) {
            TOOLCORE_OK => return tries,
            status => assert_eq!(status, TOOLCORE_ERR_NO_SPACE, "{}", word(why.message.as_ptr())),
        }
        assert!(why.need > size, "{} bytes are named, there were {size}", why.need);
        size = why.need;
    }
    0
}

#[test]
fn what_is_named_is_enough_in_all() {
    let (_memory, schema) = schema();
    let tools = tools();
    let plain = Tools::usual();
    let deep = std::format!(
        r#"{{"text":"x","root":{}{{"v":"1"}}{}}}"#,
        r#"{"v":"1","next":"#.repeat(90),
        "}".repeat(90)
    );
    let long = std::format!(r#"{{"text":"{}"}}"#, "x".repeat(5000));
    for instance in [INSTANCES[0].0, &deep, &long] {
        let check = tries(|mem, len, why| {
            c!(toolcore_schema_check(schema, s(instance), null(), mem, len, &mut false, why))
        });
        assert!(check <= 2, "check: {check}");
        for (tools, flags, most) in [(&plain, 0, 3), (&tools, TOOLCORE_DISPATCH_LENIENT, 5)] {
            let opts = sized!(toolcore_dispatch_opts_t { flags: flags });
            // With a fence around them, they are repaired into scratch.
            for arguments in [instance.to_string(), std::format!("```json\n{instance},\n```")] {
                let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(&arguments) });
                let dispatch = tries(|mem, len, why| {
                    c!(toolcore_dispatch(tools.registry, &call, &opts, mem, len, &mut null_mut(), why))
                });
                assert!(dispatch <= most, "dispatch: {dispatch}");
                let reply = reply(&arguments);
                let opts = sized!(toolcore_answer_opts_t { flags: flags << 1 });
                let answer = tries(|mem, len, why| {
                    let (registry, reply, no) = (tools.registry, s(&reply), null_mut());
                    let mut buffer: Vec<u8> = [0].repeat(1 << 15);
                    let (buf, dialect) = (buffer.as_mut_ptr().cast(), TOOLCORE_DIALECT_OPENAI_CHAT);
                    c!(toolcore_answer(
                        registry,
                        dialect,
                        reply,
                        &opts,
                        mem,
                        len,
                        buf,
                        1 << 15,
                        &mut 0,
                        no,
                        why
                    ))
                });
                assert!(answer <= most + 1, "answer: {answer}");
            }
        }
    }
    assert_eq!(TOOLCORE_ANSWER_LENIENT, TOOLCORE_DISPATCH_LENIENT << 1);
}
