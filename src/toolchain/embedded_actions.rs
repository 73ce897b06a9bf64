//! Actions by runs of their own, for a checker that does not name them: which of them a step of a trace is, and which are
//! never taken. Nothing is guessed: what such a run does not decide is unknown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::process::{Cancel, Status};
use crate::tla::{ActionCoverage, Cfg, Disjuncts, Module, Trace, Verdict};

use super::embedded_output;
use super::embedded_run::{ALONE, Explored, TlaMc};
use super::explorer::{AtOnce, Explorer, Finding, Learned, Reading, Run};
use super::plan::{Order, RunPlan, whole};
use super::run::Jvm;
use super::scan::{Kind, tokens};
use super::{CheckRequest, Limits, SpecText, ToolContext, ToolError};

/// States after which the run that prints what is possible in each of them gives way to runs that look for what is left.
const PRINTED_STATES: usize = 20_000;
/// Runs for one action at a time where all together cannot be evaluated.
const MOST_SINGLE_RUNS: usize = 40;
/// A module with more states is not written.
const LONGEST_TRACE: usize = 2_000;

/// Which actions the steps of a trace are that have no name yet, by a run that goes along the trace and evaluates every
/// action on every step. A step gets a name where exactly one action explains it.
pub(super) async fn name_steps(
    checker: &dyn Explorer,
    request: &CheckRequest,
    mut trace: Trace,
    cx: &ToolContext<'_>,
) -> Result<Learned<Trace>, ToolError> {
    let steps = trace.steps.len();
    if trace.steps.iter().skip(1).all(|step| step.action.is_some()) {
        return Ok(Learned { what: trace, warnings: Vec::new(), output: String::new() });
    }
    let mut output = String::new();
    let names = match Actions::of(request) {
        Ok(_) if steps > LONGEST_TRACE => Err(format!("the trace has more than {LONGEST_TRACE} states")),
        Ok(actions) => actions.explain(checker, request, &trace, cx, &mut output).await?,
        Err(why) => Err(why),
    };
    let mut warnings = Vec::new();
    match names {
        Ok(names) => {
            for (step, name) in trace.steps.iter_mut().skip(1).zip(names).filter(|(step, _)| step.action.is_none()) {
                step.action = name;
            }
            let unknown = trace.steps.iter().skip(1).filter(|step| step.action.is_none()).count();
            if unknown > 0 {
                let all = steps - 1;
                let of = if all == 1 { "the step".to_owned() } else { format!("{unknown} of the {all} steps") };
                warnings.push(format!("no single action explains {of}"));
            }
        }
        Err(why) => warnings.push(format!("the actions of the steps are unknown: {why}")),
    }
    Ok(Learned { what: trace, warnings, output })
}

/// Which actions are taken in some reachable state, within the time of one check. An action is taken where it is
/// enabled: then the checker takes it.
pub(super) async fn coverage(
    checker: &TlaMc<'_>,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<Learned<Option<Vec<ActionCoverage>>>, ToolError> {
    let mut output = String::new();
    let actions = Actions::of(request);
    let taken = match &actions {
        Ok(actions) => actions.taken(checker, request, cx, &mut output).await?,
        Err(why) => Err(why.clone()),
    };
    Ok(match (actions, taken) {
        (Ok(actions), Ok(taken)) => Learned { what: Some(actions.covered(&taken)), warnings: Vec::new(), output },
        (Err(why), _) | (_, Err(why)) => {
            let warning = format!("which actions are never taken was not decided: {why}");
            Learned { what: None, warnings: vec![warning], output }
        }
    })
}

