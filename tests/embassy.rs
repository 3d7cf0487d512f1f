//! Async tools by embassy-time: the programs of [`embassy/`](embassy/), one for each time driver, are built and run.
//!
//! They are a workspace of their own. Where its packages are not here and cannot be had, the test is skipped.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

use std::path::Path;
use std::process::Command;

use toolcore_demo::root;
use toolcore_tests::skip;

/// The programs, each with the feature of its name.
const PROGRAMS: [&str; 3] = ["mock", "ticks", "executor"];

/// What Cargo says where it reaches no registry, or may not. That a lock file is out of date names `--offline` too.
const UNREACHABLE: [&str; 6] = [
    "Could not resolve host",
    "Couldn't connect",
    "Could not connect",
    "Timeout was reached",
    "you're using offline mode",
    "but --offline was specified",
];

#[test]
fn the_programs_of_every_driver_pass() {
    let test = "the_programs_of_every_driver_pass";
    if let Err(said) = cargo(&["fetch"]) {
        assert!(UNREACHABLE.iter().any(|words| said.contains(words)), "cargo fetch:\n{said}");
        return skip(test, "the registry cannot be reached");
    }
    for program in PROGRAMS {
        let said = cargo(&["test", "--offline", "--features", program, "--test", program]);
        let said = said.unwrap_or_else(|said| panic!("{program}:\n{said}"));
        assert!(
            said.contains("test result: ok. ") && !said.contains(" 0 passed;"),
            "{program} ran nothing:\n{said}"
        );
    }
}

/// What Cargo and the program wrote, with the lock file as it is.
fn cargo(arguments: &[&str]) -> Result<String, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embassy");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).arg("--locked").current_dir(root().join("tests/embassy"));
    cargo.env("CARGO_TARGET_DIR", target).env_remove("RUST_TEST_NOCAPTURE");
    let output = cargo.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(said.into()) } else { Err(said.into()) }
}
