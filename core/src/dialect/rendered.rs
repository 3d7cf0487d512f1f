//! Tools that were rendered, kept until they change.

use super::{Dialect, Note, RenderError, RenderErrorKind, ToolsOptions, render_tools};
use crate::registry::{Hook, Registry};
use crate::sink::{NoSpace, Sink};

/// The members of a request that tell the model of the tools, in memory of the caller: rendered again only if
/// the tools, the dialect or the options have changed.
///
/// ```
/// use toolcore::dialect::{Dialect, RenderedTools, ToolsOptions};
/// use toolcore::prelude::*;
/// let mut memory = RegistryMemory::<fn(&Call, &mut ToolResult) -> Result<(), Failure>, 4, 1024>::new();
/// let tools = memory.registry(RegistryOptions::default());
/// let mut buffer = [0; 256];
/// let mut kept = RenderedTools::new(&mut buffer);
/// let options = ToolsOptions::default();
/// assert_eq!(kept.get(&tools, Dialect::Mcp, &options, &mut |_| {}), Ok(r#"{"tools":[]}"#));
/// ```
#[derive(Debug)]
pub struct RenderedTools<'m, 'a> {
    buffer: &'m mut [u8],
    len: usize,
    key: Option<Key<'a>>,
}

/// What the text was rendered from. Registries are told apart by where their pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key<'a> {
    registry: usize,
    revision: u32,
    dialect: Dialect,
    options: ToolsOptions<'a>,
}

impl<'m, 'a> RenderedTools<'m, 'a> {
    /// Nothing yet, with room for as many bytes as `buffer` has.
    pub fn new(buffer: &'m mut [u8]) -> Self {
        RenderedTools { buffer, len: 0, key: None }
    }

    /// The text, as [`render_tools`] writes it. Only if it is rendered anew, `notes` is told of changes. Of two
    /// registries that take turns in the same memory, call [`forget`](Self::forget) between them.
    pub fn get<H, K: Hook>(
        &mut self,
        registry: &Registry<'_, H, K>,
        dialect: Dialect,
        options: &ToolsOptions<'a>,
        notes: &mut dyn FnMut(Note<'_>),
    ) -> Result<&str, RenderError> {
        let registry_at = registry.pool().as_ptr() as usize;
        let key = Key { registry: registry_at, revision: registry.revision(), dialect, options: *options };
        if self.key != Some(key) {
            self.key = None;
            let mut sink = Sink::new(self.buffer);
            render_tools(registry, dialect, options, &mut sink, notes)?;
            (self.len, self.key) = (sink.len(), Some(key));
        }
        let text = self.buffer.get(..self.len).and_then(|text| core::str::from_utf8(text).ok());
        text.ok_or(RenderErrorKind::NoSpace(NoSpace { need: self.len }).into())
    }

    /// To render anew the next time.
    pub fn forget(&mut self) {
        self.key = None;
    }
}
