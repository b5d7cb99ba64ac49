//! What may be set about the requests, the server and the cost of a run.

use std::time::Duration;

use serde_json::{Map, Value};
use wug_data::{Error, Result};

/// How to ask: the server, the sampling parameters, patience and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSettings {
    /// Base URL of the server, such as `http://localhost:8080` or `https://api.openai.com/v1`; `/v1` is added where the
    /// URL has no path.
    pub endpoint: String,
    /// The model's name, as the server knows it.
    pub model: String,
    /// Maximum number of requests in flight.
    pub concurrency: usize,
    /// Sampling temperature; `None` leaves the field out, which reasoning models of some services insist on.
    pub temperature: Option<f64>,
    /// Nucleus sampling; `None` leaves the field out.
    pub top_p: Option<f64>,
    /// Sampling seed; sample `i` of an item sends `seed + i`. `None` leaves the field out.
    pub seed: Option<u64>,
    /// Maximum number of generated tokens of a request; `None` takes the prompt's.
    pub reply_tokens: Option<u32>,
    /// Name of the request field that carries the maximum; `None` chooses by the host (see [`RequestSettings::token_field`]).
    pub token_field: Option<TokenField>,
    /// `reasoning_effort` of reasoning models.
    pub reasoning_effort: Option<String>,
    /// Further fields of the request body.
    pub extra: Map<String, Value>,
    /// Time from sending a request to having its whole reply.
    pub timeout: Duration,
    /// How often a request is sent again after an error; throttled ones (429, 503) ten times as often.
    pub retries: u32,
    /// The first wait before sending again where the server names none; it doubles up to 16 times as long.
    pub backoff: Duration,
    /// Maximum size of a reply's body in bytes.
    pub max_reply: usize,
    /// Prices, for the total and its limit.
    pub prices: Prices,
    /// The run stops before its cost would exceed this.
    pub max_cost: Option<f64>,
    /// The run stops before its tokens (prompt and completion) would exceed this.
    pub max_tokens: Option<u64>,
}

/// The request field for the maximum number of generated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenField {
    /// `max_tokens`, which every server but OpenAI's reasoning models accepts.
    MaxTokens,
    /// `max_completion_tokens`, which older servers silently ignore.
    MaxCompletionTokens,
}

impl TokenField {
    /// Its name in a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Prices per million tokens, in any currency.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// Of prompt tokens.
    pub input: f64,
    /// Of completion tokens, thinking included.
    pub output: f64,
}

