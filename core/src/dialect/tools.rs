//! Telling the model what tools there are.

use super::native::{NativeKind, NativeTool, WireNative};
use super::{Dialect, alias};
use crate::json::{self, Kind, Writer, pointer_at};
use crate::registry::{Hook, Registry, ToolInfo};
use crate::schema::{self, Change, ChangeKind, Counts, StrictProblem, Subset};
use crate::sink::{NoSpace, Sink};
use core::cell::Cell;

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
    /// parallel calls, a native tool, strict.
    pub refuse_dropped: bool,
    /// Refuse a name that the provider's rule does not allow, in place of sending an alias.
    pub no_alias: bool,
    /// The conversation holds calls or results. Where a provider then refuses a request without tools, so is
    /// rendering one.
    pub after_calls: bool,
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
    /// One of these. A provider without a word for it is told of no other tool.
    Allowed {
        /// Their registered names.
        names: &'a [&'a str],
        /// At least one must be called.
        required: bool,
    },
}

impl Choice<'_> {
    /// Whether a tool may be called.
    fn allows(self, name: &str) -> bool {
        match self {
            Choice::Allowed { names, .. } => names.contains(&name),
            _ => true,
        }
    }

    /// The names that it gives.
    fn names(&self) -> &[&str] {
        match self {
            Choice::Tool(name) => core::slice::from_ref(name),
            Choice::Allowed { names, .. } => names,
            _ => &[],
        }
    }
}

/// Something that was changed so that the provider takes it. Local checks use the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The tool's registered name; empty if it is about none.
    pub tool: &'a str,
    /// What was changed.
    pub kind: NoteKind<'a>,
    /// The text that it is about: that of the tool's schema or output schema as it was, or of a resource;
    /// empty if it is about none.
    pub schema: &'a str,
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
    /// Something else was changed in the tool's schema. Never one of the two above.
    Schema(Change<'a>),
    /// The dialect has no word for the choice or for parallel calls.
    ChoiceDropped,
    /// The provider has no such tool.
    NativeDropped(NativeKind),
    /// The tool is not told of, since the choice leaves it out and the dialect has no word for that.
    LeftOut,
    /// The tool is not strict: the provider has no strict mode. About no tool: it takes strict for all tools or
    /// for none, and not all are strict.
    StrictDropped,
    /// There are more tools than the provider takes, which is this many.
    ManyTools(usize),
}

impl Note<'_> {
    /// Appends the JSON Pointer of the place in the tool's schema; nothing for its root, or if it is about
    /// none.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        match self.kind {
            NoteKind::PropertiesAdded(offset) => pointer_at(self.schema, offset, sink),
            NoteKind::Schema(change) => change.write_path(sink),
            NoteKind::Alias(_)
            | NoteKind::TypeAdded
            | NoteKind::ChoiceDropped
            | NoteKind::NativeDropped(_)
            | NoteKind::LeftOut
            | NoteKind::StrictDropped
            | NoteKind::ManyTools(_) => {}
        }
    }

    /// Appends what happened, as a sentence.
    pub fn write_message(&self, sink: &mut Sink<'_>) {
        match self.kind {
            NoteKind::Alias(alias) => {
                sink.put("sent as '");
                sink.put(alias);
                sink.put("': the provider does not allow the name");
            }
            NoteKind::PropertiesAdded(_) => sink.put(ChangeKind::PropertiesAdded.message()),
            NoteKind::TypeAdded => sink.put(ChangeKind::TypeAdded.message()),
            NoteKind::Schema(change) => sink.put(change.kind.message()),
            NoteKind::ChoiceDropped => sink.put("dropped: the dialect has no word for the choice"),
            NoteKind::NativeDropped(kind) => {
                sink.put("dropped: the provider has no tool '");
                sink.put(kind.name());
                sink.put("'");
            }
            NoteKind::LeftOut => sink.put("left out: the choice does not allow it"),
            NoteKind::StrictDropped if !self.tool.is_empty() => {
                sink.put("not strict: the provider has no strict mode");
            }
            NoteKind::StrictDropped => sink.put("not strict: the provider takes that for all tools or none"),
            NoteKind::ManyTools(max) => {
                sink.put("the provider takes at most ");
                sink.put_u64(max as u64);
                sink.put(" tools");
            }
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

impl RenderError {
    /// Appends the JSON Pointer of the place in the schema of the tool that it is about: `registry` is the one
    /// that was rendered. Nothing for its root, or if it is about no place.
    pub fn write_path<H, K: Hook>(&self, registry: &Registry<'_, H, K>, sink: &mut Sink<'_>) {
        let tool = self.tool.and_then(|position| registry.at(position));
        if let (RenderErrorKind::Strict(problem), Some(tool)) = (self.kind, tool) {
            problem.write_path(tool.info.parameters().text(), sink);
        }
    }
}

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
    /// The dialect has no word for the choice or for parallel calls, and nothing may be dropped.
    #[error("the dialect has no word for the choice or for parallel calls")]
    Choice,
    /// The provider has no such tool, and nothing may be dropped.
    #[error("the provider has no tool {}", .0.name())]
    Native(NativeKind),
    /// The provider has no strict mode, or takes strict for all tools or none, and nothing may be dropped.
    #[error(
        "the provider cannot be asked to hold this tool to its schema: it has no strict mode, or one for all tools"
    )]
    StrictDropped,
    /// The description or the schema holds a control token of the chat template.
    #[error("its description or schema holds a control token of the chat template")]
    ControlToken,
    /// The conversation holds calls, and the provider refuses it without any tool.
    #[error("no tool is rendered, but the conversation holds calls; render the tools that it names")]
    NoTools,
    /// A tool of the provider acts in the host's name, which was not allowed.
    #[error("{} acts in the host's name; allow it", .0.name())]
    NotAllowed(NativeKind),
    /// The configuration of a tool of the provider is no JSON object.
    #[error("the configuration of {} is no JSON object", .0.name())]
    BadConfig(NativeKind),
    /// A tool of the provider needs a configuration with this member.
    #[error("{} needs a configuration with '{member}'", .kind.name())]
    ConfigLacks {
        /// The tool.
        kind: NativeKind,
        /// The member.
        member: &'static str,
    },
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
    /// What the provider's strict mode demands, for a tool that is strict.
    strict: Option<&'static Subset>,
    /// What came of the schema.
    written: Cell<Result<Counts, StrictProblem>>,
    /// It is the last of all tools, and the end of what is to be cached.
    pub(crate) ends_cache: bool,
}

