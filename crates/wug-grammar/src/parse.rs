use crate::{Error, Grammar, Piece, Result, RuleId, Sort, Space, Strings};

/// Finds the trees whose string is a given sentence.
///
/// ```
/// use wug_grammar::{Arena, Grammar, Parser};
///
/// let (grammar, words) = Grammar::parse("minus: E -> E - E\nE -> 1 | 2 | 3")?;
/// let parser = Parser::new(&grammar, &words)?;
/// let sentence = parser.words("3 - 2 - 1").unwrap();
/// let trees = parser.parse(grammar.sort("E")?, &sentence);
/// assert_eq!(trees.count().to_string(), "2");
///
/// let mut arena = Arena::new();
/// let first = trees.unrank(&mut arena, &0u32.into()).unwrap();
/// assert_eq!(arena.display(&grammar, first), "minus(3, minus(2, 1))");
/// # Ok::<(), wug_grammar::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Parser<'g> {
    grammar: &'g Grammar,
    strings: &'g Strings,
    /// Shortest and longest string of each sort; `usize::MAX` stands for no bound.
    lengths: Vec<(usize, usize)>,
}

impl<'g> Parser<'g> {
    /// Prepares to parse one interpretation of a grammar. Its templates must use each argument exactly once, and no
    /// tree may contain a different tree of the same sort and the same words.
    pub fn new(grammar: &'g Grammar, strings: &'g Strings) -> Result<Self> {
        for (i, rule) in grammar.rules().iter().enumerate() {
            let template = strings.template(RuleId(i as u32));
            let mut uses = vec![0; rule.arguments().len()];
            for piece in template {
                if let Piece::Argument(argument) = piece {
                    uses[*argument as usize] += 1;
                }
            }
            if uses.iter().any(|&uses| uses != 1) {
                return Err(Error::Grammar(format!(
                    "rule `{}` does not use each argument once",
                    rule.name()
                )));
            }
            if template.is_empty() {
                return Err(Error::Grammar(format!("rule `{}` has an empty string", rule.name())));
            }
        }
        if let Some(sort) = unit_cycle(grammar, strings) {
            let name = grammar.sort_name(sort);
            return Err(Error::Grammar(format!("sort `{name}` can be rewritten to itself without words")));
        }
        Ok(Self { grammar, strings, lengths: lengths(grammar, strings) })
    }

    /// The numbers of the words of a sentence, or the first word that the grammar does not have.
    pub fn words<'s>(&self, sentence: &'s str) -> std::result::Result<Vec<u32>, &'s str> {
        let vocab = self.strings.vocab();
        sentence.split_whitespace().map(|word| vocab.get(word).ok_or(word)).collect()
    }

    /// The longest sentence of a sort, if there is one.
    pub fn longest(&self, sort: Sort) -> Option<usize> {
        Some(self.lengths[sort.index()].1).filter(|&longest| longest != usize::MAX)
    }

    /// All trees of a sort with these words; none if there are more words than any sentence has. Otherwise time and
    /// memory grow with the number of stretches of the sentence, so bound the length of what comes from outside.
    pub fn parse(&self, sort: Sort, words: &[u32]) -> Space<'g> {
        let (grammar, strings) = (self.grammar, self.strings);
        let root = (sort, 0u32, words.len() as u32);
        let (shortest, longest) = self.lengths[sort.index()];
        let fits = (shortest..=longest).contains(&words.len());
        Space::build(grammar, root, |&(sort, start, end), add| {
            if !fits {
                return;
            }
            for &rule in grammar.rules_of(sort) {
                let matcher =
                    Matcher { lengths: &self.lengths, words, arguments: grammar.rule(rule).arguments() };
                let mut children = vec![(sort, 0, 0); matcher.arguments.len()];
                matcher.split(strings.template(rule), start, end, &mut children, &mut |children| {
                    add(rule, children);
                });
            }
        })
        .unwrap_or_else(|_| {
            unreachable!("without unit cycles every argument is a shorter stretch or a lower sort")
        })
    }
}

