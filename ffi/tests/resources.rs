//! Documents that schemas refer to: who keeps them, and what is said when something in them is wrong.

use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::resources::*;
use crate::schema::*;
use crate::status::*;

const UNITS: &str = r#"{"$defs":{"unit":{"enum":["c","f"]},"bad":{"type":7},"lost":{"$ref":"nowhere"}}}"#;

fn document(uri: &'static str, text: &'static str) -> toolcore_resource_t {
    sized!(toolcore_resource_t { uri: s(uri), text: s(text) })
}

/// A set in memory of its own.
struct Set {
    set: *mut toolcore_resources_t,
    _memory: Block,
}

impl Set {
    fn of(list: &[toolcore_resource_t]) -> Set {
        let size = toolcore_resources_mem_size(list.len());
        let mut memory = Block::new(size);
        let (mut set, mem, no) = (null_mut(), memory.ptr(), null_mut());
        let status = c!(toolcore_resources_init(list.as_ptr(), list.len(), mem, size, &raw mut set, no));
        assert_eq!(status, TOOLCORE_OK);
        Set { set, _memory: memory }
    }

    fn units() -> Set {
        Set::of(&[
            document("https://example.com/first", "true"),
            document("https://example.com/units", UNITS),
        ])
    }
}

/// The text of what was wrong.
fn message(why: &toolcore_detail_t) -> String {
    word(why.message.as_ptr()).into()
}

/// How the schema's init ends with these resources, and the verdict of an instance.
fn verdict(schema_text: &'static str, set: &Set, instance: &'static str) -> (toolcore_status_t, bool) {
    let opts = sized!(toolcore_schema_opts_t { resources: set.set });
    let (mut need, mut schema, no) = (0, null_mut(), null_mut());
    assert_eq!(c!(toolcore_schema_mem_size(s(schema_text), &opts, &raw mut need, no)), TOOLCORE_OK);
    let mut memory = Block::new(need);
    let mem = memory.ptr();
    let status = c!(toolcore_schema_init(s(schema_text), &opts, mem, need, &raw mut schema, no));
    if status != TOOLCORE_OK {
        return (status, false);
    }
    assert!(c!(toolcore_schema_size(schema)) <= need);
    let size = c!(toolcore_schema_scratch_size(schema, null()));
    let mut scratch = Block::new(size);
    let mut valid = false;
    let mem = scratch.ptr();
    let status = c!(toolcore_schema_check(schema, s(instance), null(), mem, size, &raw mut valid, no));
    c!(toolcore_schema_deinit(schema));
    (status, valid)
}

