//! Replies that come in pieces: the reply is that of a whole text, and so is what is done with it.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::{String, ToString};
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::dialect::*;
use crate::reply::*;
use crate::result::*;
use crate::results::*;
use crate::status::*;
use crate::stream::*;
use crate::turn::*;

/// Text, a call whose arguments come in pieces, and one without an id.
const STREAM: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I \\u00e9cho \\ud83d\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",",
    "\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"te\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":",
    "\"xt\\\":\\\"one\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"type\":\"function\",",
    "\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"text\\\":\\\"two\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: [DONE]\n\n"
);

/// What the two calls of [`STREAM`] are answered with.
const ANSWERED: &str = concat!(
    r#"[{"role":"tool","tool_call_id":"c1","content":"one"},"#,
    r#"{"role":"tool","tool_call_id":"toolcore_1","content":"two"}]"#
);

const CHAT: u32 = TOOLCORE_DIALECT_OPENAI_CHAT;

/// What was told of a stream.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    text: String,
    reasoning: String,
    /// Id, name, arguments, and whether it has ended.
    calls: Vec<(String, String, String, bool)>,
}

unsafe extern "C" fn see(seen: *mut c_void, event: *const toolcore_stream_event_t) {
    let (seen, event) = (c!(&mut *seen.cast::<Seen>()), c!(event.read()));
    assert_eq!((event.struct_size, event.reserved), (size_of::<toolcore_stream_event_t>(), 0));
    let piece = text(event.text);
    match event.kind {
        TOOLCORE_STREAM_EVENT_TEXT => seen.text.push_str(piece),
        TOOLCORE_STREAM_EVENT_REASONING => seen.reasoning.push_str(piece),
        TOOLCORE_STREAM_EVENT_CALL_START => {
            assert_eq!(event.index, seen.calls.len());
            seen.calls.push((text(event.id).to_string(), text(event.name).to_string(), String::new(), false));
        }
        TOOLCORE_STREAM_EVENT_ARGUMENTS => seen.calls[event.index].2.push_str(piece),
        TOOLCORE_STREAM_EVENT_CALL_END => seen.calls[event.index].3 = true,
        other => panic!("an event of kind {other}"),
    }
}

/// A stream in memory of its own.
struct Pieces {
    stream: *mut toolcore_stream_t,
    reply: *mut toolcore_reply_t,
    _memory: Block,
}

impl Pieces {
    fn new(dialect: u32, opts: &toolcore_stream_opts_t) -> Self {
        let size = c!(toolcore_stream_mem_size(opts));
        Pieces::sized(dialect, opts, size).unwrap_or_else(|(status, _)| panic!("{status}"))
    }

    /// In so much memory; or the status and what is needed.
    fn sized(
        dialect: u32,
        opts: &toolcore_stream_opts_t,
        size: usize,
    ) -> Result<Self, (toolcore_status_t, usize)> {
        let mut memory = Block::new(size);
        let mut stream = core::ptr::dangling_mut();
        let mut why = init::<toolcore_detail_t>();
        match c!(toolcore_stream_init(dialect, opts, memory.ptr(), size, &raw mut stream, &raw mut why)) {
            TOOLCORE_OK => Ok(Pieces { stream, reply: null_mut(), _memory: memory }),
            status => {
                assert!(stream.is_null());
                Err((status, why.need))
            }
        }
    }

    fn feed(&self, bytes: &str, why: *mut toolcore_detail_t) -> toolcore_status_t {
        c!(toolcore_stream_feed(self.stream, s(bytes), why))
    }

    fn finish(&mut self) -> toolcore_status_t {
        c!(toolcore_stream_finish(self.stream, &raw mut self.reply, null_mut()))
    }

    fn call(&self, index: usize) -> toolcore_tool_call_t {
        let mut call = init::<toolcore_tool_call_t>();
        assert_eq!(c!(toolcore_reply_call(self.reply, index, &raw mut call)), TOOLCORE_OK);
        call
    }

    fn answered(&self, tools: &Tools) -> String {
        let (reply, mut buffer, mut len) = (self.reply, [0u8; 1024], 0);
        let mut scratch = Block::new(SCRATCH);
        let (buf, no, mut outcome) = (buffer.as_mut_ptr().cast(), null_mut(), init::<toolcore_outcome_t>());
        let status = c!(toolcore_answer_reply(
            tools.registry,
            reply,
            null(),
            scratch.ptr(),
            SCRATCH,
            buf,
            1024,
            &raw mut len,
            &raw mut outcome,
            no
        ));
        assert_eq!((status, outcome.calls), (TOOLCORE_OK, c!(toolcore_reply_len(reply))));
        String::from_utf8(buffer[..len].to_vec()).unwrap()
    }