impl WireTool<'_> {
    /// Writes the parameters' schema so that the provider takes it: in the strict subset if the tool is strict
    /// and the dialect has one, else in `subset`.
    pub(crate) fn write_schema(
        &self,
        subset: &Subset,
        out: &mut Writer<'_, '_>,
        notes: &mut dyn FnMut(Note<'_>),
    ) {
        let subset = self.strict.unwrap_or(subset);
        self.written.set(self.lower(self.info.parameters().text(), subset, out, notes));
    }

    /// Writes the output schema, if the tool has one, as the member `key`.
    pub(crate) fn write_output(
        &self,
        key: &str,
        subset: &Subset,
        out: &mut Writer<'_, '_>,
        notes: &mut dyn FnMut(Note<'_>),
    ) {
        if let Some(schema) = self.info.output_schema() {
            out.key(key);
            // Only a strict subset refuses a schema, and these are none.
            let _ = self.lower(schema, subset, out, notes);
        }
    }

    fn lower(
        &self,
        schema: &str,
        subset: &Subset,
        out: &mut Writer<'_, '_>,
        notes: &mut dyn FnMut(Note<'_>),
    ) -> Result<Counts, StrictProblem> {
        let (tool, resources) = (self.info.name(), self.info.parameters().resources());
        schema::lower_counted(schema, resources, subset, out, &mut |change| {
            let kind = match change.kind {
                ChangeKind::PropertiesAdded => NoteKind::PropertiesAdded(change.offset),
                ChangeKind::TypeAdded if change.is_root() => NoteKind::TypeAdded,
                _ => NoteKind::Schema(change),
            };
            notes(Note { tool, kind, schema: change.schema });
        })
    }
}

/// What of a request stands around the tools.
pub(crate) struct WireRequest<'a> {
    pub(crate) choice: Option<Choice<'a>>,
    pub(crate) parallel: Option<bool>,
    pub(crate) cache: bool,
    /// Whether there is any tool beside those of the provider.
    pub(crate) any: bool,
    /// Whether all of them are strict.
    pub(crate) strict: bool,
    pub(crate) native: &'a [NativeTool<'a>],
    pub(crate) dialect: Dialect,
}

impl<'a> WireRequest<'a> {
    /// A tool's name on the wire.
    pub(crate) fn wire_name(&self, name: &str) -> alias::WireName {
        self.dialect.name_rule().wire_name(name)
    }

