//! Documents that the references of schemas can lead into.

use core::ffi::c_void;
use core::ptr;

use toolcore_core::json;
use toolcore_core::schema::{Resource, SchemaError, SchemaErrorKind};

use crate::abi::{Caller, Span, sized_struct, toolcore_str_t};
use crate::guard::{Fail, guard};
use crate::object::{Live, Memory, Object};
use crate::schema::refuse;
use crate::status::{TOOLCORE_ERR_NO_SPACE, toolcore_detail_t, toolcore_status_t};

/// A set of documents for the references of schemas (`"$ref":"https://example.com/units#/$defs/unit"`). One set
/// serves any number of schemas and registries.
pub struct toolcore_resources_t {
    _opaque: [u8; 0],
}

/// One document.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_resource_t {
    /// sizeof(toolcore_resource_t), the same in all elements of an array.
    pub struct_size: usize,
    /// Its URI; references that resolve to it lead into the document. It may name itself with "$id" as well. Best an
    /// absolute URI: a relative one is taken as it is, so that a schema with an absolute "$id", to which its
    /// references are relative, does not find it.
    pub uri: toolcore_str_t,
    /// Its JSON text.
    pub text: toolcore_str_t,
}

/// Bytes of memory for a set of so many documents, their texts apart.
///
/// Threads: any.
#[unsafe(no_mangle)]
pub extern "C" fn toolcore_resources_mem_size(len: usize) -> usize {
    Memory::room_for::<Live<Documents>>(1).saturating_add(Memory::room_for::<Resource<'static>>(len))
}

/// Makes a set of `len` documents in `mem`. Where two have the same URI the first one counts.
///
/// Returns TOOLCORE_OK; ERR_NO_SPACE (why.need: bytes of mem); ERR_BAD_JSON and ERR_INVALID_UTF8 for a document
/// (why.resource says which, counted from 1); ERR_INVALID_ARGUMENT. Unless OK, *out is NULL.
/// The URIs, the texts and `mem` are used until toolcore_resources_deinit; `list` is not kept. Schemas and
/// registries that were made with the set must end before it.
/// Threads: touches only its arguments. A set may be used by any number of threads at once.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn toolcore_resources_init(
    list: *const toolcore_resource_t,
    len: usize,
    mem: *mut c_void,
    mem_len: usize,
    out: *mut *mut toolcore_resources_t,
    why: *mut toolcore_detail_t,
) -> toolcore_status_t {
    guard(why, |c, why| {
        let out = c.out(out)?;
        out.set(ptr::null_mut());
        let list = c.list(list, len)?;
        let mut memory = c.memory(mem, mem_len)?;
        let room = (memory.reserve::<Live<Documents>>())
            .and_then(|place| Ok((place, memory.array(len, || Resource { uri: "", text: "" })?)));
        let (place, documents) = room.inspect_err(|fail| {
            if fail.0 == TOOLCORE_ERR_NO_SPACE {
                why.need = toolcore_resources_mem_size(len);
            }
        })?;
        let apart = c.apart_from(Span::new(mem, mem_len));
        for (number, document) in documents.iter_mut().enumerate() {
            why.resource = number + 1;
            let given = list.get(c, number)?;
            *document = Resource { uri: apart.text(given.uri)?, text: apart.text(given.text)? };
            json::validate(document.text.as_bytes(), &json::Options::default()).map_err(|error| {
                let kind = SchemaErrorKind::Json(error);
                let error = SchemaError { kind, offset: error.offset, resource: Some(0) };
                let fail = refuse(error, "", &[*document], why);
                why.resource = number + 1;
                fail
            })?;
        }
        out.set(place.object::<toolcore_resources_t>(documents));
        Ok(())
    })
}

/// Ends a set. It owns nothing but its memory, which is the host's again. NULL is ignored.
///
/// Threads: any, when nothing else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn toolcore_resources_deinit(resources: *mut toolcore_resources_t) {
    guard(ptr::null_mut(), |c, _| c.end(resources, |_| ()));
}

sized_struct!(toolcore_resource_t);

type Documents = &'static [Resource<'static>];

impl Object for toolcore_resources_t {
    type Body = Documents;
    const MAGIC: u32 = u32::from_be_bytes(*b"TCrs");
}

/// The documents of a set; none for NULL.
pub(crate) fn resources(c: Caller, set: *const toolcore_resources_t) -> Result<Documents, Fail> {
    if set.is_null() { Ok(&[]) } else { c.object(set).copied() }
}
