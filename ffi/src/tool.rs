//! A tool and its declared parameters, as C hands them in.

use core::cell::Cell;
use core::ffi::c_void;

use toolcore_core::json::Writer;
use toolcore_core::registry::{AddError, ToolInfo};
use toolcore_core::schema::{
    MAX_PARAMETER_DEPTH, Parameter, ParameterError, ParameterType, ToolParameter, write_parameter,
};
use toolcore_core::sink::Sink;
use toolcore_core::tool::{Annotations, Parameters, ToolDefinition};

use crate::abi::{Caller, List, Span, UserData, hands_over, sized_struct, toolcore_str_t};
use crate::call::toolcore_call_t;
use crate::callback::HostHandler;
use crate::guard::{Fail, NO_CALLBACK, UNKNOWN, Why, unknown};
use crate::registry::{HostRegistry, timeout};
use crate::result::toolcore_result_t;
use crate::status::{TOOLCORE_ERR_INVALID_ARGUMENT, toolcore_status_t};

/// Runs one call of a tool.
///
/// The arguments have passed the tool's schema: read them with toolcore_call_get_. Append the outcome to
/// `result` and return TOOLCORE_OK. A failure is told to the model: with toolcore_result_error, or, if that
/// was not called, by the status that is returned. The status of a getter that failed, returned as it is,
/// names the argument ("Tool error: argument '/color/red': it is missing"); any other gives its name.
///
/// `call` and `result` and all that was read from them are valid until it returns. It runs in the thread
/// that dispatches, in several at once if several dispatch. It may dispatch over the same registry, must not
/// change it, and must not throw or longjmp.
///
/// A tool that answers later keeps toolcore_call_ticket, copies what it needs, and returns TOOLCORE_PENDING: what is in
/// `result` is gone then, and toolcore_complete, toolcore_fail or a mailbox ends the call, from when toolcore_start or
/// toolcore_poll has returned. With toolcore_answer and toolcore_dispatch, which wait for nothing, such a call fails,
/// and the model is told so.
pub type toolcore_run_fn = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        call: *const toolcore_call_t,
        result: *mut toolcore_result_t,
    ) -> toolcore_status_t,
>;

/// Asks to end a call that a callback left TOOLCORE_PENDING: its deadline is reached, or the host gave it up, and what
/// the model reads of it is settled. Return TOOLCORE_OK if it has ended, and nobody will use its ticket any more: its
/// place is free. Return TOOLCORE_PENDING (any other status counts as that) if it will end: toolcore_complete or
/// toolcore_fail says so then (what they bring is discarded, and they return ERR_LATE), or its grace period passes and
/// it is abandoned. Asked once for a call, in toolcore_poll, toolcore_cancel or toolcore_finish. It must not wait, must
/// not use the object that asks, must not change the registry, and must not throw or longjmp.
pub type toolcore_cancel_fn =
    Option<unsafe extern "C" fn(user_data: *mut c_void, ticket: u64) -> toolcore_status_t>;

/// Ends the life of a user_data: run exactly once for each one that was handed over, whatever the function
/// that took it returned. It must not use the object that lets go of it.
pub type toolcore_drop_fn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// toolcore_param_t.type: a string.
pub const TOOLCORE_TYPE_STRING: u32 = 1;
/// toolcore_param_t.type: an integer.
pub const TOOLCORE_TYPE_INTEGER: u32 = 2;
/// toolcore_param_t.type: any number.
pub const TOOLCORE_TYPE_NUMBER: u32 = 3;
/// toolcore_param_t.type: true or false.
pub const TOOLCORE_TYPE_BOOLEAN: u32 = 4;
/// toolcore_param_t.type: an array; see `items`.
pub const TOOLCORE_TYPE_ARRAY: u32 = 5;
/// toolcore_param_t.type: an object; see `properties`.
pub const TOOLCORE_TYPE_OBJECT: u32 = 6;
/// toolcore_param_t.type: anything.
pub const TOOLCORE_TYPE_ANY: u32 = 7;

/// toolcore_param_t.flags: it must be there.
pub const TOOLCORE_PARAM_REQUIRED: u32 = 1;
/// toolcore_param_t.flags: it may be null.
pub const TOOLCORE_PARAM_NULLABLE: u32 = 2;
/// toolcore_param_t.flags: an object may have properties that are not declared.
pub const TOOLCORE_PARAM_ADDITIONAL: u32 = 4;