    /// The provider's tools that it has a form for.
    pub(crate) fn native(&self) -> impl Iterator<Item = WireNative<'a>> {
        let forms = self.dialect.wire().native();
        self.native.iter().filter_map(move |tool| {
            let form = forms.iter().find(|form| form.kind == tool.kind)?;
            let config = tool.config.map(crate::json::Value::from_checked);
            Some(WireNative { form, config })
        })
    }
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
        notes(Note { tool: "", kind: NoteKind::ManyTools(facts.max_tools), schema: "" });
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
        notes(Note { tool: "", kind: NoteKind::StrictDropped, schema: "" });
    }
    let strict = strict > 0 && strict == count;
    let request = WireRequest { choice, parallel, cache, any: count > 0, strict, native, dialect };
    let mut out = Writer::new(sink);
    let braces = !options.bare && wire.text_form().is_none();
    if braces {
        out.object_start();
    }
    let mut left = count;
    if count > 0 || request.native().next().is_some() || facts.lists_nothing {
        wire.tools_start(&request, &mut out);
        let mut counts = Counts::default();
        for (position, info) in registry.infos().enumerate().filter(|(_, info)| of_category(info)) {
            if !told(&info) {
                notes(Note { tool: info.name(), kind: NoteKind::LeftOut, schema: "" });
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
                notes(Note { tool: info.name(), kind: NoteKind::StrictDropped, schema: "" });
            }
            let strict =
                wire.strict().filter(|_| info.strict() && (request.strict || !facts.strict_together));
            let written = Cell::new(Ok(Counts::default()));
            let tool = WireTool { name: &name, info, strict, written, ends_cache };
            wire.tool(&tool, notes, &mut out);
            let written = tool.written.get().map_err(RenderErrorKind::Strict).map_err(failed)?;
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

/// Refuses a choice of tools that are not there.
fn check_choice<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    options: &ToolsOptions<'_>,
    of_category: &dyn Fn(&ToolInfo<'_>) -> bool,
) -> Result<(), RenderErrorKind> {
    let Some(choice) = options.choice else { return Ok(()) };
    let there = |name: &str| registry.get(name).is_some_and(|tool| of_category(&tool.info));
    let known = choice.names().iter().all(|name| there(name));
    let must = matches!(choice, Choice::Required | Choice::Allowed { .. });
    let any = match choice {
        Choice::Allowed { names, .. } => !names.is_empty(),
        _ => !options.native.is_empty() || registry.infos().any(|info| of_category(&info)),
    };
    if known && (any || !must) { Ok(()) } else { Err(RenderErrorKind::UnknownChoice) }
}

/// Refuses or drops tools of the provider.
fn check_native(
    dialect: Dialect,
    options: &ToolsOptions<'_>,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<(), RenderErrorKind> {
    for NativeTool { kind, config } in options.native.iter().copied() {
        if kind.acts() && !options.allow_acting {
            return Err(RenderErrorKind::NotAllowed(kind));
        }
        let Some(form) = dialect.wire().native().iter().find(|form| form.kind == kind) else {
            if options.refuse_dropped {
                return Err(RenderErrorKind::Native(kind));
            }
            notes(Note { tool: "", kind: NoteKind::NativeDropped(kind), schema: "" });
            continue;
        };
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

/// The choice as far as the dialect has words for it.
fn expressible<'a>(
    facts: &super::Facts,
    options: &ToolsOptions<'a>,
    notes: &mut dyn FnMut(Note<'_>),
) -> Result<Option<Choice<'a>>, RenderErrorKind> {
    let words = &facts.choice;
    let choice = match options.choice {
        // Fewer tools are told of.
        Some(Choice::Allowed { required, .. }) if !words.allowed => {
            Some(if required { Choice::Required } else { Choice::Auto })
        }
        choice => choice,
    };
    let said = match choice {
        None => true,
        Some(Choice::Auto) => true,
        Some(Choice::None) => words.none || words.none_is_no_tool,
        Some(Choice::Required) => words.required,
        Some(Choice::Tool(_)) => words.tool,
        Some(Choice::Allowed { .. }) => words.allowed,
    };
    if !said || options.parallel.is_some() && !words.parallel {
        if options.refuse_dropped {
            return Err(RenderErrorKind::Choice);
        }
        notes(Note { tool: "", kind: NoteKind::ChoiceDropped, schema: "" });
    }
    Ok(choice.filter(|_| said && words.auto))
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
        notes(Note { tool: info.name(), kind: NoteKind::Alias(name), schema: "" });
    }
    let guards = |text| dialect.wire().text_form().is_some_and(|form| form.guards(text));
    if guards(info.description()) || guards(info.parameters().text()) {
        return Err(RenderErrorKind::ControlToken);
    }
    Ok(())
}
