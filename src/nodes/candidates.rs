//! Drafts several formalizations side by side. Each candidate is drafted, translated, parsed and quickly checked on a
//! lifeline of its own; the leaders also get properties and a full check, and the run continues with the best. The
//! decision uses only the results that `formalize` has received, because those are in its causal past.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tracing::{Instrument as _, info, info_span};

use super::acceptance::accept_chosen;
use super::context::{NodeContext, halt_for_tool};
use super::timing::Wait;
use super::workspace::{current, diagnostics_text};
use super::{formalize, generate_invariants, model_check, validate};
use crate::journal::{Kind, Sha};
use crate::llm::LlmError;
use crate::pipeline::{
    AbandonedCandidate, Acceptance, Attempt, BackgroundTasks, Candidate, CandidateFinished, CandidateReceived,
    CandidateStarted, Chosen, Entry, Event, Facts, Feedback, Halt, LeadersSelected, NodeError, NodeName, Product,
    QuickCheck, RevisionRank, RunError, RunEvent, RunView, Stage, StopReason, candidate_lifeline, file, select_best,
    select_leaders,
};
use crate::tla::semantic::smallest_constants;
use crate::tla::{Cfg, CheckOutcome, Reached, Verdict, Violation, ViolationKind};
use crate::toolchain::{CheckRequest, SpecText, ToolContext};

/// After the first good candidate, the others get as much time again as its answer took, and at least this much.
const MIN_PATIENCE: Duration = Duration::from_secs(10);

/// Whether this attempt drafts candidates: only if the run has no formalization yet. Candidates that were started
/// continue, and a single draft that was received is kept, even if the setting has changed since.
pub(super) fn should_draft_candidates(view: &RunView, attempt: &Attempt<'_>) -> bool {
    let nothing_formalized = view.artifact(file::SOURCE).is_none() && view.artifact(formalize::ANSWER).is_none();
    let is_draft =
        |event: &RunEvent| event.try_as_answer_received_ref().is_some_and(|answer| answer.purpose == "draft");
    let received = || attempt.has(is_draft);
    nothing_formalized && (view.candidates.contains_key(&view.rev) || (view.settings.candidates > 1 && !received()))
}

/// How long to wait for the others after a good candidate whose answer took this many seconds.
fn patience(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default().max(MIN_PATIENCE)
}

fn node_of(stage: Stage) -> NodeName {
    match stage {
        Stage::Formalization => NodeName::Formalize,
        Stage::Properties => NodeName::GenerateInvariants,
    }
}

/// A candidate's message to the selection.
enum CandidateMessage {
    /// The stage is finished.
    Finished(Box<Candidate>),
    /// The candidate stopped without a result.
    Halted(u32, Halt),
    /// The recording says that its result came after the decision.
    Late(u32),
}

/// The candidates of one attempt, and the choice among them.
struct CandidateSelection<'a, 'run> {
    context: &'run NodeContext,
    view: &'a RunView,
    attempt: &'a Attempt<'run>,
    tasks: &'a BackgroundTasks<'run>,
    /// How many candidates the attempt was started with.
    total: u32,
}

