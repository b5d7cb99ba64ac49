use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::GROUP;
use super::batch_norm::Running;
use super::geometry::Size;
use super::trunk::{Body, Trunk};
use crate::kernels::Isa;
use crate::linear::Linear;
use crate::network::{Context, Lesson, Network, Outcome, Query, Sequence, Shard};
use crate::parameters::{Gradients, Layout};
use crate::{Buffer, Engine, Real};

/// Images that are encoded together when questions are answered.
const ENCODED: usize = 4 * GROUP;

/// The image encoder of a sequence model, which replaces its embedding table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    /// The size of an image.
    pub size: Size,
    /// What pixels, from 0 to 255, are multiplied with.
    pub pixel: f64,
    /// The convolutions.
    pub body: Body,
    /// Size of the vector of an image, as that of a word.
    pub embedding: usize,
    /// Words of the source that are no images, such as its start and its end; they have vectors as before.
    pub words: usize,
    /// The one of them that ends a source.
    pub end: u32,
}

/// A sequence model that reads images: a ResNet encodes each, and the vectors stand behind those of the source's words, in a
/// table with a row for each image of the batch. So the sequence model is any that reads words, and the gradient of its
/// table is that of the encoder's output.
pub struct Reader<T> {
    encoder: Encoder,
    layout: Layout,
    /// The tensors of the sequence model, which are the first.
    tensors: usize,
    trunk: Trunk,
    last: Linear,
    state: Mutex<State<T>>,
    /// What the last batch has made of the running statistics.
    running: Mutex<Running<T>>,
}

/// What is kept from batch to batch.
struct State<T> {
    /// The sequence model.
    engine: Engine<T>,
    /// The vectors of words and images, and their gradient.
    table: Buffer<T>,
    d_table: Buffer<T>,
    known: Known<T>,
}

/// Images that were encoded with some parameters.
#[derive(Default)]
struct Known<T> {
    parameters: Vec<T>,
    rows: HashMap<Box<[u8]>, usize>,
    vectors: Vec<T>,
}

impl<T> std::fmt::Debug for Reader<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("encoder", &self.encoder).finish_non_exhaustive()
    }
}

impl<T: Real> Reader<T> {
    /// Lays encoder and sequence model out, or says why they do not go together. The first tensor of the sequence model is the
    /// table of the vectors of the encoder's words.
    pub fn new(encoder: Encoder, model: Box<dyn Network<T>>) -> Result<Self, String> {
        let table = model.layout().tensors().first().map(|table| (table.rows, table.columns));
        if table != Some((encoder.words, encoder.embedding)) {
            return Err("the sequence model has no table for the vectors of the images".to_owned());
        }
        let mut layout = Layout::default();
        let tensors = layout.include(model.layout());
        let trunk = Trunk::new(&mut layout, &encoder.body, encoder.size, 1)?;
        let width = trunk.places * trunk.width;
        if trunk.places != 1 {
            return Err("an encoder ends with one vector for an image: use a ResNet".to_owned());
        }
        let last = Linear::new(&mut layout, "vision.output", width, encoder.embedding, true);
        let state = State {
            engine: Engine::boxed(model, Isa::Portable),
            table: Buffer::default(),
            d_table: Buffer::default(),
            known: Known::default(),
        };
        let (tensors, state) = (tensors.len(), Mutex::new(state));
        Ok(Self { encoder, layout, tensors, trunk, last, state, running: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The images of sources.
    fn images<'a>(&self, sources: impl Iterator<Item = Sequence<'a>>) -> Vec<&'a [u8]> {
        sources.flat_map(|source| source.pixels().chunks_exact(self.trunk.pixels())).collect()
    }

    /// Where the parameters of the encoder begin; they are the last.
    fn own(&self) -> usize {
        self.layout.tensors()[..self.tensors].last().map_or(0, |tensor| tensor.range().end)
    }

    /// Sources as words: `row` gives the row of the table of the i-th image.
    fn words<'a>(
        &self,
        sources: impl Iterator<Item = Sequence<'a>>,
        row: impl Fn(usize) -> usize,
    ) -> Vec<Vec<u32>> {
        let mut first = 0;
        let words = |source: Sequence<'_>| {
            let images = first..first + source.pixels().len() / self.trunk.pixels();
            first = images.end;
            let word = |image| (self.encoder.words + row(image)) as u32;
            images.map(word).chain([self.encoder.end]).collect()
        };
        sources.map(words).collect()
    }

    /// Encodes images that were not yet, each once, with what stands for all images.
    fn know(&self, context: &mut Context<'_, T>, known: &mut Known<T>, images: &[&[u8]]) -> Vec<usize> {
        let parameters = &context.values[self.own()..];
        if known.parameters != parameters {
            *known = Known { parameters: parameters.to_vec(), ..Known::default() };
        }
        let mut new = Vec::new();
        let mut rows = Vec::with_capacity(images.len());
        for &image in images {
            let next = known.rows.len();
            let row = known.rows.get(image).copied();
            if row.is_none() {
                known.rows.insert(image.into(), next);
                new.push(image);
            }
            rows.push(row.unwrap_or(next));
        }
        for images in new.chunks(ENCODED) {
            let read = self.trunk.read(context, images, self.encoder.pixel);
            let seen = self.trunk.forward(context, read, None);
            let vectors = self.last.forward(context, seen.output());
            known.vectors.extend_from_slice(&vectors);
            seen.recycle(context);
            context.recycle([vectors]);
        }
        rows
    }
}

