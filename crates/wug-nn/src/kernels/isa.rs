use std::fmt;
use std::sync::OnceLock;

use super::lanes;

/// The instructions to compute with.
///
/// AVX-512 and AVX2 round every product and sum together, once, so their results are the same bits; the portable code
/// rounds them apart and gives the same bits on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// Vectors of 16 `f32` with fused products.
    Avx512,
    /// Vectors of 8 `f32` with fused products.
    Avx2,
    /// Whatever the compiler may assume of the architecture.
    Portable,
}

impl Isa {
    /// The names, `auto` first, as they are written in settings.
    pub const NAMES: &'static [&'static str] = &["auto", "avx512", "avx2", "portable"];

    /// The best that this machine has.
    pub fn best() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            [Self::Avx512, Self::Avx2].into_iter().find(|isa| isa.is_here()).unwrap_or(Self::Portable)
        })
    }

    /// The one with this name; `None` if there is no such name or this machine does not have it.
    pub fn named(name: &str) -> Option<Self> {
        let isa = match name {
            "auto" => Self::best(),
            "avx512" => Self::Avx512,
            "avx2" => Self::Avx2,
            "portable" => Self::Portable,
            _ => return None,
        };
        isa.is_here().then_some(isa)
    }

    /// Whether this machine has it.
    fn is_here(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512vl")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512bw")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Portable => true,
        }
    }

    /// Runs a kernel with these instructions, or with portable ones where this machine does not have them.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if self != Self::Portable && self.is_here() {
            #[allow(unsafe_code)]
            // SAFETY: the machine has the instructions that the function is compiled to; it was asked a line ago.
            return unsafe { if self == Self::Avx512 { x86::avx512(kernel) } else { x86::avx2(kernel) } };
        }
        kernel.run::<Base>()
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        })
    }
}

/// A piece of work that is compiled once for every instruction set.
///
/// `run` and all that it calls must be `#[inline(always)]`: only what is inlined is compiled for the instruction set.
pub(crate) trait Kernel {
    type Output;

    /// Does the work.
    fn run<V: Vectors>(self) -> Self::Output;
}

/// The instruction set that a kernel is being compiled for.
pub trait Vectors {
    /// Whether products and sums are rounded together.
    const FUSED: bool;

    /// Most rows of a tile of a product, up to 8. Its sums, 16 in a row, stay in registers.
    const ROWS: usize;

    /// Panels of 16 columns that a tile of a convolution is wide: two where the registers hold their sums.
    const PANELS: usize;

    /// `sums += left * right`. To be called by a kernel only.
    fn multiply_add<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]);
}

struct Base;

impl Vectors for Base {
    const FUSED: bool = false;
    const ROWS: usize = 6;
    const PANELS: usize = 1;

    #[inline(always)]
    fn multiply_add<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        lanes::portable(sums, left, right);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(unsafe_code)]

    use super::{Kernel, Vectors, lanes};

    struct Avx512;

    impl Vectors for Avx512 {
        const FUSED: bool = true;
        const ROWS: usize = 8;
        const PANELS: usize = 2;

        #[inline(always)]
        fn multiply_add<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
            // SAFETY: this type is private, and only `avx512` below runs a kernel with it.
            unsafe { lanes::x86::avx512(sums, left, right) }
        }
    }

    struct Avx2;

    impl Vectors for Avx2 {
        const FUSED: bool = true;
        // 12 of 16 registers.
        const ROWS: usize = 6;
        const PANELS: usize = 1;

        #[inline(always)]
        fn multiply_add<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
            // SAFETY: this type is private, and only `avx2` below runs a kernel with it.
            unsafe { lanes::x86::avx2(sums, left, right) }
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
    pub(super) fn avx512<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }
}
