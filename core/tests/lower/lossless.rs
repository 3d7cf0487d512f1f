//! What a lowering promises, judged by the crate `jsonschema` on schemas and instances at random: what the schema
//! accepts, that which goes out accepts; if no loss is told, the two mean the same; and what a strict one
//! accepts, the schema accepts too, once the nulls are taken out that strict mode forces.
//!
//! `TOOLCORE_SMOKE_ITERATIONS` sets how many schemas; each depends only on its number, so that
//! `TOOLCORE_SMOKE_ONLY` repeats one alone.

use super::random::{Random, from_upper};
use super::{ALL, Notes, compiles, read, try_lower};
use jsonschema::Validator;
use serde_json::{Map, Value as Json};
use std::sync::atomic::{AtomicU64, Ordering};
use toolcore::schema::ChangeKind;

/// Whether a change may let more through than the schema does.
fn loses(subset: &str, (path, kind): &(String, ChangeKind)) -> bool {
    let word = path.rsplit('/').next().unwrap();
    let strict = subset.ends_with("strict");
    match kind {
        ChangeKind::OneOfToAnyOf
        | ChangeKind::TupleToList
        | ChangeKind::LeftOpen
        | ChangeKind::NameRefused => true,
        // In an object that is closed nothing else may be there.
        ChangeKind::NeverRemoved => !strict,
        // What says nothing of a value.
        ChangeKind::Dropped | ChangeKind::Moved => {
            let says_nothing = ["description", "default", "x-other", "format", "$defs", "minProperties"];
            !says_nothing.contains(&word) || word == "minProperties" && !strict
        }
        _ => false,
    }
}

fn judge(schema: &Json) -> Validator {
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

/// The ways in which the nulls of optional properties can be taken out of a value: which of the alternatives of a
/// schema speaks of a member is not known.
fn without_nulls(value: &Json, schemas: &[&Json], root: &Json, depth: usize) -> Json {
    if depth == 0 {
        return value.clone();
    }
    let mut all: Vec<&Json> = schemas.to_vec();
    let mut next = 0;
    while let Some(schema) = all.get(next).copied() {
        next += 1;
        let target = schema["$ref"].as_str().and_then(|name| root.pointer(&name[1..]));
        let lists = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| schema[word].as_array());
        let more: Vec<&Json> = lists.flatten().chain(target).collect();
        all.extend(more.into_iter().filter(|more| !schemas.contains(more)).take(64 - next.min(64)));
    }
    match value {
        Json::Object(members) => {
            let inside = |name: &str| -> Vec<&Json> {
                all.iter().filter_map(|schema| schema["properties"].get(name)).collect()
            };
            let required = |name: &str| {
                let has = |list: &Json| list.as_array().is_some_and(|list| list.contains(&name.into()));
                all.iter().any(|schema| has(&schema["required"]))
            };
            let kept = members.iter().filter(|(name, value)| !value.is_null() || required(name));
            let kept = kept
                .map(|(name, value)| (name.clone(), without_nulls(value, &inside(name), root, depth - 1)));
            kept.collect::<Map<_, _>>().into()
        }
        Json::Array(items) => {
            let inside = |at: usize| -> Vec<&Json> {
                let of = |schema: &&&Json| schema["prefixItems"].get(at).is_none();
                let after = all.iter().filter(of).map(|schema| &schema["items"]);
                all.iter().filter_map(|schema| schema["prefixItems"].get(at)).chain(after).collect()
            };
            let kept = items.iter().enumerate();
            kept.map(|(at, item)| without_nulls(item, &inside(at), root, depth - 1)).collect()
        }
        value => value.clone(),
    }
}

/// What was compared.
#[derive(Default)]
struct Tally {
    schemas: u64,
    kept: u64,
    same: u64,
    strict: u64,
}

