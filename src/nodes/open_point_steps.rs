//! After a check that found a violation: looks for a counterexample without the steps that rest on open points. An open point needs an
//! answer from the owner of the documents; a counterexample that avoids it does not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::context::{NodeContext, halt_for_tool};
use super::timing::late_in_replay;
use crate::pipeline::{Attempt, NodeError, OpenPointSearch, RunView};
use crate::prompt::OpenPoint;
use crate::tla::{CheckOutcome, FurtherVerdict, Module, Trace, Verdict, ViolationKind};
use crate::toolchain::{CheckReport, CheckRequest, Limits, ToolContext};

/// The time for the searches about all violations together.
const MAX_TIME: Duration = Duration::from_secs(60);

/// What a search without some steps found.
enum Alternative {
    /// A counterexample without them.
    Found(Trace),
    /// That there is none.
    None,
    Undecided,
}

/// Open points, and the labels of the steps that depend on their readings.
struct Avoided<'a> {
    points: Vec<&'a OpenPoint>,
    labels: Vec<&'a str>,
}

impl Avoided<'_> {
    fn points(&self) -> Vec<String> {
        self.points.iter().map(|point| point.id.clone()).collect()
    }
}

impl NodeContext {
    /// Replaces the counterexample to each violated invariant or action property, if one takes steps that rest on open points, by one
    /// that takes none of them, if there is one. Says in the warnings what was found, and returns the searches.
    ///
    /// A behaviour that takes only some of the steps is a behaviour of the specification. Deadlocks and infinite behaviours are left
    /// out: if steps are removed, there can be some that the specification does not have.
    pub(super) async fn avoid_open_points(
        &self,
        view: &RunView,
        attempt: &Attempt<'_>,
        request: &CheckRequest,
        module: &Module,
        checked: &mut CheckReport,
    ) -> Result<Option<Vec<OpenPointSearch>>, NodeError> {
        let recorded = self.timing(attempt);
        // Recordings of earlier versions, whose reviews are about the counterexamples that they had.
        let is_unknown = self.is_replay() && !recorded.is_some_and(|timing| timing.open_points);
        if is_unknown || !matches!(checked.outcome.verdict, Verdict::Violated { .. }) {
            return Ok(None);
        }
        let mut left = self.limits.check.min(MAX_TIME);
        let mut searches = Vec::new();
        // A flaw can rest only on a property that covers a requirement.
        let covers = &view.specification.covers;
        let violated = checked.outcome.violated_names().filter(|name| covers.contains_key(*name));
        for name in violated.map(str::to_owned).collect::<Vec<_>>() {
            let Some(focused) = checked.outcome.focused_on(&name) else { continue };
            let (mut needed, mut undecided) = (Vec::new(), Vec::new());
            for avoided in steps_to_avoid(view, module, &focused) {
                let mut search = OpenPointSearch {
                    property: name.clone(),
                    points: avoided.points(),
                    found: false,
                    timed_out: false,
                };
                let is_late = |name: &String| *name == search.name();
                let found = match recorded {
                    Some(timing) if timing.timed_out.iter().any(is_late) => Alternative::Undecided,
                    _ => {
                        let (request, began) =
                            (with_steps_disabled(request, module, &name, &avoided.labels), Instant::now());
                        let time = if self.is_replay() { self.replay_limit() } else { left };
                        let found = self.search(request, &focused, time, &mut checked.output, &search).await?;
                        left = left.saturating_sub(began.elapsed());
                        found
                    }
                };
                let points = search.points.join(", ");
                search.timed_out = matches!(found, Alternative::Undecided);
                search.found = matches!(found, Alternative::Found(_));
                let is_done = search.found;
                searches.push(search);
                match found {
                    Alternative::Found(trace) => {
                        let states = focused.trace.as_ref().map_or(0, |trace| trace.steps.len());
                        checked.outcome.warnings.push(format!(
                            "the counterexample to {name} avoids the steps {}, which depend on {points}; the one found first, of {states} \
                             states, takes at least one of them",
                            avoided.labels.join(", ")
                        ));
                        replace_trace(&mut checked.outcome, &name, trace);
                    }
                    Alternative::None => needed.push(points),
                    Alternative::Undecided => undecided.push(points),
                }
                if is_done {
                    break;
                }
            }
            if !searches.iter().any(|search: &OpenPointSearch| search.property == name && search.found) {
                checked.outcome.warnings.extend(no_alternative(&name, &needed, &undecided));
            }
        }
        Ok(Some(searches))
    }

    /// Searches for the shortest counterexample of a specification without the steps.
    async fn search(
        &self,
        request: CheckRequest,
        focused: &CheckOutcome,
        time: Duration,
        output: &mut String,
        search: &OpenPointSearch,
    ) -> Result<Alternative, NodeError> {
        let limits = Limits { check: time, ..self.limits.clone() };
        let cx = ToolContext { limits: &limits, ..self.tool_context() };
        let checked = tokio::select! {
            checked = self.toolchain.check_without_details(&request, &cx) => checked,
            () = self.wait_unless_replay(time) => return Ok(Alternative::Undecided),
        };
        let CheckReport { outcome, output: own, .. } = match checked {
            Ok(checked) => checked,
            Err(error) if error.is_fatal() => return Err(halt_for_tool(&error).into()),
            Err(_) => return Ok(Alternative::Undecided),
        };
        let _ = write!(output, "\n\n===== {} =====\n{own}", search.name());
        if self.is_replay() && outcome.verdict.is_timed_out() {
            return Err(late_in_replay("the search for a counterexample without open points", time).into());
        }
        if outcome.verdict == Verdict::Holds && outcome.is_complete() {
            return Ok(Alternative::None);
        }
        if outcome.verdict != focused.verdict {
            return Ok(Alternative::Undecided);
        }
        let Verdict::Violated { violated } = &focused.verdict else { return Ok(Alternative::Undecided) };
        // Once more, with the names of its steps.
        let named = self.trace_with_names(request, violated, &cx).await?;
        Ok(named.map_or(Alternative::Undecided, Alternative::Found))
    }
}

