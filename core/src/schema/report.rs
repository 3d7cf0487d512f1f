//! What an instance does wrong, said so that a model can mend it.

use super::entry::{Candidate, Table};
#[cfg(feature = "pattern")]
use super::error::put_source;
use super::error::{Keyword, put_short, string_end};
use super::fit::{type_bits, values_of};
#[cfg(feature = "format")]
use super::format::Format;
use super::path::Open;
use super::program::{Instruction, Node, Slot, types, word, word_of};
use super::source::item_at;
use crate::json::{self, Str, Value};
use crate::sink::Sink;
use core::cell::Cell;

/// Receives the violations of a check, one by one, in the order in which they are met.
///
/// That is the order of the instance's text, with three exceptions. A missing member is told at the end of its
/// object. A value is gone through several times where its schema applies others in place or has a keyword
/// that takes a look at the whole value (`uniqueItems`, `contains`, `propertyNames`, `minProperties` and the
/// like): for each of them, in an order that is not promised, then for `unevaluatedItems` and
/// `unevaluatedProperties`, and last for everything else. Keys that stand twice in one object come after all
/// of this.
pub trait Report {
    /// One problem of the instance. It borrows from the texts; write what is to be kept.
    fn violation(&mut self, violation: &Violation<'_>);
}

/// For those who want the verdict alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReport;

impl Report for NoReport {
    fn violation(&mut self, _: &Violation<'_>) {}
}

/// One place where the instance differs from the schema. Its texts are made when they are asked for, which
/// takes steps from the budget of the check: [`CheckOptions::steps`](super::CheckOptions::steps).
#[derive(Clone, Copy, Debug)]
pub struct Violation<'a> {
    pub(super) problem: Problem<'a>,
    /// The texts, and what is open around the value.
    pub(super) open: Open<'a>,
    /// Where the value or the key stands in the instance.
    pub(super) at: usize,
    /// Where the schema that is violated stands in the schema's texts.
    pub(super) schema_at: usize,
    /// What telling of it takes from the budget.
    pub(super) steps: &'a Cell<u32>,
}

/// What is wrong, with what the message needs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Problem<'a> {
    /// Not one of these types, which the schema of the slot accepts.
    Type(u8, Slot),
    /// Not among the values of the array that stands here in the schema's text.
    Enum(usize),
    /// Not this value.
    Const(&'a str),
    /// Outside of this bound.
    Bound(Keyword, &'a str),
    /// A count, and what it is compared with.
    Count(Keyword, u32, usize),
    /// Does not match the pattern that stands here in the schema's text.
    #[cfg(feature = "pattern")]
    Pattern(usize),
    /// Does not have this format.
    #[cfg(feature = "format")]
    Format(Format),
    /// This member is not there.
    Required(Str<'a>),
    /// A member that no schema allows; the table says which are allowed.
    Unknown(Table),
    /// Nothing is accepted here.
    False,
    /// None of the alternatives takes values of other types than these.
    Kinds(Keyword, u8),
    /// The alternatives that take values of this type take others, or have others in this member.
    Values(Keyword, Instruction, Option<Str<'a>>),
    /// More than one of the alternatives fits.
    Several,
    /// What is ruled out fits.
    Not,
    /// The items with these numbers are equal.
    Equal(usize, usize),
    /// This member is not there, as it must be where the other one is.
    Dependent(Str<'a>, Str<'a>),
    /// A member or item that no schema looks at.
    #[cfg(feature = "unevaluated")]
    Unevaluated(Keyword),
    /// The key was in its object before.
    DuplicateKey,
}

impl Violation<'_> {
    /// The keyword that is violated.
    pub fn keyword(&self) -> Keyword {
        match self.problem {
            Problem::Type(..) => Keyword::Type,
            Problem::Enum(_) => Keyword::Enum,
            Problem::Const(_) => Keyword::Const,
            Problem::Bound(keyword, _) | Problem::Count(keyword, ..) => keyword,
            #[cfg(feature = "pattern")]
            Problem::Pattern(_) => Keyword::Pattern,
            #[cfg(feature = "format")]
            Problem::Format(_) => Keyword::Format,
            Problem::Required(_) => Keyword::Required,
            Problem::Unknown(_) => Keyword::AdditionalProperties,
            Problem::False => Keyword::False,
            Problem::Kinds(keyword, _) | Problem::Values(keyword, ..) => keyword,
            #[cfg(feature = "unevaluated")]
            Problem::Unevaluated(keyword) => keyword,
            Problem::Several => Keyword::OneOf,
            Problem::Not => Keyword::Not,
            Problem::Equal(..) => Keyword::UniqueItems,
            Problem::Dependent(name, key) if self.is_of_draft_7(name, key) => Keyword::Dependencies,
            Problem::Dependent(..) => Keyword::DependentRequired,
            Problem::DuplicateKey => Keyword::DuplicateKey,
        }
    }

    /// Appends the JSON Pointer of the value in the instance; for a missing member, the pointer that it would
    /// have.
    pub fn write_path(&self, sink: &mut Sink<'_>) {
        let start = sink.len();
        let gone_through = self.open.write_path(self.at, sink);
        if let Problem::Required(name) | Problem::Dependent(name, _) = self.problem {
            sink.put_byte(b'/');
            json::put_token(name, sink);
        }
        self.take_steps(gone_through + sink.len() - start);
    }

    /// Appends the JSON Pointer of the keyword in the schema; in a resource, its URI and a fragment.
    pub fn write_schema_path(&self, sink: &mut Sink<'_>) {
        let (text, number, start) = self.open.schema.locate(self.schema_at);
        if let Some(resource) = number.checked_sub(1).and_then(|number| self.open.schema.more.get(number)) {
            sink.put(resource.uri);
            sink.put_byte(b'#');
        }
        let at = self.schema_at.saturating_sub(start);
        self.take_steps(at);
        json::pointer_at(text, at, sink);
        if !matches!(self.problem, Problem::False | Problem::DuplicateKey) {
            sink.put_byte(b'/');
            sink.put(self.keyword().name());
        }
    }

    /// Whether that a member calls for another one is said by the keyword `dependencies` alone.
    fn is_of_draft_7(&self, name: Str<'_>, key: Str<'_>) -> bool {
        let Some(schema) = self.open.schema.value(self.schema_at) else { return false };
        self.take_steps(schema.raw().len());
        let mut lists = schema.get("dependentRequired").into_iter().flat_map(Value::entries);
        !lists.any(|(other, list)| other == key && list.items().any(|item| item.as_str() == Some(name)))
    }

    /// Appends what was expected and what came: `expected integer, got string "x"`. The path is not in it.
    /// Bounded, whatever the schema and the instance hold.
    pub fn write_message(&self, sink: &mut Sink<'_>) {
        match self.problem {
            Problem::Type(expected, _) | Problem::Kinds(_, expected) => {
                sink.put("expected ");
                put_types(expected, sink);
                self.put_got(true, sink);
            }
            Problem::Enum(at) => {
                let (text, _, start) = self.open.schema.locate(at);
                let first = at.saturating_sub(start).saturating_add(1);
                let end = Cell::new(first);
                let mut values = core::iter::from_fn(|| {
                    let (value, after) = item_at(text, end.get())?;
                    end.set(after);
                    Some(value.raw())
                })
                .peekable();
                if values.peek().is_none() {
                    return sink.put("nothing is allowed here");
                }
                sink.put("expected one of ");
                put_list(values, sink);
                self.take_steps(end.get() - first);
                self.put_got(false, sink);
            }
            Problem::Const(value) => {
                sink.put("expected ");
                put_short(value, sink);
                self.put_got(false, sink);
            }
            Problem::Values(_, alternatives, name) => {
                let (program, texts) = (self.open.program, self.open.schema);
                let got = self.open.instance.as_bytes().get(self.at..).unwrap_or_default();
                let bits = if name.is_some() { types::OBJECT } else { type_bits(got) };
                let slot = |number: u32| Slot(word(program, alternatives.at + 4 + 4 * number as usize));
                let values = (0..alternatives.argument)
                    .map(slot)
                    .filter(|slot| slot.as_node().is_some_and(|at| Node::read(program, at).types & bits != 0))
                    .filter_map(|slot| values_of(program, texts, slot, name))
                    .flat_map(|values| {
                        let numbers = 0..values.argument;
                        numbers.map(move |number| Candidate::read(program, values, number).raw(texts))
                    });
                self.take_steps(8 * alternatives.argument as usize);
                sink.put("expected one of ");
                put_list(values, sink);
                self.put_got(false, sink);
            }
            Problem::Bound(keyword, bound) => {
                sink.put(match keyword {
                    Keyword::Minimum => "expected at least ",
                    Keyword::Maximum => "expected at most ",
                    Keyword::ExclusiveMinimum => "expected more than ",
                    Keyword::MultipleOf => "expected a multiple of ",
                    _ => "expected less than ",
                });
                put_short(bound, sink);
                self.put_got(false, sink);
            }
            Problem::Count(keyword, bound, got) => {
                let (least, one, many) = match keyword {
                    Keyword::MinLength => (true, "character", "characters"),
                    Keyword::MaxLength => (false, "character", "characters"),
                    Keyword::MinItems => (true, "item", "items"),
                    Keyword::MaxItems => (false, "item", "items"),
                    Keyword::MinProperties => (true, "property", "properties"),
                    Keyword::MaxProperties => (false, "property", "properties"),
                    Keyword::MaxContains => (false, "matching item", "matching items"),
                    _ => (true, "matching item", "matching items"),
                };
                sink.put(if least { "expected at least " } else { "expected at most " });
                sink.put_u64(u64::from(bound));
                sink.put_byte(b' ');
                sink.put(if bound == 1 { one } else { many });
                sink.put(", got ");
                sink.put_u64(got as u64);
            }
            #[cfg(feature = "pattern")]
            Problem::Pattern(at) => {
                sink.put("expected a text that matches ");
                let (text, _, start) = self.open.schema.locate(at);
                put_source(text, at.saturating_sub(start), sink);
                self.put_got(false, sink);
            }
            #[cfg(feature = "format")]
            Problem::Format(format) => {
                sink.put("expected the format ");
                sink.put(format.name());
                self.put_got(false, sink);
            }
            Problem::Required(_) => sink.put("required"),
            Problem::Unknown(table) => {
                sink.put("unknown property");
                let slot = Slot::node(table.at.saturating_sub(Node::SIZE));
                let none = "; none is allowed";
                self.take_steps(self.open.put_allowed(core::iter::once(slot), none, sink));
            }
            Problem::False => sink.put("nothing is allowed here"),
            Problem::DuplicateKey => sink.put("duplicate key"),
            Problem::Several => sink.put("fits more than one of the alternatives, expected exactly one"),
            Problem::Not => sink.put("has a form that is ruled out by \"not\""),
            Problem::Equal(first, second) => {
                sink.put("expected unique items, got equal ones at ");
                sink.put_u64(first as u64);
                sink.put(" and ");
                sink.put_u64(second as u64);
            }
            Problem::Dependent(_, key) => {
                sink.put("required with \"");
                put_short(key.raw(), sink);
                sink.put("\"");
            }
            #[cfg(feature = "unevaluated")]
            Problem::Unevaluated(Keyword::UnevaluatedItems) => sink.put("unexpected item"),
            #[cfg(feature = "unevaluated")]
            Problem::Unevaluated(_) => {
                sink.put("unknown property");
                let slots = self.open.notes.iter().rev().map(|&slot| Slot(slot));
                self.take_steps(self.open.put_allowed(slots, "", sink));
            }
        }
    }

    /// Counts what goes through so many bytes or other things.
    fn take_steps(&self, count: usize) {
        self.steps.set(self.steps.get().saturating_add(word_of(count / 64)));
    }

    /// Appends `, got …`, with the type where it says more than the value.
    fn put_got(&self, with_type: bool, sink: &mut Sink<'_>) {
        sink.put(", got ");
        let rest = self.open.instance.get(self.at..).unwrap_or_default();
        let (name, end) = match rest.as_bytes().first() {
            Some(b'{') => return sink.put("object"),
            Some(b'[') => return sink.put("array"),
            Some(b'"') => ("string ", string_end(rest)),
            Some(b'n') => ("", Some(4)),
            Some(b't') => ("boolean ", Some(4)),
            Some(b'f') => ("boolean ", Some(5)),
            _ => ("number ", rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))),
        };
        if with_type {
            sink.put(name);
        }
        put_short(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default(), sink);
    }
}

/// Appends the names of types, joined by `or`.
fn put_types(expected: u8, sink: &mut Sink<'_>) {
    let names = [
        (types::STRING, "string"),
        (types::NUMBER, "number"),
        (types::INTEGER, "integer"),
        (types::BOOLEAN, "boolean"),
        (types::OBJECT, "object"),
        (types::ARRAY, "array"),
        (types::NULL, "null"),
    ];
    let mut left = expected;
    for (bits, name) in names {
        if left & bits == bits {
            sink.put(if left == expected { "" } else { " or " });
            sink.put(name);
            left &= !bits;
        }
    }
}

/// Appends texts with commas between, as many as a line has room for.
pub(super) fn put_list<'a>(texts: impl Iterator<Item = &'a str>, sink: &mut Sink<'_>) {
    let start = sink.len();
    for (i, text) in texts.enumerate() {
        sink.put(if i > 0 { ", " } else { "" });
        if sink.len() - start > MAX_LIST {
            return sink.put("…");
        }
        put_short(text, sink);
    }
}

const MAX_LIST: usize = 240;
