use super::*;

#[test]
fn every_notation_comes_back() {
    for (notation, text) in [
        (
            Notation::Cogs,
            "* girl ( x _ 1 ) ; offer . agent ( x _ 2 , x _ 1 ) AND weapon . nmod . beside ( x _ 4 , x _ 7 )",
        ),
        (Notation::Cogs, "LAMBDA a . LAMBDA b . LAMBDA e . eat . agent ( e , b ) AND eat . theme ( e , a )"),
        (Notation::Cogs, "Emma"),
        (Notation::Cogs, " ; sell . agent ( x _ 1 , Emma ) AND box ( x _ 3 )"),
        (Notation::Reduced(Removal::X), "boy ( 3 ) AND hold . agent ( 1 , Liam )"),
        (Notation::Reduced(Removal::XParen), "boy 3 AND hold . agent 1 , Liam"),
        (Notation::Reduced(Removal::XParenComma), "* boy 3 ; hold . agent 1 Liam"),
        (Notation::Reduced(Removal::XParenComma), "LAMBDA a . LAMBDA e . crawl . agent e a"),
        (
            Notation::Recogs,
            "Liam ( 22 ) ; * box ( 18 ) ; hope ( 27 ) AND agent ( 27 , 22 ) AND nmod . on ( 18 , 22 )",
        ),
        (Notation::Recogs, "LAMBDA a . LAMBDA e . crawl ( e ) AND agent ( e , a )"),
        (Notation::VariableFree, "need ( agent = zebra , xcomp = walk ( agent = zebra ) )"),
        (
            Notation::VariableFree,
            "paint ( agent = Liam , theme = box ( nmod . on = table ( nmod . beside = * chair ) ) )",
        ),
        (Notation::VariableFree, "LAMBDA a . girl ( a )"),
        (Notation::VariableFree, "Emma"),
    ] {
        let form = Form::parse(text, notation).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(form.print(notation), text);
    }
}

#[test]
fn spaces_are_free() {
    let spaced = Form::parse("* girl ( x _ 1 ) ; sleep . agent ( x _ 2 , x _ 1 )", Notation::Cogs).unwrap();
    let tight = Form::parse("*girl(x_1);sleep.agent(x_2,x_1)", Notation::Cogs).unwrap();
    assert_eq!(spaced, tight);
}

#[test]
fn errors_say_where() {
    for (text, notation, error) in [
        ("", Notation::Cogs, "column 1: expected a predicate, found the end"),
        ("girl ( x _ 1 ) AND", Notation::Cogs, "column 19: expected a predicate, found the end"),
        ("girl ( x _ 1 ) ) ", Notation::Cogs, "column 16: expected `;`, `AND` or the end, found `)`"),
        ("gi rl ( 1 )", Notation::Recogs, "column 4: expected `;`, `AND` or the end, found `rl`"),
        ("girl ( ( 1 ) )", Notation::Recogs, "column 8: expected an argument, found `(`"),
        ("é ( 1 ) ; ; a ( 2 )", Notation::Recogs, "column 11: expected a predicate, found `;`"),
        ("LAMBDA a girl ( a )", Notation::Cogs, "column 10: expected `.`, found `girl`"),
        ("eat ( agent zebra )", Notation::VariableFree, "column 13: expected `=`, found `zebra`"),
        ("eat ( agent = zebra", Notation::VariableFree, "column 20: expected `,` or `)`, found the end"),
        ("eat ( agent = zebra ) )", Notation::VariableFree, "column 23: expected the end, found `)`"),
    ] {
        assert_eq!(Form::parse(text, notation).unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn nesting_may_be_deep() {
    let text = format!("{}a{}", "a ( b = ".repeat(100_000), " )".repeat(100_000));
    let form = Form::parse(&text, Notation::VariableFree).unwrap();
    assert_eq!(form.conjuncts.len(), 200_001);
    assert!(Form::parse(&"( ".repeat(100_000), Notation::VariableFree).is_err());
}

#[test]
fn loops_end() {
    let form = Form::parse("a . r ( x _ 1 , x _ 2 ) AND b . s ( x _ 2 , x _ 1 )", Notation::Cogs).unwrap();
    assert_eq!(form.print(Notation::VariableFree), "a ( r = b ( s = a ) )");
}
