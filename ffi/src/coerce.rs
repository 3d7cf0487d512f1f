//! Making an instance fit its schema, before it is checked.

use core::ffi::{c_char, c_void};

use toolcore_core::json;
use toolcore_core::schema::{CoerceError, CoerceOptions, Coercion, coerce};
use toolcore_core::sink::{NoSpace, Sink};

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::callback::tell_coercion;
use crate::guard::{Fail, guard, read, unknown};
use crate::json::TOOLCORE_JSON_REPLACE_SURROGATES;
use crate::object::Memory;
use crate::schema::{check_options, toolcore_schema_t};
use crate::status::{toolcore_detail_t, toolcore_status_t};

/// toolcore_coerce_opts_t.flags: of members with the same key the last one counts, and those before it are taken
/// out; without it they stay, and toolcore_schema_check refuses them.
pub const TOOLCORE_COERCE_LAST_WINS: u32 = 2;
/// toolcore_coerce_opts_t.flags: a string, number or boolean where an array is wanted becomes an array of one item.
pub const TOOLCORE_COERCE_WRAP_SCALARS: u32 = 4;
/// toolcore_coerce_opts_t.flags: no value is converted, added or taken out, but for what
/// TOOLCORE_COERCE_LAST_WINS asks for.
pub const TOOLCORE_COERCE_KEEP_VALUES: u32 = 8;

/// How an instance is made to fit. NULL, or all zero but struct_size, for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_coerce_opts_t {
    /// sizeof(toolcore_coerce_opts_t)
    pub struct_size: usize,
    /// Told each change: the place as a JSON Pointer, cut to 256 bytes, and the rule, such as
    /// "integer-from-string"; both valid until it returns. The instance is read several times: first come the
    /// changes that are called for at once, then those that hang on a choice (anyOf, then, dependentSchemas), then
    /// defaults; those of one reading in the order of the text. Not told anything while (NULL, 0) measures. NULL if
    /// nobody wants to know.
    pub changed:
        Option<unsafe extern "C" fn(user_data: *mut c_void, path: toolcore_str_t, rule: toolcore_str_t)>,
    /// Given to `changed`.
    pub user_data: *mut c_void,
    /// How deep the instance may be nested; 0 for the default, 128.
    pub max_depth: u32,
    /// Steps that it may take, all readings together; 0 for the default, 1,000,000.
    pub max_steps: u32,
    /// TOOLCORE_COERCE_ flags, and TOOLCORE_JSON_REPLACE_SURROGATES.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Writes an instance as the schema wants it, as far as it nearly fits; what is written is still to be checked.
/// Only a value is touched whose type the schema does not accept:
///
/// - an integer from "5", " 5 ", "5.0" or "+5", a number from "1e3";
/// - a boolean from 0, 1, "true", "false", "yes", "no", "on", "off", "1", "0" in any case;
/// - an array or an object from a string that holds its JSON;
/// - a null for an optional property that cannot be null is taken out;
/// - a property that is absent gets its "default".
///
/// What does not fit and cannot be converted stays as it is. Without a change the instance itself is written.
/// `scratch` is free again when this returns; toolcore_schema_coerce_scratch_size bytes always suffice. (NULL, 0)
/// and ERR_NO_SPACE for the buffer give a length that is usually enough: at least twice the instance and a little.
/// Where many or long defaults are added, the next try can ask for more; each gets further.
///
/// Returns TOOLCORE_OK; ERR_BAD_JSON if the instance is not JSON (why.offset and why.reason); ERR_NO_SPACE for
/// `buf` (then *out_len and why.need say how much to try) or `scratch` (then *out_len is 0 and why.need enough);
/// ERR_OUT_OF_RANGE if it takes too many steps; ERR_UNSUPPORTED; ERR_INVALID_ARGUMENT, also if two of instance,
/// scratch and buffer overlap. `changed` may have been told of changes before an error.
/// Threads: any, each with scratch and output of its own.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_schema_coerce(
    schema: *const toolcore_schema_t,
    instance: toolcore_str_t,
    opts: *const toolcore_coerce_opts_t,
    scratch: *mut c_void,
    scratch_len: usize,
    buf: *mut c_char,
    len: usize,
    out_len: *mut usize,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let working = Span::new(scratch, scratch_len);
        let mut output = c.output_beside(buf, len, out_len, [Span::of_text(instance), working])?;
        let schema = *c.object(schema)?;
        let instance = c.apart_from(working).bytes(instance.ptr.cast(), instance.len)?;
        let opts = c.options(opts)?;
        let options = options(&opts)?;
        let instance = match core::str::from_utf8(instance) {
            Ok(text) => text,
            // Says where, as for any other text that is not JSON.
            Err(_) => json::parse(instance, &options.check.json).map_err(|error| why.error(error))?.raw(),
        };
        let words = c.words(scratch, scratch_len)?;
        let measures = output.measures();
        let mut tell = |change: &Coercion<'_>| {
            if !measures {
                tell_coercion(opts.changed, opts.user_data, change);
            }
        };
        let done = coerce(schema, instance, &options, words, output.buffer(), &mut tell);
        let len = match done.map(|changed| changed.map(str::len)) {
            Ok(Some(len)) => len,
            Ok(None) => {
                let mut sink = Sink::new(output.buffer());
                sink.put(instance.trim_matches(BLANKS));
                sink.len()
            }
            Err(CoerceError::NoSpace { need }) => need,
            Err(error) => return Err(why.error(error)),
        };
        if !measures && len > output.buffer().len() {
            why.error(NoSpace { need: len });
        }
        output.finish(len)
    })
}

/// Bytes of scratch that are enough for toolcore_schema_coerce with any instance and these options (NULL for the
/// defaults); 0 if the options are not valid, and for NULL. About twice what toolcore_schema_scratch_size tells.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_schema_coerce_scratch_size(
    schema: *const toolcore_schema_t,
    opts: *const toolcore_coerce_opts_t,
) -> usize {
    read(0, |c: Caller| {
        let options = options(&c.options(opts)?)?;
        Ok(Memory::room_for::<u32>(c.object(schema)?.coerce_words(&options)))
    })
}

sized_struct!(toolcore_coerce_opts_t);

fn options(opts: &toolcore_coerce_opts_t) -> Result<CoerceOptions, Fail> {
    let own = TOOLCORE_COERCE_LAST_WINS | TOOLCORE_COERCE_WRAP_SCALARS | TOOLCORE_COERCE_KEEP_VALUES;
    if opts.flags & !(own | TOOLCORE_JSON_REPLACE_SURROGATES) != 0 {
        return Err(unknown!("flags"));
    }
    if opts.reserved != 0 {
        return Err(unknown!("reserved"));
    }
    Ok(CoerceOptions {
        check: check_options(opts.max_depth, opts.flags & TOOLCORE_JSON_REPLACE_SURROGATES, opts.max_steps)?,
        wrap_scalars: opts.flags & TOOLCORE_COERCE_WRAP_SCALARS != 0,
        last_wins: opts.flags & TOOLCORE_COERCE_LAST_WINS != 0,
        keep_values: opts.flags & TOOLCORE_COERCE_KEEP_VALUES != 0,
        nulls_only: false,
    })
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
