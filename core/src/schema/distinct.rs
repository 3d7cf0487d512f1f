//! What stands twice: keys in one object, of which it is not for this library to guess whose value counts, and
//! items that are to be unique.
//!
//! A check that meets only objects whose members are all declared sees by itself that no key came twice. Where
//! it reads over something, the whole text is walked once more in the end.
//!
//! Hashes are kept in a table of fixed size; where there are more elements than it has room for, they are
//! walked several times, for a share of the hashes each. So cost grows with the text, and beyond some hundred
//! elements with their number; steps bound it.

use super::error::CheckError;
use super::machine::Check;
use super::program::word_of;
use super::report::Problem;
use super::source::{item_at, member_at};
use super::work;
use crate::json::{Event, Kind, MAX_DEPTH, Options, Reader, Str, Surrogates, Value, after_string};

/// Tells `found` where each key stands that was in its object before, in the order of the text, which was
/// checked; it takes its own steps. `spare` is used for the table if it is larger than the one here. `None` if
/// the steps do not suffice.
pub(super) fn duplicates(
    text: &str,
    spare: &mut [u32],
    steps: &mut u32,
    found: &mut dyn FnMut(usize, &mut u32) -> Option<()>,
) -> Option<()> {
    let mut own = [0; TABLE];
    let table = if spare.len() > own.len() { spare } else { &mut own };
    take(steps, text.len() / 16)?;
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'"' => rest = after_string(after),
            b'{' => object(text, text.len() - after.len(), table, steps, found)?,
            _ => {}
        }
    }
    Some(())
}

/// Whether the key at `at`, in the object whose members begin at `start`, was there before.
pub(super) fn is_earlier(text: &str, start: usize, at: usize, key: Str<'_>, steps: &mut u32) -> Option<bool> {
    let mut member = start;
    while member < at
        && let Some((name, _, end)) = member_at(text, member)
        && end <= at
    {
        take(steps, (end - member) / 64 + 1)?;
        if name == key {
            return Some(true);
        }
        member = end;
    }
    Some(false)
}

/// One object, whose members begin at `start`.
fn object(
    text: &str,
    start: usize,
    table: &mut [u32],
    steps: &mut u32,
    found: &mut dyn FnMut(usize, &mut u32) -> Option<()>,
) -> Option<()> {
    let (mut at, mut count) = (start, 0usize);
    // Of few keys, each is compared with each.
    let (mut few, mut twice) = ([Str::new(""); FEW], false);
    while let Some((key, _, end)) = member_at(text, at) {
        twice |= few.iter().take(count).any(|other| *other == key);
        if let Some(place) = few.get_mut(count) {
            *place = key;
        }
        (at, count) = (end, count + 1);
    }
    take(steps, (at - start) / 64 + count.min(FEW))?;
    if count <= FEW && !twice {
        return Some(());
    }
    let (size, shares) = shares(count, table.len());
    let table = table.get_mut(..size)?;
    for share in 0..shares {
        take(steps, size / 16 + (at - start) / 64)?;
        let (mut member, mut hashes) = (start, Hashes::new(table));
        while let Some((key, _, end)) = member_at(text, member) {
            let here = member;
            member = end;
            let hash = hash(key);
            if hash % shares != share {
                continue;
            }
            let (possible, looks) = hashes.add(hash, shares);
            take(steps, 1 + looks)?;
            if possible && is_earlier(text, start, here, key, steps)? {
                found(key_at(text, key), steps)?;
            }
        }
    }
    Some(())
}

/// How many places of a table to use for so many hashes, and in how many shares. At most half of the places
/// are taken, if the hashes are spread.
fn shares(count: usize, table: usize) -> (usize, u32) {
    (table.min(count.saturating_mul(2)), word_of(count.div_ceil(table / 2)))
}

/// A table of hashes, 0 where a place is free.
struct Hashes<'t> {
    places: &'t mut [u32],
    used: usize,
}

impl<'t> Hashes<'t> {
    fn new(places: &'t mut [u32]) -> Self {
        places.fill(0);
        Hashes { places, used: 0 }
    }

