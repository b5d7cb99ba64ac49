//! The verdicts of the code that was published with Semantic Exact Match, faults included, so that published numbers
//! can be compared.
//!
//! It works on text: spaces are removed, conjuncts are what stands between `AND` and `;`, variables are runs of digits.
//! A predicted variable may become any gold variable that occurs with the same predicates (whatever the place, `*`
//! aside); the prediction is right if some choice uses every gold variable and makes the sets of conjuncts equal.
//! Two predicted variables may become the same one, so a structure said twice is accepted; a conjunct said twice is
//! not, because it is counted twice among the predicates.
//!
//! The published code goes through all choices, up to k^k for k look-alikes. This looks for one step by step instead,
//! and is bounded: [`Match::Undecided`] stands for a search that was given up.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Match;

/// The most steps of the search.
const MOST_STEPS: u64 = 200_000;

/// The published verdict on a prediction.
///
/// ```
/// use wug_bench::cogs::sem::{Match, official::compare};
///
/// let gold = "girl ( 1 ) ; sleep ( 2 ) AND agent ( 2 , 1 )";
/// let twice = "girl ( 1 ) ; girl ( 3 ) ; sleep ( 2 ) AND agent ( 2 , 1 ) AND sleep ( 4 ) AND agent ( 4 , 3 )";
/// assert_eq!(compare(gold, twice), Match::Equal);
/// assert_eq!(compare(twice, gold), Match::Different);
/// ```
pub fn compare(gold: &str, prediction: &str) -> Match {
    let (gold, prediction) = (normalised(gold), normalised(prediction));
    let (gold, prediction) = (Text::new(&gold), Text::new(&prediction));
    let gold_variables = digits(gold.text);
    // Digits in places where the code does not look for variables leave it without a mapping.
    let known: BTreeSet<&str> = prediction.predicates.keys().copied().collect();
    if known != digits(prediction.text) {
        return Match::Different;
    }
    let mut classes: HashMap<&[&str], Vec<&str>> = HashMap::new();
    for (variable, predicates) in &gold.predicates {
        classes.entry(predicates).or_default().push(variable);
    }
    let mut candidates: HashMap<&str, Vec<&str>> = HashMap::new();
    for (variable, predicates) in &prediction.predicates {
        let Some(class) = classes.get(predicates.as_slice()) else { return Match::Different };
        let mut class = class.clone();
        class.sort_unstable();
        candidates.insert(variable, class);
    }
    let gold_conjuncts: HashSet<Conjunct<'_>> = conjuncts(gold.text).into_iter().collect();
    let mut said: Vec<Conjunct<'_>> = conjuncts(prediction.text);
    let mut search = Search {
        gold: &gold_conjuncts,
        gold_variables: &gold_variables,
        candidates: &candidates,
        mapping: HashMap::new(),
        steps: MOST_STEPS,
    };
    // Conjuncts whose variables are known are cheap to check: follow the links from one to the next.
    let order = linked_order(&mut said);
    search.solve(&order, 0)
}

/// Spaces removed, then put around every `AND`, even inside a word.
fn normalised(text: &str) -> String {
    text.replace(' ', "").replace("AND", " AND ")
}

/// A text and the predicates of its variables.
struct Text<'t> {
    text: &'t str,
    /// For each variable the sorted predicates it occurs with.
    predicates: HashMap<&'t str, Vec<&'t str>>,
}

impl<'t> Text<'t> {
    fn new(text: &'t str) -> Self {
        let mut predicates: HashMap<&str, Vec<&str>> = HashMap::new();
        for (open, _) in text.match_indices('(') {
            let before = text[..open].trim_end();
            let start = before.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map(|(i, _)| i);
            let Some(start) = start else { continue };
            let predicate = &before[start..];
            let Some((first, rest)) = number(&text[open + 1..]) else { continue };
            if rest.starts_with(')') {
                predicates.entry(first).or_default().push(predicate);
            } else if let Some((second, rest)) = rest.strip_prefix(',').and_then(number)
                && rest.starts_with(')')
            {
                predicates.entry(first).or_default().push(predicate);
                predicates.entry(second).or_default().push(predicate);
            }
        }
        for list in predicates.values_mut() {
            list.sort_unstable();
        }
        Self { text, predicates }
    }
}

/// Letters, digits and `_`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Digits with white space around them, and what follows.
fn number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], text[end..].trim_start()))
}

