//! Coercion, for tools that ask for it: arguments of a neighbouring type become what the schema wants.
//!
//! Only a value is touched that the schema does not accept as it is, and every change is reported with its
//! place and its rule ([`Rule`]). What is changed is what an ordinary check complains of, so it does not
//! matter by which keyword a schema comes to a value. The result is to be checked like any other instance:
//! coercion makes nothing valid by itself. A value that cannot be coerced stays as it is.
//!
//! # Rules
//!
//! - The arguments are read again after their changes, until there is nothing to change any more. So what was
//!   a string and is an array or object now is looked into, and coercing the result changes nothing, unless
//!   defaults stand more than eight deep in one another: then it gets deeper each time.
//! - Conversions that hang on a choice (an alternative of `anyOf` or `oneOf`, `then`, `else`,
//!   `dependentSchemas`) come after those that do not, so that the choice is made with these done. Defaults
//!   come last.
//! - Of `anyOf` and `oneOf`, where none accepts the value, the first one is chosen all of whose problems one
//!   change each can mend: a type, a `null` that means "absent", a default; a converted scalar must be
//!   accepted. Where there is no such one nothing in the value is changed for their sake.
//! - Under `not`, `if`, `contains` and `propertyNames` nothing is changed.
//! - `null` for a property that is declared, may be absent and does not accept `null` is taken out.
//! - A property that is absent and declared gets its default: the one beside it, else that of a schema which
//!   it refers to or has in `allOf`. Properties of an alternative get theirs where it is the only one that
//!   accepts the object. A default is filled in only if its property's schema accepts it, and defaults only
//!   if the arguments have no problems with them, or fewer than without: a wrong one never makes a call fail.
//!   [`wrong_defaults`](super::wrong_defaults) finds those. Objects that came as defaults get defaults too,
//!   eight deep at most.
//!
//! # Cost
//!
//! Arguments without anything to change are checked once. Changes take further readings: usually one for
//! conversions that are called for at once, one for those that hang on a choice, one for defaults, and one
//! that finds nothing more. Of more than 32 changes in a reading, the list stands in `out`, eight bytes for
//! each; what it has no room for is left for the next reading. Nothing recurses, and a budget of steps bounds
//! it all ([`CheckOptions::steps`]).
//!
//! `out` takes the new text and the list, and from the second reading with changes on the text before as well.
//!
//! ```
//! use toolcore::schema::{CoerceOptions, CompileOptions, Schema, coerce, compile};
//! let text = r#"{"properties":{"depth":{"anyOf":[{"type":"integer"},{"type":"null"}]},"unit":{"default":"m"}}}"#;
//! let mut program = [0; 256];
//! let used = compile(text, &CompileOptions::default(), &mut program).unwrap();
//! let schema = Schema::new(text, &program[..used]);
//! let (mut work, mut out) = ([0; 64], [0; 64]);
//! let arguments = r#"{"depth":"3"}"#;
//! let accepted = coerce(schema, arguments, &CoerceOptions::default(), &mut work, &mut out, &mut |_| {}).unwrap();
//! assert_eq!(accepted, Some(r#"{"depth":3,"unit":"m"}"#));
//! ```

use super::check::{CheckOptions, Schema};
use super::defaults::may_have_defaults;
use super::distinct::duplicates;
use super::edit::{Edit, Edits, Found, Rank};
use super::error::CheckError;
use super::machine::{Check, Start};
use super::mending::Mending;
use super::program::{MAGIC, Slot, word, word_of};
use super::report::NoReport;
use super::source::{member_at, offset_in};
use super::splice::{Coercion, Splice, Tell};
use crate::json::{self, Scan, Str};
use crate::sink::Sink;
use thiserror_no_std::Error;

