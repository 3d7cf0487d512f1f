//! From a schema's text to its program.
//!
//! One pass over the text with an explicit, bounded stack of the schemas that are open; then the references,
//! in [`refs`](super::refs). Time is linear in the text, up to a logarithm for sorting the names of large
//! objects and the references. Keyword rules are those of JSON Schema Core and Validation, drafts 2020-12 and
//! 7.
//!
//! Three kinds of keyword: those that are enforced; annotations and unknown ones, which change nothing and
//! are skipped; and those that would change what is accepted but cannot be enforced, which are refused by
//! name. So a program accepts what its schema accepts, or there is no program.

use super::entry::Entry;
use super::error::{SchemaError, SchemaErrorKind};
use super::index::Index;
use super::keyword::Dialect;
use super::program::{self, Node, RECURSIVE, Slot, kind, op, types, word_of};
use super::source::{Resource, Texts, offset_in};
use super::store::Store;
use super::work;
use crate::json::{self, Event, Kind, Reader, Str, Value};

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
/// names how much would do. Objects of more than 64 names and references need some memory on the way that is
/// free again in the end.
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
    let texts = Texts { first: text, more: resources };
    let mut levels = NO_LEVELS;
    let compiled = Compiler::new(texts, options, memory, &mut levels).and_then(|mut compiler| {
        compiler.run()?;
        Ok(compiler.store.fits().then_some(compiler.store.front()))
    });
    if let Some(size) = compiled.map_err(|error| placed(error, texts))? {
        return Ok(size);
    }
    // Measured from the beginning, so that the answer does not depend on how much memory there was.
    let need = measure(texts, options, &mut levels)?;
    Err(error_at(SchemaErrorKind::NoSpace { need }, 0))
}

/// How much memory is enough to compile `text`; exactly what is used, except as said at [`compile`]. An error
/// means that `compile` fails too; duplicate properties and references that are wrong only show there.
pub fn program_size(text: &str, options: &CompileOptions) -> Result<usize, SchemaError> {
    program_size_with(text, &[], options)
}

/// As [`program_size`], with resources. What of them will be compiled only shows in [`compile_with`], so this
/// is the most that it can be, and `compile_with` may do with much less.
pub fn program_size_with(
    text: &str,
    resources: &[Resource<'_>],
    options: &CompileOptions,
) -> Result<usize, SchemaError> {
    let mut levels = NO_LEVELS;
    let texts = Texts { first: text, more: resources };
    measure(texts, options, &mut levels)
}

fn measure(texts: Texts<'_>, options: &CompileOptions, levels: &mut Levels) -> Result<usize, SchemaError> {
    let measured = Compiler::new(texts, options, &mut [], levels).and_then(|mut compiler| {
        compiler.run()?;
        Ok(compiler.store.need())
    });
    measured.map_err(|error| placed(error, texts))
}

/// An error in one of the texts, from one at an address.
fn placed(error: SchemaError, texts: Texts<'_>) -> SchemaError {
    let (_, number, start) = texts.locate(error.offset);
    SchemaError { offset: error.offset.saturating_sub(start), resource: number.checked_sub(1), ..error }
}

/// The schemas that are open: once on the stack for a compilation, however often it is begun.
type Levels = [Level; MAX_LEVELS as usize];

const NO_LEVELS: Levels = [Level::EMPTY; MAX_LEVELS as usize];

/// One compilation.
pub(super) struct Compiler<'s, 'm> {
    pub(super) texts: Texts<'s>,
    /// The text that is being read, and its address.
    pub(super) text: &'s str,
    pub(super) base: usize,
    reader: Reader<'s>,
    /// The address where the reader began.
    origin: usize,
    pub(super) store: Store<'m>,
    pub(super) refs: Refs,
    pub(super) draft: Draft,
    /// Whether the dialect has the keywords that make assertions, and not only those that apply schemas.
    pub(super) validation: bool,
    default_draft: Draft,
    /// The text may hold `unevaluatedProperties`, for which `true` is more than nothing.
    tracks: bool,
    #[cfg(feature = "format")]
    pub(super) formats: bool,
    #[cfg(feature = "format")]
    formats_asked: bool,
    /// Draft 7, and the text may hold a `$ref`.
    scan_for_ref: bool,
    may_refer: bool,
    /// There may be documents with a URI.
    pub(super) may_name: bool,
    levels: &'m mut Levels,
    pub(super) depth: usize,
    max_depth: usize,
    /// Somewhere there is a `patternProperties`.
    pub(super) patterned: bool,
    /// Work words of the largest level.
    pub(super) largest: u32,
    /// Schemas that can be noted for one value.
    notes: u32,
    /// Work words that are needed beside the levels, for comparing values.
    pub(super) once: u32,
}

/// What was seen of references.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refs {
    /// How many there are.
    pub(super) count: usize,
    /// One may lead to a place that the pass over the text does not compile.
    pub(super) odd: bool,
    /// One leads to a document or an anchor, or stands in a document inside another one.
    pub(super) foreign: bool,
    /// A dynamic one can have its target replaced.
    pub(super) dynamic: bool,
    /// Bits of the texts that references lead into.
    pub(super) entered: u64,
    /// The most tokens in one.
    pub(super) deepest: usize,
    /// Nodes that apply schemas in place.
    pub(super) places: usize,
    /// The most frames that one value takes.
    pub(super) chain: u32,
}