/// All runs of digits.
fn digits(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).collect()
}

/// A conjunct: the text around its variables, and the variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Conjunct<'t> {
    around: Vec<&'t str>,
    variables: Vec<&'t str>,
}

/// The set of conjuncts, in order. Words that are all digits are variables.
fn conjuncts(text: &str) -> Vec<Conjunct<'_>> {
    let mut seen = HashSet::new();
    let mut list = Vec::new();
    for piece in text.split("AND").flat_map(|piece| piece.split(';')).map(str::trim) {
        let mut conjunct = Conjunct { around: Vec::new(), variables: Vec::new() };
        let mut rest = piece;
        let mut around = 0;
        // The next word is a variable or goes with what is around.
        while let Some(start) = rest[around..].find(is_word).map(|i| around + i) {
            let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |i| start + i);
            if rest[start..end].bytes().all(|byte| byte.is_ascii_digit()) {
                conjunct.around.push(&rest[..start]);
                conjunct.variables.push(&rest[start..end]);
                rest = &rest[end..];
                around = 0;
            } else {
                around = end;
            }
        }
        conjunct.around.push(rest);
        if seen.insert(conjunct.clone()) {
            list.push(conjunct);
        }
    }
    list
}

/// The conjuncts in an order in which each shares variables with those before, where that can be.
fn linked_order<'t>(said: &mut Vec<Conjunct<'t>>) -> Vec<Conjunct<'t>> {
    let mut order: Vec<Conjunct<'t>> = Vec::with_capacity(said.len());
    let mut known: HashSet<&str> = HashSet::new();
    // Large inputs keep their order: the search is bounded anyway.
    if said.len() > 500 {
        return std::mem::take(said);
    }
    while !said.is_empty() {
        let unknown =
            |conjunct: &Conjunct<'_>| conjunct.variables.iter().filter(|v| !known.contains(*v)).count();
        let linked = |conjunct: &Conjunct<'_>| conjunct.variables.iter().any(|v| known.contains(v));
        let next = (0..said.len()).min_by_key(|&i| (unknown(&said[i]), !linked(&said[i]), i)).unwrap_or(0);
        let conjunct = said.remove(next);
        known.extend(&conjunct.variables);
        order.push(conjunct);
    }
    order
}

struct Search<'s, 't> {
    gold: &'s HashSet<Conjunct<'t>>,
    gold_variables: &'s BTreeSet<&'t str>,
    candidates: &'s HashMap<&'t str, Vec<&'t str>>,
    mapping: HashMap<&'t str, &'t str>,
    steps: u64,
}

impl<'t> Search<'_, 't> {
    /// Maps the variables of the conjuncts from `next` on, so that each becomes one of the gold form.
    fn solve(&mut self, order: &[Conjunct<'t>], next: usize) -> Match {
        let Some(conjunct) = order.get(next) else { return self.finished(order) };
        if next > 500 {
            return Match::Undecided;
        }
        let open = conjunct.variables.iter().find(|variable| !self.mapping.contains_key(**variable));
        let Some(&variable) = open else {
            return if self.gold.contains(&self.renamed(conjunct)) {
                self.solve(order, next + 1)
            } else {
                Match::Different
            };
        };
        let candidates = self.candidates;
        for &candidate in candidates.get(variable).map_or(&[][..], Vec::as_slice) {
            self.steps = match self.steps.checked_sub(1) {
                Some(steps) => steps,
                None => return Match::Undecided,
            };
            self.mapping.insert(variable, candidate);
            match self.solve(order, next) {
                Match::Different => {
                    self.mapping.remove(variable);
                }
                outcome => return outcome,
            }
        }
        Match::Different
    }

    fn renamed(&self, conjunct: &Conjunct<'t>) -> Conjunct<'t> {
        let variables = conjunct.variables.iter().map(|variable| self.mapping[variable]).collect();
        Conjunct { around: conjunct.around.clone(), variables }
    }

    /// Whether every gold variable and every gold conjunct was reached.
    fn finished(&self, order: &[Conjunct<'t>]) -> Match {
        let images: BTreeSet<&str> = self.mapping.values().copied().collect();
        let renamed: HashSet<Conjunct<'_>> = order.iter().map(|conjunct| self.renamed(conjunct)).collect();
        if images == *self.gold_variables && renamed.len() == self.gold.len() {
            Match::Equal
        } else {
            Match::Different
        }
    }
}
