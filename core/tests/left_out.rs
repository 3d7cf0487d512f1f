//! A dialect that is not built in is refused, with the name of the feature that it needs; whichever are.

use toolcore::call::{Call, ToolCall};
use toolcore::dialect::{
    Dialect, LeftOut, RenderErrorKind, ReplyError, ResultsError, ResultsOptions, ToolsOptions, parse_reply,
    render_results, render_tools,
};
use toolcore::json;
use toolcore::registry::{RegistryMemory, RegistryOptions};
use toolcore::result::ToolResult;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::tool::Failure;

/// Every dialect, its feature, and whether that is on.
const DIALECTS: [(&str, &str, bool); 13] = [
    ("openai_chat", "openai", cfg!(feature = "openai")),
    ("openai_responses", "openai-responses", cfg!(feature = "openai-responses")),
    ("anthropic", "anthropic", cfg!(feature = "anthropic")),
    ("gemini", "gemini", cfg!(feature = "gemini")),
    ("gemini_schema", "gemini", cfg!(feature = "gemini")),
    ("bedrock", "bedrock", cfg!(feature = "bedrock")),
    ("ollama", "ollama", cfg!(feature = "ollama")),
    ("mistral_chat", "mistral", cfg!(feature = "mistral")),
    ("cohere", "cohere", cfg!(feature = "cohere")),
    ("mcp", "mcp", cfg!(feature = "mcp")),
    ("hermes", "text-forms", cfg!(feature = "text-forms")),
    ("llama3", "text-forms", cfg!(feature = "text-forms")),
    ("mistral", "text-forms", cfg!(feature = "text-forms")),
];

#[test]
fn a_dialect_is_known_by_name_in_every_build_and_listed_where_it_is_built_in() {
    for (name, feature, there) in DIALECTS {
        let dialect = Dialect::from_name(name).unwrap();
        assert_eq!((dialect.name(), dialect.feature(), dialect.is_built_in()), (name, feature, there));
        assert_eq!(Dialect::ALL.contains(&dialect), there, "{name}");
    }
    assert_eq!(Dialect::ALL.len(), DIALECTS.iter().filter(|(.., there)| *there).count());
}

#[test]
fn one_that_is_left_out_is_refused_with_the_name_of_its_feature() {
    let mut memory = RegistryMemory::<fn(&Call, &mut ToolResult) -> Result<(), Failure>, 4, 1024>::new();
    let tools = memory.registry(RegistryOptions::default());
    let nothing: [ToolCall; 0] = [];
    for (name, feature, there) in DIALECTS {
        let dialect = Dialect::from_name(name).unwrap();
        let mut written = [0; 1024];
        let mut sink = Sink::new(&mut written);
        let rendered = render_tools(&tools, dialect, &ToolsOptions::default(), &mut sink, &mut |_| {});
        let parsed = parse_reply(dialect, b"", &json::Options::default(), Scratch::default()).map(|_| ());
        let results = render_results(dialect, &nothing[..], &[], &ResultsOptions::default(), &mut sink);
        if there {
            assert!(rendered.is_ok() && results.is_ok(), "{name}");
            assert!(!matches!(parsed, Err(ReplyError::LeftOut(_))), "{name}");
            continue;
        }
        assert_eq!(rendered.unwrap_err().kind, RenderErrorKind::LeftOut(LeftOut(dialect)));
        assert_eq!(results, Err(ResultsError::LeftOut(LeftOut(dialect))));
        assert_eq!(parsed, Err(ReplyError::LeftOut(LeftOut(dialect))));
        assert_eq!(sink.len(), 0);
        let said = parsed.unwrap_err().to_string();
        assert_eq!(said, format!("this build leaves the dialect {name} out: build with feature {feature}"));
    }
}

#[cfg(feature = "stream")]
#[test]
fn so_is_its_stream() {
    use toolcore::stream::{Stream, StreamError, StreamOptions};
    for (name, _, there) in DIALECTS {
        let dialect = Dialect::from_name(name).unwrap();
        let refused = Stream::new(dialect, StreamOptions::default(), Scratch::default()).err();
        let left_out = StreamError::Reply(ReplyError::LeftOut(LeftOut(dialect)));
        assert_eq!(refused == Some(left_out), !there, "{name}");
    }
}
