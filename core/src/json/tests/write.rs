//! Writing: commas, escapes, strings in parts, floats.

use crate::json::{
    MAX_DEPTH, NotFinite, Options, Str, Surrogates, Value, Writer, escaped_len, escaped_prefix,
};
use crate::sink::Sink;

/// What `write` writes.
fn written(write: impl FnOnce(&mut Writer<'_, '_>), buffer: &mut [u8]) -> &str {
    let mut sink = Sink::new(buffer);
    write(&mut Writer::new(&mut sink));
    sink.finish().unwrap()
}

#[test]
fn commas_come_by_themselves() {
    let mut buffer = [0; 256];
    let text = written(
        |json| {
            json.object_start();
            json.key("a");
            json.array_start();
            json.array_end();
            json.key("b");
            json.object_start();
            json.object_end();
            json.key("c");
            json.array_start();
            json.u64(u64::MAX);
            json.i64(i64::MIN);
            json.bool(true);
            json.null();
            json.raw("[1,2]");
            json.string("");
            json.array_start();
            json.object_start();
            json.object_end();
            json.object_start();
            json.object_end();
            json.array_end();
            json.array_end();
            json.key_str(Str::new(r"\u0064"));
            json.str(Str::new(r"\/"));
            json.object_end();
        },
        &mut buffer,
    );
    let expected = concat!(
        r#"{"a":[],"b":{},"c":[18446744073709551615,-9223372036854775808,true,null,[1,2],"",[{},{}]],"#,
        r#""\u0064":"\/"}"#
    );
    assert_eq!(text, expected);
}

#[test]
fn only_quotes_backslashes_and_control_characters_are_escaped() {
    for (text, escaped) in [
        ("", ""),
        ("plain /'", "plain /'"),
        ("\"\\", r#"\"\\"#),
        ("\u{8}\u{c}\n\r\t", r"\b\f\n\r\t"),
        ("\0\u{1f}\u{7f}", "\\u0000\\u001f\u{7f}"),
        ("é\u{2028}😀", "é\u{2028}😀"),
    ] {
        let mut buffer = [0; 64];
        let json = written(|json| json.string(text), &mut buffer);
        assert_eq!(json, std::format!("\"{escaped}\""));
        assert_eq!(escaped_len(text), escaped.len());
    }
}

#[test]
fn a_string_is_made_of_parts() {
    let mut buffer = [0; 64];
    let text = written(
        |json| {
            json.array_start();
            json.string_start();
            json.string_part("data:;base64,");
            json.string_base64(b"foob");
            json.string_part("\n");
            json.string_str(Str::new(r"\u00e9\ud83d!"));
            json.string_end();
            json.null();
            json.array_end();
        },
        &mut buffer,
    );
    assert_eq!(text, "[\"data:;base64,Zm9vYg==\\n\\u00e9\u{fffd}!\",null]");
}

/// RFC 4648, section 10.
#[test]
fn base64_is_that_of_the_rfc() {
    for (bytes, text) in [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ] {
        let mut buffer = [0; 16];
        assert_eq!(written(|json| json.string_base64(bytes.as_bytes()), &mut buffer), text);
    }
}

#[test]
fn floats_are_short_and_read_back_the_same() {
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1e300, "1e300"),
        (1.5e-7, "1.5e-7"),
        (f64::MAX, "1.7976931348623157e308"),
        (5e-324, "5e-324"),
    ] {
        let mut buffer = [0; 32];
        assert_eq!(written(|json| json.f64(value).unwrap(), &mut buffer), text);
        assert_eq!(text.parse(), Ok(value));
    }
    let mut sink = Sink::measure();
    assert_eq!(Writer::new(&mut sink).f64(f64::NAN), Err(NotFinite));
    assert_eq!(sink.len(), 0);
}

#[test]
fn a_value_is_copied_onto_one_line() {
    let text = " {\n \"a\" : [ 1.50 , true ,\tnull, \"x\\ud83d \\n\" ] ,\r\n \"b\" : { } } ";
    let options = Options { max_depth: MAX_DEPTH, surrogates: Surrogates::Replace };
    let value = crate::json::parse(text.as_bytes(), &options).unwrap();
    let mut buffer = [0; 64];
    let copy = written(|json| json.value(value), &mut buffer);
    assert_eq!(copy, "{\"a\":[1.50,true,null,\"x\u{fffd} \\n\"],\"b\":{}}");
}

#[test]
fn a_prefix_is_cut_between_characters_so_that_it_fits_escaped() {
    for (text, room, prefix) in [
        ("abc", 3, "abc"),
        ("abc", 2, "ab"),
        ("a\nb", 2, "a"),
        ("a\nb", 3, "a\n"),
        ("\u{1}x", 5, ""),
        ("é€", 4, "é"),
        ("é€", 5, "é€"),
        ("", 0, ""),
    ] {
        assert_eq!(escaped_prefix(text, room), prefix);
    }
}

#[test]
fn a_value_is_written_without_blanks_and_with_its_escapes_also_inside_a_string() {
    let source = " { \"a \\\" b\" : [ 1 , \"\\ud800x\\u00e9 \" , { } ] ,\n\"\\\\\":null } ";
    let value = Value::from_checked(source);
    let mut buffer = [0; 128];
    let mut sink = Sink::new(&mut buffer);
    let mut json = Writer::new(&mut sink);
    json.array_start();
    json.value(value);
    json.string_start();
    json.string_value(value);
    json.string_end();
    json.array_end();
    let plain = "{\"a \\\" b\":[1,\"\u{fffd}x\\u00e9 \",{}],\"\\\\\":null}";
    let quoted = plain.replace('\\', "\\\\").replace('"', "\\\"");
    assert_eq!(sink.finish().unwrap(), std::format!("[{plain},\"{quoted}\"]"));
}
