//! Streams: every framing, every chunking, every provider's pieces, and the same reply in the end.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod chunkings;
mod chunks;
mod convert;
mod cuts;
mod framing;
mod memory;
mod providers;
mod support;
mod traffic;
mod turns;
