//! One answer to one example, both as text.

use wug_data::{Facts, Result, Sequences, Table, Vocab};

use crate::{Benchmark, Verdict};

/// Judges an answer to an example that is given as text, by a metric or by the benchmark's own.
///
/// Nothing is executed, and work and memory are bounded: the answer may come from anywhere.
///
/// ```
/// use wug_bench::{nacs::Nacs, verify};
///
/// let verdict = verify(&Nacs, None, "I_JUMP I_JUMP", "jump twice", "jump and jump")?;
/// assert!(verdict.correct, "another command with the same actions");
/// assert!(!verify(&Nacs, Some("exact"), "I_JUMP I_JUMP", "jump twice", "jump and jump")?.correct);
/// # Ok::<(), wug_data::Error>(())
/// ```
///
/// # Errors
/// If the benchmark has no such metric.
pub fn verify(
    benchmark: &dyn Benchmark,
    metric: Option<&str>,
    input: &str,
    target: &str,
    answer: &str,
) -> Result<Verdict> {
    let judge = benchmark.judge(metric.unwrap_or(benchmark.metrics()[0].name))?;
    let sequence = |text: &str| {
        let mut sequences = Sequences::new(Vocab::default(), " ");
        sequences.push_words(text.split_whitespace());
        sequences
    };
    let table = Table { inputs: sequence(input), targets: sequence(target), facts: Facts::default() };
    Ok(judge.judge(&table.example(0), answer))
}

#[cfg(test)]
mod tests {
    use crate::{BENCHMARKS, Source};

    use super::*;

    /// The verdict on text is the verdict on the example that the text was made of.
    #[test]
    fn text_is_judged_as_the_example_is() {
        for name in [
            "scan/length",
            "nacs/length",
            "cogs/main",
            "recogs/v2",
            "hint/symbol",
            "mt/en-fr",
            "toy/random-1",
        ] {
            let address: crate::Address = name.parse().unwrap();
            let dataset = address.benchmark.make(&address.dataset, &Source::Seed(0)).unwrap();
            let part = &dataset.parts[1];
            for metric in address.benchmark.metrics() {
                let judge = (metric.judge)();
                for pair in part.rows.windows(2).take(200) {
                    let [example, other] = [pair[0], pair[1]].map(|row| dataset.table.example(row));
                    let (input, target) = (example.input.to_string(), example.target.to_string());
                    for answer in [target.clone(), other.target.to_string(), String::new()] {
                        let verdict =
                            verify(&*address.benchmark, Some(metric.name), &input, &target, &answer).unwrap();
                        assert_eq!(
                            verdict,
                            judge.judge(&example, &answer),
                            "{name} {} {answer}",
                            metric.name
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn an_unknown_metric_is_an_error() {
        for benchmark in BENCHMARKS.iter() {
            assert!(verify(&**benchmark, Some("luck"), "", "", "").is_err());
        }
    }
}
