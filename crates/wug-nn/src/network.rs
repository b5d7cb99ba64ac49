use std::fmt::Debug;

use crate::kernels::{Accumulate, Isa, View, gemm};
use crate::parameters::{Gradients, Layout, TensorId, Weights};
use crate::workspace::Workspace;
use crate::{Buffer, Real};

/// A sequence that an encoder reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence<'a> {
    /// Tokens of the source vocabulary.
    Tokens(&'a [u32]),
    /// Images of one size.
    Images(Images<'a>),
}

/// Images of one size, one after the other, a byte per pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Images<'a> {
    /// The pixels of all images, row by row.
    pub pixels: &'a [u8],
    /// Pixels in a row.
    pub width: usize,
    /// Rows of an image.
    pub height: usize,
}

impl<'a> Sequence<'a> {
    /// The number of tokens or images.
    pub fn len(&self) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.len(),
            Self::Images(images) => images.pixels.len() / (images.width * images.height).max(1),
        }
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tokens, for a network whose encoder embeds tokens.
    ///
    /// # Panics
    /// If it is a sequence of images: such a network is never trained on them.
    pub fn tokens(&self) -> &'a [u32] {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Images(_) => panic!("an encoder of tokens was given images"),
        }
    }

    /// The pixels of all images, for a network that sees.
    ///
    /// # Panics
    /// If it is a sequence of tokens: such a network is never trained on them.
    pub fn pixels(&self) -> &'a [u8] {
        match self {
            Self::Images(images) => images.pixels,
            Self::Tokens(_) => panic!("an encoder of images was given tokens"),
        }
    }
}

/// One example of a batch.
#[derive(Debug, Clone)]
pub struct Lesson<'a> {
    /// The source, at least one token or image.
    pub source: Sequence<'a>,
    /// Words of the target; the last one is 0, the end.
    pub target: &'a [u32],
    /// Whether the decoder is fed the target, or else its own words.
    pub forced: bool,
}

/// What is to be answered.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// The source, at least one token or image.
    pub source: Sequence<'a>,
    /// If the length of the answer is known: the end is not said before, and not later.
    pub length: Option<usize>,
}

/// How a step of training is to be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// What the gradient is multiplied with: one over the batch, mostly.
    pub factor: f64,
    /// With a key, what dropout drops depends on it; without, nothing is dropped.
    pub key: Option<u64>,
    /// Share of the probability that the loss wants to be spread over all words.
    pub smoothing: f64,
}

impl Step {
    /// The plain gradient of the sum, without dropout.
    pub const PLAIN: Self = Self { factor: 1.0, key: None, smoothing: 0.0 };
}

/// Some examples of a batch, which one thread computes together.
#[derive(Debug, Clone, Copy)]
pub struct Shard<'a> {
    /// The examples.
    pub lessons: &'a [Lesson<'a>],
    /// Which example of the batch is the first: dropout depends on it, so that it does not depend on the shards.
    pub first: usize,
    /// How they are to be computed.
    pub step: Step,
}

/// Loss and accuracy of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Cross-entropy, summed over all words.
    pub loss: f64,
    /// Words of the targets.
    pub words: usize,
    /// Examples whose every word was predicted.
    pub right: usize,
}

impl Outcome {
    pub(crate) fn add(&mut self, other: Self) {
        self.loss += other.loss;
        self.words += other.words;
        self.right += other.right;
    }
}

