//! Times `out = a * b` for the shapes of our networks, in turns on one core: wug-nn with the right factor packed
//! once, as weights are for all tokens of a step, or anew for every product, `gemm`, `matrixmultiply` and `faer`. The shortest of all
//! turns counts, in GFLOP/s; every result is compared with that of a plain loop.

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::mat::{MatMut, MatRef};
use faer::{Accum, Par};
use wug_nn::kernels::{Isa, MatMul};

/// Rows of `a`, columns of `a`, columns of `b`, and what has this shape.
const SHAPES: [(usize, usize, usize, &str); 6] = [
    (1, 200, 800, "a decoder's step of one example"),
    (32, 200, 800, "an LSTM layer of 200 units, batch 32"),
    (128, 512, 2048, "an LSTM layer of 512 units, batch 128"),
    (512, 256, 768, "queries, keys and values of a Transformer of width 256"),
    (2048, 128, 512, "a feed-forward layer of width 128"),
    (1024, 1024, 1024, "a large square"),
];
const TURNS: usize = 30;

fn main() {
    let isa = Isa::best();
    println!("| rows x depth x columns | | packed once | packed anew | gemm | matrixmultiply | faer | best of others / packed once |");
    println!("|---|---|---|---|---|---|---|---|");
    for (m, k, n, what) in SHAPES {
        let (a, b) = (numbers(1, m * k), numbers(2, k * n));
        let (mut once, mut anew) = (MatMul::new(&b, k, n), MatMul::default());
        let contenders: [&mut dyn FnMut(&mut [f32]); 5] = [
            &mut |out| once.multiply(isa, &a, out),
            &mut |out| {
                anew.pack(&b, k, n);
                anew.multiply(isa, &a, out);
            },
            &mut |out| with_gemm(&a, &b, (m, k, n), out),
            &mut |out| with_matrixmultiply(&a, &b, (m, k, n), out),
            &mut |out| with_faer(&a, &b, (m, k, n), out),
        ];
        let expected = plain(&a, &b, (m, k, n));
        let rates = measure(contenders, &expected, 2.0 * (m * k * n) as f64);
        let best = rates[2..].iter().copied().fold(0.0, f64::max);
        let cells: Vec<String> = rates.iter().map(|rate| format!("{rate:.1}")).collect();
        println!("| {m} x {k} x {n} | {what} | {} | {:.2} |", cells.join(" | "), best / rates[0]);
    }
}

/// Billions of operations a second of each, measured in turns.
fn measure(mut contenders: [&mut dyn FnMut(&mut [f32]); 5], expected: &[f32], operations: f64) -> [f64; 5] {
    let mut out = vec![0.0; expected.len()];
    let repeats = (2e8 / operations).ceil().max(1.0) as usize;
    let mut shortest = [f64::MAX; 5];
    for _ in 0..TURNS {
        for (contender, shortest) in contenders.iter_mut().zip(&mut shortest) {
            let begun = Instant::now();
            for _ in 0..repeats {
                contender(&mut out);
            }
            *shortest = shortest.min(begun.elapsed().as_secs_f64() / repeats as f64);
            let apart = out.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(apart < 1e-3, "differs by {apart}");
        }
    }
    shortest.map(|seconds| operations / seconds / 1e9)
}

fn numbers(seed: u32, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn plain(a: &[f32], b: &[f32], (m, k, n): (usize, usize, usize)) -> Vec<f32> {
    let mut out = vec![0.0; m * n];
    for (row, out) in a.chunks(k).zip(out.chunks_mut(n)) {
        for (x, line) in row.iter().zip(b.chunks(n)) {
            out.iter_mut().zip(line).for_each(|(out, y)| *out += x * y);
        }
    }
    out
}

fn with_gemm(a: &[f32], b: &[f32], (m, k, n): (usize, usize, usize), out: &mut [f32]) {
    // SAFETY: the strides and sizes are those of the slices.
    unsafe {
        gemm::gemm(
            m, n, k, out.as_mut_ptr(), 1, n as isize, false, a.as_ptr(), 1, k as isize, b.as_ptr(), 1, n as isize, 0.0,
            1.0, false, false, false, gemm::Parallelism::None,
        );
    }
}

fn with_matrixmultiply(a: &[f32], b: &[f32], (m, k, n): (usize, usize, usize), out: &mut [f32]) {
    // SAFETY: the strides and sizes are those of the slices.
    unsafe {
        matrixmultiply::sgemm(
            m, k, n, 1.0, a.as_ptr(), k as isize, 1, b.as_ptr(), n as isize, 1, 0.0, out.as_mut_ptr(), n as isize, 1,
        );
    }
}

fn with_faer(a: &[f32], b: &[f32], (m, k, n): (usize, usize, usize), out: &mut [f32]) {
    let (a, b) = (MatRef::from_row_major_slice(a, m, k), MatRef::from_row_major_slice(b, k, n));
    matmul(MatMut::from_row_major_slice_mut(out, m, n), Accum::Replace, a, b, 1.0, Par::Seq);
}
