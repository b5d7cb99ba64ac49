//! What a user sees: learn, predict, explain, save.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wug_grammar::Vocab;

use crate::Algebra;
use crate::calibration::{Calibration, Doubt};
use crate::chart::Tree;
use crate::costs::Costs;
use crate::general::{GeneralModel, propose};
use crate::grammar::{Grammar, TOP};
use crate::induce::{Induced, best_tree, evaluate, induce, wrong_derivations};
use crate::integers::{self, Integers, looks_like_integers};
use crate::invert::invert;
use crate::links::Estimator;
use crate::meaning;
use crate::notation::Marks;
use crate::pairs::Pairs;
use crate::plan::Plan;
use crate::predications::{self, Predication, Predications};
use crate::programs::Expr;
use crate::saved::{LoadError, SavedGrammar};
use crate::script::{Form, Manner, Script};
use crate::strings::{self, Phrase, Strings};
use crate::symbols::{Child, Sym};

/// Settings of the learner: one set for all data.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Time after which the best grammar so far is used, however many steps are left.
    pub budget: Duration,
    /// Steps of the general search, which take about a minute on two cores.
    pub steps: u64,
    /// A part of the learner that is switched off, to see what it is worth.
    pub without: Option<Without>,
    /// Whether the general search writes to standard error what it finds.
    pub verbose: bool,
}

/// How far the general search is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Steps that were taken, of those that may be.
    pub steps: u64,
    /// Steps that may be taken.
    pub of: u64,
    /// The round of the present hypothesis about units.
    pub round: usize,
    /// Rules so far.
    pub rules: usize,
    /// Bits of the description so far.
    pub bits: f64,
    /// The share of training that the rules derive.
    pub explained: f64,
}

/// What ended learning before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The time was over: the grammar is the best until then, and another machine may find another.
    Time,
    /// The steps were spent: the grammar is the best until then, on any machine.
    Steps,
}

/// Parts of the learner that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// Bits for places where a rule's source stands but the rule does not hold.
    Penalty,
    /// Taking away links that no training row needs.
    Sparsify,
    /// Links that training shows to be wrong.
    Refute,
    /// Dropping rules again to look for shorter descriptions.
    Prune,
    /// More than one start.
    Starts,
    /// Kinds of words by their neighbours, where targets are strings.
    Kinds,
    /// Leaving out words without meaning.
    Erase,
    /// Taking contradicted and singular templates for noise.
    Exceptions,
    /// Taking apart rows of several sentences, where targets are predications.
    Glued,
    /// Taking a word for the number that it is spelled as.
    Spelling,
    /// The search over templates: words are content words or function words, rules are cut out of rows.
    Templates,
    /// The general search: tables of examples, and programs synthesised from them.
    General,
}

impl Default for Settings {
    fn default() -> Self {
        Self { budget: Duration::from_secs(600), steps: 400_000_000, without: None, verbose: false }
    }
}

/// A learned grammar, ready to predict.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) words: Vocab,
    /// Words that are left out of every source.
    pub(crate) erased: BTreeSet<u32>,
    /// Whether the grammar was learned from target to source, and predicts by running backwards.
    backwards: bool,
    pub(crate) learned: Learned,
    calibration: Calibration,
    /// What ended learning, if it was not done; a model that was loaded does not know.
    stopped: Option<Stopped>,
}

#[derive(Debug, Clone)]
pub(crate) enum Learned {
    Strings(Kit<Strings>),
    Predications(Kit<Predications>, Script),
    Integers(Kit<Integers>),
    General(Box<GeneralModel>),
}

/// An algebra with the grammar learned in it.
#[derive(Debug, Clone)]
pub(crate) struct Kit<A: Algebra> {
    pub algebra: A,
    pub grammar: Grammar<A::Term>,
    costs: Costs,
}

