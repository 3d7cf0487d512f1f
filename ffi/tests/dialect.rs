//! The dialects' constants and names, and what a request says beside the tools.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::string::{String, ToString};
use std::vec::Vec;

use toolcore_core::dialect::{Dialect, NativeKind};

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::dialect::*;
use crate::status::*;
use crate::tools::*;

/// The header's constants: the name in it, and the value.
fn constants(prefix: &str) -> Vec<(String, u32)> {
    let header = include_str!("../../include/toolcore.h");
    let lines = header.lines().filter_map(|line| line.strip_prefix("#define ")?.strip_prefix(prefix));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.filter_map(|(name, value)| Some((name.to_lowercase(), value.parse().ok()?))).collect()
}

#[test]
fn every_dialect_has_one_constant_and_the_name_of_it() {
    let constants = constants("TOOLCORE_DIALECT_");
    for dialect in Dialect::ALL {
        let name = dialect.name();
        let of_it: Vec<u32> = constants.iter().filter(|(found, _)| found == name).map(|(_, n)| *n).collect();
        let [constant] = of_it[..] else { panic!("{name}: {of_it:?}") };
        assert_eq!(text(toolcore_dialect_name(constant)), name);
        assert_eq!(c!(toolcore_dialect_from_name(s(name))), constant);
        assert_eq!(known_dialect(constant), Ok(dialect));
    }
    // Those that are reserved have no name yet, and no two have one value.
    let known = constants.iter().filter(|(_, constant)| !text(toolcore_dialect_name(*constant)).is_empty());
    assert_eq!(known.count(), Dialect::ALL.len());
    let mut values: Vec<u32> = constants.iter().map(|(_, constant)| *constant).collect();
    values.sort_unstable();
    assert_eq!(values, (1..).take(values.len()).collect::<Vec<u32>>());
    for unknown in ["", "OPENAI_CHAT", "openai", "openai_chat "] {
        assert_eq!(c!(toolcore_dialect_from_name(s(unknown))), 0, "{unknown}");
    }
    assert_eq!(c!(toolcore_dialect_from_name(toolcore_str_t { ptr: null(), len: 4 })), 0);
}

/// Renders `echo` and `fail`; gives status, the members and the message of the detail.
fn render(dialect: u32, opts: &toolcore_tools_opts_t) -> (toolcore_status_t, String, String) {
    let tools = Tools::usual();
    let (mut buffer, mut len) = ([0u8; 4096], 0);
    let mut why = init::<toolcore_detail_t>();
    let (buf, size) = (buffer.as_mut_ptr().cast(), buffer.len());
    let status =
        c!(toolcore_tools_render(tools.registry, dialect, opts, buf, size, &raw mut len, &raw mut why));
    let written = String::from_utf8(buffer[..len].to_vec()).unwrap();
    (status, written, word(why.message.as_ptr()).to_string())
}

