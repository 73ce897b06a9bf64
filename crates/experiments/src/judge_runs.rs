//! Runs all judges on the same traces, and summarizes their verdicts.

use serde::Serialize;

use super::asker::{AskError, Asker, Costs, Question};
use super::estimate::{Estimate, as_f64, jackknife, tokens_as_f64};
use super::judge_plan::{JudgeCase, JudgeKind, JudgePlan, JudgeResult, Setting};
use super::judge_prompts::{JUDGE, LABELER, judge_prompt, label_prompt, parse_labels, parse_verdicts, propositions};
use tlaforge_monitor::labels::Labels;
use tlaforge_monitor::score::Score;
use tlaforge_monitor::synthetic::{Constraint, Synthetic};
use tlaforge_monitor::trac::{Monitor, Reset};
use tlaforge_temporal::{FinalVerdict, Formulas, Record};

/// The temperature of judges and labelers in the paper.
const TEMPERATURE: f64 = 0.2;
/// The name of the single rule of a monitor.
const RULE: &str = "constraint";

/// Comparison of a model's labels with the true ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LabelCount {
    pub true_labels: usize,
    /// True labels that the model did not find.
    pub missed: usize,
    /// Labels of the model that are not true.
    pub invented: usize,
}

/// The results of one judge in one setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeRow {
    pub dimension: &'static str,
    pub size: usize,
    pub formulas: &'static str,
    pub judge: JudgeKind,
    pub traces: usize,
    /// The number of verdicts that were asked for.
    pub verdicts: usize,
    /// Unreadable verdicts; they do not count in accuracy and F1.
    pub unreadable: usize,
    /// The share of correct verdicts.
    pub accuracy: Option<Estimate>,
    /// F1 of finding violated constraints, over all traces.
    pub f1: Option<Estimate>,
    pub calls_per_verdict: Option<Estimate>,
    /// `None` if unknown.
    pub tokens_per_verdict: Option<Estimate>,
    /// `None` if unknown.
    pub cost_per_verdict_usd: Option<Estimate>,
    /// Set for a labeler.
    pub labels: Option<LabelCount>,
}

/// The result of one judge on one trace.
#[derive(Debug, Clone)]
struct CaseRun {
    setting: Setting,
    judge: JudgeKind,
    result: JudgeResult,
    costs: Costs,
    labels: Option<LabelCount>,
}

/// Runs every judge on every trace. `on_case` is called after each trace.
pub async fn run_judges(
    plan: &JudgePlan,
    traces: &[JudgeCase],
    asker: &Asker,
    on_case: &(dyn Fn(&JudgeCase, JudgeKind, &JudgeResult) + Sync),
) -> Result<Vec<JudgeRow>, AskError> {
    let all = traces.iter().flat_map(|case| plan.judges.iter().map(move |judge| (case, *judge)));
    let work = all.map(|(case, judge)| async move {
        let run = run_judge(plan, case, judge, asker).await?;
        on_case(case, judge, &run.result);
        Ok(run)
    });
    let runs = asker.run_concurrently(work).await?;
    let mut rows = Vec::new();
    for setting in plan.settings() {
        for judge in &plan.judges {
            let of_judge = |run: &&CaseRun| run.setting == setting && run.judge == *judge;
            let runs: Vec<&CaseRun> = runs.iter().filter(of_judge).collect();
            rows.push(summarize(setting, *judge, &runs));
        }
    }
    Ok(rows)
}

async fn run_judge(plan: &JudgePlan, case: &JudgeCase, judge: JudgeKind, asker: &Asker) -> Result<CaseRun, AskError> {
    let subject = &case.subject;
    let mut costs = Costs::default();
    let mut labels = None;
    let verdicts = match judge {
        JudgeKind::Monitor => {
            subject.constraints.iter().map(|c| Some(is_satisfied(&c.formula(), subject.trace.records()))).collect()
        }
        JudgeKind::Labeler => {
            let (verdicts, counts) = judge_with_labeler(plan, case, asker, &mut costs).await?;
            labels = counts;
            verdicts
        }
        JudgeKind::ZeroShot | JudgeKind::FewShot | JudgeKind::FewShotLabels => {
            let question = question(case, judge, 1, judge_prompt(case, judge));
            let answer = asker.ask(&question).await?;
            costs = costs.plus(answer.costs);
            parse_verdicts(&answer.text, subject.constraints.len())
        }
    };
    let result = JudgeResult { verdicts, truths: subject.truths.clone() };
    Ok(CaseRun { setting: case.setting, judge, result, costs, labels })
}

fn question(case: &JudgeCase, judge: JudgeKind, part: u32, prompt: String) -> Question {
    let (node, role) = if judge == JudgeKind::Labeler { ("label", LABELER) } else { ("judge", JUDGE) };
    Question {
        node,
        place: case.number,
        attempt: part,
        sample: 0,
        about: format!("{}, {}", judge.name(), case.setting.name()),
        role: role.to_owned(),
        prompt,
        temperature: TEMPERATURE,
    }
}

