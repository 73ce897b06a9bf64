//! Formalizations side by side: each is drafted, translated, parsed and quickly checked on a lifeline of its own; those
//! that lead are given properties, and the best goes on. `formalize` decides by what it has received.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tracing::{Instrument as _, info, info_span};

use super::desk::{Desk, tool_trouble};
use super::intervene::taken_of;
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

/// Once a good candidate is there, the others are waited for as long again as it took, and at least so long.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// Whether several formalizations are due: where nothing was formalized yet. What was begun or received before goes on,
/// whatever is set since.
pub(super) fn are_due(view: &RunView, attempt: &Attempt<'_>) -> bool {
    let nothing = view.artifact(file::SOURCE).is_none() && view.artifact(formalize::ANSWER).is_none();
    let is_draft =
        |event: &RunEvent| event.try_as_answer_received_ref().is_some_and(|answer| answer.purpose == "draft");
    let received = || attempt.has(is_draft);
    nothing && (view.candidates.contains_key(&view.rev) || (view.settings.candidates > 1 && !received()))
}

/// How long others are waited for once a good one has come that took so many seconds.
fn patience(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default().max(LEAST_PATIENCE)
}

fn node_of(stage: Stage) -> NodeName {
    match stage {
        Stage::Formalization => NodeName::Formalize,
        Stage::Properties => NodeName::GenerateInvariants,
    }
}

/// What a candidate tells the one who decides.
enum Word {
    /// It has come so far.
    Finished(Box<Candidate>),
    /// It gives nothing.
    Halted(u32, Halt),
    /// Its recording says that it came too late.
    Late(u32),
}

/// Candidates on their way, and what was received of them.
struct Contest<'a, 'run> {
    desk: &'run Desk,
    view: &'a RunView,
    attempt: &'a Attempt<'run>,
    tasks: &'a BackgroundTasks<'run>,
    /// How many were to be drafted when it began.
    of: u32,
}

pub(super) async fn perform<'run>(
    desk: &'run Desk,
    view: &RunView,
    attempt: &Attempt<'run>,
    tasks: &BackgroundTasks<'run>,
) -> Result<Product, NodeError> {
    if let Some(chosen) = attempt.recall(RunEvent::try_as_candidate_chosen_ref) {
        let winner = received(attempt, chosen.chosen, None).ok_or_else(|| unknown(chosen.chosen))?;
        return Ok(product(&winner));
    }
    let begun = view.candidates.get(&view.rev).cloned().unwrap_or_default();
    let of = if begun.total == 0 { view.settings.candidates } else { begun.total };
    let mut drafts = begun.begun();
    let named = attempt.recall(RunEvent::try_as_leaders_selected_ref);
    if named.is_none() {
        drafts.extend(1..=of);
    }
    let drafts: Vec<u32> = drafts.into_iter().collect();
    let contest = Contest { desk, view, attempt, tasks, of };
    let mut all = match named {
        // Candidates that had not finished by then do not count.
        Some(named) => {
            named.received.iter().filter_map(|number| received(attempt, *number, Some(Stage::Formalization))).collect()
        }
        None => contest.gather(&drafts, Stage::Formalization, &[]).await?,
    };
    let leaders = select_leaders(&all);
    if leaders.len() > 1 {
        if named.is_none() {
            let received = all.iter().map(|one| one.candidate).collect();
            let named = LeadersSelected { leaders: leaders.clone(), received };
            attempt.record(Kind::Choice, RunEvent::LeadersSelected(named))?;
        }
        for further in contest.gather(&leaders, Stage::Properties, &all.clone()).await? {
            all.retain(|one| one.candidate != further.candidate);
            all.push(further);
        }
    }
    all.sort_by_key(|one| one.candidate);
    let leading: Vec<Candidate> = all.iter().filter(|one| one.stage == Stage::Properties).cloned().collect();
    let compared = if leading.is_empty() { &all } else { &leading };
    let (winner, by) = select_best(compared).ok_or_else(|| unknown(0))?;
    let chosen = Chosen {
        chosen: winner.candidate,
        criterion: by,
        received: all.iter().map(|one| (one.candidate, one.points())).collect(),
        missing: drafts.iter().copied().filter(|number| is_missing(*number, &all, &leaders)).collect(),
        why: why(winner, &all),
    };
    info!(chosen = winner.candidate, of = all.len(), "candidate chosen");
    let taken = taken_of(attempt, winner.candidate, &winner.answer)?;
    let chosen = attempt.event(Kind::Choice, RunEvent::CandidateChosen(chosen));
    let group = std::iter::once(chosen).chain(taken);
    attempt.run.append(group.collect())?;
    Ok(product(winner))
}

