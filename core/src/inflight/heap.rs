//! The heap of a table: its slots in the order in which they are due, each before the two at its double.

use super::{InFlight, Slot, number};

impl InFlight<'_> {
    /// Sets when the slot is due, and puts it into the heap, takes it out or moves it in there.
    pub(super) fn set_due(&mut self, at: usize, due: Option<u64>) {
        let Some(slot) = self.slots.get_mut(at) else { return };
        let place = (slot.link as usize).checked_sub(1);
        match (due, place) {
            (Some(due), place) => {
                slot.due = due;
                let place = place.unwrap_or_else(|| {
                    self.timed += 1;
                    self.timed - 1
                });
                self.sift(place, at);
            }
            (None, Some(place)) => {
                slot.link = 0;
                self.timed -= 1;
                let last = self.ordered(self.timed);
                if last != at {
                    self.sift(place, last);
                }
            }
            (None, None) => {}
        }
    }

    /// Puts the slot `at` where it belongs, of which `place` is free. What moves is mostly due late: so the free place
    /// goes down to the end first, and from there up, which takes one comparison a level and not two.
    fn sift(&mut self, mut place: usize, at: usize) {
        loop {
            let left = place * 2 + 1;
            if left >= self.timed {
                break;
            }
            let (mut child, mut below) = (left, self.ordered(left));
            if left + 1 < self.timed {
                let right = self.ordered(left + 1);
                if self.is_before(right, below) {
                    (child, below) = (left + 1, right);
                }
            }
            self.put(place, below);
            place = child;
        }
        while let Some(parent) = place.checked_sub(1).map(|place| place / 2) {
            let above = self.ordered(parent);
            if !self.is_before(at, above) {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, at);
    }

    fn put(&mut self, place: usize, at: usize) {
        if let Some(entry) = self.slots.get_mut(place) {
            entry.order = number(at) - 1;
        }
        if let Some(slot) = self.slots.get_mut(at) {
            slot.link = number(place);
        }
    }

    fn ordered(&self, place: usize) -> usize {
        self.slots.get(place).map_or(0, |slot| slot.order as usize)
    }

    /// By time; at one time, the calls of an earlier turn and of earlier places first.
    fn is_before(&self, one: usize, other: usize) -> bool {
        let (Some(one), Some(other)) = (self.slots.get(one), self.slots.get(other)) else { return false };
        let key = |slot: &Slot| (slot.flight.turn, slot.flight.call);
        one.due < other.due || one.due == other.due && key(one) < key(other)
    }
}
