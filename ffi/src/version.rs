//! Which version this is.

use crate::abi::toolcore_str_t;

/// Major version of this header. From 1 on, a change of it breaks something.
pub const TOOLCORE_VERSION_MAJOR: u32 = 0;
/// Minor version of this header.
pub const TOOLCORE_VERSION_MINOR: u32 = 1;
/// Patch version of this header.
pub const TOOLCORE_VERSION_PATCH: u32 = 0;

/// The version of the library that is linked, such as "0.1.0". Lives as long as the program and is NUL
/// terminated.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_version() -> toolcore_str_t {
    let text = concat!(env!("CARGO_PKG_VERSION"), "\0");
    toolcore_str_t::of(text.trim_end_matches('\0'))
}
