//! Predications as text: how they are written, which words they are about, and how they are written back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::induce::{Delexicalised, Material};
use crate::lexicon::{Bag, align, spelling_closeness};
use crate::links::Row;
use crate::pairs::Pairs;
use crate::plan::Plan;
use crate::predications::{Atom, BARE, Part, Predication, Predications, referent};
use crate::symbols::Sym;

/// A predication as it is written: tokens of the label, tokens of each argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    label: Vec<u32>,
    arguments: Option<Vec<Vec<u32>>>,
    /// The token between it and the next one.
    separator: Option<u32>,
}

/// The tokens that structure predications.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Marks {
    open: Option<u32>,
    close: Option<u32>,
    comma: Option<u32>,
}

/// How a word is written as an argument.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Form {
    /// By its symbol.
    Itself,
    /// By its position between these tokens.
    Number(Vec<u32>, Vec<u32>),
}

/// How a word shows in targets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Manner {
    /// Whether it has an atom of its own.
    pub own: bool,
    /// How it is written as an argument.
    pub form: Form,
}

/// What turns text into predications and back.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Script {
    marks: Marks,
    /// The symbol of each content word.
    pub owns: Vec<Option<u32>>,
    /// Whether numbers are positions of the source; otherwise they are names that a word's own atom gives it.
    positional: bool,
    pub manners: BTreeMap<u32, Manner>,
    pub printer: Printer,
}

fn parse_target(target: &[u32], marks: Marks) -> Option<Vec<Written>> {
    let mut written = Vec::new();
    let mut at = 0;
    while at < target.len() {
        let rest = &target[at..];
        let Some(open) = rest.iter().position(|token| Some(*token) == marks.open) else {
            if written.is_empty() && !rest.iter().any(|token| Some(*token) == marks.close) {
                written.push(Written { label: rest.to_vec(), arguments: None, separator: None });
                return Some(written);
            }
            return None;
        };
        let close = open + rest[open..].iter().position(|token| Some(*token) == marks.close)?;
        let inner = &rest[open + 1..close];
        if inner.iter().any(|token| Some(*token) == marks.open) || open == 0 {
            return None;
        }
        let arguments: Vec<Vec<u32>> =
            inner.split(|token| Some(*token) == marks.comma).map(<[u32]>::to_vec).collect();
        if arguments.iter().any(Vec::is_empty) {
            return None;
        }
        let separator = rest.get(close + 1).copied();
        written.push(Written { label: rest[..open].to_vec(), arguments: Some(arguments), separator });
        at += close + 2;
    }
    (!written.is_empty()).then_some(written)
}

/// Whether the targets of training pairs are predications.
pub(crate) fn looks_like_predications(pairs: &Pairs) -> bool {
    let marks = Marks::new(pairs);
    let fits = |target: &[u32]| {
        parse_target(target, marks).is_some_and(|atoms| atoms.iter().all(|atom| atom.arguments.is_some()))
    };
    let all = pairs.rows.len();
    marks.open.is_some() && 10 * pairs.rows.iter().filter(|(_, target, _)| fits(target)).count() > 9 * all
}

impl Marks {
    fn new(pairs: &Pairs) -> Self {
        Self { open: pairs.target.get("("), close: pairs.target.get(")"), comma: pairs.target.get(",") }
    }
}

/// Everything about the training pairs that reading needs.
struct Reader<'a> {
    pairs: &'a Pairs,
    numbers: Vec<Option<u32>>,
    written: Vec<Option<Vec<Written>>>,
    marks: Marks,
}

impl<'a> Reader<'a> {
    fn new(pairs: &'a Pairs) -> Self {
        let marks = Marks::new(pairs);
        let numbers = pairs.target.words().iter().map(|word| number(word)).collect();
        let written = pairs.rows.iter().map(|(_, target, _)| parse_target(target, marks)).collect();
        Self { pairs, numbers, written, marks }
    }

    fn is_number(&self, token: u32) -> bool {
        self.numbers[token as usize].is_some()
    }

    /// The number in an argument, if it has exactly one.
    fn reference(&self, argument: &[u32]) -> Option<u32> {
        let mut numbers = argument.iter().filter_map(|&token| self.numbers[token as usize]);
        let first = numbers.next();
        if numbers.next().is_some() { None } else { first }
    }

