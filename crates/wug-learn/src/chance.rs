use std::collections::HashSet;

use wug_data::{Result, Streams};

use crate::{About, Answer, Learner, Model, Question, Task};

/// Answers with one of the targets that it has seen in training, each equally likely.
pub struct Chance;

static ABOUT: About = About {
    name: "chance",
    title: "answers with one of the training targets, each equally likely",
    benchmarks: &[],
    settings: &[],
};

impl Learner for Chance {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let mut seen = HashSet::new();
        let lessons = task.train()?;
        let targets = lessons.examples().map(|example| example.target);
        let known =
            targets.filter(|target| seen.insert(target.ids())).map(|target| target.to_string()).collect();
        Ok(Box::new(Known { known, streams: task.streams(ABOUT.name) }))
    }
}

struct Known {
    known: Vec<String>,
    streams: Streams,
}

impl Model for Known {
    fn answer(&self, question: &Question<'_>) -> Answer {
        if self.known.is_empty() {
            return Answer::abstain();
        }
        Answer::new(question.stream(&self.streams).choose(&self.known))
    }
}
