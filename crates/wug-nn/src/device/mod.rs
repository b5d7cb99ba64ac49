//! Where an engine computes: on the CPU with our own kernels, or on another device through burn.
//!
//! For other devices a model is written once more in burn's tensor operations (`burn_model.rs` beside its kernels), padded and
//! masked, with gradients by burn. Parameters, gradients and the optimiser stay on the host in the same flat buffers, so that
//! the training loop and its checkpoints know nothing of devices.
//!
//! burn is compiled only for the features that need it, of which none is on by default.

#[cfg(feature = "burn")]
mod padded;
#[cfg(feature = "burn")]
mod parameters;
#[cfg(feature = "burn")]
mod remote;

use std::fmt::{self, Debug};

use crate::Buffer;
use crate::kernels::Isa;
use crate::network::{Lesson, Network, Outcome, Query, Step};

#[cfg(feature = "burn")]
pub(crate) use padded::{DecodedTokens, Padded, Side};
#[cfg(feature = "burn")]
pub(crate) use parameters::Parameters;
#[cfg(feature = "burn")]
pub(crate) use remote::BurnModel;
#[cfg(feature = "burn")]
pub use remote::Portable;

/// Where to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The processor, with our own kernels.
    Cpu,
    /// The processor, with burn's: slow, and there to test what the other devices compute.
    Flex,
    /// A GPU with Vulkan.
    Vulkan,
    /// An Apple GPU (Metal).
    Metal,
    /// An NVIDIA GPU (CUDA).
    Cuda,
    /// An AMD GPU (ROCm).
    Rocm,
}

impl Device {
    /// All devices that a build can have.
    pub const ALL: &[Self] = &[Self::Cpu, Self::Flex, Self::Vulkan, Self::Metal, Self::Cuda, Self::Rocm];

    /// Their names; the first is the default.
    pub const NAMES: &[&str] = &["cpu", "flex", "vulkan", "metal", "cuda", "rocm"];