    fn lexicon(&self) -> BTreeMap<u32, u32> {
        let mut bags = Vec::new();
        for ((source, _, _), written) in self.pairs.rows.iter().zip(&self.written) {
            let Some(written) = written else { continue };
            let mut symbols: Vec<u32> = Vec::new();
            for atom in written {
                symbols.extend(&atom.label);
                let arguments = atom.arguments.iter().flatten();
                symbols
                    .extend(arguments.filter(|a| a.len() == 1).map(|a| a[0]).filter(|&t| !self.is_number(t)));
            }
            bags.push(Bag { words: source.clone(), symbols });
        }
        align(&bags, |word, symbol| {
            spelling_closeness(self.pairs.source.word(word), self.pairs.target.word(symbol))
        })
    }
}

/// A whole number without sign or leading zeros.
fn number(word: &str) -> Option<u32> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit()) && (word.len() == 1 || !word.starts_with('0'));
    if plain { word.parse().ok() } else { None }
}

/// Where a symbol occurs: in which kind of relation, at which place of it.
type Role = (Vec<Option<u32>>, usize, bool);

/// The classes of symbols: symbols that occur in the same roles belong together. A class with one symbol, and symbols
/// without any role, are no content.
fn classes(reader: &Reader<'_>, lexicon: &BTreeMap<u32, u32>) -> (BTreeMap<u32, u16>, BTreeSet<u32>) {
    let owned: BTreeSet<u32> = lexicon.values().copied().collect();
    let mut roles: BTreeMap<Role, BTreeMap<u32, f64>> = BTreeMap::new();
    for ((source, target, n), written) in reader.pairs.rows.iter().zip(&reader.written) {
        let here: BTreeSet<u32> = source.iter().filter_map(|word| lexicon.get(word).copied()).collect();
        let there: BTreeSet<u32> = target.iter().filter(|token| owned.contains(token)).copied().collect();
        if here.symmetric_difference(&there).count() > 1 {
            continue; // not about the same things: noise
        }
        for atom in written.iter().flatten() {
            let label: Vec<Option<u32>> =
                atom.label.iter().map(|token| (!owned.contains(token)).then_some(*token)).collect();
            let arguments = atom.arguments.as_deref().unwrap_or_default();
            let is_own = arguments.len() == 1
                && reader.reference(&arguments[0]).is_some()
                && atom.label.last().is_some_and(|token| owned.contains(token));
            if is_own {
                continue;
            }
            for (i, token) in atom.label.iter().enumerate().filter(|(_, token)| owned.contains(token)) {
                *roles.entry((label.clone(), i, false)).or_default().entry(*token).or_default() += n;
            }
            for (i, argument) in arguments.iter().enumerate() {
                let symbol = match (reader.reference(argument), argument.as_slice()) {
                    (Some(at), _) => source.get(at as usize).and_then(|word| lexicon.get(word)).copied(),
                    (None, &[token]) => Some(token).filter(|token| owned.contains(token)),
                    _ => None,
                };
                if let Some(symbol) = symbol {
                    *roles.entry((label.clone(), i, true)).or_default().entry(symbol).or_default() += n;
                }
            }
        }
    }
    cluster(&roles)
}

