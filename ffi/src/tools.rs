//! Telling the model what tools there are.

use core::ffi::{c_char, c_void};

use toolcore_core::dialect::{
    Choice, Dialect, Note, NoteKind, RenderError, RenderErrorKind, ToolsOptions, render_tools,
};
use toolcore_core::json::pointer_at;
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Caller, sized_struct, toolcore_str_t};
use crate::callback::{TellFn, tell};
use crate::guard::{Fail, UNKNOWN, guard};
use crate::registry::{HostRegistry, toolcore_registry_t};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// OpenAI Chat Completions, and what imitates it.
pub const TOOLCORE_DIALECT_OPENAI_CHAT: u32 = 1;
/// OpenAI Responses. Reserved: not supported yet.
pub const TOOLCORE_DIALECT_OPENAI_RESPONSES: u32 = 2;
/// Anthropic Messages.
pub const TOOLCORE_DIALECT_ANTHROPIC: u32 = 3;
/// Gemini. Reserved: not supported yet.
pub const TOOLCORE_DIALECT_GEMINI: u32 = 4;
/// Gemini with the older form of parameters. Reserved: not supported yet.
pub const TOOLCORE_DIALECT_GEMINI_SCHEMA: u32 = 5;
/// Bedrock Converse. Reserved: not supported yet.
pub const TOOLCORE_DIALECT_BEDROCK: u32 = 6;
/// Ollama. Reserved: not supported yet.
pub const TOOLCORE_DIALECT_OLLAMA: u32 = 7;
/// Model Context Protocol: what stands inside tools/list, tools/call and its result.
pub const TOOLCORE_DIALECT_MCP: u32 = 8;

/// toolcore_tools_opts_t.choice: left to the provider.
pub const TOOLCORE_CHOICE_DEFAULT: u32 = 0;
/// toolcore_tools_opts_t.choice: the model calls tools as it likes.
pub const TOOLCORE_CHOICE_AUTO: u32 = 1;
/// toolcore_tools_opts_t.choice: the model calls none.
pub const TOOLCORE_CHOICE_NONE: u32 = 2;
/// toolcore_tools_opts_t.choice: the model calls at least one.
pub const TOOLCORE_CHOICE_REQUIRED: u32 = 3;
/// toolcore_tools_opts_t.choice: the model calls choice_tool.
pub const TOOLCORE_CHOICE_TOOL: u32 = 4;

/// toolcore_tools_opts_t.parallel: left to the provider.
pub const TOOLCORE_PARALLEL_DEFAULT: u32 = 0;
/// toolcore_tools_opts_t.parallel: several calls in one turn are welcome.
pub const TOOLCORE_PARALLEL_YES: u32 = 1;
/// toolcore_tools_opts_t.parallel: at most one call in a turn.
pub const TOOLCORE_PARALLEL_NO: u32 = 2;

/// toolcore_tools_opts_t.flags: leave the enclosing braces out, to paste the members into a request.
pub const TOOLCORE_RENDER_BARE: u32 = 1;
/// toolcore_tools_opts_t.flags: refuse a name that the provider does not allow, in place of an alias.
pub const TOOLCORE_RENDER_NO_ALIAS: u32 = 2;

/// What is rendered. NULL, or all zero but struct_size, for everything with the provider's defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_tools_opts_t {
    /// sizeof(toolcore_tools_opts_t)
    pub struct_size: usize,
    /// Only the tools of this category; empty for all.
    pub category: toolcore_str_t,
    /// For TOOLCORE_CHOICE_TOOL: the tool's registered name.
    pub choice_tool: toolcore_str_t,
    /// Told what was changed so that the provider takes it (local checks use the original): the tool, the
    /// place in its schema as a JSON Pointer, and a sentence, all valid until it returns. NULL if nobody
    /// wants to know. Also called when measuring.
    pub note: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            tool: toolcore_str_t,
            path: toolcore_str_t,
            message: toolcore_str_t,
        ),
    >,
    /// Given to `note`.
    pub user_data: *mut c_void,
    /// One of TOOLCORE_CHOICE_.
    pub choice: u32,
    /// One of TOOLCORE_PARALLEL_.
    pub parallel: u32,
    /// TOOLCORE_RENDER_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Writes the members of a request that tell the model of the tools, in the order of registration:
