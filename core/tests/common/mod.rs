//! What the tests of the tool side share: memory that grows, handlers that close over what they need, and
//! serde_json as the reader of what the library wrote.
#![allow(dead_code)] // each test program uses a part of it
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

pub(crate) mod dialects;

use std::io::Write as _; // the runner hides what passing tests print
use std::path::PathBuf;

use serde_json::Value as Json;
use toolcore::answer::{AnswerError, AnswerOptions, Outcome, answer, answer_reply};
use toolcore::call::{Call, ToolCall};
use toolcore::dialect::{Dialect, RenderError, ToolsOptions, render_tools};
use toolcore::dispatch::{DispatchError, DispatchOptions, dispatch};
use toolcore::registry::{Hook, NoHook, Registry, RegistryOptions, Slot};
use toolcore::result::{OutcomeKind, Part, ToolResult};
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::stream::{Stream, StreamOptions};
use toolcore::tool::{Failure, Handler, Parameters, ToolDefinition};

/// A handler that may close over anything.
pub(crate) type Boxed<'h> = Box<dyn Fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure> + 'h>;

pub(crate) fn boxed<'h>(
    run: impl Fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure> + 'h,
) -> Boxed<'h> {
    Box::new(run)
}

/// A handler that answers with its accepted arguments.
pub(crate) fn echo<'h>() -> Boxed<'h> {
    boxed(|call, result| Ok(result.json(call.args.value().raw())?))
}

/// A handler that answers with this text.
pub(crate) fn says<'h>(text: &'h str) -> Boxed<'h> {
    boxed(move |_, result| Ok(result.text(text)?))
}

/// The memory of a registry, of any size.
pub(crate) struct Memory<H> {
    slots: Vec<Option<Slot<H>>>,
    index: Vec<u32>,
    pool: Vec<u8>,
}

impl<H> Memory<H> {
    pub(crate) fn new(tools: usize, pool: usize) -> Self {
        Memory { slots: (0..tools).map(|_| None).collect(), index: vec![0; 2 * tools], pool: vec![0; pool] }
    }

    /// Room for what a test needs.
    pub(crate) fn ample() -> Self {
        Memory::new(32, 64 * 1024)
    }

    pub(crate) fn registry(&mut self) -> Registry<'_, H> {
        self.with_options(RegistryOptions::default())
    }

    pub(crate) fn with_options<'m>(&'m mut self, options: RegistryOptions<'m>) -> Registry<'m, H> {
        Registry::<H, NoHook>::new(&mut self.slots, &mut self.index, &mut self.pool, options)
    }

    pub(crate) fn with_hooks<K: Hook>(&mut self) -> Registry<'_, H, K> {
        Registry::new(&mut self.slots, &mut self.index, &mut self.pool, RegistryOptions::default())
    }
}

/// A tool that takes any object.
pub(crate) fn open(name: &str) -> ToolDefinition<'_> {
    with_schema(name, r#"{"type":"object"}"#)
}

pub(crate) fn with_schema<'a>(name: &'a str, schema: &'a str) -> ToolDefinition<'a> {
    ToolDefinition { name, parameters: Parameters::Schema(schema), ..ToolDefinition::default() }
}

/// The members that tell the model of the tools, and each note as `tool: message`.
pub(crate) fn rendered<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    options: &ToolsOptions<'_>,
) -> Result<(String, Vec<String>), RenderError> {
    let mut buffer = vec![0; 256 * 1024];
    let mut sink = Sink::new(&mut buffer);
    let mut notes = Vec::new();
    render_tools(registry, dialect, options, &mut sink, &mut |note| {
        let mut message = [0; 512];
        let mut sink = Sink::new(&mut message);
        note.write_message(&mut sink);
        notes.push(format!("{}: {}", note.tool, sink.finish().unwrap()));
    })?;
    Ok((sink.finish().unwrap().into(), notes))
}

/// Like [`rendered`], read back.
pub(crate) fn rendered_json<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    options: &ToolsOptions<'_>,
) -> Json {
    read(&rendered(registry, dialect, options).unwrap().0)
}

/// What became of a reply.
#[derive(Debug)]
pub(crate) struct Answered {
    /// What was written, as it is.
    pub(crate) text: String,
    pub(crate) outcome: Outcome,
    /// Id, name and kind of each call.
    pub(crate) calls: Vec<(Option<String>, String, OutcomeKind)>,
}

impl Answered {
    pub(crate) fn messages(&self) -> Json {
        read(&self.text)
    }

    pub(crate) fn kinds(&self) -> Vec<OutcomeKind> {
        self.calls.iter().map(|(_, _, kind)| *kind).collect()
    }
}

