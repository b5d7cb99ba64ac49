use std::collections::BTreeSet;
use std::time::Instant;

use wug_data::{Stream, Streams};

use super::super::lf::{Conjunct, Form, Join, Notation, Term};
use super::*;

fn recogs(text: &str) -> Form<'_> {
    Form::parse(text, Notation::Recogs).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn cogs(text: &str) -> Form<'_> {
    Form::parse(text, Notation::Cogs).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Compares both ways round.
fn both(a: &Form<'_>, b: &Form<'_>) -> Match {
    let verdict = compare(a, b);
    assert_eq!(verdict, compare(b, a), "not symmetric: {a:?} {b:?}");
    verdict
}

#[test]
fn the_set_counts_and_not_how_it_is_written() {
    let gold = recogs("* girl ( 1 ) ; cake ( 4 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 4 )");
    for (prediction, verdict) in [
        ("eat ( a ) ; theme ( a , c ) ; agent ( a , b ) AND cake ( c ) AND * girl ( b )", Match::Equal),
        ("* girl ( 01 ) ; cake ( 1 ) ; eat ( 2 ) AND agent ( 2 , 01 ) AND theme ( 2 , 1 )", Match::Equal),
        // A literal repeat adds nothing.
        (
            "* girl ( 1 ) ; * girl ( 1 ) ; cake ( 4 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 4 )",
            Match::Equal,
        ),
        // Names of any length, beyond any integer.
        (
            "* girl ( 99999999999999999999999999 ) ; cake ( 99999999999999999999999998 ) ; eat ( x ) AND \
             agent ( x , 99999999999999999999999999 ) AND theme ( x , 99999999999999999999999998 )",
            Match::Equal,
        ),
        // The same without the star, with the roles exchanged, with one variable for two, with a structure twice.
        ("girl ( 1 ) ; cake ( 4 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 4 )", Match::Different),
        ("* girl ( 1 ) ; cake ( 4 ) ; eat ( 2 ) AND agent ( 2 , 4 ) AND theme ( 2 , 1 )", Match::Different),
        ("* girl ( 1 ) ; cake ( 1 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 1 )", Match::Different),
        (
            "* girl ( 1 ) ; cake ( 4 ) ; cake ( 5 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 4 ) AND \
             theme ( 2 , 5 )",
            Match::Different,
        ),
        ("Emma", Match::Different),
    ] {
        assert_eq!(both(&gold, &recogs(prediction)), verdict, "{prediction}");
    }
}

#[test]
fn the_faults_of_the_published_code_are_told_apart() {
    let gold = "girl ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )";
    for (prediction, right, published) in [
        ("girl ( 5 ) ; sleep ( 6 ) AND agent ( 6 , 5 )", Match::Equal, Match::Equal),
        ("sleep ( 6 ) AND agent ( 6 , 5 ) AND girl ( 5 )", Match::Equal, Match::Equal),
        (
            "girl ( 1 ) ; girl ( 3 ) ; sleep ( 2 ) AND agent ( 2 , 1 ) AND sleep ( 4 ) AND agent ( 4 , 3 )",
            Match::Different,
            Match::Equal,
        ),
        ("girl ( 1 ) ; girl ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )", Match::Equal, Match::Different),
        ("girl ( one ) ; sleep ( two ) AND agent ( two , one )", Match::Equal, Match::Different),
        ("girl ( 01 ) ; sleep ( 2 ) AND agent ( 2 , 01 )", Match::Equal, Match::Equal),
        ("boy ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )", Match::Different, Match::Different),
        ("* girl ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )", Match::Different, Match::Different),
    ] {
        assert_eq!(both(&recogs(gold), &recogs(prediction)), right, "{prediction}");
        assert_eq!(official::compare(gold, prediction), published, "{prediction}");
    }
    // Token boundaries vanish.
    assert_eq!(official::compare("girl ( 12 )", "gi rl ( 1 2 )"), Match::Equal);
    let lambda = "LAMBDA a . LAMBDA b . LAMBDA e . eat ( e ) AND agent ( e , b ) AND theme ( e , a )";
    assert_eq!(official::compare(lambda, lambda), Match::Equal);
}

