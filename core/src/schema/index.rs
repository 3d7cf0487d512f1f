//! What can be referred to by name: documents and parts of them with an `$id`, and anchors. Built only for a
//! schema that needs it, on the stack of the [`Store`].
//!
//! URIs are not kept. A record has the hash of one, and the URI is resolved again to make sure. Both kinds of
//! record stand in the order of the texts; beside them are their numbers, sorted by what they are looked up by.

use super::compile::{Draft, error_at};
use super::compiler::Compiler;
use super::dialect::Dialect;
use super::error::{SchemaError, SchemaErrorKind};
use super::lower::{Step, walk};
use super::pointer::{Pointer, compare_names, hash_name};
use super::program::{Slot, word_of, words};
use super::source::{Texts, offset_in, value_at};
use super::store::{Store, partition, sort};
use super::uri::{self, MAX_URI, Uri};
use crate::json::{Kind, Value, blanks};
use crate::sink::Sink;
use core::cmp::Ordering;

/// Where the records are.
#[derive(Clone, Copy)]
pub(super) struct Index {
    low: usize,
    pub(super) documents: usize,
    pub(super) anchors: usize,
}

/// A schema that has a URI: the root of a text, or one with an `$id`. In order of their start.
#[derive(Clone, Copy)]
pub(super) struct Document {
    /// Where it starts and ends.
    pub(super) start: u32,
    pub(super) end: u32,
    /// The address of its `$id`, or `GIVEN` and the number of the text.
    id: u32,
    /// The number of the document around.
    pub(super) parent: u32,
    /// The bits of its dialect. There are none if it is not known.
    pub(super) dialect: Option<u32>,
    /// The hash of its URI.
    hash: u32,
}

/// A name for a schema within a document.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    /// Where the document starts that it belongs to.
    pub(super) document: u32,
    /// The address of the name.
    pub(super) name: u32,
    pub(super) dynamic: bool,
    /// Where the schema starts.
    pub(super) start: u32,
    /// The hash of its name.
    pub(super) hash: u32,
    /// The slot of the schema, if it is wanted for references that are dynamic.
    pub(super) slot: Slot,
    /// Of the first one of a name: whether it is wanted, then where the program has a table for it.
    pub(super) table: u32,
}

impl Index {
    const DOCUMENT: usize = 5;
    const ANCHOR: usize = 6;

    pub(super) fn document(&self, store: &Store<'_>, number: usize) -> Document {
        let at = store.address(self.low + 4 * Index::DOCUMENT * (number + 1));
        let [start, end, id, parent, hash] = words(store.memory(), at);
        let dialect = Some(parent >> DIALECT).filter(|bits| *bits != NO_DIALECT);
        Document { start, end, id, parent: parent & ((1 << DIALECT) - 1), dialect, hash }
    }

    pub(super) fn anchor(&self, store: &Store<'_>, number: usize) -> Anchor {
        let [document, name, start, slot, hash, table] = words(store.memory(), self.anchor_at(store, number));
        let dynamic = name & DYNAMIC != 0;
        Anchor { document, name: name & !DYNAMIC, dynamic, start, hash, slot: Slot(slot), table }
    }

    fn anchor_at(&self, store: &Store<'_>, number: usize) -> usize {
        let before = 4 * Index::DOCUMENT * self.documents;
        store.address(self.low + before + 4 * Index::ANCHOR * (number + 1))
    }

    pub(super) fn set_slot(&self, store: &mut Store<'_>, number: usize, slot: Slot) {
        store.set(self.anchor_at(store, number) + 12, slot.0);
    }

    pub(super) fn set_table(&self, store: &mut Store<'_>, number: usize, table: u32) {
        store.set(self.anchor_at(store, number) + 20, table);
    }

    /// Where the sorted numbers of the documents begin, at this height, and those of the anchors.
    fn orders(&self) -> (usize, usize) {
        let documents = self.low + 4 * (Index::DOCUMENT * self.documents + Index::ANCHOR * self.anchors);
        (documents, documents + 4 * self.documents)
    }

    /// The number of the document at a place in the order of their hashes.
    fn ordered_document(&self, store: &Store<'_>, place: usize) -> usize {
        store.get(store.address(self.orders().0 + 4 * (place + 1))) as usize
    }

    /// The number of the anchor at a place in the order of their names, equal ones in the order of documents.
    pub(super) fn ordered_anchor(&self, store: &Store<'_>, place: usize) -> usize {
        store.get(store.address(self.orders().1 + 4 * (place + 1))) as usize
    }

