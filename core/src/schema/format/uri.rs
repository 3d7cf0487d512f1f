//! URIs, IRIs and templates of them: RFC 3986, RFC 3987 and RFC 6570.

use super::{Letters, Text, address};

/// `URI`
pub(super) fn uri(text: &mut Text<'_>, letters: Letters) -> Option<()> {
    scheme(text)?;
    after_scheme(text, letters)
}

/// `URI-reference`
pub(super) fn reference(text: &mut Text<'_>, letters: Letters) -> Option<()> {
    let mut absolute = text.clone();
    if scheme(&mut absolute).is_some() {
        *text = absolute;
    } else {
        // The first segment of a relative path has no colon.
        if text.after(|c| !matches!(c, ':' | '/' | '?' | '#')) == Some(':') {
            return None;
        }
    }
    after_scheme(text, letters)
}

/// `scheme` and its colon.
fn scheme(text: &mut Text<'_>) -> Option<()> {
    text.next_if(|c| c.is_ascii_alphabetic())?;
    text.run(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    text.eat(':')
}

/// Authority, path, query and fragment.
fn after_scheme(text: &mut Text<'_>, letters: Letters) -> Option<()> {
    let mut ahead = text.clone();
    if ahead.try_eat('/') && ahead.try_eat('/') {
        *text = ahead;
        authority(text, letters)?;
        if !matches!(text.peek(), None | Some('/' | '?' | '#')) {
            return None;
        }
    }
    let segment = |c| is_segment(c, letters) || c == '/';
    encoded(text, segment)?;
    if text.try_eat('?') {
        encoded(text, |c| segment(c) || c == '?' || letters == Letters::Unicode && is_private(c))?;
    }
    if text.try_eat('#') {
        encoded(text, |c| segment(c) || c == '?')?;
    }
    Some(())
}

fn authority(text: &mut Text<'_>, letters: Letters) -> Option<()> {
    let name = |c| is_unreserved(c, letters) || is_delimiter(c);
    if text.after(|c| !matches!(c, '@' | '/' | '?' | '#')) == Some('@') {
        encoded(text, |c| name(c) || c == ':')?;
        text.eat('@')?;
    }
    if text.try_eat('[') {
        if text.next_if(|c| matches!(c, 'v' | 'V')).is_some() {
            let some = |count: usize| (count > 0).then_some(());
            some(text.run(|c| c.is_ascii_hexdigit()))?;
            text.eat('.')?;
            some(text.run(|c| is_unreserved(c, Letters::Ascii) || is_delimiter(c) || c == ':'))?;
        } else {
            address::ipv6(text)?;
        }
        text.eat(']')?;
    } else {
        encoded(text, name)?;
    }
    if text.try_eat(':') {
        text.run(|c| c.is_ascii_digit());
    }
    Some(())
}

/// `URI-Template`
pub(super) fn template(text: &mut Text<'_>) -> Option<()> {
    let literal = |c: char| match c {
        '!' | '#' | '$' | '&' | '\'' | '('..=';' | '=' | '?'..='[' | ']' | '_' | 'a'..='z' | '~' => true,
        _ => is_ucs(c) || is_private(c),
    };
    loop {
        encoded(text, literal)?;
        if !text.try_eat('{') {
            return Some(());
        }
        text.next_if(|c| "+#./;?&=,!@|".contains(c));
        loop {
            variable(text)?;
            if !text.try_eat(',') {
                break;
            }
        }
        text.eat('}')?;
    }
}

/// `varspec`
fn variable(text: &mut Text<'_>) -> Option<()> {
    loop {
        let before = text.clone();
        encoded(text, |c| c.is_ascii_alphanumeric() || c == '_')?;
        if text.chars.as_str().len() == before.chars.as_str().len() {
            return None;
        }
        if !text.try_eat('.') {
            break;
        }
    }
    if text.try_eat(':') {
        text.next_if(|c| matches!(c, '1'..='9'))?;
        return (text.run(|c| c.is_ascii_digit()) <= 3).then_some(());
    }
    text.try_eat('*');
    Some(())
}

/// Reads characters of a kind and octets in percent encoding.
fn encoded(text: &mut Text<'_>, wanted: impl Fn(char) -> bool) -> Option<()> {
    loop {
        if text.try_eat('%') {
            text.next_if(|c| c.is_ascii_hexdigit())?;
            text.next_if(|c| c.is_ascii_hexdigit())?;
        } else if text.next_if(&wanted).is_none() {
            return Some(());
        }
    }
}

impl Text<'_> {
    /// What comes after characters of a kind, none of which is taken.
    fn after(&self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let mut ahead = self.clone();
        ahead.run(wanted);
        ahead.peek()
    }
}

/// `pchar` without percent encoding.
fn is_segment(c: char, letters: Letters) -> bool {
    is_unreserved(c, letters) || is_delimiter(c) || matches!(c, ':' | '@')
}

fn is_unreserved(c: char, letters: Letters) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '-' | '.' | '_' | '~')
        || letters == Letters::Unicode && is_ucs(c)
}

/// `sub-delims`
fn is_delimiter(c: char) -> bool {
    matches!(c, '!' | '$' | '&'..=',' | ';' | '=')
}

/// `ucschar`
fn is_ucs(c: char) -> bool {
    match u32::from(c) {
        0xA0..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFEF => true,
        c => (0x1_0000..0xF_0000).contains(&c) && c & 0xFFFF < 0xFFFE && !(0xE_0000..0xE_1000).contains(&c),
    }
}

/// `iprivate`
fn is_private(c: char) -> bool {
    let c = u32::from(c);
    (0xE000..0xF900).contains(&c) || c >= 0xF_0000 && c & 0xFFFF < 0xFFFE
}
