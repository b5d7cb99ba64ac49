//! Virtual writers: each has habits that all of its symbols share, and writes a symbol a little differently each time.
//!
//! Random choices that shape the ink use sums and square roots only, which are the same on every machine.

use wug_data::{Stream, Streams};

use crate::skeletons::{Curve, SKELETONS, Skeleton};
use crate::{Ink, Pen, Point, SYMBOLS};

/// All writers there can be: a seed and a number name one.
#[derive(Debug, Clone)]
pub struct Writers {
    habits: Streams,
    /// By symbol.
    shapes: Vec<Streams>,
    /// By symbol.
    samples: Vec<Streams>,
}

/// What one writer does in every symbol.
#[derive(Debug, Clone, Copy)]
struct Habits {
    /// How far the top leans to the right, of the height.
    slant: f32,
    /// Sine of the rotation.
    rotation: f32,
    /// Factor of the width.
    width: f32,
    /// How round curves are: 0 is straight from point to point.
    roundness: f32,
    /// How far corners are cut, of a segment.
    corner_cut: f32,
    /// How far strokes go beyond their ends, of the height; negative is short of them.
    overshoot: f32,
    /// How uneven the hand is.
    jitter: f32,
    /// Slow waves that bend the whole symbol.
    warp: f32,
    /// Shaking of the pen.
    tremor: f32,
    /// How well loops close: 0 is exactly.
    gap: f32,
    /// Points that the tablet records along the height.
    resolution: f32,
    /// Probability of a small hook where the pen comes down.
    hook: f64,
    /// Pen width in pixels at a height of 45.
    pen: f32,
}

impl Writers {
    /// The writers of a seed.
    pub fn new(seed: u64) -> Self {
        let of = |kind: &str| {
            let streams = |symbol| Streams::new("ink", &format!("{kind} {symbol}"), seed);
            SYMBOLS.chars().map(streams).collect()
        };
        Self { habits: Streams::new("ink", "habits", seed), shapes: of("shape"), samples: of("sample") }
    }

    /// What a writer writes for a symbol (its place in [`SYMBOLS`]) the `sample`-th time, and with which pen.
    pub fn write(&self, writer: u64, symbol: usize, sample: u64) -> (Ink, Pen) {
        let habits = Habits::draw(&mut self.habits.item(writer));
        let mut shape = self.shapes[symbol].item(writer);
        // 32 bits for the writer, 32 for the sample: no two share a stream.
        let mut random = self.samples[symbol].item(writer << 32 | sample);
        let skeletons = &SKELETONS[symbol];
        let usual = choose(skeletons, &mut shape);
        let skeleton = if random.coin(0.9) { usual } else { choose(skeletons, &mut random) };

        let aspect =
            skeleton.aspect * habits.width * factor(0.18 * normal(&mut shape) + 0.07 * normal(&mut random));
        let mut ink = Ink::default();
        for (i, curve) in skeleton.strokes.iter().enumerate() {
            let mut points = moved(curve, &habits, &mut shape, &mut random);
            // Where a second stroke goes is less certain than its shape.
            let spread = if i == 0 { 0.0 } else { 0.035 };
            let offset = [spread * normal(&mut random), spread * normal(&mut random)];
            for (point, _) in &mut points {
                for axis in 0..2 {
                    point[axis] += offset[axis];
                }
                point[0] *= aspect;
            }
            extend(&mut points, &habits, curve.is_loop, &mut random);
            ink.strokes.push(points_along(&points, &habits, &mut random));
        }
        bend(&mut ink, aspect, &habits, &mut random);
        (ink, Pen::Round((habits.pen * factor(0.08 * normal(&mut random))).clamp(0.8, 4.5)))
    }
}

impl Habits {
    fn draw(random: &mut Stream) -> Self {
        Self {
            slant: 0.07 + 0.2 * normal(random),
            rotation: 0.07 * normal(random),
            width: factor(0.24 * normal(random)),
            roundness: 0.5 + 0.6 * random.unit() as f32,
            corner_cut: 0.22 * (random.unit() * random.unit()) as f32,
            overshoot: 0.015 + 0.03 * normal(random),
            jitter: 0.02 + 0.035 * random.unit() as f32,
            warp: 0.03 + 0.07 * random.unit() as f32,
            tremor: 0.012 * (random.unit() * random.unit()) as f32,
            gap: 0.09 * normal(random),
            resolution: 10.0 + 30.0 * random.unit() as f32,
            hook: 0.3 * random.unit() * random.unit(),
            pen: 1.1 + 1.6 * (random.unit() * random.unit()) as f32 + 0.5 * random.unit() as f32,
        }
    }
}

/// About the normal distribution, from -3.46 to 3.46: four dice need no logarithm.
fn normal(random: &mut Stream) -> f32 {
    let sum: f64 = (0..4).map(|_| random.unit()).sum();
    ((sum - 2.0) * 1.732_050_8) as f32
}

/// A factor as far above 1 for `x` as it is below for `-x`.
fn factor(x: f32) -> f32 {
    if x < 0.0 { 1.0 / (1.0 - x) } else { 1.0 + x }
}

fn choose<'a>(skeletons: &'a [Skeleton], random: &mut Stream) -> &'a Skeleton {
    let total: u32 = skeletons.iter().map(|skeleton| skeleton.weight).sum();
    let mut left = random.below(u64::from(total)) as u32;
    for skeleton in skeletons {
        if left < skeleton.weight {
            return skeleton;
        }
        left -= skeleton.weight;
    }
    &skeletons[0]
}

