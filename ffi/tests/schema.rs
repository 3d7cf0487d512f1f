//! A schema by itself.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::schema::*;
use crate::status::*;

/// Path, keyword and message of a violation.
type Told = Vec<[String; 3]>;

unsafe extern "C" fn tell(
    told: *mut c_void,
    path: toolcore_str_t,
    keyword: toolcore_str_t,
    message: toolcore_str_t,
) {
    c!((*told.cast::<Told>()).push([path, keyword, message].map(|part| text(part).into())));
}

#[test]
fn every_problem_is_told() {
    let schema_text = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["b"]}"#;
    let mut need = 0;
    assert_eq!(c!(toolcore_schema_mem_size(s(schema_text), null(), &raw mut need, null_mut())), TOOLCORE_OK);
    let mut memory = Block::new(need);
    let mut schema = null_mut();
    let (mem, no) = (memory.ptr(), null_mut());
    assert_eq!(c!(toolcore_schema_init(s(schema_text), null(), mem, need, &raw mut schema, no)), TOOLCORE_OK);
    let mut told = Told::new();
    let opts = sized!(toolcore_check_opts_t { violation: Some(tell), user_data: (&raw mut told).cast() });
    let size = c!(toolcore_schema_scratch_size(schema, &opts));
    let mut scratch = Block::new(size);
    for (instance, fits) in [(r#"{"a":1,"b":2}"#, true), (r#"{"a":"x"}"#, false)] {
        let mut valid = !fits;
        let mem = scratch.ptr();
        let status = c!(toolcore_schema_check(schema, s(instance), &opts, mem, size, &raw mut valid, no));
        assert_eq!((status, valid), (TOOLCORE_OK, fits), "{instance}");
    }
    assert_eq!(told[0], ["/a", "type", "expected integer, got string \"x\""]);
    assert_eq!(told[1], ["/b", "required", "required"]);
    assert_eq!(told.len(), 2);
    let mut valid = true;
    let status = c!(toolcore_schema_check(schema, s("7"), null(), scratch.ptr(), size, &raw mut valid, no));
    assert_eq!((status, valid), (TOOLCORE_OK, false));
    c!(toolcore_schema_deinit(schema));
}

