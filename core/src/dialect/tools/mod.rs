//! Telling the model what tools there are.
//!
//! What a provider cannot be told is changed, and each change is a [`Note`]; what may not be changed is a
//! [`RenderError`].

mod choice;
mod error;
mod note;
mod request;

pub use choice::Choice;
pub use error::{RenderError, RenderErrorKind};
pub use note::{Note, NoteKind};
pub(crate) use request::{WireRequest, WireTool};

use super::native::{NativeForm, NativeTool};
use super::{Dialect, alias};
use crate::json::{self, Kind, Writer};
use crate::registry::{Hook, Registry, ToolInfo};
use crate::schema::{Counts, StrictProblem};
use crate::sink::{NoSpace, Sink};
use choice::{check_choice, expressible};

/// What is rendered, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolsOptions<'a> {
    /// Only the tools of this category.
    pub category: Option<&'a str>,
    /// Which tool the model may or must call; `None` leaves it to the provider's default.
    pub choice: Option<Choice<'a>>,
    /// Whether the model may call several tools in one turn; `None` leaves it to the provider's default.
    pub parallel: Option<bool>,
    /// Tools that run at the provider.
    pub native: &'a [NativeTool<'a>],
    /// Whether those among them that act in the host's name may be used: code execution and computer use.
    pub allow_acting: bool,
    /// Mark the end of the tools as the end of what the provider should cache, where it has such a mark.
    pub cache: bool,
    /// Refuse what the provider has no word for, in place of dropping it with a note: a choice, a word about
    /// parallel calls, a native tool, strict. Also refuse more tools than the provider says that it takes; without this
    /// they are sent with a note, since a server that imitates it may take more.
    pub refuse_dropped: bool,
    /// Refuse a name that the provider's rule does not allow, in place of sending an alias.
    pub no_alias: bool,
    /// The conversation holds calls or results. Where a provider then refuses a request without tools, so is
    /// rendering one.
    pub after_calls: bool,
    /// Leave the enclosing braces out, so that the members can be pasted into a request.
    pub bare: bool,
}

/// Writes the members of a request that tell the model of the tools: `{"tools":[…],"tool_choice":…}`, in
/// the order of registration, those of the provider after them. Without any tool the object is empty. For a
/// text form: the section of the prompt.
///
/// What had to be changed for the provider is told to `notes`. On failure nothing that was written may be
/// used.
pub fn render_tools<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    options: &ToolsOptions<'_>,
    sink: &mut Sink<'_>,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<(), RenderError> {
    let start = sink.len();
    let result = render(registry, dialect, options, sink, notes);
    if result.is_err() {
        sink.truncate(start);
    }
    result
}