/// A schema that is open.
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
    pub(super) need: u32,
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

impl<'s, 'm> Compiler<'s, 'm> {
    fn new(
        texts: Texts<'s>,
        options: &CompileOptions,
        memory: &'m mut [u8],
        levels: &'m mut Levels,
    ) -> Result<Self, SchemaError> {
        if texts.len() >= Entry::MAX_LENGTH as usize {
            return Err(error_at(SchemaErrorKind::TooLarge, 0));
        }
        let text = texts.first;
        let mut start = 0;
        for text in core::iter::once(text).chain(texts.more.iter().map(|resource| resource.text)) {
            let parsed = json::parse(text.as_bytes(), &json::Options::default());
            parsed.map_err(|error| error_at(SchemaErrorKind::Json(error), start + error.offset))?;
            start += text.len();
        }
        let may_hold = |word: &str| {
            let texts = core::iter::once(text).chain(texts.more.iter().map(|resource| resource.text));
            texts.into_iter().any(|text| text.contains(word) || text.contains("\\u"))
        };
        let mut compiler = Compiler {
            texts,
            text,
            base: 0,
            reader: Reader::new(text.as_bytes(), &json::Options::default()),
            origin: 0,
            store: Store::new(memory),
            refs: Refs::default(),
            draft: options.default_draft,
            validation: true,
            default_draft: options.default_draft,
            tracks: may_hold("unevaluated"),
            #[cfg(feature = "format")]
            formats: options.formats,
            #[cfg(feature = "format")]
            formats_asked: options.formats,
            scan_for_ref: false,
            may_refer: may_hold("$ref"),
            may_name: may_hold("$id") || !texts.more.is_empty(),
            levels,
            depth: 0,
            max_depth: usize::from(options.max_depth.min(MAX_LEVELS)),
            patterned: false,
            largest: 0,
            notes: 0,
            once: 0,
        };
        let dialect = compiler.dialect_of(0)?;
        compiler.set_dialect(dialect);
        Ok(compiler)
    }

    fn set_dialect(&mut self, dialect: Dialect) {
        (self.draft, self.validation) = (dialect.draft, dialect.validation);
        #[cfg(feature = "format")]
        {
            self.formats = self.formats_asked || dialect.formats;
        }
        // In draft 7 a `$ref` cancels the keywords beside it, also those before it. Escapes could hide it.
        self.scan_for_ref = dialect.draft == Draft::Draft7 && self.may_refer;
    }

    /// The dialect of the document at an address, by its own word.
    pub(super) fn dialect_of(&self, at: usize) -> Result<Dialect, SchemaError> {
        match self.value_at(at)?.get("$schema") {
            Some(name) => self.dialect(at, name),
            None => Ok(Dialect { draft: self.default_draft, validation: true, formats: false }),
        }
    }

    fn run(&mut self) -> Result<(), SchemaError> {
        for word in [program::MAGIC, 0, 0, 0] {
            self.store.append(word);
        }
        let (root, need) = self.schema()?;
        self.store.set(4, root.0);
        let recursive = self.refs.count > 0;
        self.resolve()?;
        // There is no level around the root that would have to be kept.
        let kinds = root.as_node().map_or(0, |at| Node::read(self.store.program(), at).kinds);
        let around = if kinds & (kind::OBJECT | kind::ARRAY | kind::IN_PLACE) != 0 { work::LEVEL } else { 0 };
        let need = need.saturating_sub(around).saturating_add(self.notes).min(RECURSIVE - 1);
        self.store.set(8, if recursive { RECURSIVE | self.once } else { need });
        let frames = self.refs.chain.saturating_mul(work::LEVEL + work::FRAME);
        let containers = work::LEVEL * (1 + u32::from(self.patterned));
        let level = frames.saturating_add(containers).saturating_add(self.notes);
        self.store.set(12, level.saturating_add(self.largest));
        Ok(())
    }

