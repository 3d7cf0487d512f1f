//! Objects in the memory of the host: what stands behind the opaque pointers.
//!
//! An object begins with a word that says of which kind it is, and that is gone once it has ended; so a handle
//! of another kind, or of one that has ended, is found out as far as memory still tells. What a callback gets
//! is an object too, which stands for something of the core and ends when the callback returns.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{align_of, size_of};
use core::ptr::{self, NonNull};
use core::slice;

use toolcore_core::call::Call;
use toolcore_core::registry::Draft;
use toolcore_core::result::ToolResult;
use toolcore_core::scratch::Scratch;
use toolcore_core::sink::Sink;

use crate::abi::{Caller, Span, check};
use crate::guard::{BUSY, ENDED, Fail, NO_SPACE, NULL};

impl Caller {
    /// An object to look at.
    pub(crate) fn object<'m, H: Object>(self, handle: *const H) -> Result<&'m H::Body, Fail> {
        let live = alive(handle)?;
        // SAFETY: its magic says that it was made by this library and has not ended, and C says that nothing
        // changes it now.
        Ok(unsafe { &(*live).body })
    }

    /// An object to change.
    pub(crate) fn object_mut<'m, H: Object>(self, handle: *mut H) -> Result<&'m mut H::Body, Fail> {
        let live = alive(handle)?;
        // SAFETY: as for `object`, and C says that nothing else uses it now.
        Ok(unsafe { &mut (*live.cast_mut()).body })
    }

    /// An object to change, that nothing it calls out to may use meanwhile.
    pub(crate) fn object_alone<'m, H: Object>(self, handle: *mut H) -> Result<Alone<'m, H>, Fail> {
        let live = alive(handle)?.cast_mut();
        // SAFETY: as for `object_mut`; as long as its magic says that it is in use no other reference is made.
        unsafe {
            (&raw mut (*live).magic).write(!H::MAGIC);
            Ok(Alone {
                magic: NonNull::new_unchecked(&raw mut (*live).magic),
                body: &mut (*live).body,
                kind: PhantomData,
            })
        }
    }

    /// Ends an object, after `last` saw it. To all that calls in meanwhile it has ended already.
    pub(crate) fn end<H: Object>(self, handle: *mut H, last: impl FnOnce(&mut H::Body)) -> Result<(), Fail> {
        let live = alive(handle)?.cast_mut();
        // SAFETY: as for `object_mut`; it is not used again, since its magic is gone before its body is.
        unsafe {
            (&raw mut (*live).magic).write(0);
            last(&mut (*live).body);
            (&raw mut (*live).body).drop_in_place();
        }
        Ok(())
    }

    /// What an object of a callback stands for.
    pub(crate) fn lent<'m, T>(self, lent: &Lent<T>) -> &'m T {
        // SAFETY: the object that holds it was found alive, and it lives no longer than what it stands for.
        unsafe { lent.0.as_ref() }
    }

    /// What an object of a callback stands for, to change it.
    pub(crate) fn lent_mut<'m, T>(self, lent: &mut Lent<T>) -> &'m mut T {
        // SAFETY: as for `lent`; it was lent by a `&mut`, or C has it as const and does not get here.
        unsafe { lent.0.as_mut() }
    }

    /// Memory to build an object in.
    pub(crate) fn memory(self, mem: *mut c_void, len: usize) -> Result<Memory, Fail> {
        let next = NonNull::new(mem.cast()).ok_or(NULL)?;
        check(mem, len)?;
        self.apart(Span::new(mem, len))?;
        Ok(Memory { next, left: len })
    }

    /// Memory to work in, as words and bytes.
    pub(crate) fn scratch(self, mem: *mut c_void, len: usize) -> Result<Scratch<'static>, Fail> {
        if len == 0 {
            return Ok(Scratch::default());
        }
        Ok(self.memory(mem, len)?.scratch())
    }

    /// Memory to work in, as words.
    pub(crate) fn words(self, mem: *mut c_void, len: usize) -> Result<&'static mut [u32], Fail> {
        if len == 0 {
            return Ok(&mut []);
        }
        let mut memory = self.memory(mem, len)?;
        let pad = memory.next.align_offset(align_of::<u32>());
        // Too little to reach an aligned place is none.
        Ok(memory.words(len.saturating_sub(pad) / size_of::<u32>()).unwrap_or_default())
    }
}

