//! Keys that stand twice in one object: which of the values counts is not for this library to guess.
//!
//! A check that meets only objects whose members are all declared sees by itself that none came twice. Where
//! it reads over something, the whole text is walked once more in the end. Hashes of an object's keys are
//! kept in a table of fixed size; an object with more keys is walked several times, for a share of the hashes
//! each. So cost grows with the text, and beyond some hundred keys with their number; steps bound it.

use super::program::word_of;
use super::source::member_at;
use crate::json::{Scan, Str};

/// Tells `found` where each key stands that was in its object before, in the order of the text, which was
/// checked. `spare` is used for the table if it is larger than the one here. `None` if the steps do not
/// suffice.
pub(super) fn duplicates(
    text: &str,
    spare: &mut [u32],
    steps: &mut u32,
    found: &mut dyn FnMut(usize),
) -> Option<()> {
    let mut own = [0; TABLE];
    let table = if spare.len() > own.len() { spare } else { &mut own };
    take(steps, text.len() / 16)?;
    let mut scan = Scan::checked(text);
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'{')) {
        let after = rest.get(at + 1..)?;
        rest = if rest.get(at) == Some(&b'"') {
            scan.string(after)?
        } else {
            object(text, scan.offset(after), table, steps, found)?;
            after
        };
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
    found: &mut dyn FnMut(usize),
) -> Option<()> {
    let (mut at, mut count) = (start, 0usize);
    while let Some((_, _, end)) = member_at(text, at) {
        (at, count) = (end, count + 1);
    }
    take(steps, (at - start) / 64)?;
    if count < 2 {
        return Some(());
    }
    // At most half of the table is used, if the hashes are spread.
    let shares = word_of(count.div_ceil(table.len() / 2));
    let size = table.len().min(2 * count);
    let table = table.get_mut(..size)?;
    for share in 0..shares {
        table.fill(0);
        take(steps, size / 16 + (at - start) / 64)?;
        let (mut member, mut used) = (start, 0);
        while let Some((key, _, end)) = member_at(text, member) {
            let here = member;
            member = end;
            let hash = hash(key);
            if hash % shares != share {
                continue;
            }
            take(steps, 1)?;
            let mut place = (hash / shares) as usize % size;
            // Where too many hashes fall into one share, its other keys are compared one by one.
            let mut possible = used + 1 >= size;
            while !possible {
                take(steps, 1)?;
                match table.get_mut(place) {
                    Some(kept) if *kept == 0 => {
                        used += 1;
                        *kept = hash;
                        break;
                    }
                    Some(kept) => possible = *kept == hash,
                    None => possible = true,
                }
                place = (place + 1) % size;
            }
            if possible && is_earlier(text, start, here, key, steps)? {
                found(key_at(text, key));
            }
        }
    }
    Some(())
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
/// Words of the table that is always there.
const TABLE: usize = 128;