pub(super) async fn perform<'run>(
    context: &'run NodeContext,
    view: &RunView,
    attempt: &Attempt<'run>,
    tasks: &BackgroundTasks<'run>,
) -> Result<Product, NodeError> {
    if let Some(chosen) = attempt.recall(RunEvent::try_as_candidate_chosen_ref) {
        let winner = received(attempt, chosen.chosen, None).ok_or_else(|| no_result(chosen.chosen))?;
        return Ok(product(&winner));
    }
    let begun = view.candidates.get(&view.rev).cloned().unwrap_or_default();
    let total = if begun.total == 0 { view.settings.candidates } else { begun.total };
    let mut drafts = begun.begun();
    let named = attempt.recall(RunEvent::try_as_leaders_selected_ref);
    if named.is_none() {
        drafts.extend(1..=total);
    }
    let drafts: Vec<u32> = drafts.into_iter().collect();
    let selection = CandidateSelection { context, view, attempt, tasks, total };
    let mut all = match named {
        // The leaders were chosen among these. Candidates that finished later would change the comparison.
        Some(named) => {
            named.received.iter().filter_map(|number| received(attempt, *number, Some(Stage::Formalization))).collect()
        }
        None => selection.gather(&drafts, Stage::Formalization, &[]).await?,
    };
    let leaders = select_leaders(&all);
    if leaders.len() > 1 {
        if named.is_none() {
            let received = all.iter().map(|one| one.candidate).collect();
            let named = LeadersSelected { leaders: leaders.clone(), received };
            attempt.record(Kind::Choice, RunEvent::LeadersSelected(named))?;
        }
        for further in selection.gather(&leaders, Stage::Properties, &all.clone()).await? {
            all.retain(|one| one.candidate != further.candidate);
            all.push(further);
        }
    }
    all.sort_by_key(|one| one.candidate);
    let leading: Vec<Candidate> = all.iter().filter(|one| one.stage == Stage::Properties).cloned().collect();
    let compared = if leading.is_empty() { &all } else { &leading };
    let (winner, by) = select_best(compared).ok_or_else(|| no_result(0))?;
    let chosen = Chosen {
        chosen: winner.candidate,
        criterion: by,
        received: all.iter().map(|one| (one.candidate, one.points())).collect(),
        missing: drafts.iter().copied().filter(|number| is_missing(*number, &all, &leaders)).collect(),
        why: reason(winner, &all),
    };
    info!(chosen = winner.candidate, of = all.len(), "candidate chosen");
    let accepted = accept_chosen(attempt, winner.candidate, &winner.answer)?;
    let chosen = attempt.event(Kind::Choice, RunEvent::CandidateChosen(chosen));
    // One group, so that a crash cannot separate the choice from the acceptance of its answer.
    attempt.run.append(std::iter::once(chosen).chain(accepted).collect())?;
    Ok(product(winner))
}

/// Whether a candidate's result had not arrived at the choice. A leader's result includes its properties.
fn is_missing(number: u32, all: &[Candidate], leaders: &[u32]) -> bool {
    let leads = leaders.len() > 1 && leaders.contains(&number);
    let arrived = |one: &Candidate| one.candidate == number && (!leads || one.stage == Stage::Properties);
    !all.iter().any(arrived)
}

fn reason(winner: &Candidate, all: &[Candidate]) -> String {
    let words = |one: &Candidate| format!("candidate {}: {}", one.candidate, one.words());
    let others: Vec<String> = all.iter().filter(|one| one.candidate != winner.candidate).map(words).collect();
    let rest = if others.is_empty() { "no other had finished".to_owned() } else { others.join("; ") };
    format!("{}; {rest}", winner.words())
}

fn no_result(candidate: u32) -> NodeError {
    let message = match candidate {
        0 => "no candidate produced a formalization".to_owned(),
        number => format!("candidate {number} was chosen, but the journal does not hold its result"),
    };
    Halt { reason: StopReason::Provider, message }.into()
}

/// The result of a candidate from before a crash of this attempt: of this stage, or its last one.
fn received(attempt: &Attempt<'_>, candidate: u32, stage: Option<Stage>) -> Option<Candidate> {
    let own = attempt.for_candidate(candidate, None);
    own.recall(|event| {
        let one = &event.try_as_candidate_finished_ref()?.candidate;
        stage.is_none_or(|stage| one.stage == stage).then(|| one.clone())
    })
}

/// The winner's draft, as the product of `formalize`.
fn product(winner: &Candidate) -> Product {
    let mut artifacts = BTreeMap::from([(formalize::ANSWER.to_owned(), winner.answer.clone())]);
    let Some(source) = &winner.source else {
        let text = winner.why.clone().unwrap_or_default();
        let from = "your last answer could not be read".to_owned();
        let feedback = vec![Feedback { node: NodeName::Formalize, from, text }];
        return Product { event: Event::Unreadable, artifacts, feedback, facts: Facts::Nothing };
    };
    artifacts.insert(file::SOURCE.to_owned(), source.clone());
    artifacts.insert(file::MODULE.to_owned(), source.clone());
    Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts: Facts::Nothing }
}

