use wug_data::Result;

use crate::{Answer, Learner, LearnerInfo, Model, Question, Reads, Task};

/// Answers 1, the most frequent answer of MNS: what any learner of numbers must beat.
pub struct AlwaysOne;

static ABOUT: LearnerInfo = LearnerInfo {
    name: "always-one",
    title: "answers 1, the most frequent number",
    benchmarks: &["mns", "hint"],
    reads: Reads::Nothing,
    settings: &[],
};

impl Learner for AlwaysOne {
    fn about(&self) -> &'static LearnerInfo {
        &ABOUT
    }

    fn learn(&self, _task: &Task<'_>) -> Result<Box<dyn Model>> {
        Ok(Box::new(One))
    }
}

struct One;

impl Model for One {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        Ok(vec![Answer::new("1"); questions.len()])
    }
}
