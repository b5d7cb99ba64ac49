use std::ops::Range;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use wug_data::{InputKind, Picture, Result, Stream};
use wug_nn::Sequence;

use super::Sizes;
use super::preprocess::{Preprocess, Preprocessed};
use super::vocabulary::Vocabulary;
use crate::{Image, Input, Lessons, Question};

/// Pictures that are in memory at a time when questions are answered.
const RENDERED: usize = 1024;

/// The training examples as a network sees them.
pub(super) struct Examples<'a> {
    sources: Sources<'a>,
    /// The ids of each target, with its end.
    targets: Vec<Vec<u32>>,
    /// How many of them are the task's own; those behind them are mixed in.
    own: usize,
}

/// Sources of examples or questions.
pub(super) enum Sources<'a> {
    /// Ids of tokens, with the end.
    Tokens(Vec<Vec<u32>>),
    /// Images, rendered when a batch needs them, and how they are looked at.
    Images(Vec<Image<'a>>, Preprocess),
}

/// The sources of one batch, in memory.
pub(super) enum BatchSources<'s> {
    Tokens(Vec<&'s [u32]>),
    /// With the time that each took.
    Images(Vec<(Preprocessed, Duration)>),
}

impl<'a> Examples<'a> {
    /// Reads the training examples; their tokens make the vocabulary. `preprocess` says from the first of them how images are
    /// looked at.
    pub(super) fn read(
        lessons: &Lessons<'a>,
        vocabulary: &mut Vocabulary,
        preprocess: impl FnOnce(&Picture) -> Preprocess,
    ) -> Self {
        let (mut tokens, mut images, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for lesson in lessons.iter() {
            match lesson.input {
                Input::Tokens(source) => tokens.push(vocabulary.add_source(source)),
                Input::Image(image) => images.push(image),
            }
            targets.push(vocabulary.add_target(lesson.target));
        }
        let sources = match lessons.reads() {
            InputKind::Tokens => Sources::Tokens(tokens),
            InputKind::Images => {
                let first = images.first().map_or_else(|| Picture::white(1, 1), Image::render);
                Sources::Images(images, preprocess(&first))
            }
        };
        Self { sources, own: targets.len(), targets }
    }

    /// The number of examples of the task.
    pub(super) fn len(&self) -> usize {
        self.own
    }

    /// The number of examples that can be mixed in; they have the numbers from [`Examples::len`].
    pub(super) fn mixed_in(&self) -> usize {
        self.targets.len() - self.own
    }

    /// Puts examples of another task, of the same kind and vocabulary, behind these.
    pub(super) fn mix_in(&mut self, others: Self) {
        match (&mut self.sources, others.sources) {
            (Sources::Tokens(sources), Sources::Tokens(more)) => sources.extend(more),
            (Sources::Images(sources, _), Sources::Images(more, _)) => sources.extend(more),
            // A network that reads one kind cannot begin from one that reads the other: this is refused elsewhere.
            _ => return,
        }
        self.targets.extend(others.targets);
    }

    /// The target of an example, with its end.
    pub(super) fn target(&self, i: usize) -> &[u32] {
        &self.targets[i]
    }

    /// The number of tokens of a source; of an image it is not known before it is rendered.
    pub(super) fn source_len(&self, i: usize) -> usize {
        match &self.sources {
            Sources::Tokens(sources) => sources[i].len(),
            Sources::Images(..) => 0,
        }
    }

    /// The mean number of tokens of source and target together, of the first thousand examples.
    pub(super) fn mean_tokens(&self) -> f64 {
        let some = self.len().min(1000);
        let tokens: usize = (0..some).map(|i| self.source_len(i) + self.target(i).len()).sum();
        tokens as f64 / some.max(1) as f64
    }

    /// The sources of a batch.
    pub(super) fn batch(&self, batch: &[usize]) -> BatchSources<'_> {
        self.sources.batch(batch.iter().copied())
    }

    /// Keeps a share of the examples, at least one, drawn from all; the vocabulary stays.
    pub(super) fn keep_share(&mut self, share: f64, stream: &mut Stream) {
        let kept = (share * self.len() as f64).round().max(1.0) as usize;
        if kept >= self.len() {
            return;
        }
        let mut chosen: Vec<usize> = (0..self.len()).collect();
        stream.shuffle(&mut chosen);
        chosen.truncate(kept);
        chosen.sort_unstable();
        match &mut self.sources {
            Sources::Tokens(sources) => {
                *sources = chosen.iter().map(|&i| std::mem::take(&mut sources[i])).collect();
            }
            Sources::Images(sources, _) => *sources = chosen.iter().map(|&i| sources[i]).collect(),
        }
        self.targets = chosen.into_iter().map(|i| std::mem::take(&mut self.targets[i])).collect();
        self.own = self.targets.len();
    }

