//! A shared registry answers on any number of threads, each with scratch of its own.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use common::{Memory, answered, open, rendered, with_schema};
use serde_json::json;
use toolcore::call::Call;
use toolcore::dialect::{Dialect, ToolsOptions};
use toolcore::registry::Registry;
use toolcore::result::ToolResult;
use toolcore::tool::{Failure, Handler};

const THREADS: usize = 8;
const ROUNDS: usize = 200;

struct Echo<'c>(&'c AtomicUsize);

impl Handler for Echo<'_> {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if call.name == "fails" {
            return Poll::Ready(Err(Failure::Message("as it always does")));
        }
        result.json(call.args.value().raw())?;
        Poll::Ready(Ok(()))
    }
}

fn shareable<T: Sync>(value: &T) -> &T {
    value
}

#[test]
fn eight_threads_answer_over_one_registry_as_one_does() {
    let runs = AtomicUsize::new(0);
    let mut memory = Memory::ample();
    let mut tools = memory.registry();
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer","maximum":150}},"required":["n"]}"#;
    tools.add(&with_schema("admin.count", schema), Echo(&runs)).unwrap();
    tools.add(&open("fails"), Echo(&runs)).unwrap();
    let tools = shareable(&tools);
    let expected: Vec<String> = (0..ROUNDS).map(|round| turn(tools, round)).collect();
    assert!(
        expected[0].contains("as it always does") && expected[160].contains("maximum")
            || expected[160].contains("150")
    );
    let alone = runs.swap(0, Ordering::Relaxed);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let expected = &expected;
            scope.spawn(move || {
                for step in 0..ROUNDS {
                    // Each thread is at another round.
                    let round = (step + thread * ROUNDS / THREADS) % ROUNDS;
                    assert_eq!(turn(tools, round), expected[round]);
                }
            });
        }
    });
    assert_eq!(runs.load(Ordering::Relaxed), THREADS * alone);
}

/// What one turn writes: the tools and the messages.
fn turn(tools: &Registry<'_, Echo<'_>>, round: usize) -> String {
    let dialect = [Dialect::OpenAiChat, Dialect::Anthropic][round % 2];
    let (shown, _) = rendered(tools, dialect, &ToolsOptions::default()).unwrap();
    let arguments = json!({"n":round,"text":"\u{e9}".repeat(round)});
    let name = dialect.name_rule().wire_name("admin.count");
    let name = name.as_str();
    let reply = match dialect {
        Dialect::OpenAiChat => json!({"content":null,"tool_calls":[
            {"id":"1","type":"function","function":{"name":name,"arguments":arguments.to_string()}},
            {"id":"2","type":"function","function":{"name":"fails","arguments":""}},
            {"id":"3","type":"function","function":{"name":"nope","arguments":"{}"}}]}),
        _ => json!({"content":[
            {"type":"tool_use","id":"1","name":name,"input":arguments},
            {"type":"tool_use","id":"2","name":"fails","input":{}},
            {"type":"tool_use","id":"3","name":"nope","input":{}}]}),
    };
    shown + &answered(tools, dialect, &reply.to_string()).text
}
