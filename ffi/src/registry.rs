//! The tools.

use core::ffi::c_void;
use core::ptr;

use toolcore_core::registry::{Collision, Registry, RegistryOptions, Slot, ToolInfo};
use toolcore_core::time::Duration;

use crate::abi::{CStruct, Caller, sized_struct, toolcore_str_t};
use crate::callback::{HostHandler, HostHook};
use crate::guard::{Fail, NO_SPACE, NOT_FOUND, guard, guard_taking, read, unknown};
use crate::object::{Live, Memory, Object};
use crate::resources::{resources, toolcore_resources_t};
use crate::schema::compile_options;
use crate::status::{toolcore_detail_t, toolcore_status_t};
use crate::tool::{self, flags_of, hints_of, toolcore_tool_t};

/// Tools, in memory of the host. One registry may be read, rendered and dispatched over from any number of
/// threads at once; what takes it without const needs it alone.
pub struct toolcore_registry_t {
    _opaque: [u8; 0],
}

/// toolcore_registry_opts_t.collision: a name that is taken is refused.
pub const TOOLCORE_COLLISION_REFUSE: u32 = 0;
/// toolcore_registry_opts_t.collision: the new tool takes the old one's place; the old one is let go.
pub const TOOLCORE_COLLISION_REPLACE: u32 = 1;

/// How a registry is. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_registry_opts_t {
    /// sizeof(toolcore_registry_opts_t)
    pub struct_size: usize,
    /// The most tools; 0 for 16.
    pub max_tools: usize,
    /// Bytes for copied strings and compiled schemas; 0 for 512 for each tool. Memory beyond what
    /// toolcore_registry_mem_size asks for is used for them too.
    pub pool_bytes: usize,
    /// Documents that the references of tools' schemas can lead into, or NULL. They must live as long as the
    /// registry. They hold for arguments, but a model does not read them: it is told a schema's text as it stands,
    /// with a "$ref" that it cannot follow. What it must know has to stand in the schema, or in a description.
    pub resources: *const toolcore_resources_t,
    /// TOOLCORE_COLLISION_REFUSE or TOOLCORE_COLLISION_REPLACE
    pub collision: u32,
    /// How deep schemas may be nested; 0 for the default, 64, which is the most.
    pub max_depth: u32,
    /// TOOLCORE_DRAFT_2020_12 or TOOLCORE_DRAFT_7, for schemas without $schema.
    pub default_draft: u32,
    /// TOOLCORE_SCHEMA_ flags, for the schemas of all tools.
    pub flags: u32,
    /// The timeout of tools that set none; 0 for none.
    pub timeout_ms: u64,
}

/// Bytes of memory that a registry needs with these options (NULL for the defaults). 0 if they are not
/// valid, SIZE_MAX if there is no such memory.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_mem_size(opts: *const toolcore_registry_opts_t) -> usize {
    read(0, |c| {
        let (_, places, pool) = options(c, opts)?;
        Ok(registry_size(places).saturating_add(pool))
    })
}

/// Makes an empty registry in `mem`, which it keeps until toolcore_registry_deinit.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE if mem_len is less than toolcore_registry_mem_size(opts) (there is
/// no detail here that would tell it);
/// ERR_UNSUPPORTED for an option that is not known; ERR_INVALID_ARGUMENT. Unless OK, *out is NULL.
/// `opts` is not kept.
/// Threads: touches only its arguments.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_registry_init(
    opts: *const toolcore_registry_opts_t,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_registry_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let (options, places, pool) = options(c, opts)?;
        let mut memory = c.memory(mem, mem_len)?;
        if mem_len < registry_size(places).saturating_add(pool) {
            return Err(NO_SPACE);
        }
        let place = memory.reserve::<Live<HostRegistry>>()?;
        let slots = memory.array(places, || None)?;
        let index = memory.array(places.saturating_mul(2), || 0)?;
        let registry = Registry::new(slots, index, memory.rest(), options);
        out.set(place.object(registry));
        Ok(())
    })
}

/// Ends a registry: lets all tools and hooks go (runs each `drop` once). Its memory is the host's again.
/// NULL and a registry that has ended are ignored.
///
/// Threads: any, when nothing else uses the registry.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_deinit(registry: *mut toolcore_registry_t) {
    guard(ptr::null_mut(), |c, _| c.end(registry, HostRegistry::clear));
}

