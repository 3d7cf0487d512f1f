//! Names of groups. They change nothing that is matched, but two groups that can both take part in a match
//! must not have the same one, and a reference must name one that exists (ECMA-262, early errors of 22.2.1).
//! Groups in different alternatives can have the same name, as of ECMA-262 2025.

use super::escape::{code_point, eat};
use super::parse::{Parser, error};
use super::{PatternError, PatternErrorKind};
use crate::json::Chars;
use crate::schema::program::word_of;

/// The most names in a pattern, of groups and in references.
pub const MAX_NAMES: usize = 32;

/// The names so far.
pub(super) struct Names<'p> {
    known: heapless::Vec<Name<'p>, MAX_NAMES>,
}

struct Name<'p> {
    /// The text from the name on.
    text: Chars<'p>,
    /// Where its group or its reference stands.
    offset: u32,
    reference: bool,
}

impl<'p> Names<'p> {
    pub(super) fn new() -> Self {
        Names { known: heapless::Vec::new() }
    }

    pub(super) fn len(&self) -> u8 {
        u8::try_from(self.known.len()).unwrap_or(u8::MAX)
    }
}

impl<'p> Parser<'p, '_> {
    /// The name of a group, or of one that is referred to, with its `>`.
    pub(super) fn name(&mut self, at: usize, reference: bool) -> Result<(), PatternError> {
        let text = self.rest.clone();
        let mut first = true;
        loop {
            let c = match self.rest.next() {
                Some('>') if !first => break,
                Some('\\') if self.eat('u') => code_point(&mut self.rest).and_then(char::from_u32),
                c => c,
            };
            match c {
                Some(c) if c.is_alphabetic() || matches!(c, '$' | '_') => {}
                Some(c) if !first && (c.is_alphanumeric() || matches!(c, '\u{200C}' | '\u{200D}')) => {}
                _ => return Err(error(PatternErrorKind::BadGroup, at)),
            }
            first = false;
        }
        let groups = self.groups.get(..=self.depth).unwrap_or_default();
        // In an alternative before the present one, of a group that is open.
        let apart = |number: u8| groups.iter().any(|group| (group.names.0..group.names.1).contains(&number));
        let mut known = (0u8..).zip(&self.names.known);
        if !reference && known.any(|(number, name)| !name.reference && !apart(number) && name.is(&text)) {
            return Err(error(PatternErrorKind::DuplicateName, at));
        }
        let name = Name { text, offset: word_of(at), reference };
        self.names.known.push(name).map_err(|_| error(PatternErrorKind::TooManyNames, at))
    }

    /// Refuses a reference to no group.
    pub(super) fn check_names(&self) -> Result<(), PatternError> {
        let known = &self.names.known;
        let lost = known
            .iter()
            .filter(|name| name.reference)
            .find(|reference| !known.iter().any(|name| !name.reference && name.is(&reference.text)));
        match lost {
            Some(name) => Err(error(PatternErrorKind::BadReference, name.offset as usize)),
            None => Ok(()),
        }
    }
}

impl Name<'_> {
    /// Whether it is the name that a text begins with.
    fn is(&self, other: &Chars<'_>) -> bool {
        letters(self.text.clone()).eq(letters(other.clone()))
    }
}

/// The characters of a name, up to its `>`.
fn letters(mut text: Chars<'_>) -> impl Iterator<Item = char> {
    core::iter::from_fn(move || match text.next()? {
        '>' => None,
        '\\' if eat(&mut text, 'u') => char::from_u32(code_point(&mut text)?),
        c => Some(c),
    })
}
