//! The state of a compilation: its texts, its store, what it found out so far; how it begins and ends.

use super::compile::{CompileOptions, Draft, MAX_LEVELS, error_at, not_json};
use super::dialect::Dialect;
use super::error::{SchemaError, SchemaErrorKind};
use super::index::Index;
use super::pass::Levels;
use super::program::{self, Node, RECURSIVE, Slot, UNIQUE, kind, word_of};
use super::source::{Texts, offset_in};
use super::store::Store;
use super::work::{self, Need};
use crate::json::{self, Event, Kind, Reader, Value};

/// One compilation.
pub(super) struct Compiler<'s, 'm> {
    pub(super) texts: Texts<'s>,
    /// The text that is being read, and its address.
    pub(super) text: &'s str,
    pub(super) base: usize,
    pub(super) reader: Reader<'s>,
    /// The address where the reader began.
    origin: usize,
    pub(super) store: Store<'m>,
    pub(super) refs: Refs,
    pub(super) draft: Draft,
    /// Whether the dialect has the keywords that make assertions, and not only those that apply schemas.
    pub(super) validation: bool,
    pub(super) default_draft: Draft,
    /// The text may hold `unevaluatedProperties`, for which `true` is more than nothing.
    pub(super) tracks: bool,
    #[cfg(feature = "format")]
    pub(super) formats: bool,
    #[cfg(feature = "format")]
    pub(super) formats_asked: bool,
    /// Draft 7, and the text may hold a `$ref`.
    pub(super) scan_for_ref: bool,
    pub(super) may_refer: bool,
    /// There may be documents with a URI.
    pub(super) may_name: bool,
    pub(super) levels: &'m mut Levels,
    pub(super) depth: usize,
    pub(super) max_depth: usize,
    /// Somewhere there is a `patternProperties`.
    pub(super) patterned: bool,
    /// Work words of the largest level.
    pub(super) largest: u32,
    /// Schemas that can be noted for one value.
    pub(super) notes: u32,
    /// Work words that are needed beside the levels, for comparing values.
    pub(super) once: Need,
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
    /// What they lead into was not compiled, but counted as the most that it can be.
    pub(super) bounded: bool,
    /// A dynamic one can have its target replaced.
    pub(super) dynamic: bool,
    /// Bits of the texts that references lead into.
    pub(super) entered: u64,
    /// The most tokens in one.
    pub(super) deepest: usize,
    /// Nodes that apply schemas in place.
    pub(super) places: usize,
    /// All nodes, and the most that are inside one another.
    pub(super) nodes: usize,
    pub(super) nested: usize,
    /// The most words that the frames of one value take.
    pub(super) chain: u32,
    /// What a check needs, if no schema leads back to itself.
    pub(super) need: Option<Need>,
}

impl<'s, 'm> Compiler<'s, 'm> {
    /// For texts that are JSON.
    pub(super) fn new(
        texts: Texts<'s>,
        options: &CompileOptions,
        memory: &'m mut [u8],
        levels: &'m mut Levels,
    ) -> Result<Self, SchemaError> {
        let text = texts.first;
        let may_hold = |word: &str| texts.all().any(|text| text.contains(word) || text.contains("\\u"));
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
            tracks: cfg!(feature = "unevaluated") && may_hold("unevaluated"),
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
            once: Need::NOTHING,
        };
        let dialect = compiler.dialect_of(0)?;
        compiler.set_dialect(dialect);
        Ok(compiler)
    }

    pub(super) fn run(&mut self) -> Result<(), SchemaError> {
        for word in [program::MAGIC, 0, 0, 0] {
            self.store.append(word);
        }
        let (root, need) = self.schema()?;
        self.store.set(4, root.0);
        // There is no level around the root that would have to be kept.
        let kinds = root.as_node().map_or(0, |at| Node::read(self.store.program(), at).kinds);
        let around = if kinds & (kind::OBJECT | kind::ARRAY | kind::IN_PLACE) != 0 { work::LEVEL } else { 0 };
        let mut need = Some(need.minus(around).plus(self.notes));
        let mut level = 0;
        if self.refs.count > 0 {
            self.resolve()?;
            let containers = work::LEVEL * (1 + u32::from(self.patterned));
            level = self.refs.chain.saturating_add(containers).saturating_add(self.notes);
            level = level.saturating_add(self.largest);
            // A chain can be longer than an instance is deep.
            let deepest = self.once.plus(level.saturating_mul(u32::from(json::MAX_DEPTH) + 1));
            need = self.refs.need.map(|need| need.min(deepest));
        }
        let words = match need {
            Some(need) => [need.all.min(UNIQUE - 1), need.plain],
            None => {
                let unique = if self.once.all > self.once.plain { UNIQUE } else { 0 };
                [RECURSIVE | unique | self.once.plain.min(UNIQUE - 1), level]
            }
        };
        self.store.set(8, words[0]);
        self.store.set(12, words[1]);
        Ok(())
    }

    /// Compiles the schema that stands at an address.
    pub(super) fn schema_at(&mut self, index: Option<&Index>, at: usize) -> Result<Slot, SchemaError> {
        let value = self.value_at(at)?;
        (self.text, _, self.base) = self.texts.locate(at);
        if let Some(index) = index {
            let mut number = index.innermost(&self.store, word_of(at));
            loop {
                let document = index.document(&self.store, number);
                let parent = document.parent as usize;
                if let Some(bits) = document.dialect {
                    self.set_dialect(Dialect::from_bits(bits));
                    break;
                }
                // Of this one, or of one around it, it is not known; then this says why.
                self.dialect_of(document.start as usize)?;
                if parent >= number {
                    break;
                }
                number = parent;
            }
        }
        self.reader = Reader::new(value.raw().as_bytes(), &json::Options::default());
        self.origin = at;
        self.schema().map(|(slot, _)| slot)
    }

    /// Where the reader's next token stands.
    pub(super) fn place(&self) -> usize {
        self.origin + self.reader.value_offset()
    }

    pub(super) fn next(&mut self) -> Result<Event<'s>, SchemaError> {
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
