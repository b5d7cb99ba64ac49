//! How close built-in handwriting is to people's: a perceptron that has seen only built-in symbols reads real ones.
//!
//!     cargo bench -p wug-ink --bench glyphs -- DIR
//!
//! DIR has `images45_trainval.bin` and `index_trainval.tsv` (plain or `.xz`): real 45x45 crops of the 22 symbols with
//! label and split. Printed are the accuracies on the real validation crops of the 16 main symbols, after training on
//! built-in crops (at least 80% is expected) and on the real training crops (at least 97%), and the confusions.

use std::path::Path;
use std::process::{Command, exit};

use wug_data::{Picture, Stream, Streams};
use wug_ink::{Pen, SYMBOLS, Writers};

const CLASSES: usize = 16;
/// Crops are blurred and shrunk to this side: a line one pixel wide is seen or missed by chance otherwise.
const SIDE: usize = 15;
const INPUTS: usize = SIDE * SIDE;
const HIDDEN: usize = 224;
const BATCH: usize = 32;

struct Labelled {
    input: Vec<f32>,
    label: usize,
}

fn main() {
    // `cargo bench` passes `--bench`.
    let Some(folder) = std::env::args().skip(1).find(|word| !word.starts_with("--")) else {
        println!(
            "glyphs: skipped, no folder of real crops given (cargo bench -p wug-ink --bench glyphs -- DIR)"
        );
        return;
    };
    let (train, val) = real(Path::new(&folder)).unwrap_or_else(|what| {
        eprintln!("error: {what}");
        exit(1)
    });
    let built_in = built_in(2500);
    for (name, examples, epochs) in [("built-in", &built_in, 10), ("real", &train, 16)] {
        let network = Network::train(examples, epochs);
        let answers: Vec<(usize, usize)> =
            val.iter().map(|crop| (crop.label, network.classify(&crop.input))).collect();
        let right = answers.iter().filter(|(label, answer)| label == answer).count();
        println!(
            "trained on {} {name} crops: {right} of {} real crops read ({:.2}%)",
            examples.len(),
            val.len(),
            100.0 * right as f64 / val.len() as f64
        );
        for class in 0..CLASSES {
            let own: Vec<usize> =
                answers.iter().filter(|(label, _)| *label == class).map(|(_, answer)| *answer).collect();
            let wrong = (0..CLASSES).filter(|&other| other != class);
            let mut confused: Vec<(usize, usize)> =
                wrong.map(|other| (own.iter().filter(|&&answer| answer == other).count(), other)).collect();
            confused.sort_unstable();
            let character = |class: usize| SYMBOLS.as_bytes()[class] as char;
            let worst = confused.iter().rev().take(3).filter(|(n, _)| *n > 0);
            let as_what: Vec<String> =
                worst.map(|(n, other)| format!("{n} as {}", character(*other))).collect();
            println!(
                "  {}  {:6.2}% of {:3}  {}",
                character(class),
                100.0 * own.iter().filter(|&&answer| answer == class).count() as f64
                    / own.len().max(1) as f64,
                own.len(),
                as_what.join(" ")
            );
        }
    }
}

/// Crops of writers that the crops of no other run share.
fn built_in(writers: u64) -> Vec<Labelled> {
    let hands = Writers::new(1);
    (0..writers)
        .flat_map(|writer| (0..CLASSES).map(move |label| (writer, label)))
        .map(|(writer, label)| {
            let (ink, _) = hands.write(writer, label, 0);
            Labelled { input: features(&ink.crop(45, Pen::Thin)), label }
        })
        .collect()
}

/// The real training and validation crops.
fn real(folder: &Path) -> Result<(Vec<Labelled>, Vec<Labelled>), String> {
    let images = read(folder, "images45_trainval.bin")?;
    let index = String::from_utf8(read(folder, "index_trainval.tsv")?).map_err(|error| error.to_string())?;
    let header = images.get(..16).filter(|header| header.starts_with(b"HW45")).ok_or("no HW45 header")?;
    let word =
        |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
    let (count, size, bytes) = (word(4), word(8), word(12));
    if size != 45 || images.len() != 16 + count * size * bytes {
        return Err(format!("images45_trainval.bin has {} bytes for {count} crops", images.len()));
    }
    let (mut train, mut val) = (Vec::new(), Vec::new());
    for (i, line) in index.lines().skip(1).enumerate().take(count) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, label, split, ..] = fields.as_slice() else {
            return Err(format!("index line {}: {line}", i + 2));
        };
        let label = match *label {
            "times" => "*",
            "div" => "/",
            label => label,
        };
        let Some(label) = SYMBOLS.find(label).filter(|&label| label < CLASSES) else { continue };
        let rows = images[16 + i * size * bytes..].chunks(bytes).take(size);
        let ink = |row: &[u8], x: usize| row[x / 8] >> (7 - x % 8) & 1 == 1;
        let pixels = rows.flat_map(|row| (0..size).map(move |x| if ink(row, x) { 0 } else { 255 })).collect();
        let input = features(&Picture { width: 45, height: 45, pixels });
        let part = if *split == "train" { &mut train } else { &mut val };
        part.push(Labelled { input, label });
    }
    Ok((train, val))
}

