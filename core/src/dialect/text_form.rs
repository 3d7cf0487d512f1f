//! Calls in plain text: what models write whose server does not read their calls for them.
//!
//! A [`TextForm`] says how a model marks a call; a [`Scanner`] finds the calls in a text that is whole or still
//! grows, and both see the same. Nothing that was meant as a call is lost: one whose JSON is broken is a call
//! with the arguments that stand there, which are refused when they are read; one that the text ends in is
//! marked as cut off. Strings are followed, so that a tag inside an argument ends nothing.

pub(crate) use super::text_call::{ARGS, ID, Piece, TextCall};
use super::text_call::{is_blank, is_call, named, read_call, unreadable};
use super::{Finish, Item};

/// How a model writes calls; the text of a reply is not JSON.
#[derive(Debug)]
pub(crate) struct TextForm {
    /// What begins a call, or several.
    pub(crate) open: &'static str,
    /// How calls stand after it.
    pub(crate) body: Body,
    /// What ends a turn, and is no text.
    pub(crate) ends: &'static [&'static str],
    /// What encloses the model's thinking; nothing in it is a call.
    pub(crate) think: Option<[&'static str; 2]>,
    /// What encloses the model's turn.
    pub(crate) turn: [&'static str; 2],
    /// How what has a meaning to the template begins. None of it is let through in a result, so that a result
    /// cannot end its section: a space, or in JSON an escape, parts its first character from the rest.
    pub(crate) guard: &'static [&'static str],
}

/// How calls stand in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// An object, and this tag after it.
    Closed(&'static str),
    /// A list of objects; or a name, [`ID`] and an id or nothing, [`ARGS`], and the object of arguments.
    Listed,
    /// Objects with semicolons or blanks between them, which may also begin the text.
    Bare,
}

/// What comes next in a text, and how many bytes it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'t> {
    /// Text for the user.
    Text(usize),
    /// What the model thinks.
    Reasoning(usize),
    /// A mark without which what comes after it would be something else.
    Mark(usize),
    /// Blanks and commas between calls, and the end of the turn.
    Between(usize),
    /// A call with its marks.
    Call(usize, TextCall<'t>),
    /// More has to come first; or nothing comes any more.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Where an object would be a call.
    Start,
    /// In text.
    Text,
    /// In thinking.
    Think,
    /// At the opening of a call.
    Call,
    /// In a list of calls.
    List,
    /// After a call.
    After,
}

/// Finds the calls in a text; see the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner {
    form: &'static TextForm,
    state: State,
    /// The opening has been met.
    tagged: bool,
    /// Where in the call that is being read the scan goes on; where its object begins; how deep it is.
    at: usize,
    object: usize,
    depth: usize,
    inside: bool,
    escaped: bool,
    /// The first closing tag that stands in a string.
    first: Option<usize>,
    /// Strings are not followed any more, since one did not end.
    naive: bool,
}

impl Scanner {
    pub(crate) fn new(form: &'static TextForm) -> Self {
        let state = if form.body == Body::Bare { State::Start } else { State::Text };
        Scanner {
            form,
            state,
            tagged: false,
            at: 0,
            object: 0,
            depth: 0,
            inside: false,
            escaped: false,
            first: None,
            naive: false,
        }
    }

