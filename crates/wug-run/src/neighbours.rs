//! Which training inputs a recurrent network takes to be like a given one: Table 1 of the SCAN paper.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use wug_data::{Dataset, Error, Result, Tokens};
use wug_learn::{Learner, Model};

/// How many are shown, as in the paper.
const SHOWN: usize = 5;

/// The training inputs nearest to an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbours {
    /// The input.
    pub input: String,
    /// The nearest first.
    pub nearest: Vec<Neighbour>,
}

/// A training input that is near.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The input.
    pub input: String,
    /// Cosine similarity of the decoder's last states.
    pub cosine: f64,
}

/// The inputs of the dataset with these words, or why there will be no neighbours.
pub(crate) fn find<'a>(
    dataset: &'a Dataset,
    learner: &dyn Learner,
    asked: &[String],
) -> Result<Vec<Tokens<'a>>> {
    if !asked.is_empty() && !learner.has_decoder_states() {
        let name = learner.about().name;
        return Err(Error::usage(format!(
            "{name} has no states of a decoder: --neighbours is for recurrent networks"
        )));
    }
    let inputs = &dataset.table.inputs;
    let all = || (0..inputs.len() as u32).map(|row| inputs.get(row));
    let find = |text: &String| {
        all().find(|input| input.same_words(text)).ok_or_else(|| {
            let shown = wug_data::truncate(text, 60);
            Error::usage(format!("--neighbours: `{shown}` is not among the inputs of {}", dataset.name))
        })
    };
    asked.iter().map(find).collect()
}

/// The training inputs that are nearest to each of these, by the cosine of the states in which the decoder ends; an input
/// is not its own neighbour.
pub(crate) fn nearest(dataset: &Dataset, model: &dyn Model, asked: &[Tokens<'_>]) -> Result<Vec<Neighbours>> {
    let mut seen = HashSet::new();
    let train = dataset.select("train")?;
    let rows = train.examples().map(|(_, row)| dataset.table.inputs.get(row));
    let known: Vec<Tokens<'_>> = rows.filter(|input| seen.insert(input.ids())).collect();
    let Some(model) = model.decoder_states() else { return Ok(Vec::new()) };
    let (states, own) = (model.final_states(&known), model.final_states(asked));
    let near = |(input, own): (&Tokens<'_>, &Vec<f32>)| {
        let others = known.iter().zip(&states).filter(|(other, _)| other.ids() != input.ids());
        let mut near: Vec<(f64, &Tokens<'_>)> =
            others.map(|(other, state)| (cosine(own, state), other)).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.truncate(SHOWN);
        let neighbour = |(cosine, other): (f64, &Tokens<'_>)| Neighbour { input: other.to_string(), cosine };
        Neighbours { input: input.to_string(), nearest: near.into_iter().map(neighbour).collect() }
    };
    Ok(asked.iter().zip(&own).map(near).collect())
}

/// The cosine of the angle between two vectors; 0 if one of them is 0.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn the_cosine_is_that_of_the_angle() {
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), 0.0);
        assert!((cosine(&[1.0, 1.0], &[3.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((cosine(&[1.0, 0.0], &[-1.0, 1.0]) + 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 1.0]), 0.0);
    }
}