/// All that a configuration asks for, and the actions taken, in one run: for a specification of few states most of the
/// time goes into starting the checker. It counts only where everything holds and not too much had to be printed.
pub(super) async fn at_once(
    checker: &TlaMc<'_>,
    request: &CheckRequest,
    cx: &ToolContext<'_>,
) -> Result<Option<AtOnce>, ToolError> {
    let Ok(actions) = Actions::of(request) else { return Ok(None) };
    let all: Vec<usize> = (0..actions.disjuncts.actions.len()).collect();
    let cfg = &request.cfg;
    // With a constraint, what such a run says of properties may decide nothing: see `within_constraint`.
    let apart = !cfg.symmetry.is_empty() || cfg.view.is_some() || !cfg.constraints.is_empty();
    let properties = if apart { Vec::new() } else { cfg.properties.clone() };
    let temporal = !properties.is_empty();
    let plan = actions.enabled(request, &all, Round::Printing, &cfg.invariants, &properties);
    let plan = RunPlan { label: "all at once".to_owned(), deadlock: cfg.check_deadlock != Some(false), ..plan };
    let limits = Limits { check: ALONE.min(cx.limits.check), workers: Some(1), ..cx.limits.clone() };
    let cx = ToolContext { limits: &limits, ..*cx };
    let watched = watch(checker, request, &plan, &cx, Round::Printing, &actions, &all, Seeing::ToTheEnd).await?;
    let read = watched.read();
    if !read.no_error || read.finding.is_some() {
        return Ok(None);
    }
    let seconds = watched.explored.ended.wall.as_secs_f64();
    let temporal = temporal.then(|| Run {
        verdict: Verdict::Holds,
        read: Reading { liveness: read.liveness, ..Reading::default() },
        seconds,
        workers: 1,
    });
    let read = Reading { coverage: Some(actions.covered(&watched.seen)), ..read };
    let safety = Run { verdict: Verdict::Holds, read, seconds, workers: 1 };
    Ok(Some(AtOnce { safety, temporal, output: watched.shown(&actions) }))
}

/// One entry for each label: an action that stands in several places is taken where any of them is.
fn merged(all: impl Iterator<Item = ActionCoverage>) -> Vec<ActionCoverage> {
    let mut found: Vec<ActionCoverage> = Vec::new();
    for action in all {
        match found.iter_mut().find(|known| known.action == action.action) {
            Some(known) => {
                known.taken = known.taken.max(action.taken);
                known.is_lower_bound |= action.is_lower_bound;
            }
            None => found.push(action),
        }
    }
    found
}

/// The actions of a specification, and names that its modules leave free.
struct Actions {
    disjuncts: Disjuncts,
    variables: Vec<String>,
    /// A module's name and what our own definitions in it begin with.
    prefix: String,
    /// Model values that the configuration writes and the module has no name for.
    model_values: Vec<String>,
}

impl Actions {
    fn of(request: &CheckRequest) -> Result<Self, String> {
        let module = Module::parse(&request.spec.text).map_err(|e| e.to_string())?;
        let texts = || {
            std::iter::once(request.spec.text.as_str()).chain(request.spec.beside.iter().map(|(_, text)| text.as_str()))
        };
        let mut prefix = "TlaforgeAction".to_owned();
        while texts().any(|text| text.contains(&prefix)) || request.cfg_text.contains(&prefix) {
            prefix.push('_');
        }
        // A definition of that name would print something else, or nothing.
        if module.definition("PrintT").is_some() {
            return Err("the module defines `PrintT`".to_owned());
        }
        let disjuncts = Disjuncts::split(&module, &request.cfg, &prefix)?;
        let variables: Vec<String> = module.variables.iter().map(|variable| variable.name.clone()).collect();
        let model_values = model_values(&request.cfg, &module);
        // In the module that name means something else than the value that is printed so.
        if let Some(value) = model_values.iter().find(|v| module.definition(v).is_some() || variables.contains(v)) {
            return Err(format!("the configuration gives `{value}` as a value, and the module defines it"));
        }
        Ok(Self { disjuncts, variables, prefix, model_values })
    }

    fn module(&self, spec: &SpecText, body: &str) -> (String, String) {
        let Self { prefix, disjuncts, .. } = self;
        let text = format!(
            "---- MODULE {prefix} ----\nEXTENDS {}, Naturals, TLC\n{}{body}====\n",
            spec.name, disjuncts.definitions
        );
        (prefix.clone(), text)
    }

    fn covered(&self, taken: &BTreeSet<usize>) -> Vec<ActionCoverage> {
        let covered = self.disjuncts.actions.iter().enumerate().map(|(index, action)| ActionCoverage {
            action: action.label.clone(),
            taken: u64::from(taken.contains(&index)),
            distinct: 0,
            place: action.place,
            is_lower_bound: taken.contains(&index),
        });
        merged(covered)
    }

    fn formula(&self, index: usize) -> &str {
        &self.disjuncts.actions[index].formula
    }

    // ---- steps

