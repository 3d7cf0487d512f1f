//! Telling the model what tools there are.

use core::ffi::{c_char, c_void};

use toolcore_core::dialect::{
    Choice, NativeKind, NativeTool, Note, RenderError, RenderErrorKind, ToolsOptions, render_tools,
};
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Caller, sized_struct, toolcore_str_t};
use crate::callback::{TellFn, tell};
use crate::dialect::known_dialect;
use crate::guard::{Fail, MANY, UNKNOWN, guard};
use crate::registry::toolcore_registry_t;
use crate::status::{toolcore_detail_t, toolcore_status_t};

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
/// toolcore_tools_opts_t.choice: the model calls those among choice_tools as it likes. A provider without a word
/// for it is told of no other tool.
pub const TOOLCORE_CHOICE_ALLOWED: u32 = 5;
/// toolcore_tools_opts_t.choice: the model calls at least one of choice_tools.
pub const TOOLCORE_CHOICE_ALLOWED_REQUIRED: u32 = 6;
/// The most choice_tools.
pub const TOOLCORE_CHOICE_TOOLS_MAX: usize = 64;

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
/// toolcore_tools_opts_t.flags: let tools of the provider act in the host's name: TOOLCORE_NATIVE_CODE_EXECUTION
/// and TOOLCORE_NATIVE_COMPUTER_USE.
pub const TOOLCORE_RENDER_ALLOW_ACTING: u32 = 4;
/// toolcore_tools_opts_t.flags: mark the end of the tools as the end of what the provider should cache, where it
/// has such a mark.
pub const TOOLCORE_RENDER_CACHE: u32 = 8;
/// toolcore_tools_opts_t.flags: refuse what the provider has no word for (a choice, a word about parallel calls, a
/// tool of its own), in place of dropping it with a note; and more tools than it says that it takes, which
/// otherwise are sent with a note.
pub const TOOLCORE_RENDER_REFUSE_DROPPED: u32 = 16;
/// toolcore_tools_opts_t.flags: the conversation holds calls or results. Where the provider then refuses a request
/// without tools, so is rendering one: ERR_NOT_FOUND.
pub const TOOLCORE_RENDER_AFTER_CALLS: u32 = 32;

/// toolcore_native_tool_t.kind: searches the web.
pub const TOOLCORE_NATIVE_WEB_SEARCH: u32 = 1;
/// toolcore_native_tool_t.kind: runs code that the model writes. It acts in the host's name, see
/// TOOLCORE_RENDER_ALLOW_ACTING.
pub const TOOLCORE_NATIVE_CODE_EXECUTION: u32 = 2;
/// toolcore_native_tool_t.kind: searches documents that were given to the provider.
pub const TOOLCORE_NATIVE_FILE_SEARCH: u32 = 3;
/// toolcore_native_tool_t.kind: looks at a screen and acts on it. It acts in the host's name, see
/// TOOLCORE_RENDER_ALLOW_ACTING.
pub const TOOLCORE_NATIVE_COMPUTER_USE: u32 = 4;
/// toolcore_native_tool_t.kind: makes images.
pub const TOOLCORE_NATIVE_IMAGE_GENERATION: u32 = 5;
/// toolcore_native_tool_t.kind: searches with Google.
pub const TOOLCORE_NATIVE_GOOGLE_SEARCH: u32 = 6;
/// toolcore_native_tool_t.kind: looks places up in Google Maps.
pub const TOOLCORE_NATIVE_GOOGLE_MAPS: u32 = 7;
/// The most tools of the provider in a request.
pub const TOOLCORE_NATIVE_TOOLS_MAX: usize = 16;

/// A tool that runs at the provider. Its calls are the provider's to run; a reply's calls are without them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_native_tool_t {
    /// sizeof(toolcore_native_tool_t), the same in all elements of an array.
    pub struct_size: usize,
    /// The provider's members for it, as a JSON object, such as {"max_uses":2}; they take the place of the library's
    /// own. Empty for none.
    pub config: toolcore_str_t,
    /// One of TOOLCORE_NATIVE_.
    pub kind: u32,
    /// Must be 0.
    pub reserved: u32,
}

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
    /// For TOOLCORE_CHOICE_ALLOWED and TOOLCORE_CHOICE_ALLOWED_REQUIRED: the tools' registered names.
    pub choice_tools: *const toolcore_str_t,
    /// How many, at most TOOLCORE_CHOICE_TOOLS_MAX.
    pub choice_tools_len: usize,
    /// Tools that run at the provider, which come after the registered ones. One that the provider lacks is
    /// dropped with a note.
    pub native: *const toolcore_native_tool_t,
    /// How many, at most TOOLCORE_NATIVE_TOOLS_MAX.
    pub native_len: usize,
}

/// Writes the members of a request that tell the model of the tools, in the order of registration:
/// {"tools":[...],"tool_choice":...}. Without any tool the object is empty.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE; ERR_UNSUPPORTED for a dialect, choice, kind or flag that is not known, for
/// too long a list, and with TOOLCORE_RENDER_REFUSE_DROPPED for what the provider has no word for; ERR_BAD_NAME (two
/// tools with one name on the wire, or a refused alias); ERR_STRICT; ERR_NOT_FOUND if the choice names no tool that
/// is rendered; ERR_NOT_ALLOWED for a tool of the provider that acts in the host's name; ERR_BAD_JSON if its config
/// is no JSON object; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT, also if the config lacks what the provider needs.
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
        let mut names = [""; TOOLCORE_CHOICE_TOOLS_MAX];
        let mut native = [NativeTool::new(NativeKind::WebSearch); TOOLCORE_NATIVE_TOOLS_MAX];
        let options = options(c, &opts, &mut names, &mut native)?;
        let mut notes = |note: Note<'_>| tell_note(&note, opts.note, opts.user_data);
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
                    let before = why.sink().len();
                    error.write_path(registry, why.sink());
                    if why.sink().len() > before {
                        why.sink().put(": ");
                    }
                }
                Err(why.error(error))
            }
        }
    })
}

