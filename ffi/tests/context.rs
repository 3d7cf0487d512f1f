//! Context under a budget.

use core::ffi::{c_char, c_void};
use core::ptr::{null, null_mut};

use super::support::*;
use crate::abi::toolcore_str_t;
use crate::context::*;
use crate::status::*;

/// A context in memory of its own.
struct Context(
    *mut toolcore_context_t,
    #[expect(dead_code, reason = "holds what the pointer points to")] Block,
);

fn context(contents: &[(&'static str, i32, u32)]) -> Context {
    let size = c!(toolcore_context_mem_size(null()));
    let mut memory = Block::new(size);
    let mut context = null_mut();
    assert_eq!(c!(toolcore_context_init(null(), memory.ptr(), size, &raw mut context)), TOOLCORE_OK);
    for (content, priority, flags) in contents {
        let block = sized!(toolcore_block_t { content: s(content), priority: *priority, flags: *flags });
        assert_eq!(c!(toolcore_context_push(context, &block)), TOOLCORE_OK);
    }
    Context(context, memory)
}

#[test]
fn blocks_are_chosen_by_priority_and_reported() {
    let long = "a much longer block that does not fit into what is left of the budget";
    let context = context(&[("low", 1, 0), ("high", 9, 0), (long, 5, 0), ("", 7, 0)]);
    let opts = sized!(toolcore_context_render_opts_t { budget: 5, reserve: 1 });
    let mut report = init::<toolcore_context_report_t>();
    let to = &raw mut report;
    let rendered =
        written(|buf, len, out| c!(toolcore_context_render(context.0, &opts, buf, len, out, to, null_mut())));
    assert_eq!(rendered, "high\n\nlow");
    assert_eq!((report.kept, report.cut, report.dropped), (2, 0, 2));
    assert_eq!((report.used, report.reserve, report.room), (3, 1, 1));
    let mut block = init::<toolcore_block_report_t>();
    let expected = [
        (TOOLCORE_BLOCK_KEPT, 0, 1),
        (TOOLCORE_BLOCK_KEPT, 0, 1),
        (TOOLCORE_BLOCK_DROPPED, TOOLCORE_DROP_NO_ROOM, 18),
        (TOOLCORE_BLOCK_DROPPED, TOOLCORE_DROP_EMPTY, 0),
    ];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(c!(toolcore_context_block_report(context.0, index, &raw mut block)), TOOLCORE_OK);
        assert_eq!((block.state, block.reason, block.tokens), expected, "block {index}");
    }
    assert_eq!(c!(toolcore_context_block_report(context.0, 4, &raw mut block)), TOOLCORE_ERR_NOT_FOUND);
    assert_eq!(c!(toolcore_context_len(context.0)), 4);
    assert_eq!(c!(toolcore_context_clear(context.0)), TOOLCORE_OK);
    assert_eq!(c!(toolcore_context_len(context.0)), 0);
    assert_eq!(c!(toolcore_context_block_report(context.0, 0, &raw mut block)), TOOLCORE_ERR_NOT_FOUND);
}

#[test]
fn a_cut_says_what_was_left_out() {
    let long =
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen";
    let context = context(&[(long, 1, TOOLCORE_BLOCK_CUT_TAIL)]);
    let opts = sized!(toolcore_context_render_opts_t { budget: 20 });
    let mut report = init::<toolcore_context_report_t>();
    let to = &raw mut report;
    let rendered =
        written(|buf, len, out| c!(toolcore_context_render(context.0, &opts, buf, len, out, to, null_mut())));
    assert_eq!((report.kept, report.cut, report.dropped), (0, 1, 0));
    assert!(report.used <= 20);
    let mut block = init::<toolcore_block_report_t>();
    assert_eq!(c!(toolcore_context_block_report(context.0, 0, &raw mut block)), TOOLCORE_OK);
    assert_eq!((block.state, block.to), (TOOLCORE_BLOCK_CUT, long.len()));
    assert!(rendered.starts_with(&long[..block.from]), "{rendered}");
    let notice = std::format!("[… {} of {} tokens left out]", block.left_out, block.tokens);
    assert!(rendered.ends_with(&notice), "{rendered}");
}

#[test]
fn formats_orders_and_what_is_shown() {
    let context = context(&[("a<b", 1, 0), ("second", 2, 0)]);
    let labelled =
        sized!(toolcore_block_t { content: s("third"), label: s("L"), source: s("S"), category: s("C") });
    assert_eq!(c!(toolcore_context_push(context.0, &labelled)), TOOLCORE_OK);
    let render = |opts: toolcore_context_render_opts_t| {
        let opts = toolcore_context_render_opts_t { budget: 1000, ..opts };
        written(|buf: *mut c_char, len, out| {
            c!(toolcore_context_render(context.0, &opts, buf, len, out, null_mut(), null_mut()))
        })
    };
    assert_eq!(render(init()), "second\n\na<b\n\nthird");
    let show = TOOLCORE_SHOW_CATEGORY | TOOLCORE_SHOW_LABEL | TOOLCORE_SHOW_SOURCE;
    let plain = render(sized!(toolcore_context_render_opts_t { order: TOOLCORE_ORDER_INPUT, show: show }));
    assert_eq!(plain, "a<b\n\nsecond\n\n[C: L (S)]\nthird");
    let xml = render(sized!(toolcore_context_render_opts_t { format: TOOLCORE_FORMAT_XML }));
    assert!(xml.contains("<context>\na&lt;b\n</context>"), "{xml}");
    let markdown = render(sized!(toolcore_context_render_opts_t { format: TOOLCORE_FORMAT_MARKDOWN }));
    assert!(markdown.contains("## L\n\nthird"), "{markdown}");
}

#[test]
fn strict_stops_where_greedy_goes_on() {
    let context = context(&[("a block that is far too long for it", 9, 0), ("ok", 1, 0)]);
    for (policy, expected) in [(TOOLCORE_POLICY_GREEDY, "ok"), (TOOLCORE_POLICY_STRICT, "")] {
        let opts = sized!(toolcore_context_render_opts_t { budget: 3, policy: policy });
        let rendered = written(|buf, len, out| {
            c!(toolcore_context_render(context.0, &opts, buf, len, out, null_mut(), null_mut()))
        });
        assert_eq!(rendered, expected);
    }
}

#[test]
fn the_hosts_counter_decides() {
    unsafe extern "C" fn words(count: *mut c_void, content: toolcore_str_t) -> u32 {
        c!(*count.cast::<u32>() += 1);
        u32::try_from(text(content).split_whitespace().count()).unwrap()
    }
    let context = context(&[("one two three four five", 1, 0), ("six", 0, 0)]);
    let mut counted = 0u32;
    let user_data = (&raw mut counted).cast();
    let opts = sized!(toolcore_context_render_opts_t { budget: 5, count: Some(words), user_data: user_data });
    let mut buffer = [0u8; 256];
    let (mut len, mut report) = (0, init::<toolcore_context_report_t>());
    let buf = buffer.as_mut_ptr().cast();
    let status =
        c!(toolcore_context_render(context.0, &opts, buf, 256, &raw mut len, &raw mut report, null_mut()));
    assert_eq!((status, &buffer[..len]), (TOOLCORE_OK, &b"one two three four five"[..]));
    assert_eq!((report.used, report.kept), (5, 1));
    assert!(counted > 0);
    // Measured, there is a length that suffices; what became of each block is not known then.
    let mut need = 0;
    let status = c!(toolcore_context_render(
        context.0,
        &opts,
        null_mut(),
        0,
        &raw mut need,
        &raw mut report,
        null_mut()
    ));
    assert_eq!(status, TOOLCORE_OK);
    assert!(need >= len);
    let mut block = init::<toolcore_block_report_t>();
    assert_eq!(c!(toolcore_context_block_report(context.0, 0, &raw mut block)), TOOLCORE_ERR_NOT_FOUND);
}

#[test]
fn a_context_that_is_full_takes_no_more() {
    let opts = sized!(toolcore_context_opts_t { max_blocks: 1 });
    let size = c!(toolcore_context_mem_size(&opts));
    let mut memory = Block::new(size);
    let mut context = null_mut();
    assert_eq!(c!(toolcore_context_init(&opts, memory.ptr(), size, &raw mut context)), TOOLCORE_OK);
    assert_eq!(
        c!(toolcore_context_push(context, &sized!(toolcore_block_t { content: s("x") }))),
        TOOLCORE_OK
    );
    assert_eq!(c!(toolcore_context_push(context, &init())), TOOLCORE_ERR_FULL);
    assert_eq!(c!(toolcore_context_len(context)), 1);
}

#[test]
fn states_and_reasons_have_names() {
    let states = [1, 2, 3, 0, 4].map(|state| word(toolcore_context_block_state_name(state)));
    assert_eq!(states, ["kept", "cut", "dropped", "unknown", "unknown"]);
    let reasons = [1, 2, 3, 4, 0, 5].map(|reason| word(toolcore_context_drop_reason_name(reason)));
    assert_eq!(reasons, ["empty", "no_room", "below_minimum", "stopped", "unknown", "unknown"]);
    assert_eq!((TOOLCORE_BLOCK_KEPT, TOOLCORE_BLOCK_CUT, TOOLCORE_BLOCK_DROPPED), (1, 2, 3));
    assert_eq!((TOOLCORE_DROP_EMPTY, TOOLCORE_DROP_STOPPED), (1, 4));
}
