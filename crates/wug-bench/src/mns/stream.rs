//! The endless stream: problems, whose condition follows from their number, shared out between train and test by the
//! hash of what is asked.

use wug_data::{Example, Picture, Result, Stream, Table};

use super::drawing::draw_beside;
use super::problem::Problem;
use super::sample::Sampler;
use super::splits::{Design, Row, Rows};
use crate::Items;
use crate::stream::{Generator, belongs};

/// Draws problems.
struct Problems {
    design: Design,
    sampler: Sampler,
    /// How far a number may stand beside its place, in pixels.
    jitter: u8,
}

/// The stream of a design.
pub(super) fn stream(design: Design, jitter: u8) -> Result<Box<dyn Items>> {
    let sampler = Sampler::new(design.parameters.clone())?;
    Ok(Box::new(Problems { design, sampler, jitter }))
}

impl Generator for Problems {
    type Row = Row;

    fn splits(&self) -> Vec<&'static str> {
        vec!["train", "test"]
    }

    fn draw(&self, split: &str, i: u64, random: &mut Stream) -> Option<Row> {
        let condition = self.design.conditions[(i % self.design.conditions.len() as u64) as usize];
        let row = Row::from(self.sampler.problem(condition, random));
        belongs(&row.problem.to_string(), split).then_some(row)
    }

    fn table(&self, rows: Vec<Row>) -> Table {
        Rows { rows }.table()
    }

    fn picture(&self, _: &str, item: &Example<'_>, random: &mut Stream) -> Option<Picture> {
        let problem = Problem::read(item.input.words()).ok()?;
        let mut step = || random.below(2 * u64::from(self.jitter) + 1) as i32 - i32::from(self.jitter);
        Some(draw_beside(&problem, || (step(), step())))
    }
}
