//! The pass over a schema's text: a stack of the schemas that are open, each of which becomes an immediate or
//! a node when it ends.

use super::compile::{MAX_LEVELS, error_at};
use super::compiler::Compiler;
use super::entry::Entry;
use super::error::{SchemaError, SchemaErrorKind};
use super::program::{self, Node, Slot, kind, op, types, word_of};
use super::work::{self, Need};
use crate::json::{Event, Kind, Str};

/// The schemas that are open: once on the stack for a compilation, however often it is begun.
pub(super) type Levels = [Level; MAX_LEVELS as usize];

pub(super) const NO_LEVELS: Levels = [Level::EMPTY; MAX_LEVELS as usize];

#[derive(Clone, Copy)]
pub(super) struct Level {
    /// Where it stands.
    offset: u32,
    /// Keywords that were there, a bit each.
    pub(super) seen: u64,
    /// The height of the store's stack where its instructions begin.
    base: usize,
    /// The heights between which its entries are.
    pub(super) entries: (usize, usize),
    /// Where the values of these keywords stand, or 0.
    pub(super) properties: usize,
    pub(super) required: usize,
    /// For members that have no entry.
    pub(super) others: Slot,
    /// It has `patternProperties`.
    pub(super) patterned: bool,
    /// Words of the matcher of the one that is being read.
    #[cfg(feature = "pattern")]
    pub(super) matcher: u32,
    /// Work words that the schemas inside need.
    pub(super) need: Need,
    pub(super) types: u8,
    pub(super) kinds: u8,
    pub(super) count: u16,
    pub(super) place: Place,
    /// The height of the stack where the list that is being read begins.
    pub(super) list: usize,
    /// Draft 7: the `$ref` is all that counts.
    pub(super) ref_only: bool,
    /// It has definitions. Then it becomes a node even if it says nothing itself, so that a reference to it
    /// finds it and does not compile them again.
    pub(super) defines: bool,
}

/// What of an open schema is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Keywords,
    Properties,
    #[cfg(feature = "pattern")]
    Patterns,
    Definitions,
    Others,
    /// The operand of this instruction.
    Operand(u8),
    /// The slots of this instruction.
    List(u8),
    /// The entries of `DEPENDENT`.
    Dependents,
}

