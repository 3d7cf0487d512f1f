//! Google Gemini, `generateContent`. Source: the models of the provider's SDK; names in JSON are camelCase.
//!
//! Parameters go out as JSON Schema (`parametersJsonSchema`), or in the older form (`parameters`) for models
//! that lack it. A call may come without an id; then none is sent back, and the result is matched by its
//! name and order. `finishReason` is `STOP` for calls too.

use super::change::{CallParts, Change, Field, Member, Shape, Show, index};
use super::native::{NativeForm, NativeKind};
use super::results::{Answered, Budget, write_part};
use super::tools::{Choice, Note, WireRequest, WireTool};
use super::turn::Turn;
use super::{
    ChoiceWords, Facts, Finish, Item, NameRule, ReplayError, ReplyError, Wire, base64, is, list, member,
    name_and_description, provider_error,
};
use crate::json::{Kind, Reader, Value, Writer};
use crate::result::{Part, ToolResult};
use crate::schema::{Subset, subset};

pub(super) struct Gemini {
    /// Parameters in the older form.
    pub(super) older: bool,
}

const NATIVE: [NativeForm; 6] = [
    NativeForm { kind: NativeKind::WebSearch, member: "googleSearch", fixed: "{}", needs: "" },
    NativeForm { kind: NativeKind::GoogleSearch, member: "googleSearch", fixed: "{}", needs: "" },
    NativeForm { kind: NativeKind::CodeExecution, member: "codeExecution", fixed: "{}", needs: "" },
    NativeForm { kind: NativeKind::GoogleMaps, member: "googleMaps", fixed: "{}", needs: "" },
    NativeForm {
        kind: NativeKind::FileSearch,
        member: "fileSearch",
        fixed: "{}",
        needs: "fileSearchStoreNames",
    },
    NativeForm {
        kind: NativeKind::ComputerUse,
        member: "computerUse",
        fixed: r#"{"environment":"ENVIRONMENT_BROWSER"}"#,
        needs: "",
    },
];

/// Why a reply ends before the model was done. Three of them do not say more than that it is no natural end.
const TRUNCATED: [&str; 4] = ["MAX_TOKENS", "OTHER", "IMAGE_OTHER", "NO_IMAGE"];

/// Why a reply holds no call that could be run. `UNEXPECTED_TOOL_CALL` is among them: the tool may be one that
/// the host has, but did not offer in this request. (Of one that it has not, the model is told as ever.)
const MALFORMED: [&str; 5] = [
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
];

const REFUSED: [&str; 12] = [
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "MODEL_ARMOR",
];

const TEXT: u8 = 0;
const THOUGHT: u8 = 1;