/// How deep parameters may be nested.
pub const TOOLCORE_PARAM_DEPTH_MAX: u32 = 16;

/// One parameter of a tool, or one property of an object. All that is zero is not said.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_param_t {
    /// sizeof(toolcore_param_t), the same in all elements of an array.
    pub struct_size: usize,
    /// The name. Not used for the items of an array.
    pub name: toolcore_str_t,
    /// What it means, for the model.
    pub description: toolcore_str_t,
    /// The only values that are allowed, as a JSON array: ["c","f"]
    pub enumeration: toolcore_str_t,
    /// The value if it is left out, as JSON.
    pub default_value: toolcore_str_t,
    /// The least number, as a JSON number.
    pub minimum: toolcore_str_t,
    /// The greatest number, as a JSON number.
    pub maximum: toolcore_str_t,
    /// What the elements of an array are, or NULL for anything.
    pub items: *const toolcore_param_t,
    /// The properties of an object.
    pub properties: *const toolcore_param_t,
    /// How many there are.
    pub properties_len: usize,
    /// One of TOOLCORE_TYPE_.
    pub r#type: u32,
    /// TOOLCORE_PARAM_ flags.
    pub flags: u32,
    /// The fewest characters of a string.
    pub min_length: u32,
    /// The most characters of a string; 0 for no limit.
    pub max_length: u32,
    /// The fewest items of an array.
    pub min_items: u32,
    /// The most items of an array; 0 for no limit.
    pub max_items: u32,
}

/// toolcore_tool_t.annotations: it changes nothing.
pub const TOOLCORE_ANNOTATION_READ_ONLY: u32 = 1;
/// toolcore_tool_t.annotations: it changes something.
pub const TOOLCORE_ANNOTATION_NOT_READ_ONLY: u32 = 2;
/// toolcore_tool_t.annotations: it may destroy something.
pub const TOOLCORE_ANNOTATION_DESTRUCTIVE: u32 = 4;
/// toolcore_tool_t.annotations: it only adds.
pub const TOOLCORE_ANNOTATION_NOT_DESTRUCTIVE: u32 = 8;
/// toolcore_tool_t.annotations: calling it again with the same arguments changes nothing more.
pub const TOOLCORE_ANNOTATION_IDEMPOTENT: u32 = 16;
/// toolcore_tool_t.annotations: calling it again changes something again.
pub const TOOLCORE_ANNOTATION_NOT_IDEMPOTENT: u32 = 32;
/// toolcore_tool_t.annotations: it reaches beyond a closed set of things, such as the web.
pub const TOOLCORE_ANNOTATION_OPEN_WORLD: u32 = 64;
/// toolcore_tool_t.annotations: it stays within a closed set of things.
pub const TOOLCORE_ANNOTATION_NOT_OPEN_WORLD: u32 = 128;

/// toolcore_tool_t.flags: ask the provider to hold the model to the schema.
pub const TOOLCORE_TOOL_STRICT: u32 = 1;
/// toolcore_tool_t.flags: convert arguments that nearly fit ("5" for an integer) and fill in defaults. See
/// toolcore_schema_coerce, and toolcore_registry_add for defaults that do not fit.
pub const TOOLCORE_TOOL_COERCE: u32 = 2;
/// toolcore_tool_t.flags: all strings live as long as the registry, as literals do; they are not copied.
pub const TOOLCORE_TOOL_STATIC: u32 = 4;
/// toolcore_tool_t.flags: of arguments with the same name the last one counts, and the callback sees that one
/// alone; without it such arguments are refused.
pub const TOOLCORE_TOOL_LAST_WINS: u32 = 8;

