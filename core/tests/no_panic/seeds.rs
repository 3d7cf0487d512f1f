//! Inputs to begin with: the few below and, where the folder is there, those of `../shared`.

use std::io::Write as _; // the runner hides what passing tests print
use std::path::Path;

use toolcore::dialect::Dialect;
use toolcore::schema::{CompileOptions, compile};

use super::properties::PROPERTIES;
use super::{INPUT_MAX, Random};

/// The seeds of each property, in the order of [`PROPERTIES`].
pub(crate) fn seeds() -> Vec<Vec<Vec<u8>>> {
    let mut texts: Vec<String> =
        REPLIES.iter().chain(SCHEMAS).chain(INSTANCES).map(|text| text.to_string()).collect();
    let mut replies = owned(REPLIES);
    let mut schemas = owned(SCHEMAS);
    let mut instances = owned(INSTANCES);
    let (mut pairs, mut patterns, mut formatted) = (Vec::new(), owned(PATTERNS), owned(FORMATTED));
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    if shared.is_dir() {
        for row in lines(&shared.join("cases/field-cases.jsonl")) {
            collect(&row["input"], &mut texts, &mut schemas, &mut instances);
            replies.push(row["input"].to_string());
        }
        for dialect in ["anthropic", "openai_chat", "gemini"] {
            let rows = lines(&shared.join(format!("data/traffic/{dialect}.jsonl")));
            replies.extend(rows.iter().map(|row| row["reply"].to_string()));
        }
        for tools in files(&shared.join("data/mcp-tools")) {
            let tools: serde_json::Value = serde_json::from_str(&tools).unwrap();
            collect(&tools, &mut texts, &mut schemas, &mut instances);
        }
        let suites = shared.join("data/json-schema-test-suite");
        let folders = ["draft2020-12", "draft7", "draft2020-12/optional/format", "draft7/optional/format"];
        for suite in folders.into_iter().flat_map(|folder| files(&suites.join(folder))) {
            let groups: Vec<serde_json::Value> = serde_json::from_str(&suite).unwrap();
            for group in groups {
                let tests = group["tests"].as_array().unwrap();
                pairs.extend(tests.iter().map(|test| format!("{}\0{}", group["schema"], test["data"])));
                let data: Vec<_> = tests.iter().filter_map(|test| test["data"].as_str()).collect();
                if let Some(pattern) = group["schema"]["pattern"].as_str() {
                    patterns.extend(data.iter().map(|data| format!("{pattern}\0{data}")));
                }
                formatted.extend(data.into_iter().map(str::to_owned));
                schemas.push(group["schema"].to_string());
            }
        }
        schemas.extend(files(&shared.join("data/json-schema-meta/draft2020-12")));
        texts.extend(replies.iter().cloned());
    } else {
        let line: &str =
            "skipped: no_input_panics_or_hangs: ../shared is absent, the built-in seeds alone are used\n";
        std::io::stderr().write_all(line.as_bytes()).ok();
    }
    for seeds in [&mut texts, &mut replies, &mut schemas, &mut instances, &mut pairs] {
        seeds.retain(|seed| seed.len() <= INPUT_MAX / 2);
    }
    let crossed = |names: &[&str], ends: &[String]| -> Vec<String> {
        names.iter().flat_map(|name| ends.iter().map(move |end| format!("{name}\0{end}"))).collect()
    };
    for (at, schema) in schemas.iter().enumerate() {
        let instance = &instances[at * 7 % instances.len()];
        pairs.push(format!("{schema}\0{instance}"));
        pairs.push(format!("{schema}\0{instance}\0damage"));
    }
    let seeds = |property: &str| match property {
        "json" | "value" | "repair" => texts.clone(),
        "reader" => texts.iter().map(|text| format!("{text}\0{WAYS}")).collect(),
        "number" => owned(NUMBERS),
        "schema_compile" => schemas.iter().cloned().chain(owned(REFERRING)).collect(),
        "schema_check" | "coerce" => pairs.clone(),
        "pattern" => patterns.clone(),
        "format" => formatted.clone(),
        "register" => crossed(&["get_weather", "calc.add", "first", "no good name"], &schemas),
        "reply" | "answer" => replies.clone(),
        "dispatch" => crossed(&["get_weather", "calc.add", "slow", "no such tool"], &instances),
        "declared" => owned(DECLARED),
        "json_write" | "context" => owned(PROSE),
        other => panic!("no seeds for {other}"),
    };
    let seeds = |property: &str| match property {
        "schema_generated" | "turn_schedule" => choices(),
        "stream" => streams(),
        "render" => rendered(&schemas),
        "schema_program" => pairs.iter().filter_map(|pair| with_program(pair)).collect(),
        text => seeds(text).into_iter().map(String::into_bytes).collect(),
    };
    PROPERTIES.iter().map(|(name, _)| seeds(name)).collect()
}

