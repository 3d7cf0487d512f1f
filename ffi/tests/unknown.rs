//! A constant, a flag or a reserved field that this version does not know is not supported.

use core::ptr::{null, null_mut};
use std::string::String;
use std::vec::Vec;

use super::support::*;
use crate::abi::CStruct;
use crate::answer::*;
use crate::call::*;
use crate::coerce::*;
use crate::context::*;
use crate::dialect::*;
use crate::dispatch::*;
use crate::inflight::*;
use crate::json::*;
use crate::registry::*;
use crate::repair::*;
use crate::reply::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::stream::*;
use crate::tool::*;
use crate::tools::*;
use crate::turn::*;
use crate::version::*;

const UNSUPPORTED: toolcore_status_t = TOOLCORE_ERR_UNSUPPORTED;

/// The struct with one field set.
fn with<T: CStruct>(set: impl FnOnce(&mut T)) -> T {
    let mut value = init();
    set(&mut value);
    value
}

#[test]
fn fields() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let mut scratch = Block::new(1 << 15);
    let mem = scratch.ptr();
    let (no, size, mut len) = (null_mut(), 1 << 15, 0);
    let len = &raw mut len;
    let dialect = TOOLCORE_DIALECT_ANTHROPIC;
    let mut all: Vec<toolcore_status_t> = Vec::new();

    for opts in [
        with(|opts: &mut toolcore_registry_opts_t| opts.collision = 2),
        with(|opts: &mut toolcore_registry_opts_t| opts.default_draft = 2),
        with(|opts: &mut toolcore_registry_opts_t| opts.flags = 2),
    ] {
        assert_eq!(c!(toolcore_registry_mem_size(&opts)), 0);
        all.push(c!(toolcore_registry_init(&opts, mem, size, &mut null_mut())));
    }
    for param in [
        with(|param: &mut toolcore_param_t| param.flags = 8),
        with(|param: &mut toolcore_param_t| param.r#type = 0),
        with(|param: &mut toolcore_param_t| param.r#type = 8),
    ] {
        let param = toolcore_param_t { name: s("p"), ..param };
        all.push(tools.add(&toolcore_tool_t { params: &raw const param, params_len: 1, ..tool("x", fail) }));
    }
    for opts in [
        with(|opts: &mut toolcore_tools_opts_t| opts.choice = 7),
        with(|opts: &mut toolcore_tools_opts_t| opts.parallel = 3),
        with(|opts: &mut toolcore_tools_opts_t| opts.flags = 64),
        with(|opts: &mut toolcore_tools_opts_t| opts.choice_tools_len = TOOLCORE_CHOICE_TOOLS_MAX + 1),
        with(|opts: &mut toolcore_tools_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_tools_render(registry, dialect, &opts, null_mut(), 0, len, no)));
    }
    for tool in [
        with(|tool: &mut toolcore_native_tool_t| tool.kind = 0),
        with(|tool: &mut toolcore_native_tool_t| tool.kind = 8),
        with(|tool: &mut toolcore_native_tool_t| (tool.kind, tool.reserved) = (1, 1)),
    ] {
        let opts = sized!(toolcore_tools_opts_t { native: &raw const tool, native_len: 1 });
        all.push(c!(toolcore_tools_render(registry, dialect, &opts, null_mut(), 0, len, no)));
    }
    let native = [with(|tool: &mut toolcore_native_tool_t| tool.kind = 1); TOOLCORE_NATIVE_TOOLS_MAX + 1];
    let opts = sized!(toolcore_tools_opts_t { native: native.as_ptr(), native_len: native.len() });
    all.push(c!(toolcore_tools_render(registry, dialect, &opts, null_mut(), 0, len, no)));
    for opts in [
        with(|opts: &mut toolcore_answer_opts_t| opts.flags = 8),
        with(|opts: &mut toolcore_answer_opts_t| opts.reserved2 = 1),
    ] {
        let reply = s(REPLY);
        all.push(c!(toolcore_answer(
            registry,
            dialect,
            reply,
            &opts,
            mem,
            size,
            null_mut(),
            0,
            len,
            null_mut(),
            no
        )));
    }
    for opts in [
        with(|opts: &mut toolcore_reply_opts_t| opts.flags = 2),
        with(|opts: &mut toolcore_reply_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_reply_parse(dialect, s(REPLY), &opts, mem, size, &mut null_mut(), no)));
    }
    let mut reply = null_mut();
    assert_eq!(
        c!(toolcore_reply_parse(dialect, s(REPLY), null(), mem, size, &raw mut reply, no)),
        TOOLCORE_OK
    );
    for opts in [
        with(|opts: &mut toolcore_replay_opts_t| opts.flags = 2),
        with(|opts: &mut toolcore_replay_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_reply_replay(reply, &opts, null_mut(), 0, len, no)));
        all.push(c!(toolcore_turn_render(dialect, s("x"), null(), 0, &opts, null_mut(), 0, len, no)));
    }
    for opts in [
        with(|opts: &mut toolcore_stream_opts_t| opts.flags = 4),
        with(|opts: &mut toolcore_stream_opts_t| opts.reserved = 1),
    ] {
        assert_eq!(c!(toolcore_stream_mem_size(&opts)), 0);
        all.push(c!(toolcore_stream_init(dialect, &opts, mem, size, &mut null_mut(), no)));
    }
    for call in [
        with(|call: &mut toolcore_tool_call_t| call.flags = 8),
        with(|call: &mut toolcore_tool_call_t| call.reserved = 1),
    ] {
        all.push(c!(toolcore_dispatch(registry, &call, null(), mem, size, &mut null_mut(), no)));
        all.push(c!(toolcore_results_render(dialect, &call, 1, null(), 0, null(), null_mut(), 0, len, no)));
        all.push(c!(toolcore_turn_render(dialect, s(""), &call, 1, null(), null_mut(), 0, len, no)));
    }
    for opts in [
        with(|opts: &mut toolcore_dispatch_opts_t| opts.flags = 4),
        with(|opts: &mut toolcore_dispatch_opts_t| opts.dialect = 99),
    ] {
        let call = init();
        all.push(c!(toolcore_dispatch(registry, &call, &opts, mem, size, &mut null_mut(), no)));
    }
    let call = init::<toolcore_tool_call_t>();
    for result in [
        with(|result: &mut toolcore_call_result_t| result.flags = 2),
        with(|result: &mut toolcore_call_result_t| result.reserved = 1),
    ] {
        all.push(c!(toolcore_results_render(dialect, &call, 1, &result, 1, null(), null_mut(), 0, len, no)));
    }
    for opts in [
        with(|opts: &mut toolcore_results_opts_t| opts.flags = 2),
        with(|opts: &mut toolcore_results_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_results_render(dialect, null(), 0, null(), 0, &opts, null_mut(), 0, len, no)));
    }
    let opts = with(|opts: &mut toolcore_json_opts_t| opts.flags = 2);
    all.push(c!(toolcore_json_validate(s("1"), &opts, no)));
    for opts in [
        with(|opts: &mut toolcore_schema_opts_t| opts.default_draft = 2),
        with(|opts: &mut toolcore_schema_opts_t| opts.flags = 2),
        with(|opts: &mut toolcore_schema_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_schema_init(s("{}"), &opts, mem, size, &mut null_mut(), no)));
        all.push(c!(toolcore_schema_mem_size(s("{}"), &opts, len, no)));
    }
    let mut schema = null_mut();
    assert_eq!(c!(toolcore_schema_init(s("{}"), null(), mem, size, &raw mut schema, no)), TOOLCORE_OK);
    for opts in [
        with(|opts: &mut toolcore_check_opts_t| opts.flags = 2),
        with(|opts: &mut toolcore_check_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_schema_check(schema, s("1"), &opts, null_mut(), 0, &mut true, no)));
    }
    for opts in [
        with(|opts: &mut toolcore_coerce_opts_t| opts.flags = 16),
        with(|opts: &mut toolcore_coerce_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_schema_coerce(schema, s("1"), &opts, null_mut(), 0, null_mut(), 0, len, no)));
        assert_eq!(c!(toolcore_schema_coerce_scratch_size(schema, &opts)), 0);
    }
    let opts = with(|opts: &mut toolcore_json_opts_t| opts.flags = 2);
    all.push(c!(toolcore_json_repair(s("1"), &opts, null_mut(), 0, len, null_mut(), no)));
    let tool = toolcore_tool_t { flags: 16, ..tool("flags", fail) };
    all.push(c!(toolcore_registry_add(registry, &tool, no)));
    let mut result = null_mut();
    assert_eq!(c!(toolcore_result_init(mem, size, &raw mut result)), TOOLCORE_OK);
    let usage = with(|usage: &mut toolcore_usage_t| usage.reserved = 1);
    all.push(c!(toolcore_result_usage(result, &usage)));
    let mut context = null_mut();
    assert_eq!(c!(toolcore_context_init(null(), mem, size, &raw mut context)), TOOLCORE_OK);
    for block in [
        with(|block: &mut toolcore_block_t| block.flags = 32),
        with(|block: &mut toolcore_block_t| block.reserved = 1),
    ] {
        all.push(c!(toolcore_context_push(context, &block)));
    }
    for opts in [
        with(|opts: &mut toolcore_context_render_opts_t| opts.format = 3),
        with(|opts: &mut toolcore_context_render_opts_t| opts.order = 2),
        with(|opts: &mut toolcore_context_render_opts_t| opts.policy = 2),
        with(|opts: &mut toolcore_context_render_opts_t| opts.show = 8),
        with(|opts: &mut toolcore_context_render_opts_t| opts.reserved = 1),
    ] {
        all.push(c!(toolcore_context_render(context, &opts, null_mut(), 0, len, null_mut(), no)));
    }
    for opts in [
        with(|opts: &mut toolcore_inflight_opts_t| opts.flags = 2),
        with(|opts: &mut toolcore_inflight_opts_t| opts.series = 256),
        with(|opts: &mut toolcore_inflight_opts_t| opts.reserved = 1),
    ] {
        assert_eq!(c!(toolcore_inflight_mem_size(&opts)), 0);
        all.push(c!(toolcore_inflight_init(&opts, mem, size, &mut null_mut())));
    }
    let flight = Flight::new(&init());
    for opts in [
        with(|opts: &mut toolcore_answer_opts_t| opts.flags = 8),
        with(|opts: &mut toolcore_answer_opts_t| opts.reserved2 = 1),
    ] {
        all.push(c!(toolcore_start(flight.inflight, registry, flight.reply, &opts, mem, size, 0, no)));
        assert!(c!(toolcore_done(flight.inflight)), "there is no turn");
    }
    for (at, status) in all.into_iter().enumerate() {
        assert_eq!(status, UNSUPPORTED, "number {at}");
    }
}