impl CandidateSelection<'_, '_> {
    /// Starts the candidates of a stage and receives their results: all of them, or those that arrive within
    /// [`patience`] after the first good one.
    async fn gather(
        &self,
        candidates: &[u32],
        stage: Stage,
        drafted: &[Candidate],
    ) -> Result<Vec<Candidate>, NodeError> {
        let (sender, mut messages) = mpsc::unbounded_channel();
        let (over, is_over) = watch::channel(false);
        let node = node_of(stage);
        let late = |number: &u32| self.context.comes_late(&self.attempt.for_candidate(*number, Some(stage)), node);
        // A recording of more candidates may call all of these late. Then none is held back, or nothing would arrive.
        let in_time = candidates.iter().any(|number| !late(number));
        let mut open: BTreeSet<u32> = candidates.iter().copied().collect();
        let mut arrived = Vec::new();
        for number in candidates {
            match received(self.attempt, *number, Some(stage)) {
                Some(one) => _ = sender.send(CandidateMessage::Finished(Box::new(one))),
                None => {
                    let drafted = drafted.iter().find(|one| one.candidate == *number).cloned();
                    self.start(*number, drafted, sender.clone(), (is_over.clone(), in_time && late(number)))?;
                }
            }
        }
        // Begins with the first good candidate. A replay waits for all that were in time when it was recorded, however
        // slow this machine is.
        let mut time_limit: Option<Wait<'_>> = None;
        let mut halted: Option<Halt> = None;
        while !open.is_empty() {
            let time_is_over = async {
                match &mut time_limit {
                    Some(limit) => limit.await,
                    None => std::future::pending().await,
                }
            };
            let message = tokio::select! {
                biased;
                message = messages.recv() => message,
                () = time_is_over => {
                    info!(?open, "the other candidates took too long");
                    break;
                }
            };
            match message {
                None => break,
                Some(CandidateMessage::Finished(one)) => {
                    open.remove(&one.candidate);
                    info!(candidate = one.candidate, ?stage, good = one.is_good(), "candidate received");
                    self.receive(&one, stage)?;
                    if one.is_good() && time_limit.is_none() {
                        time_limit = Some(self.context.wait_unless_replay(patience(one.seconds)));
                    }
                    arrived.push(*one);
                }
                Some(CandidateMessage::Late(number)) => _ = open.remove(&number),
                Some(CandidateMessage::Halted(number, halt)) => {
                    open.remove(&number);
                    if matches!(halt.reason, StopReason::Interrupted | StopReason::Deadline) {
                        return Err(halt.into());
                    }
                    halted.get_or_insert(halt);
                }
            }
        }
        // Candidates that wait for their model call give up now; those that a recording calls late may start.
        let _ = over.send(true);
        match halted {
            // A model call failed and no module was accepted. The run stops here, and a resumed run tries again.
            Some(halt) if !arrived.iter().any(|one| one.module.is_some()) => Err(halt.into()),
            _ => Ok(arrived),
        }
    }

    /// Journals that `formalize` received a candidate's result, unless it did before a crash.
    fn receive(&self, one: &Candidate, stage: Stage) -> Result<(), NodeError> {
        let received = CandidateReceived { candidate: one.candidate, stage, points: one.points() };
        let is_this = |event: &RunEvent| {
            let known = event.try_as_candidate_received_ref();
            known.is_some_and(|known| (known.candidate, known.stage) == (one.candidate, stage))
        };
        if !self.attempt.has(is_this) {
            let record = self.attempt.event(Kind::Recv, RunEvent::CandidateReceived(received));
            self.attempt.run.append(vec![record.received_from(candidate_lifeline(one.candidate))])?;
        }
        Ok(())
    }

