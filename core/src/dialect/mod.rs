//! How each provider writes tools, calls and results.
//!
//! A dialect is data (a name rule, a schema subset, facts, the shape of a stream) and the same few functions
//! in one file each: tools, choice, reply, events of a stream, replay, results. A further provider is one new
//! file and one more row in the table below; nothing else in the library names a dialect. Each is linked with
//! a feature of its own or of its provider; one that is left out is refused with the name of that feature,
//! see [`LeftOut`].
//!
//! | dialect | provider's page |
//! |---|---|
//! | [`Dialect::OpenAiChat`] | OpenAI, Chat Completions: `tools`, `tool_calls`, role `tool` |
//! | [`Dialect::OpenAiResponses`] | OpenAI, Responses: items `function_call`, `function_call_output` |
//! | [`Dialect::Anthropic`] | Anthropic, Messages: `tools`, `tool_use`, `tool_result` |
//! | [`Dialect::Gemini`] | Google, generateContent: `functionDeclarations` with `parametersJsonSchema`, `functionCall`, `functionResponse` |
//! | [`Dialect::GeminiSchema`] | the same with the older `parameters` |
//! | [`Dialect::Bedrock`] | Amazon Bedrock, Converse: `toolConfig`, `toolUse`, `toolResult` |
//! | [`Dialect::Ollama`] | Ollama, `/api/chat`: `tools`, `tool_calls`, role `tool` |
//! | [`Dialect::MistralChat`] | Mistral, chat completions: OpenAI's with ids of nine letters and digits |
//! | [`Dialect::Cohere`] | Cohere, chat, second version: OpenAI's tools, `tool_plan`, documents |
//! | [`Dialect::Mcp`] | Model Context Protocol, server features, tools: `Tool`, `tools/call`, `CallToolResult` |
//! | [`Dialect::Hermes`] | Hermes, Qwen: `<tool_call>` in plain text |
//! | [`Dialect::Llama3`] | Llama 3: objects in plain text, `<|python_tag|>` |
//! | [`Dialect::Mistral`] | Mistral, what the model itself writes: `[TOOL_CALLS]` in plain text |
//!
//! [`render_tools`] tells the model what there is, [`parse_reply`] reads what it asks for,
//! [`Reply::write_replay`] writes the model's turn as it goes back, and [`render_results`] what goes back
//! after it. [`render_turn`] writes a turn that another provider's model took. [`crate::stream`] gives the same [`Reply`] of a stream. [`crate::answer`] does reading,
//! dispatch and results in one call.
//!
//! # Text forms
//!
//! Hermes, Llama 3 and Mistral are what models write whose server does not read their calls. The same
//! functions take and write plain text for them and not JSON: the reply is the model's text, the tools are a
//! section of the prompt, turn and results are messages of the chat template with its tokens (`bare`: without
//! those that enclose them). What has a meaning to the template is not let through in results, so that none
//! can leave its section: a space follows its first character (`< |im_end|>`), or in JSON that character is
//! escaped. A tool whose description or schema holds such a thing is refused.
//!
//! # Adding a dialect
//!
//! 1. A file here with a type that implements `Wire`, `mod` for it, and a row in `dialects!` with the feature
//!    that it is built with, which is one more line in `Cargo.toml`, here and in `ffi`, and in the list there.
//! 2. `names`, `strict`, and `facts` where they are not those of a provider (`Facts::PROVIDER`).
//! 3. `tools_start`, `tool`, `tools_end`: the request's members.
//! 4. `reply`: step through the whole form ([`Reader::members`], [`Reader::elements`], [`Reader::pick`]), so
//!    that it is checked and read in one pass, and hand out `Item`s in order. `encoded` for arguments that are
//!    a string of JSON text; `incomplete` where the provider says so of a call; `provider_error` for an error.
//!    What would be lost in silence is a `ReplyError::Shape` that says what was expected.
//! 5. `replay`: write the message from the same text. Copy what the provider signs as it stands
//!    (`Writer::value` keeps strings and numbers byte for byte, without the blanks between tokens), leave out
//!    what it only puts out, and ask `ids` once for each call of `reply`, in its order.
//! 6. `turn`, the same message of a text and calls; `results_start`, `result`, `results_end`.
//! 7. A stream: a `Shape`, and `event`, which reads one event into `Change`s.
//!    - Both stand behind the feature `stream`, for what a table refers to is linked.
//!    - The shape's `head`, `list`, `tail` and `end` spell an empty whole form, which `reply` must read;
//!      `members` are the only members of an event that `event` gets to see.
//!    - Blocks that begin, grow and end: `Open`, `Append`, `Close`, with `Field`s that say where in the block
//!      a piece goes (a member that is missing is made). Calls in pieces without such marks: `Call`, with
//!      `empty_call`. Whole items: `Whole`, or `Replace` for one that came in pieces
//!      before, which are `Grow` and `Fill`; all items once more in the end: `Repeat`. Text beside a
//!      list of calls: `Member`; text among items that are whole: `Extend`. What is not kept but shown:
//!      `Show`. The reason: `Finish`. The marker: `End`.
//!    - A field that is shown as `Show::Arguments` holds text until its item is closed, and then the object
//!      that it spells. Text that spells none stays a string, and is read as text.
//!
//!    Or, for plain text, `text_form` in place of all of this, of `reply` and of `replay`: a `TextForm` says
//!    how calls are marked, and how a turn is.
//! 8. Rows in `core/tests/common/dialects.rs`, `core/tests/dialect_*.rs`, `core/tests/stream/convert.rs`
//!    (whole replies as this provider streams them), `core/tests/stream/chunks.rs` (an example) and the tests
//!    of recorded traffic; the constant and the row in `ffi/src/dialect.rs`, and the header made anew; in
//!    `examples/c/inspect`, `support.c` if it is plain text and `stream.c` if its events are not framed as
//!    server-sent ones.

