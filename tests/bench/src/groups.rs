//! What is measured: groups of cases that do the same work.

use std::hint::black_box;

use toolcore::context::{self, BlockFlags, BlockState, BytesPerFour, ContextBlock, RenderOptions};
use toolcore::dialect::{RenderedTools, parse_reply, render_tools};
use toolcore::json::{self, Reader};
use toolcore::prelude::*;
use toolcore::registry::Slot;
use toolcore::schema::{CheckOptions, CompileOptions, ListReport, NoReport, Schema, compile};
use toolcore::stream::{Stream, StreamEvent, StreamOptions};

use crate::data::{self, Checked};
#[cfg(feature = "peers")]
use crate::peers;
use crate::{traffic, turns, waiting};

/// One run of an operation.
pub(crate) type Run = Box<dyn FnMut()>;

/// Cases that do the same work.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    /// Figures are shown for each of so many of these.
    pub(crate) per: Option<(&'static str, usize)>,
    pub(crate) cases: Vec<Case>,
}

impl Group {
    /// Figures are shown for each of so many bytes.
    pub(crate) fn new(title: &'static str, bytes: Option<usize>) -> Self {
        Group { title, per: bytes.map(|bytes| ("byte", bytes)), cases: Vec::new() }
    }

    pub(crate) fn per_call(title: &'static str, calls: usize) -> Self {
        Group { title, per: Some(("call", calls)), cases: Vec::new() }
    }

    pub(crate) fn case(mut self, title: &'static str, prepare: impl Fn() -> Run + Sync + 'static) -> Self {
        self.cases.push(Case { title, prepare: Box::new(prepare) });
        self
    }

    /// What of `figure` is shown.
    pub(crate) fn share(&self, figure: f64) -> f64 {
        figure / self.per.map_or(1, |(_, count)| count) as f64
    }
}

/// One way to do a group's work; `prepare` gives it ready to run.
pub(crate) struct Case {
    pub(crate) title: &'static str,
    pub(crate) prepare: Box<dyn Fn() -> Run + Sync>,
}

/// The titles of the library's own cases begin with this.
pub(crate) const OURS: &str = "toolcore";
pub(crate) const BYTES: &str = "toolcore, from bytes";
pub(crate) const TEXT: &str = "toolcore, from text";
pub(crate) const REPORT: &str = "toolcore, from text, with a report";
pub(crate) const PEER: &str = "serde_json + jsonschema";
pub(crate) const PEER_REPORT: &str = "serde_json + jsonschema, with a report";
pub(crate) const VALIDATE: &str = "toolcore, validate";
pub(crate) const EVENTS: &str = "toolcore, every event";
pub(crate) const SCAN_LARGE: &str = "scan 64 kB of tools-list JSON";
pub(crate) const SCAN_SPACED: &str = "scan the same with a blank after each comma and colon";
pub(crate) const SCAN_SMALL: &str = "scan an object of 100 bytes";
pub(crate) const ANSWER_16: &str = "answer an OpenAI reply, 16 tools";
pub(crate) const ANSWER_4096: &str = "answer an OpenAI reply, 4,096 tools";

pub(crate) const READ_OPENAI: &str = "read a reply of OpenAI with three calls";
pub(crate) const READ_ANTHROPIC: &str = "read a reply of Anthropic with three calls";
pub(crate) const READ_RESPONSES: &str = "read a reply of OpenAI Responses with three calls";
pub(crate) const READ_GEMINI: &str = "read a reply of Gemini with three calls";
pub(crate) const STREAM_OPENAI: &str = "stream a reply of OpenAI in chunks of 64 bytes";
pub(crate) const STREAM_ANTHROPIC: &str = "stream a reply of Anthropic in chunks of 64 bytes";
pub(crate) const STREAM_RESPONSES: &str = "stream a reply of OpenAI Responses in chunks of 64 bytes";
pub(crate) const STREAM_GEMINI: &str = "stream a reply of Gemini in chunks of 64 bytes";
pub(crate) const RENDER_AGAIN: &str = "render the same 16 tools for OpenAI again";

