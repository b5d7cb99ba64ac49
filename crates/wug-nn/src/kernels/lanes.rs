use super::isa::Vectors;

/// Columns that a product computes side by side: one vector of AVX-512, two of AVX2.
pub(crate) const LANES: usize = 16;

/// The innermost step of a product. Left to itself the compiler makes vectors across rows here, which is many times
/// slower, so for `f32` the vectors are spelt out.
pub trait Lanes: Sized {
    /// `sums += left * right`, element by element; [`LANES`] or half as many.
    #[doc(hidden)]
    fn multiply_add<V: Vectors, const N: usize>(sums: &mut [Self; N], left: Self, right: &[Self; N]);

    /// Rows as columns.
    #[doc(hidden)]
    fn transpose(block: [[Self; 4]; 4]) -> [[Self; 4]; 4];
}

/// Rows as columns, number by number.
#[inline(always)]
fn transpose<T: Copy>(block: [[T; 4]; 4]) -> [[T; 4]; 4] {
    std::array::from_fn(|i| block.map(|row| row[i]))
}

impl Lanes for f64 {
    #[inline(always)]
    fn multiply_add<V: Vectors, const N: usize>(sums: &mut [Self; N], left: Self, right: &[Self; N]) {
        for (sum, &right) in sums.iter_mut().zip(right) {
            *sum = if V::FUSED { left.mul_add(right, *sum) } else { left * right + *sum };
        }
    }

    #[inline(always)]
    fn transpose(block: [[Self; 4]; 4]) -> [[Self; 4]; 4] {
        transpose(block)
    }
}

impl Lanes for f32 {
    #[inline(always)]
    fn multiply_add<V: Vectors, const N: usize>(sums: &mut [Self; N], left: Self, right: &[Self; N]) {
        const { assert!(N == LANES || N == LANES / 2) };
        V::multiply_add(sums, left, right);
    }

    #[inline(always)]
    fn transpose(block: [[Self; 4]; 4]) -> [[Self; 4]; 4] {
        #[cfg(target_arch = "x86_64")]
        return x86::transpose(block);
        #[cfg(not(target_arch = "x86_64"))]
        transpose(block)
    }
}

/// The portable step. On x86-64 the four-lane vectors of the base architecture: the same bits as element by element.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn portable<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
    for (sum, &right) in sums.iter_mut().zip(right) {
        *sum += left * right;
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{portable, prefetch};

/// Elsewhere nothing is brought nearer.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn prefetch<T>(_: &[T]) {}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    #![allow(unsafe_code)]

    use std::arch::x86_64::{
        _MM_HINT_T1, _mm_add_ps, _mm_loadu_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_mul_ps, _mm_prefetch,
        _mm_set1_ps, _mm_storeu_ps, _mm_unpackhi_ps, _mm_unpacklo_ps, _mm256_fmadd_ps, _mm256_loadu_ps,
        _mm256_set1_ps, _mm256_storeu_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_storeu_ps,
    };

    use super::LANES;

    #[inline(always)]
    pub(in super::super) fn portable<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        for (sums, right) in sums.chunks_exact_mut(4).zip(right.chunks_exact(4)) {
            // SAFETY: every x86-64 has these instructions; both chunks are four numbers long.
            unsafe {
                let product = _mm_mul_ps(_mm_set1_ps(left), _mm_loadu_ps(right.as_ptr()));
                _mm_storeu_ps(sums.as_mut_ptr(), _mm_add_ps(_mm_loadu_ps(sums.as_ptr()), product));
            }
        }
    }

    /// Rows as columns. Left to itself the compiler moves number by number.
    #[inline(always)]
    pub(super) fn transpose(block: [[f32; 4]; 4]) -> [[f32; 4]; 4] {
        let mut columns = [[0.0; 4]; 4];
        // SAFETY: every x86-64 has these instructions; rows and columns are four numbers long.
        unsafe {
            let [a, b, c, d] = block.map(|row| _mm_loadu_ps(row.as_ptr()));
            let (low, high) = (
                [_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d)],
                [_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d)],
            );
            _mm_storeu_ps(columns[0].as_mut_ptr(), _mm_movelh_ps(low[0], low[1]));
            _mm_storeu_ps(columns[1].as_mut_ptr(), _mm_movehl_ps(low[1], low[0]));
            _mm_storeu_ps(columns[2].as_mut_ptr(), _mm_movelh_ps(high[0], high[1]));
            _mm_storeu_ps(columns[3].as_mut_ptr(), _mm_movehl_ps(high[1], high[0]));
        }
        columns
    }

    /// Has the start of a line brought into the second-level cache.
    #[inline(always)]
    pub(in super::super) fn prefetch<T>(line: &[T]) {
        // SAFETY: a hint that reads nothing; every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) fn avx2<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        for (sums, right) in sums.chunks_exact_mut(8).zip(right.chunks_exact(8)) {
            // SAFETY: both chunks are eight numbers long.
            unsafe {
                let (old, right) = (_mm256_loadu_ps(sums.as_ptr()), _mm256_loadu_ps(right.as_ptr()));
                _mm256_storeu_ps(sums.as_mut_ptr(), _mm256_fmadd_ps(_mm256_set1_ps(left), right, old));
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx2,fma")]
    pub(in super::super) fn avx512<const N: usize>(sums: &mut [f32; N], left: f32, right: &[f32; N]) {
        if N != LANES {
            return avx2(sums, left, right);
        }
        // SAFETY: both arrays are sixteen numbers long.
        unsafe {
            let (old, right) = (_mm512_loadu_ps(sums.as_ptr()), _mm512_loadu_ps(right.as_ptr()));
            _mm512_storeu_ps(sums.as_mut_ptr(), _mm512_fmadd_ps(_mm512_set1_ps(left), right, old));
        }
    }
}
