//! What `validate` does beyond a verdict: repairs, coercions, formats, drafts, and documents that are referred to.

use std::fs;

use serde_json::{Value, json};
use toolcore_tests::desk::Desk;
use toolcore_tests::shared;

/// The input of the field case of this class.
fn field_case(test: &str, class: &str) -> Option<Value> {
    let text = fs::read_to_string(shared(test)?.join("cases/field-cases.jsonl")).unwrap();
    let mut cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    Some(cases.find(|case| case["class"] == class).unwrap_or_else(|| panic!("{class}"))["input"].clone())
}

/// What is accepted, and `path rule` of each change.
fn accepted(answer: &Value) -> (Value, Vec<String>) {
    assert_eq!((&answer["ok"], &answer["valid"]), (&json!(true), &json!(true)), "{answer}");
    let changes = answer["changes"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let told = changes.iter().map(|change| format!("{} {}", text(&change["path"]), text(&change["rule"])));
    (answer["value"].clone(), told.collect())
}

#[test]
fn a_fence_and_a_string_around_the_arguments_are_taken_away_when_lenient() {
    let test = "a_fence_and_a_string_around_the_arguments_are_taken_away_when_lenient";
    for (class, rule) in [("args.markdown-fence", " fence"), ("args.double-encoded", " double-encoded")] {
        let Some(case) = field_case(test, class) else { return };
        let Some(mut desk) = Desk::shared(test) else { return };
        let mut request = json!({"op": "validate", "schema": case["schema"], "text": case["text"]});
        let strict = desk.ask(&request);
        assert_eq!((&strict["ok"], &strict["valid"]), (&json!(true), &json!(false)), "{strict}");
        if class == "args.markdown-fence" {
            assert_eq!(strict["error"]["kind"], "json", "{strict}");
            assert_eq!(strict["error"]["offset"], 0, "{strict}");
        } else {
            assert_eq!(strict["errors"][0]["keyword"], "type", "{strict}");
        }
        request["lenient"] = json!(true);
        let (value, changes) = accepted(&desk.ask(&request));
        assert_eq!((value, changes), (json!({"city": "Oslo"}), vec![rule.to_owned()]));
    }
}

#[test]
fn what_stops_early_is_not_repaired() {
    let Some(mut desk) = Desk::shared("what_stops_early_is_not_repaired") else { return };
    for (text, offset) in [(r#"{"city":"Os"#, 11), ("```json\n{\"city\":\"Oslo\"", 0), ("{} {}", 3)] {
        let request =
            json!({"op": "validate", "schema": true, "text": text, "lenient": true, "coerce": true});
        let answer = desk.ask(&request);
        assert_eq!((&answer["ok"], &answer["valid"]), (&json!(true), &json!(false)), "{answer}");
        assert_eq!((&answer["error"]["kind"], &answer["error"]["offset"]), (&json!("json"), &json!(offset)));
    }
}

#[test]
fn numbers_and_booleans_in_strings_are_converted_when_coercing() {
    let test = "numbers_and_booleans_in_strings_are_converted_when_coercing";
    let Some(case) = field_case(test, "args.number-as-string") else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let request = json!({"op": "validate", "schema": case["schema"], "text": case["text"], "coerce": true});
    let (value, changes) = accepted(&desk.ask(&request));
    assert_eq!((&value["depth"], &value["zip"], &value["b"]), (&json!(3), &json!("01234"), &json!(true)));
    assert_eq!(value["f"].as_f64(), Some(1000.0));
    assert_eq!(changes, ["/depth integer-from-string", "/f number-from-string", "/b boolean-from-string"]);
}

#[test]
fn a_lone_surrogate_is_a_replacement_character_when_lenient() {
    let test = "a_lone_surrogate_is_a_replacement_character_when_lenient";
    let Some(case) = field_case(test, "json.lone-surrogate") else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let mut request = json!({"op": "validate", "schema": {"type": "object"}, "text": case["text"]});
    assert_eq!(
        desk.ask(&request),
        json!({"ok": true, "valid": false,
               "error": {"kind": "json", "reason": "lone-surrogate", "offset": 6}})
    );
    for coerce in [false, true] {
        request["lenient"] = json!(true);
        request["coerce"] = json!(coerce);
        assert_eq!(accepted(&desk.ask(&request)), (json!({"m": "\u{FFFD}A"}), vec![]));
    }
}

#[test]
fn big_integers_come_back_to_the_last_digit() {
    let test = "big_integers_come_back_to_the_last_digit";
    let Some(case) = field_case(test, "args.big-integer") else { return };
    let Some(mut desk) = Desk::shared(test) else { return };
    let text = case["text"].as_str().unwrap();
    for options in [r#""coerce":true"#, r#""lenient":true"#, r#""lenient":true,"coerce":true"#] {
        let request =
            format!(r#"{{"op":"validate","schema":{},"instance":{text},{options}}}"#, case["schema"]);
        let answer = desk.send(request.as_bytes());
        assert!(answer.contains(&format!(r#""value":{text},"changes":[]"#)), "{answer}");
    }
}

#[test]
fn nulls_and_defaults_of_optional_properties_are_as_the_schema_has_them() {
    let test = "nulls_and_defaults_of_optional_properties_are_as_the_schema_has_them";
    let Some(mut desk) = Desk::shared(test) else { return };
    let schema = json!({
        "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "u": {"default": "m"}}
    });
    let request = json!({
        "op": "validate", "schema": schema, "instance": {"a": null, "b": null}, "coerce": true
    });
    let (value, changes) = accepted(&desk.ask(&request));
    assert_eq!(value, json!({"b": null, "u": "m"}));
    assert_eq!(changes, ["/a null-removed", "/u default-added"]);
}

#[test]
fn what_cannot_be_converted_is_still_told() {
    let Some(mut desk) = Desk::shared("what_cannot_be_converted_is_still_told") else { return };
    let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
    let answer = desk.ask(&json!({
        "op": "validate", "schema": schema, "instance": {"a": "5", "b": "5.5"}, "coerce": true
    }));
    assert_eq!(
        answer,
        json!({"ok": true, "valid": false, "errors": [
            {"path": "/b", "keyword": "type", "message": "expected integer, got string \"5.5\""}
        ], "changes": [{"path": "/a", "rule": "integer-from-string"}]})
    );
}

#[test]
fn a_repair_is_told_of_an_instance_that_is_not_valid() {
    let Some(mut desk) = Desk::shared("a_repair_is_told_of_an_instance_that_is_not_valid") else { return };
    let answer = desk.ask(&json!({
        "op": "validate", "schema": {"maxItems": 1}, "text": "[1,2,]", "lenient": true
    }));
    assert_eq!(answer["errors"][0]["keyword"], "maxItems", "{answer}");
    assert_eq!(answer["changes"], json!([{"path": "", "rule": "trailing-comma"}]), "{answer}");
}

#[test]
fn of_members_with_the_same_key_the_last_one_wins_if_asked() {
    let test = "of_members_with_the_same_key_the_last_one_wins_if_asked";
    let Some(mut desk) = Desk::shared(test) else { return };
    let ask = |options: &str| {
        format!(
            r#"{{"op":"validate","schema":{{"properties":{{"a":{{"type":"integer"}}}}}},"instance":{{"a":"x","a":"5"}}{options}}}"#
        )
    };
    assert_eq!(desk.ask_text(&ask(""))["valid"], false);
    let (value, changes) = accepted(&desk.ask_text(&ask(r#","coerce":true,"last_wins":true"#)));
    assert_eq!((value, changes.len()), (json!({"a": 5}), 2));
    // By itself it converts nothing.
    let answer = desk.ask_text(&ask(r#","last_wins":true"#));
    assert_eq!(
        answer["errors"],
        json!([
            {"path": "/a", "keyword": "type", "message": "expected integer, got string \"5\""}
        ]),
        "{answer}"
    );
}

#[test]
fn without_an_instance_all_ways_to_give_one_are_named() {
    let Some(mut desk) = Desk::shared("without_an_instance_all_ways_to_give_one_are_named") else { return };
    let answer = desk.ask(&json!({"op": "validate", "schema": true}));
    assert_eq!(answer["error"]["kind"], "request", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(["'instance'", "'text'", "'hex'"].iter().all(|name| message.contains(name)), "{message}");
}

#[test]
fn formats_and_the_draft_are_as_asked() {
    let Some(mut desk) = Desk::shared("formats_and_the_draft_are_as_asked") else { return };
    let date = json!({"op": "validate", "schema": {"format": "date"}, "instance": "today"});
    assert_eq!(desk.ask(&date)["valid"], true);
    let mut asserted = date;
    asserted["formats"] = json!(true);
    assert_eq!(desk.ask(&asserted)["errors"][0]["keyword"], "format");
    // An array of `items` is of draft 7 alone.
    let mut items = json!({"op": "validate", "schema": {"items": [{"type": "null"}]}, "instance": [1]});
    for (draft, refused) in [("2020-12", true), ("draft2020-12", true), ("7", false), ("draft7", false)] {
        items["default_draft"] = json!(draft);
        let answer = desk.ask(&items);
        assert_eq!(answer["ok"] == false, refused, "{answer}");
        assert_eq!(answer["valid"] == false, !refused, "{answer}");
    }
    items["default_draft"] = json!(7);
    assert_eq!(desk.ask(&items)["valid"], false);
    items["default_draft"] = json!("6");
    let answer = desk.ask(&items);
    assert_eq!(answer["error"]["kind"], "request");
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("2020-12, draft2020-12, 7, draft7"),
        "{answer}"
    );
}

#[test]
fn documents_are_kept_until_the_next_set() {
    let Some(mut desk) = Desk::start("documents_are_kept_until_the_next_set", &["--mem", "262144"]) else {
        return;
    };
    let schema = json!({"items": {"$ref": "https://example.com/u#/$defs/unit"}});
    let request = json!({"op": "validate", "schema": schema, "instance": ["c", "k"]});
    assert_eq!(desk.ask(&request)["error"]["path"], "/items/$ref");
    let units = json!({"$defs": {"unit": {"enum": ["c", "f"]}, "bad": {"items": {"type": 7}}}});
    let set =
        json!({"op": "resources", "set": {"https://example.com/u": units, "https://example.com/v": true}});
    assert_eq!(desk.ask(&set), json!({"ok": true, "count": 2}));
    for _ in 0..3 {
        assert_eq!(desk.ask(&request)["errors"][0]["path"], "/1");
        assert_eq!(desk.ask(&json!({"op": "json", "text": "x".repeat(20_000)}))["valid"], false);
    }
    // What is wrong in a document is named with its URI.
    let bad =
        json!({"op": "validate", "schema": {"$ref": "https://example.com/u#/$defs/bad"}, "instance": 1});
    let answer = desk.ask(&bad);
    assert_eq!(answer["error"]["kind"], "schema", "{answer}");
    assert_eq!(answer["error"]["path"], "https://example.com/u#/$defs/bad/items/type", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("keyword with a wrong value, expected "), "{answer}");
    // The next set takes its place, also one that is too large.
    assert_eq!(desk.ask(&json!({"op": "resources", "set": {}})), json!({"ok": true, "count": 0}));
    assert_eq!(desk.ask(&request)["error"]["path"], "/items/$ref");
    assert_eq!(desk.ask(&set)["count"], 2);
    let names: Vec<String> = (0..3000).map(|n| format!(r#""u:{n}":{n}"#)).collect();
    let answer = desk.ask_text(&format!(r#"{{"op":"resources","set":{{{}}}}}"#, names.join(",")));
    assert_eq!(answer["error"]["kind"], "no-space", "{answer}");
    assert_eq!(desk.ask(&request)["error"]["path"], "/items/$ref");
}

#[test]
fn a_set_that_cannot_be_read_is_a_request_error() {
    let Some(mut desk) = Desk::start("a_set_that_cannot_be_read_is_a_request_error", &[]) else { return };
    for set in [json!([]), json!("x"), json!(null)] {
        let answer = desk.ask(&json!({"op": "resources", "set": set}));
        assert_eq!((&answer["ok"], &answer["error"]["kind"]), (&json!(false), &json!("request")), "{answer}");
    }
    assert_eq!(desk.ask(&json!({"op": "resources"}))["error"]["kind"], "request");
}
