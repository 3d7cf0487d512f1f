//! The JSON Schema test suite (`../shared/data/json-schema-test-suite`), and the field cases about schemas.

use super::left_out::{left_out, refusal_of};
use super::{Schema, shared, text};
use toolcore::json::{self, Value};
use toolcore::schema::{
    CheckOptions, CompileOptions, Draft, NoReport, Resource, SchemaErrorKind, compile, compile_with,
};

/// Every required test gets its verdict, but for those whose schema is refused: these are listed, with the
/// reason, in `refused.txt`.
#[test]
fn the_suite_of_draft_2020_12_gets_its_verdicts() {
    let Some(counts) = run("draft2020-12", Draft::Draft2020, "the_suite_of_draft_2020_12_gets_its_verdicts")
    else {
        return;
    };
    assert_eq!(counts.tests, 1299);
    counts.agree_with_the_list("draft2020-12");
}

#[test]
fn the_suite_of_draft_7_gets_its_verdicts() {
    let Some(counts) = run("draft7", Draft::Draft7, "the_suite_of_draft_7_gets_its_verdicts") else { return };
    assert_eq!(counts.tests, 927);
    counts.agree_with_the_list("draft7");
}

#[test]
fn the_optional_suite_is_never_accepted_wrongly() {
    // What its names say about bignum, float-overflow and unknown keywords holds; formats are annotations.
    for (folder, draft) in [("draft2020-12/optional", Draft::Draft2020), ("draft7/optional", Draft::Draft7)] {
        run(folder, draft, "the_optional_suite_is_never_accepted_wrongly");
    }
}

struct Counts {
    tests: usize,
    checked: usize,
    /// `folder/file: group: message`, of what is refused.
    refused: Vec<String>,
}

impl Counts {
    fn agree_with_the_list(&self, folder: &str) {
        let list = include_str!("refused.txt").lines().filter(|line| line.starts_with(&format!("{folder}/")));
        let list: Vec<_> = list.collect();
        // And what needs a keyword that this build leaves out, for that reason and no other.
        let reasons: Vec<_> = left_out().map(|keyword| format!(": {}", refusal_of(keyword))).collect();
        let mut refused = self.refused.clone();
        refused.retain(|row| !reasons.iter().any(|reason| row.ends_with(reason)));
        assert_eq!(refused, list, "refused.txt should have: {refused:#?}");
    }
}

/// The remotes of the suite and the meta-schemas, under the URIs that the suite expects.
fn documents(folder: &str, test: &str) -> Vec<(String, String)> {
    let suite = shared("data/json-schema-test-suite/remotes", test).unwrap();
    let meta = shared("data/json-schema-meta", test).unwrap();
    let mut documents = Vec::new();
    let mut folders = vec![suite.clone(), meta.clone()];
    while let Some(current) = folders.pop() {
        for path in std::fs::read_dir(current).unwrap().map(|file| file.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = match (path.strip_prefix(&suite), path.strip_prefix(&meta)) {
                    (Ok(path), _) => format!("http://localhost:1234/{}", path.display()),
                    (_, Ok(path)) => {
                        format!("https://json-schema.org/{}", path.display().to_string().replace(".json", ""))
                    }
                    _ => continue,
                };
                documents.push((name, text));
            }
        }
    }
    documents.sort();
    // A folder for each draft; those without are for all.
    let other = |name: &str| {
        name.strip_prefix("http://localhost:1234/")
            .and_then(|name| name.split_once('/'))
            .is_some_and(|(first, _)| (first.starts_with("draft") || first == "v1") && first != folder)
    };
    documents.retain(|(name, _)| !other(name));
    documents
}

fn run(folder: &str, default_draft: Draft, test: &str) -> Option<Counts> {
    let path = shared("data/json-schema-test-suite", test)?;
    let documents = documents(folder.split('/').next().unwrap(), test);
    let resources: Vec<_> = documents.iter().map(|(uri, text)| Resource { uri, text }).collect();
    let options = CompileOptions { default_draft, ..CompileOptions::default() };
    let mut files: Vec<_> =
        std::fs::read_dir(path.join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    // Content keywords are annotations here; draft 7 leaves it open, and this optional file asserts them.
    files.retain(|file| !file.ends_with("draft7/optional/content.json"));
    files.sort();
    let mut counts = Counts { tests: 0, checked: 0, refused: Vec::new() };
    let mut wrong = 0;
    let mut memory = vec![0; 1 << 20];
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&file).unwrap();
        for group in json::parse(source.as_bytes(), &json::Options::default()).unwrap().items() {
            let schema = group.get("schema").unwrap().raw();
            let cases = group.get("tests").unwrap();
            counts.tests += cases.items().count();
            let used = match compile_with(schema, &resources, &options, &mut memory) {
                Ok(used) => used,
                Err(error) => {
                    let text_of = error.resource.map_or(schema, |number| resources[number].text);
                    let title = group.get("description").and_then(Value::as_str).unwrap();
                    counts.refused.push(format!(
                        "{folder}/{name}: {}: {} tests: {}",
                        title.raw(),
                        cases.items().count(),
                        text(|sink| error.write_message(text_of, sink))
                    ));
                    continue;
                }
            };
            for case in cases.items() {
                let instance = case.get("data").unwrap();
                let valid = case.get("valid").and_then(Value::as_bool).unwrap();
                let compiled = Schema::with_resources(schema, &resources, &memory[..used]);
                let work = &mut vec![0; compiled.work_words(&CheckOptions::default())];
                let verdict =
                    compiled.check(instance.raw().as_bytes(), &CheckOptions::default(), work, &mut NoReport);
                counts.checked += 1;
                if !verdict.is_ok_and(|verdict| verdict.valid == valid) {
                    wrong += 1;
                    println!("{name}: {schema} should say {valid} of {}: {verdict:?}", instance.raw());
                }
            }
        }
    }
    println!("{folder}: {} tests, {} compile, {} pass", counts.tests, counts.checked, counts.checked - wrong);
    assert_eq!(wrong, 0);
    Some(counts)
}

#[test]
fn the_field_cases_about_integers_hold() {
    let Some(path) = shared("cases/field-cases.jsonl", "the_field_cases_about_integers_hold") else { return };
    let source = std::fs::read_to_string(path).unwrap();
    let rows = source.lines().map(|line| json::parse(line.as_bytes(), &json::Options::default()).unwrap());
    let mut held = 0;
    for row in rows.filter(|row| {
        row.pointer("/input/kind").and_then(Value::as_str).is_some_and(|kind| kind == "validate")
    }) {
        for case in row.pointer("/input/cases").unwrap().items() {
            let part = |index| {
                let mut buffer = [0; 512];
                case.item(index).unwrap().as_str().unwrap().decode_in(&mut buffer).unwrap().to_owned()
            };
            let (schema, instance) = (part(0), part(1));
            let mut memory = [0; 512];
            match compile(&schema, &CompileOptions::default(), &mut memory) {
                Ok(used) => {
                    let verdict = Schema::new(&schema, &memory[..used]).check(
                        instance.as_bytes(),
                        &CheckOptions::default(),
                        &mut [],
                        &mut NoReport,
                    );
                    assert_eq!(
                        verdict.unwrap().valid,
                        case.item(2).and_then(Value::as_bool).unwrap(),
                        "{schema} {instance}"
                    );
                }
                // Draft 4, where 5.0 is no integer, is refused as a dialect.
                Err(error) => assert_eq!(error.kind, SchemaErrorKind::UnsupportedDialect),
            }
            held += 1;
        }
    }
    assert!(held >= 5);
}
