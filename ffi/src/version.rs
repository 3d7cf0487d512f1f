//! Which version this is, and what is built in.

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

/// toolcore_features: schemas may use `pattern` and `patternProperties`.
pub const TOOLCORE_FEATURE_PATTERN: u32 = 1;
/// toolcore_features: `format` can be asserted; see TOOLCORE_SCHEMA_ASSERT_FORMATS.
pub const TOOLCORE_FEATURE_FORMAT: u32 = 2;
/// toolcore_features: schemas may use `unevaluatedItems` and `unevaluatedProperties`.
pub const TOOLCORE_FEATURE_UNEVALUATED: u32 = 4;

/// What the library that is linked was built with, as TOOLCORE_FEATURE_ flags. A schema that uses what it was built
/// without is refused by name: ERR_BAD_SCHEMA. (Without `format`, that keyword is an annotation, and asking for it to
/// be asserted is ERR_UNSUPPORTED.)
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_features() -> u32 {
    let built = |feature, there| if there { feature } else { 0 };
    built(TOOLCORE_FEATURE_PATTERN, cfg!(feature = "pattern"))
        | built(TOOLCORE_FEATURE_FORMAT, cfg!(feature = "format"))
        | built(TOOLCORE_FEATURE_UNEVALUATED, cfg!(feature = "unevaluated"))
}
