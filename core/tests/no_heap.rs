//! No heap in the call path: an allocator that counts sees nothing from registration to the messages.
#![cfg(all(feature = "dialects", feature = "stream"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test fails by panicking

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use toolcore::answer::{AnswerOptions, answer};
use toolcore::call::{Call, Ticket, ToolCall};
use toolcore::context::{self, BytesPerFour, ContextBlock};
use toolcore::dialect::{
    CallResult, Choice, Dialect, ResultsOptions, ToolsOptions, parse_reply, render_results, render_tools,
};
use toolcore::dispatch::{AsyncOptions, DispatchOptions, dispatch, dispatch_async};
use toolcore::inflight::{InFlight, Slot};
use toolcore::json::Options;
use toolcore::registry::{RegistryMemory, RegistryOptions};
use toolcore::result::{OutcomeKind, ToolResult};
use toolcore::schema::ToolParameter;
use toolcore::scratch::Scratch;
use toolcore::sink::Sink;
use toolcore::time::{Clock, Duration, GRACE, Instant, ManualClock, Timer};
use toolcore::tool::{AsyncHandler, Failure, Handler, Parameters, ToolDefinition};
use toolcore::turn::{Entry, Event, Runtime, Turn, Which, serve};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more, and is not the one under test.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Run = fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure>;

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string","minLength":1},
    "mode":{"enum":["r","w"]},"lines":{"type":"array","items":{"type":"integer","minimum":0}}},
    "required":["path"],"additionalProperties":false}"#;

const OPENAI: &str = r#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"Let me see.",
    "tool_calls":[
    {"id":"1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo \\ud83d\\ude00\"}"}},
    {"id":"2","type":"function","function":{"name":"files_read_e2","arguments":"{\"path\":1,\"mode\":\"x\",\"z\":0}"}},
    {"id":"3","type":"function","function":{"name":"files.read","arguments":"{\"path\":\"/a\",\"lines\":[1,2.0]}"}},
    {"id":"4","type":"function","function":{"name":"files.read","arguments":"{\"path\":"}},
    {"id":"5","type":"function","function":{"name":"slow","arguments":""}},
    {"id":"6","type":"function","function":{"name":"picture","arguments":{}}},
    {"type":"function","function":{"name":"get_weather","arguments":"{}"}},
    {"id":"8","type":"function","function":{"name":"get_weather","arguments":"{}"}}]}}]}"#;

const ANTHROPIC: &str = r#"{"role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"Let me see."},
    {"type":"tool_use","id":"1","name":"get_weather","input":{"city":"Oslo"}},
    {"type":"tool_use","id":"2","name":"picture","input":{}},
    {"type":"tool_use","id":"3","name":"nope","input":{}}]}"#;

#[test]
fn nothing_is_allocated_from_registration_to_the_messages() {
    assert_eq!(allocations(|| drop(Box::new(1))), 1, "the counter counts");
    assert_eq!(allocations(everything), 0);
}

#[test]
fn nothing_is_allocated_by_futures_that_end_are_cancelled_or_are_dropped() {
    assert_eq!(allocations(waiting), 0);
}

fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

