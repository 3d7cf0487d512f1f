//! References into other documents that are held as resources: what they lead to is put in their place.

use super::{ALL, Notes, read, try_lower_with};
use serde_json::json;
use toolcore::schema::subset::{ANTHROPIC_STRICT, GEMINI_SCHEMA, OPENAI_STRICT, PLAIN};
use toolcore::schema::{ChangeKind as C, Resource, StrictProblemKind as P};

const ADDRESS: Resource<'_> = Resource {
    uri: "https://x.test/schemas/address.json",
    text: r##"{"type":"object","properties":{"street":{"$ref":"#/$defs/line"},"zip":{"$ref":"parts.json#zip"}},
        "required":["street","zip"],"additionalProperties":false,"$defs":{"line":{"type":"string"}}}"##,
};
const PARTS: Resource<'_> = Resource {
    uri: "https://elsewhere.test/p",
    text: r##"{"$id":"https://x.test/schemas/parts.json","$defs":{"z":{"$anchor":"zip","type":"integer"},
        "tree":{"type":"object","properties":{"left":{"$ref":"#/$defs/tree"},"v":{"type":"null"}},
        "required":["left","v"],"additionalProperties":false}}}"##,
};
const SCHEMA: &str = r#"{"type":"object","properties":{"home":{"$ref":"https://x.test/schemas/address.json"},
    "zip":{"$ref":"https://x.test/schemas/parts.json#/$defs/z","description":"Z"}},"required":["home","zip"],
    "additionalProperties":false}"#;

#[test]
fn what_a_resource_holds_is_put_in_the_place_of_the_reference() {
    let resources = [ADDRESS, PARTS];
    for (name, subset) in ALL {
        let (text, notes) = try_lower_with(SCHEMA, &resources, &subset).unwrap();
        let lowered = read(&text);
        if name == "gemini_schema" {
            let home = json!({"type":"OBJECT","properties":{"street":{"type":"STRING"},"zip":{"type":"INTEGER"}},
                "required":["street","zip"]});
            assert_eq!(lowered["properties"]["home"], home, "{text}");
            continue;
        }
        let expected = json!({"type":"object","properties":{
            "home":{"type":"object","properties":{"street":{"type":"string"},"zip":{"type":"integer"}},
                "required":["street","zip"],"additionalProperties":false},
            "zip":{"type":"integer","description":"Z"}},"required":["home","zip"],"additionalProperties":false});
        assert_eq!(lowered, expected, "{name}");
        let inlined = notes.iter().filter(|(_, kind)| *kind == C::Inlined).count();
        assert_eq!(inlined, 4, "{name}: {notes:?}");
    }
}

#[test]
fn a_schema_that_refers_to_no_resource_goes_out_as_it_is() {
    let schema = r##"{"$id":"https://x.test/a","type":"object","properties":{"n":{"$ref":"#/definitions/x"}},
        "definitions":{"x":{"type":"string"}}}"##;
    let (text, notes) = try_lower_with(schema, &[ADDRESS], &PLAIN).unwrap();
    assert_eq!((read(&text), notes), (read(schema), Notes::new()));
}

/// A cycle in a resource: no definition is there that it could lead to.
#[test]
fn a_resource_that_leads_back_is_cut_or_refused() {
    let schema = r#"{"type":"object","properties":{"t":{"$ref":"https://x.test/schemas/parts.json#/$defs/tree"}},
        "required":["t"],"additionalProperties":false}"#;
    for subset in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        let refused = try_lower_with(schema, &[PARTS], &subset);
        // The place is that in the schema, of which the host knows.
        assert_eq!(refused, Err(("/properties/t".into(), P::Recursion)));
    }
    for subset in [PLAIN, GEMINI_SCHEMA] {
        let (text, notes) = try_lower_with(schema, &[PARTS], &subset).unwrap();
        let left = &read(&text)["properties"]["t"]["properties"]["left"];
        assert_eq!(left["type"].as_str().unwrap().to_lowercase(), "object");
        assert_eq!(left["description"], "{$ref: #/$defs/tree}");
        // The place of what was left open is that in the resource.
        let open = notes.iter().filter(|(_, kind)| *kind == C::LeftOpen);
        let places: Vec<&str> = open.map(|(path, _)| path.as_str()).collect();
        assert_eq!(places, ["/$defs/tree/properties/left/$ref"]);
    }
}

#[test]
fn the_schema_itself_may_be_referred_to_by_its_name() {
    let schema = r#"{"$id":"https://x.test/schemas/root.json","type":"object","properties":{
        "a":{"$ref":"https://x.test/schemas/back.json"},"b":{"type":"boolean"}}}"#;
    let back = Resource {
        uri: "https://x.test/schemas/back.json",
        text: r#"{"type":"array","items":{"$ref":"root.json#/properties/b"}}"#,
    };
    let (text, _) = try_lower_with(schema, &[back], &GEMINI_SCHEMA).unwrap();
    let expected = json!({"type":"ARRAY","items":{"type":"BOOLEAN"}});
    assert_eq!(read(&text)["properties"]["a"], expected);
}

/// What stands beside a `$ref` is ignored in a resource of draft 7, and only there.
#[test]
fn each_document_has_its_own_draft() {
    let schema =
        r#"{"type":"object","properties":{"a":{"$ref":"https://x.test/old#/definitions/t","minLength":2}}}"#;
    let old = Resource {
        uri: "https://x.test/old",
        text: r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"s":{"type":"string","pattern":"^a"},
            "t":{"$ref":"#/definitions/s","maxLength":1}}}"##,
    };
    let (text, _) = try_lower_with(schema, &[old], &GEMINI_SCHEMA).unwrap();
    let expected = json!({"type":"STRING","pattern":"^a","minLength":2});
    assert_eq!(read(&text)["properties"]["a"], expected);
}
