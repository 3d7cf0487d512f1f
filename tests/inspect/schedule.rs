//! Calls that answer later, over the clock of the desk tool: the op `schedule`, and `answer` with tools of that kind.
//!
//! Expected logs are worked out by hand from the rules: a call is due at its deadline, and what comes
//! then is in time if it comes before the poll; then its tool is asked to end, and abandoned when the grace period is over; calls begin in their order as long as
//! there is room; each gets one result, in the order of the calls.

use serde_json::{Value, json};
use toolcore_tests::desk::Desk;
use toolcore_tests::shared;

/// A request: its tools are named after what they do, and its events are told in words, `TIME VERB …` between
/// semicolons.
fn request(more: &Value, events: &str) -> Value {
    let tool = |name: &str, behaviour: Value| json!({"name": name, "parameters": {"type": "object"}, "behaviour": behaviour});
    let tools = [
        tool("now", json!({})),
        tool("busy_20", json!({"busy_ms": 20, "text": "busy"})),
        tool("in_0", json!({"pending_ms": 0, "text": "in 0"})),
        tool("in_5", json!({"pending_ms": 5, "text": "in 5"})),
        tool("in_10", json!({"pending_ms": 10, "text": "in 10"})),
        tool("in_11", json!({"pending_ms": 11, "text": "in 11"})),
        tool("in_50", json!({"pending_ms": 50, "text": "in 50"})),
        tool("fails_in_5", json!({"pending_ms": 5, "error": "broken"})),
        tool("busy_20_then_in_5", json!({"busy_ms": 20, "pending_ms": 5})),
        tool("never", json!({"pending_ms": null})),
        tool("deaf_50", json!({"stubborn_ms": 50, "text": "deaf"})),
        tool("deaf", json!({"stubborn_ms": null})),
    ];
    let events: Vec<Value> = events.split(';').map(event).collect();
    let mut request = json!({"op": "schedule", "dialect": "anthropic", "tools": tools, "events": events});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

fn event(words: &str) -> Value {
    let words: Vec<&str> = words.split_whitespace().collect();
    let at: u64 = words[0].parse().unwrap_or_else(|_| panic!("{words:?}"));
    let number = |word: &str| word.parse::<u64>().unwrap();
    let (verb, value) = match words[1..] {
        ["call", id, name] => ("call", json!({"id": id, "name": name})),
        ["complete", id] => ("complete", json!(id)),
        ["complete", id, text] => ("complete", json!({"id": id, "text": text})),
        ["progress", id, done, total] => {
            ("progress", json!({"id": id, "done": number(done), "total": number(total)}))
        }
        ["cancel", "all"] => ("cancel", json!(true)),
        ["cancel", id] => ("cancel", json!(id)),
        [verb @ ("poll" | "finish")] => (verb, json!(true)),
        _ => panic!("{words:?}"),
    };
    json!({"at_ms": at, verb: value})
}

/// The log in words, `TIME ID WHAT`.
fn log(answer: &Value) -> String {
    let lines = answer["log"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let line = |line: &Value| {
        format!("{} {} {}", line["at_ms"], line["id"].as_str().unwrap_or("-"), line["what"].as_str().unwrap())
    };
    lines.iter().map(line).collect::<Vec<_>>().join("; ")
}

/// What became of the calls, `ID KIND`.
fn outcomes(answer: &Value) -> String {
    let outcomes = answer["outcomes"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let each = |it: &Value| format!("{} {}", it["id"].as_str().unwrap_or("-"), it["kind"].as_str().unwrap());
    outcomes.iter().map(each).collect::<Vec<_>>().join("; ")
}

/// What the model reads, `(ID, text)`, of one turn or several.
fn results(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    let messages = answer["messages"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let flat = messages.iter().flat_map(|it| it.as_array().cloned().unwrap_or_else(|| vec![it.clone()]));
    flat.flat_map(|message| message["content"].as_array().unwrap().clone())
        .map(|result| (text(&result["tool_use_id"]), text(&result["content"])))
        .collect()
}

/// What is done, and what comes of it: log, outcomes.
struct Row(&'static str, Value, &'static str, &'static str, &'static str);

#[allow(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Row> {
    vec![
        Row(
            "the one that answers first is not the first in the messages",
            json!({}),
            "0 call a in_10; 0 call b in_5; 0 call c now",
            "0 a called; 0 b called; 0 c called; 0 c finished; 5 b finished; 10 a finished",
            "a answered; b answered; c answered",
        ),
        Row(
            "what is due at once is not before its call",
            json!({}),
            "3 call a in_0; 3 call b now",
            "3 a called; 3 b called; 3 b finished; 3 a finished",
            "a answered; b answered",
        ),
        Row(
            "a tool that answers at the deadline is in time",
            json!({"timeout_ms": 10}),
            "0 call a in_10",
            "0 a called; 10 a finished",
            "a answered",
        ),
        Row(
            "so are two",
            json!({"timeout_ms": 10}),
            "0 call a in_10; 0 call b in_10",
            "0 a called; 0 b called; 10 a finished; 10 b finished",
            "a answered; b answered",
        ),
        Row(
            "so is what the host brings then",
            json!({"timeout_ms": 10}),
            "0 call a never; 10 progress a 1 1; 10 complete a yes; 10 poll",
            "0 a called; 10 a progress; 10 a finished",
            "a answered",
        ),
        Row(
            "after a poll at the deadline it is late",
            json!({"timeout_ms": 10}),
            "0 call a never; 10 poll; 10 progress a 1 1; 10 complete a yes",
            "0 a called; 10 a timed_out; 10 a late; 10 a late",
            "a timed_out",
        ),
        Row(
            "a tool that would answer a millisecond later has timed out",
            json!({"timeout_ms": 10}),
            "0 call a in_11",
            "0 a called; 10 a timed_out",
            "a timed_out",
        ),
        Row(
            "a tool that heeds leaves nothing",
            json!({"timeout_ms": 10}),
            "0 call a in_50",
            "0 a called; 10 a timed_out",
            "a timed_out",
        ),
        Row(
            "one that does not ends late",
            json!({"timeout_ms": 10}),
            "0 call a deaf_50",
            "0 a called; 10 a timed_out; 50 a late",
            "a timed_out",
        ),
        Row(
            "one that does not end is abandoned after a second",
            json!({"timeout_ms": 10}),
            "0 call a deaf",
            "0 a called; 10 a timed_out; 1010 a abandoned",
            "a timed_out",
        ),
        Row(
            "the grace period can be shorter",
            json!({"timeout_ms": 10, "grace_ms": 20}),
            "0 call a deaf_50",
            "0 a called; 10 a timed_out; 30 a abandoned; 50 a late",
            "a timed_out",
        ),
        Row(
            "and nothing",
            json!({"timeout_ms": 10, "grace_ms": 0}),
            "0 call a deaf_50",
            "0 a called; 10 a timed_out; 10 a abandoned; 50 a late",
            "a timed_out",
        ),
        Row(
            "the next one begins when there is room",
            json!({"side_by_side": 1}),
            "0 call a in_5; 0 call b in_10; 0 call c now",
            "0 a called; 5 a finished; 5 b called; 15 b finished; 15 c called; 15 c finished",
            "a answered; b answered; c answered",
        ),
        Row(
            "a call that was asked to end takes room until it has",
            json!({"side_by_side": 1, "timeout_ms": 10, "grace_ms": 20}),
            "0 call a deaf; 0 call b in_5",
            "0 a called; 10 a timed_out; 30 a abandoned; 30 b called; 35 b finished",
            "a timed_out; b answered",
        ),
        Row(
            "a deadline begins with the call, not with the turn",
            json!({"side_by_side": 1, "timeout_ms": 10}),
            "0 call a in_5; 0 call b never",
            "0 a called; 5 a finished; 5 b called; 15 b timed_out",
            "a answered; b timed_out",
        ),
        Row(
            "calls over the limit do not begin",
            json!({"max_calls": 1}),
            "0 call a in_5; 0 call b in_5",
            "0 a called; 0 b finished; 5 a finished",
            "a answered; b over_limit",
        ),
        Row(
            "a call that cannot be run is finished at once",
            json!({}),
            "0 call a in_5; 0 call b missing",
            "0 a called; 0 b finished; 5 a finished",
            "a answered; b unknown_tool",
        ),
        Row(
            "a tool may fail later",
            json!({}),
            "0 call a fails_in_5",
            "0 a called; 5 a finished",
            "a tool_failed",
        ),
        Row(
            "a host completes calls before their tools do, which then bring nothing",
            json!({}),
            "0 call a in_50; 0 call b never; 7 complete b yes; 9 complete a",
            "0 a called; 0 b called; 7 b finished; 9 a finished",
            "a answered; b answered",
        ),
        Row(
            "a second completion is harmless",
            json!({}),
            "0 call a never; 0 call b in_10; 2 complete a yes; 3 complete a no; 4 progress a 1 1",
            "0 a called; 0 b called; 2 a finished; 3 a doubled; 4 a doubled; 10 b finished",
            "a answered; b answered",
        ),
        Row(
            "so is one of a call whose place has another one",
            json!({}),
            "0 call a in_5; 6 call b in_10; 7 complete a no",
            "0 a called; 5 a finished; 6 b called; 7 a stale; 16 b finished",
            "a answered; b answered",
        ),
        Row(
            "so is one of a call that has not begun",
            json!({"side_by_side": 1}),
            "0 call a in_5; 0 call b in_5; 3 complete b no",
            "0 a called; 3 b unknown; 5 a finished; 5 b called; 10 b finished",
            "a answered; b answered",
        ),
        Row(
            "progress moves no deadline",
            json!({"timeout_ms": 10}),
            "0 call a never; 4 progress a 1 2; 9 progress a 2 2; 12 progress a 3 2",
            "0 a called; 4 a progress; 9 a progress; 10 a timed_out; 12 a late",
            "a timed_out",
        ),
        Row(
            "a poll that nobody asked for changes nothing",
            json!({"timeout_ms": 10}),
            "0 call a in_50; 5 poll; 10 poll; 11 poll; 12 poll",
            "0 a called; 10 a timed_out",
            "a timed_out",
        ),
        Row(
            "a call is cancelled alone",
            json!({}),
            "0 call a in_50; 0 call b in_50; 5 cancel a; 6 complete a no; 7 cancel a",
            "0 a called; 0 b called; 5 a cancelled; 6 a late; 50 b finished",
            "a cancelled; b answered",
        ),
        Row(
            "all are, also those that have not begun, and one that has its result keeps it",
            json!({"side_by_side": 2, "grace_ms": 20}),
            "0 call a in_5; 0 call b deaf; 0 call c in_50; 0 call d now; 9 cancel all",
            "0 a called; 0 b called; 5 a finished; 5 c called; 9 b cancelled; 9 c cancelled; 9 d cancelled; \
             29 b abandoned",
            "a answered; b cancelled; c cancelled; d cancelled",
        ),
        Row(
            "a turn that ends early has a result for every call",
            json!({}),
            "0 call a in_5; 0 call b in_50; 0 call c deaf_50; 8 finish",
            "0 a called; 0 b called; 0 c called; 5 a finished; 8 b cancelled; 8 c cancelled; 50 c late",
            "a answered; b cancelled; c cancelled",
        ),
        Row(
            "what never ends is cancelled when nothing else is due",
            json!({}),
            "0 call a never; 0 call b in_5",
            "0 a called; 0 b called; 5 b finished; 5 a cancelled",
            "a cancelled; b answered",
        ),
        Row(
            "the next reply waits for the results of the one before",
            json!({}),
            "0 call a in_50; 5 call b now; 6 call c in_5",
            "0 a called; 50 a finished; 50 b called; 50 b finished; 50 c called; 55 c finished",
            "a answered; b answered; c answered",
        ),
        Row(
            "a turn does not wait for a tool that an earlier one gave up",
            json!({"timeout_ms": 10, "grace_ms": 100}),
            "0 call a deaf; 12 call b in_5",
            "0 a called; 10 a timed_out; 12 b called; 17 b finished; 110 a abandoned",
            "a timed_out; b answered",
        ),
        Row(
            "a tool that is busy moves the clock, and what comes after it begins later",
            json!({"timeout_ms": 30}),
            "0 call a busy_20; 0 call b in_5; 10 poll",
            "0 a called; 20 a finished; 20 b called; 25 b finished",
            "a answered; b answered",
        ),
        Row(
            "one that is busy beyond its deadline has timed out, whatever it brings",
            json!({"timeout_ms": 15}),
            "0 call a busy_20; 0 call b busy_20_then_in_5",
            "0 a called; 20 a timed_out; 20 b called; 40 b timed_out",
            "a timed_out; b timed_out",
        ),
    ]
}

#[test]
fn schedules_have_the_log_that_the_rules_ask_for() {
    let test = "schedules_have_the_log_that_the_rules_ask_for";
    let Some(mut desk) = Desk::shared(test) else { return };
    for Row(name, more, events, expected, kinds) in rows() {
        let answer = desk.ask(&request(&more, events));
        assert_eq!(
            (log(&answer).as_str(), outcomes(&answer).as_str()),
            (expected, kinds),
            "{name}: {answer}"
        );
        // One result for each call, in the order of the calls.
        let calls: Vec<&str> = kinds.split("; ").map(|kind| kind.split(' ').next().unwrap()).collect();
        let ids: Vec<String> = results(&answer).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, calls, "{name}: {answer}");
        let settled = |id: &str| {
            let settles = ["finished", "timed_out", "cancelled"];
            let lines = answer["log"].as_array().unwrap().iter();
            lines.filter(|line| line["id"] == id && settles.contains(&line["what"].as_str().unwrap())).count()
        };
        assert!(calls.iter().all(|id| settled(id) == 1), "{name}: {answer}");
        // What the library has counted is what it told; nothing is left.
        for word in ["abandoned", "late", "doubled", "stale", "unknown"] {
            let lines = answer["log"].as_array().unwrap().iter().filter(|line| line["what"] == word).count();
            assert_eq!(answer["counts"][word], lines, "{name}: {word}: {answer}");
        }
        assert_eq!(answer["counts"]["in_flight"], 0, "{name}: {answer}");
    }
}

#[test]
fn the_same_schedule_gives_the_same_bytes() {
    let test = "the_same_schedule_gives_the_same_bytes";
    let (Some(mut one), Some(mut other)) = (Desk::start(test, &[]), Desk::start(test, &[])) else { return };
    let requests: Vec<String> =
        rows().iter().map(|Row(_, more, events, ..)| request(more, events).to_string()).collect();
    let first: Vec<String> = requests.iter().map(|line| one.send(line.as_bytes())).collect();
    // In another process, in another order.
    let mut second: Vec<String> = requests.iter().rev().map(|line| other.send(line.as_bytes())).collect();
    second.reverse();
    assert_eq!(first, second);
}

#[test]
fn results_are_what_the_tools_and_the_host_brought() {
    let test = "results_are_what_the_tools_and_the_host_brought";
    let Some(mut desk) = Desk::shared(test) else { return };
    let events = "0 call a in_50; 0 call b never; 0 call c fails_in_5; 0 call d deaf_50; 0 call e in_5; 7 complete b yes";
    let answer = desk.ask(&request(&json!({"timeout_ms": 20}), events));
    let expected = [
        ("a", "[TOOL_TIMEOUT] Tool 'in_50' timed out after 0.02s"),
        ("b", "yes"),
        ("c", "Tool error: broken"),
        ("d", "[TOOL_TIMEOUT] Tool 'deaf_50' timed out after 0.02s"),
        ("e", "in 5"),
    ];
    assert_eq!(results(&answer), expected.map(|(id, text)| (id.to_owned(), text.to_owned())), "{answer}");
    assert_eq!(answer["counts"]["asked"], 2, "{answer}");
    assert_eq!(answer["counts"]["completed"], 3, "{answer}");
    // Arguments are kept for a tool that gives them back later; JSON and parts come whole.
    let mut asked = request(&json!({}), "0 poll");
    asked["events"] = json!([
        {"at_ms": 0, "call": [{"id": "a", "name": "echo", "arguments": {"k": ["é", 1.50]}}, {"id": "b", "name": "never"}]},
        {"at_ms": 1, "progress": {"id": "b", "done": 1, "total": 3, "message": "a third"}},
        {"at_ms": 2, "complete": {"id": "b", "json": {"degrees": 21}}}
    ]);
    let echo = json!({"name": "echo", "parameters": {"type": "object"}, "behaviour": {"pending_ms": 9, "echo": true}});
    asked["tools"].as_array_mut().unwrap().push(echo);
    let answer = desk.ask(&asked);
    let expected = [("a", r#"{"k":["é",1.5]}"#), ("b", r#"{"degrees":21}"#)];
    assert_eq!(results(&answer), expected.map(|(id, text)| (id.to_owned(), text.to_owned())), "{answer}");
    let progress =
        json!({"at_ms": 1, "id": "b", "what": "progress", "done": 1, "total": 3, "message": "a third"});
    assert_eq!(answer["log"][2], progress, "{answer}");
}

#[test]
fn calls_wait_in_every_dialect() {
    let test = "calls_wait_in_every_dialect";
    let Some(mut desk) = Desk::shared(test) else { return };
    let version = desk.ask(&json!({"op": "version"}));
    let keywords = [json!("pattern"), json!("format"), json!("unevaluated")];
    let dialects = version["features"].as_array().unwrap().iter().filter(|it| !keywords.contains(it));
    let mut count = 0;
    for dialect in dialects {
        let one = dialect == "mcp";
        let events = if one {
            "0 call a in_5; 9 call b in_50"
        } else {
            "0 call a in_50; 0 call b in_5; 3 call c in_5"
        };
        let answer = desk.ask(&request(&json!({"dialect": dialect, "timeout_ms": 20}), events));
        let expected = if one {
            "0 a called; 5 a finished; 9 b called; 29 b timed_out"
        } else {
            "0 a called; 0 b called; 5 b finished; 20 a timed_out; 20 c called; 25 c finished"
        };
        assert_eq!(log(&answer), expected, "{dialect}: {answer}");
        assert_eq!(answer["messages"].as_array().unwrap().len(), 2, "{dialect}: {answer}");
        let said = answer["messages"].to_string();
        assert!(said.contains("TOOL_TIMEOUT] Tool 'in_50' timed out after 0.02s"), "{dialect}: {answer}");
        assert_eq!(said.matches("in 5").count(), if one { 1 } else { 2 }, "{dialect}: {answer}");
        count += 1;
    }
    assert_eq!(count, 13);
}

#[test]
fn answer_waits_for_tools_that_answer_later() {
    let test = "answer_waits_for_tools_that_answer_later";
    let Some(mut desk) = Desk::shared(test) else { return };
    let tools = request(&json!({}), "0 poll")["tools"].clone();
    let use_of = |(id, name): &(&str, &str)| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let mut answer = |calls: &[(&str, &str)], more: Value| {
        let content: Vec<Value> = calls.iter().map(use_of).collect();
        let mut request = json!({"op": "answer", "dialect": "anthropic", "tools": tools,
            "reply": {"role": "assistant", "content": content}});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.ask(&request)
    };
    let calls =
        [("a", "in_50"), ("b", "now"), ("c", "deaf"), ("d", "in_5"), ("e", "fails_in_5"), ("f", "gone")];
    let reply = answer(&calls, json!({"timeout_ms": 20, "max_calls": 6}));
    assert_eq!(
        outcomes(&reply),
        "a timed_out; b answered; c timed_out; d answered; e tool_failed; f unknown_tool",
        "{reply}"
    );
    let texts = results(&reply);
    assert_eq!(texts.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(
        (texts[2].1.as_str(), texts[3].1.as_str()),
        ("[TOOL_TIMEOUT] Tool 'deaf' timed out after 0.02s", "in 5"),
        "{reply}"
    );
    // Without a bound it waits as long as something will come, and no longer.
    assert_eq!(outcomes(&answer(&calls[..1], json!({}))), "a answered");
    assert_eq!(outcomes(&answer(&[("a", "never"), ("b", "in_50")], json!({}))), "a cancelled; b answered");
    assert_eq!(
        outcomes(&answer(&[("a", "in_5"), ("b", "in_5")], json!({"max_calls": 1}))),
        "a answered; b over_limit"
    );
    assert_eq!(answer(&[], json!({}))["messages"], json!([]));
    // A streamed reply, too.
    let event = json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "in_5", "arguments": "{}"}}]}}]});
    let streamed = desk.ask(&json!({"op": "answer", "dialect": "openai_chat", "tools": tools, "events": [
        event, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]}));
    assert_eq!(
        streamed["messages"],
        json!([{"role": "tool", "tool_call_id": "a", "content": "in 5"}]),
        "{streamed}"
    );
}

