//! Learners that train a network of `wug-nn`.
//!
//! A [`Blueprint`] says which network the settings of a learner mean; everything else is the same for all of them. The files
//! follow the data: `vocabulary.rs` and `examples.rs` turn examples into what a network reads, `plan.rs` says what the settings of training mean, `feed.rs` makes
//! batches, `train.rs` is the training loop, `fine_tune.rs` begins it from another checkpoint, `checkpoint.rs`, `metrics.rs` and `tensorboard.rs` keep it, and the trained model answers from here. `recurrent.rs`,
//! `transformer.rs` and `vision.rs` have blueprints; `preprocess.rs` resizes and cuts pictures, and `image_encoder.rs` lets sequence
//! models see.

mod checkpoint;
mod examples;
mod feed;
mod fine_tune;
mod image_encoder;
mod memory;
mod metrics;
mod plan;
mod preprocess;
mod recurrent;
mod tensorboard;
#[cfg(test)]
mod tests;
mod train;
mod transformer;
mod vision;
mod vocabulary;

use std::sync::Mutex;

use serde_json::Value;

use wug_data::{Error, InputKind, Picture, Result, Tokens};
use wug_nn::{Buffer, Engine, Network, Query, Sequence};

use crate::{
    Answer, DecoderStates, Image, ImageVectors, Learner, LearnerInfo, Model, ModelSize, Oracle, Question,
    Settings, Task, Training,
};

use examples::{Examples, Sources};
use fine_tune::Initial;
use plan::Plan;
use vocabulary::Vocabulary;

pub use preprocess::Preprocess;
pub use recurrent::{
    GRU, GRU_ATTN, GRU_ATTN_NODEP, LSTM, LSTM_ATTN, LSTM_ATTN_NODEP, RNN, RNN_ATTN, RNN_ATTN_NODEP, Recurrent,
};
pub use transformer::{TRANSFORMER, TRANSFORMER_REL, TRANSFORMER_REL_UNI, TRANSFORMER_UNI, Transformer};
pub use vision::{CNN, CNN_LSTM, RELATION_NETWORK, RESNET18, Vision};

/// Pixels of a side of a symbol's window (HINT).
const WINDOW: usize = 32;

/// A network and what it was made from.
pub struct Built {
    /// The network.
    pub network: Box<dyn Network<f32>>,
    /// Its configuration, for the checkpoint.
    pub config: Value,
    /// Numbers in its states, for the learning rate of Noam.
    pub width: usize,
}

/// What the training examples ask of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// What it reads.
    pub reads: InputKind,
    /// Images of every example; 0 where examples differ, and for tokens.
    pub frames: usize,
    /// Tokens of the source vocabulary, special ones included.
    pub source_words: usize,
    /// Tokens of the target vocabulary; token 0 ends a target.
    pub target_words: usize,
    /// Tokens of the longest training source, with its end; of images it is not known before they are rendered.
    pub longest_source: usize,
    /// Tokens of the longest training target, with its end.
    pub longest_target: usize,
}

/// Which network the settings of a learner mean.
pub trait Blueprint: Sync {
    /// Builds the network, or says which settings do not go together.
    fn build(&self, settings: &Settings, sizes: Sizes) -> Result<Built>;

    /// How its network looks at images, if it reads them; `first` is one of them.
    fn preprocess(&self, _: &Settings, _first: &Picture) -> Preprocess {
        Preprocess::Windows { side: WINDOW }
    }

    /// Whether its networks have a recurrent decoder, whose states can be looked at.
    fn has_states(&self) -> bool {
        false
    }
}

/// A learner that trains the network of its blueprint. Its settings are those of the blueprint and those of training.
pub struct Neural<B> {
    about: &'static LearnerInfo,
    blueprint: B,
}

impl<B: Blueprint> Learner for Neural<B> {
    fn about(&self) -> &'static LearnerInfo {
        self.about
    }

    fn keeps(&self) -> &'static [&'static str] {
        &[checkpoint::FILE, metrics::METRICS, tensorboard::EVENTS]
    }

    fn has_decoder_states(&self) -> bool {
        self.blueprint.has_states()
    }

    fn fine_tunes(&self) -> bool {
        true
    }

    fn oracle(&self, settings: &Settings) -> Option<Oracle> {
        settings.flag("oracle-length").then_some(Oracle::TargetLength)
    }

    fn training_flops(&self, task: &Task<'_>) -> Result<Option<f64>> {
        let Ready { examples, built, plan, .. } = self.prepare(task)?;
        // A token costs two operations for each parameter it meets, and four more on the backward pass. Half of the
        // parameters meet the source, half the target.
        let updates = plan.steps as f64 * plan.batch as f64;
        let tokens = examples.mean_tokens() / 2.0;
        Ok(Some(6.0 * built.network.layout().len() as f64 * tokens * updates))
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let Ready { examples, vocabulary, built, plan, initial } = self.prepare(task)?;
        // On a thread of the pool: another one would have to wake it several times an update.
        let train = |_: &rayon::Scope<'_>| {
            train::train(self.about.name, task, &plan, &examples, &vocabulary, (built, initial.as_ref()))
        };
        let (engine, values, training) = rayon::scope(train)?;
        Ok(Box::new(Trained {
            engine: Mutex::new(engine),
            values,
            plan,
            vocabulary,
            preprocess: examples.preprocess(),
            examples: examples.len(),
            has_states: self.blueprint.has_states() && task.reads() == InputKind::Tokens,
            training,
        }))
    }
}

