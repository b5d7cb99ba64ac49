//! Prompts: files that say what is sent and how the answer is read.
//!
//! A prompt file is TOML:
//!
//! ```toml
//! about = "One line for people."
//!
//! [[step]]                       # one request; the reply of the last step holds the answer
//! system = "You are ..."         # optional
//! user = "{examples}{input}"     # a chat request; `prompt = "..."` makes it a plain completion
//! max-tokens = 512               # maximum number of generated tokens
//! stop = ["\n\n"]                # optional, at most 4
//!
//! [examples]                     # optional: few-shot examples, for {examples}
//! count = 8
//! choose = "random"              # drawn from train by seed, or "coverage" of the question's words
//! template = "Input: {input}\nAnswer: {target}\n\n"
//!
//! [answer]                       # how the answer is read out of the reply: see `Reading`
//! read = ["marker", "fence", "last-line"]
//! ```
//!
//! Placeholders: `{input}` (text), `{images}` (pictures), `{examples}`, in an example `{target}`, and in later steps
//! `{prompt}` and `{reply}` of the step before. A later chat step continues the conversation.

mod builtin;
mod template;

use std::path::Path;

use serde::Deserialize;
use wug_data::{Error, Result};

use crate::Reading;
use template::{Segment, Slot, Template};

pub use builtin::{STYLES, builtin_prompts};

/// What is sent for a question, and how the answer is read. See the [module](crate::prompt).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Prompt {
    /// What it is, in one line.
    pub about: String,
    #[serde(rename = "step")]
    steps: Vec<Step>,
    /// Few-shot examples, if it has some.
    pub examples: Option<Examples>,
    /// How the answer is read.
    #[serde(default)]
    pub answer: Reading,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Step {
    system: Option<Template>,
    user: Option<Template>,
    prompt: Option<Template>,
    max_tokens: u32,
    #[serde(default)]
    stop: Vec<String>,
}

/// Few-shot examples of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Examples {
    /// How many.
    pub count: usize,
    /// Which.
    #[serde(default)]
    pub choose: Choose,
    template: Template,
}

/// How few-shot examples are chosen from train.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// Drawn by seed, the same for all questions.
    #[default]
    Random,
    /// For each question, so that they cover its words.
    Coverage,
}

/// What is asked: text, PNG files, or both, and the examples shown before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The input as text, for `{input}`.
    pub input: Option<String>,
    /// PNG files, for `{images}`.
    pub images: Vec<Vec<u8>>,
    /// Examples, for `{examples}`.
    pub shots: Vec<Shot>,
}

/// A few-shot example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shot {
    /// The input as text.
    pub input: Option<String>,
    /// The input as PNG files.
    pub images: Vec<Vec<u8>>,
    /// The ground truth.
    pub target: String,
}

/// A stretch of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// A PNG file.
    Image(Vec<u8>),
}

/// What one request says, before it is JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rendered {
    pub(crate) api: Api,
    /// Roles and contents of a chat; one nameless content for a completion.
    pub(crate) messages: Vec<(&'static str, Vec<Content>)>,
    pub(crate) max_tokens: u32,
    pub(crate) stop: Vec<String>,
}

/// Which of the two requests is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Completions,
}

impl Api {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "chat/completions",
            Self::Completions => "completions",
        }
    }
}

/// A step that was answered: what was sent and what came back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    pub(crate) sent: Vec<(&'static str, Vec<Content>)>,
    pub(crate) reply: String,
}

impl Prompt {
    /// Reads a prompt file's text; `origin` names it in errors.
    ///
    /// ```
    /// let prompt = wug_llm::Prompt::parse("echo.toml", r#"
    ///     about = "Repeats."
    ///     [[step]]
    ///     user = "Repeat: {input}"
    ///     max-tokens = 50
    /// "#)?;
    /// assert_eq!(prompt.steps(), 1);
    /// # Ok::<(), wug_data::Error>(())
    /// ```
    pub fn parse(origin: &str, text: &str) -> Result<Self> {
        let wrong = |what: String| Error::usage(format!("prompt {origin}: {what}"));
        let prompt: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        prompt.check().map_err(wrong)?;
        Ok(prompt)
    }