    /// What `rest` begins with: all of the text after the last step, or, unless `whole`, what has come of it.
    pub(crate) fn next<'t>(&mut self, rest: &'t str, whole: bool) -> Step<'t> {
        loop {
            let state = self.state;
            let step = match state {
                State::Text => self.text(rest, whole),
                State::Think => self.think(rest, whole),
                State::Start => self.start(rest, whole),
                State::List => self.list(rest, whole),
                State::After => self.after(rest),
                State::Call => match self.form.body {
                    Body::Closed(close) => Some(self.closed(close, rest, whole)),
                    _ => Some(self.listed(rest, whole)),
                },
            };
            match step {
                Some(step) => return step,
                None if self.state == state => return Step::More,
                None => {}
            }
        }
    }

    /// Whether the text ended inside a list of calls, or in thinking.
    fn is_open(&self) -> bool {
        matches!(self.state, State::List | State::Think)
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        (self.at, self.object, self.depth) = (0, 0, 0);
        (self.inside, self.escaped, self.first) = (false, false, None);
    }

    fn call<'t>(&mut self, len: usize, call: TextCall<'t>) -> Option<Step<'t>> {
        self.enter(if self.state == State::List { State::List } else { State::After });
        Some(Step::Call(len, call))
    }

    fn text<'t>(&mut self, rest: &'t str, whole: bool) -> Option<Step<'t>> {
        let think = self.form.think.map(|[open, _]| open);
        let (at, token) = find(rest, self.tokens().chain(think), whole);
        if at > 0 {
            return Some(Step::Text(at));
        }
        let token = token?;
        if Some(token) == think {
            self.enter(State::Think);
            return Some(Step::Mark(token.len()));
        }
        if token != self.form.open {
            return Some(Step::Between(token.len()));
        }
        self.tagged = true;
        if self.form.body == Body::Bare {
            self.enter(State::Start);
            return Some(Step::Mark(token.len()));
        }
        self.enter(State::Call);
        None
    }

    /// Thinking goes on to its end, or to that of the turn.
    fn think<'t>(&mut self, rest: &'t str, whole: bool) -> Option<Step<'t>> {
        let close = self.form.think.map(|[_, close]| close);
        let (at, token) = find(rest, self.form.ends.iter().copied().chain(close), whole);
        if at > 0 {
            return Some(Step::Reasoning(at));
        }
        let token = token?;
        self.enter(State::Text);
        Some(Step::Mark(token.len()))
    }

    /// The opening, and the ends of a turn.
    fn tokens(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        core::iter::once(self.form.open).chain(self.form.ends.iter().copied())
    }

    fn after<'t>(&mut self, rest: &'t str) -> Option<Step<'t>> {
        let bare = self.form.body == Body::Bare;
        let separators = |c: char| is_blank(c) || bare && matches!(c, ';' | ',');
        let skipped = rest.len() - rest.trim_start_matches(separators).len();
        if skipped > 0 {
            return Some(Step::Between(skipped));
        }
        if !rest.is_empty() {
            self.enter(if bare && rest.starts_with('{') { State::Start } else { State::Text });
        }
        None
    }

    fn start<'t>(&mut self, rest: &'t str, whole: bool) -> Option<Step<'t>> {
        let body = rest.trim_start_matches(is_blank);
        let blanks = rest.len() - body.len();
        if body.starts_with('{') {
            if blanks > 0 {
                return Some(Step::Between(blanks));
            }
            let end = self.object_end(rest);
            if end.is_none() && !whole {
                return None;
            }
            let len = end.unwrap_or(rest.len());
            let body = rest.get(..len).unwrap_or_default();
            if self.tagged || is_call(body, end.is_none()) {
                return self
                    .call(len, TextCall { incomplete: end.is_none(), ..read_call(body, end.is_none()) });
            }
            self.enter(State::Text);
            return Some(Step::Text(len));
        }
        if body.is_empty() && !whole {
            return None;
        }
        if !self.tagged {
            self.enter(State::Text);
            return None;
        }
        // Something else after the mark of a call.
        let tail = rest.get(self.at..).unwrap_or_default();
        let (at, token) = find(tail, self.form.ends.iter().copied(), whole);
        let at = self.at + at;
        if token.is_none() && !whole {
            self.at = at;
            return None;
        }
        let written = rest.get(..at).unwrap_or_default().trim_matches(is_blank);
        self.tagged = false;
        let call = TextCall { incomplete: token.is_none(), ..unreadable(written) };
        self.call(at + token.map_or(0, str::len), call)
    }

    fn list<'t>(&mut self, rest: &'t str, whole: bool) -> Option<Step<'t>> {
        let skipped = rest.len() - rest.trim_start_matches(|c| is_blank(c) || c == ',').len();
        if skipped > 0 {
            return Some(Step::Between(skipped));
        }
        match rest.as_bytes() {
            [] => None,
            [b']', ..] => {
                self.enter(State::After);
                Some(Step::Mark(1))
            }
            [b'{', ..] => {
                let end = self.object_end(rest);
                if end.is_none() && !whole {
                    return None;
                }
                let len = end.unwrap_or(rest.len());
                let body = rest.get(..len).unwrap_or_default();
                self.call(len, TextCall { incomplete: end.is_none(), ..read_call(body, end.is_none()) })
            }
            _ => self.other(rest, whole),
        }
    }

    /// What is no object in a list of calls: the end of the turn, the next opening, or a call that cannot be
    /// read.
    fn other<'t>(&mut self, rest: &'t str, whole: bool) -> Option<Step<'t>> {
        let (at, token) = find(rest, self.tokens().chain(["{", "]"]), whole);
        if token.is_none() && !whole {
            return None;
        }
        match token.filter(|_| at == 0) {
            None => {
                let written = rest.get(..at).unwrap_or_default().trim_matches(is_blank);
                self.call(at, TextCall { incomplete: token.is_none(), ..unreadable(written) })
            }
            Some(token) if token == self.form.open => {
                self.enter(State::Call);
                None
            }
            Some(end) => {
                self.enter(State::Text);
                Some(Step::Mark(end.len()))
            }
        }
    }

    /// A call between tags, at the opening one. The end of the turn ends it too.
    fn closed<'t>(&mut self, close: &str, rest: &'t str, whole: bool) -> Step<'t> {
        let open = self.form.open.len();
        self.at = self.at.max(open);
        let ends = core::iter::once(close).chain(self.form.ends.iter().copied());
        let (mut end, mut mark) = (None, close);
        while let Some(byte) = rest.as_bytes().get(self.at) {
            if *byte == b'<' {
                let tail = rest.get(self.at..).unwrap_or_default();
                if let Some(token) = ends.clone().find(|token| tail.starts_with(token)) {
                    if !self.inside || self.naive {
                        (end, mark) = (Some(self.at), token);
                        break;
                    }
                    if token == close {
                        self.first = self.first.or(Some(self.at));
                    }
                } else if !whole && ends.clone().any(|token| token.starts_with(tail)) {
                    return Step::More;
                }
            }
            self.follow(*byte);
            self.at += 1;
        }
        if end.is_none() && !whole {
            return Step::More;
        }
        if end.is_none() && self.first.is_some() {
            self.naive = true;
            end = self.first;
        }
        let body = rest.get(open..end.unwrap_or(rest.len())).unwrap_or_default();
        let body = if end.is_none() { spoken(self.form, body) } else { body }.trim_matches(is_blank);
        let call = TextCall { incomplete: end.is_none(), ..read_call(body, end.is_none()) };
        self.enter(State::After);
        Step::Call(end.map_or(rest.len(), |end| end + mark.len()), call)
    }

    /// A list, or a name and its arguments, at the opening.
    fn listed<'t>(&mut self, rest: &'t str, whole: bool) -> Step<'t> {
        let open = self.form.open.len();
        let after = rest.get(open..).unwrap_or_default();
        let body = after.trim_start_matches(is_blank);
        let start = rest.len() - body.len();
        if body.starts_with('[') {
            self.enter(State::List);
            return Step::Mark(start + 1);
        }
        let header = |to: usize| rest.get(start..to).unwrap_or_default();
        if self.object == 0 {
            let from = self.at.max(start);
            let tail = rest.get(from..).unwrap_or_default();
            let (at, token) = find(tail, self.tokens().chain(["{"]), whole);
            self.at = from + at;
            match token {
                Some("{") => self.object = self.at,
                None if !whole => return Step::More,
                token => {
                    let call = TextCall { incomplete: token.is_none(), ..named(header(self.at), None) };
                    let end = token.filter(|token| *token != self.form.open);
                    let len = self.at + end.map_or(0, str::len);
                    self.enter(State::After);
                    return Step::Call(len, call);
                }
            }
        }
        let end = self.object_end(rest);
        if end.is_none() && !whole {
            return Step::More;
        }
        let arguments = rest.get(self.object..end.unwrap_or(rest.len()));
        let call = TextCall { incomplete: end.is_none(), ..named(header(self.object), arguments) };
        self.enter(State::After);
        Step::Call(end.unwrap_or(rest.len()), call)
    }

    /// Goes on to the end of the object that begins at `self.object`.
    fn object_end(&mut self, rest: &str) -> Option<usize> {
        self.at = self.at.max(self.object);
        while let Some(byte) = rest.as_bytes().get(self.at) {
            self.at += 1;
            match byte {
                b'{' if !self.inside => self.depth += 1,
                b'}' if !self.inside => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(self.at);
                    }
                }
                byte => self.follow(*byte),
            }
        }
        None
    }

    /// Follows the strings of JSON. No string goes on after the end of a line.
    fn follow(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = self.inside,
            b'"' => self.inside = !self.inside,
            0..0x20 => self.inside = false,
            _ => {}
        }
    }
}

