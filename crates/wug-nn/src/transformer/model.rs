use super::config::{Config, Initial, Norm, Positions};
use crate::Layout;
use crate::linear::Linear;
use crate::parameters::{Init, TensorId};

/// Layer normalisation.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerNorm {
    pub(super) scale: TensorId,
    pub(super) shift: TensorId,
}

/// Scores by distance: a matrix for the code of the distance, and one vector each that is added to the query where it meets a
/// key and where it meets a distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Relative {
    pub(super) distance: Linear,
    pub(super) content_bias: TensorId,
    pub(super) distance_bias: TensorId,
}

/// What a sub-layer does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Attention to the sequence itself. `input` makes queries, keys and values, in this order.
    Itself { input: Linear, relative: Option<Relative>, causal: bool },
    /// Attention to the encoder's output. `memory` makes keys and values, in this order.
    Cross { query: Linear, memory: Linear },
    /// `W_out f(W_in x + b)`.
    Feed { input: Linear },
}

/// A sub-layer with its output matrix, residual sum and normalisation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sublayer {
    pub(super) kind: Kind,
    pub(super) output: Linear,
    pub(super) norm: LayerNorm,
}

/// What encoder and decoder have each.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    pub(super) words: TensorId,
    pub(super) map: Option<Linear>,
    pub(super) positions: Option<TensorId>,
    pub(super) words_norm: Option<LayerNorm>,
    /// The sub-layers of each layer; a shared layer is there once.
    pub(super) layers: Vec<Vec<Sublayer>>,
    /// How many layers are applied.
    pub(super) depth: usize,
    pub(super) last_norm: Option<LayerNorm>,
}

impl Stack {
    /// The sub-layers in the order in which they are applied.
    pub(super) fn sublayers(&self) -> impl DoubleEndedIterator<Item = &Sublayer> + Clone {
        (0..self.depth).flat_map(|l| &self.layers[l % self.layers.len()])
    }
}

/// A Transformer: what its configuration says, laid out in one flat buffer of parameters.
#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) config: Config,
    pub(super) layout: Layout,
    pub(super) encoder: Stack,
    pub(super) decoder: Stack,
    /// What stands before the output, if anything does.
    pub(super) head: Option<Head>,
    /// Whose matrix is the table of the target's words if it is tied.
    pub(super) output: Linear,
}

/// A matrix, GELU and normalisation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) dense: Linear,
    pub(super) norm: LayerNorm,
}

impl Body {
    /// Lays the model out.
    pub(super) fn new(config: Config) -> Result<Self, String> {
        config.check()?;
        let mut layout = Layout::default();
        let mut maker = Maker { layout: &mut layout, config: &config };
        let encoder = maker.stack("encoder", false);
        let decoder = maker.stack("decoder", true);
        let head = config.head.then(|| Head {
            dense: maker.linear("head", config.width, config.width, true),
            norm: maker.norm("head.norm"),
        });
        let output = if config.tied {
            let bias = maker.layout.add("output.bias", 1, config.target_words, Init::Constant(0.0));
            let (inputs, outputs) = (config.width, config.target_words);
            Linear { weight: decoder.words, bias: Some(bias), inputs, outputs }
        } else {
            maker.linear("output", config.width, config.target_words, true)
        };
        Ok(Self { config, layout, encoder, decoder, head, output })
    }
}

struct Maker<'a> {
    layout: &'a mut Layout,
    config: &'a Config,
}