/// Says that no counterexample does without the steps that open points affect; nothing if none was searched for.
fn no_alternative(property: &str, needed: &[String], undecided: &[String]) -> Option<String> {
    let list = |sets: &[String]| sets.iter().map(|set| format!("{{{set}}}")).collect::<Vec<_>>().join(", ");
    let needed = (!needed.is_empty()).then(|| {
        format!("{property} is not violated if the steps that these open points affect are left out: {}", list(needed))
    });
    let undecided = (!undecided.is_empty()).then(|| format!("not decided for {}", list(undecided)));
    match (needed, undecided) {
        (Some(needed), Some(undecided)) => Some(format!("{needed}; {undecided}")),
        (None, Some(undecided)) => {
            Some(format!("whether {property} is violated without the steps that open points affect was {undecided}"))
        }
        (needed, None) => needed,
    }
}

/// What to do without if the counterexample takes steps that open points affect: the steps of all undecided open points, then of those
/// whose steps it takes, then of each of these.
fn steps_to_avoid<'a>(view: &'a RunView, module: &'a Module, focused: &CheckOutcome) -> Vec<Avoided<'a>> {
    let kind = match &focused.verdict {
        Verdict::Violated { violated } => violated.kind,
        _ => return Vec::new(),
    };
    let Some(trace) = focused.trace.as_ref().filter(|trace| trace.lasso.is_none()) else { return Vec::new() };
    if !matches!(kind, ViolationKind::Invariant | ViolationKind::ActionProperty) {
        return Vec::new();
    }
    let taken: BTreeSet<&str> = trace.steps.iter().filter_map(|step| step.action.as_deref()).collect();
    let is_step = |name: &&str| {
        module.algorithm.as_ref().is_some_and(|algorithm| algorithm.labels.iter().any(|label| label.name == *name))
            && module.definition(name).is_some()
    };
    let labels_of = |point: &'a OpenPoint| point.affects.iter().map(String::as_str).filter(is_step);
    let all: Vec<&OpenPoint> = view.undecided_open_points().filter(|point| labels_of(point).next().is_some()).collect();
    let used: Vec<&OpenPoint> =
        all.iter().copied().filter(|point| labels_of(point).any(|label| taken.contains(label))).collect();
    if used.is_empty() {
        return Vec::new();
    }
    let avoided = |points: Vec<&'a OpenPoint>| {
        let labels: BTreeSet<&str> = points.iter().copied().flat_map(labels_of).collect();
        Avoided { points, labels: labels.into_iter().collect() }
    };
    // Without all of them first: a counterexample that avoids only some may rest on another.
    let mut sets = vec![all, used.clone()];
    sets.extend(used.into_iter().map(|point| vec![point]));
    let mut distinct: Vec<Vec<&OpenPoint>> = Vec::new();
    for set in sets {
        if !distinct.iter().any(|known| known.iter().map(|point| &point.id).eq(set.iter().map(|point| &point.id))) {
            distinct.push(set);
        }
    }
    // A formula that names a step would say something else without it.
    let read = names_read(module, focused);
    let mut sets: Vec<Avoided<'a>> = distinct.into_iter().map(avoided).collect();
    sets.retain(|avoided| !avoided.labels.iter().any(|label| read.contains(*label)));
    sets
}

/// The definitions that the violated property and what bounds the check read, directly or through others.
fn names_read(module: &Module, focused: &CheckOutcome) -> BTreeSet<String> {
    let bounds = &focused.bounds;
    let bounding = bounds.constraints.iter().chain(&bounds.view).cloned();
    let violated = focused.violated_names().map(str::to_owned);
    violated.chain(bounding).flat_map(|name| module.closure(&name)).collect()
}

/// The request for this property alone, in which no step of these labels is ever enabled. An `ACTION_CONSTRAINT` would not do:
/// checkers look at the state behind a forbidden step, too.
fn with_steps_disabled(request: &CheckRequest, module: &Module, property: &str, labels: &[&str]) -> CheckRequest {
    let mut request = request.clone();
    let mut bodies: Vec<_> =
        labels.iter().filter_map(|label| module.definition(label)).map(|d| d.code.clone()).collect();
    bodies.sort_by_key(|code| std::cmp::Reverse(code.start));
    let text = &mut request.spec.text;
    for code in bodies {
        let definition = &text[code.clone()];
        let Some(body) = definition.find("==").map(|at| at + 2) else { continue };
        // Lines stay lines, so that places in the module stay the same.
        let lines = definition[body..].matches('\n').count();
        text.replace_range(code.start + body..code.end, &format!(" FALSE{}", "\n".repeat(lines)));
    }
    let cfg = &mut request.cfg;
    cfg.invariants.retain(|name| name == property);
    cfg.properties.retain(|name| name == property);
    cfg.check_deadlock = Some(false);
    cfg.witnesses.clear();
    request.cfg_text = request.cfg.render();
    request
}

fn replace_trace(outcome: &mut CheckOutcome, name: &str, trace: Trace) {
    if outcome.violated_names().next() == Some(name) {
        outcome.trace = Some(trace);
        return;
    }
    for further in outcome.further.iter_mut().filter(|further| further.name == name) {
        if let FurtherVerdict::Violated { trace: own, .. } = &mut further.verdict {
            *own = Some(trace.clone());
        }
    }
}