/// Every group whose title is wanted.
pub(crate) fn wanted(wanted: impl Fn(&str) -> bool) -> Vec<Group> {
    let mut groups = of_made_up();
    groups.retain(|group| wanted(group.title));
    for (dialect, read, stream) in traffic::RECORDED {
        if !traffic::is_there() || !(wanted(read) || stream.is_some_and(&wanted)) {
            continue;
        }
        let [whole, streams] = traffic::replies(dialect);
        groups.push(self::read(read, dialect, whole, None));
        groups.extend(stream.map(|title| streamed(title, dialect, streams, None)));
        groups.retain(|group| wanted(group.title));
    }
    groups
}

/// All but those of recorded replies.
fn of_made_up() -> Vec<Group> {
    let (tools_list, _) = data::tools_list();
    let mut groups = vec![
        scan(SCAN_LARGE, tools_list.clone()),
        scan(SCAN_SPACED, data::restyle(&tools_list, " ")),
        scan(SCAN_SMALL, data::OBJECT.to_owned()),
    ];
    groups.extend(data::CHECKED.iter().map(|checked| check(*checked)));
    groups.extend([
        answers(ANSWER_16, Dialect::OpenAiChat, 16),
        answers(ANSWER_4096, Dialect::OpenAiChat, 4096),
        answers("answer an Anthropic reply, 16 tools", Dialect::Anthropic, 16),
        render("render 16 tools for OpenAI", Dialect::OpenAiChat),
        render("render 16 tools for Anthropic", Dialect::Anthropic),
        render_again(Dialect::OpenAiChat),
        context_blocks(),
    ]);
    groups.extend(waiting::groups());
    for (dialect, (whole, stream), [read, streamed]) in [
        (Dialect::OpenAiChat, turns::openai_turn(), [READ_OPENAI, STREAM_OPENAI]),
        (Dialect::Anthropic, turns::anthropic_turn(), [READ_ANTHROPIC, STREAM_ANTHROPIC]),
        (Dialect::OpenAiResponses, turns::responses_turn(), [READ_RESPONSES, STREAM_RESPONSES]),
        (Dialect::Gemini, turns::gemini_turn(), [READ_GEMINI, STREAM_GEMINI]),
    ] {
        groups.push(self::read(read, dialect, vec![whole], Some(3)));
        groups.push(self::streamed(streamed, dialect, vec![stream], Some(3)));
    }
    groups
}

fn scan(title: &'static str, text: String) -> Group {
    let text: &'static str = text.leak();
    let group = Group::new(title, Some(text.len()))
        .case(VALIDATE, move || {
            Box::new(|| json::validate(black_box(text.as_bytes()), &json::Options::default()).unwrap())
        })
        .case(EVENTS, move || {
            Box::new(|| {
                let mut reader = Reader::new(black_box(text.as_bytes()), &json::Options::default());
                let mut events = 0;
                while matches!(reader.next_event(), Ok(Some(_))) {
                    events += 1;
                }
                assert!(matches!(reader.next_event(), Ok(None)), "{events} events, then an error");
            })
        });
    #[cfg(feature = "peers")]
    let group = group
        .case("serde_json, values ignored", move || Box::new(|| peers::ignore(black_box(text))))
        .case("serde_json, into a Value", move || {
            Box::new(|| drop(black_box(peers::parse(black_box(text)))))
        });
    group
}

