use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::batch_norm::Running;
use super::geometry::Size;
use super::head::{self, Head, Judged, Laid};
use super::trunk::{Body, Trunk};
use super::{GROUP, as_places, as_rows};
use crate::Real;
use crate::kernels::{cross_entropy, largest};
use crate::network::{Context, Network, Outcome, Query, Sequence, Shard};
use crate::parameters::{Gradients, Layout};

/// Examples that are answered together.
const ANSWERED: usize = 4 * GROUP;

/// A network that says which class the images of an example belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Images of an example.
    pub frames: usize,
    /// Their size.
    pub size: Size,
    /// What pixels, from 0 to 255, are multiplied with.
    pub pixel: f64,
    /// The convolutions.
    pub body: Body,
    /// What a class is predicted from.
    pub head: Head,
    /// Classes; class `c` is the word `c + 1` of the target.
    pub classes: usize,
}

/// A classifier: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug)]
pub struct Classifier<T> {
    config: Config,
    layout: Layout,
    trunk: Trunk,
    head: Laid,
    /// What the last batch has made of the running statistics.
    running: Mutex<Running<T>>,
}

impl<T: Real> Classifier<T> {
    /// Lays the network out, or says why the configuration is none.
    pub fn new(config: Config) -> Result<Self, String> {
        if config.frames == 0 || config.frames > 64 {
            return Err(format!("an example has 1 to 64 images, not {}", config.frames));
        }
        let mut layout = Layout::default();
        let channels = if matches!(config.head, Head::Lstm { .. }) { 1 } else { config.frames };
        let trunk = Trunk::new(&mut layout, &config.body, config.size, channels)?;
        let features = (trunk.places, trunk.width);
        let head = Laid::new(&mut layout, config.head, features, config.classes)?;
        Ok(Self { config, layout, trunk, head, running: Mutex::default() })
    }

    /// What it was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The images of examples in the order in which the head reads them: those of an LSTM step by step.
    fn images<'a>(&self, sources: impl Iterator<Item = Sequence<'a>> + Clone) -> Vec<&'a [u8]> {
        let size = self.trunk.pixels();
        let steps = self.config.frames * self.config.size.places() / size;
        let step = |step: usize| sources.clone().map(move |source| &source.pixels()[step * size..][..size]);
        (0..steps).flat_map(step).collect()
    }
}

impl Classifier<f32> {
    /// The network in single precision. Compiled here, once, and not in every crate that trains one.
    pub fn network(self) -> Box<dyn Network<f32>> {
        Box::new(self)
    }
}

impl<T: Real> Network<T> for Classifier<T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn whole_batch(&self) -> bool {
        true
    }

    /// # Panics
    /// If a source is not as many images of the size as the configuration says.
    fn learn(
        &self,
        context: &mut Context<'_, T>,
        shard: &Shard<'_>,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome {
        let images = self.images(shard.lessons.iter().map(|lesson| lesson.source));
        let examples = shard.lessons.len();
        let mut running = Running::new();
        let read = self.trunk.read(context, &images, self.config.pixel);
        let seen = self.trunk.forward(context, read, Some(&mut running));
        let features = as_rows(context, seen.output(), self.trunk.places, self.trunk.width);
        let keys = shard
            .step
            .key
            .map(|key| (0..examples).map(|i| head::key(key, shard.first + i)).collect::<Vec<u64>>());
        let mut judged = self.head.forward(context, features, examples, keys.as_deref());
        let targets: Vec<u32> = shard.lessons.iter().map(|lesson| lesson.target[0].max(1) - 1).collect();
        let classes = self.config.classes;
        let said = judged.scores.chunks_exact(classes).map(largest);
        let right = said.zip(&targets).filter(|(said, target)| said == *target).count();
        let (factor, smoothing) = (T::from_f64(shard.step.factor), shard.step.smoothing);
        let loss = cross_entropy(context.isa, &mut judged.scores, &targets, factor, smoothing);
        let d = self.head.backward(context, judged, keys.is_some(), gradients);
        let d_seen = as_places(context, &d, self.trunk.places, self.trunk.width);
        context.recycle([d]);
        self.trunk.backward(context, seen, d_seen, gradients);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
        Outcome { loss, words: examples, right }
    }

    fn answer(&self, context: &mut Context<'_, T>, queries: &[Query<'_>], _: usize) -> Vec<Option<Vec<u32>>> {
        let mut answers = Vec::with_capacity(queries.len());
        for queries in queries.chunks(ANSWERED) {
            let images = self.images(queries.iter().map(|query| query.source));
            let read = self.trunk.read(context, &images, self.config.pixel);
            let seen = self.trunk.forward(context, read, None);
            let features = as_rows(context, seen.output(), self.trunk.places, self.trunk.width);
            seen.recycle(context);
            let judged: Judged<T> = self.head.forward(context, features, queries.len(), None);
            let said = judged.scores.chunks_exact(self.config.classes).map(largest);
            answers.extend(said.map(|class| Some(vec![class + 1])));
            judged.recycle(context);
        }
        answers
    }

    fn update_running(&self, values: &mut [T]) {
        for (id, running) in self.running.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            values[self.layout.tensor(id).range()].copy_from_slice(&running);
        }
    }
}
