//! The C programs of `c/`, compiled with warnings as errors against `libtoolcore.a` and run.
//!
//! `TOOLCORE_C_MODE` says how: `plain` (the default), `asan` (the C side under the address and undefined
//! behaviour sanitizers) or `valgrind`. The programs are kept in `c` beside the library, named after the mode.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;

use toolcore_demo::{compile, root};
use toolcore_tests::{is_there, library, skip};

/// One test for each program, so that a failure is named.
macro_rules! programs {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run_program(stringify!($name));
            }
        )*

        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! {
    answer arguments buffers callbacks context conversions declared drops hooks inflight json limits mailbox nulls pending prepare
    registry schema stack steps streams structs threads tickets turns workers
}

#[test]
fn every_program_of_the_folder_is_run() {
    let mut there: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    there.sort();
    assert_eq!(there, PROGRAMS);
}

/// How the programs are built and run.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Plain,
    Asan,
    Valgrind,
}

impl Mode {
    fn of_environment() -> Mode {
        match std::env::var("TOOLCORE_C_MODE").as_deref() {
            Err(_) | Ok("plain") => Mode::Plain,
            Ok("asan") => Mode::Asan,
            Ok("valgrind") => Mode::Valgrind,
            Ok(other) => panic!("TOOLCORE_C_MODE is '{other}'; plain, asan and valgrind are known"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Asan => "asan",
            Mode::Valgrind => "valgrind",
        }
    }
}

const WARNINGS: [&str; 3] = ["-Wconversion", "-Wshadow", "-Werror"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const VALGRIND: [&str; 3] = ["--quiet", "--error-exitcode=9", "--leak-check=full"];

fn run_program(name: &str) {
    let mode = Mode::of_environment();
    if mode == Mode::Valgrind && !is_there("valgrind") {
        return skip(name, "there is no valgrind");
    }
    let Some(library) = library(name) else { return };
    let program = build(name, mode, library);
    let mut command = match mode {
        Mode::Valgrind => {
            let mut command = Command::new("valgrind");
            command.args(VALGRIND).arg(&program);
            command
        }
        Mode::Plain | Mode::Asan => Command::new(&program),
    };
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{said}{complaints}", program.display(), output.status);
    // It got to its end, and it did check something.
    let summary = said.lines().last().unwrap_or_default();
    assert!(summary.ends_with(" 0 failed") && !summary.starts_with('0'), "{}: {said}", program.display());
    println!("{name} ({}): {summary}", mode.name());
}

fn build(name: &str, mode: Mode, library: &Path) -> PathBuf {
    let mut flags = WARNINGS.to_vec();
    if mode == Mode::Asan {
        flags.extend(SANITIZERS);
    }
    let source = folder().join(name).with_extension("c");
    let program = compile(&[source], library, &flags, &format!("{}-{name}", mode.name())).unwrap();
    if mode == Mode::Asan {
        let symbols = Command::new("nm").arg(&program).output().unwrap();
        let symbols = String::from_utf8_lossy(&symbols.stdout);
        assert!(symbols.contains("__asan_init"), "{}: no address sanitizer in it", program.display());
    }
    program
}

fn folder() -> PathBuf {
    root().join("tests/c")
}
