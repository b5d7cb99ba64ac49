//! Predications read from text: which words they are about.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::Without;
use crate::glued::{Beginnings, about, unconnected};
use crate::induce::{Delexicalised, Material};
use crate::lexicon::{Bag, align, spelling_closeness};
use crate::links::Row;
use crate::notation::{Marks, Numbers, Written, number};
use crate::pairs::Pairs;
use crate::plan::Plan;
use crate::predications::{Atom, BARE, Part, Predication, Predications, referent};
use crate::roles::classes;
use crate::script::{Form, Manner, Printer, Script};
use crate::symbols::Sym;

/// Everything about the training pairs that reading needs.
pub(crate) struct Reader<'a> {
    pub pairs: &'a Pairs,
    numbers: Numbers,
    pub written: Vec<Option<Vec<Written>>>,
    /// Whether targets are trees: then a number is a symbol like others.
    is_tree: bool,
}

impl<'a> Reader<'a> {
    fn new(pairs: &'a Pairs, marks: &Marks) -> Self {
        let numbers = Numbers::new(pairs);
        let written = pairs.rows.iter().map(|(_, target, _)| marks.read(target, &numbers)).collect();
        Self { pairs, numbers, written, is_tree: marks.is_tree() }
    }

    fn number(&self, token: u32) -> Option<u32> {
        self.numbers.of(token).filter(|_| !self.is_tree)
    }

    fn is_number(&self, token: u32) -> bool {
        self.number(token).is_some()
    }

