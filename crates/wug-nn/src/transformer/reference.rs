//! Reference implementation: the models as the papers write them, one example and one token at a time, with gradients by a tape.
//! Slow and plain; the kernels are tested against it.

use super::config::{Activation, Config, Norm, Positions};
use super::model::Body;
use crate::kernels::normal;
use crate::network::Lesson;
use crate::tape::{Tape, Var};

/// A model read off its named parameters.
struct Reference<'a> {
    tape: Tape,
    body: &'a Body,
    parameters: Vec<Var>,
}

impl Reference<'_> {
    fn config(&self) -> &Config {
        &self.body.config
    }

    fn find(&self, name: &str) -> Option<Var> {
        let tensors = self.body.layout.tensors();
        tensors.iter().position(|tensor| tensor.name == name).map(|i| self.parameters[i])
    }

    fn get(&self, name: &str) -> Var {
        self.find(name).expect(name)
    }

    fn linear(&self, name: &str, x: Var) -> Var {
        let y = self.tape.matrix(self.get(name), x);
        match self.find(&format!("{name}.bias")) {
            Some(bias) => self.tape.add(y, bias),
            None => y,
        }
    }

    fn scaled(&self, x: Var, factor: f64) -> Var {
        let factor = self.tape.constant(vec![factor; self.tape.value(x).len()]);
        self.tape.multiply(x, factor)
    }

    /// A function of each element with its derivative.
    fn each(&self, x: Var, f: fn(f64) -> (f64, f64)) -> Var {
        let (values, slopes): (Vec<f64>, Vec<f64>) = self.tape.value(x).into_iter().map(f).unzip();
        let back = move |d: &[f64], all: &mut [Vec<f64>]| {
            (0..d.len()).for_each(|i| all[x.0][i] += d[i] * slopes[i]);
        };
        self.tape.push(values, Some(Box::new(back)))
    }

    /// The mean of a vector, as often as it has elements.
    fn mean(&self, x: Var) -> Var {
        let n = self.tape.value(x).len();
        let row = self.tape.constant(vec![1.0 / n as f64; n]);
        self.tape.concatenate(&vec![self.tape.matrix(row, x); n])
    }

    fn norm(&self, name: &str, x: Var) -> Var {
        let tape = &self.tape;
        let apart = tape.add(x, self.scaled(self.mean(x), -1.0));
        let variance = self.mean(tape.multiply(apart, apart));
        let steep = self.each(variance, |v| {
            let root = (v + 1e-5).sqrt();
            (1.0 / root, -0.5 / (root * root * root))
        });
        let y = tape.multiply(tape.multiply(apart, steep), self.get(&format!("{name}.scale")));
        tape.add(y, self.get(&format!("{name}.shift")))
    }

    fn code(&self, distance: i64) -> Var {
        let width = self.config().width;
        let element = |k: usize| {
            let angle = distance as f64 / 10_000f64.powf((k - k % 2) as f64 / width as f64);
            if k.is_multiple_of(2) { angle.sin() } else { angle.cos() }
        };
        self.tape.constant((0..width).map(element).collect())
    }

    fn embed(&self, stack: &str, words: &[u32]) -> Vec<Var> {
        let (tape, config) = (&self.tape, self.config());
        let embed = |(position, &word): (usize, &u32)| {
            let table = self.get(&format!("{stack}.words"));
            let mut x = tape.slice(table, word as usize * config.embedding, config.embedding);
            if config.embedding != config.width {
                x = self.linear(&format!("{stack}.map"), x);
            }
            if config.scale_words {
                x = self.scaled(x, (config.width as f64).sqrt());
            }
            match config.positions {
                Positions::Sinusoidal => x = tape.add(x, self.code(position as i64)),
                Positions::Learned(_) => {
                    let table = self.get(&format!("{stack}.positions"));
                    x = tape.add(x, tape.slice(table, position * config.width, config.width));
                }
                Positions::Relative { .. } => {}
            }
            if config.norm_words { self.norm(&format!("{stack}.words.norm"), x) } else { x }
        };
        words.iter().enumerate().map(embed).collect()
    }

    /// The context of one query; `distances` are those of the keys, where they count.
    fn attend(&self, name: &str, query: Var, pairs: &[(Var, Var)], distances: Option<&[i64]>) -> Var {
        let (tape, heads) = (&self.tape, self.config().heads);
        let size = self.config().width / heads;
        let head = |h: usize| {
            let part = |x: Var| tape.slice(x, h * size, size);
            let score = |(j, &(key, _)): (usize, &(Var, Var))| {
                let mut q = part(query);
                let mut by_distance = None;
                if let Some(distances) = distances {
                    let code = self.linear(&format!("{name}.distance"), self.code(distances[j]));
                    let biased = tape.add(q, part(self.get(&format!("{name}.distance-bias"))));
                    by_distance = Some(tape.matrix(part(code), biased));
                    q = tape.add(q, part(self.get(&format!("{name}.content-bias"))));
                }
                let score = tape.matrix(part(key), q);
                let score = by_distance.map_or(score, |more| tape.add(score, more));
                self.scaled(score, 1.0 / (size as f64).sqrt())
            };
            let scores: Vec<Var> = pairs.iter().enumerate().map(score).collect();
            let weights = tape.softmax(tape.concatenate(&scores));
            let weighted = |(j, &(_, value)): (usize, &(Var, Var))| {
                let weight = tape.concatenate(&vec![tape.slice(weights, j, 1); size]);
                tape.multiply(weight, part(value))
            };
            pairs.iter().enumerate().map(weighted).reduce(|a, b| tape.add(a, b)).unwrap()
        };
        tape.concatenate(&(0..heads).map(head).collect::<Vec<_>>())
    }

    /// A sub-layer with its residual sum and normalisation, for every word.
    fn sublayer(&self, name: &str, xs: Vec<Var>, inner: impl Fn(&[Var]) -> Vec<Var>) -> Vec<Var> {
        let pre = self.config().norm == Norm::Pre;
        let norm = |x: &Var| self.norm(&format!("{name}.norm"), *x);
        let read = if pre { xs.iter().map(norm).collect() } else { xs.clone() };
        let said = inner(&read);
        let sum = |(x, y): (Var, Var)| self.tape.add(x, self.linear(&format!("{name}.output"), y));
        let sums: Vec<Var> = xs.into_iter().zip(said).map(sum).collect();
        if pre { sums } else { sums.iter().map(norm).collect() }
    }

    fn layer(&self, name: &str, xs: Vec<Var>, memory: Option<&[Var]>) -> Vec<Var> {
        let (tape, config) = (&self.tape, self.config());
        let width = config.width;
        let part = |x: Var, i: usize| tape.slice(x, i * width, width);
        let itself = format!("{name}.self");
        let xs = self.sublayer(&itself, xs, |xs| {
            let projected: Vec<Var> =
                xs.iter().map(|&x| self.linear(&format!("{itself}.input"), x)).collect();
            let one = |i: usize| {
                let seen = if memory.is_some() { i + 1 } else { xs.len() };
                let pairs: Vec<(Var, Var)> =
                    projected[..seen].iter().map(|&x| (part(x, 1), part(x, 2))).collect();
                let distances: Option<Vec<i64>> = match config.positions {
                    Positions::Relative { clip } => {
                        let far = clip.map_or(i64::MAX, |clip| clip as i64);
                        Some((0..seen).map(|j| (i as i64 - j as i64).clamp(-far, far)).collect())
                    }
                    _ => None,
                };
                self.attend(&itself, part(projected[i], 0), &pairs, distances.as_deref())
            };
            (0..xs.len()).map(one).collect()
        });
        let xs = match memory {
            None => xs,
            Some(memory) => {
                let cross = format!("{name}.cross");
                self.sublayer(&cross, xs, |xs| {
                    let pair = |&x: &Var| {
                        let pair = self.linear(&format!("{cross}.memory"), x);
                        (part(pair, 0), part(pair, 1))
                    };
                    let pairs: Vec<(Var, Var)> = memory.iter().map(pair).collect();
                    let query = |&x: &Var| self.linear(&format!("{cross}.query"), x);
                    xs.iter().map(|x| self.attend(&cross, query(x), &pairs, None)).collect()
                })
            }
        };
        self.sublayer(&format!("{name}.feed"), xs, |xs| {
            let hidden = |&x: &Var| {
                let sum = self.linear(&format!("{name}.feed.input"), x);
                match config.activation {
                    Activation::Relu => self.each(sum, |x| (x.max(0.0), if x > 0.0 { 1.0 } else { 0.0 })),
                    Activation::Gelu => self.each(sum, gelu),
                }
            };
            xs.iter().map(hidden).collect()
        })
    }

    fn stack(&self, name: &str, words: &[u32], memory: Option<&[Var]>) -> Vec<Var> {
        let config = self.config();
        let mut xs = self.embed(name, words);
        let depth = if memory.is_some() { config.decoder_layers } else { config.encoder_layers };
        for l in 0..depth {
            xs = self.layer(&format!("{name}.{}", if config.shared { 0 } else { l }), xs, memory);
        }
        let norm = |x: Var| match config.norm {
            Norm::Pre => self.norm(&format!("{name}.norm"), x),
            Norm::Post => x,
        };
        xs.into_iter().map(norm).collect()
    }

    /// The summed cross-entropy of one example.
    fn loss(&self, lesson: &Lesson<'_>, smoothing: f64) -> Var {
        let (tape, config) = (&self.tape, self.config());
        let source: Vec<u32> =
            config.source_start.into_iter().chain(lesson.source.tokens().iter().copied()).collect();
        let memory = self.stack("encoder", &source, None);
        let start: &[u32] = if config.says_start { &[config.start()] } else { &[] };
        let wanted = [start, lesson.target].concat();
        let fed = [&[config.start()], &wanted[..wanted.len() - 1]].concat();
        let said = self.stack("decoder", &fed, Some(&memory));
        let mut loss = tape.constant(vec![0.0]);
        for (target, mut x) in wanted.into_iter().zip(said) {
            if config.head {
                x = self.norm("head.norm", self.each(self.linear("head", x), gelu));
            }
            let matrix = if config.tied { "decoder.words" } else { "output" };
            let scores = tape.add(tape.matrix(self.get(matrix), x), self.get("output.bias"));
            let shares = tape.softmax(scores);
            let surprises = self.each(shares, |p| (-p.ln(), -1.0 / p));
            let wanted = (0..config.target_words).map(|word| {
                let right = if word == target as usize { 1.0 - smoothing } else { 0.0 };
                right + smoothing / config.target_words as f64
            });
            loss = tape.add(loss, tape.matrix(tape.constant(wanted.collect()), surprises));
        }
        loss
    }
}

