use std::fmt::Debug;
use std::ops::Range;

#[cfg(any(feature = "cuda", feature = "rocm"))]
use burn_tensor::DeviceIndex;
#[cfg(any(feature = "vulkan", feature = "metal"))]
use burn_tensor::DeviceKind;
use burn_tensor::{DeviceType, Int, Tensor, TensorData, Transaction, activation};

use super::{Backend, DecodedTokens, Device, Padded, Parameters};
use crate::Buffer;
use crate::kernels::Isa;
use crate::network::{Lesson, Network, Outcome, Query, Step};
use crate::parameters::Layout;

/// The maximum number of tokens computed together, padding included, unless one example has more: what is kept for the
/// backward pass grows with them.
const WORDS: usize = 1 << 15;

/// The maximum number of queries decoded together.
const QUERIES: usize = 256;

/// A model composed of burn's tensor operations.
pub(crate) trait BurnModel: Debug + Send + Sync {
    /// How many words can be said.
    fn words(&self) -> usize;

    /// The first of the last words that are no words and end an answer; as many as there are words if there is none.
    fn special(&self) -> u32 {
        self.words() as u32
    }

    /// A word that every source begins with.
    fn source_start(&self) -> Option<u32> {
        None
    }

    /// A word that is to be said before every target.
    fn target_start(&self) -> Option<u32> {
        None
    }

    /// Words of the longest sequence.
    fn longest(&self) -> usize {
        usize::MAX
    }

    /// The scores of all words at every step of the targets, `[steps * rows, scores]`.
    fn scores(&self, parameters: &Parameters, batch: &Padded) -> Tensor<2>;

    /// Decodes greedily until everything is heard.
    fn answer(&self, parameters: &Parameters, batch: &Padded, heard: &mut DecodedTokens<'_>);
}

/// A model that can be computed on other devices than the CPU.
#[derive(Debug)]
pub struct Portable(pub(crate) Box<dyn BurnModel>);

/// Whether this machine has such a device, with a driver for it.
pub(super) fn exists(device: Device) -> bool {
    handle(device).is_some_and(|(kind, _)| !burn_tensor::Device::enumerate(kind).is_empty())
}

/// The device as burn names it, if it was compiled in.
fn handle(device: Device) -> Option<(DeviceType, burn_tensor::Device)> {
    match device {
        #[cfg(feature = "flex")]
        Device::Flex => Some((DeviceType::Flex, burn_tensor::Device::flex())),
        #[cfg(feature = "vulkan")]
        Device::Vulkan => Some((DeviceType::Vulkan, burn_tensor::Device::vulkan(DeviceKind::DefaultDevice))),
        #[cfg(feature = "metal")]
        Device::Metal => Some((DeviceType::Metal, burn_tensor::Device::metal(DeviceKind::DefaultDevice))),
        #[cfg(feature = "cuda")]
        Device::Cuda => Some((DeviceType::Cuda, burn_tensor::Device::cuda(DeviceIndex::Default))),
        #[cfg(feature = "rocm")]
        Device::Rocm => Some((DeviceType::Rocm, burn_tensor::Device::rocm(DeviceIndex::Default))),
        _ => None,
    }
}

/// A model on a device.
#[derive(Debug)]
pub(super) struct Remote {
    device: burn_tensor::Device,
    isa: Isa,
    layout: Layout,
    model: Portable,
}

impl Remote {
    pub(super) fn open(device: Device, network: &dyn Network<f32>, isa: Isa) -> Result<Self, String> {
        let model = network.burn_model().ok_or("this model can be computed on the CPU alone")?;
        let (_, handle) = handle(device).ok_or_else(|| format!("there is no device {device}"))?;
        Ok(Self { device: handle, isa, layout: network.layout().clone(), model })
    }

