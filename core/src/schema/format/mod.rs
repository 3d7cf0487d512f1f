//! The keyword `format`, where it is to be asserted: whether a string is a date, an address, a URI and so on.
//!
//! The formats are those of JSON Schema Validation 2020-12, section 7.3, each after the document that it names:
//!
//! | format | document |
//! |---|---|
//! | `date-time`, `date`, `time` | RFC 3339, section 5.6, with leap seconds where UTC has them (appendix D) |
//! | `duration` | RFC 3339, appendix A |
//! | `email`, `idn-email` | RFC 5321, section 4.1.2, `Mailbox`; RFC 6531 |
//! | `hostname` | RFC 1123, section 2.1; labels as in RFC 1034 |
//! | `ipv4`, `ipv6` | RFC 2673, section 3.2; RFC 4291, section 2.2 |
//! | `uri`, `uri-reference`, `iri`, `iri-reference` | RFC 3986; RFC 3987 |
//! | `uri-template` | RFC 6570 |
//! | `uuid` | RFC 4122 |
//! | `json-pointer`, `relative-json-pointer` | RFC 6901; draft-bhutton-relative-json-pointer-00 |
//! | `regex` | ECMA-262, by the parser of [`pattern`](super::pattern), if that is there |
//!
//! Every other format is unknown, and whatever has it passes. `idn-hostname` is among these, and the `xn--`
//! labels of a `hostname` are taken as they are: both would need the tables of IDNA 2008 (RFC 5892), which
//! are larger than all that is here.
//!
//! A check reads the string once, a URI's authority twice; escapes of JSON are decoded on the way. Nothing is
//! kept.
//!
//! ```
//! use toolcore::json::Str;
//! use toolcore::schema::format::Format;
//!
//! let format = Format::from_name(Str::from_plain("date").unwrap()).unwrap();
//! assert!(format.matches(Str::from_plain("2024-02-29").unwrap()));
//! assert!(!format.matches(Str::from_plain("2023-02-29").unwrap()));
//! ```

mod address;
mod time;
mod uri;

use crate::json::{Chars, Str};

/// A format that can be asserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `date-time`
    DateTime,
    /// `date`
    Date,
    /// `time`
    Time,
    /// `duration`
    Duration,
    /// `email`
    Email,
    /// `idn-email`
    IdnEmail,
    /// `hostname`
    Hostname,
    /// `ipv4`
    Ipv4,
    /// `ipv6`
    Ipv6,
    /// `uri`
    Uri,
    /// `uri-reference`
    UriReference,
    /// `iri`
    Iri,
    /// `iri-reference`
    IriReference,
    /// `uri-template`
    UriTemplate,
    /// `uuid`
    Uuid,
    /// `json-pointer`
    JsonPointer,
    /// `relative-json-pointer`
    RelativeJsonPointer,
    /// `regex`
    #[cfg(feature = "pattern")]
    Regex,
}

impl Format {
    /// Every one of them.
    pub const ALL: &[Format] = &[
        Format::DateTime,
        Format::Date,
        Format::Time,
        Format::Duration,
        Format::Email,
        Format::IdnEmail,
        Format::Hostname,
        Format::Ipv4,
        Format::Ipv6,
        Format::Uri,
        Format::UriReference,
        Format::Iri,
        Format::IriReference,
        Format::UriTemplate,
        Format::Uuid,
        Format::JsonPointer,
        Format::RelativeJsonPointer,
        #[cfg(feature = "pattern")]
        Format::Regex,
    ];

    /// The format with this name.
    pub fn from_name(name: Str<'_>) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| name.eq_str(format.name()))
    }

