//! Hooks: they see every call, may rewrite or block it, and may replace what a handler answered.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::cell::{Cell, RefCell};

use common::{Memory, boxed, dispatched, echo, open, says, try_dispatch, with_schema};
use toolcore::call::{Call, ToolCall};
use toolcore::dialect::Dialect;
use toolcore::dispatch::DispatchOptions;
use toolcore::registry::{Draft, Hook, Verdict};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::sink::Sink;
use toolcore::time::{Duration, Instant, ManualClock};
use toolcore::tool::{Failure, ToolDefinition};

const NUMBER: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

type Before<'a> = Box<dyn Fn(&mut Draft<'_, '_>, &mut Sink<'_>) -> Verdict + 'a>;
type After<'a> = Box<dyn Fn(&ToolCall<'_>, &mut ToolResult<'_>) + 'a>;

struct Watch<'a> {
    before: Before<'a>,
    after: After<'a>,
}

impl Hook for Watch<'_> {
    fn before(&self, draft: &mut Draft<'_, '_>, why: &mut Sink<'_>) -> Verdict {
        (self.before)(draft, why)
    }
    fn after(&self, call: &ToolCall<'_>, result: &mut ToolResult<'_>) {
        (self.after)(call, result);
    }
}

fn before<'a>(before: impl Fn(&mut Draft<'_, '_>, &mut Sink<'_>) -> Verdict + 'a) -> Watch<'a> {
    Watch { before: Box::new(before), after: Box::new(|_, _| {}) }
}

fn after<'a>(after: impl Fn(&ToolCall<'_>, &mut ToolResult<'_>) + 'a) -> Watch<'a> {
    Watch { before: Box::new(|_, _| Verdict::Pass), after: Box::new(after) }
}

#[test]
fn hooks_run_in_the_order_in_which_they_were_added_and_there_are_four() {
    let log = RefCell::new(String::new());
    let watch = |name: char| {
        let log = &log;
        Watch {
            before: Box::new(move |draft: &mut Draft<'_, '_>, _: &mut Sink<'_>| {
                assert_eq!((draft.call().name, draft.call().arguments), ("a", "{}"));
                log.borrow_mut().extend(['<', name]);
                Verdict::Pass
            }),
            after: Box::new(move |call, result| {
                assert_eq!((call.name, result.kind()), ("a", OutcomeKind::Answered));
                log.borrow_mut().extend(['>', name]);
            }),
        }
    };
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    tools.add(&open("a"), says("ran")).unwrap();
    for name in ['1', '2', '3', '4'] {
        assert!(tools.add_hook(watch(name)).is_ok());
    }
    assert!(tools.add_hook(watch('5')).is_err());
    assert_eq!(dispatched(&tools, "a", "{}"), (OutcomeKind::Answered, "ran".into()));
    assert_eq!(log.take(), "<1<2<3<4>1>2>3>4");
}

