//! What a run has cost, and what it may still cost.

use crate::{Prices, RequestSettings, Usage};

/// The account of a run: what was spent, and what requests in flight may still spend.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    prices: Prices,
    max_cost: Option<f64>,
    max_tokens: Option<u64>,
    spent: Usage,
    reserved: Usage,
}

/// A limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Cost,
    Tokens,
}

impl Prices {
    /// The price of this usage.
    ///
    /// ```
    /// use wug_llm::{Prices, Usage};
    ///
    /// let prices = Prices { input: 1.0, output: 4.0 };
    /// let usage = Usage { prompt: 500_000, completion: 250_000, ..Usage::default() };
    /// assert_eq!(prices.cost(&usage), 1.5);
    /// ```
    pub fn cost(&self, usage: &Usage) -> f64 {
        (usage.prompt as f64 * self.input + usage.completion as f64 * self.output) / 1e6
    }
}

impl Budget {
    /// The account of a run that has already spent something.
    pub(crate) fn new(settings: &RequestSettings, spent: Usage) -> Self {
        Self {
            prices: settings.prices,
            max_cost: settings.max_cost,
            max_tokens: settings.max_tokens,
            spent,
            reserved: Usage::default(),
        }
    }

    /// The limit that a request which may spend this much would exceed, if all in flight spend all they may.
    pub(crate) fn exceeded(&self, request: &Usage) -> Option<Limit> {
        let mut sum = self.spent;
        sum.add(&self.reserved);
        sum.add(request);
        if self.max_cost.is_some_and(|most| self.prices.cost(&sum) > most) {
            return Some(Limit::Cost);
        }
        self.max_tokens.is_some_and(|most| sum.total() > most).then_some(Limit::Tokens)
    }

    /// A request is sent that may spend this much.
    pub(crate) fn reserve(&mut self, request: &Usage) {
        self.reserved.add(request);
    }

    /// A request has come back: what it might have spent is replaced by what it did.
    pub(crate) fn settle(&mut self, reserved: &Usage, spent: &Usage) {
        self.reserved.prompt = self.reserved.prompt.saturating_sub(reserved.prompt);
        self.reserved.completion = self.reserved.completion.saturating_sub(reserved.completion);
        self.spent.add(spent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt: u64, completion: u64) -> Usage {
        Usage { prompt, completion, ..Usage::default() }
    }

    #[test]
    fn requests_in_flight_count_with_all_they_may_spend() {
        let mut settings = RequestSettings::new("http://localhost", "m");
        settings.prices = Prices { input: 1.0, output: 10.0 };
        settings.max_cost = Some(1.0);
        let mut budget = Budget::new(&settings, usage(0, 50_000));
        let request = usage(100_000, 20_000);
        assert_eq!(budget.exceeded(&request), None);
        budget.reserve(&request);
        assert_eq!(budget.exceeded(&request), Some(Limit::Cost));
        budget.settle(&request, &usage(100_000, 1_000));
        assert_eq!(budget.exceeded(&request), None);
        settings.max_tokens = Some(160_000);
        assert_eq!(Budget::new(&settings, usage(0, 50_000)).exceeded(&request), Some(Limit::Tokens));
    }
}
