//! What Gemini is told of the rows' schemas, in both of its forms.

use serde_json::{Value as Json, json};
use toolcore::dialect::{Dialect, ToolsOptions};

use crate::common::{dialects, rendered, with_schema};
use crate::with_tools;

fn told(input: &Json, older: &Json, newer: &Json, changes: [usize; 2]) {
    let tool = &input["tool"];
    let (name, schema) = (tool["name"].as_str().unwrap(), tool["schema"].to_string());
    with_tools(&[with_schema(name, &schema)], |tools| {
        let forms = [(Dialect::GeminiSchema, older), (Dialect::Gemini, newer)];
        for ((dialect, expected), changes) in forms.into_iter().zip(changes) {
            let (text, notes) = rendered(tools, dialect, &ToolsOptions::default()).unwrap();
            let (shown, place) = dialects::tools(dialect, &crate::read(&text));
            assert_eq!(shown[0].pointer(place), Some(expected), "{}", dialect.name());
            assert_eq!(notes.len(), changes, "each change is told: {notes:?}");
        }
    });
}

pub(crate) fn shared_definitions(input: &Json) {
    super::shared_definitions(input);
    let older = json!({"type":"OBJECT","properties":{
        "t":{"type":"OBJECT","nullable":true,"properties":{"n":{"type":"STRING"}}}}});
    told(input, &older, &input["tool"]["schema"], [3, 0]);
}

pub(crate) fn lists_of_types(input: &Json) {
    super::lists_of_types(input);
    let older = json!({"type":"OBJECT","properties":{"s":{"type":"STRING","nullable":true},
        "l":{"type":"ARRAY","nullable":true,"items":{"type":"STRING"}}}});
    let newer = json!({"type":"object","properties":{"s":{"anyOf":[{"type":"string"},{"type":"null"}]},
        "l":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}}});
    told(input, &older, &newer, [2, 2]);
}

pub(crate) fn values_that_are_no_strings(input: &Json) {
    super::values_that_are_no_strings(input);
    let values = "{enum: [\"a\",1,null]}";
    let older = json!({"type":"OBJECT","properties":{
        "d":{"type":"INTEGER","description":"{enum: [60,1440]}"},
        "e":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true,"description":values}}});
    let newer = json!({"type":"object","properties":{"d":{"type":"integer","enum":[60,1440]},
        "e":{"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","enum":[1]},{"type":"null"}]}}});
    told(input, &older, &newer, [3, 1]);
}

pub(crate) fn no_other_properties(input: &Json) {
    super::no_other_properties(input);
    let older = json!({"type":"OBJECT","properties":{"a":{"type":"STRING"}}});
    let newer = json!({"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false});
    told(input, &older, &newer, [2, 1]);
}
