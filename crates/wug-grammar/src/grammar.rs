use std::collections::HashMap;

use rand_core::Rng;

use crate::{Arena, Error, NodeId, Piece, Result, Strings, Vocab};

/// A sort (type) of trees: what a rule makes, and what may stand in its slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sort(pub(crate) u32);

impl Sort {
    /// Position among the sorts of the grammar.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rule of a [`Grammar`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) u32);

impl RuleId {
    /// Position among the rules of the grammar.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A typed rule: given trees of the argument sorts it makes a tree of its own sort.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    name: String,
    sort: Sort,
    arguments: Vec<Sort>,
    weight: f64,
}

impl Rule {
    /// The name, unique in the grammar.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the rule makes.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// What the rule needs, in order.
    pub fn arguments(&self) -> &[Sort] {
        &self.arguments
    }

    /// How often the rule is chosen, relative to the other rules of its sort.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

/// A weighted tree grammar: sorts, and rules that build trees of one sort from trees of others.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    sorts: Vec<String>,
    rules: Vec<Rule>,
    by_sort: Vec<Vec<RuleId>>,
    /// The weights of the rules of each sort, summed: drawing would add them up again and again.
    totals: Vec<f64>,
    by_name: HashMap<String, RuleId>,
}

impl Grammar {
    /// Reads a grammar and its first interpretation, the words it is written in.
    ///
    /// A line is `name: SORT -> words and SORTS`; alternatives are separated by `|`, an alternative without a name is
    /// called by its words, and `[0.25]` behind one is its weight (1 if absent). A word that stands left of some arrow
    /// is a sort; every other word is a word. `#` starts a comment.
    ///
    /// ```
    /// use wug_grammar::Grammar;
    ///
    /// let (grammar, words) = Grammar::parse(
    ///     "# who does what
    ///      clause: S -> N sleeps
    ///      N -> Emma [0.7] | Liam [0.3]",
    /// )?;
    /// assert_eq!(grammar.rules().len(), 3);
    /// assert_eq!(words.vocab().words(), ["sleeps", "Emma", "Liam"]);
    ///
    /// let error = Grammar::parse("clause: S -> N sleeps\nN ->").unwrap_err();
    /// assert_eq!(error.to_string(), "line 2: a rule of sort `N` has no words");
    /// # Ok::<(), wug_grammar::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<(Self, Strings)> {
        let lines = read_lines(text)?;
        let mut grammar = Self::default();
        let mut sorts: HashMap<&str, Sort> = HashMap::new();
        for line in &lines {
            if !sorts.contains_key(line.sort) {
                sorts.insert(line.sort, Sort(grammar.sorts.len() as u32));
                grammar.sorts.push(line.sort.to_owned());
                grammar.by_sort.push(Vec::new());
            }
        }

        let mut vocab = Vocab::default();
        let mut templates = Vec::new();
        for line in &lines {
            let mut arguments = Vec::new();
            let mut template = Vec::new();
            for &word in &line.words {
                if let Some(&sort) = sorts.get(word) {
                    template.push(Piece::Argument(arguments.len() as u32));
                    arguments.push(sort);
                } else {
                    template.push(Piece::Word(vocab.add(word)));
                }
            }
            templates.push(template);
            let sort = sorts[line.sort];
            let id = RuleId(grammar.rules.len() as u32);
            let name = line.name.map_or_else(|| line.words.join(" "), str::to_owned);
            if grammar.by_name.insert(name.clone(), id).is_some() {
                return Err(line.fail(format!("two rules are called `{name}`")));
            }
            grammar.by_sort[sort.index()].push(id);
            grammar.rules.push(Rule { name, sort, arguments, weight: line.weight });
        }
        let total = |rules: &Vec<RuleId>| rules.iter().map(|&rule| grammar.rule(rule).weight).sum();
        grammar.totals = grammar.by_sort.iter().map(total).collect();
        Ok((grammar, Strings::new(vocab, templates)))
    }

    /// The sort with this name.
    pub fn sort(&self, name: &str) -> Result<Sort> {
        let index = self.sorts.iter().position(|sort| sort == name);
        index.map(|i| Sort(i as u32)).ok_or_else(|| Error::UnknownSort(name.to_owned()))
    }

    /// The name of a sort.
    pub fn sort_name(&self, sort: Sort) -> &str {
        &self.sorts[sort.index()]
    }

    /// How many sorts there are.
    pub fn sort_count(&self) -> usize {
        self.sorts.len()
    }

    /// All rules, in the order they were written.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules that make trees of a sort.
    pub fn rules_of(&self, sort: Sort) -> &[RuleId] {
        &self.by_sort[sort.index()]
    }

