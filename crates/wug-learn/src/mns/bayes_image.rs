use wug_bench::mns::drawing::{Reader, shift};
use wug_bench::mns::sample::Sampler;
use wug_data::{Picture, Result, Stream, Streams};

use super::bayes::posterior;
use super::sampler;
use crate::SettingKind;
use crate::{Answer, Learner, LearnerInfo, Model, Question, Reads, Setting, Task, answer_each};

/// The optimum from pixels: finds the figure, the numbers and the question mark, then solves as `bayes`. What is done
/// to the picture before it is read can be set, to see how much it takes to mislead it.
pub struct BayesImage;

static ABOUT: LearnerInfo = LearnerInfo {
    name: "bayes-image",
    title: "reads figure and numbers from the pixels, then answers as bayes",
    benchmarks: &["mns"],
    reads: Reads::Images,
    settings: &[
        Setting {
            name: "noise",
            about: "share of pixels that are flipped before reading",
            default: SettingKind::Number { default: 0.0, least: 0.0, most: 1.0 },
        },
        Setting {
            name: "shift",
            about: "pixels by which panels are shifted at most, each way",
            default: SettingKind::Whole { default: 0, least: 0, most: 20 },
        },
    ],
};

impl Learner for BayesImage {
    fn about(&self) -> &'static LearnerInfo {
        &ABOUT
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let sampler = sampler(task)?;
        Ok(Box::new(Sighted {
            reader: Reader::new(sampler.parameters().largest),
            sampler,
            noise: task.settings.number("noise"),
            shift: task.settings.whole("shift") as i32,
            streams: task.streams(ABOUT.name),
        }))
    }
}

struct Sighted {
    reader: Reader,
    sampler: Sampler,
    noise: f64,
    shift: i32,
    streams: Streams,
}

impl Model for Sighted {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        answer_each(questions, |question| {
            let picture = self.disturbed(question.input.image()?.render(), question.stream(&self.streams));
            Ok(match self.reader.read(&picture) {
                Ok(problem) => posterior(&problem, &self.sampler).note("read", problem.to_string()),
                Err(what) => Answer::abstain().note("unread", what),
            })
        })
    }
}

impl Sighted {
    /// The picture, shifted and with flipped pixels.
    fn disturbed(&self, mut picture: Picture, mut stream: Stream) -> Picture {
        let mut step = || stream.below(2 * self.shift as u64 + 1) as i32 - self.shift;
        if self.shift > 0 {
            picture = shift(&picture, step(), step());
        }
        if self.noise > 0.0 {
            for grey in &mut picture.pixels {
                if stream.coin(self.noise) {
                    *grey = 255 - *grey;
                }
            }
        }
        picture
    }
}