    /// Puts a hash of this share in. Gives whether it may have been there before, and how many places were
    /// looked at. Where too many hashes fall into one share, all others may have been there.
    fn add(&mut self, hash: u32, shares: u32) -> (bool, usize) {
        let size = self.places.len();
        let mut place = (hash / shares) as usize % size;
        let mut looks = 0;
        while self.used + 1 < size {
            looks += 1;
            match self.places.get_mut(place) {
                Some(kept) if *kept == 0 => {
                    self.used += 1;
                    *kept = hash;
                    return (false, looks);
                }
                Some(kept) if *kept != hash => place = (place + 1) % size,
                _ => break,
            }
        }
        (true, looks)
    }
}

impl Check<'_, '_, '_> {
    /// Reports keys that stand twice in their object.
    #[inline(never)]
    pub(super) fn compare_keys(&mut self) -> Option<()> {
        let (text, mut steps) = (self.text, self.steps);
        let work = core::mem::take(&mut self.work);
        let done = duplicates(text, work, &mut steps, &mut |at, steps| {
            self.steps = *steps;
            self.report(Problem::DuplicateKey, at, 0);
            *steps = self.steps;
            self.failure.is_none().then_some(())
        });
        match done {
            Some(()) => Some(()),
            None => self.give_up(CheckError::StepLimit),
        }
    }

    /// `uniqueItems`, in the array of the frame.
    #[inline(never)]
    pub(super) fn unique(&mut self) -> Option<()> {
        let (text, start) = (self.text, self.level.start as usize + 1);
        let (mut at, mut count, mut depth) = (start, 0usize, 0);
        let mut few = [Value::empty_object(); FEW];
        while let Some((item, end)) = item_at(text, at) {
            self.step(1 + word_of(item.raw().len() / 8))?;
            if let Some(place) = few.get_mut(count) {
                *place = item;
            }
            depth = depth.max(nesting(item));
            (at, count) = (end, count + 1);
        }
        let equal = match few.get(..count) {
            Some(few) => self.equal_of_few(few)?,
            None => self.equal_of(start, count, depth)?,
        };
        if let Some((first, second)) = equal {
            self.problem(Problem::Equal(first, second));
        }
        Some(())
    }

    /// The first item that is equal to an earlier one, and that one: of few, each is compared with each.
    fn equal_of_few(&mut self, items: &[Value<'_>]) -> Option<Option<(usize, usize)>> {
        for (second, item) in items.iter().enumerate() {
            for (first, other) in items.iter().take(second).enumerate() {
                self.step(1 + word_of(other.raw().len() / 64))?;
                if self.equal(*other, *item)? {
                    return Some(Some((first, second)));
                }
            }
        }
        Some(None)
    }

    /// As [`equal_of_few`](Self::equal_of_few), of any number of items, whose fingerprints are kept in what is
    /// free of the work memory, or else on the stack. Comparing items in which containers are nested `depth`
    /// deep needs some of it too.
    fn equal_of(&mut self, start: usize, count: usize, depth: usize) -> Option<Option<(usize, usize)>> {
        let (text, floor) = (self.text, self.top);
        let mut own = [0; TABLE];
        let free = self.limit().saturating_sub(floor + work::equality(depth) as usize);
        let (size, shares) = shares(count, free.max(own.len()));
        let in_work = free > own.len();
        let mut equal: Option<(usize, usize)> = None;
        for share in 0..shares {
            self.step(word_of(size / 16))?;
            let (mut at, mut used) = (start, 0);
            let table = self.work.get_mut(floor..floor + size).filter(|_| in_work);
            table.unwrap_or(&mut own).fill(0);
            // Those of other shares count only if they come before.
            for number in 0..equal.map_or(count, |(_, second)| second) {
                let Some((item, end)) = item_at(text, at) else { break };
                at = end;
                self.step(1 + word_of(item.raw().len() / 8))?;
                let hash = fingerprint(item).max(1);
                if hash % shares != share {
                    continue;
                }
                let table = self.work.get_mut(floor..floor + size).filter(|_| in_work);
                let places = table.or(own.get_mut(..size))?;
                let mut hashes = Hashes { places, used };
                let (possible, looks) = hashes.add(hash, shares);
                used = hashes.used;
                self.step(word_of(looks))?;
                if !possible {
                    continue;
                }
                if in_work {
                    self.top = floor + size;
                }
                let first = self.earlier(start, number, item)?;
                self.top = floor;
                if let Some(first) = first {
                    equal = Some((first, number));
                    break;
                }
            }
        }
        Some(equal)
    }

    /// The number of the first item that is equal to this one, of those before it.
    fn earlier(&mut self, start: usize, number: usize, item: Value<'_>) -> Option<Option<usize>> {
        let mut at = start;
        for first in 0..number {
            let Some((other, end)) = item_at(self.text, at) else { break };
            at = end;
            self.step(1 + word_of(other.raw().len() / 64))?;
            if self.equal(other, item)? {
                return Some(Some(first));
            }
        }
        Some(None)
    }
}

