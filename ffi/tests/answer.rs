//! The whole path in one call.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::clock::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::json::*;
use crate::registry::*;
use crate::result::*;
use crate::status::*;
use crate::tool::*;
use crate::tools::*;

/// Answers a reply; the messages, and what became of it.
fn answer(
    tools: &Tools,
    dialect: u32,
    reply: &str,
    opts: &toolcore_answer_opts_t,
) -> (String, toolcore_outcome_t) {
    let mut scratch = Block::new(SCRATCH);
    let mut buffer: Vec<u8> = [0].repeat(8192);
    let mut len = 0;
    let mut outcome = init::<toolcore_outcome_t>();
    let mut why = init::<toolcore_detail_t>();
    let status = c!(toolcore_answer(
        tools.registry,
        dialect,
        s(reply),
        opts,
        scratch.ptr(),
        SCRATCH,
        buffer.as_mut_ptr().cast(),
        buffer.len(),
        &raw mut len,
        &raw mut outcome,
        &raw mut why
    ));
    assert_eq!(status, TOOLCORE_OK, "{}", word(why.message.as_ptr()));
    (String::from_utf8(buffer[..len].into()).unwrap(), outcome)
}

#[test]
fn every_call_of_a_reply_is_answered() {
    let (messages, outcome) = answer(&Tools::usual(), TOOLCORE_DIALECT_ANTHROPIC, REPLY, &init());
    assert_eq!(messages, ANSWER);
    assert_eq!((outcome.calls, outcome.answered, outcome.failed), (3, 2, 1));
}

#[test]
fn a_reply_without_calls_writes_nothing() {
    let reply = r#"{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#;
    let (messages, outcome) = answer(&Tools::usual(), TOOLCORE_DIALECT_ANTHROPIC, reply, &init());
    assert_eq!((messages.as_str(), outcome.calls), ("", 0));
}

