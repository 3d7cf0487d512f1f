//! Where a text is cut: which end, how far, at which boundary.

use super::BlockFlags;

/// Which part of a content may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Tail,
    Head,
    Middle,
}

impl Side {
    /// The side that `flags` allow, if any.
    pub(super) fn of(flags: BlockFlags) -> Option<Side> {
        if flags.contains(BlockFlags::WHOLE) {
            return None;
        }
        [
            (BlockFlags::CUT_TAIL, Side::Tail),
            (BlockFlags::CUT_HEAD, Side::Head),
            (BlockFlags::CUT_MIDDLE, Side::Middle),
        ]
        .into_iter()
        .find_map(|(flag, side)| flags.contains(flag).then_some(side))
    }

    /// The range to leave out so that at most `keep` bytes stay. Both ends are between characters.
    pub(super) fn range(self, content: &str, keep: usize) -> (usize, usize) {
        let len = content.len();
        let (head, tail) = match self {
            Side::Tail => (keep, 0),
            Side::Head => (0, keep),
            Side::Middle => (keep.div_ceil(2), keep / 2),
        };
        let from = before(content, head);
        (from, after(content, len.saturating_sub(tail)).max(from))
    }
}

/// A kind of boundary, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Boundary {
    Paragraph,
    Line,
    Word,
    Char,
}

impl Boundary {
    pub(super) const ALL: [Boundary; 4] =
        [Boundary::Paragraph, Boundary::Line, Boundary::Word, Boundary::Char];

    /// Widens the range `from..to` to the best boundary of this kind or a lesser one that each edge has
    /// in reach.
    pub(super) fn widen(self, content: &str, (from, to): (usize, usize)) -> (usize, usize) {
        let mut kinds = Boundary::ALL.into_iter().filter(|kind| *kind >= self);
        let from = kinds.clone().find_map(|kind| kind.end_before(content, from)).unwrap_or(from);
        let to = kinds.find_map(|kind| kind.start_after(content, to)).unwrap_or(to);
        (from, to)
    }

    /// How many bytes of a piece of `size` bytes this boundary may cost.
    fn reach(self, size: usize) -> usize {
        match self {
            Boundary::Paragraph | Boundary::Line => size / 4,
            Boundary::Word => (size / 4).max(32),
            Boundary::Char => 0,
        }
    }

    /// The last place in reach of `at`, and not after it, where a kept head may end.
    fn end_before(self, content: &str, at: usize) -> Option<usize> {
        let least = at.saturating_sub(self.reach(at)).max(1);
        let (head, _) = content.split_at_checked(at)?;
        let places = core::iter::once(at).chain(head.char_indices().rev().map(|(place, _)| place));
        let found = places.take_while(|place| *place >= least).find(|place| {
            content.split_at_checked(*place).is_some_and(|(before, after)| match self {
                Boundary::Paragraph => next_line(after).is_some_and(starts_blank),
                Boundary::Line => next_line(after).is_some(),
                Boundary::Word => {
                    after.starts_with(char::is_whitespace) && !before.ends_with(char::is_whitespace)
                }
                Boundary::Char => true,
            })
        })?;
        // White space before the end of a line goes too, unless that is all there is.
        let trimmed = content.get(..found)?.trim_end().len();
        Some(if self == Boundary::Char || trimmed == 0 { found } else { trimmed })
    }

    /// The first place in reach of `at`, and not before it, where a kept tail may start.
    fn start_after(self, content: &str, at: usize) -> Option<usize> {
        let (_, tail) = content.split_at_checked(at)?;
        let most = at.saturating_add(self.reach(tail.len()));
        let places = tail.char_indices().map(|(place, _)| at.saturating_add(place));
        places.take_while(|place| *place <= most).find(|place| {
            content.split_at_checked(*place).is_some_and(|(before, after)| match self {
                Boundary::Paragraph => {
                    before.strip_suffix('\n').is_some_and(ends_blank) && !starts_blank(after)
                }
                Boundary::Line => before.ends_with('\n') && !starts_blank(after),
                Boundary::Word => {
                    before.ends_with(char::is_whitespace) && !after.starts_with(char::is_whitespace)
                }
                Boundary::Char => true,
            })
        })
    }
}

/// The largest number below `len` for which `probe` gives at most `most`; zero, which is not probed,
/// counts as one that does, and `len` as one that does not.
///
/// `tokens` is what `len` bytes have, from which the first guess and steps are made: near the end of
/// `guess` tokens, from there by doubled steps to the other side of `most`, then by halves. At most
/// 2 log₂ `len` + 2 probes.
pub(super) fn search<E>(
    len: usize,
    tokens: u32,
    guess: u32,
    most: u32,
    probe: &mut dyn FnMut(usize) -> Result<u32, E>,
) -> Result<usize, E> {
    let bytes = |share: u32| {
        let bytes = (len as u64).saturating_mul(u64::from(share)) / u64::from(tokens.max(1));
        usize::try_from(bytes).unwrap_or(usize::MAX)
    };
    let (mut low, mut high) = (0usize, len);
    let mut next = bytes(guess);
    let mut step = None;
    let (mut low_seen, mut high_seen) = (false, false);
    while high.saturating_sub(low) > 1 {
        let keep = next.clamp(low.saturating_add(1), high.saturating_sub(1));
        let counted = probe(keep)?;
        if counted <= most {
            (low, low_seen) = (keep, true);
        } else {
            (high, high_seen) = (keep, true);
        }
        let wide = step.map_or_else(
            || bytes(counted.abs_diff(most)).saturating_add(4),
            |step: usize| step.saturating_mul(2),
        );
        step = Some(wide);
        next = match (low_seen, high_seen) {
            (true, true) => low.midpoint(high),
            (true, false) => low.saturating_add(wide),
            _ => high.saturating_sub(wide),
        };
    }
    Ok(low)
}

/// The last place between characters that is not after `at`.
fn before(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (at.saturating_sub(3)..=at).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

/// The first place between characters that is not before `at`.
fn after(text: &str, at: usize) -> usize {
    (at..=at.saturating_add(3)).find(|place| text.is_char_boundary(*place)).unwrap_or(text.len())
}

/// What follows the line break that `text` begins with.
fn next_line(text: &str) -> Option<&str> {
    text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n"))
}

/// Whether the rest of the first line is blank.
fn starts_blank(text: &str) -> bool {
    let rest = text.trim_start_matches(is_blank);
    rest.is_empty() || rest.starts_with('\n')
}

/// Whether what there is of the last line is blank.
fn ends_blank(text: &str) -> bool {
    let rest = text.trim_end_matches(is_blank);
    rest.is_empty() || rest.ends_with('\n')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}
