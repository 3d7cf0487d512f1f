//! What the tests share: structs, memory, a registry, and calls without a word about their safety.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use std::string::String;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::vec::Vec;

use crate::abi::{CStruct, toolcore_str_t};
use crate::answer::toolcore_answer_opts_t;
use crate::call::*;
use crate::dialect::*;
use crate::inflight::*;
use crate::registry::*;
use crate::reply::*;
use crate::result::*;
use crate::status::*;
use crate::tool::*;

/// Calls an entry point. The tests keep the rules of the header, or break the ones that a status answers for.
macro_rules! c {
    ($($call:tt)*) => {
        unsafe { $($call)* }
    };
}
pub(super) use c;

pub(super) const INVALID: toolcore_status_t = TOOLCORE_ERR_INVALID_ARGUMENT;

/// Text for C.
pub(super) fn s(text: &str) -> toolcore_str_t {
    toolcore_str_t::of(text)
}

/// Text from C.
pub(super) fn text<'t>(text: toolcore_str_t) -> &'t str {
    if text.len == 0 {
        return "";
    }
    c!(core::str::from_utf8(core::slice::from_raw_parts(text.ptr.cast(), text.len)).unwrap())
}

/// A NUL terminated text from C.
pub(super) fn word<'t>(word: *const c_char) -> &'t str {
    c!(CStr::from_ptr(word)).to_str().unwrap()
}

/// What `TOOLCORE_X_INIT` gives.
pub(super) fn init<T: CStruct>() -> T {
    let mut value = T::zero();
    c!((&raw mut value).cast::<usize>().write(size_of::<T>()));
    value
}

/// `TOOLCORE_X_INIT` with some fields set.
macro_rules! sized {
    ($type:ident { $($field:ident: $value:expr),* $(,)? }) => {
        $type { $($field: $value,)* ..init::<$type>() }
    };
}
pub(super) use sized;

/// Memory that begins at an odd address, as C may hand in.
pub(super) struct Block(Vec<u8>);

impl Block {
    pub(super) fn new(len: usize) -> Self {
        // What was there before must not matter.
        Block([0xA5].repeat(len + 1))
    }

    pub(super) fn ptr(&mut self) -> *mut c_void {
        let odd = usize::from(self.0.as_ptr().addr().is_multiple_of(2));
        self.0[odd..].as_mut_ptr().cast()
    }
}

/// A registry in memory of its own.
pub(super) struct Tools {
    pub(super) registry: *mut toolcore_registry_t,
    _memory: Block,
}

impl Tools {
    pub(super) fn new() -> Self {
        Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 4, pool_bytes: 8192 }))
    }

    pub(super) fn with(opts: &toolcore_registry_opts_t) -> Self {
        let size = c!(toolcore_registry_mem_size(opts));
        let mut memory = Block::new(size);
        let mut registry = ptr::null_mut();
        assert_eq!(c!(toolcore_registry_init(opts, memory.ptr(), size, &raw mut registry)), TOOLCORE_OK);
        Tools { registry, _memory: memory }
    }

    pub(super) fn add(&self, tool: &toolcore_tool_t) -> toolcore_status_t {
        c!(toolcore_registry_add(self.registry, tool, ptr::null_mut()))
    }

    /// One tool of each kind that the tests call.
    pub(super) fn usual() -> Self {
        let tools = Tools::new();
        let params = [sized!(toolcore_param_t {
            name: s("text"),
            r#type: TOOLCORE_TYPE_STRING,
            flags: TOOLCORE_PARAM_REQUIRED,
        })];
        let echo = tool("echo", echo);
        assert_eq!(
            tools.add(&toolcore_tool_t { params: params.as_ptr(), params_len: 1, ..echo }),
            TOOLCORE_OK
        );
        assert_eq!(tools.add(&tool("fail", fail)), TOOLCORE_OK);
        tools
    }

    /// The usual ones, and `later`, which keeps its tickets here and has `timeout_ms` for each call.
    pub(super) fn with_later(tickets: *mut Vec<u64>, timeout_ms: u64) -> Self {
        let tools = Tools::usual();
        let later = toolcore_tool_t { user_data: tickets.cast(), timeout_ms, ..tool("later", later) };
        assert_eq!(tools.add(&later), TOOLCORE_OK);
        tools
    }
}

impl Drop for Tools {
    fn drop(&mut self) {
        c!(toolcore_registry_deinit(self.registry));
    }
}

/// A tool of this name.
pub(super) fn tool(
    name: &'static str,
    run: unsafe extern "C" fn(
        *mut c_void,
        *const toolcore_call_t,
        *mut toolcore_result_t,
    ) -> toolcore_status_t,
) -> toolcore_tool_t {
    sized!(toolcore_tool_t { name: s(name), run: Some(run) })
}

/// Answers with its argument `text`.
pub(super) unsafe extern "C" fn echo(
    _: *mut c_void,
    call: *const toolcore_call_t,
    result: *mut toolcore_result_t,
) -> toolcore_status_t {
    let mut text = toolcore_str_t::EMPTY;
    match c!(toolcore_call_get_str(call, s("text"), &raw mut text)) {
        TOOLCORE_OK => c!(toolcore_result_text(result, text)),
        status => status,
    }
}

