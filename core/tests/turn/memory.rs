//! Memory: what a turn needs, how results share it, and writing them.

use toolcore::dispatch::DispatchError;
use toolcore::prelude::*;
use toolcore::result::{MAX_PARTS, Usage};
use toolcore::time::GRACE;
use toolcore::tool::Cancel;
use toolcore::turn::{MIN_KEPT, TurnError};

use super::common::{Memory, read, with_schema};
use super::support::{
    Setup, answered, at, at_once, calls, finish, ms, one_tool, registry, results, says, table,
};

#[test]
fn too_little_memory_is_named_exactly_and_as_much_as_is_named_is_enough() {
    one_tool(None, Cancel::Later, |tools, table, _| {
        let reply = calls(&["later"; 3]);
        let (few, small) = (2, 3 * MIN_KEPT - 1);
        for (entries, bytes, error) in [
            (few, small, (3, 3 * MIN_KEPT)),
            (3, small, (0, 3 * MIN_KEPT)),
            (few, 3 * MIN_KEPT, (3, 0)),
            (0, 0, (3, 3 * MIN_KEPT)),
        ] {
            let setup = Setup { entries: Some(entries), bytes, ..Setup::default() };
            let error = TurnError::NoSpace { entries: error.0, bytes: error.1 };
            assert_eq!(setup.turn(tools, table, &reply, |_, _| ()).unwrap_err(), error);
        }
        let setup = Setup { entries: Some(3), bytes: 3 * MIN_KEPT, ..Setup::default() };
        let run = setup.turn(tools, table, &reply, |turn, with| {
            turn.poll(with, at(0)).unwrap();
            finish(turn, with, at(0))
        });
        assert_eq!(run.unwrap().0.len(), 3);
    });
}

#[test]
fn a_result_that_outgrows_its_share_is_cut_and_the_others_keep_theirs() {
    let long = "ä".repeat(1000);
    one_tool(None, Cancel::Later, |tools, table, kept| {
        let setup = Setup { bytes: 4 * MIN_KEPT + 400, ..Setup::default() };
        let run = setup.turn(tools, table, &calls(&["later"; 4]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            for which in 0..4 {
                turn.complete_with(with, kept.ticket(which), at(0), |result| result.text(&long).unwrap())
                    .unwrap();
            }
            finish(turn, with, at(0))
        });
        for (text, failed) in run.unwrap().0 {
            let (shown, notice) = text.split_once("… [truncated, ").unwrap();
            assert!(long.starts_with(shown.trim_end()) && !failed);
            // An even share: what is kept for each, and a quarter of what is spare; less the shape, maybe half a letter.
            let share = MIN_KEPT + 100 - 4 - 16;
            assert!((share - 1..=share).contains(&shown.trim_end().len()), "{}", shown.len());
            assert_eq!(notice, format!("{} of 2,000 bytes]", shown.trim_end().len()));
        }
    });
}

#[test]
fn what_one_result_leaves_of_its_share_the_others_may_take() {
    let long = "x".repeat(600);
    one_tool(None, Cancel::Later, |tools, table, kept| {
        let setup = Setup { bytes: 2 * MIN_KEPT + 300, ..Setup::default() };
        let run = setup.turn(tools, table, &calls(&["later"; 2]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            turn.complete_with(with, kept.ticket(1), at(0), |result| result.text("short").unwrap()).unwrap();
            turn.complete_with(with, kept.ticket(0), at(0), |result| result.text(&long).unwrap()).unwrap();
            finish(turn, with, at(0))
        });
        assert_eq!(run.unwrap().0, [answered(&long), answered("short")]);
    });
}

#[test]
fn a_large_result_comes_through_whole_with_all_its_parts_and_what_it_cost() {
    let image: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let fill = |result: &mut ToolResult<'_>| {
        result.text("a text").unwrap();
        result.json(r#"{"a":[1,2,3]}"#).unwrap();
        result.image("image/png", &image).unwrap();
        result.link("manual", "https://example.com").unwrap();
        for _ in 4..MAX_PARTS {
            result.text("more").unwrap();
        }
        result.add_usage(Usage {
            input_tokens: 3,
            cost_micros: 1_000_000,
            latency: ms(7),
            ..Usage::default()
        });
    };
    let kept = super::support::Kept::default();
    let mut memory = Memory::ample();
    let now = at_once(|_, result| {
        fill(result);
        Ok(())
    });
    let tools = registry(&mut memory, [("now", None, now)]);
    let mut more = Memory::ample();
    let later = registry(&mut more, [("now", None, kept.later())]);
    let reply = calls(&["now"]);
    let whole = super::common::answered(&tools, Dialect::Anthropic, &reply);
    // At once, copied from another result, and written into the turn's own memory.
    for way in 0..3 {
        let tools = if way == 0 { &tools } else { &later };
        let mut table = table(1, GRACE);
        let run = Setup::default().turn(tools, &mut table, &reply, |turn, with| {
            turn.poll(with, at(0)).unwrap();
            let ticket = kept.tickets.borrow().last().copied();
            let mut memory = vec![0; 8192];
            let mut result = ToolResult::new(&mut memory);
            fill(&mut result);
            match way {
                1 => turn.complete(with, ticket.unwrap(), at(0), &result).unwrap(),
                2 => turn.complete_with(with, ticket.unwrap(), at(0), fill).unwrap(),
                _ => {}
            }
            let mut out = vec![0; 64 * 1024];
            let mut sink = Sink::new(&mut out);
            let outcome = turn.finish(with, at(0), &mut sink).unwrap();
            assert_eq!((outcome.usage.cost_micros, outcome.usage.latency), (1_000_000, ms(7)));
            sink.finish().unwrap().to_owned()
        });
        assert_eq!(run.unwrap().0, whole.text, "{way}");
    }
}

