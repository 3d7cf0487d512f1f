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

/// toolcore_features: TOOLCORE_DIALECT_OPENAI_CHAT.
pub const TOOLCORE_FEATURE_OPENAI: u32 = 8;
/// toolcore_features: TOOLCORE_DIALECT_OPENAI_RESPONSES.
pub const TOOLCORE_FEATURE_OPENAI_RESPONSES: u32 = 16;
/// toolcore_features: TOOLCORE_DIALECT_ANTHROPIC.
pub const TOOLCORE_FEATURE_ANTHROPIC: u32 = 32;
/// toolcore_features: TOOLCORE_DIALECT_GEMINI and TOOLCORE_DIALECT_GEMINI_SCHEMA.
pub const TOOLCORE_FEATURE_GEMINI: u32 = 64;
/// toolcore_features: TOOLCORE_DIALECT_BEDROCK.
pub const TOOLCORE_FEATURE_BEDROCK: u32 = 128;
/// toolcore_features: TOOLCORE_DIALECT_OLLAMA.
pub const TOOLCORE_FEATURE_OLLAMA: u32 = 256;
/// toolcore_features: TOOLCORE_DIALECT_MISTRAL_CHAT.
pub const TOOLCORE_FEATURE_MISTRAL: u32 = 512;
/// toolcore_features: TOOLCORE_DIALECT_COHERE.
pub const TOOLCORE_FEATURE_COHERE: u32 = 1024;
/// toolcore_features: TOOLCORE_DIALECT_MCP.
pub const TOOLCORE_FEATURE_MCP: u32 = 2048;
/// toolcore_features: TOOLCORE_DIALECT_HERMES, TOOLCORE_DIALECT_LLAMA3 and TOOLCORE_DIALECT_MISTRAL.
pub const TOOLCORE_FEATURE_TEXT_FORMS: u32 = 4096;
/// toolcore_features: the functions toolcore_stream_ are there.
pub const TOOLCORE_FEATURE_STREAM: u32 = 8192;
/// toolcore_features: toolcore_mailbox_ and toolcore_receive.
pub const TOOLCORE_FEATURE_MAILBOX: u32 = 16384;
/// toolcore_features: toolcore_workers_, and toolcore_tool_t.workers.
pub const TOOLCORE_FEATURE_WORKERS: u32 = 32768;

/// What the library that is linked was built with, as TOOLCORE_FEATURE_ flags. A schema that uses what it was built
/// without is refused by name: ERR_BAD_SCHEMA. (Without `format`, that keyword is an annotation, and asking for it to
/// be asserted is ERR_UNSUPPORTED.) A dialect that it was built without is ERR_UNSUPPORTED in every function that takes
/// one, and why.message names the feature. Without `stream` there are no functions toolcore_stream_ to link.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_features() -> u32 {
    let built = |feature, there| if there { feature } else { 0 };
    built(TOOLCORE_FEATURE_PATTERN, cfg!(feature = "pattern"))
        | built(TOOLCORE_FEATURE_FORMAT, cfg!(feature = "format"))
        | built(TOOLCORE_FEATURE_UNEVALUATED, cfg!(feature = "unevaluated"))
        | built(TOOLCORE_FEATURE_OPENAI, cfg!(feature = "openai"))
        | built(TOOLCORE_FEATURE_OPENAI_RESPONSES, cfg!(feature = "openai-responses"))
        | built(TOOLCORE_FEATURE_ANTHROPIC, cfg!(feature = "anthropic"))
        | built(TOOLCORE_FEATURE_GEMINI, cfg!(feature = "gemini"))
        | built(TOOLCORE_FEATURE_BEDROCK, cfg!(feature = "bedrock"))
        | built(TOOLCORE_FEATURE_OLLAMA, cfg!(feature = "ollama"))
        | built(TOOLCORE_FEATURE_MISTRAL, cfg!(feature = "mistral"))
        | built(TOOLCORE_FEATURE_COHERE, cfg!(feature = "cohere"))
        | built(TOOLCORE_FEATURE_MCP, cfg!(feature = "mcp"))
        | built(TOOLCORE_FEATURE_TEXT_FORMS, cfg!(feature = "text-forms"))
        | built(TOOLCORE_FEATURE_STREAM, cfg!(feature = "stream"))
        | built(TOOLCORE_FEATURE_MAILBOX, cfg!(feature = "mailbox"))
        | built(TOOLCORE_FEATURE_WORKERS, cfg!(feature = "std"))
}
