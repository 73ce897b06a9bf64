//! Checks that a passing check is not vacuous: see [`tlaforge_tla::Question`] and [`tlaforge_tla::TypeWalk`]. An undecided
//! question is listed with its reason, except whether a variable changes: an undecided one says nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use tlaforge_tla::{
    ASSERTION, Bounds, Cfg, CheckOutcome, ContractCase, FailingAssertion, Module, PairWalk, PremiseQuestions, Question,
    Reached, Subject, TypeWalk, TypeWalks, UntakenCase, Verdict, ViolationKind, change_questions, contract_cases,
    deadlock_questions, failing_assertions, pair_walks, premise_questions, type_walks,
};

use super::embedded_explorer::is_state_limit;
use super::explorer::{Explorer, PastViolations, Run};
use super::plan::{self, CaseSearch, RunPlan, free_name};
use super::session::{NO_TIME_LEFT, Session, reached_verdict};
use super::targets::Targets;
use super::{CheckRequest, Limits, PastViolationLimits, SpecText, ToolContext, ToolError};

/// The time for all pairs of invariants.
const MAX_PAIR_TIME: Duration = Duration::from_secs(20);
/// The number of the first search for a pair: those for single properties have lower ones.
const FIRST_PAIR: usize = 10_000;
/// Distinct states at which the search for a state that violates a property ends.
const MAX_TYPED_STATES: u64 = 10_000;

/// Maximum number of cases of step contracts that are searched for.
const MAX_CASES: usize = 300;
/// Distinct states at which the search for the cases of step contracts ends.
const MAX_STATES_FOR_CASES: u64 = 100_000;

/// Finds pairs of invariants that no state of the types satisfies, one of them violated, and says so. All searches together get the
/// time of one run.
pub(super) async fn find_contradictions(
    session: &mut Session<'_>,
    outcome: &CheckOutcome,
) -> Result<Vec<String>, ToolError> {
    let mut found = Vec::new();
    let Ok(module) = Module::parse(&session.request.spec.text) else { return Ok(found) };
    let cfg = &session.request.cfg;
    let violated: Vec<&str> = outcome.violated_names().collect();
    // What TypeOK allows then says nothing of the states that there are.
    if violated.contains(&"TypeOK") {
        return Ok(found);
    }
    let pairs = pair_walks(&module, cfg, &violated);
    let covers = module.requirements_by_property(cfg);
    let quick = session.explorer.quick();
    let mut asking =
        Asking { left: session.cx.limits.check.min(MAX_PAIR_TIME), decided: BTreeMap::new(), quick, session };
    let values: Vec<String> = cfg.constants.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let within = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
    for (number, PairWalk { names: [first, second], walk, alone }) in pairs.into_iter().enumerate() {
        if asking.walk(FIRST_PAIR + 3 * number, &walk).await? != Reached::No {
            continue;
        }
        // An invariant that no state satisfies contradicts itself and no other.
        let mut is_satisfied = true;
        for (part, walk) in alone.iter().enumerate() {
            is_satisfied &= matches!(asking.walk(FIRST_PAIR + 3 * number + 1 + part, walk).await?, Reached::Yes { .. });
        }
        if is_satisfied {
            let words = |name: &str| {
                covers.get(name).map_or_else(|| name.to_owned(), |ids| format!("{name} ({})", ids.join(", ")))
            };
            found.push(format!(
                "{} and {} contradict each other{within}: no state that TypeOK allows satisfies both",
                words(&first),
                words(&second)
            ));
        }
    }
    Ok(found)
}