    /// A rule.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    /// The rule with this name.
    pub fn rule_named(&self, name: &str) -> Option<RuleId> {
        self.by_name.get(name).copied()
    }

    /// Draws a tree from the top: at each slot a rule of its sort, by weight. `None` if the tree would have more than
    /// `max_nodes` nodes, which a recursive grammar may reach with any weights.
    ///
    /// ```
    /// # use wug_grammar::{Arena, Grammar};
    /// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// let (grammar, words) = Grammar::parse("plus: E -> E + E [0.3]\nE -> 1 [0.35] | 2 [0.35]")?;
    /// let mut arena = Arena::new();
    /// let mut rng = ChaCha8Rng::seed_from_u64(7);
    /// let tree = grammar.sample(grammar.sort("E")?, &mut arena, &mut rng, 1000).unwrap();
    /// assert!(words.text(&arena, tree).starts_with(['1', '2']));
    /// # Ok::<(), wug_grammar::Error>(())
    /// ```
    pub fn sample(
        &self,
        sort: Sort,
        arena: &mut Arena,
        rng: &mut impl Rng,
        max_nodes: usize,
    ) -> Option<NodeId> {
        enum Step {
            Draw(Sort),
            Build(RuleId),
        }
        let mut open = vec![Step::Draw(sort)];
        let mut done: Vec<NodeId> = Vec::new();
        let mut drawn = 0;
        while let Some(step) = open.pop() {
            match step {
                Step::Draw(sort) => {
                    drawn += 1;
                    if drawn > max_nodes {
                        return None;
                    }
                    let rules = self.rules_of(sort);
                    let weights = rules.iter().map(|&rule| self.rule(rule).weight);
                    let chosen = pick(rng, self.totals[sort.index()], weights)?;
                    open.push(Step::Build(rules[chosen]));
                    open.extend(
                        self.rule(rules[chosen]).arguments.iter().rev().map(|&sort| Step::Draw(sort)),
                    );
                }
                Step::Build(rule) => {
                    let first = done.len() - self.rule(rule).arguments.len();
                    let node = arena.add(rule, &done[first..]);
                    done.truncate(first);
                    done.push(node);
                }
            }
        }
        done.pop()
    }
}

/// The index of one of `weights`, drawn in proportion; `None` if they sum to nothing.
pub(crate) fn weighted(rng: &mut impl Rng, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
    let total = weights.clone().sum();
    pick(rng, total, weights)
}

/// The same where the sum of the weights is known.
fn pick(rng: &mut impl Rng, total: f64, weights: impl Iterator<Item = f64>) -> Option<usize> {
    let mut left = unit(rng) * total;
    let mut last = None;
    for (i, weight) in weights.enumerate() {
        if weight > 0.0 {
            if left < weight {
                return Some(i);
            }
            left -= weight;
            last = Some(i);
        }
    }
    last // rounding left a crumb beyond the last weight
}

/// Uniform in [0, 1), with 53 random bits.
fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// One alternative of a line.
struct Line<'a> {
    number: usize,
    name: Option<&'a str>,
    sort: &'a str,
    words: Vec<&'a str>,
    weight: f64,
}

impl Line<'_> {
    fn fail(&self, what: String) -> Error {
        Error::Text { line: self.number, what }
    }
}

fn read_lines(text: &str) -> Result<Vec<Line<'_>>> {
    let mut lines = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let fail = |what: String| Error::Text { line: number, what };
        let words: Vec<&str> = line.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
        if words.is_empty() {
            continue;
        }
        let (name, sort, right) = match words.as_slice() {
            [name, sort, "->", right @ ..] if name.ends_with(':') => {
                (Some(name.trim_end_matches(':')), *sort, right)
            }
            [sort, "->", right @ ..] => (None, *sort, right),
            _ => return Err(fail("expected `SORT -> words` or `name: SORT -> words`".to_owned())),
        };
        for alternative in right.split(|&word| word == "|") {
            let (words, weight) = match alternative {
                [words @ .., last] if last.starts_with('[') && last.ends_with(']') => {
                    let weight = last[1..last.len() - 1].parse::<f64>().ok();
                    let weight = weight.filter(|weight| weight.is_finite() && *weight >= 0.0);
                    (words, weight.ok_or_else(|| fail(format!("`{last}` is not a weight")))?)
                }
                words => (words, 1.0),
            };
            if words.is_empty() {
                return Err(fail(format!("a rule of sort `{sort}` has no words")));
            }
            lines.push(Line { number, name, sort, words: words.to_vec(), weight });
        }
    }
    Ok(lines)
}
