//! Tools out of bytes, told to every provider.

use serde_json::Value as Json;
use toolcore::dialect::{NoteKind, RenderErrorKind};
use toolcore::prelude::*;
use toolcore::schema::ChangeKind;

use super::generate::generated;
use super::text;

/// A tool with a schema, out of bytes or as it stands, in every dialect, strict or not: refused with a reason, or JSON in
/// which each part of the schema stands where it was unless it was told that something was done there.
pub fn render(input: &[u8]) {
    let Some((head, rest)) = input.split_first() else { return };
    let schema = if head & 1 == 0 { generated(rest).root.to_string() } else { text(rest).to_owned() };
    let mut memory =
        RegistryMemory::<fn(&Call<'_>, &mut ToolResult<'_>) -> Result<(), Failure>, 1, 16384>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let strict = head & 2 != 0;
    let tool = ToolDefinition {
        name: "f",
        parameters: Parameters::Schema(&schema),
        strict,
        ..ToolDefinition::default()
    };
    if tools.add(&tool, |_, _| Ok(())).is_err() {
        return;
    }
    for dialect in Dialect::ALL {
        told(&tools, dialect, &schema);
    }
}

fn told<H>(tools: &Registry<'_, H>, dialect: Dialect, schema: &str) {
    let mut out = vec![0; 64 * 1024 + 64 * schema.len()];
    let mut sink = Sink::new(&mut out);
    let mut notes = Vec::new();
    let options = ToolsOptions::default();
    let rendered = render_tools(tools, dialect, &options, &mut sink, &mut |note| {
        let mut path = [0; 8192];
        let mut sink = Sink::new(&mut path);
        note.write_path(&mut sink);
        assert!(!super::written(|sink| note.write_message(sink)).is_empty());
        let kind = match note.kind {
            NoteKind::Schema(change) => Some(change.kind),
            _ => None,
        };
        notes.push((sink.finish_cut().to_owned(), kind));
    });
    if let Err(error) = rendered {
        assert!(!matches!(error.kind, RenderErrorKind::NoSpace(_)), "{}: {error}: {schema}", dialect.name());
        return;
    }
    let text = sink.finish().unwrap();
    if dialect.is_text() {
        return;
    }
    let request: Json = match serde_json::from_str(text) {
        Ok(request) => request,
        // It reads numbers as doubles.
        Err(error) if error.to_string().starts_with("number out of range") => return,
        Err(error) => panic!("{error}: {text}"),
    };
    let place = match dialect {
        Dialect::OpenAiResponses => "/tools/0/parameters",
        Dialect::Anthropic => "/tools/0/input_schema",
        Dialect::Gemini => "/tools/0/functionDeclarations/0/parametersJsonSchema",
        Dialect::GeminiSchema => "/tools/0/functionDeclarations/0/parameters",
        Dialect::Bedrock => "/toolConfig/tools/0/toolSpec/inputSchema/json",
        Dialect::Mcp => "/tools/0/inputSchema",
        _ => "/tools/0/function/parameters",
    };
    let Ok(original) = serde_json::from_str::<Json>(schema) else { return };
    let shown = request.pointer(place);
    let Some(shown) = shown else {
        // A tool without parameters may be told without a schema, but not silently with one.
        let empty = |name: &str| {
            original.get(name).is_none_or(|list| list.as_object().is_some_and(|list| list.is_empty()))
        };
        assert!(
            original.as_object().is_none_or(|_| empty("properties")) || !notes.is_empty(),
            "{}: {text}",
            dialect.name()
        );
        return;
    };
    let open: Vec<String> = notes.iter().map(|(path, kind)| reach(path, *kind)).collect();
    let mut path = String::new();
    stays(&original, shown, &open, &mut path, &|path| {
        panic!("{}: {path} of {schema} became {shown}, told {notes:?}", dialect.name())
    });
}

/// The place in the schema below which a change can move things.
fn reach(path: &str, kind: Option<ChangeKind>) -> String {
    match kind {
        Some(
            ChangeKind::Dropped
            | ChangeKind::Moved
            | ChangeKind::Closed
            | ChangeKind::PropertiesAdded
            | ChangeKind::TypeAdded
            | ChangeKind::ConstToEnum
            | ChangeKind::Renamed,
        ) => path.to_owned(),
        // What is required, and the names of what is left out, stand in the object around it.
        Some(ChangeKind::MadeRequired | ChangeKind::NeverRemoved | ChangeKind::NameRefused) => {
            up(up(path)).to_owned()
        }
        _ => up(path).to_owned(),
    }
}

fn up(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(up, _)| up)
}

/// Whether each leaf of `original` is in `shown`, unless its place is below one of `open`.
fn stays(original: &Json, shown: &Json, open: &[String], path: &mut String, fail: &dyn Fn(&str)) {
    let below = |path: &str, open: &str| {
        path.strip_prefix(open).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if open.iter().any(|open| below(path, open)) {
        return;
    }
    let len = path.len();
    let mut each = |key: &str, value: &Json, shown: Option<&Json>| {
        path.push('/');
        path.push_str(&key.replace('~', "~0").replace('/', "~1"));
        match shown {
            Some(shown) => stays(value, shown, open, path, fail),
            None if open.iter().any(|open| below(path, open) || below(open, path)) => {}
            None => fail(path),
        }
        path.truncate(len);
    };
    match (original, shown) {
        (Json::Object(members), Json::Object(shown)) => {
            members.iter().for_each(|(key, value)| each(key, value, shown.get(key)));
        }
        // One type, named several times.
        (Json::Array(items), Json::String(shown))
            if items
                .iter()
                .all(|item| item.as_str().is_some_and(|item| item.eq_ignore_ascii_case(shown))) => {}
        (Json::Array(items), Json::Array(shown)) if !items.iter().all(|item| item.is_string()) => {
            items.iter().enumerate().for_each(|(at, value)| each(&at.to_string(), value, shown.get(at)));
        }
        (Json::Array(items), Json::Array(shown)) => {
            // Gemini allows names of letters, digits and underscores only. That of a property is told; one that is
            // required and no property goes without a word.
            let plain = |item: &Json| {
                let name = item.as_str().unwrap();
                let first = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
                first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            let gone = |item: &&Json| !shown.contains(item) && (plain(item) || !path.ends_with("/required"));
            let all = !items.iter().any(|item| gone(&item));
            if !all && !open.iter().any(|open| below(open, path)) {
                fail(path);
            }
        }
        (Json::String(text), Json::String(shown)) => {
            let description = path.ends_with("/description") && shown.starts_with(text.as_str());
            if text != shown && !description && !text.eq_ignore_ascii_case(shown) {
                fail(path);
            }
        }
        (Json::Bool(true), Json::Object(shown)) if shown.is_empty() => {}
        (original, shown) if original != shown => fail(path),
        _ => {}
    }
}
