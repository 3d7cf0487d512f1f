//! How a handler gets its arguments: paths, decoding, numbers, and errors that name the argument.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::Cell;

use common::{Memory, boxed, dispatched, echo, open, try_dispatch, with_schema};
use toolcore::call::{ArgError, Args, ToolCall};
use toolcore::dispatch::DispatchOptions;
use toolcore::json::Kind;
use toolcore::result::OutcomeKind;
use toolcore::schema::{CheckOptions, Coercion};
use toolcore::tool::{Failure, ToolDefinition};

/// Runs `check` in a handler over these arguments, and gives what the model reads.
fn with_args(arguments: &str, check: impl Fn(&Args<'_>) -> Result<(), ArgError>) -> (OutcomeKind, String) {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|call, _| {
        check(&call.args)?;
        Ok(())
    });
    tools.add(&open("a"), run).unwrap();
    dispatched(&tools, "a", arguments)
}

fn passes(arguments: &str, check: impl Fn(&Args<'_>)) {
    let outcome = with_args(arguments, |args| {
        check(args);
        Ok(())
    });
    assert_eq!(outcome, (OutcomeKind::Answered, String::new()), "{arguments}");
}

#[test]
fn a_bare_name_is_taken_whole_and_a_slash_begins_a_json_pointer() {
    let arguments = r#"{"kubernetes.io/name":"x","a":{"b":[10,20],"c/d":1,"e~f":2,"":3},"":5,"/lead":7,
        "a.b":8,"\u0068ost":"escaped key"}"#;
    passes(arguments, |args| {
        assert_eq!(args.str("kubernetes.io/name"), Ok("x"));
        assert_eq!(args.i64("a.b"), Ok(8));
        assert_eq!(args.i64(""), Ok(5));
        assert_eq!(args.i64("/"), Ok(5));
        assert_eq!(args.i64("/a/b/1"), Ok(20));
        assert_eq!(args.i64("/a/c~1d"), Ok(1));
        assert_eq!(args.i64("/a/e~0f"), Ok(2));
        assert_eq!(args.i64("/a/"), Ok(3));
        assert_eq!(args.i64("/~1lead"), Ok(7));
        assert_eq!(args.str("host"), Ok("escaped key"));
        assert_eq!(args.str("/host"), Ok("escaped key"));
        assert_eq!(args.json("/a/b"), Ok("[10,20]"));
        for path in
            ["a/b", "/a/b/2", "/a/b/01", "/a/b/-", "/a/b/+1", "/a/b/1/x", "/lead", "/A", "b", "/a/~", "a.b.c"]
        {
            assert_eq!(args.json(path), Err(ArgError::Missing), "{path}");
            assert!(args.get(path).is_none(), "{path}");
        }
    });
}

#[test]
fn strings_are_decoded_and_emoji_arrive_however_they_were_written() {
    let arguments = "{\"plain\":\"caf\u{e9} \u{1f600}\",\"escaped\":\"caf\\u00e9 \\ud83d\\ude00 \\\"q\\\" \\\\ \\/ \
                     \\b\\f\\n\\r\\t\",\"nul\":\"a\\u0000b\",\"empty\":\"\"}";
    passes(arguments, |args| {
        assert_eq!(args.str("plain"), Ok("caf\u{e9} \u{1f600}"));
        assert_eq!(args.str("escaped"), Ok("caf\u{e9} \u{1f600} \"q\" \\ / \u{8}\u{c}\n\r\t"));
        assert_eq!(args.str("nul"), Ok("a\0b"));
        assert_eq!(args.str("empty"), Ok(""));
        assert_eq!(args.raw_str("nul").unwrap().raw(), "a\\u0000b");
        assert_eq!(args.json("empty"), Ok("\"\""));
    });
}

