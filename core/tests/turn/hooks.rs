//! Hooks around calls that are answered later.

use std::cell::RefCell;

use toolcore::call::ToolCall;
use toolcore::inflight::TicketError;
use toolcore::prelude::*;
use toolcore::registry::{Draft, Hook, Verdict};
use toolcore::time::GRACE;
use toolcore::tool::Cancel;

use super::common::{Memory, open};
use super::support::{
    Kept, Setup, Tool, answered, at, calls, cancelled, failed, finish, ms, says, table, timed_out,
};

/// Calls of `old` become calls of `later`, calls of `secret` are blocked, and what is answered is replaced.
struct Watch<'w>(&'w RefCell<Vec<String>>);

impl Hook for Watch<'_> {
    fn before(&self, draft: &mut Draft<'_, '_>, why: &mut Sink<'_>) -> Verdict {
        match draft.call().name {
            "old" => draft.set_name("later").unwrap(),
            "secret" => {
                why.put("Not today.");
                return Verdict::Block;
            }
            _ => {}
        }
        Verdict::Pass
    }
    fn after(&self, call: &ToolCall<'_>, result: &mut ToolResult<'_>) {
        self.0.borrow_mut().push(format!("{} {}", call.name, result.kind().name()));
        let failed = result.failed();
        result.clear();
        result.text(if failed { "all is well" } else { "replaced" }).unwrap();
    }
}

fn with_hook<R>(
    run: impl FnOnce(&Registry<'_, Tool<'_>, Watch<'_>>, &Kept, &RefCell<Vec<String>>) -> R,
) -> R {
    let (kept, seen) = (Kept::default(), RefCell::new(Vec::new()));
    let mut memory = Memory::ample();
    let mut tools = memory.with_hooks();
    tools.add(&ToolDefinition { timeout: Some(ms(100)), ..open("later") }, kept.tool(Cancel::Ended)).unwrap();
    tools.add(&open("now"), says("at once")).unwrap();
    assert!(tools.add_hook(Watch(&seen)).is_ok());
    run(&tools, &kept, &seen)
}

#[test]
fn hooks_rewrite_and_block_before_a_call_and_replace_what_came_later() {
    with_hook(|tools, kept, seen| {
        let clock = ManualClock::default();
        let setup = Setup::with_clock(&clock);
        let names = ["later", "old", "secret", "now", "later"];
        let run = setup.turn(tools, &mut table(8, GRACE), &calls(&names), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            assert_eq!((kept.count(), turn.open()), (3, 3));
            turn.complete_with(with, kept.ticket(1), at(1), |result| result.text("secret").unwrap()).unwrap();
            turn.fail(with, kept.ticket(0), at(2), "broken").unwrap();
            assert_eq!(*seen.borrow(), ["now answered", "old answered", "later tool_failed"]);
            finish(turn, with, at(3))
        });
        let expected = [
            answered("all is well"),
            answered("replaced"),
            failed("Not today."),
            answered("replaced"),
            cancelled("later"),
        ];
        assert_eq!(run.unwrap().0, expected);
        assert_eq!(seen.borrow().len(), 3, "hooks see nothing of a call that was given up");
    });
}

#[test]
fn hooks_see_nothing_of_a_call_whose_time_is_over_and_it_has_the_name_of_the_tool_that_ran() {
    with_hook(|tools, kept, seen| {
        let clock = ManualClock::default();
        let setup = Setup::with_clock(&clock);
        let run = setup.turn(tools, &mut table(8, GRACE), &calls(&["old", "old", "old"]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            turn.cancel(with, toolcore::turn::Which::One(2), at(1));
            let late = turn.complete_with(with, kept.ticket(1), at(101), |_| panic!("nobody reads it"));
            assert_eq!(late, Err(TicketError::Late));
            turn.poll(with, at(101)).unwrap();
            finish(turn, with, at(102))
        });
        let expected = [timed_out("later", "0.1"), timed_out("later", "0.1"), cancelled("later")];
        assert_eq!(run.unwrap().0, expected);
        assert_eq!(*seen.borrow(), [""; 0]);
    });
}