/// The representative of a set of joined roles.
fn find(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

/// Joins roles that share a good part of their symbols; a symbol belongs where it occurs most. Returns the classes, and
/// the symbols that are alone.
fn cluster(roles: &BTreeMap<Role, BTreeMap<u32, f64>>) -> (BTreeMap<u32, u16>, BTreeSet<u32>) {
    let mut totals: BTreeMap<u32, f64> = BTreeMap::new();
    for (symbol, n) in roles.values().flatten() {
        *totals.entry(*symbol).or_default() += n;
    }
    // Stray occurrences, as noise makes them, are left aside: those that are few both of the symbol's and the role's.
    let solid: Vec<BTreeMap<u32, f64>> = roles
        .values()
        .map(|symbols| {
            let all: f64 = symbols.values().sum();
            let few = |symbol: &u32, n: f64| n < 0.05 * totals[symbol] && n < 0.01 * all;
            symbols.iter().filter(|(symbol, n)| !few(symbol, **n)).map(|(symbol, n)| (*symbol, *n)).collect()
        })
        .collect();
    let rare = totals.values().sum::<f64>() / 50_000.0;
    let mut parent: Vec<usize> = (0..solid.len()).collect();
    for a in 0..solid.len() {
        for b in 0..solid.len() {
            let all: f64 = solid[a].values().sum();
            let shared: f64 = solid[a].iter().filter(|(s, _)| solid[b].contains_key(s)).map(|(_, n)| n).sum();
            if a != b && all > rare && shared > 0.05 * all {
                let (x, y) = (find(&mut parent, a), find(&mut parent, b));
                parent[x.max(y)] = x.min(y);
            }
        }
    }
    let mut weight: BTreeMap<u32, BTreeMap<usize, f64>> = BTreeMap::new();
    for (i, symbols) in roles.values().enumerate() {
        let root = find(&mut parent, i);
        for (symbol, n) in symbols {
            *weight.entry(*symbol).or_default().entry(root).or_default() += n;
        }
    }
    let home: BTreeMap<u32, usize> = weight
        .into_iter()
        .filter_map(|(symbol, roots)| {
            let best = roots.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
            Some((symbol, best.0))
        })
        .collect();
    let mut members: BTreeMap<usize, usize> = BTreeMap::new();
    for root in home.values() {
        *members.entry(*root).or_default() += 1;
    }
    let numbered: BTreeMap<usize, u16> = members
        .iter()
        .filter(|(_, count)| **count > 1)
        .enumerate()
        .map(|(i, (root, _))| (*root, i as u16))
        .collect();
    let alone =
        home.iter().filter(|(_, root)| !numbered.contains_key(root)).map(|(symbol, _)| *symbol).collect();
    (home.into_iter().filter_map(|(symbol, root)| Some((symbol, *numbered.get(&root)?))).collect(), alone)
}

/// Reads training pairs: lexicon, classes, templates, rows.
pub(crate) fn read(pairs: &Pairs, plan: &Plan) -> (Predications, Script, Material<Predications>) {
    let reader = Reader::new(pairs);
    let mut lexicon = reader.lexicon();
    let class_of = loop {
        let (class_of, alone) = classes(&reader, &lexicon);
        let before = lexicon.len();
        lexicon.retain(|_, symbol| !alone.contains(symbol));
        if lexicon.len() == before {
            break class_of;
        }
    };
    lexicon.retain(|_, symbol| class_of.contains_key(symbol));
    let owns: Vec<Option<u32>> =
        (0..pairs.source.len() as u32).map(|word| lexicon.get(&word).copied()).collect();
    let class_of_word: Vec<Option<u16>> =
        owns.iter().map(|symbol| symbol.map(|symbol| class_of[&symbol])).collect();
    let mut script = Script { marks: reader.marks, owns, positional: true, ..Script::default() };
    script.positional = reader.is_positional(&script);
    let resolver = Resolver { reader: &reader, script: &script, owned: lexicon.values().copied().collect() };

    let resolved: Vec<Option<Vec<Resolved>>> = pairs
        .rows
        .iter()
        .zip(&reader.written)
        .map(|((source, _, _), written)| resolver.resolve(source, written.as_ref()?))
        .collect();
    script.manners = manners(pairs, &script, &resolved);
    script.printer = Printer::learn(&resolved);

    let mut rows = Vec::new();
    let mut order: Vec<usize> = (0..pairs.rows.len()).collect();
    order.sort_by_key(|&i| (pairs.rows[i].0.len(), i));
    for i in order {
        let (source, _, _) = &pairs.rows[i];
        let Some(resolved) = &resolved[i] else { continue };
        let gold = factor(source, resolved, &script);
        let template = delexicalise(source, &gold, &class_of_word);
        rows.push((Row::new(source, gold), template));
    }
    let algebra = Predications { symbols: pairs.target.words().to_vec() };
    (algebra, script, Material::new(class_of_word, rows, plan))
}

/// An atom whose symbols and arguments are tied to positions of the source, with how each argument was written.
#[derive(Debug, Clone)]
struct Resolved {
    atom: Atom,
    forms: Vec<(u16, Form)>,
    separator: Option<u32>,
}

impl Reader<'_> {
    /// Whether numbers mostly name the position of the word whose symbol stands in the label.
    fn is_positional(&self, script: &Script) -> bool {
        let (mut yes, mut no) = (0, 0);
        for ((source, _, _), written) in self.pairs.rows.iter().zip(&self.written) {
            for atom in written.iter().flatten() {
                let first =
                    atom.arguments.iter().flatten().next().and_then(|argument| self.reference(argument));
                let (Some(at), Some(symbol)) =
                    (first, atom.label.iter().find(|t| script.owners(source, **t).next().is_some()))
                else {
                    continue;
                };
                let here = source.get(at as usize).and_then(|&word| script.owns[word as usize]);
                if here == Some(*symbol) { yes += 1 } else { no += 1 }
            }
        }
        yes >= no
    }
}

