//! The models in burn's tensor operations, for other devices than the CPU: padded and masked, with gradients by burn.

use burn_tensor::{Bool, Int, Tensor, TensorData, activation};

use super::config::{Activation, Config, Norm, Positions};
use super::context::place_key;
use super::model::{Body, Kind, LayerNorm, Relative, Stack, Sublayer};
use super::pass::DECODER;
use super::positions::Codes;
use super::sequences::{example_key, row_key};
use super::sublayer::HIDDEN;
use crate::device::{BurnModel, DecodedTokens, Padded, Parameters, Side};
use crate::kernels::Window;
use crate::linear::Linear;

/// What all functions of a pass need.
struct Work<'a> {
    config: &'a Config,
    parameters: &'a Parameters,
    batch: &'a Padded,
    codes: Codes<f32>,
}

/// Words that are computed together, `[rows, words, width]`.
struct Site<'a> {
    is_target: bool,
    /// The number of the place, for dropout.
    place: u64,
    /// Which word of its sequence the first is.
    position: usize,
    /// The keys that a query must not see, `[rows, 1, queries or 1, keys]`: those of the sequence, those of the memory.
    hidden: Option<Tensor<4, Bool>>,
    memory_hidden: Option<Tensor<4, Bool>>,
    memory: Option<&'a Tensor<3>>,
    /// Where keys and values of the words before are kept, for each layer that is applied.
    said: Option<&'a mut Vec<Option<(Tensor<4>, Tensor<4>)>>>,
}