/// A tool, for toolcore_registry_add. All that is zero is not said; `name` and `run` must be.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_tool_t {
    /// sizeof(toolcore_tool_t)
    pub struct_size: usize,
    /// What the model calls: 1 to 128 of A-Z a-z 0-9 _ . -
    pub name: toolcore_str_t,
    /// A name for people.
    pub title: toolcore_str_t,
    /// What it does, for the model.
    pub description: toolcore_str_t,
    /// A group to render by.
    pub category: toolcore_str_t,
    /// What it takes, if there is no `schema`.
    pub params: *const toolcore_param_t,
    /// How many parameters there are.
    pub params_len: usize,
    /// What it takes, as a JSON Schema that accepts objects. Not together with `params`.
    pub schema: toolcore_str_t,
    /// What it returns, as a JSON Schema; told to MCP clients.
    pub output_schema: toolcore_str_t,
    /// What runs its calls.
    pub run: toolcore_run_fn,
    /// Given to `run`, `cancel` and `drop`.
    pub user_data: *mut c_void,
    /// Run once with user_data when the tool is let go, or NULL.
    pub drop: toolcore_drop_fn,
    /// TOOLCORE_ANNOTATION_ flags.
    pub annotations: u32,
    /// TOOLCORE_TOOL_ flags.
    pub flags: u32,
    /// How many milliseconds one call may take, until its callback returns or, if it answers later, until it is completed;
    /// 0 leaves it to the registry.
    pub timeout_ms: u64,
    /// Asks to end a call that answers later, with `user_data`. NULL if that cannot be asked: then such a call has its
    /// grace period.
    pub cancel: toolcore_cancel_fn,
    /// Run it on the threads of this pool: for a tool that blocks. The caller of toolcore_answer or toolcore_dispatch
    /// waits until its deadline and no longer; with toolcore_start it answers later, see toolcore_workers_receive. `run`
    /// gets a copy of the call then, on another thread, several at once, and must not return TOOLCORE_PENDING, nor
    /// wait for other tools of the pool; `cancel`
    /// is not used: what does not end in time is abandoned at once, and counted by toolcore_workers_stats. user_data is let go of when the tool is and its last call has ended. NULL to run it where the call
    /// is dispatched. The pool must live as long as the tool does; without TOOLCORE_FEATURE_WORKERS it must be NULL.
    pub workers: *const toolcore_workers_t,
}

/// Threads for tools that block: a call that does not end by its deadline is abandoned there, and its caller is free.
pub struct toolcore_workers_t {
    _opaque: [u8; 0],
}

sized_struct!(toolcore_param_t);
sized_struct!(toolcore_tool_t, since cancel);
hands_over!(toolcore_tool_t);

const _: () = assert!(TOOLCORE_PARAM_DEPTH_MAX as usize == MAX_PARAMETER_DEPTH);

/// Adds the tool to the registry.
pub(crate) fn add(
    c: Caller,
    registry: &mut HostRegistry,
    tool: *const toolcore_tool_t,
    user_data: UserData,
    why: &mut Why,
) -> Result<(), Fail> {
    let tool = c.input(tool)?;
    let c = c.apart_from(Span::of(registry.pool()));
    let definition = tool.definition(c)?;
    let parameters = c.list(tool.params, tool.params_len)?;
    let fixed = tool.flags & TOOLCORE_TOOL_STATIC != 0;
    let handler = handler(c, &tool, user_data)?;
    let wrong = Cell::new(None);
    let write = |out: &mut Writer<'_, '_>, place: &mut Sink<'_>| {
        write_parameter(HostParameter { c, at: At::Root(parameters), wrong: &wrong }, out, place)?;
        // Which error it is does not matter: what is wrong is told below.
        wrong.get().map_or(Ok(()), |_| Err(ParameterError::NoName))
    };
    let added = match (fixed, parameters.len()) {
        (false, 0) => registry.add_explained(&definition, handler, why.sink()),
        (true, 0) => registry.add_static(&definition, handler, why.sink()),
        (false, _) => registry.add_written(&definition, &write, handler, why.sink()),
        (true, _) => registry.add_static_written(&definition, &write, handler, why.sink()),
    };
    match (added, wrong.get()) {
        (Ok(_), _) => {
            why.notes = true;
            Ok(())
        }
        (Err(_), Some((name, fail))) => {
            let sink = why.sink();
            sink.truncate(0);
            for text in ["parameter '", name, "': ", fail.1] {
                sink.put(text);
            }
            Err(fail)
        }
        (Err(error), None) => {
            let refused = match error {
                AddError::Parameters(error) => Some((error, definition.parameters)),
                AddError::OutputSchema(error) => {
                    Some((error, Parameters::Schema(definition.output_schema.unwrap_or_default())))
                }
                _ => None,
            };
            if let Some((error, Parameters::Schema(text))) = refused {
                why.place(error, text, registry.options().resources);
            }
            Err(why.numbers(error))
        }
    }
}

