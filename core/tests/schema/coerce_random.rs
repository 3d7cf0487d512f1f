//! What holds for coercion whatever the schema and the arguments are.

use serde_json::{Value as Json, json};

use super::random::{Random, fits};
use super::{program, text, violations};
use toolcore::schema::{CheckOptions, CoerceError, CoerceOptions, Rule, Schema, coerce};

/// A run of a coercion with so many steps, words and bytes.
struct Run<'s> {
    schema: &'s str,
    program: &'s [u8],
    wrap: bool,
}

type Changes = Vec<(String, Rule)>;

impl Run<'_> {
    fn with(
        &self,
        instance: &str,
        steps: u32,
        words: usize,
        bytes: usize,
    ) -> (Result<Option<String>, CoerceError>, Changes) {
        let check = CheckOptions { steps, ..CheckOptions::default() };
        let options = CoerceOptions { check, wrap_scalars: self.wrap, ..CoerceOptions::default() };
        let schema = Schema::new(self.schema, self.program);
        let (mut work, mut out, mut changes) = (vec![0; words], vec![0xA5; bytes], Vec::new());
        let result = coerce(schema, instance, &options, &mut work, &mut out, &mut |change| {
            changes.push((text(|sink| change.write_path(sink)), change.rule));
        });
        (result.map(|text| text.map(str::to_owned)), changes)
    }

    fn ample(&self, instance: &str) -> (Option<String>, Changes) {
        let (result, changes) = self.with(instance, 1_000_000, 20_000, 100_000);
        (result.unwrap_or_else(|error| panic!("{}: {instance}: {error}", self.schema)), changes)
    }
}

#[test]
fn what_is_coerced_is_what_was_not_accepted_and_nothing_else() {
    let mut random = Random(17);
    let (mut valid, mut mended, mut half) = (0, 0, 0);
    for round in 0..1500 {
        let mut schema = random.schema(3);
        random.add_defaults(&mut schema);
        let shown = schema.to_string();
        let program = program(&shown);
        let run = Run { schema: &shown, program: &program, wrap: random.below(3) == 0 };
        for _ in 0..5 {
            let mut instance = random.instance(&schema, 3);
            let spoiled = random.below(4) > 0;
            if spoiled {
                random.spoil(&mut instance);
            }
            let was_valid = fits(&schema, &instance);
            let spelled = random.spelled(&instance);
            let (coerced, changes) = run.ample(&spelled);
            let said = || format!("{round}: {shown}\n  {spelled}\n  {coerced:?} {changes:?}");
            assert_eq!(coerced.is_some(), !changes.is_empty(), "{}", said());
            let Some(result) = &coerced else {
                valid += i32::from(was_valid);
                continue;
            };
            let after: Json = serde_json::from_str(result).unwrap_or_else(|_| panic!("{}", said()));
            let is_valid = violations(&shown, result).is_empty();
            assert_eq!(is_valid, fits(&schema, &after), "{}", said());
            if was_valid {
                // Only what was absent is there now, and all else byte for byte.
                assert!(is_valid, "{}", said());
                assert!(changes.iter().all(|(_, rule)| *rule == Rule::DefaultAdded), "{}", said());
                let mut without = after.clone();
                for (path, _) in changes.iter().rev() {
                    remove(&mut without, path);
                }
                assert_eq!(without, instance, "{}", said());
            }
            // The changes, applied one after the other by their paths, lead from the one to the other.
            let mut replayed = instance.clone();
            for number in 0..changes.len() {
                replay(&mut replayed, &changes[number..], &after);
            }
            assert_eq!(without_numbers(&replayed), without_numbers(&after), "{}", said());
            let (again, more) = run.ample(result);
            assert!(again.is_none() && more.is_empty(), "{}\n  again {again:?} {more:?}", said());
            if is_valid && !was_valid { mended += 1 } else { half += 1 }
        }
    }
    println!("{valid} valid, {mended} mended, {half} changed otherwise");
    assert!(valid > 2000 && mended > 150, "{valid} {mended} {half}");
}

/// Takes out the member that a pointer names.
fn remove(value: &mut Json, path: &str) {
    let (parent, key) = path.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/").replace("~0", "~");
    value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(&key).unwrap();
}

