//! Tickets that come late, twice, long after or from nowhere, and turns that were left.

use toolcore::call::Ticket;
use toolcore::inflight::{InFlight, Slot, Stats, TicketError};
use toolcore::prelude::*;
use toolcore::time::GRACE;
use toolcore::tool::Cancel;
use toolcore::turn::{Entry, Runtime, Turn, Which, end, serve};

use super::support::{Setup, answered, at, calls, cancelled, finish, one_tool, table};

fn done(result: &mut ToolResult<'_>) {
    result.text("done").unwrap();
}

#[test]
fn a_ticket_that_cannot_be_used_says_why_changes_nothing_and_is_counted() {
    one_tool(None, Cancel::Later, |tools, _, kept| {
        let mut table = table(1, GRACE);
        let reply = calls(&["later"; 3]);
        let run = Setup::default().turn(tools, &mut table, &reply, |turn, with| {
            turn.poll(with, at(0)).unwrap();
            let first = kept.ticket(0);
            turn.complete_with(with, first, at(0), done).unwrap();
            let again = |turn: &mut Turn<'_>, with: &mut Runtime<'_, '_, '_, '_, _, _>, ticket, error| {
                assert_eq!(turn.complete(with, ticket, at(0), &ToolResult::new(&mut [])), Err(error));
                assert_eq!(turn.fail(with, ticket, at(0), "again"), Err(error));
                assert_eq!(turn.progress(with, ticket, at(0), (1, 1), ""), Err(error));
            };
            again(turn, with, first, TicketError::Doubled);
            turn.poll(with, at(0)).unwrap();
            again(turn, with, first, TicketError::Stale);
            let second = kept.ticket(1);
            assert_ne!(first, second);
            for number in
                [0, 1, u64::MAX, second.as_u64() + 1, second.as_u64() + (1 << 32), u64::from(u32::MAX)]
            {
                again(turn, with, Ticket::from_u64(number), TicketError::Unknown);
            }
            turn.cancel(with, Which::One(1), at(0));
            assert_eq!(turn.progress(with, second, at(0), (1, 1), ""), Err(TicketError::Late));
            assert_eq!(turn.complete_with(with, second, at(0), done), Err(TicketError::Late));
            again(turn, with, second, TicketError::Doubled);
            turn.poll(with, at(0)).unwrap();
            turn.complete_with(with, kept.ticket(2), at(0), done).unwrap();
            finish(turn, with, at(0))
        });
        assert_eq!(run.unwrap().0, [answered("done"), cancelled("later"), answered("done")]);
        let expected = Stats {
            completed: 2,
            cancelled: 1,
            late: 2,
            doubled: 6,
            stale: 3,
            unknown: 18,
            ..Stats::default()
        };
        assert_eq!(table.stats(), expected);
    });
}

#[test]
fn the_ticket_of_a_call_that_was_answered_at_once_is_used_up() {
    let kept = super::support::Kept::default();
    let mut memory = super::common::Memory::ample();
    let keeps = super::support::at_once(|call, result| {
        kept.tickets.borrow_mut().push(call.ticket().unwrap());
        Ok(result.text("at once")?)
    });
    let tools = super::support::registry(&mut memory, [("keeps", None, keeps)]);
    let mut table = table(1, GRACE);
    let run = Setup::default().turn(&tools, &mut table, &calls(&["keeps"]), |turn, with| {
        turn.poll(with, at(0)).unwrap();
        let ended = turn.complete_with(with, kept.ticket(0), at(0), done);
        assert_eq!(ended, Err(TicketError::Doubled));
        finish(turn, with, at(0))
    });
    assert_eq!(run.unwrap().0, [answered("at once")]);
}

#[test]
fn tickets_differ_over_turns_and_slots() {
    one_tool(None, Cancel::Ended, |tools, table, kept| {
        for _ in 0..50 {
            let run = Setup::default().turn(tools, table, &calls(&["later"; 5]), |turn, with| {
                turn.poll(with, at(0)).unwrap();
                finish(turn, with, at(0))
            });
            run.unwrap();
        }
        let mut tickets = kept.tickets.borrow().clone();
        tickets.sort_unstable();
        tickets.dedup();
        assert_eq!(tickets.len(), 250);
    });
}

#[test]
fn a_call_that_outlives_its_turn_is_served_by_the_next_one() {
    one_tool(None, Cancel::Later, |tools, table, kept| {
        let reply = calls(&["later"; 2]);
        let start = |turn: &mut Turn<'_>, with: &mut Runtime<'_, '_, '_, '_, _, _>| {
            turn.poll(with, at(0)).unwrap();
            finish(turn, with, at(10));
        };
        Setup::default().turn(tools, table, &reply, start).unwrap();
        assert_eq!((table.len(), table.next()), (2, Some(at(1010))));
        let run = Setup::default().turn(tools, table, &calls(&["later"]), |turn, with| {
            assert_eq!(turn.poll(with, at(20)), Ok(Some(at(1010))));
            assert_eq!(turn.complete_with(with, kept.ticket(0), at(21), done), Err(TicketError::Late));
            assert_eq!(turn.poll(with, at(1010)), Ok(None));
            turn.complete_with(with, kept.ticket(2), at(1011), done).unwrap();
            finish(turn, with, at(1012))
        });
        let (results, log) = run.unwrap();
        assert_eq!(results, [answered("done")]);
        assert_eq!(log, ["20 0 called", "21 0 late", "1010 1 abandoned", "1011 0 finished"]);
    });
}

