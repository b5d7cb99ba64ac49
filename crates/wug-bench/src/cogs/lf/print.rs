//! Logical forms to text.

use super::{Form, Join, Notation, Term, tree};

impl Form<'_> {
    /// Writes the form, tokens separated by single spaces.
    ///
    /// The notations differ in what their conjuncts look like, not only in how they are written: a form of COGS is
    /// written as ReCOGS by [`recogs`](crate::cogs::convert::recogs), which makes names predicates.
    pub fn print(&self, notation: Notation) -> String {
        let mut out = String::new();
        for name in &self.lambdas {
            out.push_str("LAMBDA ");
            out.push_str(name);
            out.push_str(" . ");
        }
        if notation == Notation::VariableFree && self.lambdas.is_empty() {
            tree::print(self, &mut out);
            return out;
        }
        if self.opens_with_semicolon {
            out.push_str(" ; ");
        }
        for (i, conjunct) in self.conjuncts.iter().enumerate() {
            if i > 0 {
                out.push_str(match conjunct.join {
                    Join::Semicolon => " ; ",
                    Join::And => " AND ",
                });
            }
            if conjunct.definite {
                out.push_str("* ");
            }
            for (i, word) in conjunct.predicate().enumerate() {
                if i > 0 {
                    out.push_str(" . ");
                }
                out.push_str(word);
            }
            write_arguments(&conjunct.arguments, notation, &mut out);
        }
        out
    }
}

fn write_arguments(arguments: &[Term<'_>], notation: Notation, out: &mut String) {
    if arguments.is_empty() {
        return;
    }
    out.push_str(if notation.has_parentheses() { " ( " } else { " " });
    for (i, argument) in arguments.iter().enumerate() {
        if i > 0 {
            out.push_str(if notation.has_commas() { " , " } else { " " });
        }
        if let (Term::Variable(_), Notation::Cogs | Notation::VariableFree) = (argument, notation) {
            out.push_str("x _ ");
        }
        out.push_str(argument.name());
    }
    if notation.has_parentheses() {
        out.push_str(" )");
    }
}
