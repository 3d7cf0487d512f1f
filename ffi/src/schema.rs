//! A JSON Schema, compiled once and checked against often.

use core::ffi::c_void;
use core::ptr;

use toolcore_core::schema::{
    CheckOptions, CompileOptions, Draft, NoReport, Report, Resource, Schema, SchemaError, Violation,
    compile_with, program_size_with,
};
use toolcore_core::sink::Sink;

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::callback::{LocatedFn, TellFn, tell, tell_located};
use crate::guard::{Fail, Why, guard, read, unknown};
use crate::json::read_options;
use crate::object::{Live, Memory, Object};
use crate::resources::{resources, toolcore_resources_t};
use crate::status::{TOOLCORE_ERR_UNSUPPORTED, toolcore_detail_t, toolcore_status_t};

/// A compiled JSON Schema.
pub struct toolcore_schema_t {
    _opaque: [u8; 0],
}

/// JSON Schema draft 2020-12.
pub const TOOLCORE_DRAFT_2020_12: u32 = 0;
/// JSON Schema draft 7.
pub const TOOLCORE_DRAFT_7: u32 = 1;

/// toolcore_schema_opts_t.flags and toolcore_registry_opts_t.flags: texts must have the "format" of their schema
/// (those of JSON Schema; others pass). Without it a format changes nothing. ERR_UNSUPPORTED in a library that was
/// built without the feature `format`.
pub const TOOLCORE_SCHEMA_ASSERT_FORMATS: u32 = 1;

/// How a schema is compiled. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_schema_opts_t {
    /// sizeof(toolcore_schema_opts_t)
    pub struct_size: usize,
    /// How deep it may be nested; 0 for the default, 64, which is the most.
    pub max_depth: u32,
    /// TOOLCORE_DRAFT_2020_12 or TOOLCORE_DRAFT_7, for a schema without $schema.
    pub default_draft: u32,
    /// Documents that its references can lead into, or NULL. They must live as long as the schema.
    pub resources: *const toolcore_resources_t,
    /// TOOLCORE_SCHEMA_ flags.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// How an instance is checked. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_check_opts_t {
    /// sizeof(toolcore_check_opts_t)
    pub struct_size: usize,
    /// Told each problem: the place in the instance as a JSON Pointer (for a missing property the place where
    /// it should be), the keyword, such as "required", and a sentence; path and message are cut to 255 bytes,
    /// the last of which are then "…".
    /// All valid until it returns. NULL if only the verdict is wanted.
    pub violation: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            path: toolcore_str_t,
            keyword: toolcore_str_t,
            message: toolcore_str_t,
        ),
    >,
    /// Given to `violation` and `located`.
    pub user_data: *mut c_void,
    /// Called in place of `violation` if it is set: told also the place of the keyword in the schema as a JSON
    /// Pointer, in a resource after its URI and "#"; cut like the others. NULL if the schema is of no interest.
    pub located: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            path: toolcore_str_t,
            keyword: toolcore_str_t,
            message: toolcore_str_t,
            schema_path: toolcore_str_t,
        ),
    >,
    /// How deep the instance may be nested; 0 for the default, 128.
    pub max_depth: u32,
    /// Steps that the check may take; 0 for the default, 1,000,000.
    pub max_steps: u32,
    /// TOOLCORE_JSON_REPLACE_SURROGATES, or 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Bytes of memory that are always enough for toolcore_schema_init, in *need. Without a reference in the schema
/// they are what it takes. With references they are the most that it can take; with resources that is many times
/// the size of those, and a small part of it is often enough. A reference that leads nowhere or in a circle, and a
/// property that is there twice, are found by toolcore_schema_init only.
///
/// Returns TOOLCORE_OK; ERR_BAD_SCHEMA (why.place_len and why.resource say where) for a schema that cannot be
/// enforced; ERR_BAD_JSON; ERR_INVALID_UTF8; ERR_UNSUPPORTED for an option; ERR_INVALID_ARGUMENT. Unless OK,
/// *need is 0.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_schema_mem_size(
    schema: toolcore_str_t,
    opts: *const toolcore_schema_opts_t,
    need: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let need = c.out(need)?;
        need.set(0);
        let (options, resources) = options(c, opts)?;
        let schema = c.text(schema)?;
        let program = program_size_with(schema, resources, &options)
            .map_err(|error| refuse(error, schema, resources, why))?;
        need.set(schema_size(program));
        Ok(())
    })
}