/// {"tools":[...],"tool_choice":...}. Without any tool the object is empty.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_UNSUPPORTED for a dialect, choice or flag that is not known;
/// ERR_BAD_NAME (two tools with one name on the wire, or a refused alias); ERR_STRICT; ERR_NOT_FOUND if
/// the choice names no tool that is rendered; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
/// Nothing is kept.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_tools_render(
    registry: *const toolcore_registry_t,
    dialect: u32,
    opts: *const toolcore_tools_opts_t,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let mut output = c.output(buf, len, out_len)?;
        let registry = c.object(registry)?;
        let dialect = known_dialect(dialect)?;
        let opts = c.options(opts)?;
        let options = options(c, &opts)?;
        let mut notes = |note: Note<'_>| tell_note(registry, &note, opts.note, opts.user_data);
        let mut sink = Sink::new(output.buffer());
        match render_tools(registry, dialect, &options, &mut sink, &mut notes) {
            Ok(()) => {
                let len = sink.len();
                output.finish(len)
            }
            Err(RenderError { kind: RenderErrorKind::NoSpace(NoSpace { need }), .. }) => {
                why.need = need;
                output.finish(need)
            }
            Err(error) => {
                if let Some(tool) = error.tool.and_then(|at| registry.at(at)) {
                    why.sink().put(tool.info.name());
                    why.sink().put(": ");
                }
                Err(why.error(error))
            }
        }
    })
}

sized_struct!(toolcore_tools_opts_t);

/// The dialect of a constant.
pub(crate) fn known_dialect(dialect: u32) -> Result<Dialect, Fail> {
    match dialect {
        TOOLCORE_DIALECT_OPENAI_CHAT => Ok(Dialect::OpenAiChat),
        TOOLCORE_DIALECT_ANTHROPIC => Ok(Dialect::Anthropic),
        TOOLCORE_DIALECT_MCP => Ok(Dialect::Mcp),
        _ => Err(Fail(UNKNOWN.0, "the dialect is not set, or not supported by this version")),
    }
}

fn options<'a>(c: Caller, opts: &toolcore_tools_opts_t) -> Result<ToolsOptions<'a>, Fail> {
    let category = c.text(opts.category)?;
    let tool = c.text(opts.choice_tool)?;
    if opts.flags & !(TOOLCORE_RENDER_BARE | TOOLCORE_RENDER_NO_ALIAS) != 0 || opts.reserved != 0 {
        return Err(UNKNOWN);
    }
    Ok(ToolsOptions {
        category: (!category.is_empty()).then_some(category),
        choice: match opts.choice {
            TOOLCORE_CHOICE_DEFAULT => None,
            TOOLCORE_CHOICE_AUTO => Some(Choice::Auto),
            TOOLCORE_CHOICE_NONE => Some(Choice::None),
            TOOLCORE_CHOICE_REQUIRED => Some(Choice::Required),
            TOOLCORE_CHOICE_TOOL => Some(Choice::Tool(tool)),
            _ => return Err(UNKNOWN),
        },
        parallel: match opts.parallel {
            TOOLCORE_PARALLEL_DEFAULT => None,
            TOOLCORE_PARALLEL_YES => Some(true),
            TOOLCORE_PARALLEL_NO => Some(false),
            _ => return Err(UNKNOWN),
        },
        no_alias: opts.flags & TOOLCORE_RENDER_NO_ALIAS != 0,
        bare: opts.flags & TOOLCORE_RENDER_BARE != 0,
    })
}

fn tell_note(registry: &HostRegistry, note: &Note<'_>, to: TellFn, user_data: *mut c_void) {
    if to.is_none() {
        return;
    }
    let (mut path, mut message) = ([0u8; 256], [0u8; 256]);
    let (mut path, mut message) = (Sink::new(&mut path), Sink::new(&mut message));
    if let NoteKind::PropertiesAdded(offset) = note.kind
        && let Some(tool) = registry.get(note.tool)
    {
        pointer_at(tool.info.parameters().text(), offset, &mut path);
    }
    note.write_message(&mut message);
    tell(to, user_data, [note.tool, path.finish_cut(), message.finish_cut()]);
}