#[test]
fn numbers_are_exact_to_the_last_digit() {
    let arguments = r#"{"2^53+1":9007199254740993,"2^63-1":9223372036854775807,"2^63":9223372036854775808,
        "-2^63":-9223372036854775808,"-2^63-1":-9223372036854775809,"2^64-1":18446744073709551615,
        "2^64":18446744073709551616,"5.0":5.0,"1e2":1e2,"1200e-2":1200e-2,"5.5":5.5,"-1":-1,"-0":-0,
        "1e999":1e999,"-1e999":-1e999,"1e-999":1e-999,"huge":123456789012345678901234567890,
        "wide":100000000000000000000e-2}"#;
    const OUT: ArgError = ArgError::OutOfRange;
    const FRACTION: ArgError = ArgError::NotInteger;
    passes(arguments, |args| {
        for (name, signed, unsigned) in [
            ("2^53+1", Ok(9_007_199_254_740_993), Ok(9_007_199_254_740_993)),
            ("2^63-1", Ok(i64::MAX), Ok(9_223_372_036_854_775_807)),
            ("2^63", Err(OUT), Ok(9_223_372_036_854_775_808)),
            ("-2^63", Ok(i64::MIN), Err(OUT)),
            ("-2^63-1", Err(OUT), Err(OUT)),
            ("2^64-1", Err(OUT), Ok(u64::MAX)),
            ("2^64", Err(OUT), Err(OUT)),
            ("5.0", Ok(5), Ok(5)),
            ("1e2", Ok(100), Ok(100)),
            ("1200e-2", Ok(12), Ok(12)),
            ("5.5", Err(FRACTION), Err(FRACTION)),
            ("-1", Ok(-1), Err(OUT)),
            ("-0", Ok(0), Ok(0)),
            ("1e999", Err(OUT), Err(OUT)),
            ("1e-999", Err(FRACTION), Err(FRACTION)),
            ("huge", Err(OUT), Err(OUT)),
            ("wide", Ok(1_000_000_000_000_000_000), Ok(1_000_000_000_000_000_000)),
        ] {
            assert_eq!(args.i64(name), signed, "{name}");
            assert_eq!(args.u64(name), unsigned, "{name}");
        }
        assert_eq!(args.f64("5.5"), Ok(5.5));
        assert_eq!(args.f64("-1"), Ok(-1.0));
        assert_eq!(args.f64("2^53+1"), Ok(9_007_199_254_740_992.0));
        assert_eq!(args.f64("1e-999"), Ok(0.0));
        assert_eq!((args.f64("1e999"), args.f64("-1e999")), (Err(OUT), Err(OUT)));
        assert_eq!(args.number("huge").unwrap().raw(), "123456789012345678901234567890");
        assert_eq!(args.json("1e999"), Ok("1e999"));
    });
}

#[test]
fn a_value_of_another_type_is_not_converted() {
    let arguments = r#"{"s":"5","n":5,"b":true,"z":null,"o":{},"l":[]}"#;
    let wrong = |expected, got| Err(ArgError::WrongType { expected, got });
    passes(arguments, |args| {
        assert_eq!(args.i64("s").map(|_| ()), wrong("number", Kind::String));
        assert_eq!(args.u64("b").map(|_| ()), wrong("number", Kind::Bool));
        assert_eq!(args.f64("z").map(|_| ()), wrong("number", Kind::Null));
        assert_eq!(args.str("n").map(|_| ()), wrong("string", Kind::Number));
        assert_eq!(args.str("l").map(|_| ()), wrong("string", Kind::Array));
        assert_eq!(args.bool("n").map(|_| ()), wrong("boolean", Kind::Number));
        assert_eq!(args.bool("o").map(|_| ()), wrong("boolean", Kind::Object));
        assert_eq!(args.bool("b"), Ok(true));
        assert_eq!((args.json("z"), args.json("o")), (Ok("null"), Ok("{}")));
    });
}

