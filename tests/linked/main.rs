//! Code that a schema does not need is not linked: images of one firmware with each set of features.
//!
//! [`firmware.c`](firmware.c) is linked with `libtoolcore.a` for bare metal, unused sections left out, for this
//! machine. An image without a feature holds no symbol of the feature's modules and none of their tables. What each
//! image takes stands in `sizes.txt`; growth of more than a few percent fails, so that it is a decision.
//!
//! | environment variable | meaning |
//! |---|---|
//! | `TOOLCORE_LINKED=all` | every set of features; otherwise none and all of them |
//! | `TOOLCORE_BLESS=1` | rewrite the rows of `sizes.txt` that were measured |
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolcore_tests::{is_there, skip};

/// What can be left out: the feature, and words of which each symbol of it alone has one.
const FEATURES: [(&str, &[&str]); 3] = [
    ("pattern", &["6schema7pattern", "schema..pattern", "6schema8matching", "unicode_data10alphabetic"]),
    ("format", &["6schema6format", "schema..format"]),
    ("unevaluated", &["6schema9evaluated", "schema..evaluated"]),
];

/// How much an image may differ from the table, in percent: compilers differ, too.
const TOLERANCE: u64 = 3;

#[test]
fn a_firmware_pays_for_the_keywords_it_asked_for_and_no_others() {
    let test = "a_firmware_pays_for_the_keywords_it_asked_for_and_no_others";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return skip(test, "the firmware is written for x86-64 and Linux");
    }
    for tool in ["gcc", "nm", "size"] {
        if !is_there(tool) {
            return skip(test, &format!("{tool} is absent"));
        }
    }
    let all = 1 << FEATURES.len();
    let every = std::env::var("TOOLCORE_LINKED").is_ok_and(|sets| sets == "all");
    let sets: Vec<usize> = if every { (0..all).collect() } else { vec![0, all - 1] };
    let images: BTreeMap<usize, Image> = sets.into_iter().map(|set| (set, Image::build(set))).collect();
    for (&set, image) in &images {
        println!("{:<28} {}", name(set), image.size.row());
        for (bit, (feature, words)) in FEATURES.iter().enumerate() {
            let found: Vec<_> =
                image.symbols.iter().filter(|name| words.iter().any(|word| name.contains(word))).collect();
            let is_in = set >> bit & 1 == 1;
            assert_eq!(!found.is_empty(), is_in, "{feature} in the image with {}: {found:#?}", name(set));
        }
        for (&larger, other) in images.iter().filter(|&(&larger, _)| larger != set && larger & set == set) {
            assert!(other.size.text > image.size.text, "{} takes no more than {}", name(larger), name(set));
        }
    }
    compare(&images);
}

struct Image {
    size: Size,
    symbols: Vec<String>,
}

/// Bytes.
#[derive(Clone, Copy)]
struct Size {
    /// Code and constants.
    text: u64,
    data: u64,
    bss: u64,
}

impl Image {
    /// Links the firmware with a set of features, runs it, and looks at what was linked.
    fn build(set: usize) -> Image {
        let library = library(set);
        let folder = library.with_file_name("linked");
        std::fs::create_dir_all(&folder).unwrap();
        let image = folder.join(name(set).replace(' ', "-"));
        let root = root();
        let mut gcc = Command::new("gcc");
        gcc.args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-ffreestanding",
            "-nostdlib",
            "-static",
        ]);
        gcc.args(["-Wl,--gc-sections", "-Wl,-z,noexecstack", "-I"]).arg(root.join("include"));
        run(gcc.arg(root.join("tests/linked/firmware.c")).arg(library).arg("-o").arg(&image));
        run(&mut Command::new(&image));
        let symbols = run(Command::new("nm").arg(&image));
        let symbols =
            symbols.lines().filter_map(|line| line.rsplit_once(' ')).map(|(_, name)| name.to_owned());
        let symbols: Vec<_> = symbols.collect();
        assert!(
            symbols.iter().any(|name| name.contains("6schema7compile")),
            "the names of modules are there"
        );
        Image { size: Size::of(&image), symbols }
    }
}

impl Size {
    /// What unwinding would need is not counted: firmware leaves it out.
    fn of(image: &Path) -> Size {
        let listed = run(Command::new("size").args(["-A", "-d"]).arg(image));
        let of = |names: &[&str]| {
            let rows = listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let rows = rows.filter(|row| row.first().is_some_and(|section| names.contains(section)));
            rows.map(|row| row[1].parse::<u64>().unwrap()).sum()
        };
        let size = Size {
            text: of(&[".text", ".rodata", ".data.rel.ro"]),
            data: of(&[".data"]),
            bss: of(&[".bss"]),
        };
        assert!(size.text > 0, "{listed}");
        size
    }

    fn row(self) -> String {
        format!("{:>9} {:>9} {:>9}", self.text, self.data, self.bss)
    }
}

/// Builds the library as for bare metal, with a set of features.
fn library(set: usize) -> PathBuf {
    // The folder that ffi/tests/bare.rs builds in: one of these sets is the same.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "toolcore-ffi", "--lib", "--profile", "bare"]);
    cargo.args(["--no-default-features", "--features", "bare", "--features", &name(set).replace("none", "")]);
    cargo.arg("--target-dir").arg(&target).current_dir(root());
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    run(&mut cargo);
    target.join("bare/libtoolcore.a")
}

/// The features of a set.
fn name(set: usize) -> String {
    let chosen = FEATURES.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<_> = chosen.map(|(_, (feature, _))| *feature).collect();
    if names.is_empty() { "none".into() } else { names.join(" ") }
}

/// Holds the images to the table, or rewrites it.
fn compare(images: &BTreeMap<usize, Image>) {
    let path = root().join("tests/linked/sizes.txt");
    let table = std::fs::read_to_string(&path).unwrap_or_default();
    let (heads, rows): (Vec<_>, Vec<_>) = table.lines().partition(|line| line.starts_with('#'));
    let row_of = |set: usize| {
        let sizes = rows.iter().find_map(|row| row.strip_prefix(&format!("{:<28}", name(set))))?;
        let numbers: Vec<u64> = sizes.split_whitespace().map(|number| number.parse().unwrap()).collect();
        Some(Size { text: numbers[0], data: numbers[1], bss: numbers[2] })
    };
    if std::env::var_os("TOOLCORE_BLESS").is_some() {
        let mut text: String = heads.iter().map(|line| format!("{line}\n")).collect();
        for set in 0..1 << FEATURES.len() {
            if let Some(size) = images.get(&set).map(|image| image.size).or_else(|| row_of(set)) {
                text += &format!("{:<28} {}\n", name(set), size.row());
            }
        }
        std::fs::write(&path, text).unwrap();
        return;
    }
    for (&set, image) in images {
        let Some(known) = row_of(set) else { panic!("sizes.txt has no row for {}", name(set)) };
        let (now, then) = (image.size, known);
        let differs = |now: u64, then: u64| now.abs_diff(then) * 100 > then * TOLERANCE;
        assert!(
            !differs(now.text, then.text) && !differs(now.data, then.data) && !differs(now.bss, then.bss),
            "with {}: {}, and sizes.txt says {}; if it is meant, TOOLCORE_BLESS=1 TOOLCORE_LINKED=all rewrites it",
            name(set),
            now.row(),
            then.row()
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}, {}:\n{said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
