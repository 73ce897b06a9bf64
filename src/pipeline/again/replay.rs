//! A journal group by group: what follows from the events before each, by the functions that have decided the run.

use std::collections::BTreeSet;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::driver::{Finishing, Job};
use super::super::knowledge::{Judgement, Knowledge};
use super::super::machine::{Acceptance, Event as Step, ReviewFacts, transition};
use super::super::objective::ends_with_its_best;
use super::super::records::{Branch, Facts, Finished, Product, file};
use super::super::routes::Row;
use super::super::run::{restorations, to_value};
use super::super::said::reviewed;
use super::super::view::{FoldError, RunView};
use super::policy::{self, Rules};
use super::{candidates, interventions};
use crate::journal::{ArtifactStore, Event, Record, Sha, StoreError, is_apart};

/// Something that a journal says and that does not follow from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Objection {
    /// What it is about: `attempt`, `routing`, `guard`, `policy`, `objective`, …
    pub about: &'static str,
    /// The number of the event that says so.
    pub event: u64,
    /// What the journal says, and what follows.
    pub text: String,
}

/// What came of computing a journal again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Again {
    /// What does not follow, in the order of the journal.
    pub objections: Vec<Objection>,
    /// What could not be computed again, and why.
    pub open: Vec<String>,
}

impl Again {
    pub(super) fn object(&mut self, about: &'static str, event: u64, text: impl Display) {
        self.objections.push(Objection { about, event, text: text.to_string() });
    }

    /// Objects to each field of an event's data that is not as it follows. A field that is not told at all is not asked:
    /// an earlier version told less.
    pub(super) fn compare(&mut self, about: &'static str, event: &Event, fields: &[&str], follows: &Value) {
        for field in fields {
            let Some(told) = event.data.get(*field) else { continue };
            let mut differing = Vec::new();
            differ(&mut differing, field, told, &follows[*field]);
            let more = differing.len().saturating_sub(SHOWN);
            for (path, told, follows) in differing.into_iter().take(SHOWN) {
                let text = format!("`{path}` of {} is {told}; it follows that it is {follows}", event.name);
                self.object(about, event.seq, text);
            }
            if more > 0 {
                self.object(about, event.seq, format!("{more} further fields below `{field}` are not as they follow"));
            }
        }
    }
}

/// So many differences of one field are named.
const SHOWN: usize = 4;

