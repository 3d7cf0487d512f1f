//! JSON as a tree that keeps the text of its numbers and the order of its members, and random ways to write it.

use std::fmt::Write as _;

use super::random::Random;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// Its text.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn number(number: impl ToString) -> Json {
        Json::Number(number.to_string())
    }

    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn members(&self) -> &[(String, Json)] {
        if let Json::Object(members) = self { members } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Json] {
        if let Json::Array(items) = self { items } else { &[] }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    /// A number, perhaps rounded.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Json::Number(text) = self { text.parse().ok() } else { None }
    }

    pub(crate) fn as_count(&self) -> Option<usize> {
        self.as_f64().map(|number| number as usize)
    }

    /// What is directly inside.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Json> {
        self.items().iter().chain(self.members().iter().map(|(_, member)| member))
    }

    pub(crate) fn children_mut(&mut self) -> Vec<&mut Json> {
        match self {
            Json::Array(items) => items.iter_mut().collect(),
            Json::Object(members) => members.iter_mut().map(|(_, member)| member).collect(),
            _ => Vec::new(),
        }
    }

    /// The same with every number as the double that is nearest to it, in the shortest way to write that: what
    /// `serde_json` makes of it.
    pub(crate) fn rounded(&self) -> Json {
        match self {
            Json::Number(text) => {
                let number: serde_json::Number = serde_json::from_str(text).unwrap();
                Json::Number(number.to_string())
            }
            Json::Array(items) => Json::Array(items.iter().map(Json::rounded).collect()),
            Json::Object(members) => {
                Json::Object(members.iter().map(|(name, member)| (name.clone(), member.rounded())).collect())
            }
            other => other.clone(),
        }
    }

    /// The shortest text, in order.
    pub(crate) fn plain(&self) -> String {
        self.write(&mut Plain)
    }

    /// The same value with blanks, another order of members, escapes, and numbers in other words.
    pub(crate) fn spelled(&self, random: &mut Random) -> String {
        self.write(&mut Spelled(random))
    }

    fn write(&self, style: &mut impl Style) -> String {
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(yes) => yes.to_string(),
            Json::Number(text) => style.number(text),
            Json::Text(text) => style.string(text),
            Json::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| item.write(style)).collect();
                style.container('[', &items, ']')
            }
            Json::Object(members) => {
                let mut members: Vec<String> = members
                    .iter()
                    .map(|(name, member)| {
                        let name = style.string(name);
                        let member = member.write(style);
                        style.member(name, member)
                    })
                    .collect();
                style.order(&mut members);
                style.container('{', &members, '}')
            }
        }
    }
}

trait Style {
    fn number(&mut self, text: &str) -> String {
        text.to_owned()
    }

    fn string(&mut self, text: &str) -> String {
        serde_json::to_string(text).unwrap()
    }

    fn member(&mut self, name: String, member: String) -> String {
        name + ":" + &member
    }

    fn order(&mut self, _: &mut [String]) {}

    fn container(&mut self, open: char, items: &[String], close: char) -> String {
        format!("{open}{}{close}", items.join(","))
    }
}

struct Plain;

impl Style for Plain {}

struct Spelled<'r>(&'r mut Random);

impl Spelled<'_> {
    fn blank(&mut self) -> &'static str {
        self.0.word(&["", "", "", " ", "\n  ", "\t", "\r\n"])
    }
}

impl Style for Spelled<'_> {
    fn number(&mut self, text: &str) -> String {
        if self.0.one_in(2) { respelled(text, self.0) } else { text.to_owned() }
    }

    fn string(&mut self, text: &str) -> String {
        let mut out = String::from("\"");
        for char in text.chars() {
            match char {
                '/' if self.0.one_in(2) => out += "\\/",
                '\n' if self.0.one_in(2) => out += "\\n",
                '"' | '\\' if self.0.one_in(2) => {
                    out.push('\\');
                    out.push(char);
                }
                '"' | '\\' | '\0'..' ' => escape(&mut out, char),
                _ if self.0.one_in(12) => escape(&mut out, char),
                _ => out.push(char),
            }
        }
        out + "\""
    }

    fn member(&mut self, name: String, member: String) -> String {
        let (before, after) = (self.blank(), self.blank());
        format!("{name}{before}:{after}{member}")
    }

    fn order(&mut self, members: &mut [String]) {
        for at in (1..members.len()).rev() {
            members.swap(at, self.0.below(at + 1));
        }
    }

    fn container(&mut self, open: char, items: &[String], close: char) -> String {
        let mut out = String::from(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out += self.blank();
                out.push(',');
            }
            out += self.blank();
            out += item;
        }
        out += self.blank();
        out.push(close);
        out
    }
}

fn escape(out: &mut String, char: char) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        write!(out, "\\u{unit:04x}").unwrap();
    }
}

/// The same number in other words.
fn respelled(text: &str, random: &mut Random) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let lower = rest.to_ascii_lowercase();
    let (digits, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent: i64 = exponent.parse().unwrap();
    let mantissa = format!("{whole}{fraction}");
    let mantissa = mantissa.trim_start_matches('0');
    if mantissa.is_empty() {
        return random.word(&["0", "-0", "0.0", "0e3", "-0.00", "0E-2"]).to_owned();
    }
    // The value is 0.mantissa * 10^power.
    let power = whole.len() as i64 + exponent - (whole.len() + fraction.len() - mantissa.len()) as i64;
    let zeros = "0".repeat(random.below(3));
    let mark = random.word(&["e", "E", "e+", "E-"]);
    let scaled = |power: i64, mark: &str| match (power, mark) {
        (0.., "E-") => format!("e{power}"),
        (0.., mark) => format!("{mark}{power}"),
        (_, "E-") => format!("E-{}", -power),
        (_, _) => format!("e{power}"),
    };
    let mantissa = format!("{mantissa}{zeros}");
    match random.below(3) {
        0 => format!("{sign}0.{mantissa}{}", scaled(power, mark)),
        1 => format!("{sign}{mantissa}{}", scaled(power - mantissa.len() as i64, mark)),
        _ => {
            let (first, rest) = mantissa.split_at(1);
            format!("{sign}{first}.{rest}0{}", scaled(power - 1, mark))
        }
    }
}