#[test]
fn a_schedule_that_makes_no_sense_is_refused() {
    let test = "a_schedule_that_makes_no_sense_is_refused";
    let Some(mut desk) = Desk::shared(test) else { return };
    let call = json!({"at_ms": 0, "call": {"id": "a", "name": "in_5"}});
    let later = json!([{"name": "f", "behaviour": {"pending_ms": 1, "stubborn_ms": 1}}]);
    for (more, said) in [
        (json!({"events": [{"at_ms": 0}]}), "nothing but its time"),
        (json!({"events": [{"call": {"id": "a", "name": "in_5"}}]}), "'at_ms'"),
        (json!({"events": [{"at_ms": -1, "poll": true}]}), "'at_ms'"),
        (json!({"events": [{"at_ms": 0, "wait": true}]}), "wait"),
        (json!({"events": [{"at_ms": 0, "call": []}]}), "empty"),
        (json!({"events": [{"at_ms": 0, "call": {"id": "a", "name": "in_5", "args": {}}}]}), "args"),
        (json!({"events": [{"at_ms": 0, "complete": "a"}, call]}), "'complete'"),
        (json!({"events": [call, {"at_ms": 1, "cancel": "b"}]}), "'cancel'"),
        (
            json!({"events": [call, {"at_ms": 1, "call": {"id": "b", "name": "now"}}, {"at_ms": 2, "cancel": "b"}]}),
            "not begun",
        ),
        (json!({"events": [call, {"at_ms": 1, "progress": {"done": 1}}]}), "'id'"),
        (json!({"dialect": "mcp", "events": [call, call]}), "one call"),
        (json!({"tools": later}), "both"),
        (json!({"events": {}}), "'events'"),
    ] {
        let answer = desk.ask(&request(&more, "0 poll"));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{more}: {answer}"));
        assert!(answer["error"]["kind"] == "request" && message.contains(said), "{more}: {answer}");
    }
    let nothing = desk.ask(&request(&json!({"events": []}), "0 poll"));
    assert_eq!((&nothing["log"], &nothing["messages"]), (&json!([]), &json!([])), "{nothing}");
}