/// Left without an end; what comes of its calls afterwards depends on who is told of it first.
#[test]
fn calls_of_a_turn_that_was_left_are_cancelled_once_and_their_slots_come_back() {
    for next in ["a new turn", "a completion in a new turn", "a completion without a turn"] {
        one_tool(None, Cancel::Later, |tools, table, kept| {
            let reply = calls(&["later"]);
            let (_, log) = Setup::default()
                .turn(tools, table, &reply, |turn, with| turn.poll(with, at(0)).unwrap())
                .unwrap();
            assert_eq!(log, ["0 0 called"]);
            let ticket = kept.ticket(0);
            let mut log = Vec::new();
            let late = Err(TicketError::Late);
            if next == "a completion without a turn" {
                let mut watch = |event: &toolcore::turn::Event<'_>| log.push(event.kind.name().to_owned());
                let options = AnswerOptions::default();
                let mut with =
                    Runtime { registry: tools, inflight: table, options: &options, watch: &mut watch };
                assert_eq!(serve(&mut with, at(1)), None, "it may go on as long as there is no new turn");
                assert_eq!(end(&mut with, ticket, at(1)), late);
                assert_eq!(end(&mut with, ticket, at(1)), Err(TicketError::Doubled));
            } else {
                let run = Setup::default().turn(tools, table, &reply, |turn, with| {
                    if next == "a completion in a new turn" {
                        assert_eq!(turn.progress(with, ticket, at(1), (1, 2), ""), late);
                        assert_eq!(turn.complete_with(with, ticket, at(1), done), late);
                    } else {
                        assert_eq!(turn.poll(with, at(1)), Ok(Some(at(1001))));
                        assert_eq!(*kept.asked.borrow(), [ticket]);
                        assert_eq!(turn.complete_with(with, ticket, at(2), done), late);
                    }
                });
                log = run.unwrap().1;
                log.retain(|line| !line.contains("called"));
            }
            let expected = match next {
                "a new turn" => &["1 0 cancelled", "2 0 late"][..],
                "a completion in a new turn" => &["1 0 cancelled"],
                _ => &["cancelled"],
            };
            assert_eq!(log, expected);
            let stats = table.stats();
            assert_eq!((stats.cancelled, stats.completed, stats.late > 0), (1, 0, true), "{next}");
        });
    }
}

/// Two turns over one table at once are the host's mistake; still each call has its one result.
#[test]
fn a_turn_that_goes_on_after_a_new_one_began_has_its_calls_cancelled() {
    one_tool(None, Cancel::Later, |tools, table, kept| {
        let options = AnswerOptions::default();
        let reply = calls(&["later"; 2]);
        let (mut words, mut bytes) = (vec![0; 512], vec![0; 4096]);
        let (mut more_words, mut more_bytes) = (vec![0; 512], vec![0; 4096]);
        let read = |words, bytes| {
            let options = toolcore::dialect::ReplyOptions::default();
            let scratch = Scratch::new(words, bytes);
            toolcore::dialect::parse_reply(Dialect::Anthropic, reply.as_bytes(), options, scratch).unwrap()
        };
        let (mut entries, mut more_entries) = ([Entry::default(); 2], [Entry::default(); 2]);
        let (first, scratch) = read(&mut words, &mut bytes);
        let mut first = Turn::new(first, table, &mut entries, scratch).unwrap();
        let mut watch = |_: &toolcore::turn::Event<'_>| {};
        let mut with =
            Runtime { registry: tools, inflight: &mut *table, options: &options, watch: &mut watch };
        first.poll(&mut with, at(0)).unwrap();
        let (second, scratch) = read(&mut more_words, &mut more_bytes);
        let mut second = Turn::new(second, with.inflight, &mut more_entries, scratch).unwrap();
        second.poll(&mut with, at(1)).unwrap();
        // Each brings the other what is not its own.
        let late = Err(TicketError::Late);
        assert_eq!(first.complete_with(&mut with, kept.ticket(2), at(2), done), late);
        assert_eq!(second.complete_with(&mut with, kept.ticket(0), at(2), done), late);
        assert_eq!(second.complete_with(&mut with, kept.ticket(3), at(2), done), Ok(()));
        assert_eq!(finish(&mut first, &mut with, at(3)), vec![cancelled("later"); 2]);
        assert_eq!(finish(&mut second, &mut with, at(3)), [cancelled("later"), answered("done")]);
        serve(&mut with, at(9000));
        assert!(with.inflight.is_empty());
    });
}

#[test]
fn a_ticket_of_another_table_is_unknown_if_their_series_differ() {
    one_tool(None, Cancel::Later, |tools, first, kept| {
        let mut slots = vec![Slot::new(); 2];
        let mut second = InFlight::in_series(&mut slots, GRACE, 1);
        let reply = calls(&["later"]);
        Setup::default().turn(tools, first, &reply, |turn, with| turn.poll(with, at(0))).unwrap().0.unwrap();
        let run = Setup::default().turn(tools, &mut second, &reply, |turn, with| {
            turn.poll(with, at(0)).unwrap();
            assert_ne!(kept.ticket(0), kept.ticket(1));
            assert_eq!(turn.complete_with(with, kept.ticket(0), at(0), done), Err(TicketError::Unknown));
            turn.complete_with(with, kept.ticket(1), at(0), done).unwrap();
            finish(turn, with, at(0))
        });
        assert_eq!(run.unwrap().0, [answered("done")]);
        assert_eq!((second.stats().unknown, second.stats().completed), (1, 1));
    });
}
