//! What C hands over, and what goes back: the raw pointers and the only reads and writes through them.
//!
//! A [`Caller`] is the proof that an entry point was called, and so that its arguments keep the rules at the
//! top of the header: text and memory are as long as they say, for as long as the function's comment says.
//! That is why its methods may give out any lifetime; what is kept beyond the call is kept for as long as the
//! comment in the header has it.

use core::ffi::{c_char, c_void};
use core::mem::{MaybeUninit, offset_of, size_of};
use core::ptr::{self, NonNull};
use core::slice;

use crate::guard::{BAD_SIZE, Fail, MANY, NO_SPACE, NULL, OVERLAP, TOO_LONG, UNKNOWN, UTF8};
use crate::status::{TOOLCORE_DETAIL_MESSAGE_SIZE, toolcore_detail_t};
use crate::tool::toolcore_drop_fn;

/// Text: UTF-8, not NUL terminated. (NULL, 0) is empty.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct toolcore_str_t {
    /// The first byte; may be NULL if len is 0.
    pub ptr: *const c_char,
    /// Bytes.
    pub len: usize,
}

impl toolcore_str_t {
    /// `(NULL, 0)`
    pub(crate) const EMPTY: Self = toolcore_str_t { ptr: ptr::null(), len: 0 };

    /// Text of the library, for as long as that lives.
    pub(crate) const fn of(text: &str) -> Self {
        toolcore_str_t { ptr: text.as_ptr().cast(), len: text.len() }
    }
}

/// A larger struct_size was never set: it is refused, and nothing else of the struct is looked at.
pub const TOOLCORE_STRUCT_SIZE_MAX: usize = 4096;

/// Proof that an entry point was called; see the [module](self).
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// What is about to be written, and so must not be read or lent meanwhile.
    written: Span,
}

impl Caller {
    /// # Safety
    /// What is handed to the methods came from C code that keeps the rules of the header.
    pub(crate) unsafe fn trust() -> Self {
        Caller { written: Span::NOWHERE }
    }

    /// The same, but texts, bytes and memory that lie in `written`, even in part, are refused. For what the
    /// library gives out and a host may hand in again to be copied to where it is.
    pub(crate) fn apart_from(self, written: Span) -> Self {
        Caller { written }
    }

    /// Whether `used` is apart from what is about to be written.
    pub(crate) fn apart(self, used: Span) -> Result<(), Fail> {
        if used.overlaps(self.written) { Err(OVERLAP) } else { Ok(()) }
    }

    /// Bytes to read.
    pub(crate) fn bytes<'m>(self, ptr: *const c_void, len: usize) -> Result<&'m [u8], Fail> {
        if len == 0 {
            return Ok(&[]);
        }
        check(ptr, len)?;
        self.apart(Span::new(ptr, len))?;
        // SAFETY: not NULL, no longer than memory can be, and C says that so many bytes are there to be read.
        Ok(unsafe { slice::from_raw_parts(ptr.cast(), len) })
    }

    /// Bytes to write.
    pub(crate) fn bytes_mut<'m>(self, ptr: *mut c_void, len: usize) -> Result<&'m mut [u8], Fail> {
        if len == 0 {
            return Ok(&mut []);
        }
        check(ptr, len)?;
        // SAFETY: as for `bytes`; C says that they may be written and that nothing else points there. They are
        // written before they are read.
        Ok(unsafe { slice::from_raw_parts_mut(ptr.cast(), len) })
    }

    /// Text to read.
    pub(crate) fn text<'m>(self, text: toolcore_str_t) -> Result<&'m str, Fail> {
        core::str::from_utf8(self.bytes(text.ptr.cast(), text.len)?).map_err(|_| UTF8)
    }

    /// Text that was found to be UTF-8 when a walk over it began, and that C says has not changed since.
    pub(crate) fn checked_text<'m>(self, text: toolcore_str_t) -> Result<&'m str, Fail> {
        let bytes = self.bytes(text.ptr.cast(), text.len)?;
        // SAFETY: the walk's first step has checked them; checking the whole at each step would make a walk
        // quadratic.
        Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
    }

