//! The inputs.

use std::path::Path;

/// At least 64 kB of a `tools/list` result without blanks, as servers send it; and where it comes from.
pub(crate) fn tools_list() -> (String, &'static str) {
    let recorded = recorded_tools().into_iter();
    let mut tools: Vec<String> =
        recorded.map(|(_, list)| list.trim().trim_matches(['[', ']']).to_owned()).collect();
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

/// The tools of public MCP servers, where they are recorded: the server and the array of its tools.
pub(crate) fn recorded_tools() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mcp-tools");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect()
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

/// What is checked: arguments against a schema.
#[derive(Clone, Copy)]
pub(crate) struct Checked {
    pub(crate) title: &'static str,
    pub(crate) schema: &'static str,
    pub(crate) text: &'static str,
    pub(crate) valid: bool,
}

/// 100 bytes of arguments.
pub(crate) const COMPACT: Checked = Checked {
    title: "check 100 bytes of arguments, as the schema has it",
    schema: SCHEMA,
    text: r#"{"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, GBR","days":7,"unit":"celsius"}"#,
    valid: true,
};
/// The same arguments, written in other ways.
pub(crate) const PRETTY: Checked = Checked {
    title: "check the same, pretty-printed",
    text: "{\n  \"city\": \"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, GBR\",\n  \"days\": 7,\n  \"unit\": \"celsius\"\n}",
    ..COMPACT
};
pub(crate) const REORDERED: Checked = Checked {
    title: "check the same, reordered",
    text: r#"{"unit":"celsius","days":7,"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, GBR"}"#,
    ..COMPACT
};
pub(crate) const ESCAPED: Checked = Checked {
    title: "check the same, a key and two values escaped",
    text: r#"{"c\u0069ty":"Llanfairpwllgwyngyll\n\"gogerychwyrndrobwllllantysiliogogogoch\", GBR","days":7,"unit":"\u0063elsius"}"#,
    ..COMPACT
};
pub(crate) const NOT_ASCII: Checked = Checked {
    title: "check the same, not ASCII",
    text: r#"{"city":"Llanfairpwllgwyngyllgogerychŵyrndrobwllllantysiliogogogoch, GBR","days":7,"unit":"celsius"}"#,
    ..COMPACT
};
/// Arguments that are not valid.
pub(crate) const ONE_PROBLEM: Checked = Checked {
    title: "check the same with a problem",
    text: r#"{"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, GBR","days":70,"unit":"celsius"}"#,
    valid: false,
    ..COMPACT
};
pub(crate) const PROBLEMS: Checked = Checked {
    title: "check the same with five problems",
    text: r#"{"town":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch","days":"7","unit":"kelvin","on":1}"#,
    valid: false,
    ..COMPACT
};

/// Arguments of the kinds that tools with larger schemas take.
pub(crate) const ANY_OF: Checked = Checked {
    title: "check alternatives (anyOf)",
    schema: r#"{"type":"object","properties":{"where":{"anyOf":[{"type":"object","properties":{"city":{"type":"string"},"country":{"type":"string"}},"required":["city"],"additionalProperties":false},{"type":"object","properties":{"lat":{"type":"number","minimum":-90,"maximum":90},"lon":{"type":"number","minimum":-180,"maximum":180}},"required":["lat","lon"],"additionalProperties":false}]},"days":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["where"]}"#,
    text: r#"{"where":{"lat":59.91,"lon":10.75},"days":null}"#,
    valid: true,
};
pub(crate) const ONE_OF: Checked = Checked {
    title: "check alternatives that a constant tells apart (oneOf)",
    schema: r#"{"type":"object","properties":{"action":{"oneOf":[{"type":"object","properties":{"kind":{"const":"move"},"x":{"type":"integer"},"y":{"type":"integer"}},"required":["kind","x","y"]},{"type":"object","properties":{"kind":{"const":"say"},"text":{"type":"string"}},"required":["kind","text"]},{"type":"object","properties":{"kind":{"const":"wait"},"seconds":{"type":"integer","minimum":0}},"required":["kind","seconds"]}]}},"required":["action"]}"#,
    text: r#"{"action":{"kind":"say","text":"Good morning, and welcome back."}}"#,
    valid: true,
};
pub(crate) const PATTERNS: Checked = Checked {
    title: "check patterns (pattern, patternProperties)",
    schema: r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[a-z]{2}-[0-9]{4}$"}},"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#,
    text: r#"{"id":"ab-1234","x-note":"by hand","x-source":"field"}"#,
    valid: true,
};
pub(crate) const REFS: Checked = Checked {
    title: "check references (a tree, $ref)",
    schema: r##"{"type":"object","properties":{"tree":{"$ref":"#/$defs/node"}},"required":["tree"],"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}}}"##,
    text: r#"{"tree":{"name":"a","children":[{"name":"b"},{"name":"c","children":[{"name":"d"}]}]}}"#,
    valid: true,
};
pub(crate) const UNEVALUATED: Checked = Checked {
    title: "check what nothing looked at (unevaluatedProperties)",
    schema: r##"{"type":"object","allOf":[{"$ref":"#/$defs/base"}],"properties":{"days":{"type":"integer"}},"unevaluatedProperties":false,"$defs":{"base":{"properties":{"city":{"type":"string"},"unit":{"enum":["celsius","fahrenheit"]}},"required":["city"]}}}"##,
    text: r#"{"city":"Oslo","unit":"celsius","days":3}"#,
    valid: true,
};
pub(crate) const UNIQUE: Checked = Checked {
    title: "check a list of tags (uniqueItems)",
    schema: r#"{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true,"maxItems":8}}}"#,
    text: r#"{"tags":["red","green","blue","yellow"]}"#,
    valid: true,
};

/// All that is checked.
pub(crate) const CHECKED: &[Checked] = &[
    COMPACT,
    PRETTY,
    REORDERED,
    ESCAPED,
    NOT_ASCII,
    ONE_PROBLEM,
    PROBLEMS,
    ANY_OF,
    ONE_OF,
    PATTERNS,
    REFS,
    UNEVALUATED,
    UNIQUE,
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
