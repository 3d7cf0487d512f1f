//! The tools that are called, and what they leave behind.

use std::cell::{Cell, RefCell};
use std::task::Poll;

use toolcore::call::{Call, Ticket};
use toolcore::prelude::*;
use toolcore::tool::Cancel;

/// What a tool does when it is called.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    /// It answers after so many milliseconds, or fails.
    Now(u64, bool),
    /// It answers later; and says this when it is asked to end.
    Later(Cancel),
}

pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) plan: Plan,
    pub(super) timeout: Option<u64>,
}

pub(super) const TOOLS: [Tool; 10] = [
    Tool { name: "now", plan: Plan::Now(0, true), timeout: None },
    Tool { name: "fails", plan: Plan::Now(0, false), timeout: Some(20) },
    Tool { name: "quick", plan: Plan::Now(20, true), timeout: Some(20) },
    Tool { name: "slow", plan: Plan::Now(31, true), timeout: Some(20) },
    Tool { name: "free", plan: Plan::Later(Cancel::Later), timeout: None },
    Tool { name: "soon", plan: Plan::Later(Cancel::Later), timeout: Some(10) },
    Tool { name: "patient", plan: Plan::Later(Cancel::Later), timeout: Some(60) },
    Tool { name: "ends", plan: Plan::Later(Cancel::Ended), timeout: Some(10) },
    Tool { name: "ends_free", plan: Plan::Later(Cancel::Ended), timeout: None },
    Tool { name: "stuck", plan: Plan::Later(Cancel::Abandoned), timeout: Some(40) },
];

/// How the result of a call that no tool has begins; the tool's name is next.
pub(super) const UNKNOWN: &str = "Tool error: Unknown tool: ";

/// What all tools share: the time, which tools were asked to end, and which have been dropped.
#[derive(Default)]
pub(super) struct World {
    pub(super) clock: Settable,
    pub(super) asked: RefCell<Vec<u64>>,
    /// How often each registration was dropped.
    pub(super) drops: RefCell<Vec<u32>>,
}

/// A clock that goes where it is told, also back.
#[derive(Default)]
pub(super) struct Settable(pub(super) Cell<u64>);

impl Clock for Settable {
    fn now(&self) -> Instant {
        Instant::from_millis(self.0.get())
    }
}

/// A registration of a tool.
pub(super) struct Registered<'w> {
    plan: Plan,
    number: usize,
    world: &'w World,
}

impl<'w> Registered<'w> {
    pub(super) fn new(which: usize, world: &'w World) -> Self {
        let mut drops = world.drops.borrow_mut();
        drops.push(0);
        Registered { plan: TOOLS[which].plan, number: drops.len() - 1, world }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.world.drops.borrow_mut()[self.number] += 1;
    }
}

impl Handler for Registered<'_> {
    fn run(&self, _: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        match self.plan {
            Plan::Now(takes, answers) => {
                let clock = &self.world.clock.0;
                clock.set(clock.get().saturating_add(takes));
                Poll::Ready(match result.text("at once") {
                    Ok(()) if answers => Ok(()),
                    _ => Err(Failure::Message("broken")),
                })
            }
            Plan::Later(_) => {
                result.text("what is said before is gone").ok();
                Poll::Pending
            }
        }
    }

    fn cancel(&self, ticket: Ticket) -> Cancel {
        self.world.asked.borrow_mut().push(ticket.as_u64());
        match self.plan {
            Plan::Later(answer) => answer,
            Plan::Now(..) => panic!("it does not wait"),
        }
    }
}