    /// The name of the action for each step of the trace.
    async fn explain(
        &self,
        checker: &dyn Explorer,
        request: &CheckRequest,
        trace: &Trace,
        cx: &ToolContext<'_>,
        output: &mut String,
    ) -> Result<Result<Vec<Option<String>>, String>, ToolError> {
        let steps = trace.steps.len() - 1;
        let all: Vec<usize> = (0..self.disjuncts.actions.len()).collect();
        let mut table = vec![vec![None; all.len()]; steps];
        let mut why = self.evaluate(checker, request, trace, &all, &mut table, cx, output).await?;
        if why.is_some() && all.len() <= MOST_SINGLE_RUNS {
            // One of them cannot be evaluated on one of the steps: that need not keep the others from it.
            for index in &all {
                let failed = self.evaluate(checker, request, trace, &[*index], &mut table, cx, output).await?;
                why = why.or(failed);
            }
        }
        let explained = table.iter().any(|row| row.iter().all(Option::is_some));
        if let Some(why) = why.filter(|_| !explained) {
            return Ok(Err(why));
        }
        Ok(Ok(table.iter().map(|row| self.only(row)).collect()))
    }

    /// The one action that explains a step, where all were evaluated. An action in several places is one.
    fn only(&self, row: &[Option<bool>]) -> Option<String> {
        let known: Vec<bool> = row.iter().copied().collect::<Option<_>>()?;
        let names: BTreeSet<&str> = self
            .disjuncts
            .actions
            .iter()
            .zip(known)
            .filter(|(_, holds)| *holds)
            .map(|(a, _)| a.name.as_str())
            .collect();
        match names.len() {
            1 => names.first().map(|name| (*name).to_owned()),
            _ => None,
        }
    }

    /// Evaluates these actions on every step; says why where the run did not come to its end.
    #[expect(clippy::too_many_arguments, reason = "one run with all that it reads and writes")]
    async fn evaluate(
        &self,
        checker: &dyn Explorer,
        request: &CheckRequest,
        trace: &Trace,
        actions: &[usize],
        table: &mut [Vec<Option<bool>>],
        cx: &ToolContext<'_>,
        output: &mut String,
    ) -> Result<Option<String>, ToolError> {
        let plan = self.replay(request, trace, actions);
        let (run, printed) = match checker.run(&request.spec, &plan, cx).await {
            Err(ToolError::Broke { what, .. }) => return Ok(Some(what)),
            ended => ended?,
        };
        output.push_str(&printed);
        for line in unbroken(&printed) {
            let Some((step, values)) = self.told(&line) else { continue };
            if let Some(row) = step.checked_sub(1).and_then(|at| table.get_mut(at))
                && values.len() == actions.len()
            {
                for (action, value) in actions.iter().zip(values) {
                    row[*action] = Some(value);
                }
            }
        }
        Ok((!run.read.no_error).then(|| why(&run.read)))
    }

    /// `<<"TlaforgeAction", 2, TRUE, FALSE>>`.
    fn told(&self, line: &str) -> Option<(usize, Vec<bool>)> {
        let rest = line.strip_prefix("<<\"")?.strip_prefix(&self.prefix)?.strip_prefix("\", ")?.strip_suffix(">>")?;
        let mut parts = rest.split(", ");
        let step = parts.next()?.parse().ok()?;
        Some((step, parts.map(|part| part == "TRUE").collect()))
    }