impl<'s> Compiler<'s, '_> {
    /// Compiles the schema that the reader has next. Gives its slot and the work words that checking it
    /// needs.
    pub(super) fn schema(&mut self) -> Result<(Slot, Need), SchemaError> {
        let mut done = self.open()?;
        loop {
            if let Some((slot, need)) = done {
                let Some(level) = self.levels.get_mut(..self.depth).and_then(<[Level]>::last_mut) else {
                    return Ok((slot, need));
                };
                level.need = level.need.max(need);
                match level.place {
                    Place::Properties | Place::Dependents => {
                        let at = self.store.address(self.store.height()) + 8;
                        self.store.set(at, slot.0);
                    }
                    #[cfg(feature = "pattern")]
                    Place::Patterns => self.pattern_property(slot),
                    Place::Operand(op) => {
                        level.place = Place::Keywords;
                        self.instruction(op, 0, &[slot.0]);
                    }
                    Place::List(_) => self.store.push(slot.0),
                    Place::Others => {
                        level.place = Place::Keywords;
                        level.others = slot;
                    }
                    Place::Definitions | Place::Keywords => {}
                }
            }
            let place = self.level().place;
            if let Place::List(op) = place {
                done = if self.reader.try_end() {
                    self.end_list(op, 1);
                    None
                } else {
                    self.open()?
                };
                continue;
            }
            let at = self.place();
            let event = self.next()?;
            done = match (event, place) {
                (Event::Key(key), Place::Properties) => {
                    self.entry(at, key, 0, Slot::ANY);
                    self.open()?
                }
                #[cfg(feature = "pattern")]
                (Event::Key(key), Place::Patterns) => self.pattern_key(at, key)?,
                #[cfg(feature = "pattern")]
                (_, Place::Patterns) => {
                    self.level().place = Place::Keywords;
                    None
                }
                (Event::Key(key), Place::Dependents) => self.dependent(at, key)?,
                (_, Place::Dependents) => {
                    self.end_list(op::DEPENDENT, 3);
                    None
                }
                (Event::Key(_), Place::Definitions) => self.open()?,
                (Event::Key(key), _) => self.keyword(at, key)?,
                (_, Place::Properties) => {
                    self.level().place = Place::Keywords;
                    self.level().entries.1 = self.store.height();
                    None
                }
                (_, Place::Definitions) => {
                    self.level().place = Place::Keywords;
                    None
                }
                _ => Some(self.close()?),
            };
        }
    }

    /// Pushes an instruction whose operands, records of `size` words, are on the stack.
    pub(super) fn end_list(&mut self, op: u8, size: usize) {
        let low = self.level().list;
        let count = (self.store.height() - low) / (4 * size);
        self.store.reverse(count, size);
        self.level().place = Place::Keywords;
        self.instruction(op, word_of(count), &[]);
    }

    /// Begins the schema that the reader has next; a boolean one is done at once.
    pub(super) fn open(&mut self) -> Result<Option<(Slot, Need)>, SchemaError> {
        let at = self.place();
        match self.peek()? {
            Kind::Bool => {
                let accepts = self.value()?.as_bool() == Some(true);
                let types = if accepts { types::ALL } else { types::NONE };
                Ok(Some((self.node(&Level { types, ..Level::new(at, self.store.height()) })?, Need::NOTHING)))
            }
            Kind::Object => {
                if self.depth >= self.max_depth {
                    return Err(error_at(SchemaErrorKind::DepthLimit, at));
                }
                let mut level = Level::new(at, self.store.height());
                level.ref_only = self.scan_for_ref && self.value_at(at)?.get("$ref").is_some();
                self.next()?;
                if let Some(place) = self.levels.get_mut(self.depth) {
                    *place = level;
                    self.depth += 1;
                    self.refs.nested = self.refs.nested.max(self.depth);
                }
                Ok(None)
            }
            _ => Err(error_at(SchemaErrorKind::NotASchema, at)),
        }
    }

    /// Ends the innermost schema.
    fn close(&mut self) -> Result<(Slot, Need), SchemaError> {
        let mut level = *self.level();
        let others = if self.tracks { level.others != Slot::ANY } else { !level.others.is_any() };
        if level.properties != 0 || level.required != 0 || others || level.patterned {
            let count = self.table(&level)?;
            let level = self.level();
            level.count += 1;
            level.kinds |= kind::OBJECT;
            level.need = level.need.plus(work::table(count));
            if level.patterned {
                level.kinds |= kind::PATTERNED;
                level.need = level.need.plus(work::LEVEL);
            }
            self.largest = self.largest.max(work::table(count));
        }
        level = *self.level();
        self.depth = self.depth.saturating_sub(1);
        let slot = self.node(&level)?;
        let mut need = level.need;
        if level.kinds & (kind::OBJECT | kind::ARRAY) != 0 {
            need = need.plus(work::LEVEL);
        }
        if level.kinds & kind::IN_PLACE != 0 {
            need = need.plus(work::LEVEL + work::FRAME);
        }
        Ok((slot, need))
    }

    /// Puts a finished schema at the front, unless its slot can hold it.
    fn node(&mut self, level: &Level) -> Result<Slot, SchemaError> {
        if level.count == 0
            && !level.defines
            && let Some(slot) = Slot::immediate(level.types, level.offset)
        {
            return Ok(slot);
        }
        let alias = level.is_alias();
        self.refs.nodes += 1;
        self.refs.places += usize::from(level.kinds & kind::IN_PLACE != 0);
        let kinds = if alias { kind::IN_PLACE | kind::ALIAS } else { level.kinds };
        let address = self.store.front();
        let node = Node { types: level.types, kinds, count: level.count, offset: level.offset };
        self.store.append(node.head());
        self.store.append(node.offset);
        self.store.move_to_front(level.base);
        if self.store.front() > MAX_PROGRAM {
            Err(error_at(SchemaErrorKind::TooLarge, 0))
        } else {
            Ok(Slot::node(address))
        }
    }

    /// Pushes an instruction of the innermost schema.
    pub(super) fn instruction(&mut self, op: u8, argument: u32, operands: &[u32]) {
        for &word in operands.iter().rev() {
            self.store.push(word);
        }
        self.store.push(u32::from(op) | argument << 8);
        if self.tracks && op >= op::REF {
            self.notes += match op {
                op::ALL_OF | op::ANY_OF | op::ONE_OF | op::DEPENDENT => argument,
                _ => 1,
            };
        }
        let level = self.level();
        level.count = level.count.saturating_add(1);
        level.kinds |= program::kind_of(op);
    }

    /// Pushes an entry whose key stands at `at`.
    pub(super) fn entry(&mut self, at: usize, key: Str<'s>, flags: u32, slot: Slot) {
        let escaped = if key.has_escapes() { Entry::ESCAPED } else { 0 };
        self.store.push(slot.0);
        self.store.push(word_of(key.raw().len() + 2) | flags | escaped);
        self.store.push(word_of(at));
    }

    /// The innermost schema. There is one whenever this is called; were there none, the first place would do
    /// no harm.
    pub(super) fn level(&mut self) -> &mut Level {
        let [first, rest @ ..] = &mut *self.levels;
        match self.depth.checked_sub(2) {
            Some(index) => rest.get_mut(index).unwrap_or(first),
            None => first,
        }
    }
}

impl Level {
    /// Whether it is a lone `$ref`.
    fn is_alias(&self) -> bool {
        let lone = self.count == 1 && self.seen >> super::keyword::REF & 1 == 1;
        lone && self.kinds == kind::IN_PLACE && self.types == types::ALL
    }

    fn new(offset: usize, base: usize) -> Level {
        Level { offset: word_of(offset), base, entries: (base, base), list: base, ..Level::EMPTY }
    }

    const EMPTY: Level = Level {
        offset: 0,
        seen: 0,
        base: 0,
        entries: (0, 0),
        properties: 0,
        required: 0,
        others: Slot::ANY,
        patterned: false,
        #[cfg(feature = "pattern")]
        matcher: 0,
        need: Need::NOTHING,
        types: types::ALL,
        kinds: 0,
        count: 0,
        place: Place::Keywords,
        list: 0,
        ref_only: false,
        defines: false,
    };
}

/// Addresses are below this.
const MAX_PROGRAM: usize = i32::MAX as usize;
