//! One call of a text form: what can be told of it, whole or broken.

use crate::json::{self, Event, Kind, Options, Reader, Str, Value};

/// What parts a name from the id of its call.
pub(crate) const ID: &str = "[CALL_ID]";
/// What parts a name from its arguments.
pub(crate) const ARGS: &str = "[ARGS]";

/// A part of a call: a value of JSON, or text as it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'t> {
    Json(Value<'t>),
    Plain(&'t str),
}

impl<'t> Piece<'t> {
    /// The text of a string, or what stands there. Text that stands as it is has no escapes.
    pub(crate) fn text(self) -> Str<'t> {
        match self {
            Piece::Json(value) => value.as_str().unwrap_or(Str::new(value.raw())),
            Piece::Plain(text) => Str::new(text),
        }
    }

    /// Whether nothing stands there.
    pub(crate) fn is_nothing(self) -> bool {
        match self {
            Piece::Json(value) => value.is_null() || value.raw() == "\"\"",
            Piece::Plain(text) => text.is_empty(),
        }
    }
}

/// A call in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextCall<'t> {
    pub(crate) id: Option<Piece<'t>>,
    pub(crate) name: Piece<'t>,
    pub(crate) arguments: Option<Piece<'t>>,
    /// The text ends in it.
    pub(crate) incomplete: bool,
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\r' | '\t')
}

/// A call whose name cannot be told.
pub(super) fn unreadable(text: &str) -> TextCall<'_> {
    TextCall { id: None, name: Piece::Plain(""), arguments: Some(Piece::Plain(text)), incomplete: false }
}

/// A call of which name, id and arguments stand one after the other. Without arguments there is none to run:
/// what stands there in their place is no object.
pub(super) fn named<'t>(header: &'t str, arguments: Option<&'t str>) -> TextCall<'t> {
    let (before, after) = header.split_once(ARGS).unwrap_or((header, header));
    let (name, id) = before.split_once(ID).map_or((before, None), |(name, id)| (name, Some(id)));
    let id = id.map(|id| id.trim_matches(is_blank)).filter(|id| !id.is_empty()).map(Piece::Plain);
    let written = arguments.unwrap_or(after).trim_matches(is_blank);
    let arguments = Some(Piece::Plain(if written.is_empty() { header } else { written }));
    TextCall { id, name: Piece::Plain(name.trim_matches(is_blank)), arguments, incomplete: false }
}

/// Whether an object without a mark is meant as a call: it has a name and arguments, or is `cut` off after
/// its name.
pub(super) fn is_call(body: &str, cut: bool) -> bool {
    let outline = Outline::of(body);
    outline.name.is_some() && (cut || outline.arguments.is_some())
}

/// Reads the object of a call, `cut` off or not.
pub(super) fn read_call(body: &str, cut: bool) -> TextCall<'_> {
    let value = json::parse(body.as_bytes(), &Options::default()).ok();
    if let Some(value) = value.filter(|value| value.kind() == Kind::Object) {
        let [id, name, arguments, parameters] = value.pick(["id", "name", "arguments", "parameters"]);
        let Some(name) = name.filter(|name| name.as_str().is_some()) else { return unreadable(body) };
        let arguments = arguments.or(parameters).filter(|arguments| !arguments.is_null());
        let (id, arguments) = (id.map(Piece::Json), arguments.map(Piece::Json));
        return TextCall { id, name: Piece::Json(name), arguments, incomplete: false };
    }
    let Outline { name: Some(name), id, arguments } = Outline::of(body) else { return unreadable(body) };
    // What is left of the arguments: never an object, or the whole would have been one.
    let written = arguments.map_or(body, |at| body.get(at..).unwrap_or_default());
    let inner = if cut || arguments.is_none() { None } else { written.strip_suffix('}') };
    let arguments = inner.unwrap_or(written).trim_matches(is_blank);
    let (id, arguments) = (id.map(Piece::Json), Some(Piece::Plain(arguments)));
    TextCall { id, name: Piece::Json(name), arguments, incomplete: false }
}

/// What can be told of an object that is not one: its members up to where it breaks off.
#[derive(Default)]
struct Outline<'t> {
    name: Option<Value<'t>>,
    id: Option<Value<'t>>,
    /// Where the arguments begin.
    arguments: Option<usize>,
}

impl<'t> Outline<'t> {
    fn of(body: &'t str) -> Self {
        let mut outline = Outline::default();
        let mut reader = Reader::new(body.as_bytes(), &Options::default());
        if !matches!(reader.next_event(), Ok(Some(Event::ObjectStart))) {
            return outline;
        }
        while let Ok(Some(Event::Key(key))) = reader.next_event() {
            let at = reader.offset();
            let is = |name: &str| Str::eq_str(key, name);
            if is("arguments") || is("parameters") {
                outline.arguments = outline.arguments.or(Some(at));
            }
            let Ok(value) = reader.skip_value() else { break };
            if is("name") {
                outline.name = outline.name.or(Some(value).filter(|name| name.as_str().is_some()));
            } else if is("id") {
                outline.id = outline.id.or(Some(value));
            }
        }
        outline
    }
}