#![cfg_attr(
    not(all(feature = "dialects", feature = "stream")),
    allow(dead_code, unused_imports, reason = "what dialects share, some build in none that uses it")
)]

mod alias;
#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(feature = "bedrock")]
mod bedrock;
mod budget;
mod change;
#[cfg(feature = "cohere")]
mod cohere;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "text-forms")]
mod hermes;
mod ids;
mod left_out;
#[cfg(feature = "text-forms")]
mod llama3;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "text-forms")]
mod mistral;
#[cfg(feature = "mistral")]
mod mistral_chat;
mod native;
#[cfg(not(feature = "dialects"))]
mod nothing;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai")]
mod openai_chat;
#[cfg(feature = "openai-responses")]
mod openai_responses;
mod records;
mod rendered;
mod replay;
mod reply;
mod results;
mod text_call;
mod text_form;
mod tools;
mod turn;

pub(crate) use alias::resolve;
pub use alias::{NameRule, WireName};
pub(crate) use change::{CallParts, Change, Field, Member, OpenMembers, Shape, Show};
pub(crate) use ids::IdRule;
pub use left_out::LeftOut;
pub use native::{NativeKind, NativeTool};
pub use rendered::RenderedTools;
pub use replay::ReplayError;
pub use reply::{Calls, Finish, Reply, ReplyError, ReplyOptions, parse_reply, write_provider_error};
pub(crate) use reply::{Origin, error_message, read_reply};
pub(crate) use results::write_cancelled;
pub use results::{CallResult, Results, ResultsError, ResultsOptions, render_results, render_results_from};
pub(crate) use results::{MIN_ROOM, render_one};
pub(crate) use text_form::{Piece, Scanner, Step, TextCall, TextForm};
pub use tools::{Choice, Note, NoteKind, RenderError, RenderErrorKind, ToolsOptions, render_tools};
pub use turn::render_turn;

use crate::json::{Elements, Kind, Reader, Value, Writer};
use crate::registry::ToolInfo;
use crate::result::ToolResult;
use crate::schema::Subset;
use turn::Turn;

/// Makes the enum of the dialects and the table behind it: documentation, variant, name, feature, wire.
macro_rules! dialects {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $feature:literal $wire:expr;)*) => {
        /// A provider's wire format. All are named here, whichever are [built in](Dialect::is_built_in).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Dialect {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Dialect {
            /// All dialects that are built in.
            pub const ALL: [Dialect; 0 $(+ cfg!(feature = $feature) as usize)*] =
                [$(#[cfg(feature = $feature)] Dialect::$variant),*];

            const EVERY: [Dialect; [$($name),*].len()] = [$(Dialect::$variant),*];

            /// The name in snake case: `openai_chat`, `anthropic`, `mcp`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Dialect::$variant => $name,)*
                }
            }

            /// The feature of this crate that it is built with: `openai`, `anthropic`, `mcp`.
            pub const fn feature(self) -> &'static str {
                match self {
                    $(Dialect::$variant => $feature,)*
                }
            }

            /// Whether this build has it. With one that it has not, what gives an error gives [`LeftOut`].
            pub const fn is_built_in(self) -> bool {
                match self {
                    $(Dialect::$variant => cfg!(feature = $feature),)*
                }
            }

            pub(crate) fn wire(self) -> &'static dyn Wire {
                match self {
                    $(#[cfg(feature = $feature)] Dialect::$variant => &$wire,)*
                    #[cfg(not(all($(feature = $feature),*)))]
                    _ => &nothing::Nothing,
                }
            }
        }
    };
}