fn render<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    options: &ToolsOptions<'_>,
    sink: &mut Sink<'_>,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<(), RenderError> {
    dialect.built_in().map_err(RenderErrorKind::LeftOut)?;
    let (wire, rule) = (dialect.wire(), dialect.name_rule());
    let facts = wire.facts();
    let of_category =
        |tool: &ToolInfo<'_>| options.category.is_none_or(|category| tool.category() == category);
    check_choice(registry, options, &of_category)?;
    check_native(dialect, options, notes)?;
    let choice = expressible(&facts, options, notes)?;
    // A dialect without a word for it is told of no tool at all, or only of those that may be called.
    let told = |tool: &ToolInfo<'_>| {
        of_category(tool)
            && (facts.choice.allowed || options.choice.is_none_or(|choice| choice.allows(tool.name())))
            && !(options.choice == Some(Choice::None) && facts.choice.none_is_no_tool)
    };
    let count = registry.infos().filter(told).count();
    if count > facts.max_tools {
        if options.refuse_dropped {
            return Err(RenderErrorKind::ManyTools { count, max: facts.max_tools }.into());
        }
        notes(Note { tool: "", kind: NoteKind::ManyTools(facts.max_tools) });
    }
    if count == 0 && options.after_calls && facts.tools_after_calls {
        return Err(RenderErrorKind::NoTools.into());
    }
    let (parallel, cache, native) = (options.parallel, options.cache, options.native);
    let parallel = parallel.filter(|_| facts.choice.parallel);
    let strict = registry.infos().filter(told).filter(|tool| tool.strict()).count();
    if facts.strict_together && strict > 0 && strict < count {
        if options.refuse_dropped {
            return Err(RenderErrorKind::StrictDropped.into());
        }
        notes(Note { tool: "", kind: NoteKind::StrictDropped });
    }
    let strict = strict > 0 && strict == count;
    let request = WireRequest { choice, parallel, cache, any: count > 0, strict, native, dialect };
    let mut out = Writer::new(sink);
    let braces = !options.bare && dialect.text_form().is_none();
    if braces {
        out.object_start();
    }
    let mut left = count;
    if count > 0 || request.native().next().is_some() || facts.lists_nothing {
        wire.tools_start(&request, &mut out);
        let mut counts = Counts::default();
        for (position, info) in registry.infos().enumerate().filter(|(_, info)| of_category(info)) {
            if !told(&info) {
                notes(Note { tool: info.name(), kind: NoteKind::LeftOut });
                continue;
            }
            let failed = |kind| RenderError { tool: Some(position), kind };
            let name = rule.wire_name(info.name());
            check(registry, dialect, options, position, info, &name, notes).map_err(failed)?;
            left = left.saturating_sub(1);
            let ends_cache = cache && left == 0 && request.native().next().is_none();
            if info.strict() && wire.strict().is_none() {
                if options.refuse_dropped {
                    return Err(failed(RenderErrorKind::StrictDropped));
                }
                notes(Note { tool: info.name(), kind: NoteKind::StrictDropped });
            }
            let strict =
                wire.strict().filter(|_| info.strict() && (request.strict || !facts.strict_together));
            let tool = WireTool::new(&name, info, strict, ends_cache);
            wire.tool(&tool, notes, &mut out);
            let written = tool.written().map_err(RenderErrorKind::Strict).map_err(failed)?;
            if let Some(kind) = strict.and_then(|subset| counts.add(written, subset)) {
                return Err(failed(RenderErrorKind::Strict(StrictProblem { kind, offset: 0 })));
            }
        }
        wire.tools_end(&request, &mut out);
    }
    if braces {
        out.object_end();
    }
    if sink.overflowed() {
        return Err(RenderErrorKind::NoSpace(NoSpace { need: sink.len() }).into());
    }
    Ok(())
}

/// Checks what the provider's rules say of one tool, and notes what is changed.
fn check<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    options: &ToolsOptions<'_>,
    position: usize,
    info: ToolInfo<'_>,
    name: &str,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<(), RenderErrorKind> {
    let rule = dialect.name_rule();
    if name != info.name() {
        if options.no_alias {
            return Err(RenderErrorKind::Name { max: rule.max, len: info.name().len() });
        }
        if alias::resolve(registry, rule, name) != Some(position) {
            return Err(RenderErrorKind::AliasClash);
        }
        notes(Note { tool: info.name(), kind: NoteKind::Alias(name) });
    }
    let forms = dialect.wire().native().iter();
    let native = forms.filter(|form| options.native.iter().any(|tool| tool.kind == form.kind));
    if native.filter_map(NativeForm::name).any(|native| native == name) {
        return Err(RenderErrorKind::AliasClash);
    }
    let guards = |text| dialect.text_form().is_some_and(|form| form.guards(text));
    if guards(info.description()) || guards(info.parameters().text()) {
        return Err(RenderErrorKind::ControlToken);
    }
    Ok(())
}

/// Refuses or drops tools of the provider.
fn check_native(
    dialect: Dialect,
    options: &ToolsOptions<'_>,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<(), RenderErrorKind> {
    let forms = dialect.wire().native();
    let form_of = |tool: &NativeTool<'_>| forms.iter().find(|form| form.kind == tool.kind);
    for (position, NativeTool { kind, config }) in options.native.iter().copied().enumerate() {
        if kind.acts() && !options.allow_acting {
            return Err(RenderErrorKind::NotAllowed(kind));
        }
        let Some(form) = form_of(&NativeTool { kind, config }) else {
            if options.refuse_dropped {
                return Err(RenderErrorKind::Native(kind));
            }
            notes(Note { tool: "", kind: NoteKind::NativeDropped(kind) });
            continue;
        };
        if options.native.iter().take(position).filter_map(form_of).any(|other| form.excludes(other)) {
            return Err(RenderErrorKind::NativeTwice(kind));
        }
        let config = config.map(|text| json::parse(text.as_bytes(), &json::Options::default()).ok());
        let config = config.map(|config| config.filter(|config| config.kind() == Kind::Object));
        if matches!(config, Some(None)) {
            return Err(RenderErrorKind::BadConfig(kind));
        }
        let lacks = !form.needs.is_empty() && config.flatten().is_none_or(|it| it.get(form.needs).is_none());
        if lacks {
            return Err(RenderErrorKind::ConfigLacks { kind, member: form.needs });
        }
    }
    Ok(())
}
