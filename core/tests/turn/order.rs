//! Which calls run at once, which start next, and in what order results and events come.

use toolcore::inflight::TicketError;
use toolcore::prelude::*;
use toolcore::time::GRACE;
use toolcore::tool::Cancel;
use toolcore::turn::Which;

use super::common::Memory;
use super::support::{
    Kept, Setup, answered, at, calls, cancelled, failed, finish, ms, one_tool, registry, says, table,
    timed_out,
};

#[test]
fn eight_calls_wait_side_by_side_and_a_completion_makes_room_for_the_next() {
    one_tool(None, Cancel::Later, |tools, _, kept| {
        let mut table = table(20, GRACE);
        let (results, log) = Setup::default()
            .turn(tools, &mut table, &calls(&["later"; 10]), |turn, with| {
                assert_eq!(turn.poll(with, at(5)), Ok(None), "nothing is due ever, only a completion helps");
                assert_eq!((kept.count(), turn.open(), with.inflight.len()), (8, 10, 8));
                // The last comes first.
                for which in (0..8).rev() {
                    assert_eq!(
                        turn.complete_with(with, kept.ticket(which), at(6), |result| {
                            result.text(&format!("answer {which}")).unwrap();
                        }),
                        Ok(())
                    );
                    assert_eq!(turn.poll(with, at(7)), Ok(None));
                    assert_eq!(kept.count(), (16 - which).min(10));
                }
                turn.fail(with, kept.ticket(8), at(8), "broken").unwrap();
                finish(turn, with, at(9))
            })
            .unwrap();
        let mut expected: Vec<_> = (0..8).map(|which| answered(&format!("answer {which}"))).collect();
        expected.extend([failed("Tool error: broken"), cancelled("later")]);
        assert_eq!(results, expected);
        let expected = ["5 7 called", "6 7 finished", "7 8 called", "7 6 finished", "7 9 called"];
        assert_eq!(log[7..12], expected, "time does not go back");
    });
}

#[test]
fn the_limit_of_calls_side_by_side_can_be_set_and_is_at_least_one() {
    for (limit, at_once) in [(Some(3), 3), (Some(1), 1), (Some(0), 1), (Some(100), 10), (None, 8)] {
        one_tool(None, Cancel::Later, |tools, _, kept| {
            let mut table = table(20, GRACE);
            let options = AnswerOptions { side_by_side: limit, ..AnswerOptions::default() };
            let run = Setup::with(options).turn(tools, &mut table, &calls(&["later"; 10]), |turn, with| {
                turn.poll(with, at(0)).unwrap();
                assert_eq!(kept.count(), at_once, "{limit:?}");
            });
            run.unwrap();
        });
    }
}

#[test]
fn a_call_that_was_asked_to_end_takes_its_place_until_it_ends_or_is_abandoned() {
    one_tool(Some(10), Cancel::Later, |tools, table, kept| {
        let clock = ManualClock::default();
        let options =
            AnswerOptions { side_by_side: Some(2), clock: Some(&clock), ..AnswerOptions::default() };
        let run = Setup::with(options).turn(tools, table, &calls(&["later"; 4]), |turn, with| {
            assert_eq!(turn.poll(with, at(0)), Ok(Some(at(10))));
            assert_eq!(turn.poll(with, at(10)), Ok(Some(at(1010))));
            assert_eq!((turn.open(), kept.count()), (2, 2), "both timed out, and may still run");
            assert_eq!(turn.complete_with(with, kept.ticket(1), at(12), |_| {}), Err(TicketError::Late));
            turn.poll(with, at(13)).unwrap();
            assert_eq!(kept.count(), 3, "the one that ended made room");
            clock.advance(ms(1010));
            turn.poll(with, at(1010)).unwrap();
            assert_eq!(kept.count(), 4, "the other was abandoned");
        });
        run.unwrap();
    });
}

