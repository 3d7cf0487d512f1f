//! Schemas and instances that try to make a check take more time than the steps allow: each ends in a typed
//! error or a verdict, in bounded time and on a stack of constant size.

use std::time::{Duration, Instant};

use super::{All, try_program};
use toolcore::schema::{CheckError, CheckOptions, CompileOptions, Draft, NoReport, Report, Schema};

/// Ample for 100,000 steps and a few passes over 100 kB without optimisation, and little for a thousand million
/// of anything.
const AMPLE: Duration = Duration::from_secs(20);

/// Checks with 100,000 steps, on a small stack.
fn check(
    name: &'static str,
    schema: &str,
    instance: &str,
    words: usize,
    aloud: bool,
) -> Result<usize, CheckError> {
    let options = CompileOptions { default_draft: Draft::Draft2020, ..CompileOptions::default() };
    let program = try_program(schema, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let start = Instant::now();
    let result = std::thread::scope(|scope| {
        let checked = || {
            let schema = Schema::new(schema, &program);
            let options = CheckOptions { steps: 100_000, ..CheckOptions::default() };
            let words = words.max(schema.work_words(&options));
            let (mut all, mut none) = (All::default(), NoReport);
            let report: &mut dyn Report = if aloud { &mut all } else { &mut none };
            schema.check(instance.as_bytes(), &options, &mut vec![0; words], report)
        };
        std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn_scoped(scope, checked)
            .unwrap()
            .join()
            .unwrap()
    });
    let (took, sizes) = (start.elapsed(), (schema.len() / 1024, instance.len() / 1024));
    let shown = result.as_ref().map(|verdict| verdict.problems);
    println!("{name}: {} kB and {} kB in {took:?}: {shown:?}", sizes.0, sizes.1);
    assert!(took < AMPLE, "{name} took {took:?}");
    result.map(|verdict| verdict.problems)
}

fn repeat(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(",")
}

fn array(count: usize, item: impl Fn(usize) -> String) -> String {
    format!("[{}]", repeat(count, item))
}

const LIMIT: Result<usize, CheckError> = Err(CheckError::StepLimit);

#[test]
fn items_that_look_alike_end_at_the_budget() {
    // The same numbers in another order, too deep for a fingerprint to tell them apart.
    let deep = |inner: String| format!("{}{inner}{}", "[".repeat(17), "]".repeat(17));
    let alike =
        |count: usize| array(count, |turn| deep(array(600, |number| ((number + turn) % 600).to_string())));
    assert_eq!(check("items alike", r#"{"uniqueItems":true}"#, &alike(300), 0, false), LIMIT);
    assert_eq!(check("items alike, room", r#"{"uniqueItems":true}"#, &alike(300), 50_000, false), LIMIT);
    let inside = r#"{"items":{"items":{"uniqueItems":true}}}"#;
    let many = array(40, |_| array(40, |_| array(60, |number| number.to_string())));
    assert_eq!(check("many arrays", inside, &many, 0, false), LIMIT);
}

#[test]
fn alternatives_end_at_the_budget() {
    let nest = (0..60).fold("{\"type\":\"null\"}".to_owned(), |inner, _| {
        format!("{{\"anyOf\":[{inner},{{\"type\":\"null\"}}]}}")
    });
    // A path of 60 nests is short; the doubling one is not.
    assert_eq!(check("a nest", &nest, "1", 0, false), Ok(1));
    let defs = repeat(40, |i| {
        let next = format!("{{\"$ref\":\"#/$defs/d{}\"}}", i + 1);
        format!("\"d{i}\":{{\"oneOf\":[{next},{next},{{\"not\":{next}}}]}}")
    });
    let doubling = format!("{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{defs},\"d40\":{{\"enum\":[[],5]}}}}}}");
    assert_eq!(check("a doubling nest", &doubling, "[1]", 0, true), LIMIT);
    let wide =
        format!("{{\"items\":{{\"anyOf\":[{}]}}}}", repeat(20_000, |_| "{\"type\":\"null\"}".to_owned()));
    assert_eq!(check("wide alternatives", &wide, &array(20_000, |_| "7".to_owned()), 0, false), LIMIT);
    let tried = format!(
        "{{\"items\":{{\"not\":{{\"required\":[{}]}}}}}}",
        repeat(20_000, |number| format!("\"n{number}\""))
    );
    assert_eq!(check("names that are missing", &tried, &array(20_000, |_| "{}".to_owned()), 0, false), LIMIT);
}

#[test]
fn values_are_compared_within_the_budget() {
    let values = repeat(20_000, |number| format!("\"v{number}\""));
    let instance = array(20_000, |_| "\"w\"".to_owned());
    assert_eq!(
        check("values", &format!("{{\"items\":{{\"enum\":[{values}]}}}}"), &instance, 0, false),
        LIMIT
    );
    let member = |number: usize| format!("\"k{number}\":{number}");
    let object = format!("{{{}}}", repeat(5_000, member));
    let turned = format!("{{{}}}", repeat(5_000, |number| member(4_999 - number)));
    assert_eq!(check("an object", &format!("{{\"const\":{object}}}"), &turned, 0, false), LIMIT);
}

#[test]
fn keys_that_stand_twice_end_at_the_budget() {
    let twice = format!("{{{}}}", repeat(20_000, |number| format!("\"k{}\":0", number % 10_000)));
    assert_eq!(check("keys", "{}", &twice, 0, false), LIMIT);
    assert_eq!(check("keys, told", "{}", &twice, 0, true), LIMIT);
    let same = format!("{{{}}}", repeat(10_000, |_| "\"k\":0".to_owned()));
    assert_eq!(check("one key", "{}", &same, 30_000, false), Ok(9_999));
    // Where each stands is found by reading from the start.
    assert_eq!(check("one key, told", "{}", &same, 0, true), LIMIT);
}

#[test]
fn dynamic_references_end_at_the_budget() {
    let documents = repeat(200, |number| {
        format!(
            "\"d{number}\":{{\"$id\":\"http://a/d{number}\",\"$dynamicAnchor\":\"n\",\"items\":{{\"$ref\":\"d{number}\"}}}}"
        )
    });
    let schema = format!(
        "{{\"$id\":\"http://a/root\",\"$dynamicAnchor\":\"n\",\"items\":{{\"$dynamicRef\":\"#n\"}},\"$defs\":{{{documents}}}}}"
    );
    let instance =
        array(100, |_| format!("{}{}{}", "[".repeat(60), array(50, |_| "[]".to_owned()), "]".repeat(60)));
    assert_eq!(check("dynamic references", &schema, &instance, 0, false), LIMIT);
}

#[cfg(all(feature = "pattern", feature = "format", feature = "unevaluated"))]
#[test]
fn notes_of_what_was_looked_at_end_at_the_budget() {
    let branches = repeat(3_000, |number| format!("{{\"properties\":{{\"p{number}\":{{}}}}}}"));
    let schema = format!("{{\"allOf\":[{branches}],\"unevaluatedProperties\":false}}");
    let instance = format!("{{{}}}", repeat(2_000, |number| format!("\"q{number}\":0")));
    assert_eq!(check("members", &schema, &instance, 20_000, false), LIMIT);
    let contains =
        repeat(3_000, |number| format!("{{\"contains\":{{\"const\":{number}}},\"minContains\":0}}"));
    let schema = format!("{{\"allOf\":[{contains}],\"unevaluatedItems\":false}}");
    assert_eq!(check("items", &schema, &array(2_000, |_| "[]".to_owned()), 20_000, false), LIMIT);
}

#[cfg(feature = "pattern")]
#[test]
fn patterns_end_at_the_budget() {
    let text = format!("\"{}!\"", "a".repeat(20_000));
    for pattern in ["(a+)+$", "(a|a)*$", "(a?){50}a{50}$", "^(?=.*b)(a|aa)+$", "(.*)(.*)(.*)(.*)x"] {
        let schema = format!("{{\"pattern\":\"{pattern}\"}}");
        // Linear, or over the budget; never in vain for long.
        check("a pattern", &schema, &text, 0, false).ok();
    }
    // Nodes of many instructions, of which none concerns the value.
    let patterns = repeat(8_000, |number| format!("\"^p{number}\":{{}}"));
    let ones = array(20_000, |_| "1.5".to_owned());
    for (name, more, instance) in [
        ("numbers", "\"minimum\":1", ones.clone()),
        ("strings", "\"maxLength\":9", array(20_000, |_| "\"s\"".to_owned())),
        ("arrays", "\"maxItems\":9", array(20_000, |_| "[]".to_owned())),
        ("words", "\"enum\":[null]", array(20_000, |_| "null".to_owned())),
        ("contains", "\"contains\":{\"type\":\"null\"}", array(10, |_| array(2_000, |_| "1.5".to_owned()))),
        ("alternatives", "\"anyOf\":[{\"minimum\":1}]", ones.clone()),
        ("objects", "\"maxItems\":1", array(20_000, |_| "{\"q\":1}".to_owned())),
    ] {
        let schema = format!("{{\"items\":{{\"patternProperties\":{{{patterns}}},{more}}}}}");
        assert_eq!(check(name, &schema, &instance, 0, false), LIMIT);
    }
    // A long key, and many patterns that match it at once.
    let empty = repeat(8_000, |number| format!("\"(?:){number}|\":true"));
    let schema = format!("{{\"patternProperties\":{{{empty}}}}}");
    assert_eq!(check("a long key", &schema, &format!("{{\"{}\":0}}", "k".repeat(90_000)), 0, false), LIMIT);
}

#[test]
fn large_tables_end_at_the_budget() {
    let properties = repeat(20_000, |number| format!("\"n{number}\":{{}}"));
    let schema = format!("{{\"items\":{{\"properties\":{{{properties}}}}}}}");
    assert_eq!(check("a table", &schema, &array(20_000, |_| "{}".to_owned()), 0, false), LIMIT);
}

#[test]
fn many_items_are_unique_with_the_least_work_memory() {
    let program = try_program(r#"{"uniqueItems":true}"#, &CompileOptions::default()).unwrap();
    let schema = Schema::new(r#"{"uniqueItems":true}"#, &program);
    let options = CheckOptions::default();
    let check = |instance: &str, words: usize| {
        schema.check(instance.as_bytes(), &options, &mut vec![0; words], &mut NoReport).map(|v| v.valid)
    };
    let least = schema.work_words(&options);
    let numbers =
        |count: usize, last: &str| format!("[{}{last}]", repeat(count, |number| number.to_string()));
    for words in [least, least + 100, least + 20_002] {
        assert_eq!(check(&numbers(5_000, ""), words), Ok(true), "{words}");
        assert_eq!(check(&numbers(5_000, ",4999.0"), words), Ok(false), "{words}");
        assert_eq!(check(&numbers(5_000, ",0e7"), words), Ok(false), "{words}");
    }
    // Beyond that the budget ends it, unless there are two more words for each item.
    assert_eq!(check(&numbers(50_000, ""), least), LIMIT.map(|_| true));
    assert_eq!(check(&numbers(50_000, ""), least + 100_000), Ok(true));
    assert_eq!(check(&numbers(50_000, ",1e1"), least + 100_002), Ok(false));
}