    fn replay(&self) -> String {
        written(|buf, len, out| c!(toolcore_reply_replay(self.reply, null(), buf, len, out, null_mut())))
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        // In either order.
        c!(toolcore_stream_deinit(self.stream));
        c!(toolcore_reply_deinit(self.reply));
        c!(toolcore_stream_deinit(self.stream));
    }
}

#[test]
fn in_any_chunking_the_reply_is_the_same_and_is_told_as_it_comes() {
    let tools = Tools::usual();
    for size in 1..=STREAM.len() {
        let mut seen = Seen::default();
        let opts = sized!(toolcore_stream_opts_t { event: Some(see), user_data: (&raw mut seen).cast() });
        let mut pieces = Pieces::new(CHAT, &opts);
        for chunk in STREAM.as_bytes().chunks(size) {
            assert_eq!(pieces.feed(core::str::from_utf8(chunk).unwrap(), null_mut()), TOOLCORE_OK);
        }
        assert!(c!(toolcore_stream_used(pieces.stream)) > 0);
        assert_eq!(pieces.finish(), TOOLCORE_OK);
        assert_eq!(c!(toolcore_stream_used(pieces.stream)), 0);
        assert_eq!(c!(toolcore_reply_finish(pieces.reply)), TOOLCORE_FINISH_COMPLETE);
        assert_eq!(c!(toolcore_reply_len(pieces.reply)), 2);
        let (first, second) = (pieces.call(0), pieces.call(1));
        assert_eq!((text(first.id), text(first.wire_id)), ("c1", "c1"));
        assert_eq!((text(second.id), text(second.wire_id)), ("", "toolcore_1"));
        assert_eq!((first.flags, second.flags), (TOOLCORE_CALL_HAS_ID, 0));
        assert_eq!((text(first.arguments), text(second.name)), (r#"{"text":"one"}"#, "echo"));
        let reply = pieces.reply;
        let said = written(|buf, len, out| c!(toolcore_reply_text(reply, buf, len, out)));
        assert_eq!(said, "I écho 😀");
        assert_eq!(pieces.answered(&tools), ANSWERED);
        let replay = pieces.replay();
        assert!(replay.starts_with(r#"[{"role":"assistant","content":"#), "{replay}");
        assert!(replay.contains(r#""id":"toolcore_1""#), "{replay}");
        assert_eq!(seen.text, said);
        let call =
            |id: &str, of: &str| (id.into(), "echo".into(), std::format!(r#"{{"text":"{of}"}}"#), true);
        assert_eq!(seen.calls, [call("c1", "one"), call("", "two")]);
    }
}

#[test]
fn results_answer_the_ids_that_the_turn_has() {
    let mut pieces = Pieces::new(CHAT, &init());
    assert_eq!((pieces.feed(STREAM, null_mut()), pieces.finish()), (TOOLCORE_OK, TOOLCORE_OK));
    let calls = [pieces.call(0), pieces.call(1)];
    let mut memory = Block::new(SCRATCH);
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(memory.ptr(), SCRATCH, &raw mut result)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_result_text(result, s("two"))), TOOLCORE_OK);
    // By its minted id, and in another order than the calls.
    let second = sized!(toolcore_call_result_t { id: calls[1].wire_id, result: result });
    let first = sized!(toolcore_call_result_t { id: calls[0].wire_id });
    let render = |results: &[toolcore_call_result_t], buf, len, out: *mut usize| {
        let (calls, count, results) = (calls.as_ptr(), results.len(), results.as_ptr());
        c!(toolcore_results_render(CHAT, calls, 2, results, count, null(), buf, len, out, null_mut()))
    };
    let rendered = written(|buf, len, out| render(&[second, first], buf, len, out));
    assert!(
        rendered.ends_with(r#"{"role":"tool","tool_call_id":"toolcore_1","content":"two"}]"#),
        "{rendered}"
    );
    let place = sized!(toolcore_call_result_t { result: result });
    let same = written(|buf, len, out| render(&[first, place], buf, len, out));
    assert_eq!(same, rendered, "by its place");
    let mut len = 7;
    let twice = render(&[first, second, second], null_mut(), 0, &raw mut len);
    assert_eq!((twice, len), (TOOLCORE_ERR_DUPLICATE_RESULT, 0));
    let twice = render(&[first, place, second], null_mut(), 0, &raw mut len);
    assert_eq!((twice, len), (TOOLCORE_ERR_DUPLICATE_RESULT, 0));
    assert_eq!(render(&[second], null_mut(), 0, &raw mut len), TOOLCORE_ERR_MISSING_RESULT);
}

/// The provider changes in the middle of a conversation.
#[test]
fn a_turn_goes_on_in_another_dialect_with_the_ids_of_its_results() {
    let mut pieces = Pieces::new(CHAT, &sized!(toolcore_stream_opts_t { turn: 7 }));
    assert_eq!((pieces.feed(STREAM, null_mut()), pieces.finish()), (TOOLCORE_OK, TOOLCORE_OK));
    let calls = [pieces.call(0), pieces.call(1)];
    assert_eq!(text(calls[1].wire_id), "toolcore_7_1");
    let (calls, no) = (calls.as_ptr(), null_mut());
    let turn = |dialect, opts: *const toolcore_replay_opts_t| {
        written(|buf, len, out| c!(toolcore_turn_render(dialect, s("So"), calls, 2, opts, buf, len, out, no)))
    };
    let expected = concat!(
        r#"{"role":"assistant","content":[{"type":"text","text":"So"},"#,
        r#"{"type":"tool_use","id":"c1","name":"echo","input":{"text":"one"}},"#,
        r#"{"type":"tool_use","id":"toolcore_7_1","name":"echo","input":{"text":"two"}}]}"#
    );
    assert_eq!(turn(TOOLCORE_DIALECT_ANTHROPIC, null()), std::format!("[{expected}]"));
    let bare = sized!(toolcore_replay_opts_t { flags: TOOLCORE_REPLAY_BARE });
    assert_eq!(turn(TOOLCORE_DIALECT_ANTHROPIC, &raw const bare), expected);
    let mistral = turn(TOOLCORE_DIALECT_MISTRAL_CHAT, null());
    let cancelled = [
        sized!(toolcore_call_result_t { id: s("c1") }),
        sized!(toolcore_call_result_t { id: s("toolcore_7_1") }),
    ];
    let results = written(|buf, len, out| {
        let (dialect, results) = (TOOLCORE_DIALECT_MISTRAL_CHAT, cancelled.as_ptr());
        c!(toolcore_results_render(dialect, calls, 2, results, 2, null(), buf, len, out, no))
    });
    for piece in results.split(r#""tool_call_id":""#).skip(1) {
        assert!(mistral.contains(&std::format!(r#""id":"{}""#, &piece[..9])), "{mistral} {results}");
    }
    let mut len = 7;
    let mcp = c!(toolcore_turn_render(
        TOOLCORE_DIALECT_MCP,
        s(""),
        calls,
        2,
        null(),
        null_mut(),
        0,
        &raw mut len,
        no
    ));
    assert_eq!((mcp, len), (TOOLCORE_ERR_UNSUPPORTED, 0));
}

#[test]
fn what_memory_is_missing_is_named_until_it_is_enough() {
    let opts = init::<toolcore_stream_opts_t>();
    let tools = Tools::usual();
    let (mut least, mut rescued) = (usize::MAX, 0);
    for size in 1..3000 {
        let mut pieces = match Pieces::sized(CHAT, &opts, size) {
            Ok(pieces) => pieces,
            Err((status, need)) => {
                assert_eq!(status, TOOLCORE_ERR_NO_SPACE);
                assert!(need > size && Pieces::sized(CHAT, &opts, need).is_ok(), "{size}: {need}");
                continue;
            }
        };
        let mut why = init::<toolcore_detail_t>();
        let mut status = pieces.feed(STREAM, &raw mut why);
        if status == TOOLCORE_OK {
            let reply = &raw mut pieces.reply;
            status = c!(toolcore_stream_finish(pieces.stream, reply, &raw mut why));
            if status == TOOLCORE_OK {
                least = least.min(size);
                assert_eq!(pieces.answered(&tools), ANSWERED);
                continue;
            }
        } else {
            assert_eq!(pieces.finish(), status, "it stays so");
            // What came before can be had, and its whole calls be run, if there is room to read it.
            if c!(toolcore_stream_rescue(pieces.stream, &raw mut pieces.reply, null_mut())) == TOOLCORE_OK {
                assert_eq!(c!(toolcore_reply_finish(pieces.reply)), TOOLCORE_FINISH_TRUNCATED);
                for index in 0..c!(toolcore_reply_len(pieces.reply)) {
                    let call = pieces.call(index);
                    let whole = text(call.arguments).ends_with('}');
                    assert_eq!(call.flags & TOOLCORE_CALL_TRUNCATED == 0, whole, "{size}");
                    rescued += usize::from(whole);
                }
            }
        }
        assert_eq!(status, TOOLCORE_ERR_NO_SPACE, "{size}");
        // Enough is enough, but for where the memory begins.
        assert!(size < least.saturating_add(16), "{size} {least}");
        assert!(why.need > size, "{size}: {}", why.need);
    }
    assert!(least < 3000 && rescued > 0, "{least} {rescued}");
    // With what is named each time it comes to an end.
    let (mut size, mut tries) = (1, 0);
    loop {
        tries += 1;
        let mut why = init::<toolcore_detail_t>();
        match Pieces::sized(CHAT, &opts, size) {
            Err((_, need)) => size = need,
            Ok(mut pieces) => {
                let reply = &raw mut pieces.reply;
                let mut status = pieces.feed(STREAM, &raw mut why);
                if status == TOOLCORE_OK {
                    status = c!(toolcore_stream_finish(pieces.stream, reply, &raw mut why));
                }
                if status == TOOLCORE_OK {
                    break;
                }
                size = why.need;
            }
        }
    }
    assert!(tries < 20, "{tries}");
}

#[test]
fn only_the_calls_are_kept_where_that_is_asked_for() {
    let opts = sized!(toolcore_stream_opts_t { flags: TOOLCORE_STREAM_CALLS_ONLY });
    let mut pieces = Pieces::new(CHAT, &opts);
    assert_eq!((pieces.feed(STREAM, null_mut()), pieces.finish()), (TOOLCORE_OK, TOOLCORE_OK));
    let reply = pieces.reply;
    assert_eq!(written(|buf, len, out| c!(toolcore_reply_text(reply, buf, len, out))), "");
    assert_eq!(pieces.answered(&Tools::usual()), ANSWERED);
    let mut len = 7;
    let mut why = init::<toolcore_detail_t>();
    let status = c!(toolcore_reply_replay(reply, null(), null_mut(), 0, &raw mut len, &raw mut why));
    assert_eq!((status, len), (TOOLCORE_ERR_UNSUPPORTED, 0));
    assert!(word(why.message.as_ptr()).contains("only the calls"));
}

#[test]
fn a_stream_that_is_finished_or_ended_takes_no_more() {
    let mut pieces = Pieces::new(CHAT, &init());
    assert_eq!((pieces.feed(STREAM, null_mut()), pieces.finish()), (TOOLCORE_OK, TOOLCORE_OK));
    let reply = pieces.reply;
    assert_eq!(pieces.feed("data: {}\n\n", null_mut()), INVALID);
    assert_eq!(c!(toolcore_stream_feed_event(pieces.stream, s("x"), s("{}"), null_mut())), INVALID);
    let mut again = core::ptr::dangling_mut();
    for end in [toolcore_stream_finish, toolcore_stream_rescue] {
        assert_eq!(c!(end(pieces.stream, &raw mut again, null_mut())), INVALID);
        assert!(again.is_null());
        assert_eq!(c!(end(pieces.stream, null_mut(), null_mut())), INVALID);
    }
    c!(toolcore_stream_deinit(pieces.stream));
    assert_eq!(pieces.feed("", null_mut()), INVALID);
    assert_eq!(c!(toolcore_reply_len(reply)), 2, "the reply lives on");
    // One that stops early, and is ended without a reply.
    assert_eq!(Pieces::new(CHAT, &init()).feed(&STREAM[..200], null_mut()), TOOLCORE_OK);
}

#[test]
fn bytes_and_buffers_lie_outside_of_the_streams_memory() {
    let mut memory = Block::new(SCRATCH);
    let (mem, mut stream, no) = (memory.ptr(), null_mut(), null_mut());
    assert_eq!(c!(toolcore_stream_init(CHAT, null(), mem, SCRATCH, &raw mut stream, no)), TOOLCORE_OK);
    let own = toolcore_str_t { ptr: mem.cast::<core::ffi::c_char>().wrapping_add(SCRATCH - 8), len: 8 };
    assert_eq!(c!(toolcore_stream_feed(stream, own, no)), INVALID);
    assert_eq!(c!(toolcore_stream_feed_event(stream, own, s("{}"), no)), INVALID);
    assert_eq!(c!(toolcore_stream_feed_event(stream, s("x"), own, no)), INVALID);
    assert_eq!(c!(toolcore_stream_feed(stream, s(STREAM), no)), TOOLCORE_OK);
    let mut reply = null_mut();
    assert_eq!(c!(toolcore_stream_finish(stream, &raw mut reply, no)), TOOLCORE_OK);
    let (buf, mut len) = (own.ptr.cast_mut(), 7);
    assert_eq!(c!(toolcore_reply_text(reply, buf, 8, &raw mut len)), INVALID);
    assert_eq!(c!(toolcore_reply_replay(reply, null(), buf, 8, &raw mut len, no)), INVALID);
    let tools = Tools::usual();
    let mut scratch = Block::new(SCRATCH);
    let answer = |mem: *mut c_void, size, buf, room, len| {
        c!(toolcore_answer_reply(tools.registry, reply, null(), mem, size, buf, room, len, no.cast(), no))
    };
    assert_eq!(answer(scratch.ptr(), SCRATCH, buf, 8, &raw mut len), INVALID);
    assert_eq!(answer(mem, SCRATCH, null_mut(), 0, &raw mut len), INVALID);
    assert_eq!(answer(scratch.ptr(), SCRATCH, null_mut(), 0, &raw mut len), TOOLCORE_OK);
    assert!(len > ANSWERED.len());
}

#[test]
fn an_error_event_has_the_words_of_the_provider() {
    let mut pieces = Pieces::new(TOOLCORE_DIALECT_ANTHROPIC, &init());
    assert_eq!(text(c!(toolcore_stream_provider_error(pieces.stream))), "");
    let event = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
        \"message\":\"Over\\u006coaded \\\"now\\\"\"}}\n\n";
    for _ in 0..2 {
        let mut why = init::<toolcore_detail_t>();
        assert_eq!(pieces.feed(event, &raw mut why), TOOLCORE_ERR_PROVIDER);
        let message = word(why.message.as_ptr());
        assert_eq!(message, "the provider answered with an error: Overloaded \"now\"");
        assert_eq!(text(c!(toolcore_stream_provider_error(pieces.stream))), "Overloaded \"now\"");
    }
    assert_eq!(pieces.finish(), TOOLCORE_ERR_PROVIDER);
    let reply = &raw mut pieces.reply;
    assert_eq!(c!(toolcore_stream_rescue(pieces.stream, reply, null_mut())), TOOLCORE_OK);
    assert_eq!(c!(toolcore_reply_len(pieces.reply)), 0);
    assert_eq!(text(c!(toolcore_stream_provider_error(pieces.stream))), "");
}

#[test]
fn bytes_that_are_no_stream_are_bad_json_and_a_dialect_without_streams_says_so() {
    let pieces = Pieces::new(CHAT, &init());
    let mut why = init::<toolcore_detail_t>();
    assert_eq!(pieces.feed("data: {\"choices\":[}\n\n", &raw mut why), TOOLCORE_ERR_BAD_JSON);
    assert!(why.reason != 0 && why.offset != usize::MAX);
    // What is known to be none when no more comes.
    for text in ["<html>502</html>", "Internal Server Error\n"] {
        let mut pieces = Pieces::new(CHAT, &init());
        assert_eq!(pieces.feed(text, null_mut()), TOOLCORE_OK);
        assert_eq!((pieces.finish(), pieces.reply.is_null()), (TOOLCORE_ERR_BAD_JSON, true), "{text}");
        assert_eq!(pieces.finish(), TOOLCORE_ERR_BAD_JSON, "it stays so");
        let reply = &raw mut pieces.reply;
        assert_eq!(c!(toolcore_stream_rescue(pieces.stream, reply, null_mut())), TOOLCORE_OK);
        assert_eq!(c!(toolcore_reply_finish(pieces.reply)), TOOLCORE_FINISH_TRUNCATED);
    }
    let no_streams = Pieces::sized(TOOLCORE_DIALECT_MCP, &init(), SCRATCH).err();
    assert_eq!(no_streams, Some((TOOLCORE_ERR_UNSUPPORTED, 0)));
}
