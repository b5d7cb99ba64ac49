//! Targets that are strings: parts stand next to each other, and a part may be used several times.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Algebra;
use crate::induce::{Delexicalised, Material};
use crate::kinds::kinds;
use crate::lexicon::{Bag, align, spelling_closeness};
use crate::links::Row;
use crate::pairs::Pairs;
use crate::plan::Plan;
use crate::pool::{SLOT_BITS, WORD_BITS};
use crate::symbols::Sym;

/// A piece of a string term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Piece {
    /// A target symbol.
    Symbol(u32),
    /// What fills a slot.
    Slot(u8),
}

/// The target side of a rule of strings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Phrase {
    /// What stands behind what.
    pub pieces: Vec<Piece>,
    /// The slot whose kind the whole is of; without one it is a sentence.
    pub head: Option<u8>,
}

/// Strings of target symbols.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Strings {
    /// The symbol that each source word owns.
    pub owns: Vec<Option<u32>>,
    /// Spellings of the target symbols.
    pub symbols: Vec<String>,
    /// The class of sentences, where words have kinds; otherwise everything is of one class.
    pub sentences: Option<u16>,
}

/// The longest value that is computed.
const MAX_VALUE: usize = 1 << 16;

fn shifted(part: &[Piece], by: usize) -> Vec<Piece> {
    part.iter()
        .map(|&piece| match piece {
            Piece::Slot(slot) => Piece::Slot(slot + by as u8),
            Piece::Symbol(_) => piece,
        })
        .collect()
}

fn is_in(piece: Piece, from: usize, to: usize) -> bool {
    matches!(piece, Piece::Slot(slot) if (from..to).contains(&(slot as usize)))
}

impl Strings {
    /// Replaces every copy of a part by one slot; `None` if a slot of the part is left over.
    fn replace(term: &[Piece], from: usize, to: usize, part: &[Piece]) -> Option<Vec<Piece>> {
        let mut replaced = Vec::with_capacity(term.len());
        let mut at = 0;
        while at < term.len() {
            if term[at..].starts_with(part) {
                replaced.push(Piece::Slot(from as u8));
                at += part.len();
                continue;
            }
            match term[at] {
                Piece::Slot(slot) if (slot as usize) >= to => {
                    replaced.push(Piece::Slot(slot - (to - from - 1) as u8));
                }
                piece if is_in(piece, from, to) => return None,
                piece => replaced.push(piece),
            }
            at += 1;
        }
        Some(replaced)
    }
}

impl Strings {
    /// The text of a value; words that were never seen are copied from the source.
    pub(crate) fn write(&self, value: &[u32], source: &[&str]) -> String {
        let spell = |symbol: u32| match self.symbols.get(symbol as usize) {
            Some(text) => text.as_str(),
            None => source[(u32::MAX - symbol) as usize],
        };
        value.iter().map(|&symbol| spell(symbol)).collect::<Vec<_>>().join(" ")
    }
}

impl Strings {
    /// The stretches of a string that a part over the slots `from..to` could be, with all its copies.
    fn stretches(term: &[Piece], from: usize, to: usize) -> Vec<Vec<Piece>> {
        let mut parts = Vec::new();
        let Some(first) = term.iter().position(|&piece| is_in(piece, from, to)) else { return parts };
        let mut start = first;
        loop {
            for end in first + 1..=term.len() {
                let last = term[end - 1];
                if !(is_in(last, from, to) || matches!(last, Piece::Symbol(_))) {
                    break;
                }
                let part = &term[start..end];
                let complete = (from..to).all(|slot| part.contains(&Piece::Slot(slot as u8)));
                if complete && Self::replace(term, from, to, part).is_some() {
                    parts.push(
                        part.iter()
                            .map(|&piece| match piece {
                                Piece::Slot(slot) => Piece::Slot(slot - from as u8),
                                Piece::Symbol(_) => piece,
                            })
                            .collect(),
                    );
                }
            }
            if start == 0 || !matches!(term[start - 1], Piece::Symbol(_)) {
                return parts;
            }
            start -= 1;
        }
    }
}

impl Algebra for Strings {
    type Term = Phrase;
    type Value = Vec<u32>;

    fn parts(&self, term: &Phrase, from: usize, to: usize) -> Vec<Phrase> {
        let heads: Vec<Option<u8>> = match term.head.filter(|&head| (from..to).contains(&(head as usize))) {
            _ if self.sentences.is_none() => vec![None],
            Some(head) => vec![Some(head - from as u8)],
            None => [None].into_iter().chain((0..(to - from) as u8).map(Some)).collect(),
        };
        let parts = Self::stretches(&term.pieces, from, to);
        let phrase = |pieces: &Vec<Piece>, head: Option<u8>| Phrase { pieces: pieces.clone(), head };
        parts.iter().flat_map(|pieces| heads.iter().map(move |&head| phrase(pieces, head))).collect()
    }