/// What of a part comes in pieces: text, and the text of thoughts.
const FIELDS: [Field; 2] = [
    Field { path: "/text", show: Show::Text, empty: r#"{"text":""}"# },
    Field { path: "/text", show: Show::Reasoning, empty: r#"{"text":"","thought":true}"# },
];

/// What is read of a part if only calls are kept. Text comes in pieces of any size, for which there may be no
/// room.
const CALL_PART: [Member; 2] = [Member::whole("functionCall"), Member::whole("function_call")];

/// What is read of a candidate, given its content.
const fn candidate(content: &'static [Member]) -> [Member; 3] {
    [Member::whole("index"), Member { key: "content", inner: content }, Member::whole("finishReason")]
}

/// What is read of an event, given what of a candidate.
const fn event_members(candidate: &'static [Member]) -> [Member; 3] {
    const FEEDBACK: [Member; 1] = [Member::whole("blockReason")];
    [
        Member { key: "candidates", inner: candidate },
        Member { key: "promptFeedback", inner: &FEEDBACK },
        Member::whole("error"),
    ]
}

impl Wire for Gemini {
    fn facts(&self) -> Facts {
        Facts {
            choice: ChoiceWords { parallel: false, ..ChoiceWords::ALL },
            needs_ids: false,
            max_tools: 512,
            ..Facts::PROVIDER
        }
    }

    fn names(&self) -> NameRule {
        NameRule { max: 128, dots: true, letter_first: true }
    }

    fn strict(&self) -> Option<&'static Subset> {
        None
    }

    fn native(&self) -> &'static [NativeForm] {
        &NATIVE
    }

    fn tools_start(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        out.key("tools");
        out.array_start();
        if request.any {
            out.object_start();
            out.key("functionDeclarations");
            out.array_start();
        }
    }

    fn tool(&self, tool: &WireTool<'_>, notes: &mut dyn FnMut(Note<'_>), out: &mut Writer<'_, '_>) {
        out.object_start();
        name_and_description(tool.name, tool.info, out);
        let (key, output, subset) = if self.older {
            ("parameters", "response", &subset::GEMINI_SCHEMA)
        } else {
            ("parametersJsonSchema", "responseJsonSchema", &subset::GEMINI_JSON)
        };
        out.key(key);
        tool.write_schema(subset, out, notes);
        tool.write_output(output, subset, out, notes);
        out.object_end();
    }

    fn tools_end(&self, request: &WireRequest<'_>, out: &mut Writer<'_, '_>) {
        if request.any {
            out.array_end();
            out.object_end();
        }
        request.native().for_each(|native| native.write(out));
        out.array_end();
        let Some(choice) = request.choice else { return };
        out.key("toolConfig");
        out.object_start();
        out.key("functionCallingConfig");
        out.object_start();
        let (mode, names) = match &choice {
            Choice::Auto => ("AUTO", &[][..]),
            Choice::None => ("NONE", &[][..]),
            Choice::Required => ("ANY", &[][..]),
            Choice::Tool(name) => ("ANY", core::slice::from_ref(name)),
            Choice::Allowed { names, required: true } => ("ANY", *names),
            Choice::Allowed { names, required: false } => ("VALIDATED", *names),
        };
        member("mode", mode, out);
        if !names.is_empty() {
            out.key("allowedFunctionNames");
            out.array_start();
            names.iter().for_each(|name| out.string(&request.wire_name(name)));
            out.array_end();
        }
        out.object_end();
        out.object_end();
    }

    /// Reads a whole response (its first candidate) or one content of the model. Thoughts and what the
    /// provider ran itself are passed over.
    fn reply<'r>(
        &self,
        reader: &mut Reader<'r>,
        visit: &mut dyn FnMut(Item<'r>),
    ) -> Result<Finish, ReplyError> {
        let (mut found, mut blocked, mut reason) = (false, false, None);
        let mut root = reader.members(&["error", "candidates", "parts", "promptFeedback"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                "promptFeedback" => {
                    let [why] = reader.pick(["blockReason"])?;
                    blocked = why.is_some_and(|why| !why.is_null());
                }
                "candidates" if !found => {
                    if !reader.elements()?.next(reader)? {
                        continue;
                    }
                    found = true;
                    let mut candidate = reader.members(&["content", "finishReason"])?;
                    while let Some(key) = candidate.next(reader)? {
                        if key == "finishReason" {
                            reason = Some(reader.skip_value()?);
                            continue;
                        }
                        let mut content = reader.members(&["parts"])?;
                        while content.next(reader)?.is_some() {
                            read_parts(reader, visit)?;
                        }
                    }
                }
                // A message alone.
                "parts" if !found => {
                    found = true;
                    read_parts(reader, visit)?;
                }
                _ => {}
            }
        }
        if !found {
            let shape = ReplyError::Shape { expected: "candidates[0]" };
            return if blocked { Ok(Finish::Refused) } else { Err(shape) };
        }
        // What a stream puts in the place of the reason if the prompt was blocked.
        let blocked = reason.is_some_and(is_blocked);
        let reason = |names: &[&str]| names.iter().any(|name| is(reason, name));
        Ok(if reason(&TRUNCATED) {
            Finish::Truncated
        } else if reason(&MALFORMED) {
            Finish::Malformed
        } else if reason(&REFUSED) || blocked {
            Finish::Refused
        } else if reason(&["CONTINUATION"]) {
            Finish::Paused
        } else {
            Finish::Complete
        })
    }

    /// All parts go back as they came, each with its `thoughtSignature`. Empty text goes only with one: the
    /// provider refuses it without.
    fn replay<'r>(
        &self,
        root: Value<'r>,
        ids: &mut dyn FnMut() -> Option<&'r str>,
        out: &mut Writer<'_, '_>,
    ) -> Result<(), ReplayError> {
        let candidate = root.get("candidates").and_then(|candidates| candidates.item(0));
        let content = candidate.map_or(Some(root), |candidate| candidate.get("content"));
        let parts = content.and_then(|content| content.get("parts"));
        let parts = || parts.into_iter().flat_map(Value::items).filter(|part| !is_nothing(*part));
        if parts().next().is_none() {
            return Ok(());
        }
        out.object_start();
        member("role", "model", out);
        out.key("parts");
        out.array_start();
        parts().for_each(|part| write_replayed(part, ids, out));
        out.array_end();
        out.object_end();
        Ok(())
    }

    fn turn(&self, turn: &Turn<'_>, out: &mut Writer<'_, '_>) -> Result<(), ReplayError> {
        out.object_start();
        member("role", "model", out);
        out.key("parts");
        out.array_start();
        if !turn.text.is_empty() {
            out.object_start();
            member("text", turn.text, out);
            out.object_end();
        }
        turn.each(|call| {
            out.object_start();
            out.key("functionCall");
            out.object_start();
            if call.has_id {
                member("id", call.id, out);
            }
            member("name", call.name, out);
            out.key("args");
            call.write_object(out);
            out.object_end();
            out.object_end();
        });
        out.array_end();
        out.object_end();
        Ok(())
    }

    /// The reason is the `finishReason`; for a prompt that was blocked, the `promptFeedback`.
    #[cfg(feature = "stream")]
    fn stream(&self) -> Option<&'static Shape> {
        const SHAPE: Shape = Shape {
            head: r#"{"candidates":[{"content":{"role":"model""#,
            list: r#","parts":["#,
            tail: r#"]},"finishReason":"#,
            end: "}]}",
            members: &event_members(&candidate(&[Member::whole("parts")])),
            call_members: &event_members(&candidate(&[Member { key: "parts", inner: &CALL_PART }])),
            fields: &FIELDS,
            shown: Shape::shows_nothing,
            open_members: None,
            empty_call: "",
            call: |part| {
                let ReplyPart { call, .. } = read_part(part)?;
                Ok(call)
            },
        };
        Some(&SHAPE)
    }

    /// Each event is a response of its own, whose parts follow those before. Text without a signature is
    /// joined with the text before it; all else keeps its place.
    #[cfg(feature = "stream")]
    fn event<'e>(
        &self,
        reader: &mut Reader<'e>,
        visit: &mut dyn FnMut(Change<'e>),
    ) -> Result<(), ReplyError> {
        let mut root = reader.members(&["error", "candidates", "promptFeedback"])?;
        while let Some(key) = root.next(reader)? {
            match key {
                "error" => provider_error(reader)?,
                "candidates" => {
                    let mut candidates = reader.elements()?;
                    while candidates.next(reader)? {
                        read_candidate(reader, visit)?;
                    }
                }
                _ => {
                    let reason = reader.skip_value()?;
                    if is_blocked(reason) {
                        visit(Change::Finish { reason });
                    }
                }
            }
        }
        Ok(())
    }

    /// All results of a turn stand in one content.
    fn results_start(&self, bare: bool, out: &mut Writer<'_, '_>) {
        if !bare {
            out.array_start();
        }
        out.object_start();
        member("role", "user", out);
        out.key("parts");
        out.array_start();
    }

    /// A `functionResponse`, whose response is an object: `output` or `error`, and media beside it.
    fn result(
        &self,
        call: &Answered<'_>,
        result: &ToolResult<'_>,
        budget: &mut Budget,
        out: &mut Writer<'_, '_>,
    ) {
        out.object_start();
        out.key("functionResponse");
        out.object_start();
        if call.has_id {
            member("id", call.id, out);
        }
        member("name", call.name, out);
        out.key("response");
        out.object_start();
        out.key(if result.failed() { "error" } else { "output" });
        let mut media = [const { None }; crate::result::MAX_PARTS];
        for (place, part) in media.iter_mut().zip(result.parts()) {
            if let Part::Image { media_type, data } | Part::Audio { media_type, data } = part
                && budget.take_media(media_type, data)
            {
                *place = Some((media_type, data));
            }
        }
        // The others are the response; one of them stands alone.
        let others = || result.parts().zip(&media).filter(|(_, media)| media.is_none());
        let count = others().count();
        if count > 1 {
            out.array_start();
        }
        others().for_each(|(part, _)| write_value(&part, budget, out));
        if count > 1 {
            out.array_end();
        } else if count == 0 {
            out.string("");
        }
        out.object_end();
        if media.iter().any(Option::is_some) {
            out.key("parts");
            out.array_start();
            for (media_type, data) in media.into_iter().flatten() {
                out.object_start();
                out.key("inlineData");
                out.object_start();
                member("mimeType", media_type, out);
                out.key("data");
                base64(data, out);
                out.object_end();
                out.object_end();
            }
            out.array_end();
        }
        out.object_end();
        out.object_end();
    }

    fn results_end(&self, bare: bool, out: &mut Writer<'_, '_>) {
        out.array_end();
        out.object_end();
        if !bare {
            out.array_end();
        }
    }
}