/// What each feature is needed for is refused exactly where the library says that it lacks the feature.
#[test]
fn features_are_those_that_work() {
    let mut memory = Block::new(1 << 15);
    let mem = memory.ptr();
    let compile = |schema, flags| {
        let (mut out, opts) = (null_mut(), sized!(toolcore_schema_opts_t { flags: flags }));
        let mut why = init::<toolcore_detail_t>();
        let status = c!(toolcore_schema_init(s(schema), &opts, mem, 1 << 15, &raw mut out, &raw mut why));
        (status, message(&why))
    };
    let keywords = [
        (TOOLCORE_FEATURE_PATTERN, r#"{"pattern":"a"}"#, 0, TOOLCORE_ERR_BAD_SCHEMA, "pattern"),
        (
            TOOLCORE_FEATURE_UNEVALUATED,
            r#"{"unevaluatedItems":true}"#,
            0,
            TOOLCORE_ERR_BAD_SCHEMA,
            "unevaluated",
        ),
        (
            TOOLCORE_FEATURE_FORMAT,
            r#"{"format":"date"}"#,
            TOOLCORE_SCHEMA_ASSERT_FORMATS,
            UNSUPPORTED,
            "'format'",
        ),
    ];
    for (feature, schema, flags, refused, named) in keywords {
        let (status, message) = compile(schema, flags);
        if toolcore_features() & feature != 0 {
            assert_eq!(status, TOOLCORE_OK, "{message}");
        } else {
            assert_eq!(status, refused, "{message}");
            assert!(message.contains(named), "{message}");
        }
    }
    assert_eq!(toolcore_features() & !0xFFFF, 0);
    assert_eq!(compile(r#"{"format":"date"}"#, 0).0, TOOLCORE_OK);
}

/// A dialect is refused, and the feature that it needs is named, exactly where the library says that it lacks it.
#[test]
fn dialects_are_those_that_are_built_in() {
    let tools = Tools::usual();
    let registry = tools.registry;
    let mut scratch = Block::new(1 << 15);
    let (mem, size) = (scratch.ptr(), 1 << 15);
    let rows = [
        ("openai_chat", TOOLCORE_FEATURE_OPENAI, "openai"),
        ("openai_responses", TOOLCORE_FEATURE_OPENAI_RESPONSES, "openai-responses"),
        ("anthropic", TOOLCORE_FEATURE_ANTHROPIC, "anthropic"),
        ("gemini", TOOLCORE_FEATURE_GEMINI, "gemini"),
        ("gemini_schema", TOOLCORE_FEATURE_GEMINI, "gemini"),
        ("bedrock", TOOLCORE_FEATURE_BEDROCK, "bedrock"),
        ("ollama", TOOLCORE_FEATURE_OLLAMA, "ollama"),
        ("mcp", TOOLCORE_FEATURE_MCP, "mcp"),
        ("hermes", TOOLCORE_FEATURE_TEXT_FORMS, "text-forms"),
        ("llama3", TOOLCORE_FEATURE_TEXT_FORMS, "text-forms"),
        ("mistral", TOOLCORE_FEATURE_TEXT_FORMS, "text-forms"),
        ("mistral_chat", TOOLCORE_FEATURE_MISTRAL, "mistral"),
        ("cohere", TOOLCORE_FEATURE_COHERE, "cohere"),
    ];
    for (at, (name, flag, feature)) in (1..).zip(rows) {
        let dialect = c!(toolcore_dialect_from_name(s(name)));
        assert_eq!(dialect, at, "{name}");
        let there = toolcore_features() & flag != 0;
        assert_eq!(text(toolcore_dialect_name(dialect)), if there { name } else { "" });
        let refusal = std::format!("this build leaves the dialect {name} out: build with feature {feature}");
        let opts = with(|opts: &mut toolcore_dispatch_opts_t| opts.dialect = dialect);
        let (mut len, mut result) = (0, null_mut());
        let (len, result) = (&raw mut len, &raw mut result);
        let entries: [&dyn Fn(*mut toolcore_detail_t) -> toolcore_status_t; 4] = [
            &|why| c!(toolcore_tools_render(registry, dialect, null(), null_mut(), 0, len, why)),
            &|why| c!(toolcore_reply_mem_size(dialect, s("{}"), null(), len, why)),
            &|why| {
                c!(toolcore_results_render(dialect, null(), 0, null(), 0, null(), null_mut(), 0, len, why))
            },
            &|why| {
                let call = sized!(toolcore_tool_call_t { name: s("echo"), arguments: s("{}") });
                c!(toolcore_dispatch(registry, &call, &opts, mem, size, result, why))
            },
        ];
        for entry in entries {
            let mut why = init::<toolcore_detail_t>();
            let status = entry(&raw mut why);
            assert_eq!(status == UNSUPPORTED && message(&why) == refusal, !there, "{name}: {status}");
        }
    }
}

#[test]
fn the_field_is_named() {
    let mut memory = Block::new(SCRATCH);
    let mem = memory.ptr();
    for (opts, field) in [
        (with(|opts: &mut toolcore_schema_opts_t| opts.flags = 2), "flags"),
        (with(|opts: &mut toolcore_schema_opts_t| opts.default_draft = 7), "default_draft"),
        (with(|opts: &mut toolcore_schema_opts_t| opts.reserved = 1), "reserved"),
    ] {
        let mut why = init::<toolcore_detail_t>();
        let why_ptr = &raw mut why;
        let status = c!(toolcore_schema_init(s("{}"), &opts, mem, SCRATCH, &mut null_mut(), why_ptr));
        assert_eq!(status, UNSUPPORTED);
        assert_eq!(message(&why), std::format!("'{field}' has a value that this version does not know"));
    }
}

#[test]
fn dialects() {
    let tools = Tools::usual();
    let mut scratch = Block::new(SCRATCH);
    let (mem, no, mut len) = (scratch.ptr(), null_mut(), 0);
    let len = &raw mut len;
    for dialect in [0, 99, u32::MAX] {
        let mut why = init::<toolcore_detail_t>();
        let opts = null();
        let status =
            c!(toolcore_tools_render(tools.registry, dialect, opts, null_mut(), 0, len, &raw mut why));
        assert_eq!(status, UNSUPPORTED);
        assert_eq!(message(&why), "the dialect is not set, or not supported by this version");
        for status in [
            c!(toolcore_answer(
                tools.registry,
                dialect,
                s(REPLY),
                null(),
                mem,
                SCRATCH,
                null_mut(),
                0,
                len,
                null_mut(),
                no
            )),
            c!(toolcore_reply_mem_size(dialect, s(REPLY), null(), len, no)),
            c!(toolcore_reply_parse(dialect, s(REPLY), null(), mem, SCRATCH, &mut null_mut(), no)),
            c!(toolcore_results_render(dialect, null(), 0, null(), 0, null(), null_mut(), 0, len, no)),
            c!(toolcore_stream_init(dialect, null(), mem, SCRATCH, &mut null_mut(), no)),
        ] {
            assert_eq!(status, UNSUPPORTED, "dialect {dialect}");
        }
    }
}

#[test]
fn the_parameter_is_named() {
    let tools = Tools::new();
    let inner = sized!(toolcore_param_t { name: s("inner"), r#type: 9 });
    let outer = sized!(toolcore_param_t {
        name: s("outer"),
        r#type: TOOLCORE_TYPE_OBJECT,
        properties: &raw const inner,
        properties_len: 1,
    });
    let tool = toolcore_tool_t { params: &raw const outer, params_len: 1, ..tool("x", fail) };
    let mut why = init::<toolcore_detail_t>();
    assert_eq!(c!(toolcore_registry_add(tools.registry, &tool, &raw mut why)), UNSUPPORTED);
    assert_eq!(message(&why), "parameter 'inner': its type is not set, or not known to this version");
}

fn message(why: &toolcore_detail_t) -> String {
    word(why.message.as_ptr()).into()
}
