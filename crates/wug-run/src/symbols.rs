//! What an image encoder says of the symbols of a part.

use std::collections::BTreeMap;

use wug_data::{Dataset, Error, InputKind, Result, Selection};
use wug_learn::{Image, Model, questions};

/// Images of each symbol that are looked at.
const OF_EACH: usize = 40;

/// The first examples of a part that are searched for them.
const EXAMPLES: usize = 2000;

/// The outputs of the image encoder for the first images of every symbol in a part.
///
/// The encoder sees the images alone; the symbols behind them only name what it says.
pub(crate) fn vectors(
    dataset: &Dataset,
    model: &dyn Model,
    selection: &Selection<'_>,
) -> Result<BTreeMap<String, Vec<Vec<f32>>>> {
    let none =
        || Error::usage("--embedding-map is for networks that read a sequence of images, such as hint/image");
    let encoder = model.image_vectors().ok_or_else(none)?;
    let some = selection.clone().limited(Some(EXAMPLES));
    let asked = questions(dataset, &some, InputKind::Images, None);
    let images = asked.iter().map(|question| question.input.image()).collect::<Result<Vec<Image<'_>>>>()?;
    let mut found: BTreeMap<String, Vec<Vec<f32>>> = BTreeMap::new();
    for ((_, row), vectors) in some.examples().zip(encoder.vectors(&images)) {
        let input = dataset.table.inputs.get(row);
        // Symbols with gaps between them have no window each.
        if input.words().count() == vectors.len() {
            for (symbol, vector) in input.words().zip(vectors) {
                let known = found.entry(symbol.to_owned()).or_default();
                if known.len() < OF_EACH {
                    known.push(vector);
                }
            }
        }
    }
    if found.is_empty() {
        return Err(Error::usage(
            "--embedding-map: the images have no window for each symbol; leave out gap=...",
        ));
    }
    Ok(found)
}
