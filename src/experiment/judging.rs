//! Every way to judge, side by side on the same traces.

use serde::Serialize;

use super::asking::{AskError, Asker, Question, Spent};
use super::estimate::{Estimate, jackknife, real};
use super::judge::{JudgePlan, Judged, Judging, Setting, Way};
use super::judge_text::{JUDGE, LABELER, judge_prompt, label_prompt, labels_in, propositions, verdicts_in};
use super::steering::tokens;
use crate::monitor::labels::Labels;
use crate::monitor::score::Score;
use crate::monitor::synthetic::{Constraint, Synthetic};
use crate::monitor::trac::{Monitor, Reset};
use crate::temporal::{FinalVerdict, Formulas, Record};

/// The temperature of judges and labelers in the paper.
const TEMPERATURE: f64 = 0.2;
/// The one rule of a monitor.
const RULE: &str = "constraint";

/// How labels of a model compare with the true ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    /// Statements that are true of a step, in all.
    pub true_ones: usize,
    /// Of them, those that the model did not find.
    pub missed: usize,
    /// Those that it found and that are not true.
    pub invented: usize,
}

/// What one way came to in one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeRow {
    /// What is varied.
    pub dimension: &'static str,
    /// How far.
    pub size: usize,
    /// How involved the constraints are.
    pub formulas: &'static str,
    /// Who judges.
    pub way: Way,
    /// Traces.
    pub traces: usize,
    /// Verdicts that were asked for.
    pub verdicts: usize,
    /// Verdicts that could not be read; they count for nothing else.
    pub unreadable: usize,
    /// The part of the verdicts of a trace that is right.
    pub accuracy: Option<Estimate>,
    /// F1 of finding broken constraints, over all traces.
    pub f1: Option<Estimate>,
    /// Calls for each verdict that was asked for.
    pub calls_per_verdict: Option<Estimate>,
    /// Tokens for each verdict that was asked for; `None` where they are not known.
    pub tokens_per_verdict: Option<Estimate>,
    /// US dollars for each verdict that was asked for; `None` where they are not known.
    pub cost_per_verdict_usd: Option<Estimate>,
    /// Of a labeler, how its labels compare with the true ones.
    pub labels: Option<LabelCount>,
}

/// One trace, judged in one way.
#[derive(Debug, Clone)]
struct Done {
    setting: Setting,
    way: Way,
    judged: Judged,
    spent: Spent,
    labels: Option<LabelCount>,
}

/// Judges every trace in every way. `each` is told of each trace that was judged.
pub async fn judge(
    plan: &JudgePlan,
    traces: &[Judging],
    asker: &Asker,
    each: &(dyn Fn(&Judging, Way, &Judged) + Sync),
) -> Result<Vec<JudgeRow>, AskError> {
    let all = traces.iter().flat_map(|judging| plan.ways.iter().map(move |way| (judging, *way)));
    let work = all.map(|(judging, way)| async move {
        let done = one(plan, judging, way, asker).await?;
        each(judging, way, &done.judged);
        Ok(done)
    });
    let done = asker.side_by_side(work).await?;
    let mut rows = Vec::new();
    for setting in plan.settings() {
        for way in &plan.ways {
            let of: Vec<&Done> = done.iter().filter(|d| d.setting == setting && d.way == *way).collect();
            rows.push(row(setting, *way, &of));
        }
    }
    Ok(rows)
}

async fn one(plan: &JudgePlan, judging: &Judging, way: Way, asker: &Asker) -> Result<Done, AskError> {
    let of = &judging.judged;
    let mut spent = Spent::default();
    let mut labels = None;
    let said = match way {
        Way::Monitor => of.constraints.iter().map(|c| Some(keeps(&c.formula(), of.trace.records()))).collect(),
        Way::Labeler => {
            let (said, counted) = labelled(plan, judging, asker, &mut spent).await?;
            labels = counted;
            said
        }
        Way::ZeroShot | Way::FewShot | Way::FewShotLabels => {
            let question = question(judging, way, 1, judge_prompt(judging, way));
            let answer = asker.ask(&question).await?;
            spent = spent.and(answer.spent);
            verdicts_in(&answer.text, of.constraints.len())
        }
    };
    let judged = Judged { said, truths: of.truths.clone() };
    Ok(Done { setting: judging.setting, way, judged, spent, labels })
}

fn question(judging: &Judging, way: Way, part: u32, prompt: String) -> Question {
    let (node, role) = if way == Way::Labeler { ("label", LABELER) } else { ("judge", JUDGE) };
    Question {
        node,
        place: judging.number,
        attempt: part,
        candidate: 0,
        about: format!("{}, {}", way.name(), judging.setting.name()),
        role: role.to_owned(),
        prompt,
        temperature: TEMPERATURE,
    }
}