/// Reads a part of a stream.
fn read_new_part<'e>(reader: &mut Reader<'e>, visit: &mut dyn FnMut(Change<'e>)) -> Result<(), ReplyError> {
    let start = reader.value_offset();
    let ReplyPart { text, thought, call } = read_part(reader)?;
    let part = reader.value_since(start);
    let field = if thought { THOUGHT } else { TEXT };
    match text.filter(|_| call.is_none()) {
        Some(piece) if part.entries().all(|(key, _)| key == "text" || key == "thought") => {
            visit(Change::Extend { field, piece });
        }
        text => {
            if let Some(piece) = text {
                visit(Change::Show { key: u32::MAX, field, piece });
            }
            visit(Change::Whole { item: part });
        }
    }
    Ok(())
}

/// Whether this feedback says that the prompt was blocked.
fn is_blocked(feedback: Value<'_>) -> bool {
    feedback.get("blockReason").is_some_and(|reason| !reason.is_null())
}

/// What is read of a part.
#[derive(Default)]
struct ReplyPart<'r> {
    text: Option<Value<'r>>,
    thought: bool,
    call: Option<CallParts<'r>>,
}

/// Reads a part.
fn read_part<'r>(reader: &mut Reader<'r>) -> Result<ReplyPart<'r>, ReplyError> {
    let mut part = ReplyPart::default();
    let mut members = reader.members(&["text", "thought", "functionCall", "function_call"])?;
    while let Some(key) = members.next(reader)? {
        match key {
            "text" => part.text = Some(reader.skip_value()?),
            "thought" => part.thought = reader.skip_value()?.as_bool() == Some(true),
            _ if reader.peek()? == Kind::Null => {}
            // The names of the provider's Python models, which would be passed over in silence.
            "function_call" => {
                return Err(ReplyError::Shape { expected: "functionCall in place of function_call" });
            }
            _ => {
                let [id, name, arguments, pieces, goes_on] =
                    reader.pick(["id", "name", "args", "partialArgs", "willContinue"])?;
                if pieces.is_some_and(|pieces| !pieces.is_null())
                    || goes_on.and_then(Value::as_bool) == Some(true)
                {
                    let expected = "args whole, without streamFunctionCallArguments";
                    return Err(ReplyError::Shape { expected });
                }
                part.call = Some(CallParts { id, name, arguments, ..CallParts::default() });
            }
        }
    }
    Ok(part)
}