#[test]
fn primitives_match_up_to_the_names_they_bind() {
    let gold = cogs("LAMBDA a . LAMBDA b . LAMBDA e . eat . agent ( e , b ) AND eat . theme ( e , a )");
    for (prediction, verdict) in [
        ("LAMBDA x . LAMBDA y . LAMBDA z . eat . theme ( z , x ) AND eat . agent ( z , y )", Match::Equal),
        ("LAMBDA b . LAMBDA a . LAMBDA e . eat . agent ( e , a ) AND eat . theme ( e , b )", Match::Equal),
        // The order of binding is part of what is said.
        (
            "LAMBDA b . LAMBDA a . LAMBDA e . eat . agent ( e , b ) AND eat . theme ( e , a )",
            Match::Different,
        ),
        ("LAMBDA a . LAMBDA b . eat . agent ( e , b ) AND eat . theme ( e , a )", Match::Different),
        (
            "LAMBDA a . LAMBDA b . LAMBDA e . LAMBDA f . eat . agent ( e , b ) AND eat . theme ( e , a )",
            Match::Different,
        ),
    ] {
        assert_eq!(both(&gold, &cogs(prediction)), verdict, "{prediction}");
    }
    assert_eq!(both(&cogs("Emma"), &cogs("Emma")), Match::Equal);
    assert_eq!(both(&cogs("Emma"), &cogs("Liam")), Match::Different);
    let constants = cogs("see . agent ( x _ 1 , Emma ) AND see . theme ( x _ 1 , Liam )");
    let exchanged = cogs("see . agent ( x _ 1 , Liam ) AND see . theme ( x _ 1 , Emma )");
    assert_eq!(both(&constants, &exchanged), Match::Different);
}

/// A form of up to 5 variables with few predicates, so that many are alike.
fn small(stream: &mut Stream) -> Form<'static> {
    let variables = 1 + stream.below(5) as usize;
    let conjuncts = 1 + stream.below(7);
    let mut form = Form::default();
    for _ in 0..conjuncts {
        let mut variable = || Term::numbered(stream.below(variables as u64) as usize);
        let (first, second) = (variable(), variable());
        let mut conjunct = match stream.below(5) {
            0 | 1 => Conjunct::one_place("p", first),
            2 => Conjunct::one_place("q", first),
            3 => Conjunct::two_place(None, vec!["r".into()], first, second),
            _ => Conjunct::two_place(None, vec!["s".into()], first, Term::Constant("c".into())),
        };
        conjunct.definite = stream.below(6) == 0;
        conjunct.join = if stream.coin(0.5) { Join::And } else { Join::Semicolon };
        form.conjuncts.push(conjunct);
    }
    form
}

/// A form that says the same, or nearly: renamed, shuffled, and sometimes altered in one place.
fn altered(form: &Form<'static>, stream: &mut Stream) -> Form<'static> {
    let mut names: Vec<usize> = (10..20).collect();
    stream.shuffle(&mut names);
    let mut form = form.clone();
    for term in form.conjuncts.iter_mut().flat_map(|conjunct| &mut conjunct.arguments) {
        if let Term::Variable(name) = term {
            let number: usize = name.parse().unwrap();
            *term = Term::numbered(names[number]);
        }
    }
    stream.shuffle(&mut form.conjuncts);
    let chosen = stream.below(form.conjuncts.len() as u64) as usize;
    match stream.below(4) {
        0 => form.conjuncts[chosen].arguments.reverse(),
        1 => {
            let other = stream.below(form.conjuncts.len() as u64) as usize;
            let term = form.conjuncts[other].arguments[0].clone();
            form.conjuncts[chosen].arguments[0] = term;
        }
        2 => form.conjuncts.push(form.conjuncts[chosen].clone()),
        _ => {}
    }
    form
}

/// Tries every bijection.
fn brute_force(a: &Form<'_>, b: &Form<'_>) -> bool {
    type Said<'f> = BTreeSet<(bool, String, Vec<(bool, String)>)>;
    fn said<'f>(form: &Form<'f>, rename: &dyn Fn(&str) -> String) -> Said<'f> {
        let conjunct = |conjunct: &Conjunct<'_>| {
            let arguments = conjunct.arguments.iter().map(|term| match term {
                Term::Constant(name) => (false, name.to_string()),
                term => (true, rename(term.name())),
            });
            let predicate: Vec<&str> = conjunct.predicate().collect();
            (conjunct.definite, predicate.join("."), arguments.collect())
        };
        form.conjuncts.iter().map(conjunct).collect()
    }
    fn variables<'f>(form: &'f Form<'_>) -> Vec<&'f str> {
        let terms = form.conjuncts.iter().flat_map(|conjunct| &conjunct.arguments);
        let set: BTreeSet<&str> = terms.filter(|t| matches!(t, Term::Variable(_))).map(Term::name).collect();
        set.into_iter().collect()
    }
    fn permutations(items: &mut Vec<usize>, from: usize, each: &mut dyn FnMut(&[usize]) -> bool) -> bool {
        if from == items.len() {
            return each(items);
        }
        for i in from..items.len() {
            items.swap(from, i);
            if permutations(items, from + 1, each) {
                return true;
            }
            items.swap(from, i);
        }
        false
    }
    let (of_a, of_b) = (variables(a), variables(b));
    if of_a.len() != of_b.len() {
        return false;
    }
    let target = said(b, &str::to_owned);
    let mut order: Vec<usize> = (0..of_a.len()).collect();
    permutations(&mut order, 0, &mut |order| {
        let rename = |name: &str| of_b[order[of_a.iter().position(|v| *v == name).unwrap()]].to_owned();
        said(a, &rename) == target
    })
}

