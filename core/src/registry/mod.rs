//! The tools that a model may call, in memory that the caller hands in.
//!
//! - A tool is checked and its schema compiled when it is added; a failed `add` leaves the registry as
//!   it was and drops the handler.
//! - Finding a tool by name costs the same with 16 tools and with 4,096: the names are hashed.
//! - Each tool keeps its copied strings and its schema program in one piece of the pool, relative to its
//!   start; removing a tool closes the gap, so that adding and removing for ever needs no more memory.
//! - A shared registry may be read, rendered and dispatched over from any number of threads, if its
//!   handlers may; changing it needs `&mut`.
//!
//! ```
//! use toolcore::prelude::*;
//!
//! let mut memory = RegistryMemory::<fn(&Call, &mut ToolResult) -> Result<(), Failure>, 4, 1024>::new();
//! let mut tools = memory.registry(RegistryOptions::default());
//! let city = [ToolParameter::string("city")];
//! let weather = ToolDefinition {
//!     name: "get_weather",
//!     description: "Current weather in a city.",
//!     parameters: Parameters::Declared(&city),
//!     ..ToolDefinition::default()
//! };
//! tools.add(&weather, |call, result| Ok(result.text(call.args.str("city")?)?)).unwrap();
//! assert!(tools.contains("get_weather"));
//! ```

mod hook;
mod piece;
mod tool;

pub use hook::{Draft, Hook, NoHook, Verdict};
pub use tool::{Slot, Tool, ToolInfo};

use crate::json::Writer;
use crate::schema::{CompileOptions, ParameterError, Resource, SchemaError};
use crate::sink::Sink;
use crate::time::Duration;
use crate::tool::{NameError, Parameters, ToolDefinition, check_name};
use piece::{Texts, write_piece};
use tool::Place;

/// How many hooks a registry holds.
pub const MAX_HOOKS: usize = 4;

/// What happens to a name that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collision {
    /// The new tool is refused.
    #[default]
    Refuse,
    /// The new tool takes the old one's place in the order; the old handler is dropped. For a moment the
    /// pool needs room for both.
    Replace,
}

/// What holds for all tools of a registry.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegistryOptions<'m> {
    /// What happens to a name that is taken.
    pub collision: Collision,
    /// The timeout of tools that set none.
    pub timeout: Option<Duration>,
    /// How schemas are compiled.
    pub compile: CompileOptions,
    /// Documents that the references of schemas can lead into. A model is told a schema's own text, without
    /// them.
    pub resources: &'m [Resource<'m>],
}

/// Writes the JSON Schema of a tool's parameters, and on failure which parameter it was; as
/// [`crate::schema::write_parameter`] does.
pub type WriteSchema<'a> = dyn Fn(&mut Writer<'_, '_>, &mut Sink<'_>) -> Result<(), ParameterError> + 'a;

/// What `add` did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The name is new.
    New,
    /// It took the place of a tool of that name.
    Replaced,
}

/// Why a tool was not added. The registry is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror_no_std::Error)]
pub enum AddError {
    /// The name breaks the rule.
    #[error("{0}")]
    Name(NameError),
    /// The name is taken.
    #[error("a tool of that name is registered already")]
    Duplicate,
    /// All places are taken.
    #[error("the registry holds {max} tools already; make it larger or remove one")]
    Full {
        /// Places that there are.
        max: usize,
    },
    /// The pool is too small.
    #[error("no space for the tool: at least {need} bytes of pool needed, {room} left")]
    NoSpace {
        /// Bytes that the tool takes at the least.
        need: usize,
        /// Bytes that are left.
        room: usize,
    },
    /// A timeout of zero, the tool's or the registry's, which no call could meet.
    #[error("a timeout of zero; leave it out for no bound")]
    ZeroTimeout,
    /// The declared parameters cannot be written as a schema.
    #[error("{0}")]
    Declared(ParameterError),
    /// The parameters' schema is refused.
    #[error("parameters: {0}")]
    Parameters(SchemaError),
    /// The parameters' schema accepts no object, and arguments always are one.
    #[error("parameters: the root of the schema must accept objects")]
    NotAnObject,
    /// The output schema is refused.
    #[error("output schema: {0}")]
    OutputSchema(SchemaError),
}
impl core::error::Error for AddError {}

