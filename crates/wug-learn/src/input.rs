use wug_data::{Dataset, Error, InputKind, Picture, Pictures, Result, Selection, Stream, Streams, Tokens};

/// What a learner is given of an example: its tokens, or its image, never both.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A sequence of tokens.
    Tokens(Tokens<'a>),
    /// An image.
    Image(Image<'a>),
}

impl<'a> Input<'a> {
    /// The input at a position of a part. Of an image dataset, [`InputKind::Tokens`] gives the symbols behind the image.
    pub(crate) fn of(dataset: &'a Dataset, part: &'a wug_data::Part, position: u32, kind: InputKind) -> Self {
        match (&dataset.pictures, kind) {
            (Some(pictures), InputKind::Images) => {
                Self::Image(Image { pictures: pictures.as_ref(), part: &part.name, position })
            }
            _ => Self::Tokens(dataset.table.inputs.get(part.rows[position as usize])),
        }
    }

    /// The tokens, for a learner that reads tokens.
    ///
    /// # Errors
    /// If the input is an image.
    pub fn tokens(&self) -> Result<Tokens<'a>> {
        match self {
            Self::Tokens(tokens) => Ok(*tokens),
            Self::Image(_) => Err(Error::usage("the input is an image, not tokens")),
        }
    }

    /// The image, for a learner that reads images.
    ///
    /// # Errors
    /// If the input is a sequence of tokens.
    pub fn image(&self) -> Result<Image<'a>> {
        match self {
            Self::Image(image) => Ok(*image),
            Self::Tokens(_) => Err(Error::usage("the input is a sequence of tokens, not an image")),
        }
    }
}

/// The image of an example, rendered on request.
#[derive(Clone, Copy)]
pub struct Image<'a> {
    pictures: &'a dyn Pictures,
    part: &'a str,
    position: u32,
}

impl Image<'_> {
    /// Renders it.
    pub fn render(&self) -> Picture {
        self.pictures.picture(self.part, self.position)
    }
}

impl std::fmt::Debug for Image<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "image of {}_{:08}", self.part, self.position)
    }
}

/// What an experiment tells a learner about the target. A learner gets it only if it [declares](crate::Learner::oracle) it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oracle {
    /// The number of tokens of the target (SCAN, experiment 2).
    TargetLength,
}

/// An example without its target.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// What is given.
    pub input: Input<'a>,
    /// Position in the part.
    pub position: u32,
    /// The number of tokens of the target, if the learner declares [`Oracle::TargetLength`].
    pub target_length: Option<usize>,
}

impl Question<'_> {
    /// The stream of this question among the learner's streams.
    pub fn stream(&self, streams: &Streams) -> Stream {
        streams.item(self.position.into())
    }
}

/// The questions of a selection, in order, as a learner that reads `kind` sees them.
pub fn questions<'a>(
    dataset: &'a Dataset,
    selection: &'a Selection<'a>,
    kind: InputKind,
    oracle: Option<Oracle>,
) -> Vec<Question<'a>> {
    let question = |&position: &u32| Question {
        input: Input::of(dataset, selection.part, position, kind),
        position,
        target_length: oracle.map(|Oracle::TargetLength| {
            dataset.table.targets.get(selection.part.rows[position as usize]).ids().len()
        }),
    };
    selection.positions.iter().map(question).collect()
}
