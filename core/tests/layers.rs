//! The drawing in `core/src/lib.rs` holds: a module uses only what is below it; and what every file promises.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module's layer, as drawn.
const LAYERS: [(&str, u8); 24] = [
    ("sink", 0),
    ("arena", 0),
    ("time", 0),
    ("json", 1),
    ("schema", 2),
    ("tool", 3),
    ("call", 3),
    ("result", 3),
    ("context", 3),
    ("scratch", 3),
    ("registry", 4),
    ("inflight", 4),
    ("mailbox", 4),
    ("dispatch", 5),
    ("dialect", 5),
    ("stream", 5),
    ("answer", 6),
    ("turn", 6),
    ("typed", 6),
    ("owned", 6),
    ("embassy", 6),
    ("system", 6),
    ("lib", 7),
    ("prelude", 7),
];

/// Who uses whom within one layer. One that is not used any more must go.
const BESIDE: [(&str, &str); 7] = [
    ("arena", "sink"),
    ("time", "sink"),
    ("tool", "call"),
    ("tool", "result"),
    ("dispatch", "dialect"),
    ("stream", "dialect"),
    ("turn", "answer"),
];

#[test]
fn no_module_uses_one_above_or_beside_it() {
    let mut beside = BTreeSet::new();
    for file in sources() {
        let user = module_of(&file);
        for used in uses(&code(&file)) {
            if used == user {
                continue;
            }
            let (low, high) = (layer(&used), layer(&user));
            assert!(low <= high, "{} (layer {high}) uses {used} (layer {low})", file.display());
            if low == high {
                beside.insert((user.clone(), used));
            }
        }
    }
    let allowed: BTreeSet<_> =
        BESIDE.iter().map(|(user, used)| (user.to_string(), used.to_string())).collect();
    assert_eq!(beside, allowed, "modules of one layer that use each other");
}

#[test]
fn the_drawing_shows_every_module_in_its_layer() {
    let lib = std::fs::read_to_string(source("lib.rs")).unwrap();
    let drawing: Vec<&str> = lib.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    for line in lib.lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let Some(module) = line.strip_suffix(';') else { continue };
        let mut row = None;
        let shown = drawing.iter().find_map(|line| {
            row = line.bytes().next().filter(u8::is_ascii_digit).map(|digit| digit - b'0').or(row);
            let names = line.split(|c: char| !c.is_ascii_alphanumeric());
            row.filter(|row| *row == layer(module) && names.into_iter().any(|name| name == module))
        });
        assert!(shown.is_some(), "the drawing does not show {module} in layer {}", layer(module));
    }
}

#[test]
fn nothing_is_unsafe_and_nothing_allocates_without_its_feature() {
    let lib = std::fs::read_to_string(source("lib.rs")).unwrap();
    assert!(lib.contains("#![no_std]") && lib.contains("#![forbid(unsafe_code)]"));
    for file in sources() {
        let module = module_of(&file);
        let gated = ["alloc", "std"]
            .iter()
            .any(|feature| lib.contains(&format!("#[cfg(feature = \"{feature}\")]\npub mod {module};")));
        for (number, line) in code(&file).lines().enumerate() {
            let place = format!("{}:{}: {line}", file.display(), number + 1);
            assert!(!words(line).any(|word| word == "unsafe"), "{place}");
            let allocates = names_crate(line, "alloc") || names_crate(line, "std");
            assert!(gated || !allocates, "{place}");
        }
    }
}

#[test]
fn every_error_is_copy_has_the_error_trait_and_speaks_in_lower_case() {
    let mut errors = 0;
    for file in sources() {
        let text = code(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let place = format!("{}:{}: {line}", file.display(), at + 1);
            if let Some(derived) = line.trim().strip_prefix("#[derive(")
                && derived.split([',', ')', ' ', ':']).any(|name| name == "Error")
            {
                let item = lines[at..].iter().find(|line| line.contains("enum ") || line.contains("struct "));
                let name = item
                    .unwrap()
                    .split(['{', ';', '(', ' '])
                    .skip_while(|word| !matches!(*word, "enum" | "struct"));
                let name = name.clone().nth(1).unwrap();
                assert!(words(derived).any(|word| word == "Copy"), "{name} is not Copy: {place}");
                let implemented = format!("impl core::error::Error for {name} {{}}");
                assert!(text.contains(&implemented), "{name} is not an Error: {place}");
                errors += 1;
            }
            if let Some(message) = line.trim().strip_prefix("#[error(\"") {
                assert!(!message.starts_with(|c: char| c.is_uppercase()), "{place}");
            }
        }
    }
    assert!(errors >= 15, "only {errors} error types were found");
}

fn layer(module: &str) -> u8 {
    let found = LAYERS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("{module} has no layer in this test")).1
}

/// Whether a line has a path that begins with this crate's name.
fn names_crate(line: &str, name: &str) -> bool {
    let path = format!("{name}::");
    let mut starts = line.match_indices(&path).map(|(at, _)| &line[..at]);
    starts.any(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The modules that a text names after `crate::`, in lists too.
fn uses(code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let list = rest
            .strip_prefix('{')
            .map_or(rest.split(';').next().unwrap(), |list| list.split("};").next().unwrap());
        if rest.starts_with('{') {
            // Only the first name of each entry is a module; deeper braces belong to it.
            let mut depth = 0;
            for entry in list.split_inclusive([',', '{', '}']) {
                if depth == 0
                    && let Some(name) = words(entry).next()
                {
                    used.insert(name.to_string());
                }
                depth += entry.matches('{').count();
                depth -= entry.matches('}').count();
            }
        } else {
            used.insert(words(list).next().unwrap().to_string());
        }
    }
    used
}

/// A file without comments and without the tests at its end.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    let lines: Vec<&str> = lines.filter(|line| !line.contains("extern crate")).collect();
    lines.join("\n")
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The top-level module that a file belongs to.
fn module_of(file: &Path) -> String {
    let inside = file.strip_prefix(source("")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_string()
}

/// All files but those that are only tests.
fn sources() -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![source("")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("tests") || path.ends_with("tests.rs") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    assert!(files.len() > 20);
    files
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name)
}
