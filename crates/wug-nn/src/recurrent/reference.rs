//! Reference implementation: the models as the papers write them, one example and one operation at a time, with gradients by the
//! chain rule of a small tape. Slow and plain; the kernels are tested against it.

use super::{Attention, Begin, Bridge, Cell, Output, RecurrentNetwork};
use crate::network::Lesson;
use crate::tape::{Tape, Var};

/// A model read off its named parameters.
struct Reference<'a> {
    tape: Tape,
    model: &'a RecurrentNetwork,
    parameters: Vec<Var>,
}

type Recurrent = (Var, Option<Var>);

impl Reference<'_> {
    fn get(&self, name: &str) -> Var {
        let tensors = self.model.layout().tensors();
        self.parameters[tensors.iter().position(|tensor| tensor.name == name).expect(name)]
    }

    fn row(&self, table: Var, width: usize, row: usize) -> Var {
        self.tape.slice(table, row * width, width)
    }

    /// One step of a cell with inputs in pieces.
    fn cell(&self, name: &str, pieces: &[(&str, Var)], (state, memory): Recurrent) -> Recurrent {
        let (tape, h) = (&self.tape, self.model.config().hidden);
        let mut x = self.get(&format!("{name}.bias-input"));
        for (piece, input) in pieces {
            x = tape.add(x, tape.matrix(self.get(&format!("{name}.{piece}")), *input));
        }
        let s = tape.matrix(self.get(&format!("{name}.recurrent")), state);
        let s = tape.add(s, self.get(&format!("{name}.bias-recurrent")));
        let part = |of: Var, i: usize| tape.slice(of, i * h, h);
        match self.model.config().cell {
            Cell::Rnn => (tape.tanh(tape.add(x, s)), None),
            Cell::Gru => {
                // The input has the order n, r, z, the state r, z, n.
                let r = tape.sigmoid(tape.add(part(x, 1), part(s, 0)));
                let z = tape.sigmoid(tape.add(part(x, 2), part(s, 1)));
                let n = tape.tanh(tape.add(part(x, 0), tape.multiply(r, part(s, 2))));
                let kept = tape.multiply(z, state);
                (tape.add(tape.multiply(tape.one_minus(z), n), kept), None)
            }
            Cell::Lstm => {
                let sums = tape.add(x, s);
                let [i, f, o] = [0, 1, 3].map(|gate| tape.sigmoid(part(sums, gate)));
                let g = tape.tanh(part(sums, 2));
                let memory = tape.add(tape.multiply(f, memory.unwrap()), tape.multiply(i, g));
                (tape.multiply(o, tape.tanh(memory)), Some(memory))
            }
        }
    }

    fn zero_state(&self) -> Recurrent {
        let zeros = || self.tape.constant(vec![0.0; self.model.config().hidden]);
        (zeros(), self.model.config().cell.has_memory().then(zeros))
    }

    fn encode(&self, source: &[u32]) -> (Vec<Var>, Vec<Recurrent>) {
        let config = self.model.config();
        let table = self.get("encoder.words");
        let mut xs: Vec<Var> =
            source.iter().map(|&word| self.row(table, config.embedding, word as usize)).collect();
        let mut last = Vec::new();
        for l in 0..config.encoder_layers {
            let run = |direction: &str, order: &mut dyn Iterator<Item = usize>| {
                let mut state = self.zero_state();
                let mut states = vec![state.0; xs.len()];
                for t in order {
                    state = self.cell(&format!("encoder.{l}.{direction}"), &[("input", xs[t])], state);
                    states[t] = state.0;
                }
                (states, state)
            };
            let (mut states, mut end) = run("forward", &mut (0..xs.len()));
            if config.bidirectional {
                let (others, other) = run("backward", &mut (0..xs.len()).rev());
                states = states.iter().zip(others).map(|(&a, b)| self.tape.concatenate(&[a, b])).collect();
                let memory = end.1.map(|memory| self.tape.concatenate(&[memory, other.1.unwrap()]));
                end = (self.tape.concatenate(&[end.0, other.0]), memory);
            }
            xs = states;
            last.push(end);
        }
        (xs, last)
    }

    fn bridge(&self, last: &[Recurrent]) -> Vec<Recurrent> {
        let layers = self.model.config().decoder_layers;
        let last = &last[last.len() - layers..];
        if self.model.config().bridge == Bridge::Copy {
            return last.to_vec();
        }
        let through = |l: usize, kind: &str, x: Var| {
            let y = self.tape.matrix(self.get(&format!("bridge.{l}.{kind}")), x);
            self.tape.tanh(self.tape.add(y, self.get(&format!("bridge.{l}.{kind}.bias"))))
        };
        let layer = |(l, &(state, memory)): (usize, &Recurrent)| {
            (through(l, "state", state), memory.map(|memory| through(l, "memory", memory)))
        };
        last.iter().enumerate().map(layer).collect()
    }

    fn attend(&self, query: Var, sources: &[Var]) -> Var {
        let (tape, config) = (&self.tape, self.model.config());
        let score = |&source: &Var| {
            if config.attention == Attention::Dot {
                // A matrix of one row.
                return tape.matrix(query, source);
            }
            let query = tape.matrix(self.get("attention.query"), query);
            let mut sum = tape.add(query, tape.matrix(self.get("attention.key"), source));
            if config.attention_bias {
                sum = tape.add(sum, self.get("attention.key.bias"));
            }
            tape.matrix(self.get("attention.v"), tape.tanh(sum))
        };
        let scores: Vec<Var> = sources.iter().map(score).collect();
        let weights = tape.softmax(tape.concatenate(&scores));
        let width = tape.value(sources[0]).len();
        let mut context = tape.constant(vec![0.0; width]);
        for (i, &source) in sources.iter().enumerate() {
            let weight = tape.concatenate(&vec![tape.slice(weights, i, 1); width]);
            context = tape.add(context, tape.multiply(weight, source));
        }
        context
    }

    /// The summed cross-entropy of one example.
    fn loss(&self, lesson: &Lesson<'_>) -> Var {
        let (tape, config) = (&self.tape, self.model.config());
        let (sources, last) = self.encode(lesson.source.tokens());
        let mut states = self.bridge(&last);
        let mut loss = tape.constant(vec![0.0]);
        let mut fed = config.target_words;
        for &target in lesson.target {
            let mut pieces = Vec::new();
            if config.dependence {
                let begins = fed == config.target_words && config.begin == Begin::Zero;
                let zeros = || tape.constant(vec![0.0; config.embedding]);
                let table = || self.get("decoder.words");
                let word = if begins { zeros() } else { self.row(table(), config.embedding, fed) };
                pieces.push(("word", word));
            }
            let top = config.decoder_layers - 1;
            if config.attention == Attention::Additive {
                pieces.push(("context", self.attend(states[top].0, &sources)));
            }
            let mut below = pieces.clone();
            for (l, state) in states.iter_mut().enumerate() {
                *state = self.cell(&format!("decoder.{l}"), &below, *state);
                below = vec![("input", state.0)];
            }
            if config.attention == Attention::Dot {
                pieces.push(("context", self.attend(states[top].0, &sources)));
            }
            pieces.push(("state", states[top].0));
            pieces.retain(|(name, _)| {
                !matches!(config.output, Output::Tied | Output::Context) || *name != "word"
            });
            let sum = || {
                let parts =
                    pieces.iter().map(|(name, x)| tape.matrix(self.get(&format!("pre-output.{name}")), *x));
                parts.reduce(|a, b| tape.add(a, b)).unwrap()
            };
            let scores = match config.output {
                Output::State => {
                    tape.add(tape.matrix(self.get("output"), states[top].0), self.get("output.bias"))
                }
                Output::PreOutput => tape.matrix(self.get("output"), sum()),
                Output::Joint | Output::Context => tape.add(sum(), self.get("pre-output.state.bias")),
                Output::Tied => tape.matrix(self.get("decoder.words"), tape.tanh(sum())),
            };
            let said = tape.value(scores)[..config.target_words]
                .iter()
                .enumerate()
                .max_by(|a, b| a.1.total_cmp(b.1))
                .unwrap()
                .0;
            let right = tape.slice(tape.softmax(scores), target as usize, 1);
            let surprise = tape.map(right, |p| -p.ln(), |loss| -loss.exp());
            loss = tape.add(loss, surprise);
            fed = if lesson.forced { target as usize } else { said };
        }
        loss
    }
}