/// Adds the answers to the bounds of the check. All runs together get the time of one run.
pub(super) async fn check_vacuity(session: &mut Session<'_>, bounds: &mut Bounds) -> Result<(), ToolError> {
    let Ok(module) = Module::parse(&session.request.spec.text) else { return Ok(()) };
    let cfg = &session.request.cfg;
    // Steps first: they are few, and the time may not suffice for all premises.
    let steps = deadlock_questions(&module, cfg).unwrap_or_else(|why| {
        bounds.always_enabled.push(format!("the steps of the specification are unknown: {why}"));
        Vec::new()
    });
    let PremiseQuestions { questions: premises, left_out, unconditional } = premise_questions(&module, cfg);
    let changes = change_questions(&module, cfg);
    let TypeWalks { walks, without, constant } = type_walks(&module, cfg);
    let questions: Vec<Question> = steps.into_iter().chain(premises).chain(changes).collect();
    let quick = session.explorer.quick();
    let mut asking = Asking { left: session.cx.limits.check, decided: BTreeMap::new(), quick, session };
    let predicates = asking.ask_together(&questions).await?;
    let mut premises: BTreeMap<String, Vec<(Subject, bool)>> = BTreeMap::new();
    for (question, names) in questions.into_iter().zip(predicates) {
        let reached = asking.answer(&question, &names).await?;
        let property = question.property.clone();
        if matches!(question.subject, Subject::Premise | Subject::Eventuality) {
            premises.entry(property.clone()).or_default().push((question.subject, reached == Reached::No));
        }
        let (meaning, list) = match question.subject {
            Subject::Step => ("always possible", &mut bounds.always_enabled),
            Subject::Premise => ("never satisfied", &mut bounds.vacuous_premises),
            Subject::Eventuality => ("", &mut bounds.initial_state_parts),
            Subject::Change => {
                if reached == Reached::No {
                    let why = format!("no variable that it reads ever changes: {}", question.label);
                    bounds.vacuous_properties.insert(property, why);
                }
                continue;
            }
        };
        match reached {
            Reached::Yes { .. } => {}
            Reached::No if meaning.is_empty() => list.push(question.label),
            Reached::No => list.push(format!("{} ({meaning})", question.label)),
            Reached::Unknown(why) => list.push(format!("{} (not decided: {})", question.label, first_line(&why))),
        }
    }
    for (property, never) in premises {
        if never.iter().all(|(_, never)| *never) && !unconditional.contains(&property) {
            let has_premise = never.iter().any(|(subject, _)| *subject == Subject::Premise);
            let why =
                if has_premise { "none of its premises is ever satisfied" } else { "it holds in each initial state" };
            bounds.vacuous_properties.insert(property, why.to_owned());
        }
    }
    if left_out > 0 {
        bounds.vacuous_premises.push(format!("{left_out} more (not decided: too many premises)"));
    }
    if let Some((alone, all)) = failing_assertions(&module, cfg) {
        asking.assertions(alone, all, bounds).await?;
    }
    bounds
        .vacuous_properties
        .extend(constant.into_iter().map(|property| (property, "it reads no variable".to_owned())));
    bounds.not_falsified.extend(without.into_iter().map(|(property, why)| format!("{property} ({why})")));
    for (number, (within, beyond)) in walks.into_iter().enumerate() {
        let property = within.property.clone();
        match asking.walk(2 * number, &within).await? {
            Reached::Yes { .. } => {}
            Reached::Unknown(why) => bounds.not_falsified.push(format!("{property} ({})", first_line(&why))),
            Reached::No => {
                // A property can repeat a part of TypeOK. It is checked then, and not only true because it cannot be false.
                let repeats_types = match beyond {
                    Some(beyond) => matches!(asking.walk(2 * number + 1, &beyond).await?, Reached::Yes { .. }),
                    None => false,
                };
                if repeats_types {
                    bounds.not_falsified.push(format!("{property} (it says no more than TypeOK)"));
                } else {
                    let why = "it is true in every state that TypeOK allows".to_owned();
                    bounds.vacuous_properties.insert(property, why);
                }
            }
        }
    }
    bounds.untaken_cases = Box::pin(asking.untaken_cases(&module, cfg)).await?;
    Ok(())
}

/// The time of one search for a state that violates a property.
const MAX_WALK: Duration = Duration::from_secs(10);

/// The first line of a reason.
fn first_line(why: &str) -> String {
    why.lines().next().unwrap_or_default().trim().to_owned()
}

/// A case of a step contract that a search has found or not.
struct SearchedCase {
    case: ContractCase,
    /// Why it is not known whether what was searched for exists.
    undecided: Option<String>,
}

impl SearchedCase {
    fn listed(self) -> UntakenCase {
        let ContractCase { label, text, line, .. } = self.case;
        UntakenCase { step: label, case: text, line, undecided: self.undecided }
    }
}

struct Asking<'s, 'a> {
    session: &'s mut Session<'a>,
    /// The embedded checker, if the session's is TLC: it starts faster, and has a limit of states.
    quick: Option<Box<dyn Explorer + 'a>>,
    /// The time left for all runs.
    left: Duration,
    /// What the common run decided, by the name of the predicate.
    decided: BTreeMap<String, Reached>,
}

