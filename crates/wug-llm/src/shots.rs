//! Which training examples a few-shot prompt shows.

use std::collections::{HashMap, HashSet};

use wug_data::{Stream, Streams};

/// Chooses few-shot examples from a pool of inputs, such as train.
///
/// ```
/// let inputs = ["walk", "jump", "look", "look twice", "run left"];
/// let pool = wug_llm::ShotPool::new(inputs.iter().map(|input| input.split(' ')), 0);
/// assert_eq!(pool.random(3).len(), 3);
/// // "jump twice": an example with each of its words.
/// let mut chosen = pool.covering("jump twice".split(' '), 2);
/// chosen.sort();
/// assert_eq!(chosen, [1, 3]);
/// ```
pub struct ShotPool {
    words: HashMap<String, u32>,
    /// The words of all inputs, each sorted and without repeats, one input after another.
    flat: Vec<u32>,
    ends: Vec<usize>,
    /// For each word the inputs that have it.
    postings: Vec<Vec<u32>>,
    /// Inputs in random order, without those that repeat an earlier one.
    order: Vec<u32>,
    /// Places in that order, for ties.
    rank: Vec<u32>,
}

/// Of inputs that share a word, how many are compared. HINT has a million with each digit.
const MAX_CANDIDATES: usize = 2_000;

impl ShotPool {
    /// A pool of inputs, each given by its words.
    pub fn new<'a, W: Iterator<Item = &'a str>>(inputs: impl Iterator<Item = W>, seed: u64) -> Self {
        let mut pool = Self {
            words: HashMap::new(),
            flat: Vec::new(),
            ends: Vec::new(),
            postings: Vec::new(),
            order: Vec::new(),
            rank: Vec::new(),
        };
        let mut seen: HashSet<Vec<u32>> = HashSet::new();
        for (number, input) in (0..).zip(inputs) {
            let spoken: Vec<u32> = input.map(|word| pool.word(word)).collect();
            let mut distinct = spoken.clone();
            distinct.sort_unstable();
            distinct.dedup();
            pool.flat.extend(&distinct);
            pool.ends.push(pool.flat.len());
            if seen.insert(spoken) {
                pool.order.push(number);
            }
        }
        let mut stream: Stream = Streams::new("llm", "shots", seed).item(0);
        stream.shuffle(&mut pool.order);
        pool.rank = vec![u32::MAX; pool.ends.len()];
        for (rank, &input) in (0..).zip(&pool.order) {
            pool.rank[input as usize] = rank;
            for &word in &pool.flat[pool.span(input)] {
                pool.postings[word as usize].push(input);
            }
        }
        pool
    }

    fn word(&mut self, word: &str) -> u32 {
        if let Some(&known) = self.words.get(word) {
            return known;
        }
        let new = self.postings.len() as u32;
        self.words.insert(word.to_owned(), new);
        self.postings.push(Vec::new());
        new
    }

    fn span(&self, input: u32) -> std::ops::Range<usize> {
        let input = input as usize;
        let start = if input == 0 { 0 } else { self.ends[input - 1] };
        start..self.ends[input]
    }

    /// The first `k` in random order: the same for every question.
    pub fn random(&self, k: usize) -> Vec<usize> {
        self.order.iter().take(k).map(|&input| input as usize).collect()
    }

    /// `k` inputs that together have the words of a question, as often as `k` allows: rare words first, by the input
    /// that covers the most words still missing, the shortest of these.
    pub fn covering<'a>(&self, question: impl Iterator<Item = &'a str>, k: usize) -> Vec<usize> {
        let mut known: Vec<u32> = question.filter_map(|word| self.words.get(word).copied()).collect();
        known.sort_unstable();
        known.dedup();
        // Rare words first: their examples are few, and often cover the common words too.
        known.sort_by_key(|&word| self.postings[word as usize].len());
        let mut chosen: Vec<u32> = Vec::new();
        while chosen.len() < k {
            let before = chosen.len();
            let mut missing = known.clone();
            while let (Some(&rarest), true) = (missing.first(), chosen.len() < k) {
                if let Some(best) = self.best(rarest, &missing, &chosen) {
                    missing.retain(|word| self.flat[self.span(best)].binary_search(word).is_err());
                    chosen.push(best);
                } else {
                    missing.remove(0);
                }
            }
            if chosen.len() == before {
                let rest = self.order.iter().filter(|input| !chosen.contains(input)).take(k - before);
                let rest: Vec<u32> = rest.copied().collect();
                chosen.extend(rest);
                break;
            }
        }
        chosen.into_iter().map(|input| input as usize).collect()
    }

    fn best(&self, word: u32, missing: &[u32], chosen: &[u32]) -> Option<u32> {
        let candidates = self.postings[word as usize].iter().take(MAX_CANDIDATES);
        candidates.filter(|input| !chosen.contains(input)).copied().max_by_key(|&input| {
            let words = &self.flat[self.span(input)];
            let covered = missing.iter().filter(|word| words.binary_search(word).is_ok()).count();
            (covered, std::cmp::Reverse(words.len()), std::cmp::Reverse(self.rank[input as usize]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(inputs: &[&str], seed: u64) -> ShotPool {
        ShotPool::new(inputs.iter().map(|input| input.split(' ')), seed)
    }

    #[test]
    fn repeated_inputs_are_shown_once() {
        let chosen = pool(&["jump"; 50], 0).random(5);
        assert_eq!(chosen, [0]);
    }

    #[test]
    fn seeds_draw_different_examples_and_the_same_seed_the_same() {
        let inputs: Vec<String> = (0..1000).map(|i| format!("w{i}")).collect();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        assert_eq!(pool(&inputs, 3).random(8), pool(&inputs, 3).random(8));
        assert_ne!(pool(&inputs, 3).random(8), pool(&inputs, 4).random(8));
    }

    #[test]
    fn every_known_word_is_covered_if_there_is_room() {
        let inputs: Vec<String> = (0..60).map(|i| format!("a{} b{} c{}", i % 5, i % 7, i % 11)).collect();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let pool = pool(&inputs, 1);
        for question in ["a0 b3 c10", "a4 b6 c1 unknown", "c2"] {
            let chosen = pool.covering(question.split(' '), 3);
            assert_eq!(chosen.len(), 3);
            for word in question.split(' ').filter(|word| *word != "unknown") {
                assert!(chosen.iter().any(|&i| inputs[i].split(' ').any(|known| known == word)), "{word}");
            }
        }
        assert_eq!(pool.covering("none of these".split(' '), 4).len(), 4, "filled up at random");
        assert_eq!(pool.covering("a0".split(' '), 1000).len(), 60, "all there are");
    }
}
