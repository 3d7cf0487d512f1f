//! The ids of calls on the wire: an id that a provider's rule does not allow, or that another call has, made
//! to fit.
//!
//! An id that fits goes out as it is. One that does not, because it is another provider's or was minted here,
//! is sent as nine letters and digits that follow from its text alone. So the turn that goes back and the
//! results that answer it agree without a table, whichever is written first. Which call such an id belongs to
//! is found by mapping the ids of the calls ([`Dialect::wire_id`]). Nine digits of base 62 hold 53 bits, so
//! that two ids of one conversation do not meet; one that is the id of another call of its turn is not taken.
//!
//! Some models give one id to two calls. Providers refuse a turn with a repeated id ("tool_use ids must be
//! unique", "Duplicate value for 'tool_call_id'": BerriAI/litellm#23510, agno-agi/agno#5116,
//! double16/Cyber-AutoAgent-ng#27), so that the second is sent as nine letters and digits too.

use heapless::String;

use super::{Calls, Dialect};
use crate::call::ToolCall;
use crate::sink::Sink;

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

/// How far apart two calls with one id, or with one that stands for another's, may be to be told apart.
/// Comparing all with all would take quadratic time, and no turn has so many.
pub(crate) const WINDOW: usize = 128;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl IdRule {
    /// Whatever the provider gave, or another one.
    pub(crate) const ANY: IdRule = IdRule { len: (0, usize::MAX), marks: None };

    /// Whether an id of these characters goes as it is.
    pub(crate) fn allows(self, id: impl Iterator<Item = char> + Clone) -> bool {
        if self == Self::ANY {
            return true;
        }
        let (least, most) = self.len;
        let count = id.clone().take(most.saturating_add(1)).count();
        let mut id = id;
        (least..=most).contains(&count)
            && self.marks.is_none_or(|marks| id.all(|c| c.is_ascii_alphanumeric() || marks.contains(c)))
    }

    /// The same of an id that is there as text, as nearly all are.
    pub(crate) fn allows_text(self, id: &str) -> bool {
        if self == Self::ANY {
            return true;
        }
        let (least, most) = self.len;
        if !id.is_ascii() || !(least..=most).contains(&id.len()) {
            return self.allows(id.chars());
        }
        let marks = self.marks.map(str::as_bytes);
        marks.is_none_or(|marks| id.bytes().all(|b| b.is_ascii_alphanumeric() || marks.contains(&b)))
    }

    /// The id to send for one of these characters; `None` if they go as they are.
    pub(crate) fn map(self, id: impl Iterator<Item = char> + Clone) -> Option<MappedId> {
        if self.allows(id.clone()) { None } else { Some(mapped(id, 0)) }
    }

    /// The id to send for that of the call at `index`, which another before it may have (`repeats`); `None`
    /// if it goes as it is. It is none of those that are `taken`.
    pub(crate) fn settle(
        self,
        id: impl Iterator<Item = char> + Clone,
        index: usize,
        repeats: bool,
        taken: impl Fn(&str) -> bool,
    ) -> Option<MappedId> {
        if !repeats && self.allows(id.clone()) {
            return None;
        }
        // The place tells all of them apart, however many there are.
        let salt = if repeats { (index as u64) << 32 } else { 0 };
        let tried = (0..TRIES).map(|attempt| mapped(id.clone(), salt + attempt));
        Some(tried.clone().find(|mapped| !taken(mapped)).or(tried.last()).unwrap_or_default())
    }
}

/// How many ids are tried. Each of them would have to be one of the turn by chance.
const TRIES: u64 = 16;

/// The id that stands for one of these characters. With a salt it is another.
fn mapped(id: impl Iterator<Item = char>, salt: u64) -> MappedId {
    let mut rest = mix(hash(id) ^ mix(salt));
    let mut mapped = MappedId::new();
    for _ in 0..MAPPED {
        let digit = usize::try_from(rest % 62).ok().and_then(|digit| DIGITS.get(digit));
        mapped.push(char::from(digit.copied().unwrap_or(b'0'))).ok();
        rest /= 62;
    }
    mapped
}