/// Whose result had not come: of a leader, with its properties.
fn is_missing(number: u32, all: &[Candidate], leaders: &[u32]) -> bool {
    let leads = leaders.len() > 1 && leaders.contains(&number);
    let come = |one: &Candidate| one.candidate == number && (!leads || one.stage == Stage::Properties);
    !all.iter().any(come)
}

fn why(winner: &Candidate, all: &[Candidate]) -> String {
    let words = |one: &Candidate| format!("candidate {}: {}", one.candidate, one.words());
    let others: Vec<String> = all.iter().filter(|one| one.candidate != winner.candidate).map(words).collect();
    let rest = if others.is_empty() { "no other had come".to_owned() } else { others.join("; ") };
    format!("{}; {rest}", winner.words())
}

fn unknown(candidate: u32) -> NodeError {
    let message = match candidate {
        0 => "no formalization came".to_owned(),
        number => format!("candidate {number} was chosen, and the journal does not hold it"),
    };
    Halt { reason: StopReason::Provider, message }.into()
}

/// What a candidate came to, in the words of an earlier start of this attempt; at this stage, or at its last.
fn received(attempt: &Attempt<'_>, candidate: u32, stage: Option<Stage>) -> Option<Candidate> {
    let own = attempt.for_candidate(candidate, None);
    own.recall(|event| {
        let one = &event.try_as_candidate_finished_ref()?.candidate;
        stage.is_none_or(|stage| one.stage == stage).then(|| one.clone())
    })
}

/// What the winner drafted, as the work of `formalize`.
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

impl Contest<'_, '_> {
    /// Sends candidates on their way, and receives what they come to: all of them, or those that come as long as the
    /// first good one took, and as long again.
    async fn gather(
        &self,
        candidates: &[u32],
        stage: Stage,
        drafted: &[Candidate],
    ) -> Result<Vec<Candidate>, NodeError> {
        let (tell, mut words) = mpsc::unbounded_channel();
        let (over, is_over) = watch::channel(false);
        let node = node_of(stage);
        let late = |number: &u32| self.desk.comes_late(&self.attempt.for_candidate(*number, Some(stage)), node);
        // Where a recording was made with more of them, those that were in time there may not be among these.
        let in_time = candidates.iter().any(|number| !late(number));
        let mut open: BTreeSet<u32> = candidates.iter().copied().collect();
        let mut come = Vec::new();
        for number in candidates {
            match received(self.attempt, *number, Some(stage)) {
                Some(one) => _ = tell.send(Word::Finished(Box::new(one))),
                None => {
                    let drafted = drafted.iter().find(|one| one.candidate == *number).cloned();
                    self.send(*number, drafted, tell.clone(), (is_over.clone(), in_time && late(number)))?;
                }
            }
        }
        let mut until: Option<Instant> = None;
        let mut halted: Option<Halt> = None;
        while !open.is_empty() {
            let word = match until {
                None => words.recv().await,
                Some(until) => match tokio::time::timeout_at(until, words.recv()).await {
                    Ok(word) => word,
                    Err(_) => {
                        info!(?open, "the other candidates took too long");
                        break;
                    }
                },
            };
            match word {
                None => break,
                Some(Word::Finished(one)) => {
                    open.remove(&one.candidate);
                    info!(candidate = one.candidate, ?stage, good = one.is_good(), "candidate received");
                    self.receive(&one, stage)?;
                    if one.is_good() && until.is_none() && !self.desk.replays() {
                        until = Some(Instant::now() + patience(one.seconds));
                    }
                    come.push(*one);
                }
                Some(Word::Late(number)) => _ = open.remove(&number),
                Some(Word::Halted(number, halt)) => {
                    open.remove(&number);
                    if matches!(halt.reason, StopReason::Interrupted | StopReason::Deadline) {
                        return Err(halt.into());
                    }
                    halted.get_or_insert(halt);
                }
            }
        }
        // Whoever has not been asked is not asked any more; whoever came late comes now.
        let _ = over.send(true);
        match halted {
            // What was promised was not given, and nothing can go on: it is asked for again when the run is resumed.
            Some(halt) if !come.iter().any(|one| one.module.is_some()) => Err(halt.into()),
            _ => Ok(come),
        }
    }

    /// `formalize` receives what a candidate came to.
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

