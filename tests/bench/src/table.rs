//! The printed table.

use crate::data::tools_list;
use crate::groups::Group;
use crate::measure::{AllFigures, has_valgrind};

/// Prints a block of lines for each group. The last column is how many times the instructions (without valgrind, the
/// nanoseconds) of the group's first case a case takes.
pub(crate) fn print(groups: &[Group], figures: &AllFigures) {
    if !has_valgrind() {
        println!("valgrind is not installed: instructions are not counted, only nanoseconds are shown");
    }
    if !cfg!(feature = "peers") {
        println!("the peers are not built in: run `cargo bench-table`, or add --features peers");
    }
    println!("the tools list is {}", tools_list().1);
    println!("{:40}{:>14}{:>12}{:>13}{:>9}", "", "instructions", "ns", "allocations", "times");
    for group in groups {
        let per = group.per.map_or(String::new(), |(what, _)| format!(", per {what}"));
        println!("{}{per}", group.title);
        let mut first = None;
        for case in &group.cases {
            let figures = figures[&(group.title, case.title)];
            let instructions = figures.instructions.map(|count| group.share(count));
            let nanoseconds = group.share(figures.nanoseconds);
            let count = instructions.unwrap_or(nanoseconds);
            let times = count / *first.get_or_insert(count);
            let instructions = instructions.map_or("-".to_owned(), number);
            println!(
                "  {:38}{instructions:>14}{:>12}{:>13}{times:>9.2}",
                case.title,
                number(nanoseconds),
                figures.allocations
            );
        }
    }
}

/// Small numbers with their fraction, large ones with commas.
fn number(value: f64) -> String {
    if value < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_commas_between_thousands() {
        assert_eq!([number(5.816), number(999.6), number(1234567.0)], ["5.82", "1,000", "1,234,567"]);
    }
}
