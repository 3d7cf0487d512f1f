//! The C API of `toolcore`; the manual is the header, `include/toolcore.h`, which is generated from here.
//!
//! An entry point is three steps: guard, convert, call. There is no logic here, no heap, no global and no
//! thread local.
//!
//! ```text
//! guard     the boundary: panics become a status, and a reason goes to the caller's detail
//! abi       what C hands over: text, memory, sized structs; what goes back
//! object    what stands behind the opaque pointers, in memory of the host
//! callback  what C is called with: handlers, hooks, clocks, observers
//! status    codes, and which error of the core is which
//! the rest  one file for each C object; the order of the `mod` lines is the order of the header
//! ```
//!
//! `unsafe` stands in the first four only. The others are safe code behind a [`Caller`](abi::Caller),
//! which only the guard makes.
#![no_std]
#![allow(non_camel_case_types, reason = "the C spelling, so that a search finds header and source")]
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "an entry point is unsafe as a whole: C must keep the header's rules"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a caller must keep is said once, at the top of the header"
)]
#![allow(
    clippy::too_many_arguments,
    reason = "the order receiver, inputs, memory, outputs, detail is the C API's"
)]

#[cfg(all(feature = "bare", feature = "std"))]
compile_error!(
    "`bare` supplies a panic handler, which `std` already has; pick one (--no-default-features --features bare)"
);
#[cfg(not(any(feature = "bare", feature = "std")))]
compile_error!("without `std` nothing handles a panic; add --features bare");

#[cfg(any(feature = "std", test))]
extern crate std;

// The order of the header; blank lines keep it from being sorted.
pub mod version;

pub mod status;

pub mod abi;

pub mod clock;

pub mod tool;

pub mod resources;

pub mod registry;

pub mod hook;

pub mod dialect;

pub mod tools;

pub mod answer;

pub mod reply;

#[cfg(feature = "stream")]
pub mod stream;

pub mod call;

pub mod result;

pub mod dispatch;

pub mod results;

pub mod turn;

pub mod inflight;

pub mod complete;

#[cfg(feature = "mailbox")]
pub mod mailbox;

#[cfg(feature = "std")]
pub mod workers;

pub mod json;

pub mod json_writer;

pub mod repair;

pub mod schema;

pub mod coerce;

pub mod context;

#[cfg(feature = "bare")]
mod bare;
mod callback;
mod guard;
mod object;

#[cfg(test)]
#[path = "../tests/mod.rs"]
mod tests;