    /// Sends one on its way.
    fn send(
        &self,
        number: u32,
        drafted: Option<Candidate>,
        tell: mpsc::UnboundedSender<Word>,
        (over, is_late): (watch::Receiver<bool>, bool),
    ) -> Result<(), NodeError> {
        let stage = if drafted.is_none() { Stage::Formalization } else { Stage::Properties };
        let mut own = self.attempt.for_candidate(number, Some(stage));
        own.decided = Some(over);
        if let Some(one) = &drafted {
            own.accepted_before.extend(taken_of(self.attempt, number, &one.answer)?);
        }
        let here = self.attempt.run.view();
        if here.candidates.get(&here.rev).is_none_or(|all| !all.unfinished.contains(&number)) {
            let started = CandidateStarted { candidate: number, total: self.of };
            let (kind, event) = match stage {
                Stage::Formalization => (Kind::Act, RunEvent::CandidateStarted(started)),
                Stage::Properties => (Kind::Recv, RunEvent::LeaderNotified(started)),
            };
            let begins = own.event(kind, event);
            own.run.append(vec![begins.received_from(self.attempt.lifeline)])?;
        }
        let way = Way { desk: self.desk, view: self.view.clone(), is_late, tell };
        let span = info_span!("candidate", number, ?stage);
        self.tasks.spawn(Box::pin(way.go(own, drafted).instrument(span)));
        Ok(())
    }
}

/// A candidate's way.
struct Way<'run> {
    desk: &'run Desk,
    view: RunView,
    /// Its recording says that it came when the decision had been made.
    is_late: bool,
    tell: mpsc::UnboundedSender<Word>,
}

impl<'run> Way<'run> {
    async fn go(mut self, mut attempt: Attempt<'run>, drafted: Option<Candidate>) -> Result<(), RunError> {
        let number = attempt.candidate;
        let tell = self.tell.clone();
        let left = self.desk.caller.left();
        if self.is_late && !attempt.has(RunEvent::is_answer_received) {
            let _ = tell.send(Word::Late(number));
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
                Some(drafted) => self.properties(&attempt, drafted).await?,
            };
            let seconds = |entry: &Entry| Some(entry.event.try_as_answer_received_ref()?.seconds);
            one.seconds = attempt.run.find_last(attempt.lifeline, seconds).unwrap_or(0.0);
            let finished = CandidateFinished { claims: one.claims(), candidate: one.clone() };
            attempt.record(Kind::Send, RunEvent::CandidateFinished(Box::new(finished)))?;
            Ok(one)
        };
        let done = match left {
            None => work.await,
            Some(left) => tokio::time::timeout(left, work).await.unwrap_or_else(|_| Err(late())),
        };
        let came = match done {
            Ok(one) => Word::Finished(Box::new(one)),
            Err(NodeError::Run(error)) => return Err(error),
            Err(NodeError::Halt(halt)) => {
                // What it has answered stays, whatever became of the tools behind it.
                let answer =
                    |entry: &Entry| Some((entry.rev, entry.event.try_as_answer_received_ref()?.artifact.clone()));
                let answered = attempt.run.find_last(attempt.lifeline, answer);
                let answer = answered.filter(|(rev, _)| *rev == attempt.rev).map(|(_, answer)| answer);
                let given_up = AbandonedCandidate { candidate: number, why: halt.message.clone(), answer };
                attempt.record(Kind::Act, RunEvent::CandidateAbandoned(given_up))?;
                Word::Halted(number, halt)
            }
        };
        // Nobody listens once the decision has been made.
        let _ = tell.send(came);
        Ok(())
    }

    /// Drafted, translated, parsed and quickly checked.
    async fn draft(&mut self, attempt: &Attempt<'run>) -> Result<Candidate, NodeError> {
        let number = attempt.candidate;
        let answered = formalize::perform(self.desk, &self.view, attempt).await?;
        let answer = answered.artifacts.get(formalize::ANSWER).cloned();
        let mut one = Candidate {
            candidate: number,
            stage: Stage::Formalization,
            answer: answer.ok_or_else(|| unknown(number))?,
            source: answered.artifacts.get(file::SOURCE).cloned(),
            module: None,
            properties: None,
            cfg: None,
            quick: None,
            rank: None,
            step: None,
            seconds: 0.0,
            why: answered.feedback.first().map(|open| open.text.clone()),
        };
        if one.source.is_none() {
            return Ok(one);
        }
        self.view = self.view.advanced_by(&answered);
        let validated = validate::perform(self.desk, &self.view, attempt).await?;
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

    /// The accepted module, with small values for its constants and without properties: whether it can be evaluated, moves
    /// and does not get stuck. Where no values are known, why not.
    async fn quick_check(&self, attempt: &Attempt<'_>) -> Result<Result<QuickCheck, String>, NodeError> {
        if let Some(quick) = attempt.recall(RunEvent::try_as_quick_check_finished_ref) {
            return Ok(Ok(quick.clone()));
        }
        let text = current(&self.view, attempt, file::VALIDATED)?.unwrap_or_default();
        let Ok(module) = self.desk.shelf.module(&text) else { return Ok(Err("it cannot be read again".to_owned())) };
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
        let spec = SpecText { name: module.name.clone(), text, beside: Vec::new() };
        let limits = self.desk.limits_of(attempt, NodeName::Formalize);
        let cx = ToolContext { limits: &limits, progress: &|_| {}, ..self.desk.tools() };
        let request = CheckRequest { spec, cfg_text, cfg };
        let checked = self.desk.toolchain.check(&request, &cx).await.map_err(|e| tool_trouble(&e))?;
        let quick = summed_up(&checked.outcome, constants, attempt.keep(&checked.output)?);
        attempt.record(Kind::Act, RunEvent::QuickCheckFinished(quick.clone()))?;
        Ok(Ok(quick))
    }

    /// A leader is given properties, and is checked with them.
    async fn properties(&mut self, attempt: &Attempt<'run>, drafted: Candidate) -> Result<Candidate, NodeError> {
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
        let merged = generate_invariants::perform(self.desk, &self.view, attempt).await?;
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
        let checked = model_check::perform(self.desk, &self.view, attempt).await?;
        let output = checked.artifacts.get(file::OUTPUT).cloned();
        let check = |entry: &Entry| entry.event.try_as_check_finished_ref().map(|check| (**check).clone());
        let record = attempt.run.find_last(attempt.lifeline, check).ok_or_else(|| unknown(number))?;
        let outcome = record.outcome.clone();
        one.quick = output.map(|output| summed_up(&outcome, outcome.bounds.constants.clone(), output));
        self.view.set_check(record);
        self.view.reviews.rank = rank(&self.view, &outcome);
        one.rank = Some(self.view.reviews.rank);
        one.step = self.view.step_if_closed();
        Ok(one)
    }
}