    fn cut(&self, term: &Phrase, from: usize, to: usize, part: &Phrase) -> Option<Phrase> {
        let is_within = |head: u8| (from..to).contains(&(head as usize));
        if term.head.is_some_and(is_within) && term.head != part.head.map(|head| head + from as u8) {
            return None; // the whole would be of another kind
        }
        let pieces = Self::replace(&term.pieces, from, to, &shifted(&part.pieces, from))?;
        let head = term.head.map(|head| match head as usize {
            head if head >= to => head - (to - from - 1),
            head => head.min(from),
        });
        let head = head.map(|head| head as u8);
        pieces.contains(&Piece::Slot(from as u8)).then_some(Phrase { pieces, head })
    }

    fn bits(&self, term: &Phrase) -> f64 {
        term.pieces
            .iter()
            .map(|piece| if matches!(piece, Piece::Slot(_)) { SLOT_BITS } else { WORD_BITS })
            .sum()
    }

    fn class(&self, source: &[Sym], term: &Phrase) -> u16 {
        let Some(sentences) = self.sentences else { return 0 };
        let mut slots =
            source.iter().filter_map(|sym| if let Sym::Slot(class) = sym { Some(*class) } else { None });
        term.head.and_then(|head| slots.nth(head as usize)).unwrap_or(sentences)
    }

    fn slot(&self, slot: usize) -> Vec<u32> {
        vec![u32::MAX - slot as u32]
    }

    fn word(&self, word: u32, position: usize) -> Vec<u32> {
        if word as usize >= self.owns.len() {
            return self.slot(position); // a new word, which is copied
        }
        self.owns.get(word as usize).copied().flatten().into_iter().collect()
    }

    fn apply(&self, term: &Phrase, children: &[&Vec<u32>]) -> Option<Vec<u32>> {
        let mut value = Vec::new();
        for piece in &term.pieces {
            match *piece {
                Piece::Symbol(symbol) => value.push(symbol),
                Piece::Slot(slot) => value.extend_from_slice(children[slot as usize]),
            }
            if value.len() > MAX_VALUE {
                return None;
            }
        }
        Some(value)
    }

    fn is_part(&self, value: &Vec<u32>, gold: &Vec<u32>) -> bool {
        value.is_empty() || gold.windows(value.len()).any(|window| window == value.as_slice())
    }

    fn is_whole(&self, value: &Vec<u32>, gold: &Vec<u32>) -> bool {
        value == gold
    }

    fn show(&self, term: &Phrase) -> String {
        let pieces = term.pieces.iter().map(|piece| match *piece {
            Piece::Symbol(symbol) => self.symbols[symbol as usize].clone(),
            Piece::Slot(slot) => format!("${}", slot + 1),
        });
        pieces.collect::<Vec<_>>().join(" ")
    }

