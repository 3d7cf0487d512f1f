//! Making an instance fit a schema.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::format;
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::coerce::*;
use crate::json::TOOLCORE_JSON_REPLACE_SURROGATES;
use crate::schema::*;
use crate::status::*;

unsafe extern "C" fn changed(told: *mut c_void, path: toolcore_str_t, rule: toolcore_str_t) {
    c!((*told.cast::<Vec<String>>()).push(format!("{} {}", text(path), text(rule))));
}

/// A schema in memory of its own.
struct Compiled {
    schema: *mut toolcore_schema_t,
    _memory: Block,
}

fn compiled(schema_text: &'static str) -> Compiled {
    let mut memory = Block::new(4096);
    let (mem, mut schema, no) = (memory.ptr(), null_mut(), null_mut());
    assert_eq!(c!(toolcore_schema_init(s(schema_text), null(), mem, 4096, &raw mut schema, no)), TOOLCORE_OK);
    Compiled { schema, _memory: memory }
}

/// What is accepted, and what was changed.
fn coerced(schema: &Compiled, instance: &'static str, flags: u32) -> (String, Vec<String>) {
    let mut told = Vec::<String>::new();
    let opts = sized!(toolcore_coerce_opts_t {
        flags: flags,
        changed: Some(changed),
        user_data: (&raw mut told).cast()
    });
    let size = c!(toolcore_schema_coerce_scratch_size(schema.schema, &opts));
    let mut scratch = Block::new(size);
    let mem = scratch.ptr();
    let run = |buf, len, out: &mut usize, mem| {
        c!(toolcore_schema_coerce(schema.schema, s(instance), &opts, mem, size, buf, len, out, null_mut()))
    };
    let (mut len, mut wrote) = (0, 0);
    assert_eq!(run(null_mut(), 0, &mut len, mem), TOOLCORE_OK);
    // Measuring tells nothing.
    assert_eq!(told, <Vec<String>>::new());
    let mut buffer: Vec<u8> = [0].repeat(len);
    assert_eq!(run(buffer.as_mut_ptr().cast(), len, &mut wrote, mem), TOOLCORE_OK);
    assert!(wrote <= len);
    buffer.truncate(wrote);
    let accepted = String::from_utf8(buffer).unwrap();
    (accepted, told)
}

const TYPES: &str = r#"{"properties":{"n":{"type":"integer"},"b":{"type":"boolean"},"s":{"type":"string"},
    "l":{"type":"array","items":{"type":"integer"}},"d":{"default":"m"}}}"#;

