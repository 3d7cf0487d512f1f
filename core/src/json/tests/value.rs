//! Lazy values: what they say, members, pointers both ways.

use crate::json::{Kind, Options, Value, parse, pointer_at};
use crate::sink::Sink;
use std::string::String;

fn value(text: &str) -> Value<'_> {
    parse(text.as_bytes(), &Options::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_value_is_its_exact_text() {
    for (text, kind) in [
        ("{ \"a\" : 1 }", Kind::Object),
        ("[1 , 2]", Kind::Array),
        ("\"\\n\"", Kind::String),
        ("-1.50e+3", Kind::Number),
        ("false", Kind::Bool),
        ("null", Kind::Null),
    ] {
        let padded = std::format!(" \t\r\n{text}\n ");
        assert_eq!((value(&padded).raw(), value(&padded).kind()), (text, kind));
        assert_eq!(value(text).as_str().is_some(), kind == Kind::String);
        assert_eq!(value(text).as_number().is_some(), kind == Kind::Number);
        assert_eq!(value(text).as_bool().is_some(), kind == Kind::Bool);
        assert_eq!(value(text).is_null(), kind == Kind::Null);
        assert_eq!(value(text).entries().count(), usize::from(kind == Kind::Object));
        assert_eq!(value(text).items().count(), if kind == Kind::Array { 2 } else { 0 });
    }
    assert_eq!(Value::empty_object().entries().count(), 0);
}

#[test]
fn members_are_found_by_their_decoded_key_and_the_first_wins() {
    let object = value(r#"{"a":1, "\u0062" : [2] ,"c":{"a":3},"a":4,"":5,"\n":6}"#);
    for (key, expected) in [
        ("a", Some("1")),
        ("b", Some("[2]")),
        ("c", Some(r#"{"a":3}"#)),
        ("", Some("5")),
        ("\n", Some("6")),
        ("\\n", None),
        ("d", None),
    ] {
        assert_eq!(object.get(key).map(Value::raw), expected, "{key:?}");
    }
    assert!(object.entries().map(|(key, _)| key.raw()).eq(["a", "\\u0062", "c", "a", "", "\\n"]));
    assert_eq!(value("[1, [2,3] ,{}]").item(1).map(Value::raw), Some("[2,3]"));
    assert!(value("[1]").item(1).is_none());
    assert!(value("[1]").get("0").is_none());
}

#[test]
fn walking_goes_on_from_a_position() {
    let (object, array) = (value(r#"{"a":1 , "b":[2]}"#), value("[1, [2] ,3]"));
    let mut entries = object.entries();
    assert_eq!(entries.next().unwrap().0.raw(), "a");
    let mut entries = object.entries_from(entries.position());
    assert_eq!(entries.next().unwrap().0.raw(), "b");
    assert!(object.entries_from(entries.position()).next().is_none());
    let mut position = 0;
    for expected in ["1", "[2]", "3"] {
        let mut items = array.items_from(position);
        assert_eq!(items.next().unwrap().raw(), expected);
        position = items.position();
    }
    assert!(array.items_from(position).next().is_none());
    for position in 0..30 {
        let _ = (object.entries_from(position).count(), array.items_from(position).count());
        assert_eq!(object.items_from(position).count() + array.entries_from(position).count(), 0);
    }
}

/// RFC 6901, section 5.
#[test]
fn pointers_are_those_of_the_rfc() {
    let text =
        r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
    for (pointer, expected) in [
        ("", Some(text)),
        ("/foo", Some(r#"["bar","baz"]"#)),
        ("/foo/0", Some("\"bar\"")),
        ("/", Some("0")),
        ("/a~1b", Some("1")),
        ("/c%d", Some("2")),
        ("/e^f", Some("3")),
        ("/g|h", Some("4")),
        ("/i\\j", Some("5")),
        ("/k\"l", Some("6")),
        ("/ ", Some("7")),
        ("/m~0n", Some("8")),
        ("foo", None),
        ("/foo/2", None),
        ("/foo/-", None),
        ("/foo/01", None),
        ("/foo/+1", None),
        ("/foo/", None),
        ("/foo/0/x", None),
        ("/m~n", Some("8")),
    ] {
        assert_eq!(value(text).pointer(pointer).map(Value::raw), expected, "{pointer}");
    }
}

fn pointer_to(text: &str, offset: usize) -> String {
    let mut buffer = [0; 64];
    let mut sink = Sink::new(&mut buffer);
    pointer_at(text, offset, &mut sink);
    sink.finish().unwrap().into()
}

#[test]
fn a_place_in_the_text_has_a_pointer() {
    let text = r#" {"a/b":{"~":[10, {"x":true}]}, "\u0063" : "d"} "#;
    for (part, pointer) in [
        ("{\"a", ""),
        ("\"a/b", "/a~1b"),
        ("{\"~", "/a~1b"),
        ("\"~", "/a~1b/~0"),
        ("[10", "/a~1b/~0"),
        ("10", "/a~1b/~0/0"),
        ("{\"x", "/a~1b/~0/1"),
        ("\"x", "/a~1b/~0/1/x"),
        ("true", "/a~1b/~0/1/x"),
        ("\"\\u0063", "/c"),
        ("\"d\"", "/c"),
    ] {
        assert_eq!(pointer_to(text, text.find(part).unwrap()), pointer, "{part}");
    }
    assert_eq!(pointer_to(text, text.len()), "");
}

#[test]
fn every_value_points_to_itself() {
    let text = r#"[{"a":[1,[2,{"b":{}}]],"c":"x"},[],[[[null]]],{"d~/":{"":0}}]"#;
    for offset in 0..text.len() {
        let pointer = pointer_to(text, offset);
        let found = value(text).pointer(&pointer).unwrap_or_else(|| panic!("{pointer}"));
        let start = found.raw().as_ptr().addr() - text.as_ptr().addr();
        // The text of the member or value, its key included, holds the place.
        assert!(offset < start + found.raw().len(), "{offset}: {pointer}");
        assert_eq!(pointer_to(text, start), pointer);
    }
}

#[test]
fn garbage_ends() {
    for raw in ["", "{", "[", "[,", "{\"a\"", "{\"a\":", "{1", "[1 2", "[[[", "\"", "]", "{}}", "[1,"] {
        let value = Value::from_checked(raw);
        assert!(value.entries().count() + value.items().count() <= 2);
        assert!(value.pointer("/a/0").is_none());
        let _ = (value.as_str(), value.as_number(), value.as_bool(), value.kind());
        pointer_to(raw, 1);
    }
}