/// How to coerce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoerceOptions {
    /// What to accept as JSON, and the steps that may be taken.
    pub check: CheckOptions,
    /// A string, number or boolean where an array is wanted becomes an array of one item.
    pub wrap_scalars: bool,
    /// Of members with the same key the last one counts; those before it are taken out.
    pub last_wins: bool,
    /// No value is converted, taken out or added for the schema's sake: `last_wins` alone.
    pub keep_values: bool,
    /// No value is converted or added: only a `null` for an optional property that cannot be null is taken
    /// out.
    pub nulls_only: bool,
}

/// What a coercion does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// `"5"`, `" 5 "`, `"5.0"` or `"+5"` became 5.
    IntegerFromString,
    /// `"5.5"` or `"1e3"` became a number.
    NumberFromString,
    /// `"true"`, `"false"`, `"yes"`, `"no"`, `"on"`, `"off"`, `"1"` or `"0"`, in any case, became a boolean.
    BooleanFromString,
    /// 0 or 1 became a boolean.
    BooleanFromNumber,
    /// A string that holds the JSON of an array became that array.
    ArrayFromString,
    /// A string that holds the JSON of an object became that object.
    ObjectFromString,
    /// A scalar became an array of one item.
    ArrayFromScalar,
    /// A `null` for an optional property that cannot be null was taken out.
    NullRemoved,
    /// An absent property got its default.
    DefaultAdded,
    /// A member was taken out whose key stands again later in the object.
    DuplicateRemoved,
}

impl Rule {
    /// The rule in one word, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::IntegerFromString => "integer-from-string",
            Rule::NumberFromString => "number-from-string",
            Rule::BooleanFromString => "boolean-from-string",
            Rule::BooleanFromNumber => "boolean-from-number",
            Rule::ArrayFromString => "array-from-string",
            Rule::ObjectFromString => "object-from-string",
            Rule::ArrayFromScalar => "array-from-scalar",
            Rule::NullRemoved => "null-removed",
            Rule::DefaultAdded => "default-added",
            Rule::DuplicateRemoved => "duplicate-removed",
        }
    }
}

/// Why nothing was coerced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CoerceError {
    /// The instance is not JSON.
    #[error("not JSON: {0}")]
    Json(json::Error),
    /// The output buffer is too small.
    #[error("no space: {need} bytes needed")]
    NoSpace {
        /// Bytes that will usually do: at least twice the instance and a little. Where many or long defaults
        /// are added, the next try can ask for more; each gets further.
        need: usize,
    },
    /// The work memory is too small.
    #[error("no space: {need} words of work memory needed")]
    NoWork {
        /// Words that would do.
        need: usize,
    },
    /// The step budget is used up.
    #[error("step limit reached")]
    StepLimit,
}
impl core::error::Error for CoerceError {}

impl From<CheckError> for CoerceError {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::NoWork { need } => CoerceError::NoWork { need },
            CheckError::Json(error) => CoerceError::Json(error),
            _ => CoerceError::StepLimit,
        }
    }
}

/// Coerces `instance` and gives the new text, or nothing if there was nothing to change.
///
/// Takes work memory as a check does, and a little more where a default has to be checked. `changes` is told
/// each change once it is made, also when an error follows: those of one reading in the order of the text, a
/// default at the end of its object, and then those of the next reading.
pub fn coerce<'o>(
    schema: Schema<'_>,
    instance: &str,
    options: &CoerceOptions,
    work: &mut [u32],
    out: &'o mut [u8],
    changes: &mut dyn FnMut(&Coercion<'_>),
) -> Result<Option<&'o str>, CoerceError> {
    let schema = if options.keep_values { Schema::anything() } else { schema };
    let bad = word(schema.program(), 0) != MAGIC || u32::try_from(instance.len()).is_err();
    if bad {
        // The check says so.
        return Ok(None);
    }
    let mut coercer =
        Coercer { schema, options, steps: options.check.steps, twice: false, nested: 0, room: out.len() };
    if options.last_wins {
        json::parse(instance.as_bytes(), &options.check.json).map_err(CoerceError::Json)?;
        let twice = &mut coercer.twice;
        let mut found = |_, _: &mut u32| {
            *twice = true;
            Some(())
        };
        duplicates(instance, work, &mut coercer.steps, &mut found).ok_or(CoerceError::StepLimit)?;
    }
    let mut kept = None;
    loop {
        match coercer.round(instance, kept, work, out, changes) {
            Ok(Some(len)) => kept = Some(len),
            Ok(None) => break,
            Err(CoerceError::NoSpace { need }) => {
                let usual = instance.len().saturating_mul(2).saturating_add(SPARE);
                return Err(CoerceError::NoSpace { need: need.max(usual) });
            }
            Err(error) => return Err(error),
        }
    }
    let text = kept.map(|len| core::str::from_utf8(out.get(..len).unwrap_or_default()).unwrap_or_default());
    Ok(text)
}

