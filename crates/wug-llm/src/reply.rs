//! What a server answers, read tolerantly.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Key;
use crate::request::{Request, estimate_tokens};

/// One reply, as it is journalled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The text, without thinking; `None` where the server sent null.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) thinking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) finish_reason: Option<String>,
    /// The model that the server says answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) system_fingerprint: Option<String>,
    pub(crate) usage: Usage,
}

/// Tokens of a request, or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens generated, thinking included.
    pub completion: u64,
    /// Of these, thinking.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub reasoning: u64,
    /// Prompt tokens that the server had cached.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub cached: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde wants.
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Usage {
    /// Prompt and completion together.
    pub fn total(&self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.cached = self.cached.saturating_add(other.cached);
    }
}

#[derive(Deserialize)]
struct Wire {
    choices: Option<Vec<Choice>>,
    usage: Option<WireUsage>,
    model: Option<String>,
    system_fingerprint: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<i64>,
    message: Option<Message>,
    text: Option<String>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Message {
    content: Option<MessageContent>,
    refusal: Option<Lenient>,
    reasoning: Option<Lenient>,
    reasoning_content: Option<Lenient>,
    reasoning_details: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MessageContent {
    Text(String),
    Parts(Vec<Part>),
    Other(IgnoredAny),
}

/// A text; anything else is as good as nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient {
    Text(String),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct Part {
    r#type: Option<String>,
    text: Option<String>,
    summary: Option<String>,
}

#[derive(Deserialize, Default)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    completion_tokens_details: Option<CompletionDetails>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize, Default)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl Lenient {
    fn text(this: Option<Self>) -> Option<String> {
        match this {
            Some(Self::Text(text)) if !text.is_empty() => Some(text),
            Some(Self::Text(_) | Self::Other(_)) | None => None,
        }
    }
}

impl Reply {
    /// Reads a reply's body. The error says what is wrong with it.
    pub(crate) fn parse(body: &[u8], request: &Request, key: &Key) -> Result<Self, String> {
        let wire: Wire = serde_json::from_slice(body).map_err(|error| format!("invalid JSON: {error}"))?;
        if let Some(error) = &wire.error {
            return Err(format!("an error in place of a reply: {}", error_message(error)));
        }
        // Choices come in any order; one was asked for.
        let choices = wire.choices.unwrap_or_default().into_iter();
        let choice =
            choices.min_by_key(|choice| choice.index.unwrap_or(0)).ok_or("a reply without choices")?;
        let message = choice.message.unwrap_or_default();
        let (content, part_thinking) = match message.content {
            Some(MessageContent::Text(text)) => (Some(text), None),
            Some(MessageContent::Parts(parts)) => split_parts(parts),
            Some(MessageContent::Other(_)) | None => (choice.text, None),
        };
        let details = message.reasoning_details.map(|parts| {
            parts.into_iter().filter_map(|part| part.text.or(part.summary)).collect::<Vec<_>>().join("\n")
        });
        let (text, tagged) = match content {
            Some(content) => {
                let (text, thinking) = separate_thinking(content);
                (Some(text), thinking)
            }
            None => (None, None),
        };
        let thinking = Lenient::text(message.reasoning_content)
            .or(Lenient::text(message.reasoning))
            .or(details.filter(|details| !details.is_empty()))
            .or(part_thinking)
            .or(tagged);
        let redact = |text: Option<String>| text.map(|text| key.redact(text));
        let (text, thinking) = (redact(text), redact(thinking));
        let usage = usage(wire.usage, request, text.as_deref(), thinking.as_deref());
        Ok(Self {
            text,
            thinking,
            refusal: redact(Lenient::text(message.refusal)),
            finish_reason: redact(choice.finish_reason),
            model: redact(wire.model),
            system_fingerprint: redact(wire.system_fingerprint),
            usage,
        })
    }

    /// Whether the server or the model refused to answer.
    pub(crate) fn refused(&self) -> Option<&str> {
        match (&self.refusal, self.finish_reason.as_deref()) {
            (Some(refusal), _) => Some(refusal),
            (None, Some("content_filter")) => Some("content filter"),
            _ => None,
        }
    }