/// Everything that training begins with.
struct Ready<'a> {
    examples: Examples<'a>,
    vocabulary: Vocabulary,
    built: Built,
    plan: Plan,
    initial: Option<Initial>,
}

impl<B: Blueprint> Neural<B> {
    fn prepare<'a>(&self, task: &Task<'a>) -> Result<Ready<'a>> {
        let mut vocabulary = Vocabulary::new(task.settings.flag("reverse"));
        // The words of a checkpoint keep their numbers; new ones follow.
        let before = match &task.init {
            None => None,
            Some(init) => {
                let examples = self.examples(&init.task, &mut vocabulary)?;
                let sizes = (vocabulary.source_len(), vocabulary.target_len());
                Some((init, examples.fingerprint(&vocabulary), sizes, examples))
            }
        };
        let mut examples = self.examples(task, &mut vocabulary)?;
        let mut initial = None;
        if let Some((init, fingerprint, (source_words, target_words), main)) = before {
            if vocabulary.target_len() > target_words {
                return Err(Error::usage(format!(
                    "{} has answers with words that {} never has: a checkpoint can learn new words to read, not to say",
                    task.dataset(),
                    init.task.dataset()
                )));
            }
            let new_words = vocabulary.source_len() - source_words;
            let folder = init.folder.clone();
            initial = Some(Initial { folder, examples: fingerprint, source_words, new_words });
            examples.mix_in(main);
        }
        let built = self.blueprint.build(&task.settings, examples.sizes(&vocabulary))?;
        let plan = Plan::read(task, &examples, built.width)?;
        Ok(Ready { examples, vocabulary, built, plan, initial })
    }

    /// The training examples of a task; their words become part of the vocabulary.
    fn examples<'a>(&self, task: &Task<'a>, vocabulary: &mut Vocabulary) -> Result<Examples<'a>> {
        // Where a model is chosen by validation, it must not have seen it.
        let validates = plan::validates(&task.settings);
        let lessons = if validates { task.train_apart()? } else { task.train()? };
        let preprocess = |first: &Picture| self.blueprint.preprocess(&task.settings, first);
        let mut examples = Examples::read(&lessons, vocabulary, preprocess);
        examples.keep_share(task.settings.number("share"), &mut task.streams("share").item(0));
        Ok(examples)
    }
}

/// A trained model.
struct Trained {
    engine: Mutex<Engine<f32>>,
    values: Buffer<f32>,
    plan: Plan,
    vocabulary: Vocabulary,
    preprocess: Option<Preprocess>,
    /// How many it was trained on.
    examples: usize,
    has_states: bool,
    training: Training,
}

impl Model for Trained {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        let sources = Sources::of(questions, self.preprocess, &self.vocabulary)?;
        let mut engine = self.engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answer = |decoded: Option<Vec<u32>>| match decoded {
            Some(ids) => Answer::new(self.vocabulary.decode(&ids)),
            None => Answer::abstain().note("endless", true),
        };
        let mut answers = Vec::with_capacity(questions.len());
        for (piece, sources) in sources.pieces() {
            let query = |(i, question): (usize, &Question<'_>)| {
                let length = question.target_length.map(|length| length.min(self.plan.longest));
                Query { source: sources.get(i), length }
            };
            let queries: Vec<Query<'_>> = questions[piece].iter().enumerate().map(query).collect();
            answers.extend(engine.answer(&self.values, &queries, self.plan.longest).into_iter().map(answer));
        }
        Ok(answers)
    }

    fn decoder_states(&self) -> Option<&dyn DecoderStates> {
        self.has_states.then_some(self)
    }

    fn image_vectors(&self) -> Option<&dyn ImageVectors> {
        matches!(self.preprocess, Some(Preprocess::Windows { .. })).then_some(self)
    }

    fn size(&self) -> Option<ModelSize> {
        Some(ModelSize { parameters: self.values.len(), examples: self.examples })
    }

    fn training(&self) -> Option<Training> {
        Some(self.training)
    }
}

impl ImageVectors for Trained {
    fn vectors(&self, pictures: &[Image<'_>]) -> Vec<Vec<Vec<f32>>> {
        let Some(preprocess) = self.preprocess else { return Vec::new() };
        let mut engine = self.engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let see = |picture: &Image<'_>| {
            let seen = preprocess.apply(&picture.render());
            let sequence = seen.sequence();
            let size = sequence.pixels().len() / sequence.len().max(1);
            let images: Vec<&[u8]> = sequence.pixels().chunks_exact(size.max(1)).collect();
            let vectors = engine.image_vectors(&self.values, &images).unwrap_or_default();
            let width = vectors.len() / images.len().max(1);
            vectors.chunks_exact(width.max(1)).map(<[f32]>::to_vec).collect()
        };
        pictures.iter().map(see).collect()
    }
}

impl DecoderStates for Trained {
    fn final_states(&self, inputs: &[Tokens<'_>]) -> Vec<Vec<f32>> {
        let sources: Vec<Vec<u32>> = inputs.iter().map(|&input| self.vocabulary.encode(input)).collect();
        let query = |source| Query { source: Sequence::Tokens(source), length: None };
        let queries: Vec<Query<'_>> = sources.iter().map(|source| query(source)).collect();
        let mut engine = self.engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        engine.states(&self.values, &queries, self.plan.longest).unwrap_or_default()
    }
}
