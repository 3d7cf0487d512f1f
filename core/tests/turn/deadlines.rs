//! When a call's time is over, what becomes of it then, and how long its tool has to end.

use std::cell::Cell;

use toolcore::dispatch::DispatchError;
use toolcore::inflight::TicketError;
use toolcore::prelude::*;
use toolcore::time::GRACE;
use toolcore::tool::Cancel;
use toolcore::turn::{TurnError, Which, serve};

use super::common::{Memory, open};
use super::support::{
    Kept, Setup, answered, at, at_once, calls, cancelled, failed, finish, ms, one_tool, registry, says,
    table, timed_out,
};

#[test]
fn the_most_specific_timeout_applies_even_when_it_is_the_looser_one() {
    for (tool, registry, turn, due) in [
        (Some(100), Some(1000), Some(1000), Some(100)),
        (Some(1000), Some(100), Some(10), Some(1000)),
        (None, Some(1000), Some(10), Some(1000)),
        (None, Some(100), Some(1000), Some(100)),
        (None, None, Some(50), Some(50)),
        (None, None, None, None),
        (Some(u64::MAX), Some(1), Some(1), None),
    ] {
        let kept = Kept::default();
        let mut memory = Memory::ample();
        let mut tools =
            memory.with_options(RegistryOptions { timeout: registry.map(ms), ..RegistryOptions::default() });
        tools.add(&ToolDefinition { timeout: tool.map(ms), ..open("later") }, kept.later()).unwrap();
        let clock = ManualClock::new(at(7));
        let options =
            AnswerOptions { clock: Some(&clock), timeout: turn.map(ms), ..AnswerOptions::default() };
        let run =
            Setup::with(options).turn(&tools, &mut table(1, GRACE), &calls(&["later"]), |turn, with| {
                assert_eq!(turn.poll(with, at(7)), Ok(due.map(|due| at(7 + due))));
                if let Some(due) = due {
                    turn.poll(with, at(7 + due - 1)).unwrap();
                    assert!(!turn.is_done());
                    turn.poll(with, at(7 + due)).unwrap();
                    assert!(turn.is_done());
                }
            });
        run.unwrap();
    }
}

#[test]
fn a_completion_after_the_deadline_is_late_also_if_nobody_had_polled() {
    for (completed, outcome) in [(110, Ok(())), (111, Err(TicketError::Late)), (5000, Err(TicketError::Late))]
    {
        one_tool(Some(100), Cancel::Later, |tools, table, kept| {
            let clock = ManualClock::new(at(10));
            let run = Setup::with_clock(&clock).turn(tools, table, &calls(&["later"]), |turn, with| {
                turn.poll(with, at(10)).unwrap();
                let ended = turn.complete_with(with, kept.ticket(0), at(completed), |result| {
                    result.text("done").unwrap()
                });
                assert_eq!(ended, outcome);
                assert!(with.inflight.is_empty(), "it has ended, so that nothing is to wait for");
                finish(turn, with, at(completed))
            });
            let (results, log) = run.unwrap();
            let (result, event) = match outcome {
                Ok(()) => (answered("done"), "finished"),
                Err(_) => (timed_out("later", "0.1"), "timed_out"),
            };
            assert_eq!((results, &log[1]), (vec![result], &format!("{completed} 0 {event}")));
            assert_eq!(*kept.asked.borrow(), [], "a tool that has ended is not asked to end");
            let stats = table.stats();
            assert_eq!((stats.completed + stats.timed_out, stats.late), (1, stats.timed_out));
        });
    }
}

#[test]
fn a_call_that_is_given_up_after_its_deadline_has_timed_out() {
    for which in [Which::All, Which::One(0)] {
        one_tool(Some(100), Cancel::Later, |tools, table, kept| {
            let clock = ManualClock::default();
            let run = Setup::with_clock(&clock).turn(tools, table, &calls(&["later"; 2]), |turn, with| {
                turn.poll(with, at(0)).unwrap();
                turn.cancel(with, which, at(101));
                finish(turn, with, at(102))
            });
            assert_eq!(run.unwrap().0, vec![timed_out("later", "0.1"); 2]);
            assert_eq!(kept.asked.borrow().len(), 2);
            assert_eq!((table.stats().timed_out, table.stats().cancelled), (2, 0));
        });
    }
}