#[test]
fn a_sentence_that_is_cut_says_so() {
    let names: Vec<String> = (0..100).map(|number| std::format!("\"{number:040}\":true")).collect();
    let schema_text =
        std::format!(r#"{{"properties":{{{}}},"additionalProperties":false}}"#, names.join(","));
    let mut memory = Block::new(16 << 10);
    let (mut schema, mut told, no) = (null_mut(), Told::new(), null_mut());
    let mem = memory.ptr();
    let status = c!(toolcore_schema_init(s(&schema_text), null(), mem, 16 << 10, &raw mut schema, no));
    assert_eq!(status, TOOLCORE_OK);
    let opts = sized!(toolcore_check_opts_t { violation: Some(tell), user_data: (&raw mut told).cast() });
    let size = c!(toolcore_schema_scratch_size(schema, &opts));
    let (mut scratch, mut valid) = (Block::new(size), true);
    let long = std::format!(r#"{{"{}":1}}"#, "k".repeat(300));
    let mem = scratch.ptr();
    let status = c!(toolcore_schema_check(schema, s(&long), &opts, mem, size, &raw mut valid, no));
    assert_eq!((status, valid), (TOOLCORE_OK, false));
    let [path, _, message] = &told[0];
    assert!(path.len() <= 255 && path.starts_with("/kkk") && path.ends_with("k…"), "{path}");
    assert!(message.len() <= 255 && message.ends_with('…'), "{message}");
    c!(toolcore_schema_deinit(schema));
}

unsafe extern "C" fn locate(
    told: *mut c_void,
    path: toolcore_str_t,
    keyword: toolcore_str_t,
    message: toolcore_str_t,
    schema_path: toolcore_str_t,
) {
    let texts = [path, keyword, message, schema_path].map(|part| String::from(text(part)));
    c!((*told.cast::<Vec<[String; 4]>>()).push(texts));
}

/// A problem that is told without its place.
unsafe extern "C" fn not_located(told: *mut c_void, _: toolcore_str_t, _: toolcore_str_t, _: toolcore_str_t) {
    c!((*told.cast::<Vec<[String; 4]>>()).push(Default::default()));
}

#[test]
fn a_problem_is_located_in_the_schema() {
    let schema_text = r##"{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##;
    let mut memory = Block::new(4096);
    let (mem, mut schema, no) = (memory.ptr(), null_mut(), null_mut());
    assert_eq!(c!(toolcore_schema_init(s(schema_text), null(), mem, 4096, &raw mut schema, no)), TOOLCORE_OK);
    let mut told: Vec<[String; 4]> = Vec::new();
    let opts = sized!(toolcore_check_opts_t {
        violation: Some(not_located),
        located: Some(locate),
        user_data: (&raw mut told).cast()
    });
    let mut scratch = Block::new(1 << 14);
    let (work, mut valid) = (scratch.ptr(), true);
    let instance = s(r#"{"a":"x"}"#);
    let status = c!(toolcore_schema_check(schema, instance, &opts, work, 1 << 14, &raw mut valid, no));
    assert_eq!((status, valid), (TOOLCORE_OK, false));
    assert_eq!(told, [["/a", "type", "expected integer, got string \"x\"", "/$defs/n/type"]]);
}

#[test]
fn scratch_that_is_too_small_names_what_would_do() {
    let schema_text = r#"{"properties":{"a":{"properties":{"b":{"properties":{"c":{"type":"integer"}}}}}}}"#;
    let mut memory = Block::new(4096);
    let mut schema = null_mut();
    let (mem, no) = (memory.ptr(), null_mut());
    assert_eq!(c!(toolcore_schema_init(s(schema_text), null(), mem, 4096, &raw mut schema, no)), TOOLCORE_OK);
    let enough = c!(toolcore_schema_scratch_size(schema, null()));
    assert!(enough > 0);
    let instance = s(r#"{"a":{"b":{"c":1}}}"#);
    let (mut size, mut valid) = (0, false);
    while size < enough {
        let mut why = init::<toolcore_detail_t>();
        let mut scratch = Block::new(size);
        let mem = scratch.ptr();
        match c!(toolcore_schema_check(schema, instance, null(), mem, size, &raw mut valid, &raw mut why)) {
            TOOLCORE_OK => break,
            status => assert_eq!((status, valid), (TOOLCORE_ERR_NO_SPACE, false)),
        }
        assert!(why.need > size);
        size = why.need;
    }
    let mut scratch = Block::new(enough);
    let status =
        c!(toolcore_schema_check(schema, instance, null(), scratch.ptr(), enough, &raw mut valid, no));
    assert_eq!((status, valid), (TOOLCORE_OK, true));
}

#[test]
fn steps_are_bounded() {
    let values: Vec<String> = (0..100).map(|n| std::format!("[{n}]")).collect();
    let schema_text = std::format!(r#"{{"items":{{"enum":[{}]}}}}"#, values.join(","));
    let mut memory = Block::new(1 << 15);
    let mut schema = null_mut();
    let (mem, no) = (memory.ptr(), null_mut());
    assert_eq!(
        c!(toolcore_schema_init(s(&schema_text), null(), mem, 1 << 15, &raw mut schema, no)),
        TOOLCORE_OK
    );
    let instance = std::format!("[{}]", values.join(","));
    let mut scratch = Block::new(4096);
    for (max_steps, expected) in [(0, TOOLCORE_OK), (3, TOOLCORE_ERR_OUT_OF_RANGE)] {
        let opts = sized!(toolcore_check_opts_t { max_steps: max_steps });
        let mut valid = true;
        let mem = scratch.ptr();
        let status = c!(toolcore_schema_check(schema, s(&instance), &opts, mem, 4096, &raw mut valid, no));
        assert_eq!((status, valid), (expected, expected == TOOLCORE_OK));
    }
}

#[test]
fn measuring_does_not_follow_references_and_is_never_too_little() {
    for (schema_text, expected) in [
        (r##"{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"integer"}}}"##, TOOLCORE_OK),
        (
            r##"{"properties":{"a":{"$ref":"#/properties/a/items"},"b":{"items":true}}}"##,
            TOOLCORE_ERR_BAD_SCHEMA,
        ),
        (r##"{"properties":{"a":{"$ref":"#/$defs/nowhere"}}}"##, TOOLCORE_ERR_BAD_SCHEMA),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
            TOOLCORE_ERR_BAD_SCHEMA,
        ),
        (r#"{"enum":[1,1,{"a":[2]}],"minimum":5,"properties":{"a":true,"b":{"enum":["x"]}}}"#, TOOLCORE_OK),
    ] {
        let (mut need, mut schema, no) = (0, null_mut(), null_mut());
        let status = c!(toolcore_schema_mem_size(s(schema_text), null(), &raw mut need, no));
        assert_eq!(status, TOOLCORE_OK, "{schema_text}");
        let mut memory = Block::new(need);
        let mem = memory.ptr();
        let status = c!(toolcore_schema_init(s(schema_text), null(), mem, need, &raw mut schema, no));
        assert_eq!(status, expected, "{schema_text}");
    }
}
