//! Tests that are longer than the file they are about.

mod number;
mod value;
mod write;