#[test]
fn a_zero_timeout_is_refused_when_it_is_set_and_nothing_runs() {
    let ran = Cell::new(false);
    let mut memory = Memory::ample();
    let tool = at_once(|_, _| {
        ran.set(true);
        Ok(())
    });
    let tools = registry(&mut memory, [("a", None, tool)]);
    let clock = ManualClock::default();
    for (timeout, error) in [(0, DispatchError::ZeroTimeout), (5, DispatchError::NoClock)] {
        let clock = (timeout == 0).then_some(&clock as &dyn Clock);
        let options = AnswerOptions { clock, timeout: Some(ms(timeout)), ..AnswerOptions::default() };
        let mut table = table(2, GRACE);
        let run = Setup::with(options).turn(&tools, &mut table, &calls(&["nope", "a"]), |turn, with| {
            let call = if timeout == 0 { 0 } else { 1 };
            for _ in 0..3 {
                assert_eq!(turn.poll(with, at(0)), Err(TurnError::Dispatch { call, error }));
            }
            assert!(with.inflight.is_empty());
            // What cannot be run is given up.
            finish(turn, with, at(0))
        });
        assert_eq!(run.unwrap().0, [cancelled("nope"), cancelled("a")]);
    }
    assert!(!ran.get());
}

#[test]
fn a_timeout_that_the_tool_itself_reports_stays_a_failure() {
    one_tool(Some(1000), Cancel::Later, |tools, table, kept| {
        let clock = ManualClock::default();
        let run = Setup::with_clock(&clock).turn(tools, table, &calls(&["later"]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            turn.fail(with, kept.ticket(0), at(1), "the upstream server timed out after 5s").unwrap();
            finish(turn, with, at(2))
        });
        let (results, log) = run.unwrap();
        assert_eq!(results, [failed("Tool error: the upstream server timed out after 5s")]);
        assert_eq!(log, ["0 0 called", "1 0 finished"]);
        assert_eq!((table.stats().completed, table.stats().timed_out), (1, 0));
    });
}

#[test]
fn a_tool_that_answers_at_once_but_too_late_has_timed_out() {
    let clock = ManualClock::default();
    let mut memory = Memory::ample();
    let slow = at_once(|_, result| {
        clock.advance(ms(101));
        Ok(result.text("late")?)
    });
    let tools = registry(&mut memory, [("slow", Some(100), slow), ("now", Some(100), says("at once"))]);
    let mut table = table(1, GRACE);
    let run = Setup::with_clock(&clock).turn(&tools, &mut table, &calls(&["slow", "now"]), |turn, with| {
        turn.poll(with, at(0)).unwrap();
        finish(turn, with, at(101))
    });
    let (results, log) = run.unwrap();
    assert_eq!(results, [timed_out("slow", "0.1"), answered("at once")]);
    assert_eq!(log, ["0 0 called", "0 0 timed_out", "0 1 called", "0 1 finished"]);
}

/// A slot is held for the grace period, unless the tool says at once what becomes of the call.
#[test]
fn a_tool_that_is_asked_to_end_says_later_that_it_has_or_that_it_cannot() {
    for (answer, grace, held, events) in [
        (Cancel::Later, 1000, 1, &["11 0 timed_out", "1011 0 abandoned"][..]),
        (Cancel::Later, 0, 0, &["11 0 timed_out", "11 0 abandoned"]),
        (Cancel::Ended, 1000, 0, &["11 0 timed_out"]),
        (Cancel::Abandoned, 1000, 0, &["11 0 timed_out", "11 0 abandoned"]),
    ] {
        let kept = Kept::default();
        let mut memory = Memory::ample();
        let tools = registry(&mut memory, [("later", Some(10), kept.tool(answer))]);
        let clock = ManualClock::default();
        let mut table = table(1, ms(grace));
        let run = Setup::with_clock(&clock).turn(&tools, &mut table, &calls(&["later"]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            let next = turn.poll(with, at(11)).unwrap();
            assert_eq!((next.is_some(), with.inflight.len()), (held == 1, held));
            assert!(turn.is_done(), "its result is there at its deadline, whatever the tool does");
            assert_eq!(serve(with, at(1010)), next);
            assert_eq!(serve(with, at(1011)), None);
            assert!(with.inflight.is_empty());
            let ended = turn.complete_with(with, kept.ticket(0), at(1012), |_| {});
            assert_eq!(ended, Err(TicketError::Late), "{answer:?}");
            assert_eq!(turn.fail(with, kept.ticket(0), at(1013), ""), Err(TicketError::Doubled));
        });
        assert_eq!(run.unwrap().1[1..], *events);
        assert_eq!(*kept.asked.borrow(), [kept.ticket(0)], "it is asked once");
        assert_eq!(table.stats().abandoned as usize, events.len() - 1);
    }
}

#[test]
fn without_grace_a_cancelled_call_is_abandoned_at_once() {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("later", None, kept.later())]);
    let mut table = table(1, ms(0));
    let run = Setup::default().turn(&tools, &mut table, &calls(&["later"]), |turn, with| {
        turn.poll(with, at(0)).unwrap();
        turn.cancel(with, Which::All, at(5));
        assert!(with.inflight.is_empty());
    });
    assert_eq!(run.unwrap().1[1..], ["5 0 cancelled", "5 0 abandoned"]);
}

