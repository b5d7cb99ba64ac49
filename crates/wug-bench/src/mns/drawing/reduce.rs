//! From 300 to 160 pixels: the mean under a triangle as wide as the reduction asks for, along rows and then along
//! columns, each rounded to whole greys. The weights are whole numbers of 2^-22, as Pillow has them.

use std::sync::LazyLock;

use super::layouts::SIZE;
use super::raster::Canvas;

/// Pixels along a side of a panel as it is given to a learner.
pub const PANEL: usize = 160;

const PLACES: u32 = 22;

/// What one reduced pixel is made of: the first pixel and the weights from there on.
struct Window {
    first: usize,
    weights: Vec<i32>,
}

static WINDOWS: LazyLock<Vec<Window>> = LazyLock::new(|| {
    let scale = SIZE as f64 / PANEL as f64;
    let window = |i: usize| {
        let centre = (i as f64 + 0.5) * scale;
        let first = (centre - scale + 0.5).max(0.0) as usize;
        let end = ((centre + scale + 0.5) as usize).min(SIZE);
        let weight = |pixel: usize| (1.0 - ((pixel as f64 - centre + 0.5) / scale).abs()).max(0.0);
        let weights: Vec<f64> = (first..end).map(weight).collect();
        let total: f64 = weights.iter().sum();
        let whole = |weight: &f64| (0.5 + weight / total * f64::from(1 << PLACES)) as i32;
        Window { first, weights: weights.iter().map(whole).collect() }
    };
    (0..PANEL).map(window).collect()
});

/// The weighted mean of pixels, `stride` apart from `at` on.
fn mean(weights: &[i32], pixels: &[u8], at: usize, stride: usize) -> u8 {
    let sum: i32 =
        weights.iter().enumerate().map(|(i, weight)| weight * i32::from(pixels[at + i * stride])).sum();
    // Weights are not negative and sum to one: no grey is out of range but by rounding.
    ((sum + (1 << (PLACES - 1))) >> PLACES).clamp(0, 255) as u8
}

/// The whole canvas, reduced.
pub(crate) fn reduce(canvas: &Canvas) -> Vec<u8> {
    let mut reduced = vec![255; PANEL * PANEL];
    reduce_into(canvas, [0, 0, SIZE - 1, SIZE - 1], &mut reduced);
    reduced
}

/// Renews the reduced pixels that a rectangle (left, top, right, bottom) of the canvas takes part in.
pub(crate) fn reduce_into(canvas: &Canvas, [left, top, right, bottom]: [usize; 4], reduced: &mut [u8]) {
    let touched = |low: usize, high: usize| {
        let first = WINDOWS.partition_point(|window| window.first + window.weights.len() <= low);
        let end = WINDOWS.partition_point(|window| window.first <= high);
        first..end
    };
    let (columns, rows) = (touched(left, right), touched(top, bottom));
    if columns.is_empty() || rows.is_empty() {
        return;
    }
    let from = WINDOWS[rows.start].first;
    let last = &WINDOWS[rows.end - 1];
    let to = last.first + last.weights.len();
    let width = columns.len();
    let mut narrow = vec![0; width * (to - from)];
    for y in from..to {
        for (i, window) in WINDOWS[columns.clone()].iter().enumerate() {
            narrow[(y - from) * width + i] =
                mean(&window.weights, &canvas.pixels, y * SIZE + window.first, 1);
        }
    }
    for y in rows {
        let window = &WINDOWS[y];
        for i in 0..width {
            let grey = mean(&window.weights, &narrow, (window.first - from) * width + i, width);
            reduced[y * PANEL + columns.start + i] = grey;
        }
    }
}