    /// Divides a batch into pieces that are computed one after the other.
    fn cut(lessons: &[Lesson<'_>]) -> Vec<Range<usize>> {
        let (mut pieces, mut start) = (Vec::new(), 0);
        let (mut source, mut target) = (0, 0);
        for (i, lesson) in lessons.iter().enumerate() {
            let longest = (source.max(lesson.source.len()), target.max(lesson.target.len()));
            if i > start && (i + 1 - start) * (longest.0 + longest.1) > WORDS {
                pieces.push(start..i);
                (start, source, target) = (i, lesson.source.len(), lesson.target.len());
            } else {
                (source, target) = longest;
            }
        }
        pieces.push(start..lessons.len());
        pieces
    }
}

impl Backend<f32> for Remote {
    fn learn(
        &mut self,
        values: &[f32],
        lessons: &[Lesson<'_>],
        step: Step,
        gradients: &mut Buffer<f32>,
    ) -> Outcome {
        let device = self.device.clone().autodiff();
        let parameters = Parameters::read(&self.layout, values, &device);
        let mut outcome = Outcome::default();
        let mut sum: Option<Tensor<1>> = None;
        for piece in Self::cut(lessons) {
            let starts = [self.model.0.source_start(), self.model.0.target_start()];
            let some = &lessons[piece.clone()];
            let batch = Padded::lessons(&device, self.isa, starts, some, piece.start, step);
            let scores = self.model.0.scores(&parameters, &batch);
            let said = scores.clone().narrow(1, 0, self.model.0.words()).argmax(1);
            let loss = cross_entropy(&batch, scores, step.smoothing);
            let mut found = (loss.clone() * step.factor).backward();
            let more = parameters.gradients(&mut found);
            sum = Some(sum.map_or(more.clone(), |sum| sum + more));
            let read = Transaction::default().register(loss.without_autodiff()).register(said).execute();
            let words = batch.targets.lengths.iter().sum();
            let right = right(starts[1], some, &whole(&read[1]));
            outcome.add(Outcome { loss: numbers(&read[0])[0].into(), words, right });
        }
        *gradients = sum.map(|sum| numbers(&sum.into_data())).unwrap_or_default().into();
        outcome
    }

    fn answer(&mut self, values: &[f32], queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>> {
        let parameters = Parameters::read(&self.layout, values, &self.device);
        let (model, limit) = (&self.model.0, self.model.0.longest());
        let added = usize::from(model.source_start().is_some());
        let before = usize::from(model.target_start().is_some());
        let fits = |query: &Query<'_>| {
            let length = query.length.unwrap_or_default();
            !query.source.is_empty() && query.source.len() + added <= limit && before + length < limit
        };
        let longest = longest.min((limit - 1).saturating_sub(before));
        let mut order: Vec<usize> = (0..queries.len()).filter(|&i| fits(&queries[i])).collect();
        // Sources of like length have answers of like length, mostly: they then end together.
        order.sort_by_key(|&i| queries[i].source.len());
        let mut answers = vec![None; queries.len()];
        for piece in order.chunks(QUERIES) {
            let asked: Vec<Query<'_>> = piece.iter().map(|&i| queries[i]).collect();
            let batch = Padded::queries(&self.device, self.isa, model.source_start(), &asked, longest + 1);
            let mut heard = DecodedTokens::new(&batch, model.special());
            model.answer(&parameters, &batch, &mut heard);
            for (&i, answer) in piece.iter().zip(heard.answers()) {
                answers[i] = answer;
            }
        }
        answers
    }
}

/// The cross-entropy of the targets, summed, with a share of the wanted probability spread over all classes.
fn cross_entropy(batch: &Padded, scores: Tensor<2>, smoothing: f64) -> Tensor<1> {
    let [rows, classes] = scores.dims();
    let logs = activation::log_softmax(scores, 1);
    let has: Tensor<2> = batch.mask(&batch.targets).float().reshape([rows, 1]);
    let targets: Tensor<2, Int> = batch.words(&batch.targets).reshape([rows, 1]);
    let right = (logs.clone().gather(1, targets) * has.clone()).sum() * -(1.0 - smoothing);
    if smoothing > 0.0 {
        return right - (logs * has).sum() * (smoothing / classes as f64);
    }
    right
}

/// How many examples have been said as the target has them; what was said lies step after step.
fn right(start: Option<u32>, lessons: &[Lesson<'_>], said: &[i32]) -> usize {
    let is_right = |(row, lesson): &(usize, &Lesson<'_>)| {
        let said = said.iter().skip(*row).step_by(lessons.len());
        start.iter().chain(lesson.target).zip(said).all(|(&target, &said)| target as i32 == said)
    };
    lessons.iter().enumerate().filter(is_right).count()
}

fn numbers(data: &TensorData) -> Vec<f32> {
    data.clone().convert::<f32>().try_into_vec().expect("single precision")
}

fn whole(data: &TensorData) -> Vec<i32> {
    data.clone().convert::<i32>().try_into_vec().expect("whole numbers of the asked size")
}