/// A file, or what `xz` makes of its compressed form.
fn read(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let plain = folder.join(name);
    if plain.is_file() {
        return std::fs::read(&plain).map_err(|error| format!("{}: {error}", plain.display()));
    }
    let packed = folder.join(format!("{name}.xz"));
    let output = Command::new("xz").arg("-dc").arg(&packed).output();
    match output {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => {
            Err(format!("{}: {}", packed.display(), String::from_utf8_lossy(&output.stderr).trim()))
        }
        Err(error) => Err(format!("xz: {error}")),
    }
}

/// Ink in cells of 3x3 pixels, each with a share of its neighbours'.
fn features(crop: &Picture) -> Vec<f32> {
    let ink = |x: i32, y: i32| {
        let inside = (0..45).contains(&x) && (0..45).contains(&y);
        if inside { f32::from(255 - crop.pixels[(y * 45 + x) as usize]) / 255.0 } else { 0.0 }
    };
    let cell = |column: usize, row: usize| {
        let (x, y) = (column as i32 * 3 + 1, row as i32 * 3 + 1);
        let mut sum = 0.0;
        for dy in -3i32..=3 {
            for dx in -3i32..=3 {
                // A tent that falls from 1 at the centre to nothing beyond its neighbours' centres.
                let weight = (1.0 - dx.abs() as f32 / 4.0) * (1.0 - dy.abs() as f32 / 4.0);
                sum += weight * ink(x + dx, y + dy);
            }
        }
        (sum / 4.0).min(2.0)
    };
    (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (column, row))).map(|(c, r)| cell(c, r)).collect()
}

/// One hidden layer of rectified units, trained with Adam.
struct Network {
    hidden: Layer,
    output: Layer,
}

struct Layer {
    inputs: usize,
    /// A row for each output, the bias last.
    weights: Vec<f32>,
    gradient: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, random: &mut Stream) -> Self {
        let n = (inputs + 1) * outputs;
        let spread = (6.0 / inputs as f32).sqrt();
        let weights = (0..n).map(|_| (random.unit() as f32 * 2.0 - 1.0) * spread).collect();
        Self { inputs, weights, gradient: vec![0.0; n], first: vec![0.0; n], second: vec![0.0; n] }
    }

    fn forward(&self, input: &[f32]) -> Vec<f32> {
        let rows = self.weights.chunks_exact(self.inputs + 1);
        rows.map(|row| dot(&row[..self.inputs], input) + row[self.inputs]).collect()
    }

    /// Adds to the gradient, and says what to change of the input.
    fn backward(&mut self, input: &[f32], change: &[f32]) -> Vec<f32> {
        let mut back = vec![0.0; self.inputs];
        let rows = self.weights.chunks_exact(self.inputs + 1);
        for ((row, gradient), &change) in
            rows.zip(self.gradient.chunks_exact_mut(self.inputs + 1)).zip(change)
        {
            if change == 0.0 {
                continue;
            }
            for ((back, weight), (gradient, input)) in
                back.iter_mut().zip(row).zip(gradient.iter_mut().zip(input))
            {
                *back += change * weight;
                *gradient += change * input;
            }
            gradient[self.inputs] += change;
        }
        back
    }

    fn step(&mut self, rate: f32) {
        let state = self.first.iter_mut().zip(&mut self.second);
        for ((weight, gradient), (first, second)) in
            self.weights.iter_mut().zip(&mut self.gradient).zip(state)
        {
            *first += 0.1 * (*gradient - *first);
            *second += 0.001 * (*gradient * *gradient - *second);
            *weight -= rate * *first / (second.sqrt() + 1e-4);
            *gradient = 0.0;
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 16];
    let (a_blocks, b_blocks) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_blocks.zip(b_blocks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + rest
}

impl Network {
    fn train(examples: &[Labelled], epochs: usize) -> Self {
        let streams = Streams::new("glyphs", "network", 0);
        let mut random = streams.item(0);
        let mut network = Self {
            hidden: Layer::new(INPUTS, HIDDEN, &mut random),
            output: Layer::new(HIDDEN, CLASSES, &mut random),
        };
        let mut order: Vec<usize> = (0..examples.len()).collect();
        for epoch in 0..epochs {
            random.shuffle(&mut order);
            // The rate falls along a straight line to nothing.
            let rate = 2e-3 * (1.0 - epoch as f32 / epochs as f32);
            for batch in order.chunks(BATCH) {
                for &i in batch {
                    network.learn(&examples[i]);
                }
                network.hidden.step(rate);
                network.output.step(rate);
            }
        }
        network
    }

    fn hidden(&self, input: &[f32]) -> Vec<f32> {
        self.hidden.forward(input).into_iter().map(|x| x.max(0.0)).collect()
    }

    fn learn(&mut self, example: &Labelled) {
        let hidden = self.hidden(&example.input);
        let scores = self.output.forward(&hidden);
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let shares: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f32 = shares.iter().sum();
        let change: Vec<f32> = (0..CLASSES)
            .map(|class| (shares[class] / total - f32::from(u8::from(class == example.label))) / BATCH as f32)
            .collect();
        let back = self.output.backward(&hidden, &change);
        let back: Vec<f32> = back.iter().zip(&hidden).map(|(b, h)| if *h > 0.0 { *b } else { 0.0 }).collect();
        self.hidden.backward(&example.input, &back);
    }

    fn classify(&self, input: &[f32]) -> usize {
        let scores = self.output.forward(&self.hidden(input));
        (0..CLASSES).fold(0, |best, class| if scores[class] > scores[best] { class } else { best })
    }
}
