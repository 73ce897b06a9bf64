//! Which actions are ever taken. The embedded checker does not count actions, so this takes runs of its own; what such
//! a run cannot decide is reported as unknown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tlaforge_process::{Cancel, Status};
use tlaforge_tla::{ActionCoverage, Cfg, Verdict};

use super::actions::{Actions, unfinished_reason};
use super::embedded_output;
use super::embedded_process::{CheckerRun, EmbeddedChecker, SINGLE_THREAD_TIME};
use super::explorer::{FurtherRuns, ParsedOutput, Run, SingleRunCheck};
use super::plan::{RunPlan, single_run};
use super::targets::Targets;
use super::witness_negations::Negations;
use super::{CheckRequest, Detail, Limits, ToolContext, ToolError};

/// Lines after which a run that prints the enabled actions of every state is stopped, and runs that search for the
/// missing actions take over.
const MAX_PRINTED_STATES: usize = 20_000;

/// Finds the actions that are taken in some reachable state, within the time of one check. An action counts as taken if
/// it is enabled, because the checker then takes it.
pub(super) async fn coverage(
    checker: &EmbeddedChecker<'_>,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<FurtherRuns<Option<Vec<ActionCoverage>>>, ToolError> {
    let mut output = String::new();
    let actions = Actions::list(request);
    let find_taken = match &actions {
        Ok(actions) => actions.find_taken(checker, request, cx, &mut output).await?,
        Err(why) => Err(why.clone()),
    };
    Ok(match (actions, find_taken) {
        (Ok(actions), Ok(find_taken)) => {
            FurtherRuns { result: Some(actions.coverage_entries(&find_taken)), warnings: Vec::new(), output }
        }
        (Err(why), _) | (_, Err(why)) => {
            let warning = format!("which actions are never taken was not decided: {why}");
            FurtherRuns { result: None, warnings: vec![warning], output }
        }
    })
}

/// Checks everything that a configuration asks for and, unless only the verdict is wanted, which actions are taken, in one
/// run. For a specification of few states most of the time goes into starting the checker. Returns `None` unless
/// everything holds and the run stayed below the output limit.
pub(super) async fn check_in_one_run(
    checker: &EmbeddedChecker<'_>,
    request: &CheckRequest,
    targets: &Targets,
    detail: Detail,
    cx: &ToolContext<'_>,
) -> Result<Option<SingleRunCheck>, ToolError> {
    let actions = match detail {
        Detail::VerdictOnly => None,
        Detail::Explained => match Actions::list(request) {
            Ok(actions) => Some(actions),
            Err(_) => return Ok(None),
        },
    };
    let all: Vec<usize> = (0..actions.as_ref().map_or(0, |actions| actions.disjuncts.actions.len())).collect();
    let cfg = &request.cfg;
    // With a constraint, "holds" for a temporal property may decide nothing: see `limit_liveness_to_constraint`.
    // SYMMETRY and VIEW give temporal properties false counterexamples, so with them they need a run of their own.
    let separate_properties = !cfg.symmetry.is_empty() || cfg.view.is_some() || !cfg.constraints.is_empty();
    let properties = if separate_properties { Vec::new() } else { cfg.properties.clone() };
    let temporal = !properties.is_empty();
    let plan = match &actions {
        Some(actions) => actions.enabled_plan(request, &all, Round::EveryState, &cfg.invariants, &properties),
        None => RunPlan { coverage: false, ..single_run(&Cfg { properties, ..cfg.clone() }) },
    };
    let plan = RunPlan { label: "all at once".to_owned(), deadlock: cfg.check_deadlock != Some(false), ..plan };
    // If it does not end by then, it is given up, and the ordinary runs use all threads.
    let limits = Limits { check: SINGLE_THREAD_TIME.min(cx.limits.check), workers: Some(1), ..cx.limits.clone() };
    let cx = ToolContext { limits: &limits, ..*cx };
    let witnesses = Negations::new(request, targets);
    let watched_run = match &actions {
        Some(actions) => {
            let watch = Watch { round: Round::EveryState, rest: &all, stop_condition: StopCondition::EndOfRun };
            run_watching(checker, request, &plan, witnesses.as_ref(), &cx, actions, &watch).await?
        }
        None => {
            let checker_run =
                checker.explore(&request.spec, &plan, witnesses.as_ref(), &cx, &Cancel::new(), &mut |_| {}).await?;
            WatchedRun { checker_run, seen: BTreeSet::new() }
        }
    };
    let parsed = watched_run.parsed();
    // The ordinary runs name a violated property and derive its trace.
    if !parsed.no_error || parsed.finding.is_some() {
        return Ok(None);
    }
    let seconds = watched_run.checker_run.ended.wall.as_secs_f64();
    let temporal = temporal.then(|| Run {
        verdict: Verdict::Holds,
        parsed: ParsedOutput { liveness: parsed.liveness, ..ParsedOutput::default() },
        seconds,
        workers: 1,
    });
    let coverage = actions.as_ref().map(|actions| actions.coverage_entries(&watched_run.seen));
    let stdout = &watched_run.checker_run.stdout;
    let witnesses = witnesses.map_or_else(Vec::new, |all| all.outcomes(stdout, Some(&Verdict::Holds)));
    let output = match &actions {
        Some(actions) => watched_run.output_without_state_lines(actions),
        None => watched_run.checker_run.output,
    };
    let safety = Run { verdict: Verdict::Holds, parsed: ParsedOutput { coverage, ..parsed }, seconds, workers: 1 };
    Ok(Some(SingleRunCheck { safety, temporal, witnesses, output }))
}