    /// Whether it ended at the maximum number of tokens.
    pub(crate) fn cut_off(&self) -> bool {
        self.finish_reason.as_deref() == Some("length")
    }
}

fn split_parts(parts: Vec<Part>) -> (Option<String>, Option<String>) {
    let (thinking, text): (Vec<Part>, Vec<Part>) =
        parts.into_iter().partition(|part| matches!(part.r#type.as_deref(), Some("thinking" | "reasoning")));
    let join = |parts: Vec<Part>| {
        let joined: String = parts.into_iter().filter_map(|part| part.text).collect();
        (!joined.is_empty()).then_some(joined)
    };
    (join(text), join(thinking))
}

/// Separates `<think>...</think>` from what follows. Some chat templates put the opening tag into the prompt, so that a
/// reply begins with thinking and has a closing tag only; a reply cut off while thinking has an opening tag only.
fn separate_thinking(content: String) -> (String, Option<String>) {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    let trimmed = content.trim_start();
    if let Some(end) = content.rfind(CLOSE) {
        let before = content[..end].trim_start();
        let thinking = before.strip_prefix(OPEN).unwrap_or(before).trim().to_owned();
        return (content[end + CLOSE.len()..].to_owned(), Some(thinking));
    }
    match trimmed.strip_prefix(OPEN) {
        Some(thinking) => (String::new(), Some(thinking.trim().to_owned())),
        None => (content, None),
    }
}

/// What the server counted, or where it did not, an estimate.
fn usage(wire: Option<WireUsage>, request: &Request, text: Option<&str>, thinking: Option<&str>) -> Usage {
    let wire = wire.unwrap_or_default();
    let bytes = text.map_or(0, str::len) + thinking.map_or(0, str::len);
    Usage {
        prompt: wire.prompt_tokens.unwrap_or(request.prompt_tokens),
        completion: wire.completion_tokens.unwrap_or_else(|| estimate_tokens(bytes)),
        reasoning: wire.completion_tokens_details.and_then(|details| details.reasoning_tokens).unwrap_or(0),
        cached: wire.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0),
    }
}

/// The message of an error object, in any of the shapes that servers use.
pub(crate) fn error_message(error: &Value) -> String {
    let inner = error.get("error").unwrap_or(error);
    let message = inner.get("message").or_else(|| inner.get("detail")).unwrap_or(inner);
    let text = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<Reply, String> {
        let request = Request { url: String::new(), body: Vec::new(), prompt_tokens: 11, reply_tokens: 5 };
        Reply::parse(body.as_bytes(), &request, &Key::none())
    }

    fn content(message: &str) -> (Option<String>, Option<String>) {
        let reply = parse(&format!(r#"{{"choices":[{{"message":{message}}}]}}"#)).unwrap();
        (reply.text, reply.thinking)
    }

    #[test]
    fn choices_are_taken_by_index() {
        let reply = parse(
            r#"{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"},
            "finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4,
            "completion_tokens_details":{"reasoning_tokens":2},"prompt_tokens_details":{"cached_tokens":1}}}"#,
        )
        .unwrap();
        assert_eq!(reply.text.as_deref(), Some("a"));
        assert_eq!(reply.usage, Usage { prompt: 3, completion: 4, reasoning: 2, cached: 1 });
    }

    #[test]
    fn thinking_is_separated_in_all_its_forms() {
        let pair = |text: &str, thinking: &str| (Some(text.to_owned()), Some(thinking.to_owned()));
        for (message, expected) in [
            (r#"{"content":"a","reasoning":"t"}"#, pair("a", "t")),
            (r#"{"content":"a","reasoning_content":"t"}"#, pair("a", "t")),
            (r#"{"content":"a","reasoning_details":[{"type":"reasoning.text","text":"t"}]}"#, pair("a", "t")),
            (r#"{"content":"a","reasoning_details":[{"summary":"t"},{"data":"x"}]}"#, pair("a", "t")),
            (r#"{"content":"<think>t</think>a"}"#, pair("a", "t")),
            (r#"{"content":"t</think>a"}"#, pair("a", "t")),
            (r#"{"content":"<think>t"}"#, pair("", "t")),
            (r#"{"content":[{"type":"thinking","text":"t"},{"type":"text","text":"a"}]}"#, pair("a", "t")),
            (r#"{"content":"a","reasoning":{"odd":1}}"#, (Some("a".to_owned()), None)),
            (r#"{"content":null}"#, (None, None)),
            (r"{}", (None, None)),
        ] {
            assert_eq!(content(message), expected, "{message}");
        }
    }

    #[test]
    fn refusals_and_limits_are_seen() {
        let reply = parse(r#"{"choices":[{"message":{"content":null,"refusal":"No."}}]}"#).unwrap();
        assert_eq!(reply.refused(), Some("No."));
        let reply =
            parse(r#"{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#).unwrap();
        assert_eq!(reply.refused(), Some("content filter"));
        let reply = parse(r#"{"choices":[{"text":"abc","finish_reason":"length"}]}"#).unwrap();
        assert!(reply.cut_off() && reply.text.as_deref() == Some("abc"));
        assert_eq!(reply.usage, Usage { prompt: 11, completion: 1, ..Usage::default() }, "estimated");
    }

    #[test]
    fn garbage_is_an_error() {
        for body in ["", "[]", "{", r#"{"choices":[]}"#, r#"{"choices":7}"#, r#"{"error":{"message":"no"}}"#]
        {
            assert!(parse(body).is_err(), "{body}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