#[test]
fn a_tool_that_was_removed_is_not_asked_and_its_calls_get_their_results() {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let mut tools = registry(
        &mut memory,
        [("first", None, says("")), ("gone", Some(10), kept.later()), ("later", Some(20), kept.later())],
    );
    let clock = ManualClock::default();
    let mut table = table(4, GRACE);
    let names = calls(&["gone", "later"]);
    let setup = Setup::with_clock(&clock);
    let (turned, _) = setup.turn(&tools, &mut table, &names, |turn, with| turn.poll(with, at(0))).unwrap();
    assert_eq!(turned, Ok(Some(at(10))));
    assert!(tools.remove("gone") && tools.remove("first"));
    let run = setup.turn(&tools, &mut table, &names, |turn, with| {
        // The calls of the turn that was left are cancelled; the second tool stands elsewhere now and is found.
        turn.poll(with, at(1)).unwrap();
        assert_eq!(*kept.asked.borrow(), [kept.ticket(1)]);
        finish(turn, with, at(2))
    });
    let (results, _) = run.unwrap();
    assert!(results[0].0.starts_with("Tool error: Unknown tool: 'gone'"), "{results:?}");
    assert_eq!(results[1], cancelled("later"));
}

#[test]
fn progress_is_told_and_moves_no_deadline() {
    one_tool(Some(100), Cancel::Later, |tools, table, kept| {
        let clock = ManualClock::default();
        let run = Setup::with_clock(&clock).turn(tools, table, &calls(&["later"]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            assert_eq!(turn.progress(with, kept.ticket(0), at(100), (1, 2), "half"), Ok(()));
            let late = Err(TicketError::Late);
            assert_eq!(
                turn.progress(with, kept.ticket(0), at(101), (2, 2), ""),
                late,
                "nobody waits any more"
            );
            turn.poll(with, at(101)).unwrap();
            turn.poll(with, at(9000)).unwrap();
            assert_eq!(turn.progress(with, kept.ticket(0), at(9000), (2, 2), ""), late);
            assert_eq!(turn.complete_with(with, kept.ticket(0), at(9000), |_| {}), late, "it comes once");
        });
        let expected = ["0 0 called", "100 0 progress", "101 0 timed_out", "9000 0 abandoned"];
        assert_eq!(run.unwrap().1, expected);
        assert_eq!((table.stats().late, table.stats().doubled), (3, 0));
    });
}

/// The host's clock and the times that it hands in go back a second, both.
#[test]
fn a_clock_that_steps_back_takes_no_time_from_a_call() {
    one_tool(Some(100), Cancel::Later, |tools, table, kept| {
        let clock = ManualClock::new(at(1000));
        let reply = calls(&["later"; 2]);
        let setup = Setup::with_clock(&clock);
        let first = setup.turn(tools, table, &reply, |turn, with| {
            assert_eq!(turn.poll(with, at(2000)), Ok(Some(at(2100))));
            assert_eq!(turn.poll(with, at(0)), Ok(Some(at(2100))));
            assert_eq!(turn.poll(with, at(2099)), Ok(Some(at(2100))));
            turn.complete_with(with, kept.ticket(0), at(5), |result| result.text("done").unwrap()).unwrap();
            finish(turn, with, at(0))
        });
        let (results, log) = first.unwrap();
        assert_eq!(results, [answered("done"), cancelled("later")]);
        assert_eq!(log[2..], ["2099 0 finished", "2099 1 cancelled"], "time does not go back");
    });
}

#[test]
fn at_the_end_of_the_clock_nothing_is_lost() {
    one_tool(Some(100), Cancel::Later, |tools, table, kept| {
        let (before, last) = (at(u64::MAX - 100), at(u64::MAX));
        let clock = ManualClock::new(before);
        let run = Setup::with_clock(&clock).turn(tools, table, &calls(&["later"; 3]), |turn, with| {
            assert_eq!(turn.poll(with, before), Ok(Some(last)), "its deadline is the last instant there is");
            turn.complete_with(with, kept.ticket(0), last, |result| result.text("done").unwrap()).unwrap();
            turn.cancel(with, Which::One(1), before);
            assert_eq!(turn.poll(with, before), Ok(None), "no grace period ends after it");
            finish(turn, with, last)
        });
        let late = timed_out("later", "0.1");
        assert_eq!(run.unwrap().0, [answered("done"), late.clone(), late]);
        assert_eq!(table.stats().abandoned, 2);
    });
}
