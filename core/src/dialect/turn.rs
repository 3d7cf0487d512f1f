//! A turn of a model that another provider's model took, or that the host made up, in a dialect's own shape.
//!
//! What a reply of the dialect itself said goes back by [`Reply::write_replay`](super::Reply::write_replay),
//! which keeps what the provider signed. This is for all others: a conversation that changes its provider, one
//! that was stored without its replies, examples for the model.

use super::alias::WireName;
use super::budget::Budget;
use super::ids::sent;
use super::{Calls, Dialect, ReplayError};
use crate::json::{self, Kind, Options, Surrogates, Value, Writer};
use crate::sink::{NoSpace, Sink};

/// Writes a turn of the model with this text and these calls as `dialect` takes it: a JSON array of messages, or
/// what is inside its brackets if `bare`; for a text form the text, in the tokens of its message unless `bare`.
/// Nothing is written if there is neither text nor call.
///
/// The ids are those that [`render_results`](super::render_results) gives the results of the same calls in the
/// same dialect. A name that the dialect does not allow goes out as its alias, which is that of the tool if
/// the name is the tool's own. Arguments keep their exact text where they go as text; as an object they keep
/// that of every string and number. Where they are no object and have to be one, `{}` stands for them (the
/// result of such a call quotes them), and the free text of a custom tool stands in `input` where there are no
/// custom tools.
///
/// What another provider signed is not among them: a model of Google's that wants a `thoughtSignature` with its
/// calls finds none.
pub fn render_turn(
    dialect: Dialect,
    text: Option<&str>,
    calls: &(impl Calls + ?Sized),
    bare: bool,
    sink: &mut Sink<'_>,
) -> Result<(), ReplayError> {
    let (text, count) = (text.unwrap_or_default(), calls.count());
    if text.is_empty() && count == 0 {
        return Ok(());
    }
    let names = dialect.name_rule();
    let own = calls.origin() == Some(dialect);
    let each = |visit: &mut dyn FnMut(&TurnCall<'_>)| {
        for (index, call) in (0..count).filter_map(|index| Some((index, calls.call(index)?))) {
            let alias = if own || names.allows(call.name) { None } else { Some(names.wire_name(call.name)) };
            visit(&TurnCall {
                id: sent(dialect, calls, index, &call).text(),
                has_id: call.id.is_some(),
                name: alias.as_ref().map_or(call.name, WireName::as_str),
                arguments: call.arguments,
                toolset: call.toolset,
                custom: call.custom,
            });
        }
    };
    let start = sink.len();
    let mut out = Writer::new(sink);
    let wire = dialect.wire();
    let form = wire.text_form();
    match form {
        _ if bare => {}
        None => out.array_start(),
        Some(form) => out.sink().put(form.turn[0]),
    }
    let result = wire.turn(&Turn { dialect, text, count, each: &each }, &mut out);
    match form {
        _ if bare => {}
        None => out.array_end(),
        Some(form) => out.sink().put(form.turn[1]),
    }
    let need = sink.len();
    if result.is_err() || sink.overflowed() {
        sink.truncate(start);
    }
    result?;
    if need > sink.len() { Err(ReplayError::NoSpace(NoSpace { need })) } else { Ok(()) }
}

/// Hands calls out.
type Each<'t> = dyn Fn(&mut dyn FnMut(&TurnCall<'_>)) + 't;

/// What a turn says.
pub(crate) struct Turn<'t> {
    dialect: Dialect,
    /// The text beside the calls; empty if there is none.
    pub(crate) text: &'t str,
    /// How many calls there are.
    pub(crate) count: usize,
    each: &'t Each<'t>,
}

impl Turn<'_> {
    /// Hands out the calls in order.
    pub(crate) fn each(&self, mut visit: impl FnMut(&TurnCall<'_>)) {
        (self.each)(&mut visit);
    }

    /// Writes the text into a text form, without what has a meaning to its template.
    pub(crate) fn put_text(&self, out: &mut Writer<'_, '_>) {
        Budget::new(self.dialect, usize::MAX, usize::MAX).put(self.text, out);
    }

    /// Writes a call into a text form: an object of its name, its arguments and, if there is a key for it, its id.
    pub(crate) fn put_call(
        &self,
        call: &TurnCall<'_>,
        arguments: &str,
        id: Option<&str>,
        out: &mut Writer<'_, '_>,
    ) {
        let mut budget = Budget::new(self.dialect, usize::MAX, usize::MAX);
        budget.inside_json();
        let mut out = Writer::new(out.sink());
        let text = |key: &str, text: &str, out: &mut Writer<'_, '_>| {
            out.key(key);
            out.string_start();
            budget.put(text, out);
            out.string_end();
        };
        out.object_start();
        text("name", call.name, &mut out);
        out.key(arguments);
        match call.object() {
            Some(object) => {
                out.raw("");
                budget.put_json(object.raw(), &mut out);
            }
            None if call.custom => {
                out.object_start();
                text("input", call.arguments, &mut out);
                out.object_end();
            }
            None => out.value(Value::empty_object()),
        }
        if let Some(key) = id.filter(|_| call.has_id) {
            text(key, call.id, &mut out);
        }
        out.object_end();
    }
}

/// A call of a turn.
pub(crate) struct TurnCall<'t> {
    /// Its id as it goes out, a minted one if it has none.
    pub(crate) id: &'t str,
    /// It has one that is not minted.
    pub(crate) has_id: bool,
    /// Its name as it goes out.
    pub(crate) name: &'t str,
    /// Its arguments: JSON, or the text of a custom tool.
    pub(crate) arguments: &'t str,
    /// The set of tools that it is of; empty if of none.
    pub(crate) toolset: &'t str,
    /// It is of a custom tool.
    pub(crate) custom: bool,
}

impl TurnCall<'_> {
    /// The arguments, if they are an object.
    fn object(&self) -> Option<Value<'_>> {
        let options = Options { surrogates: Surrogates::Replace, ..Options::default() };
        let value = json::parse(self.arguments.as_bytes(), &options).ok()?;
        (!self.custom && value.kind() == Kind::Object).then_some(value)
    }

    /// Writes the arguments as an object.
    pub(crate) fn write_object(&self, out: &mut Writer<'_, '_>) {
        if self.custom {
            out.object_start();
            super::member("input", self.arguments, out);
            out.object_end();
        } else {
            out.value(self.object().unwrap_or(Value::empty_object()));
        }
    }

    /// Writes the arguments as text that spells an object.
    pub(crate) fn write_text(&self, out: &mut Writer<'_, '_>) {
        if !self.custom {
            return out.string(if self.arguments.is_empty() { "{}" } else { self.arguments });
        }
        out.string_start();
        out.string_part("{\"input\":\"");
        for c in self.arguments.chars() {
            let mut memory = [0u8; 16];
            let mut sink = Sink::new(&mut memory);
            Writer::new(&mut sink).string_part(c.encode_utf8(&mut [0; 4]));
            out.string_part(sink.finish_cut());
        }
        out.string_part("\"}");
        out.string_end();
    }
}
