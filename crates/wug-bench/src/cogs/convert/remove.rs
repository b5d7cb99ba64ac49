//! Token removal: the same logical forms without tokens that say nothing.

use super::super::files::Row;
use super::super::lf::Removal;

/// Leaves the tokens out of every logical form, those of primitives included.
pub fn convert(mut rows: Vec<Row>, removal: Removal) -> Vec<Row> {
    for row in &mut rows {
        let kept: Vec<&str> = row.form.split(' ').filter(|token| !removal.tokens().contains(token)).collect();
        row.form = kept.join(" ");
    }
    rows
}
