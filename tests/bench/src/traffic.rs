//! Replies of real providers, where they are recorded: `../shared/data/traffic`.

use std::path::{Path, PathBuf};

use toolcore::dialect::Dialect;
use toolcore::json::{self, Options};

/// What of a dialect is recorded, and the titles of its groups: whole replies, and streams if there are any.
pub(crate) const RECORDED: [(Dialect, &str, Option<&str>); 6] = [
    (
        Dialect::OpenAiChat,
        "read the recorded replies of openai_chat",
        Some("stream the recorded replies of openai_chat in chunks of 64 bytes"),
    ),
    (
        Dialect::OpenAiResponses,
        "read the recorded replies of openai_responses",
        Some("stream the recorded replies of openai_responses in chunks of 64 bytes"),
    ),
    (
        Dialect::Anthropic,
        "read the recorded replies of anthropic",
        Some("stream the recorded replies of anthropic in chunks of 64 bytes"),
    ),
    (
        Dialect::Gemini,
        "read the recorded replies of gemini",
        Some("stream the recorded replies of gemini in chunks of 64 bytes"),
    ),
    (Dialect::Bedrock, "read the recorded replies of bedrock", None),
    (Dialect::Cohere, "read the recorded replies of cohere", None),
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
