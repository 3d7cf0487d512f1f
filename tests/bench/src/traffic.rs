//! Replies of real providers, where they are recorded: `../shared/data/traffic`.

use std::path::{Path, PathBuf};

use toolcore::dialect::Dialect;
use toolcore::json::{self, Options};

pub(crate) const READ_OPENAI_CHAT: &str = "read the recorded replies of openai_chat";
pub(crate) const READ_OPENAI_RESPONSES: &str = "read the recorded replies of openai_responses";
pub(crate) const READ_ANTHROPIC: &str = "read the recorded replies of anthropic";
pub(crate) const READ_GEMINI: &str = "read the recorded replies of gemini";
pub(crate) const READ_BEDROCK: &str = "read the recorded replies of bedrock";
pub(crate) const READ_COHERE: &str = "read the recorded replies of cohere";
pub(crate) const STREAM_OPENAI_CHAT: &str =
    "stream the recorded replies of openai_chat in chunks of 64 bytes";
pub(crate) const STREAM_OPENAI_RESPONSES: &str =
    "stream the recorded replies of openai_responses in chunks of 64 bytes";
pub(crate) const STREAM_ANTHROPIC: &str = "stream the recorded replies of anthropic in chunks of 64 bytes";
pub(crate) const STREAM_GEMINI: &str = "stream the recorded replies of gemini in chunks of 64 bytes";

/// What of a dialect is recorded, and the titles of its groups: whole replies, and streams if there are any.
pub(crate) const RECORDED: [(Dialect, &str, Option<&str>); 6] = [
    (Dialect::OpenAiChat, READ_OPENAI_CHAT, Some(STREAM_OPENAI_CHAT)),
    (Dialect::OpenAiResponses, READ_OPENAI_RESPONSES, Some(STREAM_OPENAI_RESPONSES)),
    (Dialect::Anthropic, READ_ANTHROPIC, Some(STREAM_ANTHROPIC)),
    (Dialect::Gemini, READ_GEMINI, Some(STREAM_GEMINI)),
    (Dialect::Bedrock, READ_BEDROCK, None),
    (Dialect::Cohere, READ_COHERE, None),
];

/// Whether the folder is there.
pub(crate) fn is_there() -> bool {
    folder().is_dir()
}

/// The replies of a dialect as they stand in its file: whole ones, and streams (also arrays of events).
pub(crate) fn replies(dialect: Dialect) -> [Vec<String>; 2] {
    let path = folder().join(format!("{}.jsonl", dialect.name()));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (mut whole, mut streams) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let row = json::parse(line.as_bytes(), &Options::default()).unwrap();
        let reply = row.get("reply").unwrap();
        let kind = row.get("kind").and_then(json::Value::as_str).unwrap();
        let reply = reply.as_str().map_or(reply.raw().to_owned(), |text| text.chars().collect());
        if kind == "whole" { whole.push(reply) } else { streams.push(reply) }
    }
    [whole, streams]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/traffic")
}