/// Arguments as text in, the verdict out; and where they are not valid, what is wrong with them.
fn check(checked: Checked) -> Group {
    let Checked { title, schema, text, valid } = checked;
    let group = Group::new(title, None)
        .case(BYTES, move || {
            let ready = Ready::new(schema);
            let mut work = vec![0; 1024];
            Box::new(move || {
                let options = CheckOptions::default();
                let verdict =
                    ready.schema().check(black_box(text.as_bytes()), &options, &mut work, &mut NoReport);
                assert_eq!(verdict.unwrap().valid, valid);
            })
        })
        .case(TEXT, move || {
            let ready = Ready::new(schema);
            let mut work = vec![0; 1024];
            Box::new(move || {
                let options = CheckOptions::default();
                let verdict = ready.schema().check_str(black_box(text), &options, &mut work, &mut NoReport);
                assert_eq!(verdict.unwrap().valid, valid);
            })
        });
    let told = |group: Group| {
        group.case(REPORT, move || {
            let ready = Ready::new(schema);
            let (mut work, mut line) = (vec![0; 1024], [0; 1024]);
            Box::new(move || {
                let options = CheckOptions::default();
                let mut sink = Sink::new(&mut line);
                let mut report = ListReport::new(&mut sink);
                let verdict = ready.schema().check_str(black_box(text), &options, &mut work, &mut report);
                report.finish();
                assert!(!verdict.unwrap().valid);
                black_box(sink.finish().unwrap());
            })
        })
    };
    let group = if valid { group } else { told(group) };
    #[cfg(feature = "peers")]
    let group = group.case(PEER, move || {
        let validator = peers::validator(schema);
        Box::new(move || assert_eq!(validator.is_valid(&peers::parse(black_box(text))), valid))
    });
    #[cfg(feature = "peers")]
    let group = if valid {
        group
    } else {
        group.case(PEER_REPORT, move || {
            let validator = peers::validator(schema);
            Box::new(move || drop(black_box(peers::problems(&validator, black_box(text)))))
        })
    };
    group
}

/// A compiled schema.
struct Ready(&'static str, Vec<u8>);

impl Ready {
    fn new(schema: &'static str) -> Ready {
        let mut program = vec![0; 4096];
        let size = compile(schema, &CompileOptions::default(), &mut program).unwrap();
        program.truncate(size);
        Ready(schema, program)
    }

    fn schema(&self) -> Schema<'_> {
        Schema::new(self.0, &self.1)
    }
}

/// A reply with one call in, the messages to send back out.
fn answers(title: &'static str, dialect: Dialect, tools: usize) -> Group {
    let called = tools / 2;
    let reply: &'static str = match dialect {
        Dialect::Anthropic => data::anthropic_reply(called),
        _ => data::openai_reply(called),
    }
    .leak();
    let group = Group::new(title, None).case(OURS, move || {
        let registry = registry(tools);
        let (mut words, mut bytes, mut out) = ([0; 128], [0; 1024], [0; 1024]);
        Box::new(move || {
            let mut sink = Sink::new(&mut out);
            let scratch = Scratch::new(&mut words, &mut bytes);
            let options = AnswerOptions::default();
            let outcome = answer(
                &registry,
                dialect,
                black_box(reply.as_bytes()),
                &options,
                scratch,
                &mut sink,
                &mut |_, _| {},
            );
            assert_eq!(outcome.unwrap().answered, 1);
            black_box(sink.finish().unwrap());
        })
    });
    #[cfg(feature = "peers")]
    let group = group.case("serde_json + jsonschema, by hand", move || {
        let tools = peers::Tools::new(tools);
        Box::new(move || drop(black_box(tools.answer(dialect, black_box(reply)))))
    });
    group
}

/// Whole replies in, their calls out.
fn read(title: &'static str, dialect: Dialect, replies: Vec<String>, calls: Option<usize>) -> Group {
    let replies: &'static [String] = replies.leak();
    let group = Group::new(title, Some(replies.iter().map(String::len).sum()));
    let group = group.case(OURS, move || {
        let (mut words, mut bytes) = memory();
        Box::new(move || {
            for reply in replies {
                let scratch = Scratch::new(&mut words, &mut bytes);
                let reply = black_box(reply.as_bytes());
                let (reply, _) = parse_reply(dialect, reply, &json::Options::default(), scratch).unwrap();
                assert!(calls.is_none_or(|calls| reply.len() == calls));
                black_box(reply.calls().last());
            }
        })
    });
    group.case(VALIDATE, move || {
        Box::new(move || {
            for reply in replies {
                json::validate(black_box(reply.as_bytes()), &json::Options::default()).unwrap();
            }
        })
    })
}

/// Streams in, the replies out.
fn streamed(title: &'static str, dialect: Dialect, texts: Vec<String>, calls: Option<usize>) -> Group {
    let texts: &'static [String] = texts.leak();
    Group::new(title, Some(texts.iter().map(String::len).sum())).case(OURS, move || {
        let (mut words, mut bytes) = memory();
        Box::new(move || {
            for text in texts {
                let memory = Scratch::new(&mut words, &mut bytes);
                let mut stream = Stream::new(dialect, StreamOptions::default(), memory).unwrap();
                let mut watch = |event: StreamEvent<'_>| {
                    black_box(event);
                };
                for chunk in black_box(text.as_bytes()).chunks(64) {
                    stream.feed(chunk, &mut watch).unwrap();
                }
                let (reply, _) = stream.finish().unwrap();
                assert!(calls.is_none_or(|calls| reply.len() == calls));
                black_box(reply.calls().last());
            }
        })
    })
}