sized_struct!(toolcore_native_tool_t);
sized_struct!(toolcore_tools_opts_t, since choice_tools);

/// All flags of toolcore_tools_opts_t.
const FLAGS: u32 = TOOLCORE_RENDER_BARE
    | TOOLCORE_RENDER_NO_ALIAS
    | TOOLCORE_RENDER_ALLOW_ACTING
    | TOOLCORE_RENDER_CACHE
    | TOOLCORE_RENDER_REFUSE_DROPPED
    | TOOLCORE_RENDER_AFTER_CALLS;

/// The options; the lists are put into `names` and `native`.
fn options<'a>(
    c: Caller,
    opts: &toolcore_tools_opts_t,
    names: &'a mut [&'a str],
    native: &'a mut [NativeTool<'a>],
) -> Result<ToolsOptions<'a>, Fail> {
    let category = c.text(opts.category)?;
    let tool = c.text(opts.choice_tool)?;
    if opts.flags & !FLAGS != 0 || opts.reserved != 0 {
        return Err(UNKNOWN);
    }
    let flag = |flag| opts.flags & flag != 0;
    let names = c.texts(opts.choice_tools, opts.choice_tools_len, names)?;
    Ok(ToolsOptions {
        category: (!category.is_empty()).then_some(category),
        choice: match opts.choice {
            TOOLCORE_CHOICE_DEFAULT => None,
            TOOLCORE_CHOICE_AUTO => Some(Choice::Auto),
            TOOLCORE_CHOICE_NONE => Some(Choice::None),
            TOOLCORE_CHOICE_REQUIRED => Some(Choice::Required),
            TOOLCORE_CHOICE_TOOL => Some(Choice::Tool(tool)),
            TOOLCORE_CHOICE_ALLOWED => Some(Choice::Allowed { names, required: false }),
            TOOLCORE_CHOICE_ALLOWED_REQUIRED => Some(Choice::Allowed { names, required: true }),
            _ => return Err(UNKNOWN),
        },
        parallel: match opts.parallel {
            TOOLCORE_PARALLEL_DEFAULT => None,
            TOOLCORE_PARALLEL_YES => Some(true),
            TOOLCORE_PARALLEL_NO => Some(false),
            _ => return Err(UNKNOWN),
        },
        native: native_tools(c, opts, native)?,
        allow_acting: flag(TOOLCORE_RENDER_ALLOW_ACTING),
        cache: flag(TOOLCORE_RENDER_CACHE),
        refuse_dropped: flag(TOOLCORE_RENDER_REFUSE_DROPPED),
        after_calls: flag(TOOLCORE_RENDER_AFTER_CALLS),
        no_alias: flag(TOOLCORE_RENDER_NO_ALIAS),
        bare: flag(TOOLCORE_RENDER_BARE),
    })
}

/// The tools of the provider, put into `into`.
fn native_tools<'a>(
    c: Caller,
    opts: &toolcore_tools_opts_t,
    into: &'a mut [NativeTool<'a>],
) -> Result<&'a [NativeTool<'a>], Fail> {
    let list = c.list(opts.native, opts.native_len)?;
    let into = into.get_mut(..list.len()).ok_or(MANY)?;
    for (index, place) in into.iter_mut().enumerate() {
        let tool = list.get(c, index)?;
        if tool.reserved != 0 {
            return Err(UNKNOWN);
        }
        let config = c.text(tool.config)?;
        *place = NativeTool { kind: native(tool.kind)?, config: (!config.is_empty()).then_some(config) };
    }
    Ok(into)
}

fn native(kind: u32) -> Result<NativeKind, Fail> {
    Ok(match kind {
        TOOLCORE_NATIVE_WEB_SEARCH => NativeKind::WebSearch,
        TOOLCORE_NATIVE_CODE_EXECUTION => NativeKind::CodeExecution,
        TOOLCORE_NATIVE_FILE_SEARCH => NativeKind::FileSearch,
        TOOLCORE_NATIVE_COMPUTER_USE => NativeKind::ComputerUse,
        TOOLCORE_NATIVE_IMAGE_GENERATION => NativeKind::ImageGeneration,
        TOOLCORE_NATIVE_GOOGLE_SEARCH => NativeKind::GoogleSearch,
        TOOLCORE_NATIVE_GOOGLE_MAPS => NativeKind::GoogleMaps,
        _ => return Err(UNKNOWN),
    })
}

fn tell_note(note: &Note<'_>, to: TellFn, user_data: *mut c_void) {
    if to.is_none() {
        return;
    }
    let (mut path, mut message) = ([0u8; 256], [0u8; 256]);
    let (mut path, mut message) = (Sink::new(&mut path), Sink::new(&mut message));
    note.write_path(&mut path);
    note.write_message(&mut message);
    tell(to, user_data, [note.tool, path.finish_cut(), message.finish_cut()]);
}
