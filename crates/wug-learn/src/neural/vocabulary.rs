use std::collections::HashMap;

use sha2::{Digest, Sha256};

use wug_data::Tokens;

/// Id of a source token that does not occur in training.
const UNKNOWN: u32 = 0;
/// Id of the end of a source; targets end with [`END_OF_TARGET`].
pub(super) const END: u32 = 1;
/// Id of the end of a target.
pub(super) const END_OF_TARGET: u32 = 0;

/// The source and target tokens of the training examples, numbered by first appearance.
#[derive(Default)]
pub(super) struct Vocabulary {
    sources: HashMap<String, u32>,
    /// The target tokens from id 1.
    targets: Vec<String>,
    target_ids: HashMap<String, u32>,
    /// Whether targets are written from their end.
    reverse: bool,
}

impl Vocabulary {
    /// No tokens yet.
    pub(super) fn new(reverse: bool) -> Self {
        Self { reverse, ..Self::default() }
    }

    /// Adds the tokens of a training source, and encodes it.
    pub(super) fn add_source(&mut self, source: Tokens<'_>) -> Vec<u32> {
        for token in source.words() {
            let next = self.sources.len() as u32 + END + 1;
            self.sources.entry(token.to_owned()).or_insert(next);
        }
        self.encode(source)
    }

    /// Adds the tokens of a training target, and encodes it with its end.
    pub(super) fn add_target(&mut self, target: Tokens<'_>) -> Vec<u32> {
        let mut ids = Vec::with_capacity(target.words().len() + 1);
        for token in target.words() {
            let id = if let Some(&id) = self.target_ids.get(token) {
                id
            } else {
                self.targets.push(token.to_owned());
                let id = self.targets.len() as u32;
                self.target_ids.insert(token.to_owned(), id);
                id
            };
            ids.push(id);
        }
        if self.reverse {
            ids.reverse();
        }
        ids.push(END_OF_TARGET);
        ids
    }

    /// The ids of a source, with its end.
    pub(super) fn encode(&self, source: Tokens<'_>) -> Vec<u32> {
        let id = |token: &str| self.sources.get(token).copied().unwrap_or(UNKNOWN);
        source.words().map(id).chain([END]).collect()
    }

    /// The text of a target without its end.
    pub(super) fn decode(&self, ids: &[u32]) -> String {
        let mut tokens: Vec<&str> = ids.iter().map(|&id| self.targets[id as usize - 1].as_str()).collect();
        if self.reverse {
            tokens.reverse();
        }
        tokens.join(" ")
    }

    /// The number of source ids, special ones included.
    pub(super) fn source_len(&self) -> usize {
        self.sources.len() + 2
    }

    /// The number of target ids, the end included.
    pub(super) fn target_len(&self) -> usize {
        self.targets.len() + 1
    }

    /// Adds all tokens in the order of their ids to a hash.
    pub(super) fn hash(&self, hash: &mut Sha256) {
        let mut sources: Vec<(&String, &u32)> = self.sources.iter().collect();
        sources.sort_by_key(|(_, id)| **id);
        for token in sources.into_iter().map(|(token, _)| token).chain(&self.targets) {
            hash.update((token.len() as u64).to_le_bytes());
            hash.update(token);
        }
    }
}
