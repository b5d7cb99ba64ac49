//! The element-wise half of the three recurrent cells.
//!
//! A step of a cell has one row of `gates` for each sequence. Before the step it holds the sums that the products have
//! left, after it what the way back needs. `h` is the hidden size.
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

/// One row of gates as `N` parts of `h`.
#[inline(always)]
fn parts<T, const N: usize>(row: &[T], h: usize) -> [&[T]; N] {
    std::array::from_fn(|i| &row[i * h..(i + 1) * h])
}

kernel! {
    /// The new state of an RNN.
    fn rnn_forward(gates: &'a mut [T], state: &'a mut [T]) {
        for (gate, state) in gates.iter_mut().zip(state) {
            *gate = gate.tanh();
            *state = *gate;
        }
    }
}

kernel! {
    /// From the gradient of the new state to that of the sums.
    fn rnn_backward(gates: &'a [T], d_state: &'a [T], d: &'a mut [T]) {
        for ((d, &d_state), &y) in d.iter_mut().zip(d_state).zip(gates) {
            *d = d_state * (T::ONE - y * y);
        }
    }
}

kernel! {
    /// The new state of a GRU.
    fn gru_forward(h: usize, gates: &'a mut [T], before: &'a [T], state: &'a mut [T]) {
        for ((row, before), state) in
            gates.chunks_exact_mut(4 * h).zip(before.chunks_exact(h)).zip(state.chunks_exact_mut(h))
        {
            let (n, rest) = row.split_at_mut(h);
            let (r, rest) = rest.split_at_mut(h);
            let (z, n_state) = rest.split_at_mut(h);
            let (n_state, before, state) = (&n_state[..h], &before[..h], &mut state[..h]);
            for j in 0..h {
                r[j] = r[j].sigmoid();
                z[j] = z[j].sigmoid();
                n[j] = (n[j] + r[j] * n_state[j]).tanh();
                state[j] = n[j] + z[j] * (before[j] - n[j]);
            }
        }
    }
}

kernel! {
    /// From the gradient of the new state to that of the sums; `d_before` gets the part that passes through `z`.
    fn gru_backward(
        h: usize,
        gates: &'a [T],
        before: &'a [T],
        d_state: &'a [T],
        d: &'a mut [T],
        d_before: &'a mut [T],
    ) {
        for ((((row, before), d_state), d), d_before) in gates
            .chunks_exact(4 * h)
            .zip(before.chunks_exact(h))
            .zip(d_state.chunks_exact(h))
            .zip(d.chunks_exact_mut(4 * h))
            .zip(d_before.chunks_exact_mut(h))
        {
            let [n, r, z, n_state] = parts::<T, 4>(row, h);
            let (d_n, rest) = d.split_at_mut(h);
            let (d_r, rest) = rest.split_at_mut(h);
            let (d_z, d_n_state) = rest.split_at_mut(h);
            let (d_n_state, before, d_state, d_before) =
                (&mut d_n_state[..h], &before[..h], &d_state[..h], &mut d_before[..h]);
            for j in 0..h {
                d_n[j] = d_state[j] * (T::ONE - z[j]) * (T::ONE - n[j] * n[j]);
                d_r[j] = d_n[j] * n_state[j] * r[j] * (T::ONE - r[j]);
                d_z[j] = d_state[j] * (before[j] - n[j]) * z[j] * (T::ONE - z[j]);
                d_n_state[j] = d_n[j] * r[j];
                d_before[j] = d_state[j] * z[j];
            }
        }
    }
}

kernel! {
    /// The new state and memory of an LSTM.
    fn lstm_forward(h: usize, gates: &'a mut [T], before: &'a [T], memory: &'a mut [T], state: &'a mut [T]) {
        for (((row, before), memory), state) in gates
            .chunks_exact_mut(4 * h)
            .zip(before.chunks_exact(h))
            .zip(memory.chunks_exact_mut(h))
            .zip(state.chunks_exact_mut(h))
        {
            let (i, rest) = row.split_at_mut(h);
            let (f, rest) = rest.split_at_mut(h);
            let (g, o) = rest.split_at_mut(h);
            let (o, before, memory, state) = (&mut o[..h], &before[..h], &mut memory[..h], &mut state[..h]);
            for j in 0..h {
                i[j] = i[j].sigmoid();
                f[j] = f[j].sigmoid();
                g[j] = g[j].tanh();
                o[j] = o[j].sigmoid();
                memory[j] = f[j] * before[j] + i[j] * g[j];
                state[j] = o[j] * memory[j].tanh();
            }
        }
    }
}

kernel! {
    /// From the gradients of the new state and memory to that of the sums; `d_memory` becomes that of the memory before.
    fn lstm_backward(
        h: usize,
        gates: &'a [T],
        before: &'a [T],
        memory: &'a [T],
        d_state: &'a [T],
        d_memory: &'a mut [T],
        d: &'a mut [T],
    ) {
        for (((((row, before), memory), d_state), d_memory), d) in gates
            .chunks_exact(4 * h)
            .zip(before.chunks_exact(h))
            .zip(memory.chunks_exact(h))
            .zip(d_state.chunks_exact(h))
            .zip(d_memory.chunks_exact_mut(h))
            .zip(d.chunks_exact_mut(4 * h))
        {
            let [i, f, g, o] = parts::<T, 4>(row, h);
            let (d_i, rest) = d.split_at_mut(h);
            let (d_f, rest) = rest.split_at_mut(h);
            let (d_g, d_o) = rest.split_at_mut(h);
            let (d_o, before, memory) = (&mut d_o[..h], &before[..h], &memory[..h]);
            let (d_state, d_memory) = (&d_state[..h], &mut d_memory[..h]);
            for j in 0..h {
                let y = memory[j].tanh();
                let d_m = d_memory[j] + d_state[j] * o[j] * (T::ONE - y * y);
                d_i[j] = d_m * g[j] * i[j] * (T::ONE - i[j]);
                d_f[j] = d_m * before[j] * f[j] * (T::ONE - f[j]);
                d_g[j] = d_m * i[j] * (T::ONE - g[j] * g[j]);
                d_o[j] = d_state[j] * y * o[j] * (T::ONE - o[j]);
                d_memory[j] = d_m * f[j];
            }
        }
    }
}
