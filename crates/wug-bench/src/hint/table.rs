//! Expressions as rows of a table: the expression, the digits of its result, and its properties.

use rayon::prelude::*;

use wug_data::{Facts, Sequences, Table, Vocab};

use super::expression::Expression;
use super::grammar::SYMBOLS;
use super::score::RESULT_RANGES;
use super::splits::{Pools, SUBSETS};

/// Rows that are worked out together.
const CHUNK: usize = 1 << 12;

/// Names of the number columns, in the order of [`Columns::numbers`].
const NUMBERS: [&str; 7] =
    ["length", "operators", "depth", "dependency", "parenthesis_depth", "result", "largest_value"];

/// Some rows, column by column.
#[derive(Default)]
struct Columns {
    inputs: Vec<u32>,
    input_lengths: Vec<u32>,
    targets: Vec<u32>,
    target_lengths: Vec<u32>,
    numbers: [Vec<i64>; NUMBERS.len()],
}

impl Columns {
    fn push(&mut self, expression: &Expression) {
        let length = expression.tokens.len();
        self.inputs.extend(expression.tokens.iter().map(|&token| u32::from(token)));
        self.input_lengths.push(length as u32);
        let start = self.targets.len();
        let mut left = expression.result;
        loop {
            self.targets.push((left % 10) as u32);
            left /= 10;
            if left == 0 {
                break;
            }
        }
        self.targets[start..].reverse();
        self.target_lengths.push((self.targets.len() - start) as u32);
        let numbers = [
            length as i64,
            expression.operators() as i64,
            i64::from(expression.depth),
            i64::from(expression.dependency),
            i64::from(expression.parenthesis_depth),
            expression.result as i64,
            expression.largest as i64,
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.push(number);
        }
    }
}

/// The table of all expressions of the pools, one pool behind the other; `subsets` has the subset of each.
pub fn table(pools: &[Pools], subsets: &[u8]) -> Table {
    let both = pools.iter().flat_map(|pools| [&pools.small, &pools.large]);
    let places: Vec<_> = both.flat_map(|pool| (0..pool.len()).map(move |place| (pool, place))).collect();
    let chunks: Vec<Columns> = places
        .par_chunks(CHUNK)
        .map(|places| {
            let (mut columns, mut expression) = (Columns::default(), Expression::default());
            for (pool, place) in places {
                expression.set(pool.get(*place)).expect("what is in a pool has a value");
                columns.push(&expression);
            }
            columns
        })
        .collect();
    join(chunks, subsets)
}

/// The table of expressions in prefix form, all of which have a value.
pub fn table_of(prefixes: &[Vec<u8>], subsets: &[u8]) -> Table {
    let chunks: Vec<Columns> = prefixes
        .par_chunks(CHUNK)
        .map(|prefixes| {
            let (mut columns, mut expression) = (Columns::default(), Expression::default());
            for prefix in prefixes {
                expression.set(prefix).expect("an expression was checked when it was read");
                columns.push(&expression);
            }
            columns
        })
        .collect();
    join(chunks, subsets)
}

fn join(chunks: Vec<Columns>, subsets: &[u8]) -> Table {
    let vocab = |symbols: &str| -> Vocab { symbols.chars().map(|symbol| symbol.to_string()).collect() };
    let mut inputs = Sequences::new(vocab(SYMBOLS), "");
    let mut targets = Sequences::new(vocab("0123456789"), "");
    let mut numbers: [Vec<i64>; NUMBERS.len()] = Default::default();
    for chunk in chunks {
        inputs.extend(chunk.inputs, chunk.input_lengths);
        targets.extend(chunk.targets, chunk.target_lengths);
        for (all, some) in numbers.iter_mut().zip(chunk.numbers) {
            all.extend(some);
        }
    }
    let mut facts = Facts::default();
    facts.add_labels("subset", subsets.iter().map(|&subset| SUBSETS[subset as usize]));
    for (name, numbers) in NUMBERS.into_iter().zip(numbers) {
        facts.add_numbers(name, numbers);
    }
    facts.group("result", RESULT_RANGES);
    facts.group("largest_value", RESULT_RANGES);
    Table { inputs, targets, facts }
}
