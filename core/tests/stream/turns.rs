//! The turns of OpenAI Responses and Gemini that go back, beside those that recorded clients sent back.

use serde_json::{Value as Json, json};
use toolcore::dialect::Dialect;

use crate::common::{rows, shared};
use crate::support::{Seen, stream, whole};

/// Every reply of the dialect whose follow-up was recorded, and that follow-up.
fn recorded(dialect: Dialect, test: &str, mut check: impl FnMut(&Json, Vec<Json>, &[Json])) {
    let Some(path) = shared(&format!("data/traffic/{}.jsonl", dialect.name()), test) else { return };
    for row in rows(&path) {
        let Some(appended) = row["appended"].as_array().filter(|appended| !appended.is_empty()) else {
            continue;
        };
        let seen: Seen = match row["reply"].as_str() {
            Some(text) => stream(dialect, [text.as_bytes()]),
            None => whole(dialect, &row["reply"]).unwrap(),
        };
        let ours = seen.replay.unwrap().as_array().unwrap().clone();
        check(&row["id"], ours, appended);
    }
}

/// Differences that mean nothing, each left out on both sides:
/// - an empty assistant message before the calls, which one client adds (in the test);
/// - `id`s of items, which some clients leave out: compared where both have one (in the test);
/// - the response's id before a `call_id` of a server whose ids are not unique;
/// - `status`, which we send back of messages only;
/// - members that are null;
/// - `phase` of a message, a message of one text as that text, and typographic quotes, which the recorder
///   makes plain;
/// - calls of the provider's tool search, which a client wrote anew: only their place is compared, and not
///   their outputs, which it left out (in the test).
pub(crate) fn item(item: &Json) -> Json {
    let mut item = item.clone();
    let object = item.as_object_mut().unwrap();
    object.remove("status");
    object.remove("phase");
    object.retain(|_, value| !value.is_null());
    if let Some(id) = object.get("call_id").and_then(Json::as_str) {
        let bare: Json = id.rsplit(':').next().into();
        object.insert("call_id".into(), bare);
    }
    if item["type"] == "tool_search_call" || item["type"] == "tool_search_output" {
        return json!({"type":item["type"]});
    }
    if item["type"] == "message" {
        let content = item["content"].as_array().unwrap();
        let text: String = content.iter().filter_map(|part| part["text"].as_str()).collect();
        let text = text.replace('\u{2019}', "'").replace(['\u{201c}', '\u{201d}'], "\"");
        return json!({"role":item["role"],"content":text});
    }
    item
}

#[test]
fn items_go_back_as_recorded_clients_sent_them() {
    let (mut compared, mut items) = (0, 0);
    let test = "items_go_back_as_recorded_clients_sent_them";
    recorded(Dialect::OpenAiResponses, test, |id, ours, appended| {
        let says = |item: &&Json| {
            item["type"] != "tool_search_output" && (item["content"] != "" || item["role"] != "assistant")
        };
        let ours: Vec<_> = ours.iter().filter(says).map(item).collect();
        let mut theirs = appended.iter().filter(says).map(item);
        for ours in ours {
            let Some(mut theirs) = theirs.next() else { panic!("{id}: {ours} is not there") };
            if let (None, Some(id)) = (theirs.get("id"), ours.get("id")) {
                theirs["id"] = id.clone();
            }
            assert_eq!(ours, theirs, "{id}");
            items += 1;
        }
        compared += 1;
    });
    println!("{compared} turns with {items} items compared");
    assert!(compared == 0 || (compared, items) == (38, 62));
}

/// Differences that mean nothing:
/// - names of members as the provider's SDK writes them in Python (`function_call`);
/// - base64 with `-` and `_` for `+` and `/`, which that SDK makes of a signature;
/// - ids that the recorded client gave to calls that have none, and the signature that asks for no check,
///   which it put on calls without one;
/// - text in several parts; the client joins to it the signature of the empty part that ends it, too;
/// - members of the provider's own tool calls, which the client makes up: their ids are compared.
pub(crate) fn content(content: &Json) -> Json {
    let mut parts: Vec<Json> = Vec::new();
    for part in content["parts"].as_array().unwrap() {
        let mut normal = json!({});
        for (key, value) in part.as_object().unwrap() {
            let value = match key.as_str() {
                "thought_signature" | "thoughtSignature" => {
                    value.as_str().unwrap().replace('-', "+").replace('_', "/").into()
                }
                _ => value.clone(),
            };
            let key = match key.as_str() {
                "thought_signature" => "thoughtSignature",
                "function_call" => "functionCall",
                key => key,
            };
            normal[key] = value;
        }
        if let Some(call) = normal.get_mut("functionCall").and_then(Json::as_object_mut) {
            call.retain(|key, value| key != "id" || !value.as_str().unwrap().starts_with("pyd_ai_"));
        }
        for key in ["toolCall", "toolResponse"] {
            if let Some(call) = normal.get_mut(key) {
                *call = json!({"id":call["id"]});
            }
        }
        if normal["thoughtSignature"] == UNCHECKED {
            normal.as_object_mut().unwrap().remove("thoughtSignature");
        }
        let plain = |part: &Json| part["text"].is_string() && part.get("thoughtSignature").is_none();
        match parts.last_mut() {
            Some(last)
                if plain(last)
                    && (plain(&normal) || normal["text"] == "")
                    && last.get("thought") == normal.get("thought") =>
            {
                let text = format!("{}{}", last["text"].as_str().unwrap(), normal["text"].as_str().unwrap());
                normal["text"] = text.into();
                *last = normal;
            }
            _ => parts.push(normal),
        }
    }
    json!({"role":content["role"],"parts":parts})
}

/// `skip_thought_signature_validator` in base64.
const UNCHECKED: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

#[test]
fn contents_go_back_as_recorded_clients_sent_them() {
    let (mut compared, mut signed) = (0, 0);
    let test = "contents_go_back_as_recorded_clients_sent_them";
    recorded(Dialect::Gemini, test, |id, ours, appended| {
        assert_eq!(ours.len(), 1, "{id}");
        let ours = content(&ours[0]);
        assert_eq!(ours, content(&appended[0]), "{id}");
        compared += 1;
        let parts = ours["parts"].as_array().unwrap();
        signed += parts.iter().filter(|part| part.get("thoughtSignature").is_some()).count();
    });
    println!("{compared} turns with {signed} signatures compared");
    assert!(compared == 0 || (compared, signed) == (95, 94));
}