/// Streams, and replies as they would stand in one, of each dialect, in chunks and memory of several sizes.
fn streams() -> Vec<Vec<u8>> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/traffic");
    let mut streams = Vec::new();
    for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
        let mut texts = owned(STREAMS);
        texts.extend(owned(&REPLIES[..6]));
        let path = shared.join(format!("{}.jsonl", dialect.name()));
        if path.is_file() {
            texts.extend(lines(&path).iter().filter_map(|row| row["reply"].as_str().map(String::from)));
        }
        for (which, text) in texts.into_iter().filter(|text| text.len() <= INPUT_MAX / 2).enumerate() {
            let head = [at, which % 5, 1 + which % 7, 3, which % 2 * 64, 40, which * 9, which * 31];
            streams.push(head.iter().map(|byte| *byte as u8).chain(text.into_bytes()).collect());
        }
    }
    streams
}

/// Bytes that choose a schema, and schemas, each strict and not.
fn rendered(schemas: &[String]) -> Vec<Vec<u8>> {
    let choices =
        choices().into_iter().map(|choices| [&[choices.len() as u8 / 4 % 2 * 2], &choices[..]].concat());
    let schemas =
        schemas.iter().enumerate().map(|(at, schema)| [&[at as u8 % 2 * 2 + 1], schema.as_bytes()].concat());
    choices.chain(schemas).collect()
}

/// Bytes that choose, of many lengths.
fn choices() -> Vec<Vec<u8>> {
    let mut random = Random::new(1, 0);
    (0..200).map(|length| (0..4 * length).map(|_| random.next() as u8).collect()).collect()
}

/// A schema and an instance, and the schema's program.
fn with_program(pair: &str) -> Option<Vec<u8>> {
    let (schema, _) = pair.split_once('\0')?;
    let mut program = [0; INPUT_MAX / 4];
    let used = compile(schema, &CompileOptions::default(), &mut program).ok()?;
    Some([pair.as_bytes(), b"\0", &program[..used]].concat())
}