    /// Reads a prompt file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// How many requests it takes.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Whether it asks with pictures.
    pub fn wants_images(&self) -> bool {
        self.templates().any(|template| template.has(Slot::Images))
    }

    /// Whether it asks with text.
    pub fn wants_text(&self) -> bool {
        self.templates().any(|template| template.has(Slot::Input))
    }

    /// The system's message, if there is one, and the user's, for programs that send requests of their own.
    ///
    /// ```
    /// use wug_llm::{Question, builtin_prompts};
    ///
    /// let prompt = builtin_prompts::find("scan", "zero-shot")?;
    /// let question = Question { input: Some("jump twice".to_owned()), ..Question::default() };
    /// assert_eq!(prompt.chat(&question)?.1, "Command: jump twice");
    /// # Ok::<(), wug_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// If it is no chat of one request, or has pictures.
    pub fn chat(&self, question: &Question) -> Result<(Option<String>, String)> {
        let rendered = self.render(question, &[]).map_err(Error::usage)?;
        if self.steps.len() != 1 || rendered.api != Api::Chat {
            return Err(Error::usage("the prompt is not a chat of one request"));
        }
        let text = |role: &str| -> Result<Option<String>> {
            let Some((_, contents)) = rendered.messages.iter().find(|(known, _)| *known == role) else {
                return Ok(None);
            };
            let text = |content: &Content| match content {
                Content::Text(text) => Ok(text.clone()),
                Content::Image(_) => Err(Error::usage("the prompt asks with pictures, not with text")),
            };
            contents.iter().map(text).collect::<Result<String>>().map(Some)
        };
        Ok((text("system")?, text("user")?.unwrap_or_default()))
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.steps.iter().flat_map(|step| [&step.system, &step.user, &step.prompt]).flatten()
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.steps.is_empty() {
            return Err("has no [[step]]".to_owned());
        }
        let chat = self.steps[0].user.is_some();
        for (number, step) in self.steps.iter().enumerate() {
            let wrong = |what: &str| Err(format!("step {}: {what}", number + 1));
            if step.user.is_some() == step.prompt.is_some() {
                return wrong("needs either `user`, for a chat, or `prompt`, for a completion");
            }
            if step.user.is_some() != chat {
                return wrong("all steps are chats (`user`) or all are completions (`prompt`)");
            }
            if step.prompt.is_some() && step.system.is_some() {
                return wrong("a completion (`prompt`) has no `system` message");
            }
            if step.stop.len() > 4 {
                return wrong("has more than 4 stop texts");
            }
            if step.max_tokens == 0 {
                return wrong("max-tokens must be at least 1");
            }
            for template in [&step.system, &step.user, &step.prompt].into_iter().flatten() {
                if template.has(Slot::Target) {
                    return wrong("`{target}` belongs in the template of [examples] only");
                }
                if template.has(Slot::Examples) && self.examples.is_none() {
                    return wrong("`{examples}` needs [examples]");
                }
                if template.has(Slot::Images) && step.prompt.is_some() {
                    return wrong("a completion (`prompt`) carries no pictures");
                }
                let earlier = [Slot::Prompt, Slot::Reply].into_iter().find(|slot| template.has(*slot));
                if let (0, Some(slot)) = (number, earlier) {
                    return wrong(&format!("`{{{}}}` is of the step before, and there is none", slot.name()));
                }
            }
        }
        if !self.wants_images() && !self.wants_text() {
            return Err("no step has `{input}` or `{images}`".to_owned());
        }
        if let Some(examples) = &self.examples {
            let template = &examples.template;
            if [Slot::Examples, Slot::Prompt, Slot::Reply].into_iter().any(|slot| template.has(slot)) {
                return Err(
                    "[examples] template: only `{input}`, `{images}` and `{target}` fit here".to_owned()
                );
            }
            if !template.has(Slot::Target) {
                return Err("[examples] template: has no `{target}`".to_owned());
            }
            if examples.count == 0 || examples.count > 1000 {
                return Err(format!("[examples] count is {}; it must be from 1 to 1000", examples.count));
            }
        }
        self.answer.check()
    }

