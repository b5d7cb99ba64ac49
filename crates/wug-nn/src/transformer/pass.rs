//! Whole sequences, forward and backward.

use super::config::Positions;
use super::model::{Body, Head, Stack};
use super::sequences::{Rows, Sequences};
use super::sublayer::{Site, Trace};
use super::work::Work;
use crate::kernels::{
    Into, add, add_row, cross_entropy, embed, embed_backward, gelu, gelu_backward, largest, scale_add,
};
use crate::network::{Outcome, Step};
use crate::{Buffer, Gradients, Real};

/// What a stack has computed and its way back needs.
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
        work: &mut Work<'_, T>,
        words: &[u32],
        runs: impl Iterator<Item = (std::ops::Range<usize>, usize)>,
    ) -> (Buffer<T>, Buffer<T>) {
        let (width, embedding) = (work.config.width, work.config.embedding);
        let mut looked = work.room.take(words.len() * embedding);
        embed(work.flat(self.words), embedding, words, &mut looked);
        let mut x = match &self.map {
            Some(map) => map.forward(work, &looked),
            None => std::mem::take(&mut looked),
        };
        let factor = factor(work);
        for (rows, position) in runs {
            let codes = match (work.config.positions, self.positions) {
                (_, Some(positions)) => &work.flat(positions)[position * width..],
                (Positions::Sinusoidal, _) => &work.codes.first(position + rows.len())[position * width..],
                _ => &[],
            };
            let codes = &codes[..codes.len().min(rows.len() * width)];
            scale_add(work.isa, factor, codes, &mut x[rows.start * width..rows.end * width]);
        }
        (looked, x)
    }

    fn forward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        words: &[u32],
        site: Site<'_, T>,
    ) -> (Stacked<T>, Buffer<T>) {
        let (looked, mut x) = self.words(work, words, site.rows.ranges().map(|rows| (rows, 0)));
        let mut normal = (Buffer::default(), Buffer::default());
        if let Some(norm) = &self.words_norm {
            let (steepness, y) = work.normalise(norm, &mut x);
            normal = (std::mem::replace(&mut x, y), steepness);
        }
        work.drop(site.rows, site.place, &mut x, work.config.width);
        let mut sublayers = Vec::with_capacity(3 * self.depth);
        for (place, sublayer) in (site.place + 1..).zip(self.sublayers()) {
            let (trace, y) = sublayer.forward(work, Site { place, ..site }, x);
            x = y;
            sublayers.push(trace);
        }
        let mut last = (Buffer::default(), Buffer::default());
        if let Some(norm) = &self.last_norm {
            let (steepness, y) = work.normalise(norm, &mut x);
            last = (std::mem::replace(&mut x, y), steepness);
        }
        (Stacked { looked, words: normal, sublayers, last }, x)
    }

    #[allow(clippy::too_many_arguments)]
    fn backward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        words: &[u32],
        site: Site<'_, T>,
        stacked: Stacked<T>,
        mut d: Buffer<T>,
        d_memory: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        if let Some(norm) = &self.last_norm {
            work.normalise_backward(norm, &stacked.last.0, &stacked.last.1, &mut d, gradients);
        }
        let places = site.place + 1..=site.place + stacked.sublayers.len() as u64;
        let traces = self.sublayers().rev().zip(stacked.sublayers.into_iter().rev());
        for ((sublayer, trace), place) in traces.zip(places.rev()) {
            d = sublayer.backward(work, Site { place, ..site }, trace, d, d_memory, gradients);
        }
        work.drop(site.rows, site.place, &mut d, work.config.width);
        if let Some(norm) = &self.words_norm {
            work.normalise_backward(norm, &stacked.words.0, &stacked.words.1, &mut d, gradients);
        }
        self.words_backward(work, words, site.rows, &stacked.looked, &mut d, gradients);
        let Stacked { looked, words: (a, b), last: (c, e), .. } = stacked;
        work.room.give_all([d, looked, a, b, c, e]);
    }

    fn words_backward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        words: &[u32],
        rows: &Rows,
        looked: &[T],
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let (width, embedding) = (work.config.width, work.config.embedding);
        if let Some(positions) = self.positions {
            let d_positions = gradients.of(positions);
            for rows in rows.ranges() {
                let d = &d[rows.start * width..rows.end * width];
                add(work.isa, d, &mut d_positions[..d.len()]);
            }
        }
        scale_add(work.isa, factor(work), &[], d);
        match &self.map {
            Some(map) => {
                map.learn(work, looked, d, gradients);
                let mut d_looked = work.room.take(looked.len());
                map.backward(work, d, &mut d_looked, Into::Replace);
                embed_backward(&d_looked, embedding, words, gradients.of(self.words));
                work.room.give(d_looked);
            }
            None => embed_backward(d, embedding, words, gradients.of(self.words)),
        }
    }
}

/// What words' vectors are multiplied by.
fn factor<T: Real>(work: &Work<'_, T>) -> T {
    if work.config.scale_words { T::from_f64((work.config.width as f64).sqrt()) } else { T::ONE }
}

