//! Tools that answer later, and a turn of theirs with all that it needs.
#![allow(dead_code)] // each test program uses a part of it

use std::cell::RefCell;
use std::fmt::Write as _;
use std::task::Poll;

use serde_json::Value as Json;
use toolcore::call::{Call, Ticket};
use toolcore::dialect::{ReplyOptions, parse_reply};
use toolcore::inflight::{InFlight, Slot};
use toolcore::prelude::*;
use toolcore::registry::Hook;
use toolcore::time::GRACE;
use toolcore::tool::Cancel;
use toolcore::turn::{Entry, Event, Runtime, Turn, TurnError};

use crate::common::{Memory, open, read};

type Run<'t> = Box<dyn Fn(&Call<'_>, &mut ToolResult<'_>) -> Poll<Result<(), Failure>> + 't>;

/// A tool by what it does when it is called, and when it is asked to end.
pub(crate) struct Tool<'t> {
    run: Run<'t>,
    cancel: Box<dyn Fn(Ticket) -> Cancel + 't>,
}

impl Handler for Tool<'_> {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        (self.run)(call, result)
    }
    fn cancel(&self, ticket: Ticket) -> Cancel {
        (self.cancel)(ticket)
    }
}

pub(crate) fn at_once<'t>(
    run: impl Fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure> + 't,
) -> Tool<'t> {
    Tool {
        run: Box::new(move |call, result| Poll::Ready(run(call, result))),
        cancel: Box::new(|_| Cancel::Later),
    }
}

impl<'t> Tool<'t> {
    /// The same, which does this when it is asked to end.
    pub(crate) fn asked(self, cancel: impl Fn(Ticket) -> Cancel + 't) -> Self {
        Tool { cancel: Box::new(cancel), ..self }
    }
}

pub(crate) fn says(text: &str) -> Tool<'_> {
    at_once(move |_, result| Ok(result.text(text)?))
}

/// Tickets that tools have kept, and those of calls that they were asked to end.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) tickets: RefCell<Vec<Ticket>>,
    pub(crate) asked: RefCell<Vec<Ticket>>,
}

impl Kept {
    pub(crate) fn ticket(&self, which: usize) -> Ticket {
        self.tickets.borrow()[which]
    }

    pub(crate) fn count(&self) -> usize {
        self.tickets.borrow().len()
    }

    /// A tool that answers later, and says this when it is asked to end.
    pub(crate) fn tool(&self, answer: Cancel) -> Tool<'_> {
        Tool {
            run: Box::new(|call, result| {
                result.text("what a tool says before it waits is gone")?;
                match call.ticket() {
                    Some(ticket) => self.tickets.borrow_mut().push(ticket),
                    None => self.tickets.borrow_mut().push(Ticket::from_u64(0)),
                }
                Poll::Pending
            }),
            cancel: Box::new(move |ticket| {
                self.asked.borrow_mut().push(ticket);
                answer
            }),
        }
    }

    pub(crate) fn later(&self) -> Tool<'_> {
        self.tool(Cancel::Later)
    }
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) const fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A reply of Anthropic's that calls these tools without arguments; the ids are `c0`, `c1`, …
pub(crate) fn calls(names: &[&str]) -> String {
    let mut text = String::from(r#"{"role":"assistant","content":["#);
    for (index, name) in names.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(text, r#"{comma}{{"type":"tool_use","id":"c{index}","name":"{name}","input":{{}}}}"#).unwrap();
    }
    text + "]}"
}

/// A table in memory of its own.
pub(crate) fn table(slots: usize, grace: Duration) -> InFlight<'static> {
    InFlight::new(vec![Slot::default(); slots].leak(), grace)
}

/// What a turn has, beside its tools and its table.
pub(crate) struct Setup<'s> {
    pub(crate) options: AnswerOptions<'s>,
    /// Entries; one for each call where it says nothing.
    pub(crate) entries: Option<usize>,
    /// Bytes for results.
    pub(crate) bytes: usize,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Setup { options: AnswerOptions::default(), entries: None, bytes: 64 * 1024 }
    }
}

impl<'s> Setup<'s> {
    pub(crate) fn with_clock(clock: &'s ManualClock) -> Self {
        Setup::with(AnswerOptions { clock: Some(clock), ..AnswerOptions::default() })
    }

    pub(crate) fn with(options: AnswerOptions<'s>) -> Self {
        Setup { options, ..Setup::default() }
    }

