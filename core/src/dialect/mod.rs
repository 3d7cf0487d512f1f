//! How each provider writes tools, calls and results.
//!
//! A dialect is data (a name rule, a schema subset) and the same few functions in one file each:
//! tools, choice, reply, results (and streams, which end in the same reply). A ninth provider is one new
//! file and one more row here.
//!
//! | dialect | provider's page |
//! |---|---|
//! | [`Dialect::OpenAiChat`] | OpenAI, Chat Completions: `tools`, `tool_calls`, role `tool` |
//! | [`Dialect::Anthropic`] | Anthropic, Messages: `tools`, `tool_use`, `tool_result` |
//! | [`Dialect::Mcp`] | Model Context Protocol, server features, tools: `Tool`, `tools/call`, `CallToolResult` |
//!
//! [`render_tools`] tells the model what there is, [`parse_reply`] reads what it asks for, and
//! [`render_results`] writes what to send back. [`crate::answer`] does the last two and the dispatch
//! between them in one call.

mod alias;
mod anthropic;
mod mcp;
mod openai_chat;
mod reply;
mod results;
mod tools;

pub(crate) use alias::resolve;
pub use alias::{NameRule, WireName};
pub use reply::{Calls, Finish, Reply, ReplyError, parse_reply};
pub use results::{CallResult, Results, ResultsError, ResultsOptions, render_results, render_results_from};
pub(crate) use results::{MIN_ROOM, render_one};
pub use tools::{Choice, Note, NoteKind, RenderError, RenderErrorKind, ToolsOptions, render_tools};

use crate::json::{Value, Writer};
use crate::registry::ToolInfo;
use crate::result::ToolResult;
use crate::schema::StrictSubset;

/// A provider's wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI Chat Completions, and what imitates it.
    OpenAiChat,
    /// Anthropic Messages.
    Anthropic,
    /// The shapes of the Model Context Protocol: `Tool`, the `tools/call` request and its result.
    Mcp,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 3] = [Dialect::OpenAiChat, Dialect::Anthropic, Dialect::Mcp];

    /// The name in snake case: `openai_chat`, `anthropic`, `mcp`.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::OpenAiChat => "openai_chat",
            Dialect::Anthropic => "anthropic",
            Dialect::Mcp => "mcp",
        }
    }

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// What the provider allows in a tool's name.
    pub fn name_rule(self) -> NameRule {
        self.wire().names()
    }

    pub(crate) fn wire(self) -> &'static dyn Wire {
        match self {
            Dialect::OpenAiChat => &openai_chat::OpenAiChat,
            Dialect::Anthropic => &anthropic::Anthropic,
            Dialect::Mcp => &mcp::Mcp,
        }
    }
}

/// What every dialect implements.
pub(crate) trait Wire: Sync {
    /// What the provider allows in a tool's name.
    fn names(&self) -> NameRule;

    /// What strict mode demands of a schema; `None` if there is no strict mode.
    fn strict(&self) -> Option<&'static StrictSubset>;

    /// Writes what comes before the first tool, as members of the request.
    fn tools_start(&self, out: &mut Writer<'_, '_>);

    /// Writes one tool.
    fn tool(&self, tool: &tools::WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>);

    /// Writes what comes after the last tool, and the choice.
    fn tools_end(&self, choice: &tools::WireChoice<'_>, out: &mut Writer<'_, '_>);

    /// Hands each part of a reply to `visit` in order; gives why the reply ended.
    fn reply<'r>(&self, root: Value<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<Finish, ReplyError>;

    /// Writes what comes before the first result; `bare` leaves the enclosing brackets out.
    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>);

    /// Writes the result of the call with this id.
    fn result(
        &self,
        id: &str,
        result: &ToolResult<'_>,
        budget: &mut results::Budget,
        out: &mut Writer<'_, '_>,
    );

    /// Writes what comes after the last result.
    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>);
}

/// A part of a reply.
pub(crate) enum Item<'r> {
    /// Text for the user; a value that is not a string is passed over.
    Text(Option<Value<'r>>),
    /// A call for the client to run.
    Call {
        /// The id, if it is there.
        id: Option<Value<'r>>,
        /// The tool's name.
        name: Option<Value<'r>>,
        /// The arguments' JSON.
        arguments: Option<Value<'r>>,
        /// Whether arguments that are a string are the JSON text that it holds, and not a string.
        encoded: bool,
    },
}

/// Refuses what providers answer with in place of a reply, given the member `error` of the root.
fn provider_error(error: Option<Value<'_>>) -> Result<(), ReplyError> {
    if error.is_some_and(|error| !error.is_null()) { Err(ReplyError::Provider) } else { Ok(()) }
}

/// Writes the members `name` and, unless it is empty, `description`.
fn name_and_description(name: &str, tool: ToolInfo<'_>, out: &mut Writer<'_, '_>) {
    out.key("name");
    out.string(name);
    if !tool.description().is_empty() {
        out.key("description");
        out.string(tool.description());
    }
}
