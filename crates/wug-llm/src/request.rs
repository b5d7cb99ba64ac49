//! Requests as JSON, and their digests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::RequestSettings;
use crate::prompt::{Api, Content, Rendered};

/// A request, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) url: String,
    pub(crate) body: Vec<u8>,
    /// How many tokens the prompt will count, roughly and rather too many.
    pub(crate) prompt_tokens: u64,
    /// Maximum number of generated tokens.
    pub(crate) reply_tokens: u64,
}

/// Identifies a request: 128 bits of the SHA-256 of URL, body (which names the model) and sample number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RequestKey(pub(crate) [u8; 16]);

/// Tokens that a picture counts; services charge 85 to 1,500.
const IMAGE_TOKENS: u64 = 1_000;

/// Bytes of prompt per token: 4 in English prose, fewer in logical forms.
const BYTES_PER_TOKEN: usize = 3;

impl Request {
    pub(crate) fn new(base: &str, settings: &RequestSettings, rendered: &Rendered, sample: u32) -> Self {
        let body = body(settings, rendered, sample);
        let contents = || rendered.messages.iter().flat_map(|(_, contents)| contents);
        let bytes: usize =
            contents().map(|content| if let Content::Text(text) = content { text.len() } else { 0 }).sum();
        let images = contents().filter(|content| matches!(content, Content::Image(_))).count() as u64;
        Self {
            url: format!("{base}/{}", rendered.api.path()),
            body: body.to_string().into_bytes(),
            prompt_tokens: estimate_tokens(bytes)
                + images * IMAGE_TOKENS
                + 8 * rendered.messages.len() as u64,
            reply_tokens: settings.reply_tokens.unwrap_or(rendered.max_tokens).into(),
        }
    }

    pub(crate) fn key(&self, sample: u32) -> RequestKey {
        let mut hash = Sha256::new();
        for field in [self.url.as_bytes(), &self.body, &sample.to_le_bytes()] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        RequestKey(key)
    }
}

impl RequestKey {
    pub(crate) fn hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        let mut key = [0; 16];
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
        }
        Some(Self(key))
    }
}

/// A rough number of tokens of a text, rather too many.
pub(crate) fn estimate_tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// The request as JSON. Fields are in alphabetical order, so equal requests have equal bytes.
pub(crate) fn body(settings: &RequestSettings, rendered: &Rendered, sample: u32) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(settings.model));
    match rendered.api {
        Api::Chat => {
            let messages = rendered
                .messages
                .iter()
                .map(|(role, contents)| json!({"role": role, "content": content_value(contents)}));
            body.insert("messages".to_owned(), messages.collect());
        }
        Api::Completions => {
            let text = rendered.messages.first().map(|(_, contents)| content_value(contents));
            body.insert("prompt".to_owned(), text.unwrap_or_default());
        }
    }
    let limit = settings.reply_tokens.unwrap_or(rendered.max_tokens);
    // `/v1/completions` never had the newer name.
    let field = match rendered.api {
        Api::Chat => settings.token_field().name(),
        Api::Completions => "max_tokens",
    };
    body.insert(field.to_owned(), json!(limit));
    if !rendered.stop.is_empty() {
        body.insert("stop".to_owned(), json!(rendered.stop));
    }
    if let Some(temperature) = settings.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(top_p) = settings.top_p {
        body.insert("top_p".to_owned(), json!(top_p));
    }
    if let Some(seed) = settings.seed {
        body.insert("seed".to_owned(), json!(seed.wrapping_add(sample.into())));
    }
    if let Some(effort) = &settings.reasoning_effort {
        body.insert("reasoning_effort".to_owned(), json!(effort));
    }
    body.extend(settings.extra.clone());
    Value::Object(body)
}

/// Text alone stays a string, which every server reads; with pictures it becomes a list of parts.
fn content_value(contents: &[Content]) -> Value {
    match contents {
        [] => json!(""),
        [Content::Text(text)] => json!(text),
        parts => parts
            .iter()
            .map(|part| match part {
                Content::Text(text) => json!({"type": "text", "text": text}),
                Content::Image(png) => {
                    let url = format!("data:image/png;base64,{}", STANDARD.encode(png));
                    json!({"type": "image_url", "image_url": {"url": url}})
                }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(contents: Vec<Content>) -> Rendered {
        Rendered { api: Api::Chat, messages: vec![("user", contents)], max_tokens: 9, stop: Vec::new() }
    }

    #[test]
    fn pictures_become_data_urls() {
        let settings = RequestSettings::new("http://localhost:1", "m");
        let rendered = chat(vec![Content::Text("Look:".to_owned()), Content::Image(b"\x89PNG".to_vec())]);
        assert_eq!(
            body(&settings, &rendered, 0).to_string(),
            r#"{"max_tokens":9,"messages":[{"content":[{"text":"Look:","type":"text"},{"image_url":{"url":"data:image/png;base64,iVBORw=="},"type":"image_url"}],"role":"user"}],"model":"m","temperature":0.0}"#
        );
    }

    #[test]
    fn keys_tell_requests_servers_and_samples_apart() {
        let mut settings = RequestSettings::new("http://localhost:1", "m");
        let rendered = chat(vec![Content::Text("a".to_owned())]);
        let request = Request::new("http://localhost:1/v1", &settings, &rendered, 0);
        let key = request.key(0);
        assert_eq!(RequestKey::from_hex(&key.hex()), Some(key));
        assert_ne!(request.key(1), key);
        assert_ne!(Request::new("http://localhost:2/v1", &settings, &rendered, 0).key(0), key);
        settings.model = "n".to_owned();
        assert_ne!(Request::new("http://localhost:1/v1", &settings, &rendered, 0).key(0), key);
        assert_eq!(RequestKey::from_hex("zz"), None);
        assert_eq!(RequestKey::from_hex(&"é".repeat(16)), None);
    }

    #[test]
    fn a_sample_has_its_own_seed() {
        let mut settings = RequestSettings::new("http://localhost:1", "m");
        settings.seed = Some(7);
        let rendered = chat(vec![Content::Text("a".to_owned())]);
        assert_eq!(body(&settings, &rendered, 2)["seed"], 9);
        assert!(body(&settings, &rendered, 0).get("max_completion_tokens").is_none());
    }
}
