//! `cargo demo`: builds the library and runs an example.

use std::env;
use std::process::{Command, ExitCode};

use toolcore_demo::{build_library, cargo, compile, example, run};

const HELP: &str = "\
cargo demo                   build the library, compile and run the C host
cargo demo c [DIALECT] FILE  the C host answers the reply in FILE (DIALECT: openai_chat or anthropic;
                             found out from the reply if it is left out)
cargo demo stream [DIALECT]  a streamed turn; with a dialect, of what comes in on standard input
cargo demo schema [INSTANCE] a schema by itself: an instance is made to fit, checked, and its errors told
cargo demo main-loop         a device's main loop, with tools that answer later or never
cargo demo main-loop-rust    the same in Rust, over the core alone
cargo demo inspect [FLAGS]   the desk tool: one JSON request a line in, one answer a line out";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (which, rest) = match arguments.split_first() {
        None => ("c", [].as_slice()),
        Some((first, rest)) => (first.as_str(), rest),
    };
    let result = match which {
        "c" => c("host", rest),
        "stream" => c("stream", rest),
        "schema" => c("schema", rest),
        "main-loop" => c("main_loop", rest),
        "main-loop-rust" => rust("main_loop"),
        "inspect" => c("inspect", rest),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(format!("no example '{other}'\n{HELP}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles and runs a C example.
fn c(name: &str, arguments: &[String]) -> Result<(), String> {
    let library = build_library()?;
    let program = compile::<&str>(&example(name)?, &library, &[], name)?;
    run(Command::new(program).args(arguments))
}

/// Builds and runs a Rust example.
fn rust(name: &str) -> Result<(), String> {
    run(cargo("run")?.args(["--package", "toolcore-demo", "--example", name]))
}
