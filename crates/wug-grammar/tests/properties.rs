//! What must hold for every grammar, checked on random ones against plain recursion.

use std::collections::HashMap;
use std::fmt::Write;

use num_bigint::BigUint;
use proptest::prelude::*;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use wug_grammar::{Algebra, Arena, Error, Grammar, NodeId, Parser, RuleId, Sort, Space, Strings};

/// The text of a random grammar without recursion: a rule of sort `Si` has arguments `Sj` with j > i only.
fn finite_grammar() -> impl Strategy<Value = String> {
    let item = prop_oneof![
        (0usize..4).prop_map(|word| format!("w{word}")),
        (1usize..4).prop_map(|up| format!("+{up}"))
    ];
    let rule = prop::collection::vec(item, 1..4);
    let sort = prop::collection::vec(rule, 1..4);
    prop::collection::vec(sort, 1..4).prop_map(|sorts| {
        let mut text = String::new();
        for (i, rules) in sorts.iter().enumerate() {
            for (j, items) in rules.iter().enumerate() {
                let words: Vec<String> = items
                    .iter()
                    .map(|item| match item.strip_prefix('+').map(|up| i + up.parse::<usize>().unwrap()) {
                        Some(sort) if sort < sorts.len() => format!("S{sort}"),
                        Some(_) => "leaf".to_owned(),
                        None => item.clone(),
                    })
                    .collect();
                writeln!(text, "r{i}_{j}: S{i} -> {} [{}]", words.join(" "), j + 1).unwrap();
            }
        }
        text
    })
}

/// A tree of its own kind, so that the check shares nothing with the arena.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Plain(RuleId, Vec<Plain>);

fn plain(arena: &Arena, tree: NodeId) -> Plain {
    Plain(arena.rule(tree), arena.children(tree).iter().map(|&child| plain(arena, child)).collect())
}

/// All trees of a sort with at most `depth` levels, by plain recursion, in the order that [`Space`] promises.
fn all_trees(grammar: &Grammar, sort: Sort, depth: usize) -> Vec<Plain> {
    if depth == 0 {
        return Vec::new();
    }
    let mut trees = Vec::new();
    for &rule in grammar.rules_of(sort) {
        let mut partial = vec![Vec::new()];
        for &argument in grammar.rule(rule).arguments() {
            let below = all_trees(grammar, argument, depth - 1);
            partial = partial
                .iter()
                .flat_map(|children: &Vec<Plain>| {
                    below.iter().map(|tree| [children.as_slice(), std::slice::from_ref(tree)].concat())
                })
                .collect();
        }
        trees.extend(partial.into_iter().map(|children| Plain(rule, children)));
    }
    trees
}