#[test]
fn agrees_with_trying_every_bijection() {
    let streams = Streams::new("test", "sem", 0);
    let mut equal = 0;
    for i in 0..100_000 {
        let mut stream = streams.item(i);
        let a = small(&mut stream);
        let b = if i % 3 == 0 { small(&mut stream) } else { altered(&a, &mut stream) };
        let expected = if brute_force(&a, &b) { Match::Equal } else { Match::Different };
        assert_eq!(both(&a, &b), expected, "{} / {}", a.print(Notation::Recogs), b.print(Notation::Recogs));
        equal += usize::from(expected == Match::Equal);
    }
    assert!((20_000..80_000).contains(&equal), "{equal} of 100,000 are equal: the test is lopsided");
}

/// Edges between look-alike variables, as `r ( i , j )`.
fn graph(edges: impl IntoIterator<Item = (usize, usize)>) -> String {
    let edges: Vec<String> = edges.into_iter().map(|(i, j)| format!("r ( {i} , {j} )")).collect();
    edges.join(" AND ")
}

fn cycles(lengths: &[usize]) -> String {
    let mut start = 0;
    let mut edges = Vec::new();
    for &length in lengths {
        edges.extend((0..length).map(|i| (start + i, start + (i + 1) % length)));
        start += length;
    }
    graph(edges)
}