    /// Gives `run` a turn of this reply, and gives what it gives and the events, as `1101 2 timed_out`.
    pub(crate) fn turn<H: Handler, K: Hook, R>(
        &self,
        tools: &Registry<'_, H, K>,
        table: &mut InFlight<'_>,
        reply: &str,
        run: impl FnOnce(&mut Turn<'_>, &mut Runtime<'_, '_, '_, '_, H, K>) -> R,
    ) -> Result<(R, Vec<String>), TurnError> {
        let (mut words, mut bytes) = (vec![0; 16 * 1024], vec![0; self.bytes]);
        let scratch = Scratch::new(&mut words, &mut bytes);
        let (reply, scratch) =
            parse_reply(Dialect::Anthropic, reply.as_bytes(), ReplyOptions::default(), scratch).unwrap();
        let mut entries = vec![Entry::default(); self.entries.unwrap_or(reply.len())];
        let mut log = Vec::new();
        let mut watch = |event: &Event<'_>| {
            // What settles a call of this turn has its result, and nothing else has one.
            assert_eq!(event.kind.settles() && event.call.is_some(), event.result.is_some());
            log.push(format!("{} {} {}", event.at.as_millis(), event.index, event.kind.name()));
        };
        let mut turn = Turn::new(reply, table, &mut entries, scratch)?;
        let mut with =
            Runtime { registry: tools, inflight: table, options: &self.options, watch: &mut watch };
        let given = run(&mut turn, &mut with);
        Ok((given, log))
    }
}

/// Ends the turn, with ample room, and gives text and failure of each result; that ids are in order is checked.
pub(crate) fn finish<H: Handler, K: Hook>(
    turn: &mut Turn<'_>,
    with: &mut Runtime<'_, '_, '_, '_, H, K>,
    now: Instant,
) -> Vec<(String, bool)> {
    let mut out = vec![0; 1024 * 1024];
    let mut sink = Sink::new(&mut out);
    let outcome = turn.finish(with, now, &mut sink).unwrap();
    let results = results(&read(sink.finish().unwrap()));
    let failed = results.iter().filter(|(_, failed)| *failed).count();
    assert_eq!((outcome.calls, outcome.failed), (results.len(), failed));
    assert_eq!(outcome.answered, results.len() - failed);
    assert!(turn.is_done());
    results
}

/// Text and failure of each result of Anthropic's one message.
pub(crate) fn results(messages: &Json) -> Vec<(String, bool)> {
    let [message] = messages.as_array().unwrap().as_slice() else { panic!("{messages}") };
    assert_eq!(message["role"], "user");
    let blocks = message["content"].as_array().unwrap().iter().enumerate();
    blocks
        .map(|(index, block)| {
            assert_eq!(
                (&block["type"], &block["tool_use_id"]),
                (&"tool_result".into(), &format!("c{index}").into())
            );
            let text = match block["content"].as_str() {
                Some(text) => text.to_owned(),
                None => block["content"].to_string(),
            };
            (text, block["is_error"] == true)
        })
        .collect()
}

pub(crate) fn answered(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

pub(crate) fn failed(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

pub(crate) fn timed_out(name: &str, seconds: &str) -> (String, bool) {
    failed(&format!("[TOOL_TIMEOUT] Tool '{name}' timed out after {seconds}s"))
}

pub(crate) fn cancelled(name: &str) -> (String, bool) {
    failed(&format!("Tool error: Tool '{name}' was cancelled"))
}

/// Tools that take any object, each with its timeout in milliseconds.
pub(crate) fn registry<'m, 't>(
    memory: &'m mut Memory<Tool<'t>>,
    tools: impl IntoIterator<Item = (&'static str, Option<u64>, Tool<'t>)>,
) -> Registry<'m, Tool<'t>> {
    let mut registry = memory.registry();
    for (name, timeout, tool) in tools {
        registry.add(&ToolDefinition { timeout: timeout.map(ms), ..open(name) }, tool).unwrap();
    }
    registry
}

/// One tool, `later`, that answers later; a table of eight slots and the usual grace period.
pub(crate) fn one_tool<R>(
    timeout: Option<u64>,
    answer: Cancel,
    run: impl FnOnce(&Registry<'_, Tool<'_>>, &mut InFlight<'_>, &Kept) -> R,
) -> R {
    let kept = Kept::default();
    let mut memory = Memory::ample();
    let tools = registry(&mut memory, [("later", timeout, kept.tool(answer))]);
    run(&tools, &mut table(8, GRACE), &kept)
}