    /// What the next step sends after these.
    pub(crate) fn render(
        &self,
        question: &Question,
        turns: &[Turn],
    ) -> std::result::Result<Rendered, String> {
        let step = self.steps.get(turns.len()).ok_or("all steps are answered")?;
        let rendered =
            |api, messages| Rendered { api, messages, max_tokens: step.max_tokens, stop: step.stop.clone() };
        if let Some(template) = &step.prompt {
            let content = self.fill(template, question, turns)?;
            return Ok(rendered(Api::Completions, vec![("", content)]));
        }
        let mut messages: Vec<(&'static str, Vec<Content>)> = Vec::new();
        if let Some(last) = turns.last() {
            messages.extend(last.sent.iter().cloned());
            messages.push(("assistant", vec![Content::Text(last.reply.clone())]));
        }
        for (role, template) in [("system", &step.system), ("user", &step.user)] {
            if let Some(template) = template {
                messages.push((role, self.fill(template, question, turns)?));
            }
        }
        Ok(rendered(Api::Chat, messages))
    }

    fn fill(
        &self,
        template: &Template,
        question: &Question,
        turns: &[Turn],
    ) -> std::result::Result<Vec<Content>, String> {
        let mut out = Vec::new();
        for segment in template.segments() {
            match segment {
                Segment::Text(text) => push_text(&mut out, text),
                Segment::Slot(Slot::Input) => push_text(&mut out, input(question.input.as_deref())?),
                Segment::Slot(Slot::Images) => push_images(&mut out, &question.images)?,
                Segment::Slot(Slot::Examples) => {
                    for shot in &question.shots {
                        self.fill_shot(shot, &mut out)?;
                    }
                }
                Segment::Slot(Slot::Prompt) => {
                    for content in turns.last().iter().flat_map(|turn| &turn.sent).flat_map(|(_, sent)| sent)
                    {
                        match content {
                            Content::Text(text) => push_text(&mut out, text),
                            Content::Image(png) => out.push(Content::Image(png.clone())),
                        }
                    }
                }
                Segment::Slot(Slot::Reply) => {
                    push_text(&mut out, turns.last().map_or("", |turn| turn.reply.as_str()));
                }
                Segment::Slot(Slot::Target) => (),
            }
        }
        Ok(out)
    }

    fn fill_shot(&self, shot: &Shot, out: &mut Vec<Content>) -> std::result::Result<(), String> {
        let Some(examples) = &self.examples else { return Ok(()) };
        for segment in examples.template.segments() {
            match segment {
                Segment::Text(text) => push_text(out, text),
                Segment::Slot(Slot::Input) => push_text(out, input(shot.input.as_deref())?),
                Segment::Slot(Slot::Images) => push_images(out, &shot.images)?,
                Segment::Slot(Slot::Target) => push_text(out, &shot.target),
                Segment::Slot(_) => (),
            }
        }
        Ok(())
    }
}

fn input(text: Option<&str>) -> std::result::Result<&str, String> {
    text.ok_or_else(|| "the prompt has `{input}`, but the dataset's inputs are pictures".to_owned())
}

fn push_images(out: &mut Vec<Content>, images: &[Vec<u8>]) -> std::result::Result<(), String> {
    if images.is_empty() {
        return Err("the prompt has `{images}`, but the dataset's inputs are text".to_owned());
    }
    out.extend(images.iter().cloned().map(Content::Image));
    Ok(())
}

fn push_text(out: &mut Vec<Content>, text: &str) {
    match out.last_mut() {
        Some(Content::Text(last)) => last.push_str(text),
        _ if text.is_empty() => (),
        _ => out.push(Content::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests;
