//! How predications are written: the form of words, the order of atoms, the tokens between them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::meaning::Resolved;
use crate::notation::Marks;
use crate::predications::{Atom, BARE, Part, Predication, referent};

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
    pub marks: Marks,
    /// The symbol of each content word.
    pub owns: Vec<Option<u32>>,
    /// All symbols that words own.
    #[serde(skip)]
    pub owned: BTreeSet<u32>,
    /// Whether numbers are positions of the source; otherwise they are names that a word's own atom gives it.
    pub positional: bool,
    pub manners: BTreeMap<u32, Manner>,
    pub printer: Printer,
}

impl Script {
    /// Takes over which word owns which symbol.
    pub(crate) fn own(&mut self, words: usize, lexicon: &BTreeMap<u32, u32>) {
        self.owns = (0..words as u32).map(|word| lexicon.get(&word).copied()).collect();
        self.owned = lexicon.values().copied().collect();
    }

    /// Positions of the words that own a symbol.
    pub(crate) fn owners<'a>(&'a self, source: &'a [u32], symbol: u32) -> impl Iterator<Item = u16> + 'a {
        let owns = move |word: u32| self.owns.get(word as usize).copied().flatten() == Some(symbol);
        source.iter().enumerate().filter(move |(_, word)| owns(**word)).map(|(i, _)| i as u16)
    }
}

/// The first tokens of two neighbouring atoms.
type Kinds = (Option<u32>, Option<u32>);

/// The order of atoms and the tokens between them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Printer {
    /// Features of an atom, the most important first.
    order: Vec<usize>,
    /// First tokens by rank; atoms that begin with a word's symbol have rank `None`.
    ranks: Vec<(Option<u32>, usize)>,
    separators: Vec<(Kinds, u32)>,
    usual: Option<u32>,
}

fn first_token(atom: &Atom) -> Option<u32> {
    if let Some(Part::Token(token)) = atom.first() { Some(*token) } else { None }
}

impl Printer {
    /// Learns from predications in the order in which they are written.
    pub(crate) fn learn(rows: &[Vec<&Resolved>]) -> Self {
        let rows: Vec<&Vec<&Resolved>> = rows.iter().filter(|row| row.len() > 1).collect();
        let mut before: BTreeMap<Option<u32>, (usize, usize)> = BTreeMap::new();
        let mut separators: BTreeMap<Kinds, BTreeMap<u32, usize>> = BTreeMap::new();
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
        let sample: Vec<&&Vec<&Resolved>> = rows.iter().step_by(rows.len().div_ceil(400).max(1)).collect();
        let mut best = (0, vec![0, 1, 2, 3]);
        for order in permutations(4) {
            printer.order.clone_from(&order);
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
        let marks = [self.marks.open, self.marks.close, self.marks.comma, self.marks.role];
        self.owns.len() == words
            && marks.iter().flatten().chain(&self.marks.separators).all(is_token)
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
    ) -> Option<String> {
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
        let nodes: Vec<u16> =
            content.iter().copied().filter(|&at| manner(at).own && !bare.contains(&at)).collect();
        let is_role = |atom: &Atom| Role::new(atom).is_some();
        if self.marks.is_tree() && !nodes.is_empty() && atoms.iter().all(is_role) {
            atoms.sort_by_cached_key(|atom| (self.printer.key(atom), atom.clone()));
            return Tree { atoms: &atoms, prefixes: &prefixes, marks: &self.marks, tokens, symbol }
                .write(&nodes);
        }
        for at in nodes {
            let mut atom = prefixes.remove(&at).unwrap_or_default();
            atom.extend([Part::Name(at), Part::Open, Part::Ref(at), Part::Close]);
            atoms.push(atom);
        }
        atoms.sort_by_cached_key(|atom| (self.printer.key(atom), atom.clone()));
        let spell = |token: Option<u32>| token.map(|token| tokens[token as usize].clone());
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
                    Part::Open => text.extend(spell(self.marks.open)),
                    Part::Comma => text.extend(spell(self.marks.comma)),
                    Part::Close => text.extend(spell(self.marks.close)),
                }
            }
            if let Some(next) = atoms.get(i + 1) {
                let kinds = (first_token(atom), first_token(next));
                let found =
                    self.printer.separators.iter().find(|(of, _)| *of == kinds).map(|(_, token)| *token);
                text.extend(found.or(self.printer.usual).map(|token| tokens[token as usize].clone()));
            }
        }
        Some(text.join(" "))
    }
}

/// What relates two nodes of a tree.
struct Role<'a> {
    label: &'a [Part],
    parent: u16,
    child: u16,
}

impl<'a> Role<'a> {
    fn new(atom: &'a Atom) -> Option<Self> {
        let [label @ .., Part::Open, Part::Ref(parent), Part::Comma, Part::Ref(child), Part::Close] =
            atom.as_slice()
        else {
            return None;
        };
        let is_label = label.iter().all(|part| matches!(part, Part::Token(_) | Part::Name(_)));
        is_label.then_some(Self { label, parent: *parent, child: *child })
    }
}

/// Predications that are written as a tree.
struct Tree<'a, S> {
    /// The roles, in the order in which those of one node are written.
    atoms: &'a [Atom],
    /// What stands before the symbol of a node.
    prefixes: &'a BTreeMap<u16, Atom>,
    marks: &'a Marks,
    tokens: &'a [String],
    symbol: S,
}

/// The longest tree that is written. A node with several parents is written below each, so trees can be large.
const MAX_TREE: usize = 1 << 16;

impl<S: Fn(u16) -> String> Tree<'_, S> {
    /// `None` if no node is above the others, or if the tree is too large.
    fn write(&self, nodes: &[u16]) -> Option<String> {
        let roles: Vec<Role<'_>> = self.atoms.iter().filter_map(Role::new).collect();
        let below: BTreeSet<u16> = roles.iter().map(|role| role.child).collect();
        let mut roots = nodes.iter().filter(|node| !below.contains(node));
        let (Some(&root), None) = (roots.next(), roots.next()) else { return None };
        let mut text = Vec::new();
        self.node(root, &roles, &mut Vec::new(), &mut text)?;
        Some(text.join(" "))
    }

    fn node(&self, at: u16, roles: &[Role<'_>], above: &mut Vec<u16>, text: &mut Vec<String>) -> Option<()> {
        let spell = |token: Option<u32>| token.map(|token| self.tokens[token as usize].clone());
        let plain = |part: &Part| match *part {
            Part::Token(token) => spell(Some(token)),
            Part::Name(at) => Some((self.symbol)(at)),
            _ => None,
        };
        if above.contains(&at) || text.len() > MAX_TREE {
            return None;
        }
        text.extend(self.prefixes.get(&at).into_iter().flatten().filter_map(plain));
        text.push((self.symbol)(at));
        above.push(at);
        let mut mark = self.marks.open;
        for role in roles.iter().filter(|role| role.parent == at) {
            text.extend(spell(mark));
            text.extend(role.label.iter().filter_map(plain));
            text.extend(spell(self.marks.role));
            self.node(role.child, roles, above, text)?;
            mark = self.marks.comma;
        }
        if mark != self.marks.open {
            text.extend(spell(self.marks.close));
        }
        above.pop();
        Some(())
    }
}