#[test]
fn a_table_that_is_full_makes_calls_wait_and_loses_none() {
    one_tool(None, Cancel::Later, |tools, _, kept| {
        let mut table = table(2, GRACE);
        let run = Setup::default().turn(tools, &mut table, &calls(&["later"; 5]), |turn, with| {
            for which in 0..5 {
                turn.poll(with, at(0)).unwrap();
                assert_eq!(kept.count(), (which + 2).min(5));
                turn.complete_with(with, kept.ticket(which), at(0), |result| result.text("ok").unwrap())
                    .unwrap();
            }
            finish(turn, with, at(0))
        });
        assert_eq!(run.unwrap().0, vec![answered("ok"); 5]);
        assert_eq!((table.len(), table.capacity()), (0, 2));
    });
}

#[test]
fn without_any_slot_tools_answer_at_once_and_one_that_wants_to_wait_fails() {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("later", None, kept.later()), ("now", None, says("at once"))]);
    let mut none = table(0, GRACE);
    let run = Setup::default().turn(&tools, &mut none, &calls(&["later", "now"]), |turn, with| {
        assert_eq!(turn.poll(with, at(0)), Ok(None));
        assert!(turn.is_done());
        finish(turn, with, at(0))
    });
    let text = "Tool error: the tool answers later, and the table of calls in flight has no place";
    assert_eq!(run.unwrap().0, [failed(text), answered("at once")]);
    assert_eq!(kept.ticket(0).as_u64(), 0, "it is told that nothing would wait for it");
}

#[test]
fn calls_beyond_the_limit_of_a_turn_are_answered_with_a_text_that_says_so() {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("later", None, kept.later()), ("now", None, says("at once"))]);
    let over = || failed("Not executed: at most 2 tool call(s) per turn allowed.");
    let options = AnswerOptions { max_calls: Some(2), ..AnswerOptions::default() };
    let reply = calls(&["later", "now", "now", "later"]);
    let run = Setup::with(options).turn(&tools, &mut table(8, GRACE), &reply, |turn, with| {
        turn.poll(with, at(0)).unwrap();
        assert_eq!((turn.open(), kept.count()), (1, 1));
        turn.complete_with(with, kept.ticket(0), at(0), |result| result.text("done").unwrap()).unwrap();
        finish(turn, with, at(0))
    });
    let (results, log) = run.unwrap();
    assert_eq!(results, [answered("done"), answered("at once"), over(), over()]);
    let expected =
        ["0 0 called", "0 1 called", "0 1 finished", "0 2 finished", "0 3 finished", "0 0 finished"];
    assert_eq!(log, expected);
}

#[test]
fn a_turn_that_ends_early_has_a_result_for_every_call() {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("later", None, kept.later()), ("now", None, says("at once"))]);
    let names = ["now", "later", "later", "nope", "now"];
    let options = AnswerOptions { side_by_side: Some(1), ..AnswerOptions::default() };
    let setup = Setup::with(options);
    let polled = setup.turn(&tools, &mut table(8, GRACE), &calls(&names), |turn, with| {
        turn.poll(with, at(0)).unwrap();
        finish(turn, with, at(1))
    });
    let (results, log) = polled.unwrap();
    assert_eq!(results[0], answered("at once"));
    assert_eq!(results[1..], ["later", "later", "nope", "now"].map(cancelled));
    assert_eq!(log[3..], ["1 1 cancelled", "1 2 cancelled", "1 3 cancelled", "1 4 cancelled"]);
    assert_eq!(*kept.asked.borrow(), [kept.ticket(0)], "only what has begun is asked to end");
    // One that was never polled as well.
    let run =
        setup.turn(&tools, &mut table(8, GRACE), &calls(&names), |turn, with| finish(turn, with, at(1)));
    assert_eq!(run.unwrap().0, names.map(cancelled));
}

#[test]
fn one_call_is_cancelled_and_the_others_go_on() {
    one_tool(None, Cancel::Later, |tools, table, kept| {
        let options = AnswerOptions { side_by_side: Some(2), ..AnswerOptions::default() };
        let run = Setup::with(options).turn(tools, table, &calls(&["later"; 3]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            turn.cancel(with, Which::One(1), at(1));
            turn.cancel(with, Which::One(2), at(1));
            for nobody in [1, 3, usize::MAX] {
                turn.cancel(with, Which::One(nobody), at(2));
            }
            assert_eq!(turn.open(), 1);
            assert_eq!(*kept.asked.borrow(), [kept.ticket(1)]);
            turn.complete_with(with, kept.ticket(0), at(3), |result| result.text("done").unwrap()).unwrap();
            turn.poll(with, at(4)).unwrap();
            assert_eq!(kept.count(), 2, "one that was cancelled before it began never begins");
            finish(turn, with, at(5))
        });
        let (results, log) = run.unwrap();
        assert_eq!(results, [answered("done"), cancelled("later"), cancelled("later")]);
        assert_eq!(log[2..], ["1 1 cancelled", "1 2 cancelled", "3 0 finished"]);
    });
}