dialects! {
    /// OpenAI Chat Completions, and what imitates it.
    OpenAiChat "openai_chat" "openai" openai_chat::OpenAiChat;
    /// OpenAI Responses.
    OpenAiResponses "openai_responses" "openai-responses" openai_responses::OpenAiResponses;
    /// Anthropic Messages.
    Anthropic "anthropic" "anthropic" anthropic::Anthropic;
    /// Google Gemini, with parameters as JSON Schema.
    Gemini "gemini" "gemini" gemini::Gemini { older: false };
    /// Google Gemini, with parameters in its older form, a kind of OpenAPI schema.
    GeminiSchema "gemini_schema" "gemini" gemini::Gemini { older: true };
    /// Amazon Bedrock Converse.
    Bedrock "bedrock" "bedrock" bedrock::Bedrock;
    /// Ollama's own chat endpoint.
    Ollama "ollama" "ollama" ollama::Ollama;
    /// Mistral's chat endpoint: OpenAI Chat Completions with other words.
    MistralChat "mistral_chat" "mistral" mistral_chat::MistralChat;
    /// Cohere's second chat endpoint.
    Cohere "cohere" "cohere" cohere::Cohere;
    /// The shapes of the Model Context Protocol: `Tool`, the `tools/call` request and its result.
    Mcp "mcp" "mcp" mcp::Mcp;
    /// The text of Hermes and Qwen: `<tool_call>{…}</tool_call>`.
    Hermes "hermes" "text-forms" hermes::Hermes;
    /// The text of Llama 3: `{"name":…,"parameters":{…}}`.
    Llama3 "llama3" "text-forms" llama3::Llama3;
    /// The text of Mistral's models: `[TOOL_CALLS]…`.
    Mistral "mistral" "text-forms" mistral::Mistral;
}

impl Dialect {
    /// The dialect of that name, whether or not it is built in.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Whether reply, tools, turn and results are plain text and not JSON.
    pub fn is_text(self) -> bool {
        self.text_form().is_some()
    }

    /// Fails if it is not built in.
    pub const fn built_in(self) -> Result<Self, LeftOut> {
        if self.is_built_in() { Ok(self) } else { Err(LeftOut(self)) }
    }

    /// How calls are marked if everything is plain text and not JSON; known to be nothing, and so nothing to
    /// link, in a build without text forms.
    pub(crate) fn text_form(self) -> Option<&'static TextForm> {
        if cfg!(feature = "text-forms") { self.wire().text_form() } else { None }
    }

    /// What the provider allows in a tool's name.
    pub fn name_rule(self) -> NameRule {
        self.wire().names()
    }

    /// Whether the provider's strict mode has optional properties sent as required ones that may be null, so
    /// that the model says null where it would leave one out.
    pub fn makes_nullable(self) -> bool {
        self.wire().strict().is_some_and(Subset::makes_nullable)
    }

    /// The id that is sent for a call's `id` if the provider does not allow that one: the same in the turn
    /// that goes back and in the results. `None` if it goes as it is.
    pub fn wire_id(self, id: &str) -> Option<heapless::String<9>> {
        self.wire().facts().ids.map(id.chars())
    }
}

/// What of a dialect is neither a rule for schemas and names nor a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The list of tools is written even if there is none.
    pub(crate) lists_nothing: bool,
    /// What the request can say about which tools the model calls.
    pub(crate) choice: ChoiceWords,
    /// A message holds one result, and a reply one call.
    pub(crate) one_result: bool,
    /// A result refers to its call by an id, so that a minted one goes out where the call has none. Elsewhere it
    /// is for the host alone.
    pub(crate) needs_ids: bool,
    /// What the provider allows in an id.
    pub(crate) ids: IdRule,
    /// Strict is said once, for all tools of a request.
    pub(crate) strict_together: bool,
    /// A request without tools is refused if the conversation holds calls.
    pub(crate) tools_after_calls: bool,
    /// The most tools of a request, as the provider tells.
    pub(crate) max_tools: usize,
}

impl Facts {
    /// What holds for most providers of models.
    pub(crate) const PROVIDER: Facts = Facts {
        lists_nothing: false,
        choice: ChoiceWords::ALL,
        one_result: false,
        needs_ids: true,
        ids: IdRule::ANY,
        strict_together: false,
        tools_after_calls: false,
        max_tools: usize::MAX,
    };
}

