//! Whole sequences, forward and backward.

use super::config::Positions;
use super::context::TransformerContext;
use super::model::{Body, Head, Stack};
use super::sequences::{Rows, Sequences};
use super::sublayer::{Site, Trace};
use crate::kernels::{
    Accumulate, add, add_row, cross_entropy, embed, embed_backward, gelu, gelu_backward, largest, scale_add,
};
use crate::network::{Outcome, Step};
use crate::{Buffer, Gradients, Real};

/// What a stack has computed and its backward pass needs.
struct Stacked<T> {
    /// Vectors of the words, where a map follows.
    looked: Buffer<T>,
    /// The normalisation of the words.
    words: (Buffer<T>, Buffer<T>),
    sublayers: Vec<Trace<T>>,
    /// The last normalisation.
    last: (Buffer<T>, Buffer<T>),
}

/// Numbers of the places of dropout: a stack's words, then its sub-layers.
pub(super) const DECODER: u64 = 1 << 12;

impl Stack {
    /// The words' vectors as the first layer reads them. Row `r` of the words stands at position `position(r)`, and a run of
    /// rows has positions one after the other.
    pub(super) fn words<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        words: &[u32],
        runs: impl Iterator<Item = (std::ops::Range<usize>, usize)>,
    ) -> (Buffer<T>, Buffer<T>) {
        let (width, embedding) = (context.config.width, context.config.embedding);
        let mut looked = context.take(words.len() * embedding);
        embed(context.flat(self.words), embedding, words, &mut looked);
        let mut x = match &self.map {
            Some(map) => map.forward(context, &looked),
            None => std::mem::take(&mut looked),
        };
        let factor = factor(context);
        for (rows, position) in runs {
            let codes = match (context.config.positions, self.positions) {
                (_, Some(positions)) => &context.flat(positions)[position * width..],
                (Positions::Sinusoidal, _) => &context.codes.first(position + rows.len())[position * width..],
                _ => &[],
            };
            let codes = &codes[..codes.len().min(rows.len() * width)];
            scale_add(context.isa, factor, codes, &mut x[rows.start * width..rows.end * width]);
        }
        (looked, x)
    }

    fn forward<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        words: &[u32],
        site: Site<'_, T>,
    ) -> (Stacked<T>, Buffer<T>) {
        let (looked, mut x) = self.words(context, words, site.rows.ranges().map(|rows| (rows, 0)));
        let mut normal = (Buffer::default(), Buffer::default());
        if let Some(norm) = &self.words_norm {
            let (inverse_std, y) = context.normalise(norm, &mut x);
            normal = (std::mem::replace(&mut x, y), inverse_std);
        }
        context.drop(site.rows, site.place, &mut x, context.config.width);
        let mut sublayers = Vec::with_capacity(3 * self.depth);
        for (place, sublayer) in (site.place + 1..).zip(self.sublayers()) {
            let (trace, y) = sublayer.forward(context, Site { place, ..site }, x);
            x = y;
            sublayers.push(trace);
        }
        let mut last = (Buffer::default(), Buffer::default());
        if let Some(norm) = &self.last_norm {
            let (inverse_std, y) = context.normalise(norm, &mut x);
            last = (std::mem::replace(&mut x, y), inverse_std);
        }
        (Stacked { looked, words: normal, sublayers, last }, x)
    }

    #[allow(clippy::too_many_arguments)]
    fn backward<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        words: &[u32],
        site: Site<'_, T>,
        stacked: Stacked<T>,
        mut d: Buffer<T>,
        d_memory: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        if let Some(norm) = &self.last_norm {
            context.normalise_backward(norm, &stacked.last.0, &stacked.last.1, &mut d, gradients);
        }
        let places = site.place + 1..=site.place + stacked.sublayers.len() as u64;
        let traces = self.sublayers().rev().zip(stacked.sublayers.into_iter().rev());
        for ((sublayer, trace), place) in traces.zip(places.rev()) {
            d = sublayer.backward(context, Site { place, ..site }, trace, d, d_memory, gradients);
        }
        context.drop(site.rows, site.place, &mut d, context.config.width);
        if let Some(norm) = &self.words_norm {
            context.normalise_backward(norm, &stacked.words.0, &stacked.words.1, &mut d, gradients);
        }
        self.words_backward(context, words, site.rows, &stacked.looked, &mut d, gradients);
        let Stacked { looked, words: (a, b), last: (c, e), .. } = stacked;
        context.recycle([d, looked, a, b, c, e]);
    }

    fn words_backward<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        words: &[u32],
        rows: &Rows,
        looked: &[T],
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (width, embedding) = (context.config.width, context.config.embedding);
        if let Some(positions) = self.positions {
            let d_positions = gradients.of(positions);
            for rows in rows.ranges() {
                let d = &d[rows.start * width..rows.end * width];
                add(context.isa, d, &mut d_positions[..d.len()]);
            }
        }
        scale_add(context.isa, factor(context), &[], d);
        match &self.map {
            Some(map) => {
                map.learn(context, looked, d, gradients);
                let mut d_looked = context.take(looked.len());
                map.backward_into(context, d, &mut d_looked, Accumulate::Overwrite);
                embed_backward(&d_looked, embedding, words, gradients.of(self.words));
                context.recycle([d_looked]);
            }
            None => embed_backward(d, embedding, words, gradients.of(self.words)),
        }
    }
}

