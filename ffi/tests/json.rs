//! Reading and writing JSON.

use core::ffi::c_char;
use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::json::*;
use crate::json_writer::*;
use crate::status::*;

#[test]
fn values_are_found_and_read() {
    let text_ = r#" {"op":"parse","n":5.0,"list":[1,{"a/b":true}],"s":"a\u0062","f":-2.5e1,"none":null} "#;
    let json = s(text_);
    let get = |path: &str| {
        let mut out = s("was");
        let status = c!(toolcore_json_get(json, s(path), &raw mut out));
        assert!(status == TOOLCORE_OK || out.len == 0);
        (status == TOOLCORE_OK).then(|| text(out))
    };
    assert_eq!(get("op"), Some("\"parse\""));
    assert_eq!(get("/list/1/a~1b"), Some("true"));
    assert_eq!((get("nope"), get("/list/2"), get("/op/x")), (None, None, None));
    for (path, kind) in [
        ("list", TOOLCORE_JSON_ARRAY),
        ("/list/1", TOOLCORE_JSON_OBJECT),
        ("s", TOOLCORE_JSON_STRING),
        ("n", TOOLCORE_JSON_NUMBER),
        ("/list/1/a~1b", TOOLCORE_JSON_BOOLEAN),
        ("none", TOOLCORE_JSON_NULL),
    ] {
        assert_eq!(c!(toolcore_json_kind(s(get(path).unwrap()))), kind, "{path}");
    }
    let (mut i, mut u, mut f, mut b) = (0, 0, 0.0, false);
    assert_eq!((c!(toolcore_json_i64(s("5.0"), &raw mut i)), i), (TOOLCORE_OK, 5));
    assert_eq!((c!(toolcore_json_u64(s("1e2"), &raw mut u)), u), (TOOLCORE_OK, 100));
    assert_eq!((c!(toolcore_json_f64(s("-2.5e1"), &raw mut f)), f), (TOOLCORE_OK, -25.0));
    assert_eq!((c!(toolcore_json_bool(s("true"), &raw mut b)), b), (TOOLCORE_OK, true));
    assert_eq!(c!(toolcore_json_i64(s("5.5"), &raw mut i)), TOOLCORE_ERR_WRONG_TYPE);
    assert_eq!(c!(toolcore_json_i64(s("1e99"), &raw mut i)), TOOLCORE_ERR_OUT_OF_RANGE);
    assert_eq!(c!(toolcore_json_u64(s("-1"), &raw mut u)), TOOLCORE_ERR_OUT_OF_RANGE);
    assert_eq!(c!(toolcore_json_f64(s("1e999"), &raw mut f)), TOOLCORE_ERR_OUT_OF_RANGE);
    assert_eq!(c!(toolcore_json_bool(s("1"), &raw mut b)), TOOLCORE_ERR_WRONG_TYPE);
    assert_eq!(c!(toolcore_json_i64(s("{"), &raw mut i)), TOOLCORE_ERR_BAD_JSON);
    assert_eq!((i, u, f), (5, 100, -25.0));
    assert_eq!(c!(toolcore_json_string(s("7"), null_mut(), 0, &mut 0)), TOOLCORE_ERR_WRONG_TYPE);
    assert!(c!(toolcore_json_string_is(s(get("s").unwrap()), s("ab"))));
    assert!(!c!(toolcore_json_string_is(s(get("s").unwrap()), s("abc"))));
    assert!(!c!(toolcore_json_string_is(s("5"), s("5"))));
}

/// Walks over a container: keys and values.
fn walk(json: &str) -> Option<Vec<(&str, &str)>> {
    let mut iter = c!(core::mem::zeroed::<toolcore_json_iter_t>());
    let status = c!(toolcore_json_iter_init(&raw mut iter, s(json)));
    let (mut key, mut value) = (toolcore_str_t::EMPTY, toolcore_str_t::EMPTY);
    let mut found = Vec::new();
    while c!(toolcore_json_iter_next(&raw mut iter, &raw mut key, &raw mut value)) {
        found.push((text(key), text(value)));
    }
    assert!(!c!(toolcore_json_iter_next(&raw mut iter, null_mut(), &raw mut value)), "it stays at its end");
    assert_eq!(value.len, 0);
    (status == TOOLCORE_OK).then_some(found)
}