    /// Starts a candidate in the background. A candidate with a draft starts its second stage.
    fn start(
        &self,
        number: u32,
        drafted: Option<Candidate>,
        sender: mpsc::UnboundedSender<CandidateMessage>,
        (over, is_late): (watch::Receiver<bool>, bool),
    ) -> Result<(), NodeError> {
        let stage = if drafted.is_none() { Stage::Formalization } else { Stage::Properties };
        let mut own = self.attempt.for_candidate(number, Some(stage));
        own.decided = Some(over);
        if let Some(one) = &drafted {
            own.accepted_before.extend(accept_chosen(self.attempt, number, &one.answer)?);
        }
        let here = self.attempt.run.view();
        if here.candidates.get(&here.rev).is_none_or(|all| !all.unfinished.contains(&number)) {
            let started = CandidateStarted { candidate: number, total: self.total };
            let (kind, event) = match stage {
                Stage::Formalization => (Kind::Act, RunEvent::CandidateStarted(started)),
                Stage::Properties => (Kind::Recv, RunEvent::LeaderNotified(started)),
            };
            let begins = own.event(kind, event);
            own.run.append(vec![begins.received_from(self.attempt.lifeline)])?;
        }
        let run = CandidateRun { context: self.context, view: self.view.clone(), is_late, sender };
        let span = info_span!("candidate", number, ?stage);
        self.tasks.spawn(Box::pin(run.perform(own, drafted).instrument(span)));
        Ok(())
    }
}

/// The work of one candidate in one stage.
struct CandidateRun<'run> {
    context: &'run NodeContext,
    view: RunView,
    /// Whether the recording says that its result came after the decision.
    is_late: bool,
    sender: mpsc::UnboundedSender<CandidateMessage>,
}

impl<'run> CandidateRun<'run> {
    async fn perform(mut self, mut attempt: Attempt<'run>, drafted: Option<Candidate>) -> Result<(), RunError> {
        let number = attempt.candidate;
        let (sender, context) = (self.sender.clone(), self.context);
        if self.is_late && !attempt.has(RunEvent::is_answer_received) {
            // It runs all the same, but after the decision: its events then stand in the journal where they were recorded.
            let _ = sender.send(CandidateMessage::Late(number));
            let over = attempt.decided.take();
            if let Some(mut over) = over
                && over.wait_for(|over| *over).await.is_err()
            {
                return Ok(());
            }
        }
        let work = async {
            let mut one = match drafted {
                None => self.draft(&attempt).await?,
                Some(drafted) => self.add_properties(&attempt, drafted).await?,
            };
            let seconds = |entry: &Entry| Some(entry.event.try_as_answer_received_ref()?.seconds);
            one.seconds = attempt.run.find_last(attempt.lifeline, seconds).unwrap_or(0.0);
            let finished = CandidateFinished { claims: one.claims(), candidate: one.clone() };
            attempt.record(Kind::Send, RunEvent::CandidateFinished(Box::new(finished)))?;
            Ok(one)
        };
        let done = context.caller.within_time_left(Box::pin(work)).await.unwrap_or_else(|| Err(deadline()));
        let message = match done {
            Ok(one) => CandidateMessage::Finished(Box::new(one)),
            Err(NodeError::Run(error)) => return Err(error),
            Err(NodeError::Halt(halt)) => {
                // The answer is paid for and stays usable, even if a tool failed on it.
                let answer =
                    |entry: &Entry| Some((entry.rev, entry.event.try_as_answer_received_ref()?.artifact.clone()));
                let answered = attempt.run.find_last(attempt.lifeline, answer);
                let answer = answered.filter(|(rev, _)| *rev == attempt.rev).map(|(_, answer)| answer);
                let given_up = AbandonedCandidate { candidate: number, why: halt.message.clone(), answer };
                attempt.record(Kind::Act, RunEvent::CandidateAbandoned(given_up))?;
                CandidateMessage::Halted(number, halt)
            }
        };
        // The receiver is gone once the decision is made.
        let _ = sender.send(message);
        Ok(())
    }