/// A prediction and how sure it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The predicted target; empty when the model abstains.
    pub text: String,
    /// Bits of the derivation.
    pub bits: f64,
    /// The probability that it is right, judged by answers to rows that were not learned from; `None` without an answer,
    /// or where there were too few rows to leave some aside.
    pub probability: Option<f64>,
    /// Whether a slot was filled by what was never seen in it.
    pub coerced: bool,
    /// How many slots were.
    unseen: usize,
    /// The words of the source, but those without meaning.
    pub(crate) words: Vec<String>,
    /// Words that training never showed.
    pub unknown: Vec<String>,
    /// Why there is no prediction.
    pub abstained: Option<String>,
    /// The derivation.
    pub tree: Option<Tree>,
    /// The derivation as text, where there is no tree.
    pub explained: String,
}

impl Prediction {
    fn nothing() -> Self {
        Self {
            text: String::new(),
            bits: f64::INFINITY,
            probability: None,
            coerced: false,
            unseen: 0,
            words: Vec::new(),
            unknown: Vec::new(),
            abstained: None,
            tree: None,
            explained: String::new(),
        }
    }
}

impl Prediction {
    fn doubt(&self) -> Doubt {
        Doubt { unseen: self.unseen, new_word: !self.unknown.is_empty() }
    }
}

/// Learns from pairs of source and target, tokens separated by spaces.
///
/// The search over templates is first; what it finds stays where it explains nearly all of the pairs with a short grammar.
/// Otherwise the shorter description wins, that of the templates or that of the general search.
pub fn learn<S: AsRef<str>, T: AsRef<str>>(
    pairs: impl IntoIterator<Item = (S, T)>,
    settings: &Settings,
) -> Model {
    learn_watched(pairs, settings, None)
}

/// Learns as [`learn`] does, and tells now and then how far it is.
pub fn learn_watched<S: AsRef<str>, T: AsRef<str>>(
    pairs: impl IntoIterator<Item = (S, T)>,
    settings: &Settings,
    watch: Option<&(dyn Fn(Progress) + Sync)>,
) -> Model {
    let pairs: Vec<(S, T)> = pairs.into_iter().collect();
    let plan = Plan::new(settings);
    let texts = || pairs.iter().map(|(source, target)| (source.as_ref(), target.as_ref()));
    let words: usize = pairs.iter().map(|(source, _)| source.as_ref().split_whitespace().count()).sum();
    let is_long = words > LONG_SOURCES * pairs.len();
    // Rows that are not explained soon are left to the general search.
    let time = if pairs.len() < FEW_ROWS { TEMPLATE_TIME } else { TEMPLATE_TIME_OF_MANY };
    let templates = Plan::new(&Settings { budget: time.min(settings.budget), ..settings.clone() });
    let timed = |mut model: Model, plan: &Plan| {
        model.stopped = plan.is_spent().then_some(Stopped::Time);
        model
    };
    let first = (plan.has(Without::Templates) && !is_long)
        .then(|| timed(learn_templates(texts(), &templates), &templates));
    let mut judged = None;
    let mut held_out = None;
    if let Some(model) = &first {
        let description = model.describe(&pairs, DESCRIBED);
        let short = 20.0 * (pairs.len() as f64).sqrt();
        let is_short = description.right >= NEARLY_ALL && description.rule_bits <= short;
        if is_short && !model.backwards {
            held_out = describe_longer(&pairs, &templates);
        }
        let extrapolates = held_out.as_ref().is_none_or(|longer| longer.right >= EXTRAPOLATED);
        if model.backwards || is_short && extrapolates || !plan.has(Without::General) {
            return first.expect("it was just looked at").calibrated(held_out, &pairs, &templates);
        }
        judged = Some(description);
    }
    let general = propose(texts(), settings.steps, plan.deadline(), settings.verbose, watch);
    match (first, judged, general) {
        (Some(first), Some(judged), Some(general)) if judged.bits <= general.bits => {
            first.calibrated(held_out, &pairs, &templates)
        }
        (_, _, Some(general)) => Model {
            words: Vocab::default(),
            erased: BTreeSet::new(),
            backwards: false,
            stopped: general.stopped,
            learned: Learned::General(Box::new(general)),
            // It has learned from all rows, so none is left to say how sure its answers are.
            calibration: Calibration::default(),
        },
        (Some(first), ..) => first.calibrated(held_out, &pairs, &templates),
        (None, ..) => timed(learn_templates(texts(), &plan), &plan).calibrated(held_out, &pairs, &templates),
    }
}