fn size(tree: &Plain) -> usize {
    1 + tree.1.iter().map(size).sum::<usize>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn counting_listing_and_indexing_agree(text in finite_grammar()) {
        let (grammar, _) = Grammar::parse(&text).unwrap();
        let sort = grammar.sort("S0").unwrap();
        let space = Space::all(&grammar, sort).unwrap();
        let expected = all_trees(&grammar, sort, 10);
        prop_assert_eq!(space.count(), BigUint::from(expected.len()));

        let mut arena = Arena::new();
        let listed = space.enumerate(&mut arena).unwrap();
        let listed: Vec<Plain> = listed.iter().map(|&tree| plain(&arena, tree)).collect();
        prop_assert_eq!(&listed, &expected);

        for (i, wanted) in expected.iter().enumerate().take(300) {
            let index = BigUint::from(i);
            let tree = space.unrank(&mut arena, &index).unwrap();
            prop_assert_eq!(&plain(&arena, tree), wanted);
            prop_assert_eq!(space.rank(&arena, tree), Some(index));
        }
        prop_assert!(space.unrank(&mut arena, &space.count()).is_none());
    }

    #[test]
    fn a_sentence_has_exactly_the_trees_that_say_it(text in finite_grammar()) {
        let (grammar, words) = Grammar::parse(&text).unwrap();
        let sort = grammar.sort("S0").unwrap();
        let parser = Parser::new(&grammar, &words).unwrap();
        let mut arena = Arena::new();
        let trees = Space::all(&grammar, sort).unwrap().enumerate(&mut arena).unwrap();
        let mut by_sentence: HashMap<String, Vec<NodeId>> = HashMap::new();
        for tree in trees.into_iter().take(500) {
            by_sentence.entry(words.text(&arena, tree)).or_default().push(tree);
        }
        let complete = by_sentence.values().map(Vec::len).sum::<usize>() < 500;
        for (sentence, trees) in by_sentence {
            let parses = parser.parse(sort, &parser.words(&sentence).unwrap());
            for &tree in &trees {
                prop_assert!(parses.rank(&arena, tree).is_some(), "{} lost {}", sentence, arena.display(&grammar, tree));
            }
            if complete {
                prop_assert_eq!(parses.count(), BigUint::from(trees.len()));
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[A-C a-c:>|\\[\\]0-9.#$\n-]{0,80}") {
        if let Ok((grammar, words)) = Grammar::parse(&text) {
            let _ = Parser::new(&grammar, &words);
            let _ = Strings::parse(&grammar, &text);
            for sort in ["A", "B", "C"] {
                if let Ok(sort) = grammar.sort(sort) {
                    let _ = Space::all(&grammar, sort).map(|space| space.count());
                    let _ = Space::of_depth(&grammar, sort, 3).map(|space| space.count());
                }
            }
        }
    }
}

const ARITHMETIC: &str = "plus: E -> E + E [0.3]\nneg: E -> - E [0.1]\nE -> 1 [0.4] | 2 [0.2]";

#[test]
fn sizes_and_depths_bound_recursion() {
    let (grammar, _) = Grammar::parse(ARITHMETIC).unwrap();
    let sort = grammar.sort("E").unwrap();
    assert_eq!(Space::all(&grammar, sort).unwrap_err(), Error::Infinite("E".to_owned()));
    let shallow = all_trees(&grammar, sort, 4);
    for nodes in 0..=4 {
        // A tree of n nodes has at most n levels.
        let expected: Vec<&Plain> = shallow.iter().filter(|tree| size(tree) == nodes).collect();
        let mut arena = Arena::new();
        let space = Space::of_size(&grammar, sort, nodes).unwrap();
        let trees = space.enumerate(&mut arena).unwrap();
        let listed: Vec<Plain> = trees.iter().map(|&tree| plain(&arena, tree)).collect();
        assert_eq!(listed.len(), expected.len(), "{nodes} nodes");
        assert!(listed.iter().all(|tree| expected.contains(&tree)));
        for (i, &tree) in trees.iter().enumerate() {
            assert_eq!(space.rank(&arena, tree), Some(BigUint::from(i)));
        }
    }
    for depth in 0..=4 {
        let space = Space::of_depth(&grammar, sort, depth).unwrap();
        assert_eq!(space.count(), BigUint::from(all_trees(&grammar, sort, depth).len()));
    }
    // Far beyond what could be listed: binary trees with 50 operators are counted by a Catalan number.
    let (grammar, _) = Grammar::parse("plus: E -> E + E\nE -> 1").unwrap();
    let space = Space::of_size(&grammar, grammar.sort("E").unwrap(), 101).unwrap();
    assert_eq!(space.count().to_string(), "1978261657756160653623774456");
    let mut arena = Arena::new();
    let index: BigUint = "1234567890123456789012345678".parse().unwrap();
    let tree = space.unrank(&mut arena, &index).unwrap();
    assert_eq!(space.rank(&arena, tree), Some(index));
    assert!(matches!(space.enumerate(&mut arena), Err(Error::TooMany(_))));
}

/// The chi-square statistic of counts against expected counts.
fn chi_square(observed: &[f64], expected: &[f64]) -> f64 {
    observed.iter().zip(expected).map(|(o, e)| (o - e).powi(2) / e).sum()
}

#[test]
fn sampling_is_uniform() {
    let (grammar, _) = Grammar::parse(ARITHMETIC).unwrap();
    let space = Space::of_size(&grammar, grammar.sort("E").unwrap(), 4).unwrap();
    let count = 2 + 4 + 4 + 4u32; // - - - x, - (x + y), (- x) + y, x + (- y)
    assert_eq!(space.count(), BigUint::from(count));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut observed = vec![0.0; count as usize];
    let mut arena = Arena::new();
    for _ in 0..1000 * count {
        let tree = space.sample(&mut arena, &mut rng).unwrap();
        let rank: usize = space.rank(&arena, tree).unwrap().to_string().parse().unwrap();
        observed[rank] += 1.0;
    }
    // 13 degrees of freedom: below 34.5 in 99.9% of all cases.
    let chi = chi_square(&observed, &vec![1000.0; count as usize]);
    assert!(chi < 34.5, "chi-square {chi} over {count} trees");
}

/// The product of the weights of a tree's rules.
struct Weight<'g>(&'g Grammar);

impl Algebra for Weight<'_> {
    type Value = f64;

    fn apply(&mut self, rule: RuleId, children: &[f64]) -> f64 {
        self.0.rule(rule).weight() * children.iter().product::<f64>()
    }
}

#[test]
fn weighted_sampling_follows_the_weights() {
    let (grammar, _) = Grammar::parse(ARITHMETIC).unwrap();
    let sort = grammar.sort("E").unwrap();
    let space = Space::of_depth(&grammar, sort, 3).unwrap();
    let mut arena = Arena::new();
    let trees = space.enumerate(&mut arena).unwrap();
    let weights: Vec<f64> = trees.iter().map(|&tree| Weight(&grammar).evaluate(&arena, tree)).collect();
    let total: f64 = weights.iter().sum();
    let draws = 200_000.0;

    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut conditioned = vec![0.0; trees.len()];
    for _ in 0..draws as usize {
        let mut arena = Arena::new();
        let tree = space.sample_weighted(&mut arena, &mut rng).unwrap();
        let rank: usize = space.rank(&arena, tree).unwrap().to_string().parse().unwrap();
        conditioned[rank] += 1.0;
    }
    let expected: Vec<f64> = weights.iter().map(|weight| weight / total * draws).collect();
    let chi = chi_square(&conditioned, &expected);
    // Degrees of freedom k: mean k, standard deviation sqrt(2k); four of them is far out.
    let freedom = (trees.len() - 1) as f64;
    assert!(chi < freedom + 4.0 * (2.0 * freedom).sqrt(), "chi-square {chi} for {freedom}");

    // From the top, without a bound: those that happen to be shallow are distributed the same way.
    let mut free = vec![0.0; trees.len()];
    let mut shallow = 0.0;
    for _ in 0..draws as usize {
        let mut arena = Arena::new();
        if let Some(tree) = grammar.sample(sort, &mut arena, &mut rng, 1000)
            && let Some(rank) = space.rank(&arena, tree)
        {
            free[rank.to_string().parse::<usize>().unwrap()] += 1.0;
            shallow += 1.0;
        }
    }
    let expected: Vec<f64> = weights.iter().map(|weight| weight / total * shallow).collect();
    let chi = chi_square(&free, &expected);
    assert!(chi < freedom + 4.0 * (2.0 * freedom).sqrt(), "chi-square {chi} for {freedom}");
}

#[test]
fn a_rule_that_loops_without_words_is_refused() {
    let (grammar, words) = Grammar::parse("A -> B\nback: B -> A\nB -> word").unwrap();
    let error = Parser::new(&grammar, &words).unwrap_err();
    assert_eq!(error.to_string(), "sort `A` can be rewritten to itself without words");
}

#[test]
fn an_impossible_sort_has_no_trees() {
    let (grammar, words) = Grammar::parse("A -> B x\nB -> B y").unwrap();
    let sort = grammar.sort("A").unwrap();
    let parser = Parser::new(&grammar, &words).unwrap();
    assert!(parser.parse(sort, &parser.words("y x").unwrap()).is_empty());
    assert_eq!(Space::of_depth(&grammar, sort, 20).unwrap().count(), BigUint::default());
}
