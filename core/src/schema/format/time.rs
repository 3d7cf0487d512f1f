//! Dates, times and durations: RFC 3339.

use super::Text;

/// `date-time`
pub(super) fn date_time(text: &mut Text<'_>) -> Option<()> {
    date(text)?;
    text.next_if(|c| matches!(c, 'T' | 't'))?;
    time(text)
}

/// `full-date`
pub(super) fn date(text: &mut Text<'_>) -> Option<()> {
    let year = text.digits(4)?;
    text.eat('-')?;
    let month = text.digits(2)?;
    text.eat('-')?;
    let day = text.digits(2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days).contains(&day).then_some(())
}

/// `full-time`
pub(super) fn time(text: &mut Text<'_>) -> Option<()> {
    let hour = number(text, 23)?;
    text.eat(':')?;
    let minute = number(text, 59)?;
    text.eat(':')?;
    let second = number(text, 60)?;
    if text.try_eat('.') && text.run(|c| c.is_ascii_digit()) == 0 {
        return None;
    }
    let mut since_midnight = 60 * hour + minute;
    if text.next_if(|c| matches!(c, 'Z' | 'z')).is_none() {
        let sign = text.next_if(|c| matches!(c, '+' | '-'))?;
        let hours = number(text, 23)?;
        text.eat(':')?;
        let offset = 60 * hours + number(text, 59)?;
        since_midnight = (since_midnight + if sign == '+' { DAY - offset } else { offset }) % DAY;
    }
    // A leap second is the last one of a day of UTC.
    (second < 60 || since_midnight == DAY - 1).then_some(())
}

/// `duration`
pub(super) fn duration(text: &mut Text<'_>) -> Option<()> {
    text.eat('P')?;
    let mut weeks = text.clone();
    if weeks.run(|c| c.is_ascii_digit()) > 0 && weeks.try_eat('W') {
        *text = weeks;
        return Some(());
    }
    let date = units(text, ['Y', 'M', 'D'])?;
    if text.try_eat('T') {
        return (units(text, ['H', 'M', 'S'])? > 0).then_some(());
    }
    (date > 0).then_some(())
}

/// Numbers with these units, in their order and without a gap. Gives how many there were.
fn units(text: &mut Text<'_>, units: [char; 3]) -> Option<usize> {
    let (mut count, mut expected) = (0, None);
    while text.run(|c| c.is_ascii_digit()) > 0 {
        let unit = text.next_if(|_| true)?;
        let place = units.iter().position(|&known| known == unit)?;
        if expected.is_some_and(|expected| expected != place) {
            return None;
        }
        expected = Some(place + 1);
        count += 1;
    }
    Some(count)
}

/// Two digits.
fn number(text: &mut Text<'_>, most: u32) -> Option<u32> {
    text.digits(2).filter(|&number| number <= most)
}

/// Minutes of a day.
const DAY: u32 = 24 * 60;