    /// How images are looked at.
    pub(super) fn preprocess(&self) -> Option<Preprocess> {
        match self.sources {
            Sources::Tokens(_) => None,
            Sources::Images(_, preprocess) => Some(preprocess),
        }
    }

    /// What the network must have room for.
    pub(super) fn sizes(&self, vocabulary: &Vocabulary) -> Sizes {
        Sizes {
            reads: match self.sources {
                Sources::Tokens(_) => InputKind::Tokens,
                Sources::Images(..) => InputKind::Images,
            },
            frames: self.preprocess().map_or(0, Preprocess::frames),
            source_words: vocabulary.source_len(),
            target_words: vocabulary.target_len(),
            longest_source: (0..self.len()).map(|i| self.source_len(i)).max().unwrap_or_default(),
            longest_target: self.targets.iter().map(Vec::len).max().unwrap_or_default(),
        }
    }

    /// The number of tokens of the longest target, without its end.
    pub(super) fn longest_target(&self) -> usize {
        self.targets.iter().map(|target| target.len() - 1).max().unwrap_or_default()
    }

    /// A hash of vocabulary and examples: what a checkpoint was trained on. Images count by their targets; a run records
    /// where they come from.
    pub(super) fn fingerprint(&self, vocabulary: &Vocabulary) -> String {
        let mut hash = Sha256::new();
        vocabulary.hash(&mut hash);
        let mut add = |ids: &[u32]| {
            hash.update((ids.len() as u64).to_le_bytes());
            for id in ids {
                hash.update(id.to_le_bytes());
            }
        };
        for (i, target) in self.targets.iter().enumerate() {
            if let Sources::Tokens(sources) = &self.sources {
                add(&sources[i]);
            }
            add(target);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl<'a> Sources<'a> {
    /// The sources of questions; images, if they are looked at.
    pub(super) fn of(
        questions: &[Question<'a>],
        preprocess: Option<Preprocess>,
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        match preprocess {
            None => {
                let encode = |question: &Question<'a>| Ok(vocabulary.encode(question.input.tokens()?));
                questions.iter().map(encode).collect::<Result<_>>().map(Self::Tokens)
            }
            Some(preprocess) => {
                let images = questions.iter().map(|question| question.input.image());
                images.collect::<Result<_>>().map(|images| Self::Images(images, preprocess))
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Tokens(sources) => sources.len(),
            Self::Images(sources, _) => sources.len(),
        }
    }

    /// All sources in pieces that fit into memory: of images, a few at a time.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Range<usize>, BatchSources<'_>)> {
        let most = match self {
            Self::Tokens(_) => self.len().max(1),
            Self::Images(..) => RENDERED,
        };
        (0..self.len()).step_by(most).map(move |start| {
            let piece = start..self.len().min(start + most);
            (piece.clone(), self.batch(piece))
        })
    }

    fn batch(&self, batch: impl Iterator<Item = usize>) -> BatchSources<'_> {
        match self {
            Self::Tokens(sources) => BatchSources::Tokens(batch.map(|i| &sources[i][..]).collect()),
            Self::Images(sources, preprocess) => {
                let images: Vec<Image<'_>> = batch.map(|i| sources[i]).collect();
                let render = |image: &Image<'_>| {
                    let begun = Instant::now();
                    (preprocess.apply(&image.render()), begun.elapsed())
                };
                BatchSources::Images(images.par_iter().map(render).collect())
            }
        }
    }
}

impl BatchSources<'_> {
    /// The sequence that the encoder reads.
    pub(super) fn get(&self, i: usize) -> Sequence<'_> {
        match self {
            Self::Tokens(sources) => Sequence::Tokens(sources[i]),
            Self::Images(seen) => seen[i].0.sequence(),
        }
    }

    /// How many images there are.
    pub(super) fn images(&self) -> usize {
        match self {
            Self::Tokens(_) => 0,
            Self::Images(seen) => seen.iter().map(|(seen, _)| seen.sequence().len()).sum(),
        }
    }

    /// How long it took to render them, on all threads together.
    pub(super) fn rendering(&self) -> Duration {
        match self {
            Self::Tokens(_) => Duration::ZERO,
            Self::Images(seen) => seen.iter().map(|(_, time)| *time).sum(),
        }
    }
}