/// Compiles a schema into an object in `mem`. Of its resources only what is referred to is compiled; nothing
/// else is ever fetched.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE (why.need: bytes of mem); ERR_BAD_SCHEMA (why.place_len and why.resource say
/// where); ERR_BAD_JSON; ERR_INVALID_UTF8; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT. Unless OK, *out is NULL.
/// The text of `schema`, its resources and `mem` are used until toolcore_schema_deinit; `opts` is not kept.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_schema_init(
    schema: toolcore_str_t,
    opts: *const toolcore_schema_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_schema_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let (options, resources) = options(c, opts)?;
        let apart = c.apart_from(Span::new(mem, mem_len));
        let schema = apart.text(schema)?;
        resources.iter().try_for_each(|resource| apart.apart(Span::of(resource.text.as_bytes())))?;
        let mut memory = c.memory(mem, mem_len)?;
        let place = memory.reserve::<Live<Schema<'static>>>();
        let program = if place.is_ok() { memory.rest() } else { &mut [] };
        let size = compile_with(schema, resources, &options, program)
            .map_err(|error| refuse(error, schema, resources, why))?;
        let program = program.get(..size).unwrap_or_default();
        out.set(place?.object(Schema::with_resources(schema, resources, program)));
        Ok(())
    })
}

/// Ends a schema. It owns nothing but its memory, which is the host's again. NULL is ignored.
///
/// Threads: any, when nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_schema_deinit(schema: *mut toolcore_schema_t) {
    guard(ptr::null_mut(), |c, _| c.end(schema, |_| ()));
}

/// Bytes of memory that a schema has taken, at any alignment. 0 for NULL. Not enough to compile it again if there
/// is a reference in it: compiling takes more meanwhile.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_schema_size(schema: *const toolcore_schema_t) -> usize {
    read(0, |c| Ok(schema_size(c.object(schema)?.program().len())))
}

/// Bytes of scratch that are enough to check any instance with these options (NULL for the defaults); 0 if
/// none are needed, and for NULL.
///
/// As a rule the schema alone bounds them, to some hundred bytes. Where its references let instances be nested
/// without end, max_depth does: each level takes 32 bytes and more, so it is some kilobytes for the default of 128,
/// and some hundred bytes for 8.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_schema_scratch_size(
    schema: *const toolcore_schema_t,
    opts: *const toolcore_check_opts_t,
) -> usize {
    read(0, |c| {
        let opts = c.options(opts)?;
        let words = c.object(schema)?.work_words(&check_options(opts.max_depth, opts.flags, opts.max_steps)?);
        Ok(if words == 0 { 0 } else { Memory::room_for::<u32>(words) })
    })
}

/// Whether an instance is valid, in *valid. `scratch` is the checker's stack, free again when this returns;
/// toolcore_schema_scratch_size bytes always suffice, for few levels of nesting less does.
///
/// Returns TOOLCORE_OK, valid or not; ERR_BAD_JSON if the instance is not JSON (why.offset and why.reason);
/// ERR_NO_SPACE for scratch (why.need); ERR_OUT_OF_RANGE if the check takes too many steps; ERR_UNSUPPORTED;
/// ERR_INVALID_ARGUMENT. Unless OK, *valid is false.
/// Threads: any, each with scratch of its own.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_schema_check(
    schema: *const toolcore_schema_t,
    instance: toolcore_str_t,
    opts: *const toolcore_check_opts_t,
    scratch: *mut c_void,
    scratch_len: usize,
    valid: *mut bool,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let valid = c.out(valid)?;
        valid.set(false);
        let schema = c.object(schema)?;
        let apart = c.apart_from(Span::new(scratch, scratch_len));
        let instance = apart.bytes(instance.ptr.cast(), instance.len)?;
        let opts = c.options(opts)?;
        let options = check_options(opts.max_depth, opts.flags, opts.max_steps)?;
        if opts.reserved != 0 {
            return Err(unknown!("reserved"));
        }
        let words = c.words(scratch, scratch_len)?;
        let mut told = ToldReport { tell: opts.violation, located: opts.located, user_data: opts.user_data };
        let wanted = opts.violation.is_some() || opts.located.is_some();
        let report: &mut dyn Report = if wanted { &mut told } else { &mut NoReport };
        let verdict = schema.check(instance, &options, words, report).map_err(|error| why.error(error))?;
        valid.set(verdict.valid);
        Ok(())
    })
}

