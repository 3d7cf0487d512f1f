//! Public structs have no padding and begin with their size, so that zero means default and fields can be
//! appended.

use core::mem::{offset_of, size_of, size_of_val};

use super::support::init;
use crate::abi::toolcore_str_t;
use crate::answer::*;
use crate::call::*;
use crate::clock::*;
use crate::coerce::*;
use crate::context::*;
use crate::dispatch::*;
use crate::hook::*;
use crate::inflight::*;
use crate::json::*;
use crate::json_writer::*;
use crate::registry::*;
use crate::reply::*;
use crate::resources::*;
use crate::result::*;
use crate::results::*;
use crate::schema::*;
use crate::status::*;
use crate::stream::*;
use crate::tool::*;
use crate::tools::*;
use crate::version::*;
use crate::workers::*;

/// Names every field, so that a new one does not compile before it is here.
macro_rules! no_padding {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        #[test]
        fn structs_have_no_padding() {
            $(
                let $name { $($field),* } = init::<$name>();
                assert_eq!(size_of::<$name>(), 0 $(+ size_of_val(&$field))*, stringify!($name));
                assert_eq!(offset_of!($name, struct_size), 0);
            )*
        }

        #[test]
        fn the_header_names_every_sized_struct_in_a_macro() {
            let config = include_str!("../cbindgen.toml");
            for name in [$(stringify!($name)),*] {
                let macro_name = name.trim_end_matches("_t").to_uppercase();
                let line = std::format!("#define {macro_name}_INIT TOOLCORE_SIZED_INIT({name})");
                assert!(config.contains(&line), "{line}");
            }
        }
    };
}

no_padding! {
    toolcore_detail_t { struct_size, message_len, offset, need, status, reason, message, resource, place_len }
    toolcore_clock_t { struct_size, user_data, now_ms }
    toolcore_param_t {
        struct_size, name, description, enumeration, default_value, minimum, maximum, items, properties,
        properties_len, r#type, flags, min_length, max_length, min_items, max_items,
    }
    toolcore_tool_t {
        struct_size, name, title, description, category, params, params_len, schema, output_schema, run, user_data,
        drop, annotations, flags, timeout_ms, cancel, workers,
    }
    toolcore_registry_opts_t {
        struct_size, max_tools, pool_bytes, resources, collision, max_depth, default_draft, flags, timeout_ms,
    }
    toolcore_resource_t { struct_size, uri, text }
    toolcore_tool_info_t {
        struct_size, name, title, description, category, schema, output_schema, pool_bytes, schema_bytes, reserved,
        annotations, flags, timeout_ms,
    }
    toolcore_hook_t { struct_size, before, after, user_data, drop }
    toolcore_tools_opts_t {
        struct_size, category, choice_tool, note, user_data, choice, parallel, flags, reserved, choice_tools,
        choice_tools_len, native, native_len,
    }
    toolcore_native_tool_t { struct_size, config, kind, reserved }
    toolcore_answer_opts_t {
        struct_size, clock, max_calls, result_limit, observe, changed, user_data, reserved2, flags, max_depth,
        max_steps, turn, timeout_ms,
    }
    toolcore_outcome_t {
        struct_size, calls, answered, failed, input_tokens, output_tokens, cached_tokens, thinking_tokens,
        cost_micros, latency_ms, finish, reserved,
    }
    toolcore_reply_opts_t { struct_size, max_depth, flags, turn, reserved }
    toolcore_replay_opts_t { struct_size, flags, reserved }
    toolcore_stream_opts_t { struct_size, reply_bytes, event, user_data, max_depth, flags, turn, reserved }
    toolcore_tool_call_t { struct_size, id, name, arguments, flags, reserved, wire_id, toolset }
    toolcore_part_t { struct_size, text, name, data, data_len, total, kind, reserved }
    toolcore_usage_t {
        struct_size, reserved, input_tokens, output_tokens, cached_tokens, thinking_tokens, cost_micros, latency_ms,
    }
    toolcore_dispatch_opts_t {
        struct_size, clock, flags, dialect, max_depth, max_steps, timeout_ms, changed, user_data,
    }
    toolcore_call_result_t { struct_size, id, result, flags, reserved }
    toolcore_results_opts_t { struct_size, limit, flags, reserved }
    toolcore_event_t {
        struct_size, call, result, message, index, ticket, at_ms, done, total, kind, turn,
    }
    toolcore_inflight_opts_t {
        struct_size, event, user_data, max_in_flight, grace_ms, side_by_side, flags, series, reserved,
    }
    toolcore_inflight_stats_t {
        struct_size, in_flight, open, reserved, completed, timed_out, cancelled, abandoned, late, doubled, stale, unknown,
    }
    toolcore_workers_opts_t { struct_size, clock, max_threads, result_bytes, reserved }
    toolcore_workers_stats_t { struct_size, running, idle, queued, abandoned, warning, abandoned_total }
    toolcore_json_opts_t { struct_size, max_depth, flags }
    toolcore_schema_opts_t { struct_size, max_depth, default_draft, resources, flags, reserved }
    toolcore_coerce_opts_t { struct_size, changed, user_data, max_depth, max_steps, flags, reserved }
    toolcore_check_opts_t {
        struct_size, violation, user_data, located, max_depth, max_steps, flags, reserved,
    }
    toolcore_context_opts_t { struct_size, max_blocks }
    toolcore_block_t { struct_size, category, label, source, content, priority, min_tokens, flags, reserved }
    toolcore_context_render_opts_t {
        struct_size, count, user_data, reserved, budget, reserve, format, order, policy, show,
    }
    toolcore_context_report_t { struct_size, kept, cut, dropped, used, reserve, room, reserved }
    toolcore_block_report_t { struct_size, from, to, state, tokens, left_out, reason }
}

#[test]
fn structs_of_the_library_have_no_padding() {
    assert_eq!(
        size_of::<toolcore_stream_event_t>(),
        2 * size_of::<usize>() + 3 * size_of::<toolcore_str_t>() + 8
    );
    assert_eq!(size_of::<toolcore_json_iter_t>(), 3 * size_of::<usize>() + 8);
    assert_eq!(size_of::<toolcore_json_writer_t>(), 3 * size_of::<usize>() + 32);
}

#[test]
fn header_version_is_the_crate_version() {
    let header = std::format!("{TOOLCORE_VERSION_MAJOR}.{TOOLCORE_VERSION_MINOR}.{TOOLCORE_VERSION_PATCH}");
    assert_eq!(header, env!("CARGO_PKG_VERSION"));
    assert_eq!(super::support::text(toolcore_version()), header);
}
