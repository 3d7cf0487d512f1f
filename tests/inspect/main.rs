//! Suites, field cases and recorded traffic through the desk tool, and with it through the C API.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed"
)]

mod desk;
mod field_cases;
mod provider_cases;
mod schedule;
mod schema_suite;
mod streams;
mod suites;
mod traffic;
mod validate;

use std::path::{Path, PathBuf};

/// The files of a folder in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}