impl Body {
    /// The encoder's output.
    pub(super) fn encode<T: Real>(&self, work: &mut Work<'_, T>, sequences: &Sequences) -> Buffer<T> {
        let (stacked, memory) = self.encoder.forward(work, &sequences.source_words, source_site(sequences));
        let Stacked { looked, words: (a, b), last: (c, d), sublayers } = stacked;
        for trace in sublayers {
            trace.give(work);
        }
        work.room.give_all([looked, a, b, c, d]);
        memory
    }

    /// Scores of the words, from what the last layer says.
    pub(super) fn scores<T: Real>(&self, work: &mut Work<'_, T>, x: &[T]) -> Buffer<T> {
        let Some(head) = &self.head else { return self.last_scores(work, x) };
        let Headed { first, normal, steepness, read } = head.forward(work, x);
        let scores = self.last_scores(work, &read);
        work.room.give_all([first, normal, steepness, read]);
        scores
    }

    fn last_scores<T: Real>(&self, work: &mut Work<'_, T>, x: &[T]) -> Buffer<T> {
        let mut scores = work.room.take(x.len() / self.output.inputs * self.output.outputs);
        self.output.apply(work, x, &mut scores);
        add_row(work.isa, self.output.bias(work), &mut scores, self.output.outputs);
        scores
    }

    /// The loss of some examples; its gradient is added to the gradients.
    pub(super) fn learn<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        sequences: &Sequences,
        step: Step,
        gradients: &mut Gradients<'_, T>,
    ) -> Outcome {
        let source = source_site(sequences);
        let (encoded, memory) = self.encoder.forward(work, &sequences.source_words, source);
        let target =
            Site { rows: &sequences.target, memory_rows: &sequences.source, memory: &memory, place: DECODER };
        let (decoded, x) = self.decoder.forward(work, &sequences.fed, target);
        let headed = self.head.as_ref().map(|head| head.forward(work, &x));
        let read = headed.as_ref().map_or(&x, |headed| &headed.read);
        let mut scores = self.last_scores(work, read);
        let classes = self.output.outputs;
        let is_right = |rows: std::ops::Range<usize>| {
            rows.into_iter()
                .all(|row| largest(&scores[row * classes..][..classes]) == sequences.target_words[row])
        };
        let right = sequences.target.ranges().filter(|rows| is_right(rows.clone())).count();
        let (targets, factor) = (&sequences.target_words, T::from_f64(step.factor));
        let loss = cross_entropy(work.isa, &mut scores, targets, factor, step.smoothing);

        self.output.learn(work, read, &scores, gradients);
        let mut d = work.room.take(x.len());
        self.output.backward(work, &scores, &mut d, Into::Replace);
        if let (Some(head), Some(headed)) = (&self.head, headed) {
            head.backward(work, &x, headed, &mut d, gradients);
        }
        let mut d_memory = work.room.zeros(memory.len());
        self.decoder.backward(work, &sequences.fed, target, decoded, d, &mut d_memory, gradients);
        self.encoder.backward(work, &sequences.source_words, source, encoded, d_memory, &mut [], gradients);
        work.room.give_all([memory, x, scores]);
        Outcome { loss, words: sequences.target_words.len(), right }
    }
}

/// What the head has computed and its way back needs.
struct Headed<T> {
    /// Before the activation.
    first: Buffer<T>,
    /// The normalisation.
    normal: Buffer<T>,
    steepness: Buffer<T>,
    /// What the output reads.
    read: Buffer<T>,
}

impl Head {
    fn forward<T: Real>(&self, work: &mut Work<'_, T>, x: &[T]) -> Headed<T> {
        let mut first = work.room.take(x.len());
        self.dense.apply(work, x, &mut first);
        let mut normal = work.room.take(x.len());
        gelu(work.isa, self.dense.bias(work), &mut first, &mut normal);
        let (steepness, read) = work.normalise(&self.norm, &mut normal);
        Headed { first, normal, steepness, read }
    }

    /// From the gradient of what the output reads to that of what the last layer says, in place.
    fn backward<T: Real>(
        &self,
        work: &mut Work<'_, T>,
        x: &[T],
        headed: Headed<T>,
        d: &mut [T],
        gradients: &mut Gradients<'_, T>,
    ) {
        let Headed { first, normal, steepness, read } = headed;
        work.normalise_backward(&self.norm, &normal, &steepness, d, gradients);
        gelu_backward(work.isa, &first, d);
        self.dense.learn(work, x, d, gradients);
        let d_first = work.room.copy(d);
        self.dense.backward(work, &d_first, d, Into::Replace);
        work.room.give_all([first, normal, steepness, read, d_first]);
    }
}

fn source_site<T>(sequences: &Sequences) -> Site<'_, T> {
    Site { rows: &sequences.source, memory_rows: &sequences.source, memory: &[], place: 0 }
}
