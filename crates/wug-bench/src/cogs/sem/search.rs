//! The search for a mapping of variables.

use std::cell::Cell;

use super::Match;
use super::structure::{Argument, Atom, Structure, mix};

/// Choices within choices beyond this are given up as undecided: what reaches it is no logical form of a sentence.
const DEEPEST: usize = 200;

/// Looks for a mapping of the variables of `a` onto those of `b` that maps the atoms onto the atoms.
pub(super) fn search(a: &Structure, b: &Structure, work: &Cell<u64>) -> Match {
    let mut search = Search { a, b, work, mapping: vec![u32::MAX; a.variables()] };
    let all: Vec<u32> = (0..a.variables() as u32).collect();
    let mut colours = (a.first_colours(), b.first_colours());
    match search.solve(&all, &all, &mut colours, 0) {
        // Colours are hashes; this makes the verdict exact.
        Match::Equal if !search.maps() => Match::Undecided,
        outcome => outcome,
    }
}

struct Search<'a> {
    a: &'a Structure,
    b: &'a Structure,
    work: &'a Cell<u64>,
    mapping: Vec<u32>,
}

/// The colours of the variables of both structures.
type Colours = (Vec<u64>, Vec<u64>);

impl Search<'_> {
    /// Maps the variables `left` of `a` onto `right` of `b`. All others that they are related to have been mapped, and
    /// have colours that no variable shares.
    fn solve(&mut self, left: &[u32], right: &[u32], colours: &mut Colours, depth: usize) -> Match {
        match self.refine(left, right, colours) {
            Match::Equal => {}
            outcome => return outcome,
        }
        let left = by_colour(left, &colours.0);
        let right = by_colour(right, &colours.1);
        // Variables of a colour of their own are mapped; the rest falls into parts that do not touch.
        let mut open = Vec::new();
        for (i, &variable) in left.iter().enumerate() {
            if shares_colour(&left, i, &colours.0) {
                open.push(i);
            } else {
                self.mapping[variable as usize] = right[i];
            }
        }
        if open.is_empty() {
            return Match::Equal;
        }
        if depth >= DEEPEST {
            return Match::Undecided;
        }
        let open_left: Vec<u32> = open.iter().map(|&i| left[i]).collect();
        let open_right: Vec<u32> = open.iter().map(|&i| right[i]).collect();
        let parts_left = parts(self.a, &open_left);
        let parts_right = parts(self.b, &open_right);
        if parts_left.len() != parts_right.len() {
            return Match::Different;
        }
        if parts_left.len() == 1 {
            self.choose(&open_left, &open_right, colours, depth)
        } else {
            self.pair_up(&parts_left, parts_right, colours, depth)
        }
    }

    /// Finds for each part of `a` one of `b`. Parts that match are all alike, so the first that does will do.
    fn pair_up(
        &mut self,
        left: &[Vec<u32>],
        right: Vec<Vec<u32>>,
        colours: &mut Colours,
        depth: usize,
    ) -> Match {
        let mut right: Vec<(u64, Vec<u32>)> =
            right.into_iter().map(|part| (fingerprint(&part, &colours.1), part)).collect();
        for part in left {
            let print = fingerprint(part, &colours.0);
            let mut found = None;
            for (i, (candidate_print, candidate)) in right.iter().enumerate() {
                if !self.spend(1) {
                    return Match::Undecided;
                }
                if candidate.len() != part.len() || *candidate_print != print {
                    continue;
                }
                let before = save(part, candidate, colours);
                match self.solve(part, candidate, colours, depth + 1) {
                    Match::Equal => {
                        found = Some(i);
                        break;
                    }
                    Match::Different => restore(part, candidate, colours, before),
                    Match::Undecided => return Match::Undecided,
                }
            }
            match found {
                Some(i) => right.swap_remove(i),
                None => return Match::Different,
            };
        }
        Match::Equal
    }

    /// Takes a variable of the smallest colour and tries every variable of `b` that has it.
    fn choose(&mut self, left: &[u32], right: &[u32], colours: &mut Colours, depth: usize) -> Match {
        let mut best = (usize::MAX, 0);
        let mut start = 0;
        while start < left.len() {
            let colour = colours.0[left[start] as usize];
            let size = left[start..].iter().take_while(|&&v| colours.0[v as usize] == colour).count();
            best = best.min((size, start));
            start += size;
        }
        let (size, start) = best;
        let mark = mix(!(depth as u64));
        for &candidate in &right[start..start + size] {
            let before = save(left, right, colours);
            colours.0[left[start] as usize] = mark;
            colours.1[candidate as usize] = mark;
            match self.solve(left, right, colours, depth + 1) {
                Match::Different => restore(left, right, colours, before),
                outcome => return outcome,
            }
        }
        Match::Different
    }

    /// Refines the colours of `left` and `right` until they are stable; `Different` if they cannot be mapped.
    fn refine(&self, left: &[u32], right: &[u32], colours: &mut Colours) -> Match {
        let mut classes = 0;
        loop {
            let visited = left.iter().map(|&v| 1 + self.a.occurrences[v as usize].len() as u64).sum::<u64>();
            if !self.spend(2 * visited) {
                return Match::Undecided;
            }
            recolour(self.a, left, &mut colours.0);
            recolour(self.b, right, &mut colours.1);
            let sorted = |variables: &[u32], colours: &[u64]| {
                let mut colours: Vec<u64> = variables.iter().map(|&v| colours[v as usize]).collect();
                colours.sort_unstable();
                colours
            };
            let mut of_left = sorted(left, &colours.0);
            if of_left != sorted(right, &colours.1) {
                return Match::Different;
            }
            of_left.dedup();
            // As many colours as before: another round would not tell more apart, and both sides agree on this one.
            if of_left.len() == classes {
                return Match::Equal;
            }
            classes = of_left.len();
        }
    }

    /// Takes from the work that is left; false if that does not suffice.
    fn spend(&self, work: u64) -> bool {
        let rest = self.work.get().checked_sub(work);
        self.work.set(rest.unwrap_or(0));
        rest.is_some()
    }

    /// Whether the mapping turns the atoms of `a` into those of `b`.
    fn maps(&self) -> bool {
        let mut mapped: Vec<Atom> = self
            .a
            .atoms
            .iter()
            .map(|atom| Atom {
                symbol: atom.symbol,
                arguments: atom
                    .arguments
                    .iter()
                    .map(|argument| match *argument {
                        Argument::Variable(variable) => Argument::Variable(self.mapping[variable as usize]),
                        constant @ Argument::Constant(_) => constant,
                    })
                    .collect(),
            })
            .collect();
        mapped.sort_unstable();
        let mut images = self.mapping.clone();
        images.sort_unstable();
        images.windows(2).all(|pair| pair[0] != pair[1]) && mapped == self.b.atoms
    }
}