/// The points of a curve where this writer puts them, this time.
fn moved(curve: &Curve, habits: &Habits, shape: &mut Stream, random: &mut Stream) -> Vec<(Point, bool)> {
    let mut points = curve.points.clone();
    for (point, _) in &mut points {
        for x in point.iter_mut() {
            *x += 0.8 * habits.jitter * normal(shape) + habits.jitter * normal(random);
        }
    }
    if curve.is_loop {
        // The end meets the beginning, or passes it, or stops before.
        let (first, last) = (points[0].0, points.len() - 1);
        let gap = habits.gap + 0.05 * normal(random);
        let toward = points[last.saturating_sub(1)].0;
        for axis in 0..2 {
            points[last].0[axis] = first[axis] + gap * (toward[axis] - first[axis]) + 0.02 * normal(random);
        }
    }
    points
}

/// Lengthens or shortens the ends of a stroke, and sometimes begins it with a hook.
fn extend(points: &mut Vec<(Point, bool)>, habits: &Habits, is_loop: bool, random: &mut Stream) {
    let last = points.len() - 1;
    if is_loop || last == 0 {
        return;
    }
    for (end, next) in [(0, 1), (last, last - 1)] {
        let [dx, dy] = [0, 1].map(|axis| points[end].0[axis] - points[next].0[axis]);
        let length = (dx * dx + dy * dy).sqrt().max(1e-3);
        let by = (habits.overshoot + 0.03 * normal(random)).max(-0.4 * length) / length;
        points[end].0[0] += dx * by;
        points[end].0[1] += dy * by;
    }
    if random.coin(habits.hook) {
        let [x, y] = points[0].0;
        let size = 0.03 + 0.05 * random.unit() as f32;
        let side = if random.coin(0.5) { -1.0 } else { 1.0 };
        points[0].1 = true;
        points.insert(0, ([x + side * size, y + size * normal(random)], false));
    }
}

/// A smooth line through the points (cardinal splines between corners), as a tablet records it.
fn points_along(points: &[(Point, bool)], habits: &Habits, random: &mut Stream) -> Vec<Point> {
    let at = |i: usize| points[i].0;
    let mut line = vec![at(0)];
    for i in 0..points.len() - 1 {
        let (a, b) = (at(i), at(i + 1));
        let chord = [b[0] - a[0], b[1] - a[1]];
        let length = (chord[0] * chord[0] + chord[1] * chord[1]).sqrt();
        // The direction at a point is that between its neighbours; at a corner or an end, that of the segment.
        let tangent = |j: usize| {
            if points[j].1 || j == 0 || j + 1 == points.len() {
                return chord;
            }
            let (before, after) = (at(j - 1), at(j + 1));
            let across = [after[0] - before[0], after[1] - before[1]];
            let norm = (across[0] * across[0] + across[1] * across[1]).sqrt().max(1e-6);
            across.map(|x| x / norm * length * habits.roundness)
        };
        let (from, to) = (tangent(i), tangent(i + 1));
        let steps = ((length * habits.resolution) as usize).clamp(2, 40);
        for step in 1..=steps {
            let t = step as f32 / steps as f32;
            if points[i + 1].1 && 1.0 - t < habits.corner_cut && step < steps {
                continue;
            }
            line.push([0, 1].map(|axis| {
                hermite(t, a[axis], from[axis], b[axis], to[axis]) + habits.tremor * normal(random)
            }));
        }
        if points[i + 1].1 && habits.corner_cut > 0.08 {
            // A hurried corner is cut.
            line.pop();
        }
    }
    line
}

fn hermite(t: f32, a: f32, from: f32, b: f32, to: f32) -> f32 {
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * a + (t3 - 2.0 * t2 + t) * from + (3.0 * t2 - 2.0 * t3) * b + (t3 - t2) * to
}

/// Bends, slants and turns the whole symbol.
fn bend(ink: &mut Ink, aspect: f32, habits: &Habits, random: &mut Stream) {
    let warp = [0; 4].map(|_| habits.warp * normal(random));
    let slant = habits.slant + 0.05 * normal(random);
    let sine = (habits.rotation + 0.035 * normal(random)).clamp(-0.5, 0.5);
    let cosine = (1.0 - sine * sine).sqrt();
    let scale = aspect.max(1.0);
    for [x, y] in ink.strokes.iter_mut().flatten() {
        // Around the middle, from -0.5 to 0.5.
        let (u, v) = ((*x - aspect / 2.0) / scale, *y - 0.5);
        let u2 = u + 2.0 * warp[0] * v * v + warp[1] * u * v;
        let v2 = v + 2.0 * warp[2] * u * u + warp[3] * u * v;
        let (u3, v3) = (u2 * scale - slant * v2, v2);
        *x = cosine * u3 - sine * v3;
        *y = sine * u3 + cosine * v3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_the_same_whenever_it_writes() {
        let writers = Writers::new(0);
        assert_eq!(writers.write(7, 8, 0), Writers::new(0).write(7, 8, 0));
        assert_ne!(writers.write(7, 8, 0), writers.write(7, 8, 1));
        assert_ne!(writers.write(7, 8, 0), writers.write(8, 8, 0));
        assert_ne!(writers.write(7, 8, 0), Writers::new(1).write(7, 8, 0));
    }

    #[test]
    fn everything_written_can_be_drawn() {
        let writers = Writers::new(3);
        for writer in 0..50 {
            for symbol in 0..SYMBOLS.len() {
                let (ink, pen) = writers.write(writer, symbol, 0);
                assert!(ink.strokes.iter().flatten().flatten().all(|x| x.is_finite()));
                let picture = ink.crop(45, pen);
                assert!(picture.pixels.iter().any(|&pixel| pixel < 128), "writer {writer} symbol {symbol}");
            }
        }
    }
}
