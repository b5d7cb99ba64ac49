//! `wug stream`: items by number.

mod common;

use common::ok;

#[test]
fn items_are_addressed_by_number() {
    let many = ok(&["stream", "hint/symbol", "--seed", "7", "--count", "5000"]);
    let some =
        ok(&["stream", "hint/symbol", "--seed", "7", "--from", "4090", "--count", "10", "--threads", "1"]);
    let expected: Vec<&str> = many.lines().skip(4090).take(10).collect();
    assert_eq!(some.lines().collect::<Vec<_>>(), expected);
    let item: serde_json::Value = serde_json::from_str(expected[0]).unwrap();
    assert_eq!(item["id"], "train_00004090");
    assert!(item["facts"]["operators"].as_i64().unwrap() <= 10);
}

#[test]
fn a_person_sees_items() {
    insta::assert_snapshot!(ok(&["stream", "cogs/main#gen", "--count", "2", "--where", "type=cp_recursion"]));
    assert_eq!(ok(&["stream", "scan/length#test", "--size"]), "3920\n");
    assert_eq!(ok(&["stream", "hint/symbol", "--size"]), "endless\n");
}