/// Enough words and bytes for every reply.
fn memory() -> (Vec<u32>, Vec<u8>) {
    (vec![0; 1024], vec![0; 128 * 1024])
}

fn render(title: &'static str, dialect: Dialect) -> Group {
    let group = Group::new(title, None).case(OURS, move || {
        let registry = registry(16);
        let mut out = vec![0; 16 * 1024];
        Box::new(move || {
            let mut sink = Sink::new(&mut out);
            render_tools(&registry, dialect, &ToolsOptions::default(), &mut sink, &mut |_| {}).unwrap();
            black_box(sink.finish().unwrap());
        })
    });
    #[cfg(feature = "peers")]
    let group = group.case("serde_json, from a Value", move || {
        let tools = peers::rendered(dialect, 16);
        Box::new(move || drop(black_box(serde_json::to_string(black_box(&tools)).unwrap())))
    });
    group
}

/// The second time and every later one, for each byte.
fn render_again(dialect: Dialect) -> Group {
    let registry = registry(16);
    let mut buffer = vec![0; 16 * 1024];
    let mut kept = RenderedTools::new(&mut buffer);
    let options = ToolsOptions::default();
    let len = kept.get(&registry, dialect, &options, &mut |_| {}).unwrap().len();
    drop(registry);
    Group::new(RENDER_AGAIN, Some(len)).case(OURS, move || {
        let registry = self::registry(16);
        let mut kept = RenderedTools::new(vec![0; 16 * 1024].leak());
        kept.get(&registry, dialect, &options, &mut |_| {}).unwrap();
        let mut out = vec![0; 16 * 1024];
        Box::new(move || {
            let mut sink = Sink::new(&mut out);
            sink.put(kept.get(&registry, dialect, &options, &mut |_| {}).unwrap());
            black_box(sink.len());
        })
    })
}

/// About a third of the blocks fit; some are cut.
fn context_blocks() -> Group {
    Group::new("render 32 blocks of context under a budget", None).case(OURS, || {
        let contents = data::context_blocks().leak();
        let blocks: Vec<_> = contents
            .iter()
            .enumerate()
            .map(|(index, content)| ContextBlock {
                priority: index as i32 * 5 % 16,
                flags: if index % 3 == 0 { BlockFlags::CUT_TAIL } else { BlockFlags::NONE },
                ..ContextBlock::new(content)
            })
            .collect();
        let options = RenderOptions::new(1_000);
        let mut states = vec![BlockState::default(); blocks.len()];
        let mut buffer = vec![0; context::max_len(&blocks, &options)];
        Box::new(move || {
            let report =
                context::render(black_box(&blocks), &options, &BytesPerFour, &mut states, &mut buffer);
            black_box(report.unwrap().text);
        })
    })
}

pub(crate) type Tool = fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure>;

/// A registry of that many tools that lives as long as the program.
pub(crate) fn registry(tools: usize) -> Registry<'static, Tool> {
    let slots: &'static mut [Option<Slot<Tool>>] = Vec::leak((0..tools).map(|_| None).collect());
    let index = vec![0; 2 * tools].leak();
    let pool = vec![0; 2048 * tools].leak();
    let mut registry = Registry::new(slots, index, pool, RegistryOptions::default());
    for index in 0..tools {
        let tool = ToolDefinition {
            name: &data::tool_name(index),
            description: &data::tool_description(index),
            parameters: Parameters::Schema(data::SCHEMA),
            ..ToolDefinition::default()
        };
        let handler: Tool = |call, result| {
            let city = call.args.str("city")?;
            Ok(result.write_text(|out| {
                out.put(city);
                out.put(": 21 C");
            })?)
        };
        registry.add(&tool, handler).unwrap();
    }
    registry
}
