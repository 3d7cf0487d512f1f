//! What the tests of whole programs share: where things are, and what a machine lacks.
//!
//! The tests run `libtoolcore.a` through C, as a host does: [`c_programs`](../c_programs.rs) are checks written in C,
//! [`inspect`](../inspect/main.rs) sends suites and field cases through the desk tool, [`demo`](../demo.rs) and
//! [`readme`](../readme.rs) hold the examples and the README to what they say, [`header`](../header.rs) compiles the
//! header as the languages that it is for, [`sdk`](../sdk.rs) holds the desk tool against the providers' SDKs, [`embassy`](../embassy.rs) runs async tools
//! by embassy-time. Expected values are those of specifications, suites and recorded traffic.

pub mod desk;

use std::io::Write as _; // the runner hides what passing tests print
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The data beside the repository, or `None` with a printed line that `test` is skipped.
pub fn shared(test: &str) -> Option<PathBuf> {
    let shared = toolcore_demo::root().join("../shared");
    if shared.is_dir() {
        return Some(shared);
    }
    skip(test, "../shared is absent");
    None
}

/// Says that a test is skipped.
pub fn skip(test: &str, why: &str) {
    let line = format!("skipped: {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).ok();
}

/// `libtoolcore.a`, built once for all tests of a program; `None` with a printed line if there is no C compiler.
/// `TOOLCORE_C_LIBRARY` names another one, such as one that was built with a sanitizer.
///
/// # Panics
/// If it does not build.
pub fn library(test: &str) -> Option<&'static Path> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    if !toolcore_demo::has_compiler() {
        skip(test, "there is no C compiler");
        return None;
    }
    let build = || match std::env::var_os("TOOLCORE_C_LIBRARY") {
        Some(path) => Ok(path.into()),
        None => toolcore_demo::build_library(),
    };
    match LIBRARY.get_or_init(build) {
        Ok(path) => Some(path),
        Err(error) => fail(error),
    }
}

/// The desk tool, built once for all tests of a program; `None` with a printed line if there is no C compiler.
///
/// # Panics
/// If it does not build.
pub fn inspect(test: &str) -> Option<&'static Path> {
    static INSPECT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let library = library(test)?;
    let build = || {
        let sources = toolcore_demo::example("inspect")?;
        toolcore_demo::compile(&sources, library, &["-Werror"], "tests-inspect")
    };
    match INSPECT.get_or_init(build) {
        Ok(path) => Some(path),
        Err(error) => fail(error),
    }
}

/// Whether a program can be run here.
pub fn is_there(program: &str) -> bool {
    let run = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    run.is_ok_and(|output| output.status.success())
}

/// The folder for what these tests build, beside the library.
///
/// # Panics
/// If it cannot be made.
pub fn workshop(library: &Path, name: &str) -> PathBuf {
    let folder = library.with_file_name("c").join(name);
    if folder.exists()
        && let Err(error) = std::fs::remove_dir_all(&folder)
    {
        fail(&format!("{}: {error}", folder.display()));
    }
    match std::fs::create_dir_all(&folder) {
        Ok(()) => folder,
        Err(error) => fail(&format!("{}: {error}", folder.display())),
    }
}

#[allow(clippy::panic, reason = "a test that cannot begin has failed")]
pub(crate) fn fail(error: &str) -> ! {
    panic!("{error}");
}

/// The README's Rust example is a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
