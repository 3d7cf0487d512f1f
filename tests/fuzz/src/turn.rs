//! Registration, replies, dispatch and whole turns.

use std::cell::Cell;
use std::task::Poll;

use toolcore::answer::{AnswerError, answer as answer_reply};
use toolcore::dialect::{
    CallResult, RenderErrorKind, ReplyError, ResultsOptions, parse_reply, render_results,
};
use toolcore::dispatch::{DispatchError, DispatchOptions, dispatch as dispatch_call};
use toolcore::json::{self, Kind};
use toolcore::prelude::*;
use toolcore::registry::AddError;

use super::{split, text};

/// A name, a schema and a description: the tool is added or refused with a reason and nothing changes; what is added
/// renders in every dialect.
pub fn register(input: &[u8]) {
    let (name, rest) = split(input);
    let (schema, description) = split(rest);
    let (name, schema, description) = (text(name), text(schema), text(description));
    let mut memory =
        RegistryMemory::<fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure>, 2, 4096>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let first = ToolDefinition { name: "first", ..ToolDefinition::default() };
    tools.add(&first, |_, _| Ok(())).unwrap();
    let before = tools.pool_used();
    let tool = ToolDefinition {
        name,
        description,
        parameters: Parameters::Schema(schema),
        strict: description.len() % 2 == 1,
        ..ToolDefinition::default()
    };
    let mut reason = [0; 512];
    let mut why = Sink::new(&mut reason);
    let added = tools.add_explained(&tool, |_, _| Ok(()), &mut why);
    match added {
        Ok(_) => {
            let info = tools.get(name).unwrap().info;
            assert_eq!((info.parameters().text(), info.description()), (schema, description));
            renders(&tools);
            assert!(tools.remove(name));
        }
        Err(error) => {
            assert!(!why.is_empty());
            assert!(!matches!(error, AddError::NoSpace { need, room } if need <= room));
            assert!(!tools.contains(name) || name == "first");
        }
    }
    assert_eq!((tools.len(), tools.pool_used()), (1, before));
}

/// The tools are JSON, or text, in every dialect; measuring names the room that suffices.
fn renders<H>(tools: &Registry<'_, H>) {
    for dialect in Dialect::ALL {
        let options = ToolsOptions::default();
        let measured = render_tools(tools, dialect, &options, &mut Sink::measure(), &mut |_| {});
        let need = match measured.unwrap_err().kind {
            RenderErrorKind::NoSpace(short) => short.need,
            _ => continue,
        };
        let mut buffer = vec![0; need];
        let mut sink = Sink::new(&mut buffer);
        render_tools(tools, dialect, &options, &mut sink, &mut |_| {}).unwrap();
        is_message(dialect, sink.finish().unwrap());
    }
}

/// A reply in every dialect: read or refused; its calls can be answered, and are those of its turn read again.
pub fn reply(input: &[u8]) {
    for dialect in Dialect::ALL {
        let options = json::Options::default();
        let (mut words, mut bytes) = (Vec::new(), Vec::new());
        let first = parse_reply(dialect, input, &options, Scratch::new(&mut words, &mut bytes)).map(|_| ());
        if let Err(ReplyError::NoSpace { words: need_words, bytes: need_bytes }) = first {
            (words, bytes) = (vec![0; need_words], vec![0; need_bytes]);
        }
        let (reply, rest) = match parse_reply(dialect, input, &options, Scratch::new(&mut words, &mut bytes))
        {
            Ok(read) => read,
            Err(ReplyError::Json(error)) if dialect.is_text() => {
                let valid = std::str::from_utf8(input).unwrap_err().valid_up_to();
                assert_eq!((error.reason, error.offset), (json::Reason::InvalidUtf8, valid));
                continue;
            }
            Err(ReplyError::Json(error)) => {
                assert_eq!(json::validate(input, &options), Err(error));
                continue;
            }
            Err(ReplyError::NoSpace { .. }) => panic!("the room that was asked for is not enough"),
            Err(_) => continue,
        };
        // Where there is no memory to compare ids, two of one hash count as one that repeats.
        assert_eq!((rest.words.len(), rest.bytes.len() % 9), (0, 0), "more room was asked for than is used");
        assert!(rest.bytes.len() <= 9 * reply.len(), "more room was asked for than is used");
        let calls: Vec<_> = reply.calls().collect();
        assert_eq!((calls.len(), calls.is_empty()), (reply.len(), reply.is_empty()));
        super::written(|sink| reply.write_text(sink));
        super::replay::again(dialect, &reply);
        results(dialect, &calls);
    }
}

