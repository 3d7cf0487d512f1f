//! Telling the model what tools there are.

use super::{Dialect, NameRule, alias};
use crate::json::Writer;
use crate::registry::{Hook, Registry, ToolInfo};
use crate::schema::{self, Change};
use crate::sink::{NoSpace, Sink};

/// What is rendered, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolsOptions<'a> {
    /// Only the tools of this category.
    pub category: Option<&'a str>,
    /// Which tool the model may or must call; `None` leaves it to the provider's default.
    pub choice: Option<Choice<'a>>,
    /// Whether the model may call several tools in one turn; `None` leaves it to the provider's default.
    pub parallel: Option<bool>,
    /// Refuse a name that the provider's rule does not allow, in place of sending an alias.
    pub no_alias: bool,
    /// Leave the enclosing braces out, so that the members can be pasted into a request.
    pub bare: bool,
}

/// Which tool the model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// As it likes.
    Auto,
    /// None.
    None,
    /// At least one, whichever it likes.
    Required,
    /// This one.
    Tool(&'a str),
}

/// Something that was changed so that the provider takes it. Local checks use the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The tool's registered name; empty if it is about none.
    pub tool: &'a str,
    /// What was changed.
    pub kind: NoteKind<'a>,
}

/// What was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind<'a> {
    /// The name was sent as this alias.
    Alias(&'a str),
    /// An object schema got empty `properties`; the offset is the place in the tool's schema text.
    PropertiesAdded(usize),
    /// The root schema got `"type":"object"`.
    TypeAdded,
    /// The dialect has no word for the choice or for parallel calls.
    ChoiceDropped,
}

impl Note<'_> {
    /// Appends what happened, as a sentence.
    pub fn write_message(&self, sink: &mut Sink<'_>) {
        match self.kind {
            NoteKind::Alias(alias) => {
                sink.put("sent as '");
                sink.put(alias);
                sink.put("': the provider does not allow the name");
            }
            NoteKind::PropertiesAdded(_) => sink.put("empty properties added: the provider wants them"),
            NoteKind::TypeAdded => sink.put("type object added: the provider wants it"),
            NoteKind::ChoiceDropped => sink.put("the dialect has no tool choice"),
        }
    }
}

/// Why the tools were not rendered. Nothing in the output may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
#[error("{kind}")]
pub struct RenderError {
    /// The place of the tool in the order of registration, if it is about one.
    pub tool: Option<usize>,
    /// What is wrong.
    pub kind: RenderErrorKind,
}
impl core::error::Error for RenderError {}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum RenderErrorKind {
    /// The output is too small.
    #[error("{0}")]
    NoSpace(NoSpace),
    /// The provider does not allow the name, and aliases were refused.
    #[error(
        "the provider allows names of at most {max} bytes of A-Z a-z 0-9 _ -, this one has {len}; allow aliases or rename it"
    )]
    Name {
        /// The most bytes that the provider allows.
        max: usize,
        /// The bytes that the name has.
        len: usize,
    },
    /// Two tools would have the same name on the wire.
    #[error("its name on the wire is that of another tool; rename one of them")]
    AliasClash,
    /// The schema does not fit the provider's strict subset.
    #[error("strict is not possible: {0}")]
    Strict(schema::StrictProblem),
    /// The choice names a tool that is not there.
    #[error("the choice names a tool that is not rendered")]
    UnknownChoice,
}
impl core::error::Error for RenderErrorKind {}

impl From<RenderErrorKind> for RenderError {
    fn from(kind: RenderErrorKind) -> Self {
        RenderError { tool: None, kind }
    }
}

/// A tool on its way out: its name on the wire and what is known of it.
pub(crate) struct WireTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) info: ToolInfo<'a>,
}

impl WireTool<'_> {
    /// Writes the parameters' schema so that the provider takes it.
    pub(crate) fn write_schema(&self, out: &mut Writer<'_, '_>, notes: &mut dyn FnMut(Note<'_>)) {
        let tool = self.info.name();
        schema::write_lowered(self.info.parameters().text(), out, &mut |change| {
            let kind = match change {
                Change::PropertiesAdded { offset } => NoteKind::PropertiesAdded(offset),
                Change::TypeAdded => NoteKind::TypeAdded,
            };
            notes(Note { tool, kind });
        });
    }
}

/// The choice with names as they are on the wire.
pub(crate) struct WireChoice<'a> {
    pub(crate) choice: Option<Choice<'a>>,
    pub(crate) parallel: Option<bool>,
}

/// Writes the members of a request that tell the model of the tools: `{"tools":[…],"tool_choice":…}`, in
/// the order of registration. Without any tool the object is empty.
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
    let (wire, rule) = (dialect.wire(), dialect.name_rule());
    let wanted = |tool: &ToolInfo<'_>| options.category.is_none_or(|category| tool.category() == category);
    let mut out = Writer::new(sink);
    if !options.bare {
        out.object_start();
    }
    let mut any = false;
    for (position, info) in registry.infos().enumerate().filter(|(_, info)| wanted(info)) {
        if !any {
            wire.tools_start(&mut out);
            any = true;
        }
        let name = rule.wire_name(info.name());
        check(registry, dialect, options, position, info, &name, notes)
            .map_err(|kind| RenderError { tool: Some(position), kind })?;
        wire.tool(&WireTool { name: &name, info }, notes, &mut out);
    }
    let facts = wire.facts();
    if any || facts.lists_nothing {
        if !any {
            wire.tools_start(&mut out);
        }
        let name = chosen(registry, rule, options, &wanted)?;
        let choice = match options.choice {
            Some(Choice::Tool(_)) => Some(Choice::Tool(&name)),
            other => other,
        };
        if !facts.has_choice && (choice.is_some() || options.parallel.is_some()) {
            notes(Note { tool: "", kind: NoteKind::ChoiceDropped });
        }
        wire.tools_end(&WireChoice { choice, parallel: options.parallel }, &mut out);
    } else if matches!(options.choice, Some(Choice::Tool(_) | Choice::Required)) {
        return Err(RenderErrorKind::UnknownChoice.into());
    }
    if !options.bare {
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
    if info.strict()
        && let Some(subset) = dialect.wire().strict()
        && let Some(problem) = schema::strict_problem(info.parameters().text(), subset)
    {
        return Err(RenderErrorKind::Strict(problem));
    }
    Ok(())
}

/// The name on the wire of the tool that the choice names; empty if it names none.
fn chosen<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    rule: NameRule,
    options: &ToolsOptions<'_>,
    wanted: &dyn Fn(&ToolInfo<'_>) -> bool,
) -> Result<alias::WireName, RenderError> {
    match options.choice {
        Some(Choice::Tool(name)) => match registry.get(name) {
            Some(tool) if wanted(&tool.info) => Ok(rule.wire_name(name)),
            _ => Err(RenderErrorKind::UnknownChoice.into()),
        },
        _ => Ok(alias::WireName::new()),
    }
}