/// The most rows on which a grammar is judged; those that answers are calibrated on; those that are learned from then.
const DESCRIBED: usize = 600;
const CALIBRATED: usize = 300;
const LEARNED: usize = 1000;

impl Model {
    /// Judges how sure answers are by rows that were not learned from: the longer ones, if a grammar of the shorter ones
    /// was learned to see whether it holds for them; otherwise others, by a grammar of some of the rest.
    fn calibrated<S: AsRef<str>, T: AsRef<str>>(
        mut self,
        held_out: Option<Description>,
        pairs: &[(S, T)],
        plan: &Plan,
    ) -> Self {
        if let Some(description) = held_out {
            self.calibration = description.calibration;
            return self;
        }
        if matches!(self.learned, Learned::Integers(_)) {
            let is_long =
                |(source, _): &&(&str, &str)| source.split_whitespace().count() > integers::LONG_CASE;
            // Grammars of whole numbers are not learned from longer rows.
            let texts = pairs.iter().map(|(source, target)| (source.as_ref(), target.as_ref()));
            let long: Vec<(&str, &str)> = texts.filter(|row| is_long(&row)).collect();
            if long.len() >= TOO_FEW_TO_SPLIT {
                self.calibration = self.describe(&long, CALIBRATED).calibration;
                return self;
            }
        }
        if pairs.len() < TOO_FEW_TO_SPLIT || plan.is_spent() {
            return self;
        }
        let asked = |i: usize| i % 5 == 4;
        let texts = |is_asked: bool| -> Vec<(&str, &str)> {
            let rows = pairs.iter().enumerate().filter(|(i, _)| asked(*i) == is_asked);
            rows.map(|(_, (source, target))| (source.as_ref(), target.as_ref())).collect()
        };
        let known = texts(false);
        let step = known.len().div_ceil(LEARNED).max(1);
        let other = learn_templates(known.into_iter().step_by(step), plan);
        self.calibration = other.describe(&texts(true), CALIBRATED).calibration;
        self
    }
}