impl Script {
    /// Positions of the words that own a symbol.
    fn owners<'a>(&'a self, source: &'a [u32], symbol: u32) -> impl Iterator<Item = u16> + 'a {
        let owns = move |word: u32| self.owns.get(word as usize).copied().flatten() == Some(symbol);
        source.iter().enumerate().filter(move |(_, word)| owns(**word)).map(|(i, _)| i as u16)
    }
}

struct Resolver<'a> {
    reader: &'a Reader<'a>,
    script: &'a Script,
    owned: BTreeSet<u32>,
}

impl Resolver<'_> {
    /// Ties every symbol and argument to a word; `None` if that cannot be done in one way.
    fn resolve(&self, source: &[u32], written: &[Written]) -> Option<Vec<Resolved>> {
        let names = if self.script.positional { None } else { Some(self.names(source, written)?) };
        let mut resolved = Vec::new();
        for Written { label, arguments, separator } in written {
            let mut forms = Vec::new();
            let mut tail: Atom = Vec::new();
            for (i, argument) in arguments.iter().flatten().enumerate() {
                tail.push(if i == 0 { Part::Open } else { Part::Comma });
                match (self.reader.reference(argument), argument.as_slice()) {
                    (Some(n), _) => {
                        let at = names.as_ref().map_or(Some(n as u16), |names| names.get(&n).copied())?;
                        source.get(at as usize)?;
                        tail.push(Part::Ref(at));
                        let hole = argument.iter().position(|&t| self.reader.is_number(t))?;
                        forms.push((
                            at,
                            Form::Number(argument[..hole].to_vec(), argument[hole + 1..].to_vec()),
                        ));
                    }
                    (None, &[token]) if self.owned.contains(&token) => {
                        let mut owners = self.script.owners(source, token);
                        let at = owners.next()?;
                        if owners.next().is_some() {
                            return None;
                        }
                        tail.push(Part::Ref(at));
                        forms.push((at, Form::Itself));
                    }
                    (None, tokens) => tail.extend(tokens.iter().map(|&token| Part::Token(token))),
                }
            }
            if arguments.is_some() {
                tail.push(Part::Close);
            }
            let referents: Vec<u16> = tail.iter().filter_map(|&part| referent(part)).collect();
            let mut atom: Atom = Vec::new();
            for &token in label {
                atom.push(if self.owned.contains(&token) {
                    Part::Name(self.place(source, token, &referents)?)
                } else {
                    Part::Token(token)
                });
            }
            atom.extend(tail);
            resolved.push(Resolved { atom, forms, separator: *separator });
        }
        let named = |at: u16| {
            resolved
                .iter()
                .flat_map(|r| &r.atom)
                .any(|part| *part == Part::Name(at) || *part == Part::Ref(at))
        };
        let content = |word: u32| self.script.owns[word as usize].is_some();
        let complete = source.iter().enumerate().all(|(at, &word)| !content(word) || named(at as u16));
        complete.then_some(resolved)
    }

    /// The word that a symbol of a label belongs to: the first argument, the only owner, or the one between arguments.
    fn place(&self, source: &[u32], symbol: u32, referents: &[u16]) -> Option<u16> {
        let owners: Vec<u16> = self.script.owners(source, symbol).collect();
        if let Some(first) = referents.first().filter(|first| owners.contains(first)) {
            return Some(*first);
        }
        if let [only] = owners[..] {
            return Some(only);
        }
        let (low, high) = (referents.iter().min()?, referents.iter().max()?);
        let mut between = owners.into_iter().filter(|at| (low..=high).contains(&at));
        let at = between.next()?;
        between.next().is_none().then_some(at)
    }

    /// The word that each number names, when numbers are names: the word with the atom of its own.
    fn names(&self, source: &[u32], written: &[Written]) -> Option<HashMap<u32, u16>> {
        let mut names = HashMap::new();
        let mut taken = BTreeSet::new();
        for Written { label, arguments, .. } in written {
            let Some([argument]) = arguments.as_deref() else { continue };
            let (Some(name), Some(symbol)) = (self.reader.reference(argument), label.last()) else {
                continue;
            };
            if !self.owned.contains(symbol) {
                continue;
            }
            // Equal words are taken in the order in which they are written.
            let at = self.script.owners(source, *symbol).find(|at| !taken.contains(at))?;
            taken.insert(at);
            if names.insert(name, at).is_some() {
                return None;
            }
        }
        Some(names)
    }
}