impl Work<'_> {
    fn linear(&self, linear: &Linear, x: Tensor<3>) -> Tensor<3> {
        let [rows, words, width] = x.dims();
        let y = x.reshape([rows * words, width]).matmul(self.parameters.factor(linear.weight));
        let y = match linear.bias {
            Some(bias) => y + self.parameters.get(bias),
            None => y,
        };
        y.reshape([rows, words, linear.outputs])
    }

    fn norm(&self, norm: &LayerNorm, x: Tensor<3>) -> Tensor<3> {
        let apart = x.clone() - x.mean_dim(2);
        let variance = apart.clone().square().mean_dim(2);
        let normal = apart / (variance + 1e-5).sqrt();
        normal * self.parameters.get(norm.scale).unsqueeze() + self.parameters.get(norm.shift).unsqueeze()
    }

    /// Drops of `[rows, words, width]`, as the CPU would.
    fn drop(&self, site: &Site<'_>, place: u64, x: Tensor<3>) -> Tensor<3> {
        let [rows, words, width] = x.dims();
        let factors = self.batch.factors(self.config.dropout, [rows, words, width], |key, i| {
            let key = example_key(key, site.is_target, self.batch.first + i / words);
            Some(place_key(row_key(key, i % words), place))
        });
        factors.map_or(x.clone(), |factors| x * factors)
    }

    /// The same of weights, `[rows, heads, queries, keys]`.
    fn drop_weights(&self, site: &Site<'_>, weights: Tensor<4>) -> Tensor<4> {
        let shape = weights.dims();
        let [_, heads, queries, _] = shape;
        let factors = self.batch.factors(self.config.dropout, shape, |key, i| {
            let (row, head, query) = (i / queries / heads, i / queries % heads, i % queries);
            let key = example_key(key, site.is_target, self.batch.first + row);
            Some(place_key(row_key(key, query), site.place << 16 | head as u64))
        });
        factors.map_or(weights.clone(), |factors| weights * factors)
    }

    /// Part `i` of the columns, cut into heads: `[rows, heads, words, size]`.
    fn heads(&self, x: &Tensor<3>, i: usize) -> Tensor<4> {
        let [rows, words, _] = x.dims();
        let part = x.clone().narrow(2, i * self.config.width, self.config.width);
        part.reshape([rows, words, self.config.heads, self.config.head()]).swap_dims(1, 2)
    }

    /// A vector of the width, cut into heads.
    fn head_vector(&self, id: crate::parameters::TensorId) -> Tensor<4> {
        self.parameters.get(id).reshape([1, self.config.heads, 1, self.config.head()])
    }

    /// Scores by distance, `[rows, heads, queries, keys]`; the first query stands at a position, the first key at 0.
    fn by_distance(
        &self,
        relative: &Relative,
        queries: &Tensor<4>,
        keys: usize,
        position: usize,
        causal: bool,
    ) -> Tensor<4> {
        let [rows, heads, count, size] = queries.dims();
        let window = self.config.window(keys.max(position + count), causal);
        let mut codes = vec![0f32; window.len() * self.config.width];
        self.codes.window(window, &mut codes);
        let data = TensorData::new(codes, [1, window.len(), self.config.width]);
        let distances = self.linear(&relative.distance, Tensor::from_data(data, &self.batch.device));
        let distances = distances.reshape([1, window.len(), heads, size]).permute([0, 2, 3, 1]);
        let asked = queries.clone() + self.head_vector(relative.distance_bias);
        let of_window = asked.matmul(distances.expand([rows, heads, size, window.len()]));
        let columns: Vec<i32> =
            (position..position + count).flat_map(|i| (0..keys).map(move |j| column(window, i, j))).collect();
        let columns: Tensor<4, Int> =
            Tensor::from_data(TensorData::new(columns, [1, 1, count, keys]), &self.batch.device);
        of_window.gather(3, columns.expand([rows, heads, count, keys]))
    }

    /// From queries, keys and values in heads to contexts, `[rows, queries, width]`.
    fn attend(
        &self,
        site: &Site<'_>,
        [queries, keys, values]: [Tensor<4>; 3],
        relative: Option<(&Relative, bool)>,
        hidden: Option<&Tensor<4, Bool>>,
    ) -> Tensor<3> {
        let [rows, heads, count, size] = queries.dims();
        let len = keys.dims()[2];
        let mut scores = match relative {
            Some((relative, causal)) => {
                let by_distance = self.by_distance(relative, &queries, len, site.position, causal);
                (queries + self.head_vector(relative.content_bias)).matmul(keys.transpose()) + by_distance
            }
            None => queries.matmul(keys.transpose()),
        } * (1.0 / (size as f64).sqrt());
        if let Some(hidden) = hidden {
            scores = scores.mask_fill(hidden.clone().expand([rows, heads, count, len]), -1e30);
        }
        let weights = self.drop_weights(site, activation::softmax(scores, 3));
        weights.matmul(values).swap_dims(1, 2).reshape([rows, count, heads * size])
    }

    /// A sub-layer with its residual sum and normalisation; `layer` counts those that are applied.
    fn sublayer(&self, sublayer: &Sublayer, site: &mut Site<'_>, layer: usize, x: Tensor<3>) -> Tensor<3> {
        let is_post = self.config.norm == Norm::Post;
        let read = if is_post { x.clone() } else { self.norm(&sublayer.norm, x.clone()) };
        let inner = match &sublayer.kind {
            Kind::Itself { input, relative, causal } => {
                let first = self.linear(input, read);
                let [queries, mut keys, mut values] = [0, 1, 2].map(|part| self.heads(&first, part));
                if let Some(said) = &mut site.said {
                    if let Some((old_keys, old_values)) = said[layer].take() {
                        keys = Tensor::cat(vec![old_keys, keys], 2);
                        values = Tensor::cat(vec![old_values, values], 2);
                    }
                    said[layer] = Some((keys.clone(), values.clone()));
                }
                let relative = relative.as_ref().map(|relative| (relative, *causal));
                self.attend(site, [queries, keys, values], relative, site.hidden.as_ref())
            }
            Kind::Cross { query, memory } => {
                let queries = self.heads(&self.linear(query, read), 0);
                let pairs = self.linear(memory, site.memory.expect("a decoder has a memory").clone());
                let pairs = [queries, self.heads(&pairs, 0), self.heads(&pairs, 1)];
                self.attend(site, pairs, None, site.memory_hidden.as_ref())
            }
            Kind::Feed { input } => {
                let sums = self.linear(input, read);
                let hidden = match self.config.activation {
                    Activation::Relu => activation::relu(sums),
                    Activation::Gelu => activation::gelu(sums),
                };
                if self.config.drop_hidden { self.drop(site, site.place | HIDDEN, hidden) } else { hidden }
            }
        };
        let sum = x + self.drop(site, site.place, self.linear(&sublayer.output, inner));
        if is_post { self.norm(&sublayer.norm, sum) } else { sum }
    }

    /// All layers over words, `[rows, words]`.
    fn stack(&self, stack: &Stack, words: Tensor<2, Int>, mut site: Site<'_>) -> Tensor<3> {
        let [rows, count] = words.dims();
        let (width, first) = (self.config.width, site.place);
        let x = self.parameters.get(stack.words).select(0, words.reshape([rows * count]));
        let mut x = x.reshape([rows, count, self.config.embedding]);
        if let Some(map) = &stack.map {
            x = self.linear(map, x);
        }
        if self.config.scale_words {
            x = x * (width as f64).sqrt();
        }
        let position = site.position;
        if let Some(positions) = stack.positions {
            x = x + self.parameters.get(positions).narrow(0, position, count).unsqueeze();
        } else if self.config.positions == Positions::Sinusoidal {
            let codes = self.codes.first(position + count)[position * width..].to_vec();
            let codes = TensorData::new(codes, [1, count, width]);
            x = x + Tensor::from_data(codes, &self.batch.device);
        }
        if let Some(norm) = &stack.words_norm {
            x = self.norm(norm, x);
        }
        x = self.drop(&site, first, x);
        let per_layer = stack.layers[0].len();
        for (i, sublayer) in stack.sublayers().enumerate() {
            site.place = first + 1 + i as u64;
            x = self.sublayer(sublayer, &mut site, i / per_layer, x);
        }
        match &stack.last_norm {
            Some(norm) => self.norm(norm, x),
            None => x,
        }
    }

    /// Which words of a side are padding, `[rows, 1, 1, words]`.
    fn padding(&self, side: &Side) -> Tensor<4, Bool> {
        let has = self.batch.mask(side).transpose();
        has.bool_not().reshape([self.batch.rows, 1, 1, side.longest])
    }

    /// The encoder's output, and where it is padding.
    fn encode(&self, body: &Body) -> (Tensor<3>, Tensor<4, Bool>) {
        let side = &self.batch.sources;
        let hidden = self.padding(side);
        let site = Site {
            is_target: false,
            place: 0,
            position: 0,
            hidden: Some(hidden.clone()),
            memory_hidden: None,
            memory: None,
            said: None,
        };
        (self.stack(&body.encoder, self.batch.words(side).transpose(), site), hidden)
    }

    /// The scores of all words after each of some words.
    fn scores(&self, body: &Body, x: Tensor<3>) -> Tensor<2> {
        let x = match &body.head {
            Some(head) => self.norm(&head.norm, activation::gelu(self.linear(&head.dense, x))),
            None => x,
        };
        let [rows, words, width] = x.dims();
        // A table that is tied has a row for each word, the special ones included.
        let y = x.reshape([rows * words, width]).matmul(self.parameters.factor(body.output.weight));
        match body.output.bias {
            Some(bias) => y + self.parameters.get(bias),
            None => y,
        }
    }
}