impl Actions {
    /// The actions that some reachable state enables. The first run prints for each state what is enabled there, and
    /// stops once it has seen all actions or printed enough. Each later run searches for the missing actions; it finds
    /// at least one more, or shows that there is none.
    async fn find_taken(
        &self,
        checker: &EmbeddedChecker<'_>,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
        output: &mut String,
    ) -> Result<Result<BTreeSet<usize>, String>, ToolError> {
        let mut left = cx.limits.check;
        let all: Vec<usize> = (0..self.disjuncts.actions.len()).collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut round = Round::EveryState;
        loop {
            let rest: Vec<usize> = all.iter().copied().filter(|index| !seen.contains(index)).collect();
            if rest.is_empty() {
                return Ok(Ok(seen));
            }
            if left.is_zero() {
                return Ok(Err("no time was left for it".to_owned()));
            }
            let plan = self.enabled_plan(request, &rest, round, &[], &[]);
            let limits = Limits { check: left, ..cx.limits.clone() };
            let in_time = ToolContext { limits: &limits, ..*cx };
            let watch = Watch { round, rest: &rest, stop_condition: StopCondition::AllEnabled };
            let watched_run = run_watching(checker, request, &plan, None, &in_time, self, &watch).await?;
            left = left.saturating_sub(watched_run.checker_run.ended.wall);
            output.push_str(&watched_run.output_without_state_lines(self));
            let parsed = watched_run.parsed();
            let before = seen.len();
            seen.extend(&watched_run.seen);
            if parsed.no_error {
                return Ok(Ok(seen));
            }
            // We stopped it: it had seen or printed enough. Then the next round goes on.
            let stopped = round == Round::EveryState && watched_run.checker_run.ended.status == Status::Cancelled;
            if !stopped && seen.len() == before {
                return Ok(Err(match watched_run.checker_run.ended.status {
                    Status::DeadlineExceeded => "no time was left for it".to_owned(),
                    _ => unfinished_reason(&parsed),
                }));
            }
            round = Round::FirstMatch;
        }
    }