    /// Compiles the schema that stands at an address.
    pub(super) fn schema_at(&mut self, index: Option<&Index>, at: usize) -> Result<Slot, SchemaError> {
        let value = self.value_at(at)?;
        (self.text, _, self.base) = self.texts.locate(at);
        if let Some(index) = index {
            // The document says which dialect, or the one around it.
            let mut number = index.innermost(&self.store, word_of(at));
            loop {
                let document = index.document(&self.store, number);
                let start = document.start as usize;
                let parent = document.parent as usize;
                if parent >= number || self.value_at(start)?.get("$schema").is_some() {
                    let dialect = self.dialect_of(start)?;
                    self.set_dialect(dialect);
                    break;
                }
                number = parent;
            }
        }
        self.reader = Reader::new(value.raw().as_bytes(), &json::Options::default());
        self.origin = at;
        self.schema().map(|(slot, _)| slot)
    }

    /// Compiles the schema that the reader has next. Gives its slot and the work words that checking it
    /// needs.
    fn schema(&mut self) -> Result<(Slot, u32), SchemaError> {
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
    pub(super) fn open(&mut self) -> Result<Option<(Slot, u32)>, SchemaError> {
        let at = self.place();
        match self.peek()? {
            Kind::Bool => {
                let accepts = self.value()?.as_bool() == Some(true);
                let types = if accepts { types::ALL } else { types::NONE };
                Ok(Some((self.node(&Level { types, ..Level::new(at, self.store.height()) })?, 0)))
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
                }
                Ok(None)
            }
            _ => Err(error_at(SchemaErrorKind::NotASchema, at)),
        }
    }

    /// Ends the innermost schema.
    fn close(&mut self) -> Result<(Slot, u32), SchemaError> {
        let mut level = *self.level();
        let others = if self.tracks { level.others != Slot::ANY } else { !level.others.is_any() };
        if level.properties != 0 || level.required != 0 || others || level.patterned {
            let count = self.table(&level)?;
            let level = self.level();
            level.count += 1;
            level.kinds |= kind::OBJECT;
            level.need = level.need.saturating_add(work::table(count));
            if level.patterned {
                level.kinds |= kind::PATTERNED;
                level.need = level.need.saturating_add(work::LEVEL);
            }
            self.largest = self.largest.max(work::table(count));
        }
        level = *self.level();
        self.depth = self.depth.saturating_sub(1);
        let slot = self.node(&level)?;
        let mut need = level.need;
        if level.kinds & (kind::OBJECT | kind::ARRAY) != 0 {
            need = need.saturating_add(work::LEVEL);
        }
        if level.kinds & kind::IN_PLACE != 0 {
            need = need.saturating_add(work::LEVEL + work::FRAME);
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

    /// Where the reader's next token stands.
    pub(super) fn place(&self) -> usize {
        self.origin + self.reader.value_offset()
    }

    fn next(&mut self) -> Result<Event<'s>, SchemaError> {
        let end = json::Error { reason: json::Reason::UnexpectedEnd, offset: self.place() };
        self.reader.next_event().and_then(|event| event.ok_or(end)).map_err(not_json)
    }

    pub(super) fn peek(&mut self) -> Result<Kind, SchemaError> {
        self.reader.peek().map_err(not_json)
    }

    pub(super) fn value(&mut self) -> Result<Value<'s>, SchemaError> {
        self.reader.skip_value().map_err(not_json)
    }

    pub(super) fn value_of(&mut self, kind: Kind) -> Result<Value<'s>, SchemaError> {
        let value = self.value()?;
        if value.kind() == kind { Ok(value) } else { Err(self.error(SchemaErrorKind::BadKeyword, value)) }
    }

    /// Enters a container and gives its offset.
    pub(super) fn enter(&mut self, kind: Kind) -> Result<usize, SchemaError> {
        let at = self.place();
        if self.peek()? != kind {
            return Err(error_at(SchemaErrorKind::BadKeyword, at));
        }
        self.next()?;
        Ok(at)
    }

    /// The value that stands at an offset of the text.
    pub(super) fn value_at(&self, at: usize) -> Result<Value<'s>, SchemaError> {
        self.texts.value(at).ok_or(error_at(SchemaErrorKind::NotASchema, at))
    }

    pub(super) fn offset(&self, value: Value<'s>) -> usize {
        self.base + offset_in(self.text, value.raw())
    }

    pub(super) fn error(&self, kind: SchemaErrorKind, value: Value<'s>) -> SchemaError {
        error_at(kind, self.offset(value))
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
        need: 0,
        types: types::ALL,
        kinds: 0,
        count: 0,
        place: Place::Keywords,
        list: 0,
        ref_only: false,
        defines: false,
    };
}

pub(super) fn error_at(kind: SchemaErrorKind, offset: usize) -> SchemaError {
    SchemaError { kind, offset, resource: None }
}

pub(super) fn not_json(error: json::Error) -> SchemaError {
    error_at(SchemaErrorKind::Json(error), error.offset)
}

/// Addresses are below this.
const MAX_PROGRAM: usize = i32::MAX as usize;
