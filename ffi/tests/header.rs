//! The header is made from the sources, and this is where it is compared, and with `TOOLCORE_BLESS=1` written.

#![allow(clippy::expect_used, reason = "what a test cannot do without fails it")]

use std::path::{Path, PathBuf};

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