/// A result for every call but the first, which is told as cancelled: JSON, unless the calls' ids are ambiguous.
fn results(dialect: Dialect, calls: &[ToolCall<'_>]) {
    let mut memory = [0; 64];
    let mut result = ToolResult::new(&mut memory);
    result.text("a result that is a little \"too\" long for the sixty-four bytes of its memory").unwrap();
    let entries: Vec<_> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| CallResult { id: call.id, result: (index > 0).then_some(&result) })
        .collect();
    let options = ResultsOptions { limit: Some(20), ..ResultsOptions::default() };
    let mut buffer =
        vec![0; 256 + calls.iter().map(|call| 512 + 6 * call.id.map_or(0, str::len)).sum::<usize>()];
    let mut sink = Sink::new(&mut buffer);
    if render_results(dialect, calls, &entries, &options, &mut sink).is_ok() && !calls.is_empty() {
        is_message(dialect, sink.finish().unwrap());
    }
}

/// A tool's name and its arguments: a result, whatever they are, and one that every dialect can send.
pub fn dispatch(input: &[u8]) {
    let (name, arguments) = split(input);
    let call = ToolCall { name: text(name), arguments: text(arguments), ..ToolCall::default() };
    with_tools(|tools, clock, ran| {
        for lenient in [false, true] {
            let options = DispatchOptions {
                clock: Some(clock),
                lenient,
                names: Some(Dialect::OpenAiChat.name_rule()),
                ..DispatchOptions::default()
            };
            let (mut words, mut bytes) = (Vec::new(), vec![0; 4096 + 8 * arguments.len()]);
            ran.set(0);
            let mut first = dispatch_call(tools, &call, &options, Scratch::new(&mut words, &mut bytes)).err();
            while let Some(DispatchError::NoSpace { words: need, .. }) = first {
                assert_eq!(ran.get(), 0);
                assert!(need > words.len(), "the room that was asked for is not enough");
                words = vec![0; need];
                first = dispatch_call(tools, &call, &options, Scratch::new(&mut words, &mut bytes)).err();
            }
            assert_eq!(first, None);
            ran.set(0);
            let result = dispatch_call(tools, &call, &options, Scratch::new(&mut words, &mut bytes)).unwrap();
            assert!(ran.get() == 1 || result.failed());
            assert!(!(result.failed() && result.is_empty()), "a failure says why");
        }
    });
}

/// A reply to a registry with three tools, in every dialect: the same bytes each time, no tool run without room for its
/// result, and always JSON.
pub fn answer(input: &[u8]) {
    with_tools(|tools, clock, ran| {
        let options = AnswerOptions {
            clock: Some(clock),
            max_calls: Some(8),
            result_limit: Some(300),
            lenient: input.len() % 2 == 1,
            ..AnswerOptions::default()
        };
        for dialect in Dialect::ALL {
            ran.set(0);
            let mut observed = 0;
            let mut run = |room: usize| {
                let (mut words, mut bytes) = (vec![0; 4096], vec![0; 4096 + 2 * input.len()]);
                let mut out = vec![0; room];
                let mut sink = Sink::new(&mut out);
                let scratch = Scratch::new(&mut words, &mut bytes);
                observed = 0;
                let mut observe = |_: &ToolCall<'_>, _: &ToolResult<'_>| observed += 1;
                let outcome = answer_reply(tools, dialect, input, &options, scratch, &mut sink, &mut observe);
                (outcome, sink.finish().map(str::to_owned), observed)
            };
            let (outcome, _, _) = run(0);
            assert_eq!(ran.get(), 0, "a tool ran without room for its result");
            let need = match outcome {
                Err(AnswerError::NoSpace(short)) => short.need,
                Ok(outcome) => {
                    assert_eq!(outcome.calls, 0);
                    continue;
                }
                Err(_) => continue,
            };
            for room in [need, need + 7, need + 100_000] {
                let (outcome, out, observed) = run(room);
                let Ok(outcome) = outcome else { continue };
                assert_eq!((outcome.answered + outcome.failed, observed), (outcome.calls, outcome.calls));
                let out = out.unwrap();
                is_message(dialect, &out);
                assert_eq!(run(room).1.as_deref(), Ok(out.as_str()), "the same reply, other bytes");
            }
        }
    });
}

