//! A problem: three panels with numbers, one of them asked for.

use std::fmt;
use wug_data::truncate;

use super::grammar::{Kind, Layout, Shape};

/// The most panels that a problem has.
pub const MOST_PANELS: usize = 8;
/// The largest number that may stand in a panel.
pub const LARGEST: u16 = 999;

/// One panel.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Panel {
    /// The numbers in position order; the asked one is [`Problem::asked`] of the last panel, whatever stands here.
    pub numbers: Vec<u16>,
    /// The constant, where it is shown.
    pub centre: Option<u16>,
}

/// A problem as it is posed. As text: `combination overlap : 1 53 | 53 1 | ? 53`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Where the numbers stand.
    pub layout: Layout,
    /// What the figure is made of.
    pub shape: Shape,
    /// The panels; a number of the last one is asked for. That number is 0 here.
    pub panels: Vec<Panel>,
    /// Position of the asked number in the last panel.
    pub asked: usize,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.layout.kind().name(), self.layout.name())?;
        if self.shape != Shape::Circle {
            write!(f, " {}", self.shape.name())?;
        }
        for (i, panel) in self.panels.iter().enumerate() {
            f.write_str(if i == 0 { " :" } else { " |" })?;
            for (position, number) in panel.numbers.iter().enumerate() {
                if i + 1 == self.panels.len() && position == self.asked {
                    f.write_str(" ?")?;
                } else {
                    write!(f, " {number}")?;
                }
            }
            if let Some(centre) = panel.centre {
                write!(f, " = {centre}")?;
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for Problem {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text.split_whitespace())
    }
}

impl Problem {
    /// Reads the words of a problem. The message says what is wrong and what would be right.
    pub fn read<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut words = words.into_iter().peekable();
        let (layout, shape) = read_figure(&mut words)?;
        let mut panels: Vec<Panel> = Vec::new();
        let mut asked = None;
        loop {
            let (panel, unknown) = read_panel(&mut words, layout)
                .map_err(|what| format!("panel {}: {what}", panels.len() + 1))?;
            panels.push(panel);
            let ends = words.next().is_none();
            match unknown {
                Some(position) if ends => asked = Some(position),
                Some(_) => {
                    return Err(format!("panel {}: `?` may stand in the last panel only", panels.len()));
                }
                None => {}
            }
            if ends {
                break;
            }
            if panels.len() == MOST_PANELS {
                return Err(format!("more than {MOST_PANELS} panels"));
            }
        }
        let asked = asked.ok_or("the last panel has no `?`")?;
        if panels.len() < 2 {
            return Err("one panel: there are two at least".to_owned());
        }
        if panels.iter().any(|panel| panel.centre.is_some() != panels[0].centre.is_some()) {
            return Err("the constant is shown in some panels and not in others".to_owned());
        }
        Ok(Self { layout, shape, panels, asked })
    }

    /// How many numbers a panel has.
    pub fn integers(&self) -> usize {
        self.layout.integers()
    }

    /// Whether the constants are shown.
    pub fn shows_constants(&self) -> bool {
        self.panels[0].centre.is_some()
    }

    /// The largest number that is shown.
    pub fn largest(&self) -> u16 {
        let numbers = self.panels.iter().flat_map(|panel| panel.numbers.iter().chain(&panel.centre));
        numbers.copied().max().unwrap_or_default()
    }
}

/// `combination overlap :`, with a shape before the colon if it is no circle.
fn read_figure<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<(Layout, Shape), String> {
    let kind = words.next().unwrap_or_default();
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind).ok_or_else(|| {
        format!("`{}` is no type of problem: combination, composition or partition", shown(kind))
    })?;
    let name = words.next().unwrap_or_default();
    let layout = Layout::named(kind, name).ok_or_else(|| {
        let known: Vec<&str> = kind.layouts().map(Layout::name).collect();
        format!("`{}` is no layout of a {}: {}", shown(name), kind.name(), known.join(", "))
    })?;
    let mut word = words.next().unwrap_or_default();
    let mut shape = Shape::Circle;
    if word != ":" {
        shape = Shape::named(word).ok_or_else(|| format!("expected `:`, not `{}`", shown(word)))?;
        word = words.next().unwrap_or_default();
    }
    if word == ":" { Ok((layout, shape)) } else { Err(format!("expected `:`, not `{}`", shown(word))) }
}