struct Coercer<'s, 'c> {
    schema: Schema<'s>,
    options: &'c CoerceOptions,
    steps: u32,
    /// Keys stand twice in an object, and the last one is to win.
    twice: bool,
    /// Readings in which defaults were added.
    nested: u32,
    /// Bytes of the output.
    room: usize,
}

/// What a reading of a text finds.
struct Reading {
    found: Found,
    /// How many problems it has.
    problems: usize,
    /// A `null` is to be taken out.
    removes: bool,
}

impl Coercer<'_, '_> {
    /// Reads the text, which is the instance or the beginning of `out`, and makes the changes that are called
    /// for. Gives the length of the new text, at the beginning of `out`; nothing if there is no change.
    fn round(
        &mut self,
        instance: &str,
        kept: Option<usize>,
        work: &mut [u32],
        out: &mut [u8],
        changes: Tell<'_>,
    ) -> Result<Option<usize>, CoerceError> {
        let (room, old) = (out.len(), kept.unwrap_or(0));
        let (front, free) = out.split_at_mut(old);
        let text = match kept {
            Some(_) => core::str::from_utf8(front).unwrap_or_default(),
            None => instance,
        };
        let mut own = [0; OWN * Edit::SIZE];
        let mut before = self.find(text, &mut own, work, free)?;
        let half = free.len() / 2;
        let listed = before.found.more && half > own.len();
        if listed {
            let (scratch, list) = free.split_at_mut(half);
            before = self.find(text, list, work, scratch)?;
        }
        let found = before.found;
        if found.is_empty() {
            return Ok(None);
        }
        // The new text comes to the beginning; the present one and the list go to the end.
        let size = if listed { found.size() } else { 0 };
        out.copy_within(old + half..old + half + size, room - size);
        let start = room - size - old;
        out.copy_within(..old, start);
        let (front, back) = out.split_at_mut(start);
        let (back, list) = back.split_at_mut(old);
        let text = match kept {
            Some(_) => core::str::from_utf8(back).unwrap_or_default(),
            None => instance,
        };
        let edits = Edits::resume(if listed { list } else { &mut own }, found);
        let splice = Splice { schema: self.schema, text, edits: &edits, options: self.options };
        let mut sink = Sink::new(front);
        let made = splice.run(&mut sink, work, &mut self.steps, None).ok_or(CoerceError::StepLimit)?;
        if sink.overflowed() {
            return Err(CoerceError::NoSpace { need: sink.len().saturating_add(room - start) });
        }
        let len = sink.len();
        if made == 0 && self.twice {
            return Err(CoerceError::NoWork { need: self.schema.coerce_words(self.options) });
        }
        let mut refused = made == 0;
        if found.is_of_defaults() {
            self.nested += u32::from(!found.more);
            let (new, scratch) = front.split_at_mut(len);
            let new = core::str::from_utf8(new).unwrap_or_default();
            refused = match self.find(new, &mut [], work, scratch) {
                Ok(after) => after.problems > before.problems.saturating_sub(1) || after.removes,
                Err(CoerceError::Json(_)) => true,
                Err(error) => return Err(error),
            };
        }
        if refused {
            out.copy_within(start..start + old, 0);
            return Ok(None);
        }
        let told = splice.run(&mut Sink::measure(), work, &mut self.steps, Some(changes));
        told.ok_or(CoerceError::StepLimit)?;
        Ok(Some(len))
    }

