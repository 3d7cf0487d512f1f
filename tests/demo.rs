//! `cargo demo` prints what it should, and answers recorded replies from files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed"
)]

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;
use toolcore_demo::{compile, example, root};
use toolcore_tests::desk::output_of;
use toolcore_tests::{library, shared, workshop};

/// Runs `cargo demo` as a user does, in the folder of the workspace; one at a time, since it builds what it runs.
fn run_demo(library: &Path, arguments: &[&str]) -> Output {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let target = library.parent().and_then(Path::parent).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).env("CARGO_TARGET_DIR", target).arg("demo").args(arguments);
    cargo.output().unwrap()
}

/// What it prints when it succeeds.
fn cargo_demo(library: &Path, arguments: &[&str]) -> String {
    let output = run_demo(library, arguments);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo demo {arguments:?}: {complaints}");
    String::from_utf8(output.stdout).unwrap()
}

/// What stands after `word` in each line that begins with it, as JSON.
fn json_after(text: &str, word: &str) -> Vec<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(word)).map(str::trim);
    lines
        .filter(|json| !json.is_empty())
        .map(|json| serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}")))
        .collect()
}

/// The ids of the results in an array of messages, in either dialect.
fn ids(messages: &Value) -> Vec<String> {
    let messages = messages.as_array().unwrap().iter();
    let ids = messages.flat_map(|message| match message["content"].as_array() {
        Some(blocks) if message["role"] == "user" => {
            blocks.iter().map(|block| block["tool_use_id"].clone()).collect()
        }
        _ => vec![message["tool_call_id"].clone()],
    });
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_host_shows_requests_results_and_a_context_within_its_budget() {
    let Some(library) = library("the_host_shows_requests_results_and_a_context_within_its_budget") else {
        return;
    };
    let text = cargo_demo(library, &[]);
    // Both dialects are told of the same three tools.
    let requests = json_after(&text, "request:");
    let [openai, anthropic] = requests.as_slice() else { panic!("{text}") };
    let names = |tools: &Value, place: &str| -> Vec<String> {
        let tools = tools["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool.pointer(place).unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(openai, "/function/name").len(), 3);
    assert_eq!(names(openai, "/function/name"), names(anthropic, "/name"));
    // Each call of the replies that the example carries has its result, under its own id.
    let carried: String = ["host.c", "replies.h"]
        .iter()
        .filter_map(|name| std::fs::read_to_string(root().join("examples/c").join(name)).ok())
        .collect();
    let appended = json_after(&text, "append:");
    assert_eq!(appended.len(), 2, "{text}");
    assert!(appended[0].as_array().unwrap().iter().all(|message| message["role"] == "tool"), "{text}");
    assert_eq!(
        (appended[1][0]["role"].as_str(), appended[1].as_array().unwrap().len()),
        (Some("user"), 1),
        "{text}"
    );
    let counts: Vec<usize> =
        text.lines().filter_map(|line| line.split_once(" calls, ")?.0.parse().ok()).collect();
    assert_eq!(counts, appended.iter().map(|messages| ids(messages).len()).collect::<Vec<_>>(), "{text}");
    for id in appended.iter().flat_map(ids) {
        assert!(!id.is_empty() && carried.contains(&format!("\\\"{id}\\\"")), "{id}: {text}");
    }
    // One tool misses its deadline, and one call is wrong in a way that the model can mend.
    assert!(text.contains("[TOOL_TIMEOUT] Tool '"), "{text}");
    // The context keeps to its budget, counted again.
    let (_, context) = text.split_once("context of ").unwrap();
    let (used, rest) = context.split_once(" tokens, room for ").unwrap();
    let (room, rest) = rest.split_once(" more:\n").unwrap();
    let (used, room): (usize, usize) = (used.parse().unwrap(), room.parse().unwrap());
    let states = |line: &&str| [": kept", ": cut", ": dropped"].iter().any(|state| line.ends_with(state));
    let report: Vec<&str> = rest.lines().filter(states).collect();
    let rendered = rest.split_once(&format!("\n{}", report[0])).unwrap().0;
    assert_eq!(rendered.len().div_ceil(4), used, "{text}");
    let budget = carried.split_once(".budget = ").unwrap().1;
    let budget: usize = budget.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
    assert_eq!(used + room, budget, "{text}");
    assert!(
        report.iter().any(|line| line.ends_with("kept")) && report.iter().any(|line| !line.ends_with("kept")),
        "{text}"
    );
}

#[test]
fn a_streamed_turn_is_shown_sent_back_and_answered() {
    let Some(library) = library("a_streamed_turn_is_shown_sent_back_and_answered") else { return };
    let text = cargo_demo(library, &["stream"]);
    assert!(text.starts_with("I look at the clock.\n[clock {\"zone\":\"UTC\"}]\n"), "{text}");
    let appended = json_after(&text, "append:");
    let [turn, results] = appended.as_slice() else { panic!("{text}") };
    let input = serde_json::json!({"zone": "UTC"});
    let call = &turn[0]["content"][1];
    assert_eq!(
        (&turn[0]["role"], &call["id"], &call["input"]),
        (&"assistant".into(), &"toolu_1".into(), &input)
    );
    assert_eq!(ids(results), ["toolu_1"]);
    // The same, read from standard input, and one that ends in the middle of its call.
    let program = compile(&example("stream").unwrap(), library, &["-Werror"], "tests-stream").unwrap();
    let events = r#"{"choices":[{"delta":{"content":"Noon."},"finish_reason":"stop"}]}"#;
    let (success, text) = output_of(&program, &["openai_chat"], format!("data: {events}\n\n").as_bytes());
    assert!(success && text.starts_with("Noon.") && json_after(&text, "append:").len() == 1, "{text}");
    let (success, text) =
        output_of(&program, &["openai_chat"], b"data: {\"error\":{\"message\":\"down\"}}\n\n");
    assert!(!success && text.contains("provider error") && text.contains("down"), "{text}");
    let (success, text) = output_of(&program, &["smoke_signals"], b"");
    assert!(!success && text.contains("unsupported"), "{text}");
}

#[test]
fn the_schema_example_makes_fit_checks_and_tells_what_is_wrong() {
    let Some(library) = library("the_schema_example_makes_fit_checks_and_tells_what_is_wrong") else {
        return;
    };
    assert_eq!(
        cargo_demo(library, &["schema"]),
        "changed: /degrees: integer-from-string\n\
         error: /unit: expected one of \"c\", \"f\", got \"k\" (enum)\n\
         not valid: {\"degrees\":20,\"unit\":\"k\"}\n"
    );
    assert_eq!(
        cargo_demo(library, &["schema", r#"{"degrees":7}"#]),
        "changed: /unit: default-added\nvalid: {\"degrees\":7,\"unit\":\"c\"}\n"
    );
    let output = run_demo(library, &["schema", "{"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("bad JSON: ") && said.contains("byte 1"), "{said}");
}

/// Each time by hand: three samples 100 ms apart; a deadline of 500 ms, at which the call is due; a grace
/// period of 200 ms after that.
const MAIN_LOOP: &str = concat!(
    "   0 ms: call 1 (set_led): called\n",
    "   0 ms: call 1 (set_led): finished\n",
    "   0 ms: call 2 (measure): called\n",
    "   0 ms: call 3 (open_valve): called\n",
    " 100 ms: call 2 (measure): progress, 1 of 3\n",
    " 200 ms: call 2 (measure): progress, 2 of 3\n",
    " 300 ms: call 2 (measure): finished\n",
    " 500 ms: call 3 (open_valve): timed out\n",
    r#"append: [{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"on"},"#,
    r#"{"type":"tool_result","tool_use_id":"toolu_2","content":"21.5 C"},"#,
    r#"{"type":"tool_result","tool_use_id":"toolu_3","#,
    r#""content":"[TOOL_TIMEOUT] Tool 'open_valve' timed out after 0.5s","is_error":true}]}]"#,
    "\n 700 ms: call 3: abandoned\n",
);

#[test]
fn the_main_loop_stays_responsive_though_a_tool_never_answers() {
    let test = "the_main_loop_stays_responsive_though_a_tool_never_answers";
    let Some(library) = library(test) else { return };
    assert_eq!(cargo_demo(library, &["main-loop"]), MAIN_LOOP);
    assert_eq!(cargo_demo(library, &["main-loop-rust"]), MAIN_LOOP);
    let flags = ["-Wconversion", "-Wshadow", "-Werror"];
    let program = compile(&example("main_loop").unwrap(), library, &flags, "tests-main-loop").unwrap();
    assert_eq!(said(&program, &[]), MAIN_LOOP);
}

#[test]
fn help_names_the_examples_and_a_wrong_word_fails() {
    let Some(library) = library("help_names_the_examples_and_a_wrong_word_fails") else { return };
    let text = cargo_demo(library, &["help"]);
    for example in ["c", "stream", "schema", "main-loop", "main-loop-rust", "inspect"] {
        assert!(text.contains(&format!("cargo demo {example} ")), "{text}");
    }
    let output = run_demo(library, &["fly"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("fly"));
}

#[test]
fn recorded_replies_are_answered_from_files() {
    let test = "recorded_replies_are_answered_from_files";
    let Some(shared) = shared(test) else { return };
    let Some(library) = library(test) else { return };
    let host = compile(&example("host").unwrap(), library, &["-Werror"], "tests-host").unwrap();
    let folder = workshop(library, "replies");
    let mut answered = 0;
    for dialect in ["openai_chat", "anthropic"] {
        let rows = std::fs::read_to_string(shared.join("data/traffic").join(dialect).with_extension("jsonl"))
            .unwrap();
        let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (index, row) in rows.iter().filter(|row| row["kind"] == "whole").enumerate() {
            let file = folder.join(format!("{dialect}-{index}.json"));
            std::fs::write(&file, row["reply"].to_string()).unwrap();
            let path = file.to_str().unwrap();
            // The program by itself; through cargo, with and without the dialect, for one of each.
            let texts = match index {
                0 => vec![cargo_demo(library, &["c", path]), cargo_demo(library, &["c", dialect, path])],
                _ => vec![said(&host, &[path])],
            };
            for text in texts {
                let expected: Vec<&str> = row["calls"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|call| call["id"].as_str().unwrap())
                    .collect();
                let appended = json_after(&text, "append:");
                let got: Vec<String> = appended.iter().flat_map(ids).collect();
                assert_eq!(got, expected, "{}: {text}", row["id"]);
                let calls = format!("{} calls, ", expected.len());
                assert!(text.contains(&calls), "{}: {text}", row["id"]);
            }
            answered += 1;
        }
    }
    println!("{test}: {answered}");
    assert_eq!(answered, 187);
}

#[test]
fn a_file_that_is_no_reply_is_a_sentence_and_a_failure() {
    let test = "a_file_that_is_no_reply_is_a_sentence_and_a_failure";
    let Some(library) = library(test) else { return };
    let host = compile(&example("host").unwrap(), library, &["-Werror"], "tests-host-broken").unwrap();
    let folder = workshop(library, "no-replies");
    let no_replies: [(&str, &[u8], &str); 4] = [
        ("empty", b"", "JSON"),
        ("broken", b"{\"choices\":[", "byte 12"),
        ("other", b"[1,2,3]", ""),
        ("error", b"{\"choices\":null,\"error\":{\"message\":\"overloaded\"}}", "error"),
    ];
    for (name, bytes, said) in no_replies {
        let file = folder.join(name);
        std::fs::write(&file, bytes).unwrap();
        let (success, text) = output_of(&host, &[file.to_str().unwrap()], b"");
        assert!(!success && text.contains(said) && !text.trim().is_empty(), "{name}: {text}");
        assert!(!text.contains("append:"), "{name}: {text}");
    }
    let (success, text) = output_of(&host, &[folder.join("none").to_str().unwrap()], b"");
    assert!(!success && text.contains("none"), "{text}");
}

fn said(program: &Path, arguments: &[&str]) -> String {
    let (success, text) = output_of(program, arguments, b"");
    assert!(success, "{arguments:?}: {text}");
    text
}