/// How deep containers are nested in a value.
fn nesting(value: Value<'_>) -> usize {
    let (mut depth, mut deepest) = (0, 0);
    if !matches!(value.kind(), Kind::Object | Kind::Array) {
        return 0;
    }
    let mut reader = Reader::new(value.raw().as_bytes(), &CHECKED);
    while let Ok(Some(event)) = reader.next_event() {
        match event {
            Event::ArrayStart | Event::ObjectStart => depth += 1,
            Event::ArrayEnd | Event::ObjectEnd => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Equal values have the same fingerprint: the sum of what each value in it prints, in which the keys and item
/// numbers that lead there count. So the order of members does not matter, that of items does. Deeper than
/// [`WAYS`] containers, the way is left out and keys print by themselves.
fn fingerprint(value: Value<'_>) -> u32 {
    let mut reader = Reader::new(value.raw().as_bytes(), &CHECKED);
    // Of the containers that are open: the way there, and the key's hash or the number of the next item.
    let mut ways = [(0u32, 0u32); WAYS];
    let (mut depth, mut sum) = (0usize, 0u32);
    while let Ok(Some(event)) = reader.next_event() {
        let print = match event {
            Event::Key(text) | Event::String(text) => {
                text.chars().fold(2, |hash, c| mix(hash ^ u32::from(c)))
            }
            Event::Number(number) => mix(number.fingerprint()),
            Event::Bool(true) => 3,
            Event::Bool(false) => 4,
            Event::Null => 5,
            Event::ArrayStart => 6,
            Event::ObjectStart => 7,
            Event::ArrayEnd | Event::ObjectEnd => {
                depth = depth.saturating_sub(1);
                continue;
            }
        };
        let mut way = 0;
        if let Some((around, next)) = ways.get_mut(depth) {
            if matches!(event, Event::Key(_)) {
                *next = print;
                continue;
            }
            way = mix(around.wrapping_add(mix(*next ^ 8)));
            *next = next.wrapping_add(1);
        }
        sum = sum.wrapping_add(mix(way ^ print));
        if matches!(event, Event::ArrayStart | Event::ObjectStart) {
            depth += 1;
            if let Some(inner) = ways.get_mut(depth) {
                *inner = (way, 0);
            }
        }
    }
    sum
}

fn mix(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x7FEB_352D);
    (hash ^ hash >> 15).wrapping_mul(0x846C_A68B)
}

/// Where a key's quote stands.
fn key_at(text: &str, key: Str<'_>) -> usize {
    super::source::offset_in(text, key.raw()).saturating_sub(1)
}

/// A hash of the decoded key (FNV-1a); never 0.
fn hash(key: Str<'_>) -> u32 {
    let step = |hash: u32, unit: u32| (hash ^ unit).wrapping_mul(0x0100_0193);
    let hash = match key.plain() {
        Some(plain) if plain.is_ascii() => {
            plain.bytes().fold(BASIS, |hash, byte| step(hash, u32::from(byte)))
        }
        _ => key.chars().fold(BASIS, |hash, c| step(hash, u32::from(c))),
    };
    (hash ^ hash >> 15).max(1)
}

fn take(steps: &mut u32, count: usize) -> Option<()> {
    *steps = steps.checked_sub(word_of(count))?;
    Some(())
}

const BASIS: u32 = 0x811C_9DC5;
/// For text that was checked.
const CHECKED: Options = Options { max_depth: MAX_DEPTH, surrogates: Surrogates::Replace };
/// So deep in a value it counts for a fingerprint where something stands.
const WAYS: usize = 16;
/// So many are sooner compared with each other.
const FEW: usize = 8;
/// Words of the table that is always there.
const TABLE: usize = 128;