    /// The number in an argument, if it has exactly one.
    pub(crate) fn reference(&self, argument: &[u32]) -> Option<u32> {
        let mut numbers = argument.iter().filter_map(|&token| self.number(token));
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

/// The pairs with numbers from 0 in the order in which they come, if numbers are but names: if many sources have
/// several targets that then are the same.
fn without_names(pairs: &Pairs) -> Pairs {
    let mut renamed = Pairs { source: pairs.source.clone(), target: pairs.target.clone(), rows: Vec::new() };
    let is_number: Vec<bool> = pairs.target.words().iter().map(|word| number(word).is_some()).collect();
    let mut index: HashMap<(Vec<u32>, Vec<u32>), usize> = HashMap::new();
    for (source, target, n) in &pairs.rows {
        let mut names: Vec<u32> = Vec::new();
        let target: Vec<u32> = target
            .iter()
            .map(|&token| {
                if !is_number[token as usize] {
                    return token;
                }
                let known = names.iter().position(|&name| name == token);
                let name = known.unwrap_or_else(|| {
                    names.push(token);
                    names.len() - 1
                });
                renamed.target.add(&name.to_string())
            })
            .collect();
        let rows = &mut renamed.rows;
        let row = *index.entry((source.clone(), target)).or_insert_with_key(|(source, target)| {
            rows.push((source.clone(), target.clone(), 0.0));
            rows.len() - 1
        });
        rows[row].2 += n;
    }
    if 10 * renamed.rows.len() < 9 * pairs.rows.len() { renamed } else { pairs.clone() }
}

/// Reads training pairs: lexicon, classes, templates, rows.
pub(crate) fn read(
    pairs: &Pairs,
    marks: &Marks,
    plan: &Plan,
) -> (Predications, Script, Material<Predications>) {
    let pairs = &if marks.has_brackets() && !marks.is_tree() { without_names(pairs) } else { pairs.clone() };
    let reader = Reader::new(pairs, marks);
    let mut lexicon = reader.lexicon();
    let mut script = Script { marks: marks.clone(), ..Script::default() };
    script.own(pairs.source.len(), &lexicon);
    script.positional = reader.is_positional(&script);
    let class_of = loop {
        let (class_of, alone) = classes(&reader, &script);
        let before = lexicon.len();
        lexicon.retain(|_, symbol| !alone.contains(symbol));
        script.own(pairs.source.len(), &lexicon);
        if lexicon.len() == before {
            break class_of;
        }
    };
    lexicon.retain(|_, symbol| class_of.contains_key(symbol));
    script.own(pairs.source.len(), &lexicon);
    let class_of_word: Vec<Option<u16>> =
        script.owns.iter().map(|symbol| symbol.map(|symbol| class_of[&symbol])).collect();
    let resolver = Resolver { reader: &reader, script: &script };

    let resolved: Vec<Option<Vec<Resolved>>> = pairs
        .rows
        .iter()
        .zip(&reader.written)
        .map(|((source, _, _), written)| resolver.resolve(source, written.as_ref()?))
        .collect();
    script.manners = manners(pairs, &script, &resolved);
    script.printer = if marks.is_tree() {
        Printer::learn(&resolved.iter().flatten().flat_map(|row| siblings(row)).collect::<Vec<_>>())
    } else {
        let rows: Vec<Vec<&Resolved>> = resolved.iter().flatten().map(|row| row.iter().collect()).collect();
        Printer::learn(&rows)
    };

    let mut rows = Vec::new();
    let mut order: Vec<usize> = (0..pairs.rows.len()).collect();
    order.sort_by_key(|&i| (pairs.rows[i].0.len(), i));
    let mut several = Vec::new();
    let mut beginnings = Beginnings::new(pairs.source.words().iter().map(String::as_str));
    for i in order {
        let (source, _, _) = &pairs.rows[i];
        let Some(resolved) = &resolved[i] else { continue };
        let gold = factor(source, resolved, &script);
        if plan.has(Without::Glued) && unconnected(&gold).len() > 1 {
            several.push((source, gold));
            continue;
        }
        let template = delexicalise(source, 0, &gold, &class_of_word);
        beginnings.add(source);
        rows.push((Row::new(source, gold), template));
    }
    // The commonest templates, those of sentences that stand alone, say where the others begin.
    let mut alone: BTreeSet<(Vec<Sym>, &Predication)> = BTreeSet::new();
    for (pattern, term, _) in rows.iter().filter_map(|(_, template)| template.as_ref()) {
        alone.insert((beginnings.normal(pattern), term));
        if let [inner @ .., Sym::Word(_)] = pattern.as_slice() {
            alone.insert((beginnings.normal(inner), term));
        }
    }
    let cut = |source: &[u32], gold: &Predication, stretch: &Range<usize>| {
        delexicalise(&source[stretch.clone()], stretch.start, &about(gold, stretch), &class_of_word)
    };
    let known: Vec<_> = several
        .iter()
        .map(|(source, gold)| {
            let is_known = |stretch: &Range<usize>| {
                cut(source, gold, stretch)
                    .is_some_and(|(pattern, term, _)| alone.contains(&(beginnings.normal(&pattern), &term)))
            };
            Beginnings::split_known(source, gold, is_known)
        })
        .collect();
    // Where most rows consist of known sentences, the others are likely to be cut wrongly.
    let most_known = 2 * known.iter().flatten().count() > known.len();
    let mut beside = BTreeSet::new();
    let mut sentences_of_rows = Vec::new();
    for ((source, gold), known) in several.into_iter().zip(known) {
        let sentences = if most_known { known } else { beginnings.split(source, &gold) };
        beside.extend(sentences.as_ref().map(Vec::len));
        for stretch in sentences.into_iter().flatten() {
            let words = source[stretch.clone()].to_vec();
            let positions = (stretch.start as u16..stretch.end as u16).collect();
            let template = cut(source, &gold, &stretch);
            let gold = about(&gold, &stretch);
            sentences_of_rows
                .push((Row { source: words, positions, gold, n: 1.0, several: false }, template));
        }
        sentences_of_rows.push((Row { several: true, ..Row::new(source, gold) }, None));
    }
    rows.extend(sentences_of_rows);
    rows.sort_by_key(|(row, _)| row.source.len());
    let algebra = Predications { symbols: pairs.target.words().to_vec() };
    let mut material = Material::new(class_of_word, rows, plan);
    material.beside = beside;
    (algebra, script, material)
}

/// An atom whose symbols and arguments are tied to positions of the source, with how each argument was written.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub atom: Atom,
    forms: Vec<(u16, Form)>,
    pub separator: Option<u32>,
}

/// The roles of each node of a tree, in the order in which they are written.
fn siblings(row: &[Resolved]) -> Vec<Vec<&Resolved>> {
    let mut of_node: BTreeMap<u16, Vec<&Resolved>> = BTreeMap::new();
    for role in row.iter().filter(|role| own_word(&role.atom).is_none()) {
        if let Some(node) = role.atom.iter().find_map(|&part| referent(part)) {
            of_node.entry(node).or_default().push(role);
        }
    }
    of_node.into_values().collect()
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

struct Resolver<'a> {
    reader: &'a Reader<'a>,
    script: &'a Script,
}

impl Resolver<'_> {
    /// Ties every symbol and argument to a word; `None` if that cannot be done in one way.
    fn resolve(&self, source: &[u32], written: &[Written]) -> Option<Vec<Resolved>> {
        let script = self.script;
        let names = if script.positional { None } else { Some(names(script, self.reader, source, written)?) };
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
                    (None, &[token]) if self.script.owned.contains(&token) => {
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
                atom.push(if self.script.owned.contains(&token) {
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
}

/// The word that each number names, when numbers are names: the word with the atom of its own.
pub(crate) fn names(
    script: &Script,
    reader: &Reader<'_>,
    source: &[u32],
    written: &[Written],
) -> Option<HashMap<u32, u16>> {
    let mut names = HashMap::new();
    let mut taken = BTreeSet::new();
    for Written { label, arguments, .. } in written {
        let Some([argument]) = arguments.as_deref() else { continue };
        let (Some(name), Some(symbol)) = (reader.reference(argument), label.last()) else { continue };
        if !script.owned.contains(symbol) {
            continue;
        }
        // Equal words are taken in the order in which they are written.
        let at = script.owners(source, *symbol).find(|at| !taken.contains(at))?;
        taken.insert(at);
        if names.insert(name, at).is_some() {
            return None;
        }
    }
    Some(names)
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

/// The source, whose first word is that at `start`, with slots for content words, and the predications over the slots;
/// none if they refer to a word that
/// makes no slot.
pub(crate) fn delexicalise(
    source: &[u32],
    start: usize,
    gold: &Predication,
    classes: &[Option<u16>],
) -> Option<Delexicalised<Predication>> {
    let mut slot_of: BTreeMap<u16, u16> = BTreeMap::new();
    let mut words = Vec::new();
    let mut pattern = Vec::new();
    for (at, &word) in source.iter().enumerate() {
        match classes[word as usize] {
            Some(class) => {
                slot_of.insert((start + at) as u16, words.len() as u16);
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