    /// The number of the innermost document around an address.
    pub(super) fn innermost(&self, store: &Store<'_>, at: u32) -> usize {
        let (mut low, mut high) = (0, self.documents);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.document(store, middle).start <= at { low = middle + 1 } else { high = middle }
        }
        let mut number = low.saturating_sub(1);
        loop {
            let document = self.document(store, number);
            let parent = document.parent as usize;
            if at < document.end || parent >= number {
                return number;
            }
            number = parent;
        }
    }

    /// The anchor with this name, as a reference has it, in the document that starts at an address.
    pub(super) fn find_anchor(
        &self,
        compiler: &Compiler<'_, '_>,
        document: u32,
        name: &Pointer<'_>,
    ) -> Option<Anchor> {
        let store = &compiler.store;
        let place = self.place_of(compiler, name, document);
        let anchor = self.anchor(store, self.ordered_anchor(store, place));
        let found = place < self.anchors && anchor.document == document;
        (found && anchor.order(compiler.texts, name) == Ordering::Equal).then_some(anchor)
    }

    /// The first place in the order of anchors that has this name, or comes after it.
    pub(super) fn place_of(&self, compiler: &Compiler<'_, '_>, name: &Pointer<'_>, document: u32) -> usize {
        let store = &compiler.store;
        partition(0, self.anchors, |place| {
            let anchor = self.anchor(store, self.ordered_anchor(store, place));
            anchor.order(compiler.texts, name).then(anchor.document.cmp(&document)) == Ordering::Less
        })
    }

    /// The number of the document with this URI.
    pub(super) fn find_document(
        &self,
        compiler: &Compiler<'_, '_>,
        uri: &Uri,
        budget: &mut usize,
    ) -> Option<usize> {
        let store = &compiler.store;
        let hash = uri::hash(uri.text());
        let hash_at = |place| self.document(store, self.ordered_document(store, place)).hash;
        let first = partition(0, self.documents, |place| hash_at(place) < hash);
        let mut same = (first..self.documents).take_while(|&place| hash_at(place) == hash);
        let found = same.find(|&place| {
            // There are more of a hash only by intent.
            *budget = budget.saturating_sub(MAX_URI);
            let number = self.ordered_document(store, place);
            *budget == 0 || compiler.uri_of(self, number).is_some_and(|known| known.text() == uri.text())
        });
        found.filter(|_| *budget > 0).map(|place| self.ordered_document(store, place))
    }
}

impl Anchor {
    /// Compares its name with the one in a reference.
    pub(super) fn order(&self, texts: Texts<'_>, name: &Pointer<'_>) -> Ordering {
        self.hash.cmp(&name.clone().hash()).then_with(|| {
            match texts.value(self.name as usize).and_then(Value::as_str) {
                Some(known) => name.compare_name(known).reverse(),
                None => Ordering::Less,
            }
        })
    }

    /// Compares the names of two.
    pub(super) fn order_of_names(&self, texts: Texts<'_>, other: &Anchor) -> Ordering {
        let name = |anchor: &Anchor| texts.value(anchor.name as usize).and_then(Value::as_str);
        self.hash.cmp(&other.hash).then_with(|| match (name(self), name(other)) {
            (Some(a), Some(b)) => compare_names(a, b),
            _ => Ordering::Equal,
        })
    }
}

