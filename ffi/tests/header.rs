//! The header is made from the sources, and this is where it is compared, and with `TOOLCORE_BLESS=1` written.

#![allow(clippy::expect_used, reason = "what a test cannot do without fails it")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The header as the sources have it.
fn generate() -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(dir.join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let bindings =
        cbindgen::Builder::new().with_crate(dir).with_config(config).generate().expect("the sources parse");
    let mut text = Vec::new();
    bindings.write(&mut text);
    without_needless_struct(&String::from_utf8(text).expect("the sources are UTF-8"))
}

/// `const toolcore_call_t *` in place of `const struct toolcore_call_t *`, but where a struct refers to itself,
/// which has no other name yet.
fn without_needless_struct(text: &str) -> String {
    let mut inside = "";
    let mut out = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("typedef struct ") {
            inside = name.trim_end_matches([' ', '{', ';']);
            out.push_str(line);
        } else if line.contains(&format!("struct {inside} ")) {
            out.push_str(line);
        } else {
            out.push_str(&line.replace("struct toolcore_", "toolcore_"));
        }
        if line.starts_with('}') {
            inside = "";
        }
        out.push('\n');
    }
    out
}

fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../include/toolcore.h")
}

#[test]
fn header_is_fresh() {
    let fresh = generate();
    if std::env::var_os("TOOLCORE_BLESS").is_some() {
        std::fs::write(header(), &fresh).expect("include/ can be written");
    }
    let there = std::fs::read_to_string(header()).unwrap_or_default();
    let differs = there.lines().zip(fresh.lines()).position(|(there, fresh)| there != fresh);
    assert!(
        there == fresh,
        "include/toolcore.h is not what ffi/src says (line {}); TOOLCORE_BLESS=1 cargo test -p toolcore-ffi --test header",
        differs.map_or(there.lines().count().min(fresh.lines().count()), |line| line) + 1
    );
}

/// What a host may do with the header alone.
const INCLUDER: &str = r#"
#include "toolcore.h"
#include "toolcore.h"

static const toolcore_str_t word = TOOLCORE_STR_INIT("word");

size_t use_toolcore(void);
size_t use_toolcore(void)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    tool.name = TOOLCORE_STR("tool");
    why.offset = TOOLCORE_NO_OFFSET;
    return tool.name.len + why.struct_size + word.len + toolcore_version().len;
}
"#;

/// Only C has designated initialisers in all its versions.
const C_ONLY: &str = r#"
static const toolcore_param_t params[] = {
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("a"), .type = TOOLCORE_TYPE_STRING),
};
const void *use_params(void);
const void *use_params(void)
{
    return params;
}
"#;

#[test]
fn the_header_compiles_without_a_warning() {
    let standards = [
        ("cc", "c", ["c99", "c11", "c17"].as_slice(), [INCLUDER, C_ONLY].concat()),
        ("c++", "c++", ["c++11", "c++17"].as_slice(), INCLUDER.to_owned()),
    ];
    for (compiler, language, standards, source) in standards {
        if Command::new(compiler).arg("--version").output().is_err() {
            println!("skipped: the_header_compiles_without_a_warning: {compiler} is absent");
            continue;
        }
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("includer").with_extension(language);
        std::fs::write(&file, source).expect("the folder can be written");
        for standard in standards {
            let mut command = Command::new(compiler);
            command.args([
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Wconversion",
                "-Wshadow",
                "-Werror",
                "-fsyntax-only",
            ]);
            command.arg(format!("-std={standard}")).args(["-x", language, "-I"]);
            let output =
                command.arg(header().with_file_name("")).arg(&file).output().expect("the compiler starts");
            assert!(output.status.success(), "{standard}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