#[test]
fn the_model_may_be_held_to_some_of_the_tools() {
    let names = [s("fail")];
    let allowed = |choice| {
        sized!(toolcore_tools_opts_t { choice: choice, choice_tools: names.as_ptr(), choice_tools_len: 1 })
    };
    let (status, body, _) = render(TOOLCORE_DIALECT_OPENAI_CHAT, &allowed(TOOLCORE_CHOICE_ALLOWED_REQUIRED));
    assert_eq!(status, TOOLCORE_OK);
    let choice = r#""tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":"#;
    assert!(body.contains(choice) && body.contains(r#""name":"echo""#), "{body}");
    let (_, body, _) = render(TOOLCORE_DIALECT_OPENAI_CHAT, &allowed(TOOLCORE_CHOICE_ALLOWED));
    assert!(body.contains(r#""mode":"auto""#), "{body}");
    // Where there is no word for it, the model is told of no other tool.
    let (status, body, _) = render(TOOLCORE_DIALECT_ANTHROPIC, &allowed(TOOLCORE_CHOICE_ALLOWED_REQUIRED));
    assert_eq!(status, TOOLCORE_OK);
    assert!(!body.contains("echo") && body.contains(r#""tool_choice":{"type":"any"}"#), "{body}");
    let none = sized!(toolcore_tools_opts_t { choice: TOOLCORE_CHOICE_ALLOWED });
    assert_eq!(render(TOOLCORE_DIALECT_ANTHROPIC, &none).0, TOOLCORE_ERR_NOT_FOUND);
    let names = [s("fail"), s("nope")];
    let opts = toolcore_tools_opts_t {
        choice_tools: names.as_ptr(),
        choice_tools_len: 2,
        ..allowed(TOOLCORE_CHOICE_ALLOWED)
    };
    assert_eq!(render(TOOLCORE_DIALECT_ANTHROPIC, &opts).0, TOOLCORE_ERR_NOT_FOUND);
    for names in [null(), [toolcore_str_t { ptr: null(), len: 1 }].as_ptr()] {
        let opts = toolcore_tools_opts_t { choice_tools: names, ..allowed(TOOLCORE_CHOICE_ALLOWED) };
        assert_eq!(render(TOOLCORE_DIALECT_ANTHROPIC, &opts).0, INVALID);
    }
}

unsafe extern "C" fn keep(
    said: *mut c_void,
    tool: toolcore_str_t,
    _: toolcore_str_t,
    message: toolcore_str_t,
) {
    let said = c!(&mut *said.cast::<Vec<(String, String)>>());
    said.push((text(tool).to_string(), text(message).to_string()));
}

#[test]
fn tools_of_the_provider_are_named_configured_allowed_and_dropped() {
    let dialect = TOOLCORE_DIALECT_ANTHROPIC;
    let native =
        |kind, config: &'static str| sized!(toolcore_native_tool_t { kind: kind, config: s(config) });
    let with = |native: &[toolcore_native_tool_t], flags, dialect| {
        let opts =
            sized!(toolcore_tools_opts_t { native: native.as_ptr(), native_len: native.len(), flags: flags });
        render(dialect, &opts)
    };
    let search = native(TOOLCORE_NATIVE_WEB_SEARCH, r#"{"max_uses":2}"#);
    let (status, body, _) = with(&[search], 0, dialect);
    assert_eq!(status, TOOLCORE_OK);
    assert!(body.contains(r#""name":"web_search""#) && body.contains(r#""max_uses":2"#), "{body}");

    let code = native(TOOLCORE_NATIVE_CODE_EXECUTION, "");
    let (status, body, message) = with(&[search, code], 0, dialect);
    assert_eq!((status, &*body), (TOOLCORE_ERR_NOT_ALLOWED, ""));
    assert!(message.contains("code_execution"), "{message}");
    let (status, body, _) = with(&[search, code], TOOLCORE_RENDER_ALLOW_ACTING, dialect);
    assert!(status == TOOLCORE_OK && body.contains("code_execution"), "{body}");

    let maps = native(TOOLCORE_NATIVE_GOOGLE_MAPS, "");
    let mut said: Vec<(String, String)> = Vec::new();
    let opts = sized!(toolcore_tools_opts_t {
        native: &raw const maps,
        native_len: 1,
        note: Some(keep),
        user_data: (&raw mut said).cast(),
    });
    assert_eq!(render(dialect, &opts).0, TOOLCORE_OK);
    assert!(matches!(&said[..], [(tool, why)] if tool.is_empty() && why.contains("google_maps")), "{said:?}");
    assert_eq!(with(&[maps], TOOLCORE_RENDER_REFUSE_DROPPED, dialect).0, TOOLCORE_ERR_UNSUPPORTED);
    let no_object = native(TOOLCORE_NATIVE_WEB_SEARCH, "[]");
    assert_eq!(with(&[no_object], 0, dialect).0, TOOLCORE_ERR_BAD_JSON);
    let (status, _, message) =
        with(&[native(TOOLCORE_NATIVE_FILE_SEARCH, "{}")], 0, TOOLCORE_DIALECT_OPENAI_RESPONSES);
    assert_eq!(status, INVALID);
    assert!(message.contains("vector_store_ids"), "{message}");
}

#[test]
fn every_kind_of_tool_of_a_provider_has_one_constant() {
    let constants = constants("TOOLCORE_NATIVE_");
    for kind in NativeKind::ALL {
        let of_it: Vec<u32> =
            constants.iter().filter(|(name, _)| name == kind.name()).map(|(_, n)| *n).collect();
        let [constant] = of_it[..] else { panic!("{}: {of_it:?}", kind.name()) };
        let tool = sized!(toolcore_native_tool_t { kind: constant });
        let flags = TOOLCORE_RENDER_REFUSE_DROPPED | TOOLCORE_RENDER_ALLOW_ACTING;
        let opts = sized!(toolcore_tools_opts_t { native: &raw const tool, native_len: 1, flags: flags });
        let (status, _, message) = render(TOOLCORE_DIALECT_MCP, &opts);
        // MCP has none of them, and says which.
        assert_eq!(status, TOOLCORE_ERR_UNSUPPORTED);
        assert!(message.ends_with(kind.name()), "{message}");
    }
}

#[test]
fn the_words_of_the_provider_are_in_the_detail() {
    let tools = Tools::usual();
    let mut scratch = Block::new(SCRATCH);
    let mem = scratch.ptr();
    let reply = s(r#"{"error":{"message":"Rate \"limit\" reached","type":"requests"}}"#);
    let dialect = TOOLCORE_DIALECT_OPENAI_CHAT;
    let calls: [&dyn Fn(*mut toolcore_detail_t) -> toolcore_status_t; 3] = [
        &|why| c!(crate::reply::toolcore_reply_mem_size(dialect, reply, null(), &mut 0, why)),
        &|why| {
            c!(crate::reply::toolcore_reply_parse(dialect, reply, null(), mem, SCRATCH, &mut null_mut(), why))
        },
        &|why| {
            let (registry, no) = (tools.registry, null_mut());
            let (buf, mut len) = (null_mut(), 7);
            let out_len = &raw mut len;
            c!(crate::answer::toolcore_answer(
                registry,
                dialect,
                reply,
                null(),
                mem,
                SCRATCH,
                buf,
                0,
                out_len,
                no,
                why
            ))
        },
    ];
    for call in calls {
        let mut why = init::<toolcore_detail_t>();
        assert_eq!(call(&raw mut why), TOOLCORE_ERR_PROVIDER);
        let message = word(why.message.as_ptr());
        assert_eq!(message, r#"the provider answered with an error: Rate "limit" reached"#);
        assert_eq!(call(null_mut()), TOOLCORE_ERR_PROVIDER);
    }
}
