//! Logical forms as sets of atoms over numbered variables, in a few flat lists that are used again and again: millions
//! of forms are compared, and what takes time is memory.

use super::super::lf::{Argument as Read, Form, Term};

/// The predications of a form.
#[derive(Default)]
pub(super) struct Structure {
    /// How many variables `LAMBDA` binds; they are the first ones.
    pub(super) lambdas: usize,
    /// Sorted by predicate and arguments, each once.
    atoms: Vec<Atom>,
    /// The arguments of all atoms.
    arguments: Vec<Argument>,
    /// Where the places of each variable begin, and where those of the last end.
    first_places: Vec<u32>,
    /// Atoms in which a variable occurs, and at which argument.
    places: Vec<(u32, u32)>,
    /// The variables that are not bound.
    free: Names,
    conjuncts: u32,
}

/// A predication.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    /// The predicate and its first two arguments in one number: all that is said by almost every atom.
    key: u128,
    /// A conjunct that says it.
    pub(super) conjunct: u32,
    first: u32,
    end: u32,
}

impl Atom {
    /// The number of the predicate: its words, and whether it is marked with `*`.
    #[inline]
    pub(super) fn predicate(&self) -> u32 {
        (self.key >> 80) as u32
    }
}

/// A variable or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Argument(u32);

impl Argument {
    const CONSTANT: u32 = 1 << 31;

    fn constant(number: u32) -> Self {
        Self(number | Self::CONSTANT)
    }

    /// The number of the variable, if it is one.
    #[inline]
    pub(super) fn variable(self) -> Option<u32> {
        (self.0 & Self::CONSTANT == 0).then_some(self.0)
    }

    /// The same with the variable mapped.
    #[inline]
    pub(super) fn mapped(self, image: impl FnOnce(u32) -> u32) -> Self {
        self.variable().map_or(self, |variable| Self(image(variable)))
    }
}

/// The number by which atoms are sorted, before any argument beyond the second.
#[inline]
fn key(symbol: u32, arguments: &[Argument]) -> u128 {
    let argument = |i: usize| arguments.get(i).map_or(0, |argument| u128::from(argument.0) + 1);
    u128::from(symbol) << 80 | argument(0) << 40 | argument(1)
}

/// Names and their numbers.
#[derive(Default)]
struct Names {
    keys: Vec<u64>,
    text: String,
    ends: Vec<u32>,
}

impl Names {
    fn clear(&mut self) {
        self.keys.clear();
        self.text.clear();
        self.ends.clear();
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number `number`, as if all up to it had names.
    fn at_least(&mut self, number: usize) -> u32 {
        if number >= self.keys.len() {
            self.keys.resize(number + 1, 0);
        }
        number as u32
    }

    /// The number of a name. Forms have few, so that looking through their keys is quicker than a table.
    fn number(&mut self, name: &str) -> u32 {
        let key = key_of_word(name);
        for (i, &other) in self.keys.iter().enumerate() {
            if other == key {
                if key & IS_LONG == 0 {
                    return i as u32;
                }
                let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
                if self.text.as_bytes()[start..self.ends[i] as usize] == *name.as_bytes() {
                    return i as u32;
                }
            }
        }
        self.keys.push(key);
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
        self.keys.len() as u32 - 1
    }
}

/// Numbers for predicates and constants, the same for all forms that are to be compared.
#[derive(Default)]
pub(super) struct Symbols {
    words: Names,
    /// Predicates of several words: the number of all words but the last, and of the last.
    longer: Vec<(u32, u32)>,
}

impl Symbols {
    /// Predicates of several words are numbered from here; no form has as many words.
    const LONGER: u32 = 1 << 30;

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.longer.clear();
    }

    fn predicate<'w>(&mut self, definite: bool, words: impl Iterator<Item = &'w str>) -> u32 {
        let mut predicate = None;
        for word in words {
            let word = self.words.number(word);
            predicate = Some(match predicate {
                None => word,
                Some(before) => {
                    let known = self.longer.iter().position(|&pair| pair == (before, word));
                    let number = known.unwrap_or_else(|| {
                        self.longer.push((before, word));
                        self.longer.len() - 1
                    });
                    Self::LONGER + number as u32
                }
            });
        }
        predicate.unwrap_or(u32::MAX >> 1) << 1 | u32::from(definite)
    }
}