    /// The run along the trace: one state after the other, and on each step every action as a formula.
    fn replay(&self, request: &CheckRequest, trace: &Trace, actions: &[usize]) -> RunPlan {
        let Self { prefix, variables, .. } = self;
        let mut body = String::new();
        // Writing to a string cannot fail.
        if !self.model_values.is_empty() {
            let _ = writeln!(body, "CONSTANTS {}", self.model_values.join(", "));
        }
        let _ = writeln!(body, "VARIABLE {prefix}Step\n{prefix}States == <<");
        for (index, step) in trace.steps.iter().enumerate() {
            let values: Vec<&str> = variables.iter().map(|v| step.state.get(v).map_or("0", String::as_str)).collect();
            let comma = if index + 1 < trace.steps.len() { "," } else { "" };
            let _ = writeln!(body, "  << {} >>{comma}", values.join(", "));
        }
        let each = |head: &str, equal: &dyn Fn(&str, usize) -> String| {
            let parts: Vec<String> = variables.iter().enumerate().map(|(at, v)| equal(v, at + 1)).collect();
            format!("{head} /\\ {}\n", parts.join(" /\\ "))
        };
        let _ = writeln!(body, ">>");
        body += &each(&format!("{prefix}Init == {prefix}Step = 1"), &|v, at| format!("{v} = {prefix}States[1][{at}]"));
        body += &each(
            &format!("{prefix}Next == {prefix}Step < {} /\\ {prefix}Step' = {prefix}Step + 1", trace.steps.len()),
            &|v, at| format!("{v}' = {prefix}States[{prefix}Step + 1][{at}]"),
        );
        for action in actions {
            let _ = writeln!(body, "{prefix}Is{action} == {}", self.formula(*action));
        }
        let all: Vec<String> = actions.iter().map(|action| format!("{prefix}Is{action}")).collect();
        let tuple = format!("<<\"{prefix}\", {prefix}Step, {}>>", all.join(", "));
        let _ = writeln!(body, "{prefix}Told == [][PrintT({tuple})]_{prefix}Step");
        let cfg = Cfg {
            specification: None,
            init: Some(format!("{prefix}Init")),
            next: Some(format!("{prefix}Next")),
            constants: self.constants(&request.cfg),
            properties: vec![format!("{prefix}Told")],
            ..Cfg::default()
        };
        RunPlan {
            label: "actions of the steps".to_owned(),
            wrapper: Some(self.module(&request.spec, &body)),
            cfg: cfg.render(),
            deadlock: false,
            coverage: false,
            order: Order::Fixed,
            jvm: Jvm::FastStart,
        }
    }

    fn constants(&self, cfg: &Cfg) -> std::collections::BTreeMap<String, String> {
        let own = self.model_values.iter().map(|value| (value.clone(), value.clone()));
        cfg.constants.clone().into_iter().chain(own).collect()
    }

    // ---- coverage

    /// The actions that some reachable state enables. First a run that prints for each state what is enabled there, until
    /// all have been seen or enough was printed; then runs that look for what is left, each of which finds at least one
    /// more, or that there are none.
    async fn taken(
        &self,
        checker: &TlaMc<'_>,
        request: &CheckRequest,
        cx: &ToolContext<'_>,
        output: &mut String,
    ) -> Result<Result<BTreeSet<usize>, String>, ToolError> {
        let mut left = cx.limits.check;
        let all: Vec<usize> = (0..self.disjuncts.actions.len()).collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut round = Round::Printing;
        loop {
            let rest: Vec<usize> = all.iter().copied().filter(|index| !seen.contains(index)).collect();
            if rest.is_empty() {
                return Ok(Ok(seen));
            }
            if left.is_zero() {
                return Ok(Err("no time was left for it".to_owned()));
            }
            let plan = self.enabled(request, &rest, round, &[], &[]);
            let limits = Limits { check: left, ..cx.limits.clone() };
            let in_time = ToolContext { limits: &limits, ..*cx };
            let watched = watch(checker, request, &plan, &in_time, round, self, &rest, Seeing::UntilAll).await?;
            left = left.saturating_sub(watched.explored.ended.wall);
            output.push_str(&watched.shown(self));
            let read = watched.read();
            let before = seen.len();
            seen.extend(&watched.seen);
            if read.no_error {
                return Ok(Ok(seen));
            }
            let stopped = round == Round::Printing && watched.explored.ended.status == Status::Cancelled;
            if !stopped && seen.len() == before {
                return Ok(Err(match watched.explored.ended.status {
                    Status::DeadlineExceeded => "no time was left for it".to_owned(),
                    _ => why(&read),
                }));
            }
            round = Round::Looking;
        }
    }

    /// The run that tells which of these actions are enabled. The bounds are those of the main run.
    fn enabled(
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
            // A formula with several lines keeps its columns, so it stands alone.
            let _ = writeln!(body, "{prefix}Is{action} == {}", self.formula(*action));
            let _ = writeln!(body, "{prefix}Can{action} == ENABLED {prefix}Is{action}");
        }
        let can: Vec<String> = rest.iter().map(|action| format!("{prefix}Can{action}")).collect();
        let print = format!("PrintT(<<\"{prefix}\", 1, {}>>)", can.join(", "));
        let invariant = match round {
            Round::Printing => print,
            Round::Looking => format!("IF {} THEN {print} /\\ FALSE ELSE TRUE", can.join(" \\/ ")),
        };
        // Nothing is taken in the states that a constraint cuts off, in which invariants are evaluated as well.
        let within = match request.cfg.constraints.as_slice() {
            [] => String::new(),
            constraints => format!("({}) => ", constraints.join(" /\\ ")),
        };
        let _ = writeln!(body, "{prefix}Seen == {within}({invariant})");
        let invariants = invariants.iter().cloned().chain([format!("{prefix}Seen")]).collect();
        let cfg = Cfg { invariants, properties: properties.to_vec(), ..request.cfg.clone() };
        let plan = whole(&cfg);
        RunPlan {
            label: "actions taken".to_owned(),
            wrapper: Some(self.module(&request.spec, &body)),
            deadlock: false,
            coverage: false,
            ..plan
        }
    }
}