/// Finds where two values differ. What is absent, null or false is all the same: that is how a journal leaves it out.
fn differ(all: &mut Vec<(String, String, String)>, path: &str, told: &Value, follows: &Value) {
    let nothing = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    match (told, follows) {
        (Value::Object(told), Value::Object(follows)) => {
            let names = told.keys().chain(follows.keys().filter(|name| !told.contains_key(*name)));
            for name in names {
                let of = |fields: &Map<String, Value>| fields.get(name).cloned().unwrap_or(Value::Null);
                differ(all, &format!("{path}.{name}"), &of(told), &of(follows));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differ(all, &format!("{path}[{at}]"), a, b);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| near(a, b)) => {}
        _ if nothing(told) && nothing(follows) => {}
        _ if told == follows => {}
        _ => all.push((path.to_owned(), short(told), short(follows))),
    }
}

/// Sums of prices are the same whatever order they were added in.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// A value in a line.
fn short(value: &Value) -> String {
    let text = if value.is_null() { "undefined".to_owned() } else { value.to_string() };
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Computes again what a journal says. `store` keeps the texts that it names; without them, what rests on texts is left
/// open, and so is what stands behind an event that cannot be understood.
pub fn again(events: &[Event], store: Option<&ArtifactStore>) -> Again {
    let mut replay = Replay {
        events,
        view: RunView::default(),
        knowledge: Knowledge::new(),
        rules: Rules::new(store.cloned()),
        again: Again::default(),
        one_objective: !events.iter().any(sets_another),
    };
    for (seq, why) in altered(events, store) {
        replay.again.object("artifact", seq, why);
    }
    let mut at = 0;
    while let Some(first) = events.get(at) {
        let end = at.saturating_add(first.more as usize + 1).min(events.len());
        match replay.group(at, end) {
            Ok(true) => {}
            Ok(false) => {
                let why = "nothing follows from it any more";
                replay.again.open.push(format!("what stands behind event {}: {why}", first.seq));
                return replay.again;
            }
            Err(error) => {
                let text = format!("{error}; nothing from there on was computed again");
                replay.again.object("journal", error.seq, text);
                return replay.again;
            }
        }
        at = end;
    }
    let Replay { view, mut again, one_objective, .. } = replay;
    if one_objective {
        again.objections.extend(view.objections(events));
    }
    again
}

/// Texts that are not what they were when an event named them first.
fn altered(events: &[Event], store: Option<&ArtifactStore>) -> Vec<(u64, String)> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for event in events {
        let mut open = vec![&event.data];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) => open.extend(fields.values()),
                Value::Array(values) => open.extend(values),
                Value::String(text) if text.len() == DIGEST && seen.insert(text.as_str()) => {
                    let sha = Sha::deserialize(value).ok();
                    if let Some(error @ StoreError::Altered { .. }) =
                        sha.zip(store).and_then(|(sha, store)| store.get(&sha).err())
                    {
                        all.push((event.seq, error.to_string()));
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// The digits of a hash.
const DIGEST: usize = 64;

/// Whether an event changes the objective on the way.
fn sets_another(event: &Event) -> bool {
    matches!(event.name.as_str(), "run_resumed" | "branch_started") && !event.data["objective"]["goal"].is_null()
}

/// A journal on its way.
struct Replay<'a> {
    events: &'a [Event],
    view: RunView,
    knowledge: Knowledge,
    rules: Rules,
    again: Again,
    /// The objective stays as it began: its steps are computed again at the end, from the metrics that the journal tells.
    /// Of several, each step is held against the one of its time.
    one_objective: bool,
}

impl Replay<'_> {
    /// Takes the next group, which begins and ends there; whether the run can be followed behind it.
    fn group(&mut self, at: usize, end: usize) -> Result<bool, FoldError> {
        let (before, group) = (&self.events[..at], &self.events[at..end]);
        let first = &group[0];
        self.begins(group);
        self.rules.begin(before, group, &mut self.again);
        interventions::taken(&mut self.again, &self.rules, before, group);
        interventions::hold(&mut self.again, &self.rules, before, group);
        match first.name.as_str() {
            "attempt_finished" if !self.finished(before, group) => return Ok(false),
            "branch_started" => self.branched(group),
            "run_resumed" => self.resumed(group),
            "check_finished" if !is_apart(&first.lifeline) => self.checked(first),
            "candidate_finished" | "candidate_received" | "leaders_named" | "candidate_chosen" => {
                candidates::hold(&mut self.again, &self.view, first);
            }
            _ => {}
        }
        for event in group {
            if event.name == "run_finished" && !self.may_end(event) {
                return Ok(false);
            }
            self.rules.follow(event, &mut self.again);
            self.view.apply(event)?;
            if let Err(why) = self.knowledge.follow(event) {
                self.again.object("clock", event.seq, format!("its vector clock does not follow: {why}"));
                return Ok(false);
            }
        }
        self.rules.end(&group[group.len() - 1], &mut self.again);
        Ok(true)
    }

    /// What is written together begins with what it follows from.
    fn begins(&mut self, group: &[Event]) {
        const FIRST: [&str; 3] = ["attempt_finished", "branch_started", "run_resumed"];
        const LATER: [&str; 3] = ["guard_evaluated", "routed", "revision_closed"];
        for (at, event) in group.iter().enumerate() {
            let name = event.name.as_str();
            if at > 0 && FIRST.contains(&name) {
                self.again.object("journal", event.seq, format!("{name} stands within a group, which begins with one"));
            } else if at == 0 && LATER.contains(&name) {
                self.again.object(
                    "journal",
                    event.seq,
                    format!("{name} begins a group, and follows from nothing in it"),
                );
            }
        }
    }

    /// Whether a run that is ended from outside was under way.
    fn may_end(&mut self, event: &Event) -> bool {
        let reason = Finished::deserialize(&event.data).ok().and_then(|end| end.reason);
        let Some(reason) = reason else { return true };
        let goes = transition(&self.view.settings.rules, &self.view.state, &Step::Stop(reason)).row != Row::Ignored;
        if !goes {
            self.again.object("routing", event.seq, "the run is stopped where nothing was under way");
        }
        goes
    }

    /// Computes again what follows from what a station made.
    fn finished(&mut self, before: &[Event], group: &[Event]) -> bool {
        let Replay { view, knowledge, again, one_objective, .. } = self;
        let first = &group[0];
        let Some(job) = Job::at(view.state.position).filter(|job| job.lifeline() == first.lifeline) else {
            let here = Job::at(view.state.position).map_or("nothing", Job::lifeline);
            again.object("routing", first.seq, format!("{} ends an attempt where {here} was at work", first.lifeline));
            return false;
        };
        // What cannot be understood is told when it is folded.
        let Ok(told) = Product::deserialize(&first.data) else { return true };
        let says = match &told.facts {
            Facts::Reviewed { approval, flaw, .. } => Some(reviewed(view, approval, flaw.as_deref())),
            Facts::ReviewUnreadable { approval, .. } => Some(reviewed(view, approval, None)),
            _ => None,
        };
        let judgement = says.and_then(|says| knowledge.judge(&says).ok());
        let (product, mut wrong) = as_it_follows(view, told.clone(), judgement.as_ref());
        let rules = &mut self.rules;
        let product = if rules.unknown() && is_broken(told.event) {
            Product { event: product.event.broken(), ..product }
        } else {
            product
        };
        let finishing = Finishing { before: view, judgement: judgement.as_ref(), job, attempt: first.attempt };
        let records = match finishing.group(product, |records| rules.ends(before, records)) {
            Ok(records) => records,
            Err(why) => {
                again.open.push(format!("what follows from event {}: {why}", first.seq));
                return true;
            }
        };
        for text in wrong.drain(..) {
            again.object("attempt", first.seq, text);
        }
        hold(again, group, &records, rules.unknown(), *one_objective && view.objective().is_some());
        let goes = transition(&view.settings.rules, &view.state, &told.event).row != Row::Ignored;
        if !goes {
            again.object("routing", first.seq, format!("{} cannot come to this where it is", first.lifeline));
        }
        goes
    }

    /// A check is of what stands.
    fn checked(&mut self, event: &Event) {
        let stands = |name| json!(self.view.artifact(name));
        let follows = json!({"module": stands(file::MODULE), "cfg": stands(file::CFG)});
        self.again.compare("check", event, &["module", "cfg"], &follows);
    }

    fn branched(&mut self, group: &[Event]) {
        let Ok(branch) = Branch::deserialize(&group[0].data) else { return };
        let next = self.view.next_revision();
        if group[0].rev != next {
            let text = format!("the branch is revision {}; it follows that it is {next}", group[0].rev);
            self.again.object("revision", group[0].seq, text);
        }
        let mut view = self.view.clone();
        view.branch(branch, group[0].rev);
        let records: Vec<Record> = restorations(&view).collect();
        hold(&mut self.again, &group[1..], &records, true, true);
    }

    fn resumed(&mut self, group: &[Event]) {
        if group.len() > 1 && !self.knowledge.told() {
            let records: Vec<Record> = restorations(&self.view).collect();
            hold(&mut self.again, &group[1..], &records, true, true);
        }
    }
}

/// What a station made, with what the machine is told of it as it follows from the rest, and what else does not follow.
fn as_it_follows(before: &RunView, told: Product, judgement: Option<&Judgement>) -> (Product, Vec<String>) {
    let mut wrong = Vec::new();
    let inspected = || before.in_flight.iter().flat_map(|a| &a.events).rfind(|e| e.name == "tool_finished");
    let mut accepted = |name: &str| {
        let Some(tool) = inspected() else { return Acceptance::Accepted };
        let made = told.artifacts.get(name).map(|sha| json!(sha));
        if let (Some(made), Value::String(_)) = (made, &tool.data["module"])
            && made != tool.data["module"]
        {
            let (made, said) = (short(&made), short(&tool.data["module"]));
            wrong.push(format!("`artifacts` has {made} as {name}; event {} accepted {said}", tool.seq));
        }
        if tool.data["accepted"] == false { Acceptance::Rejected } else { Acceptance::Accepted }
    };
    // Where there is an objective, that is decided behind this.
    let inconclusive =
        |here| before.objective().is_none() && before.best(Some(here)).is_some_and(|(_, best)| best.inconclusive);
    let event = match (told.event, &told.facts) {
        (Step::Reviewed(_), Facts::Reviewed { review, flaw, standing, .. }) => Step::Reviewed(ReviewFacts {
            verdict: review.verdict,
            earliest: review.earliest(),
            approval: judgement.and_then(Judgement::approval),
            flaw: flaw.as_ref().and(judgement).and_then(Judgement::flaw),
            best_inconclusive: inconclusive(*standing),
            objective_lost: false,
            broken: false,
        }),
        (Step::ReviewUnreadable { .. }, Facts::ReviewUnreadable { standing, .. }) => Step::ReviewUnreadable {
            approval: judgement.and_then(Judgement::approval),
            best_inconclusive: inconclusive(*standing),
            objective_lost: false,
        },
        (Step::SecondRead { .. }, Facts::SecondRead { agrees, .. }) => Step::SecondRead {
            agrees: *agrees,
            best_inconclusive: inconclusive(before.standing),
            objective_lost: false,
        },
        // What is accepted may lack the names of the interface.
        (Step::Validated(_), Facts::Rejected { .. }) => Step::Validated(Acceptance::Rejected),
        (Step::Validated(_), _) => Step::Validated(accepted(file::VALIDATED)),
        (Step::Merged(_), Facts::Rejected { .. }) => Step::Merged(Acceptance::Rejected),
        (Step::Merged(_), _) => Step::Merged(accepted(file::MODULE)),
        (Step::Judged { .. }, _) => before.judged_last().unwrap_or(told.event),
        (other, _) => other,
    };
    (Product { event, ..told }, wrong)
}

/// Holds the events of a group against what follows. Rules that nobody could ask are left out, and so are the steps of an
/// objective that is asked `by_itself`.
fn hold(again: &mut Again, group: &[Event], records: &[Record], no_rules: bool, by_itself: bool) {
    let told: Vec<&Event> = group.iter().filter(|event| event.name != "rule_violated").collect();
    let names = |all: &mut dyn Iterator<Item = (&str, &str)>| {
        all.map(|(name, lifeline)| format!("{name} of {lifeline}")).collect::<Vec<_>>().join(", ")
    };
    let is = names(&mut told.iter().map(|e| (e.name.as_str(), e.lifeline.as_str())));
    let follows = names(&mut records.iter().map(|r| (r.name, r.lifeline.as_str())));
    if is != follows {
        let seq = group.first().map_or(0, |event| event.seq);
        again.object("routing", seq, format!("the events from here on are {is}; it follows that they are {follows}"));
    }
    for record in records {
        // Of each name, a lifeline has one in a group, but for the guards.
        let same = |event: &&&Event| {
            event.name == record.name
                && event.lifeline == record.lifeline
                && (record.name != "guard_evaluated" || event.data["guard"] == record.data["guard"])
        };
        let Some(event) = told.iter().find(same) else {
            let seq = group.first().map_or(0, |event| event.seq);
            let of = record.data["guard"].as_str().map_or_else(String::new, |guard| format!(" of the guard `{guard}`"));
            again.object("routing", seq, format!("no event from here on is the {}{of} that follows", record.name));
            continue;
        };
        let envelope = json!({"kind": event.kind, "rev": event.rev, "attempt": event.attempt});
        let follows = json!({"kind": record.kind, "rev": record.rev, "attempt": record.attempt});
        if envelope != follows {
            let text = format!("{} is {envelope}; it follows that it is {follows}", event.name);
            again.object("journal", event.seq, text);
        }
        match record.name {
            "attempt_finished" => again.compare("attempt", event, &["event", "says"], &record.data),
            "guard_evaluated" => again.compare("guard", event, &["holds", "clause", "values"], &record.data),
            "routed" => again.compare("routing", event, &["from", "to", "row", "event", "on"], &record.data),
            "restored" => again.compare("attempt", event, &["says"], &record.data),
            "revision_closed" => {
                let mut closed = record.data.clone();
                // An earlier version did not count these.
                if event.data["strengthened"]["judged"].is_null()
                    && let Some(strengthened) = closed["strengthened"].as_object_mut()
                {
                    strengthened.retain(|name, _| name != "judged" && name != "undecided_before");
                }
                again.compare("revision", event, &CLOSED, &closed);
                let mut follows = record.data["objective"].clone();
                if by_itself && event.data["objective"].is_object() {
                    let measured = follows["metrics"].take();
                    follows = event.data["objective"].clone();
                    follows["metrics"] = measured;
                }
                again.compare("objective", event, &["objective"], &json!({"objective": follows}));
            }
            "run_finished" => {
                again.compare("routing", event, &["outcome", "reason"], &record.data);
                let with_its_best =
                    Finished::deserialize(&record.data).is_ok_and(|end| ends_with_its_best(end.outcome));
                if !(by_itself && with_its_best) {
                    again.compare("routing", event, &["best"], &record.data);
                }
                if !no_rules {
                    policy::compare_ends(again, event, &to_value(&record.data["rules"]));
                }
            }
            _ => {}
        }
    }
}

/// What of a closed revision follows from the events before: all but the reason in words. Its objective is asked by itself.
const CLOSED: [&str; 17] = [
    "revision",
    "parent",
    "place",
    "outcome",
    "routed_to",
    "requirements",
    "check",
    "standing",
    "attempts",
    "models",
    "spent",
    "spent_by_station",
    "open",
    "edited",
    "hashes",
    "repaired",
    "strengthened",
];

fn is_broken(event: Step) -> bool {
    matches!(event, Step::Reviewed(ReviewFacts { broken: true, .. }))
}

impl RunView {
    /// What the journal says of the one objective that it has, and does not follow from the metrics that it tells: steps,
    /// and which revision is the best.
    fn objections(&self, events: &[Event]) -> Vec<Objection> {
        if self.objective().is_none() {
            return Vec::new();
        }
        let objection = |event: u64, text: String| Objection { about: "objective", event, text };
        let last = |name: &str| events.iter().rfind(|e| e.name == name).map_or(0, |e| e.seq);
        let closing = |rev: u32| {
            let closes = |e: &&Event| e.name == "revision_closed" && e.data["revision"] == rev;
            events.iter().find(closes).map_or(0, |e| e.seq)
        };
        let mut all = Vec::new();
        for revision in &self.revisions {
            let number = revision.revision;
            let is_told = revision.objective.as_ref().map(|step| &step.step);
            if is_told != self.objective_step(number).map(|step| step.step).as_ref() {
                let text = format!("the step of rev_{number} does not follow from its metrics");
                all.push(objection(closing(number), text));
            }
        }
        if let Some(end) = self.finished.as_ref().filter(|end| ends_with_its_best(end.outcome)) {
            let best = self.best(None).map(|(revision, _)| revision);
            if end.best != best {
                let named = |rev: Option<u32>| rev.map_or_else(|| "none".to_owned(), |rev| format!("rev_{rev}"));
                let text = format!(
                    "{} is said to be the best revision; by its metrics it is {}",
                    named(end.best),
                    named(best)
                );
                all.push(objection(last("run_finished"), text));
            }
        }
        all
    }
}