fn late() -> NodeError {
    Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() }.into()
}

fn summed_up(outcome: &CheckOutcome, constants: BTreeMap<String, String>, output: Sha) -> QuickCheck {
    // Values that we chose may be none that the module is made for.
    let assumed = |v: &Violation| v.kind == ViolationKind::Assumption;
    if let Verdict::Violated { violated } | Verdict::Invalid { violated, .. } = &outcome.verdict
        && assumed(violated)
    {
        let why = Some("an assumption of the module does not hold for them".to_owned());
        let verdict = "inconclusive".to_owned();
        let (distinct, moved, seconds) = (None, false, outcome.statistics.seconds);
        return QuickCheck { verdict, why, out_of_time: false, distinct, moved, seconds, constants, output };
    }
    let why = match &outcome.verdict {
        Verdict::Holds => None,
        Verdict::Violated { violated } => violated.property().map(str::to_owned),
        Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason, .. } => Some(reason.clone()),
    };
    QuickCheck {
        verdict: outcome.verdict.name().to_owned(),
        why,
        out_of_time: outcome.verdict.is_out_of_time(),
        distinct: outcome.statistics.distinct,
        moved: outcome.moved(),
        seconds: outcome.statistics.seconds,
        constants,
        output,
    }
}

/// How a candidate with properties compares, before any review.
fn rank(view: &RunView, outcome: &CheckOutcome) -> RevisionRank {
    let reached = |reached: &Reached| matches!(reached, Reached::Yes { .. });
    let has_witnesses = !outcome.witnesses.is_empty() && outcome.witnesses.iter().all(|w| reached(&w.reached));
    let covered = view.covered_requirements().iter().filter(|r| !r.covered_by.is_empty()).count();
    RevisionRank {
        parses: true,
        not_vacuous: outcome.moved() && has_witnesses && covered > 0,
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
    fn others_are_waited_for_as_long_as_the_good_one_took_also_after_a_crash() {
        assert_eq!(patience(0.1), LEAST_PATIENCE);
        assert_eq!(patience(95.0), Duration::from_secs(95));
        assert_eq!(patience(f64::NAN), LEAST_PATIENCE);
    }
}