fn everything() {
    let mut memory = RegistryMemory::<Run, 8, 8192>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let city = [ToolParameter::string("city").describe("City name.")];
    let weather = ToolDefinition {
        name: "get_weather",
        description: "Current weather.",
        parameters: Parameters::Declared(&city),
        ..ToolDefinition::default()
    };
    let read = ToolDefinition { name: "files.read", parameters: Parameters::Schema(SCHEMA), ..weather };
    let none = Parameters::Declared(&[]);
    let slow =
        ToolDefinition { name: "slow", parameters: none, timeout: Some(Duration::from_millis(1)), ..weather };
    let picture = ToolDefinition { name: "picture", parameters: none, ..weather };
    tools.add(&weather, |call, result| Ok(result.text(call.args.str("city")?)?)).unwrap();
    tools.add(&read, |call, result| Ok(result.json(call.args.json("path")?)?)).unwrap();
    tools.add(&slow, |_, _| Err(Failure::Message("too slow"))).unwrap();
    let two = |_: &Call<'_>, result: &mut ToolResult<'_>| {
        result.image("image/png", &[1, 2, 3])?;
        Ok(result.link("manual", "https://example.com")?)
    };
    tools.add(&picture, two).unwrap();
    tools.add(&picture, two).unwrap_err();
    assert!(tools.remove("picture"));
    tools.add(&picture, two).unwrap();

    let mut out = [0; 8192];
    for dialect in Dialect::ALL {
        let mut sink = Sink::new(&mut out);
        let options = ToolsOptions { choice: Some(Choice::Tool("files.read")), ..ToolsOptions::default() };
        render_tools(&tools, dialect, &options, &mut sink, &mut |_| {}).unwrap();
        assert!(sink.finish().unwrap().len() > 300);
    }

    let clock = ManualClock::new(Instant::default());
    let options = AnswerOptions {
        clock: Some(&clock),
        max_calls: Some(7),
        result_limit: Some(100),
        lenient: true,
        ..AnswerOptions::default()
    };
    let (mut words, mut bytes) = ([0; 256], [0; 4096]);
    for (dialect, reply, answered) in [
        (Dialect::OpenAiChat, OPENAI, 3),
        (Dialect::Anthropic, ANTHROPIC, 2),
        (Dialect::Mcp, r#"{"name":"picture"}"#, 1),
    ] {
        let mut sink = Sink::new(&mut out);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let outcome =
            answer(&tools, dialect, reply.as_bytes(), &options, scratch, &mut sink, &mut |_, _| {}).unwrap();
        assert_eq!(outcome.answered, answered);
        assert!(sink.finish().unwrap().len() > 100);
    }

    // The same in steps.
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, mut scratch) =
        parse_reply(Dialect::Anthropic, ANTHROPIC.as_bytes(), &Options::default(), scratch).unwrap();
    for call in reply.calls() {
        let options =
            DispatchOptions { names: Some(Dialect::Anthropic.name_rule()), ..DispatchOptions::default() };
        let result = dispatch(&tools, &call, &options, scratch.reborrow()).unwrap();
        let mut sink = Sink::new(&mut out);
        let calls = [call];
        let results = [CallResult { id: call.id, result: Some(&result) }];
        render_results(Dialect::Anthropic, &calls[..], &results, &ResultsOptions::default(), &mut sink)
            .unwrap();
    }

    a_turn_of_calls_that_wait();

    let blocks = [ContextBlock::new("You control a greenhouse."), ContextBlock::new("It is raining. ")];
    let mut states = [context::BlockState::default(); 2];
    let options = context::RenderOptions::new(8);
    context::render(&blocks, &options, &BytesPerFour, &mut states, &mut out).unwrap();
}

/// Tools that wait.
enum Waits<'c> {
    For(&'c ManualClock, u64),
    ForTheCancel,
    Forever,
}

impl AsyncHandler for Waits<'_> {
    async fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
        match self {
            Waits::For(clock, millis) => clock.until(Instant::from_millis(*millis)).await,
            Waits::ForTheCancel => call.cancellation().await,
            Waits::Forever => std::future::pending().await,
        }
        Ok(result.text(call.args.str("city")?)?)
    }
}