/// Hands each part of a reply to `visit` in order; gives why it ended.
pub(super) fn read<'r>(form: &'static TextForm, text: &'r str, visit: &mut dyn FnMut(Item<'r>)) -> Finish {
    let mut scanner = Scanner::new(form);
    let (mut rest, mut finish) = (text, Finish::Complete);
    loop {
        let len = match scanner.next(rest, true) {
            Step::Text(len) => {
                visit(Item::Plain(rest.get(..len).unwrap_or_default()));
                len
            }
            Step::Mark(len) | Step::Between(len) | Step::Reasoning(len) => len,
            Step::Call(len, call) => {
                if call.incomplete {
                    finish = Finish::Truncated;
                }
                visit(Item::TextCall(call));
                len
            }
            Step::More => break,
        };
        rest = rest.get(len..).unwrap_or_default();
    }
    if scanner.is_open() { Finish::Truncated } else { finish }
}

/// The model's own text, without what ends a turn.
pub(super) fn spoken<'r>(form: &TextForm, text: &'r str) -> &'r str {
    let end = form.ends.iter().find_map(|end| text.trim_end_matches(is_blank).strip_suffix(end));
    end.unwrap_or(text)
}

impl TextForm {
    /// Whether something with a meaning to the template stands in a text.
    pub(crate) fn guards(&self, text: &str) -> bool {
        self.guard.iter().any(|token| text.contains(token))
    }
}

/// Where the first of some tokens stands, and which; or where one may have begun, unless `whole`; or the end.
fn find(
    rest: &str,
    tokens: impl Iterator<Item = &'static str> + Clone,
    whole: bool,
) -> (usize, Option<&'static str>) {
    for (at, byte) in rest.bytes().enumerate() {
        if !matches!(byte, b'<' | b'[' | b']' | b'{') {
            continue;
        }
        let tail = rest.get(at..).unwrap_or_default();
        if let Some(token) = tokens.clone().find(|token| tail.starts_with(token)) {
            return (at, Some(token));
        }
        if !whole && tokens.clone().any(|token| token.starts_with(tail)) {
            return (at, None);
        }
    }
    (rest.len(), None)
}
