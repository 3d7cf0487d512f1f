//! Names and numbers of hosts, and mailboxes: RFC 1123, RFC 2673, RFC 4291 and RFC 5321.

use super::{Letters, Text};

/// Labels of letters, digits and hyphens. With [`Letters::Unicode`] any letter will do that is not of ASCII.
pub(super) fn hostname(text: &mut Text<'_>, letters: Letters) -> Option<()> {
    let mut total = 0;
    loop {
        let (mut length, mut last) = (0, '-');
        while let Some(c) = text.next_if(|c| is_letter(c, letters) || c == '-' && length > 0) {
            length += 1;
            last = c;
        }
        total += length + 1;
        if last == '-' || length > 63 || total > 254 {
            return None;
        }
        if !text.try_eat('.') {
            return Some(());
        }
    }
}

fn is_letter(c: char, letters: Letters) -> bool {
    c.is_ascii_alphanumeric() || letters == Letters::Unicode && !c.is_ascii()
}

/// Four decimal numbers.
pub(super) fn ipv4(text: &mut Text<'_>) -> Option<()> {
    for number in 0..4 {
        if number > 0 {
            text.eat('.')?;
        }
        let mut value = text.next_if(|c| c.is_ascii_digit())?.to_digit(10)?;
        // Without a zero in front.
        while value > 0
            && let Some(digit) = text.next_if(|c| c.is_ascii_digit())
        {
            value = value * 10 + digit.to_digit(10)?;
            if value > 255 {
                return None;
            }
        }
    }
    Some(())
}

/// Eight groups, of which some zeros may be left out once and two may be an IPv4 address.
pub(super) fn ipv6(text: &mut Text<'_>) -> Option<()> {
    let is_hex = |c: char| c.is_ascii_hexdigit();
    let (mut groups, mut gap) = (0, false);
    if text.try_eat(':') {
        text.eat(':')?;
        gap = true;
    }
    while !(gap && groups == 0) || text.peek().is_some_and(is_hex) {
        let mut number = text.clone();
        let digits = number.run(is_hex);
        if number.peek() == Some('.') {
            ipv4(text)?;
            groups += 2;
            break;
        }
        if !(1..=4).contains(&digits) {
            return None;
        }
        *text = number;
        groups += 1;
        if groups > 8 || !text.try_eat(':') {
            break;
        }
        if text.try_eat(':') {
            if gap {
                return None;
            }
            gap = true;
            if !text.peek().is_some_and(is_hex) {
                break;
            }
        }
    }
    (if gap { groups < 8 } else { groups == 8 }).then_some(())
}

/// `Mailbox`, with at most 64 octets before the `@` (4.5.3.1.1).
pub(super) fn email(text: &mut Text<'_>, letters: Letters) -> Option<()> {
    let unicode = |c: char| letters == Letters::Unicode && !c.is_ascii();
    let octets = |text: &Text<'_>| text.chars.clone().map(char::len_utf8).sum::<usize>();
    let all = octets(text);
    if text.try_eat('"') {
        while !text.try_eat('"') {
            if text.next_if(|c| matches!(c, ' '..='~') || unicode(c))? == '\\' {
                text.next_if(|c| matches!(c, ' '..='~'))?;
            }
        }
    } else {
        loop {
            let atom = |c: char| c.is_ascii_alphanumeric() || ATOM.contains(c) || unicode(c);
            if text.run(atom) == 0 {
                return None;
            }
            if !text.try_eat('.') {
                break;
            }
        }
    }
    if all - octets(text) > 64 {
        return None;
    }
    text.eat('@')?;
    if !text.try_eat('[') {
        return hostname(text, letters);
    }
    if text.peek().is_some_and(|c| c.eq_ignore_ascii_case(&'I')) {
        "IPv6:".chars().try_for_each(|c| text.next_if(|next| next.eq_ignore_ascii_case(&c)).map(drop))?;
        ipv6(text)?;
    } else {
        ipv4(text)?;
    }
    text.eat(']')
}

/// `atext` beside letters and digits.
const ATOM: &str = "!#$%&'*+-/=?^_`{|}~";
