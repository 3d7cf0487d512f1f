//! Items that are to be unique: which ones are equal, and what it costs to tell many apart.

use super::{Schema, program, violations};
use toolcore::schema::{CheckOptions, NoReport};

#[test]
fn items_that_differ_in_order_or_pairing_alone_are_told_apart_in_few_steps() {
    let schema = program(r#"{"uniqueItems":true}"#);
    let schema = Schema::new(r#"{"uniqueItems":true}"#, &schema);
    let check = |text: &str, words: usize| {
        schema.check(text.as_bytes(), &CheckOptions::default(), &mut vec![0; words], &mut NoReport)
    };
    let mut orders = vec![vec![]];
    for number in 0..7 {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<u32>| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, number);
                    longer
                })
            })
            .collect();
    }
    let permutations: Vec<String> = orders.iter().take(850).map(|order| format!("{order:?}")).collect();
    let points: Vec<String> =
        (0..2250).map(|i| format!("{{\"x\":{},\"y\":{{\"z\":[{}]}}}}", i / 50, i % 50)).collect();
    let edges: Vec<String> =
        (0..3000).flat_map(|i| [format!("[{i},{}]", i + 1), format!("[{},{i}]", i + 1)]).collect();
    for items in [permutations, points, edges] {
        let words = schema.work_words(&CheckOptions::default());
        for words in [words, words + 2 * items.len()] {
            let verdict = check(&format!("[{}]", items.join(",")), words).unwrap();
            assert!(verdict.valid, "{} {words}", items[1]);
            let verdict = check(&format!("[{},{}]", items.join(","), items[3]), words).unwrap();
            assert!(!verdict.valid, "{} {words}", items[1]);
        }
    }
}

#[test]
fn items_are_equal_whatever_the_order_of_members_and_the_form_of_numbers_and_strings() {
    let deep = |inner: &str| format!("{}{inner}{}", "{\"a\":[".repeat(12), "]}".repeat(12));
    for (one, other) in [
        (
            r#"{"a":1,"b":[2,{"c":3,"d":4}]}"#.to_owned(),
            r#"{"b":[2.0,{"d":40e-1,"\u0063":3}],"a":1e0}"#.to_owned(),
        ),
        (r#"["\u0061","é",-0]"#.to_owned(), r#"["a","\u00e9",0]"#.to_owned()),
        (deep(r#"{"x":{"k":1},"y":2},{"z":3}"#), deep(r#"{"y":2,"x":{"k":1.0}},{"z":3}"#)),
    ] {
        let others: Vec<String> = (0..20).map(|i| i.to_string()).collect();
        let array = format!("[{one},{},{other}]", others.join(","));
        assert_eq!(
            violations(r#"{"uniqueItems":true}"#, &array),
            [": expected unique items, got equal ones at 0 and 21"]
        );
    }
}
