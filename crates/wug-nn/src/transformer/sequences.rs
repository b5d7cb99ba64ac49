use std::ops::Range;

use super::config::Config;
use crate::batch::mix;
use crate::network::Lesson;

/// What dropout of an example of the batch depends on: the key of the step, and which of its sequences it is.
pub(super) fn example_key(key: u64, is_target: bool, example: usize) -> u64 {
    mix(mix(key ^ u64::from(is_target)) ^ example as u64)
}

/// What dropout of a word depends on.
pub(super) fn row_key(key: u64, position: usize) -> u64 {
    mix(key ^ position as u64)
}

/// How sequences lie in one buffer: one after the other, nothing padded.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Where each sequence begins, and the end.
    starts: Vec<usize>,
    /// For each row, what dropout depends on: the key of the step, the example and the position.
    pub(super) keys: Vec<u64>,
}

impl Rows {
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.keys.clear();
    }

    pub(super) fn add(&mut self, length: usize, key: u64) {
        self.keys.extend((0..length).map(|position| row_key(key, position)));
        self.starts.push(self.keys.len());
    }

    /// How many sequences.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of a sequence.
    pub(super) fn range(&self, sequence: usize) -> Range<usize> {
        self.starts[sequence]..self.starts[sequence + 1]
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.len()).map(|sequence| self.range(sequence))
    }

    /// All rows.
    pub(super) fn total(&self) -> usize {
        self.keys.len()
    }

    /// The longest sequence.
    pub(super) fn longest(&self) -> usize {
        self.ranges().map(|range| range.len()).max().unwrap_or_default()
    }
}

/// A few examples that are computed together.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    pub(super) source: Rows,
    pub(super) source_words: Vec<u32>,
    pub(super) target: Rows,
    /// What the decoder is fed: the start symbol and the target without its end.
    pub(super) fed: Vec<u32>,
    pub(super) target_words: Vec<u32>,
}

impl Sequences {
    /// Reads the examples `first..` of a batch.
    pub(super) fn read(&mut self, config: &Config, lessons: &[Lesson<'_>], first: usize, key: u64) {
        self.read_sources(config, lessons.iter().map(|lesson| lesson.source.tokens()), first, key);
        self.target.clear();
        self.fed.clear();
        self.target_words.clear();
        for (i, lesson) in lessons.iter().enumerate() {
            self.target.add(config.before() + lesson.target.len(), example_key(key, true, first + i));
            if let Some((_, said)) = lesson.target.split_last() {
                self.fed.push(config.start());
                self.fed.extend(config.says_start.then(|| config.start()));
                self.fed.extend_from_slice(said);
            }
            self.target_words.extend(config.says_start.then(|| config.start()));
            self.target_words.extend_from_slice(lesson.target);
        }
    }

    /// Reads sources alone.
    pub(super) fn read_sources<'a>(
        &mut self,
        config: &Config,
        sources: impl Iterator<Item = &'a [u32]>,
        first: usize,
        key: u64,
    ) {
        self.source.clear();
        self.source_words.clear();
        for (i, source) in sources.enumerate() {
            let length = source.len() + usize::from(config.source_start.is_some());
            self.source.add(length, example_key(key, false, first + i));
            self.source_words.extend(config.source_start);
            self.source_words.extend_from_slice(source);
        }
    }
}
