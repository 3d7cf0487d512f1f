//! What we write and read, held against the providers' own SDKs: the Python tests of [`sdk/`](sdk/) talk with the desk
//! tool and check each request, result, reply and stream with the SDKs' models.
//!
//! `TOOLCORE_SDK_PYTHON` names a Python that has what `sdk/requirements.txt` lists; without it
//! `<target folder>/sdk/bin/python` is tried, which `.ci/run sdk` makes. Where there is none the test is skipped.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toolcore_demo::root;
use toolcore_tests::{inspect, shared, skip};

/// What the tests import.
const MODULES: &str =
    "import anthropic, botocore, cohere, google.genai, mistralai.client, ollama, openai, pydantic, pytest";

#[test]
fn what_we_write_and_read_is_what_the_sdks_write_and_read() {
    let test = "what_we_write_and_read_is_what_the_sdks_write_and_read";
    let Some(desk) = inspect(test) else { return };
    let python = python();
    if let Err(why) = has_modules(&python) {
        return skip(test, &why);
    }
    // The tools of real servers are tried where they are.
    shared("the_tools_of_real_servers_are_accepted");
    let tests = Command::new(&python)
        .args(["-m", "pytest"])
        .current_dir(root().join("tests/sdk"))
        .env("TOOLCORE_INSPECT", desk)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status();
    assert!(tests.unwrap().success(), "{} -m pytest", python.display());
}

fn python() -> PathBuf {
    // Cargo makes `<target folder>/tmp` for tests.
    let installed = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("sdk").join("bin/python");
    std::env::var_os("TOOLCORE_SDK_PYTHON").map_or_else(installed, PathBuf::from)
}

/// Says what is missing.
fn has_modules(python: &Path) -> Result<(), String> {
    let run = Command::new(python).args(["-c", MODULES]).stdin(Stdio::null()).output();
    match run {
        Err(error) => Err(format!("{}: {error}", python.display())),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: {}", python.display(), said.lines().last().unwrap_or_default()))
        }
    }
}