    /// The plan of a run that reports which of these actions are enabled, within the bounds of the main run.
    fn enabled_plan(
        &self,
        request: &CheckRequest,
        rest: &[usize],
        round: Round,
        invariants: &[String],
        properties: &[String],
    ) -> RunPlan {
        let Self { prefix, .. } = self;
        let mut body = String::new();
        for action in rest {
            // A formula of several lines must keep its columns, so it gets a definition of its own.
            let _ = writeln!(body, "{prefix}Is{action} == {}", self.formula(*action));
            let _ = writeln!(body, "{prefix}Can{action} == ENABLED {prefix}Is{action}");
        }
        let can: Vec<String> = rest.iter().map(|action| format!("{prefix}Can{action}")).collect();
        // One line a state; the truth values are in the order of `rest`.
        let print = format!("PrintT(<<\"{prefix}\", 1, {}>>)", can.join(", "));
        let invariant = match round {
            Round::EveryState => print,
            Round::FirstMatch => format!("IF {} THEN {print} /\\ FALSE ELSE TRUE", can.join(" \\/ ")),
        };
        // TLC evaluates invariants also in the states that a constraint cuts off; no action is taken there.
        let within = match request.cfg.constraints.as_slice() {
            [] => String::new(),
            constraints => format!("({}) => ", constraints.join(" /\\ ")),
        };
        let _ = writeln!(body, "{prefix}Seen == {within}({invariant})");
        let invariants = invariants.iter().cloned().chain([format!("{prefix}Seen")]).collect();
        let cfg = Cfg { invariants, properties: properties.to_vec(), ..request.cfg.clone() };
        let plan = single_run(&cfg);
        RunPlan {
            label: "actions taken".to_owned(),
            wrapper: Some(self.module(&request.spec, &body)),
            // A deadlock would end the run before it has seen all actions.
            deadlock: false,
            coverage: false,
            ..plan
        }
    }
}

/// When a run prints which actions are enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// In every state.
    EveryState,
    /// In the first state that enables one of the missing actions.
    FirstMatch,
}

/// When to stop reading a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopCondition {
    /// Once each action was enabled somewhere.
    AllEnabled,
    /// Only when the run ends by itself.
    EndOfRun,
}

struct WatchedRun {
    checker_run: CheckerRun,
    /// Actions that were enabled in some state.
    seen: BTreeSet<usize>,
}

impl WatchedRun {
    fn parsed(&self) -> ParsedOutput {
        embedded_output::parse(&self.checker_run.stdout, &self.checker_run.stderr, self.checker_run.ended.status)
    }

    /// The output without the line for each state.
    fn output_without_state_lines(&self, actions: &Actions) -> String {
        let output_without_state_lines =
            self.checker_run.output.lines().filter(|line| actions.parse_printed_line(line).is_none());
        output_without_state_lines.flat_map(|line| [line, "\n"]).collect()
    }
}

/// What to read from a run, and how long.
struct Watch<'a> {
    round: Round,
    /// The actions whose truth values each line has.
    rest: &'a [usize],
    stop_condition: StopCondition,
}

async fn run_watching(
    checker: &EmbeddedChecker<'_>,
    request: &CheckRequest,
    plan: &RunPlan,
    witnesses: Option<&Negations>,
    cx: &ToolContext<'_>,
    actions: &Actions,
    watch: &Watch<'_>,
) -> Result<WatchedRun, ToolError> {
    let enough = Cancel::new();
    let mut seen = BTreeSet::new();
    let mut lines = 0_usize;
    let mut on_line = |line: &str| {
        let Some((_, enabled)) = actions.parse_printed_line(line) else { return };
        lines += 1;
        seen.extend(watch.rest.iter().zip(enabled).filter(|(_, is_enabled)| *is_enabled).map(|(action, _)| *action));
        let all = watch.stop_condition == StopCondition::AllEnabled && seen.len() == watch.rest.len();
        if watch.round == Round::EveryState && (all || lines >= MAX_PRINTED_STATES) {
            enough.cancel();
        }
    };
    let checker_run = checker.explore(&request.spec, plan, witnesses, cx, &enough, &mut on_line).await?;
    Ok(WatchedRun { checker_run, seen })
}
