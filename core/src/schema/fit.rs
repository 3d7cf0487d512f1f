//! Whether a value fits a schema, where that is plain to see: for the alternatives of `anyOf` and `oneOf`, most
//! of which are told apart by a type, a constant or the names of members.

use super::entry::{Candidate, Entry, Table};
use super::fast::{Place, Quick, object};
use super::level::Level;
use super::program::{Cursor, Instruction, LINEAR, Node, Slot, kind, op, types};
use super::source::Texts;
use crate::json::{Str, ascii, blanks, plain};

/// What is plain to see.
pub(super) enum Fit<'i> {
    /// It fits, no key stands twice in it, and this comes after it.
    Yes(&'i [u8]),
    No,
    /// That takes a closer look.
    Open,
}

impl Quick<'_, '_> {
    /// Whether the value that `rest` starts with, inside `depth` containers, fits.
    #[inline(never)]
    pub(super) fn fit<'i>(&mut self, slot: Slot, rest: &'i [u8], depth: usize) -> Fit<'i> {
        if let Some(after) = self.scalar(slot, rest) {
            return Fit::Yes(after);
        }
        if self.differs(slot, rest) {
            return Fit::No;
        }
        let program = self.schema.program();
        let Some((mut level, after)) = object(program, slot, rest) else { return Fit::Open };
        let key @ [b'"', ..] = blanks(after) else { return Fit::Open };
        if self.scan.check_depth(depth, rest).is_none() {
            return Fit::Open;
        }
        let (rest, place) = self.members(&mut level, key);
        match (place, blanks(rest)) {
            (Place::After, [b'}', after @ ..]) if level.is_complete(program) => Fit::Yes(after),
            (Place::After, [b'}', ..]) => Fit::No,
            (Place::Value(slot), value) if self.differs(slot, value) => Fit::No,
            (Place::Key, key) if self.is_unknown(&level, key) => Fit::No,
            _ => Fit::Open,
        }
    }

    /// Whether the value that `rest` starts with is of another type than the schema wants, or is a string and
    /// plainly none of its values.
    fn differs(&mut self, slot: Slot, rest: &[u8]) -> bool {
        let bits = type_bits(rest);
        if self.schema.types(slot) & bits == 0 {
            return bits != types::NONE;
        }
        let (program, [b'"', content @ ..]) = (self.schema.program(), rest) else { return false };
        let Some(values) = values_alone(program, slot) else { return false };
        let Some(left) = self.steps.checked_sub(values.argument) else { return false };
        *self.steps = left;
        let all_plain =
            (0..values.argument).all(|number| Candidate::read(program, values, number).is_short());
        // The shortest way has compared with each of them.
        all_plain && matches!(ascii(content), [b'"', ..])
    }

    /// Whether the key that `rest` starts with is plainly none of few, and others are not allowed.
    fn is_unknown(&self, level: &Level, rest: &[u8]) -> bool {
        let (program, texts, table) = (self.schema.program(), self.schema.texts(), level.table());
        let none = table.others(program).as_immediate().is_some_and(|(types, _)| types == types::NONE);
        let [b'"', content @ ..] = rest else { return false };
        let [b'"', after @ ..] = plain(content) else { return false };
        let key = rest.get(..rest.len() - after.len());
        none && table.count <= LINEAR
            && (0..table.count).all(|number| {
                let entry = table.entry(program, number);
                !entry.is(Entry::ESCAPED) && entry.bytes(texts) != key
            })
    }
}

/// The bits of the type of the value that stands here; of a number, both.
pub(super) fn type_bits(value: &[u8]) -> u8 {
    match value.first() {
        Some(b'{') => types::OBJECT,
        Some(b'[') => types::ARRAY,
        Some(b'"') => types::STRING,
        Some(b'n') => types::NULL,
        Some(b't' | b'f') => types::BOOLEAN,
        Some(b'-' | b'0'..=b'9') => types::NUMBER,
        _ => types::NONE,
    }
}

/// The `enum` or `const` of a node that has, beside types, nothing else.
pub(super) fn values_alone(program: &[u8], slot: Slot) -> Option<Instruction> {
    let node = Node::read(program, slot.as_node()?);
    let values = Cursor::new(program, slot).next(program)?;
    let alone = node.kinds == kind::VALUE && node.count == 1;
    (alone && matches!(values.op, op::ENUM | op::CONST)).then_some(values)
}

/// As [`values_alone`], of a slot's declared member with this name, or without one of the slot itself.
pub(super) fn values_of(
    program: &[u8],
    texts: Texts<'_>,
    slot: Slot,
    name: Option<Str<'_>>,
) -> Option<Instruction> {
    let Some(name) = name else { return values_alone(program, slot) };
    let table = declared(program, slot)?;
    values_alone(program, table.entry(program, table.find(program, texts, name)?).slot)
}

/// The members that a slot declares.
pub(super) fn declared(program: &[u8], slot: Slot) -> Option<Table> {
    let first = Instruction::read(program, slot.as_node()? + Node::SIZE);
    let node = Node::read(program, slot.as_node()?);
    (node.count > 0 && first.op == op::OBJECT).then(|| Table::read(program, first.at))
}
