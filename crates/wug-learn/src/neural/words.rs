use std::collections::HashMap;

use sha2::{Digest, Sha256};

use wug_data::{Stream, Tokens};

use super::Sizes;
use crate::Lessons;

/// Number of a word of the source that was not seen in training.
const UNKNOWN: u32 = 0;
/// Number of the end of a source; targets end with 0.
const END: u32 = 1;

/// The words of the training examples, numbered by first appearance, and the examples in these numbers.
pub(super) struct Words {
    sources: HashMap<String, u32>,
    /// The words of the targets from 1.
    targets: Vec<String>,
    /// Whether targets are written from their end.
    reverse: bool,
    /// Source and target of each training example, both ended.
    pub(super) examples: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Words {
    /// Reads the training examples.
    pub(super) fn of(lessons: &Lessons<'_>, reverse: bool) -> Self {
        let mut words = Self { sources: HashMap::new(), targets: Vec::new(), reverse, examples: Vec::new() };
        let mut known = HashMap::new();
        for example in lessons.examples() {
            for word in example.input.words() {
                let next = words.sources.len() as u32 + END + 1;
                words.sources.entry(word.to_owned()).or_insert(next);
            }
            let mut target = Vec::new();
            for word in example.target.words() {
                let number = *known.entry(word).or_insert_with(|| {
                    words.targets.push(word.to_owned());
                    words.targets.len() as u32
                });
                target.push(number);
            }
            if reverse {
                target.reverse();
            }
            target.push(0);
            let source = words.source(example.input);
            words.examples.push((source, target));
        }
        words
    }

    /// Leaves so many of the training examples, at least one, drawn from all; their words stay known.
    pub(super) fn keep_share(&mut self, share: f64, stream: &mut Stream) {
        let kept = (share * self.examples.len() as f64).round().max(1.0) as usize;
        if kept >= self.examples.len() {
            return;
        }
        let mut chosen: Vec<usize> = (0..self.examples.len()).collect();
        stream.shuffle(&mut chosen);
        chosen.truncate(kept);
        chosen.sort_unstable();
        self.examples = chosen.into_iter().map(|i| std::mem::take(&mut self.examples[i])).collect();
    }

    /// A source in numbers.
    pub(super) fn source(&self, input: Tokens<'_>) -> Vec<u32> {
        let number = |word: &str| self.sources.get(word).copied().unwrap_or(UNKNOWN);
        input.words().map(number).chain([END]).collect()
    }

    /// A target in words.
    pub(super) fn text(&self, said: &[u32]) -> String {
        let mut words: Vec<&str> =
            said.iter().map(|&word| self.targets[word as usize - 1].as_str()).collect();
        if self.reverse {
            words.reverse();
        }
        words.join(" ")
    }

    /// How many words there are, special ones included.
    pub(super) fn sizes(&self) -> Sizes {
        let longest = |length: fn(&(Vec<u32>, Vec<u32>)) -> usize| self.examples.iter().map(length).max();
        Sizes {
            source_words: self.sources.len() + 2,
            target_words: self.targets.len() + 1,
            longest_source: longest(|(source, _)| source.len()).unwrap_or_default(),
            longest_target: longest(|(_, target)| target.len()).unwrap_or_default(),
        }
    }

    /// The longest target, without its end.
    pub(super) fn longest(&self) -> usize {
        self.examples.iter().map(|(_, target)| target.len() - 1).max().unwrap_or_default()
    }

    /// A hash of all words and examples: what a checkpoint was trained on.
    pub(super) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut sources: Vec<(&String, &u32)> = self.sources.iter().collect();
        sources.sort_by_key(|(_, number)| **number);
        for word in sources.into_iter().map(|(word, _)| word).chain(&self.targets) {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word);
        }
        for sequence in self.examples.iter().flat_map(|(source, target)| [source, target]) {
            hash.update((sequence.len() as u64).to_le_bytes());
            for word in sequence {
                hash.update(word.to_le_bytes());
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