impl Structure {
    /// The structure of a form.
    pub(super) fn of(form: &Form<'_>, symbols: &mut Symbols) -> Self {
        let mut structure = Self { lambdas: form.lambdas.len(), ..Self::default() };
        let mut arguments = Vec::new();
        for conjunct in &form.conjuncts {
            arguments.clear();
            arguments.extend(conjunct.arguments.iter().map(|term| match term {
                Term::Bound(name) => {
                    Read::Bound(form.lambdas.iter().rposition(|lambda| lambda == name).unwrap_or(0), name)
                }
                Term::Variable(name) => Read::Variable(name),
                Term::Constant(name) => Read::Constant(name),
            }));
            structure.add(conjunct.definite, conjunct.predicate(), &arguments, symbols);
        }
        structure.finish();
        structure
    }

    pub(super) fn clear(&mut self) {
        self.lambdas = 0;
        self.conjuncts = 0;
        self.free.clear();
        self.atoms.clear();
        self.arguments.clear();
    }

    /// Adds a conjunct. All variables that are bound must be known.
    pub(super) fn add<'w>(
        &mut self,
        definite: bool,
        predicate: impl Iterator<Item = &'w str>,
        arguments: &[Read<'_>],
        symbols: &mut Symbols,
    ) {
        let first = self.arguments.len();
        for argument in arguments {
            self.arguments.push(match *argument {
                Read::Bound(bound, _) => Argument(bound as u32),
                Read::Variable(name) => Argument(self.lambdas as u32 + self.free.number(name)),
                Read::Constant(name) => Argument::constant(symbols.words.number(name)),
                Read::Node(node) => Argument(self.lambdas as u32 + self.free.at_least(node)),
            });
        }
        let key = key(symbols.predicate(definite, predicate), &self.arguments[first..]);
        let (conjunct, first, end) = (self.conjuncts, first as u32, self.arguments.len() as u32);
        self.atoms.push(Atom { key, conjunct, first, end });
        self.conjuncts += 1;
    }

    /// Puts the atoms in order, once all have been added.
    pub(super) fn finish(&mut self) {
        let arguments = &self.arguments;
        let said = |atom: &Atom| (atom.key, arguments.get(atom.first as usize + 2..atom.end as usize));
        self.atoms.sort_unstable_by(|a, b| {
            a.key.cmp(&b.key).then_with(|| said(a).cmp(&said(b))).then(a.conjunct.cmp(&b.conjunct))
        });
        self.atoms.dedup_by(|a, b| a.key == b.key && said(a) == said(b));

        // Where each variable occurs: counted, summed, then filled from the end of its places to their beginning.
        let variables = self.variables();
        self.first_places.clear();
        self.first_places.resize(variables + 1, 0);
        let mut all = 0;
        for atom in &self.atoms {
            for variable in of(arguments, atom).iter().filter_map(|argument| argument.variable()) {
                self.first_places[variable as usize] += 1;
                all += 1;
            }
        }
        let mut sum = 0;
        for first in &mut self.first_places {
            sum += *first;
            *first = sum;
        }
        self.places.clear();
        self.places.resize(all, (0, 0));
        for (atom, i) in self.atoms.iter().zip(0..) {
            for (argument, place) in of(arguments, atom).iter().zip(0..) {
                if let Some(variable) = argument.variable() {
                    let first = &mut self.first_places[variable as usize];
                    *first -= 1;
                    self.places[*first as usize] = (i, place);
                }
            }
        }
    }

    pub(super) fn variables(&self) -> usize {
        self.lambdas + self.free.len()
    }

    pub(super) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    #[inline]
    pub(super) fn arguments(&self, atom: &Atom) -> &[Argument] {
        of(&self.arguments, atom)
    }

    /// The atoms in which a variable occurs, and at which argument.
    #[inline]
    pub(super) fn places(&self, variable: u32) -> &[(u32, u32)] {
        let variable = variable as usize;
        &self.places[self.first_places[variable] as usize..self.first_places[variable + 1] as usize]
    }

    /// Where the predicate is said of these arguments, if it is.
    #[inline]
    pub(super) fn find(&self, predicate: u32, arguments: &[Argument]) -> Option<usize> {
        let key = key(predicate, arguments);
        let rest = arguments.get(2..);
        let said = |atom: &Atom| {
            atom.key
                .cmp(&key)
                .then_with(|| self.arguments.get(atom.first as usize + 2..atom.end as usize).cmp(&rest))
        };
        self.atoms.binary_search_by(said).ok()
    }