#[test]
fn one_set_serves_many_schemas() {
    let set = Set::units();
    for schema in [
        r#"{"items":{"$ref":"https://example.com/units#/$defs/unit"}}"#,
        r#"{"$id":"https://example.com/x/y","items":{"$ref":"../units#/$defs/unit"}}"#,
    ] {
        assert_eq!(verdict(schema, &set, r#"["c"]"#), (TOOLCORE_OK, true));
        assert_eq!(verdict(schema, &set, r#"["k"]"#), (TOOLCORE_OK, false));
    }
    c!(toolcore_resources_deinit(set.set));
}

#[test]
fn a_set_that_has_ended_is_an_invalid_argument() {
    let set = Set::units();
    c!(toolcore_resources_deinit(set.set));
    let opts = sized!(toolcore_schema_opts_t { resources: set.set });
    let (mut need, no) = (7, null_mut());
    assert_eq!(c!(toolcore_schema_mem_size(s("{}"), &opts, &raw mut need, no)), INVALID);
    assert_eq!(need, 0);
}

#[test]
fn what_is_wrong_is_named_with_its_document() {
    let set = Set::units();
    let opts = sized!(toolcore_schema_opts_t { resources: set.set });
    for (schema_text, place, resource, at) in [
        (
            r#"{"$ref":"https://example.com/units#/$defs/bad"}"#,
            "https://example.com/units#/$defs/bad/type",
            2,
            UNITS.find(r#""type""#),
        ),
        (
            r#"{"$ref":"https://example.com/units#/$defs/lost"}"#,
            "https://example.com/units#/$defs/lost/$ref",
            2,
            UNITS.find(r#""nowhere""#),
        ),
        (r#"{"not":{"$ref":"https://example.com/x"}}"#, "/not/$ref", 0, Some(16 - 4)),
    ] {
        let mut why = init::<toolcore_detail_t>();
        let mut memory = Block::new(1 << 16);
        let (mem, mut schema) = (memory.ptr(), null_mut());
        let status =
            c!(toolcore_schema_init(s(schema_text), &opts, mem, 1 << 16, &raw mut schema, &raw mut why));
        assert_eq!((status, schema), (TOOLCORE_ERR_BAD_SCHEMA, null_mut()), "{schema_text}");
        let message = message(&why);
        assert_eq!(message.get(..why.place_len), Some(place), "{message}");
        assert_eq!(message.get(why.place_len..why.place_len + 2), Some(": "), "{message}");
        assert_eq!(why.resource, resource, "{message}");
        assert!(at.is_some_and(|at| why.offset.abs_diff(at) <= 10), "{} {at:?}", why.offset);
    }
}

#[test]
fn a_document_that_is_no_json_is_named_when_the_set_is_made() {
    let mut memory = Block::new(4096);
    let mem = memory.ptr();
    let latin: &[u8] = b"\"\xE9\"";
    let latin = toolcore_str_t { ptr: latin.as_ptr().cast(), len: latin.len() };
    let good = document("https://example.com/first", "true");
    for (bad, status, offset) in [
        (document("https://example.com/b", r#"{"a":}"#), TOOLCORE_ERR_BAD_JSON, 5),
        (document("https://example.com/b", ""), TOOLCORE_ERR_BAD_JSON, 0),
        (toolcore_resource_t { text: latin, ..good }, TOOLCORE_ERR_INVALID_UTF8, usize::MAX),
        (toolcore_resource_t { uri: latin, ..good }, TOOLCORE_ERR_INVALID_UTF8, usize::MAX),
    ] {
        let mut why = init::<toolcore_detail_t>();
        let mut set = core::ptr::dangling_mut();
        let list = [good, bad];
        let got = c!(toolcore_resources_init(list.as_ptr(), 2, mem, 4096, &raw mut set, &raw mut why));
        assert_eq!((got, set), (status, null_mut()));
        assert_eq!((why.resource, why.offset), (2, offset));
        if status == TOOLCORE_ERR_BAD_JSON {
            assert!(message(&why).starts_with("https://example.com/b: not JSON: "), "{}", message(&why));
            assert_ne!(why.reason, 0);
        }
    }
}

#[test]
fn memory_that_is_too_small_names_what_would_do() {
    let list = [document("https://example.com/a", "true"), document("https://example.com/b", "{}")];
    for len in 0..=2 {
        let enough = toolcore_resources_mem_size(len);
        for size in 1..=enough {
            let mut memory = Block::new(size);
            let (mem, mut set, mut why) = (memory.ptr(), null_mut(), init::<toolcore_detail_t>());
            match c!(toolcore_resources_init(list.as_ptr(), len, mem, size, &raw mut set, &raw mut why)) {
                TOOLCORE_OK => {
                    assert!(!set.is_null());
                    c!(toolcore_resources_deinit(set));
                }
                status => {
                    assert_eq!((status, set), (TOOLCORE_ERR_NO_SPACE, null_mut()));
                    assert!(size < enough);
                    assert_eq!(why.need, enough);
                }
            }
        }
    }
    assert_eq!(toolcore_resources_mem_size(usize::MAX), usize::MAX);
}

#[test]
fn texts_in_memory_that_is_written_are_refused() {
    let mut memory: Vec<u8> = "{}".bytes().collect();
    memory.resize(4096, 0);
    let inside = toolcore_str_t { ptr: memory.as_ptr().cast(), len: 2 };
    let (mem, no) = (memory.as_mut_ptr().cast(), null_mut());
    let list = [toolcore_resource_t { text: inside, ..document("https://example.com/a", "true") }];
    let status = c!(toolcore_resources_init(list.as_ptr(), 1, mem, 4096, &mut null_mut(), no));
    assert_eq!(status, INVALID);
    // A document of a set that lies where a schema is to be.
    let mut memory: Vec<u8> = "{}".bytes().collect();
    memory.resize(4096, 0);
    let inside = toolcore_str_t { ptr: memory.as_ptr().cast(), len: 2 };
    let set = Set::of(&[toolcore_resource_t { text: inside, ..document("https://example.com/a", "true") }]);
    let opts = sized!(toolcore_schema_opts_t { resources: set.set });
    let (mem, mut schema) = (memory.as_mut_ptr().cast(), null_mut());
    assert_eq!(c!(toolcore_schema_init(s("true"), &opts, mem, 4096, &raw mut schema, no)), INVALID);
    assert_eq!((&memory[..2], schema), (&b"{}"[..], null_mut()));
}

#[cfg(feature = "format")]
#[test]
fn formats_are_asserted_on_request() {
    for (flags, expected) in [(0, true), (TOOLCORE_SCHEMA_ASSERT_FORMATS, false)] {
        let opts = sized!(toolcore_schema_opts_t { flags: flags });
        let (mut schema, no, mut valid) = (null_mut(), null_mut(), !expected);
        let mut memory = Block::new(1024);
        let text = s(r#"{"format":"date"}"#);
        let mem = memory.ptr();
        assert_eq!(c!(toolcore_schema_init(text, &opts, mem, 1024, &raw mut schema, no)), TOOLCORE_OK);
        let instance = s(r#""2024-13-01""#);
        let status = c!(toolcore_schema_check(schema, instance, null(), null_mut(), 0, &raw mut valid, no));
        assert_eq!((status, valid), (TOOLCORE_OK, expected));
    }
}

#[test]
fn what_a_schema_takes_is_exactly_what_was_told() {
    let mut overheads = Vec::new();
    for schema_text in [
        "true",
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":3},"b":{"enum":["x"]}},"required":["a"]}"#,
        r#"{"anyOf":[{"required":["a"]},{"items":{"maxLength":5}}],"uniqueItems":true}"#,
    ] {
        let (mut need, mut schema, no) = (0, null_mut(), null_mut());
        assert_eq!(c!(toolcore_schema_mem_size(s(schema_text), null(), &raw mut need, no)), TOOLCORE_OK);
        // One byte less does not do where the memory begins one byte beyond an aligned place.
        let mut memory: Vec<u64> = [0].repeat(need / 8 + 2);
        let mem = c!(memory.as_mut_ptr().cast::<u8>().add(1)).cast();
        let mut why = init::<toolcore_detail_t>();
        let status =
            c!(toolcore_schema_init(s(schema_text), null(), mem, need - 1, &raw mut schema, &raw mut why));
        assert_eq!((status, why.need), (TOOLCORE_ERR_NO_SPACE, need), "{schema_text}");
        assert_eq!(
            c!(toolcore_schema_init(s(schema_text), null(), mem, need, &raw mut schema, no)),
            TOOLCORE_OK
        );
        assert_eq!(c!(toolcore_schema_size(schema)), need, "{schema_text}");
        let options = toolcore_core::schema::CompileOptions::default();
        overheads.push(need - toolcore_core::schema::program_size(schema_text, &options).unwrap());
        c!(toolcore_schema_deinit(schema));
    }
    overheads.dedup();
    assert_eq!(overheads.len(), 1, "{overheads:?}");
}
