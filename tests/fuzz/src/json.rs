//! The JSON reader, its values, numbers and the writer.

use std::cmp::Ordering;

use toolcore::json::{
    self, Error, Event, Kind, Number, Options, Reader, Reason, RepairError, Surrogates, Value, Writer,
    escaped_len, escaped_prefix,
};

use super::{split, text, written};

/// Validating, parsing, pulling events and skipping agree, also in their errors; an accepted text reads back whole.
pub fn json(input: &[u8]) {
    let lenient = Options { surrogates: Surrogates::Replace, ..Options::default() };
    for options in [Options::default(), lenient, Options { max_depth: 3, ..Options::default() }] {
        let validated = json::validate(input, &options);
        assert_eq!(json::parse(input, &options).map(|_| ()), validated);
        assert_eq!(pull(input, &options).map(|_| ()), validated);
        assert_eq!(skip(input, &options), validated);
        if let Err(error) = validated {
            assert!(error.offset <= input.len());
            written(|sink| error.write(sink));
        }
    }
    let validated = json::validate(input, &lenient);
    if !validated.is_err_and(|error| error.reason == Reason::DepthLimit) {
        let other = std::str::from_utf8(input)
            .is_ok_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok());
        assert_eq!(validated.is_ok(), other, "serde_json has another opinion");
    }
    if let Ok(root) = json::parse(input, &lenient) {
        walk(root, pull(input, &lenient).unwrap());
        let rewritten = written(|sink| json::rewrite_escapes(root.raw(), sink));
        assert_eq!(json::validate(rewritten.as_bytes(), &Options::default()), Ok(()));
        assert_eq!(written(|sink| json::rewrite_escapes(&rewritten, sink)), rewritten);
    }
}