/// Answers a reply with ample memory.
pub(crate) fn try_answer<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    reply: &str,
    options: &AnswerOptions<'_>,
) -> Result<Answered, AnswerError> {
    let (mut words, mut bytes, mut out) = (vec![0; 4096], vec![0; 256 * 1024], vec![0; 256 * 1024]);
    let mut sink = Sink::new(&mut out);
    let mut calls = Vec::new();
    let scratch = Scratch::new(&mut words, &mut bytes);
    let mut observe = |call: &ToolCall<'_>, result: &ToolResult<'_>| {
        calls.push((call.id.map(String::from), String::from(call.name), result.kind()));
    };
    let outcome = answer(registry, dialect, reply.as_bytes(), options, scratch, &mut sink, &mut observe)?;
    Ok(Answered { text: sink.finish().unwrap().into(), outcome, calls })
}

/// Answers a reply that comes as a stream, with ample memory.
pub(crate) fn answered_stream<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    text: &str,
) -> Answered {
    let (mut words, mut bytes, mut out) = (vec![0; 4096], vec![0; 256 * 1024], vec![0; 256 * 1024]);
    let memory = Scratch::new(&mut words, &mut bytes);
    let mut stream = Stream::new(dialect, StreamOptions::default(), memory).unwrap();
    stream.feed(text.as_bytes(), &mut |_| {}).unwrap();
    let (reply, scratch) = stream.finish().unwrap();
    let mut sink = Sink::new(&mut out);
    let mut calls = Vec::new();
    let mut observe = |call: &ToolCall<'_>, result: &ToolResult<'_>| {
        calls.push((call.id.map(String::from), String::from(call.name), result.kind()));
    };
    let options = AnswerOptions::default();
    let outcome = answer_reply(registry, &reply, &options, scratch, &mut sink, &mut observe).unwrap();
    Answered { text: sink.finish().unwrap().into(), outcome, calls }
}

pub(crate) fn answered<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    reply: &str,
) -> Answered {
    try_answer(registry, dialect, reply, &AnswerOptions::default()).unwrap()
}

/// Dispatches one call with ample memory and gives what became of it and its parts, JSON after `json `.
pub(crate) fn try_dispatch<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    call: &ToolCall<'_>,
    options: &DispatchOptions<'_>,
) -> Result<(OutcomeKind, String), DispatchError> {
    let (mut words, mut bytes) = (vec![0; 1024], vec![0; 64 * 1024]);
    let result = dispatch(registry, call, options, Scratch::new(&mut words, &mut bytes))?;
    Ok((result.kind(), written(&result)))
}

/// Dispatches a call of `name` with these arguments.
pub(crate) fn dispatched<H: Handler, K: Hook>(
    registry: &Registry<'_, H, K>,
    name: &str,
    arguments: &str,
) -> (OutcomeKind, String) {
    let call = ToolCall { name, arguments, ..ToolCall::default() };
    try_dispatch(registry, &call, &DispatchOptions::default()).unwrap()
}

/// A result's parts, one a line.
pub(crate) fn written(result: &ToolResult<'_>) -> String {
    let lines: Vec<String> = result
        .parts()
        .map(|part| match part {
            Part::Text { text, total } if text.len() == total => text.into(),
            Part::Text { text, total } => format!("{text}<cut of {total}>"),
            Part::Json(text) => format!("json {text}"),
            other => format!("{other:?}"),
        })
        .collect();
    lines.join("\n")
}

pub(crate) fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"))
}

/// A file or folder of `../shared`, or a printed line that the test is skipped.
pub(crate) fn shared(path: &str, test: &str) -> Option<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    if root.is_dir() {
        return Some(root.join(path));
    }
    let line = format!("skipped: {test}: ../shared is absent\n");
    std::io::stderr().write_all(line.as_bytes()).ok();
    None
}

/// The rows of a file with one JSON value a line.
pub(crate) fn rows(path: &PathBuf) -> Vec<Json> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(read).collect()
}

/// Which random streams are tried: numbers for each dialect, and the seed.
///
/// | environment variable | meaning |
/// |---|---|
/// | `TOOLCORE_STREAM_CHUNKINGS` | how many for each dialect |
/// | `TOOLCORE_STREAM_SEED` | where the random numbers start |
/// | `TOOLCORE_STREAM_ONLY` | try this one of each dialect only |
pub(crate) fn random_streams(count: u64) -> (std::ops::Range<u64>, u64) {
    let variable = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    let numbers = match variable("TOOLCORE_STREAM_ONLY") {
        Some(only) => only..only + 1,
        None => 0..variable("TOOLCORE_STREAM_CHUNKINGS").unwrap_or(count),
    };
    (numbers, variable("TOOLCORE_STREAM_SEED").unwrap_or(0x746F_6F6C))
}

/// A random stream that is being tried; if that panics, it says how to do so again.
pub(crate) struct Tried {
    pub(crate) dialect: Dialect,
    pub(crate) seed: u64,
    pub(crate) number: u64,
}

impl Tried {
    /// What its random numbers start from.
    pub(crate) fn start(&self) -> u64 {
        (self.seed ^ (self.number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).max(1)
    }
}

impl Drop for Tried {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Tried { dialect, seed, number } = self;
            let name = dialect.name();
            eprintln!("{name}: repeat with TOOLCORE_STREAM_SEED={seed} TOOLCORE_STREAM_ONLY={number}");
        }
    }
}