/// Whether an atom is a word's own: its symbol, perhaps behind other tokens, said of itself.
fn own_word(atom: &Atom) -> Option<u16> {
    match atom.as_slice() {
        [prefix @ .., Part::Name(a), Part::Open, Part::Ref(b), Part::Close] if a == b => {
            prefix.iter().all(|part| matches!(part, Part::Token(_))).then_some(*a)
        }
        _ => None,
    }
}

/// Takes the words' own atoms away, because the lexicon knows them; what stands before the symbol becomes an atom of
/// its own. A word that lacks its atom is marked.
fn factor(source: &[u32], resolved: &[Resolved], script: &Script) -> Predication {
    let is_own = |at: u16| script.manners.get(&source[at as usize]).is_some_and(|manner| manner.own);
    let mut atoms: BTreeSet<Atom> = BTreeSet::new();
    let mut missing: BTreeSet<u16> = (0..source.len() as u16)
        .filter(|&at| script.owns[source[at as usize] as usize].is_some() && is_own(at))
        .collect();
    for Resolved { atom, .. } in resolved {
        match own_word(atom).filter(|&at| is_own(at)) {
            Some(at) => {
                missing.remove(&at);
                let prefix: Atom =
                    atom.iter().take_while(|part| matches!(part, Part::Token(_))).copied().collect();
                if !prefix.is_empty() {
                    atoms.insert([prefix, vec![Part::Open, Part::Ref(at), Part::Close]].concat());
                }
            }
            None => {
                atoms.insert(atom.clone());
            }
        }
    }
    atoms.extend(
        missing.into_iter().map(|at| vec![Part::Token(BARE), Part::Open, Part::Ref(at), Part::Close]),
    );
    Predication { atoms: atoms.into_iter().collect(), head: None }
}

/// The source with slots for content words, and the predications over the slots; none if they refer to a word that
/// makes no slot.
fn delexicalise(
    source: &[u32],
    gold: &Predication,
    classes: &[Option<u16>],
) -> Option<Delexicalised<Predication>> {
    let mut slot_of: BTreeMap<u16, u16> = BTreeMap::new();
    let mut words = Vec::new();
    let mut pattern = Vec::new();
    for (at, &word) in source.iter().enumerate() {
        match classes[word as usize] {
            Some(class) => {
                slot_of.insert(at as u16, words.len() as u16);
                words.push(word);
                pattern.push(Sym::Slot(class));
            }
            None => pattern.push(Sym::Word(word)),
        }
    }
    let atoms: Option<BTreeSet<Atom>> = gold
        .atoms
        .iter()
        .map(|atom| {
            let part = |part: &Part| match *part {
                Part::Name(at) => slot_of.get(&at).map(|&slot| Part::Name(slot)),
                Part::Ref(at) => slot_of.get(&at).map(|&slot| Part::Ref(slot)),
                other => Some(other),
            };
            atom.iter().map(part).collect::<Option<Atom>>()
        })
        .collect();
    let term = Predication { atoms: atoms?.into_iter().collect(), head: None };
    Some((pattern, term, words))
}

