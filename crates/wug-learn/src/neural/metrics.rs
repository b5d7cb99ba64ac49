//! The learning curve: a line of `metrics.jsonl` every hundred updates and after every validation, and the same for TensorBoard.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Value, json};

use wug_data::{Result, write_file};

use super::checkpoint::Best;
use super::tensorboard;

/// Name of the metrics in a run folder.
pub(super) const METRICS: &str = "metrics.jsonl";

/// The lines up to some update. What training computed is part of the checkpoint; when it did is not, so that a run leaves
/// the same checkpoint however long it took.
#[derive(Debug, Clone, Default)]
pub(super) struct Metrics {
    lines: Vec<String>,
    /// When each line was written, in seconds since 1970.
    times: Vec<Option<f64>>,
}

/// What a line says.
pub(super) struct Point<'a> {
    pub(super) step: u64,
    pub(super) epoch: u64,
    pub(super) loss: f64,
    pub(super) accuracy: f64,
    pub(super) rate: f64,
    /// Accuracy on the validation part, if it was measured after this update.
    pub(super) validation: Option<f64>,
    pub(super) best: Option<&'a Best>,
}

impl Metrics {
    /// Those of a checkpoint, with the times that the metrics file in its folder knows.
    pub(super) fn of_checkpoint(lines: Vec<String>, folder: &Path) -> Self {
        #[derive(Deserialize)]
        struct Timed {
            step: u64,
            #[serde(default)]
            time: Option<f64>,
        }
        let written = fs::read_to_string(folder.join(METRICS)).unwrap_or_default();
        let timed = |line: &str| serde_json::from_str::<Timed>(line).ok();
        let known: HashMap<u64, Option<f64>> =
            written.lines().filter_map(timed).map(|timed| (timed.step, timed.time)).collect();
        let time = |line: &String| known.get(&timed(line)?.step).copied().flatten();
        let times = lines.iter().map(time).collect();
        Self { lines, times }
    }

    /// The lines without their times.
    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Adds a line.
    pub(super) fn push(&mut self, point: &Point<'_>) {
        let mut line = json!({
            "step": point.step,
            "epoch": point.epoch,
            "loss": point.loss,
            "accuracy": point.accuracy,
            "rate": point.rate,
        });
        if let Some(accuracy) = point.validation {
            line["validation"] = json!(accuracy);
        }
        if let Some(best) = point.best {
            line["best"] = json!({ "step": best.step, "accuracy": best.accuracy });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|time| time.as_secs_f64());
        self.lines.push(line.to_string());
        self.times.push(now);
    }

    /// Writes both files into a run folder, each completely or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write_file(&folder.join(METRICS), |out| {
            self.lines.iter().zip(&self.times).try_for_each(|(line, time)| match time {
                Some(time) => {
                    writeln!(out, "{},\"time\":{time:.3}}}", line.strip_suffix('}').unwrap_or(line))
                }
                None => writeln!(out, "{line}"),
            })
        })?;
        let parsed = |(line, time): (&String, &Option<f64>)| Some((serde_json::from_str(line).ok()?, *time));
        let events: Vec<(Value, Option<f64>)> =
            self.lines.iter().zip(&self.times).filter_map(parsed).collect();
        write_file(&folder.join(tensorboard::EVENTS), |out| tensorboard::write(&events, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_but_are_not_part_of_the_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let mut metrics = Metrics::default();
        for step in [100, 200] {
            metrics.push(&Point {
                step,
                epoch: 1,
                loss: 0.5,
                accuracy: 0.25,
                rate: 0.001,
                validation: (step == 200).then_some(0.75),
                best: None,
            });
        }
        metrics.write(folder.path()).unwrap();
        let written = fs::read_to_string(folder.path().join(METRICS)).unwrap();
        let lines: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[1]["validation"], 0.75);
        assert!(lines.iter().all(|line| line["time"].as_f64().unwrap() > 1.7e9));

        let kept = metrics.lines().to_vec();
        assert!(kept.iter().all(|line| !line.contains("time")));
        Metrics::of_checkpoint(kept, folder.path()).write(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join(METRICS)).unwrap(), written);
    }
}