/// Adds a tool. On failure the registry is as it was.
///
/// Returns TOOLCORE_OK; ERR_BAD_NAME; ERR_DUPLICATE (not with TOOLCORE_COLLISION_REPLACE); ERR_FULL;
/// ERR_NO_SPACE if the pool is too small (why.need: bytes of pool for this tool at the least, more each
/// time until they are enough); ERR_BAD_SCHEMA for a schema or parameters that cannot be enforced (the
/// message begins with the place), ERR_BAD_JSON for a schema that is not JSON (why.offset);
/// ERR_INVALID_UTF8; ERR_UNSUPPORTED for a type or flag that is not known; ERR_INVALID_ARGUMENT, also for
/// both `params` and `schema`, or two annotations that exclude each other.
///
/// A `schema` of a tool with TOOLCORE_TOOL_COERCE may have a "default" that it does not accept itself. The tool is
/// added, and such a default is never filled in: TOOLCORE_OK, and why.message names each ("parameters:
/// /properties/unit: its default is not a value that it accepts, and is not filled in"). Otherwise the message is
/// empty on OK. A default in `params` that does not fit is ERR_BAD_SCHEMA.
///
/// user_data is the registry's from now on: its `drop` runs exactly once, when the tool is removed,
/// replaced or the registry ends, and before this returns if it fails. (If `tool` is NULL, or struct_size
/// does not reach beyond `drop` or is larger than TOOLCORE_STRUCT_SIZE_MAX, nothing was handed over.) `tool`,
/// its params and, without TOOLCORE_TOOL_STATIC, its strings are not kept. Strings that this registry gave
/// out, as toolcore_registry_name does, are ERR_INVALID_ARGUMENT: copy them before.
/// Threads: needs the registry alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_add(
    registry: *mut toolcore_registry_t,
    tool: *const toolcore_tool_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard_taking(
        why,
        |c| c.take_user_data(tool),
        |c, user_data, why| {
            let registry = c.object_mut(registry)?;
            tool::add(c, registry, tool, user_data, why)
        },
    )
}

/// Removes a tool and lets it go; the others keep their order.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT.
/// Threads: needs the registry alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_remove(
    registry: *mut toolcore_registry_t,
    name: toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let name = c.text(name)?;
        if c.object_mut(registry)?.remove(name) { Ok(()) } else { Err(NOT_FOUND) }
    })
}

/// How many tools there are; 0 for NULL.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_len(registry: *const toolcore_registry_t) -> usize {
    read(0, |c| Ok(c.object(registry)?.len()))
}

/// The name of the tool at a place of the registration order, from 0.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_ARGUMENT. Unless OK, *out is empty. *out lives in the
/// registry until that is changed.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_name(
    registry: *const toolcore_registry_t,
    index: usize,
    out: *mut toolcore_str_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out(out)?;
        out.set(toolcore_str_t::EMPTY);
        let tool = c.object(registry)?.at(index).ok_or(NOT_FOUND)?;
        out.set(toolcore_str_t::of(tool.info.name()));
        Ok(())
    })
}

/// The place of the tool of that name.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_UTF8; ERR_INVALID_ARGUMENT. Unless OK, *index is not
/// written.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_find(
    registry: *const toolcore_registry_t,
    name: toolcore_str_t,
    index: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let index = c.out(index)?;
        let name = c.text(name)?;
        index.set(c.object(registry)?.position(name).ok_or(NOT_FOUND)?);
        Ok(())
    })
}

/// What a registered tool is, and what it takes; filled in by toolcore_registry_tool.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_tool_info_t {
    /// sizeof(toolcore_tool_info_t)
    pub struct_size: usize,
    /// The name as it is registered.
    pub name: toolcore_str_t,
    /// A name for people.
    pub title: toolcore_str_t,
    /// What it does.
    pub description: toolcore_str_t,
    /// Its group.
    pub category: toolcore_str_t,
    /// What it takes, as a JSON Schema; made from its parameters if those were declared.
    pub schema: toolcore_str_t,
    /// What it returns, as a JSON Schema.
    pub output_schema: toolcore_str_t,
    /// Bytes that it takes of the pool.
    pub pool_bytes: usize,
    /// Bytes of its compiled schema, a part of these. toolcore_schema_mem_size tells beforehand what is enough for
    /// them: it counts the object of toolcore_schema_init in, too.
    pub schema_bytes: usize,
    /// Always 0.
    pub reserved: usize,
    /// TOOLCORE_ANNOTATION_ flags.
    pub annotations: u32,
    /// TOOLCORE_TOOL_ flags.
    pub flags: u32,
    /// How long one call may take: the tool's own timeout, else the registry's; 0 for no bound of either.
    pub timeout_ms: u64,
}