/// For which choices a dialect has words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChoiceWords {
    pub(crate) auto: bool,
    pub(crate) none: bool,
    /// Without a word for none, the request can do without any tool.
    pub(crate) none_is_no_tool: bool,
    pub(crate) required: bool,
    pub(crate) tool: bool,
    pub(crate) allowed: bool,
    pub(crate) parallel: bool,
}

impl ChoiceWords {
    pub(crate) const ALL: ChoiceWords = ChoiceWords {
        auto: true,
        none: true,
        none_is_no_tool: false,
        required: true,
        tool: true,
        allowed: true,
        parallel: true,
    };
    pub(crate) const NONE: ChoiceWords = ChoiceWords {
        auto: false,
        none: false,
        none_is_no_tool: false,
        required: false,
        tool: false,
        allowed: false,
        parallel: false,
    };
}

/// What every dialect implements.
pub(crate) trait Wire: Sync {
    /// What else is to be known of it.
    fn facts(&self) -> Facts {
        Facts::PROVIDER
    }

    /// How calls are marked if everything is plain text and not JSON; `root` is then that text, of which
    /// nothing but the source may be asked.
    fn text_form(&self) -> Option<&'static TextForm> {
        None
    }

    /// How it writes the tools that run at the provider.
    fn native(&self) -> &'static [native::NativeForm] {
        &[]
    }

    /// What the provider allows in a tool's name.
    fn names(&self) -> NameRule;

    /// What strict mode demands of a schema; `None` if there is no strict mode.
    fn strict(&self) -> Option<&'static Subset>;

    /// Writes what comes before the first tool, as members of the request.
    fn tools_start(&self, request: &tools::WireRequest<'_>, out: &mut Writer<'_, '_>);

    /// Writes one tool.
    fn tool(&self, tool: &tools::WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>);

    /// Writes what comes after the last tool: those of the provider, and the choice.
    fn tools_end(&self, request: &tools::WireRequest<'_>, out: &mut Writer<'_, '_>);

    /// Reads a reply and hands each part of it to `visit` in order; gives why the reply ended. What is not
    /// read need not be passed over.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let _ = (reader, visit);
        Err(ReplyError::Shape { expected: "plain text" })
    }

    /// Writes the turn of the model, of which `root` is the whole form, as the provider takes it back. The
    /// calls in order get their ids from `ids`, which gives `None` where the reply's own goes back as it is.
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let _ = (root, ids, out);
        Err(ReplayError::Unsupported)
    }

    /// Writes a turn of the model that is not a reply of the dialect, without the brackets around messages or
    /// the tokens around a text.
    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        let _ = (turn, out);
        Err(ReplayError::Unsupported)
    }

    /// How a stream of the dialect is read; `None` if it has none.
    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        None
    }

    /// Reads an event of a stream, and hands each change that it brings to `visit`, in the order of the text.
    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let _ = (reader, visit);
        Err(ReplyError::Shape { expected: "a stream; the dialect has none" })
    }

    /// Writes what comes before the first result; `bare` leaves the enclosing brackets out.
    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>);

    /// Writes the result of a call.
    fn result(
        &self,
        call: &results::Answered<'_>,
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
    /// The same of a message whose calls are a list beside it: all of them come after it, wherever it stands.
    Beside(Option<Value<'r>>),
    /// Text for the user as it stands.
    Plain(&'r str),
    /// A call for the client to run.
    Call(CallParts<'r>),
    /// A call in plain text.
    TextCall(TextCall<'r>),
}

/// Steps into a list, `what` there should be, or what stands for none. What has another shape would be lost in
/// silence.
fn list(reader: &mut Reader<'_>, what: &'static str) -> Result<Elements, ReplyError> {
    match reader.peek()? {
        Kind::Array | Kind::Null => Ok(reader.elements()?),
        _ => Err(ReplyError::Shape { expected: what }),
    }
}

/// Refuses what providers answer with in place of a reply: the value that comes next, of the member `error`,
/// unless it is `null`.
fn provider_error(reader: &mut Reader<'_>) -> Result<(), ReplyError> {
    if reader.peek()? == Kind::Null { Ok(()) } else { Err(ReplyError::Provider) }
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

/// Writes a member whose value is a string.
fn member(key: &str, text: &str, out: &mut Writer<'_, '_>) {
    out.key(key);
    out.string(text);
}

/// Writes bytes as one string in base64.
fn base64(data: &[u8], out: &mut Writer<'_, '_>) {
    out.string_start();
    out.string_base64(data);
    out.string_end();
}

/// Whether a member is a string of this text.
fn is(value: Option<Value<'_>>, text: &str) -> bool {
    value.and_then(Value::as_str).is_some_and(|value| value == text)
}