#[test]
fn a_walk_visits_each_element() {
    assert_eq!(
        walk(" [ 1 , [2,3],\"x,y\" ,{} ] ").unwrap(),
        [("", "1"), ("", "[2,3]"), ("", "\"x,y\""), ("", "{}")]
    );
    assert_eq!(
        walk(r#"{ "a" : 1 , "b\"c":{"d":[]}, "": null }"#).unwrap(),
        [("\"a\"", "1"), (r#""b\"c""#, r#"{"d":[]}"#), ("\"\"", "null")]
    );
    assert_eq!(walk("[]").unwrap(), []);
    assert_eq!(walk("{ }").unwrap(), []);
    assert_eq!(walk("5"), None);
    assert_eq!(walk("[1,"), None);
}

/// Writes what `parts` write.
fn write(parts: impl Fn(*mut toolcore_json_writer_t)) -> Result<String, toolcore_status_t> {
    let run = |buf: *mut c_char, size: usize, len: *mut usize| {
        let mut writer = c!(core::mem::zeroed::<toolcore_json_writer_t>());
        assert_eq!(c!(toolcore_json_writer_init(&raw mut writer, buf, size)), TOOLCORE_OK);
        parts(&raw mut writer);
        let status = c!(toolcore_json_writer_end(&raw mut writer, len));
        assert_eq!(c!(toolcore_json_writer_end(&raw mut writer, len)), INVALID, "it has ended");
        status
    };
    let mut buffer: Vec<u8> = [b'x'].repeat(512);
    let mut len = 0;
    match run(buffer.as_mut_ptr().cast(), 512, &raw mut len) {
        TOOLCORE_OK => {}
        status => return Err(status),
    }
    let mut writer_len = 0;
    assert_eq!(run(null_mut(), 0, &raw mut writer_len), TOOLCORE_OK);
    Ok(String::from_utf8(buffer[..buffer.iter().position(|byte| *byte == 0).unwrap()].into()).unwrap())
}

#[test]
fn what_is_written_is_json() {
    let text = write(|w| {
        c!(toolcore_json_writer_object_start(w));
        c!(toolcore_json_writer_key(w, s("a\"")));
        c!(toolcore_json_writer_array_start(w));
        c!(toolcore_json_writer_i64(w, -1));
        c!(toolcore_json_writer_u64(w, u64::MAX));
        c!(toolcore_json_writer_f64(w, 0.5));
        c!(toolcore_json_writer_bool(w, 1));
        c!(toolcore_json_writer_bool(w, 0));
        c!(toolcore_json_writer_null(w));
        c!(toolcore_json_writer_array_end(w));
        c!(toolcore_json_writer_key(w, s("b")));
        c!(toolcore_json_writer_raw(w, s(" [1, 2] ")));
        c!(toolcore_json_writer_key(w, s("c")));
        c!(toolcore_json_writer_object_start(w));
        c!(toolcore_json_writer_object_end(w));
        c!(toolcore_json_writer_key(w, s("d")));
        c!(toolcore_json_writer_string(w, s("tab\té")));
        c!(toolcore_json_writer_object_end(w));
    });
    let expected = r#"{"a\"":[-1,18446744073709551615,0.5,true,false,null],"b":[1, 2],"c":{},"d":"tab\té"}"#;
    assert_eq!(text.as_deref(), Ok(expected));
    assert_eq!(c!(toolcore_json_validate(s(expected), null(), null_mut())), TOOLCORE_OK);
}

#[test]
fn a_text_that_is_not_whole_is_a_status() {
    assert_eq!(write(|_| ()), Err(INVALID));
    assert_eq!(write(|w| assert_eq!(c!(toolcore_json_writer_array_start(w)), TOOLCORE_OK)), Err(INVALID));
    assert_eq!(write(|w| assert_eq!(c!(toolcore_json_writer_object_end(w)), INVALID)), Err(INVALID));
    assert_eq!(
        write(|w| assert_eq!(c!(toolcore_json_writer_f64(w, f64::NAN)), TOOLCORE_ERR_OUT_OF_RANGE)),
        Err(TOOLCORE_ERR_OUT_OF_RANGE)
    );
    assert_eq!(
        write(|w| {
            assert_eq!(c!(toolcore_json_writer_raw(w, s("[1,]"))), TOOLCORE_ERR_BAD_JSON);
            assert_eq!(c!(toolcore_json_writer_null(w)), TOOLCORE_ERR_BAD_JSON);
        }),
        Err(TOOLCORE_ERR_BAD_JSON)
    );
}

/// A piece of JSON, written.
type Write = fn(*mut toolcore_json_writer_t) -> toolcore_status_t;

const OBJECT: Write = |w| c!(toolcore_json_writer_object_start(w));
const OBJECT_END: Write = |w| c!(toolcore_json_writer_object_end(w));
const ARRAY: Write = |w| c!(toolcore_json_writer_array_start(w));
const ARRAY_END: Write = |w| c!(toolcore_json_writer_array_end(w));
const KEY: Write = |w| c!(toolcore_json_writer_key(w, s("k")));
const VALUES: [Write; 7] = [
    |w| c!(toolcore_json_writer_string(w, s("v"))),
    |w| c!(toolcore_json_writer_raw(w, s("[1]"))),
    |w| c!(toolcore_json_writer_i64(w, -1)),
    |w| c!(toolcore_json_writer_u64(w, 1)),
    |w| c!(toolcore_json_writer_f64(w, 0.5)),
    |w| c!(toolcore_json_writer_bool(w, 1)),
    |w| c!(toolcore_json_writer_null(w)),
];

#[test]
fn a_piece_where_none_may_stand_is_a_failure_that_is_kept() {
    for value in VALUES {
        let misplaced: &[(&[Write], Write)] = &[
            // {], [}, ], }
            (&[OBJECT], ARRAY_END),
            (&[ARRAY], OBJECT_END),
            (&[ARRAY, OBJECT, OBJECT_END], OBJECT_END),
            (&[OBJECT, KEY, ARRAY, ARRAY_END], ARRAY_END),
            (&[], ARRAY_END),
            // 1,2
            (&[value], value),
            (&[value], OBJECT),
            (&[OBJECT, OBJECT_END], value),
            (&[OBJECT, OBJECT_END], ARRAY),
            (&[OBJECT, OBJECT_END], OBJECT_END),
            // {1}, {"k":1,2}
            (&[OBJECT], value),
            (&[OBJECT], ARRAY),
            (&[OBJECT, KEY, value], value),
            // {"k":}, {"k":"k":
            (&[OBJECT, KEY], OBJECT_END),
            (&[OBJECT, KEY], KEY),
            // "k":, ["k":
            (&[], KEY),
            (&[ARRAY], KEY),
            (&[ARRAY, value], KEY),
            (&[value], KEY),
            (&[OBJECT, KEY, ARRAY], KEY),
        ];
        for (index, (before, wrong)) in misplaced.iter().enumerate() {
            let written = write(|w| {
                for piece in *before {
                    assert_eq!(piece(w), TOOLCORE_OK, "{index}");
                }
                assert_eq!(wrong(w), INVALID, "{index}");
                // What would have been right comes too late.
                for piece in [OBJECT, KEY, value, OBJECT_END, ARRAY_END] {
                    assert_eq!(piece(w), INVALID, "{index}");
                }
            });
            assert_eq!(written, Err(INVALID), "{index}");
        }
        for whole in [
            &[value][..],
            &[ARRAY, value, value, OBJECT, KEY, value, KEY, OBJECT, OBJECT_END, OBJECT_END, value, ARRAY_END],
        ] {
            let text = write(|w| whole.iter().for_each(|piece| assert_eq!(piece(w), TOOLCORE_OK))).unwrap();
            assert_eq!(c!(toolcore_json_validate(s(&text), null(), null_mut())), TOOLCORE_OK, "{text}");
        }
    }
}

#[test]
fn containers_are_told_apart_at_each_depth() {
    let most = TOOLCORE_JSON_WRITER_DEPTH_MAX as usize;
    let is_object = |depth: usize| depth.is_multiple_of(3) || depth % 32 == 31;
    let open = |w, depth| {
        for depth in 0..depth {
            let pieces: &[Write] = if is_object(depth) { &[OBJECT, KEY] } else { &[ARRAY] };
            for piece in pieces {
                assert_eq!(piece(w), TOOLCORE_OK, "{depth}");
            }
        }
    };
    for depth in 1..=most {
        let text = write(|w| {
            open(w, depth);
            assert_eq!(VALUES[6](w), TOOLCORE_OK);
            for depth in (0..depth).rev() {
                let end = if is_object(depth) { OBJECT_END } else { ARRAY_END };
                assert_eq!(end(w), TOOLCORE_OK, "{depth}");
            }
        });
        assert_eq!(c!(toolcore_json_validate(s(&text.unwrap()), null(), null_mut())), TOOLCORE_OK, "{depth}");
        let wrong = if is_object(depth - 1) { ARRAY_END } else { OBJECT_END };
        let refused = write(|w| {
            open(w, depth);
            assert_eq!(VALUES[6](w), TOOLCORE_OK);
            assert_eq!(wrong(w), INVALID, "{depth}");
        });
        assert_eq!(refused, Err(INVALID));
    }
    let refused = write(|w| {
        open(w, most);
        assert_eq!(ARRAY(w), INVALID);
    });
    assert_eq!(refused, Err(INVALID));
}

#[test]
fn a_lone_surrogate_passes_where_there_are_no_options() {
    let lone = s(r#"{"a":"x\ud800"}"#);
    assert_eq!(c!(toolcore_json_validate(lone, null(), null_mut())), TOOLCORE_ERR_BAD_JSON);
    assert_eq!(c!(toolcore_json_kind(lone)), TOOLCORE_JSON_OBJECT);
    let mut value = toolcore_str_t::EMPTY;
    assert_eq!(c!(toolcore_json_get(lone, s("a"), &raw mut value)), TOOLCORE_OK);
    assert_eq!(written(|buf, len, out| c!(toolcore_json_string(value, buf, len, out))), "x\u{FFFD}");
    assert_eq!(walk(text(lone)).unwrap(), [("\"a\"", r#""x\ud800""#)]);
    assert_eq!(
        write(|w| assert_eq!(c!(toolcore_json_writer_raw(w, lone)), TOOLCORE_OK)).as_deref(),
        Ok(text(lone))
    );
}
