use std::time::{Duration, Instant};

use serde_json::Value;

use wug_data::Result;

use crate::{
    Answer, EarlyStop, Learner, LearnerInfo, Lesson, Model, Progress, Question, Reads, SearchProgress,
    Setting, SettingKind, Task, answer_each,
};

/// Finds the grammar of the training pairs, and answers by it.
pub struct Induced;

static ABOUT: LearnerInfo = LearnerInfo {
    name: "induced",
    title: "finds the grammar behind the training pairs: words, rules and types, by description length",
    benchmarks: &[],
    reads: Reads::Tokens,
    settings: &[
        Setting {
            name: "budget",
            about: "time after which the best grammar so far is used",
            default: SettingKind::Seconds { default: 600, least: 1, most: 86_400 },
        },
        Setting {
            name: "steps",
            about: "steps of the general search; the default takes about a minute on two cores",
            default: SettingKind::Whole { default: 400_000_000, least: 1, most: u64::MAX },
        },
    ],
};

impl Learner for Induced {
    fn about(&self) -> &'static LearnerInfo {
        &ABOUT
    }

    fn stops_in_time(&self) -> bool {
        true
    }

    fn learn(&self, task: &Task<'_>) -> Result<Box<dyn Model>> {
        let budget = Duration::from_secs(task.settings.whole("budget"));
        let left = task.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let settings = wug_induce::Settings {
            budget: left.map_or(budget, |left| budget.min(left)),
            steps: task.settings.whole("steps"),
            ..wug_induce::Settings::default()
        };
        let lessons = task.train()?;
        let spaced = |words: Vec<&str>| words.join(" ");
        // Targets that are written without spaces (numbers) are one token.
        let pair = |lesson: Lesson<'_>| {
            Ok((spaced(lesson.input.tokens()?.words().collect()), lesson.target.to_string()))
        };
        let pairs = lessons.iter().map(pair).collect::<Result<Vec<_>>>()?;
        let watch = |progress: wug_induce::Progress| {
            let wug_induce::Progress { steps, of, round, rules, bits, explained } = progress;
            (task.progress)(Progress {
                done: steps,
                of,
                loss: 0.0,
                accuracy: explained,
                best: None,
                images: 0.0,
                rendering: 0.0,
                search: Some(SearchProgress { round, rules, bits }),
            });
        };
        Ok(Box::new(Found { model: wug_induce::learn_watched(pairs, &settings, Some(&watch)) }))
    }
}

struct Found {
    model: wug_induce::Model,
}

impl Found {
    fn answer(&self, question: &Question<'_>) -> Result<Answer> {
        let words: Vec<&str> = question.input.tokens()?.words().collect();
        let prediction = self.model.predict(&words.join(" "));
        let mut answer = match &prediction.abstained {
            Some(why) => Answer::abstain().note("why", why.as_str()),
            None => {
                Answer::new(prediction.text.as_str()).note("bits", (prediction.bits * 10.0).round() / 10.0)
            }
        };
        if prediction.coerced || !prediction.unknown.is_empty() {
            answer = answer.note("unsure", true);
        }
        if !prediction.unknown.is_empty() {
            let words: Vec<Value> = prediction.unknown.iter().map(|word| word.as_str().into()).collect();
            answer = answer.note("unknown_words", words);
        }
        answer.probability = prediction.probability;
        answer.explanation = Some(self.model.derivation(&prediction)).filter(|text| !text.is_empty());
        Ok(answer)
    }
}

impl Model for Found {
    fn answers(&self, questions: &[Question<'_>]) -> Result<Vec<Answer>> {
        answer_each(questions, |question| self.answer(question))
    }

    fn stopped_early(&self) -> Option<EarlyStop> {
        self.model.stopped().map(|stopped| match stopped {
            wug_induce::Stopped::Time => EarlyStop::Time,
            wug_induce::Stopped::Steps => EarlyStop::Steps,
        })
    }

    fn files(&self) -> Vec<(&'static str, String)> {
        vec![("grammar.txt", self.model.text()), ("grammar.json", self.model.save() + "\n")]
    }
}