/// Numbers up to `|` or the end, and where `?` stands.
fn read_panel<'a>(
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    layout: Layout,
) -> Result<(Panel, Option<usize>), String> {
    let mut panel = Panel { numbers: Vec::with_capacity(layout.integers()), centre: None };
    let mut asked = None;
    while let Some(word) = words.next_if(|&word| word != "|") {
        match word {
            "=" => {
                let word = words.next().unwrap_or_default();
                panel.centre = Some(number(word)?);
                if words.peek().is_some_and(|&word| word != "|") {
                    return Err("words behind the constant".to_owned());
                }
            }
            "?" if asked.is_some() => return Err("a second `?`".to_owned()),
            "?" => {
                asked = Some(panel.numbers.len());
                panel.numbers.push(0);
            }
            word => panel.numbers.push(number(word)?),
        }
        if panel.numbers.len() > layout.integers() {
            break;
        }
    }
    if panel.numbers.len() == layout.integers() {
        return Ok((panel, asked));
    }
    let more = if panel.numbers.len() > layout.integers() { "more" } else { "fewer" };
    Err(format!(
        "{more} than the {} numbers of {} {}",
        layout.integers(),
        layout.kind().name(),
        layout.name()
    ))
}

fn number(word: &str) -> Result<u16, String> {
    match word.parse() {
        Ok(number) if (1..=LARGEST).contains(&number) => Ok(number),
        _ => Err(format!("`{}` is no number from 1 to {LARGEST}", shown(word))),
    }
}

fn shown(word: &str) -> String {
    truncate(word, 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in [
            "combination overlap : 1 53 | 53 1 | ? 53",
            "combination tangent hexagon : 18 98 2 | 3 64 1 | 47 ? 2",
            "composition line : 5 49 40 37 = 8 | 1 80 39 33 = 9 | 67 63 ? 59 = 10",
            "partition 2 : 95 12 | 97 14 | ? 1",
        ] {
            assert_eq!(text.parse::<Problem>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn errors_say_what_would_be_right() {
        for (text, message) in [
            ("", "`` is no type of problem: combination, composition or partition"),
            ("combination line : 1", "`line` is no layout of a combination: overlap, include, tangent"),
            ("partition 2 blob : 1 2", "expected `:`, not `blob`"),
            ("partition 2 square 1 2", "expected `:`, not `1`"),
            ("partition 2 : 1 2 | 3 ?  | ? 2", "panel 2: `?` may stand in the last panel only"),
            ("partition 2 : 1 2 | 3 4 | 5 6", "the last panel has no `?`"),
            ("partition 2 : 1 2 | 3 4 | ? ?", "panel 3: a second `?`"),
            ("partition 2 : 1 2 3 | ? 1", "panel 1: more than the 2 numbers of partition 2"),
            ("partition 2 : 1 | ? 1", "panel 1: fewer than the 2 numbers of partition 2"),
            ("partition 2 : 1 0 | ? 1", "panel 1: `0` is no number from 1 to 999"),
            ("partition 2 : 1 2 = | ? 1", "panel 1: `|` is no number from 1 to 999"),
            ("partition 2 : 1 2 = 3 | ? 1", "the constant is shown in some panels and not in others"),
            ("partition 2 : ? 1", "one panel: there are two at least"),
        ] {
            assert_eq!(text.parse::<Problem>().unwrap_err(), message, "{text}");
        }
        assert!(format!("partition 2 :{}", " 1 2 |".repeat(100_000)).parse::<Problem>().is_err());
    }
}
