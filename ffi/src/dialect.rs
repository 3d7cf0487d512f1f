//! The providers' formats by their constants and names.

use toolcore_core::dialect::Dialect;

use crate::abi::toolcore_str_t;
use crate::guard::{Fail, UNKNOWN, read};

/// OpenAI Chat Completions, and what imitates it.
pub const TOOLCORE_DIALECT_OPENAI_CHAT: u32 = 1;
/// OpenAI Responses.
pub const TOOLCORE_DIALECT_OPENAI_RESPONSES: u32 = 2;
/// Anthropic Messages.
pub const TOOLCORE_DIALECT_ANTHROPIC: u32 = 3;
/// Google Gemini, with parameters as JSON Schema.
pub const TOOLCORE_DIALECT_GEMINI: u32 = 4;
/// Google Gemini, with parameters in its older form, a kind of OpenAPI schema.
pub const TOOLCORE_DIALECT_GEMINI_SCHEMA: u32 = 5;
/// Amazon Bedrock Converse.
pub const TOOLCORE_DIALECT_BEDROCK: u32 = 6;
/// Ollama's own chat endpoint.
pub const TOOLCORE_DIALECT_OLLAMA: u32 = 7;
/// Model Context Protocol: what stands inside tools/list, tools/call and its result.
pub const TOOLCORE_DIALECT_MCP: u32 = 8;
/// The text form of Hermes models.
pub const TOOLCORE_DIALECT_HERMES: u32 = 9;
/// The text form of Llama 3 models.
pub const TOOLCORE_DIALECT_LLAMA3: u32 = 10;
/// The text form of Mistral models.
pub const TOOLCORE_DIALECT_MISTRAL: u32 = 11;
/// Mistral's endpoint, which is like OpenAI Chat Completions.
pub const TOOLCORE_DIALECT_MISTRAL_CHAT: u32 = 12;
/// Cohere's endpoint.
pub const TOOLCORE_DIALECT_COHERE: u32 = 13;

/// The name of a dialect in snake case, such as "openai_chat", empty for a constant that this build does not support.
/// Lives as long as the program.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_dialect_name(dialect: u32) -> toolcore_str_t {
    let known = known_dialect(dialect).ok().filter(|dialect| dialect.is_built_in());
    known.map_or(toolcore_str_t::EMPTY, |dialect| toolcore_str_t::of(dialect.name()))
}

/// The constant of the dialect with this name, TOOLCORE_DIALECT_, whether or not it is built in; 0 if there is none.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_dialect_from_name(name: toolcore_str_t) -> u32 {
    read(0, |c| {
        let name = c.text(name)?;
        Ok(TABLE.iter().find(|(_, dialect)| dialect.name() == name).map_or(0, |(constant, _)| *constant))
    })
}

/// Which constant is which dialect.
const TABLE: &[(u32, Dialect)] = &[
    (TOOLCORE_DIALECT_OPENAI_CHAT, Dialect::OpenAiChat),
    (TOOLCORE_DIALECT_OPENAI_RESPONSES, Dialect::OpenAiResponses),
    (TOOLCORE_DIALECT_ANTHROPIC, Dialect::Anthropic),
    (TOOLCORE_DIALECT_GEMINI, Dialect::Gemini),
    (TOOLCORE_DIALECT_GEMINI_SCHEMA, Dialect::GeminiSchema),
    (TOOLCORE_DIALECT_BEDROCK, Dialect::Bedrock),
    (TOOLCORE_DIALECT_OLLAMA, Dialect::Ollama),
    (TOOLCORE_DIALECT_MCP, Dialect::Mcp),
    (TOOLCORE_DIALECT_HERMES, Dialect::Hermes),
    (TOOLCORE_DIALECT_LLAMA3, Dialect::Llama3),
    (TOOLCORE_DIALECT_MISTRAL, Dialect::Mistral),
    (TOOLCORE_DIALECT_MISTRAL_CHAT, Dialect::MistralChat),
    (TOOLCORE_DIALECT_COHERE, Dialect::Cohere),
];

/// The dialect of a constant.
pub(crate) fn known_dialect(dialect: u32) -> Result<Dialect, Fail> {
    let found = TABLE.iter().find(|(constant, _)| *constant == dialect);
    let unknown = Fail(UNKNOWN.0, "the dialect is not set, or not supported by this version");
    found.map(|(_, dialect)| *dialect).ok_or(unknown)
}
