use wug_bench::mns::derivations::{Derivation, derivations};
use wug_bench::mns::problem::Problem;
use wug_bench::mns::sample::Sampler;
use wug_data::Result;

use super::sampler;
use crate::{Answer, Learner, LearnerInfo, Model, Question, Reads, Task, answer_each};

/// The exact posterior: every derivation of the generator that explains the panels, weighed by its probability, and
/// the answer with the most weight. No solver that knows the generator can do better on average.
pub struct Bayes;

static ABOUT: LearnerInfo = LearnerInfo {
    name: "bayes",
    title: "the most probable answer under the generator's own rules: the optimum",
    benchmarks: &["mns"],
    reads: Reads::Tokens,
    settings: &[],
};

impl Learner for Bayes {
    fn about(&self) -> &'static LearnerInfo {
        &ABOUT
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        Ok(Box::new(Posterior { sampler: sampler(task)? }))
    }
}

struct Posterior {
    sampler: Sampler,
}

impl Model for Posterior {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        answer_each(questions, |question| {
            Ok(match Problem::read(question.input.tokens()?.words()) {
                Ok(problem) => posterior(&problem, &self.sampler),
                Err(what) => Answer::abstain().note("unread", what),
            })
        })
    }
}

/// The answer to a problem, with its probability, its most probable rule and the rule next to it.
pub(super) fn posterior(problem: &Problem, sampler: &Sampler) -> Answer {
    let all = derivations(problem, sampler);
    let mut weights = vec![0.0; usize::from(sampler.parameters().largest) + 1];
    for derivation in &all {
        weights[usize::from(derivation.answer)] += derivation.weight;
    }
    let answer = (1..weights.len()).rev().max_by(|&one, &other| weights[one].total_cmp(&weights[other]));
    let heaviest = |one: &&Derivation, other: &&Derivation| one.weight.total_cmp(&other.weight);
    let best = all.iter().filter(|it| Some(usize::from(it.answer)) == answer).max_by(heaviest);
    let Some(best) = best else { return Answer::abstain().note("derivations", 0) };

    let total: f64 = weights.iter().sum();
    let runner_up = all.iter().filter(|it| *it != best).max_by(heaviest);
    let mut found = Answer {
        text: Some(best.answer.to_string()),
        explanation: Some(best.explain(problem)),
        probability: Some(weights[usize::from(best.answer)] / total),
        ..Answer::default()
    };
    found = found.note("rule", best.rule().to_string()).note("derivations", all.len());
    if let Some(other) = runner_up {
        let text = format!("{} -> {}", other.rule(), other.answer);
        found = found.note("runner_up", text).note("runner_up_probability", other.weight / total);
    }
    found
}
