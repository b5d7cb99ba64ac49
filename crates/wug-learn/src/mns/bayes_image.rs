use wug_bench::mns::drawing::{Reader, draw_beside, shift};
use wug_bench::mns::problem::Problem;
use wug_bench::mns::sample::Sampler;
use wug_data::{Picture, Result, Stream, Streams};

use super::bayes::posterior;
use super::sampler;
use crate::settings::Default;
use crate::{About, Answer, Learner, Model, Question, Setting, Task};

/// The optimum from pixels: finds the figure, the numbers and the question mark, then solves as `bayes`. What is done
/// to the picture before it is read can be set, to see how much it takes to mislead it.
pub struct BayesImage;

static ABOUT: About = About {
    name: "bayes-image",
    title: "reads figure and numbers from the pixels, then answers as bayes",
    benchmarks: &["mns"],
    settings: &[
        Setting {
            name: "noise",
            about: "share of pixels that are flipped before reading",
            default: Default::Number { default: 0.0, least: 0.0, most: 1.0 },
        },
        Setting {
            name: "shift",
            about: "pixels by which panels are shifted at most, each way",
            default: Default::Whole { default: 0, least: 0, most: 20 },
        },
        Setting {
            name: "jitter",
            about: "pixels (of 300) by which each number is moved at most; redraws the picture",
            default: Default::Whole { default: 0, least: 0, most: 20 },
        },
    ],
};

impl Learner for BayesImage {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let sampler = sampler(task)?;
        Ok(Box::new(Sighted {
            reader: Reader::new(sampler.parameters().largest),
            sampler,
            noise: task.settings.number("noise"),
            shift: task.settings.whole("shift") as i32,
            jitter: task.settings.whole("jitter") as i32,
            streams: task.streams(ABOUT.name),
        }))
    }
}

struct Sighted {
    reader: Reader,
    sampler: Sampler,
    noise: f64,
    shift: i32,
    jitter: i32,
    streams: Streams,
}

impl Model for Sighted {
    fn answer(&self, question: &Question<'_>) -> Answer {
        let mut stream = question.stream(&self.streams);
        let Some(picture) = self.disturbed(question, &mut stream) else {
            return Answer::abstain().note("unread", "no picture");
        };
        match self.reader.read(&picture) {
            Ok(problem) => posterior(&problem, &self.sampler).note("read", problem.to_string()),
            Err(what) => Answer::abstain().note("unread", what),
        }
    }
}

impl Sighted {
    /// The picture, shifted and with flipped pixels.
    fn disturbed(&self, question: &Question<'_>, stream: &mut Stream) -> Option<Picture> {
        let step = |stream: &mut Stream, most: i32| stream.below(2 * most as u64 + 1) as i32 - most;
        let mut picture = if self.jitter > 0 {
            let problem = Problem::read(question.input.words()).ok()?;
            draw_beside(&problem, || (step(stream, self.jitter), step(stream, self.jitter)))
        } else {
            question.picture()?
        };
        if self.shift > 0 {
            picture = shift(&picture, step(stream, self.shift), step(stream, self.shift));
        }
        if self.noise > 0.0 {
            for grey in &mut picture.pixels {
                if stream.coin(self.noise) {
                    *grey = 255 - *grey;
                }
            }
        }
        Some(picture)
    }
}