#[test]
fn openai_and_mcp_have_their_own_shapes() {
    let tools = Tools::usual();
    let reply = r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
        {"id":"c1","type":"function","function":{"name":"echo","arguments":"{\"text\":\"hi\"}"}}]},
        "finish_reason":"tool_calls"}]}"#;
    let bare = sized!(toolcore_answer_opts_t { flags: TOOLCORE_ANSWER_BARE });
    let (messages, _) = answer(&tools, TOOLCORE_DIALECT_OPENAI_CHAT, reply, &bare);
    assert_eq!(messages, r#"{"role":"tool","tool_call_id":"c1","content":"hi"}"#);
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fail"}}"#;
    let (messages, outcome) = answer(&tools, TOOLCORE_DIALECT_MCP, request, &init());
    assert_eq!(messages, r#"{"content":[{"type":"text","text":"Tool error: it broke"}],"isError":true}"#);
    assert_eq!(outcome.failed, 1);
}

/// What an observer was told: id, name, kind and number of parts of each call.
type Seen = Vec<(String, String, u32, usize)>;

unsafe extern "C" fn see(
    seen: *mut c_void,
    call: *const toolcore_tool_call_t,
    outcome_kind: u32,
    result: *const toolcore_result_t,
) {
    let call = c!(*call);
    assert_eq!(call.struct_size, size_of::<toolcore_tool_call_t>());
    assert_eq!(outcome_kind, c!(toolcore_result_kind(result)));
    let (id, name, parts) = (text(call.id).into(), text(call.name).into(), c!(toolcore_result_len(result)));
    c!((*seen.cast::<Seen>()).push((id, name, outcome_kind, parts)));
}

#[test]
fn an_observer_sees_each_call_and_its_result() {
    let mut seen = Seen::new();
    let opts = sized!(toolcore_answer_opts_t {
        observe: Some(see),
        user_data: (&raw mut seen).cast(),
        max_calls: 2,
    });
    let (messages, outcome) = answer(&Tools::usual(), TOOLCORE_DIALECT_ANTHROPIC, REPLY, &opts);
    let expected = [
        ("a", "echo", TOOLCORE_OUTCOME_ANSWERED),
        ("b", "nope", TOOLCORE_OUTCOME_UNKNOWN_TOOL),
        ("c", "echo", TOOLCORE_OUTCOME_OVER_LIMIT),
    ];
    assert_eq!(seen, expected.map(|(id, name, kind)| (id.into(), name.into(), kind, 1)));
    assert!(messages.contains("Not executed: at most 2 tool call(s) per turn allowed."));
    assert_eq!((outcome.calls, outcome.answered, outcome.failed), (3, 1, 2));
}

#[test]
fn a_limit_cuts_a_result_and_says_so() {
    let opts = sized!(toolcore_answer_opts_t { result_limit: 2 });
    let (messages, _) = answer(&Tools::usual(), TOOLCORE_DIALECT_ANTHROPIC, REPLY, &opts);
    assert!(messages.contains(r#""content":"on… [truncated, 2 of 3 bytes]""#), "{messages}");
}

/// A clock that a tool moves.
unsafe extern "C" fn now(time: *mut c_void) -> u64 {
    c!(*time.cast::<u64>())
}

unsafe extern "C" fn slow(
    time: *mut c_void,
    call: *const toolcore_call_t,
    result: *mut toolcore_result_t,
) -> toolcore_status_t {
    assert_eq!(c!(toolcore_call_deadline_ms(call)), 1100);
    assert_eq!(c!(toolcore_call_time_left_ms(call)), 100);
    c!(*time.cast::<u64>() += 101);
    assert_eq!(c!(toolcore_call_time_left_ms(call)), 0);
    c!(toolcore_result_text(result, s("too late")))
}

#[test]
fn a_result_after_the_deadline_is_a_timeout() {
    let mut time = 1000u64;
    let user_data = (&raw mut time).cast();
    let tools = Tools::new();
    assert_eq!(tools.add(&toolcore_tool_t { timeout_ms: 100, user_data, ..tool("slow", slow) }), TOOLCORE_OK);
    let clock = sized!(toolcore_clock_t { user_data: user_data, now_ms: Some(now) });
    let opts = sized!(toolcore_answer_opts_t { clock: &raw const clock, timeout_ms: 5000 });
    let (messages, _) = answer(&tools, TOOLCORE_DIALECT_MCP, r#"{"name":"slow"}"#, &opts);
    assert!(messages.contains("[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s"), "{messages}");
}

#[test]
fn a_clock_without_a_function_is_a_status() {
    let tools = Tools::usual();
    let clock = init::<toolcore_clock_t>();
    let opts = sized!(toolcore_answer_opts_t { clock: &raw const clock });
    let mut scratch = Block::new(SCRATCH);
    let (dialect, mem, no) = (TOOLCORE_DIALECT_ANTHROPIC, scratch.ptr(), null_mut());
    let status = c!(toolcore_answer(
        tools.registry,
        dialect,
        s(REPLY),
        &opts,
        mem,
        SCRATCH,
        null_mut(),
        0,
        &mut 0,
        null_mut(),
        no
    ));
    assert_eq!(status, INVALID);
}

#[test]
fn what_runs_cost_is_summed() {
    unsafe extern "C" fn costs(
        _: *mut c_void,
        _: *const toolcore_call_t,
        result: *mut toolcore_result_t,
    ) -> toolcore_status_t {
        let usage = sized!(toolcore_usage_t {
            input_tokens: 1,
            output_tokens: 2,
            cached_tokens: 3,
            thinking_tokens: 4,
            cost_micros: 5,
            latency_ms: 6,
        });
        c!(toolcore_result_usage(result, &usage))
    }
    let tools = Tools::new();
    assert_eq!(tools.add(&toolcore_tool_t { schema: s("{}"), ..tool("echo", costs) }), TOOLCORE_OK);
    let (_, outcome) = answer(&tools, TOOLCORE_DIALECT_ANTHROPIC, &REPLY.replace("nope", "echo"), &init());
    let sums = (outcome.input_tokens, outcome.output_tokens, outcome.cached_tokens, outcome.thinking_tokens);
    assert_eq!(sums, (3, 6, 9, 12));
    assert_eq!((outcome.cost_micros, outcome.latency_ms), (15, 18));
}

#[test]
fn a_failed_answer_leaves_the_outcome_alone() {
    let tools = Tools::usual();
    let mut outcome = sized!(toolcore_outcome_t { calls: 77 });
    let mut scratch = Block::new(SCRATCH);
    let (dialect, mem, no) = (TOOLCORE_DIALECT_ANTHROPIC, scratch.ptr(), null_mut());
    let mut len = 5;
    let status = c!(toolcore_answer(
        tools.registry,
        dialect,
        s("["),
        null(),
        mem,
        SCRATCH,
        null_mut(),
        0,
        &raw mut len,
        &raw mut outcome,
        no
    ));
    assert_eq!((status, len, outcome.calls), (TOOLCORE_ERR_BAD_JSON, 0, 77));
}

#[test]
fn eight_threads_answer_over_one_registry() {
    let tools = Tools::usual();
    let shared = tools.registry.addr();
    let registry = tools.registry.expose_provenance();
    assert_eq!(shared, registry);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(move || {
                let registry = core::ptr::with_exposed_provenance::<toolcore_registry_t>(registry);
                let mut scratch = Block::new(SCRATCH);
                for _ in 0..if cfg!(miri) { 1 } else { 50 } {
                    let mut buffer = [0u8; 2048];
                    let (mem, buf, mut len) = (scratch.ptr(), buffer.as_mut_ptr().cast(), 0);
                    let (dialect, no) = (TOOLCORE_DIALECT_ANTHROPIC, null_mut());
                    let status = c!(toolcore_answer(
                        registry,
                        dialect,
                        s(REPLY),
                        null(),
                        mem,
                        SCRATCH,
                        buf,
                        2048,
                        &raw mut len,
                        null_mut(),
                        no
                    ));
                    assert_eq!((status, &buffer[..len]), (TOOLCORE_OK, ANSWER.as_bytes()));
                }
            });
        }
    });
}

unsafe extern "C" fn note(
    notes: *mut c_void,
    tool: toolcore_str_t,
    path: toolcore_str_t,
    message: toolcore_str_t,
) {
    c!((*notes.cast::<Vec<[String; 3]>>()).push([tool, path, message].map(|part| text(part).into())));
}

#[test]
fn changes_to_arguments_are_told() {
    let tools = Tools::new();
    let schema = s(r#"{"properties":{"text":{"type":"integer"}}}"#);
    let counts = toolcore_tool_t { schema, flags: TOOLCORE_TOOL_COERCE, ..tool("echo", fail) };
    assert_eq!(tools.add(&counts), TOOLCORE_OK);
    let mut changes: Vec<[String; 3]> = Vec::new();
    let opts = sized!(toolcore_answer_opts_t { changed: Some(note), user_data: (&raw mut changes).cast() });
    let (_, outcome) = answer(&tools, TOOLCORE_DIALECT_ANTHROPIC, &REPLY.replace("\"one\"", "\"7\""), &opts);
    assert_eq!((outcome.calls, outcome.failed), (3, 3));
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0][..2], ["echo", "/text"]);
    let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(r#"{"text":"7"}"#) });
    let opts = sized!(toolcore_dispatch_opts_t { changed: Some(note), user_data: (&raw mut changes).cast() });
    let (mut scratch, mut result, no) = (Block::new(SCRATCH), null_mut(), null_mut());
    let mem = scratch.ptr();
    assert_eq!(
        c!(toolcore_dispatch(tools.registry, &call, &opts, mem, SCRATCH, &raw mut result, no)),
        TOOLCORE_OK
    );
    assert_eq!(changes[0], changes[1]);
}

#[test]
fn notes_tell_what_was_changed_for_the_provider() {
    let tools = Tools::new();
    assert_eq!(tools.add(&tool("a.b", fail)), TOOLCORE_OK);
    let mut notes: Vec<[String; 3]> = Vec::new();
    let opts = sized!(toolcore_tools_opts_t { note: Some(note), user_data: (&raw mut notes).cast() });
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
    assert_eq!(c!(toolcore_json_kind(s(&rendered))), TOOLCORE_JSON_OBJECT);
    assert!(rendered.contains("\"name\":\"a_b_"), "{rendered}");
    assert_eq!(notes.len(), 2, "once for the measure and once for the text");
    assert_eq!(notes[0], notes[1]);
    assert_eq!(notes[0][..2], ["a.b", ""]);
    assert!(notes[0][2].starts_with("sent as 'a_b_"), "{}", notes[0][2]);
}