#[test]
fn each_change_is_told_and_what_fits_is_not_touched() {
    let schema = compiled(TYPES);
    let (accepted, told) = coerced(&schema, r#"{"n":" 5 ","b":"YES","s":7,"l":["1",2],"d":null}"#, 0);
    assert_eq!(accepted, r#"{"n":5,"b":true,"s":7,"l":[1,2],"d":null}"#);
    assert_eq!(told, ["/n integer-from-string", "/b boolean-from-string", "/l/0 integer-from-string"]);
    let (accepted, told) = coerced(&schema, " { \"n\" : 5, \"d\":1 }\n", 0);
    assert_eq!((accepted.as_str(), told.len()), (r#"{ "n" : 5, "d":1 }"#, 0));
}

#[test]
fn flags_say_what_else_is_done_and_what_is_not() {
    let schema = compiled(TYPES);
    let twice = r#"{"n":"1","n":"2","l":3,"d":0}"#;
    for (flags, expected, changes) in [
        (0, r#"{"n":1,"n":2,"l":3,"d":0}"#, 2),
        (TOOLCORE_COERCE_LAST_WINS, r#"{"n":2,"l":3,"d":0}"#, 2),
        (TOOLCORE_COERCE_WRAP_SCALARS, r#"{"n":1,"n":2,"l":[3],"d":0}"#, 3),
        (TOOLCORE_COERCE_KEEP_VALUES, twice, 0),
        (TOOLCORE_COERCE_KEEP_VALUES | TOOLCORE_COERCE_LAST_WINS, r#"{"n":"2","l":3,"d":0}"#, 1),
    ] {
        let (accepted, told) = coerced(&schema, twice, flags);
        assert_eq!((accepted.as_str(), told.len()), (expected, changes), "{flags}: {told:?}");
    }
}

#[test]
fn an_instance_that_is_not_json_is_named_with_its_place() {
    let schema = compiled("true");
    let latin: &[u8] = b"[1,\"\xE9\"]";
    let latin = toolcore_str_t { ptr: latin.as_ptr().cast(), len: latin.len() };
    let lone = s(r#"["\ud83d"]"#);
    for (instance, flags, expected, offset) in [
        (s("[1,]"), 0, TOOLCORE_ERR_BAD_JSON, 3),
        (latin, 0, TOOLCORE_ERR_BAD_JSON, 4),
        (lone, 0, TOOLCORE_ERR_BAD_JSON, 2),
        (lone, TOOLCORE_JSON_REPLACE_SURROGATES, TOOLCORE_OK, usize::MAX),
    ] {
        let opts = sized!(toolcore_coerce_opts_t { flags: flags });
        let (mut why, mut len) = (init::<toolcore_detail_t>(), 9);
        let (no, out, detail) = (null_mut(), &raw mut len, &raw mut why);
        let status =
            c!(toolcore_schema_coerce(schema.schema, instance, &opts, null_mut(), 0, no, 0, out, detail));
        assert_eq!((status, why.offset), (expected, offset));
        assert_eq!(len, if status == TOOLCORE_OK { instance.len } else { 0 });
    }
}

#[test]
fn too_little_of_either_memory_names_what_would_do() {
    let schema = compiled(r#"{"items":{"items":{"items":{"type":"integer"}}}}"#);
    let instance = s(r#"[[["1","2"],[3]]]"#);
    let most = c!(toolcore_schema_coerce_scratch_size(schema.schema, null()));
    let (mut enough_scratch, mut enough) = (0, 0);
    for size in 0..most {
        let mut scratch = Block::new(size);
        let (mut why, mut len) = (init::<toolcore_detail_t>(), 9);
        let (mem, no, out) = (scratch.ptr(), null_mut(), &raw mut len);
        match c!(toolcore_schema_coerce(schema.schema, instance, null(), mem, size, no, 0, out, &raw mut why))
        {
            TOOLCORE_OK => {
                (enough_scratch, enough) = (size, len);
                break;
            }
            status => assert_eq!((status, len), (TOOLCORE_ERR_NO_SPACE, 0)),
        }
        assert!(why.need > size && why.need <= most, "{}", why.need);
    }
    // Eight words for each array around another, wherever the memory begins.
    assert!((64..=67).contains(&enough_scratch), "{enough_scratch}");
    // A text before and one after a reading, and a little.
    assert!(enough >= 2 * instance.len, "{enough}");
    for size in 0..=enough {
        let mut scratch = Block::new(most);
        let (mut why, mut len) = (init::<toolcore_detail_t>(), 9);
        let mut buffer: Vec<u8> = [b'x'].repeat(size + 1);
        let (mem, buf, out) = (scratch.ptr(), buffer.as_mut_ptr().cast(), &raw mut len);
        let why = &raw mut why;
        let status =
            c!(toolcore_schema_coerce(schema.schema, instance, null(), mem, most, buf, size, out, why));
        assert_eq!(buffer[size], b'x');
        if status == TOOLCORE_OK {
            assert_eq!(&buffer[..len], b"[[[1,2],[3]]]", "{size}");
        } else {
            let need = c!((*why).need);
            assert_eq!((status, len, need), (TOOLCORE_ERR_NO_SPACE, enough, enough), "{size}");
            assert!(size < enough);
            // What is there cannot be taken for a text.
            assert!(size == 0 || buffer[0] == 0);
        }
    }
}

#[test]
fn steps_are_bounded() {
    let schema = compiled(r#"{"items":{"type":"integer"}}"#);
    let instance: String = format!("[{}]", Vec::from(["\"1\""; 100]).join(","));
    let opts = sized!(toolcore_coerce_opts_t { max_steps: 20 });
    let mut scratch = Block::new(4096);
    let (mut len, buf, no) = (0, null_mut(), null_mut());
    let mem = scratch.ptr();
    let (instance, out) = (s(&instance), &raw mut len);
    let status = c!(toolcore_schema_coerce(schema.schema, instance, &opts, mem, 4096, buf, 0, out, no));
    assert_eq!((status, len), (TOOLCORE_ERR_OUT_OF_RANGE, 0));
}

#[test]
fn an_instance_in_memory_that_is_written_is_refused() {
    let schema = compiled("true");
    let mut memory: Vec<u8> = "[1]".bytes().collect();
    memory.resize(64, b' ');
    let start = memory.as_mut_ptr();
    let at = |offset: usize| c!(start.add(offset)).cast::<c_void>();
    let instance = toolcore_str_t { ptr: start.cast(), len: 3 };
    let mut other = [0u32; 16];
    let free = other.as_mut_ptr().cast::<c_void>();
    for (instance, scratch, buf) in [
        (instance, free, at(2)),
        (instance, at(2), free),
        (s("[1]"), at(8), at(31)),
        (s("[1]"), at(31), at(8)),
    ] {
        let (mut len, no) = (9, null_mut());
        let (buf, out) = (buf.cast(), &raw mut len);
        let status =
            c!(toolcore_schema_coerce(schema.schema, instance, null(), scratch, 24, buf, 24, out, no));
        assert_eq!((status, len), (INVALID, 0));
    }
    assert_eq!(&memory[..3], b"[1]");
}