/// How a run tells which actions are enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// For each state.
    Printing,
    /// For the first state that enables any of those that are left.
    Looking,
}

/// How long to look on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seeing {
    /// Until each action was enabled somewhere.
    UntilAll,
    /// To the run's own end.
    ToTheEnd,
}

/// A run that was looked at.
struct Watched {
    explored: Explored,
    /// The actions that were enabled in some state.
    seen: BTreeSet<usize>,
}

impl Watched {
    fn read(&self) -> Reading {
        embedded_output::read(&self.explored.stdout, &self.explored.stderr, self.explored.ended.status)
    }

    /// What it printed, without the line for each state.
    fn shown(&self, actions: &Actions) -> String {
        let shown = self.explored.output.lines().filter(|line| actions.told(line).is_none());
        shown.flat_map(|line| [line, "\n"]).collect()
    }
}

#[expect(clippy::too_many_arguments, reason = "one run with all that it reads")]
async fn watch(
    checker: &TlaMc<'_>,
    request: &CheckRequest,
    plan: &RunPlan,
    cx: &ToolContext<'_>,
    round: Round,
    actions: &Actions,
    rest: &[usize],
    seeing: Seeing,
) -> Result<Watched, ToolError> {
    let enough = Cancel::new();
    let mut seen = BTreeSet::new();
    let mut lines = 0_usize;
    let mut on_line = |line: &str| {
        let Some((_, enabled)) = actions.told(line) else { return };
        lines += 1;
        seen.extend(rest.iter().zip(enabled).filter(|(_, enabled)| *enabled).map(|(action, _)| *action));
        let all = seeing == Seeing::UntilAll && seen.len() == rest.len();
        if round == Round::Printing && (all || lines >= PRINTED_STATES) {
            enough.cancel();
        }
    };
    let explored = checker.explore(&request.spec, plan, cx, &enough, &mut on_line).await?;
    Ok(Watched { explored, seen })
}

/// The printed lines. TLC breaks a tuple that is longer than a line, with a blank after its bracket.
fn unbroken(printed: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in printed.lines() {
        match lines.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            None => lines.push(line.replacen("<< \"", "<<\"", 1)),
        }
        open = lines.last().is_some_and(|last| last.starts_with("<<\"") && !last.trim_end().ends_with(">>"));
        if let Some(last) = lines.last_mut().filter(|last| last.ends_with(" >>")) {
            last.truncate(last.len() - 3);
            last.push_str(">>");
        }
    }
    lines
}

/// Why a run did not come to its end, in its own words.
fn why(read: &Reading) -> String {
    match &read.finding {
        Some(Finding::Undecided(words) | Finding::Exhausted(words) | Finding::Broke(words)) => words.clone(),
        Some(Finding::Verdict(Verdict::Invalid { reason, .. })) => reason.clone(),
        Some(Finding::Verdict(_)) | None => "its run ended early".to_owned(),
    }
}

/// Model values that a configuration writes, as in `P = {p1, p2}`, and that the module has no name for.
fn model_values(cfg: &Cfg, module: &Module) -> Vec<String> {
    let mut found = BTreeSet::new();
    for value in cfg.constants.values().filter(|value| !value.starts_with("<-")) {
        for token in tokens(value) {
            let own = module.constants.iter().any(|constant| constant.name == token.text);
            let word = token.kind == Kind::Word
                && token.text.bytes().any(|b| b.is_ascii_alphabetic())
                && !matches!(token.text, "TRUE" | "FALSE");
            if word && !own {
                found.insert(token.text.to_owned());
            }
        }
    }
    found.into_iter().collect()
}
