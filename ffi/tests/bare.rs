//! The library without `std`, as firmware links it: into a C program, with nothing but a C compiler's runtime.

#![allow(clippy::expect_used, reason = "what a test cannot do without fails it")]

use std::io::Write as _; // the runner hides what passing tests print
use std::path::{Path, PathBuf};
use std::process::Command;

/// A host that registers a tool and answers a call, without a libc function but `puts`.
const HOST: &str = r#"
#include <stdio.h>
#include "toolcore.h"

static toolcore_status_t run(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    int64_t hue;
    (void)user_data;
    toolcore_status_t status = toolcore_call_get_i64(call, TOOLCORE_STR("hue"), &hue);
    return status == TOOLCORE_OK ? toolcore_result_text(result, TOOLCORE_STR("The lamp is on.")) : status;
}

static const toolcore_param_t params[] = {
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("hue"), .type = TOOLCORE_TYPE_INTEGER,
                   .flags = TOOLCORE_PARAM_REQUIRED),
};

int main(void)
{
    static char memory[16384], scratch[8192], messages[1024];
    toolcore_registry_t *tools;
    toolcore_tool_t lamp = TOOLCORE_TOOL_INIT;
    size_t len;
    if (toolcore_registry_init(NULL, memory, sizeof memory, &tools) != TOOLCORE_OK)
        return 1;
    lamp.name = TOOLCORE_STR("lamp");
    lamp.params = params;
    lamp.params_len = 1;
    lamp.run = run;
    if (toolcore_registry_add(tools, &lamp, NULL) != TOOLCORE_OK)
        return 2;
    if (toolcore_answer(tools, TOOLCORE_DIALECT_MCP, TOOLCORE_STR("{\"name\":\"lamp\",\"arguments\":{\"hue\":5}}"),
                        NULL, scratch, sizeof scratch, messages, sizeof messages, &len, NULL, NULL) != TOOLCORE_OK)
        return 3;
    toolcore_registry_deinit(tools);
    return puts(messages) < 0;
}
"#;

#[test]
fn a_c_program_links_and_runs_without_std_and_without_a_heap() {
    let Some(library) = build() else { return };
    let folder = library.parent().expect("the library is in a folder");
    let (source, program) = (folder.join("host.c"), folder.join("host"));
    std::fs::write(&source, HOST).expect("the folder can be written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"]).arg(include).arg(&source).arg(&library);
    run(cc.arg("-o").arg(&program));
    let answer = run(&mut Command::new(&program));
    assert_eq!(answer.trim(), r#"{"content":[{"type":"text","text":"The lamp is on."}]}"#);
    // Of all that is linked, and of what the library asks the system for.
    assert_no_heap(&program);
    assert_no_heap(&library);
}

fn assert_no_heap(file: &Path) {
    let of_libc = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "sbrk", "mmap"];
    let of_rust = ["__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rdl_", "__rg_", "_Unwind_"];
    let allocates = |name: &String| {
        let plain = name.split('@').next().unwrap_or_default();
        of_libc.contains(&plain) || of_rust.iter().any(|part| name.contains(part))
    };
    let found: Vec<String> = symbols(file).into_iter().filter(allocates).collect();
    assert!(found.is_empty(), "{}: {found:?}", file.display());
}

/// Builds the library as firmware does; `None`, and a line that says so, where a tool is missing.
fn build() -> Option<PathBuf> {
    for tool in ["cc", "nm"] {
        if Command::new(tool).arg("--version").output().is_err() {
            let line = format!("skipped: bare: {tool} is absent\n");
            std::io::stderr().write_all(line.as_bytes()).ok();
            return None;
        }
    }
    // A folder of its own: cargo holds a lock on the other one while it runs this test.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "build",
        "--package",
        "toolcore-ffi",
        "--lib",
        "--no-default-features",
        "--features",
        "bare,mcp",
    ]);
    cargo.args(["--profile", "bare", "--target-dir"]).arg(&target);
    // The library is to be built as it is by default, whatever sanitizer or flag the tests run with.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    Some(target.join("bare/libtoolcore.a"))
}

/// The names of all symbols, defined or not.
fn symbols(file: &Path) -> Vec<String> {
    let listed = run(Command::new("nm").arg(file));
    listed.lines().filter_map(|line| line.rsplit_once(' ')).map(|(_, name)| name.to_owned()).collect()
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