/// FNV-1a, 64 bits.
pub(super) fn hash(id: impl Iterator<Item = char>) -> u64 {
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

/// What a minted id begins with.
pub(crate) const MINTED: &str = "toolcore";

/// The characters of a minted id: `toolcore_0` for the first call, `toolcore_7_0` in turn 7.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mint {
    /// Underscores after `toolcore`: one more than in any id of the turn.
    pub(crate) marks: usize,
    /// The number of the turn; 0 is not written.
    pub(crate) turn: u32,
}

impl Mint {
    /// Hands the minted id of the call at `index` to `each`.
    pub(crate) fn with<T>(self, index: usize, each: impl FnOnce(MintedChars<'_>) -> T) -> T {
        let mut memory = [0u8; 32];
        let mut sink = Sink::new(&mut memory);
        if self.turn > 0 {
            sink.put_u64(self.turn.into());
            sink.put("_");
        }
        sink.put_u64(index as u64);
        let digits = sink.finish_cut();
        each(MINTED.chars().chain(core::iter::repeat_n('_', self.marks)).chain(digits.chars()))
    }

    /// Bytes of it.
    pub(crate) fn len(self, index: usize) -> usize {
        self.with(index, |id| id.count())
    }
}

type MintedChars<'d> = core::iter::Chain<
    core::iter::Chain<core::str::Chars<'static>, core::iter::RepeatN<char>>,
    core::str::Chars<'d>,
>;

/// The id of a call in a list, as a dialect sends it.
pub(crate) struct Sent<'c> {
    own: &'c str,
    made: Option<String<32>>,
}

impl Sent<'_> {
    /// Its text.
    pub(crate) fn text(&self) -> &str {
        self.made.as_deref().unwrap_or(self.own)
    }
}

/// The id of the call at `index` of `calls` as `dialect` sends it: that of a reply of the dialect as the
/// reply has it, any other made to fit and told apart from the others.
pub(crate) fn sent<'c>(
    dialect: Dialect,
    calls: &(impl Calls + ?Sized),
    index: usize,
    call: &ToolCall<'c>,
) -> Sent<'c> {
    let mut sent = own(index, call);
    if calls.origin() == Some(dialect) {
        return sent;
    }
    let is = |at: usize, id: &str| calls.call(at).is_some_and(|other| own(at, &other).text() == id);
    let first = index.saturating_sub(WINDOW);
    let repeats = (first..index).any(|at| is(at, sent.text()));
    let taken = |id: &str| (first..calls.count().min(index + WINDOW)).any(|at| is(at, id));
    let rule = dialect.wire().facts().ids;
    if let Some(mapped) = rule.settle(sent.text().chars(), index, repeats, taken) {
        sent.made = String::try_from(mapped.as_str()).ok();
    }
    sent
}

/// The id of a call before any dialect's rule: its wire id, its id, or one that is minted.
fn own<'c>(index: usize, call: &ToolCall<'c>) -> Sent<'c> {
    let own = if call.wire_id.is_empty() { call.id } else { Some(call.wire_id) };
    let minted = || Mint { marks: 1, turn: 0 }.with(index, |id| id.collect());
    Sent { own: own.unwrap_or_default(), made: if own.is_none() { Some(minted()) } else { None } }
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
        let short = IdRule { len: (0, 64), marks: None };
        assert_eq!(short.map("é".repeat(64).chars()), None);
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

    #[test]
    fn an_id_that_repeats_or_whose_stand_in_is_taken_gets_another() {
        let first = NINE.map("call_1".chars()).unwrap();
        let others = [1, 2].map(|repeats| NINE.settle("call_1".chars(), repeats, true, |_| false).unwrap());
        let apart = NINE.settle("call_1".chars(), 0, false, |id| id == first).unwrap();
        let all = std::collections::BTreeSet::from([&first, &others[0], &others[1], &apart]);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|id| NINE.allows(id.chars())));
        assert_eq!(IdRule::ANY.settle("a".chars(), 0, false, |_| true), None);
        assert!(NINE.settle("x".chars(), 0, false, |_| true).is_some(), "it ends");
    }
}