/// Sorts every value inside `value` into what it may serve as.
fn collect(
    value: &serde_json::Value,
    texts: &mut Vec<String>,
    schemas: &mut Vec<String>,
    instances: &mut Vec<String>,
) {
    use serde_json::Value;
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[', '`', '"']) => {
            texts.push(text.clone());
            instances.push(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts, schemas, instances)),
        Value::Object(members) => {
            let text = value.to_string();
            if members.contains_key("type")
                || members.contains_key("properties")
                || members.contains_key("$ref")
            {
                schemas.push(text.clone());
            } else {
                instances.push(text.clone());
            }
            texts.push(text);
            members.values().for_each(|member| collect(member, texts, schemas, instances));
        }
        _ => {}
    }
}

pub(crate) fn write_seeds(folder: &Path, seeds: &[Vec<Vec<u8>>]) {
    for ((name, _), seeds) in PROPERTIES.iter().zip(seeds) {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (at, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(at.to_string()), seed).unwrap();
        }
    }
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The texts of the JSON files in a folder, in the order of their names.
fn files(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.into_iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| text.to_string()).collect()
}

const REPLIES: &[&str] = &[
    "Let me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call><tool_call>{\"name\":\"slow\",\"arguments\":{}}</tool_call><|im_end|>",
    "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}; {\"name\":\"slow\",\"parameters\":{}}<|eom_id|>",
    "[TOOL_CALLS] [{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}, \"id\": \"D681PevKs\"}, {\"name\":\"slow\",\"arguments\":{}}]</s>",
    "Look.[TOOL_CALLS]get_weather[CALL_ID]D681PevKs[ARGS]{\"city\": \"Oslo\"}[TOOL_CALLS]slow[ARGS]{}</s>",
    r#"{"output":{"message":{"role":"assistant","content":[{"text":"Look."},{"toolUse":{"toolUseId":"t 1","name":"get_weather","input":{"city":"Oslo"}}}]}},"stopReason":"tool_use"}"#,
    r#"{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Oslo"}}}]},"done_reason":"stop"}"#,
    r#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\",\"days\":[1,null]}"}},{"id":"call_2","type":"function","function":{"name":"calc_add_6f9d1d2c","arguments":"{\"a\":\"1\"}"}}]}}]}"#,
    r#"{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"slow","arguments":""}}]}"#,
    r#"{"id":"msg_1","role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{"city":"Troms\u00f8","nested":{"unit":"c"}}},{"type":"tool_use","id":"toolu_2","name":"calc_add","input":{"a":1e2}}]}"#,
    r#"{"stop_reason":"max_tokens","content":[{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}]}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Oslo"}}}"#,
    r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
];
const STREAMS: &[&str] = &[
    ": hi\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Let \\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude00\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\":\"}}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Oslo\\\"}\"}},{\"index\":1,\"id\":\"call_2\",\"function\":{\"name\":\"slow\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[]}}\r\n\r\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r\n\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"h\u{e9}\"}}\r\n\r\ndata: {\"type\":\"content_block_stop\",\"index\":0}\r\n\r\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"get_weather\",\"input\":{}}}\r\n\r\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}}\r\n\r\ndata: {\"type\":\"content_block_stop\",\"index\":1}\r\n\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\r\n\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n",
    "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"output\":[]}}\n\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c\",\"name\":\"get_weather\",\"arguments\":\"\",\"status\":\"in_progress\"}}\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc\",\"output_index\":0,\"delta\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c\",\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\"}\",\"status\":\"completed\"}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
    "[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Look\"}],\"role\":\"model\"},\"index\":0}]}\n,\r\n{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"get_weather\",\"args\":{\"city\":\"Oslo\"}},\"thoughtSignature\":\"QUJD\"}]},\"finishReason\":\"STOP\"}]}]",
    "{\"messageStart\":{\"role\":\"assistant\"}}\n{\"contentBlockDelta\":{\"delta\":{\"text\":\"Look\"},\"contentBlockIndex\":0}}\n{\"contentBlockStop\":{\"contentBlockIndex\":0}}\n{\"contentBlockStart\":{\"start\":{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"get_weather\"}},\"contentBlockIndex\":1}}\n{\"contentBlockDelta\":{\"delta\":{\"toolUse\":{\"input\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}},\"contentBlockIndex\":1}}\n{\"contentBlockStop\":{\"contentBlockIndex\":1}}\n{\"messageStop\":{\"stopReason\":\"tool_use\"}}\n",
    "{\"message\":{\"role\":\"assistant\",\"content\":\"Look\"},\"done\":false}\n{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Oslo\"}}}]},\"done\":false}\n{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
    "data: {\"type\":\"message-start\",\"id\":\"m\"}\n\ndata: {\"type\":\"tool-plan-delta\",\"delta\":{\"message\":{\"tool_plan\":\"I look\"}}}\n\ndata: {\"type\":\"tool-call-start\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"\"}}}}}\n\ndata: {\"type\":\"tool-call-delta\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"function\":{\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}}}}}\n\ndata: {\"type\":\"tool-call-end\",\"index\":0}\n\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"TOOL_CALL\"}}\n\n",
];
const SCHEMAS: &[&str] = &[
    r#"{"type":"object","properties":{"city":{"type":"string","minLength":1,"maxLength":40},"days":{"type":"integer","minimum":1,"maximum":7,"default":1},"unit":{"enum":["c","f"]}},"required":["city"],"additionalProperties":false}"#,
    r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"node":{"type":["object","null"],"properties":{"next":{"$ref":"#/$defs/node"},"tags":{"type":"array","items":{"const":{"a":[1,2.0]}},"minItems":1,"maxItems":3}}}},"$ref":"#/$defs/node"}"##,
    r#"{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":-1.5,"exclusiveMaximum":1e3},"any":true,"none":false},"additionalProperties":{"type":"boolean"}}"#,
    "true",
];
const INSTANCES: &[&str] = &[
    r#"{"city":"Oslo","days":3,"unit":"c"}"#,
    r#"{"next":{"next":null,"tags":[{"a":[1.0,2]}]}}"#,
    r#"{ "n" : 12.50, "any" : [ ], "more" : true }"#,
    r#"{"cit\u0079":"Oslo","city":"again"}"#,
    "```json\n{\"city\":\"Oslo\",}\n```",
    r#""{\"city\":\"Oslo\"}""#,
    "null",
    "",
];
/// With resources that they refer to.
const REFERRING: &[&str] = &[
    "{\"$id\":\"https://example.com/root\",\"items\":{\"$ref\":\"other#x\"}}\0{\"$defs\":{\"a\":{\"$anchor\":\"x\",\"$ref\":\"third\"}}}\0{\"type\":\"string\"}",
    "{\"$ref\":\"https://example.com/other\",\"$dynamicAnchor\":\"node\",\"unevaluatedProperties\":false}\0{\"$dynamicAnchor\":\"node\",\"properties\":{\"next\":{\"$dynamicRef\":\"#node\"}}}",
];
/// Each with a text.
const PATTERNS: &[&str] = &[
    "^[a-z]{2,8}(-[0-9]+)?$\0ab-12",
    "^(a+)+$\0aaaaaaaaaaaaaaaaaaaa!",
    "(?=.*[0-9])(?!x)\\p{Lu}\\w*\\b\0Ab1",
    "^(?<year>\\d{4})-\\d\\d$|[^\\s\\u{1F600}-\\u{1F64F}]\\x41\\cJ\0\u{1F600}A\n",
];
const FORMATTED: &[&str] = &[
    "2024-02-29T23:59:60.5Z",
    "P1Y2M3DT4H5M6S",
    "\"joe bloggs\"@[IPv6:2001:db8::1]",
    "xn--nxasmq6b.example.com",
    "127.0.0.1",
    "2001:db8::ffff:192.168.0.1",
    "https://user@example.com:80/a/../b;c?d=e%20f#g",
    "http://example.com/{+path,x:3}{?q*}",
    "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
    "/a~1b/~0/0",
    "1+2/a#",
];
const NUMBERS: &[&str] = &[
    "1\x001.0",
    "1e2\x00100",
    "0.1\x000.10000000000000000001",
    "-0\x000",
    "9007199254740993\x009007199254740992",
    "1e999\x001e1000",
    "1e-999999999999999999999\x000",
    "123456789012345678901234567890\x001.2345678901234567890123456789e29",
    "5e-324\x004.9e-324",
];
const DECLARED: &[&str] = &[
    "\u{1}\x00\x05city, with a description\x00\x42\x0C\x0012\x00\x03\x0E\x003.5",
    "\x01\x01\x00[\"c\",\"f\"]\x00\x01\x02\x00\"c\"\x00\x06\x02\x00{\"a\":null}\x00\x05\x00\x0Clist of things",
];
/// Ways to read on; see the property.
const WAYS: &str = "0d4215d003c4152104";
const PROSE: &[&str] = &[
    "\x20\x02\x00\x00\x00\x07\x01notes. Answer in one line/manual/.\x00\x02\x04The user lives in Oslo. They asked about the weather twice.\n\nThen about Bergen.\x00\x01\x10A long piece of text that may be cut in its middle, word by word, when there is no room for all of it.",
    "\x0A\x00\x01\x00\x01\x05\x08<b>tags</b> & \"quotes\"\ttabs\nlines\x00\x05\x00\u{e9}\u{20ac}\u{1F600} characters of every length\x00\x00\x00",
    "\x40\x00\x0E\x07\x03\x06\x05pinned and cut at its tail, at its head, or not at all\x00\x03\x0C# heading\n\n- a list\n- of things\n",
];