#[test]
fn of_calls_that_are_due_at_one_time_the_first_of_the_reply_comes_first() {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(
        &mut memory,
        [("hundred", Some(100), kept.later()), ("fifty", Some(50), kept.tool(Cancel::Ended))],
    );
    let clock = ManualClock::default();
    let names = ["hundred", "fifty", "hundred", "fifty", "hundred"];
    let run = Setup::with_clock(&clock).turn(&tools, &mut table(8, GRACE), &calls(&names), |turn, with| {
        assert_eq!(turn.poll(with, at(0)), Ok(Some(at(50))));
        assert_eq!(turn.poll(with, at(200)), Ok(Some(at(1200))));
        finish(turn, with, at(300))
    });
    let (results, log) = run.unwrap();
    let due = [1, 3, 0, 2, 4].map(|index| format!("200 {index} timed_out"));
    assert_eq!(log[5..], due, "the earlier deadline first, then the order of the reply");
    assert_eq!(results[..2], [timed_out("hundred", "0.1"), timed_out("fifty", "0.05")]);
}

#[test]
fn a_thousand_calls_wait_in_a_table_of_a_thousand() {
    const MANY: usize = 1000;
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("later", Some(100), kept.later())]);
    let clock = ManualClock::default();
    let options = AnswerOptions { side_by_side: Some(MANY), clock: Some(&clock), ..AnswerOptions::default() };
    let setup = Setup { bytes: MANY * toolcore::turn::MIN_KEPT, ..Setup::with(options) };
    let mut table = table(MANY, GRACE);
    let run = setup.turn(&tools, &mut table, &calls(&[&"later"; MANY].map(|name| *name)), |turn, with| {
        assert_eq!(turn.poll(with, at(0)), Ok(Some(at(100))));
        assert_eq!((kept.count(), with.inflight.len()), (MANY, MANY));
        // Every third answers, from the end.
        for which in (0..MANY).rev().step_by(3) {
            let text = format!("answer {which}");
            turn.complete_with(with, kept.ticket(which), at(100), |result| result.text(&text).unwrap())
                .unwrap();
        }
        assert_eq!(turn.poll(with, at(100)), Ok(Some(at(1100))));
        assert!(turn.is_done());
        finish(turn, with, at(102))
    });
    let (results, log) = run.unwrap();
    for (index, result) in results.into_iter().enumerate() {
        let answers = index % 3 == (MANY - 1) % 3;
        let expected = if answers { answered(&format!("answer {index}")) } else { timed_out("later", "0.1") };
        assert_eq!(result, expected);
    }
    let late: Vec<_> = (0..MANY).filter(|index| index % 3 != (MANY - 1) % 3).collect();
    assert!(
        log[MANY + 334..].iter().eq(late
            .iter()
            .map(|index| format!("100 {index} timed_out"))
            .collect::<Vec<_>>()
            .iter())
    );
    assert_eq!(table.len(), late.len());
}

#[test]
fn a_reply_without_calls_is_done_at_once_and_nothing_is_written() {
    one_tool(None, Cancel::Later, |tools, table, _| {
        let reply = r#"{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#;
        let setup = Setup { bytes: 0, ..Setup::default() };
        let run = setup.turn(tools, table, reply, |turn, with| {
            assert_eq!(turn.poll(with, at(0)), Ok(None));
            assert!(turn.is_done());
            let mut sink = Sink::measure();
            assert_eq!(turn.finish(with, at(0), &mut sink).unwrap().calls, 0);
            assert_eq!((sink.len(), turn.measure(with.options)), (0, 0));
        });
        run.unwrap();
    });
}