/// An opaque type of C: what stands behind a pointer to it.
pub(crate) trait Object {
    /// The object itself.
    type Body: 'static;
    /// What its memory begins with.
    const MAGIC: u32;
}

/// An object in its memory.
#[repr(C)]
pub(crate) struct Live<B> {
    magic: u32,
    body: B,
}

impl<B> Live<B> {
    /// The object that C gets as `H`.
    pub(crate) fn new<H: Object<Body = B>>(body: B) -> Self {
        Live { magic: H::MAGIC, body }
    }

    /// What is inside.
    pub(crate) fn body(&self) -> &B {
        &self.body
    }

    /// What C gets to look at.
    pub(crate) fn handle<H: Object<Body = B>>(&self) -> *const H {
        ptr::from_ref(self).cast()
    }

    /// What C gets to change.
    pub(crate) fn handle_mut<H: Object<Body = B>>(&mut self) -> *mut H {
        ptr::from_mut(self).cast()
    }
}

impl<B> Drop for Live<B> {
    fn drop(&mut self) {
        // SAFETY: a plain write to a field of its own; volatile, so that one at the end of a life is made.
        unsafe { (&raw mut self.magic).write_volatile(0) };
    }
}

/// An object that is in use; what is called out to finds it busy.
pub(crate) struct Alone<'m, H: Object> {
    magic: NonNull<u32>,
    body: &'m mut H::Body,
    kind: PhantomData<H>,
}

impl<H: Object> core::ops::Deref for Alone<'_, H> {
    type Target = H::Body;
    fn deref(&self) -> &H::Body {
        self.body
    }
}

impl<H: Object> core::ops::DerefMut for Alone<'_, H> {
    fn deref_mut(&mut self) -> &mut H::Body {
        self.body
    }
}

impl<H: Object> Drop for Alone<'_, H> {
    fn drop(&mut self) {
        // SAFETY: the magic of an object that could not end meanwhile, and is not part of its body.
        unsafe { self.magic.as_ptr().write(H::MAGIC) };
    }
}

/// Something of a shorter life than its type says, behind an object that ends before it.
pub(crate) struct Lent<T>(NonNull<T>);

impl<T> Lent<T> {
    /// Lends it, to be looked at.
    pub(crate) fn of<U: Lends<Long = T>>(what: &U) -> Self {
        Lent(NonNull::from(what).cast())
    }

    /// Lends it, to be changed.
    pub(crate) fn of_mut<U: Lends<Long = T>>(what: &mut U) -> Self {
        Lent(NonNull::from(what).cast())
    }
}

/// What can be lent.
///
/// # Safety
/// `Long` is the same type, with lifetimes that do not end.
pub(crate) unsafe trait Lends {
    /// What it is lent as.
    type Long;
}

// SAFETY: all four are the type itself.
unsafe impl Lends for Call<'_> {
    type Long = Call<'static>;
}
// SAFETY: as above.
unsafe impl Lends for ToolResult<'_> {
    type Long = ToolResult<'static>;
}
// SAFETY: as above.
unsafe impl Lends for Draft<'_, '_> {
    type Long = Draft<'static, 'static>;
}
// SAFETY: as above.
unsafe impl Lends for Sink<'_> {
    type Long = Sink<'static>;
}

/// Memory of the host, given out piece by piece.
pub(crate) struct Memory {
    next: NonNull<u8>,
    left: usize,
}

impl Memory {
    /// Bytes that `count` of `T` take at the most, wherever they begin.
    pub(crate) const fn room_for<T>(count: usize) -> usize {
        count.saturating_mul(size_of::<T>()).saturating_add(align_of::<T>() - 1)
    }

