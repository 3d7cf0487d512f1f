//! Replies in which a model says something and makes three calls, whole and streamed, as each provider writes them.

use crate::data::tool_name;

/// What a model says and calls in a long turn: text, and the arguments of its calls.
const SAID: &str = "Let me look at the weather in both cities first, and then at what the calendar says about \
    tomorrow: the train leaves at 7:40, so there is time for one walk before breakfast.";
const CALLED: [&str; 3] = [
    r#"{"city":"Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch","days":7,"unit":"celsius"}"#,
    r#"{"title":"Walk along the strait","when":{"from":"2026-11-30T06:30:00Z","to":"2026-11-30T07:15:00Z"},"notes":["Bring the \"red\" umbrella","Back before the train leaves at 7:40"]}"#,
    r#"{"query":"trains from Bangor to Holyhead in the morning, with a bicycle","limit":5,"fields":["departure","arrival","platform"]}"#,
];

/// A reply with text and three calls, whole, and as the same provider streams it in pieces of a few bytes.
pub(crate) fn openai_turn() -> (String, String) {
    let head = r#""id":"chatcmpl-CMKAtIAKW1eiFzDAZmCcrbvHgyoSw","object":"chat.completion.chunk","created":1783375763,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_cbf1785567""#;
    let calls = CALLED.iter().enumerate().map(|(index, arguments)| {
        let name = tool_name(index);
        format!(r#"{{"id":"call_J3ajtA7qivswzXp8A9sJ7fo{index}","type":"function","function":{{"name":"{name}","arguments":{}}}}}"#, text(arguments))
    });
    let whole = format!(
        r#"{{{head},"choices":[{{"index":0,"message":{{"role":"assistant","content":{},"tool_calls":[{}],"refusal":null,"annotations":[]}},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":82,"completion_tokens":117,"total_tokens":199}}}}"#,
        text(SAID),
        calls.collect::<Vec<_>>().join(",")
    );
    let mut stream = String::new();
    let mut chunk = |delta: &str, reason: &str| {
        stream.push_str(&format!(
            "data: {{{head},\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{reason}}}],\"usage\":null,\"obfuscation\":\"eRjR\"}}\n\n"
        ));
    };
    for piece in pieces(SAID) {
        chunk(&format!(r#"{{"content":{}}}"#, text(&piece)), "null");
    }
    for (index, arguments) in CALLED.iter().enumerate() {
        let name = tool_name(index);
        chunk(
            &format!(
                r#"{{"tool_calls":[{{"index":{index},"id":"call_J3ajtA7qivswzXp8A9sJ7fo{index}","type":"function","function":{{"name":"{name}","arguments":""}}}}]}}"#
            ),
            "null",
        );
        for piece in pieces(arguments) {
            chunk(
                &format!(
                    r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{}}}}}]}}"#,
                    text(&piece)
                ),
                "null",
            );
        }
    }
    chunk("{}", "\"tool_calls\"");
    (whole, stream + "data: [DONE]\n\n")
}