/// The memory of a [`Registry`] of at most `TOOLS` tools, with `POOL` bytes for copied strings and
/// compiled schemas.
#[derive(Debug)]
pub struct RegistryMemory<H, const TOOLS: usize, const POOL: usize> {
    slots: [Option<Slot<H>>; TOOLS],
    index: [[u32; 2]; TOOLS],
    pool: [u8; POOL],
}

impl<H, const TOOLS: usize, const POOL: usize> RegistryMemory<H, TOOLS, POOL> {
    /// Empty memory.
    pub fn new() -> Self {
        RegistryMemory { slots: [const { None }; TOOLS], index: [[0; 2]; TOOLS], pool: [0; POOL] }
    }

    /// An empty registry without hooks in this memory.
    pub fn registry<'m>(&'m mut self, options: RegistryOptions<'m>) -> Registry<'m, H> {
        Registry::new(&mut self.slots, self.index.as_flattened_mut(), &mut self.pool, options)
    }

    /// An empty registry with hooks of type `K` in this memory.
    pub fn registry_with_hooks<'m, K: Hook>(
        &'m mut self,
        options: RegistryOptions<'m>,
    ) -> Registry<'m, H, K> {
        Registry::new(&mut self.slots, self.index.as_flattened_mut(), &mut self.pool, options)
    }
}

impl<H, const TOOLS: usize, const POOL: usize> Default for RegistryMemory<H, TOOLS, POOL> {
    fn default() -> Self {
        Self::new()
    }
}

/// The tools; see the [module](self). `H` is what runs them, `K` what watches them.
#[derive(Debug)]
pub struct Registry<'m, H, K = NoHook> {
    slots: &'m mut [Option<Slot<H>>],
    len: usize,
    index: &'m mut [u32],
    pool: &'m mut [u8],
    used: usize,
    revision: u32,
    hooks: heapless::Vec<K, MAX_HOOKS>,
    options: RegistryOptions<'m>,
}

impl<'m, H, K: Hook> Registry<'m, H, K> {
    /// A registry in memory of any size: a slot for each tool, an index of at least as many entries (twice
    /// as many find names fastest), and a pool of bytes. What was in the memory is cleared.
    pub fn new(
        slots: &'m mut [Option<Slot<H>>],
        index: &'m mut [u32],
        pool: &'m mut [u8],
        options: RegistryOptions<'m>,
    ) -> Self {
        for slot in slots.iter_mut() {
            *slot = None;
        }
        index.fill(0);
        Registry { slots, len: 0, index, pool, used: 0, revision: 0, hooks: heapless::Vec::new(), options }
    }

    /// Adds a tool. Its strings are copied into the pool. On failure nothing has changed and `handler` is
    /// dropped.
    pub fn add(&mut self, tool: &ToolDefinition<'_>, handler: H) -> Result<Added, AddError> {
        self.add_explained(tool, handler, &mut Sink::measure())
    }

    /// Like [`Registry::add`], and says in `why` what was wrong and where. Of a tool that was added and
    /// coerces, it says which defaults of its JSON Schema will not be filled in because they do not fit.
    pub fn add_explained(
        &mut self,
        tool: &ToolDefinition<'_>,
        handler: H,
        why: &mut Sink<'_>,
    ) -> Result<Added, AddError> {
        self.explain(|registry, why| registry.insert(tool, None, None, handler, why), why)
    }

    /// Like [`Registry::add_explained`] with parameters of the host's own form: `write` writes their JSON
    /// Schema, and `tool.parameters` is not used.
    pub fn add_written(
        &mut self,
        tool: &ToolDefinition<'_>,
        write: &WriteSchema<'_>,
        handler: H,
        why: &mut Sink<'_>,
    ) -> Result<Added, AddError> {
        let tool = ToolDefinition { parameters: Parameters::default(), ..*tool };
        self.explain(|registry, why| registry.insert(&tool, None, Some(write), handler, why), why)
    }

    /// Like [`Registry::add_explained`] for strings that live as long as the program, such as those in
    /// flash: they are not copied, and only the compiled schema (and the schema's text, if it was
    /// declared) takes room in the pool.
    pub fn add_static(
        &mut self,
        tool: &ToolDefinition<'static>,
        handler: H,
        why: &mut Sink<'_>,
    ) -> Result<Added, AddError> {
        let fixed = Texts::of(tool);
        self.explain(|registry, why| registry.insert(tool, Some(fixed), None, handler, why), why)
    }

