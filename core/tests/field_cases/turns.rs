//! The rows about calls that are answered later.

use std::cell::Cell;
use toolcore::time::GRACE;

use serde_json::{Value as Json, json};
use toolcore::inflight::TicketError;
use toolcore::prelude::*;
use toolcore::tool::Cancel;

use crate::common::{Memory, read};
use crate::support::{Kept, Setup, at, calls, registry, results, table, timed_out};

/// The tool runs on after its deadline. It is told to end, and what it brings then is discarded.
pub(crate) fn deadline_cancels(input: &Json) {
    let deadline = input["deadline_ms"].as_u64().unwrap();
    let (ends, rest) = input["callback"]
        .as_str()
        .unwrap()
        .strip_prefix("finishes at ")
        .unwrap()
        .split_once(" ms, ")
        .unwrap();
    let ends: u64 = ends.parse().unwrap();
    assert_eq!(rest, "checks its cancel flag");
    let flag = Cell::new(false);
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tool = kept.later().asked(|_| {
        flag.set(true);
        Cancel::Later
    });
    let tools = registry(&mut memory, [("slow", Some(deadline), tool)]);
    let clock = ManualClock::default();
    let mut table = table(1, GRACE);
    let run = Setup::with_clock(&clock).turn(&tools, &mut table, &calls(&["slow"]), |turn, with| {
        assert_eq!(turn.poll(with, at(0)), Ok(Some(at(deadline))));
        turn.poll(with, at(deadline - 1)).unwrap();
        assert!(!turn.is_done() && !flag.get());
        let abandoned = turn.poll(with, at(deadline)).unwrap();
        assert_eq!(abandoned, Some(at(deadline + GRACE.as_millis())));
        assert!(turn.is_done() && flag.get());
        let mut out = [0; 512];
        let mut sink = Sink::new(&mut out);
        turn.finish(with, at(deadline), &mut sink).unwrap();
        let first = sink.finish().unwrap().to_owned();
        // The late completion, and once more.
        for error in [TicketError::Late, TicketError::Doubled] {
            let text = |result: &mut ToolResult<'_>| result.text("the late result").unwrap();
            assert_eq!(turn.complete_with(with, kept.ticket(0), at(ends), text), Err(error));
            assert!(with.inflight.is_empty());
        }
        let mut sink = Sink::new(&mut out);
        turn.finish(with, at(ends), &mut sink).unwrap();
        assert_eq!(sink.finish().unwrap(), first);
        assert_eq!(turn.poll(with, at(u64::MAX)), Ok(None), "nothing is left to be abandoned");
        first
    });
    let (messages, log) = run.unwrap();
    assert_eq!(results(&read(&messages)), [timed_out("slow", "0.01")]);
    let (due, late) = (format!("{deadline} 0 timed_out"), format!("{ends} 0 late"));
    assert_eq!(log, ["0 0 called", &due, &late]);
    let stats = table.stats();
    assert_eq!((stats.timed_out, stats.late, stats.doubled, stats.abandoned), (1, 1, 1, 0));
    // Its one slot is free again.
    let again = Setup::with_clock(&clock).turn(&tools, &mut table, &calls(&["slow"]), |turn, with| {
        turn.poll(with, at(ends)).unwrap();
        kept.count()
    });
    assert_eq!(again.unwrap().0, 2);
}

/// The first call of the row is answered, and the turn ends while the others wait.
pub(crate) fn orphan_call(input: &Json) {
    let ids: Vec<_> = input["calls"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let blocks: Vec<_> =
        ids.iter().map(|id| json!({"type":"tool_use","id":id,"name":"f","input":{}})).collect();
    let reply = json!({"role":"assistant","content":blocks}).to_string();
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("f", None, kept.later())]);
    let run = Setup::default().turn(&tools, &mut table(4, GRACE), &reply, |turn, with| {
        turn.poll(with, at(0)).unwrap();
        let text = input["results"][0]["text"].as_str().unwrap();
        turn.complete_with(with, kept.ticket(0), at(1), |result| result.text(text).unwrap()).unwrap();
        let mut out = [0; 1024];
        let mut sink = Sink::new(&mut out);
        turn.finish(with, at(2), &mut sink).unwrap();
        read(sink.finish().unwrap())
    });
    let messages = run.unwrap().0;
    assert_eq!(messages.as_array().unwrap().len(), 1);
    let blocks = messages[0]["content"].as_array().unwrap();
    assert!(blocks.iter().map(|block| block["tool_use_id"].as_str().unwrap()).eq(ids));
    assert_eq!((&messages[0]["role"], &blocks[0]["content"]), (&json!("user"), &json!("ok")));
    for block in &blocks[1..] {
        assert_eq!((&block["type"], &block["is_error"]), (&json!("tool_result"), &json!(true)));
        assert!(block["content"].as_str().unwrap().contains("cancelled"));
    }
}
