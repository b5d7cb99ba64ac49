//! Exact t-SNE (van der Maaten and Hinton, 2008): points in a plane whose neighbours are those of vectors of many dimensions.

use std::collections::BTreeMap;

use rayon::prelude::*;
use wug_data::Streams;

use crate::plot::{MapPlot, Paper};

/// About how many neighbours a point has.
const PERPLEXITY: f64 = 30.0;
/// Updates.
const STEPS: usize = 750;
/// In the first of them neighbours attract each other more, so that groups find together.
const EARLY: usize = 200;
const EXAGGERATION: f64 = 12.0;

type Point = [f64; 2];

/// A map of vectors by group as SVG (Figure A4 of the HINT paper); nothing if there are none.
pub fn embedding_map(title: &str, groups: &BTreeMap<String, Vec<Vec<f32>>>) -> Option<String> {
    let all: Vec<Vec<f32>> = groups.values().flatten().cloned().collect();
    let mut places = tsne(&all).into_iter();
    let place = |(name, vectors): (&String, &Vec<Vec<f32>>)| {
        (name.clone(), places.by_ref().take(vectors.len()).collect())
    };
    let groups = groups.iter().map(place).collect();
    MapPlot { title: title.to_owned(), groups }.svg(Paper::White)
}

/// A place in the plane for each vector. The same vectors have the same places on any number of threads.
fn tsne(vectors: &[Vec<f32>]) -> Vec<Point> {
    let n = vectors.len();
    if n < 2 {
        return vec![[0.0, 0.0]; n];
    }
    let attraction = attraction(vectors);
    let streams = Streams::new("tsne", "places", 0);
    let mut places: Vec<Point> = (0..n as u64)
        .map(|i| {
            let mut stream = streams.item(i);
            [1e-4 * (stream.unit() - 0.5), 1e-4 * (stream.unit() - 0.5)]
        })
        .collect();
    let rate = (n as f64 / EXAGGERATION / 4.0).max(50.0);
    let (mut speed, mut gains) = (vec![[0.0; 2]; n], vec![[1.0_f64; 2]; n]);
    for step in 0..STEPS {
        let factor = if step < EARLY { EXAGGERATION } else { 1.0 };
        let momentum = if step < EARLY { 0.5 } else { 0.8 };
        let forces = forces(&attraction, &places, factor);
        for i in 0..n {
            for axis in 0..2 {
                let (force, speed, gain) = (forces[i][axis], &mut speed[i][axis], &mut gains[i][axis]);
                // A direction that is kept is followed faster.
                *gain = if force * *speed < 0.0 { *gain + 0.2 } else { (*gain * 0.8).max(0.01) };
                *speed = momentum * *speed - rate * *gain * force;
                places[i][axis] += *speed;
            }
        }
    }
    places
}

/// How much each pair attracts each other: the mean of the probabilities that one is the neighbour of the other.
fn attraction(vectors: &[Vec<f32>]) -> Vec<Vec<f64>> {
    let n = vectors.len();
    let neighbours: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map(|i| {
            let distance = |other: &Vec<f32>| {
                let squares = vectors[i].iter().zip(other).map(|(&a, &b)| f64::from(a - b).powi(2));
                squares.sum::<f64>()
            };
            neighbours(i, &vectors.iter().map(distance).collect::<Vec<f64>>())
        })
        .collect();
    let pair = |i: usize, j: usize| ((neighbours[i][j] + neighbours[j][i]) / (2.0 * n as f64)).max(1e-12);
    (0..n).map(|i| (0..n).map(|j| if i == j { 0.0 } else { pair(i, j) }).collect()).collect()
}

/// The probability that each point is the neighbour of point `i`, by squared distances: normal, of a width at which the
/// entropy is that of the perplexity.
fn neighbours(i: usize, distances: &[f64]) -> Vec<f64> {
    let wanted = PERPLEXITY.min((distances.len() as f64 - 1.0) / 3.0).max(1.0).ln();
    let nearest = distances.iter().enumerate().filter(|(j, _)| *j != i);
    let nearest = nearest.map(|(_, &distance)| distance).fold(f64::INFINITY, f64::min);
    let (mut low, mut high, mut precision) = (0.0, f64::INFINITY, 1.0);
    let mut found = vec![0.0; distances.len()];
    for _ in 0..100 {
        for (j, (to, distance)) in found.iter_mut().zip(distances).enumerate() {
            *to = if j == i { 0.0 } else { (-(distance - nearest) * precision).exp() };
        }
        let sum: f64 = found.iter().sum();
        let mean: f64 = found.iter().zip(distances).map(|(p, distance)| p * (distance - nearest)).sum();
        for p in &mut found {
            *p /= sum;
        }
        let entropy = sum.ln() + precision * mean / sum;
        if (entropy - wanted).abs() < 1e-6 {
            break;
        }
        if entropy > wanted {
            low = precision;
            precision = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * precision };
        } else {
            high = precision;
            precision = f64::midpoint(low, high);
        }
    }
    found
}

/// The gradient of the divergence of what the places say from what the vectors say.
fn forces(attraction: &[Vec<f64>], places: &[Point], factor: f64) -> Vec<Point> {
    let near = |a: Point, b: Point| 1.0 / (1.0 + (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2));
    let of_row = |&place: &Point| places.iter().map(|&other| near(place, other)).sum::<f64>() - 1.0;
    // Summed in order, so that threads do not matter.
    let sums: Vec<f64> = places.par_iter().map(of_row).collect();
    let total: f64 = sums.iter().sum();
    let force = |(i, &place): (usize, &Point)| {
        let mut force = [0.0; 2];
        for (&other, attraction) in places.iter().zip(&attraction[i]) {
            let near = near(place, other);
            let pull = (factor * attraction - near / total) * near;
            force[0] += 4.0 * pull * (place[0] - other[0]);
            force[1] += 4.0 * pull * (place[1] - other[1]);
        }
        force
    };
    places.par_iter().enumerate().map(force).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_stay_together_and_apart_from_others() {
        let streams = Streams::new("tsne", "test", 0);
        let vector = |i: usize| {
            let mut stream = streams.item(i as u64);
            (0..20).map(|axis| stream.unit() as f32 + if axis == i % 3 { 8.0 } else { 0.0 }).collect()
        };
        let vectors: Vec<Vec<f32>> = (0..90).map(vector).collect();
        let places = tsne(&vectors);
        let distance = |a: usize, b: usize| {
            (places[a][0] - places[b][0]).powi(2) + (places[a][1] - places[b][1]).powi(2)
        };
        for i in 0..90 {
            let nearest = (0..90).filter(|&j| j != i);
            let nearest = nearest.min_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b))).unwrap();
            assert_eq!(nearest % 3, i % 3);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert!(pool.install(|| tsne(&vectors)) == places, "any number of threads");
    }

    #[test]
    fn few_or_equal_vectors_are_no_trouble() {
        assert!(tsne(&[]).is_empty());
        assert_eq!(tsne(&[vec![1.0]]), [[0.0, 0.0]]);
        for vectors in [vec![vec![1.0_f32; 4]; 2], vec![vec![0.5; 4]; 40]] {
            assert!(tsne(&vectors).iter().flatten().all(|place| place.is_finite()));
        }
    }
}
