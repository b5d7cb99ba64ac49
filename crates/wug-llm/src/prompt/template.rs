//! Texts with placeholders.

use serde::Deserialize;

/// A text with placeholders in braces; `{{` and `}}` stand for the braces themselves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Template(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Text(String),
    Slot(Slot),
}

/// What a placeholder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The question's tokens, as text.
    Input,
    /// The question's pictures.
    Images,
    /// The few-shot examples, each by the template of `[examples]`.
    Examples,
    /// In an example: its ground truth.
    Target,
    /// In a later step: the whole prompt of the step before.
    Prompt,
    /// In a later step: the reply of the step before.
    Reply,
}

const SLOTS: [(&str, Slot); 6] = [
    ("input", Slot::Input),
    ("images", Slot::Images),
    ("examples", Slot::Examples),
    ("target", Slot::Target),
    ("prompt", Slot::Prompt),
    ("reply", Slot::Reply),
];

impl Template {
    pub(super) fn segments(&self) -> &[Segment] {
        &self.0
    }

    pub(super) fn has(&self, slot: Slot) -> bool {
        self.0.contains(&Segment::Slot(slot))
    }
}

impl Slot {
    pub(super) fn name(self) -> &'static str {
        SLOTS.iter().find(|(_, slot)| *slot == self).map_or("", |(name, _)| name)
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut segments = Vec::new();
        let mut literal = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            let name = (brace == "{").then(|| rest.split_once('}')).flatten();
            let Some((name, after)) = name else {
                return Err(format!(
                    "`{brace}` stands alone; write `{brace}{brace}` for the character itself"
                ));
            };
            let Some((_, slot)) = SLOTS.iter().find(|(known, _)| *known == name) else {
                let shown = wug_data::truncate(name, 40);
                let known: Vec<&str> = SLOTS.iter().map(|(name, _)| *name).collect();
                return Err(format!("no placeholder `{{{shown}}}`; there are: {}", known.join(", ")));
            };
            if !literal.is_empty() {
                segments.push(Segment::Text(std::mem::take(&mut literal)));
            }
            segments.push(Segment::Slot(*slot));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            segments.push(Segment::Text(literal));
        }
        Ok(Self(segments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_and_wrong_ones_named() {
        let template = Template::try_from("a {{b}} {input}.".to_owned()).unwrap();
        let text = |text: &str| Segment::Text(text.to_owned());
        assert_eq!(template.segments(), [text("a {b} "), Segment::Slot(Slot::Input), text(".")]);
        for (wrong, why) in
            [("{inptu}", "no placeholder `{inptu}`"), ("{input", "`{` stands"), ("a } b", "`}` stands")]
        {
            assert!(Template::try_from(wrong.to_owned()).unwrap_err().contains(why), "{wrong}");
        }
    }
}