/// The verdicts of a monitor on the labels of a model, and a comparison of these labels with the true ones. If a part of the
/// labels is unreadable, all verdicts are.
async fn judge_with_labeler(
    plan: &JudgePlan,
    case: &JudgeCase,
    asker: &Asker,
    costs: &mut Costs,
) -> Result<(Vec<Option<bool>>, Option<LabelCount>), AskError> {
    let subject = &case.subject;
    let (length, statements) = (subject.trace.steps.len(), propositions(subject).len());
    let mut found: Option<Vec<Vec<usize>>> = Some(Vec::new());
    for (part, from) in (1..).zip((0..length).step_by(plan.label_steps)) {
        let steps = from..length.min(from + plan.label_steps);
        let answer = asker.ask(&question(case, JudgeKind::Labeler, part, label_prompt(subject, steps.clone()))).await?;
        *costs = costs.plus(answer.costs);
        let read = parse_labels(&answer.text, steps, statements);
        found = found.zip(read).map(|(mut all, read)| {
            all.extend(read);
            all
        });
    }
    let Some(found) = found else { return Ok((vec![None; subject.constraints.len()], None)) };
    let mut count = LabelCount::default();
    for (step, found) in subject.trace.steps.iter().zip(&found) {
        let truths: Vec<bool> = subject.constraints.iter().flat_map(|c| c.truths_at(step)).collect();
        for (number, truth) in truths.into_iter().enumerate() {
            let is_found = found.contains(&number);
            count.true_labels += usize::from(truth);
            count.missed += usize::from(truth && !is_found);
            count.invented += usize::from(!truth && is_found);
        }
    }
    Ok((monitor_verdicts(subject, &found), Some(count)))
}

/// The verdicts of monitors on the numbers of the true statements (from 0) at each step.
fn monitor_verdicts(subject: &Synthetic, found: &[Vec<usize>]) -> Vec<Option<bool>> {
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
        Some(is_satisfied(&constraint.formula_over(&names), steps))
    };
    subject.constraints.iter().map(verdict).collect()
}

/// Whether the trace satisfies the formula at its end, according to a monitor.
fn is_satisfied(formula: &str, steps: impl Iterator<Item = impl Record>) -> bool {
    let mut formulas = Formulas::new();
    let parsed = formulas.parse(formula).expect("generated formulas are valid");
    let mut monitor = Monitor::new(Reset::Never);
    monitor.add(RULE, &formulas, parsed).expect("the formula is about the future, and the only rule");
    for step in steps {
        monitor.step_record(&step);
    }
    monitor.ending(RULE).is_some_and(FinalVerdict::holds)
}

fn summarize(setting: Setting, judge: JudgeKind, runs: &[&CaseRun]) -> JudgeRow {
    let verdicts: usize = runs.iter().map(|run| run.result.truths.len()).sum();
    let unreadable = runs.iter().flat_map(|run| &run.result.verdicts).filter(|verdict| verdict.is_none()).count();
    // A trace without a readable verdict says nothing about the accuracy of the judge.
    // Unreadable verdicts are counted apart; they show nothing about the judgement of the model.
    let read: Vec<&CaseRun> =
        runs.iter().copied().filter(|run| run.result.verdicts.iter().any(Option::is_some)).collect();
    let accuracies: Vec<f64> = read.iter().map(|run| accuracy(&run.result)).collect();
    let per_verdict = |value: f64, run: &CaseRun| value / as_f64(run.result.truths.len());
    let estimate = |value: &dyn Fn(&CaseRun) -> Option<f64>| -> Option<Estimate> {
        let all: Option<Vec<f64>> = runs.iter().map(|run| Some(per_verdict(value(run)?, run))).collect();
        Estimate::of_values(&all?)
    };
    let labels = runs.iter().filter_map(|run| run.labels).reduce(|a, b| LabelCount {
        true_labels: a.true_labels + b.true_labels,
        missed: a.missed + b.missed,
        invented: a.invented + b.invented,
    });
    JudgeRow {
        dimension: setting.dimension.name(),
        size: setting.size,
        formulas: setting.formulas.name(),
        judge,
        traces: runs.len(),
        verdicts,
        unreadable,
        accuracy: Estimate::of_shares(&accuracies),
        // Traces are left out, not verdicts: the verdicts on one trace are not independent.
        f1: jackknife(&read, |some| f1(some.iter().map(|run| &run.result))),
        calls_per_verdict: estimate(&|run| Some(as_f64(run.costs.calls))),
        tokens_per_verdict: estimate(&|run| Some(tokens_as_f64(run.costs.tokens?))),
        cost_per_verdict_usd: estimate(&|run| run.costs.cost_usd),
        labels,
    }
}

fn accuracy(result: &JudgeResult) -> f64 {
    let read: Vec<bool> =
        result.verdicts.iter().zip(&result.truths).filter_map(|(verdict, truth)| Some((*verdict)? == *truth)).collect();
    as_f64(read.iter().filter(|right| **right).count()) / as_f64(read.len())
}

/// F1 of finding violated constraints, over readable verdicts.
fn f1<'a>(results: impl Iterator<Item = &'a JudgeResult>) -> f64 {
    let mut score = Score::default();
    for (verdict, truth) in results.flat_map(|result| result.verdicts.iter().zip(&result.truths)) {
        match (verdict, truth) {
            (Some(false), false) => score.true_positives += 1,
            (Some(false), true) => score.false_positives += 1,
            (Some(true), false) => score.false_negatives += 1,
            (Some(true), true) | (None, _) => {}
        }
    }
    score.f1()
}