    /// An array of texts, as many as `into` has places for; gives those that are filled.
    pub(crate) fn texts<'m, 'a>(
        self,
        first: *const toolcore_str_t,
        len: usize,
        into: &'a mut [&'m str],
    ) -> Result<&'a [&'m str], Fail> {
        let into = into.get_mut(..len).ok_or(MANY)?;
        if len != 0 {
            check(first, size_of_val(into))?;
        }
        for (index, text) in into.iter_mut().enumerate() {
            // SAFETY: not NULL, and C says that so many texts are there to be read.
            *text = self.text(unsafe { first.add(index).read_unaligned() })?;
        }
        Ok(into)
    }

    /// A struct that must be there.
    pub(crate) fn input<T: CStruct>(self, from: *const T) -> Result<T, Fail> {
        let size = struct_size(from)?;
        let mut value = T::zero();
        // SAFETY: C says that `size` bytes are there; no more than the value holds are copied, and any bytes
        // are a `T`.
        unsafe {
            ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast(), size.min(size_of::<T>()))
        };
        // SAFETY: as above.
        let unknown = (size_of::<T>()..size).any(|at| unsafe { from.cast::<u8>().add(at).read() } != 0);
        if unknown { Err(UNKNOWN) } else { Ok(value) }
    }

    /// A struct whose pointer may be NULL: then all of it is zero.
    pub(crate) fn options<T: CStruct>(self, from: *const T) -> Result<T, Fail> {
        if from.is_null() { Ok(T::zero()) } else { self.input(from) }
    }

    /// An array of structs, which may be of a size of their own.
    pub(crate) fn list<T: CStruct>(self, first: *const T, len: usize) -> Result<List<T>, Fail> {
        let stride = if len == 0 { size_of::<T>() } else { struct_size(first)? };
        if len != 0 {
            check(first, len.checked_mul(stride).ok_or(TOO_LONG)?)?;
        }
        Ok(List { first, len, stride })
    }

    /// A place for a plain value.
    pub(crate) fn out<T>(self, to: *mut T) -> Result<Out<T>, Fail> {
        NonNull::new(to).map(Out).ok_or(NULL)
    }

    /// A place for a struct.
    pub(crate) fn out_struct<T: CStruct>(self, to: *mut T) -> Result<OutStruct<T>, Fail> {
        let size = struct_size(to)?.min(size_of::<T>());
        self.out(to).map(|to| OutStruct { to: to.0, size })
    }

    /// A place for a struct, or none for NULL.
    pub(crate) fn out_struct_or_none<T: CStruct>(self, to: *mut T) -> Result<Option<OutStruct<T>>, Fail> {
        if to.is_null() { Ok(None) } else { self.out_struct(to).map(Some) }
    }

    /// A buffer to write text to, with the place of its length.
    pub(crate) fn output<'m>(
        self,
        buf: *mut c_char,
        len: usize,
        out_len: *mut usize,
    ) -> Result<Output<'m>, Fail> {
        self.output_beside(buf, len, out_len, [])
    }

    /// Like [`Caller::output`], refused if the buffer overlaps with what is read while it is written.
    pub(crate) fn output_beside<'m>(
        self,
        buf: *mut c_char,
        len: usize,
        out_len: *mut usize,
        read: impl IntoIterator<Item = Span>,
    ) -> Result<Output<'m>, Fail> {
        let out_len = self.out(out_len)?;
        out_len.set(0);
        let apart = self.apart_from(Span::new(buf, len));
        read.into_iter().try_for_each(|read| apart.apart(read))?;
        let buffer = self.bytes_mut(buf.cast(), len)?;
        Ok(Output { buffer, measures: buf.is_null(), out_len, done: false })
    }

    /// The values of a struct that C keeps for the library.
    pub(crate) fn state<T: Copy>(self, from: *const T) -> Result<T, Fail> {
        if from.is_null() {
            return Err(NULL);
        }
        // SAFETY: C says that there is one, made by its `_init`, which wrote all of it.
        Ok(unsafe { from.read_unaligned() })
    }

    /// The user_data of a struct that hands one over, read before anything else: it is the library's if the
    /// struct is large enough to say how it ends.
    pub(crate) fn take_user_data<T: HandsOver>(self, from: *const T) -> UserData {
        let there = size_said(from).is_some_and(|size| size >= T::DROP + size_of::<toolcore_drop_fn>());
        if !there || T::DROP < T::USER_DATA {
            return UserData { ptr: ptr::null_mut(), drop: None };
        }
        // SAFETY: C says that `size` bytes are there, and `T` says that these fields are of these types.
        unsafe {
            let base = from.cast::<u8>();
            UserData {
                ptr: base.add(T::USER_DATA).cast::<*mut c_void>().read_unaligned(),
                drop: base.add(T::DROP).cast::<toolcore_drop_fn>().read_unaligned(),
            }
        }
    }

    /// The room for a detail's message, without that of its NUL, and the size of the detail.
    pub(crate) fn detail_message<'m>(
        self,
        detail: NonNull<toolcore_detail_t>,
    ) -> Result<(&'m mut [u8], usize), Fail> {
        let size = struct_size(detail.as_ptr())?;
        let message = detail.as_ptr().cast::<u8>().wrapping_add(offset_of!(toolcore_detail_t, message));
        Ok((self.bytes_mut(message.cast(), TOOLCORE_DETAIL_MESSAGE_SIZE - 1)?, size))
    }
}

