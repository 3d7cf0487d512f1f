//! The inputs.

use std::path::Path;

/// At least 64 kB of a `tools/list` result without blanks, as servers send it; and where it comes from.
pub(crate) fn tools_list() -> (String, &'static str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mcp-tools");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    let recorded = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let mut tools: Vec<String> =
        recorded.map(|list| list.trim().trim_matches(['[', ']']).to_owned()).collect();
    let source = if tools.is_empty() { "made up" } else { "recorded from public MCP servers" };
    if tools.is_empty() {
        tools = (0..64).map(tool_json).collect();
    }
    let tools: Vec<String> = tools.iter().map(|tools| restyle(&format!("[{tools}]"), "")).collect();
    let mut text = String::from("{\"tools\":[");
    for tools in tools.iter().cycle() {
        text.push_str(&tools[1..tools.len() - 1]);
        if text.len() >= 64 * 1024 {
            break;
        }
        text.push(',');
    }
    text.push_str("]}");
    (text, source)
}

/// The same JSON with `blank` after every comma and colon and no blanks elsewhere.
pub(crate) fn restyle(text: &str, blank: &str) -> String {
    let (mut out, mut in_string, mut escaped) = (String::new(), false, false);
    for c in text.chars() {
        if in_string || !c.is_ascii_whitespace() {
            out.push(c);
        }
        if !in_string && matches!(c, ',' | ':') {
            out.push_str(blank);
        }
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    out
}

/// An object of 100 bytes.
pub(crate) const OBJECT: &str =
    r#"{"city":"Reykjavik","days":5,"unit":"celsius","note":"wind and rain from the west, by noon","ok":10}"#;

/// The schema of a tool with three properties.
pub(crate) const SCHEMA: &str = r#"{"type":"object","properties":{"city":{"type":"string","description":"City name, in English."},"days":{"type":"integer","minimum":1,"maximum":14},"unit":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city","days"],"additionalProperties":false}"#;

/// Arguments of about 100 bytes for [`SCHEMA`]: what they are, and whether they are valid.
pub(crate) const ARGUMENTS: &[(&str, &str, bool)] = &[
    (
        "as the schema has it",
        r#"{"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch","days":7,"unit":"celsius"}"#,
        true,
    ),
    (
        "pretty-printed",
        "{\n  \"city\": \"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch\",\n  \"days\": 7,\n  \"unit\": \"celsius\"\n}",
        true,
    ),
    (
        "reordered",
        r#"{"unit":"celsius","days":7,"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"}"#,
        true,
    ),
    (
        "escaped",
        r#"{"c\u0069ty":"Llanfairpwllgwyngyll\n\"gogerychwyrndrobwllllantysiliogogogoch\"","days":7,"unit":"\u0063elsius"}"#,
        true,
    ),
    (
        "invalid",
        r#"{"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch","days":70,"unit":"kelvin"}"#,
        false,
    ),
];

/// A reply with one call of the tool at `index`.
pub(crate) fn openai_reply(index: usize) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1783375763,"model":"gpt-4o","choices":[{{"index":0,"message":{{"role":"assistant","content":null,"refusal":null,"tool_calls":[{{"id":"call_J3ajtA7qivswzXp8","type":"function","function":{{"name":"{}","arguments":"{{\"city\":\"Oslo\",\"days\":3,\"unit\":\"celsius\"}}"}}}}]}},"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":82,"completion_tokens":17,"total_tokens":99}}}}"#,
        tool_name(index)
    )
}

/// A reply with one call of the tool at `index`.
pub(crate) fn anthropic_reply(index: usize) -> String {
    format!(
        r#"{{"id":"msg_01VWoy28sUMKXEpb","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"Let me look that up."}},{{"type":"tool_use","id":"toolu_01A09q90qw90lq91","name":"{}","input":{{"city":"Oslo","days":3,"unit":"celsius"}}}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":82,"output_tokens":17}}}}"#,
        tool_name(index)
    )
}

/// The name of the tool at `index`.
pub(crate) fn tool_name(index: usize) -> String {
    format!("{}_{}_{index}", VERBS[index % VERBS.len()], NOUNS[index / VERBS.len() % NOUNS.len()])
}

/// What the tool at `index` does.
pub(crate) fn tool_description(index: usize) -> String {
    format!(
        "Asks the {} of station {index} and answers in one line. Fails when it is switched off.",
        NOUNS[index % NOUNS.len()]
    )
}

/// A tool as a server lists it, with descriptions of the usual length.
fn tool_json(index: usize) -> String {
    let (name, description) = (tool_name(index), tool_description(index));
    let advice =
        "Use this only when the user asks for it, and never twice in one turn. Values are in SI units.";
    let schema = SCHEMA
        .replace("City name, in English.", "City name, in English, as it stands on the list of stations.");
    format!(
        r#"{{"name":"{name}","description":"{description} {advice}","inputSchema":{schema},"annotations":{{"readOnlyHint":true}}}}"#
    )
}

/// The contents of 32 blocks of context: a few of them long.
pub(crate) fn context_blocks() -> Vec<String> {
    let sentence = "The user asked about the weather in Oslo, and whether to take an umbrella. ";
    (0..32).map(|index| format!("{}{index}", sentence.repeat(1 + index * 7 % 11))).collect()
}

const VERBS: &[&str] = &["get", "set", "list", "find", "read", "check", "plan", "stop"];
const NOUNS: &[&str] = &["weather", "lamp", "heater", "door_lock", "camera", "schedule", "energy_meter"];
