//! Owned text for hosts with a heap (feature `alloc`): what writes into a sink, as a `String`.
//!
//! ```
//! # use toolcore::prelude::*;
//! # let mut memory = RegistryMemory::<fn(&Call, &mut ToolResult) -> Result<(), Failure>, 1, 64>::new();
//! # let tools = memory.registry(RegistryOptions::default());
//! let members = toolcore::owned::tools(&tools, Dialect::Mcp, &ToolsOptions::default())?;
//! assert_eq!(members, r#"{"tools":[]}"#);
//! # Ok::<(), toolcore::dialect::RenderError>(())
//! ```

use alloc::string::String;
use alloc::vec;

use crate::dialect::{
    CallResult, Calls, Dialect, RenderError, RenderErrorKind, ReplayError, ResultsError, ResultsOptions,
    ToolsOptions, render_results, render_tools, render_turn,
};
use crate::registry::{Hook, Registry};
use crate::sink::{NoSpace, Sink};

/// [`render_tools`] into a string. Notes are not told.
pub fn tools<H, K: Hook>(
    registry: &Registry<'_, H, K>,
    dialect: Dialect,
    options: &ToolsOptions<'_>,
) -> Result<String, RenderError> {
    grow(
        |sink| render_tools(registry, dialect, options, sink, &mut |_| {}),
        |error| match error.kind {
            RenderErrorKind::NoSpace(NoSpace { need }) => Some(need),
            _ => None,
        },
    )
}

/// [`render_results`] into a string.
pub fn results(
    dialect: Dialect,
    calls: &(impl Calls + ?Sized),
    results: &[CallResult<'_, '_>],
    options: &ResultsOptions,
) -> Result<String, ResultsError> {
    grow(
        |sink| render_results(dialect, calls, results, options, sink),
        |error| match error {
            ResultsError::NoSpace(NoSpace { need }) => Some(*need),
            _ => None,
        },
    )
}

/// [`render_turn`] into a string.
pub fn turn(
    dialect: Dialect,
    text: Option<&str>,
    calls: &(impl Calls + ?Sized),
    bare: bool,
) -> Result<String, ReplayError> {
    grow(
        |sink| render_turn(dialect, text, calls, bare, sink),
        |error| match error {
            ReplayError::NoSpace(NoSpace { need }) => Some(*need),
            _ => None,
        },
    )
}

/// Measures, then writes into as much memory as that needs.
fn grow<E>(
    write: impl Fn(&mut Sink<'_>) -> Result<(), E>,
    need: impl Fn(&E) -> Option<usize>,
) -> Result<String, E> {
    let mut size = 0;
    loop {
        let mut buffer = vec![0u8; size];
        let mut sink = Sink::new(&mut buffer);
        match write(&mut sink) {
            Ok(()) => return Ok(String::from(sink.finish_cut())),
            Err(error) => match need(&error) {
                Some(need) if need > size => size = need,
                _ => return Err(error),
            },
        }
    }
}