impl Asking<'_, '_> {
    /// Asks all questions about states in one run, if the checker can. Returns the name of each predicate, by question and
    /// alternative.
    async fn ask_together(&mut self, questions: &[Question]) -> Result<Vec<Vec<Vec<String>>>, ToolError> {
        let CheckRequest { spec, cfg, .. } = self.session.request;
        let prefix = free_name(spec, "TlaforgeAsked".to_owned());
        let mut targets = Targets::default();
        let mut defined = BTreeSet::new();
        let mut number = 0;
        let mut names = Vec::new();
        for question in questions {
            let mut alternatives = Vec::new();
            if !question.is_about_steps && defined.insert(&question.definitions) {
                targets.definitions.push_str(&question.definitions);
            }
            for alternative in &question.alternatives {
                let mut own = Vec::new();
                for predicate in alternative {
                    let name = format!("{prefix}{number}");
                    number += 1;
                    if !question.is_about_steps {
                        targets.definitions.extend([&name, " == (", predicate, ")\n"]);
                        targets.predicates.push(name.clone());
                    }
                    own.push(name);
                }
                alternatives.push(own);
            }
            names.push(alternatives);
        }
        if targets.predicates.len() > 1 {
            // SYMMETRY may hide a predicate that distinguishes elements of a symmetric set.
            let cfg = Cfg { symmetry: Vec::new(), ..cfg.clone() };
            let request = CheckRequest { cfg_text: cfg.render(), cfg, ..self.session.request.clone() };
            let limits = Limits { check: self.quick_time(), ..self.session.cx.limits.clone() };
            let cx = ToolContext { limits: &limits, ..*self.session.cx };
            let began = Instant::now();
            let explorer = self.quick.as_deref().unwrap_or(self.session.explorer);
            match explorer.search_witnesses(&request, &targets, &cx).await {
                Ok(found) => {
                    self.add_output(&found.output);
                    self.decided = found.result.into_iter().map(|one| (one.name, one.reached)).collect();
                }
                Err(error) if error.is_fatal() => return Err(error),
                // Each question then gets a run of its own.
                Err(_) => {}
            }
            self.left = self.left.saturating_sub(began.elapsed());
        }
        Ok(names)
    }

    /// Whether any alternative is satisfied, each of its predicates somewhere.
    async fn answer(&mut self, question: &Question, names: &[Vec<String>]) -> Result<Reached, ToolError> {
        let mut answer = Reached::No;
        for (alternative, names) in question.alternatives.iter().zip(names) {
            let mut reached = Reached::No;
            for (predicate, name) in alternative.iter().zip(names) {
                reached = match self.decided.get(name) {
                    Some(decided) => decided.clone(),
                    None => self.ask_alone(question, predicate, name).await?,
                };
                if !matches!(reached, Reached::Yes { .. }) {
                    break;
                }
            }
            match reached {
                Reached::Yes { .. } => return Ok(reached),
                Reached::Unknown(_) => answer = reached,
                Reached::No => {}
            }
        }
        Ok(answer)
    }

    async fn ask_alone(&mut self, question: &Question, predicate: &str, name: &str) -> Result<Reached, ToolError> {
        let CheckRequest { spec, cfg, .. } = self.session.request;
        let plan = plan::question(spec, cfg, name, question, predicate);
        Ok(self.run(spec, &plan).await?.map_or_else(Reached::Unknown, reached_verdict))
    }

    /// Runs the quick checker, and the other one if the first gives no verdict. The inner error says why neither ran.
    async fn run(&mut self, spec: &SpecText, plan: &RunPlan) -> Result<Result<Run, String>, ToolError> {
        let mut last = Err(NO_TIME_LEFT.to_owned());
        for explorer in self.quick.as_deref().into_iter().chain([self.session.explorer]) {
            // Starting TLC alone takes several times as long.
            if self.left.as_millis() < 100 {
                break;
            }
            let limits = Limits { check: self.quick_time(), ..self.session.cx.limits.clone() };
            let in_time = ToolContext { limits: &limits, ..*self.session.cx };
            last = match explorer.run(spec, plan, &in_time).await {
                Ok((run, output)) => {
                    if explorer.checker() == self.session.explorer.checker() {
                        self.session.output.push_str(&output);
                    }
                    self.left = self.left.saturating_sub(Duration::from_secs_f64(run.seconds));
                    Ok(run)
                }
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => Err(error.to_string()),
            };
            if matches!(&last, Ok(run) if matches!(run.verdict, Verdict::Holds | Verdict::Violated { .. })) {
                break;
            }
        }
        Ok(last)
    }