/// How each content word shows. Words without evidence do as most words that occur in the same kind of atom.
fn manners(pairs: &Pairs, script: &Script, resolved: &[Option<Vec<Resolved>>]) -> BTreeMap<u32, Manner> {
    let mut own: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let mut forms: BTreeMap<u32, BTreeMap<Form, f64>> = BTreeMap::new();
    let mut kinds: BTreeMap<u32, BTreeSet<(Atom, usize)>> = BTreeMap::new();
    for ((source, _, _), resolved) in pairs.rows.iter().zip(resolved) {
        let Some(resolved) = resolved else { continue };
        let mut has_own: BTreeSet<u16> = BTreeSet::new();
        let mut referred: BTreeSet<u16> = BTreeSet::new();
        for Resolved { atom, forms: written, .. } in resolved {
            has_own.extend(own_word(atom));
            for (at, form) in written {
                referred.insert(*at);
                *forms.entry(source[*at as usize]).or_default().entry(form.clone()).or_default() += 1.0;
            }
            for (i, part) in atom.iter().enumerate() {
                if let Part::Name(at) = part {
                    let kind = atom.iter().map(|part| match part {
                        Part::Name(_) => Part::Name(0),
                        Part::Ref(_) => Part::Ref(0),
                        other => *other,
                    });
                    kinds.entry(source[*at as usize]).or_default().insert((kind.collect(), i));
                }
            }
        }
        for at in referred {
            let counts = own.entry(source[at as usize]).or_default();
            if has_own.contains(&at) { counts.0 += 1.0 } else { counts.1 += 1.0 }
        }
    }
    let known: BTreeMap<u32, Manner> = own
        .iter()
        .map(|(&word, &(yes, no))| {
            let most = forms[&word].iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(form, _)| form.clone());
            (word, Manner { own: yes > no, form: most.unwrap_or(Form::Itself) })
        })
        .collect();
    let mut all = known.clone();
    for word in (0..script.owns.len() as u32).filter(|&word| script.owns[word as usize].is_some()) {
        if !known.contains_key(&word) {
            let mut votes: BTreeMap<&Manner, f64> = BTreeMap::new();
            for (other, manner) in &known {
                let shared = kinds.get(other).zip(kinds.get(&word));
                if shared.is_some_and(|(a, b)| !a.is_disjoint(b)) {
                    *votes.entry(manner).or_default() += 1.0;
                }
            }
            if let Some((manner, _)) = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
                all.insert(word, manner.clone());
            }
        }
    }
    all
}

/// The order of atoms and the tokens between them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Printer {
    /// Features of an atom, the most important first.
    order: Vec<usize>,
    /// First tokens by rank; atoms that begin with a word's symbol have rank `None`.
    ranks: Vec<(Option<u32>, usize)>,
    separators: Vec<((Option<u32>, Option<u32>), u32)>,
    usual: Option<u32>,
}

fn first_token(atom: &Atom) -> Option<u32> {
    if let Some(Part::Token(token)) = atom.first() { Some(*token) } else { None }
}

impl Printer {
    fn learn(resolved: &[Option<Vec<Resolved>>]) -> Self {
        let rows: Vec<&Vec<Resolved>> = resolved.iter().flatten().filter(|row| row.len() > 1).collect();
        let mut before: BTreeMap<Option<u32>, (usize, usize)> = BTreeMap::new();
        let mut separators: BTreeMap<(Option<u32>, Option<u32>), BTreeMap<u32, usize>> = BTreeMap::new();
        let mut usual: BTreeMap<u32, usize> = BTreeMap::new();
        for row in &rows {
            for (i, pair) in row.windows(2).enumerate() {
                let kinds = (first_token(&pair[0].atom), first_token(&pair[1].atom));
                if let Some(separator) = pair[0].separator {
                    *separators.entry(kinds).or_default().entry(separator).or_default() += 1;
                    *usual.entry(separator).or_default() += 1;
                }
                for later in &row[i + 1..] {
                    if kinds.0 != first_token(&later.atom) {
                        before.entry(kinds.0).or_default().0 += 1;
                        before.entry(first_token(&later.atom)).or_default().1 += 1;
                    }
                }
            }
        }
        let mut kinds: Vec<_> = before.into_iter().collect();
        kinds.sort_by(|(_, a), (_, b)| (b.0 * (a.0 + a.1)).cmp(&(a.0 * (b.0 + b.1))));
        let ranks = kinds.iter().enumerate().map(|(rank, (kind, _))| (*kind, rank)).collect();
        let most =
            |counts: &BTreeMap<u32, usize>| counts.iter().max_by_key(|(_, n)| **n).map(|(token, _)| *token);
        let mut printer = Self {
            order: Vec::new(),
            ranks,
            separators: separators
                .iter()
                .filter_map(|(kinds, counts)| Some((*kinds, most(counts)?)))
                .collect(),
            usual: most(&usual),
        };
        let sample: Vec<&&Vec<Resolved>> = rows.iter().step_by(rows.len().div_ceil(400).max(1)).collect();
        let mut best = (0, vec![0, 1, 2, 3]);
        for order in permutations(4) {
            printer.order = order.clone();
            let right = sample
                .iter()
                .filter(|row| {
                    row.windows(2).all(|pair| printer.key(&pair[0].atom) <= printer.key(&pair[1].atom))
                })
                .count();
            if right > best.0 {
                best = (right, order);
            }
        }
        printer.order = best.1;
        printer
    }

