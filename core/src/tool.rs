//! What a tool is: its definition, its annotations and what runs it.
//!
//! A [`ToolDefinition`] is plain borrowed data; the registry checks and compiles it once, and it is
//! immutable after. Names are 1 to 128 of `[A-Za-z0-9_.-]` (the MCP rule, the widest that all dialects
//! can be served from); a provider's narrower rule is met by an alias when tools are rendered.

use core::task::Poll;

use crate::call::{ArgError, Call, Ticket};
use crate::result::{ResultError, ToolResult};
use crate::schema::ToolParameter;
use crate::time::Duration;

/// The longest name of a tool, in bytes.
pub const NAME_MAX: usize = 128;

/// Everything that is said of a tool when it is registered.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolDefinition<'a> {
    /// What the model calls: 1 to 128 of `[A-Za-z0-9_.-]`.
    pub name: &'a str,
    /// A name for people; empty if there is none.
    pub title: &'a str,
    /// What the tool does, for the model.
    pub description: &'a str,
    /// A group to list or render by; empty if there is none.
    pub category: &'a str,
    /// What the tool takes.
    pub parameters: Parameters<'a>,
    /// JSON Schema of what the tool returns; told to MCP clients.
    pub output_schema: Option<&'a str>,
    /// Hints for hosts that ask before they run something.
    pub annotations: Annotations,
    /// Ask the provider to hold the model to the schema.
    pub strict: bool,
    /// Convert what nearly fits (`"5"` for an integer) and fill in defaults that fit, each change reported.
    pub coerce: bool,
    /// Of arguments with the same name the last one counts, which is reported; otherwise they are refused.
    pub last_wins: bool,
    /// How long one call may take. The tool's timeout wins over the registry's and the call's.
    pub timeout: Option<Duration>,
}

/// What a tool takes: declared one by one, or a JSON Schema.
#[derive(Clone, Copy, Debug)]
pub enum Parameters<'a> {
    /// Declared parameters; none of them means a tool without arguments.
    Declared(&'a [ToolParameter<'a>]),
    /// The text of a JSON Schema whose root accepts objects.
    Schema(&'a str),
}

impl Default for Parameters<'_> {
    fn default() -> Self {
        Parameters::Declared(&[])
    }
}

/// Hints about what a tool does to its environment (MCP `annotations`); `None` is unsaid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches beyond a closed set of things, such as the web.
    pub open_world: Option<bool>,
}

/// What runs a tool's calls.
///
/// The call's arguments have passed the tool's schema. Append the outcome to `result`; a failure is
/// told to the model, never thrown. Runs in the caller's thread; on several threads at once if the
/// host dispatches on several.
pub trait Handler {
    /// Runs one call, or begins it: a handler that keeps [`Call::ticket`] may return [`Poll::Pending`] and have
    /// the call completed by it later. What `call` and `result` lend ends when this returns; what was appended
    /// to `result` by then is gone.
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>>;

    /// Asks to give up a call that was begun and not completed: its deadline has passed, or the host cancelled it.
    /// The model has its answer already; what comes now is discarded. Says [`Cancel::Later`] unless it is
    /// implemented.
    fn cancel(&self, ticket: Ticket) -> Cancel {
        let _ = ticket;
        Cancel::Later
    }
}

/// What comes of asking a call to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cancel {
    /// It may end later: to complete it in any way says so. After its grace period it is abandoned.
    #[default]
    Later,
    /// It has ended.
    Ended,
    /// It runs on and cannot be ended: there is nothing to wait for.
    Abandoned,
}

/// A function that answers at once returns `Result<(), Failure>`; one that may answer later
/// `Poll<Result<(), Failure>>`, where `?` works as well.
impl<F, R> Handler for F
where
    F: Fn(&Call<'_>, &mut ToolResult<'_>) -> R,
    R: Ran,
{
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        self(call, result).ran()
    }
}

/// What a function that runs a tool's calls may return.
pub trait Ran {
    /// Whether it has ended, and how.
    fn ran(self) -> Poll<Result<(), Failure>>;
}

impl Ran for Result<(), Failure> {
    fn ran(self) -> Poll<Result<(), Failure>> {
        Poll::Ready(self)
    }
}

impl Ran for Poll<Result<(), Failure>> {
    fn ran(self) -> Poll<Result<(), Failure>> {
        self
    }
}

/// What runs a tool's calls as futures, by [`dispatch_async`](crate::dispatch::dispatch_async).
///
/// As with [`Handler`], the arguments have passed the tool's schema and the outcome is appended to `result`.
/// The future is polled where it was made; it lends from the call, so that it needs no heap and cannot outlive
/// it. Write `async fn run`. An async function, and an async closure, is a handler itself; tools whose
/// futures have different types become one by an `enum` (see [`dispatch_async`](crate::dispatch::dispatch_async)).
///
/// Past its deadline, the call is asked to give up ([`Call::cancellation`]), and at the end of its grace period
/// the future is dropped: what it holds is given back by `Drop`, wherever it waits.
pub trait AsyncHandler {
    /// Runs one call.
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> impl Future<Output = Result<(), Failure>>;
}

impl<F> AsyncHandler for F
where
    F: AsyncFn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure>,
{
    async fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Result<(), Failure> {
        self(call, result).await
    }
}

/// Why a handler gave up. The model reads `Tool error: …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum Failure {
    /// An argument could not be had; the text names it.
    #[error("{0}")]
    Argument(ArgError),
    /// This message.
    #[error("{0}")]
    Message(&'static str),
}
impl core::error::Error for Failure {}

impl From<ArgError> for Failure {
    fn from(error: ArgError) -> Self {
        Failure::Argument(error)
    }
}

impl From<ResultError> for Failure {
    fn from(error: ResultError) -> Self {
        Failure::Message(match error {
            ResultError::NoSpace { .. } => "the result does not fit the scratch memory",
            ResultError::TooManyParts => "the result has too many parts",
            ResultError::Json(_) => "the tool's result is not JSON",
        })
    }
}

impl From<&'static str> for Failure {
    fn from(message: &'static str) -> Self {
        Failure::Message(message)
    }
}

/// What is wrong with a tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum NameError {
    /// It is empty.
    #[error("the name is empty")]
    Empty,
    /// It is longer than [`NAME_MAX`].
    #[error("the name has {len} bytes, at most 128 are allowed")]
    TooLong {
        /// Its bytes.
        len: usize,
    },
    /// It holds a character that is not allowed.
    #[error("the name has a character at byte {at} that is not one of A-Z a-z 0-9 _ . -")]
    Character {
        /// The byte where the character begins.
        at: usize,
    },
}
impl core::error::Error for NameError {}

/// Checks a tool's name against the rule of this library.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() > NAME_MAX {
        return Err(NameError::TooLong { len: name.len() });
    }
    match name.bytes().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))) {
        Some(at) => Err(NameError::Character { at }),
        None => Ok(()),
    }
}
