//! Text that is nearly JSON.

use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::call::*;
use crate::dispatch::*;
use crate::json::*;
use crate::repair::*;
use crate::result::*;
use crate::status::*;

/// The value, and what was repaired.
fn repaired(from: &str) -> (String, u32) {
    let mut repairs = 77;
    let mut len = 0;
    let mut buffer: Vec<u8> = [b'x'].repeat(from.len() + 1);
    let (buf, room, no) = (buffer.as_mut_ptr().cast(), from.len(), null_mut());
    let status = c!(toolcore_json_repair(s(from), null(), buf, room, &raw mut len, &raw mut repairs, no));
    assert_eq!(status, TOOLCORE_OK, "{from}");
    assert_eq!(buffer[from.len()], b'x');
    (String::from_utf8(buffer[..len].to_vec()).unwrap(), repairs)
}

#[test]
fn each_repair_has_its_flag_and_a_name() {
    for (from, value, repairs) in [
        (" [1, 2] ", "[1, 2]", 0),
        ("```json\n{\"a\":1}\n```", r#"{"a":1}"#, TOOLCORE_REPAIR_FENCE),
        ("{\"a\":1} Hope this helps!", r#"{"a":1}"#, TOOLCORE_REPAIR_TRAILING_TEXT),
        ("{\"a\":[1,],}", r#"{"a":[1]}"#, TOOLCORE_REPAIR_TRAILING_COMMA),
        (r#""{\"a\":1}""#, r#"{"a":1}"#, TOOLCORE_REPAIR_DOUBLE_ENCODED),
        ("```\n\"[1,]\"\n```", "[1]", 1 | 4 | 8),
    ] {
        assert_eq!(repaired(from), (value.into(), repairs));
    }
    let names: Vec<&str> = [1, 2, 4, 8].map(|flag| word(toolcore_repair_name(flag))).into();
    assert_eq!(names, ["fence", "trailing-text", "trailing-comma", "double-encoded"]);
    for none in [0, 3, 16, u32::MAX] {
        assert_eq!(word(toolcore_repair_name(none)), "");
    }
}

#[test]
fn a_text_that_stops_early_stays_an_error_of_the_text_as_it_came() {
    let latin: &[u8] = b"```\n[\"\xE9\"]```";
    let latin = toolcore_str_t { ptr: latin.as_ptr().cast(), len: latin.len() };
    for (from, offset) in [(s("{\"a\":1"), 6), (s("```json\n{\"a\":1"), 0), (s("[1] [2]"), 4), (latin, 0)] {
        let (mut why, mut len, mut repairs) = (init::<toolcore_detail_t>(), 9, 9);
        let (out, done) = (&raw mut len, &raw mut repairs);
        let status = c!(toolcore_json_repair(from, null(), null_mut(), 0, out, done, &raw mut why));
        assert_eq!((status, len, repairs, why.offset), (TOOLCORE_ERR_BAD_JSON, 0, 0, offset));
        assert_ne!(why.reason, 0);
    }
}

#[test]
fn a_buffer_that_is_too_small_names_what_would_do() {
    for from in ["  [1,2]  ", "{\"a\":[1,],} and so on", r#""{\"a\":\"\\u00e9\"}""#] {
        let expected = repaired(from).0;
        let mut measured = 0;
        let no = null_mut();
        let status =
            c!(toolcore_json_repair(s(from), null(), null_mut(), 0, &raw mut measured, null_mut(), no));
        assert_eq!(status, TOOLCORE_OK);
        assert!(measured >= expected.len() && measured <= from.len(), "{measured}");
        for size in 0..=measured {
            let (mut why, mut len) = (init::<toolcore_detail_t>(), 9);
            let mut buffer: Vec<u8> = [b'x'].repeat(size + 1);
            let (buf, out) = (buffer.as_mut_ptr().cast(), &raw mut len);
            match c!(toolcore_json_repair(s(from), null(), buf, size, out, null_mut(), &raw mut why)) {
                TOOLCORE_OK => {
                    assert_eq!(buffer.get(..len), Some(expected.as_bytes()), "{from}: {size}");
                    assert!(size == measured || size >= expected.len());
                }
                status => {
                    assert_eq!(status, TOOLCORE_ERR_NO_SPACE);
                    assert!(size < len && len <= measured && why.need == len, "{from}: {size} {len}");
                }
            }
            assert_eq!(buffer[size], b'x');
        }
    }
}

#[test]
fn lone_surrogates_are_as_the_options_say() {
    let from = s("```\n[\"\\ud83d\"]\n```");
    for (flags, expected) in [(0, TOOLCORE_ERR_BAD_JSON), (TOOLCORE_JSON_REPLACE_SURROGATES, TOOLCORE_OK)] {
        let opts = sized!(toolcore_json_opts_t { flags: flags });
        let (mut len, mut buffer, no) = (0, [0u8; 64], null_mut());
        let buf = buffer.as_mut_ptr().cast();
        let status = c!(toolcore_json_repair(from, &opts, buf, 64, &raw mut len, null_mut(), no));
        assert_eq!(status, expected);
        if status == TOOLCORE_OK {
            assert_eq!(&buffer[..len], "[\"\u{FFFD}\"]".as_bytes());
        }
    }
}

#[test]
fn a_text_in_the_buffer_is_refused() {
    let mut memory: Vec<u8> = "[1,]".bytes().collect();
    memory.resize(64, b' ');
    let from = toolcore_str_t { ptr: memory.as_ptr().cast(), len: 4 };
    let (mut len, no) = (9, null_mut());
    let buf = c!(memory.as_mut_ptr().add(3)).cast();
    let status = c!(toolcore_json_repair(from, null(), buf, 32, &raw mut len, null_mut(), no));
    assert_eq!((status, len, &memory[..4]), (INVALID, 0, &b"[1,]"[..]));
}

#[test]
fn a_result_tells_what_was_repaired_in_its_arguments() {
    let tools = Tools::usual();
    let opts = sized!(toolcore_dispatch_opts_t { flags: TOOLCORE_DISPATCH_LENIENT });
    for (arguments, repairs) in [(r#"{"text":"a"}"#, 0), ("```\n{\"text\":\"a\",}\n```", 5)] {
        let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s(arguments) });
        let mut scratch = Block::new(SCRATCH);
        let (mem, no, mut result) = (scratch.ptr(), null_mut(), null_mut());
        let status = c!(toolcore_dispatch(tools.registry, &call, &opts, mem, SCRATCH, &raw mut result, no));
        assert_eq!((status, c!(toolcore_result_repairs(result))), (TOOLCORE_OK, repairs));
        c!(toolcore_result_deinit(result));
    }
}
