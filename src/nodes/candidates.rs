//! Formalizations side by side: each is drafted, translated, parsed and quickly checked on a lifeline of its own; those
//! that lead are given properties, and the best goes on. `formalize` decides by what it has received.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::desk::{Desk, current, defect, diagnostics_text, to_json, tool_trouble};
use super::{formalize, generate_invariants, model_check, validate};
use crate::journal::{Event as Entry, Kind, Sha};
use crate::llm::LlmError;
use crate::pipeline::{
    Acceptance, Attempt, Candidate, CheckRecord, Chosen, Errands, Event, Facts, Feedback, Halt, Product, QuickCheck,
    RunError, RunView, Stage, Standing, Station, StationError, StopReason, best, file, leaders, lifeline_of,
};
use crate::tla::semantic::smallest_constants;
use crate::tla::{Cfg, CheckOutcome, Reached, Verdict};
use crate::toolchain::{CheckRequest, SpecText, ToolContext};

/// Once a good candidate is there, the others are waited for as long again as it took, and at least so long.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// Whether several formalizations are due: where nothing was formalized yet.
pub(super) fn are_due(view: &RunView) -> bool {
    view.settings.candidates > 1 && view.artifact(file::SOURCE).is_none() && view.artifact(formalize::ANSWER).is_none()
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
    errands: &'a Errands<'run>,
    /// Told when the decision has been made.
    decided: watch::Receiver<bool>,
    missing: BTreeMap<u32, String>,
}

pub(super) async fn perform<'run>(
    desk: &'run Desk,
    view: &RunView,
    attempt: &Attempt<'run>,
    errands: &Errands<'run>,
) -> Result<Product, StationError> {
    if let Some(event) = attempt.recall("candidate_chosen", |_| true) {
        let chosen = Chosen::deserialize(&event.data).map_err(|e| defect(&e))?;
        let winner = received(attempt, chosen.chosen, None)?;
        let winner = winner.ok_or_else(|| unknown(chosen.chosen))?;
        return Ok(product(&winner));
    }
    let (decide, decided) = watch::channel(false);
    let mut contest = Contest { desk, view, attempt, errands, decided, missing: BTreeMap::new() };
    let drafts: Vec<u32> = (1..=view.settings.candidates).collect();
    let mut all = match attempt.recall("leaders_named", |_| true) {
        // Who had not come by then does not come any more.
        Some(event) => contest.those_named(event)?,
        None => contest.gather(&drafts, Stage::Formalization, &[]).await?,
    };
    let leaders = leaders(&all);
    if leaders.len() > 1 {
        if attempt.recall("leaders_named", |_| true).is_none() {
            let received: Vec<u32> = all.iter().map(|one| one.candidate).collect();
            let data = json!({"leaders": leaders, "received": received});
            attempt.record(Kind::Choice, "leaders_named", data)?;
        }
        for further in contest.gather(&leaders, Stage::Properties, &all.clone()).await? {
            all.retain(|one| one.candidate != further.candidate);
            all.push(further);
        }
    }
    all.sort_by_key(|one| one.candidate);
    let leading: Vec<Candidate> = all.iter().filter(|one| one.stage == Stage::Properties).cloned().collect();
    let compared = if leading.is_empty() { &all } else { &leading };
    let (winner, by) = best(compared).ok_or_else(|| unknown(0))?;
    let chosen = Chosen {
        chosen: winner.candidate,
        by,
        received: all.iter().map(|one| (one.candidate, one.points())).collect(),
        missing: drafts.iter().copied().filter(|k| all.iter().all(|one| one.candidate != *k)).collect(),
        why: why(winner, &all),
    };
    attempt.record(Kind::Choice, "candidate_chosen", to_json(&chosen))?;
    let _ = decide.send(true);
    Ok(product(winner))
}

fn why(winner: &Candidate, all: &[Candidate]) -> String {
    let words = |one: &Candidate| format!("candidate {}: {}", one.candidate, one.words());
    let others: Vec<String> = all.iter().filter(|one| one.candidate != winner.candidate).map(words).collect();
    let rest = if others.is_empty() { "no other had come".to_owned() } else { others.join("; ") };
    format!("{}; {rest}", winner.words())
}