/// What runs the tool.
fn handler(c: Caller, tool: &toolcore_tool_t, user_data: UserData) -> Result<HostHandler, Fail> {
    if tool.workers.is_null() {
        return Ok(HostHandler::Here { run: tool.run, cancel: tool.cancel, user_data });
    }
    #[cfg(feature = "std")]
    return Ok(HostHandler::on(c.object(tool.workers)?.alive()?, tool.run, user_data));
    #[cfg(not(feature = "std"))]
    return {
        let _ = c;
        Err(unknown!("workers"))
    };
}

/// The hints of a tool as TOOLCORE_ANNOTATION_ flags.
pub(crate) fn hints_of(annotations: Annotations) -> u32 {
    let flag = |hint: Option<bool>, yes, no| hint.map_or(0, |hint| if hint { yes } else { no });
    flag(annotations.read_only, TOOLCORE_ANNOTATION_READ_ONLY, TOOLCORE_ANNOTATION_NOT_READ_ONLY)
        | flag(annotations.destructive, TOOLCORE_ANNOTATION_DESTRUCTIVE, TOOLCORE_ANNOTATION_NOT_DESTRUCTIVE)
        | flag(annotations.idempotent, TOOLCORE_ANNOTATION_IDEMPOTENT, TOOLCORE_ANNOTATION_NOT_IDEMPOTENT)
        | flag(annotations.open_world, TOOLCORE_ANNOTATION_OPEN_WORLD, TOOLCORE_ANNOTATION_NOT_OPEN_WORLD)
}

/// What a tool was asked to be as TOOLCORE_TOOL_ flags.
pub(crate) fn flags_of(info: ToolInfo<'_>) -> u32 {
    let flag = |set: bool, flag| if set { flag } else { 0 };
    flag(info.strict(), TOOLCORE_TOOL_STRICT)
        | flag(info.coerce(), TOOLCORE_TOOL_COERCE)
        | flag(info.is_static(), TOOLCORE_TOOL_STATIC)
        | flag(info.last_wins(), TOOLCORE_TOOL_LAST_WINS)
}

impl toolcore_tool_t {
    fn definition(&self, c: Caller) -> Result<ToolDefinition<'static>, Fail> {
        if self.run.is_none() {
            return Err(NO_CALLBACK);
        }
        let known =
            TOOLCORE_TOOL_STRICT | TOOLCORE_TOOL_COERCE | TOOLCORE_TOOL_STATIC | TOOLCORE_TOOL_LAST_WINS;
        if self.flags & !known != 0 {
            return Err(unknown!("flags"));
        }
        if self.annotations & !0xFF != 0 {
            return Err(unknown!("annotations"));
        }
        let schema = c.text(self.schema)?;
        if self.params_len > 0 && !schema.is_empty() {
            return Err(BOTH);
        }
        let output_schema = c.text(self.output_schema)?;
        Ok(ToolDefinition {
            name: c.text(self.name)?,
            title: c.text(self.title)?,
            description: c.text(self.description)?,
            category: c.text(self.category)?,
            parameters: if schema.is_empty() { Parameters::default() } else { Parameters::Schema(schema) },
            output_schema: (!output_schema.is_empty()).then_some(output_schema),
            annotations: Annotations {
                read_only: self.hint(TOOLCORE_ANNOTATION_READ_ONLY, TOOLCORE_ANNOTATION_NOT_READ_ONLY)?,
                destructive: self
                    .hint(TOOLCORE_ANNOTATION_DESTRUCTIVE, TOOLCORE_ANNOTATION_NOT_DESTRUCTIVE)?,
                idempotent: self.hint(TOOLCORE_ANNOTATION_IDEMPOTENT, TOOLCORE_ANNOTATION_NOT_IDEMPOTENT)?,
                open_world: self.hint(TOOLCORE_ANNOTATION_OPEN_WORLD, TOOLCORE_ANNOTATION_NOT_OPEN_WORLD)?,
            },
            strict: self.flags & TOOLCORE_TOOL_STRICT != 0,
            coerce: self.flags & TOOLCORE_TOOL_COERCE != 0,
            last_wins: self.flags & TOOLCORE_TOOL_LAST_WINS != 0,
            timeout: timeout(self.timeout_ms),
        })
    }

    fn hint(&self, yes: u32, no: u32) -> Result<Option<bool>, Fail> {
        match (self.annotations & yes != 0, self.annotations & no != 0) {
            (false, false) => Ok(None),
            (yes, no) if yes != no => Ok(Some(yes)),
            _ => Err(BOTH),
        }
    }
}

