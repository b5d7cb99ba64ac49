use rayon::prelude::*;

use super::GROUP;
use super::geometry::{Lists, Size, Window, seen_by};
use crate::kernels::{larger, larger_backward, scale_add};
use crate::network::Context;
use crate::{Buffer, Real};

/// What becomes of the places in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The largest, the first of equals.
    Max,
    /// Their mean, zeros around the map included.
    Average,
}

/// Pooling, for each channel alone.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    kind: Kind,
    channels: usize,
    /// Places of input and output.
    places: (usize, usize),
    taps: usize,
    seen: Lists<(usize, usize)>,
    seen_by: Lists<(usize, usize)>,
}

/// What came out of pooling and, of the largest, through which tap.
#[derive(Debug)]
pub(super) struct Pooled<T> {
    pub(super) y: Buffer<T>,
    taps: Vec<u8>,
}

impl Pool {
    pub(super) fn new(kind: Kind, window: Window, (size, output): (Size, Size), channels: usize) -> Self {
        let seen = Lists::new(window.seen(size, output));
        let seen_by = seen_by(&seen, size.places());
        let taps = window.kernel * window.kernel;
        assert!(kind == Kind::Average || taps <= 256, "a tap is kept in a byte");
        Self { kind, channels, places: (size.places(), output.places()), taps, seen, seen_by }
    }

    pub(super) fn forward<T: Real>(&self, context: &mut Context<'_, T>, x: &[T]) -> Pooled<T> {
        let (isa, channels, (from, to)) = (context.isa, self.channels, self.places);
        let images = x.len() / (from * channels);
        let mut y = context.take(images * to * channels);
        let mut taps = vec![0u8; if self.kind == Kind::Max { y.len() } else { 0 }];
        let share = T::from_f64(1.0 / self.taps as f64);
        let groups = y.par_chunks_mut(GROUP * to * channels).zip(x.par_chunks(GROUP * from * channels));
        let place_in = |x: &[T], place: usize, size: usize, y: &mut [T], taps: &mut [u8]| {
            let start = if self.kind == Kind::Max { T::from_f64(f64::NEG_INFINITY) } else { T::ZERO };
            y.fill(start);
            for &(seen, tap) in self.seen.of(place) {
                let x = &x[seen * size..][..size];
                match self.kind {
                    Kind::Max => larger(isa, x, tap as u8, y, taps),
                    Kind::Average => y.iter_mut().zip(x).for_each(|(y, &x)| *y += x * share),
                }
            }
        };
        match self.kind {
            Kind::Max => groups.zip(taps.par_chunks_mut(GROUP * to * channels)).for_each(|((y, x), taps)| {
                let size = y.len() / to;
                let places = y.par_chunks_mut(size).zip(taps.par_chunks_mut(size)).enumerate();
                places.for_each(|(place, (y, taps))| place_in(x, place, size, y, taps));
            }),
            Kind::Average => groups.for_each(|(y, x)| {
                let size = y.len() / to;
                let places = y.chunks_mut(size).enumerate();
                places.for_each(|(place, y)| place_in(x, place, size, y, &mut []));
            }),
        }
        Pooled { y, taps }
    }

    /// The gradient of the input from that of the output.
    pub(super) fn backward<T: Real>(
        &self,
        context: &mut Context<'_, T>,
        pooled: &Pooled<T>,
        d: &[T],
    ) -> Buffer<T> {
        let (isa, channels, (from, to)) = (context.isa, self.channels, self.places);
        let images = d.len() / (to * channels);
        let mut d_x = context.take(images * from * channels);
        let share = T::from_f64(1.0 / self.taps as f64);
        d_x.par_chunks_mut(GROUP * from * channels).enumerate().for_each(|(group, d_x)| {
            let size = d_x.len() / from;
            let first = group * GROUP * to * channels;
            d_x.par_chunks_mut(size).enumerate().for_each(|(place, d_x)| {
                d_x.fill(T::ZERO);
                for &(by, tap) in self.seen_by.of(place) {
                    let at = first + by * size;
                    let d = &d[at..][..size];
                    match self.kind {
                        Kind::Max => larger_backward(isa, d, &pooled.taps[at..][..size], tap as u8, d_x),
                        Kind::Average => scale_add(isa, T::ONE, d, d_x),
                    }
                }
                if self.kind == Kind::Average {
                    scale_add(isa, share, &[], d_x);
                }
            });
        });
        d_x
    }
}