    fn key(&self, atom: &Atom) -> Vec<usize> {
        let referents: Vec<u16> =
            atom.iter().filter_map(|part| if let Part::Ref(at) = part { Some(*at) } else { None }).collect();
        let kind = first_token(atom);
        let rank = self.ranks.iter().find(|(of, _)| *of == kind).map_or(self.ranks.len(), |(_, rank)| *rank);
        let features = [
            rank,
            referents.first().map_or(0, |&at| at as usize),
            referents.len(),
            referents.get(1).map_or(0, |&at| at as usize),
        ];
        self.order.iter().map(|&feature| features[feature]).collect()
    }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in permutations(n - 1) {
        for at in 0..n {
            let mut longer = shorter.clone();
            longer.insert(at, n - 1);
            all.push(longer);
        }
    }
    all.sort();
    all
}

impl Script {
    /// Whether all words and tokens that it names are there.
    pub(crate) fn fits(&self, words: usize, tokens: usize) -> bool {
        let is_token = |token: &u32| (*token as usize) < tokens;
        let form_fits = |manner: &Manner| match &manner.form {
            Form::Itself => true,
            Form::Number(before, after) => before.iter().chain(after).all(is_token),
        };
        self.owns.len() == words
            && self.owns.iter().flatten().all(is_token)
            && self.manners.values().all(form_fits)
            && self.printer.order.iter().all(|&feature| feature < 4)
            && self.printer.separators.iter().map(|(_, token)| token).chain(&self.printer.usual).all(is_token)
    }

    /// Writes predications about a source. `symbol` spells the word at a position, `manner` says how it shows.
    pub(crate) fn write(
        &self,
        meaning: &Predication,
        content: &[u16],
        tokens: &[String],
        symbol: impl Fn(u16) -> String,
        manner: impl Fn(u16) -> Manner,
    ) -> String {
        let mut atoms: Vec<Atom> = Vec::new();
        let bare: BTreeSet<u16> = meaning
            .atoms
            .iter()
            .filter(|atom| atom.first() == Some(&Part::Token(BARE)))
            .filter_map(|atom| atom.iter().find_map(|&part| referent(part)))
            .collect();
        let mut prefixes: BTreeMap<u16, Atom> = BTreeMap::new();
        for atom in &meaning.atoms {
            match atom.as_slice() {
                [Part::Token(BARE), ..] => {}
                [prefix @ .., Part::Open, Part::Ref(at), Part::Close]
                    if manner(*at).own && prefix.iter().all(|part| matches!(part, Part::Token(_))) =>
                {
                    prefixes.entry(*at).or_default().extend(prefix);
                }
                _ => atoms.push(atom.clone()),
            }
        }
        for &at in content {
            if manner(at).own && !bare.contains(&at) {
                let mut atom = prefixes.remove(&at).unwrap_or_default();
                atom.extend([Part::Name(at), Part::Open, Part::Ref(at), Part::Close]);
                atoms.push(atom);
            }
        }
        atoms.sort_by_cached_key(|atom| (self.printer.key(atom), atom.clone()));
        let mut text: Vec<String> = Vec::new();
        for (i, atom) in atoms.iter().enumerate() {
            for part in atom {
                match *part {
                    Part::Token(token) => text.push(tokens[token as usize].clone()),
                    Part::Name(at) => text.push(symbol(at)),
                    Part::Ref(at) => match manner(at).form {
                        Form::Itself => text.push(symbol(at)),
                        Form::Number(before, after) => {
                            text.extend(before.iter().map(|&token| tokens[token as usize].clone()));
                            text.push(at.to_string());
                            text.extend(after.iter().map(|&token| tokens[token as usize].clone()));
                        }
                    },
                    Part::Open => text.push("(".to_owned()),
                    Part::Comma => text.push(",".to_owned()),
                    Part::Close => text.push(")".to_owned()),
                }
            }
            if let Some(next) = atoms.get(i + 1) {
                let kinds = (first_token(atom), first_token(next));
                let found =
                    self.printer.separators.iter().find(|(of, _)| *of == kinds).map(|(_, token)| *token);
                text.extend(found.or(self.printer.usual).map(|token| tokens[token as usize].clone()));
            }
        }
        text.join(" ")
    }
}