sized_struct!(toolcore_schema_opts_t, since resources);
sized_struct!(toolcore_check_opts_t);

impl Object for toolcore_schema_t {
    type Body = Schema<'static>;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCsc");
}

const NO_FORMATS: Fail = Fail(
    TOOLCORE_ERR_UNSUPPORTED,
    "TOOLCORE_SCHEMA_ASSERT_FORMATS: this library was built without the feature 'format'",
);

/// How C wants schemas to be compiled.
pub(crate) fn compile_options(
    max_depth: u32,
    default_draft: u32,
    flags: u32,
) -> Result<CompileOptions, Fail> {
    if flags & !TOOLCORE_SCHEMA_ASSERT_FORMATS != 0 {
        return Err(unknown!("flags"));
    }
    if flags & TOOLCORE_SCHEMA_ASSERT_FORMATS != 0 && !cfg!(feature = "format") {
        return Err(NO_FORMATS);
    }
    let mut options = CompileOptions::default();
    if max_depth != 0 {
        options.max_depth = u16::try_from(max_depth).unwrap_or(u16::MAX);
    }
    options.default_draft = match default_draft {
        TOOLCORE_DRAFT_2020_12 => Draft::Draft2020,
        TOOLCORE_DRAFT_7 => Draft::Draft7,
        _ => return Err(unknown!("default_draft")),
    };
    #[cfg(feature = "format")]
    {
        options.formats = flags & TOOLCORE_SCHEMA_ASSERT_FORMATS != 0;
    }
    Ok(options)
}

/// How C wants instances to be checked.
pub(crate) fn check_options(max_depth: u32, flags: u32, max_steps: u32) -> Result<CheckOptions, Fail> {
    let mut options = CheckOptions { json: read_options(max_depth, flags)?, ..CheckOptions::default() };
    if max_steps != 0 {
        options.steps = max_steps;
    }
    Ok(options)
}

fn options(
    c: Caller,
    opts: *const toolcore_schema_opts_t,
) -> Result<(CompileOptions, &'static [Resource<'static>]), Fail> {
    let opts = c.options(opts)?;
    if opts.reserved != 0 {
        return Err(unknown!("reserved"));
    }
    let options = compile_options(opts.max_depth, opts.default_draft, opts.flags)?;
    Ok((options, resources(c, opts.resources)?))
}

fn schema_size(program: usize) -> usize {
    Memory::room_for::<Live<Schema<'static>>>(1).saturating_add(program)
}

/// Says why a schema is refused, with its place.
pub(crate) fn refuse(error: SchemaError, schema: &str, resources: &[Resource<'_>], why: &mut Why) -> Fail {
    error.write_message_with(schema, resources, why.sink());
    why.place(error, schema, resources);
    let fail = why.numbers(error);
    if let Some(program) = error.no_space() {
        why.need = schema_size(program);
    }
    fail
}

/// Tells C of each violation.
struct ToldReport {
    tell: TellFn,
    located: LocatedFn,
    user_data: *mut c_void,
}

impl Report for ToldReport {
    fn violation(&mut self, violation: &Violation<'_>) {
        let (mut path, mut message) = ([0u8; 255], [0u8; 255]);
        let (mut path, mut message) = (Sink::new(&mut path), Sink::new(&mut message));
        violation.write_path(&mut path);
        violation.write_message(&mut message);
        let texts = [path.finish_marked(), violation.keyword().name(), message.finish_marked()];
        if self.located.is_none() {
            return tell(self.tell, self.user_data, texts);
        }
        let mut place = [0u8; 255];
        let mut place = Sink::new(&mut place);
        violation.write_schema_path(&mut place);
        tell_located(self.located, self.user_data, texts, place.finish_marked());
    }
}