    fn show_value(&self, value: &Vec<u32>, words: &[String]) -> String {
        self.write(value, &words.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// How many slots a term needs; as many as there can be if it names a symbol that is not there.
pub(crate) fn slots_used(term: &Phrase, is_symbol: impl Fn(u32) -> bool) -> usize {
    let needs = term.pieces.iter().map(|piece| match *piece {
        Piece::Slot(slot) => slot as usize + 1,
        Piece::Symbol(symbol) if is_symbol(symbol) => 0,
        Piece::Symbol(_) => usize::MAX,
    });
    needs.chain(term.head.map(|head| head as usize + 1)).max().unwrap_or(0)
}

/// A row without its content words: source, term, and the word in each slot. `None` if a symbol could belong to two
/// words, if a word's symbol is missing, or if a symbol's owner is.
fn delexicalise(
    owns: &[Option<u32>],
    classes: &[Option<u16>],
    owned: &BTreeSet<u32>,
    source: &[u32],
    target: &[u32],
) -> Result<Delexicalised<Phrase>, Misfit> {
    let mut slot_of: BTreeMap<u32, u8> = BTreeMap::new();
    let mut words = Vec::new();
    let mut pattern = Vec::with_capacity(source.len());
    let mut repeated = false;
    for &word in source {
        match owns[word as usize] {
            Some(symbol) => {
                repeated |= slot_of.insert(symbol, words.len() as u8).is_some();
                words.push(word);
                pattern.push(Sym::Slot(classes[word as usize].unwrap_or(0)));
            }
            None => pattern.push(Sym::Word(word)),
        }
    }
    if slot_of.keys().any(|symbol| !target.contains(symbol)) || words.len() > 200 {
        return Err(Misfit::Unexplained);
    }
    let mut term = Vec::with_capacity(target.len());
    for symbol in target {
        match slot_of.get(symbol) {
            Some(&slot) => term.push(Piece::Slot(slot)),
            None if owned.contains(symbol) => return Err(Misfit::Unexplained),
            None => term.push(Piece::Symbol(*symbol)),
        }
    }
    let term = Phrase { pieces: term, head: None };
    if repeated { Err(Misfit::Repeated) } else { Ok((pattern, term, words)) }
}

/// Why a row is in no template.
#[derive(Debug, PartialEq, Eq)]
enum Misfit {
    /// A symbol could belong to two words.
    Repeated,
    /// The lexicon does not explain the row.
    Unexplained,
}

impl Strings {
    /// Reads training pairs: the lexicon.
    pub(crate) fn new(pairs: &Pairs) -> Self {
        let bags: Vec<Bag> = pairs
            .rows
            .iter()
            .map(|(source, target, _)| Bag { words: source.clone(), symbols: target.clone() })
            .collect();
        let lexicon = align(&bags, |word, symbol| {
            spelling_closeness(pairs.source.word(word), pairs.target.word(symbol))
        });
        let owns = (0..pairs.source.len() as u32).map(|word| lexicon.get(&word).copied()).collect();
        Self { owns, symbols: pairs.target.words().to_vec(), sentences: None }
    }

    /// The same where words have kinds; none if all are of one kind.
    pub(crate) fn with_kinds(&self, pairs: &Pairs, plan: &Plan) -> Option<(Self, Vec<Option<u16>>)> {
        let kinds = kinds(pairs, &self.owns, plan)?;
        let sentences = kinds.iter().flatten().max().filter(|&&most| most > 0)? + 1;
        Some((Self { sentences: Some(sentences), ..self.clone() }, kinds))
    }

    /// Templates and rows, with the class of each content word.
    pub(crate) fn material(&self, pairs: &Pairs, classes: Vec<Option<u16>>, plan: &Plan) -> Material<Self> {
        let owned: BTreeSet<u32> = self.owns.iter().flatten().copied().collect();
        let mut rows = Vec::new();
        for (source, target, _) in pairs.shortest_first() {
            let template = match delexicalise(&self.owns, &classes, &owned, source, target) {
                Ok(template) => Some(template),
                Err(Misfit::Repeated) => None,
                Err(Misfit::Unexplained) => continue,
            };
            rows.push((Row::new(source, target.clone()), template));
        }
        Material::new(classes, rows, plan)
    }

    /// One class for all content words.
    pub(crate) fn one_class(&self) -> Vec<Option<u16>> {
        self.owns.iter().map(|owned| owned.map(|_| 0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Piece::{Slot, Symbol};

    fn phrase(pieces: &[Piece]) -> Phrase {
        Phrase { pieces: pieces.to_vec(), head: None }
    }

    #[test]
    fn a_part_is_found_with_all_its_copies() {
        let strings = Strings::default();
        // `walk left twice`: the part of `walk left` stands twice.
        let term = phrase(&[Slot(1), Slot(0), Slot(1), Slot(0)]);
        let parts = strings.parts(&term, 0, 2);
        assert_eq!(parts, [phrase(&[Slot(1), Slot(0)]), term.clone()]);
        assert_eq!(strings.cut(&term, 0, 2, &parts[0]), Some(phrase(&[Slot(0), Slot(0)])));
        // The copies of one slot: each alone is a part, and no other stretch is.
        assert_eq!(strings.parts(&term, 1, 2), [phrase(&[Slot(0)])]);
    }

    #[test]
    fn symbols_nobody_owns_may_belong_to_a_part() {
        let strings = Strings::default();
        let term = phrase(&[Symbol(7), Slot(0), Symbol(8), Slot(1)]);
        let parts = strings.parts(&term, 0, 1);
        assert_eq!(parts.len(), 4, "with and without either neighbour");
        assert_eq!(
            strings.cut(&term, 0, 1, &phrase(&[Slot(0), Symbol(8)])),
            Some(phrase(&[Symbol(7), Slot(0), Slot(1)]))
        );
    }

    #[test]
    fn a_part_keeps_the_kind_of_the_whole() {
        let strings = Strings { sentences: Some(3), ..Strings::default() };
        let term = Phrase { pieces: vec![Slot(0), Slot(1), Slot(2)], head: Some(1) };
        let heads = |from, to| -> Vec<_> { strings.parts(&term, from, to).iter().map(|p| p.head).collect() };
        assert_eq!(heads(0, 2), [Some(1)]);
        assert_eq!(heads(2, 3), [None, Some(0)]);
        let part = Phrase { pieces: vec![Slot(0), Slot(1)], head: Some(0) };
        assert_eq!(strings.cut(&term, 0, 2, &part), None);
        let cut = strings.cut(&term, 1, 3, &part).unwrap();
        assert_eq!(cut, Phrase { pieces: vec![Slot(0), Slot(1)], head: Some(1) });
        assert_eq!(strings.class(&[Sym::Slot(1), Sym::Slot(0)], &cut), 0);
    }
}
