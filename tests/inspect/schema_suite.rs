//! The JSON Schema test suite through the C ABI: its remotes and the meta-schemas are handed over once a draft.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcore_tests::desk::Desk;
use toolcore_tests::shared;

use super::files;

#[derive(Deserialize)]
struct Group<'a> {
    description: String,
    #[serde(borrow)]
    schema: &'a RawValue,
    tests: Vec<Case<'a>>,
}

#[derive(Deserialize)]
struct Case<'a> {
    description: String,
    #[serde(borrow)]
    data: &'a RawValue,
    valid: bool,
}

/// What became of the tests of a folder.
#[derive(Default)]
struct Counts {
    tests: usize,
    right: usize,
    /// `folder/file: group: number of tests: message`, of schemas that are refused.
    refused: Vec<String>,
    /// Wrong verdicts of each file.
    wrong: BTreeMap<String, usize>,
}

const DRAFTS: [(&str, &str); 2] = [("draft2020-12", "2020-12"), ("draft7", "7")];

#[test]
fn the_required_suite_gets_all_its_verdicts() {
    let test = "the_required_suite_gets_all_its_verdicts";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::start(test, &[]) else { return };
    let list = include_str!("../../core/tests/schema/refused.txt");
    for ((draft, default_draft), tests) in DRAFTS.into_iter().zip([1299, 927]) {
        hand_over(&mut desk, &shared, draft);
        let counts = run(&mut desk, &shared, draft, default_draft, false, &[]);
        assert_eq!(counts.wrong, BTreeMap::new(), "{draft}");
        let listed: Vec<_> = list.lines().filter(|line| line.starts_with(&format!("{draft}/"))).collect();
        assert_eq!(counts.refused, listed, "refused.txt should have: {:#?}", counts.refused);
        assert_eq!((counts.right, counts.tests), (tests, tests), "{draft}");
        println!("{test}: {draft}: {tests} of {tests}");
    }
}

/// Content keywords are annotations here; draft 7 leaves that open, and this file asserts them.
const CONTENT: &str = "content.json";

#[test]
fn the_optional_suite_gets_its_verdicts_where_the_schema_compiles() {
    let test = "the_optional_suite_gets_its_verdicts_where_the_schema_compiles";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::start(test, &[]) else { return };
    for ((draft, default_draft), expected) in
        DRAFTS.into_iter().zip([(OPTIONAL_2020, 162), (OPTIONAL_7, 108)])
    {
        hand_over(&mut desk, &shared, draft);
        let folder = format!("{draft}/optional");
        let counts = run(&mut desk, &shared, &folder, default_draft, false, &[CONTENT]);
        assert_eq!(counts.wrong, BTreeMap::new(), "{draft}");
        println!("{test}: {draft}: {} of {}; {:#?}", counts.right, counts.tests, counts.refused);
        assert_eq!((counts.right, counts.tests), expected, "{draft}");
    }
}

/// The formats whose texts need the tables of IDNA 2008 (RFC 5892), which are not here.
const MISSED: [&str; 2] = ["hostname", "idn-hostname"];

#[test]
fn the_suite_of_formats_gets_its_verdicts_where_they_are_asserted() {
    let test = "the_suite_of_formats_gets_its_verdicts_where_they_are_asserted";
    let Some(shared) = shared(test) else { return };
    let Some(mut desk) = Desk::start(test, &[]) else { return };
    for ((draft, default_draft), expected) in DRAFTS.into_iter().zip([FORMATS_2020, FORMATS_7]) {
        hand_over(&mut desk, &shared, draft);
        let folder = format!("{draft}/optional/format");
        let counts = run(&mut desk, &shared, &folder, default_draft, true, &[]);
        println!("{test}: {draft}: {} of {}, missed {:?}", counts.right, counts.tests, counts.wrong);
        assert_eq!(counts.refused, [""; 0], "{draft}");
        assert!(counts.wrong.keys().all(|file| MISSED.contains(&file.as_str())), "{:?}", counts.wrong);
        assert_eq!((counts.right, counts.tests), expected, "{draft}");
    }
}