/// `dispatch.deadline-no-cancel`: a deadline also cancels, and what comes late is discarded, once.
pub(crate) fn deadline_case(case: &Value, desk: &mut Desk) {
    let deadline = case["input"]["deadline_ms"].as_u64().unwrap();
    assert_eq!(deadline, 10, "{case}");
    // The callback finishes at 50 ms: one that heeds the cancellation, and one that does not.
    for (tool, expected, late) in
        [("in_50", "0 c called; 10 c timed_out", 0), ("deaf_50", "0 c called; 10 c timed_out; 50 c late", 1)]
    {
        let answer =
            desk.ask(&request(&json!({"timeout_ms": deadline}), &format!("0 call c {tool}; 60 poll")));
        assert_eq!(log(&answer), expected, "{case}: {answer}");
        let text = format!("[TOOL_TIMEOUT] Tool '{tool}' timed out after 0.01s");
        assert_eq!(results(&answer), [("c".to_owned(), text)], "{case}: {answer}");
        let counts = json!({"completed": 0, "timed_out": 1, "cancelled": 0, "asked": 1, "abandoned": 0, "late": late,
            "doubled": 0, "stale": 0, "unknown": 0, "in_flight": 0});
        assert_eq!(answer["counts"], counts, "{case}: {answer}");
    }
}