/// The column of key `j` for query `i`; what is farther away counts as at the edge.
fn column(window: Window, i: usize, j: usize) -> i32 {
    (j + window.before).saturating_sub(i).min(window.before + window.after) as i32
}

impl Body {
    fn work<'a>(&'a self, parameters: &'a Parameters, batch: &'a Padded) -> Work<'a> {
        let mut codes = Codes::new(self.config.width);
        codes.reach(batch.sources.longest.max(self.config.before() + batch.targets.longest));
        Work { config: &self.config, parameters, batch, codes }
    }
}

impl BurnModel for Body {
    fn words(&self) -> usize {
        self.config.target_words
    }

    fn special(&self) -> u32 {
        self.config.start()
    }

    fn source_start(&self) -> Option<u32> {
        self.config.source_start
    }

    fn target_start(&self) -> Option<u32> {
        self.config.says_start.then(|| self.config.start())
    }

    fn longest(&self) -> usize {
        self.config.longest().unwrap_or(usize::MAX)
    }

    /// The decoder is always fed the target.
    fn scores(&self, parameters: &Parameters, batch: &Padded) -> Tensor<2> {
        let work = self.work(parameters, batch);
        let (memory, memory_hidden) = work.encode(self);
        let words = batch.targets.longest;
        let start = Tensor::full([1, batch.rows], i64::from(self.config.start()), &batch.device);
        let mut fed = vec![start];
        if words > 1 {
            fed.push(batch.words(&batch.targets).narrow(0, 0, words - 1));
        }
        // A word that is not padding sees none either: all of it comes after.
        let later = Tensor::<2, Bool>::tril_mask([words, words], 0, &batch.device);
        let site = Site {
            is_target: true,
            place: DECODER,
            position: 0,
            hidden: Some(later.unsqueeze()),
            memory_hidden: Some(memory_hidden),
            memory: Some(&memory),
            said: None,
        };
        let x = work.stack(&self.decoder, Tensor::cat(fed, 0).transpose(), site);
        work.scores(self, x.swap_dims(0, 1))
    }

    fn answer(&self, parameters: &Parameters, batch: &Padded, heard: &mut DecodedTokens<'_>) {
        let work = self.work(parameters, batch);
        let (memory, memory_hidden) = work.encode(self);
        let mut said = vec![None; self.decoder.depth];
        let mut fed = Tensor::full([batch.rows], i64::from(self.config.start()), &batch.device);
        // A start symbol that is to be said is not asked for, only fed.
        let before = self.config.before();
        for position in 0..before + batch.targets.longest {
            let site = Site {
                is_target: true,
                place: DECODER,
                position,
                hidden: None,
                memory_hidden: Some(memory_hidden.clone()),
                memory: Some(&memory),
                said: Some(&mut said),
            };
            let x = work.stack(&self.decoder, fed.clone().unsqueeze_dim(1), site);
            let Some(t) = position.checked_sub(before) else { continue };
            fed = batch.say(t, work.scores(self, x), self.config.target_words);
            if heard.hear(fed.clone()) {
                return;
            }
        }
    }
}