/// A sort with a stretch of the sentence.
type Stretch = (Sort, u32, u32);

struct Matcher<'a> {
    lengths: &'a [(usize, usize)],
    words: &'a [u32],
    arguments: &'a [Sort],
}

impl Matcher<'_> {
    /// Calls `each` with every way to lay the pieces over the words from `start` to `end`.
    fn split(
        &self,
        pieces: &[Piece],
        start: u32,
        end: u32,
        children: &mut [Stretch],
        each: &mut impl FnMut(&[Stretch]),
    ) {
        match pieces {
            [] => {
                if start == end {
                    each(children);
                }
            }
            [Piece::Word(word), rest @ ..] => {
                if start < end && self.words[start as usize] == *word {
                    self.split(rest, start + 1, end, children, each);
                }
            }
            [Piece::Argument(argument), rest @ ..] => {
                let sort = self.arguments[*argument as usize];
                let (shortest, longest) = self.lengths[sort.index()];
                let room = (end - start) as usize;
                let (needed, _) = self.length(rest);
                let Some(most) = room.checked_sub(needed).map(|most| most.min(longest)) else { return };
                let least = if rest.is_empty() { room.max(shortest) } else { shortest };
                for length in least..=most {
                    let middle = start + length as u32;
                    children[*argument as usize] = (sort, start, middle);
                    self.split(rest, middle, end, children, each);
                }
            }
        }
    }

    fn length(&self, pieces: &[Piece]) -> (usize, usize) {
        template_length(pieces, self.arguments, self.lengths)
    }
}

/// Shortest and longest string of a template.
fn template_length(pieces: &[Piece], arguments: &[Sort], lengths: &[(usize, usize)]) -> (usize, usize) {
    pieces.iter().fold((0, 0), |(shortest, longest): (usize, usize), piece| {
        let (least, most) = match piece {
            Piece::Word(_) => (1, 1),
            Piece::Argument(argument) => lengths[arguments[*argument as usize].index()],
        };
        (shortest.saturating_add(least), longest.saturating_add(most))
    })
}

/// Shortest and longest string of each sort.
fn lengths(grammar: &Grammar, strings: &Strings) -> Vec<(usize, usize)> {
    let sorts = grammar.sort_count();
    // Shortest: start from "none" and let every rule lower it until nothing changes.
    // Longest: start from nothing and let every rule raise it; what still rises after as many rounds as there are
    // sorts is recursive and has no bound.
    let mut lengths = vec![(usize::MAX, 0); sorts];
    for round in 0..=2 * sorts {
        let before = lengths.clone();
        for (i, rule) in grammar.rules().iter().enumerate() {
            let template = strings.template(RuleId(i as u32));
            let (least, most) = template_length(template, rule.arguments(), &before);
            let (shortest, longest) = &mut lengths[rule.sort().index()];
            *shortest = least.min(*shortest);
            *longest = most.max(*longest);
            if round > sorts && *longest > before[rule.sort().index()].1 {
                *longest = usize::MAX;
            }
        }
    }
    lengths
}

/// A sort that rules of a single argument and no word lead back to itself.
fn unit_cycle(grammar: &Grammar, strings: &Strings) -> Option<Sort> {
    let sorts = grammar.sort_count();
    let mut reaches = vec![vec![false; sorts]; sorts];
    for (i, rule) in grammar.rules().iter().enumerate() {
        if let ([_], [below]) = (strings.template(RuleId(i as u32)), rule.arguments()) {
            reaches[rule.sort().index()][below.index()] = true;
        }
    }
    for middle in 0..sorts {
        for from in 0..sorts {
            if reaches[from][middle] {
                let onward = reaches[middle].clone();
                reaches[from].iter_mut().zip(onward).for_each(|(reach, onward)| *reach |= onward);
            }
        }
    }
    (0..sorts).find(|&sort| reaches[sort][sort]).map(|sort| Sort(sort as u32))
}