/// `result.orphan-call`: a call that is cancelled has a result all the same.
#[test]
fn a_call_that_is_cancelled_is_no_orphan() {
    let test = "a_call_that_is_cancelled_is_no_orphan";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let text = std::fs::read_to_string(shared.join("cases/field-cases.jsonl")).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let case = cases.into_iter().find(|case| case["id"] == "case-027").unwrap();
    let input = &case["input"];
    let calls: Vec<Value> = input["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| json!({"at_ms": 0, "call": {"id": id, "name": "never"}}))
        .collect();
    let completions =
        input["results"].as_array().unwrap().iter().map(|result| json!({"at_ms": 1, "complete": result}));
    let cancelled = input["cancelled"].as_array().unwrap().iter().map(|id| json!({"at_ms": 2, "cancel": id}));
    let ways: [Vec<Value>; 3] = [
        // The host gives the call up; it ends the turn; it leaves the call alone, and nothing will come.
        cancelled.collect(),
        vec![json!({"at_ms": 2, "finish": true})],
        vec![],
    ];
    for way in ways {
        let mut asked = request(&json!({"dialect": input["provider"]}), "0 poll");
        asked["events"] = calls.iter().cloned().chain(completions.clone()).chain(way).collect();
        let answer = desk.ask(&asked);
        let [message] = answer["messages"].as_array().unwrap().as_slice() else { panic!("{case}: {answer}") };
        let [first, second] = message["content"].as_array().unwrap().as_slice() else {
            panic!("{case}: {answer}")
        };
        assert_eq!(message["role"], "user", "{case}: {answer}");
        assert_eq!(
            *first,
            json!({"type": "tool_result", "tool_use_id": "t1", "content": "ok"}),
            "{case}: {answer}"
        );
        assert_eq!(
            (&second["type"], &second["tool_use_id"], &second["is_error"]),
            (&json!("tool_result"), &json!("t2"), &json!(true)),
            "{case}: {answer}"
        );
        assert!(second["content"].as_str().unwrap().contains("cancelled"), "{case}: {answer}");
    }
}