impl Maker<'_> {
    fn bound(inputs: usize, outputs: usize) -> f64 {
        (6.0 / (inputs + outputs) as f64).sqrt()
    }

    fn matrix(&self, inputs: usize, outputs: usize) -> Init {
        match self.config.initial {
            Initial::Xavier => Init::Matrix(Self::bound(inputs, outputs)),
            Initial::Bert => Init::NormalMatrix(0.02),
        }
    }

    fn table(&mut self, name: String, rows: usize, columns: usize, is_matrix: bool) -> TensorId {
        let first = match self.config.initial {
            _ if is_matrix => self.matrix(rows, columns),
            Initial::Xavier => Init::Vector(Self::bound(rows, columns)),
            Initial::Bert => Init::Normal(0.02),
        };
        self.layout.add(name, rows, columns, first)
    }

    /// `parts` matrices of equal shape, one below the other, each starting as if it were alone.
    fn parts(&mut self, name: &str, inputs: usize, outputs: usize, parts: usize, bias: bool) -> Linear {
        let first = self.matrix(inputs, outputs);
        let outputs = outputs * parts;
        Linear {
            weight: self.layout.add(name, outputs, inputs, first),
            bias: bias.then(|| self.layout.add(format!("{name}.bias"), 1, outputs, Init::Constant(0.0))),
            inputs,
            outputs,
        }
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize, bias: bool) -> Linear {
        self.parts(name, inputs, outputs, 1, bias)
    }

    fn norm(&mut self, name: &str) -> LayerNorm {
        let width = self.config.width;
        LayerNorm {
            scale: self.layout.add(format!("{name}.scale"), 1, width, Init::Constant(1.0)),
            shift: self.layout.add(format!("{name}.shift"), 1, width, Init::Constant(0.0)),
        }
    }

    fn stack(&mut self, name: &str, decodes: bool) -> Stack {
        let config = self.config;
        let width = config.width;
        let rows = if decodes {
            config.target_words + usize::from(config.special == 0)
        } else {
            config.source_words
        };
        let words = self.table(format!("{name}.words"), rows, config.embedding, decodes && config.tied);
        let map = (config.embedding != width)
            .then(|| self.linear(&format!("{name}.map"), config.embedding, width, true));
        let positions =
            config.longest().map(|longest| self.table(format!("{name}.positions"), longest, width, false));
        let words_norm = config.norm_words.then(|| self.norm(&format!("{name}.words.norm")));
        let depth = if decodes { config.decoder_layers } else { config.encoder_layers };
        let own = if config.shared { 1 } else { depth };
        let layers = (0..own).map(|l| self.layer(&format!("{name}.{l}"), decodes)).collect();
        let last_norm = (config.norm == Norm::Pre).then(|| self.norm(&format!("{name}.norm")));
        Stack { words, map, positions, words_norm, layers, depth, last_norm }
    }

    fn layer(&mut self, name: &str, decodes: bool) -> Vec<Sublayer> {
        let (width, bias) = (self.config.width, self.config.attention_bias);
        let mut layer = Vec::new();
        let itself = format!("{name}.self");
        let input = self.parts(&format!("{itself}.input"), width, width, 3, bias);
        let relative = matches!(self.config.positions, Positions::Relative { .. }).then(|| Relative {
            distance: self.linear(&format!("{itself}.distance"), width, width, false),
            content_bias: self.layout.add(format!("{itself}.content-bias"), 1, width, Init::Constant(0.0)),
            distance_bias: self.layout.add(format!("{itself}.distance-bias"), 1, width, Init::Constant(0.0)),
        });
        layer.push(self.sublayer(&itself, Kind::Itself { input, relative, causal: decodes }, width, bias));
        if decodes {
            let cross = format!("{name}.cross");
            let query = self.linear(&format!("{cross}.query"), width, width, bias);
            let memory = self.parts(&format!("{cross}.memory"), width, width, 2, bias);
            layer.push(self.sublayer(&cross, Kind::Cross { query, memory }, width, bias));
        }
        let (feed, hidden) = (format!("{name}.feed"), self.config.feed_forward);
        let input = self.linear(&format!("{feed}.input"), width, hidden, true);
        layer.push(self.sublayer(&feed, Kind::Feed { input }, hidden, true));
        layer
    }

    fn sublayer(&mut self, name: &str, kind: Kind, inputs: usize, bias: bool) -> Sublayer {
        let output = self.linear(&format!("{name}.output"), inputs, self.config.width, bias);
        Sublayer { kind, output, norm: self.norm(&format!("{name}.norm")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative universal Transformer of the HINT paper on symbols.
    fn hint() -> Config {
        Config {
            encoder_layers: 6,
            decoder_layers: 1,
            width: 512,
            heads: 8,
            feed_forward: 2048,
            embedding: 128,
            positions: Positions::Relative { clip: None },
            shared: true,
            special: 2,
            source_start: Some(18),
            ..Config::small(19, 13)
        }
    }

    #[test]
    fn hint_has_as_many_parameters_as_the_paper_says() {
        assert_eq!(Body::new(hint()).unwrap().layout.len(), 8_019_469);
    }

    /// What makes a configuration wrong, and a piece of the message.
    type Wrong = (fn(&mut Config), &'static str);

    #[test]
    fn what_is_no_model_is_refused() {
        let wrong: [Wrong; 9] = [
            (|config| config.heads = 7, "heads do not divide"),
            (|config| config.heads = 0, "needs layers"),
            (|config| config.dropout = 1.0, "dropout 1 is not in"),
            (|config| config.positions = Positions::Learned(0), "longest"),
            (|config| config.special = 13, "no words but special ones"),
            (|config| config.source_start = Some(19), "no word of theirs"),
            (|config| config.tied = true, "as wide as the model"),
            (|config| (config.special, config.says_start) = (0, true), "among the words of the target"),
            (|config| config.encoder_layers = 65, "at most 64"),
        ];
        for (change, message) in wrong {
            let mut config = hint();
            change(&mut config);
            let error = Body::new(config).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
