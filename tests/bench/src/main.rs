//! Prints what the library's operations cost, in instructions, nanoseconds and heap allocations, beside what serde_json and
//! jsonschema take for the same; and how large the programs of real schemas are.
//!
//! ```text
//! cargo bench-table              the table
//! cargo bench-table --check      fails when a limit of src/limits.rs is broken
//! cargo bench-table WORD         only the groups whose title holds the word, with --check their limits only
//! ```
//!
//! Instructions are counted by valgrind's callgrind and are the same on each run of one build; without valgrind only
//! nanoseconds are shown. All inputs are made here, but for the tools list, which is the recorded one when the folder
//! `../shared/data/mcp-tools` is there, and for recorded replies, of which nothing is shown without `../shared/data/traffic`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a measuring tool: what it does not expect should end it"
)]

mod data;
mod groups;
mod limits;
mod measure;
mod sizes;
mod table;
mod traffic;
mod turns;
mod waiting;

#[cfg(feature = "peers")]
mod peers;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, group, case, times] = arguments.as_slice()
        && first == measure::CHILD
    {
        measure::run_as_child(&groups::wanted(|title| title == group), group, case, times);
        return ExitCode::SUCCESS;
    }
    let check = arguments.iter().any(|argument| argument == "--check");
    let words: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let asked = |title: &str| words.iter().all(|word| title.contains(word.as_str()));
    let limits = if check { limits::of(asked) } else { Vec::new() };
    let groups = groups::wanted(|title| asked(title) || limits.iter().any(|limit| limit.refers_to(title)));
    let figures = measure::measure(&groups);
    table::print(&groups, &figures);
    let sizes = if words.is_empty() { sizes::measure() } else { Vec::new() };
    if words.is_empty() {
        sizes::print(&sizes);
    }
    if !traffic::is_there() && traffic::RECORDED.iter().any(|(_, title, _)| asked(title)) {
        println!("../shared/data/traffic is absent: recorded replies are not read");
    }
    if !check {
        return ExitCode::SUCCESS;
    }
    let mut broken = limits::broken(&limits, &groups, &figures);
    broken.extend(sizes::broken(&sizes));
    for line in &broken {
        println!("over the limit: {line}");
    }
    println!("{} of {} limits do not hold", broken.len(), limits.len() + sizes.len());
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
