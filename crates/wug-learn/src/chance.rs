use std::collections::HashSet;

use wug_data::{Result, Streams};

use crate::{Answer, Learner, LearnerInfo, Model, Question, Reads, Task, answer_each};

/// Answers with one of the targets that it has seen in training, each equally likely.
pub struct Chance;

static ABOUT: LearnerInfo = LearnerInfo {
    name: "chance",
    title: "answers with one of the training targets, each equally likely",
    benchmarks: &[],
    reads: Reads::Nothing,
    settings: &[],
};

impl Learner for Chance {
    fn about(&self) -> &'static LearnerInfo {
        &ABOUT
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let mut seen = HashSet::new();
        let lessons = task.train()?;
        let targets = lessons.iter().map(|lesson| lesson.target);
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
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        answer_each(questions, |question| {
            if self.known.is_empty() {
                return Ok(Answer::abstain());
            }
            Ok(Answer::new(question.stream(&self.streams).choose(&self.known)))
        })
    }
}