    /// The name, as a schema writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Format::DateTime => "date-time",
            Format::Date => "date",
            Format::Time => "time",
            Format::Duration => "duration",
            Format::Email => "email",
            Format::IdnEmail => "idn-email",
            Format::Hostname => "hostname",
            Format::Ipv4 => "ipv4",
            Format::Ipv6 => "ipv6",
            Format::Uri => "uri",
            Format::UriReference => "uri-reference",
            Format::Iri => "iri",
            Format::IriReference => "iri-reference",
            Format::UriTemplate => "uri-template",
            Format::Uuid => "uuid",
            Format::JsonPointer => "json-pointer",
            Format::RelativeJsonPointer => "relative-json-pointer",
            #[cfg(feature = "pattern")]
            Format::Regex => "regex",
        }
    }

    /// Whether a string has the format.
    pub fn matches(self, string: Str<'_>) -> bool {
        let mut text = Text { chars: string.chars() };
        let found = match self {
            Format::DateTime => time::date_time(&mut text),
            Format::Date => time::date(&mut text),
            Format::Time => time::time(&mut text),
            Format::Duration => time::duration(&mut text),
            Format::Email => address::email(&mut text, Letters::Ascii),
            Format::IdnEmail => address::email(&mut text, Letters::Unicode),
            Format::Hostname => address::hostname(&mut text, Letters::Ascii),
            Format::Ipv4 => address::ipv4(&mut text),
            Format::Ipv6 => address::ipv6(&mut text),
            Format::Uri => uri::uri(&mut text, Letters::Ascii),
            Format::UriReference => uri::reference(&mut text, Letters::Ascii),
            Format::Iri => uri::uri(&mut text, Letters::Unicode),
            Format::IriReference => uri::reference(&mut text, Letters::Unicode),
            Format::UriTemplate => uri::template(&mut text),
            Format::Uuid => uuid(&mut text),
            Format::JsonPointer => json_pointer(&mut text),
            Format::RelativeJsonPointer => relative_json_pointer(&mut text),
            #[cfg(feature = "pattern")]
            Format::Regex => return super::pattern::is_valid(string),
        };
        found.is_some() && text.peek().is_none()
    }
}

/// Whether letters outside of ASCII are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letters {
    Ascii,
    Unicode,
}

/// A text that is being read. Its readers, here and in the modules below, give `None` for what is wrong.
#[derive(Clone)]
struct Text<'t> {
    chars: Chars<'t>,
}

impl Text<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.clone().next()
    }

    /// Reads a character if it is as wanted.
    fn next_if(&mut self, wanted: impl FnOnce(char) -> bool) -> Option<char> {
        let mut ahead = self.chars.clone();
        let c = ahead.next().filter(|&c| wanted(c))?;
        self.chars = ahead;
        Some(c)
    }

    fn eat(&mut self, c: char) -> Option<()> {
        self.next_if(|next| next == c).map(drop)
    }

    /// Reads this character, if it comes next.
    fn try_eat(&mut self, c: char) -> bool {
        self.eat(c).is_some()
    }

    /// The value of exactly this many digits.
    fn digits(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            value = value * 10 + self.next_if(|c| c.is_ascii_digit())?.to_digit(10)?;
        }
        Some(value)
    }

    /// Reads as many characters of a kind as there are, and counts them.
    fn run(&mut self, wanted: impl Fn(char) -> bool) -> usize {
        let mut count = 0;
        while self.next_if(&wanted).is_some() {
            count += 1;
        }
        count
    }
}

fn uuid(text: &mut Text<'_>) -> Option<()> {
    for (number, count) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if number > 0 {
            text.eat('-')?;
        }
        for _ in 0..count {
            text.next_if(|c| c.is_ascii_hexdigit())?;
        }
    }
    Some(())
}

fn json_pointer(text: &mut Text<'_>) -> Option<()> {
    while text.peek().is_some() {
        text.eat('/')?;
        while let Some(c) = text.next_if(|c| c != '/') {
            if c == '~' {
                text.next_if(|c| matches!(c, '0' | '1'))?;
            }
        }
    }
    Some(())
}

fn relative_json_pointer(text: &mut Text<'_>) -> Option<()> {
    if !text.try_eat('0') {
        positive(text)?;
    }
    if text.try_eat('+') || text.try_eat('-') {
        positive(text)?;
    }
    if text.try_eat('#') { Some(()) } else { json_pointer(text) }
}

/// An integer that does not begin with a zero.
fn positive(text: &mut Text<'_>) -> Option<()> {
    text.next_if(|c| matches!(c, '1'..='9'))?;
    text.run(|c| c.is_ascii_digit());
    Some(())
}