/// Makes the first of these changes, in the most literal way.
fn replay(value: &mut Json, changes: &[(String, Rule)], after: &Json) {
    let (path, rule) = &changes[0];
    match *rule {
        Rule::NullRemoved => {
            assert!(value.pointer(path).unwrap().is_null(), "{path}");
            remove(value, path);
        }
        Rule::DefaultAdded => {
            assert!(value.pointer(path).is_none(), "{path}");
            let (parent, key) = path.rsplit_once('/').unwrap();
            let key = key.replace("~1", "/").replace("~0", "~");
            // What is filled in later into this one is told by itself.
            let mut default = after.pointer(path).unwrap().clone();
            for (later, _) in changes[1..].iter().rev() {
                if let Some(inside) = later.strip_prefix(path).filter(|inside| inside.starts_with('/')) {
                    remove(&mut default, inside);
                }
            }
            value.pointer_mut(parent).unwrap().as_object_mut().unwrap().insert(key, default);
        }
        _ => {
            let place = value.pointer_mut(path).unwrap_or_else(|| panic!("{path}"));
            let string = place.as_str().map(|text| text.trim().to_owned());
            *place = match (*rule, string) {
                (Rule::IntegerFromString | Rule::NumberFromString, Some(text)) => {
                    serde_json::from_str(text.trim_start_matches('+')).unwrap()
                }
                (Rule::BooleanFromString, Some(text)) => {
                    json!(["true", "yes", "on", "1"].contains(&text.to_lowercase().as_str()))
                }
                (Rule::ArrayFromString | Rule::ObjectFromString, Some(text)) => {
                    serde_json::from_str(&text).unwrap()
                }
                (Rule::BooleanFromNumber, None) => json!(place.as_f64() == Some(1.0)),
                (Rule::ArrayFromScalar, _) => json!([place.take()]),
                other => panic!("{other:?} at {path}"),
            };
        }
    }
}

/// The same with all numbers as floats, so that 5 and 5.0 are one.
fn without_numbers(value: &Json) -> Json {
    match value {
        Json::Number(number) => json!(number.as_f64()),
        Json::Array(items) => items.iter().map(without_numbers).collect(),
        Json::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), without_numbers(value))).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn too_little_of_anything_is_a_named_error_at_each_size() {
    let mut random = Random(99);
    let mut tried = 0;
    while tried < 40 {
        let mut schema = random.schema(3);
        random.add_defaults(&mut schema);
        let shown = schema.to_string();
        let program = program(&shown);
        let run = Run { schema: &shown, program: &program, wrap: tried % 2 == 0 };
        let mut instance = random.instance(&schema, 3);
        random.spoil(&mut instance);
        let spelled = random.spelled(&instance);
        let (expected, changes) = run.ample(&spelled);
        if changes.len() < 2 {
            continue;
        }
        tried += 1;
        let enough = |steps, words, bytes| {
            let (result, told) = run.with(&spelled, steps, words, bytes);
            assert!(changes.starts_with(&told), "{shown} {spelled} {told:?} {changes:?}");
            result.map(|text| assert_eq!(text, expected, "{shown} {spelled}"))
        };
        let steps = (0..).find(|&steps| enough(steps, 20_000, 100_000).is_ok()).unwrap();
        for fewer in 0..steps {
            assert_eq!(enough(fewer, 20_000, 100_000), Err(CoerceError::StepLimit), "{shown} {spelled}");
        }
        let mut words = 0;
        while let Err(error) = enough(1_000_000, words, 100_000) {
            match error {
                CoerceError::NoWork { need } if need > words => {}
                other => panic!("{shown} {spelled}: {other:?} with {words} words"),
            }
            words += 1;
        }
        let mut bytes = 0;
        while let Err(error) = enough(1_000_000, 20_000, bytes) {
            match error {
                CoerceError::NoSpace { need } if need > bytes => {}
                other => panic!("{shown} {spelled}: {other:?} with {bytes} bytes"),
            }
            bytes += 1;
        }
    }
}

impl Random {
    /// Gives some properties defaults, which may be wrong.
    fn add_defaults(&mut self, schema: &mut Json) {
        match schema {
            Json::Array(items) => items.iter_mut().for_each(|item| self.add_defaults(item)),
            Json::Object(members) => {
                for (keyword, value) in members.iter_mut() {
                    if ["enum", "const", "required", "default"].contains(&keyword.as_str()) {
                        continue;
                    }
                    if keyword == "properties" {
                        for schema in value.as_object_mut().unwrap().values_mut() {
                            self.add_defaults(schema);
                            if self.below(3) == 0 && schema.is_object() {
                                let right = self.below(4) > 0;
                                let value = if right { self.instance(schema, 2) } else { self.value(1) };
                                schema["default"] = value;
                            }
                        }
                    } else {
                        self.add_defaults(value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Makes some values of another type than they are, as models do.
    fn spoil(&mut self, value: &mut Json) {
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| self.spoil(item)),
            Json::Object(members) => members.values_mut().for_each(|member| self.spoil(member)),
            _ => {}
        }
        let chance = self.below(5);
        if value.is_string() && chance > 0 || chance > 1 {
            return;
        }
        *value = match value {
            Json::Bool(value) if chance == 0 => json!(u8::from(*value)),
            Json::Array(items) if items.len() == 1 && chance == 0 => items[0].clone(),
            Json::String(_) => Json::Null,
            ref other => json!(other.to_string()),
        };
    }
}