    /// Drafts a module, translates and parses it, and checks it quickly.
    async fn draft(&mut self, attempt: &Attempt<'run>) -> Result<Candidate, NodeError> {
        let number = attempt.candidate;
        let drafted = formalize::perform(self.context, &self.view, attempt).await?;
        let answer = drafted.artifacts.get(formalize::ANSWER).cloned();
        let mut one = Candidate {
            candidate: number,
            stage: Stage::Formalization,
            answer: answer.ok_or_else(|| no_result(number))?,
            source: drafted.artifacts.get(file::SOURCE).cloned(),
            module: None,
            properties: None,
            cfg: None,
            quick: None,
            rank: None,
            step: None,
            seconds: 0.0,
            why: drafted.feedback.first().map(|open| open.text.clone()),
        };
        if one.source.is_none() {
            return Ok(one);
        }
        self.view = self.view.advanced_by(&drafted);
        let validated = validate::perform(self.context, &self.view, attempt).await?;
        match &validated.facts {
            Facts::Rejected { diagnostics } => one.why = Some(diagnostics_text(diagnostics)),
            _ => {
                one.module = validated.artifacts.get(file::VALIDATED).cloned();
                self.view = self.view.advanced_by(&validated);
                match self.quick_check(attempt).await? {
                    Ok(quick) => one.quick = Some(quick),
                    Err(why) => one.why = Some(format!("accepted, and not checked: {why}")),
                }
            }
        }
        Ok(one)
    }

    /// Checks the accepted module with small constants and without properties: can it be evaluated, does it take a step,
    /// does it deadlock? The inner error says why it was not checked, for example if no constants are known.
    async fn quick_check(&self, attempt: &Attempt<'_>) -> Result<Result<QuickCheck, String>, NodeError> {
        if let Some(quick) = attempt.recall(RunEvent::try_as_quick_check_finished_ref) {
            return Ok(Ok(quick.clone()));
        }
        let text = current(&self.view, attempt, file::VALIDATED)?.unwrap_or_default();
        let Ok(module) = self.context.modules.parse(&text) else { return Ok(Err("it cannot be parsed".to_owned())) };
        if module.definition("Spec").is_none() {
            return Ok(Err("it defines no Spec".to_owned()));
        }
        let constants = match smallest_constants(&module.name, &text) {
            Ok(constants) => constants,
            Err(why) => return Ok(Err(why)),
        };
        let lines = constants.iter().map(|(name, value)| format!("CONSTANT {name} = {value}"));
        let cfg_text = std::iter::once("SPECIFICATION Spec".to_owned()).chain(lines).collect::<Vec<_>>().join("\n");
        let Ok(cfg) = Cfg::parse(&cfg_text) else { return Ok(Err("its constants have unusual names".to_owned())) };
        let spec = SpecText { name: module.name.clone(), text, local_modules: Vec::new() };
        let limits = self.context.check_limits(attempt, NodeName::Formalize);
        let cx = ToolContext { limits: &limits, progress: &|_| {}, ..self.context.tool_context() };
        let request = CheckRequest { spec, cfg_text, cfg };
        let checked = self.context.toolchain.check(&request, &cx).await.map_err(|e| halt_for_tool(&e))?;
        let quick = summarise(&checked.outcome, constants, attempt.keep(&checked.output)?);
        attempt.record(Kind::Act, RunEvent::QuickCheckFinished(quick.clone()))?;
        Ok(Ok(quick))
    }

