//! Tools for language models on devices and in apps, without a heap.
//!
//! A host registers functions as *tools*; the library tells a model of them in its provider's format,
//! reads the calls that the model makes, checks their arguments against each tool's schema, runs them
//! within their deadlines and writes the results that go back. It fits the context into a token budget.
//! It does no I/O: bytes in, bytes out, the time handed in.
//!
//! # The layers
//!
//! A module uses only layers below its own (a test holds it to that):
//!
//! ```text
//! 6  answer    reply -> every call -> messages       typed  serde values   owned  Strings   embassy  clock, timer
//!    turn      the same where tools answer later: side by side, within their deadlines
//!    system    clock, timer, worker threads
//! 5  dispatch  one call -> one result, in its time   dialect one file a provider: tools, reply, results
//!    stream    bytes as they come -> the same reply
//! 4  registry  the tools, hashed by name, and hooks            mailbox  completions from elsewhere
//!    inflight  calls that wait: their tickets and deadlines
//! 3  tool      what a tool is      call   what a model asks for      result  what a tool answers
//!    context   blocks -> a text within a token budget                scratch working memory
//! 2  schema    declared parameters or JSON Schema -> program; check, coerce, lower
//! 1  json      strict pull reader, lazy values, escaping writer, exact numbers, repairs
//! 0  sink      bounded output that measures          arena   bump memory      time  clocks, deadlines
//! ```
//!
//! # What holds everywhere
//!
//! - Memory is handed in. Nothing allocates, recurses on input, panics or blocks, but for what hosts with a
//!   heap or threads ask for (`owned`, `system`); running out of room is an ordinary error that names what
//!   would be enough, and leaves nothing half-done.
//! - What the model does wrong becomes a result that the model reads; what the host does wrong is an error.
//! - The same inputs give the same bytes on every target.
//!
//! # Example
//!
//! ```
//! use toolcore::prelude::*;
//!
//! let mut memory = RegistryMemory::<fn(&Call, &mut ToolResult) -> Result<(), Failure>, 4, 1024>::new();
//! let mut tools = memory.registry(RegistryOptions::default());
//! let parameters = [ToolParameter::string("city").describe("City name, in English.")];
//! tools.add(
//!     &ToolDefinition {
//!         name: "get_weather",
//!         description: "Current weather in a city.",
//!         parameters: Parameters::Declared(&parameters),
//!         ..ToolDefinition::default()
//!     },
//!     |call, result| {
//!         let city = call.args.str("city")?;
//!         Ok(result.write_text(|out| {
//!             out.put(city);
//!             out.put(": 21 C");
//!         })?)
//!     },
//! )?;
//!
//! let reply = br#"{"role":"assistant","content":[
//!     {"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Oslo"}}]}"#;
//! let (mut words, mut bytes, mut out) = ([0; 128], [0; 1024], [0; 512]);
//! let mut sink = Sink::new(&mut out);
//! answer(
//!     &tools,
//!     Dialect::Anthropic,
//!     reply,
//!     &AnswerOptions::default(),
//!     Scratch::new(&mut words, &mut bytes),
//!     &mut sink,
//!     &mut |_, _| {},
//! )?;
//! assert_eq!(
//!     sink.finish()?,
//!     r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Oslo: 21 C"}]}]"#
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod answer;
pub mod arena;
pub mod call;
pub mod context;
pub mod dialect;
pub mod dispatch;
#[cfg(feature = "embassy")]
pub mod embassy;
pub mod inflight;
pub mod json;
#[cfg(feature = "mailbox")]
pub mod mailbox;
#[cfg(feature = "alloc")]
pub mod owned;
pub mod registry;
pub mod result;
pub mod schema;
pub mod scratch;
pub mod sink;
#[cfg(feature = "stream")]
pub mod stream;
#[cfg(feature = "std")]
pub mod system;
pub mod time;
pub mod tool;
pub mod turn;
#[cfg(feature = "serde")]
pub mod typed;

/// What most programs use.
pub mod prelude {
    pub use crate::answer::{AnswerError, AnswerOptions, Outcome, answer, answer_reply};
    pub use crate::call::{ArgError, Args, Call, Ticket, ToolCall};
    pub use crate::dialect::{Choice, Dialect, ReplyOptions, ToolsOptions, parse_reply, render_tools};
    pub use crate::inflight::{InFlight, Slot};
    pub use crate::registry::{Added, Collision, Registry, RegistryMemory, RegistryOptions};
    pub use crate::result::{OutcomeKind, ToolResult};
    pub use crate::schema::ToolParameter;
    pub use crate::scratch::Scratch;
    pub use crate::sink::{NoSpace, Sink};
    pub use crate::time::{Clock, Deadline, Duration, Instant, ManualClock};
    pub use crate::tool::{Annotations, Cancel, Failure, Handler, Parameters, ToolDefinition};
    pub use crate::turn::{Entry, Runtime, Turn};
}
