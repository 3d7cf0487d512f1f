//! The JSON Schema test suite (`../shared/data/json-schema-test-suite`), and the field cases about schemas.

use super::{Schema, shared, text};
use toolcore::json::{self, Value};
use toolcore::schema::{CheckOptions, CompileOptions, Draft, NoReport, SchemaErrorKind, compile};

/// Every test whose schema compiles gets its verdict; what does not compile is refused for a keyword or a
/// reference that is not supported. The counts may only grow.
#[test]
fn the_suite_of_draft_2020_12_gets_its_verdicts() {
    run("draft2020-12", Draft::Draft2020, "the_suite_of_draft_2020_12_gets_its_verdicts", (1299, 1086));
}

#[test]
fn the_suite_of_draft_7_gets_its_verdicts() {
    run("draft7", Draft::Draft7, "the_suite_of_draft_7_gets_its_verdicts", (927, 817));
}

#[test]
fn the_optional_suite_is_never_accepted_wrongly() {
    // What its names say about bignum, float-overflow and unknown keywords holds; formats are annotations.
    for (folder, draft) in [("draft2020-12/optional", Draft::Draft2020), ("draft7/optional", Draft::Draft7)] {
        run(folder, draft, "the_optional_suite_is_never_accepted_wrongly", (0, 0));
    }
}

fn run(folder: &str, default_draft: Draft, test: &str, least: (usize, usize)) {
    let Some(path) = shared("data/json-schema-test-suite", test) else { return };
    let options = CompileOptions { default_draft, ..CompileOptions::default() };
    let mut files: Vec<_> =
        std::fs::read_dir(path.join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    // Content keywords are annotations here; draft 7 leaves it open, and this optional file asserts them.
    files.retain(|file| !file.ends_with("draft7/optional/content.json"));
    files.sort();
    let (mut tests, mut checked, mut wrong) = (0, 0, 0);
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&file).unwrap();
        for group in json::parse(source.as_bytes(), &json::Options::default()).unwrap().items() {
            let schema = group.get("schema").unwrap().raw();
            let cases = group.get("tests").unwrap();
            tests += cases.items().count();
            let mut memory = vec![0; 12 * schema.len()];
            let used = match compile(schema, &options, &mut memory) {
                Ok(used) => used,
                Err(error) => {
                    let supported = !matches!(
                        error.kind,
                        SchemaErrorKind::UnsupportedKeyword
                            | SchemaErrorKind::UnsupportedRef
                            | SchemaErrorKind::UnsupportedDialect
                    );
                    assert!(!supported, "{name}: {}", text(|sink| error.write_message(schema, sink)));
                    continue;
                }
            };
            for case in cases.items() {
                let instance = case.get("data").unwrap();
                let valid = case.get("valid").and_then(Value::as_bool).unwrap();
                let compiled = Schema::new(schema, &memory[..used]);
                let work = &mut vec![0; compiled.work_words(&CheckOptions::default())];
                let verdict =
                    compiled.check(instance.raw().as_bytes(), &CheckOptions::default(), work, &mut NoReport);
                checked += 1;
                if verdict.unwrap().valid != valid {
                    wrong += 1;
                    println!("{name}: {schema} should say {valid} of {}", instance.raw());
                }
            }
        }
    }
    println!("{folder}: {tests} tests, {checked} compile, {} pass", checked - wrong);
    assert_eq!(wrong, 0);
    assert!(tests >= least.0 && checked >= least.1, "fewer compile than before");
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