/// Runs all tests of a folder of the suite.
fn run(
    desk: &mut Desk,
    shared: &Path,
    folder: &str,
    default_draft: &str,
    formats: bool,
    left_out: &[&str],
) -> Counts {
    let mut counts = Counts::default();
    for path in files(&shared.join("data/json-schema-test-suite").join(folder)) {
        if path.file_name().is_some_and(|name| left_out.iter().any(|left| name == *left)) {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        for group in serde_json::from_str::<Vec<Group<'_>>>(&text).unwrap() {
            counts.tests += group.tests.len();
            for (number, case) in group.tests.iter().enumerate() {
                let request = format!(
                    r#"{{"op":"validate","schema":{},"instance":{},"default_draft":"{default_draft}","formats":{formats}}}"#,
                    group.schema.get(),
                    case.data.get()
                );
                let answer = desk.ask_text(&request);
                let place =
                    || format!("{folder}/{name}: {}: {}: {answer}", group.description, case.description);
                if answer["ok"] == false {
                    assert_eq!(answer["error"]["kind"], "schema", "{}", place());
                    if number == 0 {
                        let (path, said) = (&answer["error"]["path"], &answer["error"]["message"]);
                        let (path, said) = (path.as_str().unwrap(), said.as_str().unwrap());
                        let colon = if path.is_empty() { "" } else { ": " };
                        counts.refused.push(format!(
                            "{folder}/{name}: {}: {} tests: {path}{colon}{said}",
                            group.description,
                            group.tests.len()
                        ));
                    }
                } else if answer["valid"] == case.valid {
                    assert!(!case.valid || answer["value"] == value(case.data), "{}", place());
                    counts.right += 1;
                } else {
                    if !MISSED.contains(&name.as_str()) {
                        println!("{}", place());
                    }
                    *counts.wrong.entry(name.clone()).or_default() += 1;
                }
            }
        }
    }
    counts
}

fn value(data: &RawValue) -> Value {
    serde_json::from_str(data.get()).unwrap()
}

/// Hands over the remotes of a draft and the meta-schemas, under the URIs that the suite expects.
fn hand_over(desk: &mut Desk, shared: &Path, draft: &str) {
    let mut documents = BTreeMap::new();
    let remotes = shared.join("data/json-schema-test-suite/remotes");
    for path in below(&remotes) {
        let name = path.strip_prefix(&remotes).unwrap().to_string_lossy().into_owned();
        // A folder for each draft; what is in none is for all.
        let first = name.split('/').next().unwrap_or_default();
        let of_a_draft = first != name && (first.starts_with("draft") || first == "v1");
        if !of_a_draft || first == draft {
            documents.insert(format!("http://localhost:1234/{name}"), document(&path));
        }
    }
    let meta = shared.join("data/json-schema-meta");
    for path in below(&meta) {
        let name = path.strip_prefix(&meta).unwrap().with_extension("").to_string_lossy().into_owned();
        documents.insert(format!("https://json-schema.org/{name}"), document(&path));
    }
    let members: Vec<_> = documents.iter().map(|(uri, text)| format!("{}:{text}", json!(uri))).collect();
    let answer = desk.ask_text(&format!(r#"{{"op":"resources","set":{{{}}}}}"#, members.join(",")));
    assert_eq!(answer, json!({"ok": true, "count": documents.len()}));
    assert!(documents.len() >= 20, "{}", documents.len());
}

fn document(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The JSON files of a folder and of those in it.
fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => folders.push(entry),
                false if entry.extension().is_some_and(|extension| extension == "json") => found.push(entry),
                false => {}
            }
        }
    }
    found
}

/// Right and all, for each draft: how many it is where the rest is refused, or missed as said above.
const OPTIONAL_2020: usize = 161;
const OPTIONAL_7: usize = 106;
const FORMATS_2020: (usize, usize) = (687, 764);
const FORMATS_7: (usize, usize) = (599, 676);
