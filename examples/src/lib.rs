//! Builds the C library and C programs against it, for the examples and for the tests.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The root of the workspace.
pub fn root() -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR"));
    examples.parent().unwrap_or(examples).to_path_buf()
}

/// The C compiler: the environment's `CC`, else `cc`.
pub fn compiler() -> String {
    env::var("CC").unwrap_or_else(|_| "cc".into())
}

/// Whether a C compiler can be run here.
pub fn has_compiler() -> bool {
    Command::new(compiler()).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Builds `libtoolcore.a` with this program's own profile and gives its path.
pub fn build_library() -> Result<PathBuf, String> {
    run(cargo("build")?.args(["--package", "toolcore-ffi", "--lib"]))?;
    Ok(output_folder()?.join("libtoolcore.a"))
}

/// A command of cargo's in the workspace, with this program's own profile and target folder.
pub fn cargo(command: &str) -> Result<Command, String> {
    let output_folder = output_folder()?;
    let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.current_dir(root()).args([command, "--quiet"]);
    // The folder is `<target folder>/<profile>`.
    if let Some(target) = output_folder.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    if output_folder.ends_with("release") {
        cargo.arg("--release");
    }
    Ok(cargo)
}

/// The sources of a C example: `examples/c/NAME.c` and all in `examples/c/NAME`.
pub fn example(name: &str) -> Result<Vec<PathBuf>, String> {
    let folder = root().join("examples/c").join(name);
    let mut sources = vec![folder.with_extension("c")];
    if folder.is_dir() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let files = entries.flatten().map(|entry| entry.path());
        sources.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "c")));
        sources.sort();
    }
    Ok(sources)
}

/// Compiles C sources and links them with the library; gives the program's path. `flags` come before the
/// sources.
pub fn compile<S: AsRef<OsStr>>(
    sources: &[PathBuf],
    library: &Path,
    flags: &[S],
    program: &str,
) -> Result<PathBuf, String> {
    let folder = output_folder()?.join("c");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = folder.join(program);
    let mut compile = Command::new(compiler());
    compile.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-g", "-O1", "-I"]);
    compile.arg(root().join("include")).args(flags);
    compile.args(sources).arg(library).args(LINK).arg("-o").arg(&program);
    run(&mut compile)?;
    Ok(program)
}

/// What a C program that links `libtoolcore.a` needs beside it on Linux.
pub const LINK: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

/// Runs a command with this program's own input and output.
pub fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = status(command).map_err(|error| format!("{name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}: {status}")) }
}

fn status(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.status()
}

/// `<target folder>/<profile>`, where this program stands.
fn output_folder() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.parent().ok_or("the program has no folder")?;
    // A test stands in `deps` below it.
    let folder = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
    Ok(folder.to_path_buf())
}
