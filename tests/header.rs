//! The header as its users have it: it compiles as each language that it is for, and what it declares is what the
//! library exports.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use toolcore_demo::{compiler, root};
use toolcore_tests::{is_there, library, skip, workshop};

/// Uses every macro of the header, and a function.
const SOURCE: &str = r#"
#include "toolcore.h"
#include "toolcore.h"
static const toolcore_str_t fixed = TOOLCORE_STR_INIT("fixed");
toolcore_str_t NAME(void);
toolcore_str_t NAME(void)
{
    INITS
    if (fixed.len != 5 || TOOLCORE_NO_OFFSET == 0)
        return TOOLCORE_STR("never");
    return toolcore_version();
}
"#;

#[test]
fn what_is_declared_is_what_is_exported() {
    let Some(library) = library("what_is_declared_is_what_is_exported") else { return };
    if !is_there("nm") {
        return skip("what_is_declared_is_what_is_exported", "there is no nm");
    }
    let declared = declared();
    assert!(declared.len() > 90, "{declared:?}");
    let ours = |name: &String| name.starts_with("toolcore_");
    let in_archive: BTreeSet<String> = symbols(library, &[]).into_iter().filter(ours).collect();
    assert_eq!(in_archive, declared);
    // The shared library shows nothing else, none of Rust's own symbols among it.
    let in_shared = symbols(&library.with_extension("so"), &["-D"]);
    assert_eq!(in_shared, declared);
}

#[test]
fn it_compiles_as_c_and_as_cpp() {
    let Some(library) = library("it_compiles_as_c_and_as_cpp") else { return };
    let folder = workshop(library, "header");
    let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];
    let cpp = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let has_cpp = is_there(&cpp);
    if !has_cpp {
        skip("it_compiles_as_c_and_as_cpp, C++", "there is no C++ compiler");
    }
    let languages = [
        (compiler(), "c", ["c99", "c11", "c17"].as_slice()),
        (cpp, "cpp", ["c++11", "c++14", "c++17", "c++20"].as_slice()),
    ];
    for (compiler, extension, standards) in languages {
        if extension == "cpp" && !has_cpp {
            continue;
        }
        for standard in standards {
            // Two files that are linked into one program: nothing in the header is defined twice.
            let sources = ["one", "two"].map(|name| {
                let source = folder.join(format!("{name}.{extension}"));
                let text = SOURCE.replace("NAME", name).replace("INITS", &inits());
                std::fs::write(&source, text).unwrap();
                source
            });
            let main = folder.join(format!("main.{extension}"));
            std::fs::write(
                &main,
                "#include \"toolcore.h\"\ntoolcore_str_t one(void);\ntoolcore_str_t two(void);\n\
                 int main(void) { return one().len == two().len && one().len > 0 ? 0 : 1; }\n",
            )
            .unwrap();
            let program = folder.join(format!("{extension}-{standard}"));
            let mut compile = Command::new(&compiler);
            compile.arg(format!("-std={standard}")).args(warnings).arg("-I").arg(root().join("include"));
            compile.args(&sources).arg(&main).arg(library).args(toolcore_demo::LINK).arg("-o").arg(&program);
            let output = compile.output().unwrap();
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && complaints.is_empty(), "{standard}: {complaints}");
            assert!(Command::new(&program).status().unwrap().success(), "{standard}");
        }
    }
}

#[test]
fn its_version_is_the_crates() {
    let numbers: Vec<String> = ["MAJOR", "MINOR", "PATCH"]
        .iter()
        .map(|part| {
            let define = format!("#define TOOLCORE_VERSION_{part} ");
            header().lines().find_map(|line| line.strip_prefix(&define).map(str::to_owned)).unwrap()
        })
        .collect();
    assert_eq!(numbers.join("."), env!("CARGO_PKG_VERSION"));
}

#[test]
fn every_function_has_a_comment() {
    let header = header();
    let functions = header.split_once("extern \"C\" {").unwrap().1;
    // Declarations stand in groups that a blank line ends; the first line of each is a comment.
    for group in functions.split("\n\n").map(str::trim).filter(|group| group.contains("toolcore_")) {
        if group.contains(';') {
            assert!(
                group.trim_start_matches("#endif // __cplusplus").trim_start().starts_with("//"),
                "{group}"
            );
        }
    }
}

/// A variable of every struct that has an initialiser.
fn inits() -> String {
    let header = header();
    let names = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define TOOLCORE_")?.split_once("_INIT TOOLCORE_SIZED_INIT("));
    let lines = names.map(|(name, kind)| {
        let (kind, variable) = (kind.trim_end_matches(')'), name.to_lowercase());
        format!("{kind} {variable} = TOOLCORE_{name}_INIT;\n    if ({variable}.struct_size != sizeof({kind})) return fixed;\n    ")
    });
    let text: String = lines.collect();
    assert!(text.matches("_INIT;").count() >= 20, "{text}");
    text
}

/// The functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = header();
    let functions = header.split_once("extern \"C\" {").unwrap().1;
    let code: String = functions.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join(" ");
    code.split(';')
        .filter_map(|declaration| declaration.split_once('('))
        .filter_map(|(before, _)| before.split([' ', '*']).next_back().map(str::to_owned))
        .filter(|name| name.starts_with("toolcore_"))
        .collect()
}

/// The functions that a library defines for others.
fn symbols(library: &Path, options: &[&str]) -> BTreeSet<String> {
    let output =
        Command::new("nm").args(["-g", "--defined-only"]).args(options).arg(library).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.split_once(" T ").map(|(_, name)| name.to_owned())).collect()
}

fn header() -> String {
    std::fs::read_to_string(root().join("include/toolcore.h")).unwrap()
}