    /// The output of a check is that of its checker, so that of a quick one is dropped.
    fn add_output(&mut self, output: &str) {
        if self.quick.is_none() {
            self.session.output.push_str(output);
        }
    }

    /// The time for a run of the quick checker, after which the other one has as much.
    fn quick_time(&self) -> Duration {
        if self.quick.is_some() { self.left / 2 } else { self.left }
    }

    /// Which assertions a reachable step evaluates.
    async fn assertions(
        &mut self,
        alone: Vec<FailingAssertion>,
        all: String,
        bounds: &mut Bounds,
    ) -> Result<(), ToolError> {
        match self.fails(all).await? {
            Reached::No => {
                let why = "no reachable step evaluates an assertion".to_owned();
                bounds.vacuous_properties.insert(ASSERTION.to_owned(), why);
                return Ok(());
            }
            Reached::Unknown(why) => {
                bounds.vacuous_premises.push(format!("{ASSERTION} (not decided that a step evaluates one: {why})"));
                return Ok(());
            }
            Reached::Yes { .. } if alone.len() < 2 => return Ok(()),
            Reached::Yes { .. } => {}
        }
        for FailingAssertion { condition, module } in alone {
            let why = match self.fails(module).await? {
                Reached::Yes { .. } => continue,
                Reached::No => "evaluated by no reachable step".to_owned(),
                Reached::Unknown(why) => format!("not decided that a step evaluates it: {why}"),
            };
            bounds.vacuous_premises.push(format!("{ASSERTION}: `{condition}` ({why})"));
        }
        Ok(())
    }

    /// Whether an assertion fails in this module.
    async fn fails(&mut self, text: String) -> Result<Reached, ToolError> {
        let request = self.session.request;
        let spec = SpecText { text, ..request.spec.clone() };
        let run = self.run(&spec, &plan::part_of_safety(&request.cfg, &[], false)).await?;
        Ok(run.map_or_else(Reached::Unknown, |run| match run.verdict {
            Verdict::Violated { violated } if violated.kind == ViolationKind::Assertion => Reached::Yes { depth: 1 },
            _ => reached_verdict(run),
        }))
    }

    /// The cases of step contracts that no reachable step is known to take, after one search for all of them.
    async fn untaken_cases(&mut self, module: &Module, cfg: &Cfg) -> Result<Vec<UntakenCase>, ToolError> {
        let mut cases = contract_cases(module, cfg);
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let too_many = Some(format!("more than {MAX_CASES} cases"));
        let left_out = cases.split_off(MAX_CASES.min(cases.len())).into_iter();
        let left_out = left_out.map(|case| SearchedCase { case, undecided: too_many.clone() });
        let (_, untaken) = self.search_cases(cfg, cases, CaseSearch::Taken).await?;
        // A case that only ever changes nothing is shown by no step. So it is left out if a reachable state allows it.
        let (stuttering, listed) = self.search_again(cfg, untaken, CaseSearch::StutteringAllowed).await?;
        let (changing, _) = self.search_again(cfg, stuttering, CaseSearch::ChangeAllowed).await?;
        let untaken = listed.into_iter().chain(changing).chain(left_out);
        let mut untaken: Vec<UntakenCase> = untaken.map(SearchedCase::listed).collect();
        untaken.sort_by_key(|case| case.line);
        Ok(untaken)
    }

    /// Searches for cases that an earlier search has not found. What that one did not decide stays undecided. Returns the cases that
    /// this search finds, and the others.
    async fn search_again(
        &mut self,
        cfg: &Cfg,
        cases: Vec<SearchedCase>,
        search: CaseSearch,
    ) -> Result<(Vec<SearchedCase>, Vec<SearchedCase>), ToolError> {
        if cases.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let known: BTreeMap<String, Option<String>> =
            cases.iter().map(|one| (one.case.definition.clone(), one.undecided.clone())).collect();
        let (found, rest) = self.search_cases(cfg, cases.into_iter().map(|one| one.case).collect(), search).await?;
        let with_reason = |one: SearchedCase| {
            let earlier = known.get(&one.case.definition).cloned().flatten();
            SearchedCase { undecided: earlier.or(one.undecided), ..one }
        };
        Ok((found.into_iter().map(with_reason).collect(), rest.into_iter().map(with_reason).collect()))
    }