#[test]
fn a_pre_hook_rewrites_name_and_arguments_and_what_it_wrote_is_checked() {
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    tools.add(&open("old"), says("the old one ran")).unwrap();
    tools.add(&with_schema("new", NUMBER), echo()).unwrap();
    let rewrite = before(|draft, _| {
        let arguments = draft.call().arguments.replace("old", "n");
        draft.set_name("new").unwrap();
        draft.set_arguments(&arguments).unwrap();
        Verdict::Pass
    });
    assert!(tools.add_hook(rewrite).is_ok());
    assert_eq!(dispatched(&tools, "old", r#"{"old":7}"#), (OutcomeKind::Answered, r#"json {"n":7}"#.into()));
    let (kind, text) = dispatched(&tools, "old", r#"{"old":"x"}"#);
    assert_eq!(kind, OutcomeKind::BadArguments);
    assert_eq!(text, r#"Tool error: Invalid arguments for 'new': /n: expected integer, got string "x""#);
    assert_eq!(dispatched(&tools, "old", "old:").0, OutcomeKind::BadArguments);
}

#[test]
fn a_later_pre_hook_sees_what_an_earlier_one_rewrote() {
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    let first = before(|draft, _| {
        draft.set_name("b").unwrap();
        Verdict::Pass
    });
    let second = before(|draft, _| {
        assert_eq!(draft.call().name, "b");
        draft.set_name("c").unwrap();
        Verdict::Pass
    });
    assert!(tools.add_hook(first).is_ok() && tools.add_hook(second).is_ok());
    tools.add(&open("c"), says("c ran")).unwrap();
    assert_eq!(dispatched(&tools, "a", "{}"), (OutcomeKind::Answered, "c ran".into()));
}

#[test]
fn a_blocked_call_is_not_executed_and_says_why() {
    let ran = Cell::new(0);
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    let run = |_: &Call<'_>, _: &mut ToolResult<'_>| {
        ran.set(ran.get() + 1);
        Ok(())
    };
    tools.add(&open("x"), boxed(run)).unwrap();
    tools.add(&open("y"), boxed(run)).unwrap();
    let refuse = Watch {
        before: Box::new(|draft, why| {
            if draft.call().name == "y" {
                why.put("Not today.");
            }
            Verdict::Block
        }),
        after: Box::new(|_, _| panic!("a post-hook runs only after a handler")),
    };
    let never = before(|_, _| panic!("a blocked call goes no further"));
    assert!(tools.add_hook(refuse).is_ok() && tools.add_hook(never).is_ok());
    assert_eq!(
        dispatched(&tools, "x", "{}"),
        (OutcomeKind::Blocked, "Tool call 'x' blocked by pre-hook.".into())
    );
    assert_eq!(dispatched(&tools, "y", "{}"), (OutcomeKind::Blocked, "Not today.".into()));
    assert_eq!(dispatched(&tools, "none", "not JSON").0, OutcomeKind::Blocked);
    assert_eq!(ran.get(), 0);
}

/// The hook's message is what the model reads; one that is too long is cut and says so.
#[test]
fn a_long_message_of_a_hook_is_not_lost_in_silence() {
    let long = "because ".repeat(100);
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    tools.add(&open("x"), echo()).unwrap();
    let refuse = before(|_, why| {
        why.put(&long);
        Verdict::Block
    });
    assert!(tools.add_hook(refuse).is_ok());
    let reply = r#"{"content":[{"type":"tool_use","id":"t","name":"x","input":{}}]}"#;
    let messages = common::answered(&tools, Dialect::Anthropic, reply).messages();
    let text = messages[0]["content"][0]["content"].as_str().unwrap();
    assert!(text == long || text.ends_with(" of 800 bytes]"), "{text}");
}

#[test]
fn a_post_hook_may_replace_a_result_and_a_failure() {
    let seen = RefCell::new(Vec::new());
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    tools.add(&open("works"), says("secret")).unwrap();
    tools.add(&open("fails"), boxed(|_, _| Err(Failure::Message("broken")))).unwrap();
    let replace = after(|call, result| {
        seen.borrow_mut().push(result.kind());
        result.clear();
        if call.name == "works" {
            result.error("withheld");
        } else {
            result.text("all is well").unwrap();
        }
    });
    assert!(tools.add_hook(replace).is_ok());
    assert_eq!(dispatched(&tools, "works", "{}"), (OutcomeKind::ToolFailed, "Tool error: withheld".into()));
    assert_eq!(dispatched(&tools, "fails", "{}"), (OutcomeKind::Answered, "all is well".into()));
    assert_eq!(*seen.borrow(), [OutcomeKind::Answered, OutcomeKind::ToolFailed]);
}

#[test]
fn post_hooks_do_not_run_when_no_handler_returned_in_time() {
    let clock = ManualClock::new(Instant::default());
    let ran = Cell::new(0);
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    let late = |_: &Call<'_>, _: &mut ToolResult<'_>| {
        clock.advance(Duration::from_millis(11));
        Ok(())
    };
    let slow = ToolDefinition { timeout: Some(Duration::from_millis(10)), ..with_schema("slow", NUMBER) };
    tools.add(&slow, boxed(late)).unwrap();
    assert!(tools.add_hook(after(|_, _| ran.set(ran.get() + 1))).is_ok());
    let options = DispatchOptions { clock: Some(&clock), ..DispatchOptions::default() };
    for (name, arguments, kind) in [
        ("nope", "{}", OutcomeKind::UnknownTool),
        ("slow", "{}", OutcomeKind::BadArguments),
        ("slow", "{", OutcomeKind::BadArguments),
        ("slow", r#"{"n":1}"#, OutcomeKind::TimedOut),
    ] {
        let call = ToolCall { name, arguments, ..ToolCall::default() };
        assert_eq!(try_dispatch(&tools, &call, &options).unwrap().0, kind);
    }
    assert_eq!(ran.get(), 0);
}

#[test]
fn a_draft_says_when_the_scratch_has_no_room_for_what_it_is_given() {
    let long = "b".repeat(500);
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    tools.add(&open("a"), says("ran")).unwrap();
    let rewrite = before(|draft, why| match draft.set_arguments(&long) {
        Ok(()) => Verdict::Pass,
        Err(error) => {
            why.put_u64(error.need as u64);
            Verdict::Block
        }
    });
    assert!(tools.add_hook(rewrite).is_ok());
    let call = ToolCall { name: "a", ..ToolCall::default() };
    let (mut words, mut bytes) = ([0; 64], [0; 300]);
    let scratch = toolcore::scratch::Scratch::new(&mut words, &mut bytes);
    let result = toolcore::dispatch::dispatch(&tools, &call, &DispatchOptions::default(), scratch).unwrap();
    assert_eq!((result.kind(), common::written(&result)), (OutcomeKind::Blocked, "500".into()));
}
