//! Classes: `[…]`.

use super::code::{Item, NEGATED, instruction, op};
use super::parse::{Atom, Parser, error};
use super::{PatternError, PatternErrorKind};
use crate::schema::program::word_of;

impl Parser<'_, '_> {
    /// What comes after `[`.
    pub(super) fn class(&mut self, at: usize) -> Result<(), PatternError> {
        let start = self.code.len();
        self.code.push(0);
        let negated = if self.eat('^') { NEGATED } else { 0 };
        loop {
            let place = self.offset();
            let Some(c) = self.rest.next() else { return Err(error(PatternErrorKind::Unclosed, at)) };
            if c == ']' {
                break;
            }
            let low = self.class_item(c, place)?;
            let mut ahead = self.rest.clone();
            let range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            if !range {
                self.item(low);
                continue;
            }
            self.rest.next();
            let place_high = self.offset();
            let Some(c) = self.rest.next() else { return Err(error(PatternErrorKind::Unclosed, at)) };
            match (low, self.class_item(c, place_high)?) {
                (Item::Range(low, _), Item::Range(high, _)) if low > high => {
                    return Err(error(PatternErrorKind::BadRange, place));
                }
                (Item::Range(low, _), Item::Range(high, _)) => self.item(Item::Range(low, high)),
                (low, high) => {
                    let dash = u32::from('-');
                    [low, Item::Range(dash, dash), high].into_iter().for_each(|item| self.item(item));
                }
            }
        }
        let words = word_of(self.code.len() - start - 1);
        self.code.set(start, instruction(op::CLASS, words | negated));
        self.atom = Some(Atom::one(start, at));
        Ok(())
    }

    fn item(&mut self, item: Item) {
        let (words, count) = item.words();
        words.into_iter().take(count).for_each(|word| self.code.push(word));
    }

    /// A member of a class that begins with `c`.
    fn class_item(&mut self, c: char, at: usize) -> Result<Item, PatternError> {
        if c != '\\' {
            return Ok(Item::Range(u32::from(c), u32::from(c)));
        }
        match self.rest.next() {
            Some('b') => Ok(Item::Range(8, 8)),
            Some(c) => self.escaped(c, at),
            None => Err(error(PatternErrorKind::BadEscape, at)),
        }
    }
}