    /// Generates properties for a leader, and checks it with them.
    async fn add_properties(&mut self, attempt: &Attempt<'run>, drafted: Candidate) -> Result<Candidate, NodeError> {
        let number = attempt.candidate;
        let validated = Product {
            event: Event::Validated(Acceptance::Accepted),
            artifacts: [file::VALIDATED, file::MODULE]
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), drafted.module.clone()?)))
                .collect(),
            feedback: Vec::new(),
            facts: Facts::Nothing,
        };
        self.view = self.view.advanced_by(&product(&drafted)).advanced_by(&validated);
        let merged = generate_invariants::perform(self.context, &self.view, attempt).await?;
        let named = |name: &str| merged.artifacts.get(name).cloned();
        let mut one = Candidate {
            stage: Stage::Properties,
            properties: named(generate_invariants::ANSWER),
            cfg: named(file::CFG),
            rank: Some(RevisionRank::default()),
            ..drafted
        };
        if merged.event != Event::Merged(Acceptance::Accepted) {
            one.why = merged.feedback.first().map(|open| open.text.clone());
            return Ok(one);
        }
        one.module = named(file::MODULE).or(one.module);
        self.view = self.view.advanced_by(&merged);
        let checked = model_check::perform(self.context, &self.view, attempt).await?;
        let output = checked.artifacts.get(file::OUTPUT).cloned();
        let check = |entry: &Entry| entry.event.try_as_check_finished_ref().map(|check| (**check).clone());
        let record = attempt.run.find_last(attempt.lifeline, check).ok_or_else(|| no_result(number))?;
        let outcome = record.outcome.clone();
        one.quick = output.map(|output| summarise(&outcome, outcome.bounds.constants.clone(), output));
        self.view.set_check(record);
        self.view.reviews.rank = rank(&self.view, &outcome);
        one.rank = Some(self.view.reviews.rank);
        one.step = self.view.step_if_closed();
        Ok(one)
    }
}

fn deadline() -> NodeError {
    Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() }.into()
}

fn summarise(outcome: &CheckOutcome, constants: BTreeMap<String, String>, output: Sha) -> QuickCheck {
    // We chose the constants. An assumption that they violate says nothing about the module.
    let assumed = |v: &Violation| v.kind == ViolationKind::Assumption;
    if let Verdict::Violated { violated } | Verdict::Invalid { violated, .. } = &outcome.verdict
        && assumed(violated)
    {
        let why = Some("an assumption of the module does not hold for them".to_owned());
        let verdict = "inconclusive".to_owned();
        let (distinct, moved, seconds) = (None, false, outcome.statistics.seconds);
        return QuickCheck { verdict, why, timed_out: false, distinct, moved, seconds, constants, output };
    }
    let why = match &outcome.verdict {
        Verdict::Holds => None,
        Verdict::Violated { violated } => violated.property().map(str::to_owned),
        Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => Some(reason.clone()),
    };
    QuickCheck {
        verdict: outcome.verdict.name().to_owned(),
        why,
        timed_out: outcome.verdict.is_timed_out(),
        distinct: outcome.statistics.distinct,
        moved: outcome.has_steps(),
        seconds: outcome.statistics.seconds,
        constants,
        output,
    }
}

/// The rank of a candidate with properties, before any review.
fn rank(view: &RunView, outcome: &CheckOutcome) -> RevisionRank {
    let reached = |reached: &Reached| matches!(reached, Reached::Yes { .. });
    let has_witnesses = !outcome.witnesses.is_empty() && outcome.witnesses.iter().all(|w| reached(&w.reached));
    let covered = view.covered_requirements().iter().filter(|r| !r.covered_by.is_empty()).count();
    RevisionRank {
        parses: true,
        not_vacuous: outcome.has_steps() && has_witnesses && covered > 0,
        holds: matches!(outcome.verdict, Verdict::Holds),
        inconclusive: matches!(outcome.verdict, Verdict::Inconclusive { .. }),
        covered,
        ..RevisionRank::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_the_time_of_the_good_candidate_and_at_least_the_minimum() {
        assert_eq!(patience(0.1), MIN_PATIENCE);
        assert_eq!(patience(95.0), Duration::from_secs(95));
        assert_eq!(patience(f64::NAN), MIN_PATIENCE);
    }
}