fn unknown(candidate: u32) -> StationError {
    let message = match candidate {
        0 => "no formalization came".to_owned(),
        number => format!("candidate {number} was chosen, and the journal does not hold it"),
    };
    Halt { reason: StopReason::Provider, message }.into()
}

/// What a candidate came to, in the words of an earlier start of this attempt; at this stage, or at its last.
fn received(attempt: &Attempt<'_>, candidate: u32, stage: Option<Stage>) -> Result<Option<Candidate>, StationError> {
    let own = attempt.apart(candidate, 1, None);
    let of = |data: &serde_json::Value| stage.is_none_or(|stage| data["stage"] == to_json(&stage));
    let event = own.recall("candidate_finished", of);
    Ok(event.map(|event| Candidate::deserialize(&event.data)).transpose().map_err(|e| defect(&e))?)
}

/// What the winner drafted, as the work of `formalize`.
fn product(winner: &Candidate) -> Product {
    let mut artifacts = BTreeMap::from([(formalize::ANSWER.to_owned(), winner.answer.clone())]);
    let Some(source) = &winner.source else {
        let text = winner.why.clone().unwrap_or_default();
        let from = "your last answer could not be read".to_owned();
        let feedback = vec![Feedback { station: Station::Formalize, from, text }];
        return Product { event: Event::Unreadable, artifacts, feedback, facts: Facts::Nothing };
    };
    artifacts.insert(file::SOURCE.to_owned(), source.clone());
    artifacts.insert(file::MODULE.to_owned(), source.clone());
    Product { event: Event::Answered, artifacts, feedback: Vec::new(), facts: Facts::Nothing }
}

impl Contest<'_, '_> {
    fn those_named(&self, event: &Entry) -> Result<Vec<Candidate>, StationError> {
        let named: Vec<u32> = Vec::deserialize(&event.data["received"]).map_err(|e| defect(&e))?;
        let each = named.into_iter().map(|number| received(self.attempt, number, Some(Stage::Formalization)));
        Ok(each.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Sends candidates on their way, and receives what they come to: all of them, or those that come as long as the
    /// first good one took, and as long again.
    async fn gather(
        &mut self,
        candidates: &[u32],
        stage: Stage,
        drafted: &[Candidate],
    ) -> Result<Vec<Candidate>, StationError> {
        let (tell, mut words) = mpsc::unbounded_channel();
        let mut open: BTreeSet<u32> = candidates.iter().copied().collect();
        let mut come = Vec::new();
        let started = Instant::now();
        for number in candidates {
            match received(self.attempt, *number, Some(stage))? {
                Some(one) => _ = tell.send(Word::Finished(Box::new(one))),
                None => {
                    let drafted = drafted.iter().find(|one| one.candidate == *number).cloned();
                    self.send(*number, drafted, tell.clone())?;
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
                    Err(_) => break,
                },
            };
            match word {
                None => break,
                Some(Word::Finished(one)) => {
                    open.remove(&one.candidate);
                    self.receive(&one, stage)?;
                    if one.is_good() && until.is_none() {
                        until = Some(Instant::now() + started.elapsed().max(LEAST_PATIENCE));
                    }
                    come.push(*one);
                }
                Some(Word::Late(number)) => _ = open.remove(&number),
                Some(Word::Halted(number, halt)) => {
                    open.remove(&number);
                    if matches!(halt.reason, StopReason::Interrupted | StopReason::Deadline) {
                        return Err(halt.into());
                    }
                    self.missing.insert(number, halt.message.clone());
                    halted.get_or_insert(halt);
                }
            }
        }
        match halted {
            // What was promised was not given, and nothing can go on: it is asked for again when the run is resumed.
            Some(halt) if !come.iter().any(|one| one.module.is_some()) => Err(halt.into()),
            _ => Ok(come),
        }
    }

    /// `formalize` receives what a candidate came to.
    fn receive(&self, one: &Candidate, stage: Stage) -> Result<(), StationError> {
        let of = |data: &serde_json::Value| data["candidate"] == one.candidate && data["stage"] == to_json(&stage);
        if self.attempt.recall("candidate_received", of).is_none() {
            let data = json!({"candidate": one.candidate, "stage": stage, "points": one.points()});
            let record = self.attempt.event(Kind::Recv, "candidate_received", data);
            self.attempt.run.append(vec![record.received_from(lifeline_of(one.candidate))])?;
        }
        Ok(())
    }

    /// Sends one on its way.
    fn send(
        &self,
        number: u32,
        drafted: Option<Candidate>,
        tell: mpsc::UnboundedSender<Word>,
    ) -> Result<(), StationError> {
        let stage = if drafted.is_none() { Stage::Formalization } else { Stage::Properties };
        let own = self.attempt.apart(number, self.view.settings.candidates, Some(stage));
        let here = self.attempt.run.view();
        let is_open = here.candidates.get(&here.rev).is_some_and(|all| all.open.contains(&number));
        if stage == Stage::Formalization && !is_open {
            let started = own.event(Kind::Act, "candidate_started", json!({"candidate": number}));
            own.run.append(vec![started.received_from(self.attempt.lifeline)])?;
        }
        if stage == Stage::Properties && own.recall("leader_told", |_| true).is_none() {
            let told = own.event(Kind::Recv, "leader_told", json!({"candidate": number}));
            own.run.append(vec![told.received_from(self.attempt.lifeline)])?;
        }
        let way = Way { desk: self.desk, view: self.view.clone(), decided: self.decided.clone(), tell };
        self.errands.send(Box::pin(way.go(own, drafted)));
        Ok(())
    }
}

/// A candidate's way.
struct Way<'run> {
    desk: &'run Desk,
    view: RunView,
    decided: watch::Receiver<bool>,
    tell: mpsc::UnboundedSender<Word>,
}

impl<'run> Way<'run> {
    async fn go(mut self, attempt: Attempt<'run>, drafted: Option<Candidate>) -> Result<(), RunError> {
        let number = attempt.candidate;
        let tell = self.tell.clone();
        let left = self.desk.caller.left();
        let work = async {
            let one = match drafted {
                None => self.draft(&attempt).await?,
                Some(drafted) => self.properties(&attempt, drafted).await?,
            };
            let mut data = to_json(&one);
            data["says"] = one.says();
            attempt.record(Kind::Send, "candidate_finished", data)?;
            Ok(one)
        };
        let done = match left {
            None => work.await,
            Some(left) => tokio::time::timeout(left, work).await.unwrap_or_else(|_| Err(late())),
        };
        let came = match done {
            Ok(one) => Word::Finished(Box::new(one)),
            Err(StationError::Run(error)) => return Err(error),
            Err(StationError::Halt(halt)) => {
                let data = json!({"candidate": number, "why": halt.message});
                attempt.record(Kind::Act, "candidate_given_up", data)?;
                Word::Halted(number, halt)
            }
        };
        // Nobody listens once the decision has been made.
        let _ = tell.send(came);
        Ok(())
    }