/// What words' vectors are multiplied by.
fn factor<T: Real>(context: &TransformerContext<'_, T>) -> T {
    if context.config.scale_words { T::from_f64((context.config.width as f64).sqrt()) } else { T::ONE }
}

impl Body {
    /// The encoder's output.
    pub(super) fn encode<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        sequences: &Sequences,
    ) -> Buffer<T> {
        let (stacked, memory) =
            self.encoder.forward(context, &sequences.source_words, source_site(sequences));
        let Stacked { looked, words: (a, b), last: (c, d), sublayers } = stacked;
        for trace in sublayers {
            trace.give(context);
        }
        context.recycle([looked, a, b, c, d]);
        memory
    }

    /// Scores of the words, from what the last layer says.
    pub(super) fn scores<T: Real>(&self, context: &mut TransformerContext<'_, T>, x: &[T]) -> Buffer<T> {
        let Some(head) = &self.head else { return self.last_scores(context, x) };
        let Headed { first, normal, inverse_std, read } = head.forward(context, x);
        let scores = self.last_scores(context, &read);
        context.recycle([first, normal, inverse_std, read]);
        scores
    }

    fn last_scores<T: Real>(&self, context: &mut TransformerContext<'_, T>, x: &[T]) -> Buffer<T> {
        let mut scores = context.take(x.len() / self.output.inputs * self.output.outputs);
        self.output.forward_without_bias(context, x, &mut scores);
        add_row(context.isa, self.output.bias(context), &mut scores, self.output.outputs);
        scores
    }

    /// The loss of some examples; its gradient is added to the gradients.
    pub(super) fn learn<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        sequences: &Sequences,
        step: Step,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome {
        let source = source_site(sequences);
        let (encoded, memory) = self.encoder.forward(context, &sequences.source_words, source);
        let target =
            Site { rows: &sequences.target, memory_rows: &sequences.source, memory: &memory, place: DECODER };
        let (decoded, x) = self.decoder.forward(context, &sequences.fed, target);
        let headed = self.head.as_ref().map(|head| head.forward(context, &x));
        let read = headed.as_ref().map_or(&x, |headed| &headed.read);
        let mut scores = self.last_scores(context, read);
        let classes = self.output.outputs;
        let is_right = |rows: std::ops::Range<usize>| {
            rows.into_iter()
                .all(|row| largest(&scores[row * classes..][..classes]) == sequences.target_words[row])
        };
        let right = sequences.target.ranges().filter(|rows| is_right(rows.clone())).count();
        let (targets, factor) = (&sequences.target_words, T::from_f64(step.factor));
        let loss = cross_entropy(context.isa, &mut scores, targets, factor, step.smoothing);

        self.output.learn(context, read, &scores, gradients);
        let mut d = context.take(x.len());
        self.output.backward_into(context, &scores, &mut d, Accumulate::Overwrite);
        if let (Some(head), Some(headed)) = (&self.head, headed) {
            head.backward(context, &x, headed, &mut d, gradients);
        }
        let mut d_memory = context.zeros(memory.len());
        self.decoder.backward(context, &sequences.fed, target, decoded, d, &mut d_memory, gradients);
        self.encoder.backward(
            context,
            &sequences.source_words,
            source,
            encoded,
            d_memory,
            &mut [],
            gradients,
        );
        context.recycle([memory, x, scores]);
        Outcome { loss, words: sequences.target_words.len(), right }
    }
}

/// What the head has computed and its backward pass needs.
struct Headed<T> {
    /// Before the activation.
    first: Buffer<T>,
    /// The normalisation.
    normal: Buffer<T>,
    inverse_std: Buffer<T>,
    /// What the output reads.
    read: Buffer<T>,
}

impl Head {
    fn forward<T: Real>(&self, context: &mut TransformerContext<'_, T>, x: &[T]) -> Headed<T> {
        let mut first = context.take(x.len());
        self.dense.forward_without_bias(context, x, &mut first);
        let mut normal = context.take(x.len());
        gelu(context.isa, self.dense.bias(context), &mut first, &mut normal);
        let (inverse_std, read) = context.normalise(&self.norm, &mut normal);
        Headed { first, normal, inverse_std, read }
    }

    /// From the gradient of what the output reads to that of what the last layer says, in place.
    fn backward<T: Real>(
        &self,
        context: &mut TransformerContext<'_, T>,
        x: &[T],
        headed: Headed<T>,
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let Headed { first, normal, inverse_std, read } = headed;
        context.normalise_backward(&self.norm, &normal, &inverse_std, d, gradients);
        gelu_backward(context.isa, &first, d);
        self.dense.learn(context, x, d, gradients);
        let d_first = context.copy(d);
        self.dense.backward_into(context, &d_first, d, Accumulate::Overwrite);
        context.recycle([first, normal, inverse_std, read, d_first]);
    }
}

fn source_site<T>(sequences: &Sequences) -> Site<'_, T> {
    Site { rows: &sequences.source, memory_rows: &sequences.source, memory: &[], place: 0 }
}