#[test]
fn an_image_that_does_not_fit_becomes_a_text_that_says_so() {
    one_tool(None, Cancel::Later, |tools, table, kept| {
        let setup = Setup { bytes: MIN_KEPT, ..Setup::default() };
        let run = setup.turn(tools, table, &calls(&["later"]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            let mut memory = [0; 2048];
            let mut result = ToolResult::new(&mut memory);
            result.text("before").unwrap();
            result.image("image/png", &[7; 1000]).unwrap();
            turn.complete(with, kept.ticket(0), at(0), &result).unwrap();
            finish(turn, with, at(0))
        });
        let (text, failed) = run.unwrap().0.remove(0);
        assert!(
            text.contains("before") && text.contains("[truncated, 0 of 1,009 bytes]") && !failed,
            "{text}"
        );
    });
}

#[test]
fn an_empty_sink_measures_a_small_one_cuts_and_what_was_measured_is_what_is_written() {
    let long = "long ".repeat(100);
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("long", None, says(&long)), ("short", None, says("ok"))]);
    for names in [&["long", "short", "long"][..], &["short", "short"]] {
        let mut table = table(1, GRACE);
        let run = Setup::default().turn(&tools, &mut table, &calls(names), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            let measured = turn.measure(with.options);
            assert_eq!(turn.finish(with, at(0), &mut Sink::measure()), Err(NoSpace { need: measured }));
            let mut out = vec![0; measured];
            // So little that no result could be cut to it.
            let least = turn.finish(with, at(0), &mut Sink::new(&mut out[..1])).unwrap_err().need;
            for room in [least, least + 50, measured] {
                let mut sink = Sink::new(&mut out[..room.min(measured)]);
                turn.finish(with, at(0), &mut sink).unwrap();
                let text = sink.finish().unwrap();
                let whole = results(&read(text)).iter().all(|(text, _)| !text.contains("truncated"));
                assert_eq!((whole, text.len() == measured), (room >= measured, room >= measured));
            }
            // After what stands in the sink already.
            let mut out = vec![0; measured + 3];
            let mut sink = Sink::new(&mut out);
            sink.put("abc");
            turn.finish(with, at(0), &mut sink).unwrap();
            assert_eq!(sink.finish().unwrap().len(), measured + 3);
        });
        run.unwrap();
    }
}

#[test]
fn a_limit_for_results_holds_for_those_of_a_turn() {
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("long", None, says("0123456789"))]);
    let options = AnswerOptions { result_limit: Some(4), ..AnswerOptions::default() };
    let run = Setup::with(options).turn(&tools, &mut table(1, GRACE), &calls(&["long"]), |turn, with| {
        turn.poll(with, at(0)).unwrap();
        finish(turn, with, at(0))
    });
    let (text, _) = run.unwrap().0.remove(0);
    assert!(text.starts_with("0123") && text.ends_with("[truncated, 4 of 10 bytes]"), "{text}");
}

/// Safe code can swap the result for one in other memory; that is the tool's mistake, and harmless.
#[test]
fn a_result_in_memory_of_the_tools_own_loses_its_parts_and_nothing_else() {
    let foreign = || {
        let mut result = ToolResult::new(vec![0; 64].leak());
        result.text("elsewhere").unwrap();
        result
    };
    let mut memory = Memory::ample();
    let swaps = at_once(|_, result| {
        *result = foreign();
        Ok(())
    });
    let tools = registry(&mut memory, [("swaps", None, swaps), ("short", None, says("ok"))]);
    let run =
        Setup::default().turn(&tools, &mut table(1, GRACE), &calls(&["swaps", "short"]), |turn, with| {
            turn.poll(with, at(0)).unwrap();
            finish(turn, with, at(0))
        });
    let (results, _) = run.unwrap();
    assert!(results[0].0.contains("[truncated, 0 of 9 bytes]"), "{results:?}");
    assert_eq!(results[1], answered("ok"));
}

/// What is free is the scratch memory of the checker too.
#[test]
fn a_call_that_lacks_scratch_is_an_error_before_any_tool_ran_and_a_result_after() {
    let mut memory = Memory::ample();
    let mut tools = registry(&mut memory, [("now", None, says("at once"))]);
    let integer = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let coerces = ToolDefinition { coerce: true, ..with_schema("coerces", integer) };
    tools.add(&coerces, says("coerced")).unwrap();
    let long = "x".repeat(600);
    let input = format!(r#""name":"coerces","input":{{"n":"5","long":"{long}"}}"#);
    let first = format!(r#"{{"content":[{{"type":"tool_use","id":"c0",{input}}}]}}"#);
    let run = |reply: &str, bytes: usize| {
        let setup = Setup { bytes, ..Setup::default() };
        let run = setup.turn(&tools, &mut table(1, GRACE), reply, |turn, with| {
            turn.poll(with, at(0)).map(|_| finish(turn, with, at(0)))
        });
        run.unwrap().0
    };
    let Err(TurnError::Dispatch { call: 0, error: DispatchError::NoSpace { words: 0, bytes } }) =
        run(&first, 2 * MIN_KEPT)
    else {
        panic!("there is too little memory")
    };
    assert_eq!(run(&first, bytes), Ok(vec![answered("coerced")]));
    let now = r#"{"type":"tool_use","id":"c0","name":"now","input":{}}"#;
    let second = format!(r#"{{"content":[{now},{{"type":"tool_use","id":"c1",{input}}}]}}"#);
    let results = run(&second, 2 * MIN_KEPT).unwrap();
    assert_eq!(results[0], answered("at once"));
    assert!(results[1].0.starts_with("Tool error: Tool 'coerces' was not executed: no space"), "{results:?}");
}