    /// Room for one value, to be filled later.
    pub(crate) fn reserve<T>(&mut self) -> Result<Place<T>, Fail> {
        Ok(Place(self.take(align_of::<T>(), size_of::<T>())?.cast()))
    }

    /// An array whose elements `make` makes.
    pub(crate) fn array<T>(
        &mut self,
        count: usize,
        mut make: impl FnMut() -> T,
    ) -> Result<&'static mut [T], Fail> {
        let size = count.checked_mul(size_of::<T>()).ok_or(NO_SPACE)?;
        let first = self.take(align_of::<T>(), size)?.cast::<T>();
        for index in 0..count {
            // SAFETY: inside the piece that was just taken, which is aligned for it.
            unsafe { first.add(index).write(make()) };
        }
        // SAFETY: all elements were written, and the piece is given out once.
        Ok(unsafe { slice::from_raw_parts_mut(first.as_ptr(), count) })
    }

    /// Words to work with, as they are: clearing a large scratch would cost more than most calls.
    fn words(&mut self, count: usize) -> Result<&'static mut [u32], Fail> {
        let size = count.checked_mul(size_of::<u32>()).ok_or(NO_SPACE)?;
        let first = self.take(align_of::<u32>(), size)?.cast::<u32>();
        // SAFETY: the piece that was just taken, which is aligned for them and given out once. They are
        // written before they are read.
        Ok(unsafe { slice::from_raw_parts_mut(first.as_ptr(), count) })
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'static mut [u8] {
        // SAFETY: what was not taken, of memory that C gave for the object's whole life.
        unsafe { slice::from_raw_parts_mut(self.next.as_ptr(), self.left) }
    }

    /// A quarter of what is left as words, the rest as bytes.
    pub(crate) fn scratch(mut self) -> Scratch<'static> {
        let words = self.words(self.left / 16).unwrap_or_default();
        Scratch::new(words, self.rest())
    }

    fn take(&mut self, align: usize, size: usize) -> Result<NonNull<u8>, Fail> {
        let pad = self.next.align_offset(align);
        let left = self.left.checked_sub(pad).and_then(|left| left.checked_sub(size)).ok_or(NO_SPACE)?;
        // SAFETY: at least `pad + size` bytes were left, so neither place is beyond the end.
        let (piece, next) = unsafe { (self.next.add(pad), self.next.add(pad + size)) };
        (self.next, self.left) = (next, left);
        Ok(piece)
    }
}

/// Bytes of scratch of which a quarter is so many words and the rest so many bytes.
pub(crate) const fn scratch_for(words: usize, bytes: usize) -> usize {
    let for_words = words.saturating_mul(16);
    let for_bytes = bytes.saturating_add(bytes.div_ceil(3));
    let larger = if for_words > for_bytes { for_words } else { for_bytes };
    // What `array` may lose by aligning, and the rounding of a quarter.
    larger.saturating_add(32)
}

/// Room for one value.
pub(crate) struct Place<T>(NonNull<T>);

impl<B: 'static> Place<Live<B>> {
    /// Fills it with an object; gives what C gets.
    pub(crate) fn object<H: Object<Body = B>>(self, body: B) -> *mut H {
        self.fill(Live::new::<H>(body)).handle_mut()
    }
}

impl<T> Place<T> {
    /// Fills it.
    pub(crate) fn fill(self, value: T) -> &'static mut T {
        // SAFETY: room for a `T`, aligned, given out once, of memory that C gave for the object's whole life.
        unsafe {
            self.0.write(value);
            &mut *self.0.as_ptr()
        }
    }
}

fn alive<H: Object>(handle: *const H) -> Result<*const Live<H::Body>, Fail> {
    let live = handle.cast::<Live<H::Body>>();
    if live.is_null() {
        return Err(NULL);
    }
    // SAFETY: aligned, and C says that it points to an object, which begins with its magic, or at least to
    // memory that was one.
    match unsafe { live.is_aligned().then(|| (&raw const (*live).magic).read()) } {
        Some(magic) if magic == H::MAGIC => Ok(live),
        Some(magic) if magic == !H::MAGIC => Err(BUSY),
        _ => Err(ENDED),
    }
}