/// The variables, grouped by which are related, over any number of steps.
fn parts(structure: &Structure, variables: &[u32]) -> Vec<Vec<u32>> {
    let mut part_of = vec![u32::MAX; structure.variables()];
    for &variable in variables {
        part_of[variable as usize] = u32::MAX - 1;
    }
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for &variable in variables {
        if part_of[variable as usize] != u32::MAX - 1 {
            continue;
        }
        let number = parts.len() as u32;
        part_of[variable as usize] = number;
        let mut part = vec![variable];
        let mut next = 0;
        while let Some(&variable) = part.get(next) {
            next += 1;
            for &(atom, _) in &structure.occurrences[variable as usize] {
                for argument in &structure.atoms[atom as usize].arguments {
                    if let Argument::Variable(other) = *argument
                        && part_of[other as usize] == u32::MAX - 1
                    {
                        part_of[other as usize] = number;
                        part.push(other);
                    }
                }
            }
        }
        parts.push(part);
    }
    parts
}

fn recolour(structure: &Structure, variables: &[u32], colours: &mut [u64]) {
    let new: Vec<u64> = variables.iter().map(|&variable| structure.recolour(variable, colours)).collect();
    for (&variable, colour) in variables.iter().zip(new) {
        colours[variable as usize] = colour;
    }
}

fn by_colour(variables: &[u32], colours: &[u64]) -> Vec<u32> {
    let mut sorted = variables.to_vec();
    sorted.sort_by_key(|&variable| (colours[variable as usize], variable));
    sorted
}

/// Whether the variable at `i` of a list that is sorted by colour has the colour of a neighbour.
fn shares_colour(sorted: &[u32], i: usize, colours: &[u64]) -> bool {
    let colour = |i: usize| colours[sorted[i] as usize];
    (i > 0 && colour(i - 1) == colour(i)) || (i + 1 < sorted.len() && colour(i + 1) == colour(i))
}

/// The same number for the same colours in any order.
fn fingerprint(variables: &[u32], colours: &[u64]) -> u64 {
    variables.iter().fold(0u64, |sum, &variable| sum.wrapping_add(mix(colours[variable as usize])))
}

fn save(left: &[u32], right: &[u32], colours: &Colours) -> Colours {
    let pick = |variables: &[u32], colours: &[u64]| variables.iter().map(|&v| colours[v as usize]).collect();
    (pick(left, &colours.0), pick(right, &colours.1))
}

fn restore(left: &[u32], right: &[u32], colours: &mut Colours, before: Colours) {
    for (&variable, colour) in left.iter().zip(before.0) {
        colours.0[variable as usize] = colour;
    }
    for (&variable, colour) in right.iter().zip(before.1) {
        colours.1[variable as usize] = colour;
    }
}