/// A text, then how to read it: whatever is tried on the way, the reader ends where validating does.
pub fn reader(input: &[u8]) {
    let (text, ways) = split(input);
    let options = Options::default();
    let mut reader = Reader::new(text, &options);
    for way in ways {
        let (offset, depth) = (reader.offset(), reader.depth());
        let moved = match way % 6 {
            0 => reader.next_event().map(|_| true),
            1 => reader.skip_value().map(|_| true),
            2 => reader.peek().map(|_| false),
            3 => Ok(reader.try_end()),
            4 => Ok(reader.try_key("\"city\"")),
            _ => Ok(reader.try_key("\"type\"")),
        };
        if !moved.unwrap_or(false) {
            // A comma may have been read.
            assert!(reader.offset() >= offset && reader.depth() == depth);
        }
    }
    let end = loop {
        match reader.next_event() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert_eq!(end, json::validate(text, &options));
}

/// Counts the events of `input`: values, and keys beside them.
fn pull(input: &[u8], options: &Options) -> Result<[usize; 2], Error> {
    let mut reader = Reader::new(input, options);
    let (mut values, mut keys, mut depth) = (0, 0, 0);
    loop {
        match reader.next_event() {
            Ok(Some(event)) => {
                match event {
                    Event::ObjectStart | Event::ArrayStart => depth += 1,
                    Event::ObjectEnd | Event::ArrayEnd => depth -= 1,
                    _ => {}
                }
                match event {
                    Event::ObjectEnd | Event::ArrayEnd => {}
                    Event::Key(_) => keys += 1,
                    _ => values += 1,
                }
                assert_eq!(reader.depth(), depth);
                assert!(reader.offset() <= reader.value_offset() && reader.value_offset() <= input.len());
            }
            Ok(None) => {
                assert!(matches!(reader.next_event(), Ok(None)));
                return Ok([values, keys]);
            }
            Err(error) => {
                assert_eq!(reader.next_event().unwrap_err(), error, "an error stays");
                return Err(error);
            }
        }
    }
}

fn skip(input: &[u8], options: &Options) -> Result<(), Error> {
    let mut reader = Reader::new(input, options);
    reader.skip_value()?;
    reader.next_event().map(|event| assert!(event.is_none()))
}

/// Visits every value of `root` and checks that its parts agree with the reader's and with one another.
fn walk(root: Value<'_>, events: [usize; 2]) {
    let options = Options { surrogates: Surrogates::Replace, ..Options::default() };
    // An equal key before it hides a value from pointers.
    let mut open = vec![(root, false)];
    let (mut values, mut keys) = (0, 0);
    while let Some((value, hidden)) = open.pop() {
        values += 1;
        if values <= 32 {
            let again = json::parse(value.raw().as_bytes(), &options).unwrap();
            assert_eq!((again.raw(), again.kind()), (value.raw(), value.kind()));
            pointer(root, value, hidden);
        }
        let mut entries = 0;
        for (key, member) in value.entries() {
            entries += 1;
            let name = written(|sink| key.decode(sink));
            assert!(key.eq_str(&name) && key == name.as_str());
            let first = value.get(&name).expect("its key leads to a member");
            open.push((member, hidden || first.raw().as_ptr() != member.raw().as_ptr()));
        }
        keys += entries;
        let items = value.items().count();
        open.extend(value.items().map(|item| (item, hidden)));
        assert_eq!(value.item(items).map(Value::raw), None);
        match value.kind() {
            Kind::Object => assert_eq!(items, 0),
            Kind::Array => assert_eq!(entries, 0),
            Kind::String => {
                let string = value.as_str().unwrap();
                let decoded = written(|sink| string.decode(sink));
                assert_eq!(decoded.chars().count(), string.char_count());
                assert!(string.chars().eq(decoded.chars()) && string == decoded.as_str());
            }
            Kind::Number => {
                let number = value.as_number().unwrap();
                assert_eq!(number.compare(number), Ordering::Equal);
            }
            Kind::Bool => assert!(value.as_bool().is_some()),
            Kind::Null => assert!(value.is_null()),
        }
    }
    assert_eq!([values, keys], events);
}

/// The pointer of a value leads back to it.
fn pointer(root: Value<'_>, value: Value<'_>, hidden: bool) {
    let offset = value.raw().as_ptr() as usize - root.raw().as_ptr() as usize;
    let pointer = written(|sink| json::pointer_at(root.raw(), offset, sink));
    let found = root.pointer(&pointer).map(|found| found.raw().as_ptr());
    assert!(hidden || found == Some(value.raw().as_ptr()), "{pointer}");
}

/// Any text: repaired to strict JSON in no more memory than it has bytes, and left alone if it was valid.
pub fn repair(input: &[u8]) {
    let text = text(input);
    let options = Options::default();
    let mut memory = vec![0; text.len()];
    let whole = match json::repair(text, &options, &mut memory) {
        Ok(repaired) => Some((repaired.value.raw().to_owned(), repaired.repairs)),
        Err(RepairError::NoSpace(_)) => panic!("the room that always suffices does not"),
        Err(RepairError::Json(error)) => {
            assert_eq!(json::validate(text.as_bytes(), &options), Err(error));
            None
        }
    };
    if let Err(RepairError::NoSpace(short)) = json::repair(text, &options, &mut []) {
        let mut memory = vec![0; short.need];
        let repaired = json::repair(text, &options, &mut memory);
        assert_eq!(repaired.ok().map(|repaired| (repaired.value.raw().to_owned(), repaired.repairs)), whole);
    }
    let Some((value, repairs)) = whole else { return };
    assert_eq!(json::validate(value.as_bytes(), &options), Ok(()));
    if let Ok(strict) = json::parse(text.as_bytes(), &options) {
        assert!(strict.kind() == Kind::String || (strict.raw() == value && repairs.is_empty()));
    }
    assert_eq!(repairs.is_empty(), repairs.names().next().is_none());
}

/// Text that was never checked, taken for a value: wrong answers, and nothing worse.
pub fn value(input: &[u8]) {
    let root = Value::from_checked(text(input));
    let mut open = vec![root];
    let mut visited = 0;
    while let Some(value) = open.pop().filter(|_| visited < 500) {
        visited += 1;
        let string = value.as_str().map(|string| written(|sink| string.decode(sink)));
        let number = value.as_number().map(|number| (number.as_f64(), number.is_integer()));
        let same =
            (value.as_bool(), value.is_null(), value.get("a").map(Value::raw), value.item(1).map(Value::raw));
        std::hint::black_box((string, number, same, value.pointer("/a/0").map(Value::raw)));
        open.extend(value.items().chain(value.entries().map(|(_, member)| member)).take(100));
    }
    for offset in [0, 1, input.len() / 2, input.len(), usize::MAX] {
        let entries = root.entries_from(offset).chain(json::Entries::resume(root.raw(), offset)).take(100);
        let items = root.items_from(offset).chain(json::Items::resume(root.raw(), offset)).take(100);
        std::hint::black_box((entries.count(), items.count()));
        written(|sink| json::pointer_at(text(input), offset, sink));
    }
}

/// Two numbers: exact order, conversions that agree with it, and any text at all refused or read.
pub fn number(input: &[u8]) {
    let (first, second) = split(input);
    let (Some(a), Some(b)) = (Number::parse(text(first)), Number::parse(text(second))) else { return };
    assert_eq!(a.compare(b), b.compare(a).reverse());
    assert_eq!(a == b, a.compare(b) == Ordering::Equal);
    for number in [a, b] {
        assert_eq!(json::validate(number.raw().as_bytes(), &Options::default()), Ok(()));
        assert!(number.is_integer() || number.as_i64().is_err() && number.as_u64().is_err());
        let digits = |value: String| Number::parse(&value).unwrap().compare(number) == Ordering::Equal;
        assert!(number.as_i64().map_or(true, |value| digits(value.to_string())));
        assert!(number.as_u64().map_or(true, |value| digits(value.to_string())));
        if let Ok(value) = number.raw().parse::<i64>() {
            assert_eq!(number.as_i64(), Ok(value));
        }
    }
    if let (Ok(x), Ok(y)) = (a.as_f64(), b.as_f64())
        && x != y
    {
        assert_eq!(Some(a.compare(b)), x.partial_cmp(&y));
    }
}

/// Input bytes as a list of writer calls: what is written is JSON and reads back as what was handed in.
pub fn json_write(input: &[u8]) {
    let wrote = std::cell::RefCell::new(Vec::new());
    let out = written(|sink| {
        wrote.borrow_mut().clear();
        write_calls(input, &mut Writer::new(sink), &mut wrote.borrow_mut());
    });
    let mut reader = Reader::new(out.as_bytes(), &Options::default());
    let mut wrote = wrote.into_inner().into_iter();
    while let Some(event) = reader.next_event().expect("what is written is JSON") {
        match event {
            Event::String(string) => {
                let read = written(|sink| string.decode(sink));
                match wrote.next() {
                    Some(Wrote::Text(text)) => assert_eq!(read, text),
                    Some(Wrote::Base64(text, bytes)) => {
                        let encoded = read.strip_prefix(&text).unwrap();
                        assert_eq!(encoded.len(), bytes.div_ceil(3) * 4);
                    }
                    other => panic!("{read} in place of {other:?}"),
                }
            }
            Event::Number(number) => match wrote.next() {
                Some(Wrote::Float(value)) => assert_eq!(number.as_f64(), Ok(value)),
                Some(Wrote::Unsigned(value)) => assert_eq!(number.as_u64(), Ok(value)),
                Some(Wrote::Signed(value)) => assert_eq!(number.as_i64(), Ok(value)),
                other => panic!("{} in place of {other:?}", number.raw()),
            },
            _ => {}
        }
    }
    assert!(wrote.next().is_none());
    prefixes(text(input), usize::from(input.first().copied().unwrap_or_default()));
}

/// What the reader should find again.
#[derive(Debug)]
enum Wrote {
    Text(String),
    /// A text, then this many bytes in base64.
    Base64(String, usize),
    Float(f64),
    Unsigned(u64),
    Signed(i64),
}

/// One call for every nine bytes: one that selects it, eight for its operand.
fn write_calls(input: &[u8], out: &mut Writer<'_, '_>, wrote: &mut Vec<Wrote>) {
    let mut open = Vec::new();
    out.array_start();
    for piece in input.chunks(9) {
        let (select, operand) = piece.split_first().unwrap();
        let word = operand.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let operand_text = || text(operand).to_owned();
        let select = select % 12;
        if open.last() == Some(&true) && select != 9 {
            out.key(&operand_text());
        }
        match select {
            0 => out.null(),
            1 => out.bool(word & 1 == 1),
            2 => {
                out.u64(word);
                wrote.push(Wrote::Unsigned(word));
            }
            3 => {
                out.i64(word.cast_signed());
                wrote.push(Wrote::Signed(word.cast_signed()));
            }
            4 => match out.f64(f64::from_bits(word)) {
                Ok(()) => wrote.push(Wrote::Float(f64::from_bits(word))),
                Err(_) => out.null(),
            },
            5 => {
                out.string_start();
                out.string_part(text(operand));
                out.string_base64(operand);
                out.string_end();
                wrote.push(Wrote::Base64(operand_text(), operand.len()));
            }
            6 | 7 if open.len() < 100 => {
                let object = select == 6;
                if object {
                    out.object_start()
                } else {
                    out.array_start()
                }
                open.push(object);
            }
            8 => {
                let mark = out.mark();
                out.array_start();
                out.string(text(operand));
                out.rewind(mark);
                out.raw("0.5");
                wrote.push(Wrote::Float(0.5));
            }
            9 => close(open.pop(), out),
            _ => {
                out.string(text(operand));
                wrote.push(Wrote::Text(operand_text()));
            }
        }
    }
    while let Some(object) = open.pop() {
        close(Some(object), out);
    }
    out.array_end();
}

fn close(object: Option<bool>, out: &mut Writer<'_, '_>) {
    match object {
        Some(true) => out.object_end(),
        Some(false) => out.array_end(),
        None => {}
    }
}

/// A prefix that fits is the longest, and lengths are those of what is written.
fn prefixes(text: &str, room: usize) {
    let prefix = escaped_prefix(text, room);
    assert!(text.starts_with(prefix) && escaped_len(prefix) <= room);
    let longer = text[prefix.len()..].chars().next().map(|c| prefix.len() + c.len_utf8());
    assert!(longer.is_none_or(|end| escaped_len(&text[..end]) > room), "a longer prefix fits");
    let string = written(|sink| Writer::new(sink).string(text));
    assert_eq!(string.len(), escaped_len(text) + 2);
}