fn waiting() {
    let clock = ManualClock::new(Instant::default());
    let mut memory = RegistryMemory::<Waits<'_>, 4, 1024>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let city = [ToolParameter::string("city").describe("City name.")];
    let timed = ToolDefinition {
        parameters: Parameters::Declared(&city),
        timeout: Some(Duration::from_millis(10)),
        ..ToolDefinition::default()
    };
    tools.add(&ToolDefinition { name: "soon", ..timed }, Waits::For(&clock, 5)).unwrap();
    tools.add(&ToolDefinition { name: "polite", ..timed }, Waits::ForTheCancel).unwrap();
    tools.add(&ToolDefinition { name: "deaf", ..timed }, Waits::Forever).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let (mut words, mut bytes) = ([0; 64], [0; 1024]);
    for (name, expected) in
        [("soon", OutcomeKind::Answered), ("polite", OutcomeKind::TimedOut), ("deaf", OutcomeKind::TimedOut)]
    {
        let call = ToolCall { name, arguments: r#"{"city":"Os\u006co"}"#, ..ToolCall::default() };
        let options = AsyncOptions { grace: Duration::from_millis(20), ..AsyncOptions::default() };
        let scratch = Scratch::new(&mut words, &mut bytes);
        let mut task = pin!(dispatch_async(&tools, &call, &options, &clock, scratch));
        let kind = loop {
            match task.as_mut().poll(&mut context) {
                Poll::Ready(result) => break result.unwrap().kind(),
                Poll::Pending => clock.advance(Duration::from_millis(1)),
            }
        };
        assert_eq!(kind, expected);
    }
    assert_eq!(clock.now(), Instant::from_millis(5 + 10 + 30));
    let call = ToolCall { name: "deaf", arguments: r#"{"city":"Oslo"}"#, ..ToolCall::default() };
    let options = AsyncOptions::default();
    let scratch = Scratch::new(&mut words, &mut bytes);
    let mut task = pin!(dispatch_async(&tools, &call, &options, &clock, scratch));
    assert!(task.as_mut().poll(&mut context).is_pending());
}

/// Keeps the ticket of its call.
struct Keeps<'t>(&'t Cell<Option<Ticket>>);

impl Handler for Keeps<'_> {
    fn run(&self, call: &Call<'_>, _: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        self.0.set(call.ticket());
        Poll::Pending
    }
}

/// One is completed, one times out and one is cancelled.
fn a_turn_of_calls_that_wait() {
    let tickets = [const { Cell::new(None) }; 3];
    let mut memory = RegistryMemory::<Keeps<'_>, 3, 2048>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let tool =
        ToolDefinition { parameters: Parameters::Schema(r#"{"type":"object"}"#), ..Default::default() };
    let timeout = Some(Duration::from_millis(10));
    tools.add(&ToolDefinition { name: "get_weather", ..tool }, Keeps(&tickets[0])).unwrap();
    tools.add(&ToolDefinition { name: "picture", timeout, ..tool }, Keeps(&tickets[1])).unwrap();
    tools.add(&ToolDefinition { name: "nope", ..tool }, Keeps(&tickets[2])).unwrap();
    let mut slots = core::array::from_fn::<_, 4, _>(|_| Slot::default());
    let mut inflight = InFlight::new(&mut slots, GRACE);
    let clock = ManualClock::new(Instant::default());
    let options = AnswerOptions { clock: Some(&clock), ..AnswerOptions::default() };
    let (mut words, mut bytes, mut out) = ([0; 256], [0; 4096], [0; 2048]);
    let scratch = Scratch::new(&mut words, &mut bytes);
    let (reply, scratch) =
        parse_reply(Dialect::Anthropic, ANTHROPIC.as_bytes(), &Options::default(), scratch).unwrap();
    let mut entries = [Entry::default(); 4];
    let mut turn = Turn::new(reply, &mut inflight, &mut entries, scratch).unwrap();
    let mut events = 0;
    let mut watch = |_: &Event<'_>| events += 1;
    let mut with =
        Runtime { registry: &tools, inflight: &mut inflight, options: &options, watch: &mut watch };
    let at = Instant::from_millis;
    turn.poll(&mut with, at(0)).unwrap();
    let ticket = tickets[0].get().unwrap();
    turn.progress(&mut with, ticket, at(1), (1, 2), "half").unwrap();
    turn.complete_with(&mut with, ticket, at(2), |result| result.text("21 C").unwrap()).unwrap();
    turn.complete_with(&mut with, ticket, at(2), |_| {}).unwrap_err();
    turn.poll(&mut with, at(11)).unwrap();
    turn.cancel(&mut with, Which::One(2), at(12));
    let mut sink = Sink::new(&mut out);
    assert_eq!(turn.finish(&mut with, at(13), &mut sink).unwrap().answered, 1);
    assert!(sink.len() > 200);
    serve(&mut with, at(5000));
    assert!(with.inflight.is_empty());
    assert_eq!(events, 3 + 1 + 3 + 2);
}
