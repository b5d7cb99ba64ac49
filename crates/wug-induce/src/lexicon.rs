//! Which word owns which target symbol.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The words and the target symbols of one training row.
#[derive(Debug, Clone)]
pub(crate) struct Bag {
    /// Words of the source.
    pub words: Vec<u32>,
    /// Symbols of the target.
    pub symbols: Vec<u32>,
}

/// Finds the content words: a word owns one symbol, which is in the target whenever the word is in the source, and
/// the owners of a symbol explain all its occurrences. Symbols that nobody can own are structure; words that own
/// nothing are function words. Rare symbols choose first, because few words could own them; `closeness` (of spelling)
/// only breaks ties.
///
/// Where no owners without exception are found, a few exceptions are allowed: they are noise in the training pairs.
pub(crate) fn align(rows: &[Bag], closeness: impl Fn(u32, u32) -> usize) -> BTreeMap<u32, u32> {
    let table = Table::new(rows);
    let mut owned: BTreeMap<u32, u32> = BTreeMap::new();
    let mut symbols: Vec<u32> = (0..table.symbol_rows.len() as u32).collect();
    symbols.sort_by_key(|&symbol| (table.symbol_rows[symbol as usize].len(), symbol));
    for lenient in [false, true] {
        let explained: BTreeSet<u32> = owned.values().copied().collect();
        for &symbol in symbols.iter().filter(|symbol| !explained.contains(symbol)) {
            for word in table.cover(symbol, &owned, lenient, &closeness) {
                owned.insert(word, symbol);
            }
        }
    }
    owned
}

/// The most words that own one symbol.
const MAX_OWNERS: usize = 4;

/// Exceptions that noise in one row of a hundred explains among `n` rows: twice the mean, and chance on top.
fn tolerance(n: usize, lenient: bool) -> usize {
    match n {
        _ if !lenient => 0,
        0..=2 => 0,
        n => (n / 50 + (n / 4).isqrt()).max(1),
    }
}

struct Table {
    word_rows: Vec<Vec<u32>>,
    symbol_rows: Vec<Vec<u32>>,
    together: HashMap<(u32, u32), usize>,
    /// The words that stand in some row with a symbol, by symbol.
    neighbours: Vec<BTreeSet<u32>>,
}

impl Table {
    fn new(rows: &[Bag]) -> Self {
        let size =
            |of: fn(&Bag) -> &Vec<u32>| rows.iter().flat_map(of).max().map_or(0, |&most| most as usize + 1);
        let mut table = Self {
            word_rows: vec![Vec::new(); size(|row| &row.words)],
            symbol_rows: vec![Vec::new(); size(|row| &row.symbols)],
            together: HashMap::new(),
            neighbours: Vec::new(),
        };
        table.neighbours = vec![BTreeSet::new(); table.symbol_rows.len()];
        for (i, row) in rows.iter().enumerate() {
            let words: BTreeSet<u32> = row.words.iter().copied().collect();
            let symbols: BTreeSet<u32> = row.symbols.iter().copied().collect();
            for &symbol in &symbols {
                table.symbol_rows[symbol as usize].push(i as u32);
            }
            for &word in &words {
                table.word_rows[word as usize].push(i as u32);
                for &symbol in &symbols {
                    *table.together.entry((word, symbol)).or_default() += 1;
                }
            }
        }
        for &(word, symbol) in table.together.keys() {
            table.neighbours[symbol as usize].insert(word);
        }
        table
    }

    /// The fewest free words that explain every occurrence of a symbol; none if there are none.
    fn cover(
        &self,
        symbol: u32,
        owned: &BTreeMap<u32, u32>,
        lenient: bool,
        closeness: &impl Fn(u32, u32) -> usize,
    ) -> Vec<u32> {
        let mut open: BTreeSet<u32> = self.symbol_rows[symbol as usize].iter().copied().collect();
        // A symbol of two rows, one of them altered, would have no owner otherwise.
        let allowed = if lenient && open.len() == 2 { 1 } else { tolerance(open.len(), lenient) };
        let mut candidates: Vec<u32> = self.neighbours[symbol as usize]
            .iter()
            .copied()
            .filter(|word| !owned.contains_key(word))
            .filter(|&word| {
                let all = self.word_rows[word as usize].len();
                all - self.together[&(word, symbol)] <= tolerance(all, lenient)
            })
            .collect();
        let mut chosen = Vec::new();
        loop {
            let explains =
                |word: u32| self.word_rows[word as usize].iter().filter(|row| open.contains(row)).count();
            let best = candidates
                .iter()
                .copied()
                .max_by_key(|&word| (explains(word), closeness(word, symbol), std::cmp::Reverse(word)));
            // Beyond what must be explained, a further form of the word still counts if it is no accident.
            let needed = if open.len() > allowed { 1 } else { 2 };
            let best = best.filter(|&word| explains(word) >= needed && chosen.len() < MAX_OWNERS);
            let Some(word) = best else {
                return if open.len() > allowed { Vec::new() } else { chosen };
            };
            for row in &self.word_rows[word as usize] {
                open.remove(row);
            }
            candidates.retain(|&other| other != word);
            chosen.push(word);
        }
    }
}

/// How alike two spellings are: the length of the common beginning, more if all is equal; letter case aside.
pub(crate) fn spelling_closeness(a: &str, b: &str) -> usize {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (a, b) = (lower(a), lower(b));
    let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    if a == b { 2 * common + 1 } else { common }
}