/// A model that an [`Engine`](crate::Engine) can train: named parameters, losses with gradients, answers.
///
/// A bag of words with one linear layer, which learns to repeat the token of a sequence that is above 1:
///
/// ```
/// use wug_nn::kernels::Isa;
/// use wug_nn::{
///     Context, Engine, Gradients, Init, Layout, Lesson, Linear, Network, Optimiser, Outcome, Query, Rule, Sequence, Shard, Step,
///     TensorId,
/// };
///
/// #[derive(Debug)]
/// struct BagOfWords {
///     layout: Layout,
///     embedding: TensorId,
///     output: Linear,
/// }
///
/// const WIDTH: usize = 8;
/// const WORDS: usize = 5;
///
/// impl BagOfWords {
///     fn new() -> Self {
///         let mut layout = Layout::default();
///         let embedding = layout.add("embedding", WORDS, WIDTH, Init::Table);
///         let output = Linear::new(&mut layout, "output", WIDTH, WORDS, true);
///         Self { layout, embedding, output }
///     }
///
///     /// Scores of all words for a source, and the sum of its embeddings.
///     fn scores(&self, context: &mut Context<'_, f32>, source: Sequence<'_>) -> (Vec<f32>, Vec<f32>) {
///         let table = context.flat(self.embedding);
///         let mut sum = vec![0.0; WIDTH];
///         for &token in source.tokens() {
///             let row = &table[token as usize * WIDTH..][..WIDTH];
///             sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
///         }
///         let scores = self.output.forward(context, &sum);
///         (scores.to_vec(), sum)
///     }
/// }
///
/// impl Network<f32> for BagOfWords {
///     fn layout(&self) -> &Layout {
///         &self.layout
///     }
///
///     fn learn(&self, context: &mut Context<'_, f32>, shard: &Shard<'_>, gradients: &mut Gradients<'_, f32>) -> Outcome {
///         let mut outcome = Outcome::default();
///         for lesson in shard.lessons {
///             let (scores, sum) = self.scores(context, lesson.source);
///             let target = lesson.target[0] as usize;
///             let exponentials: Vec<f32> = scores.iter().map(|score| score.exp()).collect();
///             let total: f32 = exponentials.iter().sum();
///             let is_target = |i: usize| if i == target { 1.0 } else { 0.0 };
///             let factor = shard.step.factor as f32;
///             let d: Vec<f32> =
///                 exponentials.iter().enumerate().map(|(i, e)| factor * (e / total - is_target(i))).collect();
///             self.output.learn(context, &sum, &d, gradients);
///             let d_sum = self.output.backward(context, &d);
///             let d_table = gradients.of(self.embedding);
///             for &token in lesson.source.tokens() {
///                 let row = &mut d_table[token as usize * WIDTH..][..WIDTH];
///                 row.iter_mut().zip(d_sum.iter()).for_each(|(row, d)| *row += d);
///             }
///             outcome.loss -= f64::from((exponentials[target] / total).ln());
///             outcome.words += 1;
///         }
///         outcome
///     }
///
///     fn answer(&self, context: &mut Context<'_, f32>, queries: &[Query<'_>], _: usize) -> Vec<Option<Vec<u32>>> {
///         let best = |scores: Vec<f32>| (0..WORDS).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
///         queries.iter().map(|query| best(self.scores(context, query.source).0).map(|word| vec![word as u32])).collect()
///     }
/// }
///
/// let network = BagOfWords::new();
/// let mut seed = 1u32;
/// let mut values = network.layout().draw::<f32>(|| {
///     seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///     f64::from(seed >> 8) / f64::from(1 << 24)
/// });
/// let sources = [[0, 2, 1], [3, 1, 1], [1, 0, 4], [0, 0, 2]];
/// let targets = [[2], [3], [4], [2]];
/// let lessons: Vec<Lesson<'_>> = (0..4)
///     .map(|i| Lesson { source: Sequence::Tokens(&sources[i]), target: &targets[i], forced: true })
///     .collect();
/// let mut engine = Engine::new(network, Isa::best());
/// let mut adam = Optimiser::new(Rule::ADAM, values.len());
/// for _ in 0..200 {
///     let step = Step { factor: 0.25, ..Step::PLAIN };
///     let (_, gradients) = engine.learn(&values, &lessons, step);
///     adam.step(Isa::best(), &mut values, gradients, 0.05, 5.0, 0.0);
/// }
/// let queries: Vec<Query<'_>> = lessons.iter().map(|lesson| Query { source: lesson.source, length: None }).collect();
/// let answers = engine.answer(&values, &queries, 1);
/// assert_eq!(answers, targets.map(|target| Some(target.to_vec())));
/// ```
pub trait Network<T>: Debug + Send + Sync {
    /// Its parameters in one flat buffer.
    fn layout(&self) -> &Layout;