    /// [`Registry::add_static`] and [`Registry::add_written`] in one.
    pub fn add_static_written(
        &mut self,
        tool: &ToolDefinition<'static>,
        write: &WriteSchema<'_>,
        handler: H,
        why: &mut Sink<'_>,
    ) -> Result<Added, AddError> {
        let tool = ToolDefinition { parameters: Parameters::default(), ..*tool };
        let fixed = Texts::of(&tool);
        self.explain(|registry, why| registry.insert(&tool, Some(fixed), Some(write), handler, why), why)
    }

    fn explain(
        &mut self,
        insert: impl FnOnce(&mut Self, &mut Sink<'_>) -> Result<Added, AddError>,
        why: &mut Sink<'_>,
    ) -> Result<Added, AddError> {
        let before = why.len();
        let result = insert(self, why);
        if let Err(error) = result
            && why.len() == before
        {
            core::fmt::Write::write_fmt(why, format_args!("{error}")).ok();
        }
        result
    }

    /// Removes a tool and drops its handler; the others keep their order. Whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        match self.position(name) {
            Some(at) => {
                self.take(at);
                self.rebuild_index();
                true
            }
            None => false,
        }
    }

    /// Removes all tools and hooks, and drops their handlers.
    pub fn clear(&mut self) {
        for slot in self.slots.iter_mut() {
            *slot = None;
        }
        self.hooks.clear();
        self.index.fill(0);
        (self.len, self.used) = (0, 0);
        self.revision = self.revision.wrapping_add(1);
    }

    /// Adds a hook; hooks run in the order in which they were added. Gives it back if there are
    /// [`MAX_HOOKS`] already.
    pub fn add_hook(&mut self, hook: K) -> Result<(), K> {
        self.hooks.push(hook)
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<Tool<'_, H>> {
        self.at(self.position(name)?)
    }

    /// The tool at this place of the registration order.
    pub fn at(&self, position: usize) -> Option<Tool<'_, H>> {
        let slot = self.slots.get(..self.len)?.get(position)?.as_ref()?;
        Some(Tool { info: self.info(slot), handler: &slot.handler })
    }

    /// Whether there is a tool of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What holds for all tools.
    pub fn options(&self) -> &RegistryOptions<'m> {
        &self.options
    }

    /// A number that changes whenever a tool comes or goes: while it is the same, so is what is told of the
    /// tools.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Bytes of the pool that are taken, and that there are.
    pub fn pool_used(&self) -> (usize, usize) {
        (self.used, self.pool.len())
    }

    /// The pool itself, taken or free.
    pub fn pool(&self) -> &[u8] {
        self.pool
    }

    /// All tools in the order of their registration.
    pub fn infos(&self) -> impl Iterator<Item = ToolInfo<'_>> {
        self.slots.iter().take(self.len).flatten().map(|slot| self.info(slot))
    }

    /// The tools of one category.
    pub fn list<'a>(&'a self, category: &'a str) -> impl Iterator<Item = ToolInfo<'a>> {
        self.infos().filter(move |tool| tool.category() == category)
    }

    /// The names in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.infos().map(ToolInfo::name)
    }

    /// The first tool whose name has this hash and that `wanted` accepts; how an alias is resolved.
    pub(crate) fn find_hash(&self, hash: u32, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        let entries = self.index.len();
        let mut entry = start_of(hash, entries);
        for _ in 0..entries {
            let position = (*self.index.get(entry)?).checked_sub(1)? as usize;
            let slot = self.slots.get(position)?.as_ref()?;
            if slot.hash == hash && wanted(self.info(slot).name()) {
                return Some(position);
            }
            entry = if entry + 1 == entries { 0 } else { entry + 1 };
        }
        None
    }

    /// The place of the tool of exactly this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.find_hash(hash_name(name), |candidate| candidate == name)
    }

    /// The number by which [`Registry::by_serial`] finds the tool at this place again.
    pub(crate) fn serial(&self, position: usize) -> u32 {
        self.slots.get(position).and_then(Option::as_ref).map_or(0, |slot| slot.serial)
    }

    /// The handler of the tool with this number, which was at `position` once; none if it was removed since.
    pub(crate) fn by_serial(&self, serial: u32, position: usize) -> Option<Tool<'_, H>> {
        if self.serial(position) == serial {
            return self.at(position);
        }
        let mut slots = self.slots.iter().take(self.len).flatten();
        self.at(slots.position(|slot| slot.serial == serial)?)
    }

    pub(crate) fn hooks(&self) -> &[K] {
        &self.hooks
    }

    fn insert(
        &mut self,
        tool: &ToolDefinition<'_>,
        fixed: Option<Texts<'static>>,
        write: Option<&WriteSchema<'_>>,
        handler: H,
        why: &mut Sink<'_>,
    ) -> Result<Added, AddError> {
        check_name(tool.name).map_err(AddError::Name)?;
        if [tool.timeout, self.options.timeout].into_iter().flatten().any(Duration::is_zero) {
            return Err(AddError::ZeroTimeout);
        }
        let taken = self.position(tool.name);
        if taken.is_some() && self.options.collision == Collision::Refuse {
            return Err(AddError::Duplicate);
        }
        let places = self.slots.len().min(self.index.len());
        if taken.is_none() && self.len >= places {
            return Err(AddError::Full { max: places });
        }
        let piece = self.pool.get_mut(self.used..).unwrap_or_default();
        let ends = write_piece(tool, fixed.is_some(), write, &self.options, piece, why)?;
        let place = Place {
            ends,
            fixed,
            has_output: tool.output_schema.is_some(),
            annotations: tool.annotations,
            strict: tool.strict,
            coerce: tool.coerce,
            last_wins: tool.last_wins,
            timeout: tool.timeout,
        };
        self.revision = self.revision.wrapping_add(1);
        let (hash, serial) = (hash_name(tool.name), self.revision);
        let slot = Slot { hash, serial, start: self.used, place, handler };
        self.used += slot.size();
        match taken {
            Some(at) => {
                let new = self.slots.get_mut(at).and_then(|place| place.replace(slot));
                if let Some(old) = new {
                    self.close_gap(old.start, old.size());
                }
                self.rebuild_index();
                Ok(Added::Replaced)
            }
            None => {
                let hash = slot.hash;
                if let Some(place) = self.slots.get_mut(self.len) {
                    *place = Some(slot);
                }
                self.len += 1;
                index_name(self.index, hash, self.len);
                Ok(Added::New)
            }
        }
    }

    fn take(&mut self, at: usize) {
        let Some(tail) = self.slots.get_mut(at..self.len) else { return };
        tail.rotate_left(1);
        let old = tail.last_mut().and_then(Option::take);
        self.len -= 1;
        self.revision = self.revision.wrapping_add(1);
        if let Some(old) = old {
            self.close_gap(old.start, old.size());
        }
    }

    fn close_gap(&mut self, start: usize, size: usize) {
        if let Some(taken) = self.pool.get_mut(start..self.used)
            && size <= taken.len()
        {
            taken.copy_within(size.., 0);
        }
        self.used -= size;
        for slot in self.slots.iter_mut().take(self.len).flatten() {
            if slot.start > start {
                slot.start -= size;
            }
        }
    }

    fn rebuild_index(&mut self) {
        self.index.fill(0);
        for (place, slot) in self.slots.iter().take(self.len).flatten().enumerate() {
            index_name(self.index, slot.hash, place + 1);
        }
    }

    fn info<'a>(&'a self, slot: &'a Slot<H>) -> ToolInfo<'a> {
        let piece = self.pool.get(slot.start..slot.start + slot.size()).unwrap_or_default();
        ToolInfo { piece, place: &slot.place, options: &self.options }
    }
}

/// FNV-1a over the name's bytes.
pub(crate) fn hash_name(name: &str) -> u32 {
    name.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Where the search for a hash begins in an index of `entries`.
fn start_of(hash: u32, entries: usize) -> usize {
    ((u64::from(hash) * entries as u64) >> 32) as usize
}

/// Puts `value` (a place in the order, counted from one) under `hash`.
fn index_name(index: &mut [u32], hash: u32, value: usize) {
    let entries = index.len();
    let mut entry = start_of(hash, entries);
    for _ in 0..entries {
        match index.get_mut(entry) {
            Some(place) if *place == 0 => {
                *place = u32::try_from(value).unwrap_or(0);
                return;
            }
            _ => entry = if entry + 1 >= entries { 0 } else { entry + 1 },
        }
    }
}