/// How well templates that are learned from the shorter rows predict the longer ones. A grammar with a rule for each length
/// explains training and is short where the rows are few, but it has not found the language. `None` where rows are too few
/// to tell, or many.
fn describe_longer<S: AsRef<str>, T: AsRef<str>>(pairs: &[(S, T)], plan: &Plan) -> Option<Description> {
    if !(TOO_FEW_TO_SPLIT..FEW_ROWS).contains(&pairs.len()) {
        return None;
    }
    let mut rows: Vec<(usize, &str, &str)> = pairs
        .iter()
        .map(|(source, target)| {
            (source.as_ref().split_whitespace().count(), source.as_ref(), target.as_ref())
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    let &(longest, ..) = rows.get(rows.len() * 7 / 10)?;
    let texts = |rows: &[(usize, &str, &str)]| -> Vec<(String, String)> {
        rows.iter().map(|&(_, source, target)| (source.to_owned(), target.to_owned())).collect()
    };
    let at = rows.partition_point(|row| row.0 <= longest);
    // Where few rows are longer, those of the longest of the others are asked too.
    let at = if rows.len() - at < rows.len() / 20 { rows.partition_point(|row| row.0 < longest) } else { at };
    let (shorter, longer) = rows.split_at(at);
    if shorter.is_empty() || longer.is_empty() {
        return None;
    }
    Some(learn_templates(texts(shorter), plan).describe(&texts(longer), DESCRIBED))
}

/// The share of the longer rows that a grammar of the shorter ones must predict.
const EXTRAPOLATED: f64 = 0.8;

/// Below this, the shorter rows alone show too little of any language to be asked for the longer ones.
const TOO_FEW_TO_SPLIT: usize = 20;

/// With fewer rows than this, the search over templates has at most the first of these times, else the second.
const FEW_ROWS: usize = 5000;
const TEMPLATE_TIME: Duration = Duration::from_secs(12);
const TEMPLATE_TIME_OF_MANY: Duration = Duration::from_secs(180);

/// The mean length of sources from which templates are too many to search.
const LONG_SOURCES: usize = 24;

/// The share of training rows that a grammar must explain to be nearly all, with some noise left over.
const NEARLY_ALL: f64 = 0.985;

/// How well a grammar describes training.
struct Description {
    /// Bits of the rules, and with those of the rows that do not come out right.
    rule_bits: f64,
    bits: f64,
    right: f64,
    calibration: Calibration,
}

/// The search over templates.
fn learn_templates<S: AsRef<str>, T: AsRef<str>>(
    pairs: impl IntoIterator<Item = (S, T)>,
    plan: &Plan,
) -> Model {
    let mut pairs = Pairs::new(pairs);
    let calibration = Calibration::default();
    // A source with several targets is no function of its words; if the targets are, the grammar is theirs.
    let backwards = {
        let (several, reversed) = pairs.ambiguity();
        several > 0.05
            && reversed < several / 4.0
            && !looks_like_integers(&pairs)
            && Marks::find(&pairs).is_none()
    };
    if backwards {
        pairs = pairs.reversed();
    }
    if looks_like_integers(&pairs) {
        let (algebra, mut grammar, cases) = integers::read(&pairs, plan);
        let estimator = Estimator::new(&algebra, &grammar, &cases, plan);
        let rows = integers::rows_to_check(&pairs);
        estimator.correct(&mut grammar, plan, |grammar| wrong_derivations(&algebra, grammar, rows.iter()));
        let learned = Learned::Integers(Kit::new(algebra, grammar));
        return Model {
            words: pairs.source,
            erased: BTreeSet::new(),
            backwards,
            learned,
            calibration,
            stopped: None,
        };
    }
    if let Some(marks) = Marks::find(&pairs) {
        let (algebra, script, mut material) = meaning::read(&pairs, &marks, plan);
        let erased = std::mem::take(&mut material.erased);
        let Induced { grammar, .. } = induce(&algebra, &mut material, plan);
        let learned = Learned::Predications(Kit::new(algebra, grammar), script);
        return Model { words: pairs.source, erased, backwards, learned, calibration, stopped: None };
    }
    let turned = pairs.clone().reversed();
    let (model, wrong) = learn_strings(pairs, backwards, plan);
    if wrong < CONFUSED || plan.is_spent() {
        return model;
    }
    // Few pairs may not show which side is a function of the other; which grammar explains them does.
    let (other, other_wrong) = learn_strings(turned, !backwards, plan);
    if other_wrong < wrong / 2.0 { other } else { model }
}

/// The share of unexplained training rows from which the other direction is tried.
const CONFUSED: f64 = 0.2;

/// Learns a grammar of strings; returns also the share of the rows that it does not explain.
fn learn_strings(pairs: Pairs, backwards: bool, plan: &Plan) -> (Model, f64) {
    let plain = Strings::new(&pairs);
    let mut material = plain.material(&pairs, plain.one_class(), plan);
    let mut found = induce(&plain, &mut material, plan);
    let mut algebra = plain;
    // Where words of one class leave rows unexplained, they may be of several kinds.
    if found.wrong > 0.0
        && plan.has(Without::Kinds)
        && let Some((typed, kinds)) = algebra.with_kinds(&pairs, plan)
    {
        let mut other = typed.material(&pairs, kinds, plan);
        let result = induce(&typed, &mut other, plan);
        if result.bits < found.bits {
            (algebra, material, found) = (typed, other, result);
        }
    }
    let unread = 1.0 - material.rows.len() as f64 / pairs.rows.len().max(1) as f64;
    let wrong = unread + (1.0 - unread) * found.wrong;
    let learned = Learned::Strings(Kit::new(algebra, found.grammar));
    let calibration = Calibration::default();
    (
        Model {
            words: pairs.source,
            erased: material.erased,
            backwards,
            learned,
            calibration,
            stopped: None,
        },
        wrong,
    )
}

impl<A: Algebra> Kit<A> {
    fn new(algebra: A, grammar: Grammar<A::Term>) -> Self {
        let costs = Costs::new(&grammar);
        Self { algebra, grammar, costs }
    }

    /// Fills a prediction; `write` makes the text of a value.
    fn predict(
        &self,
        tokens: &[u32],
        positions: &[u16],
        prediction: &mut Prediction,
        write: impl FnOnce(&A::Value, &Tree) -> Option<String>,
    ) {
        match best_tree(&self.grammar, &self.costs, tokens) {
            Ok((tree, bits)) => {
                prediction.bits = bits;
                let unseen = |&(parent, slot, child): &(u32, u8, Child)| {
                    self.grammar.link((parent, slot), child) <= 0.0
                };
                prediction.unseen = tree.links().iter().filter(|link| unseen(link)).count();
                prediction.coerced = prediction.unseen > 0;
                let value = evaluate(&self.algebra, &self.grammar, &tree, positions);
                match value.and_then(|value| write(&value, &tree)) {
                    Some(text) => prediction.text = text,
                    None => prediction.abstained = Some("the derivation has no value".to_owned()),
                }
                prediction.tree = Some(tree);
            }
            Err(why) => prediction.abstained = Some(why.to_owned()),
        }
    }
}

impl<A: Algebra> Kit<A> {
    /// Bits of the rules, in the measure that all searches share.
    fn rule_bits(&self, word_bits: f64) -> f64 {
        let symbol = |sym: &Sym| if matches!(sym, Sym::Word(_)) { word_bits } else { 2.0 };
        let rule = |rule: &crate::grammar::Rule<A::Term>| {
            8.0 + rule.source.iter().map(symbol).sum::<f64>() + self.algebra.bits(&rule.term)
        };
        self.grammar.rules.iter().map(rule).sum()
    }
}

impl Model {
    /// How well it describes the pairs, from a sample of them.
    fn describe<S: AsRef<str>, T: AsRef<str>>(&self, pairs: &[(S, T)], most: usize) -> Description {
        let word_bits = (self.words.len() as f64 + 2.0).log2();
        let rule_bits = match &self.learned {
            Learned::Strings(kit) => kit.rule_bits(word_bits),
            Learned::Predications(kit, _) => kit.rule_bits(word_bits),
            Learned::Integers(kit) => kit.rule_bits(word_bits),
            Learned::General(model) => model.bits,
        };
        let step = pairs.len().div_ceil(most).max(1);
        let targets: BTreeSet<&str> =
            pairs.iter().flat_map(|(_, target)| target.as_ref().split_whitespace()).take(200_000).collect();
        let token_bits = (targets.len() as f64 + 2.0).log2();
        let (mut seen, mut wrong, mut bits) = (0.0, 0.0, 0.0);
        let mut calibration = Calibration::default();
        for (source, target) in pairs.iter().step_by(step) {
            seen += 1.0;
            let target = target.as_ref();
            let prediction = self.predict(source.as_ref());
            let is_right = prediction.text.split_whitespace().eq(target.split_whitespace());
            if prediction.abstained.is_none() {
                calibration.add(prediction.doubt(), is_right);
            }
            if !is_right {
                wrong += 1.0;
                bits += 8.0 + crate::general::target_bits(target, token_bits);
            }
        }
        let scale = pairs.len() as f64 / f64::max(seen, 1.0);
        let right = 1.0 - wrong / f64::max(seen, 1.0);
        Description { rule_bits, bits: rule_bits + scale * bits, right, calibration }
    }

    /// What ended learning before it was done, if anything did.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// Predicts the target of a source.
    pub fn predict(&self, source: &str) -> Prediction {
        let run = if self.backwards { Self::run_backwards } else { Self::run_forwards };
        let prediction = run(self, source);
        let is_answer = prediction.abstained.is_none();
        let probability = self.calibration.probability(prediction.doubt()).filter(|_| is_answer);
        Prediction { probability, ..prediction }
    }

    /// A source whose target this is. Only grammars of strings run backwards.
    pub fn invert(&self, target: &str) -> Prediction {
        if self.backwards { self.run_forwards(target) } else { self.run_backwards(target) }
    }

    /// Whether the grammar was learned from target to source.
    pub fn is_backwards(&self) -> bool {
        self.backwards
    }

    fn run_forwards(&self, source: &str) -> Prediction {
        let spelled: Vec<&str> = source.split_whitespace().collect();
        let tokens: Vec<u32> = spelled.iter().map(|word| self.words.get(word).unwrap_or(u32::MAX)).collect();
        let positions: Vec<u16> = (0..tokens.len().min(usize::from(u16::MAX)) as u16)
            .filter(|&at| !self.erased.contains(&tokens[at as usize]))
            .collect();
        let kept: Vec<u32> = positions.iter().map(|&at| tokens[at as usize]).collect();
        let unknown = spelled.iter().zip(&tokens).filter(|(_, token)| **token == u32::MAX);
        let unknown = unknown.map(|(word, _)| (*word).to_owned()).collect();
        let words = positions.iter().map(|&at| spelled[at as usize].to_owned()).collect();
        let mut prediction = Prediction { words, unknown, ..Prediction::nothing() };
        match &self.learned {
            Learned::General(model) => match model.predict(source) {
                Ok((text, bits, explained)) => {
                    (prediction.text, prediction.bits, prediction.explained) = (text, bits, explained);
                }
                Err(why) => prediction.abstained = Some(why.to_owned()),
            },
            Learned::Strings(kit) => {
                kit.predict(&kept, &positions, &mut prediction, |value, _| {
                    Some(kit.algebra.write(value, &spelled))
                });
            }
            Learned::Integers(kit) => {
                kit.predict(&kept, &positions, &mut prediction, |value, _| Some(value.to_string()));
            }
            Learned::Predications(kit, script) => {
                kit.predict(&kept, &positions, &mut prediction, |value, tree| {
                    write_predications(kit, script, value, tree, (&positions, &tokens, &spelled))
                });
            }
        }
        prediction
    }

    fn run_backwards(&self, target: &str) -> Prediction {
        let mut prediction = Prediction::nothing();
        let Learned::Strings(kit) = &self.learned else {
            prediction.abstained = Some("only grammars of strings run backwards".to_owned());
            return prediction;
        };
        let symbol = |text: &str| kit.algebra.symbols.iter().position(|symbol| symbol == text);
        let tokens: Option<Vec<u32>> =
            target.split_whitespace().map(|text| Some(symbol(text)? as u32)).collect();
        let found = match tokens {
            Some(tokens) => invert(&kit.algebra, &kit.grammar, &kit.costs, &tokens),
            None => Err("the target has a symbol that was never seen"),
        };
        match found {
            Ok((words, bits, seen)) => {
                let words: Vec<&str> = words.iter().map(|&word| self.words.word(word)).collect();
                prediction.text = words.join(" ");
                prediction.bits = bits;
                prediction.coerced = !seen;
                prediction.unseen = usize::from(!seen);
            }
            Err(why) => prediction.abstained = Some(why.to_owned()),
        }
        prediction
    }
}

/// Writes predications; a word that was never seen shows as most words in its slot do.
fn write_predications(
    kit: &Kit<Predications>,
    script: &Script,
    value: &Predication,
    tree: &Tree,
    (positions, tokens, spelled): (&[u16], &[u32], &[&str]),
) -> Option<String> {
    let mut content = Vec::new();
    let mut guessed: BTreeMap<u16, Manner> = BTreeMap::new();
    let mut open = vec![(tree, (TOP, 0u8))];
    while let Some((tree, place)) = open.pop() {
        match tree.child {
            Child::Rule(rule) => {
                open.extend(
                    tree.children.iter().enumerate().map(|(slot, child)| (child, (rule, slot as u8))),
                );
            }
            Child::Word(word) => {
                let at = positions[tree.span.0];
                content.push(at);
                if !script.manners.contains_key(&word) {
                    let mut votes: BTreeMap<&Manner, f64> = BTreeMap::new();
                    for (child, n) in kit.grammar.links.get(&place).into_iter().flatten() {
                        if let Child::Word(other) = child
                            && let Some(manner) = script.manners.get(other)
                        {
                            *votes.entry(manner).or_default() += n;
                        }
                    }
                    let most = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
                    let manner =
                        most.map_or(Manner { own: false, form: Form::Itself }, |(manner, _)| manner.clone());
                    guessed.insert(at, manner);
                }
            }
        }
    }
    let symbol = |at: u16| match script.owns.get(tokens[at as usize] as usize).copied().flatten() {
        Some(symbol) => kit.algebra.symbols[symbol as usize].clone(),
        None => spelled[at as usize].to_owned(),
    };
    let manner = |at: u16| {
        let known = script.manners.get(&tokens[at as usize]).or_else(|| guessed.get(&at));
        known.cloned().unwrap_or(Manner { own: false, form: Form::Itself })
    };
    script.write(value, &content, &kit.algebra.symbols, symbol, manner)
}

/// The JSON of a model.
#[derive(Serialize, Deserialize)]
struct Saved {
    schema: u32,
    words: Vec<String>,
    erased: BTreeSet<u32>,
    backwards: bool,
    #[serde(default)]
    calibration: Calibration,
    #[serde(flatten)]
    learned: SavedLearned,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "algebra", rename_all = "lowercase")]
enum SavedLearned {
    Strings { lexicon: Strings, grammar: SavedGrammar<Phrase> },
    Predications { symbols: Predications, script: Script, grammar: SavedGrammar<Predication> },
    Integers { values: Integers, grammar: SavedGrammar<Expr> },
    General { model: Box<GeneralModel> },
}

impl Model {
    /// The model as JSON, which [`Model::load`] reads.
    pub fn save(&self) -> String {
        let learned = match &self.learned {
            Learned::General(model) => SavedLearned::General { model: model.clone() },
            Learned::Strings(kit) => {
                SavedLearned::Strings { lexicon: kit.algebra.clone(), grammar: (&kit.grammar).into() }
            }
            Learned::Predications(kit, script) => SavedLearned::Predications {
                symbols: kit.algebra.clone(),
                script: script.clone(),
                grammar: (&kit.grammar).into(),
            },
            Learned::Integers(kit) => {
                SavedLearned::Integers { values: kit.algebra.clone(), grammar: (&kit.grammar).into() }
            }
        };
        let (erased, backwards) = (self.erased.clone(), self.backwards);
        let calibration = self.calibration.clone();
        let words = self.words.words().to_vec();
        let saved = Saved { schema: 1, words, erased, backwards, calibration, learned };
        serde_json::to_string(&saved).expect("maps have text keys and numbers are finite")
    }

    /// Reads a model that was saved. The text is hostile until it is checked.
    pub fn load(text: &str) -> Result<Self, LoadError> {
        let saved: Saved = serde_json::from_str(text)?;
        if saved.schema != 1 {
            return Err(LoadError::Broken("its schema is not 1"));
        }
        let words: Vocab = saved.words.iter().collect();
        if words.len() != saved.words.len() {
            return Err(LoadError::Broken("a word is there twice"));
        }
        let count = words.len();
        let learned = match saved.learned {
            SavedLearned::General { model } => {
                if !model.is_sound() {
                    return Err(LoadError::Broken("a rule has no place for what fills its holes"));
                }
                Learned::General(model)
            }
            SavedLearned::Strings { lexicon, grammar } => {
                let fits = |symbol: u32| (symbol as usize) < lexicon.symbols.len();
                let grammar = grammar.open(count, |term| strings::slots_used(term, fits))?;
                if lexicon.owns.len() != count || lexicon.owns.iter().flatten().any(|&symbol| !fits(symbol)) {
                    return Err(LoadError::Broken("a word owns a symbol that is not there"));
                }
                Learned::Strings(Kit::new(lexicon, grammar))
            }
            SavedLearned::Predications { symbols, script, grammar } => {
                let fits = |symbol: u32| (symbol as usize) < symbols.symbols.len();
                let grammar = grammar.open(count, |term| predications::slots_used(term, fits))?;
                if !script.fits(count, symbols.symbols.len()) {
                    return Err(LoadError::Broken("the script names symbols that are not there"));
                }
                Learned::Predications(Kit::new(symbols, grammar), script)
            }
            SavedLearned::Integers { values, grammar } => {
                let grammar = grammar.open(count, |term| values.library.slots_used(term))?;
                if values.values.len() != count || !values.library.is_sound() {
                    return Err(LoadError::Broken("a function calls one that is not there"));
                }
                Learned::Integers(Kit::new(values, grammar))
            }
        };
        if !saved.calibration.is_sound() {
            return Err(LoadError::Broken("more answers are right than there are"));
        }
        let Saved { erased, backwards, calibration, .. } = saved;
        Ok(Self { words, erased, backwards, learned, calibration, stopped: None })
    }
}
