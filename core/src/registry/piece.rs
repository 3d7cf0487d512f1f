//! A tool's piece of the pool: its strings and its compiled schema, one after the other.

use super::{AddError, RegistryOptions, WriteSchema};
use crate::json::Writer;
use crate::schema::{self, CheckOptions, ParameterError, Schema, WrongDefault};
use crate::sink::Sink;
use crate::tool::{Parameters, ToolDefinition};

/// What stands in a piece: name, title, description, category, the parameters' schema, the output schema and
/// the program.
pub(super) const PIECES: usize = 7;

/// A tool's strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'a> {
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) category: &'a str,
    /// `None` if the parameters were declared: their schema is written when they are added.
    pub(super) schema: Option<&'a str>,
    pub(super) output: &'a str,
}

impl<'a> Texts<'a> {
    pub(super) fn of(tool: &ToolDefinition<'a>) -> Self {
        Texts {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            category: tool.category,
            schema: match tool.parameters {
                Parameters::Schema(text) => Some(text),
                Parameters::Declared(_) => None,
            },
            output: tool.output_schema.unwrap_or_default(),
        }
    }
}

/// Writes a tool's strings (unless they are fixed) and its program to the beginning of `piece`; gives
/// where each of them ends.
pub(super) fn write_piece(
    tool: &ToolDefinition<'_>,
    fixed: bool,
    write: Option<&WriteSchema<'_>>,
    options: &RegistryOptions<'_>,
    piece: &mut [u8],
    why: &mut Sink<'_>,
) -> Result<[u32; PIECES], AddError> {
    let room = piece.len();
    let no_space = |need| AddError::NoSpace { need, room };
    let texts = Texts::of(tool);
    let mut ends = [0usize; PIECES];
    let mut sink = Sink::new(piece);
    let [before_schema @ .., schema, output, program] = &mut ends;
    for (end, text) in
        before_schema.iter_mut().zip([texts.name, texts.title, texts.description, texts.category])
    {
        sink.put(if fixed { "" } else { text });
        *end = sink.len();
    }
    let schema_start = sink.len();
    match tool.parameters {
        Parameters::Schema(text) => sink.put(if fixed { "" } else { text }),
        Parameters::Declared(parameters) => {
            let mut out = Writer::new(&mut sink);
            let mut name = [0u8; 64];
            let mut place = Sink::new(&mut name);
            let written = match write {
                Some(write) => write(&mut out, &mut place),
                None => schema::write_schema(parameters, &mut out, &mut place),
            };
            if let Err(error) = written {
                why.put("parameter '");
                why.put(place.finish_cut());
                core::fmt::Write::write_fmt(why, format_args!("': {error}")).ok();
                return Err(AddError::Declared(error));
            }
        }
    }
    *schema = sink.len();
    sink.put(if fixed { "" } else { texts.output });
    *output = sink.len();
    if sink.overflowed() {
        return Err(no_space(sink.len()));
    }
    let before = *output;
    let (strings, memory) = piece.split_at_mut_checked(before).ok_or(no_space(before))?;
    let mut compile = |text| {
        schema::compile_with(text, options.resources, &options.compile, memory).inspect_err(|error| {
            if error.no_space().is_none() {
                error.write_message_with(text, options.resources, why);
            }
        })
    };
    if let Some(text) = tool.output_schema {
        // Compiled to find out whether it can be enforced; results are not checked against it yet.
        compile(text).map_err(|error| match error.no_space() {
            Some(need) => no_space(before + need),
            None => AddError::OutputSchema(error),
        })?;
    }
    let written = core::str::from_utf8(strings.get(schema_start..*schema).unwrap_or_default());
    let text = texts.schema.unwrap_or(written.unwrap_or_default());
    let size = compile(text).map_err(|error| match error.no_space() {
        Some(need) => no_space(before + need),
        None => AddError::Parameters(error),
    })?;
    let made = memory.get(..size).unwrap_or_default();
    let compiled = Schema::with_resources(text, options.resources, made);
    if !compiled.accepts_object() {
        return Err(AddError::NotAnObject);
    }
    match tool.parameters {
        Parameters::Declared(_) => check_defaults(compiled, why)?,
        Parameters::Schema(_) if tool.coerce => tell_wrong_defaults(compiled, why),
        Parameters::Schema(_) => {}
    }
    *program = before + size;
    let mut narrow = [0u32; PIECES];
    for (narrow, end) in narrow.iter_mut().zip(ends) {
        *narrow = u32::try_from(end).map_err(|_| no_space(end))?;
    }
    Ok(narrow)
}

/// Refuses a declared parameter whose default it does not accept: a mistake of the host.
#[inline(never)]
fn check_defaults(schema: Schema<'_>, why: &mut Sink<'_>) -> Result<(), AddError> {
    let mut wrong = false;
    each_wrong_default(schema, &mut |default| {
        if !core::mem::replace(&mut wrong, true) {
            let error = ParameterError::Default;
            why.put("parameter '");
            default.name().decode(why);
            core::fmt::Write::write_fmt(why, format_args!("': {error}")).ok();
        }
    });
    if wrong { Err(AddError::Declared(ParameterError::Default)) } else { Ok(()) }
}

/// Says which defaults of a schema will not be filled in. Such a schema is often not the host's own, and does
/// not fail for that.
#[inline(never)]
fn tell_wrong_defaults(schema: Schema<'_>, why: &mut Sink<'_>) {
    let start = why.len();
    each_wrong_default(schema, &mut |default| {
        why.put(if why.len() > start { "; " } else { "parameters: " });
        default.write_path(why);
        why.put(": its default is not a value that it accepts, and is not filled in");
    });
}

/// What takes more work than there is here is left to when it is to be filled in.
fn each_wrong_default(schema: Schema<'_>, found: &mut dyn FnMut(&WrongDefault<'_>)) {
    schema::wrong_defaults(schema, &CheckOptions::default(), &mut [0; 256], found).ok();
}
