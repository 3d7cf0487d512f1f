//! The README does what it says: its commands are there, its C compiles, its line for the C compiler makes a program
//! that runs, its sizes are those of the library. Its Rust example is a doc test of this crate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::unreachable,
    reason = "a test that panics has failed"
)]

use std::path::Path;
use std::process::Command;

use toolcore_demo::{compiler, root};
use toolcore_tests::{library, skip, workshop};

#[test]
fn two_commands_do_all_the_set_up() {
    let blocks = blocks("sh");
    assert_eq!(blocks.first().map(|block| block.trim()), Some("cargo demo\ncargo test --workspace"));
    // The first is an alias of this workspace.
    let config = std::fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    assert!(config.lines().any(|line| line.starts_with("demo = ")), "{config}");
}

#[test]
fn the_line_for_the_c_compiler_makes_a_program_that_runs() {
    let test = "the_line_for_the_c_compiler_makes_a_program_that_runs";
    let Some(library) = library(test) else { return };
    if cfg!(not(target_os = "linux")) {
        return skip(test, "the line names the libraries of Linux");
    }
    let block = blocks("sh").into_iter().find(|block| block.lines().any(|line| line.starts_with("cc ")));
    let block = block.expect("a block with a line that starts with cc");
    // A folder like the repository's root, but for what is written there.
    let folder = workshop(library, "readme");
    let target = library.parent().and_then(Path::parent).unwrap();
    for name in ["include", "examples"] {
        link(&root().join(name), &folder.join(name));
    }
    link(target, &folder.join("target"));
    for line in block.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (program, arguments) = words.split_first().unwrap();
        let mut command = match *program {
            "cc" => Command::new(compiler()),
            "cargo" => {
                let mut cargo = Command::new(env!("CARGO"));
                cargo.env("CARGO_TARGET_DIR", target).arg("--quiet");
                cargo
            }
            other => panic!("the README's block runs '{other}'"),
        };
        command.current_dir(if *program == "cc" { &folder } else { Path::new("..") });
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let output = Command::new(folder.join("host")).output().unwrap();
    assert!(
        output.status.success() && !output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What the README's fragments of C leave out.
const AROUND: &str = r#"
#include <stdio.h>
#include <string.h>
#include "toolcore.h"
uint64_t sleep_until(uint64_t at_ms);
void fragment(void);
void fragment(void)
{
    static char memory[4096], scratch[4096], buf[4096], turn[4096];
    static struct { bool ready; uint64_t ticket; toolcore_str_t text; } sensor;
    uint64_t now_ms = 0, next_ms = 0;
    toolcore_registry_t *tools = NULL;
    toolcore_inflight_t *calls = NULL;
    toolcore_reply_t *parsed = NULL;
    toolcore_answer_opts_t turn_opts = TOOLCORE_ANSWER_OPTS_INIT;
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    toolcore_tool_t weather = TOOLCORE_TOOL_INIT;
    toolcore_outcome_t outcome = TOOLCORE_OUTCOME_INIT;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_str_t reply = TOOLCORE_STR("{}");
    size_t len = 0;
    FRAGMENT
    (void)memory; (void)scratch; (void)buf; (void)tools; (void)opts; (void)weather; (void)outcome; (void)why;
    (void)reply; (void)len; (void)turn; (void)sensor; (void)now_ms; (void)next_ms; (void)calls; (void)parsed;
    (void)turn_opts;
}
"#;

#[test]
fn every_block_of_c_compiles() {
    let test = "every_block_of_c_compiles";
    let Some(library) = library(test) else { return };
    let folder = workshop(library, "readme-blocks");
    let blocks = blocks("c");
    assert!(!blocks.is_empty());
    for (index, block) in blocks.iter().enumerate() {
        let whole = block.contains("#include");
        let text = if whole { block.clone() } else { AROUND.replace("FRAGMENT", block) };
        let source = folder.join(format!("block{index}.c"));
        std::fs::write(&source, text).unwrap();
        let mut compile = Command::new(compiler());
        compile.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"]);
        // A fragment shows the flow and leaves the checks of its statuses out.
        compile.arg(root().join("include")).arg("-Wno-unused-result").arg(&source);
        let output = compile.output().unwrap();
        assert!(output.status.success(), "{block}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The table after `<!-- sizes -->`: in each row the code is an expression in C, and the last cell is its value, which
/// `TOOLCORE_BLESS=1` writes.
#[test]
fn its_sizes_are_those_of_the_library() {
    let test = "its_sizes_are_those_of_the_library";
    let Some(library) = library(test) else { return };
    if cfg!(not(target_pointer_width = "64")) {
        return skip(test, "the sizes are those of a 64-bit target");
    }
    let readme = readme();
    let (before, after) = readme.split_once("<!-- sizes -->\n").expect("a line <!-- sizes -->");
    let rows: Vec<&str> =
        after.lines().skip_while(|line| line.is_empty()).take_while(|line| line.starts_with('|')).collect();
    let expressions: Vec<&str> = rows.iter().filter_map(|row| row.split('`').nth(1)).collect();
    assert!(!expressions.is_empty(), "a table of sizes follows the line");
    let mut sizes = values(library, &expressions).into_iter();
    let fresh: Vec<String> = rows.iter().map(|row| row_with(row, &mut sizes)).collect();
    if std::env::var_os("TOOLCORE_BLESS").is_some() {
        let table = rows.join("\n");
        let text = format!("{before}<!-- sizes -->\n{}", after.replacen(&table, &fresh.join("\n"), 1));
        std::fs::write(root().join("README.md"), text).unwrap();
        return;
    }
    assert_eq!(
        rows, fresh,
        "the README's sizes; TOOLCORE_BLESS=1 cargo test -p toolcore-tests --test readme"
    );
}

/// The README gives the row of one dialect of `linked/sizes.txt` in round numbers.
#[test]
fn its_size_of_a_firmware_is_that_of_the_table() {
    let table = std::fs::read_to_string(root().join("tests/linked/sizes.txt")).unwrap();
    let row = table.lines().find_map(|line| line.strip_prefix("openai  ")).expect("a row of one dialect");
    let text: u64 = row.split_whitespace().next().unwrap().parse().unwrap();
    let readme = readme();
    let (before, _) = readme.split_once(" kB of code on x86-64").expect("the size of a firmware");
    let said: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((text / 1000).abs_diff(said) <= said / 20, "the README says {said} kB, the table {text} bytes");
}

/// A row of the table with the next size in its last cell, if it holds an expression.
fn row_with(row: &str, sizes: &mut impl Iterator<Item = u64>) -> String {
    let last = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
    if !row.contains('`') {
        return row.to_owned();
    }
    let mut digits = sizes.next().unwrap().to_string();
    for place in
        (1..digits.len()).rev().filter(|place| (digits.len() - place).is_multiple_of(3)).collect::<Vec<_>>()
    {
        digits.insert(place, ',');
    }
    let kept = row.strip_suffix('|').unwrap().strip_suffix(last).unwrap();
    format!("{kept} {digits} |")
}

/// The values of expressions in C.
fn values(library: &Path, expressions: &[&str]) -> Vec<u64> {
    let print = |expression: &&str| format!("    printf(\"%lu\\n\", (unsigned long)({expression}));\n");
    let prints: String = expressions.iter().map(print).collect();
    let program = format!(
        "#include <stdio.h>\n#include \"toolcore.h\"\nint main(void)\n{{\n{prints}    return 0;\n}}\n"
    );
    let source = workshop(library, "readme-sizes").join("sizes.c");
    std::fs::write(&source, program).unwrap();
    let program = toolcore_demo::compile::<&str>(&[source], library, &[], "readme-sizes/sizes").unwrap();
    let output = Command::new(program).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

/// The blocks of the README in a language.
fn blocks(language: &str) -> Vec<String> {
    let readme = readme();
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        if let Some(of) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if of == language {
                blocks.push(block.join("\n"));
            }
        }
    }
    blocks
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) {
    unreachable!("only Linux gets here");
}