    /// Drafted, translated, parsed and quickly checked.
    async fn draft(&mut self, attempt: &Attempt<'run>) -> Result<Candidate, StationError> {
        let number = attempt.candidate;
        if self.desk.comes_late(attempt, Station::Formalize) {
            self.wait_for_the_decision(number).await;
        }
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
            standing: None,
            step: None,
            why: answered.feedback.first().map(|open| open.text.clone()),
        };
        if one.source.is_none() {
            return Ok(one);
        }
        self.view = self.view.as_if(answered);
        let validated = validate::perform(self.desk, &self.view, attempt).await?;
        match &validated.facts {
            Facts::Rejected { diagnostics } => one.why = Some(diagnostics_text(diagnostics)),
            _ => {
                one.module = validated.artifacts.get(file::VALIDATED).cloned();
                self.view = self.view.as_if(validated);
                match self.quick_check(attempt).await? {
                    Ok(quick) => one.quick = Some(quick),
                    Err(why) => one.why = Some(format!("accepted, and not checked: {why}")),
                }
            }
        }
        Ok(one)
    }

    async fn wait_for_the_decision(&mut self, number: u32) {
        let _ = self.tell.send(Word::Late(number));
        // It fails where nobody decides any more.
        let _ = self.decided.wait_for(|decided| *decided).await;
    }