/// The monitor on labels of a model: verdicts, and how the labels compare. Where the labels of a part cannot be read, no
/// verdict is.
async fn labelled(
    plan: &JudgePlan,
    judging: &Judging,
    asker: &Asker,
    spent: &mut Spent,
) -> Result<(Vec<Option<bool>>, Option<LabelCount>), AskError> {
    let of = &judging.judged;
    let (length, statements) = (of.trace.steps.len(), propositions(of).len());
    let mut found: Option<Vec<Vec<usize>>> = Some(Vec::new());
    for (part, from) in (1..).zip((0..length).step_by(plan.label_steps)) {
        let steps = from..length.min(from + plan.label_steps);
        let answer = asker.ask(&question(judging, Way::Labeler, part, label_prompt(of, steps.clone()))).await?;
        *spent = spent.and(answer.spent);
        let read = labels_in(&answer.text, steps, statements);
        found = found.zip(read).map(|(mut all, read)| {
            all.extend(read);
            all
        });
    }
    let Some(found) = found else { return Ok((vec![None; of.constraints.len()], None)) };
    let mut count = LabelCount::default();
    for (step, found) in of.trace.steps.iter().zip(&found) {
        let truths: Vec<bool> = of.constraints.iter().flat_map(|c| c.truths_at(step)).collect();
        for (number, truth) in truths.into_iter().enumerate() {
            let is_found = found.contains(&number);
            count.true_ones += usize::from(truth);
            count.missed += usize::from(truth && !is_found);
            count.invented += usize::from(!truth && is_found);
        }
    }
    Ok((by_labels(of, &found), Some(count)))
}

/// The verdicts of monitors that see of each step which statements, from 0, are true of it.
fn by_labels(of: &Synthetic, found: &[Vec<usize>]) -> Vec<Option<bool>> {
    let mut first = 0;
    let verdict = |constraint: &Constraint| {
        let own = first..first + constraint.propositions_in_words().len();
        first = own.end;
        let names: Vec<String> = own.clone().map(|number| format!("s{}", number + 1)).collect();
        let steps = found.iter().map(|found| {
            let mut labels = Labels::new();
            own.clone().zip(&names).for_each(|(n, name)| labels.set(name.as_str(), found.contains(&n)));
            labels
        });
        Some(keeps(&constraint.formula_over(&names), steps))
    };
    of.constraints.iter().map(verdict).collect()
}

/// Whether a monitor of the formula is content with the trace as it ends.
fn keeps(formula: &str, steps: impl Iterator<Item = impl Record>) -> bool {
    let mut formulas = Formulas::new();
    let parsed = formulas.parse(formula).expect("the formulas are written by us");
    let mut monitor = Monitor::new(Reset::Never);
    monitor.add(RULE, &formulas, parsed).expect("it looks ahead, and is the only one");
    for step in steps {
        monitor.step_record(&step);
    }
    monitor.ending(RULE).is_some_and(FinalVerdict::holds)
}

fn row(setting: Setting, way: Way, of: &[&Done]) -> JudgeRow {
    let verdicts: usize = of.iter().map(|done| done.judged.truths.len()).sum();
    let unreadable = of.iter().flat_map(|done| &done.judged.said).filter(|said| said.is_none()).count();
    // A trace of which nothing could be read says nothing of how often the judge is right.
    let read: Vec<&Done> = of.iter().copied().filter(|done| done.judged.said.iter().any(Option::is_some)).collect();
    let accuracies: Vec<f64> = read.iter().map(|done| accuracy(&done.judged)).collect();
    let per = |value: f64, done: &Done| value / real(done.judged.truths.len());
    let known = |of_one: &dyn Fn(&Done) -> Option<f64>| -> Option<Estimate> {
        let all: Option<Vec<f64>> = of.iter().map(|done| Some(per(of_one(done)?, done))).collect();
        Estimate::of(&all?)
    };
    let labels = of.iter().filter_map(|done| done.labels).reduce(|a, b| LabelCount {
        true_ones: a.true_ones + b.true_ones,
        missed: a.missed + b.missed,
        invented: a.invented + b.invented,
    });
    JudgeRow {
        dimension: setting.dimension.name(),
        size: setting.size,
        formulas: setting.formulas.name(),
        way,
        traces: of.len(),
        verdicts,
        unreadable,
        accuracy: Estimate::of_shares(&accuracies),
        f1: jackknife(&read, |some| f1(some.iter().map(|done| &done.judged))),
        calls_per_verdict: known(&|done| Some(real(done.spent.calls))),
        tokens_per_verdict: known(&|done| Some(tokens(done.spent.tokens?))),
        cost_per_verdict_usd: known(&|done| done.spent.cost_usd),
        labels,
    }
}

fn accuracy(judged: &Judged) -> f64 {
    let read: Vec<bool> =
        judged.said.iter().zip(&judged.truths).filter_map(|(said, truth)| Some((*said)? == *truth)).collect();
    real(read.iter().filter(|right| **right).count()) / real(read.len())
}

/// F1 of finding broken constraints, of verdicts that could be read.
fn f1<'a>(of: impl Iterator<Item = &'a Judged>) -> f64 {
    let mut score = Score::default();
    for (said, truth) in of.flat_map(|judged| judged.said.iter().zip(&judged.truths)) {
        match (said, truth) {
            (Some(false), false) => score.true_positives += 1,
            (Some(false), true) => score.false_positives += 1,
            (Some(true), false) => score.false_negatives += 1,
            (Some(true), true) | (None, _) => {}
        }
    }
    score.f1()
}