    /// Searches for all cases at once. If an error ends the search, those that are left are searched for one by one, because an error
    /// in one formula hides the others. Returns the cases that were found, and the others.
    async fn search_cases(
        &mut self,
        cfg: &Cfg,
        cases: Vec<ContractCase>,
        search: CaseSearch,
    ) -> Result<(Vec<SearchedCase>, Vec<SearchedCase>), ToolError> {
        let (mut found, mut rest) = (Vec::new(), Vec::new());
        let mut batches = vec![cases];
        while let Some(batch) = batches.pop() {
            let (plan, names) = plan::contract_cases(&self.session.request.spec, cfg, &batch, search);
            let limits = PastViolationLimits { states: Some(MAX_STATES_FOR_CASES), depth: None, ends_after_all: true };
            let (violated, why, is_limit) = match self.run_past_violations(&plan, limits, self.left).await? {
                Ok(PastViolations { violated, run, .. }) => {
                    let is_limit = run.verdict.is_timed_out() || is_state_limit(&run.verdict);
                    match reached_verdict(run) {
                        Reached::Unknown(why) => (violated, Some(first_line(&why)), is_limit),
                        Reached::Yes { .. } | Reached::No => (violated, None, is_limit),
                    }
                }
                Err(why) => (Vec::new(), Some(first_line(&why)), true),
            };
            let is_alone = batch.len() == 1;
            for (case, name) in batch.into_iter().zip(names) {
                if violated.contains(&name) {
                    found.push(SearchedCase { case, undecided: None });
                } else if why.is_some() && !is_limit && !is_alone {
                    batches.push(vec![case]);
                } else {
                    rest.push(SearchedCase { case, undecided: why.clone() });
                }
            }
        }
        Ok((found, rest))
    }

    /// Searches past violations with the quick checker. The inner error says why there was no search.
    async fn run_past_violations(
        &mut self,
        plan: &RunPlan,
        past_violations: PastViolationLimits,
        time: Duration,
    ) -> Result<Result<PastViolations, String>, ToolError> {
        let Session { explorer, request, cx, .. } = *self.session;
        if self.left.is_zero() {
            return Ok(Err(NO_TIME_LEFT.to_owned()));
        }
        let limits = Limits { check: time.min(self.left), past_violations, ..cx.limits.clone() };
        let in_time = ToolContext { limits: &limits, ..*cx };
        let searching = self.quick.as_deref().unwrap_or(explorer);
        Ok(match searching.run_past_violations(&request.spec, plan, &in_time).await {
            Ok(Some(found)) => {
                self.add_output(&found.output);
                self.left = self.left.saturating_sub(Duration::from_secs_f64(found.run.seconds));
                Ok(found)
            }
            // Without a limit of states it may not end.
            Ok(None) => Err("no search with a limit of states was possible".to_owned()),
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Whether the search meets a state, or a step, that the property forbids.
    async fn walk(&mut self, number: usize, walk: &TypeWalk) -> Result<Reached, ToolError> {
        let request = self.session.request;
        let plan = plan::type_walk(&request.spec, &request.cfg, number, walk);
        let limits = PastViolationLimits { states: Some(MAX_TYPED_STATES), depth: None, ends_after_all: true };
        let run = match self.run_past_violations(&plan, limits, MAX_WALK).await? {
            Ok(PastViolations { violated, .. }) if violated.contains(&walk.formula) => {
                return Ok(Reached::Yes { depth: 1 });
            }
            Ok(PastViolations { run, .. }) => run,
            Err(why) => return Ok(Reached::Unknown(why)),
        };
        Ok(match (run.verdict, walk.gaps.as_slice()) {
            (Verdict::Holds, [_, ..]) => {
                Reached::Unknown(format!("no state or step that violates it was found: {}", walk.gaps.join("; ")))
            }
            (verdict, _) => reached_verdict(Run { verdict, ..run }),
        })
    }
}