/// Reports a failure.
pub(super) unsafe extern "C" fn fail(
    _: *mut c_void,
    _: *const toolcore_call_t,
    result: *mut toolcore_result_t,
) -> toolcore_status_t {
    assert_eq!(c!(toolcore_result_error(result, s("it broke"))), TOOLCORE_OK);
    TOOLCORE_ERR_TOOL
}

/// Keeps its ticket and answers later.
pub(super) unsafe extern "C" fn later(
    tickets: *mut c_void,
    call: *const toolcore_call_t,
    result: *mut toolcore_result_t,
) -> toolcore_status_t {
    c!((*tickets.cast::<Vec<u64>>()).push(toolcore_call_ticket(call)));
    assert_eq!(c!(toolcore_result_text(result, s("gone"))), TOOLCORE_OK);
    TOOLCORE_PENDING
}

/// A reply in the form of Anthropic that calls `later`, `echo` and `later`.
pub(super) const LATER: &str = r#"{"content":[{"type":"tool_use","id":"a","name":"later","input":{}},
    {"type":"tool_use","id":"b","name":"echo","input":{"text":"one"}},
    {"type":"tool_use","id":"c","name":"later","input":{}}]}"#;

/// Calls in flight, and the reply whose calls they are.
pub(super) struct Flight {
    pub(super) inflight: *mut toolcore_inflight_t,
    pub(super) reply: *mut toolcore_reply_t,
    memory: [Block; 3],
}

impl Flight {
    pub(super) fn new(opts: &toolcore_inflight_opts_t) -> Self {
        let size = c!(toolcore_inflight_mem_size(opts));
        let mut memory = [Block::new(size), Block::new(SCRATCH), Block::new(0)];
        let (mut inflight, mut reply) = (ptr::null_mut(), ptr::null_mut());
        let status = c!(toolcore_inflight_init(opts, memory[0].ptr(), size, &raw mut inflight));
        assert_eq!(status, TOOLCORE_OK);
        let (dialect, no, mem) = (TOOLCORE_DIALECT_ANTHROPIC, ptr::null_mut(), memory[1].ptr());
        let status =
            c!(toolcore_reply_parse(dialect, s(LATER), ptr::null(), mem, SCRATCH, &raw mut reply, no));
        assert_eq!(status, TOOLCORE_OK);
        Flight { inflight, reply, memory }
    }

    /// Starts a turn in memory of its own.
    pub(super) fn start(&mut self, tools: &Tools, opts: &toolcore_answer_opts_t, now: u64) {
        let size = toolcore_start_mem_size(c!(toolcore_reply_len(self.reply)), 64);
        self.memory[2] = Block::new(size);
        let (registry, mem, no) = (tools.registry, self.memory[2].ptr(), ptr::null_mut());
        let status = c!(toolcore_start(self.inflight, registry, self.reply, opts, mem, size, now, no));
        assert_eq!(status, TOOLCORE_OK);
    }

    /// The memory of the turn.
    pub(super) fn turn(&mut self) -> *mut c_void {
        self.memory[2].ptr()
    }

    pub(super) fn stats(&self) -> toolcore_inflight_stats_t {
        let mut stats = init();
        assert_eq!(c!(toolcore_inflight_stats(self.inflight, &raw mut stats)), TOOLCORE_OK);
        stats
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        c!(toolcore_inflight_deinit(self.inflight));
        c!(toolcore_reply_deinit(self.reply));
    }
}

/// Counts how often it was let go.
#[derive(Default)]
pub(super) struct Drops(AtomicUsize);

impl Drops {
    pub(super) fn data(&self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }

    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A drop function for a [`Drops`].
pub(super) unsafe extern "C" fn count_drop(drops: *mut c_void) {
    c!((*drops.cast::<Drops>()).0.fetch_add(1, Ordering::Relaxed));
}

/// Measures, writes, and checks that both agree.
pub(super) fn written(write: impl Fn(*mut c_char, usize, *mut usize) -> toolcore_status_t) -> String {
    let mut len = usize::MAX;
    assert_eq!(write(ptr::null_mut(), 0, &raw mut len), TOOLCORE_OK);
    let mut buffer = Vec::<u8>::from([b'x']).repeat(len + 1);
    let mut wrote = 0;
    assert_eq!(write(buffer.as_mut_ptr().cast(), buffer.len(), &raw mut wrote), TOOLCORE_OK);
    assert_eq!((wrote, buffer.pop()), (len, Some(0)));
    String::from_utf8(buffer).unwrap()
}

/// A scratch that is enough for everything here.
pub(super) const SCRATCH: usize = 8192;

/// A reply in the form of Anthropic that calls `echo` twice and a tool that is not there.
pub(super) const REPLY: &str = r#"{"role":"assistant","content":[{"type":"text","text":"Let me \u2026 see."},
    {"type":"tool_use","id":"a","name":"echo","input":{"text":"one"}},
    {"type":"tool_use","id":"b","name":"nope","input":{}},
    {"type":"tool_use","id":"c","name":"echo","input":{"text":"t\"wo"}}]}"#;

/// What answers [`REPLY`].
pub(super) const ANSWER: &str = concat!(
    r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"},"#,
    r#"{"type":"tool_result","tool_use_id":"b","content":"Tool error: Unknown tool: 'nope'. Available: echo, fail","is_error":true},"#,
    r#"{"type":"tool_result","tool_use_id":"c","content":"t\"wo"}]}]"#
);
