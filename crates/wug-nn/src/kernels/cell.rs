//! The element-wise half of the three recurrent cells.
//!
//! A step of a cell has one row of `gates` for each sequence. Before the step it holds the sums that the products have
//! left, after it what the backward pass needs, and after the backward pass the gradient of the sums. `h` is the hidden size.
//!
//! | cell | before | after |
//! |---|---|---|
//! | RNN | sum | tanh(sum), the new state |
//! | GRU | n (input), r, z, n (state) | n, r, z, n (state) |
//! | LSTM | i, f, g, o | i, f, g, o |
//!
//! The GRU keeps the two sums of its candidate apart, because the reset gate weighs only the second; its order makes the
//! columns that depend on the input the first three and those that depend on the state the last three.

use super::isa::{Isa, Kernel, Vectors};
use crate::Real;

/// One row of gates as four parts.
#[inline(always)]
fn parts<T>(row: &[T], h: usize) -> [&[T]; 4] {
    std::array::from_fn(|i| &row[i * h..(i + 1) * h])
}

/// The same to be written.
#[inline(always)]
fn parts_mut<T>(row: &mut [T], h: usize) -> [&mut [T]; 4] {
    let (a, rest) = row.split_at_mut(h);
    let (b, rest) = rest.split_at_mut(h);
    let (c, d) = rest.split_at_mut(h);
    [a, b, c, &mut d[..h]]
}

/// `out = f(out, a, b, c)`, element by element.
///
/// The cells are made of such passes with one output each: a loop over all of their buffers at once has more of them than
/// the compiler is ready to tell apart, and would stay without vectors.
#[inline(always)]
fn pass<T: Real>(out: &mut [T], [a, b, c]: [&[T]; 3], f: impl Fn(T, T, T, T) -> T) {
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(*out, a, b, c);
    }
}

/// `out = f(out)`, element by element.
#[inline(always)]
fn squash<T: Real>(out: &mut [T], f: impl Fn(T) -> T) {
    for out in out {
        *out = f(*out);
    }
}

kernel! {
    /// The new state of an RNN.
    fn rnn_forward(gates: &'a mut [T], state: &'a mut [T]) {
        squash(gates, T::tanh);
        state.copy_from_slice(gates);
    }
}

kernel! {
    /// From the gradient of the new state to that of the sums.
    fn rnn_backward(gates: &'a mut [T], d_state: &'a [T]) {
        for (y, &d_state) in gates.iter_mut().zip(d_state) {
            *y = d_state * (T::ONE - *y * *y);
        }
    }
}

kernel! {
    /// The new state of a GRU.
    fn gru_forward(h: usize, gates: &'a mut [T], before: &'a [T], state: &'a mut [T]) {
        for ((row, before), state) in
            gates.chunks_exact_mut(4 * h).zip(before.chunks_exact(h)).zip(state.chunks_exact_mut(h))
        {
            squash(&mut row[h..3 * h], T::sigmoid);
            let [n, r, z, n_state] = parts_mut(row, h);
            pass(n, [r, n_state, n_state], |n, r, n_state, _| (n + r * n_state).tanh());
            pass(state, [n, z, before], |_, n, z, before| n + z * (before - n));
        }
    }
}

kernel! {
    /// From the gradient of the new state to that of the sums; `d_before` gets the part that passes through `z`. `scratch` has
    /// room for a row of gates.
    fn gru_backward(
        h: usize,
        gates: &'a mut [T],
        before: &'a [T],
        d_state: &'a [T],
        d_before: &'a mut [T],
        scratch: &'a mut [T],
    ) {
        let one = T::ONE;
        for (((d, before), d_state), d_before) in gates
            .chunks_exact_mut(4 * h)
            .zip(before.chunks_exact(h))
            .zip(d_state.chunks_exact(h))
            .zip(d_before.chunks_exact_mut(h))
        {
            scratch.copy_from_slice(d);
            let [n, r, z, n_state] = parts(scratch, h);
            let [d_n, d_r, d_z, d_n_state] = parts_mut(d, h);
            pass(d_n, [d_state, z, n], |_, d, z, n| d * (one - z) * (one - n * n));
            pass(d_r, [d_n, n_state, r], |_, d_n, n_state, r| d_n * n_state * r * (one - r));
            pass(d_z, [d_state, before, n], |_, d, before, n| d * (before - n));
            pass(d_z, [z, z, z], |d, z, _, _| d * z * (one - z));
            pass(d_n_state, [d_n, r, r], |_, d_n, r, _| d_n * r);
            pass(d_before, [d_state, z, z], |_, d, z, _| d * z);
        }
    }
}

kernel! {
    /// The new state and memory of an LSTM, and the tangent of the memory, for the backward context.
    fn lstm_forward(
        h: usize,
        gates: &'a mut [T],
        before: &'a [T],
        memory: &'a mut [T],
        tangent: &'a mut [T],
        state: &'a mut [T],
    ) {
        for ((((row, before), memory), tangent), state) in gates
            .chunks_exact_mut(4 * h)
            .zip(before.chunks_exact(h))
            .zip(memory.chunks_exact_mut(h))
            .zip(tangent.chunks_exact_mut(h))
            .zip(state.chunks_exact_mut(h))
        {
            squash(&mut row[..2 * h], T::sigmoid);
            squash(&mut row[2 * h..3 * h], T::tanh);
            squash(&mut row[3 * h..], T::sigmoid);
            let [i, f, g, o] = parts(row, h);
            pass(memory, [f, before, before], |_, f, before, _| f * before);
            pass(memory, [i, g, g], |memory, i, g, _| memory + i * g);
            pass(tangent, [memory, memory, memory], |_, memory, _, _| memory.tanh());
            pass(state, [o, tangent, tangent], |_, o, y, _| o * y);
        }
    }
}

kernel! {
    /// From the gradients of the new state and memory to that of the sums; `d_memory` becomes that of the memory before. `scratch`
    /// has room for a row of gates.
    fn lstm_backward(
        h: usize,
        gates: &'a mut [T],
        before: &'a [T],
        tangent: &'a [T],
        d_state: &'a [T],
        d_memory: &'a mut [T],
        scratch: &'a mut [T],
    ) {
        let one = T::ONE;
        for ((((d, before), tangent), d_state), d_memory) in gates
            .chunks_exact_mut(4 * h)
            .zip(before.chunks_exact(h))
            .zip(tangent.chunks_exact(h))
            .zip(d_state.chunks_exact(h))
            .zip(d_memory.chunks_exact_mut(h))
        {
            scratch.copy_from_slice(d);
            let [i, f, g, o] = parts(scratch, h);
            let [d_i, d_f, d_g, d_o] = parts_mut(d, h);
            pass(d_memory, [d_state, o, tangent], |d_m, d, o, y| d_m + d * o * (one - y * y));
            pass(d_o, [d_state, tangent, o], |_, d, y, o| d * y * o * (one - o));
            pass(d_i, [d_memory, g, i], |_, d_m, g, i| d_m * g * i * (one - i));
            pass(d_f, [d_memory, before, f], |_, d_m, before, f| d_m * before * f * (one - f));
            pass(d_g, [d_memory, i, g], |_, d_m, i, g| d_m * i * (one - g * g));
            pass(d_memory, [f, f, f], |d_m, f, _, _| d_m * f);
        }
    }
}