/// The summed loss of some examples and its gradient, in the order of the flat buffer.
pub(crate) fn learn(model: &RecurrentNetwork, values: &[f64], lessons: &[Lesson<'_>]) -> (f64, Vec<f64>) {
    let tape = Tape::default();
    let tensors = model.layout().tensors();
    let parameters = tensors.iter().map(|tensor| tape.constant(values[tensor.range()].to_vec())).collect();
    let reference = Reference { tape, model, parameters };
    let losses: Vec<Var> = lessons.iter().map(|lesson| reference.loss(lesson)).collect();
    let loss = losses.into_iter().reduce(|a, b| reference.tape.add(a, b)).unwrap();
    let gradients = reference.tape.gradients(loss);
    let flat = reference.parameters.iter().flat_map(|parameter| gradients[parameter.0].clone()).collect();
    (reference.tape.value(loss)[0], flat)
}

mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::batch::Batch;
    use crate::kernels::Isa;
    use crate::kernels::testing::{ISAS, numbers, same};
    use crate::network::Context;
    use crate::parameters::Weights;
    use crate::recurrent::Config;
    use crate::workspace::Workspace;
    use crate::{Engine, Query, Real, Sequence, Step};

    fn any_config() -> impl Strategy<Value = Config> {
        let cell = prop_oneof![Just(Cell::Rnn), Just(Cell::Gru), Just(Cell::Lstm)];
        let sizes = (1usize..3, 1usize..3, 1usize..20, 1usize..12);
        let outputs = [Output::State, Output::PreOutput, Output::Joint, Output::Context, Output::Tied];
        (cell, sizes, any::<[bool; 7]>(), 0usize..5).prop_map(move |(cell, sizes, flags, output)| {
            let (layers, fewer, hidden, embedding) = sizes;
            let attention = match (flags[1], flags[2], flags[0]) {
                (_, true, _) | (true, _, true) => Attention::Additive,
                (true, _, false) => [Attention::Additive, Attention::Dot][usize::from(flags[5])],
                (false, ..) => Attention::None,
            };
            Config {
                cell,
                encoder_layers: layers.max(fewer),
                decoder_layers: layers.min(fewer),
                hidden,
                embedding,
                bidirectional: flags[0],
                attention,
                attention_bias: flags[6],
                dependence: !flags[2],
                begin: if flags[3] { Begin::Zero } else { Begin::Learned },
                bridge: if flags[0] || flags[4] { Bridge::Linear } else { Bridge::Copy },
                output: outputs[if flags[2] { output % 4 } else { output }],
                dropout: 0.0,
                source_words: 5,
                target_words: 4,
            }
        })
    }

    /// An example: source, target without its end, whether it is forced.
    type Drawn = (Vec<u32>, Vec<u32>, bool);

    /// Of any lengths, or with targets so long that a larger model projects its memory before it attends.
    fn any_lessons() -> impl Strategy<Value = Vec<Drawn>> {
        let lessons = |sources, targets| {
            let source = prop::collection::vec(0u32..5, sources);
            let target = prop::collection::vec(1u32..4, targets);
            prop::collection::vec((source, target, any::<bool>()), 1..24)
        };
        prop_oneof![lessons(1..6, 0..6), lessons(1..3, 5..9)]
    }

    fn ended(drawn: &[Drawn]) -> Vec<Drawn> {
        let end =
            |(source, target, forced): &Drawn| (source.clone(), [target.as_slice(), &[0]].concat(), *forced);
        drawn.iter().map(end).collect()
    }

    fn lessons(drawn: &[Drawn]) -> Vec<Lesson<'_>> {
        drawn
            .iter()
            .map(|(source, target, forced)| Lesson {
                source: Sequence::Tokens(source),
                target,
                forced: *forced,
            })
            .collect()
    }

    #[test]
    fn what_is_attended_to_is_projected_first_where_targets_are_longer() {
        let model = RecurrentNetwork::new(any_fixed(Cell::Gru)).unwrap();
        let projects = |source: &[u32], target: &[u32]| {
            model.projects(&Batch::new(
                &[Lesson { source: Sequence::Tokens(source), target, forced: true }],
                0,
            ))
        };
        assert!(projects(&[1, 2], &[1, 2, 3, 1, 2, 3, 1, 0]));
        assert!(!projects(&[1, 2, 3, 4, 1, 2], &[1, 2, 0]));
        assert!(
            !model
                .projects(&Batch::queries(&[Query { source: Sequence::Tokens(&[1, 2]), length: None }], 100))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn the_engine_computes_what_the_papers_write(
            config in any_config(), drawn in any_lessons(), seed in any::<u64>(),
        ) {
            let drawn = ended(&drawn);
            let lessons = lessons(&drawn);
            let model = RecurrentNetwork::new(config).unwrap();
            let values: Vec<f64> = numbers(seed, model.layout().len());
            let (loss, gradients) = learn(&model, &values, &lessons);
            for isa in ISAS {
                let mut engine = Engine::new(model.clone(), isa);
                let (outcome, ours) = engine.learn(&values, &lessons, Step::PLAIN);
                prop_assert!((outcome.loss / loss - 1.0).abs() < 1e-9, "{} not {loss}", outcome.loss);
                for tensor in model.layout().tensors() {
                    same(&ours[tensor.range()], &gradients[tensor.range()], 1e-8)
                        .map_err(|error| TestCaseError::fail(format!("{}: {error}", tensor.name)))?;
                }
                // Buffers are used again: what an earlier batch has left in them must not be seen.
                let first = ours.to_vec();
                let others: Vec<f64> = numbers(seed ^ 1, values.len());
                engine.learn(&others, &lessons[lessons.len() / 2..], Step::PLAIN);
                let (_, again) = engine.learn(&values, &lessons, Step::PLAIN);
                prop_assert!(first == again, "another result in the second place");
                // In single precision the argmax of a tie may differ, so only what is forced is compared, and
                // large parameters make a model that magnifies any rounding, so they are halved.
                if lessons.iter().all(|lesson| lesson.forced) {
                    let mut engine = Engine::new(model.clone(), isa);
                    let values: Vec<f32> = values.iter().map(|&x| x as f32 / 2.0).collect();
                    let exact: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
                    let gradients = learn(&model, &exact, &lessons).1;
                    let (_, ours) = engine.learn(&values, &lessons, Step::PLAIN);
                    for tensor in model.layout().tensors() {
                        let theirs: Vec<f32> = gradients[tensor.range()].iter().map(|&x| x as f32).collect();
                        same(&ours[tensor.range()], &theirs, 1e-3)
                            .map_err(|error| TestCaseError::fail(format!("{}: {error}", tensor.name)))?;
                    }
                }
            }
        }

        #[test]
        fn the_gradient_is_the_slope_of_the_loss_under_dropout_and_smoothing(
            mut config in any_config(), drawn in any_lessons(), seed in any::<u64>(),
        ) {
            config.dropout = 0.3;
            let mut drawn = ended(&drawn);
            // Own words change by jumps, which have no slope.
            for lesson in &mut drawn {
                lesson.2 = true;
            }
            let lessons = lessons(&drawn);
            let model = RecurrentNetwork::new(config).unwrap();
            let mut values: Vec<f64> = numbers(seed, model.layout().len());
            let mut engine = Engine::new(model.clone(), Isa::best());
            let gradients = engine.learn(&values, &lessons, Step { key: Some(seed), smoothing: 0.1, ..Step::PLAIN }).1.to_vec();
            for tensor in model.layout().tensors() {
                let i = tensor.range().start + seed as usize % tensor.range().len();
                let (old, step) = (values[i], 1e-6);
                let mut loss = |x: f64| {
                    values[i] = x;
                    engine.learn(&values, &lessons, Step { key: Some(seed), smoothing: 0.1, ..Step::PLAIN }).0.loss
                };
                let slope = (loss(old + step) - loss(old - step)) / (2.0 * step);
                values[i] = old;
                let apart = (slope - gradients[i]).abs();
                prop_assert!(apart < 1e-5 * slope.abs().max(1.0), "{}: {} not {slope}", tensor.name, gradients[i]);
            }
        }
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
            config.dropout = 0.3;
            let drawn = ended(&drawn);
            let model = RecurrentNetwork::new(config).unwrap();
            let values: Vec<f32> = numbers(seed, model.layout().len());
            let values: Vec<f32> = values.into_iter().map(|x| x / 2.0).collect();
            let step = Step { factor: 0.5, key: (seed % 4 > 0).then_some(seed), smoothing: (seed % 3) as f64 / 20.0 };
            crate::device::tests::agree(&|| Box::new(model.clone()), &values, &lessons(&drawn), step)?;
        }
    }

    #[test]
    fn answers_are_what_the_decoder_says_to_itself() {
        let config = any_fixed(Cell::Lstm);
        let model = RecurrentNetwork::new(config).unwrap();
        let values: Vec<f64> = numbers(11, model.layout().len());
        let sources: Vec<Vec<u32>> = (0..50).map(|i| vec![1 + i % 4; 1 + i as usize % 7]).collect();
        let query = |source| Query { source: Sequence::Tokens(source), length: None };
        let asked: Vec<Query<'_>> = sources.iter().map(|source| query(source)).collect();
        let answers = Engine::new(model.clone(), Isa::Portable).answer(&values, &asked, 12);
        for (source, answer) in sources.iter().zip(answers) {
            let alone = Engine::new(model.clone(), Isa::best()).answer(&values, &[query(source)], 12);
            assert_eq!(alone[0], answer, "alone and among others");
            if let Some(mut target) = answer {
                target.push(0);
                let lesson = Lesson { source: Sequence::Tokens(source), target: &target, forced: false };
                assert_eq!(
                    Engine::new(model.clone(), Isa::best()).learn(&values, &[lesson], Step::PLAIN).0.right,
                    1
                );
            }
        }
    }

    #[test]
    fn the_last_state_is_that_in_which_the_end_is_said() {
        for cell in [Cell::Rnn, Cell::Gru, Cell::Lstm] {
            let model = RecurrentNetwork::new(any_fixed(cell)).unwrap();
            let values: Vec<f64> = numbers(11, model.layout().len());
            let sources: Vec<Vec<u32>> = (0..70).map(|i| vec![1 + i % 4; 1 + i as usize % 7]).collect();
            // Some are told how long they have to be, so that there are answers that end.
            let query = |(i, source): (usize, _)| Query {
                source: Sequence::Tokens(source),
                length: (i % 3 > 0).then_some(i % 5),
            };
            let asked: Vec<Query<'_>> = sources.iter().map(Vec::as_slice).enumerate().map(query).collect();
            let mut engine = Engine::new(model.clone(), Isa::best());
            let answers = engine.answer(&values, &asked, 12);
            let states = engine.states(&values, &asked, 12).unwrap();
            assert!(answers.iter().flatten().count() > 10, "answers that end");
            for ((source, answer), state) in sources.iter().zip(answers).zip(states) {
                let Some(mut target) = answer else { continue };
                target.push(0);
                // Fed its own answer, the decoder has the state in its last row.
                let batch = Batch::new(
                    &[Lesson { source: Sequence::Tokens(source), target: &target, forced: true }],
                    0,
                );
                let mut weights = Weights::default();
                weights.read(model.layout(), &values, false);
                let mut workspace = Workspace::default();
                let mut context = Context::new(Isa::best(), &weights, &values, &mut workspace);
                let encoded = model.encode(&mut context, &batch, None);
                let first = model.bridge(&mut context, &encoded.last);
                let decoded = model.decode(&mut context, &batch, &encoded, &first, None);
                same(&state, &decoded.top()[decoded.top().len() - state.len()..], 1e-12).unwrap();
            }
        }
    }

    fn any_fixed(cell: Cell) -> Config {
        Config {
            cell,
            encoder_layers: 2,
            decoder_layers: 2,
            hidden: 24,
            embedding: 16,
            bidirectional: false,
            attention: Attention::Additive,
            attention_bias: false,
            dependence: true,
            begin: Begin::Learned,
            bridge: Bridge::Copy,
            output: Output::State,
            dropout: 0.2,
            source_words: 5,
            target_words: 4,
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let model = RecurrentNetwork::new(any_fixed(Cell::Gru)).unwrap();
        let values: Vec<f32> = numbers(5, model.layout().len());
        let drawn: Vec<Drawn> = (0..100)
            .map(|i| (vec![i % 5; 1 + i as usize % 5], vec![1 + i % 3; i as usize % 9], i % 2 == 0))
            .collect();
        let drawn = ended(&drawn);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut engine = Engine::new(model.clone(), Isa::best());
                engine
                    .learn(&values, &lessons(&drawn), Step { factor: 0.01, key: Some(3), smoothing: 0.0 })
                    .1
                    .to_vec()
            })
        };
        let one: Vec<u32> = run(1).into_iter().map(f32::to_bits).collect();
        for threads in [2, 3, 7] {
            assert_eq!(
                one,
                run(threads).into_iter().map(f32::to_bits).collect::<Vec<_>>(),
                "{threads} threads"
            );
        }
        assert!(one.iter().any(|&bits| Real::to_f64(f32::from_bits(bits)) != 0.0));
    }
}