impl<T: Real> State<T> {
    /// The sequence model for these instructions. The table becomes that of the vectors of words, then these.
    fn prepare(&mut self, context: &Context<'_, T>, words: usize, vectors: &[T]) {
        self.engine.compute_with(context.isa);
        self.table.stretch(words + vectors.len());
        self.table[..words].copy_from_slice(&context.values[..words]);
        self.table[words..].copy_from_slice(vectors);
        self.d_table.stretch(words + vectors.len());
    }
}

impl Reader<f32> {
    /// The network in single precision. Compiled here, once, and not in every crate that trains one.
    pub fn network(self) -> Box<dyn Network<f32>> {
        Box::new(self)
    }
}

impl<T: Real> Network<T> for Reader<T> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn whole_batch(&self) -> bool {
        true
    }

    /// # Panics
    /// If a source has no images.
    fn learn(
        &self,
        context: &mut Context<'_, T>,
        shard: &Shard<'_>,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome {
        let mut state = self.state();
        let sources = shard.lessons.iter().map(|lesson| lesson.source);
        let images = self.images(sources.clone());
        let mut running = Running::new();
        let read = self.trunk.read(context, &images, self.encoder.pixel);
        let seen = self.trunk.forward(context, read, Some(&mut running));
        let vectors = self.last.forward(context, seen.output());

        let words = self.words(sources, |image| image);
        let pairs = words.iter().zip(shard.lessons);
        let lessons: Vec<Lesson<'_>> = pairs
            .map(|(words, lesson)| Lesson { source: Sequence::Tokens(words), ..lesson.clone() })
            .collect();
        let table = self.encoder.words * self.encoder.embedding;
        state.prepare(context, table, &vectors);
        let State { engine, table: vectors_of_all, d_table, .. } = &mut *state;
        let ours = gradients.first(self.tensors);
        let values = &context.values[..ours.len()];
        let outcome =
            engine.learn_with(values, Some(vectors_of_all), &lessons, shard.step, (&mut *ours, d_table));
        let (d_words, d_vectors) = d_table.split_at(table);
        ours[..table].copy_from_slice(d_words);
        self.last.learn(context, seen.output(), d_vectors, gradients);
        let d = self.last.backward(context, d_vectors);
        self.trunk.backward(context, seen, d, gradients);
        context.recycle([vectors]);
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
        outcome
    }

    fn answer(
        &self,
        context: &mut Context<'_, T>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Vec<Option<Vec<u32>>> {
        let mut state = self.state();
        let mut known = std::mem::take(&mut state.known);
        let sources = queries.iter().map(|query| query.source);
        let all_rows = self.know(context, &mut known, &self.images(sources.clone()));
        // The table has those alone that occur here.
        let mut places = HashMap::new();
        let mut vectors = Vec::new();
        let width = self.encoder.embedding;
        for &row in &all_rows {
            let next = places.len();
            places.entry(row).or_insert_with(|| {
                vectors.extend_from_slice(&known.vectors[row * width..][..width]);
                next
            });
        }
        let words = self.words(sources, |image| places[&all_rows[image]]);
        let asked: Vec<Query<'_>> = words
            .iter()
            .zip(queries)
            .map(|(words, query)| Query { source: Sequence::Tokens(words), ..*query })
            .collect();
        state.prepare(context, self.encoder.words * width, &vectors);
        let State { engine, table, .. } = &mut *state;
        let answers = engine.answer_with(&context.values[..self.own()], Some(table), &asked, longest);
        state.known = known;
        answers
    }

    fn image_vectors(&self, context: &mut Context<'_, T>, images: &[&[u8]]) -> Option<Vec<T>> {
        let mut state = self.state();
        let rows = self.know(context, &mut state.known, images);
        let width = self.encoder.embedding;
        Some(rows.iter().flat_map(|&row| state.known.vectors[row * width..][..width].to_vec()).collect())
    }

    fn update_running(&self, values: &mut [T]) {
        for (id, running) in self.running.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            values[self.layout.tensor(id).range()].copy_from_slice(&running);
        }
    }
}