/// Where a piece of memory is, to be compared and never to be followed.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

impl Span {
    pub(crate) const NOWHERE: Self = Span { start: 0, end: 0 };

    /// So many bytes from `ptr` on.
    pub(crate) fn new<T>(ptr: *const T, len: usize) -> Self {
        if len == 0 {
            return Span::NOWHERE;
        }
        Span { start: ptr.addr(), end: ptr.addr().saturating_add(len) }
    }

    /// Those of a slice.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Span::new(bytes.as_ptr(), bytes.len())
    }

    /// Those of a text.
    pub(crate) fn of_text(text: toolcore_str_t) -> Self {
        Span::new(text.ptr, text.len)
    }

    /// Bytes.
    pub(crate) fn len(self) -> usize {
        self.end - self.start
    }

    fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A struct that begins with its size.
///
/// # Safety
/// `repr(C)`, its first field is `struct_size: usize`, and any bytes, zeros too, are a value of it.
pub(crate) unsafe trait CStruct: Copy {
    /// The size that it had in the first version of the header: the least that C may say. When a field is
    /// appended, this becomes its offset.
    const FIRST: usize = size_of::<Self>();

    /// All zero.
    fn zero() -> Self {
        // SAFETY: the trait says so.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }
}

/// Says that a struct begins with its size and has no padding; and which field was the first to be appended,
/// if any was.
macro_rules! sized_struct {
    ($name:ident $(, since $field:ident)?) => {
        // SAFETY: `repr(C)` and beginning with `struct_size`, as the next line and tests/layout.rs check; all
        // fields are numbers, pointers, options of functions and structs of these.
        unsafe impl crate::abi::CStruct for $name {
            $(const FIRST: usize = core::mem::offset_of!($name, $field);)?
        }
        const _: () = assert!(core::mem::offset_of!($name, struct_size) == 0);
    };
}
pub(crate) use sized_struct;

/// A struct that hands a `user_data` over.
///
/// # Safety
/// The constants are the offsets of `user_data: *mut c_void` and of `drop: toolcore_drop_fn` after it.
pub(crate) unsafe trait HandsOver: CStruct {
    /// Where `user_data` is.
    const USER_DATA: usize;
    /// Where `drop` is.
    const DROP: usize;
}

/// Says that a struct hands its `user_data` over, which its `drop` ends.
macro_rules! hands_over {
    ($name:ident) => {
        // SAFETY: the offsets of these fields; their types are checked in the line after.
        unsafe impl crate::abi::HandsOver for $name {
            const USER_DATA: usize = core::mem::offset_of!($name, user_data);
            const DROP: usize = core::mem::offset_of!($name, drop);
        }
        const _: fn(&$name) -> (*mut core::ffi::c_void, crate::tool::toolcore_drop_fn) =
            |of| (of.user_data, of.drop);
    };
}
pub(crate) use hands_over;

/// A host's data, which is let go of exactly once.
pub(crate) struct UserData {
    /// What callbacks get.
    pub(crate) ptr: *mut c_void,
    drop: toolcore_drop_fn,
}

// SAFETY: the header says that callbacks and their user_data must be fit for all threads that share the
// object they were given to.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(drop) = self.drop.take() {
            // SAFETY: C handed the function over with this pointer, to be called once: it is taken out here.
            unsafe { drop(self.ptr) };
        }
    }
}

