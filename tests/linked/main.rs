//! Code that a program does not ask for is not linked: images of one firmware with several sets of features.
//!
//! [`firmware.c`](firmware.c) is linked with `libtoolcore.a` for bare metal, unused sections left out, for this
//! machine. An image without a feature holds no symbol of the feature's modules and none of their tables. What each
//! image takes stands in `sizes.txt`; growth of more than a few percent fails, so that it is a decision.
//!
//! | environment variable | meaning |
//! |---|---|
//! | `TOOLCORE_LINKED=all` | every image of the table; otherwise the first and the last |
//! | `TOOLCORE_BLESS=1` | rewrite the rows of `sizes.txt` that were measured |
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::path::{Path, PathBuf};
use std::process::Command;

use toolcore_tests::{is_there, skip};

/// What can be left out: the feature, and the modules whose code belongs to it alone.
const FEATURES: [(&str, &[&[&str]]); 14] = [
    ("openai", &[&["dialect", "openai_chat"]]),
    ("openai-responses", &[&["dialect", "openai_responses"]]),
    ("anthropic", &[&["dialect", "anthropic"]]),
    ("gemini", &[&["dialect", "gemini"]]),
    ("bedrock", &[&["dialect", "bedrock"]]),
    ("ollama", &[&["dialect", "ollama"]]),
    ("mistral", &[&["dialect", "mistral_chat"]]),
    ("cohere", &[&["dialect", "cohere"]]),
    ("mcp", &[&["dialect", "mcp"]]),
    (
        "text-forms",
        &[
            &["dialect", "hermes"],
            &["dialect", "llama3"],
            &["dialect", "mistral"],
            &["dialect", "text_form"],
            &["stream", "plain"],
        ],
    ),
    ("stream", &[&["toolcore", "stream"]]),
    ("pattern", &[&["schema", "pattern"], &["schema", "matching"], &["unicode_data", "alphabetic"]]),
    ("format", &[&["schema", "format"]]),
    ("unevaluated", &[&["schema", "evaluated"]]),
];

/// How many of them are dialects, which the feature `dialects` asks for at once.
const DIALECTS: usize = 10;

/// The images, by their features. Of those for keywords of schemas none has a dialect.
const IMAGES: [&str; 13] = [
    "none",
    "pattern",
    "format",
    "unevaluated",
    "pattern format unevaluated",
    "mcp",
    "openai",
    "anthropic",
    "openai anthropic mcp",
    "dialects",
    "openai stream",
    "dialects stream",
    "dialects stream pattern format unevaluated",
];

/// How much an image may differ from the table, in percent: compilers differ, too.
const TOLERANCE: u64 = 3;

#[test]
fn a_firmware_pays_for_the_features_it_asked_for_and_no_others() {
    let test = "a_firmware_pays_for_the_features_it_asked_for_and_no_others";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return skip(test, "the firmware is written for x86-64 and Linux");
    }
    for tool in ["gcc", "nm", "size"] {
        if !is_there(tool) {
            return skip(test, &format!("{tool} is absent"));
        }
    }
    let every = std::env::var("TOOLCORE_LINKED").is_ok_and(|images| images == "all");
    let names = if every { IMAGES.to_vec() } else { vec![IMAGES[0], IMAGES[IMAGES.len() - 1]] };
    let images: Vec<Image> = names.into_iter().map(Image::build).collect();
    for image in &images {
        println!("{}", image.row());
        for (feature, modules) in FEATURES {
            for module in modules {
                let found: Vec<_> = image.symbols.iter().filter(|name| is_of(name, module)).collect();
                let is_in = image.features.contains(&feature);
                // The text of a stream is read by what only images with both have.
                let is_in = is_in && (module[0] != "stream" || image.features.contains(&"stream"));
                let name = image.name;
                assert_eq!(!found.is_empty(), is_in, "{module:?} in the image with {name}: {found:#?}");
            }
        }
        let is_within = |other: &&Image| {
            other.features.len() > image.features.len()
                && image.features.iter().all(|feature| other.features.contains(feature))
        };
        for other in images.iter().filter(is_within) {
            assert!(other.size.text > image.size.text, "{} takes no more than {}", other.name, image.name);
        }
    }
    compare(&images);
}

