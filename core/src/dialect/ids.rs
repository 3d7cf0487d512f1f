//! Ids that a provider's rule does not allow, made to fit.
//!
//! An id that fits goes out as it is. One that does not, because it is another provider's or was minted here,
//! is sent as nine letters and digits that follow from its text alone. So the turn that goes back and the
//! results that answer it agree without a table, whichever is written first. Which call such an id belongs to
//! is found by mapping the ids of the calls ([`Dialect::wire_id`](super::Dialect::wire_id)). Nine digits of
//! base 62 hold 53 bits, so that two ids of one conversation do not meet.

use heapless::String;

/// What a provider allows in a call's id, beside letters and digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdRule {
    /// The fewest and the most characters.
    pub(crate) len: (usize, usize),
    /// The other characters; `None` if all are allowed.
    pub(crate) marks: Option<&'static str>,
}

/// Bytes of an id that was made to fit.
pub(crate) const MAPPED: usize = 9;

/// An id that was made to fit.
pub(crate) type MappedId = String<MAPPED>;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl IdRule {
    /// Whatever the provider gave, or another one.
    pub(crate) const ANY: IdRule = IdRule { len: (0, usize::MAX), marks: None };

    /// The id to send for one of these characters; `None` if they go as they are.
    pub(crate) fn map(self, id: impl Iterator<Item = char> + Clone) -> Option<MappedId> {
        let marks = self.marks?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
        let (least, most) = self.len;
        let count = id.clone().take(most.saturating_add(1)).count();
        if (least..=most).contains(&count) && id.clone().all(allowed) {
            return None;
        }
        Some(Self::mapped(id))
    }

    /// The id that stands for one of these characters.
    pub(crate) fn mapped(id: impl Iterator<Item = char>) -> MappedId {
        let mut rest = mix(hash(id));
        let mut mapped = MappedId::new();
        for _ in 0..MAPPED {
            let digit = usize::try_from(rest % 62).ok().and_then(|digit| DIGITS.get(digit));
            mapped.push(char::from(digit.copied().unwrap_or(b'0'))).ok();
            rest /= 62;
        }
        mapped
    }
}

/// FNV-1a, 64 bits.
fn hash(id: impl Iterator<Item = char>) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    for c in id {
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
    hash
}

/// Spreads every bit over all of them (the finalizer of MurmurHash3).
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    bits = (bits ^ (bits >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    bits ^ (bits >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINE: IdRule = IdRule { len: (9, 9), marks: Some("") };

    #[test]
    fn an_id_that_fits_is_sent_as_it_is() {
        assert_eq!(NINE.map("D681PevKs".chars()), None);
        assert_eq!(IdRule::ANY.map("call_1|fc_é".chars()), None);
        let marked = IdRule { len: (1, 64), marks: Some("_.:-") };
        assert_eq!(marked.map("tooluse_Lb2-a.b:c".chars()), None);
    }

    #[test]
    fn one_that_does_not_becomes_nine_letters_and_digits_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for number in 0..20_000 {
            let id = std::format!("toolcore_{number}");
            let mapped = NINE.map(id.chars()).unwrap();
            assert!(mapped.len() == 9 && mapped.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            assert_eq!(NINE.map(mapped.chars()), None, "what was mapped fits");
            assert!(seen.insert(mapped));
        }
        let marked = IdRule { len: (1, 64), marks: Some("_.:-") };
        for id in ["", "a b", "é", &"x".repeat(65)] {
            assert!(marked.map(id.chars()).is_some(), "{id}");
        }
    }
}