    /// The device with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|device| device.name() == name)
    }

    /// Its name, which is also that of the feature that compiles it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// What it is.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cpu => "the processor, with our own kernels",
            Self::Flex => "the processor, with burn's kernels; for tests",
            Self::Vulkan => "a GPU with Vulkan",
            Self::Metal => "an Apple GPU (Metal)",
            Self::Cuda => "an NVIDIA GPU (CUDA)",
            Self::Rocm => "an AMD GPU (ROCm)",
        }
    }

    /// Whether this program was built with it.
    pub fn is_compiled(self) -> bool {
        match self {
            Self::Cpu => true,
            Self::Flex => cfg!(feature = "flex"),
            Self::Vulkan => cfg!(feature = "vulkan"),
            Self::Metal => cfg!(feature = "metal"),
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Rocm => cfg!(feature = "rocm"),
        }
    }

    /// Why nothing can be computed on it, if so: it was not compiled in, or this machine has none.
    pub fn check(self) -> Result<(), String> {
        if !self.is_compiled() {
            return Err(format!(
                "this program was built without the device {self}: build it with --features {self}"
            ));
        }
        #[cfg(feature = "burn")]
        if self != Self::Cpu && !remote::exists(self) {
            return Err(format!("this machine has no {self} device, or no driver for it"));
        }
        Ok(())
    }

    /// Opens the device for a model; nothing for the CPU, which needs no opening.
    #[cfg_attr(not(feature = "burn"), allow(unused_variables))]
    pub(crate) fn open(
        self,
        network: &dyn Network<f32>,
        isa: Isa,
    ) -> Result<Option<Box<dyn Backend<f32>>>, String> {
        self.check()?;
        #[cfg(feature = "burn")]
        if self != Self::Cpu {
            return remote::Remote::open(self, network, isa).map(|remote| Some(Box::new(remote) as _));
        }
        Ok(None)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that computes a model instead of the CPU.
pub(crate) trait Backend<T>: Debug + Send {
    /// The loss of a batch; its gradient replaces what is in `gradients`.
    fn learn(
        &mut self,
        values: &[T],
        lessons: &[Lesson<'_>],
        step: Step,
        gradients: &mut Buffer<T>,
    ) -> Outcome;

    /// What [`Engine::answer`](crate::Engine::answer) answers.
    fn answer(&mut self, values: &[T], queries: &[Query<'_>], longest: usize) -> Vec<Option<Vec<u32>>>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The devices other than the CPU that were compiled in and that this machine has.
    #[cfg(feature = "burn")]
    pub(crate) fn usable() -> Vec<Device> {
        let compiled = Device::ALL.iter().filter(|&&device| device != Device::Cpu && device.is_compiled());
        let has = |device: &&Device| device.check().map_err(|why| println!("skipped: {why}")).is_ok();
        compiled.filter(has).copied().collect()
    }

    /// Whether an engine on each usable device computes what one on the CPU does: loss, gradients and answers.
    #[cfg(feature = "burn")]
    pub(crate) fn agree(
        build: &dyn Fn() -> Box<dyn Network<f32>>,
        values: &[f32],
        lessons: &[Lesson<'_>],
        step: Step,
    ) -> Result<(), proptest::test_runner::TestCaseError> {
        use crate::Engine;
        use proptest::prelude::*;

        let mut cpu = Engine::boxed(build(), Isa::best());
        let layout = cpu.network().layout().clone();
        let tell = |(i, lesson): (usize, &Lesson<'_>)| (i % 2 == 0).then(|| lesson.target.len() - 1);
        let lengths: Vec<Option<usize>> = lessons.iter().enumerate().map(tell).collect();
        let query =
            |(lesson, &length): (&Lesson<'_>, &Option<usize>)| (lesson.source.tokens().to_vec(), length);
        let asked: Vec<(Vec<u32>, Option<usize>)> = lessons.iter().zip(&lengths).map(query).collect();
        let queries: Vec<Query<'_>> = asked
            .iter()
            .map(|(source, length)| Query { source: crate::Sequence::Tokens(source), length: *length })
            .collect();
        let answers = cpu.answer(values, &queries, 7);
        let (expected, theirs) = cpu.learn(values, lessons, step);
        for device in usable() {
            let mut engine = Engine::on(device, build(), Isa::best()).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&engine.answer(values, &queries, 7), &answers, "on {}", device);
            let (outcome, ours) = engine.learn(values, lessons, step);
            prop_assert!((outcome.loss / expected.loss - 1.0).abs() < 1e-5, "{outcome:?} not {expected:?}");
            prop_assert_eq!((outcome.words, outcome.right), (expected.words, expected.right));
            // Gradients that should be 0 are what rounding has left, so a tensor is measured by no less than a share of all.
            let largest = |of: &[f32]| of.iter().fold(0f32, |a, b| a.max(b.abs()));
            let least = largest(theirs) / 100.0;
            for tensor in layout.tensors() {
                let (ours, theirs) = (&ours[tensor.range()], &theirs[tensor.range()]);
                let apart: Vec<f32> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
                let apart = largest(&apart) / largest(theirs).max(least);
                prop_assert!(apart < 1e-4, "{} is {apart:.1e} apart on {device}", tensor.name);
                prop_assert!(ours.iter().all(|x| x.is_finite()), "{} on {device}", tensor.name);
            }
        }
        Ok(())
    }

    #[test]
    fn devices_have_the_names_of_their_features() {
        assert_eq!(Device::ALL.len(), Device::NAMES.len());
        for &device in Device::ALL {
            assert_eq!(Device::named(device.name()), Some(device));
            if !device.is_compiled() {
                let why = device.check().unwrap_err();
                assert!(why.ends_with(&format!("--features {device}")), "{why}");
            }
        }
        assert_eq!(Device::Cpu.check(), Ok(()));
        assert_eq!(Device::named("abacus"), None);
    }
}
