//! The quick way through an object says what the general way says, which is taken where a blank comes first.

use toolcore::json;
use toolcore::schema::{CheckError, CheckOptions, NoReport, Schema};

use super::{program, try_violations};

const SCHEMA: &str = r#"{"type":"object","properties":{"città":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":14},"unit":{"type":"string","enum":["celsius","kelvin","°"]},"on":{"type":"boolean"}},"required":["città","days"],"additionalProperties":false}"#;

const INSTANCES: [&str; 12] = [
    r#"{"città":"Oslo","days":7,"unit":"celsius","on":true}"#,
    r#"{"città":"Zürich, \"Zoo\"\n","days":7,"unit":"°"}"#,
    r#"{"on":false,"days":14,"città":"a longer name, of more than thirty-two bytes in all"}"#,
    r#"{"days":1,"città":"Oslo","days":1}"#,
    r#"{"citt\u00e0":"Oslo","days":1e0,"unit":"k\u0065lvin"}"#,
    r#"{"città":"Oslo","days":15,"unit":"rankine","on":null}"#,
    r#"{"città":["Oslo"],"days":"7","extra":{"a":1,"a":2}}"#,
    r#"{ "città" : "Oslo" , "days" : 7 } "#,
    "{\n  \"città\": \"Oslo\",\n  \"days\": 7\n}\n",
    r#"{"città":"Oslo"}"#,
    r#"{}"#,
    r#"{"città":"Oslo","days":7,}"#,
];

#[test]
fn a_blank_before_an_object_changes_no_verdict() {
    for instance in INSTANCES {
        let plain = try_violations(SCHEMA, instance);
        match try_violations(SCHEMA, &format!(" {instance}")) {
            Err(CheckError::Json(mut error)) => {
                error.offset -= 1;
                assert_eq!(plain, Err(CheckError::Json(error)), "{instance}");
            }
            spaced => assert_eq!(plain, spaced, "{instance}"),
        }
    }
}

#[test]
fn whatever_byte_is_damaged_the_error_is_that_of_the_json_reader() {
    let program = program(SCHEMA);
    let schema = Schema::new(SCHEMA, &program);
    let options = CheckOptions::default();
    let mut damaged = 0;
    for instance in INSTANCES {
        for at in 0..instance.len() {
            for byte in (0..=255).filter(|byte| cfg!(not(miri)) || byte % 16 == 0) {
                let mut text = instance.as_bytes().to_vec();
                text[at] = byte;
                for text in [&text[..], &text[..at + 1]] {
                    let found = schema.check(text, &options, &mut [0; 64], &mut NoReport);
                    let expected = json::validate(text, &options.json).map_err(CheckError::Json);
                    let shown = String::from_utf8_lossy(text);
                    assert_eq!(found.as_ref().err(), expected.as_ref().err(), "{shown}");
                    damaged += usize::from(found.is_err());
                    if let Ok(text) = str::from_utf8(text) {
                        let again = schema.check_str(text, &options, &mut [0; 64], &mut NoReport);
                        assert_eq!(again.map(|verdict| verdict.problems), found.map(|v| v.problems));
                    }
                }
            }
        }
    }
    assert!(damaged > 10_000, "{damaged}");
}

#[test]
fn an_object_of_thirty_one_and_of_forty_members_may_come_in_any_order() {
    for count in [31, 32, 33, 40] {
        let names: Vec<String> = (0..count).map(|name| format!("\"n{name}\"")).collect();
        let properties: Vec<String> =
            names.iter().map(|name| format!("{name}:{{\"type\":\"integer\"}}")).collect();
        let schema = format!(
            "{{\"properties\":{{{}}},\"required\":[{}],\"additionalProperties\":false}}",
            properties.join(","),
            names.join(",")
        );
        let mut members: Vec<String> = names.iter().map(|name| format!("{name}:1")).collect();
        for turn in 0..members.len() {
            members.rotate_left(turn);
            let instance = format!("{{{}}}", members.join(","));
            assert_eq!(try_violations(&schema, &instance), Ok(vec![]), "{instance}");
            let (_, without) = instance.split_once(',').unwrap();
            assert_eq!(try_violations(&schema, &format!("{{{without}")).unwrap().len(), 1);
            let twice = format!("{{{},{}}}", members.join(","), members[0]);
            assert_eq!(try_violations(&schema, &twice).unwrap().len(), 1, "{twice}");
        }
    }
}