const BOTH: Fail = Fail(TOOLCORE_ERR_INVALID_ARGUMENT, "two fields that exclude each other are set");
const NO_TYPE: Fail = Fail(UNKNOWN.0, "its type is not set, or not known to this version");

/// What stands for a parameter that cannot be read.
const ANY: ToolParameter<'static> = ToolParameter::new("", ParameterType::Any);

/// A declared parameter where C has it. What is wrong with one is noted, and ends the walk.
#[derive(Clone, Copy)]
struct HostParameter<'w> {
    c: Caller,
    at: At,
    wrong: &'w Cell<Option<(&'static str, Fail)>>,
}

#[derive(Clone, Copy)]
enum At {
    /// The object that a tool takes.
    Root(List<toolcore_param_t>),
    /// One of a list.
    Listed(List<toolcore_param_t>, usize),
}

impl HostParameter<'_> {
    /// The parameter, unless something was wrong already.
    fn read(&self) -> Option<toolcore_param_t> {
        let At::Listed(list, index) = self.at else { return None };
        if self.wrong.get().is_some() {
            return None;
        }
        self.note("", list.get(self.c, index))
    }

    fn note<T>(&self, name: &'static str, value: Result<T, Fail>) -> Option<T> {
        value.inspect_err(|fail| self.wrong.set(Some((name, *fail)))).ok()
    }
}

impl Parameter for HostParameter<'_> {
    fn declared(&self) -> ToolParameter<'_> {
        if let At::Root(_) = self.at {
            return ToolParameter::new("", ParameterType::Object);
        }
        let Some(parameter) = self.read() else { return ANY };
        let name = self.note("", self.c.text(parameter.name)).unwrap_or_default();
        self.note(name, parameter.declared(self.c)).unwrap_or(ANY)
    }

    fn items(&self) -> Option<Self> {
        let items = self.read()?.items;
        if items.is_null() {
            return None;
        }
        let list = self.note("", self.c.list(items, 1))?;
        Some(HostParameter { at: At::Listed(list, 0), ..*self })
    }

    fn property(&self, index: usize) -> Option<Self> {
        let list = match self.at {
            At::Root(list) => list,
            At::Listed(..) => {
                let parameter = self.read()?;
                self.note("", self.c.list(parameter.properties, parameter.properties_len))?
            }
        };
        let there = index < list.len() && self.wrong.get().is_none();
        there.then_some(HostParameter { at: At::Listed(list, index), ..*self })
    }
}

impl toolcore_param_t {
    fn declared(&self, c: Caller) -> Result<ToolParameter<'static>, Fail> {
        let known = TOOLCORE_PARAM_REQUIRED | TOOLCORE_PARAM_NULLABLE | TOOLCORE_PARAM_ADDITIONAL;
        if self.flags & !known != 0 {
            return Err(unknown!("flags"));
        }
        let said = |text| c.text(text).map(|text: &'static str| (!text.is_empty()).then_some(text));
        let bound = |bound: u32| (bound != 0).then_some(bound);
        Ok(ToolParameter {
            name: c.text(self.name)?,
            kind: match self.r#type {
                TOOLCORE_TYPE_STRING => ParameterType::String,
                TOOLCORE_TYPE_INTEGER => ParameterType::Integer,
                TOOLCORE_TYPE_NUMBER => ParameterType::Number,
                TOOLCORE_TYPE_BOOLEAN => ParameterType::Boolean,
                TOOLCORE_TYPE_ARRAY => ParameterType::Array,
                TOOLCORE_TYPE_OBJECT => ParameterType::Object,
                TOOLCORE_TYPE_ANY => ParameterType::Any,
                _ => return Err(NO_TYPE),
            },
            description: c.text(self.description)?,
            required: self.flags & TOOLCORE_PARAM_REQUIRED != 0,
            nullable: self.flags & TOOLCORE_PARAM_NULLABLE != 0,
            additional: self.flags & TOOLCORE_PARAM_ADDITIONAL != 0,
            enumeration: said(self.enumeration)?,
            default: said(self.default_value)?,
            minimum: said(self.minimum)?,
            maximum: said(self.maximum)?,
            min_length: bound(self.min_length),
            max_length: bound(self.max_length),
            min_items: bound(self.min_items),
            max_items: bound(self.max_items),
            items: None,
            properties: &[],
        })
    }
}
