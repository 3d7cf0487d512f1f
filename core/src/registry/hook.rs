//! What sees every call: hooks, before a tool is looked up and after its handler returned.

use crate::arena::Arena;
use crate::call::ToolCall;
use crate::result::ToolResult;
use crate::sink::{NoSpace, Sink};

/// What a pre-hook decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call goes on.
    Pass,
    /// The call is not executed; the model reads what the hook wrote, or
    /// `Tool call 'x' blocked by pre-hook.` if it wrote nothing.
    Block,
}

/// Something that sees every call before it is looked up and after a handler returned.
pub trait Hook {
    /// May let the call pass, rewrite it through `draft`, or block it with a message written to `why`.
    fn before(&self, draft: &mut Draft<'_, '_>, why: &mut Sink<'_>) -> Verdict;

    /// May change or replace the result, a failed one too. Runs only after a handler returned in time, or its call was
    /// completed in time; that of a call that was completed later is `call` as the model wrote it.
    fn after(&self, call: &ToolCall<'_>, result: &mut ToolResult<'_>);
}

/// No hook at all.
#[derive(Clone, Copy, Debug)]
pub enum NoHook {}

impl Hook for NoHook {
    fn before(&self, _: &mut Draft<'_, '_>, _: &mut Sink<'_>) -> Verdict {
        match *self {}
    }
    fn after(&self, _: &ToolCall<'_>, _: &mut ToolResult<'_>) {
        match *self {}
    }
}

impl<K: Hook + ?Sized> Hook for &K {
    fn before(&self, draft: &mut Draft<'_, '_>, why: &mut Sink<'_>) -> Verdict {
        (**self).before(draft, why)
    }
    fn after(&self, call: &ToolCall<'_>, result: &mut ToolResult<'_>) {
        (**self).after(call, result);
    }
}

/// A call that a pre-hook may rewrite.
#[derive(Debug)]
pub struct Draft<'d, 's> {
    call: ToolCall<'s>,
    arena: &'d Arena<'s>,
}

impl<'d, 's> Draft<'d, 's> {
    pub(crate) fn new(call: ToolCall<'s>, arena: &'d Arena<'s>) -> Self {
        Draft { call, arena }
    }

    /// The call as it stands.
    pub fn call(&self) -> ToolCall<'s> {
        self.call
    }

    /// Calls another tool instead.
    pub fn set_name(&mut self, name: &str) -> Result<(), NoSpace> {
        self.call.name = self.arena.write(|sink| sink.put(name))?;
        Ok(())
    }

    /// Replaces the arguments' JSON text; it is checked like any other. A call of a tool that takes free text
    /// can be given arguments so, and then reaches a tool that takes JSON.
    pub fn set_arguments(&mut self, json: &str) -> Result<(), NoSpace> {
        self.call.arguments = self.arena.write(|sink| sink.put(json))?;
        self.call.custom = false;
        Ok(())
    }
}