/// `x` times the share of a normal distribution below it, and its derivative. The share is the engine's own, which has a test
/// beside it: normalisation of a few numbers magnifies how far it is from the exact one.
fn gelu(x: f64) -> (f64, f64) {
    let (below, density) = normal(x);
    (x * below, below + x * density)
}

/// The summed loss of some examples and its gradient, in the order of the flat buffer.
fn learn(body: &Body, values: &[f64], lessons: &[Lesson<'_>], smoothing: f64) -> (f64, Vec<f64>) {
    let tape = Tape::default();
    let tensors = body.layout.tensors();
    let parameters = tensors.iter().map(|tensor| tape.constant(values[tensor.range()].to_vec())).collect();
    let reference = Reference { tape, body, parameters };
    let losses: Vec<Var> = lessons.iter().map(|lesson| reference.loss(lesson, smoothing)).collect();
    let loss = losses.into_iter().reduce(|a, b| reference.tape.add(a, b)).unwrap();
    let gradients = reference.tape.gradients(loss);
    let flat = reference.parameters.iter().flat_map(|parameter| gradients[parameter.0].clone()).collect();
    (reference.tape.value(loss)[0], flat)
}

mod tests {
    use proptest::prelude::*;

    use super::super::{Initial, TransformerNetwork};
    use super::*;
    use crate::Buffer;
    use crate::kernels::Isa;
    use crate::kernels::testing::{ISAS, numbers, same};
    use crate::network::{Network, Query, Sequence, Step};
    use crate::{Engine, Optimiser, Real, Rule};

    fn any_config() -> impl Strategy<Value = Config> {
        let positions = prop_oneof![
            Just(Positions::Sinusoidal),
            Just(Positions::Learned(9)),
            Just(Positions::Relative { clip: None }),
            (0usize..4).prop_map(|clip| Positions::Relative { clip: Some(clip) }),
        ];
        let sizes = (1usize..4, 1usize..3, 1usize..4, 1usize..7, 1usize..10, 1usize..9);
        (positions, sizes, any::<[bool; 11]>()).prop_map(|(positions, sizes, flags)| {
            let (encoder_layers, decoder_layers, heads, head, feed_forward, embedding) = sizes;
            let tied = flags[4] && flags[8];
            Config {
                encoder_layers,
                decoder_layers,
                width: heads * head,
                heads,
                feed_forward,
                embedding: if tied || flags[7] { heads * head } else { embedding },
                positions,
                norm: if flags[0] { Norm::Pre } else { Norm::Post },
                activation: if flags[1] { Activation::Gelu } else { Activation::Relu },
                attention_bias: flags[2],
                shared: flags[3],
                tied,
                scale_words: flags[5],
                norm_words: flags[6],
                dropout: 0.0,
                drop_hidden: flags[7],
                initial: Initial::Xavier,
                source_words: 5,
                target_words: 4,
                special: usize::from(tied || flags[8]),
                source_start: flags[7].then_some(4),
                says_start: (tied || flags[8]) && flags[9],
                head: flags[10],
            }
        })
    }

    /// An example: source, and target with its end.
    type Drawn = (Vec<u32>, Vec<u32>);

    fn any_lessons() -> impl Strategy<Value = Vec<Drawn>> {
        let source = prop::collection::vec(0u32..5, 1..6);
        let target = prop::collection::vec(1u32..4, 0..6);
        let ended = (source, target).prop_map(|(source, target)| (source, [&target[..], &[0]].concat()));
        prop::collection::vec(ended, 1..20)
    }

    fn lessons(drawn: &[Drawn]) -> Vec<Lesson<'_>> {
        drawn
            .iter()
            .map(|(source, target)| Lesson { source: Sequence::Tokens(source), target, forced: true })
            .collect()
    }

    #[cfg(feature = "burn")]
    proptest! {
        // Always the same draws: where two words are nearly as probable, another order of sums may say the other.
        #![proptest_config(ProptestConfig {
            cases: 60,
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            ..ProptestConfig::default()
        })]
        #[test]
        fn every_device_computes_what_the_cpu_does(
            mut config in any_config(), drawn in any_lessons(), seed in any::<u64>(),
        ) {
            // Of a few numbers, normalisation leaves little but rounding.
            prop_assume!(config.width > 4);
            config.dropout = 0.3;
            let values: Vec<f32> = numbers(seed, Body::new(config.clone()).unwrap().layout.len());
            let step = Step { factor: 0.5, key: (seed % 4 > 0).then_some(seed), smoothing: (seed % 3) as f64 / 20.0 };
            let build = || -> Box<dyn Network<f32>> { Box::new(TransformerNetwork::new(config.clone()).unwrap()) };
            crate::device::tests::agree(&build, &values, &lessons(&drawn), step)?;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn the_engine_computes_what_the_papers_write(
            config in any_config(), drawn in any_lessons(), seed in any::<u64>(), smooth in any::<bool>(),
        ) {
            let lessons = lessons(&drawn);
            let body = Body::new(config.clone()).unwrap();
            let values: Vec<f64> = numbers(seed, body.layout.len());
            let smoothing = if smooth { 0.1 } else { 0.0 };
            let (loss, gradients) = learn(&body, &values, &lessons, smoothing);
            let step = Step { smoothing, ..Step::PLAIN };
            for isa in ISAS {
                let mut engine = Engine::new(TransformerNetwork::new(config.clone()).unwrap(), isa);
                let (outcome, ours) = engine.learn(&values, &lessons, step);
                let apart = (outcome.loss / loss - 1.0).abs();
                prop_assert!(apart < 1e-9, "{} not {loss}", outcome.loss);
                for tensor in body.layout.tensors() {
                    same(&ours[tensor.range()], &gradients[tensor.range()], 1e-8)
                        .map_err(|error| TestCaseError::fail(format!("{}: {error}", tensor.name)))?;
                }
            }
        }

        #[test]
        fn the_gradient_is_the_slope_of_the_loss_under_dropout(
            mut config in any_config(), drawn in any_lessons(), seed in any::<u64>(),
        ) {
            config.dropout = 0.3;
            let lessons = lessons(&drawn);
            let model = TransformerNetwork::new(config).unwrap();
            let layout = Network::<f64>::layout(&model).clone();
            let mut values: Vec<f64> = numbers(seed, layout.len());
            let mut engine = Engine::new(model, Isa::best());
            let step = Step { key: Some(seed), ..Step::PLAIN };
            let gradients = engine.learn(&values, &lessons, step).1.to_vec();
            for tensor in layout.tensors() {
                let i = tensor.range().start + seed as usize % tensor.range().len();
                let (old, width) = (values[i], 1e-6);
                let mut loss = |x: f64| {
                    values[i] = x;
                    engine.learn(&values, &lessons, step).0.loss
                };
                let mut chord = |width: f64| (loss(old + width) - loss(old - width)) / (2.0 * width);
                // Normalising two numbers that are almost the same bends so much that one chord is not near enough.
                let slope = (4.0 * chord(width / 2.0) - chord(width)) / 3.0;
                // At the corner of a ReLU any slope between those of its two sides is a gradient.
                let here = loss(old);
                let sides = [(here - loss(old - width)) / width, (loss(old + width) - here) / width, slope];
                values[i] = old;
                let [least, most] = [f64::min, f64::max].map(|choose| sides.into_iter().fold(slope, choose));
                let tolerance = 1e-4 * slope.abs().max(1.0);
                prop_assert!(
                    (least - tolerance..=most + tolerance).contains(&gradients[i]),
                    "{}: {} not {slope}",
                    tensor.name,
                    gradients[i]
                );
            }
        }
    }

    fn fixed(positions: Positions) -> Config {
        Config {
            width: 24,
            heads: 3,
            feed_forward: 40,
            embedding: 16,
            positions,
            attention_bias: true,
            dropout: 0.2,
            ..Config::small(5, 4)
        }
    }

    const POSITIONS: [Positions; 4] = [
        Positions::Sinusoidal,
        Positions::Learned(13),
        Positions::Relative { clip: None },
        Positions::Relative { clip: Some(2) },
    ];

    /// Words to be copied.
    fn copies(seed: u32, count: u32) -> Vec<Drawn> {
        let word = |i: u32, t: u32| 1 + (i * 7 + t * (i % 5 + seed)) % 3;
        let source = |i: u32| (0..=i % 6).map(|t| word(i + seed, t)).collect::<Vec<u32>>();
        (0..count).map(|i| (source(i), [&source(i)[..], &[0]].concat())).collect()
    }

    #[test]
    fn a_trained_model_answers_what_it_says_to_itself() {
        for (i, positions) in POSITIONS.into_iter().enumerate() {
            let (norm, shared) = if i % 2 == 0 { (Norm::Post, true) } else { (Norm::Pre, false) };
            let config = Config { norm, shared, ..fixed(positions) };
            let mut engine = Engine::new(TransformerNetwork::new(config).unwrap(), Isa::best());
            let mut state = 1u32;
            let unit = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(state >> 8) / f64::from(1 << 24)
            };
            let mut values: Buffer<f32> = engine.network().layout().draw(unit);
            let mut optimiser = Optimiser::new(Rule::ADAM, values.len());
            for i in 0..200u32 {
                let step = Step { factor: 1.0 / 32.0, key: None, smoothing: 0.0 };
                let (_, gradients) = engine.learn(&values, &lessons(&copies(i, 32)), step);
                optimiser.step(Isa::best(), &mut values, gradients, 3e-3, 1.0, 0.0);
            }
            let right = answers_of(&mut engine, &values);
            assert!(right >= 30, "{positions:?}, {norm:?}: {right} of 60 are right");
        }
    }

    /// Checks the answers to some sources, and returns how many are right.
    fn answers_of(engine: &mut Engine<f32>, values: &[f32]) -> usize {
        let drawn = copies(1000, 60);
        let query = |source| Query { source: Sequence::Tokens(source), length: None };
        let asked: Vec<Query<'_>> = drawn.iter().map(|(source, _)| query(source)).collect();
        let answers = engine.answer(values, &asked, 12);
        let mut right = 0;
        for ((source, wanted), answer) in drawn.iter().zip(answers) {
            assert_eq!(engine.answer(values, &[query(source)], 12)[0], answer, "alone and among others");
            let Some(mut said) = answer else { continue };
            let told = Query { source: Sequence::Tokens(source), length: Some(said.len()) };
            assert_eq!(engine.answer(values, &[told], 12)[0].as_ref(), Some(&said));
            said.push(0);
            let lesson = Lesson { source: Sequence::Tokens(source), target: &said, forced: true };
            assert_eq!(engine.learn(values, &[lesson], Step::PLAIN).0.right, 1);
            right += usize::from(said == *wanted);
        }
        right
    }

    #[test]
    fn what_is_longer_than_the_positions_has_no_answer() {
        for says_start in [false, true] {
            let config =
                Config { special: 1, says_start, source_start: Some(4), ..fixed(Positions::Learned(9)) };
            let mut engine = Engine::new(TransformerNetwork::new(config).unwrap(), Isa::best());
            let values: Vec<f32> = numbers(3, engine.network().layout().len());
            let sources: Vec<Vec<u32>> = [0, 1, 8, 9, 500].map(|length| vec![1; length]).to_vec();
            let query = |source, length| Query { source: Sequence::Tokens(source), length: Some(length) };
            let queries: Vec<Query<'_>> = sources.iter().map(|source| query(source, 3)).collect();
            let long = [7, 8, 9, 1000].map(|length| query(&sources[1], length));
            let answers = engine.answer(&values, &[&queries[..], &long].concat(), 2000);
            let lengths: Vec<Option<usize>> =
                answers.iter().map(|said| said.as_ref().map(Vec::len)).collect();
            let last = (!says_start).then_some(8);
            assert_eq!(lengths, [None, Some(3), Some(3), None, None, Some(7), last, None, None]);
        }
    }

    #[test]
    fn an_answer_has_the_length_that_is_told() {
        let mut engine =
            Engine::new(TransformerNetwork::new(fixed(Positions::Sinusoidal)).unwrap(), Isa::best());
        let values: Vec<f32> = numbers(3, engine.network().layout().len());
        let queries: Vec<Query<'_>> = (0..9)
            .map(|length| Query { source: Sequence::Tokens(&[1, 2, 3]), length: Some(length) })
            .collect();
        for (length, answer) in engine.answer(&values, &queries, 12).into_iter().enumerate() {
            assert_eq!(answer.map(|answer| answer.len()), Some(length));
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let drawn: Vec<Drawn> = (0..100)
            .map(|i| (vec![i % 5; 1 + i as usize % 5], [vec![1 + i % 3; i as usize % 9], vec![0]].concat()))
            .collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut engine = Engine::new(
                    TransformerNetwork::new(fixed(Positions::Relative { clip: None })).unwrap(),
                    Isa::best(),
                );
                let values: Vec<f32> = numbers(5, engine.network().layout().len());
                let step = Step { factor: 0.01, key: Some(3), smoothing: 0.1 };
                engine.learn(&values, &lessons(&drawn), step).1.to_vec()
            })
        };
        let one: Vec<u32> = run(1).into_iter().map(f32::to_bits).collect();
        for threads in [2, 3, 7] {
            let more: Vec<u32> = run(threads).into_iter().map(f32::to_bits).collect();
            assert_eq!(one, more, "{threads} threads");
        }
        assert!(one.iter().any(|&bits| Real::to_f64(f32::from_bits(bits)) != 0.0));
    }
}
