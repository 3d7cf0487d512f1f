//! From a schema's text to its program: the options and the entry points.
//!
//! One [pass](super::pass) over the text with an explicit, bounded stack of the schemas that are open; then
//! the references, in [`refs`](super::refs). Time is linear in the text, up to a logarithm for sorting the
//! names of large objects and the references. Keyword rules are those of JSON Schema Core and Validation,
//! drafts 2020-12 and 7.
//!
//! Three kinds of keyword: those that are enforced; annotations and unknown ones, which change nothing and
//! are skipped; and those that would change what is accepted but cannot be enforced, which are refused by
//! name. So a program accepts what its schema accepts, or there is no program.

use super::compiler::Compiler;
use super::entry::Entry;
use super::error::{SchemaError, SchemaErrorKind};
use super::pass::{Levels, NO_LEVELS};
use super::source::{Resource, Texts};
use crate::json;

/// How to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// Schemas that may be open inside one another. More than [`MAX_LEVELS`] means [`MAX_LEVELS`].
    pub max_depth: u16,
    /// The dialect of a schema that has no `$schema`.
    pub default_draft: Draft,
    /// Whether `format` is asserted where it is known; otherwise it changes nothing.
    #[cfg(feature = "format")]
    pub formats: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            max_depth: MAX_LEVELS,
            default_draft: Draft::Draft2020,
            #[cfg(feature = "format")]
            formats: false,
        }
    }
}

/// A dialect of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// Draft 2020-12.
    Draft2020,
    /// Draft 7, in which `$ref` cancels the keywords beside it.
    Draft7,
}

/// The deepest nesting of schemas that can be compiled.
pub const MAX_LEVELS: u16 = 64;

/// Compiles `text` into `memory` and gives the bytes used, at its start. Too little memory is an error that
/// names how much would do. Objects of more than 64 names, references, and patterns in which something is
/// repeated no times need some memory on the way that is free again in the end.
///
/// The program takes a header of 16 bytes, and at most 8 bytes for each byte of `text` and of what is compiled
/// of resources; schemas of tools take less than a third of their text.
///
/// The program refers to `text` and to itself by offsets, so both can be moved.
pub fn compile(text: &str, options: &CompileOptions, memory: &mut [u8]) -> Result<usize, SchemaError> {
    compile_with(text, &[], options, memory)
}

/// As [`compile`], for a schema whose references may lead into `resources`. Of these, only what is referred
/// to is compiled; nothing else is ever fetched. A reference that leads nowhere is refused.
///
/// Each resource has the URI that it is handed over with, and its `$id` if it has one. A relative reference
/// of `text` has no base unless `text` has an `$id`.
pub fn compile_with(
    text: &str,
    resources: &[Resource<'_>],
    options: &CompileOptions,
    memory: &mut [u8],
) -> Result<usize, SchemaError> {
    let texts = checked(Texts { first: text, more: resources })?;
    let mut levels = NO_LEVELS;
    let given = memory.len();
    let run = run(texts, options, memory, &mut levels)?;
    if run.fits {
        return Ok(run.size);
    }
    // Measured from the beginning, so that the answer does not depend on how much memory there was.
    let measured = measure(texts, options, &mut levels)?;
    // A next try with what is told gets further, whatever was measured.
    let need = if measured > given { measured } else { run.need };
    Err(error_at(SchemaErrorKind::NoSpace { need }, 0))
}

/// How much memory is enough to compile `text`; exactly what is used, except as said at [`compile`]. An error
/// means that `compile` fails too; duplicate properties and references that are wrong only show there.
pub fn program_size(text: &str, options: &CompileOptions) -> Result<usize, SchemaError> {
    program_size_with(text, &[], options)
}

/// As [`program_size`], with resources. What of them will be compiled only shows when the references are bound.
/// Where all of it takes no more than 2 kB, that is done here, on the stack, and the size is exact. Otherwise
/// this is the most that it can be, and [`compile_with`] may do with much less.
pub fn program_size_with(
    text: &str,
    resources: &[Resource<'_>],
    options: &CompileOptions,
) -> Result<usize, SchemaError> {
    let mut levels = NO_LEVELS;
    let texts = checked(Texts { first: text, more: resources })?;
    measure(texts, options, &mut levels)
}

fn measure(texts: Texts<'_>, options: &CompileOptions, levels: &mut Levels) -> Result<usize, SchemaError> {
    let run = run(texts, options, &mut [], levels)?;
    let tried = if run.bounded { try_out(texts, options, levels) } else { None };
    Ok(tried.unwrap_or(run.need))
}

/// How much memory it takes, found in little memory on the stack, if that is enough.
#[inline(never)]
fn try_out(texts: Texts<'_>, options: &CompileOptions, levels: &mut Levels) -> Option<usize> {
    let tried = run(texts, options, &mut [0; TRIAL], levels).ok()?;
    tried.fits.then_some(tried.need)
}

/// What came of one run over the texts.
struct Run {
    /// There was memory for all.
    fits: bool,
    /// Bytes of the program, and bytes that would have been enough.
    size: usize,
    need: usize,
    /// The latter is the most that it can be.
    bounded: bool,
}

fn run(
    texts: Texts<'_>,
    options: &CompileOptions,
    memory: &mut [u8],
    levels: &mut Levels,
) -> Result<Run, SchemaError> {
    let run = Compiler::new(texts, options, memory, levels).and_then(|mut compiler| {
        compiler.run()?;
        let (store, bounded) = (&compiler.store, compiler.refs.bounded);
        Ok(Run { fits: store.fits(), size: store.front(), need: store.need(), bounded })
    });
    run.map_err(|error| placed(error, texts))
}

const TRIAL: usize = 2048;

/// The texts, if each of them is JSON. Where one is cut off, its end is an offset in it and no address: that is
/// where the next one begins.
fn checked<'s>(texts: Texts<'s>) -> Result<Texts<'s>, SchemaError> {
    if texts.len() >= Entry::MAX_LENGTH as usize {
        return Err(error_at(SchemaErrorKind::TooLarge, 0));
    }
    for (number, text) in texts.all().enumerate() {
        let parsed = json::parse(text.as_bytes(), &json::Options::default());
        let placed = |error| SchemaError { resource: number.checked_sub(1), ..not_json(error) };
        parsed.map_err(placed)?;
    }
    Ok(texts)
}

/// An error in one of the texts, from one at an address.
fn placed(error: SchemaError, texts: Texts<'_>) -> SchemaError {
    let (_, number, start) = texts.locate(error.offset);
    SchemaError { offset: error.offset.saturating_sub(start), resource: number.checked_sub(1), ..error }
}

pub(super) fn error_at(kind: SchemaErrorKind, offset: usize) -> SchemaError {
    SchemaError { kind, offset, resource: None }
}

pub(super) fn not_json(error: json::Error) -> SchemaError {
    error_at(SchemaErrorKind::Json(error), error.offset)
}