/// An array of structs from C.
#[derive(Clone, Copy)]
pub(crate) struct List<T> {
    first: *const T,
    len: usize,
    stride: usize,
}

impl<T: CStruct> List<T> {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The one at `index`. They must all have the size that the first one has.
    pub(crate) fn get(&self, c: Caller, index: usize) -> Result<T, Fail> {
        if index >= self.len {
            return Err(NULL);
        }
        let at = self.first.cast::<u8>().wrapping_add(index * self.stride).cast::<T>();
        if struct_size(at)? != self.stride {
            return Err(BAD_SIZE);
        }
        c.input(at)
    }
}

/// A place for a plain value.
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Writes it.
    pub(crate) fn set(&self, value: T) {
        // SAFETY: not NULL, and C says that a value of this type may be written there.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// A place for a struct.
pub(crate) struct OutStruct<T> {
    to: NonNull<T>,
    size: usize,
}

impl<T: CStruct> OutStruct<T> {
    /// Writes it; its `struct_size` stays what C said.
    pub(crate) fn set(&self, value: T) {
        let head = size_of::<usize>();
        let from = (&raw const value).cast::<u8>();
        // SAFETY: C says that the struct is there and how large, of which no more is written than a `T` has.
        unsafe {
            let to = self.to.cast::<u8>().as_ptr();
            ptr::copy_nonoverlapping(from.add(head), to.add(head), self.size - head);
        }
    }
}

/// A buffer for text, and where its length goes. Unless it is finished well, what is in it reads as empty.
pub(crate) struct Output<'m> {
    buffer: &'m mut [u8],
    measures: bool,
    out_len: Out<usize>,
    done: bool,
}

impl Output<'_> {
    /// What may be written to.
    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        self.buffer
    }

    /// Whether C only asks for the length.
    pub(crate) fn measures(&self) -> bool {
        self.measures
    }

    /// The text has this length, and is in the buffer if it fits.
    pub(crate) fn finish(mut self, need: usize) -> Result<(), Fail> {
        self.out_len.set(need);
        if self.measures {
            return Ok(());
        }
        if need > self.buffer.len() {
            return Err(NO_SPACE);
        }
        if let Some(after) = self.buffer.get_mut(need) {
            *after = 0;
        }
        self.done = true;
        Ok(())
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        if let Some(first) = self.buffer.first_mut().filter(|_| !self.done) {
            *first = 0;
        }
    }
}

/// Whether so many bytes can be there.
pub(crate) fn check<T>(ptr: *const T, len: usize) -> Result<(), Fail> {
    if ptr.is_null() {
        return Err(NULL);
    }
    // No memory is larger, and none wraps around the end of the address space.
    let end = ptr.addr().checked_add(len);
    if len > isize::MAX as usize || end.is_none() { Err(TOO_LONG) } else { Ok(()) }
}

/// What a struct says of its size; `None` for NULL and for what can only be an accident.
fn size_said<T: CStruct>(from: *const T) -> Option<usize> {
    if from.is_null() {
        return None;
    }
    // SAFETY: C says that a struct is there, which begins with its size.
    let size = unsafe { from.cast::<usize>().read_unaligned() };
    (size <= TOOLCORE_STRUCT_SIZE_MAX).then_some(size)
}

/// The size of a struct that has all fields of its first version.
fn struct_size<T: CStruct>(from: *const T) -> Result<usize, Fail> {
    if from.is_null() {
        return Err(NULL);
    }
    size_said(from).filter(|size| *size >= T::FIRST).ok_or(BAD_SIZE)
}