    /// The accepted module, with small values for its constants and without properties: whether it can be evaluated, moves
    /// and does not get stuck. Where no values are known, why not.
    async fn quick_check(&self, attempt: &Attempt<'_>) -> Result<Result<QuickCheck, String>, StationError> {
        if let Some(event) = attempt.recall("quickly_checked", |_| true) {
            return Ok(Ok(QuickCheck::deserialize(&event.data).map_err(|e| defect(&e))?));
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
        let limits = self.desk.limits_of(attempt);
        let cx = ToolContext { limits: &limits, progress: &|_| {}, ..self.desk.tools() };
        let request = CheckRequest { spec, cfg_text, cfg };
        let checked = self.desk.toolchain.check(&request, &cx).await.map_err(|e| tool_trouble(&e))?;
        let quick = summed_up(&checked.outcome, constants, attempt.keep(&checked.output)?);
        attempt.record(Kind::Act, "quickly_checked", to_json(&quick))?;
        Ok(Ok(quick))
    }

    /// A leader is given properties, and is checked with them.
    async fn properties(&mut self, attempt: &Attempt<'run>, drafted: Candidate) -> Result<Candidate, StationError> {
        let number = attempt.candidate;
        if self.desk.comes_late(attempt, Station::GenerateInvariants) {
            self.wait_for_the_decision(number).await;
        }
        let validated = Product {
            event: Event::Validated(Acceptance::Accepted),
            artifacts: [file::VALIDATED, file::MODULE]
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), drafted.module.clone()?)))
                .collect(),
            feedback: Vec::new(),
            facts: Facts::Nothing,
        };
        self.view = self.view.as_if(product(&drafted)).as_if(validated);
        let merged = generate_invariants::perform(self.desk, &self.view, attempt).await?;
        let named = |name: &str| merged.artifacts.get(name).cloned();
        let mut one = Candidate {
            stage: Stage::Properties,
            properties: named(generate_invariants::ANSWER),
            cfg: named(file::CFG),
            standing: Some(Standing::default()),
            ..drafted
        };
        if merged.event != Event::Merged(Acceptance::Accepted) {
            one.why = merged.feedback.first().map(|open| open.text.clone());
            return Ok(one);
        }
        one.module = named(file::MODULE).or(one.module);
        self.view = self.view.as_if(merged);
        let checked = model_check::perform(self.desk, &self.view, attempt).await?;
        let output = checked.artifacts.get(file::OUTPUT).cloned();
        let record = attempt.run.last_of(attempt.lifeline, "check_finished");
        let record = record.ok_or_else(|| unknown(number))?;
        let record = CheckRecord::deserialize(&record.data).map_err(|e| defect(&e))?;
        let outcome = record.outcome.clone();
        one.quick = output.map(|output| summed_up(&outcome, outcome.bounds.constants.clone(), output));
        self.view.checks.insert(self.view.rev, record);
        self.view.standing = standing(&self.view, &outcome);
        one.standing = Some(self.view.standing);
        one.step = self.view.step_here();
        Ok(one)
    }
}

fn late() -> StationError {
    Halt { reason: StopReason::Deadline, message: LlmError::Deadline.to_string() }.into()
}

fn summed_up(outcome: &CheckOutcome, constants: BTreeMap<String, String>, output: Sha) -> QuickCheck {
    let why = match &outcome.verdict {
        Verdict::Holds => None,
        Verdict::Violated { violated } => {
            Some(format!("{:?} {}", violated.kind, violated.name.as_deref().unwrap_or("")))
        }
        Verdict::Invalid { reason, .. } | Verdict::Inconclusive { reason } => Some(reason.clone()),
    };
    QuickCheck {
        verdict: outcome.verdict.name().to_owned(),
        why,
        distinct: outcome.statistics.distinct,
        moved: outcome.moved(),
        seconds: outcome.statistics.seconds,
        constants,
        output,
    }
}

/// How a candidate with properties compares, before any review.
fn standing(view: &RunView, outcome: &CheckOutcome) -> Standing {
    let reached = |reached: &Reached| matches!(reached, Reached::Yes { .. });
    let has_witnesses = !outcome.witnesses.is_empty() && outcome.witnesses.iter().all(|w| reached(&w.reached));
    let covered = view.covered_requirements().iter().filter(|r| !r.covered_by.is_empty()).count();
    Standing {
        parses: true,
        not_vacuous: outcome.moved() && has_witnesses && covered > 0,
        holds: matches!(outcome.verdict, Verdict::Holds),
        inconclusive: matches!(outcome.verdict, Verdict::Inconclusive { .. }),
        covered,
        ..Standing::default()
    }
}