/// What the tool at a place of the registration order is, from 0.
///
/// Returns TOOLCORE_OK; ERR_NOT_FOUND; ERR_INVALID_ARGUMENT. Unless OK, *out has empty texts and zeros. The texts
/// live in the registry (those of a tool with TOOLCORE_TOOL_STATIC where they were) until it is changed.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_tool(
    registry: *const toolcore_registry_t,
    index: usize,
    out: *mut toolcore_tool_info_t,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let out = c.out_struct(out)?;
        out.set(toolcore_tool_info_t::zero());
        let tool = c.object(registry)?.at(index).ok_or(NOT_FOUND)?;
        out.set(toolcore_tool_info_t::of(tool.info));
        Ok(())
    })
}

/// How many bytes of the pool are used, and how many there are.
///
/// Returns TOOLCORE_OK; ERR_INVALID_ARGUMENT.
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_registry_pool(
    registry: *const toolcore_registry_t,
    used: *mut usize,
    total: *mut usize,
) -> toolcore_status_t {
    guard(ptr::null_mut(), |c, _| {
        let (used, total) = (c.out(used)?, c.out(total)?);
        let (taken, there) = c.object(registry)?.pool_used();
        used.set(taken);
        total.set(there);
        Ok(())
    })
}

sized_struct!(toolcore_registry_opts_t);
sized_struct!(toolcore_tool_info_t);

/// The registry behind the handle.
pub(crate) type HostRegistry = Registry<'static, HostHandler, HostHook>;

impl Object for toolcore_registry_t {
    type Body = HostRegistry;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCrg");
}

impl toolcore_tool_info_t {
    fn of(info: ToolInfo<'_>) -> Self {
        toolcore_tool_info_t {
            struct_size: 0,
            name: toolcore_str_t::of(info.name()),
            title: toolcore_str_t::of(info.title()),
            description: toolcore_str_t::of(info.description()),
            category: toolcore_str_t::of(info.category()),
            schema: toolcore_str_t::of(info.parameters().text()),
            output_schema: info.output_schema().map_or(toolcore_str_t::EMPTY, toolcore_str_t::of),
            pool_bytes: info.pool_size(),
            schema_bytes: info.schema_size(),
            reserved: 0,
            annotations: hints_of(info.annotations()),
            flags: flags_of(info),
            timeout_ms: info.timeout().map_or(0, Duration::as_millis),
        }
    }
}

/// The options, the most tools and the least bytes of the pool.
fn options(
    c: Caller,
    opts: *const toolcore_registry_opts_t,
) -> Result<(RegistryOptions<'static>, usize, usize), Fail> {
    let opts = c.options(opts)?;
    let collision = match opts.collision {
        TOOLCORE_COLLISION_REFUSE => Collision::Refuse,
        TOOLCORE_COLLISION_REPLACE => Collision::Replace,
        _ => return Err(unknown!("collision")),
    };
    let places = if opts.max_tools == 0 { 16 } else { opts.max_tools };
    let pool = if opts.pool_bytes == 0 { places.saturating_mul(512) } else { opts.pool_bytes };
    let options = RegistryOptions {
        collision,
        timeout: timeout(opts.timeout_ms),
        compile: compile_options(opts.max_depth, opts.default_draft, opts.flags)?,
        resources: resources(c, opts.resources)?,
    };
    Ok((options, places, pool))
}

/// Bytes without the pool.
fn registry_size(places: usize) -> usize {
    Memory::room_for::<Live<HostRegistry>>(1)
        .saturating_add(Memory::room_for::<Option<Slot<HostHandler>>>(places))
        .saturating_add(Memory::room_for::<u32>(places.saturating_mul(2)))
}

/// A timeout as C says it: none for 0.
pub(crate) fn timeout(millis: u64) -> Option<Duration> {
    (millis != 0).then_some(Duration::from_millis(millis))
}