impl Tally {
    fn schema(&mut self, number: u64) {
        let mut random =
            Random(0x9E37_79B9_7F4A_7C15 ^ number.wrapping_add(1).wrapping_mul(0xD134_2543_DE82_EF95));
        let mut schema = random.root();
        if random.one_in(4) {
            // A name that Gemini does not allow.
            schema = read(&schema.to_string().replace("\"q\"", "\"q-1\""));
        }
        let text = schema.to_string();
        // A definition may lead back to itself without entering the value, which no schema may.
        if !compiles(&text) {
            return;
        }
        self.schemas += 1;
        let original = judge(&schema);
        let instances: Vec<Json> = (0..8).map(|_| random.value(&schema, &schema, 6)).collect();
        for (name, subset) in ALL {
            let Ok((lowered, notes)) = try_lower(&text, &subset) else {
                assert!(name.ends_with("strict"), "{name} refuses {text}");
                continue;
            };
            let mut lowered = read(&lowered);
            let mut same = !notes.iter().any(|note| loses(name, note));
            if name == "gemini_schema" {
                lowered = from_upper(&lowered);
            } else if name == "gemini_json" {
                // Gemini reads the one as the other.
                let text = lowered.to_string();
                same &= !text.contains("\"oneOf\":");
                lowered = read(&text.replace("\"oneOf\":", "\"anyOf\":"));
            }
            let emitted = judge(&lowered);
            if name.ends_with("strict") {
                if same {
                    let made = (0..4).map(|_| random.value(&lowered, &lowered, 6));
                    self.strict(&schema, &original, &lowered, &emitted, made, (name, &notes));
                }
                continue;
            }
            // Where a type has to be said, properties say that of an object and items that of a list.
            let guessed = |(path, kind): &(String, ChangeKind)| {
                let at = schema.pointer(path).filter(|_| *kind == ChangeKind::TypeAdded);
                at.is_some_and(|at| at.get("enum").is_none() && at.get("const").is_none())
            };
            if notes.iter().any(guessed) {
                continue;
            }
            for value in &instances {
                let valid = original.is_valid(value);
                let passes = emitted.is_valid(value);
                assert!(!valid || passes, "{name} refuses {value}:\n{text}\n{lowered}\n{notes:?}");
                assert!(!same || valid == passes, "{name} accepts {value}:\n{text}\n{lowered}\n{notes:?}");
                self.kept += u64::from(valid);
                self.same += u64::from(same && !valid);
            }
        }
    }

    fn strict(
        &mut self,
        schema: &Json,
        original: &Validator,
        lowered: &Json,
        emitted: &Validator,
        values: impl Iterator<Item = Json>,
        told: (&str, &Notes),
    ) {
        for value in values.filter(|value| emitted.is_valid(value)) {
            let read = without_nulls(&value, &[schema], schema, 12);
            assert!(
                original.is_valid(&read) || original.is_valid(&value),
                "{} accepts {value}, which is {read}:\n{schema}\n{lowered}\n{:?}",
                told.0,
                told.1
            );
            self.strict += 1;
        }
    }
}

#[test]
fn a_lowering_keeps_what_it_promises() {
    let variable = |name| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let only: Option<u64> = variable("TOOLCORE_SMOKE_ONLY");
    let count = variable("TOOLCORE_SMOKE_ITERATIONS").unwrap_or(3_000);
    let (first, last) = only.map_or((0, count), |only| (only, only + 1));
    let next = AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(8));
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let work = || {
            let mut tally = Tally::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= last {
                    return tally;
                }
                let told = OnPanic(number);
                tally.schema(number);
                drop(told);
            }
        };
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let line = [sum(|it| it.schemas), sum(|it| it.kept), sum(|it| it.same), sum(|it| it.strict)];
    println!("schemas, kept, the same, strict: {line:?}");
    if only.is_none() {
        assert!(
            line[0] > count / 2 && line[1] > count && line[2] > count && line[3] > count / 20,
            "{line:?}"
        );
    }
}

/// Tells the number of the schema on which a test fails.
struct OnPanic(u64);

impl Drop for OnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat with TOOLCORE_SMOKE_ONLY={}", self.0);
        }
    }
}