    /// Whether the other has as many variables and atoms with the same predicates.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let shape = |atom: &Atom| (atom.predicate(), atom.end - atom.first);
        self.lambdas == other.lambdas
            && self.variables() == other.variables()
            && self.atoms.len() == other.atoms.len()
            && self.atoms.iter().zip(&other.atoms).all(|(a, b)| shape(a) == shape(b))
    }

    /// How many places of variables there are.
    pub(super) fn number_of_places(&self) -> usize {
        self.places.len()
    }

    /// The colour that a variable starts with: those that `LAMBDA` binds are told apart by their place.
    pub(super) fn first_colour(&self, variable: usize) -> u64 {
        if variable < self.lambdas { mix(variable as u64 + 1) } else { 0 }
    }

    /// The colours that all variables start with.
    pub(super) fn first_colours(&self) -> Vec<u64> {
        (0..self.variables()).map(|variable| self.first_colour(variable)).collect()
    }

    /// What is said of a variable, given the colours of all: the same number for the same set.
    #[inline]
    pub(super) fn recolour(&self, variable: u32, colours: &[u64]) -> u64 {
        let mut sum = 0u64;
        for &(atom, place) in self.places(variable) {
            let atom = &self.atoms[atom as usize];
            let mut hash = u64::from(atom.predicate()) << 32 | u64::from(place);
            for argument in self.arguments(atom) {
                let colour = argument.variable().map_or(!u64::from(argument.0), |it| colours[it as usize]);
                hash = fold(hash, colour);
            }
            sum = sum.wrapping_add(hash);
        }
        fold(colours[variable as usize], sum)
    }
}

#[inline]
fn of<'a>(arguments: &'a [Argument], atom: &Atom) -> &'a [Argument] {
    &arguments[atom.first as usize..atom.end as usize]
}

/// Scatters the bits of a number (the finaliser of splitmix64). Colours are only hints: a mapping is checked in the end.
pub(super) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Two numbers as one, their order included.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product =
        u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b.rotate_left(32) ^ 0xd1b5_4a32_d192_ed03);
    (product as u64 ^ (product >> 64) as u64).wrapping_add(a.rotate_left(23))
}

/// A number for a word: of up to 7 bytes, as most have, those themselves and their number, which no other word shares;
/// of more, a hash.
#[inline]
fn key_of_word(word: &str) -> u64 {
    let bytes = word.as_bytes();
    let length = bytes.len();
    let four = |start: usize| bytes[start..].first_chunk().map_or(0, |it| u64::from(u32::from_le_bytes(*it)));
    let eight = |start: usize| bytes[start..].first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
    if length > SHORT {
        let whole = (0..length - 7).step_by(8).fold(length as u64, |hash, start| fold(hash, eight(start)));
        return fold(whole, eight(length - 8)) | IS_LONG;
    }
    // The two halves may overlap: what they share they agree on.
    let content = match length {
        4.. => four(0) | four(length - 4) << (8 * (length - 4)),
        1.. => {
            let byte = |i: usize| u64::from(bytes[i]) << (8 * i);
            byte(0) | byte(length / 2) | byte(length - 1)
        }
        0 => 0,
    };
    content | (length as u64) << 56
}

/// The most bytes of a word that its key tells from all others.
const SHORT: usize = 7;
/// Marks the keys of longer words.
const IS_LONG: u64 = 1 << 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_have_keys_of_their_own() {
        let mut keys = std::collections::HashSet::new();
        let letters = ["", "a", "b", "\0"];
        for code in 0..4usize.pow(7) {
            let word: String = (0..7).map(|i| letters[code >> (2 * i) & 3]).collect();
            let key = key_of_word(&word);
            assert_eq!(key & IS_LONG, 0);
            keys.insert((key, word));
        }
        let distinct: std::collections::HashSet<u64> = keys.iter().map(|(key, _)| *key).collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(keys.len(), (0..=7).map(|length| 3usize.pow(length)).sum::<usize>());
        let long: std::collections::HashSet<u64> =
            (8..100).map(|length| key_of_word(&"a".repeat(length))).collect();
        assert_eq!(long.len(), 92, "a length more is another word");
        assert!(long.iter().all(|key| key & IS_LONG != 0));
    }
}