/// Forms that are hard to tell apart, with the verdict on them.
fn adversarial() -> Vec<(String, String, Match)> {
    let entities = |n: usize| (0..n).map(|i| format!("girl ( {i} )")).collect::<Vec<_>>().join(" ; ");
    let copies = |n: usize, swap: bool| {
        let one = |i: usize| {
            let (a, b) = if swap && i == n - 1 { ("theme", "agent") } else { ("agent", "theme") };
            let v = 3 * i;
            format!(
                "girl ( {v} ) ; girl ( {0} ) ; like ( {1} ) AND {a} ( {1} , {v} ) AND {b} ( {1} , {0} ) AND knows ( {v} , {0} )",
                v + 1,
                v + 2
            )
        };
        (0..n).map(one).collect::<Vec<_>>().join(" AND ")
    };
    let chain = |n: usize, last: &str| {
        let link = |i: usize| format!("like ( {i} ) AND agent ( {i} , 0 ) AND ccomp ( {i} , {} )", i + 1);
        let links: Vec<String> = (1..n).map(link).collect();
        format!("Liam ( 0 ) AND {} AND {last} ( {n} )", links.join(" AND "))
    };
    let rook = graph((0..16).flat_map(|i| {
        (0..16).filter(move |&j| i != j && (i / 4 == j / 4 || i % 4 == j % 4)).map(move |j| (i, j))
    }));
    let steps = [(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)];
    let shrikhande =
        graph((0..16).flat_map(|i| steps.map(|(x, y)| (i, ((i / 4 + x) % 4) * 4 + (i % 4 + y) % 4))));
    vec![
        (entities(20), entities(20), Match::Equal),
        (
            format!("{} AND same ( 0 , 1 )", entities(20)),
            format!("{} AND same ( 7 , 3 )", entities(20)),
            Match::Equal,
        ),
        (
            format!("{} AND same ( 0 , 1 )", entities(20)),
            format!("{} AND same ( 7 , 7 )", entities(20)),
            Match::Different,
        ),
        (cycles(&[20]), cycles(&[20]), Match::Equal),
        (cycles(&[20]), cycles(&[10, 10]), Match::Different),
        (cycles(&[4, 6, 10]), cycles(&[10, 4, 6]), Match::Equal),
        (cycles(&[4, 6, 10]), cycles(&[5, 5, 10]), Match::Different),
        (chain(40, "sleep"), chain(40, "sleep"), Match::Equal),
        (chain(40, "sleep"), chain(40, "laugh"), Match::Different),
        (chain(39, "sleep"), chain(40, "sleep"), Match::Different),
        (copies(10, false), copies(10, false), Match::Equal),
        (copies(10, false), copies(10, true), Match::Different),
        (rook.clone(), rook.clone(), Match::Equal),
        // Strongly regular with the same parameters: refinement alone cannot tell them apart.
        (rook, shrikhande, Match::Different),
    ]
}

#[test]
fn decides_adversarial_pairs() {
    let streams = Streams::new("test", "adversarial", 0);
    let pairs = adversarial();
    let start = Instant::now();
    let mut decided = 0;
    for round in 0..1000usize.div_ceil(pairs.len()) {
        for (i, (a, b, verdict)) in pairs.iter().enumerate() {
            let (a, mut b) = (recogs(a), recogs(b));
            streams.item((round * 100 + i) as u64).shuffle(&mut b.conjuncts);
            assert_eq!(compare(&a, &b), *verdict, "pair {i}");
            assert_eq!(compare(&b, &a), *verdict, "pair {i} the other way");
            decided += 1;
        }
    }
    assert!(decided >= 1000);
    // Seconds, not minutes: the bench measures how many.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn endless_searches_are_given_up() {
    // Two strongly regular graphs in one, many times over: each choice is wrong only at the end.
    let pairs = adversarial();
    let (rook, shrikhande, _) = &pairs[pairs.len() - 1];
    let copy = |text: &str, number: usize| {
        let word =
            |word: &str| word.parse::<usize>().map_or(word.to_owned(), |n| (n + 16 * number).to_string());
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    let copies = |choose: &dyn Fn(usize) -> bool| {
        let one = |number| copy(if choose(number) { rook } else { shrikhande }, number);
        (0..40).map(one).collect::<Vec<_>>().join(" AND ")
    };
    let (a, b) = (copies(&|_| true), copies(&|number| number % 2 == 0));
    assert_ne!(compare(&recogs(&a), &recogs(&b)), Match::Equal);
}

#[test]
fn says_what_is_missing_and_what_is_extra() {
    let gold = recogs("* girl ( 1 ) ; cake ( 4 ) ; eat ( 2 ) AND agent ( 2 , 1 ) AND theme ( 2 , 4 )");
    let prediction =
        recogs("girl ( 8 ) ; cake ( 5 ) ; eat ( 6 ) AND agent ( 6 , 8 ) AND recipient ( 6 , 5 )");
    let explanation = explain(&gold, &prediction, Notation::Recogs);
    assert_eq!(explanation.missing, ["* girl ( 1 )", "theme ( 2 , 4 )"]);
    assert_eq!(explanation.extra, ["girl ( 8 )", "recipient ( 6 , 5 )"]);
    let pairs: BTreeSet<(String, String)> = explanation.mapping.iter().cloned().collect();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(pairs, BTreeSet::from([pair("8", "1"), pair("5", "4"), pair("6", "2")]));
    assert_eq!(explanation.summary(1), "missing `* girl ( 1 )` and 1 more; extra `girl ( 8 )` and 1 more");
    assert!(explain(&gold, &gold, Notation::Recogs).missing.is_empty());
}
