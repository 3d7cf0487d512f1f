//! The memory of a compilation: finished nodes grow from its front, unfinished ones from its back.
//!
//! Whatever does not fit is counted but not kept, so that one run over too little memory tells how much would
//! do. What is read back then is zero, and the compiler must not draw conclusions from it: see
//! [`Store::fits`].
//!
//! Words at the back form a stack that grows downwards, so the last one pushed has the lowest address. A
//! place on it is named by its height, the bytes from it to the end of the memory.

use super::program;

pub(super) struct Store<'m> {
    memory: &'m mut [u8],
    front: usize,
    back: usize,
    peak: usize,
}

impl<'m> Store<'m> {
    pub(super) fn new(memory: &'m mut [u8]) -> Self {
        Store { memory, front: 0, back: 0, peak: 0 }
    }

    /// Whether everything was kept so far.
    pub(super) fn fits(&self) -> bool {
        self.peak <= self.memory.len()
    }

    /// Bytes that would have been enough so far.
    pub(super) fn need(&self) -> usize {
        self.peak
    }

    /// Bytes at the front: the address of the next node.
    pub(super) fn front(&self) -> usize {
        self.front
    }

    /// The height of the stack.
    pub(super) fn height(&self) -> usize {
        self.back
    }

    /// The program so far.
    pub(super) fn program(&self) -> &[u8] {
        self.memory.get(..self.front).unwrap_or_default()
    }

    /// Changes a word of the program or of the stack, at an address.
    pub(super) fn set(&mut self, at: usize, word: u32) {
        if let Some(place) = self.memory.get_mut(at..at.saturating_add(4)) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
    }

    /// The word at an address.
    pub(super) fn get(&self, at: usize) -> u32 {
        program::word(self.memory, at)
    }

    /// Counts bytes that may be needed later on.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.peak = self.peak.saturating_add(bytes);
    }

    /// All of the memory, for what reads the stack with an address.
    pub(super) fn memory(&self) -> &[u8] {
        self.memory
    }

    /// Appends a word at the front.
    pub(super) fn append(&mut self, word: u32) {
        self.front = self.front.saturating_add(4);
        self.note();
        if self.fits() {
            self.set(self.front - 4, word);
        }
    }

    /// The memory between the front and the stack.
    #[cfg(feature = "pattern")]
    pub(super) fn free(&mut self) -> &mut [u8] {
        let end = if self.fits() { self.address(self.back) } else { 0 };
        self.memory.get_mut(self.front..end).unwrap_or_default()
    }

    /// Pushes the first bytes of the [free](Self::free) memory, of which `peak` bytes were in use.
    #[cfg(feature = "pattern")]
    pub(super) fn push_free(&mut self, bytes: usize, peak: usize) {
        self.peak = self.peak.max(self.front.saturating_add(self.back).saturating_add(peak));
        self.back = self.back.saturating_add(bytes);
        self.note();
        if self.fits() {
            let to = self.address(self.back);
            self.memory.copy_within(self.front..self.front + bytes, to);
        }
    }

    /// Pushes a word.
    pub(super) fn push(&mut self, word: u32) {
        self.back = self.back.saturating_add(4);
        self.note();
        if self.fits() {
            self.set(self.address(self.back), word);
        }
    }

    /// Takes words off the stack, down to `height`.
    pub(super) fn pop_to(&mut self, height: usize) {
        self.back = self.back.min(height);
    }

    /// The address of the word whose height is `height`.
    pub(super) fn address(&self, height: usize) -> usize {
        self.memory.len().saturating_sub(height)
    }

    /// Swaps two records of `size` words.
    pub(super) fn swap(&mut self, a: usize, b: usize, size: usize) {
        for i in (0..4 * size).step_by(4) {
            let (x, y) = (self.get(a + i), self.get(b + i));
            self.set(a + i, y);
            self.set(b + i, x);
        }
    }

    /// Reverses the order of `count` records of `size` words on top of the stack.
    pub(super) fn reverse(&mut self, count: usize, size: usize) {
        let first = self.address(self.back);
        for number in 0..if self.fits() { count / 2 } else { 0 } {
            self.swap(first + 4 * size * number, first + 4 * size * (count - 1 - number), size);
        }
    }

    /// Brings the words between the heights `low` and `high` to the top of the stack.
    pub(super) fn raise(&mut self, low: usize, high: usize) {
        let (top, end) = (self.address(self.back), self.address(low));
        let above = self.back.saturating_sub(high);
        if self.fits()
            && let Some(words) = self.memory.get_mut(top..end)
            && above <= words.len()
        {
            words.rotate_left(above);
        }
    }

    /// Moves the stack above `height` to the front, where it keeps its order of addresses.
    pub(super) fn move_to_front(&mut self, height: usize) {
        let size = self.back.saturating_sub(height);
        let (from, to) = (self.address(self.back), self.front);
        self.back = height;
        self.front = self.front.saturating_add(size);
        self.note();
        if self.fits() {
            // Both ranges lie inside the memory, since what was pushed and what is now at the front fits.
            self.memory.copy_within(from..from + size, to);
        }
    }

    fn note(&mut self) {
        self.peak = self.peak.max(self.front.saturating_add(self.back));
    }
}

/// Sorts `count` things of a store, in place and in time n log n whatever their order (heapsort).
pub(super) fn sort(
    store: &mut Store<'_>,
    count: usize,
    less: &mut dyn FnMut(&Store<'_>, usize, usize) -> bool,
    swap: &dyn Fn(&mut Store<'_>, usize, usize),
) {
    for start in (0..count / 2).rev() {
        sift(store, start, count, less, swap);
    }
    for end in (1..count).rev() {
        swap(store, 0, end);
        sift(store, 0, end, less, swap);
    }
}

fn sift(
    store: &mut Store<'_>,
    mut root: usize,
    count: usize,
    less: &mut dyn FnMut(&Store<'_>, usize, usize) -> bool,
    swap: &dyn Fn(&mut Store<'_>, usize, usize),
) {
    loop {
        let mut child = 2 * root + 1;
        if child >= count {
            return;
        }
        if child + 1 < count && less(store, child, child + 1) {
            child += 1;
        }
        if !less(store, root, child) {
            return;
        }
        swap(store, root, child);
        root = child;
    }
}

/// The first number in `low..high` for which `before` does not hold, where it holds for all before that one.
pub(super) fn partition(mut low: usize, mut high: usize, mut before: impl FnMut(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