/// Whether a symbol is of a module, by its last two names: of a function, or of an implementation.
fn is_of(symbol: &str, module: &[&str]) -> bool {
    let of_function: String = module.iter().map(|name| format!("{}{name}", name.len())).collect();
    symbol.contains(&of_function) || symbol.contains(&format!("{}..", module.join("..")))
}

struct Image {
    name: &'static str,
    features: Vec<&'static str>,
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
    fn build(name: &'static str) -> Image {
        let library = library(name);
        let folder = library.with_file_name("linked");
        std::fs::create_dir_all(&folder).unwrap();
        let image = folder.join(name.replace(' ', "-"));
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
        let all: Vec<_> = FEATURES.iter().map(|(feature, _)| *feature).collect();
        let of = |word| if word == "dialects" { &all[..DIALECTS] } else { matching(&all, word) };
        let features: Vec<_> = name.split(' ').flat_map(of).copied().collect();
        gcc.args(features.iter().map(|feature| format!("-D{}", feature.to_uppercase().replace('-', "_"))));
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
        Image { name, features, size: Size::of(&image), symbols }
    }

    /// Its row in the table.
    fn row(&self) -> String {
        format!("{:<WIDTH$} {}", self.name, self.size.row())
    }
}

/// The feature of that name, if it is one.
fn matching<'a>(all: &'a [&'static str], word: &str) -> &'a [&'static str] {
    let at = all.iter().position(|feature| *feature == word);
    at.map_or(&[], |at| &all[at..=at])
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

/// Builds the library as for bare metal, with these features.
fn library(features: &str) -> PathBuf {
    // The folder that ffi/tests/bare.rs builds in: what they depend on is the same.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "toolcore-ffi", "--lib", "--profile", "bare"]);
    cargo.args(["--no-default-features", "--features", "bare", "--features", &features.replace("none", "")]);
    cargo.arg("--target-dir").arg(&target).current_dir(root());
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    run(&mut cargo);
    target.join("bare/libtoolcore.a")
}

/// The width of the table's first column.
const WIDTH: usize = 44;

/// Holds the images to the table, or rewrites it.
fn compare(images: &[Image]) {
    let path = root().join("tests/linked/sizes.txt");
    let table = std::fs::read_to_string(&path).unwrap_or_default();
    let (heads, rows): (Vec<_>, Vec<_>) = table.lines().partition(|line| line.starts_with('#'));
    let row_of =
        |name: &str| rows.iter().find(|row| row.get(..WIDTH).is_some_and(|it| it.trim_end() == name));
    if std::env::var_os("TOOLCORE_BLESS").is_some() {
        let mut text: String = heads.iter().map(|line| format!("{line}\n")).collect();
        for name in IMAGES {
            let measured = images.iter().find(|image| image.name == name).map(Image::row);
            if let Some(row) = measured.or_else(|| row_of(name).map(|row| row.to_string())) {
                text += &format!("{row}\n");
            }
        }
        std::fs::write(&path, text).unwrap();
        return;
    }
    for Image { name, size: now, .. } in images {
        let Some(row) = row_of(name) else { panic!("sizes.txt has no row for {name}") };
        let numbers: Vec<u64> =
            row[WIDTH..].split_whitespace().map(|number| number.parse().unwrap()).collect();
        let then = Size { text: numbers[0], data: numbers[1], bss: numbers[2] };
        let differs = |now: u64, then: u64| now.abs_diff(then) * 100 > then * TOLERANCE;
        assert!(
            !differs(now.text, then.text) && !differs(now.data, then.data) && !differs(now.bss, then.bss),
            "with {name}: {}, and sizes.txt says {}; if it is meant, TOOLCORE_BLESS=1 TOOLCORE_LINKED=all rewrites it",
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