    /// The loss of some examples. Its gradient is added to `gradients`.
    fn learn(
        &self,
        context: &mut Context<'_, T>,
        shard: &Shard<'_>,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome;

    /// Greedy decoding of each query, without the end-of-sequence token; `None` where none comes within the maximum length.
    fn answer(
        &self,
        context: &mut Context<'_, T>,
        queries: &[Query<'_>],
        longest: usize,
    ) -> Vec<Option<Vec<u32>>>;

    /// The hidden state of the decoder's last layer after the end-of-sequence token or the maximum length of each query; `None`
    /// for a network without a recurrent decoder.
    fn states(&self, _: &mut Context<'_, T>, _: &[Query<'_>], _: usize) -> Option<Vec<Vec<T>>> {
        None
    }

    /// What the image encoder says of each image, one after the other; `None` for a network without one.
    fn image_vectors(&self, _: &mut Context<'_, T>, _: &[&[u8]]) -> Option<Vec<T>> {
        None
    }

    /// Whether examples depend on each other, as batch normalisation makes them: then a batch is never divided, and the
    /// network uses all threads itself.
    fn whole_batch(&self) -> bool {
        false
    }

    /// Replaces the running statistics among the parameters by what the last batch has made of them.
    fn update_running(&self, _: &mut [T]) {}

    /// The same model composed of burn's tensor operations, for other devices than the CPU; none if there is no such.
    #[cfg(feature = "burn")]
    fn burn_model(&self) -> Option<crate::device::Portable> {
        None
    }
}

/// What a forward or backward pass works with: instruction set, parameters, workspace.
#[derive(Debug)]
pub struct Context<'a, T> {
    pub(crate) isa: Isa,
    pub(crate) weights: &'a Weights<T>,
    pub(crate) values: &'a [T],
    /// What replaces the first tensor, if something does.
    pub(crate) table: Option<&'a [T]>,
    pub(crate) workspace: &'a mut Workspace<T>,
}

impl<'a, T: Real> Context<'a, T> {
    /// `weights` have read `values`.
    pub(crate) fn new(
        isa: Isa,
        weights: &'a Weights<T>,
        values: &'a [T],
        workspace: &'a mut Workspace<T>,
    ) -> Self {
        Self { isa, weights, values, table: None, workspace }
    }

    /// The values of a tensor as they are.
    pub fn flat(&self, id: TensorId) -> &'a [T] {
        match self.table {
            Some(table) if id.is_first() => table,
            _ => &self.values[self.weights.range(id)],
        }
    }

    /// A buffer of this length with whatever was in it: it has to be written before it is read.
    pub fn take(&mut self, len: usize) -> Buffer<T> {
        self.workspace.take(len)
    }

    /// A buffer of zeros.
    pub fn zeros(&mut self, len: usize) -> Buffer<T> {
        let mut zeros = self.take(len);
        zeros.fill(T::ZERO);
        zeros
    }

    /// A copy.
    pub fn copy(&mut self, values: &[T]) -> Buffer<T> {
        let mut copy = self.take(values.len());
        copy.copy_from_slice(values);
        copy
    }

    /// Takes buffers back, for [`Context::take`].
    pub fn recycle(&mut self, buffers: impl IntoIterator<Item = Buffer<T>>) {
        self.workspace.recycle(buffers);
    }

    /// `out (+)= x * W^T` for rows of `x`.
    pub(crate) fn apply(
        &mut self,
        weight: TensorId,
        x: View<'_, T>,
        out: &mut [T],
        stride: usize,
        into: Accumulate,
    ) {
        gemm(self.isa, x, self.weights.forward(weight), out, stride, into, &mut self.workspace.scratch);
    }

    /// `d_x (+)= d * W`.
    pub(crate) fn apply_backward(
        &mut self,
        weight: TensorId,
        d: View<'_, T>,
        d_x: &mut [T],
        stride: usize,
        into: Accumulate,
    ) {
        gemm(self.isa, d, self.weights.backward(weight), d_x, stride, into, &mut self.workspace.scratch);
    }

    /// `d_W += d^T * x`, where `x` has `columns` columns.
    pub(crate) fn learn(
        &mut self,
        weight: TensorId,
        d: View<'_, T>,
        x: View<'_, T>,
        columns: usize,
        gradients: &mut Gradients<'_, T>,
    ) {
        let Workspace { scratch, packed, .. } = &mut *self.workspace;
        packed.pack(x);
        let (d_weight, into) = gradients.begin(weight);
        gemm(self.isa, d.transposed(), packed, d_weight, columns, into, scratch);
    }
}