impl<'s> Compiler<'s, '_> {
    /// Pushes the records of all texts.
    pub(super) fn build_index(&mut self) -> Result<Index, SchemaError> {
        let mut index = Index { low: self.store.height(), documents: 0, anchors: 0 };
        for anchors in [false, true] {
            let mut begin = 0;
            for number in 0..=self.texts.more.len() {
                let text = self.text_number(number);
                self.index_text(&mut index, number, text, begin, anchors)?;
                begin += text.len();
            }
        }
        self.sort_index(&index);
        if self.store.fits() {
            self.refuse_twins(&index)?;
        }
        Ok(index)
    }

    /// Refuses a name that two schemas of a document have, and a URI that two documents of a text have.
    fn refuse_twins(&self, index: &Index) -> Result<(), SchemaError> {
        let store = &self.store;
        let twice = |at: u32| Err(error_at(SchemaErrorKind::DuplicateKey, at as usize));
        for place in 1..index.anchors {
            let [a, b] =
                [place - 1, place].map(|place| index.anchor(store, index.ordered_anchor(store, place)));
            let same = a.document == b.document && a.start != b.start;
            if same && a.order_of_names(self.texts, &b) == Ordering::Equal {
                return twice(b.name);
            }
        }
        for place in 1..index.documents {
            let [a, b] = [place - 1, place].map(|place| index.ordered_document(store, place));
            let [first, second] = [a, b].map(|number| index.document(store, number));
            let [one, other] = [first, second].map(|document| self.texts.locate(document.start as usize).1);
            if first.hash == second.hash
                && first.start != second.start
                && one == other
                && let (Some(uri), Some(known)) = (self.uri_of(index, b), self.uri_of(index, a))
                && uri.text() == known.text()
            {
                return twice(second.id);
            }
        }
        Ok(())
    }

    /// Pushes the numbers of the records, in the orders in which they are looked up.
    fn sort_index(&mut self, index: &Index) {
        (0..index.documents).for_each(|number| self.store.push(word_of(number)));
        (0..index.anchors).for_each(|number| self.store.push(word_of(number)));
        if !self.store.fits() {
            return;
        }
        let texts = self.texts;
        let at = |store: &Store<'_>, low, place: usize| store.address(low + 4 * (place + 1));
        let (documents, anchors) = index.orders();
        let mut less = |store: &Store<'_>, a, b| {
            let (a, b) = (index.ordered_document(store, a), index.ordered_document(store, b));
            (index.document(store, a).hash, a) < (index.document(store, b).hash, b)
        };
        sort(&mut self.store, index.documents, &mut less, &|store, a, b| {
            store.swap(at(store, documents, a), at(store, documents, b), 1);
        });
        let mut less = |store: &Store<'_>, a, b| {
            let (a, b) = (index.ordered_anchor(store, a), index.ordered_anchor(store, b));
            let (first, second) = (index.anchor(store, a), index.anchor(store, b));
            let order = first.order_of_names(texts, &second);
            order.then((first.document, a).cmp(&(second.document, b))) == Ordering::Less
        };
        sort(&mut self.store, index.anchors, &mut less, &|store, a, b| {
            store.swap(at(store, anchors, a), at(store, anchors, b), 1);
        });
    }

    fn text_number(&self, number: usize) -> &'s str {
        match number.checked_sub(1) {
            Some(number) => self.texts.more.get(number).map_or("", |resource| resource.text),
            None => self.texts.first,
        }
    }

    fn index_text(
        &mut self,
        index: &mut Index,
        number: usize,
        text: &'s str,
        begin: usize,
        anchors: bool,
    ) -> Result<(), SchemaError> {
        let root = text.len() - blanks(text.as_bytes()).len();
        // One with a dialect that is not known is refused when something in it is compiled.
        let dialect = self.dialect_of(begin + root).ok();
        let old = dialect.map_or(self.draft, |dialect| dialect.draft) == Draft::Draft7;
        let mut current = index.documents;
        if !anchors {
            let given = GIVEN | word_of(number);
            let bits = dialect.map(Dialect::bits);
            self.push_document(index, (begin + root, begin + text.len()), given, current, bits)?;
        }
        let mut problem = Ok(());
        walk(text, &mut |step| {
            let Step::Node { offset, .. } = step else { return true };
            let Some(value) = value_at(text, offset) else { return true };
            let start = begin + offset;
            let id = value.get("$id").filter(|id| id.kind() == Kind::String);
            // In draft 7 a reference cancels what is beside it, and an identifier can be an anchor.
            let id = id.filter(|_| !old || value.get("$ref").is_none());
            let is_anchor =
                |id: Value<'_>| old && id.as_str().is_some_and(|id| id.chars().next() == Some('#'));
            let address = |part: Value<'_>| begin + offset_in(text, part.raw());
            if !anchors {
                let store = &self.store;
                // Without room the records are only counted, and there is none to read.
                while store.fits() {
                    let document = index.document(store, current);
                    if word_of(start) < document.end || document.parent as usize >= current {
                        break;
                    }
                    current = document.parent as usize;
                }
                if let Some(id) = id.filter(|id| !is_anchor(*id)) {
                    let parent = current;
                    // It says which dialect it is written in, or the one around it does.
                    let bits = match value.get("$schema") {
                        Some(name) => self.dialect(start, name).ok().map(Dialect::bits),
                        None if self.store.fits() => index.document(&self.store, parent).dialect,
                        None => None,
                    };
                    current = index.documents;
                    let extent = (start, start + value.raw().len());
                    problem = self.push_document(index, extent, word_of(address(id)), parent, bits);
                }
            } else if old {
                if let Some(id) = id.filter(|id| is_anchor(*id)) {
                    self.push_anchor(index, start, address(id), false);
                }
            } else {
                for (keyword, dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
                    if let Some(name) = value.get(keyword).filter(|name| name.kind() == Kind::String) {
                        self.push_anchor(index, start, address(name), dynamic);
                    }
                }
            }
            problem.is_ok()
        });
        problem
    }

    fn push_document(
        &mut self,
        index: &mut Index,
        (start, end): (usize, usize),
        id: u32,
        parent: usize,
        dialect: Option<u32>,
    ) -> Result<(), SchemaError> {
        let parent = word_of(parent) | dialect.unwrap_or(NO_DIALECT) << DIALECT;
        for word in [0, parent, id, word_of(end), word_of(start)] {
            self.store.push(word);
        }
        let number = index.documents;
        index.documents += 1;
        if self.store.fits() {
            let uri = self.uri_of(index, number);
            let uri = uri.ok_or(error_at(SchemaErrorKind::UnsupportedRef, (id & !GIVEN) as usize))?;
            let at = self.store.address(self.store.height());
            self.store.set(at + 16, uri::hash(uri.text()));
        }
        Ok(())
    }

    fn push_anchor(&mut self, index: &mut Index, start: usize, name: usize, dynamic: bool) {
        let document = if self.store.fits() {
            index.document(&self.store, index.innermost(&self.store, word_of(start))).start
        } else {
            0
        };
        let text = self.texts.value(name).and_then(Value::as_str);
        let hash = text.map_or(0, hash_name);
        let name = word_of(name) | if dynamic { DYNAMIC } else { 0 };
        for word in [0, hash, Slot::NOWHERE.0, word_of(start), name, document] {
            self.store.push(word);
        }
        index.anchors += 1;
    }

    /// The URI of a document. Nothing if it is too long.
    pub(super) fn uri_of(&self, index: &Index, number: usize) -> Option<Uri> {
        // Up to one that needs no base, and down again.
        let mut way = heapless::Vec::<usize, { crate::json::MAX_DEPTH as usize + 1 }>::new();
        let mut number = number;
        let mut buffer = [0; MAX_URI];
        let mut uri = loop {
            let document = index.document(&self.store, number);
            if document.id & GIVEN != 0 {
                let text = ((document.id & !GIVEN) as usize).checked_sub(1);
                let resource = text.and_then(|text| self.texts.more.get(text));
                break Uri::resolve("", resource.map_or("", |resource| resource.uri))?;
            }
            let id = self.texts.value(document.id as usize)?.as_str()?.decode_in(&mut buffer).ok()?;
            if uri::is_absolute(id) {
                break Uri::resolve("", id)?;
            }
            way.push(number).ok()?;
            let parent = document.parent as usize;
            if parent >= number {
                break Uri::resolve("", "")?;
            }
            number = parent;
        };
        while let Some(number) = way.pop() {
            let id = index.document(&self.store, number).id as usize;
            let id = self.texts.value(id)?.as_str()?.decode_in(&mut buffer).ok()?;
            uri = Uri::resolve(uri.text(), id)?;
        }
        Some(uri)
    }

    /// The number of the document that a reference leads to, which stands at an address.
    pub(super) fn document_of(
        &self,
        index: &Index,
        at: usize,
        budget: &mut usize,
    ) -> Result<usize, SchemaError> {
        let wrong = |kind| Err(error_at(kind, at));
        let around = index.innermost(&self.store, word_of(at));
        let Some(reference) = self.texts.value(at).and_then(Value::as_str) else {
            return wrong(SchemaErrorKind::UnresolvedRef);
        };
        let mut buffer = [0; MAX_URI];
        let mut sink = Sink::new(&mut buffer);
        reference.chars().take_while(|c| *c != '#').for_each(|c| sink.put_char(c));
        if sink.is_empty() {
            return Ok(around);
        }
        let document = sink.finish().ok();
        let uri = document
            .zip(self.uri_of(index, around))
            .and_then(|(reference, base)| Uri::resolve(base.text(), reference));
        let Some(uri) = uri else { return wrong(SchemaErrorKind::UnsupportedRef) };
        match index.find_document(self, &uri, budget) {
            Some(number) => Ok(number),
            None if *budget == 0 => wrong(SchemaErrorKind::RefLimit),
            None => wrong(SchemaErrorKind::UnknownDocument),
        }
    }
}

/// In the id of a document: it was handed over under a URI.
const GIVEN: u32 = 1 << 31;
/// Beside the parent of a document, which is far below: the bit where its dialect begins.
const DIALECT: u32 = 28;
const NO_DIALECT: u32 = 0xF;
/// In the name of an anchor.
const DYNAMIC: u32 = 1 << 31;