/// The same of Anthropic's.
pub(crate) fn anthropic_turn() -> (String, String) {
    let blocks = CALLED.iter().enumerate().map(|(index, input)| {
        let name = tool_name(index);
        format!(r#",{{"type":"tool_use","id":"toolu_01A09q90qw90lq91781{index}","name":"{name}","input":{input}}}"#)
    });
    let message = r#""id":"msg_01VWoy28sUMKXEpb","type":"message","role":"assistant","model":"claude-sonnet-4-5","stop_sequence":null,"usage":{"input_tokens":82,"output_tokens":17}"#;
    let whole = format!(
        r#"{{{message},"content":[{{"type":"text","text":"{SAID}"}}{}],"stop_reason":"tool_use"}}"#,
        blocks.collect::<String>()
    );
    let mut stream = String::new();
    let mut event = |kind: &str, rest: &str| {
        stream.push_str(&format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n"));
    };
    event("message_start", &format!(",\"message\":{{{message},\"content\":[]}}"));
    event("content_block_start", ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
    for piece in pieces(SAID) {
        event(
            "content_block_delta",
            &format!(r#","index":0,"delta":{{"type":"text_delta","text":"{piece}"}}"#),
        );
    }
    event("content_block_stop", ",\"index\":0");
    for (index, input) in CALLED.iter().enumerate() {
        let (place, name) = (index + 1, tool_name(index));
        event(
            "content_block_start",
            &format!(
                r#","index":{place},"content_block":{{"type":"tool_use","id":"toolu_01A09q90qw90lq91781{index}","name":"{name}","input":{{}}}}"#
            ),
        );
        for piece in pieces(input) {
            let piece = piece.replace('\\', "\\\\").replace('"', "\\\"");
            event(
                "content_block_delta",
                &format!(
                    r#","index":{place},"delta":{{"type":"input_json_delta","partial_json":"{piece}"}}"#
                ),
            );
        }
        event("content_block_stop", &format!(",\"index\":{place}"));
    }
    event(
        "message_delta",
        r#","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":117}"#,
    );
    event("message_stop", "");
    (whole, stream)
}

/// The same of OpenAI's Responses; its stream ends with the whole response once more.
pub(crate) fn responses_turn() -> (String, String) {
    let envelope = |status: &str, output: &str| {
        format!(
            r#"{{"id":"resp_05ed6c8b322854d8006a024b5204d8","object":"response","created_at":1778535250,"status":"{status}","error":null,"incomplete_details":null,"instructions":null,"model":"gpt-5.4-2026-03-05","output":[{output}],"parallel_tool_calls":true,"reasoning":{{"effort":"none","summary":null}},"store":true,"temperature":1.0,"tool_choice":"auto","usage":null,"metadata":{{}}}}"#
        )
    };
    let message = |status: &str, content: &str| {
        format!(
            r#"{{"id":"msg_05ed6c8b322854d8006a024b530f98","type":"message","status":"{status}","content":[{content}],"role":"assistant"}}"#
        )
    };
    let call = |index: usize, status: &str, arguments: &str| {
        let name = tool_name(index);
        format!(
            r#"{{"id":"fc_05ed6c8b322854d8006a024b53ca{index}","type":"function_call","status":"{status}","arguments":{},"call_id":"call_J3ajtA7qivswzXp8A9sJ7fo{index}","name":"{name}"}}"#,
            text(arguments)
        )
    };
    let part = |said: &str| {
        format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":{}}}"#, text(said))
    };
    let mut items = vec![message("completed", &part(SAID))];
    items.extend(CALLED.iter().enumerate().map(|(index, arguments)| call(index, "completed", arguments)));
    let whole = envelope("completed", &items.join(","));
    let (mut stream, mut number) = (String::new(), 0);
    let mut event = |kind: &str, rest: &str| {
        stream.push_str(&format!(
            "event: response.{kind}\ndata: {{\"type\":\"response.{kind}\",{rest},\"sequence_number\":{number}}}\n\n"
        ));
        number += 1;
    };
    for kind in ["created", "in_progress"] {
        event(kind, &format!("\"response\":{}", envelope("in_progress", "")));
    }
    let place = |index: usize, id: &str| format!(r#""item_id":"{id}","output_index":{index}"#);
    let of_text = place(0, "msg_05ed6c8b322854d8006a024b530f98") + r#","content_index":0"#;
    event("output_item.added", &format!(r#""output_index":0,"item":{}"#, message("in_progress", "")));
    event("content_part.added", &format!(r#"{of_text},"part":{}"#, part("")));
    for piece in pieces(SAID) {
        event(
            "output_text.delta",
            &format!(r#"{of_text},"delta":{},"logprobs":[],"obfuscation":"eRjR""#, text(&piece)),
        );
    }
    event("output_text.done", &format!(r#"{of_text},"text":{},"logprobs":[]"#, text(SAID)));
    event("content_part.done", &format!(r#"{of_text},"part":{}"#, part(SAID)));
    event("output_item.done", &format!(r#""output_index":0,"item":{}"#, items[0]));
    for (index, arguments) in CALLED.iter().enumerate() {
        let place = place(index + 1, &format!("fc_05ed6c8b322854d8006a024b53ca{index}"));
        let item = |item: &str| format!(r#""output_index":{},"item":{item}"#, index + 1);
        event("output_item.added", &item(&call(index, "in_progress", "")));
        for piece in pieces(arguments) {
            event(
                "function_call_arguments.delta",
                &format!(r#"{place},"delta":{},"obfuscation":"eRjR""#, text(&piece)),
            );
        }
        event("function_call_arguments.done", &format!(r#"{place},"arguments":{}"#, text(arguments)));
        event("output_item.done", &item(&items[index + 1]));
    }
    event("completed", &format!("\"response\":{whole}"));
    (whole, stream)
}

/// The same of Gemini's, which sends each call whole.
pub(crate) fn gemini_turn() -> (String, String) {
    let response = |parts: &str, finish: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},{finish}"index":0}}],"usageMetadata":{{"promptTokenCount":82,"candidatesTokenCount":117,"totalTokenCount":199,"promptTokensDetails":[{{"modality":"TEXT","tokenCount":82}}],"serviceTier":"standard"}},"modelVersion":"gemini-2.5-flash","responseId":"ru1garvBEoOiqtsP2fznmQw"}}"#
        )
    };
    const STOP: &str = r#""finishReason":"STOP","#;
    let calls: Vec<String> = CALLED
        .iter()
        .enumerate()
        .map(|(index, args)| format!(r#"{{"functionCall":{{"name":"{}","args":{args}}}}}"#, tool_name(index)))
        .collect();
    let said = |said: &str| format!(r#"{{"text":{}}}"#, text(said));
    let whole = response(&format!("{},{}", said(SAID), calls.join(",")), STOP);
    // Pieces are longer than those of the others.
    let chars: Vec<char> = SAID.chars().collect();
    let mut events: Vec<String> =
        chars.chunks(40).map(|piece| response(&said(&piece.iter().collect::<String>()), "")).collect();
    events.extend(calls.iter().map(|call| response(call, "")));
    events.push(response(&said(""), STOP));
    (whole, events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect())
}

/// A text as a JSON string.
fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out + "\""
}

/// Pieces of about the size of a token.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(5).map(|piece| piece.iter().collect()).collect()
}