/// Reads the parts of a reply.
fn read_parts<'r>(reader: &mut Reader<'r>, visit: &mut dyn FnMut(Item<'r>)) -> Result<(), ReplyError> {
    let mut parts = list(reader, "a list of parts")?;
    while parts.next(reader)? {
        let ReplyPart { text, thought, call } = read_part(reader)?;
        if let Some(call) = call {
            visit(Item::Call(call));
        } else if !thought {
            visit(Item::Text(text));
        }
    }
    Ok(())
}

/// Reads what is new of the first candidate; others are passed over.
fn read_candidate<'e>(reader: &mut Reader<'e>, visit: &mut dyn FnMut(Change<'e>)) -> Result<(), ReplyError> {
    let [number, content, reason] = reader.pick(["index", "content", "finishReason"])?;
    if index(number).is_some_and(|number| number != 0) {
        return Ok(());
    }
    if let Some(content) = content {
        let reader = &mut content.reader();
        let mut content = reader.members(&["parts"])?;
        while content.next(reader)?.is_some() {
            let mut parts = list(reader, "a list of parts")?;
            while parts.next(reader)? {
                read_new_part(reader, visit)?;
            }
        }
    }
    if let Some(reason) = reason {
        visit(Change::Finish { reason });
    }
    Ok(())
}

/// Writes a part as it came, a call of it with the id that goes out.
fn write_replayed<'r>(part: Value<'r>, ids: &mut dyn FnMut() -> Option<&'r str>, out: &mut Writer<'_, '_>) {
    let is_call = read_part(&mut part.reader()).is_ok_and(|part| part.call.is_some());
    let Some(id) = (if is_call { ids() } else { None }) else { return out.value(part) };
    out.object_start();
    for (key, value) in part.entries() {
        out.key_str(key);
        if key != "functionCall" {
            out.value(value);
            continue;
        }
        out.object_start();
        for (key, value) in value.entries() {
            out.key_str(key);
            if key == "id" { out.string(id) } else { out.value(value) }
        }
        out.object_end();
    }
    out.object_end();
}

/// Whether a part is empty text and nothing else.
fn is_nothing(part: Value<'_>) -> bool {
    let empty = part.get("text").is_some_and(|text| text.raw() == "\"\"");
    empty && part.entries().all(|(key, _)| key == "text" || key == "thought")
}

/// Writes text as a string, and JSON as it is where it need not be cut.
fn write_value(part: &Part<'_>, budget: &mut Budget, out: &mut Writer<'_, '_>) {
    match part {
        Part::Json(text) if budget.take_whole(text) => out.value(Value::from_checked(text)),
        part => write_part(part, budget, out),
    }
}
