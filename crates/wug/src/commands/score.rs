use std::io::Write;

use indicatif::ProgressBar;

use wug_bench::Address;
use wug_data::{Result, write_file};
use wug_run::{Scorer, ScorerOptions};

use crate::args::Score;
use crate::output::{Done, json, out};
use crate::progress::spinner;
use crate::scores::{show_errors, write_scores, write_verdicts};

pub(crate) fn run(args: &Score) -> Done {
    let address: Address = args.dataset.parse()?;
    let options = ScorerOptions { metric: args.metric.clone(), gold: args.gold.clone(), limit: args.limit };
    let scorer = Scorer::new(address, args.data.source()?, args.data.settings()?, &options)?;
    let facts = scorer.facts(&args.by)?;
    let predictions = scorer.read(&args.predictions, args.format)?;
    let judged = scorer.judge(&predictions)?;
    if let Some(path) = &args.verdicts {
        write_file(path, |out| write_verdicts(&judged.scored, out))?;
    }
    let spinner = args.importance.then(|| spinner("measuring which facts decide"));
    let mut scores = judged.scores(&facts, args.importance)?;
    spinner.inspect(ProgressBar::finish_and_clear);
    let wrong = judged.first_wrong(args.explain_first);
    scores.explained =
        args.explain.iter().chain(&wrong).map(|id| judged.explain(id)).collect::<Result<_>>()?;
    if args.json {
        return json(&scores);
    }

    let mut out = out();
    write_scores(&scores, &*scorer.address.benchmark, &mut out)?;
    let mut left = args.errors;
    for (scored, texts) in judged.scored.iter().zip(&judged.texts) {
        left -= show_errors(&mut out, &scorer.dataset, scored, texts, left)?;
    }
    out.flush()?;
    Ok(())
}