/// A tool that counts its runs and may be slower than its timeout.
pub(crate) struct Counted<'t> {
    clock: &'t ManualClock,
    ran: &'t Cell<usize>,
    slow: bool,
}

impl Handler for Counted<'_> {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        self.ran.set(self.ran.get() + 1);
        if self.slow {
            self.clock.advance(Duration::from_millis(11));
        }
        Poll::Ready(read_everything(call, result))
    }
}

/// Hands over a registry with three tools: one takes nested arguments, one has a name that needs an alias and coerces,
/// one is slower than its timeout.
pub(crate) fn with_tools(test: impl FnOnce(&Registry<'_, Counted<'_>>, &ManualClock, &Cell<usize>)) {
    let (clock, ran) = (ManualClock::new(Instant::from_millis(5)), Cell::new(0));
    let mut memory = RegistryMemory::<_, 3, 4096>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    for (name, schema, coerce, timeout) in [
        ("get_weather", WEATHER, false, None),
        ("calc.add", ADD, true, None),
        ("slow", "{\"type\":\"object\"}", false, Some(Duration::from_millis(10))),
    ] {
        let parameters = Parameters::Schema(schema);
        let tool = ToolDefinition { name, parameters, coerce, timeout, ..ToolDefinition::default() };
        tools.add(&tool, Counted { clock: &clock, ran: &ran, slow: timeout.is_some() }).unwrap();
    }
    test(&tools, &clock, &ran);
}

/// Asks for each argument as everything it might be, and answers with several kinds of parts.
fn read_everything(call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
    assert_eq!(call.args.value().kind(), Kind::Object);
    is_json(call.args.value().raw());
    let mut last = Ok(());
    for path in ["city", "a", "/days/0", "nested", "/nested/unit", "no such"] {
        let args = &call.args;
        let failed = [
            args.str(path).map(|_| ()),
            args.i64(path).map(|_| ()),
            args.u64(path).map(|_| ()),
            args.f64(path).map(|_| ()),
            args.bool(path).map(|_| ()),
            args.json(path).map(|_| ()),
        ];
        assert!(failed.iter().filter(|one| one.is_ok()).count() <= 4, "a value of several types");
        last = failed[0];
    }
    if let Ok(typed) = call.args.parse::<Typed<'_>>() {
        assert!(typed.b.is_none_or(|b| call.args.i64("b") == Ok(b.into())));
        assert!(typed.city.is_none_or(|city| call.args.str("city").is_ok_and(|same| same == city)));
        result.value(&typed).ok();
    }
    let city = call.args.raw_str("city");
    result.write_text(|out| {
        out.put("It is ");
        if let Ok(city) = city {
            city.decode(out);
        }
    })?;
    let large = result.json(call.args.value().raw()).is_err();
    result.image("image/png", b"\x89PNG").ok();
    if large { Ok(last?) } else { Ok(()) }
}

/// What the tools take.
#[derive(serde::Serialize, serde::Deserialize)]
struct Typed<'a> {
    #[serde(borrow)]
    city: Option<&'a str>,
    a: Option<f64>,
    b: Option<i32>,
    yes: Option<bool>,
    #[serde(borrow)]
    nested: Option<Nested<'a>>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Nested<'a> {
    unit: Option<&'a str>,
}

/// Panics unless `text` is what the dialect writes: JSON, or any text.
fn is_message(dialect: Dialect, text: &str) {
    if !dialect.is_text() {
        is_json(text);
    }
}

/// Panics unless `text` is JSON.
fn is_json(text: &str) {
    assert_eq!(json::validate(text.as_bytes(), &json::Options::default()), Ok(()), "{text}");
}

const WEATHER: &str = r#"{"type":"object","properties":{
    "city":{"type":"string","minLength":1},
    "days":{"type":"array","items":{"type":["integer","null"]},"maxItems":7},
    "nested":{"type":"object","properties":{"unit":{"enum":["c","f"]}},"additionalProperties":false}},
    "required":["city"]}"#;
const ADD: &str = r#"{"type":"object","properties":{
    "a":{"type":"number","minimum":-1e3,"exclusiveMaximum":1000},"b":{"type":"integer","default":2},
    "city":{"type":["string","null"]},"yes":{"type":"boolean"}},"required":["a"],"additionalProperties":false}"#;