impl RequestSettings {
    /// The defaults for a model behind an endpoint: 8 requests in flight, temperature 0, 600 s, 6 retries, 8 MiB.
    pub fn new(endpoint: &str, model: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            model: model.to_owned(),
            concurrency: 8,
            temperature: Some(0.0),
            top_p: None,
            seed: None,
            reply_tokens: None,
            token_field: None,
            reasoning_effort: None,
            extra: Map::new(),
            timeout: Duration::from_secs(600),
            retries: 6,
            backoff: Duration::from_millis(500),
            max_reply: 8 << 20,
            prices: Prices::default(),
            max_cost: None,
            max_tokens: None,
        }
    }

    /// The base URL, checked: `http` or `https`, no user name, password or query, no slash at the end.
    pub fn base_url(&self) -> Result<String> {
        let shown = wug_data::truncate(&self.endpoint, 200);
        let wrong = |what: &str| Error::usage(format!("endpoint `{shown}` {what}"));
        let url = self.endpoint.trim().trim_end_matches('/');
        let url = url.trim_end_matches("/chat/completions").trim_end_matches("/completions");
        let (scheme, rest) = url.split_once("://").ok_or_else(|| {
            wrong("has no scheme; write it as http://localhost:8080 or https://api.openai.com/v1")
        })?;
        match scheme {
            "http" => (),
            "https" if cfg!(feature = "tls") => (),
            "https" => return Err(wrong("needs HTTPS, which this build of wug lacks (feature `tls`)")),
            _ => return Err(wrong("is neither http nor https")),
        }
        let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
        if host.contains('@') {
            // Not shown: it holds a secret.
            return Err(Error::usage(
                "the endpoint has a user name or password; give the key in an environment variable",
            ));
        }
        if host.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("is not a URL"));
        }
        if rest.contains(['?', '#']) {
            return Err(wrong("has a query; give the base URL only"));
        }
        let path = if path.is_empty() { "v1" } else { path };
        Ok(format!("{scheme}://{host}/{path}"))
    }

    /// The field for the maximum number of generated tokens: as set, or `max_completion_tokens` for OpenAI's own hosts,
    /// whose reasoning models reject the other, and `max_tokens` for all other servers, some of which ignore the first
    /// and would generate without end.
    pub fn token_field(&self) -> TokenField {
        self.token_field.unwrap_or_else(|| {
            let host = self.endpoint.split("://").nth(1).and_then(|rest| rest.split('/').next());
            match host {
                Some(host) if host == "api.openai.com" || host.ends_with(".openai.azure.com") => {
                    TokenField::MaxCompletionTokens
                }
                _ => TokenField::MaxTokens,
            }
        })
    }

    /// Refuses values that cannot work.
    pub fn check(&self) -> Result<()> {
        self.base_url()?;
        let wrong = |what: String| Err(Error::usage(what));
        if self.model.trim().is_empty() {
            return wrong("no model is named; set model=NAME".to_owned());
        }
        if !(1..=4096).contains(&self.concurrency) {
            return wrong(format!("concurrency is {}; it must be from 1 to 4096", self.concurrency));
        }
        for (name, price) in [("price-in", self.prices.input), ("price-out", self.prices.output)] {
            if !price.is_finite() || price < 0.0 {
                return wrong(format!("{name} is {price}; it must be 0 or more"));
            }
        }
        if let Some(cost) = self.max_cost {
            if !cost.is_finite() || cost < 0.0 {
                return wrong(format!("max-cost is {cost}; it must be 0 or more"));
            }
            if self.prices == Prices::default() {
                return wrong(
                    "max-cost needs prices: set price-in and price-out (per million tokens)".to_owned(),
                );
            }
        }
        for field in ["model", "messages", "prompt", "stream", "n"] {
            if self.extra.contains_key(field) {
                return wrong(format!("the extra request fields must not contain `{field}`"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_completed_and_checked() {
        let base = |endpoint: &str| RequestSettings::new(endpoint, "m").base_url();
        for (endpoint, url) in [
            ("http://localhost:8080", "http://localhost:8080/v1"),
            ("http://localhost:8080/", "http://localhost:8080/v1"),
            ("http://localhost:11434/v1/", "http://localhost:11434/v1"),
            ("http://[::1]:80/v1/chat/completions", "http://[::1]:80/v1"),
            ("http://a/api/v1", "http://a/api/v1"),
        ] {
            assert_eq!(base(endpoint).unwrap(), url);
        }
        for endpoint in ["localhost:8080", "ftp://a/", "http://", "http://a b/", "http://a/v1?key=1"] {
            assert!(base(endpoint).unwrap_err().is_usage(), "{endpoint}");
        }
        let error = base("http://me:secret@host/v1").unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn openai_gets_the_new_field_and_others_the_one_they_know() {
        let field = |endpoint: &str| RequestSettings::new(endpoint, "m").token_field().name();
        assert_eq!(field("https://api.openai.com/v1"), "max_completion_tokens");
        assert_eq!(field("http://localhost:8080"), "max_tokens");
    }

    #[test]
    fn a_cost_limit_needs_prices() {
        let mut settings = RequestSettings::new("http://localhost", "m");
        settings.max_cost = Some(1.0);
        assert!(settings.check().unwrap_err().to_string().contains("price-in"));
        settings.prices.output = 2.0;
        settings.check().unwrap();
        settings.extra.insert("stream".to_owned(), true.into());
        assert!(settings.check().is_err());
    }
}