/// The text is ours to word; that it names the argument and says what is wrong is not.
#[test]
fn a_handler_that_returns_a_getters_error_tells_the_model_which_argument_was_meant() {
    let arguments = r#"{"n":"x","half":0.5,"big":1e30,"deep":{"er":[null]}}"#;
    type Get = fn(&Args<'_>) -> Result<(), ArgError>;
    let getters: [(Get, &str, &str); 6] = [
        (|args| args.i64("n").map(|_| ()), "'n'", "expected number, got string"),
        (|args| args.i64("half").map(|_| ()), "'half'", "fraction"),
        (|args| args.u64("big").map(|_| ()), "'big'", "range"),
        (|args| args.str("/deep/er/0").map(|_| ()), "'/deep/er/0'", "expected string, got null"),
        (|args| args.bool("none").map(|_| ()), "'none'", "missing"),
        (|args| args.json("/deep/no").map(|_| ()), "'/deep/no'", "missing"),
    ];
    for (get, path, what) in getters {
        let (kind, text) = with_args(arguments, get);
        assert_eq!(kind, OutcomeKind::ToolFailed);
        assert!(
            text.starts_with("Tool error: ") && text.contains(path) && text.contains(what),
            "{path}: {text}"
        );
    }
    // The last getter that failed is the one that is named, and one that succeeds names nothing.
    let (_, text) = with_args(arguments, |args| {
        args.i64("n").unwrap_err();
        args.str("n").unwrap();
        args.bool("half").map(|_| ())
    });
    assert!(text.contains("'half'") && !text.contains("'n'"), "{text}");
}

#[test]
fn a_string_that_does_not_fit_the_scratch_is_an_error_and_can_be_read_another_way() {
    let long = "\\n".repeat(4000);
    let arguments = format!("{{\"long\":\"{long}\"}}");
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|call, result| {
        assert_eq!(call.args.raw_str("long").unwrap().char_count(), 4000);
        Ok(result.text(call.args.str("long")?)?)
    });
    tools.add(&open("a"), run).unwrap();
    let (mut words, mut bytes) = ([0; 64], [0; 1000]);
    let scratch = toolcore::scratch::Scratch::new(&mut words, &mut bytes);
    let call = toolcore::call::ToolCall { name: "a", arguments: &arguments, ..Default::default() };
    let result = toolcore::dispatch::dispatch(&tools, &call, &Default::default(), scratch).unwrap();
    let text = common::written(&result);
    assert_eq!(result.kind(), OutcomeKind::ToolFailed);
    assert!(text.contains("'long'") && text.contains("4000"), "{text}");
}

#[test]
fn a_handlers_own_message_is_what_the_model_reads() {
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let run = boxed(|call, _| match call.args.bool("ok") {
        Ok(true) => Ok(()),
        _ => Err(Failure::from("say that it is ok")),
    });
    tools.add(&open("a"), run).unwrap();
    assert_eq!(
        dispatched(&tools, "a", "{}"),
        (OutcomeKind::ToolFailed, "Tool error: say that it is ok".into())
    );
    assert_eq!(dispatched(&tools, "a", r#"{"ok":true}"#).0, OutcomeKind::Answered);
}

#[test]
fn a_callback_never_sees_less_than_the_changes_that_were_told() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"anyOf":[{"type":"integer"},{"type":"null"}]},"c":{"default":3}}}"#;
    let tool = ToolDefinition { coerce: true, ..with_schema("f", schema) };
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&tool, echo()).unwrap();
    let call = ToolCall { name: "f", arguments: r#"{"a":"1","b":"2"}"#, ..ToolCall::default() };
    let (mut answered, mut refused) = (0, 0);
    for steps in 0..100 {
        let told = Cell::new(0);
        let changed = |_: &ToolCall<'_>, _: &Coercion<'_>| told.set(told.get() + 1);
        let check = CheckOptions { steps, ..CheckOptions::default() };
        let options = DispatchOptions { changed: Some(&changed), check, ..DispatchOptions::default() };
        let (kind, text) = try_dispatch(&tools, &call, &options).unwrap();
        if kind == OutcomeKind::Answered {
            assert_eq!((text.as_str(), told.get()), (r#"json {"a":1,"b":2,"c":3}"#, 3));
            answered += 1;
        } else if told.get() > 0 {
            assert_eq!(text, NOT_CHECKED);
            refused += 1;
        }
    }
    assert!(answered > 0 && refused > 0, "{answered} {refused}");
}

/// It is not the model's fault, so its arguments are not called wrong.
#[test]
fn arguments_that_take_too_many_steps_are_not_called_wrong() {
    let tool = with_schema("f", r#"{"properties":{"a":{"enum":["a","b","c"]}}}"#);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    tools.add(&tool, echo()).unwrap();
    let call = ToolCall { name: "f", arguments: r#"{"x":1,"y":2,"a":"c"}"#, ..ToolCall::default() };
    let run = |steps| {
        let check = CheckOptions { steps, ..CheckOptions::default() };
        try_dispatch(&tools, &call, &DispatchOptions { check, ..DispatchOptions::default() }).unwrap()
    };
    assert_eq!(run(1), (OutcomeKind::BadArguments, NOT_CHECKED.into()));
    assert_eq!(run(1000).0, OutcomeKind::Answered);
}

const NOT_CHECKED: &str =
    "Tool error: The arguments for 'f' could not be checked within the budget of steps.";