    /// Notes the changes that a text calls for.
    fn find(
        &mut self,
        text: &str,
        list: &mut [u8],
        work: &mut [u32],
        scratch: &mut [u8],
    ) -> Result<Reading, CoerceError> {
        // Without a list it is the problems that matter, all of them.
        let judging = list.is_empty();
        let mut edits = Edits::new(list);
        self.steps = self.steps.checked_sub(word_of(text.len() / 64)).ok_or(CoerceError::StepLimit)?;
        if self.twice {
            self.find_duplicates(text, &mut edits).ok_or(CoerceError::StepLimit)?;
            if !edits.found.is_empty() {
                return Ok(Reading { found: edits.found, problems: 0, removes: false });
            }
            self.twice = false;
        }
        let mut mending = Mending {
            options: self.options,
            edits: &mut edits,
            before: self.room - scratch.len(),
            scratch,
            has_defaults: !self.options.nulls_only
                && self.nested < MAX_NESTED
                && may_have_defaults(self.schema),
            removes: false,
            failure: None,
        };
        let options = CheckOptions { steps: self.steps, ..self.options.check };
        let scan = Scan::over(text.len(), false, &options.json);
        let mut report = NoReport;
        let root = Slot(word(self.schema.program(), 4));
        let start = Start::new(scan, root, self.steps);
        let mut check = Check::new(self.schema, start, text, &options, work, &mut report);
        check.mender = Some(&mut mending);
        let read = check.whole_of(root);
        self.steps = check.steps;
        let (mut problems, loose) = (check.problems, check.loose);
        let (failure, error) = (check.failure, check.error());
        match mending.failure {
            Some(failure) => return Err(failure),
            None if read.is_none() || failure.is_some() => return Err(error.into()),
            None => {}
        }
        let removes = mending.removes;
        let found = edits.found;
        if loose && (judging || found.is_of_defaults()) {
            let done = duplicates(text, work, &mut self.steps, &mut |_, _| {
                problems += 1;
                Some(())
            });
            done.ok_or(CoerceError::StepLimit)?;
        }
        Ok(Reading { found, problems, removes })
    }

    /// The members whose key stands again later in their object.
    fn find_duplicates(&mut self, text: &str, edits: &mut Edits<'_>) -> Option<()> {
        let mut scan = Scan::checked(text);
        let mut rest = text.as_bytes();
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'{')) {
            let after = rest.get(at + 1..)?;
            if rest.get(at) == Some(&b'"') {
                rest = scan.string(after)?;
                continue;
            }
            rest = after;
            let mut place = scan.offset(after);
            while let Some((key, _, end)) = member_at(text, place) {
                self.steps = self.steps.checked_sub(1 + word_of((end - place) / 64))?;
                place = end;
                if self.comes_again(text, key, end)? {
                    let quote = offset_in(text, key.raw()).saturating_sub(1);
                    let edit = Edit::new(quote, Edit::DUPLICATE);
                    edits.push(edit, Rank::Conversion, &mut self.steps, |_| None)?;
                }
            }
        }
        Some(())
    }

    /// Whether a key stands again later in its object, which goes on at a position.
    fn comes_again(&mut self, text: &str, wanted: Str<'_>, mut at: usize) -> Option<bool> {
        while let Some((key, _, end)) = member_at(text, at) {
            self.steps = self.steps.checked_sub(1 + word_of((end - at) / 64))?;
            if key == wanted {
                return Some(true);
            }
            at = end;
        }
        Some(false)
    }
}

/// Room beside two texts that is usually enough: for defaults.
const SPARE: usize = 64;
/// Changes of a reading that take no room of the output.
const OWN: usize = 32;
/// How deep defaults are filled into defaults.
const MAX_NESTED: u32 = 8;
